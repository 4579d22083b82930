"""What was shown to whom and whether it helped: needed to refuse re-learning it, and to learn from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal

from sqlalchemy import delete, insert, select

from ...errors import InvalidInputError, NotFoundError
from ...memory_types.base import utc_now
from .ledger import Transaction
from .schema import feedback, recalls

__all__ = ["RecallRow", "log_recalls", "read_recall", "write_feedback"]

RecallRow = dict[str, Any]


def recall_row(
    recall_id: str,
    query: str,
    strategy: str,
    hits: Sequence[tuple[str, float]],
    at: datetime,
    operations: Mapping[str, Any] | None = None,
) -> RecallRow:
    """The row of one recall: hits as (id, score) in the order shown.

    Args:
        operations: of a learned ranking: ``gate``, the weights of the operations; ``on``, those that ran; ``chance``, the
            probability with which these were chosen.
    """
    return {
        "id": recall_id,
        "query": query,
        "strategy": strategy,
        "hits": [[hit_id, round(score, 6)] for hit_id, score in hits],
        "created_at": at,
        "operations": None if operations is None else dict(operations),
    }


def log_recalls(tx: Transaction, rows: Sequence[RecallRow]) -> None:
    """Write recalls that were made."""
    if rows:
        tx.connection.execute(insert(recalls), [{"user_id": tx.user_id, **row} for row in rows])


def read_recall(tx: Transaction, recall_id: str) -> RecallRow:
    """One recall that was made.

    Raises:
        NotFoundError: if this user made no such recall.
    """
    row = tx.first(select(recalls).where(recalls.c.user_id == tx.user_id, recalls.c.id == recall_id))
    if row is None:
        raise NotFoundError(f"no recall {recall_id!r} for user {tx.user!r}; its id stands in Recall.id")
    return dict(row._mapping)


def write_feedback(tx: Transaction, recall_id: str, verdicts: dict[str, Literal["helped", "hurt"]]) -> None:
    """Say of hits of a recall whether they helped; a later word on the same hit replaces the earlier.

    Raises:
        NotFoundError: if this user made no such recall.
        InvalidInputError: if an id was not among its hits.
    """
    shown = {hit_id for hit_id, _ in read_recall(tx, recall_id)["hits"]}
    strange = sorted(set(verdicts) - shown)
    if strange:
        raise InvalidInputError(
            f"{', '.join(strange)} was not among the hits of recall {recall_id}; give ids from its hits"
        )
    for hit_id, verdict in verdicts.items():
        own = (feedback.c.user_id == tx.user_id) & (feedback.c.recall_id == recall_id) & (feedback.c.hit_id == hit_id)
        tx.connection.execute(delete(feedback).where(own))
        tx.connection.execute(
            insert(feedback).values(
                user_id=tx.user_id, recall_id=recall_id, hit_id=hit_id, verdict=verdict, created_at=utc_now()
            )
        )
