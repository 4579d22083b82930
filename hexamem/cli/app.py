"""The table of all commands, and the handling of their errors.

Exit codes: 0 done; 1 an unexpected error, or something found wrong; 2 bad input (usage, missing files, every
:class:`~hexamem.errors.HexamemError`), with one line on stderr; 130 Ctrl-C; 141 the reader of stdout went away.
Nothing heavy is imported until a command runs.
"""

from __future__ import annotations

import logging
import os
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from hexamem.cli import (
    chat,
    demo,
    evaluation,
    experience,
    labels,
    operations,
    output,
    privacy,
    reading,
    writing,
)
from hexamem.cli.examples import epilog
from hexamem.cli.session import Session, shared
from hexamem.errors import HexamemError

NAME = "hexamem"
FAILED, BAD_INPUT, INTERRUPTED, PIPE_CLOSED = 1, 2, 130, 141
_HELP: dict[str, Any] = {"help_option_names": ["-h", "--help"]}
_UNREADABLE = (FileNotFoundError, IsADirectoryError, NotADirectoryError, PermissionError, UnicodeDecodeError)

Command = Callable[..., Any]
_PANELS: Mapping[str, Mapping[str, Command | Mapping[str, Command]]] = {
    "Start": {"demo": demo.demo, "ingest": writing.ingest, "chat": chat.chat},
    "Read": {
        "recall": reading.recall,
        "ask": reading.ask,
        "items": reading.items,
        "show": reading.show,
        "steps": reading.steps,
        "pages": {
            "list": reading.list_pages,
            "show": reading.show_page,
            "search": reading.search_pages,
            "light": reading.light_memory,
        },
        "users": reading.users,
        "history": reading.history,
    },
    "Change": {
        "add": writing.add,
        "edit": writing.edit,
        "remove": writing.remove,
        "forget": writing.forget,
        "undo": writing.undo,
        "feedback": writing.feedback,
        "labels": {
            "list": labels.list_labels,
            "show": labels.show,
            "rename": labels.rename,
            "merge": labels.merge,
            "split": labels.split,
            "move": labels.move,
            "pin": labels.pin,
        },
        "experience": {
            "list": experience.list_experience,
            "show": experience.show,
            "retire": experience.retire,
            "promote": experience.promote,
            "stats": experience.stats,
        },
    },
    "Keep private": {"redact": privacy.redact, "reveal": privacy.reveal, "erase": privacy.erase},
    "Move": {"export": operations.export, "import": operations.import_},
    "Look after": {
        "doctor": operations.doctor,
        "jobs": {"list": operations.list_jobs, "retry": operations.retry_job, "drop": operations.drop_job},
        "flush": operations.flush,
        "reindex": operations.reindex,
        "reembed": operations.reembed,
        "eval": {
            "locomo": evaluation.questions_of("locomo"),
            "came": evaluation.questions_of("came"),
            "longmemeval": evaluation.questions_of("longmemeval"),
            "hotpotqa": evaluation.hotpotqa,
            "synthetic": evaluation.synthetic,
            "ruler": evaluation.ruler,
            "writepath": evaluation.writepath,
            "study": evaluation.study,
        },
        "train": evaluation.train,
    },
}
_OWN_OUTPUT = dict.fromkeys(("chat", "eval"), ("as_json",))  # they take no --json, or one of their own
_GROUPS = {
    "pages": "Show the pages of a user's conversations, and the memory of them in a few lines.",
    "labels": "Show the labels of a user's steps, and correct them by hand. Each correction is an operation; "
    "`hexamem undo OPERATION` reverses it.",
    "experience": "Show what a user's agents learned from their runs, retire it, or promote it to every environment.",
    "eval": "Measure a memory on a data set, in an empty temporary memory; with --home in that folder, which is not deleted.",
    "jobs": "Show queued work that is not done, run it again, or drop it.",
}
COMMANDS: Mapping[str, Mapping[str, Command | Mapping[str, Command]]] = {
    panel: {
        name: {inner: shared(each, without=_OWN_OUTPUT.get(name, ())) for inner, each in command.items()}
        if isinstance(command, Mapping)
        else shared(command, without=_OWN_OUTPUT.get(name, ()))
        for name, command in commands.items()
    }
    for panel, commands in _PANELS.items()
}
"""Every command, or group of commands, by its panel in ``hexamem --help``."""


