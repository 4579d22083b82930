"""Signals: the working set stays true to the ledger, and features say what their names do, in both languages."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from hexamem import Memory, UserMemory
from hexamem.retrieval.request import Request
from hexamem.retrieval.signals.cues import CUES, operations_of
from hexamem.retrieval.signals.features import FEATURES, Features, compute_features
from hexamem.retrieval.signals.pool import make_pool
from hexamem.retrieval.signals.question import Asked, read_question
from hexamem.retrieval.strategies import strategy_named
from hexamem.stores.embedders.static import StaticEmbedder
from hexamem.stores.step_form import FORM_FLAGS, form_of
from hexamem.stores.working_set import StepFacts, WorkingSet

from .anna_and_ben import TALK

START = datetime(2023, 5, 8, 13, 56, tzinfo=UTC)


@pytest.fixture(scope="module")
def embedder() -> StaticEmbedder:
    return StaticEmbedder()


def facts(talk: list[tuple[str, str]], thread: str = "t", day: int = 0, first: int = 0) -> list[StepFacts]:
    return [
        StepFacts(
            id=f"step_{thread}_{turn}",
            thread_id=thread,
            turn=turn,
            speaker=speaker,
            role="user",
            text=text,
            said=text,
            seconds=int((START + timedelta(days=day, minutes=turn)).timestamp()),
        )
        for turn, (speaker, text) in enumerate(talk, first)
    ]


def working_set(embedder: StaticEmbedder, *talks: list[StepFacts]) -> WorkingSet:
    made = WorkingSet(embedder.dimension, embedder.token_model)
    for talk in talks:
        made.add(talk, embedder.embed_documents([f"{one.speaker}: {one.text}" for one in talk]))
    return made


def measured(embedder: StaticEmbedder, steps: WorkingSet, question: str) -> tuple[Asked, Features]:
    asked = read_question(question, steps, embedder, UTC)
    return asked, compute_features(asked, make_pool(steps.ids, [], steps), steps)


def test_every_feature_is_finite_and_has_a_column(embedder: StaticEmbedder) -> None:
    steps = working_set(embedder, facts(TALK))
    _, features = measured(embedder, steps, "What is Anna's greyhound called?")
    assert features.values.shape == (6, len(FEATURES))
    assert np.isfinite(features.values).all()


def test_the_cosine_kept_in_bytes_is_close_to_the_true_one(embedder: StaticEmbedder) -> None:
    steps = working_set(embedder, facts(TALK))
    true = embedder.embed_documents([f"{name}: {text}" for name, text in TALK])
    vector = embedder.embed_query("a dog from the shelter")
    assert np.abs(steps.similarities(vector) - true @ vector).max() < 0.01
    assert np.abs(steps.vectors(np.arange(6)) @ vector - true @ vector).max() < 0.01


def test_a_window_is_the_mean_vector_of_its_steps(embedder: StaticEmbedder) -> None:
    steps = working_set(embedder, facts(TALK))
    asked, features = measured(embedder, steps, "What is Anna's greyhound called?")
    own = steps.vectors(np.arange(6))
    for name, offsets in (("dense_answered", (-1,)), ("dense_of_3", (-1, 1)), ("dense_of_5", (-2, -1, 1, 2))):
        for row in range(6):
            total = own[row] + sum(
                (0.7 * own[row + offset] for offset in offsets if 0 <= row + offset < 6), np.zeros(256)
            )
            assert features.column(name)[row] == pytest.approx(total @ asked.bare / np.linalg.norm(total), abs=0.01)


def test_overlap_counts_the_share_of_rarity_that_is_held(embedder: StaticEmbedder) -> None:
    steps = working_set(embedder, facts(TALK))
    _, features = measured(embedder, steps, "a new heating coil")
    assert features.column("overlap").argmax() == 4
    assert features.column("overlap")[4] == pytest.approx(1.0, abs=1e-5)
    assert features.column("overlap_answered")[5] == pytest.approx(1.0, abs=1e-5)
    assert features.column("overlap")[0] == 0


def test_neighbours_never_reach_across_sessions(embedder: StaticEmbedder) -> None:
    steps = working_set(embedder, facts(TALK), facts([("Ben", "Fine weather.")], day=3, first=6))
    assert steps.session.tolist() == [0] * 6 + [1]
    assert steps.before[6] == -1
    assert steps.after[5] == -1
    _, features = measured(embedder, steps, "a new heating coil")
    assert features.column("late_before1")[6] == 0


def test_threads_that_take_turns_keep_their_own_neighbours(embedder: StaticEmbedder) -> None:
    first, second = facts(TALK, "a"), facts(TALK[::-1], "b")
    mixed = [one for pair in zip(first, second, strict=True) for one in pair]
    steps = working_set(embedder, mixed[:5], mixed[5:])
    rows = [steps.row_of[one.id] for one in first]
    assert [int(steps.after[row]) for row in rows] == [*rows[1:], -1]
    assert [int(steps.before[row]) for row in rows] == [-1, *rows[:-1]]


def test_a_set_that_grew_gives_the_features_of_one_made_at_once(embedder: StaticEmbedder) -> None:
    every = facts(TALK)
    grown, whole = working_set(embedder, every[:2], every[2:3], every[3:]), working_set(embedder, every)
    question = "How much did Ben say the coil costs?"
    assert np.allclose(
        measured(embedder, grown, question)[1].values, measured(embedder, whole, question)[1].values, atol=1e-4
    )


def test_words_added_last_are_found_like_those_before(embedder: StaticEmbedder) -> None:
    steps = working_set(embedder, facts(TALK))
    ((_, number),) = steps.stems_of("kiln")
    assert steps.rows_holding(number).tolist() == [3]
    steps.add(facts([("Anna", "Is the kiln warm? A kiln needs hours.")], first=6), embedder.embed_documents(["kiln"]))
    assert steps.rows_holding(number).tolist() == [3, 6, 6]


def test_a_question_knows_whom_it_names(embedder: StaticEmbedder) -> None:
    steps = working_set(embedder, facts(TALK))
    asked, features = measured(embedder, steps, "What did Ben's kiln cost?")
    assert asked.named == {steps.speakers.index("ben")}
    assert features.column("spoken_by_named").tolist() == [0, 1, 0, 1, 0, 1]
    assert [stem for stem, _ in asked.stems] == ["kiln", "cost"]


def test_a_chinese_question_knows_whom_it_names_and_its_words(embedder: StaticEmbedder) -> None:
    steps = working_set(
        embedder, facts([("王若楠", "我搬到良渚了，房租三千六。"), ("高远", "恭喜！我家柯基瘦了两公斤。")])
    )
    asked, features = measured(embedder, steps, "若楠搬到了哪里？")
    assert asked.named == {steps.speakers.index("王若楠")}
    assert features.column("overlap").argmax() == 0
    assert features.column("late").argmax() == 0
    assert asked.cues[CUES.index("temporal")] < 0.5


@pytest.mark.parametrize(
    ("question", "inside"),
    [
        ("What did they do in May 2023?", [1, 0]),
        ("What did they do in June?", [0, 1]),
        ("What happened on 8 May 2023?", [1, 0]),
        ("2023年6月他们做了什么？", [0, 1]),
        ("What did they do?", [0, 0]),
    ],
)
def test_a_date_in_the_question_meets_what_was_said_then(
    embedder: StaticEmbedder, question: str, inside: list[int]
) -> None:
    steps = working_set(embedder, facts(TALK[:1], "a"), facts(TALK[3:4], "b", day=36))
    assert measured(embedder, steps, question)[1].column("in_dates").tolist() == inside


@pytest.mark.parametrize(
    ("text", "flags"),
    [
        ("What is she called?", {"question": 1, "temporal": 0, "number": 0}),
        ("It broke last Friday after 12 years.", {"question": 0, "temporal": 1, "number": 1}),
        ("你去了吗", {"question": 1, "second_person": 1}),
        ("我上周买了三本书。", {"temporal": 1, "number": 1, "first_person": 1}),
    ],
)
def test_the_form_of_a_text_is_read_in_both_languages(text: str, flags: dict[str, float]) -> None:
    found = dict(zip(FORM_FLAGS, form_of(text, False), strict=True))
    assert {name: found[name] for name in flags} == flags


def test_operations_follow_the_cues_of_the_question(embedder: StaticEmbedder) -> None:
    steps = working_set(embedder, facts(TALK))
    when, _ = measured(embedder, steps, "When did the kiln break?")
    latest, _ = measured(embedder, steps, "Where does Ben live now?")
    assert operations_of(when.cues)["temporal_ordering"] > 0.5
    assert operations_of(when.cues)["latest_filtering"] < 0.5
    assert operations_of(latest.cues)["temporal_ordering"] < 0.5


def test_a_chinese_question_for_a_time_is_one_too(embedder: StaticEmbedder) -> None:
    steps = working_set(embedder, facts(TALK))
    asked, _ = measured(embedder, steps, "陶窑是什么时候坏的？")
    assert operations_of(asked.cues)["temporal_ordering"] > 0.5


def steps_in_memory(memory: Memory, user: UserMemory) -> WorkingSet:
    memory.projector.catch_up(user.name)
    read = memory.searcher._learned.read(user.name, Request(query="anything", k=1))
    assert read is not None
    return read[1]


def test_the_working_set_follows_the_ledger(memory: Memory, alice: UserMemory) -> None:
    first = alice.remember(
        [{"role": "user", "name": name, "content": text} for name, text in TALK], thread_id="t"
    ).step_ids
    assert steps_in_memory(memory, alice).ids == list(first)
    more = alice.remember("The coil came today.", thread_id="t").step_ids
    grown = steps_in_memory(memory, alice)
    assert grown.ids == [*first, *more]
    assert int(grown.before[6]) == 5
    alice.forget([first[3]])
    kept = steps_in_memory(memory, alice)
    assert kept.ids == [one for one in [*first, *more] if one != first[3]]
    assert kept.stems_of("pottery") == [("potteri", -1)]


def test_a_redacted_word_leaves_memory(memory: Memory, alice: UserMemory) -> None:
    alice.remember("Call the locksmith Zebrowski about the door.", thread_id="t")
    assert steps_in_memory(memory, alice).stems_of("Zebrowski")[0][1] >= 0
    alice.redact("Zebrowski", caption="a name")
    assert steps_in_memory(memory, alice).stems_of("Zebrowski")[0][1] == -1


def test_erasing_drops_the_working_set(memory: Memory, alice: UserMemory) -> None:
    alice.remember("Call the locksmith about the door.", thread_id="t")
    steps_in_memory(memory, alice)
    alice.erase()
    assert "alice" not in memory.searcher._learned._kept._kept
    assert memory.searcher.measure("alice", Request(query="door", k=1), strategy_named("learned")) is None
