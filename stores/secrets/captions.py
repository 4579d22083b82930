"""Captions: what a secret is, in words that can be searched and that reveal nothing of its value."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

__all__ = ["caption_is_safe", "describe", "safe_caption", "words_of"]

# Tried in order when the text around a secret repeats it ("the netflix password is netflix123").
_NEUTRAL_CAPTIONS = ("login credential", "confidential value", "vault entry", "hidden text")

_WORDS = re.compile(r"[^\W_]+")
_HAN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{2,}")
_FILLER_WORDS = """
the a an my our your his her its their this that these those new old current actual and or but is was are for to of
on in at with so ok okay hey hi here here's hello yes no sure well also please note remember save store keep thanks
fyi btw i i'm we you it he she they i've set changed change update updated reset use using used have has need want
know knows tell told that's what's both all any every each if when whether because since then now again same still
just only enter type log login sign as not be been from by der die das mein meine dein unser el la los las mi tu su
le les mon ma ton ta notre votre un une una des del de il lo meu minha o und y et der's export const let var number
no nr code's
"""
_FILLERS = frozenset(_FILLER_WORDS.split())
_HAN_FILLERS = re.compile(r"^(?:我家的?|我们的?|我的?|你的?|他的?|她的?|您的?|这个|这是|请记住|记住)+|的$")
# Words that repeat the noun ("one-time code", "security code").
_NAMES = frozenset({"one-time", "otp", "single-use", "verification", "password", "passwd", "code", "pin"})


def describe(noun: str, before: Sequence[str], of: str = "") -> str:
    """``noun`` with the words that specify it: ``describe("password", ["my", "wifi"])`` is "password of the wifi".

    Args:
        noun: the name of the kind.
        before: the words left of the name in the text, in order; only those after the last filler word count.
        of: the complement right of it ("the office router"); preferred when there is one.
    """
    words = of.split() if of else list(before)
    chosen: list[str] = []
    for word in words:
        bare = _HAN_FILLERS.sub("", word.strip("'’.-+&@/【】"))
        if bare.casefold() in _FILLERS or not bare or bare.casefold() in _NAMES:
            # In a complement fillers come first ("the office router"); before the name they end what is unrelated.
            if not of:
                chosen.clear()
            continue
        chosen.append(re.sub(r"['’]s$", "", bare))
    label = " ".join(chosen[:4] if of else chosen[-3:])
    if not label or len(label) > 60:
        return noun
    return f"{noun} of {label}" if label[0].isupper() or not label[0].isascii() else f"{noun} of the {label}"


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
