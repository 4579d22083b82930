"""What a memory writes, scored against conversations for which people said what should be stored.

A case is a conversation with three lists. ``should``: items that must be found afterwards. ``may``: items that are
right as well. ``must_not``: what must not stand in any item. An expected item counts as found when a stored one has its
kind, holds each of its values in its text (case aside; ``six|6`` is either), and has the validity and status where
these are given. A stored item that meets no ``should`` and no ``may``, or meets a ``must_not``, is wrong.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol
from zoneinfo import ZoneInfo

from hexamem.errors import InvalidInputError
from hexamem.memory_types import DEFAULT_TYPES, EpisodicItem, MemoryItem, VaultItem

__all__ = ["KindScore", "Miss", "WritePathReport", "WrittenMemory", "Wrong", "load_cases", "score"]

_KINDS = tuple(shipped.name for shipped in DEFAULT_TYPES)

Case = Mapping[str, Any]


class WrittenMemory(Protocol):
    """What scoring needs of a memory of one user; :class:`~hexamem.UserMemory` is one."""

    def remember(self, messages: Any, /) -> Any: ...

    def flush(self) -> Any: ...

    def items(self, *, superseded: bool = False) -> Sequence[MemoryItem]: ...

    def reveal(self, record_id: str, *, reason: str) -> str: ...


MemoryFactory = Callable[[str, str], AbstractContextManager[WrittenMemory]]
"""(name of the user, timezone) → a new, empty memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Miss:
    """An expected item that was not found; ``near`` is what was stored of it with another status or validity."""

    case: str
    kind: str
    values: tuple[str, ...]
    why: str
    near: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wrong:
    """A stored item that should not be there; ``why`` names the rule it breaks."""

    case: str
    kind: str
    text: str
    status: str
    why: str


@dataclass(slots=True)
class KindScore:
    """Counts of one kind: expected and found of ``should``; stored and right of what is in memory."""

    expected: int = 0
    found: int = 0
    stored: int = 0
    right: int = 0

    @property
    def recall(self) -> float | None:
        """Found of expected; None where nothing was expected."""
        return self.found / self.expected if self.expected else None

    @property
    def precision(self) -> float | None:
        """Right of stored; None where nothing was stored."""
        return self.right / self.stored if self.stored else None


@dataclass(frozen=True, slots=True, kw_only=True)
class WritePathReport:
    """The outcome over all cases: counts by kind, and by language; every miss and every wrong item."""

    cases: int
    kinds: Mapping[str, KindScore]
    languages: Mapping[str, KindScore]
    misses: tuple[Miss, ...] = field(repr=False)
    wrong: tuple[Wrong, ...] = field(repr=False)

    @property
    def total(self) -> KindScore:
        """All kinds together."""
        return KindScore(
            *(sum(getattr(s, name) for s in self.kinds.values()) for name in ("expected", "found", "stored", "right"))
        )

    def as_dict(self) -> dict[str, Any]:
        """The report as JSON-able values."""

        def row(counts: KindScore) -> dict[str, Any]:
            return {
                "expected": counts.expected, "found": counts.found, "stored": counts.stored, "right": counts.right,
                "precision": counts.precision, "recall": counts.recall,
            }  # fmt: skip

        return {
            "cases": self.cases,
            "total": row(self.total),
            "kinds": {kind: row(counts) for kind, counts in self.kinds.items()},
            "languages": {language: row(counts) for language, counts in self.languages.items()},
            "misses": [
                {"case": m.case, "kind": m.kind, "values": list(m.values), "why": m.why, "near": m.near}
                for m in self.misses
            ],
            "wrong": [
                {"case": w.case, "kind": w.kind, "text": w.text, "status": w.status, "why": w.why} for w in self.wrong
            ],
        }


def load_cases(path: str | Path) -> list[Case]:
    """The cases of one JSON file.

    Raises:
        InvalidInputError: the file is no JSON list of cases; names the first case that lacks a field.
    """
    try:
        cases = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InvalidInputError(
            f"{path} cannot be read as cases ({error}); give a JSON file with a list of them"
        ) from None
    if not isinstance(cases, list):
        raise InvalidInputError(f"{path} holds a {type(cases).__name__}; give a JSON list of cases")
    for position, case in enumerate(cases):
        missing = (
            {"id", "timezone", "user", "turns", "should", "may", "must_not"} - set(case)
            if isinstance(case, dict)
            else {"id"}
        )
        if missing:
            raise InvalidInputError(
                f"case {position} of {path} lacks {', '.join(sorted(missing))}; see hexamem.evals.write_path"
            )
    return cases


