"""The lanes of research: what each search asks of the indexes. Each gives ids in order; ranking them together comes later."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
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
_EXACT, _WIDEN = 1_000, 4  # of more steps vectors are not fetched one by one


class SearchFound(NamedTuple):
    """What one search found: ids of records, best first; ids of pages to be read whole; and what went amiss."""

    ids: Sequence[str] = ()
    pages: Sequence[str] = ()
    amiss: str = ""


LaneSearch = Callable[[str, SearchRequest, int], SearchFound]
"""(user, request, how many at most) → what was found."""


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
    extra: dict[str, LaneSearch] = field(default_factory=dict)

    def by_name(self) -> dict[str, LaneSearch]:
        """The lanes by name; those of ``extra`` in place of ours."""
        return {
            "vector": self.vector,
            "keyword": self.keyword,
            "page": self.page,
            "intent": self.intent,
            "time": self.time,
            "kind": self.kind,
            **self.extra,
        }

    def vector(self, user: str, request: SearchRequest, pool: int) -> SearchFound:
        """The steps nearest in meaning."""
        vector = self.embedder.embed_query(request.query)
        permitted = self._permitted(user, request)
        return SearchFound([one for one, _ in self._near(user, vector, permitted, pool)])

    def keyword(self, user: str, request: SearchRequest, pool: int) -> SearchFound:
        """The steps that share words, by BM25."""
        permitted = self._permitted(user, request)
        if permitted is not None and not permitted:
            return SearchFound()
        steps = LexicalFilter(kinds=frozenset(("step",)), ids=permitted)
        return SearchFound([one for one, _ in self.lexical.search(user_key(user), request.query, pool, filters=steps)])

    def time(self, user: str, request: SearchRequest, pool: int) -> SearchFound:
        """The steps of a time that are nearest in meaning or share words, in turn."""
        with self.ledger.read(user) as tx:
            ids = select_step_ids(tx, Where(since=request.since, until=request.until)) if tx.user_id else set()
            if filters := EvidenceFilter.of_request(request):
                ids &= filters.steps(tx, ids)
        return SearchFound(self._among(user, request.query, ids, pool))

    def intent(self, user: str, request: SearchRequest, pool: int) -> SearchFound:
        """The steps whose labels a question names, or that carry the label named, the densest first."""
        weights = self._label(user, request.query)
        if not weights:
            asked = self.query_intent(user, request.query)
            weights = {**asked.scopes, **asked.events, **asked.entities}
        if not weights:
            return SearchFound(amiss="a search by labels names no label that there is")
        permitted = self._permitted(user, request)
        if permitted is not None:
            with self.ledger.read(user) as tx:
                permitted |= EvidenceFilter.of_request(request).items(tx)
        wide = pool if permitted is None else _WIDEN * pool
        found = dict(self.lexical.label_density(user_key(user), weights, wide))
        # The densest alone would be cut at random where many are alike: the nearest that carry a label come as well.
        near = LexicalFilter(ids=set(self._labelled(user, request.query, weights, wide)))
        found = {**dict(self.lexical.label_density(user_key(user), weights, wide, filters=near)), **found}
        if permitted is not None:
            found = {record_id: density for record_id, density in found.items() if item_of(record_id) in permitted}
        alike = self._among(user, request.query, {one for one in found if one.startswith(_STEP)}, len(found) or 1)
        place = {record_id: at for at, record_id in enumerate(alike)}
        dense = sorted(found, key=lambda record_id: (-found[record_id], place.get(record_id, len(place))))
        return SearchFound([item_of(record_id) for record_id in dense[:pool]])

    def page(self, user: str, request: SearchRequest, pool: int) -> SearchFound:
        """Pages to be read whole, where they are named by id; else the steps of the pages that fit a question best."""
        if request.pages:
            with self.ledger.read(user) as tx:
                known = get_pages(tx, request.pages) if tx.user_id else {}
            missing = [one for one in request.pages if one not in known]
            told = f"{len(missing)} pages that there are not were left out" if missing else ""
            ids = [one for one in request.pages if one in known]
            if len(ids) > _PAGES:  # a memo of many: those that the query is about
                near = [hit.id for hit in self.search_pages(user, request.query, _NEAR_PAGES)]
                ids = list(dict.fromkeys((*(one for one in near if one in known), *ids)))
            return SearchFound(pages=ids[:_PAGES], amiss=told)
        permitted = self._permitted(user, request)
        hits = self.search_pages(user, request.query, _PAGES if permitted is None else _NEAR_PAGES)
        with self.ledger.read(user) as tx:
            pages = get_pages(tx, [hit.id for hit in hits])
            steps = page_steps(tx, list(pages.values()))
        found = [step.id for hit in hits for step in steps.get(hit.id, ()) if step.active]
        if permitted is not None:
            found = [one for one in found if one in permitted]
        return SearchFound(found[: min(pool, _PAGE_STEPS)])

    def kind(self, user: str, request: SearchRequest, pool: int) -> SearchFound:
        """The best items of some kinds, by meaning and by words in turn."""
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
            words = [one for one in words if item_of(one[0]) in ids and item_of(one[0]) not in former]
            near = [one for one in near if item_of(one[0]) in ids and item_of(one[0]) not in former]
        if former:
            near = sorted((*near, *self._alike(vector, former)), key=lambda one: (-one[1], one[0]))
        if ids is None:
            theirs = {one for one, _ in words}
            with self.ledger.read(user) as tx:
                among = [item_of(one) for one, _ in near if one not in theirs]
                met = select_item_ids(tx, kinds=list(kinds)) if among and tx.user_id else set()
            near = [one for one in near if one[0] in theirs or item_of(one[0]) in met]
        return SearchFound(list(dict.fromkeys(map(item_of, _in_turn(words, near))))[: min(pool, _ITEMS)])

    def _among(self, user: str, query: str, ids: Collection[str], pool: int) -> list[str]:
        if not ids:
            return []
        near = self._near(user, self.embedder.embed_query(query), ids, pool)
        words = self.lexical.search(user_key(user), query, pool, filters=LexicalFilter(ids=ids))
        return _in_turn(words, near)[:pool]

    def _labelled(self, user: str, query: str, labels: Collection[str], pool: int) -> list[str]:
        """The steps nearest in meaning of those that carry one of some labels: the vector store filters by metadata."""
        with self.ledger.read(user) as tx:
            names = label_names(Vocabulary(read_labels(tx, labels)), labels) if tx.user_id else {}
        vector = self.embedder.embed_query(query)
        return [one for one, _ in self.vectors.query(user_key(user), "steps", vector, pool, any_of=names)]

    def _near(
        self, user: str, vector: npt.NDArray[np.float32], ids: Collection[str] | None, pool: int
    ) -> Sequence[tuple[str, float]]:
        """The nearest steps, all or those among some; exact, whatever is left out."""
        key = user_key(user)
        if ids is None:
            return self.vectors.query(key, "steps", vector, pool)
        if len(ids) > _EXACT:  # most likely as many as are needed are among the nearest
            wide = self.vectors.query(key, "steps", vector, _WIDEN * pool)
            near = [one for one in wide if one[0] in ids][:pool]
            if len(near) == pool:
                return near
        return self.vectors.query_among(key, "steps", vector, ids, pool) if ids else []

    def _alike(self, vector: npt.NDArray[np.float32], items: Mapping[str, MemoryItem]) -> list[tuple[str, float]]:
        """Items that no index holds in these words, with their likeness."""
        rows = unit_rows(self.embedder.embed_documents([searchable(one.text) for one in items.values()]))
        return list(zip(items, (rows @ unit_rows(vector[None, :])[0]).tolist(), strict=True))

    def _permitted(self, user: str, request: SearchRequest) -> set[str] | None:
        """The steps that may be found; None for all of them."""
        filters = EvidenceFilter.of_request(request)
        if not filters:
            return None
        with self.ledger.read(user) as tx:
            return filters.steps(tx)

    def _label(self, user: str, name: str) -> dict[str, float]:
        """The labels that a name or path stands for alone; nothing where it is a question rather than a name."""
        with self.ledger.read(user) as tx:
            vocabulary = Vocabulary(read_labels(tx)) if tx.user_id else Vocabulary(())
        found = vocabulary.find(name) if len(name) <= 200 else []
        return {one: 1.0 for label_id in found[:4] for one in vocabulary.covering(label_id)}

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
    found: dict[str, None] = {}
    for at in range(max(map(len, rankings), default=0)):
        for ranking in rankings:
            if at < len(ranking):
                found[ranking[at][0]] = None
    return list(found)
