"""Training data for the probability that memory contains an answer, beside the unanswerable questions of conversations.

- Small memories cut from conversations, with questions that they answer and as many that they do not: in a memory of ten
  turns there is always a best candidate, which exceeds nothing.
- Questions of other conversations: those that a data set calls unanswerable resemble the answerable ones, and a
  regression on them alone takes a question about something else for an answerable one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from hexamem.evals.records import Conversation, Question

__all__ = ["SMALL", "small_memories", "with_foreign_questions"]

SMALL = "~small"
"""Stands between the id of a conversation and the number of a memory cut from it."""
_SIZES = (4, 7, 12, 20, 36, 64)
_ASKED = 6  # questions of each kind


def small_memories(
    conversations: Sequence[Conversation], *, seed: int = 0, sizes: Sequence[int] = _SIZES
) -> list[Conversation]:
    """For each conversation one memory of each size: consecutive turns, with questions that they answer and as many
    that they do not.

    Evidence that lies outside of the turns is taken away: such a question has none there. Conversations without
    turns of their own ids, or without evidence, give none.
    """
    random = np.random.default_rng(seed)
    made = []
    for conversation in conversations:
        asked = [one for one in conversation.questions if one.evidence and one.category != "5"]
        turns = [one.id for one in conversation.messages]
        if not asked or None in turns:
            continue
        for number, size in enumerate(sizes):
            if size >= len(turns):
                continue
            start = int(random.integers(0, len(turns) - size + 1))
            kept = set(turns[start : start + size])
            inside = [one for one in asked if kept.issuperset(one.evidence)]
            outside = [one for one in asked if kept.isdisjoint(one.evidence)]
            count = min(_ASKED, len(inside), len(outside))
            if not count:
                continue
            chosen = [*_some(inside, count, random), *(_without(one) for one in _some(outside, count, random))]
            messages = conversation.messages[start : start + size]
            made.append(
                replace(
                    conversation, id=f"{conversation.id}{SMALL}{number}", messages=messages, questions=tuple(chosen)
                )
            )
    return made


def with_foreign_questions(conversations: Sequence[Conversation], *, seed: int = 0) -> list[Conversation]:
    """Each conversation with as many questions of another conversation as it has unanswerable ones of its own."""
    random = np.random.default_rng(seed)
    answerable = [
        [one for one in conversation.questions if one.evidence and one.category != "5"]
        for conversation in conversations
    ]
    extended = []
    for place, conversation in enumerate(conversations):
        others = [one for other, asked in enumerate(answerable) if other != place for one in asked]
        count = min(len(conversation.questions) - len(answerable[place]), len(others))
        foreign = [_without(one) for one in _some(others, count, random)]
        extended.append(replace(conversation, questions=(*conversation.questions, *foreign)))
    return extended


def _some(questions: Sequence[Question], count: int, random: np.random.Generator) -> list[Question]:
    return [questions[one] for one in random.permutation(len(questions))[:count].tolist()]


def _without(question: Question) -> Question:
    return replace(question, evidence=(), evidence_threads=())
