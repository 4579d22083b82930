"""Faults that are drawn: files damaged anywhere, a log cut short, a disk that is full, processes killed on one ledger.

Few of each in ``make test``; many, and further kills, in ``make soak``. After each, :func:`faults.assert_whole`.
"""
# ruff: noqa: F811 - fixtures come by import

from __future__ import annotations

import asyncio
import json
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from hexamem import Memory, Settings
from hexamem.errors import CorruptFileError, HexamemError, HomeNotWritableError, StorageFullError

from .faults import SEED, SOAK, Acknowledged, assert_whole
from .fork_server import WRITE_PATH, python
from .ledger_databases import NewDatabase, new_database  # noqa: F401

QUIET = Settings(background=False, mode="off", labels="off")


def drawn(short: int, long: int) -> list[int]:
    """The numbers of the faults that are drawn."""
    return list(range(long if SOAK else short))


def draw(*what: object) -> random.Random:
    return random.Random(f"{SEED} {what}")


def opened(home: Path) -> Memory:
    return Memory.open(home, embedder="static", settings=QUIET)


def damage(file: Path, chosen: random.Random) -> str:
    """Damage a file at a place that is drawn, as a new file: one that is mapped must not change; returns how."""
    data = bytearray(file.read_bytes())
    how = chosen.choice(["cut", "flipped", "zeros", "noise", "removed"])
    start = chosen.randrange(len(data)) if data else 0
    end = min(len(data), start + chosen.choice([1, 16, 512, 4096]))
    file.unlink()
    match how:
        case "cut":
            del data[start:]
        case "flipped":
            data[start:end] = bytes(byte ^ (1 << chosen.randrange(8)) for byte in data[start:end])
        case "zeros":
            data[start:end] = bytes(end - start)
        case "noise":
            data[start:end] = chosen.randbytes(end - start)
    if how != "removed":
        file.write_bytes(data)
    return f"{how} at {start} of {len(data)} in {file.name}"


# -- indexes ---------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Acknowledged]:
    """A closed home with enough steps for HNSW files, deleted documents and several segments; what it acknowledged."""
    home = tmp_path_factory.mktemp("sound") / "home"
    acknowledged = Acknowledged(home.with_suffix(".acknowledged"))
    with opened(home) as memory:
        user = memory.user("ann")
        for thread in range(4):
            texts = [f"parcel {thread}x{number} went to the lighthouse by ferry" for number in range(30)]
            user.remember(texts, f"thread {thread}")
            acknowledged.add(*[("message", text) for text in texts])
            item = user.add({"kind": "semantic", "name": f"ferry {thread}", "summary": "it leaves at noon"})
            user.flush()
            user.edit(item.id, summary=f"it leaves at {thread}")
            user.flush()
    return home, acknowledged


@pytest.mark.embedded
@pytest.mark.parametrize("number", drawn(4, 150))
@pytest.mark.parametrize("part", ["lexical", "chroma"])
def test_an_index_that_is_damaged_anywhere_is_level_again(
    part: str, number: int, sound: tuple[Path, Acknowledged], tmp_path: Path
) -> None:
    home, chosen = tmp_path / "home", draw(part, number)
    shutil.copytree(sound[0], home)
    files = sorted(path for path in (home / part).rglob("*") if path.is_file() and path.stat().st_size)
    how = damage(chosen.choice(files), chosen)
    try:
        for _ in range(2):  # what was repaired stays so
            with opened(home) as memory:
                assert_whole(memory, sound[1])
    except (AssertionError, HexamemError) as error:
        error.add_note(f"seed {SEED}: {how}")
        raise


