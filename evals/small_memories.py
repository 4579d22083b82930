"""Training data for the probability that memory contains an answer, beside the unanswerable questions of conversations.

- Small memories cut from conversations, with questions that they answer and as many that they do not: among ten turns
  there is always a best candidate, whatever the question.
- Questions of other conversations: a regression on the unanswerable ones of a data set alone, which resemble the
  answerable ones, takes a question about something else for an answerable one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from hexamem.evals.records import Conversation, Question

__all__ = ["SMALL", "small_memories", "with_foreign_questions"]

SMALL = "~small"
"""Separates the id of a conversation from the number of a memory cut from it."""
_SIZES = (4, 7, 12, 20, 36, 64)
_ASKED = 6  # questions of each kind


def small_memories(
    conversations: Sequence[Conversation], *, seed: int = 0, sizes: Sequence[int] = _SIZES
) -> list[Conversation]:
    """For each conversation one memory of each size: consecutive turns, with questions that they answer and as many
    that they do not.

    A question whose evidence lies outside of the turns has none there. Conversations without ids of turns, or without
    evidence, yield no memory.
    """
    random = np.random.default_rng(seed)
    memories = []
    for conversation in conversations:
        asked = _answerable(conversation)
        turns = [message.id for message in conversation.messages]
        for number, size in enumerate(sizes if asked and None not in turns else ()):
            if size >= len(turns):
                continue
            start = int(random.integers(0, len(turns) - size + 1))
            members = set(turns[start : start + size])
            inside = [question for question in asked if members.issuperset(question.evidence)]
            outside = [question for question in asked if members.isdisjoint(question.evidence)]
            if not (count := min(_ASKED, len(inside), len(outside))):
                continue
            chosen = [*_some(inside, count, random), *map(_without_evidence, _some(outside, count, random))]
            name, messages = f"{conversation.id}{SMALL}{number}", conversation.messages[start : start + size]
            memories.append(replace(conversation, id=name, messages=messages, questions=tuple(chosen)))
    return memories


def with_foreign_questions(conversations: Sequence[Conversation], *, seed: int = 0) -> list[Conversation]:
    """Each conversation with as many questions of another conversation as it has unanswerable ones of its own."""
    random = np.random.default_rng(seed)
    answerable = [_answerable(conversation) for conversation in conversations]
    extended = []
    for place, conversation in enumerate(conversations):
        others = [question for other, asked in enumerate(answerable) if other != place for question in asked]
        count = min(len(conversation.questions) - len(answerable[place]), len(others))
        foreign = map(_without_evidence, _some(others, count, random))
        extended.append(replace(conversation, questions=(*conversation.questions, *foreign)))
    return extended


def _answerable(conversation: Conversation) -> list[Question]:
    return [question for question in conversation.questions if question.evidence and question.category != "5"]


def _some(questions: Sequence[Question], count: int, random: np.random.Generator) -> list[Question]:
    return [questions[place] for place in random.permutation(len(questions))[:count].tolist()]


def _without_evidence(question: Question) -> Question:
    return replace(question, evidence=(), evidence_threads=())
