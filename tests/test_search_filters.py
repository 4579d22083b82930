"""Recall in special lights: former words, local time, kinds, superseded items, shared ledgers, a slow embedder."""
# ruff: noqa: F811 - fixtures come by import

from __future__ import annotations

import threading
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from langchain_core.embeddings import DeterministicFakeEmbedding

from hexamem import Memory, Settings, UserMemory

from .ledger_databases import NewDatabase, new_database  # noqa: F401

QUIET = Settings(background=False, mode="off")


def test_an_item_is_found_as_it_was_known_then_after_edits_removals_and_successors(alice: UserMemory) -> None:
    job = alice.add({"kind": "semantic", "name": "job", "summary": "works as a zookeeper"})
    old = alice.add({"kind": "semantic", "name": "home", "summary": "lives in Lisbon"})
    then = datetime.now(UTC)
    alice.edit(job.id, summary="works as a pilot")
    alice.add({"kind": "semantic", "name": "home", "summary": "lives in Porto"}, supersedes=old.id)
    assert alice.recall("zookeeper", strategy="bm25").hits == ()
    (hit,) = alice.recall("zookeeper", strategy="bm25", known_at=then).hits
    assert (hit.id, "zookeeper" in hit.text) == (job.id, True)
    alice.remove(job.id)
    assert [hit.id for hit in alice.recall("zookeeper", strategy="bm25", known_at=then).hits] == [job.id]
    hits = alice.recall("where does she live", known_at=then, strategy="bm25").hits
    assert [(hit.id, hit.superseded) for hit in hits] == [(old.id, False)]


def test_the_prompt_text_shows_the_local_day_on_which_it_was_stated(memory: Memory) -> None:
    wei = memory.user("wei", timezone="Asia/Shanghai")
    wei.remember({"role": "user", "content": "Dentist this morning.", "timestamp": "2024-03-11 07:00"})
    recall = wei.recall("dentist")
    assert recall.text == "[2024-03-11 07:00] user: Dentist this morning."
    assert recall.hits[0].occurred_at == datetime(2024, 3, 10, 23, tzinfo=UTC)


def test_kinds_and_the_time_of_an_event_filter_hits(alice: UserMemory) -> None:
    alice.remember(["The boat is called Luna.", "Luna sails on Sunday."])
    alice.add({"kind": "semantic", "name": "Luna", "summary": "a boat"})
    assert [{hit.kind for hit in alice.recall("Luna", kinds=kind).hits} for kind in ("semantic", "step")] == [
        {"semantic"}, {"step"},
    ]  # fmt: skip
    alice.add({"kind": "episodic", "summary": "went to the zoo", "occurred_at": "2024-05-01T00:00:00Z"})
    counts = [len(alice.items("episodic", as_of=at)) for at in ("2021-01-01", "2024-05-01T00:00:00Z")]
    assert (counts, alice.recall("zoo", as_of="2021-01-01", kinds="episodic").hits) == ([0, 1], ())


def test_a_superseded_item_comes_after_what_replaced_it_by_every_strategy(alice: UserMemory) -> None:
    old = alice.add({"kind": "semantic", "name": "tide", "summary": "tables of the harbour"})
    new = alice.add({"kind": "semantic", "name": "tide", "summary": "tables of the harbour"}, supersedes=old.id)
    for query in ("no", "1 2 3", "quarterly tax return", "???", "goalkeeper"):  # a cosine below zero is not halved
        assert [hit.id for hit in alice.recall(query, strategy="dense").hits] == [new.id, old.id], query
    ids: list[str] = []
    for summary in (
        "marmot marmot marmot",
        "marmot marmot and nothing else",
        "otter",
        "marmot was the word of long ago, as far as anybody still knows",
    ):
        former = {"supersedes": ids[-1]} if ids else {}
        ids.append(alice.add({"kind": "semantic", "name": "wifi", "summary": summary}, **former).id)
    hits = [hit.id for hit in alice.recall("marmot", strategy="bm25").hits]  # the otter between is not found
    assert hits == [ids[3], ids[1], ids[0]]


def test_a_plain_match_is_not_buried_under_what_is_around_it_and_odd_questions_are_answered(alice: UserMemory) -> None:
    alice.remember([f"fact number {number} about topic{number}" for number in range(40)])
    tops = [alice.recall(f"topic{number}", k=1).hits[0].text for number in range(0, 40, 5)]
    assert tops == [f"fact number {number} about topic{number}" for number in range(0, 40, 5)]
    for word in ("a" * 100 + "-(", "once " * 60 + "!", "我要" * 60):
        assert alice.recall(f"What is topic7 after {word}").hits


