"""Erasing a user from the ledger, and the state of the indexes that follow it."""

from __future__ import annotations

from sqlalchemy import delete, func, insert, select, update

from .ledger import Transaction
from .schema import USER_TABLES, projections, users

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


def rows_left(tx: Transaction) -> dict[str, int]:
    """How many rows of the user each table holds: for receipts and tests."""
    found = {
        table.name: int(
            tx.connection.execute(
                select(func.count()).select_from(table).where(table.c.user_id == tx.user_id)
            ).scalar_one()
        )
        for table in USER_TABLES
    }
    return {name: count for name, count in found.items() if count}


def read_projections(tx: Transaction, home: str) -> dict[str, int]:
    """How far each index of a home has come: name → the last change number it holds."""
    own = (projections.c.user_id == tx.user_id) & (projections.c.home == home)
    rows = tx.all(select(projections.c.name, projections.c.change).where(own))
    return {row.name: row.change for row in rows}


def set_projection(tx: Transaction, home: str, name: str, change: int) -> None:
    """Say how far an index of a home has come."""
    own = (projections.c.user_id == tx.user_id) & (projections.c.home == home) & (projections.c.name == name)
    if tx.connection.execute(update(projections).where(own).values(change=change)).rowcount == 0:
        tx.connection.execute(insert(projections).values(user_id=tx.user_id, home=home, name=name, change=change))
