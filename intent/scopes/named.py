"""Named goals in a text: trips, projects and their workstreams, tickets, motions of debates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ... import lazy_re as re
from .numbers import MONTHS, WEEKDAYS, Goal
from .places_chinese import chinese_place
from .text import Words, same_length_lower

__all__ = ["WORK_WORDS", "NamedGoal", "NamedKind", "find_named", "name_tokens", "place_name"]

NamedKind = Literal["trip", "project", "work", "ticket", "debate"]

_NOT_PLACES_TEXT = """
i i'm i'd i've day days phase week the a an we you he she it they my our your their this that these those
please hotel museum christmas easter summer winter spring autumn mum mom dad english british google maps
airbnb can could would what which where how and or but so if then just also for from with friday's last next
first second family road this every any all best plan planning book booking find dinner lunch breakfast brunch hotel itinerary
mon tue tues wed thu thur thurs fri sat sun jan feb mar apr jun jul aug sep sept oct
nov dec trip visit want need hello start begin show suggest recommend good great amazing recent upcoming weekend field boat train
day business solo school class
"""
_NOT_PLACES = frozenset(WEEKDAYS) | frozenset(MONTHS) | frozenset(_NOT_PLACES_TEXT.split())
_P = r"[A-ZÀ-ÖØ-Þ][\w'’-]{2,}(?:[ ](?:(?:de|del|da|do|la|le|di|el|of|and)[ ])?[A-ZÀ-ÖØ-Þ][\w'’-]+){0,2}"
_COUNT = r"(?:\d{1,2}|a|one|two|three|four|five|six|seven|eight|nine|ten|twelve|fourteen|a few|several|some|couple of)"
_TRIP_NOUN = (
    r"(?:trip|trips|journey|holiday|holidays|vacation|getaway|weekend|honeymoon|city break|break|tour|stay|"
    r"road ?trip|itinerary|travel plan|"
    r"visit|adventure|travels?|excursion|expedition|retreat|offsite)"
)
_TRIP = re.compile(
    rf"\b{_COUNT}[ -](?:full |whole |long )?(?:days?|nights?|weeks?)(?:[’']s?)?(?:[ -]{_TRIP_NOUN})?[ ](?:in|to|"
    rf"around|across|through|for|at)[ ](?:the[ ])?(?P<a>{_P})"
    rf"|\b{_TRIP_NOUN}[ ](?:to|in|for|around|across|through)[ ](?:the[ ]|beautiful[ ])?(?P<b>{_P})"
    rf"|(?P<c>{_P})[ ]{_TRIP_NOUN}\b"
    rf"|(?P<d>{_P})(?:[ ]for|,)[ ](?:about |just |only )?{_COUNT}[ -](?:days?|nights?|weeks?)\b"
    rf"|\b(?:travel(?:l?ing)?|fly(?:ing)?|going|go|head(?:ing|ed)?|off|driving|visit(?:ing)?|explor(?:e|ing)|"
    rf"days? (?:\d{{1,2}}|one) (?:in|of))[ ](?:to[ ]|in[ ])?(?P<e>{_P})"
)
_TRAVELS = re.compile(r"\b(?:trip|itinerary|holiday|vacation|getaway)\b")
_STAYS = re.compile(rf"(?: for|,) (?:about |just |only )?{_COUNT}[ -](?:days?|nights?|weeks?)\b")
_TRIP_CN = re.compile(
    r"(?:去|到|在|游|玩)(?P<a>[一-鿿]{2,4}?)(?:玩|旅游|旅行|待|呆|自由行|度假|出差|过)?(?:的)?(?:[一二两三四五六七八九十\d]{1,2}|几)(?:天|日|晚)"
    r"|(?P<b>[一-鿿]{2,3})(?:[一二两三四五六七八九十\d]{1,2}日游|之旅|之行|行程|旅行|自由行)"
)
_CN_BEFORE = "一下个份的我们去到次趟这那在玩"
_CN_VERBS = (
    "计划",
    "规划",
    "策划",
    "安排",
    "打算",
    "准备",
    "预订",
    "预定",
    "想去",
    "前往",
    "出发",
    "推荐",
    "制定",
    "设计",
    "帮忙",
    "我想",
    "做",
    "写",
    "弄",
)
_CN_DIGITS = "一二三四五六七八九十"
_CN_LENGTH = re.compile(r"([一二两三四五六七八九十]|\d{1,2})[天日]")
_PLANNING = re.compile(
    r"\b(?:want to|wants to|would like|thinking of|dream of|plan|plans|planning|organi[sz]e|organi[sz]ing|"
    r"itinerary|arrange|arranging|schedule|book|booking|help|"
    r"let's|can we|could we|"
    r"can you|could you|i'd like|we'd like|trip|trips|visit(?:ing)? for|need|we have|i have|day)\b|安排|行程|计划|规划|"
    r"攻略|打算|旅|还要|想去"
)
_WORK = (
    r"migration|redesign|rollout|roll-out|launch|refactor|refactoring|rewrite|project|workstream|initiative|"
    r"upgrade|integration|"
    r"onboarding|campaign|audit|renovation|remodel|rebrand|relaunch|revamp|overhaul|cutover|pilot|release|epic|"
    r"deployment|implementation|prototype|thesis|dissertation|proposal|report|wedding|conference|fundraiser|"
    r"newsletter|manuscript|novel|website|app|dashboard|pipeline|roadmap|hackathon|research|study|experiment|merger|"
    r"relocation|move|course|curriculum|exhibition|documentary|podcast"
)
_STRICT_TEXT = """
project workstream initiative migration redesign rollout roll-out refactor refactoring rewrite rebrand
relaunch revamp overhaul cutover epic renovation remodel upgrade integration launch campaign audit
"""
_STRICT = frozenset(_STRICT_TEXT.split())
WORK_WORDS = frozenset(_WORK.split("|"))
_WORKSTREAM = re.compile(
    rf"\b(?:the|our|my|your|this|"
    rf"that)[ ](?P<what>(?:[a-z][\w'’&/-]*[ ]){{1,3}}?)(?P<noun>{_WORK})\b(?![ ](?:{_WORK})\b)"
)
_PROJECT = re.compile(
    r"\b(?:[Pp]roject|[Oo]peration|[Pp]rogramme|[Ii]nitiative|[Cc]lient|[Ww]orkstream|[Cc]ase|"
    r"[Ee]pic)[ ](?P<name>[A-Z][\w-]+(?:[ ][A-Z][\w-]+)?)"
    r"|(?P<pre>\b[A-Z][\w-]+(?:[ ][A-Z][\w-]+)?)[ ]project\b"
)
_TICKET = re.compile(
    r"\b(?P<project>[A-Z][A-Z0-9]{1,9})-(?P<number>\d{1,6})\b|(?:\b(?:issue|ticket|pr|bug) )#?(?P<plain>\d{2,6})\b"
)
_NO_TICKETS_TEXT = """
COVID UTF GPT SHA ISO RFC SARS AES RSA MD ASCII BASE HTTP TLS SSL CVE IPV PM AM F B A USB MP CO TOP WW TYPE
"""
_NO_TICKETS = frozenset(_NO_TICKETS_TEXT.split())
_MOTION = re.compile(
    r"(?:\b[Rr]esolved|\b[Mm]otion|\b[Rr]esolution|\b[Dd]ebate topic|\b[Tt]oday's topic|"
    r"\b[Tt]opic(?: of (?:the )?debate)?)\s*(?::|is)\s*[\"“]?(?P<m>[^\n.\"”?!]{8,90})"
    r"|\b[Tt]his [Hh]ouse (?P<h>[^\n.\"”?!]{6,80})"
)
_SKIP_TEXT = """
whole same first second third next last final new old big small current entire other main rest of and a in to
for on at is was very own best my our your their his her previous quick more few many day morning actual full
"""
_SKIP = frozenset(_SKIP_TEXT.split())


@dataclass(slots=True)
class NamedGoal:
    """A goal with a name of its own.

    Attributes:
        kind: trip, project, motion (roots), or a workstream or ticket (within a root, if there is one).
        name: as a person would read it: "Lisbon trip", "Project Atlas", "Payments migration", "PAY-231".
        tokens: lower-case words that tell it from others.
        opens: whether the text gives ground to open a scope for it.
        score: how much the text sets it as its goal.
    """

    kind: NamedKind
    name: str
    tokens: tuple[str, ...]
    start: int
    end: int
    opens: bool
    score: float = 0.0
    length: int = 0
    lead: int = 0

    def __post_init__(self) -> None:
        self.lead = self.lead or self.start

    def as_goal(self) -> Goal:
        """The same as a place in the text, for the judge of cues."""
        return Goal("named", 0, self.lead, self.end)


def name_tokens(name: str) -> tuple[str, ...]:
    """The words of a scope's own name that tell it from others."""
    words = re.findall(r"[^\W_]+(?:-[^\W_]+)*", same_length_lower(name))
    return tuple(
        word for word in words if word not in WORK_WORDS and word not in _SKIP and word not in ("trip", "the")
    ) or tuple(words)


