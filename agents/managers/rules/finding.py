"""What the rules have found: the values of an item, and where it was said."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, datetime, time, tzinfo
from typing import Any

from ....intent.dates.spans import DateSpan
from ....memory_types import ItemKind
from ....memory_types.proposals import Ends, Evidence
from .shifts import Shift

__all__ = ["Finding", "day_start", "quote_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One item that the rules would store.

    Attributes:
        values: the kind's own fields.
        evidence: (step id, exact words of the step), at least one.
        slot: what the item is the one value of, such as ``home_city``; a later value of the slot takes its place. Empty
            where there may be many. An event's slot is its own (``event:<step id>:<number>``): it is only said again
            where the event is moved or called off.
        stated: the bare value of the slot, such as ``Galway``; empty where the words of the item are all there is.
        said_by: the role whose words these are, where it is not the user.
        topics: folded words by which a later correction finds it.
        secret: plaintext of a contact.
        corrects: whether what it replaces was never true (a slip of the tongue), rather than true until now.
        replaces: the words of the item that was wrong, where it was said before the batch.
        redated: whether ``valid_from`` itself is put right.
        denied: the day of which an event was told wrongly, perhaps before these steps.
        known: whether it says something only of what is known already, and nothing by itself.
        ends: what else is over by what it says.
        shift: the change of an event that was told before these steps, and has to be looked up.
        on: the day on which an event was to be that is changed, perhaps told before these steps.
        age: how old somebody is now; what is stored of them that tells an age says this one from then on.
        former: whether it only says what was replaced: known from the steps before, not to be stored again.
    """

    kind: ItemKind
    values: dict[str, Any]
    evidence: tuple[Evidence, ...]
    slot: str = ""
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    confidence: float = 0.8
    reason: str = ""
    stated: str = ""
    said_by: str = ""
    topics: frozenset[str] = field(default_factory=frozenset)
    when: DateSpan | None = None
    secret: str | None = None
    corrects: bool = False
    replaces: str = ""
    ends: tuple[Ends, ...] = ()
    former: bool = False
    redated: bool = False
    denied: DateSpan | None = None
    known: bool = False
    shift: Shift | None = None
    on: DateSpan | None = None
    age: str = ""


def day_start(day: date, zone: tzinfo) -> datetime:
    """Its first moment in the user's timezone."""
    return datetime.combine(day, time(), tzinfo=zone)


def quote_of(text: str, start: int, end: int, step_id: str) -> Evidence:
    """The words from ``start`` to ``end``, at most 400 characters of them, as evidence."""
    quote = text[start : min(end, start + 400)].strip()
    return Evidence(step_id=step_id, quote=quote or text.strip()[:400])
