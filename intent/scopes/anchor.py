"""Numbered goals that say of which trip they are: "our second Dublin day with my parents", "和读书会到敦煌的第2天".

A town and the company that goes along tell a trip from others; the number tells its day. Where a trip of that town is
known with other company, it is another trip.
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass

from ... import lazy_re as re
from .cues import Cues
from .named import place_name
from .numbers import Goal
from .places_chinese import chinese_place
from .registry import Registry, Scope
from .text import STOP, Words, same_length_lower, stem

__all__ = ["Anchor", "company_after", "find_trip", "find_trip_by_company", "likened", "open_trip", "read_anchor"]

_N = r"[A-ZÀ-ÖØ-Þ][\w'’-]{2,}"
_PLACES = re.compile(rf"\b{_N}(?:[ ](?:(?:de|del|da|do|la|le|di|el)[ ])?{_N}){{0,2}}")
_COMPANY = re.compile(
    r"\b(?:with|for)[ ](?:(?:the|my|our|a|an|his|her|their|all)[ ])*(?P<who>[\w-]{3,}(?:[ ](?:club|group|team|class|choir))?)"
)
_NO_COMPANY_TEXT = """
day days trip part stay time weekend week what which night morning evening afternoon lunch dinner breakfast first
second third fourth fifth last next now more little luck pleasure regard respect one two three four five six rest
seven eight nine ten minute moment fun free example sure hotel hotels room rooms restaurant place places start visit visits
"""
_NO_COMPANY = frozenset(_NO_COMPANY_TEXT.split())
_JOINS = re.compile(
    r"^(?:[\s,:;()'’–—-]|\b(?:s|of|in|to|at|for|on|out|our|the|my|this|that|a|an|from|about|during|trip|stay|visit|time|days?|work|family|"
    r"business|weekend|holiday|vacation|journey|break|tour|we|spend|spent|have|are|is|one|itinerary|plan|part|full|again|namely|and|"
    r"which|where|there)\b|\b(?:with|for) (?:(?:the|my|our|his|her|their) )?[\w-]+(?: (?:club|group|team|class|choir))?)*$"
)
_VENUE_BEFORE = re.compile(r"\b(?:the|near|by|around|after|from)\s+$")
_PERSON_BEFORE = re.compile(r"\b(?:with|and)\s+$")
_BESIDE = re.compile(
    r"^[\s,('’s]*(?:(?:the one|trip|stay|visit|day|days|again|this time|as planned|going|go)[\s,(]*)*$"
)
_REACH = 64
_LIKENED = re.compile(r"\b(?:like|unlike|than|as on|as in|same|since|until|before|after|from|compared?)\b")
_OCCASION = re.compile(
    r"\b(?P<why>bachelor|bachelorette|honeymoon|anniversary|birthday|reunion|wedding|conference|business|work|ski|family|kids|parents|roommates|"
    r"friends|retreat|offsite)\b"
)
_CN_LIKENED = re.compile(r"[像比]|除了|不如")
_CN_COMPANY = re.compile(
    r"(?:和|跟|与|同|陪着?|带着?|携)(?P<who>[一-鿿]{2,4}?)(?=的|到|去|在|游|玩|，|,|、|）|\)|一起|一道|同行|第|$)|"
    r"(?P<why>开会|出差|度假|蜜月|团建|探亲|考察|亲子|参展|培训)"
)
_CN_CLAUSE = re.compile(r"[。！？!?；;：:\n]")


@dataclass(slots=True)
class Anchor:
    """A numbered day with what it says of its trip.

    Attributes:
        goal: the day.
        place: the town as it is written.
        company: folded words for who goes along, or what the trip is for.
        along: the same as it was said: "with the kids".
    """

    goal: Goal
    place: str
    company: frozenset[str]
    along: str


def read_anchor(words: Words, cues: Cues, known: Container[str] = ()) -> Anchor | None:
    """The one numbered day of a text that names its town; None where there is none.

    Args:
        known: lower-case names of towns of trips that are known.
    """
    days = [goal for goal in cues.goals if goal.kind == "day" and not goal.many and not goal.step and goal.start < 600]
    if not days or len({goal.number for goal in days}) > 1:
        return None
    if days[0].chinese:
        return _chinese_anchor(words, days[0])
    return _anchor(words, days[0], known)


def _anchor(words: Words, goal: Goal, known: Container[str]) -> Anchor | None:
    text = words.text
    begin = max((text.rfind(mark, 0, goal.start) for mark in (". ", "?", "!", ";", "\n")), default=-1) + 1
    ends = [at for mark in (". ", "?", "!", ";", "\n") if (at := text.find(mark, goal.end)) >= 0]
    begin, end = max(begin, goal.start - _REACH), min([*ends, goal.end + _REACH, len(text)])
    if likened(words, goal):
        return None
    place, span, best = "", (0, 0), 99
    for match in _PLACES.finditer(text, begin, end):
        town = _town(match[0])
        if not town or match.start() == goal.start:
            continue  # "Arrival day" names no town
        start = match.start() + match[0].index(town)
        stop = start + len(town)
        gap = text[stop : goal.start] if stop <= goal.start else text[goal.end : start] if start >= goal.end else ""
        is_known = same_length_lower(town).split(" ")[0] in known
        if not is_known and (not _JOINS.match(gap) or _VENUE_BEFORE.search(text[begin:start])):
            continue
        rank = len(gap) - (50 if is_known else 0) + (30 if _PERSON_BEFORE.search(text[begin:start]) else 0)
        if rank < best:
            place, span, best = town, (start, stop), rank
    if not place:
        return None
    company: set[str] = set()
    along = ""
    spans = ((min(span[0], goal.start), max(span[1], goal.end)), span, (goal.start, goal.end))
    for match in _COMPANY.finditer(text, begin, end):
        who = same_length_lower(match["who"])
        if who.split(" ")[0] in _NO_COMPANY or who in STOP or match["who"] == place:
            continue
        beside = any(
            (match.start() >= stop and _BESIDE.match(text[stop : match.start()]))
            or (match.end() <= start and _JOINS.match(text[match.end() : start]))
            for start, stop in spans
        )
        if beside or spans[0][0] <= match.start() < spans[0][1]:
            company.add(stem(who.rpartition(" ")[0] or who))
            along = along or match[0]
    return Anchor(goal, place, frozenset(company), along)


def likened(words: Words, goal: Goal) -> bool:
    """Whether a goal is mentioned for comparison ("like on day 2")."""
    if goal.chinese:
        return _CN_LIKENED.search(words.text[max(0, goal.start - 6) : goal.start]) is not None
    return goal.score < 0 and _LIKENED.search(words.lower[max(0, goal.start - 24) : goal.start]) is not None


def _town(text: str) -> str:
    place = place_name(text)
    return "" if same_length_lower(place) in STOP else place


def _chinese_anchor(words: Words, goal: Goal) -> Anchor | None:
    before = _CN_CLAUSE.split(words.text[max(0, goal.start - 24) : goal.start])[-1]
    after = _CN_CLAUSE.split(words.text[goal.end : goal.end + 14])[0]
    place = chinese_place(before) or (
        chinese_place(after) if after.startswith(("在", "的", "，", "（", "到", "去")) else ""
    )
    if not place or _CN_LIKENED.search(before):
        return None
    around = before if _CN_COMPANY.search(before) else after if after[:1] in "，（(在" else ""
    company = frozenset(match["who"] or match["why"] for match in _CN_COMPANY.finditer(around))
    along = _CN_COMPANY.search(around)
    return Anchor(goal, place, company, along[0] if along else "")


def open_trip(anchor: Anchor, registry: Registry) -> Scope:
    """Open the trip that an anchor names: "Dublin trip with my parents", "和读书会的敦煌之行"."""
    if anchor.goal.chinese:
        name = f"{anchor.along}的{anchor.place}之行" if anchor.along else f"{anchor.place}之行"
        tokens: tuple[str, ...] = (anchor.place,)
    else:
        name = f"{anchor.place} trip {anchor.along}".strip()
        tokens = tuple(same_length_lower(anchor.place).split(" "))
    trip = registry.open("trip", name, tokens=tokens)
    trip.company = set(anchor.company)
    return trip


def company_of(name: str) -> frozenset[str]:
    """The company that a trip's own name tells."""
    if name.endswith("之行"):
        return frozenset(match["who"] or match["why"] for match in _CN_COMPANY.finditer(name))
    return frozenset(
        stem(who.rpartition(" ")[0] or who)
        for match in _COMPANY.finditer(name)
        if (who := same_length_lower(match["who"]))
    )


