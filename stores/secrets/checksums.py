"""Check digits: they distinguish a card number from any other sixteen digits.

Each function takes the characters without spaces and hyphens and returns whether the number *can* be one of its kind;
none raises on malformed text.
"""

from __future__ import annotations

import hashlib
from datetime import date

__all__ = [
    "aba_is_valid",
    "base58check_is_valid",
    "card_network",
    "chinese_id_is_valid",
    "cpf_is_valid",
    "dni_is_valid",
    "iban_is_valid",
    "iban_length",
    "luhn_is_valid",
    "ssn_is_valid",
    "verhoeff_is_valid",
]

_DOUBLED = (0, 2, 4, 6, 8, 1, 3, 5, 7, 9)

# SWIFT IBAN registry: total length by country.
_IBAN_LENGTHS = {
    **dict.fromkeys(("NO",), 15),
    **dict.fromkeys(("BE",), 16),
    **dict.fromkeys(("DK", "FI", "FO", "GL", "NL", "SD"), 18),
    **dict.fromkeys(("MK", "SI"), 19),
    **dict.fromkeys(("AT", "BA", "EE", "KZ", "LT", "LU", "XK", "MN"), 20),
    **dict.fromkeys(("CH", "HR", "LI", "LV"), 21),
    **dict.fromkeys(("BG", "BH", "CR", "DE", "GB", "GE", "IE", "ME", "RS", "VA"), 22),
    **dict.fromkeys(("AE", "GI", "IL", "IQ", "TL", "OM", "SO"), 23),
    **dict.fromkeys(("AD", "CZ", "ES", "MD", "PK", "RO", "SA", "SE", "SK", "TN", "VG"), 24),
    **dict.fromkeys(("LY", "PT", "ST"), 25),
    **dict.fromkeys(("IS", "TR"), 26),
    **dict.fromkeys(("BI", "DJ", "FR", "GR", "IT", "MC", "MR", "SM"), 27),
    **dict.fromkeys(("AL", "AZ", "BY", "CY", "DO", "GT", "HN", "HU", "LB", "NI", "PL", "SV"), 28),
    **dict.fromkeys(("BR", "EG", "PS", "QA", "UA"), 29),
    **dict.fromkeys(("JO", "KW", "MU", "YE"), 30),
    **dict.fromkeys(("MT", "SC"), 31),
    **dict.fromkeys(("LC",), 32),
    **dict.fromkeys(("RU",), 33),
}

_CHINESE_ID_WEIGHTS = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
_CHINESE_ID_CHECK = "10X98765432"
_BASE58 = {c: i for i, c in enumerate("123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz")}
_DNI_LETTERS = "TRWAGMYFPDXBNJZSQVHLCKE"

_VERHOEFF_D = (
    (0, 1, 2, 3, 4, 5, 6, 7, 8, 9),
    (1, 2, 3, 4, 0, 6, 7, 8, 9, 5),
    (2, 3, 4, 0, 1, 7, 8, 9, 5, 6),
    (3, 4, 0, 1, 2, 8, 9, 5, 6, 7),
    (4, 0, 1, 2, 3, 9, 5, 6, 7, 8),
    (5, 9, 8, 7, 6, 0, 4, 3, 2, 1),
    (6, 5, 9, 8, 7, 1, 0, 4, 3, 2),
    (7, 6, 5, 9, 8, 2, 1, 0, 4, 3),
    (8, 7, 6, 5, 9, 3, 2, 1, 0, 4),
    (9, 8, 7, 6, 5, 4, 3, 2, 1, 0),
)
_VERHOEFF_P = (
    (0, 1, 2, 3, 4, 5, 6, 7, 8, 9),
    (1, 5, 7, 6, 2, 8, 3, 0, 9, 4),
    (5, 8, 0, 3, 7, 9, 6, 1, 4, 2),
    (8, 9, 1, 6, 0, 4, 3, 5, 2, 7),
    (9, 4, 5, 3, 1, 2, 6, 8, 7, 0),
    (4, 2, 8, 6, 5, 7, 3, 9, 0, 1),
    (2, 7, 9, 3, 8, 0, 6, 4, 1, 5),
    (7, 0, 4, 6, 9, 1, 3, 2, 5, 8),
)


def _is_digits(text: str) -> bool:
    return text.isascii() and text.isdigit()


def luhn_is_valid(digits: str) -> bool:
    """Luhn mod 10 (ISO/IEC 7812-1). One repeated digit is refused: no issuer uses it and placeholders do."""
    if not _is_digits(digits) or len(set(digits)) == 1:
        return False
    total = sum(map(int, digits[-1::-2])) + sum(_DOUBLED[int(d)] for d in digits[-2::-2])
    return total % 10 == 0


