"""The text in which RULER's needles are hidden: sentences, words and keys made from a seed, none of them downloaded.

The prose is about many small matters with names, places, days and figures of their own, so that no sentence stands
out by being the only one with a number in it, and hardly any comes twice. Its words are in ``ruler_words.json``.
"""

from __future__ import annotations

import json
import random
import uuid
from collections.abc import Callable, Iterator
from importlib import resources

__all__ = ["NOISE", "Prose", "coded_words", "needle_keys", "needle_numbers", "needle_uuids", "pseudo_words"]

NOISE = (
    "The kettle is warm.",
    "The road is long.",
    "The lamp is lit.",
    "We go on.",
    "Out and home again.",
)
"""What ``niah_single_1`` and RULER's own variable tracking repeat in place of prose."""
_WORDS: dict[str, list[str]] = json.loads(
    resources.files(__package__).joinpath("ruler_words.json").read_text(encoding="utf-8")
)


class Prose:
    """Sentences about everyday matters, one after the other.

    Args:
        rng: where all choices come from.
    """

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng

    def sentence(self) -> str:
        """One sentence of 6 to 25 words, with its full stop."""
        pick = self._rng.choice
        slots: dict[str, str] = {}
        for slot, words in (("name", "names"), ("thing", "things"), ("quality", "qualities")):
            slots[slot], slots[f"{slot}2"] = self._rng.sample(_WORDS[words], 2)
        for slot in ("place", "doing", "reason", "opinion", "month", "day", "unit"):
            slots[slot] = pick(_WORDS[f"{slot}s"])
        slots["number"] = str(self._rng.randrange(11, 9_800))
        slots["small"] = pick(("two", "three", "four", "five", "six", "seven"))
        slots["hour"] = f"{self._rng.randrange(7, 20)}:{pick(('00', '15', '30', '45'))}"
        slots |= {f"{slot}:cap": text[0].upper() + text[1:] for slot, text in slots.items()}
        sentence = pick(_WORDS["templates"])
        for slot, text in slots.items():
            sentence = sentence.replace(f"{{{slot}}}", text)
        return f"{sentence}."


def needle_keys(rng: random.Random) -> Iterator[str]:
    """Keys such as ``brisk-otter``, none twice; about 45,000 of them."""
    pairs = [f"{adjective}-{noun}" for adjective in _WORDS["adjectives"] for noun in _WORDS["nouns"]]
    rng.shuffle(pairs)
    yield from pairs


def needle_numbers(rng: random.Random) -> Iterator[str]:
    """Numbers of seven digits, none twice."""
    return _distinct(lambda: str(rng.randrange(1_000_000, 10_000_000)))


def needle_uuids(rng: random.Random) -> Iterator[str]:
    """Random UUIDs (version 4), none twice."""
    return _distinct(lambda: str(uuid.UUID(int=rng.getrandbits(128), version=4)))


def pseudo_words(rng: random.Random) -> Iterator[str]:
    """Words of two syllables or three that are in no dictionary, none twice."""

    def word() -> str:
        onsets, vowels = _WORDS["onsets"], _WORDS["vowels"]
        syllables = [rng.choice(onsets) + rng.choice(vowels) for _ in range(rng.choice((2, 2, 3)))]
        return "".join(syllables) + rng.choice(_WORDS["codas"])

    return _distinct(word)


def coded_words(rng: random.Random, length: int = 6) -> Iterator[str]:
    """Words of random letters, as RULER's frequent words are, none twice."""
    return _distinct(lambda: "".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=length)))


def _distinct(make: Callable[[], str]) -> Iterator[str]:
    seen: set[str] = set()
    while True:
        word = make()
        if word not in seen:
            seen.add(word)
            yield word
