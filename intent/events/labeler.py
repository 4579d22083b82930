"""Event types ε of a step, by rules: what it does, in two levels (STITCH, section 3).

STITCH names its flat event vocabulary as its open weakness. Here a coarse type says the act (Propose) and a fine one
below it the act and its object (Propose hotel). Coarse types are known beforehand. Fine ones are drawn up from the
pairs that were frequent in the first steps, and grow with new frequent pairs.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from ...memory_types.labels import Label
from ..contract import StepView
from ..entities import EntityDecision
from ..entity_patterns import ATTRIBUTES, GAZETTEER
from ..label_names import refusal
from ..phrases.tokens import Tokens, tokenize, word_set
from ..vocabulary import Vocabulary
from .cues import COARSE
from .query_cues import QUERY_CUES
from .reading import Reading, read_act

__all__ = ["EventDecision", "EventLabeler", "EventSettings", "event_seeds"]


@dataclass(frozen=True, slots=True, kw_only=True)
class EventSettings:
    """How event types are chosen.

    Attributes:
        seed_after: steps after which the first fine types are drawn up (STITCH uses 50).
        support: how often a pair of act and object must be seen before it becomes a fine type.
        fit: cosine of names from which a fine type that exists stands for a new pair.
        candidates: how many of the nearest labels are looked at (STITCH uses 5).
        max_fine: fine types below one coarse type.
        max_events: event types a step.
        second: the share of the main type's score that another type needs to be given as well.
        remembered: steps whose decision is kept at hand for the step that answers them.
        reread: steps that are read once more after a restart to know what the next one answers.
    """

    seed_after: int = 50
    support: int = 2
    fit: float = 0.9
    candidates: int = 5
    max_fine: int = 12
    max_events: int = 3
    second: float = 0.7
    remembered: int = 256
    reread: int = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class EventDecision:
    """The event types of a step.

    Attributes:
        ids: label ids, the main one first; a fine one has its coarse type as parent.
        coarse: the coarse type's id of the main one.
        confidence: 0..1, how far the main type is ahead of the next.
        new: ids of labels that were made for this step.
    """

    ids: tuple[str, ...]
    coarse: str
    confidence: float
    new: tuple[str, ...] = ()


def event_seeds() -> tuple[str, ...]:
    """The coarse event types: the seeds of an event vocabulary."""
    return tuple(dict.fromkeys(COARSE.values()))


class EventLabeler:
    """Finds the event types of steps and of questions.

    Args:
        vocabulary: of kind ``event``; types are added to it when they first occur.
        settings: how types are chosen.
    """

    def __init__(self, vocabulary: Vocabulary, settings: EventSettings | None = None) -> None:
        self.vocabulary = vocabulary
        self.settings = settings or EventSettings()
        self._readings: OrderedDict[str, Reading] = OrderedDict()
        self._pairs: Counter[tuple[str, str]] = Counter()
        self._first: dict[str, tuple[tuple[str, str], tuple[str, ...]]] | None = {}
        self._seen = 0
        self._refined: dict[str, tuple[str, ...]] = {}
        self._revision = -1
        self._ids: dict[str, str] = {}
        self._unknown: set[str] = set()  # names of fine types that the vocabulary has not, at this revision
        # What stands for a frequent pair, as long as the types below its coarse one are these.
        self._instead: dict[tuple[str, str], tuple[tuple[Label, ...], str | None]] = {}

    def label(self, step: StepView, previous: Sequence[StepView], entities: EntityDecision) -> EventDecision:
        """The event types of a step; new types are added to the vocabulary, and the use is counted there.

        Args:
            step: the step.
            previous: steps of the same thread before it, oldest first; the last one is what it may answer.
            entities: what :meth:`~hexamem.intent.entities.EntityLabeler.label` gave for the step.
        """
        self._catch_up()
        tokens = entities.tokens or tokenize(step.text)
        before = self._before(previous)
        reading = read_act(
            step, tokens, [span.name for span in entities.spans], before, previous[-1] if previous else None
        )
        reading.target, reading.topic = self._object(reading, tokens, entities, before)
        self._remember(step.id, reading)
        return self._decide(step, reading)

    def refinements(self) -> dict[str, tuple[str, ...]]:
        """Earlier steps that got a fine type when the first ones were drawn up: step id → its event ids as they are now.

        What was given is not given again.
        """
        refined, self._refined = self._refined, {}
        return refined

    def of_query(self, text: str) -> list[tuple[str, float]]:
        """The event types that a question asks about ("Which hotels did we compare?"); none where it names no act.

        Returns:
            Label ids with weights above 0, at most 1, greatest first: 1 for the finest type that exists, less for
            the coarse one above it. Only types that this user's steps carry are given.
        """
        tokens = tokenize(text)
        acts = dict.fromkeys(COARSE[match.payload] for match in QUERY_CUES.find(tokens))
        # A word such as "thing" names an object without a type of its own.
        targets = [one for one in dict.fromkeys(m.payload for m in GAZETTEER.find(tokens, overlapping=False)) if one]
        weights: dict[str, float] = {}
        for act in acts:
            coarse = self.vocabulary.find(act)
            if coarse is None:
                continue
            fine = [found for target in targets if (found := self.vocabulary.find(_fine_name(act, target)))]
            for label in fine:
                weights[label.id] = 1.0
            weights.setdefault(coarse.id, 0.6 if fine else 1.0)
        if "Decide" in acts and "Revise" not in acts and (revise := self.vocabulary.find("Revise")):
            weights.setdefault(revise.id, _REVISED)
        return sorted(weights.items(), key=lambda entry: -entry[1])

    # Choosing labels

    def _decide(self, step: StepView, reading: Reading) -> EventDecision:
        ranked = sorted(reading.scores.items(), key=lambda entry: -entry[1])
        top = ranked[0][1]
        names = [
            name for name, score in ranked if score >= max(self.settings.second * top, 1.0) or name == ranked[0][0]
        ]
        revision, known = self.vocabulary.revision, self.vocabulary.size
        coarse = self._coarse(names[0])
        others = [self._coarse(name) for name in names[1 : self.settings.max_events]]
        ids = [coarse, *others]
        if reading.target is not None:
            ids[0] = self._fine((names[0], reading.target), coarse) or coarse
        given = tuple(dict.fromkeys(ids))
        self._seen += 1
        if self._first is not None:
            if reading.target is not None:
                self._first[step.id] = ((names[0], reading.target), given)
            if self._seen >= self.settings.seed_after:
                self._draw_up()
                given = self._refined.pop(step.id, given)
        self.vocabulary.note(given)
        new: tuple[str, ...] = ()
        if self.vocabulary.revision != revision:
            new = tuple(label.id for label in self.vocabulary.records()[known:])
        second = ranked[1][1] if len(ranked) > 1 else 0.0
        return EventDecision(ids=given, coarse=coarse, confidence=round((top - second) / (top + 0.5), 3), new=new)

    def _coarse(self, name: str) -> str:
        known = self._ids.get(name)
        if known is None:
            known = self.vocabulary.add(name).id
            self._catch_up()
            self._ids[name] = known
        return known

    def _fine(self, pair: tuple[str, str], coarse: str) -> str | None:
        """The fine type of a pair: the one of its name, one near to it, a new one where the pair is frequent, or none."""
        name = _fine_name(*pair)
        known = self._ids.get(name)
        if known is not None:
            return known
        if name not in self._unknown:
            found = self.vocabulary.find(name)
            if found is not None:
                self._ids[name] = found.id
                return found.id
            self._unknown.add(name)
        self._pairs[pair] += 1
        if len(self._pairs) > _MOST_PAIRS:
            self._pairs = Counter(dict(self._pairs.most_common(_MOST_PAIRS // 2)))
        if self._first is not None or self._pairs[pair] < self.settings.support:
            return None
        return self._make(pair, coarse)

    def _make(self, pair: tuple[str, str], coarse: str) -> str | None:
        below = self.vocabulary.below(coarse)
        known = self._instead.get(pair)
        if known is not None and known[0] is below and below:
            return known[1]
        found = self._new_or_near(pair, coarse, below)
        if self.vocabulary.below(coarse) is below:  # nothing was added
            if len(self._instead) > _MOST_PAIRS:
                self._instead.clear()
            self._instead[pair] = below, found
        return found

    def _new_or_near(self, pair: tuple[str, str], coarse: str, below: tuple[Label, ...]) -> str | None:
        name = _fine_name(*pair)
        if refusal(name, self.vocabulary.settings.max_name):
            return None
        if below:
            if not self.vocabulary.is_prepared(name):  # the next pairs come soon: one call for all of them
                self.vocabulary.prepare([name, *(_fine_name(*one) for one in self._pairs)])
            vector = self.vocabulary.vector(name)
            near = self.vocabulary.nearest(vector, self.settings.candidates, parent=coarse)
            if near and near[0][1] >= self.settings.fit:
                return near[0][0].id
            if len(below) >= self.settings.max_fine:
                return None
        return self.vocabulary.add(name, coarse).id

    def _draw_up(self) -> None:
        """Make the first fine types from the pairs seen so far, and note which steps get them."""
        first, self._first = self._first or {}, None
        for pair, count in self._pairs.most_common():
            if count >= self.settings.support:
                self._make(pair, self._coarse(pair[0]))
        for step, (pair, ids) in first.items():
            fine = self.vocabulary.find(_fine_name(*pair))
            if fine is not None and fine.id not in ids:
                self._refined[step] = (fine.id, *ids[1:])

    def _catch_up(self) -> None:
        if self._revision != self.vocabulary.revision:
            self._revision = self.vocabulary.revision
            self._ids = {}
            self._unknown = set()
            if self._first is not None and not self._first and any(label.parent_id for label in self.vocabulary.live()):
                self._first = None  # taken up where fine types had been drawn up before

    # Reading texts

    def _object(
        self, reading: Reading, tokens: Tokens, entities: EntityDecision, before: Reading | None
    ) -> tuple[str | None, str | None]:
        """What the act is about, and the thing that the talk is about.

        It is the type most prominent where the act is; what the step before was about weighs in.
        """
        things: defaultdict[str, float] = defaultdict(float)
        attributes: defaultdict[str, float] = defaultdict(float)
        for span in entities.spans:
            thing = span.name not in ATTRIBUTES
            if not thing and span.name not in _OBJECT_ATTRIBUTES:
                continue
            place = bisect_right(tokens.spans, (span.start, span.end)) - 1
            value = (0.4 if span.name in _CIRCUMSTANCES else 1.0) * (
                0.3 + reading.by_sentence.get(tokens.sentence_of(place), 0.0)
            )
            (things if thing else attributes)[span.name] += value
        short = len(tokens.keys) < 60
        if before is not None and before.topic and (short or before.topic in things):
            things[before.topic] += 0.8
        topic = max(things, key=things.__getitem__) if things else None
        target = topic
        if attributes and (topic is None or reading.main in ("Ask", "Inform")):
            attribute = max(attributes, key=attributes.__getitem__)
            if topic is None or (reading.main == "Ask" and attributes[attribute] >= things[topic]):
                target = attribute if reading.main in ("Ask", "Inform", "Compare", "Evaluate") else topic
        return target, topic

    def _before(self, previous: Sequence[StepView]) -> Reading | None:
        """The reading of the step before; after a restart the latest steps are read once more, in their order."""
        if not previous:
            return None
        known = self._readings.get(previous[-1].id)
        if known is not None:
            return known
        last: StepView | None = None
        before: Reading | None
        for step in previous[-self.settings.reread :]:
            before, known = known, self._readings.get(step.id)
            if known is None:
                tokens = tokenize(step.text)
                types = [match.payload for match in GAZETTEER.find(tokens, overlapping=False) if match.payload]
                known = read_act(step, tokens, types, before, last)
                things = Counter(name for name in types if name not in ATTRIBUTES)
                known.topic = things.most_common(1)[0][0] if things else (before.topic if before else None)
                self._remember(step.id, known)
            last = step
        return known

    def _remember(self, step: str, reading: Reading) -> None:
        self._readings[step] = reading
        if len(self._readings) > self.settings.remembered:
            self._readings.popitem(last=False)


_REVISED = 0.5  # how far a question about a decision asks about its revision
_MOST_PAIRS = 1000  # pairs of act and object that are counted at once
# Attributes that one asks for or decides on by themselves.
_OBJECT_ATTRIBUTES = frozenset(
    ("Price", "Budget", "Opening hours", "Deadline", "Weather", "Distance", "Status", "Room", "Address")
)
# Things that are mentioned more often than acted upon.
_CIRCUMSTANCES = word_set(
    "Family Friend Health Team Client Company Source Statistic Society Trip Home Luggage Technology"
)


def _fine_name(coarse: str, target: str) -> str:
    return f"{coarse} {target[0].lower()}{target[1:]}" if not target.isupper() else f"{coarse} {target}"
