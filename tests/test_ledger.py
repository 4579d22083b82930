"""The ledger: what its database is set to, versions and migrations, exact values, change numbers, users apart."""
# ruff: noqa: F811 - fixtures come by import

from __future__ import annotations

import shutil
import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import BigInteger, Column, Integer, MetaData, Select, Table, event, insert, inspect, select, text
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
from hexamem.stores.ledger.columns import IdText, JsonText, LosslessText, Micros
from hexamem.stores.ledger.migrations import VERSION, migrate
from hexamem.stores.ledger.schema import USER_TABLES, labelings, labels, metadata, steps, users
from hexamem.stores.ledger.steps import neighbours, set_step_status

from .ledger_databases import NewDatabase, each_ledger, each_memory, each_user, new_database  # noqa: F401
from .ledger_rows import rows_left
from .word_everywhere import fill

ANY_TEXT = st.text(st.characters(codec=None) | st.sampled_from('\x00\ud800\udfff\ue0f0\ue0f1\n"\\0f😀我'))
FLOATS = st.floats(allow_nan=False, allow_infinity=False)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | FLOATS | ANY_TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(ANY_TEXT, inner, max_size=3),
    max_leaves=8,
)
STRANGE = "\x00 \ud800\udc00 \ue0f00\ue0f1 '; DROP TABLE steps; -- %s %(x)s :y \\ \u202e😀"


@pytest.fixture
def embedded(tmp_path: Path) -> Iterator[Ledger]:
    """A new ledger in a SQLite file."""
    ledger = Ledger.open(tmp_path)
    yield ledger
    ledger.close()


def step(number: int, **fields: Any) -> Step:
    """A step whose turn and seq are the number."""
    given = {"user": "u", "thread_id": "t", "role": "user", "content": f"message {number}", "index_text": "text"}
    return Step(**{**given, "turn": number, "seq": number, **fields})


def in_threads(calls: Sequence[Callable[[], object]]) -> None:
    """Run the calls at the same time; the first error is raised."""
    errors: list[BaseException] = []
    barrier = threading.Barrier(len(calls))

    def run(call: Callable[[], object]) -> None:
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


# -- settings --------------------------------------------------------------------------------------------------------


def test_sqlite_is_set_so_that_nothing_acknowledged_is_lost(embedded: Ledger) -> None:
    pragmas = {"journal_mode": "wal", "foreign_keys": 1, "secure_delete": 1, "synchronous": 2, "busy_timeout": 10_000}
    with embedded.write("u") as writing, embedded.read("u") as reading:
        for pragma, value in pragmas.items():
            for tx in (writing, reading):
                assert tx.connection.exec_driver_sql(f"PRAGMA {pragma}").scalar() == value, pragma
        other = sqlite3.connect(embedded.engine.url.database or "", timeout=0)
        assert other.execute("SELECT count(*) FROM users").fetchone() == (0,)
        with pytest.raises(sqlite3.OperationalError, match="locked"):  # a write takes the lock at its start
            other.execute("BEGIN IMMEDIATE")
        other.close()


def test_deleted_words_are_overwritten_in_the_file_of_a_home_of_any_name(tmp_path: Path) -> None:
    home = tmp_path / "what? 100% mine #1 ü;"
    home.mkdir()
    ledger = Ledger.open(home)
    with ledger.write("u") as tx:
        append_steps(tx, [step(1, content="the canary sings")])
    ledger.checkpoint()
    assert b"canary" in (home / "ledger.sqlite3").read_bytes()
    with ledger.write("u") as tx:
        tx.connection.execute(steps.delete())
    ledger.checkpoint()
    assert not any(b"canary" in file.read_bytes() for file in home.glob("ledger.sqlite3*"))
    ledger.close()
    assert [file.name for file in home.iterdir()] == ["ledger.sqlite3"]


@pytest.mark.parametrize(
    ("url", "error", "message"),
    [
        ("postgresql+psycopg2cffi://me:hunter2@host/db", ConfigError, r"postgresql\+psycopg://"),
        ("nothing://me:hunter2@host/db?password=hunter2", ConfigError, r"postgresql\+psycopg://"),
        ("me:hunter2@host", ConfigError, r"postgresql\+psycopg://"),
        ("postgresql://me:hunter2@127.0.0.1:1/db?application_name=hunter2", HexamemError, r"127\.0\.0\.1"),
    ],
)
def test_a_url_that_cannot_be_used_is_refused_without_its_password(
    url: str, error: type[HexamemError], message: str
) -> None:
    with pytest.raises(error, match=message) as refused:
        Ledger(url)
    assert "hunter2" not in str(refused.value)


