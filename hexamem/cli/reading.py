"""Commands that read: recall, ask, items, show, steps, pages, users, history."""

from __future__ import annotations

import json
import mimetypes
import shlex
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from rich.console import RenderableType
from rich.text import Text

from hexamem.cli import output
from hexamem.cli.session import Session, User, Zone
from hexamem.cli.writing import split_pairs
from hexamem.errors import InvalidInputError, NotFoundError

if TYPE_CHECKING:
    from hexamem.memory_types import MemoryItem, Recall, Step
    from hexamem.memory_types.research import Research, Round
    from hexamem.user import UserMemory

_NAMED_THREADS = 8
Form = Literal["text", "passages", "pages"]
Thread = Annotated[str | None, typer.Option("--thread", "-t", help="Only this thread.")]
Scope = Annotated[
    str | None, typer.Option("--scope", help='Only of this scope: a name, a path such as "Trip / Day 2".')
]
Kinds = Annotated[
    list[str] | None,
    typer.Option("--kind", help="step, core, episodic, semantic, procedural, resource or vault; repeat it."),
]
ItemKinds = Annotated[
    list[str] | None,
    typer.Option("--kind", help="core, episodic, semantic, procedural, resource or vault; repeat it."),
]


@dataclass(frozen=True, kw_only=True)
class Filters:
    """Filters of records. A command that has a parameter of this type has each field as an option."""

    thread: Thread = None
    agent: Annotated[str | None, typer.Option(help="Only this agent's.")] = None
    speaker: Annotated[str | None, typer.Option(help="Only of this speaker.")] = None
    since: Annotated[str | None, typer.Option(metavar="TIME", help="Not before this time.")] = None
    until: Annotated[str | None, typer.Option(metavar="TIME", help="Not after this time.")] = None
    label: Annotated[
        list[str] | None,
        typer.Option(metavar="LABEL", help="Only with this label, of items their own (#label); repeat it for several."),
    ] = None
    metadata: Annotated[
        list[str] | None,
        typer.Option(metavar="KEY=VALUE", help="Only with this metadata. JSON values are read as such."),
    ] = None
    as_of: Annotated[str | None, typer.Option(metavar="TIME", help="What was true at that time.")] = None
    known_at: Annotated[str | None, typer.Option(metavar="TIME", help="What was believed at that time.")] = None

    def conditions(self, memory: UserMemory, *, of_items: bool = False) -> dict[str, Any]:
        """The arguments ``where``, ``as_of`` and ``known_at`` of a memory's methods."""
        from hexamem.labels import refuse_unknown
        from hexamem.memory_types.times import parse_time

        times = {"--since": self.since, "--until": self.until, "--as-of": self.as_of, "--known-at": self.known_at}
        for option, moment in times.items():
            try:
                if moment is not None:
                    parse_time(moment, timezone=memory.timezone)
            except InvalidInputError as error:
                raise InvalidInputError(f"{option}: {error}") from None
        opened = memory.memory
        refuse_unknown(opened.ledger, opened.projector.catch_up, memory.name, self.label or (), of_items=of_items)
        if self.thread is not None and not memory.steps(self.thread):
            threads = sorted({step.thread_id for step in memory.steps()})
            named = ", ".join(map(repr, threads[:_NAMED_THREADS])) + (", …" if len(threads) > _NAMED_THREADS else "")
            there = f"; there are {named}" if threads else ""
            raise NotFoundError(f"user {memory.name!r} has no thread {self.thread!r}{there}")
        where = {
            "thread_id": self.thread,
            "agent_id": self.agent,
            "speaker": self.speaker,
            "since": self.since,
            "until": self.until,
            "labels": self.label,
            "metadata": {name: _json_or_text(value) for name, value in split_pairs(self.metadata or [], "--metadata")},
        }
        where = {name: value for name, value in where.items() if value}
        return {"where": where or None, "as_of": self.as_of, "known_at": self.known_at}


