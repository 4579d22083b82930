"""Steps in the ledger: appended, read in order, selected by filters, forgotten and restored."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Row, and_, bindparam, func, insert, or_, select

from hexamem.memory_types import Media, Source, Step, ToolCall, Where
from hexamem.stores.ledger.derived_texts import clear_derived, step_contents
from hexamem.stores.ledger.labels import mark_corrected, steps_carrying
from hexamem.stores.ledger.ledger import IN_LIMIT, Transaction, chunks
from hexamem.stores.ledger.pages import blank_pages
from hexamem.stores.ledger.prepared import Prepared, among, of_user
from hexamem.stores.ledger.schema import INDEX_TEXT, SPEAKER, WITH_INTENT, intents, steps

__all__ = [
    "Arrival",
    "IndexedStep",
    "Neighbours",
    "PlainStep",
    "ShownStep",
    "StepTime",
    "append_steps",
    "changed_steps",
    "get_steps",
    "has_metadata",
    "known_messages",
    "last_message",
    "last_stated",
    "neighbours",
    "next_turn",
    "plain_steps",
    "select_step_ids",
    "set_step_status",
    "shown_steps",
    "step_conditions",
    "step_from",
    "thread_steps",
]

Neighbours = dict[str, list[tuple[str, int]]]
"""Step id → (id of a neighbouring step, distance in turns) of each."""


class IndexedStep(NamedTuple):
    """The indexed fields of a step; ``resolved_text`` is None where it contains no resolved references."""

    id: str
    thread_id: str
    role: str
    name: str | None
    index_text: str
    occurred_at: datetime
    status: str
    resolved_text: str | None = None
    label_ids: tuple[str, ...] = ()

    @property
    def speaker(self) -> str:
        """The name of the speaker, else the role."""
        return self.name or self.role


class ShownStep(NamedTuple):
    """The fields of a step that a hit shows, with its labels as assigned; ``scope_id`` is None where it has none."""

    id: str
    thread_id: str
    speaker: str
    text: str
    occurred_at: datetime
    offset_minutes: int
    scope_id: str | None
    event_ids: tuple[str, ...]
    entity_ids: tuple[str, ...]
    seq: int

    @property
    def label_ids(self) -> tuple[str, ...]:
        """Its labels, scope first."""
        return () if self.scope_id is None else (self.scope_id, *self.event_ids, *self.entity_ids)


_near = steps.alias("near")
_OF_THREAD = (of_user(steps)) & (steps.c.thread_id == bindparam("thread"))
_KNOWN = Prepared(select(steps.c.message_id, steps.c.id).where(_OF_THREAD, among(steps.c.message_id)))
_LAST_TURN = Prepared(select(func.max(steps.c.turn)).where(_OF_THREAD))


def known_messages(tx: Transaction, thread_id: str, message_ids: Collection[str]) -> dict[str, str]:
    """Which of these message ids of the host the thread contains: message id → step id."""
    return {row.message_id: row.id for row in tx.all_of(_KNOWN, message_ids, thread=thread_id)}


def next_turn(tx: Transaction, thread_id: str) -> int:
    """The turn that the thread's next step will have."""
    row = tx.first(_LAST_TURN, user=tx.user_id, thread=thread_id)
    return 0 if row is None or row[0] is None else int(row[0]) + 1


_LAST_MESSAGE = Prepared(
    select(steps.c.role, steps.c.name, steps.c.content.label("text"))
    .where(_OF_THREAD, steps.c.status == "active")
    .order_by(steps.c.turn.desc())
    .limit(1)
)


class LastMessage(NamedTuple):
    """Who wrote the last step of a thread, and its text."""

    role: str
    name: str | None
    text: str


def last_message(tx: Transaction, thread_id: str) -> LastMessage | None:
    """The last active step of a thread; None before the first."""
    row = tx.first(_LAST_MESSAGE, user=tx.user_id, thread=thread_id)
    return None if row is None else LastMessage(row.role, row.name, row.text)


