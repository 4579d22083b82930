"""The static embedder: word-piece vectors without context, tens of thousands of texts a second.

Distilled from sentence-transformers/all-MiniLM-L6-v2 with model2vec (Tulkens and van Dongen 2024): the teacher embeds
every word piece by itself, PCA reduces to 256 dimensions, smooth inverse frequency by Zipf rank weighs the rows, and a
text is the mean of its rows. `scripts/distil_embedder.py` makes the data; `model2vec.StaticModel.from_pretrained` can
open the same folder and has the same vectors for Latin text. Other scripts have rows of their own: `lexicon.py`.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load
from tokenizers import Tokenizer

from hexamem.errors import ConfigError, ModelFileError
from hexamem.models.onnx_model import read_metadata
from hexamem.models.tokens import word_pieces
from hexamem.once import once
from hexamem.stores.embedders.base import Embedder, FloatArray, TokenModel, normalize_rows, readable
from hexamem.stores.embedders.lexicon import Lexicon, LexiconSettings
from hexamem.stores.embedders.segmentation import has_foreign_run

__all__ = ["MAX_CHARACTERS", "StaticEmbedder"]

MAX_CHARACTERS = 65_536
"""Text beyond this many characters is not read: the mean of about 15,000 word pieces hardly changes with more."""

_REMEDY = "install hexamem again, or run scripts/distil_embedder.py"
_ALGORITHM = "2"  # part of the fingerprint; increase it when the code computes other vectors from the same data
_CHUNK_TEXTS = 1024
_CHUNK_CHARACTERS = 262_144
_MANY_PIECES = 2_048  # from here on it is cheaper to count the distinct pieces than to gather each one


class StaticEmbedder(Embedder):
    """The bundled static model.

    Loading the word pieces takes some tens of milliseconds and happens in the constructor; the lexicon for other
    scripts is read when a text first needs it.

    Args:
        folder: the folder of the data; the package's own by default.
        settings: weights of the rows for other scripts; part of the fingerprint.

    Raises:
        ModelFileError: a file is missing or damaged.
        ConfigError: `dimension` of the data is no multiple of 8 (hashed rows need whole bytes).
    """

    def __init__(self, folder: Path | None = None, *, settings: LexiconSettings | None = None) -> None:
        self._data = _shipped() if folder is None else _Data(folder)
        self._settings = settings or LexiconSettings()
        self._matrix, self._scales = self._data.matrix, self._data.scales
        self._tokenizer, self._unknown_id = self._data.tokenizer, self._data.unknown_id
        self._rows: dict[str, FloatArray] = {}  # of features of other scripts
        if self._matrix.shape[1] % 8:
            raise ConfigError(
                f"The embedder in {self._data.folder} has {self._matrix.shape[1]} dimensions; use a multiple of 8."
            )
        parts = (_ALGORITHM, self._data.fingerprint, repr(self._settings), str(MAX_CHARACTERS))
        self._fingerprint = hashlib.sha256("\n".join(parts).encode()).hexdigest()[:32]

    @property
    def name(self) -> str:
        return "static"

    @property
    def dimension(self) -> int:
        return int(self._matrix.shape[1])

    @property
    def fingerprint(self) -> str:
        return self._fingerprint

    @property
    def paid(self) -> bool:
        return False

    @property
    def token_model(self) -> TokenModel:
        return self

    @property
    def pieces(self) -> int:
        """Number of word pieces."""
        return len(self._matrix)

    @property
    def width(self) -> int:
        """The length of a token's vector."""
        return self.dimension

    def embed_documents(self, texts: Sequence[str]) -> FloatArray:
        out = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for start, chunk in _chunks(texts):
            latin = list(chunk)
            for i, text in enumerate(chunk):
                if has_foreign_run(text):
                    segments = self._lexicon.segmenter.split(text)
                    latin[i] = segments.latin
                    out[start + i] = self._lexicon.rows(segments.features, self._rows).sum(axis=0)
            self._add_pieces(latin, out[start : start + len(chunk)])
        return normalize_rows(out) if len(texts) else out

    def embed_query(self, text: str) -> FloatArray:
        return np.asarray(self.embed_documents([text])[0])

    def known_share(self, text: str) -> float:
        latin, foreign, _ = self._split(text)
        (pieces,) = word_pieces(self._data.tokenizer, [latin])
        known = sum(map(self._data.content_pieces.__contains__, pieces))
        total = known + pieces.count(self._unknown_id) + len(foreign)
        known += sum(map(self._lexicon.knows, foreign)) if foreign else 0
        return known / total if total else 0.0

    def forget(self) -> None:
        self._rows = {}

    def tokenize(self, texts: Sequence[str]) -> list[tuple[list[int], list[str]]]:
        """The known word pieces and the other tokens of each text."""
        parts = [self._split(text) for text in texts]
        pieces = word_pieces(self._data.tokenizer, [part[0] for part in parts])
        return [
            ([piece for piece in own if piece != self._unknown_id] if self._unknown_id in own else own, part[1])
            for own, part in zip(pieces, parts, strict=True)
        ]

    def token_rows(self, numbers: NDArray[np.integer], others: Sequence[str]) -> FloatArray:
        """The rows of word pieces, then of tokens of other scripts, both from :meth:`tokenize`."""
        rows = self._piece_rows(np.asarray(numbers, np.int64))
        return np.vstack([rows, self._lexicon.rows(others, self._rows)]) if len(others) else rows

    @property
    def _lexicon(self) -> Lexicon:
        return self._data.lexicon(self._settings)

    def _split(self, text: str) -> tuple[str, list[str], list[str]]:
        text = readable(text, MAX_CHARACTERS)
        if not has_foreign_run(text):
            return text, [], []
        return self._lexicon.segmenter.split(text)

    def _add_pieces(self, texts: list[str], out: FloatArray) -> None:
        """Add the sum of each text's word-piece rows to its row of `out`."""
        pieces = word_pieces(self._data.tokenizer, texts)
        lengths = np.fromiter(map(len, pieces), np.int64, len(pieces))
        for i in np.flatnonzero(lengths > _MANY_PIECES):
            ids, counts = np.unique(self._without_unknown(pieces[i]), return_counts=True)
            out[i] += counts.astype(np.float32) @ self._piece_rows(ids)
            pieces[i] = []
            lengths[i] = 0
        flat = np.fromiter(chain.from_iterable(pieces), np.int64, int(lengths.sum()))
        rows = self._piece_rows(flat)
        rows[flat == self._unknown_id] = 0.0
        filled = np.flatnonzero(lengths)
        if len(filled):
            # Empty texts are left out: reduceat would give them their neighbour's first row.
            out[filled] += np.add.reduceat(rows, (np.cumsum(lengths) - lengths)[filled], axis=0)

    def _without_unknown(self, ids: Iterable[int]) -> NDArray[np.int64]:
        return np.fromiter((i for i in ids if i != self._unknown_id), np.int64)

    def _piece_rows(self, ids: NDArray[np.int64]) -> FloatArray:
        rows = self._matrix[ids].astype(np.float32)
        rows *= self._scales[ids][:, None]
        return rows


