"""The ledger: the source of truth, from which everything else is rebuilt.

A :class:`Ledger` begins transactions that are bound to one user. The functions of this package take such a transaction
and add its user to every statement, so that no call can reach another user's rows. On PostgreSQL row-level security
ensures the same, see :mod:`.row_security`.
"""

from __future__ import annotations

import hashlib
import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from sqlalchemy import (
    URL,
    ColumnElement,
    Connection,
    Engine,
    Insert,
    Row,
    Select,
    Table,
    bindparam,
    delete,
    func,
    select,
    update,
)
from sqlalchemy.dialects import sqlite
from sqlalchemy.pool import PoolProxiedConnection

from hexamem.errors import HomeInUseError, HomeNotWritableError, InvalidInputError, MissingUserError
from hexamem.memory_types.base import utc_now
from hexamem.memory_types.registry import TypeRegistry
from hexamem.memory_types.times import to_micros
from hexamem.stores.ledger.engine import open_engine, place_of, plain_errors, sqlite_url
from hexamem.stores.ledger.migrations import migrate, restore_policies
from hexamem.stores.ledger.prepared import Prepared, runs_directly
from hexamem.stores.ledger.row_security import ALL_USERS, NOBODY, UNSET, set_user, with_user_set
from hexamem.stores.ledger.schema import meta, users

__all__ = ["IN_LIMIT", "MAX_NAME_BYTES", "Ledger", "Transaction", "check_name", "chunks", "user_key"]

MAX_NAME_BYTES = 512
_SHIPPED = TypeRegistry()
IN_LIMIT = 10_000  # both SQLite (32,766) and PostgreSQL (65,535) bound the parameters of a statement


def chunks(values: Iterable[str], size: int = IN_LIMIT) -> Iterable[list[str]]:
    """The values in lists short enough for one IN clause."""
    values = list(values)
    return (values[start : start + size] for start in range(0, len(values), size))


def check_name(value: object, what: str) -> str:
    """The name of a user, thread or message, if it is valid: any characters, 1 to 512 bytes, not blank.

    Raises:
        InvalidInputError: with ``what``, the value and the rule (MissingUserError for a user).
    """
    error = MissingUserError if what == "user" else InvalidInputError
    if value is None or (isinstance(value, str) and not value.strip()):
        raise error(f"{what} = {value!r}: give a name that is not empty (a missing {what} never means all of them)")
    if not isinstance(value, str):
        raise error(f"{what} = {value!r} is a {type(value).__name__}; give a string")
    size = len(value.encode("utf-8", "surrogatepass"))
    if size > MAX_NAME_BYTES:
        raise error(f"{what} {value[:40]!r}… has {size:,} bytes in UTF-8; the limit is {MAX_NAME_BYTES}")
    return value


def user_key(name: str) -> str:
    """A hash of the user's name, 32 hexadecimal digits: valid in the name of a folder or collection."""
    return hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:32]


# Built once: these run in every recall, and building them takes longer than running them.
_BOUND = select(users.c.id, users.c.timezone, users.c.change, users.c.created_at).where(users.c.key == bindparam("key"))
_USER, _LOCKED_USER = Prepared(_BOUND), Prepared(_BOUND.with_for_update())
_SHARED_USER = Prepared(with_user_set(_BOUND))
_LOCKED_SHARED_USER = Prepared(with_user_set(_BOUND).with_for_update())
_COUNT_UP = Prepared(update(users).where(users.c.id == bindparam("user")).values(change=bindparam("reached")))


