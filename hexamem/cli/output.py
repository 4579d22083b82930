"""Output of the commands: the result on stdout, everything else on stderr, control characters made visible.

One table (:func:`table`), one record (:func:`record`) and one JSON writer (:func:`write_json`) for all commands. Stored
text is untrusted: it is never interpreted as markup, and escape sequences in it are made visible.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from hexamem.errors import HomeNotWritableError

if TYPE_CHECKING:
    from hexamem.memory_types import Hit, LabeledSnippet, MemoryItem, Operation, Page, Step

PIPED_WIDTH = 100
ONE_LINE = 110
LONGEST = 2_000
"""Characters of one record that a list shows; `show` and --json give it whole."""
_LONGEST_CHANGE = 600  # characters of a changed value
_VISIBLE = {code: 0x2400 + code for code in range(32) if chr(code) not in "\n\t"} | {0x7F: 0x2421}
_VISIBLE |= dict.fromkeys(range(128, 160), 65533)


class PipeClosed(Exception):
    """The reader of stdout closed it, as ``head`` does: not an error."""


class _Console(Console):
    def on_broken_pipe(self) -> NoReturn:
        raise PipeClosed


def prepare_streams() -> None:
    """Make both streams accept any text: characters that their encoding lacks are written as escapes."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # started with the stream closed
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 - lives as long as the process
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def console(stream: Any = None) -> Console:
    """The console of a stream, stdout when None: as wide as the terminal; 100 columns when piped, or as COLUMNS says."""
    stream = stream or sys.stdout
    fixed = None if stream.isatty() or "COLUMNS" in os.environ else PIPED_WIDTH
    return _Console(file=stream, width=fixed, highlight=False, markup=False, emoji=False)


def note(line: str) -> None:
    """One line on stderr."""
    console(sys.stderr).print(Text(f"hexamem: {clean(' '.join(line.split()))}"), soft_wrap=True)


def write(*blocks: RenderableType) -> None:
    """Rich renderables to stdout; without trailing blanks if it is a pipe or file."""
    stdout = console()
    if stdout.is_terminal:
        stdout.print(*blocks, sep="\n")
        return _flush()
    with stdout.capture() as captured:
        stdout.print(*blocks, sep="\n")
    return write_text("\n".join(line.rstrip() for line in captured.get().splitlines()))


def write_text(text: str) -> None:
    """Text to stdout unchanged, ending in a line break: for results that other programs read, such as a revealed secret."""
    try:
        sys.stdout.write(text if text.endswith("\n") else text + "\n")
    except BrokenPipeError:
        raise PipeClosed from None
    _flush()


def write_json(value: Any) -> None:
    """One JSON document to stdout."""
    unicode = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    write_text(json.dumps(dumped(value), indent=2, ensure_ascii=not unicode, allow_nan=False))


def save_json(value: Any, out: str | None) -> None:
    """Write a measurement to the file that ``--json OUT`` names, to stdout where it is ``-``, nowhere when None."""
    if out == "-":
        write_json(value)
    elif out is not None:
        from hexamem.evals import write_json as write_results

        write_file("--json", Path(out), lambda path: write_results(value, path))


def write_file(option: str, path: Path, writing: Callable[[Path], object]) -> None:
    """Write a file that an option names."""
    try:
        writing(path)
    except OSError as error:
        raise HomeNotWritableError(
            f"{option} {path} cannot be written ({error.strerror or error}): give another place"
        ) from None


def _flush() -> None:
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        raise PipeClosed from None


def dumped(value: Any) -> Any:
    """Records, and what holds them, as JSON values."""
    from pydantic_core import to_jsonable_python

    return to_jsonable_python(value)


