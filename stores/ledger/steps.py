"""Steps in the ledger: appended, read in order, selected by filters, forgotten and restored."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Row, and_, bindparam, func, insert, or_, select, update

from hexamem.memory_types import Media, Step, ToolCall, Where
from hexamem.stores.ledger.derived_texts import clear_derived, step_contents
from hexamem.stores.ledger.labels import mark_corrected, steps_carrying
from hexamem.stores.ledger.ledger import IN_LIMIT, Transaction, chunks
from hexamem.stores.ledger.pages import blank_pages
from hexamem.stores.ledger.prepared import Prepared
from hexamem.stores.ledger.schema import intents, steps
from hexamem.stores.ledger.step_rows import WITH_INTENT, indexed_text

__all__ = [
    "Arrival",
    "IndexedStep",
    "Neighbours",
    "ShownStep",
    "append_steps",
    "changed_steps",
    "get_steps",
    "has_metadata",
    "known_messages",
    "neighbours",
    "next_turn",
    "select_step_ids",
    "set_step_status",
    "set_step_texts",
    "shown_steps",
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
_OF_THREAD = (steps.c.user_id == bindparam("user")) & (steps.c.thread_id == bindparam("thread"))
_KNOWN = Prepared(
    select(steps.c.message_id, steps.c.id).where(_OF_THREAD, steps.c.message_id.in_(bindparam("ids", expanding=True)))
)
_LAST_TURN = Prepared(select(func.max(steps.c.turn)).where(_OF_THREAD))


def known_messages(tx: Transaction, thread_id: str, message_ids: Collection[str]) -> dict[str, str]:
    """Which of these message ids of the host the thread contains: message id → step id."""
    return {row.message_id: row.id for row in tx.all_of(_KNOWN, message_ids, thread=thread_id)}


def next_turn(tx: Transaction, thread_id: str) -> int:
    """The turn that the thread's next step will have."""
    row = tx.first(_LAST_TURN, user=tx.user_id, thread=thread_id)
    return 0 if row is None or row[0] is None else int(row[0]) + 1


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


def _row(tx: Transaction, step: Step) -> dict[str, Any]:
    return {
        "id": step.id,
        "user_id": tx.user_id,
        "seq": step.seq,
        "change": step.seq,
        "thread_id": step.thread_id,
        "turn": step.turn,
        "role": step.role,
        "name": step.name,
        **_content(step),
        "message_id": step.message_id,
        "agent_id": step.agent_id,
        "occurred_at": step.occurred_at,
        "offset_minutes": step.offset_minutes,
        "created_at": step.created_at,
        "status": step.status,
    }


def _content(step: Step) -> dict[str, Any]:
    """The columns of the message itself."""
    return {
        "content": step.content,
        "blocks": list(step.blocks) or None,
        "reasoning": step.reasoning,
        "tool_calls": [call.model_dump() for call in step.tool_calls] or None,
        "tool_call_id": step.tool_call_id,
        "media": [media.model_dump(mode="json", exclude_none=True) for media in step.media] or None,
        "index_text": None if step.index_text == step.content else step.index_text,
        "metadata": step.metadata or None,
    }


def set_step_status(tx: Transaction, step_ids: Collection[str], status: str) -> None:
    """Mark steps active or forgotten, and delete what was derived with their text, or without it."""
    first = tx.next_change(max(1, len(step_ids)))
    for offset, step_id in enumerate(sorted(step_ids)):
        tx.connection.execute(
            update(steps)
            .where(steps.c.user_id == tx.user_id, steps.c.id == step_id)
            .values(status=status, change=first + offset)
        )
    if status == "forgotten":
        clear_derived(tx, step_ids, step_contents(tx, step_ids))
    else:
        blank_pages(tx, step_ids)
        mark_corrected(tx)


def set_step_texts(tx: Transaction, contents: Mapping[str, str]) -> None:
    """Replace the contents of steps, by id, and delete what was derived from the old ones."""
    before = step_contents(tx, contents)
    for step_id, content in contents.items():
        tx.connection.execute(
            update(steps)
            .where(steps.c.user_id == tx.user_id, steps.c.id == step_id)
            .values(content=content, change=tx.next_change())
        )
    clear_derived(tx, contents, before)


def step_from(row: Row[Any], user: str) -> Step:
    """The record of a row. Values come from our own table, so they are not validated again."""
    return Step.of_fields(
        id=row.id,
        user=user,
        thread_id=row.thread_id,
        turn=row.turn,
        seq=row.seq,
        role=row.role,
        name=row.name,
        content=row.content,
        blocks=tuple(row.blocks or ()),
        reasoning=row.reasoning,
        tool_calls=tuple(ToolCall(**call) for call in row.tool_calls or ()),
        tool_call_id=row.tool_call_id,
        media=tuple(Media(**media) for media in row.media or ()),
        index_text=indexed_text(row),
        message_id=row.message_id,
        agent_id=row.agent_id,
        occurred_at=row.occurred_at,
        offset_minutes=row.offset_minutes,
        created_at=row.created_at,
        status=row.status,
        metadata=row._mapping["metadata"] or {},
    )


_IDS = (steps.c.user_id == bindparam("user"), steps.c.id.in_(bindparam("ids", expanding=True)))
_BY_ID = Prepared(select(steps).where(*_IDS))
_ACTIVE = Prepared(select(steps).where(*_IDS, steps.c.status == "active"))


def get_steps(tx: Transaction, step_ids: Collection[str], *, forgotten: bool = False) -> dict[str, Step]:
    """Steps by id; unknown ids, and forgotten ones unless asked for, are left out."""
    rows = tx.all_of(_BY_ID if forgotten else _ACTIVE, step_ids)
    return {row.id: step_from(row, tx.user) for row in rows}


