"""What every command shares: ``--home``, ``--embedder``, ``--model``, ``--label-by``, ``--mode``, ``--json`` and
``--debug``, and opening the memory.

A command is a plain function whose first argument is a :class:`Session`; :func:`shared` gives it the options that
work everywhere, so that each command states only its own. Options that some commands share are a dataclass.
"""

from __future__ import annotations

import inspect
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, fields, is_dataclass
from datetime import tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_type_hints

import typer

from hexamem.cli import output
from hexamem.config import DEFAULT_HOME
from hexamem.errors import ConfigError, HomeNotWritableError, InvalidInputError, NotFoundError

if TYPE_CHECKING:
    from hexamem.config import Settings
    from hexamem.memory import Memory
    from hexamem.user import UserMemory

__all__ = [
    "AsJson",
    "Debug",
    "EmbedderName",
    "Home",
    "LabelsBy",
    "LearnsBy",
    "ModelName",
    "Reason",
    "Session",
    "User",
    "Zone",
    "refuse_empty",
    "shared",
    "zone_of",
]

_PANEL = "Everywhere"


def _folder(text: str) -> Path:
    if not text.strip():  # what an unset variable of the shell leaves, and not the folder one happens to be in
        raise typer.BadParameter(f"{text!r} names no folder; leave it out for {DEFAULT_HOME}")
    return Path(text)


