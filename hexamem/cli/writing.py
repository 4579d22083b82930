"""Commands that store and change: ingest, add, edit, remove, forget, undo, feedback. ``undo`` reverses the changes."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args, get_origin

import typer

from hexamem.cli import output
from hexamem.cli.session import Reason, Session, User, Zone, read_stdin
from hexamem.errors import CorruptFileError, InvalidInputError, UndoRefusedError

if TYPE_CHECKING:
    from hexamem.memory_types import MemoryItem
    from hexamem.memory_types.files import AddedFile
    from hexamem.user import UserMemory

BATCH = 1_000
"""How many lines are stored at a time: an interrupted ingest retains the batches before."""
_ITEM, _FILES = "With --kind", "With files"

ItemId = Annotated[str, typer.Argument(metavar="ID", help="Of an item, as `items` shows it.")]
SecretFromStdin = Annotated[
    bool, typer.Option("--secret-stdin", help="Read the secret of a vault item from stdin, not from the command line.")
]
_Messages = list[tuple[str, dict[str, Any]]]
"""The messages of a file in their order, each with its thread."""


def add(
    session: Session,
    *,
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE|FIELD=VALUE...",
            help="Files: txt, md, html, csv, pdf or docx; a picture or recording; of any other its name and bytes alone. "
            "With --kind the fields of an item, such as name=Mia summary='…'; a field that is a list once an entry.",
        ),
    ],
    user: User,
    kind: Annotated[
        str | None,
        typer.Option(
            help="Store an item: core, episodic, semantic, procedural, resource or vault.", rich_help_panel=_ITEM
        ),
    ] = None,
    supersedes: Annotated[
        str | None, typer.Option(help="The item that this one replaces.", rich_help_panel=_ITEM)
    ] = None,
    secret_stdin: SecretFromStdin = False,
    title: Annotated[str | None, typer.Option(help="What FILE is called.", rich_help_panel=_FILES)] = None,
    caption: Annotated[
        str | None, typer.Option(help="What a picture shows, or a recording says.", rich_help_panel=_FILES)
    ] = None,
    labels: Annotated[
        list[str] | None, typer.Option(help="One label; repeat it for more.", rich_help_panel=_FILES)
    ] = None,
    tree_path: Annotated[
        list[str] | None, typer.Option(help="One level, from wide to narrow; repeat it.", rich_help_panel=_FILES)
    ] = None,
    root: Annotated[
        Path | None,
        typer.Option(help="A folder above FILE: those in between become its tree path.", rich_help_panel=_FILES),
    ] = None,
    keep_bytes: Annotated[
        bool,
        typer.Option(
            "--keep-bytes/--no-keep-bytes", help="Whether FILE is stored, beside its text.", rich_help_panel=_FILES
        ),
    ] = True,
    reason: Reason = "",
    timezone: Zone = None,
) -> None:
    """Store files, or an item: hexamem add --kind semantic name=Mia summary='goes to school in Hangzhou'."""
    further: dict[str, Any] = {"title": title, "labels": labels, "tree_path": tree_path, "root": root}
    further = {name: value for name, value in further.items() if value is not None}
    if kind is not None:
        if further or caption is not None or not keep_bytes:
            raise InvalidInputError(
                "--title, --caption, --labels, --tree-path, --root and --no-keep-bytes are of a file"
            )
        from hexamem.memory_types import TypeRegistry

        types = TypeRegistry()
        if kind not in types:
            raise InvalidInputError(f"--kind {kind!r} is no memory kind; use one of {', '.join(types)}")
        values = _field_values(types[kind].item, split_pairs(words, "the field"))
        secret = read_stdin("the secret") if secret_stdin else None
        with session.user(user, timezone) as memory:
            stored = memory.add({"kind": kind, **values}, secret=secret, supersedes=supersedes, reason=reason)
            return session.show(stored, [output.item_record(stored, zone=session.zone)])
    if supersedes is not None or secret_stdin:
        raise InvalidInputError("--supersedes and --secret-stdin are of an item; give its --kind")
    if title is not None and len(words) > 1:
        raise InvalidInputError(f"--title {title!r} is of one file, and {len(words)} are given")
    if caption is not None:
        further["describe"] = further["transcribe"] = lambda data, mime_type: caption
    return _add_files(session, user, timezone, words, {**further, "keep_bytes": keep_bytes, "reason": reason})


def _add_files(session: Session, user: str, timezone: str | None, paths: Sequence[str], further: Any) -> None:
    if not any(Path(path).exists() for path in paths):  # a mistyped path creates no home
        raise InvalidInputError(f"{paths[0]}: there is no such file; an item needs its --kind")
    added: list[AddedFile] = []
    refused: list[str] = []
    with session.user(user, timezone) as memory:
        for path in paths:
            try:
                added.append(memory.add_file(path, **further))
            except InvalidInputError as error:  # the other files are still added
                refused.append(str(error))
    for line in [line for file in added for line in file.degraded]:
        output.note(line)
    if added:
        session.show(added, "\n".join(map(_file_line, added)))
    for line in refused[:-1]:
        output.note(line)
    if refused:
        raise InvalidInputError(refused[-1])


def _file_line(added: AddedFile) -> str:
    item = added.item
    if added.repeated:
        return f"{item.id}  {item.title} (there already, with this title)"
    parts = [item.resource_type, output.counted(added.passages, "passage")]
    if not item.content:
        to_describe = item.resource_type in ("image", "audio")
        parts[1] = "waits to be described in words" if to_describe else "stored as it is, not read"
    if added.superseded:
        parts.append(f"supersedes {added.superseded}")
    if added.secrets:
        parts.append(f"{output.counted(len(added.secrets), 'secret')} put into the vault")
    return f"{item.id}  {item.title} ({', '.join(parts)})"


def split_pairs(pairs: Sequence[str], what: str) -> list[tuple[str, str]]:
    """``["a=1", "b=x=y"]`` as ``[("a", "1"), ("b", "x=y")]``."""
    fields = []
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name.strip():
            # The text itself may be private (a secret given in the wrong place), so only its start is repeated.
            raise InvalidInputError(f"{what} {pair[:20]!r} is not of the form name=value")
        fields.append((name.strip(), value))
    return fields


def _field_values(kind: type[MemoryItem], pairs: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """Parse ``(name, text)`` pairs into the values of an item's fields: of a list one pair an entry, or JSON; of a mapping
    JSON; an empty text is None where the field may be None."""
    texts: dict[str, list[str]] = defaultdict(list)
    for name, text in pairs:
        texts[name].append(text)
    values: dict[str, Any] = {}
    for name, entered in texts.items():
        field = kind.model_fields.get(name)
        annotation = field.annotation if field else str
        origins = {get_origin(part) or part for part in (annotation, *get_args(annotation))}
        if get_origin(annotation) is tuple:
            is_json = len(entered) == 1 and entered[0].lstrip().startswith("[")
            entries = _json(name, entered[0]) if is_json else [text for text in entered if text]
            of_steps = name == "sources"
            values[name] = [{"step_id": entry} if of_steps and isinstance(entry, str) else entry for entry in entries]
        elif len(entered) > 1:
            raise InvalidInputError(f"{name} is given {len(entered)} times; it takes one value")
        elif type(None) in origins and not entered[0]:
            values[name] = None
        else:
            values[name] = _json(name, entered[0]) if dict in origins else entered[0]
    return values


def _json(name: str, text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise InvalidInputError(f"{name} = {text[:40]!r} is not JSON: {error}") from None


def edit(
    session: Session,
    *,
    item_id: ItemId,
    user: User,
    fields: Annotated[
        list[str] | None,
        typer.Argument(metavar="FIELD=VALUE", help="Such as summary='…'; a field that is a list once an entry."),
    ] = None,
    secret_stdin: SecretFromStdin = False,
    reason: Reason = "",
    timezone: Zone = None,
) -> None:
    """Change fields of an item; the version before stays in its history."""
    if not fields and not secret_stdin:
        raise InvalidInputError("nothing to change: give FIELD=VALUE, or --secret-stdin")
    pairs = split_pairs(fields or [], "the change")
    secret = read_stdin("the secret") if secret_stdin else None
    with session.known(user, timezone) as memory:
        values = _field_values(type(memory.get(item_id)), pairs)  # type: ignore[arg-type]
        stored = memory.edit(item_id, values, reason=reason, secret=secret)
        session.show(stored, [output.item_record(stored, zone=session.zone)])


def remove(session: Session, *, item_id: ItemId, user: User, reason: Reason = "") -> None:
    """Remove an item; undo restores it."""
    session.change(user, lambda memory: memory.remove(item_id, reason=reason))


def forget(
    session: Session,
    *,
    user: User,
    ids: Annotated[
        list[str] | None,
        typer.Argument(metavar="ID", help="Ids of steps and items, as `steps` and `recall` show them."),
    ] = None,
    thread: Annotated[str | None, typer.Option(help="All steps of this thread.")] = None,
    since: Annotated[str | None, typer.Option(help="All steps not before this time.")] = None,
    until: Annotated[str | None, typer.Option(help="All steps not after this time.")] = None,
    reason: Reason = "",
) -> None:
    """Forget steps and items, and the items that have no other source; undo restores them.

    Their words stay in the history and in exports so that it can be undone; `hexamem redact` removes words for good.
    """
    where = {name: value for name, value in (("since", since), ("until", until)) if value is not None}
    if not (ids or where or thread is not None):
        raise InvalidInputError("forget what? give ids, --thread, --since or --until")
    session.change(
        user, lambda memory: memory.forget(ids or None, thread_id=thread, where=where or None, reason=reason)
    )


def undo(
    session: Session,
    *,
    operation_id: Annotated[str, typer.Argument(metavar="OPERATION", help="As history shows it.")],
    user: User,
    cascade: Annotated[bool, typer.Option("--cascade", help="First undo the later ones that build on it.")] = False,
) -> None:
    """Reverse an operation."""
    with session.known(user) as memory:
        try:
            done = memory.undo(operation_id, cascade=cascade)
        except UndoRefusedError as error:
            raise UndoRefusedError(str(error).replace("cascade=True", "--cascade"), error.blockers) from None
        session.show_operations(done, done, memory)


def feedback(
    session: Session,
    *,
    recall_id: Annotated[str, typer.Argument(metavar="RECALL", help="As recall shows it.")],
    user: User,
    helped: Annotated[list[str] | None, typer.Option(metavar="ID", help="A hit that helped.")] = None,
    hurt: Annotated[list[str] | None, typer.Option(metavar="ID", help="A hit that misled.")] = None,
) -> None:
    """Store which hits of a recall helped and which hurt."""
    helped, hurt = helped or [], hurt or []
    if not helped and not hurt:
        raise InvalidInputError("feedback on what? give --helped ID or --hurt ID")
    with session.known(user) as memory:
        memory.feedback(recall_id, helped=helped, hurt=hurt)
    session.show(
        {"recall_id": recall_id, "helped": helped, "hurt": hurt}, f"stored: {len(helped)} helped, {len(hurt)} hurt"
    )


def ingest(
    session: Session,
    *,
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            exists=True,
            help="A data set, or JSON lines or an array of {role, content, name?, timestamp?, id?, thread_id?}.",
        ),
    ],
    user: User,
    thread: Annotated[str | None, typer.Option(help='The thread of lines that name none; else "default".')] = None,
    format: Annotated[
        Literal["auto", "jsonl", "locomo", "came", "longmemeval"],
        typer.Option(help="The form of the file."),
    ] = "auto",
    skip_bad: Annotated[bool, typer.Option("--skip-bad", help="Leave lines out that cannot be read.")] = False,
    timeout: Annotated[
        float | None,
        typer.Option(
            metavar="S", min=0, help="Begin no further extraction of items after so many seconds; the rest waits."
        ),
    ] = None,
    timezone: Zone = None,
) -> None:
    """Store a conversation. The whole file is checked first: with a bad line nothing of it is stored.

    A line with an id is stored once, however often the file is read; one without an id is stored each time.
    """
    from hexamem.memory_types.times import read_zone

    read_zone(timezone or "UTC")  # a wrong zone is not reported as an error of the file
    form = _form_of(file, format)
    if form == "jsonl":
        messages, notes = _read_lines(file, thread, skip_bad, timezone or "UTC")
    else:
        messages, notes, form = _read_data_set(file, form, thread, skip_bad)
    with session.user(user, timezone) as memory:
        stored = _store(memory, messages)
        learned = _learn(memory, timeout)
    if timeout is not None and learned["waiting"]:
        waiting = output.counted(learned["waiting"], "step")
        notes.append(
            f"{waiting} were not read yet: they are when this home is open again, or by ingest without --timeout"
        )
    if not messages:
        notes.append(f"{file} holds no message")
    for line in (*notes, *stored["degraded"]):
        output.note(f"note: {line}")
    threads = len({name for name, _ in messages})
    parts = [
        f"stored {output.counted(stored['steps'], 'step')} in {output.counted(threads, 'thread')} of {user!r}",
        f"{stored['repeated']:,} were there already" if stored["repeated"] else "",
        f"{output.counted(stored['secrets'], 'secret')} put into the vault" if stored["secrets"] else "",
        f"{output.counted(learned['items'], 'item')} learned" if learned["items"] else "",
        _account(learned["llm_calls"], learned["llm_tokens"]),
    ]
    summary = {"file": str(file), "format": form, "user": user, "threads": threads, **stored, **learned, "notes": notes}
    session.show(summary, ", ".join(filter(None, parts)))


def _form_of(file: Path, format: str) -> str:
    """The form of a file; one that is no known data set counts as JSON lines, so that errors name the line."""
    from hexamem.evals import detect_format

    if format != "auto" or not file.is_file():
        return format
    try:
        return detect_format(file) or ("jsonl" if file.suffix != ".json" else "auto")
    except CorruptFileError:
        if file.suffix == ".json":
            raise
        return "jsonl"


def _read_lines(file: Path, thread: str | None, skip_bad: bool, timezone: str) -> tuple[_Messages, list[str]]:
    from hexamem.evals.jsonl import read_records
    from hexamem.memory_types.messages import read_messages
    from hexamem.stores.ledger import check_name

    def message(record: dict[str, Any]) -> dict[str, Any]:
        return {key: value for key, value in record.items() if key != "thread_id"}

    def problem(record: dict[str, Any]) -> str | None:
        for name in ("role", "content"):
            if name not in record:
                return f"{name} is missing; a line is an object with role and content"
        try:
            if record.get("thread_id") is not None:
                check_name(record["thread_id"], "thread_id")
            (draft,) = read_messages([message(record)], timezone=timezone)
            if draft.message_id is not None:
                check_name(draft.message_id, "id")
        except InvalidInputError as error:  # which names the message by its place in a list of one
            return str(error).removeprefix("message 1 of 1").lstrip(":, ").removesuffix("; leave it out")
        return None

    try:
        lines = read_records(file, skip_bad=skip_bad, check=problem)
    except CorruptFileError as error:
        if file.suffix.lower() in (".jsonl", ".ndjson", ".json"):
            raise
        raise InvalidInputError(
            f"{str(error).partition('; ')[0]}; ingest takes conversations (JSON lines of {{role, content}}): "
            f"a document is stored with `hexamem add {file}`"
        ) from None
    default = thread if thread is not None else "default"
    return [(record.get("thread_id") or default, message(record)) for _, record in lines.records], list(lines.notes)


def _read_data_set(file: Path, form: str, thread: str | None, skip_bad: bool) -> tuple[_Messages, list[str], str]:
    """The messages of a data set, notes on what was left out, and the forms of its files."""
    from hexamem.evals import load_conversations

    conversations = load_conversations(file, form, skip_bad=skip_bad)  # type: ignore[arg-type]
    if thread is not None and len(conversations) > 1:
        raise InvalidInputError(f"--thread would mix the {len(conversations)} conversations of {file}; leave it out")
    messages: _Messages = []
    notes: list[str] = []
    for conversation in conversations:
        # Notes on questions concern a measurement, not what is stored.
        notes += [note for note in conversation.notes if "question" not in note and "evidence" not in note]
        for message in conversation.messages:
            # Session and turn numbers repeat in each conversation of a data set: the thread starts with its name.
            place = f"{conversation.id}/{message.thread_id}" if message.thread_id else conversation.id
            messages.append((place if thread is None else thread, message.as_message()))
    return messages, notes, "+".join(dict.fromkeys(conversation.dataset for conversation in conversations))


def _store(memory: UserMemory, messages: _Messages) -> dict[str, Any]:
    """Store and index the messages; returns the counts of steps, repeated messages and secrets, and what degraded."""
    steps = repeated = 0
    secrets: set[str] = set()
    degraded: dict[str, None] = {}
    with output.progress_bar("storing", total=len(messages)) as advance:
        for start in range(0, len(messages), BATCH):
            threads: dict[str, list[dict[str, Any]]] = defaultdict(list)  # interleaved threads need no write per line
            for name, message in messages[start : start + BATCH]:
                threads[name].append(message)
            for thread, batch in threads.items():
                receipt = memory.remember(batch, thread_id=thread)
                steps += len(receipt.step_ids) - len(receipt.repeated)
                repeated += len(receipt.repeated)
                secrets.update(receipt.secrets)
                degraded |= dict.fromkeys(receipt.degraded)
                advance(len(batch))
    with output.progress_bar("indexing") as advance:
        memory.memory.projector.catch_up(memory.name, lambda index, count: advance(count))
    return {"steps": steps, "repeated": repeated, "secrets": len(secrets), "degraded": list(degraded)}


def _learn(memory: UserMemory, timeout: float | None) -> dict[str, int]:
    """Extract items from the stored steps, with a progress bar; returns the counts of new items, of steps that still wait,
    and of model calls and tokens."""
    ingesting, budget = memory.memory.ingesting, memory.memory.model_tier.budget
    before, total, done = len(memory.items()), ingesting.waiting(memory.name), 0
    with output.stages("learning") as show:

        def advance(steps: int) -> None:
            nonlocal done
            done += steps
            show(", ".join(filter(None, ("learning", _account(budget.spent.calls, budget.spent.tokens)))), done, total)

        advance(0)
        ingesting.manage_all(memory.name, advance, timeout=timeout)
    return {
        "items": max(0, len(memory.items()) - before),
        "waiting": ingesting.waiting(memory.name),
        "llm_calls": budget.spent.calls,
        "llm_tokens": budget.spent.tokens,
    }


def _account(calls: int, tokens: int) -> str:
    return f"{output.counted(calls, 'model call')}, {tokens:,} tokens" if calls else ""
