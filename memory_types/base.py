"""The base of all records: frozen pydantic models with validation errors in one sentence."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, ValidationError
from pydantic_core import PydanticCustomError

from hexamem.errors import InvalidInputError

__all__ = ["FilledText", "Record", "UtcTime", "new_id", "new_ids", "utc_now"]

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
_PAIRS = [first + second for first in _ALPHABET for second in _ALPHABET]  # two digits at a time: ids are made in bulk
_SHIFTS = range(120, -1, -10)


def utc_now() -> datetime:
    """The present moment, timezone-aware in UTC with microseconds."""
    return datetime.now(UTC)


def new_id(prefix: str) -> str:
    """A new identifier such as ``step_06bq3k…``: time-ordered by millisecond, 80 random bits, safe in a file name.

    Args:
        prefix: the kind of record, a short lower-case word.
    """
    return next(new_ids(prefix, 1))


def new_ids(prefix: str, count: int) -> Iterator[str]:
    """``count`` new identifiers as of :func:`new_id`, with one call for random bits."""
    bits = secrets.token_bytes(10 * count)
    for start in range(0, 10 * count, 10):
        value = (time.time_ns() // 1_000_000) << 80 | int.from_bytes(bits[start : start + 10])
        yield f"{prefix}_" + "".join([_PAIRS[value >> shift & 1023] for shift in _SHIFTS])


def _as_utc(value: datetime) -> datetime:
    if value.tzinfo is None:
        raise ValueError(f"time {value.isoformat()} has no timezone; give one, e.g. {value.isoformat()}+00:00")
    return value.astimezone(UTC)


UtcTime = Annotated[datetime, AfterValidator(_as_utc)]
"""An aware datetime, converted to UTC. A naive one is refused: the user's timezone is applied earlier."""


def _filled(value: str) -> str:
    if not value:
        raise PydanticCustomError("empty_text", "give at least one character")
    return value


FilledText = Annotated[str, AfterValidator(_filled)]
"""Text of at least one character. Unlike pydantic's ``min_length`` it accepts lone surrogates, which some hosts send."""


class Record(BaseModel):
    """A frozen record. Unknown fields are refused; errors become one :class:`InvalidInputError`."""

    shows_values: ClassVar[bool] = True
    """Whether an error may contain the invalid value; False where it could be a secret."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        hide_input_in_errors=True,
        ser_json_bytes="base64",
        val_json_bytes="base64",
    )

    if not TYPE_CHECKING:  # checkers see the fields' own signature

        def __init__(self, **values: Any) -> None:
            try:
                super().__init__(**values)
            except ValidationError as error:
                raise InvalidInputError(explain(error, type(self).__name__, type(self).shows_values)) from None
            except TypeError as error:  # pydantic passes the mapping of a nested record as keywords
                raise InvalidInputError(f"{type(self).__name__} is not valid: {error}") from None

    @classmethod
    def parse(cls, values: Mapping[str, Any] | Self) -> Self:
        """Build the record from outside values.

        Raises:
            InvalidInputError: naming each field that does not fit, its value and the rule.
        """
        if isinstance(values, cls):
            return values
        if not isinstance(values, Mapping):
            raise InvalidInputError(
                f"a {cls.__name__} is made from a mapping of its fields, not {type(values).__name__}"
            )
        return cls(**{str(name): value for name, value in values.items()})

    @classmethod
    def of_fields(cls, **fields: Any) -> Self:
        """A record of all its fields, without validation and defaults.

        For trusted values, where records are created by the ten thousand: it takes a fifth of the time of
        ``model_construct``, which looks up defaults and aliases, and sets the same four attributes.
        """
        record = cls.__new__(cls)
        fill = object.__setattr__
        fill(record, "__dict__", fields)
        fill(record, "__pydantic_fields_set__", set(fields))
        fill(record, "__pydantic_extra__", None)
        fill(record, "__pydantic_private__", None)
        return record

    def changed(self, **fields: Any) -> Self:
        """A copy with some fields replaced, validated like a new record."""
        return self.parse({**{name: getattr(self, name) for name in type(self).model_fields}, **fields})


def explain(error: ValidationError, what: str, shows_values: bool = True) -> str:
    """A pydantic error as one line: ``SemanticItem is not valid: name is missing; confidence: …``."""
    parts = []
    for problem in error.errors(include_url=False):
        place = ".".join(str(part) for part in problem["loc"]) or what
        shown = repr(problem.get("input"))
        shown = shown if len(shown) <= 60 else shown[:57] + "..."
        match problem["type"]:
            case "missing":
                parts.append(f"{place} is missing")
            case "extra_forbidden":
                parts.append(f"{place} is not a field of {what}")
            case "value_error":
                parts.append(f"{place}: {problem['ctx']['error']}" if problem["loc"] else str(problem["ctx"]["error"]))
            case _:
                message = problem["msg"]
                value = f" = {shown}" if shows_values else ""
                parts.append(f"{place}{value}: {message[:1].lower()}{message[1:]}")
    return f"{what} is not valid: " + "; ".join(parts)
