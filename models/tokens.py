"""Counting tokens offline, with the tokenizer of the bundled embedder."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.resources import files

from tokenizers import Tokenizer

__all__ = ["count_each", "count_tokens", "word_pieces"]

_PIECE = 20_000
_LONG = 100_000


@cache
def _tokenizer() -> Tokenizer:
    data = files("hexamem.stores.embedders").joinpath("static_model", "tokenizer.json").read_text(encoding="utf-8")
    tokenizer = Tokenizer.from_str(data)
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def word_pieces(tokenizer: Tokenizer, texts: Sequence[str]) -> list[list[int]]:
    """The numbers of the word pieces of each text, without special tokens."""
    if len(texts) == 1:  # a batch wakes threads, which takes longer than one text
        return [tokenizer.encode(texts[0], add_special_tokens=False).ids]
    return [encoding.ids for encoding in tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)]


def count_tokens(text: str) -> int:
    """The estimated tokens of a text for a chat model, without any download.

    BERT's vocabulary has 30,522 tokens, those of chat models 100,000 to 200,000: the count is high for English prose, so
    that a budget is not exceeded.

    Of a text above 100,000 characters the beginning is counted and extrapolated. Nothing is cached.
    """
    return count_each([text])[0]


def count_each(texts: Sequence[str]) -> list[int]:
    """As :func:`count_tokens` for several texts, faster than one by one."""
    cut = [_readable(text[:_LONG]) for text in texts]
    pieces = [text[start : start + _PIECE] for text in cut for start in range(0, len(text), _PIECE)]
    counts = iter([len(piece) for piece in word_pieces(_tokenizer(), pieces)])
    totals = []
    for text, head in zip(texts, cut, strict=True):
        count = sum(next(counts) for _ in range(0, len(head), _PIECE))
        totals.append(count if len(text) <= _LONG else round(count * len(text) / _LONG))
    return totals


def _readable(text: str) -> str:
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")
