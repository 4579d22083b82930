"""The experiments of the study, each computed from the records of one pass and reported as rows of tables."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from hexamem.errors import InvalidInputError
from hexamem.evals.metrics import Interval, ndcg_at_k
from hexamem.evals.records import natural_key
from hexamem.evals.study.arms import ARMS
from hexamem.evals.study.choosing import (
    achieved_by_gate,
    best_on,
    by_type,
    by_type_held_out,
    expected_under_flips,
    operation_names,
    operation_table,
    ranking_gate,
    ranking_table,
)
from hexamem.evals.study.laboratory import HELD_OUT, SHIPPED, Fold, Laboratory
from hexamem.evals.study.operating import CHOICES, THRESHOLD, learned_turns
from hexamem.evals.study.records import CUT, Observed, arm_recalls, halves, recalls
from hexamem.evals.study.report import Plot, Row, Section
from hexamem.retrieval.gates import switched
from hexamem.retrieval.operations import NAMES
from hexamem.retrieval.ranker import SIGNALS, USUAL, Ranker, standardised
from hexamem.retrieval.signals.cues import operations_of
from hexamem.retrieval.signals.features import FEATURES, SIGNAL_OF

__all__ = ["BASELINE", "COLUMNS_OF", "EXPERIMENTS", "frontier", "propagation_coefficient", "recovered_share"]

BASELINE = "rrf"
"""What every other ranking is compared with."""
AGAINST, RECALL = f"against {BASELINE}", f"recall@{CUT}"
_CUTS = (5, 10, 20)
_PARETO_CUTS = (1, 2, 5, 10, 20, 40)
_FEW_CONVERSATIONS, _FEW_QUESTIONS = 5, 20
_RATES = (0.1, 0.25, 0.5, 1.0)
_SMALL = 1e-9
_HAN = re.compile(r"[\u4e00-\u9fff]")
_Values: TypeAlias = npt.NDArray[np.float64]

COLUMNS_OF: Mapping[str, tuple[int, ...]] = {
    signal: tuple(column for column, name in enumerate(FEATURES) if SIGNAL_OF[name] == signal) for signal in SIGNALS
}
"""Signal → the columns of its features."""
_SWITCHES: Mapping[str, dict[str, Any]] = {
    "without the gate on signals": {"gate": 0},
    "without hidden units": {"hidden": 0},
    "without the prior of fusion": {"prior": 0.0},
    "without leaving signals out in training": {"drop_signals": 0.0},
}
"""Part of the scorer's training → settings that leave it out."""


# -- the main comparison ------------------------------------------------------------------------------------------


def main_comparison(lab: Laboratory) -> Section:
    """Recall and nDCG of each arm, its difference to the baseline, and recall within the tokens of the learned one."""
    tables: dict[str, list[Row]] = {"Rankings": []}
    bars: dict[str, dict[str, float | None]] = {}
    remarks: list[str] = []
    for name, observed in lab.sets.items():
        for arm in lab.arms(observed):
            figures = _figures(lab, observed, arm)
            tables["Rankings"].append({"data set": name, "ranking": arm, **figures})
            bars.setdefault(arm, {})[name] = figures[RECALL]
        types = [one.asked.question.category for one in observed]
        languages = ["Chinese" if _HAN.search(one.asked.question.text) else "English" for one in observed]
        tables[f"{name}: {RECALL} by type of question"] = _by_group(lab, observed, types)
        if len(set(languages)) > 1:
            tables[f"{name}: {RECALL} by language of the question"] = _by_group(lab, observed, languages)
        if seen := lab.trained_on(name):
            remarks.append(
                f"{name}: the weights of `{SHIPPED}` were trained on {len(seen)} of its conversations; read "
                f"`{HELD_OUT}`, which was not"
            )
        if len({one.talk.id for one in observed}) < _FEW_CONVERSATIONS:
            remarks.append(
                f"{name}: fewer than {_FEW_CONVERSATIONS} conversations, so intervals are rough and too narrow"
            )
    if not lab.folds:
        remarks.append(f"`{HELD_OUT}` takes at least two conversations: left out")
    if missing := [name for name, arm in ARMS.items() if arm.model and not lab.has(lab.scored, name)]:
        remarks.append(f"{', '.join(f'`{name}`' for name in missing)}: not run, since there is no model")
    degraded = {
        f"{arm}: {what}" for one in lab.scored for arm, ranked in one.rankings.items() for what in ranked.degraded
    }
    remarks += [f"degraded, {what}" for what in sorted(degraded)[:10]]
    return Section(
        name="main",
        title="Main comparison",
        about=(
            f"Recall of evidence turns, mean over questions with evidence. Differences are to `{BASELINE}`, by paired "
            "bootstrap over conversations. `tokens` is what the ten best turns cost in a prompt; `recall in tokens` packs "
            "every ranking into what the ten best of the learned one take, question by question."
        ),
        tables=tables,
        plots=[Plot(name="main", title=RECALL, y_label=RECALL, bars=bars)],
        remarks=[*remarks, *(f"`{name}`: {arm.like}" for name, arm in ARMS.items())],
    )


