"""Learns offsets of the gate from a user's feedback, and accepts them only where they lose nothing.

Each recall with feedback is repeated on the present memory, with every set of operations; the reward of a set is how high
it ranks the records that helped, less those that hurt. An offset of the logit is learned for each operation of almost no
cost. The offsets are accepted only if they gain on held-out recalls over the weights that ship, and if the rewards of
recalls that tried other operations (``Settings.explore``), weighted by inverse propensity, are not against them.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from hexamem.retrieval.gates import gains_of_operations
from hexamem.retrieval.logistic import logistic_offset
from hexamem.retrieval.ranking_operations import FREE, NAMES, POWERS, configurations
from hexamem.stores.embedders.base import FloatArray

__all__ = ["FeedbackExample", "RankingAdjustment", "inverse_propensity", "learn_offsets", "verdict_reward"]

_LEARNED = frozenset(FREE - {"threshold_filtering"})
"""Operations whose offsets are learned. Feedback on hits does not show whether there should have been any."""
_LEAST = 12  # recalls with feedback
_FOLDS = 4  # parts of the recalls, each of which is held out once
_GAIN = 0.002  # the least gain in reward on held-out recalls
_MARGIN = 0.01  # the greatest loss in reward, from -1 to 1, on recalls that tried other operations
_PULL, _LARGEST = 0.02, 4.0  # the penalty on squared offsets, and the greatest offset


@dataclass(frozen=True, kw_only=True, slots=True)
class FeedbackExample:
    """One recall with feedback.

    Attributes:
        logits: the logits of the gate that ships, ``(5,)``.
        rewards: the rewards of the configurations in the repeated recall, ``(32,)``.
        on: the operations of the original recall; None where they are unknown.
        chance: the probability with which these were chosen.
        seen: the reward of the original hits.
    """

    logits: FloatArray
    rewards: FloatArray
    on: frozenset[str] | None = None
    chance: float = 1.0
    seen: float = 0.0

    @property
    def explored(self) -> bool:
        """Whether the original operations were chosen at random."""
        return self.on is not None and self.chance < 1

    def configuration(self, offsets: FloatArray) -> int:
        """The number of the configuration that the gate chooses with some offsets."""
        return int((self.logits + offsets >= 0).astype(np.int64) @ POWERS)


@dataclass(frozen=True, kw_only=True, slots=True)
class RankingAdjustment:
    """The result of learning from a user's feedback.

    Attributes:
        accepted: whether the user's ranking was changed.
        reason: why, or why not.
        recalls: the number of recalls with feedback.
        verdicts: the number of judged hits.
        shipped: the mean reward of held-out recalls with the weights that ship; None where nothing was learned.
        learned: the same with the learned offsets.
        tried: the number of recalls that tried other operations.
        shipped_tried: the mean reward by inverse propensity of these, for the weights that ship; None where it is unknown.
        learned_tried: the same for the learned offsets.
        offsets: operation → the offset of its logit.
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
    """The nDCG of the records that helped less that of those that hurt, from -1 to 1."""

    def gain(wanted: Collection[str]) -> float:
        if not wanted:
            return 0.0
        gained = sum(1 / math.log2(place + 2) for place, record_id in enumerate(ids[:k]) if record_id in wanted)
        return gained / sum(1 / math.log2(place + 2) for place in range(min(k, len(wanted))))

    return gain(helped) - gain(hurt)


def inverse_propensity(examples: Sequence[FeedbackExample], offsets: FloatArray) -> float | None:
    """The mean reward of gates with some offsets, by inverse propensity (self-normalised; Swaminathan and Joachims, 2015).

    None where no recall tried the operations that these gates choose.
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
    """Learn the offsets of one user's gate.

    Args:
        examples: recalls with feedback, the oldest first.
        verdicts: the number of judged hits, for the result.
    """
    count = len(examples)
    tried = [example for example in examples if example.explored]
    if count < _LEAST:
        reason = f"{count} recall(s) have feedback; it takes at least {_LEAST}"
        return RankingAdjustment(accepted=False, reason=reason, recalls=count, verdicts=verdicts, tried=len(tried))
    none = np.zeros(len(NAMES), np.float32)
    shipped, learned = [], []
    for fold in range(_FOLDS):
        held_out = examples[fold::_FOLDS]
        offsets = _fitted([example for place, example in enumerate(examples) if place % _FOLDS != fold])
        shipped += [float(example.rewards[example.configuration(none)]) for example in held_out]
        learned += [float(example.rewards[example.configuration(offsets)]) for example in held_out]
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
    """The offset of each operation by logistic regression of whether it gains, weighted by the gain."""
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
