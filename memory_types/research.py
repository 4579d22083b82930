"""Deep research over memory: what is asked of it, what it read, what it claims, and how it got there (GAM, arXiv 2511.18423)."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from hexamem.memory_types.base import Record, UtcTime, new_id
from hexamem.memory_types.items import Source
from hexamem.memory_types.labels import Tier
from hexamem.memory_types.results import HitKind, Signal
from hexamem.memory_types.where import Where

__all__ = [
    "LANES",
    "AnswerForm",
    "Claim",
    "Lane",
    "LaneReport",
    "Passage",
    "Reflection",
    "Research",
    "ResearchPlan",
    "ResearchTier",
    "ResearchUsage",
    "Round",
    "SearchRequest",
]

Lane = Literal["vector", "keyword", "page", "intent", "time", "kind"]
LANES: tuple[Lane, ...] = ("vector", "keyword", "page", "intent", "time", "kind")
"""The ways to search: by meaning, by words, pages by id or question, by labels, by time, and items by kind."""
ResearchTier = Literal["recall", "one_shot", "deep"]
AnswerForm = Literal["text", "passages", "pages"]


class SearchRequest(Record):
    """One search of a plan.

    Attributes:
        query: what to look for; for labels the label's name.
        need: what it is for; searches for the same need are ranked together.
        pages: ids of the pages to read.
        since, until: for the lane ``time``, both included.
        kinds: for the lane ``kind``.
        where, as_of, known_at, only: of the whole research, for every lane; they do not stand in a plan. ``only`` are the
            kinds that may be read, with "step" among them where steps may; None for all.
    """

    lane: Lane
    query: str
    need: str
    pages: tuple[str, ...] = ()
    since: UtcTime | None = None
    until: UtcTime | None = None
    kinds: tuple[str, ...] = ()
    where: Where | None = Field(default=None, exclude=True)
    as_of: UtcTime | None = Field(default=None, exclude=True)
    known_at: UtcTime | None = Field(default=None, exclude=True)
    only: frozenset[str] | None = Field(default=None, exclude=True)


class ResearchPlan(Record):
    """The searches of one round, and who planned them.

    ``needs`` is what must be known to answer, as a model takes the question apart; empty without a model.
    """

    requests: tuple[SearchRequest, ...] = ()
    needs: tuple[str, ...] = ()
    tier: Tier = "embedded"
    degraded: tuple[str, ...] = ()


class Passage(Record):
    """A step, item or page that was read, or would be read next.

    Attributes:
        text: what was said; secrets as captions. Of a page all its lines.
        score: compares passages of one round only.
        lanes: which searches found it, a plain recall (``recall``) among them.
        why: at which rank each of them, and late interaction with which likeness; empty for a page that is read whole,
            and for what only stands beside what was found.
        page_id: the page it stands on, as far as that was looked up.
        sources: the steps it consists of, or comes from.
        round: in which round it was read; 0 for one that was not.
    """

    id: str
    kind: HitKind
    text: str
    speaker: str | None = None
    occurred_at: UtcTime | None = None
    thread_id: str | None = None
    score: float = 0.0
    lanes: tuple[str, ...] = ()
    why: tuple[Signal, ...] = ()
    page_id: str | None = None
    sources: tuple[Source, ...] = ()
    round: int = 0

    def explain(self) -> str:
        """Why it was read, in one line: ``vector #1 · keyword #3 · late #1 (21.05)``."""
        return " · ".join(signal.explain() for signal in self.why) or " · ".join(self.lanes)


class Claim(Record):
    """One statement of the evidence, with the words that carry it.

    Attributes:
        text: the statement, to be read alone.
        quote: words of the passage, exactly as they stand there.
        passage_id, step_ids: where they stand.
    """

    text: str
    quote: str
    passage_id: str
    step_ids: tuple[str, ...] = ()
    speaker: str | None = None
    occurred_at: UtcTime | None = None
    round: int = 1


class Reflection(Record):
    """Whether the evidence is enough, and what is missing, as needs that the next round is planned for."""

    enough: bool
    missing: tuple[str, ...] = ()
    tier: Tier = "embedded"
    degraded: tuple[str, ...] = ()


class LaneReport(Record):
    """What one lane did in a round: (need, query, how many it found, the ids of its best), and why it failed if it did."""

    lane: Lane
    queries: tuple[str, ...] = ()
    found: int = 0
    best: tuple[str, ...] = ()
    failed: str | None = None
    began: float = Field(default=0.0, description="seconds since the research began")
    ended: float = 0.0


class Round(Record):
    """One round of research as it happened.

    Attributes:
        needs: what was to be found.
        read: ids of the passages that were read in it, best first.
        answer: as it stood at the end. claims: what was added. reason: what a model says that the answer rests on or lacks.
        dropped: claims whose quote does not stand in what they cite.
        enough, missing: what the reflection said; enough without one where a model read and quoted the answer to a single
            question, or to every part of one.
        settled: which parts of the question, counted from 1, the claims of the round settle, as a model says.
        tiers: which form did each part: ``{"plan": "embedded", …}``.
    """

    number: int
    needs: tuple[str, ...] = ()
    plan: ResearchPlan = ResearchPlan()
    lanes: tuple[LaneReport, ...] = ()
    read: tuple[str, ...] = ()
    claims: tuple[Claim, ...] = ()
    dropped: int = 0
    answer: str = ""
    reason: str = ""
    settled: tuple[int, ...] = ()
    enough: bool | None = None
    missing: tuple[str, ...] = ()
    tiers: dict[str, Tier] = Field(default_factory=dict)


class ResearchUsage(Record):
    """What the model calls of one research cost; zeros without a model."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    seconds: float = 0.0


class Research(Record):
    """The outcome of deep research.

    Attributes:
        tier: how deep it went. why_tier: the reason, where that was chosen automatically.
        answer: the answer in words; with an empty evidence a sentence that says that memory does not hold it.
        answerable: whether the evidence holds an answer.
        context: the answer for a prompt in the form asked for: alone, with its passages, or with whole pages.
        evidence: the claims with their quotes, in order of time.
        passages: what was read, in the order of reading; further: what would be read next, the best first.
        pages: ids of the pages on which the evidence stands.
        enough: whether reflection was content at the end.
        elapsed_ms: wall time.
    """

    id: str = Field(default_factory=lambda: new_id("research"))
    question: str
    tier: ResearchTier = "deep"
    why_tier: str = ""
    form: AnswerForm = "text"
    answer: str = ""
    answerable: bool = False
    context: str = ""
    evidence: tuple[Claim, ...] = ()
    passages: tuple[Passage, ...] = ()
    further: tuple[Passage, ...] = ()
    pages: tuple[str, ...] = ()
    rounds: tuple[Round, ...] = ()
    enough: bool | None = None
    usage: ResearchUsage = ResearchUsage()
    degraded: tuple[str, ...] = ()
    elapsed_ms: float = 0.0

    @property
    def reason(self) -> str:
        """What the answer rests on, or what it lacks, as a model said it; empty without one."""
        told = [one.reason for one in self.rounds if one.answer == self.answer and one.reason]
        return told[-1] if told else ""

    @property
    def hits(self) -> tuple[Passage, ...]:
        """All candidates, best first: what the evidence quotes, what else was read, then what would be read next."""
        cited = {one.passage_id for one in self.evidence}
        return (*sorted(self.passages, key=lambda one: one.id not in cited), *self.further)
