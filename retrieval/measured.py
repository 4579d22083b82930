"""A question with its candidates as every signal measures them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from hexamem.retrieval.fusion import Ranking
from hexamem.retrieval.signals.features import Features
from hexamem.retrieval.signals.question import Asked

__all__ = ["Measured", "Told"]


class Told:
    """What each signal said of records: most are never asked about.

    Args:
        rankings: by signal, best first.
    """

    def __init__(self, rankings: Mapping[str, Ranking]) -> None:
        self._rankings = rankings
        self._places = {name: {one: place for place, (one, _) in enumerate(of)} for name, of in rankings.items()}

    def of(self, record_id: str) -> dict[str, tuple[float, int | None]]:
        """Signal → its value and rank, of those that found the record."""
        found = {name: places[record_id] for name, places in self._places.items() if record_id in places}
        return {name: (self._rankings[name][place][1], place + 1) for name, place in found.items()}


@dataclass(frozen=True, slots=True)
class Measured:
    """A question with its candidates' features, and what the signals said of each."""

    asked: Asked
    features: Features
    told: Told
