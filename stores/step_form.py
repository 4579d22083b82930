"""Features of the form of a step's text: question, length, pictures, times, numbers, names, persons."""

from __future__ import annotations

import math
import re
from itertools import pairwise

__all__ = ["FORM_FLAGS", "form_of"]

FORM_FLAGS = (
    "question",
    "length",
    "picture",
    "temporal",
    "number",
    "names",
    "first_person",
    "second_person",
    "exclaims",
)
"""The names of the values of :func:`form_of`, in order."""
_READ = 4_000  # characters
_MOST = 4.0
_WORD = re.compile(r"[a-z0-9]+(?:['’][a-z]+)?|[\u4e00-\u9fff]")
_HAN = re.compile(r"[\u4e00-\u9fff]")
_NAME = re.compile(r"(?<=[a-z,;] )[A-Z][a-z]+|《[^》]+》|“[^”]{2,20}”")

_TIME_WORDS = """
yesterday today tomorrow tonight ago since recently just weekend monday tuesday wednesday thursday friday saturday sunday
january february march april june july august september october november december
"""
_UNIT_WORDS = """
week weeks month months year years night day days weekend summer winter fall autumn spring morning evening
"""
_COUNT_WORDS = "two three four five six seven eight nine ten dozen hundred thousand once twice"
_FIRST_WORDS, _SECOND_WORDS = "i my me we our us i'm i've i’m i’ve", "you your you're you’re"
_TIMES, _UNITS = frozenset(_TIME_WORDS.split()), frozenset(_UNIT_WORDS.split())
_COUNTS, _FIRST, _SECOND = (frozenset(words.split()) for words in (_COUNT_WORDS, _FIRST_WORDS, _SECOND_WORDS))
_BEFORE_TIME = frozenset({"last", "next", "this", "past", "every", "few"})
_DAYS = frozenset({"mon", "tue", "wed", "thu", "fri", "sat", "sun"})
_YEAR = re.compile(r"(?:19|20)\d\d\Z")
_TIMES_HAN = re.compile(
    r"昨天|前天|今天|明天|后天|今晚|昨晚|上周|下周|这周|本周|上个?月|下个?月|这个月|去年|今年|明年|前年|周[一二三四五六日末]"
    r"|星期[一二三四五六日天]|[一二三四五六七八九十\d](?:天|周|个?月|年|小时)[前后]|刚|最近|\d[月号]"
)
_COUNTS_HAN = re.compile(r"[一二两三四五六七八九十百千万][个次年月天岁块元位只条本张件套口米斤]")
_QUESTION_HAN = re.compile(r"[吗呢][。！!]?\s*\Z")


def form_of(text: str, pictured: bool) -> tuple[float, ...]:
    """The form of a text in English or Chinese, by the names in :data:`FORM_FLAGS`.

    Returns:
        Flags 0 or 1; ``length`` is the logarithm of one more than the words (or Chinese characters); ``names``,
        ``first_person`` and ``second_person`` count, up to 4.
    """
    text = text[:_READ]
    words = _WORD.findall(text.lower())
    known = set(words)
    question = "?" in text or "？" in text
    temporal = not known.isdisjoint(_TIMES) or (not known.isdisjoint(_BEFORE_TIME) and _timed(words))
    digits = [word for word in words if word[0].isdigit()]
    temporal = temporal or any(_YEAR.match(word) for word in digits)
    number = bool(digits) or not known.isdisjoint(_COUNTS)
    first, second = sum(word in _FIRST for word in words), sum(word in _SECOND for word in words)
    if not text.isascii() and _HAN.search(text) is not None:
        question = question or _QUESTION_HAN.search(text) is not None
        temporal = temporal or _TIMES_HAN.search(text) is not None
        number = number or _COUNTS_HAN.search(text) is not None
        first += text.count("我") + text.count("咱")
        second += text.count("你") + text.count("您")
    return (
        float(question),
        math.log1p(len(words)),
        float(pictured),
        float(temporal),
        float(number),
        min(_MOST, len(_NAME.findall(text))),
        min(_MOST, first),
        min(_MOST, second),
        float("!" in text or "！" in text),
    )


def _timed(words: list[str]) -> bool:
    """Whether a unit of time or a day follows "last", "next", "this", …"""
    return any(word in _BEFORE_TIME and (after in _UNITS or after[:3] in _DAYS) for word, after in pairwise(words))
