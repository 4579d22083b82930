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
from hexamem.agents.labelling.intent_labeler import IntentLabeling
from hexamem.errors import ConfigError, InvalidInputError, UndoRefusedError
from hexamem.intent.contract import LabelBatch
from hexamem.memory_types.labels import Label
from hexamem.models.encoder import open_encoder
from hexamem.stores.ledger import changed_steps, user_key
from hexamem.stores.ledger.labels import read_labels, recent_steps

from .word_labeler import WordLabeler

Traces = Callable[..., list[str]]
CANARY = "zanzibarquokka"


class Labelers:
    """Makes labellers and remembers them."""

    def __init__(self) -> None:
        self.made: list[WordLabeler] = []
        self.failing = False

    def __call__(self, user: str) -> WordLabeler:
        made = _Faulty(user, self)
        self.made.append(made)
        return made

    def given(self) -> list[list[str]]:
        """The texts of every call."""
        return [[step.text for step in call] for one in self.made for call in one.given]


class _Faulty(WordLabeler):
    def __init__(self, user: str, owner: Labelers) -> None:
        super().__init__(user)
        self.owner = owner

    def label(self, steps: Any) -> LabelBatch:
        if self.owner.failing:
            self.given.append(tuple(steps))
            raise RuntimeError("out of words")
        return super().label(steps)


@pytest.fixture
def labelers() -> Labelers:
    return Labelers()


def opened(home: Path, labelers: Callable[[str], WordLabeler], **options: Any) -> Memory:
    return Memory.open(home, settings=Settings(background=False), labeler=labelers, **options)


@pytest.fixture
def memory(tmp_path: Path, labelers: Labelers) -> Iterator[Memory]:
    with opened(tmp_path / "home", labelers) as memory:
        yield memory


def say(user: UserMemory, *texts: str, **options: Any) -> list[str]:
    return list(user.remember([{"role": "user", "content": text} for text in texts], **options).step_ids)


def density(user: UserMemory, label_id: str) -> set[str]:
    return {found for found, _ in user.memory.lexical.label_density(user.key, {label_id: 1.0}, 100)}


# -- one pass ---------------------------------------------------------------------------------------------------------


def test_steps_are_labelled_before_they_are_indexed_and_written_once(memory: Memory, alice: UserMemory) -> None:
    steps = say(alice, "scope:Work entity:Mia hello", "entity:report a report", "where is it")
    assert memory.projector.catch_up("alice") == 2 * len(steps)  # each index takes each step in once
    with memory.ledger.read("alice") as tx:
        assert [change for change, _ in changed_steps(tx, 0)] == [1, 2, 3]
    assert density(alice, alice.labels.show("Work").id) == set(steps)


def test_a_step_is_found_by_its_resolved_words_and_by_its_own(alice: UserMemory) -> None:
    first, second = say(alice, "scope:Work entity:spreadsheet done", "please send it onwards")
    for query in ("spreadsheet", "onwards", "it"):
        assert second in [hit.id for hit in alice.recall(query, strategy="bm25", kinds="step")], query
    assert first not in [hit.id for hit in alice.recall("onwards", strategy="bm25")]
    assert alice.recall("onwards").hits[0].text == "please send it onwards"  # what was said, not what was made of it


def test_labelers_see_the_steps_in_order_with_their_words_and_vectors(alice: UserMemory, labelers: Labelers) -> None:
    alice.remember([{"role": "user", "name": "Alice", "content": "good morning"}], "one")
    alice.remember([{"role": "assistant", "content": "the password is hunter2-x9Q"}], "two")
    alice.flush()
    [(one, other)] = labelers.made[0].given
    assert (one.speaker, one.thread_id, one.turn, one.text) == ("Alice", "one", 0, "good morning")
    assert (other.role, other.speaker, other.thread_id) == ("assistant", "assistant", "two")
    assert "hunter2" not in other.text
    assert "vault:" not in other.text
    assert one.vector @ alice.memory.reading_embedder.embed_query("Alice: good morning") == pytest.approx(1, abs=1e-5)


