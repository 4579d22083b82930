"""The tagger: secrets that only the words around them reveal, by a small convolutional network over tokens.

A token's vector is the sum of the vectors of its attributes; three layers look at tokens around it, at growing distances; the
last says whether the token is secret, of which kind, and whether it names what the secret of its text opens.
``scripts/train_secrets.py`` trains it on ``evals/corpus/secrets``; numpy runs it. ``docs/write-path.md`` has the figures.
"""

from __future__ import annotations

import re
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hexamem.errors import ModelFileError
from hexamem.stores.secrets.token_features import BITS, MARGIN, Groups, Tokens, attributes_of, tokenize

__all__ = [
    "REACHES",
    "NetworkWeights",
    "TaggedSecret",
    "Tagger",
    "TaggerWeights",
    "open_tagger",
    "read_weights",
    "save_weights",
]

_FILE = Path(__file__).parent / "weights" / "tagger.npz"
_AT_ONCE = 8_192  # tokens whose states are in memory together
REACHES = (1, 2, 4)
"""Distances between the five tokens that each layer looks at."""
_PARTS = (*(f"layer{number}" for number in range(len(REACHES))), "out")
_REMEMBERED = 50_000  # words whose attributes are cached
_DOUBT = 6.0  # a text that the first network rates so much below the threshold everywhere is not read by the others
_SLACK = 3.0  # a token beside a secret one belongs to it from so much below the threshold
_QUOTED = re.compile(
    r"(?<!\w)(?:\"([^\"\n]{1,60})\"|'([^'\n]{1,60})'|`([^`\n]{1,60})`|“([^“”\n]{1,60})”|「([^「」\n]{1,60})」)(?!\w)"
)
_MARKS = frozenset("!?.,;:。！？，；：")
# A secret goes on behind "&" unless that begins another field of an address.
_JOINED_AFTER = re.compile(r"(?:&(?!\w+=)[\w!#$%^*+~@.?-]+)+", re.ASCII)
_JOINED_BEFORE = re.compile(r"(?<![\w=&?])(?:[\w!#$%^*+~@.?-]+&)+$", re.ASCII)
_MOST_QUOTED = 8  # words of a quotation that is a secret as a whole
_ABOUT = 12  # tokens around a secret in which the words that name what it opens are looked for

FloatArray = NDArray[np.float32]


class NetworkWeights(NamedTuple):
    """One network.

    Attributes:
        vectors: of the attributes, (attributes, d); row 0 is zero.
        layers: matrix and bias of each layer.
        out: matrix and bias; the columns are log odds of secret, log odds of about, and a score a kind.
    """

    vectors: FloatArray
    layers: tuple[tuple[FloatArray, FloatArray], ...]
    out: tuple[FloatArray, FloatArray]


class TaggerWeights(NamedTuple):
    """What is trained.

    Attributes:
        networks: their scores are averaged.
        kinds: names of the kinds.
        threshold: log odds from which a token is secret.
        groups: words of like meaning.
    """

    networks: tuple[NetworkWeights, ...]
    kinds: tuple[str, ...]
    threshold: float
    groups: Groups


class TaggedSecret(NamedTuple):
    """A secret: characters ``start`` to ``end``, its kind, and the words of the text that name what it opens."""

    start: int
    end: int
    kind: str
    about: str


