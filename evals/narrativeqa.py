"""NarrativeQA (TACL 2018): questions about whole books and film scripts, with two answers each.

The form read is that of the Hugging Face set ``deepmind/narrativeqa``, which GAM evaluates on, as JSON lines or a JSON
list of its rows (``dataset.to_json(path)`` writes them): ``document`` with ``id`` and ``text`` (and ``kind``),
``question`` with ``text``, ``answers`` with ``text`` each. Parquet files are turned into it first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from hexamem.errors import CorruptFileError
from hexamem.evals.jsonl import read_records
from hexamem.evals.records import Conversation, EvalMessage, Question, read_json

__all__ = ["is_narrativeqa", "load_narrativeqa", "passages"]

_BLANK = re.compile(r"\n\s*\n")
_SENTENCE_END = re.compile(r"(?<=[.!?][\"'”’)])\s+|(?<=[.!?])\s+")
_WORDS = 150  # a passage: about 200 tokens
_PER_THREAD = 20


def is_narrativeqa(record: object) -> bool:
    """Whether a row is of that form."""
    return _problem(record) is None


def load_narrativeqa(path: Path, *, skip_bad: bool = False, questions: int | None = None) -> list[Conversation]:
    """Read NarrativeQA; each document becomes a conversation, with all the questions that the file asks about it.

    The text is cut into passages of about 150 words at paragraphs and sentences, each a message of role ``user`` with
    id ``passage-N``, 20 in a thread ``part_N``. The set does not say where an answer stands: ``Question.evidence`` is
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
        lines = read_records(path, skip_bad=skip_bad, check=_problem)
        rows, notes = [record for _, record in lines.records], lines.notes
    else:
        data = read_json(path)
        rows = data if isinstance(data, list) else [data]
        for index, row in enumerate(rows, 1):
            if problem := _problem(row):
                raise CorruptFileError(f"{path}, row {index}: {problem}")
    by_document: dict[str, list[dict[str, Any]]] = {}
    for row in rows[:questions]:
        by_document.setdefault(str(row["document"]["id"]), []).append(row)
    found = [_conversation(name, several) for name, several in by_document.items()]
    if found and notes:
        found[0] = replace(found[0], notes=notes)
    return found


def passages(text: str, words: int = _WORDS) -> Iterator[str]:
    """Cut a text into passages of at most so many words, or one sentence where that is longer; nothing is left out.

    Paragraphs are kept together where they fit; a longer one is cut at the ends of its sentences.
    """
    held: list[str] = []
    size = 0
    for paragraph in _BLANK.split(text):
        pieces = [paragraph] if len(paragraph.split()) <= words else _SENTENCE_END.split(paragraph)
        for index, piece in enumerate(pieces):
            count = len(piece.split())
            if not count:
                continue
            if held and size + count > words:
                yield "".join(held)
                held, size = [], 0
            between = "" if not held else " " if index else "\n\n"
            held.append(between + piece.strip())
            size += count
    if held:
        yield "".join(held)


def _conversation(name: str, rows: list[dict[str, Any]]) -> Conversation:
    document = rows[0]["document"]
    messages = tuple(
        EvalMessage(
            id=f"passage-{number}",
            role="user",
            name=None,
            content=text,
            thread_id=f"part_{(number - 1) // _PER_THREAD + 1}",
        )
        for number, text in enumerate(passages(document["text"]), 1)
    )
    questions = []
    for number, row in enumerate(rows, 1):
        answers = tuple(_text(answer) for answer in row["answers"])
        questions.append(
            Question(
                id=f"narrativeqa-{name}-q{number}",
                text=_text(row["question"]),
                answer=answers[0],
                category=str(document.get("kind") or "narrativeqa"),
                evidence=(),
                gold={"answers": answers},
            )
        )
    return Conversation(f"narrativeqa-{name}", messages, tuple(questions), dataset="narrativeqa")


def _text(value: Any) -> str:
    return str(value["text"]) if isinstance(value, dict) else str(value)


def _problem(row: object) -> str | None:
    if not isinstance(row, dict):
        return "is no object with document, question and answers"
    document, question, answers = (row.get(key) for key in ("document", "question", "answers"))
    if not isinstance(document, dict) or not isinstance(document.get("text"), str) or "id" not in document:
        return "document has no id and text; a row of NarrativeQA holds the whole document"
    if not document["text"].strip():
        return "document has no text"
    if not (isinstance(question, str) or (isinstance(question, dict) and isinstance(question.get("text"), str))):
        return "question has no text"
    if not isinstance(answers, list) or not answers:
        return "answers is no list of gold answers"
    return None
