"""The durable queue: work that follows from what was stored, kept in the ledger until it is done.

A job is enqueued in the transaction of what caused it, so it exists exactly when its cause does. It is *claimed* for a
limited time (a lease), run outside of any transaction, and then settled: completed (its row goes), failed (it waits
and is tried again, at last parked), or deferred (it waits for something, which is no failed attempt). Whoever settles
must still hold the claim. A process that dies leaves a claim behind, which the next one to open the home ends; on a
ledger that several homes share, the claim also ends by itself.

Delivery is therefore *at least once*: what a job does must be harmless when done again, or be written in the very
transaction that completes the job.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any, Literal

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Row,
    Select,
    and_,
    bindparam,
    delete,
    func,
    insert,
    or_,
    select,
    tuple_,
    update,
)

from hexamem.errors import InvalidInputError, NotFoundError
from hexamem.memory_types.base import Record, new_id, utc_now
from hexamem.memory_types.times import to_micros
from hexamem.stores.ledger.engine import plain_errors
from hexamem.stores.ledger.ledger import Ledger, Transaction, check_name, user_key
from hexamem.stores.ledger.schema import jobs, users

__all__ = [
    "KEPT_KINDS",
    "KIND_RULE",
    "ClaimedJob",
    "Job",
    "JobStatus",
    "backoff",
    "claim",
    "complete",
    "count_jobs",
    "defer",
    "drop",
    "end_claims",
    "enqueue",
    "enqueue_bare",
    "extend",
    "fail",
    "is_kind",
    "list_jobs",
    "next_due",
    "release",
    "retry",
    "unfinished",
]

JobStatus = Literal["waiting", "running", "deferred", "parked"]
KEPT_KINDS = frozenset({"redact_cleanup"})
"""Kinds that cannot be dropped: a promise to the user hangs on them."""

_KIND = re.compile(r"[a-z][a-z0-9_]{0,31}")
KIND_RULE = "use a lower-case letter, then up to 31 of a-z, 0-9 and _"
_LONGEST_ERROR = 500
_CLAIMING = 0x686578616A6F62  # "hexajob": the advisory lock of whoever claims on PostgreSQL
_DIED = "begun {attempts} times and never brought to an end: its process was killed or crashed while it ran"


class Job(Record):
    """A job as it is shown: what it is for stays in its payload, which may speak of the user.

    Attributes:
        status: ``waiting`` to be run at ``due_at``, ``running``, ``deferred`` until ``due_at`` because of ``error``,
            ``parked`` because of ``error`` until somebody retries or drops it.
        attempts: how often it was begun since it was enqueued or retried, without deferrals.
        error: why the last attempt failed, or why it was deferred; never the user's words.
    """

    user: str
    id: str
    kind: str
    status: JobStatus
    attempts: int
    error: str | None
    created_at: datetime
    due_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimedJob:
    """A job that is ours to run until ``until``; ``attempts`` counts this one. ``owner`` tells the claim from others."""

    user: str
    id: str
    kind: str
    payload: dict[str, Any]
    attempts: int
    owner: str
    until: datetime


def is_kind(value: object) -> bool:
    """Whether it may name a kind of job; the rule in words is :data:`KIND_RULE`."""
    return isinstance(value, str) and _KIND.fullmatch(value) is not None


# ---------------------------------------------------------------------------------------------------------- enqueueing


def enqueue(
    tx: Transaction,
    kind: str,
    payload: Mapping[str, Any],
    *,
    key: str | None = None,
    due_at: datetime | None = None,
) -> str:
    """Put a job into the user's queue: it is there when the transaction is committed, and only then.

    Call ``Memory.wrote(user)`` after the commit, so that the background thread looks.

    Args:
        kind: what handler it is for: a lower-case word of up to 32 letters, digits and underscores.
        payload: what the handler needs, JSON values. Give ids rather than text: text that is redacted while the job
            runs would live on in it.
        key: names the work. While a job of this kind and key waits, no second one is made: that one is kept, with its
            payload, and made due earlier if this one is. A job that *runs* does not count, since it may have read the
            ledger before this transaction.
        due_at: when to run it, an aware time; now when None.

    Returns:
        The id of the job that waits.

    Raises:
        InvalidInputError: for a kind, payload, key or time of another form.
        NotFoundError: if the user has stored nothing yet.
    """
    if not is_kind(kind):
        raise InvalidInputError(f"job kind {kind!r}: {KIND_RULE}")
    if key is not None:
        check_name(key, "job key")
    now = utc_now()
    due = now if due_at is None else due_at
    if due.utcoffset() is None:
        raise InvalidInputError(f"due_at = {due.isoformat()} has no timezone; give an aware time")
    if not tx.user_id:
        raise NotFoundError(f"user {tx.user!r} has stored nothing yet, so there is nothing to enqueue a job for")
    values = _json(payload, kind)
    if key is not None and (known := _waiting(tx, kind, key)) is not None:
        # A job in its pause after a failure, or deferred, keeps its time: a new cause is no reason to press.
        if known.status == "waiting" and not known.attempts and due < known.due_at:
            tx.connection.execute(update(jobs).where(_own(tx, known.id)).values(due_at=due))
        return str(known.id)
    job_id = new_id("job")
    tx.connection.execute(
        insert(jobs).values(
            user_id=tx.user_id, id=job_id, kind=kind, payload=values, status="waiting", attempts=0,
            created_at=now, due_at=due, key=key,
        )
    )  # fmt: skip
    return job_id


_SAME = "user_id = ? AND kind = ? AND key = ?"
_SOONER = f"UPDATE jobs SET due_at = min(due_at, ?) WHERE {_SAME} AND status = 'waiting' AND attempts = 0"
_FIRST = (
    "INSERT INTO jobs (user_id, id, kind, payload, status, attempts, created_at, due_at, key) "
    "SELECT ?, ?, ?, '{}', 'waiting', 0, ?, ?, ? "
    f"WHERE NOT EXISTS (SELECT 1 FROM jobs WHERE {_SAME} AND status IN ('waiting', 'deferred'))"
)


def enqueue_bare(tx: Transaction, kind: str, key: str, due: datetime) -> None:
    """As :func:`enqueue` without a payload; on SQLite in a tenth of its time.

    It is a part of every ``remember``, so that what SQLAlchemy spends on building statements would be felt.
    """
    if tx.driver is None:
        enqueue(tx, kind, {}, key=key, due_at=due)
        return
    same, at = (tx.user_id, kind, key), to_micros(due)
    if tx.driver.execute(_SOONER, (at, *same)).rowcount == 0:
        values = (tx.user_id, new_id("job"), kind, to_micros(utc_now()), at, key, *same)
        tx.driver.execute(_FIRST, values)


def _json(payload: Mapping[str, Any], kind: str) -> dict[str, Any]:
    try:
        return dict(json.loads(json.dumps(dict(payload), allow_nan=False)))
    except (TypeError, ValueError, RecursionError) as error:
        # The error may repeat a value, which may be private.
        raise InvalidInputError(
            f"the payload of a {kind!r} job is no mapping of JSON values ({type(error).__name__}); "
            "use strings, numbers, lists and mappings"
        ) from None


def _waiting(tx: Transaction, kind: str, key: str) -> Row[Any] | None:
    """The job of this key that waits; locked, so that nobody claims it before what it must see is committed."""
    same = (jobs.c.user_id == tx.user_id) & (jobs.c.kind == kind) & (jobs.c.key == key)
    waits = jobs.c.status.in_(["waiting", "deferred"])
    columns = (jobs.c.id, jobs.c.status, jobs.c.attempts, jobs.c.due_at)
    return tx.first(select(*columns).where(same, waits).limit(1).with_for_update())


# ------------------------------------------------------------------------------------------------------------ claiming


def claim(
    ledger: Ledger,
    kinds: Collection[str],
    now: datetime,
    *,
    home: str = "",
    lease: timedelta = timedelta(minutes=15),
    max_attempts: int = 5,
    user: str | None = None,
) -> ClaimedJob | None:
    """Take the oldest due job of these kinds, of any user, for as long as the lease lasts.

    Of one user, jobs of one kind run one at a time. Safe for any number of threads and processes: SQLite lets one
    write at a time, and on PostgreSQL claims wait for each other and skip rows that a writer holds. A job whose claim
    ran out is taken over; one that was begun ``max_attempts`` times and never settled (it takes its process with it)
    is parked instead.

    Args:
        kinds: those that have a handler.
        home: the id of the home that claims, for :func:`end_claims`.
        user: only this user's jobs.
    """
    if not kinds:
        return None
    any_due, oldest = _claiming(tuple(sorted(kinds)), user is not None)
    asked = {"now": now} if user is None else {"now": now, "user": user_key(user)}
    with plain_errors(ledger.place), ledger.engine.connect() as connection:  # without the lock of a writer
        if connection.execute(any_due, asked).first() is None:
            return None
    writer = ledger.engine.execution_options(hexamem_write=True)
    with plain_errors(ledger.place), writer.connect() as connection, connection.begin():
        if not ledger.embedded:
            connection.execute(select(func.pg_advisory_xact_lock(_CLAIMING)))
        while (row := connection.execute(oldest, asked).first()) is not None:
            own = (jobs.c.user_id == row.user_id) & (jobs.c.id == row.id)
            if row.attempts >= max_attempts:
                # A job that failed keeps why; the error goes when an attempt begins.
                parked = {"status": "parked", "error": row.error or _DIED.format(attempts=row.attempts)}
                connection.execute(update(jobs).where(own).values(**parked, owner=None, claimed_until=None))
                continue
            claimed = ClaimedJob(
                user=row.name,
                id=row.id,
                kind=row.kind,
                payload=row.payload,
                attempts=row.attempts + 1,
                owner=f"{home}.{new_id('claim')}",
                until=now + lease,
            )
            connection.execute(
                update(jobs)
                .where(own)
                .values(
                    status="running",
                    attempts=claimed.attempts,
                    error=None,
                    owner=claimed.owner,
                    claimed_until=claimed.until,
                )
            )
            return claimed
    return None


@lru_cache(64)
def _claiming(kinds: tuple[str, ...], of_one: bool) -> tuple[Select[Any], Select[Any]]:
    """Whether any job of these kinds is due ``now``, and the oldest one, of all users or of one ``user``."""
    now: BindParameter[datetime] = bindparam("now")
    waits = jobs.c.status.in_(["waiting", "deferred"]) & (jobs.c.due_at <= now)
    ready = or_(waits, (jobs.c.status == "running") & (jobs.c.claimed_until <= now))
    other = jobs.alias("other")
    # Not correlated: computed once, however many jobs wait.
    running = select(other.c.user_id, other.c.kind).where(other.c.status == "running", other.c.claimed_until > now)
    alone = tuple_(jobs.c.user_id, jobs.c.kind).not_in(running)
    due = and_(jobs.c.kind.in_(kinds), ready, alone)
    if of_one:
        due &= _owned(bindparam("user"))
    columns = (jobs.c.user_id, jobs.c.id, jobs.c.kind, jobs.c.payload, jobs.c.attempts, jobs.c.error, users.c.name)
    oldest = select(*columns).join(users, users.c.id == jobs.c.user_id).where(due)
    oldest = oldest.order_by(jobs.c.due_at, jobs.c.created_at, jobs.c.id).limit(1)
    return select(jobs.c.id).where(due).limit(1), oldest.with_for_update(of=jobs, skip_locked=True)


def _of(user: str | None) -> list[ColumnElement[bool]]:
    return [] if user is None else [_owned(user_key(user))]


def _owned(key: str | BindParameter[str]) -> ColumnElement[bool]:
    return jobs.c.user_id.in_(select(users.c.id).where(users.c.key == key))


def next_due(ledger: Ledger, kinds: Collection[str], user: str | None = None) -> datetime | None:
    """When the next job of these kinds is due, or the next claim on one ends; may be past. None if there is none."""
    if not kinds:
        return None
    own = [jobs.c.kind.in_(sorted(kinds)), *_of(user)]
    waits = select(func.min(jobs.c.due_at)).where(jobs.c.status.in_(["waiting", "deferred"]), *own)
    claimed = select(func.min(jobs.c.claimed_until)).where(jobs.c.status == "running", *own)
    with plain_errors(ledger.place), ledger.engine.connect() as connection:
        moments = [connection.execute(one).scalar() for one in (waits, claimed)]
    return min((one for one in moments if one is not None), default=None)


def unfinished(ledger: Ledger, now: datetime, user: str | None = None) -> bool:
    """Whether any job is due, running, in its pause after a failure, deferred or parked; of any kind.

    One that was enqueued for a later time is not: nothing is late about it.
    """
    late = (jobs.c.status != "waiting") | (jobs.c.due_at <= now) | (jobs.c.attempts > 0)
    with plain_errors(ledger.place), ledger.engine.connect() as connection:
        return connection.execute(select(jobs.c.id).where(late, *_of(user)).limit(1)).first() is not None


def end_claims(ledger: Ledger, home: str) -> int:
    """Let jobs that an earlier process of this home left running be run again, and deferred ones be tried at once.

    Only for who holds the home, before it runs anything. The interrupted attempt counts, so that a job that kills its
    process is parked in the end.

    Returns:
        How many jobs had been left running.
    """
    left = (jobs.c.status == "running") & jobs.c.owner.startswith(f"{home}.", autoescape=True)
    deferred = jobs.c.status == "deferred"
    with plain_errors(ledger.place), ledger.engine.connect() as connection:
        if connection.execute(select(jobs.c.id).where(left | deferred).limit(1)).first() is None:
            return 0
    now = utc_now()
    writer = ledger.engine.execution_options(hexamem_write=True)
    with plain_errors(ledger.place), writer.connect() as connection, connection.begin():
        connection.execute(update(jobs).where(deferred, jobs.c.due_at > now).values(due_at=now))
        ended = {"status": "waiting", "owner": None, "claimed_until": None}
        return int(connection.execute(update(jobs).where(left).values(**ended)).rowcount)


# ------------------------------------------------------------------------------------------------------------ settling


def _own(tx: Transaction, job_id: str) -> ColumnElement[bool]:
    return and_(jobs.c.user_id == tx.user_id, jobs.c.id == job_id)


def _held(tx: Transaction, job: ClaimedJob) -> ColumnElement[bool]:
    return and_(_own(tx, job.id), jobs.c.status == "running", jobs.c.owner == job.owner)


def extend(tx: Transaction, job: ClaimedJob, until: datetime) -> bool:
    """Hold the claim until then; whether it was still ours. If so, nobody else gets it before the commit."""
    return _settle(tx, job, claimed_until=until)


def complete(tx: Transaction, job: ClaimedJob) -> bool:
    """The job is done: its row goes. Whether it was still ours (it is not after an erasure, either)."""
    return tx.connection.execute(delete(jobs).where(_held(tx, job))).rowcount > 0


def fail(tx: Transaction, job: ClaimedJob, error: str, retry_in: timedelta | None, now: datetime) -> bool:
    """An attempt failed: the job waits for ``retry_in``, or is parked where that is None. Whether it was still ours.

    Args:
        error: why, in words that hold nothing of the user's and no secret.
    """
    if retry_in is None:
        return _settle(tx, job, status="parked", error=_cut(error), owner=None, claimed_until=None)
    values = {"status": "waiting", "due_at": now + retry_in, "owner": None, "claimed_until": None}
    return _settle(tx, job, error=_cut(error), **values)


def defer(tx: Transaction, job: ClaimedJob, reason: str, until: datetime) -> bool:
    """The job cannot run yet, which is no failed attempt: it is looked at again at ``until``. Whether still ours."""
    values = {"status": "deferred", "due_at": until, "attempts": job.attempts - 1}
    return _settle(tx, job, error=_cut(reason), **values, owner=None, claimed_until=None)


def release(tx: Transaction, job: ClaimedJob) -> bool:
    """Give the job back as if it had not been begun: the memory is closing. Whether it was still ours."""
    return _settle(tx, job, status="waiting", attempts=job.attempts - 1, owner=None, claimed_until=None)


def _settle(tx: Transaction, job: ClaimedJob, **values: Any) -> bool:
    return tx.connection.execute(update(jobs).where(_held(tx, job)).values(**values)).rowcount > 0


def _cut(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST_ERROR else line[: _LONGEST_ERROR - 1] + "…"


def backoff(attempts: int, *, first: float = 5.0, highest: float = 3600.0, draw: random.Random) -> timedelta:
    """How long to wait after the ``attempts``-th attempt failed.

    ``first`` seconds, doubled each time up to ``highest``; of that, half is fixed and half is drawn, so that jobs that
    failed together do not come back together.
    """
    full = min(first * 2.0 ** min(attempts - 1, 60), highest)
    return timedelta(seconds=full / 2 + draw.uniform(0.0, full / 2))


# ------------------------------------------------------------------------------------------------------ by hand, lists


def retry(tx: Transaction, job_id: str) -> None:
    """Run a job that is parked, deferred or in its pause as soon as possible, its attempts counted from nothing.

    Raises:
        NotFoundError: if this user has no such job.
        InvalidInputError: if it is running.
    """
    _named(tx, job_id, "retried")
    values = {"status": "waiting", "attempts": 0, "error": None, "due_at": utc_now()}
    tx.connection.execute(update(jobs).where(_own(tx, job_id)).values(**values))


def drop(tx: Transaction, job_id: str) -> None:
    """Take a job out of the queue for good, undone.

    Raises:
        NotFoundError: if this user has no such job.
        InvalidInputError: if it is running, or of :data:`KEPT_KINDS`.
    """
    kind = _named(tx, job_id, "dropped")
    if kind in KEPT_KINDS:
        raise InvalidInputError(
            f"job {job_id} ({kind}) cannot be dropped: it takes redacted words out of indexes and files; retry it"
        )
    tx.connection.execute(delete(jobs).where(_own(tx, job_id)))


def _named(tx: Transaction, job_id: str, what: str) -> str:
    row = tx.first(select(jobs.c.kind, jobs.c.status).where(_own(tx, job_id)).with_for_update())
    if row is None:
        raise NotFoundError(f"no job {job_id!r} for user {tx.user!r}; `hexamem jobs list` shows those there are")
    if row.status == "running":
        raise InvalidInputError(f"job {job_id} is running and cannot be {what} now; wait until it is through")
    return str(row.kind)


def list_jobs(ledger: Ledger, user: str | None = None) -> list[Job]:
    """The jobs that are not done, the first due first; of every user for the home's keeper, or of one."""
    names = ("id", "kind", "status", "attempts", "error", "created_at", "due_at")
    found = select(users.c.name.label("user"), *(jobs.c[name] for name in names))
    found = found.join(users, users.c.id == jobs.c.user_id).where(*_of(user))
    found = found.order_by(jobs.c.due_at, jobs.c.created_at, jobs.c.id)
    with plain_errors(ledger.place), ledger.engine.connect() as connection:
        return [Job.model_construct(**row._mapping) for row in connection.execute(found)]


def count_jobs(ledger: Ledger, user: str | None = None) -> dict[tuple[str, JobStatus], int]:
    """How many jobs there are by kind and status, of all users or of one."""
    found = select(jobs.c.kind, jobs.c.status, func.count()).where(*_of(user)).group_by(jobs.c.kind, jobs.c.status)
    with plain_errors(ledger.place), ledger.engine.connect() as connection:
        return {(row[0], row[1]): int(row[2]) for row in connection.execute(found)}
