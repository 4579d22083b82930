"""The labels of a question and how they match those of records (STITCH, arXiv 2601.10702, sections 3.3 and 3.4).

A question has a contextual intent of its own, ``F_q = (scopes, events, entities)``. The density of a record is the weight
of its labels in this intent; among equals the more similar record comes first. No single scope is chosen: scopes share
the weight by their probability, given the words of the question and the records nearest to it (the paper's deferred label
refinement, since most of its failures are questions that name no label). A question that favours no scope is ordered by
similarity, and its labels only vote.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from hexamem.intent.query import QueryFilter
from hexamem.retrieval.strategies import LabelWeights
from hexamem.stores.vocabulary import Vocabulary

__all__ = ["QueryIntent", "canonical_weights", "clearness_of", "likely_scopes", "scope_odds"]

QueryIntent = Callable[[str, str], QueryFilter]
"""(user, question) → the labels that the question names."""


def scope_odds(query: QueryFilter, vocabulary: Vocabulary) -> dict[str, float]:
    """Scope id → log-odds by the evidence of the question, aliases resolved; empty without evidence."""
    odds: dict[str, float] = {}
    for scope_id, value in query.evidence.items():
        own = vocabulary.canonical(scope_id)
        odds[own] = max(odds.get(own, -math.inf), value)
    return odds


def likely_scopes(
    query: QueryFilter,
    voters: Sequence[tuple[str, int]],
    settings: LabelWeights,
    vocabulary: Vocabulary,
    odds: Mapping[str, float],
) -> dict[str, float]:
    """Scope id → its share of the weight: 1 for the likeliest, falling linearly with its log-odds.

    Args:
        voters: (scope id, rank) of the nearest records.
        odds: the :func:`scope_odds`.
    """
    odds = dict(odds)
    least = min(odds.values(), default=0.0)
    if not query.evidence:
        for scope_id, weight in query.scopes.items():
            odds[vocabulary.canonical(scope_id)] = settings.reach * weight
    for scope_id, rank in voters:
        own = vocabulary.canonical(scope_id)
        odds[own] = odds.get(own, least) + settings.scope_vote / (1 + rank)
    known = {scope_id: value for scope_id, value in odds.items() if scope_id in vocabulary.by_id}
    if query.wide:
        best: dict[str, float] = {}
        for scope_id, value in known.items():
            above = vocabulary.parent(scope_id) or scope_id
            best[above] = max(best.get(above, -math.inf), value)
        known = {scope_id: best[vocabulary.parent(scope_id) or scope_id] for scope_id in known}
    top = max(known.values(), default=0.0)
    shares = {scope_id: 1.0 - (top - value) / settings.reach for scope_id, value in known.items()}
    return {scope_id: share for scope_id, share in shares.items() if share > 0}


def clearness_of(query: QueryFilter) -> float:
    """How clearly the question favours one scope: 0 where all are equally likely, 1 without doubt."""
    if not query.evidence:
        return 1.0 if query.scopes else 0.0
    top, even = max(query.evidence.values()), 1 / len(query.evidence)
    likeliest = 1 / sum(math.exp(value - top) for value in query.evidence.values())
    return (likeliest - even) / (1 - even) if even < 1 else 0.0


def canonical_weights(weights: Mapping[str, float], vocabulary: Vocabulary) -> dict[str, float]:
    """The weights of labels, aliases resolved; unknown ids are left out."""
    canonical: dict[str, float] = {}
    for label_id, weight in weights.items():
        own = vocabulary.canonical(label_id)
        if own in vocabulary.by_id:
            canonical[own] = max(canonical.get(own, 0.0), weight)
    return canonical
