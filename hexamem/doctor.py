"""Examines a home: lists what is there, checks that it is consistent, and says how to repair it."""

from __future__ import annotations

import os
import platform
import sqlite3
import stat
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from rich.filesize import decimal
from sqlalchemy import and_, func, select

from hexamem import __version__
from hexamem.distilling import KIND, WAITS
from hexamem.errors import CorruptFileError
from hexamem.graphs.ingest_batches import MANAGED
from hexamem.stores.expected_counts import count_passages
from hexamem.stores.ledger import user_key
from hexamem.stores.ledger.engine import plain_errors
from hexamem.stores.ledger.jobs import list_jobs
from hexamem.stores.ledger.schema import WITH_INTENT, intents, items, labels, projections, steps, users
from hexamem.stores.media_texts import NEVER, count_waiting
from hexamem.stores.secrets.keys import KEY_FILE_NAME, KEY_VARIABLE

if TYPE_CHECKING:
    from hexamem.memory import Memory

__all__ = ["Finding", "count_records", "examine", "examine_home"]

Status = Literal["ok", "note", "wrong"]
_PARTS = {"ledger": "ledger.sqlite3*", "vectors": "chroma", "keywords": "lexical", "media": "media"}
_PACKAGES = ("chromadb", "tantivy", "SQLAlchemy", "langgraph", "langchain-core")
_SHOWN_JOBS = 20
_STREAMS: tuple[Literal["steps", "items"], ...] = ("steps", "items")


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """One check. ``note`` is information, ``wrong`` needs an action; the detail says which."""

    name: str
    status: Status = "ok"
    detail: str = ""

    def as_dict(self) -> dict[str, str]:
        """The finding as JSON values."""
        return asdict(self)


def examine_home(home: Path) -> list[Finding]:
    """Examine a home without opening it: place, sizes, versions."""
    findings = [Finding(name="home", detail=str(home)), Finding(name="versions", detail=_versions())]
    if home.exists() and not home.is_dir():
        detail = f"{home} is a file, not a folder: name the folder of a memory"
        return [*findings, Finding(name="memory", status="wrong", detail=detail)]
    if not (home / "ledger.sqlite3").exists():
        if (reason := _cannot_make(home)) is not None:
            detail = f"none there, and none can be made ({reason}): name a folder in a place where you may write"
            return [*findings, Finding(name="permissions", status="wrong", detail=detail)]
        if (home / "home.id").exists():
            detail = f"{home} was opened before, and its ledger.sqlite3 is gone: put a backup of that file there"
            return [*findings, Finding(name="ledger", status="wrong", detail=detail)]
        return [*findings, Finding(name="memory", status="note", detail="none there yet; the first write makes one")]
    if not os.access(home, os.W_OK):
        findings.append(Finding(name="permissions", status="wrong", detail=_unwritable(home)))
    mode = stat.S_IMODE(home.stat().st_mode)
    if os.name == "posix" and mode & 0o077:
        detail = f"{home} has mode {mode:03o}, so other users of this machine may read the memory: chmod 700 {home}"
        findings.append(Finding(name="permissions", status="note", detail=detail))
    sizes = {name: sum(_sizes(home, pattern)) for name, pattern in _PARTS.items()}
    total = ", ".join(f"{name} {decimal(size)}" for name, size in sizes.items())
    return [*findings, Finding(name="disk", detail=f"{decimal(sum(sizes.values()))}: {total}")]


def examine(memory: Memory, *, progress: Callable[[str], object] = lambda user: None) -> list[Finding]:
    """Examine an open home: embedder, ledger, vault key, indexes, jobs, repairs.

    Args:
        memory: the open memory; nothing in it is changed.
        progress: called with the name of each examined user.
    """
    embedder = memory.embedder
    return [
        Finding(
            name="embedder", detail=f"{embedder.name}, {embedder.dimension} dimensions, {embedder.fingerprint[:16]}"
        ),
        *_ledger(memory),
        *_vault(memory),
        *_indexes(memory, progress),
        _labels(memory),
        *_media(memory),
        *_distilling(memory),
        _managing(memory),
        *_jobs(memory),
        *(Finding(name="repaired", status="note", detail=line) for line in memory.notices),
    ]


def count_records(memory: Memory, user: str | None = None) -> list[dict[str, Any]]:
    """``{"user", "steps", "items"}`` of each user in order of their first write, or of the one named (none if unknown).

    Forgotten and removed records do not count.
    """
    with plain_errors(memory.ledger.place), memory.ledger.engine.connect() as connection:
        chosen = select(users.c.id, users.c.name).order_by(users.c.id)
        rows = connection.execute(chosen if user is None else chosen.where(users.c.name == user)).all()
        active_steps = steps.c.status == "active"
        stored_items = items.c.status.in_(["active", "superseded"])
        counts: dict[str, dict[int, int]] = {}
        for table, condition in ((steps, active_steps), (items, stored_items)):
            grouped = select(table.c.user_id, func.count()).where(condition).group_by(table.c.user_id)
            counts[table.name] = {int(row[0]): int(row[1]) for row in connection.execute(grouped)}
    return [
        {"user": row.name, "steps": counts["steps"].get(row.id, 0), "items": counts["items"].get(row.id, 0)}
        for row in rows
    ]


