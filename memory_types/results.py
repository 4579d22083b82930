"""What the calls give back: receipts, hits with their reasons, recalls, reports."""

from __future__ import annotations

from datetime import datetime
from typing import Any, TypeAlias

from pydantic import Field

from hexamem.memory_types.base import Record
from hexamem.memory_types.intent import Snippet
from hexamem.memory_types.items import Source
from hexamem.memory_types.labels import LabelKind, Tier

__all__ = [
    "EraseReceipt",
    "Hit",
    "HitKind",
    "InducedLabels",
    "LabelView",
    "LabeledSnippet",
    "RankingOperation",
    "Recall",
    "RedactReceipt",
    "Remembered",
    "Signal",
]

HitKind: TypeAlias = str
"""``step``, ``page``, or the name of a memory type."""


class Remembered(Record):
    """The acknowledgement of ``remember``: everything named here is in the ledger.

    ``step_ids`` has one id a message, in the order given, also for messages that were stored before (``repeated``
    holds those ids). ``secrets`` are the vault references put in place of what was found. ``degraded`` says what
    fell back or was kept without being understood.
    """

    step_ids: tuple[str, ...] = ()
    repeated: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()
    degraded: tuple[str, ...] = ()


class Signal(Record):
    """One reason for a hit: the signal's name, its raw value, its rank (1 is best), and its share of the score.

    ``note`` says what to know of the signal in this recall, such as how much of the query the embedder knows.
    """

    name: str
    value: float | None = None
    rank: int | None = None
    share: float = 0.0
    note: str | None = None

    def explain(self, share: str = "") -> str:
        """In a few words, with what is said of the share: ``dense #2 (0.61) 45%``."""
        rank = f" #{self.rank}" if self.rank is not None else ""
        value = f" ({self.value:.2f})" if self.value is not None else ""
        return f"{self.name}{rank}{value}{share}{f', {self.note}' if self.note else ''}"


class Hit(Record):
    """A step or item that came back, with the reasons.

    ``occurred_at`` is aware, a step's in the offset in which it was told; an item's is when it happened or began to
    hold, else when it was last said, else when it was learned. ``said_at`` is when the words were said, an item's those
    that it was last learned from (None where it cites none); of what was said at once ``seq`` tells the order.
    ``score`` compares hits of one recall only. ``why`` lists the signals, strongest first; their shares add up to the
    score. ``scope`` (as a path such as ``Trip / Day 2``), ``events`` (the main one first) and ``entities`` are a step's
    labels by name. Of a long document the text is its title, its best passage and the ``place`` of that: ``page 40``,
    ``section Trams``, ``rows 1–30``.
    """

    id: str
    kind: HitKind
    text: str
    score: float
    why: tuple[Signal, ...] = ()
    occurred_at: datetime | None = None
    said_at: datetime | None = None
    seq: int | None = None
    speaker: str | None = None
    thread_id: str | None = None
    sources: tuple[Source, ...] = ()
    superseded: bool = False
    place: str | None = None
    scope: str | None = None
    events: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()

    def explain(self) -> str:
        """The reasons in one line: ``dense #2 (0.61) 45% · bm25 #1 (7.3) 55%``.

        Where the score is no sum of positive shares, and of the learned ranking always, what each adds or takes:
        ``fused +0.33``. A signal of which nothing can be told is left out: the learned ranking compares, and of a single record tells no
        shares.
        """
        parts = []
        # Only the learned ranking tells of others: it compares, so that a hit whose shares happen to be positive is none else.
        compared = any(signal.name == "others" for signal in self.why)
        percent = self.score > 0 and not compared and all(signal.share >= 0 for signal in self.why)
        for signal in self._telling():
            share = f" {signal.share / self.score:.0%}" if percent else f" {signal.share:+.2f}" if signal.share else ""
            parts.append(signal.explain(share))
        return " · ".join(parts)

    def _telling(self) -> tuple[Signal, ...]:
        """The signals with a figure or a note; all where none has any."""
        told = tuple(one for one in self.why if one.share or one.note or one.rank is not None or one.value is not None)
        return told or self.why


