"""Embedders: texts to unit vectors.

`open_embedder` opens one from a spec; `Embedder` (in `base`) is the contract. The bundled one works offline; the
others are imported only when asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hexamem.errors import ConfigError
from hexamem.stores.embedders.base import Embedder

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings

__all__ = ["Embedder", "open_embedder"]

_CHOICES = (
    "'bundled', 'static', 'minilm', 'minilm:<folder>', 'openai:<model>', an Embedder, or a LangChain Embeddings object"
)


def open_embedder(spec: str | Embedder | Embeddings = "bundled") -> Embedder:
    """Open the embedder that `spec` names.

    Args:
        spec: `bundled`, the encoder that ships; `static`, faster, without context; `minilm` or `minilm:<folder>` (extra
            `minilm`); `openai:<model>`; an `Embedder`, returned as it is; or a LangChain `Embeddings` object.

    Raises:
        ConfigError: the spec is none of these, or what it names is not installed or cannot be opened.
    """
    if isinstance(spec, Embedder):
        return spec
    if isinstance(spec, str):
        kind, colon, argument = spec.partition(":")
        if spec == "bundled":
            from hexamem.stores.embedders.encoder import EncoderEmbedder

            return EncoderEmbedder()
        if spec == "static":
            from hexamem.stores.embedders.static import StaticEmbedder

            return StaticEmbedder()
        if spec == "minilm" or (kind == "minilm" and argument):
            from hexamem.stores.embedders.minilm import MiniLMEmbedder

            return MiniLMEmbedder(argument or None)
        if kind == "openai" and colon:
            from hexamem.stores.embedders.langchain import open_openai

            return open_openai(argument)
    else:
        from langchain_core.embeddings import Embeddings

        if isinstance(spec, Embeddings):
            from hexamem.stores.embedders.langchain import LangChainEmbedder

            return LangChainEmbedder(spec)
    raise ConfigError(f"Unknown embedder {spec!r}; use {_CHOICES}.")
