"""Dates in words become days in the user's calendar, counted from when they were said."""

from __future__ import annotations

import itertools
import json
import random
import subprocess
import sys
import threading
import time
from datetime import UTC, date, datetime
from datetime import time as clock
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from hexamem.intent import dates
from hexamem.intent.dates import DateSpan, Prefer, find_dates

CASES = Path(__file__).resolve().parents[1] / "evals" / "corpus" / "dates" / "dates.json"
TUESDAY = datetime(2025, 3, 4, 9, 15, tzinfo=UTC)
DUBLIN, SHANGHAI = ZoneInfo("Europe/Dublin"), ZoneInfo("Asia/Shanghai")
TOLD_IN_BOTH = (
    "yesterday", "last year", "at Christmas", "next week", "two years ago", "on Friday", "in March", "Easter", "29 February",
    "in three weeks", "下周的周三", "上上周", "明年", "三个月前", "国庆节",
)  # fmt: skip
_WORDS = """
two three days weeks from after before ago on of the next last this Friday tomorrow year month Christmas Easter 12 June May 2024
31 February first 13th fortnight not but to until at 7 pm half every 10:30 - / second
"""


def resolved(text: str, prefer: Prefer = "near", said_at: datetime = TUESDAY) -> list[str]:
    return [span.iso for span in find_dates(text, said_at, DUBLIN, prefer=prefer)]


def is_right(case: dict[str, Any]) -> bool:
    found = find_dates(
        case["text"], datetime.fromisoformat(case["said_at"]), ZoneInfo(case["zone"]), prefer=case["prefer"]
    )
    expected = [{f"{one['first']}/{one['last']}", *one.get("also", ())} for one in case["dates"]]
    days = [{f"{span.day}/{span.last_day}", *([str(span.day)] if span.day == span.last_day else [])} for span in found]
    return len(days) == len(expected) and all(day & wanted for day, wanted in zip(days, expected, strict=True))


def test_the_dates_of_the_development_part_are_found_as_often_as_measured() -> None:
    cases = [case for case in json.loads(CASES.read_text(encoding="utf-8")) if not case["held_out"]]
    right = {kind: sum(is_right(case) for case in cases if bool(case["dates"]) == kind) for kind in (True, False)}
    assert right[True] >= 95  # of 99
    assert right[False] >= 18  # of 20 sentences without a date


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("the day after tomorrow", "2025-03-06"),
        ("last Saturday", "2025-03-01"),
        ("two weeks ago", "2025-02-17 to 2025-02-23"),
        ("in three months", "2025-06"),
        ("half a year ago", "2024-09"),
        ("four years ago", "2021"),
        ("20 to 24 June", "2025-06-20 to 2025-06-24"),
        ("June to August", "2025-06 to 2025-08"),
        ("from 2015 to 2018", "2015 to 2018"),
        ("the fall of 2019", "2019-09-01 to 2019-11-30"),
        ("on the 3rd of next month", "2025-04-03"),
        ("since 2021", "2021"),
        ("Easter Monday", "2025-04-21"),
        ("tomorrow at 6:40 am", "2025-03-05 06:40"),
        ("tomorrow at 7", "2025-03-05"),
        ("上周六", "2025-03-01"),
        ("上上周日", "2025-02-23"),
        ("三个月前", "2024-12"),
        ("三年后", "2028"),
        ("下周的周五", "2025-03-14"),
        ("下周二下午三点", "2025-03-11 15:00"),
        ("２０２５年３月２０日", "2025-03-20"),
    ],
)
def test_words_resolve_from_the_day_they_were_said(text: str, day: str) -> None:
    assert resolved(text) == [day]


@pytest.mark.parametrize(
    ("text", "precision"),
    [("昨天", "day"), ("last week", "week"), ("early June", "month"), ("去年夏天", "season"), ("in 2019", "year")],
)
def test_a_date_tells_how_exact_it_is(text: str, precision: str) -> None:
    (found,) = find_dates(text, TUESDAY, DUBLIN)
    assert found.precision == precision


@pytest.mark.parametrize(
    "text",
    [
        "on Fridays",
        "every Monday",
        "每周三",
        "I may go",
        "31 June",
        "3/4",
        "24/7",
        "now",
        "for two weeks",
        "at 7 pm",
        "中秋节",
    ],
)
def test_what_recurs_or_lasts_and_what_is_no_day_gives_none(text: str) -> None:
    assert resolved(text) == []


def test_an_open_date_is_read_backwards_in_a_report_and_forwards_in_a_plan() -> None:
    assert resolved("on 1 May", "past") == ["2024-05-01"]
    assert resolved("on 1 May", "future") == ["2025-05-01"]
    assert resolved("on 1 May") == ["2025-05-01"]
    assert resolved("on Friday", "past") == ["2025-02-28"]
    assert resolved("on Friday") == ["2025-03-07"]
    assert resolved("on Tuesday", "future") == ["2025-03-11"]
    assert resolved("十二月二十号") == ["2024-12-20"]


def test_days_count_in_the_users_timezone() -> None:
    late = datetime(2025, 4, 8, 17, 20, tzinfo=UTC)  # 01:20 on the ninth in Shanghai
    assert [span.iso for span in find_dates("昨天", late, SHANGHAI)] == ["2025-04-08"]
    assert [span.iso for span in find_dates("yesterday", late, DUBLIN)] == ["2025-04-07"]


def test_dates_of_both_languages_come_in_order_with_their_places() -> None:
    text = "I left last Friday, 明天 I start, and on 10 March we meet."
    found = find_dates(text, TUESDAY, DUBLIN)
    assert [span.text for span in found] == ["last Friday", "明天", "10 March"]
    assert [text[span.start : span.end] for span in found] == [span.text for span in found]


