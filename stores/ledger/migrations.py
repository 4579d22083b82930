"""The ledger's version, and the migrations that update an older ledger when it is opened."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache

from sqlalchemy import Connection, func, inspect, select, text
from sqlalchemy.dialects import registry
from sqlalchemy.engine import Engine
from sqlalchemy.schema import CreateIndex, CreateTable

from hexamem.errors import ConfigError, CorruptFileError
from hexamem.stores.ledger.engine import place_of
from hexamem.stores.ledger.row_security import ALL_USERS, POLICY, find_unprotected, policy_statements, set_user
from hexamem.stores.ledger.schema import meta, metadata

__all__ = ["MIGRATIONS", "VERSION", "migrate", "read_version", "restore_policies"]

VERSION = 1
"""The version that this code writes; a later one is refused, an earlier one is migrated."""

Migration = Callable[[Connection], None]


MIGRATIONS: Mapping[int, Migration] = {}
"""``{n: migration}`` from version n-1 to n, run in order in one transaction with the version row."""


_OPENING = 0x686578616D656D  # "hexamem": the advisory lock for creating or migrating a ledger
_CORE = {"meta", "users", "steps", "items"}
"""Tables of every version of the ledger: a database without all of them is not a ledger."""


def read_version(connection: Connection) -> int | None:
    """The ledger's version, or None where there is no ledger yet.

    Raises:
        CorruptFileError: if the database is not a ledger, or its version row is not a number. A SQLite file with other
            tables is not a ledger; a PostgreSQL schema may be shared with tables of other names.
    """
    place = place_of(connection.engine.url)
    inspector = inspect(connection)
    names = set(inspector.get_table_names())
    if not names >= _CORE or {column["name"] for column in inspector.get_columns("meta")} != {"key", "value"}:
        foreign = sorted(names if connection.dialect.name == "sqlite" else names & metadata.tables.keys())
        if foreign:
            shown = ", ".join(foreign[:5]) + (", …" if len(foreign) > 5 else "")
            raise CorruptFileError(
                f"{place} is not a ledger of Hexamem: it has other tables ({shown}); use another database"
            )
        return None
    value = connection.execute(select(meta.c.value).where(meta.c.key == "version")).scalar()
    if value is None or not (str(value).isascii() and str(value).isdigit()):
        raise CorruptFileError(f"{place}: the version row is {value!r}, not a number; restore it from a backup")
    return int(value)


def migrate(engine: Engine, migrations: Mapping[int, Migration] = MIGRATIONS, target: int = VERSION) -> int:
    """Create the ledger, or migrate it to ``target``; returns the version it had before (``target`` when new).

    All migrations run in one transaction: a failure leaves the ledger unchanged.

    Raises:
        CorruptFileError: if the ledger was written by a later version of Hexamem, or a migration is missing.
    """
    place = place_of(engine.url)
    with engine.execution_options(hexamem_write=True).begin() as connection:
        if connection.dialect.name == "postgresql":
            _prepare_postgresql(connection, place)
            set_user(connection, ALL_USERS)  # migrations change the rows of all users
        current = read_version(connection)
        if current is None:
            for statement in _create_statements(connection.dialect.name):
                connection.exec_driver_sql(statement)
            connection.execute(meta.insert(), {"key": "version", "value": str(target)})
            return target
        if current > target:
            raise CorruptFileError(
                f"{place} has ledger version {current}, this Hexamem knows up to {target}: "
                "install a newer hexamem to open it"
            )
        for version in range(current + 1, target + 1):
            if version not in migrations:
                raise CorruptFileError(f"{place}: no migration leads from ledger version {version - 1} to {version}")
            migrations[version](connection)
            connection.execute(meta.update().where(meta.c.key == "version").values(value=str(version)))
        return current


def restore_policies(engine: Engine) -> list[str]:
    """Protect the tables that lack row-level security and that the role owns, on PostgreSQL; returns their names."""
    if engine.dialect.name != "postgresql":
        return []
    with engine.begin() as connection:
        if not any(table.lacking and table.owned for table in find_unprotected(connection)):
            return []
        connection.execute(select(func.pg_advisory_xact_lock(_OPENING)))
        lacking = [table.name for table in find_unprotected(connection) if table.lacking and table.owned]
        weaker = [f"DROP POLICY IF EXISTS {POLICY} ON {table}" for table in lacking]  # for one role or command, say
        for statement in (*weaker, *policy_statements(lacking)):
            connection.exec_driver_sql(statement)
    return lacking


@cache
def _create_statements(dialect: str) -> tuple[str, ...]:
    """The statements that create all tables, indexes and policies, compiled once: that takes longer than running them."""
    target = registry.load(dialect)()
    statements: list[CreateTable | CreateIndex] = []
    for table in metadata.sorted_tables:
        statements.append(CreateTable(table))
        statements += [CreateIndex(index) for index in sorted(table.indexes, key=lambda index: str(index.name))]
    compiled = [str(statement.compile(dialect=target)).replace("%%", "%") for statement in statements]
    return (*compiled, *(policy_statements() if dialect == "postgresql" else ()))


def _prepare_postgresql(connection: Connection, place: str) -> None:
    # Of two processes that open a new database at once, one waits here until the other has created the tables.
    connection.execute(select(func.pg_advisory_xact_lock(_OPENING)))
    encoding = connection.execute(text("SHOW server_encoding")).scalar_one()
    if encoding != "UTF8":
        raise ConfigError(
            f"{place} has the encoding {encoding}, which cannot represent every text: create it with ENCODING 'UTF8'"
        )
