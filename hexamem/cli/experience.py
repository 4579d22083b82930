"""``hexamem experience …``: what a user's agents learned from their runs, shown and looked after."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from hexamem.cli import output
from hexamem.cli.operations import operation_blocks
from hexamem.cli.session import Reason, Session, User

if TYPE_CHECKING:
    from hexamem.memory_types import Experience

__all__ = ["COMMANDS", "list_items", "promote", "retire", "show", "stats"]

Id = Annotated[str, typer.Argument(metavar="ID", help="Of an experience, as `hexamem experience list` shows it.")]
Environment = Annotated[str | None, typer.Option("--env", help="Only of this environment; all when left out.")]
EVERYWHERE = "everywhere"


def list_items(
    session: Session,
    *,
    user: User,
    env: Environment = None,
    retired: Annotated[bool, typer.Option("--retired", help="What was retired too.")] = False,
) -> None:
    """List what was learned, with how many runs were given it, and how many of those did their task or failed."""
    with session.reader(user) as memory:
        found = memory.experience.items(env, retired=retired)
    if session.as_json:
        return output.write_json(found)
    if not found:
        return output.note(f"user {user!r} has no such experience; `hexamem experience stats` tells of the runs")
    table = Table(box=None, padding=(0, 2, 0, 0))
    for heading in ("experience", "where", "facet"):
        table.add_column(heading, overflow="fold")
    for heading in ("shown", "helped", "hurt"):
        table.add_column(heading, justify="right")
    table.add_column("id", overflow="fold")
    for one in found:
        title = Text(output.clean(one.title), style="bold" if one.status == "active" else "dim strike")
        title.append("  retired" if one.status == "retired" else "", style="yellow")
        where = Text(output.clean(one.environment or EVERYWHERE))
        counts = (f"{count:,}" for count in (one.retrieved, one.helped, one.hurt))
        table.add_row(title, where, Text(one.facet), *counts, Text(output.clean(one.id), style="dim"))
    return output.write(table)


def show(session: Session, *, experience_id: Id, user: User) -> None:
    """Show one experience: when to use it, what it says, and the runs that it was learned from."""
    with session.reader(user) as memory:
        found = memory.experience.show(experience_id)
        known = {run.id for run in memory.experience.runs()}
        digests = [memory.experience.digest(run_id) for run_id in found.run_ids if run_id in known]
    if session.as_json:
        return output.write_json({"experience": found, "runs": digests})
    ended = {True: "done", False: "failed", None: "not judged"}
    lines = [Text(f"    {name}: {output.clean(value)}") for name, value in _facts(found).items()]
    for one in digests:
        lines.append(Text(f"    run {one.run_id} ({ended[one.outcome]}): {output.clean(one.task)}", style="dim"))
    head = Text(output.clean(found.title), style="bold")
    head.append(f"  {found.facet}", style="cyan")
    head.append("  retired" if found.status == "retired" else "", style="yellow")
    head.append(f"  {found.id}", style="dim")
    return output.write(head, *lines)


def _facts(one: Experience) -> dict[str, str]:
    return {
        "when": one.description,
        "says": one.content,
        "where": one.environment or EVERYWHERE,
        "learned": f"{one.origin.replace('_', ' ')}, from {len(one.run_ids)} run{'' if len(one.run_ids) == 1 else 's'}",
        "counts": f"shown to {one.retrieved} runs, of which {one.helped} did their task and {one.hurt} failed",
    }


def retire(session: Session, *, experience_id: Id, user: User, reason: Reason = "") -> None:
    """Recall an experience no more; `hexamem undo OPERATION` brings it back."""
    with session.user(user, create=False) as memory:
        done = memory.experience.retire(experience_id, reason=reason)
        if session.as_json:
            return output.write_json(done)
        return output.write(*operation_blocks([done], memory))


def promote(session: Session, *, experience_id: Id, user: User, reason: Reason = "") -> None:
    """Let an experience hold in every environment of the user; `hexamem undo OPERATION` takes that back."""
    with session.user(user, create=False) as memory:
        found = memory.experience.promote(experience_id, reason=reason)
        if session.as_json:
            return output.write_json(found)
        return output.write(*operation_blocks(memory.history(found.id)[-1:], memory))


def stats(session: Session, *, user: User, env: Environment = None) -> None:
    """Tell how many runs there are, how they ended with and without advice, and what was learned from them."""
    with session.reader(user) as memory:
        found = memory.experience.stats(env)
    if session.as_json:
        return output.write_json(found)
    rows = {
        "runs": f"{found.runs:,}: {found.succeeded:,} done, {found.failed:,} failed, {found.unjudged:,} not judged, "
        f"{found.unfinished:,} unfinished",
        "with advice": _share(found.with_advice),
        "without": _share(found.without_advice),
        "experience": f"{found.active:,} active, {found.retired:,} retired",
        "to distil": f"{found.undistilled:,} runs" + (f"; {found.waiting}" if found.waiting else ""),
    }
    table = Table(box=None, show_header=False, padding=(0, 3, 0, 0))
    for name, value in rows.items():
        table.add_row(Text(name, style="bold"), Text(value))
    return output.write(table)


def _share(counted: tuple[int, int]) -> str:
    done, judged = counted
    return f"{done:,} of {judged:,} done ({done / judged:.0%})" if judged else "no run was judged"


COMMANDS: Mapping[str, Callable[..., Any]] = {
    "list": list_items,
    "show": show,
    "retire": retire,
    "promote": promote,
    "stats": stats,
}
"""The commands of the group by name."""