def test_labels_are_made_with_the_encoder_whatever_embedder_the_home_has(tmp_path: Path, labelers: Labelers) -> None:
    with opened(tmp_path / "home", labelers, embedder=DeterministicFakeEmbedding(size=8)) as memory:
        say(memory.user("a"), "hello")
        memory.flush()
        assert labelers.made[0].given[0][0].vector.shape == (384,)


def test_the_vectors_in_the_index_are_those_of_the_resolved_texts(memory: Memory, alice: UserMemory) -> None:
    texts = ["entity:boat a boat", "I like it", "entity:boat a boat", "bye"]
    steps = say(alice, *texts)
    alice.flush()
    stored = memory.vectors.vectors(user_key("alice"), "steps", steps)
    resolved = ["entity:boat a boat", "I like boat", "entity:boat a boat", "bye"]
    for step_id, vector in zip(steps, open_encoder().vectors(resolved), strict=True):
        assert stored[step_id] @ vector == pytest.approx(1, abs=1e-3)


def test_labels_may_be_left_out(tmp_path: Path, labelers: Labelers) -> None:
    with Memory.open(tmp_path / "home", settings=Settings(background=False, labels="off"), labeler=labelers) as memory:
        user = memory.user("a")
        (step,) = say(user, "scope:Work hello")
        assert user.recall("hello").hits[0].scope is None
        assert user.labels.list() == ()
        with pytest.raises(KeyError, match="has no labels"):
            user.labels.of(step)
    assert labelers.made == []
    with opened(tmp_path / "home", labelers) as memory:  # turned on later, all are labelled
        say(memory.user("a"), "more")
        assert memory.user("a").labels.of(step).scope == "Work"
        assert density(memory.user("a"), memory.user("a").labels.show("Work").id) >= {step}


def test_a_tier_that_there_is_not_is_refused() -> None:
    with pytest.raises(ConfigError, match="input should be 'embedded', 'model', 'uncertain' or 'off'"):
        Settings(labels="guess")  # type: ignore[arg-type]


# -- failures ---------------------------------------------------------------------------------------------------------


def test_a_labeler_that_fails_loses_nothing_and_is_tried_again(
    memory: Memory, alice: UserMemory, labelers: Labelers
) -> None:
    labelers.failing = True
    (step,) = say(alice, "scope:Work hello")
    found = alice.recall("hello")
    assert [hit.id for hit in found] == [step]
    (line,) = found.degraded
    assert "could not be labelled and will be tried again" in line
    assert "out of words" in line
    labelers.failing = False
    again = alice.recall("hello")
    assert (again.hits[0].scope, again.degraded) == ("Work", ())
    assert density(alice, alice.labels.show("Work").id) == {step}  # the index took it in again


def test_a_batch_that_fails_three_times_is_given_up_until_a_reindex(
    memory: Memory, alice: UserMemory, labelers: Labelers
) -> None:
    labelers.failing = True
    (step,) = say(alice, "scope:Work hello")
    said = [alice.recall("hello").degraded for _ in range(5)]
    assert [len(lines) for lines in said] == [1, 1, 1, 0, 0]
    assert "stay without labels until a reindex" in said[2][0]
    labelers.failing = False
    (later,) = say(alice, "scope:Work more")
    assert list(alice.labels.induced()) == [later]
    memory.reindex("alice")
    assert set(alice.labels.induced()) == {step, later}


@pytest.mark.parametrize(
    "wrong",
    [
        lambda batch: LabelBatch(steps=batch.steps[1:], labels=batch.labels),
        lambda batch: LabelBatch(steps=batch.steps[::-1], labels=batch.labels),
        lambda batch: LabelBatch(steps=batch.steps, labels=(Label(user="bob", kind="scope", name="x"),)),
        lambda batch: LabelBatch(steps=batch.steps),
        lambda batch: LabelBatch(
            steps=(*batch.steps[:-1], replace(batch.steps[-1], confidence=None)),  # no column takes that
            labels=batch.labels,
        ),
    ],
)
def test_an_answer_that_does_not_fit_is_a_failure(
    memory: Memory, alice: UserMemory, monkeypatch: pytest.MonkeyPatch, wrong: Callable[[LabelBatch], LabelBatch]
) -> None:
    right = WordLabeler.label
    monkeypatch.setattr(WordLabeler, "label", lambda self, steps: wrong(right(self, steps)))
    steps = say(alice, "one", "two")
    found = alice.recall("one")
    assert {hit.id for hit in found} == set(steps)
    assert len(found.degraded) == 1
    assert alice.labels.induced() == {}