class SlowEmbedding(DeterministicFakeEmbedding):
    """Waits in a query until it may go on."""

    asked: Any
    may_go_on: Any

    def embed_query(self, text: str) -> list[float]:
        if text == "slow":
            self.asked.set()
            self.may_go_on.wait(20)
        return super().embed_query(text)


def test_a_slow_embedder_of_one_user_keeps_no_other_from_redacting(tmp_path: Path) -> None:
    slow = SlowEmbedding(size=8, asked=threading.Event(), may_go_on=threading.Event())
    with Memory.open(tmp_path / "home", embedder=slow, settings=QUIET) as memory:
        alice, bob = memory.user("alice"), memory.user("bob")
        alice.remember("hello")
        bob.remember("His name is Bartholomew.")
        alice.flush()
        waiting = threading.Thread(target=lambda: alice.recall("slow"))
        waiting.start()
        assert slow.asked.wait(10)
        receipt = bob.redact("Bartholomew", caption="a name")
        slow.may_go_on.set()
        waiting.join()
    assert len(receipt.step_ids) == 1


def test_two_homes_on_one_ledger_each_find_what_either_stored_and_nothing_that_either_erased(
    tmp_path: Path, new_database: NewDatabase
) -> None:
    options: Any = {"ledger_url": new_database(), "embedder": "static", "settings": QUIET}
    with Memory.open(tmp_path / "one", **options) as one, Memory.open(tmp_path / "two", **options) as two:
        one.user("alice").remember("The dog is called Rex.")
        assert [len(memory.user("alice").recall("dog", strategy="bm25")) for memory in (one, two)] == [1, 1]
        two.user("alice").remember("The dog likes snow.")
        assert len(one.user("alice").recall("dog", strategy="bm25")) == 2
        two.user("alice").recall("dog")
        one.user("alice").erase()
        one.user("alice").remember(["The cat sleeps.", "The cat eats."])
        assert {hit.text for hit in two.user("alice").recall("dog")} == {"The cat sleeps.", "The cat eats."}
        assert two.notices == []


def test_a_user_who_was_erased_and_begun_anew_by_another_home_is_indexed_anew_without_a_notice(
    tmp_path: Path, new_database: NewDatabase
) -> None:
    options: Any = {"ledger_url": new_database(), "embedder": "static", "settings": QUIET}
    with Memory.open(tmp_path / "two", **options) as two:
        for name in ("alice", "ben"):
            two.user(name).remember(["The dog is called Rex.", "The dog likes snow."])
            two.user(name).flush()
    with Memory.open(tmp_path / "one", **options) as one:
        for name in ("alice", "ben"):
            one.user(name).erase()
        one.user("alice").remember("The cat sleeps.")
    with Memory.open(tmp_path / "two", **options) as two:
        assert [hit.text for hit in two.user("alice").recall("dog", strategy="dense")] == ["The cat sleeps."]
        assert two.user("ben").recall("dog").hits == ()
        for name, steps in (("alice", 1), ("ben", 0)):
            key = two.user(name).key
            assert (two.vectors.count(key, "steps"), two.lexical.count(key)) == (steps, steps)
        assert two.notices == []


def test_another_text_under_a_known_id_is_reported(alice: UserMemory) -> None:
    both = [{"role": "user", "content": text, "id": "q"} for text in ("first", "second")]
    assert "came again with another text" in alice.remember(both).degraded[0]
    assert alice.remember(both[0]).degraded == ()
    assert "'q' came again" in alice.remember(both[1]).degraded[0]


class Chatting(DeterministicFakeEmbedding):
    """Each time it embeds documents, another message arrives: as if the user's writer were as fast as the indexes."""

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        if arriving:
            arriving.pop()()
        return super().embed_documents(texts)


arriving: list[Any] = []


def test_a_recall_and_a_flush_wait_for_what_was_stored_before_them_and_for_nothing_later(tmp_path: Path) -> None:
    settings = Settings(background=False, mode="off", labels="off")
    with Memory.open(tmp_path / "home", embedder=Chatting(size=16), settings=settings) as memory:
        alice = memory.user("alice")
        alice.remember([f"The heron came {number} times." for number in range(80)])
        arriving.extend([lambda: alice.remember("And again.")] * 50)
        for call in (lambda: alice.recall("heron", strategy="dense"), memory.flush):
            left = len(arriving)
            call()
            assert left - len(arriving) <= 4
        arriving.clear()
