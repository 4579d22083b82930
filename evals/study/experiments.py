"""The experiments of the study: each computes rows of tables from the records of one pass.

``experiments.toml`` holds what a report states of each; the function of the same name here computes its tables.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import resources
from typing import Any

import numpy as np

from hexamem.evals.metrics import ndcg_at_k
from hexamem.evals.records import natural_key
from hexamem.evals.report import Row, Section
from hexamem.evals.study.laboratory import CHOICES, HELD_OUT, SHIPPED, SWITCHABLE, Fold, Laboratory, Table
from hexamem.evals.study.observing import CUT, RANKINGS, Observation, Values, arm_recalls, recalls
from hexamem.retrieval.ranker import SIGNALS, USUAL, Ranker, standardised
from hexamem.retrieval.signals.cues import operations_of
from hexamem.retrieval.signals.features import FEATURES, SIGNAL_OF

__all__ = ["COLUMNS_OF", "EXPERIMENTS", "Experiment"]

_BASELINE = "rrf"
_AGAINST, _RECALL = f"against {_BASELINE}", f"recall@{CUT}"
_CUTS = (5, 10, 20)
_FEW_CONVERSATIONS = 5
_HAN = re.compile(r"[\u4e00-\u9fff]")

COLUMNS_OF: Mapping[str, tuple[int, ...]] = {
    signal: tuple(column for column, name in enumerate(FEATURES) if SIGNAL_OF[name] == signal) for signal in SIGNALS
}
"""Signal → the columns of its features."""
_LEFT_OUT: Mapping[str, dict[str, Any]] = {
    "without the gate on signals": {"gate": 0},
    "without hidden units": {"hidden": 0},
    "without the prior of fusion": {"prior": 0.0},
    "without leaving signals out in training": {"drop_signals": 0.0},
}
"""Part of the scorer's training → settings that leave it out."""
_Tables = dict[str, list[Row]]


@dataclass(frozen=True)
class Experiment:
    """One experiment: the texts of its report, and what computes its tables and further remarks."""

    name: str
    title: str
    about: str
    compute: Callable[[Laboratory], tuple[_Tables, list[str]]]
    remarks: Sequence[str] = ()

    def run(self, lab: Laboratory) -> Section:
        """Its section of the report; without tables, and a remark on the reason, where it cannot be run."""
        tables, remarks = self.compute(lab)
        if not tables:
            return Section(name=self.name, title=self.title, remarks=remarks)
        remarks = [*remarks, *self.remarks]
        return Section(name=self.name, title=self.title, about=self.about, tables=tables, remarks=remarks)


# -- the main comparison ------------------------------------------------------------------------------------------


def main(lab: Laboratory) -> tuple[_Tables, list[str]]:
    """Recall and nDCG of each ranking, its difference to the baseline, and recall within the tokens of the learned one."""
    tables: _Tables = {"Rankings": []}
    remarks: list[str] = []
    for name, observations in lab.sets.items():
        for arm in lab.arms(observations):
            tables["Rankings"].append({"data set": name, "ranking": arm, **_figures(lab, observations, arm)})
        kinds = [entry.kind for entry in observations]
        tables[f"{name}: {_RECALL} by type of question"] = _by_group(lab, observations, kinds)
        languages = ["Chinese" if _HAN.search(entry.asked.question.text) else "English" for entry in observations]
        if len(set(languages)) > 1:
            tables[f"{name}: {_RECALL} by language of the question"] = _by_group(lab, observations, languages)
        if seen := lab.trained_on(name):
            remarks.append(
                f"{name}: the weights of `{SHIPPED}` were trained on {len(seen)} of its conversations; read "
                f"`{HELD_OUT}`, which was not"
            )
        if len({entry.conversation.id for entry in observations}) < _FEW_CONVERSATIONS:
            remarks.append(
                f"{name}: fewer than {_FEW_CONVERSATIONS} conversations, so intervals are rough and too narrow"
            )
    if not lab.folds:
        remarks.append(f"`{HELD_OUT}` takes at least two conversations: left out")
    rankings = [(arm, ranked) for entry in lab.observations for arm, ranked in entry.rankings.items()]
    degraded = {f"{arm}: {what}" for arm, ranked in rankings for what in ranked.degraded}
    remarks += [f"degraded, {what}" for what in sorted(degraded)[:10]]
    remarks += [f"`{name}`: {description}" for name, description in RANKINGS.items()]
    return tables, remarks


