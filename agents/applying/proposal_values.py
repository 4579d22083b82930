"""Reads the values of a proposal: a value is corrected where possible, otherwise left out, each with a note.

Models set fields that do not exist, dates without a zone or a day, and lists as text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple, get_args

from hexamem.errors import InvalidInputError
from hexamem.memory_types import DEFAULT_TYPES, MemoryType, Sensitivity
from hexamem.memory_types.coarse_dates import PRECISION, Precision, read_coarse_date
from hexamem.memory_types.times import parse_time
from hexamem.stores.lexical.tokens import repair_surrogates
from hexamem.stores.secrets import find_references

__all__ = ["Fitted", "fit_into", "read_time", "read_values"]

_COMMON = {"valid_from", "valid_to", "labels", "metadata"}
_NOT_PROPOSED = {"kind", "secret_id", "limit"}  # set by the proposal, the vault and the owner of the block
_TIMES = ("valid_from", "valid_to", "occurred_at")
_BEGINNINGS = ("valid_from", "occurred_at")
_LISTS = {"steps": "\n", "labels": ",", "tree_path": "/"}
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029]")
_SENTENCE_END = re.compile(r"\n|(?<=[.!?])\s|(?<=[。！？；])")
_SENSITIVITY: Mapping[str, Sensitivity] = {"phone": "low", "email": "low", "address": "medium"}
"""Entry type → default sensitivity, for those in the vault manager's schema that are less than secret."""


def read_values(memory_type: MemoryType, values: Mapping[str, Any], timezone: str) -> tuple[dict[str, Any], list[str]]:
    """The fields of an item that a proposal sets, and notes on corrections; the notes contain no values.

    Control characters are removed, and times are read in the user's zone (a month, season or year alone is its first day).
    Left out are fields that the kind does not have, that a proposal may not set, or whose value cannot be read.

    Args:
        memory_type: the type of the item. For a type that does not ship, values are validated by its class instead.
        timezone: IANA name of the zone in which naive times are read.
    """
    kind, own = memory_type.name, set(memory_type.own_fields)
    by_class = own if memory_type not in DEFAULT_TYPES else frozenset[str]()
    allowed = (own | _COMMON) - _NOT_PROPOSED
    read: dict[str, Any] = {}
    notes: list[str] = []
    unknown = sorted(str(name)[:40] for name in values if name not in allowed)
    if unknown:
        notes.append(f"{', '.join(unknown[:8])}: not a field that a proposal for a {kind} item may set; left out")
    precision: Precision | None = None
    for name in sorted(allowed & values.keys()):
        if values[name] is None:
            continue
        try:
            value = _deep(values[name]) if name in by_class else _read(name, values[name], timezone)
        except InvalidInputError as error:
            notes.append(f"{name}: {error}; left out")
            continue
        if value != "":
            read[name] = value
        if name in _BEGINNINGS and (coarse := read_coarse_date(str(values[name]))) is not None:
            precision = coarse.precision
    if precision is not None:
        read["metadata"] = {**read.get("metadata", {}), PRECISION: precision}
    begins, ends = read.get("valid_from"), read.get("valid_to")
    if begins and ends and ends <= begins:
        del read["valid_to"]
        notes.append("valid_to: is not after valid_from; left out")
    if kind == "vault" and "sensitivity" not in read and (usual := _SENSITIVITY.get(read.get("entry_type", ""))):
        read["sensitivity"] = usual
    return read, notes


def _read(name: str, value: Any, timezone: str) -> Any:
    """A value in the form of its field; text may be empty.

    Raises:
        InvalidInputError: it cannot be read; the message does not contain it.
    """
    if isinstance(value, str) and not value.strip():
        return ""
    if name in _TIMES:
        return read_time(value, timezone)
    if name in _LISTS:
        parts = value.split(_LISTS[name]) if isinstance(value, str) else value
        if not isinstance(parts, (list, tuple)):
            raise InvalidInputError("not a list")
        return tuple(text for part in parts if isinstance(part, (str, int, float)) and (text := _text(part)))
    if name == "metadata":
        if not isinstance(value, Mapping):
            raise InvalidInputError("not a mapping")
        return _deep(value)
    if name == "sensitivity":
        if value not in get_args(Sensitivity):
            raise InvalidInputError("not low, medium or high")
        return value
    if isinstance(value, (list, tuple)) and all(isinstance(part, str) for part in value):
        value = "\n".join(value)
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise InvalidInputError("not a text")
    return _text(value)


def _text(value: object) -> str:
    return _CONTROL.sub(" ", repair_surrogates(str(value)).replace("\r\n", "\n").replace("\r", "\n")).strip()


def _deep(value: Any) -> Any:
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, Mapping):
        return {str(key): _deep(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_deep(part) for part in value]
    return value


def read_time(value: Any, timezone: str) -> datetime:
    """A time as a model writes it; of a year, season, month or week the first day.

    Raises:
        InvalidInputError: it cannot be read; the message does not contain it.
    """
    if (coarse := read_coarse_date(str(value))) is not None:
        value = coarse.day.isoformat()
    try:
        return parse_time(value, timezone=timezone).utc
    except InvalidInputError:
        raise InvalidInputError("not a time") from None


class Fitted(NamedTuple):
    """A text within its limit, and the rest beyond it."""

    value: str
    rest: str


def fit_into(value: str, limit: int) -> Fitted:
    """Shorten a text to a limit of characters.

    It is cut after the last sentence or line that fits, otherwise between words, and never inside a reference to a
    secret.

    Args:
        value: the text, such as the value of a core item.
        limit: characters, at least 1.
    """
    if len(value) <= limit:
        return Fitted(value, "")
    ends = [match.start() for match in _SENTENCE_END.finditer(value, 0, limit + 1) if 0 < match.start() <= limit]
    at = ends[-1] if ends else _cut(value, limit)
    return Fitted(value[:at].rstrip(), value[at:].lstrip())


def _cut(text: str, limit: int) -> int:
    """The offset at which to cut a text so that its first part has at most ``limit`` characters."""
    references = find_references(text)
    at = next((reference.start for reference in references if reference.start < limit < reference.end), limit)
    if at == len(text) or at == 0:
        return at
    blank = text.rfind(" ", 0, at + 1)
    inside = any(reference.start < blank < reference.end for reference in references)
    return blank if blank > at // 2 and not inside else at
