"""What research may read: kinds, conditions, what was true or believed at a time, and times at the ends of the calendar."""
# ruff: noqa: F811 - fixtures come by import

from __future__ import annotations

import json
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from hexamem import Memory, Settings, UserMemory
from hexamem.cli.app import run
from hexamem.errors import InvalidInputError
from hexamem.graphs.research_state import ResearchContext
from hexamem.memory_types.local_time import in_utc, in_zone
from hexamem.memory_types.research import Research

from .scripted_server import ServerFactory, loopback_only, scripted_server  # noqa: F401
from .test_research import TALKS, tell
from .test_research_model import script, search

TICK = timedelta(microseconds=1)
TOWN = "Which town does the home of Ida lie in?"


def home_in(user: UserMemory, town: str, **more: Any) -> str:
    supersedes = more.pop("supersedes", None)
    item = {"kind": "semantic", "name": "home of Ida", "summary": f"lies in the town {town}", **more}
    return user.add(item, supersedes=supersedes).id


def read(found: Research) -> list[str]:
    return [one.text.rsplit(" ", 1)[-1] for one in found.passages if one.kind == "semantic"]


@pytest.fixture
def user(memory: Memory) -> UserMemory:
    return memory.user("nora")


def test_what_was_true_is_read_though_it_was_superseded_since(user: UserMemory) -> None:
    old = home_in(user, "Hangzhou", valid_from="2015-03-01")
    home_in(user, "Shanghai", valid_from="2022-07-01", supersedes=old)
    assert read(user.research(TOWN)) == ["Shanghai"]
    assert read(user.research(TOWN, as_of="2020-01-01")) == ["Hangzhou"]
    assert read(user.research(TOWN, as_of="2014-01-01")) == []
    then = user.research(TOWN, as_of="2020-01-01")
    assert "Hangzhou" in then.answer
    assert "Shanghai" not in then.context


def test_what_was_believed_is_read_in_the_words_of_then(user: UserMemory) -> None:
    item = home_in(user, "Hangzhou")
    user.edit(item, summary="lies in the town Shanghai")
    edited = user.history()[-1].created_at
    assert read(user.research(TOWN, known_at=edited - TICK)) == ["Hangzhou"]
    assert read(user.research(TOWN, known_at=edited)) == ["Shanghai"]
    user.remove(item)
    removed = user.history()[-1].created_at
    assert read(user.research(TOWN)) == []
    assert read(user.research(TOWN, known_at=removed - TICK)) == ["Shanghai"]


def test_what_was_stored_later_was_not_known(user: UserMemory) -> None:
    early = user.remember(["Ida has a red kayak."], thread_id="a").step_ids
    between = user.steps()[-1].created_at + TICK
    user.remember(["Ida has a blue kayak too."], thread_id="a")
    found = user.research("Which kayaks does Ida have?", known_at=between)
    assert tuple(one.id for one in found.hits) == early
    assert len(user.research("Which kayaks does Ida have?").hits) == 2


def test_kinds_narrow_what_is_read(user: UserMemory) -> None:
    user.remember(["The home of Ida lies in the town Turku."], thread_id="a")
    home_in(user, "Turku")
    assert {one.kind for one in user.research(TOWN).passages} == {"step", "semantic"}
    assert {one.kind for one in user.research(TOWN, kinds="step").passages} == {"step"}
    assert {one.kind for one in user.research(TOWN, kinds=["semantic", "core"]).passages} == {"semantic"}
    assert user.research(TOWN, kinds="core").passages == ()
    with pytest.raises(InvalidInputError, match="kinds"):
        user.research(TOWN, kinds="notes")


def test_a_graph_takes_the_same_filters_as_json(memory: Memory, user: UserMemory) -> None:
    user.remember(["The home of Ida lies in the town Turku."], thread_id="a")
    home_in(user, "Turku")
    graph, context = memory.researching.graph(), ResearchContext(user="nora")
    found = graph.invoke({"question": TOWN, "kinds": "semantic"}, context=context)
    assert {one["kind"] for one in found["research"]["passages"]} == {"semantic"}
    none = graph.invoke({"question": TOWN, "known_at": "2020-01-01"}, context=context)
    assert none["research"]["passages"] == []
    with pytest.raises(InvalidInputError, match="soon"):
        graph.invoke({"question": TOWN, "as_of": "soon"}, context=context)
    with pytest.raises(InvalidInputError, match="notes"):
        graph.invoke({"question": TOWN, "kinds": ["notes"]}, context=context)


