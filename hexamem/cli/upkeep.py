"""Commands that look after a home: doctor, flush, reindex, reembed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from hexamem.cli import output
from hexamem.cli.session import Session
from hexamem.errors import HexamemError, InvalidInputError, NotFoundError

if TYPE_CHECKING:
    from hexamem.doctor import Finding

__all__ = ["doctor", "flush", "reembed", "reindex"]

_MARKS = {"ok": ("✓", "green"), "note": ("•", "yellow"), "wrong": ("✗", "bold red")}
_SHOWN_USERS = 20


def doctor(session: Session) -> int:
    """Examine the home: files, versions, embedder, users, indexes, vault key, jobs. Exits 1 if something is wrong."""
    from hexamem.doctor import Finding, count_records, examine, examine_home

    findings = examine_home(session.folder)
    users: list[dict[str, Any]] = []
    if not (session.folder / "ledger.sqlite3").exists():  # opening would make one
        return _report(session, findings, users)
    try:
        with session.memory() as memory:
            with output.progress_bar("examining", total=len(memory.users())) as (progress, task):
                findings += examine(memory, progress=lambda name: progress.advance(task))
            users = count_records(memory)
    except HexamemError as error:
        findings.append(Finding(name="opening", status="wrong", detail=str(error)))
    return _report(session, findings, users)


def _report(session: Session, findings: list[Finding], users: list[dict[str, Any]]) -> int:
    wrong = [one for one in findings if one.status == "wrong"]
    if session.as_json:
        said = [one.as_dict() for one in findings]
        output.write_json({"ok": not wrong, "home": str(session.folder), "findings": said, "users": users})
        return 1 if wrong else 0
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True, style="bold")
    table.add_column(overflow="fold")
    for one in findings:
        mark, style = _MARKS[one.status]
        table.add_row(Text(mark, style=style), one.name, Text(output.clean(one.detail)))
    blocks: list[RenderableType] = [table]
    if users:
        blocks += [Text(""), _user_table(users)]
    if wrong:
        verdict = Text(f"{output.counted(len(wrong), 'thing')} wrong: ", style="bold red")
        verdict.append(", ".join(one.name for one in wrong))
    else:
        verdict = Text("all is well", style="bold green")
    output.write(*blocks, Text(""), verdict)
    return 1 if wrong else 0


def _user_table(users: list[dict[str, Any]]) -> Table:
    table = Table(box=None, padding=(0, 3, 0, 0))
    table.add_column("user", overflow="fold")
    for heading in ("steps", "items"):
        table.add_column(heading, justify="right")
    largest = sorted(users, key=lambda row: -row["steps"])[:_SHOWN_USERS]
    for row in largest:
        table.add_row(Text(output.clean(row["user"])), f"{row['steps']:,}", f"{row['items']:,}")
    if len(users) > len(largest):
        table.add_row(Text(f"… and {len(users) - len(largest):,} more: hexamem users", style="dim"), "", "")
    return table


OneUser = Annotated[str | None, typer.Option("--user", "-u", help="Only this user; all when left out.")]


def flush(session: Session, *, user: OneUser = None) -> int:
    """Do now what waits: index, label and learn from what short programs stored. Exits 1 if something is left."""
    with session.memory(create=False) as memory:
        names = _chosen(session, memory.users(), user)
        with output.progress_bar("learning", total=len(names)) as (progress, task):
            left = []
            for name in names:
                if not memory.user(name).flush():
                    left.append(name)
                progress.advance(task)
    if session.as_json:
        output.write_json({"users": names, "left": left})
    elif left:
        output.note(
            f"not all is done for {', '.join(map(repr, left))}: `hexamem jobs list` shows what is left, and why"
        )
    else:
        output.write_text(f"nothing waits any more: {output.counted(len(names), 'user')}")
    return 1 if left else 0


def _chosen(session: Session, names: list[str], user: str | None) -> list[str]:
    """All users, or one of them."""
    if user is not None and user not in names:
        raise NotFoundError(f"user {user!r} has stored nothing at {session.folder}; `hexamem users` lists who has")
    return names if user is None else [user]


def reindex(session: Session, *, user: OneUser = None) -> None:
    """Throw the indexes away and build them anew from the ledger."""
    with session.memory(create=False) as memory:
        chosen = _chosen(session, memory.users(), user)
        with output.progress_bar("indexing") as (progress, task):
            written = memory.reindex(user, progress=lambda index, count: progress.advance(task, count))
    if session.as_json:
        return output.write_json({"users": chosen, "records": written})
    return output.write_text(f"built the indexes of {output.counted(len(chosen), 'user')}: {written:,} records")


def reembed(session: Session) -> None:
    """Give the home another embedder (--embedder): every vector is made anew. Broken off, it is simply run again."""
    from hexamem.memory import Memory

    if session.embedder is None:
        raise InvalidInputError("reembed with which embedder? give --embedder bundled, static, minilm or openai:MODEL")
    if not (session.folder / "ledger.sqlite3").exists():
        raise NotFoundError(f"there is no memory at {session.folder} to embed anew; is --home right?")
    with output.progress_bar("embedding") as (progress, task):
        written = Memory.reembed(
            session.folder, embedder=session.embedder, progress=lambda index, count: progress.advance(task, count)
        )
    if session.as_json:
        return output.write_json({"embedder": session.embedder, "records": written})
    return output.write_text(f"embedded anew with {session.embedder}: {written:,} records")