# -- revisions --------------------------------------------------------------------------------------------------------


def test_a_revision_is_an_operation_that_can_be_undone(memory: Memory, alice: UserMemory) -> None:
    (first,) = say(alice, "scope:Work hello")
    alice.flush()
    say(alice, "scope:Home later:Home back again")
    assert alice.labels.of(first).scope == "Home"
    (done,) = alice.history(first)
    assert (done.kind, done.actor, [c.target for c in done.changes]) == ("relabel", "embedded", ["intent"])
    work, home = alice.labels.show(done.changes[0].before["scope_id"]), alice.labels.show("Home")
    assert density(alice, home.id) >= {first}
    alice.undo(done.id)
    alice.flush()
    assert alice.labels.of(first).scope == "Work"
    assert density(alice, work.id) == {first}


def test_a_person_s_word_is_not_revised(alice: UserMemory) -> None:
    say(alice, "scope:Work hello", "scope:Garden flowers", thread_id="a")
    (last,) = say(alice, "scope:Work more", thread_id="b")
    alice.labels.move(last, "Garden")
    say(alice, "later:Home", thread_id="b")
    assert alice.labels.of(last).scope == "Garden"
    assert alice.labels.of(last).tier == "user"


class _Renaming(WordLabeler):
    """Names every scope anew with each batch."""

    def label(self, steps: Any) -> LabelBatch:
        batch = super().label(steps)
        for one in list(self.labels.values()):
            if one.kind == "scope":
                self.labels[one.id] = one.model_copy(update={"name": f"{one.name}!"})
        return LabelBatch(steps=batch.steps, labels=tuple(self.labels.values()))


def test_rules_may_rename_a_label_but_not_one_that_is_pinned(tmp_path: Path) -> None:
    with opened(tmp_path / "home", _Renaming) as memory:
        user = memory.user("a")
        say(user, "scope:Work hello", "scope:Home hello")
        user.labels.rename("Home!", "My home")
        say(user, "scope:Other hello")
        assert {one.name for one in user.labels.list("scope")} == {"Work!!", "My home", "Other!"}
        renamed = [done for done in user.history() if done.kind == "relabel"]
        assert [c.after["name"] for done in renamed for c in done.changes] == ["Work!!"]


# -- what a labeller knows --------------------------------------------------------------------------------------------


def test_a_labeler_is_kept_between_batches(alice: UserMemory, labelers: Labelers) -> None:
    for text in ("scope:Work one", "two", "three"):
        say(alice, text)
        alice.flush()
    assert len(labelers.made) == 1
    assert [one.scope for one in map(alice.labels.of, alice.labels.induced())] == ["Work"] * 3


def test_after_a_stop_a_labeler_takes_up_where_the_last_one_was(tmp_path: Path, labelers: Labelers) -> None:
    with opened(tmp_path / "home", labelers) as memory:
        say(memory.user("a"), *[f"scope:Work entity:Mia {n}" for n in range(40)], "scope:Home it is late")
        memory.flush()
        before = memory.user("a").labels.list()
    with opened(tmp_path / "home", labelers) as memory:
        user = memory.user("a")
        (step,) = say(user, "it rains")
        snippet = user.labels.of(step)
        assert (snippet.scope, snippet.resolved_text) == ("Home", "Mia rains")
        assert [one.name for one in user.labels.list()] == [one.name for one in before]
    labels, recent = labelers.made[-1].restored or ([], {})
    assert {one.id for one in labels} == {one.id for one in before}
    assert sorted(len(steps) for steps in recent.values()) == [1, 32]
    longest = max(recent.values(), key=len)
    assert [one.step.text for one in longest] == [f"scope:Work entity:Mia {n}" for n in range(8, 40)]
    [late] = min(recent.values(), key=len)
    assert (late.resolved_text, late.summary) == ("scope:Home Mia is late", "scope:Home Mia is late")


