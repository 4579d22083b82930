"""One memory for many threads: opening, closing, one object a user, who may read the home, media, async twins."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import stat
import threading
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from hexamem import Memory, Settings, UserMemory
from hexamem.cli import main
from hexamem.doctor import examine_home
from hexamem.errors import CorruptFileError, InvalidInputError, NotFoundError, StoreClosedError
from hexamem.stores.ledger.schema import recalls

QUIET = Settings(background=False)
PIXEL = b"\x89PNG not quite a picture"
PICTURE = {"type": "image", "base64": base64.b64encode(PIXEL).decode(), "mime_type": "image/png"}
SHA256 = hashlib.sha256(PIXEL).hexdigest()


def opened(home: Path) -> Memory:
    return Memory.open(home, embedder="static", settings=QUIET)


def in_thread(call: Any) -> list[Any]:
    """Run a call in another thread to its end; its result, or what it raised."""
    outcome: list[Any] = []

    def run() -> None:
        try:
            outcome.append(call())
        except Exception as error:  # noqa: BLE001 - handed to the test
            outcome.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join(30)
    assert not thread.is_alive()
    return outcome


def queries(user: UserMemory) -> list[str]:
    """The queries in the ledger."""
    user.write_recalls()
    with user.memory.ledger.read(user.name) as tx:
        return [
            row.query for row in tx.all(select(recalls).where(recalls.c.user_id == tx.user_id).order_by(recalls.c.id))
        ]


# Closing.


def test_a_memory_can_be_closed_from_inside_one_of_its_calls(tmp_path: Path) -> None:
    memory = opened(tmp_path / "home")
    memory.user("alice").remember("a heron")
    outcome = in_thread(lambda: memory.reindex(progress=lambda *_: memory.close()))
    assert len(outcome) == 1
    with pytest.raises(StoreClosedError):
        memory.users()
    # Another thread than the one that opened the home has released it.
    with opened(tmp_path / "home") as again:
        assert again.user("alice").recall("heron").hits[0].text == "a heron"


def test_many_threads_that_write_while_it_closes_lose_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    memory = Memory.open(tmp_path / "home", embedder="static")
    acknowledged: list[str] = []
    started = threading.Barrier(5, timeout=30)

    def write(number: int) -> None:
        user = memory.user(f"user {number}")
        started.wait()
        try:
            while True:
                acknowledged.extend(user.remember(f"note of {number}").step_ids)
        except StoreClosedError:
            pass

    threads = [threading.Thread(target=write, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    started.wait()
    while len(acknowledged) < 8:
        pass
    memory.close()
    for thread in threads:
        thread.join(30)
    with opened(tmp_path / "home") as again:
        stored = {step.id for name in again.users() for step in again.user(name).steps()}
    assert stored == set(acknowledged)


# One object a user.


def test_another_timezone_is_stored_in_the_one_object_of_the_user_and_in_the_ledger(tmp_path: Path) -> None:
    with opened(tmp_path / "home") as memory:
        first = memory.user("alice", timezone="Europe/Lisbon")
        first.remember("hello")
        assert memory.user("alice", timezone="Asia/Tokyo") is first
        assert first.timezone == "Asia/Tokyo"
        assert memory.user("alice") is first
        with pytest.raises(InvalidInputError, match="Mars/Base"):
            memory.user("alice", timezone="Mars/Base")
        assert first.timezone == "Asia/Tokyo"
    with opened(tmp_path / "home") as again:
        assert again.user("alice").timezone == "Asia/Tokyo"
        user = again.user("bob", timezone="Asia/Kathmandu")
        [step] = user.remember("The kettle is on.").step_ids  # without a time: the user's clock
        assert user.get(step).offset_minutes == 5 * 60 + 45
        [hit] = user.recall("kettle", k=1).hits
        assert hit.occurred_at is not None
        assert hit.occurred_at.utcoffset() == timedelta(hours=5, minutes=45)


@pytest.mark.parametrize(
    ("words", "query"),
    [
        ("Bartholomew", "Who is Bartholomew?"),
        ("巴塞洛缪", "谁是巴塞洛缪先生"),
    ],
)
def test_queries_of_before_and_after_a_redaction_are_logged_without_the_words(
    memory: Memory, traces: Any, monkeypatch: pytest.MonkeyPatch, words: str, query: str
) -> None:
    alice, late = memory.user("alice", timezone="Europe/Lisbon"), memory.user("late")
    for user in (alice, late):
        user.remember(f"His name is {words} .")
        user.recall(query)
    receipt = memory.user("alice", timezone="Asia/Tokyo").redact(words, caption="a name")
    alice.recall(query)
    assert queries(alice) == [query.replace(words, receipt.reference)] * 2
    with monkeypatch.context() as patched:  # as if the recall came after redact had written those before it
        patched.setattr(UserMemory, "write_recalls", lambda self: None)
        receipt = late.redact(words, caption="a name")
    assert queries(late) == [query.replace(words, receipt.reference)]
    memory.close()
    assert traces(memory.home, words) == []


def test_a_recall_that_was_made_before_an_erasure_is_not_noted_after_it(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    alice = memory.user("alice")
    alice.remember("a heron")
    inner = memory.searcher.find

    def erased_meanwhile(*args: Any) -> Any:
        found = inner(*args)
        alice.erase()
        alice.remember("a new life")
        return found

    with monkeypatch.context() as patched:
        patched.setattr(memory.searcher, "find", erased_meanwhile)
        alice.recall("heron")
    assert queries(alice) == []


# Who may read the home.


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.embedded
def test_a_new_home_is_for_its_owner_alone_and_doctor_reports_one_that_others_may_read(tmp_path: Path) -> None:
    home = tmp_path / "above" / "home"
    with opened(home) as memory:
        memory.user("alice").remember([{"role": "user", "content": [PICTURE]}])
        folder = memory.home / "media" / memory.user("alice").key
        assert mode(memory.home) == 0o700
        assert mode(memory.home / "media") == mode(folder) == 0o700
        assert mode(folder / SHA256) == 0o600
    assert not [found for found in examine_home(home) if found.name == "permissions"]
    home.chmod(0o755)
    opened(home).close()
    assert mode(home) == 0o755  # a folder that exists keeps its mode
    [found] = [found for found in examine_home(home) if found.name == "permissions"]
    assert found.status == "note"
    assert f"chmod 700 {home}" in found.detail


@pytest.mark.embedded
def test_in_a_folder_that_others_may_read_a_home_stores_nothing_that_they_may_read(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    with opened(tmp_path) as memory:
        alice = memory.user("alice")
        alice.remember([{"role": "user", "content": [PICTURE]}, "We moved to Porto."])
        memory.flush()
        alice.recall("Where do we live?")
        shown = [path.name for path in tmp_path.iterdir() if mode(path) & 0o077]
    assert sorted(shown) == [".lock", "home.id"]


# Media.


def test_media_come_back_byte_for_byte_to_their_own_user_alone_or_not_at_all(memory: Memory, alice: UserMemory) -> None:
    [step_id] = alice.remember([{"role": "user", "content": [PICTURE]}]).step_ids
    assert alice.steps()[0].media[0].sha256 == SHA256
    assert alice.media(SHA256) == PIXEL
    with pytest.raises(NotFoundError, match="bob"):
        memory.user("bob").media(SHA256)
    for strange in ("", "%", "../../vault.key", SHA256[:10]):
        with pytest.raises(NotFoundError):
            alice.media(strange)
    gone = alice.forget([step_id])
    with pytest.raises(NotFoundError):
        alice.media(SHA256)
    alice.undo(gone.id)
    assert asyncio.run(alice.amedia(SHA256)) == PIXEL
    (memory.home / "media" / alice.key / SHA256).write_bytes(PIXEL[::-1])
    with pytest.raises(CorruptFileError, match=f"{SHA256}.*damaged"):
        alice.media(SHA256)


@pytest.mark.embedded
def test_show_writes_the_media_of_a_step_into_a_folder(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "home", settings=QUIET) as memory:
        [step_id] = memory.user("alice").remember([{"role": "user", "content": [PICTURE]}]).step_ids
    out = tmp_path / "out"
    assert main(["show", step_id, "--user", "alice", "--home", str(tmp_path / "home"), "--media", str(out)]) == 0
    assert [(path.name, path.read_bytes()) for path in out.iterdir()] == [(f"{SHA256}.png", PIXEL)]
