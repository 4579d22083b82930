"""What scope tracking is set to, and what it gives back for a step."""

from __future__ import annotations

from dataclasses import dataclass

from ...memory_types.labels import Label
from ..contract import RECENT

__all__ = ["ScopeDecision", "ScopeSettings"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScopeSettings:
    """Settings of scope tracking and their defaults.

    Attributes:
        window: steps of a thread within which "where were we" finds the way back.
        recent: latest steps of a scope that make its profile, at most :data:`~hexamem.intent.contract.RECENT`.
        gap_hours: a silence after which a thread's subject is open again.
        cohesion: how well a question with its answer must follow on what was said before, so as not to leave the topic:
            cosine (neutral talk taken out) plus share of words in common, 0 to 2.
        cohesion_talk: the same for people who talk among themselves, who wander more.
        novel_steps: steps of such talk that must have left a topic before a new one is opened.
        known: likeness from which a block may re-enter a known topic.
        lead: by how much more than its other scopes a user's talk after a silence must be like the last one to go on with it.
        margin: by how much the known topic must beat the current one.
        named_margin: by how much the words of a step must speak for another goal, with a name that only that one knows.
        resume_margin: the same for a step that sets out as a return ("One question about …").
        overview_steps: opening steps of a plan that are taken into its first goal.
    """

    window: int = 50
    recent: int = RECENT
    gap_hours: float = 3.0
    cohesion: float = 0.55
    cohesion_talk: float = 0.36
    novel_steps: int = 4
    known: float = 0.65
    lead: float = 0.3
    margin: float = 0.15
    named_margin: float = 0.8
    resume_margin: float = 0.5
    overview_steps: int = 4

    def __post_init__(self) -> None:
        if not 1 <= self.recent <= RECENT:
            raise ValueError(f"ScopeSettings.recent = {self.recent!r}: give 1 to {RECENT}, what a restart gives back")
        if self.window < 1 or self.novel_steps < 1:
            raise ValueError("ScopeSettings.window and .novel_steps: give whole numbers of 1 or more")


@dataclass(frozen=True, slots=True, kw_only=True)
class ScopeDecision:
    """The scope of one step.

    Attributes:
        step_id: the step.
        scope_id: label id of its scope; its parents follow from the label.
        created: the scope's label where this step opened it.
        changed: all labels that are new or changed with this step, ``created`` and new parents included.
        confidence: 0 to 1.
        provisional: the steps to come may still move it.
        revised: earlier steps whose scope is now ``scope_id`` too.
    """

    step_id: str
    scope_id: str
    created: Label | None = None
    changed: tuple[Label, ...] = ()
    confidence: float = 1.0
    provisional: bool = False
    revised: tuple[str, ...] = ()
