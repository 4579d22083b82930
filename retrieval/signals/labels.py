"""What a question asks for in labels, and how far the labels of candidates meet it.

STITCH (arXiv 2601.10702, sections 3.3 and 3.4) orders by label density; here density and what it is made of are
features beside others, so a question that names no label, or a user whose steps carry none, loses nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hexamem.intent.query import QueryFilter
from hexamem.retrieval.label_density import canonical_weights, clearness_of, likely_scopes, scope_odds
from hexamem.retrieval.signals.pool import Places, Pool, descending, places
from hexamem.retrieval.strategies import LabelWeights
from hexamem.stores.embedders.base import FloatArray
from hexamem.stores.label_set import LabelSet
from hexamem.stores.vocabulary import Vocabulary

__all__ = ["LABEL_FEATURES", "QuestionLabels", "label_features"]

_SETTINGS = LabelWeights()
_PEERS = 3
_MEANT = 0.5  # share of the likeliest scope's weight
_TINY = 1e-9
LABEL_FEATURES: tuple[str, ...] = (
    "scope_asked", "scope_asked_surely", "scope_probability", "scope_voted", "scope_share", "scope_best",
    "scope_rank", "scope_dense", "events_asked", "events_voted", "entities_asked", "entities_voted", "density_rank",
)  # fmt: skip
"""What :func:`label_features` gives, in order."""


@dataclass(frozen=True, slots=True)
class QuestionLabels:
    """The labels that a question asks for, and those that the user's steps carry.

    Attributes:
        filter: what the question names, and how much it speaks for each scope.
        clearness: from 0, any scope is as likely, to 1, no doubt.
        odds: how much the question speaks for each scope, aliases resolved.
    """

    filter: QueryFilter
    labels: LabelSet
    vocabulary: Vocabulary
    clearness: float
    odds: Mapping[str, float]

    @classmethod
    def read(cls, asked: QueryFilter, labels: LabelSet, vocabulary: Vocabulary) -> QuestionLabels:
        """Of a question's filter."""
        return cls(asked, labels, vocabulary, clearness_of(asked), scope_odds(asked, vocabulary))

    def rows_asked(self) -> npt.NDArray[np.int64]:
        """The rows of the scopes that the question itself means; none where it tells none from another."""
        if self.clearness < _SETTINGS.unclear:
            return np.empty(0, np.int64)
        likely = likely_scopes(self.filter, (), _SETTINGS, self.vocabulary, self.odds)
        names, scope_of = self.labels.scopes(self.vocabulary)
        meant = np.array([*(likely.get(one, 0.0) >= _MEANT for one in names), False], bool)
        return np.flatnonzero(meant[scope_of])

    @property
    def cues(self) -> FloatArray:
        """For the gate, the last of :data:`~.cues.CUES`."""
        one = self.filter
        return np.array([self.clearness, one.wide, bool(one.events), bool(one.entities)], np.float32)


def label_features(
    asked: QuestionLabels | None, pool: Pool, fused: FloatArray, dense: FloatArray
) -> dict[str, FloatArray]:
    """The label features of every candidate; zeros without labels.

    Args:
        fused: similarity of every candidate from all plain signals together, positive.
        dense: cosine of every candidate with the question.
    """
    found = {name: np.zeros(len(pool), np.float32) for name in LABEL_FEATURES}
    names, scope_of = ((), np.empty(0, np.int32)) if asked is None else asked.labels.scopes(asked.vocabulary)
    if asked is None or not names:
        return found
    rows = np.where(pool.rows < len(scope_of), pool.rows, -1)
    scope = np.where(rows >= 0, scope_of[rows], -1).astype(np.int64)
    carried = (scope >= 0).astype(np.float32)
    order = descending(fused)
    voters = order[scope[order] >= 0][: _SETTINGS.voters]
    place = np.where(scope >= 0, scope, len(names))
    count = len(names) + 1

    def by_scope(weights: Mapping[str, float], missing: float = 0.0) -> FloatArray:
        return np.array([*(weights.get(one, missing) for one in names), missing], np.float32)

    likely = by_scope(
        likely_scopes(asked.filter, [(names[scope[one]], rank) for rank, one in enumerate(voters.tolist(), 1)],
                      _SETTINGS, asked.vocabulary, asked.odds)
    )  # fmt: skip
    sure = min(1.0, max(asked.clearness, _SETTINGS.unclear) / _SETTINGS.clear)
    found["scope_asked"] = likely[place]
    found["scope_asked_surely"] = likely[place] * sure if asked.clearness >= _SETTINGS.unclear else likely[place] * 0
    found["scope_probability"] = _probability(asked, names)[place]
    votes = np.zeros(len(pool), np.float32)
    votes[voters] = 1.0 / (1.0 + np.arange(1, len(voters) + 1))
    together = np.bincount(place, votes, count)
    # A candidate's own vote tells nothing that its rank does not.
    found["scope_voted"] = ((together[place] - votes) / max(float(votes.sum()), _TINY) * carried).astype(np.float32)
    found["scope_share"] = (np.bincount(place, minlength=count)[place] / max(len(pool), 1) * carried).astype(np.float32)
    best = np.zeros(count, np.float32)
    np.maximum.at(best, place, fused)
    found["scope_best"] = best[place] / max(float(fused.max()), _TINY) * carried
    found["scope_rank"], found["scope_dense"] = _within(place, order, dense, count)
    found["scope_rank"] *= carried
    found["scope_dense"] *= carried
    for kind, given, held in (
        ("events", asked.filter.events, asked.labels.events),
        ("entities", asked.filter.entities, asked.labels.entities),
    ):
        mine = np.where(rows[:, None] >= 0, held[rows], -1)
        named = _covering(canonical_weights(given, asked.vocabulary), asked.vocabulary)
        weights = (
            np.array([*(named.get(one, 0.0) for one in asked.labels.label_ids), 0.0], np.float32) if named else None
        )
        if weights is not None:
            found[f"{kind}_asked"] = weights[mine].sum(axis=1)
        found[f"{kind}_voted"] = _voted(mine, votes, len(asked.labels.label_ids))
    found["density_rank"] = _by_density(found, fused)
    return found


