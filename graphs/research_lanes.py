"""The lanes of research, the searches over the indexes, and the filter of what they may return.

Each lane returns ids in order; they are ranked together later.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import zip_longest
from typing import Annotated, Any, NamedTuple

from pydantic import BeforeValidator, field_validator

from hexamem.intent.query import QueryFilter
from hexamem.memory_types import Hit, MemoryItem, Where
from hexamem.memory_types.base import Record
from hexamem.memory_types.research import LANES, SearchRequest
from hexamem.memory_types.times import parse_time
from hexamem.retrieval.packing import with_attached
from hexamem.retrieval.request import RecallFilter, Request
from hexamem.retrieval.search import SearchResult
from hexamem.retrieval.strategies import Strategy, strategy_named
from hexamem.stores.chunking import item_of
from hexamem.stores.documents import label_names
from hexamem.stores.embedders import Embedder
from hexamem.stores.ledger import (
    Ledger,
    Transaction,
    get_items,
    user_key,
)
from hexamem.stores.ledger.labels import read_labels
from hexamem.stores.ledger.pages import get_pages, page_steps
from hexamem.stores.lexical import LexicalFilter, LexicalStore
from hexamem.stores.vectors import VectorIndex
from hexamem.stores.vocabulary import Vocabulary

_PAGES, _NEAR_PAGES, _PAGE_STEPS, _ITEMS = 4, 200, 80, 20
_STEP = "step_"
_STEPS = frozenset(("step",))
_WIDEN = 4  # times as many records are searched where a filter may exclude some


def _read_moment(value: Any) -> Any:
    return parse_time(value).utc if isinstance(value, str) else value


Moment = Annotated[datetime | None, BeforeValidator(_read_moment)]  # as text in UTC, where it has no offset


class EvidenceFilter(Record):
    """A filter, evaluated on the ledger, and as JSON in the graph's state. It is truthy if it may exclude anything."""

    where: Where | None = None  # conditions on steps and items
    as_of: Moment = None  # steps that had happened, and items that were true, at this time
    known_at: Moment = None  # steps and items that were stored at this time, items in the version of then
    kinds: frozenset[str] | None = None  # "step" and kinds of items; None for all

    @field_validator("kinds", mode="before")
    @classmethod
    def _one_kind_is_a_set(cls, value: Any) -> Any:
        return (value,) if isinstance(value, str) else value

    @classmethod
    def of(cls, state: Mapping[str, Any]) -> EvidenceFilter:
        """The filter in a graph's input or state."""
        return cls(**{name: state[name] for name in cls.model_fields if name in state})

    def __bool__(self) -> bool:
        narrowed = self.where is not None and not self.where.empty
        return narrowed or any(value is not None for value in (self.as_of, self.known_at, self.kinds))

    @property
    def moment(self) -> datetime | None:
        """The time to which the question is relative; None for now."""
        return self.as_of or self.known_at

    def request(self, query: str = "", k: int = 1, kinds: frozenset[str] | None = None) -> Request:
        """A recall with this filter, of some kinds."""
        chosen = self.kinds if kinds is None else kinds if self.kinds is None else kinds & self.kinds
        return Request(query=query, k=k, kinds=chosen, where=self.where, as_of=self.as_of, known_at=self.known_at)

    def among(self, tx: Transaction, ids: Collection[str]) -> set[str]:
        """Those of some steps and items that may be read."""
        if not (tx.user_id and self):
            return set(ids)
        permitted = RecallFilter(tx, self.request())
        return permitted.among(ids) | permitted.believed.keys() & set(ids)

    def read_items(self, tx: Transaction, ids: Collection[str]) -> dict[str, MemoryItem]:
        """The items of these ids that may be read: active ones, or those of the filter's time in the version of then."""
        chosen = set(ids)
        if not chosen:
            return {}
        if self.known_at is not None:
            believed = RecallFilter(tx, self.request()).believed
            return {item_id: item for item_id, item in believed.items() if item_id in chosen}
        items = get_items(tx, chosen)
        permitted = chosen if self.as_of is None else self.among(tx, chosen)
        return {
            item_id: item
            for item_id, item in items.items()
            if (item.status == "active" if self.as_of is None else item_id in permitted)
        }


class LaneHits(NamedTuple):
    """The result of one search: ids of records, best first; ids of pages to be read whole; and a line for ``degraded``."""

    ids: Sequence[str] = ()
    pages: Sequence[str] = ()
    degraded: str = ""


LaneSearch = Callable[[str, SearchRequest, EvidenceFilter, int], LaneHits]
"""``(user, request, filter, limit)`` to the result."""


