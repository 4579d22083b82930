"""The bundled cross-encoder, which reads two texts together."""

from __future__ import annotations

from hexamem.models.reranker.runtime import Reranker, open_reranker

__all__ = ["Reranker", "open_reranker"]
