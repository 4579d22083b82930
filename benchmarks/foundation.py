"""Measure the foundation: ingest against raw Chroma, recall latency, opening time, memory, LoCoMo and corpus recall.

Prints a table and writes JSON. Timings depend on the machine; the ratio to raw Chroma is taken in one process.

    python benchmarks/foundation.py                       # all parts but many_users
    python benchmarks/foundation.py ingest latency        # some of them
    python benchmarks/foundation.py many_users --labels off   # 200,000 steps; with labels by rules it takes longer
    python benchmarks/foundation.py recall --locomo DIR   # needs a folder of LoCoMo conversations
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
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import psutil
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

ROOT = Path(__file__).resolve().parents[1]
CORPUS = ROOT / "evals" / "corpus"
WORDS = [
    "garden",
    "piano",
    "ticket",
    "doctor",
    "river",
    "Lisbon",
    "mother",
    "deadline",
    "recipe",
    "marathon",
    "budget",
    "puppy",
    "flight",
    "lesson",
    "museum",
    "bakery",
    "engine",
    "contract",
    "holiday",
    "violin",
    "school",
    "rain",
    "camera",
    "harbour",
    "cousin",
    "insurance",
    "printer",
    "mountain",
    "cinema",
    "breakfast",
    "yesterday",
    "tomorrow",
    "finally",
    "maybe",
    "bought",
    "lost",
    "found",
    "called",
    "moved",
    "painted",
    "repaired",
    "promised",
    "forgot",
    "visited",
    "cooked",
]


def sentences(count: int, seed: int = 1) -> Iterator[str]:
    """Made-up chat lines of 8 to 24 words with a number now and then."""
    draw = random.Random(seed)
    for index in range(count):
        words = draw.choices(WORDS, k=draw.randint(8, 24))
        yield " ".join(words) + (f" {draw.randint(10, 9999)}" if index % 3 == 0 else "") + "."


def messages(count: int, seed: int = 1) -> list[dict[str, Any]]:
    """The lines as messages of two speakers, a minute apart."""
    return [
        {"role": "user", "name": ("Ann", "Ben")[index % 2], "content": text, "timestamp": 1_700_000_000 + 60 * index}
        for index, text in enumerate(sentences(count, seed))
    ]


def measure_ingest(count: int = 20_000) -> dict[str, Any]:
    """Steps a second through ``remember`` and ``flush`` against ``Collection.add`` of the same vectors.

    The ratio is of storing and indexing alone; what labelling by rules costs on top is told beside it.
    """
    import chromadb

    from hexamem import Memory, Settings
    from hexamem.stores.documents import step_document

    def raw(vectors: np.ndarray, ids: list[str]) -> float:
        with tempfile.TemporaryDirectory() as folder:
            client = chromadb.PersistentClient(folder, settings=chromadb.Settings(anonymized_telemetry=False))
            collection = client.create_collection("raw", metadata={"hnsw:space": "cosine"}, embedding_function=None)
            began = time.perf_counter()
            for start in range(0, len(ids), 1_000):
                collection.add(ids=ids[start : start + 1_000], embeddings=vectors[start : start + 1_000])
            return len(ids) / (time.perf_counter() - began)

    rows = []
    given = messages(count)
    for turn in range(3):
        plain = Settings(background=False, labels="off", mode="off")
        with tempfile.TemporaryDirectory() as home, Memory.open(home, settings=plain) as memory:
            user = memory.user("ann")
            began = time.perf_counter()
            for start in range(0, count, 1_000):
                user.remember(given[start : start + 1_000], thread_id="chat")
            acknowledged = time.perf_counter() - began
            user.flush()
            rate = count / (time.perf_counter() - began)
            texts = [step_document(step).text for step in user.steps()]
            vectors = memory.embedder.embed_documents(texts)
        rows.append((rate, raw(vectors, [f"step_{turn}_{index}" for index in range(count)]), count / acknowledged))
    ratios = [rate / base for rate, base, _ in rows]
    labelled = Settings(background=False, mode="off")
    with tempfile.TemporaryDirectory() as home, Memory.open(home, settings=labelled) as memory:
        began = time.perf_counter()
        for start in range(0, count, 1_000):
            memory.user("ann").remember(given[start : start + 1_000], thread_id="chat")
        memory.flush()
        with_labels = count / (time.perf_counter() - began)
    return {
        "steps": count,
        "ingest_per_s": round(statistics.median(rate for rate, _, _ in rows)),
        "with_labels_per_s": round(with_labels),
        "acknowledged_per_s": round(statistics.median(rate for _, _, rate in rows)),
        "raw_chroma_add_per_s": round(statistics.median(base for _, base, _ in rows)),
        "ratio_median": round(statistics.median(ratios), 2),
        "ratio_min": round(min(ratios), 2),
    }


def timed(call: Callable[[str], Any], queries: list[str], progress: Progress, what: str) -> dict[str, float]:
    """Milliseconds a call by the clock, and of the processor's time, after ten to warm up."""
    for query in queries[:10]:
        call(query)
    taken, worked = [], []
    for query in progress.track(queries, description=what):
        began, busy = time.perf_counter(), time.process_time()
        call(query)
        taken.append((time.perf_counter() - began) * 1_000)
        worked.append((time.process_time() - busy) * 1_000)
    return {
        "p50_ms": round(float(np.percentile(taken, 50)), 2),
        "p95_ms": round(float(np.percentile(taken, 95)), 2),
        "cpu_p50_ms": round(float(np.percentile(worked, 50)), 2),
    }


