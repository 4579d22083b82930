"""The dense vector store: right answers, also with many users, unclean stops, damaged files and erasure."""

from __future__ import annotations

import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import chromadb
import numpy as np
import pytest
from chromadb.config import Settings
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from hexamem.errors import (
    CorruptFileError,
    EmbedderMismatchError,
    HomeNotWritableError,
    InvalidInputError,
    MissingUserError,
    StorageFullError,
    StoreClosedError,
)
from hexamem.stores.vectors import VectorIndex, chroma
from hexamem.stores.vectors.chroma import ChromaVectorStore
from hexamem.testing import check_vector_store

from .fork_server import python, run_program
from .memory_vector_store import MemoryVectorStore

D = 16
HOME = "0123456789abcdef" * 2
ALICE, BOB = "a11ce000" * 2, "b0b00000" * 2

# A session as another process sees it: how the store is opened, and vectors that both sides can make.
PREAMBLE = """
import sys
from pathlib import Path
import numpy as np
from hexamem.stores.vectors import VectorIndex, chroma
from hexamem.stores.vectors.chroma import ChromaVectorStore
FOLDER = Path(sys.argv[1])
def opened(sync=300, **settings):
    chroma._HNSW["sync_threshold"] = sync
    store = ChromaVectorStore(FOLDER, min_free_bytes=0, **settings)
    return VectorIndex(store, home="0123456789abcdef" * 2, embedder="m", dimension=16, fingerprint="f1")
def vector(user, i):
    return np.random.default_rng([int(user, 16), i]).standard_normal(16).astype(np.float32)
def put(store, user, start, stop):
    store.upsert(user, "steps", [str(i) for i in range(start, stop)],
                 np.stack([vector(user, i) for i in range(start, stop)]), [{"time": i} for i in range(start, stop)])
"""


def vector(user: str, i: int) -> np.ndarray:
    return np.random.default_rng([int(user, 16), i]).standard_normal(D).astype(np.float32)


def put(store: VectorIndex, user: str, start: int, stop: int) -> None:
    numbers = range(start, stop)
    vectors = np.stack([vector(user, i) for i in numbers])
    store.upsert(user, "steps", [str(i) for i in numbers], vectors, [{"time": i} for i in numbers])


def opened(
    folder: Path,
    *,
    name: str = "m",
    dimension: int = D,
    fingerprint: str = "f1",
    max_loaded: int = 64,
    min_free_bytes: int = 0,
    **matrix: int,
) -> VectorIndex:
    store = ChromaVectorStore(folder, max_loaded=max_loaded, min_free_bytes=min_free_bytes)
    return VectorIndex(store, home=HOME, embedder=name, dimension=dimension, fingerprint=fingerprint, **matrix)


