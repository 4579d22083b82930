"""Trains the learned ranking: listwise, with evidence as the target, in plain NumPy.

The loss of a question is the cross-entropy between the softmax of its candidates' scores and its evidence (ListNet's
top-one form; Cao et al., ICML 2007). AdamW (Loshchilov and Hutter, ICLR 2019) with a learning rate that rises and falls
once, and dropout on inputs and hidden units. The weights start at reciprocal rank fusion and decay towards it, and each
step leaves out whole signals, so that questions unlike the training data are ranked about as well as without training.
Runs from several seeds are combined exactly into one scorer: linear parts are averaged, gates and hidden units are
concatenated.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hexamem.errors import InvalidInputError
from hexamem.models.sigmoid import sigmoid
from hexamem.retrieval.ranker import FUSION, large_share, standardised
from hexamem.retrieval.ranking_weights import RankingWeights
from hexamem.retrieval.signals.features import FEATURES, SIGNAL_OF
from hexamem.stores.embedders.base import FloatArray

__all__ = ["Example", "LearningSettings", "learn_answerable", "learn_blend", "learn_ranking"]

_Parameters = dict[str, FloatArray]


@dataclass(frozen=True, kw_only=True, slots=True)
class LearningSettings:
    """How the ranking is trained.

    Attributes:
        epochs: passes over the questions.
        rate: the highest learning rate.
        decay: AdamW's weight decay.
        drop: share of inputs and hidden units that are left out at each step.
        drop_signals: share of signals that are left out for a question, except the fused ones.
        prior: weight of the fused ranking at the start.
        hidden: number of hidden units.
        gate: number of gate units.
        batch: questions in one step.
        several: a question is weighted by its number of evidence candidates to this power; 0 for equal weights.
        runs: number of runs, each with another seed.
        seed: the seed of the first run, less one.
    """

    epochs: int = 8
    rate: float = 1e-3
    decay: float = 1e-2
    drop: float = 0.2
    drop_signals: float = 0.4
    prior: float = 1.0
    hidden: int = 32
    gate: int = 16
    batch: int = 8
    several: float = 0.5
    runs: int = 3
    seed: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Example:
    """One question of the training data.

    Attributes:
        values: the features of its candidates, ``(n, f)``.
        cues: its cues, ``(c,)``.
        evidence: which candidates are evidence, ``(n,)``.
        share: the weight of each candidate that is evidence, ``(n,)``; None for 1.
        weight: the weight of the question.
    """

    values: FloatArray
    cues: FloatArray
    evidence: npt.NDArray[np.bool_]
    share: FloatArray | None = None
    weight: float = 1.0

    @property
    def pieces(self) -> FloatArray:
        """The weight of each candidate as evidence, ``(n,)``; 0 for no evidence."""
        return np.asarray(self.evidence * (1.0 if self.share is None else self.share), np.float32)


class _AdamW:
    """AdamW (Loshchilov and Hutter, ICLR 2019) on arrays by name, in place; ``linear`` decays towards its start."""

    def __init__(self, weights: _Parameters, decay: float) -> None:
        self._weights, self._decay, self._towards = weights, decay, {"linear": weights["linear"]}
        self._first = {name: np.zeros_like(array) for name, array in weights.items()}
        self._second = {name: np.zeros_like(array) for name, array in weights.items()}
        self.taken = 0

    def step(self, slopes: _Parameters, rate: float) -> None:
        """One step down the slopes of the loss."""
        self.taken += 1
        for name, slope in slopes.items():
            now, first, second = self._weights[name], self._first[name], self._second[name]
            first += 0.1 * (slope - first)
            second += 0.001 * (slope**2 - second)
            step = first / (1 - 0.9**self.taken) / (np.sqrt(second / (1 - 0.999**self.taken)) + 1e-8)
            drawn = self._decay * (now - self._towards.get(name, 0.0))
            self._weights[name] = (now - rate * drawn - rate * step).astype(np.float32)


def learn_ranking(
    examples: Sequence[Example],
    settings: LearningSettings,
    *,
    fingerprint: str,
    card: Mapping[str, object] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> RankingWeights:
    """Train weights.

    Args:
        examples: questions; those without evidence among the candidates are ignored.
        fingerprint: the fingerprint of the embedder of the features.
        card: a description of the training data.
        progress: called as ``progress(done, total)`` after every epoch.

    Raises:
        InvalidInputError: no question has a candidate that is evidence.
    """
    useful = [example for example in examples if example.evidence.any() and not example.evidence.all()]
    if not useful:
        raise InvalidInputError(f"none of the {len(examples)} question(s) has evidence among its candidates")
    deviation = np.asarray(np.mean([example.values.std(axis=0) for example in useful], axis=0), np.float32)
    inputs = [(standardised(example.values, deviation), example.pieces / example.pieces.sum()) for example in useful]
    cues = np.stack([example.cues for example in useful])
    weights = np.array([example.weight * example.pieces.sum() ** settings.several for example in useful], np.float32)
    weights /= weights.mean()
    total = settings.runs * settings.epochs
    runs = []
    for run in range(settings.runs):
        done = None if progress is None else (lambda epoch, run=run: progress(run * settings.epochs + epoch, total))
        runs.append(_run(inputs, cues, weights, settings, np.random.default_rng(settings.seed + 1 + run), done))
    return RankingWeights(deviation=deviation, **_joined(runs), fingerprint=fingerprint, card=dict(card or {}))


def learn_answerable(signs: FloatArray, answered: npt.NDArray[np.bool_], *, penalty: float = 1.0) -> FloatArray:
    """Logistic regression of whether memory contains an answer.

    Args:
        signs: ``(n, s)``, of questions on which the ranking was not trained.
        answered: whether memory contains the answer, ``(n,)``.
        penalty: the penalty on squared slopes.

    Returns:
        Means, deviations, slopes and the intercept, concatenated, ``(3s + 1,)``; empty where all questions have the same
        answer.
    """
    if answered.all() or not answered.any():
        return np.empty(0, np.float32)
    mean, deviation = signs.mean(axis=0), signs.std(axis=0) + 1e-6
    x = np.clip((signs - mean) / deviation, -5, 5).astype(np.float64)
    return np.concatenate([mean, deviation, _logistic_regression(x, answered, penalty)]).astype(np.float32)


def _logistic_regression(
    x: npt.NDArray[np.float64], y: npt.NDArray[np.bool_], penalty: float
) -> npt.NDArray[np.float64]:
    """Slopes and, last, the intercept ``(d + 1,)`` by Newton's method with halved steps; the intercept has no penalty."""
    x = np.column_stack([x, np.ones(len(x))])
    target, ridge = y.astype(np.float64), np.full(x.shape[1], penalty)
    ridge[-1] = 0.0

    def loss(theta: npt.NDArray[np.float64]) -> float:
        z = x @ theta
        return float((np.logaddexp(0, z) - target * z).sum() + (ridge * theta**2).sum() / 2)

    theta = np.zeros(x.shape[1])
    now = loss(theta)
    for _ in range(100):
        p = sigmoid(x @ theta)
        gradient = x.T @ (p - target) + ridge * theta
        curvature = (x * (p * (1 - p))[:, None]).T @ x + np.diag(ridge + 1e-9)
        step = np.linalg.solve(curvature, gradient)
        size = 1.0
        while (then := loss(theta - size * step)) > now and size > 1e-6:
            size /= 2
        if now - then <= 1e-10 * max(1.0, abs(now)):
            break
        theta, now = theta - size * step, then
    return theta


