"""What research may read: kinds, conditions, what was true or believed at a time, and what superseded it."""
# ruff: noqa: F811 - fixtures come by import

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from hexamem import Memory, UserMemory
from hexamem.errors import InvalidInputError
from hexamem.graphs.research import build_research_graph
from hexamem.graphs.research_state import ResearchContext
from hexamem.memory_types.research import Research

from .scripted_server import ServerFactory, loopback_only, scripted_server  # noqa: F401
from .test_research import SETTINGS, TALKS, WRIST, nora, tell  # noqa: F401

TICK = timedelta(microseconds=1)
TOWN = "Which town does the home of Ida lie in?"


@pytest.fixture
def memory(plain_memory: Memory) -> Memory:
    return plain_memory


def home_in(user: UserMemory, town: str, supersedes: str | None = None, **more: Any) -> str:
    item = {"kind": "semantic", "name": "home of Ida", "summary": f"lies in the town {town}", **more}
    return user.add(item, supersedes=supersedes).id


def towns(research: Research) -> list[str]:
    return [each.text.rsplit(" ", 1)[-1] for each in research.passages if each.kind == "semantic"]


def test_a_condition_narrows_what_is_read_in_every_lane_and_on_every_page(nora: UserMemory) -> None:
    in_one = nora.research("What animals and courses are there?", where={"thread_id": "one"})
    assert {hit.thread_id for hit in in_one.hits} == {"one"}
    assert {hit.speaker for hit in nora.research("Who has a dog?", where={"speaker": "Theo"}).hits} == {"Theo"}
    page = nora.research("What is the grey cat called?", form="pages", where={"speaker": "Nora"})
    assert "Pixel" in page.context
    assert "Bruno" not in page.context


def test_the_filter_of_one_question_does_not_hold_for_the_next_in_a_thread(nora: UserMemory) -> None:
    graph = build_research_graph(nora.memory.researching.parts())
    graph.checkpointer = InMemorySaver()
    config: Any = {"configurable": {"thread_id": "t"}}
    context = ResearchContext(user="nora")
    first = graph.invoke({"question": "Who ran?", "where": {"thread_id": "one"}}, config, context=context)
    second = graph.invoke({"question": "Who ran a half marathon?"}, config, context=context)
    assert {each["thread_id"] for each in first["research"]["passages"]} == {"one"}
    assert "three" in {each["thread_id"] for each in second["research"]["passages"]}


def test_a_filter_never_costs_a_match(alice: UserMemory) -> None:
    alice.remember([f"The parcel number {number} came by boat." for number in range(250)], thread_id="other")
    alice.remember("A parcel for Ada came by boat.", thread_id="wanted")
    research = alice.research("Which parcel came by boat?", 1, passages=3, where={"thread_id": "wanted"})
    assert [each.text for each in research.passages] == ["A parcel for Ada came by boat."]


def test_what_had_not_happened_yet_is_not_read_and_the_question_is_asked_then(nora: UserMemory) -> None:
    research = nora.research("What are Nora's cats called?", as_of="2025-05-01T00:00:00Z")
    assert "Pixel" in research.answer
    assert "Comet" not in research.context + "".join(hit.text for hit in research.hits)
    last_month = nora.research("What happened last month?", as_of="2025-05-01T00:00:00Z")
    assert {str(each.occurred_at)[:7] for each in last_month.passages[:2]} == {"2025-04"}


