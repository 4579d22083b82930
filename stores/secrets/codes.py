"""Short codes that only their name makes a secret: PINs, one-time codes, door and safe codes, a card's CVV."""

from __future__ import annotations

import re
from collections.abc import Iterator

from hexamem.stores.secrets.captions import describe
from hexamem.stores.secrets.grammar import CJK, Link, ends_clause, find_link, followed_by_unit, left_words, occurrences
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
_PLACE = re.compile(
    r"\b(?:safe|door|gate|alarm|entry|entrance|access|garage|lock|locker|lockbox|lock box|padlock|building|unlock|elevator|lift|"
    r"keypad|house|apartment|flat|storage|vault|disarm|guest|shed|office|cabinet|suitcase|briefcase|bike|gym|phone|ipad|iphone|"
    r"tablet|laptop|screen|parental|voicemail|security system|tür|haustür|türe|zugangs|tresor|puerta|"
    r"porte|portail|coffre|accès|acceso|verification|"
    r"verificación|vérification|caja fuerte|home|room|front|back|bank|wi-?fi|wlan|card|atm|sim|debit|credit|visa|mastercard)[- ]?"
)
_NOT_SECRET = re.compile(
    r"(?:zip|area|postal|post|country|error|status|exit|response|return|http|dress|promo|promotion|discount|coupon|voucher|"
    r"referral|invite|gift|offer|product|item|model|course|class|color|colour|hex|qr|bar|source|morse|tax|sort|swift|"
    r"airport|station|flight|booking|reservation|confirmation|tracking|order|build|version|dial|dialing|phone area|"
    r"currency|language|region|state|city|office|department|room|seat|gate number|stock|ticker|diagnosis|icd|cpt|naics|"
    r"sic|hs|commodity|part|batch|lot|fault|trouble|diagnostic|event|reason|key|char|character|ascii|unicode|"
    r"penal|civil|criminal|labor|labour|vehicle|fire|electrical|plumbing|honor|honour|moral|ethics|conduct|op|byte|"
    r"machine|python|java|sample|example|secret|cheat|project|job|cost|budget|account|expense|merchant|category|"
    r"color|team|group|meeting|webinar|conference|game|room|lobby|friend)[- ]?$"
)
_BEFORE_UNNAMED = re.compile(r"\b(?:(your|my)(?:[ ][\w'’.-]{1,20}){0,3}|(?:the|our))[ ]$")
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
_OPENING = re.compile(r"[\"'`“‘*「(]{0,2}")
_REVERSED = re.compile(
    r"(?:^|[\s:\"'])((?:g-)?\d{4,8}|\d{3}[- ]\d{3})[\"']?[ ]{1,2}(?:is|as|was)[ ]{1,2}(?:your|my|the|our)[ ](?:[\w'’.-]{1,20}[ ]){0,4}$"
)


def _value(forms: TextForms, at: int, *, pin: bool, linked: bool) -> tuple[int, int] | None:
    """The code that starts at ``at``; opening quotes are skipped. ``linked`` codes may have letters."""
    low = forms.low
    opening = _OPENING.match(low, at)
    start = opening.end() if opening else at
    match = _MIXED.match(low, start) if linked else None
    if match is not None and sum(map(str.isdigit, match[0])) >= 3 and not _continues(low, match.end()):
        return start, match.end()
    match = _DIGITS.match(low, start)
    end = match.end() if match else start
    if match is not None and not _continues(low, end):
        digits = sum(map(str.isdigit, match[0]))
        return (start, end) if 3 <= digits <= 16 else None
    if not linked:
        return None
    for pattern in (_SPOKEN,) if pin else (_SPOKEN, _ALNUM):
        match = pattern.match(low, start)
        if match is not None and not _continues(low, match.end()):
            return start, match.end()
    return None


def _joined(low: str, at: int) -> bool:
    """Whether the character there would make the name part of a longer word."""
    return 0 <= at < len(low) and low[at].isascii() and (low[at].isalnum() or low[at] == "_")


