"""``hexamem labels …``: the labels of a user's steps, shown and corrected by hand; ``undo`` reverses a correction."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from hexamem.cli import output
from hexamem.cli.operations import operation_blocks
from hexamem.cli.session import Reason, Session, User, zone_of

if TYPE_CHECKING:
    from hexamem.memory_types import LabelView, Operation, Step
    from hexamem.user import UserMemory

__all__ = ["COMMANDS", "list_labels", "merge", "move", "pin", "rename", "show", "split"]

Label = Annotated[
    str, typer.Argument(metavar="LABEL", help='A name, now or before; a path such as "Trip / Day 2"; or an id.')
]
Steps = Annotated[list[str], typer.Argument(metavar="STEP...", help="Ids of steps, as `steps` shows them.")]
Kind = Annotated[str | None, typer.Option("--kind", help="scope, event or entity.")]
_ROOM_FOR_ID = 76
_HEADINGS = {"scope": "thematic scopes", "event": "event types", "entity": "entity types"}


def list_labels(session: Session, *, user: User, kind: Kind = None) -> None:
    """List the labels of a user's steps, narrower ones under wider ones, with how many steps carry each.

    A step that carries a narrower label counts for the wider one too; "itself" counts those that carry that very one.
    """
    with session.reader(user) as memory:
        found = memory.labels.list(kind)  # type: ignore[arg-type]
    if session.as_json:
        return output.write_json(found)
    if not found:
        return output.note(f"user {user!r} has no such labels")
    blocks: list[RenderableType] = []
    for name, heading in _HEADINGS.items():
        chosen = [one for one in found if one.kind == name]
        if chosen:
            blocks += [*([Text("")] if blocks else []), _table(heading, chosen)]
    return output.write(*blocks)


def _table(heading: str, labels: Sequence[LabelView]) -> Table:
    table = Table(box=None, padding=(0, 3, 0, 0))
    table.add_column(heading, overflow="fold")
    apart = any(one.steps != one.steps_below for one in labels)
    for column in ("steps", *(["itself"] if apart else [])):
        table.add_column(column, justify="right")
    for column in ("", "also found as"):
        table.add_column(column, overflow="fold")
    # An id is to be copied: where there is room for it in one piece, names are broken instead.
    table.add_column("id", overflow="fold", no_wrap=output.result().width >= _ROOM_FOR_ID)
    for depth, one in _nested(labels):
        name = Text(("   " * (depth - 1) + "└─ ") if depth else "", style="dim")
        name.append(output.clean(one.name), style="bold" if not depth else "")
        counted = [f"{one.steps_below:,}", *([f"{one.steps:,}"] if apart else [])]
        also = Text(output.clean(", ".join(one.aliases)), style="dim")
        table.add_row(name, *counted, Text("pinned" if one.pinned else "", style="yellow"), also, Text(one.id, "dim"))
    return table


def _nested(labels: Sequence[LabelView]) -> Iterator[tuple[int, LabelView]]:
    """The labels with their depth, each right behind the one that it lies under."""
    there = {one.id for one in labels}
    under: dict[str | None, list[LabelView]] = {}
    for one in labels:
        under.setdefault(one.parent_id if one.parent_id in there else None, []).append(one)

    waiting = [(0, one) for one in reversed(under.get(None, []))]
    while waiting:
        depth, one = waiting.pop()
        yield depth, one
        waiting += [(depth + 1, child) for child in reversed(under.get(one.id, []))]


def show(session: Session, *, label: Label, user: User) -> None:
    """Show one label: what it is about, its other names, what lies under it, and the latest steps that carry it."""
    with session.reader(user) as memory:
        found = memory.labels.show(label)
        under = [one for one in memory.labels.list(found.kind) if one.parent_id == found.id]
        steps: list[Step] = [memory.get(step_id) for step_id in found.step_ids]  # type: ignore[misc]
        zone = zone_of(memory)
    if session.as_json:
        return output.write_json(found)

    facts = {"about": found.gist, "also found as": ", ".join(found.aliases), "steps": f"{found.steps:,}"}
    if len(steps) < found.steps:
        facts["steps"] += f", the latest {len(steps)} of which follow"
    if under:
        facts["under it"] = ", ".join(f"{one.name} ({one.steps_below:,})" for one in under)
    head = Text(output.clean(found.path), style="bold")
    head.append(f"  {found.kind}", style="cyan")
    head.append("  pinned" if found.pinned else "", style="yellow")
    head.append(f"  {found.id}", style="dim")
    lines = [Text(f"    {name}: {output.clean(value)}") for name, value in facts.items() if value]
    return output.write(head, *lines, *(block for step in steps for block in output.step_block(step, zone=zone)))


def rename(
    session: Session,
    *,
    label: Label,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Its new name.")],
    user: User,
    reason: Reason = "",
) -> None:
    """Give a label another name, and pin it. Its old name still finds it."""
    with session.user(user, create=False) as memory:
        done = memory.labels.rename(label, name, reason=reason)
        _show(session, done, memory)


def merge(
    session: Session,
    *,
    label: Label,
    into: Annotated[str, typer.Argument(metavar="INTO", help="The label that takes it in.")],
    user: User,
    reason: Reason = "",
) -> None:
    """Let one label take another in: both names then stand for it."""
    with session.user(user, create=False) as memory:
        done = memory.labels.merge(label, into, reason=reason)
        _show(session, done, memory)


def split(
    session: Session,
    *,
    label: Label,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The new label.")],
    steps: Steps,
    user: User,
    reason: Reason = "",
) -> None:
    """Make a new label of some of the steps that carry one."""
    with session.user(user, create=False) as memory:
        made = memory.labels.split(label, steps, name, reason=reason)
        done = memory.history(made.id)[-1]
        if session.as_json:
            return output.write_json({"label": made, "operation": done})
        return _show(session, done, memory)


def move(
    session: Session,
    *,
    label: Label,
    steps: Steps,
    user: User,
    kind: Annotated[
        str | None, typer.Option("--kind", help="Which kind of label is meant: scope, event or entity.")
    ] = None,
    reason: Reason = "",
) -> None:
    """Give steps a label: a scope or event type in place of theirs, an entity type beside theirs."""
    with session.user(user, create=False) as memory:
        done = memory.labels.move(steps, label, kind=kind, reason=reason)  # type: ignore[arg-type]
        _show(session, done, memory)


def pin(
    session: Session,
    *,
    label: Label,
    user: User,
    off: Annotated[bool, typer.Option("--off", help="Let it go again.")] = False,
    reason: Reason = "",
) -> None:
    """Pin a label: neither the classifiers nor a model change it."""
    with session.user(user, create=False) as memory:
        done = memory.labels.pin(label, not off, reason=reason)
        _show(session, done, memory)


def _show(session: Session, done: Operation, user: UserMemory) -> None:
    if session.as_json:
        return output.write_json(done)
    return output.write(*operation_blocks([done], user))


COMMANDS: Mapping[str, Callable[..., Any]] = {
    "list": list_labels,
    "show": show,
    "rename": rename,
    "merge": merge,
    "split": split,
    "move": move,
    "pin": pin,
}
"""The commands of the group by name."""
