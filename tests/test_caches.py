"""Caches: a memory that was open all the while answers as one opened anew, and no word outlives its removal in one."""
# ruff: noqa: F811 - fixtures come by import

from __future__ import annotations

import gc
import sqlite3
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from langchain_core.embeddings import DeterministicFakeEmbedding
from sqlalchemy import event, select, update

from hexamem import Memory, Settings, UserMemory, Where
from hexamem.memory_types import utc_now
from hexamem.models.encoder import open_encoder
from hexamem.once import once
from hexamem.stores.index_writer import TARGETS
from hexamem.stores.ledger.schema import recalls, users

from .anna_and_ben import TALK as ANNA_AND_BEN
from .manager_script import answer
from .scripted_server import ServerFactory, loopback_only, scripted_server  # noqa: F401
from .taking_away import STRATEGIES, WORD, asked_everywhere, erases, forgets, held, redacts

QUIET = Settings(background=False, mode="off")
PLAIN = Settings(background=False, mode="off", labels="off")
TALK = [*ANNA_AND_BEN, ("王若楠", "我搬到良渚了，房租三千六。"), ("高远", "恭喜！我家柯基瘦了两公斤。")]
QUESTIONS = ("What is Anna's greyhound called, and the kiln?", "若楠搬到了哪里？")
Removal = Callable[[UserMemory, str], None]


def says(user: UserMemory, *lines: tuple[str, str], thread: str = "t", at: int = 1_683_554_160) -> tuple[str, ...]:
    messages = [
        {"role": "user", "name": name, "content": text, "timestamp": at + 60 * turn}
        for turn, (name, text) in enumerate(lines)
    ]
    return user.remember(messages, thread_id=thread).step_ids


def answers(memory: Memory, user: str = "alice") -> list[tuple[str, Any, str | None]]:
    """What is recalled, with scores and labels."""
    asked = [(question, strategy) for question in QUESTIONS for strategy in STRATEGIES]
    hits = [memory.user(user).recall(question, k=30, strategy=strategy).hits for question, strategy in asked]
    return [(hit.id, pytest.approx(hit.score, abs=1e-3), hit.scope) for found in hits for hit in found]


def fail_in_a_transaction(memory: Memory) -> None:
    with memory.ledger.write("alice") as tx:
        tx.next_change()
        raise RuntimeError


# -- the same answers as without caches ------------------------------------------------------------------------------

ACTIONS = (
    "say", "elsewhere", "forget", "forget late", "restore", "redact", "add", "edit", "remove", "rename", "move", "fail",
    "reopen", "erase",
)  # fmt: skip


