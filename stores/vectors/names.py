"""How the collections of the vector store are named: ``hexamem.<user key>.<part>``."""

from __future__ import annotations

import re
from typing import Literal, cast, get_args

from hexamem.errors import InvalidInputError, MissingUserError

__all__ = ["PARTS", "PREFIX", "Part", "collection_name", "user_and_part"]

Part = Literal["steps", "pages", "items"]

PARTS: tuple[Part, ...] = get_args(Part)
PREFIX = "hexamem."
_USER_KEY = re.compile(r"[0-9a-f]{8,128}")


def collection_name(user_key: str, part: Part) -> str:
    """The name of one user's collection; MissingUserError or InvalidInputError when there can be none."""
    if not user_key:
        raise MissingUserError("The vector store was called without a user key.")
    if not _USER_KEY.fullmatch(user_key):
        raise InvalidInputError(f"user_key={user_key!r} is not a hash of 8 to 128 hexadecimal digits in lower case.")
    if part not in PARTS:
        raise InvalidInputError(f"part={part!r} is none of {', '.join(PARTS)}.")
    return f"{PREFIX}{user_key}.{part}"


def user_and_part(name: str) -> tuple[str, Part]:
    """The user key and the part of a collection of this name."""
    user_key, _, part = name.removeprefix(PREFIX).rpartition(".")
    return user_key, cast(Part, part)
