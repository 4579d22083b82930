"""Multi-Session Chat (ACL 2022): two people over several short sessions, in the form of its JSON lines.

A line has ``previous_dialogs`` (each a ``dialog`` of turns by two speakers in turn) and the last ``dialog``. The data set
asks nothing; ``self_instruct`` of MemGPT's edition holds a question and its answer, without evidence. For measuring
evidence a line may bring ``questions``: ``{"question", "answer", "evidence": ["S2:7"]}``, session and turn from 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hexamem.errors import CorruptFileError
from hexamem.evals.jsonl import read_records
from hexamem.evals.records import Conversation, EvalMessage, Question

__all__ = ["is_msc", "load_msc"]

_SPEAKERS = ("Speaker 1", "Speaker 2")


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
    lines = read_records(path, skip_bad=False, check=_problem)
    return [_conversation(path, number, record) for number, record in lines.records]


def _problem(record: Mapping[str, Any]) -> str | None:
    sessions = [*(record.get("previous_dialogs") or ()), record]
    if not all(isinstance(one, dict) and isinstance(one.get("dialog"), list) for one in sessions):
        return "no dialog; a line of MSC has previous_dialogs and dialog"
    if not all(
        isinstance(turn, dict) and isinstance(turn.get("text"), str) for one in sessions for turn in one["dialog"]
    ):
        return "a turn without text"
    return None


def _conversation(path: Path, line: int, record: Mapping[str, Any]) -> Conversation:
    name = f"msc-{(record.get('metadata') or {}).get('initial_data_id') or f'{path.stem}-{line}'}"
    sessions = [one["dialog"] for one in record.get("previous_dialogs") or ()] + [record["dialog"]]
    messages = [
        EvalMessage(
            id=f"S{number}:{place}",
            role="user",
            name=str(turn.get("id") or _SPEAKERS[(place - 1) % 2]),
            content=turn["text"],
            thread_id=f"session_{number}",
        )
        for number, turns in enumerate(sessions, 1)
        for place, turn in enumerate(turns, 1)
    ]
    turns = {message.id for message in messages}
    asked = list(record.get("questions") or ())
    if (instructed := record.get("self_instruct")) and not asked:
        asked = [{"question": str(instructed.get("B", "")), "answer": str(instructed.get("A", ""))}]
    questions = []
    for number, one in enumerate(asked, 1):
        evidence = tuple(one.get("evidence") or ())
        if strange := [turn for turn in evidence if turn not in turns]:
            raise CorruptFileError(f"{path}, line {line}, question {number}: there is no turn {strange[0]!r}")
        questions.append(
            Question(f"{name}-q{number}", str(one["question"]), str(one.get("answer", "")), "msc", evidence)
        )
    return Conversation(id=name, messages=tuple(messages), questions=tuple(questions))
