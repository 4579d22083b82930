"""Settings: frozen keyword-only dataclasses whose fields pydantic checks, with errors that name field, value and rule."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields
from difflib import get_close_matches
from functools import wraps
from typing import Any, TypeVar, dataclass_transform

from pydantic import AfterValidator, ConfigDict, ValidationError
from pydantic.dataclasses import dataclass

from hexamem.errors import ConfigError
from hexamem.memory_types.times import read_zone

__all__ = ["check_settings", "check_zone", "validated_settings"]

T = TypeVar("T")


@dataclass_transform(frozen_default=True, kw_only_default=True)
def validated_settings(cls: type[T]) -> type[T]:
    """Make a class of settings: a frozen pydantic dataclass, in strict mode, that raises :class:`ConfigError`."""
    checked: Any = dataclass(
        frozen=True, kw_only=True, config=ConfigDict(strict=True, extra="forbid", arbitrary_types_allowed=True)
    )(cls)
    build: Callable[..., None] = checked.__init__

    @wraps(build)
    def __init__(self: T, **values: Any) -> None:
        try:
            build(self, **values)
        except ValidationError as error:
            names = [field.name for field in fields(checked)]
            raise ConfigError("; ".join(_line(cls.__name__, names, problem) for problem in error.errors())) from None

    checked.__init__ = __init__
    return checked  # type: ignore[no-any-return]


def check_settings(given: T | None, kind: type[T], where: str) -> T:
    """Settings as they were given, or every default for None.

    Args:
        kind: their class.
        where: the argument that holds them, for the message.

    Raises:
        ConfigError: for an object of another class, such as a mapping.
    """
    if given is None:
        return kind()
    if not isinstance(given, kind):
        hint = f"(**{given!r})" if isinstance(given, dict) else "(…)"
        raise ConfigError(f"{where} = {given!r} is of type {type(given).__name__}: give {kind.__name__}{hint}")
    return given


def _zone(name: str) -> str:
    read_zone(name)
    return name


check_zone = AfterValidator(_zone)
"""For a field that names a time zone."""


def _line(settings: str, names: Sequence[str], problem: Any) -> str:
    place = ".".join([settings, *(str(part) for part in problem["loc"])])
    message = str(problem["msg"]).removeprefix("Value error, ")
    if problem["type"] == "unexpected_keyword_argument":
        near = get_close_matches(str(problem["loc"][-1]), names, 1)
        hint = f"did you mean {near[0]!r}?" if near else f"the settings are {', '.join(names)}"
        return f"{place}: there is no such setting; {hint}"
    return f"{place} = {problem['input']!r}: {message[:1].lower()}{message[1:]}"
