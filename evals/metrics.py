"""Retrieval metrics over ranked turns, their means by group, and the paired bootstrap.

Notation: ``r_1, r_2, …`` the ranked turns without doubles, ``G`` the set of gold evidence turns (not empty),
``R_k = {r_1 … r_k}``. A ranking shorter than ``k`` counts as it is. Every metric lies in [0, 1].
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hexamem.errors import InvalidInputError
from hexamem.evals.records import natural_key

__all__ = [
    "DEFAULT_K_VALUES",
    "Aggregator",
    "Interval",
    "all_at_k",
    "any_at_k",
    "ndcg_at_k",
    "paired_bootstrap",
    "recall_at_k",
]

_LEVEL = 0.95
DEFAULT_K_VALUES: tuple[int, ...] = (5, 10, 20, 40)


def recall_at_k(ranked: Sequence[str], gold: Collection[str], k: int) -> float:
    """The fraction of gold evidence turns in the top k: ``|R_k ∩ G| / |G|``.

    Raises:
        InvalidInputError: ``gold`` is empty, ``k`` < 1, or the top k hold a turn twice.
    """
    wanted = _checked(ranked, gold, k)
    return len(wanted.intersection(ranked[:k])) / len(wanted)


def all_at_k(ranked: Sequence[str], gold: Collection[str], k: int) -> float:
    """1 if every gold turn is in the top k, else 0. Raises as :func:`recall_at_k`."""
    return float(_checked(ranked, gold, k).issubset(ranked[:k]))


def any_at_k(ranked: Sequence[str], gold: Collection[str], k: int) -> float:
    """1 if at least one gold turn is in the top k, else 0. Raises as :func:`recall_at_k`."""
    return float(not _checked(ranked, gold, k).isdisjoint(ranked[:k]))


def ndcg_at_k(ranked: Sequence[str], gold: Collection[str], k: int) -> float:
    """Normalised discounted cumulative gain with binary relevance (Järvelin and Kekäläinen, 2002).

    ``DCG@k = Σ_{i=1..k} [r_i ∈ G] / log2(i + 1)``, divided by that of an ideal ranking,
    ``IDCG@k = Σ_{i=1..min(k, |G|)} 1 / log2(i + 1)``. Raises as :func:`recall_at_k`.
    """
    wanted = _checked(ranked, gold, k)
    gain = math.fsum(1 / math.log2(i + 1) for i, turn in enumerate(ranked[:k], start=1) if turn in wanted)
    ideal = math.fsum(1 / math.log2(i + 1) for i in range(1, min(k, len(wanted)) + 1))
    return min(1.0, gain / ideal)


def _checked(ranked: Sequence[str], gold: Collection[str], k: int) -> frozenset[str]:
    if k < 1:
        raise InvalidInputError(f"k = {k}: must be at least 1")
    if not gold:
        raise InvalidInputError("a question without gold evidence has no score; skip it and count it")
    top = ranked[:k]
    if len(set(top)) != len(top):
        raise InvalidInputError(f"the top {k} hold a turn twice; give the ranking without doubles")
    return frozenset(gold)


METRICS = {"recall": recall_at_k, "all_at_k": all_at_k, "any_at_k": any_at_k, "ndcg": ndcg_at_k}


@dataclass(frozen=True, slots=True)
class _Scored:
    conversation: str
    category: str
    scores: Mapping[str, Mapping[int, float]]


class Aggregator:
    """Collects the scores of questions and computes means over questions, each counting once.

    Groups are ``all``, the named ranges of categories, and each category.

    Args:
        k_values: the cut-offs, each at least 1.
        ranges: named sets of categories, such as ``{"1-4": {"1", "2", "3", "4"}}``.

    Raises:
        InvalidInputError: no cut-off, or one below 1.
    """

    def __init__(
        self, k_values: Sequence[int] = DEFAULT_K_VALUES, ranges: Mapping[str, Collection[str]] | None = None
    ) -> None:
        if not k_values or min(k_values) < 1:
            raise InvalidInputError(f"k values {list(k_values)}: give at least one, each at least 1")
        self.k_values = tuple(sorted(set(k_values)))
        self.ranges = dict(ranges or {})
        self._scored: list[_Scored] = []

    def add(
        self,
        conversation: str,
        category: str,
        ranked: Sequence[str],
        gold: Collection[str],
        *,
        further: Mapping[str, Mapping[int, float]] | None = None,
    ) -> None:
        """Score one question: recall, all@k, any@k and nDCG at every cut-off.

        Args:
            conversation: the conversation it is about.
            category: its category; not ``all`` and not the name of a range.
            ranked: turn ids, best first, without duplicates.
            gold: ids of its evidence turns, at least one.
            further: scores of other metrics, averaged over the questions that have them: name → cut-off → score.

        Raises:
            InvalidInputError: no gold, duplicates, or a category with the name of a group.
        """
        if category == "all" or category in self.ranges:
            raise InvalidInputError(f"category {category!r} has the name of a group; rename it")
        scores = {name: {k: metric(ranked, gold, k) for k in self.k_values} for name, metric in METRICS.items()}
        self._scored.append(_Scored(conversation, category, {**scores, **(further or {})}))

    def __len__(self) -> int:
        return len(self._scored)

    def counts(self) -> dict[str, int]:
        """Questions in each group."""
        return {group: len(members) for group, members in self._groups().items()}

    def means(self, metric: str) -> dict[str, dict[str, float] | None] | None:
        """Means of one metric, ``{group: {"5": …, "10": …}}``; None where no question has it, of a group or at all."""
        means = {group: _mean(members, metric) for group, members in self._groups().items()}
        return means if any(means.values()) else None

    def by_conversation(self) -> dict[str, dict[str, Any]]:
        """``{conversation: {group: {"n": questions, metric: {"5": …}}}}`` for ``all`` and the ranges, as :func:`paired_bootstrap`
        needs it: mean times ``n`` is the sum."""
        return {
            name: {
                group: {"n": len(members), **{metric: _mean(members, metric) for metric in METRICS}}
                for group, members in self._groups(of=name).items()
                if members and group in ("all", *self.ranges)
            }
            for name in dict.fromkeys(question.conversation for question in self._scored)
        }

    def _groups(self, of: str | None = None) -> dict[str, list[_Scored]]:
        """The questions by group; of one conversation if named."""
        scored = [question for question in self._scored if of in (None, question.conversation)]
        categories = sorted({question.category for question in scored}, key=natural_key)
        named = {**self.ranges, **{category: (category,) for category in categories}}
        return {
            "all": scored,
            **{
                group: [question for question in scored if question.category in members]
                for group, members in named.items()
            },
        }


def _mean(members: Sequence[_Scored], metric: str) -> dict[str, float] | None:
    having = [question.scores[metric] for question in members if metric in question.scores]
    if not having:
        return None
    # A further metric may have cut-offs of its own.
    return {str(k): math.fsum(scores[k] for scores in having) / len(having) for k in having[0]}


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean difference with its confidence interval: ``low`` ≤ ``high``, at ``level``."""

    mean: float
    low: float
    high: float
    level: float
    n: int


