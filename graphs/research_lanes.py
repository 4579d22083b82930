"""The lanes of research: what each search asks of the indexes. Each gives ids in order; ranking them together comes later."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..intent.query import QueryFilter
from ..memory_types import Hit, Where
from ..memory_types.research import SearchRequest
from ..stores.chunking import item_of
from ..stores.embedders import Embedder
from ..stores.ledger import Ledger, select_item_ids, select_step_ids, user_key
from ..stores.ledger.labels import read_labels
from ..stores.ledger.pages import get_pages, page_steps
from ..stores.lexical import LexicalFilter, LexicalStore
from ..stores.vectors import VectorStore
from ..stores.vocabulary import Vocabulary

__all__ = ["LaneSearch", "ResearchLanes", "SearchFound"]

_PAGES, _PAGE_STEPS, _ITEMS = 4, 80, 20
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
        query_intent: (user, question, vector) → the labels that a question names.
    """

    ledger: Ledger
    vectors: VectorStore
    lexical: LexicalStore
    embedder: Embedder
    search_pages: Callable[[str, str, int], Sequence[Hit]]
    query_intent: Callable[[str, str, npt.NDArray[np.float32] | None], QueryFilter]
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
        return SearchFound([one for one, _ in self.vectors.query(user_key(user), "steps", vector, pool)])

    def keyword(self, user: str, request: SearchRequest, pool: int) -> SearchFound:
        """The steps that share words, by BM25."""
        steps = LexicalFilter(kinds=frozenset(("step",)))
        return SearchFound([one for one, _ in self.lexical.search(user_key(user), request.query, pool, filters=steps)])

    def time(self, user: str, request: SearchRequest, pool: int) -> SearchFound:
        """The steps of a time that are nearest in meaning or share words, in turn."""
        with self.ledger.read(user) as tx:
            ids = select_step_ids(tx, Where(since=request.since, until=request.until)) if tx.user_id else set()
        return SearchFound(self._among(user, request.query, ids, pool))

    def intent(self, user: str, request: SearchRequest, pool: int) -> SearchFound:
        """The steps whose labels a question names, or that carry the label named, the densest first."""
        vector = self.embedder.embed_query(request.query)
        weights = self._label(user, request.query)
        if not weights:
            asked = self.query_intent(user, request.query, vector)
            weights = {**asked.scopes, **asked.events, **asked.entities}
        if not weights:
            return SearchFound(amiss="a search by labels names no label that there is")
        found = self.lexical.label_density(user_key(user), weights, pool)
        near = self._among(user, request.query, {one for one, _ in found if one.startswith(_STEP)}, pool)
        place = {one: at for at, one in enumerate(near)}
        dense = sorted(found, key=lambda one: (-one[1], place.get(one[0], len(place))))
        return SearchFound([item_of(one) for one, _ in dense])

    def page(self, user: str, request: SearchRequest, pool: int) -> SearchFound:
        """Pages to be read whole, where they are named by id; else the steps of the pages that fit a question best."""
        if request.pages:
            with self.ledger.read(user) as tx:
                known = get_pages(tx, request.pages) if tx.user_id else {}
            missing = [one for one in request.pages if one not in known]
            told = f"{len(missing)} pages that there are not were left out" if missing else ""
            return SearchFound(pages=[one for one in request.pages if one in known][:_PAGES], amiss=told)
        hits = self.search_pages(user, request.query, _PAGES)
        with self.ledger.read(user) as tx:
            pages = get_pages(tx, [hit.id for hit in hits])
            steps = page_steps(tx, list(pages.values()))
        found = [step.id for hit in hits for step in steps.get(hit.id, ()) if step.active]
        return SearchFound(found[: min(pool, _PAGE_STEPS)])

    def kind(self, user: str, request: SearchRequest, pool: int) -> SearchFound:
        """The best items of some kinds, by meaning and by words in turn."""
        key, kinds = user_key(user), frozenset(request.kinds)
        words = self.lexical.search(key, request.query, _ITEMS, filters=LexicalFilter(kinds=kinds))
        near = self.vectors.query(key, "items", self.embedder.embed_query(request.query), 2 * _ITEMS)
        theirs = {one for one, _ in words}
        with self.ledger.read(user) as tx:
            among = [item_of(one) for one, _ in near if one not in theirs]
            met = select_item_ids(tx, kinds=list(kinds)) if among and tx.user_id else set()
        near = [one for one in near if one[0] in theirs or item_of(one[0]) in met]
        return SearchFound(list(dict.fromkeys(map(item_of, _in_turn(words, near))))[: min(pool, _ITEMS)])

    def _among(self, user: str, query: str, ids: Collection[str], pool: int) -> list[str]:
        if not ids:
            return []
        key, vector = user_key(user), self.embedder.embed_query(query)
        if len(ids) <= _EXACT:
            near = self.vectors.query_among(key, "steps", vector, ids, pool)
        else:  # so many are among the nearest anyway
            wide = self.vectors.query(key, "steps", vector, _WIDEN * pool)
            near = [one for one in wide if one[0] in ids][:pool]
        words = self.lexical.search(key, query, pool, filters=LexicalFilter(ids=ids))
        return _in_turn(words, near)[:pool]

    def _label(self, user: str, name: str) -> dict[str, float]:
        """The labels that a name or path stands for alone; nothing where it is a question rather than a name."""
        with self.ledger.read(user) as tx:
            vocabulary = Vocabulary(read_labels(tx)) if tx.user_id else Vocabulary(())
        found = vocabulary.find(name) if len(name) <= 200 else []
        return {one: 1.0 for label_id in found[:4] for one in vocabulary.covering(label_id)}

    def item_kinds(self, user: str) -> tuple[str, ...]:
        """The kinds of items that a user has."""
        from sqlalchemy import select

        from ..stores.ledger.schema import items

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
