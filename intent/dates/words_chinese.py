"""Chinese dates in words: 上周六, 下个月三号, 大后天, 两周前, 3月5日, 今年五月, 明晚七点半."""

from __future__ import annotations

import re
from datetime import date, timedelta

from dateutil.relativedelta import relativedelta

from hexamem.intent.dates.spans import (
    Anchor,
    Form,
    Read,
    Reader,
    day_in_month,
    day_of_year,
    month_meant,
    month_span,
    no_date,
    one_day,
    shift,
    week_start,
)

__all__ = [
    "CHINESE_FORMS",
    "NUM",
    "WEEK",
    "YEARS",
    "chinese_number",
    "chinese_weekday",
    "chinese_year",
    "simplified",
    "steps_away",
]

_TRADITIONAL = (
    "週禮後號點兩個時這內來歲媽爸對過愛歡討厭嗎麼說記幫們換買辭職學還從給讓現電話機聯繫寫"
    "請總簡體應該種樣會議開關間連發應雙單體龍離結婚養貓隻條與無業務員師護醫館鐵車號幾歷遲"
)
_SIMPLE = (
    "周礼后号点两个时这内来岁妈爸对过爱欢讨厌吗么说记帮们换买辞职学还从给让现电话机联系写"
    "请总简体应该种样会议开关间连发应双单体龙离结婚养猫只条与无业务员师护医馆铁车号几历迟"
)
_TO_SIMPLE = str.maketrans(_TRADITIONAL, _SIMPLE)


def simplified(text: str) -> str:
    """The text with the traditional characters that rules look for made simplified, one for one: offsets stay."""
    return text.translate(_TO_SIMPLE)


_DIGITS = {digit: value for value, digit in enumerate("零一二三四五六七八九")} | {"两": 2, "〇": 0}
NUM = r"(?:\d{1,4}|[零〇一二两三四五六七八九十]{1,3})"
_DAYS = {
    "大大前天": -4,
    "大大后天": 4,
    "大前天": -3,
    "前天": -2,
    "前晚": -2,
    "后晚": 2,
    "昨": -1,
    "今": 0,
    "当晚": 0,
    "明": 1,
    "后天": 2,
    "大后天": 3,
}
WEEK = r"(?:周|星期|礼拜)"
_RELATIVE_YEAR = {"大前年": -3, "前年": -2, "去年": -1, "今年": 0, "明年": 1, "后年": 2}


def chinese_number(text: str) -> float:
    """``十二`` → 12, ``三十`` → 30, ``两`` → 2, ``半`` → 0.5, ``12`` → 12.

    Raises:
        ValueError: it is no number.
    """
    text = text.strip()
    if text == "半":
        return 0.5
    if text.isdecimal():
        return float(text)
    tens, ten, ones = text.partition("十")
    if not ten:
        if len(text) != 1 or text not in _DIGITS:
            raise ValueError(f"{text!r} is no number below a hundred")
        return float(_DIGITS[text])
    if (tens and tens not in _DIGITS) or (ones and ones not in _DIGITS):
        raise ValueError(f"{text!r} is no number below a hundred")
    return float(_DIGITS.get(tens, 1) * 10 + _DIGITS.get(ones, 0))


def chinese_year(text: str, today: date) -> int:
    """``2024年`` and ``二〇二四年`` → 2024, ``24年`` → 2024; ``去年`` → the year before today's."""
    if text in _RELATIVE_YEAR:
        return today.year + _RELATIVE_YEAR[text]
    digits = "".join(char if char.isdecimal() else str(_DIGITS[char]) for char in text.rstrip(" 年"))
    return int(digits) + (2000 if len(digits) == 2 else 0)


def chinese_weekday(sign: str) -> int:
    """``一`` → 0, ``日`` and ``天`` → 6; ``末``, the weekend, begins at 5."""
    return 6 if sign in "日天" else 5 if sign == "末" else "一二三四五六".index(sign)


def steps_away(which: str) -> int:
    """How many weeks or months on: ``这个`` and ``本`` → 0, ``上`` → -1, ``下下个`` → 2."""
    which = which.replace("个", "")
    return 0 if which[0] in "这本" else len(which) * (1 if which[0] == "下" else -1)


def _full(match: re.Match[str], anchor: Anchor) -> Read:
    month, day = int(chinese_number(match["month"])), int(chinese_number(match["day"]))
    year = match["year"]
    begin = date(chinese_year(year, anchor.today), month, day) if year else day_of_year(anchor, month, day)
    if not match["last"]:
        return one_day(begin, bool(year))
    last_month = int(chinese_number(match["last_month"])) if match["last_month"] else month
    end = date(begin.year, last_month, int(chinese_number(match["last"])))
    return (begin, end, "day", bool(year)) if end >= begin else one_day(begin, bool(year))


def _relative_day(match: re.Match[str], anchor: Anchor) -> Read:
    words = match[0]
    for name in ("大大前天", "大大后天", "大前天", "大后天", "前天", "前晚", "后晚", "后天", "昨", "明", "今"):
        if words.startswith(name):
            return one_day(anchor.today + timedelta(days=_DAYS[name]))
    return None


def _weekday(match: re.Match[str], anchor: Anchor) -> Read:
    told = bool(match["which"])
    weeks = steps_away(match["which"]) if told else 0
    found = week_start(anchor.today) + timedelta(days=7 * weeks + chinese_weekday(match["day"]))
    if not told:
        if anchor.prefer == "past" and found >= anchor.today:
            found -= timedelta(days=7)
        if anchor.prefer != "past" and found < anchor.today:
            found += timedelta(days=7)
    last = found + timedelta(days=1) if match["day"] == "末" else found
    return found, last, "day", told


