"""Texts derived from steps, deleted in the transaction that forgets or changes these steps.

Derived are names and gists of labels, summaries and resolved texts of steps, and the texts of pages. A derived text is
stale if it was derived from the steps themselves, or contains a word that occurs in no other step. Labelling and paging
derive new texts from the remaining steps; a stale name is replaced by a neutral one ("Scope 3") until then. Undo does
not restore derived texts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from contextlib import closing
from itertools import count
from typing import Any, NamedTuple

from sqlalchemy import Row, Select, select, update

from hexamem.memory_types.labels import Label, LabelKind
from hexamem.stores.ledger.label_changes import touch_steps
from hexamem.stores.ledger.labels import get_intents, mark_corrected, read_labels
from hexamem.stores.ledger.ledger import Transaction, chunks
from hexamem.stores.ledger.pages import blank_pages
from hexamem.stores.ledger.schema import changes, intents, labelings, labels, operations, scopes, steps
from hexamem.stores.lexical.tokens import tokenize_document
from hexamem.stores.vocabulary import Vocabulary

__all__ = ["clear_derived", "free_neutral_name", "is_neutral_name", "step_contents"]

_NEUTRAL = re.compile(r"(Scope|Event|Entity) \d+")
_TEXT_COLUMNS = [steps.c[name] for name in ("id", "status", "name", "content", "index_text")]


def is_neutral_name(name: str) -> bool:
    """Whether a label's name is a neutral one, which contains no words of a step."""
    return _NEUTRAL.fullmatch(name) is not None


def free_neutral_name(kind: LabelKind, taken: Collection[str]) -> str:
    """The neutral name with the lowest number that is not taken."""
    return next(name for number in count(1) if (name := f"{kind.capitalize()} {number}") not in taken)


def step_contents(tx: Transaction, step_ids: Collection[str]) -> list[str]:
    """The contents, indexed texts and names of steps, forgotten ones too."""
    own = select(*_TEXT_COLUMNS).where(tx.own(steps))
    return [_text(row) for part in chunks(step_ids) for row in tx.all(own.where(steps.c.id.in_(part)))]


def clear_derived(
    tx: Transaction,
    step_ids: Collection[str],
    removed: Iterable[str],
    is_stale: Callable[[str], bool] = lambda text: False,
) -> bool:
    """Delete what was derived from words that steps no longer contain.

    Args:
        step_ids: steps that were just forgotten, or whose text was changed.
        removed: the texts that they had, or the words that were removed from them.
        is_stale: whether a text is stale even if other steps contain its words; this includes names given by a person.

    Returns:
        Whether ``is_stale`` is true of any derived text except those of pages.
    """
    return _Clearing(tx, frozenset(step_ids), is_stale).run(_words("\n".join(removed)))


class _PastName(NamedTuple):
    """The name of a label in a state in the history."""

    change: Row[Any]
    side: str
    name: str


