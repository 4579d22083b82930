"""Not a test: the process that test_durability kills again and again.

It imports Hexamem once and forks one writer after the other on the same home. Each writer notes what was acknowledged
to it, and dies by SIGKILL: at a point of its own choice (``_POINTS``), or at a random moment by the hand of its parent.

Usage: ``python kill_child.py HOME NOTES KILLS SEED``. It prints the points at which writers died, as JSON.
"""

from __future__ import annotations

import functools
import gc
import itertools
import json
import os
import random
import signal
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import chromadb.api.rust  # noqa: F401 - loaded before forking, so that no writer has to

import hexamem.agents.applying.applier
import hexamem.agents.reader
import hexamem.graphs.ingest
import hexamem.intent.embedded_labeler
import hexamem.memory
import hexamem.stores.recording
import hexamem.user
from hexamem import Memory, Settings
from hexamem.models.tokens import count_tokens
from hexamem.stores.embedders import static
from hexamem.stores.ledger import Ledger
from hexamem.stores.lexical import LexicalStore
from hexamem.stores.projections import Projector
from hexamem.stores.vectors.chroma import ChromaVectorStore
from hexamem.stores.vectors.embedded import EmbeddedChroma

# (class, method, before or after it). What is named "random" is a kill from outside.
_POINTS: list[tuple[Any, str, str]] = [
    (Ledger, "_bind", "after"),  # inside a transaction
    (hexamem.memory.Memory, "wrote", "before"),  # committed, not yet acknowledged
    (hexamem.memory.Memory, "wrote", "after"),
    (Projector, "_write", "before"),
    (LexicalStore, "upsert", "before"),
    (LexicalStore, "_add", "after"),  # before tantivy commits
    (LexicalStore, "upsert", "after"),
    (ChromaVectorStore, "upsert", "before"),
    (EmbeddedChroma, "_mark", "before"),  # about to write, or written and not noted as finished
    (EmbeddedChroma, "_mark", "after"),
    (EmbeddedChroma, "_load", "after"),
    (ChromaVectorStore, "upsert", "after"),
    (Projector, "_set", "before"),
    (Projector, "_set", "after"),
]
_WORDS = ["anchor", "basil", "copper", "dune", "ember", "fjord", "garnet", "harbor", "iris", "juniper", "kelp", "opal"]


def _die(*_: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _arm(owner: Any, name: str, when: str, on_call: int) -> None:
    inner: Callable[..., Any] = getattr(owner, name)
    calls = itertools.count(1)

    def armed(*args: Any, **kwargs: Any) -> Any:
        last = next(calls) == on_call
        if last and when == "before":
            _die()
        result = inner(*args, **kwargs)
        if last:
            _die()
        return result

    setattr(owner, name, armed)


def _write(home: Path, notes: Path, draw: random.Random, writer: int) -> None:
    """Store batches for two users until killed, noting each that was acknowledged."""
    with notes.open("ab", buffering=0) as out:

        def note(entry: dict[str, Any]) -> None:
            out.write(json.dumps(entry).encode() + b"\n")  # one write to the page cache, which outlives the process

        memory = Memory.open(home, settings=Settings(mode="off", background=bool(writer % 2)))
        for round_ in range(400):
            user = memory.user(draw.choice(("ann", "ben")))
            texts = [
                f"note w{writer}r{round_}n{number} {' '.join(draw.sample(_WORDS, 4))}"
                for number in range(draw.choice((1, 1, 2, 3, 8)))
            ]
            receipt = user.remember([{"role": "user", "content": text} for text in texts], f"thread {writer}")
            note({"user": user.name, "ids": receipt.step_ids, "texts": texts})
            if draw.random() < 0.3:
                summary = f"fact w{writer}r{round_} {' '.join(draw.sample(_WORDS, 3))}"
                item = user.add({"kind": "semantic", "name": f"w{writer}", "summary": summary})
                note({"user": user.name, "ids": [item.id], "texts": [summary]})
            if draw.random() < 0.5:
                user.recall(texts[0])


def _warm_ledger(home: Path) -> None:
    """Put the ledger's statements into SQL in this process, which opens no index: a fork could not use its threads."""
    with (
        patch.object(Projector, "_check", lambda *_: False),
        patch.object(Projector, "_advance_all", lambda *_: 0),
        Memory.open(home, settings=Settings(mode="off", background=False)) as memory,
    ):
        user = memory.user("somebody else")
        user.remember(["words"])
        user.add({"kind": "semantic", "name": "w", "summary": "words"})


def main() -> None:
    """Fork and kill as many writers as asked for."""
    home, notes, kills, seed = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
    draw = random.Random(seed)
    died: list[str] = []
    # The bundled embedder is only read from: it is loaded before forking too.
    static.StaticEmbedder = functools.cache(static.StaticEmbedder)  # type: ignore[misc, assignment]
    static.StaticEmbedder().coverage("锁")
    static.StaticEmbedder().embed_documents(["words"])
    count_tokens("words")
    _warm_ledger(notes.with_name("another home"))
    gc.collect()
    gc.freeze()  # a collection in a fork would look at, and so copy, all that was imported
    for writer in range(kills):
        # Every third dies from outside, at any moment from before its memory is open to well into its work.
        point = None if writer % 3 == 0 else _POINTS[(writer * 2 // 3) % len(_POINTS)]
        child = os.fork()
        if child == 0:
            try:
                if point is not None:
                    _arm(*point, draw.randint(1, 8))
                _write(home, notes, draw, writer)
            except BaseException:  # noqa: BLE001 - a fork must never go on as its parent
                traceback.print_exc()
            os._exit(1)
        if point is None:
            time.sleep(draw.uniform(0.01, 0.35))
            os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        if not os.WIFSIGNALED(status) or os.WTERMSIG(status) != signal.SIGKILL:
            sys.exit(f"writer {writer} ended by itself at {point}: status {status}")
        died.append("random" if point is None else f"{point[2]} {point[0].__name__}.{point[1]}")
        draw = random.Random(seed + writer)
    print(json.dumps(died))


if __name__ == "__main__":
    main()
