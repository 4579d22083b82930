"""Dates in words become days in the user's calendar, counted from when they were said."""

from __future__ import annotations

import itertools
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hexamem.intent.dates.relative import Prefer, find_dates, resolve_date

TUESDAY = datetime(2025, 3, 4, 9, 15, tzinfo=UTC)
DUBLIN, SHANGHAI = ZoneInfo("Europe/Dublin"), ZoneInfo("Asia/Shanghai")


def resolved(text: str, prefer: Prefer = "near") -> str:
    found = resolve_date(text, TUESDAY, DUBLIN, prefer=prefer)
    return found.iso if found else ""


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("last Saturday", "2025-03-01"),
        ("next Monday", "2025-03-10"),
        ("next Friday", "2025-03-14"),
        ("this Friday", "2025-03-07"),
        ("on Monday", "2025-03-10"),
        ("a week on Friday", "2025-03-14"),
        ("Friday week", "2025-03-14"),
        ("the day after tomorrow", "2025-03-06"),
        ("the day before yesterday", "2025-03-02"),
        ("in two weeks", "2025-03-18"),
        ("a fortnight ago", "2025-02-18"),
        ("half a year ago", "2024-09-04"),
        ("on the 14th", "2025-03-14"),
        ("the 3rd of next month", "2025-04-03"),
        ("March 3", "2025-03-03"),
        ("Saturday 12 April", "2025-04-12"),
        ("20 to 24 June", "2025-06-20 to 2025-06-24"),
        ("30 April to 2 May", "2025-04-30 to 2025-05-02"),
        ("last weekend", "2025-03-01 to 2025-03-02"),
        ("last month", "2025-02"),
        ("in May", "2025-05"),
        ("since 2021", "2021"),
        ("2024-12-24", "2024-12-24"),
        ("Christmas Eve", "2024-12-24"),
    ],
)
def test_english_words_resolve_from_the_day_they_were_said(text: str, day: str) -> None:
    assert resolved(text) == day


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("dinner tomorrow at 7", "2025-03-05 19:00"),
        ("on Monday at half three", "2025-03-10 15:30"),
        ("tomorrow at 6:40 am", "2025-03-05 06:40"),
        ("at 8 pm on Friday", "2025-03-07 20:00"),
        ("Friday, ten in the morning", "2025-03-07 10:00"),
        ("下周二下午三点", "2025-03-11 15:00"),
        ("明晚七点半", "2025-03-05 19:30"),
    ],
)
def test_a_time_of_day_beside_a_date_belongs_to_it(text: str, moment: str) -> None:
    assert resolved(text) == moment


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("上周六搬的家", "2025-03-01"),
        ("上上周日", "2025-02-23"),
        ("下个月三号", "2025-04-03"),
        ("大后天", "2025-03-07"),
        ("这周五", "2025-03-07"),
        ("两周前", "2025-02-18"),
        ("11 月 3 号", "2024-11-03"),
        ("明年五月二十号", "2026-05-20"),
        ("3月20日到22日", "2025-03-20 to 2025-03-22"),
        ("上週六", "2025-03-01"),
    ],
)
def test_chinese_words_resolve_in_either_script(text: str, day: str) -> None:
    assert resolved(text) == day


def test_an_open_date_is_read_backwards_in_a_report_and_forwards_in_a_plan() -> None:
    assert resolved("on 1 May", "past") == "2024-05-01"
    assert resolved("on 1 May", "future") == "2025-05-01"
    assert resolved("on Friday", "past") == "2025-02-28"


def test_days_count_in_the_users_timezone() -> None:
    late = datetime(2025, 4, 8, 17, 20, tzinfo=UTC)  # 01:20 on the ninth in Shanghai
    found = resolve_date("昨天", late, SHANGHAI)
    assert found is not None
    assert found.iso == "2025-04-08"


