"""Opening and closing an embedded Chroma client whose cache of HNSW segments never evicts."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from hexamem.errors import ConfigError, HexamemError, HomeNotWritableError, StorageFullError
from hexamem.stores.memory_use import release_memory

if TYPE_CHECKING:
    from chromadb.api.client import Client

__all__ = [
    "close_client",
    "disk_errors",
    "handle_limit",
    "http_status",
    "internal_error",
    "make_writable",
    "open_client",
]

# Four files stay open for a loaded segment; while it loads there are more.
_HANDLES_EACH = 5
_CACHE_SHARDS = 64
_FULL = {errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC)}
_READ_ONLY = (errno.EROFS, errno.EACCES, errno.EPERM)


def handle_limit(max_loaded: int) -> int:
    """The number of collections to load at most: ``max_loaded``, or what half of the process's file handles allow."""
    try:
        import resource
    except ImportError:  # Windows: no such limit
        return max_loaded
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return max_loaded
    return max(2, min(max_loaded, soft // 2 // _HANDLES_EACH))


def make_writable(folder: Path) -> None:
    """Create the folder and check that it can be written.

    Raises:
        HomeNotWritableError, StorageFullError: it cannot be created or written.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        probe = folder / ".hexamem-probe"
        probe.write_bytes(b"")
        probe.unlink()
    except OSError as error:
        if error.errno in _FULL:
            raise StorageFullError(f"No disk left in {folder} ({error}); free some room.") from error
        raise HomeNotWritableError(f"{folder} cannot be written ({error}); choose another home folder.") from error


@contextmanager
def disk_errors(folder: Path) -> Iterator[None]:
    """Turn errors of the system on a folder into StorageFullError and HomeNotWritableError, with the folder.

    Errors that concern neither its disk nor a file in it, such as those of a network, are raised as they are.
    """
    try:
        yield
    except HexamemError:
        raise
    except OSError as error:
        named = error.filename
        if isinstance(named, str | os.PathLike) and not Path(named).is_relative_to(folder):
            raise
        if error.errno in _FULL:
            raise StorageFullError(f"No disk left in {folder} ({error}); free some room.") from error
        if named is not None or error.errno in _READ_ONLY:
            raise HomeNotWritableError(f"{folder} cannot be read or written ({error}).") from error
        raise


def open_client(folder: Path, *, capacity: int) -> Client:
    """Open the database in ``folder``, without telemetry, with room for ``capacity`` loaded collections.

    Chroma has no setting for the size of its cache, and its shared clients refuse other API classes than their own, so
    the size is set on the API object before it starts.

    Raises:
        ConfigError: this version of chromadb has no such size.
    """
    # Importing Chroma takes a third of the time of all imports, and many calls need no vectors.
    from chromadb.api import ServerAPI
    from chromadb.api.client import Client
    from chromadb.config import Settings, System

    # Without reading the environment, which must not change the store and takes longer than the rest.
    settings = Settings.model_construct(
        chroma_api_impl="chromadb.api.rust.RustBindingsAPI",
        is_persistent=True,
        persist_directory=str(folder),
        anonymized_telemetry=False,
        allow_reset=False,
    )
    system = System(settings)
    server: Any = system.instance(cast(Any, ServerAPI))
    if not isinstance(getattr(server, "hnsw_cache_size", None), int):
        raise ConfigError(
            "This chromadb has no `hnsw_cache_size` on its embedded API, so its eviction, which loses records, "
            "cannot be turned off; install chromadb>=1.5.9,<1.6."
        )
    # The cache has shards by hash, which fill unevenly: each must have room for everything.
    server.hnsw_cache_size = _CACHE_SHARDS * capacity
    system.start()
    return Client.from_system(system)


def internal_error() -> type[Exception]:
    """The exception of Chroma's internal failures."""
    from chromadb.errors import InternalError

    return InternalError


def http_status(error: BaseException) -> int | None:
    """The status with which a Chroma server, or a proxy before it, answered; None where nothing answered."""
    from httpx import HTTPStatusError

    cause: BaseException | None = error  # the client raises errors of its own, without the status
    while cause is not None and not isinstance(cause, HTTPStatusError):
        cause = cause.__cause__ or cause.__context__
    return None if cause is None else cause.response.status_code


def close_client(client: Client) -> None:
    """Close a client and release its file handles, threads and memory."""
    client.close()
    # Without this, free blocks of 2.7 MB accumulate in glibc's arenas: 990 MB instead of 280 after 1,000 collections.
    release_memory()
