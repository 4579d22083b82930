"""The Chroma records of a ChromaStore: their ids, filters, and conversion to items."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from hashlib import blake2b
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from langgraph.store.base import Item, PutOp, SearchItem, tokenize_path

from hexamem.errors import InvalidInputError

__all__ = [
    "Write",
    "as_item",
    "as_search_item",
    "field_paths",
    "item_digest",
    "known_vectors",
    "minutes_of",
    "parts_of",
    "record_ids",
    "where_of",
]

_BATCH = 2_000


class Write(NamedTuple):
    """An item to write: the row of its first record (None to delete it) and the vectors of its texts."""

    of: str
    row: dict[str, Any] | None
    begin: int
    end: int
    vectors: Any = ()


def field_paths(fields: Iterable[str]) -> list[Any]:
    """The parsed paths of fields to index; ``$`` is the whole value."""
    return [field if field == "$" else tokenize_path(field) for field in fields]


def item_digest(namespace: Sequence[str], key: str) -> str:
    """A hash of namespace and key, the prefix of the ids of an item's records."""
    return blake2b(json.dumps([list(namespace), key]).encode(), digest_size=20).hexdigest()


def known_vectors(vectors: Any) -> Any:
    """The vectors that are not zero: a text without a word that the embedder knows has a zero vector."""
    return vectors[np.any(vectors, axis=1)] if len(vectors) else vectors


def where_of(prefix: Sequence[str], *conditions: dict[str, Any]) -> dict[str, Any]:
    """Chroma's condition for records under a namespace prefix (all when empty) that meet the others too."""
    under = [{"prefixes": {"$contains": json.dumps(list(prefix))}}] if prefix else []
    every = [*under, *conditions]
    return every[0] if len(every) == 1 else {"$and": every}


def record_ids(row: Mapping[str, Any]) -> list[str]:
    """The ids of all records of an item, from the row of its first."""
    return [f"{row['of']}.{n}" for n in range(max(1, row["texts"]))]


def parts_of(values: Sequence[str]) -> Iterable[list[str]]:
    """The values in batches that one call of Chroma accepts."""
    rest = iter(values)
    while part := list(islice(rest, _BATCH)):
        yield part


def _fields(row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "value": json.loads(row["value"]),
        "key": json.loads(row["key"]),
        "namespace": tuple(json.loads(row["namespace"])),
        "created_at": datetime.fromisoformat(row["created"]),
        "updated_at": datetime.fromisoformat(row["updated"]),
    }


def as_item(row: Mapping[str, Any]) -> Item:
    """The item of a row."""
    return Item(**_fields(row))


def as_search_item(row: Mapping[str, Any], score: float | None) -> SearchItem:
    """The result of a search, of a row."""
    return SearchItem(**_fields(row), score=score)


def minutes_of(op: PutOp) -> float:
    """The time to live of an item in minutes; 0 for no limit."""
    ttl: object = op.ttl
    if ttl is None:
        return 0.0
    if isinstance(ttl, bool) or not isinstance(ttl, int | float) or not 0 < ttl < math.inf:
        raise InvalidInputError(
            f"ttl = {ttl!r} of {op.key!r} in {op.namespace!r}: give minutes above 0, or None for no limit"
        )
    return float(ttl)
