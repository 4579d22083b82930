"""What headers and memos are made from: steps with names of labels, and what references of a page stand for."""

from __future__ import annotations

from collections.abc import Sequence

from hexamem.intent.page_memos import SaidStep
from hexamem.stores.documents import searchable
from hexamem.stores.ledger import Transaction
from hexamem.stores.ledger.labels import read_labels
from hexamem.stores.ledger.pages import PageStep
from hexamem.stores.secrets import tell_references
from hexamem.stores.vocabulary import Vocabulary

__all__ = ["LabelNames", "meant_by", "said"]

_TEXT = 4_000  # characters of a step that a memo is made from
_MEANT = 3


class LabelNames:
    """Names of labels, read when first needed."""

    def __init__(self, vocabulary: Vocabulary | None, tx: Transaction) -> None:
        self._scopes, self._tx = vocabulary, tx
        self._all: Vocabulary | None = None

    def _known(self) -> Vocabulary:
        if self._all is None:
            self._all = Vocabulary(read_labels(self._tx))
        return self._all

    def path(self, scope_id: str | None) -> str:
        """A scope with the wider ones before it; "" without one."""
        return self._known().path(scope_id) if scope_id and scope_id in self._known().by_id else ""


def said(step: PageStep) -> SaidStep:
    """A step as memos read it."""
    text = step.text if step.resolved_text is None else step.resolved_text
    text = text if len(text) <= _TEXT else f"{text[: _TEXT * 3 // 4]}\n{text[-_TEXT // 4 :]}"
    return SaidStep(
        speaker=" ".join(searchable(step.speaker).split())[:40],
        role=step.role,
        text=tell_references(text) if "{{" in text else text,
        occurred_at=step.occurred_at,
    )


def meant_by(steps: Sequence[PageStep]) -> list[str]:
    """What was put in place of references in the first steps, and stands nowhere else in the page."""
    found: dict[str, None] = {}
    known = " ".join(step.text for step in steps[:6]).casefold()
    for step in steps[:6]:
        if step.resolved_text is None or not step.active:
            continue
        for words in _added(step.text, step.resolved_text):
            if words.casefold() not in known:
                found[words] = None
    return [searchable(one)[:60] for one in list(found)[:_MEANT]]


def _added(text: str, resolved: str) -> list[str]:
    """Runs of words that the resolved text has and the text does not."""
    own = set(text.split())
    runs: list[list[str]] = [[]]
    for word in resolved.split():
        if word in own:
            runs.append([])
        else:
            runs[-1].append(word)
    return [line for run in runs if (line := " ".join(run).strip(" .,;:!?()[]")) and len(line) > 2]
