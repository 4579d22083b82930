"""Chroma's files on disk, read and cleared while Chroma has them closed.

Two things Chroma 1.5 cannot do by itself: tell whether an HNSW segment can be loaded (a truncated one crashes the
process, chroma issue 7238), and really delete a collection (its folder, its rows in the full array table and the free
pages of the database stay). Chroma carries its own copy of SQLite, and two copies of SQLite in one process lose each
other's file locks, so **everything here that opens the database must run with Chroma closed**.
"""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
import struct
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import numpy as np

__all__ = [
    "DATABASE",
    "Stored",
    "all_segments",
    "move_aside",
    "purge",
    "read_catalog",
    "remove_damaged",
    "remove_orphans",
    "segment_damage",
    "segment_ids",
]

DATABASE = "chroma.sqlite3"
_UUID = re.compile("[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}")
_FILES = ("header.bin", "data_level0.bin", "length.bin", "link_lists.bin", "index_metadata.pickle")
# version, offset of level 0, capacity, elements, bytes an element, offset of the label, offset of the vector,
# highest level, entry point, links an element on upper levels, on level 0, M, level multiplier, ef_construction
_HEADER = struct.Struct("<i6QiI3QdQ")
_DEEP_CHECK_BYTES = 16 << 20


@dataclass(frozen=True, kw_only=True)
class Stored:
    """What the database says about one collection.

    Attributes:
        collection_id: Chroma's id of the collection.
        segment_id: id of its vector segment, the name of its folder.
        dimension: length of its vectors; ``None`` before the first write.
        persisted: whether its vectors have ever been written to the folder (and so left the queue).
        metadata: the collection's own metadata, strings and numbers.
    """

    collection_id: str
    segment_id: str
    dimension: int | None
    persisted: bool
    metadata: dict[str, str | int | float]


def read_catalog(folder: Path, *, prefix: str, thorough: bool) -> dict[str, Stored]:
    """Every collection whose name starts with ``prefix``, by name.

    Args:
        thorough: check the whole database first, which reads all of it.

    Raises:
        sqlite3.DatabaseError: the file is no sound database.
    """
    with closing(_connect(folder)) as database:
        if thorough:
            verdict = database.execute("PRAGMA quick_check(1)").fetchone()[0]
            if verdict != "ok":
                raise sqlite3.DatabaseError(verdict)
        if not database.execute("SELECT 1 FROM sqlite_master WHERE name = 'collections'").fetchone():
            return {}
        like = prefix.replace("_", r"\_") + "%"
        rows = database.execute(
            "SELECT c.name, c.id, s.id, c.dimension, m.seq_id IS NOT NULL FROM collections c "
            "JOIN segments s ON s.collection = c.id AND s.scope = 'VECTOR' "
            "LEFT JOIN max_seq_id m ON m.segment_id = s.id WHERE c.name LIKE ? ESCAPE '\\'",
            (like,),
        ).fetchall()
        metadata: dict[str, dict[str, str | int | float]] = {}
        for identity, key, *values in database.execute(
            "SELECT collection_id, key, str_value, int_value, float_value FROM collection_metadata"
        ):
            value = next((value for value in values if value is not None), None)
            if value is not None:
                metadata.setdefault(identity, {})[key] = value
    return {
        name: Stored(
            collection_id=identity,
            segment_id=segment,
            dimension=dimension,
            persisted=bool(persisted),
            metadata=metadata.get(identity, {}),
        )
        for name, identity, segment, dimension, persisted in rows
    }


def all_segments(folder: Path) -> set[str]:
    """Ids of every segment the database knows, also of collections that are not ours."""
    with closing(_connect(folder)) as database:
        if not database.execute("SELECT 1 FROM sqlite_master WHERE name = 'segments'").fetchone():
            return set()
        return {row[0] for row in database.execute("SELECT id FROM segments")}


def segment_ids(folder: Path) -> set[str]:
    """Ids of the segments that have a folder."""
    return {entry.name for entry in os.scandir(folder) if entry.is_dir() and _is_uuid(entry.name)}


def segment_damage(folder: Path, stored: Stored) -> str | None:
    """Why the collection's HNSW files cannot be loaded, in one phrase; ``None`` when they can.

    Compares the sizes of the five files with what the header and the database announce, and for files up to 16 MB
    also the links of every element. It never lets Chroma touch them.
    """
    home = folder / stored.segment_id
    if not home.exists():
        return f"the folder {home.name} is missing" if stored.persisted else None
    if not (home / _FILES[-1]).exists():
        # Never persisted: Chroma writes the files anew and replays its queue. Persisted: the queue is gone.
        return f"{home.name}/{_FILES[-1]} is missing" if stored.persisted else None
    sizes = {name: (home / name).stat().st_size if (home / name).exists() else -1 for name in _FILES}
    for name, size in sizes.items():
        if size < 0:
            return f"{home.name}/{name} is missing"
    problem = _header_damage(home, sizes, stored.dimension)
    return f"{home.name}/{problem}" if problem else None


