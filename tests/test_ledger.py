"""The ledger: what its database is set to, its version and migrations, exact values, change numbers, users apart."""
# ruff: noqa: F811 - fixtures come by import

from __future__ import annotations

import shutil
import sqlite3
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import (
    BigInteger,
    Column,
    Integer,
    MetaData,
    Select,
    Table,
    create_engine,
    insert,
    inspect,
    select,
    text,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import ResourceClosedError
from sqlalchemy.schema import CreateIndex, CreateTable

from hexamem import Memory, UserMemory
from hexamem.errors import ConfigError, CorruptFileError, HexamemError, InvalidInputError, NotFoundError
from hexamem.memory_types import SemanticItem, Step, Where, new_id
from hexamem.memory_types.times import from_micros
from hexamem.stores.ledger import (
    Ledger,
    append_steps,
    changed_items,
    changed_steps,
    get_items,
    get_steps,
    item_change,
    known_messages,
    read_projections,
    record_operation,
    select_step_ids,
    set_projection,
)
from hexamem.stores.ledger.columns import IdText, JsonText, LosslessText, Micros, decode_text, encode_text
from hexamem.stores.ledger.migrations import VERSION, migrate, read_version
from hexamem.stores.ledger.schema import USER_TABLES, labelings, labels, metadata, steps, users
from hexamem.stores.ledger.steps import neighbours, set_step_status

from .ledger_databases import NewDatabase, each_ledger, each_memory, each_user, new_database  # noqa: F401
from .ledger_rows import rows_left

FEW = settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
ANY_TEXT = st.text(st.characters(codec=None) | st.sampled_from('\x00\ud800\udfff\ue0f0\ue0f1\n"\\0f😀我'))
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | ANY_TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(ANY_TEXT, inner, max_size=3),
    max_leaves=8,
)


@pytest.fixture
def embedded(tmp_path: Path) -> Iterator[Ledger]:
    """A new ledger in a SQLite file."""
    ledger = Ledger.open(tmp_path)
    yield ledger
    ledger.close()


def step(number: int, **fields: Any) -> Step:
    """A step whose turn and seq are the number."""
    said = f"message {number}"
    return Step(
        **{"user": "u", "thread_id": "t", "turn": number, "seq": number, "role": "user", "content": said}
        | {"index_text": said}
        | fields
    )


# -- settings ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pragma", "value"),
    [("journal_mode", "wal"), ("foreign_keys", 1), ("secure_delete", 1), ("synchronous", 2), ("busy_timeout", 10_000)],
)
def test_sqlite_is_set_so_that_nothing_acknowledged_is_lost(embedded: Ledger, pragma: str, value: object) -> None:
    with embedded.write("u") as writing, embedded.read("u") as reading:
        found = [tx.connection.exec_driver_sql(f"PRAGMA {pragma}").scalar() for tx in (writing, reading)]
    assert found == [value, value]


def test_a_write_takes_the_lock_at_its_start_and_a_read_takes_none(embedded: Ledger) -> None:
    with embedded.write("u") as tx:
        other = sqlite3.connect(embedded.engine.url.database or "", timeout=0)
        assert other.execute("SELECT count(*) FROM users").fetchone() == (0,)
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            other.execute("BEGIN IMMEDIATE")
        assert tx.user_id
        other.close()


def test_deleted_words_are_overwritten_in_the_file(embedded: Ledger) -> None:
    file = Path(embedded.engine.url.database or "")
    with embedded.write("u") as tx:
        append_steps(tx, [step(1, content="the canary sings")])
    embedded.checkpoint()
    assert b"canary" in file.read_bytes()
    with embedded.write("u") as tx:
        tx.connection.execute(steps.delete())
    embedded.checkpoint()
    assert not any(b"canary" in part.read_bytes() for part in file.parent.glob("ledger.sqlite3*"))


def test_a_home_may_have_any_name(tmp_path: Path) -> None:
    home = tmp_path / "what? 100% mine #1 ü;"
    home.mkdir()
    ledger = Ledger.open(home)
    with ledger.write("u"):
        pass
    ledger.close()
    assert [one.name for one in home.iterdir()] == ["ledger.sqlite3"]


