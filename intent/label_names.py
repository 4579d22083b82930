"""Names of labels: how they are compared, which do, and the ids that follow from them."""

from __future__ import annotations

import hashlib
import re
import unicodedata

from hexamem.memory_types.labels import LabelKind

__all__ = ["fold_name", "label_id", "refusal"]


_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_NOT_WORD = re.compile(r"[\W_]+")
_ID_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"


def fold_name(name: str) -> str:
    """The form under which names are compared: ``Opening_Hours``, ``opening hour`` and ``OpeningHours`` are one.

    A name without a letter or digit folds to itself, so that no two of them are taken for each other.
    """
    text = _CAMEL.sub(" ", unicodedata.normalize("NFKC", name)).casefold()
    return " ".join(_singular(word) for word in _NOT_WORD.split(text) if word) or name


def _singular(word: str) -> str:
    """An English plural and its singular folded alike, so that ``Opening hours`` and ``opening_hour`` are one name."""
    if len(word) < 4 or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    return word[:-3] + "y" if word.endswith("ies") else word[:-1]


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
