"""A learned recall from measured candidates to ranked ones: the gate decides which operations run, and they run."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt
from sqlalchemy import bindparam, or_, select

from hexamem.memory_types import utc_now
from hexamem.retrieval.feedback_learning import FeedbackExample, verdict_reward
from hexamem.retrieval.fusion import Candidate, Reason
from hexamem.retrieval.gates import OperationGate, score_shape, switched
from hexamem.retrieval.learned import Measured, SignalRanks
from hexamem.retrieval.operations import (
    Search,
    configurations,
    explored,
    order,
    order_by_configuration,
    ranking_operations,
)
from hexamem.retrieval.ranker import SIGNALS, USUAL, Ranker, answer_signs, standardised
from hexamem.retrieval.request import Run
from hexamem.retrieval.signals.features import Features
from hexamem.retrieval.signals.question import Asked
from hexamem.retrieval.strategies import Strategy
from hexamem.stores.embedders.base import FloatArray
from hexamem.stores.ledger.ledger import chunks
from hexamem.stores.ledger.recalls import JudgedRecall
from hexamem.stores.ledger.schema import items as item_table
from hexamem.stores.ledger.step_texts import step_texts
from hexamem.stores.working_set import WorkingSet

__all__ = [
    "Opened",
    "Searched",
    "open_recall",
    "outdated_steps",
    "rank",
    "replay",
    "sub_questions",
]

_NAMED = 8
"""Signals that ``why`` names, and those by which a candidate has a place among all; what the rest adds is one, ``others``."""
_FOLLOWED = 300
"""Characters of the best step that are added to the question for the second hop."""
_OUTDATED = select(item_table.c.id).where(
    item_table.c.user_id == bindparam("user"),
    item_table.c.id.in_(bindparam("ids", expanding=True)),
    or_(item_table.c.status == "superseded", item_table.c.valid_to <= bindparam("now")),
)


@dataclass(frozen=True, slots=True)
class Opened:
    """What the first search gave: scores of its candidates, the weights of the gate, and the operations that are on.

    Attributes:
        scores: with these operations. parts: of the question, by a model.
        reasons: operation → what decided whether it is on.
        chance: with which probability the operations were chosen.
        x: the features standardised; None without candidates.
    """

    scores: FloatArray
    gate: dict[str, float]
    on: frozenset[str]
    reasons: dict[str, str]
    answerable: float | None
    parts: tuple[str, ...]
    chance: float = 1.0
    x: FloatArray | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Searched:
    """All searches that a multi-step recall without a model makes, that of the question first."""

    asked: Asked
    searches: tuple[Search, ...]
    steps: WorkingSet


def open_recall(
    measured: Measured,
    ranker: Ranker,
    gate: OperationGate,
    strategy: Strategy,
    steps: WorkingSet,
    slow: bool,
    parts: tuple[str, ...],
) -> Opened:
    """Score the first search and let the gate decide.

    Args:
        parts: of the question, by a model; any are a reason for a multi-step recall.
        slow: whether every further question costs time or money: then a multi-step recall takes more than a gate to be on.
    """
    features = measured.features
    x = standardised(features.values, ranker.weights.deviation) if len(features.pool) else None
    usual = ranker.score(features, x)
    signs = answer_signs(features, usual) if len(usual) else None
    shape = score_shape(features, usual, len(parts), signs)
    weights = gate.weights_of(features.cues, shape)
    forced = dict(strategy.operations)
    reasons = dict.fromkeys(forced, "by the strategy")
    if parts:
        forced.setdefault("multi_step", True)
        reasons.setdefault("multi_step", "by the parts that a model found")
    if slow:
        forced.setdefault("multi_step", False)
        reasons.setdefault("multi_step", "by the embedder, which takes time for each search")
    left = switched(weights, forced)
    on, chance = explored(left, forced, strategy.explore, random.random)
    reasons.update(dict.fromkeys(on ^ left, "by Settings.explore"))
    reasons = dict.fromkeys(weights, "by the gate") | reasons
    answerable = ranker.answerable(features, usual, size=len(steps), signs=signs)
    scores = usual if on >= USUAL else ranker.score(features, x, on)
    return Opened(scores, weights, on, reasons, answerable, parts, chance, x)


def sub_questions(run: Run, parts: tuple[str, ...], measured: Measured) -> tuple[str, ...]:
    """The further searches of a multi-step recall: the question's parts, then the question with the best step's text."""
    features = measured.features
    if not features.pool.steps:
        return parts
    best = int(np.argmax(features.column("fused_beside")[: features.pool.steps]))
    text = step_texts(run.tx, [features.pool.ids[best]]).get(features.pool.ids[best], "")
    return (*parts, f"{measured.asked.text} {text[:_FOLLOWED]}") if text else parts


def outdated_steps(run: Run, features: Features) -> frozenset[str]:
    """The steps that only such items of the pool cite as are superseded, or not true any more; none where a time is asked for."""
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
    run: Run, searched: Sequence[Measured], opened: Opened, ranker: Ranker, steps: WorkingSet
) -> dict[str, Candidate]:
    """The best candidates of all searches by id, best first, with the share of each signal and operation."""
    on = opened.on
    run.notes.update((name, f"gate {opened.gate[name]:.2f}") for name in on)
    if "temporal_ordering" in on:  # what it adds is the share of this signal
        run.notes["time"] = f"temporal_ordering, {run.notes['temporal_ordering']}"
    searches = [
        Search(each.features, outdated_steps(run, each.features) if "latest_filtering" in on else frozenset())
        for each in searched
    ]
    ordered = order(ranker, searches, steps, on, run.request.k, opened.scores)
    candidates: dict[str, Candidate] = {}
    for number, measured in enumerate(searched):
        chosen = [(name, place) for name, (of, place) in zip(ordered.ids, ordered.places, strict=True) if of == number]
        if not chosen:
            continue
        shares = ranker.shares(measured.features, [place for _, place in chosen], None if number else opened.x, on)
        late = measured.features.column("late")
        for (name, place), own in zip(chosen, shares, strict=True):
            changes = ordered.moved.get(name, {})
            # The sum of the shares is the score, in more digits.
            later = partial(_reasons, measured.ranks, name, float(late[place]), own, changes)
            candidates[name] = Candidate(name, sum(own.tolist()) + sum(changes.values()), later=later)
    return {name: candidates[name] for name in ordered.ids}


def _reasons(
    ranks: SignalRanks, name: str, late: float, shares: npt.NDArray[np.float64], changes: Mapping[str, float]
) -> list[Reason]:
    """What the signals and operations add to the score of one candidate, the signals of most weight first."""
    values = ranks.of(name) | {"late": (late, None)}
    why: list[Reason] = []
    others = 0.0
    for position, number in enumerate(np.argsort(-np.abs(shares), kind="stable").tolist()):
        value, rank = values.get(SIGNALS[number], (None, None))
        if position < _NAMED or rank is not None:
            why.append((SIGNALS[number], value, rank, float(shares[number])))
        else:
            others += float(shares[number])
    why.append(("others", None, None, others))
    return why + [(operation, None, None, change) for operation, change in changes.items()]


def replay(searched: Searched, judged: JudgedRecall, ranker: Ranker, k: int) -> FeedbackExample:
    """A recall with feedback as the gate learns from it: the reward of every set of operations, by memory as it is now."""
    first = searched.searches[0].features
    shape = score_shape(first, ranker.score(first))
    reward_of = {
        on: verdict_reward(ids, judged.helped, judged.hurt, k)
        for on, ids in order_by_configuration(ranker, searched.searches, searched.steps, k).items()
    }
    rewards = [reward_of[ranking_operations(on, searched.searches)] for on in configurations()]
    logged = judged.operations or {}
    return FeedbackExample(
        logits=OperationGate(ranker.weights).logits_of(first.cues, shape),
        rewards=np.array(rewards, np.float32),
        on=frozenset(logged["on"]) if "on" in logged else None,
        chance=float(logged.get("chance", 1.0)),
        seen=verdict_reward(judged.hits, judged.helped, judged.hurt, k),
    )