class Arrival(NamedTuple):
    """The place of new steps: the first has this turn and seq, the others follow.

    Attributes:
        at: the time of arrival; it is also ``occurred_at`` of the steps that are not ``timed``.
        timed: ids of the steps whose message has a time of its own.
    """

    turn: int
    seq: int
    at: datetime
    timed: frozenset[str] = frozenset()


def append_steps(tx: Transaction, new: Sequence[Step], arrival: Arrival | None = None) -> None:
    """Write steps whose seq was reserved by ``tx.next_change``; the change number starts as the seq.

    Args:
        arrival: the place of steps that have none yet; by default each step has its own.
    """
    rows = [_row(tx, step) for step in new]
    if arrival is not None:
        for offset, row in enumerate(rows):
            seq = arrival.seq + offset
            row.update(turn=arrival.turn + offset, seq=seq, change=seq, created_at=arrival.at)
            if row["id"] not in arrival.timed:
                row["occurred_at"] = arrival.at
    if rows:
        tx.run_many(_APPEND, rows)


_APPEND = Prepared(insert(steps))


# Columns of the same name and form as the fields of a step; the others are None where a step has nothing in them.
_SAME = (
    *("id", "seq", "thread_id", "turn", "role", "name", "content", "reasoning", "tool_call_id", "message_id"),
    *("agent_id", "occurred_at", "offset_minutes", "created_at", "status"),
)


def _row(tx: Transaction, step: Step) -> dict[str, Any]:
    return {
        **{name: getattr(step, name) for name in _SAME},
        "user_id": tx.user_id,
        "change": step.seq,
        "blocks": step.blocks or None,
        "tool_calls": [call.model_dump() for call in step.tool_calls] or None,
        "media": [media.model_dump(mode="json", exclude_none=True) for media in step.media] or None,
        "index_text": None if step.index_text == step.content else step.index_text,
        "metadata": step.metadata or None,
    }


def set_step_status(tx: Transaction, step_ids: Collection[str], status: str) -> None:
    """Mark steps active or forgotten, and delete what was derived with their text, or without it."""
    first = tx.next_change(max(1, len(step_ids)))
    for offset, step_id in enumerate(sorted(step_ids)):
        tx.update(steps, step_id, status=status, change=first + offset)
    if status == "forgotten":
        clear_derived(tx, step_ids, step_contents(tx, step_ids))
    else:
        blank_pages(tx, step_ids)
        mark_corrected(tx)


def step_from(row: Row[Any], user: str) -> Step:
    """The record of a row. Values come from our own table, so they are not validated again."""
    values = row._mapping
    return Step.of_fields(
        **{name: values[name] for name in _SAME},
        user=user,
        blocks=tuple(row.blocks or ()),
        tool_calls=tuple(ToolCall(**call) for call in row.tool_calls or ()),
        media=tuple(Media(**media) for media in row.media or ()),
        index_text=row.content if row.index_text is None else row.index_text,
        metadata=values["metadata"] or {},
    )


_IDS = (of_user(steps), among(steps.c.id))
_BY_ID = Prepared(select(steps).where(*_IDS))
_ACTIVE = Prepared(select(steps).where(*_IDS, steps.c.status == "active"))


def get_steps(tx: Transaction, step_ids: Collection[str], *, forgotten: bool = False) -> dict[str, Step]:
    """Steps by id; unknown ids, and forgotten ones unless asked for, are left out."""
    rows = tx.all_of(_BY_ID if forgotten else _ACTIVE, step_ids)
    return {row.id: step_from(row, tx.user) for row in rows}


def thread_steps(tx: Transaction, thread_id: str | None = None, *, forgotten: bool = False) -> list[Step]:
    """All steps of a thread by turn, or of the user by seq."""
    statement = select(steps).where(tx.own(steps))
    if thread_id is not None:
        statement = statement.where(steps.c.thread_id == thread_id)
    if not forgotten:
        statement = statement.where(steps.c.status == "active")
    return [step_from(row, tx.user) for row in tx.all(statement.order_by(steps.c.seq))]


