"""Learning from a user's feedback: what it changes, when it is refused, and that it is nobody else's."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from hexamem import Memory, Settings, UserMemory
from hexamem.retrieval.feedback_learning import FeedbackExample, inverse_propensity, learn_offsets, verdict_reward
from hexamem.retrieval.gates import GateExample, GateSettings, learn_gate
from hexamem.retrieval.ranking_operations import configurations
from hexamem.retrieval.ranking_weights import RankingWeights, load_weights, save_weights, shipped_weights
from hexamem.retrieval.signals.cues import CUES, SHAPE
from hexamem.stores.ledger.recalls import read_adjustment

from .commands import hexamem

PETS = ["Pickle", "Juniper", "Biscuit", "Mango", "Toffee", "Clover", "Pepper", "Olive", "Waffle", "Maple", "Ziggy", "Hazel"]  # fmt: skip
QUESTION = "What does Pickle eat for dinner?"
RAN = frozenset({"temporal_ordering", "semantic_reranking"})
"""What the logits below switch on."""
LOGITS = np.array([2.0, -2.0, -2.0, -2.0, 2.0], np.float32)


def examples(count: int, reward: Callable[[int, frozenset[str]], float], **given: object) -> list[FeedbackExample]:
    """Recalls whose reward under each configuration is a function of the recall's number and the configuration."""
    built = []
    for number in range(count):
        rewards = np.array([reward(number, on) for on in configurations()], np.float32)
        noise = np.random.default_rng(number).normal(0, 0.05, 5).astype(np.float32)
        built.append(FeedbackExample(logits=LOGITS + noise, rewards=rewards, **given))  # type: ignore[arg-type]
    return built


def test_the_reward_counts_what_helped_first_and_what_hurt_against() -> None:
    assert verdict_reward(["a", "b", "c"], {"a"}, set(), 10) == 1
    assert verdict_reward(["b", "a", "c"], {"a"}, set(), 10) < 1
    assert verdict_reward(["a", "b"], {"a"}, {"b"}, 10) == pytest.approx(1 - 1 / np.log2(3))
    assert verdict_reward(["a"], set(), {"a"}, 10) == -1
    assert verdict_reward(["b", "a"], {"a"}, set(), 1) == 0


def test_an_operation_that_always_helps_is_learned() -> None:
    learned = learn_offsets(examples(20, lambda _, on: 0.5 * ("latest_filtering" in on)), verdicts=40)
    assert learned.accepted
    assert learned.offsets["latest_filtering"] > 2
    assert (learned.learned or 0) > (learned.shipped or 0)
    assert (learned.recalls, learned.verdicts) == (20, 40)


@pytest.mark.parametrize(
    ("count", "reward", "reason"),
    [
        (20, lambda _, on: 1.0 * ("multi_step" in on), ""),  # what costs is never learned
        (3, lambda _, on: 1.0 * ("latest_filtering" in on), "at least 12"),
        (24, lambda number, on: (1 if number % 2 else -1) * ("latest_filtering" in on), "nothing changes"),
    ],
    ids=["what costs", "few recalls", "helps as often as it hurts"],
)
def test_what_is_costly_rare_or_unsure_changes_nothing(
    count: int, reward: Callable[[int, frozenset[str]], float], reason: str
) -> None:
    learned = learn_offsets(examples(count, reward))
    assert not learned.accepted
    assert reason in learned.reason


def test_what_was_tried_speaks_against_what_is_only_computed_weighed_by_how_seldom_it_was() -> None:
    tried = [
        example
        for on, seen in ((RAN, 1.0), (RAN | {"latest_filtering"}, -1.0))  # good when computed, bad when tried
        for example in examples(20, lambda _, c: 0.02 * ("latest_filtering" in c), on=on, chance=0.5, seen=seen)
    ]
    learned = learn_offsets(tried)
    assert (learned.accepted, learned.tried) == (False, 40)
    often, seldom = (
        examples(1, lambda _, on: 0.0, on=RAN, chance=chance, seen=seen)[0] for chance, seen in ((0.5, 1.0), (0.1, 0.0))
    )
    assert inverse_propensity([often, seldom], np.zeros(5, np.float32)) == pytest.approx(2 / 12)
    assert inverse_propensity([often, seldom], np.array([0, 9, 0, 0, 0], np.float32)) is None


