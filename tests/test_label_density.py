"""Labels in ranking: density by labels first, similarity among equals, votes; and what a question asks for in labels."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hexamem import Memory, Settings, UserMemory
from hexamem.retrieval.request import Request
from hexamem.retrieval.signals.cues import CUES
from hexamem.retrieval.signals.features import Features
from hexamem.retrieval.signals.labels import LABEL_FEATURES
from hexamem.retrieval.strategies import strategy_named

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
Planned = tuple[UserMemory, tuple[str, ...]]
QUIET = Settings(background=False, mode="off")


def plan_trip(user: UserMemory) -> tuple[str, ...]:
    """Store the conversation and put each step into the scope of its day by hand."""
    ids = user.remember([{"role": role, "content": text} for role, text in TRIP]).step_ids
    user.flush()
    for day in (1, 2):
        user.labels.move([step for step, own in zip(ids, DAYS, strict=True) if own == day], f"scope:Day {day}")
    return ids


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    with Memory.open(tmp_path_factory.mktemp("trip") / "home", settings=QUIET) as memory:
        yield memory


@pytest.fixture(scope="module")
def trip(memory: Memory) -> Planned:
    """A planned trip, only to be read."""
    return memory.user("ann"), plan_trip(memory.user("ann"))


def density(user: UserMemory, question: str, **options: Any) -> Any:
    return user.recall(question, **{"strategy": "label_density", **options})


def measured(user: UserMemory, question: str) -> Features:
    user.memory.projector.catch_up(user.name)
    request = Request(query=question, k=10)
    searched = user.memory.searcher.searches(user.name, request, strategy_named("learned"), further=False)
    assert searched is not None
    return searched.searches[0].features


def test_a_question_about_a_day_finds_its_steps_first_and_says_why(trip: Planned) -> None:
    user, ids = trip
    hits = density(user, "Which restaurant did we find for dinner on day 2?", k=4).hits
    assert {hit.scope for hit in hits} == {"Day 2"}
    assert any("Casa Velha" in hit.text for hit in hits)
    labels = next(
        reason for reason in density(user, "What did we book on day 1?").hits[0].why if reason.name == "labels"
    )
    assert ((labels.value or 0) > 0, "Day 1" in (labels.note or "")) == (True, True)
    without = density(user, "Which hotel on day 2?", k=6, strategy="label_density_without_scope").hits
    assert {hit.scope for hit in without} == {"Day 1", "Day 2"}
    assert len(density(user, "hotel").hits) == len(TRIP)  # the strategy's own number
    filtered = density(user, "hotel on day 2", where={"speaker": "assistant"}).hits
    assert {hit.speaker for hit in filtered} == {"assistant"}
    best = density(user, "grilled meat").hits[0]  # no label is named: the nearest steps vote
    assert "Casa Velha" in best.text
    assert any("of the nearest steps" in (reason.note or "") for reason in best.why)
    assert ids[5] in [hit.id for hit in user.recall("Which hotel did we take for day 2?", k=4).hits]


def test_a_moved_step_and_a_merged_scope_count_at_once(memory: Memory) -> None:
    user = memory.user("ben")
    ids = plan_trip(user)
    before = measured(user, "Where do I eat on day 2?")
    user.labels.move([ids[9]], "Day 2")
    features = measured(user, "Where do I eat on day 2?")
    surely = dict(zip(features.pool.ids, features.column("scope_asked_surely").tolist(), strict=True))
    assert surely[ids[9]] == pytest.approx(max(surely.values()))
    assert before.column("scope_asked_surely")[before.pool.ids.index(ids[9])] < surely[ids[9]]
    (other,) = user.remember("The dentist has no appointment before March.", thread_id="teeth").step_ids
    user.flush()
    user.labels.split(user.labels.of(other).intent.scope, [other], "Dentist")
    user.labels.merge("scope:Day 2", "scope:Day 1")
    hits = density(user, "Which restaurant on day 1?", k=10).hits
    assert {hit.scope for hit in hits} == {"Day 1"}
    merged = next(hit for hit in hits if "Casa Velha" in hit.text)
    assert "labels" in {reason.name for reason in merged.why}


def test_without_labels_it_is_the_fused_ranking(tmp_path: Path) -> None:
    settings = Settings(background=False, mode="off", labels="off")
    with Memory.open(tmp_path / "home", embedder="static", settings=settings) as memory:
        user, question = memory.user("ann"), "Which hotel near the station on day 2?"
        user.remember([{"role": role, "content": text} for role, text in TRIP])
        fused = [hit.id for hit in user.recall(question, k=5, strategy="rrf").hits]
        assert [hit.id for hit in density(user, question, k=5).hits] == fused
        features = measured(user, question)
        assert all(not features.column(name).any() for name in LABEL_FEATURES)
        assert not features.cues[CUES.index("scope_clear") :].any()


class Broken(WordLabeler):
    """Labels, but reads no question and cannot be restored."""

    def restore(self, labels: object, recent: object) -> None:
        raise ValueError("cannot restore")

    def query(self, text: str, vector: object) -> None:
        return None


def test_a_labeler_that_cannot_read_a_question_stops_no_recall(tmp_path: Path) -> None:
    for _ in range(2):  # the second time it must be restored
        with Memory.open(tmp_path / "home", embedder="static", settings=QUIET, labeler=Broken) as memory:
            user = memory.user("ann")
            user.remember("the wifi of the flat is slow")
            assert density(user, "my secret question").hits
            assert any("could not be read" in line for line in memory.notices)
            assert "my secret question" not in repr(memory.notices)
