"""Not a test: the process that test_background kills while jobs run.

It imports Hexamem once, puts jobs of two kinds into a home, and forks one worker after the other, each of which dies by
SIGKILL: at a point of the queue's own code (``_POINTS``), or at a random moment by the hand of its parent. The last
worker is left to end.

- ``once`` adds an item of a new id, which done twice would be there twice, and completes the job in that transaction.
- ``again`` does its work in a transaction of its own, so it may be done again, and looks whether it was done.

Usage: ``python job_kill_child.py HOME JOBS KILLS SEED``. It prints the points at which workers died, as JSON.
"""

from __future__ import annotations

import functools
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

import chromadb.api.rust  # noqa: F401 - loaded before forking, so that no worker has to

from hexamem import Memory, SemanticItem, Settings
from hexamem.background import JobContext, JobOutcome, JobRunner
from hexamem.stores.embedders import static
from hexamem.stores.ledger import Transaction, item_change, read_items, record_operation
from hexamem.stores.ledger import jobs as queue

# (owner, name, before or after it). What is named "random" is a kill from outside.
_POINTS: list[tuple[Any, str, str]] = [
    (queue, "claim", "after"),
    (queue, "extend", "after"),  # at the beginning of the job's transaction
    (queue, "complete", "before"),
    (queue, "complete", "after"),  # not committed
    (JobRunner, "_write_outcome", "before"),  # the work is committed, the job is not settled
    (JobContext, "settle", "after"),
]


def _die() -> None:
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


def _add(tx: Transaction, name: str) -> None:
    item = SemanticItem(user=tx.user, name=name, summary=f"what {name} found")
    record_operation(tx, "add", [item_change(None, item)], actor="job", reason="queued")


def _once(job: JobContext) -> JobOutcome:
    with job.write() as tx:
        _add(tx, f"once {job.payload['n']}")
        job.complete(tx)
    return JobOutcome.done()


def _again(job: JobContext) -> JobOutcome:
    name = f"again {job.payload['n']}"
    with job.write() as tx:
        if name not in {getattr(item, "name", None) for item in read_items(tx)}:
            _add(tx, name)
    return JobOutcome.done()


def _open(home: Path) -> Memory:
    # A job may be killed many times in a row here; parking it for that has a test of its own.
    memory = Memory.open(home, embedder="static", settings=Settings(background=False, max_job_attempts=1_000))
    memory.handlers.register("once", _once)
    memory.handlers.register("again", _again)
    return memory


def main() -> None:
    """Put the jobs, fork and kill as many workers as asked for, and let the last one end."""
    home, jobs, kills, seed = Path(sys.argv[1]), *map(int, sys.argv[2:5])
    draw = random.Random(seed)
    died: list[str] = []
    # The bundled embedder is only read from: it is loaded before forking too.
    static.StaticEmbedder = functools.cache(static.StaticEmbedder)  # type: ignore[misc, assignment]
    static.StaticEmbedder().coverage("锁")
    for worker in range(-1, kills + 1):  # the first one puts the jobs: this process itself opens nothing
        outside = worker >= 0 and worker % 3 == 2
        child = os.fork()
        if child == 0:
            try:
                if 0 <= worker < kills and not outside:
                    _arm(*_POINTS[worker % len(_POINTS)], draw.randint(1, 2))
                with _open(home) as memory:
                    if worker < 0:
                        with memory.ledger.write("ann") as tx:
                            for number in range(jobs):
                                queue.enqueue(tx, ("once", "again")[number % 2], {"n": number})
                    elif not memory.flush():
                        sys.exit(f"not all was done: {memory.jobs()}")
                os._exit(0)
            except BaseException:  # noqa: BLE001 - a fork must never go on as its parent
                traceback.print_exc()
            os._exit(1)
        if outside:
            time.sleep(draw.uniform(0.12, 0.3))
            os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL:
            point = _POINTS[worker % len(_POINTS)]
            died.append("random" if outside else f"{point[2]} {point[0].__name__.split('.')[-1]}.{point[1]}")
        elif status:
            sys.exit(f"worker {worker} failed: status {status}")
        draw = random.Random(seed + worker)
    print(json.dumps(died))


if __name__ == "__main__":
    main()
