"""Not a test: what must hold in a home after any fault, in one function, and the record of what was acknowledged there.

``tests/test_durability.py``, ``tests/test_faults.py`` and the workers of ``tests/kill_child.py`` use it.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections import Counter
from pathlib import Path
from typing import Any

from sqlalchemy import text

from hexamem import Memory, UserMemory
from hexamem.stores.ledger import user_key

__all__ = [
    "SEED",
    "SOAK",
    "Acknowledged",
    "assert_indexes_match_the_ledger",
    "assert_whole",
]

SOAK = "HEXAMEM_SOAK" in os.environ
"""Whether the tests of faults run in their long form."""
SEED = int(os.environ.get("HEXAMEM_SOAK_SEED") or 3)
"""Of what is drawn: the same seed draws the same faults."""


class Acknowledged:
    """What calls acknowledged by returning: ``(kind, value, …)`` a line, in a file beside the home.

    Kinds: ``message`` and ``secret`` of the main user, and ``learned``, a word that one item has; ``user``, a further one
    with their messages, and ``erased``; ``pair``, a word that two items have, and ``merged``; ``version``, of the ledger.
    """

    def __init__(self, file: Path) -> None:
        self.file = file

    def add(self, *entries: tuple[Any, ...]) -> None:
        with self.file.open("a", encoding="utf-8") as out:
            out.writelines(f"{json.dumps(entry)}\n" for entry in entries)

    def of(self, kind: str) -> list[Any]:
        """The values of a kind: alone, or several in a list."""
        lines = self.file.read_text("utf-8").splitlines() if self.file.exists() else []
        entries = [json.loads(line) for line in lines]
        return [entry[1] if len(entry) == 2 else entry[1:] for entry in entries if entry[0] == kind]


def assert_indexes_match_the_ledger(user: UserMemory) -> None:
    """Each index holds exactly the active records of the ledger."""
    vectors, lexical = user.memory.vectors, user.memory.lexical
    steps = {step.id for step in user.steps()}
    items = {item.id for item in user.items(superseded=True)}
    for part, expected in (("steps", steps), ("items", items)):
        assert vectors.ids(user.key, part) == expected  # type: ignore[arg-type]
        assert vectors.count(user.key, part) == len(expected)  # type: ignore[arg-type]
    assert lexical.ids(user.key) == steps | items
    assert lexical.count(user.key) == len(steps | items)


def assert_whole(memory: Memory, acknowledged: Acknowledged, name: str = "ann") -> None:
    """After any fault: every acknowledged step is there once, every operation whole or absent, every index level again."""
    user = memory.user(name)
    assert memory.flush(), memory.jobs()
    assert user.jobs() == []
    _check_ledger(memory, acknowledged)
    steps = user.steps()
    stored = Counter(step.content for step in steps)
    lost = [line for line in acknowledged.of("message") if not stored[line]]
    doubled = [line for line in acknowledged.of("message") if stored[line] > 1]
    assert (lost, doubled) == ([], [])
    for thread in {step.thread_id for step in steps}:
        turns = [step.turn for step in steps if step.thread_id == thread]
        assert turns == list(range(len(turns))), thread
    _check_items(user, acknowledged)
    if codes := acknowledged.of("secret"):
        assert [code for code in codes if any(code in content for content in stored)] == []
        secrets = [user.reveal(item.id, reason="test") for item in user.items("vault")]
        assert len(secrets) == len(set(secrets))
        assert set(codes) <= set(secrets)
    _check_erased(memory, acknowledged)
    for each in memory.users():
        assert_indexes_match_the_ledger(memory.user(each))
    if steps:
        newest = steps[-1]
        hits = user.recall(newest.index_text, kinds="step", k=10, strategy="bm25").hits
        assert newest.id in [hit.id for hit in hits], (newest.index_text, [hit.text for hit in hits])


def _check_ledger(memory: Memory, acknowledged: Acknowledged) -> None:
    """The database is sound, and every migration was applied whole or not at all."""
    if not memory.ledger.embedded:
        return
    with memory.ledger.engine.connect() as connection:
        assert connection.execute(text("PRAGMA integrity_check")).scalars().all() == ["ok"]
        assert connection.execute(text("PRAGMA foreign_key_check")).all() == []
    if not (memory.home / "ledger.sqlite3").exists():  # it is elsewhere, by URL
        return
    versions = acknowledged.of("version")
    version, migrated = version_of(memory.home)
    assert version >= max(versions, default=1)
    assert migrated == ([f"migrated_{version}"] if version > 1 else [])


def version_of(home: Path) -> tuple[int, list[str]]:
    """The version of a home's ledger, and the tables that migrations of the tests have made."""
    with sqlite3.connect(home / "ledger.sqlite3") as database:
        (version,) = database.execute("SELECT value FROM meta WHERE key = 'version'").fetchone()
        tables = database.execute("SELECT name FROM sqlite_master WHERE name LIKE 'migrated%' AND type = 'table'")
        names = [row[0] for row in tables]
    database.close()
    return int(version), names


def _check_items(user: UserMemory, acknowledged: Acknowledged) -> None:
    items = {item.id: item for item in user.items()}
    added: Counter[str] = Counter()
    for operation in user.history():
        if operation.kind == "add":
            added.update(change.target_id for change in operation.changes if change.target_id in items)
    assert {id_: added[id_] for id_ in items} == dict.fromkeys(items, 1)
    words = Counter(word for item in items.values() if item.kind == "semantic" for word in set(item.text.split()))
    assert [word for word in acknowledged.of("learned") if words[word] != 1] == []
    merged = acknowledged.of("merged")
    for pair in acknowledged.of("pair"):
        assert words[pair] in ((1,) if pair in merged else (1, 2)), (pair, words[pair])


def _check_erased(memory: Memory, acknowledged: Acknowledged) -> None:
    """A user whose erasure was cut off is there as before, or gone from every store."""
    erased, remaining = acknowledged.of("erased"), set(memory.users())
    for name, messages in acknowledged.of("user"):
        key = user_key(name)
        if name in remaining:
            assert name not in erased
            steps = memory.user(name).steps()
            assert [step.content for step in steps] == messages
            for media in (media for step in steps for media in step.media):
                assert memory.media.get(key, media.sha256)
            continue
        assert not (memory.home / "lexical" / key).exists()
        assert not (memory.home / "media" / key).exists(), name
        assert [memory.vectors.count(key, part) for part in ("steps", "items")] == [0, 0]  # type: ignore[arg-type]
