"""The gate of the operations: what it learns, when it is the same for all questions, and what is seen only at run time."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from hexamem.errors import CorruptFileError
from hexamem.retrieval.gates import (
    GateExample,
    GateSettings,
    OperationGate,
    gains_of_operations,
    learn_gate,
    switched,
)
from hexamem.retrieval.operations import COSTS, NAMES, configurations, number_of
from hexamem.retrieval.ranker import USUAL
from hexamem.retrieval.ranking_weights import RankingWeights, load_weights, save_weights, shipped_weights
from hexamem.retrieval.signals.cues import CUES, SHAPE

ASKED = ("temporal", "knowledge-update", "multi-hop", "unanswerable", "inference")
"""The kinds of question that call for an operation."""
COUNT = 240


def made_up(
    reward_of: Callable[[np.ndarray, frozenset[str]], float] = lambda cues, on: 0.0, count: int = COUNT, seed: int = 0
) -> list[GateExample]:
    """Questions of each kind in turn; ``reward_of(cues, number of the configuration)`` is their reward."""
    random = np.random.default_rng(seed)
    found = []
    for number in range(count):
        cues = np.zeros(len(CUES), np.float32)
        cues[[CUES.index(ASKED[number % len(ASKED)]), CUES.index("known")]] = 1
        rewards = np.array([reward_of(cues, on) for on in configurations()], np.float32)
        found.append(
            GateExample(
                cues=cues,
                shape=random.normal(size=len(SHAPE)).astype(np.float32),
                rewards=rewards,
                group=f"talk {number % 6}",
            )
        )
    return found


def weights_with(gate: np.ndarray) -> RankingWeights:
    source = shipped_weights("bundled")
    assert source is not None
    shipped = load_weights(source)
    return RankingWeights(
        **{**shipped.tensors(), "operations": gate}, fingerprint=shipped.fingerprint, card=shipped.card
    )


def gates_for(gate: np.ndarray, examples: list[GateExample]) -> np.ndarray:
    made = OperationGate(weights_with(gate))
    assert made.trained
    return np.array([list(made.weights_of(one.cues, one.shape).values()) for one in examples])


def test_the_gain_of_an_operation_is_that_over_the_same_set_without_it() -> None:
    rewards = np.random.default_rng(0).normal(size=(40, 32)).astype(np.float32)
    on = np.arange(40) % 32
    gains = gains_of_operations(rewards, on)
    sets = configurations()
    for row, number in enumerate(on.tolist()):
        for column, name in enumerate(NAMES):
            more, less = number_of(sets[number] | {name}), number_of(sets[number] - {name})
            assert gains[row, column] == pytest.approx(rewards[row, more] - rewards[row, less])


def test_training_finds_what_pays_for_which_question() -> None:
    when = CUES.index("temporal")

    def reward(cues: np.ndarray, on: frozenset[str]) -> float:
        # Multi-step pays for all but the questions for a time, and temporal ordering for these alone.
        wanted = "temporal_ordering" if cues[when] else "multi_step"
        other = "multi_step" if cues[when] else "temporal_ordering"
        return 0.5 + 0.3 * (wanted in on) - 0.3 * (other in on)

    examples = made_up(reward)
    gates = gates_for(learn_gate(examples, GateSettings()), examples)
    for one, gate in zip(examples, gates, strict=True):
        assert bool(gate[0] >= 0.5) is bool(one.cues[when])
        assert bool(gate[2] >= 0.5) is not bool(one.cues[when])


def test_what_tells_nothing_of_a_question_loses_nothing_against_one_choice_for_all() -> None:
    random = np.random.default_rng(5)

    def noise(cues: np.ndarray, on: frozenset[str]) -> float:
        return float(0.1 * ("semantic_reranking" in on) - 0.1 * ("multi_step" in on) + random.normal(0, 0.3))

    gates = gates_for(learn_gate(made_up(noise), GateSettings()), made_up(seed=9))
    assert (gates[:, NAMES.index("semantic_reranking")] >= 0.5).mean() > 0.9
    assert (gates[:, NAMES.index("multi_step")] < 0.5).mean() > 0.9


def test_an_operation_that_gains_less_than_it_costs_is_off() -> None:
    costs = np.array([COSTS["multi_step"] * ("multi_step" in on) for on in configurations()], np.float32)

    def learned(share: float) -> np.ndarray:
        examples = made_up(lambda cues, on: share * costs[number_of(on)], count=40)
        return gates_for(learn_gate(examples, GateSettings(cost=0.1)), examples)[:, NAMES.index("multi_step")]

    assert (learned(0.05) < 0.5).all()
    assert (learned(0.2) >= 0.5).all()


def test_what_pays_in_one_conversation_of_many_is_not_chosen_for_all() -> None:
    def latest(talk: str, pays: bool) -> np.ndarray:
        examples = [
            GateExample(
                cues=one.cues,
                shape=one.shape,
                rewards=one.rewards * (pays or one.group == talk),
                group=one.group,
            )
            for one in made_up(lambda cues, on: 0.1 * ("latest_filtering" in on), count=60)
        ]
        return gates_for(learn_gate(examples, GateSettings()), examples)[:, NAMES.index("latest_filtering")]

    assert (latest("talk 0", False) < 0.5).all()
    assert (latest("talk 0", True) >= 0.5).all()


def test_a_gate_lies_in_the_weights_file_and_a_broken_one_is_refused(tmp_path: Path) -> None:
    weights = weights_with(learn_gate(made_up(count=40), GateSettings()))
    assert weights.parameters < 1_000_000
    save_weights(weights, tmp_path / "w.safetensors")
    again = load_weights(tmp_path / "w.safetensors")
    one = made_up(count=1)[0]
    told = OperationGate(again).weights_of(one.cues, one.shape)
    assert told == OperationGate(weights).weights_of(one.cues, one.shape)
    assert told.keys() == set(NAMES)
    assert all(0 <= value <= 1 for value in told.values())
    broken = RankingWeights(
        **{**weights.tensors(), "operations": np.zeros((2, 5), np.float32)}, fingerprint="x", card={}
    )
    save_weights(broken, tmp_path / "broken.safetensors")
    with pytest.raises(CorruptFileError, match="operations"):
        load_weights(tmp_path / "broken.safetensors")


def test_what_was_learned_of_a_user_moves_the_gate() -> None:
    weights = weights_with(learn_gate(made_up(count=40), GateSettings()))
    one = made_up(count=1)[0]
    plain = OperationGate(weights).weights_of(one.cues, one.shape)
    moved = OperationGate(weights, {"latest_filtering": 3.0}).weights_of(one.cues, one.shape)
    assert moved["latest_filtering"] > plain["latest_filtering"]
    assert {name: moved[name] for name in NAMES if name != "latest_filtering"} == {
        name: plain[name] for name in NAMES if name != "latest_filtering"
    }


def test_weights_without_a_gate_run_what_usually_pays_until_feedback_says_otherwise() -> None:
    bare = np.empty(0, np.float32)
    one = made_up(count=1)[0]
    gate = OperationGate(weights_with(bare))
    assert not gate.trained
    assert switched(gate.weights_of(one.cues, one.shape), {}) == USUAL
    taught = OperationGate(weights_with(bare), {"latest_filtering": 3.0})
    assert switched(taught.weights_of(one.cues, one.shape), {}) == {*USUAL, "latest_filtering"}
