"""Nothing that was acknowledged is lost: killed writers, damaged and missing indexes, work left undone, many threads."""

from __future__ import annotations

import json
import shutil
import subprocess
import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from hexamem import Memory, Settings, UserMemory
from hexamem.errors import CorruptFileError
from hexamem.stores.projections import Projector

from .fork_server import WRITE_PATH, python

KILLS = 50
TEXTS = [
    "Ada planted twelve tulips behind the observatory",
    "Boris tuned the harpsichord before the rehearsal",
    "Chen mailed the lighthouse keys to Lisbon",
    "Dora repaired a vintage espresso machine",
    "Emil adopted a greyhound called Comet",
    "Fatima finished her thesis on glacier moss",
]
QUESTIONS = ["who planted tulips", "harpsichord rehearsal", "keys of the lighthouse", "greyhound", "what grows on ice"]


def quiet() -> Settings:
    """No background thread: a test decides what runs when."""
    return Settings(background=False, mode="off")


def assert_in_step(memory: Memory, user: UserMemory) -> None:
    """Each index holds exactly the active records of the ledger."""
    steps = {step.id for step in user.steps()}
    items = {item.id for item in user.items(superseded=True)}
    assert memory.vectors.ids(user.key, "steps") == steps
    assert memory.vectors.ids(user.key, "items") == items
    assert memory.lexical.ids(user.key) == steps | items
    assert memory.vectors.count(user.key, "steps") == len(steps)
    assert memory.vectors.count(user.key, "items") == len(items)
    assert memory.lexical.count(user.key) == len(steps) + len(items)


def answers(user: UserMemory) -> list[list[tuple[str, float]]]:
    """The ids and scores of every question by every plain strategy."""
    return [
        [(hit.id, round(hit.score, 4)) for hit in user.recall(question, strategy=strategy)]
        for question in QUESTIONS
        for strategy in ("rrf_neighbours", "dense", "bm25")
    ]


# ------------------------------------------------------------------------------------------------------------ kill -9


