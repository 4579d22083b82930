"""Makes hits of the best candidates: reads their records, chooses the text to show, and lists the signals."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta, timezone, tzinfo
from functools import lru_cache
from typing import TypeAlias

from hexamem.memory_types import Hit, MemoryItem, ResourceItem, Signal, Source, utc_now
from hexamem.memory_types.coarse_dates import PRECISION, precision_of
from hexamem.memory_types.local_time import in_zone
from hexamem.memory_types.times import read_zone
from hexamem.retrieval.fusion import Candidate, best
from hexamem.retrieval.request import Run
from hexamem.retrieval.strategies import Strategy
from hexamem.stores.chunking import SHORT, chunk_spans, passage_at, span_of
from hexamem.stores.ledger import event_time, get_items, has_own_time
from hexamem.stores.ledger.shown_items import ItemState, ShownItem, item_states, shown_items
from hexamem.stores.ledger.steps import ShownStep, StepTime, last_stated, shown_steps
from hexamem.stores.vocabulary import Vocabulary
from hexamem.stores.vocabulary_cache import VocabularyCache

__all__ = ["LeaveOut", "hits_of"]

LeaveOut: TypeAlias = Callable[["ShownStep | ShownItem | MemoryItem"], bool]
"""Whether a record is left out of the hits; the next best is taken instead."""

Shown: TypeAlias = "ShownStep | ShownItem | MemoryItem"
_AFTER = 1e-3  # a superseded item scores at least this much, as a share, below its successor


def hits_of(
    run: Run,
    candidates: Mapping[str, Candidate],
    strategy: Strategy,
    vocabularies: VocabularyCache,
    leave_out: LeaveOut | None = None,
) -> list[Hit]:
    """The k best candidates as hits, best first, with the names of step labels, without those to leave out.

    Superseded items are demoted below their successors, unless the request names a time or latest filtering is off.
    """
    item_ids = [record_id for record_id in candidates if not record_id.startswith("step_")]
    believed = run.filter.believed
    states = item_states(run.tx, item_ids) if item_ids else {}
    latest = strategy.operations.get("latest_filtering", True)
    if latest and run.request.as_of is None and run.request.known_at is None:
        _demote_former(candidates, _with_successors(run, states), strategy.superseded)
    statuses = {item_id: state.status for item_id, state in states.items()}
    statuses.update({item_id: item.status for item_id, item in believed.items()})
    shown = _shown(run, best(candidates, len(candidates)), statuses, leave_out)
    records = [record for place in shown for _, record in place]
    vocabulary = vocabularies.of(run.tx)
    zone = read_zone(run.tx.timezone)
    learned = {record.id: record.sources for record in records if not isinstance(record, ShownStep)}
    stated = last_stated(run.tx, learned) if learned else {}

    def hit_of(candidate: Candidate, record: Shown) -> Hit:
        if isinstance(record, ShownStep):
            return _step_hit(candidate, record, run, vocabulary)
        return _item_hit(candidate, record, run, zone, stated)

    hits = []
    for first, *others in shown:
        hit = hit_of(*first)
        attached = tuple(hit_of(*other) for other in others)
        hits.append(hit.model_copy(update={"attached": attached}) if attached else hit)
    return hits


def _with_successors(run: Run, states: Mapping[str, ItemState]) -> Mapping[str, ItemState]:
    """The states of items and all their successors, which may not be candidates themselves."""
    known = dict(states)
    wanted = {state.superseded_by for state in known.values()}
    while missing := [item_id for item_id in wanted if item_id is not None and item_id not in known]:
        new = item_states(run.tx, missing)
        known.update(new)
        wanted = {state.superseded_by for state in new.values()}
    return known


def _demote_former(candidates: Mapping[str, Candidate], states: Mapping[str, ItemState], superseded: float) -> None:
    chains = {
        item_id: _successors(item_id, states)
        for item_id in candidates
        if item_id in states and states[item_id].status == "superseded"
    }
    for item_id in chains:
        _demote(candidates[item_id], superseded)
    # A factor alone would leave an old value first that is much nearer to the question than the new one.
    # The newest come first, since the scores of older ones depend on theirs.
    for item_id, successors in sorted(chains.items(), key=lambda pair: len(pair[1])):
        candidate = candidates[item_id]
        for new in [candidates[successor] for successor in successors if successor in candidates]:
            if candidate.score >= new.score:
                lower = new.score - _AFTER * max(1.0, abs(new.score))
                candidate.why.append(("superseded", None, None, lower - candidate.score))
                candidate.score = lower


def _successors(item_id: str, states: Mapping[str, ItemState]) -> list[str]:
    """The successor of an item, the successor of that, and so on."""
    chain: list[str] = []
    successor = states[item_id].superseded_by
    while successor is not None and successor != item_id and successor not in chain:
        chain.append(successor)
        successor = states[successor].superseded_by if successor in states else None
    return chain


def _demote(candidate: Candidate, superseded: float) -> None:
    # A negative score, such as a cosine, is lowered as well.
    factor = superseded if candidate.score >= 0 else 2 - superseded
    candidate.score *= factor
    candidate.why = [(*reason[:3], reason[3] * factor) for reason in candidate.why]


def _shown(
    run: Run, ranked: list[Candidate], statuses: Mapping[str, str], leave_out: LeaveOut | None
) -> list[list[tuple[Candidate, Shown]]]:
    """The k best with their records, without those to leave out, each followed by those that are attached to it.

    A step and an item that was learned from it alone are attached to each other, since they state the same.
    """
    believed = run.filter.believed
    # A candidate may have been deleted since the indexes were read: then the next one is taken.
    shown: list[list[tuple[Candidate, Shown]]] = []
    places: dict[str, int] = {}  # id of a step, or of the only source of an item → its place
    for start in range(0, len(ranked), run.request.k):
        part = ranked[start : start + run.request.k]
        records: dict[str, Shown] = {
            **shown_steps(run.tx, [candidate.id for candidate in part if candidate.id not in statuses])
        }
        # Texts are read only for hits, since a document may be long.
        items = [candidate.id for candidate in part if candidate.id in statuses and candidate.id not in believed]
        records.update(shown_items(run.tx, items) if items else {})
        documents = [item_id for item_id in items if item_id not in records]
        read = get_items(run.tx, documents) if documents else {}
        records.update({item_id: item for item_id, item in read.items() if item.status in ("active", "superseded")})
        for candidate in part:
            record = believed.get(candidate.id) or records.get(candidate.id)
            if record is None or (leave_out is not None and leave_out(record)):
                continue
            step_id = _only_source(record)
            place = places.get(step_id) if step_id is not None else None
            steps = isinstance(record, ShownStep), place is not None and isinstance(shown[place][0][1], ShownStep)
            if place is not None and any(steps):
                shown[place].append((candidate, record))
                continue
            if step_id is not None and (place is None or steps[0]):
                places[step_id] = len(shown)
            shown.append([(candidate, record)])
        if len(shown) >= run.request.k:
            break
    return shown[: run.request.k]


def _only_source(record: Shown) -> str | None:
    """The id of a step, or of the only step from which an item was learned; None for several, and for a document."""
    if isinstance(record, ShownStep):
        return record.id
    step_ids = {source.step_id for source in record.sources}
    return next(iter(step_ids)) if len(step_ids) == 1 and record.kind != "resource" else None


def _passage_of(run: Run, item: MemoryItem) -> tuple[str, str | None]:
    """The text of an item, and the place of a passage: of a long document the title and the best passage.

    It is the first one for a candidate by its title, its labels, or a former text, which is in no index.
    """
    if not isinstance(item, ResourceItem) or len(item.content) <= SHORT:
        return item.text, None
    passage_id = None if item.id in run.former else run.passage(item.id)
    span = next(iter(chunk_spans(item)), None) if passage_id is None else span_of(passage_id)
    if span is None:
        return item.text, None
    passage = passage_at(item, span)
    return f"{item.title}{f', {passage.place}' if passage.place else ''}\n{passage.text}", passage.place or None


def _why(candidate: Candidate, run: Run) -> tuple[Signal, ...]:
    return tuple(
        Signal.of_fields(name=name, value=value, rank=rank, share=share, note=run.notes.get(name))
        for name, value, rank, share in sorted(candidate.why, key=lambda reason: -reason[3])
    )


@lru_cache(maxsize=64)
def _offset(minutes: int) -> timezone:
    return timezone(timedelta(minutes=minutes))


def _step_hit(candidate: Candidate, step: ShownStep, run: Run, vocabulary: Vocabulary) -> Hit:
    return Hit.of_fields(
        id=step.id,
        kind="step",
        text=step.text,
        place=None,
        score=candidate.score,
        why=_why(candidate, run),
        occurred_at=in_zone(step.occurred_at, _offset(step.offset_minutes)),
        precision=None,
        said_at=step.occurred_at,
        seq=step.seq,
        speaker=step.speaker,
        thread_id=step.thread_id,
        sources=(Source.of_fields(step_id=step.id, quote="", start=None, end=None),),
        superseded=step.id in run.outdated,
        scope=None if step.scope_id is None else vocabulary.path(step.scope_id),
        events=vocabulary.names(step.event_ids),
        entities=vocabulary.names(step.entity_ids),
        attached=(),
    )


def _has_own_time(item: ShownItem | MemoryItem) -> bool:
    return item.own_time if isinstance(item, ShownItem) else has_own_time(item)


def _ended(item: ShownItem | MemoryItem, run: Run) -> bool:
    """Whether an item has ended, unless the request names a time."""
    if item.valid_to is None or run.request.as_of is not None or run.request.known_at is not None:
        return False
    return item.valid_to <= utc_now()


def _item_hit(
    candidate: Candidate,
    item: ShownItem | MemoryItem,
    run: Run,
    zone: tzinfo,
    stated: Mapping[str, StepTime],
) -> Hit:
    """A hit of an item. Its time is its own, otherwise that of its latest source, otherwise when it was stored."""
    text, place = (item.text, None) if isinstance(item, ShownItem) else _passage_of(run, item)
    learned = stated.get(item.id)
    moment = item.event_at if isinstance(item, ShownItem) else event_time(item)
    precision = item.precision if isinstance(item, ShownItem) else precision_of(item.metadata.get(PRECISION))
    if learned is not None and not _has_own_time(item):
        moment, precision = learned.at, None
    return Hit.of_fields(
        id=item.id,
        kind=item.kind,
        text=text,
        place=place,
        score=candidate.score,
        why=_why(candidate, run),
        occurred_at=in_zone(moment, zone),
        precision=precision,
        said_at=None if learned is None else learned.at,
        seq=None if learned is None else learned.seq,
        speaker=None,
        thread_id=None,
        sources=item.sources,
        superseded=item.status == "superseded" or _ended(item, run),
        scope=None,
        events=(),
        entities=(),
        attached=(),
    )
