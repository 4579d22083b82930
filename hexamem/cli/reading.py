"""Commands that read: recall, items, show, steps, users, history."""

from __future__ import annotations

import mimetypes
import shlex
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table
from rich.text import Text

from hexamem.cli import output
from hexamem.cli.filters import Filters, ItemFilters, Thread
from hexamem.cli.operations import operation_blocks
from hexamem.cli.session import Session, User, Zone, zone_of
from hexamem.errors import InvalidInputError

if TYPE_CHECKING:
    from hexamem.memory_types import Media, MemoryItem, Recall
    from hexamem.user import UserMemory

__all__ = ["history", "items", "recall", "show", "steps", "users"]


def recall(
    session: Session,
    *,
    query: Annotated[str, typer.Argument(metavar="QUERY", help="What is asked, in any words or language.")],
    user: User,
    k: Annotated[int | None, typer.Option("-k", "--k", help="How many hits; 10 by default.")] = None,
    strategy: Annotated[
        str | None,
        typer.Option(
            "--strategy", "-s", help="The ranking; learned by default. Others: rrf_neighbours, label_density, bm25."
        ),
    ] = None,
    filters: Filters,
    timezone: Zone = None,
    token_budget: Annotated[
        int | None, typer.Option("--token-budget", help="Print the hits packed for a prompt, within so many tokens.")
    ] = None,
    text: Annotated[bool, typer.Option("--text", help="Print the hits packed for a prompt.")] = False,
    why: Annotated[
        bool,
        typer.Option("--why", help="Say of each hit why it came back, and of a learned ranking which operations ran."),
    ] = False,
    switch_on: Annotated[
        list[str] | None,
        typer.Option(
            "--with",
            metavar="OPERATION",
            help="Of the learned ranking (-s learned), one of temporal_ordering, latest_filtering, multi_step, "
            "threshold_filtering and semantic_reranking: on, whatever its gate says.",
        ),
    ] = None,
    switch_off: Annotated[
        list[str] | None, typer.Option("--without", metavar="OPERATION", help="One of these: off.")
    ] = None,
) -> None:
    """Find what a user's memory holds on a question."""
    for option, names in (("--with", switch_on), ("--without", switch_off)):
        if names:
            _refuse_unknown_operations(option, names)
    with session.reader(user, timezone) as memory:
        found = memory.recall(
            query,
            k,
            strategy,
            kinds=filters.kind,
            where=filters.where(memory),
            as_of=filters.as_of,
            known_at=filters.known_at,
            token_budget=token_budget,
            operations={**dict.fromkeys(switch_on or (), True), **dict.fromkeys(switch_off or (), False)} or None,
        )
        zone = zone_of(memory)
        learned = {} if session.as_json or filters.known_at else _items_of(memory, found)
    if session.as_json:
        return output.write_json(found)
    if not found.hits:
        return output.note(f"nothing found for user {user!r}")
    if text or token_budget is not None:
        return output.write_text(found.text)
    for number, hit in enumerate(found.hits, 1):
        then = filters.as_of is not None
        output.write(*output.hit_block(number, hit, why=why, zone=zone, item=learned.get(hit.id), then=then))
    if why and found.operations:
        output.write(Text("operations"), *(output.body(one.explain(), "dim") for one in found.operations), Text(""))
    return output.write(
        Text(
            f"{output.counted(len(found), 'hit')} in {found.elapsed_ms:.0f} ms by {found.strategy}  {found.id}",
            style="dim",
        )
    )


def _refuse_unknown_operations(option: str, names: Iterable[str]) -> None:
    from hexamem.retrieval.operations import NAMES

    for name in names:
        if name not in NAMES:
            raise InvalidInputError(f"{option} {name!r} is no operation of the learned ranking: {', '.join(NAMES)}")


def _items_of(memory: UserMemory, found: Recall) -> dict[str, MemoryItem]:
    """The items among the hits: a hit has one time, and they tell which of theirs that is."""
    from hexamem.stores.ledger import get_items

    with memory.memory.ledger.read(memory.name) as tx:
        return get_items(tx, [hit.id for hit in found.hits if hit.kind != "step"])


