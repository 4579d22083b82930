"""The working set: the features of every step of a user that ranking reads, as arrays in memory.

A recall compares a question with hundreds of steps, their neighbours and their sessions. Read from the stores that
takes tens of milliseconds, from arrays a few. The set is derived from the ledger and the vector index.

Two hundred thousand steps of 256 dimensions take about 150 MB: a vector has one byte per dimension, which changes a
cosine by less than 0.005.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from hexamem.stores.embedders.base import FloatArray
from hexamem.stores.growing_array import Column, GrowingArray, PieceVectors, dot_products, quantize
from hexamem.stores.step_form import FORM_FLAGS, form_of
from hexamem.stores.step_tokens import StepTokens
from hexamem.stores.step_words import StepWords

__all__ = ["LAGS", "StepFacts", "WorkingSet"]

LAGS = 4
"""Cosines are stored with so many following steps: a window of five needs four."""
_GAP = 6 * 3_600  # seconds: a longer pause begins a new session
_SESSION_STEPS = 96
_MAX_CHARACTERS = 4_000  # of a step


class StepFacts(NamedTuple):
    """The content of a step that a working set reads.

    Attributes:
        text: the searched text, without the speaker; ``content`` is the stored text.
        seconds: since 1970.
        pictured: whether it has media.
        seq: the steps of a user are stored in this order.
        embedded: the text to embed.
        change: the number of its last change.
    """

    id: str
    thread_id: str
    turn: int
    speaker: str
    role: str
    text: str
    content: str
    seconds: int
    offset_minutes: int = 0
    pictured: bool = False
    seq: int = 0
    embedded: str = ""
    active: bool = True
    change: int = 0

    @property
    def digests(self) -> tuple[int, int]:
        """Hashes, valid in this process, of what is stored and of the searched text."""
        return hash((self.speaker, self.content)), hash((self.text, self.pictured))


class _Last(NamedTuple):
    """The last step of a thread, and the size of its session in steps."""

    row: int
    seconds: int
    session: int
    size: int


class WorkingSet:
    """The steps of one user, in the order in which they were stored; a step's position is its row.

    Args:
        dimension: of the vectors.
        pieces: the vectors of word pieces for late interaction, shared by all sets; None for an embedder without.

    Attributes:
        ids: step id by row; ``row_of`` is the inverse.
        last_seq: the ``seq`` of the last step.
        oldest, latest: time of the first and the last step, in seconds since 1970.
        stems, tokens: the stems and the tokens of each row; no tokens for an embedder without.
        speakers: casefolded names, indexed by the numbers in ``speaker``; ``roles`` are their roles.
        before, after: the row of the previous or next step of the same session, or -1.
        session, position: the number of the session of each row, and the position of the row in it, from 0.
        day: the local date of each row, in days since 1970; ``seconds`` is its time since 1970.
        speaker: the number of the speaker of each row.
        form: float32 ``(rows, len(FORM_FLAGS))``, see :mod:`.step_form`.
        lags: float32 ``(rows, LAGS)``: cosine with the 1st, 2nd, … following step of its session, or 0.
        session_length, session_size: the numbers of words and steps of each session.
    """

    before, after, session, position = Column(), Column(), Column(), Column()
    day, seconds, speaker, form, lags = Column(), Column(), Column(), Column(), Column()
    session_length, session_size = Column(), Column()

    def __init__(self, dimension: int, pieces: PieceVectors | None) -> None:
        self.dimension = dimension
        self.ids: list[str] = []
        self.row_of: dict[str, int] = {}
        self.speakers: list[str] = []
        self.roles: list[str] = []
        self._speaker_of: dict[str, int] = {}
        self.last_seq = self.oldest = self.latest = 0
        self.stems = StepWords()
        self.tokens = None if pieces is None else StepTokens(pieces)
        self._last_of: dict[str, _Last] = {}  # by thread
        self._inverse_lengths: tuple[float, FloatArray] | None = None
        self._digests = GrowingArray(np.int64, 2)
        self._vectors, self._scales = GrowingArray(np.int8, dimension), GrowingArray(np.float32)
        self._before, self._after = GrowingArray(np.int32), GrowingArray(np.int32)
        self._session, self._position = GrowingArray(np.int32), GrowingArray(np.int32)
        self._day, self._seconds = GrowingArray(np.int32), GrowingArray(np.int64)
        self._speaker = GrowingArray(np.int32)
        self._form, self._lags = GrowingArray(np.float32, len(FORM_FLAGS)), GrowingArray(np.float32, LAGS)
        self._session_sum = GrowingArray(np.float32, dimension)
        self._session_length, self._session_size = GrowingArray(np.float32), GrowingArray(np.int32)

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def nbytes(self) -> int:
        """Approximate memory in bytes."""
        arrays = sum(array.nbytes for array in vars(self).values() if isinstance(array, GrowingArray))
        tokens = 0 if self.tokens is None else self.tokens.nbytes
        return arrays + self.stems.nbytes + tokens + len(self.ids) * 220 + len(self._last_of) * 300

    # --------------------------------------------------------------------------------------------------------- adding

    def add(self, steps: Sequence[StepFacts], vectors: FloatArray) -> None:
        """Append new steps.

        Args:
            steps: in the order of storage, after all earlier steps.
            vectors: of length 1, ``(n, dimension)``.
        """
        if not steps:
            return
        first = len(self.ids)
        self._inverse_lengths = None
        numbers, scales = quantize(np.asarray(vectors, np.float32))
        self._vectors.extend(numbers)
        self._scales.extend(scales)
        self.row_of.update(zip([step.id for step in steps], range(first, first + len(steps)), strict=True))
        self.ids.extend([step.id for step in steps])
        self.last_seq = steps[-1].seq
        self._digests.extend([step.digests for step in steps])
        self._seconds.extend([step.seconds for step in steps])
        self._day.extend([(step.seconds + 60 * step.offset_minutes) // 86_400 for step in steps])
        self._speaker.extend([self._number_speaker(step) for step in steps])
        self._form.extend([form_of(step.content, step.pictured) for step in steps])
        new = self.seconds[first:]
        self.oldest = min(int(new.min()), self.oldest if first else int(new.min()))
        self.latest = max(int(new.max()), self.latest if first else int(new.max()))
        texts = [step.text[:_MAX_CHARACTERS] for step in steps]
        self.stems.add(texts)
        if self.tokens is not None:
            self.tokens.add(texts)
        self._place(first, [step.thread_id for step in steps])
        rows = np.arange(first, len(self.ids))
        self._sum_up(rows)
        self._lags.extend(np.zeros((len(rows), LAGS), np.float32))
        self._compare(rows)

    def _number_speaker(self, step: StepFacts) -> int:
        key = step.speaker.casefold()
        number = self._speaker_of.get(key)
        if number is None:
            number = self._speaker_of[key] = len(self.speakers)
            self.speakers.append(key)
            self.roles.append(step.role)
        return number

    def _place(self, first: int, threads: Sequence[str]) -> None:
        """Assign sessions and neighbours to new rows of these threads."""
        sessions, positions, before = [], [], []
        known = self._session_size.size
        opened = 0
        for row, (thread, moment) in enumerate(zip(threads, self.seconds[first:].tolist(), strict=True), first):
            last = self._last_of.get(thread)
            if last is None or abs(moment - last.seconds) > _GAP or last.size >= _SESSION_STEPS:
                last, session, size = None, known + opened, 0
                opened += 1
            else:
                session, size = last.session, last.size
            before.append(-1 if last is None else last.row)
            sessions.append(session)
            positions.append(size)
            self._last_of[thread] = _Last(row, moment, session, size + 1)
        self._session.extend(sessions)
        self._position.extend(positions)
        self._before.extend(before)
        self._after.extend(np.full(len(before), -1))
        ahead = self.before[first:]
        self.after[ahead[ahead >= 0]] = np.flatnonzero(ahead >= 0) + first
        self._session_sum.extend(np.zeros((opened, self.dimension), np.float32))
        self._session_length.extend(np.zeros(opened, np.float32))
        self._session_size.extend(np.zeros(opened, np.int32))

    def _sum_up(self, rows: npt.NDArray[np.int64]) -> None:
        """Add new rows to the sums of their sessions."""
        sessions = self.session[rows]
        order = np.argsort(sessions, kind="stable")
        distinct, starts = np.unique(sessions[order], return_index=True)
        self._session_sum.values[distinct] += np.add.reduceat(self.vectors(rows)[order], starts, axis=0)
        self._session_length.values[distinct] += np.add.reduceat(self.stems.length[rows][order], starts)
        self._session_size.values[distinct] += np.diff([*starts, len(order)]).astype(np.int32)

    def _compare(self, rows: npt.NDArray[np.int64]) -> None:
        """Compute the cosines of rows with the rows before them."""
        own, earlier = self.vectors(rows), rows
        for lag in range(LAGS):
            earlier = np.where(earlier >= 0, self.before[np.maximum(earlier, 0)], -1)
            there = np.flatnonzero(earlier >= 0)
            self.lags[earlier[there], lag] = np.einsum("ij,ij->i", own[there], self.vectors(earlier[there]))

    def compare(self, step: StepFacts) -> Literal["new", "same", "resolved", "changed"]:
        """Whether the set has a step: not at all, as it is, with another searched text, or with other stored words."""
        row = self.row_of.get(step.id)
        if row is None:
            return "new"
        (stored, searched), now = self._digests.values[row].tolist(), step.digests
        if stored != now[0]:
            return "changed"
        return "same" if searched == now[1] else "resolved"

    def replace(self, steps: Sequence[StepFacts], vectors: FloatArray) -> None:
        """Replace the searched texts and vectors ``(n, dimension)`` of steps whose stored words are the same."""
        if not steps:
            return
        rows = np.array([self.row_of[step.id] for step in steps], np.int64)
        texts = [step.text[:_MAX_CHARACTERS] for step in steps]
        self._inverse_lengths = None
        former, lengths = self.vectors(rows), self.stems.length[rows]
        self._vectors.values[rows], self._scales.values[rows] = quantize(np.asarray(vectors, np.float32))
        self._digests.values[rows] = [step.digests for step in steps]
        self._form.values[rows] = [form_of(step.content, step.pictured) for step in steps]
        self.stems.replace(rows, texts)
        if self.tokens is not None:
            self.tokens.replace(rows, texts)
        np.add.at(self._session_sum.values, self.session[rows], self.vectors(rows) - former)
        np.add.at(self._session_length.values, self.session[rows], self.stems.length[rows] - lengths)
        compared = rows
        for _ in range(LAGS):
            later = self.after[compared].astype(np.int64)
            compared = np.union1d(compared, later[later >= 0])
        self._compare(compared)

    # -------------------------------------------------------------------------------------------------------- reading

    def vectors(self, rows: npt.NDArray[np.integer]) -> FloatArray:
        """The vectors of rows, float32 ``(n, dimension)``."""
        vectors = np.take(self._vectors.values, rows, axis=0).astype(np.float32)
        vectors *= np.take(self._scales.values, rows)[:, None]
        return vectors

    def session_vectors(self, sessions: npt.NDArray[np.integer]) -> FloatArray:
        """The mean direction of each session, of length 1."""
        sums = np.asarray(self._session_sum.values[sessions], np.float32)
        return np.asarray(sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-9), np.float32)

    def similarities(self, vector: FloatArray) -> FloatArray:
        """The cosine of every row with a vector ``(dimension,)``; with vectors ``(n, dimension)``, ``(n, rows)``."""
        products = dot_products(self._vectors.values, np.atleast_2d(vector)).T
        cosines = np.multiply(products, self._scales.values, order="C")
        return cosines if vector.ndim > 1 else np.asarray(cosines[0], np.float32)

    def products(self, rows: npt.NDArray[np.integer], others: FloatArray) -> FloatArray:
        """The cosine of some rows with unit vectors ``(n, dimension)``: ``(len(rows), n)``."""
        products = dot_products(self._vectors.values, others, rows)
        products *= np.take(self._scales.values, rows)[:, None]
        return products

    def with_neighbours(self, cosines: FloatArray, weight: float) -> FloatArray:
        """The cosine of a question with the weighted sum of every row and its neighbours.

        Args:
            cosines: of the question with every row.
            weight: of a neighbour; the row itself has weight 1.
        """
        inverse_lengths = self._inverse_lengths_of_sums(weight)
        padded = np.append(cosines, np.float32(0))
        beside = padded[self.before]
        beside += padded[self.after]
        beside *= np.float32(weight)
        beside += cosines
        beside *= inverse_lengths
        return np.asarray(beside, np.float32)

    def _inverse_lengths_of_sums(self, weight: float) -> FloatArray:
        """One over the length of the weighted sum of each row's vector and its neighbours'."""
        known = self._inverse_lengths
        if known is None or known[0] != weight:
            first = np.append(self.lags[:, 0], np.float32(0))  # -1, for none, is the last
            before = weight**2 * (self.before >= 0) + 2 * weight * first[self.before]
            after = weight**2 * (self.after >= 0) + 2 * weight * first[:-1]
            known = self._inverse_lengths = (
                weight,
                (1 / np.sqrt(np.maximum(1 + before + after, 1e-3))).astype(np.float32),
            )
        return known[1]

    def prepare(self, weight: float) -> None:
        """Compute in advance what the next question needs, for this weight of :meth:`with_neighbours`."""
        self._inverse_lengths_of_sums(weight)
        self.stems.prepare()
