"""Reading a file or folder of conversations: which loader it needs."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Literal

from hexamem.errors import InvalidInputError
from hexamem.evals.hotpotqa import is_hotpotqa
from hexamem.evals.narrativeqa import is_narrativeqa
from hexamem.evals.records import FORMATS, Conversation, DataFormat, EvalMessage, Question, natural_key, read_json

__all__ = ["Conversation", "EvalMessage", "Question", "detect_format", "load_conversations"]

_SUFFIXES = (".json", ".jsonl")


def load_conversations(
    path: str | Path, format: Literal["auto"] | DataFormat = "auto", *, skip_bad: bool = False
) -> list[Conversation]:
    """Read every conversation in a file or folder.

    Args:
        path: a ``.json`` or ``.jsonl`` file, or a folder, whose own such files are read in natural order of their
            names (subfolders are not). Of CAME-Bench either the turns or the questions file; the other is found by
            its name.
        format: the form of the data; ``auto`` looks into each file.
        skip_bad: leave unreadable lines of JSON-lines files out, each with a note, instead of raising.

    Returns:
        The conversations, at least one. Files of a folder that hold none are named in the first one's notes.

    Raises:
        InvalidInputError: the path does not exist, holds no conversation, or the format is unknown.
        CorruptFileError: a file is damaged or not in the announced form.
    """
    if format != "auto" and format not in FORMATS:
        raise InvalidInputError(f"format {format!r} is unknown; use auto, {', '.join(FORMATS)}")
    root = Path(path)
    if not root.exists():
        raise InvalidInputError(f"{root}: no such file or folder")
    if root.is_file():
        found = format if format != "auto" else detect_format(root)
        if found is None:
            raise InvalidInputError(f"{root}: not a conversation of a known form ({', '.join(FORMATS)})")
        return _loader(found)(root, skip_bad)

    conversations: list[Conversation] = []
    left_out: list[str] = []
    partners: set[Path] = set()
    for file in sorted((f for f in root.iterdir() if f.suffix in _SUFFIXES), key=lambda f: natural_key(f.name)):
        if file in partners:
            continue
        found = detect_format(file)
        if found is None or format not in ("auto", found):
            left_out.append(file.name)
            continue
        if found == "came":
            from hexamem.evals.came_bench import sibling

            partners.add(sibling(file))
        conversations += _loader(found)(file, skip_bad)
    if not conversations:
        wanted = "conversation of a known form" if format == "auto" else f"{format} conversation"
        raise InvalidInputError(f"{root}: no {wanted} among its .json and .jsonl files")
    if left_out:
        note = f"{len(left_out)} file(s) of {root.name} hold no such conversation and were left out: " + ", ".join(
            left_out
        )
        conversations[0] = replace(conversations[0], notes=(*conversations[0].notes, note))
    return conversations


def detect_format(path: Path) -> DataFormat | None:
    """Which form a file has, judged by the keys it holds; None if it is none of them.

    Raises:
        CorruptFileError: a ``.json`` file is not valid JSON. (A bad line of a ``.jsonl`` file is its loader's to
        report, with the line's number.)
    """
    if path.suffix == ".jsonl":
        return _detect_lines(path)
    data = read_json(path)
    first = data[0] if isinstance(data, list) and data else data
    if not isinstance(first, dict):
        return None
    if "haystack_sessions" in first:
        return "longmemeval"
    if is_hotpotqa(first):
        return "hotpotqa"
    if is_narrativeqa(first):
        return "narrativeqa"
    talk = first.get("conversation", first)
    if isinstance(talk, dict) and any(re.fullmatch(r"session_\d+", key) for key in talk):
        return "locomo"
    return None


def _detect_lines(path: Path) -> DataFormat | None:
    empty = True
    with path.open("rb") as lines:
        for line in lines:
            if not line.strip():
                continue
            empty = False
            try:
                record = json.loads(line)
            except (ValueError, RecursionError):
                continue
            if not isinstance(record, dict):
                continue
            if "answer_turn_ids" in record or {"partition", "action"} <= record.keys():
                return "came"
            if {"role", "content"} <= record.keys():
                return "jsonl"
            if is_narrativeqa(record):
                return "narrativeqa"
    return None if empty else "jsonl"


def _loader(format: DataFormat) -> Callable[[Path, bool], list[Conversation]]:
    # Here and not at the top: each loader builds the records of this file.
    from hexamem.evals import came_bench, hotpotqa, jsonl, locomo, longmemeval, narrativeqa

    loaders: dict[DataFormat, Callable[[Path, bool], list[Conversation]]] = {
        "locomo": lambda path, skip_bad: locomo.load_locomo(path),
        "came": lambda path, skip_bad: came_bench.load_came_bench(path, skip_bad=skip_bad),
        "longmemeval": lambda path, skip_bad: longmemeval.load_longmemeval(path),
        "hotpotqa": lambda path, skip_bad: hotpotqa.load_hotpotqa(path),
        "narrativeqa": lambda path, skip_bad: narrativeqa.load_narrativeqa(path, skip_bad=skip_bad),
        "jsonl": lambda path, skip_bad: jsonl.load_jsonl(path, skip_bad=skip_bad),
    }
    return loaders[format]
