"""What stands before the subject in English, put behind: "in my spare time I paint"."""

from __future__ import annotations

from .... import lazy_re as re
from .plain_english import REST, WHEN_PAST

__all__ = ["fronted"]

_FRONT = (
    rf"(?i:^(?:(?:and|but|so|also|oh|well|plus|then|btw|by the way)[\s,]+)*)(?P<front>(?i:in my (?:spare|free)"
    rf" time|at home|at work|as a hobby|for a living|outside (?:of\s)?work|on the side|for fun|for work|on"
    rf" holiday|as a family|in the evenings?|after work|by trade|by day|at night"
    rf"|(?:back\s)?in (?:19|20)\d\d|{WHEN_PAST}|last (?:year|summer|spring|autumn|fall|winter)|this year|for"
    rf" (?:exercise|breakfast|lunch)|when I'm not working|when the kids are asleep|during (?:the|my) (?:week"
    rf"|holidays|summer|winter|lunch break)|throughout my childhood|growing up|these days|nowadays))"
)
_ALONE = re.compile(rf"{_FRONT}$")
_FRONT_IN = re.compile(rf"{_FRONT},?\s(?P<rest>(?i:I|we|I'm|I've|we're|we've)(?:\s|'){REST}{{4,120}})$")


def fronted(text: str, previous: str = "") -> str:
    """A clause with what stands before its subject put behind it: "in my spare time I paint" → "I paint in my spare time"."""
    before = _ALONE.match(previous.strip()) if previous else None
    if before is not None and re.match(r"(?:I|we)\b", text, re.IGNORECASE):
        rest, front = text, before["front"]
    elif (match := _FRONT_IN.match(text)) is not None:
        rest, front = match["rest"], match["front"]
    else:
        return text
    if front.lower() in ("these days", "nowadays"):
        return rest
    return f"{rest} {front[:1].lower()}{front[1:]}" if not re.match(r"[A-Z]{2}", front) else f"{rest} {front}"
