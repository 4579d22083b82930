"""What tells scopes apart: the names, identifiers and words that each was introduced with, and how rare they are.

A goal is opened with its identifiers ("the Falcon Arcade", "fir-gateway", "day 2 of Dublin with my parents", "bicycle
helmets as to road safety"). Few of them are its own: the town has other days, the subject comes up in other debates.
So a text speaks for a scope by the sum of what it shares with the scope's introduction, each feature weighted by its
form (a name tells more than a word) and by its rarity among introductions (inverse scope frequency).
"""

from __future__ import annotations

from collections.abc import Mapping
from math import log

from ... import lazy_re as re
from .numbers import MONTHS
from .text import STOP, same_length_lower, stem

__all__ = ["EMPTY_SIGNS", "GENERIC", "Features", "Identities", "fresh_names", "read_features"]

Features = Mapping[str, float]
"""Feature → weight of its form."""

NAME, IDENTIFIER, PAIR, WORD, SIGN = 3.0, 2.4, 1.3, 0.6, 0.8
"""Weights: a capitalised name, a hyphenated or dotted identifier, two words that belong together, a word, two signs."""

_INITIAL = 0.61  # a capital at the beginning of a sentence: a name, if it is known as one
_MARKS = frozenset("-._/")
_COMMON = 60  # what so many scopes share tells nothing
_READ = 420
_MOST = 64
_TOKEN = re.compile(
    r"[A-Za-zÀ-ÖØ-öø-ɏ_][\wÀ-ɏ]*(?:[-.'’&/](?=\w)[\w]+)*|[\u3400-\u9fff\uf900-\ufaff]+|\d+[\w.:,%-]*\w|\d|[^\s\w]"
)
_GENERIC_TEXT = """
trip day project number part area one two three four five six seven eight nine ten work stream topic case matter
issue side question argument debate motion people somewhere order update idea option choice detail hour start
begin starting beginning introduce introducing open opening close list agenda outline draft note moment hear say
"""
GENERIC = frozenset(_GENERIC_TEXT.split())
_MONTHS = frozenset(MONTHS)
EMPTY_SIGNS = frozenset(
    "的了吗呢把吧您你请我们这那还就也么啊呀嘛啥哪谁们是在有要和跟与到去第、一个想怎给对被将着过很太再又"
)
_POSSESSIVE = re.compile(r"['’]s$")
_LISTED = re.compile(r"(?:^|\n)\s*(?:[-*•]|\d{1,2}[.)])\s")
_AMOUNT = re.compile(r"(?<![\w-])[€$£¥]?\d[\d.,:]*")
_JOINED = re.compile(r"\b[A-ZÀ-Þ][\w-]+(?: [A-ZÀ-Þ][\w-]+)?,? (?:and|or|&) (?:the )?[A-ZÀ-Þ]\w+")
_CITATION = re.compile(
    r"[A-ZÀ-Þ][\w'’-]+(?:,? (?:et al\.?|and [A-ZÀ-Þ][\w'’-]+|[A-ZÀ-Þ][\w'’-]+)){0,3}(?: [a-z]+)?(?:,| ?\() ?(?:19|20)\d\d\b"
)
_CITED_WORD = re.compile(r"[^\W\d][\w'’-]*")
_COMPOUND_TEXT = """
wise up out off in on over down time free day days hour hours minute minutes week weeks month months year years old
long based like ish less able friendly related sized made end back through points way by to term side ready only
"""
_COMPOUND = frozenset(_COMPOUND_TEXT.split())
"""Ends of compounds that anyone may make: "roll-out", "price-wise", "person-days"; these name nothing."""


def read_features(text: str) -> dict[str, float]:
    """The features of a text's first few hundred characters, each with the weight of its form; none of works cited."""
    found: dict[str, float] = {}
    before = ""  # the content word right before, for pairs
    first = True
    for token in _TOKEN.findall(text[:_READ]):
        head = token[0]
        if head >= "\u3400":
            before = ""
            _signs(token, found)
        elif head.isalpha() or head == "_":
            plain = token.islower() and token.isalpha()
            lower = token if plain else same_length_lower(_POSSESSIVE.sub("", token))
            if len(lower) < 3 or lower in STOP or lower in GENERIC:
                before, first = "", False
                continue
            titled = False
            if plain:
                word, weight = stem(lower), WORD
            else:
                titled = head.isupper() and lower not in _MONTHS
                rest = token[1 : len(lower)]
                coded = not rest.islower() or not _MARKS.isdisjoint(rest)
                word = lower if coded else stem(lower)
                weight = IDENTIFIER if coded else WORD if not titled else _INITIAL if first else NAME
            if found.get(word, 0.0) < weight:
                found[word] = weight
            if before:
                pair = f"{before} {word}"
                if titled or weight >= IDENTIFIER or found[before] >= IDENTIFIER:
                    found[pair] = NAME
                elif pair not in found:
                    found[pair] = PAIR
            before, first = word, False
        elif head.isdigit():
            before = ""
            if len(token) > 2 and token[-1].isalpha() and "-" in token:
                found[token.lower()] = WORD
            first = False
        else:
            before = ""
            first = first or token in '.!?:;"“”‘•*…'
        if len(found) > _MOST:
            break
    if "19" in text or "20" in text:
        cited = {
            same_length_lower(word)
            for match in _CITATION.finditer(text[:_READ])
            for word in _CITED_WORD.findall(match[0])
        }
        for feature in [feature for feature in found if not cited.isdisjoint(feature.split())] if cited else ():
            del found[feature]
    return found