@pytest.mark.parametrize(
    "url",
    [
        "postgresql+psycopg2cffi://me:hunter2@host/db",
        "nothing://me:hunter2@host/db?password=hunter2",
        "mysql://me:hunter2@host/db",
        "me:hunter2@host",
    ],
)
def test_a_url_that_cannot_be_used_is_refused_without_showing_its_password(url: str) -> None:
    with pytest.raises(ConfigError) as refused:
        Ledger(url)
    assert "hunter2" not in str(refused.value)
    assert "postgresql+psycopg://" in str(refused.value)


def test_a_server_that_cannot_be_reached_is_named_without_the_password() -> None:
    with pytest.raises(HexamemError, match=r"127\.0\.0\.1") as refused:
        Ledger("postgresql://me:hunter2@127.0.0.1:1/db?application_name=hunter2")
    assert "hunter2" not in str(refused.value)


def test_an_error_of_the_database_tells_no_private_words(each_ledger: Ledger) -> None:
    with pytest.raises(HexamemError) as refused, each_ledger.write("private errors") as tx:
        append_steps(tx, [step(1, thread_id="hunter2"), step(1, thread_id="hunter2")])
    assert "hunter2" not in str(refused.value)
    assert refused.value.__cause__ is None


# -- version and migrations --------------------------------------------------------------------------------------


def test_a_new_ledger_has_a_version_row(each_ledger: Ledger) -> None:
    assert each_ledger.settings()["version"] == str(VERSION)
    with each_ledger.engine.connect() as connection:
        assert read_version(connection) == VERSION


def test_opening_again_changes_nothing(new_database: NewDatabase) -> None:
    url = new_database()
    with_user = Ledger(url)
    with with_user.write("u"):
        pass
    with_user.close()
    again = Ledger(url)
    assert (again.users(), again.settings()) == (["u"], {"version": str(VERSION)})
    again.close()


def test_migrations_run_in_order_from_the_version_that_is_there(new_database: NewDatabase) -> None:
    engine = create_engine(new_database())
    ran: list[int] = []
    migrations = {number: lambda connection, number=number: ran.append(number) for number in (2, 3, 4)}
    assert migrate(engine, {}, 1) == 1
    assert migrate(engine, migrations, 2) == 1
    assert migrate(engine, migrations, 4) == 2
    assert migrate(engine, migrations, 4) == 4
    assert ran == [2, 3, 4]
    with engine.connect() as connection:
        assert read_version(connection) == 4
    engine.dispose()


def test_a_migration_that_fails_leaves_the_ledger_as_it_was(new_database: NewDatabase) -> None:
    url = new_database()
    ledger = Ledger(url)
    with ledger.write("u") as tx:
        append_steps(tx, [step(1)])
    next_one, last = VERSION + 1, VERSION + 2

    def add_column(connection: Any) -> None:
        connection.execute(text("ALTER TABLE steps ADD COLUMN mood TEXT"))
        connection.execute(text("UPDATE steps SET mood = 'glad'"))

    def fail(connection: Any) -> None:
        connection.execute(text("CREATE TABLE half (id INTEGER)"))
        raise RuntimeError("the power went")

    with pytest.raises(RuntimeError, match="the power went"):
        migrate(ledger.engine, {next_one: add_column, last: fail}, last)
    seen = inspect(ledger.engine)
    assert "half" not in seen.get_table_names()
    assert "mood" not in {column["name"] for column in seen.get_columns("steps")}
    assert ledger.settings()["version"] == str(VERSION)
    assert migrate(ledger.engine, {next_one: add_column, last: lambda connection: None}, last) == VERSION
    with ledger.read("u") as tx:
        assert tx.connection.execute(text("SELECT mood FROM steps")).scalars().all() == ["glad"]
    ledger.close()


