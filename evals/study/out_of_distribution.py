"""Questions of kinds that no rule foresees, about conversations of the corpus: read with the conversation they are about.

A file is a list of ``{"conversation", "kind", "question", "answer", "evidence", "language"}``; ``conversation`` is the
path of a conversation file, relative to the folder above the file's own.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from pydantic import BaseModel

from hexamem.errors import CorruptFileError
from hexamem.evals.datasets import load_conversations
from hexamem.evals.records import Conversation, Question, parsed, read_json

__all__ = ["is_out_of_distribution", "load_out_of_distribution"]


class _Entry(BaseModel):
    """One question of a file."""

    conversation: str
    kind: str
    question: str
    evidence: list[str]
    answer: str = ""


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
    entries = parsed(list[_Entry], read_json(path), str(path))
    names = dict.fromkeys(entry.conversation for entry in entries)
    return [_conversation(path, name, [entry for entry in entries if entry.conversation == name]) for name in names]


def _conversation(path: Path, name: str, entries: list[_Entry]) -> Conversation:
    file = path.parent.parent / name
    if not file.is_file():
        raise CorruptFileError(f"{path}: names the conversation {name!r}, and there is no file {file}")
    (conversation,) = load_conversations(file)
    turns = {message.id for message in conversation.messages}
    for number, entry in enumerate(entries, 1):
        if unknown := [turn for turn in entry.evidence if turn not in turns]:
            raise CorruptFileError(f"{path}, {name}, question {number}: {name} has no turn {unknown[0]!r}")
    questions = [
        Question(
            id=f"{conversation.id}-ood{number}",
            text=entry.question,
            answer=entry.answer,
            category=entry.kind,
            evidence=tuple(dict.fromkeys(entry.evidence)),
        )
        for number, entry in enumerate(entries, 1)
    ]
    return replace(conversation, questions=tuple(questions))
