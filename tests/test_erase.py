"""Erasing a user: everything goes, physically and everywhere; nobody else notices; the user may begin anew."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import chromadb
import pytest
from chromadb.config import Settings as ChromaSettings
from sqlalchemy import select

from hexamem import Memory, Settings
from hexamem.errors import HomeInUseError, NotFoundError
from hexamem.memory_types import Step
from hexamem.stores.ledger import engine as ledger_engine
from hexamem.stores.ledger import user_key
from hexamem.stores.ledger.schema import jobs
from hexamem.stores.lexical.records import EXACT, LABEL, SPEAKER, STEMMED, THREAD

from .ledger_rows import rows_left
from .word_everywhere import PICTURE, WORD, fill, indexed_fields, tables_with
from .word_labeler import WordLabeler

Traces = Callable[..., list[str]]


def chroma_values(home: Path, word: str) -> int:
    """How many metadata values of any collection hold the word, by a client of its own. The home must be closed."""
    client = chromadb.PersistentClient(str(home / "chroma"), settings=ChromaSettings(anonymized_telemetry=False))
    found = [client.get_collection(c.name).get(include=["metadatas"])["metadatas"] for c in client.list_collections()]
    client.close()
    return sum(word in str(value) for part in found for metadata in part or [] for value in (metadata or {}).values())


def opened(home: Path) -> Memory:
    return Memory.open(home, embedder="static", settings=Settings(background=False), labeler=WordLabeler)


@pytest.mark.embedded
def test_erasing_leaves_no_trace_in_any_store_or_file(tmp_path: Path, traces: Traces) -> None:
    home = tmp_path / "home"
    name = f"captain {WORD}"
    with opened(home) as memory:
        user = memory.user(name)
        fill(user, everywhere=True)
        # The test sees: what is searched for is there, in every store.
        seen = {line.split("/")[0].split(" ")[0] for line in traces(home, WORD)}
        assert {"ledger.sqlite3-wal", "chroma", "media"} <= seen
        assert indexed_fields(home, name, WORD) == sorted([STEMMED, EXACT, SPEAKER, LABEL, THREAD])
    assert chroma_values(home, WORD) >= 1  # the item's label
    assert f"ledger.sqlite3 (UTF-8 of {WORD})" in traces(home, WORD)
    wanted = ["users", "steps", "items", "sources", "operations", "changes", "recalls", "jobs", "files"]
    assert tables_with(home, WORD).keys() >= {*wanted, "intents", "scopes"}

    with opened(home) as memory:
        user = memory.user(name)
        assert user.recall(WORD).hits
        receipt = user.erase()
        assert traces(home, WORD) == []  # while it is open, so in the write-ahead log too
        assert indexed_fields(home, name, WORD) == []
        assert not (home / "lexical" / user_key(name)).exists()
        assert not (home / "media" / user_key(name)).exists()
        with memory.ledger.read(name) as tx:
            assert tx.user_id == 0
        assert memory.users() == []
    assert receipt.user_key == user_key(name)
    assert traces(home, WORD) == []
    assert chroma_values(home, WORD) == 0
    assert tables_with(home, WORD) == {}
    assert [path for path in (home / "chroma").iterdir() if path.is_dir()] == []


@pytest.mark.embedded
def test_no_row_is_left_the_receipt_counts_what_was_there_and_the_user_begins_anew(memory: Memory) -> None:
    alice = memory.user("alice")
    ids = fill(alice, everywhere=True)
    memory.user("bob").remember("nothing of this counts")
    with memory.ledger.read("alice") as tx:
        rows = rows_left(tx)
    assert (rows["feedback"], rows["jobs"], rows["steps"]) == (1, 1, 4)
    key = user_key("alice")
    vectors = memory.vectors.count(key, "steps") + memory.vectors.count(key, "items")
    indexed = len(alice.steps()) + len(alice.items())
    alice.recall(f"and {WORD}?")  # not yet written to the ledger
    receipt = alice.erase()
    assert receipt.rows == {**rows, "users": 1}
    assert (receipt.vectors, receipt.documents, receipt.files, receipt.user_key) == (indexed, indexed, 2, key)
    assert vectors == indexed
    with pytest.raises(NotFoundError):
        alice.feedback(ids["recall"], helped=[])
    for again in (alice.erase(), memory.user("nobody").erase()):
        assert (again.rows, again.vectors, again.documents, again.files) == ({}, 0, 0, 0)
    assert alice.recall("Where is it?").hits == ()
    assert (alice.steps(), alice.items(), alice.history()) == ([], [], [])
    fill(alice, "hedgehog", everywhere=True)
    assert (len(alice.steps()), alice.steps()[0].turn) == (4, 0)
    texts = [hit.text for hit in alice.recall("hedgehog", k=20)]
    assert "I live in hedgehog. In hedgehog, I say!" in texts
    assert tables_with(memory.home, WORD) == {}


@pytest.mark.embedded
def test_erasing_while_the_background_still_indexes_leaves_nothing(tmp_path: Path, traces: Traces) -> None:
    home = tmp_path / "home"
    with Memory.open(home, embedder="static") as memory:
        alice = memory.user("alice")
        for number in range(10):
            alice.remember([{"role": "user", "name": WORD, "content": f"{WORD} {number}"}] * 20)
        alice.erase()
        assert memory.flush()
    assert traces(home, WORD) == []
    assert indexed_fields(home, "alice", WORD) == []
    assert chroma_values(home, WORD) == 0


@pytest.mark.embedded
def test_erasing_reaches_damaged_indexes_and_files_of_no_message(tmp_path: Path, traces: Traces) -> None:
    home = tmp_path / "home"
    with opened(home) as memory:
        fill(memory.user("alice"), everywhere=True)
        memory.media.put(user_key("alice"), PICTURE)  # left by a call that was killed: its row never came
        files = len(list((home / "media" / user_key("alice")).iterdir()))
    for path in (home / "lexical" / user_key("alice")).glob("*.term"):
        path.write_bytes(path.read_bytes()[:-20])
    for path in (home / "chroma").rglob("header.bin"):
        path.write_bytes(b"no header")
    with opened(home) as memory:
        assert memory.user("alice").erase().files == files
        assert memory.user("alice").recall(WORD).hits == ()
    assert traces(home, WORD) == []
    assert chroma_values(home, WORD) == 0


@pytest.mark.embedded
def test_a_log_that_cannot_be_cut_is_reported_and_erasing_again_cuts_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, traces: Traces
) -> None:
    monkeypatch.setattr(ledger_engine, "_BUSY_TIMEOUT_MS", 50)
    home = tmp_path / "home"
    with opened(home) as memory:
        alice = memory.user("alice")
        alice.remember(f"My boat is called {WORD}.")
        with memory.ledger.read("bob") as tx:  # a reader that saw the time before
            tx.all(select(jobs))
            with pytest.raises(HomeInUseError, match="repeat"):
                alice.erase()
            assert traces(home, WORD)  # the log still has it: the error told the truth
        alice.erase()
        assert traces(home, WORD) == []


def test_a_file_remembered_while_the_user_is_erased_is_left_whole_or_not_at_all(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, traces: Traces
) -> None:
    alice = memory.user("alice")
    alice.remember("hello")
    image = {"type": "image", "base64": base64.b64encode(PICTURE).decode(), "mime_type": "image/png"}
    message = {"role": "user", "content": [image]}
    drop = memory.projector.drop_user

    def and_remember(user: str) -> tuple[int, int]:
        gone = drop(user)
        alice.remember([message])  # before the ledger is erased
        return gone

    with monkeypatch.context() as patched:
        patched.setattr(memory.projector, "drop_user", and_remember)
        alice.erase()
    assert traces(memory.home, WORD) == []
    write = memory.ledger.write

    def erase_first(user: str, **options: Any) -> Any:
        monkeypatch.undo()
        alice.erase()  # between the file of the call below and its rows
        return write(user, **options)

    monkeypatch.setattr(memory.ledger, "write", erase_first)
    (step_id,) = alice.remember([message]).step_ids
    step = alice.get(step_id)
    assert isinstance(step, Step)
    sha256 = step.media[0].sha256
    assert sha256 is not None
    assert memory.media.get(user_key("alice"), sha256) == PICTURE


def test_a_home_that_is_opened_with_another_ledger_loses_no_file(tmp_path: Path) -> None:
    settings, home = Settings(background=False, mode="off", labels="off"), tmp_path / "home"
    with Memory.open(home, embedder="static", settings=settings) as memory:
        memory.user("alice").remember(
            {
                "role": "user",
                "content": [{"type": "image", "base64": base64.b64encode(PICTURE).decode(), "mime_type": "image/png"}],
            }
        )
    key = base64.urlsafe_b64encode(b"k" * 32).decode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HEXAMEM_VAULT_KEY", key)
        with Memory.open(
            home, embedder="static", settings=settings, ledger_url=f"sqlite:///{tmp_path / 'other.sqlite3'}"
        ) as memory:
            assert memory.users() == []
    with Memory.open(home, embedder="static", settings=settings) as memory:
        assert memory.user("alice").media(hashlib.sha256(PICTURE).hexdigest()) == PICTURE