@dataclass(slots=True)
class Transaction:
    """A database transaction bound to one user. ``user_id`` is 0 for a user who has stored nothing yet.

    Attributes:
        change: the user's last change number.
        registered: when the user was registered, in microseconds since the epoch: after an erasure it differs from that
            of a new user of the same name.
        writing: whether it may change rows. What it reads may be rolled back, so that caches must not store it.
        fixed_names: names of event and entity labels that come from no step.
        types: the memory types as which items are read.
        driver: SQLite's own connection, for prepared statements; None where these go through SQLAlchemy.
        joining: then makes SQLAlchemy's connection in the same transaction, for all other statements. Both are None
            once the transaction has ended, since the connection may then be in a transaction of another user.
    """

    _connection: Connection | None
    user: str
    user_id: int
    timezone: str
    change: int
    registered: int = 0
    writing: bool = False
    fixed_names: frozenset[str] = frozenset()
    types: TypeRegistry = field(default_factory=lambda: _SHIPPED)
    driver: sqlite3.Connection | None = None
    joining: Callable[[], Connection] | None = None

    @property
    def connection(self) -> Connection:
        """SQLAlchemy's connection, in this transaction."""
        if self._connection is None:
            if self.joining is None:
                raise RuntimeError("this transaction of the ledger has ended; begin another one")
            self._connection = self.joining()
        return self._connection

    @contextmanager
    def over_all_users(self) -> Iterator[None]:
        """Let the statements within see the rows of all users, where row-level security hides them."""
        shared = self.driver is None and self.connection.dialect.name == "postgresql"
        if shared:
            set_user(self.connection, ALL_USERS)
        yield  # after an error nothing more runs in this transaction
        if shared:
            set_user(self.connection, str(self.user_id))

    def all(self, statement: Select[Any] | Prepared, **values: Any) -> list[Row[Any]]:
        """Every row of a statement; ``values`` are those of its named parameters."""
        if isinstance(statement, Prepared):
            if self.driver is not None:
                return statement.rows(self.driver, values)
            statement = cast("Select[Any]", statement.statement)
        return list(self.connection.execute(statement, values).all())

    def all_of(self, statement: Prepared, ids: Iterable[str], **values: Any) -> Iterator[Row[Any]]:
        """Every row of a statement with the parameters ``user`` and ``ids``, for any number of ids."""
        for part in chunks(ids):
            yield from self.all(statement, user=self.user_id, ids=part, **values)

    def first(self, statement: Select[Any] | Prepared, **values: Any) -> Row[Any] | None:
        """The first row of a statement, or None."""
        if isinstance(statement, Prepared):
            return next(iter(self.all(statement, **values)), None)
        return self.connection.execute(statement, values).first()

    def run(self, statement: Prepared, **values: Any) -> int:
        """Run a prepared statement that changes rows; returns how many it changed."""
        if self.driver is not None:
            return statement.run(self.driver, values)
        return self.connection.execute(statement.statement, values).rowcount

    def run_many(self, statement: Prepared, values: Sequence[Mapping[str, Any]]) -> None:
        """Run a prepared statement that changes rows, once for each of these values."""
        if self.driver is not None:
            statement.run_many(self.driver, values)
        elif values:
            self.connection.execute(statement.statement, list(values))

    def own(self, table: Table) -> ColumnElement[bool]:
        """The condition that rows of a table are the user's."""
        return table.c.user_id == self.user_id

    def update(self, table: Table, row_id: str, **values: Any) -> int:
        """Set columns of one of the user's rows, by its ``id``; returns how many rows there were."""
        statement = update(table).where(self.own(table), table.c.id == row_id)
        return self.connection.execute(statement.values(**values)).rowcount

    def delete(self, table: Table, **of: Iterable[str]) -> int:
        """Delete the user's rows with one of the given values in a column; returns how many."""
        [(column, values)] = of.items()
        own = delete(table).where(self.own(table))
        return sum(self.connection.execute(own.where(table.c[column].in_(part))).rowcount for part in chunks(values))

    def ids(self, table: Table) -> set[str]:
        """The ids of all rows of the user."""
        return {row.id for row in self.all(select(table.c.id).where(self.own(table)))}

    def next_change(self, count: int = 1) -> int:
        """Reserve ``count`` change numbers and return the first."""
        first = self.change + 1
        self.change += count
        self.run(_COUNT_UP, user=self.user_id, reached=self.change)
        return first


def insert_or_skip(connection: Connection, table: Table) -> Insert:
    """An insert that does nothing where a row of that key exists; it waits for a transaction that is writing that row."""
    if connection.dialect.name == "postgresql":
        from sqlalchemy.dialects import postgresql  # not needed for SQLite

        return postgresql.insert(table).on_conflict_do_nothing()
    return sqlite.insert(table).on_conflict_do_nothing()


