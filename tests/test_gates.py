"""The gate of the operations: warm-up by the kinds of questions, exact expected rewards, and what is seen only at run time."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hexamem.errors import CorruptFileError
from hexamem.retrieval.gate_learning import (
    GateExample,
    GateSettings,
    best_for_all,
    expected_reward,
    learn_gate,
    net_rewards,
)
from hexamem.retrieval.gates import SHAPE, OperationGate, switched
from hexamem.retrieval.operations import COSTS, NAMES, configurations
from hexamem.retrieval.ranker import USUAL
from hexamem.retrieval.ranking_weights import RankingWeights, load_weights, save_weights, shipped_weights
from hexamem.retrieval.signals.cues import CUES, operations_of

ASKED = ("temporal", "knowledge-update", "multi-hop", "unanswerable", "inference")
"""The kinds of question that call for an operation."""
COUNT = 240
DIMENSION = 12


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
                vector=random.normal(size=DIMENSION).astype(np.float32),
                cues=cues,
                shape=random.normal(size=len(SHAPE)).astype(np.float32),
                rewards=rewards,
                group=f"talk {number % 6}",
            )
        )
    return found


def weights_with(gate: dict[str, np.ndarray]) -> RankingWeights:
    source = shipped_weights("bundled")
    assert source is not None
    shipped = load_weights(source)
    return RankingWeights(**{**shipped.tensors(), **gate}, fingerprint=shipped.fingerprint, card=shipped.card)


def gates_for(gate: dict[str, np.ndarray], examples: list[GateExample]) -> np.ndarray:
    made = OperationGate(weights_with(gate))
    assert made.trained
    return np.array([list(made.weights_of(one.vector, one.cues, one.shape).values()) for one in examples])


def test_the_warm_up_learns_the_operations_that_the_kinds_call_for() -> None:
    examples = made_up()
    gates = gates_for(learn_gate(examples, GateSettings(warm_up=120, epochs=0)), made_up(seed=7))
    labels = np.array([list(operations_of(one.cues).values()) for one in examples])
    assert labels.any(axis=0).all()
    assert ((gates >= 0.5) == (labels >= 0.5)).mean() > 0.97


@given(st.integers(0, 10_000))
def test_the_expected_reward_is_that_of_many_draws_and_its_slope_is_exact(seed: int) -> None:
    random = np.random.default_rng(seed)
    logits, rewards = random.normal(size=(3, 5)), random.normal(size=(3, 32))
    gates = 1 / (1 + np.exp(-logits))
    value, slopes = expected_reward(gates, rewards)
    by_hand = [
        sum(
            reward * np.prod([gate if name in on else 1 - gate for name, gate in zip(NAMES, one, strict=True)])
            for on, reward in zip(configurations(), given_, strict=True)
        )
        for one, given_ in zip(gates, rewards, strict=True)
    ]
    assert value.tolist() == pytest.approx(by_hand)
    for place in np.ndindex(3, 5):
        moved = [logits.copy(), logits.copy()]
        moved[0][place] += 1e-5
        moved[1][place] -= 1e-5
        up, down = (expected_reward(1 / (1 + np.exp(-one)), rewards)[0][place[0]] for one in moved)
        assert slopes[place] == pytest.approx((up - down) / 2e-5, abs=1e-6)


def test_tuning_finds_what_pays_for_which_question() -> None:
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


def test_costs_and_operations_are_taken_off() -> None:
    settings = GateSettings(cost=0.1, operations=0.01)
    net = net_rewards(np.zeros((1, 32), np.float32), settings)[0]
    for on, value in zip(configurations(), net, strict=True):
        assert value == pytest.approx(-0.1 * sum(COSTS[name] for name in on) - 0.01 * len(on))
    fixed = best_for_all(net_rewards(np.zeros((4, 32), np.float32), settings), ["a", "b", "c", "d"])
    assert (fixed < 0).all()


def test_what_pays_in_one_conversation_of_many_is_not_chosen_for_all() -> None:
    latest = np.array(["latest_filtering" in on for on in configurations()], np.float32)
    one = np.stack([latest if number == 0 else 0 * latest for number in range(8)])
    every = np.stack([latest * (0.1 + 0.01 * number) for number in range(8)])
    groups = [f"talk {number}" for number in range(8)]
    place = NAMES.index("latest_filtering")
    assert best_for_all(one, groups)[place] < 0 < best_for_all(every, groups)[place]


def test_a_gate_lies_in_the_weights_file_and_a_broken_one_is_refused(tmp_path: Path) -> None:
    weights = weights_with(learn_gate(made_up(count=40), GateSettings(warm_up=2, epochs=0)))
    assert weights.parameters < 1_000_000
    save_weights(weights, tmp_path / "w.safetensors")
    again = load_weights(tmp_path / "w.safetensors")
    one = made_up(count=1)[0]
    told = OperationGate(again).weights_of(one.vector, one.cues, one.shape)
    assert told == OperationGate(weights).weights_of(one.vector, one.cues, one.shape)
    assert told.keys() == set(NAMES)
    assert all(0 <= value <= 1 for value in told.values())
    broken = RankingWeights(
        **{**weights.tensors(), "operations_out": np.zeros((2, 5), np.float32)}, fingerprint="x", card={}
    )
    save_weights(broken, tmp_path / "broken.safetensors")
    with pytest.raises(CorruptFileError, match="operations_out"):
        load_weights(tmp_path / "broken.safetensors")


def test_what_was_learned_of_a_user_moves_the_gate() -> None:
    weights = weights_with(learn_gate(made_up(count=40), GateSettings(warm_up=2, epochs=0)))
    one = made_up(count=1)[0]
    plain = OperationGate(weights).weights_of(one.vector, one.cues, one.shape)
    moved = OperationGate(weights, {"latest_filtering": 3.0}).weights_of(one.vector, one.cues, one.shape)
    assert moved["latest_filtering"] > plain["latest_filtering"]
    assert {name: moved[name] for name in NAMES if name != "latest_filtering"} == {
        name: plain[name] for name in NAMES if name != "latest_filtering"
    }


def test_weights_without_a_gate_run_what_usually_pays_until_feedback_says_otherwise() -> None:
    bare = {name: np.empty(0, np.float32) for name in weights_with({}).tensors() if name.startswith("operations_")}
    one = made_up(count=1)[0]
    gate = OperationGate(weights_with(bare))
    assert not gate.trained
    assert switched(gate.weights_of(one.vector, one.cues, one.shape), {}) == USUAL
    taught = OperationGate(weights_with(bare), {"latest_filtering": 3.0})
    assert switched(taught.weights_of(one.vector, one.cues, one.shape), {}) == {*USUAL, "latest_filtering"}
