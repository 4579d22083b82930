"""Budgets are never overspent, usage adds up, and token estimates learn from reports."""

from __future__ import annotations

import threading

from hypothesis import given
from hypothesis import strategies as st

from hexamem.models import Budget, BudgetRefusal, Reservation, Usage, UsageMeter


def granted(outcome: Reservation | BudgetRefusal) -> Reservation:
    assert isinstance(outcome, Reservation), outcome
    return outcome


def refused(outcome: Reservation | BudgetRefusal) -> BudgetRefusal:
    assert isinstance(outcome, BudgetRefusal)
    return outcome


def test_a_call_is_granted_what_is_left_and_what_it_did_not_use_can_be_spent_again() -> None:
    budget = Budget(tokens=100)
    assert granted(Budget().reserve(20, up_to=500)).tokens == 500
    reservation = granted(budget.reserve(20, up_to=90))
    assert granted(budget.reserve(5, up_to=90)).tokens == 10  # the rest is reserved
    refusal = refused(budget.reserve(60))
    assert (refusal.limit, budget.spent) == ("tokens", Usage())
    assert refusal.reason == "the call needs about 60 tokens and 0 of 100 are left in the budget"
    for _ in range(2):  # settled once
        reservation.settle(Usage(calls=1, input_tokens=10, output_tokens=5))
    assert budget.spent == Usage(calls=1, input_tokens=10, output_tokens=5)
    assert "and 75 of 100 are left" in refused(budget.reserve(76)).reason
    granted(budget.reserve(50)).settle(Usage(calls=1, input_tokens=130))  # more than was reserved
    assert "and 0 of 100 are left" in refused(budget.reserve(1)).reason


def test_calls_under_way_count_and_time_runs_out_by_the_clock() -> None:
    now = 0.0
    budget = Budget(calls=2, seconds=10, clock=lambda: now)
    first = granted(budget.reserve(1))
    granted(budget.reserve(1))
    assert refused(budget.reserve(1)).limit == "calls"
    first.release()
    now = 9.0
    assert budget.remaining_seconds() == 1.0
    granted(budget.reserve(1)).release()
    now = 10.0
    assert refused(budget.reserve(1)).limit == "seconds"
    assert budget.remaining_seconds() == 0.0


def test_a_child_spends_from_its_parent_and_is_bound_by_both() -> None:
    parent = Budget(tokens=100, calls=3)
    child, other = parent.child(tokens=80), parent.child()
    granted(child.reserve(70)).settle(Usage(calls=1, input_tokens=70))
    assert parent.spent.tokens == 70
    assert "10 of 80" in refused(child.reserve(20)).reason
    assert "30 of 100" in refused(other.reserve(40)).reason
    assert other.limits_tokens()
    granted(other.reserve(30))


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
        for entry in budgets:
            assert entry.tokens is None or entry.spent.tokens <= entry.tokens
            assert entry.calls is None or entry.spent.calls <= entry.calls


def test_nothing_is_lost_between_threads_that_add_and_one_that_drains() -> None:
    meter = UsageMeter()
    drained = 0

    def add() -> None:
        for _ in range(500):
            meter.add(Usage(calls=1), agent="a")

    threads = [threading.Thread(target=add) for _ in range(4)]
    for entry in threads:
        entry.start()
    while any(entry.is_alive() for entry in threads):
        drained += sum(row["calls"] for row in meter.drain())
    assert drained + meter.total.calls == 2_000


def test_a_meter_sums_by_operation_and_agent_and_drains_once() -> None:
    meter = UsageMeter("remember")
    meter.add(Usage(calls=1, input_tokens=10), agent="memorizer")
    meter.add(Usage(calls=1, output_tokens=4), agent="memorizer")
    meter.add(Usage(calls=2, seconds=0.5), agent="planner", operation="research")
    names = ("operation", "agent", "calls", "input_tokens", "output_tokens", "seconds")
    values = [("remember", "memorizer", 2, 10, 4, 0.0), ("research", "planner", 2, 0, 0, 0.5)]
    rows = [dict(zip(names, row, strict=True)) for row in values]
    assert meter.total == Usage(calls=4, input_tokens=10, output_tokens=4, seconds=0.5)
    assert (meter.rows(), meter.drain(), meter.rows(), meter.total) == (rows, rows, [], Usage())
