"""Writing the results of labelling, and correcting labels by hand; each correction is an operation in the history.

Corrections have precedence: labelling changes neither a pinned label nor an intent set by a person.
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
    within,
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
    """Write the labels of a batch: new labels, first intents, and revisions of earlier ones.

    Revisions become one operation ``relabel`` with before and after. What a person set is never revised, and what a
    model set is revised by a model alone. Texts derived from steps have no history. A step gets a new change number
    only if an index may contain it without its labels.

    Args:
        changed: new and changed labels in their new state.
        first: intents of steps that had none.
        changes: the change number of each of these steps.
        revised: new intents of earlier steps.
        indexed_elsewhere: whether other homes index the same ledger, at any time.
        by: the tier of labelling.

    Returns:
        The operation, if anything was revised.
    """
    made = _write_labels(tx, changed)
    add_intents(tx, first)
    indexed = tx.change if indexed_elsewhere else furthest_index(tx)
    touch_steps(tx, [intent.step_id for intent in first if changes[intent.step_id] <= indexed])
    stored = get_intents(tx, [intent.step_id for intent in revised])
    settled = []
    final = ("user",) if by == "model" else ("user", "model")
    for intent in revised:
        before = stored.get(intent.step_id)
        if before is None or before.tier in final:
            continue
        if before.snapshot != intent.snapshot:
            made.append(intent_change(before, intent))
        if before != intent:
            settled.append(intent)
    operation = None
    if made:
        reason = "labels refined by later messages" if by == "embedded" else "labels refined by the model"
        operation = record_operation(tx, "relabel", made, actor=by, reason=reason)
    settle_intents(tx, settled)
    reindexed = [intent.step_id for intent in settled if intent.resolved_text != stored[intent.step_id].resolved_text]
    touch_steps(tx, reindexed)
    return operation


def _write_labels(tx: Transaction, changed: Sequence[Label]) -> list[Change]:
    """Write new labels and gists; returns the changes of existing labels that are not pinned."""
    if not changed:
        return []
    ids = {label.id for label in changed}
    stored = {label.id: label for label in read_labels(tx, ids) if label.id in ids}
    insert_labels(tx, _unique(tx, [label for label in changed if label.id not in stored]))
    known = [(label, stored[label.id]) for label in changed if label.id in stored]
    set_gists(tx, {label.id: label.gist for label, old in known if label.gist != old.gist})
    made: list[Change] = []
    for label, old in known:
        if old.pinned or old.alias_of is not None:  # a label that was merged into another stays so
            continue
        before = label_state(tx, label.id)
        if before is None:
            continue
        after = {**before, "name": label.name, "parent_id": label.parent_id, "alias_of": label.alias_of}
        renamed = (label.name, label.parent_id) != (old.name, before["parent_id"]) and label.alias_of is None
        if renamed and _taken(tx, label.kind, label.parent_id, label.name, label.id) is not None:
            after["name"] = before["name"]
        if after != before:
            made.append(label_change(label.id, before, after))
    return made


def _unique(tx: Transaction, fresh: Sequence[Label]) -> list[Label]:
    """New labels; one whose name exists becomes an alias of the existing label, and its children become children of that."""
    if not fresh:
        return []
    existing = labels_named(tx, {label.name for label in fresh})
    taken = {(label.kind, within(label.kind, label.parent_id), label.name): label.id for label in existing}
    above = Vocabulary(read_labels(tx, {label.parent_id for label in fresh if label.parent_id}))
    merged_into: dict[str, str] = {}
    unique = []
    for label in _parents_first(fresh):
        parent_id = label.parent_id and above.canonical(merged_into.get(label.parent_id, label.parent_id))
        placed = label if parent_id == label.parent_id else label.model_copy(update={"parent_id": parent_id})
        key = (placed.kind, within(placed.kind, placed.parent_id), placed.name)
        other = placed.id if placed.alias_of else taken.setdefault(key, placed.id)
        if other == placed.id:
            unique.append(placed)
        else:
            merged_into[placed.id] = other
            unique.append(placed.model_copy(update={"alias_of": other}))
    return unique


def _parents_first(fresh: Sequence[Label]) -> Iterator[Label]:
    waiting = {label.id: label for label in fresh}
    for label in fresh:
        chain: list[Label] = []
        ancestor: Label | None = label
        while ancestor is not None and waiting.pop(ancestor.id, None) is not None:
            chain.append(ancestor)
            ancestor = waiting.get(ancestor.parent_id or "")
        yield from reversed(chain)


def _taken(tx: Transaction, kind: str, parent_id: str | None, name: str, label_id: str) -> Label | None:
    """The other label that has this name where it must be unique."""
    for label in labels_named(tx, [name]):
        same_place = within(label.kind, label.parent_id) == within(kind, parent_id)
        if label.kind == kind and same_place and label.id != label_id:
            return label
    return None


# ------------------------------------------------------------------------------------------------------------- by hand


def vocabulary_of(tx: Transaction) -> Vocabulary:
    """The user's labels. Only those that active steps carry are suggested in error messages."""

    def used() -> set[str]:
        return vocabulary.with_wider(count_labels(tx))

    vocabulary = Vocabulary(read_labels(tx), used)
    return vocabulary