def _header_damage(home: Path, sizes: dict[str, int], dimension: int | None) -> str | None:
    raw = (home / "header.bin").read_bytes()
    if len(raw) != _HEADER.size:
        return f"header.bin has {len(raw)} bytes instead of {_HEADER.size}"
    version, _, capacity, count, width, label, vector, levels, entry, links_up, links_0, *_ = _HEADER.unpack(raw)
    expected = links_0 * 4 + 4 + (dimension or 0) * 4
    if (
        version != 1
        or not 0 <= count <= capacity
        or (dimension is not None and (label != expected or vector != links_0 * 4 + 4 or width != expected + 8))
        or not 0 < links_up <= 4096
        or not -1 <= levels <= 64
        or (count > 0 and entry >= count)
    ):
        return "header.bin does not hold a header"
    if sizes["data_level0.bin"] < count * width:
        return f"data_level0.bin has {sizes['data_level0.bin']} bytes, {count} elements need {count * width}"
    if sizes["length.bin"] < count * 4:
        return f"length.bin has {sizes['length.bin']} bytes, {count} elements need {count * 4}"
    # Each element has four bytes and a whole number of link blocks.
    rest = sizes["link_lists.bin"] - count * 4
    if rest < 0 or rest % (links_up * 4 + 4):
        return f"link_lists.bin has {sizes['link_lists.bin']} bytes, which does not fit {count} elements"
    with open(home / _FILES[-1], "rb") as file:
        file.seek(max(0, sizes[_FILES[-1]] - 1))
        if file.read() != b".":
            return f"{_FILES[-1]} is cut off"
    if 0 < count * width <= _DEEP_CHECK_BYTES:
        level0 = np.fromfile(home / "data_level0.bin", np.uint8, count * width).reshape(count, width)
        degrees = np.ascontiguousarray(level0[:, :2]).view(np.uint16)[:, 0]
        links = np.ascontiguousarray(level0[:, 4 : 4 + links_0 * 4]).view(np.uint32)
        used = np.arange(links_0) < degrees[:, None]
        if (degrees > links_0).any() or (links[used] >= count).any():
            return "data_level0.bin holds links to elements that do not exist"
    return None


def purge(folder: Path, stored: Sequence[Stored], *, vacuum: bool) -> None:
    """Take every trace of these collections out of the database, then remove their folders.

    Chroma's own ``delete_collection`` leaves the rows of array values, and because row ids are used again the labels
    of a deleted collection then appear on the next user's records: so the rows are deleted here, in one transaction.

    Args:
        vacuum: also rewrite the database, so that no free page keeps old content (it needs as much free disk as
            the database has).

    Raises:
        sqlite3.Error: the database is damaged or the disk full; nothing was removed then.
    """
    with closing(_connect(folder)) as database:
        if not database.execute("SELECT 1 FROM sqlite_master WHERE name = 'collections'").fetchone():
            return  # Chroma was never started here
        database.execute("PRAGMA secure_delete = ON")
        database.execute("BEGIN IMMEDIATE")
        for item in stored:
            _purge_one(database, item.collection_id)
        # What earlier deletions by others have left behind (see above).
        database.execute("DELETE FROM embedding_metadata_array WHERE id NOT IN (SELECT id FROM embeddings)")
        database.execute("COMMIT")
        if vacuum:
            database.execute("VACUUM")
    for item in stored:
        if (folder / item.segment_id).exists():
            shutil.rmtree(folder / item.segment_id)


def _purge_one(database: sqlite3.Connection, collection_id: str) -> None:
    segments = "(SELECT id FROM segments WHERE collection = ?)"
    records = f"(SELECT id FROM embeddings WHERE segment_id IN {segments})"
    # Documents are never stored, so the full-text table has nothing of ours.
    for statement in (
        f"DELETE FROM embedding_metadata_array WHERE id IN {records}",
        f"DELETE FROM embedding_metadata WHERE id IN {records}",
        f"DELETE FROM embeddings WHERE segment_id IN {segments}",
        f"DELETE FROM segment_metadata WHERE segment_id IN {segments}",
        f"DELETE FROM max_seq_id WHERE segment_id IN {segments}",
        "DELETE FROM embeddings_queue WHERE topic LIKE '%/' || ?",
        "DELETE FROM segments WHERE collection = ?",
        "DELETE FROM collection_metadata WHERE collection_id = ?",
        "DELETE FROM collections WHERE id = ?",
    ):
        database.execute(statement, (collection_id,))


def remove_orphans(folder: Path, keep: Iterable[str]) -> int:
    """Remove segment folders that no collection owns (they hold vectors of erased or lost collections); how many."""
    kept = set(keep)
    removed = 0
    for child in folder.iterdir():
        if child.is_dir() and child.name not in kept and _is_uuid(child.name):
            shutil.rmtree(child)
            removed += 1
    return removed


def move_aside(folder: Path) -> Path:
    """Rename a database that cannot be read, with its SQLite companions; returns the new path."""
    number = 1
    while (target := folder / f"{DATABASE}.damaged-{number}").exists():
        number += 1
    (folder / DATABASE).rename(target)
    for suffix in ("-journal", "-wal", "-shm"):
        companion = folder / (DATABASE + suffix)
        if companion.exists():
            companion.rename(folder / (target.name + suffix))
    return target


def remove_damaged(folder: Path) -> int:
    """Delete the databases that were moved aside (erasure must reach them too); how many files."""
    files = list(folder.glob(f"{DATABASE}.damaged-*"))
    for file in files:
        file.unlink()
    return len(files)


def _is_uuid(name: str) -> bool:
    return _UUID.fullmatch(name) is not None


def _connect(folder: Path) -> sqlite3.Connection:
    return sqlite3.connect(folder / DATABASE, timeout=30, isolation_level=None)
