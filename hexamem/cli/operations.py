"""Operations as the terminal shows them: what was done, by whom, and each record with what changed of it, by name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hexamem.cli import output
from hexamem.cli.session import zone_of

if TYPE_CHECKING:
    from rich.console import RenderableType

    from hexamem.memory_types import Change, Operation
    from hexamem.user import UserMemory

__all__ = ["operation_blocks"]

_TITLES = ("title", "name", "caption", "label", "summary", "value", "content")
_LONGEST = 60
_WHOLE = 600  # characters of a changed value
_State = Mapping[str, Any]
_INTENT = {"scope_id": "scope", "event_ids": "events", "entity_ids": "entities"}
_READS = {"resolved_text": "reads as", "summary": "summary", "tier": "labelled by"}


def operation_blocks(operations: Sequence[Operation], user: UserMemory) -> list[RenderableType]:
    """What ``history`` and each command that changes memory print of operations, oldest first.

    Args:
        user: whose they are; labels are told by the names that they have now. Must still be open.
    """
    from hexamem.labels import label_paths

    targets = {change.target for one in operations for change in one.changes}
    zone = zone_of(user)
    names = label_paths(user) if targets & {"label", "intent"} else {}
    blocks: list[RenderableType] = []
    for one in operations:
        blocks.append(
            output.head(
                (one.id, "bold"),
                (one.kind, "cyan"),
                (output.shown_time(one.created_at, zone), "green"),
                (f"by {one.actor}", "magenta"),
                (f"undone by {one.undone_by}" if one.undone_by else "", "yellow"),
                (f"undoes {one.undoes}" if one.undoes else "", "yellow"),
            )
        )
        lines = [one.reason] if one.reason else []
        lines += [_line(change, names) for change in one.changes]
        if lines:
            blocks.append(output.body("\n".join(lines)))
    return blocks


def _line(change: Change, names: Mapping[str, str]) -> str:
    before, after = change.before, change.after
    if change.target == "label":
        return _of_label(change.target_id, before, after, names)
    if change.target == "intent":
        told = "; ".join(_of_intent(before or {}, after or {}, names))
        return f"step {change.target_id}  {told or 'labels as before'}"
    title = _title(after or before or {})
    if not before or not after:
        verb = "added" if after else "taken out" if before else "changed"
        return f"{change.target} {change.target_id} {verb}{f': {title}' if title else ''}"
    changed = list(_changes(before, after))
    name = f"{change.target} {change.target_id}"
    return "\n".join([name, *(f"  {one}" for one in changed)]) if changed else f"{name}  as before"


def _of_label(label_id: str, before: _State | None, after: _State | None, names: Mapping[str, str]) -> str:
    state = after or before or {}
    name = repr(state.get("name", label_id))
    owner = state.get("alias_of")
    if not before or not after:
        if owner:  # a name that its label had before
            place = repr(names.get(owner, owner))
            return f"{name} stays another name of {place}" if after else f"{name} is no longer another name of {place}"
        return f"{state.get('kind', '')} label {name} {'made' if after else 'gone again'}  {label_id}".lstrip()
    told = []
    if before["name"] != after["name"]:
        told.append(f"now called {after['name']!r}")
    if before["alias_of"] != after["alias_of"]:
        into = after["alias_of"]
        told.append(f"taken in by {names.get(into, into)!r}" if into else "a label of its own again")
    if before["parent_id"] != after["parent_id"]:
        above = after["parent_id"]
        told.append(f"now under {names.get(above, above)!r}" if above else "now under no other")
    if before["pinned"] != after["pinned"]:
        told.append("pinned" if after["pinned"] else "no longer pinned")
    return f"{after['kind']} label {before['name']!r}: {', '.join(told) or 'as before'}  {label_id}"


def _of_intent(before: _State, after: _State, names: Mapping[str, str]) -> Iterator[str]:
    for key, what in _INTENT.items():
        was, now = _named(before.get(key), names), _named(after.get(key), names)
        if was != now:
            yield f"{what}: {was} → {now}"
    for key, what in _READS.items():
        if before.get(key) != after.get(key):
            yield f"{what}: {_short(before.get(key))} → {_short(after.get(key))}"


def _named(label_ids: object, names: Mapping[str, str]) -> str:
    if isinstance(label_ids, str):
        label_ids = [label_ids]
    if not isinstance(label_ids, Sequence) or not label_ids:
        return "–"
    return ", ".join(names.get(str(one), str(one)) for one in label_ids)


def _title(state: _State) -> str:
    """What an item is recognised by, with its kind."""
    said = next((state[name] for name in _TITLES if isinstance(state.get(name), str) and state[name].strip()), "")
    return f"{state['kind']}, {_short(said)}" if said and "kind" in state else ""


def _short(value: Any) -> str:
    text = _readable(value)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _readable(value: Any) -> str:
    """A field's value in one line, without brackets: ``kin, school``; ``page 3, mood calm``."""
    if value is None or value in ("", [], {}):
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        if "step_id" in value:  # what an item comes from
            return f"{value['step_id']} “{value['quote']}”" if value.get("quote") else str(value["step_id"])
        return ", ".join(f"{key} {_readable(part)}" for key, part in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(_readable, value))
    return " ".join(str(value).split())


def _changes(before: _State, after: _State) -> Iterator[str]:
    """What changed, a line each: ``summary: before → after``, on two lines where that is long; of a mapping each key."""
    for key in after:
        was, now = before.get(key), after[key]
        if key == "version" or was == now:
            continue
        if isinstance(was, Mapping) and isinstance(now, Mapping):
            for part in [*now, *(one for one in was if one not in now)]:
                if was.get(part) != now.get(part):
                    yield _change(f"{key}.{part}", was.get(part), now.get(part))
        else:
            yield _change(key, was, now)


def _change(name: str, was: Any, now: Any) -> str:
    before, after = (output.cut(_readable(one), _WHOLE) for one in (was, now))
    if len(before) + len(after) <= 2 * _LONGEST:
        return f"{name}: {before} → {after}"
    return f"{name}:\n    before: {before}\n    after:  {after}"
