"""The conditions of LangGraph's stores, on the fields of a value and on namespaces."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from hexamem.errors import InvalidInputError

if TYPE_CHECKING:
    from langgraph.store.base import MatchCondition

__all__ = ["check_conditions", "meets", "namespace_matches"]

_ORDERED: dict[str, Callable[[float, float], bool]] = {
    "$gt": lambda stored, wanted: stored > wanted,
    "$gte": lambda stored, wanted: stored >= wanted,
    "$lt": lambda stored, wanted: stored < wanted,
    "$lte": lambda stored, wanted: stored <= wanted,
}


def check_conditions(conditions: Mapping[str, Any] | None) -> None:
    """Check the operators of a filter, also where no value is compared.

    Raises:
        InvalidInputError: for an unknown operator.
    """
    for wanted in (conditions or {}).values():
        if isinstance(wanted, Mapping):
            operators = [str(key) for key in wanted if str(key).startswith("$")]
            for name in wanted if operators else ():
                _check_operator(str(name))
            if not operators:
                check_conditions(wanted)


def meets(value: Mapping[str, Any], conditions: Mapping[str, Any]) -> bool:
    """Whether a value meets every condition, by field: an equal value, a mapping of conditions on fields within, or
    operators ``$eq``, ``$ne``, ``$gt``, ``$gte``, ``$lt``, ``$lte``, of which the last four compare numbers.

    Raises:
        InvalidInputError: for an unknown operator.
    """
    return all(_compare(value.get(key), wanted) for key, wanted in conditions.items())


def _compare(stored: Any, wanted: Any) -> bool:
    if isinstance(wanted, Mapping):
        if any(str(key).startswith("$") for key in wanted):
            return all(_operator(stored, name, operand) for name, operand in wanted.items())
        return isinstance(stored, Mapping) and all(_compare(stored.get(key), part) for key, part in wanted.items())
    if isinstance(wanted, list | tuple):
        same = isinstance(stored, list | tuple) and len(stored) == len(wanted)
        return same and all(_compare(part, other) for part, other in zip(stored, wanted, strict=True))
    return bool(stored == wanted)


def _operator(stored: Any, name: str, operand: Any) -> bool:
    if name == "$eq":
        return bool(stored == operand)
    if name == "$ne":
        return bool(stored != operand)
    _check_operator(name)
    try:
        return _ORDERED[name](float(stored), float(operand))
    except (TypeError, ValueError):  # not a number
        return False


def _check_operator(name: str) -> None:
    if name not in ("$eq", "$ne") and name not in _ORDERED:
        raise InvalidInputError(f"{name} is not an operator of a filter; use one of $eq, $ne, {', '.join(_ORDERED)}")


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