class _Listing(TyperGroup):
    """A group of commands that runs ``list`` if options follow its name: ``hexamem pages --user ann``."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if not args:
            ctx.fail(f"Which of its commands? There are {', '.join(self.commands)}")
        if "list" in self.commands and args[0].startswith("-") and args[0] not in ("-h", "--help"):
            args = ["list", *args]
        return super().parse_args(ctx, args)


def _show_version(wanted: bool) -> None:
    if wanted:
        from hexamem import __version__

        output.write_text(f"{NAME} {__version__}")
        raise typer.Exit()


def _root(
    session: Session,
    *,
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", is_eager=True, callback=_show_version)
    ] = False,
) -> None:
    """Hexamem: a memory that lasts. Begin with [bold]hexamem demo[/bold]."""


def _build() -> typer.Typer:
    built = typer.Typer(
        name=NAME,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode="rich",
        context_settings=_HELP,
    )
    built.callback()(shared(_root))
    for panel, commands in COMMANDS.items():
        for name, command in commands.items():
            if not isinstance(command, Mapping):
                built.command(name, rich_help_panel=panel, epilog=epilog(name))(command)
                continue
            group = typer.Typer(help=_GROUPS[name], cls=_Listing, context_settings=_HELP)
            for inner, inner_command in command.items():
                group.command(inner, epilog=epilog(f"{name} {inner}"))(inner_command)
            built.add_typer(group, name=name, rich_help_panel=panel)
    return built


app = _build()
_COMMAND = typer.main.get_command(app)


def run(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code and never raises."""
    output.prepare_streams()
    logger = logging.getLogger("hexamem")
    if not logger.handlers:
        logger.addHandler(logging.NullHandler())  # the same lines are in Memory.notices, which is printed
    words = list(sys.argv[1:] if arguments is None else arguments) or ["--help"]
    return _execute(words, Session(execute=_execute))


def _execute(words: Sequence[str], session: Session, user: str | None = None) -> int:
    """Run a command in a session; ``user`` is the value of ``--user`` where it is not given."""
    defaults = None if user is None else _with_user(_COMMAND, user)
    try:
        code = _COMMAND.main(list(words), prog_name=NAME, standalone_mode=False, obj=session, default_map=defaults)
        return _interrupted() if code == INTERRUPTED else code if isinstance(code, int) else 0
    except output.PipeClosed:
        return _reader_gone()
    except (KeyboardInterrupt, typer.Abort):
        return _interrupted()
    except (HexamemError, *_UNREADABLE) as error:
        place = getattr(error, "filename", None)
        return _refused(f"{place}: {error.strerror}" if place and isinstance(error, OSError) else str(error), session)
    except Exception as error:  # noqa: BLE001 - the outer edge of the program
        if hasattr(error, "format_message"):  # what typer raises for wrong usage, under whichever name
            return _refused(_usage(error, words), session)
        return _unexpected(error, session)


def _with_user(command: Any, user: str) -> dict[str, Any]:
    """Default values of the options of all commands below one."""
    below: Mapping[str, Any] = getattr(command, "commands", {})
    return {name: _with_user(inner, user) for name, inner in below.items()} or {"user": user}


def _usage(error: Any, arguments: Sequence[str]) -> str:
    """The message of a usage error: the value, the option, the rule, and which help to read."""
    context = getattr(error, "ctx", None)
    message = " ".join(error.format_message().split()).rstrip(".")
    if hasattr(error.__cause__, "errors"):  # typer checks values by pydantic, and leaves out which one it was
        message = message.replace(": Value error, ", ": ")
        given = repr(error.__cause__.errors(include_url=False)[0]["input"])
        if given not in message:
            place, _, rule = message.partition(": ")
            message = f"{place}: {given}: {rule[:1].lower()}{rule[1:]}"
    return f"{message} (see `{context.command_path if context else _path(arguments)} --help`)"


def _path(arguments: Sequence[str]) -> str:
    """The path of the command in the arguments, for errors that do not name it."""
    path = [NAME]
    command: Any = _COMMAND
    for word in arguments:
        if word in getattr(command, "commands", {}):
            path, command = [*path, word], command.commands[word]
    return " ".join(path)


def _refused(message: str, session: Session) -> int:
    if session.debug:
        traceback.print_exc()
    output.note(message)
    return BAD_INPUT


def _unexpected(error: Exception, session: Session) -> int:
    if hasattr(error, "hide_parameters"):  # SQLAlchemy repeats a statement's values, which may be private
        error.hide_parameters = True
    if session.debug:
        traceback.print_exception(error)
    first = next(iter(str(error).splitlines()), "")[:300]
    hint = "" if session.debug else "; run it again with --debug to see where"
    output.note(f"unexpected error: {type(error).__name__}: {first}{hint}")
    return FAILED


def _interrupted() -> int:
    output.note("interrupted; what was acknowledged is stored")
    return INTERRUPTED


def _reader_gone() -> int:
    # Python flushes stdout at exit: redirect it, so that this cannot fail.
    devnull = os.open(os.devnull, os.O_WRONLY)
    os.dup2(devnull, sys.stdout.fileno())
    os.close(devnull)
    return PIPE_CLOSED
