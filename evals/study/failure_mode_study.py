"""Which failure modes the questions of each data set have, how surely they are told, and how each ranking does by mode."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ...retrieval.failure_modes import FAILURE_MODES, failure_modes_of
from ...retrieval.ranker import Ranker
from ...stores.embedders import open_embedder
from ..training import calibration_error, unanswerable
from .failure_mode_labels import MODE_OF_TYPE, cohen_kappa, cross_validated, labelled_questions, seen_by
from .laboratory import Laboratory
from .main_comparison import BASELINE, arm_names
from .records import CUT, Observed, by_data_set, difference, mean, recalls
from .sections import Drawing, Section, StudyTable, interval_data, shown

__all__ = ["failure_modes", "modes_of"]

_FEW = 5


def modes_of(observed: Sequence[Observed], fingerprint: str) -> list[frozenset[str]]:
    """The failure modes of questions, told from their wording."""
    if not observed:
        return []
    texts = [one.asked.question.text for one in observed]
    return failure_modes_of(texts, np.stack([one.vector for one in observed]), fingerprint)


def failure_modes(lab: Laboratory) -> Section:
    """Agreement on the labelled questions, distribution over data sets, and recall by mode."""
    labelled = labelled_questions()
    agreement, agreement_table = _agreement()
    data: dict[str, Any] = {"labelled": len(labelled), "agreement": agreement, "distribution": {}, "results": {}}
    rows: list[list[str]] = []
    remarks: list[str] = []
    shares: dict[str, list[float | None]] = {mode: [] for mode in FAILURE_MODES}
    groups = by_data_set(lab.observed)
    for name, observed in groups.items():
        modes = modes_of(observed, lab.fingerprint)
        found: dict[str, Any] = {mode: float(np.mean([mode in one for one in modes])) for mode in FAILURE_MODES}
        found["none"] = float(np.mean([not one for one in modes]))
        found["several"] = float(np.mean([len(one) > 1 for one in modes]))
        found["against_own_types"] = _against_types(observed, modes)
        data["distribution"][name] = {"questions": len(observed), **found}
        rows.append([name, str(len(observed)), *(f"{found[one]:.0%}" for one in (*FAILURE_MODES, "several", "none"))])
        for mode in FAILURE_MODES:
            shares[mode].append(found[mode])
    tables = [
        agreement_table,
        StudyTable(
            "Share of questions with a mode, told from the wording",
            ("data set", "questions", *FAILURE_MODES, "several", "none"),
            rows,
        ),
    ]
    for name, observed in lab.sets.items():
        results, table = _results(lab, name, observed)
        data["results"][name] = results
        tables.append(table)
    existence = {name: told for name, one in groups.items() if (told := _existence(lab, one)) is not None}
    if existence:
        data["existence"] = existence
        tables.append(
            StudyTable(
                "Existence: how well `answerable` of the memory's own weights tells unanswerable questions",
                ("data set", "unanswerable", "area under the curve", "calibration error"),
                [[name, one["unanswerable"], one["auc"], one["ece"]] for name, one in existence.items()],
            )
        )
        remarks += [
            f"{name}: `answerable` was trained on {len(seen)} of its conversations"
            for name in existence
            if (seen := lab.trained_on(name))
        ]
    own = {name: one["against_own_types"] for name, one in data["distribution"].items() if one["against_own_types"]}
    if own:
        columns = [mode for mode in FAILURE_MODES if any(mode in one for one in own.values())]
        tables.append(
            StudyTable(
                "Kappa with the data set's own types, where it names them",
                ("data set", *columns),
                [[name, *(shown(one.get(mode)) for mode in columns)] for name, one in own.items()],
            )
        )
    remarks.append(
        "both passes over the labelled questions are by one AI author: their kappa shows that the guidelines can be followed "
        "twice, not that two people agree. The authors' own types are the independent view; each question has only one, so "
        "agreement with them is bounded"
    )
    remarks.append("rules were written with the labelled questions in view: their agreement there is optimistic")
    return Section(
        name="failure_modes",
        title="Failure modes",
        about=(
            "F1 temporal, F2 version conflict, F3 aggregation, F4 existence; a question may have several. Kappa is Cohen's. "
            "Trained classifiers are measured on conversations that they were not trained on."
        ),
        data=data,
        tables=tables,
        drawings=[
            Drawing(
                name="failure_modes",
                title="Share of questions with a failure mode",
                x_label="",
                y_label="share",
                groups=list(groups),
                bars=shares,
            )
        ],
        remarks=remarks,
    )


def _agreement() -> tuple[dict[str, Any], StudyTable]:
    questions = labelled_questions()
    views: dict[str, npt.NDArray[np.bool_]] = {who: seen_by(questions, who) for who in ("first", "second", "type")}
    classifiers = cross_validated(open_embedder("bundled"))
    pairs = {
        "first and second pass": (views["first"], views["second"]),
        "first pass and author's type": (views["first"], views["type"]),
        "second pass and author's type": (views["second"], views["type"]),
        "first pass and rules": (views["first"], classifiers["rules"]),
        "first pass and regression on cues": (views["first"], classifiers["cues"]),
        "first pass and regression on cues and vector": (views["first"], classifiers["vector"]),
    }
    found: dict[str, Any] = {}
    rows: list[list[str]] = []
    for name, (a, b) in pairs.items():
        found[name] = {mode: cohen_kappa(a[:, i], b[:, i]) for i, mode in enumerate(FAILURE_MODES)}
        known = [one for one in found[name].values() if one is not None]
        rows.append([name, *(shown(found[name][mode]) for mode in FAILURE_MODES), shown(mean(known))])
    counts = {mode: int(views["first"][:, i].sum()) for i, mode in enumerate(FAILURE_MODES)}
    found["counts"] = counts
    columns = ("kappa of", *(f"{mode} ({counts[mode]})" for mode in FAILURE_MODES), "mean")
    return found, StudyTable(f"Agreement on {len(questions)} labelled questions", columns, rows)


def _against_types(observed: Sequence[Observed], modes: Sequence[frozenset[str]]) -> dict[str, float | None]:
    """Kappa with LoCoMo's categories (also those of corpora in its form); nothing for other data."""
    categories = [one.asked.question.category for one in observed]
    if not set(categories) <= {"1", "2", "3", "4", "5"}:
        return {}
    return {
        mode: cohen_kappa([mode in one for one in modes], [MODE_OF_TYPE.get(one) == mode for one in categories])
        for mode in ("temporal", "aggregation", "existence")
    }


