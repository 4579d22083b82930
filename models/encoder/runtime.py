"""Runs the bundled encoder: from texts to unit vectors and token states, by one forward pass of an int8 ONNX model.

The model is trained by ``scripts/train_encoder.py``; its report is ``docs/encoder.md``. A text's vector is the mean
of its token states, scaled to length 1 (Reimers and Gurevych 2019, section 3), a span's vector the mean over the tokens of
the span. Vectors of recent texts are cached by the digest of the text, since indexing, labelling and extraction need the
same ones one after the other.
"""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from hexamem.models.onnx_model import OnnxTextModel, read_metadata, read_tokenizer, readable
from hexamem.once import once

__all__ = [
    "FOLDER",
    "MAX_TOKENS",
    "EncodedText",
    "Encoder",
    "forget_texts",
    "open_encoder",
    "read_encoder_metadata",
    "read_encoder_tokenizer",
]

FloatArray = NDArray[np.float32]
T = TypeVar("T")

FOLDER = Path(__file__).parent / "data"
MAX_TOKENS = 128
"""The most tokens of a text, including the two special ones; the model was trained on texts of at most 112."""
_CACHED_VECTORS = 8_192  # 12 MB
_CACHED_STATES = 256


@dataclass(frozen=True, slots=True)
class EncodedText:
    """The results of one forward pass for a text.

    All vectors of the encoder have a common component, so that the cosine of unrelated texts is well above 0. This mean over
    many turns is subtracted here (Mu and Viswanath 2018, section 2, without the second step).

    Attributes:
        vector: float32 ``(dimension,)``, length 1, centred.
        states: float16 ``(tokens, dimension)``, of the last layer, without special tokens.
        offsets: int32 ``(tokens, 2)``, the span of each token in the characters of the text.
        center: the mean that is subtracted from vectors of spans.
    """

    vector: FloatArray
    states: NDArray[np.float16]
    offsets: NDArray[np.int32]
    center: FloatArray = field(default_factory=lambda: np.zeros(1, np.float32))

    def span(self, start: int, end: int) -> FloatArray:
        """The vector of the characters from ``start`` to ``end``: the mean of its tokens' states, length 1, centred.

        For a span beyond the tokens that were read, this is the vector of the whole text.
        """
        inside = (self.offsets[:, 0] < end) & (self.offsets[:, 1] > start)
        if not inside.any():
            return self.vector
        return _unit(_unit(self.states[inside].astype(np.float32).mean(axis=0)) - self.center)


