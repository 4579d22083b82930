"""Vector stores: right answers, many users, unclean stops, damaged files, erasure, and stores of one's own."""

from __future__ import annotations

import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import chromadb
import numpy as np
import pytest
from chromadb.config import Settings as ChromaSettings
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

import hexamem
from hexamem import Memory, Settings
from hexamem.errors import (
    ConfigError,
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
from .word_labeler import WordLabeler


def example_of_the_documentation() -> Any:
    """The vector store of the page for implementers, which consists of dictionaries."""
    page = Path(__file__).parents[1].joinpath("docs", "vector-stores.md").read_text("utf-8")
    names: dict[str, Any] = {}
    exec(page.partition("```python\n")[2].partition("from hexamem import Memory")[0], names)
    return names["MemoryVectorStore"]


MemoryVectorStore: Any = example_of_the_documentation()
D = 16
HOME = "0123456789abcdef" * 2
ALICE, BOB = "a11ce000" * 2, "b0b00000" * 2
QUIET = Settings(background=False, mode="off")

# A session as another process sees it: how the store is opened, and vectors that both sides can make.
PREAMBLE = """
import os, sys
from pathlib import Path
import numpy as np
from hexamem.stores.vectors import VectorIndex, chroma
from hexamem.stores.vectors.chroma import ChromaVectorStore
FOLDER, ALICE, BOB = Path(sys.argv[1]), "a11ce000" * 2, "b0b00000" * 2
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
    vectors = np.stack([vector(user, i) for i in range(start, stop)])
    ids = [str(i) for i in range(start, stop)]
    store.upsert(user, "steps", ids, vectors, [{"time": i} for i in range(start, stop)])


def nearest(store: VectorIndex, user: str, i: int) -> str:
    return store.query(user, "steps", vector(user, i), 1)[0][0]


def opened(
    folder: Path, *, dimension: int = D, fingerprint: str = "f1", matrix: dict[str, int] | None = None, **chroma: int
) -> VectorIndex:
    store = ChromaVectorStore(folder, **{"min_free_bytes": 0, **chroma})
    return VectorIndex(store, home=HOME, embedder="m", dimension=dimension, fingerprint=fingerprint, **(matrix or {}))


def assert_usable(folder: Path, store: VectorIndex) -> None:
    """A store that lost alice's records takes new ones, and has them after it is opened again without a notice."""
    assert store.count(ALICE, "steps") == 0
    put(store, ALICE, 0, 4)
    store.close()
    store = opened(folder)
    assert (store.notices, store.count(ALICE, "steps"), nearest(store, ALICE, 3)) == ([], 4, "3")
    store.close()


def client_of(folder: Path) -> Any:
    return chromadb.PersistentClient(str(folder), ChromaSettings(anonymized_telemetry=False))


def program(body: str, folder: Path) -> list[str]:
    return [*python(), "-c", PREAMBLE + textwrap.dedent(body), str(folder)]


def run(body: str, folder: Path) -> str:
    done = run_program(PREAMBLE + textwrap.dedent(body), str(folder))
    assert done.returncode == 0, f"{done.returncode}: {done.stderr[-2000:]}"
    return done.stdout


def files_with(folder: Path, needle: str | bytes) -> list[str]:
    wanted = needle.encode() if isinstance(needle, str) else needle
    return [path.name for path in folder.rglob("*") if path.is_file() and wanted in path.read_bytes()]


@pytest.fixture
def hnsw(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Sets parameters of the graphs that are made from now on."""
    return lambda **values: monkeypatch.setattr(chroma, "_HNSW", {**chroma._HNSW, **values})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "vectors"


@pytest.fixture
def store(folder: Path) -> Iterator[VectorIndex]:
    store = opened(folder)
    yield store
    store.close()


# -- answers ---------------------------------------------------------------------------------------------------------


def test_stores_pass_the_checks_for_implementers_which_name_what_is_wrong(folder: Path, tmp_path: Path) -> None:
    class Forgetful(MemoryVectorStore):
        def delete(self, owner: str, part: Any, ids: Any) -> None:
            if ids is None:
                super().delete(owner, part, ids)

    with pytest.raises(AssertionError, match="ids after a record was deleted"):
        check_vector_store(Forgetful())
    check_vector_store(MemoryVectorStore())
    embedded, client = ChromaVectorStore(folder), client_of(tmp_path / "client")
    check_vector_store(embedded)
    check_vector_store(ChromaVectorStore(client))
    embedded.close()
    client.close()


@hypothesis_settings(max_examples=15)
@given(data=st.data())
def test_any_history_answers_as_a_dictionary_would(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("history")
    rows, budget = data.draw(st.sampled_from([0, 9, 12_000])), data.draw(st.sampled_from([0, 1, 16]))
    small: dict[str, Any] = {"matrix": {"matrix_rows": rows, "matrix_bytes": 256 * D * 4 * budget}, "max_loaded": 2}
    store, users = opened(folder, **small), [ALICE, BOB, "c0ffee00"]
    truth: dict[str, dict[str, np.ndarray]] = {user: {} for user in users}
    ids = st.lists(st.sampled_from("abcdefghijklmnop"), min_size=1, max_size=8, unique=True)
    for turn in range(data.draw(st.integers(4, 15))):
        user = data.draw(st.sampled_from(users))
        match data.draw(st.sampled_from(["upsert", "upsert", "delete", "reset", "reopen"])):
            case "upsert":
                names = data.draw(ids)
                vectors = np.random.default_rng(turn).standard_normal((len(names), D))
                store.upsert(user, "items", names, vectors, [{}] * len(names))
                truth[user].update(zip(names, vectors.astype(np.float32), strict=True))
            case "delete":
                names = data.draw(ids)
                store.delete(user, "items", [*names, "unknown"])
                for name in names:
                    truth[user].pop(name, None)
            case "reset":
                store.reset(user, "items")
                truth[user].clear()
            case "reopen":
                store.close()
                store = opened(folder, **small)
        check(store, user, truth[user])
    for user in users:
        check(store, user, truth[user])
    store.close()


def check(store: VectorIndex, user: str, expected: dict[str, np.ndarray]) -> None:
    query = np.random.default_rng(len(expected)).standard_normal(D).astype(np.float32)
    cosines = {name: float(v @ query / np.linalg.norm(v) / np.linalg.norm(query)) for name, v in expected.items()}
    best = sorted(cosines, key=lambda name: -cosines[name])
    assert store.ids(user, "items") == set(expected)
    for k in (5, 50_000):
        for hits in (
            store.query(user, "items", query, k),
            store.query(user, "items", query, k),  # the second time a small collection is compared as a whole
            store.query_among(user, "items", query, list("abcdefghijklmnopq"), k),
        ):
            assert [name for name, _ in hits] == best[:k]
            np.testing.assert_allclose([score for _, score in hits], [cosines[name] for name in best[:k]], atol=1e-5)


def test_a_search_among_ids_and_one_of_a_small_collection_are_exact_though_a_graph_is_not(
    folder: Path, hnsw: Callable[..., None]
) -> None:
    hnsw(max_neighbors=2, ef_search=2, ef_construction=2)  # a graph of so few links misses records
    store = opened(folder, matrix={"matrix_rows": 400, "matrix_bytes": 450 * D * 4})
    for user, count in ((ALICE, 400), (BOB, 401)):
        put(store, user, 0, count)
        matrix = np.stack([vector(user, i) for i in range(count)])
        matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)
        store.query(user, "steps", vector(user, 0), 1)
        missed = 0
        for seed in range(10):
            random = np.random.default_rng(seed)
            query = random.standard_normal(D).astype(np.float32)
            order = [str(i) for i in np.argsort(-(matrix @ query))]
            missed += len(set(order[:20]) - {name for name, _ in store.query(user, "steps", query, 20)})
            chosen = {str(i) for i in random.choice(count, 40 * (seed % 5 + 1), replace=False)}
            among = store.query_among(user, "steps", query, [*chosen, "unknown"], 20)
            assert [name for name, _ in among] == [name for name in order if name in chosen][:20]
        assert (missed == 0) == (user == ALICE)
    store.close()


# -- metadata --------------------------------------------------------------------------------------------------------


def test_labels_are_arrays_that_anyone_can_filter_by_and_leave_with_their_record(folder: Path) -> None:
    store, vectors = opened(folder), np.stack([vector(ALICE, i) for i in range(3)])
    store.upsert(ALICE, "items", ["c"], vectors[:1], [{"labels": ["old", "food"]}])
    metadatas: list[Any] = [{"labels": ["travel", "food"], "time": 1}, {"labels": ["food"]}, {"labels": []}]
    store.upsert(ALICE, "items", ["a", "b", "c"], vectors, metadatas)
    with pytest.raises(ValueError, match="metadata"):
        store.upsert(ALICE, "items", ["x"], vectors[:1], [{"a": {"nested": 1}}])  # type: ignore[dict-item]
    store.close()
    client = client_of(folder)
    collection = client.get_collection(f"hexamem.{HOME}.{ALICE}.items", embedding_function=None)
    by_label = {
        label: collection.get(where={"labels": {"$contains": label}})["ids"] for label in ("food", "travel", "old")
    }
    assert by_label == {"food": ["a", "b"], "travel": ["a"], "old": []}
    shown = collection.get()
    metadata = dict(zip(shown["ids"], shown["metadatas"], strict=True))
    assert metadata == {"a": {"labels": ["travel", "food"], "time": 1}, "b": {"labels": ["food"]}, "c": None}
    client.close()


@pytest.mark.parametrize("drop", ["reset", "drop_user"])
def test_labels_of_a_dropped_collection_never_appear_on_another_users_records(folder: Path, drop: str) -> None:
    # Chroma's own delete_collection leaves array values behind and uses their row ids again.
    store = opened(folder)
    store.upsert(ALICE, "items", ["a", "b"], np.eye(D)[:2], [{"labels": ["CANARY"]}] * 2)
    store.reset(ALICE, "items") if drop == "reset" else store.drop_user(ALICE)
    store.upsert(BOB, "items", ["c", "d"], np.eye(D)[:2], [{"time": 1}] * 2)
    store.close()
    body = f"""
    import chromadb
    collection = chromadb.PersistentClient(str(FOLDER)).get_collection("hexamem.{HOME}.{BOB}.items", embedding_function=None)
    print(collection.get()["metadatas"])
    """
    assert run(body, folder) == "[{'time': 1}, {'time': 1}]\n"


# -- bad input -------------------------------------------------------------------------------------------------------


def test_unacceptable_arguments_are_named_and_store_nothing(store: VectorIndex) -> None:
    zeros = np.zeros((1, D))
    calls: list[tuple[Callable[[], object], type[Exception], str]] = [
        (lambda: store.query("", "steps", zeros[0], 1), MissingUserError, "without a user"),
        (lambda: store.query("../x", "steps", zeros[0], 1), InvalidInputError, "'../x'"),
        (lambda: store.query(ALICE, "stepz", zeros[0], 1), InvalidInputError, "'stepz'"),  # type: ignore[arg-type]
        (lambda: store.query(ALICE, "steps", np.zeros(D + 1), 1), InvalidInputError, r"\(17,\)"),
        (lambda: store.query(ALICE, "steps", np.full(D, np.nan), 1), InvalidInputError, "finite"),
        (lambda: store.query(ALICE, "steps", zeros[0], 0), InvalidInputError, "k=0"),
        (lambda: store.upsert(ALICE, "steps", ["a"], np.zeros((1, D + 1)), [{}]), InvalidInputError, r"\(1, 17\)"),
        (lambda: store.upsert(ALICE, "steps", ["a"], zeros, []), InvalidInputError, "0 metadatas|and 0"),
        (lambda: store.upsert(ALICE, "steps", ["a", "a"], np.zeros((2, D)), [{}] * 2), InvalidInputError, "twice"),
        (lambda: store.upsert(ALICE, "steps", ["a"], zeros + np.inf, [{}]), InvalidInputError, "'a'"),
    ]
    for call, error, message in calls:
        with pytest.raises(error, match=message):
            call()
    assert store.count(ALICE, "steps") == 0
    store.close()
    store.close()
    with pytest.raises(StoreClosedError, match="closed"):
        store.count(ALICE, "steps")


def test_vectors_of_another_embedder_are_refused_until_the_collection_is_reset_and_so_is_a_full_disk(
    folder: Path, tmp_path: Path
) -> None:
    store = opened(folder)
    put(store, ALICE, 0, 5)
    store.close()
    for dimension in (D, 8):
        store = opened(folder, fingerprint="f2", dimension=dimension)
        with pytest.raises(EmbedderMismatchError, match=r"fingerprint f1, but .*hexamem reembed"):
            store.query(ALICE, "steps", np.ones(dimension), 1)
        with pytest.raises(EmbedderMismatchError):
            store.upsert(ALICE, "steps", ["x"], np.ones((1, dimension)), [{}])
        store.close()
    store = opened(folder, fingerprint="f2", dimension=8)
    store.reset(ALICE, "steps")
    store.upsert(ALICE, "steps", ["x"], np.ones((1, 8)), [{}])
    assert store.ids(ALICE, "steps") == {"x"}
    store.reset(ALICE, "steps")
    store.close()
    store = opened(folder)
    put(store, ALICE, 0, 5)
    store.close()
    store = opened(folder, min_free_bytes=1 << 60)
    with pytest.raises(StorageFullError, match="free some room"):
        put(store, ALICE, 5, 6)
    assert store.count(ALICE, "steps") == 5
    store.close()
    (tmp_path / "file").write_text("")
    with pytest.raises(HomeNotWritableError, match="file"):
        opened(tmp_path / "file" / "vectors")


# -- many users ------------------------------------------------------------------------------------------------------


def test_many_users_under_few_file_handles_all_get_right_answers(folder: Path) -> None:
    body = """
    import resource, psutil
    resource.setrlimit(resource.RLIMIT_NOFILE, (128, 128))
    store, rng = opened(sync=20), np.random.default_rng(0)
    users = [f"{i:08x}" for i in range(40)]
    sizes = {}
    for user in users:
        put(store, user, 0, 15)
        sizes[user] = 15
    wrong = handles = 0
    recent = []
    for user in rng.choice(users, 100):
        if rng.random() < 0.5:
            put(store, user, sizes[user], sizes[user] + 1)
            sizes[user] += 1
        recent = [*recent[-9:], user]
        # Those used some calls ago are loaded still, with records that are in no file yet.
        for looked in (user, recent[0]):
            number = sizes[looked] - 1
            hits = store.query(looked, "steps", vector(looked, number), 3)
            wrong += [hits[0][0], len(hits), len(store.ids(looked, "steps"))] != [str(number), 3, sizes[looked]]
        handles = max(handles, psutil.Process().num_fds())
    store.close()
    print(wrong, handles < 128)
    """
    assert run(body, folder) == "0 True\n"


def test_threads_may_share_a_store_while_generations_change(folder: Path) -> None:
    store, users, problems = opened(folder, max_loaded=2), [f"{i:08x}" for i in range(6)], list[str]()

    def work(number: int) -> None:
        random = np.random.default_rng(number)
        try:
            for turn in range(8):
                user, name = users[int(random.integers(6))], f"{number}-{turn}"
                query = vector(user, number * 1000 + turn)
                store.upsert(user, "items", [name], query[None, :], [{"n": turn}])
                hits = store.query(user, "items", query, 1) + store.query_among(user, "items", query, [name], 1)
                if [hit for hit, _ in hits] != [name, name]:
                    problems.append(f"{name}: {hits}")
                if random.random() < 0.3:
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


# -- unclean stops ---------------------------------------------------------------------------------------------------


def test_everything_is_there_after_closing_and_after_a_process_that_ended_between_calls(folder: Path) -> None:
    opened(folder).close()
    body = 'store = opened(); print("chromadb" in sys.modules); put(store, BOB, 0, 1); print("chromadb" in sys.modules)'
    command = [sys.executable, "-c", PREAMBLE + body, str(folder)]  # the first call that needs vectors loads Chroma
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "False\nTrue\n"
    store = opened(folder)
    store.drop_user(BOB)
    store.drop_user(ALICE)
    put(store, ALICE, 0, 130)
    store.close()
    run("store = opened(); put(store, BOB, 0, 10); os._exit(0)", folder)
    store = opened(folder)
    assert (store.notices, store.count(BOB, "steps")) == ([], 10)
    assert store.ids(ALICE, "steps") == {str(i) for i in range(130)}
    assert [nearest(store, ALICE, i) for i in range(0, 130, 9)] == [str(i) for i in range(0, 130, 9)]
    store.close()


@pytest.mark.parametrize(("writing", "end"), [(True, "os._exit(0)"), (False, "os.abort()")])
def test_a_call_that_was_cut_off_clears_its_collection_and_no_other(folder: Path, writing: bool, end: str) -> None:
    store = opened(folder)
    for user in (ALICE, BOB):
        put(store, user, 0, 10)
    store.close()
    body = f"""
    store = opened()
    with store.store._chroma.using("hexamem.{HOME}.{ALICE}.steps", writing={writing}):
        {end}
    """
    subprocess.run(program(body, folder), capture_output=True, timeout=300, check=False)
    store = opened(folder)
    assert [ALICE in notice for notice in store.notices] == [True]
    assert (store.count(BOB, "steps"), nearest(store, BOB, 3)) == (10, "3")
    assert_usable(folder, store)


# -- erasure ---------------------------------------------------------------------------------------------------------


def test_an_erased_user_leaves_no_bytes_behind(folder: Path, hnsw: Callable[..., None]) -> None:
    hnsw(sync_threshold=10)
    store = opened(folder)
    for user, word in ((ALICE, "ALICECANARY"), (BOB, "BOBCANARY")):
        for start in range(0, 60, 7):
            names = [f"{word}-id-{i}" for i in range(start, start + 7)]
            vectors = np.stack([vector(user, i) for i in range(start, start + 7)])
            metadata: Any = {"labels": [f"{word}-label"], "speaker": f"{word}-speaker"}
            store.upsert(user, "items", names, vectors, [metadata] * 7)
        store.delete(user, "items", [f"{word}-id-3"])
    store.upsert(ALICE, "steps", ["ALICECANARY-step"], vector(ALICE, 0)[None, :], [{}])
    needles = ["ALICECANARY-speaker", "ALICECANARY-label", "ALICECANARY-id", ALICE, vector(ALICE, 0).tobytes()]
    assert all(files_with(folder, needle) for needle in needles)
    store.drop_user(ALICE)
    assert [files_with(folder, needle) for needle in needles] == [[]] * len(needles)
    assert len([path for path in folder.iterdir() if path.is_dir()]) == 1
    assert (store.count(ALICE, "items"), store.count(BOB, "items")) == (0, 62)
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
    run(f"store = opened()\nfor number in range(5):\n    put(store, f'{{number:032x}}', 0, 3)\n{end}", folder)
    assert any(path.stat().st_size for path in folder.rglob("*.bin"))
    assert files_with(folder, b"Z" * 64) == []


# -- a memory on a store of one's own, or on a server ----------------------------------------------------------------


def test_a_memory_works_on_a_store_of_ones_own_and_rebuilds_what_it_has_lost(tmp_path: Path) -> None:
    options: Any = {"embedder": "static", "settings": QUIET}
    store = MemoryVectorStore()
    assert isinstance(store, hexamem.VectorStore)
    with Memory.open(tmp_path / "home", vector_store=store, **options) as memory:
        alice, bob = memory.user("alice"), memory.user("bob")
        (step,) = alice.remember("Ada planted twelve tulips").step_ids
        bob.remember("Boris tuned the harpsichord")
        assert alice.recall("flowers in the garden", strategy="dense").hits[0].id == step
        assert bob.recall("flowers", strategy="dense").hits[0].text == "Boris tuned the harpsichord"
        ((vector, metadata),) = [record[step] for record in store.records.values() if step in record]
        assert (vector.shape, metadata["thread"]) == ((memory.embedder.dimension,), "default")
        alice.erase()
        assert [set(record) for record in store.records.values() if record] == [{bob.steps()[0].id}]
    assert store.closed
    assert not (tmp_path / "home" / "chroma").exists()
    with Memory.open(tmp_path / "home", vector_store=MemoryVectorStore(), **options) as memory:
        assert memory.user("bob").recall("music", strategy="dense").hits[0].text == "Boris tuned the harpsichord"
        assert any("rebuilt" in notice for notice in memory.notices)
    with pytest.raises(ConfigError, match="vector_store=dict lacks a method"):
        Memory.open(tmp_path / "home", vector_store={}, **options)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="either chroma= or vector_store="):
        Memory.open(tmp_path / "home", vector_store=MemoryVectorStore(), chroma=object(), **options)


def test_homes_on_one_chroma_server_never_touch_each_others_collections(tmp_path: Path) -> None:
    client = client_of(tmp_path / "server")
    with (
        Memory.open(tmp_path / "a", embedder="static", chroma=client, settings=QUIET) as a,
        Memory.open(tmp_path / "b", embedder="static", chroma=client, settings=QUIET) as b,
    ):
        for memory, text in ((a, "Ada planted twelve tulips"), (b, "Boris tuned the harpsichord")):
            memory.user("yan").remember(text)
            memory.user("yan").flush()
        assert len({collection.name for collection in client.list_collections()}) == 2
        assert [hit.text for hit in b.user("yan").recall("tulips", strategy="dense")] == ["Boris tuned the harpsichord"]
        a.user("yan").erase()
        assert [hit.text for hit in b.user("yan").recall("music", strategy="dense")] == ["Boris tuned the harpsichord"]
        home = (tmp_path / "b" / "home.id").read_text().strip()
        remaining = [collection.name for collection in client.list_collections()]
        assert remaining == [f"hexamem.{home}.{b.user('yan').key}.steps"]
    client.close()


def test_the_label_lane_of_research_asks_the_store_for_steps_by_their_labels(tmp_path: Path) -> None:
    asked: list[dict[str, list[str]]] = []

    class Asked(MemoryVectorStore):
        def query(self, owner: str, part: Any, vector: Any, k: int, *, any_of: Any = None) -> list[tuple[str, float]]:
            if any_of is not None:
                asked.append({key: sorted(values) for key, values in any_of.items() if values})
            return super().query(owner, part, vector, k, any_of=any_of)

    options: Any = {"embedder": "static", "labeler": WordLabeler, "settings": QUIET}
    with Memory.open(tmp_path / "home", vector_store=Asked(), **options) as memory:
        user = memory.user("alice")
        messages = ["scope:Trip event:booking entity:ferry The ferry is booked", "scope:Work a long day"]
        (ferry, _) = user.remember(messages).step_ids
        assert ferry in [passage.id for passage in user.research("Trip", lanes=["intent"]).passages]
        assert {"scope": ["Trip"]} in asked
