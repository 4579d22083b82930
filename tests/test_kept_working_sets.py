"""Working sets kept in memory and on disk: always what would be made anew, never in the way, gone when words are."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from hexamem import Memory, Settings, UserMemory
from hexamem.retrieval.signals.features import FEATURES, compute_features
from hexamem.retrieval.signals.pool import make_pool
from hexamem.retrieval.signals.question import read_question
from hexamem.stores.embedders.base import FloatArray
from hexamem.stores.embedders.static import StaticEmbedder
from hexamem.stores.kept_working_sets import KeptWorkingSets
from hexamem.stores.ledger import user_key
from hexamem.stores.working_set import StepFacts, WorkingSet

from .anna_and_ben import TALK as ANNA_AND_BEN
from .conftest import Traces
from .taking_away import WORD, erases, forgets, redacts

TALK = [
    *ANNA_AND_BEN,
    ("王若楠", "我搬到良渚了，房租三千六。"),
    ("高远", "恭喜！我家柯基瘦了两公斤。"),
]
QUESTIONS = ("What is Anna's greyhound called, and the kiln?", "若楠搬到了哪里？")


class Counting(StaticEmbedder):
    """Counts the texts that it embeds."""

    embedded = 0

    def embed_documents(self, texts: Sequence[str]) -> FloatArray:
        self.embedded += len(texts)
        return super().embed_documents(texts)


PLAIN = Settings(background=False, labels="off", mode="off")


@pytest.fixture
def plain(tmp_path: Path) -> Iterator[Memory]:
    """A memory that labels and learns nothing, which is quicker."""
    with Memory.open(tmp_path / "home", settings=PLAIN) as opened:
        yield opened


def says(user: UserMemory, *lines: tuple[str, str], thread: str = "t", at: int = 1_683_554_160) -> tuple[str, ...]:
    return user.remember(
        [
            {"role": "user", "name": name, "content": text, "timestamp": at + 60 * turn}
            for turn, (name, text) in enumerate(lines)
        ],
        thread_id=thread,
    ).step_ids


def kept_in(memory: Memory, folder: Path | None) -> KeptWorkingSets:
    return KeptWorkingSets(memory.vectors, memory.embedder, folder, least=1)


def sets_of(memory: Memory, kept: KeptWorkingSets, user: str) -> tuple[Any, ...]:
    """The steps, items and labels as the ledger has them now."""
    memory.projector.catch_up(user)
    with memory.ledger.read(user) as tx:
        steps, items = kept.of(tx)
        return steps, items, kept.labels(tx, steps)


def told_by(memory: Memory, kept: KeptWorkingSets, user: str) -> dict[str, Any]:
    """All that ranking learns from a set, in a form that does not depend on how things are numbered in it."""
    steps, items, labels = sets_of(memory, kept, user)
    facts = items.facts(sorted(items.ids))
    told: dict[str, Any] = {
        "ids": steps.ids,
        "items": [(one.id, one.length, one.cites, sorted(one.stems.values())) for one in facts],
        "speakers": [steps.speakers[number] for number in steps.speaker.tolist()],
        "scopes": [labels.scope_ids[number] if number >= 0 else None for number in labels._scope.values.tolist()],
        "events": [[labels.label_ids[one] for one in row if one >= 0] for row in labels.events.tolist()],
    }
    for question in QUESTIONS:
        asked = read_question(question, steps, memory.embedder, UTC)
        told[question] = compute_features(asked, make_pool(steps.ids, facts, steps), steps).values
        told[f"{question} scan"] = steps.similarities(asked.vector)
    return told


def assert_same(found: dict[str, Any], expected: dict[str, Any]) -> None:
    for name, value in expected.items():
        if isinstance(value, np.ndarray):
            np.testing.assert_allclose(found[name], value, atol=2e-4, err_msg=name)
        else:
            assert found[name] == value, name


def file_of(memory: Memory, user: str) -> Path:
    return memory.home / "ranking" / f"{user_key(user)}.safetensors"


def long_talk(user: UserMemory, thread: str = "long") -> tuple[str, ...]:
    """Enough to be worth a file."""
    return says(user, *((name, f"{text} {number}") for number in range(33) for name, text in TALK), thread=thread)


def test_features_are_what_they_were(tmp_path: Path) -> None:
    """Values of an earlier version, which read each text from the stores: what made recalls quicker changed none."""
    embedder = StaticEmbedder()
    steps = WorkingSet(embedder.dimension, embedder.token_model)
    facts = [
        StepFacts(f"step_{turn}", "t", turn, name, "user", text, text, 1_683_554_160 + turn // 4 * 86_400 + 60 * turn)
        for turn, (name, text) in enumerate(TALK)
    ]
    steps.add(facts, embedder.embed_documents([f"{name}: {text}" for name, text in TALK]))
    for question, expected in json.loads((Path(__file__).parent / "feature_values.json").read_text("utf-8")).items():
        asked = read_question(question, steps, embedder, UTC)
        values = compute_features(asked, make_pool(steps.ids, [], steps), steps).values
        for column, name in enumerate(FEATURES):
            assert values[:, column].tolist() == pytest.approx(expected.get(name, [0.0] * len(TALK)), abs=2e-3), name


ACTIONS = st.lists(
    st.tuples(
        st.sampled_from(
            ["say", "elsewhere", "forget", "forget late", "restore", "redact", "add", "supersede", "reload"]
        ),
        st.booleans(),
    ),
    min_size=3,
    max_size=9,
)


@settings(max_examples=5)
@example(
    [("forget", True), ("say", False), ("restore", True), ("redact", True), ("reload", False), ("forget late", True)]
)
@example([("elsewhere", False), ("redact", False), ("forget", False), ("restore", False), ("elsewhere", True)])
@given(ACTIONS)
def test_a_set_that_was_kept_equals_one_made_anew(
    tmp_path_factory: pytest.TempPathFactory, actions: list[tuple[str, bool]]
) -> None:
    """After anything that may happen to steps and items, whether the set is told of it at once (drop) or not."""
    home = tmp_path_factory.mktemp("home")
    # Vectors of the static model do not depend on what is embedded with them, as those of an int8 encoder do a little.
    with Memory.open(home, embedder="static", settings=Settings(background=False)) as memory:
        user = memory.user("alice")
        steps = list(says(user, *TALK))
        items: list[str] = []
        forgotten: list[str] = []
        kept = kept_in(memory, home / "sets")
        sets_of(memory, kept, "alice")
        for turn, (action, told) in enumerate([*actions, ("reload", False)]):
            name, text = TALK[turn % len(TALK)]
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
                says(user, (name, f"The door opens with {WORD}{turn}x and a {turn} key."))
                sets_of(memory, kept, "alice")
                user.redact(f"{WORD}{turn}x", caption="a word")
            elif action == "add":
                items.append(user.add({"kind": "semantic", "name": "note", "summary": text, "source": "t"}).id)
            elif action == "supersede" and items:
                user.edit(items[0], summary=TALK[turn % 4][1])
            elif action == "reload":
                sets_of(memory, kept, "alice")
                kept.save(memory.ledger, "alice")
                kept = kept_in(memory, home / "sets")
            if told:
                kept.drop("alice", memory.ledger)
            assert_same(told_by(memory, kept, "alice"), told_by(memory, kept_in(memory, None), "alice"))


def test_a_new_process_goes_on_from_the_file_and_ranks_as_before(tmp_path: Path) -> None:
    def asked(memory: Memory) -> list[tuple[str, float]]:
        recalls = [memory.user("alice").recall(question, strategy="learned") for question in QUESTIONS]
        return [(hit.id, hit.score) for recall in recalls for hit in recall.hits]

    with Memory.open(tmp_path / "home", settings=PLAIN, embedder="static") as memory:
        long_talk(memory.user("alice"))
        before = asked(memory)
        assert file_of(memory, "alice").is_file()
    embedder = Counting()
    with Memory.open(tmp_path / "home", settings=PLAIN, embedder=embedder) as memory:
        after = asked(memory)
        assert [one for one, _ in after] == [one for one, _ in before]
        assert [score for _, score in after] == pytest.approx([score for _, score in before], abs=1e-4)
        assert embedder.embedded < 100, "the steps were embedded again"


def test_what_came_after_the_file_is_taken_in(memory: Memory, alice: UserMemory) -> None:
    says(alice, *TALK)
    kept = kept_in(memory, memory.home / "sets")
    sets_of(memory, kept, "alice")
    assert kept.save(memory.ledger, "alice")
    more = says(alice, ("Ben", "The coil came today."), at=1_683_560_000)
    again = kept_in(memory, memory.home / "sets")
    steps, _, _ = sets_of(memory, again, "alice")
    assert steps.ids[-1] == more[0]
    assert int(steps.before[-1]) == 7
    assert_same(told_by(memory, again, "alice"), told_by(memory, kept_in(memory, None), "alice"))


def test_labels_read_while_steps_come_are_those_of_the_steps(memory: Memory, alice: UserMemory) -> None:
    """A recall asks for the labels in a later transaction than for the steps: somebody else may write in between."""
    says(alice, *TALK)
    kept = kept_in(memory, None)
    steps, _, _ = sets_of(memory, kept, "alice")
    says(alice, ("Ben", "My pottery kiln works again, I made two vases."), at=1_683_560_000)
    memory.projector.catch_up("alice")
    with memory.ledger.read("alice") as tx:
        kept.labels(tx, steps)
    found = told_by(memory, kept, "alice")
    assert found["scopes"][-1] is not None
    assert_same(found, told_by(memory, kept_in(memory, None), "alice"))


def test_what_was_taken_in_before_it_is_asked_for_is_not_read_again(
    memory: Memory, alice: UserMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    says(alice, *TALK)
    memory.searcher.refresh("alice")  # nobody asked for anything yet
    alice.recall(QUESTIONS[0], strategy="learned")
    more = says(alice, ("Ben", "My pottery kiln works again, I made two vases."), at=1_683_560_000)
    memory.projector.catch_up("alice")
    memory.searcher.refresh("alice")

    def fails(*_: object) -> None:
        raise AssertionError("it was read already")

    monkeypatch.setattr(KeptWorkingSets, "_bring_up", fails)
    monkeypatch.setattr(WorkingSet, "add", fails)
    found = alice.recall("Which vases did Ben make?", strategy="learned")
    assert found.hits[0].id == more[0]


def test_items_read_from_a_file_ahead_are_those_read_when_asked_for(memory: Memory, alice: UserMemory) -> None:
    says(alice, *TALK)
    for number in range(5):
        alice.add({"kind": "semantic", "name": f"note {number}", "summary": f"Kiln number {number}.", "source": "t"})
    kept = kept_in(memory, memory.home / "sets")
    sets_of(memory, kept, "alice")
    assert kept.save(memory.ledger, "alice")
    ahead = kept_in(memory, memory.home / "sets")
    _, items, _ = sets_of(memory, ahead, "alice")
    for most in (2, 0, 100):
        items.settle(most)
    assert all(one is not None for one in items._facts)
    late = kept_in(memory, memory.home / "sets")
    assert_same(told_by(memory, ahead, "alice"), told_by(memory, late, "alice"))


def test_what_comes_after_a_recall_from_nothing_is_taken_in(plain: Memory) -> None:
    """A user whose first record is a run, and no step, is known to the ledger before anything was said."""
    with plain.ledger.write("alice"):
        pass
    alice = plain.user("alice")
    assert not alice.recall("greyhound", strategy="learned").hits
    said = says(alice, *TALK)
    assert {hit.id for hit in alice.recall("greyhound", k=8, strategy="learned").hits} == set(said)


def test_what_comes_after_a_reading_that_failed_is_taken_in(plain: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    alice = plain.user("alice")
    says(alice, *TALK)
    alice.add({"kind": "semantic", "name": "note", "summary": "Pickle is a greyhound.", "source": "t"})
    kept = kept_in(plain, None)

    def fails(*_: object) -> None:
        raise OSError("the index cannot be read")

    with monkeypatch.context() as broken:
        broken.setattr(plain.vectors, "vectors", fails)
        with pytest.raises(OSError, match="cannot be read"):
            sets_of(plain, kept, "alice")
    says(alice, ("Ben", "The coil came today."), at=1_683_560_000)
    assert_same(told_by(plain, kept, "alice"), told_by(plain, kept_in(plain, None), "alice"))


def test_a_word_of_an_item_counts_when_a_step_says_it_later(memory: Memory, alice: UserMemory, tmp_path: Path) -> None:
    says(alice, *TALK)
    alice.add({"kind": "semantic", "name": "note", "summary": "Ben built a hurdygurdy.", "source": "t"})
    kept = kept_in(memory, tmp_path / "sets")
    sets_of(memory, kept, "alice")
    alice.forget([says(alice, ("Anna", "Never mind."), at=1_683_558_000)[0]])  # the set is made of the rest
    sets_of(memory, kept, "alice")
    assert kept.save(memory.ledger, "alice")
    says(alice, ("Anna", "The hurdygurdy is out of tune."), at=1_683_560_000)
    for one in (kept, kept_in(memory, tmp_path / "sets")):
        steps, items, _ = sets_of(memory, one, "alice")
        ((_, number),) = steps.stems_of("hurdygurdy")
        assert len(steps.rows_holding(number)) == 1
        assert [fact.stems.get(number) for fact in items.facts(items.ids)].count(1) == 1


def test_words_that_only_an_item_held_leave_with_it(memory: Memory, alice: UserMemory) -> None:
    says(alice, *TALK)
    item = alice.add({"kind": "semantic", "name": "note", "summary": "Ben built a hurdygurdy. 霹雳", "source": "t"})
    kept = kept_in(memory, None)
    steps, _, _ = sets_of(memory, kept, "alice")
    other = steps.known_pieces((), ["霹", "雳", "霹雳"])
    assert steps.stems_of("hurdygurdy")[0][1] >= 0
    assert other.max() >= 0
    alice.redact("hurdygurdy")
    alice.redact("霹雳", caption="a word")
    kept.drop("alice", memory.ledger)
    steps, items, _ = sets_of(memory, kept, "alice")
    assert item.id in items.ids
    assert steps.stems_of("hurdygurdy")[0][1] == -1
    assert steps.known_pieces((), ["霹", "雳", "霹雳"]).max() == -1


def test_a_file_holds_no_words_no_names_and_no_threads(memory: Memory, alice: UserMemory, traces: Traces) -> None:
    says(alice, (f"{WORD}a", f"{WORD}b greyhounds"), ("Ben", f"{WORD}c в Киеве 良渚柯基"), thread=f"{WORD}d")
    alice.add({"kind": "semantic", "name": f"{WORD}e", "summary": "a greyhound", "source": "t"})
    kept = kept_in(memory, memory.home / "sets")
    sets_of(memory, kept, "alice")
    assert kept.save(memory.ledger, "alice")
    assert traces(memory.home / "sets", WORD, "greyhound", "Ben", "良渚", "柯基", "Киеве", "alice") == []


def cut(data: bytes) -> bytes:
    return data[: len(data) // 2]


def flipped(data: bytes) -> bytes:
    return data[:-100] + bytes([data[-100] ^ 8]) + data[-99:]


def header_flipped(data: bytes) -> bytes:
    return data.replace(b"registered", b"registeren")


def emptied(data: bytes) -> bytes:
    return b""


@pytest.mark.parametrize("damage", [cut, flipped, header_flipped, emptied])
def test_a_damaged_file_is_made_anew(memory: Memory, alice: UserMemory, damage: Callable[[bytes], bytes]) -> None:
    says(alice, *TALK)
    kept = kept_in(memory, memory.home / "sets")
    expected = told_by(memory, kept, "alice")
    kept.save(memory.ledger, "alice")
    (path,) = (memory.home / "sets").iterdir()
    path.write_bytes(damage(path.read_bytes()))
    again = kept_in(memory, memory.home / "sets")
    assert_same(told_by(memory, again, "alice"), expected)
    assert not path.exists()
    assert again.save(memory.ledger, "alice")
    assert_same(told_by(memory, kept_in(memory, memory.home / "sets"), "alice"), expected)


def test_a_file_of_a_ledger_that_was_set_back_is_made_anew(memory: Memory, alice: UserMemory) -> None:
    says(alice, *TALK)
    kept = kept_in(memory, memory.home / "sets")
    sets_of(memory, kept, "alice")
    kept.save(memory.ledger, "alice")
    data = next((memory.home / "sets").iterdir()).read_bytes()
    alice.erase()
    says(alice, *TALK[:2])
    kept.drop("alice")
    (memory.home / "sets" / f"{user_key('alice')}.safetensors").write_bytes(data)
    steps, _, _ = sets_of(memory, kept_in(memory, memory.home / "sets"), "alice")
    assert len(steps) == 2


@pytest.mark.parametrize("takes_away", [forgets, redacts, erases])
def test_the_file_goes_with_the_words(plain: Memory, takes_away: Callable[[UserMemory, str], None]) -> None:
    alice = plain.user("alice")
    step_id = says(alice, ("Anna", f"Our garden is called {WORD}."))[0]
    for user in (alice, plain.user("ben")):
        long_talk(user)
        user.recall("garden", strategy="learned")
        assert file_of(plain, user.name).is_file()
    assert step_id.encode() in file_of(plain, "alice").read_bytes()
    takes_away(alice, step_id)
    assert not file_of(plain, "alice").exists()
    assert file_of(plain, "ben").is_file()
    long_talk(alice, "more")
    alice.recall("garden", strategy="learned")
    assert takes_away is redacts or step_id.encode() not in file_of(plain, "alice").read_bytes()


def test_a_set_that_is_behind_the_ledger_is_not_written(memory: Memory, alice: UserMemory) -> None:
    ids = says(alice, *TALK)
    kept = kept_in(memory, memory.home / "sets")
    sets_of(memory, kept, "alice")
    alice.forget([ids[0]])  # by another process: nobody has told this one yet
    assert not kept.save(memory.ledger, "alice")
    assert not (memory.home / "sets").exists()


def test_a_set_that_was_dropped_while_it_was_made_is_not_written(memory: Memory, alice: UserMemory) -> None:
    says(alice, *TALK)
    memory.projector.catch_up("alice")
    kept = kept_in(memory, memory.home / "sets")
    with memory.ledger.read("alice") as tx:
        kept.of(tx)
        kept.drop("alice")
    assert not kept.save(memory.ledger, "alice")


def test_where_no_file_can_be_written_recalls_go_on(plain: Memory) -> None:
    alice = plain.user("alice")
    (plain.home / "ranking").write_text("in the way")
    long_talk(alice)
    assert alice.recall(QUESTIONS[0], strategy="learned").hits
    assert alice.recall(QUESTIONS[0], strategy="learned").degraded == ()
