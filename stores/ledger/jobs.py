"""The durable queue: work that follows from what was stored, in the ledger until it is done.

A job is enqueued in the transaction that causes it, so it exists exactly when its cause does. It is *claimed* for a
limited time (a lease), run outside of any transaction, and then settled: completed (its row is deleted), failed (it is
retried later, in the end parked), or deferred (it waits for something, which is no failed attempt). Only the owner of
the claim can settle it. The claim of a process that died is ended by the next process that opens the home; on a ledger
that several homes share, it also expires.

Delivery is therefore *at least once*: the effect of a job must be idempotent, or be written in the transaction that
completes the job.
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
    Select,
    and_,
    bindparam,
    case,
    delete,
    false,
    func,
    insert,
    or_,
    select,
    tuple_,
    update,
)

from hexamem.errors import InvalidInputError, NotFoundError
from hexamem.memory_types.base import Record, new_id, utc_now
from hexamem.stores.ledger.ledger import Ledger, Transaction, check_name, user_key
from hexamem.stores.ledger.prepared import Prepared, of_user
from hexamem.stores.ledger.schema import jobs, users

__all__ = [
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
_NOT_DROPPABLE = frozenset({"redact_cleanup"})  # the user was promised what these jobs do

_KIND = re.compile(r"[a-z][a-z0-9_]{0,31}")
KIND_RULE = "use a lower-case letter, then up to 31 of a-z, 0-9 and _"
_MAX_ERROR = 500
_CLAIMING = 0x686578616A6F62  # "hexajob": the advisory lock of a claim on PostgreSQL
_DIED = "started {attempts} times and never settled: its process was killed or crashed while it ran"


class Job(Record):
    """A job as listed, without its payload, which may contain data of the user.

    Attributes:
        status: ``waiting`` to be run at ``due_at``, ``running``, ``deferred`` until ``due_at`` because of ``error``,
            ``parked`` because of ``error`` until it is retried or dropped by hand.
        attempts: how often it was started since it was enqueued or retried, without deferrals.
        error: why the last attempt failed, or why it was deferred; contains no text of the user.
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
    """A job that the caller may run until ``until``; ``attempts`` counts this attempt, ``owner`` identifies the claim."""

    user: str
    id: str
    kind: str
    payload: dict[str, Any]
    attempts: int
    owner: str
    until: datetime


def is_kind(value: object) -> bool:
    """Whether this is a valid kind of job; :data:`KIND_RULE` is the rule in words."""
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
    """Put a job into the user's queue, as part of the transaction.

    Call ``Memory.wrote(user)`` after the commit, which wakes the background thread.

    Args:
        kind: selects the handler: a lower-case word of up to 32 letters, digits and underscores.
        payload: the handler's input, JSON values. Pass ids rather than text: text that is redacted while the job runs
            would survive in it.
        key: identifies the work. While a job of this kind and key waits, no second one is made: the waiting one
            retains its payload, and is made due earlier if this one is. A job that *runs* does not count, since it may
            have read the ledger before this transaction.
        due_at: when to run it, an aware time; now when None.

    Returns:
        The id of the waiting job.

    Raises:
        InvalidInputError: for an invalid kind, payload, key or time.
        NotFoundError: if the user has stored nothing yet.
    """
    if not is_kind(kind):
        raise InvalidInputError(f"job kind {kind!r}: {KIND_RULE}")
    if key is not None:
        check_name(key, "job key")
    now = utc_now()
    due = now if due_at is None else due_at
    if due.utcoffset() is None:
        raise InvalidInputError(f"due_at = {due.isoformat()} has no timezone; pass an aware time")
    if not tx.user_id:
        raise NotFoundError(f"user {tx.user!r} has stored nothing yet, so there is nothing to enqueue a job for")
    values = _json(payload, kind)
    if key is not None and (known := tx.first(_WAITING, user=tx.user_id, of_kind=kind, of_key=key)) is not None:
        # A job that waits after a failure, or is deferred, is not made due earlier: it would only fail again.
        if known.status == "waiting" and not known.attempts and due < known.due_at:
            tx.run(_SOONER, user=tx.user_id, job=known.id, due=due)
        return str(known.id)
    job_id = new_id("job")
    row = {"user_id": tx.user_id, "id": job_id, "kind": kind, "payload": values, "status": "waiting", "attempts": 0}
    tx.run(_ADD, **row, created_at=now, due_at=due, key=key)
    return job_id


