"""Labels written by labelling, and labels corrected by a person, each correction an operation with its history.

A person's word stands: neither rules nor a model change a label that is pinned or an intent that a person gave.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Literal

from hexamem.errors import InvalidInputError, NotFoundError
from hexamem.memory_types import Change, Operation, new_id
from hexamem.memory_types.labels import Label, LabelKind
from hexamem.memory_types.operations import LabelOperation
from hexamem.stores.ledger import Transaction, get_steps, record_operation
from hexamem.stores.ledger.label_changes import (
    add_intents,
    insert_labels,
    intent_change,
    label_change,
    label_state,
    set_gists,
    settle_intents,
    touch_steps,
)
from hexamem.stores.ledger.labels import (
    StepIntent,
    count_labels,
    furthest_index,
    get_intents,
    labels_named,
    mark_corrected,
    read_labels,
)
from hexamem.stores.vocabulary import SEPARATOR, Vocabulary

__all__ = [
    "merge_labels",
    "move_steps",
    "pin_label",
    "rename_label",
    "split_label",
    "vocabulary_of",
    "write_labels",
]

_NAME_LIMIT = 200  # characters


# ------------------------------------------------------------------------------------------------------- by labelling


def write_labels(
    tx: Transaction,
    changed: Sequence[Label],
    first: Sequence[StepIntent],
    changes: Mapping[str, int],
    revised: Sequence[StepIntent] = (),
    *,
    indexed_elsewhere: bool = False,
    by: Literal["embedded", "model"] = "embedded",
) -> Operation | None:
    """Write what labelling made of a batch: new labels, first intents, and revisions of what was there before.

    Revisions of labels become one operation ``relabel`` with before and after; what a person set is left as it is, and
    by rules what a model set. Texts derived from steps have no history. A step gets a new change number only where an
    index may hold it already without its labels.

    Args:
        changed: labels that are new or changed, each as it is now.
        first: intents of steps that had none.
        changes: the change number of each of these steps.
        revised: earlier steps, as they are now.
        indexed_elsewhere: whether other homes index the same ledger, at any moment.
        by: who revises.

    Returns:
        The operation, if anything was revised.
    """
    made = _write_labels(tx, changed)
    add_intents(tx, first)
    indexed = tx.change if indexed_elsewhere else furthest_index(tx)
    touch_steps(tx, [one.step_id for one in first if changes[one.step_id] <= indexed])
    held = get_intents(tx, [one.step_id for one in revised])
    settled = []
    final = ("user",) if by == "model" else ("user", "model")
    for one in revised:
        before = held.get(one.step_id)
        if before is None or before.tier in final:
            continue
        if before.snapshot != one.snapshot:
            made.append(intent_change(before, one))
        if before != one:
            settled.append(one)
    operation = None
    if made:
        reason = "labels refined by what was said since" if by == "embedded" else "labels refined by the model"
        operation = record_operation(tx, "relabel", made, actor=by, reason=reason)
    settle_intents(tx, settled)
    touch_steps(tx, [one.step_id for one in settled if one.resolved_text != held[one.step_id].resolved_text])
    return operation


def _write_labels(tx: Transaction, changed: Sequence[Label]) -> list[Change]:
    """Write new labels and gists; returns the changes of labels that are there and that nobody pinned."""
    if not changed:
        return []
    held = {one.id: one for one in read_labels(tx, [one.id for one in changed]) if one.id in {c.id for c in changed}}
    fresh = [one for one in changed if one.id not in held]
    insert_labels(tx, _unique(tx, fresh))
    set_gists(tx, {one.id: one.gist for one in changed if one.id in held and one.gist != held[one.id].gist})
    made: list[Change] = []
    for one in changed:
        old = held.get(one.id)
        # What was taken in by another label stays so.
        if old is None or old.pinned or old.alias_of is not None:
            continue
        before = label_state(tx, one.id)
        if before is None:
            continue
        after = {**before, "name": one.name, "parent_id": one.parent_id, "alias_of": one.alias_of}
        renamed = (one.name, one.parent_id) != (old.name, before["parent_id"])
        taken = renamed and one.alias_of is None and _taken(tx, one.kind, one.parent_id, one.name, one.id) is not None
        if taken:
            after["name"] = before["name"]
        if after != before:
            made.append(label_change(one.id, before, after))
    return made


def _unique(tx: Transaction, fresh: Sequence[Label]) -> list[Label]:
    """New labels; one whose name is there already becomes an alias of that label, and what lies under it under that."""
    if not fresh:
        return []
    taken = {(one.kind, _within(one), one.name): one.id for one in labels_named(tx, {one.name for one in fresh})}
    above = Vocabulary(read_labels(tx, {one.parent_id for one in fresh if one.parent_id}))
    stands_for: dict[str, str] = {}
    found = []
    for given in _parents_first(fresh):
        parent_id = given.parent_id and above.canonical(stands_for.get(given.parent_id, given.parent_id))
        one = given if parent_id == given.parent_id else given.model_copy(update={"parent_id": parent_id})
        other = one.id if one.alias_of else taken.setdefault((one.kind, _within(one), one.name), one.id)
        if other != one.id:
            stands_for[one.id] = other
            one = one.model_copy(update={"alias_of": other})
        found.append(one)
    return found


def _parents_first(fresh: Sequence[Label]) -> Iterator[Label]:
    waiting = {one.id: one for one in fresh}
    for label in fresh:
        chain: list[Label] = []
        one: Label | None = label
        while one is not None and waiting.pop(one.id, None) is not None:
            chain.append(one)
            one = waiting.get(one.parent_id or "")
        yield from reversed(chain)


def _within(label: Label) -> str:
    return (label.parent_id or "") if label.kind == "scope" else ""


def _taken(tx: Transaction, kind: str, parent_id: str | None, name: str, label_id: str) -> Label | None:
    """The other label that has this name where it must be unique."""
    for one in labels_named(tx, [name]):
        same_place = kind != "scope" or (one.parent_id or None) == (parent_id or None)
        if one.kind == kind and same_place and one.id != label_id:
            return one
    return None


# --------------------------------------------------------------------------------------------------------- by a person


def vocabulary_of(tx: Transaction) -> Vocabulary:
    """The user's labels. Only such as steps carry that are not forgotten are suggested to a person."""

    def used() -> set[str]:
        return vocabulary.with_wider(count_labels(tx))

    vocabulary = Vocabulary(read_labels(tx), used)
    return vocabulary


