"""Erasing a user from the ledger, and the state of the indexes that follow it."""

from __future__ import annotations

from sqlalchemy import bindparam, delete, insert, select, update

from hexamem.stores.ledger.ledger import Transaction
from hexamem.stores.ledger.prepared import Prepared
from hexamem.stores.ledger.schema import USER_TABLES, projections, users

__all__ = ["erase_rows", "read_projections", "set_projection"]


def erase_rows(tx: Transaction) -> dict[str, int]:
    """Delete every row of the user, the user's own last; returns how many went from each table."""
    counts: dict[str, int] = {}
    for table in USER_TABLES:
        gone = tx.connection.execute(delete(table).where(table.c.user_id == tx.user_id)).rowcount
        if gone:
            counts[table.name] = gone
    counts["users"] = tx.connection.execute(delete(users).where(users.c.id == tx.user_id)).rowcount
    return counts


_PROJECTIONS = Prepared(
    select(projections.c.name, projections.c.change).where(
        projections.c.user_id == bindparam("user"), projections.c.home == bindparam("home")
    )
)


_REACHED = Prepared(
    update(projections)
    .where(
        projections.c.user_id == bindparam("user"),
        projections.c.home == bindparam("of_home"),
        projections.c.name == bindparam("index"),
    )
    .values(change=bindparam("reached"))
)

_FIRST_REACHED = Prepared(
    insert(projections).values(
        user_id=bindparam("user"), home=bindparam("of_home"), name=bindparam("index"), change=bindparam("reached")
    )
)


def read_projections(tx: Transaction, home: str) -> dict[str, int]:
    """How far each index of a home has come: name → the last change number it holds."""
    return {row.name: row.change for row in tx.all(_PROJECTIONS, user=tx.user_id, home=home)}


def set_projection(tx: Transaction, home: str, name: str, change: int) -> None:
    """Say how far an index of a home has come."""
    if tx.run(_REACHED, user=tx.user_id, of_home=home, index=name, reached=change) == 0:
        tx.run(_FIRST_REACHED, user=tx.user_id, of_home=home, index=name, reached=change)
