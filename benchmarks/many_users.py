"""Many users in one embedded vector store, under a low limit of file handles: is every answer right, what does it cost?

    python benchmarks/many_users.py --users 1000 --limits 512 1024 --json benchmarks/results/many_users.json

For each limit a fresh process stores 100 random vectors a user, then looks for planted vectors user by user, in random
order, and in random order between single writes; after that it opens the store again and looks once more. A wrong
nearest neighbour, or a missing record, counts as an error. Linux and macOS only (it sets RLIMIT_NOFILE).
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import psutil

from hexamem.stores.vectors import VectorIndex
from hexamem.stores.vectors.chroma import ChromaVectorStore

DIMENSION = 256


class Run:
    """One process: a store of random vectors, and what each phase of using it costs."""

    def __init__(self, folder: Path, users: int, records: int, max_loaded: int) -> None:
        self.folder, self.records = folder, records
        self.max_loaded = max_loaded
        self.keys = [f"{number:032x}" for number in range(users)]
        self.process = psutil.Process()
        self.rng = np.random.default_rng(0)
        self.extra: dict[str, int] = {}
        self.errors: list[str] = []
        self.store = self.open()

    def open(self) -> VectorIndex:
        store = ChromaVectorStore(self.folder, max_loaded=self.max_loaded)
        return VectorIndex(store, home="0" * 32, embedder="random", dimension=DIMENSION, fingerprint="1")

    def vector(self, key: str, number: int) -> np.ndarray:
        return np.random.default_rng([int(key, 16), number]).standard_normal(DIMENSION).astype(np.float32)

    def fill(self, key: str) -> None:
        vectors = np.stack([self.vector(key, number) for number in range(self.records)])
        ids = [f"{key}-{number}" for number in range(self.records)]
        self.store.upsert(key, "steps", ids, vectors, [{"time": number} for number in range(self.records)])

    def add_one(self, key: str) -> None:
        number = self.records + self.extra.get(key, 0)
        self.store.upsert(key, "steps", [f"{key}-{number}"], self.vector(key, number)[None, :], [{"time": number}])
        self.extra[key] = self.extra.get(key, 0) + 1

    def look(self, key: str) -> None:
        total = self.records + self.extra.get(key, 0)
        number = int(self.rng.integers(total))
        if key in self.extra and self.rng.random() < 0.5:
            number = total - 1
        try:
            hits = self.store.query(key, "steps", self.vector(key, number), 10)
        except Exception as error:  # noqa: BLE001 - the benchmark counts every failure
            self.errors.append(f"{type(error).__name__}: {error}")
            return
        if not hits or hits[0][0] != f"{key}-{number}" or len(hits) != 10:
            self.errors.append(f"{key}-{number}: found {hits[:1]} of {len(hits)}")

    def phase(self, name: str, steps: list[tuple[str, str]]) -> dict[str, Any]:
        taken: dict[str, list[float]] = {}
        handles = memory = 0
        before = len(self.errors)
        for count, (what, key) in enumerate(steps):
            start = time.perf_counter()
            {"fill": self.fill, "add": self.add_one, "look": self.look}[what](key)
            taken.setdefault(what, []).append((time.perf_counter() - start) * 1000)
            if count % 20 == 0:
                handles = max(handles, self.process.num_fds())
                memory = max(memory, self.process.memory_info().rss)
        return {
            "phase": name,
            "calls": len(steps),
            "errors": len(self.errors) - before,
            "ms": {
                what: [round(float(np.percentile(times, p)), 2) for p in (50, 95, 99)] for what, times in taken.items()
            },
            "seconds": round(sum(sum(times) for times in taken.values()) / 1000, 1),
            "peak_handles": handles,
            "peak_rss_mb": round(memory / 1e6),
        }

    def run(self) -> list[dict[str, Any]]:
        keys = self.keys
        shuffled = [str(key) for key in self.rng.permutation(keys)]
        drawn = [str(key) for key in self.rng.choice(keys, 2 * len(keys))]
        again = self.rng.choice(keys, 2 * len(keys))
        mixed = [("add" if self.rng.random() < 0.4 else "look", str(key)) for key in again]
        phases = [
            self.phase("fill", [("fill", key) for key in keys]),
            self.phase("query in order", [("look", key) for key in keys]),
            self.phase("query at random", [("look", key) for key in drawn]),
            self.phase("query and add at random", mixed),
        ]
        self.store.close()
        self.store = self.open()
        phases.append(self.phase("query after opening again", [("look", key) for key in shuffled]))
        self.store.close()
        return phases


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--users", type=int, default=1000)
    parser.add_argument("--records", type=int, default=100)
    parser.add_argument("--limits", type=int, nargs="+", default=[512, 1024])
    parser.add_argument("--max-loaded", type=int, default=64)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child:
        resource.setrlimit(resource.RLIMIT_NOFILE, (args.limits[0], args.limits[0]))
        with tempfile.TemporaryDirectory() as folder:
            run = Run(Path(folder) / "vectors", args.users, args.records, args.max_loaded)
            phases = run.run()
        sys.stdout.write(json.dumps({"phases": phases, "first_errors": run.errors[:5]}))
        return
    results = []
    for limit in args.limits:
        command = [sys.executable, __file__, "--child", "--limits", str(limit), "--users", str(args.users)]
        command += ["--records", str(args.records), "--max-loaded", str(args.max_loaded)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(f"Under {limit} file handles the process ended with {done.returncode}:\n{done.stderr[-2000:]}")
        result = {"limit": limit, "users": args.users, "records": args.records, **json.loads(done.stdout)}
        results.append(result)
        print(f"\n{limit} file handles, {args.users} users x {args.records} vectors of {DIMENSION} dimensions")
        print(f"{'phase':<28}{'calls':>7}{'errors':>8}{'seconds':>9}{'handles':>9}{'RSS MB':>8}  ms p50 / p95 / p99")
        for row in result["phases"]:
            times = "; ".join(f"{what} {' / '.join(map(str, ms))}" for what, ms in row["ms"].items())
            print(
                f"{row['phase']:<28}{row['calls']:>7}{row['errors']:>8}{row['seconds']:>9}{row['peak_handles']:>9}"
                f"{row['peak_rss_mb']:>8}  {times}"
            )
        for error in result["first_errors"]:
            print("  error:", error)
    if args.json:
        args.json.parent.mkdir(parents=True, exist_ok=True)
        args.json.write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
