"""Which parts of a message are its user's own words, as opposed to text that was pasted into it.

What changes or removes a memory needs the user's own words, since the authors of pages, mails and tool output may write
whatever they like. The decision is by the structure of the message alone, not by its language. In doubt a text is pasted:
a fact in it is then added beside what is known, not in place of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from hexamem.memory_types import Step

__all__ = ["in_own_words"]

_LONGEST = 600  # characters that a user types as one statement; a longer text is taken for a pasted one
_LONGEST_TITLE = 60  # characters in quotation marks that still name something: "The Grapes of Wrath"
_FENCED = re.compile(r"^[ \t]*(```|~~~).*?(?:^[ \t]*\1|\Z)", re.MULTILINE | re.DOTALL)
_QUOTED_LINE = re.compile(r"^(?:[ \t]*[>|]|\t| {4,}).*$", re.MULTILINE)
_INTRODUCED = re.compile(r"[:\uff1a][ \t]*\n.*", re.DOTALL)  # what follows a line that ends in a colon
_NEXT_PARAGRAPH = re.compile(r"\S[^\S\n]*\n\s*\n.*", re.DOTALL)
_RULE = re.compile(r"^[ \t]*([-=_*#~+\u2014\u2500])(?:[ \t]*\1){2,}.*", re.MULTILINE | re.DOTALL)
_TAGGED = re.compile(r"<[A-Za-z/!][^>]{0,200}>.*", re.DOTALL)
_IN_MARKS = re.compile(
    r"\"[^\"]*(?:\"|\Z)|“[^”]*(?:”|\Z)|„[^“”]*(?:[“”]|\Z)|«[^»]*(?:»|\Z)|「[^」]*(?:」|\Z)|『[^』]*(?:』|\Z)"
)


def in_own_words(step: Step, start: int | None, end: int | None) -> bool:
    """Whether a span of a step's content lies wholly in the own words of its user.

    Own words are at most 600 characters of the first paragraph of a user's message. Not own words are code blocks, lines
    marked as quoted, what follows a line that ends in a colon, a line of dashes or a tag, and quotations of more than 60
    characters; nor is text that comes from a picture, a recording or a file.

    Args:
        start, end: the span; None where the words are not in the content.
    """
    if step.role != "user" or start is None or end is None:
        return False
    return all(end <= pasted_start or start >= pasted_end for pasted_start, pasted_end in _pasted(step.content))


def _pasted(text: str) -> Iterator[tuple[int, int]]:
    """The spans of a text that were pasted, or may have been."""
    text = text.replace("\r\n", " \n").replace("\r", "\n").replace("\u2028", "\n").replace("\u2029", "\n")
    if len(text) > _LONGEST:
        yield 0, len(text)
        return
    for form in (_FENCED, _QUOTED_LINE, _INTRODUCED, _RULE, _TAGGED):
        yield from (match.span() for match in form.finditer(text))
    for match in _NEXT_PARAGRAPH.finditer(text):
        yield text.index("\n", match.start()), match.end()
    yield from (match.span() for match in _IN_MARKS.finditer(text) if len(match[0]) > _LONGEST_TITLE)
