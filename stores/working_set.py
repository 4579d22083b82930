"""What ranking needs to know of every step of a user, as arrays in memory: the working set.

A recall compares a question with hundreds of steps, with what stands beside each and with the session around it. Read
from the stores that would take tens of milliseconds, from arrays it takes few. Nothing here is a source of truth:
it is read from the ledger and the vector index, and holds numbers and the distinct words, not the texts.

Two hundred thousand steps of 256 dimensions take some 150 MB: a vector is held as one byte a dimension, which moves a
cosine by less than 0.005.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
import numpy.typing as npt

from .embedders.base import FloatArray, TokenModel
from .lexical.records import make_stemmer
from .lexical.tokens import tokenize_document, tokenize_query
from .step_form import FORM_FLAGS, form_of

__all__ = ["LAGS", "Grown", "IntArray", "StepFacts", "WorkingSet", "quantised"]

IntArray = npt.NDArray[np.int32]
LAGS = 4
"""How many steps ahead the cosines between steps are kept: a window of five needs four."""
_GAP = 6 * 3_600  # seconds: a longer pause begins a new session
_SESSION_STEPS = 96
_READ = 4_000  # characters of a step that are compared
_TAIL = 0.1  # share of the tokens that may stand outside the sorted postings


@dataclass(frozen=True, kw_only=True, slots=True)
class StepFacts:
    """What is taken in of a step. ``text`` is what is searched of it, without the speaker."""

    id: str
    thread_id: str
    turn: int
    speaker: str
    role: str
    text: str
    said: str
    occurred_at: datetime
    offset_minutes: int = 0
    pictured: bool = False

    @property
    def digest(self) -> int:
        """A number that tells whether the words or the speaker changed."""
        words = f"{self.speaker}\0{self.text}\0{self.said}\0{self.turn}".encode("utf-8", "surrogatepass")
        return int.from_bytes(hashlib.blake2b(words, digest_size=8).digest(), "big", signed=True)


class Grown:
    """An array that grows at its end, at amortised constant cost."""

    def __init__(self, dtype: npt.DTypeLike, width: int = 0) -> None:
        self._data = np.zeros((64, width) if width else 64, dtype)
        self.size = 0

    @property
    def values(self) -> npt.NDArray[Any]:
        """The rows there are, as a view."""
        return self._data[: self.size]

    @property
    def nbytes(self) -> int:
        return int(self._data.nbytes)

    def extend(self, rows: npt.ArrayLike) -> None:
        """Add rows behind the last."""
        new = np.asarray(rows, dtype=self._data.dtype)
        end = self.size + len(new)
        if end > len(self._data):
            grown = np.zeros((max(end, len(self._data) * 3 // 2), *self._data.shape[1:]), self._data.dtype)
            grown[: self.size] = self.values
            self._data = grown
        self._data[self.size : end] = new
        self.size = end


def quantised(vectors: FloatArray) -> tuple[npt.NDArray[np.int8], FloatArray]:
    """Unit vectors as one byte a dimension and a scale a row: ``vector ≈ bytes * scale``."""
    peaks = np.maximum(np.abs(vectors).max(axis=1, initial=0.0), 1e-9).astype(np.float32)
    return np.rint(vectors * (127.0 / peaks)[:, None]).astype(np.int8), (peaks / 127.0).astype(np.float32)


class WorkingSet:
    """The steps of one user, in the order in which they were taken in; a step's place there is its row.

    Args:
        dimension: of the vectors.
        tokens: gives the word pieces that late interaction compares; None where the embedder has none.

    Attributes:
        ids: step id of each row; ``row_of`` the other way round.
        before, after: row of the step before and after in the same session, -1 where there is none.
        session: number of the session of each row; ``position`` the place in it, from 0.
        oldest, latest: moments of the first and the last step, in seconds since 1970; ``words`` of all steps.
        day: of each row, days since 1970 in the time in which it was told; ``seconds`` its moment.
        speaker: number of the speaker in ``speakers`` (casefolded names).
        form: float32 ``(rows, len(FORM_FLAGS))``, see :mod:`.step_form`.
        lags: float32 ``(rows, LAGS)``: cosine with the 1st, 2nd, … step after it in its session, 0 where there is none.
    """

    def __init__(self, dimension: int, tokens: TokenModel | None) -> None:
        self.dimension, self._model = dimension, tokens
        self.ids: list[str] = []
        self.row_of: dict[str, int] = {}
        self.speakers: list[str] = []
        self.speaker_names: list[str] = []
        self._speaker_of: dict[str, int] = {}
        self.roles: list[str] = []
        self.oldest = self.latest = 0
        self.words = 0
        self._digest = Grown(np.int64)
        self._vectors, self._scales = Grown(np.int8, dimension), Grown(np.float32)
        self._before, self._after = Grown(np.int32), Grown(np.int32)
        self._session, self._position, self._turn = Grown(np.int32), Grown(np.int32), Grown(np.int32)
        self._day, self._seconds, self._speaker = Grown(np.int32), Grown(np.int64), Grown(np.int32)
        self._form = Grown(np.float32, len(FORM_FLAGS))
        self._lags = Grown(np.float32, LAGS)
        self._length = Grown(np.float32)
        self._last_of: dict[str, int] = {}
        self._session_sum = Grown(np.float32, dimension)
        self._session_length, self._session_size = Grown(np.float32), Grown(np.int32)
        # Words: number of each distinct stem, and where it stands.
        self._stemmer = make_stemmer()
        self._stem_of: dict[str, int] = {}
        self._number_of: dict[str, int] = {}
        self._word_tokens, self._word_rows = Grown(np.int32), Grown(np.int32)
        self._sorted = 0
        self._posting_rows: IntArray = np.empty(0, np.int32)
        self._posting_starts: npt.NDArray[np.int64] = np.zeros(1, np.int64)
        # Word pieces: of each row, distinct.
        self._pieces, self._piece_start, self._piece_count = Grown(np.int32), Grown(np.int64), Grown(np.int32)
        self._piece_frequency: npt.NDArray[np.int32] = np.zeros(tokens.pieces if tokens else 0, np.int32)
        self.other_tokens: list[str] = []
        self._other_number: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self.ids)

    # ----------------------------------------------------------------------------------------------------- the arrays

    @property
    def before(self) -> IntArray:
        return self._before.values

    @property
    def after(self) -> IntArray:
        return self._after.values

    @property
    def session(self) -> IntArray:
        return self._session.values

    @property
    def position(self) -> IntArray:
        return self._position.values

    @property
    def day(self) -> IntArray:
        return self._day.values

    @property
    def seconds(self) -> npt.NDArray[np.int64]:
        return self._seconds.values

    @property
    def speaker(self) -> IntArray:
        return self._speaker.values

    @property
    def form(self) -> FloatArray:
        return self._form.values

    @property
    def lags(self) -> FloatArray:
        return self._lags.values

    @property
    def length(self) -> FloatArray:
        """How many words each row has, those without meaning of their own included."""
        return self._length.values

    @property
    def session_length(self) -> FloatArray:
        """How many words each session has."""
        return self._session_length.values

    @property
    def session_size(self) -> IntArray:
        """How many steps each session has."""
        return self._session_size.values

    @property
    def has_pieces(self) -> bool:
        """Whether late interaction can be computed."""
        return self._model is not None

    @property
    def nbytes(self) -> int:
        """About how much memory it takes, in bytes."""
        grown = [one for one in vars(self).values() if isinstance(one, Grown)]
        strings = len(self.ids) * 220 + (len(self._number_of) + len(self._stem_of)) * 120
        return sum(one.nbytes for one in grown) + self._posting_rows.nbytes + self._posting_starts.nbytes + strings

    def unchanged(self, facts: StepFacts) -> bool:
        """Whether a row holds this step as it is."""
        row = self.row_of.get(facts.id)
        return row is not None and int(self._digest.values[row]) == facts.digest

    def appends(self, facts: StepFacts) -> bool:
        """Whether the step stands behind all others of its thread, so that it can be added."""
        last = self._last_of.get(facts.thread_id)
        return last is None or int(self._turn.values[last]) < facts.turn

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
        numbers, scales = quantised(np.asarray(vectors, np.float32))
        self._vectors.extend(numbers)
        self._scales.extend(scales)
        self._seconds.extend([int(step.occurred_at.timestamp()) for step in steps])
        new = self.seconds[first:]
        self.oldest = min(int(new.min()), self.oldest if first else int(new.min()))
        self.latest = max(int(new.max()), self.latest if first else int(new.max()))
        for place, step in enumerate(steps):
            self._place(first + place, step)
        self._digest.extend([step.digest for step in steps])
        self._turn.extend([step.turn for step in steps])
        self._day.extend([_day_of(step) for step in steps])
        self._speaker.extend([self._number_speaker(step) for step in steps])
        self._form.extend([form_of(step.said, step.pictured) for step in steps])
        self._add_words(first, [step.text[:_READ] for step in steps])
        self._add_pieces([step.text[:_READ] for step in steps])
        self._link(first)

    def _place(self, row: int, step: StepFacts) -> None:
        """The session of a new row, and the rows beside it."""
        self.ids.append(step.id)
        self.row_of[step.id] = row
        last = self._last_of.get(step.thread_id, -1)
        number = -1
        if last >= 0:
            number = int(self.session[last])
            gap = int(self.seconds[row]) - int(self.seconds[last])
            if abs(gap) > _GAP or self.session_size[number] >= _SESSION_STEPS:
                last, number = -1, -1
        if number < 0:
            number = self._session_size.size
            self._session_sum.extend(np.zeros((1, self.dimension), np.float32))
            self._session_length.extend([0.0])
            self._session_size.extend([0])
        self._before.extend([last])
        self._after.extend([-1])
        if last >= 0:
            self.after[last] = row
        self._session.extend([number])
        self._position.extend([int(self.session_size[number])])
        self.session_size[number] += 1
        self._last_of[step.thread_id] = row

    def _number_speaker(self, step: StepFacts) -> int:
        key = step.speaker.casefold()
        number = self._speaker_of.get(key)
        if number is None:
            number = self._speaker_of[key] = len(self.speakers)
            self.speakers.append(key)
            self.speaker_names.append(step.speaker)
            self.roles.append(step.role)
        return number

    def _add_words(self, first: int, texts: Sequence[str]) -> None:
        streams = [tokenize_document(text).stemmed for text in texts]
        new = list({word for words in streams for word in words if word not in self._stem_of})
        if new:
            # One call for all: the analyzer is quick, calling it is not. A stem never holds a space.
            for word, stem in zip(new, self._stemmer.analyze(" ".join(new)), strict=True):
                self._stem_of[word] = self._number_of.setdefault(stem, len(self._number_of))
        numbers = [[self._stem_of[word] for word in words] for words in streams]
        lengths = [len(words) for words in numbers]
        self._word_tokens.extend([number for words in numbers for number in words])
        self._word_rows.extend(np.repeat(np.arange(first, first + len(texts)), lengths))
        self._length.extend(lengths)
        self.words += sum(lengths)
        np.add.at(self.session_length, self.session[first:], np.asarray(lengths, np.float32))

    def _add_pieces(self, texts: Sequence[str]) -> None:
        if self._model is None:
            return
        bags = [self.bag(ids, others) for ids, others in self._model.tokenize(texts)]
        counts = [len(bag) for bag in bags]
        start = self._pieces.size
        self._pieces.extend(np.concatenate(bags) if bags else [])
        self._piece_start.extend(start + np.cumsum([0, *counts[:-1]]))
        self._piece_count.extend(counts)
        self._piece_frequency = np.bincount(
            np.concatenate([*bags, np.empty(0, np.int32)]), minlength=self._model.pieces + len(self.other_tokens)
        ).astype(np.int32) + np.pad(
            self._piece_frequency, (0, self._model.pieces + len(self.other_tokens) - len(self._piece_frequency))
        )

    def bag(self, ids: Sequence[int], others: Sequence[str]) -> IntArray:
        """The numbers of the distinct tokens of a text; those of other scripts get numbers above the word pieces'."""
        assert self._model is not None
        numbers = set(ids)
        for token in others:
            number = self._other_number.get(token)
            if number is None:
                number = self._other_number[token] = self._model.pieces + len(self.other_tokens)
                self.other_tokens.append(token)
            numbers.add(number)
        return np.fromiter(sorted(numbers), np.int32, len(numbers))

    def _link(self, first: int) -> None:
        """The cosines of new rows with those before them, and the sums of their sessions."""
        rows = np.arange(first, len(self.ids))
        own = self.vectors(rows)
        np.add.at(self._session_sum.values, self.session[rows], own)
        self._lags.extend(np.zeros((len(rows), LAGS), np.float32))
        earlier = rows.copy()
        for lag in range(LAGS):
            earlier = np.where(earlier >= 0, self.before[np.maximum(earlier, 0)], -1)
            there = np.flatnonzero(earlier >= 0)
            products = np.einsum("ij,ij->i", own[there], self.vectors(earlier[there]))
            self.lags[earlier[there], lag] = products

    # -------------------------------------------------------------------------------------------------------- reading

    def vectors(self, rows: npt.NDArray[np.integer]) -> FloatArray:
        """The vectors of rows, float32 ``(n, dimension)``."""
        scales = self._scales.values[rows]
        return np.asarray(self._vectors.values[rows].astype(np.float32) * scales[:, None], np.float32)

    def similarities(self, vector: FloatArray) -> FloatArray:
        """The cosine of every row with a vector, exact but for rounding; of several, ``(n, dimension)``, a row each.

        In parts that fit the processor's cache.
        """
        several = np.atleast_2d(vector)
        found = np.empty((len(several), len(self.ids)), np.float32)
        for start in range(0, len(self.ids), 2_048):
            part = self._vectors.values[start : start + 2_048].astype(np.float32)
            for one, to in zip(several, found, strict=True):
                np.einsum("ij,j->i", part, one, out=to[start : start + 2_048])
        found *= self._scales.values
        return found if vector.ndim > 1 else np.asarray(found[0], np.float32)

    def session_vectors(self, sessions: npt.NDArray[np.integer]) -> FloatArray:
        """The mean direction of each session, of length 1."""
        sums = np.asarray(self._session_sum.values[sessions], np.float32)
        return np.asarray(sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-9), np.float32)

    def stems_of(self, text: str, *, question: bool = True) -> list[tuple[str, int]]:
        """The distinct stems of a text, each with its number, -1 for one that no step holds; of a question without
        the words that ask."""
        words = tokenize_query(text).stemmed if question else tokenize_document(text).stemmed
        stems = list(dict.fromkeys(self._stemmer.analyze(" ".join(words)))) if words else []
        return [(stem, self._number_of.get(stem, -1)) for stem in stems]

    def counted(self, text: str) -> tuple[dict[int, int], int]:
        """How often a text holds each stem that any step holds, by number, and how many words it has."""
        words = tokenize_document(text).stemmed
        counts: dict[int, int] = {}
        for stem in self._stemmer.analyze(" ".join(words)) if words else ():
            if (number := self._number_of.get(stem)) is not None:
                counts[number] = counts.get(number, 0) + 1
        return counts, len(words)

    def rows_holding(self, number: int) -> IntArray:
        """The rows that hold a stem, one as often as it holds it; ascending but for those added last."""
        self._sort_postings()
        known = number + 1 < len(self._posting_starts)
        start, end = (self._posting_starts[number], self._posting_starts[number + 1]) if known else (0, 0)
        tokens = self._word_tokens.values[self._sorted :]
        late = self._word_rows.values[self._sorted :][tokens == number]
        early = self._posting_rows[start:end]
        return np.concatenate([early, late]) if len(late) else early

    def _sort_postings(self) -> None:
        outside = self._word_tokens.size - self._sorted
        if outside <= max(4_096, int(_TAIL * self._word_tokens.size)) and self._sorted:
            return
        if not outside:
            return
        tokens = self._word_tokens.values
        order = np.argsort(tokens, kind="stable")
        self._posting_rows = np.asarray(self._word_rows.values[order], np.int32)
        counts = np.bincount(np.asarray(tokens, np.int64), minlength=len(self._number_of))
        self._posting_starts = np.concatenate(([0], np.cumsum(counts)))
        self._sorted = self._word_tokens.size

    def pieces_of(self, rows: npt.NDArray[np.integer]) -> tuple[IntArray, npt.NDArray[np.int64]]:
        """The numbers of the tokens of rows, one after the other, and how many each has."""
        counts = self._piece_count.values[rows].astype(np.int64)
        starts = self._piece_start.values[rows]
        ends = np.cumsum(counts)
        places = np.arange(int(ends[-1]) if len(ends) else 0) + np.repeat(starts - (ends - counts), counts)
        return self._pieces.values[places], counts

    def known_pieces(self, ids: Sequence[int], others: Sequence[str]) -> npt.NDArray[np.int64]:
        """Numbers of the distinct word pieces, then of the other tokens; -1 for one of these that no step holds."""
        distinct = list(dict.fromkeys(ids))
        return np.array([*distinct, *(self._other_number.get(one, -1) for one in others)], np.int64)

    def piece_frequency(self, numbers: npt.NDArray[np.integer]) -> npt.NDArray[np.int64]:
        """How many rows hold each token."""
        known = (numbers >= 0) & (numbers < len(self._piece_frequency))
        return np.where(known, self._piece_frequency[np.where(known, numbers, 0)], 0).astype(np.int64)

    def piece_rows(self, numbers: npt.NDArray[np.integer]) -> FloatArray:
        """The vectors of tokens, float32 ``(n, dimension)``; the length of one is its weight."""
        assert self._model is not None
        own = numbers < self._model.pieces
        rows = self._model.token_rows(numbers[own], [self.other_tokens[n - self._model.pieces] for n in numbers[~own]])
        if own.all() or not own.any():
            return rows
        found = np.empty_like(rows)
        found[own], found[~own] = rows[: int(own.sum())], rows[int(own.sum()) :]
        return found


def _day_of(step: StepFacts) -> int:
    return int(step.occurred_at.timestamp() + 60 * step.offset_minutes) // 86_400
