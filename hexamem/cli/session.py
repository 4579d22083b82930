"""The parts that all commands share: common options, opening the memory, and printing the result.

A command is a plain function whose first argument is a :class:`Session`; :func:`shared` adds the common options to its
own. Options that only some commands share are the fields of a dataclass.
"""

from __future__ import annotations

import inspect
import os
import shutil
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass, fields, is_dataclass
from datetime import UTC, tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_type_hints
from urllib.parse import urlsplit

import typer
from rich.console import RenderableType

from hexamem.cli import output
from hexamem.config import DEFAULT_HOME, IngestMode, LabelTier
from hexamem.errors import ConfigError, HomeNotWritableError, InvalidInputError, NotFoundError

if TYPE_CHECKING:
    from hexamem.config import Settings
    from hexamem.memory import Memory
    from hexamem.memory_types import Operation
    from hexamem.user import UserMemory

_BY_MODEL = ("single_call", "agents")
_EMBEDDERS = ("bundled", "static", "minilm", "openai")

User = Annotated[str, typer.Option("--user", "-u", help="Whose memory; required.")]
MaybeUser = Annotated[str | None, typer.Option("--user", "-u", help="Only this user; all when left out.")]
Reason = Annotated[str, typer.Option("--reason", help="Why; stored in the history.")]
Zone = Annotated[
    str | None,
    typer.Option(
        "--timezone",
        help="IANA zone in which times are shown, and read if they have no offset; stored for the user. UTC by default.",
    ),
]


def _folder(text: str) -> Path:
    if not text.strip():  # an unset variable of the shell must not mean the current folder
        raise typer.BadParameter(f"{text!r} names no folder; leave it out for {DEFAULT_HOME}")
    return Path(text)


def _everywhere(flag: str, help: str, **further: Any) -> Any:
    return typer.Option(flag, help=help, rich_help_panel="Everywhere", **further)


@dataclass(slots=True)
class Common:
    """The options of every command, before or after its name."""

    home: Annotated[
        Path | None,
        _everywhere("--home", f"The memory's folder; {DEFAULT_HOME} by default.", metavar="DIR", parser=_folder),
    ] = None
    embedder: Annotated[
        str | None,
        _everywhere(
            "--embedder",
            "bundled, static, minilm or openai:MODEL; the one that the home was indexed with by default.",
            metavar="E",
        ),
    ] = None
    model: Annotated[
        str | None,
        _everywhere(
            "--model",
            "A chat model such as openai:gpt-5-mini: ask and chat answer by it, --mode may use it. "
            "OPENAI_BASE_URL names a server.",
            metavar="M",
        ),
    ] = None
    label_by: Annotated[
        LabelTier | None,
        _everywhere(
            "--label-by",
            "What labels steps: embedded (the default; --mode single_call has the model label them anew), or off.",
            metavar="HOW",
        ),
    ] = None
    mode: Annotated[
        IngestMode | None,
        _everywhere(
            "--mode",
            "What extracts items from stored messages: auto (the default: single_call with --model, else embedded), "
            "embedded (no calls), single_call (a model, one call a batch), agents (a model, a call for each manager), or off.",
            metavar="HOW",
        ),
    ] = None
    model_timeout: Annotated[
        float | None,
        _everywhere("--model-timeout", "Seconds for one request to the model; 120 by default.", metavar="S", min=1),
    ] = None
    prompts: Annotated[
        Path | None,
        _everywhere("--prompts", "A folder of prompts that replace the shipped ones of the same name.", metavar="DIR"),
    ] = None
    ledger: Annotated[
        str | None,
        _everywhere(
            "--ledger",
            "A database for the ledger in place of the home's own, which several homes may share, such as "
            "postgresql+psycopg://HOST/NAME. The vault's key is then HEXAMEM_VAULT_KEY.",
            metavar="URL",
        ),
    ] = None
    chroma: Annotated[
        str | None,
        _everywhere(
            "--chroma",
            "A Chroma server for the vectors, HOST:PORT or URL. HEXAMEM_CHROMA_TOKEN is sent as its bearer token.",
            metavar="SERVER",
        ),
    ] = None
    as_json: Annotated[bool, _everywhere("--json", "Print one JSON document.")] = False
    debug: Annotated[bool, _everywhere("--debug", "Show the traceback of an error.")] = False


