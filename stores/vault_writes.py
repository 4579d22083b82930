"""Storing the secrets that a write contains: each in the vault, with a vault item that shows it without its value."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime

from hexamem.memory_types import Source, VaultItem
from hexamem.stores.ledger import Transaction, item_change, read_items, record_operation, store_secret
from hexamem.stores.ledger.vault import NewSecret, known_secrets, new_secret, store_new_secrets
from hexamem.stores.secrets import Cipher, SecretSpan

__all__ = ["StagedSecrets", "StoreSecret", "add_vault_items", "store_in_vault", "vault_items"]

StoreSecret = Callable[[str, SecretSpan], str]
"""Stores (plaintext, span) and returns the id of the secret."""


def store_in_vault(tx: Transaction, cipher: Cipher) -> StoreSecret:
    """A function that stores secrets in the vault of the transaction's user."""

    def store(plaintext: str, span: SecretSpan) -> str:
        return store_secret(tx, cipher, plaintext, kind=span.kind, caption=span.caption, sensitivity=span.sensitivity)

    return store


class StagedSecrets:
    """Secrets of a call, encrypted before the transaction that writes them. :meth:`stage` is a :data:`StoreSecret`.

    Call :meth:`look_up` first, in the transaction of :meth:`write`.

    Attributes:
        spans: id of each staged secret → what it is.
    """

    def __init__(self, cipher: Cipher, user: str) -> None:
        self._cipher, self._user = cipher, user
        self._stored: dict[str, str] = {}
        self._new: list[NewSecret] = []
        self.spans: dict[str, SecretSpan] = {}

    def _digest(self, plaintext: str) -> str:
        return self._cipher.digest(plaintext, context=self._user).hex()

    def look_up(self, tx: Transaction, plaintexts: Iterable[str]) -> None:
        """Read which of these secrets the vault contains: their ids are reused."""
        self._stored = known_secrets(tx, {self._digest(plaintext) for plaintext in plaintexts})

    def stage(self, plaintext: str, span: SecretSpan) -> str:
        """The id of the secret: the one that it has in the vault, else a new one, for which it is encrypted."""
        digest = self._digest(plaintext)
        secret_id = self._stored.get(digest)
        if secret_id is None:
            secret = new_secret(
                self._cipher,
                self._user,
                plaintext,
                kind=span.kind,
                caption=span.caption,
                sensitivity=span.sensitivity,
            )
            self._new.append(secret)
            secret_id = secret.id
        self.spans.setdefault(secret_id, span)
        return secret_id

    def write(self, tx: Transaction) -> None:
        """Insert the new secrets."""
        store_new_secrets(tx, self._new)


def vault_items(user: str, secrets: Mapping[str, SecretSpan], sources: Sequence[Source] = ()) -> list[VaultItem]:
    """A vault item for each secret, citing the steps of these sources without their quotes.

    Args:
        secrets: id of the secret → what it is.
    """
    cited = tuple(Source(step_id=step_id) for step_id in dict.fromkeys(source.step_id for source in sources))
    return [
        VaultItem(
            user=user,
            entry_type=span.kind,
            caption=span.caption,
            sensitivity=span.sensitivity,
            secret_id=secret_id,
            sources=cited,
        )
        for secret_id, span in secrets.items()
    ]


def add_vault_items(tx: Transaction, items: Sequence[VaultItem], created_at: datetime | None = None) -> None:
    """Add the vault items of secrets that have none yet, as one operation.

    Args:
        created_at: replaces the time of each item.
    """
    if not items:
        return
    described = {getattr(item, "secret_id", None) for item in read_items(tx, kinds=["vault"])}
    new = [item for item in items if item.secret_id not in described]
    if created_at is not None:
        new = [item.changed(created_at=created_at) for item in new]
    if new:
        changes = [item_change(None, item) for item in new]
        record_operation(tx, "add", changes, actor="rules", reason="a secret was found and taken out")
