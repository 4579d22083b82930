"""Deep research without a model: what it finds, says, refuses and records, on small talks and on real ones."""

from __future__ import annotations

import asyncio
import itertools
import json
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from langgraph.checkpoint.memory import InMemorySaver

from hexamem import Memory, Settings, UserMemory, research_graph
from hexamem.agents.embedded_research import NOT_HELD
from hexamem.errors import InvalidInputError, MissingUserError, NotFoundError
from hexamem.graphs.research import build_research_graph
from hexamem.graphs.research_lanes import SearchFound
from hexamem.graphs.research_state import ResearchContext
from hexamem.memory_types.research import LANES, Research
from hexamem.memory_types.research_rollouts import rollout
from hexamem.retrieval.evidence import RECALL, EvidenceWeights, Need, _never_long_without, rank_evidence

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


def tell(user: UserMemory, talks: Mapping[str, list[tuple[str, str, str]]] = TALKS) -> list[str]:
    ids: list[str] = []
    for thread, turns in talks.items():
        messages = [{"role": "user", "name": who, "timestamp": at, "content": text} for who, at, text in turns]
        ids += user.remember(messages, thread_id=thread).step_ids
    return ids


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Iterator[UserMemory]:
    """A memory of three short talks of two people, without learned items."""
    home = tmp_path_factory.mktemp("research")
    with Memory.open(home, settings=Settings(background=False, mode="off")) as memory:
        user = memory.user("nora")
        tell(user)
        yield user


# Answers.


def test_evidence_of_a_question_comes_from_several_talks_in_order_of_time(told: UserMemory) -> None:
    found = told.research("What are the names of Nora's cats?")
    assert found.answerable
    assert "Pixel" in found.answer
    assert "Comet" in found.answer
    times = [one.occurred_at for one in found.evidence]
    assert times == sorted(times)
    assert found.usage.calls == 0


def test_every_quote_stands_in_the_step_that_it_cites(told: UserMemory) -> None:
    found = told.research("What did Nora do in Porto and where does her sister live?")
    assert found.evidence
    for one in found.evidence:
        assert one.quote in told.get(one.step_ids[0]).index_text  # type: ignore[union-attr]


def test_what_one_person_is_asked_about_the_other_does_not_answer_first(told: UserMemory) -> None:
    assert told.research("What pet does Theo have?").passages[0].speaker == "Theo"
    assert told.research("What pet does Nora have?").passages[0].speaker == "Nora"


@pytest.mark.parametrize("question", ["Which submarine did Zebulon buy?", "quantum chromodynamics lecture Helsinki"])
def test_it_abstains_where_memory_does_not_hold_the_answer(told: UserMemory, question: str) -> None:
    found = told.research(question)
    assert (found.answerable, found.answer, found.evidence) == (False, NOT_HELD, ())
    assert found.context == NOT_HELD


def test_the_three_forms_hold_answer_passages_and_whole_pages(told: UserMemory) -> None:
    question = "Who broke his wrist?"
    text, passages, pages = (told.research(question, form=form) for form in ("text", "passages", "pages"))  # type: ignore[arg-type]
    assert text.context == text.answer
    assert passages.context.startswith(passages.answer)
    assert "Emil broke his wrist" in passages.context[len(text.answer) :]
    assert "In Lisbon she found a flat" in pages.context  # said beside it, no evidence
    assert pages.pages


def test_each_passage_tells_at_which_rank_each_search_found_it(told: UserMemory) -> None:
    found = told.research("Who broke his wrist?", 2, passages=2)
    for one in (*found.passages, *found.further):
        assert one.why or one.lanes in (("beside",), ("page",))
        assert {reason.name for reason in one.why} - {"late"} == set(one.lanes) - {"beside"} or one.lanes == ("page",)
        assert all(reason.rank is not None and reason.rank >= 1 for reason in one.why)
    assert found.further  # reasons outlast the pool, in which passages wait
    [broken] = [one for one in found.passages if "broke his wrist" in one.text and one.kind == "step"]
    assert "keyword #1" in broken.explain()


