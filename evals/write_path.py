"""Scores the items that a memory extracts from conversations with annotated items, and labels and answers where they are
annotated too.

A case is a conversation with three lists. ``should``: items that must be stored. ``may``: items that are right as well.
``must_not``: what no item may contain. An expected item is matched when a stored one has its kind, contains each of
its values (ignoring case; ``six|6`` is either), and has the given validity and status. A stored item that matches no
``should`` and no ``may``, or matches a ``must_not``, is wrong. ``labels``, one a turn, and ``questions`` are optional.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from pydantic import BaseModel

from hexamem.errors import InvalidInputError
from hexamem.evals.agreement import AgreementTally
from hexamem.evals.qa_scores import plain_f1
from hexamem.evals.records import Conversation, parsed, read_json
from hexamem.memory_types import DEFAULT_TYPES, EpisodicItem, MemoryItem, VaultItem
from hexamem.models import Usage

__all__ = ["Case", "load_cases", "score"]

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_KINDS = tuple(shipped.name for shipped in DEFAULT_TYPES)
MemoryFactory = Callable[[str, str], AbstractContextManager[Any]]
"""(name of the user, timezone) → a new, empty memory of that user."""


class Expected(BaseModel):
    """An expected item; an empty ``kind`` or ``status`` matches any, and None any validity."""

    values: list[str]
    kind: str = ""
    status: str = ""
    valid_from: str | None = None
    valid_to: str | None = None
    why: str = ""


class TurnLabels(BaseModel):
    """The annotated labels of a turn: its scope, and its main act."""

    scope: str
    action: str


class CaseQuestion(BaseModel):
    """A question with its answer, and the numbers of the turns that answer it, from 0; none where nothing answers it."""

    question: str
    answer: str
    turns: list[int] = []


class Case(BaseModel):
    """A conversation of one user with what should, may and must not be stored of it."""

    id: str
    timezone: str
    user: str
    turns: list[Any]
    should: list[Expected]
    may: list[Expected]
    must_not: list[Expected]
    language: str = ""
    labels: list[TurnLabels] = []
    questions: list[CaseQuestion] = []


_NAMES = ("expected", "found", "stored", "right")
"""Counts: expected and found of ``should``; stored and right of what is in memory."""


def _rates(counts: Mapping[str, int]) -> dict[str, Any]:
    """The counts with precision and recall, None where there is nothing to divide by."""
    expected, found, stored, right = (counts[name] for name in _NAMES)
    rates = {"precision": right / stored if stored else None, "recall": found / expected if expected else None}
    return {**dict(zip(_NAMES, (expected, found, stored, right), strict=True)), **rates}


def load_cases(path: str | Path) -> list[Case]:
    """The cases of one JSON file.

    Raises:
        InvalidInputError: the file cannot be read.
        CorruptFileError: it is no JSON list of cases; names the first case that lacks a field.
    """
    try:
        return parsed(list[Case], read_json(Path(path)), str(path))
    except OSError as error:
        raise InvalidInputError(f"{path} cannot be read ({error.strerror}); name a JSON file with cases") from None


def score(cases: Sequence[Case], memory_factory: MemoryFactory, research: str | None = None) -> dict[str, Any]:
    """Store each case in a memory and compare its items with the expected ones.

    Args:
        memory_factory: a new memory for a user and a timezone; it is closed after the case.
        research: ask the questions of the cases by :meth:`~hexamem.UserMemory.research` in this tier.

    Returns:
        A JSON-ready report: the number of ``cases``; counts, precision and recall in ``total``, by ``kinds`` and by
        ``languages``; every expected item without a match in ``misses``, with what is ``near`` it of another status
        or validity; every stored item that should not be there in ``wrong``, with the rule that it breaks. Of the expected
        items those with a date and those that were superseded are counted again in ``parts``; ``scope`` and ``events``
        are the agreement of labels (:class:`~.agreement.AgreementTally`), None where no case has any; ``calls``,
        ``input_tokens`` and ``output_tokens`` those of models for storing, ``research`` those for ``answers``: for each
        question the gold answer, that of research (None where it abstains) and their word overlap ``f1``.
    """
    kinds = {kind: Counter[str]() for kind in _KINDS}
    languages: dict[str, Counter[str]] = {}
    misses: list[dict[str, Any]] = []
    wrong: list[dict[str, Any]] = []
    parts = {"dated": Counter[str](), "superseded": Counter[str]()}
    agreement, answers = AgreementTally(), list[dict[str, Any]]()
    storing, asking = Usage(), Usage()
    for case in cases:
        zone = ZoneInfo(case.timezone)
        with memory_factory(case.user, case.timezone) as memory:
            steps = memory.remember(case.turns).step_ids
            memory.flush()
            storing += memory.memory.model_tier.budget.spent
            if case.labels:
                turns = list(map(str, range(len(case.labels))))
                gold = {
                    turn: {"partition": labels.scope, "action": labels.action}
                    for turn, labels in zip(turns, case.labels, strict=True)
                }
                labelled = dict(zip(steps, turns, strict=True))
                agreement.add(Conversation(case.id, (), gold=gold), labelled, memory.labels.induced())
            for asked in case.questions if research else ():
                result = memory.research(asked.question, tier=research)
                asking += result.usage
                answer = result.answer if result.answerable else None
                row = {"case": case.id, **asked.model_dump(include={"question", "answer"}), "found": answer}
                answers.append({**row, "f1": plain_f1(answer or "", asked.answer), "degraded": list(result.degraded)})
            stored = [
                (item, _text_of(item, memory, zone))
                for item in memory.items(superseded=True)
                if item.kind in kinds and item.status in ("active", "superseded")
            ]
        language = languages.setdefault(case.language, Counter())
        for expected in case.should:
            matched = any(_meets(item, text, expected, zone) for item, text in stored)
            named = [parts["superseded"]] if expected.status == "superseded" else []
            if expected.valid_from or expected.valid_to or any(map(_DATE.search, expected.values)):
                named.append(parts["dated"])
            for counts in (kinds[expected.kind], language, *named):
                counts.update(expected=1, found=int(matched))
            if not matched:
                miss = {"case": case.id, "kind": expected.kind, "values": expected.values, "why": expected.why}
                misses.append({**miss, "near": _near(expected, stored)})
        for item, text in stored:
            why = _fault(item, text, case, zone)
            for counts in (kinds[item.kind], language):
                counts.update(stored=1, right=int(not why))
            if why:
                shown = item.text if item.kind == "vault" else text
                fault = {"case": case.id, "kind": item.kind, "text": shown, "status": item.status, "why": why}
                wrong.append(fault)
    return {
        "cases": len(cases),
        "total": _rates(sum(kinds.values(), Counter())),
        "kinds": {kind: _rates(counts) for kind, counts in kinds.items()},
        "languages": {name: _rates(counts) for name, counts in languages.items()},
        "parts": {name: {key: counts[key] for key in ("expected", "found")} for name, counts in parts.items()},
        "scope": agreement.scope(),
        "events": agreement.events(),
        "misses": misses,
        "wrong": wrong,
        **_costs(storing),
        "research": {"questions": len(answers), **_costs(asking)} if research else None,
        "answers": answers,
    }


def _costs(usage: Usage) -> dict[str, int]:
    return {"calls": usage.calls, "input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens}


def _text_of(item: MemoryItem, memory: Any, zone: ZoneInfo) -> str:
    """The text of an item, with an event's day, and its secret in the vault."""
    parts = [item.text]
    if isinstance(item, EpisodicItem):
        parts.append(str(_day(item.occurred_at, zone)))
    if isinstance(item, VaultItem) and item.secret_id:
        parts.append(memory.reveal(item.id, reason="write path evaluation"))
    return "\n".join(parts)


