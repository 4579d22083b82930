"""JSON lines: one message ``{role, content, name?, timestamp?, id?, thread_id?}`` a line, as ``hexamem ingest`` reads.

A file that ends in ``.json`` holds them as one JSON array. Lines end at a newline byte only, so that characters such as
U+2028 inside a message do not cut it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import BaseModel, Field, ValidationError, model_validator

from hexamem.errors import CorruptFileError
from hexamem.evals.records import Conversation, EvalMessage, listed, read_json, why
from hexamem.stores.disk import LONGEST_LINE, bounded_lines

__all__ = ["JsonLines", "fits", "load_jsonl", "read_records"]

_PASSED_ON = ("tool_calls", "tool_call_id")
_KNOWN = {"role", "content", "name", "timestamp", "id", "thread_id", *_PASSED_ON}


class JsonLines(NamedTuple):
    """The objects of a JSON-lines file with their line numbers (from 1), and notes on the lines left out."""

    records: list[tuple[int, dict[str, Any]]]
    notes: tuple[str, ...]


class _Line(BaseModel):
    role: str = Field(min_length=1)
    content: str | list[dict[str, Any]] | None
    tool_calls: Any = None
    name: str | None = None
    timestamp: str | None = None
    id: str | None = None
    thread_id: str | None = None

    @model_validator(mode="after")
    def _has_content(self) -> _Line:
        if self.content is None and not self.tool_calls:
            raise ValueError("content is null; only a message with tool_calls may have none")
        return self


def load_jsonl(path: Path, *, skip_bad: bool = False) -> list[Conversation]:
    """A file of messages as one conversation without questions; its id is the file's name.

    ``tool_calls`` and ``tool_call_id`` are passed on; other keys that a message does not have are not, and a note counts
    them. Raises as :func:`read_records`.
    """
    lines = read_records(path, skip_bad=skip_bad, check=fits(_Line))
    foreign = Counter(key for _, record in lines.records for key in record.keys() - _KNOWN)
    notes = lines.notes
    if foreign:
        counts = ", ".join(f"{key} ({count} lines)" for key, count in sorted(foreign.items()))
        notes = (*notes, f"{path}: keys that a message does not have, left out: {counts}")
    messages = tuple(
        EvalMessage(
            id=record.get("id") or None,
            role=record["role"],
            name=record.get("name") or None,
            content=record["content"] or "",
            timestamp=record.get("timestamp") or None,
            thread_id=record.get("thread_id") or None,
            extra={key: record[key] for key in _PASSED_ON if key in record},
        )
        for _, record in lines.records
    )
    return [Conversation(id=path.stem, messages=messages, notes=notes, dataset="jsonl")]


def fits(form: type[BaseModel]) -> Callable[[object], str | None]:
    """A check for :func:`read_records`: why an object does not fit a pydantic model, or None."""

    def problem(record: object) -> str | None:
        try:
            form.model_validate(record)
        except ValidationError as error:
            return why(error)
        return None

    return problem


def read_records(path: Path, *, skip_bad: bool, check: Callable[[dict[str, Any]], str | None]) -> JsonLines:
    """Read the objects of a JSON-lines file, or of the array in a ``.json`` file.

    Args:
        path: the file.
        skip_bad: leave bad lines out with a note instead of raising.
        check: returns the reason why an object is not acceptable, or None.

    Raises:
        CorruptFileError: naming file, line and reason, at the first bad line, unless ``skip_bad``.
    """
    records: list[tuple[int, dict[str, Any]]] = []
    notes: list[str] = []
    in_array = path.suffix == ".json"
    unit = "message" if in_array else "line"
    for number, value, unreadable in _array(path) if in_array else _lines(path):
        problem = unreadable
        if problem is None and not isinstance(value, dict):
            problem = f"is a JSON {type(value).__name__}, not an object with role and content"
        problem = problem or check(value)
        if problem is None:
            records.append((number, value))
        elif skip_bad:
            notes.append(f"{path}, {unit} {number}: {problem}; left out")
        else:
            raise CorruptFileError(f"{path}, {unit} {number}: {problem}; pass --skip-bad to leave such {unit}s out")
    return JsonLines(records, tuple(notes))


def _array(path: Path) -> Iterator[tuple[int, Any, str | None]]:
    for number, value in enumerate(listed(read_json(path)), start=1):
        yield number, value, None


def _lines(path: Path) -> Iterator[tuple[int, Any, str | None]]:
    """The number, value and fault of each line that is not blank."""
    with path.open("rb") as file:
        for number, (line, whole) in enumerate(bounded_lines(file), start=1):
            if not whole:
                yield number, None, f"longer than {LONGEST_LINE:,} bytes"
                continue
            raw = line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line
            try:
                if raw.strip():
                    yield number, json.loads(raw.rstrip(b"\r\n").decode("utf-8")), None
            except UnicodeDecodeError as error:
                yield number, None, f"not UTF-8 text ({error.reason} at byte {error.start + 1})"
            except json.JSONDecodeError as error:
                yield number, None, f"not valid JSON ({error.msg}, column {error.colno})"
            except RecursionError:
                yield number, None, "not valid JSON (nested too deeply)"
