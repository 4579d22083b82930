"""Reorders the best hits: by the bundled cross-encoder, whose weighted score is added to that of the ranking, or by a host's
own scores."""

from __future__ import annotations

import math
from collections.abc import Sequence

from hexamem.errors import InvalidInputError
from hexamem.memory_types import Hit, Signal
from hexamem.models.reranker import Reranker
from hexamem.retrieval.strategies import Strategy
from hexamem.stores.documents import with_speaker

__all__ = ["CANDIDATES", "rerank", "scored"]

CANDIDATES = 40
"""Hits that are reordered; a perfect order of so many reaches recall@10 0.90 on LoCoMo."""
_WEIGHT = 0.5
"""The weight of the cross-encoder's logit; chosen on the validation part of ``evals/corpus``."""
_LONGEST_TEXT = 600  # characters
_ROLES = ("user", "assistant", "system", "tool", "other")


def rerank(question: str, hits: Sequence[Hit], reranker: Reranker) -> list[Hit]:
    """The hits by the sum of their score and the weighted logit of the cross-encoder, best first.

    Args:
        hits: in the order of the ranking; the first :data:`CANDIDATES` are reordered, and the others follow unchanged.
    """
    read, others = hits[:CANDIDATES], hits[CANDIDATES:]
    texts = [with_speaker(None if hit.speaker in _ROLES else hit.speaker, hit.text[:_LONGEST_TEXT]) for hit in read]
    logits = reranker.relevance(question, texts).tolist()
    return [*_rescored(read, "reranker", logits, [_WEIGHT * logit for logit in logits]), *others]


def scored(question: str, hits: Sequence[Hit], strategy: Strategy) -> list[Hit]:
    """The hits by the scores of the strategy's scorer, best first; equal scores leave the order as it is. The difference to
    the former score is each hit's signal of the strategy's name.

    Raises:
        InvalidInputError: the scorer does not return one finite number a hit.
    """
    assert strategy.scorer is not None
    scores = [float(score) for score in strategy.scorer(question, hits)]
    if len(scores) != len(hits) or not all(math.isfinite(score) for score in scores):
        raise InvalidInputError(
            f"ranking {strategy.name!r} returned {len(scores)} scores for {len(hits)} hits; return one finite number for each"
        )
    return _rescored(hits, strategy.name, scores, [score - hit.score for score, hit in zip(scores, hits, strict=True)])


def _rescored(hits: Sequence[Hit], name: str, values: Sequence[float], shares: Sequence[float]) -> list[Hit]:
    """The hits with a further signal, whose share is added to their score, best first."""
    order = sorted(range(len(hits)), key=lambda place: -values[place])
    ranks = {place: rank for rank, place in enumerate(order, 1)}
    rescored = []
    for place, (hit, value, share) in enumerate(zip(hits, values, shares, strict=True)):
        signal = Signal(name=name, value=value, rank=ranks[place], share=share)
        why = sorted((*hit.why, signal), key=lambda signal: -signal.share)
        rescored.append(hit.model_copy(update={"score": hit.score + share, "why": tuple(why)}))
    return sorted(rescored, key=lambda hit: -hit.score)
