"""Ranking passages for research: the lanes' rankings of each need become one, by what is said, by whom, and beside what.

Reciprocal rank fusion of the lanes and of late interaction, twice: among the steps of the speakers whom the question
names, and among all. Steps then pass a part of their score on to those beside them, and sentences that say something
(names, numbers, days, deeds) come before those that only keep the talk going.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

from ..intent.page_sentences import SPLIT, size_of, weigh
from ..memory_types import MemoryItem
from ..stores.documents import searchable
from ..stores.embedders import Embedder
from ..stores.embedders.token_bags import TokenBag
from ..stores.ledger import Transaction, get_items, neighbours
from ..stores.ledger.said_steps import SaidStep, said_steps

__all__ = [
    "EvidenceWeights",
    "Need",
    "Ranked",
    "RankedNeed",
    "ReadBags",
    "ReadWorths",
    "WeighedSentence",
    "rank_evidence",
    "weighed_sentences",
]

_WEIGHED = 2_000  # characters of a text

ReadBags = Callable[[Transaction, Collection[str]], Mapping[str, TokenBag]]
"""(transaction, ids of steps and items) → what late interaction compares of them."""
ReadWorths = Callable[[Transaction, Collection[str]], Mapping[str, float]]
"""(transaction, ids of steps) → what each says of its own, as :func:`worth` has it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class EvidenceWeights:
    """How much each sign counts.

    Attributes:
        lanes: of each lane's ranking; ``late`` is late interaction over what the lanes found.
        rank_k: the constant of reciprocal rank fusion.
        late_pool: how many candidates late interaction compares.
        anyone: what a ranking over all speakers counts beside that of the speakers who are named.
        other_speaker: factor on what somebody else said, where the question names who did.
        others_every: where the question names who did it, at least every so manieth candidate is what somebody else said:
            people are mixed up, and that shows only in what the other one said. 0 for never.
        neighbours: shares that a step passes on to those 1, 2, … turns away.
        spread_from: how many of the best pass on.
        worth: how much a sentence that says something gains, a unit of its worth.
        weighed: how many of the best are weighed so.
        likeness: how much of its score a candidate loses that late interaction finds nothing in.
    """

    lanes: Mapping[str, float] = field(
        default_factory=lambda: {"vector": 0.7, "keyword": 1.0, "late": 1.5, "time": 0.7, "intent": 0.5, "page": 0.5}
    )
    rank_k: int = 10
    late_pool: int = 100
    anyone: float = 0.3
    other_speaker: float = 0.6
    others_every: int = 6
    neighbours: tuple[float, ...] = (0.6, 0.3)
    spread_from: int = 40
    worth: float = 0.4
    likeness: float = 0.8
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


@dataclass(slots=True)
class Ranked:
    """A candidate with its record."""

    id: str
    score: float
    lanes: tuple[str, ...] = ()


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
    worths: ReadWorths | None = None,
) -> tuple[list[RankedNeed], dict[str, SaidStep], dict[str, MemoryItem]]:
    """Rank the candidates of every need in one read of the ledger.

    Args:
        exclude: ids that were read already; they still pass on to their neighbours.
        bags, worths: read what late interaction compares of records, and the :func:`worth` of steps, where that is kept;
            else it is made of their texts.

    Returns:
        The needs in order, and the records of all candidates by id: steps, and items that are not removed.
    """
    ids = list(dict.fromkeys(one for need in needs for ranking in need.rankings.values() for one in ranking))
    steps = said_steps(tx, [one for one in ids if one.startswith("step_")])
    items = {
        one.id: one
        for one in get_items(tx, [one for one in ids if not one.startswith("step_")]).values()
        if one.status == "active"
    }
    gone = set(exclude)
    found = []
    late = embedder.token_model is not None and bool(weights.lanes.get("late"))
    known = _Bags(tx, embedder, bags, steps, items) if late else None
    worth_of = cache(worth)  # several needs often find the same
    for need in needs:
        scores, lanes = _fused(need, steps, items, embedder, weights, known)
        if need.wide and weights.neighbours:
            _spread(tx, scores, steps, weights)
        if need.speakers:
            for one in scores:
                if one in steps and steps[one].speaker.casefold() not in need.speakers:
                    scores[one] *= weights.other_speaker
        best = sorted(scores, key=lambda one: (-scores[one], one))
        weighed = [one for one in best[: weights.weighed] if one in steps] if weights.worth else []
        told = worths(tx, weighed) if worths is not None else {}
        for one in weighed:
            scores[one] *= 1 + weights.worth * (told[one] if one in told else worth_of(steps[one].text))
        best = sorted(best[: weights.weighed], key=lambda one: (-scores[one], one))
        if need.speakers and weights.others_every:
            others = {one for one in best if one in steps and steps[one].speaker.casefold() not in need.speakers}
            order = _never_long_without(best, others, weights.others_every)
            scores = dict(zip(order, [scores[one] for one in best], strict=True))
            best = order
        kept = [Ranked(one, scores[one], tuple(lanes.get(one, ("beside",)))) for one in best if one not in gone]
        found.append(RankedNeed(need, kept))
    return found, steps, items


