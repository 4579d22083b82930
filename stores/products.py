"""Products of matrices on one thread."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["products"]

_PART = 200_000  # multiplications in one product, so that BLAS uses one thread


def products(left: NDArray[Any], right: NDArray[Any]) -> NDArray[Any]:
    """``left @ right`` in parts so small that BLAS uses one thread: on a busy machine its threads wait for each other much
    longer than the product takes."""
    out = np.empty((len(left), right.shape[1]), np.result_type(left, right))
    rows = max(1, _PART // max(right.size, 1))
    for start in range(0, len(left), rows):
        np.matmul(left[start : start + rows], right, out=out[start : start + rows])
    return out
