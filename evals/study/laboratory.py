"""What the experiments share: the records of the one pass, weights trained on some of them, and recall by configuration.

Of the 32 sets of the five operations, filtering by threshold changes no ranking of a question that memory answers: 16 remain.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from hexamem.evals.answers import spread
from hexamem.evals.gate_training import found_by_configuration, gate_example
from hexamem.evals.metrics import Interval
from hexamem.evals.study.arms import ARMS
from hexamem.evals.study.records import DEPTH, Observed, Ranked, Values, arm_recalls, difference
from hexamem.evals.training import replaced
from hexamem.retrieval.gates import GateSettings, OperationGate, learn_gate, switched
from hexamem.retrieval.learning import LearningSettings, learn_ranking
from hexamem.retrieval.operations import configurations
from hexamem.retrieval.ranker import Ranker
from hexamem.retrieval.ranking_weights import RankingWeights
from hexamem.retrieval.signals.features import FEATURES

if TYPE_CHECKING:
    from sklearn.pipeline import Pipeline

__all__ = [
    "CHOICES",
    "HELD_OUT",
    "SHIPPED",
    "THRESHOLD",
    "Fold",
    "Gated",
    "Laboratory",
    "Table",
    "fit_gate",
    "learned_turns",
]

HELD_OUT = "learned"
"""Weights trained on the other conversations of the study."""
SHIPPED = "learned_shipped"
"""The weights that the memory uses: those that ship, or those of ``--weights``."""
THRESHOLD = "threshold_filtering"
CHOICES: tuple[frozenset[str], ...] = tuple(on for on in configurations() if THRESHOLD not in on)
"""The sets of operations that may rank a question differently."""
Table: TypeAlias = Mapping[str, Values]
"""Configuration → recall of every question."""
_FOLDS, _PARTS = 3, 3
"""Into how many parts the conversations are cut, and those of the training of a gate of rankings."""
_MOST = 300
"""Questions on which one training of an ablation or a transfer is made at most, evenly spread."""
_PENALTIES = (1e6, 1e5, 1e4, 1e3, 1e2)


@dataclass(frozen=True, slots=True)
class Fold:
    """Weights, and the talks they were not trained on."""

    held: frozenset[str]
    ranker: Ranker


class Gated(NamedTuple):
    """The configuration that a gate chose for each question, and the recall under it."""

    chosen: list[str]
    recall: Values


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

        Parts are taken by conversation and across data sets alike. A conversation that is in two data sets is held
        out of both at once.
        """
        names = list(dict.fromkeys(one.talk.conversation for one in self.scored))
        count = min(_FOLDS, len(names))
        folds = []
        for part in range(count) if count > 1 else ():
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
            examples = [one.asked.example for one in chosen]
            if without:
                kept = np.isin(np.arange(len(FEATURES)), list(without), invert=True).astype(np.float32)
                examples = [replace(one, values=one.values * kept) for one in examples]
            if blind:
                examples = [replace(one, cues=np.zeros_like(one.cues)) for one in examples]
            self._trained[key] = learn_ranking(examples, how, fingerprint=self.fingerprint)
        return self._trained[key]

    def difference(self, observed: Sequence[Observed], a: Values, b: Values) -> Interval | None:
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
    def tables(self) -> Values:
        """Recall at 10 of each scored question under each of :data:`CHOICES`, ``(n, 16)``, by rankers that did not see it."""
        rows = []
        for one in self.scored:
            measured = found_by_configuration(one.operable, one.evidence, self.unseen[one.talk.id])
            rows.append([measured[one.operable.plain(choice)][0] for choice in CHOICES])
        return np.array(rows)

    @cached_property
    def _rows(self) -> dict[int, int]:
        return {id(one): index for index, one in enumerate(self.scored)}

    def rows_of(self, observed: Sequence[Observed]) -> list[int]:
        """The places of questions among all scored ones."""
        return [self._rows[id(one)] for one in observed]

    def chosen(self, one: Observed) -> frozenset[str]:
        """The operations that the held-out gate switches on for a question."""
        return _chosen_operations(self.rankers[one.talk.id], one)

    def chosen_places(self, observed: Sequence[Observed]) -> list[int]:
        """The place in :data:`CHOICES` of what the held-out gate chooses for each question."""
        return [CHOICES.index(self.chosen(one) - {THRESHOLD}) for one in observed]

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
            pairs = zip(self.scored, examples, strict=True)
            gate = learn_gate([example for one, example in pairs if one.talk.id not in fold.held], GateSettings())
            gated = Ranker(replaced(fold.ranker.weights, {"operations": gate}))
            self.rankers.update(dict.fromkeys(fold.held, gated))
        shipped = None if self.shipped is None else Ranker(self.shipped)
        for one in self.scored:
            for arm, ranker in ((HELD_OUT, self.rankers.get(one.talk.id)), (SHIPPED, shipped)):
                if ranker is not None:
                    one.rankings[arm] = Ranked(learned_turns(ranker, one, _chosen_operations(ranker, one)))

    @property
    def best_learned(self) -> str | None:
        """The learned ranking that no question was trained on: held out where there are folds, else the shipped one."""
        return HELD_OUT if self.folds else SHIPPED if self.shipped is not None else None

    def trained_on(self, data_set: str) -> list[str]:
        """Conversations of a data set that the memory's own weights were trained on, by the weights' card."""
        listed = None if self.shipped is None else self.shipped.card.get("conversations")
        seen = set(listed) if isinstance(listed, list) else set()
        names = dict.fromkeys(one.talk.conversation for one in self.sets.get(data_set, ()))
        return [name for name in names if name in seen]

    # -- recall by configuration

    def ranking_table(self, observed: Sequence[Observed]) -> Table:
        """Recall under every fixed ranking: those that no training shaped and no model drives."""
        fixed = [name for name in self.arms(observed) if name in ARMS and not ARMS[name].model]
        return {name: arm_recalls(observed, name) for name in fixed}

    def operation_table(self, observed: Sequence[Observed]) -> Table:
        """Recall under every set of operations, by scorers that did not see the conversation."""
        values = self.tables[self.rows_of(observed)]
        return {" + ".join(sorted(on)) or "none": values[:, number] for number, on in enumerate(CHOICES)}

    def operation_gate(self, observed: Sequence[Observed]) -> Gated:
        """The set of operations that the held-out gate chooses for each question, and the recall under it."""
        places = self.chosen_places(observed)
        names = list(self.operation_table(observed))
        return Gated([names[place] for place in places], self.tables[self.rows_of(observed), places])

    def ranking_gate(self, observed: Sequence[Observed]) -> Gated | None:
        """A gate that sees only the question and chooses a fixed ranking, trained on the other folds; None without folds."""
        if not self.folds:
            return None
        names, chosen, recall = self._ranking_gate
        rows = self.rows_of(observed)
        return Gated([names[place] for place in chosen[rows]], recall[rows, chosen[rows]])

    @cached_property
    def _ranking_gate(self) -> tuple[list[str], npt.NDArray[np.int64], Values]:
        table = self.ranking_table(self.scored)
        recall = np.stack(list(table.values()), axis=1)
        x = np.stack([np.concatenate([one.asked.features.cues, one.vector]) for one in self.scored]).astype(np.float64)
        talks = np.array([one.talk.id for one in self.scored])
        chosen = np.zeros(len(talks), np.int64)
        for fold in self.folds:
            held = np.isin(talks, list(fold.held))
            gate = fit_gate(x[~held], recall[~held], talks[~held].tolist())
            chosen[held] = gate.predict(x[held]).argmax(axis=1)
        return list(table), chosen, recall


