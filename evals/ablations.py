"""Ablations that change what is written, not only how it is ranked: each needs a memory of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ..intent.contract import Embed, Labeler
from ..intent.rule_labeler import RuleLabeler
from ..intent.settings import IntentSettings

__all__ = ["WRITTEN_ABLATIONS", "WrittenAblation"]


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenAblation:
    """A ranking over a memory whose labelling went without a part.

    Attributes:
        strategy: the ranking.
        intent: what the labeller did without.
    """

    strategy: str
    intent: IntentSettings

    def labeler(self, embed: Embed) -> Callable[[str], Labeler]:
        """What ``Memory.open(labeler=…)`` takes."""
        return lambda user: RuleLabeler(user, embed, self.intent)


WRITTEN_ABLATIONS: Mapping[str, WrittenAblation] = {
    "label_density_without_coreference": WrittenAblation(
        strategy="label_density", intent=IntentSettings(coreference=False)
    ),
}
"""By the name that ``hexamem eval --strategy`` takes."""
