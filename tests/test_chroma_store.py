"""ChromaStore fulfils the contract of LangGraph's stores: InMemoryStore is the oracle."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langgraph.graph import START, StateGraph
from langgraph.runtime import Runtime
from langgraph.store.base import GetOp, ListNamespacesOp, MatchCondition, PutOp, SearchOp
from langgraph.store.memory import InMemoryStore
from typing_extensions import TypedDict

from hexamem.errors import EmbedderMismatchError, InvalidInputError, StoreClosedError
from hexamem.stores.chroma_store import ChromaStore
from hexamem.stores.embedders import open_embedder

EMBED = open_embedder("static")
INDEX: Any = {"dims": EMBED.dimension, "embed": lambda texts: np.asarray(EMBED.embed_documents(texts)).tolist()}
USER = ("memories", "alice")
NAMESPACES = [("a",), ("a", "b"), ("a", "b", "c"), ("b",), ("a b",), ("å", "😀")]
VALUES = st.fixed_dictionaries(
    {"text": st.sampled_from(["trains to Porto", "a red kitchen", "the violin lesson", "soup with leek"])},
    optional={
        "n": st.integers(-3, 3),
        "on": st.booleans(),
        "deep": st.fixed_dictionaries({"tag": st.sampled_from(["x", "y"])}),
        "list": st.lists(st.integers(0, 2), max_size=2),
        "none": st.none(),
    },
)
KEYS = st.sampled_from(["one", "two", "three", 'quo"te', "ключ"])
WRITES = st.lists(
    st.tuples(st.sampled_from(NAMESPACES), KEYS, st.one_of(st.none(), VALUES, VALUES)), min_size=1, max_size=8
)
FILTERS: list[Any] = [
    None, {"text": "a red kitchen"}, {"on": True}, {"deep": {"tag": "x"}}, {"deep": {"tag": {"$ne": "x"}}}, {"list": [1]},
    {"none": None}, {"n": {"$eq": 2}}, {"text": {"$ne": "soup with leek"}, "on": False},
]  # fmt: skip
CONDITIONS = [
    (), (MatchCondition("prefix", ("a",)),), (MatchCondition("suffix", ("b",)),), (MatchCondition("prefix", ("a", "*")),),
]  # fmt: skip


class Clock:
    now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


def opened(folder: Path, **options: Any) -> ChromaStore:
    return ChromaStore(folder / "store", **{"index": INDEX, **options})


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ChromaStore]:
    with opened(tmp_path_factory.mktemp("store")) as store:
        yield store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[ChromaStore]:
    with opened(tmp_path) as store:
        yield store


def values_of(items: Any) -> dict[tuple[Any, str], Any]:
    return {(item.namespace, item.key): item.value for item in items}


@settings(max_examples=25)
@given(
    writes=WRITES,
    second=WRITES,
    prefix=st.sampled_from([(), ("a",), ("a", "b"), ("å",)]),
    where=st.sampled_from(FILTERS),
    match=st.sampled_from(CONDITIONS),
)
def test_it_returns_what_the_store_in_memory_returns(
    shared: ChromaStore, writes: Any, second: Any, prefix: Any, where: Any, match: Any
) -> None:
    shared.batch([PutOp(item.namespace, item.key, None) for item in shared.search((), limit=1_000)])
    oracle = InMemoryStore(index=INDEX)
    for some in (writes, second):
        ops = [PutOp(namespace, key, value) for namespace, key, value in some]
        read = GetOp(some[0][0], some[0][1])  # sees what was before the batch
        mine, theirs = shared.batch([*ops, read])[-1], oracle.batch([read])[0]
        for op in ops:  # one by one: the oracle cannot index a text twice in a batch
            oracle.batch([op])
        assert (mine and mine.value) == (theirs and theirs.value)
    assert values_of(shared.search(prefix, filter=where, limit=100)) == values_of(
        oracle.search(prefix, filter=where, limit=100)
    )
    near, right = (store.search(prefix, query="a train journey", filter=where, limit=100) for store in (shared, oracle))
    assert values_of(near) == values_of(right)
    score = {(item.namespace, item.key): item.score for item in right}
    assert [item.score for item in near] == pytest.approx([score[item.namespace, item.key] for item in near], abs=1e-4)
    assert [item.score for item in near] == sorted((item.score for item in near), reverse=True)
    held = {item.namespace for item in oracle.search((), limit=100)}  # the oracle lists those that were emptied too
    listed = shared.batch([ListNamespacesOp(match, max_depth=2)])[0]
    expected = oracle.batch([ListNamespacesOp(match)])[0]
    assert listed == sorted({namespace[:2] for namespace in expected if namespace in held})


@pytest.mark.parametrize("low", [-3, 0, 3])
def test_numbers_are_compared(shared: ChromaStore, low: int) -> None:
    oracle = InMemoryStore()
    for store in (shared, oracle):
        for n in range(-3, 4):
            store.put(("numbers",), str(n), {"n": n})
    for operator in ("$gt", "$gte", "$lt", "$lte"):
        mine, theirs = (store.search(("numbers",), filter={"n": {operator: low}}) for store in (shared, oracle))
        assert values_of(mine) == values_of(theirs)


def test_pages_of_a_search_are_disjoint_and_complete_and_a_filter_costs_no_result(store: ChromaStore) -> None:
    store.batch([PutOp(USER, f"k{n}", {"text": f"note {n} about trains", "rare": n == 180}) for n in range(200)])
    store.put(("memories", "alice2"), "k", {"text": "trains of another user"})
    for query in (None, "trains"):
        pages = [store.search(USER, query=query, limit=90, offset=at) for at in (0, 90, 180)]
        assert [len(page) for page in pages] == [90, 90, 20]
        assert {item.key for page in pages for item in page} == {f"k{n}" for n in range(200)}
    assert [item.key for item in store.search(USER, query="train", filter={"rare": True}, limit=3)] == ["k180"]
    assert store.search(USER, limit=0) == []


def test_an_item_is_there_after_a_restart_with_the_time_at_which_it_was_made(tmp_path: Path) -> None:
    with opened(tmp_path) as first:
        first.put(USER, "home", {"text": "Alice moved to Porto"})
        created = first.get(USER, "home").created_at
    with opened(tmp_path) as again:
        again.put(USER, "home", {"text": "Alice moved to Cork"})
        item = again.get(USER, "home")
        assert (item.value, item.created_at) == ({"text": "Alice moved to Cork"}, created)
        assert item.updated_at > created
        assert [found.key for found in again.search(USER, query="where does Alice live")] == ["home"]
    with pytest.raises(EmbedderMismatchError, match="collection"):
        opened(tmp_path, index=False)


def test_an_item_scores_by_its_best_indexed_text_and_one_that_is_not_indexed_comes_last(tmp_path: Path) -> None:
    with opened(tmp_path, index={**INDEX, "fields": ["notes[*].text"]}) as store:
        store.put(USER, "a", {"notes": [{"text": "soup with leek"}, {"text": "trains to Porto"}]})
        store.put(USER, "plain", {"notes": [{"text": "trains to Porto"}]}, index=False)
        first, last = store.search(USER, query="trains to Porto")
        assert (first.key, first.score) == ("a", pytest.approx(1.0, abs=1e-3))
        assert (last.key, last.score) == ("plain", None)
        store.put(USER, "a", {"notes": [{"text": "soup with leek"}]})
        assert store.search(USER, query="trains to Porto")[0].score < 0.9
    with ChromaStore(tmp_path / "plain", index=False) as plain:
        plain.put(USER, "a", {"text": "x"})
        assert [item.score for item in plain.search(USER, query="x")] == [None]


def test_items_expire_are_refreshed_by_reads_and_swept_by_hand_or_by_writes(tmp_path: Path) -> None:
    clock = Clock()
    ttl = {"default_ttl": 10, "refresh_on_read": True, "sweep_interval_minutes": 60}
    with opened(tmp_path, ttl=ttl, clock=clock) as store:
        store.put(USER, "short", {"text": "a"})
        store.put(USER, "long", {"text": "b"}, ttl=None)
        for refresh in (None, False):
            clock.now += 9 * 60
            assert store.get(USER, "short", refresh_ttl=refresh) is not None
        clock.now += 2 * 60
        assert store.get(USER, "short") is None
        assert [item.key for item in store.search(USER)] == ["long"]
        assert (store.sweep_ttl(), store.sweep_ttl()) == (1, 0)
        store.put(USER, "short", {"text": "a"}, ttl=1)
        clock.now += 61 * 60
        store.put(USER, "other", {"text": "c"})
        assert store.sweep_ttl() == 0
        assert {item.key for item in store.search(USER)} == {"long", "other"}


def test_bad_values_filters_times_and_pages_are_refused_and_nothing_of_their_batch_is_written(
    store: ChromaStore,
) -> None:
    good = PutOp(USER, "good", {"n": 1})
    with pytest.raises(InvalidInputError, match="'bad'"):
        store.batch([good, PutOp(USER, "bad", {"n": {1, 2}})])
    pages: list[dict[str, Any]] = [{"limit": -1}, {"offset": -1}]
    for page in pages:
        with pytest.raises(InvalidInputError, match=f"{next(iter(page))} = -1"):
            store.batch([good, SearchOp(USER, **page)])
    for ttl in (0, -5, "5", True, float("nan"), float("inf")):
        with pytest.raises(InvalidInputError, match=r"ttl = .*give minutes above 0, or None"):
            store.put(USER, "good", {"text": "a"}, ttl=ttl)  # type: ignore[arg-type]
    for where in ({"n": {"$in": [1]}}, {"meta": {"n": {"$in": [1]}}}, {"n": {"$eq": 1, "in": [1]}}):
        with pytest.raises(InvalidInputError, match="is not an operator of a filter"):
            store.search(("nothing", "here"), filter=where)
    assert store.search(("nothing", "here"), filter={"meta": {"n": {"$gte": 1}}}) == []
    assert store.get(USER, "good") is None


def test_closing_waits_for_what_another_thread_reads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = opened(tmp_path)
    store.put(USER, "a", {"text": "x"})
    get, reading, closing = store._get, threading.Event(), threading.Event()

    def slow(op: GetOp) -> Any:
        reading.set()
        closing.wait(0.3)  # nothing else is to happen meanwhile
        return get(op)

    monkeypatch.setattr(store, "_get", slow)
    with ThreadPoolExecutor(1) as pool:
        read = pool.submit(store.get, USER, "a")
        reading.wait()
        store.close()
        closing.set()
        item = read.result()
    assert item is not None
    assert item.value == {"text": "x"}


async def test_it_works_under_asyncio_and_refuses_calls_once_it_is_closed(tmp_path: Path) -> None:
    async with opened(tmp_path) as store:
        await asyncio.gather(*(store.aput(USER, f"k{n}", {"text": f"note {n}"}) for n in range(5)))
        assert {item.key for item in await store.asearch(USER, query="note")} == {f"k{n}" for n in range(5)}
        await store.adelete(USER, "k0")
        assert await store.aget(USER, "k0") is None
        assert await store.alist_namespaces(prefix=("memories",)) == [USER]
    for call in (lambda: store.get(USER, "a"), lambda: store.put(USER, "b", {"text": "y"}), store.sweep_ttl):
        with pytest.raises(StoreClosedError, match="closed before this call; open it again"):
            call()


def test_nodes_of_a_graph_and_langmems_tools_run_on_it(store: ChromaStore) -> None:
    class State(TypedDict, total=False):
        found: list[str]

    def node(state: State, runtime: Runtime[Any]) -> State:
        assert runtime.store is not None
        runtime.store.put(("graph",), "k", {"text": "trains to Porto"})
        return {"found": [item.key for item in runtime.store.search(("graph",), query="train")]}

    builder = StateGraph(State)
    builder.add_node("node", node)
    builder.add_edge(START, "node")
    assert builder.compile(store=store).invoke({})["found"] == ["k"]
    langmem = pytest.importorskip("langmem", reason="langmem is not installed")
    config = {"configurable": {"user_id": "alice"}}
    manage = langmem.create_manage_memory_tool(namespace=("memories", "{user_id}"), store=store)
    search = langmem.create_search_memory_tool(namespace=("memories", "{user_id}"), store=store)
    key = manage.invoke({"content": "Alice moved to Porto", "action": "create"}, config).split()[-1]
    assert "Porto" in json.dumps(search.invoke({"query": "where does Alice live"}, config))
    manage.invoke({"content": "Alice moved to Cork", "action": "update", "id": key}, config)
    assert "Cork" in json.dumps(search.invoke({"query": "where does Alice live"}, config))
    manage.invoke({"action": "delete", "id": key}, config)
    assert store.search(USER) == []
