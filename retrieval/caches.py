"""The caches of recalls, in one place, so that one call evicts a user from all of them."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from hexamem.stores.documents import searchable
from hexamem.stores.embedders import Embedder
from hexamem.stores.embedders.token_bags import TokenBag
from hexamem.stores.ledger import Ledger, Transaction
from hexamem.stores.ledger.labels import carried_labels
from hexamem.stores.ledger.shown_items import item_states, item_texts, items_before, items_since
from hexamem.stores.ledger.step_texts import plain_steps
from hexamem.stores.ledger.steps import steps_before, steps_since
from hexamem.stores.record_cache import RecordCache
from hexamem.stores.vocabulary_cache import VocabularyCache

__all__ = ["RecallCaches"]

_AT_ONCE = 64
"""Records that :meth:`RecallCaches.fill` adds at once: a few milliseconds, for which a recall may have to wait."""

_STATES_AT_ONCE = 1_000
"""More, since each has only three short fields."""


class RecallCaches:
    """Bounded caches for all users of a home. Thread-safe.

    Attributes:
        vocabularies: user → labels.
        carried: step id → label ids.
        states: item id → status.
    """

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self.vocabularies = VocabularyCache()
        self.carried = RecordCache(carried_labels, steps_since)
        self.states = RecordCache(item_states, items_since)
        self._steps = RecordCache(self._step_bags, steps_since)
        self._items = RecordCache(self._item_bags, items_since)

    def bags(self, tx: Transaction, record_ids: Collection[str]) -> dict[str, TokenBag]:
        """The token bags of active steps and of items, for late interaction; the embedder must have token vectors."""
        steps = [record_id for record_id in record_ids if record_id.startswith("step_")]
        bags = dict(self._steps.of(tx, steps)) if steps else {}
        if len(steps) < len(record_ids):
            items = [record_id for record_id in record_ids if not record_id.startswith("step_")]
            bags.update(self._items.of(tx, items))
        return bags

    def holds(self, user: str) -> bool:
        """Whether the cache has token bags of a user."""
        return self._steps.holds(user)

    def fill(self, tx: Transaction) -> bool:
        """Add some more token bags of the user, the newest records first, within the bound; whether there is more to add."""
        return self._steps.fill(tx, steps_before, _AT_ONCE) or self._items.fill(tx, items_before, _AT_ONCE)

    def refresh(self, ledger: Ledger, user: str) -> None:
        """Add the status of some more items of a user who is in the cache."""
        if self.states.holds(user):
            with ledger.read(user) as tx:
                if tx.user_id:
                    self.states.fill(tx, items_before, _STATES_AT_ONCE)

    def drop(self, user: str) -> None:
        """Evict a user."""
        self.vocabularies.drop(user)
        for records in (self.carried, self.states, self._steps, self._items):
            records.drop(user)

    def _step_bags(self, tx: Transaction, step_ids: Collection[str]) -> Mapping[str, TokenBag]:
        return self._bags({step.id: step.line for step in plain_steps(tx, step_ids).values()})

    def _item_bags(self, tx: Transaction, item_ids: Collection[str]) -> Mapping[str, TokenBag]:
        return self._bags(item_texts(tx, item_ids))

    def _bags(self, texts: Mapping[str, str]) -> Mapping[str, TokenBag]:
        bags = self._embedder.token_bags([searchable(text) for text in texts.values()])
        return dict(zip(texts, bags, strict=True))
