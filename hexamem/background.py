"""Work behind the calls: handlers of queued jobs, who runs them, and the one thread that does so in the background.

What a handler must keep to: it runs **at least once**. A process may be killed after it has done its work and before
the job was taken off the queue; on a ledger that several homes share, it may even run twice at a time once its claim
has ended. So either doing it again does no harm, or what it does is written to the ledger in one
:meth:`JobContext.write`, and :meth:`JobContext.complete` is called in the same transaction: that happens exactly once.
"""

from __future__ import annotations

import logging
import math
import os
import random
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
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

__all__ = [
    "BackgroundWorker",
    "JobContext",
    "JobError",
    "JobHandler",
    "JobHandlers",
    "JobLostError",
    "JobOutcome",
    "JobRunner",
]

_log = logging.getLogger("hexamem")
_PAUSE = 30.0  # seconds, after the queue itself could not be read
_BREATH = 0.1  # seconds of quiet before each thing is done
_PATIENCE = 0.3  # seconds for which such quiet is waited for
_LEISURE, _NEGLECTED = 0.5, 5.0  # seconds of quiet before what nobody waits for, and for how long that is waited for
_SLICE = 0.05  # seconds between two parts of what nobody waits for
_CONTENDED = 1.0  # seconds, where a due job is held by a writer or beside a running one of its kind
_LONGEST_SLEEP = 600.0  # so that a clock that was set, or a machine that slept, delays nothing for long
_SHARED_SLEEP = 60.0  # on a shared ledger: others enqueue without a word to this process, and die

UserT = TypeVar("UserT", default=Any)


class JobError(HexamemError):
    """What a handler raises to say in words why it failed.

    The message is kept with the job and shown: it holds no words of the user, no secret, nothing of a prompt. Of any
    other exception only the name, its class's own description and the place are kept.
    """


