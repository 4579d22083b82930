"""Compares the question with the candidates and the steps beside them: by vectors, stems and single tokens.

Arrays over rows around the pool have one more column of zeros, for a missing neighbour.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from hexamem.retrieval.signals.pool import Pool
from hexamem.retrieval.signals.question import ParsedQuestion, is_question
from hexamem.stores.embedders.base import FloatArray
from hexamem.stores.embedders.late_interaction import unit_rows
from hexamem.stores.products import products
from hexamem.stores.working_set import WorkingSet

__all__ = ["REPEATED", "Content", "read_content"]

_K1, _B = 1.2, 0.75
"""BM25's constants (Robertson and Zaragoza, 2009)."""
_TINY = 1e-9
REPEATED = 0.97
"""The least cosine of a question with a step that repeats it."""
_NOTHING = np.zeros((2, 1), np.float32)


@dataclass(frozen=True, slots=True)
class Content:
    """The results of the comparison, for ``n`` candidates, ``u`` rows around them, ``t`` stems and ``q`` tokens.

    ``u`` includes the column of zeros. Of an attribute and the same with ``own_``, the first is over rows, the second over
    candidates.

    Attributes:
        question: the vector of the question without names, ``(dimension,)``.
        items: the vectors of the candidates that are items.
        dense: cosine with the question, ``(u,)``.
        bare: cosine with the question without names, ``(u,)``.
        idf: of the stems without names, ``(t,)``; sums to 1, if there are any.
        holds: whether each stem occurs, ``(t, u)``.
        bm25: BM25 of the stems without names, ``(u,)``.
        own_bm25_names: BM25 of the stems with names, ``(n,)``.
        weights: weights of the tokens by rarity, ``(q,)``; sums to 1.
        lengths: weights of the tokens by the lengths of their vectors, ``(q,)``; sums to 1.
        likeness: the greatest cosine of each token with a token of the text, at least 0, ``(q, u)``.
        session_bm25: BM25 of every session.
        hop: makes second-hop queries (``Embedder.hop``).
    """

    question: FloatArray
    items: FloatArray
    dense: FloatArray
    bare: FloatArray
    own_dense: FloatArray
    own_bare: FloatArray
    idf: FloatArray
    holds: FloatArray
    own_holds: FloatArray
    bm25: FloatArray
    own_bm25: FloatArray
    own_bm25_names: FloatArray
    weights: FloatArray
    lengths: FloatArray
    likeness: FloatArray
    own_likeness: FloatArray
    session_bm25: FloatArray
    hop: Callable[[FloatArray, FloatArray], FloatArray | None] | None = None

    def vectors_of(self, chosen: Sequence[int], pool: Pool, steps: WorkingSet) -> FloatArray:
        """The vectors of some candidates, ``(len(chosen), dimension)``."""
        return np.array(
            [
                steps.vectors(pool.rows[[index]])[0] if index < pool.steps else self.items[index - pool.steps]
                for index in chosen
            ]
        )

    def likeness_to(self, chosen: Sequence[int], pool: Pool, steps: WorkingSet) -> tuple[FloatArray, FloatArray]:
        """The cosines of all candidates with some of them, ``(n, len(chosen))``, and the mean vector of these."""
        theirs = self.vectors_of(chosen, pool, steps)
        own = steps.products(pool.rows[: pool.steps], theirs)
        return np.concatenate([own, products(self.items, theirs.T)]), theirs.mean(axis=0)


def read_content(question: ParsedQuestion, pool: Pool, steps: WorkingSet) -> Content:
    """Compare the question with the candidates and the rows around them."""
    items = np.array([item.vector for item in pool.items], np.float32).reshape(-1, steps.dimension)
    vectors = np.stack([question.vector, question.bare])
    dense, bare = np.append(steps.products(pool.around, vectors).T, _NOTHING, 1)
    item_dense, item_bare = products(items, vectors.T).T
    own_dense, own_bare = _own(dense, item_dense, pool), _own(bare, item_bare, pool)
    words = _Words(question, pool, steps)
    weights, lengths, likeness, own_likeness = _late(question, pool, steps)
    if is_question(question.text):  # what stands beside a step that repeats it is no evidence because of that step
        repeats = dense >= REPEATED
        for around in (dense, bare, words.bm25, words.holds, likeness):
            around[..., repeats] = 0
    return Content(
        question.bare, items, dense, bare, own_dense, own_bare,
        words.idf, words.holds, words.own_holds, words.bm25, words.own_bm25, words.own_bm25_names,
        weights, lengths, likeness, own_likeness, words.session_bm25, question.hop,
    )  # fmt: skip


def _own(around: FloatArray, items: FloatArray, pool: Pool) -> FloatArray:
    """The columns of candidates: of a step that of its row, of an item its own."""
    return np.concatenate([np.take(around, pool.at[0][: pool.steps], axis=-1), items], axis=-1)


