"""What the experiments share: the records of the one pass, and weights trained on some of them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from hexamem.evals.answers import spread
from hexamem.evals.gate_training import gate_example
from hexamem.evals.metrics import Interval
from hexamem.evals.study.arms import ARMS
from hexamem.evals.study.operating import chosen_operations, learned_turns, recall_by_choice
from hexamem.evals.study.records import Observed, Ranked, difference
from hexamem.evals.training import replaced
from hexamem.retrieval.gates import GateSettings, learn_gate
from hexamem.retrieval.learning import LearningSettings, learn_ranking
from hexamem.retrieval.ranker import Ranker
from hexamem.retrieval.ranking_weights import RankingWeights
from hexamem.retrieval.signals.features import FEATURES

__all__ = ["HELD_OUT", "SHIPPED", "Fold", "Laboratory"]

HELD_OUT = "learned"
"""Weights trained on the other conversations of the study."""
SHIPPED = "learned_shipped"
"""The weights that the memory uses: those that ship, or those of ``--weights``."""
_FOLDS = 3
"""Into how many parts the conversations are cut."""
_MOST = 300
"""Questions on which one training of an ablation or a transfer is made at most, evenly spread."""


@dataclass(frozen=True, slots=True)
class Fold:
    """Weights, and the talks they were not trained on."""

    held: frozenset[str]
    ranker: Ranker


@dataclass
class Laboratory:
    """The records, and trainings on parts of them.

    Attributes:
        scored: the questions of all data sets, each with evidence.
        shipped: the memory's own weights; None where none fit its embedder.
        settings: of every training here; one seed and few passes keep a study to minutes.
        samples: draws of every bootstrap.
        rankers: talk → the held-out ranker with its gate; empty before :meth:`add_learned` and without folds.
    """

    scored: list[Observed]
    fingerprint: str
    shipped: RankingWeights | None = None
    settings: LearningSettings = field(default_factory=lambda: LearningSettings(runs=1))
    samples: int = 10_000
    seed: int = 0
    rankers: dict[str, Ranker] = field(default_factory=dict)
    _trained: dict[tuple[object, ...], RankingWeights] = field(default_factory=dict)

    @cached_property
    def sets(self) -> dict[str, list[Observed]]:
        """The questions of each data set, in the order in which they were given."""
        sets: dict[str, list[Observed]] = {}
        for one in self.scored:
            sets.setdefault(one.talk.data_set, []).append(one)
        return sets

    def has(self, observed: Sequence[Observed], arm: str) -> bool:
        """Whether every one of these questions has a ranking by the arm."""
        return all(arm in one.rankings for one in observed)

    def arms(self, observed: Sequence[Observed]) -> list[str]:
        """The arms that every one of these questions has a ranking by, in the order of a table."""
        return [arm for arm in (*ARMS, SHIPPED, HELD_OUT) if self.has(observed, arm)]

    @cached_property
    def folds(self) -> list[Fold]:
        """Weights for each part of the conversations, trained on the others; none with a single conversation.

        Parts are taken by conversation and across data sets alike. A conversation that stands in two data sets is held
        out of both at once.
        """
        names = list(dict.fromkeys(one.talk.conversation for one in self.scored))
        count = min(_FOLDS, len(names))
        if count < 2:
            return []
        folds = []
        for part in range(count):
            held = set(names[part::count])
            training = [one for one in self.scored if one.talk.conversation not in held]
            ids = frozenset(one.talk.id for one in self.scored if one.talk.conversation in held)
            folds.append(Fold(ids, Ranker(self.train(training, most=None))))
        return folds

    def train(
        self,
        training: Sequence[Observed],
        *,
        settings: LearningSettings | None = None,
        without: Collection[int] = (),
        blind: bool = False,
        most: int | None = _MOST,
    ) -> RankingWeights:
        """Train on some questions; asked for the same again, give the same.

        Args:
            settings: other than the study's own.
            without: columns of features that are the same for all candidates, so that nothing can be learned of them.
            blind: whether the cues of the questions are hidden: one ranking for all.
            most: so many questions at most, evenly spread; all when None.
        """
        chosen = spread(training, most)
        how = settings or self.settings
        key = (tuple(map(id, chosen)), how, tuple(sorted(without)), blind)
        if key in self._trained:
            return self._trained[key]
        examples = [one.asked.example for one in chosen]
        if without:
            kept = np.isin(np.arange(len(FEATURES)), list(without), invert=True).astype(np.float32)
            examples = [replace(one, values=one.values * kept) for one in examples]
        if blind:
            examples = [replace(one, cues=np.zeros_like(one.cues)) for one in examples]
        self._trained[key] = learn_ranking(examples, how, fingerprint=self.fingerprint)
        return self._trained[key]

    def difference(
        self, observed: Sequence[Observed], a: npt.NDArray[np.float64], b: npt.NDArray[np.float64]
    ) -> Interval | None:
        """:func:`~.records.difference` with the draws and the seed of the study."""
        return difference(observed, a, b, samples=self.samples, seed=self.seed)

    @cached_property
    def unseen(self) -> dict[str, Ranker]:
        """Talk → a ranker that was not trained on it: of its fold, else the memory's own; empty where there is neither."""
        if self.folds:
            return {talk: fold.ranker for fold in self.folds for talk in fold.held}
        if self.shipped is None:
            return {}
        return dict.fromkeys((one.talk.id for one in self.scored), Ranker(self.shipped))

    @cached_property
    def tables(self) -> npt.NDArray[np.float64]:
        """Recall of each scored question under each choice of operations, ``(n, 16)``, by rankers that did not see it."""
        return np.stack([recall_by_choice(one, self.unseen[one.talk.id]) for one in self.scored])

    @cached_property
    def _rows(self) -> dict[int, int]:
        return {id(one): index for index, one in enumerate(self.scored)}

    def row_of(self, one: Observed) -> int:
        """The place of a question among all scored ones."""
        return self._rows[id(one)]

    def chosen(self, one: Observed) -> frozenset[str]:
        """The operations that the held-out gate switches on for a question."""
        return chosen_operations(self.rankers[one.talk.id], one)

    def add_learned(self) -> None:
        """Add the rankings by trained weights, with the operations that their gate chooses, to the questions.

        A gate is trained on the questions of the other folds. The rewards of those are by rankers that had not seen them,
        though they had seen the conversation in question: the gate had not.
        """
        examples = [
            gate_example(one.operable, one.evidence, self.unseen[one.talk.id], None, one.talk.conversation)
            for one in (self.scored if self.folds else ())
        ]
        for fold in self.folds:
            training = [
                example for one, example in zip(self.scored, examples, strict=True) if one.talk.id not in fold.held
            ]
            gate = learn_gate(training, GateSettings())
            gated = Ranker(replaced(fold.ranker.weights, {"operations": gate}))
            self.rankers.update(dict.fromkeys(fold.held, gated))
        shipped = None if self.shipped is None else Ranker(self.shipped)
        for one in self.scored:
            for arm, ranker in ((HELD_OUT, self.rankers.get(one.talk.id)), (SHIPPED, shipped)):
                if ranker is not None:
                    one.rankings[arm] = Ranked(learned_turns(ranker, one, chosen_operations(ranker, one)))

    @property
    def best_learned(self) -> str | None:
        """The learned ranking that no question was trained on: held out where there are folds, else the shipped one."""
        return HELD_OUT if self.folds else SHIPPED if self.shipped is not None else None

    def trained_on(self, data_set: str) -> list[str]:
        """Conversations of a data set that the memory's own weights were trained on, by the weights' card."""
        if self.shipped is None:
            return []
        listed = self.shipped.card.get("conversations")
        seen = set(listed) if isinstance(listed, list) else set()
        names = dict.fromkeys(one.talk.conversation for one in self.sets.get(data_set, ()))
        return [name for name in names if name in seen]
