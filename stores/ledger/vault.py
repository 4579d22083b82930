"""Secrets in the ledger: ciphertext only, found again by a keyed digest, shown only with a reason that is kept."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Row, bindparam, func, insert, select

from hexamem.errors import InvalidInputError, NotFoundError
from hexamem.memory_types import Record, Sensitivity, new_id, utc_now
from hexamem.stores.ledger.ledger import Transaction, chunks
from hexamem.stores.ledger.prepared import Prepared
from hexamem.stores.ledger.schema import reveals, secrets
from hexamem.stores.secrets import Cipher

__all__ = [
    "NewSecret",
    "Reveal",
    "SecretRow",
    "audit_export",
    "count_secrets",
    "known_secrets",
    "list_secrets",
    "new_secret",
    "read_reveals",
    "reveal_secret",
    "store_new_secrets",
    "store_secret",
]


class SecretRow(Record):
    """What may be known of a secret without revealing it."""

    id: str
    kind: str
    caption: str
    sensitivity: Sensitivity
    created_at: datetime


class Reveal(Record):
    """One entry of the audit: who saw which secret, when and why."""

    secret_id: str
    actor: str
    reason: str
    created_at: datetime


def _context(tx: Transaction, secret_id: str) -> str:
    return f"{tx.user}/{secret_id}"


def store_secret(
    tx: Transaction, cipher: Cipher, plaintext: str, *, kind: str, caption: str, sensitivity: Sensitivity
) -> str:
    """Encrypt and keep a secret; returns its id. The same words of the same user keep the id they have.

    Raises:
        InvalidInputError: for an empty secret.
    """
    if not plaintext:
        raise InvalidInputError(f"the secret {caption!r} is empty; there is nothing to keep")
    digest = cipher.digest(plaintext, context=tx.user).hex()
    known = tx.first(select(secrets.c.id).where(secrets.c.user_id == tx.user_id, secrets.c.digest == digest))
    if known is not None:
        return str(known.id)
    secret_id = new_id("vault")
    tx.connection.execute(
        insert(secrets).values(
            user_id=tx.user_id,
            id=secret_id,
            kind=kind,
            caption=caption,
            sensitivity=sensitivity,
            ciphertext=cipher.encrypt(plaintext, context=_context(tx, secret_id)),
            digest=digest,
            created_at=utc_now(),
        )
    )
    return secret_id


class NewSecret(NamedTuple):
    """A secret made ready to be kept, before the transaction that keeps it."""

    id: str
    digest: str
    values: dict[str, Any]


def new_secret(
    cipher: Cipher, user: str, plaintext: str, *, kind: str, caption: str, sensitivity: Sensitivity
) -> NewSecret:
    """Encrypt a secret under an id of its own, to be written by :func:`store_new_secrets`."""
    secret_id = new_id("vault")
    digest = cipher.digest(plaintext, context=user).hex()
    ciphertext = cipher.encrypt(plaintext, context=f"{user}/{secret_id}")
    described = {"kind": kind, "caption": caption, "sensitivity": sensitivity}
    return NewSecret(secret_id, digest, {"id": secret_id, **described, "ciphertext": ciphertext, "digest": digest})


_BY_DIGEST = Prepared(
    select(secrets.c.digest, secrets.c.id).where(
        secrets.c.user_id == bindparam("user"), secrets.c.digest.in_(bindparam("digests", expanding=True))
    )
)


def known_secrets(tx: Transaction, digests: Collection[str]) -> dict[str, str]:
    """Which of these secrets the user keeps already: digest → id."""
    found: dict[str, str] = {}
    for part in chunks(digests):
        found.update({row.digest: row.id for row in tx.all(_BY_DIGEST, user=tx.user_id, digests=part)})
    return found


_HELD = Prepared(select(func.count()).select_from(secrets).where(secrets.c.user_id == bindparam("user")))


def count_secrets(tx: Transaction) -> int:
    """How many secrets the user keeps."""
    row = tx.first(_HELD, user=tx.user_id)
    return int(row[0]) if row is not None else 0


def store_new_secrets(tx: Transaction, new: Sequence[NewSecret]) -> None:
    """Write secrets of which the user keeps none yet."""
    if new:
        now = utc_now()
        rows = [{"user_id": tx.user_id, **one.values, "created_at": now} for one in new]
        tx.connection.execute(insert(secrets), rows)


def _row(tx: Transaction, secret_id: str) -> Row[Any]:
    row = tx.first(select(secrets).where(secrets.c.user_id == tx.user_id, secrets.c.id == secret_id))
    if row is None:
        raise NotFoundError(f"no secret {secret_id!r} for user {tx.user!r}; `items --kind vault` lists what there is")
    return row


def reveal_secret(tx: Transaction, cipher: Cipher, secret_id: str, *, reason: str, actor: str) -> str:
    """The plaintext, after writing who asked and why.

    Raises:
        NotFoundError: if this user has no such secret.
        InvalidInputError: for a missing reason.
        SecretKeyError: if the vault's key is not the one that encrypted it.
    """
    if not isinstance(reason, str) or not reason.strip():
        raise InvalidInputError(f"reason = {reason!r}: say why the secret is needed; it is kept in the audit")
    row = _row(tx, secret_id)
    plaintext = cipher.decrypt(row.ciphertext, context=_context(tx, secret_id))
    tx.connection.execute(
        insert(reveals).values(
            user_id=tx.user_id,
            id=new_id("reveal"),
            secret_id=secret_id,
            actor=actor,
            reason=reason,
            created_at=utc_now(),
        )
    )
    return plaintext


def plain_secrets(tx: Transaction, cipher: Cipher) -> Iterator[tuple[Row[Any], str]]:
    """Every secret with its plaintext, for an export that the owner asked to hold them.

    It only reads: the export is shown to nobody before :func:`audit_export` has written down what it reveals.
    """
    for row in tx.all(select(secrets).where(secrets.c.user_id == tx.user_id).order_by(secrets.c.id)):
        yield row, cipher.decrypt(row.ciphertext, context=_context(tx, row.id))


def audit_export(tx: Transaction, secret_ids: Collection[str]) -> None:
    """Write to the audit that an export reveals these secrets, those that are still kept."""
    now = utc_now()
    for part in chunks(secret_ids):
        own = (secrets.c.user_id == tx.user_id) & secrets.c.id.in_(part)
        said = {"actor": "export", "reason": "export with secrets", "created_at": now}
        rows = [
            {"user_id": tx.user_id, "id": new_id("reveal"), "secret_id": row.id, **said}
            for row in tx.all(select(secrets.c.id).where(own).order_by(secrets.c.id))
        ]
        if rows:
            tx.connection.execute(insert(reveals), rows)


def restore_secret(tx: Transaction, cipher: Cipher, row: SecretRow, plaintext: str) -> bool:
    """Take a secret in under the id it had, encrypted anew for this user; False where that id is there already.

    The user may keep the same words under another id: both stay, since texts refer to either.
    """
    if tx.first(select(secrets.c.id).where(secrets.c.user_id == tx.user_id, secrets.c.id == row.id)) is not None:
        return False
    digest = cipher.digest(plaintext, context=tx.user).hex()
    if tx.first(select(secrets.c.id).where(secrets.c.user_id == tx.user_id, secrets.c.digest == digest)) is not None:
        digest = cipher.digest(plaintext, context=_context(tx, row.id)).hex()  # found by its id alone
    tx.connection.execute(
        insert(secrets).values(
            user_id=tx.user_id,
            **row.model_dump(),
            ciphertext=cipher.encrypt(plaintext, context=_context(tx, row.id)),
            digest=digest,
        )
    )
    return True


def list_secrets(tx: Transaction) -> list[SecretRow]:
    """Every secret of the user, without its value."""
    rows = tx.all(select(secrets).where(secrets.c.user_id == tx.user_id).order_by(secrets.c.created_at, secrets.c.id))
    return [
        SecretRow(id=row.id, kind=row.kind, caption=row.caption, sensitivity=row.sensitivity, created_at=row.created_at)
        for row in rows
    ]


def read_reveals(tx: Transaction, secret_id: str | None = None) -> list[Reveal]:
    """The audit, oldest first."""
    statement = select(reveals).where(reveals.c.user_id == tx.user_id).order_by(reveals.c.created_at, reveals.c.id)
    if secret_id is not None:
        statement = statement.where(reveals.c.secret_id == secret_id)
    return [
        Reveal(secret_id=row.secret_id, actor=row.actor, reason=row.reason, created_at=row.created_at)
        for row in tx.all(statement)
    ]
