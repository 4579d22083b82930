"""Train the classifier of questions on ``evals/corpus/open``, and write it to ``retrieval/weights``.

    python scripts/train_questions.py                      for the bundled encoder, in some seconds
    python scripts/train_questions.py --embedder static

The inverse penalty is chosen on the validation part; what ships is then trained on both parts. Needs scikit-learn.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import numpy as np
from encoder_training.corpus import Part, load
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, classification_report

from hexamem.retrieval.signals.cues import KINDS
from hexamem.stores.embedders import Embedder, open_embedder

TARGETS = Path(__file__).resolve().parents[1] / "retrieval" / "weights"
PENALTIES = (0.1, 0.3, 1.0, 3.0, 10.0)
SPREAD = 2.0  # what unit vectors are multiplied with, so that the penalties are of a common size


def read(embedder: Embedder, part: Part) -> tuple[np.ndarray, np.ndarray]:
    """Vectors of all questions of a known kind, and the numbers of their kinds."""
    asked = [question for one in part.conversations for question in one.questions if question.type in KINDS]
    vectors = embedder.embed_documents([question.text for question in asked])
    return SPREAD * vectors, np.array([KINDS.index(question.type) for question in asked])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--embedder", choices=("bundled", "static"), default="bundled")
    embedder = open_embedder(parser.parse_args().embedder)
    (vectors, kinds), (unseen, wanted) = (read(embedder, load(validation=part)) for part in (False, True))

    def fit(rows: np.ndarray, targets: np.ndarray, penalty: float) -> LogisticRegression:
        return LogisticRegression(C=penalty, max_iter=2000).fit(rows, targets)

    penalty = max(PENALTIES, key=lambda one: accuracy_score(wanted, fit(vectors, kinds, one).predict(unseen)))
    given = fit(vectors, kinds, penalty).predict(unseen)
    print(f"{len(kinds):,} questions to train on, {len(wanted):,} to choose by; C = {penalty}")
    print(classification_report(wanted, given, labels=range(len(KINDS)), target_names=KINDS, zero_division=0))
    model = fit(np.concatenate([vectors, unseen]), np.concatenate([kinds, wanted]), penalty)
    path = TARGETS / f"questions_{embedder.name}.npz"
    np.savez(path, weights=(SPREAD * model.coef_).astype(np.float32), bias=model.intercept_.astype(np.float32))
    print(f"wrote {path}")


if __name__ == "__main__":
    main()
