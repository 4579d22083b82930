"""Run a small int8 ONNX transformer over texts, or pairs of texts that are read together, in padded batches."""

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

__all__ = ["OnnxTextModel", "TextBatch", "read_metadata", "readable"]

_MAX_CHARACTERS = 1_024  # no text needs more for 128 tokens, but for long runs without a space
_BATCH_TOKENS = 512  # padded tokens of one run: larger batches take more memory and are slower
_REMEDY = "install hexamem again, or open the memory with embedder='static'"


class TextBatch(NamedTuple):
    """Texts of similar length.

    Attributes:
        places: of the texts among those given.
        encodings: their tokens.
        ids, mask: int64 ``(n, t)``, padded with zeros.
    """

    places: list[int]
    encodings: list[Encoding]
    ids: NDArray[np.int64]
    mask: NDArray[np.int64]


class OnnxTextModel:
    """A model with the inputs ``ids`` and ``mask``. Safe to use from several threads.

    Args:
        model, tokenizer: files.
        digest: SHA-256 of the model's file; None to open it unchecked.
        tokens: of a text that are read, the special ones included.
        threads: batches that run side by side; by default as many as there are cores, at most 4. A batch runs on one
            thread: two threads in one pass were no faster than one.

    Raises:
        ModelFileError: a file is missing, damaged, or another than its digest says.
    """

    def __init__(
        self, model: Path, tokenizer: Path, *, digest: str | None, tokens: int, threads: int | None = None
    ) -> None:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 3
        self._threads = threads or min(os.cpu_count() or 1, 4)
        try:
            data = model.read_bytes()
            if digest is not None and hashlib.sha256(data).hexdigest() != digest:
                raise ValueError(f"its SHA-256 is another than {digest[:16]}… in metadata.json")
            self._session = onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
            self._tokenizer: Tokenizer = Tokenizer.from_file(str(tokenizer))
        except Exception as error:  # noqa: BLE001 - onnxruntime and tokenizers raise types of their own
            raise ModelFileError(
                f"the model {model} with {tokenizer.name} cannot be read ({error}): {_REMEDY}"
            ) from None
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(tokens)

    def run(
        self, outputs: Sequence[str], texts: Sequence[str] | Sequence[tuple[str, str]]
    ) -> Iterator[tuple[TextBatch, list[NDArray[np.float32]]]]:
        """The named outputs of all texts, batch by batch; several batches run side by side.

        Args:
            texts: of :func:`readable` characters.
        """
        batches = list(self._batches(texts))

        def run(batch: TextBatch) -> list[NDArray[np.float32]]:
            return list(self._session.run(list(outputs), {"ids": batch.ids, "mask": batch.mask}))

        if self._threads == 1 or len(batches) < 2:
            yield from zip(batches, map(run, batches), strict=True)
            return
        with ThreadPoolExecutor(min(self._threads, len(batches)), "hexamem-onnx") as pool:
            yield from zip(batches, pool.map(run, batches), strict=True)

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
    """The first characters of a text, with lone surrogates replaced: they have no UTF-8 form."""
    return text[:_MAX_CHARACTERS].encode("utf-8", "replace").decode("utf-8")


def read_metadata(folder: Path, *needed: str) -> dict[str, Any]:
    """What is known of a model before it is loaded.

    Args:
        needed: keys that must be there.

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
        raise ModelFileError(f"{path} cannot be read ({error}): {_REMEDY}") from None
