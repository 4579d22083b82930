"""The five operations: what each does to a ranking, that what is off is not done, and that a recall can switch each."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hexamem import Memory, Settings, UserMemory
from hexamem.cli.app import run
from hexamem.errors import InvalidInputError
from hexamem.memory_types import Hit, Recall
from hexamem.retrieval.gates import switched
from hexamem.retrieval.operations import (
    FREE,
    NAMES,
    Search,
    configurations,
    explored,
    order,
)
from hexamem.retrieval.ranker import Ranker
from hexamem.retrieval.request import Request
from hexamem.retrieval.signals.features import FEATURES, SIGNAL_OF
from hexamem.retrieval.strategies import strategy_named
from hexamem.stores.ledger import read_recall

START = datetime(2024, 3, 1, 12, tzinfo=UTC)
TALK = [
    "My landlord raised the rent of the flat on Elm Street to nine hundred pounds.",
    "We planted tomatoes behind the shed.",
    "The dentist said the crown will cost four hundred pounds.",
    "Nora joined a climbing club near the canal.",
    "My landlord raised the rent of the flat on Elm Street to nine hundred and fifty pounds.",
    "The tomatoes were eaten by slugs.",
]
LATEST = {"latest_filtering": True}
RENT = "How much is the rent of the flat on Elm Street?"


@pytest.fixture
def memory(labelling_memory: Memory) -> Memory:
    """One for all tests, each with a user of its own."""
    return labelling_memory


@pytest.fixture
def alice(labelled_newcomer: UserMemory) -> UserMemory:
    """Somebody new of one memory."""
    return labelled_newcomer


def talk(user: UserMemory) -> tuple[str, ...]:
    messages = [
        {"role": "user", "name": "Iris", "content": text, "timestamp": (START + timedelta(days=9 * day)).isoformat()}
        for day, text in enumerate(TALK)
    ]
    return user.remember(messages, thread_id="t").step_ids


def searches(memory: Memory, user: UserMemory, question: str) -> tuple[Ranker, list[Search], object]:
    memory.projector.catch_up(user.name)
    found = memory.searcher.searches(user.name, Request(query=question, k=3), strategy_named("learned"))
    assert found is not None
    ranker = memory.searcher.ranker
    assert isinstance(ranker, Ranker)
    return ranker, list(found.searches), found.steps


def test_there_are_32_configurations_and_the_bits_of_a_number_name_one() -> None:
    every = configurations()
    assert len(set(every)) == 32
    assert every[0] == frozenset()
    assert every[1 + 16] == {NAMES[0], NAMES[4]}


def test_a_half_switches_on_and_what_is_forced_wins() -> None:
    gate = dict(zip(NAMES, (0.5, 0.49, 0.9, 0.1, 0.0), strict=True))
    assert switched(gate, {}) == {"temporal_ordering", "multi_step"}
    assert switched(gate, {"multi_step": False, "semantic_reranking": True}) == {
        "temporal_ordering",
        "semantic_reranking",
    }


def test_without_temporal_ordering_days_tell_nothing(memory: Memory, alice: UserMemory) -> None:
    talk(alice)
    ranker, (first, *_), _ = searches(memory, alice, "What did Iris say on 10 March 2024?")
    timed = [column for column, name in enumerate(FEATURES) if SIGNAL_OF[name] == "time"]
    assert first.features.values[:, timed].std() > 0
    flat = first.features.values.copy()
    flat[:, timed] = 0
    untimed = replace(first.features, values=flat)
    off = ranker.score(first.features, on=frozenset())
    assert off.tolist() == pytest.approx(ranker.score(untimed, on=frozenset({"temporal_ordering"})).tolist(), abs=1e-4)
    assert off.tolist() != pytest.approx(ranker.score(first.features, on=frozenset({"temporal_ordering"})).tolist())


def test_what_a_newer_turn_says_anew_falls_behind_it(memory: Memory, alice: UserMemory) -> None:
    ids = talk(alice)
    ranker, found, steps = searches(memory, alice, RENT)
    on = frozenset({"latest_filtering"})
    first = order(ranker, found[:1], steps, on, 3, np.zeros(len(found[0].features.pool), np.float32))
    assert first.ids.index(ids[4]) < first.ids.index(ids[0])
    assert first.moved[ids[0]]["latest_filtering"] < 0
    assert ids[4] not in first.moved
    plain = order(ranker, found[:1], steps, frozenset(), 3, np.zeros(len(found[0].features.pool), np.float32))
    assert plain.moved == {}


def test_what_repeats_a_chosen_one_is_told_in_the_order_that_latest_filtering_left(
    memory: Memory, alice: UserMemory
) -> None:
    talk(alice)
    ranker, found, steps = searches(memory, alice, RENT)
    level = np.zeros(len(found[0].features.pool), np.float32)
    latest = order(ranker, found[:1], steps, frozenset({"latest_filtering"}), 3, level)
    assert latest.ids != order(ranker, found[:1], steps, frozenset(), 3, level).ids
    vectors = steps.vectors(np.array([steps.row_of[one] for one in latest.ids]))
    left, chosen = list(range(len(latest.ids))), list[int]()
    while left:  # maximal marginal relevance, word by word
        worth = [
            latest.scores[one] - max((0.5 * max(0, vectors[one] @ vectors[c]) for c in chosen), default=0)
            for one in left
        ]
        chosen.append(left.pop(int(np.argmax(worth))))
    both = order(ranker, found[:1], steps, frozenset({"latest_filtering", "semantic_reranking"}), len(chosen), level)
    assert both.ids == [latest.ids[one] for one in chosen]


def rents(user: UserMemory, ids: tuple[str, ...]) -> tuple[str, str]:
    """Two items on the rent, the later of which took the place of the former."""
    made: list[str] = []
    for step, pounds in ((ids[0], 900), (ids[4], 950)):
        item = {"kind": "semantic", "name": "Rent", "summary": f"The rent is {pounds} pounds.", "source": "talk",
                "sources": [{"step_id": step, "quote": "My landlord raised the rent"}]}  # fmt: skip
        made.append(user.add(item, supersedes=made[0] if made else None).id)
    return made[0], made[1]


def test_a_step_that_only_a_superseded_item_cites_loses(memory: Memory, alice: UserMemory) -> None:
    ids = talk(alice)
    former, _ = rents(alice, ids)
    _, found, _ = searches(memory, alice, RENT)
    assert found[0].outdated == {ids[0], former}
    loses = {
        one.name: one.share for one in hit_of(alice.recall(RENT, strategy="learned", operations=LATEST), ids[0]).why
    }
    assert loses["latest_filtering"] < -1
    assert (
        not hit_of(alice.recall(RENT, strategy="learned", operations=LATEST), former).score
        > hit_of(alice.recall(RENT, strategy="learned", operations={"latest_filtering": False}), former).score
    )


def test_at_a_time_that_was_asked_for_nothing_is_outdated(memory: Memory, alice: UserMemory) -> None:
    rents(alice, talk(alice))
    memory.projector.catch_up(alice.name)
    request = Request(query=RENT, k=3, as_of=START + timedelta(days=400))
    found = memory.searcher.searches(alice.name, request, strategy_named("learned"))
    assert found is not None
    assert found.searches[0].outdated == frozenset()


def hit_of(recall: Recall, record_id: str) -> Hit:
    return next(one for one in recall.hits if one.id == record_id)


def test_several_searches_are_mixed_and_the_second_hop_may_bring_what_the_question_missed(
    memory: Memory, alice: UserMemory
) -> None:
    talk(alice)
    question = "How much is the crown, and which club did Nora join?"
    ranker, found, steps = searches(memory, alice, question)
    assert len(found) == 2
    alone = order(ranker, found, steps, frozenset(), 3)
    mixed = order(ranker, found, steps, frozenset({"multi_step"}), 3)
    assert alone.moved == {}
    assert all("multi_step" in mixed.moved[one] for one in mixed.ids)
    assert mixed.scores == sorted(mixed.scores, reverse=True)
    assert mixed.ids[:2] != alone.ids[:2] or mixed.scores[:2] != alone.scores[:2]


def test_reranking_puts_the_second_copy_of_a_turn_behind_another(memory: Memory, alice: UserMemory) -> None:
    ids = talk(alice)
    ranker, found, steps = searches(memory, alice, RENT)
    features = found[0].features
    scores = np.array([1.0 if one in (ids[0], ids[4]) else 0.9 for one in features.pool.ids], np.float32)
    plain = order(ranker, found[:1], steps, frozenset(), 3, scores)
    assert set(plain.ids[:2]) == {ids[0], ids[4]}
    diverse = order(ranker, found[:1], steps, frozenset({"semantic_reranking"}), 3, scores)
    assert set(diverse.ids[:2]) != {ids[0], ids[4]}
    assert sorted(diverse.ids) == sorted(plain.ids)
    assert diverse.scores == sorted(diverse.scores, reverse=True)


@pytest.mark.parametrize("on", [*itertools.islice(configurations(), 0, None, 3)])
def test_every_configuration_gives_hits_whose_reasons_add_up(alice: UserMemory, on: frozenset[str]) -> None:
    talk(alice)
    forced = {name: name in on for name in NAMES if name != "threshold_filtering"}
    recall = alice.recall("How much is the crown, and which club did Nora join?", strategy="learned", operations=forced)
    assert len(recall.hits) == 6
    for hit in recall.hits:
        assert sum(one.share for one in hit.why) == pytest.approx(hit.score, abs=1e-6)
        assert not {one.name for one in hit.why} & (set(NAMES) - on)


def test_threshold_filtering_gives_nothing_where_no_answer_is_likely(alice: UserMemory) -> None:
    talk(alice)
    asked = alice.recall("Which violin concerto did the orchestra rehearse?", strategy="learned")
    assert asked.hits
    told = alice.recall(
        "Which violin concerto did the orchestra rehearse?",
        strategy="learned",
        operations={"threshold_filtering": True},
    )
    assert asked.answerable is not None
    assert bool(told.hits) is (asked.answerable >= 0.5)


def test_what_ran_and_how_likely_is_kept_with_the_recall(memory: Memory, alice: UserMemory) -> None:
    talk(alice)
    recall = alice.recall(RENT, strategy="learned", operations={"multi_step": True, "latest_filtering": False})
    plain = alice.recall(RENT, strategy="rrf")
    alice.write_recalls()
    with memory.ledger.read(alice.name) as tx:
        kept = read_recall(tx, recall.id)["operations"]
        assert read_recall(tx, plain.id)["operations"] is None
    assert kept["gate"].keys() == set(NAMES)
    assert kept["chance"] == 1
    assert "multi_step" in kept["on"]
    assert "latest_filtering" not in kept["on"]


def test_a_recall_tells_which_operations_ran_and_what_decided_it(memory: Memory, alice: UserMemory) -> None:
    talk(alice)
    recall = alice.recall(RENT, strategy="learned", operations={"multi_step": True, "latest_filtering": False})
    assert tuple(one.name for one in recall.operations) == NAMES
    assert {one.name: one.gate for one in recall.operations} == recall.gate
    told = {one.name: one for one in recall.operations}
    assert (told["multi_step"].on, told["latest_filtering"].on) == (True, False)
    assert told["multi_step"].reason.startswith("by the call")
    assert told["latest_filtering"].reason == "by the call"
    assert (told["threshold_filtering"].on, told["threshold_filtering"].reason) == (False, "by the strategy")
    for name in ("temporal_ordering", "semantic_reranking"):
        assert told[name].reason == "by the gate"
        assert told[name].on is (told[name].gate >= 0.5)
    alice.write_recalls()
    with memory.ledger.read(alice.name) as tx:
        assert read_recall(tx, recall.id)["operations"]["on"] == sorted(one.name for one in recall.operations if one.on)
    assert Recall.model_validate(recall.model_dump()).operations == recall.operations
    assert alice.recall(RENT, strategy="rrf").operations == ()


def test_a_multi_step_recall_searches_once_more_and_without_steps_says_that_it_searched_once(
    memory: Memory, alice: UserMemory
) -> None:
    talk(alice)
    several = alice.recall("Which club did Nora join?", strategy="learned", operations={"multi_step": True})
    assert [one.reason for one in several.operations if one.name == "multi_step"] == ["by the call"]
    stepless = memory.user("bob")
    stepless.add({"kind": "semantic", "name": "kiln", "summary": "The kiln is broken"})
    once = stepless.recall("what about the kiln?", strategy="learned", operations={"multi_step": True})
    assert [one.reason for one in once.operations if one.name == "multi_step"] == [
        "by the call, but there is nothing to search further"
    ]


def test_a_wanted_probability_filters_by_threshold_and_says_so(alice: UserMemory) -> None:
    talk(alice)
    recall = alice.recall(RENT, strategy="learned", min_probability=0.25)
    told = next(one for one in recall.operations if one.name == "threshold_filtering")
    assert (told.on, told.reason) == (True, "by min_probability = 0.25")
    assert told.explain() == f"threshold_filtering on by min_probability = 0.25 ({told.gate:.2f})"


def test_what_is_tried_out_is_told(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "home", settings=Settings(background=False, explore=1.0)) as memory:
        talk(memory.user("iris"))
        tried = [memory.user("iris").recall(RENT, strategy="learned").operations for _ in range(12)]
    decided = {one.reason for operations in tried for one in operations if one.name in FREE - {"threshold_filtering"}}
    assert decided == {"by the gate", "by Settings.explore"}
    for one in (one for operations in tried for one in operations if one.reason == "by Settings.explore"):
        assert one.on is not (one.gate >= 0.5)


def test_why_names_the_gate_of_what_ran(alice: UserMemory) -> None:
    talk(alice)
    recall = alice.recall("What did Iris say on 10 March 2024?", strategy="learned", operations=LATEST)
    gate = recall.gate or {}
    for hit in recall.hits:
        notes = {signal.name: signal.note for signal in hit.why}
        for name in {"latest_filtering", "semantic_reranking"} & notes.keys():
            assert notes[name] == f"gate {gate[name]:.2f}"
        assert notes.get("time", "temporal_ordering").startswith("temporal_ordering")
    assert any("time" in {signal.name for signal in hit.why} for hit in recall.hits)


@pytest.mark.parametrize("given_", [{"sorting": True}, {"multi_step": 1}, ["multi_step"]])
def test_an_operation_that_there_is_not_is_refused(alice: UserMemory, given_: object) -> None:
    with pytest.raises(InvalidInputError, match="operations"):
        alice.recall("x", strategy="learned", operations=given_)  # type: ignore[arg-type]
    with pytest.raises(InvalidInputError, match="has none"):
        alice.recall("x", strategy="rrf", operations={"multi_step": True})


@given(
    st.frozensets(st.sampled_from(NAMES)), st.floats(0.01, 1), st.sets(st.sampled_from(NAMES)), st.integers(0, 2**31)
)
def test_exploring_keeps_what_costs_and_tells_the_true_probability(
    on: frozenset[str], share: float, forced: set[str], seed: int
) -> None:
    draw = np.random.default_rng(seed).random
    chosen, chance = explored(on, dict.fromkeys(forced, True), share, draw)
    free = FREE - forced
    assert chosen - free == on - free
    every = share / 2 ** len(free)
    assert chance == pytest.approx((every + (1 - share if chosen == on else 0)) if free else 1.0)


def test_exploring_draws_as_often_as_it_says() -> None:
    draw = np.random.default_rng(0).random
    on = frozenset({"temporal_ordering"})
    drawn = [explored(on, {}, 0.4, draw) for _ in range(4_000)]
    kept = sum(chosen == on for chosen, _ in drawn) / len(drawn)
    assert kept == pytest.approx(next(chance for chosen, chance in drawn if chosen == on), abs=0.03)


def test_the_command_switches_operations(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Memory.open(tmp_path / "home", settings=Settings(background=False)) as memory:
        talk(memory.user("iris"))
    asked = ["recall", RENT, "--user", "iris", "--home", str(tmp_path / "home"), "-s", "learned", "--json"]
    assert run([*asked, "--with", "multi_step", "--without", "semantic_reranking"]) == 0
    found = json.loads(capsys.readouterr().out)
    names = {one["name"] for hit in found["hits"] for one in hit["why"]}
    told = {one["name"]: (one["on"], one["reason"].partition(",")[0]) for one in found["operations"]}
    assert (told["multi_step"], told["semantic_reranking"]) == ((True, "by the call"), (False, "by the call"))
    assert "semantic_reranking" not in names
    assert run([*asked[:-1], "--with", "multi_step", "--why"]) == 0
    shown = capsys.readouterr().out.partition("\noperations\n")[2]
    assert [line.split()[:2] for line in shown.splitlines() if line.startswith("    ")][2] == ["multi_step", "on"]
    assert "threshold_filtering off by the strategy (" in shown
    assert run(asked[:-1]) == 0
    assert "operations" not in capsys.readouterr().out
    assert run([*asked, "--with", "sorting"]) == 2
    assert "sorting" in capsys.readouterr().err
