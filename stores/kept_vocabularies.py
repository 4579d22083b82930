"""Vocabularies of the users who were asked for last, read anew only when the ledger says that labels changed."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Collection
from typing import NamedTuple

from .ledger import Transaction
from .ledger.labels import LabelVersion, label_version, read_labels
from .vocabulary import Vocabulary

__all__ = ["KeptVocabularies"]

_USERS = 64


class _Kept(NamedTuple):
    version: LabelVersion
    whole: bool
    vocabulary: Vocabulary


class KeptVocabularies:
    """A home's vocabularies. Safe to use from several threads.

    Each answer is what the transaction sees: its version of the labels is compared first, so that what another process
    has written counts at once.

    Args:
        users: of how many users one is kept.
    """

    def __init__(self, users: int = _USERS) -> None:
        self._users = users
        self._kept: OrderedDict[str, _Kept] = OrderedDict()
        self._guard = threading.Lock()

    def whole(self, tx: Transaction) -> Vocabulary:
        """All labels of the transaction's user. Not to be changed: others are given it too."""
        version = label_version(tx)
        kept = self._of(tx, version)
        if kept is not None and kept.whole:
            return kept.vocabulary
        return self._keep(tx, _Kept(version, True, Vocabulary(read_labels(tx))))

    def holding(self, tx: Transaction, label_ids: Collection[str]) -> Vocabulary:
        """At least these labels, with all that they are aliases of and lie under: enough to name them.

        Reads no more than these where labels have just changed, as they do with each message.
        """
        if not label_ids:
            return Vocabulary(())
        version = label_version(tx)
        kept = self._of(tx, version)
        known = {} if kept is None else kept.vocabulary.by_id
        missing = [one for one in label_ids if one not in known]
        if kept is not None and (kept.whole or not missing):
            return kept.vocabulary
        found = {**known, **{one.id: one for one in read_labels(tx, missing)}}
        return self._keep(tx, _Kept(version, False, Vocabulary(found.values())))

    def drop(self, user: str) -> None:
        """Forget what is kept of a user."""
        with self._guard:
            self._kept.pop(user, None)

    def _of(self, tx: Transaction, version: LabelVersion) -> _Kept | None:
        with self._guard:
            kept = None if tx.writing else self._kept.get(tx.user)
            if kept is None or kept.version != version:
                return None
            self._kept.move_to_end(tx.user)
            return kept

    def _keep(self, tx: Transaction, kept: _Kept) -> Vocabulary:
        if tx.writing:  # what it sees may be rolled back, and its change number given to others
            return kept.vocabulary
        with self._guard:
            self._kept[tx.user] = kept
            self._kept.move_to_end(tx.user)
            while len(self._kept) > self._users:
                self._kept.popitem(last=False)
        return kept.vocabulary
