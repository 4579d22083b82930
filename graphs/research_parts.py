"""The parts that the research graph works with, and what all of its nodes share."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING, Any

from langgraph.config import get_stream_writer
from langgraph.runtime import get_runtime

from hexamem.agents.embedded_research import MAIN_NEED, Encode, ReadSentences
from hexamem.agents.research_question import Question, read_question
from hexamem.errors import MissingUserError
from hexamem.graphs.research_filter import EvidenceFilter
from hexamem.graphs.research_lanes import LaneSearch
from hexamem.graphs.research_state import CALLS_A_ROUND, ResearchContext, ResearchSettings
from hexamem.memory_types import LightMemory
from hexamem.memory_types.research import Claim, Passage
from hexamem.memory_types.times import read_zone
from hexamem.retrieval.evidence import ReadBags, ReadSpeakers, ReadWorths
from hexamem.stores.embedders import Embedder
from hexamem.stores.ledger import Ledger

if TYPE_CHECKING:
    from hexamem.agents.integrator import ModelIntegrator
    from hexamem.agents.planner import ModelPlanner
    from hexamem.agents.reflector import ModelReflector
    from hexamem.models import Budget, StructuredResult

__all__ = ["ResearchNode", "ResearchParts", "claims_in", "run_context", "say", "searched", "spend"]


@dataclass(frozen=True, kw_only=True)
class ResearchParts:
    """What the graph works with.

    Attributes:
        ledger, embedder: the truth, and what makes vectors.
        lanes: the ways to search.
        catch_up: brings a user's indexes up to the ledger.
        speakers: who speaks in a user's memory. kinds: which kinds of items it has.
        light_memory: (user, tokens, filter) → the memos of what may be read, for a planner that is a model.
        scopes: names of a user's scopes, for the same.
        cut_pages: puts a user's newest steps into pages, for an answer with whole pages.
        clean: a question as a model, a stream or a record may see it: without secrets.
        repair: repairs a user's index that is damaged; whether it could.
        recalled: (user, question, filter) → ids of what a plain recall finds, best first, where its ranking is trained.
        bags, spoke, worths: what late interaction compares of steps and items, who spoke, and what steps say of their
            own, where that is kept in memory.
        settings: how research goes.
        encode: the bundled encoder, which extracts sentences where no model integrates.
        planner, integrator, reflector: the model tier; what is None is done by the embedded engine.
        budget: what models may spend while the memory is open.
    """

    ledger: Ledger
    embedder: Embedder
    lanes: Mapping[str, LaneSearch]
    catch_up: Callable[[str], object]
    speakers: Callable[[str], frozenset[str]]
    kinds: Callable[[str], tuple[str, ...]]
    light_memory: Callable[[str, int, EvidenceFilter], LightMemory]
    scopes: Callable[[str], tuple[str, ...]]
    clean: Callable[[str, str], str]
    encode: Encode
    repair: Callable[[str], bool] = lambda user: False
    cut_pages: Callable[[str], object] = lambda user: None
    recalled: Callable[[str, str, EvidenceFilter], Sequence[str]] = lambda user, question, filters: ()
    bags: ReadBags | None = None
    spoke: ReadSpeakers | None = None
    worths: ReadWorths | None = None
    settings: ResearchSettings = field(default_factory=ResearchSettings)
    planner: ModelPlanner | None = None
    integrator: ModelIntegrator | None = None
    reflector: ModelReflector | None = None
    budget: Budget | None = None


def run_context() -> ResearchContext:
    """What this run is told; a host's own context needs no more than a ``user``."""
    context: object = get_runtime(ResearchContext).context
    if isinstance(context, ResearchContext) and context.user.strip():
        return context
    user = context.get("user") if isinstance(context, Mapping) else getattr(context, "user", None)
    if not isinstance(user, str) or not user.strip():
        raise MissingUserError(
            f"the context of the research graph has user = {user!r}: invoke it with context=ResearchContext(user='alice')"
        )
    return ResearchContext(user=user)


class ResearchNode:
    """What every node may ask. Nodes keep nothing between runs, so each of them may be run again."""

    def __init__(self, parts: ResearchParts) -> None:
        self.parts = parts

    def settings(self, context: ResearchContext) -> ResearchSettings:
        """How this run goes."""
        return context.settings or self.parts.settings

    def zone(self, context: ResearchContext) -> tzinfo:
        """The user's timezone."""
        zone: tzinfo | None = context.kept.get("zone")
        if zone is None:
            zone = context.kept["zone"] = read_zone(self.parts.ledger.timezone(context.user) or "UTC")
        return zone

    def question(self, context: ResearchContext, state: Mapping[str, Any]) -> Question:
        """The question, read once a run."""
        key = (state["asked_as"], state["now"])
        found: Question | None = context.kept.get("question") if context.kept.get("asked") == key else None
        if found is None:
            speakers = self.parts.speakers(context.user)
            found = read_question(key[0], speakers, datetime.fromisoformat(key[1]), self.zone(context))
            context.kept.update(asked=key, question=found)
        return found

    def passages(self, context: ResearchContext, values: Iterable[Mapping[str, Any]]) -> tuple[Passage, ...]:
        """Passages as records; those of a state are made once a run."""
        made: dict[tuple[str, int], Passage] = context.kept.setdefault("passages", {})
        found = []
        for one in values:
            key = (one["id"], one["round"])
            if key not in made:
                made[key] = Passage(**one)
            found.append(made[key])
        return tuple(found)

    def read_sentences(self, context: ResearchContext, state: Mapping[str, Any]) -> ReadSentences:
        """Sentences of the passages that were encoded in this run for the question."""
        key = (state["asked_as"], state["now"])
        if context.kept.get("sentences_for") != key:
            context.kept.update(sentences_for=key, sentences={})
        sentences: ReadSentences = context.kept["sentences"]
        return sentences

    def rounds(self, context: ResearchContext, state: Mapping[str, Any]) -> int:
        """How many rounds there may be."""
        return int(state.get("max_rounds") or self.settings(context).rounds)

    def last(self, context: ResearchContext, state: Mapping[str, Any]) -> bool:
        """Whether no round follows this one, by rounds, calls, tokens or time."""
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
        """What the next call may spend: of the round, of this research, and of the memory."""
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
    """What was looked for so far beside the question itself, each once."""
    planned = [one for done in state["rounds"] for one in done["plan"]["requests"]] + list(state.get("requests") or ())
    return tuple(dict.fromkeys((*(one["query"] for one in planned if one["need"] != MAIN_NEED), *state["asked"])))


def claims_in(state: Mapping[str, Any]) -> tuple[Claim, ...]:
    """The evidence so far."""
    return tuple(Claim(**one) for one in state.get("claims") or ())


def spend(update: dict[str, Any], result: StructuredResult[Any]) -> None:
    """Add what a call cost to the round and the research."""
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
    """Tell those who watch what a node did."""
    get_stream_writer()({"stage": stage, "user": context.user, "round": state["number"], **what})
