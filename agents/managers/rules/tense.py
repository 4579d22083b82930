"""Whether a clause tells of the past or of what is to come."""

from __future__ import annotations

from .... import lazy_re as re
from ....intent.dates.spans import Prefer
from .event_words import AGREED, DUE, FUTURE_ZH, NOT_PLANNED, PAST, PAST_ZH, PLANNED, SUBJECT_PAST

__all__ = ["tense"]

_AND_DID = re.compile(
    r"\b(?:and|but|then)\s(?:\w+ly\s)?(?:went|got|won|lost|came|ran|met|saw|made|had|was|were|did|took|loved|[a-z]{3,}ed)\b",
    re.IGNORECASE,
)


def tense(text: str, has_han: bool) -> Prefer:
    """Whether a clause tells of the past or of what is to come."""
    if AGREED.search(text) or (DUE.search(text) and not SUBJECT_PAST.search(text)):
        return "future"
    if (planned := PLANNED.search(text)) and not NOT_PLANNED.search(text) and not _happened(text, planned):
        return "future"
    past = bool(PAST.search(text)) or (has_han and bool(PAST_ZH.search(text)))
    if not past:
        return "future"
    if re.search(
        r"\b(?:will|'ll|going to|gonna|off to|tomorrow|next|booked)\b|明天|下周|下个?月|后天", text, re.IGNORECASE
    ):
        return "future"
    if has_han and FUTURE_ZH.search(text) and not re.search(r"昨|上周|上个?月|前天|去年", text):
        return "future"
    return "past"


def _happened(text: str, planned: re.Match[str]) -> bool:
    """Whether the rest of a clause tells how it went: "I signed up for the race on 3 May and finished last"."""
    rest = f"{text[: planned.start()]} {text[planned.end() :]}"
    return SUBJECT_PAST.search(rest) is not None or _AND_DID.search(rest) is not None
