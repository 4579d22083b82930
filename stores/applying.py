"""The ledger's part of applying proposals: reading the items that a proposal may change, and writing the result.

The decisions are made in ``agents/applying``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select

from hexamem.errors import NotFoundError
from hexamem.memory_types import ItemKind, MemoryItem, Operation, OperationKind, Step, new_id
from hexamem.memory_types.item_keys import secret_key, slot_of, statement_key
from hexamem.stores.known_secrets import find_known
from hexamem.stores.ledger import Transaction, get_items
from hexamem.stores.ledger.history import get_operation, item_change, record_operations
from hexamem.stores.ledger.items import items_with_key
from hexamem.stores.ledger.ledger import chunks
from hexamem.stores.ledger.schema import INDEX_TEXT
from hexamem.stores.ledger.schema import steps as steps_table
from hexamem.stores.redaction import Redactor, strings_in
from hexamem.stores.secrets import Cipher, SecretSpan, find_references
from hexamem.stores.vault_writes import StagedSecrets, vault_items

__all__ = [
    "Cleaned",
    "Cleaner",
    "KnownItems",
    "earlier_copies",
    "keyed_id",
    "plan_changes",
]

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"


class KnownItems:
    """The items of a user as one transaction reads them, with the changes that it has planned.

    Operations are planned one after the other, each on the result of those before it, and written together at the end.
    """

    def __init__(self, tx: Transaction) -> None:
        self._tx = tx
        self._whole: dict[str, MemoryItem | None] = {}
        self._planned: list[tuple[Operation, list[MemoryItem]]] = []
        self._by_key: dict[tuple[ItemKind, str], set[str]] = {}  # the planned items with a statement's key or in a slot

    def stating(self, kind: ItemKind, statement: str) -> list[MemoryItem]:
        """The active and superseded items of a kind with this :func:`statement_key`, oldest first."""
        item_ids = [*items_with_key(self._tx, kind, statement=statement), *self._by_key.get((kind, statement), ())]
        return [item for item in self._present(item_ids) if statement_key(item) == statement]

    def in_slot(self, kind: ItemKind, slot: str) -> list[MemoryItem]:
        """The active and superseded items of a slot, oldest first."""
        item_ids = [*items_with_key(self._tx, kind, slot=slot), *self._by_key.get((kind, slot), ())]
        return [item for item in self._present(item_ids) if slot_of(item.metadata) == slot]

    def _present(self, item_ids: Sequence[str]) -> list[MemoryItem]:
        """Items as the planned operations leave them."""
        present = self.whole(list(dict.fromkeys(item_ids)))
        active = [item for item in present if item.status in ("active", "superseded")]
        return sorted(active, key=lambda item: (item.created_at, item.id))

    def _note(self, after: Sequence[MemoryItem]) -> None:
        for item in after:
            self._whole[item.id] = item
            for key in (statement_key(item), slot_of(item.metadata)):
                self._by_key.setdefault((item.kind, key), set()).add(item.id)

    def get(self, item_id: str) -> MemoryItem | None:
        """An item in whatever status; one whose addition was undone counts as removed."""
        if item_id not in self._whole:
            self._whole[item_id] = get_items(self._tx, [item_id], undone=True).get(item_id)
        return self._whole[item_id]

    def whole(self, item_ids: Sequence[str]) -> list[MemoryItem]:
        """Items in the order of their ids; unknown ones are left out."""
        missing = [item_id for item_id in item_ids if item_id not in self._whole]
        if missing:
            self._whole |= dict.fromkeys(missing) | get_items(self._tx, missing, undone=True)
        return [item for item_id in item_ids if (item := self._whole[item_id]) is not None]

    def operation(self, operation_id: str) -> Operation | None:
        """A planned or written operation by its id, undone or not; None for an unknown id."""
        planned = next((operation for operation, _ in self._planned if operation.id == operation_id), None)
        if planned is not None:
            return planned
        try:
            return get_operation(self._tx, operation_id)
        except NotFoundError:
            return None

    def plan(
        self,
        kind: OperationKind,
        changes: Sequence[tuple[MemoryItem | None, MemoryItem]],
        *,
        actor: str,
        reason: str,
        operation_id: str | None = None,
    ) -> Operation:
        """Plan an operation, to be written by :meth:`write`; its id is a new one when None."""
        after = [item for _, item in changes]
        operation = Operation(
            id=operation_id or new_id("op"),
            user=self._tx.user,
            seq=0,
            kind=kind,
            actor=actor,
            reason=reason,
            changes=tuple(item_change(before, item) for before, item in changes),
        )
        self._planned.append((operation, after))
        self._note(after)
        return operation

    @property
    def planned(self) -> int:
        """How many operations are planned."""
        return len(self._planned)

    def back_to(self, planned: int) -> None:
        """Discard the operations planned after the first ``planned`` ones."""
        if len(self._planned) > planned:
            del self._planned[planned:]
            self._whole, self._by_key = {}, {}
            self._note([item for _, after in self._planned for item in after])

    def write(self) -> None:
        """Write the planned operations."""
        planned, self._planned = self._planned, []
        record_operations(self._tx, planned)


def keyed_id(cipher: Cipher, user: str, prefix: str, *parts: str) -> str:
    """An id that is the same for the same parts, and from which these cannot be guessed without the vault's key."""
    text = "\x1f".join((prefix, *parts))
    digest = hashlib.sha256(cipher.digest(text, context=user)).digest()
    value = int.from_bytes(digest[:17], "big")
    return f"{prefix}_" + "".join(_ALPHABET[value >> shift & 31] for shift in range(125, -1, -5))