def _continues(low: str, end: int) -> bool:
    """Whether what follows makes the code part of something longer: a word, a decimal, a time, a date, a range."""
    after = low[end : end + 2]
    if not after:
        return False
    if after[0].isascii() and (after[0].isalnum() or after[0] in "_%$€£@"):
        return True
    return after[0] in ".,:/-–" and len(after) == 2 and after[1].isdigit()


def find_codes(forms: TextForms) -> Iterator[Candidate]:
    """Candidates that a name of a code announces; runs only when one of the names stands in the text."""
    low, norm = forms.low, forms.norm
    yield from _verifying(forms)
    signs = _SIGNS if low.isascii() else _SIGNS + _HAN_SIGNS
    for at in occurrences(low, signs):
        match = _NAME.match(low, at)
        if match is None:
            continue
        start, end = match.span()
        group = match.lastgroup or "code"
        if group == "code":  # "passcode", "Türcode"
            while at - start < 16 and start and low[start - 1].isalpha() and not CJK.match(low, start - 1):
                start -= 1
            if low.startswith("pass ", start - 5) and start >= 5:
                start -= 5
            if low.startswith(("pin ", "pin-"), start - 4) and start >= 4:
                continue  # "PIN code" was found at "pin"
        name = low[start:end]
        if group in {"code", "pin"} and name.endswith(" pin"):
            group = "pin"
        if low[start].isascii() and (_joined(low, start - 1) or _joined(low, end)):
            continue
        left = low[max(0, start - 48) : start]
        before = left_words(norm, start)
        backward = _REVERSED.search(left) if " is " in left or " as " in left or " was " in left else None
        link = find_link(forms, end)
        kind, noun, sensitivity, least = _meaning(forms, group, name, start, left, link.of.lower() if link else "")
        if kind is None and (link is None or not _place_follows(forms, link, name, left)):
            continue
        if kind is None:
            kind, noun, sensitivity, least = "access_code", "access code", "high", 4
        if backward is not None and group in {"pin", "otp", "code"} and ends_clause(norm, end):
            offset = max(0, start - 48)
            kind_b = "pin" if group == "pin" else ("one_time_code" if kind == "unnamed" else kind)
            noun_b = {"pin": "PIN", "one_time_code": "one-time code"}.get(kind_b, noun)
            yield _candidate(
                offset + backward.start(1), offset + backward.end(1), kind_b, before, "", noun_b, sensitivity
            )
        if link is None or link.kind == "tag":
            continue
        linked = link.kind in {"colon", "equals", "copula"} or (link.kind == "dash" and group == "pin")
        if group == "keypad" and not linked:
            continue
        if kind == "unnamed" and not linked:
            continue
        place = _value(forms, link.end, pin=group in {"pin", "cvv", "otp"} and name.isascii(), linked=linked)
        if place is None:
            continue
        text = low[place[0] : place[1]]
        digits = sum(map(str.isdigit, text))
        if not digits:
            digits = len(re.findall(_DIGIT_WORD, text))
        elif text[0].isalpha() and digits * 2 <= len(text):
            digits = len(text)  # letters count where a code has them
        if digits < least or followed_by_unit(low, place[1]):
            continue
        if (not linked or _YEAR.fullmatch(text)) and not ends_clause(norm, place[1]):
            continue
        if kind == "unnamed":
            if (
                digits < 4
                or digits > 8
                or not ends_clause(norm, place[1])
                or not text.replace(" ", "").replace("-", "").isdigit()
            ):
                continue
            mine = _BEFORE_UNNAMED.search(left)
            kind, noun = (
                ("one_time_code", "one-time code") if mine and mine[1] == "your" else ("access_code", "access code")
            )
        if kind == "pin" and not _is_pin(forms, start, place, digits, linked, name):
            continue
        if kind == "card_cvv" and digits not in {3, 4}:
            kind, noun, sensitivity = "access_code", "access code", "high"
        yield _candidate(place[0], place[1], kind, before, link.of, noun, sensitivity)


