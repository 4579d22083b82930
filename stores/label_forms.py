"""Forms of the same name: "Day 2", "day two", "the 2nd day" and "第二天", or "Saturday" and "周六"."""

from __future__ import annotations

import re
import unicodedata

__all__ = ["name_form"]

_KINDS = {
    **dict.fromkeys(("day", "天", "日"), "day"),
    **dict.fromkeys(("week", "wk", "周", "週", "星期"), "week"),
    **dict.fromkeys(("phase", "stage", "阶段", "階段", "期"), "phase"),
    **dict.fromkeys(("chapter", "章"), "chapter"),
    **dict.fromkeys(("part", "部分", "部"), "part"),
    **dict.fromkeys(("step", "步"), "step"),
    **dict.fromkeys(("round", "轮", "輪"), "round"),
    **dict.fromkeys(("session", "场", "場", "节", "節"), "session"),
    **dict.fromkeys(("task", "项", "項"), "task"),
    **dict.fromkeys(("milestone", "里程碑"), "milestone"),
}
_CARDINALS = (
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty"
)
_ORDINALS = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth "
    "fifteenth sixteenth seventeenth eighteenth nineteenth twentieth"
)
_ROMAN = "i ii iii iv v vi vii viii ix x xi xii"
_WORDS = {word: value for words in (_CARDINALS, _ORDINALS, _ROMAN) for value, word in enumerate(words.split(), 1)}
_DIGITS = {digit: value for value, digit in enumerate("零一二三四五六七八九")} | {"两": 2, "兩": 2}
_WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday"
_MONTHS = "january february march april may june july august september october november december"
_LAST = {"最后一天": "day", "最後一天": "day", "最后一周": "week", "最後一週": "week"}

_LATIN = "|".join(sorted((one for one in _KINDS if one.isascii()), key=len, reverse=True))
_CHINESE = "|".join(sorted((one for one in _KINDS if not one.isascii()), key=len, reverse=True))
_NUMBER = rf"\d{{1,3}}|{'|'.join(sorted(_WORDS, key=len, reverse=True))}"
_AFTER = re.compile(rf"(?:the )?(?P<kind>{_LATIN}) ?(?:no\. ?|#|number )?(?P<number>{_NUMBER})")
_BEFORE = re.compile(
    rf"(?:the )?(?:(?P<number>\d{{1,3}})(?:st|nd|rd|th)|(?P<word>{'|'.join(_ORDINALS.split())}))[ -](?P<kind>{_LATIN})"
)
_HAN = re.compile(rf"第 ?(?P<number>[一二两兩三四五六七八九十]{{1,3}}|\d{{1,3}}) ?个?(?P<kind>{_CHINESE})")
_LAST_LATIN = re.compile(rf"(?:the )?last (?P<kind>{_LATIN})")
_WEEKDAY_HAN = re.compile(r"(?:周|週|星期|礼拜|禮拜)(?P<day>[一二三四五六日天])")
_DATE_HAN = re.compile(
    r"(?P<month>\d{1,2}|[一二三四五六七八九十]{1,2})月(?P<day>\d{1,2}|[一二三四五六七八九十]{1,3})[日号號]"
)
_DAY_HAN = re.compile(r"(?P<day>\d{1,2}|[一二三四五六七八九十]{1,3})[号號]")
_MONTH = rf"(?P<month>{'|'.join(rf'{one[:3]}(?:{one[3:]})?' for one in _MONTHS.split())})\.?"
_DATE_LATIN = re.compile(
    rf"(?:the )?(?:(?P<day>\d{{1,2}})(?:st|nd|rd|th)? (?:of )?{_MONTH}|{_MONTH.replace('<month>', '<first>')} "
    r"(?P<then>\d{1,2})(?:st|nd|rd|th)?)"
)
_DAY_LATIN = re.compile(r"the (?P<day>\d{1,2})(?:st|nd|rd|th)")


def name_form(name: str) -> str:
    """A normal form of a name: case, width and spaces are folded, and a numbered name is written in one way.

    These are days, weeks, phases, chapters and the like with a number in digits or words, weekdays and dates, in
    English and in Chinese. Any other name is only folded. "Stage" counts as "phase".
    """
    folded = " ".join(unicodedata.normalize("NFKC", name).casefold().split())
    return _numbered(folded) or _of_calendar(folded) or folded


def _numbered(folded: str) -> str:
    if match := _AFTER.fullmatch(folded) or _HAN.fullmatch(folded):
        return f"{_KINDS[match['kind']]} {_value(match['number'])}"
    if match := _BEFORE.fullmatch(folded):
        return f"{_KINDS[match['kind']]} {_value(match['number'] or match['word'])}"
    if match := _LAST_LATIN.fullmatch(folded):
        return f"last {_KINDS[match['kind']]}"
    return f"last {_LAST[folded]}" if folded in _LAST else ""


def _of_calendar(folded: str) -> str:
    if match := _WEEKDAY_HAN.fullmatch(folded):
        return _WEEKDAYS.split()["一二三四五六日".index(match["day"].replace("天", "日"))]
    if match := _DATE_HAN.fullmatch(folded):
        return f"{_value(match['day'])} {_month(_value(match['month']))}".strip()
    if match := _DATE_LATIN.fullmatch(folded):
        word = (match["month"] or match["first"])[:3]
        return f"{int(match['day'] or match['then'])} {next(one for one in _MONTHS.split() if one.startswith(word))}"
    if match := _DAY_HAN.fullmatch(folded) or _DAY_LATIN.fullmatch(folded):
        return f"the {_value(match['day'])}"
    return next((one for one in _WEEKDAYS.split() if folded == one[:3]), "")


def _month(number: int) -> str:
    return _MONTHS.split()[number - 1] if 1 <= number <= 12 else f"month {number}"


def _value(number: str) -> int:
    """Digits, an English word, a Roman number, or a Chinese number below a hundred."""
    if number.isdecimal():
        return int(number)
    if number in _WORDS:
        return _WORDS[number]
    tens, ten, ones = number.rpartition("十")
    if not ten:
        return _DIGITS[number[-1]]
    return 10 * (_DIGITS[tens[-1]] if tens else 1) + (_DIGITS[ones[-1]] if ones else 0)
