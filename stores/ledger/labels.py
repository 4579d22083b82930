"""Reading labels and intents: names with aliases and parents, and the labels assigned to each step.

Rows of ``intents`` contain the label ids as assigned. A merge or a rename changes the label's row alone:
:class:`~hexamem.stores.vocabulary.Vocabulary` resolves an id to its present label. ``label_changes.py`` writes them.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Row, Select, and_, bindparam, func, select

from hexamem.memory_types.labels import Label, Tier
from hexamem.stores.ledger.ledger import Transaction, chunks
from hexamem.stores.ledger.prepared import Prepared, among, of_user
from hexamem.stores.ledger.progress import SHARED, read_projections, set_projection
from hexamem.stores.ledger.schema import INDEX_TEXT, WITH_INTENT, intents, labelings, labels, projections, scopes, steps
from hexamem.stores.vocabulary import Vocabulary

__all__ = [
    "PENDING",
    "LabelMarks",
    "LabelVersion",
    "PendingStep",
    "StepIntent",
    "count_labels",
    "furthest_index",
    "get_intents",
    "label_version",
    "labels_named",
    "mark_corrected",
    "pending_step",
    "read_intents",
    "read_label_marks",
    "read_labels",
    "recent_steps",
    "set_labelled",
    "steps_carrying",
    "steps_renamed",
    "unlabelled_steps",
]

_REACHED, _CORRECTED = "labels", "labels.corrected"


class LabelMarks(NamedTuple):
    """The progress of labelling, and the last change of labels by anything else than labelling.

    A cache of labels is out of date when these differ from those with which it was filled.
    """

    reached: int
    corrected: int
    registered: int = 0
    """When the user was registered, in microseconds: it differs for a new user of the same name after an erasure."""


class LabelVersion(NamedTuple):
    """The version of a user's labels.

    Attributes:
        corrected: the last change of labels, or of texts derived from steps, by anything else than labelling.
        number: how many labels there are.
        changed: the highest change number of a label whose name or parent changed; new labels have none.
    """

    registered: int
    corrected: int
    number: int
    changed: int


class PendingStep(NamedTuple):
    """The fields of a step that labelling reads."""

    id: str
    change: int
    thread_id: str
    turn: int
    role: str
    name: str | None
    index_text: str
    occurred_at: datetime

    @property
    def speaker(self) -> str:
        """The name of the speaker, else the role."""
        return self.name or self.role


def pending_step(row: Row[Any]) -> PendingStep:
    """The record of a row with the columns :data:`PENDING`."""
    return PendingStep(row.id, row.change, row.thread_id, row.turn, row.role, row.name, row.indexed, row.occurred_at)


@dataclass(frozen=True, slots=True, kw_only=True)
class StepIntent:
    """A step's row of ``intents``: ``resolved_text`` is None where it equals the indexed text of the step."""

    step_id: str
    scope_id: str
    event_ids: tuple[str, ...]
    entity_ids: tuple[str, ...] = ()
    resolved_text: str | None = None
    summary: str = ""
    antecedents: tuple[str, ...] = ()
    confidence: float = 1.0
    provisional: bool = False
    tier: Tier = "embedded"

    @property
    def label_ids(self) -> tuple[str, ...]:
        """Every label once, scope first."""
        return tuple(dict.fromkeys((self.scope_id, *self.event_ids, *self.entity_ids)))

    @property
    def snapshot(self) -> dict[str, Any]:
        """The intent as recorded in the history: its labels, without texts that were derived from steps."""
        return {
            "scope_id": self.scope_id,
            "event_ids": list(self.event_ids),
            "entity_ids": list(self.entity_ids),
            "tier": self.tier,
        }


# ------------------------------------------------------------------------------------------------------------ marks


_FURTHEST = Prepared(select(func.max(projections.c.change)).where(of_user(projections), projections.c.home != SHARED))


_LABEL_MARK = Prepared(
    select(func.count().label("number"), func.coalesce(func.max(labels.c.change), 0).label("changed")).where(
        of_user(labels)
    )
)


def label_version(tx: Transaction) -> LabelVersion:
    """A value that changes whenever a label is added, renamed or moved, whichever process does it."""
    corrected = read_projections(tx, SHARED).get(_CORRECTED, 0)
    row = tx.first(_LABEL_MARK, user=tx.user_id)
    number, changed = (0, 0) if row is None else (int(row.number), int(row.changed))
    return LabelVersion(tx.registered, corrected, number, changed)


