"""Names of labels from which words are redacted: labels get other names, and their history with them."""

from __future__ import annotations

import re
from collections.abc import Collection

from sqlalchemy import select, update

from hexamem.stores.ledger.hidden_names import free_name, named_by_people
from hexamem.stores.ledger.hidden_rows import drop_hidden, kept_names
from hexamem.stores.ledger.labels import read_labels
from hexamem.stores.ledger.ledger import Transaction
from hexamem.stores.ledger.schema import changes, labels
from hexamem.stores.ledger.wording import texts_of
from hexamem.stores.vocabulary import Vocabulary

__all__ = ["RedactedNames"]

_PART = re.compile(r"[^\W_]{3,}")
_NAMELESS = "Redacted"


class RedactedNames:
    """The labels that lose their names to one redaction.

    A name goes where the words stood in it. Where a step held the words, that of a scope goes too if it holds a part of
    them: it was cut from the text. What labelling named is named anew by what its steps say now; what a person called
    so keeps its name, with the reference in it. A name that is put away goes for good: what stands in for it stays.

    Args:
        words: what is redacted.
    """

    def __init__(self, tx: Transaction, words: str) -> None:
        self._tx = tx
        self._words = words.casefold()
        self._before: dict[str, str] = {}  # label → the name that it had
        self._now: dict[str, str] = {}  # label → the name instead
        self._forms: dict[str, set[str]] = {}  # label → how history may have the name that went
        self._first: dict[str, str] = {}  # label → how it has it
        self._kept: set[str] = set()  # labels whose names are put away with the words in them

    def take_out(self, label_id: str, before: str, after: str) -> str:
        """Note a name from which the words are taken out; returns it, or one like it where that is another label's."""
        self._first[label_id] = after
        return self._instead(label_id, before, after)

    def take_out_kept(self, label_id: str) -> None:
        """Note a label whose name is put away and held the words."""
        self._kept.add(label_id)

    def settle(self, *, in_part: bool) -> bool:
        """Name the labels, once everything else is rewritten; returns whether any was there to be named.

        Args:
            in_part: a step held the words, so what holds a part of them goes too.
        """
        kept = kept_names(self._tx)
        scopes = {one.id: one.name for one in read_labels(self._tx) if one.kind == "scope"}  # the others: schema words
        if in_part:
            for label_id, name in scopes.items():
                if self._holds(name):
                    self._first.setdefault(label_id, name)
                    self._write(label_id, self._instead(label_id, name, _NAMELESS))
            self._kept |= {one for one, name in kept.items() if one in scopes and self._holds(name)}
        self._name_anew()
        if self._kept:
            shown = {one.id: one.name for one in read_labels(self._tx)}
            for label_id in self._kept:
                drop_hidden(self._tx, "label", label_id)
                self._forms.setdefault(label_id, set()).add(kept[label_id])
                self._now[label_id] = shown[label_id]
        self._history(scopes if in_part else ())
        return bool(self._now)

    def _holds(self, name: str) -> bool:
        return any(part in self._words for part in _PART.findall(name.casefold()))

    def _instead(self, label_id: str, before: str, wanted: str) -> str:
        """A name that no label has; an alias may have any, and its history must still fit it."""
        self._before.setdefault(label_id, before)
        own = labels.c.user_id == self._tx.user_id
        held = self._tx.all(select(labels.c.id, labels.c.name, labels.c.alias_of).where(own))
        alias = any(row.id == label_id and row.alias_of for row in held)
        others = {row.name for row in held if row.id != label_id and not row.alias_of}
        number, free = 1, wanted
        while free in others and not alias:
            number += 1
            free = f"{wanted} ({number})"
        self._forms.setdefault(label_id, set()).update((self._first[label_id], free))
        self._now[label_id] = free
        return free

    def _write(self, label_id: str, name: str) -> None:
        own = (labels.c.user_id == self._tx.user_id) & (labels.c.id == label_id)
        self._tx.connection.execute(update(labels).where(own).values(name=name, change=self._tx.next_change()))

    def _name_anew(self) -> None:
        """Name scopes by what their steps say now."""
        tx, wording = self._tx, self._tx.wording
        if wording is None or not self._now:
            return
        vocabulary = Vocabulary(read_labels(tx))
        names = {one.id: one.name for one in vocabulary.by_id.values()}
        theirs = named_by_people(tx, self._first)
        for label_id in self._now:
            label = vocabulary.by_id[label_id]
            if label.kind != "scope" or label.alias_of or label_id in theirs:
                continue
            before = self._before[label_id]
            texts = texts_of(tx, vocabulary.same(label_id))
            clean = [text for text in texts if not self._holds(wording.stand_in("scope", before, [text]))]
            wanted = wording.stand_in("scope", before, clean)
            self._now[label_id] = names[label_id] = free_name(vocabulary, label, wanted, names)
            self._write(label_id, names[label_id])

    def _history(self, in_part: Collection[str]) -> None:
        """Let history have the names that labels have instead; of ``in_part`` also what holds a part of the words."""
        tx = self._tx
        own = (changes.c.user_id == tx.user_id) & (changes.c.target == "label")
        for row in tx.all(select(changes).where(own)):
            forms = self._forms.get(row.target_id, ())
            instead = self._now.get(row.target_id, _NAMELESS)
            values = {
                side: {**state, "name": instead}
                for side, state in (("before", row.before), ("after", row.after))
                if state is not None
                and (state["name"] in forms or (row.target_id in in_part and self._holds(state["name"])))
            }
            if values:
                key = [column == row._mapping[column.name] for column in changes.primary_key]
                tx.connection.execute(update(changes).where(*key).values(**values))
