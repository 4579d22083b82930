"""The nodes of the ingest graph, and the stores and agents that they use.

Nodes are idempotent. One that calls a model, an agent or a manager of the host yields the call.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, Protocol

from langgraph.config import get_stream_writer
from langgraph.errors import GraphBubbleUp
from langgraph.types import Send

from hexamem.agents.contract import (
    Batch,
    BatchStep,
    Instruction,
    Manager,
    ManagerInput,
    ManagerOutput,
    MetaManager,
    Proposals,
)
from hexamem.agents.labelling.batches import read_task, write_task
from hexamem.errors import InvalidInputError
from hexamem.graphs.ingest_batches import BatchTakenError, advance, read_batch, waiting_steps
from hexamem.graphs.ingest_state import (
    IngestContext,
    IngestState,
    ManageInput,
    Recorded,
    Remembrance,
    read_back,
    written,
)
from hexamem.graphs.memory_scope import run_context
from hexamem.graphs.waiting_nodes import Request, Waiting
from hexamem.memory_types import ItemKind, MemoryItem
from hexamem.memory_types.proposals import Outcome, Proposal
from hexamem.stores.documents import searchable, with_speaker
from hexamem.stores.ledger import Ledger, get_items
from hexamem.stores.ledger.usage import add_usage

if TYPE_CHECKING:
    from langchain_core.runnables import Runnable

    from hexamem.agents.managers.agent import ManagerAgent
    from hexamem.agents.meta_manager import ModelMetaManager
    from hexamem.agents.single_call import SingleCall
    from hexamem.intent.contract import Embed
    from hexamem.stores.ledger import Transaction

SINGLE = "single_call"
"""The node of mode ``single_call``."""
_FOUND = 8  # items that a manager's search shows


class Apply(Protocol):
    """Applies proposals: see :meth:`hexamem.agents.applying.applier.Applier.apply`."""

    def __call__(
        self,
        user: str,
        batch: Batch,
        proposals: Sequence[Proposal],
        *,
        transaction: Callable[[], AbstractContextManager[Transaction]] | None = None,
        finish: Callable[[Transaction], object] | None = None,
    ) -> tuple[Sequence[Outcome], tuple[str, ...]]: ...


@dataclass(frozen=True, kw_only=True)
class IngestParts:
    """The stores and agents of the graph."""

    ledger: Ledger  # the source of truth
    # stores messages of the context's user in a thread, and queues the background job
    record: Callable[[IngestContext, Any, str], Recorded]
    catch_up: Callable[[str], object]  # labels a user's steps and brings the indexes up to the ledger
    # `(user, texts, kinds)` to the ids of the nearest items by kind, the nearest first
    nearest: Callable[[str, Sequence[str], Collection[ItemKind]], Mapping[ItemKind, Sequence[str]]]
    apply: Apply  # applies proposals
    meta_manager: MetaManager  # with the managers the embedded tier
    managers: Mapping[ItemKind, Manager]
    size: int  # steps in a batch, at most
    # so many waiting steps are a batch, also while the conversation goes on; None if the graph manages no batch
    full: int | None
    characters: int | None = None  # the length of a batch's texts, for a model; None for no limit
    model_meta_manager: ModelMetaManager | None = None  # of mode `agents`, as are the next
    model_managers: Mapping[ItemKind, ManagerAgent] = field(default_factory=dict)
    single_call: SingleCall | None = None  # the agent of mode `single_call`
    # managers of the host, by memory type: they replace the shipped ones
    custom: Mapping[ItemKind, Runnable[ManagerInput, ManagerOutput]] = field(default_factory=dict)
    without_nearest: Collection[ItemKind] = ()  # types whose manager does not read the nearest items
    # types beyond the six. Without a model that routes, their managers get every batch that is more than small talk,
    # since the embedded meta-manager knows only the six
    always: tuple[ItemKind, ...] = ()
    embed: Embed | None = None  # computes the vectors for labels; None if a model does not label
    wrote: Callable[[str], object] = lambda user: None  # called after a write to a user's ledger

    @property
    def beside(self) -> tuple[ItemKind, ...]:
        """The types that have their own node beside the single call."""
        return tuple(dict.fromkeys((*self.custom, *self.always)))


def node_of(kind: ItemKind) -> str:
    """The name of a manager's node."""
    return f"{kind}_manager"


