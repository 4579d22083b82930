"""Counting tokens offline, with the tokenizer of the bundled embedder."""

from __future__ import annotations

from functools import cache, lru_cache
from importlib.resources import files

from tokenizers import Tokenizer

__all__ = ["count_tokens"]

# WordPiece of BERT's 30,522 tokens against the 100,000 to 200,000 of chat models: the count is on the high side for
# English prose, which keeps a budget rather than breaks it.
_FACTOR = 1.0
_PIECE = 20_000
_SHORT = 4_000
_LONG = 100_000


@cache
def _tokenizer() -> Tokenizer:
    data = files("hexamem.stores.embedders").joinpath("bundled", "tokenizer.json").read_text(encoding="utf-8")
    tokenizer = Tokenizer.from_str(data)
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def count_tokens(text: str) -> int:
    """About how many tokens a chat model reads in the text; an estimate made without any download.

    Counts of texts up to 4,000 characters are remembered, since recalls show the same steps again and again. Of a text
    above 100,000 characters the beginning is counted and the rest taken to be like it.
    """
    if len(text) > _LONG:
        return round(_count(text[:_LONG]) * len(text) / _LONG)
    return _remembered(text) if len(text) <= _SHORT else _count(text)


@lru_cache(maxsize=4_096)
def _remembered(text: str) -> int:
    return _count(text)


def _count(text: str) -> int:
    safe = text.encode("utf-8", "replace").decode("utf-8")
    pieces = [safe[start : start + _PIECE] for start in range(0, len(safe), _PIECE)]
    return round(sum(len(one.ids) for one in _tokenizer().encode_batch(pieces, add_special_tokens=False)) * _FACTOR)
