"""Adding, editing and removing an item on request, each recorded as an operation in the history."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hexamem.errors import InvalidInputError, NotFoundError
from hexamem.memory_types import Change, CoreItem, MemoryItem, Operation, Source, VaultItem, utc_now
from hexamem.memory_types.times import parse_time
from hexamem.stores.ledger import (
    Transaction,
    get_items,
    get_steps,
    item_change,
    record_operation,
    store_secret,
)
from hexamem.stores.redaction import Redactor, contains_secret
from hexamem.stores.secrets import Cipher, SecretSpan
from hexamem.stores.vault_writes import add_vault_items, store_in_vault, vault_items

__all__ = ["add_item", "edit_item", "remove_item"]

# Operations set these fields: what an item states can be edited, its history cannot.
_NOT_EDITABLE = {"id", "user", "kind", "created_at", "superseded_at", "superseded_by", "status", "version", "secret_id"}
_TIMES = ("valid_from", "valid_to", "occurred_at", "created_at")
_WITHOUT_SECRETS = {"id", "user", "kind", "sources", "status", "secret_id", "superseded_by"}


def add_item(
    tx: Transaction,
    item: MemoryItem | Mapping[str, Any],
    cipher: Cipher,
    *,
    secret: str | None = None,
    supersedes: str | None = None,
    actor: str = "user",
    reason: str = "",
    find: bool = True,
) -> MemoryItem:
    """Store a new item; see ``UserMemory.add`` for the contract."""
    values = item.model_dump() if isinstance(item, MemoryItem) else dict(item) if isinstance(item, Mapping) else item
    replaced: dict[str, SecretSpan] = {}
    if isinstance(values, dict):
        original = _with_times(tx, values)
        values, actor, reason = _redacted(tx, original, cipher, find, secret, actor, reason, replaced)
        if values.get("kind") == "core":
            values = _with_room(original, values, CoreItem.model_fields["limit"].default)
        values["user"] = tx.user
    record = tx.types.parse(values)
    _check_new(tx, record)
    if isinstance(record, VaultItem):
        record = _with_secret(tx, record, cipher, secret)
    elif secret is not None:
        raise InvalidInputError(f"secret= is for a vault item, not for a {record.kind} item; leave it out")
    if supersedes is None:
        record_operation(tx, "add", [item_change(None, record)], actor=actor, reason=reason)
    else:
        closed, record = _superseded_by(tx, supersedes, record)
        record_operation(tx, "supersede", [closed, item_change(None, record)], actor=actor, reason=reason)
    add_vault_items(tx, vault_items(tx.user, replaced, record.sources))
    return record


def _with_times(tx: Transaction, values: Mapping[str, Any]) -> dict[str, Any]:
    """The fields with their times parsed in the user's timezone."""
    times: dict[str, Any] = {}
    for name in _TIMES:
        if values.get(name) is not None:
            try:
                times[name] = parse_time(values[name], timezone=tx.timezone).utc
            except InvalidInputError as error:
                raise InvalidInputError(f"{name}: {error}") from None
    return {**values, **times}


def _redacted(
    tx: Transaction,
    values: Mapping[str, Any],
    cipher: Cipher,
    find: bool,
    secret: str | None,
    actor: str,
    reason: str,
    replaced: dict[str, SecretSpan],
) -> tuple[dict[str, Any], str, str]:
    """The fields, the actor and the reason with references in place of the secrets that they contain.

    Args:
        replaced: receives the secrets that were replaced: id → what it is.
    """
    store = store_in_vault(tx, cipher)

    def store_and_note(plaintext: str, span: SecretSpan) -> str:
        secret_id = store(plaintext, span)
        replaced[secret_id] = span
        return secret_id

    redactor = Redactor(store_and_note, find)
    values = dict(values)
    if redactor.scan(values.get("id")):
        raise InvalidInputError("the id of the item contains a secret, and ids are stored unchanged; leave it out")
    text = {name: value for name, value in values.items() if name not in _WITHOUT_SECRETS}
    cited = values.get("sources")
    quotes = [_quote(source) for source in cited] if isinstance(cited, (list, tuple)) else []
    near = redactor.scan([text, quotes, actor, reason])
    if secret:
        for name, value in {**text, "sources": quotes, "actor": actor, "reason": reason}.items():
            if _contains(value, secret):
                raise InvalidInputError(f"{name} contains the value of secret=; describe the secret there instead")
    values.update(redactor.clean(text, near))
    if isinstance(cited, (list, tuple)):
        values["sources"] = tuple(
            source if (quote := redactor.clean(_quote(source), near)) == _quote(source) else _cited(tx, source, quote)
            for source in cited
        )
    return values, redactor.clean(actor, near), redactor.clean(reason, near)


