"""The weights of classifiers: missing, damaged, or of another embedder; and logits of any size."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hexamem.agents import sentence_classifiers
from hexamem.errors import ModelFileError
from hexamem.intent import label_classifiers, scope_tracker
from hexamem.retrieval.signals import cues

LOADERS: dict[str, tuple[Any, Callable[[str], Any], str | None]] = {
    "sentences": (sentence_classifiers, sentence_classifiers.load_sentence_classifiers, "embedder"),
    "labels": (label_classifiers, label_classifiers.load_classifiers, "encoder"),
    "scopes": (scope_tracker, scope_tracker.load_scope_weights, "encoder"),
    "questions": (cues, cues.load_question_kinds, None),
}


@pytest.fixture
def reading(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, Callable[[Path], object]], Any]:
    """Read weights that ship, after something was done to a copy of their file."""

    def read(name: str, change: Callable[[Path], object]) -> Any:
        module, load, _ = LOADERS[name]
        package = "retrieval" if name == "questions" else "intent" if name != "sentences" else "agents"
        shipped = Path(__file__).parents[1] / package / "weights" / f"{name}_bundled.npz"
        copy = Path(shutil.copy(shipped, tmp_path / shipped.name))
        change(copy)
        original = module.read_weights
        with monkeypatch.context() as patch:
            patch.setattr(module, "read_weights", lambda path, *given, **named: original(copy, *given, **named))
            return load.__wrapped__("bundled")  # type: ignore[attr-defined] - without the cache of the process

    return read


@pytest.mark.parametrize("name", LOADERS)
def test_weights_that_ship_are_read_and_missing_damaged_and_foreign_ones_are_named(
    name: str, reading: Callable[..., Any]
) -> None:
    _, load, field = LOADERS[name]
    assert all(load(embedder) is not None for embedder in ("bundled", "static"))
    for change in (Path.unlink, lambda path: path.write_bytes(path.read_bytes()[:-500])):
        with pytest.raises(ModelFileError, match=rf"{name}_bundled\.npz cannot be read"):
            reading(name, change)

    def of_another(path: Path) -> None:
        with np.load(path) as stored:
            np.savez(path, **{**{key: stored[key] for key in stored.files}, str(field): np.array("0" * 32)})

    if field:
        with pytest.raises(ModelFileError, match=rf"{name}_bundled\.npz were trained with another 'bundled' embedder"):
            reading(name, of_another)
