"""What the research graph works on: its state (plain JSON values, so that any checkpointer stores it and a killed run can
resume), the context of a run, and the stores and agents.
"""

from __future__ import annotations

import operator
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from langgraph.config import get_stream_writer
from typing_extensions import TypedDict  # that of typing has no JSON schema before Python 3.12

from hexamem.agents.embedded_research import MAIN_NEED, Encode, ReadSentences
from hexamem.agents.research_question import Question, read_question
from hexamem.graphs.memory_scope import run_context as context_of_run
from hexamem.graphs.research_lanes import EvidenceFilter, LaneSearch
from hexamem.memory_types import LightMemory
from hexamem.memory_types.research import LANES, Claim, Passage
from hexamem.memory_types.times import read_zone
from hexamem.stores.ledger import Ledger

if TYPE_CHECKING:
    from hexamem.agents.embedded_research import ReadSentences
    from hexamem.agents.integrator import ModelIntegrator
    from hexamem.agents.planner import ModelPlanner
    from hexamem.agents.reflector import ModelReflector
    from hexamem.agents.research_question import Question
    from hexamem.models import Budget, StructuredResult, UsageMeter

_ROUNDS = 3
CALLS_A_ROUND = 3
"""Plan, integrate, reflect: the most model calls of a round, repairs included."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ResearchSettings:
    """The limits of one research."""

    lanes: tuple[str, ...] = LANES  # ways to search that may be used
    calls: int | None = None  # the budget, with tokens and seconds; None for no limit of its own
    tokens: int | None = None
    seconds: float | None = None


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


class LaneResult(TypedDict, total=False):
    """The result of one lane in one round."""

    round: int
    lane: str
    queries: list[str]
    rankings: dict[str, list[str]]  # need → record ids, best first
    pages: list[str]  # ids of pages to be read whole
    failed: str | None  # the error of a search that failed; None if none did
    began: float
    ended: float


def this_round(before: list[LaneResult], new: list[LaneResult]) -> list[LaneResult]:
    """Reducer: the results of the latest round; those of earlier rounds were read already."""
    latest = max((found["round"] for found in (*before, *new)), default=0)
    return [found for found in (*before, *new) if found["round"] == latest]


class ResearchState(ResearchInput, total=False):
    """The state that the nodes share."""

    begun_for: str  # the question as passed
    asked_as: str  # the same without secrets
    filters: dict[str, Any]  # `where`, `as_of`, `known_at` and `kinds` of this question
    now: str  # the time of the question, ISO 8601
    began: float  # when the run began, in seconds
    number: int  # of the round
    needs: list[str]  # what the round searches for
    asked: list[str]  # all needs so far
    requests: list[dict[str, Any]]  # the plan of the round
    found: Annotated[list[LaneResult], this_round]  # the results of the lanes
    pool: list[list[Any]]  # unread candidates for the question: `[id, score, lanes, reasons]`, best first
    read: list[dict[str, Any]]  # passages, in the order of reading
    claims: list[dict[str, Any]]
    answer: str
    answerable: bool
    reason: str  # the integrator's comment on the evidence
    held: float | None  # the probability, by a recall in the first round, that memory contains an answer
    current: dict[str, Any]  # the round so far
    rounds: list[dict[str, Any]]  # the finished rounds
    chosen: str  # the tier
    why_tier: str
    done: bool
    round_calls: int  # model calls of this round
    spent: dict[str, float]  # calls, tokens and seconds so far
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
    """The context of a run. A host's own context may replace it, if it has a ``user``."""

    user: str = ""  # whose memory it is
    budget: Budget | None = None  # of the run's model calls, beside the settings
    usage: UsageMeter | None = None  # counts the model calls
    settings: ResearchSettings = field(default_factory=ResearchSettings)  # its limits
    # Caches of the run, by the question and its time.
    questions: dict[tuple[str, str], Question] = field(default_factory=dict)
    sentences: dict[tuple[str, str], ReadSentences] = field(default_factory=dict)


class PlainRecall(NamedTuple):
    """A recall of the question by the learned ranking."""

    ids: tuple[str, ...] = ()  # of its hits, best first
    answerable: float | None = None  # the probability that memory contains an answer; None where it is not estimated


@dataclass(frozen=True, kw_only=True)
class ResearchParts:
    """The stores and agents of the graph."""

    ledger: Ledger  # the source of truth
    lanes: Mapping[str, LaneSearch]  # the ways to search, by name
    catch_up: Callable[[str], object]  # brings a user's indexes up to the ledger
    kinds: Callable[[str], tuple[str, ...]]  # the kinds of items that a user's memory has
    # `(user, tokens, filter)` to the memos of pages that may be read, for a planner that is a model
    light_memory: Callable[[str, int, EvidenceFilter], LightMemory]
    scopes: Callable[[str], tuple[str, ...]]  # paths of a user's scopes, for the same
    clean: Callable[[str, str], str]  # `(user, question)` to the question without secrets
    encode: Encode  # the bundled encoder, which extracts sentences if no model integrates
    repair: Callable[[str], bool] = lambda user: False  # repairs a damaged index of a user; returns whether it could
    # assigns a user's newest steps to pages, for an answer with whole pages
    cut_pages: Callable[[str], object] = lambda user: None
    # `(user, question, filter)` to a plain recall of the question; empty without trained weights
    recalled: Callable[[str, str, EvidenceFilter], PlainRecall] = lambda user, question, filters: PlainRecall()
    planner: ModelPlanner | None = None  # the embedded engine does the work of each that is None
    integrator: ModelIntegrator | None = None
    reflector: ModelReflector | None = None
    budget: Budget | None = None  # of all model calls while the memory is open


