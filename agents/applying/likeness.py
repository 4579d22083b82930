"""Whether two texts state the same fact: compared by their telling words, and cautiously.

A fact that is kept twice does little harm; two facts taken for one lose one of them. So numbers, dates, names and
negations must agree, and embeddings only ever confirm what the words suggest: cosine alone puts walnuts near peanuts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from ... import lazy_re as re
from ...intent.phrases.tokens import singular
from ...stores.lexical.tokens import tokenize_document

__all__ = ["Embed", "Likeness", "Verdict", "telling_words"]

Vectors = npt.NDArray[np.float32]
Embed = Callable[[Sequence[str]], Vectors]
"""n texts → ``(n, d)`` unit rows."""
Verdict = Literal["same", "less", "more", "different"]
"""Of a new text against a known one: it says the same, a part of it, the same and more, or something else."""

_EMPTY_TEXT = """
a an the is are was were be been being am i my me mine we our us you your he his him she her it its they their
them this that these those and or of to in on at for with by from as has have had do does did will would can
could should s t m re ve ll d user now currently present also really very just so there here who which 的 了 是 在 我 用户
"""
_EMPTY = frozenset(_EMPTY_TEXT.split())
_WORDING = {
    word: group[0]
    for group in (
        ("live", "reside", "living", "residing", "lived", "resided", "residence"),
        ("work", "working", "employed", "worked", "job"),
        ("like", "love", "enjoy", "liking", "loving", "enjoying", "liked", "loved", "enjoyed", "fond"),
        ("buy", "bought", "purchase", "purchased", "buying"),
        ("begin", "began", "start", "started", "beginning", "starting"),
        ("called", "named", "name"),
        ("own", "owned", "owning"),
        ("move", "moved", "moving", "relocated", "relocate"),
    )
    for word in group
}
_NEGATED = re.compile(
    r"\b(?:not|never|no|none|nor|without|stopped|quit|isn'?t|don'?t|doesn'?t|didn'?t|can'?t|cannot|won'?t|hates?|dislikes?"
    r"|former(?:ly)?|ex|used to)\b|[不没別别非勿莫无無沒]",
    re.IGNORECASE,
)
_NAME = re.compile(r"(?<=[\w,;:'’\-] )[A-Z][\w'’\-]*|(?<=\w-)[A-Z]\w*")
_DATES_TEXT = """
monday tuesday wednesday thursday friday saturday sunday january february march april may june july august
september october november december one two three four five six seven eight nine ten first second third
"""
_DATES = frozenset(_DATES_TEXT.split())
_LEAST_SHARED, _LEAST_PART = 4, 0.3
_ALIKE_WHOLE, _ALIKE_WORDS, _ALIKE_SAME_WORDS = 0.95, 0.88, 0.75


class _Gist(NamedTuple):
    words: frozenset[str]
    names: tuple[str, ...]  # in order, each once
    negated: bool


def telling_words(text: str) -> frozenset[str]:
    """The words of a text that tell something, in a form that makes them comparable; bigrams for Chinese."""
    folded = (word.removesuffix("'s") for word in tokenize_document(text).stemmed)
    words = (_WORDING.get(word) or singular(word) for word in folded if word not in _EMPTY)
    return frozenset(_WORDING.get(word, word) for word in words)


class Likeness:
    """Compares texts; embeds only where words alone do not decide.

    Args:
        embed: n texts → ``(n, d)`` unit rows.
    """

    def __init__(self, embed: Embed) -> None:
        self._embed = embed
        self._vectors: dict[str, Vectors] = {}

    def compare(self, known: str, new: str, *, same_words: bool = False) -> Verdict:
        """Say what ``new`` adds to ``known``.

        Args:
            same_words: both were learned from the very same words of a step, so that they may be put differently.
        """
        one, two = _gist(known), _gist(new)
        if one.negated != two.negated or not _in_one_order(one.names, two.names):
            return "different"
        if not one.words or not two.words:
            return "same" if known.casefold().split() == new.casefold().split() else "different"
        shared, only_known, only_new = one.words & two.words, one.words - two.words, two.words - one.words
        if not only_known and not only_new:
            return "same"
        if not only_known:
            return "more" if len(shared) >= _LEAST_PART * len(two.words) else "different"
        if not only_new:
            return "less" if len(shared) >= _LEAST_PART * len(one.words) else "different"
        if any(_exact(word, one.names + two.names) for word in only_known | only_new):
            return "different"
        if same_words:
            return "same" if shared and self._cosine(known, new) >= _ALIKE_SAME_WORDS else "different"
        if len(shared) < _LEAST_SHARED or len(only_known) > 1 or len(only_new) > 1:
            return "different"
        alike = self._cosine(*only_known, *only_new) >= _ALIKE_WORDS and self._cosine(known, new) >= _ALIKE_WHOLE
        return "same" if alike else "different"

    def _cosine(self, one: str, two: str) -> float:
        missing = [text for text in dict.fromkeys((one, two)) if text not in self._vectors]
        if missing:
            self._vectors.update(zip(missing, self._embed(missing), strict=True))
        return float(self._vectors[one] @ self._vectors[two])


def _gist(text: str) -> _Gist:
    names = tuple(dict.fromkeys(name.casefold().removesuffix("'s").removesuffix("’s") for name in _NAME.findall(text)))
    return _Gist(telling_words(text), names, _NEGATED.search(text) is not None)


def _in_one_order(one: Sequence[str], two: Sequence[str]) -> bool:
    """Whether the names that both texts hold come in one order: "Ann owes Tom" is not "Tom owes Ann"."""
    both = set(one) & set(two)
    return [name for name in one if name in both] == [name for name in two if name in both]


def _exact(word: str, names: Sequence[str]) -> bool:
    """Whether a word allows no other in its place: a number, date or name, or a piece of Chinese."""
    return any(character.isdigit() for character in word) or word in _DATES or word in names or not word.isascii()