def test_the_order_of_a_recall_is_one_of_two_in_which_it_reads(told: UserMemory) -> None:
    question = "Who broke his wrist?"
    recalled = [hit.id for hit in told.recall(question, k=60).hits]
    ranks = {
        one.id: reason.rank for one in told.research(question).hits for reason in one.why if reason.name == "recall"
    }
    assert [one for one, _ in sorted(ranks.items(), key=lambda pair: pair[1] or 0)] == [
        one for one in recalled if one in ranks
    ]
    assert set(recalled[:5]) <= set(ranks)
    alone = told.research(question, lanes=["keyword"])
    assert not [one for one in alone.hits for reason in one.why if reason.name == "recall"]


def test_where_a_recall_fails_the_lanes_answer_alone_and_it_is_told(
    told: UserMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*args: Any, **more: Any) -> Any:
        raise RuntimeError("no ranking today")

    monkeypatch.setattr(told.memory.searcher, "find", broken)
    found = told.research("Who broke his wrist?")
    assert "Emil broke his wrist" in found.answer
    assert [line for line in found.degraded if "a recall failed (RuntimeError: no ranking today)" in line]


def test_what_only_a_recall_finds_is_read_too(memory: Memory) -> None:
    alice = memory.user("alice")
    ids = alice.remember(["The cellar key hangs behind the door.", "We bought a parrot.", "It rained."]).step_ids
    with memory.ledger.read("alice") as tx:
        need = Need(text="cellar key", rankings={"keyword": [ids[0]], RECALL: [ids[2], ids[0]]}, wide=False)
        [both], _, _ = rank_evidence(tx, [need], memory.embedder, EvidenceWeights())
        [one], _, _ = rank_evidence(tx, [need], memory.embedder, EvidenceWeights(recall=0.0))
    assert {each.id for each in both.ranked} == {ids[0], ids[2]}
    assert [each.lanes for each in both.ranked if each.id == ids[2]] == [("recall",)]
    assert one.ranked[0].id == ids[0]
    assert [each.score for each in both.ranked] == sorted((each.score for each in both.ranked), reverse=True)


def test_an_empty_memory_answers_that_it_holds_nothing(memory: Memory) -> None:
    found = memory.user("nobody").research("Where is my key?")
    assert (found.answerable, found.passages, found.degraded) == (False, (), ())


def test_another_users_talk_is_never_read(told: UserMemory) -> None:
    found = told.memory.user("theo").research("What are the names of Nora's cats?")
    assert not found.passages


def test_a_secret_comes_back_as_its_caption_alone(alice: UserMemory) -> None:
    secret = "hunter2-Zx81-quetzal"
    alice.remember([{"role": "user", "content": f"My wifi password is {secret} and the router stands in the hall."}])
    found = alice.research(f"Where is the router with the wifi password {secret}?")
    assert found.passages
    assert secret not in found.model_dump_json()


def test_items_are_found_by_kind(memory: Memory) -> None:
    user = memory.user("kim")
    user.add({"kind": "semantic", "name": "Bluebird", "summary": "Bluebird is the code name of the spring release"})
    found = user.research("What is Bluebird?")
    assert [one.kind for one in found.passages] == ["semantic"]
    assert "spring release" in found.answer


# Rounds, passages, tiers.


def test_what_stands_beside_a_match_counts_most_where_people_answer_each_other(memory: Memory) -> None:
    lines = ["Is the harbour museum open today?", "Only in the morning, says the sign.", "Pity."]
    beside = {}
    for name, speakers in {"talk": ("Ida", "Tom", "Ida"), "notes": ("Ida", "Ida", "Ida")}.items():
        user = memory.user(name)
        messages = [{"role": "user", "name": who, "content": text} for who, text in zip(speakers, lines, strict=True)]
        ids = user.remember(messages, thread_id="t").step_ids
        found = user.research("Which harbour museum was meant?", 1)
        beside[name] = next(one.score for one in found.hits if one.id == ids[1])
    assert beside["talk"] > beside["notes"]


def test_hits_begin_with_what_the_evidence_quotes(told: UserMemory) -> None:
    found = told.research("What are all the names of Nora's cats?", 3, passages=3)
    cited = {one.passage_id for one in found.evidence}
    assert 0 < len(cited) < len(found.passages)
    assert {one.id for one in found.hits[: len(cited)]} == cited


