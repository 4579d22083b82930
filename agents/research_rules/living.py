"""Work that goes by other words: "Where do I earn my living?" asks where somebody works, and not where they live."""

from __future__ import annotations

from ... import lazy_re as re

__all__ = ["with_plain_work"]

_WHOSE = r"(?:an?|my|your|his|her|our|their)"
_LIVING = re.compile(
    r"\b(?:(?P<base>earn|make|gain)|(?P<s>earns|makes|gains)|(?P<ed>earned|made|gained)|(?P<ing>earning|making|gaining))\s+"
    rf"{_WHOSE}\s+(?:own\s+)?(?:living|livelihood)\b(?!\s+(?:room|will|cost)s?\b)",
    re.IGNORECASE,
)
_EARNED = re.compile(  # who makes bread bakes it
    rf"\b(?:(?P<base>earn)|(?P<s>earns)|(?P<ed>earned)|(?P<ing>earning))\s+{_WHOSE}\s+(?:own\s+)?(?:bread|keep|crust|wages?|salary)\b"
    r"(?=\s*(?:[?.!,]|$|these\b|now\b|currently\b))",
    re.IGNORECASE,
)
_FOR_LIVING = re.compile(rf"\bfor\s+{_WHOSE}\s+(?:living|livelihood)\b", re.IGNORECASE)
_ENDINGS = {"base": "work", "s": "works", "ed": "worked", "ing": "working"}


def with_plain_work(question: str) -> str:
    """A question with "work" in place of the words for earning one's living: these share "live" with where somebody lives.

    Args:
        question: in English; any other stays as it is.
    """
    for form in (_LIVING, _EARNED):
        question = form.sub(lambda found: _ENDINGS[found.lastgroup or "base"], question)
    return _FOR_LIVING.sub("for work", question)
