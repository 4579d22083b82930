"""What the words of a label come from: how labels are named, and the words that are said in steps."""

from __future__ import annotations

from collections.abc import Collection, Generator
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any, Protocol

from sqlalchemy import Row, Select, select

from hexamem.memory_types.labels import LabelKind
from hexamem.stores.ledger.ledger import Transaction, chunks
from hexamem.stores.ledger.schema import labelings, steps

__all__ = ["SAID", "Said", "Wording", "active_texts", "carrying_steps", "said_text", "unsaid"]

SAID = [steps.c[name] for name in ("id", "seq", "thread_id", "status", "name", "content", "index_text")]
"""What is read of a step to see which words it says."""


class Wording(Protocol):
    """Which words of labels and texts can be compared: ``LabelWording`` in ``intent/label_names.py``."""

    def telling(self, text: str) -> frozenset[str]:
        """The words of a text that tell something, in a form in which they can be compared."""
        ...

    def of_name(self, kind: LabelKind, name: str) -> frozenset[str]:
        """Those of a label's name that were said: none for what is the name of a type or a number."""
        ...


@dataclass(slots=True)
class Said:
    """What was said in some steps, and the words of it that tell something."""

    rows: list[Row[Any]]
    words: dict[str, frozenset[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, tx: Transaction, step_ids: Collection[str]) -> Said:
        """What these steps say; nothing where nobody told how labels are named."""
        wording = tx.wording
        rows: list[Row[Any]] = []
        if wording is None:
            return cls(rows)
        for part in chunks(step_ids):
            rows += tx.all(select(*SAID).where(steps.c.user_id == tx.user_id, steps.c.id.in_(part)))
        return cls(rows, {row.id: wording.telling(said_text(row)) for row in rows})

    @property
    def all(self) -> frozenset[str]:
        """The words of all of them."""
        return frozenset().union(*self.words.values())

    def saying(self, words: Collection[str]) -> set[str]:
        """The steps in which any of these words stand."""
        return {step_id for step_id, said in self.words.items() if not said.isdisjoint(words)}


def said_text(row: Row[Any]) -> str:
    """All that a step says and is found by, the name of who speaks too: a row with the columns of :data:`SAID`."""
    parts = [row.content, *([row.index_text] if row.index_text is not None else []), *([row.name] if row.name else [])]
    return "\n".join(parts)


def unsaid(wording: Wording, words: Collection[str], texts: Generator[str]) -> set[str]:
    """Those of the words that stand in none of the texts, which are read no further than needed."""
    left = set(words)
    with closing(texts):
        for text in texts:
            if not left:
                break
            folded = text.casefold()
            # Most texts hold none of them: that is seen without looking at every word.
            if any((word[:-1] or word) in folded for word in left):
                left -= wording.telling(text)
    return left


def active_texts(tx: Transaction, label_ids: Collection[str] | None) -> Generator[str]:
    """What the active steps say that carry labels (all when None)."""
    for part in [None] if label_ids is None else chunks(label_ids):
        statement = carrying_steps(tx, part).where(steps.c.status == "active")
        with tx.connection.execute(statement, execution_options={"yield_per": 500}) as rows:
            yield from map(said_text, rows)


def carrying_steps(tx: Transaction, label_ids: Collection[str] | None) -> Select[Any]:
    """A statement for the steps that carry any of these labels, in the order in which they were stored."""
    statement = select(*SAID).where(steps.c.user_id == tx.user_id).order_by(steps.c.seq)
    if label_ids is None:
        return statement
    own = (labelings.c.user_id == tx.user_id) & (labelings.c.target == "step") & labelings.c.label_id.in_(label_ids)
    return statement.where(steps.c.id.in_(select(labelings.c.target_id).where(own)))
