"""Train the reader's classifiers on ``evals/corpus``, and write them to ``agents/weights``.

    python scripts/train_reader.py                      for the bundled encoder, in about a minute
    python scripts/train_reader.py --embedder static

Sentences come with their labels from ``sentences``; those of ``write_path/development*.json`` have the kinds of the items
that should be made of them. The inverse penalty is chosen on the validation part and on two files of cases (``UNSEEN``), the
bound of each type on these cases; what ships is then trained on everything. Needs scikit-learn.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import numpy as np
from encoder_training.corpus import load, read_json
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score

from hexamem.agents.sentence_classifiers import SentenceClassifiers, sentence_features
from hexamem.evals.sealed import open_files
from hexamem.models.sentences import split_sentences
from hexamem.stores.embedders import Embedder, open_embedder

TARGETS = Path(__file__).resolve().parents[1] / "agents" / "weights"
TYPES = ("core", "episodic", "semantic", "procedural", "resource")
DATED, PAST = len(TYPES), len(TYPES) + 1
NAMES = (*TYPES, "says when", "in the past", "of the user")
UNSEEN = ("development4.json", "development5.json")
PENALTIES = (0.25, 0.5, 1.0, 2.0, 4.0)
SPREAD = 2.0  # what unit vectors are multiplied with, so that the penalties are of a common size
ATTRIBUTE_C, LEAST_OF_ATTRIBUTE = 20.0, 6
MAY = 0.5
BETA = 0.5
"""Of the F score by which bounds are chosen: a wrong item costs more than one that is missed."""


@dataclass(frozen=True)
class Labelled:
    """A sentence with a label for each of ``NAMES``: 1, 0, ``MAY`` for either, or NaN where it is not known."""

    text: str
    labels: tuple[float, ...]
    attribute: str = ""


def from_sentences(*, validation: bool) -> list[Labelled]:
    """The labelled sentences of the corpus."""
    return [
        Labelled(
            message.text[s.start : s.end],
            (
                *(float(kind in s.types) for kind in TYPES),
                float(s.dated),
                np.nan if s.past is None else float(s.past),
                float(s.subject == "self") if s.subject else np.nan,
            ),
            s.attribute if s.types else "",
        )
        for message in load(validation=validation).messages
        for s in message.sentences
    ]


def from_cases(paths: Iterable[Path]) -> list[Labelled]:
    """The users' sentences of write-path cases.

    A sentence has the kinds of the items whose words it holds. Where it holds a part of an item's words alone, the label is
    not known.
    """
    labelled: list[Labelled] = []
    for path in paths:
        for case in read_json(path):
            for turn in case["turns"]:
                if turn["role"] == "user":
                    labelled += [_of_case(turn["content"][a:b], case) for a, b in split_sentences(turn["content"])]
    return labelled


def _of_case(sentence: str, case: dict[str, list[dict[str, object]]]) -> Labelled:
    labels = dict.fromkeys(TYPES, 0.0)
    for name, known in (("may", MAY), ("should", 1.0)):
        for item in case[name]:
            shares = [_holds(str(value), sentence) for value in item["values"] if not _is_day(str(value))]  # type: ignore[attr-defined]
            if item["kind"] in labels and shares:
                if all(shares):
                    labels[str(item["kind"])] = known
                elif any(shares) and labels[str(item["kind"])] == 0.0:
                    labels[str(item["kind"])] = np.nan
    return Labelled(sentence, (*labels.values(), np.nan, np.nan, np.nan))


def _holds(value: str, sentence: str) -> bool:
    return any(choice.casefold() in sentence.casefold() for choice in value.split("|"))


def _is_day(value: str) -> bool:
    return len(value) == 10 and value[4] == value[7] == "-"


def read(embedder: Embedder, sentences: Sequence[Labelled]) -> tuple[np.ndarray, np.ndarray]:
    """Features ``(n, d + 2)`` and labels ``(n, len(NAMES))``."""
    vectors = embedder.embed_documents([sentence.text for sentence in sentences])
    features = [sentence_features(sentence.text, vector) for sentence, vector in zip(sentences, vectors, strict=True)]
    return SPREAD * np.array(features), np.array([sentence.labels for sentence in sentences])


def fit(vectors: np.ndarray, labels: np.ndarray, penalty: float) -> list[LogisticRegression]:
    """One classifier for each of ``NAMES``, on the sentences whose label is known."""
    known = [np.isin(column, (0.0, 1.0)) for column in labels.T]
    return [
        LogisticRegression(C=penalty, max_iter=1000).fit(vectors[rows], column[rows] > 0)
        for rows, column in zip(known, labels.T, strict=True)
    ]


def chances(models: Sequence[LogisticRegression], vectors: np.ndarray) -> np.ndarray:
    """Probabilities ``(n, len(NAMES))``."""
    return np.stack([model.predict_proba(vectors)[:, 1] for model in models], axis=1)


def average_precision(given: np.ndarray, wanted: np.ndarray) -> float:
    """Of one or several columns, over the labels that are known."""
    known = np.isin(wanted, (0.0, 1.0))
    return float(average_precision_score(wanted[known] > 0, given[known]))


def best_bound(given: np.ndarray, wanted: np.ndarray) -> float:
    """The bound with the best F score; what may be stored counts as right, and is not expected."""
    right, expected = wanted >= MAY, wanted == 1  # both false for NaN

    def score(bound: float) -> float:
        chosen = given >= bound
        precision = (chosen & right).sum() / max(1, chosen.sum())
        recall = (chosen & expected).sum() / max(1, expected.sum())
        return float((1 + BETA**2) * precision * recall / max(1e-9, BETA**2 * precision + recall))

    return float(max(np.arange(0.22, 0.9, 0.01), key=score))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--embedder", choices=("bundled", "static"), default="bundled")
    embedder = open_embedder(parser.parse_args().embedder)
    cases = [path for path in open_files("write_path") if path.name.startswith("development")]
    train = from_sentences(validation=False) + from_cases(path for path in cases if path.name not in UNSEEN)
    unseen = from_sentences(validation=True) + from_cases(path for path in cases if path.name in UNSEEN)
    (vectors, labels), (others, wanted) = read(embedder, train), read(embedder, unseen)

    def precision(penalty: float) -> float:
        return average_precision(chances(fit(vectors, labels, penalty), others)[:, :DATED], wanted[:, :DATED])

    penalty = max(PENALTIES, key=precision)
    given = chances(fit(vectors, labels, penalty), others)
    of_cases = slice(len(from_sentences(validation=True)), None)
    bounds = [best_bound(given[of_cases, column], wanted[of_cases, column]) for column in range(len(TYPES))]
    print(f"{len(train):,} sentences to train on, {len(unseen):,} to choose by; C = {penalty}")
    for column, name in enumerate(NAMES):
        bound = f", bound {bounds[column]:.2f}" if column < len(TYPES) else ""
        print(f"  {name:12} average precision {average_precision(given[:, column], wanted[:, column]):.3f}{bound}")
    labels_of_cases = wanted[of_cases, :DATED]
    chosen, right = given[of_cases, :DATED] >= np.array(bounds), labels_of_cases >= MAY
    expected = labels_of_cases == 1
    print(
        f"  of the cases, at the bounds: precision {(chosen & right).sum() / chosen.sum():.3f}, "
        f"recall {(chosen & expected).sum() / expected.sum():.3f}, "
        f"{chosen.sum() / chosen.any(1).sum():.2f} items a stored sentence"
    )

    everything, vectors, labels = train + unseen, np.concatenate([vectors, others]), np.concatenate([labels, wanted])
    fitted = fit(vectors, labels, penalty)
    used = Counter(sentence.attribute for sentence in everything if sentence.attribute)
    rows = [row for row, sentence in enumerate(everything) if used[sentence.attribute] >= LEAST_OF_ATTRIBUTE]
    attribute = LogisticRegression(C=ATTRIBUTE_C, max_iter=1000).fit(
        vectors[rows], [everything[row].attribute for row in rows]
    )
    classifiers = SentenceClassifiers(
        types=TYPES,
        type_weights=np.concatenate([SPREAD * classifier.coef_ for classifier in fitted]).astype(np.float32),
        type_bias=np.concatenate([classifier.intercept_ for classifier in fitted]).astype(np.float32),
        attributes=tuple(str(name) for name in attribute.classes_),
        attribute_weights=(SPREAD * attribute.coef_).astype(np.float32),
        attribute_bias=attribute.intercept_.astype(np.float32),
        bounds=np.array(bounds, np.float32),
        embedder=embedder.fingerprint,
    )
    path = TARGETS / f"sentences_{embedder.name}.npz"
    np.savez(path, **{name: np.array(getattr(classifiers, name)) for name in SentenceClassifiers.__slots__})
    print(f"wrote {path}")


if __name__ == "__main__":
    main()
