"""What one call of the model labeller is about, and how it is put into words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, tzinfo
from typing import TYPE_CHECKING

from hexamem.intent.contract import LabeledStep, StepView
from hexamem.memory_types.cutting import trimmed
from hexamem.memory_types.labels import Label
from hexamem.memory_types.local_time import in_zone
from hexamem.memory_types.step import Step

if TYPE_CHECKING:
    from hexamem.agents.labelling.scopes import ScopeBoard
    from hexamem.agents.page_texts import PageSlot

__all__ = ["LabelTask", "abridged", "shown_earlier", "shown_scopes", "shown_steps", "thread", "who"]

LONGEST_TEXT = 1_500
"""Characters of a step that are shown; of a longer one the beginning and the end."""
CUT = " …[cut]"
_EARLIER_TEXT = 240
_GIST_TEXT = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelTask:
    """A batch of steps to be labelled, with what was known before it.

    Attributes:
        window: the steps that are shown, in the order in which they were stored, with their labels as they are.
        chosen: ids of those among them that are to be labelled; the others are context.
        labels: all labels of the user.
        scopes: the open scopes, the latest last: label id → gist as of the first chosen step.
        pages: the pages in which the chosen steps lie, in order.
        used: labels that steps before the batch carry, and those above them: only these are shown.
        zone: the user's, by whose clock times are shown.
        reached: ``seq`` of the last chosen step.
        corrected: the mark of the user's labels when this was read: it changes when somebody corrects labels or texts.
    """

    window: tuple[LabeledStep, ...]
    chosen: frozenset[str]
    labels: tuple[Label, ...] = ()
    scopes: Mapping[str, str] = field(default_factory=dict)
    used: frozenset[str] = frozenset()
    pages: tuple[PageSlot, ...] = ()
    zone: tzinfo = UTC
    reached: int = 0
    corrected: int = 0

    @property
    def batch(self) -> tuple[LabeledStep, ...]:
        """The steps to be labelled, in order."""
        return tuple(one for one in self.window if one.step.id in self.chosen)

    @property
    def threads(self) -> tuple[str, ...]:
        """The threads of the steps that are shown."""
        return tuple(dict.fromkeys(one.step.thread_id for one in self.window))


def abridged(text: str, most: int) -> str:
    """The beginning of a text on one line."""
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"


def shown_scopes(board: ScopeBoard) -> str:
    """One line a scope: handle, path, gist."""
    lines = []
    for label_id, handle in board.handles.items():
        gist = board.gists[label_id].replace(" | ", " · ")
        lines.append(
            f"{handle} {abridged(board.path(label_id), 120)}{': ' + abridged(gist, _GIST_TEXT) if gist else ''}"
        )
    return "\n".join(lines) or "none yet"


def shown_earlier(task: LabelTask, board: ScopeBoard) -> str:
    """The steps before the first that is to be labelled, abridged, each with its scope."""
    first = next((place for place, one in enumerate(task.window) if one.step.id in task.chosen), len(task.window))
    return "\n".join(_context(one, task, board) for one in task.window[:first]) or "none: the talk begins here"


def shown_steps(task: LabelTask, board: ScopeBoard, candidates: Mapping[str, Sequence[str]]) -> str:
    """The steps to be labelled, numbered from 1, with what lies between them abridged.

    Args:
        candidates: step id → names of the event types nearest to it.
    """
    lines: list[str] = []
    number = 0
    for one in task.window:
        if one.step.id not in task.chosen:
            if number:
                lines.append(_context(one, task, board))
            continue
        number += 1
        step = one.step
        when = in_zone(step.occurred_at, task.zone).strftime("%a %Y-%m-%d %H:%M")
        lines.append(f"[{number}] {when} {thread(step.thread_id, task.threads)}{who(step)}")
        lines += [f"| {line}" for line in _cut(trimmed(step.text)).splitlines() if line.strip()]
        if near := candidates.get(step.id):
            lines.append(f"like: {'; '.join(near)}")
    return "\n".join(lines)


def _context(one: LabeledStep, task: LabelTask, board: ScopeBoard) -> str:
    text = abridged(one.resolved_text, _EARLIER_TEXT)
    return (
        f"({abridged(board.shown(one.scope), 120)}) {thread(one.step.thread_id, task.threads)}{who(one.step)}: {text}"
    )


def who(step: StepView | Step) -> str:
    """The speaker of a step, with the role where that is another."""
    return abridged(step.role if step.speaker == step.role else f"{step.speaker} ({step.role})", 80)


def thread(thread_id: str, shown: Iterable[str]) -> str:
    """The number of a thread among those that are shown, where there are several."""
    threads = list(dict.fromkeys(shown))
    return f"thread {threads.index(thread_id) + 1}, " if len(threads) > 1 else ""


def _cut(text: str) -> str:
    if len(text) <= LONGEST_TEXT:
        return text
    return f"{text[: LONGEST_TEXT - 300]} … {text[-300:]}{CUT}"
