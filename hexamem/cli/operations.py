"""Commands that maintain a home: export, import, doctor, jobs, flush, reindex, reembed."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import RenderableType
from rich.text import Text

from hexamem.cli import output
from hexamem.cli.session import MaybeUser, Session, User
from hexamem.errors import HexamemError, InvalidInputError, NotFoundError

if TYPE_CHECKING:
    from hexamem.doctor import Finding
    from hexamem.user import UserMemory

_MARKS = {"ok": ("✓", "green"), "note": ("•", "yellow"), "wrong": ("✗", "bold red")}
_JOB_STYLES = {"running": "cyan", "deferred": "yellow", "parked": "bold red"}
_SHOWN_USERS = 20
JobId = Annotated[str, typer.Argument(metavar="ID", help="Of a job, as `hexamem jobs list` shows it.")]
PassphraseFile = Annotated[
    Path | None,
    typer.Option("--passphrase-file", exists=True, dir_okay=False, help="The passphrase is its first line."),
]


def export(
    session: Session,
    *,
    file: Annotated[Path, typer.Argument(metavar="FILE", dir_okay=False, help="Written whole or not at all.")],
    user: User,
    with_secrets: Annotated[
        bool, typer.Option("--with-secrets", help="Export the vault's secrets too, encrypted under a passphrase.")
    ] = False,
    passphrase_file: PassphraseFile = None,
) -> None:
    """Write everything of a user to a file with a checksum. Secrets are exported only with --with-secrets."""
    passphrase = _passphrase(passphrase_file, twice=True) if with_secrets or passphrase_file else None
    with session.reader(user) as memory:
        counts = memory.export(file, passphrase=passphrase)
    _show_counts(session, file, user, counts, "wrote")


def import_(
    session: Session,
    *,
    file: Annotated[Path, typer.Argument(metavar="FILE", exists=True, dir_okay=False, help="As `export` wrote it.")],
    user: User,
    passphrase_file: PassphraseFile = None,
) -> None:
    """Import a file that export wrote, of this or another user; existing records stay as they are."""
    passphrase = _passphrase(passphrase_file, twice=False) if passphrase_file or _holds_secrets(file) else None
    with session.user(user) as memory:
        counts = memory.import_(file, passphrase=passphrase)
        with output.progress_bar("indexing") as advance:
            memory.memory.projector.catch_up(memory.name, lambda index, count: advance(count))
        missing = _missing_secrets(memory)
    _show_counts(session, file, user, counts, "imported")
    if missing:
        output.note(f"note: {missing} vault items have no secret here: they were exported without --with-secrets")


def _missing_secrets(memory: UserMemory) -> int:
    """How many items of the vault have no secret in it."""
    from hexamem.stores.ledger.vault import list_secrets

    with memory.read() as tx:
        stored = {row.id for row in list_secrets(tx)}
    return sum(getattr(item, "secret_id", None) not in {None, *stored} for item in memory.items("vault"))


def _show_counts(session: Session, file: Path, user: str, counts: Mapping[str, int], verb: str) -> None:
    records = ", ".join(f"{count:,} {name}" for name, count in counts.items() if count) or "no records"
    session.show({"file": str(file), "user": user, "counts": counts}, f"{verb} {records}  ({file})")


def _holds_secrets(file: Path) -> bool:
    """Whether an export has secrets, by its first line. A damaged file is refused later, by the import."""
    with file.open("rb") as lines:
        first = lines.readline(100_000)
    try:
        return bool(json.loads(first)["secrets"])
    except (ValueError, KeyError, TypeError):
        return False


def _passphrase(file: Path | None, *, twice: bool) -> str:
    """A passphrase: the first line of a file, else typed at the terminal without echo."""
    if file is not None:
        first = file.read_text(encoding="utf-8").partition("\n")[0].removesuffix("\r")
        if not first:
            raise InvalidInputError(f"{file}: its first line is empty; the passphrase was expected there")
        return first
    if sys.stdin is None or not sys.stdin.isatty():
        raise InvalidInputError("there is no terminal to ask for the passphrase at: give --passphrase-file")
    return str(typer.prompt("Passphrase", hide_input=True, confirmation_prompt=twice, err=True))


def doctor(session: Session) -> int:
    """Examine the home: files, versions, embedder, users, indexes, vault key, jobs. Exits 1 if something is wrong."""
    from hexamem.doctor import Finding, count_records, examine, examine_home

    findings = examine_home(session.folder, shared=session.ledger is not None)
    users: list[dict[str, Any]] = []
    if session.exists:  # opening would make one
        try:
            with session.memory() as memory:
                with output.progress_bar("examining", total=len(memory.users())) as advance:
                    findings += examine(memory, progress=lambda name: advance(1))
                users = count_records(memory)
        except HexamemError as error:
            findings.append(Finding("opening", str(error), "wrong"))
    wrong = [finding.name for finding in findings if finding.status == "wrong"]
    shown = list(map(asdict, findings))
    report = {"ok": not wrong, "home": str(session.folder), "findings": shown, "users": users}
    session.show(report, _examined(findings, users, wrong))
    return 1 if wrong else 0


def _examined(findings: list[Finding], users: list[dict[str, Any]], wrong: list[str]) -> Iterator[RenderableType]:
    yield output.table(
        ("", "", ""),
        ((Text(*_MARKS[finding.status]), Text(finding.name, style="bold"), finding.detail) for finding in findings),
    )
    if users:
        largest = sorted(users, key=lambda row: -row["steps"])[:_SHOWN_USERS]
        columns = ("user", "steps", "items")
        yield Text("")
        yield output.table(columns, ([row[name] for name in columns] for row in largest))
        if len(users) > len(largest):
            yield Text(f"… and {len(users) - len(largest):,} more: hexamem users", style="dim")
    yield Text("")
    if wrong:
        yield Text(f"{output.counted(len(wrong), 'thing')} wrong: {', '.join(wrong)}", style="bold red")
    else:
        yield Text("all is well", style="bold green")


def flush(session: Session, *, user: MaybeUser = None) -> int:
    """Index, label and extract items from all steps that wait for it, now. Exits 1 if something is left."""
    with session.memory(create=False) as memory:
        names = _chosen(session, memory.users(), user)
        left = []
        with output.progress_bar("learning", total=len(names)) as advance:
            for name in names:
                if not memory.user(name).flush():
                    left.append(name)
                advance(1)
    if left and not session.as_json:
        output.note(
            f"not all is done for {', '.join(map(repr, left))}: `hexamem jobs list` shows what is left, and why"
        )
    else:
        session.show({"users": names, "left": left}, f"nothing waits any more: {output.counted(len(names), 'user')}")
    return 1 if left else 0


def _chosen(session: Session, names: list[str], user: str | None) -> list[str]:
    """All users, or one of them."""
    if user is not None and user not in names:
        raise NotFoundError(f"user {user!r} has stored nothing at {session.folder}; `hexamem users` lists who has")
    return names if user is None else [user]


def reindex(session: Session, *, user: MaybeUser = None) -> None:
    """Delete the indexes and build them anew from the ledger."""
    with session.memory(create=False) as memory:
        chosen = _chosen(session, memory.users(), user)
        with output.progress_bar("indexing") as advance:
            written = memory.reindex(user, progress=lambda index, count: advance(count))
    users = output.counted(len(chosen), "user")
    session.show({"users": chosen, "records": written}, f"built the indexes of {users}: {written:,} records")


def reembed(session: Session) -> None:
    """Change the home's embedder (--embedder): every vector is computed anew. If interrupted, run it again."""
    from hexamem.memory import Memory

    embedder = session.embedder
    if embedder is None:
        raise InvalidInputError("reembed with which embedder? give --embedder bundled, static, minilm or openai:MODEL")
    if not session.exists:
        raise NotFoundError(f"there is no memory at {session.folder} to embed anew; is --home right?")
    with output.progress_bar("embedding") as advance:
        written = Memory.reembed(session.folder, embedder=embedder, progress=lambda index, count: advance(count))
    session.show({"embedder": embedder, "records": written}, f"embedded anew with {embedder}: {written:,} records")