# -- the log of the ledger -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module", params=["new", "opened again"])
def running(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """A copy of a home in use, whose log holds much of the ledger; the texts of its steps in order."""
    home = tmp_path_factory.mktemp("running") / "home"
    texts = [f"parcel {number} went to the lighthouse" for number in range(12)]
    with opened(home) as memory:
        if request.param == "opened again":
            memory.user("ann").remember(texts[:3])
    with opened(home) if request.param == "opened again" else opened(home.with_name("other")) as memory:
        user = memory.user("ann")
        for text in texts[len(user.steps()) :]:
            user.remember(text)
            user.flush()
        shutil.copytree(memory.home, home.with_name("copy"))
    return home.with_name("copy"), texts


@pytest.mark.embedded
@pytest.mark.parametrize("number", drawn(2, 60))
@pytest.mark.parametrize("first", ["recall", "remember"])
def test_a_log_cut_anywhere_leaves_a_ledger_of_an_earlier_time_and_indexes_that_match_it(
    first: str, number: int, running: tuple[Path, list[str]], tmp_path: Path
) -> None:
    home, chosen = tmp_path / "home", draw(first, number)
    shutil.copytree(running[0], home)
    (home / ".lock").unlink(missing_ok=True)
    log = home / "ledger.sqlite3-wal"
    (home / "ledger.sqlite3-shm").unlink()
    size = chosen.randrange(log.stat().st_size)
    with log.open("rb+") as file:
        file.truncate(size)
    texts = list(running[1])
    memory = opened(home)
    acknowledged = Acknowledged(tmp_path / "acknowledged")
    with memory:
        user = memory.user("ann")
        left = [step.content for step in user.steps()]
        assert left == texts[: len(left)]
        if first == "remember":  # more than were lost: the indexes have as many records as the ledger then
            new = [f"letter {number} came back" for number in range(len(texts) - len(left))] or ["nothing was lost"]
            user.remember(new)
            left += new
        acknowledged.add(*[("message", text) for text in left])
        found = user.recall("lighthouse parcel letter", k=50, strategy="bm25").hits
        assert {hit.text for hit in found} <= set(left), (size, first)
        assert_whole(memory, acknowledged)


@pytest.mark.embedded
def test_a_restored_backup_is_noticed_even_when_new_changes_took_the_numbers_of_the_lost_ones_without_being_indexed(
    tmp_path: Path,
) -> None:
    home, backup = tmp_path / "home", tmp_path / "backup"
    with opened(home) as memory:
        for name in ("ann", "ben"):
            memory.user(name).remember("The parcel went to the lighthouse.")
        assert memory.flush()
    shutil.copy(home / "ledger.sqlite3", backup)
    with opened(home) as memory:
        for name in ("ann", "cleo"):
            memory.user(name).remember(["The letter was lost.", "The stamp was blue."])
        assert memory.flush()
    shutil.copy(backup, home / "ledger.sqlite3")
    with opened(home) as memory:
        memory.user("ann").remember(["The boat came back.", "The boat is red."])
    with opened(home) as memory:
        texts = {hit.text for hit in memory.user("ann").recall("letter boat stamp parcel", strategy="dense")}
        assert texts == {"The parcel went to the lighthouse.", "The boat came back.", "The boat is red."}
        assert memory.user("ben").recall("parcel").hits
        memory.user("cleo").remember("The gull cried.")
        assert [hit.text for hit in memory.user("cleo").recall("letter")] == ["The gull cried."]
        assert [line.split("'")[1] for line in memory.notices if "older than they are" in line] == ["ann", "cleo"]
    with opened(home) as memory:
        assert memory.flush()
        assert memory.notices == []


# -- a disk that is full, or read-only -------------------------------------------------------------------------------


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Callable[..., Path]]:
    """Mounts a small file system, or mounts it again with other options."""
    place = tmp_path / "disk"
    place.mkdir()

    def mount(options: str) -> Path:
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", place], capture_output=True, check=False)
        if done.returncode:
            pytest.skip(f"may not mount a file system: {done.stderr.decode().strip()}")
        return place

    if not shutil.which("mount"):
        pytest.skip("mounts a file system")
    yield mount
    subprocess.run(["umount", "-l", place], capture_output=True, check=False)


@pytest.mark.embedded
@pytest.mark.parametrize("number", drawn(1, 30))
def test_a_disk_that_becomes_full_anywhere_loses_nothing_and_with_room_again_all_works(
    number: int, small_disk: Callable[..., Path], tmp_path: Path
) -> None:
    chosen, place = draw("full", number), small_disk("size=160m")
    acknowledged, filler = Acknowledged(tmp_path / "acknowledged"), place / "filler"
    errors: list[str] = []
    memory: Memory | None = None
    for turn in range(10 if SOAK else 4):
        room = chosen.choice([chosen.randrange(1 << 10, 1 << 20), chosen.randrange(60 << 20, 72 << 20)])
        free = shutil.disk_usage(place).free
        with filler.open("wb") as file:
            file.write(bytes(max(0, free - room)))
        try:
            memory = memory or opened(place / "home")
            for line in range(30):
                text = f"parcel {turn}x{line} " + "x" * chosen.choice([10, 5_000, 40_000])
                if memory.user("ann").remember(text):
                    acknowledged.add(("message", text))
                if chosen.random() < 0.4:
                    memory.user("ann").flush()
                if chosen.random() < 0.1:
                    memory.reindex("ann")
                if chosen.random() < 0.1:
                    memory.user("bob").remember(text)
                    memory.user("bob").erase()
        except (StorageFullError, CorruptFileError) as error:
            errors.append(str(error))
        if memory is not None and chosen.random() < 0.5:
            try:
                memory.close()
            except HexamemError as error:
                errors.append(str(error))
            memory = None
        filler.unlink()
        if memory is None:
            memory = opened(place / "home")
        assert_whole(memory, acknowledged)
    assert errors
    assert [error for error in errors if "\n" in error] == []
    memory.close()
    with opened(place / "home") as memory:
        assert_whole(memory, acknowledged)


