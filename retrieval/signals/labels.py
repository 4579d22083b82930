"""The label features: how the labels of candidates match those of the question.

STITCH (arXiv 2601.10702, sections 3.3 and 3.4) orders by label density. Here density and its parts are features among
others, so that nothing is lost for a question that names no label, or a user without labels.
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

__all__ = ["LABEL_FEATURES", "QuestionLabels", "density_parts", "label_features"]

_SETTINGS = LabelWeights()
_PEERS = 3
_LEAST_SHARE = 0.5  # of the likeliest scope's weight, for a scope that the question names
_TINY = 1e-9
LABEL_FEATURES: tuple[str, ...] = (
    "scope_asked", "scope_asked_surely", "scope_probability", "scope_voted", "scope_share", "scope_best",
    "scope_rank", "scope_dense", "events_asked", "events_voted", "entities_asked", "entities_voted", "density_rank",
)  # fmt: skip
"""The names of the features of :func:`label_features`, in order."""


@dataclass(frozen=True, slots=True)
class QuestionLabels:
    """The labels of a question, and those of the user's steps.

    Attributes:
        filter: the labels that the question names, and its evidence for each scope.
        labels: the labels of the steps.
        clearness: from 0, all scopes are equally likely, to 1, no doubt.
        odds: scope id → log-odds, aliases resolved.
    """

    filter: QueryFilter
    labels: LabelSet
    vocabulary: Vocabulary
    clearness: float
    odds: Mapping[str, float]

    @classmethod
    def read(cls, query: QueryFilter, labels: LabelSet, vocabulary: Vocabulary) -> QuestionLabels:
        """Make it from the filter of a question."""
        return cls(query, labels, vocabulary, clearness_of(query), scope_odds(query, vocabulary))

    def rows_asked(self) -> npt.NDArray[np.int64]:
        """The rows of the scopes that the question names; empty where it favours none."""
        if self.clearness < _SETTINGS.unclear:
            return np.empty(0, np.int64)
        likely = likely_scopes(self.filter, (), _SETTINGS, self.vocabulary, self.odds)
        scope_ids, scope_of = self.labels.scopes(self.vocabulary)
        named = np.array([*(likely.get(scope_id, 0.0) >= _LEAST_SHARE for scope_id in scope_ids), False], bool)
        return np.flatnonzero(named[scope_of])

    @property
    def cues(self) -> FloatArray:
        """The cues of labels, the last of :data:`~.cues.CUES`."""
        query = self.filter
        return np.array([self.clearness, query.wide, bool(query.events), bool(query.entities)], np.float32)


def label_features(
    question: QuestionLabels | None, pool: Pool, fused: FloatArray, dense: FloatArray
) -> dict[str, FloatArray]:
    """The label features of all candidates; zeros without labels.

    Args:
        fused: the similarity of candidates by all plain signals together, positive.
        dense: the cosine of candidates with the question.
    """
    columns = {name: np.zeros(len(pool), np.float32) for name in LABEL_FEATURES}
    scope_ids, scope_of = (
        ((), np.empty(0, np.int32)) if question is None else question.labels.scopes(question.vocabulary)
    )
    if question is None or not scope_ids:
        return columns
    rows = np.where(pool.rows < len(scope_of), pool.rows, -1)
    scope = np.where(rows >= 0, scope_of[rows], -1).astype(np.int64)
    carried = (scope >= 0).astype(np.float32)
    order = descending(fused)
    voters = order[scope[order] >= 0][: _SETTINGS.voters]
    place = np.where(scope >= 0, scope, len(scope_ids))
    count = len(scope_ids) + 1

    def by_scope(weights: Mapping[str, float], missing: float = 0.0) -> FloatArray:
        return np.array([*(weights.get(scope_id, missing) for scope_id in scope_ids), missing], np.float32)

    likely = by_scope(
        likely_scopes(
            question.filter,
            [(scope_ids[scope[voter]], rank) for rank, voter in enumerate(voters.tolist(), 1)],
            _SETTINGS,
            question.vocabulary,
            question.odds,
        )
    )
    sure = min(1.0, max(question.clearness, _SETTINGS.unclear) / _SETTINGS.clear)
    columns["scope_asked"] = likely[place]
    columns["scope_asked_surely"] = (
        likely[place] * sure if question.clearness >= _SETTINGS.unclear else likely[place] * 0
    )
    columns["scope_probability"] = _probability(question, scope_ids)[place]
    votes = np.zeros(len(pool), np.float32)
    votes[voters] = 1.0 / (1.0 + np.arange(1, len(voters) + 1))
    together = np.bincount(place, votes, count)
    # Without a candidate's own vote, which is the same as its rank.
    columns["scope_voted"] = ((together[place] - votes) / max(float(votes.sum()), _TINY) * carried).astype(np.float32)
    columns["scope_share"] = (np.bincount(place, minlength=count)[place] / max(len(pool), 1) * carried).astype(
        np.float32
    )
    best = np.zeros(count, np.float32)
    np.maximum.at(best, place, fused)
    columns["scope_best"] = best[place] / max(float(fused.max()), _TINY) * carried
    columns["scope_rank"], columns["scope_dense"] = _within(place, order, dense, count)
    columns["scope_rank"] *= carried
    columns["scope_dense"] *= carried
    for kind, of_query, of_steps in (
        ("events", question.filter.events, question.labels.events),
        ("entities", question.filter.entities, question.labels.entities),
    ):
        carried_labels = np.where(rows[:, None] >= 0, of_steps[rows], -1)
        named = _covering(canonical_weights(of_query, question.vocabulary), question.vocabulary)
        weights = (
            np.array([*(named.get(label_id, 0.0) for label_id in question.labels.label_ids), 0.0], np.float32)
            if named
            else None
        )
        if weights is not None:
            columns[f"{kind}_asked"] = weights[carried_labels].sum(axis=1)
        columns[f"{kind}_voted"] = _voted(carried_labels, votes, len(question.labels.label_ids))
    columns["density_rank"] = np.asarray(1.0 / (5.0 + places(density_parts(columns, fused).sum(axis=0))), np.float32)
    return columns


def _probability(question: QuestionLabels, scope_ids: Sequence[str]) -> FloatArray:
    """The probability of each scope by the question alone."""
    odds = question.odds
    if not odds:
        return np.zeros(len(scope_ids) + 1, np.float32)
    values = np.array([*(odds.get(scope_id, -np.inf) for scope_id in scope_ids), -np.inf])
    shares = np.exp(values - max(odds.values()))
    return np.asarray(shares / max(float(shares.sum()), 1.0), np.float32)


def _within(place: Places, order: Places, dense: FloatArray, count: int) -> tuple[FloatArray, FloatArray]:
    """The reciprocal rank of each candidate within its scope, and the mean cosine of the scope's best."""
    rank = np.empty(len(place), np.float32)
    grouped = order[np.argsort(place[order], kind="stable")]
    starts = np.searchsorted(place[grouped], np.arange(count + 1))
    rank[grouped] = np.arange(len(grouped)) - starts[place[grouped]]
    top = np.where(rank < _PEERS, dense, 0.0)
    sizes = np.minimum(np.diff(starts), _PEERS)
    mean = np.bincount(place, top, count) / np.maximum(sizes, 1)
    return 1.0 / (1.0 + rank), mean[place].astype(np.float32)


