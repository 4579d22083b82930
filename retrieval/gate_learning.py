"""Training of the gate: warm-up by the labels that cues give, then tuning on the reward of answers.

With five operations there are 32 configurations, and the reward of each is known for a training question. Under gates
that switch each operation independently the expected reward is a sum of 32 terms, and so is its gradient: nothing is
sampled, and nothing straight-through is needed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from hexamem.errors import InvalidInputError
from hexamem.retrieval.gates import SHAPE, gate_forward
from hexamem.retrieval.learning import AdamW
from hexamem.retrieval.operations import COSTS, NAMES, configurations
from hexamem.retrieval.ranker import USUAL
from hexamem.retrieval.signals.cues import operations_of
from hexamem.stores.embedders.base import FloatArray

__all__ = [
    "BITS", "POWERS", "GateExample", "GateSettings", "best_for_all", "expected_reward", "learn_gate", "net_rewards",
]  # fmt: skip

_Weights = dict[str, FloatArray]
_Numbers: TypeAlias = npt.NDArray[np.floating]
_Error: TypeAlias = Callable[[npt.NDArray[np.int64], FloatArray], FloatArray]
BITS: FloatArray = np.array([[number >> bit & 1 for bit in range(5)] for number in range(32)], np.float32)
"""Every configuration by its number as zeros and ones, ``(32, 5)``."""
POWERS = 1 << np.arange(5)
"""What the bits count: a row of zeros and ones times these is the number of its configuration."""
_SHARES = (1.0, 0.5, 0.25, 0.1, 0.05)
_FOLDS = 4
_FIRM = 2.0  # logit of a gate that is the same for every question
_COST: FloatArray = np.array([sum(COSTS[name] for name in one) for one in configurations()], np.float32)


@dataclass(frozen=True, kw_only=True, slots=True)
class GateSettings:
    """How the gate is trained.

    Attributes:
        warm_up, epochs: passes over the questions by the labels of cues, and on rewards; 0 leaves a stage out.
        rate, decay: AdamW's.
        cost: λ, what the whole recall over again is worth in reward. operations: μ, what an operation that is on is.
        projected, units: dimensions of the question's vector that the gate sees, and its hidden units.
    """

    warm_up: int = 30
    epochs: int = 60
    rate: float = 5e-3
    decay: float = 0.05
    cost: float = 0.005
    operations: float = 0.0005
    projected: int = 12
    units: int = 16
    batch: int = 64
    seed: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class GateExample:
    """One question: its vector ``(d,)``, cues ``(c,)``, shape of scores ``(s,)`` and the reward of each configuration ``(32,)``.

    ``group`` names its conversation.
    """

    vector: FloatArray
    cues: FloatArray
    shape: FloatArray
    rewards: FloatArray
    group: str = ""


class _Questions:
    """Some questions as arrays, a row each, with net rewards and the number of each conversation."""

    def __init__(self, examples: Sequence[GateExample], settings: GateSettings) -> None:
        self.inputs = tuple(
            np.stack([getattr(one, name) for one in examples]).astype(np.float32)
            for name in ("vector", "cues", "shape")
        )
        self.rewards = net_rewards(np.stack([one.rewards for one in examples]), settings)
        self.groups = [one.group for one in examples]

    def forward(self, weights: _Weights, rows: npt.NDArray[np.int64] | slice = slice(None)) -> tuple[FloatArray, ...]:
        return gate_forward(weights, *(one[rows] for one in self.inputs))

    def worth(self, weights: _Weights) -> npt.NDArray[np.float64]:
        """The mean net reward, in each conversation, of what the gate switches on."""
        number = (self.forward(weights)[2] >= 0).astype(np.int64) @ POWERS
        return _by_group(self.rewards[np.arange(len(number)), number][:, None], self.groups)[:, 0]


def net_rewards(rewards: FloatArray, settings: GateSettings) -> FloatArray:
    """Rewards ``(…, 32)`` less λ times the cost of each configuration and μ times the operations that it has on."""
    return np.asarray(rewards - settings.cost * _COST - settings.operations * BITS.sum(axis=1), np.float32)


def expected_reward(gates: _Numbers, rewards: _Numbers) -> tuple[_Numbers, _Numbers]:
    """The expected reward under independent gates, exactly, and its gradient.

    Args:
        gates: probabilities of the operations, ``(n, 5)``.
        rewards: of the configurations, ``(n, 32)``.

    Returns:
        Expected rewards ``(n,)``, and their slopes by the logits of the gates ``(n, 5)``.
    """
    on = gates[:, None, :]
    chances = np.where(BITS > 0, on, 1 - on).prod(axis=2)
    worth = chances * rewards
    return worth.sum(axis=1), worth @ BITS - gates * worth.sum(axis=1, keepdims=True)


def learn_gate(examples: Sequence[GateExample], settings: GateSettings) -> _Weights:
    """Train a gate: the tensors of ``RankingWeights`` whose names begin with ``operations_``.

    After the warm-up and the tuning it is settled how much the question may say: the logits become

        what pays over all questions + share · (what the network says of this one beyond its mean)

    with the largest share that on conversations left out changes nothing of what runs against share 0, one set of operations
    for all, or gains at least twice its standard error. The weights then tell the question, and what runs is what pays.
    Without tuning the gate is that of the warm-up.

    Raises:
        InvalidInputError: there are no examples.
    """
    if not examples:
        raise InvalidInputError("no questions to train the gate on")
    every = _Questions(examples, settings)
    now = _learned(every, settings)
    return _settled(now, every, _share_that_holds(examples, settings)) if settings.epochs else now


def best_for_all(rewards: FloatArray, groups: Sequence[str]) -> FloatArray:
    """The logits of gates that are the same for every question, ``(5,)``: plus or minus 2.

    It begins with the usual operations and switches one after the other, the one that gains most first, where the gain is
    at least twice its standard error over conversations: what pays on few of them is chance.

    Args:
        rewards: net ones, ``(n, 32)``. groups: the conversation of each question.
    """
    means = _by_group(rewards, groups)
    chosen = _number(USUAL)
    for _ in NAMES:
        worth = [_sure(means[:, chosen ^ bit] - means[:, chosen]) for bit in POWERS.tolist()]
        best = int(np.argmax(worth))
        if worth[best] <= 0:
            break
        chosen ^= 1 << best
    return np.asarray(np.where(BITS[chosen] > 0, _FIRM, -_FIRM), np.float32)


def _number(on: Collection[str]) -> int:
    return sum(1 << bit for bit, name in enumerate(NAMES) if name in on)


def _by_group(values: _Numbers, groups: Sequence[str]) -> npt.NDArray[np.float64]:
    """The mean of the rows of each conversation, in the order in which these come."""
    names = list(dict.fromkeys(groups))
    place = np.array([names.index(one) for one in groups])
    return np.stack([values[place == number].mean(axis=0, dtype=np.float64) for number in range(len(names))])


def _sure(gains: npt.NDArray[np.float64]) -> float:
    """The mean gain over conversations less twice its standard error; that of one conversation tells nothing."""
    if len(gains) < 2:
        return -math.inf
    return float(gains.mean() - 2 * gains.std(ddof=1) / math.sqrt(len(gains)))


def _share_that_holds(examples: Sequence[GateExample], settings: GateSettings) -> float:
    groups = list(dict.fromkeys(one.group for one in examples))
    folds = min(_FOLDS, len(groups))
    gained: dict[float, list[npt.NDArray[np.float64]]] = {share: [] for share in _SHARES}
    for fold in range(folds) if folds > 1 else ():
        held = set(groups[fold::folds])
        others = _Questions([one for one in examples if one.group not in held], settings)
        mine = _Questions([one for one in examples if one.group in held], settings)
        now = _learned(others, settings)
        plain = mine.worth(_settled(now, others, 0.0))
        for share, gains in gained.items():
            gains.append(mine.worth(_settled(now, others, share)) - plain)
    for share, gains in gained.items():
        if gains and (not (every := np.concatenate(gains)).any() or _sure(every) > 0):
            return share
    return _SHARES[-1]


def _settled(now: _Weights, questions: _Questions, share: float) -> _Weights:
    """The gate whose logits are those best for all questions, and a share of what the network says beyond its mean."""
    fixed = best_for_all(questions.rewards, questions.groups)
    logits = questions.forward(now)[2].mean(axis=0)
    return {
        **now,
        "operations_out": (share * now["operations_out"]).astype(np.float32),
        "operations_out_bias": (fixed + share * (now["operations_out_bias"] - logits)).astype(np.float32),
    }


def _learned(questions: _Questions, settings: GateSettings) -> _Weights:
    """The network after warm-up and tuning."""
    labels = np.array([list(operations_of(one).values()) for one in questions.inputs[1]], np.float32)
    rewards = questions.rewards
    # What all configurations share tells none from another, and the scale of the rest is that of a logit.
    centred = (rewards - rewards.mean(axis=1, keepdims=True)) / max(float(rewards.std(axis=1).mean()), 1e-4)

    def warm(chosen: npt.NDArray[np.int64], gates: FloatArray) -> FloatArray:
        return np.asarray(gates - labels[chosen], np.float32)

    def tune(chosen: npt.NDArray[np.int64], gates: FloatArray) -> FloatArray:
        return np.asarray(-expected_reward(gates, centred[chosen])[1], np.float32)

    random = np.random.default_rng(settings.seed)
    now = _begin(questions, settings, random)
    _climb(now, questions, warm, settings.warm_up, settings, random)
    _climb(now, questions, tune, settings.epochs, settings, random)
    return now


def _begin(questions: _Questions, settings: GateSettings, random: np.random.Generator) -> _Weights:
    vectors, cues, shapes = questions.inputs
    inner = settings.projected + cues.shape[1] + len(SHAPE)

    def uniform(fan: int, *shape: int) -> FloatArray:
        return (random.uniform(-1, 1, shape) / math.sqrt(fan)).astype(np.float32)

    return {
        "operations_embed": uniform(4, vectors.shape[1], settings.projected),
        "operations_in": uniform(inner, inner, settings.units),
        "operations_bias": np.zeros(settings.units, np.float32),
        "operations_out": uniform(settings.units, settings.units, len(NAMES)),
        "operations_out_bias": np.zeros(len(NAMES), np.float32),
        "operations_shape": np.stack([shapes.mean(axis=0), shapes.std(axis=0) + 1e-3]).astype(np.float32),
    }


def _climb(
    now: _Weights,
    questions: _Questions,
    error_of: _Error,
    epochs: int,
    settings: GateSettings,
    random: np.random.Generator,
) -> None:
    """AdamW on the weights, in place; the shape's scale stays.

    Args:
        error_of: (rows, gates) → slopes of the loss by the logits, ``(n, 5)``.
    """
    count = len(questions.groups)
    climbing = AdamW(now, settings.decay, {"operations_embed": 0.0, "operations_in": 0.0, "operations_out": 0.0})
    steps = max(1, epochs * -(-count // settings.batch))
    for _ in range(epochs):
        mixed = random.permutation(count)
        for start in range(0, count, settings.batch):
            chosen = mixed[start : start + settings.batch]
            seen, reached, logits = questions.forward(now, chosen)
            error = error_of(chosen, np.asarray(1 / (1 + np.exp(-logits)), np.float32)) / np.float32(len(chosen))
            inner = (error @ now["operations_out"].T) * (1 - reached**2)
            back = (inner @ now["operations_in"].T)[:, : settings.projected]
            back = back * (1 - seen[:, : settings.projected] ** 2)
            slopes = {
                "operations_embed": questions.inputs[0][chosen].T @ back,
                "operations_in": seen.T @ inner,
                "operations_bias": inner.sum(axis=0),
                "operations_out": reached.T @ error,
                "operations_out_bias": error.sum(axis=0),
            }
            climbing.step(slopes, settings.rate * (1 + math.cos(math.pi * climbing.taken / steps)) / 2)