class JobLostError(HexamemError, RuntimeError):
    """The job is no longer this handler's: its claim ended, its user was erased, or the memory was closed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobOutcome:
    """What became of an attempt. Made by one of :meth:`done`, :meth:`retry`, :meth:`defer`, :meth:`park`.

    Attributes:
        reason: why, in words that hold nothing of the user's.
        wait: how long until the next look; None leaves it to the backoff.
    """

    status: Literal["done", "retry", "deferred", "parked"]
    reason: str = ""
    wait: timedelta | None = None

    @classmethod
    def done(cls) -> JobOutcome:
        """It is done; the job goes."""
        return cls(status="done")

    @classmethod
    def retry(cls, reason: str, wait: timedelta | None = None) -> JobOutcome:
        """It failed and may succeed later: tried again after a growing pause, parked after the last attempt."""
        return cls(status="retry", reason=reason, wait=wait)

    @classmethod
    def defer(cls, reason: str, wait: timedelta = timedelta(minutes=10)) -> JobOutcome:
        """It cannot run yet (no model is set, the budget is used up): it waits, and no attempt is counted."""
        return cls(status="deferred", reason=reason, wait=wait)

    @classmethod
    def park(cls, reason: str) -> JobOutcome:
        """It cannot succeed as it is: parked at once, until somebody retries or drops it."""
        return cls(status="parked", reason=reason)


class JobContext(Generic[UserT]):
    """A job that runs, bound to its user.

    Attributes:
        user: the memory of the job's user, a :class:`~hexamem.UserMemory`.
        user_name: the user.
        id, kind, payload: the job.
        attempt: 1 at the first.
    """

    def __init__(self, runner: JobRunner, job: queue.ClaimedJob, user: UserT) -> None:
        self.user, self.user_name = user, job.user
        self.id, self.kind, self.payload, self.attempt = job.id, job.kind, job.payload, job.attempts
        self.thread = threading.get_ident()
        self._runner, self._job = runner, job
        self._guard = threading.RLock()  # held while the handler writes, and while it is decided whose the job is
        self._lost = self._completing = self._settled = False

    @property
    def stopping(self) -> bool:
        """Whether the memory is being closed: a long handler looks now and then, and returns a retry or gives up."""
        return self._lost or self._runner.closing()

    @contextmanager
    def write(self) -> Iterator[Transaction]:
        """A transaction of the job's user that is committed only while the job is ours; it renews the claim.

        Keep it short: closing the memory waits for it.

        Raises:
            JobLostError: if it is not: give up, another attempt does the work or nobody needs it.
        """
        with self._guard:
            self._completing = False
            if self._lost:
                raise JobLostError(f"job {self.id} ({self.kind}) was given back while it ran: leave the rest of it")
            with self._runner.ledger.write(self.user_name, create=False) as tx:
                if not queue.extend(tx, self._job, self._runner.clock() + self._runner.lease):
                    raise JobLostError(f"job {self.id} ({self.kind}) is not held any more: leave the rest of it")
                yield tx
            self._settled |= self._completing

    def complete(self, tx: Transaction) -> None:
        """Take the job off the queue in the transaction of :meth:`write`: what it wrote there is then done once."""
        queue.complete(tx, self._job)
        self._completing = True

    def settle(self, put: Callable[[Transaction, queue.ClaimedJob], object], *, leave: bool = False) -> None:
        """Write what became of the job, unless that was done; with ``leave`` the handler, if it runs on, lost it."""
        with self._guard:
            if not (self._settled or self._lost):
                with self._runner.ledger.write(self.user_name, create=False) as tx:
                    put(tx, self._job)
                self._settled = True
            self._lost |= leave


JobHandler = Callable[[JobContext], JobOutcome]
"""Does one job; see the contract at the top of this module. It may raise: that is an attempt that failed."""


class JobHandlers:
    """The handlers of a memory by kind of job. Jobs of a kind that has none wait until it is registered."""

    def __init__(self) -> None:
        self._handlers: dict[str, JobHandler] = {}
        self.registered: Callable[[], object] = lambda: None  # called after each registration

    def register(self, kind: str, handler: JobHandler) -> None:
        """Run jobs of this kind by this handler from now on.

        Raises:
            ConfigError: for a kind of another form, or one that has a handler already.
        """
        if not queue.is_kind(kind):
            raise ConfigError(f"job kind {kind!r}: {queue.KIND_RULE}")
        if kind in self._handlers:
            raise ConfigError(f"jobs of kind {kind!r} have a handler already; register each kind once")
        self._handlers = {**self._handlers, kind: handler}  # readers in other threads see the old or the new
        self.registered()

    def get(self, kind: str) -> JobHandler:
        """The handler of a kind."""
        return self._handlers[kind]

    def kinds(self) -> frozenset[str]:
        """The kinds that have one."""
        return frozenset(self._handlers)


class JobRunner:
    """Runs the due jobs of a ledger, one at a time in this process, whichever thread asks.

    Args:
        home: the id of the home, which distinguishes its claims from others' on a shared ledger.
        user_of: gives the memory of a user.
        closing: whether the memory is being closed; then no further job is begun.
        lease: how long a claim holds without a write of the job.
        max_attempts: after so many failed attempts a job is parked.
        clock, draw: the time, and chance for the backoff.
    """

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
        draw: random.Random | None = None,
    ) -> None:
        self.ledger, self.handlers, self.home, self.closing = ledger, handlers, home, closing
        self.lease, self.max_attempts, self.clock = lease, max_attempts, clock
        self.idle: Callable[[], object] = lambda: None  # called when somebody's turn has ended
        self._user_of = user_of
        self._draw = draw or random.Random()
        self._turn = threading.Lock()
        self._process = os.getpid()
        self._current: JobContext | None = None

    def run_one(self, user: str | None = None, *, timeout: float = 0.0) -> bool | None:
        """Run the oldest due job, of one user or of any; False if there is none, None if another thread runs one.

        Args:
            timeout: seconds to wait for a job of another thread to end; -1 waits as long as it takes.
        """
        if not self._turn.acquire(timeout=timeout):
            return None
        try:
            job = queue.claim(
                self.ledger,
                self.handlers.kinds(),
                self.clock(),
                home=self.home,
                lease=self.lease,
                max_attempts=self.max_attempts,
                user=user,
            )
            if job is not None:
                self._run(job)
            return job is not None
        finally:
            self._current = None
            self._turn.release()

    def run_due(self, user: str | None = None, deadline: float | None = None) -> None:
        """Run due jobs until none is left, the memory is closing, or ``time.monotonic()`` passes the deadline.

        A job that runs is not broken off: the deadline is looked at between two. Called by a handler, it does nothing.
        """
        current = self._current
        if os.getpid() != self._process or (current is not None and current.thread == threading.get_ident()):
            return  # a fork may have inherited a turn that nobody ends
        try:
            while not self.closing():
                left = None if deadline is None else deadline - time.monotonic()
                if left is not None and left < 0:
                    return
                # In short waits, since closing may begin meanwhile and waits for this call.
                if self.run_one(user, timeout=0.5 if left is None else min(left, 0.5)) is False:
                    return
        finally:
            self.idle()

    def sleep(self) -> float | None:
        """Seconds until there may be a job to run, to be asked after :meth:`run_one` found none; None if there is none."""
        longest = _LONGEST_SLEEP if self.ledger.embedded else _SHARED_SLEEP
        due = queue.next_due(self.ledger, self.handlers.kinds())
        if due is None:
            return None if self.ledger.embedded else longest
        left = (due - self.clock()).total_seconds()
        return min(left, longest) if left > 0 else _CONTENDED

    def give_back(self, thread: int) -> bool:
        """Put the job that a thread runs back into the queue, its handler left behind; whether there was one.

        The handler's writes are refused from then on; one that is under way is waited for.
        """
        current = self._current
        if current is None or current.thread != thread:
            return False
        current.settle(queue.release, leave=True)
        return True

    def _run(self, job: queue.ClaimedJob) -> None:
        try:
            context = JobContext(self, job, self._user_of(job.user))
        except HexamemError as error:
            outcome = JobOutcome.retry(_in_words(error))
            with self.ledger.write(job.user, create=False) as tx:
                if isinstance(error, StoreClosedError):  # closing began in between
                    queue.release(tx, job)
                else:
                    self._put(tx, job, outcome)
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
        except BaseException as error:  # noqa: BLE001 - the edge: what a handler raises becomes the job's error
            if isinstance(error, StoreClosedError) and self.closing():
                context.settle(queue.release)
                return
            outcome = JobOutcome.retry(_in_words(error))
        context.settle(lambda tx, job: self._put(tx, job, outcome))

    def _put(self, tx: Transaction, job: queue.ClaimedJob, outcome: JobOutcome) -> None:
        now, reason = self.clock(), _without_secrets(outcome.reason)
        if outcome.status == "done":
            queue.complete(tx, job)
            return
        if outcome.status == "deferred":
            queue.defer(tx, job, reason, now + (outcome.wait or timedelta()))
            return
        wait = outcome.wait if outcome.wait is not None else queue.backoff(job.attempts, draw=self._draw)
        parked = outcome.status == "parked" or job.attempts >= self.max_attempts
        queue.fail(tx, job, reason, None if parked else wait, now)
        if parked:
            _log.warning("a job is parked after %d attempts (%s): %s", job.attempts, job.kind, reason)


def _in_words(error: BaseException) -> str:
    """An error in words that come from the program: its own message may repeat a user's words."""
    if isinstance(error, JobError):
        return str(error)
    kind = type(error)
    described = (kind.__doc__ or "").strip().split("\n", 1)[0][:120]
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    lines = [line for _, line in traceback.walk_tb(error.__traceback__)]
    names = [str(frame.f_globals.get("__name__", "?")) for frame in frames]
    own = [number for number, name in enumerate(names) if name.split(".")[0] == "hexamem" and number] or [
        len(names) - 1
    ]
    place = f" (at {names[own[-1]]}, line {lines[own[-1]]})" if names else ""
    return f"{kind.__name__}{': ' + described if described else ''}{place}"