class _Words:
    """Occurrences of stems, and BM25 of steps, items and sessions."""

    def __init__(self, question: ParsedQuestion, pool: Pool, steps: WorkingSet) -> None:
        total, columns = len(steps), len(pool.around) + 1
        bare = [number for _, number in question.stems]
        named = dict(question.all_stems).keys() - dict(question.stems).keys()
        names = [number for stem, number in question.all_stems if stem in named]
        every = [*bare, *names]
        place = np.full(total, -1, np.int32)
        place[pool.around] = np.arange(len(pool.around), dtype=np.int32)
        counts = np.zeros((len(every), columns), np.float32)
        item_counts = np.zeros((len(every), len(pool.items)), np.float32)
        idf = np.zeros(len(every), np.float32)
        sessions = len(steps.session_size)
        session_bm25 = np.zeros(sessions, np.float32)
        mean_session = steps.stems.total / max(sessions, 1)
        session_norm = _K1 * (1 - _B + _B * steps.session_length / max(mean_session, _TINY))
        for index, number in enumerate(every):
            rows = steps.stems.rows_holding(number) if number >= 0 else np.empty(0, np.int32)
            held = int(np.count_nonzero(rows[1:] != rows[:-1])) + 1 if len(rows) else 0
            idf[index] = np.log1p((total - held + 0.5) / (held + 0.5))
            if len(rows):
                places = place[rows]
                counts[index] = np.bincount(places[places >= 0], minlength=columns)
                if index < len(bare):
                    frequency = np.bincount(steps.session[rows], minlength=sessions)
                    having = int(np.count_nonzero(frequency))
                    rarity = np.log1p((sessions - having + 0.5) / (having + 0.5))
                    session_bm25 += rarity * frequency * (_K1 + 1) / (frequency + session_norm)
                item_counts[index] = [item.stems.get(number, 0) for item in pool.items]
        lengths = np.append(steps.stems.length[pool.around], 0.0)
        mean = max(steps.stems.total / max(total, 1), 1.0)
        item_lengths = np.array([item.length for item in pool.items], np.float32)
        gains = _bm25(counts, idf, lengths, mean)
        item_gains = _bm25(item_counts, idf, item_lengths, mean)
        self.bm25 = gains[: len(bare)].sum(axis=0)
        self.own_bm25 = _own(self.bm25, item_gains[: len(bare)].sum(axis=0), pool)
        self.own_bm25_names = _own(gains.sum(axis=0), item_gains.sum(axis=0), pool)
        self.holds = (counts[: len(bare)] > 0).astype(np.float32)
        self.own_holds = _own(self.holds, (item_counts[: len(bare)] > 0).astype(np.float32), pool)
        self.idf = idf[: len(bare)] / max(float(idf[: len(bare)].sum()), _TINY)
        self.session_bm25 = session_bm25


def _bm25(counts: FloatArray, idf: FloatArray, lengths: FloatArray, mean: float) -> FloatArray:
    norm = _K1 * (1 - _B + _B * lengths / mean)
    return np.asarray(idf[:, None] * counts * (_K1 + 1) / (counts + norm), np.float32)


def _late(
    question: ParsedQuestion, pool: Pool, steps: WorkingSet
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """ColBERT's MaxSim (Khattab and Zaharia, SIGIR 2020, section 3) for each token, over static token vectors."""
    columns, count = len(pool.around) + 1, len(question.pieces)
    if not count or steps.tokens is None:
        empty = np.zeros(0, np.float32)
        return empty, empty, np.zeros((0, columns), np.float32), np.zeros((0, len(pool)), np.float32)
    flat, counts = steps.tokens.of(pool.around)
    flat = np.concatenate([flat, *(item.pieces for item in pool.items)])
    counts = np.concatenate([counts, np.array([len(item.pieces) for item in pool.items], np.int64)])
    best = np.zeros((count, len(counts)), np.float32)
    filled = np.flatnonzero(counts)
    if len(filled):
        marked = np.zeros(int(flat.max()) + 1, bool)
        marked[flat] = True
        used = np.flatnonzero(marked)
        place = np.zeros(len(marked), np.int32)
        place[used] = np.arange(len(used), dtype=np.int32)
        similar = np.maximum(steps.tokens.cosines(used, unit_rows(question.pieces)), 0.0)
        starts = (np.cumsum(counts) - counts)[filled]
        best[:, filled] = np.maximum.reduceat(np.take(similar, np.take(place, flat), axis=0), starts, axis=0).T
    around = np.concatenate([best[:, : len(pool.around)], np.zeros((count, 1), np.float32)], axis=1)
    own = _own(around, best[:, len(pool.around) :], pool)
    held = steps.tokens.frequency(question.piece_numbers)
    rarity = np.log1p((len(steps) - held + 0.5) / (held + 0.5)).astype(np.float32)
    lengths = np.sqrt(np.einsum("ij,ij->i", question.pieces, question.pieces))
    return rarity / max(float(rarity.sum()), _TINY), lengths / max(float(lengths.sum()), _TINY), around, own