def _probability(asked: QuestionLabels, names: Sequence[str]) -> FloatArray:
    """How probable the question's words make each scope."""
    odds = asked.odds
    if not odds:
        return np.zeros(len(names) + 1, np.float32)
    values = np.array([*(odds.get(one, -np.inf) for one in names), -np.inf])
    shares = np.exp(values - max(odds.values()))
    return np.asarray(shares / max(float(shares.sum()), 1.0), np.float32)


def _within(place: Places, order: Places, dense: FloatArray, count: int) -> tuple[FloatArray, FloatArray]:
    """The place of each candidate among those of its scope, and the mean cosine of the scope's best."""
    rank = np.empty(len(place), np.float32)
    grouped = order[np.argsort(place[order], kind="stable")]
    starts = np.searchsorted(place[grouped], np.arange(count + 1))
    rank[grouped] = np.arange(len(grouped)) - starts[place[grouped]]
    top = np.where(rank < _PEERS, dense, 0.0)
    sizes = np.minimum(np.diff(starts), _PEERS)
    mean = np.bincount(place, top, count) / np.maximum(sizes, 1)
    return 1.0 / (1.0 + rank), mean[place].astype(np.float32)


def _covering(weights: Mapping[str, float], vocabulary: Vocabulary) -> dict[str, float]:
    found: dict[str, float] = {}
    for label_id, weight in weights.items():
        for one in vocabulary.covering(label_id):
            found[one] = max(found.get(one, 0.0), weight)
    return found


def _voted(carried: npt.NDArray[np.int32], votes: FloatArray, count: int) -> FloatArray:
    """For each candidate the mean share of votes that its labels have from the other candidates."""
    there = carried >= 0
    each = np.where(there, votes[:, None], 0.0)
    of = np.bincount(np.where(there, carried, count).ravel(), each.ravel(), count + 1)
    others = np.where(there, of[carried] - each, 0.0).sum(axis=1)
    return np.asarray(others / (np.maximum(there.sum(axis=1), 1) * max(float(votes.sum()), _TINY)), np.float32)


def _by_density(found: Mapping[str, FloatArray], fused: FloatArray) -> FloatArray:
    """The reciprocal place in the order by density, similarity among equals."""
    density = _SETTINGS.scope * found["scope_asked_surely"]
    density = density + _SETTINGS.event * found["events_asked"] + _SETTINGS.entity * found["entities_asked"]
    votes = found["scope_voted"] + 0.3 * (found["events_voted"] + found["entities_voted"])
    behind = np.log(max(float(fused.max()), _TINY) / np.maximum(fused, _TINY)) / 4.0
    likeness = np.where(behind < 0.875, 1.0 - behind, 0.125 * np.exp(-8.0 * (behind - 0.875)))
    score = density + _SETTINGS.step / (1 + _SETTINGS.vote) * (
        likeness + _SETTINGS.vote * votes / max(float(votes.max()), _TINY)
    )
    return np.asarray(1.0 / (5.0 + places(score)), np.float32)
