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
from hexamem.evals.learning import Example
from hexamem.evals.records import Conversation, Question
from hexamem.evals.runner import store_conversation
from hexamem.retrieval.request import Request
from hexamem.retrieval.signals.features import Features
from hexamem.retrieval.strategies import strategy_named

__all__ = ["DEPTH", "AskedQuestion", "ask_all", "turns_of_candidates", "unanswerable"]

DEPTH = 10
"""Hits of the recalls."""
_ITEM_SHARE = 0.3
"""Weight of an item that cites evidence, relative to the step itself: it may cite other steps too."""


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """A question with the features of its candidates, and the turns of each: of a step its own, of an item those it cites."""

    conversation: str
    question: Question
    features: Features
    turns: tuple[tuple[str, ...], ...]

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
    memory: Any, conversations: Sequence[Conversation], progress: Progress | None = None
) -> list[AskedQuestion]:
    """Store the conversations, each as a user of its own, and compute the candidates of all their questions.

    Args:
        memory: an open, empty :class:`~hexamem.memory.Memory`.
        progress: called as ``progress(what, done, total)`` after every question.
    """
    total = sum(len(conversation.questions) for conversation in conversations)
    asked: list[AskedQuestion] = []
    for conversation in conversations:
        user = memory.user(conversation.id)
        turn_of = store_conversation(user, conversation)
        memory.projector.catch_up(user.name)
        for question in conversation.questions:
            request = Request(query=question.text, k=DEPTH)
            searched = memory.searcher.searches(user.name, request, strategy_named("learned"), further=False)
            if searched is not None:
                features = searched.searches[0].features
                asked.append(AskedQuestion(conversation.id, question, features, turns_of_candidates(features, turn_of)))
            if progress is not None:
                progress(f"ask {conversation.id}", len(asked), total)
    return asked


def turns_of_candidates(features: Features, turn_of: Mapping[str, str]) -> tuple[tuple[str, ...], ...]:
    """The turns of each candidate; ``turn_of`` is step → turn, from :func:`~.runner.store_conversation`."""
    pool = features.pool
    steps = [(turn_of.get(step, f"unknown:{step}"),) for step in pool.ids[: pool.steps]]
    items = [tuple(dict.fromkeys(turn_of.get(step, f"unknown:{step}") for step in item.cites)) for item in pool.items]
    return (*steps, *items)
