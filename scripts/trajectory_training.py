"""The command of ``train_scopes.py`` and ``train_labels.py``: train on the trajectories, or measure by fifths or on files."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol, TypeVar

import numpy as np

from hexamem.evals.trajectories import FOLDS, Trajectory, fold, load_trajectories, read_trajectory
from hexamem.stores.embedders import Embedder, open_embedder

WEIGHTS = Path(__file__).resolve().parents[1] / "intent" / "weights"
T = TypeVar("T")


class Train(Protocol[T]):
    """Trains on trajectories for the vectors of an embedder."""

    def __call__(self, trajectories: Sequence[Trajectory], embedder: Embedder) -> T: ...


def run(
    description: str | None,
    name: str,
    train: Train[T],
    measure: Callable[[Sequence[Trajectory], T], list[float]],
    load: Callable[[str], T],
    fields: Sequence[str],
) -> None:
    """Run the command.

    Args:
        name: of the file of weights, before the embedder's.
        measure: prints and returns the AMI of each trajectory.
        load: the weights that ship, by the embedder's name.
        fields: what is written of the weights.
    """
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folds", action="store_true", help="measure each fifth by weights trained on the others")
    parser.add_argument("--embedder", choices=("bundled", "static"), default="bundled")
    parser.add_argument("--measure", type=Path, nargs="+", metavar="TURNS", help="measure what ships on these files")
    arguments = parser.parse_args()
    embedder = open_embedder(arguments.embedder)
    if arguments.measure:
        unseen = [read_trajectory(path, embedder) for path in arguments.measure]
        print(f"mean AMI {np.mean(measure(unseen, load(embedder.name))):.3f}")
        return
    trajectories = load_trajectories(embedder, ["trajectories"])
    if arguments.folds:
        scores: list[float] = []
        for part in range(FOLDS):
            held = [trajectory for trajectory in trajectories if fold(trajectory.name) == part]
            others = [trajectory for trajectory in trajectories if fold(trajectory.name) != part]
            scores += measure(held, train(others, embedder))
        print(f"mean AMI of {len(scores)} trajectories, each left out: {np.mean(scores):.3f}")
        return
    weights = train(trajectories, embedder)
    target = WEIGHTS / f"{name}_{embedder.name}.npz"
    np.savez(target, **{field: np.array(getattr(weights, field)) for field in fields})
    print(f"wrote {target.name}")
