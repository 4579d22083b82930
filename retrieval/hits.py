"""From candidates to hits: the records behind the best, what is shown of them, and why each came back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta, timezone, tzinfo
from functools import lru_cache
from typing import TypeAlias

from hexamem.memory_types import Hit, MemoryItem, ResourceItem, Signal, Source, utc_now
from hexamem.memory_types.local_time import in_zone
from hexamem.memory_types.times import read_zone
from hexamem.retrieval.caches import RecallCaches
from hexamem.retrieval.fusion import Candidate, best
from hexamem.retrieval.request import Run
from hexamem.retrieval.strategies import Strategy
from hexamem.stores.chunking import SHORT, chunk_spans, passage_at, span_of
from hexamem.stores.ledger import event_time, get_items, has_own_time
from hexamem.stores.ledger.shown_items import ItemState, ShownItem, shown_items
from hexamem.stores.ledger.step_texts import StepTime, last_stated
from hexamem.stores.ledger.steps import ShownStep, shown_steps
from hexamem.stores.lexical import LexicalStore
from hexamem.stores.vocabulary import Vocabulary

__all__ = ["LeaveOut", "hits_of"]

LeaveOut: TypeAlias = Callable[["ShownStep | ShownItem | MemoryItem"], bool]
"""Whether a record is not to be among the hits; the next best takes its place."""

_AFTER = 1e-3  # by how much, as a share of the better score, what was superseded stands after what took its place


def hits_of(
    run: Run,
    candidates: Mapping[str, Candidate],
    strategy: Strategy,
    lexical: LexicalStore,
    caches: RecallCaches,
    leave_out: LeaveOut | None = None,
) -> list[Hit]:
    """The k best candidates as hits, best first, with the labels of steps by name; without those to be left out.

    What is no longer believed is demoted, and stands after what took its place, unless a time was asked for
    or latest filtering was turned off.
    """
    item_ids = [record_id for record_id in candidates if not record_id.startswith("step_")]
    believed = run.filter.believed
    states = dict(caches.states.of(run.tx, item_ids)) if item_ids else {}
    latest = strategy.operations.get("latest_filtering", True)
    if latest and run.request.as_of is None and run.request.known_at is None:
        _demote_former(candidates, _with_followers(run, states, caches), strategy.superseded)
    statuses = {item_id: state.status for item_id, state in states.items()}
    statuses.update({item_id: item.status for item_id, item in believed.items()})
    shown = _shown(run, best(candidates, len(candidates)), statuses, leave_out)
    labels = {one for _, record in shown if isinstance(record, ShownStep) for one in record.label_ids}
    vocabulary = caches.vocabularies.holding(run.tx, labels)
    zone = read_zone(run.tx.timezone)
    learned = {one.id: one.sources for _, one in shown if not isinstance(one, ShownStep)}
    said = last_stated(run.tx, learned) if learned else {}
    return [
        _step_hit(candidate, record, run, vocabulary)
        if isinstance(record, ShownStep)
        else _item_hit(candidate, record, run, zone, lexical, said)
        for candidate, record in shown
    ]


def _with_followers(run: Run, states: Mapping[str, ItemState], caches: RecallCaches) -> Mapping[str, ItemState]:
    """The states, with those of all that took the place of one: what lies between may not have been found itself."""
    found = dict(states)
    wanted = {state.superseded_by for state in found.values()}
    while missing := [one for one in wanted if one is not None and one not in found]:
        new = caches.states.of(run.tx, missing)
        found.update(new)
        wanted = {state.superseded_by for state in new.values()}
    return found


def _demote_former(candidates: Mapping[str, Candidate], states: Mapping[str, ItemState], superseded: float) -> None:
    chains = {
        item_id: _followers(item_id, states)
        for item_id, state in states.items()
        if state.status == "superseded" and item_id in candidates
    }
    for item_id in chains:
        _demote(candidates[item_id], superseded)
    # A factor alone leaves the old value first where its words are nearer to the question than those of the new one.
    # The newest come first: where they are put is what those before them are measured by.
    for item_id, followers in sorted(chains.items(), key=lambda pair: len(pair[1])):
        candidate = candidates[item_id]
        for new in [candidates[one] for one in followers if one in candidates]:
            if candidate.score >= new.score:
                lower = new.score - _AFTER * max(1.0, abs(new.score))
                candidate.reasons().append(("superseded", None, None, lower - candidate.score))
                candidate.score = lower


def _followers(item_id: str, states: Mapping[str, ItemState]) -> list[str]:
    """What took an item's place, what took the place of that, and so on."""
    found: list[str] = []
    follower = states[item_id].superseded_by
    while follower is not None and follower != item_id and follower not in found:
        found.append(follower)
        follower = states[follower].superseded_by if follower in states else None
    return found