def _json_or_text(value: str) -> Any:
    try:
        return json.loads(value)
    except ValueError:
        return value


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
    kind: Kinds = None,
    filters: Filters,
    timezone: Zone = None,
    token_budget: Annotated[
        int | None, typer.Option(help="Print the hits packed for a prompt, within so many tokens.")
    ] = None,
    text: Annotated[bool, typer.Option("--text", help="Print the hits packed for a prompt.")] = False,
    why: Annotated[
        bool,
        typer.Option("--why", help="Show the signals of each hit, and of a learned ranking which operations ran."),
    ] = False,
    switch_on: Annotated[
        list[str] | None,
        typer.Option(
            "--with",
            metavar="OPERATION",
            help="Of the learned ranking (-s learned), one of temporal_ordering, latest_filtering, multi_step, "
            "threshold_filtering and semantic_reranking: on, whatever its gate decides.",
        ),
    ] = None,
    switch_off: Annotated[
        list[str] | None, typer.Option("--without", metavar="OPERATION", help="One of these: off.")
    ] = None,
) -> None:
    """Find what a user's memory holds on a question."""
    with session.reader(user, timezone) as memory:
        result = memory.recall(
            query,
            k,
            strategy,
            kinds=kind,
            **filters.conditions(memory),
            token_budget=token_budget,
            operations={**dict.fromkeys(switch_on or (), True), **dict.fromkeys(switch_off or (), False)} or None,
        )
        blocks = result.text if text or token_budget is not None else _recall_blocks(result, filters, session.zone, why)
        session.show(result, blocks, f"nothing found for user {user!r}", text=True)


def _recall_blocks(result: Recall, filters: Filters, zone: tzinfo, why: bool) -> Iterator[RenderableType]:
    past = filters.as_of is not None
    for number, hit in enumerate(result.hits, 1):
        yield output.hit_record(number, hit, zone=zone, why=why, past=past)
    if why and result.operations:
        yield output.record([("operations", "")], *((operation.explain(), "dim") for operation in result.operations))
        yield Text("")
    count = output.counted(len(result), "hit")
    yield Text(f"{count} in {result.elapsed_ms:.0f} ms by {result.strategy}  {result.id}", style="dim")


def ask(
    session: Session,
    *,
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="What is asked, in any words or language.")],
    user: User,
    rounds: Annotated[int, typer.Option(min=1, max=20, help="At most so many rounds.")] = 3,
    passages: Annotated[
        int | None, typer.Option(min=1, max=200, help="At most so many read a round; 14 by default.")
    ] = None,
    form: Annotated[Form, typer.Option(help="The answer as text, with its passages, or whole pages.")] = "text",
    tier: Annotated[
        Literal["auto", "recall", "one_shot", "deep"],
        typer.Option(help="How deep it goes; auto: as deep as it must."),
    ] = "auto",
    lane: Annotated[
        list[str] | None,
        typer.Option(
            help="A way to search, of all by default; repeat it: vector, keyword, page, intent, time or kind.",
        ),
    ] = None,
    kind: Kinds = None,
    filters: Filters,
    calls: Annotated[int | None, typer.Option(min=0, help="At most so many model calls.")] = None,
    tokens: Annotated[int | None, typer.Option(min=0, help="At most so many model tokens.")] = None,
    seconds: Annotated[float | None, typer.Option(min=0, help="At most so long.")] = None,
    trace: Annotated[bool, typer.Option("--trace", help="Show every round, search and decision.")] = False,
    timezone: Zone = None,
) -> None:
    """Research a question in rounds: plan, search, integrate, reflect. A model answers in words; else the evidence does."""
    with session.reader(user, timezone) as memory, memory.memory.researching.cancellable():
        research = memory.research(
            question,
            rounds,
            tier=tier,
            form=form,
            passages=passages,
            lanes=lane,  # type: ignore[arg-type]
            calls=calls,
            tokens=tokens,
            seconds=seconds,
            **filters.conditions(memory),
            kinds=kind,
        )
    if not session.as_json:
        for line in research.degraded:
            output.note(f"note: {line}")
    session.show(research, _research_blocks(research, form, session.zone, trace=trace))


