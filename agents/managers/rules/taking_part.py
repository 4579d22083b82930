"""Who comes along and who does not: "Wout is not coming", "Youssef is coming with us", "小王不来了"."""

from __future__ import annotations

from .... import lazy_re as re
from .people import KIN_PATTERN, KIN_ZH_PATTERN, People, is_name
from .sentences import Clause, Sentence
from .told import Told
from .words import HAN, NAME

__all__ = ["taking_part", "taking_part_zh"]

_LEAD = r"(?i:^(?:(?:oh|well|and|but|so|also|yes|no|actually|unfortunately|sadly|however|in the end)[\s,]+)*)"
_DOES = r"(?:coming|joining|travelling|traveling|going|attending|taking part|flying|driving|playing)"
_WHERE = r"(?:\s(?:along|over|too|either|after all|any\s?more|any longer|now|then))*"
_WITH = r"(?:\s(?:with\s)?(?:me|us)\b)?"
_TO = r"(?P<to>\s(?:to|for|on|in|at)\s(?:the\s|our\s|my\s|his\s|her\s|their\s)?[\w' -]{2,40})?"
_ENGLISH = re.compile(
    rf"{_LEAD}(?:(?i:(?:my|our)\s(?:\w+\s)?(?P<kin>{KIN_PATTERN}))(?:,?\s(?P<kinname>{NAME}))?|(?P<name>{NAME}))"
    r"(?P<tail>(?:\s(?:from|of)\s(?:the|our|my)\s[\w' -]{2,24}?)?)"
    r"(?P<does>(?i:(?:\s(?:is|will be|was)(?:\s(?:not|no longer)|n't)|['’]s\snot|\swon't be|\sis(?:\s(?:now|also))?"
    r"|\s(?:can't|cannot|won't)\s(?:come|join|make it|attend)|\s(?:has\s)?(?:dropped out|pulled out|backed out|cancelled))"
    rf"(?:\s(?:definitely|probably|still|also|able to come|allowed to come))?(?:\s{_DOES})?{_WHERE}{_WITH}{_WHERE}))(?i:{_TO})\W*$"
)
_NOT = re.compile(r"\b(?:not|no longer|can't|cannot|won't|out|cancelled)\b|n't\b", re.IGNORECASE)
_PART = re.compile(rf"\b{_DOES}\b|\b(?:come|join|make it|attend|out|cancelled)\b", re.IGNORECASE)
_TOGETHER = re.compile(r"\b(?:with|along|joining (?:me|us)|us)\b", re.IGNORECASE)
_GOES_TO = re.compile(
    r"\b(?:along|come|comes|coming|go|goes|going|trip|travel\w*|fly\w*|flight|holidays?|drive|driving|weekend|week|tour|join\w*"
    rf"|off)\s(?:(?:along|over|us|with (?:me|us))\s)*(?:to|in)\s(?P<place>{NAME})"
)
_CHINESE = re.compile(
    rf"^(?:但是?|不过|可是|可惜|最后|结果|而且|，)*(?:我的?)?(?P<who>{KIN_ZH_PATTERN}|[小老阿][{HAN}]|[{HAN}]{{2,3}}?)"
    r"(?:这次|最后|临时|今年|又|也|还是|可能)*"
    r"(?P<does>不(?:能|会|打算|想)?(?:来|去|参加|跟我们|和我们|一起)[^，。\ue000]{0,12}|来不了|去不了|没法(?:来|去|参加)[^，。\ue000]{0,10}"
    r"|(?:要|会|也)?(?:跟|和)(?:我|我们)一起(?:来|去)[^，。\ue000]{0,10})$"
)


def taking_part(clause: Clause, people: People, before: str) -> Told | None:
    """Whether somebody named comes along, as a clause tells it without a day of its own.

    Args:
        before: what the message says before it: where to is told of it where the clause names no occasion.
    """
    match = _ENGLISH.match(clause.text)
    if match is None or not _PART.search(match["does"]):
        return None
    if not _NOT.search(match["does"]) and not (_TOGETHER.search(match["does"]) or match["to"]):
        return None
    name, kin = match["name"] or match["kinname"] or "", match["kin"] or ""
    if name and not is_name(name):
        return None
    person = people.add(kin, name) if kin else people.named(name)
    who = person.shown if person is not None else name
    does = re.sub(r"^['’]s\b", " is", clause.raw[match.start("does") : match.end()])
    places = [one["place"] for one in _GOES_TO.finditer(before)]
    to = f" to {places[-1]}" if places and not match["to"] else ""
    said = f"{who}{match['tail']}{does.rstrip(' .!')}{to}"
    return Told(
        name=person.name if person and person.name else name or kin, summary=said, start=clause.start, end=clause.end
    )


def taking_part_zh(sentence: Sentence) -> list[Told]:
    """The same of Chinese clauses."""
    found = []
    for clause in sentence.clauses:
        match = _CHINESE.match(clause.text) if clause.holds else None
        if match is not None and not re.match(r"[我你他她它这那谁大]|今天|明天|昨天|但|现在|老师们?", match["who"]):
            found.append(
                Told(name=match["who"], summary=f"{match['who']}{match['does']}", start=clause.start, end=clause.end)
            )
    return found
