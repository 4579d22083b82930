"""The durable queue in the ledger: enqueued with its cause, claimed by one process, settled by who holds it; and usage."""
# ruff: noqa: F811 - fixtures come by import

from __future__ import annotations

import itertools
from datetime import UTC, datetime, timedelta

import pytest

from hexamem.errors import InvalidInputError, NotFoundError
from hexamem.memory_types import utc_now
from hexamem.stores.ledger import Ledger, erase_rows
from hexamem.stores.ledger import jobs as queue
from hexamem.stores.ledger.jobs import ClaimedJob, Job, enqueue
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


def only(ledger: Ledger, user: str) -> Job:
    [job] = queue.list_jobs(ledger, user)
    return job


# -- enqueueing ------------------------------------------------------------------------------------------------------


def test_a_job_exists_exactly_when_its_cause_was_committed_and_holds_any_text(
    each_ledger: Ledger, user: str, kind: str
) -> None:
    with pytest.raises(ZeroDivisionError), each_ledger.write(user) as tx:
        assert enqueue(tx, kind, {"n": 1}) == 1 / 0
    assert queue.list_jobs(each_ledger, user) == []
    text = "naïve \x00 \ud800 漢字"
    assert put(each_ledger, user, kind, key=text, said=text) == put(each_ledger, user, kind, key=text)
    assert take(each_ledger, kind).payload == {"said": text}


def test_causes_of_one_key_share_a_waiting_job_which_they_make_due_earlier_but_never_later(
    each_ledger: Ledger, user: str, kind: str
) -> None:
    first = put(each_ledger, user, kind, NOW + 30 * MINUTE, key="thread 1", n=1)
    for minutes in (10, 20):
        assert put(each_ledger, user, kind, NOW + minutes * MINUTE, key="thread 1", n=2) == first
    assert only(each_ledger, user).due_at == NOW + 10 * MINUTE
    running = take(each_ledger, kind, NOW + 10 * MINUTE)
    assert running.payload == {"n": 1}
    second = put(each_ledger, user, kind, key="thread 1")
    assert second != first
    with each_ledger.write(user) as tx:
        assert queue.complete(tx, running)
    failing = take(each_ledger, kind)
    assert failing.id == second
    with each_ledger.write(user) as tx:
        queue.fail(tx, failing, "no luck", 30 * MINUTE, NOW)
    put(each_ledger, user, kind, key="thread 1")
    assert only(each_ledger, user).due_at == NOW + 30 * MINUTE  # a second cause does not shorten a pause
    others = [
        put(each_ledger, user, kind, key="thread 2"),
        put(each_ledger, user, f"{kind}_b", key="thread 1"),
        put(each_ledger, f"{user} too", kind, key="thread 1"),
        put(each_ledger, user, kind),
        put(each_ledger, user, kind),
    ]
    assert len({second, *others}) == 6


def test_a_kind_a_payload_a_time_or_a_user_that_is_not_acceptable_is_refused(
    each_ledger: Ledger, user: str, kind: str
) -> None:
    with each_ledger.write(user) as tx:
        for bad in ("", "Upper", "1st", "a b", "x" * 33, "é", None):
            with pytest.raises(InvalidInputError, match="job kind"):
                enqueue(tx, bad, {})  # type: ignore[arg-type]
        for payload in ({"a": object()}, {"a": float("nan")}, [1], {"a": {1, 2}}):
            with pytest.raises(InvalidInputError, match=f"payload of a '{kind}' job"):
                enqueue(tx, kind, payload)  # type: ignore[arg-type]
        with pytest.raises(InvalidInputError, match="no timezone"):
            enqueue(tx, kind, {}, due_at=datetime(2031, 1, 1))
    with each_ledger.write("nobody yet", create=False) as tx, pytest.raises(NotFoundError, match="nobody yet"):
        enqueue(tx, kind, {})


# -- claiming --------------------------------------------------------------------------------------------------------