def run_context() -> ResearchContext:
    """The context of this run."""
    return context_of_run(ResearchContext, "the research graph")


class ResearchNode:
    """The base of the nodes. Nodes hold no state between runs and are idempotent."""

    def __init__(self, parts: ResearchParts) -> None:
        self.parts = parts

    def zone(self, context: ResearchContext) -> tzinfo:
        """The user's timezone."""
        return read_zone(self.parts.ledger.timezone(context.user) or "UTC")

    def question(self, context: ResearchContext, state: Mapping[str, Any]) -> Question:
        """The analysed question, cached for the run."""
        key = text, now = state["asked_as"], state["now"]
        if key not in context.questions:
            context.questions[key] = read_question(text, datetime.fromisoformat(now), self.zone(context))
        return context.questions[key]

    def read_sentences(self, context: ResearchContext, state: Mapping[str, Any]) -> ReadSentences:
        """Sentences of the passages that were encoded in this run for the question."""
        return context.sentences.setdefault((state["asked_as"], state["now"]), {})

    def rounds(self, context: ResearchContext, state: Mapping[str, Any]) -> int:
        """The most rounds of this run."""
        return int(state.get("max_rounds") or _ROUNDS)

    def last(self, context: ResearchContext, state: Mapping[str, Any]) -> bool:
        """Whether this round is the last, by rounds, calls, tokens or time."""
        return state["number"] >= self.rounds(context, state) or bool(self.reached(context, state))

    def reached(self, context: ResearchContext, state: Mapping[str, Any]) -> list[str]:
        """The limits of this research that are used up, a line each."""
        settings, seconds = context.settings, context.settings.seconds
        lines = [
            f"research: the limit of {limit:,} {name} was reached"
            for name, limit in (("calls", settings.calls), ("tokens", settings.tokens))
            if limit is not None and state["spent"].get(name, 0) >= limit
        ]
        if seconds is not None and time.time() - state["began"] >= seconds:
            lines.append(f"research: the limit of {seconds:g} seconds was reached")
        return lines

    def budget(self, context: ResearchContext, state: Mapping[str, Any]) -> Budget | None:
        """The budget of the next call: what is left of the round, of this research, and of the memory."""
        from hexamem.models import Budget

        settings = context.settings
        spent: Mapping[str, float] = state["spent"]
        calls = CALLS_A_ROUND - int(state["round_calls"])
        if settings.calls is not None:
            calls = min(calls, settings.calls - int(spent.get("calls", 0)))
        tokens = None if settings.tokens is None else max(0, settings.tokens - int(spent.get("tokens", 0)))
        seconds = None if settings.seconds is None else max(0.0, settings.seconds - (time.time() - state["began"]))
        parent = context.budget or self.parts.budget
        return Budget(calls=max(0, calls), tokens=tokens, seconds=seconds, parent=parent)


def searched(state: Mapping[str, Any]) -> tuple[str, ...]:
    """The queries and needs searched for so far beside the question itself, each once."""
    planned = [request for past_round in state["rounds"] for request in past_round["plan"]["requests"]] + list(
        state.get("requests") or ()
    )
    return tuple(
        dict.fromkeys((*(request["query"] for request in planned if request["need"] != MAIN_NEED), *state["asked"]))
    )


def passages_in(values: Iterable[Mapping[str, Any]]) -> tuple[Passage, ...]:
    """Passages as records."""
    return tuple(Passage(**fields) for fields in values)


def claims_in(state: Mapping[str, Any]) -> tuple[Claim, ...]:
    """The evidence so far."""
    return tuple(Claim(**claim) for claim in state.get("claims") or ())


def spend(update: dict[str, Any], result: StructuredResult[Any]) -> None:
    """Add the usage of a call to the round and the research."""
    usage = result.usage
    update["round_calls"] = int(update.get("round_calls", 0)) + usage.calls
    spent = update.get("spent") or {}
    names = ("calls", "tokens", "input_tokens", "output_tokens", "seconds")
    update["spent"] = {name: spent.get(name, 0) + getattr(usage, name) for name in names}


def say(stage: str, context: ResearchContext, state: Mapping[str, Any], **what: object) -> None:
    """Write a custom stream event about what a node did."""
    get_stream_writer()({"stage": stage, "user": context.user, "round": state["number"], **what})
