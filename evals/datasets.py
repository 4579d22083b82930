"""Reading files and folders of conversations: which loader each needs."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from hexamem.errors import InvalidInputError
from hexamem.evals.came_bench import load_came_bench, sibling
from hexamem.evals.hotpotqa import is_hotpotqa, load_hotpotqa
from hexamem.evals.jsonl import load_jsonl
from hexamem.evals.locomo import load_locomo, load_other_questions
from hexamem.evals.longmemeval import load_longmemeval
from hexamem.evals.records import FORMATS, Conversation, DataFormat, listed, natural_key, read_json
from hexamem.stores.disk import bounded_lines

__all__ = ["detect_format", "each_once", "load_conversations", "load_files"]

_Format = Literal["auto"] | DataFormat
_LOADERS: Mapping[str, Callable[[Path, bool], list[Conversation]]] = {
    "locomo": lambda path, skip_bad: load_locomo(path),
    "came": lambda path, skip_bad: load_came_bench(path, skip_bad=skip_bad),
    "longmemeval": lambda path, skip_bad: load_longmemeval(path),
    "hotpotqa": lambda path, skip_bad: load_hotpotqa(path),
    "questions": lambda path, skip_bad: load_other_questions(path),
    "jsonl": lambda path, skip_bad: load_jsonl(path, skip_bad=skip_bad),
}


def load_files(paths: Sequence[Path], format: _Format = "auto") -> list[Conversation]:
    """The conversations of several files and folders, see :func:`load_conversations` and :func:`each_once`.

    Of several paths, as a shell makes of ``folder/*``, files of no known form are left out and named in a note.
    """
    foreign = [path for path in paths if len(paths) > 1 and path.is_file() and detect_format(path) is None]
    read = [path for path in each_once(paths) if path not in foreign] or paths
    conversations = [conversation for path in read for conversation in load_conversations(path, format)]
    return _noted(conversations, [str(path) for path in foreign], "what was named")


def each_once(paths: Sequence[Path]) -> list[Path]:
    """The paths without those that another one brings: of a trajectory's turns and questions the first of the two."""
    unique: list[Path] = []
    for path in paths:
        came = path.suffix == ".jsonl" and path.is_file() and detect_format(path) == "came"
        if not came or sibling(path) not in unique:
            unique.append(path)
    return unique


def load_conversations(path: str | Path, format: _Format = "auto", *, skip_bad: bool = False) -> list[Conversation]:
    """Read every conversation in a file or folder.

    Args:
        path: a ``.json`` or ``.jsonl`` file, or a folder, whose own such files are read in natural order of their
            names. Of CAME-Bench either the turns or the questions file.
        format: the form of the data; ``auto`` looks into each file.
        skip_bad: leave unreadable lines of JSON-lines files out, each with a note, instead of raising.

    Returns:
        The conversations, at least one. Files of a folder that hold none are named in the first one's notes.

    Raises:
        InvalidInputError: the path does not exist, holds no conversation, or the format is unknown.
        CorruptFileError: a file is damaged or not in the announced form.
    """
    if format not in ("auto", *FORMATS):
        raise InvalidInputError(f"format {format!r} is unknown; use auto, {', '.join(FORMATS)}")
    root = Path(path)
    if not root.exists():
        raise InvalidInputError(f"{root}: no such file or folder")
    if root.is_file():
        form = format if format != "auto" else detect_format(root)
        if form is None:
            raise InvalidInputError(f"{root}: not a conversation of a known form ({', '.join(FORMATS)})")
        return _LOADERS[form](root, skip_bad)
    files = sorted(root.glob("*.json")) + sorted(root.glob("*.jsonl"))
    forms = {file: detect_format(file) for file in each_once(sorted(files, key=lambda file: natural_key(file.name)))}
    left_out = [file.name for file, form in forms.items() if form is None or format not in ("auto", form)]
    conversations = [
        conversation
        for file, form in forms.items()
        if form is not None and file.name not in left_out
        for conversation in _LOADERS[form](file, skip_bad)
    ]
    if not conversations:
        wanted = "conversation of a known form" if format == "auto" else f"{format} conversation"
        raise InvalidInputError(f"{root}: no {wanted} among its .json and .jsonl files")
    return _noted(conversations, left_out, root.name)


def _noted(conversations: list[Conversation], left_out: Sequence[str], whole: str) -> list[Conversation]:
    """The conversations, with a note on the files that were left out."""
    if not left_out:
        return conversations
    note = f"{len(left_out)} file(s) of {whole} hold no such conversation and were left out: {', '.join(left_out)}"
    first, *others = conversations
    return [replace(first, notes=(*first.notes, note)), *others]


def detect_format(path: Path) -> DataFormat | None:
    """Which form a file has, judged by the keys of its first record; None if it is none of them.

    Raises:
        CorruptFileError: a ``.json`` file is not valid JSON. (A bad line of a ``.jsonl`` file is its loader's to
            report, with the line's number.)
    """
    if path.suffix == ".jsonl":
        return _detect_lines(path)
    first = next(iter(listed(read_json(path))), None)
    if not isinstance(first, dict):
        return None
    if {"role", "content"} <= first.keys():
        return "jsonl"
    if "haystack_sessions" in first:
        return "longmemeval"
    if is_hotpotqa(first):
        return "hotpotqa"
    if {"conversation", "kind", "question"} <= first.keys():
        return "questions"
    talk = first.get("conversation", first)
    sessions = isinstance(talk, dict) and any(re.fullmatch(r"session_\d+", key) for key in talk)
    return "locomo" if sessions else None


def _detect_lines(path: Path) -> DataFormat | None:
    empty = True
    with path.open("rb") as lines:
        for line, whole in bounded_lines(lines):
            if whole and not line.strip():
                continue
            empty = False
            try:
                record: Any = json.loads(line)
            except (ValueError, RecursionError):
                continue
            keys = record.keys() if isinstance(record, dict) else set()
            if "answer_turn_ids" in keys or {"partition", "action"} <= keys:
                return "came"
            if {"role", "content"} <= keys:
                return "jsonl"
    return None if empty else "jsonl"