def card_network(digits: str) -> str | None:
    """The network that issues numbers with this prefix *and* length, or None; the check digit is not checked."""
    if not _is_digits(digits):
        return None
    n, two, three, four = len(digits), int(digits[:2] or 0), int(digits[:3] or 0), int(digits[:4] or 0)
    if digits.startswith("4") and n in {13, 16, 19}:
        return "Visa"
    if n == 16 and (51 <= two <= 55 or 2221 <= four <= 2720):
        return "Mastercard"
    if n == 15 and two in {34, 37}:
        return "American Express"
    if two == 62 and 16 <= n <= 19:
        return "UnionPay"
    if 16 <= n <= 19 and (four == 6011 or two == 65 or 644 <= three <= 649):
        return "Discover"
    if 16 <= n <= 19 and 3528 <= four <= 3589:
        return "JCB"
    if (n == 14 and (300 <= three <= 305 or two in {36, 38, 39})) or (n == 16 and two == 36):
        return "Diners Club"
    if n == 16 and 2200 <= four <= 2204:
        return "Mir"
    if n == 16 and two in {60, 81, 82}:
        return "RuPay"
    if four in {5018, 5020, 5038, 5893, 6304, 6759, 6761, 6762, 6763} and 12 <= n <= 19:
        return "Maestro"
    return None


def iban_length(country: str) -> int | None:
    """How many characters an IBAN of this two-letter country has, or None when the country issues none."""
    return _IBAN_LENGTHS.get(country)


def iban_is_valid(iban: str) -> bool:
    """ISO 13616: the country's length and mod 97 = 1."""
    if len(iban) != _IBAN_LENGTHS.get(iban[:2]) or not (iban.isascii() and iban.isalnum() and iban.isupper()):
        return False
    return iban[2:4].isdigit() and int("".join(str(int(c, 36)) for c in iban[4:] + iban[:4])) % 97 == 1


def aba_is_valid(digits: str) -> bool:
    """US routing number: nine digits, weights 3-7-1, a Federal Reserve prefix."""
    if not _is_digits(digits) or len(digits) != 9 or len(set(digits)) == 1:
        return False
    first = int(digits[:2])
    known = 0 <= first <= 12 or 21 <= first <= 32 or 61 <= first <= 72 or first == 80
    return known and sum(int(d) * w for d, w in zip(digits, (3, 7, 1) * 3, strict=True)) % 10 == 0


def chinese_id_is_valid(number: str) -> bool:
    """GB 11643-1999: 17 digits with a possible birth date, and the ISO 7064 MOD 11-2 check character."""
    body, check = number[:17], number[17:].upper()
    if len(number) != 18 or not _is_digits(body) or not ("1" <= body[0] <= "8"):
        return False
    try:
        born = date(int(body[6:10]), int(body[10:12]), int(body[12:14]))
    except ValueError:
        return False
    if not 1850 <= born.year <= 2200:
        return False
    return _CHINESE_ID_CHECK[sum(int(d) * w for d, w in zip(body, _CHINESE_ID_WEIGHTS, strict=True)) % 11] == check


def ssn_is_valid(digits: str) -> bool:
    """US Social Security number: areas 000, 666 and 9xx, group 00 and serial 0000 are never issued."""
    if not _is_digits(digits) or len(digits) != 9:
        return False
    area, group, serial = digits[:3], digits[3:5], digits[5:]
    return area not in {"000", "666"} and area[0] != "9" and group != "00" and serial != "0000"


def verhoeff_is_valid(digits: str) -> bool:
    """Verhoeff's dihedral check (India's Aadhaar numbers)."""
    if not _is_digits(digits):
        return False
    check = 0
    for i, digit in enumerate(reversed(digits)):
        check = _VERHOEFF_D[check][_VERHOEFF_P[i % 8][int(digit)]]
    return check == 0


def cpf_is_valid(digits: str) -> bool:
    """Brazil's CPF: eleven digits, the last two check the rest (mod 11)."""
    if not _is_digits(digits) or len(digits) != 11 or len(set(digits)) == 1:
        return False
    for n in (9, 10):
        if sum(int(d) * w for d, w in zip(digits[:n], range(n + 1, 1, -1), strict=True)) * 10 % 11 % 10 != int(
            digits[n]
        ):
            return False
    return True


def dni_is_valid(number: str) -> bool:
    """Spain's DNI (8 digits and a letter) or NIE (X, Y or Z, 7 digits and a letter): letter = number mod 23."""
    number = number.upper()
    body = number[:-1]
    if body[:1] in {"X", "Y", "Z"}:
        body = str("XYZ".index(body[0])) + body[1:]
    return len(body) == 8 and _is_digits(body) and _DNI_LETTERS[int(body) % 23] == number[-1]


def base58check_is_valid(text: str) -> bool:
    """Base58Check with a version byte of Bitcoin's WIF private keys (main and test net)."""
    if not 1 <= len(text) <= 120:
        return False
    value = 0
    for char in text:
        if char not in _BASE58:
            return False
        value = value * 58 + _BASE58[char]
    raw = value.to_bytes((value.bit_length() + 7) // 8, "big")
    if len(raw) < 5 or raw[0] not in {0x80, 0xEF}:
        return False
    return hashlib.sha256(hashlib.sha256(raw[:-4]).digest()).digest()[:4] == raw[-4:]