def read_label_marks(tx: Transaction) -> LabelMarks:
    """The marks of the user's labels, zeros for one who has none."""
    marks = read_projections(tx, SHARED)
    return LabelMarks(marks.get(_REACHED, 0), marks.get(_CORRECTED, 0), tx.registered)


def set_labelled(tx: Transaction, reached: int) -> None:
    """Store that labelling has read all steps up to this change number; 0 to read all of them again."""
    set_projection(tx, SHARED, _REACHED, reached)


def mark_corrected(tx: Transaction) -> None:
    """Store that labels, or the texts of labelled steps, were changed by something else than labelling."""
    set_projection(tx, SHARED, _CORRECTED, tx.next_change())


def furthest_index(tx: Transaction) -> int:
    """The highest change number that any index of any home contains."""
    row = tx.first(_FURTHEST, user=tx.user_id)
    return 0 if row is None or row[0] is None else int(row[0])


# ------------------------------------------------------------------------------------------------------------ reading


PENDING = (
    *(steps.c[name] for name in ("id", "change", "thread_id", "turn", "role", "name", "occurred_at")),
    INDEX_TEXT,
)
"""The columns of :func:`pending_step`."""
_UNLABELLED = Prepared(
    select(*PENDING)
    .outerjoin(intents, WITH_INTENT)
    .where(of_user(steps), steps.c.change > bindparam("since"), steps.c.status == "active", intents.c.step_id.is_(None))
    .order_by(steps.c.change)
    .limit(bindparam("most"))
)


def unlabelled_steps(tx: Transaction, since: int, limit: int) -> list[PendingStep]:
    """Active steps without an intent whose change number is above ``since``, lowest first: what to label next."""
    return [pending_step(row) for row in tx.all(_UNLABELLED, user=tx.user_id, since=since, most=limit)]


_LABELS = select(labels, func.coalesce(scopes.c.gist, "").label("gist")).outerjoin(
    scopes, and_(scopes.c.user_id == labels.c.user_id, scopes.c.label_id == labels.c.id)
)

_ALL_LABELS = Prepared(_LABELS.where(of_user(labels)).order_by(labels.c.created_at, labels.c.id))
_SOME_LABELS = Prepared(_LABELS.where(of_user(labels), among(labels.c.id)))
_NAMED = Prepared(
    _LABELS.where(of_user(labels), among(labels.c.name), labels.c.alias_of.is_(None), labels.c.undone.is_(False))
)


def _label(row: Any, user: str) -> Label:
    return Label.model_construct(
        id=row.id,
        user=user,
        kind=row.kind,
        name=row.name,
        parent_id=row.parent_id,
        # A label whose creation was undone is an alias of the label from which it was split off.
        alias_of=row.made_from if row.undone else row.alias_of,
        pinned=row.pinned,
        gist=row.gist,
        created_at=row.created_at,
    )


def read_labels(tx: Transaction, label_ids: Collection[str] | None = None) -> list[Label]:
    """All labels of the user in order of creation, or some of them.

    Args:
        label_ids: only these, the labels of which they are aliases, and all their parents.
    """
    if label_ids is None:
        return [_label(row, tx.user) for row in tx.all(_ALL_LABELS, user=tx.user_id)]
    read: dict[str, Label] = {}
    wanted = set(label_ids)
    while wanted:
        read.update({row.id: _label(row, tx.user) for row in tx.all_of(_SOME_LABELS, wanted)})
        related = {label_id for label in read.values() for label_id in (label.parent_id, label.alias_of) if label_id}
        wanted = related - read.keys() - wanted
    return list(read.values())


def labels_named(tx: Transaction, names: Collection[str]) -> list[Label]:
    """The labels of exactly these names, of every kind; those that were merged into others are left out."""
    return [_label(row, tx.user) for row in tx.all_of(_NAMED, names)]


def _intent(row: Any) -> StepIntent:
    return StepIntent(
        step_id=row.step_id,
        scope_id=row.scope_id,
        event_ids=tuple(row.event_ids or ()),
        entity_ids=tuple(row.entity_ids or ()),
        resolved_text=row.resolved_text,
        summary=row.summary or "",
        antecedents=tuple(row.antecedents or ()),
        confidence=row.confidence,
        provisional=row.provisional,
        tier=row.tier,
    )