def _never_long_without(best: Sequence[str], others: Collection[str], every: int) -> list[str]:
    """The same in an order in which at least every so manieth is one of the others, as long as there are any."""
    theirs = [one for one in best if one not in others]
    waiting = [one for one in best if one in others]
    place = {one: at for at, one in enumerate(best)}
    order: list[str] = []
    run = 0
    while theirs or waiting:
        due = bool(waiting) and (not theirs or run == every - 1 or place[waiting[0]] < place[theirs[0]])
        order.append((waiting if due else theirs).pop(0))
        run = 0 if due else run + 1
    return order


class _Bags:
    """What late interaction compares of the candidates, made once for all needs."""

    def __init__(
        self,
        tx: Transaction,
        embedder: Embedder,
        read: ReadBags | None,
        steps: Mapping[str, SaidStep],
        items: Mapping[str, MemoryItem],
    ) -> None:
        self._tx, self._embedder, self._read = tx, embedder, read
        self._steps, self._items = steps, items
        self._known: dict[str, TokenBag] = {}

    def of(self, ids: Sequence[str]) -> list[TokenBag]:
        """The bags of some candidates, in order."""
        new = [one for one in ids if one not in self._known]
        if new and self._read is not None:
            self._known.update(self._read(self._tx, new))
            new = [one for one in new if one not in self._known]
        if new:
            texts = [searchable(self._steps[one].text if one in self._steps else self._items[one].text) for one in new]
            self._known.update(zip(new, self._embedder.token_bags(texts), strict=True))
        return [self._known[one] for one in ids]


def _fused(
    need: Need,
    steps: Mapping[str, SaidStep],
    items: Mapping[str, MemoryItem],
    embedder: Embedder,
    weights: EvidenceWeights,
    bags: _Bags | None,
) -> tuple[dict[str, float], dict[str, list[str]]]:
    """The candidates' scores, and the lanes that found each."""
    known = {lane: [one for one in ranking if one in steps or one in items] for lane, ranking in need.rankings.items()}
    lanes: dict[str, list[str]] = {}
    for lane, ranking in known.items():
        for one in ranking:
            lanes.setdefault(one, []).append(lane)
    theirs = {
        one for one in lanes if one in items or not need.speakers or steps[one].speaker.casefold() in need.speakers
    }
    scores: dict[str, float] = {}
    trust = {"vector": embedder.known_share(need.text)}
    for lane, ranking in known.items():
        _add(scores, ranking, weights.lanes.get(lane, 0.5) * trust.get(lane, 1.0), theirs, need, weights)
    pool = sorted(scores, key=lambda one: (-scores[one], one))[: weights.late_pool]
    values = embedder.compare_bags(need.text, bags.of(pool)) if pool and bags is not None else None
    if values is not None and values.any():
        order = sorted(range(len(pool)), key=lambda at: (-float(values[at]), pool[at]))
        _add(scores, [pool[at] for at in order], weights.lanes["late"], theirs, need, weights)
        most = float(values.max())
        if weights.likeness and most > 0:  # ranks do not tell a plain match from the best of poor ones
            near = {one: max(0.0, float(value)) / most for one, value in zip(pool, values, strict=True)}
            for one in scores:
                scores[one] *= 1 - weights.likeness * (1 - near.get(one, 0.0))
    return scores, lanes


def _add(
    scores: dict[str, float],
    ranking: Sequence[str],
    weight: float,
    theirs: Collection[str],
    need: Need,
    weights: EvidenceWeights,
) -> None:
    if need.speakers:
        for rank, one in enumerate((one for one in ranking if one in theirs), 1):
            scores[one] = scores.get(one, 0.0) + weight / (weights.rank_k + rank)
        weight *= weights.anyone
    for rank, one in enumerate(ranking, 1):
        scores[one] = scores.get(one, 0.0) + weight / (weights.rank_k + rank)


def _spread(tx: Transaction, scores: dict[str, float], steps: dict[str, SaidStep], weights: EvidenceWeights) -> None:
    """Add to each step the most that one beside it passes on."""
    best = sorted(scores, key=lambda one: (-scores[one], one))[: weights.spread_from]
    beside = neighbours(tx, [one for one in best if one in steps], len(weights.neighbours))
    received: dict[str, float] = {}
    for origin in best:
        for other, distance in beside.get(origin, ()):
            given = weights.neighbours[distance - 1] * scores[origin]
            received[other] = max(received.get(other, 0.0), given)
    new = [one for one in received if one not in steps]
    steps.update(said_steps(tx, new))
    for one, given in received.items():
        if one in steps:
            scores[one] = scores.get(one, 0.0) + given


class WeighedSentence(NamedTuple):
    """A sentence, what it says of its own (3 at most), and whether it names a day."""

    text: str
    worth: float
    has_day: bool


def weighed_sentences(text: str) -> list[WeighedSentence]:
    """The sentences of a text of two words and more, without what stands before them in lists."""
    found = []
    for sentence in SPLIT.split(text[:_WEIGHED]):
        bare = sentence.strip(" \t-*•–—#>|")
        size = size_of(bare)
        if len(bare) > 3 and size >= 2:
            look = weigh(bare, size)
            found.append(WeighedSentence(bare, min(3.0, look.weight), look.has_day))
    return found


def worth(text: str) -> float:
    """What the best sentence of a text says of its own, from -1 (nothing) to 3 (names, numbers, days, deeds)."""
    return max([-1.0, *(one.worth for one in weighed_sentences(text))])