def _covering(weights: Mapping[str, float], vocabulary: Vocabulary) -> dict[str, float]:
    covering: dict[str, float] = {}
    for label_id, weight in weights.items():
        for covered in vocabulary.covering(label_id):
            covering[covered] = max(covering.get(covered, 0.0), weight)
    return covering


def _voted(carried: npt.NDArray[np.int32], votes: FloatArray, count: int) -> FloatArray:
    """For each candidate the mean share of votes for its labels from the other candidates."""
    there = carried >= 0
    own = np.where(there, votes[:, None], 0.0)
    total = np.bincount(np.where(there, carried, count).ravel(), own.ravel(), count + 1)
    others = np.where(there, total[carried] - own, 0.0).sum(axis=1)
    return np.asarray(others / (np.maximum(there.sum(axis=1), 1) * max(float(votes.sum()), _TINY)), np.float32)


def density_parts(
    columns: Mapping[str, FloatArray], fused: FloatArray, weights: LabelWeights = _SETTINGS
) -> FloatArray:
    """Label density, and the shares of votes and of similarity in a score that density decides first, ``(3, n)``.

    Args:
        columns: the label features.
        fused: the similarity of candidates by all plain signals together, positive.
        weights: the weights of the kinds of labels; a kind without weight has no votes either.
    """
    density = weights.scope * columns["scope_asked_surely"]
    density = density + weights.event * columns["events_asked"] + weights.entity * columns["entities_asked"]
    votes = columns["scope_voted"] * bool(weights.scope)
    votes = votes + 0.3 * (
        columns["events_voted"] * bool(weights.event) + columns["entities_voted"] * bool(weights.entity)
    )
    # Similarity counts on a logarithmic scale, since densities are log-odds.
    behind = np.log(max(float(fused.max()), _TINY) / np.maximum(fused, _TINY)) / 4.0
    likeness = np.where(behind < 0.875, 1.0 - behind, 0.125 * np.exp(-8.0 * (behind - 0.875)))
    unit = weights.step / (1 + weights.vote)  # similarity and votes together are worth one step of density
    return np.stack([density, unit * weights.vote * votes / max(float(votes.max()), _TINY), unit * likeness]).astype(
        np.float32
    )
