"""STITCH's ranking: density by labels first, similarity among equals; votes where the question names no label."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hexamem import Memory, Settings, UserMemory
from hexamem.retrieval.fusion import Candidate
from hexamem.retrieval.label_density import by_density

from .word_labeler import WordLabeler

TRIP = [
    ("user", "Let's plan my trip to Porto. Day 1 first: find me a hotel near the river."),
    ("assistant", "For day 1 there is the Ribeira Palace at $140 a night, rated 4.6."),
    ("user", "Book it. And a restaurant for dinner?"),
    ("assistant", "Cantina da Praia serves fish, about $35 each."),
    ("user", "Now day 2. I need another hotel, closer to the station."),
    ("assistant", "For day 2 the Hotel Aurora costs $95 a night, rated 4.1."),
    ("user", "Good, book that hotel too. A restaurant for dinner?"),
    ("assistant", "Casa Velha has grilled meat, about $30 each."),
    ("user", "Back to day 1: is the restaurant open on Sundays?"),
    ("assistant", "Yes, Cantina da Praia opens at seven on Sundays."),
]


DAYS = [1, 1, 1, 1, 2, 2, 2, 2, 1, 1]


def plan_trip(user: UserMemory) -> tuple[str, ...]:
    """Store the conversation and put each step into the scope of its day by hand."""
    ids = user.remember([{"role": role, "content": text} for role, text in TRIP]).step_ids
    user.flush()
    for day in (1, 2):
        steps = [one for one, own in zip(ids, DAYS, strict=True) if own == day]
        user.labels.move(steps, f"scope:Day {day}")
    return ids


@pytest.fixture(scope="module")
def trip(tmp_path_factory: pytest.TempPathFactory) -> Iterator[UserMemory]:
    home = tmp_path_factory.mktemp("trip")
    with Memory.open(home / "home", settings=Settings(background=False)) as memory:
        user = memory.user("ann")
        plan_trip(user)
        yield user


def test_a_question_about_a_day_finds_that_days_steps_before_any_other(trip: UserMemory) -> None:
    found = trip.recall("Which restaurant did we find for dinner on day 2?", k=4, strategy="label_density")
    assert {hit.scope for hit in found.hits} == {found.hits[0].scope}
    assert "Day 2" in (found.hits[0].scope or "")
    assert any("Casa Velha" in hit.text for hit in found.hits)


def test_each_hit_tells_the_labels_that_were_asked_for(trip: UserMemory) -> None:
    best = trip.recall("What did we book on day 1?", strategy="label_density").hits[0]
    labels = next(reason for reason in best.why if reason.name == "labels")
    assert labels.rank == 1
    assert labels.value is not None
    assert labels.value > 0
    assert "Day 1" in (labels.note or "")


def test_without_scope_the_question_draws_from_both_days(trip: UserMemory) -> None:
    found = trip.recall("Which hotel on day 2?", k=6, strategy="label_density_without_scope")
    assert len({hit.scope for hit in found.hits}) == 2


def test_the_strategy_brings_its_own_number_of_hits_and_tokens(trip: UserMemory) -> None:
    assert len(trip.recall("hotel", strategy="label_density").hits) == len(TRIP)
    assert len(trip.recall("hotel", k=3, strategy="label_density").hits) == 3


def test_where_no_label_is_named_the_nearest_steps_vote(trip: UserMemory) -> None:
    best = trip.recall("grilled meat", strategy="label_density").hits[0]
    note = next(reason.note for reason in best.why if reason.name in ("labels", "votes"))
    assert "by the nearest steps" in (note or "")
    assert "Casa Velha" in best.text


def test_a_filter_holds_for_the_densest_too(trip: UserMemory) -> None:
    found = trip.recall("hotel on day 2", strategy="label_density", where={"speaker": "assistant"})
    assert found.hits
    assert {hit.speaker for hit in found.hits} == {"assistant"}


def test_a_merged_scope_is_found_under_the_name_that_it_went_into(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "home", settings=Settings(background=False)) as memory:
        user = memory.user("ann")
        plan_trip(user)
        (other,) = user.remember("The dentist has no appointment before March.", thread_id="teeth").step_ids
        user.flush()
        user.labels.split(user.labels.of(other).intent.scope, [other], "Dentist")
        user.labels.merge("scope:Day 2", "scope:Day 1")
        found = user.recall("Which restaurant on day 1?", k=10, strategy="label_density")
        assert {hit.scope for hit in found.hits} == {"Day 1"}
        moved = next(hit for hit in found.hits if "Casa Velha" in hit.text)
        assert "labels" in {reason.name for reason in moved.why}


def test_without_labels_it_is_the_fused_ranking(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "home", settings=Settings(background=False, labels="off")) as memory:
        user = memory.user("ann")
        user.remember([{"role": role, "content": text} for role, text in TRIP])
        dense = [hit.id for hit in user.recall("hotel near the station", k=5, strategy="label_density").hits]
        assert dense == [hit.id for hit in user.recall("hotel near the station", k=5, strategy="rrf").hits]


SCORES = st.floats(0.001, 1.0)
DENSITIES = st.sampled_from([0.0, 0.25, 0.5, 1.0, 2.0, 3.0])


@given(st.lists(st.tuples(SCORES, DENSITIES, SCORES), min_size=1, max_size=30))
def test_votes_never_lift_a_candidate_over_a_denser_one(given_: list[tuple[float, float, float]]) -> None:
    similar = {
        f"step_{n}": Candidate(f"step_{n}", score, [("dense", score, 1, score)])
        for n, (score, _, _) in enumerate(given_)
    }
    densities = {f"step_{n}": density for n, (_, density, _) in enumerate(given_) if density}
    votes = {f"step_{n}": vote for n, (_, _, vote) in enumerate(given_)}
    ranked = sorted(by_density(densities, similar, 0.25, votes, 0.3).values(), key=lambda one: -one.score)
    levels = [densities.get(one.id, 0.0) for one in ranked]
    assert levels == sorted(levels, reverse=True)
    assert all(one.score == pytest.approx(sum(share for *_, share in one.why)) for one in ranked)


@given(st.lists(st.tuples(SCORES, DENSITIES), min_size=1, max_size=30))
def test_density_decides_first_and_similarity_among_equals(given_: list[tuple[float, float]]) -> None:
    similar = {f"step_{n}": Candidate(f"step_{n}", score) for n, (score, _) in enumerate(given_)}
    densities = {f"step_{n}": density for n, (_, density) in enumerate(given_) if density}
    ranked = sorted(by_density(densities, similar, 0.25).values(), key=lambda one: -one.score)
    keys = [(densities.get(one.id, 0.0), similar[one.id].score) for one in ranked]
    assert all(earlier >= later or earlier == pytest.approx(later) for earlier, later in pairwise(keys))


def test_votes_reach_the_similar_steps_of_a_user_with_many_alike(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "home", settings=Settings(background=False)) as memory:
        user = memory.user("ann")
        user.remember([f"note {number}: nothing much happened" for number in range(600)])
        user.remember([f"the heron number {number} stood in the pond" for number in range(8)])
        found = user.recall("heron in the pond", k=8, strategy="label_density").hits
        assert all("heron" in hit.text for hit in found)
        assert len({"votes" in {reason.name for reason in hit.why} for hit in found}) == 1


class Broken(WordLabeler):
    """Labels, but reads no question and does not come back."""

    def restore(self, labels: object, recent: object) -> None:
        raise ValueError("cannot restore")

    def query(self, text: str, vector: object) -> None:
        return None


def test_a_labeller_that_cannot_read_a_question_stops_no_recall(tmp_path: Path) -> None:
    settings = Settings(background=False)
    for _ in range(2):  # the second time it must be restored
        with Memory.open(tmp_path / "home", settings=settings, labeler=Broken) as memory:
            user = memory.user("ann")
            user.remember("the wifi of the flat is slow")
            assert user.recall("my secret question", strategy="label_density").hits
            assert any("could not be read" in line for line in memory.notices)
            assert "my secret question" not in repr(memory.notices)
