"""Whether indexes are behind is known without asking the ledger, and never wrongly: what was stored is found."""

from __future__ import annotations

from datetime import timedelta
from sqlite3 import Connection

import pytest
from sqlalchemy import event, update

from hexamem import UserMemory
from hexamem.memory_types import utc_now
from hexamem.stores.ledger.schema import users

BICYCLE, UMBRELLA = "The red bicycle is in the shed.", "The green umbrella is in the hall."


def texts(user: UserMemory, query: str) -> list[str]:
    """What the keyword index finds."""
    return [hit.text for hit in user.recall(query, strategy="bm25").hits]


def test_what_was_committed_when_its_call_was_interrupted_is_found(alice: UserMemory) -> None:
    alice.remember(BICYCLE)
    assert texts(alice, "bicycle") == texts(alice, "bicycle") == [BICYCLE]
    pool = alice.memory.ledger.engine.pool

    def interrupt(driver: Connection, _: object) -> None:
        if driver.execute("SELECT count(*) FROM steps").fetchone() == (2,):
            raise KeyboardInterrupt

    event.listen(pool, "checkin", interrupt)
    with pytest.raises(KeyboardInterrupt):
        alice.remember(UMBRELLA)
    event.remove(pool, "checkin", interrupt)
    assert UMBRELLA in texts(alice, "umbrella")


def test_one_who_is_registered_anew_by_a_clock_that_was_set_back_finds_what_is_stored(alice: UserMemory) -> None:
    alice.remember([BICYCLE, "It needs a new tyre.", "And a bell."])
    with alice.memory.ledger.write("alice") as tx:
        tx.connection.execute(update(users).values(created_at=utc_now() + timedelta(days=1)))
    assert BICYCLE in texts(alice, "bicycle")
    alice.remember("The tyre is here.")
    alice.erase()
    alice.remember(BICYCLE)
    assert texts(alice, "bicycle") == texts(alice, "bicycle") == [BICYCLE]
    alice.remember(UMBRELLA)
    assert UMBRELLA in texts(alice, "umbrella")