def _cannot_make(home: Path) -> str | None:
    """Why no folder can be created at a path; None if it can.

    Tested by creating a folder and removing it, since permissions do not show whether a file system is writable.
    """
    place = next(folder for folder in (home, *home.absolute().parents) if folder.exists())
    try:
        os.rmdir(tempfile.mkdtemp(prefix=".hexamem-", dir=place))
    except OSError as error:
        return f"{place}: {error.strerror}"
    return None


def _unwritable(home: Path) -> str:
    """Why a home cannot be written, and what to do: permissions do not help on a read-only mount."""
    needed = "a memory must be writable to be read too"
    if hasattr(os, "statvfs") and os.statvfs(home).f_flag & os.ST_RDONLY:
        return f"{home} is on a read-only file system, and {needed}: mount it writable, or copy it elsewhere"
    return f"{home} cannot be written, and {needed}: chmod u+w {home} (its owner may), or copy it elsewhere"


def _versions() -> str:
    versions = [f"hexamem {__version__}", f"Python {platform.python_version()}", f"SQLite {sqlite3.sqlite_version}"]
    for name in _PACKAGES:
        try:
            versions.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            versions.append(f"{name} is missing")
    return ", ".join(versions)


def _sizes(home: Path, pattern: str) -> Iterator[int]:
    for top in home.glob(pattern):
        for path in (top, *top.rglob("*")) if top.is_dir() else (top,):
            try:
                status = path.lstat()
            except FileNotFoundError:  # a log file that was deleted meanwhile
                continue
            if stat.S_ISREG(status.st_mode):
                yield status.st_size


def _ledger(memory: Memory) -> list[Finding]:
    ledger = memory.ledger
    if not ledger.embedded:
        return [Finding(name="ledger", detail=f"{ledger.engine.dialect.name} at {ledger.place}")]
    with plain_errors(ledger.place), ledger.engine.connect() as connection:
        damage = [str(row[0]) for row in connection.exec_driver_sql("PRAGMA integrity_check(5)") if row[0] != "ok"]
        orphans = len(connection.exec_driver_sql("PRAGMA foreign_key_check").fetchall())
    if damage or orphans:
        problems = "; ".join([*damage, *([f"{orphans} rows refer to missing rows"] if orphans else [])])
        return [
            Finding(name="ledger", status="wrong", detail=f"damaged: {problems}; restore it from an export or a backup")
        ]
    return [Finding(name="ledger", detail=f"intact, version {ledger.settings().get('version', '?')}")]


def _vault(memory: Memory) -> list[Finding]:
    if KEY_VARIABLE in os.environ:
        return [Finding(name="vault key", detail=f"from the environment ({KEY_VARIABLE})")]
    path = memory.home / KEY_FILE_NAME
    if not path.exists():
        return [Finding(name="vault key", status="note", detail=f"not in {path}; it must be elsewhere")]
    mode = stat.S_IMODE(path.stat().st_mode)
    if os.name == "posix" and mode & 0o077:
        detail = f"{path} has mode {mode:03o}, so others can read it: chmod 600 {path}"
        return [Finding(name="vault key", status="wrong", detail=detail)]
    detail = f"{path}, mode {mode:03o}; keep a copy of it apart, secrets cannot be read without it"
    return [Finding(name="vault key", detail=detail)]


def _indexes(memory: Memory, progress: Callable[[str], object]) -> list[Finding]:
    behind: dict[str, int] = {}
    damaged: dict[str, str] = {}
    counts = count_records(memory)
    for row in counts:
        name = row["user"]
        key = user_key(name)
        lacking = memory.projector.behind(name)
        reason = memory.lexical.damaged(key)
        if lacking:
            behind[name] = lacking
        elif reason is None:
            reason = _miscounted(memory, key, row)
        if reason is not None:
            damaged[name] = reason
        progress(name)
    findings = []
    for name, reason in damaged.items():
        detail = f"of user {name!r}: {reason}; the next recall rebuilds it, or: hexamem reindex --user {name!r}"
        findings.append(Finding(name="index", status="wrong", detail=detail))
    if behind:
        largest = max(behind, key=lambda name: behind[name])
        detail = (
            f"{len(behind)} of {len(counts)} users have changes that are not indexed yet (most: {largest!r}, "
            f"{behind[largest]:,}); the next recall catches up"
        )
        findings.append(Finding(name="indexes", status="note", detail=detail))
    elif not damaged:
        findings.append(Finding(name="indexes", detail=f"up to date for {len(counts)} user(s)"))
    return findings


