"""The options that say which records a command is about, the same wherever they are given."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer

from hexamem.cli.values import metadata_filter
from hexamem.errors import InvalidInputError, NotFoundError

if TYPE_CHECKING:
    from hexamem.user import UserMemory

__all__ = ["Filters", "ItemFilters", "Thread", "refuse_unknown_thread"]

Thread = Annotated[str | None, typer.Option("--thread", help="Only this thread.")]
_NAMED = 8


def refuse_unknown_thread(memory: UserMemory, thread: str | None) -> None:
    """Refuse a thread of which the user has no step: a filter by it could only find nothing.

    Raises:
        NotFoundError: naming some that there are.
    """
    if thread is None:
        return
    from sqlalchemy import bindparam, select

    from hexamem.stores.ledger.schema import steps

    own = select(steps.c.thread_id).where(steps.c.user_id == bindparam("user"))
    with memory.memory.ledger.read(memory.name) as tx:
        if tx.first(own.where(steps.c.thread_id == thread).limit(1), user=tx.user_id) is not None:
            return
        known = [row.thread_id for row in tx.all(own.distinct().limit(_NAMED + 1), user=tx.user_id)]
    told = ", ".join(map(repr, sorted(known[:_NAMED]))) + (", …" if len(known) > _NAMED else "")
    raise NotFoundError(f"user {memory.name!r} has no thread {thread!r}" + (f"; there are {told}" if told else ""))


@dataclass(frozen=True, kw_only=True)
class Filters:
    """Of steps and items. A command that has a parameter of this type takes each field as an option of its own."""

    of_items: ClassVar[bool] = False

    kind: Annotated[
        list[str] | None,
        typer.Option("--kind", help="step, core, episodic, semantic, procedural, resource or vault; repeat it."),
    ] = None
    thread: Thread = None
    agent: Annotated[str | None, typer.Option("--agent", help="Only this agent's.")] = None
    speaker: Annotated[str | None, typer.Option("--speaker", help="Only what this one said.")] = None
    since: Annotated[str | None, typer.Option("--since", metavar="TIME", help="Not before this time.")] = None
    until: Annotated[str | None, typer.Option("--until", metavar="TIME", help="Not after this time.")] = None
    label: Annotated[
        list[str] | None,
        typer.Option(
            "--label",
            metavar="LABEL",
            help="Only with this label, as `labels list` shows those of steps; repeat it to ask for several at once.",
        ),
    ] = None
    metadata: Annotated[
        list[str] | None,
        typer.Option("--metadata", metavar="KEY=VALUE", help="Only with this metadata. JSON values are read as such."),
    ] = None
    as_of: Annotated[str | None, typer.Option("--as-of", metavar="TIME", help="What was true at that time.")] = None
    known_at: Annotated[
        str | None, typer.Option("--known-at", metavar="TIME", help="What was believed at that time.")
    ] = None

    def where(self, memory: UserMemory) -> dict[str, Any] | None:
        """The conditions as a memory takes them; None where there are none.

        Raises:
            InvalidInputError: for a time that cannot be read, naming the option.
            NotFoundError: for a label or thread that the user does not have.
        """
        from hexamem.labels import refuse_unknown
        from hexamem.memory_types.times import parse_time

        times = {"--since": self.since, "--until": self.until, "--as-of": self.as_of, "--known-at": self.known_at}
        for option, moment in times.items():
            try:
                if moment is not None:
                    parse_time(moment, timezone=memory.timezone)
            except InvalidInputError as error:
                raise InvalidInputError(f"{option}: {error}") from None

        refuse_unknown(memory, self.label or (), of_items=self.of_items)
        refuse_unknown_thread(memory, self.thread)
        given = {
            "thread_id": self.thread,
            "agent_id": self.agent,
            "speaker": self.speaker,
            "since": self.since,
            "until": self.until,
            "labels": self.label,
            "metadata": metadata_filter(self.metadata or []),
        }
        return {name: value for name, value in given.items() if value} or None


@dataclass(frozen=True, kw_only=True)
class ItemFilters(Filters):
    """Of items alone."""

    of_items: ClassVar[bool] = True

    kind: Annotated[
        list[str] | None,
        typer.Option("--kind", help="core, episodic, semantic, procedural, resource or vault; repeat it."),
    ] = None
    label: Annotated[
        list[str] | None,
        typer.Option(
            "--label", metavar="LABEL", help="Only with this label of its own (#label); repeat it for several."
        ),
    ] = None
