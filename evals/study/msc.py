"""Multi-Session Chat (ACL 2022): two people over several short sessions, in the form of its JSON lines.

A line has ``previous_dialogs`` (each a ``dialog`` of turns by two speakers in turn) and the last ``dialog``. The data set
asks nothing; ``self_instruct`` of MemGPT's edition holds a question and its answer, without evidence. For measuring
evidence a line may bring ``questions``: ``{"question", "answer", "evidence": ["S2:7"]}``, session and turn from 1.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import BaseModel

from hexamem.errors import CorruptFileError
from hexamem.evals.jsonl import fits, read_records
from hexamem.evals.records import Conversation, EvalMessage, Question

__all__ = ["is_msc", "load_msc"]

_SPEAKERS = ("Speaker 1", "Speaker 2")


class _Turn(BaseModel):
    text: str
    id: Any = None


class _Session(BaseModel):
    dialog: list[_Turn]


class _Asked(BaseModel):
    question: Any
    answer: Any = ""
    evidence: list[str] | None = None


class _Line(_Session):
    previous_dialogs: list[_Session] | None = None
    metadata: dict[str, Any] | None = None
    questions: list[_Asked] | None = None
    self_instruct: dict[str, Any] | None = None


def is_msc(path: Path) -> bool:
    """Whether a file holds conversations in this form."""
    if path.suffix != ".jsonl" or not path.is_file():
        return False
    with path.open("rb") as lines:
        return b'"previous_dialogs"' in next(iter(lines), b"")


def load_msc(path: Path) -> list[Conversation]:
    """Read Multi-Session Chat, a conversation a line; the sessions are threads ``session_N`` and have no times.

    Personas and summaries are annotations and stay out.

    Raises:
        CorruptFileError: a line has no sessions, a turn no text, or evidence names a turn that there is not.
    """
    lines = read_records(path, skip_bad=False, check=fits(_Line))
    return [_conversation(path, number, _Line.model_validate(record)) for number, record in lines.records]


def _conversation(path: Path, number: int, line: _Line) -> Conversation:
    name = f"msc-{(line.metadata or {}).get('initial_data_id') or f'{path.stem}-{number}'}"
    messages = tuple(
        EvalMessage(
            id=f"S{session}:{place}",
            role="user",
            name=str(turn.id or _SPEAKERS[(place - 1) % 2]),
            content=turn.text,
            thread_id=f"session_{session}",
        )
        for session, dialog in enumerate([*(line.previous_dialogs or ()), line], 1)
        for place, turn in enumerate(dialog.dialog, 1)
    )
    asked = line.questions or []
    if line.self_instruct and not asked:
        asked = [_Asked(question=line.self_instruct.get("B", ""), answer=line.self_instruct.get("A", ""))]
    turns = {message.id for message in messages}
    for place, one in enumerate(asked, 1):
        if unknown := set(one.evidence or ()) - turns:
            raise CorruptFileError(f"{path}, line {number}, question {place}: there is no turn {min(unknown)!r}")
    questions = tuple(
        Question(f"{name}-q{place}", str(one.question), str(one.answer), "msc", tuple(one.evidence or ()))
        for place, one in enumerate(asked, 1)
    )
    return Conversation(id=name, messages=messages, questions=questions)
