"""Label signals: what a question asks for in labels counts in the learned ranking, and costs nothing without labels."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from hexamem import Memory, Settings, UserMemory
from hexamem.retrieval.ranker import standardised
from hexamem.retrieval.request import Request
from hexamem.retrieval.signals.cues import CUES
from hexamem.retrieval.signals.features import FEATURES, Features
from hexamem.retrieval.signals.labels import LABEL_FEATURES
from hexamem.retrieval.strategies import strategy_named

from .test_label_density import DAYS, TRIP, plan_trip


@pytest.fixture(scope="module")
def trip(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[UserMemory, tuple[str, ...]]]:
    home = tmp_path_factory.mktemp("trip")
    with Memory.open(home / "home", settings=Settings(background=False, mode="off")) as memory:
        user = memory.user("ann")
        yield user, plan_trip(user)


def measured(user: UserMemory, question: str) -> Features:
    user.memory.projector.catch_up(user.name)
    found = user.memory.searcher.measure(user.name, Request(query=question, k=10), strategy_named("learned"))
    assert found is not None
    return found.features


def by_day(features: Features, ids: tuple[str, ...], name: str) -> dict[int, float]:
    """The mean of a feature over the steps of each day."""
    values = dict(zip(features.pool.ids, features.column(name).tolist(), strict=True))
    return {
        day: float(np.mean([values[one] for one, own in zip(ids, DAYS, strict=True) if own == day])) for day in (1, 2)
    }


@pytest.mark.parametrize("name", ["scope_asked", "scope_asked_surely", "scope_probability", "density_rank"])
@pytest.mark.parametrize(("question", "day"), [("Where do I eat on day 2?", 2), ("Which hotel is it on day 1?", 1)])
def test_steps_of_the_day_asked_for_have_more_of_it(
    trip: tuple[UserMemory, tuple[str, ...]], name: str, question: str, day: int
) -> None:
    user, ids = trip
    means = by_day(measured(user, question), ids, name)
    assert means[day] > means[3 - day]


def test_a_question_that_names_a_day_is_clearer_than_one_that_names_none(
    trip: tuple[UserMemory, tuple[str, ...]],
) -> None:
    user, _ = trip
    clear, vague = (measured(user, one).cues[CUES.index("scope_clear")] for one in ("What is on day 2?", "And then?"))
    assert clear > vague


def test_the_ranking_finds_the_hotel_of_the_day_asked_for(trip: tuple[UserMemory, tuple[str, ...]]) -> None:
    user, ids = trip
    best = user.recall("Which hotel did we take for day 2?", k=4, strategy="learned").hits
    assert ids[5] in [hit.id for hit in best]


def test_steps_without_labels_have_none_of_it(memory: Memory) -> None:
    with Memory.open(memory.home.parent / "plain", settings=Settings(background=False, labels="off")) as plain:
        user = plain.user("ann")
        user.remember([{"role": role, "content": text} for role, text in TRIP])
        features = measured(user, "Where do I eat on day 2?")
    assert all(not features.column(name).any() for name in LABEL_FEATURES)
    assert not features.cues[CUES.index("scope_clear") :].any()


def test_a_corrected_label_counts_at_once(tmp_path_factory: pytest.TempPathFactory) -> None:
    home = tmp_path_factory.mktemp("moved")
    with Memory.open(home / "home", settings=Settings(background=False, mode="off")) as memory:
        user = memory.user("ann")
        ids = plan_trip(user)
        question = "Where do I eat on day 2?"
        before = by_day(measured(user, question), ids, "scope_asked_surely")
        scopes = {hit.id: hit.scope for hit in user.recall(question, k=10, kinds="step").hits}
        moved = ids[3]
        assert scopes[ids[5]] is not None
        user.labels.move([moved], scopes[ids[5]])
        features = measured(user, question)
        after = dict(zip(features.pool.ids, features.column("scope_asked_surely").tolist(), strict=True))
    assert before[2] > before[1]
    assert after[moved] == pytest.approx(max(after.values()))


def test_fused_places_are_those_of_plain_fusion(trip: tuple[UserMemory, tuple[str, ...]]) -> None:
    user, _ = trip
    question = "Casa Velha, grilled meat"
    features = measured(user, question)
    best = features.pool.ids[int(np.argmax(features.column("fused")))]
    assert user.recall(question, k=1, strategy="rrf").hits[0].id == best


def test_what_is_alike_for_all_candidates_has_no_say() -> None:
    random = np.random.default_rng(0)
    values = random.normal(size=(400, len(FEATURES))).astype(np.float32)
    usual = np.ones(len(FEATURES), np.float32)
    assert standardised(values * 3 + 5, usual) == pytest.approx(standardised(values, usual), abs=0.2)
    values[:, 4] = 7
    assert not standardised(values, usual)[:, 4].any()


def test_among_few_candidates_a_usual_difference_counts_less_than_a_great_one() -> None:
    values = np.zeros((2, len(FEATURES)), np.float32)
    values[0, 0], values[1, 1] = 1.0, 1.0
    usual = np.full(len(FEATURES), 0.1, np.float32)
    usual[1] = 1.0
    found = standardised(values, usual)
    assert found[0, 0] > 2 * found[1, 1] > 0
