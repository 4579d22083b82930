"""Export and import of a user as JSON Lines: a header, one line for each row, and a trailer with a hash of all lines.

Secrets are left out unless a passphrase is given: then a key made for this file encrypts them, and the passphrase
encrypts that key.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator
from typing import Any, BinaryIO

from sqlalchemy import Column, LargeBinary, Table, insert, select

from hexamem.errors import CorruptFileError, InvalidInputError
from hexamem.memory_types import utc_now
from hexamem.stores.disk import bounded_lines
from hexamem.stores.ledger.columns import Micros, decode_text, encode_text
from hexamem.stores.ledger.derived_texts import free_neutral_name, is_neutral_name
from hexamem.stores.ledger.import_rows import check_references, check_row, checked_items
from hexamem.stores.ledger.label_changes import touch_steps
from hexamem.stores.ledger.labels import mark_corrected
from hexamem.stores.ledger.ledger import Transaction
from hexamem.stores.ledger.pages import next_page_change
from hexamem.stores.ledger.schema import (
    USER_TABLES,
    changes,
    intents,
    items,
    jobs,
    labelings,
    labels,
    operations,
    pages,
    projections,
    reveals,
    scopes,
    secrets,
    sources,
    steps,
    usage,
    vectors,
)
from hexamem.stores.ledger.vault import SecretRow, plain_secrets, restore_secret
from hexamem.stores.secrets import Cipher, new_key, seal, unseal

__all__ = ["export_lines", "import_lines", "open_secrets", "read_entries", "row_entries"]

FORMAT = 1
_ROWS_AT_ONCE = 500
_UNCHECKED_LINE, _ANY_LINE = 1 << 20, 1 << 62
_LONGEST_TRAILER = 4096
_LEFT_OUT = {projections.name, vectors.name, secrets.name, usage.name, jobs.name}
_TABLES = [table for table in reversed(USER_TABLES) if table.name not in _LEFT_OUT]


def export_lines(entries: Iterable[dict[str, Any]]) -> Iterator[str]:
    """Entries as the lines of an export, header first, and the trailer."""
    digest = hashlib.sha256()
    count = 0
    for entry in entries:
        line = _dump(entry) + "\n"
        digest.update(line.encode())
        count += 1
        yield line
    yield _dump(_trailer(count, digest.hexdigest())) + "\n"


def _dump(value: Any) -> str:
    # As the ledger writes JSON: with JSON's own escapes two lone surrogates would be read as one character.
    return encode_text(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def _trailer(count: int, digest: str) -> dict[str, Any]:
    return {"end": True, "lines": count, "sha256": digest}


def row_entries(
    tx: Transaction, cipher: Cipher | None = None, passphrase: str | None = None
) -> Iterator[dict[str, Any]]:
    """The header and every row of the user; with cipher and passphrase also the secrets, encrypted."""
    header = {"hexamem_export": FORMAT, "user": tx.user, "timezone": tx.timezone, "at": utc_now().isoformat()}
    yield {**header, "secrets": passphrase is not None}
    for table in _TABLES:
        if table is reveals and passphrase is None:
            continue  # the audit refers to the secrets
        columns = [column for column in table.c if column.name != "user_id"]
        rows = select(*columns).where(tx.own(table)).execution_options(yield_per=_ROWS_AT_ONCE)
        for row in tx.connection.execute(rows):
            values = {column.name: _to_json(column, row._mapping[column.name]) for column in columns}
            yield {"table": table.name, "row": values}
    if passphrase is not None and cipher is not None:
        key = new_key()
        yield {"secrets_key": _base64(seal(_base64(key), passphrase))}
        for row, plaintext in plain_secrets(tx, cipher):
            described = SecretRow(**{name: row._mapping[name] for name in SecretRow.model_fields})
            sealed = _base64(Cipher(key).encrypt(plaintext, context=row.id))
            yield {"secret": described.model_dump(mode="json"), "sealed": sealed}


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _to_json(column: Column[Any], value: Any) -> Any:
    if value is None:
        return None
    if isinstance(column.type, Micros):
        return Micros().process_bind_param(value, None)  # type: ignore[arg-type]
    if isinstance(column.type, LargeBinary):
        return _base64(value)
    return value


def _from_json(column: Column[Any], value: Any) -> Any:
    if value is None:
        return None
    if isinstance(column.type, Micros):
        return Micros().process_result_value(value, None)  # type: ignore[arg-type]
    if isinstance(column.type, LargeBinary):
        return base64.b64decode(value)
    return value


def read_entries(file: BinaryIO, place: str, longest: int = _UNCHECKED_LINE) -> list[dict[str, Any]]:
    """The entries of an export, header first, without the trailer.

    Args:
        file: can be read again from its beginning.
        longest: bytes of a line; a longer one is read only if the checksum of the whole file fits.

    Raises:
        CorruptFileError: with place and line, for a file that is not as it was written.
    """
    digest = hashlib.sha256()
    entries: list[dict[str, Any]] = []
    trailer: dict[str, Any] | None = None
    number = 0  # of the line being read

    def corrupt(why: str) -> CorruptFileError:
        return CorruptFileError(f"{place}, line {number}: {why}; nothing was imported")

    for line, whole in bounded_lines(file, longest):
        number += 1
        if not whole:
            if _is_unchanged(file):
                file.seek(0)
                return read_entries(file, place, _ANY_LINE)
            raise corrupt(
                f"the line has more than {longest:,} bytes, and the checksum of the file does not fit: it was cut off or "
                "changed after it was written, or is no export"
            )
        if trailer is not None:
            raise corrupt("there is more after the closing line")
        text = line.rstrip(b"\r\n")
        try:
            entry = json.loads(decode_text(text.decode()))
        except (ValueError, RecursionError):
            raise corrupt("this is not a whole line of a Hexamem export") from None
        if not isinstance(entry, dict) or (not entries and "hexamem_export" not in entry):
            raise corrupt("this is not the header of a Hexamem export" if not entries else "this is not a JSON object")
        if not entries and entry["hexamem_export"] != FORMAT:
            raise corrupt(f"export format {entry['hexamem_export']!r}; this Hexamem reads {FORMAT}")
        if "end" in entry:
            trailer = entry
            continue
        digest.update(text + b"\n")
        entries.append(entry)
    if not number:
        raise corrupt("the file is empty; pass one that an export wrote")
    if trailer is None:
        raise corrupt("the file ends without a closing line")
    if trailer != _trailer(len(entries), digest.hexdigest()):
        raise corrupt("the checksum does not fit: the file was changed after it was written")
    return entries


def _is_unchanged(file: BinaryIO) -> bool:
    """Whether a file ends with a trailer that fits, whatever the ends of its lines; a line is not read as a whole."""
    start = max(0, file.seek(0, os.SEEK_END) - _LONGEST_TRAILER)
    file.seek(start)
    before, end, last = file.read().rstrip(b"\r\n").rpartition(b"\n")
    try:
        trailer = json.loads(last)
    except (ValueError, RecursionError):
        return False
    left = start + len(before + end)
    digest, lines = hashlib.sha256(), 0
    file.seek(0)
    while part := file.read(min(left, 1 << 20)):
        left -= len(part)
        lines += part.count(b"\n")
        digest.update(part.replace(b"\r", b""))  # JSON has none between the ends of lines
    return bool(trailer == _trailer(lines, digest.hexdigest()))


def open_secrets(entries: Iterable[dict[str, Any]], passphrase: str | None) -> list[tuple[SecretRow, str]]:
    """The secrets of an export with their plaintext, for use before the transaction: deriving a key takes long.

    Raises:
        InvalidInputError: if the export contains secrets and no passphrase is given.
        SecretKeyError: for a wrong passphrase.
    """
    opened: list[tuple[SecretRow, str]] = []
    opener: Cipher | None = None
    for entry in entries:
        if "secret" in entry and passphrase is None:
            raise InvalidInputError("this export contains secrets encrypted with a passphrase; pass it as passphrase=…")
        if "secrets_key" in entry and passphrase is not None:
            opener = Cipher(base64.b64decode(unseal(base64.b64decode(entry["secrets_key"]), passphrase)))
        elif "secret" in entry and opener is not None:
            secret = SecretRow.parse(entry["secret"])
            opened.append((secret, opener.decrypt(base64.b64decode(entry["sealed"]), context=secret.id)))
    return opened


def import_lines(
    tx: Transaction,
    entries: list[dict[str, Any]],
    *,
    cipher: Cipher,
    opened: Iterable[tuple[SecretRow, str]],
    keep_file: Callable[[str, bytes], None],
    place: str = "the export",
) -> dict[str, int]:
    """Write checked entries for this user; existing rows of the same key stay unchanged.

    Change numbers are shifted behind the user's last one, so that the indexes follow.

    Args:
        opened: the secrets, from :func:`open_secrets`.
        keep_file: stores (sha256, bytes) of a file.

    Returns:
        How many rows were inserted, by table.

    Raises:
        InvalidInputError: if a thread exists already with other steps.
    """
    base = tx.change
    counts: dict[str, int] = {}
    rows = _checked_rows(tx, entries, place)
    for entry in entries[1:]:
        if "file" in entry:
            keep_file(entry["file"], base64.b64decode(entry["data"]))
    for secret, plaintext in opened:
        if restore_secret(tx, cipher, secret, plaintext):
            counts["secrets"] = counts.get("secrets", 0) + 1
    # An existing item retains its sources: those of the file belong to its exported version.
    existing = tx.ids(items)
    rows[sources.name] = [row for row in rows[sources.name] if row["item_id"] not in existing]
    labelled = _prepare_labels(tx, rows)
    _prepare_pages(tx, rows, base)
    highest = base
    for table in _TABLES:
        new = [_row(tx, table, row, base) for row in _unknown(tx, table, rows[table.name])]
        if not new:
            continue
        tx.connection.execute(insert(table), [{"user_id": tx.user_id, **row} for row in new])
        counts[table.name] = len(new)
        counted = ("seq",) if table is pages else ("change", "seq")
        highest = max([highest, *(row[name] for row in new for name in counted if name in row)])
    if highest > base:
        tx.next_change(highest - base)
    if labelled:
        touch_steps(tx, labelled)
    if counts.keys() & {labels.name, intents.name, steps.name}:
        mark_corrected(tx)
    return counts


def _checked_rows(tx: Transaction, entries: list[dict[str, Any]], place: str) -> dict[str, list[dict[str, Any]]]:
    """The rows of an export by table, each checked."""
    tables = {table.name: table for table in _TABLES}
    rows: dict[str, list[dict[str, Any]]] = {name: [] for name in tables}
    for entry in entries[1:]:
        if "table" not in entry:
            continue
        table = tables.get(entry["table"])
        if table is None:
            raise CorruptFileError(
                f"{place} has rows of a table {entry['table']!r} that this Hexamem does not have; nothing was imported"
            )
        check_row(table, entry["row"], tx.types, place)
        rows[table.name].append(entry["row"])
    rows[items.name] = checked_items(rows[items.name], tx.types, tx.user, place)
    known = {table.name: tx.ids(table) for table in (steps, labels, operations)}
    check_references(rows, {**known, "media": {entry["file"] for entry in entries if "file" in entry}}, place)
    return rows


def _prepare_labels(tx: Transaction, rows: dict[str, list[dict[str, Any]]]) -> set[str]:
    """Adapt labels to the existing ones; returns the existing steps that get an intent by the import.

    A label whose name exists becomes an alias of the existing one, but a neutral name ("Scope 3") gets another number.
    A step that has an intent retains its labels.
    """
    existing = tx.all(
        select(labels.c.id, labels.c.kind, labels.c.within, labels.c.name).where(
            tx.own(labels), labels.c.alias_of.is_(None), labels.c.undone.is_(False)
        )
    )
    known = tx.ids(labels)
    taken = {(row.kind, row.within, row.name): row.id for row in existing}
    names = {*(row.name for row in existing), *(row["name"] for row in rows[labels.name])}
    for row in rows[labels.name]:
        other = taken.get((row["kind"], row["within"], row["name"]))
        if other is None or row["id"] in known or row["alias_of"] is not None or row["undone"]:
            continue
        if not is_neutral_name(row["name"]):
            row["alias_of"] = other
            continue
        name = free_neutral_name(row["kind"], names)
        names.add(name)
        for change in rows[changes.name]:
            if (change["target"], change["target_id"]) == ("label", row["id"]):
                states = {side: change[side] for side in ("before", "after")}
                change.update(
                    {
                        side: {**state, "name": name}
                        for side, state in states.items()
                        if state and state["name"] == row["name"]
                    }
                )
        row["name"] = name
    imported = {row["step_id"] for row in rows[intents.name]}
    known_steps = tx.ids(steps)
    labelled = {row.step_id for row in tx.all(select(intents.c.step_id).where(tx.own(intents)))}
    rows[labelings.name] = [
        row for row in rows[labelings.name] if row["target"] != "step" or row["target_id"] not in labelled
    ]
    # A gist belongs to the exported version of its label.
    rows[scopes.name] = [row for row in rows[scopes.name] if row["label_id"] not in known]
    return (imported & known_steps) - labelled


def _prepare_pages(tx: Transaction, rows: dict[str, list[dict[str, Any]]], base: int) -> None:
    """Leave out the pages of existing threads: paging makes them again."""
    threads = {row.thread_id for row in tx.all(select(steps.c.thread_id).where(tx.own(steps)).distinct())}
    new = [row for row in rows[pages.name] if row["thread_id"] not in threads]
    first = next_page_change(tx)
    rows[pages.name] = [{**row, "change": first + at - base} for at, row in enumerate(new)]


def _row(tx: Transaction, table: Table, row: dict[str, Any], base: int) -> dict[str, Any]:
    values = {column.name: _from_json(column, row.get(column.name)) for column in table.c if column.name != "user_id"}
    for name in ("change", "seq"):
        if values.get(name) is not None:
            values[name] += base
    if table is changes:
        # The records in the history contain the name of their user, now the importing one.
        for side in ("before", "after"):
            if values[side] is not None and "user" in values[side]:
                values[side] = {**values[side], "user": tx.user}
    return values


def _unknown(tx: Transaction, table: Table, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows whose key does not exist for this user."""
    if not rows:
        return []
    key = [column.name for column in table.primary_key if column.name != "user_id"]
    existing = tx.all(select(*(table.c[name] for name in key)).where(tx.own(table)))
    known = {tuple(row) for row in existing}
    new = [row for row in rows if tuple(row[name] for name in key) not in known]
    if table is steps and known:
        _check_places(tx, new)
    return new


def _check_places(tx: Transaction, new: list[dict[str, Any]]) -> None:
    """Refuse steps with the turn or message id of other steps of this user."""
    existing = tx.all(select(steps.c.thread_id, steps.c.turn, steps.c.message_id).where(tx.own(steps)))
    turns = {(row.thread_id, row.turn) for row in existing}
    messages = {(row.thread_id, row.message_id) for row in existing if row.message_id is not None}
    for row in new:
        if (row["thread_id"], row["turn"]) in turns or (row["thread_id"], row["message_id"]) in messages:
            raise InvalidInputError(
                f"thread {row['thread_id']!r} of user {tx.user!r} already has another step at turn {row['turn']}, or "
                "of the same message; import into a user without that thread"
            )
