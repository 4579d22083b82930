"""Runs a small int8 ONNX transformer over texts, or pairs of texts, in padded batches."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from tokenizers import Encoding, Tokenizer

from hexamem.errors import ModelFileError

__all__ = ["MOST_CHARACTERS", "OnnxTextModel", "TextBatch", "read_metadata", "read_tokenizer", "readable"]

MOST_CHARACTERS = 65_536
"""Characters of a text that are tokenized."""
_FIRST_CHARACTERS = 1_024  # enough for 128 tokens of most texts
_BATCH_TOKENS = 512  # padded tokens of one run: larger batches take more memory and are slower
_REMEDY = "install hexamem again, or open the memory with embedder='static'"


class TextBatch(NamedTuple):
    """Texts of similar length.

    Attributes:
        places: the indices of the texts in the input.
        encodings: their tokens.
        ids: int64 ``(n, t)``, padded with zeros.
        mask: int64 ``(n, t)``, 1 for tokens and 0 for padding.
    """

    places: list[int]
    encodings: list[Encoding]
    ids: NDArray[np.int64]
    mask: NDArray[np.int64]


class OnnxTextModel:
    """A model with the inputs ``ids`` and ``mask``. Safe to use from several threads.

    Args:
        model: the file of the model.
        tokenizer: its tokenizer, whose truncation is set here.
        digest: the SHA-256 of the file.
        tokens: the most tokens of a text, including special ones.
        threads: batches that run in parallel; by default the number of cores, at most 4. A batch runs on one thread, since
            two were no faster.

    Raises:
        ModelFileError: the file is missing or damaged, or has another digest.
    """

    def __init__(
        self, model: Path, tokenizer: Tokenizer, *, digest: str, tokens: int, threads: int | None = None
    ) -> None:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 3
        self._threads = threads or min(os.cpu_count() or 1, 4)
        try:
            data = model.read_bytes()
            if hashlib.sha256(data).hexdigest() != digest:
                raise ValueError(f"its SHA-256 is another than {digest[:16]}… in metadata.json")
            self._session = onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
        except Exception as error:  # noqa: BLE001 - onnxruntime raises types of its own
            raise ModelFileError(f"the model {model} cannot be read ({error}): {_REMEDY}") from None
        self._tokenizer, self._tokens = tokenizer, tokens
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(tokens)

    def run(
        self, outputs: Sequence[str], texts: Sequence[str] | Sequence[tuple[str, str]]
    ) -> Iterator[tuple[TextBatch, list[NDArray[np.float32]]]]:
        """The named outputs of all texts, batch by batch; batches run in parallel.

        Args:
            texts: texts from :func:`readable`; the first ``tokens`` tokens of each text or pair are read.
        """
        batches = list(self._batches(self._beginnings(texts)))

        def run(batch: TextBatch) -> list[NDArray[np.float32]]:
            return list(self._session.run(list(outputs), {"ids": batch.ids, "mask": batch.mask}))

        if self._threads == 1 or len(batches) < 2:
            yield from zip(batches, map(run, batches), strict=True)
            return
        with ThreadPoolExecutor(min(self._threads, len(batches)), "hexamem-onnx") as pool:
            yield from zip(batches, pool.map(run, batches), strict=True)

    def _beginnings(self, texts: Sequence[Any]) -> list[Any]:
        """The beginnings of texts, or of the parts of pairs, that contain all tokens that are read."""
        return [
            self._beginning(text) if isinstance(text, str) else tuple(self._beginning(part) for part in text)
            for text in texts
        ]

    def _beginning(self, text: str) -> str:
        size = _FIRST_CHARACTERS
        while size < len(text) and len(self._tokenizer.encode(text[:size], add_special_tokens=False)) < self._tokens:
            size *= 4
        return text[:size]

    def _batches(self, texts: Sequence[str] | Sequence[tuple[str, str]]) -> Iterator[TextBatch]:
        encodings = self._tokenizer.encode_batch(list(texts))
        order = sorted(range(len(texts)), key=lambda place: len(encodings[place].ids))
        start = 0
        while start < len(order):
            end = start + 1
            while end < len(order) and (end + 1 - start) * len(encodings[order[end]].ids) <= _BATCH_TOKENS:
                end += 1
            places = order[start:end]
            width = len(encodings[places[-1]].ids)
            ids = np.zeros((len(places), width), np.int64)
            mask = np.zeros((len(places), width), np.int64)
            for row, place in enumerate(places):
                length = len(encodings[place].ids)
                ids[row, :length], mask[row, :length] = encodings[place].ids, 1
            yield TextBatch(places, [encodings[place] for place in places], ids, mask)
            start = end


def readable(text: str) -> str:
    """The first :data:`MOST_CHARACTERS` of a text, with lone surrogates replaced: they have no UTF-8 form."""
    return text[:MOST_CHARACTERS].encode("utf-8", "replace").decode("utf-8")


def read_tokenizer(path: Path, model_digest: str, fingerprint: str) -> Tokenizer:
    """The tokenizer of an encoder.

    Args:
        path: its file.
        model_digest: SHA-256 of the encoder's model.
        fingerprint: of the encoder: the beginning of the SHA-256 of the digests of its model and its tokenizer.

    Raises:
        ModelFileError: the file is missing, damaged, or not the one of the fingerprint.
    """
    try:
        data = path.read_bytes()
        digest = hashlib.sha256(data).hexdigest()
        if hashlib.sha256((model_digest + digest).encode()).hexdigest()[: len(fingerprint)] != fingerprint:
            raise ValueError(f"with it the encoder has another fingerprint than {fingerprint[:16]}… in metadata.json")
        return Tokenizer.from_buffer(data)
    except Exception as error:  # noqa: BLE001 - tokenizers raises types of its own
        raise ModelFileError(f"the tokenizer {path} cannot be read ({error}): {_REMEDY}") from None


def read_metadata(folder: Path, *needed: str, remedy: str = _REMEDY) -> dict[str, Any]:
    """The metadata of a model.

    Args:
        needed: the required keys.
        remedy: what the message says to do.

    Raises:
        ModelFileError: ``metadata.json`` is missing or damaged, or lacks a key.
    """
    path = folder / "metadata.json"
    try:
        metadata: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        if missing := [key for key in needed if key not in metadata]:
            raise ValueError(f"it lacks {', '.join(missing)}")
        return metadata
    except (OSError, ValueError, TypeError) as error:
        raise ModelFileError(f"{path} cannot be read ({error}): {remedy}") from None
