"""ChromaStore keeps the contract of LangGraph's stores: InMemoryStore is the oracle."""

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
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from langgraph.graph import START, StateGraph
from langgraph.runtime import Runtime
from langgraph.store.base import GetOp, ListNamespacesOp, MatchCondition, PutOp, SearchOp
from langgraph.store.memory import InMemoryStore
from typing_extensions import TypedDict

from hexamem.errors import EmbedderMismatchError, InvalidInputError, StoreClosedError
from hexamem.stores.chroma_store import ChromaStore
from hexamem.stores.embedders import open_embedder

EMBED = open_embedder("bundled")
USER = ("memories", "alice")


def embed(texts: list[str]) -> list[list[float]]:
    return np.asarray(EMBED.embed_documents(texts)).tolist()


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ChromaStore]:
    with ChromaStore(tmp_path_factory.mktemp("store")) as opened:
        yield opened


class Clock:
    now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


NAMESPACES = st.sampled_from([("a",), ("a", "b"), ("a", "b", "c"), ("b",), ("a b",), ("å", "😀")])
KEYS = st.sampled_from(["one", "two", "three", 'quo"te', "ключ"])
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
WRITES = st.lists(st.tuples(NAMESPACES, KEYS, st.one_of(st.none(), VALUES, VALUES)), min_size=1, max_size=8)
FILTERS = st.sampled_from(
    [
        None,
        {"text": "a red kitchen"},
        {"on": True},
        {"deep": {"tag": "x"}},
        {"deep": {"tag": {"$ne": "x"}}},
        {"list": [1]},
        {"none": None},
        {"n": {"$eq": 2}},
        {"text": {"$ne": "soup with leek"}, "on": False},
    ]
)
CONDITIONS = st.sampled_from(
    [
        (),
        (MatchCondition("prefix", ("a",)),),
        (MatchCondition("suffix", ("b",)),),
        (MatchCondition("prefix", ("a", "*")),),
    ]
)


def read(items: Any) -> dict[tuple[Any, str], Any]:
    return {(one.namespace, one.key): one.value for one in items}


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    writes=WRITES,
    second=WRITES,
    prefix=st.sampled_from([(), ("a",), ("a", "b"), ("å",)]),
    where=FILTERS,
    match=CONDITIONS,
)
def test_it_gives_what_the_store_in_memory_gives(
    shared: ChromaStore, writes: Any, second: Any, prefix: Any, where: Any, match: Any
) -> None:
    shared._records.delete(where={"n": {"$gte": -1}})
    shared._listed.clear()
    oracle = InMemoryStore(index={"dims": EMBED.dimension, "embed": embed})
    for some in (writes, second):
        ops = [PutOp(namespace, key, value) for namespace, key, value in some]
        ops += [GetOp(some[0][0], some[0][1])]  # reads see what was before the batch
        mine, theirs = shared.batch(ops), oracle.batch(ops[-1:])
        for op in ops[:-1]:  # one by one: the oracle cannot index a text twice in a batch
            oracle.batch([op])
        assert (mine[-1] and mine[-1].value) == (theirs[-1] and theirs[-1].value)
    assert read(shared.search(prefix, filter=where, limit=100)) == read(oracle.search(prefix, filter=where, limit=100))
    near, right = (store.search(prefix, query="a train journey", filter=where, limit=100) for store in (shared, oracle))
    assert read(near) == read(right)
    score = {(one.namespace, one.key): one.score for one in right}
    assert [one.score for one in near] == pytest.approx([score[one.namespace, one.key] for one in near], abs=1e-4)
    assert [one.score for one in near] == sorted((one.score for one in near), reverse=True)
    held = {one.namespace for one in oracle.search((), limit=100)}  # the oracle lists those that were emptied too
    listed = shared.batch([ListNamespacesOp(match, max_depth=2)])[0]
    expected = oracle.batch([ListNamespacesOp(match)])[0]
    assert listed == sorted({one[:2] for one in expected if one in held})
    for namespace, key, _ in writes:
        mine, theirs = shared.get(namespace, key), oracle.get(namespace, key)
        assert (mine and mine.value) == (theirs and theirs.value)


