"""The types that the agents of the write path exchange (MIRIX, arXiv 2507.07957, section 3).

The meta-manager routes a batch of labelled steps to managers. A manager receives the steps, its instruction and the
nearest items of its kind, and proposes operations; only ``apply`` changes memory.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import tzinfo
from typing import Any, Protocol, TypeAlias

from hexamem.memory_types import ItemKind, MemoryItem
from hexamem.memory_types.proposals import Proposal
from hexamem.memory_types.step import Step

__all__ = [
    "Batch",
    "BatchStep",
    "Instruction",
    "Manager",
    "ManagerInput",
    "ManagerOutput",
    "MetaManager",
    "Proposals",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchStep:
    """A step as input of a manager, with the names of its labels.

    Attributes:
        step: the record; secrets in it are replaced by references to the vault.
        resolved_text: its text with pronouns and other references resolved.
        scope: the path of its scope, such as ``Lisbon trip / Day 2``; empty without labels.
        events: the names of its event types, coarse ones last.
        entities: the names of its key entity types.
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
        steps: the new steps, in order.
        before: a few steps before them in their threads: context, from which nothing is extracted.
        zone: the user's timezone, in which "last Saturday" is resolved relative to the time of the step.
        shown: texts that recall has shown lately; text that only repeats them is not extracted again.
    """

    user: str
    steps: tuple[BatchStep, ...]
    before: tuple[BatchStep, ...] = ()
    zone: tzinfo
    shown: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Instruction:
    """The task of one manager from the meta-manager.

    Attributes:
        step_ids: the steps to read; empty for all.
        task: what to do, in words.
    """

    kind: ItemKind
    step_ids: tuple[str, ...] = ()
    task: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposals:
    """The proposals of a manager, and a line for each fallback."""

    proposals: tuple[Proposal, ...] = ()
    degraded: tuple[str, ...] = field(default=())


@dataclass(frozen=True, slots=True, kw_only=True)
class ManagerInput:
    """The input of a manager that is passed to ``Memory.open(managers=…)``.

    Attributes:
        kind: the memory type whose items it proposes.
        user: the owner of the memory.
        steps: the new steps, with their labels.
        before: the steps before them in their threads.
        instruction: the task from the meta-manager.
        nearest: the known items nearest to the steps, by id, the nearest first: targets of update, supersede, merge, remove.
        zone: the user's timezone.
    """

    kind: ItemKind
    user: str
    steps: tuple[BatchStep, ...]
    before: tuple[BatchStep, ...]
    instruction: Instruction
    nearest: Mapping[str, MemoryItem]
    zone: tzinfo


ManagerOutput: TypeAlias = "Proposals | Sequence[Proposal | Mapping[str, Any]]"
"""The output of such a manager: proposals with quotes as evidence, as records or as mappings of their fields."""


class MetaManager(Protocol):
    """Routes a batch to managers; small talk to none."""

    def route(self, batch: Batch) -> Sequence[Instruction]: ...

    def unread(self, batch: Batch) -> Sequence[str]:
        """One line for each message that is not read completely, for ``degraded``."""
        ...


class Manager(Protocol):
    """Proposes operations on items of one kind."""

    kind: ItemKind

    def propose(self, batch: Batch, instruction: Instruction, nearest: Mapping[str, MemoryItem]) -> Proposals:
        """Propose operations.

        Args:
            nearest: the known items of this kind nearest to the batch, by id, the nearest first: targets of update,
                supersede, merge and remove.
        """
        ...
