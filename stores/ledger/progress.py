"""How far each index of a home has read the ledger, and the work that all homes of a ledger share, such as labelling."""

from __future__ import annotations

from sqlalchemy import bindparam, insert, select, update

from hexamem.stores.ledger.ledger import Transaction
from hexamem.stores.ledger.prepared import Prepared, of_user
from hexamem.stores.ledger.schema import projections

__all__ = ["SHARED", "read_projections", "set_projection"]

SHARED = ""
"""The home of what all homes on a ledger share: labels and pages are in the ledger itself."""


_READ = Prepared(
    select(projections.c.name, projections.c.change).where(
        of_user(projections), projections.c.home == bindparam("home")
    )
)
_UPDATE = Prepared(
    update(projections)
    .where(of_user(projections), projections.c.home == bindparam("of_home"), projections.c.name == bindparam("index"))
    .values(change=bindparam("reached"))
)
_INSERT = Prepared(
    insert(projections).values(
        user_id=bindparam("user"), home=bindparam("of_home"), name=bindparam("index"), change=bindparam("reached")
    )
)


def read_projections(tx: Transaction, home: str) -> dict[str, int]:
    """The progress of each index of a home: name → the last change number that it contains."""
    return {row.name: row.change for row in tx.all(_READ, user=tx.user_id, home=home)}


def set_projection(tx: Transaction, home: str, name: str, change: int) -> None:
    """Store the progress of an index of a home."""
    if tx.run(_UPDATE, user=tx.user_id, of_home=home, index=name, reached=change) == 0:
        tx.run(_INSERT, user=tx.user_id, of_home=home, index=name, reached=change)
