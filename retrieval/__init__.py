"""Recall without an LLM: candidates from every signal, one score each, filters, and a text packed to a budget."""

from hexamem.retrieval.search import Searcher
from hexamem.retrieval.strategies import STRATEGIES, Strategy

__all__ = ["STRATEGIES", "Searcher", "Strategy"]
