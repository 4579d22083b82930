"""Recall in special lights: former words, local time, kinds, what is no longer believed, a slow embedder."""

from __future__ import annotations

import threading
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from langchain_core.embeddings import DeterministicFakeEmbedding

from hexamem import Memory, Settings, UserMemory


def test_the_keyword_ranking_finds_an_item_by_the_words_it_had_then(alice: UserMemory) -> None:
    item = alice.add({"kind": "semantic", "name": "job", "summary": "works as a zookeeper"})
    then = datetime.now(UTC)
    alice.edit(item.id, summary="works as a pilot")
    found = alice.recall("zookeeper", strategy="bm25", known_at=then)
    assert [(hit.id, "zookeeper" in hit.text) for hit in found.hits] == [(item.id, True)]
    assert alice.recall("zookeeper", strategy="bm25").hits == ()


def test_an_item_that_was_removed_since_is_found_as_it_was(alice: UserMemory) -> None:
    item = alice.add({"kind": "semantic", "name": "job", "summary": "works as a zookeeper"})
    then = datetime.now(UTC)
    alice.remove(item.id)
    assert [hit.id for hit in alice.recall("zookeeper", strategy="bm25", known_at=then).hits] == [item.id]


def test_what_was_believed_then_is_not_called_outdated(alice: UserMemory) -> None:
    old = alice.add({"kind": "semantic", "name": "home", "summary": "lives in Lisbon"})
    then = datetime.now(UTC)
    alice.add({"kind": "semantic", "name": "home", "summary": "lives in Porto"}, supersedes=old.id)
    hits = alice.recall("where does she live", known_at=then).hits
    assert [(hit.id, hit.superseded) for hit in hits] == [(old.id, False)]


def test_the_prompt_text_shows_the_day_on_which_it_was_said(memory: Memory) -> None:
    wei = memory.user("wei", timezone="Asia/Shanghai")
    wei.remember({"role": "user", "content": "Dentist this morning.", "timestamp": "2024-03-11 07:00"})
    found = wei.recall("dentist")
    assert found.text == "[2024-03-11 07:00] user: Dentist this morning."
    assert found.hits[0].occurred_at == datetime(2024, 3, 10, 23, tzinfo=UTC)


def test_asked_for_items_alone_a_recall_gives_no_steps_and_the_other_way_round(alice: UserMemory) -> None:
    alice.remember(["The boat is called Luna.", "Luna sails on Sunday."])
    alice.add({"kind": "semantic", "name": "Luna", "summary": "a boat"})
    assert {hit.kind for hit in alice.recall("Luna", kinds="semantic").hits} == {"semantic"}
    assert {hit.kind for hit in alice.recall("Luna", kinds="step").hits} == {"step"}


def test_a_superseded_item_never_gains_by_its_penalty(alice: UserMemory) -> None:
    """A cosine below zero is not halved towards zero."""
    old = alice.add({"kind": "semantic", "name": "tide", "summary": "tables of the harbour"})
    new = alice.add({"kind": "semantic", "name": "tide", "summary": "tables of the harbour"}, supersedes=old.id)
    for query in ("no", "1 2 3", "quarterly tax return", "???", "goalkeeper"):
        order = [hit.id for hit in alice.recall(query, strategy="dense").hits]
        assert order == [new.id, old.id], query


def test_each_former_value_stands_after_what_took_its_place_though_one_between_is_not_found(alice: UserMemory) -> None:
    def value(summary: str, **options: str) -> str:
        return alice.add({"kind": "semantic", "name": "wifi", "summary": summary}, **options).id

    first = value("marmot marmot marmot")
    second = value("marmot marmot and nothing else", supersedes=first)
    third = value("otter", supersedes=second)
    last = value("marmot was the word of long ago, as far as anybody still knows", supersedes=third)
    assert [hit.id for hit in alice.recall("marmot", strategy="bm25").hits] == [last, second, first]


class SlowEmbedding(DeterministicFakeEmbedding):
    """Waits in a query until it is let go."""

    asked: Any
    let_go: Any

    def embed_query(self, text: str) -> list[float]:
        """Say that it was asked, then wait."""
        if text == "slow":
            self.asked.set()
            self.let_go.wait(20)
        return super().embed_query(text)


def test_a_slow_embedder_of_one_user_keeps_no_other_from_redacting(tmp_path: Path) -> None:
    slow = SlowEmbedding(size=8, asked=threading.Event(), let_go=threading.Event())
    with Memory.open(tmp_path / "home", embedder=slow, settings=Settings(background=False)) as memory:
        memory.user("alice").remember("hello")
        bob = memory.user("bob")
        bob.remember("His name is Bartholomew.")
        memory.user("alice").flush()
        waiting = threading.Thread(target=lambda: memory.user("alice").recall("slow"))
        waiting.start()
        assert slow.asked.wait(10)
        receipt = bob.redact("Bartholomew", caption="a name")
        slow.let_go.set()
        waiting.join()
    assert len(receipt.step_ids) == 1


def test_two_homes_on_one_ledger_each_find_what_either_stored(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'shared.sqlite3'}"
    quiet = Settings(background=False)
    with (
        Memory.open(tmp_path / "one", ledger_url=url, settings=quiet) as one,
        Memory.open(tmp_path / "two", ledger_url=url, settings=quiet) as two,
    ):
        one.user("alice").remember("The dog is called Rex.")
        assert len(one.user("alice").recall("dog", strategy="bm25")) == 1
        assert len(two.user("alice").recall("dog", strategy="bm25")) == 1
        two.user("alice").remember("The dog likes snow.")
        assert len(one.user("alice").recall("dog", strategy="bm25")) == 2


def test_a_plain_match_is_not_buried_under_what_stands_around_it(alice: UserMemory) -> None:
    alice.remember([f"fact number {number} about topic{number}" for number in range(40)])
    tops = [alice.recall(f"topic{number}", k=1).hits[0].text for number in range(40)]
    assert tops == [f"fact number {number} about topic{number}" for number in range(40)]


def test_an_event_is_not_true_before_it_happened(alice: UserMemory) -> None:
    alice.add({"kind": "episodic", "summary": "went to the zoo", "occurred_at": "2024-05-01T00:00:00Z"})
    assert alice.recall("zoo", as_of="2021-01-01").hits == ()
    assert alice.items("episodic", as_of="2021-01-01") == []
    assert len(alice.items("episodic", as_of="2024-05-01T00:00:00Z")) == 1


def test_another_text_under_a_known_id_is_told_of(alice: UserMemory) -> None:
    both = [{"role": "user", "content": text, "id": "q"} for text in ("first", "second")]
    assert "came again with another text" in alice.remember(both).degraded[0]
    assert alice.remember(both[0]).degraded == ()
    assert "'q' came again" in alice.remember(both[1]).degraded[0]