def _demote(candidate: Candidate, superseded: float) -> None:
    # A negative score (a cosine) sinks as well: it grows by as much as a positive one shrinks.
    factor = superseded if candidate.score >= 0 else 2 - superseded
    candidate.score *= factor
    candidate.why = [(*reason[:3], reason[3] * factor) for reason in candidate.reasons()]


def _shown(
    run: Run, ranked: list[Candidate], statuses: Mapping[str, str], leave_out: LeaveOut | None
) -> list[tuple[Candidate, ShownStep | ShownItem | MemoryItem]]:
    """The best k with their records, of those that are not left out."""
    believed = run.filter.believed
    # A candidate may have left the ledger since the indexes were read: take the next one instead.
    shown: list[tuple[Candidate, ShownStep | ShownItem | MemoryItem]] = []
    for start in range(0, len(ranked), run.request.k):
        part = ranked[start : start + run.request.k]
        records: dict[str, ShownStep | ShownItem | MemoryItem] = {
            **shown_steps(run.tx, [one.id for one in part if one.id not in statuses])
        }
        # What they say is read of those alone that are shown: a document may be long.
        items = [one.id for one in part if one.id in statuses and one.id not in believed]
        records.update(shown_items(run.tx, items) if items else {})
        documents = [one for one in items if one not in records]
        records.update(get_items(run.tx, documents) if documents else {})
        for candidate in part:
            record = believed.get(candidate.id) or records.get(candidate.id)
            if record is not None and (leave_out is None or not leave_out(record)):
                shown.append((candidate, record))
        if len(shown) >= run.request.k:
            break
    return shown[: run.request.k]


def _passage_of(run: Run, item: MemoryItem, lexical: LexicalStore) -> tuple[str, str | None]:
    """What is shown of an item: of a long document its title and best passage, with the place of that."""
    if not isinstance(item, ResourceItem) or len(item.content) <= SHORT:
        return item.text, None
    found = None if item.id in run.former else run.passage(item.id)
    if found is not None:
        span = span_of(found)
    else:  # found by its title, its labels, or in words of before, which are in no index
        spans = chunk_spans(item)
        if not spans:
            return item.text, None
        texts = {str(number): item.content[start:end] for number, (start, end) in enumerate(spans)}
        scored = lexical.score_texts(run.key, run.request.query, texts)
        span = spans[int(max(scored, key=lambda one: one[1])[0]) if scored else 0]
    passage = passage_at(item, span)
    return f"{item.title}{f', {passage.place}' if passage.place else ''}\n{passage.text}", passage.place or None


def _why(candidate: Candidate, run: Run) -> tuple[Signal, ...]:
    return tuple(
        Signal.of_fields(name=name, value=value, rank=rank, share=share, note=run.notes.get(name))
        for name, value, rank, share in sorted(candidate.reasons(), key=lambda reason: -reason[3])
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
        said_at=step.occurred_at,
        seq=step.seq,
        speaker=step.speaker,
        thread_id=step.thread_id,
        sources=(Source.of_fields(step_id=step.id, quote="", start=None, end=None),),
        superseded=False,
        scope=None if step.scope_id is None else vocabulary.path(step.scope_id),
        events=vocabulary.names(step.event_ids),
        entities=vocabulary.names(step.entity_ids),
    )


def _has_own_time(item: ShownItem | MemoryItem) -> bool:
    return item.own_time if isinstance(item, ShownItem) else has_own_time(item)


def _ended(item: ShownItem | MemoryItem, run: Run) -> bool:
    """Whether an item is not true any more, where no other time is asked for."""
    if item.valid_to is None or run.request.as_of is not None or run.request.known_at is not None:
        return False
    return item.valid_to <= utc_now()


def _item_hit(
    candidate: Candidate,
    item: ShownItem | MemoryItem,
    run: Run,
    zone: tzinfo,
    lexical: LexicalStore,
    said: Mapping[str, StepTime],
) -> Hit:
    """A hit of an item. Its time is its own, else that when it was last said, else that when it was learned."""
    text, place = (item.text, None) if isinstance(item, ShownItem) else _passage_of(run, item, lexical)
    learned = said.get(item.id)
    moment = item.event_at if isinstance(item, ShownItem) else event_time(item)
    if learned is not None and not _has_own_time(item):
        moment = learned.at
    return Hit.of_fields(
        id=item.id,
        kind=item.kind,
        text=text,
        place=place,
        score=candidate.score,
        why=_why(candidate, run),
        occurred_at=in_zone(moment, zone),
        said_at=None if learned is None else learned.at,
        seq=None if learned is None else learned.seq,
        speaker=None,
        thread_id=None,
        sources=item.sources,
        superseded=item.status == "superseded" or _ended(item, run),
        scope=None,
        events=(),
        entities=(),
    )
