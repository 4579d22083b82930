"""Training data for the learned ranking from conversations with evidence, and training by conversation.

Conversations are stored in a memory and every question is asked of it: what the ranking is trained on is what it sees
at run time, candidates and features alike. Splits are by conversation, never by question.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import InvalidInputError
from ..retrieval.learning import Example, LearningSettings, learn_answerable, learn_ranking
from ..retrieval.permit import Request
from ..retrieval.ranker import Ranker, answer_signs
from ..retrieval.ranking_weights import RankingWeights
from ..retrieval.signals.features import Features
from ..retrieval.strategies import strategy_named
from .metrics import recall_at_k
from .records import Conversation, Question
from .runner import store_conversation

__all__ = [
    "AskedQuestion",
    "CrossValidated",
    "ask_all",
    "cross_validate",
    "learned_card",
    "score_on",
    "train",
    "train_and_validate",
    "unanswerable",
]

Progress = Callable[[str, int, int], None]
_FOLDS = 5
_ITEM_SHARE = 0.3
"""What an item that cites evidence counts beside the step itself: it may cite other steps too."""
_ANSWER_RUNS = 1  # the folds of `answerable` are trained from one seed


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """A question with its candidates' features, and which turns each candidate stands for."""

    conversation: str
    question: Question
    features: Features
    turns: tuple[tuple[str, ...], ...]

    @property
    def example(self) -> Example:
        gold = set(self.question.evidence)
        evidence = np.array([not gold.isdisjoint(turns) for turns in self.turns], bool)
        share = np.where(self.features.column("is_item") > 0, _ITEM_SHARE, 1.0).astype(np.float32)
        return Example(values=self.features.values, cues=self.features.cues, evidence=evidence, share=share)

    def ranked_turns(self, scores: npt.NDArray[np.float32]) -> list[str]:
        """The turns for which the candidates stand, best first, each once."""
        order = np.argsort(-scores, kind="stable")
        return list(dict.fromkeys(turn for index in order for turn in self.turns[index]))


def unanswerable(question: Question) -> bool:
    """Whether the conversation does not hold the answer: LoCoMo's category 5, and questions that say so."""
    return question.category == "5" or not question.evidence


def ask_all(
    memory: Any, conversations: Sequence[Conversation], progress: Progress | None = None
) -> list[AskedQuestion]:
    """Store the conversations, each as a user of its own, and measure the candidates of all their questions.

    Args:
        memory: an open, empty :class:`~hexamem.memory.Memory`.
        progress: called as ``progress(what, done, total)`` after every question.
    """
    total = sum(len(one.questions) for one in conversations)
    found: list[AskedQuestion] = []
    for conversation in conversations:
        user = memory.user(conversation.id)
        turn_of = store_conversation(user, conversation)
        memory.projector.catch_up(user.name)
        for question in conversation.questions:
            measured = memory.searcher.measure(user.name, Request(query=question.text, k=10), strategy_named("learned"))
            if measured is not None:
                found.append(_asked(conversation, question, measured.features, turn_of))
            if progress is not None:
                progress(f"ask {conversation.id}", len(found), total)
    return found


def _asked(
    conversation: Conversation, question: Question, features: Features, turn_of: Mapping[str, str]
) -> AskedQuestion:
    pool = features.pool
    steps = [(turn_of.get(one, f"unknown:{one}"),) for one in pool.ids[: pool.steps]]
    items = [tuple(dict.fromkeys(turn_of.get(step, f"unknown:{step}") for step in item.cites)) for item in pool.items]
    return AskedQuestion(conversation.id, question, features, (*steps, *items))


def train(
    asked: Sequence[AskedQuestion],
    settings: LearningSettings,
    *,
    fingerprint: str,
    card: Mapping[str, object] | None = None,
    answerable: bool = True,
    progress: Progress | None = None,
) -> RankingWeights:
    """Train the ranking on questions with evidence, and the probability of an answer on the others too.

    That probability is fitted on scores of questions whose conversation the scorer did not see: by folds, so it takes
    at least two conversations, of which some hold unanswerable questions.

    Raises:
        InvalidInputError: no question has evidence.
    """

    def advance(done: int, total: int) -> None:
        if progress is not None:
            progress("train", done, total)

    weights = learn_ranking(
        [one.example for one in asked], settings, fingerprint=fingerprint, card=card, progress=advance
    )
    if not answerable or not any(unanswerable(one.question) for one in asked):
        return weights
    signs, answered = _unseen_signs(asked, settings, fingerprint, progress)
    if not len(signs):
        return weights
    taught = learn_answerable(signs, answered)
    return RankingWeights(
        **{**weights.tensors(), "answerable": taught}, fingerprint=weights.fingerprint, card=weights.card
    )


def _unseen_signs(
    asked: Sequence[AskedQuestion], settings: LearningSettings, fingerprint: str, progress: Progress | None
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.bool_]]:
    names = list(dict.fromkeys(one.conversation for one in asked))
    # Where every question has an answer, having one tells only of what kind the conversation is.
    telling = {one.conversation for one in asked if unanswerable(one.question)}
    folds = min(_FOLDS, len(names))
    signs, answered = [], []
    quick = LearningSettings(
        **{name: getattr(settings, name) for name in settings.__slots__ if name != "runs"}, runs=_ANSWER_RUNS
    )
    for fold in range(folds) if folds > 1 else ():
        held = set(names[fold::folds])
        training = [one.example for one in asked if one.conversation not in held]
        ranker = Ranker(learn_ranking(training, quick, fingerprint=fingerprint))
        for one in asked:
            if one.conversation in held & telling and len(one.features.pool):
                signs.append(answer_signs(one.features, ranker.score(one.features)))
                answered.append(not unanswerable(one.question))
        if progress is not None:
            progress("answerable", fold + 1, folds)
    return np.array(signs, np.float32), np.array(answered, bool)


