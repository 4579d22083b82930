"""Vocabularies of the users who were asked for last, read anew only when the ledger says that labels changed."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Collection, Mapping
from typing import NamedTuple

from hexamem.memory_types.labels import Label
from hexamem.stores.ledger import Transaction
from hexamem.stores.ledger.labels import LabelVersion, label_mark, label_version, read_labels, read_new_labels
from hexamem.stores.vocabulary import Vocabulary

__all__ = ["KeptVocabularies"]

_USERS = 64


class _Kept(NamedTuple):
    version: LabelVersion
    labels: Mapping[str, Label]
    """By id, with all that they are aliases of and lie under."""
    whole: Vocabulary | None = None
    """Of all labels, where these are all."""
    mark: tuple[int, int] = (0, 0)
    """Of :func:`label_mark`, where these are all."""


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
        """All labels of the transaction's user. Not to be changed: others are given it too.

        The very one of before while no label changed or came; what scopes are about may then be what it was.
        """
        version = label_version(tx)
        kept = self._of(tx)
        if kept is not None and kept.whole is not None and kept.version == version:
            return kept.whole
        mark = label_mark(tx)
        whole = None if kept is None else _brought_up(tx, kept, version, mark)
        if whole is None:
            whole = Vocabulary(read_labels(tx))
        self._keep(tx, _Kept(version, whole.by_id, whole, mark))
        return whole

    def holding(self, tx: Transaction, label_ids: Collection[str]) -> Vocabulary:
        """At least these labels, with all that they are aliases of and lie under: enough to name them.

        Reads no more than these, and of these only what is new where labels came with a message; then the gists of
        scopes may be those of before.
        """
        if not label_ids:
            return Vocabulary(())
        version = label_version(tx)
        kept = self._of(tx)
        if kept is not None and kept.whole is not None and kept.version == version:
            return kept.whole
        known: Mapping[str, Label] = {}
        if kept is not None and _same_names(kept.version, version):
            known = kept.labels
        missing = [one for one in label_ids if one not in known]
        if missing:
            known = {**known, **{one.id: one for one in read_labels(tx, missing)}}
            self._keep(tx, _Kept(version, known))
        return Vocabulary(_with_all_above(known, label_ids))

    def drop(self, user: str) -> None:
        """Forget what is kept of a user."""
        with self._guard:
            self._kept.pop(user, None)

    def _of(self, tx: Transaction) -> _Kept | None:
        with self._guard:
            kept = None if tx.writing else self._kept.get(tx.user)
            if kept is not None:
                self._kept.move_to_end(tx.user)
            return kept

    def _keep(self, tx: Transaction, kept: _Kept) -> None:
        if tx.writing:  # what it sees may be rolled back, and its change number given to others
            return
        with self._guard:
            self._kept[tx.user] = kept
            self._kept.move_to_end(tx.user)
            while len(self._kept) > self._users:
                self._kept.popitem(last=False)


def _same_names(kept: LabelVersion, now: LabelVersion) -> bool:
    """Whether labels that were read then are called the same now, and lie where they did."""
    return (kept.registered, kept.named) == (now.registered, now.named)


def _brought_up(tx: Transaction, kept: _Kept, version: LabelVersion, mark: tuple[int, int]) -> Vocabulary | None:
    """All labels, where at most new ones came behind those that are kept; None where they are to be read anew."""
    (count, changed), whole = mark, kept.whole
    if whole is None or not _same_names(kept.version, version) or changed != kept.mark[1]:
        return None
    if count == kept.mark[0]:
        return whole
    new = read_new_labels(tx, whole.by_id)
    last = next(reversed(whole.by_id.values()), None)
    if len(whole.by_id) + len(new) != count or (last is not None and new[0].created_at < last.created_at):
        return None
    return whole.joined(new)


def _with_all_above(known: Mapping[str, Label], label_ids: Collection[str]) -> list[Label]:
    """These labels, as far as they are known, with all that they are aliases of and lie under."""
    found: dict[str, Label] = {}
    waiting = list(label_ids)
    while waiting:
        one = known.get(waiting.pop())
        if one is not None and one.id not in found:
            found[one.id] = one
            waiting += [other for other in (one.parent_id, one.alias_of) if other]
    return list(found.values())
