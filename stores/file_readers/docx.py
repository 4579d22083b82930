"""Word documents (docx), section by section."""

from __future__ import annotations

import io
import zipfile
from typing import Any

from hexamem.errors import InvalidInputError
from hexamem.memory_types.files import Section
from hexamem.stores.file_readers.text import markdown_sections

__all__ = ["read_docx"]

_MOST_PARTS = 10_000
_MOST_PIECES = 200_000  # paragraphs, rows of tables and runs
_MOST_COLUMNS = 1_000  # that the cells of a row span


def read_docx(data: bytes, name: str, longest: int, most_bytes: int) -> tuple[str, tuple[Section, ...], str]:
    """The text with its headings as Markdown's and the rows of tables as lines; sections; and the title.

    Headers, footers, comments and footnotes are left out.

    Args:
        longest: maximum characters of text.
        most_bytes: maximum size of the document unpacked.

    Raises:
        InvalidInputError: python-docx is not installed, or the document is damaged, encrypted, or unpacks to too much.
    """
    try:
        from docx import Document
    except ImportError:
        raise InvalidInputError(f"{name} is a Word document: pip install python-docx to read it") from None
    _check(data, name, most_bytes)
    try:
        document: Any = Document(io.BytesIO(data))
        text = "\n\n".join(line for line in _blocks(document) if line).strip()
        title = (document.core_properties.title or "").strip()
    except InvalidInputError as error:
        raise InvalidInputError(f"{name} {error}: split it") from None
    except Exception as error:  # noqa: BLE001 - python-docx raises any exception on a damaged file
        raise InvalidInputError(f"{name} cannot be read as docx ({type(error).__name__}): it may be damaged") from None
    if len(text) > longest:
        raise InvalidInputError(f"{name} contains more than {longest:,} characters of text: split it")
    return text, markdown_sections(text), title


def _check(data: bytes, name: str, most_bytes: int) -> None:
    """Check the unpacked size before anything is unpacked."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            parts = archive.infolist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        raise InvalidInputError(f"{name} cannot be read as docx (not a complete archive): it may be damaged") from None
    size = sum(part.file_size for part in parts)
    if size > most_bytes or len(parts) > _MOST_PARTS:
        raise InvalidInputError(
            f"{name} of {len(data):,} bytes unpacks to {size:,} bytes in {len(parts):,} parts; the limit is "
            f"{most_bytes:,} in {_MOST_PARTS:,}: take pictures out of it, or split it"
        )
    if any(part.flag_bits & 1 for part in parts):
        raise InvalidInputError(f"{name} is encrypted: save it without a password, then add it")


def _blocks(document: Any) -> list[str]:
    lines: list[str] = []
    pieces = document.element.body.xpath("count(.//w:p | .//w:tr | .//w:r)")
    if pieces > _MOST_PIECES:
        raise InvalidInputError(f"has {pieces:,.0f} paragraphs, rows and runs; the limit is {_MOST_PIECES:,}")
    level_of: dict[str | None, int] = {}  # style id → level, since python-docx searches all styles each time
    for block in document.iter_inner_content():
        if hasattr(block, "rows"):
            lines.append("\n".join(_row(row) for row in block.rows))
            continue
        words = block.text.replace("\f", "\n").strip()
        style_id = block._p.style
        if style_id not in level_of:
            level_of[style_id] = _level(block)
        level = level_of[style_id]
        lines.append(f"{'#' * level} {' '.join(words.split())}" if level and words else words)
    return lines


def _row(row: Any) -> str:
    cells: list[str] = []
    seen: set[int] = set()
    columns = sum(cell.grid_span for cell in row._tr.tc_lst)
    if columns > _MOST_COLUMNS:  # python-docx lists a cell once for each
        raise InvalidInputError(f"has a table of {columns:,} columns; the limit is {_MOST_COLUMNS:,}")
    for cell in row.cells:  # a merged cell is listed once for each column that it spans
        if id(cell._tc) not in seen:
            seen.add(id(cell._tc))
            cells.append(" ".join(cell.text.split()))
    return " | ".join(cells)


def _level(paragraph: Any) -> int:
    """The level of a heading, 1 to 6; 0 for any other paragraph."""
    style = (paragraph.style.name or "") if paragraph.style is not None else ""
    if style == "Title":
        return 1
    number = style.removeprefix("Heading ")
    return min(int(number), 6) if number != style and number.isdigit() and int(number) else 0
