"""Ranking strategies as data: named presets, one line each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from hexamem.errors import InvalidInputError

__all__ = ["FALLBACK", "STRATEGIES", "LabelWeights", "Strategy", "strategy_named"]


@dataclass(frozen=True, kw_only=True, slots=True)
class LabelWeights:
    """How label density is counted (STITCH, arXiv 2601.10702, section 3.4).

    Attributes:
        scope: what the likeliest thematic scope counts where the question clearly means it; 0 leaves scopes out.
        event: the same for an event type.
        entity: the same for a key entity type.
        vote: what the most voted-for snippet gains among equally dense ones, as a share of the greatest similarity;
            the nearest snippets vote for labels of the kinds of which the question names none. 0: no votes.
        step: densities at least this far apart decide; between closer ones similarity may.
        pool: how many of the densest snippets are looked at.
        voters: how many of the nearest snippets vote.
        reach: a scope whose log-odds are this far below the likeliest one's counts nothing; between, its share falls
            in a straight line.
        scope_vote: what a vote of the nearest snippet adds to its scope's log-odds, times two; by rank r it is
            ``scope_vote / (1 + r)``.
        clear: how much the question alone must favour one scope (0: none, 1: no doubt) for scopes to count whole.
        unclear: below this its labels are a guess, and only vote.
    """

    scope: float = 4.0
    event: float = 0.15
    entity: float = 0.15
    vote: float = 0.3
    step: float = 0.5
    pool: int = 200
    voters: int = 30
    reach: float = 6.0
    scope_vote: float = 2.4
    clear: float = 0.6
    unclear: float = 0.12


@dataclass(frozen=True, kw_only=True, slots=True)
class Strategy:
    """How candidates become one ranking.

    Attributes:
        signals: the retrievers that are asked; with more than one, their rankings are fused by reciprocal rank:
            ``Σ weight / (rrf_k + rank)`` (Cormack, Clarke and Büttcher, SIGIR 2009); one alone keeps its own score.
            ``late``, late interaction, finds nothing itself: it orders the ``pool`` best of what the others found.
            The dense one weighs less where the embedder does not know all of the query's words: by the known share.
        rrf_k: the constant of that fusion; the paper's 60 suits runs of a thousand documents, a conversation's short
            lists want the top to count more.
        neighbours: how much of their score steps pass on to the steps before and after them in the thread, by
            distance: the first number for the next step, the second for the one after; empty for none. In a
            conversation the answer often stands beside the words that the question shares. A signal alone is then
            scaled to 0..1 over its pool, so that what is passed on is comparable.
        spread_from: how many of the best candidates pass their score on.
        pool: how many candidates each signal gives.
        superseded: factor on the score of what is no longer believed.
        density: order by label density, and by the fused signals only among equals; None does without labels.
        learned: score candidates by trained weights (``ranker.py``); where there are none for the embedder, the ranking
            is that of :data:`FALLBACK`.
        operations: of the five operations of a learned ranking (``operations.py``), those that are on (True) or off (False)
            whatever the gate says.
        explore: how often a learned ranking tries another set of those operations that cost nothing, to learn from what
            is said of the hits.
        rerank: whether the cross-encoder reorders the best hits.
        full: whether a learned ranking may ask a model for the parts of a question, and for the order of the best.
        k: how many hits when not told; None takes the memory's own.
        token_budget: tokens that the hits may take together when not told.
    """

    name: str
    signals: Mapping[str, float]
    rrf_k: int = 10
    neighbours: tuple[float, ...] = ()
    spread_from: int = 30
    pool: int = 100
    superseded: float = 0.5
    density: LabelWeights | None = None
    learned: bool = False
    operations: Mapping[str, bool] = field(default_factory=dict)
    explore: float = 0.0
    rerank: bool = False
    full: bool = False
    k: int | None = None
    token_budget: int | None = None


_PLAIN = (
    Strategy(name="rrf", signals={"dense": 0.7, "bm25": 1.0, "late": 1.5}),
    Strategy(name="dense", signals={"dense": 1.0}),
    Strategy(name="bm25", signals={"bm25": 1.0}),
)
_NEIGHBOURS = (0.6, 0.3)
_LEARNED = Strategy(
    name="learned",
    signals={"dense": 1.0, "bm25": 1.0},
    pool=60,
    learned=True,
    # A recall without hits is for the caller to ask for; the gate's weight for it is told all the same.
    operations={"threshold_filtering": False},
)
_DENSITY = Strategy(name="label_density", signals=_PLAIN[0].signals, density=LabelWeights(), k=40, token_budget=4096)
_WITHOUT = {"scope": LabelWeights(scope=0), "event": LabelWeights(event=0), "entity": LabelWeights(entity=0)}

STRATEGIES: Mapping[str, Strategy] = {
    strategy.name: strategy
    for strategy in (
        *(
            strategy
            for plain in _PLAIN
            for strategy in (plain, replace(plain, name=f"{plain.name}_neighbours", neighbours=_NEIGHBOURS))
        ),
        _LEARNED,
        replace(_LEARNED, name="rerank", rerank=True),
        replace(_LEARNED, name="learned_full", full=True),
        _DENSITY,
        *(
            replace(_DENSITY, name=f"{_DENSITY.name}_without_{part}", density=weights)
            for part, weights in _WITHOUT.items()
        ),
    )
}
"""Every strategy by name: ``rrf``, ``dense`` and ``bm25``, each also with neighbouring steps; ``learned``,
``rerank``, which adds a cross-encoder, and ``learned_full``, which may ask a model; ``label_density`` (STITCH) and its ablations."""
FALLBACK = "rrf_neighbours"
"""What ``learned`` falls back to without weights that fit."""


def strategy_named(name: str) -> Strategy:
    """The preset of that name.

    Raises:
        InvalidInputError: for an unknown name, with the names there are.
    """
    if name not in STRATEGIES:
        raise InvalidInputError(f"strategy = {name!r} is unknown; use one of {', '.join(STRATEGIES)}")
    return STRATEGIES[name]
