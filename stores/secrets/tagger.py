"""The tagger: secrets that only the words around them reveal, by a small convolutional network over tokens.

Three layers combine a token's vector with those of its neighbours, one with a summary of its text; a chain of two states
(secret or not) joins the tokens of one secret. ``scripts/train_secrets.py`` trains it on ``evals/corpus/secrets``; NumPy runs it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from hexamem.once import once
from hexamem.stores.products import products
from hexamem.stores.secrets.token_features import (
    TokenizedTexts,
    position_rows,
    select_segments,
    tokenize,
    touch_rows,
    word_features,
)

__all__ = ["NETWORKS", "REACHES", "TaggedSecret", "Tagger", "TaggerWeights", "load_tagger", "read_tagger_weights"]

FloatArray = NDArray[np.float32]

REACHES = (1, 2, 4)
"""Distances between the five tokens that each layer combines."""
NETWORKS = 2
"""How many networks the weights have."""
_FILE = Path(__file__).parent / "weights" / "tagger.npz"
_GATE = -4.0
"""A text all of whose tokens have lower log odds contains no secret, whatever the chain adds."""
_TOKENS_AT_ONCE = 1_024
_MAX_CACHED = 30_000
_SHORTEST_SECRET = 3  # characters of a token
_EXTEND = 0.25
"""Probability from which a token may be secret, or belong to the secret next to it."""
_ABOUT_REACH = 12
_SENTENCE_MARKS = frozenset(".,;:。，；：")


class NetworkWeights(NamedTuple):
    """One network.

    Attributes:
        features: vectors of hashed features, (buckets, d).
        places: vectors of place features, (rows, d).
        layers: matrix and bias of each layer.
        summary: matrix and bias.
        out: matrix and bias; columns are log odds of secret, log odds of "says what it is about", and a score a kind.
        chain: added log odds, (touches the token before, state before, state); states are not secret, secret.
    """

    features: FloatArray
    places: FloatArray
    layers: tuple[tuple[FloatArray, FloatArray], ...]
    summary: tuple[FloatArray, FloatArray]
    out: tuple[FloatArray, FloatArray]
    chain: FloatArray


class TaggerWeights(NamedTuple):
    """What is trained.

    Attributes:
        networks: their scores are averaged.
        hashes: of the words of the vocabulary, sorted, (words,).
        meanings: a vector each, (words, m).
        kinds: names of the kinds.
        threshold: probability that one token of a secret must reach.
    """

    networks: tuple[NetworkWeights, ...]
    hashes: NDArray[np.uint32]
    meanings: FloatArray
    kinds: tuple[str, ...]
    threshold: float


class TaggedSecret(NamedTuple):
    """A possible secret: characters ``start`` to ``end``, its kind, the words that say what it is about, how probable it is."""

    start: int
    end: int
    kind: str
    about: str
    probability: float


class Tagger:
    """Finds secrets in texts; may be shared between threads.

    Args:
        weights: as trained.
    """

    def __init__(self, weights: TaggerWeights) -> None:
        self._weights = weights
        self.threshold = weights.threshold
        self._networks = [_Network(network, weights.meanings) for network in weights.networks]
        self._chain = np.mean([network.chain for network in weights.networks], axis=0).astype(float).tolist()

    def tag(self, texts: Sequence[str], before: Sequence[str]) -> list[list[TaggedSecret]]:
        """The possible secrets of each text, in order and without overlap: those from :attr:`threshold` on are secrets.

        The first network reads all segments, the others those in which it does not rule a secret out.

        Args:
            before: for each text the message before it, or an empty text.
        """
        tagged: list[list[TaggedSecret]] = [[] for _ in texts]
        tokens = tokenize(texts, before)
        if not len(tokens.places):
            return tagged
        rows = _WordRows(self._weights.hashes)
        scores = self._networks[0].scores(tokens, rows)
        doubtful = np.unique(tokens.segment_of[tokens.places[scores[:, 0] > _GATE]])
        if not len(doubtful):
            return tagged
        tokens, kept = select_segments(tokens, doubtful)
        scores = np.mean([scores[kept], *(network.scores(tokens, rows) for network in self._networks[1:])], axis=0)
        first = 0
        for length in tokens.lengths:
            last = first + length
            number = int(tokens.text_of[first])
            tagged[number] += self._secrets(texts[number], tokens, scores, first, last)
            first = last
        return tagged

    def _secrets(
        self, text: str, tokens: TokenizedTexts, scores: FloatArray, first: int, last: int
    ) -> Iterator[TaggedSecret]:
        """The possible secrets of a segment, which has the tokens ``first`` to ``last``."""
        probabilities = self._probabilities(scores[first:last, 0], tokens.glued[first:last])
        words = [tokens.words[place] for place in tokens.places[first:last].tolist()]
        for begin, end in _runs(probabilities, words):
            kind = self._weights.kinds[int(scores[first + begin : first + end, 2:].sum(0).argmax())]
            about = _about(text, tokens, scores[:, 1], (first, last), first + begin, first + end)
            span = int(tokens.starts[first + begin]), int(tokens.ends[first + end - 1])
            yield TaggedSecret(*span, kind, about, max(probabilities[begin:end]))

    def _probabilities(self, scores: FloatArray, glued: NDArray[np.bool_]) -> list[float]:
        """The probability that each token of a segment is secret, by the chain's forward and backward sums."""
        added = [self._chain[int(touches)] for touches in glued.tolist()]
        odds = scores.astype(float).tolist()
        forward = [(0.0, odds[0])]
        for score, step in zip(odds[1:], added[1:], strict=True):
            out, secret = forward[-1]
            forward.append(
                (
                    _log_sum(out + step[0][0], secret + step[1][0]),
                    score + _log_sum(out + step[0][1], secret + step[1][1]),
                )
            )
        backward = [(0.0, 0.0)]
        for score, step in zip(odds[:0:-1], added[:0:-1], strict=True):
            out, secret = backward[-1]
            backward.append(
                (
                    _log_sum(out + step[0][0], secret + score + step[0][1]),
                    _log_sum(out + step[1][0], secret + score + step[1][1]),
                )
            )
        backward.reverse()
        return [_sigmoid(a[1] + b[1] - a[0] - b[0]) for a, b in zip(forward, backward, strict=True)]


