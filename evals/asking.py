"""One way to ask a memory for an evaluation: by a recall strategy, or by research.

What comes back has one form, so that a score is the same thing for both; a :class:`Tally` adds up what it took.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

__all__ = ["RESEARCH", "Asked", "Progress", "Tally", "ask", "counted", "steps_of", "turns_of"]

RESEARCH = "research"
"""The name of ``UserMemory.research`` among the strategies."""
Progress = Callable[[str, int, int], None]
"""Called as ``progress(what, done, total)``."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """What came back for one question.

    Attributes:
        text: what a prompt would be given: of a recall its packed text, of research its context, which is the answer
            with the passages that it cites.
        passages: the single texts: of a recall its hits, of research what was read.
        steps: ids of the steps that came back, best first, each once; after those that research read come those that
            it would read next.
        answer: the answer in words, where research returns one; None from a recall, and where it abstains.
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


@dataclass(slots=True)
class Tally:
    """What several questions took: latencies in milliseconds, LLM calls and tokens, and how often each fallback was reported."""

    milliseconds: list[float] = field(default_factory=list)
    calls: int = 0
    tokens: int = 0
    degraded: Counter[str] = field(default_factory=Counter)

    def add(self, asked: Asked) -> None:
        """Count one question."""
        self.milliseconds.append(asked.seconds * 1_000)
        self.calls += asked.calls
        self.tokens += asked.tokens
        self.degraded.update(asked.degraded)

    def latency(self) -> dict[str, float]:
        """Median and 95th percentile: ``{"p50", "p95"}``."""
        return {f"p{share}": float(np.percentile(self.milliseconds, share)) for share in (50, 95)}


def ask(user: Any, question: str, *, k: int, strategy: str, rounds: int = 3) -> Asked:
    """Ask once.

    Args:
        user: whose memory: a :class:`~hexamem.UserMemory`, or what has its ``recall`` and ``research``.
        question: in the words of the data set, with nothing added.
        k: how many hits a recall returns; research bounds itself by its rounds.
        strategy: a recall strategy, or ``research``.
        rounds: at most so many rounds of research.
    """
    started = time.perf_counter()
    if strategy == RESEARCH:
        found = user.research(question, rounds, form="passages")
        return Asked(
            text=found.context,
            passages=tuple(passage.text for passage in found.passages),
            steps=steps_of(found.hits),
            answer=found.answer if found.answerable else None,
            seconds=time.perf_counter() - started,
            calls=found.usage.calls,
            tokens=found.usage.input_tokens + found.usage.output_tokens,
            degraded=tuple(found.degraded),
        )
    recall = user.recall(question, k=k, strategy=strategy)
    return Asked(
        text=recall.text,
        passages=tuple(hit.text for hit in recall.hits),
        steps=steps_of(recall.hits),
        seconds=time.perf_counter() - started,
        degraded=tuple(recall.degraded),
    )


def steps_of(hits: Sequence[Any]) -> tuple[str, ...]:
    """The steps that hits stand for, best first, each once: a step hit is its own, any other those its sources cite."""
    cited = ([hit.id] if hit.kind == "step" else [source.step_id for source in hit.sources] for hit in hits)
    return tuple(dict.fromkeys(step for steps in cited for step in steps))


def turns_of(steps: Sequence[str], turn_of: Mapping[str, str]) -> list[str]:
    """The turns of steps, best first, each once.

    A step that is not of this conversation becomes ``unknown:ID``: it takes a place and is never right.
    """
    return list(dict.fromkeys(turn_of.get(step, f"unknown:{step}") for step in steps))


def counted(progress: Progress | None, total: int) -> Callable[[str], None]:
    """A callback that counts its calls and passes them on: ``advance(what)``."""
    done = 0

    def advance(what: str) -> None:
        nonlocal done
        done += 1
        if progress is not None:
            progress(what, done, total)

    return advance
