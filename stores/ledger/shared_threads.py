"""Threads of a host with several users: which of their messages are stored for another user.

This is the only query across users. The caller passes messages that it has, and gets back some of their ids: no row,
text, name or number of another user leaves this module.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import bindparam, select

from hexamem.stores.ledger.ledger import Transaction
from hexamem.stores.ledger.prepared import Prepared, among
from hexamem.stores.ledger.schema import steps, users
from hexamem.stores.secrets import replaced_texts

__all__ = ["stored_for_others"]

_UNIQUE_LENGTH = 16
"""Characters from which an id is taken as unique. Shorter ones are often numbers within a conversation ("1", "m2")."""
_OTHER_USERS = select(users.c.id).where(users.c.id != bindparam("user"))
_OF_OTHERS = Prepared(
    select(steps.c.message_id, steps.c.content).where(
        steps.c.user_id.in_(_OTHER_USERS),
        steps.c.thread_id == bindparam("thread"),
        among(steps.c.message_id),
    )
)


def stored_for_others(tx: Transaction, thread_id: str, texts: Mapping[str, str]) -> frozenset[str]:
    """The messages of a thread that are stored for another user: with the same id, in a thread of the same name, with
    the same text. A reference to the vault in the stored text equals any text in its place.

    Costs an index lookup for each of the other users, and nothing where no id is long enough to be unique.

    Args:
        texts: message id → text.
    """
    wanted = {
        message_id: " ".join(text.split()) for message_id, text in texts.items() if len(message_id) >= _UNIQUE_LENGTH
    }
    if not wanted:
        return frozenset()
    with tx.over_all_users():
        rows = list(tx.all_of(_OF_OTHERS, wanted, thread=thread_id))
    return frozenset(
        row.message_id
        for row in rows
        if replaced_texts(wanted[row.message_id], " ".join(row.content.split())) is not None
    )
