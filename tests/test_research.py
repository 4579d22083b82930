"""Deep research without a model: what it finds, quotes, refuses and records, as a call, a graph and a command."""

from __future__ import annotations

import asyncio
import itertools
import json
import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, StateGraph
from typing_extensions import TypedDict

from hexamem import Memory, Settings, UserMemory, research_graph
from hexamem.agents.embedded_research import NOT_HELD
from hexamem.errors import NotFoundError
from hexamem.graphs.research import build_research_graph
from hexamem.graphs.research_lanes import LaneHits
from hexamem.graphs.research_state import ResearchContext
from hexamem.memory_types.research import Research

from .commands import hexamem

TALKS = {
    "one": [
        ("Nora", "2025-03-01T10:00:00Z", "I adopted a grey cat from the shelter, her name is Pixel."),
        ("Theo", "2025-03-01T10:00:20Z", "Lovely! I am more of a dog person, my beagle is called Bruno."),
        ("Nora", "2025-03-01T10:00:40Z", "I also signed up for a ceramics course yesterday."),
        ("Theo", "2025-03-01T10:01:00Z", "Thanks for telling me, that sounds great!"),
    ],
    "two": [
        ("Nora", "2025-04-10T09:00:00Z", "My sister moved to Lisbon last month to work at a hospital."),
        ("Theo", "2025-04-10T09:00:20Z", "I went climbing in the Alps with my brother Emil."),
        ("Nora", "2025-04-10T09:00:40Z", "In Lisbon she found a flat near the river."),
        ("Theo", "2025-04-10T09:01:00Z", "Emil broke his wrist there, poor man."),
    ],
    "three": [
        ("Nora", "2025-06-05T18:00:00Z", "We got a second cat named Comet, he plays with Pixel all day."),
        ("Theo", "2025-06-05T18:00:20Z", "I started a pottery class after you told me about ceramics."),
        ("Nora", "2025-06-05T18:00:40Z", "I ran a half marathon in Porto last Saturday."),
        ("Theo", "2025-06-05T18:01:00Z", "I am reading a book about glaciers."),
    ],
}
WRIST = "Who broke his wrist?"
CATS = "What are all the names of Nora's cats?"
WIDE = "What did Nora do in Porto and where does her sister live?"
SETTINGS = Settings(background=False, mode="off")


def tell(user: UserMemory, talks: Mapping[str, list[tuple[str, str, str]]] = TALKS) -> list[str]:
    """Store the talks; returns the ids of their steps."""
    ids: list[str] = []
    for thread, turns in talks.items():
        messages = [{"role": "user", "name": who, "timestamp": at, "content": text} for who, at, text in turns]
        ids += user.remember(messages, thread_id=thread).step_ids
    return ids


@pytest.fixture
def memory(plain_memory: Memory) -> Memory:
    return plain_memory


@pytest.fixture(scope="module")
def nora(tmp_path_factory: pytest.TempPathFactory) -> Iterator[UserMemory]:
    """A user with three talks of two people, without learned items."""
    with Memory.open(tmp_path_factory.mktemp("research"), embedder="static", settings=SETTINGS) as memory:
        tell(memory.user("nora"))
        yield memory.user("nora")


def test_evidence_quotes_the_steps_that_it_cites_in_order_of_time(nora: UserMemory) -> None:
    for question in (
        CATS,
        "Who broke his wrist, and what pet does Theo have?",
        "What did Nora do in Porto and where does her sister live?",
    ):
        research = nora.research(question, 3, passages=3)
        assert research.answerable
        assert research.usage.calls == 0
        times = [claim.occurred_at for claim in research.evidence]
        assert times == sorted(times)
        for claim in research.evidence:
            assert claim.quote in nora.get(claim.step_ids[0]).index_text  # type: ignore[union-attr]
        cited = {claim.passage_id for claim in research.evidence}
        assert {hit.id for hit in research.hits[: len(cited)]} == cited
        ids = [hit.id for hit in research.hits]
        assert len(ids) == len(set(ids))
        assert [each for done in research.rounds for each in done.read] == [each.id for each in research.passages]
    answer = nora.research("What are the names of Nora's cats?").answer
    assert "Pixel" in answer
    assert "Comet" in answer
    assert nora.research("What pet does Theo have?").passages[0].speaker == "Theo"
    assert nora.research("What pet does Nora have?").passages[0].speaker == "Nora"
    assert "Emil" in nora.research("Who went climbing with Theo on 10 April 2025?").answer


