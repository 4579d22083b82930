"""The lanes of research: the searches over the indexes. Each returns ids in order; they are ranked together later."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from hexamem.graphs.research_filter import EvidenceFilter
from hexamem.intent.query import QueryFilter
from hexamem.memory_types import Hit, MemoryItem, Where
from hexamem.memory_types.research import SearchRequest
from hexamem.stores.chunking import item_of
from hexamem.stores.documents import label_names, searchable
from hexamem.stores.embedders import Embedder
from hexamem.stores.embedders.late_interaction import unit_rows
from hexamem.stores.ledger import Ledger, select_item_ids, select_step_ids, user_key
from hexamem.stores.ledger.labels import read_labels
from hexamem.stores.ledger.pages import get_pages, page_steps
from hexamem.stores.lexical import LexicalFilter, LexicalStore
from hexamem.stores.vectors import VectorIndex
from hexamem.stores.vocabulary import Vocabulary

__all__ = ["LaneSearch", "ResearchLanes", "SearchFound"]

_PAGES, _NEAR_PAGES, _PAGE_STEPS, _ITEMS = 4, 200, 80, 20
_STEP = "step_"
_EXACT, _WIDEN = 1_000, 4  # vectors of more steps than this are not compared one by one


class SearchFound(NamedTuple):
    """The result of one search: ids of records, best first; ids of pages to be read whole; and a line for ``degraded``."""

    ids: Sequence[str] = ()
    pages: Sequence[str] = ()
    degraded: str = ""


LaneSearch = Callable[[str, SearchRequest, int], SearchFound]
"""``(user, request, limit)`` to the result."""


@dataclass(frozen=True, kw_only=True)
class ResearchLanes:
    """The six lanes over one home's ledger and indexes, which must be up to the ledger.

    Attributes:
        search_pages: (user, question, how many) → pages, best first.
        query_intent: (user, question) → the labels that a question names.
    """

    ledger: Ledger
    vectors: VectorIndex
    lexical: LexicalStore
    embedder: Embedder
    search_pages: Callable[[str, str, int], Sequence[Hit]]
    query_intent: Callable[[str, str], QueryFilter]

    def by_name(self) -> dict[str, LaneSearch]:
        """The lanes by name."""
        return {
            "vector": self.vector,
            "keyword": self.keyword,
            "page": self.page,
            "intent": self.intent,
            "time": self.time,
            "kind": self.kind,
        }

    def vector(self, user: str, request: SearchRequest, pool: int) -> SearchFound:
        """The steps nearest in meaning."""
        vector = self.embedder.embed_query(request.query)
        permitted = self._permitted(user, request)
        return SearchFound([step_id for step_id, _ in self._near(user, vector, permitted, pool)])

    def keyword(self, user: str, request: SearchRequest, pool: int) -> SearchFound:
        """The steps that share words, by BM25."""
        permitted = self._permitted(user, request)
        if permitted is not None and not permitted:
            return SearchFound()
        steps = LexicalFilter(kinds=frozenset(("step",)), ids=permitted)
        return SearchFound(
            [step_id for step_id, _ in self.lexical.search(user_key(user), request.query, pool, filters=steps)]
        )

    def time(self, user: str, request: SearchRequest, pool: int) -> SearchFound:
        """The steps of a period: nearest in meaning and by keywords, interleaved."""
        with self.ledger.read(user) as tx:
            ids = select_step_ids(tx, Where(since=request.since, until=request.until)) if tx.user_id else set()
            if filters := EvidenceFilter.of_request(request):
                ids &= filters.steps(tx, ids)
        return SearchFound(self._among(user, request.query, ids, pool))

    def intent(self, user: str, request: SearchRequest, pool: int) -> SearchFound:
        """The steps that carry the label with the query as its name, or the labels that the query names, the densest first."""
        weights = self._label(user, request.query)
        if not weights:
            named = self.query_intent(user, request.query)
            weights = {**named.scopes, **named.events, **named.entities}
        if not weights:
            return SearchFound(degraded="a search by labels names no known label")
        permitted = self._permitted(user, request)
        if permitted is not None:
            with self.ledger.read(user) as tx:
                permitted |= EvidenceFilter.of_request(request).items(tx)
        wide = pool if permitted is None else _WIDEN * pool
        densities = dict(self.lexical.label_density(user_key(user), weights, wide))
        # Many records may have the same density: the nearest that carry a label are added.
        near = LexicalFilter(ids=set(self._labelled(user, request.query, weights, wide)))
        densities = {**dict(self.lexical.label_density(user_key(user), weights, wide, filters=near)), **densities}
        if permitted is not None:
            densities = {
                record_id: density for record_id, density in densities.items() if item_of(record_id) in permitted
            }
        step_ids = {record_id for record_id in densities if record_id.startswith(_STEP)}
        nearest = self._among(user, request.query, step_ids, len(densities) or 1)
        place = {record_id: rank for rank, record_id in enumerate(nearest)}
        dense = sorted(densities, key=lambda record_id: (-densities[record_id], place.get(record_id, len(place))))
        return SearchFound([item_of(record_id) for record_id in dense[:pool]])

    def page(self, user: str, request: SearchRequest, pool: int) -> SearchFound:
        """Pages to be read whole, if they are named by id; else the steps of the best pages."""
        if request.pages:
            with self.ledger.read(user) as tx:
                known = get_pages(tx, request.pages) if tx.user_id else {}
            missing = [page_id for page_id in request.pages if page_id not in known]
            missing_note = f"{len(missing)} unknown pages were left out" if missing else ""
            ids = [page_id for page_id in request.pages if page_id in known]
            if len(ids) > _PAGES:  # the handle of a memo of many pages: the nearest of them
                near = [hit.id for hit in self.search_pages(user, request.query, _NEAR_PAGES)]
                ids = list(dict.fromkeys((*(page_id for page_id in near if page_id in known), *ids)))
            return SearchFound(pages=ids[:_PAGES], degraded=missing_note)
        permitted = self._permitted(user, request)
        hits = self.search_pages(user, request.query, _PAGES if permitted is None else _NEAR_PAGES)
        with self.ledger.read(user) as tx:
            pages = get_pages(tx, [hit.id for hit in hits])
            steps = page_steps(tx, list(pages.values()))
        step_ids = [step.id for hit in hits for step in steps.get(hit.id, ()) if step.active]
        if permitted is not None:
            step_ids = [step_id for step_id in step_ids if step_id in permitted]
        return SearchFound(step_ids[: min(pool, _PAGE_STEPS)])

    def kind(self, user: str, request: SearchRequest, pool: int) -> SearchFound:
        """The best items of some kinds, by meaning and by keywords, interleaved."""
        key, kinds = user_key(user), frozenset(request.kinds)
        filters, ids, former = EvidenceFilter.of_request(request), None, {}
        if filters:
            with self.ledger.read(user) as tx:
                ids, former = filters.items(tx, kinds), filters.former(tx, kinds)
            if not ids:
                return SearchFound()
        wide = _ITEMS if ids is None else _WIDEN * _ITEMS
        vector = self.embedder.embed_query(request.query)
        words = self.lexical.search(key, request.query, wide, filters=LexicalFilter(kinds=kinds))
        near = self.vectors.query(key, "items", vector, 2 * wide)
        if ids is not None:
            words = [hit for hit in words if item_of(hit[0]) in ids and item_of(hit[0]) not in former]
            near = [hit for hit in near if item_of(hit[0]) in ids and item_of(hit[0]) not in former]
        if former:
            near = sorted((*near, *self._alike(vector, former)), key=lambda hit: (-hit[1], hit[0]))
        if ids is None:
            by_words = {hit for hit, _ in words}
            with self.ledger.read(user) as tx:
                others = [item_of(hit) for hit, _ in near if hit not in by_words]
                passing = select_item_ids(tx, kinds=list(kinds)) if others and tx.user_id else set()
            near = [hit for hit in near if hit[0] in by_words or item_of(hit[0]) in passing]
        return SearchFound(list(dict.fromkeys(map(item_of, _in_turn(words, near))))[: min(pool, _ITEMS)])

    def _among(self, user: str, query: str, ids: Collection[str], pool: int) -> list[str]:
        if not ids:
            return []
        near = self._near(user, self.embedder.embed_query(query), ids, pool)
        words = self.lexical.search(user_key(user), query, pool, filters=LexicalFilter(ids=ids))
        return _in_turn(words, near)[:pool]

    def _labelled(self, user: str, query: str, labels: Collection[str], pool: int) -> list[str]:
        """The nearest steps that carry one of the labels; the vector store filters by metadata."""
        with self.ledger.read(user) as tx:
            names = label_names(Vocabulary(read_labels(tx, labels)), labels) if tx.user_id else {}
        vector = self.embedder.embed_query(query)
        return [step_id for step_id, _ in self.vectors.query(user_key(user), "steps", vector, pool, any_of=names)]

    def _near(
        self, user: str, vector: npt.NDArray[np.float32], ids: Collection[str] | None, pool: int
    ) -> Sequence[tuple[str, float]]:
        """The nearest steps, of all or of ``ids``; always as many as there are, up to ``pool``."""
        key = user_key(user)
        if ids is None:
            return self.vectors.query(key, "steps", vector, pool)
        if len(ids) > _EXACT:  # most likely enough of them are among the nearest of all
            wide = self.vectors.query(key, "steps", vector, _WIDEN * pool)
            near = [step for step in wide if step[0] in ids][:pool]
            if len(near) == pool:
                return near
        return self.vectors.query_among(key, "steps", vector, ids, pool) if ids else []

    def _alike(self, vector: npt.NDArray[np.float32], items: Mapping[str, MemoryItem]) -> list[tuple[str, float]]:
        """The similarity of items whose text no index holds."""
        rows = unit_rows(self.embedder.embed_documents([searchable(item.text) for item in items.values()]))
        return list(zip(items, (rows @ unit_rows(vector[None, :])[0]).tolist(), strict=True))

    def _permitted(self, user: str, request: SearchRequest) -> set[str] | None:
        """The steps that pass the request's filter; None for all."""
        filters = EvidenceFilter.of_request(request)
        if not filters:
            return None
        with self.ledger.read(user) as tx:
            return filters.steps(tx)

    def _label(self, user: str, name: str) -> dict[str, float]:
        """The labels with this name or path, and those under them; none for a question that is no label's name."""
        with self.ledger.read(user) as tx:
            vocabulary = Vocabulary(read_labels(tx)) if tx.user_id else Vocabulary(())
        label_ids = vocabulary.find(name) if len(name) <= 200 else []
        return {covered: 1.0 for label_id in label_ids[:4] for covered in vocabulary.covering(label_id)}

    def item_kinds(self, user: str) -> tuple[str, ...]:
        """The kinds of items that a user has."""
        from sqlalchemy import select

        from hexamem.stores.ledger.schema import items

        with self.ledger.read(user) as tx:
            if not tx.user_id:
                return ()
            own = (items.c.user_id == tx.user_id) & (items.c.status == "active")
            return tuple(sorted(str(row[0]) for row in tx.all(select(items.c.kind).where(own).distinct())))


def _in_turn(*rankings: Sequence[tuple[str, float]]) -> list[str]:
    """The first of each ranking, then the second of each, and so on, each id once."""
    ids: dict[str, None] = {}
    for index in range(max(map(len, rankings), default=0)):
        for ranking in rankings:
            if index < len(ranking):
                ids[ranking[index][0]] = None
    return list(ids)
