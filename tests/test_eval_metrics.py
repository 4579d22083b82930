"""Retrieval metrics: values worked out by hand, invariants, means by group, and the paired bootstrap."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hexamem.errors import InvalidInputError
from hexamem.evals import Aggregator, all_at_k, any_at_k, ndcg_at_k, paired_bootstrap, recall_at_k

turns = st.sampled_from([f"t{n}" for n in range(12)])
rankings = st.lists(turns, unique=True)
golds = st.sets(turns, min_size=1, max_size=6)
cuts = st.integers(1, 15)


def test_recall_is_the_fraction_of_gold_turns_in_the_top_k() -> None:
    assert recall_at_k(["a", "x", "b", "c"], {"a", "b", "z"}, 2) == pytest.approx(1 / 3)
    assert recall_at_k(["a", "x", "b", "c"], {"a", "b", "z"}, 3) == pytest.approx(2 / 3)
    assert recall_at_k([], {"a"}, 5) == 0


def test_all_and_any_are_the_two_ends_of_recall() -> None:
    ranked, gold = ["x", "a", "b"], {"a", "b"}
    assert [all_at_k(ranked, gold, k) for k in (1, 2, 3)] == [0, 0, 1]
    assert [any_at_k(ranked, gold, k) for k in (1, 2, 3)] == [0, 1, 1]


def test_ndcg_has_the_values_of_its_formula() -> None:
    assert ndcg_at_k(["x", "a", "y", "b"], {"a", "b"}, 5) == pytest.approx(
        (1 / math.log2(3) + 1 / math.log2(5)) / (1 + 1 / math.log2(3))
    )
    assert ndcg_at_k(["x", "a"], {"a"}, 2) == pytest.approx(0.6309297535714575)
    # Three gold turns, a cut of one: the ideal has room for one only.
    assert ndcg_at_k(["a"], {"a", "b", "c"}, 1) == 1


def test_a_gold_turn_given_twice_counts_once() -> None:
    assert recall_at_k(["a"], ["a", "a", "b"], 1) == 0.5
    assert ndcg_at_k(["a", "b"], ["a", "a", "b"], 3) == 1


@given(rankings, golds, cuts)
def test_recall_lies_between_all_and_any(ranked: list[str], gold: set[str], k: int) -> None:
    assert 0 <= all_at_k(ranked, gold, k) <= recall_at_k(ranked, gold, k) <= any_at_k(ranked, gold, k) <= 1


@given(rankings, golds, cuts)
def test_recall_never_falls_as_k_grows(ranked: list[str], gold: set[str], k: int) -> None:
    assert recall_at_k(ranked, gold, k) <= recall_at_k(ranked, gold, k + 1)


@given(rankings, golds, cuts)
def test_ndcg_is_one_exactly_when_nothing_wrong_stands_where_gold_could(
    ranked: list[str], gold: set[str], k: int
) -> None:
    room = min(k, len(gold))
    perfect = len(ranked) >= room and set(ranked[:room]) <= gold
    value = ndcg_at_k(ranked, gold, k)
    assert 0 <= value <= 1
    assert (value == pytest.approx(1)) == perfect


@given(st.permutations([f"t{n}" for n in range(8)]), golds, cuts)
def test_moving_a_gold_turn_up_never_lowers_ndcg(ranked: list[str], gold: set[str], k: int) -> None:
    for i in range(1, len(ranked)):
        if ranked[i] in gold and ranked[i - 1] not in gold:
            better = [*ranked[: i - 1], ranked[i], ranked[i - 1], *ranked[i + 1 :]]
            assert ndcg_at_k(better, gold, k) >= ndcg_at_k(ranked, gold, k) - 1e-12


@pytest.mark.parametrize("metric", [recall_at_k, all_at_k, any_at_k, ndcg_at_k])
@pytest.mark.parametrize(
    ("ranked", "gold", "k", "message"),
    [
        (["a"], [], 5, "without gold evidence"),
        (["a"], ["a"], 0, "k = 0"),
        (["a", "a"], ["a"], 2, "hold a turn twice"),
    ],
)
def test_what_has_no_score_is_refused(
    metric: Callable[[list[str], list[str], int], float], ranked: list[str], gold: list[str], k: int, message: str
) -> None:
    with pytest.raises(InvalidInputError, match=message):
        metric(ranked, gold, k)


def locomo_like() -> Aggregator:
    scores = Aggregator((2, 1), {"1-4": ("1", "2", "3", "4")})
    scores.add("c1", "1", ["a", "b"], ["a", "b"])
    scores.add("c1", "5", ["x", "y"], ["a"])
    scores.add("c2", "4", ["x", "a"], ["a"], further={"session_recall": {1: 0.0, 2: 1.0}})
    return scores


def test_means_are_over_questions_by_group() -> None:
    scores = locomo_like()
    assert scores.counts() == {"all": 3, "1-4": 2, "1": 1, "4": 1, "5": 1}
    assert scores.means("recall") == {
        "all": {"1": pytest.approx(0.5 / 3), "2": pytest.approx(2 / 3)},
        "1-4": {"1": 0.25, "2": 1.0},
        "1": {"1": 0.5, "2": 1.0},
        "4": {"1": 0.0, "2": 1.0},
        "5": {"1": 0.0, "2": 0.0},
    }


def test_a_further_metric_is_averaged_over_the_questions_that_have_it() -> None:
    means = locomo_like().means("session_recall")
    assert means is not None
    assert means["all"] == {"1": 0.0, "2": 1.0}
    assert means["1"] is None
    assert locomo_like().means("no such metric") is None


def test_means_by_conversation_times_their_counts_give_back_the_mean_over_all() -> None:
    scores = locomo_like()
    by_conversation = scores.by_conversation()
    assert {name: groups["all"]["n"] for name, groups in by_conversation.items()} == {"c1": 2, "c2": 1}
    total = sum(groups["all"]["n"] * groups["all"]["recall"]["2"] for groups in by_conversation.values())
    assert scores.means("recall")["all"]["2"] == pytest.approx(total / 3)  # type: ignore[index]


def test_a_category_with_the_name_of_a_group_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="'1-4' has the name of a group"):
        locomo_like().add("c1", "1-4", ["a"], ["a"])


@pytest.mark.parametrize("k_values", [(), (0, 5)])
def test_cut_offs_must_be_given_and_at_least_one(k_values: tuple[int, ...]) -> None:
    with pytest.raises(InvalidInputError, match="k values"):
        Aggregator(k_values)


def test_the_bootstrap_gives_the_weighted_mean_difference_inside_its_interval() -> None:
    found = paired_bootstrap([0.9, 0.6, 0.5], [0.5, 0.5, 0.6], weights=[10, 20, 70])
    assert found.mean == pytest.approx((0.4 * 10 + 0.1 * 20 - 0.1 * 70) / 100)
    assert found.low <= found.mean <= found.high
    assert found.low == pytest.approx(-0.1)
    assert found.n == 3


def test_a_constant_difference_has_an_interval_without_width() -> None:
    found = paired_bootstrap([0.5, 0.75, 1.0], [0.25, 0.5, 0.75])
    assert (found.mean, found.low, found.high) == (0.25, 0.25, 0.25)


def test_the_same_seed_gives_the_same_interval_and_swapping_turns_it_round() -> None:
    a, b = [0.1, 0.9, 0.4, 0.7], [0.2, 0.5, 0.6, 0.1]
    one, again, other = paired_bootstrap(a, b), paired_bootstrap(a, b), paired_bootstrap(b, a)
    assert one == again
    assert (other.mean, other.low, other.high) == pytest.approx((-one.mean, -one.high, -one.low))


def test_the_bootstrap_interval_agrees_with_every_possible_draw_of_two_conversations() -> None:
    # Of the four draws of two from two, one gives 0.0, two give 0.1, one gives 0.2: the middle half is all 0.1.
    found = paired_bootstrap([0.2, 0.0], [0.0, 0.0], level=0.4)
    assert (found.low, found.high) == pytest.approx((0.1, 0.1))
    wide = paired_bootstrap([0.2, 0.0], [0.0, 0.0], level=0.95)
    assert (wide.low, wide.high) == pytest.approx((0.0, 0.2))


@pytest.mark.parametrize(
    ("a", "b", "further", "message"),
    [
        ([0.1], [0.2], {}, "at least 2"),
        ([0.1, 0.2], [0.2], {}, "2 scores against 1"),
        ([0.1, math.nan], [0.2, 0.1], {}, "not a finite number"),
        ([0.1, 0.2], [0.2, 0.1], {"weights": [1, 0]}, "numbers above 0"),
        ([0.1, 0.2], [0.2, 0.1], {"weights": [1]}, "give 2 numbers"),
        ([0.1, 0.2], [0.2, 0.1], {"level": 1.0}, "level = 1.0"),
        ([0.1, 0.2], [0.2, 0.1], {"samples": 0}, "samples = 0"),
    ],
)
def test_scores_that_give_no_interval_are_refused(
    a: list[float], b: list[float], further: dict[str, object], message: str
) -> None:
    with pytest.raises(InvalidInputError, match=message):
        paired_bootstrap(a, b, **further)  # type: ignore[arg-type]