def test_a_ledger_of_the_first_version_gets_what_came_since(new_database: NewDatabase) -> None:
    url = new_database()
    first = Ledger(url)
    with first.engine.begin() as connection:
        connection.execute(text("ALTER TABLE recalls DROP COLUMN operations"))
        connection.execute(text("DROP INDEX ix_steps_seq"))
        connection.execute(text("UPDATE meta SET value = '1' WHERE key = 'version'"))
    first.close()
    again = Ledger(url)
    assert again.settings()["version"] == str(VERSION)
    assert "operations" in {column["name"] for column in inspect(again.engine).get_columns("recalls")}
    assert "ix_steps_seq" in {index["name"] for index in inspect(again.engine).get_indexes("steps")}
    again.close()


def test_a_missing_migration_is_named(new_database: NewDatabase) -> None:
    engine = create_engine(new_database())
    migrate(engine, {}, 1)
    with pytest.raises(CorruptFileError, match="no migration leads from ledger version 1 to 2"):
        migrate(engine, {3: lambda connection: None}, 3)
    engine.dispose()


def test_a_ledger_of_a_later_version_is_refused_with_what_to_do(tmp_path: Path, embedded: Ledger) -> None:
    embedded.set_settings({"version": "7"})
    embedded.checkpoint()
    shutil.copy(tmp_path / "ledger.sqlite3", tmp_path / "copy.sqlite3")
    with pytest.raises(
        CorruptFileError, match=rf"copy.sqlite3 has ledger version 7.*up to {VERSION}: install a newer hexamem"
    ):
        Ledger(f"sqlite:///{tmp_path}/copy.sqlite3")


@pytest.mark.parametrize("value", ["one", "", "-1", "²", None])
def test_a_version_row_that_is_no_number_is_refused(tmp_path: Path, embedded: Ledger, value: str | None) -> None:
    with embedded.engine.execution_options(hexamem_write=True).begin() as connection:
        connection.execute(text("DELETE FROM meta"))
        if value is not None:
            connection.execute(text("INSERT INTO meta VALUES ('version', :value)"), {"value": value})
    with pytest.raises(CorruptFileError, match="not a number"):
        Ledger.open(tmp_path)


@pytest.mark.parametrize(
    "table",
    [
        "CREATE TABLE customers (id INTEGER)",
        "CREATE TABLE steps (id INTEGER)",
        "CREATE TABLE meta (key TEXT, value TEXT)",
        "CREATE TABLE meta (name TEXT, content BLOB)",
    ],
)
def test_a_database_of_something_else_is_refused_and_left_alone(tmp_path: Path, table: str) -> None:
    file = tmp_path / "ledger.sqlite3"
    with sqlite3.connect(file) as foreign:
        foreign.execute(table)
    with pytest.raises(CorruptFileError, match=r"ledger.sqlite3 is not a ledger of Hexamem.*use another database"):
        Ledger.open(tmp_path)
    with sqlite3.connect(file) as foreign:
        assert foreign.execute("SELECT sql FROM sqlite_master").fetchall() == [(table,)]


def test_a_file_that_is_no_database_is_refused_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "ledger.sqlite3").write_bytes(b"a letter to a friend, not a database at all " * 50)
    with pytest.raises(CorruptFileError, match="damaged"):
        Ledger.open(tmp_path)
    assert (tmp_path / "ledger.sqlite3").read_bytes().startswith(b"a letter")


def test_two_that_open_a_new_database_at_once_make_one_ledger(new_database: NewDatabase) -> None:
    url = new_database()
    opened: list[Ledger] = []

    def open_and_write(name: str) -> None:
        ledger = Ledger(url)
        opened.append(ledger)
        with ledger.write("the same user") as tx:
            append_steps(tx, [step(tx.next_change(), thread_id=name)])

    in_threads([lambda name=name: open_and_write(name) for name in "abcd"])
    assert [ledger.users() for ledger in opened] == [["the same user"]] * 4
    for ledger in opened:
        ledger.close()