def parked_payloads(tx: Transaction, kind: str) -> list[dict[str, Any]]:
    """The payloads of the user's parked jobs of a kind."""
    return [row.payload for row in tx.all(_PARKED, user=tx.user_id, of_kind=kind)]


_PARKED = Prepared(
    select(jobs.c.payload).where(of_user(jobs), jobs.c.kind == bindparam("of_kind"), jobs.c.status == "parked")
)
_NEW = ("user_id", "id", "kind", "payload", "status", "attempts", "created_at", "due_at", "key")
_ADD = Prepared(insert(jobs).values({name: bindparam(name) for name in _NEW}))
_SOONER = Prepared(update(jobs).where(of_user(jobs), jobs.c.id == bindparam("job")).values(due_at=bindparam("due")))
_WAITING = Prepared(
    select(jobs.c.id, jobs.c.status, jobs.c.attempts, jobs.c.due_at)
    .where(
        of_user(jobs),
        jobs.c.kind == bindparam("of_kind"),
        jobs.c.key == bindparam("of_key"),
        jobs.c.status.in_(["waiting", "deferred"]),
    )
    .limit(1)
    .with_for_update()  # so that it is not claimed before this transaction is committed
)


def _json(payload: Mapping[str, Any], kind: str) -> dict[str, Any]:
    try:
        return dict(json.loads(json.dumps(dict(payload), allow_nan=False)))
    except (TypeError, ValueError, RecursionError) as error:
        # The error is not chained: it may repeat a value, which may be private.
        raise InvalidInputError(
            f"the payload of a {kind!r} job is not a mapping of JSON values ({type(error).__name__}); "
            "use strings, numbers, lists and mappings"
        ) from None


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
    """Claim the oldest due job of these kinds, of any user, for the duration of the lease.

    Of one user, jobs of one kind run one at a time. Safe for any number of threads and processes: SQLite has one
    writer at a time, and on PostgreSQL claims wait for each other and skip locked rows. A job whose claim expired is
    taken over; one that was started ``max_attempts`` times and never settled (it crashes its process) is parked.

    Args:
        kinds: those that have a handler.
        home: the id of the claiming home, for :func:`end_claims`.
        user: only this user's jobs.
    """
    if not kinds:
        return None
    any_due, oldest = _claim_statements(tuple(sorted(kinds)), user is not None)
    parameters = {"now": now} if user is None else {"now": now, "user": user_key(user)}
    with ledger.connect() as connection:  # without the write lock
        if connection.execute(any_due, parameters).first() is None:
            return None
    with ledger.connect(write=True) as connection:
        if not ledger.embedded:
            connection.execute(select(func.pg_advisory_xact_lock(_CLAIMING)))
        while (row := connection.execute(oldest, parameters).first()) is not None:
            own = (jobs.c.user_id == row.user_id) & (jobs.c.id == row.id)
            if row.attempts >= max_attempts:
                # The error of the last failed attempt, if any: it is cleared when an attempt starts.
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
            started = {"status": "running", "attempts": claimed.attempts, "error": None}
            claim_of = {"owner": claimed.owner, "claimed_until": claimed.until}
            connection.execute(update(jobs).where(own).values(**started, **claim_of))
            return claimed
    return None


@lru_cache(64)
def _claim_statements(kinds: tuple[str, ...], of_one_user: bool) -> tuple[Select[Any], Select[Any]]:
    """The statements that select whether any job of these kinds is due ``now``, and the oldest one."""
    now: BindParameter[datetime] = bindparam("now")
    waits = jobs.c.status.in_(["waiting", "deferred"]) & (jobs.c.due_at <= now)
    ready = or_(waits, (jobs.c.status == "running") & (jobs.c.claimed_until <= now))
    other = jobs.alias("other")
    # Not a correlated subquery: it is computed once, however many jobs wait.
    running = select(other.c.user_id, other.c.kind).where(other.c.status == "running", other.c.claimed_until > now)
    alone = tuple_(jobs.c.user_id, jobs.c.kind).not_in(running)
    due = and_(jobs.c.kind.in_(kinds), ready, alone)
    if of_one_user:
        due &= _has_user_key(bindparam("user"))
    columns = (jobs.c.user_id, jobs.c.id, jobs.c.kind, jobs.c.payload, jobs.c.attempts, jobs.c.error, users.c.name)
    oldest = select(*columns).join(users, users.c.id == jobs.c.user_id).where(due)
    oldest = oldest.order_by(jobs.c.due_at, jobs.c.created_at, jobs.c.id).limit(1)
    return select(jobs.c.id).where(due).limit(1), oldest.with_for_update(of=jobs, skip_locked=True)


