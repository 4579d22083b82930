"""Commands that move memory: ingest a conversation, export a user, import an export."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from hexamem.cli import output
from hexamem.cli.session import Session, User, Zone
from hexamem.cli.values import ask_passphrase
from hexamem.errors import CorruptFileError, InvalidInputError

if TYPE_CHECKING:
    from hexamem.user import UserMemory

__all__ = ["export", "import_", "ingest"]

BATCH = 1_000
"""How many lines are stored at a time: what is acknowledged of a file that is broken off."""
_MANY = 100  # steps from which on their rate says something


class Format(StrEnum):
    """The forms that ``ingest`` reads."""

    auto = "auto"
    jsonl = "jsonl"
    locomo = "locomo"
    came = "came"
    longmemeval = "longmemeval"


PassphraseFile = Annotated[
    Path | None,
    typer.Option("--passphrase-file", exists=True, dir_okay=False, help="The passphrase is its first line."),
]


@dataclass(slots=True)
class _Conversation:
    """The messages of a file in order, each with its thread, checked; and what was left out."""

    format: str
    messages: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


@dataclass(slots=True)
class _Tally:
    steps: int = 0
    repeated: int = 0
    secrets: set[str] = field(default_factory=set)
    degraded: Counter[str] = field(default_factory=Counter)


def ingest(
    session: Session,
    *,
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            exists=True,
            help="A data set, or JSON lines of {role, content, name?, timestamp?, id?, thread_id?}.",
        ),
    ],
    user: User,
    thread: Annotated[
        str | None, typer.Option("--thread", help='The thread of lines that name none; else "default".')
    ] = None,
    format: Annotated[Format, typer.Option("--format", help="The form of the file.")] = Format.auto,
    skip_bad: Annotated[bool, typer.Option("--skip-bad", help="Leave lines out that cannot be read.")] = False,
    timezone: Zone = None,
) -> None:
    """Store a conversation. The whole file is checked first: with a bad line nothing of it is stored.

    A line with an id is stored once, however often the file is read; one without is stored each time.
    """
    from hexamem.memory_types.times import read_zone

    read_zone(timezone or "UTC")  # a wrong one is no fault of the file's lines
    found = _read(file, format, thread, skip_bad, timezone or "UTC")
    with session.user(user, timezone) as memory:
        found.notes += _repeats(memory, found.messages, timezone)
        began = time.perf_counter()
        tally = _store(memory, found.messages)
        seconds = time.perf_counter() - began
        learned = _learn(memory)
    threads = {name for name, _ in found.messages}
    if not found.messages:
        found.notes.append(f"{file} holds no message")
    summary = {
        "file": str(file),
        "format": found.format,
        "user": user,
        "threads": len(threads),
        "steps": tally.steps,
        "repeated": tally.repeated,
        "secrets": len(tally.secrets),
        "items": learned,
        "degraded": dict(tally.degraded),
        "notes": found.notes,
        "seconds": round(seconds, 3),
        "steps_per_s": round(tally.steps / seconds, 1),
    }
    for line in (*found.notes, *(f"{what} ({count}×)" for what, count in tally.degraded.items())):
        output.note(f"note: {line}")
    if session.as_json:
        return output.write_json(summary)
    parts = [
        f"{output.counted(tally.steps, 'step')} in {output.counted(len(threads), 'thread')} of {user!r}",
        f"{tally.repeated:,} were there already" if tally.repeated else "",
        f"{output.counted(len(tally.secrets), 'secret')} put into the vault" if tally.secrets else "",
        f"{tally.steps / seconds:,.0f} steps/s" if tally.steps >= _MANY else "",
        f"{output.counted(learned, 'item')} learned" if learned else "",
    ]
    return output.write(Text("stored " + output.clean(", ".join(part for part in parts if part))))


def _learn(memory: UserMemory) -> int:
    """Learn from what was stored, under a progress bar, as the settings say; returns how many items that made."""
    ingesting = memory.memory.ingesting
    before = len(memory.items())
    with output.progress_bar("learning", total=ingesting.waiting(memory.name)) as (progress, task):
        ingesting.manage_all(memory.name, lambda steps: progress.advance(task, steps))
    return max(0, len(memory.items()) - before)


def _read(file: Path, format: Format, thread: str | None, skip_bad: bool, timezone: str) -> _Conversation:
    from hexamem.evals import detect_format

    known = format.value if format is not Format.auto else None
    if known is None and file.is_file():
        # Anything that holds lines and is no data set is read as lines, so that the first bad one is named.
        try:
            known = detect_format(file) or ("jsonl" if file.suffix != ".json" else None)
        except CorruptFileError:
            if file.suffix == ".json":
                raise
            known = "jsonl"
    if known == "jsonl" and file.is_file():
        return _read_lines(file, thread, skip_bad, timezone)
    return _read_data_set(file, known or "auto", thread, skip_bad)


def _read_lines(file: Path, thread: str | None, skip_bad: bool, timezone: str) -> _Conversation:
    from hexamem.evals.jsonl import read_records
    from hexamem.memory_types.messages import read_messages
    from hexamem.stores.ledger import check_name

    def problem(record: dict[str, Any]) -> str | None:
        if "role" not in record or "content" not in record:
            missing = "role" if "role" not in record else "content"
            return f"{missing} is missing; a line is an object with role and content"
        try:
            if record.get("thread_id") is not None:
                check_name(record["thread_id"], "thread_id")
            drafts = read_messages([_message(record)], timezone=timezone)
            if drafts[0].message_id is not None:
                check_name(drafts[0].message_id, "id")
        except InvalidInputError as error:
            told = str(error)
            for place in ("message 1 of 1: ", "message 1 of 1, ", "message 1 of 1 "):
                told = told.removeprefix(place)
            return told.removesuffix("; leave it out")  # which the caller says
        return None

    try:
        lines = read_records(file, skip_bad=skip_bad, check=problem)
    except CorruptFileError as error:
        if file.suffix.lower() in (".jsonl", ".ndjson", ".json") or _begins_like_json(file):
            raise
        raise InvalidInputError(
            f"{str(error).partition('; ')[0]}; ingest takes conversations (JSON lines of {{role, content}}): "
            f"a document is stored with `hexamem add {file}`"
        ) from None
    default = thread if thread is not None else "default"
    messages = [(record.get("thread_id") or default, _message(record)) for _, record in lines.records]
    return _Conversation("jsonl", messages, list(lines.notes))


def _begins_like_json(file: Path) -> bool:
    with file.open("rb") as lines:
        return lines.read(4_096).removeprefix(b"\xef\xbb\xbf").lstrip()[:1] == b"{"


def _message(record: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in record.items() if key != "thread_id"}


def _read_data_set(file: Path, format: str, thread: str | None, skip_bad: bool) -> _Conversation:
    from hexamem.evals import load_conversations

    conversations = load_conversations(file, format, skip_bad=skip_bad)  # type: ignore[arg-type]
    if thread is not None and len(conversations) > 1:
        raise InvalidInputError(f"--thread would mix the {len(conversations)} conversations of {file}; leave it out")
    found = _Conversation("+".join(dict.fromkeys(one.dataset for one in conversations)))
    for one in conversations:
        # What is said of questions concerns a measurement, not what is stored.
        found.notes += [note for note in one.notes if "question" not in note and "evidence" not in note]
        for message in one.messages:
            # Data sets number sessions and turns alike in every conversation: its name keeps them apart.
            place = f"{one.id}/{message.thread_id}" if message.thread_id else one.id
            found.messages.append((place if thread is None else thread, message.as_message()))
    return found


def _repeats(memory: UserMemory, messages: list[tuple[str, dict[str, Any]]], timezone: str | None) -> list[str]:
    """What to say of messages without an id that stand in their thread already: they are stored once more."""
    from hexamem.memory_types.messages import read_messages

    bare: dict[str, list[dict[str, Any]]] = {}
    for thread, message in messages:
        if message.get("id") is None:
            bare.setdefault(thread, []).append(message)
    if memory.name not in memory.memory.users():
        return []
    again: dict[str, int] = {}
    for thread, given in bare.items():
        held: dict[tuple[str, str], set[datetime]] = {}
        for one in memory.steps(thread):
            held.setdefault((one.role, one.content), set()).add(one.occurred_at)
        drafts = read_messages(given, timezone=timezone or memory.timezone) if held else ()
        again[thread] = sum(
            (times := held.get((draft.role, draft.text))) is not None
            and (draft.occurred_at is None or draft.occurred_at.utc in times)
            for draft in drafts
        )
    repeated = sum(again.values())
    if not repeated:
        return []
    threads = [thread for thread, count in again.items() if count]
    where = f"thread {threads[0]!r}" if len(threads) == 1 else "their threads"
    stand, are = ("stands", "is") if repeated == 1 else ("stand", "are")
    return [
        f"{repeated:,} of {output.counted(len(messages), 'message')} {stand} in {where} already and {are} stored again: "
        "give them ids to store them once"
    ]


def _store(memory: UserMemory, messages: list[tuple[str, dict[str, Any]]]) -> _Tally:
    tally = _Tally()
    with output.progress_bar("storing", total=len(messages)) as (progress, task):
        for name, batch in _batches(messages):
            receipt = memory.remember(batch, thread_id=name)
            tally.steps += len(receipt.step_ids) - len(receipt.repeated)
            tally.repeated += len(receipt.repeated)
            tally.secrets.update(receipt.secrets)
            tally.degraded.update(_without_place(line) for line in receipt.degraded)
            progress.advance(task, len(batch))
    with output.progress_bar("indexing") as (progress, task):
        memory.memory.projector.catch_up(memory.name, lambda index, count: progress.advance(task, count))
    return tally


def _batches(messages: list[tuple[str, dict[str, Any]]]) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Windows of :data:`BATCH` lines, each split by thread: threads that take turns do not cost a write a line."""
    for start in range(0, len(messages), BATCH):
        threads: dict[str, list[dict[str, Any]]] = {}
        for name, message in messages[start : start + BATCH]:
            threads.setdefault(name, []).append(message)
        yield from threads.items()


