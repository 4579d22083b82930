"""Web pages: the visible text, without scripts and styles."""

from __future__ import annotations

import re
from typing import Any

from hexamem.errors import InvalidInputError
from hexamem.memory_types.files import Section
from hexamem.stores.file_readers.text import markdown_sections

__all__ = ["read_html"]

_UNSEEN = ("script", "style", "noscript", "template", "svg", "iframe", "object", "head")
_BLOCKS = frozenset(
    (
        *("p", "div", "section", "article", "header", "footer", "main", "aside", "nav", "ul", "ol", "dl"),
        *("dt", "dd", "table", "tr", "blockquote", "pre", "figure", "figcaption", "form", "fieldset"),
        *("address", "details", "summary", "hr"),
    )
)
_HEADING = re.compile("h[1-6]")
_BLANKS = re.compile(r"[ \t\r\f\v\n\u00a0]+")


def read_html(data: bytes | str, name: str) -> tuple[str, tuple[Section, ...], str]:
    """The text with its headings as Markdown's, lists with dashes, rows of tables as lines; sections; and the title.

    Raises:
        InvalidInputError: beautifulsoup4 is not installed, or the page is nested too deeply or malformed.
    """
    try:
        from bs4 import BeautifulSoup
    except ImportError:
        raise InvalidInputError(f"{name} is HTML: pip install beautifulsoup4 to read it") from None
    try:
        page: Any = BeautifulSoup(data, "html.parser")
        title = _BLANKS.sub(" ", page.title.get_text()).strip() if page.title else ""
        text = _tidy(_text(page))
    except RecursionError:
        raise InvalidInputError(f"{name} is nested too deeply to be read as HTML: save it as text") from None
    except Exception as error:  # noqa: BLE001 - the parser raises several on malformed declarations
        raise InvalidInputError(
            f"{name} cannot be read as HTML ({type(error).__name__}): save it as text, or correct it"
        ) from None
    return text, markdown_sections(text), title


def _text(page: Any) -> str:
    """The text of a parsed page, in one pass without recursion: a page may be nested as deeply as it is long."""
    from bs4.element import CData, NavigableString, Tag

    written: list[str] = []
    heading: list[str] | None = None  # the words of the heading ``opened``
    opened: Any = None
    preformatted = 0
    rows: list[bool] = []  # for each open row of a table: whether it has a cell
    waiting: list[tuple[Any, bool]] = [(page, False)]
    while waiting:
        node, closes = waiting.pop()
        if not isinstance(node, Tag):
            if type(node) in (NavigableString, CData):  # no comment or declaration
                text = str(node) if preformatted else _BLANKS.sub(" ", node)
                (written if heading is None else heading).append(text)
            continue
        name = node.name
        if name in _UNSEEN:
            continue
        if not closes:
            waiting.append((node, True))
            waiting += [(child, False) for child in reversed(node.contents)]
        if name == "pre":
            preformatted += -1 if closes else 1
        if name == "tr":
            rows.pop() if closes else rows.append(False)
        if heading is not None:
            if node is opened:
                words = _BLANKS.sub(" ", " ".join(heading)).strip()
                written.append(f"\n\n{'#' * int(name[1])} {words}\n\n" if words else "")
                heading = None
        elif _HEADING.fullmatch(name):
            heading, opened = [], node
        elif name in _BLOCKS:
            written.append("\n")
        elif not closes:
            if name == "br":
                written.append("\n")
            elif name == "li":
                written.append("\n- ")
            elif name in ("td", "th") and rows:
                written.append(" | " if rows[-1] else "")
                rows[-1] = True
    return "".join(written)


def _tidy(text: str) -> str:
    lines = [line.strip() for line in text.split("\n")]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()
