"""Training of the gate: warm-up by the labels that rules give, then tuning on the reward of answers.

With five operations there are 32 configurations, and the reward of each is known for a training question. Under gates
that switch each operation independently the expected reward is a sum of 32 terms, and so is its gradient: nothing is
sampled, and nothing straight-through is needed. Where a reward is seen only for what was done, at run time, the
gradient is REINFORCE's with a leave-one-out baseline (Kool, van Hoof and Welling, 2019).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from hexamem.errors import InvalidInputError
from hexamem.retrieval.gates import SHAPE, gate_inputs
from hexamem.retrieval.operations import COSTS, NAMES, USUAL, configurations
from hexamem.retrieval.signals.cues import operations_of
from hexamem.stores.embedders.base import FloatArray

__all__ = [
    "BITS", "POWERS", "GateExample", "GateSettings", "best_for_all", "bits_of", "expected_reward", "learn_gate",
    "leave_one_out_slopes", "net_rewards",
]  # fmt: skip

_Weights = dict[str, FloatArray]
_Numbers: TypeAlias = npt.NDArray[np.floating]
BITS: FloatArray = np.array([[number >> bit & 1 for bit in range(5)] for number in range(32)], np.float32)
"""Every configuration by its number as zeros and ones, ``(32, 5)``."""
_SHARES = (1.0, 0.5, 0.25, 0.1, 0.05)
_FOLDS = 4
_FIRM = 2.0  # logit of a gate that is the same for every question
POWERS = 1 << np.arange(5)
"""What the bits count: a row of zeros and ones times these is the number of its configuration."""
_COST: FloatArray = np.array([sum(COSTS[name] for name in one) for one in configurations()], np.float32)


@dataclass(frozen=True, kw_only=True, slots=True)
class GateSettings:
    """How the gate is trained.

    Attributes:
        warm_up, epochs: passes over the questions by the labels of rules, and on rewards; 0 leaves a stage out.
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

    ``rewards`` is None where none are known: then it serves the warm-up alone. ``group`` names its conversation.
    """

    vector: FloatArray
    cues: FloatArray
    shape: FloatArray
    rewards: FloatArray | None = None
    group: str = ""


def bits_of(on: Collection[str]) -> FloatArray:
    """A configuration as zeros and ones, ``(5,)``."""
    return np.array([name in on for name in NAMES], np.float32)


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


def leave_one_out_slopes(
    gates: FloatArray,
    chosen: FloatArray,
    rewards: FloatArray,
    propensities: FloatArray | None = None,
    *,
    largest: float = 10.0,
) -> FloatArray:
    """REINFORCE: the slopes of the expected reward by the logits, from what was tried alone, ``(n, 5)``.

    The baseline of each try is the mean reward of the others, so that it depends on none of its own and biases nothing.

    Args:
        gates: the probabilities now, ``(n, 5)``. chosen: the operations that were on, zeros and ones, ``(n, 5)``.
        rewards: what was seen, ``(n,)``.
        propensities: with which probability the configuration was chosen then, ``(n,)``; None where it was chosen
            by these gates. The weight ``now / then`` of a try is at most ``largest``.

    Raises:
        InvalidInputError: fewer than two tries.
    """
    count = len(rewards)
    if count < 2:
        raise InvalidInputError(f"{count} reward(s) seen; a baseline that leaves one out takes at least 2")
    baseline = (rewards.sum() - rewards) / (count - 1)
    weight = np.ones(count, np.float32)
    if propensities is not None:
        now = np.where(chosen > 0, gates, 1 - gates).prod(axis=1)
        weight = np.minimum(now / np.maximum(propensities, 1e-6), largest)
    return np.asarray((weight * (rewards - baseline))[:, None] * (chosen - gates) / count, np.float32)


def learn_gate(examples: Sequence[GateExample], settings: GateSettings) -> _Weights:
    """Train a gate: the tensors of ``RankingWeights`` whose names begin with ``operations_``.

    After the warm-up and the tuning it is settled how much the question may say: the logits become

        what pays over all questions + share · (what the network says of this one beyond its mean)

    with the largest share that on conversations left out changes nothing of what runs against share 0, one set of operations
    for all, or gains at least twice its standard error. The weights then tell the question, and what runs is what pays.
    Without rewards the gate is that of the warm-up.

    Raises:
        InvalidInputError: there are no examples.
    """
    if not examples:
        raise InvalidInputError("no questions to train the gate on")
    now = _learned(examples, settings)
    if not settings.epochs or not any(one.rewards is not None for one in examples):
        return now
    share = _share_that_holds([one for one in examples if one.rewards is not None], settings)
    return _settled(now, examples, settings, share)


def best_for_all(rewards: FloatArray, groups: Sequence[str]) -> FloatArray:
    """The logits of gates that are the same for every question, ``(5,)``: plus or minus 2.

    It begins with the usual operations and switches one after the other, the one that gains most first, where the gain is
    at least twice its standard error over conversations: what pays on few of them is chance.

    Args:
        rewards: net ones, ``(n, 32)``. groups: the conversation of each question.
    """
    names = list(dict.fromkeys(groups))
    place = np.array([names.index(one) for one in groups])
    sums = np.zeros((len(names), rewards.shape[1]))
    np.add.at(sums, place, rewards)
    means = sums / np.bincount(place)[:, None]
    chosen = int(bits_of(USUAL).astype(np.int64) @ POWERS)
    for _ in NAMES:
        gains = [means[:, chosen ^ int(bit)] - means[:, chosen] for bit in POWERS]
        worth = [_sure(one) for one in gains]
        best = int(np.argmax(worth))
        if worth[best] <= 0:
            break
        chosen ^= int(POWERS[best])
    return np.asarray(np.where(BITS[chosen] > 0, _FIRM, -_FIRM), np.float32)


def _sure(gains: npt.NDArray[np.float64]) -> float:
    """The mean gain over conversations less twice its standard error; that of one conversation tells nothing."""
    if len(gains) < 2:
        return -math.inf
    return float(gains.mean() - 2 * gains.std(ddof=1) / math.sqrt(len(gains)))


def _share_that_holds(examples: Sequence[GateExample], settings: GateSettings) -> float:
    groups = list(dict.fromkeys(one.group for one in examples))
    folds = min(_FOLDS, len(groups))
    if folds < 2:
        return _SHARES[-1]
    gained: dict[float, list[float]] = {share: [] for share in _SHARES}
    for fold in range(folds):
        held = groups[fold::folds]
        others = [one for one in examples if one.group not in held]
        now = _learned(others, settings)
        gates = {share: _settled(now, others, settings, share) for share in (0.0, *_SHARES)}
        for group in held:
            mine = [one for one in examples if one.group == group]
            plain = _worth(gates[0.0], mine, settings)
            for share in _SHARES:
                gained[share].append(_worth(gates[share], mine, settings) - plain)
    told = {share: np.array(gains) for share, gains in gained.items()}
    return next((share for share, gains in told.items() if not gains.any() or _sure(gains) > 0), _SHARES[-1])


def _settled(now: _Weights, examples: Sequence[GateExample], settings: GateSettings, share: float) -> _Weights:
    """The gate whose logits are those best for all questions, and a share of what the network says beyond its mean."""
    rewarded = [one for one in examples if one.rewards is not None]
    rewards = net_rewards(np.stack([one.rewards for one in rewarded if one.rewards is not None]), settings)
    fixed = best_for_all(rewards, [one.group for one in rewarded])
    logits = _forward(now, *_inputs(examples))[2].mean(axis=0)
    return {
        **now,
        "operations_out": (share * now["operations_out"]).astype(np.float32),
        "operations_out_bias": (fixed + share * (now["operations_out_bias"] - logits)).astype(np.float32),
    }


def _worth(now: _Weights, examples: Sequence[GateExample], settings: GateSettings) -> float:
    """The mean net reward of what the gate would switch on."""
    on = (_forward(now, *_inputs(examples))[2] >= 0).astype(np.int64)
    number = on @ POWERS
    rewards = net_rewards(np.stack([one.rewards for one in examples if one.rewards is not None]), settings)
    return float(rewards[np.arange(len(examples)), number].mean())


def _inputs(examples: Sequence[GateExample]) -> tuple[FloatArray, FloatArray, FloatArray]:
    return (
        np.stack([one.vector for one in examples]).astype(np.float32),
        np.stack([one.cues for one in examples]).astype(np.float32),
        np.stack([one.shape for one in examples]).astype(np.float32),
    )


def _learned(examples: Sequence[GateExample], settings: GateSettings) -> _Weights:
    """The network after warm-up and tuning."""
    vectors, cues, shapes = _inputs(examples)
    labels = np.array([list(operations_of(one.cues).values()) for one in examples], np.float32)
    random = np.random.default_rng(settings.seed)
    now = _begin(vectors.shape[1], cues.shape[1], shapes, settings, random)
    every = np.arange(len(examples))

    def warm(chosen: npt.NDArray[np.int64], gates: FloatArray) -> FloatArray:
        return np.asarray(gates - labels[chosen], np.float32)

    _climb(now, (vectors, cues, shapes), every, warm, settings.warm_up, settings, random)
    rewarded = np.array([index for index, one in enumerate(examples) if one.rewards is not None], np.int64)
    if not len(rewarded) or not settings.epochs:
        return now
    rewards = np.zeros((len(examples), 32), np.float32)
    for index in rewarded:
        given = examples[index].rewards
        assert given is not None
        rewards[index] = net_rewards(given, settings)
    # What all configurations share tells none from another, and the scale of the rest is that of a logit.
    centred = (rewards - rewards.mean(axis=1, keepdims=True)) / max(float(rewards[rewarded].std(axis=1).mean()), 1e-4)

    def tune(chosen: npt.NDArray[np.int64], gates: FloatArray) -> FloatArray:
        return np.asarray(-expected_reward(gates, centred[chosen])[1], np.float32)

    _climb(now, (vectors, cues, shapes), rewarded, tune, settings.epochs, settings, random)
    return now


def _begin(
    dimension: int, cues: int, shapes: FloatArray, settings: GateSettings, random: np.random.Generator
) -> _Weights:
    inner = settings.projected + cues + len(SHAPE)

    def uniform(fan: int, *shape: int) -> FloatArray:
        return (random.uniform(-1, 1, shape) / math.sqrt(fan)).astype(np.float32)

    return {
        "operations_embed": uniform(4, dimension, settings.projected),
        "operations_in": uniform(inner, inner, settings.units),
        "operations_bias": np.zeros(settings.units, np.float32),
        "operations_out": uniform(settings.units, settings.units, len(NAMES)),
        "operations_out_bias": np.zeros(len(NAMES), np.float32),
        "operations_shape": np.stack([shapes.mean(axis=0), shapes.std(axis=0) + 1e-3]).astype(np.float32),
    }


def _forward(
    now: Mapping[str, FloatArray], vectors: FloatArray, cues: FloatArray, shapes: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    seen = gate_inputs(now, vectors, cues, shapes)
    reached = np.tanh(seen @ now["operations_in"] + now["operations_bias"])
    return seen, reached, reached @ now["operations_out"] + now["operations_out_bias"]


def _climb(
    now: _Weights,
    data: tuple[FloatArray, FloatArray, FloatArray],
    rows: npt.NDArray[np.int64],
    error_of: Callable[[npt.NDArray[np.int64], FloatArray], FloatArray],
    epochs: int,
    settings: GateSettings,
    random: np.random.Generator,
) -> None:
    """AdamW on the weights, in place; the last of them, the shape's scale, stays.

    Args:
        error_of: (rows, gates) → slopes of the loss by the logits, ``(n, 5)``.
    """
    vectors, cues, shapes = data
    names = [name for name in now if name != "operations_shape"]
    first = {name: np.zeros_like(now[name]) for name in names}
    second = {name: np.zeros_like(now[name]) for name in names}
    steps = max(1, epochs * -(-len(rows) // settings.batch))
    taken = 0
    for _ in range(epochs):
        mixed = random.permutation(rows)
        for start in range(0, len(mixed), settings.batch):
            chosen = mixed[start : start + settings.batch]
            seen, reached, logits = _forward(now, vectors[chosen], cues[chosen], shapes[chosen])
            error = error_of(chosen, np.asarray(1 / (1 + np.exp(-logits)), np.float32)) / np.float32(len(chosen))
            inner = (error @ now["operations_out"].T) * (1 - reached**2)
            back = (inner @ now["operations_in"].T)[:, : settings.projected]
            back = back * (1 - seen[:, : settings.projected] ** 2)
            slopes = {
                "operations_embed": vectors[chosen].T @ back,
                "operations_in": seen.T @ inner,
                "operations_bias": inner.sum(axis=0),
                "operations_out": reached.T @ error,
                "operations_out_bias": error.sum(axis=0),
            }
            rate = settings.rate * (1 + math.cos(math.pi * taken / steps)) / 2
            taken += 1
            for name, slope in slopes.items():
                first[name] += 0.1 * (slope - first[name])
                second[name] += 0.001 * (slope**2 - second[name])
                step = first[name] / (1 - 0.9**taken) / (np.sqrt(second[name] / (1 - 0.999**taken)) + 1e-8)
                kept = 1 - rate * settings.decay * (not name.endswith("bias"))
                now[name] = (now[name] * kept - rate * step).astype(np.float32)
