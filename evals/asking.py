"""One way to ask a memory for an evaluation: by a recall strategy, or by research.

What comes back has one form, so that a score is the same thing for both.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

__all__ = ["RESEARCH", "Asked", "AskedHit", "AskedUser", "ask", "steps_of"]

RESEARCH = "research"
"""The name under which ``UserMemory.research`` stands among the strategies."""


class _Source(Protocol):
    @property
    def step_id(self) -> str: ...


class AskedHit(Protocol):
    """A hit, as far as scoring reads it."""

    @property
    def id(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def sources(self) -> Sequence[_Source]: ...


class AskedUser(Protocol):
    """What is asked of a user's memory; ``research`` only where a strategy of that name is measured."""

    def recall(self, query: str, *, k: int, strategy: str) -> Any: ...
    def research(self, question: str, max_rounds: int, *, form: Literal["passages"]) -> Any: ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """What came back for one question.

    Attributes:
        text: what a prompt would be given: of a recall its packed text, of research its context, which is the answer
            with the passages that it cites.
        passages: the single texts: of a recall its hits, of research what was read.
        steps: ids of the steps that came back, best first, each once; after those that research read come those that
            it would read next.
        answer: the answer in words, where research gives one; None from a recall, and where it abstains.
        seconds: wall time of the call.
        calls: LLM calls that it took; ``tokens`` likewise.
    """

    text: str
    passages: tuple[str, ...]
    steps: tuple[str, ...]
    seconds: float
    answer: str | None = None
    calls: int = 0
    tokens: int = 0
    degraded: tuple[str, ...] = ()


def ask(user: AskedUser, question: str, *, k: int, strategy: str, rounds: int = 3) -> Asked:
    """Ask once.

    Args:
        user: whose memory.
        question: in the words of the data set, with nothing added.
        k: how many hits a recall gives; research bounds itself by its rounds.
        strategy: a recall strategy, or ``research``.
        rounds: at most so many rounds of research.
    """
    started = time.perf_counter()
    if strategy == RESEARCH:
        found = user.research(question, rounds, form="passages")
        seconds = time.perf_counter() - started
        return Asked(
            text=found.context,
            passages=tuple(one.text for one in found.passages),
            steps=steps_of(found.hits),
            answer=found.answer if found.answerable else None,
            seconds=seconds,
            calls=found.usage.calls,
            tokens=found.usage.input_tokens + found.usage.output_tokens,
            degraded=tuple(found.degraded),
        )
    recall = user.recall(question, k=k, strategy=strategy)
    seconds = time.perf_counter() - started
    return Asked(
        text=recall.text,
        passages=tuple(hit.text for hit in recall.hits),
        steps=steps_of(recall.hits),
        seconds=seconds,
        degraded=tuple(recall.degraded),
    )


def steps_of(hits: Sequence[AskedHit]) -> tuple[str, ...]:
    """The steps that hits stand for, best first, each once: a step hit is its own, any other those its sources cite."""
    cited = ([hit.id] if hit.kind == "step" else [source.step_id for source in hit.sources] for hit in hits)
    return tuple(dict.fromkeys(step for steps in cited for step in steps))
