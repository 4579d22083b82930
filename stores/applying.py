"""The ledger's side of applying proposals: what is known that a new item may touch, and writing what was decided.

What is decided, and why, is the agents' business; here is only what needs the tables.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import select

from ..memory_types import ItemKind, MemoryItem, Operation, OperationKind, Source, VaultItem, utc_now
from .known_secrets import find_known
from .ledger import Transaction, get_items, history_of, item_change, read_items, record_operation
from .ledger.schema import items
from .redaction import Redactor, keep_in_vault
from .secrets import Cipher, SecretSpan

__all__ = ["Cleaned", "KnownItem", "KnownItems", "clean_values", "keyed_id", "left_before", "write_changes"]

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"


class KnownItem(NamedTuple):
    """What is read of every item of a kind, to choose the few that are read whole."""

    id: str
    text: str
    status: str
    metadata: Mapping[str, Any]


class KnownItems:
    """The items of a user that are active or superseded, as one transaction sees them and has changed them."""

    def __init__(self, tx: Transaction) -> None:
        self._tx = tx
        self._kinds: dict[str, dict[str, KnownItem]] = {}

    def of_kind(self, kind: ItemKind) -> list[KnownItem]:
        """All of a kind, oldest first."""
        if kind not in self._kinds:
            statement = (
                select(items.c.id, items.c.text, items.c.status, items.c.metadata)
                .where(
                    items.c.user_id == self._tx.user_id,
                    items.c.kind == kind,
                    items.c.status.in_(["active", "superseded"]),
                )
                .order_by(items.c.created_at, items.c.id)
            )
            self._kinds[kind] = {
                row.id: KnownItem(row.id, row.text, row.status, row._mapping["metadata"] or {})
                for row in self._tx.all(statement)
            }
        return list(self._kinds[kind].values())

    def whole(self, item_ids: Sequence[str]) -> list[MemoryItem]:
        """Items by id, in the order given; unknown ones are left out."""
        found = get_items(self._tx, item_ids)
        return [found[item_id] for item_id in item_ids if item_id in found]

    def note(self, written: Sequence[MemoryItem]) -> None:
        """Take up items as this transaction has just left them."""
        for item in written:
            known = self._kinds.get(item.kind)
            if known is None:
                continue
            known.pop(item.id, None)
            if item.status in ("active", "superseded"):
                known[item.id] = KnownItem(item.id, item.text, item.status, item.metadata)


def keyed_id(cipher: Cipher, user: str, prefix: str, *parts: str) -> str:
    """An id that the same parts give again, and from which they cannot be guessed without the vault's key."""
    said = "\x1f".join(parts)
    digest = hashlib.sha256(cipher.digest(f"{prefix}\x1f{said}", context=user)).digest()
    value = int.from_bytes(digest[:17], "big")
    return f"{prefix}_" + "".join(_ALPHABET[value >> shift & 31] for shift in range(125, -1, -5))


@dataclass(frozen=True, slots=True)
class Cleaned:
    """The fields of a proposal with references in place of the secrets that stand in them, and these secrets by id."""

    values: dict[str, Any]
    reason: str
    found: Mapping[str, SecretSpan]


def clean_values(tx: Transaction, cipher: Cipher, values: Mapping[str, Any], reason: str, *, find: bool) -> Cleaned:
    """Take secrets out of what is to be written: those of the vault, and those that the rules find.

    What the rules find is kept in the vault. Times and numbers stay what they are.
    """
    found: dict[str, SecretSpan] = {}
    in_vault = keep_in_vault(tx, cipher)

    def keep(plaintext: str, span: SecretSpan) -> str:
        secret_id = in_vault(plaintext, span)
        found[secret_id] = span
        return secret_id

    redactor = Redactor(keep, find)
    words = {name: value for name, value in values.items() if isinstance(value, (str, list, tuple, dict))}
    redactor.know(find_known(tx, cipher, _strings([words, reason])))
    near = redactor.look([words, reason])
    return Cleaned({**values, **redactor.clean(words, near)}, redactor.clean(reason, near), found)


def _strings(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, Mapping):
        return [text for pair in value.items() for part in pair for text in _strings(part)]
    if isinstance(value, (list, tuple)):
        return [text for part in value for text in _strings(part)]
    return []


def left_before(
    tx: Transaction,
    item_id: str,
    kind: OperationKind,
    sources: Sequence[Source],
    state: Mapping[str, Any],
    others: Collection[str] = (),
) -> Operation | None:
    """The operation that has drawn this consequence for an item from these very words before, undone since or not.

    So what a killed process had applied is not applied again, not even after later changes.

    Args:
        sources: the words; the operation is the one that made the item cite them.
        state: fields of the item as that operation left them, as JSON values.
        others: ids of other items that it changed too.
    """
    wanted = set(sources)
    for operation in history_of(tx, item_id):
        if operation.kind != kind or not set(others) <= {change.target_id for change in operation.changes}:
            continue
        for change in operation.changes:
            if change.target_id == item_id and change.after is not None:
                if any(change.after.get(name) != value for name, value in state.items()):
                    continue
                cited = {Source(**source) for source in change.after.get("sources") or ()}
                earlier = {Source(**source) for source in (change.before or {}).get("sources") or ()}
                if wanted and wanted <= cited and not wanted <= earlier:
                    return operation
    return None


def write_changes(
    tx: Transaction,
    known: KnownItems,
    kind: OperationKind,
    changes: Sequence[tuple[MemoryItem | None, MemoryItem]],
    *,
    actor: str,
    reason: str,
    found: Mapping[str, SecretSpan] | None = None,
) -> Operation:
    """Write items as one operation, and a vault item for each secret that was taken out of them and has none yet."""
    written = [after for _, after in changes]
    made = [item_change(before, after) for before, after in changes]
    operation = record_operation(tx, kind, made, actor=actor, reason=reason)
    known.note(written)
    if found:
        held = {getattr(item, "secret_id", None) for item in read_items(tx, kinds=["vault"], superseded=True)}
        steps = dict.fromkeys(source.step_id for item in written for source in item.sources)
        cited = tuple(Source(step_id=step_id) for step_id in steps)
        kept = [
            VaultItem(
                user=tx.user,
                entry_type=span.kind,
                caption=span.caption,
                sensitivity=span.sensitivity,
                secret_id=secret_id,
                sources=cited,
                created_at=utc_now(),
            )
            for secret_id, span in found.items()
            if secret_id not in held
        ]
        if kept:
            record_operation(
                tx,
                "add",
                [item_change(None, one) for one in kept],
                actor="rules",
                reason="a secret was found and taken out",
            )
            known.note(kept)
    return operation
