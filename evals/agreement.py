"""Agreement of the labels of a memory with the gold labels of the same steps.

Labels are compared as partitions of the steps: names do not matter, only which steps share a label. Adjusted
mutual information (Vinh, Epps and Bailey, 2010) is 0 for chance and 1 for equality whatever the number of labels;
V-measure (Rosenberg and Hirschberg, 2007) is the harmonic mean of homogeneity (a label holds steps of one gold class)
and completeness (a gold class lies in one label), not corrected for chance. scikit-learn computes them.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any

from hexamem.evals.records import Conversation
from hexamem.memory_types import InducedLabels

__all__ = ["NOT_INSTALLED", "NOT_MEASURABLE", "AgreementTally", "agreement"]

NOT_MEASURABLE = "not measurable: one partition"
NOT_INSTALLED = "not measured: scikit-learn is not installed; run: pip install scikit-learn"
_UNLABELLED = "\x00 without a label"
_SCORES = ("ami", "v_measure", "homogeneity", "completeness")


def agreement(gold: Sequence[str], induced: Sequence[str | None]) -> dict[str, Any]:
    """Agreement of two labellings of the same steps.

    Args:
        gold: the gold label of each step.
        induced: the induced label of each step, in the same order. Steps without one count as one label together.

    Returns:
        ``ami`` (at most 1, about 0 for chance), ``v_measure``, ``homogeneity`` and ``completeness`` (0 to 1),
        ``n_labels``, ``n_gold``, ``n_steps`` and ``n_unlabelled``. With fewer than two gold classes, or
        without scikit-learn (the extra ``evals``), the scores are None and ``note`` names the reason.
    """
    result: dict[str, Any] = {
        **dict.fromkeys(_SCORES),
        "n_labels": len(set(induced) - {None}),
        "n_gold": len(set(gold)),
        "n_steps": len(gold),
        "n_unlabelled": sum(label is None for label in induced),
    }
    if result["n_gold"] < 2:
        return {**result, "note": NOT_MEASURABLE}
    if find_spec("sklearn") is None:
        return {**result, "note": NOT_INSTALLED}
    # Imported here, since it takes a second to load.
    from sklearn.metrics import adjusted_mutual_info_score, homogeneity_completeness_v_measure

    labels = [_UNLABELLED if label is None else label for label in induced]
    with warnings.catch_warnings():
        # scikit-learn suspects a regression target when there are many classes.
        warnings.filterwarnings("ignore", message="The number of unique classes", category=UserWarning)
        ami = adjusted_mutual_info_score(list(gold), labels)
        homogeneity, completeness, v_measure = homogeneity_completeness_v_measure(list(gold), labels)
    scores = (ami, v_measure, homogeneity, completeness)
    return {**result, **{name: float(score) for name, score in zip(_SCORES, scores, strict=True)}}


@dataclass(slots=True)
class AgreementTally:
    """Collects the agreement of several conversations; :meth:`scope` and :meth:`events` average it.

    Scores are means over the conversations in which they are measurable, weighted by steps; numbers of labels, gold
    classes and steps are sums.
    """

    _scope: list[dict[str, Any]] = field(default_factory=list)
    _events: list[dict[str, Any]] = field(default_factory=list)

    def add(self, conversation: Conversation, turn_of: Mapping[str, str], induced: Mapping[str, InducedLabels]) -> None:
        """Compare one conversation; steps without gold are left out.

        Args:
            turn_of: step id → its turn.
            induced: the labels by step id.
        """
        paths: list[tuple[str, str | None]] = []
        actions: list[tuple[str, str | None]] = []
        for step, turn in turn_of.items():
            gold, labels = conversation.gold.get(turn, {}), induced.get(step)
            if path := gold.get("partition"):
                whole = path if isinstance(path, str) else "\x1f".join(map(str, path))
                paths.append((whole, labels.scope if labels else None))
            if action := gold.get("action"):
                actions.append((action, next(iter(labels.coarse_events), None) if labels else None))
        for pairs, tally in ((paths, self._scope), (actions, self._events)):
            if pairs:
                tally.append(agreement(*zip(*pairs, strict=True)))

    def scope(self) -> dict[str, Any] | None:
        """Agreement of scopes with the whole gold partition; None without any."""
        return _mean(self._scope) if self._scope else None

    def events(self) -> dict[str, Any] | None:
        """Agreement of the main coarse event with the gold action; None without any."""
        return _mean(self._events) if self._events else None


def _mean(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    sums = {name: sum(row[name] for row in rows) for name in ("n_labels", "n_gold", "n_steps", "n_unlabelled")}
    measured = [row for row in rows if row["ami"] is not None]
    if not measured:
        return {**dict.fromkeys(_SCORES), **sums, "note": rows[0]["note"]}
    steps = sum(row["n_steps"] for row in measured)
    means = {name: sum(row[name] * row["n_steps"] for row in measured) / steps for name in _SCORES}
    unmeasured = len(rows) - len(measured)
    note = {"note": f"{unmeasured} of {len(rows)} conversations {NOT_MEASURABLE}"} if unmeasured else {}
    return {**means, **sums, **note}
