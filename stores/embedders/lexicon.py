"""Vectors for the features that `segmentation.py` finds: meaning from English glosses, identity from hashing.

A word or character of the lexicon gets

    row = norm * unit(mean of its glosses' English vectors) + identity * direction(feature)

so Chinese synonyms lie close together and near the English word (the meaning), and an exact match still counts more
than a synonym (the identity). Features outside the lexicon have an identity only. `direction` is a hash of the
feature: signs from BLAKE2b, tilted away from the axes along which English vectors vary most, so a hashed row is
nearly orthogonal to English rows. Characters weigh by smooth inverse frequency, a / (a + p(c)) (Arora et al. 2017,
section 3), with p from Unihan's kHanyuPinlu counts.

The data (`bundled/lexicon.safetensors`) is made by `scripts/distil_embedder.py` from `bundled/words.txt`, Unihan
and CLDR.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hexamem.stores.embedders.base import FloatArray
from hexamem.stores.embedders.segmentation import BIGRAM, SPELLED, TRIGRAM, Segmenter

__all__ = ["Lexicon", "LexiconSettings"]

_MEMO_LIMIT = 50_000  # rows of 1 KB: at most 50 MB, and only for texts that are neither English nor repetitive


@dataclass(frozen=True, kw_only=True)
class LexiconSettings:
    """Weights of the parts of a row; chosen on the question and memory pairs in `tests/static_model_pairs.json`.

    They are in the unit of English rows: a content word's row has a length of about 4, a function word's below 1.
    """

    base: float = 4.0
    """Length of a rare feature."""
    word_identity: float = 0.3
    """Identity of a lexicon word, as a share of its meaning."""
    character_meaning: float = 0.5
    """Meaning of a single character outside any word, as a share of `base`: its gloss is only a hint."""
    character_identity: float = 0.5
    bigram_identity: float = 0.5
    spelled_identity: float = 0.5
    """Identity of a whole word of an alphabet such as Cyrillic."""
    trigram_identity: float = 0.35
    short_word: float = 0.3
    """Factor for alphabet words of up to three letters, most of which are particles."""
    smoothing: float = 1e-3
    """`a` of smooth inverse frequency."""
    kana_frequency: float = 3e-3
    """p(c) assumed for hiragana, which mostly writes endings and particles."""
    syllable_frequency: float = 3e-4
    """p(c) assumed for katakana and Hangul."""
    rare_frequency: float = 7e-6
    """p(c) assumed for Han characters without a count."""


class Lexicon:
    """The lexicon's rows, computed from the English matrix when first used.

    Args:
        tensors: the arrays of `lexicon.safetensors`, see `write_lexicon` in the distilling script.
        matrix: int8 word-piece rows, shape (pieces, dimension).
        scales: float32 factor for each row of `matrix`, shape (pieces,).
        settings: the weights.
    """

    def __init__(
        self,
        tensors: Mapping[str, NDArray[np.generic]],
        matrix: NDArray[np.int8],
        scales: FloatArray,
        settings: LexiconSettings,
    ) -> None:
        self._matrix = matrix
        self._scales = scales
        self._settings = settings
        self._index = {word: i for i, word in enumerate(_text(tensors["entries"]).split("\n"))}
        self._words = int(tensors["words"][0])  # entries below are words, the rest are characters with a gloss
        ends = np.cumsum(tensors["gloss_counts"].astype(np.int64))
        self._starts: list[int] = np.concatenate([[0], ends]).tolist()
        self._gloss_ids = tensors["gloss_ids"].astype(np.int64)
        self._gloss_weights = tensors["gloss_weights"].astype(np.float32)
        self._norms: list[float] = tensors["norms"].astype(np.float64).tolist()
        self._tilt = tensors["tilt"].astype(np.float32)
        self._frequency: dict[str, float] = dict(
            zip(_text(tensors["characters"]), tensors["frequencies"].astype(np.float64).tolist(), strict=True)
        )
        fold = dict(zip(map(ord, _text(tensors["variants"])), _text(tensors["folded"]), strict=True))
        words = dict(list(self._index.items())[: self._words])
        self.segmenter = Segmenter(words, fold)

    def knows(self, token: str) -> bool:
        """Whether `token` is a word of the lexicon; a single character that only has a gloss is not."""
        return self._index.get(token, self._words) < self._words

    def rows(self, features: Sequence[str], memo: dict[str, FloatArray]) -> FloatArray:
        """The rows of `features`: float32, shape (len(features), dimension), not normalized.

        Args:
            memo: a cache of rows, owned by the caller; it is cleared when it is full.
        """
        out = np.empty((len(features), self._matrix.shape[1]), dtype=np.float32)
        for i, feature in enumerate(features):
            row = memo.get(feature)
            if row is None:
                row = self._row(feature)
                if len(memo) >= _MEMO_LIMIT:
                    memo.clear()
                memo[feature] = row
            out[i] = row
        return out

    def direction(self, feature: str) -> FloatArray:
        """The hashed unit vector of `feature`."""
        size = self._matrix.shape[1]
        digest = hashlib.blake2b(feature.encode("utf-8", "replace"), digest_size=size // 8).digest()
        signs = np.unpackbits(np.frombuffer(digest, np.uint8)).astype(np.float32) * 2 - 1
        return np.asarray(signs * self._tilt, dtype=np.float32)

    def _row(self, feature: str) -> FloatArray:
        settings = self._settings
        kind = feature[0]
        if kind == TRIGRAM:
            return settings.base * settings.trigram_identity * self.direction(feature)
        if kind == SPELLED:
            factor = settings.short_word if len(feature) <= 4 else 1.0
            return settings.base * factor * settings.spelled_identity * self.direction(feature)
        if kind == BIGRAM:
            rarity = math.sqrt(self._rarity(feature[1]) * self._rarity(feature[2]))
            return settings.base * settings.bigram_identity * rarity * self.direction(feature)
        entry = self._index.get(feature)
        if entry is not None and entry < self._words:
            norm = self._norms[entry]
            if len(feature) == 1:
                # Particles and classifiers are far more frequent than their glosses are in English.
                norm = min(norm, settings.base * self._rarity(feature))
            row = self._meaning(entry) + settings.word_identity * self.direction(feature)
            return np.asarray(norm * row, dtype=np.float32)
        row = settings.character_identity * self.direction(feature)
        if entry is not None:
            row = row + settings.character_meaning * self._meaning(entry)
        return np.asarray(settings.base * self._rarity(feature) * row, dtype=np.float32)

    def _meaning(self, entry: int) -> FloatArray:
        part = slice(self._starts[entry], self._starts[entry + 1])
        ids = self._gloss_ids[part]
        vector = (self._gloss_weights[part] * self._scales[ids]) @ self._matrix[ids].astype(np.float32)
        return np.asarray(vector / max(float(np.linalg.norm(vector)), 1e-9), dtype=np.float32)

    def _rarity(self, character: str) -> float:
        frequency = self._frequency.get(character)
        if frequency is None:
            if "\u3041" <= character <= "\u309f":
                frequency = self._settings.kana_frequency
            elif "\u30a0" <= character <= "\u30ff" or "\uac00" <= character <= "\ud7a3":
                frequency = self._settings.syllable_frequency
            else:
                frequency = self._settings.rare_frequency
        return self._settings.smoothing / (self._settings.smoothing + frequency)


def _text(tensor: NDArray[np.generic]) -> str:
    return tensor.tobytes().decode("utf-8")