_NUMBER = {
    w: n for n, w in enumerate(["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"])
}
_LENGTH = re.compile(r"\b(?P<n>\d{1,2}|two|three|four|five|six|seven|eight|nine|ten)[ -](?:full |whole )?days?\b")


def place_name(text: str) -> str:
    """What may be a town's name in capitalised words: without weekdays, months, pronouns and the like at either end."""
    parts = text.split(" ")
    while parts and same_length_lower(parts[0]) in _NOT_PLACES:
        parts.pop(0)
    while parts and same_length_lower(parts[-1]) in (*_NOT_PLACES, "and", "of"):
        parts.pop()
    return " ".join(parts).removesuffix("'s").removesuffix("’s")


def _trips(words: Words, found: list[NamedGoal]) -> None:
    opens = _PLANNING.search(words.lower) is not None
    seen: set[str] = set()
    for match in _TRIP.finditer(words.text, 0, 900):
        group = match.lastgroup or ""
        place = place_name(match[group])
        if not place or place.lower() in seen or len(seen) > 6:
            continue
        seen.add(place.lower())
        length = _LENGTH.search(words.lower, match.start(), min(len(words.lower), match.end() + 12))
        n = 0
        if length:
            n = int(length["n"]) if length["n"].isdigit() else _NUMBER[length["n"]]
        stays = group == "e" and _STAYS.match(words.lower, match.end("e")) is not None
        strong = group in "abcd" or stays or _TRAVELS.search(words.lower) is not None
        tokens = tuple(same_length_lower(place).split(" "))
        found.append(
            NamedGoal(
                "trip",
                f"{place} trip",
                tokens,
                match.start(group),
                match.end(group),
                opens and strong,
                length=n,
                lead=match.start() or match.start(group),
            )
        )