def in_threads(calls: list[Any]) -> None:
    """Run the calls at the same time; the first error is raised."""
    errors: list[BaseException] = []
    barrier = threading.Barrier(len(calls))

    def run(call: Any) -> None:
        try:
            barrier.wait()
            call()
        except BaseException as error:  # noqa: BLE001 - given to the test
            errors.append(error)

    threads = [threading.Thread(target=run, args=(call,)) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


# -- values ------------------------------------------------------------------------------------------------------


@given(ANY_TEXT)
def test_escaped_text_can_be_stored_anywhere_and_comes_back_exactly(value: str) -> None:
    escaped = encode_text(value)
    assert "\x00" not in escaped
    assert escaped.encode("utf-8").decode("utf-8") == escaped
    assert decode_text(escaped) == value


@given(ANY_TEXT, ANY_TEXT)
def test_different_texts_stay_different_when_escaped(one: str, other: str) -> None:
    assert (encode_text(one) == encode_text(other)) == (one == other)


VALUES = Table(
    "values_of_tests",
    MetaData(),
    Column("id", Integer, primary_key=True),
    Column("said", LosslessText),
    Column("json", JsonText),
    Column("at", Micros),
    Column("known", IdText),
    Column("big", BigInteger),
)


@FEW
@given(said=ANY_TEXT, json=JSON, at=st.datetimes(timezones=st.just(UTC)))
def test_any_text_json_and_time_come_back_from_each_database(
    each_ledger: Ledger, said: str, json: Any, at: datetime
) -> None:
    with each_ledger.engine.execution_options(hexamem_write=True).connect() as connection:
        transaction = connection.begin()
        VALUES.create(connection, checkfirst=True)
        connection.execute(insert(VALUES).values(said=said, json=json, at=at, known=said))
        row = connection.execute(select(VALUES).where(VALUES.c.said == said, VALUES.c.known == said)).one()
        transaction.rollback()
    assert (row.said, row.json, row.at) == (said, json, at)


def test_nothing_stays_nothing_in_each_column(each_ledger: Ledger) -> None:
    with each_ledger.engine.execution_options(hexamem_write=True).connect() as connection:
        transaction = connection.begin()
        VALUES.create(connection)
        connection.execute(insert(VALUES).values(id=1))
        assert tuple(connection.execute(select(VALUES)).one()) == (1, None, None, None, None, None)
        transaction.rollback()


def test_the_first_and_the_last_moment_are_kept_exactly_and_in_order(each_ledger: Ledger) -> None:
    moments = [
        datetime.min.replace(tzinfo=UTC),
        datetime(1969, 12, 31, 23, 59, 59, 999999, UTC),
        from_micros(0),
        datetime.max.replace(tzinfo=UTC),
    ]
    with each_ledger.write("moments") as tx:
        append_steps(tx, [step(number, occurred_at=at) for number, at in enumerate(moments, 1)])
    with each_ledger.read("moments") as tx:
        rows = tx.all(select(steps.c.occurred_at).where(steps.c.user_id == tx.user_id).order_by(steps.c.occurred_at))
    assert [row.occurred_at for row in rows] == moments


STRANGE = "\x00 \ud800\udc00 \ue0f00\ue0f1 '; DROP TABLE steps; -- %s %(x)s :y \\ \u202e😀"


def test_a_step_of_strange_text_in_every_field_comes_back_as_it_was(each_ledger: Ledger) -> None:
    told = step(
        1,
        user=STRANGE,
        thread_id=STRANGE,
        name=STRANGE,
        content=STRANGE,
        index_text=STRANGE + "!",
        blocks=({"type": "text", STRANGE: STRANGE},),
        reasoning=STRANGE,
        tool_call_id=STRANGE,
        message_id=STRANGE,
        agent_id=STRANGE,
        metadata={STRANGE: [STRANGE]},
    )
    with each_ledger.write(STRANGE) as tx:
        append_steps(tx, [told])
    with each_ledger.read(STRANGE) as tx:
        assert get_steps(tx, [told.id]) == {told.id: told}
        assert known_messages(tx, STRANGE, [STRANGE]) == {STRANGE: told.id}
        assert select_step_ids(tx, Where(thread_id=STRANGE, agent_id=STRANGE, speaker=STRANGE)) == {told.id}
        assert select_step_ids(tx, Where(metadata={STRANGE: [STRANGE]})) == {told.id}
    assert STRANGE in each_ledger.users()


def test_an_id_that_no_database_takes_is_simply_not_found(each_user: UserMemory) -> None:
    each_user.add({"kind": "semantic", "name": "a", "summary": "b"})
    for strange in (STRANGE, "x" * 100_000, ""):
        for call in (each_user.get, each_user.remove, each_user.undo, each_user.forget):
            with pytest.raises(NotFoundError):
                call(strange)
        assert each_user.history(strange) == []


@pytest.mark.parametrize("item_id", ["", "step_1", "a b", "ä", "a\n", "\x00", "x" * 65, "-a"])
def test_an_item_takes_only_an_id_that_every_database_and_index_takes(item_id: str) -> None:
    with pytest.raises(InvalidInputError, match="letters, digits"):
        SemanticItem.parse({"id": item_id, "name": "a", "summary": "b"})


@pytest.mark.parametrize("value", [{1, 2}, float("nan"), b"x", datetime(2024, 1, 1), [[object()]]])
def test_metadata_that_are_no_json_are_refused_before_they_are_written(each_user: UserMemory, value: object) -> None:
    with pytest.raises(InvalidInputError, match="metadata"):
        each_user.add({"kind": "semantic", "name": "a", "summary": "b", "metadata": {"key": value}})
    assert each_user.history() == []


def test_metadata_are_held_as_they_will_be_read_back(each_user: UserMemory) -> None:
    stored = each_user.add(
        {
            "kind": "semantic",
            "name": "a",
            "summary": "b",
            "metadata": {"a": (1, {2: "\ud83d\ude00\x00"}), "\ud800": 1.5},
        }
    )
    assert stored.metadata == {"a": [1, {"2": "\ud83d\ude00\x00"}], "\ud800": 1.5}
    assert each_user.get(stored.id) == stored
    each_user.undo(each_user.history(stored.id)[0].id)


# -- change numbers ----------------------------------------------------------------------------------------------


def test_change_numbers_rise_and_cover_each_row_that_changed(each_user: UserMemory, each_memory: Memory) -> None:
    ledger, name = each_memory.ledger, each_user.name

    def taken_in(since: int) -> tuple[dict[str, int], int]:
        with ledger.read(name) as tx:
            found = [(record.id, number) for number, record in changed_steps(tx, since, 1_000)]
            found += [(record.id, number) for number, record in changed_items(tx, since, 1_000)]
            return dict(found), tx.change

    first = each_user.remember(["I moved to Porto", "Nice", "It rains"], thread_id="a").step_ids
    seen, highest = taken_in(0)
    assert sorted(seen) == sorted(first)

    def changed_by(call: Any) -> Any:
        nonlocal seen, highest
        made = call()
        since = highest
        seen, highest = taken_in(since)
        assert all(since < number <= highest for number in seen.values())
        assert len(set(seen.values())) == len(seen)
        return made

    item = changed_by(
        lambda: each_user.add({"kind": "semantic", "name": "a", "summary": "b", "sources": [{"step_id": first[0]}]})
    )
    assert set(seen) == {item.id}
    changed_by(lambda: each_user.edit(item.id, summary="c"))
    assert set(seen) == {item.id}
    newer = changed_by(lambda: each_user.add({"kind": "semantic", "name": "a", "summary": "d"}, supersedes=item.id))
    assert set(seen) == {item.id, newer.id}
    forgotten = changed_by(lambda: each_user.forget([first[0], first[2]]))
    assert set(seen) == {first[0], first[2], item.id}
    changed_by(lambda: each_user.undo(forgotten.id))
    assert set(seen) == {first[0], first[2], item.id}
    changed_by(lambda: each_user.undo(each_user.history(newer.id)[0].id))
    assert set(seen) == {item.id, newer.id}
    changed_by(lambda: each_user.remove(item.id))
    assert set(seen) == {item.id}
    changed_by(lambda: each_user.redact("Porto"))
    assert {first[0]} <= set(seen)


def test_a_transaction_that_fails_takes_no_number_and_leaves_no_row(each_ledger: Ledger) -> None:
    with each_ledger.write("a failure") as tx:
        append_steps(tx, [step(tx.next_change())])

    def fail() -> None:
        with each_ledger.write("a failure") as tx:
            append_steps(tx, [step(tx.next_change())])
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    with each_ledger.read("a failure") as tx:
        assert (tx.change, [number for number, _ in changed_steps(tx, 0, 10)]) == (1, [1])


@pytest.mark.parametrize("writing", [False, True], ids=["read", "written"])
def test_a_transaction_that_has_ended_takes_no_more_statements(each_ledger: Ledger, writing: bool) -> None:
    user = f"ended {writing}"
    with each_ledger.write(user) as tx:
        tx.next_change()
    with (each_ledger.write if writing else each_ledger.read)(user) as tx:
        assert tx.change == 1
    with pytest.raises((RuntimeError, ResourceClosedError)):
        get_steps(tx, ["step_1"])
    with pytest.raises((RuntimeError, ResourceClosedError)):
        tx.next_change()
    with each_ledger.read(user) as tx:
        assert tx.change == 1


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt, SystemExit])
@pytest.mark.parametrize("joined", [False, True])
def test_whatever_ends_a_transaction_leaves_nothing_of_it_behind(
    each_ledger: Ledger, error: type[BaseException], joined: bool
) -> None:
    user = f"{error.__name__} {joined}"
    with each_ledger.write(user) as tx:
        tx.next_change()

    def fail() -> None:
        with each_ledger.write(user) as tx:
            tx.next_change()
            if joined:
                tx.connection.begin_nested()
                tx.next_change()
            raise error

    with pytest.raises(error):
        fail()
    with each_ledger.write(user) as tx:  # by the connection that was given back
        assert tx.change == 1