def test_what_was_noted_of_a_step_is_told_once_in_the_words_of_the_step_and_of_its_day(memory: Memory) -> None:
    user = memory.user("noted")
    (step,) = user.remember(
        [{"role": "user", "content": "My beagle is called Bruno.", "timestamp": "2025-03-01T10:00:00Z"}], thread_id="t"
    ).step_ids
    noted = user.add(
        {"kind": "semantic", "name": "pet", "summary": "The beagle is called Bruno", "sources": [{"step_id": step}]}
    )
    found = user.research("What is the beagle called?")
    assert [(one.quote, one.passage_id) for one in found.evidence] == [("My beagle is called Bruno.", step)]
    (item,) = [one for one in found.passages if one.id == noted.id]
    assert str(item.occurred_at).startswith("2025-03-01")


def test_more_rounds_only_add_to_what_was_read(told: UserMemory) -> None:
    question = "What hobbies have Nora and Theo taken up?"
    read = [[one.id for one in told.research(question, rounds, passages=2).passages] for rounds in (1, 2, 3, 4)]
    for fewer, more in itertools.pairwise(read):
        assert more[: len(fewer)] == fewer
    assert len(read[-1]) > len(read[0])


def test_nothing_is_read_twice(told: UserMemory) -> None:
    found = told.research("What did Theo and Nora do and where?", 5, passages=3)
    ids = [one.id for one in found.hits]
    assert len(ids) == len(set(ids))
    assert [one for done in found.rounds for one in done.read] == [one.id for one in found.passages]


def test_no_search_is_planned_after_the_last_round(told: UserMemory) -> None:
    found = told.research("What did Theo and Nora do and where?", 2, passages=1)
    assert [one.number for one in found.rounds] == [1, 2]
    assert found.rounds[0].missing
    assert found.rounds[1].needs == found.rounds[0].missing


def test_a_second_round_looks_for_what_the_first_did_not_cover(told: UserMemory) -> None:
    found = told.research("Which river city did Nora's sister move to, and who is Bruno?", 2, passages=1)
    assert found.rounds[0].enough is False
    queries = {one.query for one in found.rounds[1].plan.requests}
    assert queries == set(found.rounds[1].needs)


@pytest.mark.parametrize("tier", ["recall", "one_shot"])
def test_the_lower_tiers_search_once_and_do_not_reflect(told: UserMemory, tier: str) -> None:
    found = told.research("Where does Nora's sister live?", tier=tier)  # type: ignore[arg-type]
    assert (found.tier, len(found.rounds), found.enough) == (tier, 1, None)


def test_the_automatic_tier_is_recall_for_what_is_plain_and_deep_for_what_nothing_is_near_to(told: UserMemory) -> None:
    plain = told.research("Emil broke his wrist", tier="auto")
    strange = told.research("Which submarine did Zebulon buy?", tier="auto")
    assert (plain.tier, strange.tier) == ("recall", "deep")
    assert plain.why_tier
    assert strange.why_tier


@pytest.mark.parametrize("lane", ["vector", "keyword", "page", "intent"])
def test_each_lane_works_alone(told: UserMemory, lane: Any) -> None:
    found = told.research("Where did Theo go climbing with his brother?", lanes=[lane])
    assert {one.lane for done in found.rounds for one in done.plan.requests} <= {lane}
    assert any("climbing" in one.text for one in found.passages) or lane == "intent"
    assert not [one for one in found.degraded if "failed" in one]


def test_a_named_time_is_a_lane_of_its_own(told: UserMemory) -> None:
    found = told.research("What happened in April 2025?")
    lanes = {one.lane: one for one in found.rounds[0].lanes}
    assert lanes["time"].found == 4


# Bad input.


@pytest.mark.parametrize(
    "arguments",
    [
        {"question": " "},
        {"question": 7},
        {"question": "x", "max_rounds": 0},
        {"question": "x", "max_rounds": 21},
        {"question": "x", "tier": "deepest"},
        {"question": "x", "form": "poem"},
        {"question": "x", "passages": 0},
        {"question": "x", "lanes": ["telepathy"]},
        {"question": "x", "lanes": []},
        {"question": "x", "calls": -1},
        {"question": "x", "seconds": float("nan")},
    ],
)
def test_an_argument_that_does_not_fit_is_refused_with_its_name(told: UserMemory, arguments: dict[str, Any]) -> None:
    name = next((one for one in arguments if one != "question"), "question")
    with pytest.raises(InvalidInputError, match=name):
        told.research(**arguments)


