"""What a user's own feedback teaches of the operations: small changes of the gate, kept only where they lose nothing.

Each recall with feedback is asked again of memory as it is now, under every set of the operations that cost nothing; what
it would have shown first of what helped, less what hurt, is the reward of that set. Learned is one number for each such
operation, an offset of its logit. It is taken only if on recalls left out of learning it gains on the weights that ship,
and if what was seen where recalls tried other operations (``Settings.explore``), by the probability with which each was
tried, does not speak against it; else the user keeps these.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from hexamem.retrieval.gate_learning import BITS, POWERS, expected_reward
from hexamem.retrieval.operations import FREE, NAMES, configurations
from hexamem.stores.embedders.base import FloatArray

__all__ = ["FeedbackExample", "RankingAdjustment", "inverse_propensity", "learn_offsets", "verdict_reward"]

_FREE = np.array([name in FREE and name != "threshold_filtering" for name in NAMES])
"""Operations whose offsets are learned. Verdicts on hits tell nothing of whether there should have been any."""
_LEAST = 12
"""Of fewer recalls with feedback nothing is learned."""
_FOLDS = 4  # parts of the recalls, each of which is left out of learning once
_GAIN = 0.002  # what the offsets must gain there for anything to change
_MARGIN = 0.01  # how much reward they may lose in what was tried, from -1 to 1
_RATE, _STEPS = 0.2, 200  # of the ascent
_PULL, _LARGEST = 0.02, 4.0  # how strongly offsets are drawn to 0, and what one may be


@dataclass(frozen=True, kw_only=True, slots=True)
class FeedbackExample:
    """One recall with feedback.

    Attributes:
        logits: of the gate as it ships, ``(5,)``. rewards: of the configurations, asked again, ``(32,)``.
        on: what ran then; None where it was not noted. chance: with which probability. seen: the reward of what was shown.
    """

    logits: FloatArray
    rewards: FloatArray
    on: frozenset[str] | None = None
    chance: float = 1.0
    seen: float = 0.0


@dataclass(frozen=True, kw_only=True, slots=True)
class RankingAdjustment:
    """What learning from a user's feedback came to.

    Attributes:
        accepted: whether the user's ranking changed; ``reason`` says why, or why not.
        recalls, verdicts: how many of them there were.
        shipped, learned: mean reward of recalls left out of learning with the weights as they ship, and as learned; None
            where nothing was learned.
        tried: how many recalls had tried other operations; ``shipped_tried`` and ``learned_tried`` are the mean rewards
            that these tell of, by inverse propensity; None where they tell nothing.
        offsets: operation → what is added to its logit.
    """

    accepted: bool
    reason: str
    recalls: int = 0
    verdicts: int = 0
    shipped: float | None = None
    learned: float | None = None
    tried: int = 0
    shipped_tried: float | None = None
    learned_tried: float | None = None
    offsets: Mapping[str, float] = field(default_factory=dict)


def verdict_reward(ids: Sequence[str], helped: Collection[str], hurt: Collection[str], k: int) -> float:
    """How well a ranking shows what helped first and not what hurt, from -1 to 1: nDCG of the former less that of the latter."""

    def gain(wanted: Collection[str]) -> float:
        if not wanted:
            return 0.0
        found = sum(1 / math.log2(place + 2) for place, one in enumerate(ids[:k]) if one in wanted)
        return found / sum(1 / math.log2(place + 2) for place in range(min(k, len(wanted))))

    return gain(helped) - gain(hurt)


def inverse_propensity(examples: Sequence[FeedbackExample], offsets: FloatArray) -> float | None:
    """The mean reward of gates with some offsets by what was tried alone (self-normalised; Swaminathan and Joachims, 2015).

    None where no recall tried what these gates would do.
    """
    weights, total = 0.0, 0.0
    every = configurations()
    for one in examples:
        if one.on is not None and one.chance < 1 and _free_part(one.on) == _free_part(every[_switched(one, offsets)]):
            weights += 1 / one.chance
            total += one.seen / one.chance
    return total / weights if weights else None


def learn_offsets(examples: Sequence[FeedbackExample], verdicts: int = 0) -> RankingAdjustment:
    """Learn the offsets of one user's gate, oldest recall first; accepted only where they lose nothing."""
    count = len(examples)
    tried = [one for one in examples if one.on is not None and one.chance < 1]
    if count < _LEAST:
        reason = f"{count} recall(s) have feedback; it takes at least {_LEAST}"
        return RankingAdjustment(accepted=False, reason=reason, recalls=count, verdicts=verdicts, tried=len(tried))
    none = np.zeros(len(NAMES), np.float32)
    shipped, learned = [], []
    for fold in range(_FOLDS):
        held = examples[fold::_FOLDS]
        offsets = _climbed([one for place, one in enumerate(examples) if place % _FOLDS != fold])
        shipped += [_reward(one, none) for one in held]
        learned += [_reward(one, offsets) for one in held]
    before, after = float(np.mean(shipped)), float(np.mean(learned))
    offsets = _climbed(examples)
    before_tried, after_tried = inverse_propensity(tried, none), inverse_propensity(tried, offsets)
    gains = after >= before + _GAIN
    loses = before_tried is not None and after_tried is not None and after_tried < before_tried - _MARGIN
    reason = f"on recalls left out the learned gate has {after:.3f}, the shipped one {before:.3f}"
    if not gains:
        reason += ": nothing changes"
    elif loses:
        reason = (
            f"of what was tried, the learned gate would have had {after_tried:.3f}, the shipped one {before_tried:.3f}"
        )
    kept = {name: round(float(value), 4) for name, value in zip(NAMES, offsets, strict=True) if value}
    return RankingAdjustment(
        accepted=gains and not loses,
        reason=reason,
        recalls=count,
        verdicts=verdicts,
        shipped=before,
        learned=after,
        tried=len(tried),
        shipped_tried=before_tried,
        learned_tried=after_tried,
        offsets=kept if gains and not loses else {},
    )


def _climbed(examples: Sequence[FeedbackExample]) -> FloatArray:
    """The offsets that the examples speak for."""
    logits = np.stack([one.logits for one in examples])
    rewards = np.stack([_reachable(one) for one in examples])
    rewards /= max(float(rewards.std(axis=1).mean()), 1e-3)
    offsets = np.zeros(len(NAMES), np.float32)
    for _ in range(_STEPS):
        slopes = expected_reward(1 / (1 + np.exp(-(logits + offsets))), rewards)[1].mean(axis=0)
        step = _RATE * (slopes - _PULL * offsets) * _FREE
        offsets = np.clip(offsets + step, -_LARGEST, _LARGEST).astype(np.float32)
    return offsets


def _reachable(one: FeedbackExample) -> FloatArray:
    """The rewards with every operation that is not learned as the gate has it: what others would bring is out of reach."""
    on = np.where(_FREE, BITS > 0, one.logits >= 0)
    return np.asarray(one.rewards[on.astype(np.int64) @ POWERS], np.float32)


def _switched(one: FeedbackExample, offsets: FloatArray) -> int:
    """The number of the configuration that the gate has with these offsets."""
    on: npt.NDArray[np.bool_] = one.logits + offsets >= 0
    return int(on.astype(np.int64) @ POWERS)


def _free_part(on: frozenset[str]) -> frozenset[str]:
    return frozenset(name for name, free in zip(NAMES, _FREE, strict=True) if free and name in on)


def _reward(one: FeedbackExample, offsets: FloatArray) -> float:
    return float(one.rewards[_switched(one, offsets)])
