"""Late interaction: questions compared with texts token by token."""

from __future__ import annotations

import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib import resources
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.embeddings import DeterministicFakeEmbedding

from hexamem import Memory
from hexamem.retrieval.evidence import EvidenceWeights, Need, rank_evidence
from hexamem.stores.embedders import open_embedder
from hexamem.stores.embedders.late_interaction import Bags, distinct_rows, late_interaction
from hexamem.stores.embedders.static import StaticEmbedder
from hexamem.stores.embedders.token_bags import joined_bags, token_bag

TURNS = [
    "Nora: Morning! Sorry I was quiet all week, the office was chaos, the printer broke, and in the evenings "
    "I practise the cello until the neighbours complain.",
    "Nora: The neighbours moved out last week and the office is quiet.",
    "Ben: We had soup for dinner, then a long walk.",
    "妹妹：这周公司忙疯了，打印机又坏，晚上回家还要练大提琴，邻居都来敲门了。",
    "妹妹：邻居上周搬走了，公司也清静了。",
    "哥哥：晚饭喝了汤，然后散步。",
]
ODD = ["", " ", "\x00", "\ud800", "🙂🙂", "!!!", "龘", "Привет", "a" * 10_000, "猫" * 10_000, "\u0301"]


@pytest.fixture(scope="module")
def bundled() -> StaticEmbedder:
    return StaticEmbedder()


def _best(embedder: StaticEmbedder, question: str, texts: Sequence[str]) -> str:
    return texts[int(np.argmax(embedder.late_interaction(question, texts)))]


@pytest.mark.parametrize(
    ("question", "answer"),
    [("Which musical instrument does Nora play?", 0), ("妹妹会什么乐器？", 3)],
)
def test_one_word_that_answers_is_found_in_a_long_text_about_much_else(
    bundled: StaticEmbedder, question: str, answer: int
) -> None:
    texts = TURNS[:3] if question.isascii() else TURNS[3:]
    assert _best(bundled, question, texts) == TURNS[answer]


def test_meaning_crosses_from_english_to_chinese(bundled: StaticEmbedder) -> None:
    assert _best(bundled, "Who has trouble because of a musical instrument?", TURNS[3:]) == TURNS[3]


@given(
    question=st.lists(st.integers(0, 7), max_size=4),
    texts=st.lists(st.lists(st.integers(0, 7), max_size=5), max_size=6),
    seed=st.integers(0, 3),
)
def test_scores_are_the_sum_over_tokens_of_the_best_likeness(
    question: list[int], texts: list[list[int]], seed: int
) -> None:
    table = np.random.default_rng(seed).normal(size=(8, 16)).astype(np.float32)
    places = np.array([token for text in texts for token in text], np.int64)
    lengths = np.array([len(text) for text in texts], np.int64)
    scores = late_interaction(table[question], Bags(table, places, lengths))

    def likeness(one: int, other: int) -> float:
        a, b = table[one], table[other]
        return float(a @ b) / float(np.linalg.norm(a) * np.linalg.norm(b))

    filled = [text for text in texts if text]
    expected = [0.0] * len(texts)
    for token in question:
        best = [max((likeness(token, other) for other in text), default=0.0) for text in texts]
        holding = sum(max(0.0, one) ** 4 for one, text in zip(best, texts, strict=True) if text)
        rarity = math.sqrt(math.log1p((len(filled) - holding + 0.5) / (holding + 0.5)))
        for n, one in enumerate(best):
            expected[n] += float(np.linalg.norm(table[token])) * rarity * one
    assert scores.dtype == np.float32
    np.testing.assert_allclose(scores, expected, rtol=1e-3, atol=1e-3)


@given(st.permutations(range(len(TURNS))))
def test_the_order_of_the_texts_changes_no_score(bundled: StaticEmbedder, order: list[int]) -> None:
    question = "What does Nora play, 妹妹 too?"
    straight = bundled.late_interaction(question, TURNS)
    shuffled = bundled.late_interaction(question, [TURNS[n] for n in order])
    np.testing.assert_allclose(shuffled, straight[order], rtol=1e-5)


def test_a_word_that_every_text_holds_weighs_less_than_one_that_few_hold(bundled: StaticEmbedder) -> None:
    texts = ["garden rain", "garden tea", "garden bread", "rain bus"]
    both = bundled.late_interaction("garden rain", texts)
    assert both[0] == both.max()
    assert both[3] > both[1]
    assert both[3] > both[2]