# -- versions and migrations -----------------------------------------------------------------------------------------


def test_migrations_run_in_order_and_one_that_fails_or_lacks_leaves_the_ledger_as_it_was(
    new_database: NewDatabase,
) -> None:
    ledger = Ledger(new_database())
    with ledger.write("u") as tx:
        append_steps(tx, [step(1)])

    def add_column(connection: Any) -> None:
        connection.execute(text("ALTER TABLE steps ADD COLUMN mood TEXT"))
        connection.execute(text("UPDATE steps SET mood = 'glad'"))

    def fail(connection: Any) -> None:
        connection.execute(text("CREATE TABLE half (id INTEGER)"))
        raise RuntimeError("the power went")

    first, last = VERSION + 1, VERSION + 2
    with pytest.raises(CorruptFileError, match=f"no migration leads from ledger version {VERSION} to {first}"):
        migrate(ledger.engine, {last: add_column}, last)
    with pytest.raises(RuntimeError, match="the power went"):
        migrate(ledger.engine, {first: add_column, last: fail}, last)
    tables = inspect(ledger.engine)
    assert "half" not in tables.get_table_names()
    assert "mood" not in {column["name"] for column in tables.get_columns("steps")}
    assert ledger.settings()["version"] == str(VERSION)
    ran: list[int] = []
    migrations = {first: add_column, last: lambda connection: ran.append(last)}
    assert migrate(ledger.engine, {**migrations, VERSION: lambda connection: ran.append(VERSION)}, last) == VERSION
    assert migrate(ledger.engine, migrations, last) == last  # there is nothing left to do
    assert ran == [last]
    with ledger.read("u") as tx:
        assert tx.connection.execute(text("SELECT mood FROM steps")).scalars().all() == ["glad"]
    ledger.close()


def test_a_ledger_of_another_version_or_of_none_is_refused_with_what_to_do(tmp_path: Path, embedded: Ledger) -> None:
    embedded.set_settings({"version": "7"})
    embedded.checkpoint()
    shutil.copy(tmp_path / "ledger.sqlite3", tmp_path / "copy.sqlite3")
    message = rf"copy.sqlite3 has ledger version 7.*up to {VERSION}: install a newer hexamem"
    with pytest.raises(CorruptFileError, match=message):
        Ledger(f"sqlite:///{tmp_path}/copy.sqlite3")
    for value in ("one", "", "-1", "²", None):
        with embedded.engine.execution_options(hexamem_write=True).begin() as connection:
            connection.execute(text("DELETE FROM meta"))
            if value is not None:
                connection.execute(text("INSERT INTO meta VALUES ('version', :value)"), {"value": value})
        with pytest.raises(CorruptFileError, match="not a number"):
            Ledger.open(tmp_path)


def test_a_database_of_something_else_is_refused_and_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "ledger.sqlite3"
    for columns in ("customers (id INTEGER)", "steps (id INTEGER)", "meta (key TEXT, value TEXT)", "meta (name TEXT)"):
        with sqlite3.connect(file) as foreign:
            foreign.execute(f"CREATE TABLE {columns}")
        content = file.read_bytes()
        with pytest.raises(CorruptFileError, match=r"ledger.sqlite3 is not a ledger of Hexamem.*use another database"):
            Ledger.open(tmp_path)
        with sqlite3.connect(file) as foreign:
            assert foreign.execute("SELECT sql FROM sqlite_master").fetchall() == [(f"CREATE TABLE {columns}",)]
        assert len(content) == file.stat().st_size
        file.unlink()
    file.write_bytes(b"a letter to a friend, not a database at all " * 50)
    with pytest.raises(CorruptFileError, match="damaged"):
        Ledger.open(tmp_path)
    assert file.read_bytes().startswith(b"a letter")


def test_processes_that_open_a_new_database_at_once_make_one_ledger(new_database: NewDatabase) -> None:
    url, opened = new_database(), list[Ledger]()

    def open_and_write(name: str) -> None:
        opened.append(Ledger(url))
        with opened[-1].write("the same user") as tx:
            append_steps(tx, [step(tx.next_change(), thread_id=name)])

    in_threads([lambda name=name: open_and_write(name) for name in "abcd"])
    assert [ledger.users() for ledger in opened] == [["the same user"]] * 4
    for ledger in opened:
        ledger.close()


