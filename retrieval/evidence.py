"""Ranking passages for research: the lanes' rankings of each need become one, by what is said, by whom, and beside what.

Reciprocal rank fusion of the lanes and of late interaction, twice: among the steps of the speakers whom the question
names, and among all. Steps then pass a part of their score on to those beside them, and sentences that say something
(names, numbers, days, deeds) come before those that only keep the talk going. The order of a plain recall, where its
ranking is trained, then takes turns with this one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

from hexamem.memory_types import MemoryItem
from hexamem.models.sentences import SPLIT, size_of
from hexamem.stores.documents import searchable
from hexamem.stores.embedders import Embedder
from hexamem.stores.embedders.token_bags import TokenBag
from hexamem.stores.ledger import Transaction, get_items, neighbours
from hexamem.stores.ledger.step_texts import PlainStep, plain_steps

__all__ = [
    "RECALL",
    "EvidenceWeights",
    "Need",
    "Ranked",
    "RankedNeed",
    "ReadBags",
    "ReadItems",
    "ReadSpeakers",
    "ReadWorths",
    "Reason",
    "rank_evidence",
]

RECALL = "recall"
"""The name of a plain recall among the rankings of a need: no lane, it says in which order to read."""

_Value = TypeVar("_Value")
_WEIGHED = 2_000  # characters of a text
_NUMBER = re.compile(r"\d+")
_NAME = re.compile(r"(?<=[^\s.!?] )[A-Z][^\W\d_]+")

ReadBags = Callable[[Transaction, Collection[str]], Mapping[str, TokenBag]]
"""(transaction, ids of steps and items) → what late interaction compares of them."""
ReadSpeakers = Callable[[Transaction, Collection[str]], Mapping[str, str]]
"""(transaction, ids of steps) → who spoke, casefolded, of those that are active."""
ReadWorths = Callable[[Transaction, Collection[str]], Mapping[str, float]]
"""(transaction, ids of steps) → what each says of its own, as :func:`worth` has it."""

ReadItems = Callable[[Transaction, Collection[str]], Mapping[str, MemoryItem]]
"""(transaction, ids of items) → those that may be read."""


@dataclass(frozen=True, kw_only=True, slots=True)
class EvidenceWeights:
    """How much each sign counts.

    Attributes:
        lanes: of each lane's ranking; ``late`` is late interaction over what the lanes found.
        rank_k: the constant of reciprocal rank fusion.
        late_pool: how many candidates late interaction compares.
        anyone: what a ranking over all speakers counts beside that of the speakers who are named.
        other_speaker: factor on what somebody else said, where the question names who did.
        others_every: where the question names who did it, at least every so manieth candidate is what somebody else said,
            before the order of a recall is taken in: people are mixed up, and that shows only in what the other one said.
            0 for never.
        neighbours: shares that a step passes on to those 1, 2, … turns away.
        monologue: factor on these shares where nobody else speaks beside it: what answers each other belongs together most.
        spread_from: how many of the best pass on.
        worth: how much a sentence that says something gains, a unit of its worth.
        weighed: how many of the best are weighed so.
        likeness: how much of its score a candidate loses that late interaction finds nothing in.
        recall: what the order of a plain recall counts beside the order by all of the above, from 0 to 1.
    """

    lanes: Mapping[str, float] = field(
        default_factory=lambda: {"vector": 0.7, "keyword": 1.0, "late": 1.5, "time": 0.7, "intent": 0.5, "page": 0.5}
    )
    rank_k: int = 10
    late_pool: int = 100
    anyone: float = 0.3
    other_speaker: float = 0.6
    others_every: int = 6
    neighbours: tuple[float, ...] = (0.6, 0.45)
    monologue: float = 0.5
    spread_from: int = 40
    worth: float = 0.4
    likeness: float = 0.8
    recall: float = 0.5
    weighed: int = 100


@dataclass(frozen=True, kw_only=True, slots=True)
class Need:
    """What is looked for, with the rankings that lanes gave: lane → record ids, best first.

    Attributes:
        speakers: who is asked about, casefolded; empty for anybody.
        wide: whether steps beside a match count too.
    """

    text: str
    rankings: Mapping[str, Sequence[str]]
    speakers: frozenset[str] = frozenset()
    wide: bool = True


class Reason(NamedTuple):
    """What put a candidate forward: a lane, late interaction or a recall, its rank there from 1, and of late the likeness."""

    name: str
    rank: int
    value: float | None = None


@dataclass(slots=True)
class Ranked:
    """A candidate: the id of its record, its score, the lanes (or the recall) that found it, and at which rank each.

    With the order of a recall the scores are those of the order by lanes, given to the places of both orders together.
    """

    id: str
    score: float
    lanes: tuple[str, ...] = ()
    why: tuple[Reason, ...] = ()


@dataclass(frozen=True, slots=True)
class RankedNeed:
    """The candidates of one need, best first."""

    need: Need
    ranked: list[Ranked]


def rank_evidence(
    tx: Transaction,
    needs: Sequence[Need],
    embedder: Embedder,
    weights: EvidenceWeights,
    *,
    exclude: Collection[str] = (),
    bags: ReadBags | None = None,
    speakers: ReadSpeakers | None = None,
    worths: ReadWorths | None = None,
    read_items: ReadItems | None = None,
) -> tuple[list[RankedNeed], dict[str, PlainStep], Mapping[str, MemoryItem]]:
    """Rank the candidates of every need in one read of the ledger.

    Args:
        exclude: ids that were read already; they still pass on to their neighbours.
        bags, speakers, worths: read what late interaction compares of records, who spoke, and the :func:`worth` of steps,
            where that is kept; else it is made of their texts.
        read_items: reads items; those that are active by default.

    Returns:
        The needs in order, and the records of candidates by id: steps as far as their texts were read, and items that
        may be read.
    """
    ids = list(dict.fromkeys(name for need in needs for ranking in need.rankings.values() for name in ranking))
    items = (read_items or _active_items)(tx, [name for name in ids if not name.startswith("step_")])
    records = _Records(tx, embedder, items, bags, speakers, worths)
    records.read_speakers([name for name in ids if name.startswith("step_")])
    spoke = records.speakers
    ranked = []
    for need in needs:
        scores, why = _fused(need, records, weights)
        if need.wide and weights.neighbours:
            _spread(tx, scores, records, weights)
        others = {name for name in scores if name in spoke and need.speakers and spoke[name] not in need.speakers}
        for name in others:
            scores[name] *= weights.other_speaker
        best = _best(scores, weights.weighed)
        if weights.worth:
            for name, value in records.worths([name for name in best if name in spoke]).items():
                scores[name] *= 1 + weights.worth * value
            best = _best({name: scores[name] for name in best})
        if need.speakers and weights.others_every:
            best, scores = _at_places(_never_long_without(best, others, weights.others_every), scores)
        if recalled := need.rankings.get(RECALL):
            order = _in_both(best, [name for name in recalled if name in spoke or name in items], weights)
            best, scores = _at_places(order, scores)
        candidates = []
        for name in best:
            if name not in exclude:
                reasons = tuple(why.get(name, ()))
                lanes = tuple(reason.name for reason in reasons if reason.name != "late") or ("beside",)
                candidates.append(Ranked(name, scores[name], lanes, reasons))
        ranked.append(RankedNeed(need, candidates))
    return ranked, records.steps, items


def _active_items(tx: Transaction, ids: Collection[str]) -> dict[str, MemoryItem]:
    return {one.id: one for one in get_items(tx, ids).values() if one.status == "active"}


def _best(scores: Mapping[str, float], most: int | None = None) -> list[str]:
    """The ids, best first, equal ones by id; at most so many."""
    return [one for _, one in sorted([(-score, one) for one, score in scores.items()])[:most]]


def _at_places(order: list[str], scores: Mapping[str, float]) -> tuple[list[str], dict[str, float]]:
    """An order, and the scores of its ids given to its places, the highest to the first."""
    places = sorted((scores.get(one, 0.0) for one in order), reverse=True)
    return order, dict(zip(order, places, strict=True))


def _never_long_without(best: Sequence[str], others: Collection[str], every: int) -> list[str]:
    """The same in an order in which at least every so manieth is one of the others, as long as there are any."""
    theirs = [(at, one) for at, one in enumerate(best) if one not in others]
    waiting = [(at, one) for at, one in enumerate(best) if one in others]
    order: list[str] = []
    mine = other = run = 0
    while len(order) < len(best):
        left = mine < len(theirs)
        due = other < len(waiting) and (not left or run == every - 1 or waiting[other] < theirs[mine])
        if due:
            order.append(waiting[other][1])
            other, run = other + 1, 0
        else:
            order.append(theirs[mine][1])
            mine, run = mine + 1, run + 1
    return order


def _in_both(best: Sequence[str], recalled: Sequence[str], weights: EvidenceWeights) -> list[str]:
    """Two orders as one by reciprocal rank; what one of them does not hold has nothing of it."""
    scores: dict[str, float] = {}
    _add_by_rank(scores, best, 1 - weights.recall, weights)
    _add_by_rank(scores, recalled, weights.recall, weights)
    return _best(scores)


class _Records:
    """What ranking asks of the records that it meets: by the caches that are given, else made of their texts.

    Attributes:
        speakers: of the active steps, casefolded.
        steps: those whose texts were read.
    """

    def __init__(
        self,
        tx: Transaction,
        embedder: Embedder,
        items: Mapping[str, MemoryItem],
        bags: ReadBags | None,
        speakers: ReadSpeakers | None,
        worths: ReadWorths | None,
    ) -> None:
        self._tx, self.embedder, self.items = tx, embedder, items
        self._read_bags, self._read_speakers, self._read_worths = bags, speakers, worths
        self._bags: dict[str, TokenBag] = {}
        self._worths: dict[str, float] = {}
        self.speakers: dict[str, str] = {}
        self.steps: dict[str, PlainStep] = {}

    def read_speakers(self, ids: Collection[str]) -> None:
        """Find out who spoke."""
        new = [name for name in ids if name not in self.speakers]
        if self._read_speakers is not None:
            self.speakers.update(self._read_speakers(self._tx, new))
            return
        self.steps.update(plain_steps(self._tx, new))
        self.speakers.update({name: self.steps[name].speaker.casefold() for name in new if name in self.steps})

    def worths(self, ids: Sequence[str]) -> dict[str, float]:
        """The :func:`worth` of each; of steps that are known."""
        self._complete(self._worths, ids, self._read_worths, lambda texts: [worth(text) for text in texts])
        return {name: self._worths[name] for name in ids}

    def bags(self, ids: Sequence[str]) -> list[TokenBag]:
        """What late interaction compares of some candidates, in order."""

        def made(texts: list[str]) -> Sequence[TokenBag]:
            return self.embedder.token_bags([searchable(text) for text in texts])

        self._complete(self._bags, ids, self._read_bags, made)
        return [self._bags[name] for name in ids]

    def _complete(
        self,
        known: dict[str, _Value],
        ids: Collection[str],
        read: Callable[[Transaction, Collection[str]], Mapping[str, _Value]] | None,
        made: Callable[[list[str]], Sequence[_Value]],
    ) -> None:
        """Take in what is not known yet, from the cache or else from the texts; several needs often find the same."""
        new = [name for name in ids if name not in known]
        if new and read is not None:
            known.update(read(self._tx, new))
            new = [name for name in new if name not in known]
        if new:
            unread = [name for name in new if name not in self.items and name not in self.steps]
            self.steps.update(plain_steps(self._tx, unread))
            texts = [(self.items.get(name) or self.steps[name]).text for name in new]
            known.update(zip(new, made(texts), strict=True))


def _fused(need: Need, records: _Records, weights: EvidenceWeights) -> tuple[dict[str, float], dict[str, list[Reason]]]:
    """The candidates' scores, and what put each forward."""
    speakers, items = records.speakers, records.items
    known = {
        lane: [name for name in ranking if name in speakers or name in items] for lane, ranking in need.rankings.items()
    }
    why: dict[str, list[Reason]] = {}
    for lane, ranking in known.items():
        for rank, name in enumerate(ranking, 1):
            why.setdefault(name, []).append(Reason(lane, rank))
    theirs = {name for name in why if name in items or not need.speakers or speakers[name] in need.speakers}
    scores: dict[str, float] = {}

    def add(ranking: Sequence[str], weight: float) -> None:
        if need.speakers:
            _add_by_rank(scores, [name for name in ranking if name in theirs], weight, weights)
            weight *= weights.anyone
        _add_by_rank(scores, ranking, weight, weights)

    for lane, ranking in known.items():
        if lane != RECALL:
            trust = records.embedder.known_share(need.text) if lane == "vector" else 1.0
            add(ranking, weights.lanes.get(lane, 0.5) * trust)
    # Whatever holds the one word of a need is equally like it.
    several = len(need.text.split()) > 1 or set(known) - {RECALL} != {"keyword"}
    pool = _best(scores, weights.late_pool)
    if not pool or not several or records.embedder.token_model is None or not weights.lanes.get("late"):
        return scores, why
    values = records.embedder.compare_bags(need.text, records.bags(pool))
    if not values.any():
        return scores, why
    likeness = dict(zip(pool, values.tolist(), strict=True))
    likest = _best(likeness)
    for rank, name in enumerate(likest, 1):
        why[name].append(Reason("late", rank, round(likeness[name], 4)))
    add(likest, weights.lanes["late"])
    most = max(likeness.values())
    if weights.likeness and most > 0:  # ranks do not tell a plain match from the best of poor ones
        for name in scores:
            near = max(0.0, likeness.get(name, 0.0)) / most
            scores[name] *= 1 - weights.likeness * (1 - near)
    return scores, why