def test_the_oldest_due_job_of_any_user_is_taken_first_and_of_one_user_one_of_a_kind_at_a_time(
    each_ledger: Ledger, user: str, kind: str
) -> None:
    assert queue.next_due(each_ledger, [kind]) is None
    put(each_ledger, user, kind, NOW, n=3)
    put(each_ledger, f"{user} b", kind, NOW - 2 * MINUTE, n=1)
    put(each_ledger, f"{user} c", kind, NOW - MINUTE, n=2)
    put(each_ledger, user, kind, NOW + MINUTE, n=4)
    put(each_ledger, user, f"{kind}_other", NOW - 9 * MINUTE)
    taken = [take(each_ledger, kind) for _ in range(3)]
    assert [job.payload["n"] for job in taken] == [1, 2, 3]
    assert queue.claim(each_ledger, [kind], NOW + 2 * MINUTE) is None
    assert queue.claim(each_ledger, [], NOW) is None
    with each_ledger.write(user) as tx:
        queue.complete(tx, taken[2])
    assert queue.next_due(each_ledger, [kind]) == NOW + MINUTE
    assert take(each_ledger, kind, NOW + 2 * MINUTE).payload == {"n": 4}
    assert queue.next_due(each_ledger, []) is None


def test_a_claim_ends_by_itself_unless_it_is_renewed_and_who_held_it_can_settle_nothing(
    each_ledger: Ledger, user: str, kind: str
) -> None:
    put(each_ledger, user, kind)
    slow = take(each_ledger, kind, lease=MINUTE)
    assert queue.next_due(each_ledger, [kind]) == NOW + MINUTE
    with each_ledger.write(user) as tx:
        assert queue.extend(tx, slow, NOW + 5 * MINUTE)
    assert queue.claim(each_ledger, [kind], NOW + 4 * MINUTE) is None
    quick = take(each_ledger, kind, NOW + 5 * MINUTE)
    assert (quick.id, quick.attempts) == (slow.id, 2)
    with each_ledger.write(user) as tx:
        assert not queue.extend(tx, slow, NOW + 60 * MINUTE)
        assert not queue.complete(tx, slow)
        assert not queue.fail(tx, slow, "late", None, NOW)
        assert not queue.defer(tx, slow, "late", NOW)
        assert not queue.release(tx, slow)
        queue.release(tx, quick)
    again = take(each_ledger, kind, NOW + 5 * MINUTE)
    assert again.attempts == 2  # a released job is as if it had not been begun
    with each_ledger.write(user) as tx:
        assert queue.complete(tx, again)
    assert queue.list_jobs(each_ledger, user) == []


def test_a_job_that_takes_its_process_with_it_each_time_is_parked(each_ledger: Ledger, user: str, kind: str) -> None:
    put(each_ledger, user, kind)
    for number in range(3):
        take(each_ledger, kind, NOW + number * 20 * MINUTE, max_attempts=3)
    assert queue.claim(each_ledger, [kind], NOW + 90 * MINUTE, max_attempts=3) is None
    job = only(each_ledger, user)
    assert (job.status, job.attempts) == ("parked", 3)
    assert "killed or crashed" in str(job.error)


def test_the_next_process_of_a_home_ends_the_claims_of_the_one_before_and_tries_deferred_jobs_at_once(
    each_ledger: Ledger, user: str, kind: str
) -> None:
    put(each_ledger, user, kind)
    take(each_ledger, kind, home="a" * 32)
    queue.end_claims(each_ledger, "b" * 32, deferred=True)  # another home that shares the ledger may still run it
    assert only(each_ledger, user).status == "running"
    queue.end_claims(each_ledger, "a" * 32, deferred=True)
    assert only(each_ledger, user).status == "waiting"
    job = take(each_ledger, kind)
    assert job.attempts == 2
    with each_ledger.write(user) as tx:
        queue.defer(tx, job, "no model is set", datetime(2090, 1, 1, tzinfo=UTC))
    queue.end_claims(each_ledger, "a" * 32, deferred=True)
    deferred = only(each_ledger, user)
    assert (deferred.status, deferred.error) == ("deferred", "no model is set")
    assert deferred.due_at <= utc_now()


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


