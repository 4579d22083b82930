"""Export and import of a user as a file: completely or not at all."""

from __future__ import annotations

import base64
import hashlib
import os
import tempfile
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy.exc import IntegrityError

from hexamem.errors import (
    CorruptFileError,
    HexamemError,
    HomeNotWritableError,
    InvalidInputError,
    NotFoundError,
)
from hexamem.memory_types.times import read_zone
from hexamem.stores.disk import sync_folder
from hexamem.stores.ledger import Ledger, import_lines, read_entries, user_key
from hexamem.stores.ledger.transfer import export_lines, open_secrets, row_entries
from hexamem.stores.ledger.vault import audit_export
from hexamem.stores.media import MediaStore, adding_before, stored_files
from hexamem.stores.secrets import Cipher

__all__ = ["export_file", "import_file"]


def export_file(
    path: Path, user: str, ledger: Ledger, cipher: Cipher, media: MediaStore, *, passphrase: str | None = None
) -> dict[str, int]:
    """Write a user's export beside its final name, then rename it; see ``UserMemory.export``."""
    if passphrase is not None and not passphrase:
        raise InvalidInputError("the passphrase is empty; give one, or leave it out to export without secrets")
    counts: dict[str, int] = {}
    partial: Path | None = None
    try:
        # A random name, since "NAME.partial" may exist already; readable by its owner alone.
        descriptor, name = tempfile.mkstemp(prefix=".hexamem-export-", suffix=".partial", dir=path.parent)
        partial = Path(name)
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as out:
            revealed: list[str] = []
            with closing(_entries(user, ledger, cipher, media, passphrase)) as entries:
                out.writelines(export_lines(_counted(entries, counts, revealed)))
            out.flush()
            os.fsync(out.fileno())
        if revealed:  # before the file gets its name
            with ledger.write(user, create=False) as tx:
                audit_export(tx, revealed)
        partial.replace(path)
        sync_folder(path.parent)
    except OSError as error:
        if isinstance(error, HexamemError):
            raise
        raise HomeNotWritableError(
            f"{path} cannot be written ({error.strerror or error}): choose another file"
        ) from None
    finally:
        if partial is not None:
            partial.unlink(missing_ok=True)
    return counts


def _entries(
    user: str, ledger: Ledger, cipher: Cipher, media: MediaStore, passphrase: str | None
) -> Generator[dict[str, Any], None, None]:
    """The rows of one snapshot of the ledger; the media after it, so that no writer waits for their bytes."""
    with ledger.read(user) as tx:
        yield from row_entries(tx, cipher, passphrase)
        hashes = sorted(stored_files(tx))
    for sha256, data in _media(user, ledger, media, hashes):
        yield {"file": sha256, "data": base64.b64encode(data).decode()}


def _counted(
    entries: Iterable[dict[str, Any]], counts: dict[str, int], revealed: list[str]
) -> Iterator[dict[str, Any]]:
    """The entries; their numbers by kind and the ids of the secrets are noted."""
    for entry in entries:
        kind = entry.get("table") or ("secrets" if "secret" in entry else "media" if "file" in entry else None)
        if kind is not None:
            counts[kind] = counts.get(kind, 0) + 1
        if "secret" in entry:
            revealed.append(entry["secret"]["id"])
        yield entry


def _media(user: str, ledger: Ledger, media: MediaStore, hashes: Sequence[str]) -> Iterator[tuple[str, bytes]]:
    """The hash and the bytes of each file.

    Raises:
        CorruptFileError: if one of them is missing or damaged.
        HexamemError: if it was erased or redacted while the export ran.
    """
    key = user_key(user)
    for sha256 in hashes:
        try:
            data = media.get(key, sha256)
        except (NotFoundError, FileNotFoundError):
            data = None
        if data is None or hashlib.sha256(data).hexdigest() != sha256:
            with ledger.read(user) as tx:
                in_ledger = sha256 in stored_files(tx)
            if not in_ledger:
                raise HexamemError(f"user {user!r} was redacted or erased while the export ran: export again")
            raise CorruptFileError(
                f"the media {sha256} of user {user!r} under {media.root} are missing or damaged: restore the file "
                "from a backup, then export again"
            )
        yield sha256, data


def import_file(
    path: Path,
    user: str,
    ledger: Ledger,
    cipher: Cipher,
    media: MediaStore,
    *,
    passphrase: str | None = None,
    timezone: str = "UTC",
    chosen: bool = False,
) -> dict[str, int]:
    """Read, check and import an export; see ``UserMemory.import_``.

    Args:
        timezone: of a new user.
        chosen: whether the caller chose it; else the timezone of the export takes precedence.
    """
    try:
        with path.open("rb") as lines:
            entries = read_entries(lines, path.name)
    except CorruptFileError:
        raise
    except OSError as error:
        raise InvalidInputError(f"{path} cannot be read ({error.strerror or error})") from None
    with adding_before(media, ledger, user) as put:

        def keep_file(sha256: str, data: bytes) -> None:
            if put(data) != sha256:
                raise CorruptFileError(f"{path.name}: the media {sha256[:12]}… do not have that hash")

        with _checked_rows(path.name):
            opened = open_secrets(entries, passphrase)
            for entry in entries:
                if "file" in entry:
                    keep_file(entry["file"], base64.b64decode(entry["data"]))
        zone = timezone if chosen else _timezone(entries[0], timezone)
        with ledger.write(user, timezone=zone) as tx, _checked_rows(path.name):
            return import_lines(tx, entries, cipher=cipher, opened=opened, keep_file=keep_file, place=path.name)


def _timezone(header: Mapping[str, Any], otherwise: str) -> str:
    """The timezone of the exported user, if it is known here."""
    try:
        read_zone(header["timezone"])
    except (InvalidInputError, KeyError):
        return otherwise
    return str(header["timezone"])


@contextmanager
def _checked_rows(place: str) -> Iterator[None]:
    """Translate the errors of rows that do not fit the ledger: export did not write them."""
    try:
        yield
    except HexamemError:
        raise
    except (AttributeError, KeyError, TypeError, ValueError, IntegrityError) as error:
        if isinstance(error, IntegrityError) and "constraint" not in str(error.orig):
            raise  # an error of the database
        raise CorruptFileError(
            f"the checksum of {place} is right, but its rows do not fit the ledger ({type(error).__name__}): it was "
            "not written by export; nothing was imported"
        ) from None
