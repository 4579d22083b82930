"""Parts of what steps say, taken out of every read and put back: the rest of the step stays.

As a forgotten step, what was taken out stands in the history alone, for undo.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import select, update

from hexamem.memory_types import Change
from hexamem.stores.ledger.labels import mark_corrected
from hexamem.stores.ledger.ledger import Transaction
from hexamem.stores.ledger.pages import blank_pages
from hexamem.stores.ledger.schema import steps

__all__ = ["apply_texts", "text_state"]


def text_state(tx: Transaction, step_id: str) -> dict[str, Any] | None:
    """What a step says now, in the form of a change; None where there is no such step."""
    row = tx.first(select(steps.c.content).where(steps.c.user_id == tx.user_id, steps.c.id == step_id))
    return None if row is None else {"content": row.content}


def apply_texts(tx: Transaction, made: Sequence[Change]) -> None:
    """Let steps say what changes of the target "text" give them; pages follow.

    What labels have of words that went is deleted by :func:`~.derived_texts.clear_derived_from_parts`, once history
    has the change.
    """
    new = {one.target_id: str(one.after["content"]) for one in made if one.target == "text" and one.after is not None}
    if not new:
        return
    blank_pages(tx, new)  # while it can be seen which references meant them
    for step_id, content in new.items():
        tx.connection.execute(
            update(steps)
            .where(steps.c.user_id == tx.user_id, steps.c.id == step_id)
            .values(content=content, change=tx.next_change())
        )
    mark_corrected(tx)
