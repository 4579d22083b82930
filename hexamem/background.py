"""Background work: handlers of queued jobs, the runner, and the background thread.

The contract of a handler: it runs **at least once**. A process may be killed after the handler has done its work and
before the job was removed from the queue; on a ledger that several homes share, a handler may even run twice at a time
once its claim has expired. So either the handler is idempotent, or it writes all its results to the ledger in one
:meth:`JobContext.write` and calls :meth:`JobContext.complete` in the same transaction: that happens exactly once.
"""

from __future__ import annotations

import logging
import os
import random
import threading
import time
import traceback
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Generic, Literal

from typing_extensions import TypeVar

from hexamem.errors import ConfigError, HexamemError, StoreClosedError
from hexamem.memory_types import utc_now
from hexamem.stores.ledger import Ledger, Transaction
from hexamem.stores.ledger import jobs as queue
from hexamem.stores.projections import Projector
from hexamem.stores.redaction import Redactor

_log = logging.getLogger("hexamem")
# All in seconds.
_PAUSE = 30.0  # after the queue could not be read
_GATHER = 0.1  # after a user's last write, so that writes in quick succession are indexed together
_LONGEST_GATHER = 1.0  # after the first of them
_REST = 0.5  # without a write, before work that no call waits for
_CONTENDED = 1.0  # where a due job is locked by a writer or waits for a running one of its kind
_LONGEST_SLEEP = 600.0  # so that a changed clock, or a suspended machine, delays nothing for long
_SHARED_SLEEP = 60.0  # on a shared ledger: other processes enqueue without notice to this one, and may be killed

UserT = TypeVar("UserT", default=Any)


class JobError(HexamemError):
    """Raised by a handler to report why it failed.

    The message is stored with the job and shown: it must not contain a user's texts, secrets or prompts. Of any other
    exception only the class name, the first line of its docstring and the place are stored.
    """


