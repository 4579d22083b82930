"""LongMemEval (ICLR 2025): one question over a haystack of dated sessions between a user and an assistant.

The session ids reveal the answer (``answer_280352e9``), so the memory sees ``session_N`` in the order of time;
the original ids and ``has_answer`` are in ``Conversation.gold``.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, model_validator

from hexamem.evals.records import Conversation, EvalMessage, Question, listed, parsed, read_json, turn_time

__all__ = ["load_longmemeval"]

_WEEKDAY = re.compile(r"\s*\([^)]*\)\s*")


def _time(value: Any) -> datetime:
    """The time in ``2023/05/20 (Sat) 02:21``, or in ISO 8601."""
    try:
        return datetime.fromisoformat(_WEEKDAY.sub(" ", value).strip().replace("/", "-"))
    except (TypeError, ValueError):
        raise ValueError("write a time like '2023/05/20 (Sat) 02:21'") from None


def _aware(time: datetime) -> datetime:
    """A time for comparing: one without an offset as if it were in UTC."""
    return time if time.tzinfo is not None else time.replace(tzinfo=UTC)


class _Turn(BaseModel):
    role: str
    content: str
    has_answer: bool | None = None


class _Instance(BaseModel):
    question_id: str | int
    question_type: str
    question: str
    haystack_dates: list[Annotated[datetime, BeforeValidator(_time)]]
    haystack_session_ids: list[str]
    haystack_sessions: list[list[_Turn]]
    answer_session_ids: list[str] | None = None
    answer: Any = None
    question_date: Annotated[datetime | None, BeforeValidator(lambda value: _time(value) if value else None)] = None

    @model_validator(mode="after")
    def _one_of_each(self) -> _Instance:
        sessions, names, dates = self.haystack_sessions, self.haystack_session_ids, self.haystack_dates
        if not len(sessions) == len(names) == len(dates):
            raise ValueError(
                f"{len(sessions)} sessions, {len(names)} ids and {len(dates)} dates; there must be one of each"
            )
        return self


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
    return [
        _conversation(parsed(_Instance, record, f"{path}, instance {number}"))
        for number, record in enumerate(listed(read_json(path)), start=1)
    ]


def _conversation(instance: _Instance) -> Conversation:
    messages: list[EvalMessage] = []
    gold: dict[str, dict[str, Any]] = {}
    threads: dict[str, list[str]] = {}
    sessions = zip(instance.haystack_dates, instance.haystack_session_ids, instance.haystack_sessions, strict=True)
    for number, (start, name, turns) in enumerate(sorted(sessions, key=lambda session: _aware(session[0])), start=1):
        thread = f"session_{number}"
        threads.setdefault(name, []).append(thread)
        for index, turn in enumerate(turns):
            turn_id = f"{thread}#{index}"
            gold[turn_id] = {"session_id": name, "has_answer": bool(turn.has_answer)}
            time = turn_time(start, index)
            messages.append(EvalMessage(turn_id, turn.role, None, turn.content, timestamp=time, thread_id=thread))
    question_id = str(instance.question_id)
    abstention = question_id.endswith("_abs")
    evidence = tuple(turn_id for turn_id, marks in gold.items() if marks["has_answer"])
    answer_sessions = instance.answer_session_ids or []
    notes = []
    if unknown := [name for name in answer_sessions if name not in threads]:
        notes.append(f"{len(unknown)} answer session(s) not in the haystack, left out: {', '.join(unknown)}")
    if abstention:
        notes.append(f"1 question of abstention, not scored: {question_id}")
    elif not evidence:
        notes.append(f"1 question without evidence turns, not scored: {question_id}")
    evidence_threads = tuple(thread for name in answer_sessions for thread in threads.get(name, ()))
    question = Question(
        id=question_id,
        text=instance.question,
        answer="" if instance.answer is None else str(instance.answer),
        category=instance.question_type,
        evidence=() if abstention else evidence,
        asked_at=None if instance.question_date is None else instance.question_date.isoformat(),
        evidence_threads=() if abstention else evidence_threads,
        gold={"answer_session_ids": tuple(answer_sessions)},
    )
    return Conversation(
        id=f"longmemeval-{question_id}",
        messages=tuple(messages),
        questions=(question,),
        notes=tuple(notes),
        dataset="longmemeval",
        gold=gold,
    )