def test_a_home_on_a_disk_that_becomes_read_only_says_so_in_one_line_and_loses_nothing(
    small_disk: Callable[..., Path], tmp_path: Path
) -> None:
    place, acknowledged = small_disk("size=160m"), Acknowledged(tmp_path / "acknowledged")
    with opened(place / "home") as memory:
        memory.user("ann").remember("before")
    acknowledged.add(("message", "before"))
    small_disk("remount,ro,size=160m")
    with pytest.raises(HomeNotWritableError, match=r"(?i)read-only") as refused:
        opened(place / "home")
    assert "\n" not in str(refused.value)
    small_disk("remount,rw,size=160m")
    with opened(place / "home") as memory:
        assert_whole(memory, acknowledged)


# -- models ----------------------------------------------------------------------------------------------------------

ROOT = Path(__file__).parents[1]
MODELS = sorted(
    str(path.relative_to(ROOT))
    for pattern in ("*/weights/*", "*/*/weights/*", "models/*/data/*", "stores/embedders/static_model/*")
    for path in ROOT.glob(pattern)
    if path.suffix in (".npz", ".onnx", ".safetensors", ".json", ".txt")
)
_WITH_A_DAMAGED_MODEL = """
import builtins, io, json, os, sys
damaged, copy, home = sys.argv[1:4]
plain = io.open
def redirected(file, *args, **options):
    if isinstance(file, (str, os.PathLike)) and os.path.realpath(file) == damaged:
        file = copy
    return plain(file, *args, **options)
io.open = builtins.open = redirected
from hexamem import Memory, Settings
from hexamem.errors import HexamemError
stored, failed = [], []
def attempt(call, *args, **options):
    try:
        return call(*args, **options)
    except HexamemError as error:
        assert "\\n" not in str(error), error
        failed.append(str(error))
memory = attempt(Memory.open, home, embedder=sys.argv[4], settings=Settings(background=False))
if memory is None:
    print(json.dumps([None, failed]))
    sys.exit()
with memory:
    user = memory.user("ann")
    for text in ("My colleague Zora is allergic to walnuts.", "We met in Porto last Saturday", "the password is swordfish#77"):
        if attempt(user.remember, text):
            stored.append(text)
    attempt(user.flush)
    attempt(user.recall, "Who is allergic to walnuts?")
    attempt(user.research, "Who is allergic to walnuts?")
    failed += memory.notices
print(json.dumps([stored, failed]))
"""


@pytest.mark.parametrize(
    "number",
    range(2 * len(MODELS)) if SOAK else [MODELS.index("stores/secrets/weights/tagger.npz")],
    ids=lambda number: MODELS[number % len(MODELS)],
)
def test_while_a_model_file_is_damaged_a_memory_is_refused_or_stores_messages_but_none_without_the_detector_of_secrets(
    number: int, tmp_path: Path
) -> None:
    model, chosen = ROOT / MODELS[number % len(MODELS)], draw("model", number)
    copy = tmp_path / "copy" / model.name
    copy.parent.mkdir()
    shutil.copy(model, copy)
    how = damage(copy, chosen)
    embedder = "static" if "static" in str(model) else "bundled"
    home = tmp_path / "home"
    command = [sys.executable, "-c", _WITH_A_DAMAGED_MODEL, str(model), str(copy), str(home), embedder]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, (how, done.stderr[-3000:])
    stored, failed = json.loads(done.stdout.splitlines()[-1])
    if stored is None:  # without the embedder no memory is opened
        assert "static_model" in str(model) or str(model).endswith("encoder/data/metadata.json"), (how, failed)
        assert "install hexamem again" in failed[0]
        stored = []
    else:
        expected = 0 if model.name == "tagger.npz" else 3  # nothing is stored with its secrets
        assert len(stored) == expected, (how, failed)
    assert stored or failed
    acknowledged = Acknowledged(tmp_path / "acknowledged")
    acknowledged.add(*[("message", text) for text in stored[:2]], *[("secret", "swordfish#77") for _ in stored[2:]])
    with Memory.open(home, embedder=embedder, settings=Settings(background=False)) as memory:
        for job in memory.jobs():  # in their pause after a failure
            memory.retry_job(job.id, user=job.user)
        assert_whole(memory, acknowledged)