class Tagger:
    """Finds secrets in texts. Instances may be shared between threads.

    Args:
        weights: as trained.
    """

    def __init__(self, weights: TaggerWeights) -> None:
        self._weights = weights
        self._memo: dict[str, bytes] = {}

    def tag(
        self, texts: Sequence[str], before: Sequence[str], doubtful: Sequence[Sequence[tuple[int, int]]]
    ) -> list[tuple[list[TaggedSecret], list[bool]]]:
        """The secrets of each text, in order and apart.

        Args:
            texts: any texts.
            before: for each text what was written before it, or an empty text.
            doubtful: for each text places that a form makes probable.

        Returns:
            For each text its secrets, and whether each of its doubtful places is one.
        """
        if len(self._memo) > _REMEMBERED:
            self._memo = {}
        tokens = tokenize(texts, before)
        scores = self._scores(tokens)
        found: list[list[TaggedSecret]] = [[] for _ in texts]
        for number, first, last in self._runs(tokens, scores[:, 0]):
            secret = self._described(texts[number], tokens, scores, first, last)
            if secret is not None and (not found[number] or found[number][-1].end <= secret.start):
                found[number].append(secret)
        sure = [
            [self._agrees(tokens, scores[:, 0], number, *place) for place in places]
            for number, places in enumerate(doubtful)
        ]
        return list(zip(found, sure, strict=True))

    def _scores(self, tokens: Tokens) -> FloatArray:
        """The columns of ``out`` for each real token, (real tokens, columns).

        The first network reads all texts, the others those in which it does not rule a secret out: hardly one in thirty.
        """
        rows = attributes_of(tokens, self._weights.groups, self._memo)
        first, *others = self._weights.networks
        scores = _forward(first, rows)
        if others and len(tokens.real):
            texts = tokens.text_of[tokens.real]
            least = self._weights.threshold - _DOUBT
            doubtful = np.unique(texts[scores[tokens.real, 0] >= least])
            # A text's places are those from the margin before it, where its context is, to the margin after it.
            numbers = np.full(len(rows), -1)
            numbers[tokens.real] = texts
            starts = tokens.real[np.searchsorted(texts, doubtful)]
            ends = tokens.real[np.searchsorted(texts, doubtful, side="right") - 1] + 1
            for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
                part = slice(max(0, start - MARGIN), end + MARGIN)
                scores[part] += sum(_forward(network, rows[part]) for network in others)
                scores[part] /= len(self._weights.networks)
        return scores[tokens.real]

    def _runs(self, tokens: Tokens, scores: FloatArray) -> list[tuple[int, int, int]]:
        """(text, first, last) of each run of secret tokens, as indices into ``tokens.real``."""
        real = tokens.real
        runs: list[tuple[int, int, int]] = []
        high = self._weights.threshold
        low = high - _SLACK
        done = 0
        for peak in np.flatnonzero(scores >= high).tolist():
            if peak < done:
                continue
            number = tokens.text_of[real[peak]]

            def joins(place: int, number: int = number) -> bool:
                return (
                    0 <= place < len(scores)
                    and bool(scores[place] >= low)
                    and bool(tokens.text_of[real[place]] == number)
                )

            first = last = peak
            while first > done and joins(first - 1):
                first -= 1
            while True:
                if joins(last + 1):
                    last += 1
                elif joins(last + 2) and _are_glued(tokens, real[last], real[last + 2]):
                    last += 2
                else:
                    break
            while last > peak and scores[last] < high and tokens.words[real[last]] in _MARKS:
                last -= 1  # a mark belongs to the sentence unless it is clearly the secret's
            done = last + 1
            runs.append((int(number), first, last))
        return runs

    def _described(self, text: str, tokens: Tokens, scores: FloatArray, first: int, last: int) -> TaggedSecret | None:
        start, end = _trimmed(text, int(tokens.starts[tokens.real[first]]), int(tokens.ends[tokens.real[last]]))
        if start >= end:
            return None
        kind = self._weights.kinds[int(scores[first : last + 1, 2:].sum(0).argmax())]
        near = np.arange(max(0, first - _ABOUT), min(len(scores), last + _ABOUT + 1))
        near = near[tokens.text_of[tokens.real[near]] == tokens.text_of[tokens.real[first]]]
        about = np.where((near >= first) & (near <= last), -1.0, scores[near, 1])
        return TaggedSecret(start, end, kind, _about(text, tokens, near, about, first, last))

    def _agrees(self, tokens: Tokens, scores: FloatArray, number: int, start: int, end: int) -> bool:
        starts, text_of = tokens.starts[tokens.real], tokens.text_of[tokens.real]
        inside = (text_of == number) & (starts < end) & (tokens.ends[tokens.real] > start)
        return bool(inside.any()) and float(scores[inside].max()) >= self._weights.threshold - 2 * _SLACK


def _forward(network: NetworkWeights, rows: NDArray[np.int64]) -> FloatArray:
    """The columns of ``out`` for each place; zeros in a margin."""
    found = np.zeros((len(rows), len(network.out[1])), np.float32)
    there = np.flatnonzero(rows[:, 0])
    for begin in range(0, len(there), _AT_ONCE):
        # With what the layers look at on either side.
        at = there[begin : begin + _AT_ONCE]
        low, high = max(0, int(at[0]) - MARGIN), min(len(rows), int(at[-1]) + MARGIN + 1)
        around = there[np.searchsorted(there, low) : np.searchsorted(there, high)]
        found[at] = _states(network, rows[around], around - low, high - low)[np.searchsorted(around, at)]
    return found


def _states(network: NetworkWeights, rows: NDArray[np.int64], at: NDArray[np.int64], size: int) -> FloatArray:
    """The columns of ``out`` for the tokens at some of ``size`` places; between them is nothing."""
    first = network.vectors[rows].sum(1)
    state = first
    edge = 2 * max(REACHES)
    for number, (matrix, bias) in enumerate(network.layers):
        reach = REACHES[number]
        placed = np.zeros((size + 2 * edge, state.shape[1]), np.float32)
        placed[at + edge] = state
        offsets = np.arange(-2, 3) * reach + edge
        fresh = placed[at[:, None] + offsets].reshape(len(at), -1) @ matrix
        fresh += bias
        np.maximum(fresh, 0.0, out=fresh)
        state = fresh if number == 0 else state + fresh
    matrix, bias = network.out
    width = first.shape[1]
    return np.asarray(first @ matrix[:width] + state @ matrix[width:] + bias, np.float32)


