"""Vector stores as a user of Hexamem meets them: a store of one's own, and homes that share a Chroma server."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import chromadb
import pytest
from chromadb.config import Settings as ChromaSettings

import hexamem
from hexamem import Memory, Settings
from hexamem.errors import ConfigError

from .memory_vector_store import MemoryVectorStore
from .word_labeler import WordLabeler

QUIET = Settings(background=False, mode="off")


def test_a_memory_works_on_a_store_of_ones_own(tmp_path: Path) -> None:
    store = MemoryVectorStore()
    assert isinstance(store, hexamem.VectorStore)
    with Memory.open(tmp_path / "home", vector_store=store, settings=QUIET) as memory:
        alice, bob = memory.user("alice"), memory.user("bob")
        (step,) = alice.remember("Ada planted twelve tulips").step_ids
        alice.add({"kind": "semantic", "name": "Ada", "summary": "Ada is a gardener"})
        bob.remember("Boris tuned the harpsichord")
        assert alice.recall("flowers in the garden", strategy="dense").hits[0].text in (
            "Ada planted twelve tulips",
            "Ada is a gardener",
        )
        assert bob.recall("flowers", strategy="dense").hits[0].text == "Boris tuned the harpsichord"
        ((vector, metadata),) = [record[step] for record in store.records.values() if step in record]
        assert vector.shape == (memory.embedder.dimension,)
        assert metadata["thread"] == "default"
        alice.erase()
        assert [set(record) for record in store.records.values() if record] == [{bob.steps()[0].id}]
    assert store.closed
    assert not (tmp_path / "home" / "chroma").exists()


def test_vectors_that_a_store_has_lost_are_rebuilt(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "home", vector_store=MemoryVectorStore(), settings=QUIET) as memory:
        memory.user("alice").remember("Ada planted twelve tulips")
        memory.user("alice").flush()
    with Memory.open(tmp_path / "home", vector_store=MemoryVectorStore(), settings=QUIET) as memory:
        assert memory.user("alice").recall("tulips", strategy="dense").hits[0].text == "Ada planted twelve tulips"
        assert any("rebuilt" in notice for notice in memory.notices)


def test_what_is_no_store_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="vector_store=dict lacks a method"):
        Memory.open(tmp_path / "home", vector_store={}, settings=QUIET)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="either chroma= or vector_store="):
        Memory.open(tmp_path / "home", vector_store=MemoryVectorStore(), chroma=object(), settings=QUIET)


def test_homes_on_one_chroma_server_never_touch_each_others_collections(tmp_path: Path) -> None:
    client = chromadb.PersistentClient(str(tmp_path / "server"), ChromaSettings(anonymized_telemetry=False))
    with (
        Memory.open(tmp_path / "a", chroma=client, settings=QUIET) as a,
        Memory.open(tmp_path / "b", chroma=client, settings=QUIET) as b,
    ):
        for memory, text in ((a, "Ada planted twelve tulips"), (b, "Boris tuned the harpsichord")):
            memory.user("yan").remember(text)
            memory.user("yan").flush()
        assert len({collection.name for collection in client.list_collections()}) == 2
        assert [hit.text for hit in b.user("yan").recall("tulips", strategy="dense")] == ["Boris tuned the harpsichord"]
        a.user("yan").erase()
        assert [hit.text for hit in b.user("yan").recall("music", strategy="dense")] == ["Boris tuned the harpsichord"]
        home = (tmp_path / "b" / "home.id").read_text().strip()
        key = b.user("yan").key
        assert [one.name for one in client.list_collections()] == [f"hexamem.{home}.{key}.steps"]
    client.close()


def test_the_label_lane_of_research_asks_the_store_for_steps_by_their_labels(tmp_path: Path) -> None:
    asked: list[dict[str, list[str]]] = []

    class Asked(MemoryVectorStore):
        def query(self, owner: str, part: Any, vector: Any, k: int, *, any_of: Any = None) -> list[tuple[str, float]]:
            nearest = super().query(owner, part, vector, k, any_of=any_of)
            if any_of is not None:
                asked.append({key: sorted(values) for key, values in any_of.items() if values})
                assert nearest
            return nearest

    with Memory.open(tmp_path / "home", vector_store=Asked(), labeler=WordLabeler, settings=QUIET) as memory:
        user = memory.user("alice")
        (ferry, _) = user.remember(
            ["scope:Trip event:booking entity:ferry The ferry is booked", "scope:Work a long day"]
        ).step_ids
        found = user.research("Trip", lanes=["intent"])
        assert ferry in [passage.id for passage in found.passages]
        assert {"scope": ["Trip"]} in asked
