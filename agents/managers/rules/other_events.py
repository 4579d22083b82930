"""Whether a change is of another event than one that was told: somebody else's, with somebody else, or somewhere else."""

from __future__ import annotations

from contextlib import suppress
from datetime import date

from .... import lazy_re as re
from .event_words import SELF, TYPE_RULES
from .people import KIN_PATTERN, KIN_ZH_PATTERN, is_name
from .words import HAN, NAME, content_words

__all__ = ["ALIKE", "ANYTHING", "CHANGED_OBJECT", "GOES", "MEETINGS", "MEETS", "TRIPS", "changed_subject", "is_another"]

_KIN_OF = re.compile(
    rf"\b(?:my|our)\s(?:\w+\s)?(?P<kin>{KIN_PATTERN})\b|\b(?P<bare>mum|mom|dad|grandma|grandpa)\b", re.IGNORECASE
)
_WHOSE = re.compile(
    rf"(?i:\b(?:my|our)\s(?:[\w-]+\s)?(?P<kin>{KIN_PATTERN})['’]s\s)|\b(?P<name>{NAME})['’]s\s(?=[a-z])|我?(?P<zh>{KIN_ZH_PATTERN})的"
)
_OF_THEM = re.compile(
    rf"(?i:\b(?:my|our)\s(?:[\w-]+\s)?(?P<kin>{KIN_PATTERN})\b)[^,.;]{{0,30}}?\s(?i:cancel\w*|called off|scrapped|moved|postponed"
    r"|rescheduled)\s(?i:his|her|their)\s"
)
_WITH = re.compile(
    rf"\b(?i:with)\s(?:(?i:my|our|the)\s)?(?P<who>{KIN_PATTERN}\b|{NAME})|[和跟与](?P<zh>[小老阿][{HAN}]|{KIN_ZH_PATTERN})"
)
_TO = re.compile(rf"\b(?i:to)\s(?:the\s)?(?P<place>{NAME})")
_SAME = (
    ("mum", "mom", "mother", "mam", "mama"),
    ("dad", "father", "papa"),
    ("grandma", "gran", "granny", "nan", "grandmother"),
    ("grandpa", "grandad", "granddad", "grandfather"),
    ("fiance", "fiancé", "fiancée", "boyfriend", "girlfriend", "partner", "wife", "husband", "spouse"),
    ("kid", "child", "baby", "boy", "girl", "son", "daughter"),
)


def is_another(change: str, earlier: str) -> bool:
    """Whether the words of a change name whose, with whom or to where, and those of an earlier event name another there.

    Where only one of them does, or one by name and the other by relation, they may be of one event: that is not told here.
    """
    whose = {
        _folded(m["kin"] or m["zh"])
        for form in (_WHOSE, _OF_THEM)
        for m in form.finditer(change)
        if m["kin"] or (form is _WHOSE and m["zh"])
    }
    if whose:
        kin = {_folded(m["kin"] or m["bare"]) for m in _KIN_OF.finditer(earlier)}
        kin |= {_folded(m[0]) for m in re.finditer(KIN_ZH_PATTERN, earlier)}
        if not whose & kin and not any(word in earlier.casefold() for word in whose):
            return True
    names = {m["name"].casefold() for m in _WHOSE.finditer(change) if m["name"] and is_name(m["name"])}
    others = {m["name"].casefold() for m in _WHOSE.finditer(earlier) if m["name"] and is_name(m["name"])}
    if names and others and not names & others and not any(name in earlier.casefold() for name in names):
        return True
    if names and any(
        _is_own(match["what"], earlier)
        for match in _NAMES_OWN.finditer(change)
        if is_name(match["name"]) and match["name"].casefold() not in earlier.casefold()
    ):
        return True
    for form in (_WITH, _TO):
        one, two = _named(form, change), _named(form, earlier)
        if one and two and not one & two:
            return True
    if _of_another_weekday(change, earlier):
        return True
    return (
        _another_way(change, earlier)
        or _another_thing(change, earlier)
        or _theirs_not_own(change, earlier)
        or _called_otherwise(change, earlier)
    )


_WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_WEEKDAYS_OWN = re.compile(
    r"\b(?P<day>mon|tue|wed|thu|fri|sat|sun)[a-z]*day['’]s\s(?=[a-z])|\b(?:the|our|my)\s(?P<which>mon|tue|wed|thu|fri|sat|sun)[a-z]*day\s(?=[a-z])"
    r"|(?:周|星期|礼拜)(?P<zh>[一二三四五六日天])的",
    re.IGNORECASE,
)
_ISO_DAY = re.compile(r"(?<!\d)\d{4}-\d\d-\d\d(?!\d)")


def _of_another_weekday(change: str, earlier: str) -> bool:
    """Whether a change is of what is on one day of the week, and the event is on another: "Saturday's dinner"."""
    match = _WEEKDAYS_OWN.search(change)
    days = _ISO_DAY.findall(earlier) if match is not None else []
    if match is None or not days:
        return False
    zh = match["zh"]
    named = (
        "一二三四五六日".index(zh.replace("天", "日"))
        if zh
        else _WEEKDAYS.index((match["day"] or match["which"]).lower())
    )
    with suppress(ValueError):
        return all(date.fromisoformat(day).weekday() != named for day in days)
    return False


_NAMES_OWN = re.compile(
    rf"\b(?P<name>{NAME})['’]s\s(?P<what>[a-z][\w-]+)(?=\s(?:is|was|has|had|got|will|just|on|to)\b|['’]s)"
)


def _is_own(what: str, earlier: str) -> bool:
    """Whether an event is told as the speaker's own thing of that name: "my flight to Oslo"."""
    return re.search(rf"\b(?:my|our)\s(?:[\w-]+\s)?{re.escape(what)}\b", earlier, re.IGNORECASE) is not None


_RIDE = r"(?:flight|plane|train|bus|ferry|coach|journey|trip|drive|crossing)"
_WAY_BACK = re.compile(
    rf"\b{_RIDE}\s(?:(?:is\s|goes\s)?(?:back|home)\b)|\b(?:return|homeward|inbound)\s{_RIDE}\b|\b(?:fly|flying|travel\w*|drive|driving|go|going"
    r"|head\w*)\s(?:back\b(?!\sto\s[A-Z])|home\b)|回程|返程|回来的|回家的|返回的",
    re.IGNORECASE,
)
_WAY_THERE = re.compile(
    rf"\b(?:{_RIDE}|fly|flying|travel\w*|drive|driving|go|going|head\w*)\s(?:out\s)?(?:to|for|into)\s(?:the\s)?(?-i:[A-Z])|\b(?:outbound|outward)\s"
    rf"|\b{_RIDE}\s(?:out|there)\b|去程|[去飞到][\u4e00-\u9fff]{{2,5}}的(?:航班|飞机|机票|火车|高铁|动车|车票)",
    re.IGNORECASE,
)


def _another_way(change: str, earlier: str) -> bool:
    """Whether one of two journeys goes there and the other back."""
    back, there = _WAY_BACK.search(change), _WAY_THERE.search(change)
    was_back, was_there = _WAY_BACK.search(earlier), _WAY_THERE.search(earlier)
    return bool(
        (back and not there and was_there and not was_back) or (there and not back and was_back and not was_there)
    )


_MOVED_WHAT = re.compile(
    rf"\b(?P<who>{NAME})\s(?:has\s|just\s)*(?:moved|postponed|pushed|rescheduled|shifted|delayed|brought forward)\s"
    r"(?:back\s)?(?:the|my|our)\s(?P<what>[\w'-]+(?:\s[\w'-]+){0,5}?)\s(?:to|until|till|from|by|back|forward)\b"
)
_ANY_THING = content_words("deadline date day time start end meeting call appointment event thing whole everything")


