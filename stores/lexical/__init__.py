"""Keywords and labels in tantivy: one directory a user, BM25 over a stemmed and an exact field."""

from hexamem.stores.lexical.store import LexicalDocument, LexicalFilter, LexicalStore

__all__ = ["LexicalDocument", "LexicalFilter", "LexicalStore"]
