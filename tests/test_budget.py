"""Budgets are never overspent, usage adds up, and token estimates learn from reports."""

from __future__ import annotations

import random
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hexamem.errors import ConfigError
from hexamem.models import Budget, BudgetRefusal, Reservation, Usage, UsageMeter, count_tokens
from hexamem.models.token_estimate import TokenEstimator, script_of


class Clock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def granted(outcome: Reservation | BudgetRefusal) -> Reservation:
    assert isinstance(outcome, Reservation), outcome
    return outcome


def refused(outcome: Reservation | BudgetRefusal) -> BudgetRefusal:
    assert isinstance(outcome, BudgetRefusal)
    return outcome


def test_a_call_that_could_exceed_the_tokens_is_refused_before_it_is_made() -> None:
    budget = Budget(tokens=100)
    granted(budget.reserve(60))
    refusal = refused(budget.reserve(60))
    assert refusal.limit == "tokens"
    assert refusal.reason == "the call needs about 60 tokens and 40 of 100 are left in the budget"
    assert budget.spent == Usage()


def test_what_was_not_used_can_be_spent_again() -> None:
    budget = Budget(tokens=100)
    granted(budget.reserve(60)).settle(Usage(calls=1, input_tokens=10, output_tokens=5))
    granted(budget.reserve(60)).release()
    assert budget.remaining_tokens() == 85
    assert budget.spent == Usage(calls=1, input_tokens=10, output_tokens=5)


def test_the_grant_is_as_much_of_what_is_wished_as_there_is() -> None:
    budget = Budget(tokens=100)
    assert granted(budget.reserve(20, up_to=500)).tokens == 100
    assert granted(Budget().reserve(20, up_to=500)).tokens == 500


def test_a_grant_leaves_alone_what_others_have_reserved() -> None:
    budget = Budget(tokens=100)
    granted(budget.reserve(20, up_to=90))
    assert granted(budget.reserve(5, up_to=90)).tokens == 10


def test_a_reservation_is_settled_once() -> None:
    budget = Budget(calls=5)
    reservation = granted(budget.reserve(1))
    for _ in range(3):
        reservation.settle(Usage(calls=1))
    assert budget.spent.calls == 1


def test_calls_under_way_count() -> None:
    budget = Budget(calls=2)
    first = granted(budget.reserve(1))
    granted(budget.reserve(1))
    assert refused(budget.reserve(1)).limit == "calls"
    first.release()
    granted(budget.reserve(1))


def test_time_runs_out_by_the_clock() -> None:
    clock = Clock()
    budget = Budget(seconds=10, clock=clock)
    clock.now = 9.0
    assert budget.remaining_seconds() == 1.0
    granted(budget.reserve(1))
    clock.now = 10.0
    assert refused(budget.reserve(1)).limit == "seconds"
    assert budget.remaining_seconds() == 0.0


def test_a_report_above_the_reservation_stops_the_next_call() -> None:
    budget = Budget(tokens=100)
    granted(budget.reserve(50)).settle(Usage(calls=1, input_tokens=130))
    assert budget.remaining_tokens() == 0
    assert refused(budget.reserve(1)).reason.endswith("0 of 100 are left in the budget")


def test_a_child_spends_from_its_parent_and_is_bound_by_both() -> None:
    parent = Budget(tokens=100, calls=3)
    child, other = parent.child(tokens=80), parent.child()
    granted(child.reserve(70)).settle(Usage(calls=1, input_tokens=70))
    assert (parent.spent.tokens, child.remaining_tokens(), other.remaining_tokens()) == (70, 10, 30)
    assert "10 of 80" in refused(child.reserve(20)).reason
    assert "30 of 100" in refused(other.reserve(40)).reason
    assert other.limits_tokens()
    granted(other.reserve(30))


def test_a_refused_child_takes_nothing_from_anyone() -> None:
    parent = Budget(tokens=10)
    child = parent.child(tokens=100)
    refused(child.reserve(50))
    assert (parent.remaining_tokens(), child.remaining_tokens()) == (10, 10)


