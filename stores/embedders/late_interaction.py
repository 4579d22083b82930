"""Late interaction: a question compared with texts token by token, instead of mean with mean.

In the mean of a text's rows, one word of the question that a long text answers is lost among the others. Here each
token of the question takes its most similar token in the text,

    score(q, d) = Σ_t weight(t) · max_{u in d} cos(t, u)

which is ColBERT's MaxSim (Khattab and Zaharia, SIGIR 2020, section 3) over static rows. `weight(t)` is the length of
the row, which holds the smooth inverse frequency of the language at large, times the square root of the inverse
document frequency among the compared texts. In that frequency a document counts by the fourth power of its most
similar token: a synonym nearly whole, a chance similarity hardly at all.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hexamem.stores.embedders.base import FloatArray

__all__ = ["Bags", "late_interaction", "unit_rows"]

_PART = 64  # rows
_POWER = 4
"""The power of a similarity in the document frequency; 2 and 8 rank nearly alike."""


class Bags:
    """Texts as bags of tokens, over one table of the distinct tokens of all.

    Args:
        rows: float32 of shape (distinct tokens, dimension); their lengths do not matter.
        places: for each token of each text, concatenated, its row in `rows`.
        lengths: number of tokens of each text; they sum to `len(places)`.
    """

    def __init__(self, rows: FloatArray, places: NDArray[np.int64], lengths: NDArray[np.int64]) -> None:
        self.rows, self.places, self.lengths = rows, places, lengths


def late_interaction(question: FloatArray, bags: Bags) -> FloatArray:
    """How well each text answers the question, token by token; only scores of one call are comparable.

    Args:
        question: the rows of the question's distinct tokens, float32 of shape (tokens, dimension); the length of a
            row is its weight.
        bags: the texts.

    Returns:
        float32 of shape (texts,), 0 for a text without tokens; all 0 where the question has none.
    """
    scores = np.zeros(len(bags.lengths), dtype=np.float32)
    filled = np.flatnonzero(bags.lengths)
    if not len(filled) or not len(question):
        return scores
    weights = _norms(question)
    similarities = _similarities(unit_rows(question), unit_rows(bags.rows))
    starts = (np.cumsum(bags.lengths) - bags.lengths)[filled]
    best = np.maximum.reduceat(similarities[:, bags.places], starts, axis=1)
    holding = (np.clip(best, 0.0, 1.0) ** _POWER).sum(axis=1)
    rarity = np.sqrt(np.log1p((len(filled) - holding + 0.5) / (holding + 0.5)))
    scores[filled] = (weights * rarity) @ best
    return scores


def _similarities(question: FloatArray, rows: FloatArray) -> FloatArray:
    # In parts so small that BLAS uses one thread: on a busy machine its threads wait for each other, 20 times as long.
    return np.concatenate([question @ rows[start : start + _PART].T for start in range(0, len(rows), _PART)], axis=1)


def _norms(rows: FloatArray) -> FloatArray:
    return np.asarray(np.sqrt(np.einsum("ij,ij->i", rows, rows)), dtype=np.float32)


def unit_rows(rows: FloatArray) -> FloatArray:
    """Rows ``(n, d)`` scaled to length 1; a row of zeros stays one."""
    norms = _norms(rows)[:, None]
    scaled: FloatArray = np.divide(rows, norms, out=np.zeros(rows.shape, np.float32), where=norms > 0)
    return scaled
