"""What recalls need to know of a user's steps, as far as it was asked for: a bounded working set in memory.

A step gets a new change number whenever its labels or its text change after they were first stored. So of what is kept
only the steps that changed since are read again, and a conversation that goes on costs no more than its new steps.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from .ledger import Transaction
from .ledger.labels import LabelVersion, label_version
from .ledger.steps import steps_since

__all__ = ["KeptSteps"]

_USERS = 16
_STEPS = 20_000
_CHANGED = 2_000

Kept = TypeVar("Kept")


@dataclass(slots=True)
class _Of(Generic[Kept]):
    version: LabelVersion
    steps: dict[str, Kept] = field(default_factory=dict)
    guard: threading.Lock = field(default_factory=threading.Lock)


class KeptSteps(Generic[Kept]):
    """What was read of steps, of the users who were asked for last. Safe to use from several threads.

    Args:
        read: reads it for some steps; leaves out a step of which there is nothing to keep.
        users: of how many users it is kept.
        steps: of how many steps of each; with more, it begins anew.
    """

    def __init__(
        self,
        read: Callable[[Transaction, Collection[str]], Mapping[str, Kept]],
        *,
        users: int = _USERS,
        steps: int = _STEPS,
    ) -> None:
        self._read, self._users, self._steps = read, users, steps
        self._kept: OrderedDict[str, _Of[Kept]] = OrderedDict()
        self._guard = threading.Lock()

    def of(self, tx: Transaction, step_ids: Collection[str]) -> Mapping[str, Kept]:
        """What is known of each of these steps as the transaction sees them."""
        version = label_version(tx)
        with self._guard:
            kept = self._kept.get(tx.user)
            if kept is None or kept.version.registered != version.registered or kept.version.change > version.change:
                kept = self._kept[tx.user] = _Of(version)
            self._kept.move_to_end(tx.user)
            while len(self._kept) > self._users:
                self._kept.popitem(last=False)
        with kept.guard:
            if kept.version.change > version.change:  # another thread sees a later state
                return self._read(tx, step_ids)
            if kept.version.change < version.change:
                changed = steps_since(tx, kept.version.change, _CHANGED)
                if changed is None:
                    kept.steps.clear()
                else:
                    for step_id in changed:
                        kept.steps.pop(step_id, None)
                kept.version = version
            missing = [one for one in step_ids if one not in kept.steps]
            if missing:
                if len(kept.steps) + len(missing) > self._steps:
                    kept.steps.clear()
                    missing = list(step_ids)
                kept.steps.update(self._read(tx, missing))
            return {one: kept.steps[one] for one in step_ids if one in kept.steps}

    def drop(self, user: str) -> None:
        """Forget what is kept of a user."""
        with self._guard:
            self._kept.pop(user, None)
