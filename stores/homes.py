"""The identity of a home folder: what tells its indexes from those of another home on the same ledger."""

from __future__ import annotations

import uuid
from pathlib import Path

__all__ = ["home_id"]


def home_id(home: Path) -> str:
    """The home's id, 32 hexadecimal digits, made when first asked for and kept in the file ``home.id``.

    A copied home keeps it, and with it what its copied indexes hold.
    """
    path = home / "home.id"
    if path.is_file() and len(known := path.read_text(encoding="ascii", errors="replace").strip()) == 32:
        return known
    new = uuid.uuid4().hex
    path.write_text(new + "\n", encoding="ascii")
    return new
