"""Training and validation of the learned ranking on conversations with evidence. Splits are by conversation, never by question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from hexamem.errors import InvalidInputError
from hexamem.evals.asked_questions import AskedQuestion, unanswerable
from hexamem.evals.asking import Progress
from hexamem.evals.learning import LearningSettings, learn_answerable, learn_blend, learn_ranking
from hexamem.evals.metrics import recall_at_k
from hexamem.evals.records import Conversation
from hexamem.evals.small_memories import SMALL
from hexamem.retrieval.ranker import FEWEST, Ranker, answer_logit, answer_signs
from hexamem.retrieval.ranking_weights import RankingWeights
from hexamem.stores.embedders.base import FloatArray

__all__ = ["cross_validate", "learned_card", "train"]

_FOLDS = 5
_SMALL_PENALTY = 3.0
"""Penalty of the regression for small memories, which has fewer questions."""


def train(
    asked: Sequence[AskedQuestion],
    settings: LearningSettings,
    *,
    fingerprint: str,
    card: Mapping[str, object] | None = None,
    small: Sequence[AskedQuestion] = (),
    progress: Progress | None = None,
) -> RankingWeights:
    """Train the scorer on questions with evidence, then the probability of an answer.

    That is fitted on scores of questions whose conversation the scorer did not see: by folds, so it takes at least two
    conversations, and unanswerable questions in some of them.

    Args:
        small: questions asked of small memories (:func:`~.small_memories.small_memories`), which calibrate the
            probability there.

    Raises:
        InvalidInputError: no question has evidence.
    """

    def advance(done: int, total: int) -> None:
        if progress is not None:
            progress("train", done, total)

    examples = [question.example for question in asked]
    weights = learn_ranking(examples, settings, fingerprint=fingerprint, card=card, progress=advance)
    if not any(unanswerable(question.question) for question in asked):
        return weights
    folds = _folds(asked, settings, fingerprint, progress)
    if not any(len(fold.signs) for fold in folds):
        return weights
    tensors = {**weights.tensors(), **_answerable_tensors(folds, small)}
    return RankingWeights(**tensors, fingerprint=weights.fingerprint, card=weights.card)


@dataclass(frozen=True, slots=True)
class _Fold:
    """Questions that the ranker was not trained on: the signs of an answer, whether there is one, and candidate steps."""

    ranker: Ranker
    signs: npt.NDArray[np.float32]
    answered: npt.NDArray[np.bool_]
    candidates: npt.NDArray[np.int64]
    conversations: frozenset[str]


def _folds(
    asked: Sequence[AskedQuestion], settings: LearningSettings, fingerprint: str, progress: Progress | None
) -> list[_Fold]:
    names = list(dict.fromkeys(question.conversation for question in asked))
    # In a conversation where every question has an answer, having one only identifies the conversation.
    mixed = {question.conversation for question in asked if unanswerable(question.question)}
    count = min(_FOLDS, len(names))
    folds = []
    for number in range(count) if count > 1 else ():
        held_out = frozenset(names[number::count])
        training = [question.example for question in asked if question.conversation not in held_out]
        if not any(example.evidence.any() and not example.evidence.all() for example in training):
            continue
        ranker = Ranker(learn_ranking(training, replace(settings, runs=1), fingerprint=fingerprint))
        chosen = [entry for entry in asked if entry.conversation in held_out & mixed and len(entry.features.pool)]
        signs = [answer_signs(question.features, ranker.score(question.features)) for question in chosen]
        answered = np.array([not unanswerable(question.question) for question in chosen], bool)
        candidates = np.array([question.features.pool.steps for question in chosen], np.int64)
        folds.append(_Fold(ranker, np.array(signs, np.float32), answered, candidates, held_out))
        if progress is not None:
            progress("answerable", number + 1, count)
    return folds


def _answerable_tensors(folds: Sequence[_Fold], small: Sequence[AskedQuestion]) -> dict[str, FloatArray]:
    """The regressions of the probability of an answer: for all memories, for small ones, and their blend by size."""
    signs = np.concatenate([fold.signs for fold in folds if len(fold.signs)])
    answered = np.concatenate([fold.answered for fold in folds])
    general = learn_answerable(signs, answered)
    tensors = {"answerable": general}
    if not general.size or not small:
        return tensors
    few = [
        (question, answer_signs(question.features, fold.ranker.score(question.features)))
        for fold in folds
        for question in small
        if question.conversation.split(SMALL)[0] in fold.conversations and question.features.pool.steps >= FEWEST
    ]
    few_answered = np.array([not unanswerable(question.question) for question, _ in few], bool)
    if not few or few_answered.all() or not few_answered.any():
        return tensors
    few_signs = np.array([signs_of_question for _, signs_of_question in few], np.float32)
    of_small = learn_answerable(few_signs, few_answered, penalty=_SMALL_PENALTY)
    every = np.concatenate([few_signs, signs])
    # Both groups have the same total weight, whatever their numbers of questions.
    weights = np.repeat([1 / len(few), 1 / len(signs)], [len(few), len(signs)])
    few_candidates = [question.features.pool.steps for question, _ in few]
    blend = learn_blend(
        np.array([answer_logit(general, row) for row in every]),
        np.array([answer_logit(of_small, row) for row in every]),
        np.concatenate([few_answered, answered]),
        np.concatenate([few_candidates, *(fold.candidates for fold in folds)]).astype(float),
        weights,
    )
    return {**tensors, "answerable_small": of_small, "answerable_size": blend}


def _score_on(asked: Sequence[AskedQuestion], weights: RankingWeights, conversation: str) -> dict[str, Any]:
    """Measure the scorer on the questions of one conversation, without operations."""
    ranker = Ranker(weights)
    cuts: dict[int, list[float]] = {5: [], 10: [], 20: []}
    categories: dict[str, list[float]] = {}
    answered = []
    for question in (question for question in asked if question.conversation == conversation):
        scores = ranker.score(question.features)
        probability = ranker.answerable(question.features, scores)
        if probability is not None:
            answered.append((probability, not unanswerable(question.question)))
        evidence, category = question.question.evidence, question.question.category
        if not evidence:
            continue
        turns = question.ranked_turns(scores)
        categories.setdefault(category, []).append(recall_at_k(turns, evidence, 10))
        for cut, values in cuts.items() if category != "5" else ():
            values.append(recall_at_k(turns, evidence, cut))
    return {
        "conversation": conversation,
        "questions": len(cuts[10]),
        "recall": {str(cut): float(np.mean(values)) if values else float("nan") for cut, values in cuts.items()},
        "by_category": {name: float(np.mean(values)) for name, values in sorted(categories.items())},
        "answerable": _answerable_scores(answered),
    }


def cross_validate(
    asked: Sequence[AskedQuestion],
    settings: LearningSettings,
    *,
    fingerprint: str,
    small: Sequence[AskedQuestion] = (),
    progress: Progress | None = None,
) -> list[dict[str, Any]]:
    """Hold out each conversation in turn: train on the others and measure on it.

    Returns:
        A JSON-ready row a conversation: ``recall`` by cut-off, the mean over its questions of categories 1 to 4;
        ``by_category``, at 10; ``answerable``, how well the probability of an answer separates its questions.

    Raises:
        InvalidInputError: fewer than two conversations.
    """
    names = list(dict.fromkeys(question.conversation for question in asked))
    if len(names) < 2:
        raise InvalidInputError(f"{len(names)} conversation(s); cross-validation needs at least 2")
    rows = []
    for index, name in enumerate(names):
        others = [question for question in asked if question.conversation != name]
        weights = train(others, settings, fingerprint=fingerprint, small=small)
        rows.append(_score_on(asked, weights, name))
        if progress is not None:
            progress(f"without {name}", index + 1, len(names))
    return rows


def learned_card(
    conversations: Sequence[Conversation],
    asked: Sequence[AskedQuestion],
    settings: LearningSettings,
    embedder: str,
    license: str = "unknown",
) -> dict[str, Any]:
    """The training data and settings of weights, for their file.

    Args:
        license: of conversations that name none.
    """
    return {
        "embedder": embedder,
        "conversations": [conversation.id for conversation in conversations],
        "licenses": sorted({_license(conversation, license) for conversation in conversations}),
        "languages": sorted({str(conversation.metadata.get("language", "unknown")) for conversation in conversations}),
        "questions": len(asked),
        "unanswerable": sum(unanswerable(question.question) for question in asked),
        "settings": {name: getattr(settings, name) for name in settings.__slots__},
    }


def _license(conversation: Conversation, default: str) -> str:
    return str(conversation.metadata.get("license", "Apache-2.0" if conversation.dataset == "synthetic" else default))


def _answerable_scores(answered: Sequence[tuple[float, bool]]) -> dict[str, float] | None:
    """Area under the curve and calibration error of the probability of an answer; None where all questions are of one kind."""
    probabilities = np.array([probability for probability, _ in answered])
    has_answer = np.array([value for _, value in answered], bool)
    if not len(has_answer) or has_answer.all() or not has_answer.any():
        return None
    yes, no = probabilities[has_answer], probabilities[~has_answer]
    area = float((yes[:, None] > no).mean() + 0.5 * (yes[:, None] == no).mean())
    return {"auc": area, "ece": _calibration_error(probabilities, has_answer)}


def _calibration_error(
    probabilities: npt.NDArray[np.float64], has_answer: npt.NDArray[np.bool_], bins: int = 10
) -> float:
    """Expected calibration error over equal bins of probability (Naeini, Cooper and Hauskrecht, AAAI 2015)."""
    bin_of = np.minimum((probabilities * bins).astype(int), bins - 1)
    members = [rows for number in range(bins) if (rows := bin_of == number).any()]
    gaps = (abs(float(probabilities[rows].mean()) - float(has_answer[rows].mean())) for rows in members)
    return sum(gap * float(rows.mean()) for gap, rows in zip(gaps, members, strict=True))
