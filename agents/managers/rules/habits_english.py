"""Habits told plainly, in English: what one takes every day, never does after nine, or does with somebody else now."""

from __future__ import annotations

from collections.abc import Iterator

from .... import lazy_re as re
from ....intent.dates.words_english import WEEKDAY_NAME
from ....memory_types.proposals import Ends
from .english_grammar import ADV, LEAD, POINTS, VAGUE, Fact, clean, rule_set, verb_s
from .people import is_name
from .sentences import Clause
from .words import NAME, TO_TWELVE

__all__ = ["HABIT_RULES", "ends_of_habit", "their"]

HABIT_RULES, _rule = rule_set()

_OWN = re.compile(r"\b(?:my|our)\b", re.IGNORECASE)
_NOW_WITH = re.compile(r"(?P<doing>[A-Z][a-z]+s(?:\s[a-z]+)? with) .* now\Z")
_OFTEN = (
    r"(?:every|each)\s(?:single\s)?(?:day|morning|evening|night|afternoon|week|weekend|month|other day"
    rf"|{WEEKDAY_NAME})"
    r"(?:\s(?:morning|evening|night))?|(?:once|twice|three times|four times)\s(?:a|per)\s(?:day|week|month)|daily|at (?:noon|night|bedtime)"
    r"|(?:with|before|after)\s(?:breakfast|lunch|dinner|meals|food)|in the (?:mornings?|evenings?)"
)
_HOUR = (
    r"(?:(?:half past|quarter (?:past|to))\s\w+|\d{1,2}(?:[:.]\d\d)?(?:\s?[ap]m)?"
    rf"|noon|midnight|midday|{TO_TWELVE}|lunch|breakfast|dinner|dark|work)"
)
_WHEN = (
    rf"(?:(?:after|before|past)\s{_HOUR}(?:\s(?:o'clock|in the (?:morning|afternoon|evening)|at night))?"
    rf"|on\s{WEEKDAY_NAME}s(?:\s(?:and|or)\s\w+days)?|at\s(?:weekends|the weekend)"
    r"|on\sweekends|during the (?:week|day))"
)
_DOSE = re.compile(r"one\s(?!of\b|for\b|to\b)[a-z]+", re.IGNORECASE)
_MOMENT = re.compile(
    r"\b(?:today|tonight|tomorrow|yesterday|now|yet|this|that|it|them|him|her|you|your|enough|much)\b", re.IGNORECASE
)


def their(text: str) -> str:
    """What the user says of what is theirs, as it is told of them: "my sister" → "their sister"."""
    return _OWN.sub("their", text)


def ends_of_habit(fact: Fact) -> tuple[Ends, ...]:
    """What a habit with somebody else now is in place of: "Trains with Gwen now" ends "Trains with Femi on Tuesdays"."""
    now = _NOW_WITH.match(fact.value) if fact.label == "habit" else None
    return (Ends(labels=("habit",), words=now["doing"], single=True),) if now else ()


@_rule(
    "now",
    rf"{LEAD}(?i:I)\s(?P<act>(?i:train|run|swim|play|ride|row|climb|cycle|hike|walk|dance|sing|paint|practise|practice|study|learn|work out"
    rf"|commute|travel))(?P<what>\s[a-z]+)?\s(?i:with)\s(?P<who>(?:(?i:my)\s(?:[a-z]+\s){{0,2}}[a-z]+\s)?{NAME})"
    r"\s(?i:now|these days|nowadays)$",
)
def _with_now(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    name = match["who"].split()[-1]
    if is_name(name):
        verb, _, rest = f"{match['act'].lower()}{match['what'] or ''}".partition(" ")
        doing = f"{verb_s(verb)} {rest}".strip()
        yield Fact(label="habit", value=f"{doing} with {their(match['who'])} now", clause=clause, starts=True)


@_rule(
    "dont not never",
    rf"{LEAD}(?i:I\s{ADV}(?:don't|do not)\s{ADV}(?:ever\s)?(?P<act>(?:take|answer|accept|make|do|work|go|read|check|open|write|hold"
    r"|see|teach|give|have"
    rf"|schedule|run|train|use|watch|shop|travel|play|reply|phone|call|go out)\b(?:\s[a-z'-]+){{0,4}}?)\s(?P<when>{_WHEN}))$",
)
def _not_when(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    act = clean(match["act"])
    what = act.partition(" ")[2]
    if not _MOMENT.search(act) and not (what and VAGUE.match(what)) and not re.search(r"\bto\b", act):
        yield Fact(label="habit", value=f"Does not {their(act)} {match['when']}", clause=clause, confidence=0.8)


@_rule(
    "take",
    rf"{LEAD}(?i:I\s{ADV}take\s)(?P<what>[^\ue000,.;:!?()]{{2,50}}?)\s(?P<often>(?i:{_OFTEN}))$",
)
@_rule(
    "take",
    rf"{LEAD}(?i:I\s{ADV}take\s)(?P<what>{NAME}|(?i:(?:an?|one|two|three|half an?|\d+)\s(?:\w+\s)?(?:tablets?|pills?|capsules?|drops|mg"
    r"|milligrams?|puffs?|spoonfuls?|sachets?)(?:\sof\s[\w-]+)?))\s(?P<often>(?i:for)\s(?i:my)\s[a-z]+(?:\s[a-z]+)?)$",
)
def _takes(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    what = clean(match["what"])
    vague = VAGUE.match(what) and not _DOSE.match(what)
    if not (_MOMENT.search(what) or POINTS.search(what) or vague):
        yield Fact(label="habit", value=f"Takes {their(what)} {their(match['often'])}", clause=clause, confidence=0.8)
