"""Duplicates: whether two items state the same fact.

A fact stored twice does little harm, but two facts merged by mistake lose one. So two items state the same fact only if
their words are the same.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import tzinfo

from hexamem.memory_types import (
    CoreItem,
    EpisodicItem,
    MemoryItem,
    ProceduralItem,
    ResourceItem,
    SemanticItem,
    Source,
    VaultItem,
)
from hexamem.memory_types.item_keys import fold, statement_of

__all__ = ["join_sources", "same_fact", "same_statement"]


def join_sources(first: Iterable[Source], second: Iterable[Source]) -> tuple[Source, ...]:
    """All sources of both, each once."""
    return tuple(dict.fromkeys((*first, *second)))


def same_statement(known: MemoryItem, new: MemoryItem) -> bool:
    """Whether the statements of two items have the same words, whatever their subjects."""
    return fold(statement_of(known)) == fold(statement_of(new))


def same_fact(known: MemoryItem, new: MemoryItem, zone: tzinfo) -> bool:
    """Whether two items of one kind state the same fact about the same subject, and the same time.

    The subject is the label of a core item, the name of a semantic item, the day of an event in the user's zone, the
    content of a resource, and the secret of a vault item.
    """
    if known.kind != new.kind or _subject(known, zone) != _subject(new, zone):
        return False
    if new.valid_from and known.valid_to and new.valid_from >= known.valid_to:
        return False
    if isinstance(new, ResourceItem) or (isinstance(new, VaultItem) and new.secret_id):
        return True
    return same_statement(known, new)


def _subject(item: MemoryItem, zone: tzinfo) -> object:
    match item:
        case CoreItem():
            return fold(item.label)
        case SemanticItem():
            return fold(item.name)
        case EpisodicItem():
            return item.occurred_at.astimezone(zone).date()
        case ResourceItem():
            return item.content.split() or [fold(item.title)]
        case VaultItem():
            return item.secret_id or fold(item.entry_type)
        case ProceduralItem():
            return len(item.steps)
        case _:
            return None