def _are_glued(tokens: Tokens, left: int, right: int) -> bool:
    """Whether two tokens with one between them stand without a space."""
    return bool(tokens.ends[left] == tokens.starts[left + 1] and tokens.ends[left + 1] == tokens.starts[right])


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """A secret's place without the marks of its sentence; a quotation in which it stands is a secret as a whole."""
    for match in _QUOTED.finditer(text, max(0, start - 64), min(len(text), end + 64)):
        inner = match.span(match.lastindex or 0)
        if inner[0] <= start and end <= inner[1] and len(text[slice(*inner)].split()) <= _MOST_QUOTED:
            return inner
    end -= text[start:end].endswith("&")
    if (more := _JOINED_AFTER.match(text, end)) is not None:
        end = more.end()
    if (more := _JOINED_BEFORE.search(text, max(0, start - 40), start)) is not None:
        start = more.start()
    while end > start and text[end - 1] in " .,;:\"'`)]}”’」。，；：、)":
        end -= 1
    while start < end and text[start] in " ,;:\"'`([{“‘「，：；=":
        start += 1
    return start, end


def _about(text: str, tokens: Tokens, near: NDArray[np.int64], scores: FloatArray, first: int, last: int) -> str:
    """The run of tokens that most clearly names what a secret opens; the nearer of two."""
    best, words = 0.0, ""
    place = 0
    while place < len(near):
        stop = place
        while stop < len(near) and scores[stop] > 0:
            stop += 1
        if stop > place:
            distance = min(abs(int(near[place]) - last), abs(first - int(near[stop - 1])))
            weight = float(scores[place:stop].max()) / (1 + distance)
            if weight > best:
                begin, end = tokens.starts[tokens.real[near[place]]], tokens.ends[tokens.real[near[stop - 1]]]
                best, words = weight, text[begin:end]
        place = stop + 1
    return words


def save_weights(path: Path, weights: TaggerWeights) -> None:
    """Write weights as ``.npz``: vectors in 8 bits with a scale each, the rest in half precision."""
    arrays: dict[str, NDArray[Any]] = {}
    for number, network in enumerate(weights.networks):
        scale = np.maximum(np.abs(network.vectors).max(1, keepdims=True), 1e-6) / 127
        arrays[f"{number}_scale"] = scale.astype(np.float16)
        arrays[f"{number}_vectors"] = np.round(network.vectors / scale).astype(np.int8)
        for name, (matrix, bias) in zip(_PARTS, (*network.layers, network.out), strict=True):
            arrays |= {f"{number}_{name}": matrix.astype(np.float16), f"{number}_{name}_bias": bias.astype(np.float16)}
    arrays |= {"kinds": np.array(weights.kinds), "threshold": np.array(weights.threshold, np.float32)}
    arrays |= {
        "hashes": weights.groups.hashes,
        "numbers": weights.groups.numbers,
        "networks": np.array(len(weights.networks)),
    }
    np.savez_compressed(path, allow_pickle=False, **arrays)


def read_weights(path: Path) -> TaggerWeights:
    """Weights that :func:`save_weights` wrote.

    Raises:
        ModelFileError: the file is missing, damaged, or of another size than the code.
    """
    try:
        with np.load(path) as stored:
            weights = TaggerWeights(
                tuple(_read_network(stored, number) for number in range(int(stored["networks"]))),
                tuple(map(str, stored["kinds"])),
                float(stored["threshold"]),
                Groups(stored["hashes"], stored["numbers"]),
            )
    except (OSError, KeyError, ValueError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise ModelFileError(f"the weights {path} cannot be read ({error}): install hexamem again") from None
    if any(len(network.vectors) != 2**BITS for network in weights.networks):
        raise ModelFileError(
            f"the weights {path} have {len(weights.networks[0].vectors)} vectors, the code {2**BITS}: train them anew with "
            "scripts/train_secrets.py"
        )
    return weights


def _read_network(stored: Mapping[str, NDArray[Any]], number: int) -> NetworkWeights:
    parts = [
        (stored[f"{number}_{name}"].astype(np.float32), stored[f"{number}_{name}_bias"].astype(np.float32))
        for name in _PARTS
    ]
    vectors = stored[f"{number}_vectors"] * stored[f"{number}_scale"].astype(np.float32)
    return NetworkWeights(vectors, tuple(parts[:-1]), parts[-1])


@cache
def open_tagger() -> Tagger:
    """The tagger that ships with the package, loaded once per process."""
    return Tagger(read_weights(_FILE))
