"""A second secret of the same kind that is told in the same breath: "the PIN of my Visa is 3391 and of my Amex 8820".

Its name is left out, so it must look like the first one and stand where only such a value can: behind whose it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from hexamem.stores.secrets.captions import describe
from hexamem.stores.secrets.grammar import CJK, ends_clause, followed_by_unit, read_value
from hexamem.stores.secrets.spans import Candidate, TextForms
from hexamem.stores.secrets.values import Strength, strength

__all__ = ["find_further"]

_KINDS = frozenset(
    {"pin", "access_code", "password", "passphrase", "card_cvv", "national_id", "bank_account", "one_time_code"}
)
_MOST = 4
_NO_OWNER = frozenset(
    (
        "i",
        "we",
        "you",
        "he",
        "she",
        "they",
        "it",
        "is",
        "are",
        "was",
        "have",
        "has",
        "will",
        "bring",
        "need",
        "paid",
        "pay",
    )
)
_JOINT = (
    r"[\"'”’`)]?[!.]?[ ]{0,2}"
    r"(?:[,;]?[ ]{1,2}(?:and|while|but|then|whereas|plus|und|y|et)[ ]{1,2}|[,;&][ ]{1,2}|[ ]&[ ])(?:also[ ]|then[ ])?"
)
_DET = r"(?:(?:the|my|our|his|her|their|mine|that|your)[ ])"
_OWNER = r"(?P<of>[\w'’&.+-]{1,24}+(?:[ ][\w'’&.+-]{1,24}+){0,3}?)"
_IS = r"(?:[ ](?:is|was)(?:[ ]now)?[ ]|'s[ ]|’s[ ]|[ ]?[:=][ ]?|,?[ ]it['’]s[ ])"
_FURTHER = re.compile(
    rf"{_JOINT}(?:"
    rf"(?:{_DET}?one[ ]|that[ ])?(?:of|for|to|on)[ ]{_DET}?{_OWNER}(?:{_IS}|[ ])"
    rf"|{_DET}(?P<one>(?:[\w'’&.+-]{{1,24}}+[ ]){{1,3}}?)one(?:{_IS}|[ ])"
    rf"|{_DET}(?P<whose>[\w&.+-]{{1,24}}+(?:[ ][\w&.+-]{{1,24}}+){{0,2}}?)['’]s[ ](?:is[ ])?"
    rf"|(?:{_DET})?(?P<place>(?:visa|amex|mastercard|maestro|gate|door|front door|back door|garage|shed|safe|locker|alarm|sim"
    rf"|debit card|credit card|bank card|office|wi-?fi)(?:[ ]card|[ ]door)?){_IS}"
    rf"|(?:mine|his|hers|yours|ours|theirs){_IS}"
    r")(?=[^\s]{0,40}\d)"
)
_FURTHER_HAN = re.compile(
    r"[”」]?[，,、；;][ ]{0,2}(?:而|还有|另外)?(?P<of>[^\s，。；,;、的是为]{1,10})(?:卡|那[个张])?的?(?:密码)?"
    r"(?:是|为|：|:)[ ]{0,2}(?=[!-~]{0,40}\d)"
)
_FOR = re.compile(r"[ ](?:for|on|to)[ ](?:(?:the|my|our)[ ])?[\w'’-]{1,20}(?:[ ](?!and\b|but\b)[\w'’-]{1,20})?")
_NEXT_FOR = re.compile(r"(?=[^\s]{3,40}[ ](?:for|on|to)[ ](?:the|my|our|his|her)[ ])")
_DIGITS = re.compile(r"[#*]?\d{3,16}(?:[- ]\d{2,6}){0,3}[#*]?")


def find_further(forms: TextForms, found: Sequence[Candidate]) -> Iterator[Candidate]:
    """Candidates that go on from others: at most four from each."""
    for first in found:
        if first.kind not in _KINDS:
            continue
        last = first
        for _ in range(_MOST):
            further = _after(forms, first, last.end)
            if further is None:
                break
            yield further
            last = further


def _after(forms: TextForms, first: Candidate, end: int) -> Candidate | None:
    match = _FURTHER.match(forms.norm, end) or _FURTHER_HAN.match(forms.norm, end)
    of = next((part for part in match.groups() if part), "").strip() if match is not None else ""
    at = match.end() if match is not None else -1
    if match is None:
        said_for = _FOR.match(forms.norm, end)
        joint = re.compile(_JOINT).match(forms.norm, said_for.end()) if said_for is not None else None
        if joint is None or _NEXT_FOR.match(forms.norm, joint.end()) is None:
            return None
        at = joint.end()
    place = _like(forms, first, at) if _NO_OWNER.isdisjoint(of.casefold().split()) else None
    if place is None:
        return None
    noun = first.noun
    return Candidate(*place, first.kind, describe(noun, [], of), noun, first.sensitivity, first.priority - 1)


def _like(forms: TextForms, first: Candidate, at: int) -> tuple[int, int] | None:
    """The value that stands there, where it looks like the first one."""
    norm = forms.norm
    model = norm[first.start : first.end]
    if _DIGITS.fullmatch(model):
        digits = _DIGITS.match(norm, at)
        if digits is None or followed_by_unit(forms.low, digits.end()):
            return None
        one, two = (sum(map(str.isdigit, text)) for text in (model, digits[0]))
        after = norm[digits.end() : digits.end() + 2]
        joined = (after[:1].isascii() and after[:1].isalnum()) or (
            len(after) == 2 and after[0] in ".,:/" and after[1].isdigit()
        )
        if abs(one - two) > 2 or two < 3 or joined or after[:1] in ("%", "€", "$", "£"):
            return None
        return (digits.start(), digits.end()) if _ends(forms, digits.end()) else None
    value = read_value(norm, at, "copula")
    if value is None:
        return None
    text = norm[value.start : value.end]
    mark = norm[value.end : value.end + 1]
    if mark in ("!", "?") and model.endswith(mark):
        return (value.start, value.end + 1) if strength(text) is Strength.STRONG else None
    if value.quoted:
        return (value.start, value.end) if strength(text) is Strength.STRONG else None
    if (
        strength(text) is not Strength.STRONG
        or text.isdigit()
        or len(text) < 5
        or followed_by_unit(forms.low, value.end)
    ):
        return None
    if not any(map(str.isdigit, text)):
        return None
    return (value.start, value.end) if _ends(forms, value.end) else None


def _ends(forms: TextForms, end: int) -> bool:
    return (
        ends_clause(forms.norm, end)
        or _FOR.match(forms.norm, end) is not None
        or CJK.match(forms.norm, end) is not None
    )
