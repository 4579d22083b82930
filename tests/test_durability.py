"""Nothing that was acknowledged is lost: killed processes, damaged and missing indexes, work left undone, many threads."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from hexamem import Memory, Settings, UserMemory
from hexamem.errors import CorruptFileError
from hexamem.stores.ledger.migrations import migrate
from hexamem.stores.projections import Projector

from .faults import SEED, SOAK, Acknowledged, assert_indexes_match_the_ledger, assert_whole, version_of
from .fork_server import WRITE_PATH, python
from .manager_script import answer
from .scripted_server import ScriptedServer

pytestmark = pytest.mark.embedded

STAGES = ("record", "label", "manage", "apply", "project", "queue")
OF_THE_LIBRARY = ("merge", "erase", "reindex", "migration")  # where no model works
KILLS = {"embedded": 10, "agents,single_call": 6}
"""Workers killed in one home whose modes take turns, one in each stage."""
IN_THE_SOAK = [
    {f"embedded@{number}": 40 for number in range(12)} | {"agents,single_call@0": 36},
    {f"embedded@{number}": 40 for number in range(12, 22)} | {f"agents,single_call@{number}": 36 for number in (1, 2)},
]
"""The same for each of the processes that kill at a time in the long form: 988 and the 16 of the short one."""
TEXTS = [
    "Ada planted twelve tulips behind the observatory", "Boris tuned the harpsichord before the rehearsal",
    "Chen mailed the lighthouse keys to Lisbon", "Dora repaired a vintage espresso machine",
    "Emil adopted a greyhound called Comet", "Fatima finished her thesis on glacier moss",
]  # fmt: skip
QUIET = Settings(background=False, mode="off")


def reopened(home: Path, settings: Settings = QUIET) -> Memory:
    return Memory.open(home, embedder="static", settings=settings)


def answers(user: UserMemory) -> list[list[tuple[str, float]]]:
    return [
        [(hit.id, round(hit.score, 4)) for hit in user.recall(question, strategy=strategy)]
        for question in ("who planted tulips", "keys of the lighthouse")
        for strategy in ("dense", "bm25")
    ]


# -- killed processes ------------------------------------------------------------------------------------------------


def kill(folder: Path, wanted: dict[str, int], server: ScriptedServer) -> subprocess.Popen[str]:
    script = Path(__file__).with_name("kill_child.py")
    kills = [f"{home}={number}" for home, number in wanted.items()]
    command = [*python(*WRITE_PATH), str(script), str(folder), server.base_url, str(SEED), *kills]
    errors = None if SOAK else subprocess.PIPE  # which tell the progress
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True)


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, list[dict[str, str]]]]:
    """A folder of homes in which workers were killed, and where they died."""
    folder = tmp_path_factory.mktemp("killed")
    died: dict[str, list[dict[str, str]]] = {}
    shards = [KILLS, *(IN_THE_SOAK if SOAK else [])]
    with ScriptedServer(answer) as server:
        children = [kill(folder, wanted, server) for wanted in shards]
        try:
            for wanted, child in zip(shards, children, strict=True):
                out, errors = child.communicate(timeout=3_000 if SOAK else 600)
                assert child.returncode == 0, f"seed {SEED}: {errors}{out}"
                died |= json.loads(out.splitlines()[-1])
                assert {home: len(died[home]) for home in wanted} == wanted
        finally:
            for child in children:
                child.kill()
    return folder, died


def test_processes_killed_in_every_stage_lose_and_double_nothing(
    killed: tuple[Path, dict[str, list[dict[str, str]]]],
) -> None:
    folder, died = killed
    for home, deaths in died.items():
        expected = {*STAGES, *(OF_THE_LIBRARY if home.startswith("embedded") else ())}
        assert {one["stage"] for one in deaths} == expected, deaths
        acknowledged = Acknowledged(folder / f"{home}.acknowledged")
        assert len(acknowledged.of("message")) >= 4
        assert acknowledged.of("secret")
        migrated = version_of(folder / home)[0]
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("hexamem.stores.ledger.ledger.migrate", lambda engine, to=migrated: migrate(engine, {}, to))
            with reopened(folder / home, Settings(background=False)) as memory:
                assert_whole(memory, acknowledged)
    counts = Counter(one["stage"] for deaths in died.values() for one in deaths)
    if SOAK:
        homes = [Acknowledged(folder / f"{home}.acknowledged") for home in died]
        messages = sum(len(home.of("message")) + len(home.of("secret")) for home in homes)
        kinds = Counter(one["kind"] for deaths in died.values() for one in deaths)
        print(
            f"\nseed {SEED}: {counts.total()} killed, {dict(counts)}; at {dict(kinds)}; {messages:,} acknowledged steps"
        )
        assert counts.total() >= 1_000
        assert min(counts.values()) >= 50


# -- damaged indexes -------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def sound_home(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str, list[list[tuple[str, float]]]]:
    """A closed home of two users with enough steps for HNSW files to be written; alice's key, and her answers."""
    home = tmp_path_factory.mktemp("sound") / "home"
    with reopened(home) as memory:
        for name in ("alice", "bob"):
            user = memory.user(name)
            user.remember([f"{text} on day {day}" for day in range(20) for text in TEXTS])
            user.add({"kind": "semantic", "name": "greyhound", "summary": "Comet is a greyhound and lives with Emil"})
            user.flush()
        expected = answers(memory.user("alice"))
        assert all(expected)
        return home, memory.user("alice").key, expected