def _chinese_place_of(text: str, start: int, end: int) -> str:
    """The town that stands before ``end``: a known one, else the signs from ``start`` on without a verb that ends there."""
    known = chinese_place(text[max(0, start - 3) : end])
    if known and text.endswith(known, 0, end):
        return known
    for verb in _CN_VERBS:
        at = text.find(verb, max(0, start - 1), end)
        if at >= 0:
            start = max(start, at + len(verb))
    return text[start:end].lstrip(_CN_BEFORE)


def _trips_chinese(words: Words, found: list[NamedGoal]) -> None:
    opens = _PLANNING.search(words.text) is not None
    for match in list(_TRIP_CN.finditer(words.text[:400]))[:3]:
        place = _chinese_place_of(words.text, match.start(match.lastgroup or 0), match.end(match.lastgroup or 0))
        if len(place) < 2:
            continue
        length = _CN_LENGTH.search(match[0])
        days = (
            0
            if length is None
            else int(length[1])
            if length[1].isdigit()
            else _CN_DIGITS.index(length[1].replace("两", "二")) + 1
        )
        found.append(NamedGoal("trip", f"{place}之行", (place,), match.start(), match.end(), opens, length=days))


def find_named(words: Words, *, trips: bool = True) -> list[NamedGoal]:
    """The named goals of a text, in no order; empty for most texts."""
    found: list[NamedGoal] = []
    text, tokens = words.text, words.tokens
    if trips:
        if not tokens.isdisjoint(_TRIP_GATE):
            _trips(words, found)
        if words.has_cjk:
            _trips_chinese(words, found)
    if not tokens.isdisjoint(WORK_WORDS):
        for match in _WORKSTREAM.finditer(words.lower, 0, 600):
            what = [word for word in match["what"].split() if word not in _SKIP]
            if not what:
                continue
            phrase = " ".join([*what, match["noun"]])
            strict = match["noun"] in _STRICT
            found.append(
                NamedGoal(
                    "work", phrase[:1].upper() + phrase[1:], tuple(what), match.start("what"), match.end(), strict
                )
            )
    if "-" in text or "#" in text or not tokens.isdisjoint(("issue", "ticket", "bug")):
        for match in list(_TICKET.finditer(text[:600]))[:8]:
            if match["plain"]:
                name = f"#{match['plain']}"
            elif match["project"] in _NO_TICKETS:
                continue
            else:
                name = match[0]
            found.append(NamedGoal("ticket", name, (name.lower(),), match.start(), match.end(), True))
    if not tokens.isdisjoint(_PROJECT_GATE):
        for match in list(_PROJECT.finditer(text[:600]))[:4]:
            name = match["name"] or match["pre"]
            if same_length_lower(name.split(" ")[0]) in _NOT_PLACES:
                continue
            shown = match[0][:1].upper() + match[0][1:]
            found.append(
                NamedGoal("project", shown, tuple(same_length_lower(name).split(" ")), match.start(), match.end(), True)
            )
    stated = not tokens.isdisjoint(("resolved", "motion", "resolution", "topic", "house"))
    if stated and (said := _MOTION.search(text[:600])) is not None:
        motion = (said["m"] or said["h"]).strip()
        name = f"Debate: {motion[:60].rstrip(' ,;:')}"
        found.append(NamedGoal("debate", name, name_tokens(motion)[:6], said.start(), said.end(), True))
    return found


_TRIP_GATE_TEXT = """
trip trips journey holiday holidays vacation getaway weekend honeymoon break tour stay roadtrip itinerary
visit adventure travel travels excursion expedition retreat offsite day days night nights week weeks
travelling traveling fly flying going go heading off driving visiting explore exploring
"""
_TRIP_GATE = frozenset(_TRIP_GATE_TEXT.split())
_PROJECT_GATE = frozenset(["project", "operation", "programme", "initiative", "client", "workstream", "case", "epic"])