def rename_label(tx: Transaction, label: str, name: str, *, actor: str, reason: str) -> Operation:
    """Give a label another name, and pin it; see ``UserLabels.rename``. The old name becomes an alias."""
    vocabulary = vocabulary_of(tx)
    old = vocabulary.one(label)
    name = _checked_name(name)
    if name == old.name:
        raise InvalidInputError(f"label {old.id} has the name {name!r} already")
    _refuse_taken(tx, old.kind, old.parent_id, name, old.id)
    before = _state(tx, old)
    changes = [label_change(old.id, before, {**before, "name": name, "pinned": True})]
    if old.name.casefold() not in {name.casefold(), *(alias.casefold() for alias in vocabulary.aliases(old.id))}:
        alias = {**before, "alias_of": old.id, "made_from": old.id, "pinned": True}
        changes.append(label_change(new_id("label"), None, alias))
    return _correct(tx, "rename", changes, actor, reason)


def merge_labels(tx: Transaction, label: str, into: str, *, actor: str, reason: str) -> Operation:
    """Merge a label into another; see ``UserLabels.merge``."""
    vocabulary = vocabulary_of(tx)
    merged = vocabulary.one(label)
    other_kind = not vocabulary.find(into, merged.kind) and vocabulary.find(into)
    target = vocabulary.one(into, None if other_kind else merged.kind)
    if merged.kind != target.kind:
        raise InvalidInputError(
            f"label {merged.name!r} is of kind {merged.kind}, {target.name!r} of kind {target.kind}; "
            "only labels of the same kind can be merged"
        )
    if merged.id == target.id:
        raise InvalidInputError(f"{label!r} and {into!r} are the same label already, {vocabulary.path(merged.id)!r}")
    if merged.pinned:
        raise InvalidInputError(
            f"label {merged.name!r} is pinned and cannot be merged: merge {target.name!r} into it, or unpin it first"
        )
    if merged.id in vocabulary.above(target.id):
        raise InvalidInputError(
            f"label {merged.name!r} contains {vocabulary.path(target.id)!r} and cannot be merged into it: "
            "merge the other way round"
        )
    before = _state(tx, merged)
    return _correct(tx, "merge", [label_change(merged.id, before, {**before, "alias_of": target.id})], actor, reason)


def split_label(
    tx: Transaction, label: str, step_ids: Collection[str], name: str, *, actor: str, reason: str
) -> tuple[str, Operation]:
    """Give some of the steps that carry a label a new one instead; see ``UserLabels.split``. Returns its id."""
    vocabulary = vocabulary_of(tx)
    old = vocabulary.one(label)
    name = _checked_name(name)
    intents = _intents(tx, step_ids)
    same = set(vocabulary.same(old.id))
    without = sorted(step_id for step_id, intent in intents.items() if not same & set(intent.label_ids))
    if without:
        raise InvalidInputError(f"these steps do not carry the label {vocabulary.path(old.id)!r}: {', '.join(without)}")
    _refuse_taken(tx, old.kind, old.parent_id, name, "")
    new = Label(user=tx.user, kind=old.kind, name=name, parent_id=old.parent_id, pinned=True)
    state = {
        "kind": new.kind,
        "name": name,
        "parent_id": new.parent_id,
        "alias_of": None,
        "made_from": old.id,
        "pinned": True,
    }
    changes = [label_change(new.id, None, state)]
    for intent in intents.values():
        changes.append(intent_change(intent, _with_new(intent, same, new.id)))
    return new.id, _correct(tx, "split", changes, actor, reason)


