"""The Chroma records of a ChromaStore: their ids, filters, and conversion to items."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from hashlib import blake2b
from typing import Any, NamedTuple

from langgraph.store.base import PutOp, tokenize_path

from hexamem.errors import InvalidInputError

__all__ = ["Write", "field_paths", "fields_of", "item_digest", "minutes_of", "record_ids", "where_of"]


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


def where_of(prefix: Sequence[str], *conditions: dict[str, Any]) -> dict[str, Any]:
    """Chroma's condition for records under a namespace prefix (all when empty) that meet the others too."""
    under = [{"prefixes": {"$contains": json.dumps(list(prefix))}}] if prefix else []
    every = [*under, *conditions]
    return every[0] if len(every) == 1 else {"$and": every}


def record_ids(row: Mapping[str, Any]) -> list[str]:
    """The ids of all records of an item, from the row of its first."""
    return [f"{row['of']}.{n}" for n in range(max(1, row["texts"]))]


def fields_of(row: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of the item of a row."""
    return {
        "value": json.loads(row["value"]),
        "key": json.loads(row["key"]),
        "namespace": tuple(json.loads(row["namespace"])),
        "created_at": datetime.fromisoformat(row["created"]),
        "updated_at": datetime.fromisoformat(row["updated"]),
    }


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
