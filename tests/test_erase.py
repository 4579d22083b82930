"""Erasing a user: everything goes, physically and everywhere; nobody else notices; the user may begin anew."""

from __future__ import annotations

import base64
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import chromadb
import pytest
from chromadb.config import Settings as ChromaSettings
from sqlalchemy import insert, select

from hexamem import Memory, Settings, UserMemory
from hexamem.errors import HomeInUseError, NotFoundError
from hexamem.memory_types import Step, utc_now
from hexamem.stores.ledger import engine as ledger_engine
from hexamem.stores.ledger import user_key
from hexamem.stores.ledger.schema import USER_TABLES, jobs
from hexamem.stores.lexical.records import EXACT, LABEL, SPEAKER, STEMMED, THREAD, open_index

from .ledger_rows import rows_left
from .word_labeler import WordLabeler

Traces = Callable[..., list[str]]
CANARY = "zanzibarquokka"
PICTURE = b"\x89PNG\r\n\x1a\n\xff\xfe\xfd" + CANARY.encode() + b"\x80\x81"


def fill(user: UserMemory, word: str = CANARY) -> dict[str, Any]:
    """Put the word into everything that a user can store; gives the ids."""
    picture = PICTURE.replace(CANARY.encode(), word.encode())
    steps = user.remember(
        [
            {"role": "user", "name": word, "content": f"My boat is called {word}.", "metadata": {"boat": word}},
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "Look at it"},
                    {
                        "type": "image",
                        "base64": _base64(picture),
                        "mime_type": "image/png",
                        "caption": f"{word} at sea",
                    },
                    {"type": "file", "base64": _base64(f"log of {word}".encode()), "mime_type": "text/plain"},
                ],
            },
            {"role": "user", "content": f"the password of {word} is hunter2x9"},
        ],
        thread_id=f"about {word}",
        agent_id=word,
    ).step_ids
    item = user.add(
        {
            "kind": "semantic",
            "name": "boat",
            "summary": f"The boat is called {word}",
            "labels": [word],
            "metadata": {word: word},
            "sources": [{"step_id": steps[0], "quote": word, "start": 18, "end": 18 + len(word)}],
        },
        reason=f"told about {word}",
        actor=word,
    )
    user.edit(item.id, summary=f"{word} is a boat", reason=f"{word} again")
    recall = user.recall(f"what is {word}?")
    user.feedback(recall.id, helped=[recall.hits[0].id])
    user.recall(f"where is {word} now?")  # not yet written to the ledger
    with user.memory.ledger.write(user.name) as tx:
        row = {"kind": "label", "payload": {"text": word}, "status": "waiting", "error": word}
        tx.connection.execute(
            insert(jobs).values(user_id=tx.user_id, id=f"job-{word}", created_at=utc_now(), due_at=utc_now(), **row)
        )
    user.flush()
    return {"steps": steps, "item": item.id, "recall": recall.id}


def _base64(data: bytes) -> str:
    import base64

    return base64.b64encode(data).decode()


def terms(home: Path, user: str, word: str) -> list[str]:
    """The fields of the user's keyword index that know the word, by a reader of its own."""
    folder = home / "lexical" / user_key(user)
    if not folder.exists():
        return []
    searcher = open_index(folder).searcher()
    wanted = {STEMMED: word, EXACT: word, SPEAKER: word, LABEL: word, THREAD: f"about {word}"}
    return sorted(field for field, term in wanted.items() if searcher.doc_freq(field, term))


def chroma_values(home: Path, word: str) -> int:
    """How many metadata values of any collection hold the word, by a client of its own. The home must be closed."""
    client = chromadb.PersistentClient(str(home / "chroma"), settings=ChromaSettings(anonymized_telemetry=False))
    found = [client.get_collection(c.name).get(include=["metadatas"])["metadatas"] for c in client.list_collections()]
    client.close()
    return sum(word in str(value) for part in found for metadata in part or [] for value in (metadata or {}).values())


def tables_with(home: Path, word: str) -> set[str]:
    """The ledger's tables in which the word stands, by a connection of its own."""
    found = set()
    with closing(sqlite3.connect(home / "ledger.sqlite3")) as database:
        for table in [*(one.name for one in USER_TABLES), "users"]:
            if any(word in str(row) for row in database.execute(f"SELECT * FROM {table}")):
                found.add(table)
    return found


def opened(home: Path) -> Memory:
    return Memory.open(home, settings=Settings(background=False), labeler=WordLabeler)


def test_erasing_leaves_no_trace_in_any_store_or_file(tmp_path: Path, traces: Traces) -> None:
    home = tmp_path / "home"
    name = f"captain {CANARY}"
    with opened(home) as memory:
        user = memory.user(name)
        fill(user)
        # The test sees: what is searched for is there, in every store.
        seen = {line.split("/")[0].split(" ")[0] for line in traces(home, CANARY)}
        assert {"ledger.sqlite3-wal", "chroma", "media"} <= seen
        assert terms(home, name, CANARY) == sorted([STEMMED, EXACT, SPEAKER, LABEL, THREAD])
    assert chroma_values(home, CANARY) >= 1  # the item's label
    assert f"ledger.sqlite3 (UTF-8 of {CANARY})" in traces(home, CANARY)
    wanted = ["users", "steps", "items", "sources", "operations", "changes", "recalls", "jobs", "files", "secrets"]
    assert tables_with(home, CANARY) >= {*wanted, "intents", "scopes"}

    with opened(home) as memory:
        user = memory.user(name)
        assert user.recall(CANARY).hits
        receipt = user.erase()
        assert traces(home, CANARY) == []  # while it is open, so in the write-ahead log too
        assert terms(home, name, CANARY) == []
        assert not (home / "lexical" / user_key(name)).exists()
        assert not (home / "media" / user_key(name)).exists()
        with memory.ledger.read(name) as tx:
            assert tx.user_id == 0
        assert memory.users() == []
    assert receipt.user_key == user_key(name)
    assert traces(home, CANARY) == []
    assert chroma_values(home, CANARY) == 0
    assert tables_with(home, CANARY) == set()
    assert [path for path in (home / "chroma").iterdir() if path.is_dir()] == []


