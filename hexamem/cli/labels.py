"""``hexamem labels …``: lists the labels of a user's steps and corrects them by hand; ``undo`` reverses a correction."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from rich.console import RenderableType
from rich.text import Text

from hexamem.cli import output
from hexamem.cli.session import Reason, Session, User

if TYPE_CHECKING:
    from hexamem.memory_types import LabelView, Step

Label = Annotated[
    str, typer.Argument(metavar="LABEL", help='A name, now or before; a path such as "Trip / Day 2"; or an id.')
]
Steps = Annotated[list[str], typer.Argument(metavar="STEP...", help="Ids of steps, as `steps` shows them.")]
Kind = Annotated[Literal["scope", "event", "entity"] | None, typer.Option("--kind", help="Which kind of label.")]
_ROOM_FOR_ID = 76
_HEADINGS = {"scope": "thematic scopes", "event": "event types", "entity": "entity types"}


def list_labels(session: Session, *, user: User, kind: Kind = None) -> None:
    """List the labels of a user's steps, narrower ones under wider ones, with how many steps carry each.

    A step that carries a narrower label counts for the wider one too; "itself" counts those that carry that very one.
    """
    with session.reader(user) as memory:
        labels = memory.labels.list(kind)
    session.show(labels, _tables(labels), f"user {user!r} has no such labels")


def _tables(labels: Sequence[LabelView]) -> Iterator[RenderableType]:
    # An id is to be copied: where there is room for it in one piece, names are broken instead.
    keep = "id" if output.console().width >= _ROOM_FOR_ID else ""
    for kind, heading in _HEADINGS.items():
        chosen = [label for label in labels if label.kind == kind]
        if chosen:
            yield output.table((heading, "steps", "itself", "", "also found as", "id"), _rows(chosen), keep=keep)
            yield Text("")


def _rows(labels: Sequence[LabelView]) -> Iterator[Sequence[Any]]:
    """A row a label, each right behind the one that it lies under."""
    by_parent: dict[str | None, list[LabelView]] = {}
    ids = {label.id for label in labels}
    for label in labels:
        by_parent.setdefault(label.parent_id if label.parent_id in ids else None, []).append(label)
    waiting = [(0, label) for label in reversed(by_parent.get(None, []))]
    while waiting:
        depth, label = waiting.pop()
        waiting += [(depth + 1, child) for child in reversed(by_parent.get(label.id, []))]
        branch = "   " * (depth - 1) + "└─ " if depth else ""
        pinned = "pinned" if label.pinned else ""
        yield branch + label.name, label.steps_below, label.steps, pinned, ", ".join(label.aliases), label.id


def show(session: Session, *, label: Label, user: User) -> None:
    """Show one label: what it is about, its other names, what lies under it, and the latest steps that carry it."""
    with session.reader(user) as memory:
        view = memory.labels.show(label)
        below = [child for child in memory.labels.list(view.kind) if child.parent_id == view.id]
        steps: list[Step] = [memory.get(step_id) for step_id in view.step_ids]  # type: ignore[misc]
    fields = {
        "about": view.gist,
        "also found as": ", ".join(view.aliases),
        "steps": f"{view.steps:,}" + (f", of which the latest {len(steps)}" if len(steps) < view.steps else ""),
        "under it": ", ".join(f"{child.name} ({child.steps_below:,})" for child in below),
    }
    shown = output.record(
        output.head(title=view.path, kind=view.kind, note="pinned" if view.pinned else "", id=view.id),
        *(f"{name}: {value}" for name, value in fields.items() if value),
    )
    session.show(view, [shown, *(output.step_record(step, zone=session.zone) for step in steps)])


def rename(
    session: Session,
    *,
    label: Label,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Its new name.")],
    user: User,
    reason: Reason = "",
) -> None:
    """Give a label another name, and pin it. Its old name still finds it."""
    session.change(user, lambda memory: memory.labels.rename(label, name, reason=reason))


def merge(
    session: Session,
    *,
    label: Label,
    into: Annotated[str, typer.Argument(metavar="INTO", help="The label that takes it in.")],
    user: User,
    reason: Reason = "",
) -> None:
    """Merge one label into another: both names then find it."""
    session.change(user, lambda memory: memory.labels.merge(label, into, reason=reason))


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
    with session.known(user) as memory:
        new_label = memory.labels.split(label, steps, name, reason=reason)
        done = memory.history(new_label.id)[-1]
        session.show_operations({"label": new_label, "operation": done}, [done], memory)


def move(session: Session, *, label: Label, steps: Steps, user: User, kind: Kind = None, reason: Reason = "") -> None:
    """Give steps a label: a scope or event type in place of theirs, an entity type beside theirs."""
    session.change(user, lambda memory: memory.labels.move(steps, label, kind=kind, reason=reason))


def pin(
    session: Session,
    *,
    label: Label,
    user: User,
    off: Annotated[bool, typer.Option("--off", help="Unpin it.")] = False,
    reason: Reason = "",
) -> None:
    """Pin a label: neither the classifiers nor a model change it."""
    session.change(user, lambda memory: memory.labels.pin(label, not off, reason=reason))
