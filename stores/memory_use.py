"""Returning freed memory to the operating system."""

from __future__ import annotations

import ctypes
import os

__all__ = ["release_memory"]

# Parameters of glibc's mallopt().
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
_MAX_FREE = 1 << 20
_OWN_MAPPING = 4 << 20


def release_memory() -> None:
    """Make glibc return free memory, which it retains otherwise. With other C libraries nothing is done.

    From the first call on, at most 1 MB stays free at the end of each of glibc's arenas, and blocks from 4 MB on have
    mappings of their own. By default glibc raises both bounds with the largest block ever freed, up to 64 MB for each of
    eight arenas a core; each commit of an index and each start of Chroma uses other arenas, and ``malloc_trim`` does
    not reach their ends.
    """
    library = ctypes.CDLL(None) if os.name == "posix" else None
    trim, option = getattr(library, "malloc_trim", None), getattr(library, "mallopt", None)
    if trim is not None and option is not None:
        option(_TRIM_THRESHOLD, _MAX_FREE)
        option(_MMAP_THRESHOLD, _OWN_MAPPING)
        trim(0)
