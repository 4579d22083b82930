"""A training that was stopped goes on after its last whole pass, from one file, if data and arguments are the same."""

from __future__ import annotations

import argparse
import hashlib
from pathlib import Path
from typing import Any

import torch
from torch import nn

_NO_MATTER = frozenset({"threads", "work", "out", "check", "no_export", "quick"})
"""Arguments that change where and how a training runs, but not its result."""


class SavedTraining:
    """The file that holds the state of a training: weights, optimizer, figures of each pass, what it was started with.

    Args:
        data: what is trained on; its ``repr`` must show all of it.
        arguments: of the script; those that only say where files lie may differ.
    """

    def __init__(self, path: Path, data: object, arguments: argparse.Namespace) -> None:
        self.path = path
        self._started = {
            "data": hashlib.sha256(repr(data).encode()).hexdigest(),
            "arguments": {key: value for key, value in sorted(vars(arguments).items()) if key not in _NO_MATTER},
        }

    def resume(self, network: nn.Module, optimizer: torch.optim.Optimizer) -> list[dict[str, Any]]:
        """Load weights and optimizer; returns the figures of the passes that are done, none where there is no file.

        Raises:
            SystemExit: the file belongs to a training on other data or with other arguments.
        """
        if not self.path.exists():
            return []
        saved = torch.load(self.path, map_location="cpu")
        other = [name for name in self._started if saved.get(name) != self._started[name]]
        if other:
            raise SystemExit(
                f"{self.path} is of a training with other {' and '.join(other)}: delete it to start anew, or give another --work"
            )
        network.load_state_dict(saved["weights"])
        optimizer.load_state_dict(saved["optimizer"])
        history: list[dict[str, Any]] = saved["history"]
        print(f"resuming after epoch {len(history)}", flush=True)
        return history

    def save(self, network: nn.Module, optimizer: torch.optim.Optimizer, history: list[dict[str, Any]]) -> None:
        """Write everything; a half-written file never takes the place of a whole one."""
        part = self.path.with_suffix(".part")
        state = {"weights": network.state_dict(), "optimizer": optimizer.state_dict(), "history": history}
        torch.save({**self._started, **state}, part)
        part.replace(self.path)
