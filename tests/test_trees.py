"""The boosted trees of the learned ranking: what they give, how they lie in a file, and what is told of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from hexamem import Memory, Settings
from hexamem.errors import CorruptFileError
from hexamem.retrieval.learning import Example, LearningSettings, learn_ranking
from hexamem.retrieval.ranker import SHARES, Ranker
from hexamem.retrieval.ranking_weights import RankingWeights, load_weights, save_weights, shipped_weights
from hexamem.retrieval.signals.cues import CUES
from hexamem.retrieval.signals.features import FEATURES, Features
from hexamem.retrieval.signals.pool import Pool
from hexamem.retrieval.tree_ensemble import TREE_ARRAYS, TREED, TreeEnsemble, beside_cues
from hexamem.retrieval.tree_learning import TreeSettings, learn_trees, tree_arrays

COLUMNS = len(FEATURES) + len(CUES)
QUESTION = "How much is a heating coil for the kiln?"


def shipped() -> RankingWeights:
    source = shipped_weights("bundled")
    assert source is not None
    return load_weights(source)


def with_trees(weights: RankingWeights, **arrays: np.ndarray) -> RankingWeights:
    return RankingWeights(**{**weights.tensors(), **arrays}, fingerprint=weights.fingerprint, card=weights.card)


def numbers(rows: list[list[float]]) -> np.ndarray:
    return np.array(rows, np.float32)


def two_trees() -> dict[str, np.ndarray]:
    """One asks how a candidate stands by ``bm25`` and then by ``dense``, the other, of which a node is unused, by ``dense``."""
    bm25, dense = FEATURES.index("bm25"), FEATURES.index("dense")
    return {
        "trees_feature": numbers([[bm25, 0, dense, 0, 0], [dense, 0, 0, 0, 0]]),
        "trees_value": numbers([[0.5, -0.1, 1.0, 0.2, 2.0], [0.0, 0.0, 0.5, 0.0, 0.0]]),
        "trees_child": numbers([[1, 0, 3, 0, 0], [1, 0, 0, 0, 0]]),
    }


def features_of(values: np.ndarray) -> Features:
    none = np.empty(0, np.int64)
    ids = tuple(f"step_{number}" for number in range(len(values)))
    return Features(Pool(ids, (), none, none, {}), values.astype(np.float32), np.zeros(len(CUES), np.float32))


def together(count: int, seed: int = 0) -> list[Example]:
    """Questions whose evidence is what stands out by three features at once."""
    random = np.random.default_rng(seed)
    made = []
    for _ in range(count):
        values = random.choice([-1.0, 1.0], (16, len(FEATURES))).astype(np.float32)
        values[0, [5, 9, 20]] = 1
        evidence = (values[:, [5, 9, 20]] > 0).all(axis=1)
        made.append(Example(values=values, cues=np.zeros(len(CUES), np.float32), evidence=evidence))
    return made


def test_a_candidate_goes_left_where_it_is_not_above_the_bound() -> None:
    x = np.zeros((4, COLUMNS), np.float32)
    x[:, FEATURES.index("bm25")] = [0.5, 0.6, 0.6, 0.4]
    x[:, FEATURES.index("dense")] = [9, 1, 1.1, -1]
    trees = TreeEnsemble(*two_trees().values())
    assert trees.score(x).tolist() == pytest.approx([-0.1 + 0.5, 0.2 + 0.5, 2.0 + 0.5, -0.1])


def test_arrays_give_what_lightgbm_gives() -> None:
    lightgbm = pytest.importorskip("lightgbm")
    random = np.random.default_rng(3)
    # Few values a column, so that candidates stand on the bounds themselves, and bounds between neighbouring numbers.
    x = np.round(random.normal(size=(3_000, 12)), 1).astype(np.float32)
    x[:, 3] = np.nextafter(np.float32(1), np.float32(2)) ** random.integers(0, 3, 3_000)
    y = x[:, 0] * x[:, 1] + (x[:, 3] > 1) + random.normal(size=3_000)
    settings = {"num_leaves": 13, "max_depth": 6, "use_missing": False, "verbose": -1, "num_threads": 1}
    model = lightgbm.train(settings, lightgbm.Dataset(x, y), num_boost_round=40)
    trees = TreeEnsemble(*tree_arrays([one["tree_structure"] for one in model.dump_model()["tree_info"]]).values())
    assert trees.score(x).tolist() == pytest.approx(model.predict(x, raw_score=True).tolist(), abs=1e-5)


def test_a_tree_of_one_leaf_is_left_out() -> None:
    assert tree_arrays([{"leaf_value": 0.4}]) == {}


def test_trees_learn_what_features_tell_together_and_the_same_each_time() -> None:
    pytest.importorskip("lightgbm")
    inputs = [(one.values, one.cues, one.evidence / one.evidence.sum()) for one in together(150)]
    settings = TreeSettings(trees=60, columns=1.0)
    arrays = learn_trees(inputs, np.ones(len(inputs), np.float32), settings)
    again = learn_trees(inputs, np.ones(len(inputs), np.float32), settings)
    assert all(np.array_equal(arrays[name], again[name]) for name in TREE_ARRAYS)
    trees = TreeEnsemble(*(arrays[name] for name in TREE_ARRAYS))
    best = [int(trees.score(beside_cues(one.values, one.cues)).argmax()) for one in together(40, seed=1)]
    assert np.mean([one.evidence[at] for one, at in zip(together(40, seed=1), best, strict=True)]) > 0.9


def test_trees_come_through_a_file_unchanged(tmp_path: Path) -> None:
    made = with_trees(shipped(), **two_trees())
    save_weights(made, tmp_path / "w.safetensors")
    read = load_weights(tmp_path / "w.safetensors")
    assert all(np.array_equal(getattr(read, name), one) for name, one in two_trees().items())
    assert read.digest == made.digest != shipped().digest
    assert read.parameters == shipped().parameters + 30


def test_weights_without_trees_are_what_they_were(tmp_path: Path) -> None:
    save_weights(shipped(), tmp_path / "w.safetensors")
    read = load_weights(tmp_path / "w.safetensors")
    assert not read.trees_value.size
    assert read.digest == shipped().digest
    assert not set(TREE_ARRAYS) & set(read.tensors())


@pytest.mark.parametrize(
    ("name", "place", "value", "told"),
    [
        ("trees_feature", (0, 0), COLUMNS, "columns"),
        ("trees_feature", (0, 0), 0.5, "columns"),
        ("trees_feature", (0, 0), -1, "columns"),
        ("trees_value", (1, 2), np.nan, "finite"),
        ("trees_child", (0, 2), 2, "not behind"),  # would go round for ever
        ("trees_child", (0, 2), 4, "not behind"),  # its right child would be beyond the tree
        ("trees_child", (0, 2), 3.5, "not behind"),
    ],
)
def test_damaged_trees_are_refused(tmp_path: Path, name: str, place: tuple[int, int], value: float, told: str) -> None:
    arrays = two_trees()
    arrays[name][place] = value
    save_weights(with_trees(shipped(), **arrays), tmp_path / "w.safetensors")
    with pytest.raises(CorruptFileError, match=f"trees.*{told}"):
        load_weights(tmp_path / "w.safetensors")


@pytest.mark.parametrize("name", TREE_ARRAYS)
def test_trees_of_unlike_shapes_are_refused(tmp_path: Path, name: str) -> None:
    for damaged in (two_trees()[name][:, :-1], two_trees()[name].ravel(), np.empty(0, np.float32)):
        save_weights(with_trees(shipped(), **{**two_trees(), name: damaged}), tmp_path / "w.safetensors")
        with pytest.raises(CorruptFileError, match="trees_"):
            load_weights(tmp_path / "w.safetensors")


def test_the_best_candidates_get_what_their_leaves_say_and_the_others_the_least() -> None:
    values = np.random.default_rng(0).normal(size=(300, len(FEATURES)))
    features = features_of(values)
    plain, treed = Ranker(shipped()), Ranker(with_trees(shipped(), **two_trees()))
    before, after = plain.score(features), treed.score(features)
    order = np.argsort(-before, kind="stable")
    added = after - before
    assert len({round(one, 3) for one in added[order[:TREED]].tolist()}) > 2
    assert added[order[TREED:]].tolist() == pytest.approx([added[order[:TREED]].min()] * (300 - TREED), abs=1e-4)
    shares = treed.shares(features, np.arange(300))
    assert shares.sum(axis=1).tolist() == pytest.approx(after.tolist(), abs=1e-3)
    assert shares[:, SHARES.index("combined")].tolist() == pytest.approx(added.tolist(), abs=1e-4)


def test_without_the_second_part_of_the_score_the_trees_are_off_too() -> None:
    features = features_of(np.random.default_rng(0).normal(size=(80, len(FEATURES))))
    plain, treed = Ranker(shipped()), Ranker(with_trees(shipped(), **two_trees()))
    assert treed.score(features, reranked=False).tolist() == plain.score(features, reranked=False).tolist()
    assert not treed.shares(features, np.arange(80), reranked=False)[:, SHARES.index("combined")].any()


def test_a_recall_by_trained_trees_tells_what_they_add(tmp_path: Path, memory: Memory) -> None:
    pytest.importorskip("lightgbm")
    settings = LearningSettings(epochs=1, runs=1, trees=20)
    weights = learn_ranking(together(150), settings, fingerprint=memory.embedder.fingerprint)
    assert weights.trees_value.size
    path = tmp_path / "w.safetensors"
    save_weights(weights, path)
    with Memory.open(tmp_path / "other", settings=Settings(weights=path)) as other:
        user = other.user("nora")
        user.remember(["The kiln broke.", "A heating coil for the kiln is ninety pounds.", "We ate soup.", "How much?"])
        recall = user.recall(QUESTION, strategy="learned", operations={"semantic_reranking": True})
    assert recall.degraded == ()
    assert len(recall.hits) == 4
    for hit in recall.hits:
        assert sum(one.share for one in hit.why) == pytest.approx(hit.score, abs=1e-3)
    assert any(one.name == "combined" and one.share for hit in recall.hits for one in hit.why)