def _without_place(line: str) -> str:
    head, colon, rest = line.partition(": ")
    return rest if colon and head.startswith("message ") else line


def export(
    session: Session,
    *,
    file: Annotated[Path, typer.Argument(metavar="FILE", dir_okay=False, help="Written whole or not at all.")],
    user: User,
    with_secrets: Annotated[
        bool, typer.Option("--with-secrets", help="Take the vault's secrets along, sealed under a passphrase.")
    ] = False,
    passphrase_file: PassphraseFile = None,
) -> None:
    """Write everything of a user to a file with checksums. Secrets stay behind unless asked for."""
    passphrase = ask_passphrase(passphrase_file, twice=True) if with_secrets or passphrase_file else None
    with session.user(user, create=False) as memory:
        counts = memory.export(file, passphrase=passphrase)
    if not counts:
        output.note(f"note: user {user!r} has stored nothing; the file holds no records")
    _moved(session, file, user, counts, "wrote")


def import_(
    session: Session,
    *,
    file: Annotated[Path, typer.Argument(metavar="FILE", exists=True, dir_okay=False, help="As `export` wrote it.")],
    user: User,
    passphrase_file: PassphraseFile = None,
) -> None:
    """Take in a file that export wrote, of this or another user; what is there already stays."""
    passphrase = ask_passphrase(passphrase_file, twice=False) if passphrase_file or _holds_secrets(file) else None
    with session.user(user) as memory:
        counts = memory.import_(file, passphrase=passphrase)
        with output.progress_bar("indexing") as (progress, task):
            memory.memory.projector.catch_up(memory.name, lambda index, count: progress.advance(task, count))
    _moved(session, file, user, counts, "took in")


def _holds_secrets(file: Path) -> bool:
    """Whether an export says in its first line that it holds secrets. A damaged one is left to the import to refuse."""
    with file.open("rb") as lines:
        first = lines.readline(100_000)
    try:
        return bool(json.loads(first)["entry"]["secrets"])
    except (ValueError, KeyError, TypeError):
        return False


def _moved(session: Session, file: Path, user: str, counts: dict[str, int], verb: str) -> None:
    if session.as_json:
        return output.write_json({"file": str(file), "user": user, "counts": counts})
    said = ", ".join(_counted(counts.items())) or "nothing"
    return output.write(Text(output.clean(f"{verb} {said}  ({file})")))


def _counted(counts: Iterable[tuple[str, int]]) -> Iterator[str]:
    return (f"{count:,} {name}" for name, count in counts if count)