def test_a_date_is_explicit_where_a_year_or_a_shift_fixes_it() -> None:
    explicit = {
        text: find_dates(text, TUESDAY, DUBLIN)[0].explicit
        for text in ("yesterday", "May 2022", "两年前", "May", "周五")
    }
    assert explicit == {"yesterday": True, "May 2022": True, "两年前": True, "May": False, "周五": False}


def test_a_date_is_shown_as_exactly_as_it_was_told() -> None:
    first = date(2024, 2, 1)
    assert DateSpan(day=first, last_day=first, clock=clock(15, 30)).iso == "2024-02-01 15:30"
    assert DateSpan(day=first, last_day=date(2024, 2, 29), precision="month").iso == "2024-02"
    assert DateSpan(day=first, last_day=date(2024, 2, 7), precision="week").iso == "2024-02-01 to 2024-02-07"


@pytest.mark.parametrize(
    "text",
    [
        "", " " * 1_000, "\0", "\0" * 600, "\ud800", "\u202e\u05d0\u05de\u05e9", "a" * 100_000, "昨" * 100_000, "1" * 600,
        "1-" * 300, "1 " * 300, "一" * 600, "五两八" * 200, "上" * 600, "(" * 600, "every 2-3 early " * 40, "two weeks ago " * 40,
        "next night Monday " * 40, "三年前" * 200, "year 0, 0000-01-01, 0年1月1日", "in 99999 years, 99999-12-31, 99999年后", "٣/٤/٢٠٢٥",
    ],
)  # fmt: skip
def test_bad_input_takes_no_long_time_and_raises_nothing(text: str) -> None:
    find_dates("tomorrow 明天", TUESDAY, DUBLIN)
    begun = time.process_time()
    for found in find_dates(text, TUESDAY, SHANGHAI):
        assert found.day <= found.last_day
        assert found.text == text[found.start : found.end]
    assert time.process_time() - begun < 3  # 0.4 s at most, as measured


@pytest.mark.parametrize(
    "text", ["\0yesterday\0", "\ud800 yesterday \udfff", "\u202eyesterday", "İİ yesterday", "👩‍👩‍👧 yesterday"]
)
def test_a_date_beside_odd_characters_is_found_in_its_place(text: str) -> None:
    (found,) = find_dates(text, TUESDAY, DUBLIN)
    assert (found.text, found.iso) == ("yesterday", "2025-03-03")


def test_no_words_of_dates_in_whatever_order_make_it_fail() -> None:
    chosen = random.Random(7)
    words = _WORDS.split()
    signs = "上下前后天周月年日号一二三五十百半个星期点分到的今明昨去大每初末几零第春夏晚0123年月"
    for _ in range(60):
        text = " ".join(chosen.choices(words, k=9)) + "".join(chosen.choices(signs, k=9))
        found = find_dates(text, TUESDAY, SHANGHAI)
        assert all(span.day <= span.last_day for span in found), text
        assert all(one.end <= two.start for one, two in itertools.pairwise(found)), text


@pytest.mark.parametrize(
    ("moment", "zone"),
    [(datetime.min.replace(tzinfo=UTC), "America/New_York"), (datetime.max.replace(tzinfo=UTC), "Asia/Shanghai")],
)
def test_words_of_the_first_and_the_last_day_that_there_are_can_be_read(moment: datetime, zone: str) -> None:
    for text, prefer in itertools.product(TOLD_IN_BOTH, ("past", "future", "near")):
        for found in find_dates(text, moment, ZoneInfo(zone), prefer=prefer):
            assert found.day <= found.last_day


def test_threads_read_their_own_texts() -> None:
    found: dict[str, list[str]] = {}

    def read(text: str) -> None:
        found[text] = [span.iso for _ in range(5) for span in find_dates(text, TUESDAY, DUBLIN)]

    threads = [threading.Thread(target=read, args=(text,)) for text in TOLD_IN_BOTH]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {text: 5 * resolved(text) for text in TOLD_IN_BOTH}


def test_the_library_is_loaded_only_when_a_text_is_read() -> None:
    code = "import sys, hexamem.agents.reader; print('recognizers_text' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "False"


def test_reading_dates_leaves_the_decimals_of_the_host_as_they_are() -> None:
    code = (
        "from datetime import UTC, datetime; from decimal import getcontext; before = getcontext().prec; "
        "from hexamem.intent.dates import find_dates; find_dates('I left on 3 May 2024.', datetime.now(UTC), UTC); "
        "assert getcontext().prec == before"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_fault_of_our_own_is_not_taken_for_an_unreadable_date(monkeypatch: pytest.MonkeyPatch) -> None:
    def faulty(*given: object) -> object:
        raise NameError("a slip")

    for name in ("_meant", "_whole"):
        with monkeypatch.context() as patched:
            patched.setattr(f"hexamem.intent.dates.{name}", faulty)
            with pytest.raises(NameError, match="a slip"):
                find_dates("We met on Monday, three weeks ago and in May.", TUESDAY, DUBLIN)


def test_no_text_stays_in_memory_where_reading_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    recognizer = dates._Recognizer("en-us")
    monkeypatch.setattr("hexamem.intent.dates._meant", lambda *given: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        find_dates("We met on Monday.", TUESDAY, DUBLIN)
    assert recognizer._memo.__dict__ == {}


def test_of_one_kind_twelve_dates_are_read() -> None:
    text = ", ".join(f"{day} March 2024" for day in range(1, 21))
    assert len(find_dates(text, TUESDAY, DUBLIN)) == 12