@pytest.fixture(scope="module")
def weights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The shipped weights with a gate that has latest filtering off for all questions."""
    source = shipped_weights("static")
    assert source is not None
    shipped = load_weights(source)
    random = np.random.default_rng(0)
    rewards = np.array([("semantic_reranking" in on) - 1.0 * ("latest_filtering" in on) for on in configurations()])
    of_gate = [
        GateExample(
            cues=np.zeros(len(CUES), np.float32),
            shape=random.normal(size=len(SHAPE)).astype(np.float32),
            rewards=rewards.astype(np.float32),
            group=str(number % 4),
        )
        for number in range(40)
    ]
    tensors = {**shipped.tensors(), "operations": learn_gate(of_gate, GateSettings())}
    path = tmp_path_factory.mktemp("weights") / "w.safetensors"
    save_weights(RankingWeights(**tensors, fingerprint=shipped.fingerprint, card=shipped.card), path)
    return path


def judge(user: UserMemory) -> None:
    """Twelve changed facts; in each recall the newer turn helped and the older one hurt."""
    messages = [
        {
            "role": "user",
            "content": f"{name} eats {food} for dinner in the evening now.",
            "timestamp": f"2024-{month:02d}-{number + 1:02d}T12:00:00+00:00",
        }
        for month, food in ((1, "chicken"), (6, "salmon"))
        for number, name in enumerate(PETS)
    ]
    ids = user.remember(messages, thread_id="pets").step_ids
    for older, newer, name in zip(ids, ids[len(PETS) :], PETS, strict=False):
        recall = user.recall(f"What does {name} eat for dinner?", strategy="learned", k=5)
        shown = {hit.id for hit in recall.hits}
        user.feedback(recall.id, helped=[*{newer} & shown], hurt=[*{older} & shown])


@pytest.fixture
def opened(tmp_path: Path, weights: Path) -> Iterator[Memory]:
    settings = Settings(background=False, weights=str(weights), mode="off", labels="off")
    with Memory.open(tmp_path / "home", embedder="static", settings=settings) as memory:
        yield memory


def test_a_user_teaches_the_gate_for_that_user_alone_until_reset_or_erased(opened: Memory) -> None:
    alice, bob = opened.user("alice"), opened.user("bob")
    judge(alice)
    judge(bob)
    before = bob.recall(QUESTION, strategy="learned")
    learned = alice.learn_ranking()
    assert learned.recalls == len(PETS)
    assert learned.accepted, learned.reason
    assert learned.offsets["latest_filtering"] > 0
    gate = alice.recall(QUESTION, strategy="learned").gate or {}
    assert gate["latest_filtering"] > (before.gate or {})["latest_filtering"]
    after = bob.recall(QUESTION, strategy="learned")
    assert after.gate == before.gate
    assert [hit.score for hit in after] == [hit.score for hit in before]
    assert alice.learn_ranking(reset=True).accepted
    assert alice.recall(QUESTION, strategy="learned").gate == pytest.approx(before.gate)
    assert bob.learn_ranking().accepted
    bob.erase()
    bob.remember("Pickle eats beef.")
    with opened.ledger.read("bob") as tx:
        assert read_adjustment(tx) is None


def test_the_command_learns_for_one_user_and_names_what_is_missing(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with Memory.open(home, embedder="static", settings=Settings(background=False)) as memory:
        memory.user("alice").remember("Pickle eats chicken.")
    learned = hexamem("train", "--feedback", "--user", "alice", "--home", home, "--json").json
    assert (learned["accepted"], "0 recall(s)" in learned["reason"]) == (False, True)
    assert "--user" in hexamem("train", "--feedback", "--home", home).error
    assert "PATH" in hexamem("train", "--out", tmp_path / "w.safetensors").error
