"""Further questions about conversations of the corpus, such as ``evals/corpus/out_of_distribution``.

A file is a list of ``{"conversation", "kind", "question", "answer", "evidence", "language"}``; ``conversation`` is the
path of a conversation in LoCoMo's form, relative to the folder above the file's own.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from pydantic import BaseModel

from hexamem.errors import CorruptFileError
from hexamem.evals.locomo import load_locomo
from hexamem.evals.records import Conversation, Question, parsed, read_json

__all__ = ["load_other_questions"]


class _Entry(BaseModel):
    """One question of a file."""

    conversation: str
    kind: str
    question: str
    evidence: list[str]
    answer: str = ""


def load_other_questions(path: Path) -> list[Conversation]:
    """The conversations with these questions in place of their own; the category is the kind.

    Raises:
        CorruptFileError: a question lacks a key, or names a conversation or a turn that does not exist.
    """
    by_name: dict[str, list[_Entry]] = {}
    for entry in parsed(list[_Entry], read_json(path), str(path)):
        by_name.setdefault(entry.conversation, []).append(entry)
    return [_conversation(path, name, entries) for name, entries in by_name.items()]


def _conversation(path: Path, name: str, entries: list[_Entry]) -> Conversation:
    file = path.resolve().parent.parent / name
    if not file.is_file():
        raise CorruptFileError(f"{path}: names the conversation {name!r}, and there is no file {file}")
    (conversation,) = load_locomo(file)
    turns = {message.id for message in conversation.messages}
    for number, entry in enumerate(entries, 1):
        if unknown := [turn for turn in entry.evidence if turn not in turns]:
            raise CorruptFileError(f"{path}, {name}, question {number}: {name} has no turn {unknown[0]!r}")
    questions = [
        Question(
            id=f"{conversation.id}-other{number}",
            text=entry.question,
            answer=entry.answer,
            category=entry.kind,
            evidence=tuple(dict.fromkeys(entry.evidence)),
        )
        for number, entry in enumerate(entries, 1)
    ]
    return replace(conversation, questions=tuple(questions))