def test_it_abstains_where_memory_does_not_hold_the_answer(nora: UserMemory) -> None:
    for question in ("Which submarine did Zebulon buy?", "quantum chromodynamics lecture Helsinki"):
        research = nora.research(question)
        assert (research.answerable, research.evidence) == (False, ())
        assert research.answer == research.context == NOT_HELD
    nobody = nora.memory.user("theo").research("What are the names of Nora's cats?")
    assert (nobody.answerable, nobody.passages, nobody.degraded) == (False, (), ())


def test_the_three_forms_hold_answer_passages_and_whole_pages(nora: UserMemory) -> None:
    text, passages, pages = (nora.research(WRIST, form=form) for form in ("text", "passages", "pages"))  # type: ignore[arg-type]
    assert text.context == text.answer
    assert passages.context.startswith(passages.answer)
    assert "Emil broke his wrist" in passages.context[len(text.answer) :]
    assert "In Lisbon she found a flat" in pages.context  # beside the evidence
    assert pages.pages


def test_a_secret_comes_back_as_its_caption_alone(alice: UserMemory) -> None:
    secret = "hunter2-Zx81-quetzal"
    alice.remember(f"My wifi password is {secret} and the router stands in the hall.")
    research = alice.research(f"Where is the router with the wifi password {secret}?")
    assert research.passages
    assert secret not in research.model_dump_json()


def test_items_are_read_and_of_a_step_and_its_item_the_step_is_quoted(alice: UserMemory) -> None:
    alice.add({"kind": "semantic", "name": "Bluebird", "summary": "Bluebird is the code name of the spring release"})
    assert "spring release" in alice.research("What is Bluebird?").answer
    message = {"role": "user", "content": "My beagle is called Bruno.", "timestamp": "2025-03-01T10:00:00Z"}
    (step,) = alice.remember(message).step_ids
    item = {"kind": "semantic", "name": "pet", "summary": "The beagle is called Bruno"}
    noted = alice.add({**item, "sources": [{"step_id": step}]})
    research = alice.research("What is the beagle called?")
    assert [(claim.quote, claim.passage_id) for claim in research.evidence] == [("My beagle is called Bruno.", step)]
    (passage,) = [each for each in research.passages if each.id == noted.id]
    assert str(passage.occurred_at).startswith("2025-03-01")


def test_forgotten_steps_are_not_read_new_ones_are_and_feedback_is_taken(memory: Memory) -> None:
    user = memory.user("changes")
    ids = tell(user)
    user.forget([ids[7]])
    research = user.research(WRIST, form="pages")
    assert ids[7] not in {hit.id for hit in research.hits}
    assert "wrist" not in research.context
    user.remember({"role": "user", "name": "Yusuf", "content": "I play the oboe in an orchestra."})
    later = user.research("What does Yusuf play?")
    assert later.passages[0].speaker == "Yusuf"
    user.feedback(later.id, helped=[later.passages[0].id])
    with pytest.raises(NotFoundError):
        user.feedback("research_of_nobody", helped=[later.passages[0].id])


def test_more_rounds_only_add_to_what_was_read_and_search_for_what_is_missing(nora: UserMemory) -> None:
    question = "What hobbies have Nora and Theo taken up?"
    researches = [nora.research(question, rounds, passages=2) for rounds in (1, 2, 4)]
    read = [[passage.id for passage in each.passages] for each in researches]
    for fewer, more in itertools.pairwise(read):
        assert more[: len(fewer)] == fewer
    assert len(read[-1]) > len(read[0])
    rounds = researches[1].rounds
    assert [each.number for each in rounds] == [1, 2]
    assert rounds[0].enough is False
    assert rounds[0].missing == rounds[1].needs
    assert {request.query for request in rounds[1].plan.requests} == set(rounds[1].needs)
    embedded = {"plan": "embedded", "integrate": "embedded", "reflect": "embedded"}
    assert all(each.lanes and each.read and each.tiers == embedded for each in rounds)