# -- values ----------------------------------------------------------------------------------------------------------

VALUES = Table(
    "values_of_tests", MetaData(), Column("id", Integer, primary_key=True), Column("words", LosslessText),
    Column("json", JsonText), Column("at", Micros), Column("known", IdText), Column("big", BigInteger),
)  # fmt: skip


@settings(max_examples=50)
@given(words=ANY_TEXT, json=JSON, at=st.datetimes(timezones=st.just(UTC)))
def test_any_text_json_and_time_come_back_from_each_database(
    each_ledger: Ledger, words: str, json: Any, at: datetime
) -> None:
    with each_ledger.engine.execution_options(hexamem_write=True).connect() as connection:
        transaction = connection.begin()
        VALUES.create(connection, checkfirst=True)
        connection.execute(insert(VALUES).values(id=1, words=words, json=json, at=at, known=words))
        connection.execute(insert(VALUES).values(id=2))
        row = connection.execute(select(VALUES).where(VALUES.c.words == words, VALUES.c.known == words)).one()
        nothing = connection.execute(select(VALUES).where(VALUES.c.id == 2)).one()
        transaction.rollback()
    assert (row.words, row.json, row.at) == (words, json, at)
    assert tuple(nothing) == (2, None, None, None, None, None)


def test_a_step_of_strange_text_in_every_field_comes_back_as_it_was(each_ledger: Ledger) -> None:
    names = ("user", "thread_id", "name", "content", "reasoning", "tool_call_id", "message_id", "agent_id")
    blocks = ({"type": "text", STRANGE: STRANGE},)
    values: dict[str, Any] = dict.fromkeys(names, STRANGE)
    strange = step(1, **values, index_text=STRANGE + "!", blocks=blocks, metadata={STRANGE: [STRANGE]})
    with each_ledger.write(STRANGE) as tx:
        append_steps(tx, [strange])
    with each_ledger.read(STRANGE) as tx:
        assert get_steps(tx, [strange.id]) == {strange.id: strange}
        assert known_messages(tx, STRANGE, [STRANGE]) == {STRANGE: strange.id}
        assert select_step_ids(tx, Where(thread_id=STRANGE, agent_id=STRANGE, speaker=STRANGE)) == {strange.id}
        assert select_step_ids(tx, Where(metadata={STRANGE: [STRANGE]})) == {strange.id}
    assert STRANGE in each_ledger.users()


def test_ids_and_metadata_that_no_database_takes_are_not_found_or_refused(each_user: UserMemory) -> None:
    values: dict[str, Any] = {"kind": "semantic", "name": "a", "summary": "b"}
    for strange in (STRANGE, "x" * 100_000, ""):
        for call in (each_user.get, each_user.remove, each_user.undo, each_user.forget):
            with pytest.raises(NotFoundError):
                call(strange)
        assert each_user.history(strange) == []
    for item_id in ("", "step_1", "a b", "ä", "a\n", "\x00", "x" * 65, "-a"):
        with pytest.raises(InvalidInputError, match="letters, digits"):
            SemanticItem.parse({"id": item_id, "name": "a", "summary": "b"})
    for value in ({1, 2}, float("nan"), b"x", datetime(2024, 1, 1), [[object()]]):
        with pytest.raises(InvalidInputError, match="metadata"):
            each_user.add({**values, "metadata": {"key": value}})
    assert each_user.history() == []
    stored = each_user.add({**values, "metadata": {"a": (1, {2: "\ud83d\ude00\x00"}), "\ud800": 1.5}})
    assert stored.metadata == {"a": [1, {"2": "\ud83d\ude00\x00"}], "\ud800": 1.5}
    assert each_user.get(stored.id) == stored


# -- transactions and change numbers ---------------------------------------------------------------------------------