def _figures(lab: Laboratory, observations: Sequence[Observation], arm: str) -> dict[str, Any]:
    rankings = [entry.rankings[arm] for entry in observations]
    gains = [ndcg_at_k(entry.rankings[arm].turns, entry.evidence, CUT) for entry in observations]
    spent = [entry.tokens_of(ranked.turns[:CUT]) for entry, ranked in zip(observations, rankings, strict=True)]
    reference, in_tokens = lab.best_learned, None
    if reference is not None:

        def packed(entry: Observation) -> list[str]:
            return entry.packed(entry.rankings[arm].turns, entry.tokens_of(entry.rankings[reference].turns[:CUT]))

        longest = max(len(entry.conversation.tokens) for entry in observations)
        in_tokens = float(recalls(observations, packed, longest).mean())
    return {
        "questions": len(observations),
        **{f"recall@{k}": float(arm_recalls(observations, arm, k).mean()) for k in _CUTS},
        f"nDCG@{CUT}": float(np.mean(gains)),
        _AGAINST: _against_baseline(lab, observations, arm),
        "tokens": float(np.mean(spent)),
        "recall in tokens": in_tokens,
        "calls": float(np.mean([ranked.calls for ranked in rankings])),
        "model tokens": float(np.mean([ranked.tokens for ranked in rankings])),
    }


def _against_baseline(lab: Laboratory, observations: Sequence[Observation], arm: str) -> Any:
    if arm == _BASELINE:
        return None
    return lab.difference(observations, arm_recalls(observations, arm), arm_recalls(observations, _BASELINE))


def _by_group(lab: Laboratory, observations: Sequence[Observation], groups: Sequence[str]) -> list[Row]:
    """Recall of each ranking and its difference to the baseline by group; ``groups`` holds that of each question."""
    rows: list[dict[str, Any]] = [{"ranking": arm} for arm in lab.arms(observations)]
    for group in sorted(set(groups), key=natural_key):
        members = [entry for entry, own in zip(observations, groups, strict=True) if own == group]
        for row in rows:
            row[f"{group} ({len(members)})"] = float(arm_recalls(members, row["ranking"]).mean())
            row[f"{group} {_AGAINST}"] = _against_baseline(lab, members, row["ranking"])
    return list(rows)


# -- the oracle ---------------------------------------------------------------------------------------------------


def oracle(lab: Laboratory) -> tuple[_Tables, list[str]]:
    """The best configuration of each question, the best fixed one, the best of each type, and what is achieved."""
    tables: _Tables = {"Bounds": [], "Achieved": [], "Configurations": []}
    for name, observations in lab.sets.items():
        arms = lab.arms(observations)
        learned = {arm: arm_recalls(observations, arm) for arm in (SHIPPED, HELD_OUT) if arm in arms}
        families: list[tuple[str, Table, Table]] = [("fixed rankings", lab.ranking_table(observations), learned)]
        if lab.unseen:
            held_out = {arm: values for arm, values in learned.items() if arm == HELD_OUT}
            families.append(("operations", lab.operation_table(observations), held_out))
        for family, table, reached in families:
            where = {"data set": name, "configurations": family}
            best, fixed = np.max(list(table.values()), axis=0), _best(table)
            gap = float(best.mean() - table[fixed].mean())
            tables["Bounds"].append(
                {
                    **where,
                    "best fixed": fixed,
                    "recall of it": float(table[fixed].mean()),
                    "by type, held out": _by_type_held_out(observations, table),
                    "oracle": float(best.mean()),
                    "above best fixed": lab.difference(observations, best, table[fixed]),
                }
            )
            tables["Achieved"] += [
                {
                    **where,
                    "ranking": arm,
                    _RECALL: float(values.mean()),
                    "share of the gap": None if gap < 1e-9 else float(values.mean() - table[fixed].mean()) / gap,
                    "against best fixed": lab.difference(observations, values, table[fixed]),
                }
                for arm, values in reached.items()
            ]
            tables["Configurations"] += [
                {**where, "configuration": configuration, _RECALL: float(values.mean())}
                for configuration, values in table.items()
            ]
    return tables, []


def _best(table: Table, rows: Any = slice(None)) -> str:
    """The configuration with the best mean recall on some questions."""
    return max(table, key=lambda name: float(table[name][rows].mean()))


