"""What a text goes on with that is said after a silence, days later perhaps, where nobody answers to show it.

A diary turns to something else with each entry, and may come back to a matter of weeks ago. An entry goes on with the
scope that it shares rare words with, or that it is much like; with none, it begins a topic of its own. Asked for are
signs of both kinds where each is weak: cosine with what a scope has been about, and the share of telling words in common.
"""

from __future__ import annotations

from ..contract import Vectors
from .registry import Registry, Scope
from .text import Words

__all__ = ["ELSEWHERE", "says_enough", "tied_to", "topic_sharing_most"]

ELSEWHERE = 0.3
"""Share of a text's telling words, weighed by rarity, from which it is of the topic that has them."""
_LIKE, _LIKE_AND_SHARES = 0.58, 0.48  # likeness from which a text goes on with a scope: alone, and with words in common
_RUNNING = 0.03  # by how much the latest scope is preferred to those left earlier
_LEAST_WORDS, _LEAST_TERMS = 4, 2


def says_enough(words: Words) -> bool:
    """Whether a text says enough to tell what it is about."""
    return (words.count >= _LEAST_WORDS or words.has_cjk) and len(words.terms) >= _LEAST_TERMS


def tied_to(registry: Registry, words: Words, vector: Vectors | None, current: Scope) -> Scope | None:
    """The known scope that a text said after a silence goes on with; None where it is tied to none.

    Args:
        vector: of the text, ``(d,)`` of length 1, or None where nothing is known of it.
        current: the scope of what was said last.
    """
    profiles = registry.profiles
    shared = profiles.overlap(words.terms)
    total = sum(words.terms.values()) or 1.0
    cosines = None if vector is None else profiles.similarities(vector)
    best, value = None, 0.0
    for scope in registry:
        if registry.by_index[scope.index] is not scope or not scope.steps:
            continue
        overlap = shared.get(scope.index, 0.0)
        like = (0.0 if cosines is None else float(cosines[scope.index])) + 0.5 * min(1.0, overlap / total)
        like += _RUNNING if scope is current else 0.0
        if like >= (_LIKE_AND_SHARES if overlap > 0 else _LIKE) and like > value:
            best, value = scope, like
    return best


def topic_sharing_most(registry: Registry, words: Words) -> tuple[Scope | None, float]:
    """The topic that shares most with a text, and which share of the text's telling words it has, rare ones counting more."""
    best, most = None, 0.0
    for index, shared in registry.profiles.overlap(words.terms).items():
        scope = registry.by_index[index]
        if shared > most and scope.root.kind == "topic":
            best, most = scope, shared
    return best, most / (sum(words.terms.values()) or 1.0)
