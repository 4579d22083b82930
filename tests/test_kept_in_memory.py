"""What is kept in memory to work faster goes when the words it was made of are taken away."""
# ruff: noqa: F811 - fixtures come by import

from __future__ import annotations

import gc
import sys
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import pytest
from langchain_core.embeddings import DeterministicFakeEmbedding
from sqlalchemy import select

from hexamem import Memory, Settings, UserMemory
from hexamem.models.encoder import open_encoder
from hexamem.stores.ledger.schema import recalls

from .manager_script import answer
from .scripted_server import ServerFactory, loopback_only, scripted_server  # noqa: F401
from .taking_away import WORD, erases, forgets, redacts

STRATEGIES = ("rrf_neighbours", "label_density", "learned")


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory.open(tmp_path / "home", settings=Settings(background=False)) as memory:
        yield memory


def parts_of(value: Any) -> Iterator[Any]:
    """What an object of ours, or a container, holds."""
    if isinstance(value, Mapping):
        yield from list(value.keys())
        yield from list(value.values())
    elif isinstance(value, list | tuple | set | frozenset | deque):
        yield from list(value)
    elif type(value).__module__.startswith("hexamem"):
        yield from list(getattr(value, "__dict__", {}).values())
        for kind in type(value).__mro__:
            slots = getattr(kind, "__slots__", ())
            yield from (getattr(value, name, None) for name in ((slots,) if isinstance(slots, str) else slots))
        if is_dataclass(value):
            yield from (getattr(value, one.name, None) for one in fields(value))


def held(root: object, word: str) -> list[str]:
    """The texts with this word, in whatever case, that are held anywhere under an object."""
    found: list[str] = []
    seen: set[int] = set()
    waiting: list[Any] = [root]
    keep: list[Any] = []  # else the id of what is made on the way may be given away again
    while waiting:
        one = waiting.pop()
        if isinstance(one, type) or id(one) in seen:
            continue
        seen.add(id(one))
        keep.append(one)
        if isinstance(one, str):
            if word.casefold() in one.casefold():
                found.append(one)
            continue
        waiting.extend(parts_of(one))
    return found


def told(user: UserMemory, said: str) -> str:
    """Something is said among other things and asked for in every way; returns the id of its step."""
    others = ["We went to the museum in Lisbon.", "My cousin repairs pianos.", "The recipe needs two eggs."]
    step_id = user.remember([said, *others], thread_id="chat").step_ids[0]
    user.search_pages("museum in Lisbon")
    for strategy in STRATEGIES:
        assert step_id in [hit.id for hit in user.recall(said, strategy=strategy).hits]
    return step_id


@pytest.mark.parametrize("takes_away", [forgets, redacts, erases])
def test_no_word_that_was_taken_away_stays_in_memory(
    memory: Memory, takes_away: Callable[[UserMemory, str], None]
) -> None:
    user = memory.user("ann")
    step_id = told(user, f"Our garden is called {WORD}.")
    assert held(memory, WORD), "the walk sees nothing"
    assert held(memory.searcher, step_id), "the walk sees nothing of what recalls keep"
    takes_away(user, step_id)
    assert held(memory, WORD) == []
    assert held(memory.searcher, step_id) == []


@pytest.mark.parametrize("takes_away", [forgets, redacts, erases])
@pytest.mark.parametrize("embedder", ["static", DeterministicFakeEmbedding(size=16)])
def test_nothing_of_a_text_stays_in_the_encoders_that_read_it_beside_the_embedder(
    tmp_path: Path, takes_away: Callable[[UserMemory, str], None], embedder: Any
) -> None:
    encoder = open_encoder()
    encoder.forget()
    with Memory.open(tmp_path / "home", embedder=embedder, settings=Settings(background=False)) as memory:
        user = memory.user("ann")
        (step_id,) = user.remember([f"Our garden is called {WORD}."], thread_id="chat").step_ids
        user.flush()
        encoder.vectors([f"Our garden is called {WORD}."])  # as the middleware does
        encoder.encode([f"Our garden is called {WORD}."])  # as research does
        assert encoder._vectors
        assert encoder._states
        takes_away(user, step_id)
        assert not encoder._vectors
        assert not encoder._states
        assert not held(memory.reading_embedder, WORD)


def test_no_function_caches_whole_texts_of_a_user(memory: Memory) -> None:
    user = memory.user("ann")
    told(user, f"Our garden is called {WORD}.")
    user.add({"kind": "core", "label": f"name of {WORD}", "value": WORD})
    user.erase()
    gc.collect()
    ours = [
        value
        for name, module in list(sys.modules.items())
        if name.startswith("hexamem")
        for value in list(vars(module).values())
        if type(value).__name__ == "_lru_cache_wrapper"
    ]
    assert ours, "the walk sees nothing"
    assert not [one for one in ours if any(WORD in repr(part) for part in gc.get_referents(one))]


def test_what_an_undone_addition_said_leaves_memory(memory: Memory) -> None:
    user = memory.user("ann")
    told(user, "Our garden is green.")
    item = user.add({"kind": "semantic", "name": WORD, "summary": "the name of the garden"})
    for strategy in STRATEGIES:
        assert item.id in [hit.id for hit in user.recall(f"garden {WORD}", strategy=strategy).hits]
    user.write_recalls()
    assert held(memory.searcher, item.id)
    user.undo(user.history(item.id)[-1].id)
    assert held(memory.searcher, item.id) == []


def test_words_that_the_vault_manager_takes_away_leave_memory(tmp_path: Path, scripted_server: ServerFactory) -> None:
    code = f"{WORD}#77"
    model = scripted_server(answer).chat_model()
    with Memory.open(tmp_path / "home", model=model, settings=Settings(background=False, mode="agents")) as memory:
        user = memory.user("ann")
        told(user, f"CODE garage: {code}")
        assert held(memory.searcher, code)
        user.flush()
        assert [item.kind for item in user.items("vault")] == ["vault"]
        assert WORD not in user.steps()[0].content
        assert held(memory.searcher, code) == []


def test_another_user_keeps_what_is_known_of_him(memory: Memory) -> None:
    ann, ben = memory.user("ann"), memory.user("ben")
    told(ann, f"Our garden is called {WORD}.")
    step_id = told(ben, "Our boat is called Dolores.")
    ann.erase()
    assert held(memory, "Dolores")
    assert held(memory.searcher, step_id)


def test_a_question_that_was_researched_while_its_user_was_erased_is_not_noted(memory: Memory) -> None:
    user = memory.user("ann")
    told(user, "Our garden is green.")
    user.write_recalls()
    erased: list[object] = []
    user.research(f"What is called {WORD}?", on_event=lambda event: erased or erased.append(user.erase()))
    assert erased
    user.remember("I begin anew.")
    user.recall("anew")
    user.write_recalls()
    with memory.ledger.read("ann") as tx:
        assert tx.connection.execute(select(recalls.c.query)).scalars().all() == ["anew"]
