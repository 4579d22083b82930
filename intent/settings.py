"""Every setting of labelling and its default, in one place."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import ConfigError
from .contract import RECENT

__all__ = ["IntentSettings"]


@dataclass(frozen=True, slots=True, kw_only=True)
class IntentSettings:
    """What the labeller does; switching a part off is an ablation, never an error.

    Attributes:
        scopes: follow thematic scopes; off, each thread is one scope.
        events: recognise event types; off, every step carries the one type ``step``.
        entities: recognise key entity types; off, no step carries any.
        coreference: put references into words; off, the resolved text is the text.
        summaries: write canonical summaries and gists; off, both are empty.
        window: steps of one user after which a batch closes and what was provisional stands (STITCH uses 50).
        seed_after: steps after which the first vocabularies are drawn up from what was said.
        merge_every: steps between two looks for labels that mean the same.
        recent: steps a scope that are kept to base decisions on, at most :data:`~hexamem.intent.contract.RECENT`.
        reference_steps: how many earlier steps of the scope a reference may point back to.
        analysed_characters: of longer texts only so many are analysed; all of a text is kept.
        cached_steps: analysed steps whose noun phrases are kept at hand.
    """

    scopes: bool = True
    events: bool = True
    entities: bool = True
    coreference: bool = True
    summaries: bool = True
    window: int = 50
    seed_after: int = 50
    merge_every: int = 50
    recent: int = RECENT
    reference_steps: int = 6
    analysed_characters: int = 4000
    cached_steps: int = 512

    def __post_init__(self) -> None:
        for name in ("window", "seed_after", "merge_every", "recent", "reference_steps", "analysed_characters"):
            value = getattr(self, name)
            if value < 1:
                raise ConfigError(f"IntentSettings.{name} = {value!r}: give a whole number of 1 or more")
        if self.recent > RECENT:
            raise ConfigError(
                f"IntentSettings.recent = {self.recent!r}: give at most {RECENT}, what a restart gives back"
            )
