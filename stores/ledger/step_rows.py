"""What every read of steps beside their labels shares: the join, and the text that stands for a step."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Row, and_

from hexamem.stores.ledger.schema import intents, steps

__all__ = ["WITH_INTENT", "indexed_text"]

WITH_INTENT = and_(intents.c.user_id == steps.c.user_id, intents.c.step_id == steps.c.id)
"""A step's own labels: ``select(...).outerjoin(intents, WITH_INTENT)``."""


def indexed_text(row: Row[Any]) -> str:
    """The text by which a step is found: what was indexed of its blocks, else what it says.

    Args:
        row: a row with ``content`` and ``index_text`` of ``steps``.
    """
    return str(row.content if row.index_text is None else row.index_text)
