"""Plain text and Markdown, whatever their encoding."""

from __future__ import annotations

import re
import unicodedata

from hexamem.errors import InvalidInputError
from hexamem.memory_types.files import Section
from hexamem.stores.file_readers.kinds import holds_controls

__all__ = ["NotTextError", "decode", "in_utf8", "markdown_sections", "read_markdown", "read_text"]

_MARKS = (
    (b"\xef\xbb\xbf", "utf-8-sig"),
    (b"\xff\xfe\x00\x00", "utf-32"),
    (b"\x00\x00\xfe\xff", "utf-32"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)
_SAMPLE = 256 * 1024
_SURE = 0.2  # charset-normalizer's measure of mess above which its guess is none
_NEAR = 0.1  # guesses whose measures are nearer to each other than this are as good as each other
# Those that texts are really in. With all that there are, rare ones win where a few letters are all there is to go by.
_BYTES = ["cp1252", "cp1250", "cp1251", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257", "koi8_r"]
_BYTES += ["gb18030", "big5", "cp949", "cp932", "euc_jp"]
_WIDE = ["utf_16_le", "utf_16_be", "utf_32_le", "utf_32_be"]
_WESTERN = "cp1252"
_MARKS_OF_TEXT = frozenset("€‚„…‘’“”–—•¡¿«»°§£©®·\N{NO-BREAK SPACE}´½¼¾ºª²³×")
_SHOWN = 3


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
    return _lines(_detected(data, name, refused)[0])


def in_utf8(data: bytes, name: str) -> tuple[bytes, tuple[str, ...]]:
    """The bytes of a text in UTF-8 (or, with its mark, as they are), and what to know of it: that its encoding was told
    by its letters alone, with some of them to judge by.

    Raises:
        NotTextError: as :func:`decode`.
    """
    if data.startswith(tuple(mark for mark, _ in _MARKS)):
        return data, ()
    if b"\0" not in data:
        try:
            data.decode("utf-8")
        except UnicodeDecodeError:
            pass
        else:
            return data, ()
    refused = NotTextError(f"{name} is no text in an encoding that can be told; save it as UTF-8")
    text, encoding = _detected(data, name, refused)
    words = list(dict.fromkeys(word for word in re.findall(r"\w+", text[:_SAMPLE]) if not word.isascii()))[:_SHOWN]
    letters = f" ({', '.join(repr(word[:24]) for word in words)})" if words else ""
    told = (
        f"{name} is not in UTF-8: read as {encoding}, which its letters suggest{letters}; where they are wrong, "
        "save it as UTF-8 and add it again"
    )
    return text.encode("utf-8"), (told,)


def _detected(data: bytes, name: str, refused: NotTextError) -> tuple[str, str]:
    """The text and the encoding that its letters tell."""
    try:
        from charset_normalizer import from_bytes
    except ImportError:
        raise InvalidInputError(
            f"{name} is not in UTF-8, and its encoding cannot be told without charset-normalizer: "
            "pip install 'hexamem[files]', or save it as UTF-8"
        ) from None
    names = _WIDE if b"\0" in data else _BYTES
    found = [
        one
        for one in from_bytes(data[:_SAMPLE], cp_isolation=names)
        if one.chaos <= _SURE and all(map(_plausible, set(str(one))))
    ]
    if not found:
        raise refused
    best = found[0]
    near = [one for one in found if one.chaos <= best.chaos + _NEAR and one.coherence >= best.coherence - _NEAR]
    encoding = best.encoding
    if any(_WESTERN in one.could_be_from_charset for one in near) and _western(data):
        encoding = _WESTERN
    elif not best.coherence and len({str(one) for one in found if one.chaos == best.chaos}) > 1:
        raise refused  # one guess is as good as the other
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        raise refused from None
    if "\0" in text or holds_controls(text.encode("utf-8")):
        raise refused
    return text, encoding


def _plausible(letter: str) -> bool:
    """Whether a character stands in texts: a wrong encoding gives marks and parts of letters that do not."""
    if letter.isascii() or letter in _MARKS_OF_TEXT or "\u3000" <= letter <= "\u303f" or "\uff01" <= letter <= "\uff5e":
        return True
    return unicodedata.category(letter)[0] in "LMN" and not "\u3130" <= letter <= "\u318f"


def _western(data: bytes) -> bool:
    """Whether bytes read as Windows-1252 look like it: letters with accents among plain ones."""
    try:
        text = data.decode(_WESTERN)
    except UnicodeDecodeError:
        return False
    accented = sum(one.isalpha() and not one.isascii() for one in text)
    plain = sum(one.isalpha() and one.isascii() for one in text)
    return 2 * accented <= plain and all(map(_plausible, set(text)))


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
    from hexamem.stores.chunking import headings

    found = list(headings(text))
    first = text[: found[0][0]] if found else text
    sections = [Section(text=first.strip())] if first.strip() else []
    for number, (start, level, words) in enumerate(found):
        end = found[number + 1][0] if number + 1 < len(found) else len(text)
        body = text[start:end].partition("\n")[2].strip()
        sections.append(Section(text=body, heading=words, level=level))
    return tuple(sections)