def _place_follows(forms: TextForms, link: Link, name: str, left: str) -> bool:
    """ "the code is 5566 for the gate": the place stands after the value."""
    if name != "code" or link.kind not in {"colon", "copula", "equals"} or _NOT_SECRET.search(left):
        return False
    place = _value(forms, link.end, pin=True, linked=True)
    return place is not None and _PLACE_AFTER.match(forms.low, place[1]) is not None


def _verifying(forms: TextForms) -> Iterator[Candidate]:
    for start in occurrences(forms.low, ("use ", "enter ")):
        match = _VERIFYING.match(forms.low, start)
        if match is not None and not _joined(forms.low, start - 1):
            noun = "one-time code"
            yield Candidate(match.start(1), match.end(1), "one_time_code", noun, noun, "low", _PRIORITY)


def _candidate(
    start: int, end: int, kind: str, before: list[str], of: str, noun: str, sensitivity: Sensitivity
) -> Candidate:
    return Candidate(start, end, kind, describe(noun, before, of), noun, sensitivity, _PRIORITY)


def _is_pin(forms: TextForms, start: int, place: tuple[int, int], digits: int, linked: bool, name: str) -> bool:
    text = forms.low[place[0] : place[1]]
    if digits > 12 or "." in text:
        return False
    if not linked:
        # "pin 2048 to the board": without a link only the abbreviation, or an owner before it, is a PIN.
        owner = re.search(
            r"(?:\bmy|\byour|\bour|card|sim|bank|phone|atm|debit|credit|visa)[ ]$",
            forms.low[max(0, start - 12) : start],
        )
        if not (forms.norm[start : start + 3] == "PIN" or owner):
            return False
    around = forms.low[max(0, start - 60) : place[1] + 60]
    # India's postal codes are six digits and are called PIN codes.
    return not (
        digits == 6 and (name.startswith("pin code") or name.startswith("pin-code")) and _ADDRESS.search(around)
    )


def _meaning(
    forms: TextForms, group: str, name: str, start: int, left: str, of: str
) -> tuple[str | None, str, Sensitivity, int]:
    """Kind (None: no secret, "unnamed": undecided), noun, sensitivity and least number of digits."""
    if group == "pin":
        return "pin", "PIN", "high", 4
    if group == "cvv":
        return "card_cvv", "card security code", "high", 3
    if group == "share":
        return "access_code", "share code", "low", 1
    if group == "otp":
        if name == "tan" and forms.norm[start : start + 3] != "TAN":
            return None, "", "low", 0
        return "one_time_code", "one-time code", "low", 4
    if group in {"zh", "keypad"}:
        return "access_code", "access code", "high", 3
    if group == "combo":
        named = _PLACE.search(left) or _PLACE.search(of + " ") or re.search(r"\b(?:the|my|our)[ ]$", left)
        return ("access_code" if named else None), "combination", "high", 4
    if name in {"passcode", "pass code"}:
        return "access_code", "passcode", "high", 4
    if name == "digicode" or (
        name != "code" and re.match(r"(?:tür|haustür|zugangs|tresor|safe|alarm|sicherheits|garagen)", name)
    ):
        return "access_code", "access code", "high", 3
    if name == "code" and left.endswith("security "):
        if re.search(r"card|visa|mastercard|amex|\bcv[vc]", left + of):
            return "card_cvv", "card security code", "high", 3
        return "one_time_code", "security code", "medium", 3
    if name in {"code", "código", "codigo"} or name.endswith(("scode", "zugangscode")):
        if _OTP_WORDS.search(left) or re.match(
            r"(?:verificación|vérification|confirmación|confirmation|seguridad|sécurité|validation)\b", of
        ):
            return "one_time_code", "one-time code", "low", 4
        if _NOT_SECRET.search(left):
            return None, "", "low", 0
        if (_PLACE.search(left[-24:]) and left.endswith((" ", "-"))) or (of and _PLACE.search(of + " ")):
            return "access_code", "access code", "high", 3
        if _BEFORE_UNNAMED.search(left):
            return "unnamed", "code", "medium", 4
    return None, "", "low", 0
