"""Failure modes of questions: rules in two languages, the trained classifier, and the labels that it is measured on."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path

import numpy as np
import pytest

from hexamem.errors import CorruptFileError
from hexamem.evals import load_conversations
from hexamem.evals.study.failure_mode_labels import (
    cohen_kappa,
    labelled_questions,
    read_labels,
    seen_by,
    train_failure_mode_weights,
)
from hexamem.retrieval.failure_modes import (
    FAILURE_MODES,
    FailureModeWeights,
    failure_mode_cues,
    failure_mode_probabilities,
    failure_modes_by_rules,
    failure_modes_of,
    learn_failure_modes,
    shipped_failure_modes,
)
from hexamem.stores.embedders import Embedder, open_embedder


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    return open_embedder("bundled")


@pytest.mark.parametrize(
    ("question", "modes"),
    [
        ("When did Rosa open her bakery?", {"temporal"}),
        ("罗莎的面包店是什么时候开张的？", {"temporal"}),
        ("How long did the repair take?", {"temporal"}),
        ("Which colour did Rosa finally choose?", {"version_conflict"}),
        ("罗莎最终选了什么颜色？", {"version_conflict"}),
        ("Which dogs has Rosa looked after?", {"aggregation"}),
        ("罗莎养过哪些狗？", {"aggregation"}),
        ("Did Rosa ever mention a sister?", {"existence"}),
        ("罗莎有没有提到过姐姐？", {"existence"}),
        ("Who baked the bread?", set()),
        ("面包是谁烤的？", set()),
        ("For which dates was the opening planned, and when was it finally held?", {"temporal", "version_conflict", "aggregation"}),
    ],
)  # fmt: skip
def test_rules_tell_modes_in_both_languages(question: str, modes: set[str]) -> None:
    assert failure_modes_by_rules(question) == modes


def test_a_question_without_words_has_no_mode_and_no_error() -> None:
    assert failure_modes_by_rules("") == frozenset()
    assert np.isfinite(failure_mode_cues("？！")).all()


def test_training_learns_what_a_vector_tells() -> None:
    random = np.random.default_rng(0)
    vectors = random.normal(size=(200, 6)).astype(np.float32)
    cues = np.zeros((200, len(failure_mode_cues("x"))), np.float32)
    labels = np.stack([vectors[:, place] > 0 for place in range(4)], axis=1).astype(float)
    weights = learn_failure_modes(cues, vectors, labels, fingerprint="made up", vector_penalty=1.0)
    texts = ["x"] * 200
    likely = failure_mode_probabilities(texts, vectors, weights) >= 0.5
    assert ((likely == (labels > 0.5)).mean(axis=0) > 0.9).all()


def test_the_shipped_weights_are_those_that_the_labels_give(embedder: Embedder) -> None:
    shipped, made = shipped_failure_modes(), train_failure_mode_weights(embedder)
    assert isinstance(shipped, FailureModeWeights)
    assert shipped.fingerprint == embedder.fingerprint
    texts = [one.question for one in labelled_questions()]
    vectors = np.stack([embedder.embed_query(one) for one in texts])
    told = [failure_mode_probabilities(texts, vectors, one) for one in (shipped, made)]
    assert np.abs(told[0] - told[1]).max() < 0.02


def test_another_embedder_falls_back_to_the_rules(embedder: Embedder) -> None:
    question = "When did Rosa open her bakery?"
    vector = embedder.embed_query(question)[None, :]
    assert failure_modes_of([question], vector, "of another embedder") == [failure_modes_by_rules(question)]
    assert failure_modes_of([question]) == [failure_modes_by_rules(question)]
    assert failure_modes_of([]) == []


def test_the_shipped_weights_decide_for_their_embedder(embedder: Embedder) -> None:
    texts = ["When did Rosa open her bakery?", "罗莎的面包店是什么时候开张的？"]
    vectors = np.stack([embedder.embed_query(one) for one in texts])
    assert all("temporal" in one for one in failure_modes_of(texts, vectors, embedder.fingerprint))


def test_kappa_is_that_of_a_textbook_table_and_guarded() -> None:
    # 20 both yes, 15 both no, 5 and 10 apart: agreement 0.7, by chance 0.5, so 0.4.
    a = [True] * 20 + [False] * 15 + [True] * 5 + [False] * 10
    b = [True] * 20 + [False] * 15 + [False] * 5 + [True] * 10
    assert cohen_kappa(a, b) == pytest.approx(0.4)
    assert cohen_kappa([True, False], [True, False]) == 1.0
    assert cohen_kappa([False, False], [False, False]) is None


def test_every_label_names_a_question_of_the_corpus_and_known_modes() -> None:
    questions = labelled_questions()
    assert len(questions) >= 250
    assert {mode for one in questions for mode in one.first | one.second} == set(FAILURE_MODES)
    assert {mode for one in questions for mode in one.other} == set(FAILURE_MODES)
    assert sum(any("\u4e00" <= sign <= "\u9fff" for sign in one.question) for one in questions) >= 40
    corpus = resources.files("hexamem.evals").joinpath("corpus")
    for name in ("open/zh_care_01.json", "chinese_friends.json"):
        (conversation,) = load_conversations(str(corpus.joinpath(*name.split("/"))))
        texts = {one.text for one in conversation.questions}
        assert {one.question for one in questions if one.conversation == name} <= texts


def test_both_passes_are_kept_and_differ() -> None:
    questions = labelled_questions()
    first, second = seen_by(questions, "first"), seen_by(questions, "second")
    assert (first != second).any()
    assert all((kappa := cohen_kappa(first[:, i], second[:, i])) is not None and kappa > 0.6 for i in range(4))


def test_who_saw_no_labels_agrees_with_the_first_pass_beyond_chance() -> None:
    questions = labelled_questions()
    first, other = seen_by(questions, "first"), seen_by(questions, "other")
    assert (first != other).any()
    assert all((kappa := cohen_kappa(first[:, i], other[:, i])) is not None and kappa > 0.8 for i in range(4))


def test_a_label_that_is_no_mode_is_refused(tmp_path: Path) -> None:
    row = {
        "conversation": "x",
        "id": "1",
        "question": "?",
        "type": "4",
        "first": ["tempral"],
        "second": [],
        "other": [],
    }
    file = tmp_path / "labels.json"
    file.write_text(json.dumps([row]), "utf-8")
    with pytest.raises(CorruptFileError, match=r"question 1: 'tempral' is no mode"):
        read_labels(file)
