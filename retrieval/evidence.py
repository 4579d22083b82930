"""Ranks passages for research: fuses the rankings of the lanes for each need into one.

Reciprocal rank fusion of the lanes and of late interaction, twice: among the steps of the speakers whom the question
names, and among all. Steps then pass a part of their score on to their neighbours, and sentences with names and numbers
are ranked before small talk. Finally the ranking is fused with that of a plain recall, if that ranking is trained.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

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
    "ReadItems",
    "Reason",
    "rank_evidence",
]

RECALL = "recall"
"""The name of a plain recall among the rankings of a need. It is no lane and only changes the order."""

_LONGEST_TEXT = 2_000  # characters of a text that :func:`worth` reads
_NUMBER = re.compile(r"\d+")
_NAME = re.compile(r"(?<=[^\s.!?] )[A-Z][^\W\d_]+")

ReadItems = Callable[[Transaction, Collection[str]], Mapping[str, MemoryItem]]
"""(transaction, ids of items) → the items that may be read."""


@dataclass(frozen=True, kw_only=True, slots=True)
class EvidenceWeights:
    """The weights of the ranking.

    Attributes:
        lanes: weights of the rankings of the lanes; ``late`` is late interaction over the candidates of the lanes.
        rank_k: the constant of reciprocal rank fusion.
        late_pool: the number of candidates that late interaction compares.
        anyone: weight of a ranking of all speakers, relative to that of the named speakers.
        other_speaker: factor on the scores of other speakers, where the question names some.
        others_every: where the question names speakers, at least one in this number of candidates is of another speaker,
            before the fusion with a recall, so that mistaken speakers become apparent. 0 for no bound.
        neighbours: the shares of its score that a step passes on to neighbours 1, 2, … turns away.
        monologue: factor on these shares where all neighbours have the same speaker.
        spread_from: the number of the best candidates that pass on scores.
        worth: the gain of a candidate for a unit of :func:`worth`, as a share of its score.
        weighed: the number of the best candidates whose worth is computed.
        likeness: the share of its score that a candidate without any likeness by late interaction loses.
        recall: weight of the order of a plain recall, from 0 to 1; that of the order by all of the above is the rest.
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
    """One need of a question, with the rankings for it.

    Attributes:
        text: the need in words.
        rankings: lane → record ids, best first.
        speakers: the named speakers, casefolded; empty for all.
        wide: whether neighbours of matches are candidates too.
    """

    text: str
    rankings: Mapping[str, Sequence[str]]
    speakers: frozenset[str] = frozenset()
    wide: bool = True


class Reason(NamedTuple):
    """One source of a candidate: a lane, late interaction or a recall, the rank there from 1, and the likeness of ``late``."""

    name: str
    rank: int
    value: float | None = None


