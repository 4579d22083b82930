"""Export and import of a user as JSON Lines: every entry numbered and with a checksum, a closing line that sums them.

The first line is a header, then one line a row, the last line a trailer. Secrets are left out unless a passphrase is
given: then a key made for this file alone encrypts them, and the passphrase seals that key.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any, NamedTuple

from sqlalchemy import Column, LargeBinary, Table, insert, select

from hexamem.errors import CorruptFileError, InvalidInputError
from hexamem.memory_types import utc_now
from hexamem.stores.ledger.columns import Micros, decode_text, encode_text
from hexamem.stores.ledger.derived_texts import free_neutral_name, is_neutral_name
from hexamem.stores.ledger.label_changes import touch_steps
from hexamem.stores.ledger.labels import mark_corrected
from hexamem.stores.ledger.ledger import Transaction
from hexamem.stores.ledger.pages import next_page_change
from hexamem.stores.ledger.schema import (
    USER_TABLES,
    changes,
    digests,
    intents,
    items,
    jobs,
    labelings,
    labels,
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

__all__ = [
    "FORMAT",
    "Entry",
    "ExportLine",
    "export_lines",
    "file_entries",
    "import_lines",
    "numbered",
    "open_secrets",
    "read_entries",
    "row_entries",
]

FORMAT = 1
_ROWS_AT_ONCE = 500
_LEFT_OUT = {projections.name, vectors.name, secrets.name, usage.name, jobs.name}
_TABLES = [table for table in reversed(USER_TABLES) if table.name not in _LEFT_OUT]


Entry = tuple[str | None, dict[str, Any]]
"""What an entry holds (a table's name, "secrets", "media", or None), and the entry."""


class ExportLine(NamedTuple):
    """A line without its end, and what it holds: a table's name, "secrets", "media", or None."""

    text: str
    kind: str | None


def _dump(value: Any) -> str:
    # As the ledger writes JSON: no escape of JSON's own could tell two lone surrogates from one character.
    return encode_text(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def _line(number: int, entry: dict[str, Any]) -> str:
    checksum = hashlib.sha256(f"{number} {_dump(entry)}".encode()).hexdigest()[:16]
    return _dump({"n": number, "sum": checksum, "entry": entry})


def export_lines(
    tx: Transaction,
    *,
    cipher: Cipher | None = None,
    passphrase: str | None = None,
    files: Iterable[tuple[str, bytes]] = (),
) -> Iterator[ExportLine]:
    """The user's lines.

    Args:
        cipher, passphrase: given both, secrets go along, encrypted under the passphrase.
        files: (sha256, bytes) of the media that the user keeps.
    """
    return numbered(chain(row_entries(tx, cipher, passphrase), file_entries(files)))


def numbered(entries: Iterable[Entry]) -> Iterator[ExportLine]:
    """Entries as the lines of an export, the closing line behind them."""
    total = hashlib.sha256()
    count = 0
    for kind, entry in entries:
        count += 1
        line = _line(count, entry)
        total.update(line.encode() + b"\n")
        yield ExportLine(line, kind)
    yield ExportLine(_line(count + 1, {"end": True, "lines": count, "sha256": total.hexdigest()}), None)


def row_entries(tx: Transaction, cipher: Cipher | None = None, passphrase: str | None = None) -> Iterator[Entry]:
    """The header and every row of the user; with cipher and passphrase the secrets too, sealed."""
    header = {"hexamem_export": FORMAT, "user": tx.user, "timezone": tx.timezone, "at": utc_now().isoformat()}
    yield None, {**header, "secrets": passphrase is not None}
    for table in _TABLES:
        if table is reveals and passphrase is None:
            continue  # the audit belongs to the secrets it speaks of
        columns = [column for column in table.c if column.name != "user_id"]
        rows = select(*columns).where(table.c.user_id == tx.user_id).execution_options(yield_per=_ROWS_AT_ONCE)
        for row in tx.connection.execute(rows):
            values = {column.name: _to_json(column, row._mapping[column.name]) for column in columns}
            yield table.name, {"table": table.name, "row": values}
    if passphrase is not None and cipher is not None:
        key = new_key()
        yield None, {"secrets_key": _base64(seal(_base64(key), passphrase))}
        for row, plaintext in plain_secrets(tx, cipher):
            known = SecretRow(
                id=row.id, kind=row.kind, caption=row.caption, sensitivity=row.sensitivity, created_at=row.created_at
            )
            sealed = _base64(Cipher(key).encrypt(plaintext, context=row.id))
            yield "secrets", {"secret": known.model_dump(mode="json"), "sealed": sealed}


def file_entries(files: Iterable[tuple[str, bytes]]) -> Iterator[Entry]:
    """Media as entries, from (sha256, bytes)."""
    for sha256, data in files:
        yield "media", {"file": sha256, "data": _base64(data)}


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


def read_entries(lines: Iterable[bytes], place: str) -> list[dict[str, Any]]:
    """The entries of an export after every check, header first, trailer left out.

    Raises:
        CorruptFileError: naming place and line for a damaged, missing, moved or added line, or a missing end.
    """
    total = hashlib.sha256()
    entries: list[dict[str, Any]] = []
    ended: dict[str, Any] | None = None
    number = 0
    for number, line in enumerate(lines, 1):
        where = f"{place}, line {number}"
        if ended is not None:
            raise CorruptFileError(f"{where}: there is more after the closing line; nothing was imported")
        text = line.rstrip(b"\r\n")
        given, entry = _checked(text, where)
        if given != len(entries) + 1:
            raise CorruptFileError(
                f"{where}: holds entry {given} where entry {len(entries) + 1} belongs: lines were removed, added or "
                "moved; nothing was imported"
            )
        if "end" in entry:
            ended = entry
            continue
        if not entries and entry.get("hexamem_export") != FORMAT:
            found = entry.get("hexamem_export")
            raise CorruptFileError(
                f"{where}: this is not the header of a Hexamem export"
                if found is None
                else f"{where}: export format {found!r}; this Hexamem reads {FORMAT}"
            )
        total.update(text + b"\n")
        entries.append(entry)
    if ended is None and not entries:
        raise CorruptFileError(
            f"{place}, line {number}: the file is empty; give one that an export wrote; nothing was imported"
        )
    if ended is None:
        raise CorruptFileError(f"{place}, line {number}: the file ends without a closing line; nothing was imported")
    if ended.get("lines") != len(entries) or ended.get("sha256") != total.hexdigest():
        raise CorruptFileError(f"{place}, line {number}: the closing line sums up other lines; nothing was imported")
    return entries


def _checked(text: bytes, where: str) -> tuple[int, dict[str, Any]]:
    """The number and entry of one line whose checksum fits."""
    try:
        outer = json.loads(decode_text(text.decode()))
        number, entry = outer["n"], outer["entry"]
        fits = isinstance(entry, dict) and _line(number, entry).encode() == text
    except (ValueError, KeyError, TypeError, RecursionError):
        raise CorruptFileError(f"{where}: not a whole line of a Hexamem export; nothing was imported") from None
    if not fits:
        raise CorruptFileError(f"{where}: its checksum does not fit, the line was changed; nothing was imported")
    return number, entry


def open_secrets(entries: Iterable[dict[str, Any]], passphrase: str | None) -> list[tuple[SecretRow, str]]:
    """The secrets of an export with their plaintext: before the transaction, since a passphrase is slow by design.

    Raises:
        InvalidInputError: if the export holds secrets and no passphrase is given.
        SecretKeyError: for a wrong passphrase.
    """
    opened: list[tuple[SecretRow, str]] = []
    opener: Cipher | None = None
    for entry in entries:
        if "secret" in entry and passphrase is None:
            raise InvalidInputError("this export holds secrets sealed under a passphrase; give it with passphrase=…")
        if "secrets_key" in entry and passphrase is not None:
            opener = Cipher(base64.b64decode(unseal(base64.b64decode(entry["secrets_key"]), passphrase)))
        elif "secret" in entry and opener is not None:
            known = SecretRow.parse(entry["secret"])
            opened.append((known, opener.decrypt(base64.b64decode(entry["sealed"]), context=known.id)))
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
    """Write checked entries for this user; rows whose key is there already are left as they are.

    Returns how many rows came in by table. Change numbers are laid behind the user's own, so the indexes follow.

    Args:
        opened: the secrets, from :func:`open_secrets`.

    Raises:
        InvalidInputError: if a thread is there already with other steps.
    """
    base = tx.change
    counts: dict[str, int] = {}
    tables = {table.name: table for table in _TABLES}
    rows: dict[str, list[dict[str, Any]]] = {}
    for entry in entries[1:]:
        if "table" in entry:
            if entry["table"] not in tables:
                raise CorruptFileError(
                    f"{place} names a table {entry['table']!r} that this Hexamem does not have; nothing was imported"
                )
            rows.setdefault(entry["table"], []).append(entry["row"])
        elif "file" in entry:
            keep_file(entry["file"], base64.b64decode(entry["data"]))
    for known, plaintext in opened:
        if restore_secret(tx, cipher, known, plaintext):
            counts["secrets"] = counts.get("secrets", 0) + 1
    # An item that is there keeps the sources it has: those of the file belong to the item as it was.
    held = {row.id for row in tx.all(select(items.c.id).where(items.c.user_id == tx.user_id))}
    rows[sources.name] = [row for row in rows.get(sources.name, []) if row["item_id"] not in held]
    labelled = _prepare_labels(tx, rows)
    _prepare_pages(tx, rows, base)
    highest = base
    for table in _TABLES:
        new = [_row(tx, table, row, base) for row in _unknown(tx, table, rows.get(table.name, []))]
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


def _prepare_labels(tx: Transaction, rows: dict[str, list[dict[str, Any]]]) -> set[str]:
    """Make labels fit those that are there; returns the steps that are there already and get an intent now.

    A label of a name that is there becomes an alias of that one, but a neutral name ("Scope 3") gets another number. A
    step that has an intent keeps its labels.
    """
    held_labels = tx.all(
        select(labels.c.id, labels.c.kind, labels.c.within, labels.c.name).where(
            labels.c.user_id == tx.user_id, labels.c.alias_of.is_(None), labels.c.undone.is_(False)
        )
    )
    known = {row.id for row in tx.all(select(labels.c.id).where(labels.c.user_id == tx.user_id))}
    taken = {(row.kind, row.within, row.name): row.id for row in held_labels}
    names = {*(row.name for row in held_labels), *(row["name"] for row in rows.get(labels.name, []))}
    for row in rows.get(labels.name, []):
        other = taken.get((row["kind"], row["within"], row["name"]))
        if other is None or row["id"] in known or row["alias_of"] is not None or row["undone"]:
            continue
        if not is_neutral_name(row["name"]):
            row["alias_of"] = other
            continue
        name = free_neutral_name(row["kind"], names)
        names.add(name)
        for change in rows.get(changes.name, []):
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
    given = {row["step_id"] for row in rows.get(intents.name, [])}
    held_steps = {row.id for row in tx.all(select(steps.c.id).where(steps.c.user_id == tx.user_id))}
    held = {row.step_id for row in tx.all(select(intents.c.step_id).where(intents.c.user_id == tx.user_id))}
    rows[labelings.name] = [
        row for row in rows.get(labelings.name, []) if row["target"] != "step" or row["target_id"] not in held
    ]
    # What a scope is about belongs to the label as it is in the file.
    rows[scopes.name] = [row for row in rows.get(scopes.name, []) if row["label_id"] not in known]
    return (given & held_steps) - held


def _prepare_pages(tx: Transaction, rows: dict[str, list[dict[str, Any]]], base: int) -> None:
    """Leave out the pages of threads that are there, which go on as they are, and memos of memos beside others.

    Paging makes anew what is left out. Pages count their changes by themselves.
    """
    held = {row.thread_id for row in tx.all(select(steps.c.thread_id).where(steps.c.user_id == tx.user_id).distinct())}
    kept = [row for row in rows.get(pages.name, []) if row["thread_id"] not in held]
    first = next_page_change(tx)
    rows[pages.name] = [{**row, "change": first + at - base} for at, row in enumerate(kept)]
    if held:
        rows[digests.name] = []


def _row(tx: Transaction, table: Table, row: dict[str, Any], base: int) -> dict[str, Any]:
    values = {column.name: _from_json(column, row.get(column.name)) for column in table.c if column.name != "user_id"}
    for name in ("change", "seq"):
        if values.get(name) is not None:
            values[name] += base
    if table is changes:
        # The records in the history name their user: from here on it is this one.
        for side in ("before", "after"):
            if values[side] is not None and "user" in values[side]:
                values[side] = {**values[side], "user": tx.user}
    return values


def _unknown(tx: Transaction, table: Table, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows whose key this user does not have yet."""
    if not rows:
        return []
    key = [column.name for column in table.primary_key if column.name != "user_id"]
    held = tx.all(select(*(table.c[name] for name in key)).where(table.c.user_id == tx.user_id))
    known = {tuple(row) for row in held}
    new = [row for row in rows if tuple(row[name] for name in key) not in known]
    if table is steps and known:
        _check_places(tx, new)
    return new


def _check_places(tx: Transaction, new: list[dict[str, Any]]) -> None:
    """Refuse steps that would stand where this user has others."""
    held = tx.all(select(steps.c.thread_id, steps.c.turn, steps.c.message_id).where(steps.c.user_id == tx.user_id))
    turns = {(row.thread_id, row.turn) for row in held}
    messages = {(row.thread_id, row.message_id) for row in held if row.message_id is not None}
    for row in new:
        if (row["thread_id"], row["turn"]) in turns or (row["thread_id"], row["message_id"]) in messages:
            raise InvalidInputError(
                f"thread {row['thread_id']!r} of user {tx.user!r} already has another step at turn {row['turn']}, or "
                "of the same message; import into a user without that thread"
            )
