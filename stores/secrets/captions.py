"""Captions: what a secret is, in words that can be searched and that reveal nothing of its value."""

from __future__ import annotations

import re
from collections.abc import Iterable

__all__ = ["NOUNS", "caption_is_safe", "describe", "safe_caption", "words_of"]

NOUNS = {
    "access_code": "access code",
    "api_key": "API key",
    "bank_account": "bank account number",
    "card_cvv": "card security code",
    "card_number": "card number",
    "license_key": "license key",
    "national_id": "identity number",
    "one_time_code": "one-time code",
    "passphrase": "passphrase",
    "password": "password",
    "pin": "PIN",
    "recovery_code": "recovery code",
    "seed_phrase": "seed phrase",
    "token": "token",
}
"""The names of the kinds that the tagger knows."""

# Tried in order when the text around a secret repeats it ("the netflix password is netflix123").
_NEUTRAL_CAPTIONS = ("login credential", "confidential value", "vault entry", "hidden text")
_MAX_ABOUT = 60
_WORDS = re.compile(r"[^\W_]+")
_HAN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{2,}")


def describe(noun: str, about: str) -> str:
    """``noun`` with what the secret is about: ``describe("password", "wifi")`` is "password of the wifi"."""
    about = " ".join(about.split()).strip(" '’.-,:")
    if not about or len(about) > _MAX_ABOUT:
        return noun
    return f"{noun} of {about}" if about[0].isupper() or not about[0].isascii() else f"{noun} of the {about}"


def caption_is_safe(caption: str, value: str) -> bool:
    """Whether the caption holds neither the value nor a word of it (three characters or more), in any case."""
    caption, value = caption.casefold(), value.casefold()
    if value.strip() and value.strip() in caption:
        return False
    if any(len(w) >= 3 and w in value for w in _WORDS.findall(caption)):
        return False
    if any(len(w) >= 3 and w in caption for w in _WORDS.findall(value[:400])):
        return False
    return not any(run[i : i + 2] in value for run in _HAN.findall(caption) for i in range(len(run) - 1))


def _tokens(text: str) -> set[str]:
    folded = text.casefold()
    # With and without punctuation: "12-34" is one word of a caption and may be two of a value.
    return {w for w in (*_WORDS.findall(folded), *folded.split()) if len(w) >= 3}


def words_of(values: Iterable[str]) -> frozenset[str]:
    """The words (three characters or more, folded) of all the values, for :func:`safe_caption`."""
    return frozenset().union(*map(_tokens, values))


def safe_caption(
    caption: str, noun: str, value: str, others: frozenset[str] = frozenset(), *, fixed: bool = False
) -> str:
    """The most specific caption that reveals nothing of ``value`` and contains no word of ``others``.

    ``others`` are the words of all secrets of the text (:func:`words_of`). A ``fixed`` caption comes from a table
    ("OpenAI API key"): a value may contain one of its words by chance ("sk-ant-api03-…"), so only a caption that
    contains the whole value is replaced.
    """
    if fixed and value.casefold() not in caption.casefold():
        return caption
    for choice in (caption, noun, *_NEUTRAL_CAPTIONS):
        # A noun comes from a table: a word that it shares with another secret of the text is chance.
        if caption_is_safe(choice, value) and (
            choice != caption or choice == noun or others.isdisjoint(_tokens(choice))
        ):
            return choice
    return "***"
