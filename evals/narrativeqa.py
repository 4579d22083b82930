"""NarrativeQA (TACL 2018): questions about whole books and film scripts, with two answers each.

The form read is that of the Hugging Face set ``deepmind/narrativeqa``, which GAM evaluates on, as JSON lines or a JSON
list of its rows (``dataset.to_json(path)`` writes them): ``document`` with ``id`` and ``text`` (and ``kind``),
``question`` with ``text``, ``answers`` with ``text`` each. Parquet files are converted to it first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, Field, StringConstraints

from hexamem.evals.jsonl import fits, read_records
from hexamem.evals.records import Conversation, Question, documents, listed, parsed, read_json

__all__ = ["is_narrativeqa", "load_narrativeqa", "passages"]

_BLANK = re.compile(r"\n\s*\n")
_SENTENCE_END = re.compile(r"(?<=[.!?][\"'”’)])\s+|(?<=[.!?])\s+")
_WORDS = 150  # a passage: about 200 tokens
_PER_THREAD = 20
_Text = Annotated[str, BeforeValidator(lambda value: value.get("text") if isinstance(value, dict) else value)]


class _Document(BaseModel):
    id: Any
    text: Annotated[str, StringConstraints(pattern=r"\S")]
    kind: Any = None


class _Row(BaseModel):
    document: _Document
    question: _Text
    answers: list[_Text] = Field(min_length=1)


def is_narrativeqa(record: object) -> bool:
    """Whether a row is of that form."""
    return fits(_Row)(record) is None


def load_narrativeqa(path: Path, *, skip_bad: bool = False, questions: int | None = None) -> list[Conversation]:
    """Read NarrativeQA; each document becomes a conversation, with all the questions that the file asks about it.

    The text is cut into passages of about 150 words at paragraphs and sentences, each a message of role ``user`` with
    id ``passage-N``, 20 in a thread ``part_N``. The set does not say where an answer is: ``Question.evidence`` is
    empty, and answers alone are scored. The summary in the file is an annotation and is not shown to the memory.

    Args:
        path: a ``.jsonl`` file, or a ``.json`` file with a list.
        skip_bad: leave unreadable lines of a ``.jsonl`` file out, with a note each.
        questions: the first so many rows only.

    Returns:
        Conversations ``narrativeqa-<document id>`` in the order of the file; ``category`` is the document's kind.

    Raises:
        CorruptFileError: naming file, row and what does not fit.
    """
    notes: tuple[str, ...] = ()
    if path.suffix == ".jsonl":
        lines = read_records(path, skip_bad=skip_bad, check=fits(_Row))
        rows, notes = [_Row.model_validate(record) for _, record in lines.records], lines.notes
    else:
        rows = [parsed(_Row, row, f"{path}, row {number}") for number, row in enumerate(listed(read_json(path)), 1)]
    by_document: dict[str, list[_Row]] = {}
    for row in rows[:questions]:
        by_document.setdefault(str(row.document.id), []).append(row)
    conversations = [_conversation(name, several) for name, several in by_document.items()]
    if conversations and notes:
        conversations[0] = replace(conversations[0], notes=notes)
    return conversations


def passages(text: str, words: int = _WORDS) -> Iterator[str]:
    """Cut a text into passages of at most so many words, or one sentence where that is longer; nothing is left out.

    Paragraphs stay together where they fit; a longer one is cut at the ends of its sentences.
    """
    passage = ""
    size = 0
    for paragraph in _BLANK.split(text):
        pieces = [paragraph] if len(paragraph.split()) <= words else _SENTENCE_END.split(paragraph)
        for index, piece in enumerate(pieces):
            count = len(piece.split())
            if not count:
                continue
            if passage and size + count > words:
                yield passage
                passage, size = "", 0
            passage += ("" if not passage else " " if index else "\n\n") + piece.strip()
            size += count
    if passage:
        yield passage


def _conversation(name: str, rows: list[_Row]) -> Conversation:
    document = rows[0].document
    messages = documents(passages(document.text), "passage", "part", _PER_THREAD)
    questions = tuple(
        Question(
            id=f"narrativeqa-{name}-q{number}",
            text=row.question,
            answer=row.answers[0],
            category=str(document.kind or "narrativeqa"),
            evidence=(),
            gold={"answers": tuple(row.answers)},
        )
        for number, row in enumerate(rows, 1)
    )
    return Conversation(f"narrativeqa-{name}", messages, questions, dataset="narrativeqa")