_SHOWN = Prepared(
    select(
        *(steps.c.id, steps.c.thread_id, SPEAKER, INDEX_TEXT, steps.c.occurred_at, steps.c.offset_minutes),
        *(intents.c[name] for name in ("scope_id", "event_ids", "entity_ids")),
        steps.c.seq,
    )
    .outerjoin(intents, WITH_INTENT)
    .where(of_user(steps), among(steps.c.id), steps.c.status == "active")
)


def shown_steps(tx: Transaction, step_ids: Collection[str]) -> dict[str, ShownStep]:
    """The shown fields of active steps, by id; unknown and forgotten ids are left out."""
    shown = (
        ShownStep._make((*step, tuple(event_ids or ()), tuple(entity_ids or ()), seq))
        for *step, event_ids, entity_ids, seq in map(tuple, tx.all_of(_SHOWN, step_ids))
    )
    return {step.id: step for step in shown}


_ALL = 2**62
_CHANGED = Prepared(
    select(
        steps.c.change,
        *(steps.c[name] for name in ("id", "thread_id", "role", "name")),
        *(INDEX_TEXT, steps.c.occurred_at, steps.c.status),
        *(intents.c[name] for name in ("resolved_text", "scope_id", "event_ids", "entity_ids")),
    )
    .outerjoin(intents, WITH_INTENT)
    .where(of_user(steps), steps.c.change > bindparam("since"))
    .order_by(steps.c.change)
    .limit(bindparam("most"))
)


def changed_steps(tx: Transaction, since: int, limit: int | None = None) -> list[tuple[int, IndexedStep]]:
    """Steps whose change number is above ``since``, lowest first, with that number: what an index must read.

    Only the indexed fields are read: the rest of a step costs more than its text.
    """
    rows = tx.all(_CHANGED, user=tx.user_id, since=since, most=_ALL if limit is None else limit)
    return [
        (change, IndexedStep._make((*step, (scope, *(events or ()), *(entities or ())) if scope else ())))
        for change, *step, scope, events, entities in map(tuple, rows)
    ]


_NEIGHBOURS = Prepared(
    select(steps.c.id, _near.c.id.label("other"), (_near.c.turn - steps.c.turn).label("distance"))
    .join(
        _near,
        and_(
            _near.c.user_id == steps.c.user_id,
            _near.c.thread_id == steps.c.thread_id,
            _near.c.turn >= steps.c.turn - bindparam("reach"),
            _near.c.turn <= steps.c.turn + bindparam("reach"),
            _near.c.turn != steps.c.turn,
        ),
    )
    .where(of_user(steps), among(steps.c.id), _near.c.status == "active")
)


def neighbours(tx: Transaction, step_ids: Collection[str], reach: int) -> Neighbours:
    """The active steps within ``reach`` turns of each step in its thread, nearest first; unknown ids are left out."""
    neighbours_of: Neighbours = {}
    for row in tx.all_of(_NEIGHBOURS, step_ids, reach=reach):
        neighbours_of.setdefault(row.id, []).append((row.other, abs(row.distance)))
    for near in neighbours_of.values():
        near.sort(key=lambda neighbour: (neighbour[1], neighbour[0]))
    return neighbours_of


def select_step_ids(
    tx: Transaction,
    where: Where | None,
    as_of: datetime | None = None,
    known_at: datetime | None = None,
    among: Collection[str] | None = None,
    *,
    forgotten: bool = False,
) -> set[str]:
    """The active steps that match a filter, of all or ``among`` some: exact, from the ledger alone.

    ``as_of`` selects steps that had happened by then, ``known_at`` those that had been stored by then; with
    ``forgotten`` also forgotten ones.
    """
    if among is not None and len(among) > IN_LIMIT:
        parts = chunks(among)
        return set().union(*(select_step_ids(tx, where, as_of, known_at, part, forgotten=forgotten) for part in parts))
    where = where or Where()
    conditions = step_conditions(tx, where)
    if not forgotten:
        conditions.append(steps.c.status == "active")
    if as_of is not None:
        conditions.append(steps.c.occurred_at <= as_of)
    if known_at is not None:
        conditions.append(steps.c.created_at <= known_at)
    if among is not None:
        conditions.append(steps.c.id.in_(list(among)))
    if not where.metadata:
        return {row.id for row in tx.all(select(steps.c.id).where(*conditions))}
    rows = tx.all(select(steps.c.id, steps.c.metadata).where(*conditions))
    return {row.id for row in rows if has_metadata(row._mapping["metadata"] or {}, where.metadata)}