def _figures(lab: Laboratory, observed: Sequence[Observed], arm: str) -> dict[str, Any]:
    usages = [one.rankings[arm].usage for one in observed]
    figures: dict[str, Any] = {
        "questions": len(observed),
        **{f"recall@{k}": float(arm_recalls(observed, arm, k).mean()) for k in _CUTS},
        f"nDCG@{CUT}": float(
            np.mean([ndcg_at_k(list(one.rankings[arm].turns), one.evidence, CUT) for one in observed])
        ),
        AGAINST: _against_baseline(lab, observed, arm),
        "tokens": float(np.mean([one.tokens_of(one.rankings[arm].turns[:CUT]) for one in observed])),
        "recall in tokens": None,
        "calls": float(np.mean([usage.calls for usage in usages])),
        "model tokens": float(np.mean([usage.tokens for usage in usages])),
    }
    reference = lab.best_learned
    if reference is not None:

        def packed(one: Observed) -> list[str]:
            return one.packed(one.rankings[arm].turns, one.tokens_of(one.rankings[reference].turns[:CUT]))

        figures["recall in tokens"] = float(
            recalls(observed, packed, max(len(one.talk.turns) for one in observed)).mean()
        )
    return figures


def _against_baseline(lab: Laboratory, observed: Sequence[Observed], arm: str) -> Interval | None:
    if arm == BASELINE:
        return None
    return lab.difference(observed, arm_recalls(observed, arm), arm_recalls(observed, BASELINE))


def _by_group(lab: Laboratory, observed: Sequence[Observed], groups: Sequence[str]) -> list[Row]:
    """Recall of each arm and its difference to the baseline by group; ``groups`` holds that of each question."""
    rows: list[dict[str, Any]] = [{"ranking": arm} for arm in lab.arms(observed)]
    for group in sorted(set(groups), key=natural_key):
        members = [one for one, own in zip(observed, groups, strict=True) if own == group]
        for row in rows:
            row[f"{group} ({len(members)})"] = float(arm_recalls(members, row["ranking"]).mean())
            row[f"{group} {AGAINST}"] = _against_baseline(lab, members, row["ranking"])
    return list(rows)


# -- accuracy against tokens --------------------------------------------------------------------------------------


def pareto(lab: Laboratory) -> Section:
    """Recall against tokens at several cut-offs, and which points no other one beats."""
    rows: list[Row] = []
    unbeaten: list[Row] = []
    plots = []
    for number, (name, observed) in enumerate(lab.sets.items(), start=1):
        points = [_point(observed, arm, k) for arm in lab.arms(observed) for k in _PARETO_CUTS]
        best = frontier([(point["tokens"], point["recall"]) for point in points])
        lines: dict[str, tuple[list[float], list[float]]] = {}
        for point in points:
            rows.append({"data set": name, **point})
            x, y = lines.setdefault(point["ranking"], ([], []))
            x.append(point["tokens"])
            y.append(point["recall"])
        cheapest_first = sorted((points[index] for index in best), key=lambda point: float(point["tokens"]))
        unbeaten += [{"data set": name, **point} for point in cheapest_first]
        plots.append(
            Plot(
                name=f"pareto_{number}",
                title=f"{name}: recall against tokens",
                x_label="tokens a question, read and written",
                y_label="recall of evidence turns",
                lines=lines,
                log_x=True,
            )
        )
    return Section(
        name="pareto",
        title="Accuracy against tokens",
        about=(
            "A point is a ranking cut at 1, 2, 5, 10, 20 or 40 turns; one beats another that costs no less and finds no more. Read: the "
            "turns in the prompt of whoever answers, and what models read while searching. Written: what models wrote while "
            "searching, and all that they read and wrote when the conversation was stored, shared among its questions."
        ),
        tables={"Points that no other beats": unbeaten, "All points": rows},
        plots=plots,
    )


