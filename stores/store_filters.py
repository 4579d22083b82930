"""The conditions of LangGraph's stores, on the fields of a value and on namespaces."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from hexamem.errors import InvalidInputError

if TYPE_CHECKING:
    from langgraph.store.base import MatchCondition

__all__ = ["filter_of", "namespace_matches"]

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
