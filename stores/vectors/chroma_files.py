"""Chroma's files as they are on the disk: unused bytes, checksums, and the rows of a collection."""

from __future__ import annotations

import os
import sqlite3
import struct
import zlib
from contextlib import suppress
from pathlib import Path

__all__ = ["boot_id", "checksum", "checksums", "delete_collection", "zero_unused"]

_COUNT_AND_WIDTH, _COUNT_OFFSET = struct.Struct("<QQ"), 20  # in header.bin: elements, and bytes of each
_CHECKED_BYTES = 16 << 20


def boot_id() -> str | None:
    """An id that changes with every start of the machine; ``None`` where the system has none."""
    with suppress(OSError):
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip() or None
    return None


def zero_unused(segment: Path) -> None:
    """Zero the bytes after the last element in the files of an index, which Chroma does not read."""
    header = (segment / "header.bin").read_bytes() if (segment / "header.bin").exists() else b""
    if len(header) < _COUNT_AND_WIDTH.size + _COUNT_OFFSET:
        return  # no header yet, or truncated, which the seal shows
    count, width = _COUNT_AND_WIDTH.unpack_from(header, _COUNT_OFFSET)
    for name, used in (("data_level0.bin", count * width), ("length.bin", count * 4)):
        file = segment / name
        rest = file.stat().st_size - used if file.exists() else 0
        if rest > 0:
            with open(file, "rb+") as opened:
                opened.seek(used)
                opened.write(bytes(rest))


def checksums(segment: Path) -> dict[str, list[int]]:
    """Size and checksum of each file of a segment; empty without a folder."""
    return {path.name: checksum(path) for path in sorted(segment.glob("*"))}


def checksum(path: Path) -> list[int]:
    """A file's size, and its checksum unless it is large."""
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        return [size, zlib.crc32(file.read()) if size <= _CHECKED_BYTES else 0]


def delete_collection(database: sqlite3.Connection, name: str) -> None:
    """Delete a collection's rows, all of them."""
    collection = "(SELECT id FROM collections WHERE name = :name)"
    segments = f"(SELECT id FROM segments WHERE collection IN {collection})"
    records = f"(SELECT id FROM embeddings WHERE segment_id IN {segments})"
    # Documents are not stored, so the full-text table has no rows of Hexamem.
    for statement in (
        f"DELETE FROM embedding_metadata_array WHERE id IN {records}",
        f"DELETE FROM embedding_metadata WHERE id IN {records}",
        f"DELETE FROM embeddings WHERE segment_id IN {segments}",
        f"DELETE FROM segment_metadata WHERE segment_id IN {segments}",
        f"DELETE FROM max_seq_id WHERE segment_id IN {segments}",
        f"DELETE FROM embeddings_queue WHERE topic LIKE '%/' || {collection}",
        f"DELETE FROM segments WHERE collection IN {collection}",
        f"DELETE FROM collection_metadata WHERE collection_id IN {collection}",
        "DELETE FROM collections WHERE name = :name",
    ):
        database.execute(statement, {"name": name})