@settings(max_examples=3)
@example(["forget", "say", "restore", "redact", "reopen", "forget late"])
@example(["elsewhere", "redact", "forget", "restore", "elsewhere", "reopen", "rename", "say"])
@example(["add", "edit", "reopen", "remove", "erase", "say", "add", "reopen", "move"])
@given(st.lists(st.sampled_from(ACTIONS), min_size=3, max_size=9))
def test_a_memory_with_caches_answers_as_one_opened_anew(
    tmp_path_factory: pytest.TempPathFactory, actions: list[str]
) -> None:
    home = tmp_path_factory.mktemp("home")
    # Vectors of the static model do not depend on what is embedded with them, as those of an int8 encoder do a little.
    memory = Memory.open(home, embedder="static", settings=QUIET)
    user = memory.user("alice")
    steps, items, forgotten = list(says(user, *TALK)), list[str](), list[str]()
    answers(memory)
    for turn, action in enumerate(actions):
        name, text = TALK[turn % len(TALK)]
        scopes = [label for label in user.labels.list("scope") if label.steps]
        if action == "say":
            steps += says(user, (name, f"{text} {WORD}{turn}"), at=1_683_554_160 + 20_000 * turn)
        elif action == "elsewhere":
            steps += says(user, (f"Carla {turn}", text), (name, f"{text} {WORD}{turn}"), thread=f"other {turn % 2}")
        elif action.startswith("forget") and len(steps) > 2:
            forgotten.append(steps.pop(-1 if action.endswith("late") else len(steps) // 2))
            user.forget([forgotten[-1]])
        elif action == "restore" and forgotten:
            steps.append(forgotten.pop())
            user.undo(user.history(steps[-1])[-1].id)
        elif action == "redact":
            says(user, (name, f"The choir sings of {WORD}{turn}x in {turn} voices."))
            answers(memory)
            user.redact(f"{WORD}{turn}x", caption="a word")
        elif action == "add":
            items.append(user.add({"kind": "semantic", "name": f"note {turn}", "summary": text}).id)
        elif action == "edit" and items:
            user.edit(items[0], summary=f"{TALK[turn % 4][1]} {turn}")
        elif action == "remove" and items:
            user.remove(items.pop())
        elif action == "rename" and scopes:
            user.labels.rename(scopes[0].id, f"Renamed {turn}")
        elif action == "move" and scopes:
            user.labels.move(steps[-1], scopes[0].id)
        elif action == "fail":
            with pytest.raises(RuntimeError):
                fail_in_a_transaction(memory)
        elif action == "reopen":
            memory.close()
            memory = Memory.open(home, embedder="static", settings=QUIET)
            user = memory.user("alice")
        elif action == "erase":
            user.erase()
            steps, items, forgotten = list(says(user, *TALK[2:])), [], []
        user.recall(QUESTIONS[turn % 2], k=30, strategy=STRATEGIES[turn % 3])
    answered = answers(memory)
    memory.close()
    with Memory.open(home, embedder="static", settings=QUIET) as memory:
        assert answers(memory) == answered


def test_where_vectors_cannot_be_read_later_recalls_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise OSError("the index cannot be read")

    with Memory.open(tmp_path / "home", settings=PLAIN) as memory:
        with memory.ledger.write("alice"):  # known to the ledger before anything was stored
            pass
        alice = memory.user("alice")
        assert not alice.recall("greyhound", strategy="learned").hits
        said = says(alice, *TALK)
        alice.flush()
        with monkeypatch.context() as broken:
            broken.setattr(memory.vectors, "vectors", fails)
            with pytest.raises(OSError, match="cannot be read"):
                alice.recall("greyhound", strategy="learned")
        said += says(alice, ("Ben", "The coil came today."), at=1_683_560_000)
        recall = alice.recall("greyhound", k=20, strategy="learned")
        assert ({hit.id for hit in recall.hits}, recall.degraded) == (set(said), ())


# -- words that were removed -----------------------------------------------------------------------------------------


@pytest.fixture
def ann(tmp_path: Path) -> Iterator[UserMemory]:
    with Memory.open(tmp_path / "home", embedder="static", settings=Settings(background=False)) as memory:
        yield memory.user("ann")


def held_by_functions(word: str) -> list[Any]:
    """The cached functions of Hexamem of which a cached argument or result holds the word."""
    gc.collect()
    modules = [module for name, module in list(sys.modules.items()) if name.startswith("hexamem")]
    values = [value for module in modules for value in list(vars(module).values())]
    cached = [value for value in values if type(value).__name__ == "_lru_cache_wrapper"]
    assert cached, "the walk sees nothing"
    return [value for value in cached if any(word in repr(part) for part in gc.get_referents(value))]


@pytest.mark.parametrize(
    ("removes", "embedder"),
    [(forgets, "static"), (redacts, DeterministicFakeEmbedding(size=16)), (erases, "bundled")],
    ids=["forgets", "redacts", "erases"],
)
def test_no_word_that_was_removed_stays_in_memory(tmp_path: Path, removes: Removal, embedder: Any) -> None:
    encoder = open_encoder()
    encoder.forget()
    with Memory.open(tmp_path / "home", embedder=embedder, settings=Settings(background=False)) as memory:
        ann, ben = memory.user("ann"), memory.user("ben")
        step_id = asked_everywhere(ann, f"Our garden is called {WORD}.")
        of_ben = asked_everywhere(ben, "Our boat is called Dolores.")
        encoder.vectors([f"Our garden is called {WORD}."])  # as the middleware does
        encoder.encode([f"Our garden is called {WORD}."])  # as research does
        assert encoder._vectors
        assert encoder._states
        assert held(memory, WORD), "the walk sees nothing"
        assert held(memory.searcher, step_id), "the walk sees nothing of what recalls cache"
        if removes is erases:
            ann.add({"kind": "core", "label": f"name of {WORD}", "value": WORD})
        removes(ann, step_id)
        assert (held(memory, WORD), held(memory.searcher, step_id)) == ([], [])
        assert held_by_functions(WORD) == []
        assert not encoder._vectors
        assert not encoder._states
        assert held(memory.searcher, of_ben)


def test_an_addition_that_is_undone_leaves_memory(ann: UserMemory) -> None:
    asked_everywhere(ann, "Our garden is green.")
    item = ann.add({"kind": "semantic", "name": WORD, "summary": "the name of the garden"})
    for strategy in STRATEGIES:
        assert item.id in [hit.id for hit in ann.recall(f"garden {WORD}", strategy=strategy).hits]
    ann.write_recalls()
    assert held(ann.memory.searcher, item.id)
    ann.undo(ann.history(item.id)[-1].id)
    assert held(ann.memory.searcher, item.id) == []


def test_words_that_the_vault_manager_hides_leave_memory(tmp_path: Path, scripted_server: ServerFactory) -> None:
    code, chosen = f"{WORD}#77", Settings(background=False, mode="agents", find_secrets=False)
    model = scripted_server(answer).chat_model()
    with Memory.open(tmp_path / "home", embedder="static", model=model, settings=chosen) as memory:
        ann = memory.user("ann")
        asked_everywhere(ann, f"CODE garage: {code}")
        assert held(memory.searcher, code)
        ann.flush()
        assert [item.kind for item in ann.items("vault")] == ["vault"]
        assert WORD not in ann.steps()[0].content
        assert held(memory.searcher, code) == []


def test_a_question_that_was_researched_while_its_user_was_erased_is_not_recorded(ann: UserMemory) -> None:
    asked_everywhere(ann, "Our garden is green.")
    ann.write_recalls()
    erased: list[object] = []
    ann.research(f"What is called {WORD}?", on_event=lambda event: erased or erased.append(ann.erase()))
    assert erased
    ann.remember("I begin anew.")
    ann.recall("anew")
    ann.write_recalls()
    with ann.memory.ledger.read("ann") as tx:
        assert tx.connection.execute(select(recalls.c.query)).scalars().all() == ["anew"]


# -- messages that are not indexed yet -------------------------------------------------------------------------------

WAIT = 30.0
SHED = [
    f"The {colour} {thing} is in the shed."
    for colour in ("red", "green", "blue", "old", "new", "small", "large", "broken", "spare", "wooden")
    for thing in ("bicycle", "umbrella", "ladder", "kettle", "radio", "chair", "lamp", "clock", "basket", "drum")
]
NEW = "The purple accordion is in the attic."
_users = count()


@pytest.fixture(scope="module")
def in_background(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    home = tmp_path_factory.mktemp("home") / "h"
    with Memory.open(home, settings=Settings(labels="off", mode="off"), embedder="static") as opened:
        yield opened


@pytest.fixture
def indexed(in_background: Memory) -> UserMemory:
    """One with a hundred messages, all indexed and asked for."""
    user = in_background.user(f"user {next(_users)}")
    user.remember(SHED)
    in_background.flush()
    user.recall("the red bicycle")
    return user


@contextmanager
def nothing_is_indexed(user: UserMemory) -> Iterator[None]:
    """Another thread indexes the user for as long as this lasts."""
    begun, through = threading.Event(), threading.Event()

    def hold() -> None:
        with user.memory.projector.lock(user.name):
            begun.set()
            through.wait(WAIT)

    thread = threading.Thread(target=hold)
    thread.start()
    assert begun.wait(WAIT)
    try:
        yield
    finally:
        through.set()
        thread.join()


def texts(user: UserMemory, query: str, **conditions: Any) -> list[str]:
    return [hit.text for hit in user.recall(query, k=5, **conditions).hits]


def test_a_new_message_is_found_before_it_is_indexed_as_it_is_afterwards(indexed: UserMemory) -> None:
    queries = ["Where is the purple accordion?", "What is in the attic?", "Where is the blue kettle?"]
    with nothing_is_indexed(indexed):
        indexed.remember(NEW)
        before = [texts(indexed, query) for query in queries]
        hit = indexed.recall(queries[0]).hits[0]
        assert indexed.memory.projector.behind(indexed.name) == 1
    assert hit.text == NEW
    assert {"bm25", "dense"} <= {signal.name for signal in hit.why}
    indexed.memory.flush()
    assert indexed.memory.projector.behind(indexed.name) == 0
    assert [texts(indexed, query) for query in queries] == before


def test_a_changed_item_is_found_before_it_is_indexed_as_it_is_afterwards(indexed: UserMemory) -> None:
    queries = ["Who plays the bassoon?", "Where is the blue kettle?"]
    with nothing_is_indexed(indexed):
        item_id = indexed.add({"kind": "semantic", "name": "bassoon", "summary": "Ann plays the bassoon."}).id
        first = texts(indexed, queries[0])[0]
        indexed.edit(item_id, summary="Cleo plays the bassoon.")
        before = [texts(indexed, query) for query in queries]
        assert indexed.memory.projector.behind(indexed.name) > 0
    assert ("Ann" in first, "Cleo" in before[0][0]) == (True, True)
    indexed.memory.flush()
    assert indexed.memory.projector.behind(indexed.name) == 0
    assert [texts(indexed, query) for query in queries] == before
    with nothing_is_indexed(indexed):
        indexed.remove(item_id)
        assert not any("bassoon" in text for text in texts(indexed, queries[0]))


def test_a_new_message_is_found_by_keywords_when_the_model_is_gone_before_it_is_indexed(
    indexed: UserMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexed.memory._worker, "put", lambda user: None)
    monkeypatch.setattr(indexed.memory.projector, "embedder_error", "the model is gone")
    indexed.remember(NEW)
    recall = indexed.recall("Where is the purple accordion?")
    assert recall.hits[0].text == NEW
    assert any("by keywords alone: the model is gone" in line for line in recall.degraded)


def test_many_messages_and_conditions_are_indexed_before_they_are_searched(indexed: UserMemory) -> None:
    projector = indexed.memory.projector
    indexed.remember([f"Accordion number {number} is sold." for number in range(80)])
    indexed.recall("Which accordion is sold?")
    assert projector.behind(indexed.name) == 0
    indexed.remember(NEW, thread_id="music")
    assert texts(indexed, "accordion", where=Where(thread_id="music")) == [NEW]
    few = indexed.memory.user(f"user {next(_users)}")
    for text in (SHED[0], NEW):
        few.remember(text)
        few.recall("accordion")
    assert projector.behind(few.name) == 0


def test_a_message_that_was_removed_before_it_was_indexed_is_not_found(indexed: UserMemory) -> None:
    with nothing_is_indexed(indexed):
        step_ids = indexed.remember(NEW).step_ids
        assert NEW in texts(indexed, "Where is the purple accordion?")
    indexed.forget(step_ids)
    assert NEW not in texts(indexed, "Where is the purple accordion?")
    indexed.remember(NEW)
    indexed.erase()
    assert texts(indexed, "Where is the purple accordion?") == []
    indexed.remember("The radio is sold.")
    assert texts(indexed, "accordion radio") == ["The radio is sold."]


@pytest.mark.parametrize("index", ["lexical", "vectors"])
def test_an_index_that_was_emptied_is_filled_before_it_is_asked(indexed: UserMemory, index: str) -> None:
    projector = indexed.memory.projector
    with projector.lock(indexed.name):  # or the background might have filled it again
        projector._reset(indexed.name, [to for to in TARGETS if (to.index, to.stream) == (index, "steps")])
        assert projector.unindexed(indexed.name) is None
    assert texts(indexed, "Where is the blue kettle?")[0] == "The blue kettle is in the shed."
    assert projector.behind(indexed.name) == 0


def found_by_keywords(user: UserMemory, query: str) -> list[str]:
    return [hit.text for hit in user.recall(query, strategy="bm25").hits]


@pytest.mark.embedded
def test_what_was_committed_when_its_call_was_interrupted_is_found(alice: UserMemory) -> None:
    alice.remember(SHED[0])
    assert found_by_keywords(alice, "bicycle") == found_by_keywords(alice, "bicycle") == [SHED[0]]
    pool = alice.memory.ledger.engine.pool

    def interrupt(driver: sqlite3.Connection, _: object) -> None:
        if driver.execute("SELECT count(*) FROM steps").fetchone() == (2,):
            raise KeyboardInterrupt

    event.listen(pool, "checkin", interrupt)
    with pytest.raises(KeyboardInterrupt):
        alice.remember(NEW)
    event.remove(pool, "checkin", interrupt)
    assert NEW in found_by_keywords(alice, "accordion")


def test_one_who_is_registered_anew_by_a_clock_that_was_set_back_finds_what_is_stored(alice: UserMemory) -> None:
    alice.remember([SHED[0], "It needs a new tyre.", "And a bell."])
    with alice.memory.ledger.write("alice") as tx:
        tx.connection.execute(update(users).values(created_at=utc_now() + timedelta(days=1)))
    assert SHED[0] in found_by_keywords(alice, "bicycle")
    alice.remember("The tyre is here.")
    alice.erase()
    alice.remember(SHED[0])
    assert found_by_keywords(alice, "bicycle") == found_by_keywords(alice, "bicycle") == [SHED[0]]
    alice.remember(NEW)
    assert NEW in found_by_keywords(alice, "accordion")


def test_threads_that_need_a_value_at_the_same_time_build_it_once() -> None:
    built: list[str] = []

    @once
    def patterns(culture: str) -> list[str]:
        time.sleep(0.05)
        built.append(culture)
        return [culture]

    with ThreadPoolExecutor(8) as pool:
        values = list(pool.map(patterns, ["en-us"] * 8))
    assert built == ["en-us"]
    assert all(value is values[0] for value in values)
    assert patterns("zh-cn") == ["zh-cn"]
