"""What reaches the terminal: the result on stdout, everything else on stderr, control characters made harmless.

Stored text comes from strangers, so it is never read as markup, and escape sequences in it are shown, not obeyed.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, tzinfo
from typing import TYPE_CHECKING, Any, NoReturn

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.text import Text

from hexamem.errors import HomeNotWritableError

if TYPE_CHECKING:
    from rich.progress import Progress

    from hexamem.memory_types import Hit, LabeledSnippet, MemoryItem, Step

__all__ = [
    "PipeClosed",
    "body",
    "clean",
    "counted",
    "cut",
    "dumped",
    "errors",
    "head",
    "hit_block",
    "item_block",
    "item_time",
    "labels_block",
    "note",
    "one_line",
    "prepare_streams",
    "progress_bar",
    "result",
    "save_json",
    "shown_time",
    "stages",
    "step_block",
    "write",
    "write_json",
    "write_text",
]

PIPED_WIDTH = 100
ONE_LINE = 110
LONGEST = 2_000
"""Characters of one record that a list shows; `show` and --json give it whole."""
_VISIBLE = {code: 0x2400 + code for code in range(32) if chr(code) not in "\n\t"} | {0x7F: 0x2421}
_VISIBLE |= dict.fromkeys(range(128, 160), 65533)


class PipeClosed(Exception):
    """The reader of stdout went away: not an error, it has seen enough."""


class _Console(Console):
    def on_broken_pipe(self) -> NoReturn:
        raise PipeClosed


def prepare_streams() -> None:
    """Make both streams take any text: what their encoding lacks is written as an escape instead of failing."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # started with the stream closed
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 - lives as long as the process
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def result() -> Console:
    """The console of stdout, as wide as the terminal; 100 columns when piped, unless COLUMNS says otherwise."""
    return _console(sys.stdout)


def errors() -> Console:
    """The console of stderr."""
    return _console(sys.stderr)


def _console(stream: Any) -> Console:
    fixed = None if stream.isatty() or "COLUMNS" in os.environ else PIPED_WIDTH
    return _Console(file=stream, width=fixed, highlight=False, markup=False, emoji=False)


def note(line: str) -> None:
    """One line on stderr."""
    errors().print(Text(f"hexamem: {clean(' '.join(line.split()))}"), soft_wrap=True)


def write(*blocks: RenderableType) -> None:
    """Rich renderables to stdout; without trailing blanks where they go to a pipe or file."""
    console = result()
    if not console.is_terminal:
        with console.capture() as captured:
            for block in blocks:
                console.print(block)
        return write_text("\n".join(line.rstrip() for line in captured.get().splitlines()))
    for block in blocks:
        console.print(block)
    return _flush()


def write_text(text: str) -> None:
    """Text to stdout as it is, with one line end: for results that are used further, such as a revealed secret."""
    try:
        sys.stdout.write(text if text.endswith("\n") else text + "\n")
    except BrokenPipeError:
        raise PipeClosed from None
    _flush()


def write_json(value: Any) -> None:
    """One JSON document to stdout."""
    unicode = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    write_text(json.dumps(dumped(value), indent=2, ensure_ascii=not unicode, allow_nan=False))


def save_json(results: Sequence[Mapping[str, Any]] | Mapping[str, Any], out: str) -> None:
    """Write what was measured to the file that ``--json OUT`` names.

    Raises:
        HomeNotWritableError: the file cannot be written.
    """
    from hexamem.evals import write_json as write_file

    try:
        write_file(results, out)
    except OSError as error:
        raise HomeNotWritableError(f"--json {out} cannot be written ({error.strerror})") from None


def _flush() -> None:
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        raise PipeClosed from None


