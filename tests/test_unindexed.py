"""A recall need not wait until the messages of a moment ago are indexed: it searches them as they are, and finds the same."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import pytest

from hexamem import Memory, Settings, UserMemory, Where
from hexamem.memory_types import SemanticItem
from hexamem.retrieval.request import Request
from hexamem.retrieval.strategies import strategy_named
from hexamem.stores.projections import _TARGETS

WAIT = 30.0
TOLD = [
    f"The {colour} {thing} is in the shed."
    for colour in ("red", "green", "blue", "old", "new", "small", "large", "broken", "spare", "wooden")
    for thing in ("bicycle", "umbrella", "ladder", "kettle", "radio", "chair", "lamp", "clock", "basket", "drum")
]
NEW = "The purple accordion is in the attic."


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    with Memory.open(
        tmp_path_factory.mktemp("home") / "h", settings=Settings(labels="off", mode="off"), embedder="static"
    ) as opened:
        yield opened


_users = count()


@pytest.fixture
def ann(memory: Memory) -> UserMemory:
    """One with a hundred messages, all indexed and asked for."""
    user = memory.user(f"ann {next(_users)}")
    user.remember(TOLD)
    memory.flush()
    user.recall("the red bicycle")
    return user


@contextmanager
def nothing_is_indexed(user: UserMemory) -> Iterator[None]:
    """Another thread indexes the user, and is at it for as long as this lasts."""
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


def found(user: UserMemory, query: str, **conditions: object) -> list[str]:
    return [hit.text for hit in user.recall(query, k=5, **conditions).hits]  # type: ignore[arg-type]


def test_what_was_said_a_moment_ago_is_found_before_it_is_indexed(ann: UserMemory) -> None:
    with nothing_is_indexed(ann):
        ann.remember(NEW)
        hits = ann.recall("Where is the purple accordion?").hits
        assert ann.memory.projector.behind(ann.name) == 1
    assert hits[0].text == NEW
    assert {"bm25", "dense"} <= {signal.name for signal in hits[0].why}


@pytest.mark.parametrize(
    "query",
    ["Where is the purple accordion?", "What is in the attic?", "Where is the blue kettle?"],
)
def test_the_same_is_found_before_and_after_indexing(ann: UserMemory, query: str) -> None:
    with nothing_is_indexed(ann):
        ann.remember(NEW)
        before = found(ann, query)
    ann.memory.flush()
    assert ann.memory.projector.behind(ann.name) == 0
    assert found(ann, query) == before


def test_what_was_indexed_meanwhile_is_found_once(ann: UserMemory) -> None:
    ann.remember(NEW)
    ann.memory.flush()
    words = {step.id: step.content for step in ann.steps() if step.content == NEW}
    request = Request(query="Where is the purple accordion?", k=5)
    twice = ann.memory.searcher.find(ann.name, request, strategy_named("learned"), unindexed=words)
    assert [hit.text for hit in twice.hits] == found(ann, request.query)


def test_what_was_forgotten_before_it_was_indexed_is_not_found(ann: UserMemory) -> None:
    ann.remember(NEW)
    ann.forget([step.id for step in ann.steps() if step.content == NEW], reason="asked to")
    assert NEW not in found(ann, "Where is the purple accordion?")


def test_an_item_that_changed_is_indexed_before_it_is_asked_for(ann: UserMemory) -> None:
    ann.remember(NEW)
    ann.add(SemanticItem(name="bassoon", summary="Ann plays the bassoon."))
    ann.recall("Who plays the bassoon?")
    assert ann.memory.projector.behind(ann.name) == 0


def test_many_new_messages_are_indexed_before_they_are_asked_for(ann: UserMemory) -> None:
    ann.remember([f"Accordion number {number} is sold." for number in range(40)])
    ann.recall("Which accordion is sold?")
    assert ann.memory.projector.behind(ann.name) == 0


def test_a_condition_is_met_by_what_is_indexed(ann: UserMemory) -> None:
    ann.remember(NEW, thread_id="music")
    assert set(found(ann, "accordion", where=Where(thread_id="music"))) == {NEW}
    assert ann.memory.projector.behind(ann.name) == 0


@pytest.mark.parametrize("stream", ["steps", "items"])
@pytest.mark.parametrize("index", ["lexical", "vectors"])
def test_an_index_that_was_emptied_is_filled_before_it_is_asked(ann: UserMemory, index: str, stream: str) -> None:
    projector = ann.memory.projector
    assert projector.unindexed(ann.name) == {}
    with projector.lock(ann.name):  # or the background might have filled it again
        projector._reset(ann.name, next(one for one in _TARGETS if (one.index, one.stream) == (index, stream)))
        assert projector.unindexed(ann.name) is None
    assert found(ann, "Where is the blue kettle?")[0] == "The blue kettle is in the shed."
    assert projector.behind(ann.name) == 0


@pytest.mark.parametrize("index", ["lexical", "vectors"])
def test_an_index_that_is_emptied_while_it_is_looked_at_is_not_taken_for_whole(ann: UserMemory, index: str) -> None:
    projector = ann.memory.projector
    with projector.lock(ann.name):
        seen = projector._level[ann.name]  # what another thread read before, and writes down behind the emptying
        projector._reset(ann.name, next(one for one in _TARGETS if (one.index, one.stream) == (index, "steps")))
        projector._level[ann.name] = seen
        assert projector.unindexed(ann.name) is None
    assert found(ann, "Where is the blue kettle?")[0] == "The blue kettle is in the shed."


def test_in_a_small_memory_what_is_new_is_indexed_first(memory: Memory) -> None:
    bob = memory.user("bob")
    bob.remember(TOLD[0])
    bob.recall("bicycle")
    bob.remember(NEW)
    bob.recall("accordion")
    assert memory.projector.behind("bob") == 0


def test_without_a_background_what_is_new_is_indexed_first(tmp_path: Path) -> None:
    settings = Settings(labels="off", mode="off", background=False)
    with Memory.open(tmp_path / "h", settings=settings) as memory:
        ann = memory.user("ann")
        ann.remember(TOLD)
        ann.recall("bicycle")
        ann.remember(NEW)
        assert found(ann, "Where is the purple accordion?")[0] == NEW
        assert memory.projector.behind("ann") == 0


def test_one_who_is_registered_anew_finds_nothing_of_before(ann: UserMemory) -> None:
    ann.remember(NEW)
    ann.erase()
    assert found(ann, "Where is the purple accordion?") == []
    ann.remember("The radio is sold.")
    assert found(ann, "accordion radio") == ["The radio is sold."]