def learned_turns(ranker: Ranker, one: Observed, on: frozenset[str]) -> tuple[str, ...]:
    """The turns as a recall with these operations returns them, best first."""
    return tuple(one.operable.ranked(ranker, one.operable.plain(on))[:DEPTH])


def _chosen_operations(ranker: Ranker, one: Observed) -> frozenset[str]:
    """What the gate of some weights switches on for a question; the usual operations where they have none."""
    gate = OperationGate(ranker.weights)
    return switched(gate.weights_of(*one.operable.gate_input(ranker.score(one.asked.features))), {})


def fit_gate(x: Values, recall: Values, groups: Sequence[str]) -> Pipeline:
    """A ridge regression from a question to the recall of each configuration, ``(n, d)`` to ``(n, c)``.

    Its penalty is the one under which the choice finds most on groups left out in turn, the greatest of equals: with a
    great one it takes what is best for all questions.
    """
    from sklearn.linear_model import Ridge
    from sklearn.model_selection import GridSearchCV, GroupKFold
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import StandardScaler

    gate = Pipeline([("scale", StandardScaler()), ("ridge", Ridge(alpha=_PENALTIES[0]))])
    parts = min(_PARTS, len(set(groups)))
    if parts < 2:
        return gate.fit(x, recall)

    def found(fitted: Pipeline, asked: Values, recalls: Values) -> float:
        return round(float(recalls[np.arange(len(asked)), fitted.predict(asked).argmax(axis=1)].mean()), 9)

    search = GridSearchCV(gate, {"ridge__alpha": _PENALTIES}, scoring=found, cv=GroupKFold(parts))
    return search.fit(x, recall, groups=groups).best_estimator_
