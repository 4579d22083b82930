"""LoCoMo (ACL 2024): long conversations of two people in dated sessions, with questions and their evidence turns.

Reads one conversation a file (keys ``session_N``, ``session_N_date_time``, ``qa``), the authors' single file (a list
of such with the sessions under ``conversation``), and corpora of our own in the same form with the extra keys
``language``, ``license`` and ``about``. The memory sees speaker, text, picture caption, picture address and time.
``qa``, ``events_*``, ``*_summary``, ``*_observation`` and a picture's ``query`` are annotations and stay out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from hexamem.errors import CorruptFileError
from hexamem.evals.records import Conversation, EvalMessage, Question, read_json, turn_time

__all__ = ["load_locomo", "parse_session_time"]

_SESSION = re.compile(r"session_(\d+)")
_BETWEEN_IDS = re.compile(r"[;,\s]+")
_METADATA = ("language", "license", "about", "speaker_a", "speaker_b")


def load_locomo(path: Path) -> list[Conversation]:
    """Read LoCoMo conversations.

    Each session is a thread ``session_N``. Turns carry the session's time plus one second a turn (``turn_time``),
    without offset, since the data names no timezone. Both people have role ``user`` and their names.

    An evidence string may hold several ids. An id that no turn has, misspelt ones included (``D:11:26``), is left
    out of its question's gold turns and never guessed at; a question left without any is kept with empty
    ``evidence``. Both are counted and named in the notes.

    Returns:
        One conversation a record; id ``locomo-<sample id or file name>``.

    Raises:
        CorruptFileError: a turn or question lacks a key, an id occurs twice, or a session's time is not readable.
    """
    data = read_json(path)
    records = data if isinstance(data, list) else [data]
    return [_conversation(path, record, index, len(records)) for index, record in enumerate(records)]


def parse_session_time(text: str) -> datetime | None:
    """The time in ``1:56 pm on 8 May, 2023``, or in ISO 8601; None if it is neither."""
    try:
        return datetime.strptime(" ".join(text.split()), "%I:%M %p on %d %B, %Y")
    except ValueError:
        pass
    try:
        return datetime.fromisoformat(text.strip())
    except ValueError:
        return None


def _conversation(path: Path, record: Any, index: int, count: int) -> Conversation:
    place = f"{path}, record {index + 1}" if count > 1 else str(path)
    talk = record.get("conversation", record) if isinstance(record, dict) else None
    if not isinstance(talk, dict) or not any(_SESSION.fullmatch(key) for key in talk):
        raise CorruptFileError(f"{place}: no session_1, session_2, … found; a LoCoMo conversation has them")
    name = str(record.get("sample_id") or (f"{path.stem}-{index + 1}" if count > 1 else path.stem))
    conversation_id = f"locomo-{name.removeprefix('conv-')}"

    messages, notes = _messages(place, talk)
    ids = {message.id for message in messages if message.id is not None}
    if len(ids) != len(messages):
        seen: set[str | None] = set()
        double = next(m.id for m in messages if m.id in seen or seen.add(m.id))  # type: ignore[func-returns-value]
        raise CorruptFileError(f"{place}: dia_id {double!r} occurs twice; each turn needs an id of its own")
    questions, more = _questions(place, conversation_id, record.get("qa") or [], ids)
    return Conversation(
        id=conversation_id,
        messages=tuple(messages),
        questions=tuple(questions),
        notes=(*notes, *more),
        dataset="locomo",
        metadata={key: source[key] for source in (record, talk) for key in _METADATA if key in source},
    )


def _messages(place: str, talk: Mapping[str, Any]) -> tuple[list[EvalMessage], list[str]]:
    messages: list[EvalMessage] = []
    undated: list[str] = []
    numbers = sorted(int(match[1]) for key in talk if (match := _SESSION.fullmatch(key)))
    for thread in (f"session_{number}" for number in numbers):
        turns = talk[thread]
        if not isinstance(turns, list):
            raise CorruptFileError(f"{place}, {thread}: is a {type(turns).__name__}; it must be a list of turns")
        start: datetime | None = None
        text = talk.get(f"{thread}_date_time")
        if text:
            start = parse_session_time(str(text))
            if start is None:
                raise CorruptFileError(
                    f"{place}, {thread}_date_time: {text!r} is not a time; "
                    "write it like '1:56 pm on 8 May, 2023' or in ISO 8601"
                )
        elif turns:
            undated.append(thread)
        messages += [_message(place, thread, turn, index, start) for index, turn in enumerate(turns)]
    notes = [f"{len(undated)} session(s) without a time: {', '.join(undated)}"] if undated else []
    return messages, notes


def _message(place: str, thread: str, turn: Any, index: int, start: datetime | None) -> EvalMessage:
    where = f"{place}, {thread}, turn {index + 1}"
    if not isinstance(turn, dict):
        raise CorruptFileError(f"{where}: is a {type(turn).__name__}; it must be an object")
    for key in ("speaker", "dia_id", "text"):
        if not isinstance(turn.get(key), str):
            raise CorruptFileError(f"{where}: {key} is missing or not text; a turn has speaker, dia_id and text")
    urls = turn.get("img_url") or ()
    return EvalMessage(
        id=turn["dia_id"],
        role="user",
        name=turn["speaker"],
        content=turn["text"],
        caption=turn.get("blip_caption") or None,
        timestamp=turn_time(start, index),
        thread_id=thread,
        image_urls=(urls,) if isinstance(urls, str) else tuple(urls),
    )


def _questions(place: str, conversation_id: str, qa: Any, ids: set[str]) -> tuple[list[Question], list[str]]:
    questions: list[Question] = []
    unknown: list[str] = []
    for index, entry in enumerate(qa):
        if not isinstance(entry, dict) or not isinstance(entry.get("question"), str) or "category" not in entry:
            raise CorruptFileError(f"{place}, qa, question {index + 1}: needs question and category")
        written = [part for text in entry.get("evidence") or () for part in _BETWEEN_IDS.split(str(text)) if part]
        question_id = f"{conversation_id}-q{index + 1}"
        unknown += [f"{part} ({question_id})" for part in written if part not in ids]
        answer = entry.get("answer")
        questions.append(
            Question(
                id=question_id,
                text=entry["question"],
                answer="" if answer is None else str(answer),
                category=str(entry["category"]),
                evidence=tuple(dict.fromkeys(part for part in written if part in ids)),
                gold={key: entry[key] for key in ("adversarial_answer", "evidence") if key in entry},
            )
        )
    notes: list[str] = []
    if unknown:
        notes.append(f"{len(unknown)} evidence id(s) that no turn has, left out: {', '.join(unknown)}")
    if bare := [question.id for question in questions if not question.evidence]:
        notes.append(f"{len(bare)} question(s) without evidence, not scored: {', '.join(bare)}")
    return questions, notes
