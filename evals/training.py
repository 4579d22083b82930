"""Training data for the learned ranking from conversations with evidence, and training by conversation.

Conversations are stored in a memory and every question is asked of it: what the ranking is trained on is what it sees
at run time, candidates and features alike. Splits are by conversation, never by question.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from hexamem.errors import InvalidInputError
from hexamem.evals.gate_training import DEPTH, Operable, gate_example
from hexamem.evals.metrics import recall_at_k
from hexamem.evals.records import Conversation, Question
from hexamem.evals.runner import store_conversation
from hexamem.evals.small_memories import SMALL
from hexamem.retrieval.gates import GateExample, GateSettings, OperationGate, learn_gate, switched
from hexamem.retrieval.learning import Example, LearningSettings, learn_answerable, learn_blend, learn_ranking
from hexamem.retrieval.operating import RecallSearches
from hexamem.retrieval.ranker import FEWEST, USUAL, Ranker, answer_logit, answer_signs
from hexamem.retrieval.ranking_weights import RankingWeights
from hexamem.retrieval.request import Request
from hexamem.retrieval.signals.features import Features
from hexamem.retrieval.strategies import strategy_named
from hexamem.stores.embedders.base import FloatArray

__all__ = [
    "AskedQuestion",
    "CrossValidated",
    "ask_all",
    "asked_question",
    "cross_validate",
    "learned_card",
    "record_turns",
    "replaced",
    "score_on",
    "train",
    "train_and_validate",
    "unanswerable",
]

Progress = Callable[[str, int, int], None]
_FOLDS = 5
_SMALL_PENALTY = 3.0  # of the regression of small memories, of which there are fewer questions
_ITEM_SHARE = 0.3
"""What an item that cites evidence counts beside the step itself: it may cite other steps too."""
_ANSWER_RUNS = 1  # the folds of `answerable` are trained from one seed


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """A question with its candidates' features, and which turns each candidate stands for.

    Attributes:
        operable: all searches of a multi-step recall, on which the gate of the operations is trained; None leaves the
            question out of that.
        dataset: what kind of data the conversation is.
    """

    conversation: str
    question: Question
    features: Features
    turns: tuple[tuple[str, ...], ...]
    operable: Operable | None = None
    dataset: str = ""

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
    memory: Any, conversations: Sequence[Conversation], progress: Progress | None = None, *, operations: bool = True
) -> list[AskedQuestion]:
    """Store the conversations, each as a user of its own, and measure the candidates of all their questions.

    Args:
        memory: an open, empty :class:`~hexamem.memory.Memory`.
        operations: whether the further searches of multi-step recalls are made, to train the gate of the operations.
        progress: called as ``progress(what, done, total)`` after every question.
    """
    total = sum(len(one.questions) for one in conversations)
    found: list[AskedQuestion] = []
    for conversation in conversations:
        user = memory.user(conversation.id)
        turn_of = store_conversation(user, conversation)
        memory.projector.catch_up(user.name)
        for question in conversation.questions:
            request, strategy = Request(query=question.text, k=DEPTH), strategy_named("learned")
            if operations:
                searched = memory.searcher.searches(user.name, request, strategy)
                if searched is not None:
                    operable = Operable(searched, record_turns(searched, turn_of))
                    first = searched.searches[0].features
                    found.append(asked_question(conversation.id, question, first, turn_of, operable))
            elif (measured := memory.searcher.measure(user.name, request, strategy)) is not None:
                found.append(asked_question(conversation.id, question, measured.features, turn_of))
            if progress is not None:
                progress(f"ask {conversation.id}", len(found), total)
    return found


def asked_question(
    conversation: str,
    question: Question,
    features: Features,
    turn_of: Mapping[str, str],
    operable: Operable | None = None,
) -> AskedQuestion:
    """A question with its candidates' features.

    Args:
        conversation: id.
        turn_of: step → turn, as :func:`~.runner.store_conversation` gives it.
        operable: all searches of the question, where they were made.
    """
    return AskedQuestion(conversation, question, features, _turns(features, turn_of), operable)


def record_turns(searched: RecallSearches, turn_of: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """Which turns each candidate of any of the searches stands for, by the candidate's id."""
    found: dict[str, tuple[str, ...]] = {}
    for one in searched.searches:
        found.update(zip(one.features.pool.ids, _turns(one.features, turn_of), strict=True))
    return found


