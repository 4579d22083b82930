"""The five operations: what each does to a ranking, that what is off is not done, and that a recall can switch each."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest

from hexamem import Memory, Settings, UserMemory
from hexamem.errors import InvalidInputError
from hexamem.memory_types import Hit, Recall
from hexamem.retrieval.packing import with_attached
from hexamem.retrieval.ranker import Ranker
from hexamem.retrieval.ranking_operations import NAMES, Search, order
from hexamem.retrieval.request import Request
from hexamem.retrieval.signals.features import FEATURES, SIGNAL_OF
from hexamem.retrieval.strategies import strategy_named

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
TWO_PARTS = "How much is the crown, and which club did Nora join?"
_users = itertools.count(1)
Talker = tuple[UserMemory, tuple[str, ...]]


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    """One memory for all tests, each with a user of its own."""
    settings = Settings(background=False, mode="off")
    with Memory.open(tmp_path_factory.mktemp("operations"), embedder="static", settings=settings) as memory:
        yield memory


@pytest.fixture(scope="module")
def iris(shared: Memory) -> Talker:
    """A user with the talk, who only recalls, and the ids of the steps."""
    return talk(shared.user("iris"))


def talk(user: UserMemory) -> tuple[UserMemory, tuple[str, ...]]:
    messages = [
        {"role": "user", "name": "Iris", "content": text, "timestamp": (START + timedelta(days=9 * day)).isoformat()}
        for day, text in enumerate(TALK)
    ]
    return user, user.remember(messages, thread_id="t").step_ids


def searches(user: UserMemory, question: str, **given: object) -> tuple[Ranker, list[Search], object]:
    memory = user.memory
    memory.projector.catch_up(user.name)
    request = Request(query=question, k=3, **given)  # type: ignore[arg-type]
    outcome = memory.searcher.searches(user.name, request, strategy_named("learned"))
    assert outcome is not None
    ranker = memory.searcher.ranker
    assert isinstance(ranker, Ranker)
    return ranker, list(outcome.searches), outcome.steps


def hit_of(recall: Recall, record_id: str) -> Hit:
    return next(hit for hit in with_attached(recall.hits) if hit.id == record_id)


def test_latest_filtering_ranks_what_a_newer_turn_repeats_behind_it(iris: Talker) -> None:
    user, ids = iris
    ranker, outcome, steps = searches(user, RENT)
    level = np.zeros(len(outcome[0].features.pool), np.float32)
    latest = order(ranker, outcome[:1], steps, frozenset(LATEST), 3, level)
    assert latest.ids.index(ids[4]) < latest.ids.index(ids[0])
    assert latest.moved[ids[0]]["latest_filtering"] < 0
    assert ids[4] not in latest.moved
    assert order(ranker, outcome[:1], steps, frozenset(), 3, level).moved == {}


def test_temporal_ordering_counts_days_and_semantic_reranking_diversifies(iris: Talker) -> None:
    ranker, (first, *_), _ = searches(iris[0], "What did Iris say on 10 March 2024?")
    timed = [column for column, name in enumerate(FEATURES) if SIGNAL_OF[name] == "time"]
    assert first.features.values[:, timed].std() > 0
    flat = first.features.values.copy()
    flat[:, timed] = 0
    on = frozenset({"temporal_ordering"})
    off = ranker.score(first.features, on=frozenset())
    untimed = ranker.score(replace(first.features, values=flat), on=on)
    assert off.tolist() == pytest.approx(untimed.tolist(), abs=1e-4)
    assert off.tolist() != pytest.approx(ranker.score(first.features, on=on).tolist())
    user, ids = iris
    ranker, outcome, steps = searches(user, RENT)
    pool = outcome[0].features.pool
    scores = np.array([1.0 if each in (ids[0], ids[4]) else 0.9 for each in pool.ids], np.float32)
    plain = order(ranker, outcome[:1], steps, frozenset(), 3, scores)
    diverse = order(ranker, outcome[:1], steps, frozenset({"semantic_reranking"}), 3, scores)
    assert set(plain.ids[:2]) == {ids[0], ids[4]} != set(diverse.ids[:2])
    assert sorted(diverse.ids) == sorted(plain.ids)


def test_a_step_that_only_a_superseded_item_cites_loses_but_at_no_time_asked_for(shared: Memory) -> None:
    user, ids = talk(shared.user(f"user {next(_users)}"))
    items: list[str] = []
    for step, pounds in ((ids[0], 900), (ids[4], 950)):
        item = {"kind": "semantic", "name": "Rent", "summary": f"The rent is {pounds} pounds.",
                "sources": [{"step_id": step, "quote": "My landlord raised the rent"}]}  # fmt: skip
        items.append(user.add(item, supersedes=items[0] if items else None).id)
    assert searches(user, RENT)[1][0].outdated == {ids[0], items[0]}
    on, off = (
        user.recall(RENT, strategy="learned", operations={"latest_filtering": latest}) for latest in (True, False)
    )
    assert {signal.name: signal.share for signal in hit_of(on, ids[0]).why}["latest_filtering"] < -1
    assert hit_of(on, items[0]).score <= hit_of(off, items[0]).score
    assert (hit_of(on, ids[0]).superseded, hit_of(on, ids[4]).superseded) == (True, False)
    assert searches(user, RENT, as_of=START + timedelta(days=400))[1][0].outdated == frozenset()


def test_multi_step_mixes_several_searches(shared: Memory, iris: Talker) -> None:
    ranker, outcome, steps = searches(iris[0], TWO_PARTS)
    assert len(outcome) == 2
    alone = order(ranker, outcome, steps, frozenset(), 3)
    mixed = order(ranker, outcome, steps, frozenset({"multi_step"}), 3)
    assert alone.moved == {}
    assert all("multi_step" in mixed.moved[each] for each in mixed.ids)
    assert mixed.scores == sorted(mixed.scores, reverse=True)
    assert mixed.scores[:2] != alone.scores[:2]
    stepless = shared.user("stepless")
    stepless.add({"kind": "semantic", "name": "kiln", "summary": "The kiln is broken"})
    once = stepless.recall("what about the kiln?", strategy="learned", operations={"multi_step": True})
    (reason,) = [each.reason for each in once.operations if each.name == "multi_step"]
    assert reason == "by the call, but there is nothing to search further"


def test_threshold_filtering_gives_nothing_where_no_answer_is_likely(iris: Talker) -> None:
    for asked in ("Which violin concerto did the orchestra rehearse?", RENT):
        plain = iris[0].recall(asked, strategy="learned")
        filtered = iris[0].recall(asked, strategy="learned", operations={"threshold_filtering": True})
        assert plain.hits
        assert plain.answerable is not None
        assert bool(filtered.hits) is (plain.answerable >= 0.5)


@pytest.mark.parametrize("on", [frozenset(), frozenset(NAMES[:2]), frozenset(NAMES)])
def test_every_configuration_gives_hits_whose_reasons_add_up(iris: Talker, on: frozenset[str]) -> None:
    forced = {name: name in on for name in NAMES if name != "threshold_filtering"}
    recall = iris[0].recall(TWO_PARTS, strategy="learned", operations=forced)
    assert len(recall.hits) == 6
    for hit in recall.hits:
        assert sum(signal.share for signal in hit.why) == pytest.approx(hit.score, abs=1e-6)
        assert not {signal.name for signal in hit.why} & (set(NAMES) - on)


def test_a_recall_reports_which_operations_ran_and_what_decided_it(iris: Talker) -> None:
    user = iris[0]
    recall = user.recall(RENT, strategy="learned", operations={"multi_step": True, "latest_filtering": False})
    assert tuple(each.name for each in recall.operations) == NAMES
    assert {each.name: each.gate for each in recall.operations} == recall.gate
    reported = {each.name: (each.on, each.reason) for each in recall.operations}
    assert reported["multi_step"][0]
    assert reported["multi_step"][1].startswith("by the call")
    assert reported["latest_filtering"] == (False, "by the call")
    assert reported["threshold_filtering"] == (False, "by the strategy")
    for name in ("temporal_ordering", "semantic_reranking"):
        assert reported[name] == ((recall.gate or {})[name] >= 0.5, "by the gate")
    assert Recall.model_validate(recall.model_dump()).operations == recall.operations
    likely = user.recall(RENT, strategy="learned", min_probability=0.25)
    threshold = next(each for each in likely.operations if each.name == "threshold_filtering")
    assert threshold.explain() == f"threshold_filtering on by min_probability = 0.25 ({threshold.gate:.2f})"
    noted = user.recall("What did Iris say on 10 March 2024?", strategy="learned", operations=LATEST)
    notes = [(signal.name, signal.note) for hit in noted.hits for signal in hit.why]
    for name in {"latest_filtering", "semantic_reranking"} & {name for name, _ in notes}:
        assert {note for named, note in notes if named == name} == {f"gate {(noted.gate or {})[name]:.2f}"}
    assert any(name == "time" and (note or "").startswith("temporal_ordering") for name, note in notes)
    plain = user.recall(RENT, strategy="rrf")
    assert plain.operations == ()


def test_an_operation_that_does_not_exist_is_refused(iris: Talker) -> None:
    wrong: list[tuple[str, Any, str]] = [("rrf", {"multi_step": True}, "has no operations")]
    wrong += [("learned", given, "operations") for given in ({"sorting": True}, {"multi_step": 1}, ["multi_step"])]
    for strategy, operations, message in wrong:
        with pytest.raises(InvalidInputError, match=message):
            iris[0].recall("x", strategy=strategy, operations=operations)
