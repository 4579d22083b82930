"""Numbers that are secrets: payment cards, bank accounts, identity numbers. Check digits decide where they exist.

Cards, IBANs and Chinese identity numbers are found anywhere, because their check digits, prefixes and dates leave
little room for chance; numbers without a check digit only after their name.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from hexamem.stores.secrets.captions import describe
from hexamem.stores.secrets.checksums import (
    aba_is_valid,
    card_network,
    chinese_id_is_valid,
    cpf_is_valid,
    dni_is_valid,
    iban_is_valid,
    iban_length,
    luhn_is_valid,
    ssn_is_valid,
    verhoeff_is_valid,
)
from hexamem.stores.secrets.grammar import continues_word, find_link, left_words, occurrences
from hexamem.stores.secrets.spans import Candidate, Sensitivity, TextForms

__all__ = ["find_numbers"]

_PRIORITY = 70
_SIX_DIGITS = re.compile(r"\d(?:[ .\-\u2011\u2013]?\d){5}")
_TWO_DIGITS = re.compile(r"\d[a-zA-Z]{0,18}\d")
_RUN = re.compile(r"\d(?:\d|[ \-.\u2011\u2013](?=\d))+")
_GROUP = re.compile(r"\d+")
_CARD_GROUPS = {
    (4, 4, 4, 4), (4, 6, 5), (4, 6, 4), (4, 4, 4, 4, 1), (4, 4, 4, 4, 2), (4, 4, 4, 4, 3),
    (6, 13), (8, 8), (4, 4, 4, 3), (6, 4, 6),
}  # fmt: skip
_CARD_WORDS = re.compile(
    r"card|visa|master|amex|american express|discover|unionpay|credit|debit|karte|tarjeta|carte|银行卡|卡号|"
    r"信用卡|储蓄卡|刷卡|\bcc\b|\bpan\b"
)
_OTHER_NUMBER = re.compile(
    r"(?:order|tracking|invoice|isbn|imei|iccid|serial|ticket|ref(?:erence)?|parcel|phone|tel|mobile|call|shipment|booking|"
    r"confirmation|tweet|status|message|user|post|video|article|doi|ean|upc|gtin|sku|barcode|订单|单号|电话|手机|快递|运单)"
    r"[\s_]*(?:number|num|no\.?|nr\.?|id|号码|号|#)?[\s#:：=是为]*(?:is\s+)?$"
)
_IBAN = re.compile(r"[A-Z]{2}\d{2}(?=[ ]?[A-Z0-9]{4}|-[A-Z0-9]{4})[A-Z0-9 \-]{11,44}")
_IBAN_LOW = re.compile(r"[a-z]{2}\d{2}[a-z0-9 \-]{11,44}")
_PART_NUMBER = re.compile(r"(?:part|model|item|case|id|no\.?|number|#|code|zip|sku)[\s:#-]*$")
_CURRENCIES = ("€", "£")
_SSN_WORDS = re.compile(r"\bssn\b|social security|sozialversicherung|seguridad social|\bsoc\b")


def _bare(text: str) -> str:
    return "".join(c for c in text if c.isalnum())


def _digit_runs(forms: TextForms) -> Iterator[Candidate]:
    """Cards, Chinese identity numbers and US social security numbers, from each run of digits and separators."""
    norm = forms.norm
    for run in _RUN.finditer(norm):
        if run.end() - run.start() < 9:
            continue
        groups = [group.span() for group in _GROUP.finditer(norm, run.start(), run.end())]
        # A number that continues a word, a path, a decimal or an amount is read from its second group.
        index = (
            1
            if continues_word(norm, run.start() - 1, "_.,/#$+") or norm[run.start() - 1 : run.start()] in _CURRENCIES
            else 0
        )
        while index < len(groups):
            candidate, length = _number_at(forms, groups, index)
            if candidate is not None:
                yield candidate
            index += length


def _number_at(forms: TextForms, groups: Sequence[tuple[int, int]], index: int) -> tuple[Candidate | None, int]:
    """The number that begins with a group of digits, and how many groups to go on by."""
    start, end = groups[index]
    if index and forms.norm[start - 1] == ".":
        return None, 1  # decimals
    size = end - start
    if size in {17, 18} and (chinese_id := _chinese_id(forms.norm, start, end)):
        return chinese_id, 1
    if 13 <= size <= 19:
        return _card(forms, start, end, grouped=False), 1
    if size == 3:
        return _ssn(forms, groups, index), 1
    for count in (5, 4, 3, 2) if size in {4, 6, 8} else ():
        shape = tuple(b - a for a, b in groups[index : index + count])
        if shape in _CARD_GROUPS and len(shape) == count and not _is_list(forms.norm, groups, index, count):
            card = _card(forms, start, groups[index + count - 1][1], grouped=True)
            if card is not None:
                return card, count
    return None, 1


def _ssn(forms: TextForms, groups: Sequence[tuple[int, int]], index: int) -> Candidate | None:
    norm = forms.norm
    parts = groups[index : index + 3]
    start, end = parts[0][0], parts[-1][1]
    if [b - a for a, b in parts] != [3, 2, 4] or not _one_separator(norm, parts):
        return None
    if not ssn_is_valid(_bare(norm[start:end])) or norm[end : end + 1].isalnum() or norm[end : end + 1] == "-":
        return None
    context = forms.low[max(0, start - 48) : start]
    if not _SSN_WORDS.search(context):
        hyphens = len(groups) == 3 and norm[parts[0][1]] in "-\u2011\u2013"
        if not hyphens or _OTHER_NUMBER.search(context) or _PART_NUMBER.search(context):
            return None
    return Candidate(start, end, "national_id", "social security number", "high", _PRIORITY, fixed=True)


def _one_separator(norm: str, groups: Sequence[tuple[int, int]]) -> bool:
    return len({norm[a[1] : b[0]] for a, b in itertools.pairwise(groups)}) <= 1


def _is_list(norm: str, groups: Sequence[tuple[int, int]], index: int, count: int) -> bool:
    """Whether the groups have different separators, or their separator joins another group of four: no single number."""
    separator = norm[groups[index][1] : groups[index + 1][0]]

    def joins(left: int, right: int) -> bool:
        fours = all(groups[at][1] - groups[at][0] == 4 for at in (left, right))
        return fours and norm[groups[left][1] : groups[right][0]] == separator

    end = index + count
    before, after = index > 0 and joins(index - 1, index), end < len(groups) and joins(end - 1, end)
    return before or after or not _one_separator(norm, groups[index:end])


def _card(forms: TextForms, start: int, end: int, *, grouped: bool) -> Candidate | None:
    low, norm = forms.low, forms.norm
    digits = _bare(norm[start:end])
    if continues_word(norm, end, "_%") or (norm[end : end + 1] in (".", ",") and norm[end + 1 : end + 2].isdigit()):
        return None
    if not luhn_is_valid(digits):
        return None
    network = card_network(digits)
    context = low[max(0, start - 60) : start] + " " + low[end : end + 24]
    named = _CARD_WORDS.search(context) is not None
    if not named and _OTHER_NUMBER.search(low[max(0, start - 32) : start]):
        return None
    # Thirteen and fourteen digits are also bar codes and timestamps, nineteen also post ids.
    plausible = network is not None and (grouped or len(digits) in {15, 16} or network == "UnionPay")
    if not (named or plausible):
        return None
    caption = f"card number ({network})" if network else "card number"
    return Candidate(start, end, "card_number", "card number", "high", _PRIORITY + 5, caption, fixed=True)


def _chinese_id(norm: str, start: int, end: int) -> Candidate | None:
    if end - start == 17:
        if norm[end : end + 1] not in {"X", "x"}:
            return None
        end += 1
    if continues_word(norm, end, "") or not chinese_id_is_valid(norm[start:end]):
        return None
    noun = "Chinese identity number (身份证)"
    return Candidate(start, end, "national_id", noun, "high", _PRIORITY + 6, fixed=True)


def _ibans(forms: TextForms) -> Iterator[Candidate]:
    yield from _ibans_in(forms.norm, _IBAN)
    if "iban" in forms.low:
        yield from _ibans_in(forms.low, _IBAN_LOW)


def _ibans_in(text: str, pattern: re.Pattern[str]) -> Iterator[Candidate]:
    for match in pattern.finditer(text):
        length = iban_length(match[0][:2].upper())
        if length is None or continues_word(text, match.start() - 1, ""):
            continue
        at, count = match.start(), 0
        while at < match.end() and count < length:
            count += text[at].isalnum()
            at += 1
        whole = count == length and not continues_word(text, at, "")
        if whole and iban_is_valid(_bare(text[match.start() : at]).upper()):
            caption = "IBAN (bank account)"
            yield Candidate(match.start(), at, "iban", "bank account", "medium", _PRIORITY + 4, caption, fixed=True)


_N = r"(?:[ ]?(?:number|num\b|no\b\.?|nr\b\.?|#|id\b))?"
# Letters and digits of one number: at least two digits and a letter, six signs or more ("C01X00T47").
_MIXED = r"(?=(?:[a-z]*\d){2})(?=\d*[a-z])[a-z\d]{6,20}(?![a-z\d])"


class _Named(NamedTuple):
    """A number without a check digit of its own kind: ``name`` begins with one of ``signs``; a link or a blank, then ``value``."""

    signs: tuple[str, ...]
    name: re.Pattern[str]
    value: re.Pattern[str]
    check: Callable[[str], bool] | None
    kind: str
    noun: str
    sensitivity: Sensitivity = "high"


_NAMED: tuple[_Named, ...] = (
    _Named(
        ("routing", "aba"), re.compile(rf"routing(?: transit)?{_N}|aba{_N}"), re.compile(r"\d{9}"),
        aba_is_valid, "bank_account", "bank routing number", "medium",
    ),
    _Named(
        ("account", "acct", "bank account", "checking account", "savings account", "konto", "número de cuenta",
         "numero de cuenta", "numéro de compte", "numero di conto", "rekeningnummer"),
        re.compile(
            r"(?:account|acct\.?)[ ]?(?:number|num\b|no\b\.?|nr\b\.?|#)|(?:bank|checking|savings) account|kontonummer|"
            r"kontonr\.?|n[úu]mero de cuenta|numéro de compte|numero di conto|rekeningnummer"
        ),
        re.compile(r"\d(?:[ -]?\d){5,19}"), None, "bank_account", "account number", "medium",
    ),
    _Named(
        ("sort code", "sort-code"), re.compile(r"sort[ -]code"), re.compile(r"\d{2}[- ]?\d{2}[- ]?\d{2}"),
        None, "bank_account", "bank sort code", "medium",
    ),
    _Named(
        ("银行", "收款账", "对公账", "账户号", "卡号", "卡號"),
        re.compile(r"(?:银行|收款|对公)(?:账号|账户|帐号|帳號|卡号?)|卡[号號]|账户号码?"), re.compile(r"\d(?:[ -]?\d){9,22}"),
        None, "bank_account", "bank account number (银行账号)", "medium",
    ),
    _Named(
        ("ssn", "social security"), re.compile(rf"ssn|social security{_N}"), re.compile(r"\d{3}[- ]?\d{2}[- ]?\d{4}"),
        ssn_is_valid, "national_id", "social security number",
    ),
    _Named(
        ("passport", "护照", "pasaporte", "passeport", "reisepass"),
        re.compile(rf"passport{_N}|reisepassnummer|pasaporte|passeport|护照号?码?"),
        re.compile(rf"[a-z]{{0,2}}\d{{6,9}}(?![a-z\d])|{_MIXED}"),
        None, "national_id", "passport number",
    ),
    _Named(
        ("id card", "identity card", "national id", "personalausweis", "id-card", "residence permit", "身份证号", "居住证号"),
        re.compile(
            rf"(?:(?:national[ ])?(?:id|identity)[ -]card{_N}|national id(?:[ ](?:number|no\b\.?|card number))?|personalausweis(?:nummer)?"
            rf"|residence permit{_N}|(?:身份证|居住证)号码?)"
        ),
        re.compile(rf"[a-z]{{0,3}}\d{{6,18}}(?![a-z\d])|{_MIXED}"), None, "national_id", "identity card number",
    ),
    _Named(
        ("driver", "driving licen", "führerschein", "驾照", "驾驶证"),
        re.compile(
            r"(?:driver['’]?s?['’]?|driving) licen[cs]e(?:[ ]?(?:number|no\b\.?|#))?"
            r"|führerschein(?:nummer|-nr\.?)?|(?:驾照|驾驶证)(?:编号|号码?)?"
        ),
        re.compile(rf"[a-z]{{0,3}}\d[\d -]{{5,16}}\d(?![a-z\d])|[a-z9]{{5}} ?\d{{6}} ?[a-z9]{{2}}\d[a-z]{{2}}|{_MIXED}"),
        None, "national_id", "driver's license number",
    ),
    _Named(
        ("national insurance", "nino", "ni num", "ni no"),
        re.compile(rf"national insurance{_N}|nino|ni n(?:umber|um\b|o\b\.?)"),
        re.compile(r"[a-z]{2} ?\d{2} ?\d{2} ?\d{2} ?[a-d]"), None, "national_id", "national insurance number",
    ),
    _Named(
        ("aadhaar", "aadhar"), re.compile(rf"aadhaa?r{_N}"), re.compile(r"\d{4}[ -]?\d{4}[ -]?\d{4}"),
        verhoeff_is_valid, "national_id", "Aadhaar number",
    ),
    _Named(
        ("dni ", "dni:", "nie ", "nie:"), re.compile(r"dni|nie"), re.compile(r"(?:\d{8}|[xyz]-?\d{7})[- ]?[a-z]"),
        dni_is_valid, "national_id", "DNI number",
    ),
    _Named(
        ("cpf",), re.compile(r"cpf"), re.compile(r"\d{3}\.?\d{3}\.?\d{3}-?\d{2}"),
        cpf_is_valid, "national_id", "CPF number",
    ),
    _Named(
        ("social insurance", "sin number"), re.compile(rf"social insurance{_N}|sin number"),
        re.compile(r"\d{3}[- ]?\d{3}[- ]?\d{3}"), luhn_is_valid, "national_id", "social insurance number",
    ),
    _Named(
        ("steuer", "sozialversicherungsnummer"),
        re.compile(r"steuer-?(?:id|identifikationsnummer|nummer)(?:-nr\.?)?|sozialversicherungsnummer"),
        re.compile(r"\d{2}[ ]?[\da-z]{3}[ ]?\d{3}[ ]?\d{3,4}"), None, "national_id", "tax id (Steuer-ID)",
    ),
)  # fmt: skip


def _named(forms: TextForms) -> Iterator[Candidate]:
    low, norm = forms.low, forms.norm
    for rule in _NAMED:
        for start in occurrences(low, rule.signs):
            cue = rule.name.match(low, start)
            if cue is None or continues_word(low, cue.end(), "_%"):
                continue
            if low[start].isascii() and continues_word(low, start - 1, "_%"):
                continue
            link = find_link(forms, cue.end())
            if link is None or link.kind == "tag":
                continue
            at = link.end + (low[link.end : link.end + 1] in {'"', "'", "`", "“"})
            match = rule.value.match(low, at)
            if match is None or continues_word(low, match.end(), "_%"):
                continue
            if rule.check is None or rule.check(_bare(match[0])):
                caption = describe(rule.noun, left_words(norm, start), link.of)
                yield Candidate(*match.span(), rule.kind, rule.noun, rule.sensitivity, _PRIORITY, caption)


def find_numbers(forms: TextForms) -> Iterator[Candidate]:
    """Cards, accounts and identity numbers. A text without two digits close together is not searched further."""
    if _SIX_DIGITS.search(forms.norm) is not None:
        yield from _digit_runs(forms)
        yield from _ibans(forms)
        yield from _named(forms)
    elif _TWO_DIGITS.search(forms.norm) is not None:
        yield from _named(forms)
