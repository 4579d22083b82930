"""Checks of the arguments of public calls: each error names the argument, its value and the rule."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterable, Mapping
from math import inf, nan
from pathlib import Path
from typing import Any

from hexamem.errors import InvalidInputError
from hexamem.memory_types.messages import MessageDraft
from hexamem.memory_types.times import shown


def check_text(value: object, what: str) -> str:
    """The value if it is a string, empty or not."""
    if not isinstance(value, str):
        raise InvalidInputError(f"{what} = {shown(value)} is of type {type(value).__name__}; give text")
    return value


def check_query(query: object) -> None:
    """Check that a question is text and not blank."""
    if not isinstance(query, str) or not query.strip():
        raise InvalidInputError(f"query = {query!r}: pass a question or keywords")


def check_choice(value: object, what: str, choices: Collection[object]) -> None:
    """Check that a value is one of several."""
    if value not in choices:
        raise InvalidInputError(f"{what} = {value!r}: use one of {', '.join(map(str, choices))}")


def check_texts(values: object, what: str) -> list[str]:
    """Several strings, or one alone, as a list."""
    if isinstance(values, str):
        return [values]
    if isinstance(values, bytes | bytearray | Mapping) or not isinstance(values, Iterable):
        raise InvalidInputError(f"{what} = {shown(values)} is of type {type(values).__name__}; give a list of ids")
    return [check_text(value, what) for value in values]


def check_count(value: object, what: str, highest: int | None = None, *, lowest: int = 1) -> int:
    """A whole number of at least ``lowest``; True and 2.0 are none."""
    if not isinstance(value, int) or isinstance(value, bool) or not lowest <= value <= (highest or value):
        raise InvalidInputError(f"{what} = {shown(value)}: give a whole number {_range(lowest, highest)}")
    return value


def check_number(value: object, what: str, lowest: float | None = None, highest: float | None = None) -> None:
    """Check that a value is a finite number within bounds."""
    number = value if isinstance(value, int | float) and not isinstance(value, bool) else nan
    if not (-inf < number < inf and (lowest is None or number >= lowest) and (highest is None or number <= highest)):
        raise InvalidInputError(f"{what} = {value!r}: give a number {_range(lowest, highest)}".rstrip())


def _range(lowest: float | None, highest: float | None) -> str:
    if lowest is None:
        return ""
    return f"of at least {lowest}" if highest is None else f"from {lowest} to {highest:,}"


def kinds_in(
    kinds: str | Collection[str] | None, types: Iterable[str], *, items_only: bool = False
) -> frozenset[str] | None:
    """The kinds as a set, or None for all."""
    if kinds is None:
        return None
    known = set(types) if items_only else {"step", *types}
    chosen = check_texts(kinds, "kinds")
    unknown = sorted(set(chosen) - known)
    if unknown or not chosen:
        raise InvalidInputError(f"kinds = {unknown or chosen!r}: use one or more of {', '.join(sorted(known))}")
    return frozenset(chosen)


def json_mapping(value: object, what: str) -> dict[str, Any]:
    """A copy of a mapping of JSON values; empty for None."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise InvalidInputError(f"{what} = {shown(value)} is of type {type(value).__name__}; give a mapping")
    try:
        return dict(json.loads(json.dumps(dict(value), allow_nan=False)))
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInputError(f"{what} is not JSON: {error}; use strings, numbers, lists and mappings") from None


def folder_path(value: object, what: str) -> Path:
    """The path of a folder, with ``~`` expanded."""
    return _path(value, what, "folder").expanduser()


def file_path(value: object, what: str = "path") -> Path:
    """The path of a file."""
    path = _path(value, what, "file")
    if not path.name:
        raise InvalidInputError(f"{what} = {shown(str(value))} names no file; give the path of a file")
    return path


def _path(value: object, what: str, kind: str) -> Path:
    if not isinstance(value, str | os.PathLike) or not isinstance(os.fspath(value), str):
        raise InvalidInputError(f"{what} = {shown(value)} is of type {type(value).__name__}; give the path of a {kind}")
    if "\0" in os.fspath(value):
        raise InvalidInputError(f"{what} = {shown(str(value))} names no {kind}; give the path of a {kind}")
    return Path(value)


def check_message_size(draft: MessageDraft, metadata: Mapping[str, Any], position: int, limit: int) -> None:
    """Check the size of a message: of everything that is stored of it, in UTF-8."""
    plain = not (draft.blocks or draft.tool_calls or draft.media or draft.reasoning or draft.metadata or metadata)
    if plain and 4 * (len(draft.text) + len(draft.index_text) + len(draft.name or "")) <= limit:
        return  # no character takes more than 4 bytes
    texts = [draft.text, draft.reasoning or "", draft.name or ""]
    texts += [draft.index_text] if draft.index_text != draft.text else []
    values: list[Any] = [list(draft.blocks), {**metadata, **draft.metadata}]
    values.append([[call.id, call.name, call.arguments] for call in draft.tool_calls])
    texts += [json.dumps(value, ensure_ascii=False) for value in values if value]
    size = sum(len(text.encode("utf-8", "surrogatepass")) for text in texts)
    size += sum(len(media.data or b"") for media in draft.media)
    if size > limit:
        raise InvalidInputError(
            f"message {position} has {size:,} bytes; the limit is {limit:,}: add it as a file, split it, or raise "
            "Settings.max_message_bytes"
        )
