"""Vectors: the protocol of a store, Chroma behind it, and the index of a home in front."""

from hexamem.stores.vectors.index import VectorIndex
from hexamem.stores.vectors.protocol import Metadata, Part, VectorStore

__all__ = ["Metadata", "Part", "VectorIndex", "VectorStore"]