def _existence(lab: Laboratory, observed: Sequence[Observed]) -> dict[str, Any] | None:
    """Area under the curve and calibration error of the probability of an answer; None where all questions are alike."""
    if lab.shipped is None or not len(lab.shipped.answerable):
        return None
    ranker = Ranker(lab.shipped)
    told: list[tuple[float, bool]] = []
    for one in observed:
        features = one.asked.features
        value = ranker.answerable(features, ranker.score(features), size=len(one.talk.turns))
        if value is not None:
            told.append((value, not unanswerable(one.asked.question)))
    likely, held = np.array([value for value, _ in told]), np.array([there for _, there in told], bool)
    if not len(held) or held.all() or not held.any():
        return None
    yes, no = likely[held][:, None], likely[~held]
    return {
        "unanswerable": int((~held).sum()),
        "auc": float((yes > no).mean() + 0.5 * (yes == no).mean()),
        "ece": calibration_error(likely, held),
    }


def _results(lab: Laboratory, name: str, observed: Sequence[Observed]) -> tuple[dict[str, Any], StudyTable]:
    modes = modes_of(observed, lab.fingerprint)
    groups = {
        mode: [index for index, one in enumerate(modes) if (mode in one if mode != "none" else not one)]
        for mode in (*FAILURE_MODES, "none")
    }
    found: dict[str, Any] = {}
    rows: list[list[str]] = []
    base = recalls(observed, lambda one: one.rankings[BASELINE].turns)
    for arm in arm_names(observed):
        values = recalls(observed, lambda one, arm=arm: one.rankings[arm].turns)  # type: ignore[misc]
        found[arm] = {}
        for mode, chosen in groups.items():
            mine = [observed[index] for index in chosen]
            found[arm][mode] = {
                "recall": mean(values[chosen]),
                "against_baseline": None
                if len(chosen) < _FEW or arm == BASELINE
                else interval_data(difference(mine, values[chosen], base[chosen], samples=lab.samples)),
            }
        rows.append([arm, *(shown(found[arm][mode]["recall"]) for mode in groups)])
    columns = ("ranking", *(f"{mode} ({len(chosen)})" for mode, chosen in groups.items()))
    return found, StudyTable(f"{name}: recall@{CUT} by failure mode (questions with evidence)", columns, rows)
