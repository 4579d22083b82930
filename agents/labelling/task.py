"""The task of one labelling call, and the parts of its prompt."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, tzinfo
from itertools import takewhile
from typing import TYPE_CHECKING

from hexamem.intent.contract import LabeledStep, StepView
from hexamem.memory_types.labels import Label
from hexamem.memory_types.step import Step
from hexamem.prompts.fences import one_line

if TYPE_CHECKING:
    from hexamem.agents.labelling.scopes import ScopeBoard
    from hexamem.agents.page_texts import PageSlot

__all__ = ["LabelTask", "abridged", "shown_earlier", "shown_scopes", "thread", "who"]

_LONGEST_EARLIER, _LONGEST_GIST = 240, 400  # characters


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelTask:
    """A batch of steps to label, with its context.

    Attributes:
        window: the steps in the prompt, in the order in which they were stored, with their present labels.
        chosen: ids of those among them that are to be labelled; the others are context.
        labels: all labels of the user.
        scopes: the open scopes, the latest last: label id → gist as of the first chosen step.
        used: labels of steps before the batch, and the wider ones above them; only these are in the prompt.
        pages: the pages of the chosen steps, in order.
        zone: the user's timezone, in which times are written.
        corrected: the revision of the user's labels when this was read; corrections of labels or texts change it.
    """

    window: tuple[LabeledStep, ...]
    chosen: frozenset[str]
    labels: tuple[Label, ...] = ()
    scopes: Mapping[str, str] = field(default_factory=dict)
    used: frozenset[str] = frozenset()
    pages: tuple[PageSlot, ...] = ()
    zone: tzinfo = UTC
    corrected: int = 0

    @property
    def batch(self) -> tuple[LabeledStep, ...]:
        """The steps to be labelled, in order."""
        return tuple(labeled for labeled in self.window if labeled.step.id in self.chosen)


def abridged(text: str, most: int) -> str:
    """The beginning of a text on one line, of at most ``most`` characters."""
    line = " ".join(one_line(text).split())
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"


def shown_scopes(board: ScopeBoard) -> str:
    """One line a scope: handle, path, gist."""
    lines = []
    for label_id, handle in board.handles.items():
        gist = board.gists[label_id].replace(" | ", " · ")
        lines.append(
            f"{handle} {abridged(board.path(label_id), 120)}{': ' + abridged(gist, _LONGEST_GIST) if gist else ''}"
        )
    return "\n".join(lines) or "none yet"


def shown_earlier(task: LabelTask, board: ScopeBoard) -> str:
    """The context steps before the batch, abridged, each with its scope."""
    earlier = takewhile(lambda labeled: labeled.step.id not in task.chosen, task.window)
    return "\n".join(_context(labeled, task, board) for labeled in earlier) or "none: the talk begins here"


def _context(labeled: LabeledStep, task: LabelTask, board: ScopeBoard) -> str:
    scope, step = abridged(board.shown(labeled.scope), 120), labeled.step
    text = abridged(labeled.resolved_text, _LONGEST_EARLIER)
    return f"({scope}) {thread(step.thread_id, (other.step.thread_id for other in task.window))}{who(step)}: {text}"


def who(step: StepView | Step) -> str:
    """The speaker of a step, with the role where that differs."""
    return abridged(step.role if step.speaker == step.role else f"{step.speaker} ({step.role})", 80)


def thread(thread_id: str, shown: Iterable[str]) -> str:
    """The number of a thread among those of the prompt; empty where there is only one."""
    threads = list(dict.fromkeys(shown))
    return f"thread {threads.index(thread_id) + 1}, " if len(threads) > 1 else ""
