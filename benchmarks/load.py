"""Put a memory under the load of many users: fill it, then read and write at the same time, and watch latency and memory.

    python benchmarks/load.py --users 1000 --steps 100000
    python benchmarks/load.py --users 20 --steps 200000 --embedder bundled
    python benchmarks/load.py --ledger postgresql+psycopg://… --chroma 127.0.0.1:8000    # shared engines

At each tenth of the steps it prints one row: steps stored and indexed a second, recalls of users drawn at random (the
first of a user reads their steps from disk), resident memory and open files. Then ``--seconds`` of mixed load: every
thread stores an exchange of two messages of a random user and recalls for another one. The next row repeats this for one
user who has a tenth of all steps. The last rows are recalls of that user, one at a time, beside a writer of their messages.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import psutil
from foundation import messages, questions
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from hexamem import Memory, Settings

COLUMNS = (
    "steps",
    "stored_per_s",
    "recall_p50_ms",
    "recall_p95_ms",
    "remember_p95_ms",
    "calls_per_s",
    "rss_mb",
    "open_files",
)


class Load:
    """A memory with many users, and the process that serves it."""

    def __init__(self, memory: Memory, users: int, strategy: str | None, batch: int) -> None:
        self.memory, self.strategy, self.batch = memory, strategy, batch
        self.names = [f"user {number}" for number in range(users)]
        self.process = psutil.Process()
        self.talk = messages(4_000)
        self.questions = questions(400)

    def fill(self, steps: int, draw: random.Random, heavy: str, advance: Callable[[int], object]) -> float:
        """Store and index so many steps, a tenth of them of the ``heavy`` user; returns steps a second."""
        began = time.perf_counter()
        for number in range(0, steps, self.batch):
            name = heavy if number // self.batch % 10 == 0 else draw.choice(self.names)
            start = draw.randrange(len(self.talk) - self.batch)
            given = [
                {key: value for key, value in message.items() if key != "timestamp"}
                for message in self.talk[start : start + self.batch]
            ]
            self.memory.user(name).remember(given, thread_id=f"talk {number}")
            advance(self.batch)
        self.memory.flush()
        return steps / (time.perf_counter() - began)

    def recall(self, name: str, draw: random.Random) -> float:
        """Seconds of a recall."""
        began = time.perf_counter()
        self.memory.user(name).recall(draw.choice(self.questions), strategy=self.strategy)
        return time.perf_counter() - began

    def remember(self, name: str, draw: random.Random) -> float:
        """Seconds until an exchange is acknowledged."""
        text = draw.choice(self.talk)["content"]
        began = time.perf_counter()
        self.memory.user(name).remember([("user", text), ("assistant", "I see.")], thread_id="live")
        return time.perf_counter() - began

    def mixed(self, seconds: float, threads: int, pick: Callable[[random.Random], str]) -> dict[str, float]:
        """So many threads read and write for a time."""
        until, recalls, writes, lock = time.perf_counter() + seconds, [], [], threading.Lock()

        def serve(seed: int) -> None:
            draw = random.Random(seed)
            while time.perf_counter() < until:
                write, read = self.remember(pick(draw), draw), self.recall(pick(draw), draw)
                with lock:
                    writes.append(write)
                    recalls.append(read)

        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(serve, range(threads)))
        rows = {"calls_per_s": round(2 * len(recalls) / seconds, 1)}
        return rows | _percentiles("recall", recalls) | _percentiles("remember", writes)

    def beside(self, seconds: float, rate: float, name: str) -> dict[str, float]:
        """One thread recalls for a user while another stores so many of their messages a second, two in a call."""
        until, recalls, writes, draw = time.perf_counter() + seconds, [], [], random.Random(0)

        def write() -> None:
            source, due = random.Random(1), time.perf_counter()
            while time.perf_counter() < until:
                writes.append(self.remember(name, source))
                due += 2 / rate
                time.sleep(max(0.0, due - time.perf_counter()))

        self.memory.flush()
        with ThreadPoolExecutor(1) as pool:
            writer = pool.submit(write)
            while not writer.done():
                recalls.append(self.recall(name, draw))
            writer.result()
        rows = {"stored_per_s": round(2 * len(writes) / seconds)}
        return rows | _percentiles("recall", recalls) | _percentiles("remember", writes)

    def resources(self) -> dict[str, float]:
        """Resident memory and open files of this process."""
        return {"rss_mb": round(self.process.memory_info().rss / 2**20), "open_files": self.process.num_fds()}


def _percentiles(name: str, seconds: list[float]) -> dict[str, float]:
    p50, p95 = np.percentile(np.array(seconds) * 1_000, (50, 95))
    return {f"{name}_p50_ms": round(float(p50), 1), f"{name}_p95_ms": round(float(p95), 1)}


def run(load: Load, options: argparse.Namespace, show: Callable[[dict[str, Any]], object]) -> None:
    """Fill the memory in ten parts, then put it under mixed load; shows one row for each."""
    draw, part, heavy = random.Random(1), options.steps // 10, load.names[0]
    with Progress(console=Console(stderr=True)) as progress:
        task = progress.add_task("fill", total=part * 10)
        for tenth in range(1, 11):
            rate = load.fill(part, draw, heavy, lambda steps: progress.advance(task, steps))
            recalls = [load.recall(draw.choice(load.names), draw) for _ in range(100)]
            row = {"phase": "filled", "steps": part * tenth, "stored_per_s": round(rate)}
            show(row | _percentiles("recall", recalls) | load.resources())
    phases: dict[str, Callable[[], dict[str, float]]] = {
        "mixed": lambda: load.mixed(options.seconds, options.threads, lambda source: source.choice(load.names)),
        "one user": lambda: load.mixed(options.seconds, options.threads, lambda source: heavy),
    }
    for rate in options.beside:
        phases[f"beside {rate:g}/s"] = lambda rate=rate: load.beside(options.seconds, rate, heavy)
    for phase, measured in phases.items():
        show({"phase": phase, "steps": options.steps} | measured() | load.resources())


def main() -> None:
    """Run it, show the rows, write them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--users", type=int, default=1_000)
    parser.add_argument("--steps", type=int, default=100_000, help="of all users")
    parser.add_argument("--seconds", type=float, default=20.0, help="of each mixed load")
    parser.add_argument("--threads", type=int, default=4)
    parser.add_argument("--beside", type=float, nargs="*", default=[50, 200], help="messages a second of the writers")
    parser.add_argument("--batch", type=int, default=100, help="messages of one call while the memory is filled")
    parser.add_argument("--mode", default="off", help="how items are extracted")
    parser.add_argument("--labels", default="embedded", help="whether steps are labelled")
    parser.add_argument("--no-secrets", action="store_true", help="do not search messages for secrets")
    parser.add_argument("--embedder", default="static")
    parser.add_argument("--strategy", help="of recalls; the memory's own by default")
    parser.add_argument("--ledger", help="URL of a database for the ledger")
    parser.add_argument("--chroma", help="HOST:PORT of a Chroma server")
    parser.add_argument("--home", type=Path, help="an empty folder; a temporary one by default")
    parser.add_argument("--json", type=Path, help="where the rows are written")
    options = parser.parse_args()
    rows: list[dict[str, Any]] = []
    console = Console()

    def show(row: dict[str, Any]) -> None:
        rows.append(row)
        shown = {name: row[name] for name in COLUMNS if name in row}
        Console(stderr=True).print(
            f"{row['phase']}: " + ", ".join(f"{name} {value:,}" for name, value in shown.items())
        )

    with ExitStack() as stack:
        home = options.home or stack.enter_context(tempfile.TemporaryDirectory(prefix="hexamem-"))
        chroma = None
        if options.chroma:
            import chromadb

            host, _, port = options.chroma.partition(":")
            chroma = chromadb.HttpClient(host, int(port), settings=chromadb.Settings(anonymized_telemetry=False))
        engines = {"ledger_url": options.ledger, "chroma": chroma}
        settings = Settings(mode=options.mode, labels=options.labels, find_secrets=not options.no_secrets)
        memory = stack.enter_context(Memory.open(home, embedder=options.embedder, settings=settings, **engines))
        run(Load(memory, options.users, options.strategy, options.batch), options, show)
    table = Table("phase", *COLUMNS, title=f"{options.users:,} users, {options.threads} threads", title_justify="left")
    for row in rows:
        table.add_row(row["phase"], *(f"{row[name]:,}" if name in row else "" for name in COLUMNS))
    console.print(table)
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
