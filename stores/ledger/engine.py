"""Opening the database: SQLite tuned for durability when embedded, PostgreSQL by URL; and translating its errors."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, cast

from sqlalchemy import URL, Connection, Dialect, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError as SqlArgumentError
from sqlalchemy.exc import DBAPIError, NoSuchModuleError, OperationalError
from sqlalchemy.pool import ConnectionPoolEntry
from sqlalchemy.util import LRUCache

from hexamem.errors import (
    ConfigError,
    CorruptFileError,
    HexamemError,
    HomeInUseError,
    HomeNotWritableError,
    LedgerServerError,
    StorageFullError,
)

__all__ = ["open_engine", "place_of", "plain_errors", "sqlite_dialect", "sqlite_url"]

_BUSY_TIMEOUT_MS = 10_000
_NO_CONNECTION = ("08", "57P", "53300")  # SQLSTATE: connection exception, shutdown and start, too many connections
_PING_SECONDS = 5
_COMPILED_STATEMENTS = 2_000  # more than there are


def sqlite_url(path: Path) -> URL:
    """The SQLAlchemy URL of a SQLite file; its path may contain any characters."""
    return URL.create("sqlite", database=str(path))


def place_of(url: str | URL) -> str:
    """A database URL as messages show it: without password and options."""
    try:
        parsed = make_url(url)
    except SqlArgumentError:
        return "the URL given"
    return parsed.set(query={}).render_as_string(hide_password=True)


def open_engine(url: str | URL) -> Engine:
    """An engine for the ledger.

    SQLite gets WAL, foreign keys, ``secure_delete`` (deleted content is overwritten with zeros), full synchronization
    (an acknowledged write survives a power cut) and a busy timeout of 10 s. A transaction with
    ``execution_options(hexamem_write=True)`` takes the write lock at its start, so that another writer cannot make it
    fail later; one with ``hexamem_begun=True`` joins the transaction begun on its connection before.
    PostgreSQL is used through psycopg 3, whether or not the URL names it.

    Raises:
        ConfigError: if the URL is of another database, or the driver is not installed.
    """
    try:
        url = make_url(url)
        if url.drivername in ("postgres", "postgresql"):
            url = url.set(drivername="postgresql+psycopg")
        if url.get_backend_name() not in ("sqlite", "postgresql"):
            raise ConfigError(
                f"ledger URL {place_of(url)!r}: a ledger is in SQLite or PostgreSQL; "
                "use sqlite:///FILE or postgresql+psycopg://…"
            )
        # An error that contains the statement must not contain its parameters, which are texts of users.
        engine = create_engine(url, pool_pre_ping=url.get_backend_name() != "sqlite", hide_parameters=True)
    except (SqlArgumentError, NoSuchModuleError) as error:
        raise ConfigError(
            f"ledger URL {place_of(url)!r} is not usable ({type(error).__name__}): "
            "use sqlite:///FILE or postgresql+psycopg://USER:PASSWORD@HOST/DATABASE"
        ) from None
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"the driver for {place_of(url)!r} is missing ({error.name}): pip install 'psycopg[binary]' "
            "and use postgresql+psycopg://…"
        ) from None
    if engine.dialect.name == "sqlite":
        dialect, compiled = _shared_dialect()
        engine.dialect = dialect
        engine.update_execution_options(compiled_cache=compiled)
        event.listen(engine, "connect", _tune_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
    return engine


@cache
def _shared_dialect() -> tuple[Dialect, LRUCache[Any, Any]]:
    """The dialect of all embedded ledgers and its cache of compiled statements.

    Compiling them for each ledger takes a third of the time of opening a memory and one recall.
    """
    template = create_engine("sqlite://")
    template.connect().close()  # initializes the dialect
    template.dispose()
    return template.dialect, LRUCache(_COMPILED_STATEMENTS)


def sqlite_dialect() -> Dialect:
    """The dialect of all embedded ledgers."""
    return _shared_dialect()[0]


def _tune_sqlite(connection: sqlite3.Connection, _: ConnectionPoolEntry) -> None:
    connection.isolation_level = None  # _begin_sqlite begins transactions
    for pragma in (
        f"busy_timeout = {_BUSY_TIMEOUT_MS}",
        "journal_mode = WAL",
        "synchronous = FULL",
        "foreign_keys = ON",
        "secure_delete = ON",
        "temp_store = MEMORY",
        "cache_size = -8000",
    ):
        connection.execute(f"PRAGMA {pragma}").close()


def _begin_sqlite(connection: Connection) -> None:
    options = connection.get_execution_options()
    if options.get("hexamem_begun", False):
        return
    write = options.get("hexamem_write", False)
    driver = cast("sqlite3.Connection", connection.connection.dbapi_connection)
    driver.execute("BEGIN IMMEDIATE" if write else "BEGIN")


@contextmanager
def plain_errors(place: str) -> Iterator[None]:
    """Translate errors of the database into errors of Hexamem, with the place.

    The original error is not chained, and only the first line of its message is repeated: the rest contains parameters
    and rows, which may be private.
    """
    try:
        yield
    except HexamemError:
        raise
    except (DBAPIError, sqlite3.Error) as error:  # the second from :mod:`.prepared`
        original = error.orig if isinstance(error, DBAPIError) else error
        message = (str(original).splitlines() or [type(original).__name__])[0]
        if _is_refused_login(error):
            raise LedgerServerError(
                f"the ledger's server at {place} refused the login ({message}): check the user, password and database of "
                "the ledger's URL, and that the server lets this role in; then repeat the call"
            ) from None
        if _is_disconnect(error):
            raise LedgerServerError(
                f"the ledger's server at {place} cannot be reached ({message}); what this call was writing may have been "
                "stored or not: repeat it when the server is back (messages with ids are not stored twice)"
            ) from None
        raise _translated(message, place) or HexamemError(f"the ledger at {place} failed: {message}") from None


def _is_refused_login(error: DBAPIError | sqlite3.Error) -> bool:
    """Whether PostgreSQL answers, but let nobody in: libpq tells that of a failed connection in words alone."""
    failed = getattr(getattr(error, "orig", None), "pgconn", None)
    if failed is None:
        return False
    from psycopg import OperationalError as ConnectionFailed
    from psycopg import connect, pq
    from psycopg.conninfo import make_conninfo
    from psycopg.errors import FinishedPGconn

    if not isinstance(failed, FinishedPGconn):  # the connection had been made
        return False
    options: dict[str, Any] = {
        option.keyword.decode(): option.val.decode() for option in failed.info if option.val is not None
    }
    address = make_conninfo("", **{**options, "connect_timeout": _PING_SECONDS})
    if pq.PGconn.ping(address.encode()) != pq.Ping.OK:
        return False
    try:
        connect(address).close()
    except ConnectionFailed:
        return True
    return False  # it was still starting before


def _is_disconnect(error: DBAPIError | sqlite3.Error) -> bool:
    """Whether there is no connection to PostgreSQL, or it was lost, or the server is starting or stopping."""
    if not isinstance(error, DBAPIError) or not hasattr(error.orig, "sqlstate"):  # as SQLite's
        return False
    state = getattr(error.orig, "sqlstate", None)  # None for an error of the connection itself
    lost = isinstance(error, OperationalError) and (state is None or state.startswith(_NO_CONNECTION))
    return error.connection_invalidated or lost


def _translated(message: str, place: str) -> HexamemError | None:
    text = message.lower()
    if "disk is full" in text or "no space left" in text or "disk full" in text:
        return StorageFullError(
            f"no room left on the disk of {place}: free some space and repeat the call; nothing of it was stored"
        )
    if "disk i/o error" in text:
        return StorageFullError(f"the disk of {place} failed or is full ({message}): nothing of this call was stored")
    if "readonly" in text or "read-only" in text or "unable to open database" in text:
        return HomeNotWritableError(
            f"{place} cannot be written ({message}): check its permissions or choose another with home="
        )
    if "locked" in text:
        return HomeInUseError(
            f"{place} is locked by another process: close it there, or use a ledger on PostgreSQL for sharing"
        )
    if "not a database" in text or "malformed" in text:
        return CorruptFileError(
            f"{place} is damaged ({message}): restore it from an export or a backup; indexes are rebuilt from it"
        )
    return None