@dataclass(slots=True)
class Session(Common):
    """The common options, and the memory that they open."""

    zone: tzinfo = UTC  # in which times of the user are shown
    weights: str | None = None  # of the learned ranking; an option of ``eval`` only
    opened: Memory | None = None  # the memory of a running chat, whose commands use it
    execute: Callable[..., int] = lambda words, session, user: 2  # set by the program: runs a command

    @property
    def folder(self) -> Path:
        """The home, ``~`` expanded."""
        return Path(self.home if self.home is not None else DEFAULT_HOME).expanduser()

    @property
    def exists(self) -> bool:
        """Whether there is a memory at the home."""
        return self.ledger is not None or (self.folder / "ledger.sqlite3").exists()

    @property
    def settings(self) -> Settings:
        """The settings of a command, without a background thread, since the process ends at once."""
        from hexamem.config import Settings

        if self.mode in _BY_MODEL and self.model is None:
            raise ConfigError(f"--mode {self.mode} needs a model: give --model, such as openai:gpt-5-mini, or embedded")
        given: dict[str, Any] = {} if self.model_timeout is None else {"model_timeout": self.model_timeout}
        return Settings(
            background=False,
            labels=self.label_by or "embedded",
            mode=self.mode or "auto",
            weights=self.weights,
            **given,
        )

    def show(
        self, value: Any, blocks: str | Iterable[RenderableType], empty: str | None = None, *, text: bool = False
    ) -> None:
        """Print the result of a command."""
        if self.as_json:
            output.write_json(value)
        elif empty is not None and not value:
            output.note(empty)
        elif isinstance(blocks, str):
            output.write_text(blocks if text else output.clean(blocks))
        else:
            output.write(*blocks)

    def show_operations(self, value: Any, operations: Iterable[Operation], user: UserMemory) -> None:
        """Print a result with the operations that made it; the user's memory must still be open."""
        if self.as_json:
            return output.write_json(value)
        from hexamem.labels import label_paths

        return output.write(
            *output.operation_records(
                list(operations), zone=self.zone, names=label_paths(user.memory.ledger, user.name)
            )
        )

    def change(self, user: str, change: Callable[[UserMemory], Operation]) -> None:
        """Change the memory of a known user, and print the operation."""
        with self.known(user) as memory:
            operation = change(memory)
            self.show_operations(operation, [operation], memory)

    @contextmanager
    def memory(self, *, create: bool = True, at_once: bool = False) -> Iterator[Memory]:
        """The home's memory, open. Repairs and fallbacks are printed on stderr."""
        if self.opened is not None:
            yield self.opened
            return
        if self.folder.exists() and not self.folder.is_dir():
            raise HomeNotWritableError(f"--home {self.folder} is a file, not a folder: name the folder of a memory")
        new = not self.exists
        if new and not create:
            raise NotFoundError(
                f"there is no memory at {self.folder}: store something there first (hexamem ingest FILE --user U), "
                "or give another folder with --home"
            )
        from hexamem.memory import Memory

        created = f"note: there was no memory at {self.folder} yet; this made one"
        empty, no_folder = False, not self.folder.exists()
        try:
            with Memory.open(
                self.folder,
                embedder=self.embedder or _embedder_of(self.folder) or "bundled",
                model=self.model,
                prompts=self.prompts,
                ledger_url=self.ledger,
                chroma=None if self.chroma is None else _chroma_client(self.chroma),
                settings=self.settings,
            ) as memory:
                if new and at_once:
                    output.note(created)
                try:
                    yield memory
                finally:
                    for line in memory.notices:
                        output.note(f"note: {line}")
                    empty = new and no_folder and not at_once and not memory.users()
        except BaseException:
            if empty:
                _remove_empty(self.folder)
            raise
        if new and not at_once:  # a command that failed prints only its error
            output.note(created)

    @contextmanager
    def scratch(self) -> Iterator[Memory]:
        """A memory in a temporary folder; with ``--home`` the one there, which is not deleted."""
        with self.memory() if self.home is not None else self.thrown_away() as memory:
            yield memory

    @contextmanager
    def thrown_away(self) -> Iterator[Memory]:
        """A memory in a temporary folder."""
        from hexamem.memory import Memory

        with (
            tempfile.TemporaryDirectory(prefix="hexamem-") as folder,
            Memory.open(
                folder,
                embedder=self.embedder or "bundled",
                model=self.model,
                prompts=self.prompts,
                settings=self.settings,
            ) as memory,
        ):
            yield memory

    @contextmanager
    def user(
        self,
        name: str,
        timezone: str | None = None,
        *,
        unknown: Literal["create", "note", "refuse"] = "create",
        at_once: bool = False,
    ) -> Iterator[UserMemory]:
        """One user's memory, open; an unknown user is registered at the first write, noted on stderr, or refused."""
        from hexamem.memory_types.times import read_zone

        with self.memory(create=unknown == "create", at_once=at_once) as memory:
            user = memory.user(name, timezone=timezone)
            self.zone = read_zone(user.timezone)
            if unknown != "create" and name not in memory.users():
                if unknown == "refuse":
                    raise NotFoundError(self._unknown(user))
                output.note(f"note: {self._unknown(user)}")
            yield user

    def reader(self, name: str, timezone: str | None = None) -> AbstractContextManager[UserMemory]:
        """One user's memory for a command that only reads."""
        return self.user(name, timezone, unknown="note")

    def known(self, name: str, timezone: str | None = None) -> AbstractContextManager[UserMemory]:
        """One user's memory for a command that changes records."""
        return self.user(name, timezone, unknown="refuse")

    def _unknown(self, user: UserMemory) -> str:
        users = user.memory.users()
        named = ", ".join(map(repr, users[:5])) + (", …" if len(users) > 5 else "")
        return f"no user {user.name!r} has stored anything at {self.folder} (users: {named or 'none'})"