def _add_by_rank(scores: dict[str, float], ranking: Sequence[str], weight: float, weights: EvidenceWeights) -> None:
    for rank, one in enumerate(ranking, 1):
        scores[one] = scores.get(one, 0.0) + weight / (weights.rank_k + rank)


def _spread(tx: Transaction, scores: dict[str, float], records: _Records, weights: EvidenceWeights) -> None:
    """Add to each step the most that one beside it passes on."""
    best = _best(scores, weights.spread_from)
    beside = neighbours(tx, [one for one in best if one in records.speakers], len(weights.neighbours))
    records.read_speakers([other for others in beside.values() for other, _ in others])
    spoke = records.speakers
    received: dict[str, float] = {}
    for origin in best:
        others = [one for one in beside.get(origin, ()) if one[0] in spoke]
        talk = any(spoke[other] != spoke[origin] for other, _ in others)
        passed = scores[origin] * (1.0 if talk else weights.monologue)
        for other, distance in others if passed else ():
            received[other] = max(received.get(other, 0.0), weights.neighbours[distance - 1] * passed)
    for one, given in received.items():
        scores[one] = scores.get(one, 0.0) + given


def worth(text: str) -> float:
    """What the best sentence of a text says of its own, from -1 (nothing) to 3: by its length, numbers and names."""
    best = -1.0
    for sentence in SPLIT.split(text[:_WEIGHED]):
        size = size_of(sentence)
        if size < 2:
            continue
        numbers = len(_NUMBER.findall(sentence))
        names = len(_NAME.findall(sentence))
        asks = sentence.rstrip().endswith(("?", "？"))
        best = max(best, min(size, 18) / 18 + 0.6 * min(2, numbers) + 0.7 * min(3, names) - 1.6 * asks)
    return min(3.0, best)
