"""The one pass: stores the conversations and asks each question once by every ranking that needs the memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from hexamem.evals.answers import spread
from hexamem.evals.asked_questions import AskedQuestion, turns_of_candidates, unanswerable
from hexamem.evals.asking import Progress, ask, counted, spent, turns_of
from hexamem.evals.metrics import recall_at_k
from hexamem.evals.records import Conversation, EvalMessage, Question
from hexamem.evals.runner import store_conversation
from hexamem.evals.study.data_sets import StudySet
from hexamem.models.tokens import count_each
from hexamem.retrieval.decide_and_rank import RecallSearches
from hexamem.retrieval.ranker import Ranker
from hexamem.retrieval.ranking_operations import order
from hexamem.retrieval.request import Request
from hexamem.retrieval.strategies import strategy_named

__all__ = ["CUT", "RANKINGS", "Observation", "Ranked", "Values", "arm_recalls", "observe", "recalls"]

RANKINGS: Mapping[str, str] = {
    "dense": "cosine of the embedder's vectors",
    "bm25": "BM25 over stems and bigrams",
    "rrf": "reciprocal rank fusion of dense, BM25 and late interaction",
    "rrf_neighbours": "the same, with a share of each step's score added to the steps next to it",
    "label_density": "STITCH: label density first, similarity breaks ties",
    "research": "rounds of plan, search, integrate and reflect; without a model, no calls",
}
"""The rankings that are asked of the memory, in the order of the tables, with a description for the report."""
CUT = 10
"""Default cut-off of recall and nDCG."""
_DEPTH = 40  # of the rankings
Values: TypeAlias = npt.NDArray[np.float64]
"""A number for each question, ``(n,)``, or for each question and configuration."""


@dataclass(frozen=True, slots=True)
class StoredConversation:
    """A conversation that was stored for the study.

    Attributes:
        id: unique in the study: data set and ``source_id``.
        source_id: id of the conversation itself; two data sets may hold the same one with other questions.
        tokens: turn id → tokens of the turn in a prompt, with its time and speaker.
    """

    id: str
    source_id: str
    data_set: str
    tokens: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Ranked:
    """One ranking of a question: turns best first, without duplicates, and the model calls and tokens it took."""

    turns: tuple[str, ...]
    calls: int = 0
    tokens: int = 0
    degraded: tuple[str, ...] = ()


@dataclass
class Observation:
    """One question with the candidates and rankings that the memory returned.

    Attributes:
        searched: all searches of the question.
        turns: candidate of any of these → its turns.
        rankings: name → ranking; those by trained weights are computed later from the features.
    """

    conversation: StoredConversation
    asked: AskedQuestion
    searched: RecallSearches
    turns: Mapping[str, tuple[str, ...]]
    rankings: dict[str, Ranked] = field(default_factory=dict)

    @property
    def evidence(self) -> tuple[str, ...]:
        """The turns that answer the question."""
        return self.asked.question.evidence

    @property
    def kind(self) -> str:
        """The category of the question."""
        return self.asked.question.category

    def ranked(self, ranker: Ranker, on: frozenset[str]) -> list[str]:
        """The turns as a recall with these operations returns them, best first."""
        ids = order(ranker, self.searched.searches, self.searched.steps, on, CUT).ids
        return list(dict.fromkeys(turn for name in ids for turn in self.turns[name]))

    def tokens_of(self, turns: Sequence[str]) -> int:
        """Tokens of the turns in a prompt."""
        return sum(self.conversation.tokens.get(turn, 0) for turn in turns)

    def packed(self, turns: Sequence[str], budget: int) -> list[str]:
        """The turns that fit into a budget of tokens, best first; a turn that does not fit is skipped, as ``recall`` does."""
        packed: list[str] = []
        for turn in turns:
            cost = self.tokens_of([turn])
            if cost <= budget:
                packed.append(turn)
                budget -= cost
        return packed


def recalls(
    observations: Sequence[Observation], ranking: Callable[[Observation], Sequence[str]], k: int = CUT
) -> Values:
    """Recall of evidence turns at k of each question."""
    return np.array([recall_at_k(list(ranking(entry)), entry.evidence, k) for entry in observations], np.float64)


def arm_recalls(observations: Sequence[Observation], arm: str, k: int = CUT) -> Values:
    """Recall at k of each question by the ranking of that name."""
    return recalls(observations, lambda observation: observation.rankings[arm].turns, k)


def observe(
    memory: Any, sets: Sequence[StudySet], *, questions: int | None = None, progress: Progress | None = None
) -> list[Observation]:
    """Store every conversation in an empty memory, as a user of its own, and ask its questions that have evidence.

    Args:
        questions: maximum of each conversation, evenly spread; all when None.
    """
    plan = [
        (group.name, conversation, spread(conversation.questions, questions))
        for group in sets
        for conversation in group.conversations
    ]
    advance = counted(progress, sum(len(chosen) for _, _, chosen in plan))
    observations: list[Observation] = []
    for name, conversation, chosen in plan:
        # Two sets may hold the same conversation with other questions.
        user = memory.user(f"{name} {conversation.id}")
        turn_of = store_conversation(user, conversation)
        memory.projector.catch_up(user.name)
        stored = _stored(name, conversation)
        for question in chosen:
            observation = None if unanswerable(question) else _observed(user, stored, question, turn_of)
            observations += [observation] if observation is not None else []
            advance(f"ask {conversation.id}")
    return observations


def _stored(data_set: str, conversation: Conversation) -> StoredConversation:
    turns = {turn.id: turn for turn in conversation.messages if turn.id is not None}
    lines = [f"[{turn.timestamp or ''}] {turn.name or turn.role}: {_words(turn)}" for turn in turns.values()]
    tokens = {turn: count + 1 for turn, count in zip(turns, count_each(lines), strict=True)}
    return StoredConversation(f"{data_set}: {conversation.id}", conversation.id, data_set, tokens)


def _words(message: EvalMessage) -> str:
    content = message.content
    words = content if isinstance(content, str) else " ".join(str(block.get("text", "")) for block in content)
    return f"{words} {message.caption}" if message.caption else words


def _observed(
    user: Any, conversation: StoredConversation, question: Question, turn_of: Mapping[str, str]
) -> Observation | None:
    request = Request(query=question.text, k=CUT)
    searched = user.memory.searcher.searches(user.name, request, strategy_named("learned"))
    if searched is None:
        return None
    first = searched.searches[0].features
    asked = AskedQuestion(conversation.id, question, first, turns_of_candidates(first, turn_of))
    turns = {
        name: turns
        for search in searched.searches
        for name, turns in zip(search.features.pool.ids, turns_of_candidates(search.features, turn_of), strict=True)
    }
    observation = Observation(conversation, asked, searched, turns)
    for strategy in RANKINGS:
        before = spent(user.memory)
        answer = ask(user, question.text, k=_DEPTH, strategy=strategy)
        after = spent(user.memory)
        observation.rankings[strategy] = Ranked(
            tuple(turns_of(answer.steps, turn_of)),
            calls=after.calls - before.calls,
            tokens=after.tokens - before.tokens,
            degraded=answer.degraded,
        )
    return observation
