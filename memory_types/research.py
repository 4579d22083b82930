"""The records of deep research: plans, passages, claims, rounds and the result (GAM, arXiv 2511.18423)."""

from __future__ import annotations

from typing import Literal, get_args

from pydantic import Field

from hexamem.memory_types.base import Record, UtcTime, new_id
from hexamem.memory_types.coarse_dates import Precision
from hexamem.memory_types.items import Source
from hexamem.memory_types.labels import Tier
from hexamem.memory_types.results import HitKind, Signal

__all__ = [
    "LANES",
    "TIERS",
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
"""The searches: by meaning, by words, pages by id or question, by labels, by time, and items by kind."""
ResearchTier = Literal["recall", "one_shot", "deep"]
TIERS = (*get_args(ResearchTier), "auto")
"""The tiers that a call may ask for; with ``auto`` the research chooses one of the others."""
AnswerForm = Literal["text", "passages", "pages"]


class SearchRequest(Record):
    """One search of a plan.

    Attributes:
        query: the query; for the lane ``intent`` the name of a label.
        need: the need that it serves; searches for the same need are ranked together.
        until: the end of the time, included, for the lane ``time``.
    """

    lane: Lane
    query: str
    need: str
    pages: tuple[str, ...] = ()
    since: UtcTime | None = None
    until: UtcTime | None = None
    kinds: tuple[str, ...] = ()


class ResearchPlan(Record):
    """The searches of one round.

    Attributes:
        needs: the parts of the question by a model, which must be known to answer it; empty without a model.
    """

    requests: tuple[SearchRequest, ...] = ()
    needs: tuple[str, ...] = ()
    tier: Tier = "embedded"
    degraded: tuple[str, ...] = ()


class Passage(Record):
    """A step, item or page that was read, or would be read next.

    Attributes:
        text: the text, with captions in place of secrets; of a page all its lines.
        precision: how exact ``occurred_at`` is; None for a day or a moment.
        score: comparable only with passages of the same round.
        lanes: the searches that returned it, including a plain recall (``recall``).
        why: its rank in each of them; empty for a whole page, and for a neighbour of a match.
        page_id: the id of its page, if that was looked up.
        sources: the steps that it consists of, or was extracted from.
        round: the round in which it was read; 0 if it was not.
    """

    id: str
    kind: HitKind
    text: str
    speaker: str | None = None
    occurred_at: UtcTime | None = None
    precision: Precision | None = None
    thread_id: str | None = None
    score: float = 0.0
    lanes: tuple[str, ...] = ()
    why: tuple[Signal, ...] = ()
    page_id: str | None = None
    sources: tuple[Source, ...] = ()
    round: int = 0

    def explain(self) -> str:
        """Why it was read, in one line: ``vector #1 · keyword #3``."""
        return " · ".join(signal.explain() for signal in self.why) or " · ".join(self.lanes)


class Claim(Record):
    """One statement of the evidence, with its quote.

    Attributes:
        text: the statement, which can be read alone.
        occurred_at, precision: of the passage.
    """

    text: str
    quote: str
    passage_id: str
    step_ids: tuple[str, ...] = ()
    speaker: str | None = None
    occurred_at: UtcTime | None = None
    precision: Precision | None = None
    round: int = 1


class Reflection(Record):
    """Whether the evidence is enough, otherwise the missing needs, for which the next round is planned."""

    enough: bool
    missing: tuple[str, ...] = ()
    tier: Tier = "embedded"
    degraded: tuple[str, ...] = ()


class LaneReport(Record):
    """The searches of one lane in a round."""

    lane: Lane
    queries: tuple[str, ...] = ()
    found: int = 0
    best: tuple[str, ...] = ()
    failed: str | None = None
    began: float = Field(default=0.0, description="seconds since the research began")
    ended: float = 0.0


class Round(Record):
    """One round of research.

    Attributes:
        needs: the needs for which it searched.
        read: ids of the passages that were read in it, best first.
        dropped: the number of claims without a valid quote.
        reason: a model's reason for the answer, or what it lacks.
        settled: the parts of the question, counted from 1, that the claims of the round settle by the model.
        enough: whether the evidence is enough by reflection. True without reflection where a model has quoted the answer to
            the question, or to all of its parts.
        tiers: who did each part: ``{"plan": "embedded", …}``.
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
    """The cost of the model calls of one research; zeros without a model."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    seconds: float = 0.0


class Research(Record):
    """The outcome of deep research.

    Attributes:
        why_tier: why, where it was chosen automatically.
        answer: the answer in words; without evidence a sentence that memory does not contain it.
        answerable: whether the evidence contains an answer.
        context: the answer for a prompt in the requested form: alone, with its passages, or with whole pages.
        evidence: the claims with their quotes, in order of time.
        passages: the passages that were read, in the order of reading.
        further: the passages that would be read next, the best first.
        enough: whether the evidence is enough at the end, by reflection.
        elapsed_ms: wall time, in milliseconds.
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
        """The model's reason for the answer, or what it lacks; empty without a model."""
        reasons = [part.reason for part in self.rounds if part.answer == self.answer and part.reason]
        return reasons[-1] if reasons else ""

    @property
    def hits(self) -> tuple[Passage, ...]:
        """All passages, best first: those that the evidence quotes, the others that were read, then the further ones."""
        cited = {claim.passage_id for claim in self.evidence}
        return (*sorted(self.passages, key=lambda passage: passage.id not in cited), *self.further)
