"""Examines a home: lists what is there, checks that it is consistent, and says how to repair it."""

from __future__ import annotations

import os
import platform
import stat
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from rich.filesize import decimal
from sqlalchemy import and_, func, select

from hexamem import __version__
from hexamem.errors import CorruptFileError
from hexamem.graphs.ingest_batches import MANAGED
from hexamem.stores.ledger import user_key
from hexamem.stores.ledger.jobs import list_jobs
from hexamem.stores.ledger.row_security import Unprotected, find_unprotected, is_bypassed
from hexamem.stores.ledger.schema import items, projections, steps, users
from hexamem.stores.media_texts import NEVER
from hexamem.stores.secrets.keys import KEY_FILE_NAME, KEY_VARIABLE
from hexamem.stores.streams import count_passages

if TYPE_CHECKING:
    from hexamem.memory import Memory

Status = Literal["ok", "note", "wrong"]
_WAITS = {
    "describe": "the memory is opened with describe=, a function for pictures",
    "transcribe": "the memory is opened with transcribe=, a function for recordings",
    "distil": "the memory is opened with a model",
}
"""Kind of job that waits for something without a time → for what."""
_PARTS = {"ledger": "ledger.sqlite3*", "vectors": "chroma", "keywords": "lexical", "media": "media"}
_SHOWN_JOBS = 20
_STREAMS: tuple[Literal["steps", "items"], ...] = ("steps", "items")


@dataclass(frozen=True, slots=True)
class Finding:
    """One check. ``note`` is information, ``wrong`` needs an action; the detail says which."""

    name: str
    detail: str
    status: Status = "ok"


def examine_home(home: Path, *, shared: bool = False) -> list[Finding]:
    """Examine a home without opening it: place, sizes, versions. The ledger of a ``shared`` one is elsewhere."""
    versions = f"hexamem {__version__}, Python {platform.python_version()}"
    findings = [Finding("home", str(home)), Finding("versions", versions)]
    if home.exists() and not home.is_dir():
        detail = f"{home} is a file, not a folder: name the folder of a memory"
        return [*findings, Finding("memory", detail, "wrong")]
    if not home.exists() or not (shared or (home / "ledger.sqlite3").exists()):
        if (home / "home.id").exists():
            detail = f"{home} was opened before, and its ledger.sqlite3 is gone: put a backup of that file there"
            return [*findings, Finding("ledger", detail, "wrong")]
        return [*findings, Finding("memory", "none there yet; the first write makes one", "note")]
    mode = stat.S_IMODE(home.stat().st_mode)
    if os.name == "posix" and mode & 0o077:
        detail = f"{home} has mode {mode:03o}, so other users of this machine may read the memory: chmod 700 {home}"
        findings.append(Finding("permissions", detail, "note"))
    sizes = {name: sum(_sizes(home, pattern)) for name, pattern in _PARTS.items()}
    total = ", ".join(f"{name} {decimal(size)}" for name, size in sizes.items())
    return [*findings, Finding("disk", f"{decimal(sum(sizes.values()))}: {total}")]


def examine(memory: Memory, *, progress: Callable[[str], object] = lambda user: None) -> list[Finding]:
    """Examine an open home: embedder, ledger, vault key, indexes, jobs, repairs."""
    embedder = memory.embedder
    return [
        Finding("embedder", f"{embedder.name}, {embedder.dimension} dimensions, {embedder.fingerprint[:16]}"),
        _ledger(memory),
        _vault(memory),
        *_indexes(memory, progress),
        _managing(memory),
        *_jobs(memory),
        *(Finding("repaired", line, "note") for line in memory.notices),
    ]


def count_records(memory: Memory, user: str | None = None) -> list[dict[str, Any]]:
    """``{"user", "steps", "items"}`` of each user in order of their first write, or of the one named (none if unknown)."""
    with memory.ledger.connect() as connection:
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


def _sizes(home: Path, pattern: str) -> Iterator[int]:
    for top in home.glob(pattern):
        for path in (top, *top.rglob("*")) if top.is_dir() else (top,):
            try:
                status = path.lstat()
            except FileNotFoundError:  # a log file that was deleted meanwhile
                continue
            if stat.S_ISREG(status.st_mode):
                yield status.st_size


def _ledger(memory: Memory) -> Finding:
    ledger = memory.ledger
    if not ledger.embedded:
        with ledger.connect() as connection:
            bypassed, unprotected = is_bypassed(connection), find_unprotected(connection)
        detail = f"{ledger.engine.dialect.name} at {ledger.place}"
        if unprotected:
            return Finding("ledger", f"{detail}; {_unprotected(unprotected)}", "wrong")
        if not bypassed:
            return Finding("ledger", detail)
        return Finding("ledger", f"{detail}; its role bypasses row-level security: use one that does not", "note")
    with ledger.connect() as connection:
        damage = [str(row[0]) for row in connection.exec_driver_sql("PRAGMA integrity_check(5)") if row[0] != "ok"]
        orphans = len(connection.exec_driver_sql("PRAGMA foreign_key_check").fetchall())
    if damage or orphans:
        problems = "; ".join([*damage, *([f"{orphans} rows refer to missing rows"] if orphans else [])])
        return Finding("ledger", f"damaged: {problems}; restore it from an export or a backup", "wrong")
    return Finding("ledger", f"intact, version {ledger.settings().get('version', '?')}")


