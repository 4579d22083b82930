"""The one pass: conversations are stored, and each question is asked once of every ranking that needs the memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from hexamem.errors import InvalidInputError
from hexamem.evals.answers import spread
from hexamem.evals.asking import Progress, counted, steps_of, turns_of
from hexamem.evals.gate_training import Operable
from hexamem.evals.records import Conversation, EvalMessage, Question
from hexamem.evals.runner import store_conversation
from hexamem.evals.study.arms import FULL
from hexamem.evals.study.data_sets import StudySet
from hexamem.evals.study.loops import Loop
from hexamem.evals.study.records import CUT, DEPTH, Observed, Ranked, Talk
from hexamem.evals.training import asked_question, record_turns, unanswerable
from hexamem.memory_types.times import parse_time
from hexamem.models.tokens import count_each
from hexamem.models.usage import Usage
from hexamem.retrieval.request import Request
from hexamem.retrieval.strategies import strategy_named
from hexamem.stores.ledger.usage import usage_totals

__all__ = ["STORED", "observe"]

STORED = ("dense", "bm25", "rrf", "rrf_neighbours", "label_density")
"""Strategies that ``recall`` is asked for."""
_RESEARCH_ROUNDS = 3
_FULL = 20
"""Hits that the ranking in full returns: its model reads three times as many."""
_COSTS = ("calls", "input_tokens", "output_tokens")


def observe(
    memory: Any,
    sets: Sequence[StudySet],
    *,
    questions: int | None = None,
    full: bool = False,
    loops: Mapping[str, Loop] | None = None,
    progress: Progress | None = None,
) -> list[Observed]:
    """Store every conversation as a user of its own and ask its questions that have evidence.

    Args:
        memory: an open, empty :class:`~hexamem.memory.Memory`.
        questions: so many of each conversation, evenly spread; all when None.
        full: whether the learned ranking is asked to let the memory's model decompose and rerank.
        loops: model-driven baselines by name.
        progress: called as ``progress(what, done, total)``.
    """
    plan = [
        (group.name, conversation, spread(conversation.questions, questions))
        for group in sets
        for conversation in group.conversations
    ]
    advance = counted(progress, sum(len(chosen) for _, _, chosen in plan))
    observed: list[Observed] = []
    for name, conversation, chosen in plan:
        # Two sets may hold the same conversation with other questions.
        user = memory.user(f"{name} {conversation.id}")
        turn_of = store_conversation(user, conversation)
        memory.projector.catch_up(user.name)
        talk = _talk(memory, name, conversation, _usage_of(memory, user.name).tokens)
        for question in chosen:
            one = None if unanswerable(question) else _observed(memory, user.name, talk, question, turn_of)
            if one is not None:
                _ask(user, one, turn_of, full=full, loops=loops or {})
                observed.append(one)
            advance(f"ask {conversation.id}")
    return observed


def _usage_of(memory: Any, user: str) -> Usage:
    """What models have cost for a user so far."""
    with memory.ledger.read(user) as tx:
        rows = usage_totals(tx) if tx.user_id else []
    return Usage(**{name: sum(row[name] for row in rows) for name in _COSTS})  # type: ignore[literal-required]


def _talk(memory: Any, data_set: str, conversation: Conversation, written: int) -> Talk:
    messages = [one for one in conversation.messages if one.id is not None]
    texts = [_words(one) for one in messages]
    speakers = tuple(one.name or one.role for one in messages)
    rows = zip(messages, speakers, texts, strict=True)
    lines = [f"[{one.timestamp or ''}] {speaker}: {text}" for one, speaker, text in rows]
    return Talk(
        id=f"{data_set}: {conversation.id}",
        conversation=conversation.id,
        data_set=data_set,
        turns=tuple(str(one.id) for one in messages),
        texts=tuple(texts),
        speakers=speakers,
        tokens=np.array(count_each(lines), np.int64) + 1,
        seconds=np.array([_moment(one.timestamp) for one in messages], np.float64),
        vectors=memory.embedder.embed_documents(texts),
        written=written,
    )


def _words(message: EvalMessage) -> str:
    content = message.content
    words = content if isinstance(content, str) else " ".join(str(block.get("text", "")) for block in content)
    return f"{words} {message.caption}" if message.caption else words


def _moment(text: str | None) -> float:
    try:
        return parse_time(text).utc.timestamp() if text else 0.0
    except InvalidInputError:
        return 0.0


def _observed(memory: Any, user: str, talk: Talk, question: Question, turn_of: Mapping[str, str]) -> Observed | None:
    searched = memory.searcher.searches(user, Request(query=question.text, k=CUT), strategy_named("learned"))
    if searched is None:
        return None
    operable = Operable(searched, record_turns(searched, turn_of))
    asked = asked_question(talk.id, question, searched.searches[0].features, turn_of, operable)
    return Observed(talk, asked, operable, np.asarray(searched.question.vector, np.float32))


def _ask(user: Any, one: Observed, turn_of: Mapping[str, str], *, full: bool, loops: Mapping[str, Loop]) -> None:
    text = one.asked.question.text

    def ranked(found: Any, usage: Usage | None = None) -> Ranked:
        turns = tuple(turns_of(steps_of(found.hits), turn_of))
        return Ranked(turns, usage=usage or Usage(), degraded=tuple(found.degraded))

    for strategy in STORED:
        one.rankings[strategy] = ranked(user.recall(text, k=DEPTH, strategy=strategy))
    result = user.research(text, _RESEARCH_ROUNDS, form="passages")
    one.rankings["research"] = ranked(result, Usage(**{name: getattr(result.usage, name) for name in _COSTS}))
    if full:
        before = _usage_of(user.memory, user.name)
        recall = user.recall(text, k=_FULL, strategy=FULL)
        after = _usage_of(user.memory, user.name)
        one.rankings[FULL] = ranked(
            recall, Usage(**{name: getattr(after, name) - getattr(before, name) for name in _COSTS})
        )
    for name, loop in loops.items():
        one.rankings[name] = loop(
            text, lambda query, k: list(ranked(user.recall(query, k=k, strategy="rrf")).turns), one.talk
        )
