"""The table ``hidden``: names, gists and texts that are put away, each with the forgotten steps that hold it back."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from sqlalchemy import bindparam, delete, insert, select

from hexamem.stores.ledger.labels import StepIntent
from hexamem.stores.ledger.ledger import Transaction, chunks
from hexamem.stores.ledger.prepared import Prepared
from hexamem.stores.ledger.schema import hidden

__all__ = ["Hidden", "Target", "drop_hidden", "kept_name", "kept_names", "read_hidden", "with_kept", "write_hidden"]

Target = Literal["label", "intent", "gist"]
"""What is kept: the name of a label, the resolved text and summary of a step's intent, what a scope was about."""


@dataclass(slots=True)
class Hidden:
    """A row of the table: what is kept, and the forgotten steps whose words it holds."""

    target: Target
    target_id: str
    by: set[str]
    kept: Any


_OF_KIND = select(hidden).where(hidden.c.user_id == bindparam("user"), hidden.c.target == bindparam("target"))
_ALL = Prepared(_OF_KIND)
_SOME = Prepared(_OF_KIND.where(hidden.c.target_id.in_(bindparam("ids", expanding=True))))


def read_hidden(tx: Transaction, target: Target, ids: Collection[str] | None = None) -> dict[str, Hidden]:
    """The rows of one kind by what they belong to, all or those of some ids."""
    if ids is None:
        found = tx.all(_ALL, user=tx.user_id, target=target)
    else:
        found = [row for part in chunks(ids) for row in tx.all(_SOME, user=tx.user_id, target=target, ids=part)]
    return {row.target_id: Hidden(target, row.target_id, set(row.by), row.kept) for row in found}


def write_hidden(tx: Transaction, row: Hidden) -> None:
    """Write a row, in place of the one that may be there."""
    drop_hidden(tx, row.target, row.target_id)
    values = {"target": row.target, "target_id": row.target_id, "by": sorted(row.by), "kept": row.kept}
    tx.connection.execute(insert(hidden).values(user_id=tx.user_id, **values))


def drop_hidden(tx: Transaction, target: Target, target_id: str) -> None:
    """Delete a row if it is there."""
    own = (hidden.c.user_id == tx.user_id) & (hidden.c.target == target) & (hidden.c.target_id == target_id)
    tx.connection.execute(delete(hidden).where(own))


def kept_name(tx: Transaction, label_id: str) -> str | None:
    """The name of a label that is put away; None where it has it."""
    row = read_hidden(tx, "label", [label_id]).get(label_id)
    return None if row is None else str(row.kept)


def kept_names(tx: Transaction) -> dict[str, str]:
    """The names that are put away, by label."""
    return {one: str(row.kept) for one, row in read_hidden(tx, "label").items()}


def with_kept(tx: Transaction, found: Mapping[str, StepIntent]) -> dict[str, StepIntent]:
    """Intents as they are without anything put away: what history compares and changes."""
    kept = read_hidden(tx, "intent", found.keys())
    return {one: replace(intent, **kept[one].kept) if one in kept else intent for one, intent in found.items()}