def test_a_user_of_a_transaction_that_fails_is_not_registered(each_ledger: Ledger) -> None:
    with pytest.raises(RuntimeError), each_ledger.write("never there"):
        raise RuntimeError
    with each_ledger.read("never there") as tx:
        assert tx.user_id == 0
    assert "never there" not in each_ledger.users()


def test_threads_that_write_the_same_user_wait_for_each_other(each_ledger: Ledger) -> None:
    each, writers = 12, 6

    def write(name: str) -> None:
        for _ in range(each):
            with each_ledger.write("busy") as tx:
                number = tx.next_change(2)
                append_steps(tx, [step(number, thread_id=name), step(number + 1, thread_id=name)])

    in_threads([lambda name=name: write(name) for name in "abcdef"[:writers]])
    with each_ledger.read("busy") as tx:
        numbers = [number for number, _ in changed_steps(tx, 0, 1_000)]
        assert tx.change == len(numbers) == 2 * each * writers
    assert numbers == list(range(1, len(numbers) + 1))


def test_writers_of_different_users_number_their_changes_apart(each_ledger: Ledger) -> None:
    def write(user: str) -> None:
        for _ in range(10):
            with each_ledger.write(user) as tx:
                append_steps(tx, [step(tx.next_change())])

    in_threads([lambda user=user: write(user) for user in ("east", "west", "south")])
    for user in ("east", "west", "south"):
        with each_ledger.read(user) as tx:
            assert [number for number, _ in changed_steps(tx, 0, 100)] == list(range(1, 11))


