"""Run the bundled encoder: texts to unit vectors and to token states, in one forward pass of an int8 ONNX model.

The model is made by ``scripts/train_encoder.py``; its report lies in ``docs/encoder.md``. A text's vector is the mean
of its token states, scaled to length 1 (Reimers and Gurevych 2019, section 3). A span's vector is the mean over the
tokens of the span, so that all sentences of a message are read in the one pass that the message needs anyway.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from hexamem.errors import CorruptFileError

__all__ = ["MAX_TOKENS", "EncodedText", "Encoder", "open_encoder"]

FloatArray = NDArray[np.float32]
Text = str | tuple[str, str]

MAX_TOKENS = 128
"""Tokens of a text that are read, the two special ones included; the model was trained on texts of at most 112."""
_MAX_CHARACTERS = 1_024  # no text needs more for MAX_TOKENS tokens, but for long runs without a space
_BATCH_TOKENS = 1_024  # padded tokens of one run: larger batches take more memory and are no faster
_CACHED_TEXTS = 512
_FILES = ("encoder.onnx", "tokenizer.json", "metadata.json")


@dataclass(frozen=True, slots=True)
class EncodedText:
    """What one forward pass gives for a text.

    Attributes:
        vector: float32 ``(dimension,)``, length 1.
        states: float16 ``(tokens, dimension)``, the last layer, without the first and the last special token.
        offsets: int32 ``(tokens, 2)``, the characters of the text that each token covers; of a pair they mean nothing.
    """

    vector: FloatArray
    states: NDArray[np.float16]
    offsets: NDArray[np.int32]

    def span(self, start: int, end: int) -> FloatArray:
        """The vector of the characters from ``start`` to ``end``: the mean of its tokens' states, length 1.

        A span beyond the part of the text that was read has the vector of the whole text.
        """
        inside = (self.offsets[:, 0] < end) & (self.offsets[:, 1] > start)
        if not inside.any():
            return self.vector
        return _unit(self.states[inside].astype(np.float32).mean(axis=0))


class Encoder:
    """The encoder of one folder. Safe to use from several threads.

    Args:
        folder: holds ``encoder.onnx``, ``tokenizer.json`` and ``metadata.json``; the package's own by default.
        threads: threads of one forward pass; by default as many as there are cores, at most 4.
        check: whether the model is compared with its digest; training opens one that has none yet.

    Raises:
        CorruptFileError: a file is missing, cannot be read, or does not belong to the others.
    """

    def __init__(self, folder: Path | None = None, *, threads: int | None = None, check: bool = True) -> None:
        self.folder = folder or Path(__file__).parent / "data"
        missing = [name for name in _FILES if not (self.folder / name).is_file()]
        if missing:
            raise CorruptFileError(
                f"the encoder in {self.folder} lacks {', '.join(missing)}: install hexamem again, or open the memory "
                "with embedder='static'"
            )
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads or min(os.cpu_count() or 1, 4)
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        # Threads that spin while they wait for work would take the processor from the rest of the application.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        try:
            self.metadata: dict[str, Any] = json.loads((self.folder / "metadata.json").read_text(encoding="utf-8"))
            model = (self.folder / "encoder.onnx").read_bytes()
            if check:
                self._check(model)
            self._session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
            self._tokenizer: Tokenizer = Tokenizer.from_file(str(self.folder / "tokenizer.json"))
        except CorruptFileError:
            raise
        except Exception as error:  # noqa: BLE001 - onnxruntime and tokenizers raise types of their own
            raise CorruptFileError(
                f"the encoder in {self.folder} cannot be read ({error}): install hexamem again, or open the memory with "
                "embedder='static'"
            ) from None
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(MAX_TOKENS)
        self._cache: OrderedDict[Text, EncodedText] = OrderedDict()
        self._lock = threading.Lock()

    def _check(self, model: bytes) -> None:
        digest = hashlib.sha256(model).hexdigest()
        if digest != self.metadata["sha256"]:
            raise CorruptFileError(
                f"{self.folder / 'encoder.onnx'} has the digest {digest[:16]}, metadata.json names "
                f"{self.metadata['sha256'][:16]}: install hexamem again, or open the memory with embedder='static'"
            )

    @property
    def dimension(self) -> int:
        """Length of every vector."""
        return int(self.metadata["dimension"])

    @property
    def fingerprint(self) -> str:
        """Digest of model and tokenizer; vectors of encoders with different fingerprints do not mix."""
        return str(self.metadata["fingerprint"])

    def vectors(self, texts: Sequence[Text]) -> FloatArray:
        """Embed texts.

        Args:
            texts: any strings, or pairs of strings that are read together; of a long one the first
                :data:`MAX_TOKENS` tokens are read.

        Returns:
            float32 ``(len(texts), dimension)``, rows of length 1, in the order of ``texts``.
        """
        if not texts:
            return np.zeros((0, self.dimension), np.float32)
        return np.stack([text.vector for text in self.encode(texts)])

    def encode(self, texts: Sequence[Text]) -> list[EncodedText]:
        """Vectors and token states of texts; recent texts come from a cache."""
        with self._lock:
            found = {text: self._cache[text] for text in texts if text in self._cache}
        new = [text for text in dict.fromkeys(texts) if text not in found]
        if new:
            found.update(zip(new, self._run(new), strict=True))
            with self._lock:
                for text in new[-_CACHED_TEXTS:]:
                    self._cache[text] = found[text]
                while len(self._cache) > _CACHED_TEXTS:
                    self._cache.popitem(last=False)
        return [found[text] for text in texts]

    def forget(self) -> None:
        """Empty the cache; called when words of a user were erased."""
        with self._lock:
            self._cache.clear()

    def _run(self, texts: Sequence[Text]) -> list[EncodedText]:
        encodings = self._tokenizer.encode_batch([_readable(text) for text in texts])
        order = sorted(range(len(texts)), key=lambda place: len(encodings[place].ids))
        results: dict[int, EncodedText] = {}
        start = 0
        while start < len(order):
            end = start + 1
            while end < len(order) and (end + 1 - start) * len(encodings[order[end]].ids) <= _BATCH_TOKENS:
                end += 1
            part = order[start:end]
            width = len(encodings[part[-1]].ids)
            ids = np.zeros((len(part), width), np.int64)
            mask = np.zeros((len(part), width), np.int64)
            for row, place in enumerate(part):
                length = len(encodings[place].ids)
                ids[row, :length], mask[row, :length] = encodings[place].ids, 1
            vectors, states = self._session.run(["vector", "states"], {"ids": ids, "mask": mask})
            for row, place in enumerate(part):
                inner = slice(1, len(encodings[place].ids) - 1)
                results[place] = EncodedText(
                    vector=_unit(vectors[row]),
                    states=states[row, inner].astype(np.float16),
                    offsets=np.array(encodings[place].offsets[inner], np.int32).reshape(-1, 2),
                )
            start = end
        return [results[place] for place in range(len(texts))]


@cache
def open_encoder() -> Encoder:
    """The encoder that ships with the package, loaded once per process.

    Raises:
        CorruptFileError: its files are missing or damaged.
    """
    return Encoder()


def _readable(text: Text) -> Text:
    """The first characters of a text, with lone surrogates replaced: they have no UTF-8 form."""
    if isinstance(text, tuple):
        return str(_readable(text[0])), str(_readable(text[1]))
    return text[:_MAX_CHARACTERS].encode("utf-8", "replace").decode("utf-8")


def _unit(vector: FloatArray) -> FloatArray:
    return np.asarray(vector / max(float(np.linalg.norm(vector)), 1e-9), np.float32)
