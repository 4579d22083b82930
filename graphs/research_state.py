"""The state of the research graph: plain JSON values, so that any checkpointer stores it and a killed run can resume."""

from __future__ import annotations

import operator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

from typing_extensions import TypedDict  # that of typing has no JSON schema before Python 3.12

from hexamem.retrieval.evidence import EvidenceWeights

if TYPE_CHECKING:
    from hexamem.agents.embedded_research import ReadSentences
    from hexamem.agents.research_question import Question
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
"""Plan, integrate, reflect: the most model calls of a round, repairs included."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ResearchSettings:
    """The settings of research; a call's arguments override them.

    Attributes:
        rounds: at most.
        passages: read in a round, at most; with a model in tier ``auto`` at most ``first_passages``.
        lanes: ways to search that may be used.
        pool, narrow_pool: how many records a search for the question returns, and a search for a single need.
        candidates: how many candidates for the question are stored for later rounds.
        requests: searches of a round, at most. searches: of a model's plan, at most.
        prompt_tokens, memory_tokens: token budgets for passages and for memos in a prompt; ``first_tokens`` for passages in
            tier ``auto``.
        calls, tokens, seconds: the budget of one research; None for no limit of its own.
        weights: of the ranking, see :class:`~hexamem.retrieval.evidence.EvidenceWeights`.
    """

    rounds: int = 3
    passages: int = 14
    first_passages: int = 12
    lanes: tuple[str, ...] = ("vector", "keyword", "page", "intent", "time", "kind")
    pool: int = 150
    narrow_pool: int = 40
    candidates: int = 80
    requests: int = 40
    searches: int = 10
    prompt_tokens: int = 6_000
    first_tokens: int = 1_000
    memory_tokens: int = 1_500
    calls: int | None = None
    tokens: int | None = None
    seconds: float | None = None
    weights: EvidenceWeights = field(default_factory=EvidenceWeights)


class ResearchInput(TypedDict, total=False):
    """The input of the graph.

    Attributes:
        question: the question.
        max_rounds, passages: 3 and 14 by default.
        tier: ``recall``, ``one_shot``, ``deep`` (the default) or ``auto``.
        form: ``text`` (the default), ``passages`` or ``pages``.
        where: conditions on what may be read, the fields of :class:`~hexamem.memory_types.Where` as JSON.
        as_of: ISO 8601; only what had happened, or was true, then. The question is relative to that time.
        known_at: ISO 8601; only what was stored then, in the version of then.
        kinds: "step" and kinds of items that may be read; all by default.
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
    """The output of the graph: the answer, a context for a prompt, and the whole :class:`Research` as JSON."""

    answer: str
    context: str
    research: dict[str, Any]


class LaneFound(TypedDict, total=False):
    """The result of one lane in one round.

    Attributes:
        rankings: need → record ids, best first.
        pages: ids of pages to be read whole.
        failed: the error of a search that failed; None if none did.
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
    """Reducer: the results of the latest round; those of earlier rounds were read already."""
    latest = max((found["round"] for found in (*before, *new)), default=0)
    return [found for found in (*before, *new) if found["round"] == latest]


class ResearchState(ResearchInput, total=False):
    """The state that the nodes share.

    Attributes:
        begun_for, asked_as: the question as passed, and without secrets.
        filters: ``where``, ``as_of``, ``known_at`` and ``kinds`` of this question; another in the same thread has its own.
        now, began: the time of the question, ISO 8601, and when the run began, in seconds.
        number: of the round. needs: what the round searches for. asked: all needs so far.
        requests: the round's plan. found: the results of the lanes.
        pool: candidates for the question that were not read yet, as ``[id, score, lanes, reasons]``, best first.
        read: passages, in the order of reading. claims, answer, answerable: the evidence so far; reason: the
            integrator's comment on it.
        held: the probability, by a recall in the first round, that memory contains an answer.
        current: the round so far. rounds: the finished rounds.
        chosen, why_tier: the tier, and why.
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
    held: float | None
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
    """The input of a lane."""

    number: int
    began: float
    filters: dict[str, Any]
    requests: list[dict[str, Any]]


@dataclass(kw_only=True)
class ResearchContext:
    """The context of a run. A host's own context may replace it, if it has a ``user``.

    Attributes:
        user: whose memory it is.
        budget: of the run's model calls, beside the settings.
        usage: counts the model calls.
        settings: override the graph's own.
        questions, sentences: caches of the run, by the question and its time.
    """

    user: str = ""
    budget: Budget | None = None
    usage: UsageMeter | None = None
    settings: ResearchSettings | None = None
    questions: dict[tuple[str, str], Question] = field(default_factory=dict)
    sentences: dict[tuple[str, str], ReadSentences] = field(default_factory=dict)
