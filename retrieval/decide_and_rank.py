"""A learned recall after its candidates are measured: the gate chooses the operations, and they rank the candidates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from sqlalchemy import bindparam, or_, select

from hexamem.memory_types import utc_now
from hexamem.retrieval.fusion import Candidate, Reason
from hexamem.retrieval.learned import Measured, SignalRanks
from hexamem.retrieval.ranker import SIGNALS, USUAL, Ranker, answer_signs, standardised
from hexamem.retrieval.ranking_operations import Search, gate_weights, order
from hexamem.retrieval.request import Run
from hexamem.retrieval.signals.features import Features
from hexamem.retrieval.signals.question import ParsedQuestion
from hexamem.retrieval.strategies import Strategy
from hexamem.stores.embedders.base import FloatArray
from hexamem.stores.ledger.ledger import chunks
from hexamem.stores.ledger.schema import items as item_table
from hexamem.stores.ledger.steps import plain_steps
from hexamem.stores.working_set import WorkingSet

__all__ = [
    "Decision",
    "RecallSearches",
    "decide_operations",
    "further_query",
    "outdated_steps",
    "rank",
]

_MOST_NAMED = 8
"""Signals in ``why``, besides those with a rank; the others are summed up as ``others``."""
_LONGEST_HOP = 300  # characters of the best step that are appended to the question for the second hop
_MAY_REPEAT = 5  # of the best candidates that are compared with the question
_OUTDATED = select(item_table.c.id).where(
    item_table.c.user_id == bindparam("user"),
    item_table.c.id.in_(bindparam("ids", expanding=True)),
    or_(item_table.c.status == "superseded", item_table.c.valid_to <= bindparam("now")),
)


@dataclass(frozen=True, slots=True)
class Decision:
    """Which operations run, by the first search of a recall.

    Attributes:
        scores: the scores of its candidates with these operations.
        gate: operation → its weight, from 0 to 1.
        on: the operations that run.
        reasons: operation → what decided whether it runs.
        answerable: the probability that memory contains the answer; None where it is unknown.
        x: the standardised features; None without candidates.
    """

    scores: FloatArray
    gate: dict[str, float]
    on: frozenset[str]
    reasons: dict[str, str]
    answerable: float | None
    x: FloatArray | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallSearches:
    """All searches of a multi-step recall without a model, that of the question first."""

    question: ParsedQuestion
    searches: tuple[Search, ...]
    steps: WorkingSet


def decide_operations(
    run: Run,
    measured: Measured,
    ranker: Ranker,
    strategy: Strategy,
    steps: WorkingSet,
    slow: bool,
) -> Decision:
    """Score the first search and choose the operations.

    Args:
        slow: whether each further search costs time or money; then the gate alone does not make the recall multi-step.
    """
    features = measured.features
    x = standardised(features.values, ranker.weights.deviation) if len(features.pool) else None
    usual = ranker.score(features, x)
    signs = answer_signs(features, _without_repetitions(run, features, usual)) if len(usual) else None
    weights = gate_weights(features.cues)
    forced = dict(strategy.operations)
    reasons = dict.fromkeys(forced, "by the strategy")
    if slow:
        forced.setdefault("multi_step", False)
        reasons.setdefault("multi_step", "by the embedder, which takes time for each search")
    on = frozenset(name for name, weight in weights.items() if forced.get(name, weight >= 0.5))
    reasons = dict.fromkeys(weights, "by the gate") | reasons
    answerable = ranker.answerable(features, usual, size=len(steps), signs=signs)
    scores = usual if on >= USUAL else ranker.score(features, x, on)
    return Decision(scores, weights, on, reasons, answerable, x)


def _without_repetitions(run: Run, features: Features, scores: FloatArray) -> FloatArray:
    """The scores, the least for steps that only repeat the question and for items learned from these alone.

    They hold no answer to it, however near they are.
    """
    pool = features.pool
    nearest = [index for index in np.argsort(-scores)[:_MAY_REPEAT].tolist() if index < pool.steps]
    steps, words = plain_steps(run.tx, [pool.ids[index] for index in nearest]), run.request.query.casefold().split()
    repeating = {step_id for step_id, step in steps.items() if step.text.casefold().split() == words}
    if not repeating:
        return scores
    repeating |= {item.id for item in pool.items if item.cites and repeating.issuperset(item.cites)}
    return np.where([record_id in repeating for record_id in pool.ids], scores.min(), scores)


def further_query(run: Run, measured: Measured) -> str | None:
    """The further query of a multi-step recall: the question with the text of the best step; None without steps."""
    features = measured.features
    if not features.pool.steps:
        return None
    best = int(np.argmax(features.column("fused_beside")[: features.pool.steps]))
    step = plain_steps(run.tx, [features.pool.ids[best]]).get(features.pool.ids[best])
    return None if step is None else f"{measured.question.text} {step.line[:_LONGEST_HOP]}"


def outdated_steps(run: Run, features: Features) -> frozenset[str]:
    """The steps whose citing items in the pool are all superseded or ended; none where the request names a time."""
    pool, request = features.pool, run.request
    if not pool.items or request.as_of is not None or request.known_at is not None:
        return frozenset()
    former = {
        row.id
        for part in chunks([item.id for item in pool.items])
        for row in run.tx.all(_OUTDATED, user=run.tx.user_id, ids=part, now=utc_now())
    }
    outdated = {step for item in pool.items if item.id in former for step in item.cites}
    current = {step for item in pool.items if item.id not in former for step in item.cites}
    return frozenset(outdated - current | former)


def rank(
    run: Run, searches: Sequence[Measured], decision: Decision, ranker: Ranker, steps: WorkingSet
) -> dict[str, Candidate]:
    """The best candidates of all searches by id, best first, with the share of each signal and operation."""
    on = decision.on
    run.notes.update((name, f"gate {decision.gate[name]:.2f}") for name in on)
    if "temporal_ordering" in on:  # its contribution is the share of this signal
        run.notes["time"] = f"temporal_ordering, {run.notes['temporal_ordering']}"
    latest = "latest_filtering" in on
    searched = [
        Search(measured.features, outdated_steps(run, measured.features) if latest else frozenset())
        for measured in searches
    ]
    run.outdated.update(*(search.outdated for search in searched))
    ordered = order(ranker, searched, steps, on, run.request.k, decision.scores)
    candidates: dict[str, Candidate] = {}
    for number, measured in enumerate(searches):
        chosen = [
            (record_id, column)
            for record_id, (search, column) in zip(ordered.ids, ordered.places, strict=True)
            if search == number
        ]
        if not chosen:
            continue
        columns = [column for _, column in chosen]
        shares = ranker.shares(measured.features, columns, None if number else decision.x, on)
        late = measured.features.column("late")
        for (record_id, column), own in zip(chosen, shares, strict=True):
            changes = ordered.moved.get(record_id, {})
            # The sum of the shares is the score, with more digits.
            reasons = _reasons(measured.ranks, record_id, float(late[column]), own, changes)
            candidates[record_id] = Candidate(record_id, sum(own.tolist()) + sum(changes.values()), reasons)
    return {record_id: candidates[record_id] for record_id in ordered.ids}


def _reasons(
    ranks: SignalRanks, record_id: str, late: float, shares: npt.NDArray[np.float64], changes: Mapping[str, float]
) -> list[Reason]:
    """The shares of signals and operations in the score of one candidate, the greatest signals first."""
    values = ranks.of(record_id) | {"late": (late, None)}
    why: list[Reason] = []
    others = 0.0
    for position, number in enumerate(np.argsort(-np.abs(shares), kind="stable").tolist()):
        value, rank = values.get(SIGNALS[number], (None, None))
        if position < _MOST_NAMED or rank is not None:
            why.append((SIGNALS[number], value, rank, float(shares[number])))
        else:
            others += float(shares[number])
    why.append(("others", None, None, others))
    return why + [(operation, None, None, change) for operation, change in changes.items()]
