"""Reads the weights of classifiers that were trained on the vectors of a bundled embedder."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hexamem.errors import ModelFileError
from hexamem.stores.embedders import open_embedder

__all__ = ["read_weights"]

_REMEDY = "install hexamem again, or train them again with their script in scripts/"


def read_weights(
    path: Path, names: Sequence[str], *, embedder: str, fingerprint: str | None
) -> dict[str, NDArray[Any]]:
    """Read arrays from an ``.npz`` file.

    Args:
        names: the required arrays.
        embedder: ``bundled`` or ``static``, on whose vectors they were trained.
        fingerprint: the name of the array with that embedder's fingerprint; None if the file has none.

    Raises:
        ModelFileError: the file is missing or damaged, lacks an array, or was trained with another embedder.
    """
    needed = [*names, *([fingerprint] if fingerprint is not None else [])]
    try:
        with np.load(path) as stored:
            if missing := [name for name in needed if name not in stored]:
                raise ValueError(f"it lacks {', '.join(missing)}")
            arrays = {name: stored[name] for name in needed}
    except (OSError, ValueError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise ModelFileError(f"the weights {path} cannot be read ({error}): {_REMEDY}") from None
    if fingerprint is not None:
        trained, used = str(arrays[fingerprint]), open_embedder(embedder).fingerprint
        if trained != used:
            raise ModelFileError(
                f"the weights {path} were trained with another {embedder!r} embedder ({trained[:16]}, in use is "
                f"{used[:16]}): {_REMEDY}"
            )
    return arrays
