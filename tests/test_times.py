"""Timestamps: every form that is read, every kind that is refused, and the arithmetic that must be exact."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hexamem.errors import InvalidInputError
from hexamem.memory_types.times import Moment, from_micros, parse_time, read_zone, to_micros

SHARED = Path(__file__).parents[2] / "shared" / "data"
AFTERNOON = datetime(2023, 5, 8, 13, 56, tzinfo=UTC)
MIDNIGHT = datetime(2023, 5, 8, tzinfo=UTC)


@pytest.mark.parametrize(
    "text",
    [
        "2023-05-08T13:56:00Z",
        "2023-05-08T13:56:00z",
        "2023-05-08T13:56:00+00:00",
        "2023-05-08T13:56",
        "2023-05-08 13:56",
        "2023-05-08 13:56 UTC",
        "2023-5-8 13:56",
        "2023.05.08 13:56",
        "20230508T135600",
        "20230508135600",
        "2023/05/08 (Mon) 13:56",
        "2023/05/08 (周一) 13:56",
        "1:56 pm on 8 May, 2023",
        "1:56 PM on Monday, 8 May 2023",
        "May 8, 2023 1:56 PM",
        "May 8, 2023, 1:56 p.m.",
        "May 8th, 2023 at 13:56",
        "8 May 2023 13:56",
        "08-May-2023 13:56:00",
        "Mon May  8 13:56:00 2023",
        "Mon, 08 May 2023 13:56:00 GMT",
        "Mon, 08 May 2023 13:56:00 -0000",
        "2023年5月8日 下午1点56分",
        "2023年5月8日下午1:56",
        "2023年5月8日 星期一 13时56分",
        "2023年05月08日 13:56:00",
        "1683554160",
        "1683554160000",
        "1683554160000000",
        "1683554160.0",
        "  2023-05-08T13:56  ",
    ],
)
def test_each_written_form_of_one_moment_is_read_as_that_moment(text: str) -> None:
    assert parse_time(text) == Moment(utc=AFTERNOON, offset_minutes=0)


@pytest.mark.parametrize(
    "text", ["2023-05-08", "20230508", "2023/5/8", "8 May 2023", "May 8, 2023", "Mon, 8 May 2023", "2023年5月8日"]
)
def test_a_date_alone_is_its_midnight(text: str) -> None:
    assert parse_time(text).utc == MIDNIGHT


@pytest.mark.parametrize(
    ("text", "utc", "offset"),
    [
        ("2023-05-08T13:56:00+02:00", datetime(2023, 5, 8, 11, 56, tzinfo=UTC), 120),
        ("2023-05-08 13:56:00 +0530", datetime(2023, 5, 8, 8, 26, tzinfo=UTC), 330),
        ("2023-05-08T13:56-03:30", datetime(2023, 5, 8, 17, 26, tzinfo=UTC), -210),
        ("Tue, 15 Nov 1994 08:12:31 -0800", datetime(1994, 11, 15, 16, 12, 31, tzinfo=UTC), -480),
        ("15 Nov 1994 08:12:31 EST", datetime(1994, 11, 15, 13, 12, 31, tzinfo=UTC), -300),
        ("May 8, 2023 1:56 PM UTC+3", datetime(2023, 5, 8, 10, 56, tzinfo=UTC), 180),
        ("May 8, 2023 1:56 PM GMT-5", datetime(2023, 5, 8, 18, 56, tzinfo=UTC), -300),
    ],
)
def test_an_offset_in_the_text_wins_over_the_timezone_and_is_kept(text: str, utc: datetime, offset: int) -> None:
    assert parse_time(text, timezone="Asia/Tokyo") == Moment(utc=utc, offset_minutes=offset)


@pytest.mark.parametrize(
    ("hour", "expected"),
    [
        ("上午12点5分", 0),
        ("凌晨3点5分", 3),
        ("中午12点5分", 12),
        ("中午1点5分", 13),
        ("下午12点5分", 12),
        ("晚上9点5分", 21),
    ],
)
def test_chinese_parts_of_the_day_give_the_hour(hour: str, expected: int) -> None:
    assert parse_time(f"2023年5月8日 {hour}").utc == datetime(2023, 5, 8, expected, 5, tzinfo=UTC)


def test_half_past_is_read_in_chinese() -> None:
    assert parse_time("2023年5月8日 下午3点半").utc == datetime(2023, 5, 8, 15, 30, tzinfo=UTC)


def test_midnight_and_noon_of_the_twelve_hour_clock_are_not_exchanged() -> None:
    assert parse_time("12:30 am on 8 May, 2023").utc.hour == 0
    assert parse_time("12:30 pm on 8 May, 2023").utc.hour == 12


def test_fractions_are_kept_to_the_microsecond_and_cut_beyond() -> None:
    assert parse_time("2023-05-08T13:56:00.123456789Z").utc.microsecond == 123456


@pytest.mark.parametrize(
    ("number", "utc"),
    [
        (0, datetime(1970, 1, 1, tzinfo=UTC)),
        (1683554160, AFTERNOON),
        (1683554160.25, AFTERNOON + timedelta(milliseconds=250)),
        (1683554160_000, AFTERNOON),
        (1683554160_000_001, AFTERNOON + timedelta(microseconds=1)),
        (-86400, datetime(1969, 12, 31, tzinfo=UTC)),
        (-62135596800, datetime(1, 1, 1, tzinfo=UTC)),
        (99_999_999_999, datetime(5138, 11, 16, 9, 46, 39, tzinfo=UTC)),
        (100_000_000_000, datetime(1973, 3, 3, 9, 46, 40, tzinfo=UTC)),
        (99_999_999_999_000, datetime(5138, 11, 16, 9, 46, 39, tzinfo=UTC)),
        (100_000_000_000_000, datetime(1973, 3, 3, 9, 46, 40, tzinfo=UTC)),
    ],
)
def test_epoch_numbers_are_told_apart_by_magnitude(number: float, utc: datetime) -> None:
    assert parse_time(number) == Moment(utc=utc, offset_minutes=0)


@pytest.mark.parametrize(
    "value",
    [
        "",
        "   ",
        "Saturday",
        "5 pm",
        "13:56",
        "today",
        "May 2023",
        "8 May",
        "8 May 23",
        "2023",
        "2023-05",
        "05/08/2023",
        "13/05/2023",
        "8.5.2023",
        "8 May 2023 13:56 CET",
        "13:56 pm on 8 May 2023",
        "0:30 pm on 8 May 2023",
        "2023年5月",
        "2023年5月8日 晚上12点",
        "2023-02-30",
        "2023-05-08T25:00",
        "2023-05-08T13:56:00+25:00",
        "20231508",
        "20230508990000",
        "8 May 0000",
        "12345",
        "next week, 2023-05-08",
        "2023-05-08 or so",
        "２０２３-05-08",
        "nan",
        "\x00",
        "\ud800",
        "1" * 99,
        "8 May 2023 " * 1000,
    ],
)
def test_unreadable_ambiguous_or_incomplete_text_is_refused_with_the_accepted_forms(value: str) -> None:
    with pytest.raises(InvalidInputError, match="accepted are ISO 8601"):
        parse_time(value)


@pytest.mark.parametrize(
    "value",
    [True, None, b"2023-05-08", [2023, 5, 8], float("nan"), float("inf"), 10**17, pytest.param(10**5000, id="huge")],
)
def test_values_that_are_no_time_are_refused(value: object) -> None:
    with pytest.raises(InvalidInputError):
        parse_time(value)  # type: ignore[arg-type]


@pytest.mark.parametrize("number", [20230508, 20230508.0, 20230508135600])
def test_a_number_that_reads_as_a_date_is_refused_and_not_taken_for_1970(number: float) -> None:
    with pytest.raises(InvalidInputError, match="give a date as text"):
        parse_time(number)


@pytest.mark.parametrize(
    "value",
    ["0001-01-01T00:00:00+05:00", "9999-12-31T23:59:59-05:00", -62135596801, datetime.max.replace(tzinfo=timezone.min)],
)
def test_moments_outside_the_years_1_to_9999_are_refused(value: str | int | datetime) -> None:
    with pytest.raises(InvalidInputError, match="years 1 to 9999"):
        parse_time(value)


def test_the_first_and_the_last_moment_are_read() -> None:
    assert parse_time("0001-01-01T00:00:00Z").utc == datetime.min.replace(tzinfo=UTC)
    assert parse_time("9999-12-31T23:59:59.999999Z").utc == datetime.max.replace(tzinfo=UTC)


def test_a_year_below_100_is_that_year() -> None:
    assert parse_time("8 May 0099 12:00").utc.year == 99


def test_a_naive_time_is_read_in_the_given_timezone() -> None:
    assert parse_time("2023-05-08 13:56", timezone="Asia/Tokyo") == Moment(
        utc=datetime(2023, 5, 8, 4, 56, tzinfo=UTC), offset_minutes=540
    )
    assert parse_time(date(2023, 1, 8), timezone="America/New_York") == Moment(
        utc=datetime(2023, 1, 8, 5, tzinfo=UTC), offset_minutes=-300
    )


def test_an_hour_that_the_clocks_skip_is_read_at_the_offset_before_the_change() -> None:
    # Dublin went from 01:00 to 02:00 on 26 March 2023.
    assert parse_time("2023-03-26 01:30", timezone="Europe/Dublin") == Moment(
        utc=datetime(2023, 3, 26, 1, 30, tzinfo=UTC), offset_minutes=0
    )


def test_an_hour_that_the_clocks_repeat_is_its_first_occurrence() -> None:
    # Dublin went back from 02:00 to 01:00 on 29 October 2023.
    repeated = Moment(utc=datetime(2023, 10, 29, 0, 30, tzinfo=UTC), offset_minutes=60)
    assert parse_time("2023-10-29 01:30", timezone="Europe/Dublin") == repeated
    assert parse_time(datetime(2023, 10, 29, 1, 30, fold=1), timezone="Europe/Dublin") == repeated


def test_seconds_of_an_old_offset_are_exact_in_utc_and_cut_in_the_offset() -> None:
    moment = parse_time("1850-01-01 12:00", timezone="Europe/Dublin")  # local mean time, 25 min 21 s behind
    assert moment == Moment(utc=datetime(1850, 1, 1, 12, 25, 21, tzinfo=UTC), offset_minutes=-25)


@pytest.mark.parametrize("name", ["Mars/Olympus", "", "America", "../../etc/passwd", "\x00", "\ud800", None, 5])
def test_an_unknown_timezone_is_refused_by_name_with_an_example(name: object) -> None:
    with pytest.raises(InvalidInputError, match="Europe/Dublin") as caught:
        parse_time("2023-05-08T13:56:00Z", timezone=name)  # type: ignore[arg-type]
    assert repr(name) in str(caught.value)


def test_utc_needs_no_zone_database() -> None:
    assert read_zone("UTC") is UTC


def test_the_zone_of_a_datetime_gives_its_offset() -> None:
    moment = parse_time(datetime(2023, 7, 1, 12, tzinfo=ZoneInfo("Europe/Dublin")))
    assert moment == Moment(utc=datetime(2023, 7, 1, 11, tzinfo=UTC), offset_minutes=60)


@pytest.mark.parametrize("utc", [datetime(2023, 5, 8), datetime(2023, 5, 8, tzinfo=timezone(timedelta(hours=1)))])
def test_a_moment_is_only_made_of_utc(utc: datetime) -> None:
    with pytest.raises(InvalidInputError, match="not in UTC"):
        Moment(utc=utc, offset_minutes=0)


def test_a_moment_refuses_an_offset_of_a_day() -> None:
    with pytest.raises(InvalidInputError, match="1440"):
        Moment(utc=AFTERNOON, offset_minutes=1440)


def test_micros_of_a_naive_time_are_refused() -> None:
    with pytest.raises(InvalidInputError, match="no timezone"):
        to_micros(datetime(2023, 5, 8))


def test_micros_out_of_range_are_refused() -> None:
    with pytest.raises(InvalidInputError, match="years 1 to 9999"):
        from_micros(10**18)


@given(st.datetimes(timezones=st.just(UTC)))
def test_micros_lead_back_to_the_same_moment(moment: datetime) -> None:
    assert from_micros(to_micros(moment)) == moment


@given(st.datetimes(min_value=datetime(2, 1, 1), max_value=datetime(9998, 1, 1)), st.integers(-1439, 1439))
def test_iso_text_with_an_offset_leads_back_to_the_same_moment(naive: datetime, offset: int) -> None:
    aware = naive.replace(tzinfo=timezone(timedelta(minutes=offset)))
    assert parse_time(aware.isoformat()) == Moment(utc=aware.astimezone(UTC), offset_minutes=offset)


@given(st.datetimes(min_value=datetime(1000, 1, 1)), st.sampled_from(["%I:%M %p on %d %B, %Y", "%B %d, %Y %I:%M %p"]))
def test_english_text_leads_back_to_the_same_minute(naive: datetime, form: str) -> None:
    expected = naive.replace(second=0, microsecond=0, tzinfo=UTC)
    assert parse_time(naive.strftime(form)).utc == expected


@given(st.text(alphabet="0123456789:-/.,+ TZapmMay年月日点下午", max_size=30))
def test_any_text_is_read_or_refused_but_never_breaks(text: str) -> None:
    try:
        moment = parse_time(text)
    except InvalidInputError:
        return
    assert moment.utc.tzinfo is UTC


@given(st.one_of(st.integers(), st.floats()))
def test_any_number_is_read_or_refused_but_never_breaks(number: float) -> None:
    try:
        moment = parse_time(number)
    except InvalidInputError:
        return
    assert moment.offset_minutes == 0


@pytest.mark.shared_data
@pytest.mark.skipif(not SHARED.exists(), reason="the real conversations are not beside the checkout")
def test_every_time_of_the_real_conversations_is_read() -> None:
    times: list[tuple[str, int]] = []
    for path in (SHARED / "locomo").glob("*.json"):
        found = json.loads(path.read_text("utf-8"))
        times += [(v, int(v.rsplit(" ", 1)[1])) for k, v in found.items() if k.endswith("_date_time")]
    for instance in json.loads((SHARED / "longmemeval" / "longmemeval_single.json").read_text("utf-8")):
        times += [(text, int(text[:4])) for text in [*instance["haystack_dates"], instance["question_date"]]]
    assert len(times) > 100
    assert [parse_time(text).utc.year for text, _ in times] == [year for _, year in times]