def test_change_numbers_rise_and_cover_each_row_that_changed(each_user: UserMemory, each_memory: Memory) -> None:
    highest, seen = 0, dict[str, int]()

    def changed_by(call: Callable[[], Any]) -> tuple[Any, set[str]]:
        nonlocal highest, seen
        made, since = call(), highest
        with each_memory.ledger.read(each_user.name) as tx:
            numbers = [(record.id, number) for number, record in changed_steps(tx, since, 1_000)]
            numbers += [(record.id, number) for number, record in changed_items(tx, since, 1_000)]
            highest = tx.change
        assert all(since < number <= highest for _, number in numbers)
        assert len({number for _, number in numbers}) == len(numbers)
        return made, {record for record, _ in numbers}

    receipt, changed = changed_by(lambda: each_user.remember(["I moved to Porto", "Nice", "It rains"], thread_id="a"))
    first, second, third = receipt.step_ids
    assert changed == {first, second, third}
    values: dict[str, Any] = {"kind": "semantic", "name": "a", "summary": "b", "sources": [{"step_id": first}]}
    item, changed = changed_by(lambda: each_user.add(values))
    assert changed == {item.id}
    assert changed_by(lambda: each_user.edit(item.id, summary="c"))[1] == {item.id}
    newer, changed = changed_by(lambda: each_user.add({**values, "summary": "d", "sources": []}, supersedes=item.id))
    assert changed == {item.id, newer.id}
    forgotten, changed = changed_by(lambda: each_user.forget([first, third]))
    assert changed == {first, third, item.id}
    assert changed_by(lambda: each_user.undo(forgotten.id))[1] == {first, third, item.id}
    assert changed_by(lambda: each_user.undo(each_user.history(newer.id)[0].id))[1] == {item.id, newer.id}
    assert changed_by(lambda: each_user.remove(item.id))[1] == {item.id}
    assert first in changed_by(lambda: each_user.redact("Porto"))[1]


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
@pytest.mark.parametrize("joined", [False, True])
def test_whatever_ends_a_transaction_leaves_nothing_of_it_behind(
    each_ledger: Ledger, error: type[BaseException], joined: bool
) -> None:
    user = f"{error.__name__} {joined}"

    def fail(name: str) -> None:
        with each_ledger.write(name) as tx:
            append_steps(tx, [step(tx.next_change())])
            if joined:
                tx.connection.begin_nested()
                tx.next_change()
            raise error

    with pytest.raises(error):
        fail(user)
    assert user not in each_ledger.users()
    with each_ledger.write(user) as tx:
        append_steps(tx, [step(tx.next_change())])
    with pytest.raises(error):
        fail(user)
    with each_ledger.write(user) as tx:  # by the connection that was given back
        assert (tx.change, [number for number, _ in changed_steps(tx, 0, 10)]) == (1, [1])
    for call in (lambda: get_steps(tx, ["step_1"]), tx.next_change):  # it has ended
        with pytest.raises((RuntimeError, ResourceClosedError)):
            call()


def test_threads_that_write_wait_for_each_other_and_users_number_their_changes_apart(each_ledger: Ledger) -> None:
    def write(user: str, name: str) -> None:
        for _ in range(6):
            with each_ledger.write(user) as tx:
                number = tx.next_change(2)
                append_steps(tx, [step(number, thread_id=name), step(number + 1, thread_id=name)])

    in_threads([lambda user=user, name=name: write(user, name) for user in ("east", "west") for name in "abc"])
    for user in ("east", "west"):
        with each_ledger.read(user) as tx:
            assert [number for number, _ in changed_steps(tx, 0, 1_000)] == list(range(1, 2 * 6 * 3 + 1))


def test_a_read_shows_one_state_though_others_write(each_ledger: Ledger) -> None:
    def write() -> None:
        with each_ledger.write("steady") as tx:
            append_steps(tx, [step(tx.next_change())])

    write()
    with each_ledger.read("steady") as reading:
        assert len(changed_steps(reading, 0, 10)) == 1
        write()
        assert len(changed_steps(reading, 0, 10)) == 1
        row = reading.first(select(users.c.change).where(users.c.id == reading.user_id))
        assert row is not None
        assert row.change == 1
    with each_ledger.read("steady") as reading:
        assert len(changed_steps(reading, 0, 10)) == 2


# -- users apart -----------------------------------------------------------------------------------------------------


def test_the_user_comes_first_in_every_key_index_and_rule_and_is_part_of_every_reference() -> None:
    tables = [table for table in metadata.tables.values() if table.name not in ("meta", "users")]
    assert set(tables) == set(USER_TABLES)
    indexes = [index for table in tables for index in table.indexes if index.name != "ix_jobs_due"]
    rules = [rule for table in tables for rule in table.constraints if rule.__visit_name__ == "unique_constraint"]
    for keyed in [*(table.primary_key for table in tables), *indexes, *rules]:
        assert next(iter(keyed.columns)).name == "user_id", keyed  # type: ignore[attr-defined]
    references = [key for table in tables for key in table.foreign_key_constraints if key.referred_table is not users]
    assert len(indexes) + len(rules) > 10
    assert references
    for key in references:
        assert {element.parent.name: element.column.name for element in key.elements}["user_id"] == "user_id"


