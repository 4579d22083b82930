"""The id of a home folder, by which its indexes differ from those of other homes on the same ledger."""

from __future__ import annotations

import uuid
from pathlib import Path

__all__ = ["home_id"]


def home_id(home: Path) -> str:
    """The home's id, 32 hexadecimal digits, created when first needed and stored in the file ``home.id``.

    A copy of the home has the same id, so that its copied indexes stay valid.
    """
    path = home / "home.id"
    if path.is_file() and len(stored := path.read_text(encoding="ascii", errors="replace").strip()) == 32:
        return stored
    new = uuid.uuid4().hex
    path.write_text(new + "\n", encoding="ascii")
    return new
