"""Agreement of the labels that a memory induced with the gold labels of the same steps.

Labels are compared as partitions of the steps: names do not matter, only which steps are put together. Adjusted
mutual information (Vinh, Epps and Bailey, 2010) is 0 for chance and 1 for equality whatever the number of labels;
V-measure (Rosenberg and Hirschberg, 2007) is the harmonic mean of homogeneity (a label holds steps of one gold class)
and completeness (a gold class lies in one label), not corrected for chance. scikit-learn computes them.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any

from hexamem.errors import InvalidInputError
from hexamem.evals.records import Conversation
from hexamem.memory_types import InducedLabels

__all__ = ["NOT_INSTALLED", "NOT_MEASURABLE", "AgreementTally", "Induced", "agreement", "induced_labels"]

NOT_MEASURABLE = "not measurable: one partition"
NOT_INSTALLED = "not measured: scikit-learn is not installed; run: pip install 'hexamem[evals]'"
_UNLABELLED = "\x00 without a label"
_SCORES = ("ami", "v_measure", "homogeneity", "completeness")


Induced = Callable[[Any], Mapping[str, InducedLabels] | None]
"""Returns the induced labels of a user's steps by step id; None where its memory induces none."""


def induced_labels(user: Any) -> Mapping[str, InducedLabels] | None:
    """``user.labels.induced()`` where there is such a thing, else None."""
    induced = getattr(getattr(user, "labels", None), "induced", None)
    return None if induced is None else induced()


def agreement(gold: Sequence[str], induced: Sequence[str | None]) -> dict[str, Any]:
    """How far two labellings of the same steps agree.

    Args:
        gold: the gold label of each step.
        induced: the induced label of each step, in the same order. Steps without one count as one label together.

    Returns:
        ``ami`` (at most 1, about 0 for chance), ``v_measure``, ``homogeneity`` and ``completeness`` (0 to 1),
        ``n_labels``, ``n_gold``, ``n_steps`` and ``n_unlabelled``. With fewer than two gold classes, or
        without scikit-learn (the extra ``evals``), the scores are None and ``note`` says so.

    Raises:
        InvalidInputError: the lengths differ.
    """
    if len(gold) != len(induced):
        raise InvalidInputError(f"{len(gold)} gold labels for {len(induced)} induced ones; give one each a step")
    found: dict[str, Any] = {
        **dict.fromkeys(_SCORES),
        "n_labels": len(set(induced) - {None}),
        "n_gold": len(set(gold)),
        "n_steps": len(gold),
        "n_unlabelled": sum(label is None for label in induced),
    }
    if found["n_gold"] < 2:
        return {**found, "note": NOT_MEASURABLE}
    if find_spec("sklearn") is None:
        return {**found, "note": NOT_INSTALLED}
    # Here and not at the top: it takes a second to load.
    from sklearn.metrics import adjusted_mutual_info_score, homogeneity_completeness_v_measure

    labels = [_UNLABELLED if label is None else label for label in induced]
    with warnings.catch_warnings():
        # It asks whether as many classes as that were meant as a regression target.
        warnings.filterwarnings("ignore", message="The number of unique classes", category=UserWarning)
        ami = adjusted_mutual_info_score(list(gold), labels)
        homogeneity, completeness, v_measure = homogeneity_completeness_v_measure(list(gold), labels)
    scores = (ami, v_measure, homogeneity, completeness)
    return {**found, **{name: float(score) for name, score in zip(_SCORES, scores, strict=True)}}


@dataclass(slots=True)
class AgreementTally:
    """Collects the agreement of several conversations; :meth:`scope` and :meth:`events` give it for all of them.

    Scores are means over the conversations in which they are measurable, weighted by steps; numbers of labels, gold
    classes and steps are sums.
    """

    _scope: dict[int | None, list[dict[str, Any]]] = field(default_factory=dict)
    _events: list[dict[str, Any]] = field(default_factory=list)

    def add(self, conversation: Conversation, turn_of: Mapping[str, str], induced: Mapping[str, InducedLabels]) -> None:
        """Compare one conversation. Steps without gold are left out.

        Args:
            conversation: its ``gold`` may give ``partition`` (a list, outer to inner, or one name) and ``action``.
            turn_of: which turn each step is.
            induced: the labels by step id.
        """
        paths: list[tuple[tuple[str, ...], str | None]] = []
        actions: list[tuple[str, str | None]] = []
        for step, turn in turn_of.items():
            gold = conversation.gold.get(turn, {})
            labels = induced.get(step)
            if path := _path(gold.get("partition")):
                paths.append((path, labels.scope if labels else None))
            if isinstance(action := gold.get("action"), str) and action:
                actions.append((action, next(iter(labels.coarse_events), None) if labels else None))
        if paths:
            depth = max(len(path) for path, _ in paths)
            scopes = [scope for _, scope in paths]
            for level in (None, *range(1, depth)):
                found = agreement(["\x1f".join(path[:level]) for path, _ in paths], scopes)
                self._scope.setdefault(level, []).append(found)
        if actions:
            self._events.append(agreement([action for action, _ in actions], [event for _, event in actions]))

    def scope(self) -> dict[str, Any] | None:
        """Agreement of scopes with the whole gold partition; None without any.

        Where partitions have several levels, ``best_level`` holds the same for the level with the highest AMI, and
        as ``level`` how many outer parts of the partition that is (the whole one included, as ``"all"``).
        """
        if not self._scope:
            return None
        by_level = {level: _mean(found) for level, found in self._scope.items()}
        whole = by_level[None]
        if len(by_level) == 1:
            return whole
        measured = {level: found for level, found in by_level.items() if found["ami"] is not None}
        if not measured:
            return {**whole, "best_level": None}
        best = max(measured, key=lambda level: float(measured[level]["ami"]))
        return {**whole, "best_level": {"level": "all" if best is None else best, **measured[best]}}

    def events(self) -> dict[str, Any] | None:
        """Agreement of the main coarse event with the gold action; None without any."""
        return _mean(self._events) if self._events else None


def _path(partition: Any) -> tuple[str, ...]:
    if isinstance(partition, str):
        return (partition,) if partition else ()
    return tuple(str(part) for part in partition or ())


def _mean(found: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    sums = {name: sum(one[name] for one in found) for name in ("n_labels", "n_gold", "n_steps", "n_unlabelled")}
    measured = [one for one in found if one["ami"] is not None]
    if not measured:
        return {**dict.fromkeys(_SCORES), **sums, "note": found[0]["note"]}
    steps = sum(one["n_steps"] for one in measured)
    means = {name: sum(one[name] * one["n_steps"] for one in measured) / steps for name in _SCORES}
    left_out = len(found) - len(measured)
    note = {"note": f"{left_out} of {len(found)} conversations {NOT_MEASURABLE}"} if left_out else {}
    return {**means, **sums, **note}
