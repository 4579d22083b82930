"""The working set: the features of every step of a user that ranking reads, as arrays in memory.

A recall compares a question with hundreds of steps, their neighbours and their sessions. Read from the stores that
takes tens of milliseconds, from arrays a few. The set is derived from the ledger and the vector index, and contains
numbers and hashes, not texts.

Two hundred thousand steps of 256 dimensions take about 150 MB: a vector has one byte per dimension, which changes a
cosine by less than 0.005.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from hexamem.stores.embedders.base import FloatArray
from hexamem.stores.growing_array import Arrays, GrowingArray, IntArray, dot_products, hash_text, quantize
from hexamem.stores.piece_vectors import PieceVectors
from hexamem.stores.step_arrays import BY_ROW, BY_SESSION, LAGS, OF_STEP, ROLES, StepArrays
from hexamem.stores.step_form import form_of
from hexamem.stores.step_tokens import StepTokens
from hexamem.stores.step_words import StepWords

__all__ = ["LAGS", "StepFacts", "WorkingSet"]

_GAP = 6 * 3_600  # seconds: a longer pause begins a new session
_SESSION_STEPS = 96
_BATCH = 4_096
_MAX_CHARACTERS = 4_000  # of a step


class StepFacts(NamedTuple):
    """The content of a step that a working set reads.

    Attributes:
        text: the searched text, without the speaker; ``said`` is the stored text.
        seconds: since 1970.
        pictured: whether it has media.
        seq: the steps of a user are stored in this order.
    """

    id: str
    thread_id: str
    turn: int
    speaker: str
    role: str
    text: str
    said: str
    seconds: int
    offset_minutes: int = 0
    pictured: bool = False
    seq: int = 0

    @property
    def digest(self) -> int:
        """A hash that changes with the words, the speaker and the turn."""
        words = f"{self.speaker}\0{self.text}\0{self.said}\0{self.turn}".encode("utf-8", "surrogatepass")
        return int.from_bytes(hashlib.blake2b(words, digest_size=8).digest(), "big", signed=True)


class _Last(NamedTuple):
    """The last step of a thread, and the size of its session in steps."""

    row: int
    seconds: int
    session: int
    size: int


class WorkingSet(StepArrays):
    """The steps of one user, in the order in which they were added; a step's position is its row.

    Args:
        dimension: of the vectors.
        pieces: the vectors of word pieces for late interaction, shared by all sets; None for an embedder without.

    Attributes:
        ids: step id by row; ``row_of`` is the inverse.
        oldest, latest: time of the first and the last step, in seconds since 1970.
        stems, tokens: the stems and the tokens of each row; no tokens for an embedder without.
        speakers: casefolded names, indexed by the numbers in ``speaker``; ``roles`` are their roles.
    """

    def __init__(self, dimension: int, pieces: PieceVectors | None) -> None:
        super().__init__(dimension)
        self.dimension = dimension
        self.ids: list[str] = []
        self.row_of: dict[str, int] = {}
        self.speakers: list[str] = []
        self.roles: list[str] = []
        self._speaker_of: dict[str, int] = {}
        self.oldest = self.latest = 0
        self.stems = StepWords()
        self.tokens = None if pieces is None else StepTokens(pieces)
        self._last_of: dict[int, _Last] = {}  # by the hash of the thread
        self._inverse_lengths: tuple[float, FloatArray] | None = None

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def nbytes(self) -> int:
        """Approximate memory in bytes."""
        arrays = sum(array.nbytes for array in vars(self).values() if isinstance(array, GrowingArray))
        tokens = 0 if self.tokens is None else self.tokens.nbytes
        return arrays + self.stems.nbytes + tokens + len(self.ids) * 220 + len(self._last_of) * 300

    def unchanged(self, facts: StepFacts) -> bool:
        """Whether the set has this step in this form."""
        row = self.row_of.get(facts.id)
        return row is not None and int(self._digest.values[row]) == facts.digest

    # --------------------------------------------------------------------------------------------------------- adding

    def add(self, steps: Sequence[StepFacts], vectors: FloatArray) -> None:
        """Append new steps.

        Args:
            steps: in the order of their turns within a thread, each after all earlier steps of its thread.
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
        threads = {name: hash_text(name) for name in {step.thread_id for step in steps}}
        self._thread.extend([threads[step.thread_id] for step in steps])
        self._seq.extend([step.seq for step in steps])
        self._turn.extend([step.turn for step in steps])
        self._digest.extend([step.digest for step in steps])
        self._seconds.extend([step.seconds for step in steps])
        self._day.extend([(step.seconds + 60 * step.offset_minutes) // 86_400 for step in steps])
        self._speaker.extend([self._number_speaker(step) for step in steps])
        self._role.extend([ROLES.index(step.role) for step in steps])
        self._form.extend([form_of(step.said, step.pictured) for step in steps])
        new = self.seconds[first:]
        self.oldest = min(int(new.min()), self.oldest if first else int(new.min()))
        self.latest = max(int(new.max()), self.latest if first else int(new.max()))
        texts = [step.text[:_MAX_CHARACTERS] for step in steps]
        self.stems.add(texts)
        if self.tokens is not None:
            self.tokens.add(texts)
        self._place(first)
        self._link(first, len(self.ids))

    def _number_speaker(self, step: StepFacts) -> int:
        key = step.speaker.casefold()
        number = self._speaker_of.get(key)
        if number is None:
            number = self._speaker_of[key] = len(self.speakers)
            self.speakers.append(key)
            self.roles.append(step.role)
        return number

    def _place(self, first: int) -> None:
        """Assign sessions and neighbours to new rows."""
        sessions, positions, before = [], [], []
        known = self._session_size.size
        opened = 0
        for row, (thread, moment) in enumerate(
            zip(self._thread.values[first:].tolist(), self.seconds[first:].tolist(), strict=True), first
        ):
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

    def _link(self, first: int, end: int) -> None:
        """Compute the cosines of new rows with earlier ones, and add the rows to the sums of their sessions."""
        rows = np.arange(first, end)
        own = self.vectors(rows)
        sessions = self.session[first:end]
        order = np.argsort(sessions, kind="stable")
        distinct, starts = np.unique(sessions[order], return_index=True)
        self._session_sum.values[distinct] += np.add.reduceat(own[order], starts, axis=0)
        self._session_length.values[distinct] += np.add.reduceat(self.stems.length[first:end][order], starts)
        self._session_size.values[distinct] += np.diff([*starts, len(order)]).astype(np.int32)
        self._lags.extend(np.zeros((len(rows), LAGS), np.float32))
        earlier = rows
        for lag in range(LAGS):
            earlier = np.where(earlier >= 0, self.before[np.maximum(earlier, 0)], -1)
            there = np.flatnonzero(earlier >= 0)
            products = np.einsum("ij,ij->i", own[there], self.vectors(earlier[there]))
            self.lags[earlier[there], lag] = products

    # -------------------------------------------------------------------------------------------------------- reading

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

    # ------------------------------------------------------------------------------------------------------- removing

    def subset(
        self, rows: npt.NDArray[np.int64], used_stems: IntArray, used_tokens: IntArray
    ) -> tuple[WorkingSet, IntArray, IntArray]:
        """A new set of these rows only, in this order, without a trace of the others.

        Args:
            rows: in the order of the turns within a thread.
            used_stems, used_tokens: numbers of stems and tokens to preserve even if no row has them.

        Returns:
            The set, and the new number of each stem and of each token, -1 for those left out.
        """
        place = np.full(len(self.ids), -1, np.int32)
        place[rows] = np.arange(len(rows), dtype=np.int32)
        subset = WorkingSet(self.dimension, None if self.tokens is None else self.tokens.pieces)
        for name in OF_STEP:
            subset.array(name).replace(self.array(name).values[rows])
        subset.ids = [self.ids[row] for row in rows.tolist()]
        subset.row_of = dict(zip(subset.ids, range(len(rows)), strict=True))
        subset.stems, stems = self.stems.subset(rows, place, used_stems)
        tokens = np.empty(0, np.int32)
        if self.tokens is not None:
            subset.tokens, tokens = self.tokens.subset(rows, used_tokens)
        subset._name_speakers([self.speakers[number] for number in subset.speaker[subset._first_rows()].tolist()])
        if len(rows):
            subset.oldest, subset.latest = int(subset.seconds.min()), int(subset.seconds.max())
            subset._place(0)
        for start in range(0, len(rows), _BATCH):
            subset._link(start, min(start + _BATCH, len(rows)))
        return subset, stems, tokens

    def _first_rows(self) -> npt.NDArray[np.int64]:
        """The first row of each speaker, in order."""
        return np.sort(np.unique(self.speaker, return_index=True)[1])

    def _name_speakers(self, names: Sequence[str]) -> None:
        """Number the speakers by the order of their first rows."""
        first = self._first_rows()
        numbers = np.zeros(int(self.speaker.max(initial=-1)) + 1, np.int32)
        numbers[self.speaker[first]] = np.arange(len(first), dtype=np.int32)
        self._speaker.replace(numbers[self.speaker])
        self.speakers = list(names)
        self._speaker_of = dict(zip(self.speakers, range(len(first)), strict=True))
        self.roles = [ROLES[number] for number in self._role.values[first].tolist()]

    # ----------------------------------------------------------------------------------------------------------- files

    def state(self) -> Arrays:
        """Everything except ids and names, as arrays that share memory with the set: write them before it changes."""
        own = {name: self.array(name).values for name in (*BY_ROW, *BY_SESSION)}
        own["named_by"] = self._first_rows()
        tokens = {} if self.tokens is None else self.tokens.state()
        return own | self.stems.state() | tokens

    def restore(self, ids: Sequence[str], speakers: Sequence[str], state: Arrays) -> None:
        """Fill an empty set of the same embedder.

        Args:
            ids: of all rows.
            speakers: the name of the speaker of each row of ``state["named_by"]``: files contain no names.
            state: from :meth:`state`.

        Raises:
            ValueError, KeyError, IndexError: the state is not valid.
        """
        for name in (*BY_ROW, *BY_SESSION):
            self.array(name).replace(state[name])
        self.stems.restore(state)
        if self.tokens is not None:
            self.tokens.restore(state)
        self.ids = list(ids)
        self.row_of = dict(zip(self.ids, range(len(self.ids)), strict=True))
        sizes = {len(state[name]) for name in BY_ROW} | {len(self.stems.length), len(self.row_of)}
        if sizes != {len(self.ids)} or len({len(state[name]) for name in BY_SESSION}) != 1:
            raise ValueError("the arrays are not of one length")
        self._name_speakers([name.casefold() for name in speakers])
        if len(self.ids):
            self.oldest, self.latest = int(self.seconds.min()), int(self.seconds.max())
        self._find_last()

    def _find_last(self) -> None:
        """Find the last step of each thread; the rows of a thread are in the order of its turns."""
        threads, back = np.unique(self._thread.values[::-1], return_index=True)
        rows = len(self.ids) - 1 - back
        sessions = self.session[rows]
        columns = (rows, self.seconds[rows], sessions, self.session_size[sessions])
        lasts = map(_Last, *(column.tolist() for column in columns))
        self._last_of = dict(zip(threads.tolist(), lasts, strict=True))
