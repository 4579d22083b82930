"""Word pieces by looking words up are those of the tokenizer, and tokens are counted by them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace

from hexamem.models.tokens import count_each, count_tokens
from hexamem.models.word_pieces import WordPieces
from hexamem.stores.embedders.static import StaticEmbedder

PLAIN = st.text(
    "abcdefghijklmnoprstuvwyzABCÄéß0123456789 \t\n\r.,;:!?'’“”—…-_[]()@#/\\\"中é😀\x00\x1f\u200b", max_size=80
)
WORDS = st.lists(
    st.sampled_from(
        ["unaffable", "Lisbon", "5023", "re-do", "don't", "[CLS]", "[unk]", "x" * 120, "naïve", "##ing", "猫"]
    ),
    max_size=12,
).map(" ".join)


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return StaticEmbedder()._tokenizer


@pytest.fixture(scope="module")
def pieces(tokenizer: Tokenizer) -> WordPieces:
    return WordPieces(tokenizer)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.one_of(PLAIN, WORDS), max_size=6))
def test_they_are_those_of_the_tokenizer(tokenizer: Tokenizer, pieces: WordPieces, texts: list[str]) -> None:
    expected = [tokenizer.encode(text, add_special_tokens=False).ids for text in texts]
    assert pieces.of(texts) == expected


def test_a_tokenizer_by_other_rules_is_asked_itself() -> None:
    other = Tokenizer(WordLevel({"Hello": 0, "hello": 1, "?": 2, "[UNK]": 3}, unk_token="[UNK]"))
    other.pre_tokenizer = Whitespace()
    assert WordPieces(other).of(["Hello hello", "who ?"]) == [[0, 1], [3, 2]]


@given(st.lists(st.text(max_size=40), max_size=5))
def test_several_texts_are_counted_as_one_by_one(texts: list[str]) -> None:
    assert count_each(texts) == [count_tokens(text) for text in texts]


def test_lone_surrogates_and_long_texts_are_counted() -> None:
    assert count_tokens("a \ud800 b") == 3
    assert count_tokens("garden " * 30_000) == pytest.approx(30_000, rel=0.01)
