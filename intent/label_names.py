"""Names of labels: the types that every vocabulary begins with, how names are compared, which do, and the ids that follow."""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from functools import cache
from pathlib import Path
from typing import Literal

from hexamem.memory_types.labels import LabelKind

__all__ = ["fold_name", "label_id", "label_types", "refusal"]

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_NOT_WORD = re.compile(r"[\W_]+")
_ID_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"


def fold_name(name: str) -> str:
    """The form under which names are compared: ``Opening_Hours``, ``opening hours`` and ``OpeningHours`` are one.

    A name without a letter or digit folds to itself, so that no two of them are taken for each other.
    """
    text = _CAMEL.sub(" ", unicodedata.normalize("NFKC", name)).casefold()
    return " ".join(word for word in _NOT_WORD.split(text) if word) or name


def label_id(user: str, kind: LabelKind, name: str) -> str:
    """The id of the label that was first given this name; the same in every process."""
    text = "\0".join((user, kind, fold_name(name))).encode("utf-8", "surrogatepass")
    value = int.from_bytes(hashlib.sha256(text).digest()[:16])
    return "label_" + "".join(_ID_ALPHABET[value >> shift & 31] for shift in range(125, -1, -5))


def refusal(name: object, limit: int) -> str | None:
    """Why a name does not do for a label, or None where it does.

    Args:
        name: as it was given.
        limit: characters it may have.
    """
    if not isinstance(name, str):
        return f"a label's name is text, not {type(name).__name__}"
    shown = repr(name if len(name) <= 60 else name[:57] + "...")
    if len(name) > limit:
        return f"label {shown} has {len(name)} characters; give at most {limit}"
    if any(unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp") for character in name):
        return f"label {shown} holds a control character; give words"
    if not any(character.isalnum() for character in name):
        return f"label {shown} holds no letter or digit; give words"
    return None


@cache
def label_types(kind: Literal["event", "entity"]) -> tuple[str, ...]:
    """The names of the types that every vocabulary begins with."""
    stored = json.loads((Path(__file__).parent / "label_types.json").read_text(encoding="utf-8"))
    return tuple(stored["events" if kind == "event" else "entities"])