def _with_room(original: Mapping[str, Any], cleaned: dict[str, Any], limit: int) -> dict[str, Any]:
    """The fields of a core item, its limit raised if only the references in its value exceed it."""
    value, new = original.get("value"), cleaned.get("value")
    limit = cleaned.get("limit", limit)
    if not (isinstance(value, str) and isinstance(new, str) and isinstance(limit, int)):
        return cleaned
    return {**cleaned, "limit": len(new)} if len(value) <= limit < len(new) else cleaned


def _contains(value: Any, secret: str) -> bool:
    if isinstance(value, Mapping):
        return any(_contains(part, secret) for pair in value.items() for part in pair)
    if isinstance(value, (list, tuple, set, frozenset)):
        return any(_contains(part, secret) for part in value)
    return isinstance(value, str) and contains_secret(value, secret)


def _quote(source: Any) -> Any:
    return source.quote if isinstance(source, Source) else source.get("quote") if isinstance(source, Mapping) else None


def _cited(tx: Transaction, source: Any, quote: str) -> dict[str, Any]:
    """A source whose quote had a secret replaced, with the span of the new quote in the step's redacted text."""
    values = source.model_dump() if isinstance(source, Source) else dict(source)
    step_id = values.get("step_id")
    step = get_steps(tx, [step_id]).get(step_id) if isinstance(step_id, str) else None
    start = step.content.find(quote) if step is not None else -1
    span = {"start": start, "end": start + len(quote)} if start >= 0 else {"start": None, "end": None}
    return {**values, "quote": quote, **span}


def _check_new(tx: Transaction, record: MemoryItem) -> None:
    if record.status != "active" or record.superseded_at or record.superseded_by or record.version != 1:
        raise InvalidInputError("a new item is active, of version 1 and not superseded; leave these fields out")
    if get_items(tx, [record.id], undone=True):
        raise InvalidInputError(f"item {record.id} exists already; change it with edit, or leave the id out")
    if record.created_at > utc_now():
        raise InvalidInputError(f"created_at {record.created_at} is in the future; leave it out")
    _check_sources(tx, record)


def _check_sources(tx: Transaction, record: MemoryItem) -> None:
    cited = {source.step_id for source in record.sources}
    missing = sorted(cited - get_steps(tx, cited, forgotten=True).keys())
    if missing:
        raise InvalidInputError(f"sources name steps that user {tx.user!r} does not have: {', '.join(missing)}")


def _with_secret(tx: Transaction, record: VaultItem, cipher: Cipher, secret: str | None) -> VaultItem:
    if secret is None:
        if record.secret_id is None:
            return record
        raise InvalidInputError("secret_id is set by the vault; give the value with secret=…")
    secret_id = store_secret(
        tx, cipher, secret, kind=record.entry_type[:32], caption=record.caption, sensitivity=record.sensitivity
    )
    return record.changed(secret_id=secret_id)


