"""What ranking needs to know of every step of a user, as arrays in memory: the working set.

A recall compares a question with hundreds of steps, with what stands beside each and with the session around it. Read
from the stores that would take tens of milliseconds, from arrays it takes few. Nothing here is a source of truth:
it is read from the ledger and the vector index, and holds numbers and hashes, not the texts.

Two hundred thousand steps of 256 dimensions take some 150 MB: a vector is held as one byte a dimension, which moves a
cosine by less than 0.005.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from hexamem.stores.embedders.base import FloatArray, TokenModel
from hexamem.stores.growing_array import Arrays, GrowingArray, IntArray, dot_products, hash_text, quantize
from hexamem.stores.piece_vectors import PieceVectors
from hexamem.stores.step_arrays import BY_ROW, BY_SESSION, LAGS, OF_STEP, ROLES, StepArrays
from hexamem.stores.step_form import form_of
from hexamem.stores.step_tokens import StepTokens
from hexamem.stores.step_words import StepWords

__all__ = ["LAGS", "StepFacts", "WorkingSet"]

_GAP = 6 * 3_600  # seconds: a longer pause begins a new session
_SESSION_STEPS = 96
_LINKED = 4_096  # rows at a time
_READ = 4_000  # characters of a step that are compared


class StepFacts(NamedTuple):
    """What is taken in of a step. ``text`` is what is searched of it, without the speaker; ``seconds`` since 1970; the
    steps of a user are stored in the order of ``seq``."""

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
        """A number that tells whether the words or the speaker changed."""
        words = f"{self.speaker}\0{self.text}\0{self.said}\0{self.turn}".encode("utf-8", "surrogatepass")
        return int.from_bytes(hashlib.blake2b(words, digest_size=8).digest(), "big", signed=True)


class _Last(NamedTuple):
    """The last step of a thread, and how many its session has."""

    row: int
    seconds: int
    session: int
    size: int


class WorkingSet(StepArrays):
    """The steps of one user, in the order in which they were taken in; a step's place there is its row.

    Args:
        dimension: of the vectors.
        tokens: gives the word pieces that late interaction compares, shared with other sets where they are
            :class:`PieceVectors`; None where the embedder has none.

    Attributes:
        ids: step id of each row; ``row_of`` the other way round.
        oldest, latest: moments of the first and the last step, in seconds since 1970.
        speakers: casefolded names, by the numbers in ``speaker``; ``roles`` those of speakers.
    """

    def __init__(self, dimension: int, tokens: TokenModel | PieceVectors | None) -> None:
        super().__init__(dimension)
        self.dimension = dimension
        pieces = tokens if tokens is None or isinstance(tokens, PieceVectors) else PieceVectors(tokens)
        self.ids: list[str] = []
        self.row_of: dict[str, int] = {}
        self.speakers: list[str] = []
        self.roles: list[str] = []
        self._speaker_of: dict[str, int] = {}
        self.oldest = self.latest = 0
        self._words = StepWords()
        self._tokens = None if pieces is None else StepTokens(pieces)
        self._last_of: dict[int, _Last] = {}  # by the hash of the thread
        self._together: tuple[float, FloatArray] | None = None

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def words(self) -> int:
        """How many words all rows have."""
        return self._words.total

    @property
    def length(self) -> FloatArray:
        """How many words each row has, those without meaning of their own included."""
        return self._words.length

    @property
    def has_pieces(self) -> bool:
        """Whether late interaction can be computed."""
        return self._tokens is not None

    @property
    def nbytes(self) -> int:
        """About how much memory it takes, in bytes."""
        grown = sum(one.nbytes for one in vars(self).values() if isinstance(one, GrowingArray))
        tokens = 0 if self._tokens is None else self._tokens.nbytes
        return grown + self._words.nbytes + tokens + len(self.ids) * 220 + len(self._last_of) * 300

    def unchanged(self, facts: StepFacts) -> bool:
        """Whether a row holds this step as it is."""
        row = self.row_of.get(facts.id)
        return row is not None and int(self._digest.values[row]) == facts.digest

    # --------------------------------------------------------------------------------------------------------- adding

    def add(self, steps: Sequence[StepFacts], vectors: FloatArray) -> None:
        """Take in steps, those of a thread in the order of their turns.

        Args:
            steps: new ones; each stands behind all others of its thread.
            vectors: theirs, of length 1, ``(n, dimension)``.
        """
        if not steps:
            return
        first = len(self.ids)
        self._together = None
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
        texts = [step.text[:_READ] for step in steps]
        self._words.add(texts)
        if self._tokens is not None:
            self._tokens.add(texts)
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
        """The sessions of new rows, and the rows beside them."""
        sessions, positions, before = [], [], []
        known = self._session_size.size
        made = 0
        for row, (thread, moment) in enumerate(
            zip(self._thread.values[first:].tolist(), self.seconds[first:].tolist(), strict=True), first
        ):
            last = self._last_of.get(thread)
            if last is None or abs(moment - last.seconds) > _GAP or last.size >= _SESSION_STEPS:
                last, session, size = None, known + made, 0
                made += 1
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
        self._session_sum.extend(np.zeros((made, self.dimension), np.float32))
        self._session_length.extend(np.zeros(made, np.float32))
        self._session_size.extend(np.zeros(made, np.int32))

    def _link(self, first: int, end: int) -> None:
        """The cosines of new rows with those before them, and what their sessions come to."""
        rows = np.arange(first, end)
        own = self.vectors(rows)
        sessions = self.session[first:end]
        order = np.argsort(sessions, kind="stable")
        distinct, starts = np.unique(sessions[order], return_index=True)
        self._session_sum.values[distinct] += np.add.reduceat(own[order], starts, axis=0)
        self._session_length.values[distinct] += np.add.reduceat(self.length[first:end][order], starts)
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
        """The cosine of every row with a vector, exact but for rounding; of several, ``(n, dimension)``, a row each."""
        products = dot_products(self._vectors.values, np.atleast_2d(vector)).T
        found = np.multiply(products, self._scales.values, order="C")
        return found if vector.ndim > 1 else np.asarray(found[0], np.float32)

    def products(self, rows: npt.NDArray[np.integer], others: FloatArray) -> FloatArray:
        """The cosine of some rows with some unit vectors ``(n, dimension)``, exact but for rounding: ``(len(rows), n)``."""
        found = dot_products(self._vectors.values, others, rows)
        found *= np.take(self._scales.values, rows)[:, None]
        return found

    def with_neighbours(self, cosines: FloatArray, weight: float) -> FloatArray:
        """The cosine of a question with every row and the rows beside it together, these weighing less.

        Args:
            cosines: of the question with every row.
            weight: of a row beside.
        """
        shares = self._shares_together(weight)
        padded = np.append(cosines, np.float32(0))
        beside = padded[self.before]
        beside += padded[self.after]
        beside *= np.float32(weight)
        beside += cosines
        beside *= shares
        return np.asarray(beside, np.float32)

    def _shares_together(self, weight: float) -> FloatArray:
        """One over the length of each row's vector together with those beside it."""
        known = self._together
        if known is None or known[0] != weight:
            first = np.append(self.lags[:, 0], np.float32(0))  # -1, for none, is the last
            before = weight**2 * (self.before >= 0) + 2 * weight * first[self.before]
            after = weight**2 * (self.after >= 0) + 2 * weight * first[:-1]
            known = self._together = (weight, (1 / np.sqrt(np.maximum(1 + before + after, 1e-3))).astype(np.float32))
        return known[1]

    def prepare(self, weight: float) -> None:
        """Work out now what the next question would have to, for that weight of :meth:`with_neighbours`."""
        self._shares_together(weight)
        self._words.prepare()

    def stems_of(self, text: str, *, question: bool = True) -> list[tuple[str, int]]:
        """The distinct stems of a text, each with its number, -1 for one that no step holds; of a question without
        the words that ask."""
        return self._words.known(text, question=question)

    def counted(self, text: str) -> tuple[dict[int, int], int]:
        """How often a text that is no step holds each stem, by number, and how many words it has."""
        return self._words.counted(text)

    def rows_holding(self, number: int) -> IntArray:
        """The rows that hold a stem, one as often as it holds it; ascending."""
        return self._words.rows_holding(number)

    def bag(self, ids: Sequence[int], others: Sequence[str]) -> IntArray:
        """The numbers of the distinct tokens of a text; those of other scripts get numbers above the word pieces'."""
        assert self._tokens is not None
        return self._tokens.bag(ids, others)

    def pieces_of(self, rows: npt.NDArray[np.integer]) -> tuple[IntArray, npt.NDArray[np.int64]]:
        """The numbers of the tokens of rows, one after the other, and how many each has."""
        assert self._tokens is not None
        return self._tokens.of(rows)

    def known_pieces(self, ids: Sequence[int], others: Sequence[str]) -> npt.NDArray[np.int64]:
        """Numbers of the distinct word pieces, then of the other tokens; -1 for one of these that no step holds."""
        assert self._tokens is not None
        return self._tokens.known(ids, others)

    def piece_frequency(self, numbers: npt.NDArray[np.integer]) -> npt.NDArray[np.int64]:
        """How many rows hold each token."""
        assert self._tokens is not None
        return self._tokens.frequency(numbers)

    def piece_cosines(self, numbers: npt.NDArray[np.integer], others: FloatArray) -> FloatArray:
        """The cosine of each token with each of some unit vectors ``(n, dimension)``: ``(len(numbers), n)``."""
        assert self._tokens is not None
        return self._tokens.cosines(numbers, others)

    # ------------------------------------------------------------------------------------------------------- revising

    def subset(
        self, rows: npt.NDArray[np.int64], used_stems: IntArray, used_tokens: IntArray
    ) -> tuple[WorkingSet, IntArray, IntArray]:
        """A set of these rows alone, in this order, as if no other had ever been taken in.

        Args:
            rows: those of a thread in the order of its turns.
            used_stems, used_tokens: numbers of those that are kept though no row may hold them.

        Returns:
            It, and the new number of each stem and of each token: -1 for one that is left out.
        """
        place = np.full(len(self.ids), -1, np.int32)
        place[rows] = np.arange(len(rows), dtype=np.int32)
        made = WorkingSet(self.dimension, None if self._tokens is None else self._tokens.pieces)
        for name in OF_STEP:
            made.array(name).replace(self.array(name).values[rows])
        made.ids = [self.ids[row] for row in rows.tolist()]
        made.row_of = dict(zip(made.ids, range(len(rows)), strict=True))
        made._words, stems = self._words.subset(rows, place, used_stems)
        tokens = np.empty(0, np.int32)
        if self._tokens is not None:
            made._tokens, tokens = self._tokens.subset(rows, used_tokens)
        made._name_speakers([self.speakers[number] for number in made.speaker[made._first_rows()].tolist()])
        if len(rows):
            made.oldest, made.latest = int(made.seconds.min()), int(made.seconds.max())
            made._place(0)
        for start in range(0, len(rows), _LINKED):
            made._link(start, min(start + _LINKED, len(rows)))
        return made, stems, tokens

    def _first_rows(self) -> npt.NDArray[np.int64]:
        """The row in which each speaker speaks first, in order."""
        return np.sort(np.unique(self.speaker, return_index=True)[1])

    def _name_speakers(self, names: Sequence[str]) -> None:
        """Number the speakers anew, by the order in which they speak."""
        first = self._first_rows()
        numbers = np.zeros(int(self.speaker.max(initial=-1)) + 1, np.int32)
        numbers[self.speaker[first]] = np.arange(len(first), dtype=np.int32)
        self._speaker.replace(numbers[self.speaker])
        self.speakers = list(names)
        self._speaker_of = dict(zip(self.speakers, range(len(first)), strict=True))
        self.roles = [ROLES[number] for number in self._role.values[first].tolist()]

    # ----------------------------------------------------------------------------------------------------------- files

    def state(self) -> Arrays:
        """Everything but ids and names, as arrays. They share memory with the set: write them before it grows."""
        own = {name: self.array(name).values for name in (*BY_ROW, *BY_SESSION)}
        own["named_by"] = self._first_rows()
        tokens = {} if self._tokens is None else self._tokens.state()
        return own | self._words.state() | tokens

    def restore(self, ids: Sequence[str], speakers: Sequence[str], state: Arrays) -> None:
        """Take over what an empty set of the same embedder is to hold.

        Args:
            ids: of all rows.
            speakers: the name of each speaker, who speaks in the rows ``named_by`` of the state: in a file are no names.
            state: what :meth:`state` gave.

        Raises:
            ValueError, KeyError, IndexError: it was not that.
        """
        for name in (*BY_ROW, *BY_SESSION):
            self.array(name).replace(state[name])
        self._words.restore(state)
        if self._tokens is not None:
            self._tokens.restore(state)
        self.ids = list(ids)
        self.row_of = dict(zip(self.ids, range(len(self.ids)), strict=True))
        sizes = {len(state[name]) for name in BY_ROW} | {len(self.length), len(self.row_of)}
        if sizes != {len(self.ids)} or len({len(state[name]) for name in BY_SESSION}) != 1:
            raise ValueError("the arrays are not of one length")
        self._name_speakers([name.casefold() for name in speakers])
        if len(self.ids):
            self.oldest, self.latest = int(self.seconds.min()), int(self.seconds.max())
        self._find_last()

    def _find_last(self) -> None:
        """The last step of each thread; rows of a thread stand in the order of its turns."""
        threads, back = np.unique(self._thread.values[::-1], return_index=True)
        rows = len(self.ids) - 1 - back
        sessions = self.session[rows]
        columns = (rows, self.seconds[rows], sessions, self.session_size[sessions])
        lasts = map(_Last, *(column.tolist() for column in columns))
        self._last_of = dict(zip(threads.tolist(), lasts, strict=True))
