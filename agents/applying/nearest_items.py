"""Which known items a manager is shown: of a few all, of many those that a search for each step finds."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from hexamem.memory_types import ItemKind
from hexamem.retrieval import STRATEGIES, Searcher
from hexamem.retrieval.permit import Request
from hexamem.stores.ledger import Ledger
from hexamem.stores.ledger.items import count_items, select_item_ids

__all__ = ["nearest_items"]

_QUERY = 1_000  # characters
_FIRST = 10  # reciprocal rank fusion: how much the first ranks count


def nearest_items(
    ledger: Ledger,
    searcher: Searcher,
    user: str,
    texts: Sequence[str],
    kinds: Collection[ItemKind],
    *,
    most: int,
    small: int,
    strategy: str = "rrf",
) -> Mapping[ItemKind, Sequence[str]]:
    """The ids of active items near to texts by kind, those found foremost first; the indexes must be up to the ledger.

    Args:
        most: how many of a kind at most.
        small: of a kind with no more items than this all are given, the latest first.
        strategy: the ranking that finds them: by words alone costs a fifth of all signals.
    """
    with ledger.read(user) as tx:
        counts = count_items(tx) if tx.user_id else {}
        few = [kind for kind in kinds if 0 < counts.get(kind, 0) <= small]
        found: dict[ItemKind, list[str]] = {
            kind: sorted(select_item_ids(tx, kinds=[kind], superseded=False), reverse=True) for kind in few
        }
    many = frozenset(kind for kind in kinds if counts.get(kind, 0) > small)
    if not many:
        return found
    scores: dict[tuple[ItemKind, str], float] = {}
    for text in dict.fromkeys(text[:_QUERY] for text in texts if text.strip()):
        for kind, item_id, rank in _search(searcher, user, text, many, most, strategy):
            scores[kind, item_id] = scores.get((kind, item_id), 0.0) + 1 / (_FIRST + rank)
    for kind, item_id in sorted(scores, key=lambda one: (-scores[one], one)):
        if len(found.setdefault(kind, [])) < most:
            found[kind].append(item_id)
    return found


def _search(
    searcher: Searcher, user: str, text: str, kinds: frozenset[ItemKind], most: int, strategy: str
) -> Iterator[tuple[ItemKind, str, int]]:
    request = Request(query=text, k=most * len(kinds), kinds=frozenset(kinds))
    for rank, hit in enumerate(searcher.search(user, request, STRATEGIES[strategy]), 1):
        if hit.kind in kinds and not hit.superseded:
            yield hit.kind, hit.id, rank