def test_a_filtered_memory_shows_the_planner_memos_of_what_may_be_read(
    tmp_path: Path, scripted_server: ServerFactory
) -> None:
    server = scripted_server(script(plan={"needs": [], "searches": [search("page", "M1", pages=["M1"])]}))
    with Memory.open(
        tmp_path / "home",
        models={"researcher": server.chat_model()},
        settings=Settings(background=False, mode="off"),
    ) as memory:
        user = memory.user("nora")
        tell(user, {**TALKS, "one later": [("Nora", "2025-09-01T10:00:00Z", "Pixel sleeps on the stove now.")]})
        user.pages()
        closed = {page.thread_id for page in user.pages() if page.closed}
        assert {"one", "two"} <= closed
        user.research("Who broke his wrist?", 1, where={"thread_id": "two"})
        asked = server.requests[-3].text
        assert "wrist" in asked.split("<memory>")[1].split("</memory>")[0]
        assert "Pixel" not in asked
        user.research("Who broke his wrist?", 1, as_of="2025-03-20T00:00:00Z")
        memos = server.requests[-3].text.split("<memory>")[1].split("</memory>")[0]
        assert "Pixel" in memos
        assert "Lisbon" not in memos


def test_a_search_by_time_takes_its_days_in_either_order_and_both_whole(
    tmp_path: Path, scripted_server: ServerFactory
) -> None:
    server = scripted_server(
        script(plan={"needs": [], "searches": [search("time", "wrist", since="2025-04-10", until="2025-04-09")]})
    )
    settings = Settings(background=False, mode="off")
    with Memory.open(tmp_path / "home", models={"researcher": server.chat_model()}, settings=settings) as memory:
        user = memory.user("nora")
        tell(user)
        found = user.research("Who broke his wrist?", 1)
    asked = next(one for one in found.rounds[0].plan.requests if one.lane == "time")
    assert asked.since == datetime(2025, 4, 9, tzinfo=UTC)
    assert asked.until is not None
    assert asked.until.date() == date(2025, 4, 10)
    assert next(one for one in found.rounds[0].lanes if one.lane == "time").found > 0


# The first and the last day that there are.

ENDS = ["0001-01-01T00:30:00Z", "9999-12-31T23:30:00Z"]
ZONES = ["America/New_York", "Asia/Shanghai"]


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("at", ENDS)
def test_the_ends_of_the_calendar_are_read_in_any_zone(memory: Memory, at: str, zone: str) -> None:
    user = memory.user("nora", timezone=zone)
    user.remember([{"role": "user", "name": "Ida", "content": "I bought a kayak.", "timestamp": at}], thread_id="a")
    for form in ("text", "passages", "pages"):
        assert "kayak" in user.research("What did Ida buy?", form=form).context  # type: ignore[arg-type]
    assert "kayak" in user.research("What did Ida buy last week?", as_of=at).context
    assert user.research(f"What did Ida buy on {at[:10]}?").passages
    (page,) = user.pages()
    assert "kayak" in user.page(page.id).text
    assert user.light_memory().pages == 0  # the only page is open


@pytest.mark.parametrize("zone", ZONES)
def test_a_time_stays_on_the_calendar(zone: str) -> None:
    first, last = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
    assert {in_zone(one, ZoneInfo(zone)) for one in (first, last)} == {first, last}
    for one in (datetime.min, datetime.max):
        assert first <= in_utc(one.replace(tzinfo=ZoneInfo(zone))) <= last
    noon = datetime(2025, 7, 1, 12, tzinfo=UTC)
    assert in_utc(in_zone(noon, ZoneInfo(zone))) == noon


# On the command line.


def test_ask_takes_the_filters_of_recall(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "home"
    with Memory.open(folder, settings=Settings(background=False, mode="off")) as memory:
        user = memory.user("nora")
        tell(user)
        old = home_in(user, "Hangzhou", valid_from="2015-03-01")
        home_in(user, "Shanghai", valid_from="2022-07-01", supersedes=old)

    def passages(*options: str) -> list[dict[str, Any]]:
        asked = ["ask", "What happened to Nora, Theo and the home of Ida?", *options, "--json"]
        assert run([*asked, "--user", "nora", "--home", str(folder)]) == 0
        return list(json.loads(capsys.readouterr().out)["passages"])

    assert {one["kind"] for one in passages("--kind", "semantic")} == {"semantic"}
    assert {one["thread_id"] for one in passages("--thread", "two")} == {"two"}
    assert {one["speaker"] for one in passages("--speaker", "Theo")} == {"Theo"}
    steps = passages("--since", "2025-04-01", "--until", "2025-05-01", "--kind", "step")
    assert {one["occurred_at"][:7] for one in steps} == {"2025-04"}
    then = passages("--as-of", "2020-01-01")
    assert [one["text"].rsplit(" ", 1)[-1] for one in then] == ["Hangzhou"]
    assert passages("--known-at", "2020-01-01") == []
    assert run(["ask", "x", "--label", "no such label", "--user", "nora", "--home", str(folder)]) == 2
    assert "no such label" in capsys.readouterr().err