class _Data:
    """The files of one model; immutable. Each is compared with its digest, since vectors of damaged rows would be stored.

    Raises:
        ModelFileError: as the embedder.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        metadata = read_metadata(folder, "fingerprint", "sha256", remedy=_REMEDY)
        self.fingerprint, self._digests = str(metadata["fingerprint"]), metadata["sha256"]
        tensors = self.tensors("model.safetensors")
        self.matrix: NDArray[np.int8] = tensors["embeddings"]
        self.scales: FloatArray = tensors["weights"].astype(np.float32)
        self.tokenizer = Tokenizer.from_buffer(self._read("tokenizer.json"))
        self.tokenizer.no_truncation()
        self.tokenizer.no_padding()
        self.unknown_id = cast(int, self.tokenizer.token_to_id("[UNK]"))
        self._lexicons: dict[LexiconSettings, Lexicon] = {}
        self._lock = threading.Lock()

    @cached_property
    def content_pieces(self) -> frozenset[int]:
        """The word pieces that are more than punctuation."""
        vocabulary = self.tokenizer.get_vocab()
        return frozenset(
            number
            for token, number in vocabulary.items()
            if number != self.unknown_id and token.removeprefix("##").isalnum()
        )

    def lexicon(self, settings: LexiconSettings) -> Lexicon:
        """The rows for other scripts, read when a text first needs them."""
        with self._lock:
            if settings not in self._lexicons:
                tensors = self.tensors("lexicon.safetensors")
                self._lexicons[settings] = Lexicon(tensors, self.matrix, self.scales, settings)
            return self._lexicons[settings]

    def tensors(self, name: str) -> dict[str, NDArray[Any]]:
        """The arrays of one file."""
        return load(self._read(name))

    def _read(self, name: str) -> bytes:
        path = self.folder / name
        try:
            together = hashlib.sha256(b"".join(map(bytes.fromhex, self._digests.values()))).hexdigest()
            data = path.read_bytes()
            if together != self.fingerprint or hashlib.sha256(data).hexdigest() != self._digests[name]:
                raise ValueError("its SHA-256 is not the one in metadata.json, or that file is damaged")
        except (OSError, ValueError, TypeError, AttributeError, LookupError) as error:
            raise ModelFileError(f"{path} cannot be read ({error}): {_REMEDY}") from None
        return data


@once
def _shipped() -> _Data:
    """The package's own files, read once per process."""
    return _Data(Path(__file__).parent / "static_model")


def _chunks(texts: Sequence[str]) -> Iterator[tuple[int, list[str]]]:
    """Cut `texts` into (index of the first, readable texts), bounded in number and characters so memory is too."""
    start, size = 0, 0
    chunk: list[str] = []
    for i, text in enumerate(texts):
        chunk.append(readable(text, MAX_CHARACTERS))
        size += len(chunk[-1])
        if len(chunk) == _CHUNK_TEXTS or size >= _CHUNK_CHARACTERS:
            yield start, chunk
            start, size, chunk = i + 1, 0, []
    if chunk:
        yield start, chunk
