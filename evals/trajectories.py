"""Trajectories with gold labels as labellers see them: for training the embedded tier and for measuring it."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np

from hexamem.evals.came_bench import load_came_bench, sibling
from hexamem.evals.sealed import open_files, refuse_sealed
from hexamem.intent.contract import StepView, Vectors
from hexamem.stores.documents import with_speaker
from hexamem.stores.embedders import Embedder

__all__ = ["FOLDS", "AskedQuestion", "Trajectory", "fold", "load_trajectories", "read_trajectory"]

FOLDS = 5
_MINUTE = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """A question about a trajectory, with the gold scopes of its evidence."""

    text: str
    vector: Vectors
    scopes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Trajectory:
    """The steps of one trajectory and their gold labels, one each: scope, action verb, and key entity types, if any."""

    name: str
    steps: tuple[StepView, ...]
    scopes: tuple[str, ...]
    actions: tuple[str, ...]
    entities: tuple[tuple[str, ...], ...]
    questions: tuple[AskedQuestion, ...] = ()


def fold(name: str) -> int:
    """The part of the corpus that a trajectory belongs to when parts are left out in turn: by its name alone."""
    return int(hashlib.sha256(name.encode()).hexdigest(), 16) % FOLDS


def load_trajectories(embedder: Embedder, folders: Iterable[str]) -> list[Trajectory]:
    """The trajectories of some folders of the corpus that are not sealed, by name, with vectors of the embedder."""
    files = [path for folder in folders for path in open_files(folder, "*_turns.jsonl")]
    refuse_sealed(*map(sibling, files))
    return [read_trajectory(path, embedder) for path in files]


def read_trajectory(path: Path, embedder: Embedder) -> Trajectory:
    """One trajectory in CAME-Bench's form (``*_turns.jsonl``), sealed or not: to measure, not to train."""
    (conversation,) = load_came_bench(path)
    texts = [with_speaker(message.name, str(message.content)) for message in conversation.messages]
    vectors = _vectors(embedder, texts)
    at = datetime(2025, 1, 1, tzinfo=UTC)
    steps: list[StepView] = []
    for turn, (message, vector) in enumerate(zip(conversation.messages, vectors, strict=True)):
        given = datetime.fromisoformat(message.timestamp) if message.timestamp else None
        at = at + _MINUTE if given is None else given.replace(tzinfo=UTC) if given.tzinfo is None else given
        steps.append(
            StepView(
                id=str(message.id),
                thread_id=conversation.id,
                turn=turn,
                role=message.role,
                speaker=message.name or message.role,
                text=str(message.content),
                occurred_at=at,
                vector=vector,
            )
        )
    gold = [conversation.gold[step.id] for step in steps]
    scopes = {step.id: "/".join(labels["partition"]) for step, labels in zip(steps, gold, strict=True)}
    questions = [question.text for question in conversation.questions]
    asked: Sequence[Vectors] = list(_vectors(embedder, questions)) if questions else []
    return Trajectory(
        name=re.sub(r"_turns$", "", path.stem),
        steps=tuple(steps),
        scopes=tuple(scopes.values()),
        actions=tuple(str(labels["action"]) for labels in gold),
        entities=tuple(tuple(labels.get("entity_types", ())) for labels in gold),
        questions=tuple(
            AskedQuestion(question.text, vector, tuple(sorted({scopes[turn] for turn in question.evidence})))
            for question, vector in zip(conversation.questions, asked, strict=True)
        ),
    )


def _vectors(embedder: Embedder, texts: Sequence[str]) -> Vectors:
    return np.asarray(embedder.embed_documents(texts), np.float32)
