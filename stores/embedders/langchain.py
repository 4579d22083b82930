"""Any LangChain `Embeddings` as an embedder: normalized, batched, and with a fingerprint; OpenAI's by name."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from hexamem.errors import ConfigError
from hexamem.stores.embedders.base import Embedder, FloatArray, normalize_rows, readable, unknown_direction

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings

__all__ = ["LangChainEmbedder", "open_openai", "within_tokens"]

_PROBE = "The memory of an agent: names, dates, plans and what was promised."
_SKETCH_BITS = 16
_BATCH_TEXTS = 256
_BATCH_CHARACTERS = 120_000  # OpenAI takes 300,000 tokens a request; a Chinese character can be two


class LangChainEmbedder(Embedder):
    """Adapts `embeddings`, which does its own retries; its exceptions are propagated unchanged.

    The first use of `dimension`, `fingerprint` or an embedding method embeds a probe, whose vector shows the dimension.
    Texts without a visible character are not sent, since services refuse them.

    The fingerprint covers the class, the model's name and the dimension. If the object names no model, a sketch of the
    probe's vector takes its place: the signs of 16 random projections (SimHash, Charikar 2002), which do not change with
    the rounding noise of a service. The vectors of a named model are not compared, since hosted models do not return the
    same digits twice.

    Args:
        embeddings: the LangChain object.
        name: the spec that opens it again; by default `langchain:<class>[:<model>]`.
        shorten: truncates a text to what the model accepts; None for no limit.
    """

    def __init__(
        self, embeddings: Embeddings, *, name: str | None = None, shorten: Callable[[str], str] | None = None
    ) -> None:
        self._embeddings = embeddings
        self._class = f"{type(embeddings).__module__}.{type(embeddings).__qualname__}"
        self._model = _model_name(embeddings)
        self._name = name or ":".join(filter(None, ("langchain", type(embeddings).__qualname__, self._model)))
        self._shorten = shorten
        self._lock = threading.Lock()
        self._probe_vector: FloatArray | None = None

    @property
    def name(self) -> str:
        return self._name

    @property
    def dimension(self) -> int:
        return len(self._probed())

    @property
    def fingerprint(self) -> str:
        vector = self._probed()
        identity = self._model or _sketch(vector)
        return hashlib.sha256("\n".join((self._class, identity, str(len(vector)))).encode()).hexdigest()[:32]

    def embed_documents(self, texts: Sequence[str]) -> FloatArray:
        sendable = [self._prepare(text) for text in texts]
        filled = [i for i, text in enumerate(sendable) if text.strip()]
        out = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for batch in _batches(sendable, filled):
            vectors = self._embeddings.embed_documents([sendable[i] for i in batch])
            if len(vectors) != len(batch) or any(len(vector) != out.shape[1] for vector in vectors):
                raise ConfigError(
                    f"{self._name} returned {len(vectors)} vectors of {sorted({len(v) for v in vectors})} dimensions "
                    f"for {len(batch)} texts; one vector of {out.shape[1]} for each was expected. "
                    "Check the Embeddings object."
                )
            out[batch] = vectors
        return normalize_rows(out) if len(texts) else out

    def embed_query(self, text: str) -> FloatArray:
        sendable = self._prepare(text)
        if not sendable.strip():
            return unknown_direction(self.dimension)
        return np.asarray(normalize_rows(np.array(self._embeddings.embed_query(sendable), dtype=np.float32))[0])

    def _prepare(self, text: str) -> str:
        text = readable(text, len(text))
        return self._shorten(text) if self._shorten else text

    def _probed(self) -> FloatArray:
        with self._lock:
            if self._probe_vector is None:
                vector = np.array(self._embeddings.embed_query(_PROBE), dtype=np.float32)
                if vector.ndim != 1 or not vector.size:
                    raise ConfigError(
                        f"{self._name} returned an array of shape {vector.shape} for one query; a flat list of numbers "
                        "was expected. Check the Embeddings object."
                    )
                self._probe_vector = vector
            return self._probe_vector


def _model_name(embeddings: Embeddings) -> str:
    """The model's name under the attribute that LangChain's integrations use for it, or an empty string."""
    for attribute in ("model", "model_name", "model_id", "deployment", "repo_id"):
        value = getattr(embeddings, attribute, None)
        if isinstance(value, str) and value:
            return value
    return ""


def _sketch(vector: FloatArray) -> str:
    count = vector.size * _SKETCH_BITS
    bits = np.unpackbits(np.frombuffer(hashlib.shake_256(b"hexamem:sketch").digest(count // 8 + 1), np.uint8))[:count]
    signs = bits.reshape(_SKETCH_BITS, vector.size).astype(np.float32) * 2 - 1
    return "".join("1" if value > 0 else "0" for value in signs @ vector)


def _batches(texts: Sequence[str], indices: Sequence[int]) -> Iterator[list[int]]:
    batch: list[int] = []
    size = 0
    for i in indices:
        if batch and (len(batch) == _BATCH_TEXTS or size + len(texts[i]) > _BATCH_CHARACTERS):
            yield batch
            batch, size = [], 0
        batch.append(i)
        size += len(texts[i])
    if batch:
        yield batch


# -------------------------------------------------------------------------------------------------------------- OpenAI

_MAX_TOKENS = 8_191  # input limit of the text-embedding models
_TOKENS_PER_ASCII = 0.75  # dense text such as base64; prose needs a third of it
_TOKENS_PER_OTHER = 2.0


def open_openai(model: str) -> Embedder:
    """An embedder for `model`, through langchain-openai and with its retries.

    Key and address come from the environment as the OpenAI client reads them (`OPENAI_API_KEY`, `OPENAI_BASE_URL`);
    for anything else pass an `OpenAIEmbeddings` object to `open_embedder`. The client's own length check is off: it
    downloads tiktoken's tables and sends token ids, which other servers do not understand. Texts are cut by
    `within_tokens` instead.

    Raises:
        ConfigError: `model` is empty, or the client cannot be made (usually for want of a key).
    """
    if not model:
        raise ConfigError("The embedder 'openai:' names no model; write for example 'openai:text-embedding-3-small'.")
    from langchain_openai import OpenAIEmbeddings
    from openai import OpenAIError

    try:
        embeddings = OpenAIEmbeddings(model=model, check_embedding_ctx_length=False)
    except OpenAIError as error:
        raise ConfigError(f"The embedder 'openai:{model}' cannot be opened: {error}. Set OPENAI_API_KEY.") from error
    return LangChainEmbedder(embeddings, name=f"openai:{model}", shorten=within_tokens)


def within_tokens(text: str, limit: int = _MAX_TOKENS) -> str:
    """The longest head of `text` that has at most `limit` tokens by a cautious estimate (no tokenizer is loaded)."""
    if len(text) * _TOKENS_PER_OTHER <= limit:
        return text
    tokens = 0.0
    for i, character in enumerate(text):
        tokens += _TOKENS_PER_ASCII if character.isascii() else _TOKENS_PER_OTHER
        if tokens > limit:
            return text[:i]
    return text
