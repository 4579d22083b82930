"""Labelling on the write path: before indexing, once a step, restored after a stop, and never in the way of anything."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import chromadb
import pytest
from chromadb.config import Settings as ChromaSettings
from langchain_core.embeddings import DeterministicFakeEmbedding

from hexamem import Memory, Settings, UserMemory
from hexamem.errors import ConfigError, UndoRefusedError
from hexamem.intent.contract import LabelBatch
from hexamem.memory_types.labels import Label
from hexamem.models.encoder import open_encoder
from hexamem.stores.ledger import changed_steps

from .word_labeler import WordLabeler

Traces = Callable[..., list[str]]
CANARY = "zanzibarquokka"


class Labelers:
    """Makes labelers and remembers them; while ``failing`` they raise."""

    def __init__(self) -> None:
        self.made: list[WordLabeler] = []
        self.failing = False

    def __call__(self, user: str) -> WordLabeler:
        owner = self

        class Faulty(WordLabeler):
            def label(self, steps: Any) -> LabelBatch:
                if owner.failing:
                    raise RuntimeError("out of words")
                return super().label(steps)

        self.made.append(Faulty(user))
        return self.made[-1]


@pytest.fixture
def labelers() -> Labelers:
    return Labelers()


def opened(home: Path, labelers: Callable[[str], WordLabeler], **options: Any) -> Memory:
    settings = Settings(background=False, mode="off")
    return Memory.open(home, labeler=labelers, **{"settings": settings, "embedder": "static", **options})


@pytest.fixture
def memory(tmp_path: Path, labelers: Labelers) -> Iterator[Memory]:
    with opened(tmp_path / "home", labelers) as memory:
        yield memory


def says(user: UserMemory, *texts: str, **options: Any) -> list[str]:
    return list(user.remember(list(texts), **options).step_ids)


def dense(user: UserMemory, label_id: str) -> set[str]:
    return {step for step, _ in user.memory.lexical.label_density(user.key, {label_id: 1.0}, 100)}


def test_steps_are_labelled_before_indexing_and_found_by_resolved_words(memory: Memory, alice: UserMemory) -> None:
    steps = says(alice, "scope:Work entity:spreadsheet done", "entity:report a report", "please send it onwards")
    assert memory.projector.catch_up("alice") == 2 * len(steps)  # each index takes each step in once
    with memory.ledger.read("alice") as tx:
        first, second, third = (change for change, _ in changed_steps(tx, 0))
    assert [second, third] == [first + 1, first + 2]
    assert dense(alice, alice.labels.show("Work").id) == set(steps)
    for query in ("report", "onwards", "it"):
        assert steps[2] in [hit.id for hit in alice.recall(query, strategy="bm25", kinds="step")], query
    assert steps[0] not in [hit.id for hit in alice.recall("onwards", strategy="bm25")]
    assert alice.recall("onwards").hits[0].text == "please send it onwards"
    stored = memory.vectors.vectors(alice.key, "steps", steps)
    (resolved,) = memory.embedder.embed_documents(["please send report onwards"])
    assert stored[steps[2]] @ resolved == pytest.approx(1, abs=1e-3)


def test_labelers_see_ordered_steps_without_secrets(tmp_path: Path, labelers: Labelers) -> None:
    with opened(tmp_path / "home", labelers, embedder=DeterministicFakeEmbedding(size=8)) as memory:
        alice = memory.user("alice")
        alice.remember([{"role": "user", "name": "Alice", "content": "good morning"}], "one")
        alice.remember([{"role": "assistant", "content": "the password is hunter2-x9Q"}], "two")
        alice.flush()
        for text in ("scope:Work three", "four"):
            says(alice, text)
            alice.flush()
    (labeler,) = labelers.made  # one for all batches
    (entry, other), *_ = labeler.given
    assert (entry.speaker, entry.thread_id, entry.turn, entry.text) == ("Alice", "one", 0, "good morning")
    assert (other.role, other.speaker, other.thread_id) == ("assistant", "assistant", "two")
    assert "hunter2" not in other.text
    assert "vault:" not in other.text
    assert entry.vector @ open_encoder().vectors(["Alice: good morning"])[0] == pytest.approx(1, abs=0.02)


def test_labels_may_be_left_out_and_turned_on_later(tmp_path: Path, labelers: Labelers) -> None:
    with opened(tmp_path / "home", labelers, settings=Settings(background=False, labels="off")) as memory:
        user = memory.user("a")
        (step,) = says(user, "scope:Work hello")
        assert user.recall("hello").hits[0].scope is None
        assert user.labels.list() == ()
        with pytest.raises(KeyError, match="has no labels"):
            user.labels.of(step)
    assert labelers.made == []
    with opened(tmp_path / "home", labelers) as memory:
        says(memory.user("a"), "more")
        assert memory.user("a").labels.of(step).scope == "Work"
        assert step in dense(memory.user("a"), memory.user("a").labels.show("Work").id)
    with pytest.raises(ConfigError, match="input should be 'embedded' or 'off'"):
        Settings(labels="guess")  # type: ignore[arg-type]


def test_a_batch_that_fails_loses_nothing_is_tried_again_and_given_up_after_three_times_until_a_reindex(
    memory: Memory, alice: UserMemory, labelers: Labelers
) -> None:
    labelers.failing = True
    (step,) = says(alice, "scope:Work hello")
    recall = alice.recall("hello")
    (line,) = recall.degraded
    assert [hit.id for hit in recall] == [step]
    assert "could not be labelled and will be tried again" in line
    assert "(RuntimeError)" in line  # without its message, which may repeat a text
    labelers.failing = False
    again = alice.recall("hello")
    assert (again.hits[0].scope, again.degraded) == ("Work", ())
    assert dense(alice, alice.labels.show("Work").id) == {step}
    labelers.failing = True
    (failed,) = says(alice, "scope:Home hello")
    degraded = [alice.recall("hello").degraded for _ in range(4)]
    assert [len(lines) for lines in degraded] == [1, 1, 1, 0]
    assert "stay without labels until a reindex" in degraded[2][0]
    labelers.failing = False
    (later,) = says(alice, "scope:Work more")
    assert list(alice.labels.induced()) == [step, later]
    memory.reindex("alice")
    assert set(alice.labels.induced()) == {step, failed, later}


WRONG: list[Callable[[LabelBatch], LabelBatch]] = [
    lambda batch: LabelBatch(steps=batch.steps[1:], labels=batch.labels),  # a step is missing
    lambda batch: LabelBatch(steps=batch.steps[::-1], labels=batch.labels),  # another order
    lambda batch: LabelBatch(steps=batch.steps, labels=(Label(user="bob", kind="scope", name="x"),)),
    lambda batch: LabelBatch(steps=batch.steps),  # unknown labels
    lambda batch: LabelBatch(steps=(batch.steps[0], replace(batch.steps[1], confidence=None)), labels=batch.labels),
]


def test_an_answer_that_does_not_fit_is_a_failure(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    right = WordLabeler.label
    for number, wrong in enumerate(WRONG):
        monkeypatch.setattr(WordLabeler, "label", lambda self, steps, wrong=wrong: wrong(right(self, steps)))
        user = memory.user(f"user {number}")
        steps = says(user, "one", "two")
        recall = user.recall("one")
        assert ({hit.id for hit in recall}, len(recall.degraded), user.labels.induced()) == (set(steps), 1, {})


def test_a_revision_is_an_operation_that_is_undone_unless_a_person_corrected_it_since(alice: UserMemory) -> None:
    (first,) = says(alice, "scope:Work hello")
    alice.flush()
    says(alice, "scope:Home later:Home back again")
    assert alice.labels.of(first).scope == "Home"
    (done,) = alice.history(first)
    assert (done.kind, done.actor, [change.target for change in done.changes]) == ("relabel", "embedded", ["intent"])
    assert first in dense(alice, alice.labels.show("Home").id)
    moved = alice.labels.move(first, "Work")
    with pytest.raises(UndoRefusedError) as refused:
        alice.undo(done.id)
    assert refused.value.blockers == (moved.id,)
    alice.undo(moved.id)
    alice.undo(done.id)
    alice.flush()
    assert alice.labels.of(first).scope == "Work"
    assert dense(alice, alice.labels.show("Work").id) == {first}
    alice.labels.move(first, "Home")
    says(alice, "scope:Garden later:Garden flowers")
    assert (alice.labels.of(first).scope, alice.labels.of(first).tier) == ("Home", "user")


def test_a_labeler_may_rename_a_label_but_not_one_that_is_pinned(tmp_path: Path) -> None:
    class Renaming(WordLabeler):
        def label(self, steps: Any) -> LabelBatch:
            batch = super().label(steps)
            for label in list(self.labels.values()):
                if label.kind == "scope":
                    self.labels[label.id] = label.changed(name=f"{label.name}!")
            return LabelBatch(steps=batch.steps, labels=tuple(self.labels.values()))

    with opened(tmp_path / "home", Renaming) as memory:
        user = memory.user("a")
        says(user, "scope:Work hello", "scope:Home hello")
        user.labels.rename("Home!", "My home")
        says(user, "scope:Other hello")
        assert {label.name for label in user.labels.list("scope")} == {"Work!!", "My home", "Other!"}
        renamed = [done for done in user.history() if done.kind == "relabel"]
        assert [(change.after or {})["name"] for done in renamed for change in done.changes] == ["Work!!"]


def test_after_a_stop_a_labeler_goes_on_where_the_last_one_was(tmp_path: Path, labelers: Labelers) -> None:
    with opened(tmp_path / "home", labelers) as memory:
        says(memory.user("a"), *[f"scope:Work entity:Mia {n}" for n in range(40)], "scope:Home it is late")
        memory.flush()
        before = memory.user("a").labels.list()
    with opened(tmp_path / "home", labelers) as memory:
        user = memory.user("a")
        snippet = user.labels.of(says(user, "it rains")[0])
        assert (snippet.scope, snippet.resolved_text) == ("Home", "Mia rains")
        assert [label.name for label in user.labels.list()] == [label.name for label in before]
    labels, recent = labelers.made[-1].restored or ([], {})
    assert {label.id for label in labels} == {label.id for label in before}
    late, longest = sorted(recent.values(), key=len)
    assert [step.step.text for step in longest] == [f"scope:Work entity:Mia {n}" for n in range(8, 40)]
    assert [(step.resolved_text, step.summary) for step in late] == [
        ("scope:Home Mia is late", "scope:Home Mia is late")
    ]


def test_a_labeler_is_restored_after_labels_were_changed(memory: Memory, labelers: Labelers, tmp_path: Path) -> None:
    memory.user("bob").remember("hello", "elsewhere")
    memory.user("bob").export(tmp_path / "bob.jsonl")
    changes: dict[str, Callable[[UserMemory, list[str], str], object]] = {
        "rename": lambda user, steps, done: user.labels.rename("Office", "Desk"),
        "undo": lambda user, steps, done: user.undo(done),
        "forget": lambda user, steps, done: user.forget(steps[:1]),
        "redact": lambda user, steps, done: user.redact("two", caption="a number"),
        "import": lambda user, steps, done: user.import_(tmp_path / "bob.jsonl"),
    }
    for name, change in changes.items():
        user = memory.user(name)
        steps = says(user, "scope:Work one", "scope:Work two")
        done = user.labels.rename("Work", "Office")
        says(user, "three")
        user.flush()
        change(user, steps, done.id)
        before = len(labelers.made)
        says(user, "four")
        user.flush()
        assert len(labelers.made) == before + 1, name
        restored = labelers.made[-1].restored
        assert restored is not None
        texts = [step.step.text for recent in restored[1].values() for step in recent]
        assert ("scope:Work one" in texts) == (name != "forget")
        assert not any("two" in text for text in texts) or name != "redact"


def rows(home: Path) -> list[str]:
    with closing(sqlite3.connect(home / "ledger.sqlite3")) as database:
        tables = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return [f"{table}: {row}" for table in tables for row in database.execute(f"SELECT * FROM {table}")]


def fill(user: UserMemory, word: str) -> list[str]:
    """Put the word into names, gists, resolved texts, summaries and the history of labels."""
    steps = says(user, f"scope:{word} entity:{word} hello", "I like it", "scope:other event:plan nothing")
    user.flush()
    says(user, "later:elsewhere and on")
    user.labels.rename(f"scope:{word}", f"about {word}")
    user.labels.split(f"about {word}", [steps[1]], f"more {word}")
    user.flush()
    return steps


@pytest.mark.embedded
def test_erasing_and_redacting_leave_no_label_nor_text_of_one(
    tmp_path: Path, labelers: Labelers, traces: Traces
) -> None:
    home = tmp_path / "home"
    with opened(home, labelers) as memory:
        user = memory.user("alice")
        steps = fill(user, CANARY)
        assert {"labels", "scopes", "intents", "changes"} <= {row.split(":")[0] for row in rows(home) if CANARY in row}
        assert CANARY in user.labels.of(steps[1]).resolved_text
        user.redact(CANARY, caption="a place")
        assert traces(home, CANARY) == []
        shown = [user.labels.list(), user.history(), [user.labels.of(step) for step in steps]]
        assert CANARY not in str(shown)
        assert user.labels.of(steps[0]).entities == ("Entity 1",)
        assert user.recall(CANARY, strategy="bm25").hits == ()
        user.undo(next(done for done in user.history() if done.kind == "split").id)
        assert len(user.labels.list("scope")) == 3
        assert user.erase().rows["intents"] == 4
        fill(user, CANARY)
        user.erase()
        assert [row for row in rows(home) if CANARY in row] == []
        says(user, "scope:new hello")
        assert [label.name for label in user.labels.list("scope")] == ["new"]
    assert traces(home, CANARY) == []


def test_an_export_carries_labels_which_join_those_of_the_same_name(
    memory: Memory, alice: UserMemory, tmp_path: Path
) -> None:
    steps, file = fill(alice, "Porto"), tmp_path / "alice.jsonl"
    assert alice.export(file)["intents"] == 4
    bob, carl = memory.user("bob"), memory.user("carl")
    bob.import_(file)
    assert bob.labels.induced() == alice.labels.induced()
    assert [label.model_dump() for label in bob.labels.list()] == [label.model_dump() for label in alice.labels.list()]
    assert [bob.labels.of(step).resolved_text for step in steps] == [
        alice.labels.of(step).resolved_text for step in steps
    ]
    for label in alice.labels.list():
        assert dense(bob, label.id) == dense(alice, label.id)
    bob.undo(next(done for done in bob.history() if done.kind == "split").id)
    assert ["more Porto" in [label.name for label in user.labels.list()] for user in (bob, alice)] == [False, True]
    (own,) = says(carl, "scope:other entity:Mia good morning", thread_id="own")
    carl.flush()
    carl.import_(file)
    theirs = alice.labels.show("scope:other").step_ids
    assert {hit.id for hit in carl.recall("hello", k=10, where={"labels": ["other"]})} == {own, *theirs}
    alice.labels.move(steps[0], "scope:other")
    alice.import_(file)
    assert alice.labels.of(steps[0]).scope == "other"


@pytest.mark.embedded
def test_chroma_holds_labels_by_name_and_follows_when_renamed(tmp_path: Path, labelers: Labelers) -> None:
    with opened(tmp_path / "home", labelers) as memory:
        user = memory.user("a")
        trip, work = says(user, "scope:Trip/Day event:plan entity:Mia hello", "scope:Work hello")
        user.flush()
        vector = memory.embedder.embed_query("hello")
        hits = memory.vectors.query(user.key, "steps", vector, 9, any_of={"scope": ["Trip / Day"]})
        assert [step for step, _ in hits] == [trip]
        user.labels.rename("Trip", "Lisbon")
        user.flush()
    client = chromadb.PersistentClient(str(tmp_path / "home" / "chroma"), ChromaSettings(anonymized_telemetry=False))
    (name,) = [collection.name for collection in client.list_collections() if collection.name.endswith("steps")]
    collection = client.get_collection(name, embedding_function=None)
    shown = collection.get(where={"scope": "Lisbon / Day"}, include=["metadatas"])
    metadata = dict((shown["metadatas"] or [{}])[0])
    assert abs(float(str(metadata.pop("time"))) - time.time()) < 600
    assert (shown["ids"], metadata.pop("events"), metadata.pop("entities")) == ([trip], ["plan"], ["Mia"])
    own = {"type": "step", "thread": "default", "role": "user", "speaker": "user", "scope": "Lisbon / Day"}
    assert metadata == own
    assert collection.get(where={"scope": "Work"}, include=[])["ids"] == [work]
    assert collection.get(where={"entities": {"$contains": "Mia"}}, include=[])["ids"] == [trip]
    client.close()
