"""Train the reader's classifiers on ``evals/corpus/sentences``, and write them to ``agents/weights``.

    python scripts/train_reader.py                      for the bundled encoder, in some seconds
    python scripts/train_reader.py --embedder static

Inverse penalties and the bounds of the types are chosen on the validation part; what ships is then trained on both parts.
Needs scikit-learn. Prints average precision of each classifier on the validation part, and precision and recall at the
bounds.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import numpy as np
from encoder_training.corpus import Part, Sentence, load
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score

from hexamem.agents.sentence_classifiers import SentenceClassifiers
from hexamem.stores.embedders import Embedder, open_embedder

TYPES = ("core", "episodic", "semantic", "procedural", "resource")
PENALTIES = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
SPREAD = 2.0  # what unit vectors are multiplied with, so that the penalties are of a common size
ATTRIBUTE_C, LEAST_OF_ATTRIBUTE = 20.0, 6
BETA = 0.7
"""Of the F score by which bounds are chosen: a wrong item costs more than one that is missed."""


def read(embedder: Embedder, part: Part) -> tuple[np.ndarray, list[Sentence]]:
    """Vectors of all labelled sentences, ``(n, d)``, and the sentences."""
    texts = [message.text[s.start : s.end] for message in part.messages for s in message.sentences]
    return SPREAD * embedder.embed_documents(texts), [s for message in part.messages for s in message.sentences]


def targets(sentences: list[Sentence]) -> np.ndarray:
    """Labels ``(n, types + 1)``: the types, then "says when"."""
    return np.array([[kind in s.types for kind in TYPES] + [s.dated] for s in sentences])


def best_penalty(vectors: np.ndarray, labels: np.ndarray, unseen: np.ndarray, wanted: np.ndarray) -> float:
    """The inverse penalty with the best average precision over all types on unseen sentences."""

    def precision(penalty: float) -> float:
        chances = np.stack([_fit(vectors, column, penalty).predict_proba(unseen)[:, 1] for column in labels.T], axis=1)
        return float(average_precision_score(wanted[:, :-1].ravel(), chances[:, :-1].ravel()))

    return max(PENALTIES, key=precision)


def best_bound(chances: np.ndarray, wanted: np.ndarray) -> float:
    """The bound with the best F score."""

    def score(bound: float) -> float:
        chosen = chances >= bound
        right = float((chosen & wanted).sum())
        precision, recall = right / max(1, chosen.sum()), right / max(1, wanted.sum())
        return (1 + BETA**2) * precision * recall / max(1e-9, BETA**2 * precision + recall)

    return float(max(np.arange(0.2, 0.8, 0.02), key=score))


def _fit(vectors: np.ndarray, labels: np.ndarray, penalty: float) -> LogisticRegression:
    return LogisticRegression(C=penalty, max_iter=1000).fit(vectors, labels)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--embedder", choices=("bundled", "static"), default="bundled")
    embedder = open_embedder(parser.parse_args().embedder)
    vectors, sentences = read(embedder, load(validation=False))
    unseen, unseen_sentences = read(embedder, load(validation=True))
    labels, wanted = targets(sentences), targets(unseen_sentences)
    penalty = best_penalty(vectors, labels, unseen, wanted)
    print(f"{len(sentences):,} sentences to train on, {len(unseen_sentences):,} to choose by; C = {penalty}")
    chances = np.stack([_fit(vectors, column, penalty).predict_proba(unseen)[:, 1] for column in labels.T], axis=1)
    bounds = [best_bound(chances[:, column], wanted[:, column]) for column in range(len(TYPES))]
    for column, name in enumerate((*TYPES, "says when")):
        precision = average_precision_score(wanted[:, column], chances[:, column])
        print(
            f"  {name:10} average precision {precision:.3f}"
            + (f", bound {bounds[column]:.2f}" if column < len(TYPES) else "")
        )
    chosen = chances[:, :-1] >= np.array(bounds)
    right = float((chosen & wanted[:, :-1]).sum())
    print(
        f"  any type   average precision {average_precision_score(wanted[:, :-1].any(1), chances[:, :-1].max(1)):.3f}"
    )
    print(f"  at the bounds: precision {right / chosen.sum():.3f}, recall {right / wanted[:, :-1].sum():.3f}")

    vectors, sentences = np.concatenate([vectors, unseen]), sentences + unseen_sentences
    fitted = [_fit(vectors, column, penalty) for column in targets(sentences).T]
    used = Counter(s.attribute for s in sentences if s.attribute and s.types)
    rows = [row for row, s in enumerate(sentences) if s.types and used[s.attribute] >= LEAST_OF_ATTRIBUTE]
    attribute = _fit(vectors[rows], np.array([sentences[row].attribute for row in rows]), ATTRIBUTE_C)
    path = SentenceClassifiers(
        types=TYPES,
        type_weights=np.concatenate([SPREAD * one.coef_ for one in fitted]).astype(np.float32),
        type_bias=np.concatenate([one.intercept_ for one in fitted]).astype(np.float32),
        attributes=tuple(str(name) for name in attribute.classes_),
        attribute_weights=(SPREAD * attribute.coef_).astype(np.float32),
        attribute_bias=attribute.intercept_.astype(np.float32),
        bounds=np.array(bounds, np.float32),
        embedder=embedder.fingerprint,
    ).save(embedder.name)
    print(f"wrote {path}")


if __name__ == "__main__":
    main()
