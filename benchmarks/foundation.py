"""Measure the foundation: ingest against raw Chroma, latency of recall and research, opening time, memory.

Prints a table and writes JSON. Timings depend on the machine; the ratio to raw Chroma is taken in one process.

    python benchmarks/foundation.py                       # all parts
    python benchmarks/foundation.py ingest latency        # some of them
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import psutil
from rich.console import Console
from rich.progress import track
from rich.table import Table

from hexamem import Memory, Settings, UserMemory
from hexamem.evals.ruler import Prose
from hexamem.stores.documents import step_document

ROOT = Path(__file__).resolve().parents[1]
STRATEGIES = ("rrf", "rrf_neighbours", "dense", "bm25", "learned", "label_density")
NAMES = ("Agnes", "Bruno", "Casper", "Delia", "Fiona", "Goran", "Hanna", "Imran", "Jonas", "Karin", "Leila", "Mateo")
IN_TWO_PARTS = (
    "What did {0} do at the archive, and what did {1} pay for?",
    "Which things did {0} carry, and where did {1} find them?",
    "What has {0} been trying to do since Monday, and what did {1} think of the stage lights?",
    "Who agreed with {0} on the gutter, and when did {1} leave the bicycle pump?",
)


def messages(count: int, seed: int = 1) -> list[dict[str, Any]]:
    """Messages of one to three generated sentences by two speakers, a minute apart."""
    draw = random.Random(seed)
    prose = Prose(draw)
    return [
        {
            "role": "user",
            "name": ("Ann", "Ben")[index % 2],
            "content": " ".join(prose.sentence() for _ in range(draw.randint(1, 3))),
            "timestamp": 1_700_000_000 + 60 * index,
        }
        for index in range(count)
    ]


def questions(count: int) -> list[str]:
    """Different questions in two parts, so that research needs several rounds."""
    draw = random.Random(7)
    return [draw.choice(IN_TWO_PARTS).format(*draw.sample(NAMES, 2)) + " " * index for index in range(count)]


def store(user: UserMemory, given: list[dict[str, Any]]) -> None:
    """Store messages, 250 in a thread, and index them."""
    for start in track(range(0, len(given), 250), f"store {user.name}", console=Console(stderr=True)):
        user.remember(given[start : start + 250], thread_id=f"talk {start // 250}")
    user.flush()


@contextmanager
def opened(**settings: Any) -> Iterator[Memory]:
    """A memory in a temporary home that does nothing in the background."""
    chosen = Settings(background=False, **settings)
    with tempfile.TemporaryDirectory(prefix="hexamem-") as home, Memory.open(home, settings=chosen) as memory:
        yield memory


def timed(call: Callable[[str], Any], queries: list[str]) -> dict[str, float]:
    """Milliseconds of a call, wall time and CPU time of the process, after ten calls to warm up."""
    for query in queries[:10]:
        call(query)
    wall, busy = [], []
    for query in queries:
        began, used = time.perf_counter(), time.process_time()
        call(query)
        busy.append((time.process_time() - used) * 1_000)
        wall.append((time.perf_counter() - began) * 1_000)
    p50, p95 = np.percentile(wall, (50, 95))
    return {"p50_ms": round(p50, 2), "p95_ms": round(p95, 2), "cpu_p50_ms": round(statistics.median(busy), 2)}


def measure_ingest(count: int = 20_000) -> dict[str, Any]:
    """Steps a second through ``remember`` and ``flush`` against ``Collection.add`` of the same vectors.

    The ratio is of storing and indexing alone; the rates with labels, and with labels and items, are beside it.
    """
    given = messages(count)
    figures: dict[str, Any] = {"steps": count}
    for name, settings in (
        ("plain", {"labels": "off", "mode": "off"}),
        ("with labels", {"mode": "off"}),
        ("with labels and items", {}),
    ):
        with opened(**settings) as memory:
            memory.embedder.embed_documents(["warm"])
            began = time.perf_counter()
            store(memory.user("ann"), given)
            figures[f"{name}, steps a second"] = round(count / (time.perf_counter() - began))
            if name == "plain":
                texts = [step_document(step).text for step in memory.user("ann").steps()]
                vectors = np.asarray(memory.embedder.embed_documents(texts))
    figures["raw Chroma, vectors a second"] = round(raw_chroma(vectors))
    figures["ratio"] = round(figures["plain, steps a second"] / figures["raw Chroma, vectors a second"], 2)
    return figures


def raw_chroma(vectors: np.ndarray) -> float:
    """Vectors a second that an empty collection takes."""
    import chromadb

    with tempfile.TemporaryDirectory() as folder:
        client = chromadb.PersistentClient(folder, settings=chromadb.Settings(anonymized_telemetry=False))
        collection = client.create_collection("raw", metadata={"hnsw:space": "cosine"}, embedding_function=None)
        began = time.perf_counter()
        for start in range(0, len(vectors), 1_000):
            part = vectors[start : start + 1_000]
            collection.add(ids=[f"step_{start + place}" for place in range(len(part))], embeddings=part)
        return len(vectors) / (time.perf_counter() - began)


def measure_latency() -> dict[str, Any]:
    """``recall`` and ``research`` without a model at 10,000 steps of one user, and the time to open the home."""
    queries, settings = questions(300), Settings(background=False)
    figures: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(prefix="hexamem-") as home:
        with Memory.open(home, settings=settings) as memory:
            user = memory.user("ann")
            store(user, messages(10_000))
            for strategy in STRATEGIES:
                figures[strategy] = timed(lambda query, name=strategy: user.recall(query, strategy=name), queries)  # type: ignore[misc]
            filtered = {"speaker": "Ann"}
            figures["rrf, one speaker"] = timed(
                lambda query: user.recall(query, strategy="rrf", where=filtered), queries
            )
            for rounds in (1, 3):
                figures[f"research, {rounds} rounds"] = timed(
                    lambda query, most=rounds: user.research(query, most),  # type: ignore[misc]
                    queries[:60],
                )
        began = time.perf_counter()
        with Memory.open(home, settings=settings) as memory:
            figures["open, s"] = round(time.perf_counter() - began, 3)
            memory.user("ann").recall(queries[0], strategy="rrf")
            figures["open and first recall, s"] = round(time.perf_counter() - began, 3)
    return figures


MEMORY_CODE = """
import sys, psutil
sys.path.insert(0, sys.argv[1])
from foundation import messages, opened, store
with opened() as memory:
    user = memory.user("ann")
    store(user, messages(100_000))
    print("stored", psutil.Process().memory_info().rss / 2**20)
    for strategy in ("rrf", "learned"):
        user.recall("when did Agnes visit the archive?", strategy=strategy)
        print("recalled by " + strategy, psutil.Process().memory_info().rss / 2**20)
