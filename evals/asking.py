"""Asks a memory for an evaluation: by a recall strategy, or by research.

Both return the same form, so that scores are comparable; a :class:`Tally` adds up latency, calls and tokens.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hexamem.models.usage import Usage

__all__ = ["RESEARCH", "Asked", "Progress", "Tally", "ask", "counted", "spent", "steps_of", "turns_of"]

RESEARCH = "research"
"""The name of ``UserMemory.research`` among the strategies."""
Progress = Callable[[str, int, int], None]
"""Called as ``progress(what, done, total)``."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """The result of one question.

    Attributes:
        text: for a prompt: the packed text of a recall, or the context of research (the answer with its cited passages).
        passages: the single texts: the hits of a recall, or the passages that research read.
        steps: ids of the returned steps, best first, without duplicates; of research those that it read come first.
        answer: of research; None from a recall, and where research abstains.
        calls, tokens: of models.
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
    """Totals of several questions: latencies in milliseconds, LLM calls and tokens, and counts of fallbacks."""

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
    """Ask a :class:`~hexamem.UserMemory` once, by a recall strategy or ``research``.

    Args:
        question: in the words of the data set, with nothing added.
        k: the number of hits of a recall; research is bounded by ``rounds``.
    """
    started = time.perf_counter()
    if strategy == RESEARCH:
        result = user.research(question, rounds, form="passages")
        return Asked(
            text=result.context,
            passages=tuple(passage.text for passage in result.passages),
            steps=steps_of(result.hits),
            answer=result.answer if result.answerable else None,
            seconds=time.perf_counter() - started,
            calls=result.usage.calls,
            tokens=result.usage.input_tokens + result.usage.output_tokens,
            degraded=tuple(result.degraded),
        )
    recall = user.recall(question, k=k, strategy=strategy)
    return Asked(
        text=recall.text,
        passages=tuple(hit.text for hit in recall.hits),
        steps=steps_of(recall.hits),
        seconds=time.perf_counter() - started,
        degraded=tuple(recall.degraded),
    )


def spent(memory: Any) -> Usage:
    """The model calls and tokens of a memory so far; none of one without a model tier."""
    tier = getattr(memory, "model_tier", None)
    return Usage() if tier is None else tier.budget.spent


def steps_of(hits: Sequence[Any]) -> tuple[str, ...]:
    """The steps of hits, best first, without duplicates: of a step hit itself, of any other hit its source steps."""
    cited = ([hit.id] if hit.kind == "step" else [source.step_id for source in hit.sources] for hit in hits)
    return tuple(dict.fromkeys(step for steps in cited for step in steps))


def turns_of(steps: Sequence[str], turn_of: Mapping[str, str]) -> list[str]:
    """The turns of steps, best first, without duplicates.

    A step of another conversation becomes ``unknown:ID``: it takes a rank and is never right.
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
