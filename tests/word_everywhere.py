"""A word put into everything that a user can store, and a look for it: for tests of what takes words away for good."""

from __future__ import annotations

import base64
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from sqlalchemy import insert

from hexamem import UserMemory
from hexamem.memory_types import utc_now
from hexamem.stores.ledger import user_key
from hexamem.stores.ledger.schema import jobs
from hexamem.stores.lexical.records import EXACT, LABEL, SPEAKER, STEMMED, THREAD, open_index

__all__ = ["PICTURE", "WORD", "fill", "indexed_fields", "tables_with"]

WORD = "zanzibarquokka"
PICTURE = b"\x89PNG\r\n\x1a\n\xff\xfe\xfd" + WORD.encode() + b"\x80\x81"


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def fill(user: UserMemory, word: str = WORD, *, everywhere: bool = False) -> dict[str, Any]:
    """Put the word into every kind of row; gives the ids.

    Args:
        everywhere: also into names of threads and agents, a picture and beside a secret, which ``redact`` leaves.
    """
    picture: dict[str, Any] = {"type": "image", "url": f"https://x.org/{word}", "caption": f"a street of {word}"}
    if everywhere:
        data = PICTURE.replace(WORD.encode(), word.encode())
        picture = {"type": "image", "base64": _base64(data), "mime_type": "image/png", "caption": f"{word} at sea"}
    log = {"base64": _base64(f"log of {word}\r\n".encode()), "mime_type": "text/plain", "filename": f"{word}.txt"}
    steps = user.remember(
        [
            {
                "role": "user",
                "name": word,
                "content": f"I live in {word}. In {word}, I say!",
                "metadata": {word: [word]},
            },
            {"role": "user", "content": [{"type": "text", "text": f"see {word}"}, picture, {"type": "file", **log}]},
            {
                "role": "assistant",
                "content": "",
                "tool_calls": [{"id": "c1", "name": "find", "args": {"town": word, word: 1, "id": word}}],
            },
            {"role": "user", "content": f"the password of {word} is hunter2x9" if everywhere else "nothing here"},
        ],
        thread_id=f"about {word}" if everywhere else "default",
        agent_id=word if everywhere else None,
    ).step_ids
    quote = {"quote": f"In {word}, I say", "start": 12 + len(word), "end": 22 + 2 * len(word)}
    item = user.add(
        {
            "kind": "semantic",
            "name": "home",
            "summary": f"lives in {word}",
            "labels": [word],
            "tree_path": ["towns", word],
            "metadata": {word: word},
            "sources": [{"step_id": steps[0], **quote}],
        },
        reason=f"told of {word}",
        actor=word,
    )
    user.edit(item.id, details=f"likes {word}")
    recall = user.recall(f"where is {word}?")
    if everywhere:
        user.feedback(recall.id, helped=[recall.hits[0].id])
    with user.memory.ledger.write(user.name) as tx:
        row = {"kind": "label", "payload": {"text": word}, "status": "waiting", "error": word}
        tx.connection.execute(
            insert(jobs).values(
                user_id=tx.user_id, id=f"job-{len(word)}", created_at=utc_now(), due_at=utc_now(), **row
            )
        )
    user.flush()
    return {"steps": steps, "item": item.id, "recall": recall.id}


def indexed_fields(home: Path, user: str, word: str) -> list[str]:
    """The fields of the user's keyword index that know the word, deleted documents included, by a reader of its own."""
    folder = home / "lexical" / user_key(user)
    if not folder.exists():
        return []
    searcher = open_index(folder).searcher()
    wanted = {STEMMED: word, EXACT: word, SPEAKER: word, LABEL: word, THREAD: f"about {word}"}
    return sorted(field for field, term in wanted.items() if searcher.doc_freq(field, term))


def tables_with(home: Path, word: str) -> dict[str, list[str]]:
    """The rows of the ledger in which the word stands, by table, by a connection of its own."""
    found: dict[str, list[str]] = {}
    with closing(sqlite3.connect(home / "ledger.sqlite3")) as database:
        for (table,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            rows = [str(row) for row in database.execute(f"SELECT * FROM {table}") if word in str(row)]
            found |= {table: rows} if rows else {}
    return found