@pytest.mark.parametrize("question", ["?", "的", "a" * 50_000, "who " * 9_000, "\ud800 cat", "}} {{vault:x|y}} cat"])
def test_strange_questions_are_answered_or_abstained_from(told: UserMemory, question: str) -> None:
    found = told.research(question)
    assert isinstance(found, Research)
    assert len(found.rounds) <= 3


def test_a_limit_of_time_ends_the_rounds_and_is_told(told: UserMemory) -> None:
    found = told.research("What did Theo and Nora do and where?", 5, passages=1, seconds=0)
    assert len(found.rounds) == 1
    assert any("seconds" in one for one in found.degraded)


# The graph.


def graph_with(user: UserMemory, **lanes: Any) -> Any:
    from dataclasses import replace

    parts = user.memory.researching.parts()
    return build_research_graph(replace(parts, lanes={**parts.lanes, **lanes}))


def test_a_lane_that_fails_is_told_and_the_others_answer(told: UserMemory) -> None:
    def broken(user: str, request: Any, pool: int) -> SearchFound:
        raise OSError("the index is on fire")

    out = graph_with(told, keyword=broken).invoke(
        {"question": "Who broke his wrist?"}, context=ResearchContext(user=told.name)
    )
    found = Research(**out["research"])
    assert found.answerable
    assert "Emil" in found.answer
    assert found.degraded == ("lane keyword: a search failed (OSError: the index is on fire)",)
    assert [one.lane for one in found.rounds[0].lanes if one.failed] == ["keyword"]


def test_the_lanes_of_a_round_overlap_in_time(told: UserMemory) -> None:
    meeting = threading.Barrier(2, timeout=5)
    parts = told.memory.researching.parts()

    def waiting(name: str) -> Any:
        def search(user: str, request: Any, pool: int) -> SearchFound:
            meeting.wait()  # breaks unless the other lane comes while this one waits
            return parts.lanes[name](user, request, pool)

        return search

    out = graph_with(told, vector=waiting("vector"), keyword=waiting("keyword")).invoke(
        {"question": "Who broke his wrist?", "max_rounds": 1}, context=ResearchContext(user=told.name)
    )
    found = Research(**out["research"])
    assert found.degraded == ()
    first, second = (one for one in found.rounds[0].lanes if one.lane in ("vector", "keyword"))
    assert first.began < second.ended
    assert second.began < first.ended


def test_the_user_comes_from_any_context_that_has_one(told: UserMemory) -> None:
    for context in ({"user": told.name}, SimpleNamespace(user=told.name)):
        out = research_graph(told.memory).invoke({"question": "Who broke his wrist?"}, context=context)
        assert "Emil" in out["answer"]
        assert set(out) == {"answer", "context", "research"}
    with pytest.raises(MissingUserError):
        research_graph(told.memory).invoke({"question": "Who?"}, context={"user": " "})


def test_the_graph_runs_asynchronously_too(told: UserMemory) -> None:
    question = "Who broke his wrist?"
    out = asyncio.run(research_graph(told.memory).ainvoke({"question": question}, context={"user": told.name}))
    twin = asyncio.run(told.aresearch(question))
    assert out["answer"] == twin.answer == told.research(question).answer


def test_the_output_is_plain_json(told: UserMemory) -> None:
    out = research_graph(told.memory).invoke({"question": "Who broke his wrist?"}, context={"user": told.name})
    assert Research(**json.loads(json.dumps(out["research"]))) == Research(**out["research"])


def test_events_tell_each_plan_search_and_decision(told: UserMemory) -> None:
    heard: list[Mapping[str, Any]] = []
    found = told.research("Who broke his wrist?", 1, on_event=heard.append)
    stages = [one["stage"] for one in heard]
    assert stages == ["plan", "search", "search", "integrate", "reflect", "finish"]
    assert all(one["user"] == told.name and one["round"] == 1 for one in heard)
    assert heard[-1]["answer"] == found.answer
    assert json.dumps(heard)


