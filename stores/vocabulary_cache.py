"""A cache of the vocabularies of the users who were read last, read again only when the ledger's labels changed."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Collection, Mapping
from typing import NamedTuple

from hexamem.memory_types.labels import Label
from hexamem.stores.ledger import Transaction
from hexamem.stores.ledger.labels import LabelVersion, label_mark, label_version, read_labels, read_new_labels
from hexamem.stores.vocabulary import Vocabulary

__all__ = ["VocabularyCache"]

_USERS = 64


class _Entry(NamedTuple):
    version: LabelVersion
    labels: Mapping[str, Label]
    """By id, with all labels that they are aliases or children of."""
    whole: Vocabulary | None = None
    """Of all labels of the user; None when ``labels`` are a part."""
    mark: tuple[int, int] = (0, 0)
    """Of :func:`label_mark`, with ``whole``."""


class VocabularyCache:
    """A home's vocabularies. Thread-safe.

    Each answer is what the transaction sees: the version of the labels is compared first, so the writes of another
    process show at once.

    Args:
        users: maximum number of users.
    """

    def __init__(self, users: int = _USERS) -> None:
        self._users = users
        self._entries: OrderedDict[str, _Entry] = OrderedDict()
        self._guard = threading.Lock()

    def whole(self, tx: Transaction) -> Vocabulary:
        """All labels of the transaction's user. Do not change it: it is shared.

        The same object while no label changed or was added; the gists of its scopes may then be earlier ones.
        """
        version = label_version(tx)
        entry = self._entry_of(tx)
        if entry is not None and entry.whole is not None and entry.version == version:
            return entry.whole
        mark = label_mark(tx)
        whole = None if entry is None else _extended(tx, entry, version, mark)
        if whole is None:
            whole = Vocabulary(read_labels(tx))
        self._store(tx, _Entry(version, whole.by_id, whole, mark))
        return whole

    def holding(self, tx: Transaction, label_ids: Collection[str]) -> Vocabulary:
        """At least these labels, with all labels that they are aliases or children of: enough to name them.

        Reads only labels that are not cached; the gists of cached scopes may be earlier ones.
        """
        if not label_ids:
            return Vocabulary(())
        version = label_version(tx)
        entry = self._entry_of(tx)
        if entry is not None and entry.whole is not None and entry.version == version:
            return entry.whole
        known: Mapping[str, Label] = {}
        if entry is not None and _same_names(entry.version, version):
            known = entry.labels
        missing = [label_id for label_id in label_ids if label_id not in known]
        if missing:
            known = {**known, **{label.id: label for label in read_labels(tx, missing)}}
            self._store(tx, _Entry(version, known))
        return Vocabulary(_with_ancestors(known, label_ids))

    def drop(self, user: str) -> None:
        """Remove the entry of a user."""
        with self._guard:
            self._entries.pop(user, None)

    def _entry_of(self, tx: Transaction) -> _Entry | None:
        with self._guard:
            entry = None if tx.writing else self._entries.get(tx.user)
            if entry is not None:
                self._entries.move_to_end(tx.user)
            return entry

    def _store(self, tx: Transaction, entry: _Entry) -> None:
        if tx.writing:  # what it sees may be rolled back and its change number used again
            return
        with self._guard:
            self._entries[tx.user] = entry
            self._entries.move_to_end(tx.user)
            while len(self._entries) > self._users:
                self._entries.popitem(last=False)


def _same_names(entry: LabelVersion, now: LabelVersion) -> bool:
    """Whether no label was renamed or moved between two versions."""
    return (entry.registered, entry.named) == (now.registered, now.named)


def _extended(tx: Transaction, entry: _Entry, version: LabelVersion, mark: tuple[int, int]) -> Vocabulary | None:
    """All labels, when only new ones were added after the cached ones; None when all must be read again."""
    (count, changed), whole = mark, entry.whole
    if whole is None or not _same_names(entry.version, version) or changed != entry.mark[1]:
        return None
    if count == entry.mark[0]:
        return whole
    new = read_new_labels(tx, whole.by_id)
    last = next(reversed(whole.by_id.values()), None)
    if len(whole.by_id) + len(new) != count or (last is not None and new[0].created_at < last.created_at):
        return None
    return whole.joined(new)


def _with_ancestors(known: Mapping[str, Label], label_ids: Collection[str]) -> list[Label]:
    """These labels, as far as they are known, with all that they are aliases or children of."""
    labels: dict[str, Label] = {}
    waiting = list(label_ids)
    while waiting:
        label = known.get(waiting.pop())
        if label is not None and label.id not in labels:
            labels[label.id] = label
            waiting += [other for other in (label.parent_id, label.alias_of) if other]
    return list(labels.values())
