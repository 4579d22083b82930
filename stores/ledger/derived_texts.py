"""Texts derived from steps, deleted in the transaction in which the words of these steps go.

Derived are names and gists of labels, summaries and resolved texts of steps, and the texts of pages. A derived text is
stale if it was made of the steps themselves, or holds a word that they alone said. Labelling and paging derive new texts
from what is left; a stale name becomes a neutral one ("Scope 3") until then. Undo brings no old text back.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from contextlib import closing
from itertools import count
from typing import Any, NamedTuple

from sqlalchemy import Row, Select, delete, select, update

from hexamem.memory_types.labels import Label, LabelKind
from hexamem.stores.ledger.label_changes import touch_steps
from hexamem.stores.ledger.labels import carried_labels, mark_corrected, read_labels
from hexamem.stores.ledger.ledger import Transaction, chunks
from hexamem.stores.ledger.pages import blank_pages
from hexamem.stores.ledger.schema import changes, intents, labelings, labels, operations, scopes, steps
from hexamem.stores.lexical.tokens import tokenize_document
from hexamem.stores.vocabulary import Vocabulary

__all__ = ["clear_derived", "free_neutral_name", "is_neutral_name", "said_texts"]

_NEUTRAL = re.compile(r"(Scope|Event|Entity) \d+")
_SAID = [steps.c[name] for name in ("id", "status", "name", "content", "index_text")]


def is_neutral_name(name: str) -> bool:
    """Whether a label's name was made here, so that it holds no words of a step."""
    return _NEUTRAL.fullmatch(name) is not None


def free_neutral_name(kind: LabelKind, taken: Collection[str]) -> str:
    """The neutral name with the lowest number that is not taken."""
    return next(name for number in count(1) if (name := f"{kind.capitalize()} {number}") not in taken)


def said_texts(tx: Transaction, step_ids: Collection[str]) -> list[str]:
    """All that steps say and are found by, forgotten ones too."""
    own = select(*_SAID).where(steps.c.user_id == tx.user_id)
    return [_said(row) for part in chunks(step_ids) for row in tx.all(own.where(steps.c.id.in_(part)))]


def clear_derived(
    tx: Transaction,
    step_ids: Collection[str],
    gone: Iterable[str],
    holds: Callable[[str], bool] = lambda text: False,
) -> bool:
    """Delete what was derived from words that steps do not say any more.

    Args:
        step_ids: steps that were just forgotten, or whose text was changed.
        gone: the texts that they had, or the words that were taken out of them.
        holds: whether a text is stale whatever else says its words; a name that a person gave goes then, too.

    Returns:
        Whether ``holds`` is true of any derived text, those of pages apart.
    """
    return _Clearing(tx, frozenset(step_ids), holds).run(_words("\n".join(gone)))


class _Named(NamedTuple):
    """A state of a label in the history."""

    change: Row[Any]
    side: str
    name: str