def _point(observed: Sequence[Observed], arm: str, k: int) -> dict[str, Any]:
    questions = Counter(one.talk.id for one in observed)
    context = float(np.mean([one.tokens_of(one.rankings[arm].turns[:k]) for one in observed]))
    searching = float(np.mean([one.rankings[arm].usage.input_tokens for one in observed]))
    stored = float(np.mean([one.talk.written / questions[one.talk.id] for one in observed]))
    written = float(np.mean([one.rankings[arm].usage.output_tokens for one in observed])) + stored
    return {
        "ranking": arm,
        "k": k,
        "read": context + searching,
        "written": written,
        "of these by models": searching + written,
        "tokens": context + searching + written,
        "recall": float(arm_recalls(observed, arm, k).mean()),
    }


def frontier(points: Sequence[tuple[float, float]]) -> set[int]:
    """Places of the points (cost, worth) that no other one beats: none costs no more, is worth no less and is better in one."""
    return {
        index
        for index, (cost, worth) in enumerate(points)
        if not any(
            other <= cost and value >= worth and (other < cost or value > worth)
            for place, (other, value) in enumerate(points)
            if place != index
        )
    }


# -- the oracle ---------------------------------------------------------------------------------------------------


def recovered_share(achieved: float, fixed: float, best: float) -> float | None:
    """How much of the way from the best fixed configuration to the oracle was made; None where there is no way to go."""
    return None if best - fixed < _SMALL else (achieved - fixed) / (best - fixed)


def oracle(lab: Laboratory) -> Section:
    """The best configuration of each question, the best fixed one, the best of each type, and what is achieved."""
    bounds: list[Row] = []
    achieved: list[Row] = []
    configurations: list[Row] = []
    for name, observed in lab.sets.items():
        learned = {arm: arm_recalls(observed, arm) for arm in (SHIPPED, HELD_OUT) if lab.has(observed, arm)}
        gate = ranking_gate(lab, observed)
        families = [("fixed rankings", ranking_table(lab, observed), gate.chosen if gate else [], dict(learned))]
        if gate is not None:
            families[0][3]["a gate among them"] = gate.recall
        if lab.unseen:
            own = {HELD_OUT: learned[HELD_OUT]} if HELD_OUT in learned else {}
            chosen = operation_names(lab, observed) if lab.rankers else []
            families.append(("operations", operation_table(lab, observed), chosen, own))
        for family, table, choices, reached in families:
            where = {"data set": name, "configurations": family}
            best, fixed = np.max(list(table.values()), axis=0), best_on(table)
            bounds.append(
                {
                    **where,
                    "best fixed": fixed,
                    "recall of it": float(table[fixed].mean()),
                    "by type, held out": by_type_held_out(observed, table),
                    "by type": float(by_type(observed, table).mean()),
                    "oracle": float(best.mean()),
                    "above best fixed": lab.difference(observed, best, table[fixed]),
                }
            )
            for arm, values in reached.items():
                share = recovered_share(float(values.mean()), float(table[fixed].mean()), float(best.mean()))
                achieved.append(
                    {
                        **where,
                        "ranking": arm,
                        RECALL: float(values.mean()),
                        "share of the gap": share,
                        "against best fixed": lab.difference(observed, values, table[fixed]),
                    }
                )
            counts = Counter(choices)
            configurations += [
                {**where, "configuration": one, RECALL: float(values.mean()), "chosen by the gate": counts[one]}
                for one, values in table.items()
            ]
    return Section(
        name="oracle",
        title="Oracle upper bound",
        about=(
            "Configurations are either the fixed rankings, or the 16 sets of operations under which one learned scorer may "
            f"rank a question differently. The oracle takes for each question the one with the best {RECALL}: no gate that "
            "chooses among them can do better. `by type` takes the best of each type of question on the same questions; `held "
            "out` chooses it on the other conversations. A score for each candidate is not bound by the oracle of the fixed "
            "rankings: it may put together what none of them does."
        ),
        tables={"Bounds": bounds, "Achieved": achieved, "Configurations": configurations},
        remarks=[
            "`a gate among them`: a ridge regression on the question's cues and vector chooses one fixed ranking, trained on "
            "other conversations",
            f"`{HELD_OUT}` among the operations: the trained gate chooses; its scorer and its gate are of other conversations",
            "the best fixed configuration is chosen on the questions measured, which flatters it",
        ],
    )


