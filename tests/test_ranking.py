"""The learned ranking: its features, its weights, its gate, what it finds, and how it explains itself."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from hexamem import Memory, Settings, UserMemory
from hexamem.errors import ConfigError, CorruptFileError, InvalidInputError
from hexamem.retrieval.ranker import ANSWER_SIGNS
from hexamem.retrieval.ranking_weights import RankingWeights, load_weights, save_weights, shipped_weights
from hexamem.retrieval.signals.cues import CUES, OPERATIONS, operations_of
from hexamem.retrieval.signals.features import FEATURES, Features, compute_features
from hexamem.retrieval.signals.pool import make_pool
from hexamem.retrieval.signals.question import ParsedQuestion, read_question
from hexamem.stores.embedders import open_embedder
from hexamem.stores.embedders.static import StaticEmbedder
from hexamem.stores.growing_array import PieceVectors
from hexamem.stores.working_set import StepFacts, WorkingSet

from .anna_and_ben import TALK

START = datetime(2023, 5, 8, 13, 56, tzinfo=UTC)
CHINESE = [("王若楠", "我搬到良渚了，房租三千六。"), ("高远", "恭喜！我家柯基瘦了两公斤。")]
PRICE = "How much is a heating coil for the kiln?"
BREAK = "When did the kiln break?"


@pytest.fixture
def memory(plain_memory: Memory) -> Memory:
    return plain_memory


def talk(user: UserMemory) -> tuple[str, ...]:
    messages = [{"role": "user", "name": name, "content": text} for name, text in TALK]
    return user.remember(messages, thread_id="t").step_ids


def test_an_answer_beside_the_words_of_the_question_is_found_and_its_reasons_add_up(alice: UserMemory) -> None:
    assert alice.recall("kiln").hits == ()
    ids = talk(alice)
    assert ids[2] in [hit.id for hit in alice.recall("What is Anna's greyhound called?", k=3).hits]
    recall = alice.recall(PRICE)
    for hit in recall.hits:
        assert sum(reason.share for reason in hit.why) == pytest.approx(hit.score, abs=1e-3)
    assert {"dense", "late", "bm25"} & {reason.name for reason in recall.hits[0].why}
    assert set(recall.gate or {}) == set(OPERATIONS)
    assert all(0 <= value <= 1 for value in (recall.gate or {}).values())
    assert (alice.recall(BREAK).gate or {})["temporal_ordering"] >= 0.5


def test_below_the_wanted_probability_of_an_answer_nothing_is_found(memory: Memory, alice: UserMemory) -> None:
    bob = memory.user("bob")
    bob.remember(["The kiln broke.", "We ate soup."])
    assert bob.recall(BREAK).answerable is None
    unknown = bob.recall(BREAK, min_probability=0.1)
    assert not unknown.hits
    assert any("with so few steps" in line for line in unknown.degraded)
    talk(alice)
    recall = alice.recall(BREAK)
    assert recall.answerable is not None
    assert 0 <= recall.answerable <= 1
    assert recall.degraded == ()
    assert alice.recall(BREAK, min_probability=recall.answerable * 0.99).hits
    assert not alice.recall(BREAK, min_probability=1.0).hits
    with pytest.raises(InvalidInputError, match="from 0 to 1"):
        alice.recall("x", min_probability=1.5)


@pytest.fixture(scope="module")
def embedder() -> StaticEmbedder:
    return StaticEmbedder()


def facts(lines: list[tuple[str, str]], thread: str = "t", day: int = 0, first: int = 0) -> list[StepFacts]:
    at = [int((START + timedelta(days=day, minutes=turn)).timestamp()) for turn in range(first, first + len(lines))]
    return [
        StepFacts(f"step_{thread}_{turn}", thread, turn, speaker, "user", text, text, at[turn - first])
        for turn, (speaker, text) in enumerate(lines, first)
    ]


def working_set(embedder: StaticEmbedder, *batches: list[StepFacts]) -> WorkingSet:
    made = WorkingSet(embedder.dimension, PieceVectors(embedder.token_model))
    for batch in batches:
        made.add(batch, embedder.embed_documents([f"{step.speaker}: {step.text}" for step in batch]))
    return made


def read(embedder: StaticEmbedder, steps: WorkingSet, question: str) -> tuple[ParsedQuestion, Features]:
    asked = read_question(question, steps, embedder, UTC)
    return asked, compute_features(asked, make_pool(steps.ids, [], steps), steps)


def test_features_are_those_that_the_weights_were_trained_on(embedder: StaticEmbedder) -> None:
    """Values of an earlier version, which read each text from the stores; a change here needs new weights."""
    lines = [*TALK, *CHINESE]
    steps = WorkingSet(embedder.dimension, PieceVectors(embedder.token_model))
    batch = [
        StepFacts(f"step_{turn}", "t", turn, name, "user", text, text, 1_683_554_160 + turn // 4 * 86_400 + 60 * turn)
        for turn, (name, text) in enumerate(lines)
    ]
    steps.add(batch, embedder.embed_documents([f"{name}: {text}" for name, text in lines]))
    for question, expected in json.loads(Path(__file__).with_name("feature_values.json").read_text("utf-8")).items():
        values = read(embedder, steps, question)[1].values
        for column, name in enumerate(FEATURES):
            assert values[:, column].tolist() == pytest.approx(expected.get(name, [0.0] * len(lines)), abs=2e-3), name


def test_a_text_whose_references_were_resolved_is_compared_as_if_it_had_been_so_from_the_beginning(
    embedder: StaticEmbedder,
) -> None:
    first, last = facts(TALK), facts([("Ben", "柯基 is fine."), ("Ann", "And the coil.")], first=len(TALK))
    texts = {1: "The kiln costs a heating coil. 高远", 3: "", 6: "The greyhound is fine."}
    resolved = [step._replace(text=texts.get(row, step.text)) for row, step in enumerate([*first, *last])]
    changed = [resolved[row] for row in texts]
    steps = working_set(embedder, first, last)
    assert [steps.compare(step) for step in (*changed, first[0])] == ["resolved"] * 3 + ["same"]
    steps.replace(changed, embedder.embed_documents([f"{step.speaker}: {step.text}" for step in changed]))
    anew = working_set(embedder, resolved)
    for question in ("How much did Ben say the coil costs?", "Is the greyhound fine? 高远"):
        values = [read(embedder, either, question)[1].values for either in (steps, anew)]
        assert np.allclose(*values, atol=1e-4)


def test_neighbours_never_reach_across_sessions_and_threads(embedder: StaticEmbedder) -> None:
    later = facts([("Ben", "Fine weather.")], day=3, first=6)
    steps = working_set(embedder, facts(TALK), later)
    assert (steps.session.tolist(), steps.before[6], steps.after[5]) == ([0] * 6 + [1], -1, -1)
    assert read(embedder, steps, "a new heating coil")[1].column("late_before1")[6] == 0
    mixed = [step for pair in zip(facts(TALK, "a"), facts(TALK[::-1], "b"), strict=True) for step in pair]
    steps = working_set(embedder, mixed[:5], mixed[5:])
    rows = [steps.row_of[f"step_a_{turn}"] for turn in range(6)]
    assert [int(steps.after[row]) for row in rows] == [*rows[1:], -1]
    assert [int(steps.before[row]) for row in rows] == [-1, *rows[:-1]]
    whole, question = working_set(embedder, mixed), "How much did Ben say the coil costs?"
    assert np.allclose(read(embedder, steps, question)[1].values, read(embedder, whole, question)[1].values, atol=1e-4)


def test_a_date_in_the_question_meets_what_was_stored_then(embedder: StaticEmbedder) -> None:
    steps = working_set(embedder, facts(TALK[:1], "a"), facts(TALK[3:4], "b", day=36))
    for question, inside in (
        ("What did they do in May 2023?", [1, 0]), ("What did they do in June?", [0, 1]),
        ("What happened on 8 May 2023?", [1, 0]), ("2023年6月他们做了什么？", [0, 1]), ("What did they do?", [0, 0]),
    ):  # fmt: skip
        assert read(embedder, steps, question)[1].column("in_dates").tolist() == inside, question
    for question, temporal in ((BREAK, True), ("陶窑是什么时候坏的？", True), ("Where does Ben live now?", False)):
        cues = read(embedder, steps, question)[0].cues
        assert (operations_of(cues)["temporal_ordering"] > 0.5) is temporal, question


def random_weights(seed: int = 0, fingerprint: str = "") -> RankingWeights:
    random, features, cues = np.random.default_rng(seed), len(FEATURES), len(CUES)

    def numbers(*shape: int) -> np.ndarray:
        return random.normal(0, 0.3, shape).astype(np.float32)

    return RankingWeights(
        deviation=np.abs(numbers(features)),
        linear=numbers(features),
        gate_in=numbers(cues, 3), gate_bias=numbers(3), gate_out=numbers(3, features),
        hidden=numbers(features, 4), hidden_cues=numbers(cues, 4), hidden_bias=numbers(4), hidden_out=numbers(4),
        answerable=np.ones(3 * len(ANSWER_SIGNS) + 1, np.float32),
        fingerprint=fingerprint,
    )  # fmt: skip


def test_weights_of_another_embedder_and_damaged_ones_are_refused(tmp_path: Path) -> None:
    weights, path = random_weights(fingerprint="0" * 32), tmp_path / "w.safetensors"
    save_weights(weights, path)
    again = load_weights(path, "0" * 32).tensors()
    assert all(np.array_equal(array, again[name]) for name, array in weights.tensors().items())
    with pytest.raises(ConfigError, match="another embedder"):
        load_weights(path, "1" * 32)
    settings = Settings(background=False, mode="off", weights=str(path))
    with Memory.open(tmp_path / "home", embedder="static", settings=settings) as memory:
        user = memory.user("alice")
        talk(user)
        recall, plain = user.recall("kiln"), user.recall("kiln", strategy="rrf_neighbours")
        assert [hit.id for hit in recall.hits] == [hit.id for hit in plain.hits]
        assert ("another embedder" in recall.degraded[0], recall.answerable) == (True, None)
    for content in (b"", b"{}", b"\x08\x00\x00\x00\x00\x00\x00\x00{}      "):
        path.write_bytes(content)
        with pytest.raises(CorruptFileError, match="weights"):
            load_weights(path)


@pytest.mark.parametrize("name", ["bundled", "static"])
def test_shipped_weights_fit_their_embedder_and_say_what_they_learned_from(name: str) -> None:
    source = shipped_weights(name)
    assert source is not None
    weights = load_weights(source, open_embedder(name).fingerprint)
    assert weights.parameters < 1_000_000
    assert len(weights.answerable) == 3 * len(ANSWER_SIGNS) + 1
    assert weights.card["licenses"] == ["Apache-2.0"]
