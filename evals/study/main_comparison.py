"""The main comparison: every ranking on every data set, by type of question, and at the same tokens."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from hexamem.evals.metrics import Interval, ndcg_at_k, recall_at_k
from hexamem.evals.records import natural_key
from hexamem.evals.study.arms import ARMS
from hexamem.evals.study.laboratory import HELD_OUT, SHIPPED, Laboratory
from hexamem.evals.study.records import CUT, MODEL_NEEDED, Observed, arm_recalls, mean
from hexamem.evals.study.sections import Drawing, Section, StudyTable, interval_data, shown, shown_interval

__all__ = ["BASELINE", "arm_names", "main_comparison"]

BASELINE = "rrf"
"""What every other ranking is compared with."""
_CUTS = (5, 10, 20)
_FEW = 5
_HAN = re.compile(r"[\u4e00-\u9fff]")


def arm_names(observed: Sequence[Observed]) -> list[str]:
    """The arms that every question has a ranking by, in the order of a table."""
    order = [*ARMS, SHIPPED, HELD_OUT]
    return [name for name in order if observed and all(name in one.rankings for one in observed)]


def main_comparison(lab: Laboratory) -> Section:
    """Recall and nDCG of each arm, its difference to :data:`BASELINE`, and recall within the tokens of the learned one."""
    data: dict[str, Any] = {"arms": {name: arm.like for name, arm in ARMS.items()}, "sets": {}}
    tables: list[StudyTable] = []
    remarks: list[str] = []
    bars: dict[str, list[float | None]] = {}
    for name, observed in lab.sets.items():
        arms = arm_names(observed)
        base = arm_recalls(observed, BASELINE)
        against = {arm: lab.difference(observed, arm_recalls(observed, arm), base) for arm in arms if arm != BASELINE}
        missing = [one for one in ARMS if ARMS[one].model and one not in arms]
        found = {arm: _figures(lab, observed, arm, against.get(arm)) for arm in arms}
        found |= {arm: {"not_run": MODEL_NEEDED} for arm in missing}
        data["sets"][name] = {"questions": len(observed), "conversations": _talks(observed), "arms": found}
        tables.append(_overview(name, observed, found, against))
        data["sets"][name]["types"], of_types = _by_type(lab, name, observed)
        tables.append(of_types)
        if (languages := _by_language(lab, name, observed)) is not None:
            data["sets"][name]["languages"], table = languages
            tables.append(table)
        for arm in arms:
            bars.setdefault(arm, [None] * len(lab.sets))[list(lab.sets).index(name)] = found[arm]["recall"][str(CUT)]
        if seen := lab.trained_on(name):
            remarks.append(
                f"{name}: the weights of `{SHIPPED}` were trained on {len(seen)} of its {_talks(observed)} "
                f"conversations; read `{HELD_OUT}`, which was not"
            )
    if few := [name for name, observed in lab.sets.items() if _talks(observed) < _FEW]:
        remarks.append(f"fewer than {_FEW} conversations, so intervals are rough and too narrow: {', '.join(few)}")
    if not lab.folds:
        remarks.append(f"`{HELD_OUT}` takes at least two conversations: left out")
    if lab.model is None:
        loops = ", ".join(f"`{name}`" for name, arm in ARMS.items() if arm.model)
        remarks.append(f"{loops}: {MODEL_NEEDED}, not run")
    degraded = sorted(
        {f"{arm}: {what}" for one in lab.scored for arm, r in one.rankings.items() for what in r.degraded}
    )
    remarks += [f"degraded, {what}" for what in degraded[:10]]
    return Section(
        name="main",
        title="Main comparison",
        about=(
            f"Recall of evidence turns, mean over questions with evidence. Differences are to `{BASELINE}`, by paired "
            "bootstrap over conversations. `tokens` is what the ten best turns cost in a prompt; `recall in tokens` packs "
            "every ranking into what the ten best of the learned one take, question by question."
        ),
        data=data,
        tables=tables,
        remarks=[*remarks, *(f"`{name}`: {arm.like}" for name, arm in ARMS.items())],
        drawings=[
            Drawing(
                name="main",
                title=f"recall@{CUT}",
                x_label="",
                y_label=f"recall@{CUT}",
                groups=list(lab.sets),
                bars=bars,
            )
        ],
    )


def _talks(observed: Sequence[Observed]) -> int:
    return len({one.talk.id for one in observed})


def _figures(lab: Laboratory, observed: Sequence[Observed], arm: str, against: Interval | None) -> dict[str, Any]:
    rankings = [one.rankings[arm] for one in observed]
    ndcg = [
        ndcg_at_k(list(one.turns), asked.asked.question.evidence, CUT)
        for one, asked in zip(rankings, observed, strict=True)
    ]
    matched = token_matched(observed, arm, lab.best_learned)
    return {
        "recall": {str(k): mean(arm_recalls(observed, arm, k)) for k in _CUTS},
        "ndcg": {str(CUT): mean(ndcg)},
        "against_baseline": interval_data(against),
        "tokens": mean([float(one.tokens_of(one.rankings[arm].turns[:CUT])) for one in observed]),
        "recall_in_tokens": None if matched is None else mean(matched),
        "calls": float(np.mean([one.usage.calls for one in rankings])),
        "model_tokens": float(np.mean([one.usage.tokens for one in rankings])),
    }


def token_matched(observed: Sequence[Observed], arm: str, reference: str | None) -> npt.NDArray[np.float64] | None:
    """Recall of each question within the tokens that the reference's ten best turns take; None without a reference."""
    if reference is None or any(reference not in one.rankings for one in observed):
        return None
    found = []
    for one in observed:
        budget = one.tokens_of(one.rankings[reference].turns[:CUT])
        packed = one.packed(one.rankings[arm].turns, budget)
        found.append(recall_at_k(packed, one.asked.question.evidence, max(1, len(packed))))
    return np.array(found, np.float64)


