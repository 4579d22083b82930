"""Every default of the vector store in one place."""

from __future__ import annotations

from dataclasses import dataclass

from hexamem.errors import ConfigError

__all__ = ["VectorSettings"]


@dataclass(frozen=True, kw_only=True)
class VectorSettings:
    """Every default of the vector store.

    Attributes:
        max_loaded: collections kept in memory at most, about 2.7 MB each plus their vectors (fewer when the
            process's limit of file handles asks for it).
        cache_bytes: memory for vectors of exact searches (64 MB hold 65,000 vectors of 256 dimensions).
        batch_size: records handed to Chroma at once (its limit is 5,461); other threads wait up to 0.6 s for such a batch.
        ef_search: breadth of a search. 1,200 gives a recall of 0.99 at 100 in 100,000 records, 2 ms over 200.
        ef_construction: breadth of an insertion; 100 makes adding 45% slower for a recall 0.004 higher.
        max_neighbors: links an element.
        sync_small: records between two writes of a small collection to its files. Whatever is pending is replayed
            when the collection is loaded, about as fast as it was added.
        sync_large: the same for a large one, where each write rewrites the list of all ids.
        large_from: records from which a collection counts as large.
        scanned: records up to which a collection that is queried again is held in the cache and compared as a whole:
            10,000 of 256 dimensions take 0.5 ms and 10 MB (once 0.2 s), a query of Chroma's graph 2 ms.
        min_free_bytes: writes are refused when the disk has less left.
    """

    max_loaded: int = 64
    cache_bytes: int = 64 << 20
    batch_size: int = 5000
    ef_search: int = 1200
    ef_construction: int = 40
    max_neighbors: int = 16
    sync_small: int = 100
    sync_large: int = 1000
    large_from: int = 2000
    scanned: int = 12_000
    min_free_bytes: int = 64 << 20

    def __post_init__(self) -> None:
        for name in ("max_loaded", "batch_size", "ef_search", "ef_construction", "max_neighbors", "large_from"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name}={getattr(self, name)} of the vector store must be at least 1.")
        if not 2 <= self.sync_small <= self.sync_large:
            raise ConfigError(
                f"sync_small={self.sync_small} must be at least 2 (Chroma's minimum) and at most "
                f"sync_large={self.sync_large}."
            )
        if self.batch_size > 5000:
            raise ConfigError(f"batch_size={self.batch_size} is above Chroma's limit; use 5000 or less.")
