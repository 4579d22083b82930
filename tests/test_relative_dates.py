"""Dates in words become days in the user's calendar, counted from when they were said."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
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
        ("tomorrow at 7", "2025-03-05 19:00"),
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


@pytest.mark.parametrize("text", ["on Fridays", "every Monday", "每周三", "I may march on", "31 June", "2号线", "3/4"])
def test_recurrences_and_what_is_no_date_give_none(text: str) -> None:
    assert resolved(text) == ""


def test_dates_of_a_text_come_in_order_with_their_places() -> None:
    text = "I left last Friday and start on 10 March."
    found = find_dates(text, TUESDAY, DUBLIN)
    assert [text[each.start : each.end] for each in found] == ["last Friday", "10 March"]


@given(st.text(alphabet="0123456789 月号日年周上下个前后天点last nextondayFri,:-", max_size=60))
def test_no_text_makes_the_resolver_fail(text: str) -> None:
    for found in find_dates(text, TUESDAY, SHANGHAI):
        assert found.day <= found.last_day
        assert text[found.start : found.end] == found.text