def test_the_lower_tiers_search_once_and_the_automatic_one_chooses(nora: UserMemory) -> None:
    for tier in ("recall", "one_shot"):
        research = nora.research("Where does Nora's sister live?", tier=tier)  # type: ignore[arg-type]
        assert (research.tier, len(research.rounds), research.enough) == (tier, 1, None)
    plain = nora.research("Emil broke his wrist", tier="auto")
    strange = nora.research("Which submarine did Zebulon buy?", tier="auto")
    assert (plain.tier, strange.tier) == ("recall", "deep")
    assert plain.why_tier
    assert strange.why_tier


def test_each_lane_works_alone_and_a_named_time_is_a_lane_of_its_own(nora: UserMemory) -> None:
    lanes: list[Any] = ["vector", "keyword", "page", "intent"]
    for lane in lanes:
        research = nora.research("Where did Theo go climbing with his brother?", lanes=[lane])
        assert {request.lane for done in research.rounds for request in done.plan.requests} <= {lane}
        assert any("climbing" in passage.text for passage in research.passages) or lane == "intent"
        assert not [line for line in research.degraded if "failed" in line]
    searched = {each.lane: each for each in nora.research("What happened in April 2025?").rounds[0].lanes}
    assert searched["time"].found == 4


def test_strange_questions_are_answered_and_a_limit_of_time_ends_the_rounds(nora: UserMemory) -> None:
    for question in ("?", "的", "who " * 3_000, "\ud800 cat", "}} {{vault:x|y}} cat"):
        assert len(nora.research(question).rounds) <= 3
    research = nora.research(WIDE, 5, passages=1, seconds=0)
    assert len(research.rounds) == 1
    assert any("seconds" in line for line in research.degraded)


def graph_with(user: UserMemory, **lanes: Any) -> Any:
    parts = user.memory.researching.parts()
    return build_research_graph(replace(parts, lanes={**parts.lanes, **lanes}))


def test_a_lane_that_fails_is_reported(nora: UserMemory) -> None:
    def broken(*_: Any, **__: Any) -> LaneHits:
        raise OSError("the index is on fire")

    graph = graph_with(nora, keyword=broken)
    research = Research(**graph.invoke({"question": WRIST}, context=ResearchContext(user="nora"))["research"])
    assert "Emil" in research.answer
    assert research.degraded == ("lane keyword: a search failed (OSError: the index is on fire)",)
    assert [lane.lane for lane in research.rounds[0].lanes if lane.failed] == ["keyword"]


def test_the_graph_takes_its_user_from_any_context_and_gives_plain_json(nora: UserMemory) -> None:
    graph = research_graph(nora.memory)
    for context in ({"user": "nora"}, SimpleNamespace(user="nora")):
        out = graph.invoke({"question": WRIST}, context=context)
        assert set(out) == {"answer", "context", "research"}
        assert Research(**json.loads(json.dumps(out["research"]))) == Research(**out["research"])
    in_loop = asyncio.run(graph.ainvoke({"question": WRIST}, context={"user": "nora"}))
    assert (
        in_loop["answer"] == asyncio.run(nora.aresearch(WRIST)).answer == out["answer"] == nora.research(WRIST).answer
    )


def test_events_report_each_plan_search_and_decision(nora: UserMemory) -> None:
    events: list[Mapping[str, Any]] = []
    research = nora.research(WRIST, 1, on_event=events.append)
    assert [event["stage"] for event in events] == ["plan", "search", "search", "integrate", "reflect", "finish"]
    assert all(event["user"] == "nora" and event["round"] == 1 for event in events)
    assert events[-1]["answer"] == research.answer
    assert json.dumps(events)


