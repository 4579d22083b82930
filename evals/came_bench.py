"""CAME-Bench (STITCH, arXiv 2601.10702): a trajectory of turns, and questions with the turns that answer them.

Two JSON-lines files that differ in one word of their names: ``debate_turns.jsonl`` and ``debate_questions.jsonl``.
Of a turn the memory sees role, content and time. ``partition``, ``action``, ``action_object`` and the turn's id
(which begins with its partition) are gold and lie in ``Conversation.gold`` under the neutral id ``turn-N``.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hexamem.errors import CorruptFileError, InvalidInputError
from hexamem.evals.jsonl import read_records
from hexamem.evals.records import Conversation, EvalMessage, Question

__all__ = ["load_came_bench", "sibling", "split_timestamp"]

_ROLES = ("user", "assistant", "system", "tool")
_TIMESTAMP = re.compile(r"\s*-{2,}\s*TIMESTAMP:\s*(?P<time>\S(?:.*\S)?)\s*\Z")
_GOLD_OF_TURN = ("id", "partition", "action", "action_object", "entity_types")


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
        One conversation; id ``came-<name of the trajectory>``; without questions, and a note, if their file is
        missing.

    Raises:
        InvalidInputError: the turns file is missing, or the names do not tell which file is which.
        CorruptFileError: naming file and line.
    """
    other = sibling(path)
    turns_file, questions_file = (path, other) if "turns" in path.name else (other, path)
    if not turns_file.exists():
        raise InvalidInputError(f"{path}: the turns it asks about are missing; put {turns_file.name} beside it")
    before, _, after = turns_file.stem.rpartition("turns")
    name = (before + after).strip("_-.") or turns_file.resolve().parent.name

    turns = read_records(turns_file, skip_bad=skip_bad, check=_turn_problem)
    messages: list[EvalMessage] = []
    neutral: dict[str, str] = {}
    gold: dict[str, dict[str, Any]] = {}
    time: str | None = None
    untimed = 0
    named_role = "assistant" if any(turn["role"] == "user" for _, turn in turns.records) else "user"
    for number, turn in turns.records:
        turn_id = f"turn-{len(messages) + 1}"
        if turn["id"] in neutral:
            raise CorruptFileError(
                f"{turns_file}, line {number}: id {turn['id']!r} occurs twice; each turn needs its own"
            )
        neutral[turn["id"]] = turn_id
        gold[turn_id] = {key: turn[key] for key in _GOLD_OF_TURN if key in turn}
        content, own_time = split_timestamp(turn["content"])
        untimed += own_time is None
        time = own_time or time
        role = turn["role"]
        messages.append(
            EvalMessage(
                id=turn_id,
                role=role if role in _ROLES else named_role,
                name=None if role in _ROLES else role,
                content=content,
                timestamp=time,
                thread_id=name,
            )
        )
    notes = list(turns.notes)
    if untimed:
        notes.append(f"{untimed} turn(s) without a timestamp: each took that of the turn before, where there was one")
    questions: list[Question] = []
    if questions_file.exists():
        questions, more = _questions(questions_file, f"came-{name}", neutral, skip_bad)
        notes += more
    else:
        notes.append(f"no questions: {questions_file.name} is missing beside {turns_file.name}")
    return [
        Conversation(
            id=f"came-{name}",
            messages=tuple(messages),
            questions=tuple(questions),
            notes=tuple(notes),
            dataset="came",
            gold=gold,
        )
    ]


def sibling(path: Path) -> Path:
    """The questions file of a turns file, and the other way round, by name alone (it need not exist).

    Raises:
        InvalidInputError: the name holds neither ``turns`` nor ``questions``.
    """
    for one, other in (("turns", "questions"), ("questions", "turns")):
        before, found, after = path.name.rpartition(one)
        if found:
            return path.with_name(before + other + after)
    raise InvalidInputError(
        f"{path}: a CAME-Bench file is named like debate_turns.jsonl or debate_questions.jsonl; rename it so"
    )


def split_timestamp(content: str) -> tuple[str, str | None]:
    """A turn's content without its trailing ``----TIMESTAMP: …``, and the time; None where it has none."""
    match = _TIMESTAMP.search(content)
    return (content[: match.start()], match["time"]) if match else (content, None)


def _questions(
    path: Path, conversation_id: str, neutral: dict[str, str], skip_bad: bool
) -> tuple[list[Question], list[str]]:
    lines = read_records(path, skip_bad=skip_bad, check=_question_problem)
    questions: list[Question] = []
    unknown: list[str] = []
    for _, record in lines.records:
        written = record.get("answer_turn_ids") or []
        unknown += [f"{turn} ({record['id']})" for turn in written if turn not in neutral]
        answer = record.get("answer")
        free_form = answer.get("free_form_answer") if isinstance(answer, dict) else answer
        asked = record.get("question_turn_ids") or []
        questions.append(
            Question(
                id=f"{conversation_id}-{record['id']}",
                text=record["content"],
                answer="" if free_form is None else str(free_form),
                category=str(record["type"]),
                evidence=tuple(dict.fromkeys(neutral[turn] for turn in written if turn in neutral)),
                gold={
                    "answer": answer,
                    "answer_type": record.get("answer_type"),
                    "question_turns": tuple(neutral[turn] for turn in asked if turn in neutral),
                },
            )
        )
    notes = list(lines.notes)
    if unknown:
        notes.append(f"{len(unknown)} evidence id(s) that no turn has, left out: {', '.join(unknown)}")
    if bare := [question.id for question in questions if not question.evidence]:
        notes.append(f"{len(bare)} question(s) without evidence, not scored: {', '.join(bare)}")
    return questions, notes


def _turn_problem(record: dict[str, Any]) -> str | None:
    for key in ("id", "role", "content"):
        if not isinstance(record.get(key), str):
            return f"{key} is missing or not text; a turn has id, role and content"
    return None


def _question_problem(record: dict[str, Any]) -> str | None:
    for key in ("id", "type", "content"):
        if not isinstance(record.get(key), str):
            return f"{key} is missing or not text; a question has id, type and content"
    if not isinstance(record.get("answer_turn_ids", []), list):
        return "answer_turn_ids is not a list"
    return None
