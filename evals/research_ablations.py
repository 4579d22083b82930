"""Ablations of research: lanes alone and in pairs, without pages, memos or rounds, rounds × passages (GAM, section 4)."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np

from hexamem.evals.asking import steps_of
from hexamem.evals.records import Conversation, Question
from hexamem.evals.runner import MemoryLike, store_conversation
from hexamem.memory_types.research import LANES

__all__ = ["RESEARCH_ABLATIONS", "Arm", "ablate"]

ROUNDS, PASSAGES = (1, 2, 3, 4, 5), (3, 5, 10, 14, 20)


@dataclass(frozen=True, slots=True, kw_only=True)
class Arm:
    """One way to ask.

    Attributes:
        research: keywords of ``UserMemory.research``; None for a recall by ``strategy``.
        read: whether what was read counts alone, not what would be read next.
        memos: whether a planner sees the memos of pages; only one that is a model does.
    """

    name: str
    research: Mapping[str, Any] | None = field(default_factory=dict)
    strategy: str = ""
    read: bool = False
    memos: bool = True


def _arms() -> Iterator[Arm]:
    for strategy in ("rrf", "rrf_neighbours"):
        yield Arm(name=f"recall {strategy}", research=None, strategy=strategy)
    yield Arm(name="research")
    yield Arm(name="research, recall tier", research={"tier": "recall"})
    yield Arm(name="research, one-shot tier", research={"tier": "one_shot"})
    yield Arm(name="research, automatic tier", research={"tier": "auto"})
    yield Arm(name="research without pages", research={"lanes": [one for one in LANES if one != "page"]})
    yield Arm(name="research without memos", memos=False)
    for size in (1, 2):
        for lanes in combinations(LANES, size):
            yield Arm(name=f"research by {' + '.join(lanes)}", research={"lanes": list(lanes)})
    for rounds in ROUNDS:
        for passages in PASSAGES:
            told = {"max_rounds": rounds, "passages": passages}
            yield Arm(name=f"read in {rounds} × {passages}", research=told, read=True)


RESEARCH_ABLATIONS: Mapping[str, Arm] = {arm.name: arm for arm in _arms()}
"""Every arm by name, in the order in which a table shows them."""

_Asked = tuple[Any, Mapping[str, str], Question]
"""A user's memory, the turn of each step, and what is asked."""


def ablate(
    memory_factory: Callable[[], AbstractContextManager[MemoryLike]],
    conversations: Sequence[Conversation],
    arms: Sequence[Arm] = tuple(RESEARCH_ABLATIONS.values()),
    *,
    category: str | None = "1",
    k: int = 20,
    progress: Callable[[str], object] = lambda name: None,
    without_memos: Callable[[], AbstractContextManager[MemoryLike]] | None = None,
) -> list[dict[str, Any]]:
    """Ask the questions of one category in each way.

    Args:
        memory_factory: opens an empty memory.
        category: of the questions; all with evidence when None.
        k: how many of the ranked steps count; of arms that count what was read alone, all of these do.
        progress: told each arm's name as it begins.
        without_memos: opens an empty memory with ``Settings(pages=False)``. None leaves out the arms without memos: where
            no model plans, nobody reads them.

    Returns:
        One JSON-ready object an arm: ``arm``, ``recall`` (share of the evidence, mean over questions), ``k`` (None where
        everything that was read counts), ``steps`` (mean of how many counted), ``questions``, ``calls`` of a model,
        ``p50_ms``.
    """
    rows: dict[str, dict[str, Any]] = {}
    for memos, factory in ((True, memory_factory), (False, without_memos)):
        theirs = [arm for arm in arms if arm.memos == memos]
        if factory is None or not theirs:
            continue
        with factory() as memory:
            asked = _stored(memory, conversations, category)
            for arm in theirs:
                progress(arm.name)
                rows[arm.name] = _measured(arm, asked, k)
    return [rows[arm.name] for arm in arms if arm.name in rows]


def _stored(memory: MemoryLike, conversations: Sequence[Conversation], category: str | None) -> list[_Asked]:
    asked: list[_Asked] = []
    for conversation in conversations:
        user = memory.user(conversation.id)
        turn_of = store_conversation(user, conversation)
        asked += [
            (user, turn_of, one) for one in conversation.questions if one.evidence and category in (None, one.category)
        ]
    return asked


def _measured(arm: Arm, asked: Sequence[_Asked], k: int) -> dict[str, Any]:
    shares, sizes, times, calls = [], [], [], 0
    for user, turns, question in asked:
        began = time.perf_counter()
        if arm.research is None:
            steps = steps_of(user.recall(question.text, k=k, strategy=arm.strategy).hits)
        else:
            found = user.research(question.text, **arm.research)
            steps = steps_of(found.passages if arm.read else found.hits)
            calls += found.usage.calls
        times.append((time.perf_counter() - began) * 1_000)
        kept = [turns.get(one, one) for one in (steps if arm.read else steps[:k])]
        shares.append(len(set(question.evidence) & set(kept)) / len(question.evidence))
        sizes.append(len(kept))
    return {
        "arm": arm.name,
        "recall": float(np.mean(shares)),
        "k": None if arm.read else k,
        "steps": float(np.mean(sizes)),
        "questions": len(asked),
        "calls": calls,
        "p50_ms": float(np.median(times)),
    }