def test_the_trace_has_a_record_of_every_round(told: UserMemory) -> None:
    found = told.research("What did Theo and Nora do and where?", 3, passages=2)
    assert [one.number for one in found.rounds] == list(range(1, len(found.rounds) + 1))
    for one in found.rounds:
        assert one.plan.requests
        assert one.lanes
        assert one.read
        assert one.tiers == {"plan": "embedded", "integrate": "embedded", "reflect": "embedded"}


def test_a_rollout_rewards_each_round_by_the_gold_that_it_read(told: UserMemory) -> None:
    found = told.research("What did Theo and Nora do and where?", 3, passages=2)
    gold = {found.rounds[0].read[0], found.rounds[1].read[1], "step_elsewhere"}
    rows = rollout(found, gold)
    assert [row["reward"] for row in rows[:2]] == [1 / 3, 1 / 3]
    assert rows[-1]["return"] == pytest.approx(2 / 3)
    assert rows[-1]["done"]
    assert rows[1]["state"]["read"] == list(found.rounds[0].read)
    assert all(row["reward"] is None for row in rollout(found))
    assert json.dumps(rows)


def test_what_research_read_is_kept_as_shown(memory: Memory) -> None:
    user = memory.user("kept")
    tell(user)
    found = user.research("Who broke his wrist?")
    user.feedback(found.id, helped=[found.passages[0].id])
    with pytest.raises(NotFoundError):
        user.feedback("research_of_nobody", helped=[found.passages[0].id])


def test_what_was_forgotten_is_not_read(memory: Memory) -> None:
    user = memory.user("forgets")
    ids = tell(user)
    user.forget([ids[7]])
    found = user.research("Who broke his wrist?", form="pages")
    assert ids[7] not in {one.id for one in found.hits}
    assert "wrist" not in found.context


def test_a_new_speaker_is_known_at_once(memory: Memory) -> None:
    user = memory.user("grows")
    tell(user)
    user.research("What does Yusuf play?")
    user.remember([{"role": "user", "name": "Yusuf", "content": "I play the oboe in an orchestra."}])
    assert user.research("What does Yusuf play?").passages[0].speaker == "Yusuf"


def test_every_lane_has_a_node() -> None:
    assert len(set(LANES)) == 6


# On real conversations.


@pytest.fixture(scope="module")
def locomo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[UserMemory, Any, dict[str, str]]]:
    from hexamem.evals.locomo import load_locomo

    path = Path(__file__).resolve().parents[2] / "shared" / "data" / "locomo" / "26.json"
    if not path.is_file():
        pytest.skip(f"needs the real conversation {path}")
    (conversation,) = load_locomo(path)
    with Memory.open(tmp_path_factory.mktemp("locomo"), settings=Settings(background=False, mode="off")) as memory:
        user, turn_of = memory.user("locomo"), {}
        threads: dict[str, list[Any]] = {}
        for message in conversation.messages:
            threads.setdefault(message.thread_id or "", []).append(message)
        for thread, messages in threads.items():
            ids = user.remember([one.as_message() for one in messages], thread_id=thread).step_ids
            turn_of.update(zip(ids, (one.id for one in messages), strict=True))
        yield user, conversation, turn_of


def recall_at(hits: Any, turn_of: Mapping[str, str], question: Any, k: int | None) -> float:
    ranked = [turn_of[one.id] for one in hits if one.id in turn_of][:k]
    return len(set(ranked) & set(question.evidence)) / len(question.evidence)


def test_research_finds_more_of_scattered_evidence_than_recall(locomo: Any) -> None:
    user, conversation, turn_of = locomo
    questions = [one for one in conversation.questions if one.evidence and one.category == "1"]
    recalled = np.mean([recall_at(user.recall(q.text, 20, "rrf").hits, turn_of, q, 20) for q in questions])
    researched = np.mean([recall_at(user.research(q.text).hits, turn_of, q, 20) for q in questions])
    assert researched >= recalled + 0.10


