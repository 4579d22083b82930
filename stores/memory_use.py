"""Giving memory that a large batch freed back to the system."""

from __future__ import annotations

import ctypes
import os

__all__ = ["give_back"]


def give_back() -> None:
    """Ask the C library to return what is free; glibc keeps it otherwise. Elsewhere nothing is done."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if os.name == "posix" else None
    if trim is not None:
        trim(0)
