"""Keys of items: the same for items that may state the same, or may be values of the same slot."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Mapping
from typing import Any

from hexamem.memory_types.items import (
    CoreItem,
    EpisodicItem,
    MemoryItem,
    ProceduralItem,
    ResourceItem,
    SemanticItem,
    VaultItem,
)

__all__ = ["fold", "secret_key", "slot_name", "slot_of", "statement_key", "statement_of"]

_PUNCTUATION = ".,;:!?…。，；：！？、\"'“”‘’()（）*•"
_SEPARATOR = re.compile(r"\W+")


def fold(text: str) -> str:
    """A text without letter case, width, spacing, and punctuation at the ends of words."""
    words = (word.strip(_PUNCTUATION) for word in unicodedata.normalize("NFKC", text).casefold().split())
    return " ".join(word for word in words if word)


def statement_of(item: MemoryItem) -> str:
    """The text of an item without its label or name."""
    match item:
        case CoreItem():
            return item.value
        case SemanticItem() | EpisodicItem():
            return item.summary
        case ProceduralItem():
            return "\n".join((item.summary, *item.steps))
        case VaultItem():
            return item.caption
        case _:
            return item.text


def statement_key(item: MemoryItem) -> str:
    """A hash, the same for items of one kind that state the same: a document's content, a secret, or the statement's words."""
    if isinstance(item, ResourceItem):
        statement = " ".join(item.content.split()) or fold(item.title)
    elif isinstance(item, VaultItem) and item.secret_id:
        return secret_key(item.secret_id)
    else:
        statement = fold(statement_of(item))
    return _hash(statement)


def secret_key(secret_id: str) -> str:
    """The :func:`statement_key` of the vault item of a secret."""
    return _hash("secret " + secret_id)


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:24]


def slot_name(name: str) -> str:
    """The normalized name of a slot: ``Home City`` and ``user.home_city`` are ``home_city``."""
    parts = unicodedata.normalize("NFKC", name).casefold().split(".")
    parts = [part for part in (_SEPARATOR.sub("_", part).strip("_") for part in parts) if part]
    return ".".join(parts[1:] if len(parts) > 1 and parts[0] == "user" else parts)


def slot_of(metadata: Mapping[str, Any]) -> str:
    """The slot in an item's metadata, normalized by :func:`slot_name`; empty where there is none."""
    name = metadata.get("slot")
    return slot_name(name) if isinstance(name, str) and not metadata.get("overflow_of") else ""