class Ledger:
    """The database with the tables of :mod:`.schema`.

    Args:
        url: a SQLAlchemy URL; a SQLite file is created if it does not exist.
        place: its name in error messages.
        fixed_names: names of event and entity labels that come from no step: the shipped types.
        types: the memory types as which items are read.
    """

    def __init__(
        self,
        url: str | URL,
        place: str | None = None,
        fixed_names: frozenset[str] = frozenset(),
        types: TypeRegistry = _SHIPPED,
    ) -> None:
        self.place = place or place_of(url)
        self.fixed_names, self.types = fixed_names, types
        self.exclusive = False  # whether only this process can write to it
        self._file: Path | None = None  # of the home
        self._inode = 0
        self._opened = object()
        self._written: dict[str, object] = {}  # user → replaced by each write
        self.on_first_use: Callable[[Transaction], None] | None = None
        """Called once for each user, before this process writes the user's rows; set by the owner of the indexes."""
        self._used: set[str] = set()
        self._first_use = threading.Lock()
        self.engine: Engine = open_engine(url)
        self._writer = self.engine.execution_options(hexamem_write=True)
        self._joiner = self.engine.execution_options(hexamem_begun=True)
        # A transaction of SQLite always reads one snapshot, one of PostgreSQL at this isolation level.
        snapshot = {} if self.embedded else {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}
        self._reader = self.engine.execution_options(**snapshot)
        try:
            with plain_errors(self.place):
                migrate(self.engine)
                restored = restore_policies(self.engine)
        except BaseException:
            self.engine.dispose()
            raise
        self.notices = [
            f"row-level security of the ledger at {self.place} was missing, or without its policy, and was created: "
            f"{', '.join(restored)}"
        ] * bool(restored)
        """What was repaired on opening."""

    @classmethod
    def open(
        cls,
        home: Path,
        url: str | None = None,
        fixed_names: frozenset[str] = frozenset(),
        types: TypeRegistry = _SHIPPED,
    ) -> Ledger:
        """The ledger of a home folder: ``home/ledger.sqlite3``, or the shared one at ``url``."""
        if url:
            return cls(url, fixed_names=fixed_names, types=types)
        file = home / "ledger.sqlite3"
        with suppress(FileExistsError):  # for the owner alone, whatever the mode of the folder
            file.touch(mode=0o600, exist_ok=False)
        ledger = cls(sqlite_url(file), str(home), fixed_names, types)
        ledger.exclusive = True  # the home is locked by one process
        ledger._file, ledger._inode = file, file.stat().st_ino
        return ledger

    @property
    def embedded(self) -> bool:
        """Whether the ledger is a SQLite file of this home."""
        return self.engine.dialect.name == "sqlite"

    @contextmanager
    def read(self, user: str) -> Iterator[Transaction]:
        """A consistent view for one user."""
        with plain_errors(self.place), self._begun(user, write=False) as tx:
            self._bind(tx)
            yield tx

    @contextmanager
    def write(self, user: str, *, create: bool = True, timezone: str = "UTC") -> Iterator[Transaction]:
        """A transaction that changes one user's rows: all of it is committed on leaving, or none.

        Writers of the same user wait for each other. With ``create`` a new user is registered first.

        Raises:
            HomeNotWritableError: the file was deleted or replaced since it was opened. SQLite would write to the file
                that no name leads to any more.
        """
        if self._file is not None:
            try:
                replaced = self._file.stat().st_ino != self._inode
            except OSError:
                replaced = True
            if replaced:
                raise HomeNotWritableError(
                    f"{self._file} was deleted or replaced while it was open, so that nothing can be stored in it: close "
                    "the memory, restore the home, and open it again"
                )
        try:
            with plain_errors(self.place), self._begun(user, write=True) as bound:
                self._bind(bound)
                if not bound.user_id and create:
                    # If another process registers the same user at the same time, its row is read and locked.
                    values = {"key": user_key(user), "name": user, "timezone": timezone, "created_at": utc_now()}
                    if not self.embedded:
                        set_user(bound.connection, UNSET)
                    bound.connection.execute(insert_or_skip(bound.connection, users), values)
                    self._bind(bound)
                yield bound
        finally:
            self._written[user] = object()  # also after an error, which may occur after the commit

    def state(self, user: str) -> object | None:
        """A token for the state of a user's rows: another object after each write, successful or not.

        Whatever is read after a call is valid for as long as later calls return the same object. None where other
        processes may write to the ledger too.
        """
        return self._written.get(user, self._opened) if self.exclusive else None

    @contextmanager
    def _begun(self, user: str, *, write: bool) -> Iterator[Transaction]:
        """A transaction with no more than the name of its user: committed at the end, rolled back on an error."""
        tx = Transaction(None, user, 0, "UTC", 0, writing=write, fixed_names=self.fixed_names, types=self.types)
        if not runs_directly(self.engine):
            with (self._writer if write else self._reader).connect() as connection, connection.begin():
                tx._connection = connection
                yield tx
            return
        pooled = self.engine.raw_connection()
        try:
            driver = cast("sqlite3.Connection", pooled.dbapi_connection)
            driver.execute("BEGIN IMMEDIATE" if write else "BEGIN")
            tx.driver, tx.joining = driver, lambda: Connection(self._joiner, pooled)
            yield tx
            driver.commit()
        finally:
            opened: Connection | PoolProxiedConnection = tx._connection or pooled
            tx.driver = tx.joining = None
            opened.close()  # which rolls back what was not committed

    def _bind(self, tx: Transaction) -> None:
        """Read the user's row into the transaction."""
        reading, writing = (_USER, _LOCKED_USER) if self.embedded else (_SHARED_USER, _LOCKED_SHARED_USER)
        row = tx.first(writing if tx.writing else reading, key=user_key(tx.user))
        if row is None and not self.embedded:
            set_user(tx.connection, NOBODY)
        if row is not None:
            tx.user_id, tx.timezone, tx.change = row.id, row.timezone, row.change
            tx.registered = to_micros(row.created_at)
        if self.on_first_use is not None and tx.user not in self._used:
            with self._first_use:  # a second thread must not compare with what the first one writes then
                if tx.user not in self._used:
                    self.on_first_use(tx)
                    self._used.add(tx.user)

    @contextmanager
    def connect(self, *, write: bool = False) -> Iterator[Connection]:
        """A connection over all users, for maintenance of the home; with ``write`` in a transaction that changes rows."""
        engine = self._writer if write else self.engine
        with plain_errors(self.place), engine.begin() if write else engine.connect() as connection:
            if not self.embedded:
                set_user(connection, ALL_USERS)
            yield connection

    def timezone(self, user: str) -> str | None:
        """The stored timezone of a user; None for one who has stored nothing yet."""
        with self.read(user) as tx:
            return tx.timezone if tx.user_id else None

    def set_timezone(self, user: str, timezone: str) -> None:
        """Store another timezone for a user."""
        with self.write(user, create=False) as tx:
            tx.connection.execute(update(users).where(users.c.id == tx.user_id).values(timezone=timezone))

    def users(self) -> list[str]:
        """The names of all users, in order of registration: for maintenance of the home, not for a user's calls."""
        with self.connect() as connection:
            return list(connection.execute(select(users.c.name).order_by(users.c.id)).scalars())

    def settings(self) -> dict[str, str]:
        """The rows of ``meta``: version, embedder."""
        with self.connect() as connection:
            return {row.key: row.value for row in connection.execute(select(meta))}

    def set_settings(self, values: Mapping[str, str]) -> None:
        """Write rows of ``meta``."""
        with self.connect(write=True) as connection:
            connection.execute(insert_or_skip(connection, meta), [{"key": key, "value": values[key]} for key in values])
            known = update(meta).where(meta.c.key == bindparam("known")).values(value=bindparam("now"))
            connection.execute(known, [{"known": key, "now": value} for key, value in values.items()])

    def size(self) -> int:
        """How many users there are."""
        with self.connect() as connection:
            return int(connection.execute(select(func.count()).select_from(users)).scalar_one())

    def checkpoint(self) -> None:
        """Write SQLite's write-ahead log into the database and truncate it, so that no old page stays in it.

        Raises:
            HomeInUseError: if another call was reading for the whole busy timeout.
        """
        if self.embedded:
            with self.connect() as connection:
                cursor = connection.connection.driver_connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")  # type: ignore[union-attr]
                [(busy, *_)] = cursor.fetchall()
            if busy:
                raise HomeInUseError(
                    f"the write-ahead log of {self.place} still contains what was removed from the ledger, because "
                    "another call was reading; repeat this call when that one is done"
                )

    def close(self) -> None:
        """Close the database; SQLite checkpoints its log on the last close."""
        self.engine.dispose()