class Encoder:
    """The encoder of one folder. Safe to use from several threads.

    Args:
        folder: has ``encoder.onnx``, ``tokenizer.json`` and ``metadata.json``; the package's own by default.
        threads: batches that run in parallel; by default the number of cores, at most 4.

    Raises:
        ModelFileError: a file is missing, unreadable, or does not match the others.
    """

    def __init__(self, folder: Path = FOLDER, *, threads: int | None = None) -> None:
        self.folder = folder
        self.metadata = read_encoder_metadata(folder)
        self._model = OnnxTextModel(
            folder / "encoder.onnx",
            read_encoder_tokenizer(folder),
            digest=self.metadata["sha256"],
            tokens=MAX_TOKENS,
            threads=threads,
        )
        self._center = np.array(self.metadata["center"], np.float32)
        self._center.setflags(write=False)
        self._vectors: OrderedDict[bytes, FloatArray] = OrderedDict()
        self._states: OrderedDict[bytes, EncodedText] = OrderedDict()
        self._lock = threading.Lock()
        self._forgotten = 0  # how often the cache was emptied

    @property
    def dimension(self) -> int:
        """Length of every vector."""
        size: int = self.metadata["dimension"]
        return size

    @property
    def fingerprint(self) -> str:
        """Digest of model and tokenizer; vectors of encoders with different fingerprints do not mix."""
        return str(self.metadata["fingerprint"])

    def vectors(self, texts: Sequence[str]) -> FloatArray:
        """Embed texts.

        Args:
            texts: any strings; of a long one the first :data:`MAX_TOKENS` tokens are read, from its first 65,536 characters.

        Returns:
            float32 ``(len(texts), dimension)``, rows of length 1, in the order of ``texts``.
        """
        if not texts:
            return np.zeros((0, self.dimension), np.float32)
        rows: list[FloatArray] = self._cached(texts, self._vectors, _CACHED_VECTORS, self._run_vectors)
        return np.stack(rows)

    def encode(self, texts: Sequence[str]) -> list[EncodedText]:
        """Centred vectors and token states of texts, truncated as in :meth:`vectors`; the arrays are read-only."""
        return self._cached(texts, self._states, _CACHED_STATES, self._run_states)

    def forget(self) -> None:
        """Empty the cache, after text of a user was erased. Passes in progress do not add to it any more."""
        with self._lock:
            self._forgotten += 1
            self._vectors.clear()
            self._states.clear()

    def _cached(
        self, texts: Sequence[str], cache: OrderedDict[bytes, T], size: int, run: Callable[[list[str]], list[T]]
    ) -> list[T]:
        digests = [hashlib.blake2b(readable(text).encode(), digest_size=16).digest() for text in texts]
        with self._lock:
            forgotten = self._forgotten
            known = {digest: cache[digest] for digest in digests if digest in cache}
            for digest in known:
                cache.move_to_end(digest)
        new = {digest: text for digest, text in zip(digests, texts, strict=True) if digest not in known}
        if new:
            results = dict(zip(new, run([readable(text) for text in new.values()]), strict=True))
            known |= results
            with self._lock:
                if forgotten == self._forgotten:
                    for digest in list(results)[-size:]:
                        cache[digest] = results[digest]
                    while len(cache) > size:
                        cache.popitem(last=False)
        return [known[digest] for digest in digests]

    def _run_vectors(self, texts: list[str]) -> list[FloatArray]:
        results: dict[int, FloatArray] = {}
        for batch, (vectors,) in self._model.run(["vector"], texts):
            results.update((place, _unit(vectors[row])) for row, place in enumerate(batch.places))
        return [results[place] for place in range(len(texts))]

    def _run_states(self, texts: list[str]) -> list[EncodedText]:
        results: dict[int, EncodedText] = {}
        for batch, (vectors, states) in self._model.run(["vector", "states"], texts):
            for row, (place, encoding) in enumerate(zip(batch.places, batch.encodings, strict=True)):
                inner = slice(1, len(encoding.ids) - 1)
                encoded = EncodedText(
                    vector=_unit(_unit(vectors[row]) - self._center),
                    states=states[row, inner].astype(np.float16),
                    offsets=np.array(encoding.offsets[inner], np.int32).reshape(-1, 2),
                    center=self._center,
                )
                for array in (encoded.vector, encoded.states, encoded.offsets):
                    array.setflags(write=False)  # they are cached and shared by all callers
                results[place] = encoded
        return [results[place] for place in range(len(texts))]


def read_encoder_metadata(folder: Path = FOLDER) -> dict[str, Any]:
    """The metadata of an encoder: its dimension, its fingerprint, and the digests of its files."""
    return read_metadata(folder, "dimension", "fingerprint", "sha256", "heads_sha256", "center")


def read_encoder_tokenizer(folder: Path = FOLDER) -> Tokenizer:
    """The tokenizer of an encoder, a new one at each call.

    Raises:
        ModelFileError: it is missing or damaged, or does not match the encoder's fingerprint.
    """
    metadata = read_encoder_metadata(folder)
    return read_tokenizer(folder / "tokenizer.json", metadata["sha256"], metadata["fingerprint"])


@once
def open_encoder() -> Encoder:
    """The encoder that ships with the package, loaded once per process.

    Raises:
        ModelFileError: its files are missing or damaged.
    """
    return Encoder()


def forget_texts() -> None:
    """Empty the cache of the encoder that ships with the package, if it is loaded; all memories share it."""
    if open_encoder.is_built:
        open_encoder().forget()


def _unit(vector: FloatArray) -> FloatArray:
    return np.asarray(vector / max(float(np.linalg.norm(vector)), 1e-9), np.float32)
