"""Run the bundled cross-encoder: how relevant a text is to a question, and whether a statement replaces an earlier one.

The model is made by ``scripts/train_reranker.py``; its report lies in ``docs/encoder.md``. It reads both texts in one pass
(Nogueira and Cho 2019), with the encoder's tokenizer.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from hexamem.models.encoder.runtime import read_encoder_tokenizer
from hexamem.models.onnx_model import OnnxTextModel, read_metadata, readable
from hexamem.models.sigmoid import sigmoid
from hexamem.once import once

__all__ = ["Reranker", "open_reranker"]

_TOKENS = 112


class Reranker:
    """The cross-encoder of one folder. Safe to use from several threads.

    Args:
        folder: holds ``reranker.onnx`` and ``metadata.json``; the package's own by default.

    Raises:
        ModelFileError: a file, or the encoder's tokenizer, is missing, damaged, or another than its digest says.
    """

    def __init__(self, folder: Path = Path(__file__).parent / "data") -> None:
        digest = read_metadata(folder, "sha256")["sha256"]
        self._model = OnnxTextModel(folder / "reranker.onnx", read_encoder_tokenizer(), digest=digest, tokens=_TOKENS)

    def relevance(self, question: str, texts: Sequence[str]) -> NDArray[np.float32]:
        """A logit for each text, ``(n,)``: higher is more relevant to the question."""
        return self._scores("relevance", [(question, text) for text in texts])

    def supersedes(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        """The probability of each pair (earlier, later) that the later statement replaces the earlier one, ``(n,)``."""
        logits = self._scores("supersedes", pairs)
        return np.asarray(sigmoid(logits), np.float32)

    def _scores(self, output: str, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        scores = np.zeros(len(pairs), np.float32)
        for batch, (values,) in self._model.run([output], [(readable(one), readable(other)) for one, other in pairs]):
            scores[batch.places] = values
        return scores


@once
def open_reranker() -> Reranker:
    """The cross-encoder that ships with the package, loaded once per process.

    Raises:
        ModelFileError: its files are missing or damaged.
    """
    return Reranker()
