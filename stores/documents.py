"""What of a step or item goes into the indexes: its text for both, its fields for filtering."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from ..memory_types import MemoryItem, Step
from .ledger import IndexedStep, event_time
from .lexical.tokens import repair_surrogates
from .secrets import find_references

__all__ = ["Document", "item_document", "step_document"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Document:
    """One record as the indexes see it."""

    id: str
    text: str
    kind: str
    thread_id: str = ""
    speaker: str = ""
    occurred_at: datetime
    labels: tuple[str, ...] = ()
    active: bool = True

    @property
    def metadata(self) -> Mapping[str, str | int | float | bool | list[str]]:
        """For Chroma: labels by name, and the kind of an item.

        Nothing else, since each key costs a tenth of the speed of adding and filters read the ledger. Chroma takes
        valid Unicode only, so lone surrogates are replaced here.
        """
        values: dict[str, str | int | float | bool | list[str]] = {} if self.kind == "step" else {"kind": self.kind}
        if self.labels:
            values["labels"] = [repair_surrogates(label) for label in self.labels]
        return values


def _searchable(text: str) -> str:
    """The text with each secret's caption alone in place of its reference: an id says nothing to a search."""
    for found in reversed(find_references(text)):
        text = f"{text[: found.start]}{found.caption}{text[found.end :]}"
    return text


def step_document(step: Step | IndexedStep, labels: tuple[str, ...] = ()) -> Document:
    """A step: who said it stands before what was said, since questions name people."""
    return Document(
        id=step.id,
        text=_searchable(f"{step.name}: {step.index_text}" if step.name else step.index_text),
        kind="step",
        thread_id=step.thread_id,
        speaker=step.speaker,
        occurred_at=step.occurred_at,
        labels=labels,
        active=step.status == "active",
    )


def item_document(item: MemoryItem) -> Document:
    """An item: its kind's own searched fields. Superseded items stay; merged and removed ones leave."""
    return Document(
        id=item.id,
        text=_searchable(item.text),
        kind=item.kind,
        occurred_at=event_time(item),
        labels=item.labels,
        active=item.status in ("active", "superseded"),
    )