# -- transfer -----------------------------------------------------------------------------------------------------


def transfer(lab: Laboratory) -> Section:
    """Train on each data set, on each pair and on all but one; test on the others, and within a data set by halves."""
    names = list(lab.sets)
    if len(names) < 2:
        remark = "not run: it takes at least two data sets; give more paths, or made-up ones with --count"
        return Section(name="transfer", title="Transfer", remarks=[remark])
    trainings: list[tuple[str, ...]] = [(name,) for name in names]
    trainings += list(combinations(names, 2)) if len(names) > 2 else []
    trainings += [tuple(other for other in names if other != name) for name in names] if len(names) > 3 else []
    rows: list[Row] = [
        {
            "trained on": arm,
            "tested on": name,
            "questions": len(observed),
            RECALL: float(arm_recalls(observed, arm).mean()),
        }
        for arm in (BASELINE, "rrf_neighbours")
        for name, observed in lab.sets.items()
    ]
    for trained_on in trainings:
        for test in names:
            if test not in trained_on:
                rounds = [(lab.sets[test], [one for name in trained_on for one in lab.sets[name]])]
            elif len(trained_on) == 1:
                rounds = halves(lab.sets[test])
            else:
                continue
            row: dict[str, Any] = {"trained on": " + ".join(trained_on), "tested on": test}
            rows.append(row | _transferred(lab, rounds))
    few = [f"{name} ({len(observed)})" for name, observed in lab.sets.items() if len(observed) < _FEW_QUESTIONS]
    return Section(
        name="transfer",
        title="Transfer",
        about=(
            f"{RECALL} of weights trained on one or more data sets (at most 300 questions), tested on another; within a data "
            "set one half of the conversations is tested by training on the other. Conversations that both hold are left out "
            "of training. No gate: the operations are the usual ones. A dash: nothing can be learned of so little."
        ),
        tables={"Transfer": rows},
        remarks=[f"few questions, so read with care: {', '.join(few)}"] if few else [],
    )


def _transferred(lab: Laboratory, rounds: Sequence[tuple[list[Observed], list[Observed]]]) -> dict[str, Any]:
    """Train and test in rounds of (held out, trained on); no figures where nothing can be learned."""
    observed: list[Observed] = []
    values: list[_Values] = []
    for held, training in rounds:
        conversations = {one.talk.conversation for one in held}
        try:
            ranker = Ranker(lab.train([one for one in training if one.talk.conversation not in conversations]))
        except InvalidInputError:  # no candidate is evidence
            return {RECALL: None}
        values.append(recalls(held, lambda one, ranker=ranker: learned_turns(ranker, one, USUAL)))  # type: ignore[misc]
        observed += held
    if not observed:
        return {RECALL: None}
    recall = np.concatenate(values)
    return {
        "questions": len(observed),
        RECALL: float(recall.mean()),
        AGAINST: lab.difference(observed, recall, arm_recalls(observed, BASELINE)),
    }


# -- ablations ----------------------------------------------------------------------------------------------------