class _Clearing:
    def __init__(self, tx: Transaction, step_ids: frozenset[str], is_stale: Callable[[str], bool]) -> None:
        self._tx, self._step_ids, self._is_stale = tx, step_ids, is_stale
        self._vocabulary = Vocabulary(read_labels(tx))
        carried = {label for intent in get_intents(tx, step_ids).values() for label in intent.label_ids}
        self._carried = self._vocabulary.with_wider(carried)
        self._lost_words: frozenset[str] = frozenset()

    def run(self, removed: frozenset[str]) -> bool:
        known = self._vocabulary.by_id
        history, by_people = self._history()
        derived = self._derived_steps()
        texts = [text for label in known.values() for text in (label.name, label.gist)]
        texts += [*(past.name for past in history), *derived.values()]
        candidates = removed & frozenset().union(*map(_words, texts))
        self._lost_words = candidates - self._in_active_steps(candidates)
        renamed = {
            label.id: label.name
            for label in known.values()
            if self._is_stale(label.name)
            or (
                label.id not in by_people
                and (self._is_stale_name(label, label.name) or self._is_named_by_forgotten(label))
            )
        }
        self._lost_words |= frozenset().union(*map(_words, renamed.values()))
        self._rename(renamed, history)
        gists = {label_id: label.gist for label_id, label in known.items() if label.gist}
        stale = [label_id for label_id, gist in gists.items() if self._is_carried(label_id) or self._stale(gist)]
        self._tx.delete(scopes, label_id=stale)
        resolved = self._resolved_from_steps()
        cleared = self._step_ids | resolved | {step_id for step_id, text in derived.items() if self._stale(text)}
        for part in chunks(cleared):
            own = self._tx.own(intents) & intents.c.step_id.in_(part)
            self._tx.connection.execute(
                update(intents).where(own).values(summary="", resolved_text=None, antecedents=None)
            )
        touch_steps(self._tx, cleared - self._step_ids)
        blank_pages(self._tx, self._step_ids | resolved, self._stale)
        mark_corrected(self._tx)
        return any(map(self._is_stale, texts))

    # ------------------------------------------------------------------ what is stale

    def _stale(self, text: str) -> bool:
        return self._is_stale(text) or not self._lost_words.isdisjoint(_words(text))

    def _is_stale_name(self, label: Label, name: str) -> bool:
        """Whether a name of a label, present or past, is stale."""
        return self._may_be_derived(label, name) and self._stale(name)

    def _may_be_derived(self, label: Label, name: str) -> bool:
        """Whether a name may be derived from steps."""
        return not is_neutral_name(name) and (label.kind == "scope" or name not in self._tx.fixed_names)

    def _is_named_by_forgotten(self, label: Label) -> bool:
        """Whether a model may have named a label after a forgotten step in words that occur in no active step."""
        if not self._is_carried(label.id) or not self._may_be_derived(label, label.name):
            return False
        own = self._tx.own(labelings) & (labelings.c.target == "step")
        same = labelings.c.label_id.in_(self._vocabulary.same(label.id))
        carried = select(labelings.c.target_id).where(own, same)
        first = self._tx.first(self._steps().where(steps.c.id.in_(carried)).limit(1))
        forgotten = first is not None and first.id in self._step_ids and first.status != "active"
        return forgotten and not self._in_active_steps(_words(label.name))

    def _is_carried(self, label_id: str) -> bool:
        return self._vocabulary.canonical(label_id) in self._carried

    def _in_active_steps(self, words: Collection[str]) -> set[str]:
        """Those of the words that occur in active steps; reading ends when all are found."""
        missing = set(words)
        if not missing:
            return missing
        active = self._steps().where(steps.c.status == "active")
        with closing(self._tx.connection.execute(active, execution_options={"yield_per": 500})) as rows:
            for text in map(_text, rows):
                lower = text.lower()
                if not text.isascii() or any(word in lower for word in missing):  # most contain none: a cheap test
                    missing -= _words(text)
                if not missing:
                    break
        return set(words) - missing

    def _steps(self) -> Select[Any]:
        return select(*_TEXT_COLUMNS).where(self._tx.own(steps)).order_by(steps.c.seq)

    # ------------------------------------------------------------------ texts of steps

    def _derived_steps(self) -> dict[str, str]:
        """The resolved text and the summary of each step that has one, by step."""
        rows = select(intents.c.step_id, intents.c.resolved_text, intents.c.summary).where(
            self._tx.own(intents), intents.c.resolved_text.is_not(None) | (intents.c.summary != "")
        )
        return {row.step_id: f"{row.resolved_text or ''}\n{row.summary or ''}" for row in self._tx.all(rows)}

    def _resolved_from_steps(self) -> set[str]:
        """The other steps whose references were resolved with words of these."""
        own = self._tx.own(intents) & intents.c.antecedents.is_not(None)
        rows = self._tx.all(select(intents.c.step_id, intents.c.antecedents).where(own))
        return {row.step_id for row in rows if not self._step_ids.isdisjoint(row.antecedents)}

    # ------------------------------------------------------------------ labels

    def _history(self) -> tuple[list[_PastName], set[str]]:
        """The names in the history of labels, and the labels whose present name was given by a person."""
        of_operation = (operations.c.user_id == changes.c.user_id) & (operations.c.id == changes.c.operation_id)
        rows = select(changes, operations.c.kind).join(operations, of_operation)
        known = self._vocabulary.by_id
        names: list[_PastName] = []
        by_people: set[str] = set()
        for row in self._tx.all(rows.where(self._tx.own(changes), changes.c.target == "label")):
            states = {"before": row.before, "after": row.after}
            names += [_PastName(row, side, state["name"]) for side, state in states.items() if state is not None]
            label = known.get(row.target_id)
            # The alias that a rename creates has the old name.
            by_person = row.kind == "split" or (row.kind == "rename" and row.before is not None)
            if by_person and label is not None and row.after is not None and row.after["name"] == label.name:
                by_people.add(label.id)
        return names, by_people

    def _rename(self, renamed: dict[str, str], history: Collection[_PastName]) -> None:
        """Give labels neutral names, now and in the history, where other stale names become the present one."""
        tx, known = self._tx, self._vocabulary.by_id
        present = {label.id: label.name for label in known.values()}
        for label_id in sorted(renamed, key=lambda label_id: (known[label_id].created_at, label_id)):
            present[label_id] = free_neutral_name(known[label_id].kind, set(present.values()))
            tx.update(labels, label_id, name=present[label_id], change=tx.next_change())
        for past in history:
            label = known.get(past.change.target_id)
            if label is not None and (past.name == renamed.get(label.id) or self._is_stale_name(label, past.name)):
                key = [column == past.change._mapping[column.name] for column in changes.primary_key]
                state = {**past.change._mapping[past.side], "name": present[label.id]}
                tx.connection.execute(update(changes).where(*key).values({past.side: state}))


def _words(text: str) -> frozenset[str]:
    """The words of a text in their indexed form."""
    return frozenset(tokenize_document(text).stemmed)


def _text(row: Row[Any]) -> str:
    return "\n".join(filter(None, (row.content, row.index_text, row.name)))
