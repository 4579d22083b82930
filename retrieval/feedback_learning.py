"""What a user's own feedback teaches of the operations: small changes of the gate, kept only where they lose nothing.

Each recall with feedback is asked again of memory as it is now, under every set of the operations that cost nothing; what
it would have shown first of what helped, less what hurt, is the reward of that set. Learned is one number for each such
operation, an offset of its logit: the intercept of the gate's regression. It is taken only if on recalls left out of
learning it gains on the weights that ship, and if what was seen where recalls tried other operations
(``Settings.explore``), by the probability with which each was tried, does not speak against it; else the user keeps these.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from hexamem.retrieval.gates import gains_of_operations
from hexamem.retrieval.logistic import logistic_offset
from hexamem.retrieval.operations import FREE, NAMES, POWERS, configurations
from hexamem.stores.embedders.base import FloatArray

__all__ = ["FeedbackExample", "RankingAdjustment", "inverse_propensity", "learn_offsets", "verdict_reward"]

_LEARNED = frozenset(FREE - {"threshold_filtering"})
"""Operations whose offsets are learned. Verdicts on hits do not show whether there should have been any."""
_LEAST = 12
"""Of fewer recalls with feedback nothing is learned."""
_FOLDS = 4  # parts of the recalls, each of which is left out of learning once
_GAIN = 0.002  # what the offsets must gain there for anything to change
_MARGIN = 0.01  # how much reward they may lose in what was tried, from -1 to 1
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

    @property
    def explored(self) -> bool:
        """Whether what ran was chosen by chance."""
        return self.on is not None and self.chance < 1

    def configuration(self, offsets: FloatArray) -> int:
        """The number of the configuration that the gate has with these offsets."""
        return int((self.logits + offsets >= 0).astype(np.int64) @ POWERS)


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
        gained = sum(1 / math.log2(place + 2) for place, record_id in enumerate(ids[:k]) if record_id in wanted)
        return gained / sum(1 / math.log2(place + 2) for place in range(min(k, len(wanted))))

    return gain(helped) - gain(hurt)


def inverse_propensity(examples: Sequence[FeedbackExample], offsets: FloatArray) -> float | None:
    """The mean reward of gates with some offsets by what was tried alone (self-normalised; Swaminathan and Joachims, 2015).

    None where no recall tried what these gates would do.
    """
    weights, total = 0.0, 0.0
    sets = configurations()
    for example in examples:
        if example.explored and (example.on or frozenset()) & _LEARNED == (
            sets[example.configuration(offsets)] & _LEARNED
        ):
            weights += 1 / example.chance
            total += example.seen / example.chance
    return total / weights if weights else None


def learn_offsets(examples: Sequence[FeedbackExample], verdicts: int = 0) -> RankingAdjustment:
    """Learn the offsets of one user's gate, oldest recall first; accepted only where they lose nothing."""
    count = len(examples)
    tried = [example for example in examples if example.explored]
    if count < _LEAST:
        reason = f"{count} recall(s) have feedback; it takes at least {_LEAST}"
        return RankingAdjustment(accepted=False, reason=reason, recalls=count, verdicts=verdicts, tried=len(tried))
    none = np.zeros(len(NAMES), np.float32)
    shipped, learned = [], []
    for fold in range(_FOLDS):
        held = examples[fold::_FOLDS]
        offsets = _fitted([example for place, example in enumerate(examples) if place % _FOLDS != fold])
        shipped += [float(example.rewards[example.configuration(none)]) for example in held]
        learned += [float(example.rewards[example.configuration(offsets)]) for example in held]
    before, after = float(np.mean(shipped)), float(np.mean(learned))
    offsets = _fitted(examples)
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
    accepted = gains and not loses
    changed = {name: round(float(value), 4) for name, value in zip(NAMES, offsets, strict=True) if value}
    return RankingAdjustment(
        accepted=accepted,
        reason=reason,
        recalls=count,
        verdicts=verdicts,
        shipped=before,
        learned=after,
        tried=len(tried),
        shipped_tried=before_tried,
        learned_tried=after_tried,
        offsets=changed if accepted else {},
    )


def _fitted(examples: Sequence[FeedbackExample]) -> FloatArray:
    """The offset of each operation by logistic regression: does it pay, weighed by how much?"""
    none = np.zeros(len(NAMES), np.float32)
    on = np.array([example.configuration(none) for example in examples])
    gains = gains_of_operations(np.stack([example.rewards for example in examples]), on)
    logits = np.stack([example.logits for example in examples]).astype(np.float64)
    offsets = [
        _offset(logits[:, number], gains[:, number]) if name in _LEARNED else 0.0 for number, name in enumerate(NAMES)
    ]
    return np.array(offsets, np.float32)


def _offset(logits: npt.NDArray[np.float64], gains: FloatArray) -> float:
    weights = np.abs(gains)
    if not weights.any():
        return 0.0
    weights = (weights / weights.mean()).astype(np.float64)
    return logistic_offset(logits, gains > 0, weights=weights, pull=_PULL, largest=_LARGEST)