@pytest.mark.parametrize("change", ["rename", "undo", "forget", "redact", "import"])
def test_a_labeler_is_restored_after_labels_were_changed_by_others(
    alice: UserMemory, labelers: Labelers, tmp_path: Path, change: str
) -> None:
    steps = say(alice, "scope:Work one", "scope:Work two")
    done = alice.labels.rename("Work", "Office")
    say(alice, "three")
    alice.flush()
    assert len(labelers.made) == 2
    match change:
        case "rename":
            alice.labels.rename("Office", "Desk")
        case "undo":
            alice.undo(done.id)
        case "forget":
            alice.forget(steps[:1])
        case "redact":
            alice.redact("two", caption="a number")
        case "import":
            alice.memory.user("bob").remember("hello", "elsewhere")
            alice.memory.user("bob").export(tmp_path / "bob.jsonl")
            alice.import_(tmp_path / "bob.jsonl")
    say(alice, "four")
    alice.flush()
    last = labelers.made[-1]
    assert last.restored is not None
    texts = [one.step.text for recent in last.restored[1].values() for one in recent]
    assert ("scope:Work one" in texts) == (change != "forget")
    assert not any("two" in text for text in texts) or change != "redact"


def test_no_more_labelers_are_kept_than_allowed(memory: Memory, labelers: Labelers) -> None:
    memory.labelling = memory.projector.labelling = IntentLabeling(
        memory.ledger, labelers, open_encoder().vectors, lambda user, line: None, cached_users=2
    )
    for user in ("a", "b", "c", "c", "a"):
        say(memory.user(user), "hello")
        memory.user(user).flush()
    assert [one.user for one in labelers.made] == ["a", "b", "c", "a"]
    assert labelers.made[-1].restored is not None


def test_large_arrivals_are_labelled_in_batches(memory: Memory, labelers: Labelers) -> None:
    memory.labelling = memory.projector.labelling = IntentLabeling(
        memory.ledger, labelers, open_encoder().vectors, lambda user, line: None, batch=3
    )
    user = memory.user("a")
    steps = say(user, *[str(n) for n in range(8)])
    assert list(user.labels.induced()) == steps
    assert labelers.given() == [["0", "1", "2"], ["3", "4", "5"], ["6", "7"]]


def test_labels_of_one_name_are_one_even_if_a_labeler_forgot(memory: Memory, alice: UserMemory) -> None:
    class Forgetful(WordLabeler):
        def label(self, steps: Any) -> LabelBatch:
            self.labels, self.scope = {}, {}
            return super().label(steps)

    memory.labelling = memory.projector.labelling = IntentLabeling(
        memory.ledger, Forgetful, open_encoder().vectors, lambda user, line: None
    )
    for text in ("scope:Trip/Day one", "scope:Trip/Day two"):
        say(alice, text)
        alice.flush()
    assert {one.path: one.steps for one in alice.labels.list("scope")} == {"Trip": 0, "Trip / Day": 2}


# -- privacy ----------------------------------------------------------------------------------------------------------


def test_a_forgotten_step_leaves_no_word_in_what_its_scope_is_about(alice: UserMemory) -> None:
    steps = say(alice, f"scope:Work {CANARY} one", "two", f"scope:{CANARY} three")
    assert CANARY in alice.labels.show("Work").gist
    done = alice.forget([steps[0], steps[2]])
    assert CANARY not in str(alice.labels.list())
    with pytest.raises(KeyError) as refused:
        alice.labels.show("zanzibar")
    assert CANARY not in str(refused.value)
    assert list(alice.labels.induced()) == [steps[1]]
    alice.undo(done.id)
    assert list(alice.labels.induced()) == steps


def test_a_step_that_was_forgotten_before_it_was_labelled_is_labelled_when_it_is_back(alice: UserMemory) -> None:
    steps = say(alice, "one", "two")
    done = alice.forget(steps[:1])
    alice.flush()
    assert list(alice.labels.induced()) == steps[1:]
    alice.undo(done.id)
    assert list(alice.labels.induced()) == steps


def rows(home: Path) -> list[str]:
    with closing(sqlite3.connect(home / "ledger.sqlite3")) as database:
        tables = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return [f"{table}: {row}" for table in tables for row in database.execute(f"SELECT * FROM {table}")]


