"""The ranking of candidates by late interaction: the question compared with each of them token by token."""

from __future__ import annotations

from collections.abc import Mapping

from hexamem.retrieval.caches import RecallCaches
from hexamem.retrieval.fusion import Candidate, Ranking, best
from hexamem.retrieval.request import Run
from hexamem.stores.documents import searchable
from hexamem.stores.embedders import Embedder
from hexamem.stores.embedders.token_bags import TokenBag
from hexamem.stores.ledger import get_items

__all__ = ["late_ranking"]


def late_ranking(
    run: Run, candidates: Mapping[str, Candidate], count: int, embedder: Embedder, caches: RecallCaches
) -> Ranking:
    """The best ``count`` candidates by late interaction (ColBERT, Khattab and Zaharia, SIGIR 2020, section 3).

    It orders what others found and finds nothing itself. Empty for an embedder without vectors of single tokens.
    """
    if embedder.token_model is None or not candidates:
        return []
    bags = _bags(run, [one.id for one in best(candidates, count)], embedder, caches)
    scores = embedder.compare_bags(run.request.query, list(bags.values()))
    if not scores.any():
        return []
    return sorted(zip(bags, scores.tolist(), strict=True), key=lambda pair: (-pair[1], pair[0]))


def _bags(run: Run, ids: list[str], embedder: Embedder, caches: RecallCaches) -> dict[str, TokenBag]:
    """The candidates' tokens; of a long document those of the passage that is to be shown."""
    believed = run.filter.believed
    read = [one for one in ids if one in believed or (not one.startswith("step_") and run.passage(one) is not None)]
    bags = caches.bags(run.tx, [one for one in ids if one not in read] if read else ids)
    if read:
        items = {**get_items(run.tx, [one for one in read if one not in believed]), **believed}
        texts = {one: searchable(run.item_text(items[one])) for one in read if one in items}
        bags.update(zip(texts, embedder.token_bags(list(texts.values())), strict=True))
    return bags
