"""The ranking of candidates by late interaction: the question compared with each of them token by token."""

from __future__ import annotations

from collections.abc import Mapping

from hexamem.retrieval.fusion import Candidate, Ranking, best
from hexamem.retrieval.request import Run
from hexamem.stores.documents import searchable
from hexamem.stores.embedders import Embedder
from hexamem.stores.embedders.token_bags import TokenBag
from hexamem.stores.ledger import get_items
from hexamem.stores.ledger.shown_items import item_texts
from hexamem.stores.ledger.step_texts import step_texts

__all__ = ["late_ranking"]


def late_ranking(run: Run, candidates: Mapping[str, Candidate], count: int, embedder: Embedder) -> Ranking:
    """The best ``count`` candidates by late interaction (ColBERT, Khattab and Zaharia, SIGIR 2020, section 3).

    It ranks candidates of other signals and finds none itself. Empty for an embedder without token vectors.
    """
    if embedder.token_model is None or not candidates:
        return []
    bags = _bags(run, [candidate.id for candidate in best(candidates, count)], embedder)
    scores = embedder.compare_bags(run.request.query, list(bags.values()))
    if not scores.any():
        return []
    return sorted(zip(bags, scores.tolist(), strict=True), key=lambda pair: (-pair[1], pair[0]))


def _bags(run: Run, ids: list[str], embedder: Embedder) -> dict[str, TokenBag]:
    """The token bags of candidates; of a long document that of its best passage."""
    believed = run.filter.believed
    changed = [
        name for name in ids if name in believed or (not name.startswith("step_") and run.passage(name) is not None)
    ]
    plain = [name for name in ids if name not in changed]
    texts = {**step_texts(run.tx, plain), **item_texts(run.tx, plain)}
    if changed:
        items = {**get_items(run.tx, [name for name in changed if name not in believed]), **believed}
        texts.update((name, run.item_text(items[name])) for name in changed if name in items)
    ordered = sorted((name for name in ids if name in texts), key=lambda name: not name.startswith("step_"))
    bags = embedder.token_bags([searchable(texts[name]) for name in ordered])
    return dict(zip(ordered, bags, strict=True))