def dumped(value: Any) -> Any:
    """Records, and what holds them, as JSON values."""
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json")
    if isinstance(value, Mapping):
        return {str(key): dumped(part) for key, part in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [dumped(part) for part in value]
    return value


@contextmanager
def progress_bar(what: str, total: int | None = None) -> Iterator[tuple[Progress, Any]]:
    """A progress bar on stderr, gone when it is through; nothing where stderr is no terminal."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    console = errors()
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        yield progress, progress.add_task(what, total=total)


@contextmanager
def stages(first: str) -> Iterator[Callable[[str, int, int], None]]:
    """A progress bar for work in stages: what is yielded is told the stage, how far it has come, and of how much."""
    with progress_bar(first) as (progress, task):

        def advance(stage: str, done: int, total: int) -> None:
            progress.update(task, description=stage, completed=done, total=total)

        yield advance


def clean(text: str) -> str:
    """The text with control characters made visible (an escape as ␛), line breaks and tabs kept."""
    return text.replace("\r\n", "\n").translate(_VISIBLE)


def counted(number: int, what: str) -> str:
    """``1 step``, ``2,000 steps``."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def cut(text: str, longest: int = LONGEST) -> str:
    """The text, or its beginning with the number of characters that the whole has."""
    return text if len(text) <= longest else f"{text[:longest].rstrip()} … ({len(text):,} characters)"


def one_line(text: str) -> str:
    """The text on one line, of at most :data:`ONE_LINE` characters."""
    line = " ".join(text.split())
    return line if len(line) <= ONE_LINE else f"{line[: ONE_LINE - 1]}…"


def shown_time(moment: datetime | None, zone: tzinfo = UTC) -> str:
    """``2025-03-04 20:12 UTC``, in another zone with its offset, ``2025-07-04 21:12 +01:00``; a dash where there is none."""
    if moment is None:
        return "–"
    from hexamem.memory_types.local_time import in_zone

    there = in_zone(moment, zone)
    told = f"{there:%Y-%m-%d %H:%M}"
    if zone is UTC or str(zone) in ("UTC", "Etc/UTC"):
        return f"{told} UTC"
    offset = f"{there:%z}"
    return f"{told} {offset[:3]}:{offset[3:5]}"


def item_time(item: MemoryItem, zone: tzinfo = UTC) -> str:
    """When it happened, else from when to when it holds, else when it was stored, and that it is that."""
    happened: datetime | None = getattr(item, "occurred_at", None)
    if happened is not None:
        return shown_time(happened, zone)
    begins, ends = (shown_time(one, zone) if one else "" for one in (item.valid_from, item.valid_to))
    if begins and ends:
        return f"{begins} to {ends}"
    return f"from {begins}" if begins else f"until {ends}" if ends else f"stored {shown_time(item.created_at, zone)}"


def head(*parts: tuple[str, str] | None) -> Text:
    """The first line of a record: its parts, each with its style; an empty one is left out."""
    return Text("  ").join(Text(clean(part[0]), style=part[1]) for part in parts if part and part[0])


def body(text: str, style: str = "") -> Padding:
    """Text set in below the first line of a record."""
    return Padding(Text(clean(text), style=style, overflow="fold"), (0, 0, 0, 4))


def hit_block(
    number: int, hit: Hit, *, why: bool = False, zone: tzinfo = UTC, item: MemoryItem | None = None, then: bool = False
) -> list[RenderableType]:
    """One hit of a recall; of an ``item`` its times are told as such, where it has any, or was said nowhere.

    ``then`` is as in :func:`item_block`.
    """
    said = item is None or (hit.sources and item.valid_from is None and item.valid_to is None)
    first = head(
        (f"{number:>2}", "bold"),
        (hit.kind, "cyan"),
        (shown_time(hit.occurred_at, zone) if said or item is None else item_time(item, zone), "green"),
        (hit.speaker or "", "magenta"),
        (f"[{hit.thread_id}]" if hit.thread_id else "", "dim"),
        ("superseded", "yellow") if hit.superseded and not then else None,
        (hit.id, "dim"),
    )
    reasons = [body(f"why: {hit.explain()}", "dim"), *_labels_line(hit)] if why else []
    return [first, body(cut(hit.text)), *reasons, Text("")]


def _labels_line(hit: Hit) -> list[Padding]:
    """A step's labels, in one line."""
    if hit.scope is None:
        return []
    named = [f"scope: {hit.scope}", f"events: {', '.join(hit.events)}", f"entities: {', '.join(hit.entities)}"]
    return [body(" · ".join(one for one in named if not one.endswith(": ")), "dim")]


def step_block(step: Step, *, zone: tzinfo = UTC, full: bool = False) -> list[RenderableType]:
    """One step of a thread; a very long one is cut unless ``full``."""
    first = head(
        (f"{step.turn:>3}", "bold"),
        (shown_time(step.occurred_at, zone), "green"),
        (step.speaker, "magenta"),
        (f"[{step.thread_id}]", "dim"),
        (step.id, "dim"),
    )
    said = step.index_text or step.content
    return [first, body(said if full else cut(said))]


def labels_block(found: LabeledSnippet | None) -> list[RenderableType]:
    """A step's labels and its words put in full; None for a step that has none."""
    if found is None:
        return [body("no labels", "dim")]
    sure = f"labelled by {_LABELLED_BY[found.tier]}"
    if found.tier != "user":
        sure += f", confidence {found.confidence:.2f}"
    lines = {
        "reads as": found.resolved_text if found.resolved_text != (found.step.index_text or found.step.content) else "",
        "taken from": ", ".join(found.antecedents),
        "summary": found.summary,
        "scope": found.scope,
        "events": ", ".join(found.events),
        "entities": ", ".join(found.entities),
    }
    told = [f"{name}: {value}" for name, value in lines.items() if value]
    return [body("\n".join([*told, sure + (", provisional" if found.provisional else "")]), "dim")]


_LABELLED_BY = {"embedded": "the encoder", "model": "a model", "user": "a person"}


def item_block(item: MemoryItem, *, full: bool = False, zone: tzinfo = UTC, then: bool = False) -> list[RenderableType]:
    """One item: what its kind says, by field, and where it comes from; with ``full`` every field that says something.

    Where it is told for a time at which it was true (``then``), that it is superseded now is not: only when it ended.
    """
    first = head(
        (item.id, "bold"),
        (item.kind, "cyan"),
        (item_time(item, zone), "green"),
        ("" if item.status == "active" or then else item.status, "yellow"),
        (" ".join(f"#{label}" for label in item.labels), "magenta"),
    )
    own = item.payload
    if not full:
        own = {name: own[name] for name in item.searched_fields} or own
    lines = _fields(own)
    if full:
        about = item.model_dump(mode="json", exclude={"id", "kind", "sources", *own})
        lines += _fields(about)
    lines += [f"from {one.step_id}{f': {one.quote!r}' if one.quote and full else ''}" for one in item.sources]
    return [first, body("\n".join(lines if full else map(cut, lines)))]


def _fields(values: Mapping[str, Any]) -> list[str]:
    """``name: value``, a line each; of a list one line an entry; what says nothing is left out."""
    lines: list[str] = []
    for name, value in values.items():
        if value in (None, "", [], {}):
            continue
        if isinstance(value, list) and all(isinstance(one, str) for one in value):
            lines += [f"{name}: {value[0]}"] if len(value) == 1 else [f"{name}:", *(f"  - {one}" for one in value)]
        else:
            lines.append(f"{name}: {value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}")
    return lines