IN_MAY = datetime(2026, 5, 3, 9, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("in May", "2026-05-01", "2026-05-31"),
        ("this May", "2026-05-01", "2026-05-31"),
        ("next May", "2027-05-01", "2027-05-31"),
        ("at the end of May", "2026-05-31", "2026-05-31"),
        ("the end of June", "2026-06-30", "2026-06-30"),
        ("the end of February", "2027-02-28", "2027-02-28"),
        ("the end of May last year", "2025-05-31", "2025-05-31"),
        ("in mid-May", "2026-05-11", "2026-05-20"),
        ("late in May", "2026-05-21", "2026-05-31"),
        ("later in May", "2026-05-04", "2026-05-31"),
        ("at the beginning of June", "2026-06-01", "2026-06-10"),
        ("in the middle of the month", "2026-05-11", "2026-05-20"),
        ("early next month", "2026-06-01", "2026-06-10"),
        ("in the second half of June", "2026-06-16", "2026-06-30"),
        ("early April", "2027-04-01", "2027-04-10"),
        ("我五月去罗马", "2026-05-01", "2026-05-31"),
        ("五月底", "2026-05-31", "2026-05-31"),
        ("5月末", "2026-05-31", "2026-05-31"),
        ("五月中旬", "2026-05-11", "2026-05-20"),
        ("六月初", "2026-06-01", "2026-06-10"),
        ("去年五月下旬", "2025-05-21", "2025-05-31"),
        ("下个月初", "2026-06-01", "2026-06-10"),
        ("月中", "2026-05-11", "2026-05-20"),
    ],
)
def test_a_month_named_within_it_and_a_part_of_a_month_are_those_to_come(text: str, first: str, last: str) -> None:
    found = resolve_date(text, IN_MAY, DUBLIN, prefer="future")
    assert found is not None
    assert (found.day.isoformat(), found.last_day.isoformat()) == (first, last)


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("in May", "2026-05-01"),
        ("at the end of May", "2025-05-31"),
        ("mid May", "2025-05-11"),
        ("五月底", "2025-05-31"),
    ],
)
def test_of_a_report_the_part_of_a_month_is_the_last_one_there_was(text: str, first: str) -> None:
    found = resolve_date(text, IN_MAY, DUBLIN, prefer="past")
    assert found is not None
    assert found.day.isoformat() == first


def test_a_month_that_is_almost_over_is_not_what_one_plans_for_by_its_name() -> None:
    found = resolve_date("in May", IN_MAY.replace(day=29), DUBLIN, prefer="future")
    assert found is not None
    assert found.iso == "2027-05"


@pytest.mark.parametrize("text", ["六月中国队来了", "二月末尾"])
def test_a_sign_that_begins_another_word_is_no_part_of_a_month(text: str) -> None:
    assert resolve_date(text, IN_MAY, SHANGHAI, prefer="future").text.endswith("月")  # type: ignore[union-attr]


@pytest.mark.parametrize("text", ["每月初", "每个月中旬", "三个月中"])
def test_part_of_every_month_is_no_date(text: str) -> None:
    assert resolve_date(text, IN_MAY, SHANGHAI) is None


