"""Words, clauses and phrases of a text: one pass of a small tokeniser, and a table that finds thousands of phrases.

A rule is a phrase. Looking each word up in a trie costs the same for ten rules and for ten thousand, where one large
alternation would try its branches at every character.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Generic, NamedTuple, TypeVar

from ... import lazy_re as re

__all__ = [
    "CLAUSE",
    "END",
    "LINK",
    "NUMBER",
    "Match",
    "PhraseTable",
    "Tokens",
    "as_phrases",
    "singular",
    "tokenize",
    "word_set",
]


def word_set(text: str) -> frozenset[str]:
    """The words of a text that lists them with blanks between."""
    return frozenset(text.split())


def as_phrases(text: str) -> list[tuple[str, bool]]:
    """Phrases listed with commas between, for a table that only tells whether one is there."""
    return [(phrase, True) for phrase in text.split(", ")]


CLAUSE = "^"
"""The key that stands at the start of each clause: ``^ book`` is the imperative, ``book`` any use of the word."""
END = "."
"""The key of every end of a sentence that another one may follow."""
NUMBER = "#"
"""The key of every number."""
LINK = "<link>"
"""The key of every web address."""

_HEAD, _TAIL = 16_000, 4_000  # characters of a very long text that are read: its start and its end carry the act
_HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_LINK = re.compile(r"(?:https?|ftp)://\S+")
_LINK_FILL = "\ue000"
_TOKEN = re.compile(
    rf"(?P<word>[^\W\d_{_HAN}]+(?:['’][^\W\d_{_HAN}]+)*)|(?P<number>\d+(?:[.,:]\d+)*)"
    r"|(?P<end>[.!?…]+(?=[\"'”’)\]*_]*(?:\s|$))|[。！？…]+|\n+)"
    rf"|(?P<clause>[,;:，；：、—–()\[\]\"“”«»|])|(?P<sign>[$€£¥￥₹₩%@&/★+]|-(?=\s))|(?P<han>[{_HAN}]+)|(?P<link>{_LINK_FILL}+)"
)
_WORD, _NUMBER, _END, _CLAUSE_MARK, _LINK_MARK = (
    _TOKEN.groupindex[name] for name in ("word", "number", "end", "clause", "link")
)
# Words that may open a clause without changing what it does.
_OPENERS = word_set(
    "and but so ok okay well then yes yeah yep no nope please also hi hey hello great perfect lovely good nice right "
    "alright thanks sure oh ah hmm now actually maybe perhaps still sorry cool fine wow honestly anyway plus"
)
# Written with 's and listed as such in phrases; of other words ("the script's ready") it is a key of its own.
_WHOLE = word_set("let's it's that's there's here's what's who's how's where's he's she's when's opponent's")
_PATTERN_WORD = re.compile(r"\(|\)|[^\s()]+")


@dataclass(slots=True)
class Tokens:
    """A text as keys for :class:`PhraseTable`.

    Attributes:
        keys: lower-case words, :data:`NUMBER`, :data:`CLAUSE`, :data:`LINK`, signs, and whole runs of Han characters.
        spans: where each key stands in the text: ``[start, end)`` in characters.
        sentences: the place in ``keys`` at which each sentence begins.
        questions: whether each sentence ends with a question mark.
    """

    keys: list[str] = field(default_factory=list)
    spans: list[tuple[int, int]] = field(default_factory=list)
    sentences: list[int] = field(default_factory=list)
    questions: list[bool] = field(default_factory=list)

    def sentence_of(self, place: int) -> int:
        """The index of the sentence that the key at a place stands in."""
        return bisect_right(self.sentences, place) - 1


def tokenize(text: str) -> Tokens:
    """Split a text, in time that grows with its length; of more than 20,000 characters the start and the end alone."""
    tokens = Tokens()
    pieces = [(0, text)] if len(text) <= _HEAD + _TAIL else [(0, text[:_HEAD]), (len(text) - _TAIL, text[-_TAIL:])]
    keys, spans, sentences, questions = tokens.keys, tokens.spans, tokens.sentences, tokens.questions
    opening, ended = True, True
    for offset, piece in pieces:
        if "://" in piece:
            piece = _LINK.sub(lambda link: _LINK_FILL * len(link.group()), piece)  # noqa: PLW2901
        for match in _TOKEN.finditer(piece):
            kind = match.lastindex
            if kind == _END:
                if not ended:
                    mark = match.group()
                    questions.append("?" in mark or "？" in mark)
                    keys.append(END)
                    spans.append((match.start() + offset, match.end() + offset))
                    ended = True
                opening = True
                continue
            span = match.span()
            if offset:
                span = span[0] + offset, span[1] + offset
            if ended:
                sentences.append(len(keys))
                ended = False
            if opening:
                keys.append(CLAUSE)
                spans.append((span[0], span[0]))
                opening = False
            if kind == _WORD:
                key = match.group().lower()
                if key in _OPENERS:
                    opening = True
                elif not key.isalpha():
                    key = key.replace("’", "'")
                    if key[-2:] == "'s" and key not in _WHOLE:
                        keys.append(key[:-2])
                        spans.append((span[0], span[1] - 2))
                        key, span = "'s", (span[1] - 2, span[1])
            elif kind == _NUMBER:
                key = NUMBER
            else:
                key = LINK if kind == _LINK_MARK else match.group()
                if kind == _CLAUSE_MARK:
                    opening = True
            keys.append(key)
            spans.append(span)
    if not ended:
        questions.append(False)
    return tokens


Payload = TypeVar("Payload")


class Match(NamedTuple, Generic[Payload]):
    """A phrase found: its keys ``[first, last)``, its place in the text in characters, and what it stands for."""

    first: int
    last: int
    start: int
    end: int
    payload: Payload


class _Node(Generic[Payload]):
    __slots__ = ("next", "payload")

    def __init__(self) -> None:
        self.next: dict[str, _Node[Payload]] = {}
        self.payload: Payload | None = None


class PhraseTable(Generic[Payload]):
    """Phrases to be found in :class:`Tokens`; at each key the longest one counts.

    A phrase is words with blanks between them. ``a/b`` is either word, ``*`` any one word, ``#`` a number, ``(word)`` a
    word that may be left out, ``^`` the start of a clause. A phrase of Han characters is found anywhere in a run.
    The first of two equal phrases is kept.

    Args:
        phrases: pairs of a phrase and what it stands for.
        plurals: also find the plural of each phrase's last word.
    """

    def __init__(self, phrases: Iterable[tuple[str, Payload]], *, plurals: bool = False) -> None:
        self._root: dict[str, _Node[Payload]] = {}
        self._han: dict[str, list[tuple[str, Payload]]] = {}
        for phrase, payload in phrases:
            for words in _expand(phrase):
                self._add(words, payload)
                if plurals and words[-1].isalpha() and words[-1].isascii():
                    self._add((*words[:-1], _plural(words[-1])), payload)
        for entries in self._han.values():
            entries.sort(key=lambda entry: -len(entry[0]))

    def find(self, tokens: Tokens, *, overlapping: bool = True) -> Iterator[Match[Payload]]:
        """The phrases of a text from left to right.

        With ``overlapping=False`` none begins inside another; in a run of Han characters none ever does.
        """
        keys, spans, root, han = tokens.keys, tokens.spans, self._root, self._han
        free, count = 0, len(keys)
        for index, key in enumerate(keys):
            node = root.get(key)
            if node is not None:
                if index < free and not overlapping:
                    continue
                if node.payload is None:  # most words end here, without a call
                    following = node.next
                    if index + 1 == count:
                        continue
                    after = keys[index + 1]
                    if after == CLAUSE and index + 2 < count:
                        after = keys[index + 2]
                    if after not in following and "*" not in following:
                        continue
                found = self._longest(node, keys, index + 1)
                if found is not None:
                    free = last = found[0]
                    yield Match(index, last, spans[index][0], spans[last - 1][1], found[1])
            elif han and key > "\u3400":
                yield from self._find_han(key, index, spans[index][0])

    def _find_han(self, run: str, index: int, start: int) -> Iterator[Match[Payload]]:
        free = 0
        for place, character in enumerate(run):
            if place < free:
                continue
            for phrase, payload in self._han.get(character, ()):
                if run.startswith(phrase, place):
                    free = place + len(phrase)
                    yield Match(index, index + 1, start + place, start + free, payload)
                    break

    def _longest(self, node: _Node[Payload], keys: list[str], place: int) -> tuple[int, Payload] | None:
        best = (place, node.payload) if node.payload is not None else None
        following = node.next
        if following and place < len(keys):
            after = keys[place]
            if after == CLAUSE and place + 1 < len(keys):
                place += 1  # a clause that a word like "please" opens does not end the phrase
                after = keys[place]
            for key in (after, "*"):
                child = following.get(key)
                if child is not None and (key != "*" or after[0].isalnum() or after == NUMBER):
                    found = self._longest(child, keys, place + 1)
                    if found is not None and (best is None or found[0] > best[0]):
                        best = found
        return best

    def _add(self, words: tuple[str, ...], payload: Payload) -> None:
        if words[0] > "\u3400":
            entries = self._han.setdefault(words[0][0], [])
            if all(phrase != words[0] for phrase, _ in entries):
                entries.append((words[0], payload))
            return
        node = self._root.setdefault(words[0], _Node())
        for word in words[1:]:
            node = node.next.setdefault(word, _Node())
        if node.payload is None:
            node.payload = payload


def _expand(phrase: str) -> list[tuple[str, ...]]:
    """Every way in which a phrase can be read."""
    ways: list[tuple[str, ...]] = [()]
    optional = False
    for piece in _PATTERN_WORD.findall(phrase):
        if piece in "()":
            optional = piece == "("
            continue
        choices = piece.split("/") if len(piece) > 1 else [piece]
        ways = [*(ways if optional else ()), *((*way, choice) for way in ways for choice in choices)]
    return [way for way in ways if way]


def _plural(word: str) -> str:
    if word.endswith(("s", "x", "z", "ch", "sh")):
        return word + "es"
    if word.endswith("y") and word[-2:-1] not in "aeiou":
        return word[:-1] + "ies"
    return word + "s"


_ALIKE = word_set(
    "news series species analysis basis crisis bus gas lens address status campus always this its is was has"
)


def singular(word: str) -> str:
    """The singular of a lower-case English noun by its ending; other words and scripts as they are."""
    if len(word) < 4 or not word.endswith("s") or word.endswith(("ss", "us", "is")) or word in _ALIKE:
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("ches", "shes", "sses", "xes", "zes")):
        return word[:-2]
    return word[:-1]