"""


def measure_memory() -> dict[str, Any]:
    """Resident MiB of a new process after 100,000 steps of one user were stored and indexed, and after recalls."""
    command = [sys.executable, "-c", MEMORY_CODE, str(Path(__file__).parent)]
    shown = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    return {when: round(float(mib)) for when, mib in (line.rsplit(" ", 1) for line in shown.splitlines())}


PARTS: dict[str, Callable[[], dict[str, Any]]] = {
    "ingest": measure_ingest,
    "latency": measure_latency,
    "memory": measure_memory,
}


def main() -> None:
    """Run the parts asked for, show them, write them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", default=["ingest", "latency", "memory"])
    parser.add_argument("--json", type=Path, default=ROOT / "benchmarks" / "results" / "foundation.json")
    arguments = parser.parse_args()
    results: dict[str, Any] = {"cpus": psutil.cpu_count(), "python": sys.version.split()[0]}
    console = Console()
    for part in arguments.parts:
        results[part] = PARTS[part]()
        table = Table("what", "figure", title=part, title_justify="left")
        for name, value in results[part].items():
            shown = "  ".join(f"{k} {v}" for k, v in value.items()) if isinstance(value, dict) else str(value)
            table.add_row(name, shown)
        console.print(table)
    arguments.json.parent.mkdir(parents=True, exist_ok=True)
    arguments.json.write_text(json.dumps(results, indent=1), encoding="utf-8")
    console.print(f"written to {arguments.json}")


if __name__ == "__main__":
    main()