def _shifted(match: re.Match[str], anchor: Anchor) -> Read:
    unit = {"天": "day", "日": "day", "周": "week", "星期": "week", "礼拜": "week", "月": "month", "年": "year"}[
        match["unit"]
    ]
    sign = -1 if "前" in match["way"] else 1
    count = chinese_number(match["count"])
    if match["half"]:
        count += 0.5
    day = shift(anchor.today, sign * count, unit)
    if unit == "year" and count >= 1:
        return date(day.year, 1, 1), date(day.year, 12, 31), "year", True
    if unit == "month" and count >= 1:
        return *month_span(day.year, day.month), "month", True
    return one_day(day)


def _of_month(match: re.Match[str], anchor: Anchor) -> Read:
    moved = anchor.today + relativedelta(months=steps_away(match["which"]))
    first, last = month_span(moved.year, moved.month)
    if match["end"]:
        return one_day(last)
    if not match["day"]:
        return first, last, "month", True
    return one_day(first.replace(day=int(chinese_number(match["day"]))))


def _month(match: re.Match[str], anchor: Anchor) -> Read:
    month, year = int(chinese_number(match["month"])), match["year"]
    if year:
        return *month_span(chinese_year(year, anchor.today), month), "month", True
    return *month_meant(anchor, month), "month", False


def _year(match: re.Match[str], anchor: Anchor) -> Read:
    year = chinese_year(match["year"], anchor.today)
    return date(year, 1, 1), date(year, 12, 31), "year", True


def _week(match: re.Match[str], anchor: Anchor) -> Read:
    start = week_start(anchor.today) + timedelta(days=7 * steps_away(match["which"]))
    return start, start + timedelta(days=6), "week", True


def _number_day(match: re.Match[str], anchor: Anchor) -> Read:
    return one_day(day_in_month(anchor, int(chinese_number(match["day"]))), False)


def _month_end(match: re.Match[str], anchor: Anchor) -> Read:
    if match[0].startswith("年"):
        return date(anchor.today.year, 12, 1), date(anchor.today.year, 12, 31), "month", True
    return one_day(month_span(anchor.today.year, anchor.today.month)[1])


YEARS = r"(?P<year>(?:19|20)\d\d ?年|[一二][零〇一二三四五六七八九]{3}年|(?<!\d)\d\d年(?=\d{1,2}月)|大前年|前年|去年|今年|明年|后年)"
_WHICH = r"(?P<which>上上个?|下下个?|上个?|下个?|这个?|本)"
_RECURRING = ("每", "周", "星期", "礼拜", "天天", "平日", "几天", "有一天", "整天", "改天", "过两天")
_WEEKS = ("周", "星期", "礼拜")
_FORMS: tuple[tuple[tuple[str, ...], str, Reader], ...] = (
    (
        _RECURRING,
        rf"每(?:个|隔)?{NUM}?(?:天|日|周|星期|礼拜|月|年|晚"
        rf"|早)[一二三四五六日天末]?(?:[和、]{WEEK}?[一二三四五六日天])?"
        rf"|{WEEK}[一二三四五六日天][到至~—-]{WEEK}?[一二三四五六日天]"
        r"|天天|平日|这几天|有一天|整天|改天|前几天|过几天|过两天",
        no_date,
    ),
    (
        ("月",),
        rf"(?:{YEARS} ?的?)?(?P<month>{NUM}) ?月 ?(?P<day>{NUM}) ?[日号]?(?:(?<=[日号])|(?= ?[到至~—-]))"
        rf"(?: ?[到至~—-]+ ?(?:(?P<last_month>{NUM}) ?月 ?)?(?P<last>{NUM}) ?[日号])?",
        _full,
    ),
    (
        ("天", "昨", "明", "今", "前晚", "后晚"),
        r"大?大前天|大?大后天|前天|后天|昨[天日晚早儿]|明[天日晚早儿]|今[天日晚早儿]|前晚|后晚",
        _relative_day,
    ),
    (_WEEKS, rf"(?:{_WHICH})?{WEEK}(?P<day>[一二三四五六日天末])", _weekday),
    (
        ("前", "后"),
        rf"(?P<count>{NUM}|半) ?个?(?P<half>半)?"
        rf"(?P<unit>天|周|星期|礼拜|月|年)(?:多)?(?P<way>以?之?前|以?之?后|以后)",
        _shifted,
    ),
    (("月",), rf"{_WHICH}月 ?(?:(?P<day>{NUM}) ?[日号]|(?P<end>底))?", _of_month),
    (("月",), rf"(?:{YEARS} ?的?)?(?P<month>1[0-2]|0?[1-9]|十[一二]?|[一二三四五六七八九]) ?月份?(?!\d)", _month),
    (_WEEKS, rf"{_WHICH}(?:周|星期|礼拜)", _week),
    (
        ("号",),
        r"(?<![\d一二三四五六七八九十])(?P<day>3[01]|[12]\d|[1-9]"
        r"|[一二]?十[一二三四五六七八九]?|三十一?)号(?![线楼院馆门公店桌])(?=[^\d]|$)",
        _number_day,
    ),
    (("底",), r"月底|年底", _month_end),
    (("年",), YEARS, _year),
)
CHINESE_FORMS: tuple[Form, ...] = tuple((needed, re.compile(form), reader) for needed, form, reader in _FORMS)
"""The forms in the order in which they are tried; what one has taken is taken. For simplified text."""