class _WordRows:
    """The rows of the tables that describe the words of one call: hashed features, and a meaning or None."""

    def __init__(self, hashes: NDArray[np.uint32]) -> None:
        self._hashes = hashes
        self._rows: dict[str, tuple[list[int], int | None]] = {}

    def of(self, word: str) -> tuple[list[int], int | None]:
        """The rows of a word."""
        if word not in self._rows:
            key = crc32(word.lower().encode("utf-8", "surrogatepass"))
            row = int(np.searchsorted(self._hashes, key))
            known = row < len(self._hashes) and int(self._hashes[row]) == key
            self._rows[word] = word_features(word, known), row if known else None
        return self._rows[word]


class _Network:
    """Runs one network."""

    def __init__(self, weights: NetworkWeights, meanings: FloatArray) -> None:
        self._weights, self._meanings = weights, meanings
        self._by_length: dict[int, FloatArray] = {}
        self._cached: dict[str, FloatArray] = {}  # of words of the vocabulary and short tokens: no secret is cached

    def scores(self, tokens: TokenizedTexts, rows: _WordRows) -> FloatArray:
        """The columns of ``out`` for each token to be tagged."""
        weights = self._weights
        fresh: dict[str, FloatArray] = {}
        cached = self._cached
        vectors = np.array(
            [cached[word] if word in cached else self._vector(word, rows, fresh) for word in tokens.words]
        )
        places = [self._positions(length) for length in tokens.lengths]
        at_places = places[0] if len(places) == 1 else np.concatenate(places)
        vectors[tokens.places, : weights.features.shape[1]] += at_places + weights.places[touch_rows(tokens.glued)]
        inside = tokens.segment_of >= 0
        begins = np.flatnonzero(inside & np.append(True, tokens.segment_of[1:] != tokens.segment_of[:-1]))
        scores = np.zeros((len(vectors), len(weights.out[1])), np.float32)
        first = 0
        while first < len(begins):
            after = max(first + 1, int(np.searchsorted(begins, begins[first] + _TOKENS_AT_ONCE)))
            part = slice(begins[first], begins[after] if after < len(begins) else len(vectors))
            scores[part] = self._forward(vectors[part], inside[part, None], begins[first:after] - begins[first])
            first = after
        return scores[tokens.places]

    def _positions(self, length: int) -> FloatArray:
        """The vectors of the places in a segment of this length."""
        if length not in self._by_length:
            self._by_length[length] = self._weights.places[position_rows(length)].sum(1)
        return self._by_length[length]

    def _vector(self, word: str, rows: _WordRows, fresh: dict[str, FloatArray]) -> FloatArray:
        """The vector of a word, which is remembered in ``fresh`` for the call, or for good if it cannot be a secret."""
        if word in fresh:
            return fresh[word]
        width = self._weights.features.shape[1]
        vector = np.zeros(width + self._meanings.shape[1], np.float32)
        features, meaning = rows.of(word)
        if word:  # others are margins
            vector[:width] = self._weights.features[features].sum(0)
        if meaning is not None:
            vector[width:] = self._meanings[meaning]
        lasts = (meaning is not None or len(word) < _SHORTEST_SECRET) and len(self._cached) < _MAX_CACHED
        (self._cached if lasts else fresh)[word] = vector
        return vector

    def _forward(self, words: FloatArray, inside: NDArray[np.bool_], begins: NDArray[np.int64]) -> FloatArray:
        """The columns of ``out`` for the tokens of whole segments and the margins between them."""
        weights = self._weights
        count = len(words)
        state = words
        for number, (reach, (matrix, bias)) in enumerate(zip(REACHES, weights.layers, strict=True)):
            padded = np.zeros((count + 4 * reach, state.shape[1]), np.float32)
            padded[2 * reach : 2 * reach + count] = state
            around = np.concatenate([padded[step : step + count] for step in range(0, 4 * reach + 1, reach)], axis=1)
            fresh = np.maximum(products(around, matrix) + bias, 0) * inside
            if number:
                state = state + fresh
            else:
                summary = products(np.maximum.reduceat(fresh, begins), weights.summary[0]) + weights.summary[1]
                state = fresh + np.repeat(summary, np.diff(np.append(begins, count)), axis=0) * inside
        scores: FloatArray = products(np.concatenate([words, state], axis=1), weights.out[0]) + weights.out[1]
        return scores


