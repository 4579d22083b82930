"""The durable queue in the ledger: enqueued with its cause, claimed by one, settled by who holds it; and usage."""
# ruff: noqa: F811 - fixtures come by import

from __future__ import annotations

import itertools
import random
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import inspect

from hexamem.errors import InvalidInputError, NotFoundError
from hexamem.memory_types import utc_now
from hexamem.stores.ledger import Ledger, erase_rows
from hexamem.stores.ledger import jobs as queue
from hexamem.stores.ledger.jobs import ClaimedJob, Job, JobStatus, enqueue
from hexamem.stores.ledger.schema import jobs as jobs_table
from hexamem.stores.ledger.usage import add_usage, all_usage, usage_totals

from .ledger_databases import NewDatabase, each_ledger, new_database  # noqa: F401

_numbers = itertools.count(1)
NOW = datetime(2031, 5, 1, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


@pytest.fixture
def kind() -> str:
    """A kind of job that no other test has."""
    return f"kind_{next(_numbers)}"


@pytest.fixture
def user(each_ledger: Ledger) -> str:
    """A registered user that no other test has."""
    name = f"user {next(_numbers)}"
    with each_ledger.write(name):
        pass
    return name


def put(ledger: Ledger, user: str, kind: str, due: datetime = NOW, key: str | None = None, **payload: object) -> str:
    with ledger.write(user) as tx:
        return enqueue(tx, kind, payload, key=key, due_at=due)


def take(ledger: Ledger, kind: str, now: datetime = NOW, **options: object) -> ClaimedJob:
    job = queue.claim(ledger, [kind], now, **options)  # type: ignore[arg-type]
    assert job is not None
    return job


def shown(ledger: Ledger, user: str) -> list[Job]:
    return queue.list_jobs(ledger, user)


def statuses(ledger: Ledger, user: str) -> list[JobStatus]:
    return [job.status for job in shown(ledger, user)]


# ---------------------------------------------------------------------------------------------------------- enqueueing


def test_a_job_exists_exactly_when_its_cause_was_committed(each_ledger: Ledger, user: str, kind: str) -> None:
    with pytest.raises(ZeroDivisionError), each_ledger.write(user) as tx:
        assert enqueue(tx, kind, {"n": 1}) == 1 / 0
    assert shown(each_ledger, user) == []
    put(each_ledger, user, kind, n=2)
    assert take(each_ledger, kind).payload == {"n": 2}


def test_a_key_makes_a_waiting_job_of_its_kind_and_user_the_only_one(each_ledger: Ledger, user: str, kind: str) -> None:
    first = put(each_ledger, user, kind, key="thread 1", n=1)
    assert put(each_ledger, user, kind, key="thread 1", n=2) == first
    others = [
        put(each_ledger, user, kind, key="thread 2"),
        put(each_ledger, user, f"{kind}_b", key="thread 1"),
        put(each_ledger, f"{user} too", kind, key="thread 1"),
        put(each_ledger, user, kind),
        put(each_ledger, user, kind),
    ]
    assert len({first, *others}) == 6
    assert take(each_ledger, kind, user=user).payload == {"n": 1}


def test_a_second_cause_makes_the_waiting_job_due_earlier_but_never_later(
    each_ledger: Ledger, user: str, kind: str
) -> None:
    for minutes in (30, 10, 20):
        put(each_ledger, user, kind, NOW + minutes * MINUTE, key="k")
    assert [job.due_at for job in shown(each_ledger, user)] == [NOW + 10 * MINUTE]


def test_a_cause_that_comes_while_the_job_runs_makes_a_new_job(each_ledger: Ledger, user: str, kind: str) -> None:
    first = put(each_ledger, user, kind, key="k")
    running = take(each_ledger, kind)
    second = put(each_ledger, user, kind, key="k")
    assert second != first
    with each_ledger.write(user) as tx:
        assert queue.complete(tx, running)
    assert take(each_ledger, kind).id == second


def test_a_second_cause_does_not_press_a_job_in_its_pause(each_ledger: Ledger, user: str, kind: str) -> None:
    put(each_ledger, user, kind, key="k")
    job = take(each_ledger, kind)
    with each_ledger.write(user) as tx:
        queue.fail(tx, job, "no luck", 30 * MINUTE, NOW)
    put(each_ledger, user, kind, key="k")
    assert [job.due_at for job in shown(each_ledger, user)] == [NOW + 30 * MINUTE]


@pytest.mark.parametrize("bad", ["", "Upper", "1st", "a b", "x" * 33, "é", None])
def test_a_kind_of_another_form_is_refused(each_ledger: Ledger, user: str, bad: str) -> None:
    with each_ledger.write(user) as tx, pytest.raises(InvalidInputError, match="job kind"):
        enqueue(tx, bad, {})


@pytest.mark.parametrize("payload", [{"a": object()}, {"a": float("nan")}, [1], {"a": {1, 2}}])
def test_a_payload_that_is_no_mapping_of_json_is_refused_without_repeating_it(
    each_ledger: Ledger, user: str, kind: str, payload: dict[str, object]
) -> None:
    with each_ledger.write(user) as tx, pytest.raises(InvalidInputError, match=f"payload of a '{kind}' job"):
        enqueue(tx, kind, payload)


def test_a_naive_time_and_an_unknown_user_are_refused(each_ledger: Ledger, user: str, kind: str) -> None:
    with each_ledger.write(user) as tx, pytest.raises(InvalidInputError, match="no timezone"):
        enqueue(tx, kind, {}, due_at=datetime(2031, 1, 1))
    with each_ledger.write("nobody yet", create=False) as tx, pytest.raises(NotFoundError, match="nobody yet"):
        enqueue(tx, kind, {})


def test_any_text_survives_in_payload_and_key(each_ledger: Ledger, user: str, kind: str) -> None:
    text = "naïve \x00 \ud800 漢字"
    assert put(each_ledger, user, kind, key=text, said=text) == put(each_ledger, user, kind, key=text)
    assert take(each_ledger, kind).payload == {"said": text}


# ------------------------------------------------------------------------------------------------------------ claiming


def test_the_oldest_due_job_of_any_user_is_taken_first_and_no_other_kind(
    each_ledger: Ledger, user: str, kind: str
) -> None:
    put(each_ledger, user, kind, NOW, n=3)
    put(each_ledger, f"{user} b", kind, NOW - 2 * MINUTE, n=1)
    put(each_ledger, f"{user} c", kind, NOW - MINUTE, n=2)
    put(each_ledger, user, kind, NOW + MINUTE, n=4)
    put(each_ledger, user, f"{kind}_other", NOW - 9 * MINUTE)
    assert [take(each_ledger, kind).payload["n"] for _ in range(3)] == [1, 2, 3]
    assert queue.claim(each_ledger, [kind], NOW) is None
    assert queue.claim(each_ledger, [], NOW) is None


def test_of_one_user_jobs_of_a_kind_run_one_at_a_time(each_ledger: Ledger, user: str, kind: str) -> None:
    put(each_ledger, user, kind, n=1)
    put(each_ledger, user, kind, NOW + MINUTE, n=2)
    first = take(each_ledger, kind)
    assert queue.claim(each_ledger, [kind], NOW + 2 * MINUTE) is None
    with each_ledger.write(user) as tx:
        queue.complete(tx, first)
    assert take(each_ledger, kind, NOW + 2 * MINUTE).payload == {"n": 2}


def test_many_threads_take_each_job_once(each_ledger: Ledger, user: str, kind: str) -> None:
    names = [f"{user} {number}" for number in range(12)]
    wanted = {put(each_ledger, name, kind) for name in names}
    start = threading.Barrier(4)

    def work(_: int) -> list[str]:
        start.wait(timeout=30)
        taken = []
        while (job := queue.claim(each_ledger, [kind], NOW)) is not None:
            taken.append(job.id)
        return taken

    with ThreadPoolExecutor(4) as pool:
        taken = [job_id for found in pool.map(work, range(4)) for job_id in found]
    # On PostgreSQL a claim skips what another thread holds at that moment, so nothing may be taken twice.
    assert sorted(taken) == sorted(wanted)


def test_a_claim_ends_by_itself_and_who_held_it_can_settle_nothing(each_ledger: Ledger, user: str, kind: str) -> None:
    put(each_ledger, user, kind)
    slow = take(each_ledger, kind, lease=5 * MINUTE)
    assert queue.claim(each_ledger, [kind], NOW + 4 * MINUTE) is None
    quick = take(each_ledger, kind, NOW + 5 * MINUTE)
    assert (quick.id, quick.attempts) == (slow.id, 2)
    with each_ledger.write(user) as tx:
        assert not queue.extend(tx, slow, NOW + 60 * MINUTE)
        assert not queue.complete(tx, slow)
        assert not queue.fail(tx, slow, "late", None, NOW)
        assert not queue.defer(tx, slow, "late", NOW)
        assert not queue.release(tx, slow)
        assert queue.complete(tx, quick)
    assert shown(each_ledger, user) == []


def test_a_renewed_claim_holds_longer(each_ledger: Ledger, user: str, kind: str) -> None:
    put(each_ledger, user, kind)
    job = take(each_ledger, kind, lease=MINUTE)
    with each_ledger.write(user) as tx:
        assert queue.extend(tx, job, NOW + 10 * MINUTE)
    assert queue.claim(each_ledger, [kind], NOW + 9 * MINUTE) is None


def test_a_job_that_takes_its_process_with_it_each_time_is_parked(each_ledger: Ledger, user: str, kind: str) -> None:
    put(each_ledger, user, kind)
    for number in range(3):
        take(each_ledger, kind, NOW + number * 20 * MINUTE, max_attempts=3)
    assert queue.claim(each_ledger, [kind], NOW + 90 * MINUTE, max_attempts=3) is None
    [job] = shown(each_ledger, user)
    assert (job.status, job.attempts) == ("parked", 3)
    assert "killed or crashed" in str(job.error)


def test_the_next_process_of_a_home_ends_the_claims_of_the_one_before(
    each_ledger: Ledger, user: str, kind: str
) -> None:
    put(each_ledger, user, kind)
    take(each_ledger, kind, home="a" * 32)
    queue.end_claims(each_ledger, "b" * 32)  # another home that shares the ledger may still run it
    assert statuses(each_ledger, user) == ["running"]
    queue.end_claims(each_ledger, "a" * 32)
    assert statuses(each_ledger, user) == ["waiting"]
    assert take(each_ledger, kind).attempts == 2


def test_opening_a_home_tries_deferred_jobs_at_once(each_ledger: Ledger, user: str, kind: str) -> None:
    put(each_ledger, user, kind)
    job = take(each_ledger, kind)
    with each_ledger.write(user) as tx:
        queue.defer(tx, job, "no model is set", datetime(2090, 1, 1, tzinfo=UTC))
    queue.end_claims(each_ledger, "a" * 32)
    [waits] = shown(each_ledger, user)
    assert (waits.status, waits.error) == ("deferred", "no model is set")
    assert waits.due_at <= utc_now()


def test_a_waiting_job_that_a_writer_holds_is_not_run_before_that_commits(
    each_ledger: Ledger, user: str, kind: str
) -> None:
    if each_ledger.embedded:
        pytest.skip("SQLite lets one write at a time, a claim among them")
    put(each_ledger, user, kind, key="k")
    with each_ledger.write(user) as tx:
        enqueue(tx, kind, {}, key="k", due_at=NOW)
        assert queue.claim(each_ledger, [kind], NOW) is None
    assert take(each_ledger, kind)


# ------------------------------------------------------------------------------------------------------------ settling


def test_failing_waits_then_parks_and_deferring_counts_no_attempt(each_ledger: Ledger, user: str, kind: str) -> None:
    put(each_ledger, user, kind)
    job = take(each_ledger, kind)
    with each_ledger.write(user) as tx:
        queue.defer(tx, job, "the budget is used up", NOW + 10 * MINUTE)
    [shown_job] = shown(each_ledger, user)
    assert (shown_job.status, shown_job.attempts, shown_job.error) == ("deferred", 0, "the budget is used up")
    job = take(each_ledger, kind, NOW + 10 * MINUTE)
    with each_ledger.write(user) as tx:
        queue.fail(tx, job, "a timeout", 5 * MINUTE, NOW + 10 * MINUTE)
    [shown_job] = shown(each_ledger, user)
    assert (shown_job.status, shown_job.attempts, shown_job.error) == ("waiting", 1, "a timeout")
    assert queue.claim(each_ledger, [kind], NOW + 14 * MINUTE) is None
    job = take(each_ledger, kind, NOW + 15 * MINUTE)
    with each_ledger.write(user) as tx:
        queue.fail(tx, job, "line one\nline two " + "x" * 900, None, NOW)
    [shown_job] = shown(each_ledger, user)
    assert (shown_job.status, shown_job.attempts) == ("parked", 2)
    assert str(shown_job.error).startswith("line one line two")
    assert len(str(shown_job.error)) == 500
    assert queue.claim(each_ledger, [kind], NOW + 900 * MINUTE) is None


def test_a_released_job_is_as_if_it_had_not_been_begun(each_ledger: Ledger, user: str, kind: str) -> None:
    put(each_ledger, user, kind)
    job = take(each_ledger, kind)
    with each_ledger.write(user) as tx:
        queue.release(tx, job)
    assert take(each_ledger, kind).attempts == 1


def test_after_an_erasure_a_running_job_settles_nothing(each_ledger: Ledger, user: str, kind: str) -> None:
    put(each_ledger, user, kind)
    job = take(each_ledger, kind)
    with each_ledger.write(user) as tx:
        assert erase_rows(tx)["jobs"] == 1
    put(each_ledger, user, kind, n="of the new life")
    with each_ledger.write(user) as tx:
        assert not queue.complete(tx, job)
    assert len(shown(each_ledger, user)) == 1


@given(attempts=st.integers(1, 10_000), seed=st.integers())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
def test_the_pause_grows_to_a_cap_and_at_least_half_of_it_is_fixed(attempts: int, seed: int) -> None:
    full = min(5.0 * 2.0 ** min(attempts - 1, 60), 3600.0)
    wait = queue.backoff(attempts, draw=random.Random(seed)).total_seconds()
    assert full / 2 <= wait <= full
    assert wait <= 3600


# ------------------------------------------------------------------------------------------------------ by hand, lists


def test_a_parked_job_is_retried_from_its_first_attempt(each_ledger: Ledger, user: str, kind: str) -> None:
    job_id = put(each_ledger, user, kind)
    job = take(each_ledger, kind)
    with each_ledger.write(user) as tx:
        queue.fail(tx, job, "gone", None, NOW)
        queue.retry(tx, job_id)
    [again] = shown(each_ledger, user)
    assert (again.status, again.attempts, again.error) == ("waiting", 0, None)
    assert again.due_at <= utc_now()


def test_a_running_job_is_neither_retried_nor_dropped_and_an_unknown_one_is_named(
    each_ledger: Ledger, user: str, kind: str
) -> None:
    job_id = put(each_ledger, user, kind)
    take(each_ledger, kind)
    for act in (queue.retry, queue.drop):
        with each_ledger.write(user) as tx, pytest.raises(InvalidInputError, match="is running"):
            act(tx, job_id)
        with each_ledger.write(f"{user} b") as tx, pytest.raises(NotFoundError, match=job_id):
            act(tx, job_id)  # of another user


def test_a_dropped_job_is_gone_but_a_redaction_cannot_be_dropped(each_ledger: Ledger, user: str, kind: str) -> None:
    dropped, kept = put(each_ledger, user, kind), put(each_ledger, user, "redact_cleanup")
    with each_ledger.write(user) as tx:
        queue.drop(tx, dropped)
        with pytest.raises(InvalidInputError, match="cannot be dropped"):
            queue.drop(tx, kept)
    assert [job.id for job in shown(each_ledger, user)] == [kept]


def test_jobs_are_listed_and_counted_of_one_user_or_of_all(each_ledger: Ledger, user: str, kind: str) -> None:
    put(each_ledger, user, kind, NOW + MINUTE)
    put(each_ledger, user, kind)
    put(each_ledger, f"{user} b", kind)
    take(each_ledger, kind, user=user)
    assert queue.count_jobs(each_ledger, user) == {(kind, "running"): 1, (kind, "waiting"): 1}
    assert queue.count_jobs(each_ledger)[kind, "waiting"] == 2
    assert [job.user for job in queue.list_jobs(each_ledger) if job.kind == kind] == [user, f"{user} b", user]


def test_what_is_next_due_counts_waiting_deferred_and_claims_that_end(
    each_ledger: Ledger, user: str, kind: str
) -> None:
    assert queue.next_due(each_ledger, [kind]) is None
    put(each_ledger, user, kind, NOW + 30 * MINUTE)
    assert queue.next_due(each_ledger, [kind]) == NOW + 30 * MINUTE
    put(each_ledger, user, kind, NOW)
    take(each_ledger, kind, lease=15 * MINUTE)
    assert queue.next_due(each_ledger, [kind]) == NOW + 15 * MINUTE
    assert queue.next_due(each_ledger, []) is None


def test_only_what_is_late_is_unfinished(each_ledger: Ledger, user: str, kind: str) -> None:
    put(each_ledger, user, kind, NOW + MINUTE)
    assert not queue.unfinished(each_ledger, NOW, user)
    assert queue.unfinished(each_ledger, NOW + MINUTE, user)
    job = take(each_ledger, kind, NOW + MINUTE)
    assert queue.unfinished(each_ledger, NOW, user)
    with each_ledger.write(user) as tx:
        queue.fail(tx, job, "a timeout", 60 * MINUTE, NOW)
    assert queue.unfinished(each_ledger, NOW, user)


def test_the_table_has_what_the_queue_needs(each_ledger: Ledger) -> None:
    columns = {column["name"] for column in inspect(each_ledger.engine).get_columns("jobs")}
    assert columns == {column.name for column in jobs_table.c}


# --------------------------------------------------------------------------------------------------------------- usage


@pytest.fixture
def spent(each_ledger: Ledger, user: str) -> Iterator[str]:
    """A user of whom three rows of usage are kept."""
    row = {"operation": "remember", "agent": "labeler", "calls": 1, "input_tokens": 100, "output_tokens": 10}
    with each_ledger.write(user) as tx:
        add_usage(tx, [{**row, "seconds": 0.5}, {**row, "agent": "memorizer", "seconds": 1.0}])  # type: ignore[typeddict-item]
        add_usage(tx, [{**row, "calls": 2, "seconds": 0.25}])  # type: ignore[typeddict-item]
    yield user
    with each_ledger.write(user) as tx:
        erase_rows(tx)


def test_usage_is_summed_by_operation_and_agent(each_ledger: Ledger, spent: str) -> None:
    with each_ledger.read(spent) as tx:
        found = usage_totals(tx)
        later = usage_totals(tx, since=datetime(2090, 1, 1, tzinfo=UTC))
    assert [(row["agent"], row["calls"], row["input_tokens"], row["seconds"]) for row in found] == [
        ("labeler", 3, 200, 0.75),
        ("memorizer", 1, 100, 1.0),
    ]
    assert later == []
    assert all_usage(each_ledger) == found


def test_usage_of_nothing_keeps_no_row_and_a_negative_one_is_refused(each_ledger: Ledger, user: str) -> None:
    row = {"operation": "x", "agent": "y", "calls": 0, "input_tokens": 0, "output_tokens": 0, "seconds": 0.0}
    with each_ledger.write(user) as tx:
        add_usage(tx, [row])  # type: ignore[list-item]
        with pytest.raises(InvalidInputError, match="calls = -1"):
            add_usage(tx, [{**row, "calls": -1}])  # type: ignore[typeddict-item]
        assert usage_totals(tx) == []
