"""The log of recalls and feedback: to recognize repeated hits in new messages, and to learn a ranking from."""

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
    "JudgedRecall",
    "RecallRow",
    "log_recalls",
    "read_adjustment",
    "read_judged",
    "read_recall",
    "recall_row",
    "write_adjustment",
    "write_feedback",
]

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
    """The row of one recall.

    Args:
        hits: (id, score) of each, in the order shown.
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
    """Write recalls. Existing ones stay unchanged: a call that is interrupted after its commit writes them again."""
    if rows:
        values = [{"user_id": tx.user_id, **row} for row in rows]
        tx.connection.execute(insert_or_skip(tx.connection, recalls), values)


def read_recall(tx: Transaction, recall_id: str) -> RecallRow:
    """One logged recall.

    Raises:
        NotFoundError: if this user has no such recall.
    """
    row = tx.first(select(recalls).where(recalls.c.user_id == tx.user_id, recalls.c.id == recall_id))
    if row is None:
        raise NotFoundError(f"no recall {recall_id!r} for user {tx.user!r}; pass the id of a Recall")
    return dict(row._mapping)


@dataclass(frozen=True, kw_only=True, slots=True)
class JudgedRecall:
    """A recall with the feedback on its hits; ``operations`` as in :func:`recall_row`."""

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
            id=judged[0].id,
            query=judged[0].query,
            strategy=judged[0].strategy,
            hits=tuple(hit_id for hit_id, _ in judged[0].hits),
            operations=judged[0].operations,
            helped=frozenset(row.hit_id for row in judged if row.verdict == "helped"),
            hurt=frozenset(row.hit_id for row in judged if row.verdict == "hurt"),
        )
        for judged in list(by_id.values())[-most:]
    ]


def read_adjustment(tx: Transaction) -> dict[str, Any] | None:
    """The learned adjustment of the ranking of this user's recalls, if any."""
    row = tx.first(_SETTINGS, user=tx.user_id)
    return None if row is None else (row.settings or {}).get(_ADJUSTMENT)


def write_adjustment(tx: Transaction, adjustment: Mapping[str, Any] | None) -> None:
    """Store the learned adjustment of the ranking of this user's recalls; None deletes it."""
    row = tx.first(_SETTINGS, user=tx.user_id)
    settings = {name: value for name, value in ((row.settings if row else None) or {}).items() if name != _ADJUSTMENT}
    if adjustment is not None:
        settings[_ADJUSTMENT] = dict(adjustment)
    tx.connection.execute(update(users).where(users.c.id == tx.user_id).values(settings=settings))


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
        own = (feedback.c.user_id == tx.user_id) & (feedback.c.recall_id == recall_id) & (feedback.c.hit_id == hit_id)
        tx.connection.execute(delete(feedback).where(own))
        tx.connection.execute(
            insert(feedback).values(
                user_id=tx.user_id, recall_id=recall_id, hit_id=hit_id, verdict=verdict, created_at=utc_now()
            )
        )