def _signs(run: str, found: dict[str, float]) -> None:
    for at in range(min(len(run), 60) - 1):
        if run[at] not in EMPTY_SIGNS and run[at + 1] not in EMPTY_SIGNS:
            found[run[at : at + 2]] = SIGN


def fresh_names(text: str, features: Features, said: Mapping[str, int]) -> float:
    """How many names and identifiers a text brings in that were never said before; none of lists and citations."""
    fresh = 0.0
    counted: set[str] = set()
    news = [one for one, weight in features.items() if weight >= IDENTIFIER and one not in said]
    for feature in sorted(news, key=lambda one: " " not in one):  # names of two words first: they are one name
        parts = feature.split(" ")
        if counted.isdisjoint(parts) and (
            len(parts) > 1 or "-" not in feature or feature.rpartition("-")[2] not in _COMPOUND
        ):
            fresh += 1.0
            counted.update(parts)
        elif len(parts) > 1:
            counted.update(parts)  # the same name goes on
    if fresh > 1 and _JOINED.search(text):
        fresh -= 1  # "Bremen and Oslo" are one piece of news
    return 0.0 if fresh and (len(_AMOUNT.findall(text)) > 2 or _LISTED.search(text)) else fresh


class Identities:
    """The introductions of scopes, by index, and which scopes each feature points to."""

    def __init__(self) -> None:
        self._own: dict[int, dict[str, float]] = {}
        self._postings: dict[str, set[int]] = {}
        self.said: dict[str, int] = {}
        self._hits: dict[str, int] = {}
        self._misses: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._own)

    def introduce(self, index: int, features: Features) -> None:
        """Take in the features of the step that opens a scope: those that are new, or that tell other scopes too.

        What was said before without being part of an introduction is ordinary talk.
        """
        own = self._own.setdefault(index, {})
        for feature, weight in features.items():
            if weight != IDENTIFIER and self.said.get(feature, 0) > 2 and not self._postings.get(feature):
                continue
            if weight > own.get(feature, 0.0):
                own[feature] = weight
            self._postings.setdefault(feature, set()).add(index)

    def of(self, index: int) -> Features:
        """What a scope was introduced with."""
        return self._own.get(index, {})

    def merge(self, source: int, target: int) -> None:
        """Give what ``source`` was introduced with to ``target``."""
        own = self._own.pop(source, {})
        for feature in own:
            self._postings[feature].discard(source)
            self._postings[feature].add(target)
        self._own.setdefault(target, {}).update(own)

    def kinship(self, one: int, other: int) -> float:
        """1 where two scopes share a name, an identifier or a pair of words in their introductions, else 0."""
        mine, theirs = self._own.get(one, {}), self._own.get(other, {})
        if len(theirs) < len(mine):
            mine, theirs = theirs, mine
        for feature, weight in mine.items():
            if weight >= PAIR and feature in theirs:
                return 1.0
        return 0.0

    def hear(self, features: Features, index: int, *, sure: bool) -> None:
        """Count what was said, and whether what it points to was meant: an ordinary word that stood in some scope's
        introduction by chance is said elsewhere soon. Hits count only where the step's scope was ``sure``.
        """
        said, postings = self.said, self._postings
        for feature in features:
            said[feature] = said.get(feature, 0) + 1
            if (posting := postings.get(feature)) is not None:
                if index not in posting:
                    self._misses[feature] = self._misses.get(feature, 0) + 1
                elif sure:
                    self._hits[feature] = self._hits.get(feature, 0) + 1

    def _trust(self, feature: str) -> float:
        misses = self._misses.get(feature, 0)
        if not misses:
            return 1.0
        hits = self._hits.get(feature, 0) + 1.5
        return hits / (hits + misses)

    def spread(self, feature: str) -> int:
        """How many scopes were introduced with a feature."""
        return len(self._postings.get(feature, ()))

    def rarity(self, feature: str) -> float:
        """1 for a feature of one scope, towards 0 for one of all."""
        total = len(self._own)
        return log((total + 1) / max(1, self.spread(feature))) / log(total + 1) if total else 0.0

    def scores(self, features: Features) -> tuple[dict[int, float], float]:
        """For each scope what the features say for it, and what they would say for a scope that had all known ones."""
        total = len(self._own)
        scores: dict[int, float] = {}
        known = 0.0
        if not total:
            return scores, known
        scale = 1.0 / log(total + 1)
        for feature, weight in features.items():
            posting = self._postings.get(feature)
            if not posting or len(posting) > _COMMON:
                continue
            rarity = log((total + 1) / len(posting)) * scale * self._trust(feature)
            most = 0.0
            for index in posting:
                own = self._own[index][feature]
                gain = rarity * (own if weight == _INITIAL or own < weight else weight)
                most = gain if gain > most else most
                scores[index] = scores.get(index, 0.0) + gain
            known += most
        return scores, known
