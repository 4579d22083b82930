"""The Chroma records of a ChromaStore: their ids, conversion to items, and the conditions of LangGraph's stores."""

from __future__ import annotations

import json
import math
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from hashlib import blake2b
from typing import Any, NamedTuple

from langgraph.store.base import MatchCondition, PutOp, tokenize_path

from hexamem.errors import InvalidInputError

__all__ = [
    "Write",
    "field_paths",
    "fields_of",
    "filter_of",
    "item_digest",
    "minutes_of",
    "namespace_matches",
    "record_ids",
    "where_of",
]


class Write(NamedTuple):
    """An item to write: the row of its first record (None to delete it) and the vectors of its texts."""

    of: str
    row: dict[str, Any] | None
    begin: int
    end: int
    vectors: Any = ()


def field_paths(fields: Iterable[str]) -> list[Any]:
    """The parsed paths of fields to index; ``$`` is the whole value."""
    return [field if field == "$" else tokenize_path(field) for field in fields]


def item_digest(namespace: Sequence[str], key: str) -> str:
    """A hash of namespace and key, the prefix of the ids of an item's records."""
    return blake2b(json.dumps([list(namespace), key]).encode(), digest_size=20).hexdigest()


def where_of(prefix: Sequence[str], *conditions: dict[str, Any]) -> dict[str, Any]:
    """Chroma's condition for records under a namespace prefix (all when empty) that meet the others too."""
    under = [{"prefixes": {"$contains": json.dumps(list(prefix))}}] if prefix else []
    every = [*under, *conditions]
    return every[0] if len(every) == 1 else {"$and": every}


def record_ids(row: Mapping[str, Any]) -> list[str]:
    """The ids of all records of an item, from the row of its first."""
    return [f"{row['of']}.{n}" for n in range(max(1, row["texts"]))]


def fields_of(row: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of the item of a row."""
    return {
        "value": json.loads(row["value"]),
        "key": json.loads(row["key"]),
        "namespace": tuple(json.loads(row["namespace"])),
        "created_at": datetime.fromisoformat(row["created"]),
        "updated_at": datetime.fromisoformat(row["updated"]),
    }


def minutes_of(op: PutOp) -> float:
    """The time to live of an item in minutes; 0 for no limit."""
    ttl: object = op.ttl
    if ttl is None:
        return 0.0
    if isinstance(ttl, bool) or not isinstance(ttl, int | float) or not 0 < ttl < math.inf:
        raise InvalidInputError(
            f"ttl = {ttl!r} of {op.key!r} in {op.namespace!r}: give minutes above 0, or None for no limit"
        )
    return float(ttl)


# ------------------------------------------------------------------------------------------------------------ filters

Test = Callable[[Any], bool]
_ORDERED: dict[str, Callable[[float, float], bool]] = {
    "$gt": operator.gt,
    "$gte": operator.ge,
    "$lt": operator.lt,
    "$lte": operator.le,
}


def filter_of(conditions: Mapping[str, Any] | None) -> Callable[[Mapping[str, Any]], bool]:
    """Whether a value meets every condition, by field: an equal value, a mapping of conditions on fields within, or
    operators ``$eq``, ``$ne``, ``$gt``, ``$gte``, ``$lt``, ``$lte``, of which the last four compare numbers.

    Raises:
        InvalidInputError: for an unknown operator.
    """
    tests = {key: _test_of(wanted) for key, wanted in (conditions or {}).items()}
    return lambda value: all(test(value.get(key)) for key, test in tests.items())


def _test_of(wanted: Any) -> Test:
    if isinstance(wanted, Mapping):
        if any(str(key).startswith("$") for key in wanted):
            operators = [_operator_of(str(name), operand) for name, operand in wanted.items()]
            return lambda stored: all(test(stored) for test in operators)
        within = filter_of(wanted)
        return lambda stored: isinstance(stored, Mapping) and within(stored)
    if isinstance(wanted, list | tuple):
        parts = [_test_of(part) for part in wanted]
        return lambda stored: (
            isinstance(stored, list | tuple)
            and len(stored) == len(parts)
            and all(test(part) for test, part in zip(parts, stored, strict=True))
        )
    return lambda stored: bool(stored == wanted)


def _operator_of(name: str, operand: Any) -> Test:
    if name == "$eq":
        return lambda stored: bool(stored == operand)
    if name == "$ne":
        return lambda stored: bool(stored != operand)
    if name not in _ORDERED:
        raise InvalidInputError(f"{name} is not an operator of a filter; use one of $eq, $ne, {', '.join(_ORDERED)}")

    def compare(stored: Any) -> bool:
        try:
            return _ORDERED[name](float(stored), float(operand))
        except (TypeError, ValueError):  # not a number
            return False

    return compare


def namespace_matches(condition: MatchCondition, namespace: tuple[str, ...]) -> bool:
    """Whether a namespace begins (``prefix``) or ends (``suffix``) with a path; ``*`` matches any label.

    Raises:
        InvalidInputError: for an unknown kind of match.
    """
    if condition.match_type not in ("prefix", "suffix"):
        raise InvalidInputError(f"match_type = {condition.match_type!r}: use 'prefix' or 'suffix'")
    path = condition.path
    if len(namespace) < len(path):
        return False
    part = namespace[: len(path)] if condition.match_type == "prefix" else namespace[len(namespace) - len(path) :]
    return all(wanted in ("*", label) for wanted, label in zip(path, part, strict=True))
