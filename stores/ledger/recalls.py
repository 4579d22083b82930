"""The log of recalls and feedback: to recognize repeated hits in new messages, and to evaluate by."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Literal

from sqlalchemy import delete, insert, select

from hexamem.errors import InvalidInputError, NotFoundError
from hexamem.memory_types.base import utc_now
from hexamem.stores.ledger.ledger import Transaction, insert_or_skip
from hexamem.stores.ledger.schema import feedback, recalls

__all__ = ["RecallRow", "log_recalls", "read_recall", "recall_row", "write_feedback"]

RecallRow = dict[str, Any]


def recall_row(recall_id: str, query: str, strategy: str, hits: Sequence[tuple[str, float]], at: datetime) -> RecallRow:
    """The row of one recall.

    Args:
        hits: (id, score) of each, in the order shown.
    """
    return {
        "id": recall_id,
        "query": query,
        "strategy": strategy,
        "hits": [[hit_id, round(score, 6)] for hit_id, score in hits],
        "created_at": at,
    }


def log_recalls(tx: Transaction, rows: Sequence[RecallRow]) -> None:
    """Write recalls. Existing ones stay unchanged: a call that is interrupted after its commit writes them again."""
    if rows:
        values = [{"user_id": tx.user_id, **row} for row in rows]
        tx.connection.execute(insert_or_skip(tx.connection, recalls), values)


def read_recall(tx: Transaction, recall_id: str) -> RecallRow:
    """One logged recall.

    Raises:
        NotFoundError: if this user has no such recall.
    """
    row = tx.first(select(recalls).where(tx.own(recalls), recalls.c.id == recall_id))
    if row is None:
        raise NotFoundError(f"no recall {recall_id!r} for user {tx.user!r}; pass the id of a Recall")
    return dict(row._mapping)


def write_feedback(tx: Transaction, recall_id: str, verdicts: dict[str, Literal["helped", "hurt"]]) -> None:
    """Store whether hits of a recall helped; a later verdict on the same hit replaces the earlier one.

    Raises:
        NotFoundError: if this user has no such recall.
        InvalidInputError: if an id was not among its hits.
    """
    shown = {hit_id for hit_id, _ in read_recall(tx, recall_id)["hits"]}
    unknown = sorted(set(verdicts) - shown)
    if unknown:
        raise InvalidInputError(
            f"{', '.join(unknown)} was not among the hits of recall {recall_id}; pass ids of its hits"
        )
    for hit_id, verdict in verdicts.items():
        own = tx.own(feedback) & (feedback.c.recall_id == recall_id) & (feedback.c.hit_id == hit_id)
        tx.connection.execute(delete(feedback).where(own))
        tx.connection.execute(
            insert(feedback).values(
                user_id=tx.user_id, recall_id=recall_id, hit_id=hit_id, verdict=verdict, created_at=utc_now()
            )
        )
