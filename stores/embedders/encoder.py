"""The bundled embedder: the encoder's vectors for whole texts, the static model's rows for single tokens."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from hexamem.models.encoder import Encoder, Heads, forget_texts, open_encoder, open_heads, read_encoder_metadata
from hexamem.stores.embedders.base import Embedder, FloatArray, TokenModel
from hexamem.stores.embedders.static import StaticEmbedder

__all__ = ["EncoderEmbedder"]


class EncoderEmbedder(Embedder):
    """Embeds texts with the encoder that ships with Hexamem (``models/encoder``).

    Late interaction uses the rows of the static model: a table look-up instead of a pass of the encoder.

    The encoder is loaded when a text is first embedded. If its files are missing or damaged, each call raises: messages are
    stored all the same, and recall uses keywords only, which ``degraded`` shows.

    Args:
        encoder: the package's own by default.

    Raises:
        ModelFileError: the encoder's ``metadata.json`` or a file of the static model is missing or damaged.
    """

    def __init__(self, encoder: Encoder | None = None) -> None:
        self._given = encoder
        self._metadata = read_encoder_metadata() if encoder is None else encoder.metadata
        self._static = StaticEmbedder()

    @property
    def _encoder(self) -> Encoder:
        return self._given or open_encoder()

    @cached_property
    def _heads(self) -> Heads:
        return open_heads() if self._given is None else Heads(self._given)

    @property
    def name(self) -> str:
        return "bundled"

    @property
    def dimension(self) -> int:
        return int(self._metadata["dimension"])

    @property
    def fingerprint(self) -> str:
        return str(self._metadata["fingerprint"])

    @property
    def paid(self) -> bool:
        return False

    @property
    def slow(self) -> bool:
        return True

    @property
    def token_model(self) -> TokenModel:
        return self._static.token_model

    def embed_documents(self, texts: Sequence[str]) -> FloatArray:
        return self._encoder.vectors(texts)

    def embed_query(self, text: str) -> FloatArray:
        return np.asarray(self._encoder.vectors([text])[0])

    def hop(self, question: FloatArray, evidence: FloatArray) -> FloatArray | None:
        return self._heads.hop(question, evidence)

    def known_share(self, text: str) -> float:
        return self._static.known_share(text)

    def forget(self) -> None:
        if self._given is None:
            forget_texts()
        else:
            self._given.forget()
        self._static.forget()
