"""The embedded extractor: finds the sentences of a batch that are worth storing, and the memory type of each.

Without a chat model it does the work of the meta-manager and the managers. Each sentence of a person is embedded and read
by classifiers, one per memory type (``agents/sentence_classifiers.py``). The text of an item is the user's own sentence.
Dates in words are resolved by ``intent/dates.py``. A later statement supersedes an earlier one where their pair score is
above a bound; otherwise both remain active.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, time, tzinfo
from itertools import islice
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hexamem.agents.contract import Batch, BatchStep, Instruction, Proposals
from hexamem.agents.sentence_classifiers import SentenceClassifiers, SentenceReading, load_sentence_classifiers
from hexamem.errors import ModelFileError
from hexamem.intent.dates import DateSpan, find_dates
from hexamem.memory_types import ItemKind, MemoryItem
from hexamem.memory_types.coarse_dates import PRECISION, precision_of
from hexamem.memory_types.proposals import Evidence, Proposal
from hexamem.models.encoder import open_heads
from hexamem.models.sentences import split_sentences
from hexamem.stores.embedders import Embedder
from hexamem.stores.secrets import find_references

PairScorer = Callable[[Sequence[tuple[str, str]]], NDArray[np.float32]]
"""n pairs of an earlier and a later statement → ``(n,)`` scores from 0 to 1."""

__all__ = ["EmbeddedManager", "EmbeddedMetaManager", "Finding", "Reader", "embedded_managers"]

_LONGEST = 600
"""Characters of a sentence; a longer one is pasted text, not a statement of the user."""
_SHORTEST = 4
_MOST_SENTENCES = 200
"""Sentences of a message that are read; a longer message is a document."""
_OF_USER, _DATED, _ATTRIBUTE = 0.4, 0.3, 0.5
"""The least probabilities at which a sentence becomes a core item, is searched for dates, and its attribute becomes its label."""
_SUPERSEDES = 0.9
"""The least pair score at which an earlier item is superseded."""
_MOST_PAIRS, _LEAST_COSINE = 2, 0.3
"""The known items that are compared with a new statement: the most, and their least cosine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A sentence that is worth an item of one kind.

    Attributes:
        text: the sentence.
        step: the step that contains it.
        probability: that it is worth an item of the kind.
        reading: the results of all classifiers.
        date: the first date in it, if there is one.
        name: its subject, in its own words; empty where that is not clear.
    """

    kind: ItemKind
    text: str
    step: BatchStep
    probability: float
    reading: SentenceReading
    date: DateSpan | None = None
    name: str = ""


class _BatchReading(NamedTuple):
    """The findings in a batch, and a line for each message that is not read completely."""

    findings: tuple[Finding, ...]
    unread: tuple[str, ...]


class Reader:
    """Reads a batch once for all managers. Safe to share between threads.

    Findings are cached only as long as the batch exists, since they contain the user's text.

    Args:
        embedder: the embedder of the sentences, ``bundled`` or ``static``.
        classifiers: by default those that ship for the embedder.
        supersedes: scores pairs of an earlier and a later statement; without it nothing is superseded.
    """

    def __init__(
        self,
        embedder: Embedder,
        classifiers: SentenceClassifiers | None = None,
        supersedes: PairScorer | None = None,
    ) -> None:
        self._embedder, self._supersedes = embedder, supersedes
        self._classifiers = classifiers or load_sentence_classifiers(embedder.name)
        self._bounds = dict(zip(self._classifiers.types, self._classifiers.bounds.tolist(), strict=True))
        self._cache: dict[int, _BatchReading] = {}  # by identity: equal batches may be of different users

    @property
    def supersedes(self) -> bool:
        """Whether pairs of statements are scored."""
        return self._supersedes is not None

    @property
    def kinds(self) -> tuple[ItemKind, ...]:
        """The memory types that the classifiers know."""
        return tuple(self._bounds)

    def findings(self, batch: Batch) -> tuple[Finding, ...]:
        """All sentences worth an item in the new steps of a batch, in their order.

        Only steps of persons are read, not those of the assistant, the system or tools. Text that recall has just shown
        to the user is not extracted again.
        """
        return self._reading(batch).findings

    def unread(self, batch: Batch) -> tuple[str, ...]:
        """One line for each message that is not read completely, for ``degraded``."""
        return self._reading(batch).unread

    def _reading(self, batch: Batch) -> _BatchReading:
        cached = self._cache.get(id(batch))
        if cached is None:
            weakref.finalize(batch, self._cache.pop, id(batch), None).atexit = False
            sentences = [
                (step, list(islice(split_sentences(step.step.content), _MOST_SENTENCES + 1)))
                for step in self._steps(batch)
            ]
            unread = tuple(
                f"of message {step.step.id} the reader read the first {_MOST_SENTENCES} sentences: items are extracted "
                "from those alone; store documents as files or in shorter messages"
                for step, spans in sentences
                if len(spans) > _MOST_SENTENCES
            )
            cached = self._cache[id(batch)] = _BatchReading(tuple(self._read(batch, sentences)), unread)
        return cached

    @staticmethod
    def _steps(batch: Batch) -> list[BatchStep]:
        """The new steps of persons that do not only repeat what recall has just shown."""
        shown = [text.strip() for text in batch.shown]
        return [
            step
            for step in batch.steps
            if step.step.role in ("user", "other")
            and step.step.content.strip()
            and not any(step.step.content.strip() in text for text in shown)
        ]

    def _read(
        self, batch: Batch, sentences: Sequence[tuple[BatchStep, Sequence[tuple[int, int]]]]
    ) -> Iterator[Finding]:
        spans = [
            (step, step.step.content[start:end])
            for step, sentence_spans in sentences
            for start, end in sentence_spans[:_MOST_SENTENCES]
            if _SHORTEST <= end - start <= _LONGEST
        ]
        texts = [sentence for _, sentence in spans]
        readings = self._classifiers.read(texts, self._embedder.embed_documents(texts))
        chosen = [
            (step, sentence, reading, kinds)
            for (step, sentence), reading in zip(spans, readings, strict=True)
            if (kinds := self._kinds(reading)) and not find_references(sentence)  # a secret is in the vault already
        ]
        names = self._subjects([sentence for _, sentence, _, kinds in chosen if "semantic" in kinds])
        for step, sentence, reading, kinds in chosen:
            date = None
            if reading.dated >= _DATED:
                prefer: Literal["past", "future"] = "past" if reading.past >= 0.5 else "future"
                date = next(iter(find_dates(sentence, step.step.occurred_at, batch.zone, prefer=prefer)), None)
            for kind in kinds:
                yield Finding(
                    kind=kind,
                    text=sentence,
                    step=step,
                    probability=reading.types[kind],
                    reading=reading,
                    date=date,
                    name=names.get(sentence, ""),
                )

    def _kinds(self, reading: SentenceReading) -> list[ItemKind]:
        """The kinds of items that a sentence is worth; only sentences about the user become core items."""
        of_user = reading.of_user >= _OF_USER
        return [
            kind for kind, bound in self._bounds.items() if reading.types[kind] >= bound and (of_user or kind != "core")
        ]

    def _subjects(self, sentences: Sequence[str]) -> Mapping[str, str]:
        """Sentence → its subject; the static embedder has no head for it."""
        if self._embedder.name != "bundled" or not sentences:
            return {}
        return dict(zip(sentences, open_heads().subjects(sentences), strict=True))

    def superseded(self, new: Sequence[str], known: Sequence[str]) -> list[int | None]:
        """The earlier statement that each new one supersedes: the one with the best pair score above the bound, if any.

        Only the nearest earlier statements are scored, all pairs in one call.

        Args:
            new: statements in order, each of which may supersede those before it.
            known: statements of known items.

        Returns:
            For each new statement an index into ``[*known, *new]``, each index at most once, or None.
        """
        if self._supersedes is None or not new:
            return [None] * len(new)
        texts = [*known, *new]
        vectors = self._embedder.embed_documents(texts)
        pairs: list[tuple[int, int]] = []
        for later in range(len(known), len(texts)):
            cosines = vectors[:later] @ vectors[later]
            nearest = [int(index) for index in np.argsort(-cosines) if texts[index] != texts[later]][:_MOST_PAIRS]
            pairs += [(index, later) for index in nearest if cosines[index] >= _LEAST_COSINE]
        scores = self._supersedes([(texts[earlier], texts[later]) for earlier, later in pairs]) if pairs else ()
        superseded: dict[int, int] = {}
        for score, (earlier, later) in sorted(
            zip(scores, pairs, strict=True), key=lambda scored: (scored[1][1], -scored[0])
        ):
            if score >= _SUPERSEDES and later not in superseded and earlier not in superseded.values():
                superseded[later] = earlier
        return [superseded.get(later) for later in range(len(known), len(texts))]


class EmbeddedMetaManager:
    """Routes a batch to the managers of the kinds for which the reader has findings.

    Args:
        reader: shared with the managers, so that a batch is read once.
    """

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    def route(self, batch: Batch) -> Sequence[Instruction]:
        """One instruction for each kind with findings, in the order of the kinds."""
        steps: dict[str, dict[str, None]] = {}
        for finding in self._reader.findings(batch):
            steps.setdefault(finding.kind, {})[finding.step.step.id] = None
        return [
            Instruction(kind=kind, step_ids=tuple(steps[kind]), task=f"{len(steps[kind])} step(s) by the reader")
            for kind in self._reader.kinds
            if kind in steps
        ]

    def unread(self, batch: Batch) -> Sequence[str]:
        """As :meth:`Reader.unread`."""
        return self._reader.unread(batch)


class EmbeddedManager:
    """Proposes items of one kind from the reader's findings.

    Args:
        kind: the memory type of the items.
        reader: shared by the managers of a memory.
    """

    def __init__(self, kind: ItemKind, reader: Reader) -> None:
        self.kind: ItemKind = kind
        self._reader = reader

    @property
    def compares(self) -> bool:
        """Whether its findings may supersede the nearest known items; otherwise :meth:`propose` does not read these."""
        return self._reader.supersedes and self.kind in ("core", "semantic")

    def propose(self, batch: Batch, instruction: Instruction, nearest: Mapping[str, MemoryItem]) -> Proposals:
        """Propose an ``add`` for each finding of this kind, or a ``supersede`` of an earlier item.

        Args:
            nearest: active items of this kind by id, the nearest first.
        """
        wanted = frozenset(instruction.step_ids)
        active = [item for item in nearest.values() if item.status == "active" and item.kind == self.kind]
        findings = [
            finding
            for finding in self._reader.findings(batch)
            if finding.kind == self.kind and (not wanted or finding.step.step.id in wanted)
        ]
        groups = list(_groups(findings, self.kind))
        keys = [f"{self.kind}-{group[0].step.step.id}-{number}" for number, group in enumerate(groups)]
        targets: Sequence[str | None] = [None] * len(groups)
        unreadable: tuple[str, ...] = ()
        if self.compares:
            names = [*(item.id for item in active), *keys]
            try:
                superseded = self._reader.superseded(
                    [group[0].text for group in groups], [_statement(item) for item in active]
                )
                targets = [None if index is None else names[index] for index in superseded]
            except ModelFileError as error:
                unreadable = (f"nothing is superseded: {error}",)
        proposals = tuple(
            self._proposal(group, target, key, batch.zone)
            for group, target, key in zip(groups, targets, keys, strict=True)
        )
        return Proposals(proposals=proposals, degraded=(*self._reader.unread(batch), *unreadable))

    def _proposal(self, group: Sequence[Finding], target: str | None, key: str, zone: tzinfo) -> Proposal:
        return Proposal(
            operation="add" if target is None else "supersede",
            kind=self.kind,
            values=_values(group, zone),
            target=target,
            key=key,
            evidence=tuple(Evidence(step_id=finding.step.step.id, quote=finding.text) for finding in group),
            reason="stated by the user",
            proposed_by=f"embedded.{self.kind}",
        )


def embedded_managers(reader: Reader) -> dict[ItemKind, EmbeddedManager]:
    """The managers of the types that ship. That of the vault proposes nothing, since ``record`` stores secrets."""
    return {kind: EmbeddedManager(kind, reader) for kind in (*reader.kinds, "vault")}


def _groups(findings: Sequence[Finding], kind: ItemKind) -> list[list[Finding]]:
    """Findings grouped by item: those of a procedure in one message are one item, all others one item each."""
    if kind != "procedural":
        return [[finding] for finding in findings]
    groups: dict[str, list[Finding]] = {}
    for finding in findings:
        groups.setdefault(finding.step.step.id, []).append(finding)
    return list(groups.values())


def _statement(item: MemoryItem) -> str:
    return str(getattr(item, "value", "") or getattr(item, "summary", "") or item.text)


def _values(group: Sequence[Finding], zone: tzinfo) -> dict[str, object]:
    """The fields of the item of a group of findings."""
    finding = group[0]
    step = finding.step.step
    speaker = step.speaker
    began = _began(finding, step.occurred_at, zone)
    shared: dict[str, object] = {"valid_from": began} if began is not None else {}
    match finding.kind:
        case "core":
            certain = finding.reading.attribute_probability >= _ATTRIBUTE
            return {"label": finding.reading.attribute if certain else "about", "value": finding.text, **shared}
        case "episodic":
            occurred = _moment(finding.date, zone) if finding.date is not None else step.occurred_at
            coarse = precision_of(finding.date.precision) if finding.date is not None else None
            metadata = {} if coarse is None else {"metadata": {PRECISION: coarse}}
            return {"summary": finding.text, "actor": speaker, "occurred_at": occurred, **metadata}
        case "semantic":
            return {"name": finding.name or speaker, "summary": finding.text, **shared}
        case "procedural":
            return {"summary": finding.text[:200], "steps": tuple(step_finding.text for step_finding in group)}
        case "resource":
            return {"title": finding.text[:120], "content": finding.text}
        case _:
            return {"caption": finding.text[:120]}


def _began(finding: Finding, stated_at: datetime, zone: tzinfo) -> datetime | None:
    """The start of the statement's validity: the day in it, unless that is after the message."""
    if finding.date is None or finding.date.precision != "day":
        return None
    moment = _moment(finding.date, zone)
    return moment if moment <= stated_at else None


def _moment(date: DateSpan, zone: tzinfo) -> datetime:
    return datetime.combine(date.day, date.clock or time(), tzinfo=zone)
