"""The items of a user as entries of a LangGraph store, for hosts that read memories from one store.

The entries are derived from the ledger and updated by change number, as the indexes are. An entry is in the namespace
``("memories", user, type)`` under the id of its item. The change number up to which a store is written is an entry of
``("memories_mark", user)``, written together with the items.
"""

from __future__ import annotations

from typing import NamedTuple

from langgraph.store.base import BaseStore, Item, PutOp, SearchItem
from sqlalchemy import select

from hexamem.memory_types import MemoryItem
from hexamem.stores.ledger import Ledger, Transaction, changed_items
from hexamem.stores.ledger.schema import users

__all__ = ["update_mirror"]

_MARK, _KEY = "memories_mark", "ledger"
_PAGE = 500


class _State(NamedTuple):
    """The state of a store: the time at which the user was created in the ledger, and the last change number."""

    began: str
    change: int


def update_mirror(ledger: Ledger, store: BaseStore, user: str) -> int:
    """Put the changed items of a user into a store, and delete those that are no longer active.

    Returns:
        The number of entries put or deleted.
    """
    mark = _read(store.get(_mark_of(user), _KEY))
    with ledger.read(user) as tx:
        # The entries may be those of a user who was erased, or of another ledger.
        is_stale = mark is not None and (mark.began != _began(tx) or mark.change > tx.change)
    stale: list[SearchItem] = []
    while is_stale and (page := store.search(_namespace(user), limit=_PAGE, offset=len(stale))):
        stale += page
    operations = [PutOp(entry.namespace, entry.key, None) for entry in stale]
    with ledger.read(user) as tx:
        state = _State(_began(tx), tx.change)
        since = mark.change if mark is not None and not stale and mark.began == state.began else 0
        changed = changed_items(tx, since, limit=1 << 31) if tx.user_id and since < state.change else []
    operations += [_put(user, item) for _, item in changed]
    if operations or mark != state:
        operations.append(PutOp(_mark_of(user), _KEY, state._asdict(), index=False))
    store.batch(operations)
    return max(0, len(operations) - 1)


def _began(tx: Transaction) -> str:
    row = tx.first(select(users.c.created_at).where(users.c.id == tx.user_id)) if tx.user_id else None
    return row[0].isoformat() if row is not None else ""


def _read(entry: Item | None) -> _State | None:
    return _State(str(entry.value["began"]), int(entry.value["change"])) if entry is not None else None


def _put(user: str, item: MemoryItem) -> PutOp:
    if item.status != "active":
        return PutOp(_namespace(user, item.kind), item.id, None)
    times = {name: getattr(item, name) for name in ("valid_from", "valid_to", "created_at")}
    value = {
        "kind": item.kind,
        "text": item.text,
        "content": item.payload,
        "metadata": dict(item.metadata),
        "version": item.version,
        **{name: moment.isoformat() if moment is not None else None for name, moment in times.items()},
    }
    return PutOp(_namespace(user, item.kind), item.id, value)


def _namespace(user: str, *kind: str) -> tuple[str, ...]:
    # LangGraph's stores allow no dots in a namespace.
    return "memories", user.replace("%", "%25").replace(".", "%2E"), *kind


def _mark_of(user: str) -> tuple[str, ...]:
    return _MARK, *_namespace(user)[1:]