def _another_thing(change: str, earlier: str) -> bool:
    """Whether somebody of whom an earlier event tells moves something that has nothing to do with it."""
    match = _MOVED_WHAT.search(change)
    if match is None or match["who"].casefold() not in earlier.casefold():
        return False
    what = content_words(match["what"]) - _ANY_THING
    if not what or what & content_words(earlier):
        return False
    return not _of_one_type(match["what"], earlier)


def _of_one_type(one: str, other: str) -> bool:
    return any(rule.search(one) and rule.search(other) for _, rule in TYPE_RULES)


_BEGUN = (
    r"^\W*(?:(?:oh|so|and|but|also|sorry|actually|unfortunately|sadly|luckily|wait|no|yes|ok|okay|by the way"
    r"|(?:good |bad )?news|update)\W+)*"
)
_WORDS = r"[\w'’-]+(?:\s(?!(?:is|was|has|had|have|got|will|just|are|were|fell|(?:is|are|wo)n['’]t)\b)[\w'’-]+){0,4}?"
_CHANGED_THING = re.compile(
    rf"{_BEGUN}(?:(?:the|our|my|that|this|(?P<theirs>his|her|their))\s(?P<what>{_WORDS})"
    r"(?:['’]s|\s(?:is|was|are|were|has|have|had|got|gets|will|just|now|fell|(?:is|are|wo)n['’]t|sadly|unfortunately))\b"
    # Without an article the words may be a person's name, who moves it; what is moved is no person.
    rf"|(?!(?:it|that|this|there|he|she|they|we|i|you|which|what|everything|all)\b)(?P<bare>{_WORDS})"
    r"(?:['’]s|\s(?:is|are|was|were|(?:has|have|had)\s(?:\w+\s)?been|got|['’]s\sbeen))\s(?:(?:now|just|only|been|actually|already)\s)*"
    r"(?:moved|postponed|pushed|rescheduled|shifted|delayed|brought|put|cancel\w*|called|scrapped|off|on|at"
    r"|fallen|no longer|not happening)\b"
    rf"|(?!(?:it|that|this|there|everything|all|which|what)\b)(?P<fell>{_WORDS})\s(?:fell|(?:isn|aren)['’]t happening)\b)",
    re.IGNORECASE,
)
CHANGED_OBJECT = re.compile(
    r"\b(?:mov\w+|chang\w+|switch\w+|shift\w+|push\w*|put|reschedul\w+|postpon\w+|delay\w*|brought|bring|cancel\w*"
    r"|call(?:ed|ing)? off|scrap\w*)\s"
    r"(?:(?:the|my|our|his|her|their|that|this)\s|(?-i:(?=[A-Z])))(?P<what>(?:[\w'’-]+\s){0,5}?[\w'’-]+)"
    r"(?=\s(?:to|until|till|for|from|by|back|forward|up|off|on|because|since|and|after|again|today|yesterday)\b|[^\w\s'’-]|$)",
    re.IGNORECASE,
)
"""What somebody moves or calls off, where the words tell who does so: "the landlord moved the inspection to"."""
_PLAN = re.compile(r"(?:whole\s|original\s)?plans?", re.IGNORECASE)
_PLANNED_SO = re.compile(
    r"\bplan\w*|['’]ll\b|\b(?:going|gonna|will|want(?:ed)?|hop(?:e|ed|ing)|thinking|thought|intend\w*|decided|idea)\b",
    re.IGNORECASE,
)
"""By what words an event is one of which "the plan" may be told."""
_OF_OTHERS = re.compile(
    rf"\b(?i:{KIN_PATTERN}|he|she|they|his|her|their|him|them|couple|family)s?\b|\b(?i:with|and|for|of)\s{NAME}|{NAME}['’]s\s(?=[a-z])"
    rf"|^(?!I\b){NAME}\s(?=[a-z])"
)
_AT_WHERE = re.compile(rf"\b(?i:at|against)\s(?:the\s)?(?P<place>{NAME})")
_WITH_WHOM = re.compile(r"\s(?:with|of|to|at|in|for|from|on)\s")
ANYTHING = content_words("date day time start end thing whole everything lot event slot booking plan plans")
MEETINGS = content_words("meeting meet-up meetup call appointment session talk visit consultation")
MEETS = re.compile(
    r"\b(?:see|sees|seeing|meets?|meeting|comes?|coming|calls?|talk(?:ing)?|visit(?:s|ing)?|with|at the)\b|见|来|约",
    re.IGNORECASE,
)
TRIPS = content_words("trip flight train journey drive ferry bus holiday vacation travel visit")
GOES = re.compile(
    r"\b(?:go|goes|going|off|head|heads|heading|drive|driving|back)\s(?:home\b|to\s(?-i:[A-Z]))", re.IGNORECASE
)
ALIKE = tuple(
    content_words(words)
    for words in (
        "party birthday wedding celebration anniversary",
        "game match",
        "exam test",
        "plane flight train ferry bus trip journey travel fly flying holiday tour",
        "delivery parcel package order shipment arrives arrive",
        "lesson class course lecture seminar workshop",
        "dinner meal table reservation restaurant",
        "lunch meal table reservation restaurant",
        "breakfast brunch meal table reservation restaurant",
        "gig concert show performance",
        "launch release deploy deployment rollout ship",
        "home back return returning homeward",
    )
)


