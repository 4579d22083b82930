"""Plain text and Markdown, whatever their encoding."""

from __future__ import annotations

from ...errors import InvalidInputError
from ...memory_types.files import Section
from .kinds import holds_controls

__all__ = ["NotTextError", "decode", "markdown_sections", "read_markdown", "read_text"]

_MARKS = (
    (b"\xef\xbb\xbf", "utf-8-sig"),
    (b"\xff\xfe\x00\x00", "utf-32"),
    (b"\x00\x00\xfe\xff", "utf-32"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)
_SAMPLE = 256 * 1024
_SURE = 0.2  # charset-normalizer's measure of mess above which its guess is none


class NotTextError(InvalidInputError):
    """The bytes are no text, or not in an encoding that can be told."""


def decode(data: bytes, name: str) -> str:
    """The text of a file, lines ended by ``\\n``: by its mark, else UTF-8, else the encoding that its letters tell.

    Raises:
        NotTextError: if it is no text.
    """
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            try:
                return _lines(data.decode(encoding))
            except UnicodeDecodeError:
                raise NotTextError(f"{name} begins as {encoding} and is damaged: save it anew as UTF-8") from None
    refused = NotTextError(f"{name} is no text in an encoding that can be told")
    if b"\0" not in data:
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError:
            pass  # another encoding: see below
        else:
            if holds_controls(data):
                raise refused
            return _lines(text)
    return _lines(_detected(data, name, refused))


def _detected(data: bytes, name: str, refused: NotTextError) -> str:
    try:
        from charset_normalizer import from_bytes
    except ImportError:
        raise InvalidInputError(
            f"{name} is not in UTF-8, and its encoding cannot be told without charset-normalizer: "
            "pip install 'hexamem[files]', or save it as UTF-8"
        ) from None
    found = from_bytes(data[:_SAMPLE]).best()
    if found is None or found.chaos > _SURE:
        raise refused
    try:
        text = data.decode(found.encoding)
    except UnicodeDecodeError:
        raise refused from None
    if "\0" in text or holds_controls(text.encode("utf-8")):
        raise refused
    return text


def _lines(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def read_text(data: bytes, name: str) -> tuple[str, tuple[Section, ...]]:
    """The text; a form feed in it parts pages."""
    text = decode(data, name)
    pages = text.split("\f")
    if len(pages) == 1:
        return text, (Section(text=text),)
    return text, tuple(Section(text=page, page=number) for number, page in enumerate(pages, 1) if page.strip())


def read_markdown(data: bytes, name: str) -> tuple[str, tuple[Section, ...]]:
    """The text as it is, and its sections by heading."""
    text = decode(data, name).replace("\f", "\n")
    return text, markdown_sections(text)


def markdown_sections(text: str) -> tuple[Section, ...]:
    """What stands under each heading of a Markdown text; what stands before the first has none."""
    from ..chunking import headings

    found = list(headings(text))
    first = text[: found[0][0]] if found else text
    sections = [Section(text=first.strip())] if first.strip() else []
    for number, (start, level, words) in enumerate(found):
        end = found[number + 1][0] if number + 1 < len(found) else len(text)
        body = text[start:end].partition("\n")[2].strip()
        sections.append(Section(text=body, heading=words, level=level))
    return tuple(sections)
