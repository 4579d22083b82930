"""Web pages: the visible text, without scripts and styles."""

from __future__ import annotations

import re
from typing import Any

from hexamem.errors import InvalidInputError
from hexamem.memory_types.files import Section
from hexamem.stores.file_readers.text import markdown_sections

__all__ = ["read_html"]

_UNSEEN = ("script", "style", "noscript", "template", "svg", "iframe", "object", "head")
_BLOCKS = [
    *("p", "div", "section", "article", "header", "footer", "main", "aside", "nav", "ul", "ol", "dl", "dt", "dd"),
    *("table", "tr", "blockquote", "pre", "figure", "figcaption", "form", "fieldset", "address", "details", "summary"),
    "hr",
]
_BLANKS = re.compile(r"[ \t\r\f\v\n\u00a0]+")


def read_html(data: bytes | str, name: str) -> tuple[str, tuple[Section, ...], str]:
    """The text with its headings as Markdown's, lists with dashes, rows of tables as lines; sections; and the title.

    Raises:
        InvalidInputError: beautifulsoup4 is not installed, or the page is nested too deeply.
    """
    try:
        from bs4 import BeautifulSoup
    except ImportError:
        raise InvalidInputError(f"{name} is HTML: pip install 'hexamem[files]' to read it") from None
    try:
        page: Any = BeautifulSoup(data, "html.parser")
        title = _BLANKS.sub(" ", page.title.get_text()).strip() if page.title else ""
        text = _tidy(_text(page))
    except RecursionError:
        raise InvalidInputError(f"{name} is nested too deeply to be read as HTML: save it as text") from None
    return text, markdown_sections(text), title


def _text(page: Any) -> str:
    from bs4.element import CData, NavigableString

    for tag in page.find_all(_UNSEEN):
        tag.decompose()
    for node in page.find_all(string=True):
        if type(node) not in (NavigableString, CData):
            node.extract()  # comments, declarations
        elif node.find_parent("pre") is None:
            node.replace_with(NavigableString(_BLANKS.sub(" ", str(node))))
    for tag in page.find_all("br"):
        tag.replace_with(NavigableString("\n"))
    for tag in page.find_all(re.compile(r"^h[1-6]$")):
        words = _BLANKS.sub(" ", tag.get_text(" ")).strip()
        tag.replace_with(NavigableString(f"\n\n{'#' * int(tag.name[1])} {words}\n\n" if words else ""))
    for tag in page.find_all("li"):
        tag.insert(0, NavigableString("\n- "))
    for tag in page.find_all(["td", "th"]):
        row = tag.find_parent("tr")
        if row is not None and row.find(["td", "th"]) is not tag:
            tag.insert(0, NavigableString(" | "))
    for tag in page.find_all(_BLOCKS):
        tag.insert(0, NavigableString("\n"))
        tag.append(NavigableString("\n"))
    return str(page.get_text())


def _tidy(text: str) -> str:
    lines = [line.strip() for line in text.split("\n")]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()