_THINGS = content_words(
    "appointment audition barbecue birthday breakfast brunch call choir class concert conference course date deadline delivery"
    " dentist dinner doctor exam flight game gig gym haircut hairdresser hearing inspection interview launch lecture lesson"
    " lunch match meeting movie party physio picnic practice presentation rehearsal release review seminar show surgery test"
    " theatre therapy training trip viewing visit wedding workshop yoga"
)
"""By what many events go: where each of two goes by another, they are not the same."""


def changed_subject(change: str) -> str:
    """The words that stand first in a clause for what is moved or called off: ``deal`` of "the deal fell through"."""
    match = _CHANGED_THING.match(change)
    return (match["what"] or match["bare"] or match["fell"] or "") if match else ""


def _theirs_not_own(change: str, earlier: str) -> bool:
    """Whether what changes is somebody else's, and the event is told of nobody but the speaker: "their trip fell through"."""
    match = _CHANGED_THING.match(change)
    if match is None or not match["theirs"] or SELF.search(earlier) is None:
        return False
    return not any(is_name(one[0].split()[-1]) or one[0].islower() for one in _OF_OTHERS.finditer(earlier))


def _called_otherwise(change: str, earlier: str) -> bool:
    """Whether a change names what is changed by a word that the earlier event does not go by: "the meeting" is not when
    somebody starts school, nor "the lunch with Ana" the dinner with her."""
    active = CHANGED_OBJECT.search(change)
    if active is None and _CHANGED_THING.match(change) is None:
        return False
    words = active["what"] if active else changed_subject(change)
    if _PLAN.fullmatch(words):
        return _PLANNED_SO.search(earlier) is None
    one, two = _named(_AT_WHERE, words), _named(_AT_WHERE, earlier)
    if one and two and not one & two:
        return True
    what, told = content_words(words), content_words(earlier)
    head = content_words(_WITH_WHOM.split(words)[0])
    if not head - ANYTHING or head & told:
        return False
    if _of_one_type(words, earlier) or any(head & group and told & group for group in ALIKE):
        return False
    if (head & MEETINGS and MEETS.search(earlier)) or (head & TRIPS and GOES.search(earlier)):
        return False
    return not what & told or bool(head & _THINGS and told & _THINGS)


def _named(form: re.Pattern[str], text: str) -> set[str]:
    found = {word for match in form.finditer(text) for word in match.groups() if word}
    return {_folded(word) for word in found if not word[0].isupper() or is_name(word)}


def _folded(word: str) -> str:
    low = word.casefold()
    return next((group[0] for group in _SAME if low in group), low)
