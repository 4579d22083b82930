"""Statements that are put together and compiled once.

What SQLAlchemy does around a short statement takes several times as long as SQLite takes for it, and a remembered
message or a recall makes some dozens. So on an embedded ledger a prepared statement goes to SQLite as it was compiled by
SQLAlchemy, with the same types in and out; on PostgreSQL, and where somebody listens to the engine's statements, it goes
the usual way.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from sqlalchemy import Delete, Dialect, Engine, Insert, Row, Select, Update
from sqlalchemy.engine import result_tuple
from sqlalchemy.types import TypeEngine

from hexamem.stores.ledger.engine import sqlite_dialect

__all__ = ["Prepared", "goes_lean"]

_LIST = re.compile(r"__\[POSTCOMPILE_(\w+)\]")
_Process: TypeAlias = Callable[[Any], Any] | None


class Prepared:
    """A statement with named parameters, built once for a module. Safe to use from several threads.

    A parameter of an ``IN`` is an expanding one, and takes a list of any length.

    Args:
        statement: with a ``bindparam`` for each value that is not always the same.
    """

    __slots__ = ("_lean", "statement")

    def __init__(self, statement: Select[Any] | Insert | Update | Delete) -> None:
        self.statement = statement
        self._lean: _Lean | None = None

    def rows(self, driver: sqlite3.Connection, values: Mapping[str, Any]) -> list[Row[Any]]:
        """Every row of a select, from SQLite."""
        lean = self._lean or self._compiled()
        found = driver.execute(lean.sql, lean.bound(values)).fetchall()
        make, processors = lean.row, lean.results
        if not processors:
            return [make(row) for row in found]
        rows = []
        for row in found:
            read = list(row)
            for place, process in processors:
                if read[place] is not None:
                    read[place] = process(read[place])
            rows.append(make(read))
        return rows

    def run(self, driver: sqlite3.Connection, values: Mapping[str, Any]) -> int:
        """Change rows in SQLite; returns how many there were."""
        lean = self._lean or self._compiled()
        return driver.execute(lean.sql, lean.bound(values)).rowcount

    def run_many(self, driver: sqlite3.Connection, values: Sequence[Mapping[str, Any]]) -> None:
        """Change rows in SQLite by each of these."""
        lean = self._lean or self._compiled()
        driver.executemany(lean.sql, [lean.bound(one) for one in values])

    def _compiled(self) -> _Lean:
        self._lean = _Lean.of(self.statement, sqlite_dialect())
        return self._lean


class _Lean(NamedTuple):
    """A statement as SQLite takes it.

    Attributes:
        sql: with a question mark for each parameter.
        parameters: in their order the name (None for a value that never changes), what turns a value into SQLite's,
            whether it is a list, and the value.
        results: place and processor of the columns whose values are turned into Python's.
        row: makes a row of a sequence of values.
    """

    sql: str
    parameters: tuple[tuple[str | None, _Process, bool, Any], ...]
    results: tuple[tuple[int, Callable[[Any], Any]], ...]
    row: Callable[[Sequence[Any]], Row[Any]]

    @classmethod
    def of(cls, statement: Select[Any] | Insert | Update | Delete, dialect: Dialect) -> _Lean:
        """Compile a statement for SQLite."""
        compiled: Any = statement.compile(dialect=dialect)
        parameters = []
        for name in compiled.positiontup:
            bind = compiled.binds[name]
            process = _bind_processor(bind.type, dialect)
            if bind.required:
                parameters.append((name, process, bind.expanding, None))
            else:
                parameters.append((None, None, False, _put(bind.effective_value, process, bind.expanding)))
        columns = list(statement.selected_columns.items()) if isinstance(statement, Select) else []
        results = [(place, _result_processor(column.type, dialect)) for place, (_, column) in enumerate(columns)]
        return cls(
            # One text for lists of any length: SQLite keeps it compiled too.
            _LIST.sub("SELECT value FROM json_each(?)", compiled.string),
            tuple(parameters),
            tuple((place, process) for place, process in results if process is not None),
            result_tuple([name for name, _ in columns]),
        )

    def bound(self, values: Mapping[str, Any]) -> list[Any]:
        """The parameters with these values, in their order.

        Raises:
            KeyError: for a name without a value.
        """
        return [
            fixed if name is None else _put(values[name], process, many)
            for name, process, many, fixed in self.parameters
        ]


def _put(value: Any, process: _Process, many: bool) -> Any:
    if many:
        return json.dumps(list(value) if process is None else [process(one) for one in value])
    return value if process is None else process(value)


def _bind_processor(kind: TypeEngine[Any], dialect: Dialect) -> _Process:
    return kind.dialect_impl(dialect).bind_processor(dialect)


def _result_processor(kind: TypeEngine[Any], dialect: Dialect) -> _Process:
    return kind.dialect_impl(dialect).result_processor(dialect, None)


def goes_lean(engine: Engine) -> bool:
    """Whether statements may go to SQLite itself: on an embedded ledger, while nobody listens to them."""
    heard = engine.dispatch
    listened_to = (
        heard.before_execute or heard.after_execute or heard.before_cursor_execute or heard.after_cursor_execute
    )
    return engine.dialect.name == "sqlite" and not listened_to