def _turns(features: Features, turn_of: Mapping[str, str]) -> tuple[tuple[str, ...], ...]:
    """Which turns each candidate stands for."""
    pool = features.pool
    steps = [(turn_of.get(one, f"unknown:{one}"),) for one in pool.ids[: pool.steps]]
    items = [tuple(dict.fromkeys(turn_of.get(step, f"unknown:{step}") for step in item.cites)) for item in pool.items]
    return (*steps, *items)


def balanced_examples(asked: Sequence[AskedQuestion]) -> list[Example]:
    """What the scorer is trained on: each kind of data counts by the root of how many questions of it have evidence.

    Where all are of one kind they count alike. Among many questions about talks of friends a few about an agent's work
    would else teach little.
    """
    count = Counter(one.dataset for one in asked if not unanswerable(one.question))
    return [replace(one.example, weight=max(count[one.dataset], 1) ** -0.5) for one in asked]


def train(
    asked: Sequence[AskedQuestion],
    settings: LearningSettings,
    *,
    fingerprint: str,
    card: Mapping[str, object] | None = None,
    answerable: bool = True,
    gate: GateSettings | None = None,
    small: Sequence[AskedQuestion] = (),
    progress: Progress | None = None,
) -> RankingWeights:
    """Train the ranking on questions with evidence, the probability of an answer on the others too, and the gate.

    That probability and the gate are fitted on scores of questions whose conversation the scorer did not see: by folds,
    so they take at least two conversations; the probability also unanswerable questions in some of them.

    Args:
        gate: how the gate of the operations is trained; None trains none, and the usual operations run.
        small: questions asked of small memories (:func:`~.small_memories.small_memories`): how far the probability is
            to be trusted there.

    Raises:
        InvalidInputError: no question has evidence.
    """

    def advance(done: int, total: int) -> None:
        if progress is not None:
            progress("train", done, total)

    weights = learn_ranking(balanced_examples(asked), settings, fingerprint=fingerprint, card=card, progress=advance)
    answerable = answerable and any(unanswerable(one.question) for one in asked)
    gated = [one for one in asked if one.operable is not None] if gate is not None else []
    if not answerable and not gated:
        return weights
    unseen = _unseen(asked, settings, fingerprint, progress)
    more: dict[str, FloatArray] = {}
    if answerable and any(len(one.signs) for one in unseen):
        more |= _taught_answerable(unseen, small)
    if gate is not None and unseen:
        more |= _taught_gate(unseen, gate, more, progress)
    return replaced(weights, more)


def replaced(weights: RankingWeights, tensors: Mapping[str, FloatArray]) -> RankingWeights:
    """Weights with some tensors in place of theirs."""
    return RankingWeights(**{**weights.tensors(), **tensors}, fingerprint=weights.fingerprint, card=weights.card)


@dataclass(frozen=True, slots=True)
class _Fold:
    """Questions of conversations that a ranker was not trained on, with the signs of an answer where they tell."""

    ranker: Ranker
    asked: tuple[AskedQuestion, ...]
    signs: npt.NDArray[np.float32]
    answered: npt.NDArray[np.bool_]
    candidates: npt.NDArray[np.int64]
    names: frozenset[str]


def _unseen(
    asked: Sequence[AskedQuestion], settings: LearningSettings, fingerprint: str, progress: Progress | None
) -> list[_Fold]:
    names = list(dict.fromkeys(one.conversation for one in asked))
    # Where every question has an answer, having one tells only of what kind the conversation is.
    telling = {one.conversation for one in asked if unanswerable(one.question)}
    folds = min(_FOLDS, len(names))
    quick = LearningSettings(
        **{name: getattr(settings, name) for name in settings.__slots__ if name != "runs"}, runs=_ANSWER_RUNS
    )
    found = []
    for fold in range(folds) if folds > 1 else ():
        held = frozenset(names[fold::folds])
        training = balanced_examples([one for one in asked if one.conversation not in held])
        if not any(one.evidence.any() and not one.evidence.all() for one in training):
            continue
        ranker = Ranker(learn_ranking(training, quick, fingerprint=fingerprint))
        mine = tuple(one for one in asked if one.conversation in held)
        told = [one for one in mine if one.conversation in telling and len(one.features.pool)]
        signs = [answer_signs(one.features, ranker.score(one.features)) for one in told]
        answered = np.array([not unanswerable(one.question) for one in told], bool)
        candidates = np.array([one.features.pool.steps for one in told], np.int64)
        found.append(_Fold(ranker, mine, np.array(signs, np.float32), answered, candidates, held))
        if progress is not None:
            progress("answerable", fold + 1, folds)
    return found


