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
from hexamem.evals.metrics import Interval, paired_bootstrap, recall_at_k
from hexamem.evals.study.observing import CUT, RANKINGS, Observation, Ranked, Values, arm_recalls
from hexamem.retrieval.ranker import USUAL, Ranker
from hexamem.retrieval.ranking_operations import NAMES
from hexamem.retrieval.ranking_weights import RankingWeights
from hexamem.retrieval.signals.features import FEATURES

__all__ = ["CHOICES", "HELD_OUT", "SHIPPED", "SWITCHABLE", "Fold", "Laboratory", "Table"]

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
_MOST = 300
"""Maximum of questions for one training of an ablation, evenly spread."""


@dataclass(frozen=True, slots=True)
class Fold:
    """A ranker, and the ids of the conversations that it was not trained on."""

    held: frozenset[str]
    ranker: Ranker


@dataclass
class Laboratory:
    """The records, and trainings on parts of them.

    Attributes:
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

    @cached_property
    def sets(self) -> dict[str, list[Observation]]:
        """The questions of each data set, in the order in which they were given."""
        sets: dict[str, list[Observation]] = {}
        for observation in self.observations:
            sets.setdefault(observation.conversation.data_set, []).append(observation)
        return sets

    def arms(self, observations: Sequence[Observation]) -> list[str]:
        """The rankings that every one of these questions has, in the order of a table."""
        every = (*RANKINGS, SHIPPED, HELD_OUT)
        return [arm for arm in every if all(arm in observation.rankings for observation in observations)]

    def parted(self, count: int) -> list[tuple[list[Observation], list[Observation]]]:
        """Splits (held out, trained on), by conversation and across data sets alike; none for a single conversation.

        A conversation that is in two data sets is held out of both at once.
        """
        names = list(dict.fromkeys(observation.conversation.source_id for observation in self.observations))
        count = min(count, len(names))
        splits = []
        for number in range(count) if count > 1 else ():
            part = set(names[number::count])
            held, others = (
                [entry for entry in self.observations if (entry.conversation.source_id in part) is inside]
                for inside in (True, False)
            )
            splits.append((held, others))
        return splits

    def fold(self, held: Sequence[Observation], ranker: Ranker) -> Fold:
        """A ranker with the conversations of the questions that are held out."""
        return Fold(frozenset(observation.conversation.id for observation in held), ranker)

    @cached_property
    def folds(self) -> list[Fold]:
        """Weights for each third of the conversations, trained on the others; none with a single conversation."""
        return [self.fold(held, Ranker(self.train(others, most=None))) for held, others in self.parted(_FOLDS)]

    def train(
        self,
        training: Sequence[Observation],
        *,
        settings: LearningSettings | None = None,
        without: Collection[int] = (),
        blind: bool = False,
        most: int | None = _MOST,
    ) -> RankingWeights:
        """Train on some questions, at most ``most``, evenly spread.

        Args:
            without: columns of features that are the same for all candidates, so that nothing can be learned of them.
            blind: whether the cues of the questions are hidden: one ranking for all.
        """
        examples = [observation.asked.example for observation in spread(training, most)]
        if without:
            used = np.isin(np.arange(len(FEATURES)), list(without), invert=True).astype(np.float32)
            examples = [replace(example, values=example.values * used) for example in examples]
        if blind:
            examples = [replace(example, cues=np.zeros_like(example.cues)) for example in examples]
        return learn_ranking(examples, settings or self.settings, fingerprint=self.fingerprint)

    def difference(self, observations: Sequence[Observation], a: Values, b: Values) -> Interval | None:
        """``a - b`` over the questions by paired bootstrap over conversations; None for fewer than two conversations."""
        groups: dict[str, list[int]] = {}
        for index, observation in enumerate(observations):
            groups.setdefault(observation.conversation.id, []).append(index)
        if len(groups) < 2:
            return None
        means = ([float(values[rows].mean()) for rows in groups.values()] for values in (a, b))
        weights = [len(rows) for rows in groups.values()]
        return paired_bootstrap(*means, weights=weights, samples=self.samples, seed=self.seed)

    @cached_property
    def unseen(self) -> dict[str, Ranker]:
        """Conversation → a ranker that was not trained on it: of its fold, else the memory's own; empty without either."""
        if self.folds:
            return {conversation: fold.ranker for fold in self.folds for conversation in fold.held}
        if self.shipped is None:
            return {}
        return dict.fromkeys((observation.conversation.id for observation in self.observations), Ranker(self.shipped))

    @cached_property
    def tables(self) -> Values:
        """Recall at 10 of each question under each of :data:`CHOICES`, ``(n, 16)``, by rankers that did not see it."""
        rows = []
        for observation in self.observations:
            ranker = self.unseen[observation.conversation.id]
            rankings = [observation.ranked(ranker, choice) for choice in CHOICES]
            rows.append([recall_at_k(turns, observation.evidence, CUT) for turns in rankings])
        return np.array(rows)

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

    def ranking_table(self, observations: Sequence[Observation]) -> Table:
        """Recall under every fixed ranking: those without trained weights."""
        return {name: arm_recalls(observations, name) for name in self.arms(observations) if name in RANKINGS}

    def operation_table(self, observations: Sequence[Observation]) -> Table:
        """Recall under every set of operations, by scorers that did not see the conversation."""
        chosen = set(map(id, observations))
        values = self.tables[[row for row, one in enumerate(self.observations) if id(one) in chosen]]
        return {" + ".join(sorted(on)) or "none": values[:, number] for number, on in enumerate(CHOICES)}
