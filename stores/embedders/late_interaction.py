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

from collections.abc import Sequence

import numpy as np

from hexamem.stores.embedders.base import FloatArray, TokenModel

__all__ = ["late_interaction", "unit_rows"]

_CHARACTERS = 4_000  # of each text; a long text has a token similar to any word
_PART = 64  # rows
_POWER = 4
"""The power of a similarity in the document frequency; 2 and 8 rank nearly alike."""


def late_interaction(model: TokenModel, question: str, texts: Sequence[str]) -> FloatArray:
    """How well each text answers the question, token by token; only scores of one call are comparable.

    Args:
        texts: a token that many of them contain weighs less, so pass all at once.

    Returns:
        float32 of shape (texts,), 0 for a text without tokens; all 0 where the question has none.
    """
    scores = np.zeros(len(texts), dtype=np.float32)
    ((pieces, others),) = model.tokenize([question])
    asked = model.token_rows(np.array(list(dict.fromkeys(pieces)), np.int64), list(dict.fromkeys(others)))
    bags = [dict.fromkeys((*own, *named)) for own, named in model.tokenize([text[:_CHARACTERS] for text in texts])]
    lengths = np.array(list(map(len, bags)), np.int64)
    filled = np.flatnonzero(lengths)
    if not len(filled) or not len(asked):
        return scores
    distinct = dict.fromkeys(token for bag in bags for token in bag)
    numbers = [token for token in distinct if isinstance(token, int)]
    names = [token for token in distinct if isinstance(token, str)]
    place_of = {token: place for place, token in enumerate((*numbers, *names))}
    places = np.array([place_of[token] for bag in bags for token in bag], np.int64)
    similarities = _similarities(unit_rows(asked), unit_rows(model.token_rows(np.array(numbers, np.int64), names)))
    starts = (np.cumsum(lengths) - lengths)[filled]
    best = np.maximum.reduceat(similarities[:, places], starts, axis=1)
    holding = (np.clip(best, 0.0, 1.0) ** _POWER).sum(axis=1)
    rarity = np.sqrt(np.log1p((len(filled) - holding + 0.5) / (holding + 0.5)))
    scores[filled] = (_norms(asked) * rarity) @ best
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
