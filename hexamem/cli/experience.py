"""``hexamem experience …``: what a user's agents learned from their runs, shown and looked after."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any

import typer
from rich.text import Text

from hexamem.cli import output
from hexamem.cli.session import Reason, Session, User

__all__ = ["COMMANDS"]

Id = Annotated[str, typer.Argument(metavar="ID", help="Of an experience, as `hexamem experience list` shows it.")]
Environment = Annotated[str | None, typer.Option("--env", help="Only of this environment; all when left out.")]
EVERYWHERE = "everywhere"


def list_experience(
    session: Session,
    *,
    user: User,
    env: Environment = None,
    retired: Annotated[bool, typer.Option("--retired", help="What was retired too.")] = False,
) -> None:
    """List what was learned, with how many runs were given it, and how many of those did their task or failed."""
    with session.reader(user) as memory:
        found = memory.experience.items(env, retired=retired)
    rows = (
        (
            Text(output.clean(one.title), style="bold" if one.status == "active" else "dim strike"),
            one.environment or EVERYWHERE,
            one.facet,
            one.retrieved,
            one.helped,
            one.hurt,
            "retired" if one.status == "retired" else "",
            one.id,
        )
        for one in found
    )
    headings = ("experience", "where", "facet", "shown", "helped", "hurt", "", "id")
    empty = f"user {user!r} has no such experience; `hexamem experience stats` counts the runs"
    session.show(found, [output.table(headings, rows)], empty)


def show(session: Session, *, experience_id: Id, user: User) -> None:
    """Show one experience: when to use it, what it says, and the runs that it was learned from."""
    with session.reader(user) as memory:
        found = memory.experience.show(experience_id)
        known = {run.id for run in memory.experience.runs()}
        digests = [memory.experience.digest(run_id) for run_id in found.run_ids if run_id in known]
    ended = {True: "done", False: "failed", None: "not judged"}
    shown = output.record(
        [
            (found.title, "bold"),
            (found.facet, "cyan"),
            ("retired" if found.status == "retired" else "", "yellow"),
            (found.id, "dim"),
        ],
        f"when: {found.description}",
        f"says: {found.content}",
        f"where: {found.environment or EVERYWHERE}",
        f"learned: {found.origin.replace('_', ' ')}, from {output.counted(len(found.run_ids), 'run')}",
        f"counts: shown to {found.retrieved} runs, of which {found.helped} did their task and {found.hurt} failed",
        *((f"run {one.run_id} ({ended[one.outcome]}): {one.task}", "dim") for one in digests),
    )
    session.show({"experience": found, "runs": digests}, [shown])


def retire(session: Session, *, experience_id: Id, user: User, reason: Reason = "") -> None:
    """Recall an experience no more; `hexamem undo OPERATION` brings it back."""
    with session.known(user) as memory:
        done = memory.experience.retire(experience_id, reason=reason)
        session.show_operations(done, [done], memory)


def promote(session: Session, *, experience_id: Id, user: User, reason: Reason = "") -> None:
    """Let an experience hold in every environment of the user; `hexamem undo OPERATION` takes that back."""
    with session.known(user) as memory:
        found = memory.experience.promote(experience_id, reason=reason)
        session.show_operations(found, memory.history(found.id)[-1:], memory)


def stats(session: Session, *, user: User, env: Environment = None) -> None:
    """Tell how many runs there are, how they ended with and without advice, and what was learned from them."""
    with session.reader(user) as memory:
        found = memory.experience.stats(env)
    rows = {
        "runs": f"{found.runs:,}: {found.succeeded:,} done, {found.failed:,} failed, {found.unjudged:,} not judged, "
        f"{found.unfinished:,} unfinished",
        "with advice": _share(found.with_advice),
        "without": _share(found.without_advice),
        "experience": f"{found.active:,} active, {found.retired:,} retired",
        "to distil": f"{found.undistilled:,} runs" + (f"; {found.waiting}" if found.waiting else ""),
    }
    session.show(found, [output.table(("", ""), rows.items())])


def _share(counts: tuple[int, int]) -> str:
    done, judged = counts
    return f"{done:,} of {judged:,} done ({done / judged:.0%})" if judged else "no run was judged"


COMMANDS: Mapping[str, Callable[..., Any]] = {
    "list": list_experience,
    "show": show,
    "retire": retire,
    "promote": promote,
    "stats": stats,
}
"""The commands of the group by name."""
