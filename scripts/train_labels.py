"""Train the classifiers of event and entity types on the corpus's trajectories, and measure them on those left out.

    python scripts/train_labels.py            writes intent/weights/labels_bundled.npz, in about a minute
    python scripts/train_labels.py --folds    measures each trajectory by classifiers that have not seen it
    python scripts/train_labels.py --measure heldout_turns.jsonl …    measures the classifiers that ship

With --embedder static the classifiers are those for the static model's vectors.

The verbs and nouns of each trajectory are its author's own: they are mapped to the types of ``intent/label_types.json``
by the words listed there, else by the nearest in meaning. Prints AMI of the events (as they come, the agent's turns
carrying the act that they answer), and precision and recall of the entity types.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Literal

sys.path.insert(0, str(Path(__file__).resolve().parent))

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import adjusted_mutual_info_score
from trajectory_training import WEIGHTS, run

from hexamem.evals.trajectories import Trajectory, load_trajectories
from hexamem.intent.label_classifiers import LabelClassifiers, event_features, load_classifiers
from hexamem.intent.label_names import label_types
from hexamem.models.encoder import open_encoder
from hexamem.stores.embedders import Embedder

EVENT_C, ENTITY_C, ENTITY_THRESHOLD, SEED = 1.0, 4.0, 0.25, 13
LEAST_COSINE = 0.5


@cache
def type_words(kind: Literal["event", "entity"]) -> dict[str, str]:
    """Each word of ``label_types.json`` in lower case, a type's own name too → the name of the type."""
    stored = json.loads((WEIGHTS.parent / "label_types.json").read_text(encoding="utf-8"))
    types = stored["events" if kind == "event" else "entities"]
    words = {word: name for name, listed in reversed(list(types.items())) for word in listed}
    return words | {name.casefold(): name for name in types}


@cache
def nearest_type(kind: Literal["event", "entity"], word: str) -> str | None:
    """The type of a word; None where no type is near it in meaning."""
    word = word.replace("_", " ").casefold()
    words = type_words(kind)
    if word in words:
        return words[word]
    encoder = open_encoder()
    cosines = encoder.vectors(list(words)) @ encoder.vectors([word])[0]
    best = int(cosines.argmax())
    return words[list(words)[best]] if cosines[best] >= LEAST_COSINE else None


def answers(trajectory: Trajectory, place: int) -> bool:
    """Whether a step carries the act of the one before it."""
    return place > 0 and trajectory.steps[place].role in ("assistant", "tool")


def event_rows(trajectories: Iterable[Trajectory]) -> tuple[np.ndarray, list[str]]:
    rows, targets = [], []
    for trajectory in trajectories:
        for place, action in enumerate(trajectory.actions):
            name = nearest_type("event", action)
            if name is not None and not answers(trajectory, place):
                rows.append(features(trajectory, place))
                targets.append(name)
    return np.stack(rows), targets


def features(trajectory: Trajectory, place: int) -> np.ndarray:
    before = trajectory.steps[place - 1] if place else None
    turned = place > 0 and trajectory.scopes[place] != trajectory.scopes[place - 1]
    return event_features(trajectory.steps[place], before, turned=turned)


def entity_rows(trajectories: Iterable[Trajectory]) -> tuple[np.ndarray, np.ndarray]:
    names = list(label_types("entity"))
    rows, targets = [], []
    for trajectory in trajectories:
        for step, entities in zip(trajectory.steps, trajectory.entities, strict=True):
            if entities:
                named = {nearest_type("entity", word) for word in entities}
                rows.append(step.vector)
                targets.append([name in named for name in names])
    return np.stack(rows), np.array(targets)


def train(trajectories: Sequence[Trajectory], embedder: Embedder) -> LabelClassifiers:
    """Train on trajectories, and on those of ``intent/dev``, which have acts but no entity types."""
    rows, targets = event_rows([*trajectories, *load_trajectories(embedder, ["intent/dev"])])
    counts = {name: targets.count(name) for name in set(targets)}
    print(f"{len(targets):,} acts: {dict(sorted(counts.items(), key=lambda entry: -entry[1]))}")
    events = LogisticRegression(C=EVENT_C, max_iter=1000, random_state=SEED).fit(rows, targets)
    entity_vectors, carried = entity_rows(trajectories)
    weights, bias, thresholds = [], [], []
    names = [name for name, column in zip(label_types("entity"), carried.T, strict=True) if column.sum() >= 8]
    for name, column in zip(label_types("entity"), carried.T, strict=True):
        if name not in names:
            continue
        classifier = LogisticRegression(C=ENTITY_C, max_iter=1000, random_state=SEED).fit(entity_vectors, column)
        weights.append(classifier.coef_[0])
        bias.append(classifier.intercept_[0])
        thresholds.append(ENTITY_THRESHOLD)
    return LabelClassifiers(
        events=tuple(str(name) for name in events.classes_),
        event_weights=events.coef_.T.astype(np.float32),
        event_bias=events.intercept_.astype(np.float32),
        entities=tuple(names),
        entity_weights=np.array(weights, np.float32).T,
        entity_bias=np.array(bias, np.float32),
        thresholds=np.array(thresholds, np.float32),
        encoder=embedder.fingerprint,
    )


def events_of(trajectory: Trajectory, classifiers: LabelClassifiers) -> list[str]:
    """The event type of each step, by gold scopes."""
    given: list[str] = []
    for place in range(len(trajectory.steps)):
        given.append(given[-1] if answers(trajectory, place) else classifiers.event_of(features(trajectory, place))[0])
    return given


def measure(trajectories: Sequence[Trajectory], classifiers: LabelClassifiers) -> list[float]:
    scores = []
    for trajectory in trajectories:
        score = adjusted_mutual_info_score(trajectory.actions, events_of(trajectory, classifiers))
        scores.append(score)
        print(f"  {trajectory.name:28} events AMI {score:.3f}")
    rows, carried = entity_rows(trajectories)
    names = list(label_types("entity"))
    given = np.zeros_like(carried)
    for place, row in enumerate(rows):
        for name in classifiers.entities_of(row):
            given[place, names.index(name)] = True
    both = (given & carried).sum()
    print(f"  entity types: precision {both / max(given.sum(), 1):.2f}, recall {both / carried.sum():.2f}")
    return scores


if __name__ == "__main__":
    run(__doc__, "labels", train, measure, load_classifiers, LabelClassifiers.__slots__)