def test_a_read_shows_one_state_though_others_write(each_ledger: Ledger) -> None:
    with each_ledger.write("steady") as tx:
        append_steps(tx, [step(tx.next_change())])
    with each_ledger.read("steady") as reading:
        assert len(changed_steps(reading, 0, 10)) == 1
        with each_ledger.write("steady") as tx:
            append_steps(tx, [step(tx.next_change())])
        assert len(changed_steps(reading, 0, 10)) == 1
        assert reading.first(select(users.c.change).where(users.c.id == reading.user_id)).change == 1  # type: ignore[union-attr]
    with each_ledger.read("steady") as reading:
        assert len(changed_steps(reading, 0, 10)) == 2


# -- users apart -------------------------------------------------------------------------------------------------


def test_every_table_of_users_has_the_user_first_in_its_key() -> None:
    own = [table for table in metadata.tables.values() if table.name not in ("meta", "users")]
    assert set(own) == set(USER_TABLES)
    assert {table.name: next(column.name for column in table.primary_key) for table in own} == dict.fromkeys(
        (table.name for table in own), "user_id"
    )


def test_every_index_and_unique_rule_of_users_begins_with_the_user() -> None:
    indexes = [index for table in USER_TABLES for index in table.indexes if index.name != "ix_jobs_due"]
    rules = [rule for table in USER_TABLES for rule in table.constraints if rule.__visit_name__ == "unique_constraint"]
    assert len(indexes) + len(rules) > 10
    assert {next(iter(one.columns)).name for one in [*indexes, *rules]} == {"user_id"}  # type: ignore[attr-defined]


