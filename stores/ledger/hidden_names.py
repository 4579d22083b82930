"""Names of labels, put away while the steps are forgotten whose words they are; meanwhile another stands in.

A label keeps its name where all words of it are said in a step that is there, or where a person gave it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from sqlalchemy import and_, select, update

from hexamem.memory_types.labels import Label
from hexamem.stores.ledger.hidden_rows import Hidden, drop_hidden, read_hidden, write_hidden
from hexamem.stores.ledger.labels import mark_corrected, read_labels
from hexamem.stores.ledger.ledger import Transaction, chunks
from hexamem.stores.ledger.pages import blank_pages_about
from hexamem.stores.ledger.schema import changes, labels, operations, steps
from hexamem.stores.ledger.wording import Said, Wording, active_texts, carrying_steps, texts_of, unsaid
from hexamem.stores.vocabulary import Vocabulary

__all__ = ["free_name", "hide_names", "named_by_people", "settle_names", "show_names"]


def hide_names(tx: Transaction, said: Said, vocabulary: Vocabulary, carried: Collection[str]) -> None:
    """Put away names made of words of steps that were forgotten.

    Args:
        said: what these steps say.
        carried: the labels that they carry, with the wider ones.
    """
    wording = tx.wording
    if wording is None:
        return
    words = said.all
    meant = [
        one.id
        for one in vocabulary.by_id.values()
        if vocabulary.canonical(one.id) in carried or not words.isdisjoint(wording.of_name(one.kind, one.name))
    ]
    _Naming(tx, wording, vocabulary, carried, said).settle(meant)


def show_names(tx: Transaction, step_ids: Collection[str], vocabulary: Vocabulary, carried: Collection[str]) -> None:
    """Give names back that steps which were restored held back, or say again.

    Args:
        step_ids: the restored steps.
        carried: the labels that they carry, with the wider ones.
    """
    kept = read_hidden(tx, "label")
    for row in kept.values():
        if not row.by.isdisjoint(step_ids):
            row.by.difference_update(step_ids)
            write_hidden(tx, row)
    if tx.wording is not None:
        meant = [one for one, row in kept.items() if vocabulary.canonical(one) in carried or not row.by]
        _Naming(tx, tx.wording, vocabulary, carried, Said([])).settle(meant)


def settle_names(tx: Transaction, label_ids: Collection[str], *, renamed: bool = False) -> None:
    """See that labels show no forgotten word, and none that is said again is kept back.

    Args:
        label_ids: those that a correction changed, or that new steps carry.
        renamed: they were just written as history has them: with names that may have been put away before.
    """
    kept = read_hidden(tx, "label")
    if tx.wording is None or not label_ids or not (kept or renamed):
        return
    vocabulary = Vocabulary(read_labels(tx))
    near = vocabulary.with_wider(label_ids)
    meant = {one for one in kept if vocabulary.canonical(one) in near}
    gone: set[str] = set()
    if renamed:
        for one in kept.keys() & set(label_ids):
            gone |= kept[one].by
            drop_hidden(tx, "label", one)
        for part in chunks({one for label in near for one in vocabulary.covering(label)}):
            gone.update(row.id for row in tx.all(carrying_steps(tx, part).where(steps.c.status != "active")))
        if not gone:
            return
        meant.update(label_ids)
    _Naming(tx, tx.wording, vocabulary, near, Said.of(tx, gone)).settle(meant)


@dataclass(slots=True)
class _Naming:
    """What is needed to name labels by what may be shown.

    Attributes:
        near: the labels that steps forgotten or restored just now carry, and those above them.
        gone: the forgotten steps that count; those that count for what is put away already are known.
    """

    tx: Transaction
    wording: Wording
    vocabulary: Vocabulary
    near: Collection[str]
    gone: Said

    def settle(self, label_ids: Iterable[str]) -> None:
        """Name these labels: wide ones before narrow ones, aliases after what they stand for."""
        tx, vocabulary = self.tx, self.vocabulary
        order = sorted(label_ids, key=lambda one: (vocabulary.canonical(one) != one, len(vocabulary.above(one)), one))
        kept = read_hidden(tx, "label") if order else {}
        names = {one.id: one.name for one in vocabulary.by_id.values()}
        changed = False
        pinned = [one for one in order if vocabulary.by_id[one].pinned]
        by_person = named_by_people(tx, {one: str(kept[one].kept) if one in kept else names[one] for one in pinned})
        for label_id in order:
            label = vocabulary.by_id[label_id]
            row = kept.get(label_id)
            name = str(row.kept) if row is not None else label.name
            by = set[str]() if label_id in by_person else self._held_back(label, name, row.by if row else ())
            if by:
                write_hidden(tx, Hidden("label", label_id, by, name))
                shown = self._stand_in(label, name, names)
            elif row is not None:
                drop_hidden(tx, "label", label_id)
                shown = name
            else:
                continue
            shown = free_name(vocabulary, label, shown, names)
            if shown != names[label_id]:
                self._rename(label, names[label_id], shown)
                names[label_id] = shown
                changed = True
        if changed:
            mark_corrected(tx)  # whoever keeps labels in memory keeps the names too

    def _held_back(self, label: Label, name: str, known: Collection[str]) -> set[str]:
        """The forgotten steps for which a label may not have its name; none where all its words are said elsewhere."""
        tx, wording, vocabulary, gone = self.tx, self.wording, self.vocabulary, self.gone
        words = wording.of_name(label.kind, name)
        if not words:
            return set()
        own = vocabulary.canonical(label.id)
        left = unsaid(wording, words, active_texts(tx, vocabulary.covering(own)))
        if not left:
            return set()
        by = set(known)
        if own in self.near:
            by |= gone.saying(left)
            if not by and left == words and (first := _first_step(tx, vocabulary.same(own))) in gone.words:
                by.add(first)  # in no words of theirs, but of nobody else's either: a model's
        elif (found := gone.saying(left)) and unsaid(wording, left & gone.all, active_texts(tx, None)):
            by |= found
        return by

    def _stand_in(self, label: Label, name: str, names: Mapping[str, str]) -> str:
        own = self.vocabulary.canonical(label.id)
        if own != label.id:
            return names.get(own, label.name)  # an alias that is called as the label is none
        above = self.vocabulary.parent(own)
        texts = texts_of(self.tx, self.vocabulary.same(own))
        return self.wording.stand_in(label.kind, name, texts, names.get(above) if above else None)

    def _rename(self, label: Label, old: str, new: str) -> None:
        tx = self.tx
        own = (labels.c.user_id == tx.user_id) & (labels.c.id == label.id)
        tx.connection.execute(update(labels).where(own).values(name=new, change=tx.next_change()))
        if label.kind == "scope":
            blank_pages_about(tx, self.vocabulary.covering(label.id), old)


def _first_step(tx: Transaction, label_ids: Collection[str]) -> str:
    row = tx.first(carrying_steps(tx, label_ids).limit(1))
    return "" if row is None else str(row.id)


def named_by_people(tx: Transaction, names: Mapping[str, str]) -> set[str]:
    """The labels to whom a person gave their name: that is the person's word, not a step's.

    Args:
        names: label id → its name.
    """
    found = set()
    for part in chunks(names):
        rows = tx.all(
            select(changes.c.target_id, changes.c.before, changes.c.after, operations.c.kind)
            .join(
                operations, and_(operations.c.user_id == changes.c.user_id, operations.c.id == changes.c.operation_id)
            )
            .where(
                changes.c.user_id == tx.user_id,
                changes.c.target == "label",
                changes.c.target_id.in_(part),
                operations.c.kind.in_(("rename", "split")),
            )
        )
        for row in rows:
            # The alias that a renaming leaves has the name that was there before.
            if row.after and row.after["name"] == names[row.target_id] and (row.before or row.kind == "split"):
                found.add(row.target_id)
    return found


def free_name(vocabulary: Vocabulary, label: Label, wanted: str, names: Mapping[str, str]) -> str:
    """The name, with a number where another label has it in the same place."""
    if vocabulary.canonical(label.id) != label.id:
        return wanted
    taken = {
        names[other.id]
        for other in vocabulary.by_id.values()
        if other.id != label.id
        and other.kind == label.kind
        and other.alias_of is None
        and (label.kind != "scope" or (other.parent_id or "") == (label.parent_id or ""))
    }
    number, free = 1, wanted
    while free in taken:
        number += 1
        free = f"{wanted} ({number})"
    return free
