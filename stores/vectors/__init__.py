"""Dense vectors in Chroma: one collection a user and part, bounded in memory, rebuilt after an unclean stop."""

from hexamem.stores.vectors.store import Metadata, Part, VectorSettings, VectorStore

__all__ = ["Metadata", "Part", "VectorSettings", "VectorStore"]