_INTENTS = Prepared(select(intents).where(of_user(intents), among(intents.c.step_id)))


def get_intents(tx: Transaction, step_ids: Collection[str]) -> dict[str, StepIntent]:
    """The intents of these steps, forgotten ones too; a step that has none is left out."""
    return {row.step_id: _intent(row) for row in tx.all_of(_INTENTS, step_ids)}


def read_intents(tx: Transaction) -> list[StepIntent]:
    """The intents of all active steps, in the order in which the steps were stored."""
    statement = (
        select(intents)
        .join(steps, WITH_INTENT)
        .where(tx.own(intents), steps.c.status == "active")
        .order_by(steps.c.seq)
    )
    return [_intent(row) for row in tx.all(statement)]


def _latest_of_scopes() -> Prepared:
    place = func.row_number().over(partition_by=intents.c.scope_id, order_by=steps.c.seq.desc()).label("place")
    ranked = (
        select(intents.c.step_id, place)
        .join(steps, WITH_INTENT)
        .where(of_user(intents), steps.c.status == "active")
        .subquery()
    )
    return Prepared(
        select(intents, *PENDING)
        .join(steps, WITH_INTENT)
        .join(ranked, ranked.c.step_id == intents.c.step_id)
        .where(of_user(intents), ranked.c.place <= bindparam("most"))
        .order_by(steps.c.seq)
    )


_LATEST = _latest_of_scopes()


def recent_steps(tx: Transaction, limit: int) -> dict[str, list[tuple[PendingStep, StepIntent]]]:
    """Scope id → its latest active steps with their intents, at most ``limit`` of each, oldest first."""
    latest: dict[str, list[tuple[PendingStep, StepIntent]]] = {}
    for row in tx.all(_LATEST, user=tx.user_id, most=limit):
        latest.setdefault(row.scope_id, []).append((pending_step(row), _intent(row)))
    return latest


def count_labels(tx: Transaction) -> dict[str, int]:
    """How many active steps carry each label, by the ids as assigned; labels of no active step are left out."""
    statement = (
        select(labelings.c.label_id, func.count().label("number"))
        .join(steps, and_(steps.c.user_id == labelings.c.user_id, steps.c.id == labelings.c.target_id))
        .where(tx.own(labelings), labelings.c.target == "step", steps.c.status == "active")
        .group_by(labelings.c.label_id)
    )
    return {row.label_id: int(row.number) for row in tx.all(statement)}


def steps_carrying(tx: Transaction, label: str) -> Select[tuple[str]]:
    """A statement for the ids of the steps that carry a label, or one under it, or an alias of either.

    Args:
        label: an id, name or path; if ambiguous, all labels that match. An unknown one selects nothing.
    """
    vocabulary = Vocabulary(read_labels(tx))
    label_ids = set().union(*(vocabulary.covering(label_id) for label_id in vocabulary.find(label)))
    own = tx.own(labelings) & (labelings.c.target == "step")
    return select(labelings.c.target_id).where(own, labelings.c.label_id.in_(sorted(label_ids)))


_CHANGED_LABELS = Prepared(select(labels.c.id).where(of_user(labels), labels.c.change > bindparam("since")))


def steps_renamed(tx: Transaction, since: int) -> list[str]:
    """Active steps that have not changed since a change number, but whose labels were renamed since.

    Either one of the step's labels was renamed, or a wider label of one of these.
    """
    changed = [row.id for row in tx.all(_CHANGED_LABELS, user=tx.user_id, since=since)] if since else []
    if not changed:
        return []
    vocabulary = Vocabulary(read_labels(tx))
    label_ids = set().union(*(vocabulary.covering(label_id) for label_id in changed))
    renamed: set[str] = set()
    for part in chunks(label_ids):
        own = tx.own(labelings) & (labelings.c.target == "step")
        carrying = select(labelings.c.target_id).where(own, labelings.c.label_id.in_(part))
        active = tx.own(steps) & (steps.c.status == "active") & (steps.c.change <= since)
        renamed.update(row.id for row in tx.all(select(steps.c.id).where(active, steps.c.id.in_(carrying))))
    return sorted(renamed)
