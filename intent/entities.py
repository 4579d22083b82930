"""Key entity types κ of a step, by rules: which kinds of things it is about (STITCH, section 3).

Head nouns, units and forms of numbers name a type; what a question asks for counts as well ("how much is it?" → Price).
Types that people ask for and the rules do not know ("which laptop …") join the vocabulary once they come up often.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import NamedTuple

from .contract import StepView
from .entity_patterns import ATTRIBUTES, EMAIL, GAZETTEER, THINGS, entity_synonyms, number_type
from .label_names import fold_name
from .phrases.tokens import NUMBER, PhraseTable, Tokens, singular, tokenize, word_set
from .vocabulary import Vocabulary

__all__ = ["EntityDecision", "EntityLabeler", "EntitySettings", "EntitySpan", "entity_seeds", "entity_synonyms"]


@dataclass(frozen=True, slots=True, kw_only=True)
class EntitySettings:
    """How entity types are chosen.

    Attributes:
        max_types: types a step; the most prominent stay.
        induce_after: how often a thing that the rules do not know must be asked for before it becomes a type.
        max_counted: nouns that are counted at once on their way to becoming a type.
    """

    max_types: int = 6
    induce_after: int = 3
    max_counted: int = 500


class EntitySpan(NamedTuple):
    """Where a type was seen: characters ``[start, end)`` of the text, the type's own name and the label's id."""

    start: int
    end: int
    name: str
    label: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityDecision:
    """The types of a step.

    Attributes:
        ids: label ids, the most prominent first.
        spans: where these types were seen, from left to right.
        tokens: the text as it was read, so that event types need not read it again.
    """

    ids: tuple[str, ...] = ()
    spans: tuple[EntitySpan, ...] = ()
    tokens: Tokens | None = field(default=None, compare=False, repr=False)


def entity_seeds() -> tuple[str, ...]:
    """The names of the types that the rules know: the seeds of an entity vocabulary."""
    return (*THINGS, *ATTRIBUTES)


class EntityLabeler:
    """Finds the entity types of steps and of questions.

    Args:
        vocabulary: of kind ``entity``; types are added to it when they first occur.
        settings: how types are chosen.
    """

    def __init__(self, vocabulary: Vocabulary, settings: EntitySettings | None = None) -> None:
        self.vocabulary = vocabulary
        self.settings = settings or EntitySettings()
        self._ids: dict[str, str] = {}
        self._tables: list[PhraseTable[str]] = [GAZETTEER]
        self._revision = -1
        self._asked: Counter[str] = Counter()

    def label(self, step: StepView) -> EntityDecision:
        """The entity types of a step; new types are added to the vocabulary, and the use is counted there.

        Time grows with the length of the text up to 20,000 characters; of longer ones the start and the end are read.
        """
        tokens = tokenize(step.text)
        self._induce(tokens)
        seen = self._find(step.text, tokens)
        last = len(tokens.questions) - 1
        weights: defaultdict[str, float] = defaultdict(float)
        placed = []
        for start, end, name, place in seen:
            label = self._ids.get(name) or self._add(name)
            sentence = tokens.sentence_of(place)
            weights[label] += _prominence(name, sentence, last, tokens)
            placed.append(EntitySpan(start, end, name, label))
        ids = tuple(sorted(weights, key=weights.__getitem__, reverse=True)[: self.settings.max_types])
        kept = frozenset(ids)
        self.vocabulary.note(ids)
        return EntityDecision(ids=ids, spans=tuple(span for span in placed if span.label in kept), tokens=tokens)

    def of_query(self, text: str) -> list[tuple[str, float]]:
        """The entity types that a question is about; none where it names no type that this user's steps carry.

        Returns:
            Label ids with weights above 0, at most 1, greatest first: 1 for what is asked for or talked about,
            less for dates and other circumstances.
        """
        tokens = tokenize(text)
        self._catch_up()
        weights: dict[str, float] = {}
        for _, _, name, _ in self._find(text, tokens):
            label = self.vocabulary.find(name)
            if label is not None:
                weight = _IN_QUERY.get(name, 1.0)
                weights[label.id] = max(weight, weights.get(label.id, 0.0))
        return sorted(weights.items(), key=lambda entry: -entry[1])[: self.settings.max_types]

    def _find(self, text: str, tokens: Tokens) -> list[tuple[int, int, str, int]]:
        """The types of a text from left to right: start, end, name, place among the tokens."""
        self._catch_up()
        keys = tokens.keys
        found = [
            (match.start, match.end, match.payload, match.first)
            for table in self._tables
            for match in table.find(tokens, overlapping=False)
            if match.payload
        ]
        if NUMBER in keys:
            for place, key in enumerate(keys):
                if key == NUMBER:
                    form = number_type(text, *tokens.spans[place])
                    if form is not None:
                        found.append((*form, place))
        if "@" in keys:
            found += _emails(text, tokens)
        found.sort()
        kept: list[tuple[int, int, str, int]] = []
        for entry in found:
            if kept and entry[0] < kept[-1][1] and entry[2] == kept[-1][2]:
                continue  # the same type at the same place, by a form and by a phrase
            kept.append(entry)
        return kept

    def _add(self, name: str) -> str:
        label = self.vocabulary.add(name)
        self._catch_up()
        self._ids[name] = label.id
        return label.id

    def _catch_up(self) -> None:
        """Follow changes of the vocabulary: aliases, and names that a model or a person gave."""
        if self._revision == self.vocabulary.revision:
            return
        self._revision = self.vocabulary.revision
        self._ids = {}
        own = [(_as_phrase(label.name), label.name) for label in self.vocabulary.live() if label.name not in _KNOWN]
        phrases = [pair for pair in own if pair[0]]
        self._tables = [GAZETTEER, PhraseTable(phrases, plurals=True)] if phrases else [GAZETTEER]

    def _induce(self, tokens: Tokens) -> None:
        keys = tokens.keys
        for asking in ("which", "what"):
            if asking not in keys:
                continue
            for place, key in enumerate(keys[:-1]):
                noun = keys[place + 1]
                if key != asking or not noun.isascii() or not noun.isalpha() or len(noun) < 4 or noun in _NOT_A_TYPE:
                    continue
                noun = singular(noun)
                self._asked[noun] += 1
                if self._asked[noun] >= self.settings.induce_after:
                    del self._asked[noun]
                    if fold_name(noun) not in _SYNONYMS and self.vocabulary.find(noun) is None:
                        self.vocabulary.add(noun.capitalize()[: self.vocabulary.settings.max_name])
        if len(self._asked) > self.settings.max_counted:
            self._asked = Counter(dict(self._asked.most_common(self.settings.max_counted // 2)))


def _emails(text: str, tokens: Tokens) -> list[tuple[int, int, str, int]]:
    found: list[tuple[int, int, str, int]] = []
    for place, key in enumerate(tokens.keys):
        if key == "@" and len(found) < 20:
            at = tokens.spans[place][0]
            match = EMAIL.search(text, max(0, at - 64), at + 150)
            if match is not None and match.start() < at:
                found.append((match.start(), match.end(), "Email", place))
    return found


def _prominence(name: str, sentence: int, last: int, tokens: Tokens) -> float:
    """Things before attributes; the first and the last sentence and what is asked weigh more."""
    weight = 1.0 if name in THINGS else 0.6
    if sentence in (0, last):
        weight *= 1.5
    if tokens.questions[sentence]:
        weight *= 1.5
    return weight


def _as_phrase(name: str) -> str:
    """A label's name as a phrase without the signs of the phrase grammar."""
    return " ".join(fold_name(name).split()) if any(character.isalnum() for character in name) else ""


_KNOWN = frozenset((*THINGS, *ATTRIBUTES))
_SYNONYMS = {fold_name(phrase): name for phrase, name in entity_synonyms().items()}
# A date or an hour in a question mostly says when, not what kind of thing is wanted.
_IN_QUERY = {"Date": 0.3, "Time": 0.3, "Itinerary": 0.5, "Quantity": 0.5, "Duration": 0.7, "Person": 0.5, "Trip": 0.6,
             "Place": 0.6, "Preference": 0.6}  # fmt: skip
_NOT_A_TYPE = word_set(
    "about does else ever exactly happened happens have kind made make makes makes more most other others part should "
    "sort that their then there these they thing things this those time type were what when where which will with would "
    "your youre could might must next shall ones point reason respect sense extent left matters matter really want wants "
    "wanted just some same like from here into over such than them evidence order case cases ways direction happen "
    "need needs works work helps help seems looks came come comes goes going actually side bothers counts exists"
)