User = Annotated[str, typer.Option("--user", "-u", help="Whose memory. There is no default: it never means everyone.")]
Reason = Annotated[str, typer.Option("--reason", help="Why; it is kept in the history.")]
Zone = Annotated[
    str | None,
    typer.Option(
        "--timezone",
        help="IANA zone in which times are shown, and read where they name no offset; kept for the user. UTC by default.",
    ),
]
Home = Annotated[
    Path | None,
    typer.Option(
        "--home",
        metavar="DIR",
        parser=_folder,
        help=f"The memory's folder; {DEFAULT_HOME} by default.",
        rich_help_panel=_PANEL,
    ),
]
EmbedderName = Annotated[
    str | None,
    typer.Option(
        "--embedder",
        metavar="E",
        help="bundled, static, minilm or openai:MODEL; the home's own by default.",
        rich_help_panel=_PANEL,
    ),
]
ModelName = Annotated[
    str | None,
    typer.Option(
        "--model",
        metavar="M",
        help="A chat model such as openai:gpt-5-mini: ask and chat answer by it, --label-by and --mode may use it. "
        "OPENAI_BASE_URL names a server.",
        rich_help_panel=_PANEL,
    ),
]
LabelsBy = Annotated[
    str | None,
    typer.Option(
        "--label-by",
        metavar="HOW",
        help="What labels steps: embedded (the default), model, uncertain (the model, where the classifiers are not sure), or off.",
        rich_help_panel=_PANEL,
    ),
]
LearnsBy = Annotated[
    str | None,
    typer.Option(
        "--mode",
        metavar="HOW",
        help="What extracts items from stored messages: auto (the default: single_call with --model, else embedded), embedded "
        "(no calls), single_call (a model, one call a batch), agents (a model, a call for each manager), or off.",
        rich_help_panel=_PANEL,
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document.", rich_help_panel=_PANEL)]
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.", rich_help_panel=_PANEL)]
_BY_MODEL = ("model", "uncertain", "single_call", "agents")
_COMMON: dict[str, Any] = {
    "home": Home,
    "embedder": EmbedderName,
    "model": ModelName,
    "label_by": LabelsBy,
    "mode": LearnsBy,
    "as_json": AsJson,
    "debug": Debug,
}


def refuse_empty(ctx: typer.Context) -> None:
    """Refuse an empty value of an option that may be left out: often an unset variable of the shell.

    Raises:
        InvalidInputError: naming the option.
    """
    for one in ctx.command.params:
        if one.param_type_name != "option" or one.required or one.default is not None:
            continue
        value = ctx.params.get(str(one.name))
        if isinstance(value, str) and not value.strip():
            raise InvalidInputError(f"{one.opts[0]} {value!r} is empty: give it a value, or leave it out")


@dataclass(slots=True)
class Session:
    """The options that work everywhere, given before or after the command's name, and what they open."""

    home: Path | None = None
    embedder: str | None = None
    model: str | None = None
    label_by: str | None = None
    mode: str | None = None
    as_json: bool = False
    debug: bool = False
    weights: str | None = None  # of the learned ranking; no option that works everywhere

    def take(self, **options: Any) -> None:
        """Take what was given; what was not given leaves what stood before the command's name."""
        for name, value in options.items():
            if value:
                setattr(self, name, value)

    @property
    def folder(self) -> Path:
        """The home, ``~`` expanded."""
        return Path(self.home if self.home is not None else DEFAULT_HOME).expanduser()

    @property
    def embedder_spec(self) -> str:
        """The embedder asked for, else the one the home was indexed with, else the bundled one."""
        return self.embedder or _embedder_of(self.folder) or "bundled"

    @property
    def settings(self) -> Settings:
        """The settings of a command. Nothing in the background: a process that ends at once does its work or leaves it.

        Raises:
            ConfigError: for a ``--label-by`` or ``--mode`` that there is not, or that needs a ``--model``.
        """
        from hexamem.config import IngestMode, LabelTier, Settings

        for option, how, known in (("--label-by", self.label_by, LabelTier), ("--mode", self.mode, IngestMode)):
            if how is not None and how not in get_args(known):
                raise ConfigError(f"{option} {how!r}: use one of {', '.join(get_args(known))}")
            if how in _BY_MODEL and self.model is None:
                raise ConfigError(f"{option} {how} needs a model: give --model, such as openai:gpt-5-mini, or embedded")
        return Settings(
            background=False,
            labels=self.label_by or "embedded",  # type: ignore[arg-type]
            mode=self.mode or "auto",  # type: ignore[arg-type]
            weights=self.weights,
        )

    @contextmanager
    def memory(self, *, create: bool = True, at_once: bool = False) -> Iterator[Memory]:
        """The home's memory, open. What had to be repaired is said on stderr.

        Args:
            create: whether a home that is not there is made; a command that only reads refuses it instead.
            at_once: whether it is said at the start that it was made, and not at the end: a conversation may last for hours.
        """
        if self.folder.exists() and not self.folder.is_dir():
            raise HomeNotWritableError(f"--home {self.folder} is a file, not a folder: name the folder of a memory")
        new = not (self.folder / "ledger.sqlite3").exists()
        if new and not create:
            raise NotFoundError(
                f"there is no memory at {self.folder}: store something there first (hexamem ingest FILE --user U), "
                "or give another folder with --home"
            )
        from hexamem.memory import Memory

        made = f"note: there was no memory at {self.folder} yet; this made one"
        with Memory.open(self.folder, embedder=self.embedder_spec, model=self.model, settings=self.settings) as memory:
            if new and at_once:
                output.note(made)
            try:
                yield memory
                if memory.model_tier.refining is not None:  # no later process need know of the model
                    memory.flush()
            finally:
                for line in memory.notices:
                    output.note(f"note: {line}")
        if new and not at_once:  # a command that failed says only what went wrong
            output.note(made)

    @contextmanager
    def scratch(self) -> Iterator[Memory]:
        """A memory in a folder that is thrown away; with ``--home`` the one there, which is kept."""
        if self.home is not None:
            with self.memory() as memory:
                yield memory
            return
        with self.thrown_away() as memory:
            yield memory

    @contextmanager
    def thrown_away(self) -> Iterator[Memory]:
        """A memory in a folder that is thrown away."""
        from hexamem.memory import Memory

        with (
            tempfile.TemporaryDirectory(prefix="hexamem-") as folder,
            Memory.open(
                folder,
                embedder=self.embedder or "bundled",
                model=self.model,
                settings=self.settings,
            ) as memory,
        ):
            yield memory

    @contextmanager
    def user(
        self, name: str, timezone: str | None = None, *, create: bool = True, at_once: bool = False
    ) -> Iterator[UserMemory]:
        """One user's memory, open; see :meth:`memory`."""
        with self.memory(create=create, at_once=at_once) as memory:
            yield memory.user(name, timezone=timezone)

    @contextmanager
    def reader(self, name: str, timezone: str | None = None) -> Iterator[UserMemory]:
        """One user's memory, open, for a command that only reads: says on stderr when nobody has that name."""
        with self.user(name, timezone, create=False) as user:
            if (unknown := self._unknown(user)) is not None:
                output.note(f"note: {unknown}")
            yield user

    @contextmanager
    def known(self, name: str, timezone: str | None = None) -> Iterator[UserMemory]:
        """One user's memory, open, for a command that changes what is there already.

        Raises:
            NotFoundError: if there is no memory, or nobody of that name has stored anything; who has is told.
        """
        with self.user(name, timezone, create=False) as user:
            if (unknown := self._unknown(user)) is not None:
                raise NotFoundError(unknown)
            yield user

    def _unknown(self, user: UserMemory) -> str | None:
        """What to say of a user who has stored nothing; None for one who has."""
        known = user.memory.users()
        if user.name in known:
            return None
        named = ", ".join(repr(one) for one in known[:5]) + (", …" if len(known) > 5 else "")
        return f"no user {user.name!r} has stored anything at {self.folder} (users: {named or 'none'})"


def zone_of(user: UserMemory) -> tzinfo:
    """The zone in which a user's times are shown."""
    from hexamem.memory_types.times import read_zone

    return read_zone(user.timezone)


def shared(function: Callable[..., Any], *, without: tuple[str, ...] = ()) -> Callable[..., Any]:
    """The command as typer reads it: ``function``'s own options, then those that work everywhere.

    Args:
        function: its first parameter receives the :class:`Session`. One whose type is a dataclass receives an instance,
            and each field of it is an option.
        without: shared options that the command does not take, or states itself.
    """
    hints = get_type_hints(function, include_extras=True)
    own = list(inspect.signature(function).parameters.values())[1:]
    common = {name: hint for name, hint in _COMMON.items() if name not in without}
    groups = {one.name: hints[one.name] for one in own if is_dataclass(hints[one.name])}

    def command(ctx: typer.Context, **values: Any) -> Any:
        session: Session = ctx.obj
        refuse_empty(ctx)
        session.take(**{name: values.pop(name) for name in common})
        for name, group in groups.items():
            values[name] = group(**{one.name: values.pop(one.name) for one in fields(group)})
        return function(session, **values)

    keyword = inspect.Parameter.KEYWORD_ONLY
    parameters = [inspect.Parameter("ctx", keyword, annotation=typer.Context)]
    for one in own:
        if one.name in groups:
            parameters += _options_of(groups[one.name])
        else:
            parameters.append(one.replace(kind=keyword, annotation=hints[one.name]))
    parameters += [
        inspect.Parameter(name, keyword, annotation=hint, default=False if name in ("as_json", "debug") else None)
        for name, hint in common.items()
    ]
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {one.name: one.annotation for one in parameters}
    paragraphs = inspect.cleandoc(function.__doc__ or "").split("\n\n")
    command.__doc__ = "\n\n".join(
        " ".join(one.split()) for one in paragraphs
    )  # as wide as the terminal, not as the code
    command.__name__ = function.__name__
    return command


def _options_of(group: type[Any]) -> list[inspect.Parameter]:
    hints = get_type_hints(group, include_extras=True)
    return [
        inspect.Parameter(one.name, inspect.Parameter.KEYWORD_ONLY, default=one.default, annotation=hints[one.name])
        for one in fields(group)
    ]


def _embedder_of(home: Path) -> str | None:
    """The spec of the embedder that a home was indexed with; None where there is none, or none that a word opens."""
    ledger = home / "ledger.sqlite3"
    if not ledger.exists():
        return None
    try:
        with closing(sqlite3.connect(f"{ledger.resolve().as_uri()}?mode=ro", uri=True)) as connection:
            row = connection.execute("SELECT value FROM meta WHERE key = 'embedder_name'").fetchone()
    except sqlite3.Error:  # damaged or of another kind: opening it says so in full
        return None
    name = str(row[0]) if row else ""
    return name if name.split(":", 1)[0] in ("bundled", "static", "minilm", "openai") else None