def list_jobs(session: Session, *, user: MaybeUser = None) -> None:
    """List the jobs that are not done: waiting, running, deferred or parked, and why."""
    with session.memory(create=False) as memory:
        jobs = memory.jobs() if user is None else memory.user(user).jobs()
    rows = (
        (
            output.shown_time(job.due_at),
            Text(job.status, style=_JOB_STYLES.get(job.status, "")),
            job.kind,
            job.user,
            job.attempts,
            job.id,
            job.error or "",
        )
        for job in jobs
    )
    table = output.table(("due", "status", "kind", "user", "tried", "id", "why"), rows)
    session.show(jobs, [table], "no jobs: everything is done")


def retry_job(session: Session, *, job_id: JobId, user: User) -> None:
    """Retry a parked or deferred job as soon as its program opens the home."""
    with session.memory(create=False) as memory:
        memory.retry_job(job_id, user=user)
    _show_job(
        session, job_id, user, "retried", "is run again as soon as the program that does such jobs opens the home"
    )


def drop_job(session: Session, *, job_id: JobId, user: User) -> None:
    """Delete a job from the queue without running it."""
    with session.memory(create=False) as memory:
        memory.drop_job(job_id, user=user)
    _show_job(session, job_id, user, "dropped", "is dropped")


def _show_job(session: Session, job_id: str, user: str, done: str, outcome: str) -> None:
    session.show({"id": job_id, "user": user, "done": done}, f"job {job_id} of {user} {outcome}")
