"""STITCH's ranking: by label density, then by similarity (arXiv 2601.10702, sections 3.3 and 3.4).

A question has a contextual intent of its own, ``F_q = (scopes, events, entities)``. The density of a record is the weight
of its labels in this intent; among equals the more similar record comes first. No single scope is chosen: scopes share
the weight by their probability, given the words of the question and the records nearest to it (the paper's deferred label
refinement, since most of its failures are questions that name no label). A question that favours no scope is ordered by
similarity, and its labels only vote.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from hexamem.intent.query import QueryFilter, vote
from hexamem.retrieval.fusion import Candidate
from hexamem.retrieval.strategies import LabelWeights
from hexamem.stores.ledger import Transaction
from hexamem.stores.ledger.labels import StepIntent, get_intents
from hexamem.stores.vocabulary import Vocabulary

__all__ = [
    "QueryIntent",
    "WeightedLabels",
    "by_density",
    "canonical_weights",
    "clearness_of",
    "likely_scopes",
    "scope_odds",
    "weighted_labels",
]

QueryIntent = Callable[[str, str], QueryFilter]
"""(user, question) → the labels that the question names."""

_MOST_NOTED = 4  # labels of a kind in the note
_LEAST_NOTED = 0.7  # their least weight, as a share of the greatest
_SPAN = 4.0  # of the logarithm of similarity: a record e^4 below the most similar counts almost nothing


@dataclass(frozen=True, slots=True)
class WeightedLabels:
    """The labels of a question: label id, including aliases and narrower labels, → weight.

    Attributes:
        weights: labels that the question names, which make up density.
        votes: labels of the nearest records, for kinds of which the question names none. They count only among records
            of equal density, since a wrong guess would hide the answer.
        note: a summary for ``why``.
    """

    weights: Mapping[str, float]
    votes: Mapping[str, float]
    note: str


def weighted_labels(
    tx: Transaction,
    query: QueryFilter,
    nearest: Sequence[Candidate],
    settings: LabelWeights,
    vocabulary: Vocabulary,
) -> WeightedLabels:
    """The weights of the labels of a question.

    Scopes share ``settings.scope`` by their probability, given the words of the question and the nearest records. The
    likeliest has all of it; one that is ``e ** -settings.reach`` as likely, or less, has nothing.

    Args:
        query: the labels that the question names, and its evidence for each scope.
        nearest: the most similar records, best first: they vote for scopes, and for kinds of which the question names no
            label.
        settings: the weights of the kinds and of votes.
        vocabulary: all labels of the user.
    """
    step_ids = [candidate.id for candidate in nearest if candidate.id.startswith("step_")]
    intents = get_intents(tx, step_ids) if settings.vote else {}
    voters = [
        (intents[candidate.id], rank, candidate.score)
        for rank, candidate in enumerate(nearest, 1)
        if candidate.id in intents
    ]
    weights: dict[str, float] = {}
    votes: dict[str, float] = {}
    notes = []
    clearness = clearness_of(query)
    # The labels of a question that favours no scope are a guess, so that they only vote.
    named_weights = votes if settings.scope and clearness < settings.unclear else weights
    if settings.scope:
        sure = min(1.0, max(clearness, settings.unclear) / settings.clear)
        likely = likely_scopes(query, [(intent.scope_id, rank) for intent, rank, _ in voters], settings, vocabulary)
        for label_id, weight in likely.items():
            for alias in vocabulary.same(label_id):
                named_weights[alias] = settings.scope * sure * weight
        notes += _note("scope", likely, vocabulary, by_name=bool(query.scopes))
    for kind, share, of_query in (("event", settings.event, query.events), ("entity", settings.entity, query.entities)):
        named = canonical_weights(of_query, vocabulary)
        chosen = named or _voted(kind, voters[: settings.voters], vocabulary)
        if not share or not chosen:
            continue
        own = named_weights if named else votes
        for label_id, weight in chosen.items():
            for covered in sorted(vocabulary.covering(label_id)):  # a wide type includes all types below it
                own[covered] = max(own.get(covered, 0.0), share * weight)
        notes += _note(kind, chosen, vocabulary, by_name=bool(named))
    return WeightedLabels(weights, votes, "asks for " + "; ".join(notes) if notes else "names no label")


def _note(kind: str, chosen: Mapping[str, float], vocabulary: Vocabulary, *, by_name: bool) -> list[str]:
    least = _LEAST_NOTED * max(chosen.values(), default=0.0)
    noted = (label_id for label_id in chosen if chosen[label_id] >= least)
    best = sorted(noted, key=lambda label_id: (-chosen[label_id], label_id))[:_MOST_NOTED]
    how = "" if by_name else " (by the nearest steps)"
    return [f"{kind} {', '.join(map(vocabulary.path, best))}{how}"] if best else []


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
    odds: Mapping[str, float] | None = None,
) -> dict[str, float]:
    """Scope id → its share of the weight: 1 for the likeliest, falling linearly with its log-odds.

    Args:
        voters: (scope id, rank) of the nearest records.
        odds: the :func:`scope_odds`; None to compute them.
    """
    odds = dict(scope_odds(query, vocabulary) if odds is None else odds)
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


def _voted(kind: str, voters: Sequence[tuple[StepIntent, int, float]], vocabulary: Vocabulary) -> dict[str, float]:
    top = max((score for *_, score in voters), default=0.0)
    if top <= 0:
        return {}
    return vote(
        (
            list(map(vocabulary.canonical, intent.event_ids if kind == "event" else intent.entity_ids)),
            score / top,
        )
        for intent, _, score in voters
    )


def _likeness(score: float, top: float) -> float:
    """Similarity from 0 to 1: linear in its logarithm, and below an eighth exponential."""
    if score <= 0:
        return 0.0
    behind = math.log(top / score) / _SPAN
    return 1.0 - behind if behind < 0.875 else 0.125 * math.exp(-8.0 * (behind - 0.875))


def by_density(
    densities: Mapping[str, float],
    similar: Mapping[str, Candidate],
    step: float,
    votes: Mapping[str, float] | None = None,
    vote: float = 0.0,
) -> dict[str, Candidate]:
    """Score candidates so that they are ordered by density and, where densities are close, by similarity.

    Args:
        densities: record id → the sum of the weights of its labels that the question names.
        similar: all candidates with their positive similarity, and the reasons for it.
        step: the difference in density that decides regardless of similarity. Similarity counts on a logarithmic scale,
            since densities are log-odds.
        votes: record id → the sum of the weights of its labels that have votes.
        vote: the gain of the record with most votes, as a share of the gain of the most similar one.
    """
    votes = votes or {}
    most = max(votes.values(), default=0.0) or 1.0
    top = max((candidate.score for candidate in similar.values()), default=0.0) or 1.0
    ranked = sorted({value for value in densities.values() if value > 0}, reverse=True)
    places = {value: place for place, value in enumerate(ranked, 1)}
    unit = step * 0.999 / (1 + vote)  # similarity and votes together are worth less than one step of density
    candidates: dict[str, Candidate] = {}
    for record_id, similarity in similar.items():
        density = densities.get(record_id, 0.0)
        voted = vote * votes.get(record_id, 0.0) / most
        below = unit * _likeness(similarity.score, top)
        candidate = Candidate(record_id, density + below + unit * voted, [])
        if density > 0:
            candidate.why.append(("labels", density, places[density], density))
        if voted > 0:
            candidate.why.append(("votes", votes[record_id], None, unit * voted))
        total = sum(share for *_, share in similarity.why) or 1.0
        candidate.why += [(name, value, rank, below * share / total) for name, value, rank, share in similarity.why]
        candidates[record_id] = candidate
    return candidates
