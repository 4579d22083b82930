"""Recall without an LLM: candidates from every signal, one score each, filters, and a text packed to a budget."""

from .search import Searcher
from .strategies import STRATEGIES, Strategy

__all__ = ["STRATEGIES", "Searcher", "Strategy"]