def test_two_users_may_hold_the_same_ids_and_each_sees_only_its_own(each_ledger: Ledger) -> None:
    shared, item = new_id("step"), SemanticItem(name="a", summary="b")
    for user, words, label in (("twin one", "first words", "garden"), ("twin two", "second words", "kitchen")):
        with each_ledger.write(user) as tx:
            append_steps(tx, [step(tx.next_change(), id=shared, content=words, index_text=words)])
            record_operation(tx, "add", [item_change(None, item.changed(user=user, summary=words))])
            set_projection(tx, "home", "lexical.steps", len(words))
            own: dict[str, Any] = {"user_id": tx.user_id}
            made = {"id": "label_1", "kind": "scope", "name": label, "created_at": from_micros(0)}
            tx.connection.execute(insert(labels).values(own | made))
            tx.connection.execute(
                insert(labelings).values(own | {"target_id": shared, "label_id": "label_1", "target": "step"})
            )
    with each_ledger.read("twin one") as tx:
        assert get_steps(tx, [shared])[shared].content == "first words"
        assert get_items(tx, [item.id])[item.id].text == "a\nfirst words"
        assert read_projections(tx, "home") == {"lexical.steps": 11}
        assert neighbours(tx, [shared], 5) == {}
        assert [select_step_ids(tx, Where(labels=(name,))) for name in ("garden", "kitchen")] == [{shared}, set()]
        assert {"steps", "items", "operations", "changes", "projections"} <= set(rows_left(tx))
    with each_ledger.write("twin one") as tx:
        set_step_status(tx, [shared], "forgotten")
    with each_ledger.read("twin two") as tx:
        assert get_steps(tx, [shared])[shared].content == "second words"
        assert changed_steps(tx, 0, 10) != []
    with each_ledger.read("stranger") as tx:
        assert (tx.user_id, tx.change, changed_steps(tx, 0, 10), rows_left(tx)) == (0, 0, [], {})


# -- PostgreSQL ------------------------------------------------------------------------------------------------------


def test_a_statement_without_a_user_reaches_only_the_rows_of_the_transactions_user(each_memory: Memory) -> None:
    ledger = each_memory.ledger
    if ledger.embedded:
        pytest.skip("row-level security is of PostgreSQL")
    for name in ("ann", "ben"):
        fill(each_memory.user(name), everywhere=True)
    with ledger.read("ben") as tx:
        of_ben = tx.user_id
    with ledger.read("ann") as tx:
        of_ann, rows = tx.user_id, rows_left(tx)
        assert len(rows) > 12
        for table in USER_TABLES:
            assert [row.user_id for row in tx.all(select(table.c.user_id))] == [of_ann] * rows.get(table.name, 0)
        assert [row.name for row in tx.all(select(users.c.name))] == ["ann"]
    with ledger.write("ann") as tx:
        assert tx.connection.execute(steps.update().values(role="user")).rowcount == rows["steps"]
        assert tx.connection.execute(labelings.delete()).rowcount == rows["labelings"]
        assert tx.connection.execute(users.update().values(timezone="UTC")).rowcount == 1
    with pytest.raises(HexamemError, match="row-level security"), ledger.write("ann") as tx:
        tx.connection.execute(steps.update().values(user_id=of_ben))
    with ledger.read("stranger") as tx:
        assert [row for table in (*USER_TABLES, users) for row in tx.all(select(table))] == []
    with ledger.engine.connect() as unbound:
        assert [row for table in USER_TABLES for row in unbound.execute(select(table))] == []
    with ledger.connect() as maintenance:
        seen = {row.user_id for table in USER_TABLES for row in maintenance.execute(select(table.c.user_id))}
        assert {of_ann, of_ben} <= seen


