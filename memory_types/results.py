"""The results of calls: receipts, hits with their signals, recalls, labels."""

from __future__ import annotations

from datetime import datetime
from typing import Any, TypeAlias

from pydantic import Field

from hexamem.memory_types.base import Record
from hexamem.memory_types.coarse_dates import Precision
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

    Attributes:
        step_ids: one id for each message, in order, also for messages that were stored before.
        secrets: the vault references that replace secrets in the text.
        degraded: one line for each fallback, and for content that was stored but not understood.
    """

    step_ids: tuple[str, ...] = ()
    repeated: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()
    degraded: tuple[str, ...] = ()


class Signal(Record):
    """One signal of a hit.

    Attributes:
        rank: the rank of the hit by this signal; 1 is the best.
        share: its share of the score.
        note: a remark on the signal in this recall, such as how much of the query the embedder knows.
    """

    name: str
    value: float | None = None
    rank: int | None = None
    share: float = 0.0
    note: str | None = None

    def explain(self, share: str = "") -> str:
        """In a few words, followed by the text of the share: ``dense #2 (0.61) 45%``."""
        rank = f" #{self.rank}" if self.rank is not None else ""
        value = f" ({self.value:.2f})" if self.value is not None else ""
        return f"{self.name}{rank}{value}{share}{f', {self.note}' if self.note else ''}"


class Hit(Record):
    """A retrieved step, item or page.

    Attributes:
        text: the text; of a long document its title and best passage.
        score: comparable only with other hits of the same recall.
        why: the signals, the strongest first; their shares add up to the score.
        occurred_at: of a step the time of the message, with its UTC offset; of an item when it happened or became valid, otherwise
            when it was last stated, otherwise when it was stored.
        precision: how exact the own time of an item is: week, month, season or year, counted from ``occurred_at``; None for a
            day or a moment.
        said_at: the time of the step, or of the latest source of the item; None for an item without sources.
        superseded: whether it is superseded or no longer valid; of a step, whether this holds for all items learned from it
            that the ranking has seen.
        place: where the passage of a document is: ``page 40``, ``section Trams``, ``rows 1–30``.
        scope: the scope of a step as a path, such as ``Trip / Day 2``.
        events: the event types of a step, the main one first.
        attached: of a step, further hits that are items learned from this step alone; of an item, its only source. They would
            repeat the hit, so they take no places of their own.
    """

    id: str
    kind: HitKind
    text: str
    score: float
    why: tuple[Signal, ...] = ()
    occurred_at: datetime | None = None
    precision: Precision | None = None
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
    attached: tuple[Hit, ...] = ()

    def explain(self) -> str:
        """The signals in one line: ``dense #2 (0.61) 45% · bm25 #1 (7.3) 55%``.

        In the learned ranking, and where a share is negative, shares are shown as they are: ``fused +0.33``. Signals
        without any figure are left out: the learned ranking compares candidates, so that a single one has no shares.
        """
        parts = []
        learned = any(signal.name == "others" for signal in self.why)
        percent = self.score > 0 and not learned and all(signal.share >= 0 for signal in self.why)
        for signal in self._informative():
            share = f" {signal.share / self.score:.0%}" if percent else f" {signal.share:+.2f}" if signal.share else ""
            parts.append(signal.explain(share))
        return " · ".join(parts)

    def _informative(self) -> tuple[Signal, ...]:
        """The signals with a figure or a note; all where none has any."""
        return (
            tuple(
                signal
                for signal in self.why
                if signal.share or signal.note or signal.rank is not None or signal.value is not None
            )
            or self.why
        )


class RankingOperation(Record):
    """One of the five operations of a learned ranking in one recall.

    Attributes:
        name: such as ``multi_step``; see ``docs/ranking.md``.
        gate: its weight by the gate for this question, 0 to 1; if the gate decides, it runs from 0.5 on.
        reason: what decided, such as ``by the gate`` or ``by the call``.
    """

    name: str
    on: bool
    gate: float
    reason: str

    def explain(self) -> str:
        """In a few words: ``multi_step off by the gate (0.12)``."""
        return f"{self.name} {'on' if self.on else 'off'} {self.reason} ({self.gate:.2f})"


class Recall(Record):
    """One retrieval without a language model.

    Attributes:
        text: the hits as text for a prompt, within the token budget.
        answerable: the probability that memory contains the answer; None with strategies that do not estimate it.
        gate: operation → its weight by the gate; None with strategies without operations.
        operations: whether each of the five operations ran, and why; empty with strategies without operations.
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
    """A label with the counts of its steps.

    Attributes:
        path: the names of the wider labels and its own: ``Trip / Day 2``.
        parent_id: the wider label, aliases resolved.
        aliases: the names of labels that were merged into it.
        steps: the number of steps with it or an alias of it.
        steps_below: the number of steps with it or a narrower label.
        step_ids: the latest of its steps, the oldest first; empty in lists.
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
    """A step's snippet with the names of its labels; ``intent`` has their ids.

    Attributes:
        scope: the scope as a path.
        antecedents: the ids of the steps to which references in the text were resolved.
        tier: who set the labels.
    """

    scope: str
    events: tuple[str, ...]
    entities: tuple[str, ...] = ()
    antecedents: tuple[str, ...] = ()
    tier: Tier = "embedded"
    confidence: float = 1.0
    provisional: bool = False


class InducedLabels(Record):
    """The label ids of one step, aliases resolved, for comparison with labels made by hand.

    Attributes:
        scope: the innermost thematic scope.
        coarse_events: the widest type above each.
    """

    scope: str
    events: tuple[str, ...]
    coarse_events: tuple[str, ...]
    entities: tuple[str, ...] = ()


class RedactReceipt(Record):
    """The result of ``redact``: the ids of rewritten steps and items, and of the vault entry that now contains the words."""

    secret_id: str
    reference: str
    step_ids: tuple[str, ...] = ()
    item_ids: tuple[str, ...] = ()


class EraseReceipt(Record):
    """The result of ``erase``: removed rows by table, vectors, documents and files, and when."""

    user_key: str
    rows: dict[str, int] = Field(default_factory=dict)
    vectors: int = 0
    documents: int = 0
    files: int = 0
    erased_at: datetime