class Host(TypedDict, total=False):
    """The state of a parent graph."""

    question: str
    max_rounds: int
    passages: int
    answer: str
    research: dict[str, Any]


class Killed(BaseException):
    """Ends a run as a kill does: nothing catches it."""


@pytest.mark.embedded
def test_a_run_that_dies_goes_on_in_its_round_under_a_parents_checkpointer(nora: UserMemory, tmp_path: Path) -> None:
    def run(thread: str, given: Host | None, die_at: int = 0) -> tuple[dict[str, Any], list[str]]:
        """Returns the output, and the queries of the keyword lane."""
        queries: list[str] = []
        keyword = nora.memory.researching.parts().lanes["keyword"]

        def counted(user: str, request: Any, filters: Any, pool: int) -> LaneHits:
            queries.append(request.query)
            if len(queries) == die_at:
                raise Killed
            return keyword(user, request, filters, pool)

        host = StateGraph(Host, ResearchContext)
        host.add_node("research", graph_with(nora, keyword=counted))
        host.add_edge(START, "research")
        host.add_edge("research", END)
        with sqlite3.connect(tmp_path / "saver.sqlite", check_same_thread=False) as connection:
            compiled = host.compile(checkpointer=SqliteSaver(connection))
            config: Any = {"configurable": {"thread_id": thread}}
            out = compiled.invoke(given, config, context=ResearchContext(user="nora"), durability="sync")
        return out, queries

    given = Host(question=WIDE, max_rounds=3, passages=1)
    whole, queries = run("whole", given)
    with pytest.raises(Killed):
        run("killed", given, die_at=2)
    resumed, rest = run("killed", None)
    assert len(whole["research"]["rounds"]) > 1
    assert [each["number"] for each in resumed["research"]["rounds"]] == list(
        range(1, len(whole["research"]["rounds"]) + 1)
    )
    assert rest == queries[1:]  # the first round is not searched again
    assert resumed["answer"] == whole["answer"]


@pytest.mark.embedded
def test_ask_prints_the_evidence_with_its_dates_and_its_trace_when_asked(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with Memory.open(home, embedder="static", settings=SETTINGS) as memory:
        tell(memory.user("nora"))
    where = ("--user", "nora", "--home", home)
    assert "[2025-04-10] Theo: Emil broke his wrist there, poor man." in hexamem("ask", WRIST, *where).out
    trace = " ".join(
        hexamem("ask", WRIST, "--trace", "--tier", "deep", "--rounds", "1", "--form", "passages", *where).out.split()
    )
    for words in ("Round 1", "plan by embedded", f"search vector: {WRIST}", "keyword found", "read Theo:", "enough"):
        assert words in trace
    research = hexamem("ask", CATS, "--json", "--rounds", "2", *where).json
    assert research["answerable"] is True
    assert all(claim["quote"] for claim in research["evidence"])


def test_research_finds_more_of_scattered_evidence_than_recall(tmp_path: Path, shared_data: Path) -> None:
    from hexamem.evals.locomo import load_locomo

    (conversation,) = load_locomo(shared_data / "locomo" / "26.json")
    questions = [each for each in conversation.questions if each.evidence and each.category == "1"]
    turn_of: dict[str, str] = {}

    def recall_at_20(hits: Any, question: Any) -> float:
        ranked = [turn_of[hit.id] for hit in hits if hit.id in turn_of][:20]
        return len(set(ranked) & set(question.evidence)) / len(question.evidence)

    with Memory.open(tmp_path, settings=Settings(background=False, mode="off", labels="off")) as memory:
        user = memory.user("locomo")
        for thread, messages in itertools.groupby(conversation.messages, key=lambda each: each.thread_id or ""):
            listed = list(messages)
            ids = user.remember([each.as_message() for each in listed], thread_id=thread).step_ids
            turn_of.update(zip(ids, (each.id for each in listed), strict=True))
        recalled = np.mean([recall_at_20(user.recall(each.text, 20, "rrf").hits, each) for each in questions])
        researched = np.mean([recall_at_20(user.research(each.text).hits, each) for each in questions])
    assert researched >= recalled + 0.10