def rename_label(tx: Transaction, label: str, name: str, *, actor: str, reason: str) -> Operation:
    """Give a label another name, and pin it; see ``UserLabels.rename``. The old one lives on as an alias."""
    vocabulary = vocabulary_of(tx)
    one = vocabulary.one(label)
    name = _checked_name(name)
    if name == one.name:
        raise InvalidInputError(f"label {one.id} is called {name!r} already")
    _refuse_taken(tx, one.kind, one.parent_id, name, one.id)
    before = _state(tx, one)
    changes = [label_change(one.id, before, {**before, "name": name, "pinned": True})]
    if one.name.casefold() not in {name.casefold(), *(other.casefold() for other in vocabulary.aliases(one.id))}:
        alias = {**before, "alias_of": one.id, "made_from": one.id, "pinned": True}
        changes.append(label_change(new_id("label"), None, alias))
    return _correct(tx, "rename", changes, actor, reason)


def merge_labels(tx: Transaction, label: str, into: str, *, actor: str, reason: str) -> Operation:
    """Let one label take another in; see ``UserLabels.merge``."""
    vocabulary = vocabulary_of(tx)
    one = vocabulary.one(label)
    elsewhere = not vocabulary.find(into, one.kind) and vocabulary.find(into)
    other = vocabulary.one(into, None if elsewhere else one.kind)
    if one.kind != other.kind:
        raise InvalidInputError(
            f"their kinds differ: {one.name!r} is a label of kind {one.kind}, {other.name!r} of kind {other.kind}; "
            "a label takes in only one of its own kind"
        )
    if one.id == other.id:
        raise InvalidInputError(f"{label!r} and {into!r} are one label already, {vocabulary.path(one.id)!r}")
    if one.pinned:
        raise InvalidInputError(
            f"label {one.name!r} is pinned, so it stays: merge {other.name!r} into it, or unpin it first"
        )
    if one.id in vocabulary.above(other.id):
        raise InvalidInputError(
            f"label {one.name!r} holds {vocabulary.path(other.id)!r} and cannot go into it: merge the other way round"
        )
    before = _state(tx, one)
    return _correct(tx, "merge", [label_change(one.id, before, {**before, "alias_of": other.id})], actor, reason)


def split_label(
    tx: Transaction, label: str, step_ids: Collection[str], name: str, *, actor: str, reason: str
) -> tuple[str, Operation]:
    """Make a new label of some of the steps that carry one; see ``UserLabels.split``. Returns its id."""
    vocabulary = vocabulary_of(tx)
    one = vocabulary.one(label)
    name = _checked_name(name)
    intents = _intents(tx, step_ids)
    same = set(vocabulary.same(one.id))
    strange = sorted(step_id for step_id, intent in intents.items() if not same & set(intent.label_ids))
    if strange:
        raise InvalidInputError(f"these steps do not carry the label {vocabulary.path(one.id)!r}: {', '.join(strange)}")
    _refuse_taken(tx, one.kind, one.parent_id, name, "")
    new = Label(user=tx.user, kind=one.kind, name=name, parent_id=one.parent_id, pinned=True)
    made = {
        "kind": new.kind,
        "name": name,
        "parent_id": new.parent_id,
        "alias_of": None,
        "made_from": one.id,
        "pinned": True,
    }
    changes = [label_change(new.id, None, made)]
    for intent in intents.values():
        changes.append(intent_change(intent, _with_new(intent, same, new.id)))
    return new.id, _correct(tx, "split", changes, actor, reason)


