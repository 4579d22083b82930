"""Chinese dates that are counted within a month or a year, and words that look like dates and name none.

下个月第一个周一, 去年年底, 去年夏天, 再过三天, 平安夜; and on the other side 农历八月十五, 下一个周五: no guess is made.
"""

from __future__ import annotations

import re
from datetime import date, timedelta

from dateutil.relativedelta import relativedelta

from hexamem.intent.dates.holidays import CHINESE_HOLIDAYS, holiday_near
from hexamem.intent.dates.spans import (
    Anchor,
    Form,
    Read,
    Reader,
    chosen_day,
    day_in_month,
    month_span,
    no_date,
    one_day,
    shift,
    week_start,
)
from hexamem.intent.dates.words_chinese import (
    NUM,
    WEEK,
    YEARS,
    chinese_number,
    chinese_weekday,
    chinese_year,
    steps_away,
)

__all__ = ["FURTHER_CHINESE"]

_MONTH = (
    rf"(?:(?:{YEARS} ?的?)?(?P<month>1[0-2]|0?[1-9]|十[一二]?|[一二三四五六七八九]) ?月"
    r"|(?P<which>下下个?|下个?|上上个?|上个?|这个?|本)月)"
)
_SEASONS = {"春": 3, "夏": 6, "秋": 9}


def _months(match: re.Match[str], anchor: Anchor) -> list[tuple[date, date]]:
    if match["which"]:
        moved = anchor.today + relativedelta(months=steps_away(match["which"]))
        return [month_span(moved.year, moved.month)]
    month = int(chinese_number(match["month"]))
    if match["year"]:
        return [month_span(chinese_year(match["year"], anchor.today), month)]
    return [month_span(anchor.today.year + step, month) for step in (0, 1, -1)]


def _nth_weekday(match: re.Match[str], anchor: Anchor) -> Read:
    weekday = chinese_weekday(match["day"])
    found: list[date] = []
    for first, last in _months(match, anchor):
        if match["nth"] == "最后一":
            day = last - timedelta(days=(last.weekday() - weekday) % 7)
        else:
            nth = int(chinese_number(match["nth"].lstrip("第")))
            day = first + timedelta(days=(weekday - first.weekday()) % 7 + 7 * (nth - 1))
        if day <= last:
            found.append(day)
    return chosen_day(match, anchor, found) if found else None


def _edge_day(match: re.Match[str], anchor: Anchor) -> Read:
    days = [last if match["nth"] == "最后一" else first for first, last in _months(match, anchor)]
    return chosen_day(match, anchor, days)


def _end_of_year(match: re.Match[str], anchor: Anchor) -> Read:
    year = chinese_year(match["year"], anchor.today)
    return date(year, 12, 1), date(year, 12, 31), "month", True


def _season(match: re.Match[str], anchor: Anchor) -> Read:
    start = date(chinese_year(match["year"], anchor.today), _SEASONS[match["season"]], 1)
    return start, start + relativedelta(months=3, days=-1), "season", True


def _one_weekday(match: re.Match[str], anchor: Anchor) -> Read:
    """上一个周五: that of the last days; none where it may also be that of last week."""
    weekday = chinese_weekday(match["day"])
    if match["way"] == "下" or weekday < anchor.today.weekday():
        return None
    return one_day(week_start(anchor.today) + timedelta(days=weekday - 7))


def _passing(match: re.Match[str], anchor: Anchor) -> Read:
    unit = {"天": "day", "周": "week", "星期": "week", "礼拜": "week", "月": "month", "年": "year"}[match["unit"]]
    day = shift(anchor.today, chinese_number(match["count"]), unit)
    if unit == "month":
        return *month_span(day.year, day.month), "month", True
    if unit == "year":
        return date(day.year, 1, 1), date(day.year, 12, 31), "year", True
    return one_day(day)


def _range_of_week(match: re.Match[str], anchor: Anchor) -> Read:
    start = week_start(anchor.today) + timedelta(days=7 * steps_away(match["which"]))
    first, last = chinese_weekday(match["day"]), chinese_weekday(match["last"])
    return (start + timedelta(days=first), start + timedelta(days=last), "day", True) if last >= first else None


