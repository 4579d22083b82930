"""Commands on what must not be seen: redact, reveal, erase."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.text import Text

from hexamem.cli import output
from hexamem.cli.session import Reason, Session, User
from hexamem.cli.values import confirm, read_stdin
from hexamem.errors import InvalidInputError

__all__ = ["erase", "redact", "reveal"]


def redact(
    session: Session,
    *,
    words: Annotated[
        str,
        typer.Argument(
            metavar="WORDS", help="Exactly as they stand; - reads them from stdin, out of the shell's history."
        ),
    ],
    user: User,
    caption: Annotated[str, typer.Option("--caption", help="What stands in their place.")] = "secret",
    kind: Annotated[str, typer.Option("--kind", help="What sort of secret it is.")] = "secret",
    sensitivity: Annotated[str, typer.Option("--sensitivity", help="low, medium or high.")] = "high",
    reason: Reason = "",
) -> None:
    """Take words out of everything that is stored, and keep them in the vault alone. There is no undo."""
    if sensitivity not in ("low", "medium", "high"):
        raise InvalidInputError(f"--sensitivity {sensitivity!r}: use low, medium or high")
    said = read_stdin("the words to redact") if words == "-" else words
    with session.known(user) as memory:
        receipt = memory.redact(said, caption=caption, kind=kind, sensitivity=sensitivity, reason=reason)  # type: ignore[arg-type]
    if session.as_json:
        return output.write_json(receipt)
    places = f"{len(receipt.step_ids)} steps and {len(receipt.item_ids)} items"
    return output.write(Text(f"taken out of {places}; in their place stands {output.clean(receipt.reference)}"))


def reveal(
    session: Session,
    *,
    record_id: Annotated[str, typer.Argument(metavar="ID", help="A vault item, a secret's id or a whole reference.")],
    user: User,
    reason: Annotated[str, typer.Option("--reason", help="Why it is needed; it is kept in the audit.")],
) -> None:
    """Print a secret, and keep in the audit who asked, when and why."""
    with session.known(user) as memory:
        plaintext = memory.reveal(record_id, reason=reason)
    if session.as_json:
        return output.write_json({"id": record_id, "secret": plaintext})
    return output.write_text(plaintext)


def erase(
    session: Session,
    *,
    user: User,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> int | None:
    """Erase everything of a user, physically and for good, and print the receipt."""
    from hexamem.doctor import count_records

    with session.known(user) as memory:
        if not yes:
            counts = next(iter(count_records(memory.memory, user)), {"steps": 0, "items": 0})
            held = f"{counts['steps']:,} steps and {counts['items']:,} items"
            question = f"Erase everything of user {user!r} ({held}) at {session.folder} for good?"
            if not confirm(output.clean(question), "nothing was erased: say yes, or give --yes"):
                output.note("nothing was erased")
                return 1
        receipt = memory.erase()
    if session.as_json:
        output.write_json(receipt)
        return None
    rows = ", ".join(f"{name} {count:,}" for name, count in receipt.rows.items() if count) or "none"
    output.write(
        Text(f"erased at {output.shown_time(receipt.erased_at)}", style="bold"),
        Text(f"rows: {rows}"),
        Text(f"index records: {receipt.vectors:,} vectors, {receipt.documents:,} documents"),
        Text(f"files: {receipt.files:,}"),
    )
    return None
