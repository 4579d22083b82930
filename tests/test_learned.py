"""The learned ranking: what it finds, what it tells, what it refuses, and that it keeps to filters."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from hexamem import Memory, Settings, UserMemory, Where
from hexamem.errors import ConfigError, CorruptFileError, InvalidInputError
from hexamem.retrieval.ranker import ANSWER_SIGNS, Ranker, standardised
from hexamem.retrieval.ranking_weights import RankingWeights, load_weights, save_weights, shipped_weights
from hexamem.retrieval.request import Request
from hexamem.retrieval.signals.cues import CUES, OPERATIONS
from hexamem.retrieval.signals.features import FEATURES, Features
from hexamem.retrieval.strategies import strategy_named
from hexamem.stores.embedders import open_embedder

from .anna_and_ben import TALK


def talk(user: UserMemory) -> tuple[str, ...]:
    messages = [{"role": "user", "name": name, "content": text} for name, text in TALK]
    return user.remember(messages, thread_id="t").step_ids


def weights_of(memory: Memory, seed: int = 0, fingerprint: str | None = None) -> RankingWeights:
    random = np.random.default_rng(seed)
    features, cues = len(FEATURES), len(CUES)

    def numbers(*shape: int) -> np.ndarray:
        return random.normal(0, 0.3, shape).astype(np.float32)

    return RankingWeights(
        deviation=np.abs(numbers(features)),
        linear=numbers(features),
        gate_in=numbers(cues, 3), gate_bias=numbers(3), gate_out=numbers(3, features),
        hidden=numbers(features, 4), hidden_cues=numbers(cues, 4), hidden_bias=numbers(4), hidden_out=numbers(4),
        answerable=np.ones(3 * len(ANSWER_SIGNS) + 1, np.float32),
        fingerprint=memory.embedder.fingerprint if fingerprint is None else fingerprint,
    )  # fmt: skip


def measured(memory: Memory, user: UserMemory, question: str) -> Features:
    memory.projector.catch_up(user.name)
    found = memory.searcher.measure(user.name, Request(query=question, k=10), strategy_named("learned"))
    assert found is not None
    return found.features


def test_an_answer_beside_the_words_of_the_question_is_found(alice: UserMemory) -> None:
    ids = talk(alice)
    hits = alice.recall("What is Anna's greyhound called?", k=3, strategy="learned").hits
    assert ids[2] in [hit.id for hit in hits]


def test_reasons_add_up_to_the_score(alice: UserMemory) -> None:
    talk(alice)
    hits = alice.recall("How much is a heating coil for the kiln?", strategy="learned").hits
    assert len(hits) >= 6
    for hit in hits:
        assert sum(one.share for one in hit.why) == pytest.approx(hit.score, abs=1e-3)
    assert {"dense", "late", "bm25"} & {one.name for one in hits[0].why}


def test_shares_are_exact_for_any_weights(memory: Memory, alice: UserMemory) -> None:
    talk(alice)
    features = measured(memory, alice, "How much is a heating coil for the kiln?")
    for seed in range(5):
        ranker = Ranker(weights_of(memory, seed))
        scores = ranker.score(features)
        shares = ranker.shares(features, np.arange(len(scores)))
        assert shares.sum(axis=1).tolist() == pytest.approx(scores.tolist(), abs=1e-3)


def test_the_score_is_the_formula(memory: Memory, alice: UserMemory) -> None:
    talk(alice)
    features = measured(memory, alice, "How much is a heating coil for the kiln?")
    w = weights_of(memory)
    x, q = standardised(features.values, w.deviation), features.cues
    base = np.maximum(q @ w.hidden_cues + w.hidden_bias, 0) @ w.hidden_out
    expected = [
        row @ (w.linear + np.tanh(q @ w.gate_in + w.gate_bias) @ w.gate_out)
        + np.maximum(row @ w.hidden + q @ w.hidden_cues + w.hidden_bias, 0) @ w.hidden_out
        - base
        for row in x
    ]
    assert Ranker(w).score(features).tolist() == pytest.approx(expected, abs=1e-3)


def test_it_tells_the_gate_and_the_probability_of_an_answer(alice: UserMemory) -> None:
    talk(alice)
    recall = alice.recall("When did the kiln break?", strategy="learned")
    assert recall.gate is not None
    assert set(recall.gate) == set(OPERATIONS)
    assert recall.gate["temporal_ordering"] >= 0.5
    assert all(0 <= value <= 1 for value in recall.gate.values())
    assert recall.answerable is not None
    assert 0 <= recall.answerable <= 1
    assert recall.degraded == ()


def test_of_next_to_nothing_no_probability_is_told(alice: UserMemory) -> None:
    alice.remember(["The kiln broke.", "We ate soup."])
    assert alice.recall("When did the kiln break?", strategy="learned").answerable is None
    told = alice.recall("When did the kiln break?", strategy="learned", min_probability=0.1)
    assert not told.hits
    assert any("not known of so few steps" in line for line in told.degraded)


def test_few_candidates_are_judged_by_the_regression_of_small_memories(memory: Memory, alice: UserMemory) -> None:
    talk(alice)
    features = measured(memory, alice, "When did the kiln break?")
    source = shipped_weights("bundled")
    assert source is not None
    one = load_weights(source)
    surely_not = np.zeros(3 * len(ANSWER_SIGNS) + 1, np.float32)
    surely_not[len(ANSWER_SIGNS) : 2 * len(ANSWER_SIGNS)] = 1
    surely_not[-1] = -9

    def told(middle: float) -> float:
        blended = {"answerable_small": surely_not, "answerable_size": np.array([np.log(middle), 4.0], np.float32)}
        ranker = Ranker(RankingWeights(**{**one.tensors(), **blended}, fingerprint="", card={}))
        found = ranker.answerable(features, ranker.score(features))
        assert found is not None
        return found

    large = Ranker(
        RankingWeights(**{**one.tensors(), "answerable_small": np.empty(0, np.float32)}, fingerprint="", card={})
    )
    assert told(0.01) == pytest.approx(large.answerable(features, large.score(features)), abs=1e-3)
    assert told(1_000) < 0.001 < told(len(features.pool))


def test_a_recall_below_the_wanted_probability_gives_nothing(alice: UserMemory) -> None:
    talk(alice)
    told = alice.recall("When did the kiln break?", strategy="learned").answerable
    assert told is not None
    assert alice.recall("When did the kiln break?", strategy="learned", min_probability=told * 0.99).hits
    assert not alice.recall("When did the kiln break?", strategy="learned", min_probability=1.0).hits
    with pytest.raises(InvalidInputError, match="from 0 to 1"):
        alice.recall("x", strategy="learned", min_probability=1.5)


def test_filters_hold(alice: UserMemory) -> None:
    ids = talk(alice)
    by_ben = alice.recall("greyhound kiln coil", strategy="learned", where=Where(speaker="Ben"))
    assert {hit.speaker for hit in by_ben.hits} == {"Ben"}
    assert {hit.id for hit in by_ben.hits} == {ids[1], ids[3], ids[5]}
    assert not alice.recall("greyhound", strategy="learned", as_of=datetime(2001, 1, 1, tzinfo=UTC)).hits


def test_items_are_ranked_beside_steps(alice: UserMemory) -> None:
    ids = talk(alice)
    alice.add({"kind": "semantic", "name": "Pickle", "summary": "Pickle is Anna's greyhound.", "source": "talk"})
    every = alice.recall("Who is Pickle the greyhound?", strategy="learned", k=20).hits
    assert {"step", "semantic"} <= {hit.kind for hit in every}
    alone = alice.recall("Who is Pickle the greyhound?", strategy="learned", kinds="semantic").hits
    assert [hit.kind for hit in alone] == ["semantic"]
    steps = alice.recall("Who is Pickle the greyhound?", strategy="learned", kinds="step").hits
    assert {hit.id for hit in steps} == set(ids)


def test_an_item_that_changed_is_found_by_its_new_words(alice: UserMemory) -> None:
    added = alice.add({"kind": "semantic", "name": "Dog", "summary": "Anna has a greyhound.", "source": "talk"})
    assert alice.recall("greyhound", strategy="learned").hits[0].id == added.id
    alice.edit(added.id, summary="Anna has a parrot.")
    (hit,) = alice.recall("parrot", strategy="learned").hits
    assert "parrot" in hit.text
    alice.remove(added.id)
    assert not alice.recall("parrot", strategy="learned").hits


def test_what_was_just_stored_is_found_at_once(alice: UserMemory) -> None:
    talk(alice)
    alice.recall("kiln", strategy="learned")
    (new,) = alice.remember("The locksmith comes on Tuesday.", thread_id="t").step_ids
    assert alice.recall("When does the locksmith come?", strategy="learned").hits[0].id == new


def test_users_are_kept_apart(memory: Memory, alice: UserMemory) -> None:
    talk(alice)
    bob = memory.user("bob")
    (own,) = bob.remember("A kiln is an oven.").step_ids
    assert [hit.id for hit in bob.recall("kiln", strategy="learned").hits] == [own]


def test_nothing_stored_gives_nothing(alice: UserMemory) -> None:
    recall = alice.recall("kiln", strategy="learned")
    assert recall.hits == ()
    alice.remember("x")
    assert len(alice.recall("?!", strategy="learned").hits) <= 1


def test_weights_for_another_embedder_are_refused_and_said(tmp_path: Path, memory: Memory) -> None:
    path = tmp_path / "other.safetensors"
    save_weights(weights_of(memory, fingerprint="0" * 32), path)
    with pytest.raises(ConfigError, match="another embedder"):
        load_weights(path, memory.embedder.fingerprint)
    settings = Settings(background=False, weights=str(path))
    with Memory.open(tmp_path / "second", settings=settings) as other:
        user = other.user("alice")
        talk(user)
        recall = user.recall("kiln", strategy="learned")
        assert [hit.id for hit in recall.hits] == [
            hit.id for hit in user.recall("kiln", strategy="rrf_neighbours").hits
        ]
        assert "another embedder" in recall.degraded[0]
        assert recall.answerable is None


def test_weights_come_back_as_they_were_written(tmp_path: Path, memory: Memory) -> None:
    one = weights_of(memory)
    save_weights(one, tmp_path / "w.safetensors")
    again = load_weights(tmp_path / "w.safetensors", memory.embedder.fingerprint)
    assert all(np.array_equal(array, again.tensors()[name]) for name, array in one.tensors().items())


@pytest.mark.parametrize("content", [b"", b"{}", b"\x08\x00\x00\x00\x00\x00\x00\x00{}      "])
def test_a_damaged_file_is_no_weights(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "w.safetensors"
    path.write_bytes(content)
    with pytest.raises(CorruptFileError, match="weights"):
        load_weights(path)


@pytest.mark.parametrize("name", ["bundled", "static"])
def test_shipped_weights_fit_their_embedder_and_say_what_they_learned_from(name: str) -> None:
    source = shipped_weights(name)
    assert source is not None
    shipped = load_weights(source, open_embedder(name).fingerprint)
    assert shipped.parameters < 1_000_000
    assert len(shipped.answerable) == 3 * len(ANSWER_SIGNS) + 1
    assert shipped.card["licenses"] == ["Apache-2.0"]