def damage(home: Path, how: str, pattern: str) -> None:
    paths = sorted(home.glob(pattern))
    assert paths or how == "switched off", f"no {pattern} under {home}"
    if how == "switched off":
        (home / pattern).write_text("another boot\n")
    for path in paths:
        data = path.read_bytes() if path.is_file() else b""
        match how:
            case "remove":
                shutil.rmtree(path) if path.is_dir() else path.unlink()
            case "empty":
                path.write_bytes(b"")
            case "cut":
                path.write_bytes(data[: len(data) // 2])
            case "garbage":
                path.write_bytes(b"\xff{oops" * 99)
            case "noise":  # behind a head that is read at once
                path.write_bytes(data[:8192] + random.Random(0).randbytes(len(data) - 8192))


DAMAGES = {
    "both folders are gone": [("remove", "lexical"), ("remove", "chroma")],
    "no segments, garbage for a database": [("remove", "lexical/KEY/meta.json"), ("garbage", "chroma/chroma.sqlite3")],
    "terms and HNSW files cut short": [("cut", "lexical/KEY/*.term"), ("cut", "chroma/*/data_level0.bin")],
    "garbage for segments and headers": [("garbage", "lexical/KEY/meta.json"), ("garbage", "chroma/*/header.bin")],
    "no postings, links cut short": [("empty", "lexical/KEY/*.idx"), ("cut", "chroma/*/link_lists.bin")],
    "no terms, lengths cut short": [("remove", "lexical/KEY/*.term"), ("cut", "chroma/*/length.bin")],
    "no keyword index, no HNSW folders": [("remove", "lexical/KEY"), ("remove", "chroma/*-*")],
    "no keyword index, vectors that were not sealed": [("remove", "lexical"), ("remove", "chroma/hexamem-seal.json")],
    "no keyword index, garbage for a seal": [("remove", "lexical"), ("garbage", "chroma/hexamem-seal.json")],
    "no keyword index, no database": [("remove", "lexical/KEY"), ("remove", "chroma/chroma.sqlite3")],
    "no keyword index, a machine switched off": [("remove", "lexical"), ("switched off", "chroma/hexamem-open")],
    "no keyword index, noise in the database": [("remove", "lexical"), ("noise", "chroma/chroma.sqlite3")],
}


@pytest.mark.parametrize("damages", DAMAGES.values(), ids=DAMAGES.keys())
def test_a_damaged_index_is_rebuilt_with_a_clear_line_and_answers_as_before(
    damages: list[tuple[str, str]], sound_home: tuple[Path, str, list[list[tuple[str, float]]]], tmp_path: Path
) -> None:
    sound, key, expected = sound_home
    home = tmp_path / "home"
    shutil.copytree(sound, home)
    for how, pattern in damages:
        damage(home, how, pattern.replace("KEY", key))
    with reopened(home) as memory:
        alice = memory.user("alice")
        degraded = alice.recall("who planted tulips").degraded
        assert any("rebuilt" in line for line in memory.notices)
        assert all("\n" not in line for line in memory.notices)
        assert any("rebuilt" in line for line in degraded)
        assert not any("bob" in line for line in degraded)
        assert answers(alice) == expected
        memory.user("bob").flush()
        for name in ("alice", "bob"):
            assert_indexes_match_the_ledger(memory.user(name))
    with reopened(home) as memory:
        assert answers(memory.user("alice")) == expected
        assert memory.notices == []


def test_indexes_that_are_gone_are_rebuilt_although_steps_were_waiting_for_them(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with reopened(home) as memory:
        memory.user("alice").remember(TEXTS[:3])
        memory.user("alice").flush()
        receipt = memory.user("alice").remember(TEXTS[3:])
        assert memory.projector.behind("alice") > 0
    for folder in ("lexical", "chroma"):
        damage(home, "remove", folder)
    with reopened(home) as memory:
        alice = memory.user("alice")
        for strategy in ("bm25", "dense"):
            assert [alice.recall(text, strategy=strategy).hits[0].text for text in TEXTS] == TEXTS
        assert alice.recall(TEXTS[3]).hits[0].id == receipt.step_ids[0]
        assert memory.projector.behind("alice") == 0
        assert_indexes_match_the_ledger(alice)


def test_a_keyword_index_that_is_deleted_or_damaged_while_open_is_rebuilt_by_the_next_recall(
    memory: Memory, alice: UserMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    alice.remember(TEXTS[:3])
    alice.flush()
    shutil.rmtree(memory.home / "lexical" / alice.key)
    alice.remember(TEXTS[3:])
    assert [alice.recall(text, strategy="bm25").hits[0].text for text in TEXTS] == TEXTS
    (notice,) = memory.notices
    assert "keyword index of user 'alice' is rebuilt" in notice
    expected = answers(alice)
    next((memory.home / "lexical" / alice.key).glob("*.term")).write_bytes(b"x")
    search, failures = type(memory.lexical).search, [CorruptFileError("a segment cannot be read")]

    def fail_once(*args: object, **kwargs: object) -> object:
        if failures:
            raise failures.pop()
        return search(*args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(type(memory.lexical), "search", fail_once)
    assert answers(alice) == expected
    assert failures == []
    assert_indexes_match_the_ledger(alice)


def test_an_index_that_cannot_be_written_raises_and_one_that_failed_half_way_goes_on_without_a_second_copy(
    memory: Memory, alice: UserMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise CorruptFileError("this disk is beyond help")

    written = Projector._set

    def fail(projector: Projector, user: str, values: dict[str, int]) -> None:
        if "vectors.steps" in values:
            raise OSError("the process is about to die")
        written(projector, user, values)

    alice.remember(TEXTS)
    with monkeypatch.context() as patched:
        patched.setattr(type(memory.lexical), "upsert", broken)
        with pytest.raises(CorruptFileError, match="beyond help"):
            alice.recall("tulips")
    with monkeypatch.context() as patched:
        patched.setattr(Projector, "_set", fail)
        with pytest.raises(OSError, match="about to die"):
            alice.flush()
    alice.remember("Greta sold the observatory")
    assert alice.recall(TEXTS[0], strategy="rrf").hits[0].text == TEXTS[0]
    assert_indexes_match_the_ledger(alice)


def test_reindex_rebuilds_every_index_with_the_same_answers(memory: Memory, alice: UserMemory) -> None:
    alice.remember(TEXTS)
    alice.add({"kind": "core", "label": "pet", "value": "a greyhound"})
    memory.user("bob").remember("only one")
    expected = answers(alice)
    assert memory.reindex() == 2 * (len(TEXTS) + 2)
    assert answers(alice) == expected
    assert memory.reindex("alice") == 2 * (len(TEXTS) + 1)
    assert_indexes_match_the_ledger(alice)


# -- the background, and threads -------------------------------------------------------------------------------------


def test_beside_the_background_thread_messages_are_recalled_at_once_indexed_without_a_recall_and_survive_closing(
    tmp_path: Path,
) -> None:
    with reopened(tmp_path / "home", Settings(mode="off")) as memory:
        alice = memory.user("alice")
        for number in range(8):
            receipt = alice.remember(f"parcel {number} went to {TEXTS[number % len(TEXTS)]}")
            hits = alice.recall(f"parcel {number}", k=1, strategy="bm25").hits
            assert hits[0].id == receipt.step_ids[0]
        memory.user("bob").remember(TEXTS)
        waiting = threading.Event()
        assert any(memory.projector.behind("bob") == 0 or waiting.wait(0.01) for _ in range(3_000))
        assert_indexes_match_the_ledger(memory.user("bob"))
        receipts = [memory.user(f"user {number % 3}").remember(f"line {number}") for number in range(30)]
    with reopened(tmp_path / "home") as memory:
        for number, receipt in enumerate(receipts):
            assert memory.user(f"user {number % 3}").get(receipt.step_ids[0]).content == f"line {number}"
        for number in range(3):
            memory.user(f"user {number}").flush()
            assert_indexes_match_the_ledger(memory.user(f"user {number}"))


def test_eight_threads_on_two_users_lose_nothing_double_nothing_and_keep_their_order(tmp_path: Path) -> None:
    rounds, threads = (40 if SOAK else 4), 8
    start = threading.Barrier(threads)

    def work(memory: Memory, number: int) -> list[str]:
        """Write to a thread of its own and to one that all workers of the user share; the ids of the steps."""
        user = memory.user(f"user {number % 2}")
        strangers = tuple(f"worker{other}turn" for other in range(threads) if other % 2 != number % 2)
        ids: list[str] = []
        start.wait(timeout=60)
        for turn in range(rounds):
            own = f"worker{number}turn{turn}"
            ids += user.remember([f"{own} alone"], f"thread {number}").step_ids
            ids += user.remember([f"{own} first shared", f"{own} then shared"], "shared").step_ids
            texts = [hit.text for hit in user.recall(f"{own} alone", k=5, strategy="rrf")]
            assert f"{own} alone" in texts
            assert not [text for text in texts if text.startswith(strangers)]
        return ids

    with reopened(tmp_path / "home", Settings(mode="off")) as memory:
        with ThreadPoolExecutor(threads) as pool:
            receipts = list(pool.map(work, [memory] * threads, range(threads)))
        for parity in range(2):
            user, workers = memory.user(f"user {parity}"), range(parity, threads, 2)
            assert sorted(step.id for step in user.steps()) == sorted(
                id_ for number in workers for id_ in receipts[number]
            )
            shared = user.steps("shared")
            assert [step.turn for step in shared] == list(range(len(workers) * rounds * 2))
            texts = [step.content for step in shared]
            for number in workers:
                turns = [f"worker{number}turn{turn}" for turn in range(rounds)]
                assert [step.content for step in user.steps(f"thread {number}")] == [f"{turn} alone" for turn in turns]
                expected = [f"{turn} {place} shared" for turn in turns for place in ("first", "then")]
                assert [text for text in texts if text.startswith(f"worker{number}turn")] == expected
            # The two messages of one call are neighbours.
            assert [text.replace("first", "then") for text in texts[::2]] == texts[1::2]
            user.flush()
            assert_indexes_match_the_ledger(user)