def items(
    session: Session,
    *,
    user: User,
    filters: ItemFilters,
    timezone: Zone = None,
    superseded: Annotated[bool, typer.Option("--superseded", help="Also what is no longer believed.")] = False,
) -> None:
    """List a user's items in order of creation."""
    with session.reader(user, timezone) as memory:
        found = memory.items(
            filters.kind,
            filters.where(memory),
            as_of=filters.as_of,
            known_at=filters.known_at,
            superseded=superseded,
        )
        zone = zone_of(memory)
        waits = not found and bool(memory.jobs())
    if session.as_json:
        return output.write_json(found)
    if not found:
        more = f"; what was stored last is not read yet: hexamem flush -u {shlex.quote(user)}" if waits else ""
        return output.note(f"user {user!r} has no such items{more}")
    return output.write(
        *(block for item in found for block in output.item_block(item, zone=zone, then=filters.as_of is not None))
    )


def show(
    session: Session,
    *,
    record_id: Annotated[str, typer.Argument(metavar="ID", help="A step or item.")],
    user: User,
    media: Annotated[
        Path | None,
        typer.Option(
            "--media", metavar="DIR", help="Write the step's pictures, recordings and files into this folder."
        ),
    ] = None,
) -> None:
    """Show one step with its labels, or one item with all its fields. Of a secret it shows the caption alone."""
    from hexamem.errors import NotFoundError
    from hexamem.memory_types import Step

    labelled = None
    with session.reader(user) as memory:
        found = memory.get(record_id)
        if isinstance(found, Step):
            with suppress(NotFoundError):  # labels may be off
                labelled = memory.labels.of(record_id)
        if media is not None:
            _write_media(memory, found.media if isinstance(found, Step) else (), media)
        zone = zone_of(memory)
    if session.as_json:
        told = {} if labelled is None else {"labels": labelled.model_dump(mode="json", exclude={"step"})}
        return output.write_json({**output.dumped(found), **told})
    if not isinstance(found, Step):
        return output.write(*output.item_block(found, full=True, zone=zone))
    return output.write(*output.step_block(found, zone=zone, full=True), *output.labels_block(labelled))


def _write_media(memory: UserMemory, carried: Iterable[Media], folder: Path) -> None:
    """Each file under its hash and the ending of its type: a name from a message may be any path."""
    from hexamem.errors import HomeNotWritableError

    written = []
    for one in carried:
        if one.sha256 is None:
            continue
        data = memory.media(one.sha256)
        path = folder / f"{one.sha256}{mimetypes.guess_extension(one.mime_type or '') or ''}"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        except OSError as error:
            raise HomeNotWritableError(
                f"{path} cannot be written ({error.strerror or error}): give another folder with --media"
            ) from None
        written.append(path)
        output.note(f"{one.name or one.kind}: {path}")
    if not written:
        output.note("it carries no media that are kept here")


def steps(
    session: Session,
    *,
    user: User,
    thread: Thread = None,
    last: Annotated[int | None, typer.Option("--last", min=1, help="Only the last so many.")] = None,
    timezone: Zone = None,
) -> None:
    """List the steps of a thread in their order, or all as they were stored."""
    with session.reader(user, timezone) as memory:
        found = memory.steps(thread)
        zone = zone_of(memory)
    found = found[-last:] if last else found
    if session.as_json:
        return output.write_json(found)
    if not found:
        return output.note(f"user {user!r} has no steps" + (f" in thread {thread!r}" if thread else ""))
    return output.write(*(block for step in found for block in output.step_block(step, zone=zone)))


def users(session: Session) -> None:
    """List the users of the home."""
    from hexamem.doctor import count_records

    with session.memory(create=False) as memory:
        found = count_records(memory)
    if session.as_json:
        return output.write_json(found)
    if not found:
        return output.note(f"nobody has stored anything at {session.folder}")
    table = Table(box=None, padding=(0, 3, 0, 0))
    for heading in ("user", "steps", "items"):
        table.add_column(heading, justify="left" if heading == "user" else "right", overflow="fold")
    for row in found:
        table.add_row(Text(output.clean(row["user"])), f"{row['steps']:,}", f"{row['items']:,}")
    return output.write(table)


def history(
    session: Session,
    *,
    user: User,
    record_id: Annotated[str | None, typer.Argument(metavar="ID", help="A step or item; all when left out.")] = None,
    limit: Annotated[int | None, typer.Option("--limit", min=1, help="Only the newest so many.")] = None,
    timezone: Zone = None,
) -> None:
    """Show the operations on one step or item, or on all, oldest first."""
    with session.reader(user, timezone) as memory:
        found = memory.history(record_id, limit=limit)
        blocks = [] if session.as_json else operation_blocks(found, memory)
    if session.as_json:
        return output.write_json(found)
    if not found:
        return output.note(f"no operations on {record_id}" if record_id else f"user {user!r} has no operations")
    return output.write(*blocks)
