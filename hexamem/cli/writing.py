"""Commands that change memory, all of which ``undo`` reverses: add, edit, remove, forget, undo, feedback."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hexamem.cli import output
from hexamem.cli.item_options import ItemOptions
from hexamem.cli.operations import operation_blocks
from hexamem.cli.session import Reason, Session, User, Zone, zone_of
from hexamem.cli.values import item_fields, read_stdin, split_pairs
from hexamem.errors import InvalidInputError, UndoRefusedError

if TYPE_CHECKING:
    from hexamem.memory_types import Operation
    from hexamem.memory_types.files import AddedFile
    from hexamem.user import UserMemory

__all__ = ["add", "edit", "feedback", "forget", "remove", "undo"]

_OF_A_FILE = {"title", "tree_path", "labels", "metadata"}
SecretFromStdin = Annotated[
    bool, typer.Option("--secret-stdin", help="Read the secret of a vault item from stdin, not from the command line.")
]


def add(
    session: Session,
    *,
    paths: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="FILE",
            help="txt, md, html, csv, pdf or docx; a picture or recording; of any other its name and bytes alone.",
        ),
    ] = None,
    user: User,
    kind: Annotated[
        str | None, typer.Option("--kind", help="core, episodic, semantic, procedural, resource or vault.")
    ] = None,
    json_item: Annotated[
        str | None, typer.Option("--json-item", metavar="JSON", help="The whole item as a JSON object; - reads stdin.")
    ] = None,
    item: ItemOptions,
    secret_stdin: SecretFromStdin = False,
    supersedes: Annotated[str | None, typer.Option("--supersedes", help="The item that this one replaces.")] = None,
    root: Annotated[
        Path | None, typer.Option("--root", help="A folder above FILE: those in between become its tree path.")
    ] = None,
    keep_bytes: Annotated[
        bool, typer.Option("--keep-bytes/--no-keep-bytes", help="Whether FILE itself is kept, beside its text.")
    ] = True,
    reason: Reason = "",
    timezone: Zone = None,
) -> None:
    """Store files, or an item by options or as JSON.

    With FILE go --title, --tree-path or --root, --labels, --metadata, --no-keep-bytes and --reason.
    """
    fields = item.given
    if paths:
        strange = [f"--{key.replace('_', '-')}" for key, _ in fields if key not in _OF_A_FILE]
        others = {"--kind": kind, "--json-item": json_item, "--supersedes": supersedes}
        strange += [name for name, value in others.items() if value is not None]
        strange += ["--secret-stdin"] if secret_stdin else []
        if strange:
            raise InvalidInputError(f"{strange[0]} is of an item, not of a file; see `hexamem add --help`")
        if item.title is not None and len(paths) > 1:
            raise InvalidInputError(f"--title {item.title!r} is of one file, and {len(paths)} are given")
        about = _json_object(item.metadata, "--metadata") if item.metadata is not None else None
        said = {"title": item.title, "tree_path": item.tree_path, "labels": item.labels or (), "metadata": about}
        return _add_files(
            session, user, timezone, paths, {**said, "root": root, "keep_bytes": keep_bytes, "reason": reason}
        )
    if root is not None or not keep_bytes:
        raise InvalidInputError("--root and --no-keep-bytes are of a file; name one")
    if json_item == "-" and secret_stdin:
        raise InvalidInputError("stdin cannot hold both the item and its secret: give the item as --json-item '{…}'")
    new = _item_of(kind, json_item, fields, timezone or "UTC")
    secret = read_stdin("the secret") if secret_stdin else None
    with session.user(user, timezone) as memory:
        stored = memory.add(new, secret=secret, supersedes=supersedes, reason=reason)
        return _show_item(session, stored, memory)


def _add_files(session: Session, user: str, timezone: str | None, paths: Sequence[Path], said: dict[str, Any]) -> None:
    if not any(path.exists() for path in paths):  # a slip of the fingers begins no home
        raise InvalidInputError(f"{paths[0]}: there is no such file")
    added: list[AddedFile] = []
    refused: list[str] = []
    with session.user(user, timezone) as memory:
        for path in paths:
            try:
                added.append(memory.add_file(path, **said))
            except InvalidInputError as error:  # the others are added all the same
                refused.append(str(error))
    for one in added:
        for line in one.degraded:
            output.note(line)
    if session.as_json and added:
        output.write_json(added)
    elif added:
        output.write_text("\n".join(_told(one) for one in added))
    for line in refused[:-1]:
        output.note(line)
    if refused:
        raise InvalidInputError(refused[-1])


def _told(added: AddedFile) -> str:
    item = added.item
    if added.repeated:
        return f"{item.id}  {item.title} (there already)"
    parts = [item.resource_type, f"{added.passages:,} passage{'s' if added.passages > 1 else ''}"]
    if not item.content:
        pictured = item.resource_type in ("image", "audio")
        parts[1] = "waits to be put into words" if pictured else "kept as it is, not read"
    if added.superseded:
        parts.append(f"supersedes {added.superseded}")
    if added.secrets:
        parts.append(f"{len(added.secrets)} secret(s) taken out")
    return f"{item.id}  {item.title} ({', '.join(parts)})"


def _item_of(kind: str | None, json_item: str | None, fields: list[tuple[str, Any]], timezone: str) -> dict[str, Any]:
    if json_item is not None:
        if fields:
            raise InvalidInputError(f"--json-item gives the whole item; leave out --{fields[0][0].replace('_', '-')}")
        item = _json_object(read_stdin("the item as JSON") if json_item == "-" else json_item, "--json-item")
        return item if kind is None else {"kind": kind, **item}
    if kind is None:
        raise InvalidInputError("an item of which kind? give --kind, or --json-item with a kind in it")
    pairs = [(name, text) for name, given in fields for text in ([given] if isinstance(given, str) else given)]
    return {"kind": kind, **item_fields(_class_of(kind), pairs, timezone)}


def _json_object(text: str, option: str) -> dict[str, Any]:
    try:
        item = json.loads(text)
    except ValueError as error:
        raise InvalidInputError(f"{option} is not JSON: {error}") from None
    if not isinstance(item, dict):
        rule = "an item is an object with a kind" if option == "--json-item" else "give an object"
        raise InvalidInputError(f"{option} is a JSON {type(item).__name__}; {rule}")
    return item


def _class_of(kind: str) -> Any:
    from hexamem.memory_types import TypeRegistry

    types = TypeRegistry()
    if kind in types:
        return types[kind].item
    raise InvalidInputError(f"--kind {kind!r} is no memory kind; use one of {', '.join(types)}")


def edit(
    session: Session,
    *,
    item_id: Annotated[str, typer.Argument(metavar="ID", help="Of an item, as `items` shows it.")],
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
        values = item_fields(type(memory.get(item_id)), pairs, timezone or "UTC")  # type: ignore[arg-type]
        stored = memory.edit(item_id, values, reason=reason, secret=secret)
        _show_item(session, stored, memory)


def remove(
    session: Session,
    *,
    item_id: Annotated[str, typer.Argument(metavar="ID", help="Of an item, as `items` shows it.")],
    user: User,
    reason: Reason = "",
) -> None:
    """Take an item out of memory; undo brings it back."""
    with session.known(user) as memory:
        done = memory.remove(item_id, reason=reason)
        _show_operation(session, done, memory)


def forget(
    session: Session,
    *,
    user: User,
    step_ids: Annotated[
        list[str] | None, typer.Argument(metavar="STEP", help="Ids of steps, as `steps` shows them.")
    ] = None,
    thread: Annotated[str | None, typer.Option("--thread", help="All steps of this thread.")] = None,
    reason: Reason = "",
) -> None:
    """Take steps out of memory, and the items that rest on nothing else; undo brings them back.

    Their words stay in the history and in exports so that it can be undone; `hexamem redact` takes words out for good.
    """
    if not step_ids and thread is None:
        raise InvalidInputError("forget what? give step ids, or --thread")
    with session.known(user) as memory:
        done = memory.forget(step_ids or None, thread_id=thread, reason=reason)
        _show_operation(session, done, memory)


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
        blocks = [] if session.as_json else operation_blocks(done, memory)
    return output.write_json(done) if session.as_json else output.write(*blocks)


def feedback(
    session: Session,
    *,
    recall_id: Annotated[str, typer.Argument(metavar="RECALL", help="As recall shows it.")],
    user: User,
    helped: Annotated[list[str] | None, typer.Option("--helped", metavar="ID", help="A hit that helped.")] = None,
    hurt: Annotated[list[str] | None, typer.Option("--hurt", metavar="ID", help="A hit that misled.")] = None,
) -> None:
    """Say which hits of a recall helped and which hurt."""
    if not helped and not hurt:
        raise InvalidInputError("feedback on what? give --helped ID or --hurt ID")
    with session.known(user) as memory:
        memory.feedback(recall_id, helped=helped or (), hurt=hurt or ())
    if session.as_json:
        return output.write_json({"recall_id": recall_id, "helped": helped or [], "hurt": hurt or []})
    return output.write_text(f"kept: {len(helped or ())} helped, {len(hurt or ())} hurt")


def _show_item(session: Session, item: Any, user: UserMemory) -> None:
    if session.as_json:
        return output.write_json(item)
    return output.write(*output.item_block(item, zone=zone_of(user)))


def _show_operation(session: Session, operation: Operation, user: UserMemory) -> None:
    if session.as_json:
        return output.write_json(operation)
    return output.write(*operation_blocks([operation], user))
