"""Reading the values of a proposal: what can be corrected is, with a note; what cannot is refused.

Models set fields that do not exist, dates without a zone or a day, lists as text, and summaries as long as a page.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, get_args

from hexamem.agents.applying.core_limit import fit_into
from hexamem.errors import InvalidInputError
from hexamem.memory_types import (
    CoreItem,
    EpisodicItem,
    ItemKind,
    MemoryItem,
    ProceduralItem,
    ResourceItem,
    SemanticItem,
    Sensitivity,
    VaultItem,
)
from hexamem.memory_types.times import parse_time
from hexamem.stores.lexical.tokens import repair_surrogates

__all__ = ["read_values"]

_CLASSES: Mapping[ItemKind, type[MemoryItem]] = {
    "core": CoreItem,
    "episodic": EpisodicItem,
    "semantic": SemanticItem,
    "procedural": ProceduralItem,
    "resource": ResourceItem,
    "vault": VaultItem,
}
_COMMON = {"valid_from", "valid_to", "labels", "metadata"}
_NEVER = {"kind", "secret_id", "limit"}  # decided elsewhere: of a proposal, the vault, the block's owner
_TIMES = ("valid_from", "valid_to", "occurred_at")
_LISTS = {"steps": "\n", "labels": ",", "tree_path": "/"}
_LONGEST = {"summary": 600, "title": 200, "name": 200, "label": 100, "caption": 200, "actor": 100, "event_type": 60,
            "entry_type": 60, "resource_type": 60, "source": 400}  # fmt: skip
_REST_GOES_TO = {"episodic": "details", "semantic": "details", "resource": "content"}
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029]")
_MONTH = re.compile(r"(\d{4})-(\d{1,2})")
_YEAR = re.compile(r"[12]\d{3}")
_SENSITIVITY: Mapping[str, Sensitivity] = {"phone": "low", "email": "low", "address": "medium"}
"""Of the entry types that the vault manager's schema lists, those that are no secrets."""


def read_values(kind: ItemKind, values: Mapping[str, Any], timezone: str) -> tuple[dict[str, Any], list[str]]:
    """The fields of an item that a proposal sets, and notes, without any value, on what was left out or corrected.

    Control characters are dropped, times are read in the user's zone (a month or year alone is its first day), texts that
    are too long are cut at a sentence and their rest is put into the details. Fields that the kind does not have, that
    only operations set, or whose value cannot be read are left out.

    Args:
        timezone: IANA name of the zone in which naive times are read.
    """
    own = set(_CLASSES[kind].model_fields) - set(MemoryItem.model_fields)
    allowed = (own | _COMMON) - _NEVER
    read: dict[str, Any] = {}
    notes: list[str] = []
    strange = sorted(str(name)[:40] for name in values if name not in allowed)
    if strange:
        notes.append(f"{', '.join(strange[:8])}: not a field that a proposal for a {kind} item may set; left out")
    for name in sorted(allowed & values.keys()):
        value = values[name]
        if value is None or (isinstance(value, str) and not value.strip()):
            continue
        taken = _one(name, value, timezone, notes)
        if taken is not None:
            read[name] = taken
    _cut_long(kind, read, notes)
    begins, ends = read.get("valid_from"), read.get("valid_to")
    if begins and ends and ends <= begins:
        del read["valid_to"]
        notes.append("valid_to: does not lie after valid_from; left out")
    if kind == "vault" and "sensitivity" not in read and (usual := _SENSITIVITY.get(read.get("entry_type", ""))):
        read["sensitivity"] = usual
    return read, notes


def _one(name: str, value: Any, timezone: str, notes: list[str]) -> Any:
    """One value as its field takes it; None where it cannot be."""
    if name in _TIMES:
        return _time(name, value, timezone, notes)
    if name in _LISTS:
        parts = value.split(_LISTS[name]) if isinstance(value, str) else value
        if not isinstance(parts, (list, tuple)):
            notes.append(f"{name}: no list; left out")
            return None
        return tuple(part for part in (_text(part) for part in parts if isinstance(part, (str, int, float))) if part)
    if name == "metadata":
        if not isinstance(value, Mapping):
            notes.append("metadata: no mapping; left out")
            return None
        return {str(key): _deep(part) for key, part in value.items()}
    if name == "sensitivity":
        if value in get_args(Sensitivity):
            return value
        notes.append("sensitivity: none of low, medium, high; left out")
        return None
    if isinstance(value, (list, tuple)) and all(isinstance(part, str) for part in value):
        value = "\n".join(value)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str):
        notes.append(f"{name}: no text; left out")
        return None
    return _text(value) or None


def _text(value: object) -> str:
    return _CONTROL.sub(" ", repair_surrogates(str(value)).replace("\r\n", "\n").replace("\r", "\n")).strip()


def _deep(value: Any) -> Any:
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, Mapping):
        return {str(key): _deep(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_deep(part) for part in value]
    return value


def _time(name: str, value: Any, timezone: str, notes: list[str]) -> datetime | None:
    if isinstance(value, str):
        text = value.strip()
        if match := _MONTH.fullmatch(text):
            value = f"{match[1]}-{int(match[2]):02d}-01"
        elif _YEAR.fullmatch(text):
            value = f"{text}-01-01"
    elif isinstance(value, int) and 1000 <= value <= 2999:
        value = f"{value}-01-01"
    try:
        moment = parse_time(value, timezone=timezone).utc
    except InvalidInputError:
        notes.append(f"{name}: no time that can be read; left out")
        return None
    return moment.astimezone(UTC)


def _cut_long(kind: ItemKind, read: dict[str, Any], notes: list[str]) -> None:
    """Cut fields that are too long at a sentence; the rest goes to the details, or to ``metadata["more"]``."""
    for name, longest in _LONGEST.items():
        value = read.get(name)
        if not isinstance(value, str) or len(value) <= longest:
            continue
        read[name], overflow = fit_into(value, longest)
        rest = "\n".join(overflow)
        target = _REST_GOES_TO.get(kind)
        if target is None or (kind == "resource" and name != "summary"):
            metadata = read.setdefault("metadata", {})
            metadata["more"] = "\n".join(part for part in (metadata.get("more"), rest) if part)
        elif rest:
            read[target] = "\n".join(part for part in (rest, read.get(target)) if part)
        notes.append(f"{name}: longer than {longest} characters; its rest was put elsewhere in the item")
