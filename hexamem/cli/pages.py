"""``hexamem pages …``: the pages of a user's conversations, and the memory of them in a few lines."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import tzinfo
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from hexamem.cli import output
from hexamem.cli.session import Session, User, zone_of

if TYPE_CHECKING:
    from hexamem.memory_types import Page

__all__ = ["COMMANDS", "light", "list_pages", "search", "show"]

Thread = Annotated[str | None, typer.Option("--thread", "-t", help="Only of this conversation.")]
Scope = Annotated[
    str | None, typer.Option("--scope", help='Only of this scope: a name, a path such as "Trip / Day 2".')
]


def list_pages(session: Session, *, user: User, thread: Thread = None, scope: Scope = None) -> None:
    """List the pages of a user's conversations: who, when, about what, and what each adds."""
    with session.reader(user) as memory:
        found = memory.pages(thread, scope)
        zone = zone_of(memory)
    if session.as_json:
        return output.write_json(found)
    if not found:
        return output.note(f"user {user!r} has no such pages")
    return output.write(*(block for page in found for block in _block(page, zone)))


def show(
    session: Session,
    *,
    page: Annotated[str, typer.Argument(metavar="PAGE", help="The id of a page, or of one of its steps.")],
    user: User,
) -> None:
    """Show one page with its steps."""
    with session.reader(user) as memory:
        found = memory.page(page)
        zone = zone_of(memory)
    if session.as_json:
        return output.write_json(found)
    steps = [block for step in found.steps for block in output.step_block(step, zone=zone)]
    return output.write(*_block(found, zone), *steps)


def search(
    session: Session,
    *,
    query: Annotated[str, typer.Argument(metavar="QUERY", help="What is asked.")],
    user: User,
    k: Annotated[int, typer.Option("--k", "-k", min=1, help="How many pages.")] = 5,
    thread: Thread = None,
    scope: Scope = None,
) -> None:
    """Find pages by meaning and by words."""
    with session.reader(user) as memory:
        found = memory.search_pages(query, k, thread_id=thread, scope=scope)
        zone = zone_of(memory)
    if session.as_json:
        return output.write_json(found)
    if not found:
        return output.note("nothing found")
    return output.write(
        *(block for number, hit in enumerate(found, 1) for block in output.hit_block(number, hit, zone=zone))
    )


def light(
    session: Session,
    *,
    user: User,
    tokens: Annotated[int, typer.Option("--tokens", min=1, help="How long it may be.")] = 1_500,
) -> None:
    """Show the light memory: the memos of all closed pages, older ones folded together where room is short."""
    with session.reader(user) as memory:
        found = memory.light_memory(tokens)
    if session.as_json:
        return output.write_json(found)
    if not found.memos:
        return output.note(f"user {user!r} has no closed pages yet")
    return output.write_text(output.clean(found.text))


def _block(page: Page, zone: tzinfo) -> list[RenderableType]:
    head = Text(output.clean(page.id), style="bold")
    head.append(f"  {output.shown_time(page.started_at, zone)}", style="green")
    head.append(f"  [{output.clean(page.thread_id)}]", style="dim")
    head.append(f"  {output.counted(len(page.step_ids), 'step')}", style="cyan")
    head.append("" if page.closed else "  open", style="yellow")
    lines = [Padding(Text(output.clean(page.header), style="dim", overflow="fold"), (0, 0, 0, 4))]
    if page.memo:
        lines.append(Padding(Text(output.clean(page.memo), overflow="fold"), (0, 0, 0, 4)))
    return [head, *lines]


COMMANDS: Mapping[str, Callable[..., Any]] = {"list": list_pages, "show": show, "search": search, "light": light}
"""The commands of the group, by name."""
