"""PDF documents, page by page."""

from __future__ import annotations

import io
import logging
import re

from hexamem.errors import InvalidInputError
from hexamem.memory_types.files import Section

__all__ = ["read_pdf"]

_MOST_PAGES = 10_000
_HYPHEN = re.compile(r"(?<=[a-zà-ÿ])-\n(?=[a-zà-ÿ])")


def read_pdf(data: bytes, name: str, longest: int) -> tuple[str, tuple[Section, ...], str, tuple[str, ...]]:
    """The text with a form feed between pages, hyphenated words joined; sections; title; pages that failed, for ``degraded``.

    Args:
        longest: maximum characters of text.

    Raises:
        InvalidInputError: pypdf is not installed, or the document is encrypted, damaged, too long, or without text.
    """
    try:
        from pypdf import PdfReader
    except ImportError:
        raise InvalidInputError(f"{name} is a PDF: pip install pypdf to read it") from None
    log = logging.getLogger("pypdf")
    if not log.handlers:  # without logging configured, pypdf would write a line to stderr for each flaw
        log.addHandler(logging.NullHandler())
    try:
        reader = PdfReader(io.BytesIO(data), strict=False)
        locked = reader.is_encrypted and not reader.decrypt("")
        count = 0 if locked else len(reader.pages)
    except Exception as error:  # noqa: BLE001 - pypdf raises any exception on a damaged file
        raise InvalidInputError(f"{name} cannot be read as PDF ({_describe(error)}): it may be damaged") from None
    if locked:
        raise InvalidInputError(f"{name} is encrypted: save it without a password, then add it")
    if count > _MOST_PAGES:
        raise InvalidInputError(f"{name} has {count:,} pages; the limit is {_MOST_PAGES:,}: split it")
    pages: list[str] = []
    failed: list[int] = []
    size = 0
    for number in range(count):
        try:
            text = reader.pages[number].extract_text()
        except Exception:  # noqa: BLE001 - as above; the page is listed in degraded
            failed.append(number + 1)
            text = ""
        page = _HYPHEN.sub("", text.replace("\f", "\n").replace("\0", "")).strip()
        size += len(page) + 1
        if size > longest:
            raise InvalidInputError(f"{name} contains more than {longest:,} characters of text: split it")
        pages.append(page)
    if len(failed) == count:
        raise InvalidInputError(f"{name} cannot be read as PDF (none of its {count:,} pages): it may be damaged")
    if not any(pages):
        raise InvalidInputError(
            f"{name} contains no text on its {count:,} page(s), only pictures: run text recognition (OCR) on it first"
        )
    degraded = (f"{name}: page(s) {', '.join(map(str, failed))} could not be read",) if failed else ()
    sections = tuple(Section(text=page, page=number) for number, page in enumerate(pages, 1) if page)
    return "\f".join(pages), sections, _title(reader), degraded


def _title(reader: object) -> str:
    try:
        title = reader.metadata.title  # type: ignore[attr-defined]
    except Exception:  # noqa: BLE001 - a document without a readable title has none
        return ""
    return title.strip() if isinstance(title, str) else ""


def _describe(error: Exception) -> str:
    """The error in one short line, without the words of the document."""
    first = next(iter(str(error).splitlines()), "")[:80]
    return first if type(error).__module__.startswith("pypdf") and first else type(error).__name__
