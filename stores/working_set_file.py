"""Working sets on disk, one file for each user, so that a new process need not build them: arrays and ids, no text.

A file is replaced atomically and read with its checksum. It is derived like the indexes: a file that is damaged, of
another format or embedder, or ahead of the ledger is not used.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from hexamem.errors import CorruptFileError, HomeNotWritableError
from hexamem.stores.growing_array import Arrays

__all__ = ["read_arrays", "remove_arrays", "write_arrays"]

_SUFFIX = ".writing"


def write_arrays(path: Path, about: Mapping[str, Any], arrays: Arrays) -> None:
    """Replace a file by these arrays and a description, whole or not at all.

    Args:
        about: a JSON object.

    Raises:
        OSError: the disk is full, or the folder cannot be written.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    text = json.dumps(about, sort_keys=True)
    contiguous = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    new = path.with_name(path.name + _SUFFIX)
    try:
        save_file(contiguous, new, {"about": text, "checksum": str(_checksum(text, contiguous))})
        os.replace(new, path)
    except SafetensorError as error:
        new.unlink(missing_ok=True)
        raise OSError(f"{path} could not be written: {error}") from error
    except OSError:
        new.unlink(missing_ok=True)
        raise


def read_arrays(path: Path) -> tuple[dict[str, Any], Arrays] | None:
    """The description and arrays that :func:`write_arrays` wrote; None without a file.

    Raises:
        CorruptFileError: the file is not what was written.
    """
    try:
        with safe_open(path, framework="np") as file:
            notes = file.metadata() or {}
            arrays: Arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        text = notes["about"]
        if notes["checksum"] != str(_checksum(text, arrays)):
            raise CorruptFileError(f"{path} does not match its checksum")
        about: dict[str, Any] = json.loads(text)
    except FileNotFoundError:
        return None
    except (SafetensorError, OSError, KeyError, TypeError, ValueError) as error:
        raise CorruptFileError(f"{path} cannot be read: {error!r}") from error
    return about, arrays


def remove_arrays(path: Path) -> None:
    """Remove the file, and the temporary file of an interrupted write.

    Raises:
        HomeNotWritableError: a file exists and cannot be removed.
    """
    for file in (path, path.with_name(path.name + _SUFFIX)):
        try:
            file.unlink(missing_ok=True)
        except NotADirectoryError:
            return
        except OSError as error:
            raise HomeNotWritableError(f"{file} cannot be removed ({error.strerror or error}): remove it") from error


def _checksum(text: str, arrays: Arrays) -> int:
    checksum = zlib.crc32(text.encode())
    for name in sorted(arrays):
        array = arrays[name]
        checksum = zlib.crc32(f"{name}{array.dtype.str}{array.shape}".encode(), checksum)
        checksum = zlib.crc32(array.reshape(-1).view(np.uint8).data if array.size else b"", checksum)
    return checksum