@contextmanager
def stages(first: str, total: int | None = None) -> Iterator[Callable[[str, int, int | None], None]]:
    """A progress bar on stderr, removed at the end; nothing if stderr is not a terminal. Yields a function of the stage,
    the count done and the count of all."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    stderr = console(sys.stderr)
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=stderr, transient=True, disable=not stderr.is_terminal) as progress:
        task = progress.add_task(first, total=total)
        yield lambda stage, done, total: progress.update(task, description=stage, completed=done, total=total)


@contextmanager
def progress_bar(what: str, total: int | None = None) -> Iterator[Callable[[int], None]]:
    """The same for one stage; yields a function to call with the number of things done since the last call."""
    done = 0
    with stages(what, total) as show:

        def advance(count: int) -> None:
            nonlocal done
            done += count
            show(what, done, total)

        yield advance


def clean(text: str) -> str:
    """The text with control characters made visible (an escape as ␛), line breaks and tabs as they are."""
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
    """``2025-03-04 20:12 UTC``, in another zone with its offset, ``2025-07-04 21:12 +01:00``; a dash for None."""
    if moment is None:
        return "–"
    from hexamem.memory_types.local_time import in_zone

    local = in_zone(moment, zone)
    if zone is UTC or str(zone) in ("UTC", "Etc/UTC"):
        return f"{local:%Y-%m-%d %H:%M} UTC"
    offset = f"{local:%z}"
    return f"{local:%Y-%m-%d %H:%M} {offset[:3]}:{offset[3:5]}"


def table(headings: Sequence[str], rows: Iterable[Sequence[Any]], title: str = "", *, keep: str = "") -> Table:
    """A table without lines; a column of numbers is flush right."""
    cells = [list(row) for row in rows]
    built = Table(
        box=None,
        padding=(0, 2, 0, 0),
        show_header=any(headings),
        title=Text(clean(title)) if title else None,
        title_justify="left",
    )
    for number, heading in enumerate(headings):
        column = [row[number] for row in cells]
        numbers = bool(column) and all(isinstance(cell, int | float | None) for cell in column)
        built.add_column(
            Text(clean(heading)),
            justify="right" if numbers else "left",
            overflow="fold",
            no_wrap=numbers or (bool(keep) and heading == keep),
        )
    for row in cells:
        built.add_row(*map(_cell, row))
    return built


def _cell(value: Any) -> Text:
    if isinstance(value, Text):
        return value
    if isinstance(value, int | float):
        return Text(f"{value:.3f}" if isinstance(value, float) else f"{value:,}")
    return Text("–" if value is None else clean(value))


_STYLES = {"title": "bold", "number": "bold", "kind": "cyan", "at": "green", "who": "magenta", "note": "yellow"}


def head(**parts: str | None) -> list[tuple[str, str]]:
    """The first line of a :func:`record`: its parts in order, each in the style of its name, dim for any other."""
    return [(text or "", _STYLES.get(name, "dim")) for name, text in parts.items()]


def record(head: Iterable[tuple[str, str]], *lines: str | tuple[str, str]) -> Group:
    """A record: a first line of parts with their styles, then lines set in below it, each text or (text, style)."""
    first = Text("  ").join(Text(clean(text), style=style) for text, style in head if text)
    texts = ((line, "") if isinstance(line, str) else line for line in lines)
    return Group(first, *(body(text, style) for text, style in texts if text))


def body(text: str, style: str = "") -> Padding:
    """Text set in below the first line of a record."""
    return Padding(Text(clean(text), style=style, overflow="fold"), (0, 0, 0, 4))


def hit_record(number: int, hit: Hit, *, zone: tzinfo, why: bool = False, past: bool = False) -> Group:
    """One hit of a recall."""
    labels = {"scope": hit.scope, "events": ", ".join(hit.events), "entities": ", ".join(hit.entities)}
    at, thread = shown_time(hit.occurred_at, zone), f"[{hit.thread_id}]" if hit.thread_id else ""
    note = "superseded" if hit.superseded and not past else ""
    shown = record(
        head(number=f"{number:>2}", kind=hit.kind, at=at, who=hit.speaker, thread=thread, note=note, id=hit.id),
        cut(hit.text),
        (f"why: {hit.explain()}" if why else "", "dim"),
        (" · ".join(f"{name}: {value}" for name, value in labels.items() if value) if why else "", "dim"),
    )
    return Group(shown, Text(""))


def step_record(step: Step, *, zone: tzinfo, full: bool = False) -> Group:
    """One step of a thread; a very long one is cut unless ``full``."""
    content = step.index_text or step.content
    at, thread = shown_time(step.occurred_at, zone), f"[{step.thread_id}]"
    first = head(number=f"{step.turn:>3}", at=at, who=step.speaker, thread=thread, id=step.id)
    return record(first, content if full else cut(content))


def label_lines(labelled: LabeledSnippet | None) -> Padding:
    """The labels of a step, its resolved text, and who labelled it."""
    if labelled is None:
        return body("no labels", "dim")
    labeler = {"embedded": "the encoder", "model": "a model", "user": "a person"}[labelled.tier]
    fields = {
        "reads as": labelled.resolved_text,
        "taken from": ", ".join(labelled.antecedents),
        "summary": labelled.summary,
        "scope": labelled.scope,
        "events": ", ".join(labelled.events),
        "entities": ", ".join(labelled.entities),
        "labelled": f"by {labeler}, confidence {labelled.confidence:.2f}",
    }
    return body("\n".join(_fields(fields)), "dim")


def item_record(item: MemoryItem, *, zone: tzinfo, full: bool = False, past: bool = False) -> Group:
    """One item: the fields of its kind and its sources; with ``full`` every field that is set."""
    payload = item.payload
    if full:
        lines = _fields({**payload, **item.model_dump(mode="json", exclude={"id", "kind", "sources", *payload})})
    else:
        lines = [cut(line) for line in _fields({name: payload[name] for name in item.searched_fields} or payload)]
    lines += [
        f"from {source.step_id}{f': {source.quote!r}' if source.quote and full else ''}" for source in item.sources
    ]
    status = "" if item.status == "active" or past else item.status
    labels = " ".join(f"#{label}" for label in item.labels)
    return record(
        head(title=item.id, kind=item.kind, at=_item_time(item, zone), note=status, who=labels), "\n".join(lines)
    )


def _item_time(item: MemoryItem, zone: tzinfo) -> str:
    """When it happened, else from when to when it is valid, else when it was stored."""
    happened: datetime | None = getattr(item, "occurred_at", None)
    if happened is not None:
        return shown_time(happened, zone)
    begins, ends = (shown_time(moment, zone) if moment else "" for moment in (item.valid_from, item.valid_to))
    if begins and ends:
        return f"{begins} to {ends}"
    return f"from {begins}" if begins else f"until {ends}" if ends else f"stored {shown_time(item.created_at, zone)}"


def _fields(values: Mapping[str, Any]) -> list[str]:
    """``name: value``, a line each; of a list one line an entry; empty values are left out."""
    lines: list[str] = []
    for name, value in values.items():
        if value in (None, "", [], {}):
            continue
        if isinstance(value, list) and len(value) > 1 and all(isinstance(entry, str) for entry in value):
            lines += [f"{name}:", *(f"  - {entry}" for entry in value)]
        elif isinstance(value, list) and isinstance(value[0], str):
            lines.append(f"{name}: {value[0]}")
        else:
            lines.append(f"{name}: {value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}")
    return lines


def page_record(page: Page, *, zone: tzinfo) -> Group:
    """One page: when, in which thread, its size, its header and its memo."""
    at, size, note = (
        shown_time(page.started_at, zone),
        counted(len(page.step_ids), "step"),
        "" if page.closed else "open",
    )
    first = head(title=page.id, at=at, thread=f"[{page.thread_id}]", kind=size, note=note)
    return record(first, (page.header, "dim"), page.memo or "")


def operation_records(
    operations: Sequence[Operation], *, zone: tzinfo, names: Mapping[str, str]
) -> Iterator[RenderableType]:
    """Operations, oldest first: who did what and when, and each record that it changed, field by field."""
    for operation in operations:
        at, actor = shown_time(operation.created_at, zone), f"by {operation.actor}"
        undone = f"undone by {operation.undone_by}" if operation.undone_by else ""
        note = "  ".join(filter(None, (undone, f"undoes {operation.undoes}" if operation.undoes else "")))
        yield record(
            head(title=operation.id, kind=operation.kind, at=at, who=actor, note=note),
            operation.reason,
            *(
                _change(change.target, change.target_id, change.before or {}, change.after or {}, names)
                for change in operation.changes
            ),
        )


def _change(target: str, target_id: str, before: Mapping[str, Any], after: Mapping[str, Any], names: Any) -> str:
    """The record, and ``field: before → after`` a line, or that it was added or removed."""
    if not before or not after:
        return f"{target} {target_id} {'added' if after else 'removed' if before else 'changed'}"
    lines = [f"{'labels of step' if target == 'intent' else target} {target_id}"]
    for name, new in after.items():
        if name != "version" and before.get(name) != new:
            was, now = (cut(_value(value, names), _LONGEST_CHANGE) for value in (before.get(name), new))
            lines.append(f"  {name}: {was} → {now}")
    return "\n".join(lines)


def _value(value: Any, names: Mapping[str, str]) -> str:
    """A field's value in one line, without brackets: ``kin, school``; ``page 3, mood calm``."""
    if value is None or value in ("", [], {}):
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_value(part, names)}" for key, part in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(_value(part, names) for part in value)
    text = " ".join(str(value).split())
    return names.get(text, text)
