"""What recalls keep in memory from one to the next, all in one place, so that one call lets go of it."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from hexamem.stores.documents import searchable
from hexamem.stores.embedders import Embedder
from hexamem.stores.embedders.token_bags import TokenBag
from hexamem.stores.kept_records import KeptRecords
from hexamem.stores.kept_vocabularies import KeptVocabularies
from hexamem.stores.ledger import Ledger, Transaction
from hexamem.stores.ledger.labels import carried_labels
from hexamem.stores.ledger.shown_items import item_states, item_texts, items_before, items_since
from hexamem.stores.ledger.step_texts import step_texts
from hexamem.stores.ledger.steps import steps_before, steps_since

__all__ = ["RecallCaches"]

_AT_ONCE = 64
"""Records that are taken in without being asked for: a few milliseconds, for which a recall may have to wait."""

_STATES_AT_ONCE = 1_000
"""What is kept of each is three short fields."""


class RecallCaches:
    """Bounded working sets of a home's users. Safe to use from several threads.

    Attributes:
        vocabularies: their labels.
        carried: the label ids that steps carry.
        states: the status of items.
    """

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self.vocabularies = KeptVocabularies()
        self.carried = KeptRecords(carried_labels, steps_since)
        self.states = KeptRecords(item_states, items_since)
        self._steps = KeptRecords(self._step_bags, steps_since)
        self._items = KeptRecords(self._item_bags, items_since)

    def bags(self, tx: Transaction, record_ids: Collection[str]) -> dict[str, TokenBag]:
        """What late interaction compares of active steps and of items; only for an embedder that has vectors of
        tokens."""
        steps = [one for one in record_ids if one.startswith("step_")]
        found = dict(self._steps.of(tx, steps)) if steps else {}
        if len(steps) < len(record_ids):
            found.update(self._items.of(tx, [one for one in record_ids if not one.startswith("step_")]))
        return found

    def asked(self, user: str) -> bool:
        """Whether bags of a user were asked for, and not let go of."""
        return self._steps.holds(user)

    def fill(self, tx: Transaction) -> bool:
        """Take in some more bags of the user, the newest records first, as far as there is room; whether there is more."""
        return self._steps.fill(tx, steps_before, _AT_ONCE) or self._items.fill(tx, items_before, _AT_ONCE)

    def refresh(self, ledger: Ledger, user: str) -> None:
        """Take in the status of some more items of a user of whom that of others was asked for."""
        if self.states.holds(user):
            with ledger.read(user) as tx:
                if tx.user_id:
                    self.states.fill(tx, items_before, _STATES_AT_ONCE)

    def drop(self, user: str) -> None:
        """Let go of everything of a user."""
        self.vocabularies.drop(user)
        for records in (self.carried, self.states, self._steps, self._items):
            records.drop(user)

    def _step_bags(self, tx: Transaction, step_ids: Collection[str]) -> Mapping[str, TokenBag]:
        return self._bags(step_texts(tx, step_ids))

    def _item_bags(self, tx: Transaction, item_ids: Collection[str]) -> Mapping[str, TokenBag]:
        return self._bags(item_texts(tx, item_ids))

    def _bags(self, texts: Mapping[str, str]) -> Mapping[str, TokenBag]:
        bags = self._embedder.token_bags([searchable(text) for text in texts.values()])
        return dict(zip(texts, bags, strict=True))
