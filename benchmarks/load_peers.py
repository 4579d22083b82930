"""One user with a growing memory, in Hexamem and in other stores: messages stored a second, and the latency of a search.

    python benchmarks/load_peers.py --steps 1000 --steps 10000 --system hexamem --system in_memory

Each system has the same messages and the same static embedder, and no chat model. ``in_memory`` and ``sqlite`` are LangGraph's
stores (the second needs ``langgraph-checkpoint-sqlite`` and ``sqlite-vec``), ``mem0`` is mem0 2.x on an embedded Qdrant with
``infer=False`` (``pip install "mem0ai>=2,<3"``). A system that is not installed is left out with a line. Hexamem's ``dense``
searches as the others do; ``learned``, its default, ranks by words, dates, people and neighbours too.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import psutil
from foundation import messages, questions
from peer_stores import EmbedderOfPeers
from rich.console import Console
from rich.table import Table

from hexamem import Memory, Settings
from hexamem.stores.embedders import open_embedder

BATCH = 100  # messages stored in one call
SEARCHES = 60
COLUMNS = ("stored_per_s", "p50_ms", "p95_ms", "rss_mb")


class System(NamedTuple):
    """What is measured: ``store`` takes texts, ``searches`` are ways to find 10 memories by a question."""

    store: Callable[[Sequence[str]], object]
    searches: dict[str, Callable[[str], object]]


@contextmanager
def hexamem(folder: Path) -> Iterator[System]:
    """Hexamem without labels and items; the rest is its default."""
    settings = Settings(mode="off", labels="off", background=False)
    with Memory.open(folder, embedder="static", settings=settings) as memory:
        user = memory.user("load")

        def store(texts: Sequence[str]) -> None:
            user.remember([("user", text) for text in texts], thread_id="load")
            memory.flush()

        by_name = {name: lambda text, name=name: user.recall(text, strategy=name) for name in ("dense", "learned")}
        yield System(store, by_name)


def _of_store(store: Any) -> System:
    """A LangGraph store with an index of texts."""
    from langgraph.store.base import PutOp

    count = 0

    def put(texts: Sequence[str]) -> None:
        nonlocal count
        store.batch(
            [PutOp(("load",), str(count + number), {"text": text}, ["text"]) for number, text in enumerate(texts)]
        )
        count += len(texts)

    return System(put, {"vectors": lambda text: store.search(("load",), query=text, limit=10)})


@contextmanager
def in_memory(folder: Path) -> Iterator[System]:
    """LangGraph's InMemoryStore, which nothing outlives."""
    from langgraph.store.memory import InMemoryStore

    embeddings = EmbedderOfPeers(open_embedder("static"))
    yield _of_store(InMemoryStore(index={"dims": embeddings.dimension, "embed": embeddings, "fields": ["text"]}))


@contextmanager
def sqlite(folder: Path) -> Iterator[System]:
    """LangGraph's SqliteStore with sqlite-vec."""
    from langgraph.store.sqlite import SqliteStore

    embeddings = EmbedderOfPeers(open_embedder("static"))
    index = {"dims": embeddings.dimension, "embed": embeddings, "fields": ["text"]}
    with SqliteStore.from_conn_string(str(folder / "store.sqlite"), index=index) as store:  # type: ignore[arg-type]
        try:
            store.setup()
        except AttributeError as error:
            raise ImportError(f"this Python's sqlite3 loads no extensions ({error})") from None
        yield _of_store(store)


@contextmanager
def mem0(folder: Path) -> Iterator[System]:
    """mem0 on an embedded Qdrant; messages are stored as they are, since extraction needs a chat model."""
    os.environ |= {"MEM0_TELEMETRY": "False", "MEM0_DIR": str(folder / "mem0"), "OPENAI_API_KEY": "none"}
    from mem0 import Memory as Mem0

    embeddings = EmbedderOfPeers(open_embedder("static"))
    qdrant = {"path": str(folder / "qdrant"), "embedding_model_dims": embeddings.dimension, "on_disk": True}
    memory = Mem0.from_config(
        {
            "embedder": {"provider": "langchain", "config": {"model": embeddings}},
            "vector_store": {"provider": "qdrant", "config": qdrant},
            "history_db_path": str(folder / "history.db"),
        }
    )

    def store(texts: Sequence[str]) -> None:
        memory.add([{"role": "user", "content": text} for text in texts], user_id="load", infer=False)

    yield System(store, {"vectors": lambda text: memory.search(text, filters={"user_id": "load"}, top_k=10)})
    memory.vector_store.client.close()


SYSTEMS = {"hexamem": hexamem, "in_memory": in_memory, "sqlite": sqlite, "mem0": mem0}


def measure(name: str, sizes: Sequence[int], show: Callable[[dict[str, Any]], object]) -> None:
    """Fill one system to each size in turn, and search it."""
    talk, asked, process = [each["content"] for each in messages(4_000)], questions(SEARCHES), psutil.Process()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix=f"{name}-")))
        system = stack.enter_context(SYSTEMS[name](folder))
        stored = 0
        for size in sizes:
            began, before = time.perf_counter(), stored
            while stored < size:
                count = min(BATCH, size - stored)
                # Each text differs, as in a long talk; equal ones would be stored once by some.
                system.store([f"{talk[(stored + place) % len(talk)]} ({stored + place})" for place in range(count)])
                stored += count
            rate = (stored - before) / (time.perf_counter() - began)
            for way, search in system.searches.items():
                search(asked[0])  # what is loaded once
                seconds = []
                for question in asked:
                    began = time.perf_counter()
                    search(question)
                    seconds.append(time.perf_counter() - began)
                p50, p95 = np.percentile(np.array(seconds) * 1_000, (50, 95))
                row = {"system": name, "search": way, "steps": size, "stored_per_s": round(rate)}
                rss = round(process.memory_info().rss / 2**20)
                show(row | {"p50_ms": round(float(p50), 1), "p95_ms": round(float(p95), 1), "rss_mb": rss})


def main() -> None:
    """Measure, show the rows, write them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, action="append", help="sizes; repeatable, 1,000 and 10,000 by default")
    parser.add_argument("--system", choices=SYSTEMS, action="append", help="repeatable; all by default")
    parser.add_argument("--json", type=Path, help="where the rows are written")
    options = parser.parse_args()
    rows: list[dict[str, Any]] = []
    console = Console(stderr=True)

    def show(row: dict[str, Any]) -> None:
        rows.append(row)
        console.print(", ".join(f"{name} {value:,}" if name in COLUMNS else str(value) for name, value in row.items()))

    for name in options.system or SYSTEMS:
        try:
            measure(name, sorted(options.steps or (1_000, 10_000)), show)
        except ImportError as error:
            console.print(f"{name} is left out: {error}")
    table = Table("system", "search", "steps", *COLUMNS)
    for row in rows:
        table.add_row(row["system"], row["search"], *(f"{row[name]:,}" for name in ("steps", *COLUMNS)))
    Console().print(table)
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