def company_after(text: str, start: int, end: int) -> set[str]:
    """The company that a text tells between two places in it ("Marrakesh, three days, with my parents"), and the occasion."""
    return {stem(match["why"]) for match in _OCCASION.finditer(same_length_lower(text), start, end)} | {
        stem(who.rpartition(" ")[0] or who)
        for match in _COMPANY.finditer(text, start, end)
        if (who := same_length_lower(match["who"])).split(" ")[0] not in _NO_COMPANY and who not in STOP
    }


def find_trip_by_company(words: Words, registry: Registry) -> Scope | None:
    """The one trip whose company a text names ("the third day with my parents")."""
    named = {stem(token) for token in words.tokens}
    found = [root for root in registry.roots if root.kind == "trip" and not named.isdisjoint(root.company)]
    return found[0] if len(found) == 1 else None


def find_trip(anchor: Anchor, registry: Registry, current: Scope | None) -> Scope | None:
    """The known trip that an anchor means: of that town, with that company; the current one before others."""
    tokens = set(same_length_lower(anchor.place).split())
    best, best_score = None, -1.0
    for root in reversed(registry.roots):
        if root.kind not in ("trip", "plan"):
            continue
        score = 0.0
        if not (tokens & set(root.tokens) or (anchor.place[:1] > "\u2e80" and anchor.place in root.own)):
            continue
        if anchor.company:
            company = root.company or company_of(root.own)
            if company and anchor.company.isdisjoint(company):
                continue
            score += 1.5 if company else 0.2
        if current is not None and root is current.root:
            score += 0.4
        if score > best_score + 1e-9:
            best, best_score = root, score
    return best
