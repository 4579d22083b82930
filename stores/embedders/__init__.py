"""Embedders: texts to unit vectors.

`open_embedder` opens one from a spec; `Embedder` (in `base`) is the contract. The bundled one works offline; the
others are imported only when asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...errors import ConfigError
from .base import Coverage, Embedder

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings

__all__ = ["Coverage", "Embedder", "open_embedder"]

_CHOICES = "'bundled', 'minilm', 'minilm:<folder>', 'openai:<model>', an Embedder, or a LangChain Embeddings object"


def open_embedder(spec: str | Embedder | Embeddings = "bundled") -> Embedder:
    """Open the embedder that `spec` names.

    Args:
        spec: `bundled`; `minilm` or `minilm:<folder>` (extra `minilm`); `openai:<model>`; an `Embedder`, returned as it
            is; or a LangChain `Embeddings` object.

    Raises:
        ConfigError: the spec is none of these, or what it names is not installed or cannot be opened.
    """
    if isinstance(spec, Embedder):
        return spec
    if isinstance(spec, str):
        kind, colon, argument = spec.partition(":")
        if spec == "bundled":
            from .bundled import BundledEmbedder

            return BundledEmbedder()
        if spec == "minilm" or (kind == "minilm" and argument):
            from .minilm import MiniLMEmbedder

            return MiniLMEmbedder(argument or None)
        if kind == "openai" and colon:
            from .openai import open_openai

            return open_openai(argument)
    else:
        from langchain_core.embeddings import Embeddings

        if isinstance(spec, Embeddings):
            from .langchain import LangChainEmbedder

            return LangChainEmbedder(spec)
    raise ConfigError(f"Unknown embedder {spec!r}; use {_CHOICES}.")
