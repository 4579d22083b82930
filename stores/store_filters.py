"""The conditions of LangGraph's stores: on the fields of a value, and on namespaces."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from hexamem.errors import InvalidInputError

if TYPE_CHECKING:
    from langgraph.store.base import MatchCondition

__all__ = ["check_conditions", "meets", "namespace_matches"]

_ORDERED: dict[str, Callable[[float, float], bool]] = {
    "$gt": lambda held, wanted: held > wanted,
    "$gte": lambda held, wanted: held >= wanted,
    "$lt": lambda held, wanted: held < wanted,
    "$lte": lambda held, wanted: held <= wanted,
}


def check_conditions(conditions: Mapping[str, Any] | None) -> None:
    """See that every operator of a filter is one, whether or not a value is there to be compared.

    Raises:
        InvalidInputError: for another operator.
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
        InvalidInputError: for another operator.
    """
    return all(_compare(value.get(key), wanted) for key, wanted in conditions.items())


def _compare(held: Any, wanted: Any) -> bool:
    if isinstance(wanted, Mapping):
        if any(str(key).startswith("$") for key in wanted):
            return all(_operator(held, name, operand) for name, operand in wanted.items())
        return isinstance(held, Mapping) and all(_compare(held.get(key), part) for key, part in wanted.items())
    if isinstance(wanted, list | tuple):
        same = isinstance(held, list | tuple) and len(held) == len(wanted)
        return same and all(_compare(one, other) for one, other in zip(held, wanted, strict=True))
    return bool(held == wanted)


def _operator(held: Any, name: str, operand: Any) -> bool:
    if name == "$eq":
        return bool(held == operand)
    if name == "$ne":
        return bool(held != operand)
    _check_operator(name)
    try:
        return _ORDERED[name](float(held), float(operand))
    except (TypeError, ValueError):  # what is no number lies in no range
        return False


def _check_operator(name: str) -> None:
    if name not in ("$eq", "$ne") and name not in _ORDERED:
        raise InvalidInputError(f"{name} is no operator of a filter; use one of $eq, $ne, {', '.join(_ORDERED)}")


def namespace_matches(condition: MatchCondition, namespace: tuple[str, ...]) -> bool:
    """Whether a namespace begins (``prefix``) or ends (``suffix``) with a path; ``*`` stands for any one label.

    Raises:
        InvalidInputError: for another kind of match.
    """
    if condition.match_type not in ("prefix", "suffix"):
        raise InvalidInputError(f"match_type = {condition.match_type!r}: use 'prefix' or 'suffix'")
    path = condition.path
    if len(namespace) < len(path):
        return False
    part = namespace[: len(path)] if condition.match_type == "prefix" else namespace[len(namespace) - len(path) :]
    return all(wanted in ("*", label) for wanted, label in zip(path, part, strict=True))