def _of_user(user: str | None) -> list[ColumnElement[bool]]:
    return [] if user is None else [_has_user_key(user_key(user))]


def _has_user_key(key: str | BindParameter[str]) -> ColumnElement[bool]:
    return jobs.c.user_id.in_(select(users.c.id).where(users.c.key == key))


def next_due(ledger: Ledger, kinds: Collection[str], user: str | None = None) -> datetime | None:
    """When the next job of these kinds is due, or the next claim on one expires; may be past. None if there is none."""
    if not kinds:
        return None
    when = case((jobs.c.status == "running", jobs.c.claimed_until), else_=jobs.c.due_at)
    of_kinds = jobs.c.kind.in_(sorted(kinds)) & (jobs.c.status != "parked")
    with ledger.connect() as connection:
        return connection.execute(select(func.min(when)).where(of_kinds, *_of_user(user))).scalar()


def unfinished(ledger: Ledger, now: datetime, user: str | None = None, without: Collection[str] = ()) -> bool:
    """Whether any job is due, running, waiting after a failure, deferred or parked; of any kind but those of ``without``.

    A job that was enqueued for a later time does not count.
    """
    late = (jobs.c.status != "waiting") | (jobs.c.due_at <= now) | (jobs.c.attempts > 0)
    counted = jobs.c.kind.not_in(sorted(without))
    with ledger.connect() as connection:
        return connection.execute(select(jobs.c.id).where(late, counted, *_of_user(user)).limit(1)).first() is not None


def end_claims(ledger: Ledger, home: str, *, deferred: bool) -> int:
    """Make jobs that this home left running due at once.

    Only for the process that has locked the home, while it runs no job. The interrupted attempt counts, so that a
    job that kills its process is parked in the end.

    Args:
        deferred: make all deferred jobs due too, for a process that starts: what they wait for may be there now.

    Returns:
        How many jobs had been left running.
    """
    left = (jobs.c.status == "running") & jobs.c.owner.startswith(f"{home}.", autoescape=True)
    waiting = jobs.c.status == "deferred" if deferred else false()
    with ledger.connect() as connection:
        if connection.execute(select(jobs.c.id).where(left | waiting).limit(1)).first() is None:
            return 0
    now = utc_now()
    with ledger.connect(write=True) as connection:
        connection.execute(update(jobs).where(waiting, jobs.c.due_at > now).values(due_at=now))
        ended = {"status": "waiting", "owner": None, "claimed_until": None}
        return int(connection.execute(update(jobs).where(left).values(**ended)).rowcount)


# ------------------------------------------------------------------------------------------------------------ settling


def _own(tx: Transaction, job_id: str) -> ColumnElement[bool]:
    return and_(tx.own(jobs), jobs.c.id == job_id)


def _claimed_by(tx: Transaction, job: ClaimedJob) -> ColumnElement[bool]:
    return and_(_own(tx, job.id), jobs.c.status == "running", jobs.c.owner == job.owner)


def extend(tx: Transaction, job: ClaimedJob, until: datetime) -> bool:
    """Extend the claim; whether the caller still had it. If so, nobody else gets it before the commit."""
    return _settle(tx, job, claimed_until=until)


def complete(tx: Transaction, job: ClaimedJob) -> bool:
    """Delete a job that is done; whether the caller still had the claim. After an erasure it has not."""
    return tx.connection.execute(delete(jobs).where(_claimed_by(tx, job))).rowcount > 0


def fail(tx: Transaction, job: ClaimedJob, error: str, retry_in: timedelta | None, now: datetime) -> bool:
    """An attempt failed: the job waits for ``retry_in``, or is parked if that is None.

    Args:
        error: the reason, without any text of the user and any secret.

    Returns:
        Whether the caller still had the claim.
    """
    if retry_in is None:
        return _settle(tx, job, status="parked", error=_shortened(error), owner=None, claimed_until=None)
    values = {"status": "waiting", "due_at": now + retry_in, "owner": None, "claimed_until": None}
    return _settle(tx, job, error=_shortened(error), **values)