@pytest.fixture(scope="module")
def survived(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[dict[str, object]], list[str]]:
    """A home whose writers were killed again and again, what was acknowledged to them, and where they died."""
    folder = tmp_path_factory.mktemp("killed")
    script = Path(__file__).with_name("kill_child.py")
    command = [*python(*WRITE_PATH), str(script), str(folder / "home"), str(folder / "notes"), str(KILLS), "7"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    # A note that the kill cut short was not acknowledged to anybody.
    lines = (folder / "notes").read_bytes().split(b"\n")[:-1]
    return folder / "home", [json.loads(line) for line in lines], json.loads(done.stdout)


def test_fifty_writers_died_by_sigkill_at_many_different_points(
    survived: tuple[Path, list[dict[str, object]], list[str]],
) -> None:
    _, acknowledged, died = survived
    assert len(died) == KILLS
    assert len(set(died)) == 15
    assert Counter(died)["random"] > 10
    assert len(acknowledged) > KILLS


def test_after_every_kill_each_acknowledged_record_is_there_once_and_recalled(
    survived: tuple[Path, list[dict[str, object]], list[str]],
) -> None:
    home, acknowledged, _ = survived
    with Memory.open(home, settings=quiet()) as memory:
        assert set(memory.users()) == {"ann", "ben"}
        for name in ("ann", "ben"):
            user = memory.user(name)
            said = {
                record_id: text
                for entry in acknowledged
                if entry["user"] == name
                for record_id, text in zip(entry["ids"], entry["texts"], strict=True)
            }
            user.flush()
            assert_in_step(memory, user)
            steps = {step.id: step.content for step in user.steps()}
            items = {item.id: item.summary for item in user.items()}
            stored = steps | items
            assert {record_id: stored.get(record_id) for record_id in said} == said
            # Every text was made to be unique: the same words under two ids would be a second copy.
            assert max(Counter(stored.values()).values()) == 1
            for record_id, text in said.items():
                hits = user.recall(text, k=3, strategy="rrf").hits
                assert hits[0].id == record_id
                assert text in hits[0].text
            # Batches are whole or absent, and each thread has its turns in order without a gap.
            for thread in {step.thread_id for step in user.steps()}:
                turns = [step.turn for step in user.steps(thread)]
                assert turns == list(range(len(turns)))


# -------------------------------------------------------------------------------------------------- damaged indexes


@pytest.fixture(scope="module")
def sound_home(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str, list[list[tuple[str, float]]]]:
    """A closed home with two users and enough steps for Chroma to have written its HNSW files; alice's key, answers."""
    home = tmp_path_factory.mktemp("sound") / "home"
    with Memory.open(home, settings=quiet()) as memory:
        for name in ("alice", "bob"):
            user = memory.user(name)
            user.remember([f"{text} on day {day}" for day in range(20) for text in TEXTS])
            user.add({"kind": "semantic", "name": "greyhound", "summary": "Comet is a greyhound and lives with Emil"})
        memory.user("bob").flush()
        expected = answers(memory.user("alice"))
        assert all(expected)
        key = memory.user("alice").key
    return home, key, expected


def _files(folder: Path, pattern: str) -> list[Path]:
    found = sorted(folder.rglob(pattern))
    assert found, f"no {pattern} under {folder}"
    return found


def _remove(*paths: Path) -> None:
    for path in paths:
        shutil.rmtree(path) if path.is_dir() else path.unlink()


def _cut_in_half(*files: Path) -> None:
    for file in files:
        file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


def _overwrite(content: bytes, *files: Path) -> None:
    for file in files:
        file.write_bytes(content)


def _segments(home: Path, key: str, ending: str) -> list[Path]:
    return _files(home / "lexical" / key, f"*.{ending}")


def _database(home: Path) -> Path:
    return home / "chroma" / "chroma.sqlite3"


DAMAGE: dict[str, Callable[[Path, str], None]] = {
    "the folder of all keyword indexes is gone": lambda home, key: _remove(home / "lexical"),
    "the user's keyword index is gone": lambda home, key: _remove(home / "lexical" / key),
    "the keyword index lost its list of segments": lambda home, key: _remove(home / "lexical" / key / "meta.json"),
    "files of the keyword index are cut short": lambda home, key: _cut_in_half(*_segments(home, key, "term")),
    "files of the keyword index are empty": lambda home, key: _overwrite(b"", *_segments(home, key, "idx")),
    "the list of segments is garbage": lambda home, key: _overwrite(b"{oops", home / "lexical" / key / "meta.json"),
    "the folder of all vectors is gone": lambda home, key: _remove(home / "chroma"),
    "the vector database is gone": lambda home, key: _remove(_database(home)),
    "the vector database is garbage": lambda home, key: _overwrite(b"garbage" * 999, _database(home)),
    "the vector database is empty": lambda home, key: _overwrite(b"", _database(home)),
    "the HNSW files are cut short": lambda home, key: _cut_in_half(*_files(home / "chroma", "data_level0.bin")),
    "the HNSW headers are garbage": lambda home, key: _overwrite(b"\xff" * 100, *_files(home / "chroma", "header.bin")),
    "the HNSW folders are gone": lambda home, key: _remove(*[f.parent for f in _files(home / "chroma", "header.bin")]),
    "both indexes are gone": lambda home, key: _remove(home / "lexical", home / "chroma"),
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE.keys())
def test_a_damaged_index_is_rebuilt_with_a_clear_line_and_answers_as_before(
    damage: Callable[[Path, str], None], sound_home: tuple[Path, str, list[list[tuple[str, float]]]], tmp_path: Path
) -> None:
    sound, key, expected = sound_home
    home = tmp_path / "home"
    shutil.copytree(sound, home)
    damage(home, key)
    with Memory.open(home, settings=quiet()) as memory:
        alice = memory.user("alice")
        first = alice.recall(QUESTIONS[0])
        assert any("rebuilt" in line for line in memory.notices)
        assert all("\n" not in line for line in memory.notices)
        assert any("rebuilt" in line for line in first.degraded)
        assert not any("bob" in line for line in first.degraded)
        assert answers(alice) == expected
        assert_in_step(memory, alice)
        memory.user("bob").flush()
        assert_in_step(memory, memory.user("bob"))
    with Memory.open(home, settings=quiet()) as memory:
        assert answers(memory.user("alice")) == expected
        assert memory.user("bob").recall(QUESTIONS[0]).hits
        assert memory.notices == []


def test_an_index_that_is_gone_is_rebuilt_although_new_work_was_waiting_too(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with Memory.open(home, settings=quiet()) as memory:
        memory.user("alice").remember(TEXTS[:3])
        memory.user("alice").flush()
        memory.user("alice").remember(TEXTS[3:])
    shutil.rmtree(home / "lexical")
    shutil.rmtree(home / "chroma")
    with Memory.open(home, settings=quiet()) as memory:
        alice = memory.user("alice")
        for text in TEXTS:
            assert alice.recall(text, strategy="bm25").hits[0].text == text
            assert alice.recall(text, strategy="dense").hits[0].text == text
        assert_in_step(memory, alice)


def test_a_keyword_index_deleted_while_the_memory_is_open_is_rebuilt_on_the_next_recall(
    memory: Memory, alice: UserMemory
) -> None:
    alice.remember(TEXTS[:3])
    alice.flush()
    shutil.rmtree(memory.home / "lexical" / alice.key)
    alice.remember(TEXTS[3:])
    assert [alice.recall(text, strategy="bm25").hits[0].text for text in TEXTS] == TEXTS
    assert len(memory.notices) == 1
    assert "keyword index of user 'alice' is rebuilt" in memory.notices[0]
    assert_in_step(memory, alice)


def test_a_search_that_meets_a_damaged_index_rebuilds_it_and_answers(
    memory: Memory, alice: UserMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    alice.remember(TEXTS)
    expected = answers(alice)
    segment = next((memory.home / "lexical" / alice.key).glob("*.term"))
    segment.write_bytes(b"x")
    inner = type(memory.lexical).search
    failed: list[str] = []

    def fail_once(store: object, *args: object, **kwargs: object) -> object:
        if not failed:
            failed.append("once")
            raise CorruptFileError("a segment cannot be read")
        return inner(store, *args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(type(memory.lexical), "search", fail_once)
    assert answers(alice) == expected
    assert failed
    assert "rebuilt" in memory.notices[0]


def test_a_damaged_index_does_not_hinder_erasure(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with Memory.open(home, settings=quiet()) as memory:
        memory.user("alice").remember([f"{text} {day}" for day in range(20) for text in TEXTS])
        memory.user("alice").flush()
        key = memory.user("alice").key
    _cut_in_half(*_files(home / "chroma", "data_level0.bin"), *_files(home / "lexical", "*.term"))
    with Memory.open(home, settings=quiet()) as memory:
        receipt = memory.user("alice").erase()
        assert receipt.rows["steps"] == 20 * len(TEXTS)
        assert memory.users() == []
        assert not (home / "lexical" / key).exists()
        assert memory.vectors.count(key, "steps") == 0
        memory.user("alice").remember("a new beginning")
        assert memory.user("alice").recall("beginning").hits[0].text == "a new beginning"


def test_what_cannot_be_mended_is_raised_and_nothing_is_lost(
    memory: Memory, alice: UserMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    alice.remember(TEXTS[:2])
    with monkeypatch.context() as patched:

        def broken(*_: object, **__: object) -> None:
            raise CorruptFileError("this disk is beyond help")

        patched.setattr(type(memory.lexical), "upsert", broken)
        with pytest.raises(CorruptFileError, match="beyond help"):
            alice.recall("tulips")
    assert alice.recall(TEXTS[0]).hits[0].text == TEXTS[0]
    assert_in_step(memory, alice)


# --------------------------------------------------------------------------------------------- closing and reopening


def test_work_left_undone_at_closing_is_caught_up_after_reopening(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with Memory.open(home, settings=quiet()) as memory:
        receipt = memory.user("alice").remember(TEXTS)
        assert memory.projector.behind("alice") > 0
    with Memory.open(home, settings=quiet()) as memory:
        alice = memory.user("alice")
        hit = alice.recall(TEXTS[2]).hits[0]
        assert (hit.id, hit.text) == (receipt.step_ids[2], TEXTS[2])
        assert memory.projector.behind("alice") == 0
        assert_in_step(memory, alice)
        assert memory.notices == []


def test_a_projection_that_failed_half_way_goes_on_without_a_second_copy(
    memory: Memory, alice: UserMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    alice.remember(TEXTS)
    inner = Projector._set

    def fail(projector: Projector, user: str, values: dict[str, int]) -> None:
        if "vectors.steps" in values:
            raise OSError("the process is about to die")
        inner(projector, user, values)

    with monkeypatch.context() as patched:
        patched.setattr(Projector, "_set", fail)
        with pytest.raises(OSError, match="about to die"):
            alice.flush()
    alice.remember("Greta sold the observatory")
    assert alice.recall(TEXTS[0], strategy="rrf").hits[0].text == TEXTS[0]
    assert_in_step(memory, alice)


def test_reindex_rebuilds_every_index_with_the_same_answers(memory: Memory, alice: UserMemory) -> None:
    alice.remember(TEXTS)
    alice.add({"kind": "core", "label": "pet", "value": "a greyhound"})
    memory.user("bob").remember("only one")
    expected = answers(alice)
    assert memory.reindex() == 2 * (len(TEXTS) + 2)
    assert answers(alice) == expected
    assert memory.reindex("alice") == 2 * (len(TEXTS) + 1)
    assert_in_step(memory, alice)


# ------------------------------------------------------------------------------------------------- the background


def test_what_was_just_remembered_is_recalled_at_once_beside_the_background_thread(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "home", settings=Settings(background=True)) as memory:
        alice = memory.user("alice")
        for number in range(30):
            text = f"parcel {number} went to {TEXTS[number % len(TEXTS)]}"
            receipt = alice.remember(text)
            assert alice.recall(text, k=1, strategy="rrf").hits[0].id == receipt.step_ids[0]
        assert_in_step(memory, alice)


def test_the_background_thread_brings_the_indexes_up_without_any_recall(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "home", settings=Settings(background=True)) as memory:
        alice = memory.user("alice")
        alice.remember(TEXTS)
        caught_up = threading.Event()
        for _ in range(1000):
            if not memory.projector.behind("alice"):
                caught_up.set()
                break
            caught_up.wait(0.01)
        assert caught_up.is_set()
        assert_in_step(memory, alice)


def test_a_memory_closed_right_after_many_writes_loses_none_of_them(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with Memory.open(home, settings=Settings(background=True)) as memory:
        receipts = [memory.user(f"user {number % 5}").remember(f"line {number}") for number in range(100)]
    with Memory.open(home, settings=quiet()) as memory:
        for number, receipt in enumerate(receipts):
            user = memory.user(f"user {number % 5}")
            assert user.get(receipt.step_ids[0]).content == f"line {number}"
        for number in range(5):
            memory.user(f"user {number}").flush()
            assert_in_step(memory, memory.user(f"user {number}"))


def test_eight_threads_on_two_users_lose_nothing_double_nothing_and_keep_their_order(tmp_path: Path) -> None:
    rounds, threads = 12, 8
    start = threading.Barrier(threads)

    def work(memory: Memory, number: int) -> list[str]:
        """Write to a thread of its own and to one that all workers of the user share; the ids of the steps."""
        user = memory.user(f"user {number % 2}")
        strangers = [f"worker{other}turn" for other in range(threads) if other % 2 != number % 2]
        mine: list[str] = []
        start.wait(timeout=60)
        for turn in range(rounds):
            own = f"worker{number}turn{turn}"
            mine += user.remember([f"{own} alone"], f"thread {number}").step_ids
            mine += user.remember([f"{own} first shared", f"{own} then shared"], "shared").step_ids
            found = [hit.text for hit in user.recall(f"{own} alone", k=5, strategy="rrf")]
            assert f"{own} alone" in found
            assert not [text for text in found if text.startswith(tuple(strangers))]
        return mine

    with Memory.open(tmp_path / "home", settings=Settings(background=True)) as memory:
        with ThreadPoolExecutor(threads) as pool:
            receipts = list(pool.map(work, [memory] * threads, range(threads)))
        for parity in range(2):
            user = memory.user(f"user {parity}")
            own = [number for number in range(threads) if number % 2 == parity]
            assert sorted(step.id for step in user.steps()) == sorted(one for number in own for one in receipts[number])
            for number in own:
                expected = [f"worker{number}turn{turn} alone" for turn in range(rounds)]
                assert [step.content for step in user.steps(f"thread {number}")] == expected
            shared = user.steps("shared")
            assert [step.turn for step in shared] == list(range(len(own) * rounds * 2))
            said = [step.content for step in shared]
            for number in own:
                in_order = [text for text in said if text.startswith(f"worker{number}turn")]
                pairs = [(turn, which) for turn in range(rounds) for which in ("first", "then")]
                assert in_order == [f"worker{number}turn{turn} {which} shared" for turn, which in pairs]
            # The two messages of one call stand together.
            assert [text.replace("first", "then") for text in said[::2]] == said[1::2]
            user.flush()
            assert_in_step(memory, user)
