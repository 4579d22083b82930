"""Neutral names for labels whose own names hold words that were forgotten or redacted: "Scope 3"."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from itertools import count

from sqlalchemy import select, update

from hexamem.memory_types.labels import Label, LabelKind
from hexamem.stores.ledger.labels import mark_corrected, read_labels
from hexamem.stores.ledger.ledger import Transaction
from hexamem.stores.ledger.pages import blank_pages_about
from hexamem.stores.ledger.schema import changes, labels
from hexamem.stores.vocabulary import Vocabulary

__all__ = ["free_neutral_name", "is_neutral_name", "make_names_neutral", "names_in_history"]

_NEUTRAL = re.compile(r"(Scope|Event|Entity) \d+")


def is_neutral_name(name: str) -> bool:
    """Whether a name was given here and so holds nobody's words."""
    return _NEUTRAL.fullmatch(name) is not None


def free_neutral_name(kind: LabelKind, taken: Collection[str]) -> str:
    """The neutral name with the lowest number that is not taken."""
    names = (f"{kind.capitalize()} {number}" for number in count(1))
    return next(name for name in names if name not in taken)


def names_in_history(tx: Transaction) -> dict[str, set[str]]:
    """The names that labels have in the history, by label."""
    found: dict[str, set[str]] = {}
    own = (changes.c.user_id == tx.user_id) & (changes.c.target == "label")
    for row in tx.all(select(changes.c.target_id, changes.c.before, changes.c.after).where(own)):
        states = (state for state in (row.before, row.after) if state is not None)
        found.setdefault(row.target_id, set()).update(state["name"] for state in states)
    return found


def make_names_neutral(
    tx: Transaction,
    label_ids: Collection[str],
    holds: Callable[[Label, str], bool],
) -> None:
    """Give labels neutral names, now and in the history. There is no way back to the names that they had.

    Args:
        label_ids: the labels that lose their names.
        holds: whether a name that a label has in the history may not stay there; then it is replaced by the label's
            present one.
    """
    vocabulary = Vocabulary(read_labels(tx))
    before = {one.id: one.name for one in vocabulary.by_id.values()}
    now = dict(before)
    for label_id in sorted(set(label_ids) & before.keys(), key=lambda one: (vocabulary.by_id[one].created_at, one)):
        label = vocabulary.by_id[label_id]
        now[label_id] = free_neutral_name(label.kind, set(now.values()))
        own = (labels.c.user_id == tx.user_id) & (labels.c.id == label_id)
        values = {"name": now[label_id], "change": tx.next_change()}
        tx.connection.execute(update(labels).where(own).values(**values))
        if label.kind == "scope":
            blank_pages_about(tx, vocabulary.covering(label_id), label.name)
    _rename_in_history(tx, vocabulary.by_id, before, now, holds)
    if now != before:
        mark_corrected(tx)


def _rename_in_history(
    tx: Transaction,
    known: Mapping[str, Label],
    before: Mapping[str, str],
    now: Mapping[str, str],
    holds: Callable[[Label, str], bool],
) -> None:
    own = (changes.c.user_id == tx.user_id) & (changes.c.target == "label")
    for row in tx.all(select(changes).where(own)):
        label = known.get(row.target_id)
        values = {}
        for side, state in (("before", row.before), ("after", row.after)):
            if state is None:
                continue
            name = state["name"]
            if label is None:
                continue
            lost = name == before[label.id] != now[label.id] or holds(label, name)
            if lost and name != now[label.id]:
                values[side] = {**state, "name": now[label.id]}
        if values:
            key = [column == row._mapping[column.name] for column in changes.primary_key]
            tx.connection.execute(update(changes).where(*key).values(**values))