def _labels(memory: Memory) -> Finding:
    """How many steps have labels, and how many labels there are."""
    both = select(func.count(), func.count(intents.c.step_id)).select_from(steps)
    counted = both.outerjoin(intents, WITH_INTENT)
    named = select(func.count()).where(labels.c.alias_of.is_(None), labels.c.undone.is_(False))
    with plain_errors(memory.ledger.place), memory.ledger.engine.connect() as connection:
        total, labelled = connection.execute(counted.where(steps.c.status == "active")).one()
        count = connection.execute(named).scalar_one()
    bare = total - labelled
    detail = f"{count:,} labels on {labelled:,} of {total:,} steps"
    if bare and memory.labelling is not None:
        detail += "; the next recall labels new ones, `hexamem reindex` those that were given up"
        return Finding(name="labels", status="note", detail=detail)
    return Finding(name="labels", detail=detail + ("" if memory.labelling is not None else " (Settings.labels is off)"))


def _miscounted(memory: Memory, key: str, row: dict[str, Any]) -> str | None:
    """Why an index that is marked as up to date is not."""
    with memory.ledger.read(row["user"]) as tx:
        passages = count_passages(tx) if tx.user_id else 0
    for stream in _STREAMS:
        expected = row[stream] + (passages if stream == "items" else 0)
        try:
            count = memory.vectors.count(key, stream)
        except CorruptFileError as error:
            return str(error)
        if count != expected:
            return f"{count:,} of {expected:,} vectors of {stream}"
    expected = sum(row[stream] for stream in _STREAMS) + passages
    if (count := memory.lexical.count(key)) != expected:
        return f"{count:,} of {expected:,} documents"
    return None


def _media(memory: Memory) -> list[Finding]:
    """How many pictures and recordings have no text."""
    counts = count_waiting(memory.ledger)
    nouns = {"describe": "pictures", "transcribe": "recordings"}
    return [
        Finding(
            name="media",
            detail=f"{count:,} {nouns[kind]} without a text: stored, and searchable once the home is opened with {kind}=",
        )
        for kind, count in sorted(counts.items())
    ]


def _distilling(memory: Memory) -> list[Finding]:
    """How many runs wait for a model to distil them."""
    waiting = sum(job.kind == KIND and job.due_at >= NEVER for job in list_jobs(memory.ledger))
    return (
        [Finding(name="experience", detail=f"{waiting:,} run{'' if waiting == 1 else 's'} stored; {WAITS}")]
        if waiting
        else []
    )


def _managing(memory: Memory) -> Finding:
    """The mode in which items are extracted from steps, and how many steps wait for that."""
    mark = and_(projections.c.user_id == steps.c.user_id, projections.c.home == "", projections.c.name == MANAGED)
    new = steps.c.seq > func.coalesce(projections.c.change, 0)
    counted = select(func.count()).select_from(steps).outerjoin(projections, mark)
    with plain_errors(memory.ledger.place), memory.ledger.engine.connect() as connection:
        waiting = connection.execute(counted.where(steps.c.status == "active", new)).scalar_one()
    if not memory.ingesting.on:
        return Finding(name="managers", detail=f"Settings.mode is off: nothing is learned from {waiting:,} steps")
    tier = memory.settings.mode
    state = (
        f"{waiting:,} steps wait to be read: `hexamem flush` reads them, or a program that holds the home open for a while"
        if waiting
        else "every step was read"
    )
    return Finding(name="managers", detail=f"mode {tier}: {state}")


def _jobs(memory: Memory) -> list[Finding]:
    """Parked jobs one by one, what waits for something by its reason, and how many there are of each status."""
    jobs = list_jobs(memory.ledger)
    parked = [job for job in jobs if job.status == "parked"]
    findings = [
        Finding(
            name="job",
            status="wrong",
            detail=f"{job.kind} of user {job.user!r}, parked after {job.attempts} attempts: "
            f"{job.error or 'no reason stored'}; when that is fixed: hexamem jobs retry {job.id} --user {job.user!r}",
        )
        for job in parked[:_SHOWN_JOBS]
    ]
    if len(parked) > _SHOWN_JOBS:
        more = f"{len(parked) - _SHOWN_JOBS:,} more parked jobs: hexamem jobs list"
        findings.append(Finding(name="job", status="wrong", detail=more))
    deferred = Counter((job.kind, job.error) for job in jobs if job.status == "deferred")
    for (kind, reason), count in deferred.items():
        detail = f"{count:,} of kind {kind} deferred: {reason}; retried later, and when the home is opened"
        findings.append(Finding(name="deferred jobs", status="note", detail=detail))
    known = memory.handlers.kinds()
    unknown = Counter(job.kind for job in jobs if job.kind not in known and job.status != "parked")
    for kind, count in unknown.items():
        detail = (
            f"{count:,} of kind {kind!r} wait, which nothing here handles: open the home with the program that does"
        )
        findings.append(Finding(name="unknown jobs", status="note", detail=detail))
    counts = Counter(job.status for job in jobs)
    states = [f"{counts[status]:,} {status}" for status in ("waiting", "running", "deferred") if counts[status]]
    return [
        *findings,
        Finding(name="jobs", detail=f"{', '.join(states) or '0 waiting'}, {len(parked) or 'none'} parked"),
    ]