@pytest.mark.parametrize("text", ["on Fridays", "every Monday", "每周三", "I may march on", "31 June", "2号线", "3/4"])
def test_recurrences_and_what_is_no_date_give_none(text: str) -> None:
    assert resolved(text) == ""


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("two weeks from tomorrow", "2025-03-19"),
        ("three days from Friday", "2025-03-10"),
        ("Friday next week", "2025-03-14"),
        ("Monday of next week", "2025-03-10"),
        ("next week Friday", "2025-03-14"),
        ("Wednesday last week", "2025-02-26"),
        ("a week ago yesterday", "2025-02-24"),
        ("two weeks ago on Friday", "2025-02-21"),
        ("a year ago today", "2024-03-04"),
        ("the Monday after next", "2025-03-17"),
        ("the week after next", "2025-03-17 to 2025-03-23"),
        ("the month after next", "2025-05"),
        ("the year before last", "2023"),
        ("the night before last", "2025-03-02"),
        ("the Friday before last", "2025-02-21"),
        ("three days before Christmas", "2024-12-22"),
        ("the day after Boxing Day", "2024-12-27"),
        ("a fortnight on Friday", "2025-03-21"),
        ("fortnight from today", "2025-03-18"),
        ("the end of next month", "2025-04-30"),
        ("the last day of May", "2025-05-31"),
        ("the first Monday of May", "2025-05-05"),
        ("the last Friday in June", "2025-06-27"),
        ("first of next month", "2025-04-01"),
        ("ten days from today", "2025-03-14"),
        ("tomorrow week", "2025-03-12"),
        ("yesterday week", "2025-02-24"),
        ("Friday fortnight", "2025-03-21"),
        ("a week tomorrow", "2025-03-12"),
        ("two weeks on Saturday", "2025-03-22"),
        ("Sunday last", "2025-03-02"),
        ("Easter Monday", "2025-04-21"),
        ("Good Friday", "2025-04-18"),
        ("last Christmas", "2024-12-25"),
        ("next Christmas", "2025-12-25"),
        ("Christmas 2023", "2023-12-25"),
        ("summer of 2024", "2024-06-01 to 2024-08-31"),
        ("the fifth of May", "2025-05-05"),
        ("from Monday to Wednesday", "2025-03-10 to 2025-03-12"),
        ("a month from today", "2025-04-04"),
        ("six months from next Friday", "2025-09-14"),
        ("three weeks after Easter", "2025-05-11"),
        ("two nights ago", "2025-03-02"),
        ("four Sundays ago", "2025-02-09"),
        ("two Fridays from now", "2025-03-14"),
        ("eighteen months ago", "2023-09"),
        ("tmrw", "2025-03-05"),
        ("the week of 10 March", "2025-03-10 to 2025-03-16"),
        ("the week after Easter", "2025-04-21 to 2025-04-27"),
        ("one week before 12 June", "2025-06-05"),
        ("the Tuesday before Easter", "2025-04-15"),
        ("the Friday after 20 June", "2025-06-27"),
        ("the weekend of 14 June", "2025-06-14 to 2025-06-15"),
        ("two years ago this month", "2023-03"),
        ("three years ago in May", "2022-05"),
        ("last March", "2024-03"),
        ("May last year", "2024-05"),
        ("June of last year", "2024-06"),
        ("12 June last year", "2024-06-12"),
        ("in May next year", "2026-05"),
        ("last year in October", "2024-10"),
        ("the summer before last", "2023-06-01 to 2023-08-31"),
        ("not tomorrow but the day after", "2025-03-06"),
        ("twenty days ago", "2025-02-12"),
    ],
)
def test_english_dates_made_of_dates_are_one_date(text: str, day: str) -> None:
    assert [found.iso for found in find_dates(text, TUESDAY, DUBLIN)] == [day]


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("下下周五", "2025-03-21"),
        ("下下个月三号", "2025-05-03"),
        ("上上个月", "2025-01"),
        ("月底", "2025-03-31"),
        ("下个月底", "2025-04-30"),
        ("去年的今天", "2024-03-04"),
        ("明年的今天", "2026-03-04"),
        ("上个月的今天", "2025-02-04"),
        ("上周今天", "2025-02-25"),
        ("两年前的今天", "2023-03-04"),
        ("一个月后的今天", "2025-04-04"),
        ("去年年底", "2024-12"),
        ("2024年底", "2024-12"),
        ("大前年", "2022"),
        ("去年夏天", "2024-06-01 to 2024-08-31"),
        ("再过三天", "2025-03-07"),
        ("再过两周", "2025-03-18"),
        ("圣诞前夕", "2024-12-24"),
        ("圣诞节前三天", "2024-12-22"),
        ("圣诞节后两天", "2024-12-27"),
        ("元旦", "2025-01-01"),
        ("二〇二四年五月", "2024-05"),
        ("24年5月", "2024-05"),
        ("二十号到二十五号", "2025-03-20 to 2025-03-25"),
        ("下周二到周四", "2025-03-11 to 2025-03-13"),
        ("两周前的周五", "2025-02-21"),
        ("三周后的周一", "2025-03-24"),
        ("下周的周五", "2025-03-14"),
        ("五月的第二个周日", "2025-05-11"),
        ("六月最后一个周五", "2025-06-27"),
        ("这个月的最后一天", "2025-03-31"),
        ("下个月第一个星期一", "2025-04-07"),
        ("上一个周五", "2025-02-28"),
        ("大大后天", "2025-03-08"),
        ("后晚", "2025-03-06"),
        ("明儿", "2025-03-05"),
        ("前年五月", "2023-05"),
    ],
)
def test_chinese_dates_made_of_dates_are_one_date(text: str, day: str) -> None:
    assert [found.iso for found in find_dates(text, TUESDAY, DUBLIN)] == [day]


