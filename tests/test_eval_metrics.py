"""Metrics: values worked out by hand, means by group, the bootstrap, scores of answers, agreement of labels."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

from hexamem.errors import InvalidInputError
from hexamem.evals import Conversation
from hexamem.evals.agreement import NOT_MEASURABLE, AgreementTally, agreement
from hexamem.evals.metrics import Aggregator, all_at_k, any_at_k, ndcg_at_k, paired_bootstrap, recall_at_k
from hexamem.evals.qa_scores import bleu1, exact_match, list_f1, locomo_score, plain_f1, squad_f1, stemmed_f1
from hexamem.memory_types import InducedLabels


def test_recall_all_any_and_ndcg_have_the_values_of_their_formulas() -> None:
    ranked, gold = ["a", "x", "b", "c"], {"a", "b", "z"}
    assert [recall_at_k(ranked, gold, k) for k in (2, 3)] == pytest.approx([1 / 3, 2 / 3])
    assert [all_at_k(["x", "a", "b"], {"a", "b"}, k) for k in (1, 2, 3)] == [0, 0, 1]
    assert [any_at_k(["x", "a", "b"], {"a", "b"}, k) for k in (1, 2, 3)] == [0, 1, 1]
    best = 1 + 1 / math.log2(3)
    assert ndcg_at_k(["x", "a", "y", "b"], {"a", "b"}, 5) == pytest.approx((1 / math.log2(3) + 1 / math.log2(5)) / best)
    assert ndcg_at_k(["a"], {"a", "b", "c"}, 1) == 1  # the ideal has room for one only
    assert recall_at_k([], {"a"}, 5) == 0
    assert recall_at_k(["a"], ["a", "a", "b"], 1) == 0.5
    for metric in (recall_at_k, all_at_k, any_at_k, ndcg_at_k):
        refused: list[tuple[list[str], list[str], int, str]] = [
            (["a"], [], 5, "without gold evidence"),
            (["a"], ["a"], 0, "k = 0"),
            (["a", "a"], ["a"], 2, "hold a turn twice"),
        ]
        for turns, evidence, k, message in refused:
            with pytest.raises(InvalidInputError, match=message):
                metric(turns, evidence, k)


def test_means_are_over_questions_by_group_and_by_conversation() -> None:
    scores = Aggregator((2, 1), {"1-4": ("1", "2", "3", "4")})
    scores.add("c1", "1", ["a", "b"], ["a", "b"])
    scores.add("c1", "5", ["x", "y"], ["a"])
    scores.add("c2", "4", ["x", "a"], ["a"], further={"session_recall": {1: 0.0, 2: 1.0}})
    assert scores.counts() == {"all": 3, "1-4": 2, "1": 1, "4": 1, "5": 1}
    assert scores.means("recall") == {
        "all": {"1": pytest.approx(0.5 / 3), "2": pytest.approx(2 / 3)},
        "1-4": {"1": 0.25, "2": 1.0},
        "1": {"1": 0.5, "2": 1.0},
        "4": {"1": 0.0, "2": 1.0},
        "5": {"1": 0.0, "2": 0.0},
    }
    further = scores.means("session_recall") or {}
    assert (further["all"], further["1"], scores.means("no such metric")) == ({"1": 0.0, "2": 1.0}, None, None)
    groups = scores.by_conversation()
    assert {name: table["all"]["n"] for name, table in groups.items()} == {"c1": 2, "c2": 1}
    assert sum(table["all"]["n"] * table["all"]["recall"]["2"] for table in groups.values()) == pytest.approx(2)
    with pytest.raises(InvalidInputError, match="'1-4' has the name of a group"):
        scores.add("c1", "1-4", ["a"], ["a"])
    for k_values in ((), (0, 5)):
        with pytest.raises(InvalidInputError, match="k values"):
            Aggregator(k_values)


def test_the_bootstrap_makes_the_weighted_mean_difference_and_the_interval_of_every_possible_draw() -> None:
    weighted = paired_bootstrap([0.9, 0.6, 0.5], [0.5, 0.5, 0.6], weights=[10, 20, 70])
    assert (weighted.mean, weighted.n) == (pytest.approx((0.4 * 10 + 0.1 * 20 - 0.1 * 70) / 100), 3)
    assert (weighted.low, weighted.low <= weighted.mean <= weighted.high) == (pytest.approx(-0.1), True)
    drawn = paired_bootstrap([0.2, 0.0], [0.0, 0.0])  # a quarter of the draws are 0.0, a quarter 0.2
    assert (drawn.low, drawn.high) == pytest.approx((0.0, 0.2))
    a, b = [0.1, 0.9, 0.4, 0.7], [0.2, 0.5, 0.6, 0.1]
    forward, backward = paired_bootstrap(a, b), paired_bootstrap(b, a)
    assert forward == paired_bootstrap(a, b)
    assert (backward.mean, backward.low, backward.high) == pytest.approx((-forward.mean, -forward.high, -forward.low))


@pytest.mark.parametrize(
    ("score", "prediction", "answer", "value"),
    [
        (stemmed_f1, "Running in the parks.", "runs in park", 1.0),  # "the" and the full stop are left out
        (stemmed_f1, "a red clay pot", "clay pot", 0.8),  # 2 of 3, 2 of 2
        (stemmed_f1, "tea and bread", "bread, tea", 1.0),  # "and" is left out like an article
        (stemmed_f1, "no no", "no", 2 / 3),  # bags: "no" is shared once
        (stemmed_f1, "The", "a", 0.0),
        (list_f1, "pottery, swimming lakes, chess", "swimming in lakes, pottery", (0.8 + 1) / 2),
        (list_f1, "pottery", "pottery, camping, chess", 1 / 3),
        (list_f1, "pottery chess", "pottery, chess", 2 / 3),  # without commas the whole is one part
        (plain_f1, "red clay pot", "clay pot", 0.8),
        (plain_f1, "runs", "well-runs", 2 / 3),  # no stems; the hyphen parts two words
        (plain_f1, "running", "runs", 0.0),
        (plain_f1, "The", "a", 1.0),
        (bleu1, "red clay pot", "clay pot", 2 / 3),
        (bleu1, "pot", "red clay pot", math.exp(-2)),  # precision 1, penalty exp(1 - 3/1)
        (bleu1, "pot pot", "pot", 0.5),  # clipped
        (bleu1, "", "pot", 0.0),
    ],
)
def test_a_score_of_an_answer_has_the_value_of_its_definition(
    score: Callable[[str, str], float], prediction: str, answer: str, value: float
) -> None:
    assert score(prediction, answer) == pytest.approx(value)


def test_locomo_scores_by_category_and_hotpotqa_takes_the_best_gold_answer() -> None:
    for category, prediction, answer, score in (
        ("1", "pottery", "pottery, chess", 0.5),
        ("2", "7 May 2023", "May 7, 2023", 1.0),
        ("3", "Yes", "Yes; she says so twice", 1.0),
        ("4", "Yes", "Yes; she says so twice", 1 / 3),
        ("5", "This is NOT mentioned in the conversation.", "", 1.0),
        ("5", "No information available", "a red car", 1.0),
        ("5", "a red car", "a red car", 0.0),
    ):
        assert locomo_score(prediction, answer, category) == pytest.approx(score)
    for prediction, answers, f1, exact in (
        ("the Old Mill", ["Old Mill."], 1.0, 1.0),
        ("old mill road", ["the old mill", "mill road"], 0.8, 0.0),
        ("yes it is", ["yes"], 0.0, 0.0),  # shares a word, and is still no answer to a question of yes or no
        ("no", ["no idea"], 0.0, 0.0),
        ("tea and bread", ["tea bread"], 0.8, 0.0),  # "and" is a word here
    ):
        assert (squad_f1(prediction, answers), exact_match(prediction, answers)) == (pytest.approx(f1), exact)
    with pytest.raises(InvalidInputError, match="category '6'"):
        locomo_score("x", "x", "6")
    for score_of in (squad_f1, exact_match):
        with pytest.raises(InvalidInputError, match="without a gold answer"):
            score_of("x", [])


def test_agreement_takes_each_score_from_its_definition_and_unlabelled_steps_as_one_label() -> None:
    gold = ["a", "a", "b", "b"]
    assert agreement(gold, ["1", "1", None, None])["ami"] == pytest.approx(1)
    # Both gold classes pure: H(gold) = ln 2, H(induced) = 3/2 ln 2, completeness = 1 - (1/2 ln 2)/(3/2 ln 2)
    scores = agreement(gold, ["1", "2", "3", "3"])
    assert [scores[name] for name in ("v_measure", "homogeneity", "completeness")] == pytest.approx([0.8, 1, 2 / 3])
    assert [scores[name] for name in ("n_gold", "n_labels", "n_steps", "n_unlabelled")] == [2, 3, 4, 0]
    single = agreement(["a", "a"], ["1", "2"])
    assert (single["ami"], single["v_measure"], single["n_labels"], single["note"]) == (None, None, 2, NOT_MEASURABLE)


def test_scopes_are_compared_with_the_partition_and_the_main_event_with_the_action() -> None:
    turns: list[tuple[Any, str | None, str, tuple[str, ...]]] = [  # gold partition and action, scope and events
        (["trip-1", "day-1"], "ASK", "lisbon", ("q", "z")),
        (["trip-1", "day-2"], "ASK", "lisbon", ("q",)),
        (["trip-2", "day-1"], "TELL", "oslo", ("r", "q")),
        ("home", "TELL", "oslo", ("r",)),
        ([], None, "oslo", ("q",)),  # steps without gold are left out
    ]
    gold = {f"t{n}": {"partition": turn[0], "action": turn[1]} for n, turn in enumerate(turns)}
    labels = {f"s{n}": InducedLabels(scope=t[2], events=(), coarse_events=t[3]) for n, t in enumerate(turns)}
    tally = AgreementTally()
    tally.add(Conversation("c", (), gold=gold), {f"s{n}": f"t{n}" for n in range(len(turns))}, labels)
    scope, events = tally.scope() or {}, tally.events() or {}
    assert (scope["n_steps"], scope["n_gold"], scope["n_labels"]) == (4, 4, 2)
    assert scope["homogeneity"] < scope["completeness"] == pytest.approx(1)
    assert (events["n_steps"], events["ami"]) == (4, pytest.approx(1))
