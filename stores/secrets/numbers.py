"""Numbers that are secrets: payment cards, bank accounts, national identities. Check digits decide where they exist.

Cards, IBANs and Chinese identity numbers are found anywhere, because their check digits, prefixes and dates leave
little room for chance; numbers without a check digit only where their name stands before them.
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
from hexamem.stores.secrets.grammar import find_link, left_words, occurrences
from hexamem.stores.secrets.spans import Candidate, Sensitivity, TextForms

__all__ = ["find_numbers"]

_PRIORITY = 70
_SIX_DIGITS = re.compile(r"\d(?:[ .\-\u2011\u2013]?\d){5}")
_TWO_DIGITS = re.compile(r"\d[a-zA-Z]{0,18}\d")
_RUN = re.compile(r"\d(?:\d|[ \-.\u2011\u2013](?=\d))+")
_GROUP = re.compile(r"\d+")
_CARD_GROUPS = {
    (4, 4, 4, 4),
    (4, 6, 5),
    (4, 6, 4),
    (4, 4, 4, 4, 1),
    (4, 4, 4, 4, 2),
    (4, 4, 4, 4, 3),
    (6, 13),
    (8, 8),
    (4, 4, 4, 3),
    (6, 4, 6),
}
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
_SSN_WORDS = re.compile(r"\bssn\b|social security|sozialversicherung|seguridad social|\bsoc\b")


def _bare(text: str) -> str:
    return "".join(c for c in text if c.isalnum())


def _digit_runs(forms: TextForms) -> Iterator[Candidate]:
    """Cards, Chinese identity numbers and US social security numbers, from each run of digits and separators."""
    low, norm = forms.low, forms.norm
    for run in _RUN.finditer(norm):
        if run.end() - run.start() < 9:
            continue
        groups = [(g.start(), g.end()) for g in _GROUP.finditer(norm, run.start(), run.end())]
        sizes = [end - start for start, end in groups]
        used = 0
        for i, size in enumerate(sizes):
            if i < used:
                continue
            start = groups[i][0]
            left = norm[start - 1 : start]
            if i == 0 and ((left.isascii() and (left.isalnum() or left in "_.,/#$€£+")) and left):
                used = i + 1
                continue
            if i and left == ".":
                continue  # decimals of a number
            if size in {17, 18} and (found := _chinese_id(norm, start, groups[i][1])):
                yield found
            elif 13 <= size <= 19:
                yield from _card(forms, start, groups[i][1], grouped=False)
            elif size in {4, 6, 8}:
                for n in (5, 4, 3, 2):
                    shape = tuple(sizes[i : i + n])
                    if (
                        len(shape) == n
                        and shape in _CARD_GROUPS
                        and _one_separator(norm, groups[i : i + n])
                        and not _goes_on(norm, groups, i, n)
                    ):
                        found_cards = list(_card(forms, start, groups[i + n - 1][1], grouped=True))
                        if found_cards:
                            yield from found_cards
                            used = i + n
                            break
            elif size == 3 and tuple(sizes[i : i + 3]) == (3, 2, 4) and _one_separator(norm, groups[i : i + 3]):
                end = groups[i + 2][1]
                separator = norm[groups[i][1]]
                context = low[max(0, start - 48) : start]
                after = norm[end : end + 1]
                alone = len(groups) == 3 and separator in "-\u2011\u2013" and not _OTHER_NUMBER.search(context)
                if (
                    ssn_is_valid(_bare(norm[start:end]))
                    and not after.isalnum()
                    and after != "-"
                    and (
                        _SSN_WORDS.search(context)
                        or (
                            alone
                            and not re.search(
                                r"(?:part|model|item|case|id|no\.?|number|#|code|zip|sku)[\s:#-]*$", context
                            )
                        )
                    )
                ):
                    noun = "social security number"
                    yield Candidate(start, end, "national_id", noun, noun, "high", _PRIORITY, fixed=True)


def _one_separator(norm: str, groups: Sequence[tuple[int, int]]) -> bool:
    return len({norm[a[1] : b[0]] for a, b in itertools.pairwise(groups)}) <= 1


def _goes_on(norm: str, groups: Sequence[tuple[int, int]], i: int, n: int) -> bool:
    """Whether the same separator joins another group of four: then it is a list of numbers."""
    separator = norm[groups[i][1] : groups[i + 1][0]]

    def joins(a: int, b: int) -> bool:
        return (
            norm[groups[a][1] : groups[b][0]] == separator
            and groups[b][1] - groups[b][0] == 4 == groups[a][1] - groups[a][0]
        )

    return (i > 0 and joins(i - 1, i)) or (i + n < len(groups) and joins(i + n - 1, i + n))


def _card(forms: TextForms, start: int, end: int, *, grouped: bool) -> Iterator[Candidate]:
    low, norm = forms.low, forms.norm
    digits = _bare(norm[start:end])
    after = norm[end : end + 2]
    if (after[:1].isascii() and (after[:1].isalnum() or after[:1] in "_%")) and after:
        return
    if len(after) == 2 and after[0] in ".," and after[1].isdigit():
        return
    if not luhn_is_valid(digits):
        return
    network = card_network(digits)
    context = low[max(0, start - 60) : start] + " " + low[end : end + 24]
    named = _CARD_WORDS.search(context) is not None
    if not named and _OTHER_NUMBER.search(low[max(0, start - 32) : start]):
        return
    # Thirteen and fourteen digits are also bar codes and timestamps, nineteen also post ids.
    plausible = network is not None and (grouped or len(digits) in {15, 16} or network == "UnionPay")
    if named or plausible:
        noun = "card number"
        caption = f"{noun} ({network})" if network else noun
        yield Candidate(start, end, "card_number", caption, noun, "high", _PRIORITY + 5, fixed=True)


def _chinese_id(norm: str, start: int, end: int) -> Candidate | None:
    if end - start == 17:
        if norm[end : end + 1] not in {"X", "x"}:
            return None
        end += 1
    if norm[end : end + 1].isascii() and norm[end : end + 1].isalnum():
        return None
    if not chinese_id_is_valid(norm[start:end]):
        return None
    noun = "Chinese identity number (身份证)"
    return Candidate(start, end, "national_id", noun, noun, "high", _PRIORITY + 6, fixed=True)


def _ibans(forms: TextForms) -> Iterator[Candidate]:
    yield from _ibans_in(forms.norm, _IBAN)
    if "iban" in forms.low:
        yield from _ibans_in(forms.low, _IBAN_LOW)


def _ibans_in(text: str, pattern: re.Pattern[str]) -> Iterator[Candidate]:
    for match in pattern.finditer(text):
        left = text[match.start() - 1 : match.start()]
        length = iban_length(match[0][:2].upper())
        if length is None or (left.isalnum() and left.isascii()):
            continue
        at, count = match.start(), 0
        while at < match.end() and count < length:
            count += text[at].isalnum()
            at += 1
        after = text[at : at + 1]
        if (
            count == length
            and not (after.isascii() and after.isalnum())
            and iban_is_valid(_bare(text[match.start() : at]).upper())
        ):
            yield Candidate(
                match.start(), at, "iban", "IBAN (bank account)", "bank account", "medium", _PRIORITY + 4, fixed=True
            )


# Name, value, check, kind, noun, sensitivity. The name is followed by a link or a blank, then by the value.
# Signs (each starts its name), name, value, check, kind, noun, sensitivity; a link or a blank stands in between.
_N = r"(?:[ ]?(?:number|num\b|no\b\.?|nr\b\.?|#|id\b))?"


# Letters and digits of one number: at least two digits and a letter, six signs or more ("C01X00T47").
_MIXED = r"(?=(?:[a-z]*\d){2})(?=\d*[a-z])[a-z\d]{6,20}(?![a-z\d])"


class _Named(NamedTuple):
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


def _joined(low: str, at: int) -> bool:
    return 0 <= at < len(low) and low[at].isascii() and (low[at].isalnum() or low[at] in "_%")


def _named(forms: TextForms) -> Iterator[Candidate]:
    low, norm = forms.low, forms.norm
    for rule in _NAMED:
        for start in occurrences(low, rule.signs):
            cue = rule.name.match(low, start)
            if cue is None or (low[start].isascii() and _joined(low, start - 1)) or _joined(low, cue.end()):
                continue
            link = find_link(forms, cue.end())
            if link is None or link.kind == "tag":
                continue
            at = link.end + (low[link.end : link.end + 1] in {'"', "'", "`", "“"})
            match = rule.value.match(low, at)
            if match is None or _joined(low, match.end()):
                continue
            if rule.check is not None and not rule.check(_bare(match[0])):
                continue
            caption = describe(rule.noun, left_words(norm, start), link.of)
            yield Candidate(match.start(), match.end(), rule.kind, caption, rule.noun, rule.sensitivity, _PRIORITY)


def find_numbers(forms: TextForms) -> Iterator[Candidate]:
    """Candidates that are numbers. A text with less than two digits close together is done at once."""
    if _SIX_DIGITS.search(forms.norm) is not None:
        yield from _digit_runs(forms)
        yield from _ibans(forms)
        yield from _named(forms)
    elif _TWO_DIGITS.search(forms.norm) is not None:
        yield from _named(forms)
