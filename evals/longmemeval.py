"""LongMemEval (ICLR 2025): one question over a haystack of dated sessions between a user and an assistant.

The session ids give the answer away (``answer_280352e9``), so the memory sees ``session_N`` in the order of time;
the original ids and ``has_answer`` lie in ``Conversation.gold``.
"""

from __future__ import annotations

import re
from datetime import datetime
from pathlib import Path
from typing import Any

from hexamem.errors import CorruptFileError
from hexamem.evals.records import Conversation, EvalMessage, Question, read_json, turn_time

__all__ = ["load_longmemeval", "parse_haystack_time"]

_WEEKDAY = re.compile(r"\s*\([^)]*\)\s*")
_NEEDED = ("question_id", "question_type", "question", "haystack_dates", "haystack_session_ids", "haystack_sessions")


def load_longmemeval(path: Path) -> list[Conversation]:
    """Read LongMemEval instances; each becomes a conversation of its own with one question.

    Sessions are put in the order of their dates (the oracle file is not), each a thread ``session_N`` from 1; turns
    are ``session_N#i`` from 0 and carry the session's time plus one second a turn (``turn_time``).

    ``Question.evidence`` are the turns marked ``has_answer``, ``Question.evidence_threads`` the sessions in
    ``answer_session_ids``. Questions of abstention (``question_id`` ends in ``_abs``) have no answer to find: like
    the authors' own retrieval evaluation they are not scored.

    Returns:
        One conversation an instance, id ``longmemeval-<question_id>``.

    Raises:
        CorruptFileError: naming file, instance and the key or value that does not fit.
    """
    data = read_json(path)
    records = data if isinstance(data, list) else [data]
    return [_conversation(f"{path}, instance {index + 1}", record) for index, record in enumerate(records)]


def parse_haystack_time(text: str) -> datetime | None:
    """The time in ``2023/05/20 (Sat) 02:21``, or in ISO 8601; None if it is neither."""
    plain = _WEEKDAY.sub(" ", text).strip()
    try:
        return datetime.fromisoformat(plain.replace("/", "-"))
    except ValueError:
        return None


def _conversation(place: str, record: Any) -> Conversation:
    missing = [key for key in _NEEDED if key not in record] if isinstance(record, dict) else list(_NEEDED)
    if missing:
        raise CorruptFileError(f"{place}: {', '.join(missing)} missing; a LongMemEval instance has them")
    names, sessions = record["haystack_session_ids"], record["haystack_sessions"]
    dates = [_time(place, text) for text in record["haystack_dates"]]
    if not len(names) == len(sessions) == len(dates):
        raise CorruptFileError(
            f"{place}: {len(sessions)} sessions, {len(names)} ids and {len(dates)} dates; there must be one of each"
        )
    messages: list[EvalMessage] = []
    gold: dict[str, dict[str, Any]] = {}
    threads: dict[str, list[str]] = {}
    evidence: list[str] = []
    order = sorted(range(len(sessions)), key=lambda index: dates[index])
    for number, source in enumerate(order, start=1):
        thread = f"session_{number}"
        threads.setdefault(names[source], []).append(thread)
        for index, turn in enumerate(sessions[source]):
            if not isinstance(turn, dict) or not all(isinstance(turn.get(key), str) for key in ("role", "content")):
                raise CorruptFileError(
                    f"{place}, session {names[source]}, turn {index + 1}: a turn is an object with role and content"
                )
            turn_id = f"{thread}#{index}"
            has_answer = bool(turn.get("has_answer"))
            gold[turn_id] = {"session_id": names[source], "has_answer": has_answer}
            if has_answer:
                evidence.append(turn_id)
            messages.append(
                EvalMessage(
                    id=turn_id,
                    role=turn["role"],
                    name=None,
                    content=turn["content"],
                    timestamp=turn_time(dates[source], index),
                    thread_id=thread,
                )
            )
    question, notes = _question(place, record, evidence, threads)
    return Conversation(
        id=f"longmemeval-{record['question_id']}",
        messages=tuple(messages),
        questions=(question,),
        notes=tuple(notes),
        dataset="longmemeval",
        gold=gold,
    )


def _question(
    place: str, record: dict[str, Any], evidence: list[str], threads: dict[str, list[str]]
) -> tuple[Question, list[str]]:
    question_id = str(record["question_id"])
    notes: list[str] = []
    answer_sessions = record.get("answer_session_ids") or []
    if unknown := [name for name in answer_sessions if name not in threads]:
        notes.append(f"{len(unknown)} answer session(s) not in the haystack, left out: {', '.join(unknown)}")
    abstention = question_id.endswith("_abs")
    if abstention:
        notes.append(f"1 question of abstention, not scored: {question_id}")
    elif not evidence:
        notes.append(f"1 question without evidence turns, not scored: {question_id}")
    answer = record.get("answer")
    asked = record.get("question_date")
    return (
        Question(
            id=question_id,
            text=record["question"],
            answer="" if answer is None else str(answer),
            category=str(record["question_type"]),
            evidence=() if abstention else tuple(evidence),
            asked_at=_time(place, asked).isoformat() if asked else None,
            evidence_threads=()
            if abstention
            else tuple(thread for name in answer_sessions for thread in threads.get(name, ())),
            gold={"answer_session_ids": tuple(answer_sessions)},
        ),
        notes,
    )


def _time(place: str, text: Any) -> datetime:
    time = parse_haystack_time(text) if isinstance(text, str) else None
    if time is None:
        raise CorruptFileError(f"{place}: date {text!r} is not a time; write it like '2023/05/20 (Sat) 02:21'")
    return time
