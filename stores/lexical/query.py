"""Queries on one user's tantivy index: terms of a text, conditions of a filter, and the best hits in a fixed order."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import tantivy
from tantivy import Occur, Query

from hexamem.stores.lexical.records import (
    EXACT,
    ID,
    KIND,
    LABEL,
    SPEAKER,
    STEMMED,
    THREAD,
    TIE,
    TIME,
    LexicalFilter,
    decode_key,
    encode_key,
    make_schema,
    make_stemmer,
)
from hexamem.stores.lexical.tokens import tokenize_document, tokenize_query

__all__ = ["Clauses", "LexicalQueries", "NoDocuments", "term_query"]

Clauses = list[tuple[Any, Any]]
"""Alternatives of a query, each as ``(Occur.Should, query)``."""

_SCHEMA = make_schema()
_FIRST, _LAST = -(1 << 63), (1 << 63) - 1
_K1 = 1.2  # tantivy's own constant
# Chosen on five conversations of LoCoMo; leaving out question words: recall@10 0.629 against 0.533.
_WEIGHTS = {STEMMED: 1.0, EXACT: 0.5}
_MAX_CHARACTERS = 20_000  # the rest of a longer query is ignored
_MAX_TERMS = 64  # of more distinct terms only the rarest are searched
_MAX_TIES = 4_096  # tied hits at the cut that are ordered; among more, the index's order decides
_SLACK = 16  # hits fetched beyond k, so that most ties at the cut need no second search


class NoDocuments:
    """The searcher of an index that was never written."""

    num_docs = 0

    def doc_freq(self, field: str, term: str) -> int:
        """No document has any term."""
        return 0


def term_query(field: str, value: str) -> Any:
    """Documents with one term of the index."""
    return Query.term_query(_SCHEMA, field, value, "freq" if field in {STEMMED, EXACT} else "basic")


class LexicalQueries:
    """Builds and runs queries. Thread-safe."""

    def __init__(self) -> None:
        self._stemmer = make_stemmer()

    def text(self, searcher: Any, query: str) -> Clauses:
        """One clause for each distinct term of the text, or for the rarest of many."""
        clauses = []
        for field, term, weight in self._terms(searcher, query):
            clause = term_query(field, term)
            clauses.append((Occur.Should, clause if weight == 1 else Query.boost_query(clause, weight)))
        return clauses

    def _terms(self, searcher: Any, query: str) -> list[tuple[str, str, float]]:
        tokens = tokenize_query(query[:_MAX_CHARACTERS])
        stems = dict.fromkeys(self._stemmer.analyze(" ".join(tokens.stemmed)))
        by_field = {STEMMED: stems, EXACT: tokens.exact}
        terms = [(field, term, _WEIGHTS[field]) for field, of_field in by_field.items() for term in of_field]
        if len(terms) > _MAX_TERMS:
            known = [(frequency, term) for term in terms if (frequency := searcher.doc_freq(term[0], term[1]))]
            known.sort(key=lambda pair: pair[0])  # stable: equally rare terms stay in the order of the text
            terms = [term for _, term in known[:_MAX_TERMS]]
        return terms

    def scores(self, searcher: Any, query: str, texts: Iterable[str]) -> list[float]:
        """BM25 of texts that are not in the index, by the index's term statistics; each as of mean length."""
        documents, terms = searcher.num_docs, []
        for field, term, weight in self._terms(searcher, query):
            frequency = min(searcher.doc_freq(field, term), documents)  # it counts deleted documents too
            idf = math.log1p((documents - frequency + 0.5) / (frequency + 0.5))
            terms.append((field, term, weight * idf * (_K1 + 1)))
        scores = []
        for text in texts:
            streams = tokenize_document(text)
            counts = {STEMMED: Counter(self._stemmer.analyze(" ".join(streams.stemmed))), EXACT: Counter(streams.exact)}
            found = ((counts[field][term], weight) for field, term, weight in terms)
            scores.append(sum(weight * count / (count + _K1) for count, weight in found if count))
        return scores

    @staticmethod
    def labels(weights: Mapping[str, float]) -> Clauses:
        """One clause of constant score for each label of a weight above 0."""
        return [
            (Occur.Should, Query.const_score_query(term_query(LABEL, encode_key(label)), weight))
            for label, weight in weights.items()
            if weight
        ]

    def run(self, searcher: Any, clauses: Clauses, k: int, filters: LexicalFilter | None) -> list[tuple[str, float]]:
        """The k best documents that match a clause and pass the filter, as ``(id, score)``, best first."""
        documents = searcher.num_docs
        filters = filters or LexicalFilter()
        collections = (filters.ids, filters.speakers, filters.kinds)
        if not clauses or not documents or any(values is not None and not values for values in collections):
            return []
        conditions = _conditions(filters)
        allowed: Collection[str] | None = None
        if filters.ids is not None:
            # The cheaper way: read the ids of the best hits, or look up every given id.
            if min(k, documents) * documents < len(filters.ids) ** 2:
                allowed = filters.ids if isinstance(filters.ids, set | frozenset) else set(filters.ids)
            else:
                keys = sorted({encode_key(record_id) for record_id in filters.ids})
                conditions.append(Query.term_set_query(_SCHEMA, ID, keys))
        query = Query.boolean_query(clauses)
        if conditions:
            required = [(Occur.Must, Query.const_score_query(condition, 0.0)) for condition in conditions]
            query = Query.boolean_query([(Occur.Must, query), *required])
        if allowed is None:
            return self._top(searcher, query, k)
        wide = k * (1 + 2 * documents // len(allowed))
        while True:
            hits = self._top(searcher, query, wide)
            passed = [hit for hit in hits if hit[0] in allowed]
            if len(passed) >= k or len(hits) < wide:
                return passed[:k]
            wide *= 4

    def _top(self, searcher: Any, query: Any, k: int) -> list[tuple[str, float]]:
        documents = searcher.num_docs
        wanted = min(k, documents)
        most = min(wanted + _MAX_TIES, documents)
        limit = min(wanted + _SLACK, most)
        while True:
            hits = searcher.search(query, limit, count=False).hits
            if len(hits) < limit or limit == most or hits[-1][0] < hits[wanted - 1][0]:
                break
            limit = min(limit * 4, most)
        addresses = [address for _, address in hits]
        times = searcher.fast_field_values(TIME, addresses)
        ties = searcher.fast_field_values(TIE, addresses)
        order = _in_order([score for score, _ in hits], times, ties)[:wanted]
        return [(decode_key(searcher.doc(addresses[n]).get_first(ID)), hits[n][0]) for n in order]


def _in_order(scores: Sequence[float], times: Sequence[int | None], ties: Sequence[int]) -> list[int]:
    """The indices of hits in order: by score, then time, the latest first and undated last, then the tie-breaking number."""
    undated = np.array([time is None for time in times])
    latest = np.array([0 if time is None else time for time in times], dtype=np.int64)
    order = np.lexsort((np.array(ties, dtype=np.int64), ~latest, undated, -np.array(scores)))  # ~ of the least fits too
    return [int(place) for place in order]


def _conditions(filters: LexicalFilter) -> list[Any]:
    conditions = []
    if filters.thread_id is not None:
        conditions.append(term_query(THREAD, encode_key(filters.thread_id)))
    for field, values in ((SPEAKER, filters.speakers), (KIND, filters.kinds)):
        if values is not None:
            any_of = [(Occur.Should, term_query(field, encode_key(value))) for value in sorted(values)]
            conditions.append(Query.boolean_query(any_of))
    if filters.since is not None or filters.until is not None:
        since = _FIRST if filters.since is None else max(filters.since, _FIRST)
        until = _LAST if filters.until is None else min(filters.until, _LAST)
        if since > until:
            return [Query.empty_query()]
        conditions.append(Query.range_query(_SCHEMA, TIME, tantivy.FieldType.Integer, since, until))
    return conditions