def test_every_table_compiles_for_both_databases() -> None:
    ours = {"statement_key", "role", "status", "kind", "tier", "target", "verdict", "sensitivity", "outcome_source"}
    ours |= {"name", "key"}
    for table in metadata.sorted_tables:
        # Words of a user have no length that PostgreSQL would enforce.
        assert {column.name for column in table.c if getattr(column.type, "length", None)} <= ours
        for dialect in (postgresql.dialect(), sqlite.dialect()):
            assert f"CREATE TABLE {table.name}" in str(CreateTable(table).compile(dialect=dialect))
            assert all(str(CreateIndex(index).compile(dialect=dialect)) for index in table.indexes)


def use_every_method(user: UserMemory, folder: Path) -> dict[str, Any]:
    """Use every method that touches the ledger once; returns what they returned."""
    messages = [
        {"role": "user", "content": "I live in Hangzhou, my password is Tr0ub4dor&3xyz", "id": STRANGE[:20]},
        {"role": "assistant", "content": STRANGE + " 我喜欢茶"},
    ]
    thread = "thread " + STRANGE
    receipt = user.remember(messages, thread_id=thread, agent_id="agent", metadata={"place": "home"})
    source = {"step_id": receipt.step_ids[0], "quote": "Hangzhou", "start": 10, "end": 18}
    home = user.add({"kind": "semantic", "name": "home", "summary": "lives in Hangzhou", "sources": [source]})
    user.edit(home.id, labels=["place"], metadata={"x": [1, STRANGE]})
    moved = user.add({"kind": "semantic", "name": "home", "summary": "lives in Shanghai"}, supersedes=home.id)
    vault = user.add({"kind": "vault", "caption": "the door code"}, secret="4711-0815-42")
    undone = user.undo(user.remove(moved.id).id)
    user.undo(user.forget([receipt.step_ids[1]]).id)
    recall = user.recall("where do I live", k=5)
    user.feedback(recall.id, helped=[recall.hits[0].id])
    user.feedback(recall.id, hurt=[recall.hits[0].id])
    user.redact("我喜欢茶", caption="a drink")
    user.export(folder / "export.jsonl", passphrase="open sesame")
    where = {"speaker": "USER", "metadata": {"place": "home"}, "since": "2000-01-01"}
    before = {"where": {"thread_id": thread}, "as_of": "2020-01-01", "known_at": home.created_at}
    return {
        "step": receipt.step_ids[0],
        "home": home.id,
        "recalled": recall.hits[0].text,
        "undone": undone[0].kind,
        "secret": user.reveal(vault.id, reason="the test asks"),
        "reveals": len(user.reveals()),
        "items": [item.id for item in user.items("semantic", **before)],  # type: ignore[arg-type]
        "filtered": {hit.id for hit in user.recall("Hangzhou", where=where).hits if hit.kind == "step"},
        "history": len(user.history(limit=3)),
    }


def test_a_memory_works_end_to_end_on_each_database_with_statements_that_both_take(
    each_user: UserMemory, each_memory: Memory, tmp_path: Path
) -> None:
    statements: list[Any] = []
    event.listen(each_memory.ledger.engine, "before_execute", lambda _c, clause, *_: statements.append(clause))
    made = use_every_method(each_user, tmp_path)
    assert {"select", "insert", "update", "delete"} <= {clause.__visit_name__ for clause in statements}
    for clause in statements:
        if clause.__visit_name__ != "insert":  # an insert is compiled by its own dialect's class
            assert str(clause.compile(dialect=postgresql.dialect()))
    locking = next(clause for clause in statements if isinstance(clause, Select) and clause._for_update_arg is not None)
    assert "FOR UPDATE" in str(locking.compile(dialect=postgresql.dialect()))
    assert "Hangzhou" in made["recalled"] or "Shanghai" in made["recalled"]
    assert (made["secret"], made["undone"], made["reveals"] > 0, made["history"]) == ("4711-0815-42", "undo", True, 3)
    assert made["items"] == [made["home"]]
    assert made["step"] in made["filtered"]

    def recalled() -> list[tuple[str, str]]:
        return sorted((hit.id, hit.text) for hit in each_user.recall("where do I live").hits)

    before = recalled(), each_user.items(), each_user.history()
    receipt = each_user.erase()
    assert receipt.rows["steps"] == 2
    with each_memory.ledger.read(each_user.name) as tx:
        assert (tx.user_id, rows_left(tx), recalled()) == (0, {}, [])
    counts = each_user.import_(tmp_path / "export.jsonl", passphrase="open sesame")
    assert (counts["steps"], counts["secrets"]) == (2, receipt.rows["secrets"])
    assert (recalled(), each_user.items(), each_user.history()) == before
