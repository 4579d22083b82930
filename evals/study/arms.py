"""Rankings of the literature that call no model, each computed from the records of the one pass.

None of them is more than *like* its paper: a memory of turns takes the place of documents, of an agent's stream or of a trained
router. ``arms.toml`` says of each what is left out.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources

import numpy as np

from hexamem.evals.study.records import DEPTH, Observed, Ranked
from hexamem.retrieval.signals.cues import operations_of
from hexamem.stores.embedders.base import FloatArray

__all__ = ["ARMS", "FULL", "Arm", "add_arms"]

_MMR_LAMBDA, _MMR_POOL = 0.7, 50
_DECAY = 0.995  # an hour
_ROUNDS, _CLUSTERS, _MIX = 2, 3, 0.5
_RRF = 60
FULL = "learned_full"
"""The learned ranking with decomposition and reranking by the memory's own model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Arm:
    """A ranking of the main comparison; ``model`` says whether it takes a chat model."""

    like: str
    model: bool = False


ARMS: Mapping[str, Arm] = {
    name: Arm(**row)
    for name, row in tomllib.loads(resources.files(__package__).joinpath("arms.toml").read_text("utf-8")).items()
}
"""Every ranking of the comparison by name, in the order in which a table shows them."""


def add_arms(observed: Sequence[Observed]) -> None:
    """Add the rankings that need nothing but the records."""
    for one, switched in zip(observed, familiarity_switch(observed), strict=True):
        one.rankings["mmr"] = Ranked(maximal_marginal_relevance(one))
        one.rankings["time_decayed"] = Ranked(time_decayed(one))
        one.rankings["familiarity_switch"] = Ranked(switched)
        one.rankings["routed"] = Ranked(routed(one))
        one.rankings["late_rerank"] = Ranked(late_interaction(one))


def _best(one: Observed, scores: FloatArray, count: int = DEPTH) -> tuple[str, ...]:
    return tuple(one.talk.turns[place] for place in np.argsort(-scores, kind="stable")[:count].tolist())


def _unit(values: FloatArray) -> FloatArray:
    span = float(values.max() - values.min()) if len(values) else 0.0
    return np.asarray((values - values.min()) / span if span > 0 else np.zeros_like(values), np.float32)


def maximal_marginal_relevance(one: Observed) -> tuple[str, ...]:
    """MMR (Carbonell and Goldstein, SIGIR 1998) with λ = 0.7 over the 50 turns nearest by vector."""
    pool = np.argsort(-one.dense, kind="stable")[:_MMR_POOL]
    vectors, relevance = one.talk.vectors[pool], one.dense[pool]
    alike = vectors @ vectors.T
    nearest = np.full(len(pool), -1.0, np.float32)
    chosen: list[int] = []
    for _ in range(min(DEPTH, len(pool))):
        redundancy = nearest if chosen else np.zeros(len(pool), np.float32)
        value = _MMR_LAMBDA * relevance - (1 - _MMR_LAMBDA) * redundancy
        value[chosen] = -np.inf
        chosen.append(int(value.argmax()))
        nearest = np.maximum(nearest, alike[chosen[-1]])
    return tuple(one.talk.turns[place] for place in pool[chosen].tolist())


def time_decayed(one: Observed) -> tuple[str, ...]:
    """Relevance + recency, each scaled to 0..1; recency is 0.995 to the power of the hours since (Park et al., UIST 2023,
    section 4.1)."""
    hours = (one.talk.seconds.max() - one.talk.seconds) / 3_600
    return _best(one, _unit(one.dense) + _unit(np.asarray(_DECAY**hours, np.float32)))


def familiarity_switch(observed: Sequence[Observed]) -> list[tuple[str, ...]]:
    """Direct search where the question seems familiar, else search in rounds around clusters of what was found.

    Familiar is a question whose ten best cosines are high on average; in the middle third the entropy of their softmax
    decides. The thirds are those of the questions of the same data set: no answer is used.
    """
    familiar = np.array([float(np.sort(one.dense)[-10:].mean()) for one in observed])
    spread = np.array([_entropy(np.sort(one.dense)[-10:] / 0.1) for one in observed])
    data_sets = np.array([one.talk.data_set for one in observed])
    turns: list[tuple[str, ...]] = []
    for index, one in enumerate(observed):
        same = data_sets == data_sets[index]
        low, high = np.quantile(familiar[same], [1 / 3, 2 / 3])
        sharp = familiar[index] > low and spread[index] <= float(np.median(spread[same]))
        turns.append(_best(one, one.dense) if familiar[index] >= high or sharp else _recollected(one))
    return turns


def _entropy(logits: FloatArray) -> float:
    """Of the softmax of some logits."""
    shares = np.exp(logits - logits.max())
    shares /= shares.sum()
    return -float((shares * np.log(shares)).sum())


def _recollected(one: Observed) -> tuple[str, ...]:
    """Rounds of: cluster the best, move the question towards each centre, search again; each turn keeps its best score."""
    from sklearn.cluster import KMeans

    vectors, best = one.talk.vectors, one.dense.copy()
    queries = [one.vector]
    for _ in range(_ROUNDS):
        moved: list[FloatArray] = []
        for query in queries:
            near = np.argsort(-(vectors @ query), kind="stable")[:10]
            clusters = KMeans(min(_CLUSTERS, len(near)), n_init=1, random_state=0).fit(vectors[near])
            for centre in clusters.cluster_centers_:
                mixed = _MIX * one.vector + (1 - _MIX) * centre
                moved.append(np.asarray(mixed / max(float(np.linalg.norm(mixed)), 1e-9), np.float32))
        queries = sorted(moved, key=lambda query: -float(query @ one.vector))[:_CLUSTERS]
        for query in queries:
            best = np.maximum(best, vectors @ query * float(query @ one.vector))
    return _best(one, best)


def routed(one: Observed) -> tuple[str, ...]:
    """One search for a question that seems to need one step, two for one that seems to need several.

    The second search adds the three best turns to the question; both rankings are fused by reciprocal rank.
    """
    first = one.rankings["rrf"].turns
    rows = [one.places[turn] for turn in first[:3] if turn in one.places]
    if operations_of(one.asked.features.cues)["multi_step"] <= 0 or not rows:
        return first
    moved = one.vector + one.talk.vectors[rows].mean(axis=0)
    second = _best(one, np.asarray(one.talk.vectors @ (moved / np.linalg.norm(moved)), np.float32))
    scores: dict[str, float] = {}
    for ranking in (first, second):
        for rank, turn in enumerate(ranking, 1):
            scores[turn] = scores.get(turn, 0.0) + 1 / (_RRF + rank)
    return tuple(sorted(scores, key=lambda turn: -scores[turn])[:DEPTH])


def late_interaction(one: Observed) -> tuple[str, ...]:
    """The pool of the learned ranking in the order of late interaction alone (ColBERT, SIGIR 2020): a reranker."""
    steps = one.asked.features.pool.steps
    order = np.argsort(-one.asked.features.column("late")[:steps], kind="stable")
    return tuple(dict.fromkeys(turn for place in order for turn in one.asked.turns[place]))[:DEPTH]
