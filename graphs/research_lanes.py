"""The lanes of research, the searches over the indexes, and the filter of what they may return.

Each lane returns ids in order; they are ranked together later.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from hexamem.intent.query import QueryFilter
from hexamem.memory_types import Hit, MemoryItem, Where
from hexamem.memory_types.research import SearchRequest
from hexamem.memory_types.times import parse_time
from hexamem.stores.chunking import item_of
from hexamem.stores.documents import label_names, searchable
from hexamem.stores.embedders import Embedder
from hexamem.stores.embedders.late_interaction import unit_rows
from hexamem.stores.ledger import (
    Ledger,
    Transaction,
    get_items,
    read_items,
    select_item_ids,
    select_step_ids,
    user_key,
)
from hexamem.stores.ledger.labels import read_labels
from hexamem.stores.ledger.pages import get_pages, page_steps
from hexamem.stores.lexical import LexicalFilter, LexicalStore
from hexamem.stores.vectors import VectorIndex
from hexamem.stores.vocabulary import Vocabulary

__all__ = ["EvidenceFilter", "LaneSearch", "ResearchLanes", "SearchFound"]

_PAGES, _NEAR_PAGES, _PAGE_STEPS, _ITEMS = 4, 200, 80, 20
_STEP = "step_"
_EXACT, _WIDEN = 1_000, 4  # vectors of more steps than this are not compared one by one


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceFilter:
    """A filter, evaluated on the ledger. It is truthy if it may exclude anything.

    Attributes:
        where: conditions on steps and items.
        as_of: steps that had happened, and items that were true, at this time.
        known_at: steps and items that were stored at this time, items in the version of then.
        kinds: "step" and kinds of items; None for all.
    """

    where: Where | None = None
    as_of: datetime | None = None
    known_at: datetime | None = None
    kinds: frozenset[str] | None = None

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> EvidenceFilter:
        """From JSON: ``where`` as a mapping of its fields, times as ISO 8601 (in UTC without an offset), ``kinds`` as a list;
        any may be missing or None.

        Raises:
            InvalidInputError: for an unknown condition, or a time that cannot be parsed.
        """
        where, kinds = values.get("where"), values.get("kinds")
        kinds = (kinds,) if isinstance(kinds, str) else kinds
        return cls(
            where=where if where is None or isinstance(where, Where) else Where.parse(dict(where)),
            as_of=_moment(values.get("as_of")),
            known_at=_moment(values.get("known_at")),
            kinds=None if kinds is None else frozenset(kinds),
        )

    @classmethod
    def of_request(cls, request: SearchRequest) -> EvidenceFilter:
        """The filter of a search."""
        return cls(where=request.where, as_of=request.as_of, known_at=request.known_at, kinds=request.only)

    def __bool__(self) -> bool:
        narrowed = self.where is not None and not self.where.empty
        return narrowed or any(value is not None for value in (self.as_of, self.known_at, self.kinds))

    @property
    def moment(self) -> datetime | None:
        """The time to which the question is relative; None for now."""
        return self.as_of or self.known_at

    def json(self) -> dict[str, Any]:
        """The filter as JSON, for :meth:`of`."""
        return {
            "where": None if self.where is None else self.where.model_dump(mode="json"),
            "as_of": None if self.as_of is None else self.as_of.isoformat(),
            "known_at": None if self.known_at is None else self.known_at.isoformat(),
            "kinds": None if self.kinds is None else sorted(self.kinds),
        }

    def narrowing(self, request: SearchRequest) -> SearchRequest:
        """The search with this filter."""
        update = {"where": self.where, "as_of": self.as_of, "known_at": self.known_at, "only": self.kinds}
        return request.model_copy(update=update)

    def steps(self, tx: Transaction, among: Collection[str] | None = None) -> set[str]:
        """The steps that may be read, all or those among some."""
        if not tx.user_id or (self.kinds is not None and "step" not in self.kinds):
            return set()
        return select_step_ids(tx, self.where, self.as_of, self.known_at, among)

    def items(self, tx: Transaction, kinds: Collection[str] | None = None) -> set[str]:
        """The items that may be read."""
        chosen = self._item_kinds(kinds)
        if not tx.user_id or chosen == []:
            return set()
        if self.known_at is not None:
            return {item.id for item in self._believed(tx, chosen)}
        return select_item_ids(tx, kinds=chosen, where=self.where, as_of=self.as_of, superseded=False)

    def among(self, tx: Transaction, ids: Collection[str]) -> set[str]:
        """Those of some steps and items that may be read."""
        if not self:
            return set(ids)
        permitted = self.steps(tx, [record_id for record_id in ids if record_id.startswith(_STEP)])
        others = [record_id for record_id in ids if not record_id.startswith(_STEP)]
        return permitted | (self.items(tx).intersection(others) if others else set())

    def read_items(self, tx: Transaction, ids: Collection[str]) -> dict[str, MemoryItem]:
        """The items of these ids that may be read: active ones, or those of the filter's time in the version of then."""
        chosen = set(ids)
        if not chosen:
            return {}
        if self.known_at is not None:
            return {item.id: item for item in self._believed(tx, self._item_kinds(None)) if item.id in chosen}
        items = get_items(tx, chosen)
        if self.as_of is None:
            return {item.id: item for item in items.values() if item.status == "active"}
        permitted = self.items(tx)
        return {item.id: item for item in items.values() if item.id in permitted}

    def former(self, tx: Transaction, kinds: Collection[str]) -> dict[str, MemoryItem]:
        """Items of some kinds in the version of ``known_at``, if the indexes do not hold that text any more."""
        chosen = self._item_kinds(kinds)
        if self.known_at is None or not tx.user_id or chosen == []:
            return {}
        former = {item.id: item for item in self._believed(tx, chosen)}
        current = get_items(tx, former)
        indexed = {item.id for item in current.values() if item.status in ("active", "superseded")}
        return {
            item_id: item
            for item_id, item in former.items()
            if item_id not in indexed or current[item_id].text != item.text
        }

    def _believed(self, tx: Transaction, kinds: list[str] | None) -> list[MemoryItem]:
        return read_items(tx, kinds=kinds, where=self.where, as_of=self.as_of, known_at=self.known_at)

    def _item_kinds(self, kinds: Collection[str] | None) -> list[str] | None:
        if self.kinds is None:
            return None if kinds is None else list(kinds)
        return [kind for kind in sorted(self.kinds) if kind != "step" and (kinds is None or kind in kinds)]


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


def _moment(value: Any) -> datetime | None:
    return None if value is None else parse_time(value).utc
