"""The experiments of the study: each computes rows of tables from the records of one pass.

``experiments.toml`` holds what a report says of each; the function of the same name here computes its tables.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import resources
from itertools import combinations
from typing import Any

import numpy as np

from hexamem.errors import InvalidInputError
from hexamem.evals.metrics import Interval, ndcg_at_k
from hexamem.evals.records import natural_key
from hexamem.evals.report import Row, Section
from hexamem.evals.study.laboratory import (
    CHOICES,
    HELD_OUT,
    SHIPPED,
    THRESHOLD,
    Fold,
    Gated,
    Laboratory,
    Table,
    learned_turns,
)
from hexamem.evals.study.records import CUT, FULL, RANKINGS, Observation, Values, arm_recalls, halves, recalls
from hexamem.retrieval.gates import switched
from hexamem.retrieval.ranker import SIGNALS, USUAL, Ranker, standardised
from hexamem.retrieval.ranking_operations import NAMES
from hexamem.retrieval.signals.cues import operations_of
from hexamem.retrieval.signals.features import FEATURES, SIGNAL_OF

__all__ = [
    "COLUMNS_OF",
    "EXPERIMENTS",
    "Experiment",
    "expected_under_flips",
    "propagation_coefficient",
    "recovered_share",
]

_BASELINE = "rrf"
_AGAINST, _RECALL = f"against {_BASELINE}", f"recall@{CUT}"
_CUTS = (5, 10, 20)
_FEW_CONVERSATIONS, _FEW_QUESTIONS = 5, 20
_RATES = (0.1, 0.25, 0.5, 1.0)
_SMALL = 1e-9
_HAN = re.compile(r"[\u4e00-\u9fff]")
_SWITCHABLE = [name for name in NAMES if name != THRESHOLD]
_BITS = np.array([[name in choice for name in _SWITCHABLE] for choice in CHOICES])

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
    """One experiment: what its report says, and what computes its tables and further remarks."""

    name: str
    title: str
    about: str
    compute: Callable[[Laboratory], tuple[_Tables, list[str]]]
    remarks: Sequence[str] = ()

    def run(self, lab: Laboratory) -> Section:
        """Its section of the report; without tables where it cannot be run, which a remark then says."""
        tables, remarks = self.compute(lab)
        if not tables:
            return Section(name=self.name, title=self.title, remarks=remarks)
        return Section(
            name=self.name,
            title=self.title,
            about=self.about,
            tables=tables,
            remarks=[*remarks, *self.remarks],
        )


# -- the main comparison ------------------------------------------------------------------------------------------


def main(lab: Laboratory) -> tuple[_Tables, list[str]]:
    """Recall and nDCG of each arm, its difference to the baseline, and recall within the tokens of the learned one."""
    tables: _Tables = {"Rankings": []}
    remarks: list[str] = []
    for name, observations in lab.sets.items():
        for arm in lab.arms(observations):
            tables["Rankings"].append({"data set": name, "ranking": arm, **_figures(lab, observations, arm)})
        languages = [
            "Chinese" if _HAN.search(observation.asked.question.text) else "English" for observation in observations
        ]
        tables[f"{name}: {_RECALL} by type of question"] = _by_group(
            lab, observations, [observation.kind for observation in observations]
        )
        if len(set(languages)) > 1:
            tables[f"{name}: {_RECALL} by language of the question"] = _by_group(lab, observations, languages)
        if seen := lab.trained_on(name):
            remarks.append(
                f"{name}: the weights of `{SHIPPED}` were trained on {len(seen)} of its conversations; read "
                f"`{HELD_OUT}`, which was not"
            )
        if len({observation.conversation.id for observation in observations}) < _FEW_CONVERSATIONS:
            remarks.append(
                f"{name}: fewer than {_FEW_CONVERSATIONS} conversations, so intervals are rough and too narrow"
            )
    if not lab.folds:
        remarks.append(f"`{HELD_OUT}` takes at least two conversations: left out")
    if not lab.has(lab.observations, FULL):
        remarks.append(f"`{FULL}`: not run, since the memory has no model")
    rankings = [(arm, ranked) for observation in lab.observations for arm, ranked in observation.rankings.items()]
    degraded = {f"{arm}: {what}" for arm, ranked in rankings for what in ranked.degraded}
    remarks += [f"degraded, {what}" for what in sorted(degraded)[:10]]
    remarks += [f"`{name}`: {description}" for name, description in RANKINGS.items()]
    return tables, remarks


def _figures(lab: Laboratory, observations: Sequence[Observation], arm: str) -> dict[str, Any]:
    rankings = [observation.rankings[arm] for observation in observations]
    gains = [
        ndcg_at_k(list(ranked.turns), observation.evidence, CUT)
        for ranked, observation in zip(rankings, observations, strict=True)
    ]
    reference, in_tokens = lab.best_learned, None
    if reference is not None:

        def packed(observation: Observation) -> list[str]:
            return observation.packed(
                observation.rankings[arm].turns, observation.tokens_of(observation.rankings[reference].turns[:CUT])
            )

        in_tokens = float(
            recalls(
                observations, packed, max(len(observation.conversation.tokens) for observation in observations)
            ).mean()
        )
    return {
        "questions": len(observations),
        **{f"recall@{k}": float(arm_recalls(observations, arm, k).mean()) for k in _CUTS},
        f"nDCG@{CUT}": float(np.mean(gains)),
        _AGAINST: _against_baseline(lab, observations, arm),
        "tokens": float(
            np.mean([observation.tokens_of(observation.rankings[arm].turns[:CUT]) for observation in observations])
        ),
        "recall in tokens": in_tokens,
        "calls": float(np.mean([ranked.calls for ranked in rankings])),
        "model tokens": float(np.mean([ranked.tokens for ranked in rankings])),
    }


def _against_baseline(lab: Laboratory, observations: Sequence[Observation], arm: str) -> Interval | None:
    if arm == _BASELINE:
        return None
    return lab.difference(observations, arm_recalls(observations, arm), arm_recalls(observations, _BASELINE))


def _by_group(lab: Laboratory, observations: Sequence[Observation], groups: Sequence[str]) -> list[Row]:
    """Recall of each arm and its difference to the baseline by group; ``groups`` holds that of each question."""
    rows: list[dict[str, Any]] = [{"ranking": arm} for arm in lab.arms(observations)]
    for group in sorted(set(groups), key=natural_key):
        members = [observation for observation, own in zip(observations, groups, strict=True) if own == group]
        for row in rows:
            row[f"{group} ({len(members)})"] = float(arm_recalls(members, row["ranking"]).mean())
            row[f"{group} {_AGAINST}"] = _against_baseline(lab, members, row["ranking"])
    return list(rows)


# -- the oracle ---------------------------------------------------------------------------------------------------


def recovered_share(achieved: float, fixed: float, best: float) -> float | None:
    """How much of the way from the best fixed configuration to the oracle was made; None where there is no way to go."""
    return None if best - fixed < _SMALL else (achieved - fixed) / (best - fixed)


def oracle(lab: Laboratory) -> tuple[_Tables, list[str]]:
    """The best configuration of each question, the best fixed one, the best of each type, and what is achieved."""
    tables: _Tables = {"Bounds": [], "Achieved": [], "Configurations": []}
    for name, observations in lab.sets.items():
        learned = {arm: arm_recalls(observations, arm) for arm in (SHIPPED, HELD_OUT) if lab.has(observations, arm)}
        families: list[tuple[str, Table, Gated | None, Table]] = [
            ("fixed rankings", lab.ranking_table(observations), None, learned)
        ]
        if lab.unseen:
            held_out = {HELD_OUT: learned[HELD_OUT]} if HELD_OUT in learned else {}
            chosen = lab.operation_gate(observations) if lab.rankers else None
            families.append(("operations", lab.operation_table(observations), chosen, held_out))
        for family, table, gated, reached in families:
            where = {"data set": name, "configurations": family}
            best, fixed = np.max(list(table.values()), axis=0), _best(table)
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
                    "share of the gap": recovered_share(
                        float(values.mean()), float(table[fixed].mean()), float(best.mean())
                    ),
                    "against best fixed": lab.difference(observations, values, table[fixed]),
                }
                for arm, values in reached.items()
            ]
            counts = Counter(gated.chosen if gated else ())
            tables["Configurations"] += [
                {
                    **where,
                    "configuration": configuration,
                    _RECALL: float(values.mean()),
                    "chosen by the gate": counts[configuration],
                }
                for configuration, values in table.items()
            ]
    return tables, []


def _best(table: Table, rows: Any = slice(None)) -> str:
    """The configuration with the best mean recall on some questions."""
    return max(table, key=lambda name: float(table[name][rows].mean()))


def _by_type_held_out(observations: Sequence[Observation], table: Table) -> float | None:
    """Recall under the configuration that is best for the type of each question on the other conversations; None for one
    conversation."""
    conversations, types = (
        np.array(column)
        for column in zip(
            *((observation.conversation.id, observation.kind) for observation in observations), strict=True
        )
    )
    if len(set(conversations.tolist())) < 2:
        return None
    values = []
    for index, (conversation, kind) in enumerate(zip(conversations, types, strict=True)):
        others = (conversations != conversation) & (types == kind)
        values.append(table[_best(table, others if others.any() else conversations != conversation)][index])
    return float(np.mean(values))


# -- transfer -----------------------------------------------------------------------------------------------------


def transfer(lab: Laboratory) -> tuple[_Tables, list[str]]:
    """Train on each data set, on each pair and on all but one; test on the others, and within a data set by halves."""
    names = list(lab.sets)
    if len(names) < 2:
        return {}, ["not run: it takes at least two data sets; give more paths, or made-up ones with --count"]
    trainings: list[tuple[str, ...]] = [(name,) for name in names]
    trainings += list(combinations(names, 2)) if len(names) > 2 else []
    trainings += [tuple(other for other in names if other != name) for name in names] if len(names) > 3 else []
    rows: list[Row] = [
        {
            "trained on": arm,
            "tested on": name,
            "questions": len(observations),
            _RECALL: float(arm_recalls(observations, arm).mean()),
        }
        for arm in (_BASELINE, "rrf_neighbours")
        for name, observations in lab.sets.items()
    ]
    for trained_on in trainings:
        for test in names:
            if test not in trained_on:
                rounds = [(lab.sets[test], [observation for name in trained_on for observation in lab.sets[name]])]
            elif len(trained_on) == 1:
                rounds = halves(lab.sets[test])
            else:
                continue
            where = {"trained on": " + ".join(trained_on), "tested on": test}
            rows.append({**where, **_transferred(lab, rounds)})
    few = [
        f"{name} ({len(observations)})" for name, observations in lab.sets.items() if len(observations) < _FEW_QUESTIONS
    ]
    return {"Transfer": rows}, [f"few questions, so read with care: {', '.join(few)}"] if few else []


def _transferred(lab: Laboratory, rounds: Sequence[tuple[list[Observation], list[Observation]]]) -> dict[str, Any]:
    """Train and test in rounds of (held out, trained on); no figures where nothing can be learned."""
    observations: list[Observation] = []
    values: list[Values] = []
    for held, training in rounds:
        conversations = {observation.conversation.source_id for observation in held}
        try:
            ranker = Ranker(
                lab.train(
                    [observation for observation in training if observation.conversation.source_id not in conversations]
                )
            )
        except InvalidInputError:  # no candidate is evidence
            return {_RECALL: None}
        values.append(recalls(held, lambda observation, ranker=ranker: learned_turns(ranker, observation, USUAL)))  # type: ignore[misc]
        observations += held
    if not observations:
        return {_RECALL: None}
    recall = np.concatenate(values)
    return {
        "questions": len(observations),
        _RECALL: float(recall.mean()),
        _AGAINST: lab.difference(observations, recall, arm_recalls(observations, _BASELINE)),
    }


# -- ablations ----------------------------------------------------------------------------------------------------


def ablation(lab: Laboratory) -> tuple[_Tables, list[str]]:
    """Zero each signal at inference and in training, force each operation, and leave parts of the training out.

    All are measured on conversations that the weights were not trained on, in two halves. Trainings use at most 300
    questions each, those that they are compared with too.
    """
    parts = halves(lab.observations)
    if not parts:
        return {}, ["not run: it takes at least two conversations"]
    observations = [observation for held, _ in parts for observation in held]

    def trained(**how: Any) -> list[Fold]:
        return [
            Fold(frozenset(observation.conversation.id for observation in held), Ranker(lab.train(train, **how)))
            for held, train in parts
        ]

    full = trained()
    whole = _measured(observations, full)
    signals: list[Row] = [
        {
            "without": signal,
            "zero at inference": lab.difference(observations, _measured(observations, full, columns), whole),
            "retrained": lab.difference(
                observations, _measured(observations, trained(without=columns), columns), whole
            ),
        }
        for signal, columns in COLUMNS_OF.items()
    ]
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
        "Operations and the gate": _changes(lab, lab.observations, _operations(lab)),
        "Training": _changes(lab, observations, trainings),
    }
    return tables, []


def _measured(
    observations: Sequence[Observation], folds: Sequence[Fold], without: Sequence[int] = (), *, blind: bool = False
) -> Values:
    """Recall of each question by the fold that did not see it.

    Args:
        without: columns of features set to 0.
        blind: whether the cues of the question are set to 0.
    """
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
    """Each operation always off and always on, the gate deciding the others; no gate; and the kind of the question alone."""
    if not lab.rankers:
        return {}
    by_gate = [lab.chosen(observation) for observation in lab.observations]
    switches: dict[str, list[frozenset[str]]] = {"gate, trained": by_gate}
    for name in _SWITCHABLE:
        switches[f"without {name}"] = [on - {name} for on in by_gate]
        switches[f"always {name}"] = [on | {name} for on in by_gate]
    for name, on in {
        "the usual operations": USUAL,
        "all operations": frozenset(NAMES),
        "no operation": frozenset(),
    }.items():
        switches[f"without gate: {name}"] = [frozenset(on)] * len(by_gate)
    switches["gate by the kind of the question alone"] = [
        switched(operations_of(observation.asked.features.cues), {}) for observation in lab.observations
    ]
    rows = np.arange(len(by_gate))
    return {
        name: np.asarray(lab.tables[rows, [CHOICES.index(on - {THRESHOLD}) for on in chosen]], np.float64)
        for name, chosen in switches.items()
    }


def _changes(lab: Laboratory, observations: Sequence[Observation], measured: Table) -> list[Row]:
    """The recall of each, and its change against the first."""
    first = next(iter(measured.values()), np.zeros(0))
    return [
        {
            "ranking": name,
            _RECALL: float(values.mean()),
            **({} if values is first else {"change": lab.difference(observations, values, first)}),
        }
        for name, values in measured.items()
    ]


# -- error propagation --------------------------------------------------------------------------------------------


def propagation_coefficient(loss: float, error: float) -> float | None:
    """Recall lost for each unit of error in the choice: ``Δ recall / Δ error``.

    1 means that errors of the gate come through whole, 0 that the ranking does not mind them. None where there was no
    error to divide by.
    """
    return None if abs(error) < _SMALL else loss / error


def expected_under_flips(recall: Values, chosen: Sequence[int], chances: Sequence[float]) -> Values:
    """The expected recall of each question where every operation of its configuration is flipped by chance, exactly.

    Args:
        recall: of each configuration, ``(n, 16)``.
        chosen: places of the configurations that the gate took, ``n``.
        chances: that each of the four operations is flipped.
    """
    flips = _BITS[list(chosen)][:, None, :] != _BITS[None, :, :]
    chance = np.asarray(chances)
    weights = np.where(flips, chance, 1 - chance).prod(axis=2)
    return np.asarray((weights * recall).sum(axis=1), np.float64)


def errors(lab: Laboratory) -> tuple[_Tables, list[str]]:
    """Regret against the oracle, the recovered share of its gap, and recall under forced flips."""
    if not lab.rankers:
        return {}, ["not run: it takes weights trained on other conversations, and there is only one"]
    tables: _Tables = {"Regret": [], "Forced flips": []}
    for name, observations in lab.sets.items():
        places, reached = lab.chosen_places(observations), lab.operation_gate(observations).recall
        values = np.array(list(lab.operation_table(observations).values()))
        tables["Regret"].append({"data set": name, **_regret(lab, observations, values, reached)})
        for label, chances in _forced_flips().items():
            recall, error = lab.tables[lab.rows_of(observations)], float(np.mean(chances))
            flipped = expected_under_flips(recall, places, chances)
            tables["Forced flips"].append(
                {
                    "data set": name,
                    "flipped": label,
                    "error": error,
                    _RECALL: float(flipped.mean()),
                    "change": lab.difference(observations, flipped, reached),
                    "coefficient": propagation_coefficient(float((reached - flipped).mean()), error),
                }
            )
    return tables, []


def _forced_flips() -> dict[str, list[float]]:
    """What is flipped → the chance of each operation."""
    every = {f"{rate:.0%}": [rate] * len(_SWITCHABLE) for rate in _RATES}
    return every | {f"{name} alone": [float(name == other) for other in _SWITCHABLE] for name in _SWITCHABLE}


def _regret(lab: Laboratory, observations: Sequence[Observation], table: Values, achieved: Values) -> dict[str, Any]:
    best = table.max(axis=0)
    regret = best - achieved
    return {
        "oracle": float(best.mean()),
        "achieved": float(achieved.mean()),
        "regret": lab.difference(observations, best, achieved) or float(regret.mean()),
        "positive": float(np.maximum(regret, 0).mean()),
        "questions with regret": float((regret > _SMALL).mean()),
        "recovered share": recovered_share(float(achieved.mean()), float(table.mean(axis=1).max()), float(best.mean())),
    }


_COMPUTE = {function.__name__: function for function in (oracle, main, transfer, ablation, errors)}
EXPERIMENTS: Mapping[str, Experiment] = {
    name: Experiment(name=name, compute=_COMPUTE[name], **words)
    for name, words in tomllib.loads(
        resources.files(__package__).joinpath("experiments.toml").read_text("utf-8")
    ).items()
}
"""Every experiment by the name that ``--experiment`` takes, in the order of the report."""