@dataclass(frozen=True, slots=True)
class CrossValidated:
    """Means over the questions of one conversation that was left out of training.

    Attributes:
        recall: cut-off → recall of turns, categories 1 to 4; ``by_category`` at 10.
        answered: probability that memory holds the answer, and whether it does, a question.
    """

    conversation: str
    questions: int
    recall: Mapping[int, float]
    by_category: Mapping[str, float]
    answered: tuple[tuple[float, bool], ...]


def score_on(asked: Sequence[AskedQuestion], weights: RankingWeights, conversation: str) -> CrossValidated:
    """Measure weights on the questions of one conversation."""
    ranker = Ranker(weights)
    cuts: dict[int, list[float]] = {5: [], 10: [], 20: []}
    categories: dict[str, list[float]] = {}
    answered = []
    for one in (one for one in asked if one.conversation == conversation):
        scores = ranker.score(one.features)
        probability = ranker.answerable(one.features, scores)
        if probability is not None:
            answered.append((probability, not unanswerable(one.question)))
        if not one.question.evidence:
            continue
        turns = one.ranked_turns(scores)
        categories.setdefault(one.question.category, []).append(recall_at_k(turns, one.question.evidence, 10))
        if one.question.category != "5":
            for cut, values in cuts.items():
                values.append(recall_at_k(turns, one.question.evidence, cut))
    return CrossValidated(
        conversation,
        len(cuts[10]),
        {cut: float(np.mean(values)) if values else float("nan") for cut, values in cuts.items()},
        {name: float(np.mean(values)) for name, values in sorted(categories.items())},
        tuple(answered),
    )


def cross_validate(
    asked: Sequence[AskedQuestion],
    settings: LearningSettings,
    *,
    fingerprint: str,
    answerable: bool = False,
    progress: Progress | None = None,
) -> list[CrossValidated]:
    """Train on all conversations but one and measure on that one, for each in turn.

    Raises:
        InvalidInputError: fewer than two conversations.
    """
    names = list(dict.fromkeys(one.conversation for one in asked))
    if len(names) < 2:
        raise InvalidInputError(f"{len(names)} conversation(s); leaving one out takes at least 2")
    found = []
    for index, name in enumerate(names):
        others = [one for one in asked if one.conversation != name]
        weights = train(others, settings, fingerprint=fingerprint, answerable=answerable)
        found.append(score_on(asked, weights, name))
        if progress is not None:
            progress(f"without {name}", index + 1, len(names))
    return found


def learned_card(
    conversations: Sequence[Conversation],
    asked: Sequence[AskedQuestion],
    settings: LearningSettings,
    embedder: str,
    license: str = "unknown",
) -> dict[str, Any]:
    """What weights were trained on and how, for the file that holds them.

    Args:
        license: of the conversations that name none.
    """
    return {
        "embedder": embedder,
        "conversations": [one.id for one in conversations],
        "licenses": sorted({_license(one, license) for one in conversations}),
        "languages": sorted({str(one.metadata.get("language", "unknown")) for one in conversations}),
        "questions": len(asked),
        "unanswerable": sum(unanswerable(one.question) for one in asked),
        "settings": {name: getattr(settings, name) for name in settings.__slots__},
    }


def _license(conversation: Conversation, otherwise: str) -> str:
    made_here = "Apache-2.0" if conversation.dataset == "synthetic" else otherwise
    return str(conversation.metadata.get("license", made_here))


def train_and_validate(
    asked: Sequence[AskedQuestion],
    settings: LearningSettings,
    *,
    fingerprint: str,
    card: Mapping[str, object],
    weights: bool,
    folds: bool,
    progress: Progress | None = None,
) -> tuple[RankingWeights | None, list[dict[str, Any]] | None]:
    """Weights trained on everything, and the measures of each conversation left out, as JSON; None for what is not wanted."""
    made = train(asked, settings, fingerprint=fingerprint, card=card, progress=progress) if weights else None
    if not folds:
        return made, None
    found = cross_validate(asked, settings, fingerprint=fingerprint, answerable=True, progress=progress)
    told = []
    for one in found:
        probabilities = np.array([value for value, _ in one.answered])
        held = np.array([value for _, value in one.answered], bool)
        told.append(
            {
                "conversation": one.conversation,
                "questions": one.questions,
                "recall": {str(cut): value for cut, value in one.recall.items()},
                "by_category": dict(one.by_category),
                "answerable": _agreement(probabilities, held),
            }
        )
    return made, told


def _agreement(probabilities: npt.NDArray[np.float64], held: npt.NDArray[np.bool_]) -> dict[str, float] | None:
    """Area under the curve and calibration error of the probability of an answer; None where all are of one kind."""
    if not len(held) or held.all() or not held.any():
        return None
    yes, no = probabilities[held], probabilities[~held]
    area = float((yes[:, None] > no).mean() + 0.5 * (yes[:, None] == no).mean())
    return {"auc": area, "ece": calibration_error(probabilities, held)}


def calibration_error(probabilities: npt.NDArray[np.float64], held: npt.NDArray[np.bool_], bins: int = 10) -> float:
    """Expected calibration error over equal bins of probability (Naeini, Cooper and Hauskrecht, AAAI 2015)."""
    place = np.minimum((probabilities * bins).astype(int), bins - 1)
    gaps = [
        abs(float(probabilities[place == one].mean()) - float(held[place == one].mean())) * float((place == one).mean())
        for one in range(bins)
        if (place == one).any()
    ]
    return float(sum(gaps))