@pytest.mark.parametrize(
    "text",
    [
        "a week ago Friday",
        "the weekend after next",
        "three and a half weeks ago",
        "one month and two days ago",
        "in a week or two",
        "in two or three days",
        "Monday through Friday",
        "within the last month",
        "over the next two weeks",
        "last Tuesday week",
        "three business days from Monday",
        "a few days after Easter",
        "Black Friday",
        "more than a year ago",
        "one or two weeks ago",
        "every first Monday of the month",
        "last week of term",
        "Easter eggs",
        "the Christmas party",
        "every two weeks",
        "农历八月十五",
        "八月十五",
        "正月十五",
        "下一个周五",
        "周一至周五",
        "后天的后一天",
        "几个月前",
        "一两天后",
        "三天内",
        "最近两周",
        "初三",
    ],
)
def test_what_may_be_read_in_two_ways_is_not_guessed(text: str) -> None:
    assert [found.iso for found in find_dates(text, TUESDAY, DUBLIN)] == []


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("We're away for two weeks from Monday.", ["2025-03-10"]),
        ("It's two weeks today since I gave up sugar.", ["2025-03-04"]),
        ("I see her every two weeks from tomorrow.", ["2025-03-05"]),
        ("It costs 35 euros a month from today.", ["2025-03-04"]),
        ("I train three times a week from Monday.", ["2025-03-10"]),
        ("See you on Friday. Next week I'm off.", ["2025-03-07", "2025-03-10 to 2025-03-16"]),
        ("I was in Rome in 2019 and in May.", ["2019", "2025-05"]),
        ("The day after tomorrow, or Saturday after lunch?", ["2025-03-06", "2025-03-08"]),
        ("我在那里待了三天，明天走。", ["2025-03-05"]),
    ],
)
def test_dates_that_only_stand_near_each_other_stay_apart(text: str, days: list[str]) -> None:
    assert [found.iso for found in find_dates(text, TUESDAY, DUBLIN)] == days


def test_a_day_before_a_holiday_is_that_of_the_side_that_is_wanted() -> None:
    said = datetime(2025, 12, 23, 9, tzinfo=UTC)
    words = "We flew home three days before Christmas."
    found = resolve_date(words, said, DUBLIN, prefer="past")
    assert found is not None
    assert found.iso == "2025-12-22"
    later = resolve_date("a week after Christmas", said, DUBLIN, prefer="future")
    assert later is not None
    assert later.iso == "2026-01-01"


def test_dates_of_a_text_come_in_order_with_their_places() -> None:
    text = "I left last Friday and start on 10 March."
    found = find_dates(text, TUESDAY, DUBLIN)
    assert [text[each.start : each.end] for each in found] == ["last Friday", "10 March"]


@given(st.text(alphabet="0123456789 月号日年周上下个前后天点last nextondayFri,:-", max_size=60))
def test_no_text_makes_the_resolver_fail(text: str) -> None:
    for found in find_dates(text, TUESDAY, SHANGHAI):
        assert found.day <= found.last_day
        assert text[found.start : found.end] == found.text


_WORDS = (
    "two", "weeks", "three", "days", "a", "few", "from", "after", "before", "ago", "on", "of", "the", "next", "last", "this",
    "Friday", "Monday", "tomorrow", "today", "year", "month", "week", "Christmas", "Easter", "12", "June", "May", "2024",
    "31", "February", "first", "13th", "fortnight", "not", "but", "day", "to", "until",
)  # fmt: skip
_SIGNS = (
    "两周",
    "三天",
    "前",
    "后",
    "的",
    "周五",
    "今天",
    "去年",
    "下个月",
    "圣诞节",
    "第一个",
    "最后一天",
    "31号",
    "到",
    "2月",
    "再过",
)


