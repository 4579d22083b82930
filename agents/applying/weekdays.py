"""What is regular as it goes on, on another day of the week: of its hour and place nothing was said, so they stay."""

from __future__ import annotations

from ... import lazy_re as re
from ...intent.dates.hours_chinese import chinese_hour
from ...intent.dates.hours_english import english_hour
from ...intent.dates.words_chinese import WEEK
from ...intent.dates.words_english import WEEKDAY_NAME
from ...intent.phrases.tokens import word_set
from .stating import HAN_SIGN

__all__ = ["on_other_day"]

_ENGLISH = re.compile(rf"\b(?P<day>{WEEKDAY_NAME})s?\b", re.IGNORECASE)
_CHINESE = re.compile(rf"{WEEK}(?P<day>[一二三四五六日天])")
_WORD = re.compile(r"[\w'-]+")
_OF_CHANGES = word_set("now moved moves changed changes switched has have been is are on to from every the my our")
_OF_CHANGES_ZH = frozenset("现在以后改换挪调移到成了是有上每个的")


def on_other_day(known: str, said: str) -> str:
    """What was known of something regular, on the day of the week that is told now.

    ``"Has choir at 7 on Tuesdays"`` and ``"Has choir on Wednesdays"`` make ``"Has choir at 7 on Wednesdays"``.

    Returns:
        Empty where not each of both tells one day, and another; where what is said now tells an hour of its own, or
        anything else that was not known; and where it tells all that was known.
    """
    if english_hour(said) or chinese_hour(said):
        return ""
    for form in (_ENGLISH, _CHINESE):
        one, two = list(form.finditer(known)), list(form.finditer(said))
        if len(one) != 1 or len(two) != 1 or one[0]["day"].casefold() == two[0]["day"].casefold():
            continue
        before, now = (_words(form.sub(" ", text)) for text in (known, said))
        if now <= before and not before <= now:
            start, end = one[0].span("day")
            return known[:start] + two[0]["day"] + known[end:]
    return ""


def _words(text: str) -> frozenset[str]:
    """What a text tells beside its day, and beside that something is so, or so now; of Chinese every character."""
    return frozenset(HAN_SIGN.findall(text)) - _OF_CHANGES_ZH or frozenset(_WORD.findall(text.casefold())) - _OF_CHANGES
