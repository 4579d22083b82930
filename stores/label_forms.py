"""Forms of the same numbered name: "Day 2", "day two", "the 2nd day" and "第二天"."""

from __future__ import annotations

import re
import unicodedata

__all__ = ["name_form"]

_KINDS = {
    **{kind: kind for kind in ("day", "week", "phase", "chapter", "part", "step", "round", "session", "task")},
    **{"天": "day", "日": "day", "周": "week", "週": "week", "阶段": "phase", "階段": "phase", "章": "chapter"},
    **{"部分": "part", "步": "step", "轮": "round", "輪": "round", "场": "session", "場": "session", "项": "task"},
    **{"stage": "phase", "項": "task"},
}
_CARDINALS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_ORDINALS = (
    *("first", "second", "third", "fourth", "fifth", "sixth"),
    *("seventh", "eighth", "ninth", "tenth", "eleventh", "twelfth"),
)
_VALUES = {word: value for words in (_CARDINALS, _ORDINALS) for value, word in enumerate(words, 1)}
_HAN = {digit: value for value, digit in enumerate("零一二三四五六七八九")} | {"两": 2, "兩": 2}

_KIND = "|".join(sorted(_KINDS, key=len, reverse=True))
_FORMS = (
    re.compile(rf"(?:the )?(?P<kind>{_KIND}) ?(?:no\. ?|#|number )?(?P<number>\d{{1,3}}|{'|'.join(_CARDINALS)})"),
    re.compile(
        rf"(?:the )?(?P<number>\d{{1,3}}(?=st|nd|rd|th)|{'|'.join(_ORDINALS)})(?:st|nd|rd|th)?[ -](?P<kind>{_KIND})"
    ),
    re.compile(rf"第 ?(?P<number>\d{{1,3}}|[{''.join(_HAN)}十]{{1,3}}) ?个?(?P<kind>{_KIND})"),
)


def name_form(name: str) -> str:
    """A normal form of a name: case, width and spaces are folded, and a numbered day, week, phase or the like is written
    in one way, in English and in Chinese. Any other name is only folded. "Stage" counts as "phase".
    """
    folded = " ".join(unicodedata.normalize("NFKC", name).casefold().split())
    for form in _FORMS:
        if match := form.fullmatch(folded):
            return f"{_KINDS[match['kind']]} {_value(match['number'])}"
    return folded


def _value(number: str) -> int:
    """Digits, an English word, or a Chinese number below a hundred."""
    if number.isdecimal() or number in _VALUES:
        return _VALUES.get(number) or int(number)
    tens, ten, ones = number.rpartition("十")
    if not ten:
        return _HAN[number[-1]]
    return 10 * (_HAN[tens[-1]] if tens else 1) + (_HAN[ones[-1]] if ones else 0)