def score(
    cases: Sequence[Case],
    memory_factory: MemoryFactory,
    *,
    kinds: Collection[str] = _KINDS,
    one_by_one: bool = False,
) -> WritePathReport:
    """Let a memory hear each case and compare what it has stored.

    Args:
        cases: as :func:`load_cases` gives them.
        memory_factory: a new memory for a user and a timezone; it is closed after the case.
        kinds: only these are scored.
        one_by_one: give the turns one at a time, each written before the next, instead of all in one call.
    """
    by_kind: dict[str, KindScore] = {kind: KindScore() for kind in _KINDS if kind in kinds}
    by_language: dict[str, KindScore] = {}
    misses: list[Miss] = []
    wrong: list[Wrong] = []
    for case in cases:
        zone = ZoneInfo(case["timezone"])
        with memory_factory(case["user"], case["timezone"]) as memory:
            for turns in [[turn] for turn in case["turns"]] if one_by_one else [list(case["turns"])]:
                memory.remember(turns)
                memory.flush()
            stored = [
                (item, _text_of(item, memory, zone))
                for item in memory.items(superseded=True)
                if item.kind in by_kind and item.status in ("active", "superseded")
            ]
        language = by_language.setdefault(case.get("language", ""), KindScore())
        for expected in case["should"]:
            if expected["kind"] in by_kind:
                found = any(_meets(item, text, expected, zone) for item, text in stored)
                for counts in (by_kind[expected["kind"]], language):
                    counts.expected += 1
                    counts.found += found
                if not found:
                    misses.append(_miss(case, expected, stored))
        for item, text in stored:
            why = _fault(item, text, case, zone)
            for counts in (by_kind[item.kind], language):
                counts.stored += 1
                counts.right += not why
            if why:
                wrong.append(
                    Wrong(
                        case=case["id"],
                        kind=item.kind,
                        text=text if item.kind != "vault" else item.text,
                        status=item.status,
                        why=why,
                    )
                )
    return WritePathReport(
        cases=len(cases), kinds=by_kind, languages=by_language, misses=tuple(misses), wrong=tuple(wrong)
    )


def _text_of(item: MemoryItem, memory: WrittenMemory, zone: ZoneInfo) -> str:
    """The words of an item: what is searched and shown, an event's day, and what the vault keeps for it."""
    parts = [item.text]
    if isinstance(item, EpisodicItem):
        parts.append(item.occurred_at.astimezone(zone).date().isoformat())
    if isinstance(item, VaultItem) and item.secret_id:
        parts.append(memory.reveal(item.id, reason="write path evaluation"))
    return "\n".join(parts)


def _holds(values: Iterable[str], text: str) -> bool:
    folded = text.casefold()
    return all(any(choice.casefold() in folded for choice in value.split("|")) for value in values)


def _day(moment: datetime | None, zone: ZoneInfo) -> str | None:
    return moment.astimezone(zone).date().isoformat() if moment else None


def _meets(item: MemoryItem, text: str, expected: Mapping[str, Any], zone: ZoneInfo) -> bool:
    if item.kind != expected["kind"] or not _holds(expected["values"], text):
        return False
    if item.status != expected.get("status", item.status):
        return False
    return all(
        name not in expected or _day(getattr(item, name), zone) == expected[name] for name in ("valid_from", "valid_to")
    )


def _fault(item: MemoryItem, text: str, case: Case, zone: ZoneInfo) -> str:
    for forbidden in case["must_not"]:
        if forbidden.get("kind", item.kind) == item.kind and _holds(forbidden["values"], text):
            return f"must not be stored: {', '.join(forbidden['values'])} ({forbidden.get('why', '')})"
    if any(_meets(item, text, expected, zone) for expected in (*case["should"], *case["may"])):
        return ""
    return "expected by nobody"


def _miss(case: Case, expected: Mapping[str, Any], stored: Sequence[tuple[MemoryItem, str]]) -> Miss:
    near = next(
        (
            f"{item.status}, {item.valid_from:%Y-%m-%d} to" if item.valid_from else f"{item.status}, to"
            for item, text in stored
            if item.kind == expected["kind"] and _holds(expected["values"], text)
        ),
        "",
    )
    return Miss(
        case=case["id"], kind=expected["kind"], values=tuple(expected["values"]), why=expected.get("why", ""), near=near
    )
