"""Which failure modes the questions of each data set have, how surely they are told, and how each ranking does by mode."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from hexamem.evals.study.failure_mode_labels import (
    MODE_OF_TYPE,
    cohen_kappa,
    cross_validated,
    labelled_questions,
    seen_by,
)
from hexamem.evals.study.laboratory import Laboratory
from hexamem.evals.study.main_comparison import BASELINE, recall_by_group
from hexamem.evals.study.records import CUT, Observed, by_data_set, mean
from hexamem.evals.study.sections import Drawing, Section, StudyTable, interval_data, shown
from hexamem.evals.training import calibration_error, unanswerable
from hexamem.retrieval.failure_modes import FAILURE_MODES, failure_modes_of
from hexamem.retrieval.ranker import Ranker
from hexamem.stores.embedders import open_embedder

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
    agreement, agreement_table = _agreement()
    groups = by_data_set(lab.observed)
    distribution = {name: _shares(lab, observed) for name, observed in groups.items()}
    data: dict[str, Any] = {
        "labelled": len(labelled_questions()),
        "agreement": agreement,
        "distribution": distribution,
        "results": {},
    }
    remarks: list[str] = []
    told = (*FAILURE_MODES, "several", "none")
    tables = [
        agreement_table,
        StudyTable(
            "Share of questions with a mode, told from the wording",
            ("data set", "questions", *told),
            [
                [name, str(found["questions"]), *(f"{found[one]:.0%}" for one in told)]
                for name, found in distribution.items()
            ],
        ),
    ]
    for name, observed in lab.sets.items():
        results, table = _results(lab, name, observed)
        data["results"][name] = results
        tables.append(table)
    existence = {name: tells for name, one in groups.items() if (tells := _existence(lab, one)) is not None}
    if existence:
        data["existence"] = existence
        tables.append(_existence_table(existence))
        remarks += [
            f"{name}: `answerable` was trained on {len(seen)} of its conversations"
            for name in existence
            if (seen := lab.trained_on(name))
        ]
    if own := {name: one["against_own_types"] for name, one in distribution.items() if one["against_own_types"]}:
        tables.append(_own_types_table(own))
    remarks.append(
        "both passes over the labelled questions are by one AI author. The other labeller, another AI, saw the guidelines, the "
        "questions, their answers and their evidence, and no labels. The authors' own types are a third view; each question has "
        "only one, so agreement with them is bounded"
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
                bars={mode: [found[mode] for found in distribution.values()] for mode in FAILURE_MODES},
            )
        ],
        remarks=remarks,
    )


def _shares(lab: Laboratory, observed: Sequence[Observed]) -> dict[str, Any]:
    """How many questions have each mode, several and none, and how that agrees with the data set's own types."""
    modes = modes_of(observed, lab.fingerprint)
    return {
        "questions": len(observed),
        **{mode: float(np.mean([mode in one for one in modes])) for mode in FAILURE_MODES},
        "none": float(np.mean([not one for one in modes])),
        "several": float(np.mean([len(one) > 1 for one in modes])),
        "against_own_types": _against_types(observed, modes),
    }


def _agreement() -> tuple[dict[str, Any], StudyTable]:
    questions = labelled_questions()
    views: dict[str, npt.NDArray[np.bool_]] = {
        who: seen_by(questions, who) for who in ("first", "second", "other", "type")
    }
    classifiers = cross_validated(open_embedder("bundled"))
    pairs = {
        "first and second pass": (views["first"], views["second"]),
        "first pass and another labeller": (views["first"], views["other"]),
        "first pass and author's type": (views["first"], views["type"]),
        "second pass and author's type": (views["second"], views["type"]),
        "another labeller and author's type": (views["other"], views["type"]),
        "another labeller and rules": (views["other"], classifiers["rules"]),
        "first pass and rules": (views["first"], classifiers["rules"]),
        "first pass and regression on cues": (views["first"], classifiers["cues"]),
        "first pass and regression on cues and vector": (views["first"], classifiers["vector"]),
        "another labeller and regression on cues and vector": (views["other"], classifiers["vector"]),
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


def _own_types_table(own: Mapping[str, Mapping[str, float | None]]) -> StudyTable:
    columns = [mode for mode in FAILURE_MODES if any(mode in one for one in own.values())]
    return StudyTable(
        "Kappa with the data set's own types, where it names them",
        ("data set", *columns),
        [[name, *(shown(one.get(mode)) for mode in columns)] for name, one in own.items()],
    )


def _existence_table(existence: Mapping[str, Mapping[str, Any]]) -> StudyTable:
    return StudyTable(
        "Existence: how well `answerable` of the memory's own weights tells unanswerable questions",
        ("data set", "unanswerable", "area under the curve", "calibration error"),
        [[name, one["unanswerable"], one["auc"], one["ece"]] for name, one in existence.items()],
    )


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
    for arm, by_mode in recall_by_group(lab, observed, groups).items():
        found[arm] = {
            mode: {
                "recall": recall,
                "against_baseline": None if len(groups[mode]) < _FEW or arm == BASELINE else interval_data(against),
            }
            for mode, (recall, against) in by_mode.items()
        }
        rows.append([arm, *(shown(recall) for recall, _ in by_mode.values())])
    columns = ("ranking", *(f"{mode} ({len(chosen)})" for mode, chosen in groups.items()))
    return found, StudyTable(f"{name}: recall@{CUT} by failure mode (questions with evidence)", columns, rows)