# -- many at once ----------------------------------------------------------------------------------------------------


def test_sixty_four_tasks_on_one_memory_lose_nothing_and_find_what_they_stored(tmp_path: Path) -> None:
    acknowledged = Acknowledged(tmp_path / "acknowledged")

    async def task(memory: Memory, number: int) -> None:
        user = await memory.auser("ann" if number % 4 else f"user {number % 3}")
        for turn in drawn(1, 12):
            text = f"parcel {number}x{turn} went out"
            (step,) = (await user.aremember(text, f"thread {number % 5}")).step_ids
            if user.name == "ann":
                acknowledged.add(("message", text))
            hits = (await user.arecall(f"parcel {number}x{turn}", k=3, strategy="bm25")).hits
            assert step in [hit.id for hit in hits]
            if number % 16 == 1:
                item = await user.aadd({"kind": "semantic", "name": f"parcel {number}", "summary": f"sent {turn}"})
                await user.aedit(item.id, summary=f"sent on day {turn}")

    async def work() -> None:
        async with await Memory.aopen(tmp_path / "home", embedder="static", settings=Settings(mode="off")) as memory:
            await asyncio.wait_for(asyncio.gather(*(task(memory, number) for number in range(64))), 900)

    asyncio.run(work())
    with opened(tmp_path / "home") as memory:
        assert len(acknowledged.of("message")) == 48 * len(drawn(1, 12))
        assert_whole(memory, acknowledged)


_SHARING = """
import json, sys
from hexamem import Memory, Settings
home, url, notes, number, rounds, first = sys.argv[1:]
settings = Settings(mode="embedded", job_lease=5, background=False)
with Memory.open(home, ledger_url=url, embedder="static", settings=settings) as memory:
    ann = memory.user("ann")
    for turn in range(int(first), int(first) + int(rounds)):
        text = f"My friend Zora{number}x{turn} keeps bees"
        ann.remember(text, f"thread {turn % 3}")
        with open(notes, "a") as out:
            out.write(json.dumps(["message", text]) + "\\n")
        if turn % 2:
            memory.flush(timeout=20)
        ann.recall(text, k=1)
"""


def test_processes_on_one_ledger_of_which_some_are_killed_lose_and_double_nothing(
    new_database: NewDatabase, tmp_path: Path
) -> None:
    processes, kills = (6, 60) if SOAK else (3, 2)
    rounds, chosen, url = (30 if SOAK else 4), draw("shared"), new_database()
    started: dict[int, subprocess.Popen[str]] = {}
    first = dict.fromkeys(range(processes), 0)

    def start(number: int) -> None:
        notes = tmp_path / f"{number}.acknowledged"
        arguments = [tmp_path / f"home {number}", url, notes, number, rounds, first[number]]
        first[number] += rounds
        command = [*python(*WRITE_PATH), "-c", _SHARING, *map(str, arguments)]
        started[number] = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    try:
        for number in range(processes):
            start(number)
        killed = 0
        while killed < kills:
            time.sleep(chosen.uniform(0.1, 2.0))
            number = chosen.randrange(processes)
            if started[number].poll() is None:
                started[number].send_signal(signal.SIGKILL)
                killed += 1
            _, errors = started[number].communicate()
            assert started[number].returncode in (0, -signal.SIGKILL), errors
            start(number)
        for child in started.values():
            _, errors = child.communicate(timeout=600)
            assert child.returncode == 0, errors
    finally:
        for child in started.values():
            child.kill()
    acknowledged = Acknowledged(tmp_path / "all.acknowledged")
    for notes in sorted(tmp_path.glob("[0-9]*.acknowledged")):
        acknowledged.add(*[("message", text) for text in Acknowledged(notes).of("message")])
    settings: Any = Settings(background=False)
    for number in range(processes):
        home = tmp_path / f"home {number}"
        with Memory.open(home, ledger_url=url, embedder="static", settings=settings) as memory:
            assert_whole(memory, acknowledged)
    print(f"\nseed {SEED}: {processes} processes, {kills} killed, {len(acknowledged.of('message'))} acknowledged steps")
