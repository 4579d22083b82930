"""The ranking of candidates by late interaction: the question compared with each of them token by token."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from ..memory_types import MemoryItem, ResourceItem
from ..stores.chunking import SHORT, passage_at, span_of
from ..stores.documents import searchable
from ..stores.embedders import Embedder
from ..stores.kept_steps import KeptSteps
from ..stores.ledger import Transaction, get_items
from ..stores.ledger.steps import shown_steps
from .fusion import Candidate, Ranking, best
from .run import Run

__all__ = ["item_text", "late_ranking", "step_texts"]


def late_ranking(
    run: Run, candidates: Mapping[str, Candidate], count: int, embedder: Embedder, kept: KeptSteps[str]
) -> Ranking:
    """The best ``count`` candidates by late interaction (ColBERT, Khattab and Zaharia, SIGIR 2020, section 3).

    It orders what others found and finds nothing itself. Empty for an embedder without vectors of single tokens.
    """
    texts = _texts(run, [one.id for one in best(candidates, count)], kept)
    scores = embedder.late_interaction(run.request.query, list(texts.values())) if texts else None
    if scores is None or not scores.any():
        return []
    return sorted(zip(texts, scores.tolist(), strict=True), key=lambda pair: (-pair[1], pair[0]))


def step_texts(tx: Transaction, step_ids: Collection[str]) -> dict[str, str]:
    """What active steps say, with who says it, much as the indexes have it."""
    return {one: searchable(f"{step.speaker}: {step.text}") for one, step in shown_steps(tx, step_ids).items()}


def _texts(run: Run, ids: list[str], kept: KeptSteps[str]) -> dict[str, str]:
    """What the candidates say; of a long document the passage that is to be shown."""
    texts = dict(kept.of(run.tx, [one for one in ids if one.startswith("step_")]))
    others = [one for one in ids if not one.startswith("step_")]
    items = {**get_items(run.tx, others), **run.permit.believed} if others else {}
    texts.update({one: searchable(item_text(run, items[one])) for one in others if one in items})
    return texts


def item_text(run: Run, item: MemoryItem) -> str:
    """What an item says; of a long document its title and the passage that is to be shown."""
    found = None if item.id in run.former else run.passage(item.id)
    if found is None or not isinstance(item, ResourceItem) or len(item.content) <= SHORT:
        return item.text
    return f"{item.title}\n{passage_at(item, span_of(found)).text}"