def _taught_answerable(unseen: Sequence[_Fold], small: Sequence[AskedQuestion]) -> dict[str, FloatArray]:
    signs = np.concatenate([one.signs for one in unseen if len(one.signs)])
    answered = np.concatenate([one.answered for one in unseen])
    taught = learn_answerable(signs, answered)
    made = {"answerable": taught}
    if not taught.size or not small:
        return made
    few = [
        (one, answer_signs(one.features, fold.ranker.score(one.features)))
        for fold in unseen
        for one in small
        if one.conversation.split(SMALL)[0] in fold.names and one.features.pool.steps >= FEWEST
    ]
    held = np.array([not unanswerable(one.question) for one, _ in few], bool)
    if not few or held.all() or not held.any():
        return made
    small_signs = np.array([signs_of for _, signs_of in few], np.float32)
    taught_small = learn_answerable(small_signs, held, penalty=_SMALL_PENALTY)
    every = np.concatenate([small_signs, signs])
    # Both kinds count alike, however many questions there are of each.
    weights = np.repeat([1 / len(few), 1 / len(signs)], [len(few), len(signs)])
    blend = learn_blend(
        np.array([answer_logit(taught, one) for one in every]),
        np.array([answer_logit(taught_small, one) for one in every]),
        np.concatenate([held, answered]),
        np.concatenate([[one.features.pool.steps for one, _ in few], *(one.candidates for one in unseen)]).astype(
            float
        ),
        weights,
    )
    return {**made, "answerable_small": taught_small, "answerable_size": blend}


def _taught_gate(
    unseen: Sequence[_Fold], settings: GateSettings, more: Mapping[str, FloatArray], progress: Progress | None
) -> dict[str, FloatArray]:
    examples: list[GateExample] = []
    total = sum(one.operable is not None for fold in unseen for one in fold.asked)
    for fold in unseen:
        ranker = Ranker(replaced(fold.ranker.weights, more)) if more else fold.ranker
        for one in fold.asked:
            if one.operable is None:
                continue
            steps = len(one.operable.searched.steps)
            probability = ranker.answerable(one.features, ranker.score(one.features), size=steps)
            evidence = () if unanswerable(one.question) else one.question.evidence
            examples.append(gate_example(one.operable, evidence, ranker, probability, one.conversation))
            if progress is not None and len(examples) % 50 == 0:
                progress("rewards", len(examples), total)
    return {"operations": learn_gate(examples, settings)} if examples else {}


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
    """Measure weights on the questions of one conversation, with the operations that their gate switches on."""
    ranker, gate = Ranker(weights), OperationGate(weights)
    cuts: dict[int, list[float]] = {5: [], 10: [], 20: []}
    categories: dict[str, list[float]] = {}
    answered = []
    for one in (one for one in asked if one.conversation == conversation):
        scores = ranker.score(one.features)
        size = None if one.operable is None else len(one.operable.searched.steps)
        probability = ranker.answerable(one.features, scores, size=size)
        if probability is not None:
            answered.append((probability, not unanswerable(one.question)))
        if not one.question.evidence:
            continue
        turns = _ranked(one, ranker, gate, scores)
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


def _ranked(one: AskedQuestion, ranker: Ranker, gate: OperationGate, scores: npt.NDArray[np.float32]) -> list[str]:
    """The turns in the order in which the preset ``learned`` gives them."""
    if one.operable is None:
        return one.ranked_turns(scores)
    weights = gate.weights_of(*one.operable.gate_input(scores))
    on = switched(weights, strategy_named("learned").operations)
    return one.operable.ranked(ranker, on, None if not on >= USUAL else scores)


def cross_validate(
    asked: Sequence[AskedQuestion],
    settings: LearningSettings,
    *,
    fingerprint: str,
    answerable: bool = False,
    gate: GateSettings | None = None,
    small: Sequence[AskedQuestion] = (),
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
        weights = train(others, settings, fingerprint=fingerprint, answerable=answerable, gate=gate, small=small)
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
    gate: GateSettings | None = None,
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
        "gate": None if gate is None else {name: getattr(gate, name) for name in gate.__slots__},
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
    gate: GateSettings | None = None,
    small: Sequence[AskedQuestion] = (),
    progress: Progress | None = None,
) -> tuple[RankingWeights | None, list[dict[str, Any]] | None]:
    """Weights trained on everything, and the measures of each conversation left out, as JSON; None for what is not wanted."""
    made = None
    if weights:
        made = train(asked, settings, fingerprint=fingerprint, card=card, gate=gate, small=small, progress=progress)
    if not folds:
        return made, None
    found = cross_validate(
        asked, settings, fingerprint=fingerprint, answerable=True, gate=gate, small=small, progress=progress
    )
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
