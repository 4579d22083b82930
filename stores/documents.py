"""The index records of steps, items and pages: text for both indexes, and fields for filters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from hexamem.memory_types import MemoryItem, ResourceItem, Step
from hexamem.stores.chunking import indexed_passages, passage_id
from hexamem.stores.ledger import IndexedStep, event_time
from hexamem.stores.ledger.pages import PageRow, PageStep
from hexamem.stores.lexical.tokens import repair_surrogates
from hexamem.stores.secrets import with_captions
from hexamem.stores.vocabulary import Vocabulary

__all__ = [
    "Document",
    "item_documents",
    "label_names",
    "page_document",
    "page_text",
    "page_top",
    "searchable",
    "step_document",
    "with_speaker",
]


class Document(NamedTuple):
    """A record to index.

    Attributes:
        text: embedded, and indexed for keywords.
        also: more words for the keyword index: those of the original that the resolved text lacks.
        role: user, assistant, system or tool; empty for an item.
        labels: the label names of an item.
        metadata: see :meth:`with_metadata`.
        label_ids: for the keyword index; for an item they are names too.
    """

    id: str
    text: str
    kind: str
    occurred_at: datetime
    thread_id: str = ""
    speaker: str = ""
    role: str = ""
    labels: tuple[str, ...] = ()
    label_ids: tuple[str, ...] = ()
    also: str = ""
    active: bool = True
    metadata: Mapping[str, str | int | list[str]] = {}

    def with_metadata(self, vocabulary: Vocabulary) -> Document:
        """The document with its metadata for the vector store: ``type``, ``time`` (seconds since 1970), and those it has.

        A step has ``thread``, ``role`` and ``speaker``, and its labels by name: ``scope`` (after its parents), and the
        lists ``events`` and ``entities``; an item has the list ``labels``. Chroma accepts only valid Unicode, so lone
        surrogates are replaced.

        Args:
            vocabulary: contains the labels of a step.
        """
        values: dict[str, str | int | list[str]] = {"type": self.kind, "time": int(self.occurred_at.timestamp())}
        for key, text in (("thread", self.thread_id), ("role", self.role), ("speaker", self.speaker)):
            if text:
                values[key] = repair_surrogates(text)
        if self.kind == "step":
            names = label_names(vocabulary, self.label_ids)
            if scope := names.pop("scope"):
                values["scope"] = scope[0]
            values |= names
        else:
            values["labels"] = [repair_surrogates(label) for label in self.labels]
        return self._replace(metadata={key: value for key, value in values.items() if value != []})


def searchable(text: str) -> str:
    """The text with the caption alone in place of each secret's reference, whose id is no use in a search."""
    return with_captions(text)


def with_speaker(name: str | None, text: str) -> str:
    """The text of a step to embed: after the name of its speaker, if it has one, since questions name people.

    Args:
        text: from :func:`searchable`.
    """
    return f"{searchable(name)}: {text}" if name else text


def step_document(step: Step | IndexedStep) -> Document:
    """The record of a step, with its text after the name of its speaker.

    A text with resolved references is indexed in place of the original, whose other words are in ``also``.
    """
    text, also = searchable(step.index_text), ""
    label_ids: tuple[str, ...] = ()
    if isinstance(step, IndexedStep):
        label_ids = step.label_ids
        if step.resolved_text is not None:
            resolved = set(step.resolved_text.split())
            also = " ".join(word for word in text.split() if word not in resolved)
            text = step.resolved_text
    return Document(
        id=step.id,
        text=with_speaker(step.name, text),
        also=also,
        kind="step",
        thread_id=step.thread_id,
        speaker=step.speaker,
        role=step.role,
        occurred_at=step.occurred_at,
        label_ids=label_ids,
        active=step.status == "active",
    )


def label_names(vocabulary: Vocabulary, label_ids: Iterable[str]) -> dict[str, list[str]]:
    """The names of labels by metadata key of the vector store: ``scope``, ``events`` and ``entities``."""
    names: dict[str, list[str]] = {"scope": [], "events": [], "entities": []}
    for label_id in dict.fromkeys(map(vocabulary.canonical, label_ids)):
        label = vocabulary.by_id.get(label_id)
        if label is not None and label.kind == "scope":
            names["scope"].append(repair_surrogates(vocabulary.path(label_id)))
        elif label is not None:
            names["events" if label.kind == "event" else "entities"].append(repair_surrogates(label.name))
    return {key: list(dict.fromkeys(values)) for key, values in names.items()}


def item_documents(item: MemoryItem) -> list[Document]:
    """The records of an item. Superseded items are active records; merged and removed ones are not.

    A long resource has a record of its title and summary, and one per passage. Only the first has the labels, so that
    they count once.
    """
    active = item.status in ("active", "superseded")
    passages = list(indexed_passages(item)) if active and isinstance(item, ResourceItem) else []
    text = f"{item.title}\n{item.summary}" if passages and isinstance(item, ResourceItem) else item.text
    whole = Document(
        id=item.id,
        text=searchable(text),
        kind=item.kind,
        occurred_at=event_time(item),
        labels=item.labels,
        label_ids=item.labels,
        active=active,
    )
    return [whole, *(_passage(item, span, words, whole.occurred_at) for span, words in passages)]


def _passage(item: MemoryItem, span: tuple[int, int], words: str, occurred_at: datetime) -> Document:
    return Document(id=passage_id(item.id, span), text=searchable(words), kind=item.kind, occurred_at=occurred_at)


def page_top(page: PageRow) -> str:
    """The text of a page that is embedded in addition to its steps."""
    return f"{page.header}\n{page.memo}"


def page_text(page: PageRow, steps: Sequence[PageStep]) -> str:
    """The text of a page for the keyword index: header, memo, and each step after its speaker."""
    lines = [line for line in (page.header, page.memo) if line]
    for step in steps:
        lines.append(
            with_speaker(step.name, searchable(step.text if step.resolved_text is None else step.resolved_text))
        )
    return "\n".join(lines)


def page_document(page: PageRow, steps: Sequence[PageStep]) -> Document:
    """The record of a page with its active steps; without any it is in no index."""
    return Document(
        id=page.id,
        text=page_text(page, steps),
        kind="page",
        occurred_at=page.started_at,
        thread_id=page.thread_id,
        label_ids=tuple(dict.fromkeys(step.scope_id for step in steps if step.scope_id)),
        active=bool(steps),
    )
