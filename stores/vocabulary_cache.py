"""A cache of the vocabularies of the users who were read last, read again only when the ledger's labels changed."""

from __future__ import annotations

import threading
from collections import OrderedDict

from hexamem.stores.ledger import Transaction
from hexamem.stores.ledger.labels import LabelVersion, label_version, read_labels
from hexamem.stores.vocabulary import Vocabulary

__all__ = ["VocabularyCache"]

_USERS = 64


class VocabularyCache:
    """A home's vocabularies. Thread-safe.

    Each answer is what the transaction sees: the version of the labels is compared first, so the writes of another
    process show at once.

    Args:
        users: maximum number of users.
    """

    def __init__(self, users: int = _USERS) -> None:
        self._users = users
        self._entries: OrderedDict[str, tuple[LabelVersion, Vocabulary]] = OrderedDict()
        self._guard = threading.Lock()

    def of(self, tx: Transaction) -> Vocabulary:
        """All labels of the transaction's user. Do not change it: it is shared.

        The same object while no label changed or was added; the gists of its scopes may then be earlier ones.
        """
        if tx.writing:  # what it sees may be rolled back and its change number used again
            return Vocabulary(read_labels(tx))
        version = label_version(tx)
        with self._guard:
            entry = self._entries.get(tx.user)
        if entry is None or entry[0] != version:
            entry = version, Vocabulary(read_labels(tx))
        with self._guard:
            self._entries[tx.user] = entry
            self._entries.move_to_end(tx.user)
            while len(self._entries) > self._users:
                self._entries.popitem(last=False)
        return entry[1]

    def drop(self, user: str) -> None:
        """Remove the entry of a user."""
        with self._guard:
            self._entries.pop(user, None)
