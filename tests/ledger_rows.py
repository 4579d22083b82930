"""What tests count in a ledger, and how they let it fail."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from sqlalchemy import func, select

from hexamem.stores.ledger import Transaction
from hexamem.stores.ledger.schema import USER_TABLES

__all__ = ["failing_inserts", "rows_left"]


def rows_left(tx: Transaction) -> dict[str, int]:
    """How many rows of the user each table holds; empty tables are left out."""
    counted = {
        table.name: select(func.count()).select_from(table).where(table.c.user_id == tx.user_id)
        for table in USER_TABLES
    }
    found = {name: int(tx.connection.execute(statement).scalar_one()) for name, statement in counted.items()}
    return {name: count for name, count in found.items() if count}


@contextmanager
def failing_inserts(home: Path, table: str, message: str = "database or disk is full") -> Iterator[None]:
    """Every insert into the table fails with SQLite's message within the block."""
    with closing(sqlite3.connect(home / "ledger.sqlite3")) as database:
        raising = f"BEGIN SELECT RAISE(ABORT, '{message}'); END"
        database.execute(f"CREATE TRIGGER failing BEFORE INSERT ON {table} {raising}")
        try:
            yield
        finally:
            database.execute("DROP TRIGGER failing")
