"""Threads of a host that several users speak in: which of their messages another user's memory holds already.

The one question that reaches across users. It is asked of messages that the caller has in hand, and answered by their
ids alone: no row, word, name or number of another user leaves this module.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import bindparam, select

from hexamem.stores.ledger.ledger import Transaction, chunks
from hexamem.stores.ledger.prepared import Prepared
from hexamem.stores.ledger.schema import steps, users
from hexamem.stores.secrets import hidden_words

__all__ = ["held_by_others"]

_UNIQUE = 16
"""Characters of an id that is no other message's. Shorter ones are often counted within a conversation ("1", "m2")."""
_OTHERS = select(users.c.id).where(users.c.id != bindparam("user"))
_HELD = Prepared(
    select(steps.c.message_id, steps.c.content).where(
        steps.c.user_id.in_(_OTHERS),
        steps.c.thread_id == bindparam("thread"),
        steps.c.message_id.in_(bindparam("ids", expanding=True)),
    )
)


def held_by_others(tx: Transaction, thread_id: str, said: Mapping[str, str]) -> frozenset[str]:
    """The messages of a thread that the memory of somebody else holds: the same id, in a thread of the same name, with
    the same words. Secrets that were taken out of these count as equal to whatever stands in their place.

    Costs a search in an index for each of the other users, and nothing where no id is long enough to be unique.

    Args:
        said: message id → text, as the caller has them.
    """
    wanted = {one: " ".join(text.split()) for one, text in said.items() if len(one) >= _UNIQUE}
    found = set()
    for part in chunks(list(wanted)):
        for row in tx.all(_HELD, user=tx.user_id, thread=thread_id, ids=part):
            if hidden_words(wanted[row.message_id], " ".join(row.content.split())) is not None:
                found.add(row.message_id)
    return frozenset(found)
