"""Checks for those who implement Hexamem's protocols. Plain assertions: call them from any test framework."""

from __future__ import annotations

import uuid
from collections.abc import Sequence

import numpy as np

from hexamem.stores.vectors.protocol import FloatArray, Metadata, Part, VectorStore

__all__ = ["check_vector_store"]

_DIMENSION = 8


def check_vector_store(store: VectorStore) -> None:
    """Check that a :class:`hexamem.VectorStore` does what Hexamem relies on.

    It writes under owners of its own, named at random, and erases them at the end; the store is not closed.

    Args:
        store: an open store.

    Raises:
        AssertionError: names the method and what it returned.
    """
    owners = [f"{uuid.uuid4().hex}.{uuid.uuid4().hex}" for _ in range(3)]
    try:
        _check_empty(store, owners[0])
        _check_records(store, owners[0])
        _check_filter(store, owners[0])
        _check_apart(store, owners[0], owners[1])
        _check_deletion(store, owners[0], owners[1])
        _check_many(store, owners[2])
    finally:
        for owner in owners:
            store.drop_user(owner)
    for owner in owners:
        _check_empty(store, owner)


def _vectors(count: int, seed: int = 0) -> FloatArray:
    return np.random.default_rng(seed).standard_normal((count, _DIMENSION)).astype(np.float32)


def _put(
    store: VectorStore,
    owner: str,
    ids: Sequence[str],
    vectors: FloatArray,
    metadatas: Sequence[Metadata] | None = None,
    part: Part = "steps",
) -> None:
    store.upsert(owner, part, ids, vectors, metadatas or [{}] * len(ids), fingerprint="f1")


def _equal(actual: object, expected: object, what: str) -> None:
    assert actual == expected, f"{what}: {actual!r} instead of {expected!r}"


def _check_empty(store: VectorStore, owner: str) -> None:
    vector = _vectors(1)[0]
    _equal(store.query(owner, "steps", vector, 3), [], "query of an owner without records")
    _equal(store.get(owner, "steps", ["a"]), {}, "get of an owner without records")
    _equal(store.get(owner, "steps", None), {}, "get of all records of an owner without any")
    _equal(store.ids(owner, "steps"), set(), "ids of an owner without records")
    _equal(store.count(owner, "steps"), 0, "count of an owner without records")
    _equal(store.fingerprint(owner, "steps"), None, "fingerprint of an owner without records")
    store.delete(owner, "steps", ["a"])
    store.delete(owner, "steps", None)


def _check_records(store: VectorStore, owner: str) -> None:
    axes = np.eye(_DIMENSION, dtype=np.float32)
    _put(store, owner, ["same", "other", "against"], np.stack([axes[0], axes[1], -2 * axes[0]]))
    nearest = [(record_id, round(score, 3)) for record_id, score in store.query(owner, "steps", 3 * axes[0], 9)]
    _equal(nearest, [("same", 1.0), ("other", 0.0), ("against", -1.0)], "query: ids with cosine similarity, best first")
    _equal(len(store.query(owner, "steps", axes[0], 2)), 2, "number of records of a query with k=2")
    _equal(store.ids(owner, "steps"), {"same", "other", "against"}, "ids")
    _equal(store.count(owner, "steps"), 3, "count")
    _equal(store.fingerprint(owner, "steps"), "f1", "fingerprint after an upsert")
    fetched = store.get(owner, "steps", ["other", "unknown"])
    _equal(set(fetched), {"other"}, "get passes over unknown ids")
    vector = np.asarray(fetched["other"])
    assert np.allclose(vector / np.linalg.norm(vector), axes[1], atol=1e-4), f"get: another vector came back: {vector}"
    _equal(set(store.get(owner, "steps", None)), {"same", "other", "against"}, "get without ids")
    _put(store, owner, ["other"], axes[2:3])
    _equal(store.count(owner, "steps"), 3, "count after a record was replaced")
    _equal(store.query(owner, "steps", axes[2], 1)[0][0], "other", "query after a record was replaced")


def _check_filter(store: VectorStore, owner: str) -> None:
    metadatas: list[Metadata] = [
        {"type": "step", "time": 1, "scope": "Trip / Day 1", "events": ["plan", "book"]},
        {"type": "step", "time": 2, "scope": "Work", "entities": ["旅行", "Mia's dog"]},
        {"type": "step", "time": 3},
    ]
    vectors = np.eye(_DIMENSION, dtype=np.float32)[:3]
    _put(store, owner, ["trip", "work", "bare"], vectors, metadatas, "items")

    def labelled(**any_of: list[str]) -> set[str]:
        return {record_id for record_id, _ in store.query(owner, "items", vectors[0], 9, any_of=any_of)}

    _equal(labelled(scope=["Trip / Day 1"]), {"trip"}, "query(any_of) by a value")
    _equal(labelled(events=["book", "unknown"]), {"trip"}, "query(any_of) by a value in a list")
    _equal(labelled(entities=["旅行"], scope=["Trip / Day 1"]), {"trip", "work"}, "query(any_of) by several keys")
    _equal(labelled(entities=["Mia's dog"]), {"work"}, "query(any_of) by a value with a quote")
    _equal(labelled(events=["boo"]), set(), "query(any_of) by a part of a value")
    _equal(labelled(), set(), "query(any_of) without values")
    _put(store, owner, ["trip"], vectors[:1], [{"type": "step", "events": ["pay"]}], "items")
    _equal(labelled(events=["plan"], scope=["Trip / Day 1"]), set(), "query(any_of) by metadata that was replaced")


def _check_apart(store: VectorStore, owner: str, other: str) -> None:
    before = store.ids(owner, "steps")
    _put(store, other, ["same", "theirs"], _vectors(2))
    _equal(store.ids(owner, "steps"), before, "ids after another owner stored records")
    _equal(store.ids(other, "pages"), set(), "ids of a part that nothing was stored in")
    _equal(store.get(owner, "steps", ["theirs"]), {}, "get of a record of another owner")


def _check_deletion(store: VectorStore, owner: str, other: str) -> None:
    store.delete(owner, "steps", ["same", "unknown"])
    _equal(store.ids(owner, "steps"), {"other", "against"}, "ids after a record was deleted")
    _equal(store.ids(other, "steps"), {"same", "theirs"}, "ids of another owner after a record was deleted")
    store.delete(owner, "steps", None)
    _equal(store.count(owner, "steps"), 0, "count after a part was deleted")
    _equal(store.fingerprint(owner, "steps"), None, "fingerprint after a part was deleted")
    _equal(store.count(owner, "items"), 3, "count of another part after one was deleted")
    store.drop_user(owner)
    _equal(store.count(owner, "items"), 0, "count after the owner was erased")
    _equal(store.ids(other, "steps"), {"same", "theirs"}, "ids of another owner after an erasure")


def _check_many(store: VectorStore, owner: str) -> None:
    vectors = _vectors(6_000, seed=1)
    ids = [str(number) for number in range(len(vectors))]
    _put(store, owner, ids, vectors)
    _equal(store.count(owner, "steps"), 6_000, "count after 6,000 records in one call")
    nearest = [store.query(owner, "steps", vectors[number], 1)[0][0] for number in range(0, 6_000, 600)]
    _equal(nearest, ids[::600], "query for records that are there, among 6,000")