def _by_type_held_out(observations: Sequence[Observation], table: Table) -> float | None:
    """Recall under the configuration that is best for the type of each question on the other conversations, if any."""
    conversations = np.array([entry.conversation.id for entry in observations])
    types = np.array([entry.kind for entry in observations])
    if len(set(conversations.tolist())) < 2:
        return None
    values = []
    for index, (conversation, kind) in enumerate(zip(conversations, types, strict=True)):
        others = (conversations != conversation) & (types == kind)
        values.append(table[_best(table, others if others.any() else conversations != conversation)][index])
    return float(np.mean(values))


# -- ablations ----------------------------------------------------------------------------------------------------


def ablation(lab: Laboratory) -> tuple[_Tables, list[str]]:
    """Zero each signal at inference and in training, force each operation, and leave parts of the training out.

    All are measured on conversations that the weights were not trained on, in two halves. Trainings use at most 300
    questions each, those that they are compared with too.
    """
    parts = lab.parted(2)
    if not parts:
        return {}, ["not run: it takes at least two conversations"]
    observations = [entry for held, _ in parts for entry in held]

    def trained(**how: Any) -> list[Fold]:
        return [lab.fold(held, Ranker(lab.train(others, **how))) for held, others in parts]

    full = trained()
    whole = _measured(observations, full)
    signals: list[Row] = []
    for signal, columns in COLUMNS_OF.items():
        zeroed, retrained = (_measured(observations, folds, columns) for folds in (full, trained(without=columns)))
        changes = {"zero at inference": zeroed, "retrained": retrained}
        differences = {name: lab.difference(observations, values, whole) for name, values in changes.items()}
        signals.append({"without": signal, **differences})
    trainings = {
        "everything": whole,
        "blind to the question (all cues 0)": _measured(observations, trained(blind=True), blind=True),
        **{
            name: _measured(observations, trained(settings=replace(lab.settings, **changed)))
            for name, changed in _LEFT_OUT.items()
        },
    }
    tables = {
        "Signals": signals,
        "Operations": _changes(lab, lab.observations, _operations(lab)),
        "Training": _changes(lab, observations, trainings),
    }
    return tables, []


def _measured(
    observations: Sequence[Observation], folds: Sequence[Fold], without: Sequence[int] = (), *, blind: bool = False
) -> Values:
    """Recall of each question by the fold that did not see it, with some columns of features, or all cues, set to 0."""
    ranker_of = {conversation: fold.ranker for fold in folds for conversation in fold.held}

    def ranking(observation: Observation) -> list[str]:
        ranker, features = ranker_of[observation.conversation.id], observation.asked.features
        x = None
        if without and len(features.pool):
            x = standardised(features.values, ranker.weights.deviation)
            x[:, list(without)] = 0.0
        if blind:
            features = replace(features, cues=np.zeros_like(features.cues))
        return observation.asked.ranked_turns(ranker.score(features, x))

    return recalls(observations, ranking)


def _operations(lab: Laboratory) -> Table:
    """The usual operations, each operation off and on beside these, all, none, and a choice by the kind of the question."""
    count = len(lab.observations)
    switches: dict[str, list[frozenset[str]]] = {"the usual operations": [USUAL] * count}
    for name in SWITCHABLE:
        switches[f"without {name}" if name in USUAL else f"with {name}"] = [USUAL ^ {name}] * count
    switches["all operations"] = [frozenset(SWITCHABLE)] * count
    switches["no operation"] = [frozenset()] * count
    kinds = [operations_of(entry.asked.features.cues) for entry in lab.observations]
    switches["by the kind of the question"] = [
        frozenset(name for name in SWITCHABLE if chances[name] >= 0.5) for chances in kinds
    ]
    rows = np.arange(count)
    return {name: lab.tables[rows, [CHOICES.index(on) for on in chosen]] for name, chosen in switches.items()}


def _changes(lab: Laboratory, observations: Sequence[Observation], measured: Table) -> list[Row]:
    """The recall of each, and its change against the first."""
    first = next(iter(measured.values()))
    return [
        {
            "ranking": name,
            _RECALL: float(values.mean()),
            **({} if values is first else {"change": lab.difference(observations, values, first)}),
        }
        for name, values in measured.items()
    ]


_COMPUTE = {function.__name__: function for function in (oracle, main, ablation)}
EXPERIMENTS: Mapping[str, Experiment] = {
    name: Experiment(name=name, compute=_COMPUTE[name], **words)
    for name, words in tomllib.loads(
        resources.files(__package__).joinpath("experiments.toml").read_text("utf-8")
    ).items()
}
"""Every experiment by the name that ``--experiment`` takes, in the order of the report."""
