"""Finds the facts that superseded what an answer quotes: "My cat is called Mio" is shown with "Mio died"."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from hexamem.agents.embedded_research import THRESHOLDS, Encode
from hexamem.agents.research_question import Question
from hexamem.agents.research_showing import in_time_order
from hexamem.graphs.research_filter import EvidenceFilter
from hexamem.graphs.research_reading import passages_of
from hexamem.memory_types import MemoryItem
from hexamem.memory_types.research import Claim, Passage
from hexamem.retrieval.evidence import Ranked
from hexamem.retrieval.packing import item_text
from hexamem.stores.ledger import Transaction, get_items
from hexamem.stores.ledger.items import believed_now, items_citing

__all__ = ["superseding", "with_superseding"]

_MOST = 2


def superseding(
    tx: Transaction, question: Question, claims: Sequence[Claim], encode: Encode, *, number: int
) -> list[dict[str, Any]]:
    """Passages of the current items that superseded items learned from the claims' steps, as JSON; at most two.

    Only if the superseded item is near to the question, by the threshold of a follow-up query: a question about Marcus,
    answered by "I'm 34 and live in Bristol with Marcus", is not answered with a later home.
    """
    if not claims or not tx.user_id:
        return []
    cited = {step_id for claim in claims for step_id in claim.step_ids}
    quoted = {claim.passage_id for claim in claims}
    former = [
        item
        for item in get_items(tx, items_citing(tx, sorted(cited))).values()
        if item.status == "superseded" and item.kind in ("core", "semantic")
    ]
    if not former:
        return []
    query, *texts = encode([question.undated, *(item_text(item.kind, item.text) for item in former)])
    current: dict[str, MemoryItem] = {}
    for item, text in zip(former, texts, strict=True):
        now = believed_now(tx, item) if float(query.vector @ text.vector) >= THRESHOLDS.follows else None
        if now is None or now.kind == "vault" or now.id in quoted:
            continue
        if cited.isdisjoint(source.step_id for source in now.sources):
            current[now.id] = now
    ranked = [Ranked(item_id, 0.0) for item_id in list(current)[:_MOST]]
    return passages_of(tx, ranked, number, items=current, filters=EvidenceFilter()) if ranked else []


def with_superseding(claims: Iterable[Claim], passages: Iterable[Passage], number: int) -> tuple[Claim, ...]:
    """Claims with those of the current items, in order of time."""
    later = []
    for passage in passages:
        quote = passage.text.partition("\n")[2] or passage.text
        later.append(
            Claim(
                text=quote,
                quote=quote,
                passage_id=passage.id,
                step_ids=tuple(source.step_id for source in passage.sources[:1]),
                occurred_at=passage.occurred_at,
                round=number,
            )
        )
    return in_time_order((*claims, *later))
