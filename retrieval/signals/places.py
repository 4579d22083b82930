"""Places of candidates in the order of a value."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from hexamem.stores.embedders.base import FloatArray

__all__ = ["descending", "places"]

_LOW = np.int64(0xFFFFFFFF)


def descending(values: npt.NDArray[np.floating]) -> npt.NDArray[np.int64]:
    """Where the values stand, the greatest first, of equal ones the first: a stable ``argsort`` in half the time.

    Args:
        values: of single precision, none of them NaN; others are rounded to that.
    """
    # The bits of a float, those of a negative one turned round, are in order as numbers are; below them stands the place.
    bits = (0.0 - values.astype(np.float32)).view(np.int32).astype(np.int64)
    keys = (bits ^ ((bits >> 63) & 0x7FFFFFFF)) << 32 | np.arange(len(values))
    keys.sort()
    return np.asarray(keys & _LOW, np.int64)


def places(values: npt.NDArray[np.floating]) -> FloatArray:
    """The place of each value in that order, from 0."""
    found = np.empty(len(values), np.float32)
    found[descending(values)] = np.arange(len(values), dtype=np.float32)
    return found
