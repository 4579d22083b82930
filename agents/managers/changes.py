"""The compact form of the operations in the reply of mode ``single_call``: one shape for all types that ship.

A schema with the fields of each type is four times as long, and each reply repeats the names of fields that stay null.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from hexamem.agents.managers.forms import FORMS, ItemOperation
from hexamem.memory_types import ItemKind

__all__ = ["ItemChange", "operations_of"]

_PERIOD = ".."
_FIELDS: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "core": {"about": "label", "text": "value", "attribute": "slot"},
        "episodic": {"about": "actor", "text": "summary"},
        "semantic": {"about": "name", "text": "summary", "attribute": "slot"},
        "procedural": {"text": "summary"},
        "resource": {"about": "title", "text": "summary"},
        "vault": {"about": "entry_type", "text": "caption", "attribute": "slot"},
    }
)
"""Type → field of the compact form → field of the type."""


class ItemChange(BaseModel):
    """One operation on an item; null where nothing is stated."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    type: Literal["core", "episodic", "semantic", "procedural", "resource", "vault"]
    op: Literal["add", "update", "supersede", "merge", "remove"]
    targets: list[str]  # handles of known items: the one that changes, then those that merge into it or end with it
    step: int
    quote: str
    about: str | None  # this, text and attribute are fields of the type, see _FIELDS
    text: str | None
    attribute: str | None
    when: str | None  # a date or period: 2024-09-07, 2024-W37, 2024-09, 2024-summer, 2024, 2024-09-07..2024-09-12
    parts: list[str]  # the steps of a procedure, the first and last words of a document, or a secret


def operations_of(changes: Iterable[ItemChange]) -> dict[ItemKind, list[ItemOperation]]:
    """The operations by type, in the form that the type's manager proposes."""
    operations: dict[ItemKind, list[ItemOperation]] = {kind: [] for kind in FORMS}
    for change in changes:
        operations[change.type].append(_operation(change))
    return operations


def _operation(change: ItemChange) -> ItemOperation:
    form = FORMS[change.type]
    target, others = next(iter(change.targets), None), change.targets[1:]
    since, _, until = (change.when or "").partition(_PERIOD)
    values: dict[str, Any] = dict.fromkeys(form.own_fields())
    values |= {field: getattr(change, name) for name, field in _FIELDS[change.type].items()}
    values |= {"occurred_at": since or until or None, "valid_from": since or None, "valid_to": until or None}
    if change.type == "procedural":
        values["steps"] = change.parts or None
    elif change.type == "resource" and len(change.parts) > 1:
        values["first_words"], values["last_words"] = change.parts[0], change.parts[-1]
    elif change.type == "vault":
        values["secret"] = change.parts[0] if change.parts else None
    return form(
        step=change.step,
        quote=change.quote,
        operation=change.op,
        target=target,
        merged=others if change.op == "merge" else [],
        ends=others if change.op != "merge" else [],
        **{name: value for name, value in values.items() if name in form.model_fields},
    )
