"""Jobs in the background: what handlers are given, what becomes of an attempt, killing, closing, flushing, sleeping."""
# ruff: noqa: F811 - fixtures come by import

from __future__ import annotations

import os
import random
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from hexamem import Memory, Settings, UserMemory, background
from hexamem.background import (
    BackgroundWorker,
    JobContext,
    JobError,
    JobHandler,
    JobHandlers,
    JobLostError,
    JobOutcome,
    JobRunner,
)
from hexamem.doctor import Finding, examine
from hexamem.errors import ConfigError, InvalidInputError
from hexamem.stores.ledger.jobs import Job, backoff, enqueue
from hexamem.stores.ledger.schema import jobs as jobs_table

from .commands import Finished, hexamem
from .ledger_databases import NewDatabase, new_database  # noqa: F401

NOW = datetime(2031, 5, 1, 12, tzinfo=UTC)
WAIT = 30  # seconds after which a test gives up; none waits that long


class Clock:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> datetime:
        return self.now

    def move(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def handlers() -> JobHandlers:
    return JobHandlers()


@pytest.fixture
def queue(static_memory: Memory) -> Iterator[Memory]:
    """A memory whose queue is empty, for tests that run its jobs by a runner of their own."""
    yield static_memory
    for user in {job.user for job in static_memory.jobs()}:
        with static_memory.ledger.write(user) as tx:
            tx.connection.execute(jobs_table.delete())


@pytest.fixture
def runner(queue: Memory, handlers: JobHandlers, clock: Clock) -> JobRunner:
    """A runner of its own handlers and clock on the ledger of :func:`queue`."""
    return JobRunner(queue.ledger, handlers, "home", queue.user, max_attempts=3, clock=clock)


def put(memory: Memory, user: str, kind: str, due: datetime | None = NOW, **payload: object) -> str:
    with memory.ledger.write(user) as tx:
        job_id = enqueue(tx, kind, payload, due_at=due)
    memory.wrote(user)
    return job_id


def put_now(memory: Memory, user: str, kind: str, **payload: object) -> str:
    return put(memory, user, kind, None, **payload)


def ending(outcome: JobOutcome | BaseException, seen: list[object] | None = None) -> JobHandler:
    """A handler that notes the payloads it sees, and ends like this."""

    def handler(job: JobContext) -> JobOutcome:
        if seen is not None:
            seen.append(job.payload.get("n"))
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome

    return handler


def opened(home: Path, **settings: Any) -> Memory:
    return Memory.open(home, embedder="static", settings=Settings(**{"mode": "off", "labels": "off", **settings}))


def only(memory: Memory) -> Job:
    [job] = memory.jobs()
    return job


# -- what becomes of a job ---------------------------------------------------------------------------------------------


def test_a_handler_gets_its_payload_bound_to_the_user_and_a_job_that_is_done_goes(
    queue: Memory, runner: JobRunner, handlers: JobHandlers
) -> None:
    seen: list[tuple[str, str, object, int]] = []

    def handler(job: JobContext) -> JobOutcome:
        seen.append((job.user_name, job.user.name, job.payload, job.attempt))
        return JobOutcome.done()

    handlers.register("note", handler)
    put(queue, "alice", "note", n=1)
    put(queue, "bob", "note", n=2)
    runner.run_due()
    assert seen == [("alice", "alice", {"n": 1}, 1), ("bob", "bob", {"n": 2}, 1)]
    assert queue.jobs() == []


def test_a_job_that_keeps_failing_waits_longer_each_time_and_is_parked_with_its_error(
    queue: Memory, runner: JobRunner, handlers: JobHandlers, clock: Clock
) -> None:
    seen: list[object] = []
    handlers.register("note", ending(JobError("the model refused the request: 401"), seen))
    put(queue, "alice", "note")
    waits = []
    for _ in range(2):
        runner.run_due()
        job = only(queue)
        assert (job.status, job.error) == ("waiting", "the model refused the request: 401")
        waits.append((job.due_at - clock.now).total_seconds())
        clock.move(waits[-1])
    assert 2.5 <= waits[0] <= 5 <= waits[1] <= 10
    for _ in range(2):  # parked, it is not run again
        runner.run_due()
        job = only(queue)
        assert (job.status, job.attempts, len(seen)) == ("parked", 3, 3)
        clock.move(1e6)
    for attempts, pause in ((1, 5), (3, 20), (10_000, 3600)):
        waits = [backoff(attempts, random.Random(seed)).total_seconds() for seed in range(20)]
        assert pause / 2 <= min(waits) < max(waits) <= pause


@pytest.mark.parametrize(
    ("outcome", "status", "attempts", "error", "wait"),
    [
        (JobOutcome.park("the file\nis gone" + "!" * 900), "parked", 1, "the file is gone!!!", None),
        (JobOutcome.defer("no model is set"), "deferred", 0, "no model is set", timedelta(minutes=10)),
        (None, "parked", 1, "its handler returned NoneType, not a JobOutcome", None),
        (SystemExit(3), "waiting", 1, "SystemExit", None),
        (KeyboardInterrupt(), "waiting", 0, "", None),
    ],
)
def test_what_a_handler_returns_or_raises_becomes_of_its_job(
    queue: Memory,
    runner: JobRunner,
    handlers: JobHandlers,
    outcome: JobOutcome | BaseException,
    status: str,
    attempts: int,
    error: str,
    wait: timedelta | None,
) -> None:
    handlers.register("note", ending(outcome))
    put(queue, "alice", "note")
    with pytest.raises(KeyboardInterrupt) if isinstance(outcome, KeyboardInterrupt) else nullcontext():
        runner.run_due()
    job = only(queue)
    assert (job.status, job.attempts) == (status, attempts)
    assert error in str(job.error)
    assert len(str(job.error)) <= 500
    assert wait in (None, job.due_at - NOW)


def test_what_is_kept_of_an_error_tells_no_word_of_the_user(
    queue: Memory, runner: JobRunner, handlers: JobHandlers
) -> None:
    handlers.register("one", ending(InvalidInputError("'quokka Ada' is no name")))
    handlers.register("two", ending(ValueError("quokka")))
    handlers.register("three", ending(JobError("refused with api_key=sk-proj-Zx81kQ0aLm42Tn77VbC3dE9f")))
    for kind in ("one", "two", "three"):
        put(queue, "alice", kind)
    runner.run_due()
    errors = {job.kind: str(job.error) for job in queue.jobs()}
    assert "quokka" not in str(errors)
    assert "sk-proj-Zx81" not in str(errors)
    assert errors["one"].startswith("InvalidInputError: An argument of a call is not acceptable")
    assert errors["two"].startswith("ValueError: ")
    assert "line" in errors["two"]
    assert errors["three"].startswith("refused with")


def test_a_kind_without_a_handler_waits_until_one_is_registered_once_and_under_a_proper_name(memory: Memory) -> None:
    seen: list[object] = []
    put_now(memory, "alice", "later", n=1)
    assert memory.flush() is False
    assert only(memory).status == "waiting"
    memory.handlers.register("later", ending(JobOutcome.done(), seen))
    assert memory.flush() is True
    assert seen == [1]
    with pytest.raises(ConfigError, match="have a handler already"):
        memory.handlers.register("later", ending(JobOutcome.done()))
    with pytest.raises(ConfigError, match="lower-case"):
        memory.handlers.register("Not A Kind", ending(JobOutcome.done()))


# -- writing in handlers -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("committed", "left"), [(True, ("follow_up", 0)), (False, ("note", 1))])
def test_what_a_handler_writes_with_the_completion_is_kept_where_its_transaction_is(
    queue: Memory, runner: JobRunner, handlers: JobHandlers, committed: bool, left: tuple[str, int]
) -> None:
    def handler(job: JobContext) -> JobOutcome:
        with job.write() as tx:
            enqueue(tx, "follow_up", {})
            job.complete(tx)
            if not committed:
                raise RuntimeError("in the middle")
        raise RuntimeError("too late to matter")

    handlers.register("note", handler)
    put(queue, "alice", "note")
    runner.run_due()
    assert (only(queue).kind, only(queue).attempts) == left


def test_a_handler_whose_user_was_erased_meanwhile_writes_nothing(memory: Memory) -> None:
    raised: list[BaseException] = []

    def handler(job: JobContext) -> JobOutcome:
        job.user.erase()
        try:
            with job.write() as tx:
                enqueue(tx, "follow_up", {})
        except JobLostError as error:
            raised.append(error)
            raise
        return JobOutcome.done()

    memory.handlers.register("note", handler)
    memory.user("alice").remember("hello")
    put_now(memory, "alice", "note")
    memory.flush()
    assert len(raised) == 1
    assert (memory.jobs(), memory.users()) == ([], [])


# -- flushing ----------------------------------------------------------------------------------------------------------


def test_a_users_flush_runs_the_users_jobs_alone_and_indexes_what_they_wrote(memory: Memory, alice: UserMemory) -> None:
    flushed: list[bool] = []

    def handler(job: JobContext) -> JobOutcome:
        job.user.add({"kind": "semantic", "name": "boat", "summary": "The boat is called Comet"})
        flushed.extend([job.user.flush(), job.user.memory.flush(timeout=5)])  # they do not wait for their own job
        return JobOutcome.done()

    memory.handlers.register("note", handler)
    alice.remember("hello")
    put_now(memory, "alice", "note")
    put_now(memory, "bob", "note")
    assert alice.flush() is True
    assert flushed == [False, False]
    assert memory.projector.behind("alice") == 0
    assert alice.recall("boat").hits[0].text.endswith("Comet")
    assert alice.jobs() == []
    assert [(job.user, job.kind) for job in memory.jobs()] == [("bob", "note")]
    assert memory.user("bob").jobs() == memory.jobs()


def test_what_cannot_be_done_now_does_not_hold_flush_up_and_it_says_so(memory: Memory, alice: UserMemory) -> None:
    seen: list[object] = []
    memory.handlers.register("note", ending(JobOutcome.done(), seen))
    put(memory, "alice", "note", datetime(2090, 1, 1, tzinfo=UTC))
    assert alice.flush() is True  # a job for a later time is no work left
    put_now(memory, "alice", "note")
    assert alice.flush(timeout=-1) is False
    assert seen == []
    for kind, outcome in (
        ("parks", JobOutcome.park("broken")),
        ("defers", JobOutcome.defer("no model is set")),
        ("fails", JobOutcome.retry("busy")),
    ):
        memory.handlers.register(kind, ending(outcome))
        put_now(memory, "alice", kind)
    assert alice.flush() is False
    assert memory.flush() is False
    left = {job.kind: job.status for job in memory.jobs()}
    assert left == {"note": "waiting", "parks": "parked", "defers": "deferred", "fails": "waiting"}


# -- the worker's thread -----------------------------------------------------------------------------------------------


def test_the_background_runs_jobs_also_of_later_handlers_and_flush_waits_for_the_one_that_runs(tmp_path: Path) -> None:
    threads: list[str] = []
    began, go_on, late = threading.Event(), threading.Event(), threading.Event()

    def early_handler(job: JobContext) -> JobOutcome:
        began.set()
        assert go_on.wait(WAIT)
        threads.append(threading.current_thread().name)
        return JobOutcome.done()

    def late_handler(job: JobContext) -> JobOutcome:
        threads.append(threading.current_thread().name)
        late.set()
        return JobOutcome.done()

    with opened(tmp_path / "home", job_stop=1) as memory:
        memory.handlers.register("early", early_handler)
        put_now(memory, "alice", "early")
        assert began.wait(WAIT)
        assert memory.flush(timeout=0.05) is False
        assert only(memory).status == "running"
        go_on.set()
        assert memory.flush() is True
        assert len(threads) == 1
        put_now(memory, "alice", "late")
        memory.handlers.register("late", late_handler)
        assert late.wait(WAIT)
        assert memory.flush() is True
    assert threads == ["hexamem-background"] * 2


def test_closing_lets_a_short_job_end_and_puts_a_long_one_back_whose_handler_can_write_no_more(tmp_path: Path) -> None:
    began, go_on, ended = threading.Event(), threading.Event(), threading.Event()
    raised: list[BaseException] = []

    def short(job: JobContext) -> JobOutcome:
        began.set()
        assert not ended.wait(0.3)  # it closes meanwhile
        with job.write() as tx:
            enqueue(tx, "follow_up", {})
            job.complete(tx)
        return JobOutcome.done()

    def long(job: JobContext) -> JobOutcome:
        began.set()
        assert go_on.wait(WAIT)
        try:
            with job.write() as tx:
                enqueue(tx, "another", {})
        except JobLostError as error:
            raised.append(error)
            raise
        finally:
            ended.set()
        return JobOutcome.done()

    for kind, handler in (("note", short), ("follow_up", long)):
        memory = opened(tmp_path / "home", job_stop=1)
        memory.handlers.register(kind, handler)
        if kind == "note":
            put_now(memory, "alice", kind)
        assert began.wait(WAIT)
        memory.close()
        began.clear()
    with opened(tmp_path / "home", background=False) as again:
        assert (only(again).kind, only(again).status, only(again).attempts) == ("follow_up", "waiting", 0)
        go_on.set()
        assert ended.wait(WAIT)
        assert len(raised) == 1
        assert only(again).attempts == 0


def test_a_memory_may_be_closed_while_a_handler_uses_it(tmp_path: Path) -> None:
    began = threading.Event()

    def handler(job: JobContext) -> JobOutcome:
        while True:  # ends when the memory refuses, because it is closing
            job.user.recall("anything")
            job.user.memory.close()
            began.set()

    memory = opened(tmp_path / "home")
    memory.handlers.register("note", handler)
    memory.user("alice").remember("hello")
    put_now(memory, "alice", "note")
    assert began.wait(WAIT)
    memory.close()
    with opened(tmp_path / "home", background=False) as again:
        assert (only(again).status, only(again).attempts) == ("waiting", 0)


# -- killing and leaving -----------------------------------------------------------------------------------------------


def test_two_homes_on_one_ledger_run_each_job_once(new_database: NewDatabase, tmp_path: Path) -> None:
    options: Any = {"ledger_url": new_database(), "embedder": "static", "settings": Settings(background=False)}
    seen: list[object] = []
    with (
        Memory.open(tmp_path / "one", **options) as one,
        Memory.open(tmp_path / "two", **options) as two,
        ThreadPoolExecutor(2) as pool,
    ):
        for number in range(10):
            put_now(one, f"user {number}", "note", n=number)
        for memory in (one, two):
            memory.handlers.register("note", ending(JobOutcome.done(), seen))
        list(pool.map(lambda memory: memory.flush(), (one, two)))
        assert one.flush() is True
    assert sorted(seen, key=str) == list(range(10))


_FORKING = """
    import os, sys
    from hexamem import Memory
    from hexamem.errors import HomeInUseError

    memory = Memory.open(sys.argv[1], embedder="static")
    alice = memory.user("alice")
    alice.remember("a late heron")
    alice.recall("heron")
    child = os.fork()
    if child == 0:
        calls = (memory.flush, lambda: alice.remember("x"), lambda: alice.recall("x"), lambda: memory.user("bob"))
        for call in calls:
            try:
                call()
                os._exit(1)
            except HomeInUseError as error:
                if "fork" not in str(error):
                    os._exit(2)
        memory.close()
        sys.exit(7)  # with finalizers
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    assert os.spawnv(os.P_WAIT, sys.executable, [sys.executable, "-c", sys.argv[2], sys.argv[1]]) == 7
    assert memory.flush() and len(alice.steps()) == 1
    memory.close()
"""
_OPENING = (
    "import sys, hexamem\ntry: hexamem.Memory.open(sys.argv[1])\nexcept hexamem.errors.HomeInUseError: sys.exit(7)"
)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forking as on POSIX")
def test_a_fork_is_told_to_open_a_memory_of_its_own_and_leaves_its_parent_the_home(tmp_path: Path) -> None:
    program = [sys.executable, "-W", "ignore", "-c", textwrap.dedent(_FORKING), tmp_path / "home", _OPENING]
    done = subprocess.run(program, check=False, timeout=120, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


# -- privacy, doctor, the command --------------------------------------------------------------------------------------


def test_redacting_takes_the_words_out_of_jobs_exports_leave_them_out_and_erasing_takes_them(
    memory: Memory, alice: UserMemory, tmp_path: Path
) -> None:
    alice.remember("My boat is called quokkasong.")
    with memory.ledger.write("alice") as tx:
        enqueue(tx, "note", {"said": "quokkasong", "deep": [{"quokkasong": 1}]}, key="about quokkasong")
    alice.redact("quokkasong", caption="boat")
    with memory.ledger.read("alice") as tx:
        [row] = tx.all(jobs_table.select().where(jobs_table.c.kind == "note"))
    assert "quokkasong" not in str(tuple(row))
    assert "jobs" not in alice.export(tmp_path / "out.jsonl")
    assert "note" not in (tmp_path / "out.jsonl").read_text()
    assert alice.erase().rows["jobs"] == 2  # the other manages what was remembered


def test_doctor_reports_parked_deferred_and_unknown_jobs_and_what_to_do(memory: Memory) -> None:
    def findings() -> dict[str, Finding]:
        return {finding.name: finding for finding in examine(memory)}

    assert findings()["jobs"].detail == "0 waiting, none parked"
    memory.handlers.register("label", ending(JobOutcome.park("the model is gone")))
    memory.handlers.register("polish", ending(JobOutcome.defer("the budget is used up")))
    parked = put_now(memory, "alice", "label")
    for user, kind in (("alice", "polish"), ("bob", "polish"), ("bob", "juggle")):
        put_now(memory, user, kind)
    memory.flush()
    found = findings()
    assert found["job"].status == "wrong"
    for part in ("label", "'alice'", "1 attempts", "the model is gone", f"hexamem jobs retry {parked}"):
        assert part in found["job"].detail
    assert found["deferred jobs"].detail.startswith("2 of kind polish deferred: the budget is used up")
    assert "'juggle'" in found["unknown jobs"].detail
    assert found["jobs"].detail == "1 waiting, 2 deferred, 1 parked"


@pytest.mark.embedded
def test_the_command_lists_retries_and_drops(tmp_path: Path) -> None:
    home = tmp_path / "home"
    assert "no memory" in hexamem("jobs", "list", "--home", home).error
    assert not home.exists()
    with opened(home, background=False) as memory:
        memory.handlers.register("label", ending(JobOutcome.park("the model is gone")))
        put_now(memory, "alice", "label")
        memory.flush()
    assert "the model is" in hexamem("jobs", "list", "--home", home).out  # folded in a narrow window

    def jobs(*words: str) -> Finished:
        return hexamem("jobs", *words, "--home", home, "--json")

    [job] = jobs("list").json
    assert (job["user"], job["status"]) == ("alice", "parked")
    assert jobs("retry", job["id"], "--user", "alice").json["done"] == "retried"
    assert [one["status"] for one in jobs("list", "--user", "alice").json] == ["waiting"]
    assert jobs("list", "--user", "bob").json == []
    assert job["id"] in jobs("drop", job["id"], "--user", "bob").error
    jobs("drop", job["id"], "--user", "alice")
    assert jobs("list").json == []


# ------------------------------------------------------------------------------------------------- gathering of writes


class Work:
    """In place of the projector and the runner of jobs: records which users are indexed, and how many jobs were run."""

    def __init__(self) -> None:
        self.indexed: list[str] = []
        self.waiting, self.ran = 0, 0
        self.idle: Any = None

    def catch_up(self, user: str) -> None:
        self.indexed.append(user)

    def closing(self) -> bool:
        return False

    def run_one(self) -> bool:
        done, self.waiting = self.waiting > 0, max(0, self.waiting - 1)
        self.ran += done
        return done

    def sleep(self) -> float:
        return 60.0


@pytest.fixture
def work(monkeypatch: pytest.MonkeyPatch) -> Work:
    monkeypatch.setattr(background, "_GATHER", 0.2)
    monkeypatch.setattr(background, "_LONGEST_GATHER", 0.6)
    return Work()


@pytest.fixture
def worker(work: Any) -> Iterator[BackgroundWorker]:
    worker = BackgroundWorker(work, work, before=Mock(), brought_up=Mock(), idle=Mock())
    yield worker
    worker.stop()


def test_a_user_who_goes_on_writing_is_indexed_from_time_to_time_and_delays_neither_others_nor_jobs(
    work: Work, worker: BackgroundWorker
) -> None:
    others = [f"user {number}" for number in range(20)]
    began = time.monotonic()
    while time.monotonic() < began + 2.4:
        worker.put("writer")
        if others and time.monotonic() > began + 0.3:
            for other in others:
                worker.put(other)
            others, work.waiting = [], 20
        time.sleep(0.01)
    assert 2 <= work.indexed.count("writer") <= 4
    assert {f"user {number}" for number in range(20)} <= set(work.indexed)
    assert work.ran == 20


def test_writes_before_a_pause_are_indexed_together(work: Work, worker: BackgroundWorker) -> None:
    for _ in range(10):
        worker.put("alice")
    time.sleep(0.8)
    assert work.indexed == ["alice"]


def test_while_writes_are_gathered_stopping_returns_at_once_and_begins_nothing(
    work: Work, worker: BackgroundWorker
) -> None:
    worker.put("alice")
    began = time.monotonic()
    worker.stop()
    assert time.monotonic() - began < 0.15
    assert work.indexed == []
