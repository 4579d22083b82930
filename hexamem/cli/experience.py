"""``hexamem experience …``: lists and manages what a user's agents learned from their runs."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.text import Text

from hexamem.cli import output
from hexamem.cli.session import Reason, Session, User

Id = Annotated[str, typer.Argument(metavar="ID", help="Of an experience, as `hexamem experience list` shows it.")]
Environment = Annotated[str | None, typer.Option("--env", help="Only of this environment; all when left out.")]
EVERYWHERE = "everywhere"


def list_experience(
    session: Session,
    *,
    user: User,
    env: Environment = None,
    retired: Annotated[bool, typer.Option("--retired", help="Retired experience too.")] = False,
) -> None:
    """List what was learned, with the number of runs that were shown it, and how many of them succeeded or failed."""
    with session.reader(user) as memory:
        listed = memory.experience.items(env, retired=retired)
    rows = (
        (
            Text(output.clean(item.title), style="bold" if item.status == "active" else "dim strike"),
            item.environment or EVERYWHERE,
            item.facet,
            item.retrieved,
            item.helped,
            item.hurt,
            "retired" if item.status == "retired" else "",
            item.id,
        )
        for item in listed
    )
    headings = ("experience", "where", "facet", "shown", "helped", "hurt", "", "id")
    empty = f"user {user!r} has no such experience; `hexamem experience stats` counts the runs"
    session.show(listed, [output.table(headings, rows)], empty)


def show(session: Session, *, experience_id: Id, user: User) -> None:
    """Show one experience: when to use it, what it says, and the runs that it was learned from."""
    with session.reader(user) as memory:
        experience = memory.experience.show(experience_id)
        known = {run.id for run in memory.experience.runs()}
        digests = [memory.experience.digest(run_id) for run_id in experience.run_ids if run_id in known]
    ended = {True: "done", False: "failed", None: "not judged"}
    note = "retired" if experience.status == "retired" else ""
    shown = output.record(
        output.head(title=experience.title, kind=experience.facet, note=note, id=experience.id),
        f"when: {experience.description}",
        f"says: {experience.content}",
        f"where: {experience.environment or EVERYWHERE}",
        f"learned: {experience.origin.replace('_', ' ')}, from {output.counted(len(experience.run_ids), 'run')}",
        f"counts: shown to {experience.retrieved} runs, of which {experience.helped} did their task and {experience.hurt} failed",
        *((f"run {digest.run_id} ({ended[digest.outcome]}): {digest.task}", "dim") for digest in digests),
    )
    session.show({"experience": experience, "runs": digests}, [shown])


def retire(session: Session, *, experience_id: Id, user: User, reason: Reason = "") -> None:
    """Retire an experience: it is not recalled any more. `hexamem undo OPERATION` restores it."""
    session.change(user, lambda memory: memory.experience.retire(experience_id, reason=reason))


def promote(session: Session, *, experience_id: Id, user: User, reason: Reason = "") -> None:
    """Make an experience count in every environment of the user; `hexamem undo OPERATION` reverses that."""
    with session.known(user) as memory:
        experience = memory.experience.promote(experience_id, reason=reason)
        session.show_operations(experience, memory.history(experience.id)[-1:], memory)


def stats(session: Session, *, user: User, env: Environment = None) -> None:
    """Count the runs, their outcomes with and without advice, and what was learned from them."""
    with session.reader(user) as memory:
        counts = memory.experience.stats(env)
    rows = {
        "runs": f"{counts.runs:,}: {counts.succeeded:,} done, {counts.failed:,} failed, {counts.unjudged:,} not judged, "
        f"{counts.unfinished:,} unfinished",
        "with advice": _share(counts.with_advice),
        "without": _share(counts.without_advice),
        "experience": f"{counts.active:,} active, {counts.retired:,} retired",
        "to distil": f"{counts.undistilled:,} runs" + (f"; {counts.waiting}" if counts.waiting else ""),
    }
    session.show(counts, [output.table(("", ""), rows.items())])


def _share(counts: tuple[int, int]) -> str:
    done, judged = counts
    return f"{done:,} of {judged:,} done ({done / judged:.0%})" if judged else "no run was judged"