def test_more_rounds_and_passages_find_no_less(locomo: Any) -> None:
    user, conversation, turn_of = locomo
    questions = [one for one in conversation.questions if one.evidence and one.category == "1"][::3]

    def read(rounds: int, passages: int) -> list[float]:
        found = [user.research(one.text, rounds, passages=passages).passages for one in questions]
        return [recall_at(each, turn_of, one, None) for each, one in zip(found, questions, strict=True)]

    by_rounds = [read(rounds, 6) for rounds in (1, 2, 4)]
    for fewer, more in itertools.pairwise(by_rounds):
        assert all(less <= well for less, well in zip(fewer, more, strict=True))
    by_passages = [float(np.mean(read(2, passages))) for passages in (3, 8, 16)]
    assert by_passages == sorted(by_passages)
    assert np.mean(by_rounds[-1]) > np.mean(by_rounds[0])


def test_a_date_in_a_question_need_not_stand_in_the_words_of_the_answer(told: UserMemory) -> None:
    found = told.research("Who went climbing with Theo on 10 April 2025?")
    assert found.answerable
    assert "Emil" in found.answer


# Filters.


def test_a_condition_narrows_what_may_be_read_in_every_lane(told: UserMemory) -> None:
    found = told.research("What animals and courses are there?", where={"thread_id": "one"})
    assert found.hits
    assert {one.thread_id for one in found.hits} == {"one"}
    theirs = told.research("Who has a dog?", where={"speaker": "Theo"})
    assert {one.speaker for one in theirs.hits} == {"Theo"}


def test_what_had_not_happened_yet_is_not_read_and_the_question_is_asked_then(told: UserMemory) -> None:
    found = told.research("What are Nora's cats called?", as_of="2025-05-01T00:00:00Z")
    assert "Pixel" in found.answer
    assert "Comet" not in found.context + "".join(one.text for one in found.hits)
    last_month = told.research("What happened last month?", as_of="2025-05-01T00:00:00Z")
    assert {one.lane for one in last_month.rounds[0].plan.requests} >= {"time"}
    assert last_month.hits
    assert {str(one.occurred_at)[:7] for one in last_month.passages[:2]} == {"2025-04"}


def test_a_page_is_shown_without_what_a_filter_holds_back(told: UserMemory) -> None:
    found = told.research("What is the grey cat called?", form="pages", where={"speaker": "Nora"})
    assert "Pixel" in found.context
    assert "Bruno" not in found.context


def test_a_filter_never_costs_a_match(memory: Memory) -> None:
    user = memory.user("many")
    user.remember([f"The parcel number {number} came by boat." for number in range(400)], thread_id="other")
    user.remember(["A parcel for Ada came by boat."], thread_id="wanted")
    found = user.research("Which parcel came by boat?", 1, passages=3, where={"thread_id": "wanted"})
    assert [one.text for one in found.passages] == ["A parcel for Ada came by boat."]


def test_the_filter_of_one_question_does_not_hold_for_the_next_in_a_thread(told: UserMemory) -> None:
    graph = build_research_graph(told.memory.researching.parts())
    graph.checkpointer = InMemorySaver()
    config: Any = {"configurable": {"thread_id": "t"}}
    context = ResearchContext(user="nora")
    first = graph.invoke({"question": "Who ran?", "where": {"thread_id": "one"}}, config, context=context)
    second = graph.invoke({"question": "Who ran a half marathon?"}, config, context=context)
    assert {one["thread_id"] for one in first["research"]["passages"]} == {"one"}
    assert "three" in {one["thread_id"] for one in second["research"]["passages"]}


@given(st.lists(st.booleans(), max_size=40), st.integers(2, 8))
def test_among_the_candidates_the_others_are_never_long_away(marks: list[bool], every: int) -> None:
    best = [str(number) for number in range(len(marks))]
    others = {one for one, mark in zip(best, marks, strict=True) if mark}
    order = _never_long_without(best, others, every)
    assert sorted(order) == sorted(best)
    for kind in (others, set(best) - others):
        assert [one for one in order if one in kind] == [one for one in best if one in kind]
    last = max((at for at, one in enumerate(order) if one in others), default=-1)
    run = 0
    for one in order[: last + 1]:
        run = 0 if one in others else run + 1
        assert run < every