def ablation(lab: Laboratory) -> Section:
    """Zero each signal at inference and in training, force each operation, and leave parts of the training out.

    All are measured on conversations that the weights were not trained on, in two halves. Trainings use at most 300
    questions each, those that they are compared with too.
    """
    parts = halves(lab.scored)
    if not parts:
        return Section(name="ablation", title="Ablations", remarks=["not run: it takes at least two conversations"])
    observed = [one for held, _ in parts for one in held]

    def trained(**how: Any) -> list[Fold]:
        return [Fold(frozenset(one.talk.id for one in held), Ranker(lab.train(train, **how))) for held, train in parts]

    full = trained()
    whole = _measured(observed, full)
    signals: list[Row] = [
        {
            "without": signal,
            "zero at inference": lab.difference(observed, _measured(observed, full, columns), whole),
            "retrained": lab.difference(observed, _measured(observed, trained(without=columns), columns), whole),
        }
        for signal, columns in COLUMNS_OF.items()
    ]
    trainings = {
        "everything": whole,
        "blind to the question (all cues 0)": _measured(observed, trained(blind=True), blind=True),
    }
    for name, changed in _SWITCHES.items():
        trainings[name] = _measured(observed, trained(settings=replace(lab.settings, **changed)))
    operations = _operations(lab)
    bars: dict[str, dict[str, float | None]] = {}
    for kind in ("zero at inference", "retrained"):
        changes = {str(row["without"]): row[kind] for row in signals}
        bars[kind] = {name: cell.mean if isinstance(cell, Interval) else None for name, cell in changes.items()}
    return Section(
        name="ablation",
        title="Ablations",
        about=(
            f"Change of {RECALL} on held-out conversations (two halves, all data sets together), paired bootstrap over "
            "conversations. `zero at inference` takes a signal from weights that know it; `retrained` trains without it. "
            "Signals and training are of the scorer alone, without operations. Operations are those of the whole recall, by "
            "scorers and gates of other conversations (three parts). Filtering by threshold changes no ranking of a question "
            "that memory answers, so it is left out."
        ),
        tables={
            "Signals": signals,
            "Operations and the gate": _changes(lab, lab.scored, operations),
            "Training": _changes(lab, observed, trainings),
        },
        plots=[Plot(name="ablation", title=f"Change of {RECALL} without a signal", y_label="change", bars=bars)],
    )


def _measured(
    observed: Sequence[Observed], folds: Sequence[Fold], without: Sequence[int] = (), *, blind: bool = False
) -> _Values:
    """Recall of each question by the fold that did not see it.

    Args:
        without: columns of features set to 0.
        blind: whether the cues of the question are set to 0.
    """
    ranker_of = {talk: fold.ranker for fold in folds for talk in fold.held}

    def ranking(one: Observed) -> list[str]:
        ranker, features = ranker_of[one.talk.id], one.asked.features
        x = None
        if without and len(features.pool):
            x = standardised(features.values, ranker.weights.deviation)
            x[:, list(without)] = 0.0
        if blind:
            features = replace(features, cues=np.zeros_like(features.cues))
        return one.asked.ranked_turns(ranker.score(features, x))

    return recalls(observed, ranking)


def _operations(lab: Laboratory) -> dict[str, _Values]:
    """Each operation always off and always on, the gate deciding the others; no gate; and the kind of the question alone."""
    if not lab.rankers:
        return {}
    by_gate = [lab.chosen(one) for one in lab.scored]
    switches: dict[str, list[frozenset[str]]] = {"gate, trained": by_gate}
    for name in NAMES:
        if name != THRESHOLD:
            switches[f"without {name}"] = [on - {name} for on in by_gate]
            switches[f"always {name}"] = [on | {name} for on in by_gate]
    switches["without gate: the usual operations"] = [USUAL] * len(by_gate)
    switches["without gate: all operations"] = [frozenset(NAMES)] * len(by_gate)
    switches["without gate: no operation"] = [frozenset()] * len(by_gate)
    switches["gate by the kind of the question alone"] = [
        switched(operations_of(one.asked.features.cues), {}) for one in lab.scored
    ]
    rows = np.arange(len(by_gate))
    return {
        name: np.asarray(lab.tables[rows, [CHOICES.index(on - {THRESHOLD}) for on in chosen]], np.float64)
        for name, chosen in switches.items()
    }


