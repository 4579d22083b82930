"""STITCH's ranking: label density first, similarity breaks ties (arXiv 2601.10702, sections 3.3 and 3.4).

The question has a contextual intent of its own, ``F_q = (scopes, events, entities)``. A snippet's density is how much of
it the snippet's labels meet; among equals the more similar one comes first. No scope is forced: scopes share the weight
by their probability, given the question's words and the snippets nearest to it (the paper's deferred label refinement:
most failures of its own form came from questions that do not say enough to name a label). A question that tells no
scope from another is ordered by similarity, and its labels only vote.
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
    "AskedLabels",
    "QueryIntent",
    "asked_labels",
    "by_density",
    "canonical_weights",
    "clearness_of",
    "likely_scopes",
    "scope_odds",
]

QueryIntent = Callable[[str, str], QueryFilter]
"""(user, question, its vector) → the labels that the question names."""

_NAMED = 4  # labels of a kind told in the note
_TOLD = 0.7  # share of the likeliest's weight that those have
_SPAN = 4.0  # of the logarithm of similarity: one that is e^4 below the most similar counts next to nothing


@dataclass(frozen=True, slots=True)
class AskedLabels:
    """What is asked for: label id (aliases and narrower labels too) → weight.

    Attributes:
        weights: of labels that the question names: what density is counted by.
        votes: of labels that the nearest snippets vote for, for the kinds of which it names none: they only weigh in
            among snippets of equal density, since a wrong guess would bury the answer.
        note: what to tell of it.
    """

    weights: Mapping[str, float]
    votes: Mapping[str, float]
    note: str


def asked_labels(
    tx: Transaction,
    asked: QueryFilter,
    nearest: Sequence[Candidate],
    settings: LabelWeights,
    vocabulary: Vocabulary,
) -> AskedLabels:
    """The labels that a question asks for, each kind by its weight.

    Scopes share ``settings.scope`` by their probability: what the question's words say for each, and what the nearest
    snippets do. The likeliest has all of it; one that is ``e ** -settings.reach`` as likely, or less, has nothing.

    Args:
        asked: what the question names, and how much it speaks for each scope.
        nearest: the snippets most similar to it, best first: they vote for scopes, and for labels of the other kinds
            where it names none.
        settings: how much each kind counts, and how much a vote does against a name.
        vocabulary: all labels of the user.
    """
    intents = get_intents(tx, [one.id for one in nearest if one.id.startswith("step_")]) if settings.vote else {}
    voters = [(intents[one.id], rank, one.score) for rank, one in enumerate(nearest, 1) if one.id in intents]
    weights: dict[str, float] = {}
    votes: dict[str, float] = {}
    notes = []
    clearness = clearness_of(asked)
    # A question that tells no scope from another is none for density: its labels are a guess, and guesses vote.
    kept = votes if settings.scope and clearness < settings.unclear else weights
    if settings.scope:
        sure = min(1.0, max(clearness, settings.unclear) / settings.clear)
        likely = likely_scopes(asked, [(one.scope_id, rank) for one, rank, _ in voters], settings, vocabulary)
        for label_id, weight in likely.items():
            for one in vocabulary.same(label_id):
                kept[one] = settings.scope * sure * weight
        notes += _told("scope", likely, vocabulary, by_name=bool(asked.scopes))
    for kind, share, given in (("event", settings.event, asked.events), ("entity", settings.entity, asked.entities)):
        named = canonical_weights(given, vocabulary)
        chosen = named or _voted(kind, voters[: settings.voters], vocabulary)
        if not share or not chosen:
            continue
        own = kept if named else votes
        for label_id, weight in chosen.items():
            for one in sorted(vocabulary.covering(label_id)):  # a wide type means all below it
                own[one] = max(own.get(one, 0.0), share * weight)
        notes += _told(kind, chosen, vocabulary, by_name=bool(named))
    return AskedLabels(weights, votes, "asks for " + "; ".join(notes) if notes else "names no label")


def _told(kind: str, chosen: Mapping[str, float], vocabulary: Vocabulary, *, by_name: bool) -> list[str]:
    least = _TOLD * max(chosen.values(), default=0.0)
    best = sorted((one for one in chosen if chosen[one] >= least), key=lambda one: (-chosen[one], one))[:_NAMED]
    how = "" if by_name else " (by the nearest steps)"
    return [f"{kind} {', '.join(vocabulary.path(one) for one in best)}{how}"] if best else []


def scope_odds(asked: QueryFilter, vocabulary: Vocabulary) -> dict[str, float]:
    """How much a question speaks for each scope, aliases resolved; empty where nothing is known of that."""
    odds: dict[str, float] = {}
    for scope_id, value in asked.evidence.items():
        own = vocabulary.canonical(scope_id)
        odds[own] = max(odds.get(own, -math.inf), value)
    return odds


def likely_scopes(
    asked: QueryFilter,
    voters: Sequence[tuple[str, int]],
    settings: LabelWeights,
    vocabulary: Vocabulary,
    odds: Mapping[str, float] | None = None,
) -> dict[str, float]:
    """Scope → its share of the weight, 1 for the likeliest; its log-odds against that one fall in a straight line.

    Args:
        odds: the :func:`scope_odds`, where they are known.
    """
    odds = dict(scope_odds(asked, vocabulary) if odds is None else odds)
    least = min(odds.values(), default=0.0)
    if not asked.evidence:
        for scope_id, weight in asked.scopes.items():
            odds[vocabulary.canonical(scope_id)] = settings.reach * weight
    for scope_id, rank in voters:
        own = vocabulary.canonical(scope_id)
        odds[own] = odds.get(own, least) + settings.scope_vote / (1 + rank)
    known = {one: value for one, value in odds.items() if one in vocabulary.by_id}
    if asked.wide:
        best: dict[str, float] = {}
        for one, value in known.items():
            above = vocabulary.parent(one) or one
            best[above] = max(best.get(above, -math.inf), value)
        known = {one: best[vocabulary.parent(one) or one] for one in known}
    top = max(known.values(), default=0.0)
    shares = {one: 1.0 - (top - value) / settings.reach for one, value in known.items()}
    return {one: share for one, share in shares.items() if share > 0}


def clearness_of(asked: QueryFilter) -> float:
    """How much the question alone tells which scope it means: 0 where any is as likely, 1 where there is no doubt."""
    if not asked.evidence:
        return 1.0 if asked.scopes else 0.0
    top, even = max(asked.evidence.values()), 1 / len(asked.evidence)
    likeliest = 1 / sum(math.exp(value - top) for value in asked.evidence.values())
    return (likeliest - even) / (1 - even) if even < 1 else 0.0


def canonical_weights(weights: Mapping[str, float], vocabulary: Vocabulary) -> dict[str, float]:
    """The weights of labels, aliases resolved; unknown ids are left out."""
    found: dict[str, float] = {}
    for label_id, weight in weights.items():
        own = vocabulary.canonical(label_id)
        if own in vocabulary.by_id:
            found[own] = max(found.get(own, 0.0), weight)
    return found


def _voted(kind: str, voters: Sequence[tuple[StepIntent, int, float]], vocabulary: Vocabulary) -> dict[str, float]:
    top = max((score for *_, score in voters), default=0.0)
    if top <= 0:
        return {}
    return vote(
        (
            [vocabulary.canonical(one) for one in (intent.event_ids if kind == "event" else intent.entity_ids)],
            score / top,
        )
        for intent, _, score in voters
    )


def _likeness(score: float, top: float) -> float:
    """Similarity from 0 to 1: falls in a straight line with its logarithm, and from an eighth on ever more slowly."""
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
    """One score a candidate that orders by density and, where densities are close, by similarity.

    Args:
        densities: candidate → the sum of the weights of its labels that are asked for.
        similar: every candidate with its similarity, positive, and the reasons for it.
        step: densities at least this far apart decide; within it similarity may: on a logarithmic scale, since
            densities are log-odds.
        votes: candidate → the sum of the weights of its labels that are voted for.
        vote: what the most voted for gains, as a share of what the most similar one does.
    """
    votes = votes or {}
    most = max(votes.values(), default=0.0) or 1.0
    top = max((one.score for one in similar.values()), default=0.0) or 1.0
    ranked = sorted({value for value in densities.values() if value > 0}, reverse=True)
    places = {value: place for place, value in enumerate(ranked, 1)}
    unit = step * 0.999 / (1 + vote)  # the most similar and most voted for never passes one a step denser
    candidates: dict[str, Candidate] = {}
    for record_id, found in similar.items():
        density = densities.get(record_id, 0.0)
        voted = vote * votes.get(record_id, 0.0) / most
        below = unit * _likeness(found.score, top)
        candidate = Candidate(record_id, density + below + unit * voted, [])
        if density > 0:
            candidate.why.append(("labels", density, places[density], density))
        if voted > 0:
            candidate.why.append(("votes", votes[record_id], None, unit * voted))
        total = sum(share for *_, share in found.why) or 1.0
        candidate.why += [(name, value, rank, below * share / total) for name, value, rank, share in found.why]
        candidates[record_id] = candidate
    return candidates