def learn_blend(
    large: npt.NDArray[np.float64],
    small: npt.NDArray[np.float64],
    answered: npt.NDArray[np.bool_],
    candidates: npt.NDArray[np.float64],
    weights: npt.NDArray[np.float64],
) -> FloatArray:
    """Fit the blend of the regressions of large and small memories by the number of candidates, ``(2,)``.

    Args:
        large: logits by the regression of large memories, ``(n,)``.
        small: logits by the regression of small memories, ``(n,)``.
        answered: whether memory contains the answer, ``(n,)``.
        candidates: the number of candidate steps, ``(n,)``.
        weights: the weights of the questions, ``(n,)``.

    Returns:
        The logarithm of the number at which both count half, and the steepness of the change (``large_share``).
    """
    y = answered.astype(np.float64)

    def loss(middle: float, steepness: float) -> float:
        share = large_share(candidates, np.array([middle, math.exp(steepness)], np.float32))
        z = share * large + (1 - share) * small
        return float((weights * (np.logaddexp(0, z) - y * z)).sum())

    best, width = _BLEND, np.array([3.0, 2.0])
    while width[0] > 1e-3:
        grid = [best + width * offset for offset in _AROUND]
        best = min((point for point in grid if point[1] <= _STEEPEST), key=lambda point: loss(*point))
        width = width / 2
    return np.array([best[0], math.exp(best[1])], np.float32)


_BLEND, _STEEPEST = np.array([math.log(90.0), 1.0]), 3.0
_AROUND = [np.array([x, y]) / 4 for x in range(-4, 5) for y in range(-4, 5)]
"""The start of `learn_blend`, and the grid that it searches, halving its width each time."""
_SIGNALS = tuple(dict.fromkeys(SIGNAL_OF.values()))
_SIGNAL_OF_COLUMN = np.array([_SIGNALS.index(SIGNAL_OF[name]) for name in FEATURES])
_ALWAYS = _SIGNALS.index("fused")


