"""Reads and writes the weights of the learned ranking.

They are a safetensors file, whose metadata name the features and cues in order, the embedder's fingerprint and the
training data. Weights for other features or another embedder are refused, since they would rank at random.
"""

from __future__ import annotations

import json
import os
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

import numpy as np
import numpy.typing as npt
from safetensors import SafetensorError
from safetensors.numpy import load, save

from hexamem.errors import ConfigError, CorruptFileError
from hexamem.retrieval.signals.cues import CUES
from hexamem.retrieval.signals.features import FEATURES
from hexamem.stores.embedders.base import FloatArray

__all__ = ["RankingWeights", "load_weights", "save_weights", "shipped_weights"]

_FORM = "3"
_LARGEST = 1_000_000  # parameters; a larger file is not one of ranking weights
_REQUIRED = frozenset(
    ("deviation", "linear", "gate_in", "gate_bias", "gate_out", "hidden", "hidden_cues", "hidden_bias", "hidden_out")
)
_OPTIONAL = frozenset(("answerable", "answerable_small", "answerable_size"))


def _none() -> FloatArray:
    return np.empty(0, np.float32)


@dataclass(frozen=True, kw_only=True, slots=True)
class RankingWeights:
    """The parameters of a ranking, for ``f`` features, ``c`` cues, ``g`` gate units and ``h`` hidden units.

    Attributes:
        deviation: the usual deviation of each feature within a pool, ``(f,)``.
        linear: the weights of standardised features, ``(f,)``.
        gate_in: with ``gate_bias`` and ``gate_out``, from cues to changes of ``linear``, ``(c, g)``, ``(g,)``, ``(g, f)``.
        hidden: with ``hidden_cues``, ``hidden_bias`` and ``hidden_out``, the hidden units, ``(f, h)``, ``(c, h)``, ``(h,)``,
            ``(h,)``.
        answerable: the regression of whether memory contains the answer, see :func:`~.learning.learn_answerable`; empty
            where it is not trained.
        answerable_small: the same for small memories; empty where the other is for all.
        answerable_size: the blend of both, ``(2,)``, see ``large_share`` in :mod:`.ranker`.
        fingerprint: the fingerprint of the embedder.
        card: a description of the training data.
    """

    deviation: FloatArray
    linear: FloatArray
    gate_in: FloatArray
    gate_bias: FloatArray
    gate_out: FloatArray
    hidden: FloatArray
    hidden_cues: FloatArray
    hidden_bias: FloatArray
    hidden_out: FloatArray
    answerable: FloatArray = field(default_factory=_none)
    answerable_small: FloatArray = field(default_factory=_none)
    answerable_size: FloatArray = field(default_factory=_none)
    fingerprint: str = ""
    card: Mapping[str, object] = field(default_factory=dict)

    def tensors(self) -> dict[str, FloatArray]:
        """The arrays by name."""
        return {name: getattr(self, name) for name in (*sorted(_REQUIRED), *sorted(_OPTIONAL))}

    @property
    def parameters(self) -> int:
        """The number of parameters."""
        return sum(array.size for array in self.tensors().values())


def save_weights(weights: RankingWeights, path: str | os.PathLike[str]) -> None:
    """Write weights to a file atomically."""
    metadata = {
        "hexamem": _FORM,
        "features": json.dumps(FEATURES),
        "cues": json.dumps(CUES),
        "fingerprint": weights.fingerprint,
        "card": json.dumps(dict(weights.card), ensure_ascii=False, sort_keys=True),
    }
    arrays = {name: np.ascontiguousarray(array, np.float32) for name, array in weights.tensors().items()}
    target = Path(path)
    partial = target.with_name(target.name + ".part")
    partial.write_bytes(save(arrays, metadata))
    partial.replace(target)


def load_weights(source: str | os.PathLike[str] | Traversable, fingerprint: str | None = None) -> RankingWeights:
    """Read weights.

    Args:
        source: the file.
        fingerprint: the fingerprint of the embedder in use; None for any.

    Raises:
        CorruptFileError: the file is damaged or does not contain ranking weights.
        ConfigError: they are for other features, or for another embedder.
    """
    place = Path(source) if isinstance(source, str | os.PathLike) else source
    try:
        data = place.read_bytes()
        arrays, metadata = load(data), _read_metadata(data)
    except FileNotFoundError:
        raise ConfigError(f"weights {source}: there is no such file; train one with `hexamem train`") from None
    except (SafetensorError, ValueError, struct.error) as error:
        raise CorruptFileError(f"weights {source} cannot be read ({error}); train them again") from error
    arrays = {name: array for name, array in arrays.items() if array.size or name in _REQUIRED}
    if metadata.get("hexamem") != _FORM or not _REQUIRED <= arrays.keys() <= _REQUIRED | _OPTIONAL:
        raise CorruptFileError(f"weights {source}: no ranking weights of this version; train them with `hexamem train`")
    if json.loads(metadata["features"]) != list(FEATURES) or json.loads(metadata["cues"]) != list(CUES):
        raise ConfigError(f"weights {source} are for the features of another version; train them again")
    if fingerprint is not None and metadata["fingerprint"] != fingerprint:
        raise ConfigError(
            f"weights {source} were trained with another embedder ({metadata['fingerprint']}, in use is {fingerprint}); "
            "train weights for this one with `hexamem train`"
        )
    _check(arrays, source)
    return RankingWeights(**arrays, fingerprint=metadata["fingerprint"], card=json.loads(metadata["card"]))


def shipped_weights(name: str) -> Traversable | None:
    """The weights that ship for an embedder; None where there are none."""
    file = resources.files(__package__).joinpath("weights", f"{name}.safetensors")
    return file if name.isidentifier() and file.is_file() else None


def _read_metadata(data: bytes) -> dict[str, str]:
    """The metadata in the header of a safetensors file.

    Raises:
        ValueError, struct.error: there is no valid header.
    """
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + length])
    return dict(header.get("__metadata__", {}))


def _check(arrays: Mapping[str, npt.NDArray[np.float32]], source: object) -> None:
    features, cues = len(FEATURES), len(CUES)
    hidden, gate = arrays["hidden_bias"].size, arrays["gate_bias"].size
    shapes = {
        "deviation": (features,), "linear": (features,), "gate_in": (cues, gate),
        "gate_out": (gate, features), "hidden": (features, hidden), "hidden_cues": (cues, hidden),
        "hidden_out": (hidden,),
    }  # fmt: skip
    for name, shape in shapes.items():
        if arrays[name].shape != shape or not np.isfinite(arrays[name]).all():
            raise CorruptFileError(
                f"weights {source}: {name} has shape {arrays[name].shape}, not finite numbers of {shape}"
            )
    if sum(array.size for array in arrays.values()) > _LARGEST:
        raise CorruptFileError(f"weights {source}: more than {_LARGEST:,} numbers")
