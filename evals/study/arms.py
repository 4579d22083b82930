"""Rankings of the literature that call no model, each computed from the records of the one pass.

None of them is more than *like* its paper: a memory of turns stands where the paper had documents, an agent's stream or
a trained router. What is left out is said of each in :data:`ARMS`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from hexamem.evals.study.records import DEPTH, Observed, Ranked
from hexamem.retrieval.signals.cues import operations_of
from hexamem.stores.embedders.base import FloatArray

__all__ = ["ARMS", "FULL", "Arm", "add_arms"]

_MMR_LAMBDA, _MMR_POOL = 0.7, 50
_DECAY = 0.995  # an hour
_ROUNDS, _CLUSTERS, _MIX = 2, 3, 0.5
_RRF = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Arm:
    """A ranking of the main comparison.

    Attributes:
        how: gives the turns of all questions at once, best first; None where the one pass has asked the memory.
        like: what it is, and in which way it is like its paper only.
        model: whether it takes a chat model.
    """

    name: str
    like: str
    how: Callable[[Sequence[Observed]], list[tuple[str, ...]]] | None = None
    model: bool = False


def _each(rank: Callable[[Observed], Sequence[str]]) -> Callable[[Sequence[Observed]], list[tuple[str, ...]]]:
    return lambda observed: [tuple(rank(one)) for one in observed]


def _best(one: Observed, scores: FloatArray, count: int = DEPTH) -> list[str]:
    return [one.talk.turns[place] for place in np.argsort(-scores, kind="stable")[:count].tolist()]


def _unit(values: FloatArray) -> FloatArray:
    span = float(values.max() - values.min()) if len(values) else 0.0
    return np.asarray((values - values.min()) / span if span > 0 else np.zeros_like(values), np.float32)


def maximal_marginal_relevance(one: Observed) -> list[str]:
    """MMR (Carbonell and Goldstein, SIGIR 1998) with λ = 0.7 over the 50 turns nearest by vector."""
    pool = np.argsort(-one.dense, kind="stable")[:_MMR_POOL]
    vectors, relevance = one.talk.vectors[pool], one.dense[pool]
    alike = vectors @ vectors.T
    nearest = np.full(len(pool), -1.0, np.float32)
    open_, chosen = np.ones(len(pool), bool), list[int]()
    for _ in range(min(DEPTH, len(pool))):
        redundancy = np.where(nearest < 0, 0.0, nearest) if not chosen else nearest
        value = np.where(open_, _MMR_LAMBDA * relevance - (1 - _MMR_LAMBDA) * redundancy, -np.inf)
        best = int(value.argmax())
        chosen.append(best)
        open_[best] = False
        nearest = np.maximum(nearest, alike[best])
    return [one.talk.turns[place] for place in pool[chosen].tolist()]


def time_decayed(one: Observed) -> list[str]:
    """Relevance + recency, each scaled to 0..1; recency is 0.995 to the power of the hours since (Park et al., UIST 2023,
    section 4.1)."""
    hours = (one.talk.seconds.max() - one.talk.seconds) / 3_600
    recency = np.asarray(_DECAY**hours, np.float32)
    return _best(one, _unit(one.dense) + _unit(recency))


def familiarity_switch(observed: Sequence[Observed]) -> list[tuple[str, ...]]:
    """Direct search where the question seems familiar, else search in rounds around clusters of what was found.

    Familiar is a question whose ten best cosines are high on average; in the middle third the entropy of their softmax
    decides. The thirds are those of the questions of the same data set: no answer is used.
    """
    familiar = np.array([float(np.sort(one.dense)[-10:].mean()) for one in observed])
    spread = np.array([_entropy(np.sort(one.dense)[-10:] / 0.1) for one in observed])
    groups: dict[str, list[int]] = {}
    for index, one in enumerate(observed):
        groups.setdefault(one.talk.data_set, []).append(index)
    found: dict[int, tuple[str, ...]] = {}
    for rows in groups.values():
        low, high = np.quantile(familiar[rows], [1 / 3, 2 / 3])
        sharp = float(np.median(spread[rows]))
        for index in rows:
            direct = familiar[index] >= high or (familiar[index] > low and spread[index] <= sharp)
            one = observed[index]
            found[index] = tuple(_best(one, one.dense) if direct else _recollected(one))
    return [found[index] for index in range(len(observed))]


def _entropy(logits: FloatArray) -> float:
    """Of the softmax of some logits."""
    shares = np.exp(logits - logits.max())
    shares /= shares.sum()
    return -float((shares * np.log(shares)).sum())


def _recollected(one: Observed) -> list[str]:
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
        moved.sort(key=lambda query: -float(query @ one.vector))
        queries = moved[:_CLUSTERS]
        for query in queries:
            best = np.maximum(best, vectors @ query * float(query @ one.vector))
    return _best(one, best)


def routed(one: Observed) -> list[str]:
    """One search for a question that seems to need one step, two for one that seems to need several.

    The second search adds the three best turns to the question; both rankings are fused by reciprocal rank.
    """
    first = list(one.rankings["rrf"].turns)
    if operations_of(one.asked.features.cues)["multi_step"] <= 0:
        return first
    rows = [one.places[turn] for turn in first[:3] if turn in one.places]
    if not rows:
        return first
    moved = one.vector + one.talk.vectors[rows].mean(axis=0)
    second = _best(one, np.asarray(one.talk.vectors @ (moved / np.linalg.norm(moved)), np.float32))
    scores: dict[str, float] = {}
    for ranking in (first, second):
        for rank, turn in enumerate(ranking, 1):
            scores[turn] = scores.get(turn, 0.0) + 1 / (_RRF + rank)
    return sorted(scores, key=lambda turn: -scores[turn])[:DEPTH]


def late_interaction(one: Observed) -> list[str]:
    """The pool of the learned ranking in the order of late interaction alone (ColBERT, SIGIR 2020): a reranker."""
    pool = one.asked.features.pool
    order = np.argsort(-one.asked.features.column("late")[: pool.steps], kind="stable")
    return list(dict.fromkeys(turn for place in order for turn in one.asked.turns[place]))[:DEPTH]


FULL = "learned_full"
"""The learned ranking with decomposition and reranking by the memory's own model."""
_ARMS = (
    Arm(name="dense", like="cosine of the bundled (or given) embedder's vectors"),
    Arm(name="bm25", like="BM25 over stems and bigrams"),
    Arm(name="rrf", like="reciprocal rank fusion of dense, BM25 and late interaction"),
    Arm(name="rrf_neighbours", like="the same, with what steps pass on to the steps beside them"),
    Arm(name="label_density", like="STITCH: label density first, similarity breaks ties"),
    Arm(name="research", like="rounds of plan, search, integrate and reflect; by rules without a model (0 calls)"),
    Arm(
        name="mmr",
        how=_each(maximal_marginal_relevance),
        like="MMR (SIGIR 1998), λ = 0.7, over the 50 nearest by vector",
    ),
    Arm(
        name="time_decayed",
        how=_each(time_decayed),
        like="like Generative Agents (UIST 2023): relevance and recency; importance, which a model rates there, is left "
        "out, and a turn counts as last used when it was said",
    ),
    Arm(
        name="familiarity_switch",
        how=familiarity_switch,
        like="like RF-Mem: familiarity decides between direct search and search in rounds around clusters; thresholds are "
        "thirds of the data set's questions, since the paper's are of another embedder",
    ),
    Arm(
        name="routed",
        how=_each(routed),
        like="like Adaptive-RAG (NAACL 2024): the cues of the question stand in for its trained classifier; there is no "
        "class without retrieval, and several steps are two searches, the second with what the first found",
    ),
    Arm(
        name="late_rerank",
        how=_each(late_interaction),
        like="late interaction reranks the pool of the learned ranking",
    ),
    Arm(
        name=FULL,
        model=True,
        like="the learned ranking in full: the memory's model names the parts of the question and orders the best",
    ),
    Arm(
        name="self_rag",
        model=True,
        like="like Self-RAG (ICLR 2024): the model is asked in words which passages are relevant and whether they suffice; "
        "there are no trained reflection tokens",
    ),
    Arm(
        name="flare",
        model=True,
        like="like FLARE (EMNLP 2023): the model names the sentence of its draft that it is least sure of, in place of "
        "token probabilities, and that is searched for",
    ),
    Arm(
        name="ircot",
        model=True,
        like="like IRCoT (ACL 2023): a sentence of reasoning and a search by turns; no demonstrations in the prompt",
    ),
)
ARMS: Mapping[str, Arm] = {arm.name: arm for arm in _ARMS}
"""Every ranking of the comparison by name, in the order in which a table shows them."""


def add_arms(observed: Sequence[Observed]) -> None:
    """Add the rankings that need nothing but the records."""
    for arm in ARMS.values():
        if arm.how is not None:
            for one, turns in zip(observed, arm.how(observed), strict=True):
                one.rankings[arm.name] = Ranked(turns)