def test_what_was_true_or_believed_at_a_time_is_read_as_it_was_then(alice: UserMemory) -> None:
    old = home_in(alice, "Hangzhou", valid_from="2015-03-01")
    new = home_in(alice, "Shanghai", valid_from="2022-07-01", supersedes=old)
    assert towns(alice.research(TOWN)) == ["Shanghai"]
    then = alice.research(TOWN, as_of="2020-01-01")
    assert towns(then) == ["Hangzhou"]
    assert "Shanghai" not in then.context
    assert towns(alice.research(TOWN, as_of="2014-01-01")) == []
    alice.edit(new, summary="lies in the town Turku")
    edited = alice.history()[-1].created_at
    assert towns(alice.research(TOWN, known_at=edited - TICK)) == ["Shanghai"]
    alice.remove(new)
    removed = alice.history()[-1].created_at
    assert towns(alice.research(TOWN, known_at=removed - TICK)) == ["Turku"]
    assert "Turku" not in towns(alice.research(TOWN))
    early = alice.remember("Ida has a red kayak.").step_ids
    between = alice.steps()[-1].created_at + TICK
    alice.remember("Ida has a blue kayak too.")
    kayaks = alice.research("Which kayaks does Ida have?", known_at=between, kinds="step")
    assert tuple(hit.id for hit in kayaks.hits) == early


def test_kinds_narrow_what_is_read_and_a_graph_takes_the_same_filters(memory: Memory, alice: UserMemory) -> None:
    alice.remember("The home of Ida lies in the town Turku.")
    home_in(alice, "Turku")
    for kinds, read in (
        (None, {"step", "semantic"}),
        ("step", {"step"}),
        (["semantic", "core"], {"semantic"}),
        ("core", set()),
    ):
        assert {each.kind for each in alice.research(TOWN, kinds=kinds).passages} == read  # type: ignore[arg-type]
    graph, context = memory.researching.graph, ResearchContext(user="alice")
    semantic = graph.invoke({"question": TOWN, "kinds": "semantic"}, context=context)
    assert {each["kind"] for each in semantic["research"]["passages"]} == {"semantic"}
    none = graph.invoke({"question": TOWN, "known_at": "2020-01-01"}, context=context)
    assert none["research"]["passages"] == []
    for wrong in ({"as_of": "soon"}, {"kinds": ["notes"]}):
        with pytest.raises(InvalidInputError, match=r"soon|notes"):
            graph.invoke({"question": TOWN, **wrong}, context=context)


def superseded(user: UserMemory, lines: tuple[str, str], values: tuple[str, str]) -> None:
    """Store two lines, a day apart, and a fact of each, the second of which supersedes the first."""
    former = None
    for day, line, value in zip((3, 4), lines, values, strict=True):
        message = {"role": "user", "content": line, "timestamp": f"2026-05-{day:02d}T10:00:00+00:00"}
        (step,) = user.remember(message, "t").step_ids
        item = {"kind": "core", "label": "fact", "value": value, "sources": [{"step_id": step}]}
        former = user.add(item, supersedes=former).id


@pytest.mark.parametrize(
    ("lines", "values", "question"),
    [
        (("I have a cat called Mio.", "Mio died last week."), ("Has a cat", "Mio died"), "Do I have a cat?"),
        (("I work as a chef at the Ritz.", "They let me go."), ("Works at the Ritz as a chef", "Lost the job"),
         "Where do I work as a chef?"),
    ],
)  # fmt: skip
def test_a_quoted_fact_comes_with_the_one_that_superseded_it_but_for_a_time_before(
    newcomer: UserMemory, lines: tuple[str, str], values: tuple[str, str], question: str
) -> None:
    superseded(newcomer, lines, values)
    research = newcomer.research(question)
    claim = next(each for each in research.evidence if each.text in (values[1], lines[1]))
    assert claim.passage_id in [each.id for each in research.passages]
    assert -1 < research.answer.find(lines[0]) < research.answer.index(claim.text)
    then = newcomer.research(question, as_of="2026-05-03T12:00:00+00:00")
    assert lines[0] in then.answer or values[0] in then.answer
    assert values[1] not in then.answer


def test_a_fact_that_superseded_another_statement_of_the_message_is_left_out(newcomer: UserMemory) -> None:
    lines = ("I live in Bristol and my beagle is called Rex.", "We have taken a flat in Bath.")
    superseded(newcomer, lines, ("Bristol", "Bath"))
    answer = newcomer.research("What is my beagle called?", 1, passages=1).answer
    assert "Rex" in answer
    assert "Bath" not in answer