def _superseded_by(tx: Transaction, item_id: str, new: MemoryItem) -> tuple[Change, MemoryItem]:
    """The change that closes the old item, and the new item with its ``valid_from``.

    A new item without ``valid_from`` is valid from when it was learned, so that the two never overlap. An event, or a
    new item whose validity ended before that, corrects the old one, which then was never valid.
    """
    old = _active(tx, item_id)
    if old.kind != new.kind:
        raise InvalidInputError(f"a {new.kind} item cannot supersede {item_id}, which is a {old.kind} item")
    ends = new.valid_from or max(new.created_at, old.valid_from or new.created_at)
    if old.valid_from is not None and ends < old.valid_from:
        raise InvalidInputError(
            f"the new item is valid from {ends}, before {item_id} became valid ({old.valid_from}); give a later valid_from"
        )
    if new.valid_from is None and (new.kind == "episodic" or (new.valid_to is not None and new.valid_to < ends)):
        valid_to = old.valid_from
    else:
        valid_to = old.valid_to if old.valid_to is not None and old.valid_to < ends else ends
        new = new.changed(valid_from=ends)
    # The old item is superseded when the new one is created, unless the new one is dated before the old one.
    at = new.created_at if new.created_at >= old.created_at else max(utc_now(), old.created_at)
    closed = old.changed(status="superseded", superseded_at=at, superseded_by=new.id, valid_to=valid_to)
    return item_change(old, closed), new


def _existing(tx: Transaction, item_id: str) -> MemoryItem:
    item = get_items(tx, [item_id]).get(item_id)
    if item is None:
        raise NotFoundError(f"no item {item_id!r} for user {tx.user!r}")
    return item


def _active(tx: Transaction, item_id: str) -> MemoryItem:
    item = _existing(tx, item_id)
    if item.status != "active":
        raise NotFoundError(f"item {item_id} is {item.status}; `undo` of the operation in its history brings it back")
    return item


def edit_item(
    tx: Transaction,
    item_id: str,
    fields: Mapping[str, Any],
    cipher: Cipher,
    *,
    secret: str | None = None,
    actor: str = "user",
    reason: str = "",
    find: bool = True,
) -> MemoryItem:
    """Change fields of an item; see ``UserMemory.edit`` for the contract."""
    old = _active(tx, item_id)
    forbidden = sorted(_NOT_EDITABLE & set(fields))
    if forbidden:
        raise InvalidInputError(f"{', '.join(forbidden)} of an item cannot be edited; operations set it")
    if not fields and secret is None:
        raise InvalidInputError("nothing to edit: name at least one field with its new value")
    unknown = sorted(set(fields) - set(type(old).model_fields))
    if unknown:
        editable = sorted(set(type(old).model_fields) - _NOT_EDITABLE)
        raise InvalidInputError(
            f"{', '.join(unknown)} is not a field of a {old.kind} item; its fields are {', '.join(editable)}"
        )
    replaced: dict[str, SecretSpan] = {}
    changed, actor, reason = _redacted(tx, _with_times(tx, fields), cipher, find, secret, actor, reason, replaced)
    if isinstance(old, CoreItem):
        changed = _with_room(fields, changed, old.limit)
    new = old.changed(**changed, version=old.version + 1)
    _check_sources(tx, new)
    if secret is not None:
        if not isinstance(new, VaultItem):
            raise InvalidInputError(f"secret= is for a vault item, not for a {new.kind} item; leave it out")
        new = _with_secret(tx, new, cipher, secret)
    record_operation(tx, "update", [item_change(old, new)], actor=actor, reason=reason)
    add_vault_items(tx, vault_items(tx.user, replaced, new.sources))
    return new


def remove_item(tx: Transaction, item_id: str, *, actor: str = "user", reason: str = "") -> Operation:
    """Remove an item; see ``UserMemory.remove`` for the contract."""
    old = _existing(tx, item_id)
    if old.status == "removed":
        raise NotFoundError(f"item {item_id} was removed already; `undo` of that operation brings it back")
    return record_operation(tx, "remove", [item_change(old, old.changed(status="removed"))], actor=actor, reason=reason)