@given(
    st.lists(st.sampled_from(_WORDS), max_size=9).map(" ".join)
    | st.lists(st.sampled_from(_SIGNS), max_size=8).map("".join)
)
def test_no_words_of_dates_in_whatever_order_make_the_resolver_fail(text: str) -> None:
    found = find_dates(text, TUESDAY, SHANGHAI)
    assert all(one.day <= one.last_day for one in found)
    assert all(text[one.start : one.end] == one.text for one in found)
    assert all(one.end <= two.start for one, two in itertools.pairwise(found))


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("\u017fix days ago", "six days ago"),
        ("s\u0131x weeks ago yesterday", "six weeks ago yesterday"),
        ("last \u017fpring", "last spring"),
        ("the spr\u0131ng before last", "the spring before last"),
        ("tomorrow at \u017fix", "tomorrow at six"),
        ("the f\u0130rst Monday of May 2024", "the first Monday of May 2024"),
        ("next wee\u212a", "next week"),
        ("Chr\u0130stmas unt\u0130l noon", "Christmas until noon"),
    ],
)
def test_letters_that_are_the_same_but_for_case_are_read_as_such(text: str, plain: str) -> None:
    (found,) = find_dates(text, TUESDAY, DUBLIN)
    (same,) = find_dates(plain, TUESDAY, DUBLIN)
    assert (found.iso, found.start, found.end) == (same.iso, same.start, same.end)
    assert found.text == text[found.start : found.end]


@given(
    st.lists(st.sampled_from(_WORDS), max_size=9).map(" ".join),
    st.sampled_from([("s", "\u017f"), ("i", "\u0131"), ("i", "\u0130"), ("k", "\u212a")]),
)
@example("Christmas until", ("i", "\u0130"))
def test_no_other_form_of_a_letter_makes_the_resolver_fail(text: str, letter: tuple[str, str]) -> None:
    found = find_dates(text.replace(*letter), TUESDAY, DUBLIN)
    assert [one.iso for one in found] == [one.iso for one in find_dates(text, TUESDAY, DUBLIN)]


def test_what_counts_from_a_leap_day_is_read_in_the_years_that_have_one() -> None:
    said = datetime(2024, 3, 1, 9, tzinfo=UTC)
    found = resolve_date("three days before 29 February", said, DUBLIN, prefer="past")
    assert found is not None
    assert found.iso == "2024-02-26"


@pytest.mark.parametrize(
    ("moment", "zone"),
    [(datetime.min.replace(tzinfo=UTC), "America/New_York"), (datetime.max.replace(tzinfo=UTC), "Asia/Shanghai")],
)
def test_words_of_the_first_and_the_last_day_that_there_are_can_be_read(moment: datetime, zone: str) -> None:
    for text in (
        "today",
        "yesterday",
        "tomorrow",
        "last year",
        "at Christmas",
        "the Friday after Easter",
        "下周的周三",
    ):
        for found in find_dates(text, moment, ZoneInfo(zone)):
            assert found.day <= found.last_day


@pytest.mark.parametrize(
    ("text", "aside", "beginning"),
    [
        ("We came last weekend.", " (2025-03-01 to 2025-03-02)", "about 2025-03-01"),
        ("I came yesterday.", " (2025-03-03)", "2025-03-03"),
        ("我们上周末来的。", "（2025-03-01至2025-03-02）", "2025-03-01前后"),
        ("我昨天来的。", "（2025-03-03）", "2025-03-03"),
        ("我今年三十二岁。", "（2025年）", "2025年"),
    ],
)
def test_a_date_is_shown_in_the_language_of_its_words(text: str, aside: str, beginning: str) -> None:
    span = resolve_date(text, datetime(2025, 3, 4, 9, tzinfo=UTC), ZoneInfo("UTC"), prefer="past")
    assert span is not None
    assert span.aside == aside
    assert beginning == (span.beginning if aside.startswith(" ") else span.beginning_zh)


def test_days_in_figures_are_read_beside_chinese_characters() -> None:
    found = find_dates(
        "我们2025-08-09至2025-08-10搬到了杭州（自2025-08-09前后）", datetime(2026, 1, 1, tzinfo=UTC), ZoneInfo("UTC")
    )
    assert [span.iso for span in found] == ["2025-08-09", "2025-08-10", "2025-08-09"]
    assert find_dates("build_2025-08-09", datetime(2026, 1, 1, tzinfo=UTC), ZoneInfo("UTC")) == ()
