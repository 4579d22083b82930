"""Training the learned ranking: what it learns, splits, and what the command writes."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from hexamem.cli.app import run
from hexamem.errors import InvalidInputError
from hexamem.evals import load_conversations
from hexamem.evals.asked_questions import AskedQuestion
from hexamem.evals.learning import Example, LearningSettings, learn_answerable, learn_blend, learn_ranking
from hexamem.evals.records import Question
from hexamem.evals.small_memories import small_memories
from hexamem.evals.training import cross_validate, train
from hexamem.retrieval.ranker import Ranker, large_share
from hexamem.retrieval.ranking_weights import load_weights
from hexamem.retrieval.signals.cues import CUES
from hexamem.retrieval.signals.features import FEATURES, Features
from hexamem.retrieval.signals.pool import Pool

QUICK = LearningSettings(epochs=3, runs=1, hidden=4, gate=3)


def features_of(values: np.ndarray, cues: np.ndarray) -> Features:
    none = np.empty(0, np.int64)
    ids = tuple(f"step_{number}" for number in range(len(values)))
    return Features(Pool(ids, (), none, none, {}), values.astype(np.float32), cues.astype(np.float32))


def made_up(count: int, seed: int = 0) -> list[Example]:
    """Questions whose evidence is the candidate with the greatest sum of two features, one of them turned by a cue."""
    random = np.random.default_rng(seed)
    examples = []
    for _ in range(count):
        values = random.normal(size=(20, len(FEATURES))).astype(np.float32)
        cues = (random.random(len(CUES)) < 0.5).astype(np.float32)
        merit = values[:, 5] + values[:, 9] * (1 if cues[0] else -1)
        examples.append(Example(values=values, cues=cues, evidence=merit == merit.max()))
    return examples


def asked(examples: list[Example], conversation: str, category: str = "4") -> list[AskedQuestion]:
    questions = []
    for number, example in enumerate(examples):
        turns = tuple((f"D{number}:{index}",) for index in range(len(example.values)))
        gold = tuple(turns[index][0] for index in np.flatnonzero(example.evidence) if category != "5")
        question = Question(f"q{number}", "?", "", category, gold)
        questions.append(AskedQuestion(conversation, question, features_of(example.values, example.cues), turns))
    return questions


def test_it_learns_what_a_cue_turns_round() -> None:
    how = LearningSettings(epochs=8, runs=1, rate=1e-2, drop=0.0, drop_signals=0.0, prior=0.0, hidden=4)
    ranker = Ranker(learn_ranking(made_up(500), how, fingerprint="x"))
    (example,) = made_up(1, seed=9)
    for cue, sign in ((1, 1), (0, -1)):
        cues = np.array([cue, *example.cues[1:]])
        scores = ranker.score(features_of(example.values, cues))
        assert sign * np.corrcoef(scores, example.values[:, 9])[0, 1] > 0.4


def test_the_same_seed_makes_the_same_weights_and_several_runs_are_one_scorer() -> None:
    examples = made_up(20)
    first, again, two = (
        learn_ranking(examples, replace(QUICK, epochs=1, runs=runs), fingerprint="x") for runs in (1, 1, 2)
    )
    assert all(np.array_equal(array, again.tensors()[name]) for name, array in first.tensors().items())
    assert (first.hidden.shape[1], two.hidden.shape[1]) == (4, 8)
    features = features_of(examples[0].values, examples[0].cues)
    alone, both = (Ranker(weights).score(features) for weights in (first, two))
    assert np.abs(both - alone).max() > 1e-4


def test_leaving_one_out_never_trains_on_it() -> None:
    # The third conversation's evidence is the worst candidate: what is learned from the others fails on it alone.
    turned = [replace(example, values=-example.values) for example in made_up(20, seed=3)]
    every = asked(made_up(60), "a") + asked(made_up(60, seed=2), "b") + asked(turned, "c")
    how = LearningSettings(epochs=8, runs=1, rate=1e-2, drop=0.0)
    recall = {row["conversation"]: row["recall"]["5"] for row in cross_validate(every, how, fingerprint="x")}
    assert recall["c"] < 0.3 < recall["a"]
    with pytest.raises(InvalidInputError, match="at least 2"):
        cross_validate(asked(made_up(3), "a"), how, fingerprint="x")


def test_the_probability_of_an_answer_is_learned_from_questions_without_one_and_blended_by_size() -> None:
    every = [entry for name in "abc" for entry in asked(made_up(15), name) + asked(made_up(5), name, "5")]
    assert train(every, QUICK, fingerprint="x").answerable.size
    answered = [entry for entry in every if entry.question.category != "5"]
    assert not train(answered, QUICK, fingerprint="x").answerable.size
    random = np.random.default_rng(0)
    signs = random.normal(size=(400, 3)).astype(np.float32)
    slopes = learn_answerable(signs, random.random(400) < 1 / (1 + np.exp(-3 * signs[:, 1])))[:-1].reshape(3, -1)[2]
    assert (slopes.argmax(), abs(slopes[0]) < 0.5) == (1, True)
    candidates = random.integers(4, 400, 8_000).astype(float)
    large, small = random.normal(0, 2, 8_000), random.normal(0, 2, 8_000)
    share = large_share(candidates, np.array([np.log(80), 2.0], np.float32))
    known = random.random(8_000) < 1 / (1 + np.exp(-(share * large + (1 - share) * small)))
    middle, steep = learn_blend(large, small, known, candidates, np.ones(8_000)).tolist()
    assert (np.exp(middle), steep) == (pytest.approx(80, rel=0.2), pytest.approx(2, rel=0.4))


@pytest.fixture
def two_conversations(tmp_path: Path) -> Path:
    folder = tmp_path / "talks"
    folder.mkdir()
    for name, thing in (("one", "kiln"), ("two", "tandem")):
        texts = [f"Nothing new today, number {number}." for number in range(6)]
        texts[3] = f"The {thing} broke yesterday."
        turns = [{"speaker": "AB"[n % 2], "dia_id": f"D1:{n + 1}", "text": text} for n, text in enumerate(texts)]
        questions = [
            {"question": f"What happened to the {thing}?", "answer": "broke", "evidence": ["D1:4"], "category": 4},
            {"question": "What is the parrot called?", "answer": "", "evidence": [], "category": 5},
        ]
        talk = {"license": "Apache-2.0", "session_1_date_time": "1:56 pm on 8 May, 2023", "session_1": turns}
        (folder / f"{name}.json").write_text(json.dumps({**talk, "qa": questions}), encoding="utf-8")
    return folder


def test_the_command_writes_weights_that_name_what_they_learned_from(
    two_conversations: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "w.safetensors"
    static, quick = ["--embedder", "static"], ["--epochs", "1", "--runs", "1", "--json"]
    assert run(["train", str(two_conversations), "--out", str(out), *static, *quick, "--cross-validate"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert [fold["conversation"] for fold in report["cross_validation"]] == ["locomo-one", "locomo-two"]
    weights = load_weights(out)
    assert weights.card["conversations"] == ["locomo-one", "locomo-two"]
    assert weights.card["unanswerable"] == 4  # each has one of its own, and one question of the other conversation
    learned = ["-s", "learned", "--weights", str(out), "--json", "-"]
    assert run(["eval", "locomo", str(two_conversations), *static, *learned]) == 0
    (measured,) = json.loads(capsys.readouterr().out)
    assert (measured["weights"], measured["degraded"], measured["recall"]["all"]["10"]) == (str(out), {}, 1)
    assert run(["train", str(two_conversations)]) == 2
    assert "--out" in capsys.readouterr().err


def test_small_memories_hold_all_of_the_evidence_or_none(two_conversations: Path) -> None:
    first, _ = load_conversations(two_conversations)
    turns = [str(message.id) for message in first.messages]
    places = [(0,), (1,), (4,), (5,), (0, 5)]
    questions = tuple(Question(f"q{n}", "?", "", "1", tuple(turns[at] for at in gold)) for n, gold in enumerate(places))
    memories = small_memories([replace(first, questions=questions)], sizes=(3,))
    assert memories
    for memory in memories:
        inside = {str(message.id) for message in memory.messages}
        assert (memory.id.startswith(first.id), len(inside)) == (True, 3)
        assert {bool(question.evidence) for question in memory.questions} == {True, False}
        assert all(inside.issuperset(question.evidence) for question in memory.questions)
