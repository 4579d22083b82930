"""Further secrets of the same kind in the same sentence: "the PIN of my Visa is 3391 and of my Amex 8820".

Their name is not repeated, so each must have the form of the first and follow its owner.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from hexamem.stores.secrets.captions import describe
from hexamem.stores.secrets.grammar import CJK, continues_word, ends_clause, followed_by_unit, read_value
from hexamem.stores.secrets.spans import Candidate, TextForms
from hexamem.stores.secrets.values import Strength, strength

__all__ = ["find_coordinated"]

_KINDS = frozenset(
    {"pin", "access_code", "password", "passphrase", "card_cvv", "national_id", "bank_account", "one_time_code"}
)
_MAX_FURTHER = 4
_NO_OWNER = frozenset((
    "i", "we", "you", "he", "she", "they", "it", "is", "are", "was", "have", "has", "will", "bring", "need", "paid", "pay",
))  # fmt: skip
_JOINT = (
    r"[\"'”’`)]?[!.]?[ ]{0,2}"
    r"(?:[,;]?[ ]{1,2}(?:and|while|but|then|whereas|plus|und|y|et)[ ]{1,2}|[,;&][ ]{1,2}|[ ]&[ ])(?:also[ ]|then[ ])?"
)
_DET = r"(?:(?:the|my|our|his|her|their|mine|that|your)[ ])"
_OWNER = r"(?P<of>[\w'’&.+-]{1,24}+(?:[ ][\w'’&.+-]{1,24}+){0,3}?)"
_IS = r"(?:[ ](?:is|was)(?:[ ]now)?[ ]|'s[ ]|’s[ ]|[ ]?[:=][ ]?|,?[ ]it['’]s[ ])"
_JOINT_PATTERN = re.compile(_JOINT)
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


def find_coordinated(forms: TextForms, candidates: Sequence[Candidate]) -> Iterator[Candidate]:
    """Secrets that follow a candidate and share its name: at most four after each."""
    for first in candidates:
        end = first.end
        for _ in range(_MAX_FURTHER if first.kind in _KINDS else 0):
            further = _next(forms, first, end)
            if further is None:
                break
            yield further
            end = further.end


def _next(forms: TextForms, first: Candidate, end: int) -> Candidate | None:
    norm = forms.norm
    owner = ""
    if match := _FURTHER.match(norm, end) or _FURTHER_HAN.match(norm, end):
        owner = next((group for group in match.groups() if group), "").strip()
        start = match.end()
    else:
        complement = _FOR.match(norm, end)
        joint = _JOINT_PATTERN.match(norm, complement.end()) if complement is not None else None
        if joint is None or _NEXT_FOR.match(norm, joint.end()) is None:
            return None
        start = joint.end()
    place = (
        _like(forms, norm[first.start : first.end], start) if _NO_OWNER.isdisjoint(owner.casefold().split()) else None
    )
    if place is None:
        return None
    caption = describe(first.noun, [], owner)
    return Candidate(*place, first.kind, first.noun, first.sensitivity, first.priority - 1, caption)


def _like(forms: TextForms, model: str, start: int) -> tuple[int, int] | None:
    """The value at ``start`` when it has the form of ``model``, the value before it."""
    norm = forms.norm
    if _DIGITS.fullmatch(model):
        digits = _DIGITS.match(norm, start)
        if digits is None or followed_by_unit(forms.low, digits.end()):
            return None
        end = digits.end()
        joined = continues_word(norm, end, "%€$£") or norm[end : end + 1] in ("€", "£")
        joined = joined or (norm[end : end + 1] in tuple(".,:/") and norm[end + 1 : end + 2].isdigit())
        count, model_count = (sum(map(str.isdigit, text)) for text in (digits[0], model))
        fits = count >= 3 and abs(count - model_count) <= 2 and not joined and _ends(forms, end)
        return (start, end) if fits else None
    value = read_value(norm, start, "copula")
    text = norm[value.start : value.end] if value is not None else ""
    if value is None or strength(text) is not Strength.STRONG:
        return None
    mark = norm[value.end : value.end + 1]
    if mark in ("!", "?") and model.endswith(mark):
        return value.start, value.end + 1
    bare = not text.isdigit() and any(map(str.isdigit, text)) and len(text) >= 5
    bare = bare and not followed_by_unit(forms.low, value.end) and _ends(forms, value.end)
    return (value.start, value.end) if value.quoted or bare else None


def _ends(forms: TextForms, end: int) -> bool:
    return (
        ends_clause(forms.norm, end)
        or _FOR.match(forms.norm, end) is not None
        or CJK.match(forms.norm, end) is not None
    )
