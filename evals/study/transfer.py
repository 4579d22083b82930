"""Transfer: weights trained on one data set, or on two, measured on the others."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any, TypeAlias

from hexamem.errors import InvalidInputError
from hexamem.evals.metrics import Interval
from hexamem.evals.study.laboratory import Laboratory
from hexamem.evals.study.main_comparison import BASELINE
from hexamem.evals.study.operating import learned_turns
from hexamem.evals.study.records import CUT, Observed, arm_recalls, halves, recalls
from hexamem.evals.study.sections import Section, StudyTable, interval_data, shown, shown_interval
from hexamem.retrieval.ranker import USUAL, Ranker

__all__ = ["transfer"]

Tested: TypeAlias = tuple[dict[str, Any], Interval | None]
"""Figures for programs, and the difference to :data:`~.main_comparison.BASELINE`."""


def transfer(lab: Laboratory) -> Section:
    """Train on each data set and on each pair, test on the others; within a data set by halves of its conversations."""
    names = list(lab.sets)
    if len(names) < 2:
        return Section(
            name="transfer",
            title="Transfer",
            remarks=["not run: it takes at least two data sets; give more paths, or made-up ones with --count"],
        )
    trainings: list[tuple[str, ...]] = [(name,) for name in names]
    trainings += list(combinations(names, 2)) if len(names) > 2 else []
    if len(names) > 3:
        trainings += [tuple(one for one in names if one != name) for name in names]
    data: dict[str, Any] = {}
    remarks: list[str] = []
    rows: list[list[str]] = []
    pair_rows: list[list[str]] = []
    compared: list[list[str]] = []
    for base in (BASELINE, "rrf_neighbours"):
        rows.append([base, *(shown(float(arm_recalls(lab.sets[name], base).mean())) for name in names)])
    for trained_on in trainings:
        row: list[str] = []
        for test in names:
            if test in trained_on and len(trained_on) > 1:
                row.append("")
                continue
            tested = _within(lab, test) if test in trained_on else _across(lab, trained_on, test)
            if tested is None:
                row.append("–")
                continue
            found, against = tested
            data.setdefault(" + ".join(trained_on), {})[test] = found
            loses = against is not None and against.high < 0
            row.append(f"{shown(found['recall'])}{' ↓' if loses else ''}")
            if len(trained_on) in (1, len(names) - 1):
                compared.append([" + ".join(trained_on), test, shown(found["recall"]), shown_interval(against)])
        (rows if len(trained_on) == 1 else pair_rows).append([" + ".join(trained_on), *row])
    if any(len(lab.sets[name]) < 20 for name in names):
        small = ", ".join(f"{name} ({len(lab.sets[name])})" for name in names if len(lab.sets[name]) < 20)
        remarks.append(f"few questions, so read with care: {small}")
    columns = ("trained on", *(f"{name} ({len(lab.sets[name])})" for name in names))
    return Section(
        name="transfer",
        title="Transfer",
        about=(
            f"recall@{CUT} of weights trained on the data set at the left (at most 300 questions), tested on the one above. On "
            "the diagonal one half of the conversations is tested by training on the other. Conversations that both hold are "
            "left out of training. No gate: the operations are the usual ones. "
            f"↓ marks what loses to `{BASELINE}` beyond its 95% interval."
        ),
        data=data,
        tables=[
            StudyTable("One data set", columns, rows),
            *([StudyTable("Joint training", columns, pair_rows)] if pair_rows else []),
            StudyTable(
                f"Against {BASELINE}: one data set, and all but one",
                ("trained on", "tested on", f"recall@{CUT}", "difference"),
                compared,
            ),
        ],
        remarks=remarks,
    )


def _across(lab: Laboratory, trained_on: Sequence[str], test: str) -> Tested | None:
    held = {one.talk.conversation for one in lab.sets[test]}
    training = [one for name in trained_on for one in lab.sets[name] if one.talk.conversation not in held]
    return _tested(lab, [(lab.sets[test], training)])


def _within(lab: Laboratory, name: str) -> Tested | None:
    parts = halves(lab.sets[name])
    return _tested(lab, parts) if parts else None


def _tested(lab: Laboratory, rounds: Sequence[tuple[list[Observed], list[Observed]]]) -> Tested | None:
    """Train and test in rounds of (held out, trained on); None where nothing can be learned."""
    observed: list[Observed] = []
    ranked: dict[int, tuple[str, ...]] = {}
    for test, training in rounds:
        try:
            ranker = Ranker(lab.train(training))
        except InvalidInputError:
            return None  # nothing of it can be learned from: no candidate is evidence
        for one in test:
            ranked[id(one)] = learned_turns(ranker, one, USUAL)
        observed += test
    values = recalls(observed, lambda one: ranked[id(one)])
    base = arm_recalls(observed, BASELINE)
    against = lab.difference(observed, values, base)
    return {
        "recall": float(values.mean()),
        "baseline": float(base.mean()),
        "against_baseline": interval_data(against),
    }, against
