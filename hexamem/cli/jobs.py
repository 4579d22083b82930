"""The command on queued work: which jobs wait, were deferred or parked and why; run one again, or drop it."""

from __future__ import annotations

from typing import Annotated, Literal

import typer
from rich.table import Table
from rich.text import Text

from ..errors import InvalidInputError, NotFoundError
from . import output
from .session import Session

__all__ = ["jobs"]

_STYLES = {"waiting": "", "running": "cyan", "deferred": "yellow", "parked": "bold red"}


def jobs(
    session: Session,
    *,
    action: Annotated[Literal["list", "retry", "drop"], typer.Argument(help="list, retry or drop.")] = "list",
    job_id: Annotated[str | None, typer.Argument(metavar="ID", help="Which job to retry or drop.")] = None,
    user: Annotated[str | None, typer.Option("--user", "-u", help="Whose job; list shows all when left out.")] = None,
) -> None:
    """List the jobs that are not done, run a parked one again, or drop it."""
    if not (session.folder / "ledger.sqlite3").exists():
        raise NotFoundError(f"there is no memory at {session.folder}; is --home right?")
    if action == "list":
        if job_id is not None:
            raise InvalidInputError(f"jobs list takes no id, but was given {job_id!r}; name a user with --user")
        return _list(session, user)
    if job_id is None or user is None:
        raise InvalidInputError(f"jobs {action} which? give ID and --user; `hexamem jobs list` shows both")
    with session.memory() as memory:
        (memory.retry_job if action == "retry" else memory.drop_job)(job_id, user=user)
    if session.as_json:
        return output.write_json({"job": job_id, "user": user, "action": action})
    said = "will be run again when the memory is used" if action == "retry" else "is dropped"
    return output.write(Text(f"job {output.clean(job_id)} of {output.clean(user)} {said}"))


def _list(session: Session, user: str | None) -> None:
    with session.memory() as memory:
        found = memory.jobs() if user is None else memory.user(user).jobs()
    if session.as_json:
        return output.write_json(found)
    if not found:
        return output.write(Text("no jobs: everything is done"))
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
            Text(job.id),
            Text(output.clean(job.error or "")),
        )
    return output.write(table)
