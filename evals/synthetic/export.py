"""Writing a conversation in CAME-Bench's form, for other tools."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from hexamem.errors import InvalidInputError
from hexamem.evals.records import Conversation

__all__ = ["write_came"]

_ROLES = ("user", "assistant", "system", "tool")


def write_came(conversation: Conversation, folder: str | Path) -> tuple[Path, Path]:
    """Write ``<name>_turns.jsonl`` and ``<name>_questions.jsonl``, which ``hexamem eval came`` reads back.

    As in the published data, a turn's id begins with its partition and its content ends in its time.

    Args:
        conversation: one thread, with an id and plain text in every turn.
        folder: where to; made if it does not exist.

    Returns:
        The two files.

    Raises:
        InvalidInputError: a turn has no id, content that is not text, or a person named like a role.
        OSError: the files cannot be written.
    """
    name = conversation.id
    if any(word in name for word in ("turns", "questions")):
        raise InvalidInputError(f"conversation id {name!r}: the words turns and questions tell the two files apart")
    written: dict[str, str] = {}
    turns: list[Mapping[str, Any]] = []
    for number, message in enumerate(conversation.messages, start=1):
        if message.id is None or not isinstance(message.content, str):
            raise InvalidInputError(f"{name}, turn {number}: needs an id and plain text to be written as CAME-Bench")
        person = message.role == "user" and message.name
        if person and message.name in _ROLES:
            raise InvalidInputError(f"{name}, turn {number}: name {message.name!r} would read as a role; rename it")
        gold = conversation.gold.get(message.id, {})
        written[message.id] = "-".join([*gold.get("partition", ()), f"turn-{number}"])
        time = f" ----TIMESTAMP: {message.timestamp}" if message.timestamp else ""
        turns.append(
            {
                "id": written[message.id],
                "role": message.name if person else message.role,
                "content": message.content + time,
                **{key: gold[key] for key in ("partition", "action", "action_object") if key in gold},
            }
        )
    questions = [
        {
            "id": question.id,
            "type": question.category,
            "content": question.text,
            "answer": {"free_form_answer": question.answer},
            "question_turn_ids": [],
            "answer_turn_ids": [written[turn] for turn in question.evidence],
            "answer_type": "free_form_answer",
        }
        for question in conversation.questions
    ]
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    files = target / f"{name}_turns.jsonl", target / f"{name}_questions.jsonl"
    _write(files[0], turns)
    _write(files[1], questions)
    return files


def _write(path: Path, records: Iterable[Mapping[str, Any]]) -> None:
    path.write_text("".join(json.dumps(one, ensure_ascii=False) + "\n" for one in records), encoding="utf-8")
