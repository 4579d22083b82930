"""Where sentences end: in pages, in research and for the managers, in English, German and Chinese."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from hexamem.agents.managers.rules.sentences import read_text
from hexamem.intent.page_memos import SaidStep, page_memo
from hexamem.intent.page_sentences import SPLIT

WHOLE = [
    "My dentist is Dr. Osei.",
    "The talk by Mrs. Lane is at St. Mary's church.",
    "It took approx. 20 min. by bus.",
    "We like fruit, e.g. pears, i.e. anything sweet.",
    "I met J. Smith and J. R. R. Tolkien.",
    "Mary J. Blige sang.",
    "She has a Ph.D. in physics.",
    "We drove to the U.S. Army base.",
    "The party is on Sept. 4 at 8 p.m. in Leeds.",
    "Prof. Dr. A. Weber leads it.",
    "Am 3. Mai ziehe ich nach Bonn.",
    "Ich fliege am 3. und 4. Mai.",
    "Es kostet ca. 400 Euro.",
    "Wir wohnen im 3. Stock.",
    "Heute spielt der 1. FC Köln.",
    "Das ist z. B. gut, d. h. sehr gut, usw. und so fort.",
    "Der Termin bei Frau Dr. Weber ist am 5.5. um 10 Uhr.",
    "Dr. Wang 是我的医生。",
]
TWO = [
    ("I take vitamin D.", "Peter takes vitamin C."),
    ("I am 31.", "Peter is 33."),
    ("Let us go for plan B.", "Smith said so."),
    ("So do I.", "Peter too."),
    ("I moved to the U.S.", "My wife stayed."),
    ("I live in San Jose, CA.", "We like it."),
    ("It ends at 3 p.m.", "Peter left."),
    ("Never mind.", "So it goes."),
    ("The score was 3.", "4 people came."),
    ("Ich komme am 3.", "Wir sehen uns dort."),
    ("Sie wird 7.", "Er wird 8."),
    ("My birthday is on 3. May.", "May I go?"),
]


@pytest.mark.parametrize("text", WHOLE)
def test_a_full_stop_within_a_sentence_does_not_cut_it(text: str) -> None:
    assert SPLIT.split(f"{text} We left.") == ([text, "We left."] if text[-1] == "." else [text, " We left."])


@pytest.mark.parametrize(("first", "second"), TWO)
def test_what_looks_like_an_abbreviation_may_end_a_sentence(first: str, second: str) -> None:
    assert SPLIT.split(f"{first} {second}") == [first, second]


@pytest.mark.parametrize("text", [*WHOLE, *(f"{first} {second}" for first, second in TWO)])
def test_the_managers_cut_where_pages_and_research_cut(text: str) -> None:
    parts = [part.strip(" .?。") for part in SPLIT.split(text) if part]
    assert [sentence.raw.strip(" .?。") for sentence in read_text("s", text).sentences] == parts


def test_a_line_ends_a_sentence_even_after_an_abbreviation() -> None:
    assert SPLIT.split("Ask Dr.\nOsei is away") == ["Ask Dr.", "Osei is away"]


def test_a_memo_keeps_names_with_titles_and_german_days_whole() -> None:
    step = SaidStep(
        speaker="Ann",
        role="user",
        text="The talk by Mrs. Lane is at St. Mary's church in York. Am 3. Mai ziehe ich nach Bonn um.",
        occurred_at=datetime(2026, 4, 1, 9, tzinfo=UTC),
    )
    memo = page_memo([step], UTC)
    assert "The talk by Mrs. Lane is at St. Mary's church in York" in memo
    assert "Am 3. Mai" in memo