def _runs(probabilities: Sequence[float], words: Sequence[str]) -> list[tuple[int, int]]:
    """First and last (exclusive) of each run of tokens that may be secret, without the mark that ends its sentence."""
    runs: list[tuple[int, int]] = []
    begin = None
    for place, probability in enumerate([*probabilities, 0.0]):
        if probability >= _EXTEND:
            begin = place if begin is None else begin
        elif begin is not None:
            ends_in_mark = place - begin > 1 and words[place - 1] in _SENTENCE_MARKS
            runs.append((begin, place - ends_in_mark))
            begin = None
    return runs


def _about(
    text: str, tokens: TokenizedTexts, scores: FloatArray, segment: tuple[int, int], begin: int, end: int
) -> str:
    """The run of tokens that most clearly says what the secret ``begin:end`` is about; the nearer of two."""
    best, about = 0.0, ""
    place, last = max(segment[0], begin - _ABOUT_REACH), min(segment[1], end + _ABOUT_REACH)
    while place < last:
        stop = place
        while stop < last and scores[stop] > 0 and not begin <= stop < end:
            stop += 1
        if stop > place:
            distance = begin - stop if stop <= begin else place - end
            weight = float(scores[place:stop].max()) / (1 + distance)
            if weight > best:
                best, about = weight, text[int(tokens.starts[place]) : int(tokens.ends[stop - 1])]
        place = stop + 1
    return about


def _log_sum(a: float, b: float) -> float:
    return max(a, b) + math.log1p(math.exp(-abs(a - b)))


def _sigmoid(odds: float) -> float:
    return 1 / (1 + math.exp(-odds)) if odds > -500 else 0.0


def read_tagger_weights(path: Path) -> TaggerWeights:
    """The weights that ``scripts/train_secrets.py`` wrote: tables in 8 bits with a scale a column, the rest in half precision.

    Raises:
        ModelFileError: the file is missing or damaged, or lacks an array.
    """
    from hexamem.stores.embedders.trained_weights import read_weights

    matrices = [*(f"layer{number}" for number in range(len(REACHES))), "summary", "out"]
    parts = ["features", "features_scale", "places", "chain", *matrices, *(f"{name}_bias" for name in matrices)]
    names = [f"{part}{number}" for number in range(NETWORKS) for part in parts]
    general = ["hashes", "meanings", "meanings_scale", "kinds", "threshold"]
    arrays = read_weights(path, general + names, embedder="bundled", fingerprint=None)
    arrays |= {name: arrays[name].astype(np.float32) for name in names}
    networks = []
    for number in range(NETWORKS):
        *layers, summary, out = ((arrays[f"{name}{number}"], arrays[f"{name}_bias{number}"]) for name in matrices)
        features = arrays[f"features{number}"] * arrays[f"features_scale{number}"]
        places, chain = arrays[f"places{number}"], arrays[f"chain{number}"]
        networks.append(NetworkWeights(features, places, tuple(layers), summary, out, chain))
    return TaggerWeights(
        networks=tuple(networks),
        hashes=arrays["hashes"],
        meanings=arrays["meanings"] * arrays["meanings_scale"].astype(np.float32),
        kinds=tuple(map(str, arrays["kinds"])),
        threshold=float(arrays["threshold"]),
    )


@once
def load_tagger() -> Tagger:
    """The tagger that ships with the package, loaded once per process."""
    return Tagger(read_tagger_weights(_FILE))
