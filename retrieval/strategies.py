"""Ranking strategies as data: named presets, one line each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from hexamem.errors import ConfigError, InvalidInputError
from hexamem.memory_types import Hit

__all__ = ["FALLBACK", "STRATEGIES", "LabelWeights", "Scorer", "Strategy", "strategies_with", "strategy_named"]

Scorer = Callable[[str, Sequence[Hit]], Sequence[float]]
"""A host's own ranking: a question and the candidates, best first → a score each, the higher the better."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LabelWeights:
    """How label density is counted (STITCH, arXiv 2601.10702, section 3.4).

    Attributes:
        scope: weight of the likeliest thematic scope if the question clearly names it; 0 leaves scopes out.
        event: the same for an event type.
        entity: the same for a key entity type.
        vote: the gain of the record with most votes among equally dense ones, as a share of the greatest similarity; the
            nearest records vote for their labels.
        step: the difference in density that decides regardless of similarity.
        voters: the number of the nearest records that vote.
        reach: a scope whose log-odds are this much below the likeliest has no weight; up to there its share falls
            linearly.
        scope_vote: the vote of the record at rank r adds ``scope_vote / (1 + r)`` to the log-odds of its scope.
        clear: how clearly the question must favour one scope (0: not at all, 1: no doubt) for scopes to have full weight.
        unclear: below this clearness the labels of the question only vote.
    """

    scope: float = 4.0
    event: float = 0.15
    entity: float = 0.15
    vote: float = 0.3
    step: float = 0.5
    voters: int = 30
    reach: float = 6.0
    scope_vote: float = 2.4
    clear: float = 0.6
    unclear: float = 0.12


@dataclass(frozen=True, kw_only=True, slots=True)
class Strategy:
    """How candidates are retrieved and ranked.

    Attributes:
        name: of the preset.
        signals: signal → weight. The rankings of several signals are fused by reciprocal rank, ``Σ weight / (rrf_k + rank)``
            (Cormack, Clarke and Büttcher, SIGIR 2009); a single one retains its scores. ``late``, late interaction, finds
            no candidates itself: it ranks the ``pool`` best of the others. The weight of ``dense`` is multiplied by the
            share of the query's words that the embedder knows.
        rrf_k: the constant of the fusion; the paper's 60 is for runs of a thousand documents, while for the short lists of
            a conversation the top should count more.
        neighbours: the shares of its score that a step passes on to the steps before and after it in the thread, by
            distance; empty for none. In a conversation the answer is often beside the words that the question shares. The
            scores of a single signal are then scaled to 0..1 over its pool.
        spread_from: the number of the best candidates that pass on scores.
        pool: the number of candidates from each signal.
        superseded: factor on the score of superseded items.
        density: rank the candidates of a learned ranking by label density, and by the fused signals among equals; None for no
            labels.
        learned: rank by trained weights (``ranker.py``); without weights for the embedder the ranking is :data:`FALLBACK`.
        operations: operations of a learned ranking (``operations.py``) that are always on (True) or off (False), regardless
            of the gate.
        rerank: whether the cross-encoder reorders the best hits.
        scorer: reorders the candidates; None for none.
        k: the default number of hits; None for that of the memory.
        token_budget: the default of the most tokens of all hits; None for that of the memory.
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
    rerank: bool = False
    scorer: Scorer | None = None
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
    # Only the caller can request a recall without hits; the gate's weight for it is still reported.
    operations={"threshold_filtering": False},
)
_DENSITY = Strategy(name="label_density", signals=_LEARNED.signals, density=LabelWeights(), k=40, token_budget=4096)
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
        _DENSITY,
        *(
            replace(_DENSITY, name=f"{_DENSITY.name}_without_{part}", density=weights)
            for part, weights in _WITHOUT.items()
        ),
    )
}
"""Every strategy by name: ``rrf``, ``dense`` and ``bm25``, each also with neighbouring steps; ``learned``
and ``rerank``, which adds a cross-encoder; ``label_density`` (STITCH) and its ablations."""
FALLBACK = "rrf_neighbours"
"""The ranking of ``learned`` without weights for the embedder."""


def strategies_with(rankings: Mapping[str, Scorer] | None) -> Mapping[str, Strategy]:
    """The presets, and a strategy for each ranking of a host's own, whose candidates are those of ``learned``.

    Raises:
        ConfigError: a name is taken by a preset or is no text, or a ranking cannot be called.
    """
    strategies = dict(STRATEGIES)
    for name, scorer in (rankings or {}).items():
        if not isinstance(name, str) or not name or name in STRATEGIES:
            raise ConfigError(f"rankings: {name!r} is no new name; the presets are {', '.join(STRATEGIES)}")
        if not callable(scorer):
            raise ConfigError(f"rankings[{name!r}] = {scorer!r}: pass a function from a question and hits to scores")
        strategies[name] = replace(_LEARNED, name=name, scorer=scorer)
    return strategies


def strategy_named(name: str, strategies: Mapping[str, Strategy] = STRATEGIES) -> Strategy:
    """The strategy of that name.

    Raises:
        InvalidInputError: for an unknown name, with the names there are.
    """
    if name not in strategies:
        raise InvalidInputError(f"strategy = {name!r} is unknown; use one of {', '.join(strategies)}")
    return strategies[name]
