"""References to what a step gave to choose from: "the second one", "the former", "the cheaper one", "the one on Oak Street"."""

from __future__ import annotations

from collections.abc import Sequence

from ... import lazy_re as re
from .antecedents import Found, Source, display
from .cues import FUNCTION_WORDS, words

__all__ = ["by_degree", "by_description", "by_words", "option_at"]

_PRICE = re.compile(
    r"[$€£¥]\s?(\d[\d,]*(?:\.\d+)?)"
    r"|(?<![\d.,])(\d[\d,]*(?:\.\d+)?)\s?(?:(?:euros?|dollars?|pounds?|usd|eur|gbp|bucks)(?!\w)|[€$£元块])",
    re.IGNORECASE,
)
_DISTANCE = re.compile(
    r"\b(\d+(?:\.\d+)?|one|two|three|four|five|six|seven|eight|nine|ten|fifteen|twenty)[\s-]?(km|kilomet\w+"
    r"|miles?|m|metres?|meters?|min(?:ute)?s?)\b",
    re.IGNORECASE,
)
_RATING = re.compile(
    r"\b(\d(?:\.\d)?)(?:\s?stars?\b|\s?/\s?(?:5|10)\b)|\b(?:rated?|rating(?: of)?)\s+(\d(?:\.\d)?)\b", re.IGNORECASE
)
_TIME = re.compile(r"\b([01]?\d|2[0-3]):([0-5]\d)\s?(am|pm)?\b|\b(\d{1,2})\s?(am|pm)\b", re.IGNORECASE)
_SMALL = {
    word: n
    for n, word in enumerate(["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"])
} | {
    "fifteen": 15,
    "twenty": 20,
}
_SPECIFIC = words(
    "thing same whole next only other new old right wrong main first last best worst no any every big little"
)


def _options(source: Source, listed: bool = False) -> list[tuple[str, str]]:
    """The things a step gives to choose from, each with what is said of it; empty where it gives none."""
    items = source.analysis.items
    if items:
        return [(item.text, item.line) for item in items]
    if listed and " or " not in source.text.lower():
        return []
    names = [
        p
        for p in source.analysis.phrases
        if p.name and p.role != "oblique" and p.kind not in ("person", "address", "time", "abstract")
    ]
    unique = list({p.text.casefold(): p for p in names}.values())
    if len(unique) < 2:
        return []
    kinds = {p.kind for p in unique if p.kind}
    return [(display(p), source.analysis.about(p)) for p in unique] if len(kinds) <= 1 or len(unique) == 2 else []


def option_at(
    sources: Sequence[Source], index: int, start: int, end: int, *, listed: bool = False, exactly: int | None = None
) -> Found | None:
    """The option with this index (``-1``: the last) of the latest step that offered several."""
    for source in sources[:4]:
        options = _options(source, listed)
        if not options:
            continue
        if exactly is not None and len(options) != exactly:
            return None
        # Without a written list there may be more names than options: only a plain pair is safe.
        if not source.analysis.items and len(options) != 2:
            return None
        if index >= len(options):
            return None
        name = options[index][0]
        return Found(start, end, source.id, name, name, 0.9 * source.weight)
    return None


def _measured(pattern: re.Pattern[str], about: str) -> float | None:
    match = pattern.search(about)
    if match is None:
        return None
    if pattern is _TIME:
        hour, minute, half = int(match[1] or match[4]), int(match[2] or 0), (match[3] or match[5] or "").lower()
        return (hour % 12 + 12 * (half == "pm") if half else hour) * 60 + minute
    number = (match[1] or match[2]).replace(",", "").lower()
    value = float(_SMALL.get(number, 0) or number)
    if pattern is _DISTANCE and match[2].lower()[0] == "m" and match[2].lower()[:3] not in ("mil", "min"):
        value /= 1000
    return value


def by_degree(degree: str, before: str, sources: Sequence[Source], start: int, end: int) -> Found | None:
    """The option that is the cheaper, nearer, better rated, earlier … one, where all have figures.

    ``before`` is what the step itself says before: two figures there are what it compares.
    """
    pattern, lowest = _PRICE, degree in ("cheaper", "cheapest", "less expensive", "least expensive")
    if degree[:5] in ("close", "neare"):
        pattern, lowest = _DISTANCE, True
    elif "rated" in degree:
        pattern, lowest = _RATING, False
    elif degree[:5] in ("earli", "later", "lates"):
        pattern, lowest = _TIME, degree.startswith("earli")
    if len(pattern.findall(before)) >= 2:
        return None
    for source in sources[:4]:
        options = _options(source)
        values = [(value, name) for name, about in options if (value := _measured(pattern, about)) is not None]
        if len(values) < 2 or (source.analysis.items and len(values) != len(options)):
            continue
        values.sort(reverse=not lowest)
        if values[0][0] == values[1][0]:
            return None
        return Found(start, end, source.id, values[0][1], values[0][1], 0.85 * source.weight)
    return None


def by_description(description: str, sources: Sequence[Source], start: int, end: int) -> Found | None:
    """The one option of which these words are said: "the one on Oak Street", "the vegan place"."""
    words = [w for w in re.findall(r"[\w'’-]{3,}", description.lower()) if w not in FUNCTION_WORDS]
    if not words or set(words) & _SPECIFIC:
        return None
    return by_words([rf"\b{re.escape(word)}" for word in words], sources, start, end)


def by_words(patterns: Sequence[str], sources: Sequence[Source], start: int, end: int) -> Found | None:
    """The one option whose description all patterns fit."""
    for source in sources[:4]:
        options = _options(source)
        fitting = [
            name for name, about in options if all(re.search(pattern, about, re.IGNORECASE) for pattern in patterns)
        ]
        if len(fitting) == 1 and len(options) >= 2:
            return Found(start, end, source.id, fitting[0], fitting[0], 0.8 * source.weight)
        if options:
            return None
    return None
