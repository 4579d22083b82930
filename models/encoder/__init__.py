"""The bundled encoder: one small transformer behind dense retrieval, the reader's heads and the labels."""

from __future__ import annotations

from hexamem.models.encoder.heads import Heads, open_heads
from hexamem.models.encoder.runtime import (
    MAX_TOKENS,
    EncodedText,
    Encoder,
    forget_texts,
    open_encoder,
    read_encoder_metadata,
)

__all__ = [
    "MAX_TOKENS",
    "EncodedText",
    "Encoder",
    "Heads",
    "forget_texts",
    "open_encoder",
    "open_heads",
    "read_encoder_metadata",
]