@dataclass(frozen=True, kw_only=True)
class ResearchLanes:
    """The six lanes over one home's ledger and indexes, which must be up to the ledger."""

    ledger: Ledger
    vectors: VectorIndex
    lexical: LexicalStore
    embedder: Embedder
    find: Callable[[str, Request, Strategy], SearchResult]  # a recall
    search_pages: Callable[[str, str, int], Sequence[Hit]]  # (user, question, how many) → pages, best first
    query_intent: Callable[[str, str], QueryFilter]  # (user, question) → the labels that a question names

    def by_name(self) -> dict[str, LaneSearch]:
        """The lanes by name."""
        return {lane: getattr(self, lane) for lane in LANES}

    def vector(self, user: str, request: SearchRequest, filters: EvidenceFilter, pool: int) -> LaneHits:
        """The steps nearest in meaning."""
        return LaneHits(self._recalled(user, filters.request(request.query, pool, _STEPS), "dense"))

    def keyword(self, user: str, request: SearchRequest, filters: EvidenceFilter, pool: int) -> LaneHits:
        """The steps that share words, by BM25."""
        return LaneHits(self._recalled(user, filters.request(request.query, pool, _STEPS), "bm25"))

    def time(self, user: str, request: SearchRequest, filters: EvidenceFilter, pool: int) -> LaneHits:
        """The steps of a period: nearest in meaning and by keywords, interleaved."""
        where = filters.where or Where()
        since = max((bound for bound in (request.since, where.since) if bound is not None), default=None)
        until = min((bound for bound in (request.until, where.until) if bound is not None), default=None)
        if since is not None and until is not None and until < since:
            return LaneHits()
        period = filters.changed(where=where.changed(since=since, until=until))
        return LaneHits(self._both(user, period.request(request.query, pool, _STEPS))[:pool])

    def kind(self, user: str, request: SearchRequest, filters: EvidenceFilter, pool: int) -> LaneHits:
        """The best items of some kinds, by meaning and by keywords, interleaved."""
        found = self._both(user, filters.request(request.query, 2 * _ITEMS, frozenset(request.kinds)))
        with self.ledger.read(user) as tx:
            current = filters.read_items(tx, found) if tx.user_id else {}
        return LaneHits([item_id for item_id in found if item_id in current][: min(pool, _ITEMS)])

    def _recalled(self, user: str, request: Request, strategy: str) -> list[str]:
        if request.kinds is not None and not request.kinds:
            return []
        return [hit.id for hit in with_attached(self.find(user, request, strategy_named(strategy)).hits)]

    def _both(self, user: str, request: Request) -> list[str]:
        return _in_turn(self._recalled(user, request, "bm25"), self._recalled(user, request, "dense"))

    def intent(self, user: str, request: SearchRequest, filters: EvidenceFilter, pool: int) -> LaneHits:
        """The records that carry the label with the query as its name, or the labels that the query names, the densest
        first, and of the same density the nearest."""
        weights = self._label(user, request.query)
        if not weights:
            named = self.query_intent(user, request.query)
            weights = {**named.scopes, **named.events, **named.entities}
        if not weights:
            return LaneHits(degraded="a search by labels names no known label")
        key, wide = user_key(user), _WIDEN * pool if filters else pool
        densities = dict(self.lexical.label_density(key, weights, wide))
        # Many records may have the same density: the nearest that carry a label are added.
        with self.ledger.read(user) as tx:
            names = label_names(Vocabulary(read_labels(tx, weights)), weights) if tx.user_id else {}
        vector = self.embedder.embed_query(request.query)
        near = [step_id for step_id, _ in self.vectors.query(key, "steps", vector, wide, any_of=names)]
        carried = self.lexical.label_density(key, weights, wide, filters=LexicalFilter(ids=set(near)))
        densities = {**dict(carried), **densities}
        with self.ledger.read(user) as tx:
            permitted = filters.among(tx, {item_of(record_id) for record_id in densities})
        step_ids = [record_id for record_id in densities if record_id.startswith(_STEP)]
        words = self.lexical.search(key, request.query, len(densities), filters=LexicalFilter(ids=set(step_ids)))
        meaning = self.vectors.query_among(key, "steps", vector, step_ids, len(densities)) if step_ids else []
        nearest = _in_turn([hit for hit, _ in words], [hit for hit, _ in meaning])
        place = {record_id: rank for rank, record_id in enumerate(nearest)}
        dense = sorted(densities, key=lambda record_id: (-densities[record_id], place.get(record_id, len(place))))
        return LaneHits([item_of(record_id) for record_id in dense if item_of(record_id) in permitted][:pool])

    def page(self, user: str, request: SearchRequest, filters: EvidenceFilter, pool: int) -> LaneHits:
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
            return LaneHits(pages=ids[:_PAGES], degraded=missing_note)
        hits = self.search_pages(user, request.query, _NEAR_PAGES if filters else _PAGES)
        with self.ledger.read(user) as tx:
            steps = page_steps(tx, list(get_pages(tx, [hit.id for hit in hits]).values()))
            step_ids = [step.id for hit in hits for step in steps.get(hit.id, ()) if step.active]
            permitted = filters.among(tx, step_ids)
        return LaneHits([step_id for step_id in step_ids if step_id in permitted][: min(pool, _PAGE_STEPS)])

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


def _in_turn(*rankings: Sequence[str]) -> list[str]:
    """The first of each ranking, then the second of each, and so on, each id once."""
    return list(dict.fromkeys(one for same_rank in zip_longest(*rankings) for one in same_rank if one is not None))
