"""The logistic function."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["sigmoid"]


def sigmoid(values: NDArray[Any] | float) -> NDArray[Any]:
    """Logits as probabilities, of the same shape and type; beyond ±30, where they are 0 or 1 all but exactly, they are cut."""
    return np.asarray(1 / (1 + np.exp(-np.clip(values, -30, 30))))
