"""What a round reads: the lanes' findings become rankings, and of these the passages that were not read before are chosen."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hexamem.agents.embedded_research import MAIN_NEED
from hexamem.agents.research_question import Question
from hexamem.graphs.research_filter import EvidenceFilter
from hexamem.graphs.research_state import LaneFound, ResearchSettings
from hexamem.memory_types import MemoryItem
from hexamem.retrieval.evidence import (
    RECALL,
    Need,
    Ranked,
    RankedNeed,
    ReadBags,
    ReadSpeakers,
    ReadWorths,
    Reason,
    rank_evidence,
)
from hexamem.stores.embedders import Embedder
from hexamem.stores.ledger import Transaction, event_time, has_own_time
from hexamem.stores.ledger.pages import PageRow, get_pages, page_steps
from hexamem.stores.ledger.step_texts import PlainStep, StepTime, last_stated, plain_steps
from hexamem.stores.secrets import tell_references

__all__ = ["Reading", "candidates", "passages_of", "read_round"]

_PAGE_TEXT = 12_000
_BESIDE_MAIN = 3  # of the first round's passages, every so manieth is a sub-question's


@dataclass(slots=True)
class Reading:
    """What a round reads.

    Attributes:
        fresh: passages as JSON, the best first. parts: page id → (step id, text) of its steps.
        pool: what later rounds may read, as ``[id, score, lanes, reasons]``, best first.
        unfiltered: whether it was not narrowed to some labels, kinds or another time.
        degraded: what was read without.
    """

    fresh: list[dict[str, Any]] = field(default_factory=list)
    parts: dict[str, tuple[tuple[str, str], ...]] = field(default_factory=dict)
    pool: list[list[Any]] = field(default_factory=list)
    unfiltered: bool = False
    degraded: list[str] = field(default_factory=list)


def read_round(
    tx: Transaction,
    question: Question,
    found: Iterable[LaneFound],
    pool: Sequence[Sequence[Any]],
    seen: Collection[str],
    embedder: Embedder,
    settings: ResearchSettings,
    *,
    number: int,
    passages: int,
    filters: EvidenceFilter,
    recalled: Sequence[str] = (),
    bags: ReadBags | None = None,
    speakers: ReadSpeakers | None = None,
    worths: ReadWorths | None = None,
) -> Reading:
    """Rank what the lanes found, and choose what to read of it and of the pool.

    What was found for the question itself is the pool; from the second round on it takes turns with what was found for
    the needs of the round, so that a round never reads only what leads away.

    Args:
        seen: ids of passages and pages that were read.
        passages: how many to read at most.
        filters: what may be read of what the lanes found, and of what stands beside it.
        recalled: ids that a plain recall finds for the question, best first.
        bags, speakers, worths: as in :func:`~hexamem.retrieval.evidence.rank_evidence`.
    """
    rankings: dict[str, dict[str, list[str]]] = {}
    pages: dict[str, None] = {}
    for one in found:
        pages.update(dict.fromkeys(page for page in one.get("pages", ()) if page not in seen))
        for need, ids in one.get("rankings", {}).items():
            kept = rankings.setdefault(need, {}).setdefault(one["lane"], [])
            known = set(kept)
            kept += [record for record in ids if record not in known]
    if recalled and MAIN_NEED in rankings:
        rankings[MAIN_NEED][RECALL] = list(recalled)
    needs = [
        Need(text=need or question.bare, rankings=lanes, speakers=question.speakers, wide=need == MAIN_NEED)
        for need, lanes in rankings.items()
    ]
    ranked, steps, items = rank_evidence(
        tx,
        needs,
        embedder,
        settings.weights,
        exclude=seen,
        bags=bags,
        speakers=speakers,
        worths=worths,
        read_items=filters.read_items,
    )
    if filters:
        permitted = filters.among(tx, {one.id for each in ranked for one in each.ranked})
        ranked = [RankedNeed(each.need, [one for one in each.ranked if one.id in permitted]) for each in ranked]
    main = candidates(pool)
    others: list[RankedNeed] = []
    for each in ranked:
        if each.need.wide and MAIN_NEED in rankings:
            main = _merged(main, each.ranked)
        else:
            others.append(each)
    main = [one for one in main if one.id not in seen]
    reading = Reading()
    whole, reading.parts = _whole_pages(tx, list(pages), number, filters)
    inside = {source["step_id"] for page in whole for source in page["sources"]}
    main = [one for one in main if one.id not in inside]
    aside = _best_of(others, inside)
    room = max(0, passages - len(whole))
    order = _in_turn(main, aside, 1 if number > 1 else _BESIDE_MAIN)
    order = order[:room]
    chosen = {one.id for one in order}
    reading.fresh = [*whole, *passages_of(tx, order, number, steps, items, filters=filters)][:passages]
    read = {one["id"] for one in reading.fresh}
    rest = [one for one in main if one.id not in chosen]
    rest = _in_turn(rest, [one for one in aside if one.id not in chosen], 1 if number > 1 else _BESIDE_MAIN)
    reading.pool = [_kept(one) for one in rest if one.id not in read]
    reading.pool = reading.pool[: settings.kept]
    return reading


def candidates(pool: Iterable[Sequence[Any]]) -> list[Ranked]:
    """A pool as candidates; one that was kept without reasons has none."""
    return [
        Ranked(str(one[0]), float(one[1]), tuple(one[2]), tuple(Reason(*why) for why in one[3]) if len(one) > 3 else ())
        for one in pool
    ]


def _kept(one: Ranked) -> list[Any]:
    return [one.id, round(one.score, 6), list(one.lanes), [list(why) for why in one.why]]


def _merged(one: Sequence[Ranked], other: Sequence[Ranked]) -> list[Ranked]:
    """Two rankings as one by score, each record once."""
    best: dict[str, Ranked] = {}
    for each in (*one, *other):
        if each.id not in best or each.score > best[each.id].score:
            best[each.id] = each
    return sorted(best.values(), key=lambda each: (-each.score, each.id))


def _best_of(needs: Sequence[RankedNeed], without: Collection[str]) -> list[Ranked]:
    """What was found for any of several needs, by its best score."""
    found: list[Ranked] = []
    for one in needs:
        found = _merged(found, [each for each in one.ranked if each.id not in without])
    return found


def _in_turn(main: Sequence[Ranked], aside: Sequence[Ranked], share: int) -> list[Ranked]:
    """So many of the one, then one of the other, and so on, each record once."""
    found: dict[str, Ranked] = {}
    first, second = iter(main), iter(aside)
    while True:
        before = len(found)
        for ranking, turns in ((second, 1), (first, share)) if share == 1 else ((first, share), (second, 1)):
            for _ in range(turns):
                for one in ranking:
                    if one.id not in found:
                        found[one.id] = one
                        break
        if len(found) == before:
            return list(found.values())


def passages_of(
    tx: Transaction,
    ranked: Sequence[Ranked],
    number: int,
    steps: Mapping[str, PlainStep] | None = None,
    items: Mapping[str, MemoryItem] | None = None,
    *,
    filters: EvidenceFilter,
) -> list[dict[str, Any]]:
    """The records behind candidates as passages in JSON, in order; what is gone meanwhile is left out.

    Args:
        number: of the round in which they are read; 0 where they are not.
        steps, items: those that are known already.
        filters: how items are to be read.
    """
    known_steps, known_items = dict(steps or {}), dict(items or {})
    missing = [one.id for one in ranked if one.id not in known_steps and one.id not in known_items]
    known_steps.update(plain_steps(tx, [one for one in missing if one.startswith("step_")]))
    known_items.update(filters.read_items(tx, [one for one in missing if not one.startswith("step_")]))
    found_items = [known_items[one.id] for one in ranked if one.id in known_items]
    said = last_stated(tx, {item.id: item.sources for item in found_items if not has_own_time(item)})
    found = []
    for one in ranked:
        if one.id in known_steps:
            found.append(_of_step(known_steps[one.id], one, number))
        elif one.id in known_items:
            found.append(_of_item(known_items[one.id], one, number, said))
    return found


def _of_step(step: PlainStep, one: Ranked, number: int) -> dict[str, Any]:
    return {
        "id": step.id,
        "kind": "step",
        "text": tell_references(step.text),
        "speaker": step.speaker,
        "occurred_at": step.occurred_at.isoformat(),
        "thread_id": step.thread_id,
        "score": round(one.score, 6),
        "lanes": list(one.lanes),
        "why": [why._asdict() for why in one.why],
        "sources": [{"step_id": step.id}],
        "round": number,
    }


def _of_item(item: MemoryItem, one: Ranked, number: int, said: Mapping[str, StepTime]) -> dict[str, Any]:
    """Its time is its own, else that when it was last said, else that when it was learned."""
    moment = said[item.id].at if item.id in said else event_time(item)
    return {
        "id": item.id,
        "kind": item.kind,
        "text": tell_references(item.text),
        "occurred_at": moment.isoformat(),
        "score": round(one.score, 6),
        "lanes": list(one.lanes),
        "why": [why._asdict() for why in one.why],
        "sources": [{"step_id": source.step_id} for source in item.sources],
        "round": number,
    }


def _whole_pages(
    tx: Transaction, page_ids: Sequence[str], number: int, filters: EvidenceFilter
) -> tuple[list[dict[str, Any]], dict[str, tuple[tuple[str, str], ...]]]:
    rows = get_pages(tx, page_ids) if page_ids else {}
    steps = page_steps(tx, list(rows.values())) if rows else {}
    found, parts = [], {}
    for page_id in page_ids:
        every = [one for one in steps.get(page_id, ()) if one.active]
        permitted = filters.among(tx, [one.id for one in every])
        said = [one for one in every if one.id in permitted]
        if not said:
            continue
        row: PageRow = rows[page_id]
        header = row.header if len(said) == len(every) else ""  # it tells of the whole page
        lines = [f"{one.speaker}: {tell_references(one.text)}" for one in said]
        parts[page_id] = tuple((one.id, tell_references(one.text)) for one in said)
        found.append(
            {
                "id": page_id,
                "kind": "page",
                "text": "\n".join(line for line in (header, *lines) if line)[:_PAGE_TEXT],
                "occurred_at": row.started_at.isoformat(),
                "thread_id": row.thread_id,
                "score": 0.0,
                "lanes": ["page"],
                "page_id": page_id,
                "sources": [{"step_id": one.id} for one in said],
                "round": number,
            }
        )
    return found, parts
