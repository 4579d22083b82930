"""Reorders the best hits by the bundled cross-encoder, whose weighted score is added to that of the ranking."""

from __future__ import annotations

from collections.abc import Sequence

from hexamem.memory_types import Hit, Signal
from hexamem.models.reranker import Reranker
from hexamem.stores.documents import with_speaker

__all__ = ["CANDIDATES", "rerank"]

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
    ranks = {place: rank for rank, place in enumerate(sorted(range(len(read)), key=lambda place: -logits[place]), 1)}
    scored = []
    for place, (hit, logit) in enumerate(zip(read, logits, strict=True)):
        signal = Signal(name="reranker", value=logit, rank=ranks[place], share=_WEIGHT * logit)
        why = sorted((*hit.why, signal), key=lambda signal: -signal.share)
        scored.append(hit.model_copy(update={"score": hit.score + signal.share, "why": tuple(why)}))
    return [*sorted(scored, key=lambda hit: -hit.score), *others]
