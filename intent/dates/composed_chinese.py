"""Chinese dates made of dates: 两周前的周五, 去年的今天, 下周的周三, 圣诞节前三天, 三月五号的前一天."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta

from dateutil.relativedelta import relativedelta

from hexamem.intent.dates.composing import LEAVE, SIGN, Composed, Composition, with_year
from hexamem.intent.dates.spans import Anchor, DateSpan, one_day, shift, week_start
from hexamem.intent.dates.words_chinese import NUM, WEEK, chinese_number, simplified

__all__ = ["COMPOSED_CHINESE"]

_Dated = Callable[[str], DateSpan]
_WEEKDAY = re.compile(rf"{WEEK}[一二三四五六日天]")
_WEEKS = re.compile(rf"{NUM}个?{WEEK}以?之?[前后]")


def _beside(match: re.Match[str], dated: _Dated, anchor: Anchor) -> Composed:
    one, two = dated("one"), dated("two")
    first, second = simplified(one.text), simplified(two.text)
    if _WEEKDAY.fullmatch(second) and (one.precision == "week" or _WEEKS.fullmatch(first)):
        return one_day(week_start(one.day) + timedelta(days=two.day.weekday()))
    if second in ("今天", "今日") and one.told:
        today = anchor.today
        if one.precision == "year":
            return one_day(today.replace(year=one.day.year))
        if one.precision == "month":
            return one_day(today.replace(year=one.day.year, month=one.day.month))
        if one.precision == "week":
            return one_day(one.day + timedelta(days=today.weekday()))
        return one_day(one.day) if _WEEKS.fullmatch(first) or first.endswith(("前", "后")) else LEAVE
    if one.precision == "year" and one.told and not two.told and not _WEEKDAY.fullmatch(second):
        return with_year(two, one.day.year) if two.precision in ("day", "month") and "月" in second else LEAVE
    return LEAVE


def _beside_it(match: re.Match[str], dated: _Dated, anchor: Anchor) -> Composed:
    span = dated("date")
    if span.precision != "day":
        return LEAVE
    before = match["way"] == "前"
    return one_day((span.day if before else span.last_day) + timedelta(days=-1 if before else 1), span.told)


def _away(match: re.Match[str], dated: _Dated, anchor: Anchor) -> Composed:
    span = dated("date")
    if span.precision != "day":
        return LEAVE
    count = chinese_number(match["count"]) * (-1 if match["way"] == "前" else 1)
    unit = match["unit"]
    if unit == "月":
        return one_day(span.day + relativedelta(months=int(count)), span.told)
    return one_day(shift(span.day, count, "day" if unit == "天" else "week"), span.told)


_FORMS: tuple[tuple[tuple[str, ...], str, Callable[[re.Match[str], _Dated, Anchor], Composed]], ...] = (
    ((), rf"(?P<one>{SIGN})的?(?P<two>{SIGN})", _beside),
    (
        ("一天", "一晚", "第二天", "次日", "隔天"),
        rf"(?P<date>{SIGN})的?(?:(?P<way>前)一[天晚]|后一[天晚]|的?第二天|次日|隔天)",
        _beside_it,
    ),
    (
        ("前", "后"),
        rf"(?P<date>{SIGN})[之的]?(?P<way>前|后)(?:的?第)?(?P<count>{NUM})个?(?P<unit>天|周|星期|礼拜|月)(?![一二三四五六日])",
        _away,
    ),
)
COMPOSED_CHINESE: tuple[Composition, ...] = tuple((needed, re.compile(form), reader) for needed, form, reader in _FORMS)
"""For :func:`~.composing.compose`, in the order in which they are tried, on simplified text."""
