"""What the agents of the write path give each other (MIRIX, arXiv 2507.07957, section 3).

A batch of labelled steps goes to the meta-manager, which says which managers have something to do. Each of these sees
the steps, its instruction and the nearest items of its kind, and proposes operations; ``apply`` alone changes memory.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import tzinfo
from typing import Any, Literal, Protocol, TypeAlias

from hexamem.memory_types import ItemKind, MemoryItem
from hexamem.memory_types.proposals import Proposal
from hexamem.memory_types.step import Step
from hexamem.stores.ledger import Transaction

__all__ = [
    "Batch",
    "BatchStep",
    "Instruction",
    "Job",
    "Manager",
    "ManagerInput",
    "ManagerOutput",
    "MetaManager",
    "NoManager",
    "Proposals",
    "WorkOutcome",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchStep:
    """A step as managers see it: as it was said, with its labels by name.

    Attributes:
        step: the record; secrets in it are references.
        resolved_text: its text with references put into words.
        scope: path of its scope, such as ``Lisbon trip / Day 2``; empty without labels.
        events, entities: names of its event types (coarse last) and key entity types.
    """

    step: Step
    resolved_text: str
    scope: str = ""
    events: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, weakref_slot=True, kw_only=True)
class Batch:
    """Consecutive steps that are read together.

    Attributes:
        steps: the new ones, in order.
        before: the few steps before them in their threads, for understanding alone: nothing is learned from them.
        zone: the user's timezone, in which "last Saturday" is resolved from the step's own time.
        shown: texts that recall has lately put before the model: what merely repeats them is not learned again.
    """

    user: str
    steps: tuple[BatchStep, ...]
    before: tuple[BatchStep, ...] = ()
    zone: tzinfo
    shown: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Instruction:
    """What the meta-manager asks of one manager: which steps to look at (ids; all where empty), and what for."""

    kind: ItemKind
    step_ids: tuple[str, ...] = ()
    task: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposals:
    """What a manager proposes, and what fell back on the way, in plain words."""

    proposals: tuple[Proposal, ...] = ()
    degraded: tuple[str, ...] = field(default=())


@dataclass(frozen=True, slots=True, kw_only=True)
class ManagerInput:
    """What a manager given to ``Memory.open(managers=…)`` is invoked with.

    Attributes:
        kind: the memory type whose items it proposes.
        user: whose memory it is.
        steps: the new steps, with their labels. before: the steps before them in their threads.
        instruction: what the meta-manager asks for.
        nearest: items of this type near to the steps, by id, the nearest first: targets of update, supersede, merge, remove.
        zone: in which the user's days are.
    """

    kind: ItemKind
    user: str
    steps: tuple[BatchStep, ...]
    before: tuple[BatchStep, ...]
    instruction: Instruction
    nearest: Mapping[str, MemoryItem]
    zone: tzinfo


ManagerOutput: TypeAlias = "Proposals | Sequence[Proposal | Mapping[str, Any]]"
"""What it returns: proposals, each with quotes of the steps that it rests on, as records or as mappings of their fields."""


class MetaManager(Protocol):
    """Decides which managers have something to do; small talk gives none."""

    def route(self, batch: Batch) -> Sequence[Instruction]: ...

    def unread(self, batch: Batch) -> Sequence[str]:
        """What it left unread of a batch, in plain words for ``degraded``."""
        ...


class Manager(Protocol):
    """Proposes operations on items of one kind."""

    kind: ItemKind

    def propose(self, batch: Batch, instruction: Instruction, nearest: Mapping[str, MemoryItem]) -> Proposals:
        """Propose operations.

        Args:
            nearest: items of this kind near to the batch, by id, the nearest first: candidates for update, supersede,
                merge and remove.
        """
        ...


@dataclass(slots=True)
class NoManager:
    """Proposes nothing: of a type that only a model, or nobody, proposes."""

    kind: ItemKind

    def propose(self, batch: Batch, instruction: Instruction, nearest: Mapping[str, MemoryItem]) -> Proposals:
        return Proposals()


class Job(Protocol):
    """A durable job: ``write`` opens its transaction, committed only while the job is ours; ``complete`` ends it there."""

    attempt: int

    def write(self) -> AbstractContextManager[Transaction]: ...

    def complete(self, tx: Transaction) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkOutcome:
    """What became of a job's run; ``failed`` may succeed later, ``waits`` when there is budget again."""

    status: Literal["done", "failed", "waits"] = "done"
    reason: str = ""
