"""Statements compiled once: the same rows as by SQLAlchemy, on lists of any length, in the same transaction."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import bindparam, event, select, update

from hexamem import HexamemError, UserMemory
from hexamem.stores.ledger import Ledger
from hexamem.stores.ledger.prepared import Prepared
from hexamem.stores.ledger.schema import steps, users

TEXTS = ["plain words", "nul \x00 and a lone surrogate \ud83d", "\ue0f0 marks \ue0f1", "茶 😀"]
BY_ID = Prepared(
    select(steps)
    .where(
        steps.c.user_id == bindparam("user"),
        steps.c.id.in_(bindparam("ids", expanding=True)),
        steps.c.role.in_(["user", "tool"]),
        steps.c.status == "active",
    )
    .order_by(steps.c.turn)
    .limit(bindparam("most"))
)
ZONE = Prepared(update(users).where(users.c.id == bindparam("user")).values(timezone=bindparam("zone")))


def test_a_prepared_select_gives_the_rows_that_sqlalchemy_gives_for_lists_of_any_length(alice: UserMemory) -> None:
    ids = alice.remember([{"role": "user", "content": text} for text in TEXTS], metadata={"n": [1, "茶"]}).step_ids
    with alice.memory.ledger.read("alice") as tx:
        for wanted in ([], ids[:1], ids, ["\x00", "\ud83d", '"]', "'", "", ids[0]]):
            values: Any = {"user": tx.user_id, "ids": wanted, "most": 100}
            rows = [dict(row._mapping) for row in tx.all(BY_ID, **values)]
            assert rows == [dict(row._mapping) for row in tx.connection.execute(BY_ID.statement, values)]
            assert [row["id"] for row in rows] == [step for step in ids if step in wanted]
        assert [row.content for row in tx.all(BY_ID, user=tx.user_id, ids=ids, most=3)] == TEXTS[:3]
        many = [*(f"step_{number}" for number in range(50_000)), ids[2]]  # more than SQLite takes parameters
        (row,) = tx.all(BY_ID, user=tx.user_id, ids=many, most=100)
    assert (row.id, row.metadata) == (ids[2], {"n": [1, "茶"]})


def test_listeners_of_the_engine_see_prepared_statements(alice: UserMemory) -> None:
    ids = alice.remember("x").step_ids
    ledger, statements = alice.memory.ledger, list[str]()

    def listen(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        statements.append(statement)

    event.listen(ledger.engine, "before_cursor_execute", listen)
    with ledger.read("alice") as tx:
        assert tx.all(BY_ID, user=tx.user_id, ids=ids, most=2)
    event.remove(ledger.engine, "before_cursor_execute", listen)
    assert "FROM steps" in statements[-1]


def test_prepared_and_other_statements_share_a_transaction(alice: UserMemory) -> None:
    alice.remember("x")
    ledger, zone = alice.memory.ledger, select(users.c.timezone)
    with ledger.write("alice") as tx:
        assert tx.run(ZONE, user=tx.user_id, zone="Asia/Shanghai") == 1
        assert tx.connection.execute(zone).scalar_one() == "Asia/Shanghai"
    with suppress(RuntimeError), ledger.write("alice") as tx:
        tx.run(ZONE, user=tx.user_id, zone="UTC")
        raise RuntimeError("rolled back")
    with ledger.write("alice") as tx:
        assert tx.connection.execute(zone).scalar_one() == "Asia/Shanghai"
        tx.connection.execute(update(users).values(timezone="Europe/Dublin"))
        assert tx.first(Prepared(zone)) == ("Europe/Dublin",)
    with ledger.read("alice") as tx:
        assert tx.timezone == "Europe/Dublin"


def test_errors_of_sqlite_itself_are_plain(tmp_path: Path) -> None:
    ledger = Ledger(f"sqlite:///{tmp_path}/other.sqlite3", "the place")
    with ledger.write("bob") as tx:
        tx.connection.exec_driver_sql("DROP TABLE steps")
    failed = pytest.raises(HexamemError, match="the ledger at the place failed: no such table: steps")
    with failed, ledger.read("bob") as tx:
        tx.all(BY_ID, user=tx.user_id, ids=[], most=1)
    ledger.close()
