"""Secrets in the ledger: as ciphertext only, looked up by a keyed digest, revealed only with a reason, which is stored."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Row, insert, select

from hexamem.errors import InvalidInputError, NotFoundError
from hexamem.memory_types import Record, Sensitivity, UtcTime, new_id, utc_now
from hexamem.stores.ledger.ledger import Ledger, Transaction, chunks
from hexamem.stores.ledger.prepared import Prepared, among, of_user
from hexamem.stores.ledger.schema import reveals, secrets
from hexamem.stores.secrets import Cipher

__all__ = [
    "NewSecret",
    "Reveal",
    "SecretRow",
    "audit_export",
    "has_secrets",
    "known_secrets",
    "list_secrets",
    "new_secret",
    "read_reveals",
    "reveal_secret",
    "store_new_secrets",
    "store_secret",
]


class SecretRow(Record):
    """A secret without its value."""

    id: str
    kind: str
    caption: str
    sensitivity: Sensitivity
    created_at: UtcTime


class Reveal(Record):
    """An entry of the audit: who revealed which secret, when and why."""

    secret_id: str
    actor: str
    reason: str
    created_at: datetime


def _context(user: str, secret_id: str) -> str:
    return f"{user}/{secret_id}"


def has_secrets(ledger: Ledger) -> bool:
    """Whether any user has a secret."""
    with ledger.connect() as connection:
        return connection.execute(select(secrets.c.id).limit(1)).first() is not None


def store_secret(
    tx: Transaction, cipher: Cipher, plaintext: str, *, kind: str, caption: str, sensitivity: Sensitivity
) -> str:
    """Encrypt and store a secret; returns its id. The same plaintext of the same user has one id.

    Raises:
        InvalidInputError: for an empty secret.
    """
    if not plaintext:
        raise InvalidInputError(f"the secret {caption!r} is empty; pass its value")
    known = known_secrets(tx, [cipher.digest(plaintext, context=tx.user).hex()])
    if known:
        return next(iter(known.values()))
    secret = new_secret(cipher, tx.user, plaintext, kind=kind, caption=caption, sensitivity=sensitivity)
    store_new_secrets(tx, [secret])
    return secret.id


class NewSecret(NamedTuple):
    """An encrypted secret, to be written by :func:`store_new_secrets`."""

    id: str
    digest: str
    values: dict[str, Any]


def new_secret(
    cipher: Cipher, user: str, plaintext: str, *, kind: str, caption: str, sensitivity: Sensitivity
) -> NewSecret:
    """Encrypt a secret under a new id."""
    secret_id = new_id("vault")
    digest = cipher.digest(plaintext, context=user).hex()
    ciphertext = cipher.encrypt(plaintext, context=_context(user, secret_id))
    described = {"kind": kind, "caption": caption, "sensitivity": sensitivity}
    return NewSecret(secret_id, digest, {"id": secret_id, **described, "ciphertext": ciphertext, "digest": digest})


_BY_DIGEST = Prepared(select(secrets.c.digest, secrets.c.id).where(of_user(secrets), among(secrets.c.digest)))


def known_secrets(tx: Transaction, digests: Collection[str]) -> dict[str, str]:
    """Which of these secrets the user's vault contains: digest → id."""
    return {row.digest: row.id for row in tx.all_of(_BY_DIGEST, digests)}


def store_new_secrets(tx: Transaction, new: Sequence[NewSecret]) -> None:
    """Insert secrets that the user's vault does not contain."""
    if new:
        now = utc_now()
        rows = [{"user_id": tx.user_id, **secret.values, "created_at": now} for secret in new]
        tx.connection.execute(insert(secrets), rows)


def _row(tx: Transaction, secret_id: str) -> Row[Any]:
    row = tx.first(select(secrets).where(tx.own(secrets), secrets.c.id == secret_id))
    if row is None:
        raise NotFoundError(
            f"no secret {secret_id!r} for user {tx.user!r}: the id is not one of theirs, or it was erased, or imported "
            "from an export without secrets"
        )
    return row


def reveal_secret(tx: Transaction, cipher: Cipher, secret_id: str, *, reason: str, actor: str) -> str:
    """The plaintext, after writing actor and reason to the audit.

    Raises:
        NotFoundError: if this user has no such secret.
        InvalidInputError: for a missing reason.
        SecretKeyError: if the vault's key is not the one that encrypted it.
    """
    if not isinstance(reason, str) or not reason.strip():
        raise InvalidInputError(f"reason = {reason!r}: say why the secret is needed; it is stored in the audit")
    row = _row(tx, secret_id)
    plaintext = cipher.decrypt(row.ciphertext, context=_context(tx.user, secret_id))
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
    """Every secret with its plaintext, for an export with secrets.

    It only reads: :func:`audit_export` writes the audit before the export file gets its name.
    """
    for row in tx.all(select(secrets).where(tx.own(secrets)).order_by(secrets.c.id)):
        yield row, cipher.decrypt(row.ciphertext, context=_context(tx.user, row.id))


def audit_export(tx: Transaction, secret_ids: Collection[str]) -> None:
    """Write to the audit that an export reveals these secrets, those that still exist."""
    now = utc_now()
    for part in chunks(secret_ids):
        own = tx.own(secrets) & secrets.c.id.in_(part)
        described = {"actor": "export", "reason": "export with secrets", "created_at": now}
        rows = [
            {"user_id": tx.user_id, "id": new_id("reveal"), "secret_id": row.id, **described}
            for row in tx.all(select(secrets.c.id).where(own).order_by(secrets.c.id))
        ]
        if rows:
            tx.connection.execute(insert(reveals), rows)


def restore_secret(tx: Transaction, cipher: Cipher, row: SecretRow, plaintext: str) -> bool:
    """Insert a secret under the id it had, encrypted again for this user; False where that id exists already.

    The vault may contain the same plaintext under another id: both stay, since texts may refer to either.
    """
    if tx.first(select(secrets.c.id).where(tx.own(secrets), secrets.c.id == row.id)) is not None:
        return False
    digest = cipher.digest(plaintext, context=tx.user).hex()
    if tx.first(select(secrets.c.id).where(tx.own(secrets), secrets.c.digest == digest)) is not None:
        digest = cipher.digest(plaintext, context=_context(tx.user, row.id)).hex()  # looked up by its id alone
    tx.connection.execute(
        insert(secrets).values(
            user_id=tx.user_id,
            **row.model_dump(),
            ciphertext=cipher.encrypt(plaintext, context=_context(tx.user, row.id)),
            digest=digest,
        )
    )
    return True


def list_secrets(tx: Transaction) -> list[SecretRow]:
    """Every secret of the user, without its value."""
    columns = (secrets.c[name] for name in SecretRow.model_fields)
    own = select(*columns).where(tx.own(secrets))
    return [SecretRow(**row._mapping) for row in tx.all(own.order_by(secrets.c.created_at, secrets.c.id))]


def read_reveals(tx: Transaction, secret_id: str | None = None) -> list[Reveal]:
    """The audit, oldest first."""
    columns = (reveals.c[name] for name in Reveal.model_fields)
    own = select(*columns).where(tx.own(reveals))
    if secret_id is not None:
        own = own.where(reveals.c.secret_id == secret_id)
    return [Reveal(**row._mapping) for row in tx.all(own.order_by(reveals.c.created_at, reveals.c.id))]