@pytest.fixture
def hnsw(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Sets parameters of the graphs that are made from now on."""

    def set_parameters(**values: int) -> None:
        monkeypatch.setattr(chroma, "_HNSW", {**chroma._HNSW, **values})

    return set_parameters


def program(body: str, folder: Path) -> list[str]:
    return [*python(), "-c", PREAMBLE + textwrap.dedent(body), str(folder)]


def run(body: str, folder: Path) -> str:
    done = run_program(PREAMBLE + textwrap.dedent(body), str(folder))
    assert done.returncode == 0, f"{done.returncode}: {done.stderr[-2000:]}"
    return done.stdout


def segment_of(folder: Path) -> Path:
    """The only HNSW folder there is."""
    (segment,) = [child for child in folder.iterdir() if child.is_dir()]
    return segment


def files_with(folder: Path, needle: str | bytes) -> list[str]:
    """The files that hold the bytes."""
    wanted = needle.encode() if isinstance(needle, str) else needle
    return [path.name for path in folder.rglob("*") if path.is_file() and wanted in path.read_bytes()]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "vectors"


@pytest.fixture
def store(folder: Path) -> Iterator[VectorIndex]:
    store = opened(folder)
    yield store
    store.close()


@pytest.fixture(params=["embedded", "client"])
def any_store(request: pytest.FixtureRequest, folder: Path) -> Iterator[VectorIndex]:
    """The same store on its own folder, and on a Chroma client that it was given."""
    if request.param == "embedded":
        store = opened(folder)
    else:
        client = chromadb.PersistentClient(str(folder), Settings(anonymized_telemetry=False))
        store = VectorIndex(ChromaVectorStore(client), home=HOME, embedder="m", dimension=D, fingerprint="f1")
    yield store
    store.close()
    if request.param == "client":
        client.close()


# ------------------------------------------------------------------------------------------------------------ protocol


def test_stores_pass_the_checks_for_implementers(folder: Path, tmp_path: Path) -> None:
    check_vector_store(MemoryVectorStore())
    embedded = ChromaVectorStore(folder)
    check_vector_store(embedded)
    embedded.close()
    client = chromadb.PersistentClient(str(tmp_path / "client"), Settings(anonymized_telemetry=False))
    check_vector_store(ChromaVectorStore(client))
    client.close()


def test_the_checks_for_implementers_name_what_is_wrong() -> None:
    class Forgetful(MemoryVectorStore):
        def delete(self, owner: str, part: Any, ids: Any) -> None:
            if ids is None:
                super().delete(owner, part, ids)

    with pytest.raises(AssertionError, match="ids after a record was deleted"):
        check_vector_store(Forgetful())


# ------------------------------------------------------------------------------------------------------------- answers


def test_the_nearest_record_comes_first_with_its_cosine(any_store: VectorIndex) -> None:
    put(any_store, ALICE, 0, 50)
    (first, score), *rest = any_store.query(ALICE, "steps", 3 * vector(ALICE, 7), 5)
    assert (first, round(score, 5)) == ("7", 1.0)
    assert [s for _, s in rest] == sorted((s for _, s in rest), reverse=True)
    assert len(rest) == 4


def test_similarity_covers_opposite_and_orthogonal_vectors(any_store: VectorIndex) -> None:
    axes = np.eye(D, dtype=np.float32)
    any_store.upsert(ALICE, "items", ["same", "other", "against"], np.stack([axes[0], axes[1], -axes[0]]), [{}] * 3)
    expected = [("same", 1.0), ("other", 0.0), ("against", -1.0)]
    for found in (
        any_store.query(ALICE, "items", axes[0], 9),
        any_store.query_among(ALICE, "items", axes[0], ["against", "other", "same"], 9),
    ):
        assert [(name, round(score, 5)) for name, score in found] == expected


def test_nothing_stored_means_nothing_found(any_store: VectorIndex) -> None:
    query = vector(ALICE, 0)
    assert any_store.query(ALICE, "pages", query, 3) == []
    assert any_store.query_among(ALICE, "pages", query, ["a"], 3) == []
    assert any_store.vectors(ALICE, "pages", ["a"]) == {}
    assert (any_store.count(ALICE, "pages"), any_store.ids(ALICE, "pages")) == (0, set())
    any_store.delete(ALICE, "pages", ["a"])
    any_store.reset(ALICE, "pages")
    assert any_store.query_among(ALICE, "pages", query, [], 3) == []


def test_k_may_exceed_the_number_of_records(any_store: VectorIndex) -> None:
    put(any_store, ALICE, 0, 3)
    assert len(any_store.query(ALICE, "steps", vector(ALICE, 0), 50)) == 3
    assert len(any_store.query(ALICE, "steps", vector(ALICE, 0), 50_000)) == 3


def test_users_and_parts_are_kept_apart(any_store: VectorIndex) -> None:
    put(any_store, ALICE, 0, 5)
    put(any_store, BOB, 0, 2)
    any_store.upsert(ALICE, "pages", ["p"], vector(ALICE, 0)[None, :], [{}])
    assert (any_store.count(ALICE, "steps"), any_store.count(ALICE, "pages"), any_store.count(BOB, "steps")) == (
        5,
        1,
        2,
    )
    assert any_store.query_among(BOB, "steps", vector(ALICE, 4), ["4"], 5) == []


def test_upsert_replaces_a_vector_everywhere(any_store: VectorIndex) -> None:
    put(any_store, ALICE, 0, 10)
    any_store.query_among(ALICE, "steps", vector(ALICE, 3), [str(i) for i in range(10)], 3)
    any_store.upsert(ALICE, "steps", ["3"], vector(BOB, 99)[None, :], [{}])
    assert any_store.count(ALICE, "steps") == 10
    np.testing.assert_allclose(any_store.vectors(ALICE, "steps", ["3"])["3"], vector(BOB, 99), rtol=1e-5)
    assert any_store.query(ALICE, "steps", vector(BOB, 99), 1)[0][0] == "3"
    assert any_store.query_among(ALICE, "steps", vector(BOB, 99), ["2", "3", "4"], 1)[0][0] == "3"


def test_deleted_records_are_found_no_more_and_unknown_ids_do_no_harm(any_store: VectorIndex) -> None:
    put(any_store, ALICE, 0, 10)
    any_store.query_among(ALICE, "steps", vector(ALICE, 3), ["3"], 1)
    any_store.delete(ALICE, "steps", ["3", "unknown", "3"])
    assert any_store.ids(ALICE, "steps") == {str(i) for i in range(10)} - {"3"}
    assert "3" not in [name for name, _ in any_store.query(ALICE, "steps", vector(ALICE, 3), 20)]
    assert any_store.query_among(ALICE, "steps", vector(ALICE, 3), ["3"], 1) == []


@hypothesis_settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_any_history_answers_as_a_dictionary_would(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("history")
    small = {"max_loaded": 2, "matrix_bytes": 256 * D * 4 * data.draw(st.sampled_from([0, 1, 16]))}
    small["matrix_rows"] = data.draw(st.sampled_from([0, 9, 12_000]))
    store, truth = opened(folder, **small), {}
    users = [ALICE, BOB, "c0ffee00"]
    for turn in range(data.draw(st.integers(5, 25))):
        user = data.draw(st.sampled_from(users))
        mine = truth.setdefault(user, {})
        match data.draw(st.sampled_from(["upsert", "upsert", "delete", "reset", "reopen", "look"])):
            case "upsert":
                names = data.draw(st.lists(st.sampled_from("abcdefghijklmnop"), min_size=1, max_size=8, unique=True))
                vectors = np.random.default_rng(turn).standard_normal((len(names), D))
                store.upsert(user, "items", names, vectors, [{}] * len(names))
                mine.update(zip(names, vectors.astype(np.float32), strict=True))
            case "delete":
                names = data.draw(st.lists(st.sampled_from("abcdefghijklmnop"), max_size=5))
                store.delete(user, "items", names)
                for name in names:
                    mine.pop(name, None)
            case "reset":
                store.reset(user, "items")
                mine.clear()
            case "reopen":
                store.close()
                store = opened(folder, **small)
            case "look":
                check(store, user, mine)
    for user in users:
        check(store, user, truth.get(user, {}))
    store.close()


def check(store: VectorIndex, user: str, mine: dict[str, np.ndarray]) -> None:
    query = np.random.default_rng(len(mine)).standard_normal(D).astype(np.float32)
    cosines = {name: float(v @ query / np.linalg.norm(v) / np.linalg.norm(query)) for name, v in mine.items()}
    best = sorted(cosines, key=lambda name: -cosines[name])[:5]
    assert store.ids(user, "items") == set(mine)
    for found in (
        store.query(user, "items", query, 5),
        store.query(user, "items", query, 5),  # the second time a small collection is compared as a whole
        store.query_among(user, "items", query, list("abcdefghijklmnopq"), 5),
    ):
        assert [name for name, _ in found] == best
        np.testing.assert_allclose([score for _, score in found], [cosines[name] for name in best], atol=1e-5)


def test_search_among_ids_is_exact_whatever_the_cache_holds(folder: Path) -> None:
    store = opened(folder, matrix_bytes=300 * D * 4)
    put(store, ALICE, 0, 600)
    matrix = np.stack([vector(ALICE, i) for i in range(600)])
    matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)
    for seed in range(6):
        rng = np.random.default_rng(seed)
        chosen = rng.choice(600, 40 * (seed + 1), replace=False)
        query = rng.standard_normal(D).astype(np.float32)
        expected = sorted(chosen, key=lambda i: -float(matrix[i] @ query))[:20]
        found = store.query_among(ALICE, "steps", query, [str(i) for i in chosen] + ["unknown"], 20)
        assert [name for name, _ in found] == [str(i) for i in expected]
    store.close()


def test_a_small_collection_asked_again_is_compared_as_a_whole_and_a_large_one_is_not(
    folder: Path, hnsw: Callable[..., None]
) -> None:
    # A graph of so few links misses records that a comparison finds.
    hnsw(max_neighbors=2, ef_search=2, ef_construction=2)
    store = opened(folder, matrix_rows=400)
    put(store, ALICE, 0, 400)
    put(store, BOB, 0, 401)
    missed = dict.fromkeys((ALICE, BOB), 0)
    for user, count in ((ALICE, 400), (BOB, 401)):
        matrix = np.stack([vector(user, i) for i in range(count)])
        matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)
        store.query(user, "steps", vector(user, 0), 1)
        for seed in range(20):
            query = np.random.default_rng(seed).standard_normal(D).astype(np.float32)
            expected = {str(i) for i in np.argsort(-(matrix @ query))[:20]}
            missed[user] += len(expected - {name for name, _ in store.query(user, "steps", query, 20)})
    assert missed[ALICE] == 0 < missed[BOB]
    store.close()


def test_users_who_take_turns_do_not_push_each_other_out_of_the_cache(folder: Path) -> None:
    store = opened(folder, matrix_bytes=2 * 512 * D * 4)
    users = [f"{i:08x}" for i in range(4)]
    for user in users:
        put(store, user, 0, 400)
    for turn in range(3):
        for user in users:
            store.query(user, "steps", vector(user, turn), 5)
    held = [(f"{HOME}.{user}", "steps") in store._matrices for user in users]
    assert held == [True, True, False, False]
    store.close()


def test_a_collection_that_grows_while_it_is_cached_stays_within_the_bounds(folder: Path) -> None:
    store = opened(folder, matrix_rows=400, matrix_bytes=600 * D * 4)
    owners = [(f"{HOME}.{user}", "steps") for user in (BOB, ALICE)]
    for user in (BOB, ALICE):
        put(store, user, 0, 250)
        for turn in range(2):
            store.query(user, "steps", vector(user, turn), 5)
    assert [len(store._matrices[owner]) for owner in owners] == [250, 250]
    put(store, ALICE, 250, 390)  # both together are more than the budget
    assert [owner in store._matrices for owner in owners] == [False, True]
    put(store, ALICE, 390, 410)  # more than are compared as a whole
    store.query(ALICE, "steps", vector(ALICE, 0), 5)
    assert not store._matrices
    store.close()


# ------------------------------------------------------------------------------------------------------------ metadata


def test_labels_are_arrays_that_anyone_can_filter_by(folder: Path) -> None:
    store = opened(folder)
    vectors = np.stack([vector(ALICE, i) for i in range(3)])
    metadatas = [
        {"labels": ["travel", "food"], "time": 1},
        {"labels": ["food"], "type": "semantic"},
        {"labels": []},
    ]
    store.upsert(ALICE, "items", ["a", "b", "c"], vectors, metadatas)
    store.close()
    client = chromadb.PersistentClient(str(folder), Settings(anonymized_telemetry=False))
    collection = client.get_collection(f"hexamem.{HOME}.{ALICE}.items", embedding_function=None)
    assert collection.get(where={"labels": {"$contains": "food"}})["ids"] == ["a", "b"]
    assert collection.get(where={"labels": {"$contains": "travel"}})["ids"] == ["a"]
    assert collection.get(ids=["a", "b", "c"])["metadatas"] == [
        {"labels": ["travel", "food"], "time": 1},
        {"labels": ["food"], "type": "semantic"},
        None,
    ]
    client.close()


def test_labels_that_were_taken_away_are_gone(folder: Path) -> None:
    store = opened(folder)
    for labels in (["old", "kept"], ["kept"], []):
        store.upsert(ALICE, "items", ["a"], vector(ALICE, 0)[None, :], [{"labels": labels}])
    store.close()
    client = chromadb.PersistentClient(str(folder), Settings(anonymized_telemetry=False))
    collection = client.get_collection(f"hexamem.{HOME}.{ALICE}.items", embedding_function=None)
    assert collection.get(where={"labels": {"$contains": "kept"}})["ids"] == []
    client.close()


@pytest.mark.parametrize("drop", ["reset", "drop_user"])
def test_labels_of_a_dropped_collection_never_appear_on_another_users_records(
    any_store: VectorIndex, folder: Path, drop: str
) -> None:
    # Chroma's own delete_collection leaves array values behind and uses their row ids again.
    any_store.upsert(ALICE, "items", ["a", "b"], np.eye(D)[:2], [{"labels": ["CANARY"]}] * 2)
    any_store.reset(ALICE, "items") if drop == "reset" else any_store.drop_user(ALICE)
    any_store.upsert(BOB, "items", ["c", "d"], np.eye(D)[:2], [{"time": 1}] * 2)
    any_store.close()
    code = """
    import chromadb
    client = chromadb.PersistentClient(str(FOLDER))
    print(client.get_collection("hexamem.%s.items", embedding_function=None).get()["metadatas"])
    """
    assert run(code % f"{HOME}.{BOB}", folder) == "[{'time': 1}, {'time': 1}]\n"


# ----------------------------------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (lambda s: s.query("", "steps", np.zeros(D), 1), MissingUserError, "without a user"),
        (lambda s: s.query("../x", "steps", np.zeros(D), 1), InvalidInputError, "'../x'"),
        (lambda s: s.query(ALICE, "stepz", np.zeros(D), 1), InvalidInputError, "'stepz'"),
        (lambda s: s.query(ALICE, "steps", np.zeros(D + 1), 1), InvalidInputError, r"\(17,\)"),
        (lambda s: s.query(ALICE, "steps", np.full(D, np.nan), 1), InvalidInputError, "finite"),
        (lambda s: s.query(ALICE, "steps", np.zeros(D), 0), InvalidInputError, "k=0"),
        (lambda s: s.upsert(ALICE, "steps", ["a"], np.zeros((1, D + 1)), [{}]), InvalidInputError, r"\(1, 17\)"),
        (lambda s: s.upsert(ALICE, "steps", ["a"], np.zeros((1, D)), []), InvalidInputError, "0 metadatas|and 0"),
        (lambda s: s.upsert(ALICE, "steps", ["a", "a"], np.zeros((2, D)), [{}] * 2), InvalidInputError, "twice"),
        (lambda s: s.upsert(ALICE, "steps", ["a"], np.full((1, D), np.inf), [{}]), InvalidInputError, "'a'"),
    ],
)
def test_unacceptable_arguments_are_named_and_store_nothing(
    store: VectorIndex, call: Callable[[VectorIndex], object], error: type[Exception], says: str
) -> None:
    with pytest.raises(error, match=says):
        call(store)
    assert store.count(ALICE, "steps") == 0


def test_a_closed_store_says_so(folder: Path) -> None:
    store = opened(folder)
    store.close()
    store.close()
    with pytest.raises(StoreClosedError, match="closed"):
        store.count(ALICE, "steps")


def test_a_bad_metadata_value_leaves_the_collection_usable(store: VectorIndex) -> None:
    put(store, ALICE, 0, 3)
    with pytest.raises(ValueError, match="metadata"):
        store.upsert(ALICE, "steps", ["x"], vector(ALICE, 9)[None, :], [{"a": {"nested": 1}}])  # type: ignore[dict-item]
    assert store.count(ALICE, "steps") == 3


# ------------------------------------------------------------------------------------------------------------ embedder


@pytest.mark.parametrize("other", [{"fingerprint": "f2"}, {"fingerprint": "f2", "dimension": 8}])
def test_vectors_of_another_embedder_are_refused_until_the_collection_is_reset(folder: Path, other: dict) -> None:
    store = opened(folder)
    put(store, ALICE, 0, 3)
    store.close()
    store = opened(folder, **other)
    dimension = other.get("dimension", D)
    with pytest.raises(EmbedderMismatchError, match=r"fingerprint f1, but .*hexamem reembed"):
        store.query(ALICE, "steps", np.ones(dimension), 1)
    with pytest.raises(EmbedderMismatchError):
        store.upsert(ALICE, "steps", ["x"], np.ones((1, dimension)), [{}])
    store.reset(ALICE, "steps")
    store.upsert(ALICE, "steps", ["x"], np.ones((1, dimension)), [{}])
    store.close()


# ---------------------------------------------------------------------------------------------------------- many users


def test_many_users_under_few_file_handles_all_get_right_answers(folder: Path) -> None:
    out = run(
        """
        import resource, psutil
        resource.setrlimit(resource.RLIMIT_NOFILE, (128, 128))
        store, rng = opened(sync=20), np.random.default_rng(0)
        users = [f"{i:08x}" for i in range(60)]
        sizes = {}
        for user in users:
            put(store, user, 0, 15)
            sizes[user] = 15
        wrong = handles = 0
        recent = []
        for user in rng.choice(users, 250):
            if rng.random() < 0.5:
                put(store, user, sizes[user], sizes[user] + 1)
                sizes[user] += 1
            recent = [*recent[-9:], user]
            # Those used some calls ago are loaded still, with records that are in no file yet.
            for looked in (user, recent[0]):
                number = sizes[looked] - 1
                hits = store.query(looked, "steps", vector(looked, number), 3)
                wrong += [hits[0][0], len(hits)] != [str(number), 3]
                wrong += len(store.ids(looked, "steps")) != sizes[looked]
            handles = max(handles, psutil.Process().num_fds())
        store.close()
        print(wrong, handles < 128)
        """,
        folder,
    )
    assert out == "0 True\n"


def test_chroma_alone_still_loses_records_when_it_evicts(folder: Path) -> None:
    """Why generations exist. When this fails, Chroma was repaired and `EmbeddedChroma` may become simpler."""
    out = run(
        """
        import resource, chromadb
        resource.setrlimit(resource.RLIMIT_NOFILE, (192, 192))
        client = chromadb.PersistentClient(str(FOLDER))
        bad = 0
        collections = [client.create_collection(f"c{i:05}", embedding_function=None) for i in range(40)]
        for i, collection in enumerate(collections):
            collection.add(ids=["a"], embeddings=vector(f"{i:08x}", 0)[None, :])
            collection.count()
        for i, collection in enumerate(collections):
            try:
                bad += collection.query(query_embeddings=vector(f"{i:08x}", 0)[None, :], n_results=1)["ids"] != [["a"]]
            except chromadb.errors.InternalError as error:
                bad += "Nothing found on disk" in str(error)
        print(bad > 0)
        """,
        folder,
    )
    assert out == "True\n"


def test_threads_may_share_a_store_while_generations_change(folder: Path) -> None:
    store = opened(folder, max_loaded=2)
    users = [f"{i:08x}" for i in range(6)]
    problems: list[str] = []

    def work(number: int) -> None:
        rng = np.random.default_rng(number)
        try:
            for turn in range(12):
                user = users[int(rng.integers(6))]
                name = f"{number}-{turn}"
                store.upsert(user, "items", [name], vector(user, number * 1000 + turn)[None, :], [{"n": turn}])
                found = store.query(user, "items", vector(user, number * 1000 + turn), 1)
                among = store.query_among(user, "items", vector(user, number * 1000 + turn), [name], 1)
                if [found[0][0], among[0][0]] != [name, name]:
                    problems.append(f"{name}: {found} {among}")
                if rng.random() < 0.3:
                    store.delete(user, "items", [name])
        except Exception as error:  # noqa: BLE001 - carried to the main thread
            problems.append(repr(error))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    store.close()
    assert problems == []


# ---------------------------------------------------------------------------------------------------------- durability


def test_everything_is_there_after_closing_and_opening(folder: Path) -> None:
    store = opened(folder)
    put(store, ALICE, 0, 130)
    store.close()
    store = opened(folder)
    assert store.notices == []
    assert store.ids(ALICE, "steps") == {str(i) for i in range(130)}
    assert all(store.query(ALICE, "steps", vector(ALICE, i), 1)[0][0] == str(i) for i in range(130))
    store.close()


def test_a_killed_process_costs_at_most_the_collection_that_it_was_writing(folder: Path) -> None:
    body = f"""
    store, users = opened(sync=2, max_loaded=2), ["{ALICE}", "{BOB}", "cccccccc"]
    sizes = {{user: store.count(user, "steps") for user in users}}
    while True:
        for user in users:
            put(store, user, sizes[user], sizes[user] + 3)
            sizes[user] += 3
            print(user, sizes[user], flush=True)
    """
    rng = np.random.default_rng(1)
    for _ in range(4):
        process = subprocess.Popen(program(body, folder), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert process.stdout is not None
        lines = [process.stdout.readline()]
        time.sleep(float(rng.random() * 0.25))
        process.kill()
        rest, errors = process.communicate()
        lines += rest.splitlines()
        assert lines[0], errors
        sizes = {line.split()[0]: int(line.split()[1]) for line in lines if len(line.split()) == 2}
        store = opened(folder)
        assert len(store.notices) <= 1
        for user, size in sizes.items():
            if any(user in notice for notice in store.notices):
                assert store.count(user, "steps") == 0
            else:
                assert {str(i) for i in range(size)} <= store.ids(user, "steps")
                assert store.query(user, "steps", vector(user, size - 1), 1)[0][0] == str(size - 1)
        store.close()


@pytest.mark.parametrize("end", ["os._exit(0)", "os.abort()"])
@pytest.mark.parametrize("writing", [True, False])
def test_a_call_that_was_cut_off_clears_its_collection_and_no_other(folder: Path, end: str, writing: bool) -> None:
    store = opened(folder)
    put(store, ALICE, 0, 10)
    put(store, BOB, 0, 10)
    store.close()
    body = f"""
    import os
    store = opened()
    with store.store._chroma.using("hexamem.{HOME}.{ALICE}.steps", writing={writing}):
        {end}
    """
    subprocess.run(program(body, folder), capture_output=True, timeout=300, check=False)
    store = opened(folder)
    assert [ALICE in notice for notice in store.notices] == [True]
    assert (store.count(ALICE, "steps"), store.count(BOB, "steps")) == (0, 10)
    assert store.query(BOB, "steps", vector(BOB, 3), 1)[0][0] == "3"
    put(store, ALICE, 0, 4)
    store.close()
    store = opened(folder)
    assert (store.notices, store.count(ALICE, "steps")) == ([], 4)
    store.close()


def test_a_process_that_ends_without_closing_between_calls_costs_nothing(folder: Path) -> None:
    run(f"import os; store = opened(); put(store, '{ALICE}', 0, 10); os._exit(0)", folder)
    store = opened(folder)
    assert (store.notices, store.count(ALICE, "steps")) == ([], 10)
    assert store.query(ALICE, "steps", vector(ALICE, 3), 1)[0][0] == "3"
    store.close()


@pytest.mark.parametrize("content", [b"another-boot\n", b"\0" * 300])
def test_after_the_machine_went_down_everything_is_cleared(folder: Path, content: bytes) -> None:
    run(f"import os; store = opened(); put(store, '{ALICE}', 0, 10); os._exit(0)", folder)
    (folder / "hexamem-open").write_bytes(content)
    store = opened(folder)
    assert (len(store.notices), store.count(ALICE, "steps")) == (1, 0)
    assert [path for path in folder.iterdir() if path.is_dir()] == []
    put(store, ALICE, 0, 3)
    store.close()
    store = opened(folder)
    assert (store.notices, store.count(ALICE, "steps")) == ([], 3)
    store.close()


def test_a_store_that_was_only_opened_has_lost_nothing_at_the_next_open(folder: Path) -> None:
    opened(folder).close()
    store = opened(folder)
    assert store.notices == []
    store.drop_user(ALICE)
    assert store.count(ALICE, "steps") == 0
    put(store, ALICE, 0, 3)
    assert store.query(ALICE, "steps", vector(ALICE, 1), 1)[0][0] == "1"
    store.close()


def test_chroma_is_loaded_by_the_first_call_that_needs_vectors(folder: Path) -> None:
    body = f"""
        store = opened()
        print("chromadb" in sys.modules)
        put(store, "{ALICE}", 0, 1)
        print("chromadb" in sys.modules)
    """
    code = PREAMBLE + textwrap.dedent(body)
    command = [sys.executable, "-c", code, str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    assert done.stdout == "False\nTrue\n"


@pytest.mark.parametrize("content", [None, b"{oops"])
def test_a_store_without_its_seal_loses_everything_rather_than_crashing(folder: Path, content: bytes | None) -> None:
    store = opened(folder)
    put(store, ALICE, 0, 10)
    store.close()
    (folder / "hexamem-seal.json").unlink() if content is None else (folder / "hexamem-seal.json").write_bytes(content)
    store = opened(folder)
    assert (len(store.notices), store.count(ALICE, "steps")) == (1, 0)
    store.close()


DAMAGES: dict[str, Callable[[Path], object]] = {
    "data cut in half": lambda s: cut(s / "data_level0.bin", 2),
    "header cut in half": lambda s: cut(s / "header.bin", 2),
    "header of zeros": lambda s: (s / "header.bin").write_bytes(b"\0" * 100),
    "header of noise": lambda s: (s / "header.bin").write_bytes(np.random.default_rng(0).bytes(100)),
    "links cut in half": lambda s: cut(s / "link_lists.bin", 2),
    "lengths cut in half": lambda s: cut(s / "length.bin", 2),
    "ids cut in half": lambda s: cut(s / "index_metadata.pickle", 2),
    "data of noise": lambda s: (s / "data_level0.bin").write_bytes(
        np.random.default_rng(0).bytes((s / "data_level0.bin").stat().st_size)
    ),
    "no header": lambda s: (s / "header.bin").unlink(),
    "no ids": lambda s: (s / "index_metadata.pickle").unlink(),
    "no folder": lambda s: s.rename(s.with_name("away")),
}


def cut(file: Path, part: int) -> None:
    file.write_bytes(file.read_bytes()[: file.stat().st_size // part])


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_files_are_reported_instead_of_loaded(folder: Path, damage: str, hnsw: Callable[..., None]) -> None:
    hnsw(sync_threshold=50)
    store = opened(folder)
    put(store, ALICE, 0, 100)
    store.close()
    DAMAGES[damage](segment_of(folder))
    # In a process of its own: what is not noticed ends it.
    out = run(
        f"""
        from hexamem.errors import CorruptFileError
        store = opened()
        put(store, "{BOB}", 0, 10)
        try:
            store.query("{ALICE}", "steps", vector("{ALICE}", 5), 1)
        except CorruptFileError as error:
            print("refused")
        print(len(store.notices), "{ALICE}" in store.notices[0])
        store.reset("{ALICE}", "steps")
        put(store, "{ALICE}", 0, 100)
        print([store.query("{ALICE}", "steps", vector("{ALICE}", i), 1)[0][0] for i in (0, 50, 99)])
        print(store.count("{BOB}", "steps"))
        store.close()
        """,
        folder,
    )
    assert out == "refused\n1 True\n['0', '50', '99']\n10\n"


def test_a_missing_database_loses_everything_and_says_so_in_one_line(folder: Path) -> None:
    store = opened(folder)
    put(store, ALICE, 0, 100)
    store.close()
    (folder / "chroma.sqlite3").unlink()
    store = opened(folder)
    assert [("is missing" in line, "\n" in line) for line in store.notices] == [(True, False)]
    assert store.count(ALICE, "steps") == 0
    put(store, ALICE, 0, 5)
    assert [path.name for path in folder.iterdir() if path.is_dir()] != []
    store.close()
    store = opened(folder)
    assert (store.notices, store.count(ALICE, "steps")) == ([], 5)
    store.close()


@pytest.mark.parametrize("where", ["all", "head"])
def test_garbage_in_the_database_is_removed(folder: Path, where: str) -> None:
    store = opened(folder)
    put(store, ALICE, 0, 100)
    store.close()
    database = folder / "chroma.sqlite3"
    noise = np.random.default_rng(0).bytes(100_000)
    database.write_bytes(noise if where == "all" else noise[:4096] + database.read_bytes()[4096:])
    store = opened(folder)
    assert (len(store.notices), store.count(ALICE, "steps")) == (1, 0)
    put(store, ALICE, 0, 3)
    assert store.count(ALICE, "steps") == 3
    store.close()


def test_a_database_damaged_in_the_middle_is_reported_then_removed(folder: Path) -> None:
    store = opened(folder)
    put(store, ALICE, 0, 300)
    store.close()
    database = folder / "chroma.sqlite3"
    content = bytearray(database.read_bytes())
    content[8192:] = np.random.default_rng(0).bytes(len(content) - 8192)
    database.write_bytes(content)
    store = opened(folder)
    if not store.notices:
        with pytest.raises(CorruptFileError, match="damaged"):
            put(store, ALICE, 300, 500)
        store.close()
        store = opened(folder)
    assert len(store.notices) == 1
    put(store, ALICE, 0, 3)
    assert store.count(ALICE, "steps") == 3
    store.close()


# ------------------------------------------------------------------------------------------------------------- erasure


def test_an_erased_user_leaves_no_bytes_behind(folder: Path, hnsw: Callable[..., None]) -> None:
    hnsw(sync_threshold=10)
    store = opened(folder)
    for user, word in ((ALICE, "ALICECANARY"), (BOB, "BOBCANARY")):
        for start in range(0, 60, 7):
            names = [f"{word}-id-{i}" for i in range(start, start + 7)]
            vectors = np.stack([vector(user, i) for i in range(start, start + 7)])
            store.upsert(
                user, "items", names, vectors, [{"labels": [f"{word}-label"], "speaker": f"{word}-speaker"}] * 7
            )
        store.delete(user, "items", [f"{word}-id-3"])
    store.upsert(ALICE, "steps", ["ALICECANARY-step"], vector(ALICE, 0)[None, :], [{}])
    needles = ["ALICECANARY-speaker", "ALICECANARY-label", "ALICECANARY-id", ALICE, vector(ALICE, 0).tobytes()]
    assert all(files_with(folder, needle) for needle in needles)
    store.drop_user(ALICE)
    assert [files_with(folder, needle) for needle in needles] == [[]] * len(needles)
    assert len([path for path in folder.iterdir() if path.is_dir()]) == 1
    assert store.count(ALICE, "items") == 0
    assert store.count(BOB, "items") == 62
    assert store.query(BOB, "items", vector(BOB, 9), 1)[0][0] == "BOBCANARY-id-9"
    store.close()
    assert files_with(folder, "ALICECANARY") == []
    assert files_with(folder, "BOBCANARY") != []


@pytest.mark.skipif(sys.platform != "linux", reason="MALLOC_PERTURB_ is a setting of glibc")
@pytest.mark.parametrize("end", ["os._exit(0)", "store.close()"])
def test_files_of_a_new_index_hold_nothing_of_the_memory_they_were_made_in(
    folder: Path, monkeypatch: pytest.MonkeyPatch, end: str
) -> None:
    monkeypatch.setenv("MALLOC_PERTURB_", str(0xFF ^ ord("Z")))  # all memory is full of Z when it is handed out
    writing = """
        import os
        store = opened()
        for number in range(5):
            put(store, f"{number:032x}", 0, 3)
    """
    run(textwrap.dedent(writing) + end, folder)
    assert files_with(folder, b"Z" * 64) == []
    store = opened(folder)
    if end == "store.close()":
        assert store.query(f"{3:032x}", "steps", vector(f"{3:032x}", 2), 1)[0][0] == "2"
    store.close()


# ----------------------------------------------------------------------------------------------------- full, read-only


def test_a_full_disk_refuses_the_write_and_keeps_what_is_there(folder: Path) -> None:
    store = opened(folder)
    put(store, ALICE, 0, 5)
    store.close()
    store = opened(folder, min_free_bytes=1 << 60)
    with pytest.raises(StorageFullError, match="free some room"):
        put(store, ALICE, 5, 6)
    assert store.count(ALICE, "steps") == 5
    store.close()


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(HomeNotWritableError, match="file"):
        opened(tmp_path / "file" / "vectors")
