"""The one pass: stores the conversations and asks each question once by every ranking that needs the memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hexamem.evals.answers import spread
from hexamem.evals.asked_questions import AskedQuestion, turns_of_candidates, unanswerable
from hexamem.evals.asking import RESEARCH, Progress, ask, counted, spent, turns_of
from hexamem.evals.records import Conversation, EvalMessage, Question
from hexamem.evals.runner import store_conversation
from hexamem.evals.study.data_sets import StudySet
from hexamem.evals.study.records import CUT, DEPTH, Observation, Ranked, StoredConversation
from hexamem.models.tokens import count_each
from hexamem.retrieval.request import Request
from hexamem.retrieval.strategies import strategy_named

__all__ = ["STORED", "observe"]

STORED = ("dense", "bm25", "rrf", "rrf_neighbours", "label_density")
"""Strategies of ``recall`` that are measured."""
_RESEARCH_ROUNDS = 3


def observe(
    memory: Any,
    sets: Sequence[StudySet],
    *,
    questions: int | None = None,
    progress: Progress | None = None,
) -> list[Observation]:
    """Store every conversation as a user of its own and ask its questions that have evidence.

    Args:
        memory: an open, empty :class:`~hexamem.memory.Memory`.
        questions: maximum of each conversation, evenly spread; all when None.
        progress: called as ``progress(what, done, total)``.
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
            observation = None if unanswerable(question) else _observed(memory, user.name, stored, question, turn_of)
            if observation is not None:
                _ask(user, observation, turn_of)
                observations.append(observation)
            advance(f"ask {conversation.id}")
    return observations


def _stored(data_set: str, conversation: Conversation) -> StoredConversation:
    turns = {turn.id: turn for turn in conversation.messages if turn.id is not None}
    lines = [f"[{turn.timestamp or ''}] {turn.name or turn.role}: {_words(turn)}" for turn in turns.values()]
    return StoredConversation(
        id=f"{data_set}: {conversation.id}",
        source_id=conversation.id,
        data_set=data_set,
        tokens={turn: count + 1 for turn, count in zip(turns, count_each(lines), strict=True)},
    )


def _words(message: EvalMessage) -> str:
    content = message.content
    words = content if isinstance(content, str) else " ".join(str(block.get("text", "")) for block in content)
    return f"{words} {message.caption}" if message.caption else words


def _observed(
    memory: Any, user: str, conversation: StoredConversation, question: Question, turn_of: Mapping[str, str]
) -> Observation | None:
    searched = memory.searcher.searches(user, Request(query=question.text, k=CUT), strategy_named("learned"))
    if searched is None:
        return None
    first = searched.searches[0].features
    asked = AskedQuestion(conversation.id, question, first, turns_of_candidates(first, turn_of))
    turns = {
        name: turns
        for search in searched.searches
        for name, turns in zip(search.features.pool.ids, turns_of_candidates(search.features, turn_of), strict=True)
    }
    return Observation(conversation, asked, searched, turns)


def _ask(user: Any, observation: Observation, turn_of: Mapping[str, str]) -> None:
    for strategy in (*STORED, RESEARCH):
        before = spent(user.memory)
        asked = ask(user, observation.asked.question.text, k=DEPTH, strategy=strategy, rounds=_RESEARCH_ROUNDS)
        after = spent(user.memory)
        observation.rankings[strategy] = Ranked(
            tuple(turns_of(asked.steps, turn_of)),
            calls=after.calls - before.calls,
            tokens=after.tokens - before.tokens,
            degraded=asked.degraded,
        )
