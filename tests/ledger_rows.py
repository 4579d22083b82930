"""What tests count in a ledger."""

from __future__ import annotations

from sqlalchemy import func, select

from hexamem.stores.ledger import Transaction
from hexamem.stores.ledger.schema import USER_TABLES

__all__ = ["rows_left"]


def rows_left(tx: Transaction) -> dict[str, int]:
    """How many rows of the user each table holds; empty tables are left out."""
    counted = {
        table.name: select(func.count()).select_from(table).where(table.c.user_id == tx.user_id)
        for table in USER_TABLES
    }
    found = {name: int(tx.connection.execute(statement).scalar_one()) for name, statement in counted.items()}
    return {name: count for name, count in found.items() if count}
