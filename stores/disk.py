"""What several stores need of the file system."""

from __future__ import annotations

import ctypes
import os
import sys
from pathlib import Path

__all__ = ["sync_file_system", "sync_folder"]


def sync_folder(folder: Path) -> None:
    """Make what was created, renamed or removed in a folder durable, where the system lets a folder be opened."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_file_system(folder: Path) -> bool:
    """Bring what was written to the file system of a folder to its disk; whether the system has done so.

    Linux does this for one file system. Elsewhere all of them are asked for, which may mean a slow disk of others.
    """
    call = getattr(ctypes.CDLL(None), "syncfs", None) if sys.platform == "linux" else None
    if call is not None:
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            return bool(call(descriptor) == 0)
        finally:
            os.close(descriptor)
    if not hasattr(os, "sync"):
        return False
    os.sync()
    return True
