"""Read the corpus for training: conversations with questions, labelled sentences, pairs of statements.

Sealed files are refused (:mod:`hexamem.evals.sealed`). A third of the other conversations and a fifth of the other files of
sentences and trajectories, by a hash of their names, and a fifth of the pairs, by a hash of the earlier statement, are the
validation part: choices are made there, and the ranking is trained there, on vectors of conversations that the encoder has
not seen.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hexamem.evals.came_bench import load_came_bench, sibling
from hexamem.evals.sealed import open_files, refuse_sealed

_TURN = re.compile(r"D\d+:\d+")
_SHARES = {"open": 3}
"""Of so many files of a folder one is validation; 5 elsewhere."""
_SHARE_OF_PAIRS = 5
"""One pair in so many is validation; pairs with the same earlier statement stay together."""


@dataclass
class Question:
    """A question and the places of its evidence among the turns, in the order in which a searcher would find them."""

    text: str
    evidence: list[int]
    type: str


@dataclass
class Conversation:
    """Turns as ``speaker: text``, and questions."""

    name: str
    turns: list[str]
    questions: list[Question]


@dataclass
class Sentence:
    """A sentence of a user message: its characters in the message, and its labels.

    ``past`` is whether it says something of a day before that of the message; None where it names no other day.
    """

    start: int
    end: int
    types: list[str]
    dated: bool
    past: bool | None = None
    subject: str = ""
    attribute: str = ""


@dataclass
class Message:
    """A user message with labelled sentences."""

    text: str
    """Begins with the name of its speaker where there is one, as messages are encoded."""
    sentences: list[Sentence]
    language: str


@dataclass
class Pair:
    """Two statements, and whether the later one supersedes the earlier one."""

    earlier: str
    later: str
    supersedes: bool


@dataclass
class Part:
    """One part of the corpus."""

    conversations: list[Conversation] = field(default_factory=list)
    messages: list[Message] = field(default_factory=list)
    pairs: list[Pair] = field(default_factory=list)


SPEAKERS = ("", "", "", "", "Maren", "Tom", "小李", "Priya")
"""Who wrote the labelled messages, by a hash: an encoded text begins with the name of its speaker, where there is one."""


def read_json(path: Path) -> Any:
    """One file.

    Raises:
        PermissionError: the file is sealed.
    """
    refuse_sealed(path)
    return json.loads(path.read_text(encoding="utf-8"))


def load(*, validation: bool) -> Part:
    """The validation part, or all that is neither validation nor sealed."""
    return Part(
        conversations=[
            *(read_conversation(path) for path in _part("open", validation)),
            *(read_trajectory(path) for path in _part("trajectories", validation, "*_turns.jsonl")),
        ],
        messages=[message for path in _part("sentences", validation) for message in _messages(path)],
        pairs=[
            pair
            for path in open_files("supersession")
            for pair in _pairs(path)
            if (_number(pair.earlier) % _SHARE_OF_PAIRS == 0) == validation
        ],
    )


def validation_files(folder: str, pattern: str = "*.json") -> list[Path]:
    """The files of a set that make up its validation part."""
    return [path for path in open_files(folder, pattern) if _number(path.stem) % _SHARES.get(folder, 5) == 0]


def _part(folder: str, validation: bool, pattern: str = "*.json") -> Sequence[Path]:
    chosen = set(validation_files(folder, pattern))
    return [path for path in open_files(folder, pattern) if (path in chosen) == validation]


def _number(text: str) -> int:
    return int(hashlib.sha256(text.encode()).hexdigest(), 16)


def read_conversation(path: Path) -> Conversation:
    """A conversation of the open corpus, or one of the same form."""
    data = read_json(path)
    turns: list[str] = []
    place: dict[str, int] = {}
    session = 1
    while f"session_{session}" in data:
        for turn in data[f"session_{session}"]:
            place[turn["dia_id"]] = len(turns)
            caption = f" [image: {turn['blip_caption']}]" if turn.get("blip_caption") else ""
            turns.append(f"{turn['speaker']}: {turn.get('text') or ''}{caption}")
        session += 1
    questions = []
    for asked in data["qa"]:
        ids = [turn for text in asked.get("evidence") or [] for turn in _TURN.findall(text)]
        evidence = list(dict.fromkeys(place[turn] for turn in ids if turn in place))
        questions.append(Question(str(asked["question"]), evidence, str(asked.get("type") or asked.get("category"))))
    return Conversation(path.stem, turns, questions)


def read_trajectory(path: Path) -> Conversation:
    """A trajectory with its questions, in CAME-Bench's form.

    Raises:
        PermissionError: one of its two files is sealed.
    """
    refuse_sealed(path, sibling(path))
    (loaded,) = load_came_bench(path)
    place = {message.id: number for number, message in enumerate(loaded.messages)}
    return Conversation(
        f"trajectory {path.stem}",
        [f"{m.name}: {m.content}" if m.name else str(m.content) for m in loaded.messages],
        [Question(q.text, [place[turn] for turn in q.evidence], "trajectory") for q in loaded.questions],
    )


def _messages(path: Path) -> Iterator[Message]:
    for conversation in read_json(path)["conversations"]:
        language = conversation["language"]
        for message in conversation["messages"]:
            if message["role"] != "user":
                continue
            speaker = SPEAKERS[_number(str(message["sentences"])) % len(SPEAKERS)]
            text, sentences = f"{speaker}: " if speaker else "", []
            for sentence in message["sentences"]:
                text += " " if sentences and language != "zh" else ""
                start = len(text)
                text += sentence["text"]
                sentences.append(
                    Sentence(
                        start=start,
                        end=len(text),
                        types=sentence["types"],
                        dated="date" in sentence,
                        past=_past(str(sentence.get("date", "")), str(message.get("timestamp", ""))),
                        subject=sentence.get("subject", ""),
                        attribute=sentence.get("attribute", ""),
                    )
                )
            yield Message(text, sentences, language)


def _past(date: str, stated: str) -> bool | None:
    """Whether a day, month or year as written in the corpus is before that of the message."""
    day = date.partition("..")[0]
    if not re.fullmatch(r"\d{4}(-\d\d){0,2}", day) or not stated or stated.startswith(day):
        return None
    return day < stated[: len(day)]


def _pairs(path: Path) -> Iterator[Pair]:
    for pair in read_json(path)["pairs"]:
        yield Pair(pair["earlier"]["text"], pair["later"]["text"], bool(pair["supersedes"]))
