"""Splits text that the English word pieces cannot represent: Chinese, Japanese, Korean and the non-Latin alphabets.

The teacher's vocabulary (BERT uncased) is English. It drops most Chinese characters, decomposes Hangul and spells Russian
letter by letter. Runs of such scripts are therefore cut out of a text and split here into features, for which
`lexicon.py` has vectors:

* Chinese, Japanese and Korean: the division into the fewest words of the lexicon, single characters for the rest, and
  the bigram across every boundary between single characters or beside an unknown one (so that names are
  distinguished);
* alphabets (Cyrillic, Greek, Arabic, Hebrew, the Indic scripts, Thai, ...): whole words and their letter trigrams, as
  in fastText (Bojanowski et al. 2017, section 3.2), since inflected forms share most trigrams.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from typing import NamedTuple

__all__ = ["BIGRAM", "SPELLED", "TRIGRAM", "Segmenter", "Segments", "has_foreign_run"]

BIGRAM, SPELLED, TRIGRAM = "\x01", "\x02", "\x03"
"""First characters that mark a feature's kind. Features without a mark are words or characters of the lexicon."""

# Jamo, the iteration marks, kana, Han with its extensions, Hangul. U+30FB is punctuation between katakana words.
_UNSPACED = (
    "\u1100-\u11ff\u3005-\u3007\u3041-\u30fa\u30fc-\u30ff\u3131-\u318e\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\ua960-\ua97c\uac00-\ud7fb\uf900-\ufaff\uff66-\uffdc\U00020000-\U000323af"
)
# Greek to Georgian, Ethiopic to Vedic, polytonic Greek: all alphabets but Latin (U+1D00 to U+1EFF extend Latin).
_ALPHABETS = "\u0370-\u10ff\u1200-\u1cff\u1f00-\u1fff"
_PUNCTUATION = "\u037e\u0387\u055a-\u055f\u0589\u05be\u05f3\u05f4\u060c\u061b\u061f\u06d4\u0964\u0965\u0e2f"
# CJK punctuation as the word pieces should see it: as its English counterpart or as a space.
_STOPS = str.maketrans("。、「」『』《》〈〉【】〔〕・", "." + "," + " " * 13)
# A single Greek letter is a symbol of English prose; the word pieces have it.
_RUN = re.compile(f"([{_UNSPACED}]+)|((?:(?![{_PUNCTUATION}])[{_ALPHABETS}]){{2,}})")

# Costs of a division: a single character costs more than a word, an unknown one still more, and a long word (什么时候),
# which rarely occurs by chance, less.
_WORD, _KNOWN, _UNKNOWN, _LONG_WORD = 4, 5, 7, 2
_LONG = 4
_NEVER = 1 << 60


class Segments(NamedTuple):
    """A text split into its parts.

    Attributes:
        latin: the text with every foreign run replaced by a space.
        tokens: words and characters of the foreign runs in reading order; what `Coverage` counts.
        features: the same plus bigrams and trigrams; what vectors are summed over.
    """

    latin: str
    tokens: list[str]
    features: list[str]


def has_foreign_run(text: str) -> bool:
    """Whether `text` has a run that `Segmenter.split` cuts out; without one only its word pieces count."""
    return not text.isascii() and _RUN.search(text) is not None


class Segmenter:
    """Splits texts by a lexicon.

    Args:
        words: the known words, also of one character; only membership is used.
        fold: character → character, merging variants (traditional → simplified Chinese) before the look-up.
    """

    def __init__(self, words: Mapping[str, int], fold: Mapping[int, str]) -> None:
        self._words = words
        self._fold = dict(fold)
        # The sizes of the words that begin with a pair of characters: most positions need one look-up and no slicing.
        sizes: dict[str, set[int]] = {}
        for word in words:
            if len(word) > 1:
                sizes.setdefault(word[:2], set()).add(len(word))
        self._sizes = {pair: tuple(sorted(lengths)) for pair, lengths in sizes.items()}

    def split(self, text: str) -> Segments:
        """Cut the foreign runs out of `text` (normalized to NFKC first) and split them into features."""
        text = unicodedata.normalize("NFKC", text).translate(_STOPS)
        tokens: list[str] = []
        features: list[str] = []

        def cut(match: re.Match[str]) -> str:
            unspaced, spelled = match.groups()
            if unspaced:
                self._split_unspaced(unspaced.translate(self._fold), tokens, features)
            else:
                _split_spelled(spelled.casefold(), tokens, features)
            return " "

        return Segments(_RUN.sub(cut, text), tokens, features)

    def _split_unspaced(self, run: str, tokens: list[str], features: list[str]) -> None:
        words = self._words
        last, last_known = "", False
        for token in self._cheapest(run) if len(run) > 1 else (run,):
            known = len(token) > 1 or token in words
            tokens.append(token)
            features.append(token)
            if last and not (known and last_known and (len(last) > 1 or len(token) > 1)):
                features.append(BIGRAM + last[-1] + token[0])
            last, last_known = token, known

    def _cheapest(self, run: str) -> list[str]:
        """The division of `run` with the lowest sum of costs; of two equal ones, that with the longer word at the end.

        Longest match from the left would split 很高兴 into 很高 and 兴 and then miss 高兴; the word that comes later
        is right more often, since modifiers come first.
        """
        words, sizes = self._words, self._sizes
        end = len(run)
        best = [_NEVER] * (end + 1)  # lowest cost up to each position
        best[0] = 0
        lengths = [1] * (end + 1)  # of the last word up to each position
        for start, character in enumerate(run):
            cost = best[start]
            after = start + 1
            total = cost + (_KNOWN if character in words else _UNKNOWN)
            if total < best[after]:
                best[after] = total
                lengths[after] = 1
            for size in sizes.get(run[start : start + 2], ()):
                after = start + size
                if size > 2 and (after > end or run[start:after] not in words):
                    continue
                total = cost + (_WORD if size < _LONG else _LONG_WORD)
                if total < best[after]:
                    best[after] = total
                    lengths[after] = size
        pieces = []
        while end:
            start = end - lengths[end]
            pieces.append(run[start:end])
            end = start
        pieces.reverse()
        return pieces


def _split_spelled(word: str, tokens: list[str], features: list[str]) -> None:
    tokens.append(SPELLED + word)
    features.append(SPELLED + word)
    padded = f"<{word}>"
    features.extend(TRIGRAM + padded[i : i + 3] for i in range(len(padded) - 2))