def defer(tx: Transaction, job: ClaimedJob, reason: str, until: datetime) -> bool:
    """The job cannot run before ``until``, which is no failed attempt; whether the caller still had the claim."""
    values = {"status": "deferred", "due_at": until, "attempts": job.attempts - 1}
    return _settle(tx, job, error=_shortened(reason), **values, owner=None, claimed_until=None)


def release(tx: Transaction, job: ClaimedJob) -> bool:
    """Return the job as if it had not been started: the memory is closing. Whether the caller still had the claim."""
    return _settle(tx, job, status="waiting", attempts=job.attempts - 1, owner=None, claimed_until=None)


def _settle(tx: Transaction, job: ClaimedJob, **values: Any) -> bool:
    return tx.connection.execute(update(jobs).where(_claimed_by(tx, job)).values(**values)).rowcount > 0


def _shortened(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _MAX_ERROR else line[: _MAX_ERROR - 1] + "…"


def backoff(attempts: int, draw: random.Random) -> timedelta:
    """How long to wait after the ``attempts``-th attempt failed.

    Five seconds, doubled each time up to an hour; half of that is random, so that jobs that failed together
    are not retried together.
    """
    full = min(5.0 * 2.0 ** min(attempts - 1, 60), 3600.0)
    return timedelta(seconds=full / 2 + draw.uniform(0.0, full / 2))


# ------------------------------------------------------------------------------------------------------ by hand, lists


def retry(tx: Transaction, job_id: str) -> None:
    """Run a job that is parked, deferred or waiting as soon as possible; its attempts are counted from zero.

    Raises:
        NotFoundError: if this user has no such job.
        InvalidInputError: if it is running.
    """
    _kind_to_change(tx, job_id, "retried")
    values = {"status": "waiting", "attempts": 0, "error": None, "due_at": utc_now()}
    tx.update(jobs, job_id, **values)


def drop(tx: Transaction, job_id: str) -> None:
    """Delete a job from the queue without running it.

    Raises:
        NotFoundError: if this user has no such job.
        InvalidInputError: if it is running, or completes a redaction.
    """
    kind = _kind_to_change(tx, job_id, "dropped")
    if kind in _NOT_DROPPABLE:
        raise InvalidInputError(
            f"job {job_id} ({kind}) cannot be dropped: it removes redacted words from indexes and files; retry it"
        )
    tx.delete(jobs, id=[job_id])


def _kind_to_change(tx: Transaction, job_id: str, what: str) -> str:
    """The kind of a job that is not running, its row locked."""
    row = tx.first(select(jobs.c.kind, jobs.c.status).where(_own(tx, job_id)).with_for_update())
    if row is None:
        raise NotFoundError(f"no job {job_id!r} for user {tx.user!r}; `hexamem jobs list` lists them")
    if row.status == "running":
        raise InvalidInputError(f"job {job_id} is running and cannot be {what} now; wait until it is done")
    return str(row.kind)


def list_jobs(ledger: Ledger, user: str | None = None) -> list[Job]:
    """The jobs that are not done, of one user or of all, the first due first."""
    columns = ("id", "kind", "status", "attempts", "error", "created_at", "due_at")
    statement = select(users.c.name.label("user"), *(jobs.c[name] for name in columns))
    statement = statement.join(users, users.c.id == jobs.c.user_id).where(*_of_user(user))
    statement = statement.order_by(jobs.c.due_at, jobs.c.created_at, jobs.c.id)
    with ledger.connect() as connection:
        return [Job.model_construct(**row._mapping) for row in connection.execute(statement)]


def count_jobs(ledger: Ledger, user: str | None = None) -> dict[tuple[str, JobStatus], int]:
    """How many jobs there are by kind and status, of all users or of one."""
    columns = (jobs.c.kind, jobs.c.status)
    statement = select(*columns, func.count()).where(*_of_user(user)).group_by(*columns)
    with ledger.connect() as connection:
        return {(row[0], row[1]): int(row[2]) for row in connection.execute(statement)}