def test_every_reference_between_tables_carries_the_user() -> None:
    pairs = [
        {element.parent.name: element.column.name for element in key.elements}
        for table in USER_TABLES
        for key in table.foreign_key_constraints
        if key.referred_table is not users
    ]
    assert pairs
    assert all(pair["user_id"] == "user_id" for pair in pairs)


def test_two_users_may_hold_the_same_ids_and_each_sees_only_its_own(each_ledger: Ledger) -> None:
    shared = new_id("step")
    item = SemanticItem(name="a", summary="b")
    for user, said in (("twin one", "first words"), ("twin two", "second words")):
        with each_ledger.write(user) as tx:
            append_steps(tx, [step(tx.next_change(), id=shared, content=said, index_text=said)])
            record_operation(tx, "add", [item_change(None, item.changed(user=user, summary=said))])
            set_projection(tx, "home", "lexical.steps", len(said))
    with each_ledger.read("twin one") as tx:
        assert get_steps(tx, [shared])[shared].content == "first words"
        assert get_items(tx, [item.id])[item.id].text == "a\nfirst words"
        assert read_projections(tx, "home") == {"lexical.steps": 11}
        assert neighbours(tx, [shared], 5) == {}
        assert set(rows_left(tx)) == {"steps", "items", "operations", "changes", "projections"}
    with each_ledger.write("twin one") as tx:
        set_step_status(tx, [shared], "forgotten")
    with each_ledger.read("twin two") as tx:
        assert get_steps(tx, [shared])[shared].content == "second words"


def test_a_label_of_another_user_selects_nothing_even_under_the_same_id(each_ledger: Ledger) -> None:
    told = new_id("step")
    for user, name in (("labels one", "garden"), ("labels two", "kitchen")):
        with each_ledger.write(user) as tx:
            append_steps(tx, [step(tx.next_change(), id=told)])
            tx.connection.execute(
                insert(labels).values(
                    user_id=tx.user_id, id="label_1", kind="scope", name=name, created_at=from_micros(0)
                )
            )
            tx.connection.execute(
                insert(labelings).values(user_id=tx.user_id, target_id=told, label_id="label_1", target="step")
            )
    with each_ledger.read("labels one") as tx:
        assert select_step_ids(tx, Where(labels=("garden",))) == {told}
        assert select_step_ids(tx, Where(labels=("kitchen",))) == set()


def test_a_user_who_has_stored_nothing_has_nothing(each_ledger: Ledger) -> None:
    with each_ledger.read("stranger") as tx:
        assert (tx.user_id, tx.change, changed_steps(tx, 0, 10), rows_left(tx)) == (0, 0, [], {})


# -- PostgreSQL --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("table", metadata.sorted_tables, ids=lambda table: table.name)
def test_each_table_compiles_for_both_databases(table: Table) -> None:
    for dialect in (postgresql.dialect(), sqlite.dialect()):
        created = str(CreateTable(table).compile(dialect=dialect))
        assert f"CREATE TABLE {table.name}" in created
        for index in table.indexes:
            assert str(CreateIndex(index).compile(dialect=dialect)).startswith(("CREATE INDEX", "CREATE UNIQUE INDEX"))


@pytest.mark.parametrize("table", metadata.sorted_tables, ids=lambda table: table.name)
def test_no_column_of_words_has_a_length_that_postgresql_would_enforce(table: Table) -> None:
    ours = {"role", "status", "kind", "tier", "target", "verdict", "sensitivity", "outcome_source", "name", "key"}
    bounded = {column.name for column in table.c if getattr(column.type, "length", None)}
    assert bounded <= ours


