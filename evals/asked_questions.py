"""Questions of conversations with the candidates that a memory retrieves for them: the training data of the learned ranking.

Conversations are stored in a memory and every question is asked of it, so training uses the candidates and features of a
real recall.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hexamem.evals.asking import Progress
from hexamem.evals.gate_training import DEPTH, Operable
from hexamem.evals.records import Conversation, Question
from hexamem.evals.runner import store_conversation
from hexamem.retrieval.decide_and_rank import RecallSearches
from hexamem.retrieval.learning import Example
from hexamem.retrieval.request import Request
from hexamem.retrieval.signals.features import Features
from hexamem.retrieval.strategies import strategy_named

__all__ = ["AskedQuestion", "ask_all", "asked_question", "record_turns", "unanswerable"]

_ITEM_SHARE = 0.3
"""Weight of an item that cites evidence, relative to the step itself: it may cite other steps too."""


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """A question with the features of its candidates.

    Attributes:
        turns: of each candidate: the turn of a step, or the turns that an item cites.
        operable: all searches of a multi-step recall, on which the gate of the operations is trained; None leaves the
            question out of that training.
    """

    conversation: str
    question: Question
    features: Features
    turns: tuple[tuple[str, ...], ...]
    operable: Operable | None = None

    @property
    def example(self) -> Example:
        """The question as a training example of the scorer."""
        gold = set(self.question.evidence)
        evidence = np.array([not gold.isdisjoint(turns) for turns in self.turns], bool)
        share = np.where(self.features.column("is_item") > 0, _ITEM_SHARE, 1.0).astype(np.float32)
        return Example(values=self.features.values, cues=self.features.cues, evidence=evidence, share=share)

    def ranked_turns(self, scores: npt.NDArray[np.float32]) -> list[str]:
        """The turns of the candidates, best first, without duplicates."""
        order = np.argsort(-scores, kind="stable")
        return list(dict.fromkeys(turn for index in order for turn in self.turns[index]))


def unanswerable(question: Question) -> bool:
    """Whether the conversation lacks the answer: LoCoMo's category 5, and questions without evidence."""
    return question.category == "5" or not question.evidence


def ask_all(
    memory: Any, conversations: Sequence[Conversation], progress: Progress | None = None, *, operations: bool = True
) -> list[AskedQuestion]:
    """Store the conversations, each as a user of its own, and compute the candidates of all their questions.

    Args:
        memory: an open, empty :class:`~hexamem.memory.Memory`.
        operations: whether to make the further searches of multi-step recalls, which train the gate of the operations.
        progress: called as ``progress(what, done, total)`` after every question.
    """
    total = sum(len(conversation.questions) for conversation in conversations)
    asked: list[AskedQuestion] = []
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
                    asked.append(asked_question(conversation.id, question, first, turn_of, operable))
            elif (measured := memory.searcher.measure(user.name, request, strategy)) is not None:
                asked.append(asked_question(conversation.id, question, measured.features, turn_of))
            if progress is not None:
                progress(f"ask {conversation.id}", len(asked), total)
    return asked


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
        turn_of: step → turn, as returned by :func:`~.runner.store_conversation`.
        operable: all searches of the question, if they were made.
    """
    return AskedQuestion(conversation, question, features, _turns(features, turn_of), operable)


def record_turns(searched: RecallSearches, turn_of: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """The turns of each candidate of any of the searches, by the candidate's id."""
    turns: dict[str, tuple[str, ...]] = {}
    for search in searched.searches:
        turns.update(zip(search.features.pool.ids, _turns(search.features, turn_of), strict=True))
    return turns


def _turns(features: Features, turn_of: Mapping[str, str]) -> tuple[tuple[str, ...], ...]:
    """The turns of each candidate."""
    pool = features.pool
    steps = [(turn_of.get(step, f"unknown:{step}"),) for step in pool.ids[: pool.steps]]
    items = [tuple(dict.fromkeys(turn_of.get(step, f"unknown:{step}") for step in item.cites)) for item in pool.items]
    return (*steps, *items)
