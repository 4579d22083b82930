"""Statements that are built and compiled once.

SQLAlchemy's overhead for a short statement is several times what SQLite takes for it, and a remembered message or a
recall runs dozens of them. On an embedded ledger a prepared statement is therefore passed to SQLite directly, as
compiled by SQLAlchemy and with the same type conversions; on PostgreSQL, and where event listeners are registered on the
engine, it runs through SQLAlchemy.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from sqlalchemy import ColumnElement, Delete, Dialect, Engine, Insert, Row, Select, Table, Update, bindparam
from sqlalchemy.engine import result_tuple
from sqlalchemy.types import TypeEngine

from hexamem.stores.ledger.engine import sqlite_dialect

__all__ = ["Prepared", "among", "of_user", "runs_directly"]

_LIST = re.compile(r"__\[POSTCOMPILE_(\w+)\]")
_Process: TypeAlias = Callable[[Any], Any] | None


def of_user(table: Table) -> ColumnElement[bool]:
    """The rows of the user that is the parameter ``user``."""
    return table.c.user_id == bindparam("user")


def among(column: ColumnElement[Any]) -> ColumnElement[bool]:
    """Rows with one of the values of the parameter ``ids`` in a column."""
    return column.in_(bindparam("ids", expanding=True))


class Prepared:
    """A statement with named parameters, a constant of a module. Safe to use from several threads.

    The parameter of an ``IN`` is expanding, and takes a list of any length.

    Args:
        statement: with a ``bindparam`` for each value that differs between calls.
    """

    __slots__ = ("_direct", "statement")

    def __init__(self, statement: Select[Any] | Insert | Update | Delete) -> None:
        self.statement = statement
        self._direct: _Direct | None = None

    def rows(self, driver: sqlite3.Connection, values: Mapping[str, Any]) -> list[Row[Any]]:
        """Every row of a select."""
        direct = self._direct or self._compiled()
        fetched = driver.execute(direct.sql, direct.bound(values)).fetchall()
        make, processors = direct.row, direct.results
        if not processors:
            return [make(row) for row in fetched]
        rows = []
        for row in fetched:
            converted = list(row)
            for position, process in processors:
                if converted[position] is not None:
                    converted[position] = process(converted[position])
            rows.append(make(converted))
        return rows

    def run(self, driver: sqlite3.Connection, values: Mapping[str, Any]) -> int:
        """Run a statement that changes rows; returns how many it changed."""
        direct = self._direct or self._compiled()
        return driver.execute(direct.sql, direct.bound(values)).rowcount

    def run_many(self, driver: sqlite3.Connection, values: Sequence[Mapping[str, Any]]) -> None:
        """Run a statement that changes rows, once for each of these values."""
        direct = self._direct or self._compiled()
        driver.executemany(direct.sql, [direct.bound(row) for row in values])

    def _compiled(self) -> _Direct:
        self._direct = _Direct.of(self.statement, sqlite_dialect())
        return self._direct


class _Direct(NamedTuple):
    """A statement for SQLite.

    Attributes:
        sql: with a question mark for each parameter.
        parameters: of each parameter in order the name (None for a constant), the bind processor, whether it is a list,
            and the value of a constant.
        results: position and result processor of the columns that have one.
        row: makes a row of a sequence of values.
    """

    sql: str
    parameters: tuple[tuple[str | None, _Process, bool, Any], ...]
    results: tuple[tuple[int, Callable[[Any], Any]], ...]
    row: Callable[[Sequence[Any]], Row[Any]]

    @classmethod
    def of(cls, statement: Select[Any] | Insert | Update | Delete, dialect: Dialect) -> _Direct:
        """Compile a statement for SQLite."""
        compiled: Any = statement.compile(dialect=dialect)
        parameters = []
        for name in compiled.positiontup:
            bind = compiled.binds[name]
            process = _bind_processor(bind.type, dialect)
            if bind.required:
                parameters.append((name, process, bind.expanding, None))
            else:
                parameters.append((None, None, False, _bound_value(bind.effective_value, process, bind.expanding)))
        columns = list(statement.selected_columns.items()) if isinstance(statement, Select) else []
        results = [(position, _result_processor(column.type, dialect)) for position, (_, column) in enumerate(columns)]
        return cls(
            # The same text for lists of any length, so that SQLite caches the compiled statement too.
            _LIST.sub("SELECT value FROM json_each(?)", compiled.string),
            tuple(parameters),
            tuple((position, process) for position, process in results if process is not None),
            result_tuple([name for name, _ in columns]),
        )

    def bound(self, values: Mapping[str, Any]) -> list[Any]:
        """The parameters with these values, in their order.

        Raises:
            KeyError: for a name without a value.
        """
        return [
            fixed if name is None else _bound_value(values[name], process, many)
            for name, process, many, fixed in self.parameters
        ]


def _bound_value(value: Any, process: _Process, many: bool) -> Any:
    if many:
        return json.dumps(list(value) if process is None else [process(element) for element in value])
    return value if process is None else process(value)


def _bind_processor(kind: TypeEngine[Any], dialect: Dialect) -> _Process:
    return kind.dialect_impl(dialect).bind_processor(dialect)


def _result_processor(kind: TypeEngine[Any], dialect: Dialect) -> _Process:
    return kind.dialect_impl(dialect).result_processor(dialect, None)


def runs_directly(engine: Engine) -> bool:
    """Whether statements may be passed to SQLite directly: on an embedded ledger without listeners for statements."""
    events = engine.dispatch
    listeners = (
        events.before_execute or events.after_execute or events.before_cursor_execute or events.after_cursor_execute
    )
    return engine.dialect.name == "sqlite" and not listeners