def test_each_kind_of_statement_compiles_for_postgresql(embedded: Ledger, tmp_path: Path) -> None:
    from sqlalchemy import event

    seen: list[Any] = []
    with Memory.open(tmp_path / "home") as memory:
        event.listen(memory.ledger.engine, "before_execute", lambda _c, clause, *_: seen.append(clause))
        every_call(memory.user("alice"), tmp_path)
    kinds = {clause.__visit_name__ for clause in seen}
    assert {"select", "insert", "update", "delete"} <= kinds
    for clause in seen:
        if clause.__visit_name__ != "insert":  # an insert is compiled by its own dialect's class
            assert str(clause.compile(dialect=postgresql.dialect()))
    locking = [clause for clause in seen if isinstance(clause, Select) and clause._for_update_arg is not None]
    assert "FOR UPDATE" in str(locking[0].compile(dialect=postgresql.dialect()))


def every_call(user: UserMemory, folder: Path) -> dict[str, Any]:
    """Use every method that touches the ledger once; returns what they gave."""
    told = user.remember(
        [
            {"role": "user", "content": "I live in Hangzhou, my password is Tr0ub4dor&3xyz", "id": STRANGE[:20]},
            {"role": "assistant", "content": STRANGE + " 我喜欢茶"},
        ],
        thread_id="thread " + STRANGE,
        agent_id="agent",
        metadata={"place": "home"},
    )
    source = {"step_id": told.step_ids[0], "quote": "Hangzhou", "start": 10, "end": 18}
    home = user.add({"kind": "semantic", "name": "home", "summary": "lives in Hangzhou", "sources": [source]})
    user.edit(home.id, labels=["place"], metadata={"x": [1, STRANGE]})
    moved = user.add({"kind": "semantic", "name": "home", "summary": "lives in Shanghai"}, supersedes=home.id)
    vault = user.add({"kind": "vault", "caption": "the door code"}, secret="4711-0815-42")
    removed = user.remove(moved.id)
    undone = user.undo(removed.id)
    forgotten = user.forget([told.step_ids[1]])
    user.undo(forgotten.id)
    recall = user.recall("where do I live", k=5)
    user.feedback(recall.id, helped=[recall.hits[0].id])
    user.feedback(recall.id, hurt=[recall.hits[0].id])
    user.redact("我喜欢茶", caption="a drink")
    exported = user.export(folder / "export.jsonl", passphrase="open sesame")
    return {
        "told": told,
        "home": home,
        "moved": moved,
        "undone": undone,
        "recall": recall,
        "exported": exported,
        "secret": user.reveal(vault.id, reason="the test asks"),
        "reveals": user.reveals(),
        "items": user.items(
            "semantic", where={"thread_id": "thread " + STRANGE}, as_of="2020-01-01", known_at=home.created_at
        ),
        "filtered": user.recall(
            "Hangzhou", where={"speaker": "USER", "metadata": {"place": "home"}, "since": "2000-01-01"}
        ),
        "history": user.history(limit=3),
    }


def test_a_memory_works_end_to_end_on_each_database(each_user: UserMemory, each_memory: Memory, tmp_path: Path) -> None:
    made = every_call(each_user, tmp_path)
    assert "Hangzhou" in made["recall"].hits[0].text or "Shanghai" in made["recall"].hits[0].text
    assert made["secret"] == "4711-0815-42"
    assert [item.id for item in made["items"]] == [made["home"].id]
    assert {hit.id for hit in made["filtered"].hits if hit.kind == "step"} >= {made["told"].step_ids[0]}
    assert made["undone"][0].kind == "undo"
    before = each_user.recall("where do I live")
    items, history = each_user.items(), each_user.history()
    receipt = each_user.erase()
    assert receipt.rows["steps"] == 2
    with each_memory.ledger.read(each_user.name) as tx:
        assert tx.user_id == 0
        assert rows_left(tx) == {}
    assert each_user.recall("where do I live").hits == ()
    counts = each_user.import_(tmp_path / "export.jsonl", passphrase="open sesame")
    assert (counts["steps"], counts["secrets"]) == (2, receipt.rows["secrets"])
    assert each_user.items() == items
    assert each_user.history() == history
    assert [(hit.id, hit.text) for hit in each_user.recall("where do I live").hits] == [
        (hit.id, hit.text) for hit in before.hits
    ]