def paired_bootstrap(
    a: Sequence[float],
    b: Sequence[float],
    *,
    weights: Sequence[float] | None = None,
    samples: int = 10_000,
    seed: int = 0,
) -> Interval:
    """The mean difference ``a - b`` over conversations, with its percentile bootstrap interval (Efron, 1979).

    Questions about one conversation are not independent, so whole conversations are drawn: ``n`` of ``n`` with
    replacement, ``samples`` times. A draw's value is ``Σ w_c (a_c - b_c) / Σ w_c`` over its conversations, and the interval
    holds the middle 95% of the values. With few conversations it is rough and rather too narrow.

    Args:
        a: one mean score a conversation, of the system in question.
        b: those of the system compared with, of the same conversations in the same order.
        weights: questions a conversation, which makes the mean one over questions; equal if None.
        samples: number of draws.
        seed: of numpy's default generator; the same seed makes the same interval.

    Returns:
        The interval; ``mean`` is that of the data, ``n`` the number of conversations.

    Raises:
        InvalidInputError: fewer than 2 conversations, or scores that are not those of the same ones.
    """
    n = len(a)
    if n != len(b) or n < 2:
        raise InvalidInputError(f"{n} scores against {len(b)}; give those of the same conversations, at least 2")
    difference = np.asarray(a, dtype=float) - np.asarray(b, dtype=float)
    weight = np.ones(n) if weights is None else np.asarray(weights, dtype=float)
    drawn = np.random.default_rng(seed).integers(0, n, size=(samples, n))
    means = (difference * weight)[drawn].sum(axis=1) / weight[drawn].sum(axis=1)
    low, high = np.quantile(means, [(1 - _LEVEL) / 2, (1 + _LEVEL) / 2])
    mean = float((difference * weight).sum() / weight.sum())
    return Interval(mean, float(low), float(high), _LEVEL, n)