def test_no_row_is_left_the_receipt_counts_what_was_there_and_the_user_begins_anew(memory: Memory) -> None:
    alice = memory.user("alice")
    ids = fill(alice)
    memory.user("bob").remember("nothing of this counts")
    with memory.ledger.read("alice") as tx:
        rows = rows_left(tx)
    assert (rows["feedback"], rows["jobs"], rows["steps"]) == (1, 1, 3)
    key = user_key("alice")
    vectors = memory.vectors.count(key, "steps") + memory.vectors.count(key, "items")
    indexed = len(alice.steps()) + len(alice.items())
    alice.recall(f"and {CANARY}?")  # not yet written to the ledger
    receipt = alice.erase()
    assert receipt.rows == {**rows, "users": 1}
    assert (receipt.vectors, receipt.documents, receipt.files, receipt.user_key) == (indexed, indexed, 2, key)
    assert vectors == indexed
    with pytest.raises(NotFoundError):
        alice.feedback(ids["recall"], helped=[])
    for again in (alice.erase(), memory.user("nobody").erase()):
        assert (again.rows, again.vectors, again.documents, again.files) == ({}, 0, 0, 0)
    assert alice.recall(CANARY).hits == ()
    assert (alice.steps(), alice.items(), alice.history()) == ([], [], [])
    fill(alice, "hedgehog")
    assert (len(alice.steps()), alice.steps()[0].turn) == (3, 0)
    texts = [hit.text for hit in alice.recall("hedgehog", k=20)]
    assert "My boat is called hedgehog." in texts
    assert tables_with(memory.home, CANARY) == set()


def test_other_users_keep_everything(memory: Memory, traces: Traces) -> None:
    bob = memory.user("bob")
    ids = fill(bob, "mongoose")
    before = bob.recall("mongoose", k=20)
    steps, items, history = bob.steps(), bob.items(), bob.history()
    fill(memory.user("alice"))
    memory.user("alice").erase()
    assert (bob.steps(), bob.items(), bob.history()) == (steps, items, history)
    after = bob.recall("mongoose", k=20)
    assert [(hit.id, hit.score) for hit in after] == [(hit.id, hit.score) for hit in before]
    assert [hit.id for hit in bob.recall("mongoose", strategy="dense", k=20)]
    assert bob.get(ids["item"]).summary == "mongoose is a boat"
    assert bob.reveal(bob.items("vault")[0].id, reason="test") == "hunter2x9"
    assert memory.media.get(user_key("bob"), steps[1].media[0].sha256).startswith(b"\x89PNG")
    assert traces(memory.home / "media", "mongoose")
    assert memory.users() == ["bob"]


def test_erasing_while_the_background_still_indexes_leaves_nothing(tmp_path: Path, traces: Traces) -> None:
    home = tmp_path / "home"
    with Memory.open(home) as memory:
        alice = memory.user("alice")
        for number in range(20):
            alice.remember([{"role": "user", "name": CANARY, "content": f"{CANARY} {number}"}] * 20)
        alice.erase()
        assert memory.flush()
    assert traces(home, CANARY) == []
    assert terms(home, "alice", CANARY) == []
    assert chroma_values(home, CANARY) == 0


def test_erasing_reaches_indexes_that_are_damaged(tmp_path: Path, traces: Traces) -> None:
    home = tmp_path / "home"
    with opened(home) as memory:
        fill(memory.user("alice"))
    for path in (home / "lexical" / user_key("alice")).glob("*.term"):
        path.write_bytes(path.read_bytes()[:-20])
    for path in (home / "chroma").rglob("header.bin"):
        path.write_bytes(b"no header")
    with opened(home) as memory:
        memory.user("alice").erase()
        assert memory.user("alice").recall(CANARY).hits == ()
    assert traces(home, CANARY) == []
    assert chroma_values(home, CANARY) == 0


def test_files_that_a_killed_call_left_are_erased_too(memory: Memory, traces: Traces) -> None:
    alice = memory.user("alice")
    alice.remember("hello")
    memory.media.put(user_key("alice"), PICTURE)  # its row never came
    assert traces(memory.home, CANARY)
    assert alice.erase().files == 1
    assert traces(memory.home, CANARY) == []


def test_a_log_that_cannot_be_cut_is_reported_and_erasing_again_cuts_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, traces: Traces
) -> None:
    monkeypatch.setattr(ledger_engine, "_BUSY_TIMEOUT_MS", 50)
    home = tmp_path / "home"
    with opened(home) as memory:
        alice = memory.user("alice")
        alice.remember(f"My boat is called {CANARY}.")
        with memory.ledger.read("bob") as tx:  # a reader that saw the time before
            tx.all(select(jobs))
            with pytest.raises(HomeInUseError, match="repeat"):
                alice.erase()
            assert traces(home, CANARY)  # the log still has it: the error told the truth
        alice.erase()
        assert traces(home, CANARY) == []


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
    assert traces(memory.home, CANARY) == []
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