def move_steps(
    tx: Transaction, step_ids: Collection[str], label: str, *, kind: LabelKind | None, actor: str, reason: str
) -> Operation:
    """Give steps a label; see ``UserLabels.move``."""
    vocabulary = vocabulary_of(tx)
    one = vocabulary.one(label, kind)
    changes = []
    for intent in _intents(tx, step_ids).values():
        if one.kind == "scope":
            after = replace(intent, scope_id=one.id)
        elif one.kind == "event":
            after = replace(intent, event_ids=(one.id,))
        else:
            after = replace(intent, entity_ids=tuple(dict.fromkeys((*intent.entity_ids, one.id))))
        after = replace(after, tier="user", provisional=False)
        if after.snapshot != intent.snapshot and not (intent.tier == "user" and _carries(vocabulary, intent, one)):
            changes.append(intent_change(intent, after))
    if not changes:
        which = "the step carries" if len(set(step_ids)) == 1 else "the steps carry"
        raise InvalidInputError(
            f"nothing to move: {which} {vocabulary.path(one.id)!r} already, by a person's word, and will keep it"
        )
    return _correct(tx, "move", changes, actor, reason)


def _carries(vocabulary: Vocabulary, intent: StepIntent, label: Label) -> bool:
    """Whether a move of the label to the step would leave it as it is, whatever aliases its ids are of."""
    if label.kind == "scope":
        return vocabulary.canonical(intent.scope_id) == label.id
    if label.kind == "event":
        return {*map(vocabulary.canonical, intent.event_ids)} == {label.id}
    return label.id in map(vocabulary.canonical, intent.entity_ids)


def pin_label(tx: Transaction, label: str, pinned: bool, *, actor: str, reason: str) -> Operation:
    """Pin a label or let it go; see ``UserLabels.pin``."""
    one = vocabulary_of(tx).one(label)
    if one.pinned == pinned:
        raise InvalidInputError(f"label {one.name!r} is {'pinned already' if pinned else 'not pinned'}")
    before = _state(tx, one)
    return _correct(tx, "pin", [label_change(one.id, before, {**before, "pinned": pinned})], actor, reason)


def _correct(tx: Transaction, kind: LabelOperation, changes: Sequence[Change], actor: str, reason: str) -> Operation:
    operation = record_operation(tx, kind, changes, actor=actor, reason=reason)
    mark_corrected(tx)
    return operation


def _with_new(intent: StepIntent, same: set[str], new: str) -> StepIntent:
    """The intent with the new label wherever it had the old one, by a person's word."""

    def put(label_ids: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(new if one in same else one for one in label_ids))

    return replace(
        intent,
        scope_id=new if intent.scope_id in same else intent.scope_id,
        event_ids=put(intent.event_ids),
        entity_ids=put(intent.entity_ids),
        tier="user",
        provisional=False,
    )


def _state(tx: Transaction, label: Label) -> dict[str, object]:
    state = label_state(tx, label.id)
    if state is None:
        raise NotFoundError(f"label {label.id} of user {tx.user!r} is gone; `labels list` shows those that are there")
    return state


def _intents(tx: Transaction, step_ids: Collection[str]) -> dict[str, StepIntent]:
    """The intents of active steps.

    Raises:
        NotFoundError: naming the steps that are not there, or have no labels yet.
    """
    wanted = list(dict.fromkeys(step_ids))
    if not wanted:
        raise InvalidInputError("which steps? give at least one step id")
    missing = sorted(set(wanted) - get_steps(tx, wanted).keys())
    if missing:
        raise NotFoundError(f"no step {', '.join(missing)} for user {tx.user!r}")
    found = get_intents(tx, wanted)
    bare = sorted(set(wanted) - found.keys())
    if bare:
        raise NotFoundError(f"these steps have no labels yet: {', '.join(bare)} (is Settings.labels off?)")
    return {step_id: found[step_id] for step_id in wanted}


def _checked_name(name: str) -> str:
    name = " ".join(name.split())
    if not name or len(name) > _NAME_LIMIT:
        raise InvalidInputError(f"a label's name has 1 to {_NAME_LIMIT} characters, not {len(name)}")
    if SEPARATOR in name:
        raise InvalidInputError(f"a label's name holds no {SEPARATOR!r}, which stands between the names of a path")
    return name


def _refuse_taken(tx: Transaction, kind: str, parent_id: str | None, name: str, label_id: str) -> None:
    other = _taken(tx, kind, parent_id, name, label_id)
    if other is not None:
        raise InvalidInputError(
            f"there is a {kind} label {name!r} already ({other.id}): merge the two, or choose another name"
        )