def questions() -> list[str]:
    """Three hundred different questions in the words of the conversations."""
    return [f"when did Ann talk about the {' '.join(random.Random(i).choices(WORDS, k=3))}?" for i in range(300)]


def stored(user: Any, given: list[dict[str, Any]], progress: Progress, what: str) -> None:
    """Store and index messages, with a bar."""
    for start in progress.track(range(0, len(given), 1_000), description=what):
        user.remember(given[start : start + 1_000], thread_id="chat")
        user.flush()


def settings_of(labels: str, mode: str) -> Any:
    """Settings of a memory that does nothing in the background."""
    from hexamem import Settings

    return Settings(background=False, labels=labels, mode=mode)


def measure_latency(labels: Sequence[str], mode: str) -> dict[str, Any]:
    """``recall`` at 10,000 steps of one user, and the time to open the home.

    Args:
        labels: ``rules`` as by default, ``off``: each is measured with a home of its own.
        mode: ``rules`` learns items from the steps as by default, which recalls then search too; ``off`` does not.
    """
    from hexamem import Memory

    queries = questions()
    figures: dict[str, Any] = {}
    with shown_progress() as progress:
        for label in labels:
            name = f"10k_labels_{label}"
            settings = settings_of(label, mode)
            with tempfile.TemporaryDirectory() as home:
                with Memory.open(home, settings=settings) as memory:
                    user = memory.user("ann")
                    stored(user, messages(10_000), progress, f"{name}: storing")
                    strategies = ["rrf", "rrf_neighbours", "dense", "bm25", "learned"]
                    for strategy in [*strategies, "label_density"] if label == "embedded" else strategies:
                        figures[f"{name}/{strategy}"] = timed(
                            lambda query, u=user, s=strategy: u.recall(query, strategy=s),  # type: ignore[misc]
                            queries,
                            progress,
                            f"{name}: {strategy}",
                        )
                    figures[f"{name}/rrf_filtered_to_a_speaker"] = timed(
                        lambda query, u=user: u.recall(query, strategy="rrf", where={"speaker": "Ann"}),  # type: ignore[misc]
                        queries[:100],
                        progress,
                        f"{name}: rrf, one speaker",
                    )
                began = time.perf_counter()
                with Memory.open(home, settings=settings) as memory:
                    figures[f"{name}/open_s"] = round(time.perf_counter() - began, 3)
                    memory.user("ann").recall(queries[0], strategy="rrf")
                    figures[f"{name}/open_and_first_recall_s"] = round(time.perf_counter() - began, 3)
    return figures


