"""Commands for secrets and erasure: redact, reveal, erase."""

from __future__ import annotations

import sys
from typing import Annotated, Literal

import typer
from rich.text import Text

from hexamem.cli import output
from hexamem.cli.session import Reason, Session, User, read_stdin
from hexamem.errors import InvalidInputError


def redact(
    session: Session,
    *,
    words: Annotated[
        str,
        typer.Argument(
            metavar="WORDS", help="In capitals or small letters; - reads them from stdin, out of the shell's history."
        ),
    ],
    user: User,
    caption: Annotated[str, typer.Option(help="What is shown in their place.")] = "secret",
    kind: Annotated[str, typer.Option(help="What sort of secret it is.")] = "secret",
    sensitivity: Annotated[Literal["low", "medium", "high"], typer.Option(help="How sensitive it is.")] = "high",
    reason: Reason = "",
    match_case: Annotated[bool, typer.Option("--match-case", help="Only as they are written here.")] = False,
) -> None:
    """Remove words from everything that is stored; only the vault holds them afterwards. There is no undo."""
    text = read_stdin("the words to redact") if words == "-" else words
    with session.known(user) as memory:
        receipt = memory.redact(
            text, caption=caption, kind=kind, sensitivity=sensitivity, reason=reason, match_case=match_case
        )
    records = f"{output.counted(len(receipt.step_ids), 'step')} and {output.counted(len(receipt.item_ids), 'item')}"
    session.show(receipt, f"taken out of {records}; in their place is {receipt.reference}")


def reveal(
    session: Session,
    *,
    record_id: Annotated[str, typer.Argument(metavar="ID", help="A vault item, a secret's id or a whole reference.")],
    user: User,
    reason: Annotated[str, typer.Option(help="Why it is needed; recorded in the audit.")],
) -> None:
    """Print a secret, and record the access in the audit, with time and reason."""
    with session.known(user) as memory:
        plaintext = memory.reveal(record_id, reason=reason)
    session.show({"id": record_id, "secret": plaintext}, plaintext, text=True)


def erase(
    session: Session,
    *,
    user: User,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> int | None:
    """Erase everything of a user physically, and print the receipt. There is no undo."""
    from hexamem.doctor import count_records

    with session.known(user) as memory:
        if not yes:
            counts = next(iter(count_records(memory.memory, user)), {"steps": 0, "items": 0})
            records = f"{counts['steps']:,} steps and {counts['items']:,} items"
            question = f"Erase everything of user {user!r} ({records}) at {session.folder} for good?"
            if not _confirm(output.clean(question)):
                output.note("nothing was erased")
                return 1
        receipt = memory.erase()
    rows = ", ".join(f"{name} {count:,}" for name, count in receipt.rows.items() if count) or "none"
    lines = (
        Text(f"erased at {output.shown_time(receipt.erased_at)}", style="bold"),
        Text(f"rows: {rows}"),
        Text(f"index records: {receipt.vectors:,} vectors, {receipt.documents:,} documents"),
        Text(f"files: {receipt.files:,}"),
    )
    session.show(receipt, lines)
    return None


def _confirm(question: str) -> bool:
    """Ask on stderr and read the answer from stdin."""
    sys.stderr.write(f"{question} [y/N] ")
    sys.stderr.flush()
    answer = sys.stdin.readline() if sys.stdin is not None else ""
    if not answer:
        sys.stderr.write("\n")
        raise InvalidInputError("nothing was erased: answer yes, or give --yes")
    return answer.strip().lower() in ("y", "yes")
