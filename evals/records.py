"""The records that every loader returns, and what loaders share.

A :class:`Conversation` separates what the memory may see (``messages``) from what only a scorer may read
(``questions`` and every ``gold`` mapping). Identifiers that the memory sees are neutral: where a data set spells the
answer into an id (LongMemEval's ``answer_…`` sessions, CAME-Bench's topic ids), the loader numbers instead and stores
the original under ``gold``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args

from pydantic import TypeAdapter, ValidationError

from hexamem.errors import CorruptFileError

__all__ = [
    "FORMATS",
    "Conversation",
    "DataFormat",
    "EvalMessage",
    "Question",
    "listed",
    "natural_key",
    "not_scored",
    "parsed",
    "read_json",
    "turn_time",
    "why",
]

DataFormat = Literal["locomo", "came", "longmemeval", "hotpotqa", "questions", "jsonl"]
FORMATS: tuple[DataFormat, ...] = get_args(DataFormat)
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class EvalMessage:
    """One turn as the memory sees it.

    Attributes:
        id: unique in its conversation: the turn's id, or a neutral one (``session_3#4``, ``turn-12``); None where a JSONL
            line has none, since an invented id would make two files collide.
        role: ``user``, ``assistant``, ``system`` or ``tool``; people who talk with each other are all ``user``.
        content: a text, or OpenAI-style content blocks of a JSONL line.
        caption: of the first picture.
        timestamp: ISO 8601 or the raw text of the file; without offset where the data names no timezone.
        thread_id: the session.
        extra: ``tool_calls`` and ``tool_call_id``, passed on unchanged.
    """

    id: str | None
    role: str
    name: str | None
    content: str | Sequence[Mapping[str, Any]]
    caption: str | None = None
    timestamp: str | None = None
    thread_id: str | None = None
    image_urls: tuple[str, ...] = ()
    extra: Mapping[str, Any] = field(default_factory=dict, compare=False)

    def as_message(self) -> dict[str, Any]:
        """The OpenAI-style dictionary for ``UserMemory.remember``, with the fields that are known; pictures are blocks."""
        content: Any = self.content if isinstance(self.content, str) else [dict(block) for block in self.content]
        if self.caption or self.image_urls:
            blocks: list[dict[str, Any]] = [{"type": "text", "text": content}] if isinstance(content, str) else content
            for index, url in enumerate(self.image_urls or (None,)):
                image = {"type": "image", "url": url, "caption": self.caption if index == 0 else None}
                blocks.append({key: value for key, value in image.items() if value})
            content = blocks
        message: dict[str, Any] = {"role": self.role, "name": self.name, "content": content}
        message |= {"timestamp": self.timestamp, "id": self.id, **self.extra}
        return {key: value for key, value in message.items() if value is not None or key == "content"}


@dataclass(frozen=True, slots=True)
class Question:
    """One question about a conversation, for the scorer alone except ``text`` (and ``asked_at``).

    Attributes:
        id: unique over all conversations of a data set.
        answer: the gold answer; empty where the question has none.
        category: the data set's own name for the kind of question (``"1"`` … ``"5"``, ``"type 3"``, …).
        evidence: ids of the turns with the answer, each an ``EvalMessage.id``, without duplicates; not scored if empty.
        asked_at: ISO 8601.
        evidence_threads: ids of the sessions with the answer, where the data set names them.
        gold: further annotations of the data set.
    """

    id: str
    text: str
    answer: str
    category: str
    evidence: tuple[str, ...]
    asked_at: str | None = None
    evidence_threads: tuple[str, ...] = ()
    gold: Mapping[str, Any] = field(default_factory=dict, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation in order of time, with its questions.

    Attributes:
        id: unique in a run, fit as a user name (``locomo-26``).
        questions: all of them, also those without evidence, which a runner skips and counts.
        notes: what the loader left out or made up, each with a count.
        dataset: its format; ``synthetic`` or ``ruler`` where it was made up (:mod:`.synthetic`, :mod:`.ruler`).
        gold: annotations of turns by ``EvalMessage.id``, for scorers alone.
        metadata: facts on the file (``language``, ``license``, ``about``).
    """

    id: str
    messages: tuple[EvalMessage, ...]
    questions: tuple[Question, ...] = ()
    notes: tuple[str, ...] = ()
    dataset: DataFormat | Literal["synthetic", "ruler"] = "jsonl"
    gold: Mapping[str, Mapping[str, Any]] = field(default_factory=dict, compare=False, repr=False)
    metadata: Mapping[str, Any] = field(default_factory=dict, compare=False)


def read_json(path: Path) -> Any:
    """The content of a JSON file (UTF-8, with or without a byte order mark).

    Raises:
        CorruptFileError: naming the file and the line.
    """
    try:
        return json.loads(path.read_bytes().decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise CorruptFileError(f"{path}, line {line}: not UTF-8 text ({error.reason}); save it as UTF-8") from None
    except json.JSONDecodeError as error:
        raise CorruptFileError(
            f"{path}, line {error.lineno}: not valid JSON ({error.msg}, column {error.colno}); get the file again"
        ) from None
    except RecursionError:
        raise CorruptFileError(f"{path}: not valid JSON (nested too deeply); get the file again") from None


def listed(data: Any) -> list[Any]:
    """The records of a file that holds one or a list of them."""
    return data if isinstance(data, list) else [data]


def parsed(form: type[T], data: Any, place: str) -> T:
    """Data as a pydantic form.

    Raises:
        CorruptFileError: naming the place, the field and what is wrong with it.
    """
    try:
        return TypeAdapter(form).validate_python(data)
    except ValidationError as error:
        raise CorruptFileError(f"{place}: {why(error)}") from None


def why(error: ValidationError) -> str:
    """The first thing that did not fit: its place in the record, the rule and the value."""
    first = error.errors(include_url=False, include_context=False)[0]
    place = ".".join(str(part + 1) if isinstance(part, int) else part for part in first["loc"])
    value = "" if first["type"] == "missing" else f", not {str(first['input'])[:80]!r}"
    return f"{place or 'the record'}: {first['msg'].removeprefix('Value error, ')}{value}"


def not_scored(unknown: Sequence[str], questions: Iterable[Question]) -> list[str]:
    """Notes on evidence that no turn has, and on questions that are left without any."""
    bare = [question.id for question in questions if not question.evidence]
    return [
        f"{len(names)} {what}: {', '.join(names)}"
        for names, what in (
            (unknown, "evidence id(s) that no turn has, left out"),
            (bare, "question(s) without evidence, not scored"),
        )
        if names
    ]


def turn_time(start: datetime | None, index: int) -> str | None:
    """The time of turn ``index`` (from 0) of a session: one second a turn, which preserves their order under a sort by time.

    At the end of the calendar it is the session's own.
    """
    if start is None:
        return None
    try:
        return (start + timedelta(seconds=index)).isoformat()
    except OverflowError:
        return start.isoformat()


def natural_key(text: str) -> tuple[tuple[int, int, str], ...]:
    """A sort key under which ``session_10`` follows ``session_9``."""
    parts: Iterable[str] = re.split(r"(\d+)", text)
    return tuple((0, int(part), "") if part.isdecimal() else (1, 0, part) for part in parts if part)
