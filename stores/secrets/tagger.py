"""The tagger: secrets that only the words around them reveal, by logistic regression over the features of tokens.

One table of weights says how secret a token is, a second of which kind, a third whether a token names what the secret
opens. ``scripts/train_secrets.py`` trains them on ``evals/corpus/secrets``; ``docs/write-path.md`` says how well they do.
"""

from __future__ import annotations

import re
import zipfile
import zlib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hexamem.errors import ModelFileError
from hexamem.stores.secrets.token_features import BITS, Groups, Tokens, features, table, tokenize

__all__ = ["TaggedSecret", "Tagger", "TaggerWeights", "open_tagger", "read_weights", "save_weights"]

_FILE = Path(__file__).parent / "weights" / "tagger.npz"
_AT_ONCE = 4_096  # tokens whose features are in memory together
_REMEMBERED = 50_000  # words whose attributes are cached
_SLACK = 3.0  # a token beside a secret one belongs to it from so much below the threshold
_QUOTED = re.compile(r"(?<!\w)(?:\"([^\"\n]{1,60})\"|'([^'\n]{1,60})'|`([^`\n]{1,60})`|“([^“”\n]{1,60})”|「([^「」\n]{1,60})」)(?!\w)")
_MOST_QUOTED = 8  # words of a quotation that is a secret as a whole
_ABOUT = 12  # tokens around a secret in which the words that name what it opens are looked for

FloatArray = NDArray[np.float32]


class TaggerWeights(NamedTuple):
    """What is trained.

    Attributes:
        secret: log odds that a token is secret, by feature; the last is the bias.
        kind: by feature (hashed to fewer places) and kind.
        kinds: names of the kinds.
        about: log odds that a token names what the secret of its text opens, by feature (hashed to fewer places).
        threshold: log odds from which a token is secret.
        groups: words of like meaning.
    """

    secret: FloatArray
    kind: FloatArray
    kinds: tuple[str, ...]
    about: FloatArray
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
        attributes = table(tokens, self._weights.groups, self._memo)
        scores = np.empty(len(tokens.real), np.float32)
        for begin in range(0, len(scores), _AT_ONCE):
            at = tokens.real[begin : begin + _AT_ONCE]
            scores[begin : begin + len(at)] = self._weights.secret[features(at, attributes)].sum(1)
        scores += self._weights.secret[-1]
        found: list[list[TaggedSecret]] = [[] for _ in texts]
        for number, first, last in self.runs(tokens, scores):
            secret = self._described(texts[number], tokens, attributes, scores, first, last)
            if secret is not None and (not found[number] or found[number][-1].end <= secret.start):
                found[number].append(secret)
        sure = [[self._agrees(tokens, scores, number, *place) for place in places] for number, places in enumerate(doubtful)]
        return list(zip(found, sure, strict=True))

    def runs(self, tokens: Tokens, scores: FloatArray) -> list[tuple[int, int, int]]:
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
                    0 <= place < len(scores) and bool(scores[place] >= low) and bool(tokens.text_of[real[place]] == number)
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
            done = last + 1
            runs.append((int(number), first, last))
        return runs

    def _described(
        self,
        text: str,
        tokens: Tokens,
        attributes: NDArray[np.uint32],
        scores: FloatArray,
        first: int,
        last: int,
    ) -> TaggedSecret | None:
        start, end = _trimmed(text, int(tokens.starts[tokens.real[first]]), int(tokens.ends[tokens.real[last]]))
        if start >= end:
            return None
        number = tokens.text_of[tokens.real[first]]
        near = np.arange(max(0, first - _ABOUT), min(len(scores), last + _ABOUT + 1))
        near = near[tokens.text_of[tokens.real[near]] == number]
        rows = features(tokens.real[near], attributes)
        inside = (near >= first) & (near <= last)
        shift = BITS - int(np.log2(len(self._weights.kind)))
        kind = self._weights.kinds[int(self._weights.kind[rows[inside] >> shift].sum((0, 1)).argmax())]
        shift = BITS - int(np.log2(len(self._weights.about)))
        about = self._weights.about[rows >> shift].sum(1)
        about[inside] = -1.0
        return TaggedSecret(start, end, kind, _about(text, tokens, near, about, first, last))

    def _agrees(self, tokens: Tokens, scores: FloatArray, number: int, start: int, end: int) -> bool:
        starts, text_of = tokens.starts[tokens.real], tokens.text_of[tokens.real]
        inside = (text_of == number) & (starts < end) & (tokens.ends[tokens.real] > start)
        return bool(inside.any()) and float(scores[inside].max()) >= self._weights.threshold - 2 * _SLACK


def _are_glued(tokens: Tokens, left: int, right: int) -> bool:
    """Whether two tokens with one between them stand without a space."""
    return bool(tokens.ends[left] == tokens.starts[left + 1] and tokens.ends[left + 1] == tokens.starts[right])


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """A secret's place without the marks of its sentence; a quotation in which it stands is a secret as a whole."""
    for match in _QUOTED.finditer(text, max(0, start - 64), min(len(text), end + 64)):
        inner = match.span(match.lastindex or 0)
        if inner[0] <= start and end <= inner[1] and len(text[slice(*inner)].split()) <= _MOST_QUOTED:
            return inner
    while end > start and text[end - 1] in " .,;:\"'`)]}”’」。，；：、)":
        end -= 1
    while start < end and text[start] in " ,;:\"'`([{“‘「，：；=":
        start += 1
    return start, end


def _about(
    text: str, tokens: Tokens, near: NDArray[np.int64], scores: FloatArray, first: int, last: int
) -> str:
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
    """Write weights as ``.npz``; numbers in half precision."""
    np.savez_compressed(
        path,
        secret=weights.secret.astype(np.float16),
        kind=weights.kind.astype(np.float16),
        kinds=np.array(weights.kinds),
        about=weights.about.astype(np.float16),
        threshold=np.float32(weights.threshold),
        hashes=weights.groups.hashes,
        numbers=weights.groups.numbers,
    )


def read_weights(path: Path) -> TaggerWeights:
    """Weights that :func:`save_weights` wrote.

    Raises:
        ModelFileError: the file is missing, damaged, or of another size than the code.
    """
    try:
        with np.load(path) as stored:
            weights = TaggerWeights(
                stored["secret"].astype(np.float32),
                stored["kind"].astype(np.float32),
                tuple(map(str, stored["kinds"])),
                stored["about"].astype(np.float32),
                float(stored["threshold"]),
                Groups(stored["hashes"], stored["numbers"]),
            )
    except (OSError, KeyError, ValueError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise ModelFileError(f"the weights {path} cannot be read ({error}): install hexamem again") from None
    if len(weights.secret) != 2**BITS + 1:
        raise ModelFileError(
            f"the weights {path} have {len(weights.secret) - 1} features, the code {2**BITS}: train them anew with "
            "scripts/train_secrets.py"
        )
    return weights


@cache
def open_tagger() -> Tagger:
    """The tagger that ships with the package, loaded once per process."""
    return Tagger(read_weights(_FILE))
