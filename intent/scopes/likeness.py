"""How like a text is to the scopes that are known: shared telling words, and the cosine with their centres."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..contract import Vectors
from .cues import Cues
from .decision import ScopeSettings
from .registry import Registry, Scope
from .text import NAME, Words
from .thread import Thread

__all__ = ["NEUTRAL", "likeness", "nearest", "recall", "typical"]


NEUTRAL = (
    "Thanks, that sounds great!",
    "What do you think about it?",
    "Yes, I would like to do that, please.",
    "How was your day today?",
    "I am so happy to hear that from you.",
    "Could you tell me more about that?",
    "Here are some ideas that might help you.",
    "Sure, I can help with that. Here is what you need to know.",
    "I have been thinking about it for a while and I am not sure yet.",
    "It was a good time and we had a lot of fun together.",
    "The main point is that this will take more time and money than we expected.",
    "On the other hand, there are some reasons why people may disagree.",
    "We should decide this soon, because it is important for everyone.",
    "There are several options, each with advantages and drawbacks.",
    "It opens in the morning, closes in the evening and costs about twenty dollars.",
    "I finished the work yesterday, and now I need some rest.",
    "In general, it depends on what you want and how much you need.",
    "First, make a list. Second, check each item. Finally, review the result.",
    "好的，谢谢你，我们就这样决定吧。",
    "你觉得怎么样？还有别的选择吗？",
)
"""Talk about nothing in particular: what its vectors have in common says nothing about a topic and is taken out."""


def recall(
    registry: Registry,
    settings: ScopeSettings,
    thread: Thread,
    current: Scope,
    words: Words,
    cues: Cues,
    vector: Vectors | None,
) -> tuple[Scope, float] | None:
    """Another goal that what is said belongs to, by words that neither the current one nor the talk just now has."""
    said = thread.said()
    fresh = {term: weight for term, weight in words.terms.items() if term not in said}
    profiles = registry.profiles
    for term in words.initial:
        if term in fresh and term in profiles.names:
            fresh[term] = NAME
    if not cues.resume:  # only a name that one other scope knows will do, so look for one first
        fresh_names = (term for term, weight in fresh.items() if weight >= NAME)
        if not any(profiles.spread(term) == 1 for term in fresh_names):
            return None
    if not fresh:
        return None
    scores = profiles.overlap(fresh)
    own = scores.get(current.index, 0.0)
    best, best_score = None, 0.0
    for index, score in scores.items():
        scope = registry.by_index[index]
        if scope is current or scope.index != index or scope.kind == "topic" or not scope.steps:
            continue
        value = score if scope.root is current.root else score - 0.15
        if value > best_score:
            best, best_score = scope, value
    if best is None:
        return None
    counts = profiles.counts(best.index)
    shared = [term for term in fresh if term in counts]
    named = any(fresh[term] >= NAME and profiles.spread(term) == 1 for term in shared)
    need = settings.resume_margin
    if not cues.resume:
        # Under one root the same things are asked for each goal; only another root's own name tells.
        if not named or best.root is current.root:
            return None
        need = settings.named_margin + (0.0 if cues.question else 0.2)
    elif cues.question and any(profiles.spread(term) == 1 for term in shared):
        need -= 0.2  # "And fado?"
    if cues.repeats and not cues.resume:
        need += 0.8
    if cues.anaphoric and not cues.resume:
        need += 0.3
    if current.steps <= 4 and not cues.resume:
        need += 0.3
    need += 0.05 * max(0, len(registry.profiles) - 12)  # among many, a word that only one has said is chance
    gain = best_score - own
    if gain < need - 0.4:
        return None
    if vector is not None:
        cosines = profiles.similarities(vector)
        gain += 0.5 * float(cosines[best.index] - cosines[current.index])
    return (best, min(0.8, 0.4 + 0.2 * gain)) if gain >= need else None


def nearest(
    registry: Registry, terms: Mapping[str, float], vector: Vectors | None, current: Scope | None
) -> tuple[Scope, float] | None:
    """The scope nearest to a text, with its likeness: cosine and shared telling words."""
    profiles = registry.profiles
    if not len(profiles):
        return None
    scores = profiles.overlap(terms)
    total = sum(terms.values()) or 1.0
    values = np.zeros(len(profiles), np.float32) if vector is None else profiles.similarities(vector).copy()
    for index, score in scores.items():
        values[index] += 0.5 * min(1.0, score / total)
    if current is not None:
        values[current.index] = -1.0
    index = int(values.argmax())
    scope = registry.by_index[index]
    if scope is current or scope.index != index:
        return None
    return scope, float(values[index])


def typical(registry: Registry, vector: Vectors, current: Scope) -> float:
    """How like a text is to the user's scopes in general: what all they say has in common."""
    others = np.delete(registry.profiles.similarities(vector), current.index)
    return float(np.median(others)) if len(others) > 2 else 0.3


def likeness(registry: Registry, scope: Scope, terms: Mapping[str, float], vector: Vectors | None) -> float:
    """How like a text is to one scope, on the scale of :func:`nearest`."""
    profiles = registry.profiles
    counts = profiles.counts(scope.index)
    total = sum(terms.values()) or 1.0
    shared = sum(weight * profiles.rarity(term) for term, weight in terms.items() if term in counts)
    cosine = 0.0 if vector is None else float(profiles.similarities(vector)[scope.index])
    return cosine + 0.5 * shared / total
