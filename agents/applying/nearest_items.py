"""The known items for the input of a manager: all where there are few, otherwise those nearest to the steps."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from hexamem.memory_types import ItemKind
from hexamem.stores.embedders import Embedder
from hexamem.stores.ledger import Ledger
from hexamem.stores.ledger.items import count_items, select_item_ids
from hexamem.stores.ledger.ledger import user_key
from hexamem.stores.vectors import VectorIndex

__all__ = ["nearest_items"]

_MOST_TEXTS = 200


def nearest_items(
    ledger: Ledger,
    vectors: VectorIndex,
    embedder: Embedder,
    user: str,
    texts: Sequence[str],
    kinds: Collection[ItemKind],
    *,
    most: int,
    small: int,
    together: int | None = None,
) -> Mapping[ItemKind, Sequence[str]]:
    """Kind → ids of the active items nearest to texts, the nearest first; the indexes must be up to date.

    Args:
        most: the most items of a kind.
        small: of a kind with at most this many items all are returned, the latest first.
        together: in place of these limits, the most items of all kinds together.
    """
    with ledger.read(user) as tx:
        counts = {kind: count for kind, count in (count_items(tx) if tx.user_id else {}).items() if kind in kinds}
        if together is not None:
            most, small = together, together if sum(counts.values()) <= together else 0
        few = {kind: select_item_ids(tx, kinds=[kind], superseded=False) for kind, n in counts.items() if n <= small}
    nearest: dict[ItemKind, list[str]] = {kind: sorted(ids, reverse=True) for kind, ids in few.items()}
    many = counts.keys() - few.keys()
    queries = list(dict.fromkeys(text for text in texts if text.strip()))[:_MOST_TEXTS]
    if not many or not queries:
        return nearest
    likeness: dict[str, float] = {}
    for vector in embedder.embed_documents(queries):
        for item_id, score in vectors.query(user_key(user), "items", vector, most * len(many)):
            likeness[item_id] = max(score, likeness.get(item_id, -1.0))
    with ledger.read(user) as tx:
        wanted = {kind: select_item_ids(tx, kinds=[kind], superseded=False, among=likeness) for kind in many}
    ranked = sorted(set().union(*wanted.values()), key=lambda item_id: (-likeness[item_id], item_id))[:together]
    return nearest | {kind: [item_id for item_id in ranked if item_id in ids][:most] for kind, ids in wanted.items()}
