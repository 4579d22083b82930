"""Loads a file within its limits and reads it with the reader of its kind."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from hexamem.errors import InvalidInputError
from hexamem.memory_types.files import ReadFile, Section
from hexamem.stores.file_readers.csv import read_csv
from hexamem.stores.file_readers.docx import read_docx
from hexamem.stores.file_readers.html import read_html
from hexamem.stores.file_readers.kinds import OTHER, READABLE, FileKind, kind_of
from hexamem.stores.file_readers.pdf import read_pdf
from hexamem.stores.file_readers.text import NotTextError, decode, read_markdown, read_text

__all__ = ["LONGEST_TEXT", "load_file", "read_data", "read_file"]

LONGEST_TEXT = 16_000_000
"""Maximum characters of text of one file: about 8,000 pages."""
DEFAULT_BYTES = 64 * 1024 * 1024


def load_file(path: str | os.PathLike[str], max_bytes: int = DEFAULT_BYTES) -> bytes:
    """The bytes of a file.

    Raises:
        InvalidInputError: the file is missing, a folder, not a regular file, empty, unreadable or too large.
    """
    place = Path(path)
    try:
        # O_NONBLOCK: do not wait for a pipe without a writer.
        descriptor = os.open(place, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
        with os.fdopen(descriptor, "rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                what = "a folder; add its files one by one" if stat.S_ISDIR(status.st_mode) else "no regular file"
                raise InvalidInputError(f"{place} is {what}")
            if status.st_size > max_bytes:
                raise _too_large(place, status.st_size, max_bytes)
            data = file.read(max_bytes + 1)
    except FileNotFoundError:
        raise InvalidInputError(f"{place}: there is no such file") from None
    except IsADirectoryError:
        raise InvalidInputError(f"{place} is a folder; add its files one by one") from None
    except OSError as error:
        raise InvalidInputError(f"{place} cannot be read ({error.strerror or error})") from None
    if len(data) > max_bytes:  # the file grew meanwhile
        raise _too_large(place, len(data), max_bytes)
    if not data.strip(b" \t\r\n\0"):
        raise InvalidInputError(f"{place} is empty; there is nothing to add")
    return data


def _too_large(place: Path, size: int, limit: int) -> InvalidInputError:
    return InvalidInputError(
        f"{place} has {size:,} bytes; the limit is {limit:,}: split it, or raise Settings.max_file_bytes"
    )


def read_file(path: str | os.PathLike[str], *, max_bytes: int = DEFAULT_BYTES) -> ReadFile:
    """Read a file: txt, md, html, csv, tsv, pdf or docx; of a picture or recording only its kind.

    Of any other file too only the kind is returned (``archive``, ``video``, ``file``), and ``degraded`` says that nothing
    of it was read.

    Raises:
        InvalidInputError: the file cannot be read, with the reason and what to do.
    """
    return read_data(load_file(path, max_bytes), Path(path).name, max_bytes=max_bytes)


def read_data(data: bytes, name: str, *, max_bytes: int = DEFAULT_BYTES) -> ReadFile:
    """As :func:`read_file`, from the bytes of a file."""
    kind = kind_of(data, name)
    try:
        return _read(kind, data, name, max_bytes)
    except NotTextError as error:
        return _unread(FileKind("file", OTHER), str(error))


def _unread(kind: FileKind, why: str) -> ReadFile:
    """A file whose content is not read."""
    warning = f"{why}; it is stored unread and found by its name only (what can be read: {READABLE})"
    return ReadFile(mime_type=kind.mime_type, resource_type=kind.resource_type, degraded=(warning,))


def _read(kind: FileKind, data: bytes, name: str, max_bytes: int) -> ReadFile:
    if kind.unread:
        return _unread(kind, f"{name} is {kind.unread}")
    title = ""
    degraded: tuple[str, ...] = ()
    sections: tuple[Section, ...] = ()
    content = text = ""
    if kind.resource_type in ("csv", "markdown", "text") or (kind.resource_type == "html" and not _declares(data)):
        text, degraded = decode(data, name)
    match kind.resource_type:
        case "pdf":
            content, sections, title, degraded = read_pdf(data, name, LONGEST_TEXT)
        case "docx":
            content, sections, title = read_docx(data, name, LONGEST_TEXT, max_bytes)
        case "html":
            content, sections, title = read_html(text or data, name)
        case "csv":
            content, sections = read_csv(text, name)
        case "markdown":
            content, sections = read_markdown(text)
        case "text":
            content, sections = read_text(text)
        case _:
            return ReadFile(mime_type=kind.mime_type, resource_type=kind.resource_type)
    if not content.strip():
        raise InvalidInputError(f"{name} contains no text; there is nothing to add")
    if len(content) > LONGEST_TEXT:
        raise InvalidInputError(f"{name} contains {len(content):,} characters of text; the limit is {LONGEST_TEXT:,}")
    return ReadFile(
        title=title or _first_heading(sections),
        mime_type=kind.mime_type,
        resource_type=kind.resource_type,
        content=content,
        sections=sections,
        degraded=degraded,
    )


def _declares(data: bytes) -> bool:
    """Whether a page declares its encoding."""
    start = data[:4_096].lower()
    return b"charset" in start or b"encoding=" in start


def _first_heading(sections: tuple[Section, ...]) -> str:
    """The heading at the start of the document, if no other has a higher level."""
    headings = [section for section in sections if section.heading]
    if not headings or sections[0].heading is None or headings[0].level > min(section.level for section in headings):
        return ""
    return headings[0].heading or ""