class JobLostError(HexamemError, RuntimeError):
    """The job no longer belongs to this handler: its claim expired, its user was erased, or the memory was closed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobOutcome:
    """The result of an attempt. Created by one of :meth:`done`, :meth:`retry`, :meth:`defer`, :meth:`park`.

    Attributes:
        reason: why; must not contain a user's texts.
        wait: how long until the next attempt; None for the exponential backoff.
    """

    status: Literal["done", "retry", "deferred", "parked"]
    reason: str = ""
    wait: timedelta | None = None

    @classmethod
    def done(cls) -> JobOutcome:
        """It is done; the job is deleted."""
        return cls(status="done")

    @classmethod
    def retry(cls, reason: str, wait: timedelta | None = None) -> JobOutcome:
        """It failed and may succeed later: retried with backoff, parked after the last attempt."""
        return cls(status="retry", reason=reason, wait=wait)

    @classmethod
    def defer(cls, reason: str, wait: timedelta = timedelta(minutes=10)) -> JobOutcome:
        """It cannot run yet (no model is set, the budget is used up): it waits, and no attempt is counted."""
        return cls(status="deferred", reason=reason, wait=wait)

    @classmethod
    def park(cls, reason: str) -> JobOutcome:
        """It cannot succeed: parked at once, until it is retried or dropped by hand."""
        return cls(status="parked", reason=reason)


class JobContext(Generic[UserT]):
    """A running job, bound to its user.

    Attributes:
        user: the memory of the job's user, a :class:`~hexamem.UserMemory`.
        user_name: the user.
        id, kind, payload: of the job.
        attempt: the number of this attempt, from 1.
    """

    def __init__(self, runner: JobRunner, job: queue.ClaimedJob, user: UserT) -> None:
        self.user, self.user_name = user, job.user
        self.id, self.kind, self.payload, self.attempt = job.id, job.kind, job.payload, job.attempts
        self.thread = threading.get_ident()
        self._runner, self._job = runner, job
        self._guard = threading.RLock()  # held while the handler writes, and while the job changes owners
        self._lost = self._completing = self._settled = False

    @contextmanager
    def write(self) -> Iterator[Transaction]:
        """A write transaction for the job's user, committed only if the handler still owns the job. Renews the claim.

        Keep it short: closing the memory waits for it.

        Raises:
            JobLostError: if it does not: stop, another attempt does the work or it is no longer needed.
        """
        with self._guard:
            self._completing = False
            if self._lost:
                raise JobLostError(f"job {self.id} ({self.kind}) was returned to the queue while it ran: stop it")
            with self._runner.ledger.write(self.user_name, create=False) as tx:
                if not queue.extend(tx, self._job, self._runner.clock() + self._runner.lease):
                    raise JobLostError(f"the claim on job {self.id} ({self.kind}) has expired: stop it")
                yield tx
            self._settled |= self._completing

    def complete(self, tx: Transaction) -> None:
        """Delete the job in the transaction of :meth:`write`, so that what is written there is written exactly once."""
        queue.complete(tx, self._job)
        self._completing = True

    def settle(self, write_result: Callable[[Transaction, queue.ClaimedJob], object], *, abandon: bool = False) -> None:
        """Write the result of the attempt, unless it was written.

        Args:
            write_result: called with the transaction and the job.
            abandon: whether the handler loses the job; if it still runs, its writes raise JobLostError.
        """
        with self._guard:
            if not (self._settled or self._lost):
                with self._runner.ledger.write(self.user_name, create=False) as tx:
                    write_result(tx, self._job)
                self._settled = True
            self._lost |= abandon


JobHandler = Callable[[JobContext], JobOutcome]
"""Does one job; see the contract at the top of this module. An exception is a failed attempt."""


class JobHandlers:
    """The handlers of a memory by kind of job. Jobs of a kind without a handler wait until one is registered."""

    def __init__(self) -> None:
        self._handlers: dict[str, JobHandler] = {}
        self.registered: Callable[[], object] = lambda: None  # called after each registration

    def register(self, kind: str, handler: JobHandler) -> None:
        """Register the handler of a kind of job.

        Raises:
            ConfigError: for a malformed kind, or one that has a handler already.
        """
        if not queue.is_kind(kind):
            raise ConfigError(f"job kind {kind!r}: {queue.KIND_RULE}")
        if kind in self._handlers:
            raise ConfigError(f"jobs of kind {kind!r} have a handler already; register each kind once")
        self._handlers = {**self._handlers, kind: handler}  # replaced, since other threads read it
        self.registered()

    def get(self, kind: str) -> JobHandler:
        """The handler of a kind."""
        return self._handlers[kind]

    def kinds(self) -> frozenset[str]:
        """The kinds with a handler."""
        return frozenset(self._handlers)


class JobRunner:
    """Runs the due jobs of a ledger, one at a time in this process, whichever thread asks."""

    def __init__(
        self,
        ledger: Ledger,
        handlers: JobHandlers,
        home: str,
        user_of: Callable[[str], object],
        *,
        closing: Callable[[], bool] = lambda: False,
        lease: timedelta = timedelta(minutes=15),
        max_attempts: int = 5,
        clock: Callable[[], datetime] = utc_now,
    ) -> None:
        self.ledger, self.handlers, self.home, self.closing = ledger, handlers, home, closing
        self.lease, self.max_attempts, self.clock = lease, max_attempts, clock
        self.idle: Callable[[], object] = lambda: None  # called when a thread has run all due jobs
        self._user_of = user_of
        self._random = random.Random()  # of the backoff
        self._turn = threading.Lock()
        self._process = os.getpid()
        self._current: JobContext | None = None
        self._interrupted = False  # the ledger failed, so that a job may still be claimed that nothing here runs

    def run_one(self, user: str | None = None, *, timeout: float = 0.0, without: Collection[str] = ()) -> bool | None:
        """Run the oldest due job, of one user or of any, that is not of a kind of ``without``."""
        if not self._turn.acquire(timeout=timeout):
            return None
        try:
            if self._interrupted:
                queue.end_claims(self.ledger, self.home, deferred=False)
            self._interrupted = True
            job = queue.claim(
                self.ledger,
                self.handlers.kinds().difference(without),
                self.clock(),
                home=self.home,
                lease=self.lease,
                max_attempts=self.max_attempts,
                user=user,
            )
            if job is not None:
                self._run(job)
            self._interrupted = False
            return job is not None
        finally:
            self._current = None
            self._turn.release()

    def run_due(
        self,
        user: str | None = None,
        deadline: float | None = None,
        skipped_kinds: Callable[[], Collection[str]] = tuple,
    ) -> None:
        """Run due jobs until none is left, the memory is closing, or ``time.monotonic()`` passes the deadline.

        Args:
            skipped_kinds: returns the kinds that are not run; called before each job.
        """
        current = self._current
        if os.getpid() != self._process or (current is not None and current.thread == threading.get_ident()):
            return  # in a forked process the lock may be held by a thread that does not exist there
        try:
            while not self.closing():
                left = None if deadline is None else deadline - time.monotonic()
                if left is not None and left < 0:
                    return
                # Short waits, since closing may begin meanwhile and waits for this call.
                timeout = 0.5 if left is None else min(left, 0.5)
                if self.run_one(user, timeout=timeout, without=skipped_kinds()) is False:
                    return
        finally:
            self.idle()

    def sleep(self) -> float | None:
        """Seconds until a job may be due, after :meth:`run_one` found none; None if there is no job."""
        longest = _LONGEST_SLEEP if self.ledger.embedded else _SHARED_SLEEP
        due = queue.next_due(self.ledger, self.handlers.kinds())
        if due is None:
            return None if self.ledger.embedded else longest
        left = (due - self.clock()).total_seconds()
        return min(left, longest) if left > 0 else _CONTENDED

    def release(self, thread: int) -> bool:
        """Return the job that a thread runs to the queue, though its handler still runs; returns whether there was one.

        The handler's writes are refused from then on; one in progress is waited for.
        """
        current = self._current
        if current is None or current.thread != thread:
            return False
        current.settle(queue.release, abandon=True)
        return True

    def _run(self, job: queue.ClaimedJob) -> None:
        try:
            context = JobContext(self, job, self._user_of(job.user))
        except HexamemError as error:
            with self.ledger.write(job.user, create=False) as tx:
                if isinstance(error, StoreClosedError):  # closing began in between
                    queue.release(tx, job)
                else:
                    self._write_outcome(tx, job, JobOutcome.retry(_described(error)))
            return
        self._current = context
        try:
            returned: object = self.handlers.get(job.kind)(context)
            if isinstance(returned, JobOutcome):
                outcome = returned
            else:
                outcome = JobOutcome.park(f"its handler returned {type(returned).__name__}, not a JobOutcome")
        except JobLostError:
            return
        except KeyboardInterrupt:
            context.settle(queue.release)
            raise
        except BaseException as error:  # noqa: BLE001 - the edge: what a handler raises, SystemExit too, is the job's error
            if isinstance(error, StoreClosedError) and self.closing():
                context.settle(queue.release)
                return
            outcome = JobOutcome.retry(_described(error))
        context.settle(lambda tx, job: self._write_outcome(tx, job, outcome))

    def _write_outcome(self, tx: Transaction, job: queue.ClaimedJob, outcome: JobOutcome) -> None:
        now, reason = self.clock(), _without_secrets(outcome.reason)
        if outcome.status == "done":
            queue.complete(tx, job)
            return
        if outcome.status == "deferred":
            queue.defer(tx, job, reason, now + (outcome.wait or timedelta()))
            return
        wait = outcome.wait if outcome.wait is not None else queue.backoff(job.attempts, self._random)
        parked = outcome.status == "parked" or job.attempts >= self.max_attempts
        queue.fail(tx, job, reason, None if parked else wait, now)
        if parked:
            _log.warning("a job is parked after %d attempts (%s): %s", job.attempts, job.kind, reason)


def _described(error: BaseException) -> str:
    """An error's class, its docstring's first line and its place. Its message is left out, since it may quote a user."""
    if isinstance(error, JobError):
        return str(error)
    kind = type(error)
    summary = (kind.__doc__ or "").strip().split("\n", 1)[0][:120]
    places = [
        (str(frame.f_globals.get("__name__", "?")), line) for frame, line in traceback.walk_tb(error.__traceback__)
    ]
    own = [place for place in places[1:] if place[0].split(".")[0] == "hexamem"] or places[-1:]
    place = f" (at {own[-1][0]}, line {own[-1][1]})" if own else ""
    return f"{kind.__name__}{': ' + summary if summary else ''}{place}"


def _without_secrets(text: str) -> str:
    """A text without the secrets that are detected in it."""
    redactor = Redactor(None)
    return str(redactor.clean(text, redactor.scan(text)))


class BackgroundWorker:
    """One thread that brings users' indexes up to the ledger after writes and runs due jobs.

    For each user first ``before`` is called, then the indexes are updated, then ``brought_up`` is called.

    An error in an index is logged here, and the next recall repairs or raises it. The thread starts when it is first
    needed, and never keeps the process alive.
    """

    def __init__(
        self,
        projector: Projector,
        runner: JobRunner,
        *,
        before: Callable[[str], object],
        brought_up: Callable[[str], object],
        idle: Callable[[str], object],
    ) -> None:
        self._stopped = threading.Event()
        self._written = 0.0  # when a user was put last, by the monotonic clock
        self._projector, self._runner = projector, runner
        self._before, self._brought_up = before, brought_up
        self._state = threading.Condition()
        self._users: dict[str, tuple[float, float]] = {}  # users with writes: when they were first and last put
        self._idle = idle
        self._idle_users: dict[str, None] = {}  # users for whom ``idle`` has work
        self._woken = False
        self._job_next = False  # jobs and users take turns, so that neither waits for all of the other
        self._thread: threading.Thread | None = None
        self._process = os.getpid()
        runner.idle = self.wake_if_running

    def put(self, user: str) -> None:
        """Request that a user's indexes be brought up, and the queue be read. Requests for the same user are merged."""
        self._wake(user)

    def wake(self) -> None:
        """Request that the queue be read."""
        self._wake()

    def wake_if_running(self) -> None:
        """Request that the queue be read, if the thread was started before."""
        if self._thread is not None:
            self._wake()

    def _wake(self, user: str | None = None) -> None:
        if os.getpid() != self._process:  # a forked process has no such thread, and its locks may be held for ever
            return
        with self._state:
            if self._stopped.is_set():
                return
            if user is not None:
                self._written = time.monotonic()
                first, _ = self._users.get(user, (self._written, 0.0))
                self._users[user] = (first, self._written)
            self._woken = True
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="hexamem-background", daemon=True)
                self._thread.start()
            self._state.notify()

    def stop(self, timeout: float = 10.0) -> None:
        """Stop the thread; what is left is done after the next open.

        The user whose indexes are being brought up is finished. A running job has ``timeout`` seconds to end; then it
        is returned to the queue as if it had not been started, and its handler's writes are refused.
        """
        if os.getpid() != self._process:
            return
        with self._state:
            self._stopped.set()
            self._state.notify()
            thread = self._thread
        if thread is None:
            return
        ident = thread.ident or 0
        if thread is threading.current_thread():  # a handler closes the memory
            self._runner.release(ident)
            return
        thread.join(timeout)
        while thread.is_alive() and not self._runner.release(ident):
            thread.join(0.5)

    def step(self) -> float | None:
        """Bring up one user or run one job. Returns how many seconds to sleep then: 0 if there may be more, None until woken."""
        with self._state:
            self._woken = False
            user = None if self._job_next else min(self._users, key=self._due, default=None)
            self._job_next = user is not None
            if user is not None:
                del self._users[user]
        if user is not None:
            try:
                self._before(user)
            except Exception as error:  # noqa: BLE001 - the edge of a thread: what could not be written waits in memory
                _log.warning("the recalls of a user could not be logged in the background: %s", _described(error))
            try:
                self._projector.catch_up(user)
                self._brought_up(user)
                self._idle_users[user] = None
            except Exception as error:  # noqa: BLE001 - the edge of a thread: the ledger is safe, recall meets it again
                _log.warning("the indexes of a user could not be brought up in the background: %s", _described(error))
            return 0.0
        try:
            if self._runner.closing():
                return None
            ran = self._runner.run_one()
            if ran is None:
                return None  # another thread runs jobs, and wakes this one when it is done
            if not ran and self._idle_users:
                if (left := self._written + _REST - time.monotonic()) > 0:
                    return left
                idle_user = self._idle_users.popitem()[0]
                self._idle(idle_user)
                return 0.0
            return 0.0 if ran else self._runner.sleep()
        except Exception as error:  # noqa: BLE001 - as above: the queue is safe in the ledger
            _log.warning("the job queue could not be served in the background: %s", _described(error))
            return _PAUSE

    def _run(self) -> None:
        while not self._stopped.wait(left := self._gathering()):
            if left:  # a write meanwhile may have put it off
                continue
            seconds = self.step()
            with self._state:
                if not (self._stopped.is_set() or self._users or self._woken or seconds == 0.0):
                    self._state.wait(seconds)

    def _gathering(self) -> float:
        """Seconds until the next step; 0 for a job, or if a user is due.

        Each update of the indexes has a cost of its own and slows recalls, so that writes in quick succession are indexed
        together.
        """
        with self._state:
            if self._job_next or not self._users:
                return 0.0
            return max(0.0, min(map(self._due, self._users)) - time.monotonic())

    def _due(self, user: str) -> float:
        first, last = self._users[user]
        return min(first + _LONGEST_GATHER, last + _GATHER)