def fill(user: UserMemory, word: str) -> list[str]:
    """Put the word into names, gists, resolved texts, summaries and the history of labels."""
    steps = say(user, f"scope:{word} entity:{word} hello", "I like it", "scope:other event:plan nothing")
    user.flush()
    say(user, "later:elsewhere and on")
    user.labels.rename(f"scope:{word}", f"about {word}")
    user.labels.split(f"about {word}", [steps[1]], f"more {word}")
    user.flush()
    return steps


def test_erasing_leaves_no_label_nor_text_of_one(tmp_path: Path, labelers: Labelers, traces: Traces) -> None:
    home = tmp_path / "home"
    with opened(home, labelers) as memory:
        fill(memory.user("alice"), CANARY)
        seen = {row.split(":")[0] for row in rows(home) if CANARY in row}
        assert {"labels", "scopes", "intents", "changes"} <= seen
        receipt = memory.user("alice").erase()
        assert receipt.rows["intents"] == 4
        assert traces(home, CANARY) == []
        assert rows(home) == [row for row in rows(home) if CANARY not in row]
        say(memory.user("alice"), "scope:new hello")
        assert [one.name for one in memory.user("alice").labels.list("scope")] == ["new"]
    assert traces(home, CANARY) == []


def test_redacting_takes_the_words_out_of_labels_texts_and_history(
    tmp_path: Path, labelers: Labelers, traces: Traces
) -> None:
    home = tmp_path / "home"
    with opened(home, labelers) as memory:
        user = memory.user("alice")
        steps = fill(user, CANARY)
        assert CANARY in user.labels.of(steps[1]).resolved_text
        user.redact(CANARY, caption="a place")
        assert traces(home, CANARY) == []
        said = [user.labels.list(), user.history(), [user.labels.of(step) for step in steps]]
        assert CANARY not in str(said)
        assert user.labels.of(steps[0]).entities == ("Entity 1",)
        found = user.recall("a place", strategy="bm25", k=20)
        assert steps[1] in [hit.id for hit in found]  # its resolved text, with the caption
        assert user.recall(CANARY, strategy="bm25").hits == ()
        # Its labels can still be corrected, and what was corrected be undone.
        split = next(done for done in user.history() if done.kind == "split")
        user.undo(split.id)
        assert len(user.labels.list("scope")) == 3
        user.flush()
    assert traces(home, CANARY) == []


def test_redacted_words_leave_what_labelling_made_of_them_in_any_case(alice: UserMemory) -> None:
    said = ["scope:Porto hello", "scope:Work in porto entity:PORTO it rains", "it rains"]
    steps = say(alice, *said)
    alice.labels.rename("scope:Porto", "about Porto")
    done = alice.redact("porto", caption="a town")
    assert done.step_ids == (steps[1],)  # what was said is taken as it was written
    snippets = [alice.labels.of(step) for step in steps]
    derived = [alice.labels.list(), [one.summary for one in snippets], snippets[2].resolved_text]
    assert "porto" not in str(derived).lower()
    assert "porto" not in str(alice.history()).lower()
    alice.undo(next(one for one in alice.history() if one.kind == "rename").id)


def test_labels_that_a_redaction_makes_alike_stay_apart(alice: UserMemory) -> None:
    say(alice, "scope:Porto hello")
    alice.redact("Porto", caption="a town")
    (taken,) = alice.labels.list("scope")
    say(alice, "scope:Work hello")
    work = alice.labels.show("Work")
    with pytest.raises(InvalidInputError, match="already"):
        alice.labels.rename(work.id, taken.name)


# -- moving -----------------------------------------------------------------------------------------------------------


def test_labels_travel_with_an_export(memory: Memory, alice: UserMemory, tmp_path: Path) -> None:
    steps = fill(alice, "Porto")
    counts = alice.export(tmp_path / "alice.jsonl")
    assert counts["intents"] == 4
    bob = memory.user("bob")
    bob.import_(tmp_path / "alice.jsonl")
    assert bob.labels.induced() == alice.labels.induced()
    assert [one.model_dump() for one in bob.labels.list()] == [one.model_dump() for one in alice.labels.list()]
    for step in steps:
        assert bob.labels.of(step).resolved_text == alice.labels.of(step).resolved_text
    for label in alice.labels.list():
        assert density(bob, label.id) == density(alice, label.id)
    split = next(done for done in bob.history() if done.kind == "split")
    bob.undo(split.id)
    assert "more Porto" not in [one.name for one in bob.labels.list()]
    assert "more Porto" in [one.name for one in alice.labels.list()]