def _context() -> IngestContext:
    return run_context(IngestContext, "the ingest graph")


class IngestNodes:
    """The nodes of the graph over its parts."""

    def __init__(self, parts: IngestParts) -> None:
        self._parts = parts

    def _batch(self, context: IngestContext, step_ids: Sequence[str]) -> Batch:
        """The steps of a batch, read once a run."""
        key = tuple(step_ids)
        batch = context.batches.get(key)
        if batch is None:
            with self._parts.ledger.read(context.user) as tx:
                batch = read_batch(tx, key)
            context.batches[key] = batch
        return batch

    # ------------------------------------------------------------------ record, label

    def record(self, state: IngestState) -> dict[str, Any]:
        context = _context()
        recorded = self._parts.record(context, state.get("messages"), state.get("thread_id") or "default")
        _say("record", context, steps=list(recorded.step_ids))
        return {
            "step_ids": list(recorded.step_ids),
            "visible": list(recorded.visible),
            "degraded": list(recorded.degraded),
            "batch": [],
            "instructions": [],
        }

    def label(self, state: IngestState) -> dict[str, Any]:
        context = _context()
        self._parts.catch_up(context.user)
        with self._parts.ledger.read(context.user) as tx:
            waiting = waiting_steps(tx, self._parts.size, self._parts.characters)
        full = self._parts.full
        closed = full is not None and bool(waiting.step_ids)
        closed = closed and (waiting.more or len(waiting.step_ids) >= (full or 0) or bool(state.get("close")))
        _say("label", context, waiting=len(waiting.step_ids), closed=closed)
        if not closed:
            return {"batch": [], "since": waiting.since, "reached": waiting.since}
        batch = self._batch(context, waiting.step_ids)
        steps = [
            {
                "id": batch_step.step.id,
                "scope": batch_step.scope,
                "events": list(batch_step.events),
                "entities": list(batch_step.entities),
            }
            for batch_step in batch.steps
        ]
        _say("label", context, steps=steps)
        return {"batch": list(waiting.step_ids), "since": waiting.since, "reached": waiting.reached}

    # ------------------------------------------------------------------ route

    def route(self, state: IngestState) -> Waiting:
        context, parts = _context(), self._parts
        if not state.get("batch"):
            return {"instructions": []}
        batch = self._batch(context, state["batch"])
        if (meta := parts.model_meta_manager) is not None:
            routed = meta.finish((yield Request(meta.prepare(batch, context.budget, context.usage))))
            return self._routed(context, batch, routed.instructions, routed.degraded)
        try:
            instructions = tuple(parts.meta_manager.route(batch))
        except GraphBubbleUp:
            raise
        except Exception as error:  # noqa: BLE001 - a reader that fails on a text does not stop the batch
            note = f"meta_manager: the reader failed ({type(error).__name__})"
            return {**self._routed(context, batch, (), (note,)), "ask": parts.single_call is not None}
        if parts.single_call is None:
            return self._routed(context, batch, instructions, parts.meta_manager.unread(batch))
        from hexamem.agents.meta_manager import is_small_talk

        return {**self._routed(context, batch, instructions, ()), "ask": bool(instructions) or not is_small_talk(batch)}

    def _routed(
        self, context: IngestContext, batch: Batch, instructions: Sequence[Instruction], degraded: Sequence[str]
    ) -> dict[str, Any]:
        joined: dict[ItemKind, Instruction] = {}
        for one in instructions:
            joined.setdefault(one.kind, one)
        if self._parts.always and self._parts.model_meta_manager is None:
            from hexamem.agents.meta_manager import is_small_talk

            if joined or not is_small_talk(batch):
                joined |= {kind: Instruction(kind=kind) for kind in self._parts.always if kind not in joined}
        nearest: Mapping[ItemKind, Sequence[str]] = {}
        single = self._parts.single_call is not None
        comparing = {kind: one for kind, one in joined.items() if kind not in self._parts.without_nearest}
        if comparing or single:
            chosen = {step_id for one in comparing.values() for step_id in one.step_ids}
            texts = [_indexed(one) for one in batch.steps if single or not chosen or one.step.id in chosen]
            shared = self._parts.single_call.forms if self._parts.single_call is not None else ()
            kinds = dict.fromkeys((*shared, *comparing))
            nearest = self._parts.nearest(context.user, texts, list(kinds))
        _say("route", context, managers=list(joined))
        return {
            "instructions": [{**asdict(each), "step_ids": list(each.step_ids)} for each in joined.values()],
            "nearest": {str(kind): list(ids) for kind, ids in nearest.items()},
            "degraded": list(degraded),
        }

    def send(self, state: IngestState) -> list[Send] | Literal["apply", "__end__"]:
        """Send to each manager that has an instruction the batch and the ids of the nearest items of its kind."""
        batch, instructions = state.get("batch"), state.get("instructions") or []
        if not batch:
            return "__end__"
        nearest = state.get("nearest") or {}
        sends: list[Send] = []
        if self._parts.single_call is not None:
            own = [instruction for instruction in instructions if instruction["kind"] in self._parts.beside]
            if state.get("ask"):
                shared = [instruction for instruction in instructions if instruction not in own]
                sends.append(Send(SINGLE, ManageInput(batch=batch, instructions=shared, nearest_by_kind=nearest)))
            instructions = own
        for instruction in instructions:
            kind = instruction["kind"]
            manager_input = ManageInput(instruction=instruction, batch=batch, nearest=nearest.get(kind, []))
            sends.append(Send(node_of(kind), manager_input))
        return sends or "apply"

    # ------------------------------------------------------------------ managers

    def manage(self, kind: ItemKind, state: ManageInput) -> dict[str, Any]:
        context = _context()
        batch = self._batch(context, state["batch"])
        nearest = self._items(context, state["nearest"])
        try:
            proposals = self._parts.managers[kind].propose(batch, _instruction(state["instruction"]), nearest)
        except GraphBubbleUp:  # an interrupt: the run continues when it is resumed
            raise
        except Exception as error:  # noqa: BLE001 - as above: a manager that fails does not stop the others
            proposals = Proposals(degraded=(f"{node_of(kind)}: the reader failed ({type(error).__name__})",))
        return self._managed(context, kind, batch, proposals)

    def manage_custom(self, kind: ItemKind, state: ManageInput) -> Waiting:
        """Run a manager of the host; invalid proposals are left out and reported. What it raises fails the run."""
        context = _context()
        batch, instruction = self._batch(context, state["batch"]), _instruction(state["instruction"])
        output = yield Request(
            ManagerInput(
                kind=kind,
                user=context.user,
                steps=batch.steps,
                before=batch.before,
                instruction=instruction,
                nearest=self._items(context, state["nearest"]),
                zone=batch.zone,
            )
        )
        if isinstance(output, Proposals):
            return self._managed(context, kind, batch, output)
        proposals: list[Proposal] = []
        degraded: list[str] = []
        for given in output or ():
            try:
                defaults = {"kind": kind, "proposed_by": kind}
                proposals.append(given if isinstance(given, Proposal) else Proposal.parse({**defaults, **given}))
            except (InvalidInputError, TypeError) as error:
                degraded.append(f"{node_of(kind)}: a proposal was left out: {error}")
        return self._managed(context, kind, batch, Proposals(proposals=tuple(proposals), degraded=tuple(degraded)))

    def manage_by_agent(self, manager: ManagerAgent, state: ManageInput) -> Waiting:
        """Run the agent of a manager with a model."""
        context, nearest = _context(), self._parts.nearest

        def search(query: str) -> Mapping[str, MemoryItem]:
            item_ids = nearest(context.user, [query], [manager.kind]).get(manager.kind, ())
            return self._items(context, item_ids[:_FOUND])

        batch = self._batch(context, state["batch"])
        given, run = manager.prepare(
            batch,
            _instruction(state["instruction"]),
            self._items(context, state["nearest"]),
            search,
            context.budget,
            context.usage,
        )
        values = yield Request(given, manager.config, run)
        return self._managed(context, manager.kind, batch, manager.finish(values, run))

    def manage_all(self, state: ManageInput) -> Waiting:
        """Make the single call, which labels the steps too."""
        context, parts = _context(), self._parts
        assert parts.single_call is not None
        batch = self._batch(context, state["batch"])
        task = read_task(parts.ledger, parts.embed, context.user, state["batch"]) if parts.embed else None
        known = state.get("nearest_by_kind") or {}
        items = self._items(context, [item_id for ids in known.values() for item_id in ids])
        result = yield Request(
            parts.single_call.prepare(
                batch,
                tuple(map(_instruction, state.get("instructions") or ())),
                {kind: {item_id: items[item_id] for item_id in ids if item_id in items} for kind, ids in known.items()},
                task,
                context.budget,
                context.usage,
            )
        )
        outcome = parts.single_call.finish(result)
        degraded, labels = list(outcome.degraded), outcome.labels
        by_model = labels is not None and (labels.pages or any(step.tier == "model" for step in labels.steps))
        if labels is not None and task is not None and by_model:
            with (context.write or partial(parts.ledger.write, context.user, create=False))() as tx:
                if not write_task(tx, task, labels, indexed_elsewhere=not parts.ledger.embedded):
                    degraded.append(f"{SINGLE}: labels were corrected meanwhile, so those of the model were left out")
        proposals = tuple(proposal for proposal in outcome.proposals if proposal.kind not in parts.beside)
        return self._managed(context, SINGLE, batch, Proposals(proposals=proposals, degraded=tuple(degraded)))

    def _items(self, context: IngestContext, item_ids: Sequence[str]) -> dict[str, MemoryItem]:
        with self._parts.ledger.read(context.user) as tx:
            items = get_items(tx, item_ids)
        return {
            item_id: items[item_id] for item_id in item_ids if item_id in items and items[item_id].status == "active"
        }

    def _managed(self, context: IngestContext, manager: str, batch: Batch, proposed: Proposals) -> dict[str, Any]:
        written_proposals = [
            fields for proposal in proposed.proposals if (fields := written(proposal, batch)) is not None
        ]
        _say("manage", context, manager=manager, proposed=len(written_proposals))
        lost = len(proposed.proposals) - len(written_proposals)
        note = (f"{manager}: {lost} secrets were left out: their steps do not contain them",) if lost else ()
        return {"proposals": written_proposals, "degraded": [*proposed.degraded, *note]}

    # ------------------------------------------------------------------ apply, project

    def apply(self, state: IngestState) -> dict[str, Any]:
        context, parts = _context(), self._parts
        batch = self._batch(context, state["batch"])
        proposals = [one for values in state.get("proposals") or () if (one := read_back(values, batch)) is not None]

        def finish(tx: Transaction) -> None:
            advance(tx, state["since"], state["reached"])
            if context.usage is not None:
                add_usage(tx, context.usage.rows())
            if context.finish is not None:
                context.finish(tx)

        try:
            outcomes, degraded = parts.apply(context.user, batch, proposals, transaction=context.write, finish=finish)
        except BatchTakenError as error:
            return {"remembered": [], "degraded": [f"apply: {error}"]}
        if context.usage is not None:
            context.usage.drain()  # ``finish`` has written it to the ledger
        remembered = self._remembered(context, proposals, outcomes)
        _say("apply", context, remembered=remembered)
        parts.wrote(context.user)
        return {"remembered": remembered, "degraded": list(degraded)}

    def _remembered(
        self, context: IngestContext, proposals: Sequence[Proposal], outcomes: Sequence[Outcome]
    ) -> list[Remembrance]:
        with self._parts.ledger.read(context.user) as tx:
            items = get_items(tx, [outcome.item_id for outcome in outcomes if outcome.item_id is not None])
        return [
            Remembrance(
                kind=proposal.kind,
                operation=outcome.applied,
                item_id=outcome.item_id,
                text=items[outcome.item_id].text if outcome.item_id in items else "",
                refused=outcome.refused,
            )
            for proposal, outcome in zip(proposals, outcomes, strict=True)
        ]

    def project(self, state: IngestState) -> dict[str, Any]:
        context = _context()
        self._parts.catch_up(context.user)
        _say("project", context)
        return {}


def _instruction(values: Mapping[str, Any]) -> Instruction:
    return Instruction(kind=values["kind"], step_ids=tuple(values["step_ids"]), task=values["task"])


def _indexed(step: BatchStep) -> str:
    """The text of a step as it is embedded for the index, so that an embedder with a cache has its vector."""
    return with_speaker(step.step.name, searchable(step.resolved_text))


def _say(stage: str, context: IngestContext, **what: object) -> None:
    get_stream_writer()({"stage": stage, "user": context.user, **what})
