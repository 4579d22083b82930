"""Column types that preserve any Python string and value exactly, the same on SQLite and PostgreSQL."""

from __future__ import annotations

import json
import re
from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, Text
from sqlalchemy.engine import Dialect
from sqlalchemy.types import TypeDecorator

from hexamem.errors import CorruptFileError
from hexamem.memory_types.times import from_micros, to_micros

__all__ = ["IdText", "JsonText", "LosslessText", "Micros", "decode_text", "encode_text"]

# PostgreSQL refuses NUL in text and UTF-8 has no lone surrogates; both are escaped with private-use characters.
_OPEN, _CLOSE = "\ue0f0", "\ue0f1"
_TO_ESCAPE = re.compile("[\x00\ud800-\udfff\ue0f0]")
_ESCAPED = re.compile(f"{_OPEN}([0-9a-f]{{1,4}}){_CLOSE}")


def encode_text(value: str) -> str:
    """The text as databases accept it: NUL, lone surrogates and the escape character itself are escaped."""
    if value.isascii() and "\x00" not in value:
        return value
    return _TO_ESCAPE.sub(lambda match: f"{_OPEN}{ord(match.group()):x}{_CLOSE}", value)


def decode_text(value: str) -> str:
    """The exact inverse of :func:`encode_text`."""
    return _ESCAPED.sub(lambda match: chr(int(match.group(1), 16)), value) if _OPEN in value else value


class LosslessText(TypeDecorator[str]):
    """Text of any code points, byte for byte."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        """Escape on the way in."""
        return None if value is None else encode_text(value)

    def process_result_value(self, value: str | None, dialect: Dialect) -> str | None:
        """Restore on the way out."""
        return None if value is None else decode_text(value)


class IdText(TypeDecorator[str]):
    """An id, or another short name made by Hexamem: plain ASCII.

    A caller may look up any string; it is escaped, so that an invalid id is not found rather than refused by the
    database. Nothing is decoded on the way out: stored ids need no decoding, and are read by the thousand.
    """

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        """Escape on the way in."""
        return None if value is None else encode_text(value)


class JsonText(TypeDecorator[Any]):
    """A JSON value as text; NULs and lone surrogates within it are preserved on every database.

    It is not written as ASCII: ``\\ud83d\\ude00`` could then be one character or two lone surrogates.
    """

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Dialect) -> str | None:
        """Write compactly; None stays NULL."""
        return None if value is None else encode_text(json.dumps(value, ensure_ascii=False, separators=(",", ":")))

    def process_result_value(self, value: str | None, dialect: Dialect) -> Any:
        """Read back.

        Raises:
            CorruptFileError: if it is not JSON.
        """
        try:
            return None if value is None else json.loads(decode_text(value))
        except ValueError:
            raise CorruptFileError("a value in the ledger is not JSON: restore the ledger from a backup") from None


class Micros(TypeDecorator[datetime]):
    """An aware datetime as microseconds since the epoch in UTC: exact, ordered, comparable in SQL."""

    impl = BigInteger
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> int | None:
        """Datetime to integer."""
        return None if value is None else to_micros(value)

    def process_result_value(self, value: int | None, dialect: Dialect) -> datetime | None:
        """Integer to datetime."""
        return None if value is None else from_micros(value)