def _research_blocks(research: Research, form: Form, zone: tzinfo, *, trace: bool) -> Iterator[RenderableType]:
    if trace:
        yield from (_round_record(round_, research) for round_ in research.rounds)
    if form == "text" and research.answerable and research.usage.calls:
        yield Text(output.clean(research.answer))
        if research.reason:
            yield output.body(research.reason)
        yield Text("")
        for claim in research.evidence:
            at = output.shown_time(claim.occurred_at, zone)
            head = output.head(number="•", at=at, who=claim.speaker, id=claim.passage_id)
            yield output.record(head, f"“{claim.quote}”")
    else:
        yield Text(output.clean(research.context))
    cost = f", {output.counted(research.usage.calls, 'call')}" if research.usage.calls else ""
    yield Text(
        f"{output.counted(len(research.rounds), 'round')}, {output.counted(len(research.passages), 'passage')} read{cost} "
        f"in {research.elapsed_ms:.0f} ms by {research.tier}  {research.id}",
        style="dim",
    )


def _round_record(round_: Round, research: Research) -> RenderableType:
    lines: list[tuple[str, str]] = []
    if round_.needs:
        lines.append((f"needs: {'; '.join(round_.needs)}", ""))
    for request in round_.plan.requests:
        pages = f" in {', '.join(request.pages)}" if request.pages else ""
        lines.append((f"search {request.lane}: {request.query}{pages}", "cyan"))
    for lane in round_.lanes:
        failed = f", failed: {lane.failed}" if lane.failed else ""
        lines.append((f"{lane.lane} found {lane.found} in {(lane.ended - lane.began) * 1_000:.0f} ms{failed}", "dim"))
    passages = {passage.id: passage for passage in research.passages}
    for passage in (passages[passage_id] for passage_id in round_.read if passage_id in passages):
        speaker = f"{passage.speaker}: " if passage.speaker else ""
        lines.append((f"read {speaker}{output.one_line(passage.text)}  ({', '.join(passage.lanes)})", ""))
    lines += [(f"claim: {claim.text}", "green") for claim in round_.claims]
    if round_.dropped:
        lines.append((f"{round_.dropped} claims dropped: their quotes are not in the passages", "yellow"))
    if round_.enough is not None:
        missing = f", missing: {'; '.join(round_.missing)}" if round_.missing else ""
        lines.append((f"{'enough' if round_.enough else 'not enough'}{missing}", "bold"))
    tiers = ", ".join(f"{part} by {tier}" for part, tier in round_.tiers.items())
    return output.record([(f"Round {round_.number}", "bold"), (tiers, "dim")], *lines)


def items(
    session: Session,
    *,
    user: User,
    kind: ItemKinds = None,
    filters: Filters,
    timezone: Zone = None,
    superseded: Annotated[bool, typer.Option("--superseded", help="Also what is no longer believed.")] = False,
) -> None:
    """List a user's items in order of creation."""
    with session.reader(user, timezone) as memory:
        listed = memory.items(kind, **filters.conditions(memory, of_items=True), superseded=superseded)
        past = filters.as_of is not None
        waits = not listed and bool(memory.jobs())
    more = f"; what was stored last is not read yet: hexamem flush -u {shlex.quote(user)}" if waits else ""
    blocks = (output.item_record(item, zone=session.zone, past=past) for item in listed)
    session.show(listed, blocks, f"user {user!r} has no such items{more}")


def show(
    session: Session,
    *,
    record_id: Annotated[str, typer.Argument(metavar="ID", help="A step or item.")],
    user: User,
    media: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Write the step's pictures, recordings and files into this folder."),
    ] = None,
) -> None:
    """Show one step with its labels, or one item with all its fields. Of a secret it shows the caption alone."""
    from hexamem.memory_types import Step

    with session.reader(user) as memory:
        record = memory.get(record_id)
        if media is not None:
            _write_media(memory, record, media)
        if not isinstance(record, Step):
            return session.show(record, [output.item_record(record, zone=session.zone, full=True)])
        labelled = None
        with suppress(NotFoundError):  # labels may be off
            labelled = memory.labels.of(record_id)
    labels = {} if labelled is None else {"labels": labelled.model_dump(mode="json", exclude={"step"})}
    blocks = (output.step_record(record, zone=session.zone, full=True), output.label_lines(labelled))
    return session.show({**output.dumped(record), **labels}, blocks)