def _overview(
    name: str,
    observed: Sequence[Observed],
    found: Mapping[str, dict[str, Any]],
    against: Mapping[str, Interval | None],
) -> StudyTable:
    columns = ("ranking", *(f"recall@{k}" for k in _CUTS), f"nDCG@{CUT}", f"against {BASELINE}", "tokens")
    rows: list[list[str]] = []
    for arm, one in found.items():
        if "not_run" in one:
            rows.append([arm, one["not_run"], *[""] * (len(columns) - 1)])
            continue
        told = shown_interval(against[arm]) if arm in against else ""
        figures = [shown(one["recall"][str(k)]) for k in _CUTS]
        rows.append(
            [arm, *figures, shown(one["ndcg"][str(CUT)]), told, f"{one['tokens']:.0f}", shown(one["recall_in_tokens"])]
        )
    title = f"{name}: {len(observed)} questions of {_talks(observed)} conversation(s)"
    return StudyTable(title, (*columns, "recall in tokens"), rows)


def _recall_by_group(
    lab: Laboratory, observed: Sequence[Observed], groups: Mapping[str, Sequence[int]]
) -> dict[str, dict[str, tuple[float | None, Interval | None]]]:
    """Arm → group → mean recall and its difference to :data:`BASELINE`.

    Args:
        groups: the places of each group's questions.
    """
    base = arm_recalls(observed, BASELINE)
    found: dict[str, dict[str, tuple[float | None, Interval | None]]] = {}
    for arm in arm_names(observed):
        values = arm_recalls(observed, arm)
        found[arm] = {
            name: (
                mean(values[places]),
                lab.difference([observed[place] for place in places], values[places], base[places]),
            )
            for name, places in groups.items()
        }
    return found


def _by_language(lab: Laboratory, name: str, observed: Sequence[Observed]) -> tuple[dict[str, Any], StudyTable] | None:
    """Recall by the language of the question, Chinese where it holds a Chinese character; None where all are of one."""
    chinese = [_HAN.search(one.asked.question.text) is not None for one in observed]
    groups = {
        "English": [place for place, one in enumerate(chinese) if not one],
        "Chinese": [place for place, one in enumerate(chinese) if one],
    }
    if not all(groups.values()):
        return None
    data: dict[str, Any] = {}
    rows: list[list[str]] = []
    for arm, found in _recall_by_group(lab, observed, groups).items():
        data[arm] = {}
        row = [arm]
        for language, (recall, against) in found.items():
            data[arm][language] = {"recall": recall, "against_baseline": interval_data(against)}
            row += [shown(recall), "" if arm == BASELINE else shown_interval(against)]
        rows.append(row)
    columns = [part for one, mine in groups.items() for part in (f"{one} ({len(mine)})", f"against {BASELINE}")]
    return data, StudyTable(f"{name}: recall@{CUT} by language of the question", ("ranking", *columns), rows)


def _by_type(lab: Laboratory, name: str, observed: Sequence[Observed]) -> tuple[dict[str, Any], StudyTable]:
    """Recall by type of question; the differences stand in the figures for programs."""
    types = sorted({one.asked.question.category for one in observed}, key=natural_key)
    groups = {
        kind: [place for place, one in enumerate(observed) if one.asked.question.category == kind] for kind in types
    }
    data: dict[str, Any] = {}
    rows: list[list[str]] = []
    for arm, found in _recall_by_group(lab, observed, groups).items():
        data[arm] = {
            kind: {"recall": recall, "against_baseline": None if arm == BASELINE else interval_data(against)}
            for kind, (recall, against) in found.items()
        }
        rows.append([arm, *(shown(recall) for recall, _ in found.values())])
    columns = ("ranking", *(f"{kind} ({len(mine)})" for kind, mine in groups.items()))
    return data, StudyTable(f"{name}: recall@{CUT} by type of question", columns, rows)
