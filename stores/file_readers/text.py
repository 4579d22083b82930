"""Plain text and Markdown, whatever their encoding."""

from __future__ import annotations

import re
import unicodedata

from hexamem.errors import InvalidInputError
from hexamem.memory_types.files import Section
from hexamem.stores.file_readers.kinds import holds_controls

__all__ = ["NotTextError", "decode", "markdown_sections", "read_markdown", "read_text"]

_MARKS = (
    (b"\xef\xbb\xbf", "utf-8-sig"),
    (b"\xff\xfe\x00\x00", "utf-32"),
    (b"\x00\x00\xfe\xff", "utf-32"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)
_SAMPLE = 256 * 1024
_MAX_CHAOS = 0.2  # charset-normalizer's measure of mess above which a guess is rejected
_NEAR = 0.1  # guesses whose measures differ by less count as equal
# Common encodings only: with all encodings, rare ones win for texts with few letters outside ASCII.
_BYTES = ["cp1252", "cp1250", "cp1251", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257", "koi8_r"]
_BYTES += ["gb18030", "big5", "cp949", "cp932", "euc_jp"]
_WIDE = ["utf_16_le", "utf_16_be", "utf_32_le", "utf_32_be"]
_WESTERN = "cp1252"
_MARKS_OF_TEXT = frozenset("€‚„…‘’“”–—•¡¿«»°§£©®·\N{NO-BREAK SPACE}´½¼¾ºª²³×")
_SHOWN = 3


class NotTextError(InvalidInputError):
    """The bytes are not text, or not in an encoding that can be recognized."""


def decode(data: bytes, name: str) -> tuple[str, tuple[str, ...]]:
    """The text of a file, lines ended by ``\\n``: by its byte order mark, else as UTF-8, else in the encoding that its
    letters suggest.

    Returns:
        The text, and a warning for ``degraded`` if the encoding was guessed.

    Raises:
        NotTextError: the file is not text.
    """
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            try:
                return _lines(data.decode(encoding)), ()
            except UnicodeDecodeError:
                raise NotTextError(f"{name} begins as {encoding} and is damaged: save it again as UTF-8") from None
    refused = NotTextError(f"{name} is not text in an encoding that can be recognized; save it as UTF-8")
    if b"\0" not in data:
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError:
            pass  # another encoding
        else:
            if holds_controls(data):
                raise refused
            return _lines(text), ()
    text, encoding = _detected(data, name, refused)
    words = list(dict.fromkeys(word for word in re.findall(r"\w+", text[:_SAMPLE]) if not word.isascii()))[:_SHOWN]
    letters = f" ({', '.join(repr(word[:24]) for word in words)})" if words else ""
    warning = (
        f"{name} is not in UTF-8: read as {encoding}, which its letters suggest{letters}; where they are wrong, "
        "save it as UTF-8 and add it again"
    )
    return _lines(text), (warning,)


def _detected(data: bytes, name: str, refused: NotTextError) -> tuple[str, str]:
    """The text, and the encoding that its letters suggest."""
    try:
        from charset_normalizer import from_bytes
    except ImportError:
        raise InvalidInputError(
            f"{name} is not in UTF-8, and its encoding cannot be recognized: "
            "pip install charset-normalizer, or save it as UTF-8"
        ) from None
    names = _WIDE if b"\0" in data else _BYTES
    guesses = [
        guess
        for guess in from_bytes(data[:_SAMPLE], cp_isolation=names)
        if guess.chaos <= _MAX_CHAOS and all(map(_plausible, set(str(guess))))
    ]
    if not guesses:
        raise refused
    best = guesses[0]
    near = [
        guess for guess in guesses if guess.chaos <= best.chaos + _NEAR and guess.coherence >= best.coherence - _NEAR
    ]
    encoding = best.encoding
    if any(_WESTERN in guess.could_be_from_charset for guess in near) and _western(data):
        encoding = _WESTERN
    elif not best.coherence and len({str(guess) for guess in guesses if guess.chaos == best.chaos}) > 1:
        raise refused  # different texts fit equally well
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        raise refused from None
    if "\0" in text or holds_controls(text.encode("utf-8")):
        raise refused
    return text, encoding


def _plausible(letter: str) -> bool:
    """Whether a character occurs in texts: a wrong encoding results in marks and parts of letters that do not."""
    if letter.isascii() or letter in _MARKS_OF_TEXT or "\u3000" <= letter <= "\u303f" or "\uff01" <= letter <= "\uff5e":
        return True
    return unicodedata.category(letter)[0] in "LMN" and not "\u3130" <= letter <= "\u318f"


def _western(data: bytes) -> bool:
    """Whether the bytes look like Windows-1252: few accented letters among plain ones."""
    try:
        text = data.decode(_WESTERN)
    except UnicodeDecodeError:
        return False
    accented = sum(char.isalpha() and not char.isascii() for char in text)
    plain = sum(char.isalpha() and char.isascii() for char in text)
    return 2 * accented <= plain and all(map(_plausible, set(text)))


def _lines(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def read_text(text: str) -> tuple[str, tuple[Section, ...]]:
    """The text, and its pages, which form feeds separate."""
    pages = text.split("\f")
    if len(pages) == 1:
        return text, (Section(text=text),)
    return text, tuple(Section(text=page, page=number) for number, page in enumerate(pages, 1) if page.strip())


def read_markdown(text: str) -> tuple[str, tuple[Section, ...]]:
    """The text, and its sections by heading."""
    text = text.replace("\f", "\n")
    return text, markdown_sections(text)


def markdown_sections(text: str) -> tuple[Section, ...]:
    """A section for each heading of a Markdown text, and one without a heading for the text before the first."""
    from hexamem.stores.chunking import headings

    lines = list(headings(text))
    first = text[: lines[0][0]] if lines else text
    sections = [Section(text=first.strip())] if first.strip() else []
    for number, (start, level, words) in enumerate(lines):
        end = lines[number + 1][0] if number + 1 < len(lines) else len(text)
        body = text[start:end].partition("\n")[2].strip()
        sections.append(Section(text=body, heading=words, level=level))
    return tuple(sections)
