"""Whether a clause tells of the past or of what is to come."""

from __future__ import annotations

import re

from ....intent.dates.spans import Prefer
from .event_words import AGREED, DUE, FUTURE_ZH, PAST, PAST_ZH, SUBJECT_PAST

__all__ = ["tense"]


def tense(text: str, has_han: bool) -> Prefer:
    """Whether a clause tells of the past or of what is to come."""
    if AGREED.search(text) or (DUE.search(text) and not SUBJECT_PAST.search(text)):
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
