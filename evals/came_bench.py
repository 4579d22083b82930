"""CAME-Bench (STITCH, arXiv 2601.10702): a trajectory of turns, and questions with the turns that answer them.

Two JSON-lines files that differ in one word of their names: ``debate_turns.jsonl`` and ``debate_questions.jsonl``.
Of a turn the memory sees role, content and time. ``partition``, ``action``, ``action_object`` and the turn's id
(which begins with its partition) are gold: they are in ``Conversation.gold`` under the neutral id ``turn-N``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from hexamem.errors import CorruptFileError, InvalidInputError
from hexamem.evals.jsonl import fits, read_records
from hexamem.evals.records import Conversation, EvalMessage, Question, not_scored

__all__ = ["load_came_bench", "sibling"]

_ROLES = ("user", "assistant", "system", "tool")
_TIMESTAMP = re.compile(r"\s*-{2,}\s*TIMESTAMP:\s*(?P<time>\S(?:.*\S)?)\s*\Z")
_GOLD_OF_TURN = ("id", "partition", "action", "action_object", "entity_types")


class _Turn(BaseModel):
    id: str
    role: str
    content: str


class _Asked(BaseModel):
    id: str
    type: str
    content: str
    answer: Any = None
    answer_type: Any = None
    answer_turn_ids: list[str] | None = None
    question_turn_ids: list[str] | None = None


def load_came_bench(path: Path, *, skip_bad: bool = False) -> list[Conversation]:
    """Read a trajectory and its questions.

    The trajectory is one thread: its partitions are gold. A trailing ``----TIMESTAMP: 2025-05-15T08:00`` becomes the
    turn's timestamp; a turn without one takes that of the turn before (counted in the notes). Roles other than
    user, assistant, system and tool become names: of assistants (``travel_agent``) where a trajectory has turns of a
    ``user``, of people (role ``user``) where it has none.

    Args:
        path: the turns file or the questions file.
        skip_bad: leave bad lines out with a note instead of raising.

    Returns:
        One conversation ``came-<name of the trajectory>``; without questions, and a note, if their file is missing.

    Raises:
        InvalidInputError: the turns file is missing, or the names do not tell turns from questions.
        CorruptFileError: naming file and line.
    """
    other = sibling(path)
    turns_file, questions_file = (path, other) if "turns" in path.name else (other, path)
    if not turns_file.exists():
        raise InvalidInputError(f"{path}: the turns it asks about are missing; put {turns_file.name} beside it")
    name = "".join(turns_file.stem.rpartition("turns")[::2]).strip("_-.") or turns_file.resolve().parent.name
    turns = read_records(turns_file, skip_bad=skip_bad, check=fits(_Turn))
    messages: list[EvalMessage] = []
    neutral: dict[str, str] = {}
    gold: dict[str, dict[str, Any]] = {}
    time: str | None = None
    untimed = 0
    named_role = "assistant" if any(turn["role"] == "user" for _, turn in turns.records) else "user"
    for number, turn in turns.records:
        turn_id, role, content = f"turn-{len(messages) + 1}", turn["role"], turn["content"]
        if turn["id"] in neutral:
            raise CorruptFileError(
                f"{turns_file}, line {number}: id {turn['id']!r} occurs twice; each turn needs its own"
            )
        neutral[turn["id"]] = turn_id
        gold[turn_id] = {key: turn[key] for key in _GOLD_OF_TURN if key in turn}
        if stamp := _TIMESTAMP.search(content):
            content, time = content[: stamp.start()], stamp["time"]
        untimed += stamp is None
        role, speaker = (role, None) if role in _ROLES else (named_role, role)
        messages.append(EvalMessage(turn_id, role, speaker, content, timestamp=time, thread_id=name))
    notes = list(turns.notes)
    if untimed:
        notes.append(f"{untimed} turn(s) without a timestamp: each took that of the turn before, where there was one")
    questions: list[Question] = []
    if questions_file.exists():
        questions, more = _questions(questions_file, f"came-{name}", neutral, skip_bad)
        notes += more
    else:
        notes.append(f"no questions: {questions_file.name} is missing beside {turns_file.name}")
    return [Conversation(f"came-{name}", tuple(messages), tuple(questions), tuple(notes), "came", gold)]


def sibling(path: Path) -> Path:
    """The questions file of a turns file, and the other way round, by name alone (it need not exist).

    Raises:
        InvalidInputError: the name holds neither ``turns`` nor ``questions``.
    """
    for word, other in (("turns", "questions"), ("questions", "turns")):
        before, there, after = path.name.rpartition(word)
        if there:
            return path.with_name(before + other + after)
    raise InvalidInputError(
        f"{path}: a CAME-Bench file is named like debate_turns.jsonl or debate_questions.jsonl; rename it so"
    )


def _questions(
    path: Path, conversation_id: str, neutral: Mapping[str, str], skip_bad: bool
) -> tuple[list[Question], list[str]]:
    """The questions, and notes on them."""
    lines = read_records(path, skip_bad=skip_bad, check=fits(_Asked))
    every = [_Asked.model_validate(record) for _, record in lines.records]
    questions = [
        Question(
            id=f"{conversation_id}-{asked.id}",
            text=asked.content,
            answer=_in_words(asked.answer),
            category=asked.type,
            evidence=_known(asked.answer_turn_ids, neutral),
            gold={
                "answer": asked.answer,
                "answer_type": asked.answer_type,
                "question_turns": _known(asked.question_turn_ids, neutral),
            },
        )
        for asked in every
    ]
    unknown = [f"{turn} ({asked.id})" for asked in every for turn in asked.answer_turn_ids or () if turn not in neutral]
    return questions, [*lines.notes, *not_scored(unknown, questions)]


def _known(turns: list[str] | None, neutral: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(neutral[turn] for turn in turns or () if turn in neutral))


def _in_words(answer: Any) -> str:
    words = answer.get("free_form_answer") if isinstance(answer, dict) else answer
    return "" if words is None else str(words)