@dataclass(frozen=True, slots=True)
class Cleaned:
    """The fields of a proposal with references in place of the secrets in them, and these secrets by id."""

    values: dict[str, Any]
    reason: str
    replaced: Mapping[str, SecretSpan]


class Cleaner:
    """Replaces secrets in proposals: those of the vault, and new ones that are found.

    New ones are stored in the vault if their proposal is: call :meth:`settle` or :meth:`give_up` after each proposal.
    Times and numbers stay unchanged. Repeated texts, such as labels, are searched once.

    Args:
        find: whether new secrets are searched for.
        texts: everything that will be cleaned, in which the secrets of the vault are searched for.
        steps: the steps cited. New secrets are not searched for in a part of their texts, since they were when the steps
            were stored, and with more context.
    """

    def __init__(self, tx: Transaction, cipher: Cipher, texts: Any, *, find: bool, steps: Iterable[Step]) -> None:
        self._tx, self._cipher, self._find = tx, cipher, find
        self._stored = [text for step in steps for text in (step.content, step.index_text)]
        self._known = find_known(tx, cipher, strings_in(texts))
        self.give_up()

    def settle(self) -> None:
        """Store the secrets found since the last proposal."""
        if self._staged.spans:
            self._staged.write(self._tx)
            self.give_up()

    def give_up(self) -> None:
        """Discard the secrets found since the last proposal."""
        self._staged = StagedSecrets(self._cipher, self._tx.user)
        self._redactor = Redactor(self._staged.stage, self._find)
        self._redactor.add_known(self._known)

    def clean(self, values: Mapping[str, Any], reason: str) -> Cleaned:
        """The fields of a proposal and its reason without secrets."""
        words = {name: value for name, value in values.items() if isinstance(value, (str, list, tuple, dict))}
        near = self._redactor.scan([{name: value for name, value in words.items() if not self._cited(value)}, reason])
        self._staged.look_up(self._tx, near | self._known.keys())
        clean, reason = self._redactor.clean(words, near), self._redactor.clean(reason, near)
        replaced = self._staged.spans
        if replaced:
            used = {mark.id for text in strings_in([clean, reason]) for mark in find_references(text)}
            replaced = {secret_id: span for secret_id, span in replaced.items() if secret_id in used}
        return Cleaned({**values, **clean}, reason, replaced)

    def _cited(self, value: object) -> bool:
        return isinstance(value, str) and any(value in text for text in self._stored)


def earlier_copies(tx: Transaction, steps: Iterable[Step]) -> dict[str, str]:
    """Step id → id of the first active step with the same text, speaker and time.

    The items learned from that one, and their later changes, apply to its copies too. Steps without an earlier copy
    are left out.
    """
    keys = {step.id: (step.occurred_at, step.role, step.name, step.content, step.index_text) for step in steps}
    columns = [*(steps_table.c[name] for name in ("id", "occurred_at", "role", "name", "content")), INDEX_TEXT]
    first: dict[tuple[object, ...], str] = {}
    for part in chunks(keys):
        statement = (
            select(*columns)
            .where(
                tx.own(steps_table),
                steps_table.c.occurred_at.in_({keys[step_id][0] for step_id in part}),
                steps_table.c.content.in_({keys[step_id][3] for step_id in part}),
                steps_table.c.status == "active",
            )
            .order_by(steps_table.c.seq)
        )
        for row in tx.all(statement):
            first.setdefault((row.occurred_at, row.role, row.name, row.content, row.indexed), row.id)
    return {step_id: first[key] for step_id, key in keys.items() if first.get(key, step_id) != step_id}


def plan_changes(
    tx: Transaction,
    known: KnownItems,
    kind: OperationKind,
    changes: Sequence[tuple[MemoryItem | None, MemoryItem]],
    *,
    actor: str,
    reason: str,
    operation_id: str | None = None,
    replaced: Mapping[str, SecretSpan] | None = None,
) -> Operation:
    """Plan items as one operation, and a vault item for each secret that was taken out of them and has none yet."""
    operation = known.plan(kind, changes, actor=actor, reason=reason, operation_id=operation_id)
    if replaced:
        new = {name: span for name, span in replaced.items() if not known.stating("vault", secret_key(name))}
        sources = [source for _, item in changes for source in item.sources]
        if added := [(None, item) for item in vault_items(tx.user, new, sources)]:
            known.plan("add", added, actor="rules", reason="a secret was found and taken out")
    return operation