def _unprotected(tables: list[Unprotected]) -> str:
    """Which tables are not protected by row-level security, and how to change that."""
    parts = []
    if lacking := [table.name for table in tables if table.lacking]:
        parts.append(
            f"without row-level security or its policy: {', '.join(lacking)}: open the ledger once as the role that owns "
            "these tables, which creates both: hexamem doctor --ledger postgresql+psycopg://OWNER@HOST/DATABASE"
        )
    for table in tables:
        parts += [
            f"a further policy may show rows of other users: DROP POLICY {name} ON {table.name}"
            for name in table.others
        ]
    return "; ".join(parts)


def _vault(memory: Memory) -> Finding:
    used = memory.ledger.settings().get("vault_key_id", memory.cipher.key_id)
    if used != memory.cipher.key_id:
        return Finding("vault key", f"{memory.cipher.key_id}; the secrets need the key {used}: restore it", "wrong")
    if KEY_VARIABLE in os.environ:
        return Finding("vault key", f"from the environment ({KEY_VARIABLE})")
    path = memory.home / KEY_FILE_NAME
    if not path.exists():
        return Finding("vault key", f"not in {path}; it must be elsewhere", "note")
    mode = stat.S_IMODE(path.stat().st_mode)
    if os.name == "posix" and mode & 0o077:
        return Finding("vault key", f"{path} has mode {mode:03o}, so others can read it: chmod 600 {path}", "wrong")
    return Finding("vault key", f"{path}, mode {mode:03o}; keep a copy of it apart, secrets cannot be read without it")


def _indexes(memory: Memory, progress: Callable[[str], object]) -> Iterator[Finding]:
    behind: dict[str, int] = {}
    damaged = False
    counts = count_records(memory)
    for row in counts:
        name, key = row["user"], user_key(row["user"])
        reason = memory.lexical.damaged(key)
        if lacking := memory.projector.behind(name):
            behind[name] = lacking
        elif reason is None:
            reason = _miscounted(memory, key, row)
        if reason is not None:
            damaged = True
            repair = f"the next recall rebuilds it, or: hexamem reindex --user {name!r}"
            yield Finding("index", f"of user {name!r}: {reason}; {repair}", "wrong")
        progress(name)
    if behind:
        largest = max(behind, key=lambda name: behind[name])
        detail = f"{len(behind)} of {len(counts)} users have changes that are not indexed yet"
        detail += f" (most: {largest!r}, {behind[largest]:,}); the next recall catches up"
        yield Finding("indexes", detail, "note")
    elif not damaged:
        yield Finding("indexes", f"up to date for {len(counts)} user(s)")


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


def _managing(memory: Memory) -> Finding:
    """The mode in which items are extracted from steps, and how many steps wait for that."""
    mark = and_(projections.c.user_id == steps.c.user_id, projections.c.home == "", projections.c.name == MANAGED)
    new = steps.c.seq > func.coalesce(projections.c.change, 0)
    counted = select(func.count()).select_from(steps).outerjoin(projections, mark)
    with memory.ledger.connect() as connection:
        waiting = connection.execute(counted.where(steps.c.status == "active", new)).scalar_one()
    if not memory.ingesting.on:
        return Finding("managers", f"Settings.mode is off: nothing is learned from {waiting:,} steps")
    tier = memory.settings.mode
    state = (
        f"{waiting:,} steps wait to be read: `hexamem flush` reads them, or a program that holds the home open for a while"
        if waiting
        else "every step was read"
    )
    return Finding("managers", f"mode {tier}: {state}")


def _jobs(memory: Memory) -> Iterator[Finding]:
    """Parked jobs one by one, what waits for something by its reason, and how many there are of each status."""
    listed = list_jobs(memory.ledger)
    jobs = [job for job in listed if job.due_at < NEVER]
    parked = [job for job in jobs if job.status == "parked"]
    for job in parked[:_SHOWN_JOBS]:
        why = f"parked after {job.attempts} attempts: {job.error or 'no reason stored'}"
        retry = f"when that is fixed: hexamem jobs retry {job.id} --user {job.user!r}"
        yield Finding("job", f"{job.kind} of user {job.user!r}, {why}; {retry}", "wrong")
    if len(parked) > _SHOWN_JOBS:
        yield Finding("job", f"{len(parked) - _SHOWN_JOBS:,} more parked jobs: hexamem jobs list", "wrong")
    deferred = Counter((job.kind, job.error) for job in jobs if job.status == "deferred")
    for (kind, reason), count in deferred.items():
        detail = f"{count:,} of kind {kind} deferred: {reason}; retried later, and when the home is opened"
        yield Finding("deferred jobs", detail, "note")
    for kind, count in Counter(job.kind for job in listed if job.due_at >= NEVER).items():
        yield Finding(kind, f"{count:,} stored, to be done once {_WAITS[kind]}")
    known = memory.handlers.kinds()
    unknown = Counter(job.kind for job in jobs if job.kind not in known and job.status != "parked")
    for kind, count in unknown.items():
        who = "which nothing here handles: open the home with the program that does"
        yield Finding("unknown jobs", f"{count:,} of kind {kind!r} wait, {who}", "note")
    counts = Counter(job.status for job in jobs)
    states = [f"{counts[status]:,} {status}" for status in ("waiting", "running", "deferred") if counts[status]]
    yield Finding("jobs", f"{', '.join(states) or '0 waiting'}, {len(parked) or 'none'} parked")
