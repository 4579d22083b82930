"""The arrays of a working set, with one row per step or per session."""

from __future__ import annotations

from typing import get_args

import numpy as np
import numpy.typing as npt

from hexamem.memory_types.step import Role
from hexamem.stores.embedders.base import FloatArray
from hexamem.stores.growing_array import GrowingArray, IntArray
from hexamem.stores.step_form import FORM_FLAGS

__all__ = ["BY_ROW", "BY_SESSION", "LAGS", "OF_STEP", "ROLES", "StepArrays"]

LAGS = 4
"""Cosines are stored with so many following steps: a window of five needs four."""
ROLES: tuple[str, ...] = get_args(Role)
"""Roles, indexed by their numbers."""

OF_STEP = (
    "seq", "thread", "turn", "digest", "vectors", "scales", "day", "seconds", "speaker", "role", "form",
)  # fmt: skip
"""Arrays that depend on the step alone."""
BY_SESSION = ("session_sum", "session_length", "session_size")
BY_ROW = (*OF_STEP, "before", "after", "session", "position", "lags")


class StepArrays:
    """Steps as rows of arrays.

    Attributes:
        before, after: row of the previous and next step of the same session, or -1.
        session: number of the session of each row; ``position`` is the position in it, from 0.
        day: local date of each row in days since 1970; ``seconds`` is its time since 1970.
        speaker: number of the speaker of each row.
        form: float32 ``(rows, len(FORM_FLAGS))``, see :mod:`.step_form`.
        lags: float32 ``(rows, LAGS)``: cosine with the 1st, 2nd, … following step of its session, or 0.
    """

    def __init__(self, dimension: int) -> None:
        self._seq, self._thread = GrowingArray(np.int64), GrowingArray(np.int64)
        self._turn, self._digest = GrowingArray(np.int32), GrowingArray(np.int64)
        self._vectors, self._scales = GrowingArray(np.int8, dimension), GrowingArray(np.float32)
        self._before, self._after = GrowingArray(np.int32), GrowingArray(np.int32)
        self._session, self._position = GrowingArray(np.int32), GrowingArray(np.int32)
        self._day, self._seconds = GrowingArray(np.int32), GrowingArray(np.int64)
        self._speaker, self._role = GrowingArray(np.int32), GrowingArray(np.int8)
        self._form, self._lags = GrowingArray(np.float32, len(FORM_FLAGS)), GrowingArray(np.float32, LAGS)
        self._session_sum = GrowingArray(np.float32, dimension)
        self._session_length, self._session_size = GrowingArray(np.float32), GrowingArray(np.int32)

    def array(self, name: str) -> GrowingArray:
        """One of :data:`BY_ROW` or :data:`BY_SESSION`."""
        array: GrowingArray = getattr(self, f"_{name}")
        return array

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
    def session_length(self) -> FloatArray:
        """Number of words of each session."""
        return self._session_length.values

    @property
    def session_size(self) -> IntArray:
        """Number of steps of each session."""
        return self._session_size.values

    def vectors(self, rows: npt.NDArray[np.integer]) -> FloatArray:
        """The vectors of rows, float32 ``(n, dimension)``."""
        vectors = np.take(self._vectors.values, rows, axis=0).astype(np.float32)
        vectors *= np.take(self._scales.values, rows)[:, None]
        return vectors

    def session_vectors(self, sessions: npt.NDArray[np.integer]) -> FloatArray:
        """The mean direction of each session, of length 1."""
        sums = np.asarray(self._session_sum.values[sessions], np.float32)
        return np.asarray(sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-9), np.float32)
