"""The ranking of candidates by late interaction: the question compared with each of them token by token."""

from __future__ import annotations

from collections.abc import Mapping

from hexamem.retrieval.fusion import Candidate, Ranking, best
from hexamem.retrieval.request import Run
from hexamem.stores.documents import searchable
from hexamem.stores.embedders import Embedder
from hexamem.stores.embedders.late_interaction import late_interaction
from hexamem.stores.ledger import get_items
from hexamem.stores.ledger.shown_items import item_texts
from hexamem.stores.ledger.steps import plain_steps

__all__ = ["late_ranking"]


def late_ranking(run: Run, candidates: Mapping[str, Candidate], count: int, embedder: Embedder) -> Ranking:
    """The best ``count`` candidates by late interaction (ColBERT, Khattab and Zaharia, SIGIR 2020, section 3).

    It ranks candidates of other signals and finds none itself. Empty for an embedder without token vectors.
    """
    model = embedder.token_model
    if model is None or not candidates:
        return []
    texts = _texts(run, [candidate.id for candidate in best(candidates, count)])
    scores = late_interaction(model, run.request.query, [searchable(text) for text in texts.values()])
    if not scores.any():
        return []
    return sorted(zip(texts, scores.tolist(), strict=True), key=lambda pair: (-pair[1], pair[0]))


def _texts(run: Run, ids: list[str]) -> dict[str, str]:
    """The texts of candidates by id; of a long document that of its best passage."""
    believed = run.filter.believed
    steps = [name for name in ids if name.startswith("step_")]
    items = [name for name in ids if not name.startswith("step_")]
    documents = [name for name in items if name not in believed and run.passage(name) is not None]
    texts = {**{step.id: step.line for step in plain_steps(run.tx, steps).values()}, **item_texts(run.tx, items)}
    texts |= {name: run.item_text(item) for name, item in get_items(run.tx, documents).items()}
    texts |= {name: run.item_text(believed[name]) for name in items if name in believed}
    return {name: texts[name] for name in ids if name in texts}