def _remove_empty(home: Path) -> None:
    """Remove a home that a failed command made, unless another process has begun to use it meanwhile."""
    from filelock import FileLock, Timeout

    try:
        with FileLock(home / ".lock", timeout=0), closing(sqlite3.connect(home / "ledger.sqlite3")) as ledger:
            if ledger.execute("SELECT 1 FROM users LIMIT 1").fetchone() is None:
                shutil.rmtree(home, ignore_errors=True)
    except (OSError, Timeout, sqlite3.Error):
        return  # it stays: only what certainly holds nothing is removed


def read_stdin(what: str) -> str:
    """All of stdin without its last line end."""
    if sys.stdin is None:
        raise InvalidInputError(f"stdin is closed: {what} was expected there")
    text = sys.stdin.read().removesuffix("\n").removesuffix("\r")
    if not text:
        raise InvalidInputError(f"stdin is empty: {what} was expected there")
    return text


def _parameter(name: str, annotation: Any, default: Any = inspect.Parameter.empty) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=annotation, default=default)


def _options(group: Any) -> list[inspect.Parameter]:
    """The fields of a dataclass as parameters of a command."""
    hints = get_type_hints(group, include_extras=True)
    return [_parameter(field.name, hints[field.name], field.default) for field in fields(group)]


def shared(function: Callable[..., Any], *, without: tuple[str, ...] = ()) -> Callable[..., Any]:
    """The command for typer: ``function``'s own options, then the common options."""
    hints = get_type_hints(function, include_extras=True)
    own = list(inspect.signature(function).parameters.values())[1:]
    groups = {each.name: hints[each.name] for each in own if is_dataclass(hints[each.name])}
    common = [option for option in _options(Common) if option.name not in without]

    def command(ctx: typer.Context, **values: Any) -> Any:
        session: Session = ctx.obj
        _refuse_empty(ctx)
        for option in common:
            if value := values.pop(option.name):  # else it remains as set before the command's name
                setattr(session, option.name, value)
        for name, group in groups.items():
            values[name] = group(**{field.name: values.pop(field.name) for field in fields(group)})
        return function(session, **values)

    parameters = [_parameter("ctx", typer.Context)]
    for each in own:
        group = groups.get(each.name)
        parameters += [_parameter(each.name, hints[each.name], each.default)] if group is None else _options(group)
    parameters += common
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {typed.name: typed.annotation for typed in parameters}
    command.__name__ = function.__name__
    paragraphs = inspect.cleandoc(function.__doc__ or "").split("\n\n")
    command.__doc__ = "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)  # wrapped by the terminal
    return command


def _refuse_empty(ctx: typer.Context) -> None:
    """Raise for an empty value of an optional option: often an unset variable of the shell."""
    for option in ctx.command.params:
        if option.param_type_name != "option" or option.required or option.default is not None:
            continue
        value = ctx.params.get(str(option.name))
        if isinstance(value, str) and not value.strip():
            raise InvalidInputError(f"{option.opts[0]} {value!r} is empty: give it a value, or leave it out")


def _embedder_of(home: Path) -> str | None:
    """The name of the embedder that a home was indexed with; None if it is unknown, or cannot be opened by name."""
    ledger = home / "ledger.sqlite3"
    if not ledger.exists():
        return None
    try:
        with closing(sqlite3.connect(f"{ledger.resolve().as_uri()}?mode=ro", uri=True)) as connection:
            row = connection.execute("SELECT value FROM meta WHERE key = 'embedder_name'").fetchone()
    except sqlite3.Error:  # damaged, or no database: opening it raises the full error
        return None
    name = str(row[0]) if row else ""
    return name if name.split(":", 1)[0] in _EMBEDDERS else None


def _chroma_client(server: str) -> Any:
    """The client of a Chroma server."""
    parts = urlsplit(server if "://" in server else f"http://{server}")
    try:
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
    if host is None or parts.scheme not in ("http", "https"):
        raise ConfigError(f"--chroma {server!r} is no address of a server: give HOST:PORT or http://HOST:PORT")
    import chromadb
    from chromadb.config import Settings as ChromaSettings

    quiet = ChromaSettings(anonymized_telemetry=False)
    token = os.environ.get("HEXAMEM_CHROMA_TOKEN")
    headers = {"Authorization": f"Bearer {token}"} if token else None
    try:
        return chromadb.HttpClient(host, port or 8000, ssl=parts.scheme == "https", headers=headers, settings=quiet)
    except ValueError as error:
        from hexamem.stores.vectors.client import http_status

        status = http_status(error)
        if status in (401, 403):
            wrong = f"it refuses the token ({status}): set HEXAMEM_CHROMA_TOKEN to the right one"
        elif status is not None:
            wrong = f"what answers there failed ({status}): check the Chroma server, and a proxy before it"
        else:
            wrong = "no Chroma server answers there; start one with: chroma run"
        raise ConfigError(f"--chroma {server!r}: {wrong}") from None
