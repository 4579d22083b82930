"""The two retrievers, by vector and by words: each returns the best steps and items that pass a request's filters."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial

import numpy as np
import numpy.typing as npt

from hexamem.retrieval.fusion import Ranking
from hexamem.retrieval.request import Run
from hexamem.stores.chunking import is_passage, item_of
from hexamem.stores.lexical import LexicalFilter, LexicalStore
from hexamem.stores.streams import holds_documents
from hexamem.stores.vectors import VectorIndex

__all__ = ["WIDEN", "Retrievers", "nearest_permitted"]

WIDEN = 4  # of a filtered search, so many times the hits wanted are read before all that may be hits
"""Factor on the pool of a search whose hits are filtered afterwards."""


class Retrievers:
    """Dense and BM25 retrieval over one home's indexes."""

    def __init__(self, vectors: VectorIndex, lexical: LexicalStore) -> None:
        self._vectors, self._lexical = vectors, lexical

    def dense(self, run: Run, pool: int) -> Ranking:
        """The steps and items nearest to the question's vector, with their cosines."""
        if run.vector is None:
            raise ValueError("the dense signal needs the vector of the query")
        ranking = self.dense_steps(run, run.vector, pool) if run.filter.wants_steps else []
        ranking = [*ranking, *self.dense_items(run, run.vector, pool)]
        ranking.sort(key=lambda hit: (-hit[1], hit[0]))
        return ranking[:pool]

    def dense_items(self, run: Run, vector: npt.NDArray[np.float32], pool: int) -> list[tuple[str, float]]:
        """The nearest items, including those with another text at the belief time."""
        ranking: list[tuple[str, float]] = []
        if not run.filter.narrows_items:
            ranking += _widened(run, "dense", partial(self._vectors.query, run.key, "items", vector), pool)
        elif run.filter.wants_items:
            wide = run.by_document("dense", self._vectors.query(run.key, "items", vector, pool * WIDEN))

            def among(item_ids: set[str]) -> Ranking:
                ids = self._with_passages(run, item_ids)
                return _widened(run, "dense", partial(self._vectors.query_among, run.key, "items", vector, ids), pool)

            ranking += nearest_permitted(wide, run.filter.items_among, lambda: run.filter.items or set(), among, pool)
        if run.former and run.former_vectors is not None:
            ranking += zip(run.former, (run.former_vectors @ vector).tolist(), strict=True)
        return ranking

    def dense_steps(self, run: Run, vector: npt.NDArray[np.float32], pool: int) -> list[tuple[str, float]]:
        """The nearest steps."""
        if not run.filter.narrows_steps:
            return self._vectors.query(run.key, "steps", vector, pool)
        wide = self._vectors.query(run.key, "steps", vector, pool * WIDEN)
        among = partial(self._vectors.query_among, run.key, "steps", vector, k=pool)
        return nearest_permitted(wide, run.filter.steps_among, lambda: run.filter.all_steps, among, pool)

    def bm25(self, run: Run, pool: int) -> Ranking:
        """The steps and items with words of the question, with their BM25; including new steps that are not indexed yet."""
        filters, query = run.filter, run.request.query
        kinds = None if filters.kinds is None else LexicalFilter(kinds=filters.kinds)
        texts: dict[str, str] = {}
        if filters.kinds_only:
            ranking = self._by_words(run, pool, kinds)
        else:
            hits = self._lexical.search(run.key, query, pool * WIDEN, filters=kinds)
            wide = run.by_document("bm25", hits)
            allowed = filters.among([hit[0] for hit in wide])
            ranking = [hit for hit in wide if hit[0] in allowed][:pool]
            if len(ranking) < pool and len(hits) == pool * WIDEN:
                ranking = self._by_words(run, pool, LexicalFilter(ids=self._with_passages(run, filters.all_ids())))
            texts = {item_id: item.text for item_id, item in run.former.items()}
        ranked = {record_id for record_id, _ in ranking}
        texts.update((step_id, text) for step_id, text in run.unindexed.items() if step_id not in ranked)
        if texts:
            ranking = [*ranking, *self._lexical.score_texts(run.key, query, texts)]
            ranking.sort(key=lambda hit: -hit[1])
        return ranking[:pool]

    def _by_words(self, run: Run, pool: int, filters: LexicalFilter | None) -> list[tuple[str, float]]:
        return _widened(run, "bm25", partial(self._lexical.search, run.key, run.request.query, filters=filters), pool)

    def _with_passages(self, run: Run, ids: Collection[str]) -> set[str]:
        """The ids, and those of the indexed passages of documents among them."""
        wanted = set(ids)
        if wanted and holds_documents(run.tx):
            wanted.update(
                [name for name in self._vectors.ids(run.key, "items") if is_passage(name) and item_of(name) in wanted]
            )
        return wanted


def nearest_permitted(
    wide: Ranking,
    permitted: Callable[[Collection[str]], set[str]],
    every: Callable[[], set[str]],
    among: Callable[[set[str]], Ranking],
    pool: int,
) -> list[tuple[str, float]]:
    """The best permitted hits: the filter is applied to a wide search, and to all records only where too few pass.

    Args:
        wide: the hits of an unfiltered search, best first.
        permitted: ids → those that may be hits.
        every: all ids that may be hits.
        among: ids → the best ``pool`` of them.
    """
    allowed = permitted([hit[0] for hit in wide])
    near = [hit for hit in wide if hit[0] in allowed][:pool]
    if len(near) == pool or len(near) >= len(ids := every()):
        return near
    return list(among(ids))


def _widened(run: Run, signal: str, search: Callable[[int], Ranking], pool: int) -> list[tuple[str, float]]:
    """The best ``pool`` steps and items, even if many passages of one document are among the best."""
    wide = pool
    while True:
        hits = search(wide)
        ranking = run.by_document(signal, hits)
        if len(ranking) >= pool or len(hits) < wide:
            return ranking[:pool]
        wide *= WIDEN
