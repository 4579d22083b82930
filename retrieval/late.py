"""The ranking of candidates by late interaction: the question compared with each of them token by token."""

from __future__ import annotations

from collections.abc import Mapping

from hexamem.memory_types import MemoryItem, ResourceItem
from hexamem.retrieval.fusion import Candidate, Ranking, best
from hexamem.retrieval.kept import Kept
from hexamem.retrieval.run import Run
from hexamem.stores.chunking import SHORT, passage_at, span_of
from hexamem.stores.documents import searchable
from hexamem.stores.embedders import Embedder
from hexamem.stores.embedders.token_bags import TokenBag
from hexamem.stores.ledger import get_items

__all__ = ["item_text", "late_ranking"]


def late_ranking(run: Run, candidates: Mapping[str, Candidate], count: int, embedder: Embedder, kept: Kept) -> Ranking:
    """The best ``count`` candidates by late interaction (ColBERT, Khattab and Zaharia, SIGIR 2020, section 3).

    It orders what others found and finds nothing itself. Empty for an embedder without vectors of single tokens.
    """
    if embedder.token_model is None or not candidates:
        return []
    bags = _bags(run, [one.id for one in best(candidates, count)], embedder, kept)
    scores = embedder.compare_bags(run.request.query, list(bags.values()))
    if not scores.any():
        return []
    return sorted(zip(bags, scores.tolist(), strict=True), key=lambda pair: (-pair[1], pair[0]))


def _bags(run: Run, ids: list[str], embedder: Embedder, kept: Kept) -> dict[str, TokenBag]:
    """The candidates' tokens; of a long document those of the passage that is to be shown."""
    believed = run.permit.believed
    read = [one for one in ids if one in believed or (not one.startswith("step_") and run.passage(one) is not None)]
    bags = kept.bags(run.tx, [one for one in ids if one not in read] if read else ids)
    if read:
        items = {**get_items(run.tx, [one for one in read if one not in believed]), **believed}
        texts = {one: searchable(item_text(run, items[one])) for one in read if one in items}
        bags.update(zip(texts, embedder.token_bags(list(texts.values())), strict=True))
    return bags


def item_text(run: Run, item: MemoryItem) -> str:
    """What an item says; of a long document its title and the passage that is to be shown."""
    found = None if item.id in run.former else run.passage(item.id)
    if found is None or not isinstance(item, ResourceItem) or len(item.content) <= SHORT:
        return item.text
    return f"{item.title}\n{passage_at(item, span_of(found)).text}"