def _run(
    inputs: Sequence[tuple[FloatArray, FloatArray]],
    cues: FloatArray,
    weights: FloatArray,
    settings: LearningSettings,
    random: np.random.Generator,
    progress: Callable[[int], None] | None,
) -> _Parameters:
    width, asked = inputs[0][0].shape[1], cues.shape[1]

    def uniform(inner: int, *shape: int) -> FloatArray:
        return (random.uniform(-1, 1, shape) / math.sqrt(inner)).astype(np.float32)

    now: _Parameters = {
        "linear": settings.prior * FUSION,
        "gate_in": uniform(asked, asked, settings.gate),
        "gate_bias": uniform(asked, settings.gate),
        "gate_out": np.zeros((settings.gate, width), np.float32),
        "hidden": uniform(width + asked, width, settings.hidden),
        "hidden_cues": uniform(width + asked, asked, settings.hidden),
        "hidden_bias": uniform(width + asked, settings.hidden),
        "hidden_out": uniform(settings.hidden, settings.hidden),
    }
    optimizer = _AdamW(now, settings.decay)
    steps = settings.epochs * -(-len(inputs) // settings.batch)
    for epoch in range(settings.epochs):
        order = random.permutation(len(inputs))
        for start in range(0, len(order), settings.batch):
            chosen = order[start : start + settings.batch]
            batch = [(_without_signals(inputs[i][0], settings.drop_signals, random), inputs[i][1]) for i in chosen]
            slopes = _slopes(now, batch, cues[chosen], weights[chosen], settings.drop, random)
            optimizer.step(slopes, settings.rate * _rate_share(optimizer.taken / max(1, steps - 1)))
        if progress is not None:
            progress(epoch + 1)
    return now


def _without_signals(x: FloatArray, share: float, random: np.random.Generator) -> FloatArray:
    """The features with those of some signals set to 0."""
    if not share:
        return x
    included = random.random(len(_SIGNALS)) >= share
    included[_ALWAYS] = True
    return np.asarray(x * included[_SIGNAL_OF_COLUMN], np.float32)


def _rate_share(share: float) -> float:
    """The learning rate after a share of the training, as a share of the highest: it rises for 30% and falls to 0."""
    if share < 0.3:
        return 0.04 + 0.96 * (1 - math.cos(math.pi * share / 0.3)) / 2
    return (1 + math.cos(math.pi * (share - 0.3) / 0.7)) / 2


def _slopes(
    now: _Parameters,
    batch: Sequence[tuple[FloatArray, FloatArray]],
    cues: FloatArray,
    weights: FloatArray,
    drop: float,
    random: np.random.Generator,
) -> _Parameters:
    """The gradient of the weighted mean loss of a batch."""
    lengths = np.array([len(target) for _, target in batch])
    starts = np.cumsum(lengths) - lengths
    which = np.repeat(np.arange(len(batch)), lengths)
    x = np.concatenate([values for values, _ in batch])
    target = np.concatenate([pieces for _, pieces in batch])
    if drop:
        x = x * ((random.random(x.shape, np.float32) >= drop) / np.float32(1 - drop))
    gate = np.tanh(cues @ now["gate_in"] + now["gate_bias"])
    linear = now["linear"] + gate @ now["gate_out"]
    reached = x @ now["hidden"] + (cues @ now["hidden_cues"] + now["hidden_bias"])[which]
    lit = (reached > 0).astype(np.float32)
    if drop:
        lit *= (random.random(lit.shape, np.float32) >= drop) / np.float32(1 - drop)
    hidden = reached * lit
    scores = np.einsum("ij,ij->i", x, linear[which]) + hidden @ now["hidden_out"]
    scores -= np.maximum.reduceat(scores, starts)[which]
    shares = np.exp(scores)
    shares /= np.add.reduceat(shares, starts)[which]
    error = ((shares - target) * (weights / np.float32(len(batch)))[which]).astype(np.float32)
    by_question = np.add.reduceat(x * error[:, None], starts, axis=0)
    inner = (by_question @ now["gate_out"].T) * (1 - gate**2)
    back = error[:, None] * now["hidden_out"] * lit
    back_by_question = np.add.reduceat(back, starts, axis=0)
    return {
        "linear": by_question.sum(axis=0),
        "gate_in": cues.T @ inner,
        "gate_bias": inner.sum(axis=0),
        "gate_out": gate.T @ by_question,
        "hidden": x.T @ back,
        "hidden_cues": cues.T @ back_by_question,
        "hidden_bias": back_by_question.sum(axis=0),
        "hidden_out": hidden.T @ error,
    }


def _joined(runs: Sequence[_Parameters]) -> dict[str, FloatArray]:
    """The parameters of one scorer whose scores are the means of those of several."""
    share = np.float32(1 / len(runs))
    return {
        "linear": np.asarray(sum(run["linear"] for run in runs) * share, np.float32),
        **{name: np.concatenate([run[name] for run in runs], axis=1) for name in ("gate_in", "hidden", "hidden_cues")},
        **{name: np.concatenate([run[name] for run in runs]) for name in ("gate_bias", "hidden_bias")},
        **{name: np.concatenate([run[name] * share for run in runs]) for name in ("gate_out", "hidden_out")},
    }
