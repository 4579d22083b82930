"""What all reads of steps share: the join with their labels, and their indexed text."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Row, and_

from hexamem.stores.ledger.schema import intents, steps

__all__ = ["WITH_INTENT", "indexed_text"]

WITH_INTENT = and_(intents.c.user_id == steps.c.user_id, intents.c.step_id == steps.c.id)
"""Joins steps with their labels: ``select(...).outerjoin(intents, WITH_INTENT)``."""


def indexed_text(row: Row[Any]) -> str:
    """The text under which a step is indexed: that of its blocks where it differs, else its content.

    Args:
        row: a row with ``content`` and ``index_text`` of ``steps``.
    """
    return str(row.content if row.index_text is None else row.index_text)
