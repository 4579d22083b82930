"""Statements compiled once: the same rows as by SQLAlchemy, on lists of any length, and nothing hidden from listeners."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import bindparam, event, select, update

from hexamem import HexamemError, UserMemory
from hexamem.stores.ledger import Ledger, Transaction
from hexamem.stores.ledger.prepared import Prepared
from hexamem.stores.ledger.schema import steps, users

SAID = ["plain words", "nul \x00 and a lone surrogate \ud83d", "\ue0f0 marks \ue0f1", "茶 😀"]
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


@pytest.fixture
def filled(alice: UserMemory) -> tuple[Ledger, tuple[str, ...]]:
    told = alice.remember([{"role": "user", "content": said, "id": said} for said in SAID], metadata={"n": [1, "茶"]})
    return alice.memory.ledger, told.step_ids


def both_ways(tx: Transaction, statement: Prepared, **values: Any) -> tuple[list[Any], list[Any]]:
    """Rows as the transaction gives them, and as SQLAlchemy does."""
    assert tx.driver is not None
    usual = tx.connection.execute(statement.statement, values).all()
    return [dict(row._mapping) for row in tx.all(statement, **values)], [dict(row._mapping) for row in usual]


@pytest.mark.parametrize("count", [0, 1, 3, 4])
def test_a_prepared_select_gives_the_rows_that_sqlalchemy_gives(
    filled: tuple[Ledger, tuple[str, ...]], count: int
) -> None:
    ledger, ids = filled
    with ledger.read("alice") as tx:
        lean, usual = both_ways(tx, BY_ID, user=tx.user_id, ids=ids[:count], most=100)
    assert lean == usual
    assert [row["content"] for row in lean] == SAID[:count]
    assert all(row["metadata"] == {"n": [1, "茶"]} and row["occurred_at"].tzinfo is not None for row in lean)


@pytest.mark.parametrize("strange", ["\x00", "\ud83d", '"]', "'", ""])
def test_an_id_of_any_characters_is_looked_up_and_not_found(
    filled: tuple[Ledger, tuple[str, ...]], strange: str
) -> None:
    ledger, ids = filled
    with ledger.read("alice") as tx:
        lean, usual = both_ways(tx, BY_ID, user=tx.user_id, ids=[strange, ids[0]], most=100)
    assert lean == usual
    assert [row["id"] for row in lean] == [ids[0]]


def test_a_list_may_be_longer_than_sqlite_takes_parameters(filled: tuple[Ledger, tuple[str, ...]]) -> None:
    ledger, ids = filled
    with ledger.read("alice") as tx:
        found = tx.all(BY_ID, user=tx.user_id, ids=[*(f"step_{n}" for n in range(50_000)), ids[2]], most=100)
    assert [row.id for row in found] == [ids[2]]


def test_what_is_prepared_and_what_is_not_share_a_transaction(filled: tuple[Ledger, tuple[str, ...]]) -> None:
    ledger, _ = filled
    zone = select(users.c.timezone)
    with ledger.write("alice") as tx:
        assert tx.run(ZONE, user=tx.user_id, zone="Asia/Shanghai") == 1
        assert tx.connection.execute(zone).scalar_one() == "Asia/Shanghai"
    with suppress(RuntimeError), ledger.write("alice") as tx:
        tx.run(ZONE, user=tx.user_id, zone="UTC")
        assert tx.connection.execute(zone).scalar_one() == "UTC"
        raise RuntimeError("taken back")
    with ledger.read("alice") as tx:
        assert tx.connection.execute(zone).scalar_one() == "Asia/Shanghai"
    with ledger.write("alice") as tx:
        tx.connection.execute(update(users).values(timezone="Europe/Dublin"))
        assert tx.first(Prepared(zone)) == ("Europe/Dublin",)
    with ledger.read("alice") as tx:
        assert tx.timezone == "Europe/Dublin"


def test_whoever_listens_to_statements_hears_the_prepared_ones(filled: tuple[Ledger, tuple[str, ...]]) -> None:
    ledger, ids = filled
    heard: list[str] = []

    def hear(_c: Any, _cursor: Any, statement: str, *_: Any) -> None:
        heard.append(statement)

    event.listen(ledger.engine, "before_cursor_execute", hear)
    with ledger.read("alice") as tx:
        assert [row.id for row in tx.all(BY_ID, user=tx.user_id, ids=ids, most=2)] == list(ids[:2])
    event.remove(ledger.engine, "before_cursor_execute", hear)
    assert ["FROM users" in heard[0], "FROM steps" in heard[1]] == [True, True]


def test_errors_of_sqlite_itself_are_told_in_plain_words(tmp_path: Path) -> None:
    ledger = Ledger(f"sqlite:///{tmp_path}/other.sqlite3", "the place")
    with ledger.write("bob") as tx:
        tx.connection.exec_driver_sql("DROP TABLE steps")
    with (
        pytest.raises(HexamemError, match="the ledger at the place failed: no such table: steps"),
        ledger.read("bob") as tx,
    ):
        tx.all(BY_ID, user=tx.user_id, ids=[], most=1)
    ledger.close()
