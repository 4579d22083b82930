"""The stores and agents of the research graph, and the base of its nodes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING, Any, NamedTuple

from langgraph.config import get_config, get_stream_writer
from langgraph.runtime import get_runtime

from hexamem.agents.embedded_research import MAIN_NEED, Encode, ReadSentences
from hexamem.agents.research_question import Question, read_question
from hexamem.graphs.memory_scope import resolve_scope
from hexamem.graphs.research_filter import EvidenceFilter
from hexamem.graphs.research_lanes import LaneSearch
from hexamem.graphs.research_state import CALLS_A_ROUND, ResearchContext, ResearchSettings
from hexamem.memory_types import LightMemory
from hexamem.memory_types.research import Claim, Passage
from hexamem.memory_types.times import read_zone
from hexamem.stores.ledger import Ledger

if TYPE_CHECKING:
    from hexamem.agents.integrator import ModelIntegrator
    from hexamem.agents.planner import ModelPlanner
    from hexamem.agents.reflector import ModelReflector
    from hexamem.models import Budget, StructuredResult

__all__ = ["ResearchNode", "ResearchParts", "claims_in", "run_context", "say", "searched", "spend"]


class PlainRecall(NamedTuple):
    """A recall of the question by the learned ranking.

    Attributes:
        ids: of its hits, best first.
        answerable: the probability that memory contains an answer; None where it is not estimated.
    """

    ids: tuple[str, ...] = ()
    answerable: float | None = None


@dataclass(frozen=True, kw_only=True)
class ResearchParts:
    """The stores and agents of the graph.

    Attributes:
        ledger: the source of truth.
        lanes: the ways to search, by name.
        catch_up: brings a user's indexes up to the ledger.
        kinds: the kinds of items in a user's memory.
        light_memory: ``(user, tokens, filter)`` to the memos of pages that may be read, for a planner that is a model.
        scopes: paths of a user's scopes, for the same.
        cut_pages: assigns a user's newest steps to pages, for an answer with whole pages.
        clean: ``(user, question)`` to the question without secrets.
        repair: repairs a damaged index of a user; returns whether it could.
        recalled: ``(user, question, filter)`` to a plain recall of the question; empty without trained weights.
        settings: of research.
        encode: the bundled encoder, which extracts sentences if no model integrates.
        planner, integrator, reflector: the model tier; for each that is None the embedded engine does the work.
        budget: of all model calls while the memory is open.
    """

    ledger: Ledger
    lanes: Mapping[str, LaneSearch]
    catch_up: Callable[[str], object]
    kinds: Callable[[str], tuple[str, ...]]
    light_memory: Callable[[str, int, EvidenceFilter], LightMemory]
    scopes: Callable[[str], tuple[str, ...]]
    clean: Callable[[str, str], str]
    encode: Encode
    repair: Callable[[str], bool] = lambda user: False
    cut_pages: Callable[[str], object] = lambda user: None
    recalled: Callable[[str, str, EvidenceFilter], PlainRecall] = lambda user, question, filters: PlainRecall()
    settings: ResearchSettings = field(default_factory=ResearchSettings)
    planner: ModelPlanner | None = None
    integrator: ModelIntegrator | None = None
    reflector: ModelReflector | None = None
    budget: Budget | None = None


def run_context() -> ResearchContext:
    """The context of this run; of a host's own context or configuration only the user is read."""
    context: object = get_runtime(ResearchContext).context
    if isinstance(context, ResearchContext) and context.user.strip():
        return context
    return ResearchContext(user=resolve_scope("the research graph", get_runtime(), get_config()).user)


class ResearchNode:
    """The base of the nodes. Nodes hold no state between runs and are idempotent."""

    def __init__(self, parts: ResearchParts) -> None:
        self.parts = parts

    def settings(self, context: ResearchContext) -> ResearchSettings:
        """The settings of this run."""
        return context.settings or self.parts.settings

    def zone(self, context: ResearchContext) -> tzinfo:
        """The user's timezone."""
        zone: tzinfo | None = context.cache.get("zone")
        if zone is None:
            zone = context.cache["zone"] = read_zone(self.parts.ledger.timezone(context.user) or "UTC")
        return zone

    def question(self, context: ResearchContext, state: Mapping[str, Any]) -> Question:
        """The analysed question, cached for the run."""
        key = (state["asked_as"], state["now"])
        question: Question | None = context.cache.get("question") if context.cache.get("asked") == key else None
        if question is None:
            question = read_question(key[0], datetime.fromisoformat(key[1]), self.zone(context))
            context.cache.update(asked=key, question=question)
        return question

    def passages(self, context: ResearchContext, values: Iterable[Mapping[str, Any]]) -> tuple[Passage, ...]:
        """Passages as records, cached for the run."""
        cache: dict[tuple[str, int], Passage] = context.cache.setdefault("passages", {})
        passages = []
        for fields in values:
            key = (fields["id"], fields["round"])
            if key not in cache:
                cache[key] = Passage(**fields)
            passages.append(cache[key])
        return tuple(passages)

    def read_sentences(self, context: ResearchContext, state: Mapping[str, Any]) -> ReadSentences:
        """Sentences of the passages that were encoded in this run for the question."""
        key = (state["asked_as"], state["now"])
        if context.cache.get("sentences_for") != key:
            context.cache.update(sentences_for=key, sentences={})
        sentences: ReadSentences = context.cache["sentences"]
        return sentences

    def rounds(self, context: ResearchContext, state: Mapping[str, Any]) -> int:
        """The most rounds of this run."""
        return int(state.get("max_rounds") or self.settings(context).rounds)

    def last(self, context: ResearchContext, state: Mapping[str, Any]) -> bool:
        """Whether this round is the last, by rounds, calls, tokens or time."""
        settings = self.settings(context)
        spent = state["spent"]
        if state["number"] >= self.rounds(context, state):
            return True
        if settings.seconds is not None and time.time() - state["began"] >= settings.seconds:
            return True
        return any(
            limit is not None and spent.get(name, 0) >= limit
            for name, limit in (("calls", settings.calls), ("tokens", settings.tokens))
        )

    def budget(self, context: ResearchContext, state: Mapping[str, Any]) -> Budget | None:
        """The budget of the next call: what is left of the round, of this research, and of the memory."""
        from hexamem.models import Budget

        settings = self.settings(context)
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


def claims_in(state: Mapping[str, Any]) -> tuple[Claim, ...]:
    """The evidence so far."""
    return tuple(Claim(**claim) for claim in state.get("claims") or ())


def spend(update: dict[str, Any], result: StructuredResult[Any]) -> None:
    """Add the usage of a call to the round and the research."""
    usage = result.usage
    update["round_calls"] = int(update.get("round_calls", 0)) + usage.calls
    spent = dict(update.get("spent") or {})
    for name, value in (
        ("calls", usage.calls),
        ("tokens", usage.tokens),
        ("input_tokens", usage.input_tokens),
        ("output_tokens", usage.output_tokens),
        ("seconds", usage.seconds),
    ):
        spent[name] = spent.get(name, 0) + value
    update["spent"] = spent


def say(stage: str, context: ResearchContext, state: Mapping[str, Any], **what: object) -> None:
    """Write a custom stream event about what a node did."""
    get_stream_writer()({"stage": stage, "user": context.user, "round": state["number"], **what})
