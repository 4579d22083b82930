"""``hexamem jobs …``: queued work that is not done, and why; run a job again, or drop it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from hexamem.cli import output
from hexamem.cli.session import Session, User

__all__ = ["COMMANDS", "drop", "list_jobs", "retry"]

JobId = Annotated[str, typer.Argument(metavar="ID", help="Of a job, as `hexamem jobs list` shows it.")]
_STYLES = {"waiting": "", "running": "cyan", "deferred": "yellow", "parked": "bold red"}


def list_jobs(
    session: Session,
    *,
    user: Annotated[str | None, typer.Option("--user", "-u", help="Whose jobs; everyone's when left out.")] = None,
) -> None:
    """List the jobs that are not done: waiting, running, deferred or parked, and why."""
    if user is None:
        with session.memory(create=False) as memory:
            found = memory.jobs()
    else:
        with session.reader(user) as one:
            found = one.jobs()
    if session.as_json:
        return output.write_json(found)
    if not found:
        return output.note("no jobs: everything is done")
    table = Table(box=None, padding=(0, 2, 0, 0))
    for heading in ("due", "status", "kind", "user", "tried", "id", "why"):
        table.add_column(heading, overflow="fold")
    for job in found:
        table.add_row(
            output.shown_time(job.due_at),
            Text(job.status, style=_STYLES.get(job.status, "")),
            Text(output.clean(job.kind)),
            Text(output.clean(job.user)),
            str(job.attempts),
            Text(output.clean(job.id)),
            Text(output.clean(job.error or "")),
        )
    return output.write(table)


def retry(session: Session, *, job_id: JobId, user: User) -> None:
    """Let a parked or deferred job be run again as soon as its program opens the home."""
    with session.memory(create=False) as memory:
        memory.retry_job(job_id, user=user)
    _told(session, job_id, user, "retried", "is run again as soon as the program that does such jobs opens the home")


def drop(session: Session, *, job_id: JobId, user: User) -> None:
    """Take a job out of the queue for good, undone."""
    with session.memory(create=False) as memory:
        memory.drop_job(job_id, user=user)
    _told(session, job_id, user, "dropped", "is dropped")


def _told(session: Session, job_id: str, user: str, done: str, said: str) -> None:
    if session.as_json:
        return output.write_json({"id": job_id, "user": user, "done": done})
    return output.write(Text(f"job {output.clean(job_id)} of {output.clean(user)} {said}"))


COMMANDS: Mapping[str, Callable[..., Any]] = {"list": list_jobs, "retry": retry, "drop": drop}
"""The commands of the group by name."""
