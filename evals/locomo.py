"""LoCoMo (ACL 2024): long conversations of two people in dated sessions, with questions and their evidence turns.

Reads one conversation a file (keys ``session_N``, ``session_N_date_time``, ``qa``), the authors' single file (a list
of such with the sessions under ``conversation``), and corpora of our own in the same form with the extra keys
``language``, ``license`` and ``about``. The memory sees speaker, text, picture caption, picture address and time.
``qa``, ``events_*``, ``*_summary``, ``*_observation`` and a picture's ``query`` are annotations and stay out.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from hexamem.errors import CorruptFileError
from hexamem.evals.records import Conversation, EvalMessage, Question, listed, not_scored, parsed, read_json, turn_time

__all__ = ["load_locomo", "load_other_questions"]

_SESSION = re.compile(r"session_(\d+)")
_BETWEEN_IDS = re.compile(r"[;,\s]+")
_METADATA = ("language", "license", "about", "speaker_a", "speaker_b")


class _Turn(BaseModel):
    speaker: str
    dia_id: str
    text: str
    blip_caption: str | None = None
    img_url: str | list[str] | None = None


class _Asked(BaseModel):
    question: str
    category: str | int
    answer: Any = None
    evidence: list[Any] | None = None


def load_locomo(path: Path) -> list[Conversation]:
    """Read LoCoMo conversations.

    Each session is a thread ``session_N``. Turns carry the session's time plus one second a turn (``turn_time``),
    without offset, since the data names no timezone. Both people have role ``user`` and their names.

    An evidence string may hold several ids. An id that no turn has, misspelt ones included (``D:11:26``), is left
    out of its question's gold turns and never guessed at; a question left without any has empty ``evidence``. Both
    are counted and named in the notes.

    Returns:
        One conversation a record; id ``locomo-<sample id or file name>``.

    Raises:
        CorruptFileError: a turn or question lacks a key, an id occurs twice, or a session's time is not readable.
    """
    records = listed(read_json(path))
    return [_conversation(path, record, index, len(records)) for index, record in enumerate(records)]


def _conversation(path: Path, record: Any, index: int, count: int) -> Conversation:
    place = f"{path}, record {index + 1}" if count > 1 else str(path)
    talk = record.get("conversation", record) if isinstance(record, dict) else None
    if not isinstance(talk, dict) or not any(_SESSION.fullmatch(key) for key in talk):
        raise CorruptFileError(f"{place}: no session_1, session_2, …; a LoCoMo conversation has them")
    name = str(record.get("sample_id") or (f"{path.stem}-{index + 1}" if count > 1 else path.stem))
    conversation_id = f"locomo-{name.removeprefix('conv-')}"
    messages, notes = _messages(place, talk)
    ids = Counter(str(message.id) for message in messages)
    if double := [name for name, times in ids.items() if times > 1]:
        raise CorruptFileError(f"{place}: dia_id {double[0]!r} occurs twice; each turn needs an id of its own")
    questions: list[Question] = []
    unknown: list[str] = []
    for number, raw in enumerate(parsed(list[Any], record.get("qa") or [], f"{place}, qa"), start=1):
        entry = parsed(_Asked, raw, f"{place}, qa, question {number}")
        written = [part for text in entry.evidence or () for part in _BETWEEN_IDS.split(str(text)) if part]
        question_id = f"{conversation_id}-q{number}"
        unknown += [f"{part} ({question_id})" for part in written if part not in ids]
        questions.append(
            Question(
                id=question_id,
                text=entry.question,
                answer="" if entry.answer is None else str(entry.answer),
                category=str(entry.category),
                evidence=tuple(dict.fromkeys(part for part in written if part in ids)),
                gold={key: raw[key] for key in ("adversarial_answer", "evidence") if key in raw},
            )
        )
    return Conversation(
        id=conversation_id,
        messages=tuple(messages),
        questions=tuple(questions),
        notes=(*notes, *not_scored(unknown, questions)),
        dataset="locomo",
        metadata={key: source[key] for source in (record, talk) for key in _METADATA if key in source},
    )


def _messages(place: str, talk: Mapping[str, Any]) -> tuple[list[EvalMessage], list[str]]:
    messages: list[EvalMessage] = []
    undated: list[str] = []
    for number in sorted(int(match[1]) for key in talk if (match := _SESSION.fullmatch(key))):
        thread = f"session_{number}"
        turns = parsed(list[_Turn], talk[thread], f"{place}, {thread}")
        text = talk.get(f"{thread}_date_time")
        start = _time(str(text), f"{place}, {thread}_date_time") if text else None
        if not text and turns:
            undated.append(thread)
        messages += [
            EvalMessage(
                id=turn.dia_id,
                role="user",
                name=turn.speaker,
                content=turn.text,
                caption=turn.blip_caption or None,
                timestamp=turn_time(start, index),
                thread_id=thread,
                image_urls=tuple(listed(turn.img_url or [])),
            )
            for index, turn in enumerate(turns)
        ]
    return messages, [f"{len(undated)} session(s) without a time: {', '.join(undated)}"] if undated else []


def _time(text: str, place: str) -> datetime:
    """The time in ``1:56 pm on 8 May, 2023``, or in ISO 8601."""
    try:
        return datetime.strptime(" ".join(text.split()), "%I:%M %p on %d %B, %Y")
    except ValueError:
        pass
    try:
        return datetime.fromisoformat(text.strip())
    except ValueError:
        raise CorruptFileError(
            f"{place}: {text!r} is not a time; write it like '1:56 pm on 8 May, 2023' or in ISO 8601"
        ) from None


class _Other(BaseModel):
    conversation: str
    kind: str
    question: str
    evidence: list[str]
    answer: str = ""


def load_other_questions(path: Path) -> list[Conversation]:
    """Further questions about conversations, such as ``evals/corpus/out_of_distribution``, in place of their own.

    A file is a list of ``{"conversation", "kind", "question", "answer", "evidence", "language"}``; ``conversation`` is the
    path of a conversation in LoCoMo's form, relative to the folder above the file's own. The category is the kind.

    Raises:
        CorruptFileError: a question lacks a key, or names a conversation or a turn that does not exist.
    """
    by_name: dict[str, list[_Other]] = {}
    for entry in parsed(list[_Other], read_json(path), str(path)):
        by_name.setdefault(entry.conversation, []).append(entry)
    return [_with_other(path, name, entries) for name, entries in by_name.items()]


def _with_other(path: Path, name: str, entries: Sequence[_Other]) -> Conversation:
    folder = path.resolve().parent.parent
    file = folder / name
    try:
        inside = file.resolve().is_relative_to(folder) and file.is_file()
    except (OSError, ValueError):  # too long for a name, or with a character that none has
        inside = False
    if not inside:
        raise CorruptFileError(f"{path}: names the conversation {name[:200]!r}, and {folder} has no such file")
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
