"""Not a test: the process that test_write_path_kill kills while batches are labelled, managed, applied and projected.

It imports Hexamem once and forks one worker after the other on the same home, each of which dies by SIGKILL: at a point
of the write path (``_POINTS``), or at a random moment by the hand of its parent. Each worker stores messages before it
goes on with what the others left. The last one is left to end.

Usage: ``python write_path_kill_child.py HOME BASE_URL MODE KILLS SEED``. It prints where workers died, as JSON; what
was acknowledged goes to ``HOME/../acknowledged``, a line a message.
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
import langchain_openai.chat_models.base  # noqa: F401
from langchain_openai import ChatOpenAI

import hexamem.agents.applying.nearest_items
import hexamem.agents.managers.tiers
import hexamem.agents.rule_managers
import hexamem.agents.rule_meta_manager
import hexamem.graphs.ingest
import hexamem.intent.rule_labeler
import hexamem.stores.recording
import hexamem.user  # noqa: F401
from hexamem import Memory, Settings
from hexamem.agents.applying.applier import Applier
from hexamem.agents.labelling.intent_labeler import IntentLabeling
from hexamem.agents.managers.model import ModelManager
from hexamem.agents.meta_manager import ModelMetaManager
from hexamem.agents.single_call import SingleCall
from hexamem.background import JobContext, JobRunner
from hexamem.graphs import ingest_nodes
from hexamem.stores.embedders import bundled
from hexamem.stores.projections import Projector

_POINTS: list[tuple[Any, str, str]] = [
    (IntentLabeling, "_write", "before"),
    (IntentLabeling, "_write", "after"),
    (ModelMetaManager, "finish", "before"),
    (ModelManager, "finish", "after"),
    (SingleCall, "finish", "after"),
    (ingest_nodes, "write_label_batch", "after"),
    (Applier, "apply", "before"),
    (ingest_nodes, "advance", "before"),  # everything is written, and nothing committed
    (JobContext, "complete", "after"),  # the same, with the mark and the end of the job
    (Applier, "apply", "after"),  # committed, the job is gone, nothing is indexed
    (Projector, "_advance_all", "before"),
    (Projector, "_set", "before"),
    (JobRunner, "_put", "before"),
]
_STEPS = 6


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


def _work(home: Path, model: ChatOpenAI, mode: str, worker: int) -> None:
    settings = Settings(background=False, mode=mode, batch_size=4, max_job_attempts=1_000)  # type: ignore[arg-type]
    with Memory.open(home, model=model, settings=settings) as memory:
        user = memory.user("ann")
        said = [f"FACT friend{worker}x{number}: keeps bees in garden {worker}x{number}" for number in range(_STEPS - 1)]
        said.append(f"CODE gate{worker}: swordfish#{worker}{worker}7")
        user.remember(said)
        with (home.parent / "acknowledged").open("a") as file:
            file.writelines(f"{line}\n" for line in said)
        if not user.flush():
            sys.exit(f"not all was done: {user.jobs()}")


def main() -> None:
    """Fork and kill as many workers as asked for, and let the last one end."""
    home, base_url, mode, kills, seed = Path(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5])
    draw = random.Random(seed)
    unused = ("SingleCall", "write_label_batch") if mode == "agents" else ("MetaManager", "ModelManager")
    points = [one for one in _POINTS if not any(word in f"{one[0]} {one[1]}" for word in unused)]
    died: list[str] = []
    # What takes long to load and is only read from, or not yet used, is made once and before forking.
    model = ChatOpenAI(model="scripted", base_url=base_url, api_key="x", timeout=10)
    bundled.BundledEmbedder = functools.cache(bundled.BundledEmbedder)  # type: ignore[misc, assignment]
    bundled.BundledEmbedder().coverage("锁")
    for worker in range(kills + 1):
        outside = worker % 4 == 3
        owner, name, when = points[(worker + seed) % len(points)]
        child = os.fork()
        if child == 0:
            try:
                if worker < kills and not outside:
                    _arm(owner, name, when, draw.randint(1, 2))
                _work(home, model, mode, worker)
                os._exit(0)
            except BaseException:  # noqa: BLE001 - a fork must never go on as its parent
                traceback.print_exc()
            os._exit(1)
        if outside and worker < kills:
            time.sleep(draw.uniform(0.2, 0.9))
            os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL:
            died.append("random" if outside else f"{when} {getattr(owner, '__name__', '').split('.')[-1]}.{name}")
        elif status:
            sys.exit(f"worker {worker} failed: status {status}")
        draw = random.Random(seed + worker)
    print(json.dumps(died))


if __name__ == "__main__":
    main()