# -- settling --------------------------------------------------------------------------------------------------------


def test_after_an_erasure_a_running_job_settles_nothing(each_ledger: Ledger, user: str, kind: str) -> None:
    put(each_ledger, user, kind)
    job = take(each_ledger, kind)
    with each_ledger.write(user) as tx:
        assert erase_rows(tx)["jobs"] == 1
    put(each_ledger, user, kind, n="of the new life")
    with each_ledger.write(user) as tx:
        assert not queue.complete(tx, job)
    assert only(each_ledger, user).status == "waiting"


def test_by_hand_a_parked_job_is_retried_or_dropped_a_running_one_and_a_redaction_are_not(
    each_ledger: Ledger, user: str, kind: str
) -> None:
    job_id = put(each_ledger, user, kind)
    job = take(each_ledger, kind)
    for act in (queue.retry, queue.drop):
        with each_ledger.write(user) as tx, pytest.raises(InvalidInputError, match="is running"):
            act(tx, job_id)
        with each_ledger.write(f"{user} b") as tx, pytest.raises(NotFoundError, match=job_id):
            act(tx, job_id)  # of another user
    with each_ledger.write(user) as tx:
        queue.fail(tx, job, "gone", None, NOW)
        queue.retry(tx, job_id)
    again = only(each_ledger, user)
    assert (again.status, again.attempts, again.error) == ("waiting", 0, None)
    assert again.due_at <= utc_now()
    redaction = put(each_ledger, user, "redact_cleanup")
    with each_ledger.write(user) as tx:
        queue.drop(tx, job_id)
        with pytest.raises(InvalidInputError, match="cannot be dropped"):
            queue.drop(tx, redaction)
    assert only(each_ledger, user).id == redaction


def test_jobs_are_listed_and_counted_of_one_user_or_of_all(each_ledger: Ledger, user: str, kind: str) -> None:
    put(each_ledger, user, kind, NOW + MINUTE)
    assert not queue.unfinished(each_ledger, NOW, user)
    assert queue.unfinished(each_ledger, NOW + MINUTE, user)
    put(each_ledger, user, kind)
    put(each_ledger, f"{user} b", kind)
    take(each_ledger, kind, user=user)
    assert queue.count_jobs(each_ledger, user) == {(kind, "running"): 1, (kind, "waiting"): 1}
    assert queue.count_jobs(each_ledger)[kind, "waiting"] == 2
    assert [job.user for job in queue.list_jobs(each_ledger) if job.kind == kind] == [user, f"{user} b", user]


# -- usage -----------------------------------------------------------------------------------------------------------


def test_usage_is_summed_by_operation_and_agent_and_a_negative_one_is_refused(each_ledger: Ledger, user: str) -> None:
    row = {"operation": "remember", "agent": "labeler", "calls": 1, "input_tokens": 100, "output_tokens": 10}
    nothing = {"operation": "x", "agent": "y", "calls": 0, "input_tokens": 0, "output_tokens": 0, "seconds": 0.0}
    with each_ledger.write(user) as tx:
        add_usage(tx, [{**row, "seconds": 0.5}, {**row, "agent": "memorizer", "seconds": 1.0}])  # type: ignore[typeddict-item]
        add_usage(tx, [{**row, "calls": 2, "seconds": 0.25}])  # type: ignore[typeddict-item,list-item]
        add_usage(tx, [nothing])  # type: ignore[list-item]
        with pytest.raises(InvalidInputError, match="calls = -1"):
            add_usage(tx, [{**row, "calls": -1, "seconds": 0.0}])  # type: ignore[typeddict-item]
    with each_ledger.read(user) as tx:
        totals = usage_totals(tx)
        assert usage_totals(tx, since=datetime(2090, 1, 1, tzinfo=UTC)) == []
    assert [(row["agent"], row["calls"], row["input_tokens"], row["seconds"]) for row in totals] == [
        ("labeler", 3, 200, 0.75),
        ("memorizer", 1, 100, 1.0),
    ]
    assert all_usage(each_ledger) == totals
