"""Questions of kinds that no rule foresees, about conversations of the corpus: read with the conversation they are about.

A file is a list of ``{"conversation", "kind", "question", "answer", "evidence", "language"}``; ``conversation`` is the
path of a conversation file, relative to the folder above the file's own.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from hexamem.errors import CorruptFileError
from hexamem.evals.datasets import load_conversations
from hexamem.evals.records import Conversation, Question, read_json

__all__ = ["is_out_of_distribution", "load_out_of_distribution"]

_NEEDED = ("conversation", "kind", "question", "evidence")


def is_out_of_distribution(path: Path) -> bool:
    """Whether a file holds questions in this form."""
    if path.suffix != ".json" or not path.is_file():
        return False
    try:
        data = json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        return False  # what reads it as something else says what is wrong with it
    return (
        isinstance(data, list) and bool(data) and isinstance(data[0], dict) and {"conversation", "kind"} <= set(data[0])
    )


def load_out_of_distribution(path: Path) -> list[Conversation]:
    """The conversations with these questions in place of their own; the category is the kind.

    Raises:
        CorruptFileError: a question lacks a key, or names a conversation or a turn that there is not.
    """
    questions: dict[str, list[Mapping[str, Any]]] = {}
    for number, entry in enumerate(read_json(path), 1):
        missing = [key for key in _NEEDED if key not in entry]
        if missing:
            raise CorruptFileError(f"{path}, question {number}: {', '.join(missing)} missing")
        questions.setdefault(str(entry["conversation"]), []).append(entry)
    return [_conversation(path, name, entries) for name, entries in questions.items()]


def _conversation(path: Path, name: str, entries: list[Mapping[str, Any]]) -> Conversation:
    file = path.parent.parent / name
    if not file.is_file():
        raise CorruptFileError(f"{path}: names the conversation {name!r}, and there is no file {file}")
    (conversation,) = load_conversations(file)
    turns = {message.id for message in conversation.messages}
    found = []
    for number, entry in enumerate(entries, 1):
        if strange := [turn for turn in entry["evidence"] if turn not in turns]:
            raise CorruptFileError(f"{path}, {name}, question {number}: {name} has no turn {strange[0]!r}")
        found.append(
            Question(
                id=f"{conversation.id}-ood{number}",
                text=str(entry["question"]),
                answer=str(entry.get("answer", "")),
                category=str(entry["kind"]),
                evidence=tuple(dict.fromkeys(entry["evidence"])),
            )
        )
    return replace(conversation, questions=tuple(found))
