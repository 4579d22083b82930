"""What was shown to whom and whether it helped: needed to refuse re-learning it, and to learn from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from sqlalchemy import bindparam, delete, insert, select, update

from hexamem.errors import InvalidInputError, NotFoundError
from hexamem.memory_types.base import utc_now
from hexamem.stores.ledger.ledger import Transaction, insert_or_skip
from hexamem.stores.ledger.prepared import Prepared
from hexamem.stores.ledger.schema import feedback, recalls, users

__all__ = [
    "JudgedRecall", "RecallRow", "log_recalls", "read_adjustment", "read_judged", "read_recall", "write_adjustment",
    "write_feedback",
]  # fmt: skip

RecallRow = dict[str, Any]
_ADJUSTMENT = "ranking"
_SETTINGS = Prepared(select(users.c.settings).where(users.c.id == bindparam("user")))


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
    """Write recalls that were made. One that is there is left: what was broken off after its commit is written again."""
    if rows:
        told = [{"user_id": tx.user_id, **row} for row in rows]
        tx.connection.execute(insert_or_skip(tx.connection, recalls), told)


def read_recall(tx: Transaction, recall_id: str) -> RecallRow:
    """One recall that was made.

    Raises:
        NotFoundError: if this user made no such recall.
    """
    row = tx.first(select(recalls).where(recalls.c.user_id == tx.user_id, recalls.c.id == recall_id))
    if row is None:
        raise NotFoundError(f"no recall {recall_id!r} for user {tx.user!r}; its id stands in Recall.id")
    return dict(row._mapping)


@dataclass(frozen=True, kw_only=True, slots=True)
class JudgedRecall:
    """A recall with what was said of its hits; ``operations`` as :func:`recall_row` takes them."""

    id: str
    query: str
    strategy: str
    hits: tuple[str, ...]
    operations: Mapping[str, Any] | None
    helped: frozenset[str]
    hurt: frozenset[str]


def read_judged(tx: Transaction, most: int = 1_000) -> list[JudgedRecall]:
    """The latest recalls with feedback, oldest first."""
    rows = tx.all(
        select(recalls, feedback.c.hit_id, feedback.c.verdict)
        .join(feedback, (feedback.c.user_id == recalls.c.user_id) & (feedback.c.recall_id == recalls.c.id))
        .where(recalls.c.user_id == tx.user_id)
        .order_by(recalls.c.created_at, recalls.c.id, feedback.c.hit_id)
    )
    by_id: dict[str, list[Any]] = {}
    for row in rows:
        by_id.setdefault(row.id, []).append(row)
    return [
        JudgedRecall(
            id=one[0].id,
            query=one[0].query,
            strategy=one[0].strategy,
            hits=tuple(hit_id for hit_id, _ in one[0].hits),
            operations=one[0].operations,
            helped=frozenset(row.hit_id for row in one if row.verdict == "helped"),
            hurt=frozenset(row.hit_id for row in one if row.verdict == "hurt"),
        )
        for one in list(by_id.values())[-most:]
    ]


def read_adjustment(tx: Transaction) -> dict[str, Any] | None:
    """What was learned of how this user's recalls are to be ranked; None for nothing."""
    row = tx.first(_SETTINGS, user=tx.user_id)
    return None if row is None else (row.settings or {}).get(_ADJUSTMENT)


def write_adjustment(tx: Transaction, adjustment: Mapping[str, Any] | None) -> None:
    """Keep what was learned of how this user's recalls are to be ranked; None takes it back. It goes with the user."""
    row = tx.first(_SETTINGS, user=tx.user_id)
    settings = {name: value for name, value in ((row.settings if row else None) or {}).items() if name != _ADJUSTMENT}
    if adjustment is not None:
        settings[_ADJUSTMENT] = dict(adjustment)
    tx.connection.execute(update(users).where(users.c.id == tx.user_id).values(settings=settings))


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
