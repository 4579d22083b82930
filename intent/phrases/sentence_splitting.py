"""Where a text is cut into sentences; which full stops end none, :mod:`.abbreviations` says."""

from __future__ import annotations

from ... import lazy_re as re
from .abbreviations import is_abbreviation_stop

__all__ = ["SentenceSplitter"]

_QUOTES = "\"”'’)"


class SentenceSplitter:
    """Cuts a text where sentences and lines end, as :meth:`re.Pattern.split` would.

    Args:
        ends: matches what stands between two sentences; what it matches is dropped. The mark that ends a sentence is
            the last character before the match, or its first.
    """

    def __init__(self, ends: re.Pattern[str]) -> None:
        self._ends = ends

    def split(self, text: str) -> list[str]:
        """The sentences in order, as they stand in the text; lines without text are empty strings."""
        parts: list[str] = []
        start = 0
        for match in self._ends.finditer(text):
            if _goes_on(text, match):
                continue
            parts.append(text[start : match.start()])
            start = match.end()
        parts.append(text[start:])
        return parts


def _goes_on(text: str, match: re.Match[str]) -> bool:
    at = match.start()
    if "\n" in match[0]:
        return False
    if text[at : at + 1] != ".":
        at -= 1
    return text[at : at + 1] == "." and match[0].lstrip(".")[:1] not in _QUOTES and is_abbreviation_stop(text, at)
