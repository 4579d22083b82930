"""What each scope has been about lately: words with their rarity among scopes, and the centre of its vectors."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from math import log

import numpy as np

from ..contract import Vectors
from .text import NAME

__all__ = ["Profiles"]

_MOST_NAMES = 50_000
_COMMON = 48  # a word that so many scopes share tells nothing, and is not looked up


class Profiles:
    """Profiles of scopes by index 0, 1, 2, …, each of its latest ``recent`` steps, so that they can be rebuilt.

    Args:
        recent: steps of a scope that count.
    """

    def __init__(self, recent: int) -> None:
        self._recent = recent
        self.names: set[str] = set()
        self._steps: list[deque[tuple[tuple[str, ...], Vectors | None]]] = []
        self._counts: list[dict[str, int]] = []
        self._postings: dict[str, dict[int, int]] = {}
        self._sums = np.zeros((16, 1), np.float32)
        self._centres = np.zeros((16, 1), np.float32)

    def __len__(self) -> int:
        return len(self._steps)

    def open(self) -> int:
        """A new empty profile; its index."""
        index = len(self._steps)
        self._steps.append(deque())
        self._counts.append({})
        if index >= len(self._sums):
            self._sums = np.vstack([self._sums, np.zeros_like(self._sums)])
            self._centres = np.vstack([self._centres, np.zeros_like(self._centres)])
        return index

    def size(self, index: int) -> int:
        """How many steps the profile holds."""
        return len(self._steps[index])

    def add(self, index: int, terms: Mapping[str, float], vector: Vectors | None) -> None:
        """Take in a step; the oldest falls out when the profile is full."""
        steps, counts = self._steps[index], self._counts[index]
        kept = tuple(terms)
        if len(self.names) < _MOST_NAMES:
            self.names.update([term for term, weight in terms.items() if weight >= NAME])
        if vector is not None and self._sums.shape[1] != len(vector):
            self._sums = np.zeros((len(self._sums), len(vector)), np.float32)
            self._centres = np.zeros_like(self._sums)
        steps.append((kept, vector))
        for term in kept:
            counts[term] = count = counts.get(term, 0) + 1
            self._postings.setdefault(term, {})[index] = count
        row = self._sums[index]
        if vector is not None:
            row += vector
        if len(steps) > self._recent:
            old, old_vector = steps.popleft()
            for term in old:
                if (count := counts[term] - 1) > 0:
                    counts[term] = self._postings[term][index] = count
                else:
                    del counts[term]
                    posting = self._postings[term]
                    del posting[index]
                    if not posting:
                        del self._postings[term]
            if old_vector is not None:
                row -= old_vector
        if vector is not None:
            length = float(np.sqrt(row @ row))
            if length > 1e-6:
                np.divide(row, length, out=self._centres[index])

    def merge(self, source: int, target: int) -> None:
        """Move what ``source`` holds into ``target``."""
        for terms, vector in list(self._steps[source]):
            self.add(target, dict.fromkeys(terms, 1.0), vector)
        for term in self._counts[source]:
            posting = self._postings[term]
            posting.pop(source, None)
            if not posting:
                del self._postings[term]
        self._steps[source].clear()
        self._counts[source].clear()
        self._sums[source] = 0
        self._centres[source] = 0

    def overlap(self, terms: Mapping[str, float]) -> dict[int, float]:
        """For each scope that shares words: the sum over them of weight × rarity among scopes × how settled it is there.

        A word that one of many scopes knows counts 0.6 there when said once, nearly 1 when said again and again, and
        next to nothing when all scopes know it.
        """
        total = len(self._steps)
        scale = 1.0 / log(total + 1.5)
        scores: dict[int, float] = {}
        for term, weight in terms.items():
            posting = self._postings.get(term)
            if posting is None or len(posting) > _COMMON:
                continue
            rarity = weight * log((total + 1) / (len(posting) + 0.25)) * scale
            if rarity <= 0:
                continue
            for index, count in posting.items():
                gain = rarity * (0.6 if count == 1 else 0.8 if count == 2 else 0.95)
                scores[index] = scores.get(index, 0.0) + gain
        return scores

    def rarity(self, term: str) -> float:
        """1 for a word of one scope or none, towards 0 for one of all."""
        posting = self._postings.get(term)
        if posting is None:
            return 1.0
        total = len(self._steps)
        return max(0.0, log((total + 1) / (len(posting) + 0.25)) / log(total + 1.5))

    def spread(self, term: str) -> int:
        """How many scopes have a word."""
        return len(self._postings.get(term, ()))

    def counts(self, index: int) -> Mapping[str, int]:
        """How many of the profile's steps have each word."""
        return self._counts[index]

    def similarities(self, vector: Vectors) -> Vectors:
        """Cosine of a unit vector with every scope's centre; 0 where there is none."""
        if self._centres.shape[1] != len(vector):
            return np.zeros(len(self._steps), np.float32)
        return self._centres[: len(self._steps)] @ vector
