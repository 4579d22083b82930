"""Short codes that are secrets because of their name: PINs, one-time codes, door and safe codes, a card's CVV."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple, cast

from hexamem.stores.secrets.captions import describe
from hexamem.stores.secrets.grammar import (
    CJK,
    Link,
    continues_word,
    ends_clause,
    find_link,
    followed_by_unit,
    left_words,
    occurrences,
)
from hexamem.stores.secrets.spans import Candidate, Sensitivity, TextForms

__all__ = ["find_codes"]

_PRIORITY = 45
_SIGNS = (
    "pin", "code", "código", "codigo", "combination", "combo", "otp", "tan ", "tan:", "cvv", "cvc", "geheimzahl",
    "zahlenkombination", "kombination", "combinación", "暗証番号", "keypad",
)  # fmt: skip
_HAN_SIGNS = (
    "验证码", "验證碼", "驗證碼", "动态码", "动态密码", "校验码", "短信码", "登录码", "提取码", "安全码", "门禁码", "门锁码", "保险箱码",
    "保险柜码", "解锁码", "开锁码", "取件码", "激活码",
)  # fmt: skip
_NAME = re.compile(
    r"(?P<pin>pin[码碼]|pin(?:[- ]?(?:codes?|numbers?|no\.?|#))?|geheimzahl|暗証番号)"
    r"|(?P<cvv>cvv2?|cvc2?|安全码)"
    r"|(?P<otp>otp|tan|[验驗][证證][码碼]|动态[码密]码?|校验码|短信码|登录码)"
    r"|(?P<share>提取码)"
    r"|(?P<zh>(?:门禁|门锁|保险[箱柜]|解锁|开锁|取件|激活)[码碼])"
    r"|(?P<combo>combination|combo|zahlenkombination|kombination|combinación)"
    r"|(?P<keypad>keypad)"
    r"|(?P<code>code(?: pin)?|código(?: pin)?|codigo)"
)
_OTP_WORDS = re.compile(
    r"(?:one[- ]time|single[- ]use|otp|2fa|mfa|two[- ]factor|two[- ]step|verification|verify|login|log[- ]in|sign[- ]?in|sms|"
    r"authentication|authenticator|auth|confirmation sms|security|einmal|bestätigungs|verifizierungs)[- ]?$"
)
_OTP_COMPLEMENT = re.compile(r"(?:verificación|vérification|confirmación|confirmation|seguridad|sécurité|validation)\b")
_PLACE = re.compile(
    r"\b(?:safe|door|gate|alarm|entry|entrance|access|garage|lock|locker|lockbox|lock box|padlock|building|unlock|elevator|lift|"
    r"keypad|house|apartment|flat|storage|vault|disarm|guest|shed|office|cabinet|suitcase|briefcase|bike|gym|phone|ipad|iphone|"
    r"tablet|laptop|screen|parental|voicemail|security system|tür|haustür|türe|zugangs|tresor|puerta|"
    r"porte|portail|coffre|accès|acceso|verification|"
    r"verificación|vérification|caja fuerte|home|room|front|back|bank|wi-?fi|wlan|card|atm|sim|debit|credit|visa|mastercard)[- ]?"
)
_PLACE_COMPOUND = re.compile(r"(?:tür|haustür|zugangs|tresor|safe|alarm|sicherheits|garagen)")
_CARD = re.compile(r"card|visa|mastercard|amex|\bcv[vc]")
_NOT_SECRET = re.compile(
    r"(?:zip|area|postal|post|country|error|status|exit|response|return|http|dress|promo|promotion|discount|coupon|voucher|"
    r"referral|invite|gift|offer|product|item|model|course|class|color|colour|hex|qr|bar|source|morse|tax|sort|swift|"
    r"airport|station|flight|booking|reservation|confirmation|tracking|order|build|version|dial|dialing|phone area|"
    r"currency|language|region|state|city|office|department|room|seat|gate number|stock|ticker|diagnosis|icd|cpt|naics|"
    r"sic|hs|commodity|part|batch|lot|fault|trouble|diagnostic|event|reason|key|char|character|ascii|unicode|"
    r"penal|civil|criminal|labor|labour|vehicle|fire|electrical|plumbing|honor|honour|moral|ethics|conduct|op|byte|"
    r"machine|python|java|sample|example|secret|cheat|project|job|cost|budget|account|expense|merchant|category|"
    r"team|group|meeting|webinar|conference|game|lobby|friend)[- ]?$"
)
_ARTICLE = re.compile(r"\b(?:the|my|our)[ ]$")
_OWNER = re.compile(r"(?:\bmy|\byour|\bour|card|sim|bank|phone|atm|debit|credit|visa)[ ]$")
_BEFORE_UNDECIDED = re.compile(r"\b(?:(your|my)(?:[ ][\w'’.-]{1,20}){0,3}|(?:the|our))[ ]$")
_ADDRESS = re.compile(
    r"\b(?:area|city|postal|address|delivery|deliver|india|pincode|zip|state|district|road|nagar|delhi|mumbai)\b"
)
_DIGITS = re.compile(r"(?:g-)?[#*]?\d(?:\d|[-–.·](?=\d)|[ ](?=\d{2})){2,20}[#*]?")
_ALNUM = re.compile(r"(?=[a-z#*-]{0,10}\d)[a-z0-9]{4,12}(?:-[a-z0-9]{3,8}){0,3}[#*]?")
_DIGIT_WORD = "(?:zero|oh|one|two|three|four|five|six|seven|eight|nine)"
_SPOKEN = re.compile(rf"{_DIGIT_WORD}(?:[ ,-]{{1,2}}{_DIGIT_WORD}){{3,9}}(?![a-z])")
_PLACE_AFTER = re.compile(rf"[ ](?:for|to|at)[ ](?:the|my|our)[ ](?:\w{{1,12}}[ ]){{0,2}}?(?:{_PLACE.pattern})(?!\w)")
_VERIFYING = re.compile(
    r"(?:use|enter)[ ](?:the code )?(\d{4,8}|\d{3}[- ]\d{3})[ ](?:to|as your|for your)[ ](?:verify|confirm|log|sign|"
    r"authenticat|otp|code|verification|one-time|security code|two)"
)
# "4711-xk9", "zk-9912", "1234#a": digits and letters in groups; digits alone are read as numbers are.
_MIXED = re.compile(r"(?=[0-9#*-]*[a-z])[a-z0-9]{1,8}(?:[-#*][a-z0-9]{1,8}){1,4}")
_YEAR = re.compile(r"(?:19|20)\d\d")
_UNDECIDED_VALUE = re.compile(r"(?:\d[ -]*){4,8}")
_OPENING = re.compile(r"[\"'`“‘*「(]{0,2}")
_REVERSED = re.compile(
    r"(?:^|[\s:\"'])((?:g-)?\d{4,8}|\d{3}[- ]\d{3})[\"']?[ ]{1,2}(?:is|as|was)[ ]{1,2}(?:your|my|the|our)[ ](?:[\w'’.-]{1,20}[ ]){0,4}$"
)

_Group = Literal["pin", "cvv", "otp", "share", "zh", "combo", "keypad", "code"]


class _Name(NamedTuple):
    """A name of a code in the text: the alternative of ``_NAME`` that matched, and the 48 characters before it."""

    start: int
    end: int
    text: str
    group: _Group
    left: str


class _Meaning(NamedTuple):
    """The kind of secret that a name announces, and the least number of digits of its value."""

    kind: str
    noun: str
    sensitivity: Sensitivity
    least_digits: int


_PIN = _Meaning("pin", "PIN", "high", 4)
_CARD_CODE = _Meaning("card_cvv", "card security code", "high", 3)
_ONE_TIME = _Meaning("one_time_code", "one-time code", "low", 4)
_ACCESS = _Meaning("access_code", "access code", "high", 3)
_UNDECIDED = _Meaning("", "code", "medium", 4)
"""``my code``, ``the code``: the value and the words around it decide whether it is a secret."""


def find_codes(forms: TextForms) -> Iterator[Candidate]:
    """Codes that stand after or before their name ("my PIN is 4821", "4821 is my PIN")."""
    yield from _verification_codes(forms)
    for name in _names(forms):
        link = find_link(forms, name.end)
        meaning = _meaning(forms, name, link.of.lower() if link else "")
        if meaning is None and link is not None and _place_follows(forms, link, name):
            meaning = _ACCESS._replace(least_digits=4)
        if meaning is None:
            continue
        before = left_words(forms.norm, name.start)
        start = name.start - len(name.left)
        if preceding := _code_before(forms, name):
            shown = _ONE_TIME._replace(sensitivity="medium") if meaning is _UNDECIDED else meaning
            yield _candidate(start + preceding.start(1), start + preceding.end(1), shown, before, "")
        if link is not None and link.kind != "tag" and (code := _code_after(forms, name, link, meaning)):
            yield _candidate(*code, before, link.of)


def _candidate(start: int, end: int, meaning: _Meaning, before: list[str], of: str) -> Candidate:
    caption = describe(meaning.noun, before, of)
    return Candidate(start, end, meaning.kind, meaning.noun, meaning.sensitivity, _PRIORITY, caption)


def _verification_codes(forms: TextForms) -> Iterator[Candidate]:
    for start in occurrences(forms.low, ("use ", "enter ")):
        match = _VERIFYING.match(forms.low, start)
        if match is not None and not continues_word(forms.low, start - 1):
            yield Candidate(match.start(1), match.end(1), "one_time_code", "one-time code", "low", _PRIORITY)


def _names(forms: TextForms) -> Iterator[_Name]:
    low = forms.low
    for sign_start in occurrences(low, _SIGNS if low.isascii() else _SIGNS + _HAN_SIGNS):
        match = _NAME.match(low, sign_start)
        if match is None:
            continue
        start, end = match.span()
        group = cast("_Group", match.lastgroup)
        if group == "code":  # "passcode", "Türcode"
            while sign_start - start < 16 and start and low[start - 1].isalpha() and not CJK.match(low, start - 1):
                start -= 1
            if low.startswith("pass ", max(0, start - 5)):
                start -= 5
            if low.startswith(("pin ", "pin-"), max(0, start - 4)):
                continue  # "PIN code" is read from "pin"
        text = low[start:end]
        if text.endswith(" pin"):  # "code pin"
            group = "pin"
        if low[start].isascii() and (continues_word(low, start - 1) or continues_word(low, end)):
            continue
        yield _Name(start, end, text, group, low[max(0, start - 48) : start])


def _meaning(forms: TextForms, name: _Name, of: str) -> _Meaning | None:
    """The meaning of a name by the words before it and its complement ``of``; None when it announces no secret."""
    text, left = name.text, name.left
    match name.group:
        case "pin":
            return _PIN
        case "cvv":
            return _CARD_CODE
        case "share":
            return _Meaning("access_code", "share code", "low", 1)
        case "otp":
            return None if text == "tan" and forms.norm[name.start : name.end] != "TAN" else _ONE_TIME
        case "zh" | "keypad":
            return _ACCESS
        case "combo":
            named = _PLACE.search(left) or _PLACE.search(of + " ") or _ARTICLE.search(left)
            return _Meaning("access_code", "combination", "high", 4) if named else None
        case "code":
            pass
    if text in {"passcode", "pass code"}:
        return _Meaning("access_code", "passcode", "high", 4)
    if text == "digicode" or (text != "code" and _PLACE_COMPOUND.match(text)):
        return _ACCESS
    if text == "code" and left.endswith("security "):
        return _CARD_CODE if _CARD.search(left + of) else _Meaning("one_time_code", "security code", "medium", 3)
    if text not in {"code", "código", "codigo"} and not text.endswith("scode"):
        return None
    if _OTP_WORDS.search(left) or _OTP_COMPLEMENT.match(of):
        return _ONE_TIME
    if _NOT_SECRET.search(left):
        return None
    if (_PLACE.search(left[-24:]) and left.endswith((" ", "-"))) or (of and _PLACE.search(of + " ")):
        return _ACCESS
    return _UNDECIDED if _BEFORE_UNDECIDED.search(left) else None


def _place_follows(forms: TextForms, link: Link, name: _Name) -> bool:
    """ "the code is 5566 for the gate": the place follows the value."""
    if name.text != "code" or not link.is_explicit or _NOT_SECRET.search(name.left):
        return False
    place = _value(forms, link.end, digits_only=True, linked=True)
    return place is not None and _PLACE_AFTER.match(forms.low, place[1]) is not None


def _code_before(forms: TextForms, name: _Name) -> re.Match[str] | None:
    """The code in ``name.left`` that the name belongs to: "4821 is my PIN"."""
    if name.group not in {"pin", "otp", "code"} or not ends_clause(forms.norm, name.end):
        return None
    return _REVERSED.search(name.left) if any(map(name.left.__contains__, (" is ", " as ", " was "))) else None


def _code_after(forms: TextForms, name: _Name, link: Link, meaning: _Meaning) -> tuple[int, int, _Meaning] | None:
    """The code after the link and what it is, or None when nothing there is one."""
    low, norm = forms.low, forms.norm
    linked = link.is_explicit or (link.kind == "dash" and name.group == "pin")
    if not linked and (name.group == "keypad" or meaning is _UNDECIDED):
        return None
    digits_only = name.group in {"pin", "cvv", "otp"} and name.text.isascii()
    place = _value(forms, link.end, digits_only=digits_only, linked=linked)
    if place is None:
        return None
    start, end = place
    text = low[start:end]
    digits = _count_digits(text)
    if digits < meaning.least_digits or followed_by_unit(low, end):
        return None
    if (not linked or _YEAR.fullmatch(text) or meaning is _UNDECIDED) and not ends_clause(norm, end):
        return None
    if meaning is _UNDECIDED:
        if not _UNDECIDED_VALUE.fullmatch(text):
            return None
        owner = _BEFORE_UNDECIDED.search(name.left)
        decided = _ONE_TIME if owner and owner[1] == "your" else _ACCESS
        return start, end, decided._replace(sensitivity="medium")
    if meaning is _PIN and not _is_pin(forms, name, place, digits, linked=linked):
        return None
    if meaning is _CARD_CODE and digits not in {3, 4}:
        return start, end, _ACCESS
    return start, end, meaning


def _value(forms: TextForms, at: int, *, digits_only: bool, linked: bool) -> tuple[int, int] | None:
    """The code that starts at ``at``; opening quotes are skipped.

    After an explicit link (``linked``) a code may also be spoken ("four two one one") or hold letters. With
    ``digits_only`` letters without a hyphen are refused.
    """
    low = forms.low
    opening = _OPENING.match(low, at)
    start = opening.end() if opening else at
    mixed = _MIXED.match(low, start) if linked else None
    if mixed is not None and sum(map(str.isdigit, mixed[0])) >= 3 and not _continues(low, mixed.end()):
        return mixed.span()
    digits = _DIGITS.match(low, start)
    if digits is not None and not _continues(low, digits.end()):
        return digits.span() if 3 <= sum(map(str.isdigit, digits[0])) <= 16 else None
    for pattern in ((_SPOKEN,) if digits_only else (_SPOKEN, _ALNUM)) if linked else ():
        match = pattern.match(low, start)
        if match is not None and not _continues(low, match.end()):
            return match.span()
    return None


def _continues(low: str, end: int) -> bool:
    """Whether what follows makes the code part of something longer: a word, a decimal, a time, a date, a range."""
    after = low[end : end + 2]
    return continues_word(low, end, "_%$€£@") or (after[:1] in tuple(".,:/-–") and after[1:].isdigit())


def _count_digits(text: str) -> int:
    digits = sum(map(str.isdigit, text))
    if not digits:
        return len(re.findall(_DIGIT_WORD, text))
    return len(text) if text[0].isalpha() and digits * 2 <= len(text) else digits


def _is_pin(forms: TextForms, name: _Name, place: tuple[int, int], digits: int, *, linked: bool) -> bool:
    if digits > 12 or "." in forms.low[place[0] : place[1]]:
        return False
    # "pin 2048 to the board": without a link only the abbreviation, or an owner before it, is a PIN.
    if not linked and forms.norm[name.start : name.start + 3] != "PIN" and not _OWNER.search(name.left[-12:]):
        return False
    # India's postal codes are six digits and are called PIN codes.
    around = forms.low[max(0, name.start - 60) : place[1] + 60]
    return not (digits == 6 and name.text.startswith(("pin code", "pin-code")) and _ADDRESS.search(around))
