"""Reading what people type: ``key=value`` pairs, fields of an item, text from stdin, passphrases."""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args, get_origin

from hexamem.errors import InvalidInputError

if TYPE_CHECKING:
    from hexamem.memory_types import MemoryItem

__all__ = ["ask_passphrase", "confirm", "item_fields", "metadata_filter", "read_stdin", "split_pairs"]


def split_pairs(pairs: Sequence[str], what: str) -> list[tuple[str, str]]:
    """``["a=1", "b=x=y"]`` as ``[("a", "1"), ("b", "x=y")]``.

    Raises:
        InvalidInputError: for one without ``=`` or without a name before it.
    """
    found = []
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name.strip():
            # The text itself may be private (a secret given in the wrong place), so only its start is repeated.
            raise InvalidInputError(f"{what} {pair[:20]!r} is not of the form name=value")
        found.append((name.strip(), value))
    return found


def metadata_filter(pairs: Sequence[str]) -> dict[str, Any]:
    """The ``--metadata`` options: a value that is JSON is read as such (``pages=3``), anything else is text."""
    return {name: _json_or_text(value) for name, value in split_pairs(pairs, "--metadata")}


def _json_or_text(value: str) -> Any:
    try:
        return json.loads(value)
    except ValueError:
        return value


def item_fields(kind: type[MemoryItem], pairs: Sequence[tuple[str, str]], timezone: str = "UTC") -> dict[str, Any]:
    """Typed text as the values of an item's fields, told by the fields' types.

    Text stays as it is; a list is JSON, or its name is given once an entry; a time may have any form that Hexamem
    reads; an empty value empties a field that may be empty; numbers and mappings are JSON.

    Args:
        kind: the class of the item.
        pairs: (field, text).
        timezone: where a time without an offset is read.

    Raises:
        InvalidInputError: for a value that its field cannot take. An unknown field passes: the item itself says so.
    """
    given: dict[str, list[str]] = defaultdict(list)
    for name, text in pairs:
        given[name].append(text)
    values: dict[str, Any] = {}
    for name, texts in given.items():
        field = kind.model_fields.get(name)
        annotation = field.annotation if field else str
        if _is_list(annotation):
            entries = _list(name, texts)
            if name == "sources":
                entries = [{"step_id": one} if isinstance(one, str) else one for one in entries]
            values[name] = entries
            continue
        if len(texts) > 1:
            raise InvalidInputError(f"{name} is given {len(texts)} times; it takes one value")
        values[name] = _one(name, texts[0], annotation, timezone)
    return values


def _is_list(annotation: Any) -> bool:
    return get_origin(annotation) is tuple


def _list(name: str, texts: list[str]) -> list[Any]:
    if len(texts) == 1 and texts[0].lstrip().startswith("["):
        try:
            return list(json.loads(texts[0]))
        except ValueError as error:
            raise InvalidInputError(f"{name} begins like a JSON list and is none: {error}") from None
    return [text for text in texts if text]


def _one(name: str, text: str, annotation: Any, timezone: str) -> Any:
    parts = {annotation, *get_args(annotation)}
    if type(None) in parts and not text:
        return None
    if datetime in parts or any(datetime in get_args(part) for part in parts):
        from hexamem.memory_types.times import parse_time

        return parse_time(text, timezone=timezone).utc
    if int in parts or dict in parts or any(get_origin(part) is dict for part in parts):
        try:
            return json.loads(text)
        except ValueError:
            raise InvalidInputError(f"{name} = {text[:40]!r} is neither a number nor a JSON object") from None
    return text


def read_stdin(what: str) -> str:
    """All of stdin without its last line end.

    Raises:
        InvalidInputError: if there is nothing.
    """
    if sys.stdin is None:
        raise InvalidInputError(f"stdin is closed: {what} was expected there")
    text = sys.stdin.read().removesuffix("\n").removesuffix("\r")
    if not text:
        raise InvalidInputError(f"stdin is empty: {what} was expected there")
    return text


def confirm(question: str, otherwise: str) -> bool:
    """Ask on stderr and read the answer from stdin.

    Raises:
        InvalidInputError: if stdin is at its end; ``otherwise`` says what to do then.
    """
    sys.stderr.write(f"{question} [y/N] ")
    sys.stderr.flush()
    answer = sys.stdin.readline() if sys.stdin is not None else ""
    if not answer:
        sys.stderr.write("\n")
        raise InvalidInputError(otherwise)
    return answer.strip().lower() in ("y", "yes")


def ask_passphrase(file: Path | None, *, twice: bool) -> str:
    """A passphrase: the first line of a file, else typed at the terminal, where it is not shown.

    Raises:
        InvalidInputError: if it is empty, the two do not agree, or there is no terminal to ask at.
    """
    if file is not None:
        lines = file.read_text(encoding="utf-8").splitlines()
        if not lines or not lines[0]:
            raise InvalidInputError(f"{file}: its first line is empty; the passphrase was expected there")
        return lines[0]
    if sys.stdin is None or not sys.stdin.isatty():
        raise InvalidInputError("there is no terminal to ask for the passphrase at: give --passphrase-file")
    import getpass

    passphrase = getpass.getpass("Passphrase: ", stream=sys.stderr)
    if not passphrase:
        raise InvalidInputError("the passphrase is empty")
    if twice and getpass.getpass("The same again: ", stream=sys.stderr) != passphrase:
        raise InvalidInputError("the two passphrases are not the same")
    return passphrase
