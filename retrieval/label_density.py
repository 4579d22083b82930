"""STITCH's ranking: label density first, similarity breaks ties (arXiv 2601.10702, sections 3.3 and 3.4).

The question has a contextual intent of its own, ``F_q = (scopes, events, entities)``. A snippet's density is how much of
it the snippet's labels meet; among equals the more similar one comes first. Where the question names no label of a kind,
the labels of the snippets nearest to it vote (the paper's deferred label refinement): most failures of the paper's form
came from questions that do not say enough to name one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..intent.query import QueryFilter, vote
from ..stores.ledger import Transaction
from ..stores.ledger.labels import get_intents, read_labels
from ..stores.vocabulary import Vocabulary
from .fusion import Candidate
from .strategies import LabelWeights

__all__ = ["AskedLabels", "QueryIntent", "asked_labels", "by_density"]

QueryIntent = Callable[[str, str, npt.NDArray[np.float32] | None], QueryFilter]
"""(user, question, its vector) → the labels that the question names."""

_VOTERS = 10
_NAMED = 4  # labels of a kind told in the note


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
    tx: Transaction, asked: QueryFilter, nearest: Sequence[Candidate], settings: LabelWeights
) -> AskedLabels:
    """The labels that a question asks for, each kind by its weight.

    Args:
        asked: what the question names.
        nearest: the snippets most similar to it, best first: they vote where it names nothing of a kind.
        settings: how much each kind counts, and how much a vote does against a name.
    """
    vocabulary = Vocabulary(read_labels(tx))
    named = {
        "scope": _canonical(asked.scopes, vocabulary),
        "event": _canonical(asked.events, vocabulary),
        "entity": _canonical(asked.entities, vocabulary),
    }
    voted = _votes(tx, nearest, vocabulary) if settings.vote else {}
    weights: dict[str, float] = {}
    votes: dict[str, float] = {}
    notes = []
    for kind, share in (("scope", settings.scope), ("event", settings.event), ("entity", settings.entity)):
        by_name = bool(named[kind])
        chosen = named[kind] or voted.get(kind, {})
        if not share or not chosen:
            continue
        kept = weights if by_name else votes
        for label_id, weight in chosen.items():
            # A wide scope's narrower ones have weights of their own; a wide event or entity type means all below it.
            meant = vocabulary.same(label_id) if kind == "scope" else sorted(vocabulary.covering(label_id))
            for one in meant:
                kept[one] = max(kept.get(one, 0.0), share * weight)
        best = sorted(chosen, key=lambda one: (-chosen[one], one))[:_NAMED]
        how = "" if by_name else " (by the nearest steps)"
        notes.append(f"{kind} {', '.join(vocabulary.path(one) for one in best)}{how}")
    return AskedLabels(weights, votes, "asks for " + "; ".join(notes) if notes else "names no label")


def _canonical(weights: Mapping[str, float], vocabulary: Vocabulary) -> dict[str, float]:
    found: dict[str, float] = {}
    for label_id, weight in weights.items():
        own = vocabulary.canonical(label_id)
        if own in vocabulary.by_id:
            found[own] = max(found.get(own, 0.0), weight)
    return found


def _votes(tx: Transaction, nearest: Sequence[Candidate], vocabulary: Vocabulary) -> dict[str, dict[str, float]]:
    voters = [one for one in nearest if one.id.startswith("step_")]
    intents = get_intents(tx, [one.id for one in voters])
    ballots: dict[str, list[tuple[Sequence[str], float]]] = {"scope": [], "event": [], "entity": []}
    top = max((one.score for one in voters), default=0.0)
    for one in voters:
        intent = intents.get(one.id)
        if intent is None or top <= 0:
            continue
        similarity = one.score / top
        for kind, held in (
            ("scope", (intent.scope_id,)),
            ("event", intent.event_ids),
            ("entity", intent.entity_ids),
        ):
            ballots[kind].append(([vocabulary.canonical(label) for label in held], similarity))
    return {kind: vote(ballot) for kind, ballot in ballots.items()}


def by_density(
    densities: Mapping[str, float],
    similar: Mapping[str, Candidate],
    step: float,
    votes: Mapping[str, float] | None = None,
    vote: float = 0.0,
) -> dict[str, Candidate]:
    """One score a candidate that orders by density and, among equals, by similarity.

    Args:
        densities: candidate → the sum of the weights of its labels that are asked for.
        similar: every candidate with its similarity, positive, and the reasons for it.
        step: densities less than this apart count as equal.
        votes: candidate → the sum of the weights of its labels that are voted for.
        vote: what the most voted for gains, as a share of the most similar one's similarity.
    """
    votes = votes or {}
    most = max(votes.values(), default=0.0) or 1.0
    top = max((one.score for one in similar.values()), default=0.0) or 1.0
    ranked = sorted({value for value in densities.values() if value > 0}, reverse=True)
    places = {value: place for place, value in enumerate(ranked, 1)}
    unit = step * 0.999 / (1 + vote)  # what stands below the level never lifts a candidate to the next
    candidates: dict[str, Candidate] = {}
    for record_id, found in similar.items():
        density = densities.get(record_id, 0.0)
        level = step * round(density / step)
        voted = vote * votes.get(record_id, 0.0) / most
        below = unit * found.score / top
        candidate = Candidate(record_id, level + below + unit * voted, [])
        if density > 0:
            candidate.why.append(("labels", density, places[density], level))
        if voted > 0:
            candidate.why.append(("votes", votes[record_id], None, unit * voted))
        total = sum(share for *_, share in found.why) or 1.0
        candidate.why += [(name, value, rank, below * share / total) for name, value, rank, share in found.why]
        candidates[record_id] = candidate
    return candidates