def step_conditions(tx: Transaction, where: Where) -> list[ColumnElement[bool]]:
    """The conditions of a filter on the user's steps, except that on metadata, which databases compare differently."""
    conditions: list[ColumnElement[bool]] = [tx.own(steps)]
    for column, value in ((steps.c.thread_id, where.thread_id), (steps.c.agent_id, where.agent_id)):
        if value is not None:
            conditions.append(column == value)
    if where.since is not None:
        conditions.append(steps.c.occurred_at >= where.since)
    if where.until is not None:
        conditions.append(steps.c.occurred_at <= where.until)
    for label in where.labels:
        conditions.append(steps.c.id.in_(steps_carrying(tx, label)))
    if where.speaker is not None:
        conditions.append(spoken_by(tx, where.speaker))
    return conditions


def spoken_by(tx: Transaction, speaker: str) -> ColumnElement[bool]:
    """The condition that a step has this speaker: its name, or its role if it has no name, case-insensitively.

    Databases fold case differently, so the user's speakers are compared here, in Python.
    """
    known = tx.all(select(steps.c.name, steps.c.role).where(tx.own(steps)).distinct())
    wanted = speaker.casefold()
    names = {row.name for row in known if row.name and row.name.casefold() == wanted}
    roles = {row.role for row in known if not row.name and row.role.casefold() == wanted}
    nameless = or_(steps.c.name.is_(None), steps.c.name == "")
    return or_(steps.c.name.in_(names), and_(nameless, steps.c.role.in_(roles)))


def has_metadata(metadata: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    """Whether the metadata has every wanted key with that value."""
    return all(key in metadata and metadata[key] == value for key, value in wanted.items())


class PlainStep(NamedTuple):
    """A step without its labels; ``text`` is its indexed text."""

    id: str
    thread_id: str
    speaker: str
    text: str
    occurred_at: datetime

    @property
    def line(self) -> str:
        """The text after its speaker."""
        return f"{self.speaker}: {self.text}"


class StepTime(NamedTuple):
    """The time of a step; steps of the same time are ordered by ``seq``."""

    at: datetime
    seq: int


_ACTIVE_IDS = (
    of_user(steps),
    among(steps.c.id),
    steps.c.status == "active",
)
_PLAIN = Prepared(select(steps.c.id, steps.c.thread_id, SPEAKER, INDEX_TEXT, steps.c.occurred_at).where(*_ACTIVE_IDS))
_TIMES = Prepared(select(steps.c.id, steps.c.occurred_at, steps.c.seq).where(*_ACTIVE_IDS))


def plain_steps(tx: Transaction, step_ids: Collection[str]) -> dict[str, PlainStep]:
    """Active steps by id; unknown and forgotten ids are left out."""
    return {row.id: PlainStep._make(row) for row in tx.all_of(_PLAIN, step_ids)}


def last_stated(tx: Transaction, cited: Mapping[str, Collection[Source]]) -> dict[str, StepTime]:
    """The latest time at which the content of items was stated: that of their last source step.

    Args:
        cited: item id → its sources. Items that cite no active step are left out.
    """
    step_ids = {source.step_id for sources in cited.values() for source in sources}
    times = {row.id: StepTime(row.occurred_at, row.seq) for row in tx.all_of(_TIMES, step_ids)}
    of_items = {
        item_id: [times[source.step_id] for source in sources if source.step_id in times]
        for item_id, sources in cited.items()
    }
    return {item_id: max(of_item) for item_id, of_item in of_items.items() if of_item}