def _changes(lab: Laboratory, observed: Sequence[Observed], measured: Mapping[str, _Values]) -> list[Row]:
    """The recall of each, and its change against the first."""
    first = next(iter(measured.values()), np.zeros(0))
    return [
        {
            "ranking": name,
            RECALL: float(values.mean()),
            **({} if values is first else {"change": lab.difference(observed, values, first)}),
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


def error_propagation(lab: Laboratory) -> Section:
    """Regret against the oracle, the recovered share of its gap, and recall under forced flips."""
    if not lab.rankers:
        remark = "not run: it takes weights trained on other conversations, and there is only one"
        return Section(name="errors", title="Error propagation", remarks=[remark])
    regrets: list[Row] = []
    choices: list[Row] = []
    flips: list[Row] = []
    lines: dict[str, tuple[list[float], list[float]]] = {}
    for name, observed in lab.sets.items():
        table = np.array(list(operation_table(lab, observed).values()))
        places, reached = achieved_by_gate(lab, observed)
        families = {"operations": (table, reached)}
        if (gate := ranking_gate(lab, observed)) is not None:
            families["fixed rankings"] = np.array(list(ranking_table(lab, observed).values())), gate.recall
        for family, (values, achieved) in families.items():
            where = {"data set": name, "configurations": family}
            regrets.append(where | _regret(lab, observed, values, achieved))
            choices.append({**where, **_wrong_choices(values, achieved)})
        lines[name] = ([0.0], [float(reached.mean())])
        for label, chances in _forced_flips().items():
            flipped, error = expected_under_flips(table.T, places, chances), float(np.mean(chances))
            flips.append(
                {
                    "data set": name,
                    "flipped": label,
                    "error": error,
                    RECALL: float(flipped.mean()),
                    "change": lab.difference(observed, flipped, reached),
                    "coefficient": propagation_coefficient(float((reached - flipped).mean()), error),
                }
            )
            if len(set(chances)) == 1:
                lines[name][0].append(error)
                lines[name][1].append(float(flipped.mean()))
    plot = Plot(
        name="errors",
        title="Recall under forced flips of operations",
        x_label="share of operations flipped",
        y_label=RECALL,
        lines=lines,
    )
    return Section(
        name="errors",
        title="Error propagation",
        about=(
            "Two gates: the trained one that switches the operations of the learned ranking, and a ridge regression that "
            f"chooses a fixed ranking. Regret: {RECALL} of the oracle over the same configurations less what the gate gets; "
            "`positive` counts only the questions on which something is lost. Coefficient: recall lost for each wrong choice "
            "(one where another configuration would have found more), beside that of choosing at random; `forced` is the "
            "recall where so many choices are replaced by a wrong one at random. Flips: every operation of the chosen set is "
            "turned to its opposite with the chance named, the expectation taken exactly; `error` is the share of operations "
            "flipped, and the coefficient recall lost for each unit of it. A dash stands where there was no error to divide by."
        ),
        tables={"Regret": regrets, "Choice of a configuration": choices, "Forced flips": flips},
        plots=[plot],
    )


def _forced_flips() -> dict[str, list[float]]:
    """What is flipped → the chance of each operation."""
    names = [name for name in NAMES if name != THRESHOLD]
    every = {f"{rate:.0%}": [rate] * len(names) for rate in _RATES}
    return every | {f"{name} alone": [float(name == other) for other in names] for name in names}


def _regret(lab: Laboratory, observed: Sequence[Observed], table: _Values, achieved: _Values) -> dict[str, Any]:
    best = table.max(axis=0)
    regret = best - achieved
    return {
        "oracle": float(best.mean()),
        "achieved": float(achieved.mean()),
        "regret": lab.difference(observed, best, achieved) or float(regret.mean()),
        "positive": float(np.maximum(regret, 0).mean()),
        "questions with regret": float((regret > _SMALL).mean()),
        "recovered share": recovered_share(float(achieved.mean()), float(table.mean(axis=1).max()), float(best.mean())),
    }


def _wrong_choices(table: _Values, achieved: _Values) -> dict[str, float | None]:
    """What wrong choices cost: a choice is wrong where another configuration would have found more."""
    best = table.max(axis=0)
    worse = table < best - _SMALL
    wrong = achieved < best - _SMALL
    # A question that all configurations answer alike cannot be chosen wrongly.
    at_fault = np.where(worse.any(axis=0), (table * worse).sum(axis=0) / np.maximum(worse.sum(axis=0), 1), best)
    lost_at_random = float((best - table.mean(axis=0)).mean())
    return {
        "wrong choices": float(wrong.mean()),
        "recall where right": float(achieved[~wrong].mean()) if not wrong.all() else None,
        "recall where wrong": float(achieved[wrong].mean()) if wrong.any() else None,
        "coefficient": propagation_coefficient(float((best - achieved).mean()), float(wrong.mean())),
        "coefficient at random": propagation_coefficient(lost_at_random, float(worse.mean())),
        **{f"forced {rate:.0%}": float(((1 - rate) * achieved + rate * at_fault).mean()) for rate in _RATES},
    }


EXPERIMENTS: Mapping[str, Callable[[Laboratory], Section]] = {
    "oracle": oracle,
    "main": main_comparison,
    "pareto": pareto,
    "transfer": transfer,
    "ablation": ablation,
    "errors": error_propagation,
}
"""Every experiment by the name that ``--experiment`` takes, in the order of the report."""