def move_steps(
    tx: Transaction, step_ids: Collection[str], label: str, *, kind: LabelKind | None, actor: str, reason: str
) -> Operation:
    """Give steps a label; see ``UserLabels.move``."""
    vocabulary = vocabulary_of(tx)
    target = vocabulary.one(label, kind)
    changes = []
    for intent in _intents(tx, step_ids).values():
        if target.kind == "scope":
            after = replace(intent, scope_id=target.id)
        elif target.kind == "event":
            after = replace(intent, event_ids=(target.id,))
        else:
            after = replace(intent, entity_ids=tuple(dict.fromkeys((*intent.entity_ids, target.id))))
        after = replace(after, tier="user", provisional=False)
        if after.snapshot != intent.snapshot and not (intent.tier == "user" and _carries(vocabulary, intent, target)):
            changes.append(intent_change(intent, after))
    if not changes:
        carry = "the step carries" if len(set(step_ids)) == 1 else "the steps carry"
        raise InvalidInputError(
            f"nothing to move: {carry} {vocabulary.path(target.id)!r} already by an earlier correction"
        )
    return _correct(tx, "move", changes, actor, reason)


def _carries(vocabulary: Vocabulary, intent: StepIntent, label: Label) -> bool:
    """Whether moving the step to the label would change nothing, aliases resolved."""
    if label.kind == "scope":
        return vocabulary.canonical(intent.scope_id) == label.id
    if label.kind == "event":
        return {*map(vocabulary.canonical, intent.event_ids)} == {label.id}
    return label.id in map(vocabulary.canonical, intent.entity_ids)


def pin_label(tx: Transaction, label: str, pinned: bool, *, actor: str, reason: str) -> Operation:
    """Pin or unpin a label; see ``UserLabels.pin``."""
    old = vocabulary_of(tx).one(label)
    if old.pinned == pinned:
        raise InvalidInputError(f"label {old.name!r} is {'pinned already' if pinned else 'not pinned'}")
    before = _state(tx, old)
    return _correct(tx, "pin", [label_change(old.id, before, {**before, "pinned": pinned})], actor, reason)


def _correct(tx: Transaction, kind: LabelOperation, changes: Sequence[Change], actor: str, reason: str) -> Operation:
    operation = record_operation(tx, kind, changes, actor=actor, reason=reason)
    mark_corrected(tx)
    return operation


def _with_new(intent: StepIntent, same: set[str], new: str) -> StepIntent:
    """The intent with the new label in place of the old one, set by a person."""

    def replaced(label_ids: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(new if label_id in same else label_id for label_id in label_ids))

    return replace(
        intent,
        scope_id=new if intent.scope_id in same else intent.scope_id,
        event_ids=replaced(intent.event_ids),
        entity_ids=replaced(intent.entity_ids),
        tier="user",
        provisional=False,
    )


def _state(tx: Transaction, label: Label) -> dict[str, object]:
    state = label_state(tx, label.id)
    if state is None:
        raise NotFoundError(
            f"label {label.id} of user {tx.user!r} does not exist any more; `labels list` lists the labels"
        )
    return state


def _intents(tx: Transaction, step_ids: Collection[str]) -> dict[str, StepIntent]:
    """The intents of active steps.

    Raises:
        NotFoundError: with the steps that do not exist, or have no labels yet.
    """
    wanted = list(dict.fromkeys(step_ids))
    if not wanted:
        raise InvalidInputError("which steps? pass at least one step id")
    missing = sorted(set(wanted) - get_steps(tx, wanted).keys())
    if missing:
        raise NotFoundError(f"no step {', '.join(missing)} for user {tx.user!r}")
    intents = get_intents(tx, wanted)
    unlabelled = sorted(set(wanted) - intents.keys())
    if unlabelled:
        raise NotFoundError(f"these steps have no labels yet: {', '.join(unlabelled)} (is Settings.labels off?)")
    return {step_id: intents[step_id] for step_id in wanted}


def _checked_name(name: str) -> str:
    name = " ".join(name.split())
    if not name or len(name) > _NAME_LIMIT:
        raise InvalidInputError(f"a label's name has 1 to {_NAME_LIMIT} characters, not {len(name)}")
    if SEPARATOR in name:
        raise InvalidInputError(f"a label's name cannot contain {SEPARATOR!r}, which separates the names of a path")
    return name


def _refuse_taken(tx: Transaction, kind: str, parent_id: str | None, name: str, label_id: str) -> None:
    other = _taken(tx, kind, parent_id, name, label_id)
    if other is not None:
        raise InvalidInputError(
            f"there is a {kind} label {name!r} already ({other.id}): merge the two, or choose another name"
        )
