"""Scores of answers, each against values worked out by hand."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hexamem.errors import InvalidInputError
from hexamem.evals.qa_scores import bleu1, exact_match, list_f1, locomo_score, plain_f1, squad_f1, stemmed_f1

TEXTS = st.text(alphabet="abcde ,.-the", max_size=30)


@pytest.mark.parametrize(
    ("prediction", "answer", "score"),
    [
        # stems: run, in, park | run, in, park: "the" and the full stop are left out
        ("Running in the parks.", "runs in park", 1.0),
        # 2 of 3 words said, 2 of 2 wanted: 2 · (2/3) · 1 / (5/3)
        ("a red clay pot", "clay pot", 0.8),
        # "and" goes like an article: 2 of 2
        ("tea and bread", "bread, tea", 1.0),
        # bags: "no" is shared once
        ("no no", "no", 2 / 3),
        ("", "", 0.0),
        ("blue", "", 0.0),
        ("The", "a", 0.0),
    ],
)
def test_stemmed_f1(prediction: str, answer: str, score: float) -> None:
    assert stemmed_f1(prediction, answer) == pytest.approx(score)


@pytest.mark.parametrize(
    ("prediction", "answer", "score"),
    [
        # Pottery 1; of "swimming in lakes" two of three stems are "swimming lakes": 0.8. The mean of two gold parts.
        ("pottery, swimming lakes, chess", "swimming in lakes, pottery", (0.8 + 1) / 2),
        # One prediction for three parts: only one is met.
        ("pottery", "pottery, camping, chess", 1 / 3),
        # Without commas the whole is one part: 1 of 2 said for each of two gold parts, F1 2/3.
        ("pottery chess", "pottery, chess", 2 / 3),
    ],
)
def test_lists_are_scored_part_by_part(prediction: str, answer: str, score: float) -> None:
    assert list_f1(prediction, answer) == pytest.approx(score)


@pytest.mark.parametrize(
    ("category", "prediction", "answer", "score"),
    [
        ("1", "pottery", "pottery, chess", 0.5),
        ("2", "7 May 2023", "May 7, 2023", 1.0),
        ("4", "pottery", "pottery, chess", 2 / 3),
        ("3", "Yes", "Yes; she says so twice", 1.0),
        ("4", "Yes", "Yes; she says so twice", 1 / 3),
        ("5", "This is NOT mentioned in the conversation.", "", 1.0),
        ("5", "No information available", "a red car", 1.0),
        ("5", "a red car", "a red car", 0.0),
    ],
)
def test_locomo_scores_by_category(category: str, prediction: str, answer: str, score: float) -> None:
    assert locomo_score(prediction, answer, category) == pytest.approx(score)


def test_a_category_that_locomo_does_not_have_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="category '6'"):
        locomo_score("x", "x", "6")


@pytest.mark.parametrize(
    ("prediction", "answer", "f1", "bleu"),
    [
        ("clay pot", "clay pot", 1.0, 1.0),
        # precision 2/3, recall 1; long enough for no penalty
        ("red clay pot", "clay pot", 0.8, 2 / 3),
        # precision 1, recall 1/3; penalty exp(1 - 3/1)
        ("pot", "red clay pot", 0.5, math.exp(-2)),
        # clipped: "pot" counts once
        ("pot pot", "pot", 2 / 3, 0.5),
        # no stems; the hyphen parts two words: one of two is shared
        ("runs", "well-runs", 2 / 3, math.exp(-1)),
        ("running", "runs", 0.0, 0.0),
        ("The", "a", 1.0, 0.0),
        ("", "pot", 0.0, 0.0),
    ],
)
def test_plain_f1_and_bleu1(prediction: str, answer: str, f1: float, bleu: float) -> None:
    assert plain_f1(prediction, answer) == pytest.approx(f1)
    assert bleu1(prediction, answer) == pytest.approx(bleu)


@pytest.mark.parametrize(
    ("prediction", "answers", "f1", "exact"),
    [
        ("the Old Mill", ["Old Mill."], 1.0, 1.0),
        ("old mill road", ["the old mill", "mill road"], 0.8, 0.0),
        ("yes", ["yes"], 1.0, 1.0),
        # Shares a word, and is still no answer to a question of yes or no.
        ("yes it is", ["yes"], 0.0, 0.0),
        ("no", ["no idea"], 0.0, 0.0),
        # "and" is a word here
        ("tea and bread", ["tea bread"], 0.8, 0.0),
    ],
)
def test_hotpotqa_takes_the_best_gold_answer(prediction: str, answers: list[str], f1: float, exact: float) -> None:
    assert squad_f1(prediction, answers) == pytest.approx(f1)
    assert exact_match(prediction, answers) == exact


def test_no_gold_answer_is_refused() -> None:
    for score in (squad_f1, exact_match):
        with pytest.raises(InvalidInputError, match="without a gold answer"):
            score("x", [])


@given(prediction=TEXTS, answer=TEXTS)
def test_every_score_lies_between_0_and_1_and_f1_is_the_same_both_ways(prediction: str, answer: str) -> None:
    for score in (stemmed_f1, list_f1, plain_f1, bleu1):
        assert 0 <= score(prediction, answer) <= 1
    assert plain_f1(prediction, answer) == pytest.approx(plain_f1(answer, prediction))
    assert stemmed_f1(prediction, answer) == pytest.approx(stemmed_f1(answer, prediction))