@dataclass(slots=True)
class Ranked:
    """A candidate: the id of its record, its score, the lanes (or the recall) that found it, and the ranks there.

    Where the order was changed afterwards, the sorted scores are assigned to the new order.
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
    read_items: ReadItems | None = None,
) -> tuple[list[RankedNeed], dict[str, PlainStep], Mapping[str, MemoryItem]]:
    """Rank the candidates of every need in one read of the ledger.

    Args:
        exclude: ids that are left out of the result, since they were read before; they still pass on scores.
        read_items: reads the items that may be read; None for all active ones.

    Returns:
        The needs in order, the steps whose texts were read by id, and the items that may be read by id.
    """
    ids = list(dict.fromkeys(name for need in needs for ranking in need.rankings.values() for name in ranking))
    items = (read_items or _active_items)(tx, [name for name in ids if not name.startswith("step_")])
    records = _Records(tx, embedder, items)
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
            best, scores = _reordered(_interleaved(best, others, weights.others_every), scores)
        if recalled := need.rankings.get(RECALL):
            order = _fused_orders(best, [name for name in recalled if name in spoke or name in items], weights)
            best, scores = _reordered(order, scores)
        candidates = []
        for name in best:
            if name not in exclude:
                reasons = tuple(why.get(name, ()))
                lanes = tuple(reason.name for reason in reasons if reason.name != "late") or ("beside",)
                candidates.append(Ranked(name, scores[name], lanes, reasons))
        ranked.append(RankedNeed(need, candidates))
    return ranked, records.steps, items


def _active_items(tx: Transaction, ids: Collection[str]) -> dict[str, MemoryItem]:
    return {item.id: item for item in get_items(tx, ids).values() if item.status == "active"}


def _best(scores: Mapping[str, float], most: int | None = None) -> list[str]:
    """The ids, best first, equal ones by id; at most ``most``."""
    return [record_id for _, record_id in sorted([(-score, name) for name, score in scores.items()])[:most]]


def _reordered(order: list[str], scores: Mapping[str, float]) -> tuple[list[str], dict[str, float]]:
    """A new order, with the sorted scores assigned to it."""
    descending = sorted((scores.get(name, 0.0) for name in order), reverse=True)
    return order, dict(zip(order, descending, strict=True))


def _interleaved(best: Sequence[str], others: Collection[str], every: int) -> list[str]:
    """The ids in an order in which at least one in ``every`` is one of the others, as long as there are any."""
    named = [(rank, name) for rank, name in enumerate(best) if name not in others]
    waiting = [(rank, name) for rank, name in enumerate(best) if name in others]
    order: list[str] = []
    first = other = run = 0
    while len(order) < len(best):
        due = first == len(named) or run == every - 1 or (other < len(waiting) and waiting[other] < named[first])
        if due and other < len(waiting):
            order.append(waiting[other][1])
            other, run = other + 1, 0
        else:
            order.append(named[first][1])
            first, run = first + 1, run + 1
    return order


def _fused_orders(best: Sequence[str], recalled: Sequence[str], weights: EvidenceWeights) -> list[str]:
    """Two orders fused by reciprocal rank."""
    scores: dict[str, float] = {}
    _add_by_rank(scores, best, 1 - weights.recall, weights)
    _add_by_rank(scores, recalled, weights.recall, weights)
    return _best(scores)


class _Records:
    """The data of candidates.

    Attributes:
        speakers: step id → speaker of active steps, casefolded.
        steps: the steps whose texts were read, by id.
    """

    def __init__(
        self,
        tx: Transaction,
        embedder: Embedder,
        items: Mapping[str, MemoryItem],
    ) -> None:
        self._tx, self.embedder, self.items = tx, embedder, items
        self._bags: dict[str, TokenBag] = {}
        self._worths: dict[str, float] = {}
        self.speakers: dict[str, str] = {}
        self.steps: dict[str, PlainStep] = {}

    def read_speakers(self, ids: Collection[str]) -> None:
        """Read steps with their speakers."""
        new = [name for name in ids if name not in self.steps]
        self.steps.update(plain_steps(self._tx, new))
        self.speakers.update({name: self.steps[name].speaker.casefold() for name in new if name in self.steps})

    def worths(self, ids: Sequence[str]) -> dict[str, float]:
        """The :func:`worth` of steps."""
        self._worths.update({name: worth(self.steps[name].text) for name in ids if name not in self._worths})
        return {name: self._worths[name] for name in ids}

    def bags(self, ids: Sequence[str]) -> list[TokenBag]:
        """The token bags of candidates, in order."""
        new = [name for name in ids if name not in self._bags]
        if new:
            texts = [self.items[name].text if name in self.items else self._with_speaker(name) for name in new]
            bags = self.embedder.token_bags([searchable(text) for text in texts])
            self._bags.update(zip(new, bags, strict=True))
        return [self._bags[name] for name in ids]

    def _with_speaker(self, step_id: str) -> str:
        step = self.steps[step_id]
        return f"{step.speaker}: {step.text}"


def _fused(need: Need, records: _Records, weights: EvidenceWeights) -> tuple[dict[str, float], dict[str, list[Reason]]]:
    """The scores of candidates, and the sources of each."""
    speakers, items = records.speakers, records.items
    known = {
        lane: [name for name in ranking if name in speakers or name in items] for lane, ranking in need.rankings.items()
    }
    why: dict[str, list[Reason]] = {}
    for lane, ranking in known.items():
        for rank, name in enumerate(ranking, 1):
            why.setdefault(name, []).append(Reason(lane, rank))
    of_named = {name for name in why if name in items or not need.speakers or speakers[name] in need.speakers}
    scores: dict[str, float] = {}

    def add(ranking: Sequence[str], weight: float) -> None:
        if need.speakers:
            _add_by_rank(scores, [name for name in ranking if name in of_named], weight, weights)
            weight *= weights.anyone
        _add_by_rank(scores, ranking, weight, weights)

    for lane, ranking in known.items():
        if lane != RECALL:
            trust = records.embedder.known_share(need.text) if lane == "vector" else 1.0
            add(ranking, weights.lanes.get(lane, 0.5) * trust)
    # All matches of a single word are equally like it.
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
    if weights.likeness and most > 0:  # since ranks do not show whether the best match is a good one
        for name in scores:
            near = max(0.0, likeness.get(name, 0.0)) / most
            scores[name] *= 1 - weights.likeness * (1 - near)
    return scores, why


def _add_by_rank(scores: dict[str, float], ranking: Sequence[str], weight: float, weights: EvidenceWeights) -> None:
    for rank, name in enumerate(ranking, 1):
        scores[name] = scores.get(name, 0.0) + weight / (weights.rank_k + rank)


def _spread(tx: Transaction, scores: dict[str, float], records: _Records, weights: EvidenceWeights) -> None:
    """Add to each step the greatest share that a neighbour passes on."""
    best = _best(scores, weights.spread_from)
    beside = neighbours(tx, [name for name in best if name in records.speakers], len(weights.neighbours))
    records.read_speakers([other for others in beside.values() for other, _ in others])
    spoke = records.speakers
    received: dict[str, float] = {}
    for origin in best:
        others = [pair for pair in beside.get(origin, ()) if pair[0] in spoke]
        talk = any(spoke[other] != spoke[origin] for other, _ in others)
        passed = scores[origin] * (1.0 if talk else weights.monologue)
        for other, distance in others if passed else ():
            received[other] = max(received.get(other, 0.0), weights.neighbours[distance - 1] * passed)
    for name, share in received.items():
        scores[name] = scores.get(name, 0.0) + share


def worth(text: str) -> float:
    """How informative the best sentence of a text is, from -1 to 3: by its length, numbers and names."""
    best = -1.0
    for sentence in SPLIT.split(text[:_LONGEST_TEXT]):
        size = size_of(sentence)
        if size < 2:
            continue
        numbers = len(_NUMBER.findall(sentence))
        names = len(_NAME.findall(sentence))
        asks = sentence.rstrip().endswith(("?", "？"))
        best = max(best, min(size, 18) / 18 + 0.6 * min(2, numbers) + 0.7 * min(3, names) - 1.6 * asks)
    return min(3.0, best)