def _range_of_month(match: re.Match[str], anchor: Anchor) -> Read:
    first = day_in_month(anchor, int(chinese_number(match["day"])))
    last = first.replace(day=int(chinese_number(match["last"])))
    return (first, last, "day", False) if last >= first else None


_NOT_OF_SEASON = (
    r"(?!的(?!时候|早上|上午|中午|下午|晚上|前|后|那|当|凌晨|夜|清晨|午))"
    r"(?!(?:主题)?(?:饼干|蛋糕|点心|甜点|食谱|菜单|装饰|橱窗|布置|贺卡|卡片|帽|袜|音乐|歌|电影|促销|活动|海报|文案|礼品|礼盒|衣服|服装|派对服|面具|糖果|花环|灯))"
)
"""Not behind a holiday that tells the kind of a thing: 圣诞节的橱窗, 情人节贺卡."""


def _holiday(match: re.Match[str], anchor: Anchor) -> Read:
    name = {"圣诞": "圣诞节", "圣诞夜": "平安夜", "圣诞前夕": "平安夜", "元旦节": "元旦"}.get(
        match["holiday"], match["holiday"]
    )
    if match["year"]:
        near = holiday_near(name, anchor, "this")
        return one_day(near.replace(year=chinese_year(match["year"], anchor.today)))
    return one_day(holiday_near(name, anchor), False)


_WHICH = r"(?P<which>上上个?|下下个?|上个?|下个?|这个?|本)"
_NTH = r"(?P<nth>第[一二三四]|最后一)"
_FORMS: tuple[tuple[tuple[str, ...], str, Reader], ...] = (
    (
        ("历", "正月", "腊月", "初", "月十五", "天的"),
        rf"(?:农历|阴历|旧历)\S{{0,2}}月(?:初?{NUM})?|(?:正月|腊月)(?:初?{NUM})?|{NUM}月初[一二三四五六七八九十]|大年初[一二三四五六七]"
        r"|八月十五(?![日号])|[昨今明前后]天的[昨今明前后](?:一)?天",
        no_date,
    ),
    (
        ("天", "周", "月", "年", "星期", "礼拜"),
        rf"(?:{NUM}|几|好几|多)个?(?:多)?(?:工作日|多星期|多月)(?:以?之?[前后内])|"
        rf"(?:最近|过去|未来|接下来|这)(?:的)?(?:几|{NUM})个?(?:天|周|星期|礼拜|月|年)",
        no_date,
    ),
    (("个",), rf"(?P<way>上|下)一个{WEEK}(?P<day>[一二三四五六日天])", _one_weekday),
    (("月",), rf"{_MONTH}的?{_NTH}个{WEEK}(?P<day>[一二三四五六日天])", _nth_weekday),
    (("天",), rf"{_MONTH}的?(?P<nth>第一|最后一)天", _edge_day),
    (("底", "末"), rf"{YEARS} ?的?年?[底末]", _end_of_year),
    (("春", "夏", "秋"), rf"{YEARS} ?的?(?P<season>[春夏秋])[天季]", _season),
    (
        ("再过",),
        rf"再过(?P<count>{NUM}) ?个?(?P<unit>天|周|星期|礼拜|月|年)(?!多)",
        _passing,
    ),
    (
        ("周", "星期", "礼拜"),
        rf"{_WHICH}{WEEK}(?P<day>[一二三四五六日天])[到至]{WEEK}?(?P<last>[一二三四五六日天])",
        _range_of_week,
    ),
    (("号",), rf"(?<![\d月])(?P<day>{NUM})号?[到至](?P<last>{NUM})号(?![线楼院馆门公店桌])", _range_of_month),
    (
        ("节", "夜", "元旦", "圣诞"),
        rf"(?:{YEARS} ?的?)?(?P<holiday>{'|'.join(CHINESE_HOLIDAYS)}|圣诞夜|圣诞前夕|圣诞(?=那天|当天|前|后)|元旦节)"
        rf"(?![假树礼卡快大]){_NOT_OF_SEASON}",
        _holiday,
    ),
)
FURTHER_CHINESE: tuple[Form, ...] = tuple((needed, re.compile(form), reader) for needed, form, reader in _FORMS)
"""Tried before those of ``words_chinese``, on simplified text."""