def measure_many_users(labels: Sequence[str], mode: str, users: int = 20) -> dict[str, Any]:
    """``recall`` of a user drawn at random at 200,000 steps over 20 users; arguments as of :func:`measure_latency`.

    Storing takes most of the time: without labels about a minute and a half, with labels by rules some five minutes.
    """
    from hexamem import Memory

    queries = questions()
    figures: dict[str, Any] = {}
    with shown_progress() as progress:
        for label in labels:
            name = f"200k_over_{users}_users_labels_{label}"
            with tempfile.TemporaryDirectory() as home, Memory.open(home, settings=settings_of(label, mode)) as memory:
                every = [memory.user(f"user {index}") for index in range(users)]
                began, count = time.perf_counter(), 0
                for index in progress.track(range(users), description=f"{name}: storing"):
                    given = messages(200_000 // users, seed=index)
                    for start in range(0, len(given), 2_500):
                        every[index].remember(given[start : start + 2_500], thread_id="chat")
                    every[index].flush()
                    count += len(given)
                figures[f"{name}/stored_per_s"] = round(count / (time.perf_counter() - began))
                draw = random.Random(7)
                for strategy in ("rrf", "rrf_neighbours", *(("label_density",) if label == "embedded" else ())):
                    figures[f"{name}/{strategy}"] = timed(
                        lambda query, s=strategy, e=every, d=draw: d.choice(e).recall(query, strategy=s),  # type: ignore[misc]
                        queries,
                        progress,
                        f"{name}: {strategy}",
                    )
    return figures


def shown_progress() -> Progress:
    """Bars on standard error with the time that is left; lines of what is done where that is no terminal."""
    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    return Progress(*columns, console=console)


MEMORY_CODE = """
import sys, psutil, tempfile
sys.path.insert(0, sys.argv[1])
from foundation import messages
from hexamem import Memory
with tempfile.TemporaryDirectory() as home, Memory.open(home) as memory:
    user = memory.user("ann")
    for part in range(100):
        user.remember(messages(1_000, seed=part), thread_id=f"chat {part}")
    user.flush()
    print("stored", psutil.Process().memory_info().rss / 2**20)
    for strategy in ("rrf", "learned"):
        user.recall("when did Ann visit the museum?", strategy=strategy)
        print("recalled_by_" + strategy, psutil.Process().memory_info().rss / 2**20)
"""


def measure_memory() -> dict[str, Any]:
    """Resident memory of a fresh process after 100,000 steps of one user were stored and indexed, and after recalls."""
    command = [sys.executable, "-c", MEMORY_CODE, str(Path(__file__).parent)]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return {f"resident_mib_{when}": round(float(mib)) for when, mib in (line.split() for line in shown.splitlines())}


def measure_recall(locomo: Path | None) -> dict[str, Any]:
    """Evidence recall@10 of every strategy on LoCoMo (categories 1-4) and on the corpus in the repository."""
    from hexamem import STRATEGIES, Memory, Settings
    from hexamem.evals.datasets import load_conversations
    from hexamem.evals.runner import evaluate

    figures: dict[str, Any] = {}
    sets = {"corpus_" + path.stem: path for path in sorted(CORPUS.glob("*.json"))}
    if locomo is not None:
        sets["locomo"] = locomo
    for name, path in sets.items():
        conversations = load_conversations(path)
        with tempfile.TemporaryDirectory() as home:
            opened = lambda home=home: Memory.open(home, settings=Settings(background=False))  # noqa: E731
            rows = evaluate(opened, conversations, list(STRATEGIES))
        for row in rows:
            figures[f"{name}/{row['strategy']}"] = {
                "recall@10_1-4": round((row["recall"].get("1-4") or row["recall"]["all"])["10"], 4),
                "recall@10_all": round(row["recall"]["all"]["10"], 4),
                "p50_ms": row["latency_ms"]["p50"],
            }
    return figures


def main() -> None:
    """Run the parts asked for, show them, write them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", default=["ingest", "latency", "memory", "recall"])
    parser.add_argument(
        "--labels",
        choices=["embedded", "off", "both"],
        default="both",
        help="latency and many_users: with labels by rules, as by default, without, or one after the other",
    )
    parser.add_argument(
        "--mode",
        choices=["embedded", "off"],
        default="off",
        help="latency and many_users: whether items are learned from the steps, as by default, and searched too",
    )
    parser.add_argument("--locomo", type=Path, default=ROOT.parent / "shared" / "data" / "locomo")
    parser.add_argument("--json", type=Path, default=ROOT / "benchmarks" / "results" / "foundation.json")
    arguments = parser.parse_args()
    labels = ["embedded", "off"] if arguments.labels == "both" else [arguments.labels]
    parts: dict[str, Callable[[], dict[str, Any]]] = {
        "ingest": measure_ingest,
        "latency": lambda: measure_latency(labels, arguments.mode),
        "many_users": lambda: measure_many_users(labels, arguments.mode),
        "memory": measure_memory,
        "recall": lambda: measure_recall(arguments.locomo if arguments.locomo.is_dir() else None),
    }
    results: dict[str, Any] = {"cpus": psutil.cpu_count(), "python": sys.version.split()[0]}
    console = Console()
    for part in arguments.parts:
        results[part] = parts[part]()
        table = Table(title=part, title_justify="left")
        table.add_column("what")
        table.add_column("figure")
        for name, value in results[part].items():
            shown = "  ".join(f"{k} {v}" for k, v in value.items()) if isinstance(value, dict) else str(value)
            table.add_row(name, shown)
        console.print(table)
    arguments.json.parent.mkdir(parents=True, exist_ok=True)
    arguments.json.write_text(json.dumps(results, indent=1), encoding="utf-8")
    console.print(f"written to {arguments.json}")


if __name__ == "__main__":
    main()