def _write_media(memory: UserMemory, record: Step | MemoryItem, folder: Path) -> None:
    """Write each file under its hash and the suffix of its type: a file name in a message may be any path."""
    media = [media_file for media_file in getattr(record, "media", ()) if media_file.sha256 is not None]
    for media_file in media:
        data = memory.media(media_file.sha256)
        path = folder / f"{media_file.sha256}{mimetypes.guess_extension(media_file.mime_type or '') or ''}"
        output.write_file("--media", folder, lambda folder: folder.mkdir(parents=True, exist_ok=True))
        output.write_file("--media", path, lambda path, data=data: path.write_bytes(data))  # type: ignore[misc]
        output.note(f"{media_file.name or media_file.kind}: {path}")
    if not media:
        output.note("no media of it are stored here")


def steps(
    session: Session,
    *,
    user: User,
    thread: Thread = None,
    last: Annotated[int | None, typer.Option(min=1, help="Only the last so many.")] = None,
    timezone: Zone = None,
) -> None:
    """List the steps of a thread in their order, or all as they were stored."""
    with session.reader(user, timezone) as memory:
        listed = memory.steps(thread)
    listed = listed[-last:] if last else listed
    empty = f"user {user!r} has no steps" + (f" in thread {thread!r}" if thread else "")
    session.show(listed, (output.step_record(step, zone=session.zone) for step in listed), empty)


def users(session: Session) -> None:
    """List the users of the home."""
    from hexamem.doctor import count_records

    with session.memory(create=False) as memory:
        rows = count_records(memory)
    columns = ("user", "steps", "items")
    table = output.table(columns, ([row[name] for name in columns] for row in rows))
    session.show(rows, [table], f"nobody has stored anything at {session.folder}")


def history(
    session: Session,
    *,
    user: User,
    record_id: Annotated[str | None, typer.Argument(metavar="ID", help="A step or item; all when left out.")] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Only the newest so many.")] = None,
    timezone: Zone = None,
) -> None:
    """Show the operations on one step or item, or on all, oldest first."""
    with session.reader(user, timezone) as memory:
        operations = memory.history(record_id, limit=limit)
        if operations or session.as_json:
            return session.show_operations(operations, operations, memory)
    return output.note(f"no operations on {record_id}" if record_id else f"user {user!r} has no operations")


def list_pages(session: Session, *, user: User, thread: Thread = None, scope: Scope = None) -> None:
    """List the pages of a user's conversations: when, in which thread, what about, and what each adds."""
    with session.reader(user) as memory:
        listed = memory.pages(thread, scope)
    session.show(
        listed, (output.page_record(page, zone=session.zone) for page in listed), f"user {user!r} has no such pages"
    )


def show_page(
    session: Session,
    *,
    page: Annotated[str, typer.Argument(metavar="PAGE", help="The id of a page, or of one of its steps.")],
    user: User,
) -> None:
    """Show one page with its steps."""
    with session.reader(user) as memory:
        shown = memory.page(page)
    steps = (output.step_record(step, zone=session.zone) for step in shown.steps)
    session.show(shown, [output.page_record(shown, zone=session.zone), *steps])


def search_pages(
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
        hits = memory.search_pages(query, k, thread_id=thread, scope=scope)
    blocks = (output.hit_record(number, hit, zone=session.zone) for number, hit in enumerate(hits, 1))
    session.show(hits, blocks, "nothing found")


def light_memory(
    session: Session,
    *,
    user: User,
    tokens: Annotated[int, typer.Option(min=1, help="How long it may be.")] = 1_500,
) -> None:
    """Show the light memory: the memos of all closed pages, older ones folded together where room is short."""
    with session.reader(user) as memory:
        light = memory.light_memory(tokens)
    if not light.memos and not session.as_json:
        return output.note(f"user {user!r} has no closed pages yet")
    return session.show(light, light.text)