def test_labels_of_an_import_join_those_of_the_same_name(memory: Memory, alice: UserMemory, tmp_path: Path) -> None:
    (theirs,) = say(alice, "scope:Work/Desk entity:Mia hello", thread_id="theirs")
    alice.flush()
    alice.export(tmp_path / "alice.jsonl")
    bob = memory.user("bob")
    (own,) = say(bob, "scope:Work/Desk entity:Mia good morning", thread_id="own")
    bob.flush()
    bob.import_(tmp_path / "alice.jsonl")
    assert bob.labels.show("Mia").steps == 2
    assert bob.labels.show("Work").steps_below == 2
    found = bob.recall("hello", k=10, where={"labels": ["Work", "Mia"]})
    assert {hit.id for hit in found} == {own, theirs}


def test_an_older_export_does_not_undo_what_was_corrected_since(
    memory: Memory, alice: UserMemory, tmp_path: Path
) -> None:
    (step,) = say(alice, "scope:Work hello")
    say(alice, "scope:Home hello")
    alice.flush()
    alice.export(tmp_path / "alice.jsonl")
    alice.labels.move(step, "Home")
    alice.import_(tmp_path / "alice.jsonl")
    assert alice.labels.of(step).scope == "Home"
    assert step not in {hit.id for hit in alice.recall("hello", where={"labels": "Work"})}


# -- what others see --------------------------------------------------------------------------------------------------


def test_chroma_holds_labels_by_name_from_the_start_and_follows_when_they_are_renamed(
    tmp_path: Path, labelers: Labelers
) -> None:
    home = tmp_path / "home"
    with opened(home, labelers) as memory:
        user = memory.user("a")
        one, other = say(user, "scope:Trip/Day event:plan entity:Mia hello", "scope:Work hello")
        user.flush()
        key = user_key("a")
        vector = memory.embedder.embed_query("hello")
        assert [
            found for found, _ in memory.vectors.query(key, "steps", vector, 9, any_of={"scope": ["Trip / Day"]})
        ] == [one]
        user.labels.rename("Trip", "Lisbon")
        user.flush()
    client = chromadb.PersistentClient(str(home / "chroma"), settings=ChromaSettings(anonymized_telemetry=False))
    (name,) = [one.name for one in client.list_collections() if one.name.endswith("steps")]
    collection = client.get_collection(name, embedding_function=None)
    shown = collection.get(where={"scope": "Lisbon / Day"}, include=["metadatas"])
    assert shown["ids"] == [one]
    metadata = dict(shown["metadatas"][0])
    assert abs(metadata.pop("time") - time.time()) < 600
    assert metadata == {
        "type": "step",
        "thread": "default",
        "role": "user",
        "speaker": "user",
        "scope": "Lisbon / Day",
        "events": ["plan"],
        "entities": ["Mia"],
    }
    assert collection.get(where={"scope": "Work"}, include=[])["ids"] == [other]
    assert collection.get(where={"entities": {"$contains": "Mia"}}, include=[])["ids"] == [one]
    client.close()


def test_undo_of_what_rules_revised_names_the_correction_that_builds_on_it(alice: UserMemory) -> None:
    (first,) = say(alice, "scope:Work hello")
    alice.flush()
    say(alice, "scope:Home later:Home back again")
    alice.flush()
    (revised,) = alice.history(first)
    moved = alice.labels.move(first, "Work")
    with pytest.raises(UndoRefusedError) as refused:
        alice.undo(revised.id)
    assert refused.value.blockers == (moved.id,)


def test_the_ledger_gives_back_what_a_labeler_made(memory: Memory, alice: UserMemory) -> None:
    say(alice, "scope:Work entity:Mia hello", "it is me")
    alice.flush()
    with memory.ledger.read("alice") as tx:
        labels = {one.id: one for one in read_labels(tx)}
        ((scope, steps),) = recent_steps(tx, 10).items()
    assert labels[scope].name == "Work"
    assert [intent.resolved_text for _, intent in steps] == [None, "Mia is me"]
