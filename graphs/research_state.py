"""The state of the research graph: plain JSON values, so that any checkpointer keeps it and a killed run goes on."""

from __future__ import annotations

import operator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

from typing_extensions import TypedDict  # that of typing has no JSON schema before Python 3.12

from hexamem.retrieval.evidence import EvidenceWeights

if TYPE_CHECKING:
    from hexamem.models import Budget, UsageMeter

__all__ = [
    "CALLS_A_ROUND",
    "LaneFound",
    "LaneInput",
    "ResearchContext",
    "ResearchInput",
    "ResearchOutput",
    "ResearchSettings",
    "ResearchState",
    "this_round",
]

CALLS_A_ROUND = 3
"""Plan, integrate, reflect: no round costs more, repairs included."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ResearchSettings:
    """How research goes, unless a call says otherwise.

    Attributes:
        rounds: at most.
        passages: read in a round, at most.
        lanes: ways to search that may be used.
        pool, narrow_pool: how many records a search for the question gives, and one for a single need.
        kept: how many candidates for the question later rounds may still read.
        requests: searches of a round, at most; searches: of a model's plan.
        prompt_tokens, memory_tokens: what passages, and memos, may take in a prompt.
        calls, tokens, seconds: what one research may cost; None for no limit of its own.
        weights: see there.
    """

    rounds: int = 3
    passages: int = 14
    lanes: tuple[str, ...] = ("vector", "keyword", "page", "intent", "time", "kind")
    pool: int = 150
    narrow_pool: int = 40
    kept: int = 80
    requests: int = 40
    searches: int = 10
    prompt_tokens: int = 6_000
    memory_tokens: int = 1_500
    calls: int | None = None
    tokens: int | None = None
    seconds: float | None = None
    weights: EvidenceWeights = field(default_factory=EvidenceWeights)


class ResearchInput(TypedDict, total=False):
    """What the graph takes.

    Attributes:
        question: what is asked.
        max_rounds, passages: 3 and 14 unless given.
        tier: ``recall``, ``one_shot``, ``deep`` or ``auto``; ``deep`` unless given.
        form: ``text``, ``passages`` or ``pages``; ``text`` unless given.
        where: conditions on what may be read, the fields of :class:`~hexamem.memory_types.Where` as JSON.
        as_of: ISO 8601; only what had happened, or was true, then. The question is read as asked at that time.
        known_at: ISO 8601; only what was stored, and believed, then, in the words of then.
        kinds: "step" and kinds of items that may be read; all unless given.
    """

    question: str
    max_rounds: int
    passages: int
    tier: str
    form: str
    where: dict[str, Any] | None
    as_of: str | None
    known_at: str | None
    kinds: list[str] | None


class ResearchOutput(TypedDict, total=False):
    """What the graph gives: the answer, a context for a prompt, and the whole :class:`Research` as JSON."""

    answer: str
    context: str
    research: dict[str, Any]


class LaneFound(TypedDict, total=False):
    """What one lane found in one round.

    Attributes:
        rankings: need → record ids, best first.
        pages: ids of pages to be read whole.
        failed: why the lane found nothing; None where it did its work.
    """

    round: int
    lane: str
    queries: list[str]
    rankings: dict[str, list[str]]
    pages: list[str]
    failed: str | None
    began: float
    ended: float


def this_round(before: list[LaneFound], new: list[LaneFound]) -> list[LaneFound]:
    """The findings of the latest round: those of earlier ones were read already."""
    latest = max((one["round"] for one in (*before, *new)), default=0)
    return [one for one in (*before, *new) if one["round"] == latest]


class ResearchState(ResearchInput, total=False):
    """What the nodes give each other.

    Attributes:
        begun_for, asked_as: the question as it was given, and without secrets.
        filters: ``where``, ``as_of``, ``known_at`` and ``kinds`` of this question; another in the same thread has its own.
        now, began: when it was asked, ISO 8601, and as seconds.
        number: of the round. needs: what it is to find. asked: all needs so far.
        requests: the round's plan. found: what the lanes found.
        pool: candidates for the question that were not read yet, as ``[id, score, lanes, reasons]``, best first.
        read: passages, in the order of reading. claims, answer, answerable: the evidence so far; reason: what its reader says of it.
        current: the round as far as it went. rounds: those that are done.
        chosen, why_tier: how deep it goes.
        round_calls: model calls of this round. spent: calls, tokens and seconds so far.
    """

    begun_for: str
    asked_as: str
    filters: dict[str, Any]
    now: str
    began: float
    number: int
    needs: list[str]
    asked: list[str]
    requests: list[dict[str, Any]]
    found: Annotated[list[LaneFound], this_round]
    pool: list[list[Any]]
    read: list[dict[str, Any]]
    claims: list[dict[str, Any]]
    answer: str
    answerable: bool
    reason: str
    current: dict[str, Any]
    rounds: list[dict[str, Any]]
    chosen: str
    why_tier: str
    done: bool
    round_calls: int
    spent: dict[str, float]
    degraded: Annotated[list[str], operator.add]
    context: str
    research: dict[str, Any]


class LaneInput(TypedDict):
    """What a lane is sent."""

    number: int
    began: float
    filters: dict[str, Any]
    requests: list[dict[str, Any]]


@dataclass(kw_only=True)
class ResearchContext:
    """What a run is told beside its state. A host's own context may stand in its place, if it has a ``user``.

    Attributes:
        user: whose memory it is.
        budget: what models may spend on it, beyond the settings.
        usage: who is told of it.
        settings: in place of the graph's own.
        kept: read once a run.
    """

    user: str = ""
    budget: Budget | None = None
    usage: UsageMeter | None = None
    settings: ResearchSettings | None = None
    kept: dict[str, Any] = field(default_factory=dict)