def _holds(values: Iterable[str], text: str) -> bool:
    folded = text.casefold()
    return all(any(choice.casefold() in folded for choice in value.split("|")) for value in values)


def _day(moment: datetime | None, zone: ZoneInfo) -> str | None:
    return moment.astimezone(zone).date().isoformat() if moment else None


def _meets(item: MemoryItem, text: str, expected: Expected, zone: ZoneInfo) -> bool:
    if item.kind != expected.kind or expected.status not in ("", item.status) or not _holds(expected.values, text):
        return False
    validity = ((expected.valid_from, item.valid_from), (expected.valid_to, item.valid_to))
    return all(wanted is None or _day(own, zone) == wanted for wanted, own in validity)


def _fault(item: MemoryItem, text: str, case: Case, zone: ZoneInfo) -> str:
    for forbidden in case.must_not:
        if forbidden.kind in ("", item.kind) and _holds(forbidden.values, text):
            return f"must not be stored: {', '.join(forbidden.values)} ({forbidden.why})"
    if any(_meets(item, text, expected, zone) for expected in (*case.should, *case.may)):
        return ""
    return "not expected"


def _near(expected: Expected, stored: Sequence[tuple[MemoryItem, str]]) -> str:
    for item, text in stored:
        if item.kind == expected.kind and _holds(expected.values, text):
            return f"{item.status}, {item.valid_from:%Y-%m-%d} to" if item.valid_from else f"{item.status}, to"
    return ""
