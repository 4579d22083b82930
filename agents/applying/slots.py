"""Slots: an attribute of a subject that has one value at a time, as a manager names it.

``home_city`` is an attribute of the user, ``mark.employer`` one of Mark: the subject precedes the last dot. A manager
names the slot of an item in ``metadata["slot"]``. An item without a slot never replaces another.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

__all__ = ["slot_name", "slot_of"]

_SEPARATOR = re.compile(r"\W+")


@lru_cache(maxsize=4_096)
def slot_name(name: str) -> str:
    """The form in which slots are compared: ``Home City`` and ``user.home_city`` are ``home_city``."""
    parts = unicodedata.normalize("NFKC", name).casefold().split(".")
    parts = [part for part in (_SEPARATOR.sub("_", part).strip("_") for part in parts) if part]
    return ".".join(parts[1:] if len(parts) > 1 and parts[0] == "user" else parts)


def slot_of(metadata: Mapping[str, Any]) -> str:
    """The slot that an item's metadata name, folded; empty where there is none."""
    name = metadata.get("slot")
    return slot_name(name) if isinstance(name, str) and not metadata.get("overflow_of") else ""
