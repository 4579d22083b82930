"""What the six model managers share: the form of an operation, its checks, and how it becomes a proposal.

A model is believed in nothing that can be checked: the step must be one that was shown, the quote must stand in it, a
handle must be one that was listed, a date must be a date. What does not hold goes back once for repair; what then
still does not hold is left out, operation by operation.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field

from hexamem.agents.applying.evidence import find_quote
from hexamem.agents.contract import Batch, HeardStep, Instruction
from hexamem.agents.labelling.schemas import salvaged
from hexamem.errors import InvalidInputError
from hexamem.memory_types import ItemKind, MemoryItem
from hexamem.memory_types.proposals import Evidence, Proposal
from hexamem.memory_types.times import parse_time

__all__ = ["ItemOperation", "ManagerForm", "Reading", "salvaged_operations", "stands_in"]

_MOST_A_STEP, _MOST_SPARE = 2, 4
_LONGEST_QUOTE = 600
_COARSE_DATE = re.compile(r"\d{4}(?:-(?:0[1-9]|1[0-2]))?")
_DATE = re.compile(r"\d{4}-\d\d?-\d\d?(?:[T ].*)?")
_REFERENCE = re.compile(r"\{\{vault:[^{}]*\}\}")


class ItemOperation(BaseModel):
    """One operation on an item; each kind adds its own fields, null where they do not change.

    Attributes:
        kind: of the item.
        required: fields without which a new item is none.
        users_word: whether only what the user said is evidence.
    """

    model_config = ConfigDict(extra="ignore", frozen=True)

    kind: ClassVar[ItemKind]
    required: ClassVar[tuple[str, ...]] = ()
    users_word: ClassVar[bool] = False

    step: int = Field(description="The number of the step that says it.")
    quote: str = Field(description="The words of that step that say it, copied exactly, at most 25.")
    operation: Literal["add", "update", "supersede", "merge", "remove"]
    target: str | None = Field(description="The handle of the known item that it changes; null for add.")
    merged: list[str] = Field(description="For merge, the handles of the items that target takes in; else empty.")
    ends: list[str] = Field(default=[], description="Handles of further known items that are over by it; else empty.")

    @classmethod
    def own_fields(cls) -> tuple[str, ...]:
        """The fields that this kind adds, in order."""
        return tuple(name for name in cls.model_fields if name not in ItemOperation.model_fields)

    def item_values(self, heard: HeardStep) -> dict[str, Any]:
        """The values of the item that this sets: by default the kind's own fields that are filled."""
        return {name: value for name in self.own_fields() if (value := getattr(self, name)) not in (None, "", [])}

    def problems(self, heard: HeardStep) -> list[str]:
        """What else is wrong with it, without repeating any of its words."""
        return []

    def is_moot(self) -> bool:
        """Whether it asks for what is done already, so that it is passed over without a word."""
        return False

    def secret_in(self, heard: HeardStep) -> str | None:
        """The secret that it names, where it stands in the content of its step; None for none."""
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class ManagerForm:
    """What one kind states of its manager.

    Attributes:
        operation: the form of its operations.
        reply: the model that is asked for, with one list ``operations``.
        fields: of an item of this kind, those that are shown to the model, in order.
    """

    operation: type[ItemOperation]
    reply: type[BaseModel]
    fields: tuple[str, ...]

    @property
    def kind(self) -> ItemKind:
        return self.operation.kind

    @property
    def agent(self) -> str:
        """The manager's name among the agents, which is that of its prompt too."""
        return f"{self.kind}_manager"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What one manager was shown, by which its reply is checked.

    Attributes:
        nearest: known items by id, the nearest first.
        restore: takes the escapes of a prompt out of what was copied from it.
        handles: handle → id of the item.
    """

    form: ManagerForm
    batch: Batch
    instruction: Instruction
    nearest: Mapping[str, MemoryItem] = field(default_factory=dict)
    restore: Callable[[str], str] = str
    handles: Mapping[str, str] = field(init=False)

    def __post_init__(self) -> None:
        named = {f"{self.form.kind}{number}": item_id for number, item_id in enumerate(self.nearest, 1)}
        object.__setattr__(self, "handles", named)

    @property
    def most(self) -> int:
        """How many operations are believed of so many steps; more is a model that lost its way."""
        return _MOST_A_STEP * len(self.batch.steps) + _MOST_SPARE

    def all_problems(self, operations: Sequence[ItemOperation]) -> list[str]:
        """What is worth a repair turn; no words of the reply are repeated, since people see these lines too."""
        told = []
        if len(operations) > self.most:
            told.append(
                f"{self.form.kind}: {len(operations)} operations; give the {self.most} that matter most at most"
            )
        for number, one in enumerate(operations[: self.most], 1):
            if one.is_moot():
                continue
            told += [f"{self.form.kind} operation {number}: {line}" for line in self.problems(one)]
        return told

    def problems(self, one: ItemOperation) -> list[str]:
        """Why an operation cannot be used; empty where it can."""
        if not 0 < one.step <= len(self.batch.steps):
            return [f"there is no such step; the steps are 1 to {len(self.batch.steps)}"]
        heard = self.batch.steps[one.step - 1]
        told = []
        if not self._quoted(one, heard):
            told.append(f"its quote does not stand in step {one.step}; copy words of that step exactly")
        if heard.step.role == "system":
            told.append(f"step {one.step} is system text, which says nothing about the user")
        elif one.users_word and not heard.said_by_user:
            told.append(f"step {one.step} was not said by the user; what is {one.kind} needs the user's own words")
        told += self._wrong_handles(one)
        if one.operation in ("add", "supersede"):
            told += [f"{name} is empty" for name in one.required if not _filled(getattr(one, name))]
        elif one.operation == "update" and not any(_filled(getattr(one, name)) for name in one.own_fields()):
            told.append("it changes nothing; give the fields that change, or leave it out")
        told += self._wrong_dates(one)
        if any(_invented(reference, heard, self.nearest) for reference in self._references(one)):
            told.append("it holds a {{vault:…}} reference that does not stand in its step; copy references as they are")
        return told + one.problems(heard)

    def proposals(self, operations: Sequence[ItemOperation], proposed_by: str) -> tuple[tuple[Proposal, ...], int]:
        """The proposals of those operations that hold, and how many were left out."""
        operations = [one for one in operations if not one.is_moot()]
        kept = [self._proposal(one, proposed_by) for one in operations[: self.most] if not self.problems(one)]
        return tuple(kept), len(operations) - len(kept)

    def _proposal(self, one: ItemOperation, proposed_by: str) -> Proposal:
        heard = self.batch.steps[one.step - 1]
        values = {}
        if one.operation != "remove":
            values = {name: self._restored(value) for name, value in one.item_values(heard).items()}
        metadata = {"slot": values.pop("slot", None), "said_by": None if heard.said_by_user else heard.step.role}
        metadata = {name: value for name, value in metadata.items() if value}
        if metadata and values:
            values["metadata"] = metadata
        quote, secret = self.restore(one.quote).strip(), one.secret_in(heard)
        if secret is not None and secret not in quote:
            quote = secret  # the evidence of a secret must quote it
        merged = one.merged if one.operation == "merge" else ()
        return Proposal(
            operation=one.operation,
            kind=self.form.kind,
            values=values,
            target=self.handles.get((one.target or "").strip()),
            merged=tuple(self.handles[handle] for handle in dict.fromkeys(map(str.strip, merged))),
            ends=tuple(self.handles[handle] for handle in dict.fromkeys(map(str.strip, one.ends))),
            evidence=(Evidence(step_id=heard.step.id, quote=quote),),
            secret=secret,
            proposed_by=proposed_by,
            confidence=0.9,
        )

    # ------------------------------------------------------------------ checks

    def _quoted(self, one: ItemOperation, heard: HeardStep) -> bool:
        quote = self.restore(one.quote).strip()
        return bool(quote) and len(quote) <= _LONGEST_QUOTE and stands_in(quote, heard)

    def _wrong_handles(self, one: ItemOperation) -> list[str]:
        target = (one.target or "").strip()
        if not {handle.strip() for handle in one.ends} <= set(self.handles):
            return ["ends names items that are not listed; give their handles, or none"]
        if one.operation == "add":
            return ["an add has no target; to change a known item use update or supersede"] if target else []
        if target not in self.handles:
            listed = f"{self.form.kind}1 to {self.form.kind}{len(self.handles)}" if self.handles else "none: use add"
            return [f"its target is no listed handle; those of this kind are {listed}"]
        merged = [handle.strip() for handle in one.merged]
        if one.operation == "merge" and (not merged or target in merged or not set(merged) <= set(self.handles)):
            return ["merge names no other listed items; give their handles in merged"]
        return []

    def _wrong_dates(self, one: ItemOperation) -> list[str]:
        told = []
        for name in ("valid_from", "valid_to", "occurred_at"):
            value = getattr(one, name, None)
            if value and not _is_date(value):
                told.append(f"{name} is no date; write 2025-03-01, or 2025-03-01T15:30 with a time, or null")
        return told

    def _references(self, one: ItemOperation) -> list[str]:
        texts = [getattr(one, name) for name in one.own_fields()]
        flat = [
            part for text in texts for part in (text if isinstance(text, list) else [text]) if isinstance(part, str)
        ]
        return [found for text in flat for found in _REFERENCE.findall(self.restore(text))]

    def _restored(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.restore(value)
        return [self.restore(part) for part in value] if isinstance(value, list) else value


def stands_in(quote: str, heard: HeardStep) -> bool:
    """Whether a quote stands in a step: in its content, in what is searched of it, or in its resolved text."""
    texts = dict.fromkeys((heard.step.content, heard.step.index_text, heard.resolved_text))
    return any(find_quote(quote, text) is not None for text in texts)


def salvaged_operations(data: object, operation: type[ItemOperation]) -> list[ItemOperation]:
    """The operations that can be read of a list in a reply, one by one; what is missing counts as null."""
    blank = dict.fromkeys((*operation.own_fields(), "target"))
    return salvaged(data, operation, **blank, merged=[], ends=[])


def _filled(value: object) -> bool:
    if isinstance(value, str):
        return bool(value.strip())
    return bool(value)


def _is_date(value: str) -> bool:
    text = value.strip()
    if _COARSE_DATE.fullmatch(text):
        return True
    if not _DATE.fullmatch(text):
        return False
    try:
        parse_time(text)
    except InvalidInputError:
        return False
    return True


def _invented(reference: str, heard: HeardStep, nearest: Mapping[str, MemoryItem]) -> bool:
    if reference in heard.step.content or reference in heard.step.index_text or reference in heard.resolved_text:
        return False
    return not any(reference in item.text for item in nearest.values())
