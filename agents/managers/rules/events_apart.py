"""Two events told in one clause, each with its day: "I have the dentist on Monday and a meeting with Tom on Wednesday"."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from .... import lazy_re as re
from ....intent.dates.spans import DateSpan
from .event_words import LEAD
from .sentences import Clause
from .words import NAME, content_words

__all__ = ["Piece", "pieces_of"]

_AND = re.compile(r",?\s(?:and(?:\s(?:then|also))?|then|plus|as well as)\s", re.IGNORECASE)
_PREPOSITION = re.compile(r"(?:(?:on|at|by|in|for|then|again|the|also)\s)*$", re.IGNORECASE)
_BOTH = re.compile(r"\b(?:between|either|both|from|or|not|until|till|since|except)\b", re.IGNORECASE)
_OF_NO_EVENT = content_words(
    "again also another both one then back until till too there only once more same either rather"
)
_ARTICLE = re.compile(r"(?:an?|the|my|our|his|her|their|another|some|two|three|\d+)\s", re.IGNORECASE)
_DOES = re.compile(
    r"(?:fl(?:y|ies|ew)|go(?:es)?|went|sees?|saw|meets?|met|drives?|drove|takes?|took|starts?|leaves?|left|comes?|came|moves?|visits?|plays?|runs?"
    r"|ran|travels?|returns?|have|has|had|finish(?:es)?|arrives?|lands?|calls?|attends?|gets?|got|gives?|gave|picks?|drops?|pays?|hands?|submits?"
    r"|bought|sold|lost|won|ate|drank|made|found|fell|told|began|spent|sent|built|wrote|read|taught|caught|cut|quit|swam|rode|sang|broke|paid"
    r"|presents?|checks?|teach(?:es)?|join(?:s|ed)?|host(?:s|ed)?|[a-z]{2,}ed)\s",
    re.IGNORECASE,
)
_WAS = re.compile(r"(?:\b(?:am|is|are|was|were)|['’](?:m|re|ve|s))$", re.IGNORECASE)
_PARTICIPLE = re.compile(
    r"[a-z]{2,}ed|bought|sold|lost|won|made|found|told|spent|sent|built|read|taught|caught|cut|paid|left|met|had|got|come|run",
    re.IGNORECASE,
)
_DOING = re.compile(r"[a-z]{2,}ing\s", re.IGNORECASE)
_WHO = re.compile(
    rf"^(?P<who>(?i:I|we|he|she|they|you|there|(?:my|our|the)\s(?:[\w-]+\s)?[\w-]+?)|{NAME})"
    r"(?P<aux>(?i:['’](?:ll\sbe|ll|m|re|ve|s|d))?(?:\s(?i:will\sbe|will|am|is|are|was|were|going\sto|have\sto|has\sto|had\sto|need\sto|also|both))*)(?=\s)"
)
_HAVING = re.compile(
    r"\s?(?:also\s|only\s)?(?:have|has|had|got|having|is|are|was|were|have\sgot|has\sgot|(?:have\s|has\s)?(?:booked|scheduled|planned|arranged)|['’](?:s|re)"
    r"(?=\s(?:an?|the)\s))\s",
    re.IGNORECASE,
)
_IS_ON = re.compile(r"\s(?:is|are|takes\splace|starts?|will\sbe)\s(?:on\s|at\s|the\s)*$", re.IGNORECASE)
_NO_VERB = re.compile(r"^(?:[\w'’&-]+\s){1,4}(?:on\s|at\s|the\s)+$", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """One event of a clause: characters ``start`` to ``end`` of the text; ``lead`` is who does what, where that was said before."""

    start: int
    end: int
    when: DateSpan
    lead: str = ""


def pieces_of(clause: Clause, raw: str, spans: Sequence[DateSpan]) -> list[Piece]:
    """The events of a clause that tells several days, each of something of its own; none where it is all one event.

    Args:
        raw: the whole text. spans: the dates of the clause in order.
    """
    began = clause.start
    while spans and spans[0].precision != "day" and not raw[began : spans[0].start].strip():
        began, spans = spans[0].end, spans[1:]  # "next week I see …"
    if len(spans) < 2 or not all(span.precision == "day" for span in spans):
        return []
    cuts: list[tuple[int, int]] = []
    for one, two in pairwise(spans):
        between = raw[one.end : two.start]
        joints = list(_AND.finditer(between))
        if not joints or _BOTH.search(between):
            return []
        last = joints[-1]
        joint = last if _PREPOSITION.match(between, last.end()) else joints[0]
        cuts.append((one.end + joint.start(), one.end + joint.end()))
    if _BOTH.search(raw[clause.start : spans[0].start]):
        return []
    starts = [clause.start, *(end for _, end in cuts)]
    ends = [*(start for start, _ in cuts), clause.end]
    own = [
        content_words(raw[start : span.start] + " " + raw[span.end : end]) - _OF_NO_EVENT
        for start, end, span in zip(starts, ends, spans, strict=True)
    ]
    if not all(own) or any(two <= one for one, two in pairwise(own)):
        return []
    pieces = [Piece(start=starts[0], end=ends[0], when=spans[0])]
    first = LEAD.sub("", raw[began : ends[0]]).lstrip()
    at = spans[0].start - (ends[0] - len(first))
    for start, end, span in zip(starts[1:], ends[1:], spans[1:], strict=True):
        lead = _lead(first, at, raw[start:end], raw[start : span.start])
        if lead is None:
            return []
        pieces.append(Piece(start=start, end=end, when=span, lead=lead))
    return pieces


def _lead(first: str, at: int, said: str, before: str) -> str | None:
    """What of the first event goes for a further one too: "I have"; None where that cannot be told.

    Args:
        first: the words of the first event; its day begins at ``at``. said: of the further one; ``before``: up to its day.
    """
    head = first[: max(at, 0)]
    if _PREPOSITION.fullmatch(before):  # "on Monday I have yoga and on Tuesday pottery"
        who = _WHO.match(first[at:].split(" ", 1)[-1])
        return "" if who is None or _DOES.match(said[len(before) :]) is None else None
    who = _WHO.match(head)
    if _IS_ON.search(head) or (who is None and _NO_VERB.match(head)):
        return ""
    if who is None:
        return None
    having = _HAVING.match(head, who.end())
    if having is not None:
        return head[: having.end()]
    if does := _DOES.match(said):
        # "I was ill on Friday and start on Monday": only a participle goes with "was" and "have".
        alone = _WAS.search(who["aux"] or "") and not _PARTICIPLE.fullmatch(does[0].strip())
        return head[: who.end("who") if alone else who.end()] + " "
    if _DOING.match(said) and who["aux"]:
        return head[: who.end()] + " "
    if _ARTICLE.match(said) or re.match(NAME, said):
        rest = re.compile(rf"\s(?:{_ARTICLE.pattern}|(?-i:{NAME}))", re.IGNORECASE).search(head, who.end())
        return head[: rest.start()] + " " if rest is not None and rest.start() - who.end() < 40 else None
    return None
