"""Chooses what a round reads: ranks the results of the lanes, and takes the best passages that were not read before."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hexamem.agents.embedded_research import MAIN_NEED
from hexamem.agents.research_question import Question
from hexamem.graphs.research_lanes import EvidenceFilter
from hexamem.graphs.research_state import LaneResult
from hexamem.memory_types import MemoryItem
from hexamem.memory_types.coarse_dates import PRECISION, precision_of
from hexamem.prompts.fences import one_line
from hexamem.retrieval.evidence import (
    RECALL,
    Need,
    Ranked,
    RankedNeed,
    Reason,
    rank_evidence,
)
from hexamem.stores.ledger import Transaction, event_time, has_own_time
from hexamem.stores.ledger.pages import PageRow, PageStep, get_pages, page_steps
from hexamem.stores.ledger.steps import PlainStep, last_stated, plain_steps
from hexamem.stores.secrets import format_references

_PAGE_TEXT = 12_000
_CANDIDATES = 80  # for the question, stored for later rounds
_BESIDE_MAIN = 3  # in the first round one passage for the sub-questions follows so many for the question


@dataclass(slots=True)
class Reading:
    """The passages of a round."""

    fresh: list[dict[str, Any]] = field(default_factory=list)  # passages as JSON, the best first
    parts: dict[str, tuple[tuple[str, str], ...]] = field(
        default_factory=dict
    )  # page id → (step id, text) of its steps
    # candidates for later rounds, as `[id, score, lanes, reasons]`, best first
    pool: list[list[Any]] = field(default_factory=list)
    unfiltered: bool = False  # whether the research has no filter
    degraded: list[str] = field(default_factory=list)  # searches that failed


def read_round(
    tx: Transaction,
    question: Question,
    found: Iterable[LaneResult],
    pool: Sequence[Sequence[Any]],
    seen: Collection[str],
    *,
    number: int,
    passages: int,
    filters: EvidenceFilter,
    recalled: Sequence[str] = (),
) -> Reading:
    """Rank the results of the lanes, and choose passages from them and from the pool."""
    rankings: dict[str, dict[str, list[str]]] = {}
    pages: dict[str, None] = {}
    for lane_result in found:
        pages.update(dict.fromkeys(page for page in lane_result.get("pages", ()) if page not in seen))
        for need, ids in lane_result.get("rankings", {}).items():
            ranking = rankings.setdefault(need, {}).setdefault(lane_result["lane"], [])
            known = set(ranking)
            ranking += [record_id for record_id in ids if record_id not in known]
    if recalled and MAIN_NEED in rankings:
        rankings[MAIN_NEED][RECALL] = list(recalled)
    needs = [Need(rankings=lanes, wide=need == MAIN_NEED) for need, lanes in rankings.items()]
    ranked, steps, items = rank_evidence(tx, needs, exclude=seen, read_items=filters.read_items)
    if filters:
        permitted = filters.among(tx, {record.id for need in ranked for record in need.ranked})
        ranked = [
            RankedNeed(need.need, [record for record in need.ranked if record.id in permitted]) for need in ranked
        ]
    main = candidates(pool)
    others: list[RankedNeed] = []
    for ranked_need in ranked:
        if ranked_need.need.wide and MAIN_NEED in rankings:
            main = _merged(main, ranked_need.ranked)
        else:
            others.append(ranked_need)
    reading = Reading()
    whole, reading.parts = _whole_pages(tx, list(pages), number, filters)
    inside = {source["step_id"] for page in whole for source in page["sources"]}
    main = [record for record in main if record.id not in seen and record.id not in inside]
    aside = _best_of(others, inside)
    share = 1 if number > 1 else _BESIDE_MAIN
    order = _in_turn(main, aside, share)[: max(0, passages - len(whole))]
    chosen = {record.id for record in order}
    reading.fresh = [*whole, *passages_of(tx, order, number, steps, items, filters=filters)][:passages]
    read = {passage["id"] for passage in reading.fresh}
    rest = _in_turn(
        [record for record in main if record.id not in chosen],
        [record for record in aside if record.id not in chosen],
        share,
    )
    reading.pool = [_as_json(record) for record in rest if record.id not in read][:_CANDIDATES]
    return reading


def candidates(pool: Iterable[Sequence[Any]]) -> list[Ranked]:
    """The candidates of a pool."""
    return [
        Ranked(
            str(entry[0]),
            float(entry[1]),
            tuple(entry[2]),
            tuple(Reason(*why) for why in entry[3]) if len(entry) > 3 else (),
        )
        for entry in pool
    ]


def _as_json(record: Ranked) -> list[Any]:
    return [record.id, round(record.score, 6), list(record.lanes), [list(why) for why in record.why]]


def _merged(first: Sequence[Ranked], second: Sequence[Ranked]) -> list[Ranked]:
    """Two rankings merged by score, each record once."""
    best: dict[str, Ranked] = {}
    for record in (*first, *second):
        if record.id not in best or record.score > best[record.id].score:
            best[record.id] = record
    return sorted(best.values(), key=lambda record: (-record.score, record.id))


def _best_of(needs: Sequence[RankedNeed], without: Collection[str]) -> list[Ranked]:
    """The results for several needs, each record by its best score."""
    best: list[Ranked] = []
    for need in needs:
        best = _merged(best, [record for record in need.ranked if record.id not in without])
    return best


def _in_turn(main: Sequence[Ranked], aside: Sequence[Ranked], share: int) -> list[Ranked]:
    """Interleave two rankings: ``share`` records of the first, then one of the second, and so on, each record once."""
    merged: dict[str, Ranked] = {}
    first, second = iter(main), iter(aside)
    while True:
        before = len(merged)
        for ranking, turns in ((second, 1), (first, share)) if share == 1 else ((first, share), (second, 1)):
            for _ in range(turns):
                for record in ranking:
                    if record.id not in merged:
                        merged[record.id] = record
                        break
        if len(merged) == before:
            return list(merged.values())


def passages_of(
    tx: Transaction,
    ranked: Sequence[Ranked],
    number: int,
    steps: Mapping[str, PlainStep] | None = None,
    items: Mapping[str, MemoryItem] | None = None,
    *,
    filters: EvidenceFilter,
) -> list[dict[str, Any]]:
    """The candidates as passages in JSON, in order; records that no longer exist are left out."""
    known_steps, known_items = dict(steps or {}), dict(items or {})
    missing = [record.id for record in ranked if record.id not in known_steps and record.id not in known_items]
    known_steps.update(plain_steps(tx, [record_id for record_id in missing if record_id.startswith("step_")]))
    known_items.update(
        filters.read_items(tx, [record_id for record_id in missing if not record_id.startswith("step_")])
    )
    ranked_items = [known_items[record.id] for record in ranked if record.id in known_items]
    last_times = last_stated(tx, {item.id: item.sources for item in ranked_items if not has_own_time(item)})
    passages = []
    for record in ranked:
        if (step := known_steps.get(record.id)) is not None:
            text, sources, moment = step.text, [step.id], step.occurred_at
            own: dict[str, Any] = {"kind": "step", "speaker": step.speaker, "thread_id": step.thread_id}
        elif (item := known_items.get(record.id)) is not None:
            text, sources = item.text, [source.step_id for source in item.sources]
            # Its own time, else when it was last mentioned, else when it was stored.
            moment = last_times[item.id].at if item.id in last_times else event_time(item)
            coarse = None if item.id in last_times else precision_of(item.metadata.get(PRECISION))
            own = {"kind": item.kind, "precision": coarse}
        else:
            continue
        passages.append(
            {
                "id": record.id,
                **own,
                "text": format_references(text),
                "occurred_at": moment.isoformat(),
                "score": round(record.score, 6),
                "lanes": list(record.lanes),
                "why": [why._asdict() for why in record.why],
                "sources": [{"step_id": step_id} for step_id in sources],
                "round": number,
            }
        )
    return passages


def permitted_pages(
    tx: Transaction, page_ids: Sequence[str], filters: EvidenceFilter
) -> list[tuple[PageRow, list[PageStep], bool]]:
    """Pages with their steps that may be read, and whether these are all; pages without any are left out."""
    rows = get_pages(tx, page_ids) if page_ids else {}
    steps = page_steps(tx, list(rows.values())) if rows else {}
    pages = []
    for page_id in page_ids:
        active = [step for step in steps.get(page_id, ()) if step.active]
        permitted = filters.among(tx, [step.id for step in active])
        if chosen := [step for step in active if step.id in permitted]:
            pages.append((rows[page_id], chosen, len(chosen) == len(active)))
    return pages


def _whole_pages(
    tx: Transaction, page_ids: Sequence[str], number: int, filters: EvidenceFilter
) -> tuple[list[dict[str, Any]], dict[str, tuple[tuple[str, str], ...]]]:
    pages, parts = [], {}
    for row, steps, whole in permitted_pages(tx, page_ids, filters):
        texts = [format_references(step.text) for step in steps]
        lines = [f"{one_line(step.speaker)}: {one_line(text, ' / ')}" for step, text in zip(steps, texts, strict=True)]
        header = row.header if whole else ""  # it summarizes the whole page
        parts[row.id] = tuple((step.id, text) for step, text in zip(steps, texts, strict=True))
        pages.append(
            {
                "id": row.id,
                "kind": "page",
                "text": "\n".join(line for line in (header, *lines) if line)[:_PAGE_TEXT],
                "occurred_at": row.started_at.isoformat(),
                "thread_id": row.thread_id,
                "score": 0.0,
                "lanes": ["page"],
                "page_id": row.id,
                "sources": [{"step_id": step.id} for step in steps],
                "round": number,
            }
        )
    return pages, parts