@given(low=st.integers(-3, 3))
@settings(max_examples=3, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_numbers_are_compared(shared: ChromaStore, low: int) -> None:
    oracle = InMemoryStore()
    for store in (shared, oracle):
        for n in range(-3, 4):
            store.put(("numbers",), str(n), {"n": n})
    for operator in ("$gt", "$gte", "$lt", "$lte"):
        where = {"n": {operator: low}}
        assert read(shared.search(("numbers",), filter=where)) == read(oracle.search(("numbers",), filter=where))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[ChromaStore]:
    with ChromaStore(tmp_path / "store") as opened:
        yield opened


def test_pages_of_a_search_are_disjoint_and_complete(store: ChromaStore) -> None:
    store.batch([PutOp(USER, f"k{n}", {"text": f"note {n} about trains"}) for n in range(23)])
    for query in (None, "trains"):
        pages = [store.search(USER, query=query, limit=5, offset=at) for at in range(0, 25, 5)]
        assert [len(page) for page in pages] == [5, 5, 5, 5, 3]
        assert len({one.key for page in pages for one in page}) == 23


def test_a_filter_costs_no_result(store: ChromaStore) -> None:
    store.batch([PutOp(USER, f"k{n}", {"text": "the train to Porto", "rare": n == 180}) for n in range(200)])
    [found] = store.search(USER, query="train", filter={"rare": True}, limit=3)
    assert found.key == "k180"


def test_what_was_put_is_there_after_a_restart(tmp_path: Path) -> None:
    with ChromaStore(tmp_path / "store") as first:
        first.put(USER, "home", {"text": "Alice moved to Porto"})
        created = first.get(USER, "home").created_at
    with ChromaStore(tmp_path / "store") as again:
        again.put(USER, "home", {"text": "Alice moved to Cork"})
        item = again.get(USER, "home")
        assert (item.value, item.created_at) == ({"text": "Alice moved to Cork"}, created)
        assert item.updated_at > created
        assert [one.key for one in again.search(USER, query="where does Alice live")] == ["home"]


def test_an_item_scores_by_its_best_text_and_forgets_texts_that_it_had(tmp_path: Path) -> None:
    with ChromaStore(tmp_path / "store", index={"dims": EMBED.dimension, "fields": ["notes[*].text"]}) as store:
        store.put(USER, "a", {"notes": [{"text": "soup with leek"}, {"text": "trains to Porto"}]})
        store.put(USER, "b", {"notes": [{"text": "the violin lesson"}]})
        first = store.search(USER, query="trains to Porto")[0]
        assert (first.key, first.score) == ("a", pytest.approx(1.0, abs=1e-3))
        store.put(USER, "a", {"notes": [{"text": "soup with leek"}]})
        assert store.search(USER, query="trains to Porto")[0].score < 0.9


def test_what_is_not_indexed_comes_last_and_without_a_score(store: ChromaStore) -> None:
    store.put(USER, "plain", {"text": "trains to Porto"}, index=False)
    store.put(USER, "indexed", {"text": "soup with leek"}, index=["text"])
    assert [(one.key, one.score is None) for one in store.search(USER, query="trains to Porto")] == [
        ("indexed", False),
        ("plain", True),
    ]


def test_items_expire_are_refreshed_by_reads_and_swept(tmp_path: Path) -> None:
    clock = Clock()
    with ChromaStore(tmp_path / "store", ttl={"default_ttl": 10, "refresh_on_read": True}, clock=clock) as store:
        store.put(USER, "short", {"text": "a"})
        store.put(USER, "long", {"text": "b"}, ttl=None)
        clock.now += 9 * 60
        assert store.get(USER, "short") is not None
        clock.now += 9 * 60
        assert store.get(USER, "short", refresh_ttl=False) is not None
        clock.now += 2 * 60
        assert store.get(USER, "short") is None
        assert [one.key for one in store.search(USER)] == ["long"]
        assert store.sweep_ttl() == 1
        assert store.sweep_ttl() == 0
        assert store.get(USER, "long") is not None


def test_writes_sweep_when_it_is_time(tmp_path: Path) -> None:
    clock = Clock()
    with ChromaStore(tmp_path / "store", ttl={"sweep_interval_minutes": 5}, clock=clock) as store:
        store.put(USER, "short", {"text": "a"}, ttl=1)
        clock.now += 6 * 60
        store.put(USER, "other", {"text": "b"})
        assert [row["key"] for row in store._rows({"n": 0})] == ['"other"']


@pytest.mark.parametrize("ttl", [0, -5, "5", True, float("nan"), float("inf")])
def test_a_time_to_live_that_is_no_number_of_minutes_is_refused(store: ChromaStore, ttl: Any) -> None:
    with pytest.raises(InvalidInputError, match=r"ttl = .*give minutes above 0, or None"):
        store.put(USER, "short", {"text": "a"}, ttl=ttl)
    assert store.get(USER, "short") is None


async def test_a_store_is_left_asynchronously_too_and_closed_afterwards(tmp_path: Path) -> None:
    async with ChromaStore(tmp_path / "store") as store:
        await store.aput(USER, "a", {"text": "x"})
    for call in (lambda: store.get(USER, "a"), lambda: store.put(USER, "b", {"text": "y"}), store.sweep_ttl):
        with pytest.raises(StoreClosedError, match="closed before this call; open it again"):
            call()


def test_closing_waits_for_what_another_thread_reads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = ChromaStore(tmp_path / "store")
    store.put(USER, "a", {"text": "x"})
    get, reading, closing = store._get, threading.Event(), threading.Event()

    def slow(op: GetOp) -> Any:
        reading.set()
        closing.wait(0.5)  # nothing else is to happen meanwhile
        return get(op)

    monkeypatch.setattr(store, "_get", slow)
    with ThreadPoolExecutor(1) as pool:
        read = pool.submit(store.get, USER, "a")
        reading.wait()
        store.close()
        closing.set()
        found = read.result()
    assert found is not None
    assert found.value == {"text": "x"}


def test_a_value_that_is_no_json_is_refused_and_nothing_of_its_batch_is_written(store: ChromaStore) -> None:
    with pytest.raises(InvalidInputError, match="'bad'"):
        store.batch([PutOp(USER, "good", {"n": 1}), PutOp(USER, "bad", {"n": {1, 2}})])
    assert store.get(USER, "good") is None


def test_an_unknown_operator_is_refused_where_nothing_is_compared_too(store: ChromaStore) -> None:
    for where in ({"n": {"$in": [1]}}, {"meta": {"n": {"$in": [1]}}}, {"n": {"$eq": 1, "in": [1]}}):
        with pytest.raises(InvalidInputError, match="is no operator of a filter"):
            store.search(("nothing", "here"), filter=where)
    assert store.search(("nothing", "here"), filter={"meta": {"n": {"$gte": 1}}}) == []


def test_a_negative_limit_or_offset_is_refused_and_nothing_of_its_batch_is_written(store: ChromaStore) -> None:
    for page in ({"limit": -1}, {"offset": -1}):
        with pytest.raises(InvalidInputError, match=f"{next(iter(page))} = -1"):
            store.batch([PutOp(USER, "good", {"n": 1}), SearchOp(USER, **page)])
    assert store.get(USER, "good") is None
    assert store.search(USER, limit=0) == []


def test_another_embedder_is_refused(tmp_path: Path) -> None:
    ChromaStore(tmp_path / "store").close()
    with pytest.raises(EmbedderMismatchError, match="collection"):
        ChromaStore(tmp_path / "store", index=False)


def test_without_an_index_it_is_a_plain_store(tmp_path: Path) -> None:
    with ChromaStore(tmp_path / "store", index=False) as store:
        store.put(USER, "a", {"text": "x"})
        assert [one.score for one in store.search(USER, query="x")] == [None]


async def test_it_works_under_asyncio(store: ChromaStore) -> None:
    await asyncio.gather(*(store.aput(USER, f"k{n}", {"text": f"note {n}"}) for n in range(5)))
    assert {one.key for one in await store.asearch(USER, query="note")} == {f"k{n}" for n in range(5)}
    await store.adelete(USER, "k0")
    assert await store.aget(USER, "k0") is None
    assert await store.alist_namespaces(prefix=("memories",)) == [USER]


def test_users_in_namespaces_are_kept_apart(store: ChromaStore) -> None:
    store.put(("memories", "alice"), "k", {"text": "Alice likes tea"})
    store.put(("memories", "alice2"), "k", {"text": "Another likes tea"})
    assert [one.namespace for one in store.search(("memories", "alice"), query="tea")] == [("memories", "alice")]


def test_nodes_of_a_graph_reach_it(store: ChromaStore) -> None:
    class State(TypedDict, total=False):
        found: list[str]

    def node(state: State, runtime: Runtime[Any]) -> State:
        assert runtime.store is not None
        runtime.store.put(USER, "k", {"text": "trains to Porto"})
        return {"found": [one.key for one in runtime.store.search(USER, query="train")]}

    builder = StateGraph(State)
    builder.add_node("node", node)
    builder.add_edge(START, "node")
    assert builder.compile(store=store).invoke({})["found"] == ["k"]


def test_langmems_tools_run_on_it(store: ChromaStore) -> None:
    langmem = pytest.importorskip("langmem", reason="langmem is not installed")
    graph_config = {"configurable": {"user_id": "alice"}}
    manage = langmem.create_manage_memory_tool(namespace=("memories", "{user_id}"), store=store)
    search = langmem.create_search_memory_tool(namespace=("memories", "{user_id}"), store=store)
    told = manage.invoke({"content": "Alice moved to Porto", "action": "create"}, graph_config)
    key = told.split()[-1]
    assert "Porto" in json.dumps(search.invoke({"query": "where does Alice live"}, graph_config))
    manage.invoke({"content": "Alice moved to Cork", "action": "update", "id": key}, graph_config)
    assert "Cork" in json.dumps(search.invoke({"query": "where does Alice live"}, graph_config))
    manage.invoke({"action": "delete", "id": key}, graph_config)
    assert store.search(USER) == []


def test_a_search_op_may_have_any_prefix(store: ChromaStore) -> None:
    store.put(("a", "b"), "k", {"text": "x"})
    assert [one.key for one in store.batch([SearchOp(())])[0]] == ["k"]