def thread_steps(tx: Transaction, thread_id: str | None = None, *, forgotten: bool = False) -> list[Step]:
    """All steps of a thread by turn, or of the user by seq."""
    statement = select(steps).where(steps.c.user_id == tx.user_id)
    if thread_id is not None:
        statement = statement.where(steps.c.thread_id == thread_id)
    if not forgotten:
        statement = statement.where(steps.c.status == "active")
    return [step_from(row, tx.user) for row in tx.all(statement.order_by(steps.c.seq))]


_SHOWN = Prepared(
    select(
        *(steps.c[name] for name in ("id", "thread_id", "role", "name", "content", "index_text")),
        *(steps.c[name] for name in ("occurred_at", "offset_minutes", "seq")),
        *(intents.c[name] for name in ("scope_id", "event_ids", "entity_ids")),
    )
    .outerjoin(intents, WITH_INTENT)
    .where(
        steps.c.user_id == bindparam("user"),
        steps.c.id.in_(bindparam("ids", expanding=True)),
        steps.c.status == "active",
    )
)


def shown_steps(tx: Transaction, step_ids: Collection[str]) -> dict[str, ShownStep]:
    """The shown fields of active steps, by id; unknown and forgotten ids are left out."""
    return {
        row.id: ShownStep(
            row.id,
            row.thread_id,
            row.name or row.role,
            indexed_text(row),
            row.occurred_at,
            row.offset_minutes,
            row.scope_id,
            tuple(row.event_ids or ()),
            tuple(row.entity_ids or ()),
            row.seq,
        )
        for row in tx.all_of(_SHOWN, step_ids)
    }


_INDEXED = [
    steps.c[name]
    for name in ("id", "change", "thread_id", "role", "name", "content", "index_text", "occurred_at", "status")
] + [intents.c[name] for name in ("scope_id", "event_ids", "entity_ids", "resolved_text")]
_ALL = 2**62
_CHANGED = Prepared(
    select(*_INDEXED)
    .outerjoin(intents, WITH_INTENT)
    .where(steps.c.user_id == bindparam("user"), steps.c.change > bindparam("since"))
    .order_by(steps.c.change)
    .limit(bindparam("most"))
)


def changed_steps(tx: Transaction, since: int, limit: int | None = None) -> list[tuple[int, IndexedStep]]:
    """Steps whose change number is above ``since``, lowest first, with that number: what an index must read.

    Only the indexed fields are read: the rest of a step costs more than its text.
    """
    most = _ALL if limit is None else limit
    return [_indexed(*tuple(row)) for row in tx.all(_CHANGED, user=tx.user_id, since=since, most=most)]


def _indexed(
    step_id: str,
    change: int,
    thread_id: str,
    role: str,
    name: str | None,
    content: str,
    index_text: str | None,
    occurred_at: datetime,
    status: str,
    scope_id: str | None,
    event_ids: Sequence[str] | None,
    entity_ids: Sequence[str] | None,
    resolved_text: str | None,
) -> tuple[int, IndexedStep]:
    # The row is unpacked whole: reading each column by name takes as long as the query.
    text = content if index_text is None else index_text
    labels = (scope_id, *(event_ids or ()), *(entity_ids or ())) if scope_id else ()
    return change, IndexedStep(step_id, thread_id, role, name, text, occurred_at, status, resolved_text, labels)


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
    .where(
        steps.c.user_id == bindparam("user"),
        steps.c.id.in_(bindparam("ids", expanding=True)),
        _near.c.status == "active",
    )
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
) -> set[str]:
    """The active steps that match a filter, of all or ``among`` some: exact, from the ledger alone.

    ``as_of`` selects steps that had happened by then, ``known_at`` those that had been stored by then.
    """
    if among is not None and len(among) > IN_LIMIT:
        return set().union(*(select_step_ids(tx, where, as_of, known_at, part) for part in chunks(among)))
    conditions: list[ColumnElement[bool]] = [steps.c.user_id == tx.user_id, steps.c.status == "active"]
    if as_of is not None:
        conditions.append(steps.c.occurred_at <= as_of)
    if known_at is not None:
        conditions.append(steps.c.created_at <= known_at)
    where = where or Where()
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
    if among is not None:
        conditions.append(steps.c.id.in_(list(among)))
    if not where.metadata:
        return {row.id for row in tx.all(select(steps.c.id).where(*conditions))}
    rows = tx.all(select(steps.c.id, steps.c.metadata).where(*conditions))
    return {row.id for row in rows if has_metadata(row._mapping["metadata"] or {}, where.metadata)}


def spoken_by(tx: Transaction, speaker: str) -> ColumnElement[bool]:
    """The condition that a step has this speaker: its name, or its role if it has no name, case-insensitively.

    Databases fold case differently, so the user's speakers are compared here, in Python.
    """
    known = tx.all(select(steps.c.name, steps.c.role).where(steps.c.user_id == tx.user_id).distinct())
    wanted = speaker.casefold()
    names = {row.name for row in known if row.name and row.name.casefold() == wanted}
    roles = {row.role for row in known if not row.name and row.role.casefold() == wanted}
    nameless = or_(steps.c.name.is_(None), steps.c.name == "")
    return or_(steps.c.name.in_(names), and_(nameless, steps.c.role.in_(roles)))


def has_metadata(metadata: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    """Whether the metadata has every wanted key with that value."""
    return all(key in metadata and metadata[key] == value for key, value in wanted.items())
