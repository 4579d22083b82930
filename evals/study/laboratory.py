"""What the experiments share: the records of the one pass, weights trained on parts of them, and recall by configuration.

Threshold filtering changes no ranking of an answerable question, so 16 of the 32 sets of the five operations remain.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from typing import TypeAlias

import numpy as np

from hexamem.evals.answers import spread
from hexamem.evals.learning import LearningSettings, learn_ranking
from hexamem.evals.metrics import Interval, recall_at_k
from hexamem.evals.study.records import CUT, RANKINGS, Observation, Ranked, Values, arm_recalls, difference
from hexamem.retrieval.ranker import USUAL, Ranker
from hexamem.retrieval.ranking_operations import NAMES
from hexamem.retrieval.ranking_weights import RankingWeights
from hexamem.retrieval.signals.features import FEATURES

__all__ = [
    "CHOICES",
    "HELD_OUT",
    "SHIPPED",
    "SWITCHABLE",
    "Fold",
    "Laboratory",
    "Table",
]

HELD_OUT = "learned"
"""The ranking by weights trained on the other conversations of the study."""
SHIPPED = "learned_shipped"
"""The ranking by the weights of the memory: those that ship, or those of ``--weights``."""
SWITCHABLE = tuple(name for name in NAMES if name != "threshold_filtering")
CHOICES: tuple[frozenset[str], ...] = tuple(
    frozenset(on) for count in range(len(SWITCHABLE) + 1) for on in combinations(SWITCHABLE, count)
)
"""The sets of operations that may rank a question differently."""
Table: TypeAlias = Mapping[str, Values]
"""Configuration → recall of every question."""
_FOLDS = 3
"""Folds over the conversations."""
_MOST = 300
"""Maximum of questions for one training of an ablation or a transfer, evenly spread."""


@dataclass(frozen=True, slots=True)
class Fold:
    """A ranker, and the ids of the conversations that it was not trained on."""

    held: frozenset[str]
    ranker: Ranker


@dataclass
class Laboratory:
    """The records, and trainings on parts of them.

    Attributes:
        observations: the questions of all data sets, each with evidence.
        shipped: the memory's own weights; None where none fit its embedder.
        settings: of every training.
        samples: draws of every bootstrap.
    """

    observations: list[Observation]
    fingerprint: str
    shipped: RankingWeights | None = None
    settings: LearningSettings = field(default_factory=lambda: LearningSettings(runs=1))
    samples: int = 10_000
    seed: int = 0
    _trained: dict[tuple[object, ...], RankingWeights] = field(default_factory=dict)

    @cached_property
    def sets(self) -> dict[str, list[Observation]]:
        """The questions of each data set, in the order in which they were given."""
        sets: dict[str, list[Observation]] = {}
        for observation in self.observations:
            sets.setdefault(observation.conversation.data_set, []).append(observation)
        return sets

    def has(self, observations: Sequence[Observation], arm: str) -> bool:
        """Whether every one of these questions has a ranking by the arm."""
        return all(arm in observation.rankings for observation in observations)

    def arms(self, observations: Sequence[Observation]) -> list[str]:
        """The arms that every one of these questions has a ranking by, in the order of a table."""
        return [arm for arm in (*RANKINGS, SHIPPED, HELD_OUT) if self.has(observations, arm)]

    @cached_property
    def folds(self) -> list[Fold]:
        """Weights for each part of the conversations, trained on the others; none with a single conversation.

        Parts are taken by conversation and across data sets alike. A conversation that is in two data sets is held
        out of both at once.
        """
        names = list(dict.fromkeys(observation.conversation.source_id for observation in self.observations))
        count = min(_FOLDS, len(names))
        folds = []
        for part in range(count) if count > 1 else ():
            held = set(names[part::count])
            training = [
                observation for observation in self.observations if observation.conversation.source_id not in held
            ]
            ids = frozenset(
                observation.conversation.id
                for observation in self.observations
                if observation.conversation.source_id in held
            )
            folds.append(Fold(ids, Ranker(self.train(training, most=None))))
        return folds

    def train(
        self,
        training: Sequence[Observation],
        *,
        settings: LearningSettings | None = None,
        without: Collection[int] = (),
        blind: bool = False,
        most: int | None = _MOST,
    ) -> RankingWeights:
        """Train on some questions; asked for the same again, return the same.

        Args:
            settings: other than the study's own.
            without: columns of features that are the same for all candidates, so that nothing can be learned of them.
            blind: whether the cues of the questions are hidden: one ranking for all.
            most: so many questions at most, evenly spread; all when None.
        """
        chosen = spread(training, most)
        how = settings or self.settings
        key = (tuple(map(id, chosen)), how, tuple(sorted(without)), blind)
        if key not in self._trained:
            examples = [observation.asked.example for observation in chosen]
            if without:
                kept = np.isin(np.arange(len(FEATURES)), list(without), invert=True).astype(np.float32)
                examples = [replace(observation, values=observation.values * kept) for observation in examples]
            if blind:
                examples = [replace(observation, cues=np.zeros_like(observation.cues)) for observation in examples]
            self._trained[key] = learn_ranking(examples, how, fingerprint=self.fingerprint)
        return self._trained[key]

    def difference(self, observations: Sequence[Observation], a: Values, b: Values) -> Interval | None:
        """:func:`~.records.difference` with the draws and the seed of the study."""
        return difference(observations, a, b, samples=self.samples, seed=self.seed)

    @cached_property
    def unseen(self) -> dict[str, Ranker]:
        """StoredConversation → a ranker that was not trained on it: of its fold, else the memory's own; empty where there is neither."""
        if self.folds:
            return {conversation: fold.ranker for fold in self.folds for conversation in fold.held}
        if self.shipped is None:
            return {}
        return dict.fromkeys((observation.conversation.id for observation in self.observations), Ranker(self.shipped))

    @cached_property
    def tables(self) -> Values:
        """Recall at 10 of each scored question under each of :data:`CHOICES`, ``(n, 16)``, by rankers that did not see it."""
        rows = []
        for observation in self.observations:
            ranker = self.unseen[observation.conversation.id]
            rankings = [observation.ranked(ranker, choice) for choice in CHOICES]
            rows.append([recall_at_k(turns, observation.evidence, CUT) for turns in rankings])
        return np.array(rows)

    @cached_property
    def _rows(self) -> dict[int, int]:
        return {id(observation): index for index, observation in enumerate(self.observations)}

    def rows_of(self, observations: Sequence[Observation]) -> list[int]:
        """The places of questions among all scored ones."""
        return [self._rows[id(observation)] for observation in observations]

    def add_learned(self) -> None:
        """Add the rankings by trained weights to the questions."""
        for observation in self.observations:
            if self.folds:
                ranker = self.unseen[observation.conversation.id]
                observation.rankings[HELD_OUT] = Ranked(tuple(observation.ranked(ranker, USUAL)))
            if self.shipped is not None:
                observation.rankings[SHIPPED] = Ranked(tuple(observation.ranked(Ranker(self.shipped), USUAL)))

    @property
    def best_learned(self) -> str | None:
        """The learned ranking that no question was trained on: held out where there are folds, else the shipped one."""
        return HELD_OUT if self.folds else SHIPPED if self.shipped is not None else None

    def trained_on(self, data_set: str) -> list[str]:
        """Conversations of a data set that the memory's own weights were trained on, by the weights' card."""
        listed = None if self.shipped is None else self.shipped.card.get("conversations")
        seen = set(listed) if isinstance(listed, list) else set()
        names = dict.fromkeys(observation.conversation.source_id for observation in self.sets.get(data_set, ()))
        return [name for name in names if name in seen]

    # -- recall by configuration

    def ranking_table(self, observations: Sequence[Observation]) -> Table:
        """Recall under every fixed ranking: those without trained weights."""
        return {name: arm_recalls(observations, name) for name in self.arms(observations) if name in RANKINGS}

    def operation_table(self, observations: Sequence[Observation]) -> Table:
        """Recall under every set of operations, by scorers that did not see the conversation."""
        values = self.tables[self.rows_of(observations)]
        return {" + ".join(sorted(on)) or "none": values[:, number] for number, on in enumerate(CHOICES)}