class _Clearing:
    def __init__(self, tx: Transaction, step_ids: frozenset[str], holds: Callable[[str], bool]) -> None:
        self._tx, self._step_ids, self._holds = tx, step_ids, holds
        self._vocabulary = Vocabulary(read_labels(tx))
        carried = {label for ids in carried_labels(tx, step_ids).values() for label in ids}
        self._carried = self._vocabulary.with_wider(carried)
        self._lost: frozenset[str] = frozenset()

    def run(self, gone: frozenset[str]) -> bool:
        known = self._vocabulary.by_id
        history, by_people = self._history()
        derived = self._derived_steps()
        texts = [text for one in known.values() for text in (one.name, one.gist)]
        texts += [*(one.name for one in history), *derived.values()]
        candidates = gone & frozenset().union(*map(_words, texts))
        self._lost = candidates - self._said(candidates)
        renamed = {
            one.id: one.name
            for one in known.values()
            if self._holds(one.name) or (one.id not in by_people and (self._names(one, one.name) or self._own(one)))
        }
        self._lost |= frozenset().union(*map(_words, renamed.values()))
        self._rename(renamed, history)
        self._drop_gists([i for i, one in known.items() if one.gist and (self._of_steps(i) or self._stale(one.gist))])
        meant = self._resolved_by_them()
        cleared = self._step_ids | meant | {step_id for step_id, text in derived.items() if self._stale(text)}
        for part in chunks(cleared):
            own = (intents.c.user_id == self._tx.user_id) & intents.c.step_id.in_(part)
            self._tx.connection.execute(
                update(intents).where(own).values(summary="", resolved_text=None, antecedents=None)
            )
        touch_steps(self._tx, cleared - self._step_ids)
        blank_pages(self._tx, self._step_ids | meant, self._stale)
        mark_corrected(self._tx)
        return any(map(self._holds, texts))

    # ------------------------------------------------------------------ what is stale

    def _stale(self, text: str) -> bool:
        return self._holds(text) or not self._lost.isdisjoint(_words(text))

    def _names(self, label: Label, name: str) -> bool:
        """Whether a name of a label, now or in the history, is stale."""
        return self._free(label, name) and self._stale(name)

    def _free(self, label: Label, name: str) -> bool:
        """Whether a name may come from what steps say."""
        return not is_neutral_name(name) and (label.kind == "scope" or name not in self._tx.fixed_names)

    def _own(self, label: Label) -> bool:
        """Whether a label was named by a forgotten step in words of its own, as a model does: nobody says any of them."""
        if not self._of_steps(label.id) or not self._free(label, label.name):
            return False
        own = (labelings.c.user_id == self._tx.user_id) & (labelings.c.target == "step")
        same = labelings.c.label_id.in_(self._vocabulary.same(label.id))
        carried = select(labelings.c.target_id).where(own, same)
        first = self._tx.first(self._steps().where(steps.c.id.in_(carried)).limit(1))
        forgotten = first is not None and first.id in self._step_ids and first.status != "active"
        return forgotten and not self._said(_words(label.name))

    def _of_steps(self, label_id: str) -> bool:
        return self._vocabulary.canonical(label_id) in self._carried

    def _said(self, words: Collection[str]) -> set[str]:
        """Those of the words that active steps say; these are read no further than needed."""
        left = set(words)
        if not left:
            return left
        active = self._steps().where(steps.c.status == "active")
        with closing(self._tx.connection.execute(active, execution_options={"yield_per": 500})) as rows:
            for text in map(_said, rows):
                lower = text.lower()
                if not text.isascii() or any(word in lower for word in left):  # most hold none: that is seen at once
                    left -= _words(text)
                if not left:
                    break
        return set(words) - left

    def _steps(self) -> Select[Any]:
        return select(*_SAID).where(steps.c.user_id == self._tx.user_id).order_by(steps.c.seq)

    # ------------------------------------------------------------------ texts of steps

    def _derived_steps(self) -> dict[str, str]:
        """What labelling put into words of other steps, by step."""
        rows = select(intents.c.step_id, intents.c.resolved_text, intents.c.summary).where(
            intents.c.user_id == self._tx.user_id, intents.c.resolved_text.is_not(None) | (intents.c.summary != "")
        )
        return {row.step_id: f"{row.resolved_text or ''}\n{row.summary or ''}" for row in self._tx.all(rows)}

    def _resolved_by_them(self) -> set[str]:
        """The other steps whose references were resolved in the words of these."""
        own = (intents.c.user_id == self._tx.user_id) & intents.c.antecedents.is_not(None)
        rows = self._tx.all(select(intents.c.step_id, intents.c.antecedents).where(own))
        return {row.step_id for row in rows if not self._step_ids.isdisjoint(row.antecedents)}

    # ------------------------------------------------------------------ labels

    def _drop_gists(self, label_ids: Collection[str]) -> None:
        for part in chunks(label_ids):
            own = (scopes.c.user_id == self._tx.user_id) & scopes.c.label_id.in_(part)
            self._tx.connection.execute(delete(scopes).where(own))

    def _history(self) -> tuple[list[_Named], set[str]]:
        """The names in the history of labels, and the labels that have the name which a person gave them."""
        of_operation = (operations.c.user_id == changes.c.user_id) & (operations.c.id == changes.c.operation_id)
        rows = select(changes, operations.c.kind).join(operations, of_operation)
        known = self._vocabulary.by_id
        names: list[_Named] = []
        by_people: set[str] = set()
        for row in self._tx.all(rows.where(changes.c.user_id == self._tx.user_id, changes.c.target == "label")):
            states = {"before": row.before, "after": row.after}
            names += [_Named(row, side, state["name"]) for side, state in states.items() if state is not None]
            label = known.get(row.target_id)
            # The alias that a renaming leaves has the name that was there before.
            given = row.kind == "split" or (row.kind == "rename" and row.before is not None)
            if given and label is not None and row.after is not None and row.after["name"] == label.name:
                by_people.add(label.id)
        return names, by_people

    def _rename(self, renamed: dict[str, str], history: Collection[_Named]) -> None:
        """Give labels neutral names, now and in the history; another stale name there becomes the present one."""
        tx, known = self._tx, self._vocabulary.by_id
        now = {one.id: one.name for one in known.values()}
        for label_id in sorted(renamed, key=lambda one: (known[one].created_at, one)):
            now[label_id] = free_neutral_name(known[label_id].kind, set(now.values()))
            own = (labels.c.user_id == tx.user_id) & (labels.c.id == label_id)
            values = {"name": now[label_id], "change": tx.next_change()}
            tx.connection.execute(update(labels).where(own).values(**values))
        for one in history:
            label = known.get(one.change.target_id)
            if label is not None and (one.name == renamed.get(label.id) or self._names(label, one.name)):
                key = [column == one.change._mapping[column.name] for column in changes.primary_key]
                state = {**one.change._mapping[one.side], "name": now[label.id]}
                tx.connection.execute(update(changes).where(*key).values({one.side: state}))


def _words(text: str) -> frozenset[str]:
    """The words of a text in the form in which the index compares them."""
    return frozenset(tokenize_document(text).stemmed)


def _said(row: Row[Any]) -> str:
    return "\n".join(filter(None, (row.content, row.index_text, row.name)))