def _without_secrets(text: str) -> str:
    """A text without the secrets that are detected in it."""
    redactor = Redactor(None)
    near: Any = redactor.scan(text)
    return str(redactor.clean(text, near))


class BackgroundWorker:
    """One thread that brings users' indexes up after writes and runs due jobs. It sleeps until there is something.

    An error of an index is left for the next recall to meet. The thread begins with the first thing to do, and never
    keeps the process alive.

    Args:
        wait: how it sleeps on its condition, for so many seconds or until woken.
        brought_up: called with each user whose indexes were brought up, at once.
        idle: called with each user who was brought up, when there is nothing else to do; whether there is more to do, of
            which it does a little at a time.
        quiet: for how many seconds nobody but this thread has called the memory. Whoever does shares the
            interpreter with this thread, so each thing waits until there was a breath of quiet, though not for long.
    """

    def __init__(
        self,
        projector: Projector,
        runner: JobRunner,
        *,
        wait: Callable[[threading.Condition, float | None], object] = threading.Condition.wait,
        brought_up: Callable[[str], object] = lambda user: None,
        idle: Callable[[str], bool | None] | None = None,
        quiet: Callable[[], float] = lambda: math.inf,
    ) -> None:
        self._quiet, self._stopped = quiet, threading.Event()
        self._patience = _PATIENCE
        self._idle_since: float | None = None  # when there began to be nothing else to do
        self._projector, self._runner, self._wait, self._brought_up = projector, runner, wait, brought_up
        self._state = threading.Condition()
        self._users: dict[str, None] = {}  # in the order in which they wrote
        self._idle = idle
        self._untidy: dict[str, None] = {}  # users who were brought up since there was nothing to do
        self._news = False
        self._job_next = False  # jobs and users take turns, so that neither waits for the last of the other
        self._stopping = False
        self._thread: threading.Thread | None = None
        self._process = os.getpid()
        runner.idle = self.wake_if_running

    def put(self, user: str) -> None:
        """Ask for a user to be brought up, and for a look at the queue; asked twice before it ran, it runs once."""
        self._wake({user: None})

    def wake(self) -> None:
        """Ask for a look at the queue."""
        self._wake({})

    def wake_if_running(self) -> None:
        """Ask for a look at the queue, if the thread was needed before."""
        if self._thread is not None:
            self._wake({})

    def _wake(self, users: Mapping[str, None]) -> None:
        if os.getpid() != self._process:  # a fork has no such thread, and its locks may be held for ever
            return
        with self._state:
            if self._stopping:
                return
            self._users |= users
            self._news = True
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="hexamem-background", daemon=True)
                self._thread.start()
            self._state.notify()

    def stop(self, timeout: float = 10.0) -> None:
        """End the thread; what is left is done after the next open.

        The user whose indexes are being brought up is finished. A job gets ``timeout`` seconds to end; then it is put
        back into the queue as if it had not been begun, and its handler is left behind, unable to write.
        """
        if os.getpid() != self._process:
            return
        self._stopped.set()
        with self._state:
            self._stopping = True
            self._state.notify()
            thread = self._thread
        if thread is None:
            return
        ident = thread.ident or 0
        if thread is threading.current_thread():  # a handler closes the memory
            self._runner.give_back(ident)
            return
        thread.join(timeout)
        while thread.is_alive() and not self._runner.give_back(ident):
            thread.join(0.5)

    def step(self) -> float | None:
        """Do one thing. Returns how many seconds to sleep then: 0 if there may be more, None until woken."""
        with self._state:
            self._news = False
            user = None if self._job_next else next(iter(self._users), None)
            self._job_next = user is not None
            if user is not None:
                del self._users[user]
        if user is not None:
            try:
                self._projector.catch_up(user)
                self._brought_up(user)
                if self._idle is not None:
                    self._untidy[user] = None
            except Exception as error:  # noqa: BLE001 - the edge of a thread: the ledger is safe, recall meets it again
                _log.warning("the indexes of a user could not be brought up in the background: %s", error)
            return 0.0
        try:
            if self._runner.closing():
                return None
            ran = self._runner.run_one()
            if ran is None:
                return None  # another thread runs jobs, and wakes this one when it is through
            if not ran and self._idle is not None and self._untidy:  # nothing else to do
                if (left := self._leisure()) > 0:
                    return left
                tidied = self._untidy.popitem()[0]
                if self._idle(tidied):
                    self._untidy[tidied] = None
                    return _SLICE
                return 0.0
            return 0.0 if ran else self._runner.sleep()
        except Exception as error:  # noqa: BLE001 - as above: the queue is safe in the ledger
            _log.warning("the job queue could not be served in the background: %s", error)
            return _PAUSE

    def _leisure(self) -> float:
        """How many seconds are left until the memory has been quiet long enough for what nobody waits for."""
        now = time.monotonic()
        if self._idle_since is None:
            self._idle_since = now
        left = min(_LEISURE - self._quiet(), self._idle_since + _NEGLECTED - now)
        if left <= 0:
            self._idle_since = None
        return left

    def _give_way(self) -> None:
        """Wait for a breath of quiet, as long as patience lasts."""
        end = time.monotonic() + self._patience
        while not self._stopping:
            now = time.monotonic()
            left = min(_BREATH - self._quiet(), end - now)
            if left <= 0:
                return
            self._stopped.wait(left)

    def _run(self) -> None:
        rested = True
        while not self._stopping:
            if self._users or self._news or not rested:
                self._give_way()
            began = time.monotonic()
            seconds = self.step()
            took = time.monotonic() - began
            with self._state:
                rested = not (self._stopping or self._users or self._news or seconds == 0.0)
                # Where calls never end, it takes a third of the time.
                self._patience = _PATIENCE if rested else min(2 * took, _PATIENCE)
                if rested:
                    self._wait(self._state, seconds)