def test_a_question_that_repeats_a_word_is_scored_as_if_it_stood_once(bundled: StaticEmbedder) -> None:
    np.testing.assert_allclose(
        bundled.late_interaction("cello cello cello dinner", TURNS), bundled.late_interaction("cello dinner", TURNS)
    )
    rows = np.arange(8, dtype=np.float32).reshape(4, 2)
    np.testing.assert_array_equal(distinct_rows(["b", "a", "b", "c"], rows), rows[[0, 1, 3]])


def test_any_text_gets_a_finite_score_and_one_without_tokens_gets_zero(bundled: StaticEmbedder) -> None:
    for question in (*ODD, "What does Nora play?", "妹妹会什么乐器？"):
        scores = bundled.late_interaction(question, [*TURNS, *ODD])
        assert scores.shape == (len(TURNS) + len(ODD),)
        assert np.isfinite(scores).all()
        assert scores[len(TURNS)] == 0.0
        assert bundled.late_interaction(question, []).shape == (0,)
    assert not bundled.late_interaction("", TURNS).any()


def test_what_was_compared_before_changes_no_score(bundled: StaticEmbedder) -> None:
    question = "妹妹 plays which instrument?"
    bundled.late_interaction("Ελλάδα Москва 東京", [*ODD, *reversed(TURNS), "Афины и 京都"])
    np.testing.assert_array_equal(
        bundled.late_interaction(question, TURNS), StaticEmbedder().late_interaction(question, TURNS)
    )


def test_threads_get_the_scores_that_one_alone_gets() -> None:
    shared, alone = StaticEmbedder(), StaticEmbedder()
    questions = [f"{turn[:12]} 大提琴 {n}" for n, turn in enumerate(TURNS * 5)]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda question: shared.late_interaction(question, [question, *TURNS]), questions))
    for question, scores in zip(questions, found, strict=True):
        np.testing.assert_allclose(scores, alone.late_interaction(question, [question, *TURNS]), rtol=1e-5)


def test_english_texts_are_compared_without_the_lexicon(tmp_path: Path) -> None:
    for file in resources.files("hexamem.stores.embedders").joinpath("static_model").iterdir():
        if file.name not in {"lexicon.safetensors", "words.txt"}:
            tmp_path.joinpath(file.name).write_bytes(file.read_bytes())
    assert _best(StaticEmbedder(tmp_path), "Which instrument does Nora play?", TURNS[:3]) == TURNS[0]


def test_an_embedder_without_vectors_of_tokens_says_so() -> None:
    assert open_embedder(DeterministicFakeEmbedding(size=16)).late_interaction("who?", ["Ben"]) is None


def test_a_bag_holds_each_token_once() -> None:
    bag = token_bag([7, 2, 7], ["b", "a", "b"])
    assert (np.frombuffer(bag.pieces, np.intc).tolist(), bag.others) == ([2, 7], ("b", "a"))
    assert len(bag) == 4


def test_bags_are_joined_over_one_list_of_their_tokens() -> None:
    bags = [token_bag([2], ["b", "a"]), token_bag([]), token_bag([9, 2], ["a"])]
    pieces, others, places = joined_bags(bags, 10)
    every = [*pieces.tolist(), *others]
    assert every == [2, 9, "b", "a"]
    assert [every[place] for place in places] == [2, "b", "a", 2, 9, "a"]


def test_texts_are_compared_alike_by_their_bags(bundled: StaticEmbedder) -> None:
    texts = [*TURNS, *ODD]
    question = "who went to 東京 with the cello?"
    by_bags = bundled.compare_bags(question, bundled.token_bags(texts))
    np.testing.assert_array_equal(by_bags, bundled.late_interaction(question, texts))


def test_candidates_of_which_none_is_alike_are_ranked_all_the_same(tmp_path: Path) -> None:
    """One without a token that is known has 0, others may have less."""
    with Memory.open(tmp_path / "home") as memory:
        ids = memory.user("ann").remember(["harbour", "\U0001f419"], thread_id="chat").step_ids
        values = memory.embedder.compare_bags("xx", memory.embedder.token_bags(["harbour", "\U0001f419"])).tolist()
        assert values[0] < 0
        assert values[1] == 0
        with memory.ledger.read("ann") as tx:
            need = Need(text="xx", rankings={"vector": list(ids)})
            ((found,), _, _) = rank_evidence(tx, [need], memory.embedder, EvidenceWeights())
    assert {one.id for one in found.ranked} == set(ids)