class RankingOperation(Record):
    """One of the five operations of a learned ranking in one recall.

    Attributes:
        name: such as ``multi_step``; see ``docs/ranking.md``.
        on: whether it ran.
        gate: the weight that the gate gave it for this question, 0 to 1; left to the gate it runs from one half on.
        reason: what decided it, such as ``by the gate`` or ``by the call``.
    """

    name: str
    on: bool
    gate: float
    reason: str

    def explain(self) -> str:
        """In a few words: ``multi_step off by the gate (0.12)``."""
        return f"{self.name} {'on' if self.on else 'off'} {self.reason} ({self.gate:.2f})"


class Recall(Record):
    """One retrieval without an LLM.

    ``text`` holds the hits packed for a prompt within the token budget, ``tokens`` their count. ``answerable`` is
    the probability that memory holds the answer and ``gate`` the operation weights; both are None with strategies
    that do not estimate them. ``operations`` tells of each of the five whether it ran, and why; it is empty with those.
    """

    id: str
    query: str
    strategy: str
    hits: tuple[Hit, ...] = ()
    text: str = ""
    tokens: int = 0
    answerable: float | None = None
    gate: dict[str, float] | None = None
    operations: tuple[RankingOperation, ...] = ()
    degraded: tuple[str, ...] = ()
    elapsed_ms: float = Field(default=0.0, description="wall time of the call, milliseconds")

    def __iter__(self) -> Any:  # hits are what people loop over
        return iter(self.hits)

    def __len__(self) -> int:
        return len(self.hits)


class LabelView(Record):
    """A label as it is shown.

    Attributes:
        path: the name behind those of the wider labels: ``Trip / Day 2``.
        parent_id: the wider label, aliases resolved.
        aliases: other names by which it is found, of labels that it took in.
        steps: how many steps carry it, or an alias of it.
        steps_below: how many steps carry it or a label under it.
        step_ids: the latest of those that carry it, oldest first; empty in lists.
    """

    id: str
    kind: LabelKind
    name: str
    path: str
    parent_id: str | None = None
    pinned: bool = False
    gist: str = ""
    aliases: tuple[str, ...] = ()
    steps: int = 0
    steps_below: int = 0
    step_ids: tuple[str, ...] = ()


class LabeledSnippet(Snippet):
    """A step's snippet with its labels by name; ``intent`` holds their ids.

    Attributes:
        scope: as a path. events: the main one first.
        antecedents: ids of the steps from which references were put into words.
        tier: who set the labels. confidence: 0..1, how sure.
    """

    scope: str
    events: tuple[str, ...]
    entities: tuple[str, ...] = ()
    antecedents: tuple[str, ...] = ()
    tier: Tier = "embedded"
    confidence: float = 1.0
    provisional: bool = False


class InducedLabels(Record):
    """The labels of one step by id, aliases resolved: what an evaluation compares with labels made by hand.

    Attributes:
        scope: the innermost thematic scope.
        events: event types, the main one first. coarse_events: the widest type over each.
    """

    scope: str
    events: tuple[str, ...]
    coarse_events: tuple[str, ...]
    entities: tuple[str, ...] = ()


class RedactReceipt(Record):
    """What ``redact`` rewrote: ids of steps and items, and of the vault entry that now holds the words."""

    secret_id: str
    reference: str
    step_ids: tuple[str, ...] = ()
    item_ids: tuple[str, ...] = ()


class EraseReceipt(Record):
    """What ``erase`` removed: rows a table, records a collection, files; and when."""

    user_key: str
    rows: dict[str, int] = Field(default_factory=dict)
    vectors: int = 0
    documents: int = 0
    files: int = 0
    erased_at: datetime