@given(
    st.lists(
        st.tuples(st.integers(0, 2), st.integers(0, 60), st.integers(0, 60), st.sampled_from([1.0, 0.5, 0.0])),
        max_size=40,
    )
)
def test_no_order_of_calls_overspends_any_budget(moves: list[tuple[int, int, int, float]]) -> None:
    root = Budget(tokens=200, calls=12)
    budgets = [root, root.child(tokens=90), root.child(calls=4)]
    waiting: list[tuple[Reservation, int]] = []
    for which, least, more, share in moves:
        outcome = budgets[which].reserve(least, up_to=least + more)
        if isinstance(outcome, Reservation):
            assert least <= outcome.tokens <= least + more
            waiting.append((outcome, round(outcome.tokens * share)))
        if len(waiting) > 2:
            reservation, used = waiting.pop(0)
            reservation.settle(Usage(calls=1, input_tokens=used))
        for one in budgets:
            assert one.tokens is None or one.spent.tokens <= one.tokens
            assert one.calls is None or one.spent.calls <= one.calls


def test_threads_together_never_overspend() -> None:
    root = Budget(tokens=10_000, calls=400)
    children = [root.child(tokens=3_000) for _ in range(4)]

    def spend(seed: int) -> None:
        rng = random.Random(seed)
        for _ in range(60):
            outcome = children[seed % 4].reserve(rng.randrange(1, 100), up_to=rng.randrange(100, 200))
            if isinstance(outcome, Reservation):
                outcome.settle(Usage(calls=1, input_tokens=rng.randrange(outcome.tokens + 1)))

    threads = [threading.Thread(target=spend, args=(seed,)) for seed in range(8)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert 0 < root.spent.tokens <= 10_000
    assert root.spent == sum((one.spent for one in children), Usage())
    assert all(one.spent.tokens <= 3_000 for one in children)
    assert root.remaining_tokens() == 10_000 - root.spent.tokens


@pytest.mark.parametrize("limits", [{"calls": -1}, {"tokens": float("nan")}, {"seconds": "10"}, {"calls": True}])
def test_a_limit_that_cannot_be_is_refused(limits: dict[str, int]) -> None:
    with pytest.raises(ConfigError, match="at least 0"):
        Budget(**limits)


def test_a_meter_sums_by_operation_and_agent_and_drains_once() -> None:
    meter = UsageMeter("remember")
    meter.add(Usage(calls=1, input_tokens=10), agent="memorizer")
    meter.add(Usage(calls=1, output_tokens=4), agent="memorizer")
    meter.add(Usage(calls=2, seconds=0.5), agent="planner", operation="research")
    rows = meter.rows()
    assert rows == [
        {
            "operation": "remember",
            "agent": "memorizer",
            "calls": 2,
            "input_tokens": 10,
            "output_tokens": 4,
            "seconds": 0.0,
        },
        {
            "operation": "research",
            "agent": "planner",
            "calls": 2,
            "input_tokens": 0,
            "output_tokens": 0,
            "seconds": 0.5,
        },
    ]
    assert meter.total == Usage(calls=4, input_tokens=10, output_tokens=4, seconds=0.5)
    assert (meter.drain(), meter.rows(), meter.total) == (rows, [], Usage())


def test_nothing_is_lost_between_threads_that_add_and_one_that_drains() -> None:
    meter = UsageMeter()
    drained = 0

    def add() -> None:
        for _ in range(500):
            meter.add(Usage(calls=1), agent="a")

    threads = [threading.Thread(target=add) for _ in range(4)]
    for one in threads:
        one.start()
    while any(one.is_alive() for one in threads):
        drained += sum(row["calls"] for row in meter.drain())
    assert drained + meter.total.calls == 2_000


def test_the_factor_of_a_script_follows_the_reports_of_that_script_alone() -> None:
    estimator = TokenEstimator()
    english, chinese = "The children walk to school. " * 20, "孩子们每天早上走路去学校。" * 20
    assert (script_of(english), script_of(chinese), script_of("")) == ("latin", "cjk", "latin")
    before = estimator.factor("latin")
    estimator.observe(chinese, 2 * count_tokens(chinese))
    assert estimator.estimate(chinese) >= 2 * count_tokens(chinese)  # at once when too low
    assert estimator.factor("latin") == before
    estimator.observe(chinese, count_tokens(chinese))
    assert 1.5 < estimator.factor("cjk") < 2.1  # slowly when too high


def test_short_prompts_and_absurd_reports_do_not_spoil_the_factor() -> None:
    estimator = TokenEstimator()
    before = estimator.factor("latin")
    estimator.observe("Hi.", 500)
    estimator.observe("word " * 100, 0)
    assert estimator.factor("latin") == before
    estimator.observe("word " * 100, 10**9)
    assert estimator.factor("latin") == 4.0


def test_a_counter_of_ones_own_takes_the_place_of_the_tokenizer() -> None:
    estimator = TokenEstimator(counter=len)
    assert estimator.estimate("x" * 100) == round(100 * estimator.factor("latin")) + 1
