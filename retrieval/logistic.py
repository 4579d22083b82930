"""Logistic regression in NumPy: what the ranking, its gate and a user's feedback are fitted with.

scikit-learn and SciPy would add 200 MB to every installation for these few columns.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from hexamem.models.sigmoid import sigmoid

__all__ = ["logistic_offset", "logistic_regression"]

_STEPS, _TOLERANCE = 100, 1e-10
_Floats = npt.NDArray[np.float64]


def logistic_regression(
    x: _Floats, y: npt.NDArray[np.bool_], *, penalty: float = 1.0, weights: _Floats | None = None
) -> _Floats:
    """Slopes and, last, the intercept ``(d + 1,)`` by Newton's method with halved steps.

    The loss is ``Σ w · log(1 + exp(-z))``, ``z`` signed by ``y``, plus ``penalty / 2`` times the sum of squared slopes.

    Args:
        x: inputs, ``(n, d)``.
        y: classes, ``(n,)``; both must occur.
        penalty: of squared slopes; the intercept has none.
        weights: of the rows, ``(n,)``; 1 if None.
    """
    x = np.column_stack([x, np.ones(len(x))])
    target, w = y.astype(np.float64), np.ones(len(x)) if weights is None else weights
    ridge = np.full(x.shape[1], penalty)
    ridge[-1] = 0.0

    def loss(theta: _Floats) -> float:
        z = x @ theta
        return float((w * (np.logaddexp(0, z) - target * z)).sum() + (ridge * theta**2).sum() / 2)

    theta = np.zeros(x.shape[1])
    now = loss(theta)
    for _ in range(_STEPS):
        p = sigmoid(x @ theta)
        gradient = x.T @ (w * (p - target)) + ridge * theta
        curvature = (x * (w * p * (1 - p))[:, None]).T @ x + np.diag(ridge + 1e-9)
        step = np.linalg.solve(curvature, gradient)
        size = 1.0
        while (then := loss(theta - size * step)) > now and size > 1e-6:
            size /= 2
        if now - then <= _TOLERANCE * max(1.0, abs(now)):
            break
        theta, now = theta - size * step, then
    return theta


def logistic_offset(
    logits: _Floats, y: npt.NDArray[np.bool_], *, weights: _Floats, pull: float, largest: float
) -> float:
    """The number to add to every logit, drawn to 0 by ``pull / 2`` times its square, between ``-largest`` and ``largest``.

    Args:
        logits: ``(n,)``.
        y: classes, ``(n,)``.
        weights: of the rows; the loss is their mean.
    """
    low, high = -largest, largest
    while high - low > 1e-6:  # the loss is convex: its slope changes its sign once
        middle = (low + high) / 2
        slope = float((weights * (sigmoid(logits + middle) - y)).mean()) + pull * middle
        low, high = (low, middle) if slope > 0 else (middle, high)
    return (low + high) / 2
