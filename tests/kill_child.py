"""Not a test: the process that test_durability kills while messages are recorded, labelled, managed, applied and projected,
and while their jobs are claimed and settled.

It imports Hexamem once and forks one worker after the other on the same home. Each worker checks what the others left,
stores messages and works off the queue, until it dies by SIGKILL at a moment of one stage that was drawn for it: at any
call of any function there, or at one that reads or writes a store. A first worker that is left alone counts how many
such moments each stage has. The last one is left to end.

Usage: ``python kill_child.py FOLDER BASE_URL SEED MODES=KILLS …``, with a home in ``FOLDER/MODES`` for each
comma-separated list of modes that take turns there. It prints where workers died, as JSON; what was acknowledged goes
to ``FOLDER/MODES.acknowledged``, a line a message.
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
import threading
import traceback
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any
from unittest.mock import patch

import chromadb.api.rust  # noqa: F401 - loaded before forking, so that no worker has to
import langchain_core.messages.block_translators.langchain_v0
import langchain_core.tracers.context
import langchain_core.tracers.run_collector
import langchain_core.tracers.stdout  # noqa: F401
import langchain_openai.chat_models.base  # noqa: F401
from langchain_openai import ChatOpenAI

import hexamem.agents.applying.applier
import hexamem.agents.applying.nearest_items
import hexamem.agents.reader
import hexamem.graphs.ingest
import hexamem.intent.embedded_labeler
import hexamem.stores.recording  # noqa: F401
from hexamem import Memory, Settings, UserMemory
from hexamem.agents.labelling.label_stage import IntentLabeling
from hexamem.agents.managers.agent import ManagerAgent
from hexamem.agents.managers.forms import FORMS
from hexamem.agents.meta_manager import ModelMetaManager
from hexamem.agents.reader import EmbeddedMetaManager, Reader, embedded_managers
from hexamem.agents.single_call import SingleCall
from hexamem.background import JobRunner
from hexamem.graphs import waiting_nodes
from hexamem.graphs.ingest_nodes import IngestNodes
from hexamem.models.tokens import count_tokens
from hexamem.stores.embedders import static
from hexamem.stores.projections import Projector

_STAGES: dict[str, list[tuple[Any, str]]] = {
    "record": [(UserMemory, "remember")],
    "label": [(IntentLabeling, "label"), (IngestNodes, "label")],
    "manage": [(waiting_nodes, "_advance"), (IngestNodes, "manage")],  # a node between its calls of a model
    "apply": [(IngestNodes, "apply")],
    "project": [(Projector, "_advance_all"), (IngestNodes, "project")],
    "queue": [(JobRunner, "run_one")],
}
"""What runs in each stage, outermost first; what runs within another stage's code is of the inner one."""
_STORES = frozenset(
    {"execute", "executemany", "commit", "upsert", "add_document", "delete_documents", "fsync", "query"}
)
"""Names of the C functions by which the ledger and the indexes are read and written."""
_MOMENTS = ("any", "store")
_CODES_EVERY = 3  # of so many workers one states a secret
_WITHIN = 0.9  # of the moments that were counted: another run may have a few less


class _Watch:
    """Counts the moments of each stage in all threads, and kills this process at the one that was chosen."""

    def __init__(self, out: int, stage: str = "", kind: str = "", at: int = 0) -> None:
        self.counts: Counter[tuple[str, str]] = Counter()
        self._out, self._stage, self._kind, self._at = out, stage, kind, at
        self._here = threading.local()

    def watch(self) -> None:
        """From now on."""
        for stage, functions in _STAGES.items():
            for owner, name in functions:
                setattr(owner, name, self._staged(getattr(owner, name), stage))

    def _staged(self, inner: Callable[..., Any], stage: str) -> Callable[..., Any]:
        @functools.wraps(inner)
        def staged(*args: Any, **kwargs: Any) -> Any:
            outer = getattr(self._here, "stage", "")
            self._enter(stage)
            try:
                return inner(*args, **kwargs)
            finally:
                self._enter(outer)

        return staged

    def _enter(self, stage: str) -> None:
        self._here.stage = stage
        watched = bool(stage) and self._stage in ("", stage)
        sys.setprofile(self._counting(stage) if watched else None)

    def _counting(self, stage: str) -> Callable[[FrameType, str, Any], None]:
        """What the interpreter calls at each call of a function and after each one in C; short, since it is called often."""
        every, stores, counts = (stage, "any"), (stage, "store"), self.counts
        last = {kind: self._at if (self._stage, self._kind) == (stage, kind) else -1 for kind in _MOMENTS}
        last_of_every, last_of_stores = last["any"], last["store"]

        def moment(frame: FrameType, event: str, called: Any) -> None:
            if event == "return":
                return
            counts[every] += 1
            if counts[every] == last_of_every:
                self._die(frame, event, called)
            if event != "call" and called.__name__ in _STORES:
                counts[stores] += 1
                if counts[stores] == last_of_stores:
                    self._die(frame, event, called)

        return moment

    def _die(self, frame: FrameType, event: str, called: Any) -> None:
        where = {"call": "in", "c_call": "before"}.get(event, "after")
        what = f"{called.__name__} in " if event != "call" else ""
        place = f"{where} {what}{frame.f_globals.get('__name__')}.{frame.f_code.co_qualname}:{frame.f_lineno}"
        os.write(self._out, json.dumps({"stage": self._stage, "kind": self._kind, "place": place}).encode())
        os.kill(os.getpid(), signal.SIGKILL)


def _facts(worker: int, by_model: bool) -> list[str]:
    if by_model:
        return [f"FACT friend{worker}x{number}: keeps bees in garden {worker}x{number}" for number in range(2)]
    return [f"My colleague Zora{worker}x{number} is allergic to walnuts." for number in range(2)]


def _code(worker: int, by_model: bool) -> str:
    secret = f"swordfish#{worker}{worker}7"
    return f"CODE gate{worker}: {secret}" if by_model else f"The password for gate{worker} is {secret}"


def _check(user: UserMemory, acknowledged: list[str]) -> None:
    """What must hold whatever was killed before: no message lost or doubled, no item added twice."""
    stored = Counter(step.content for step in user.steps())
    for line in acknowledged:
        if "swordfish" not in line:
            assert stored[line] == 1, (line, stored[line])
    texts = Counter(item.text for item in user.items("semantic"))
    assert not [text for text, count in texts.items() if count > 1], texts


def _work(home: Path, model: ChatOpenAI, mode: str, worker: int) -> None:
    by_model = mode != "embedded"
    notes = home.with_suffix(".acknowledged")
    settings = Settings(background=False, mode=mode, batch_size=4, max_job_attempts=1_000)  # type: ignore[arg-type]
    with Memory.open(home, model=model if by_model else None, embedder="static", settings=settings) as memory:
        user = memory.user("ann")
        _check(user, notes.read_text().splitlines() if notes.exists() else [])
        messages = _facts(worker, by_model) + ([_code(worker, by_model)] if worker % _CODES_EVERY == 0 else [])
        user.remember(messages, f"thread {worker % 3}")
        with notes.open("a") as file:
            file.writelines(f"{line}\n" for line in messages)
        if not user.flush():
            raise AssertionError(f"not all was done: {user.jobs()}")


def _run(watch: Callable[[int], _Watch | None], work: Callable[[], None]) -> tuple[bool, Any]:
    """Work in a fork; whether it was killed, and its report: where it died, or how many moments it had."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(read)
            watching = watch(write)
            if watching is not None:
                watching.watch()
            work()
            if watching is not None:
                os.write(write, json.dumps([[*key, count] for key, count in watching.counts.items()]).encode())
            os._exit(0)
        except BaseException:  # noqa: BLE001 - a fork must never go on as its parent
            traceback.print_exc()
        os._exit(1)
    os.close(write)
    with os.fdopen(read) as report:
        text = report.read()
    _, status = os.waitpid(child, 0)
    killed = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
    if status and not killed:
        sys.exit(f"a worker failed: status {status}")
    return killed, json.loads(text) if text else None


def _warm_ledger(home: Path) -> None:
    """Make the home's ledger, and its SQL, in this process: what opens handles or threads that stay is left out."""
    with (
        patch.object(Projector, "_check", lambda *_: False),
        patch.object(Projector, "_advance_all", lambda *_: 0),
        Memory.open(home, embedder="static", settings=Settings(background=False)) as memory,
    ):
        user = memory.user("somebody else")
        user.remember(["My colleague Zora is allergic to walnuts.", "The password for the gate is swordfish#7."])
        user.flush()


def _kill(home: Path, model: ChatOpenAI, modes: list[str], kills: int, draw: random.Random) -> list[dict[str, str]]:
    """Fork workers on a home until so many were killed, and let the last one end; where they died."""

    def worker(mode: str, number: int, watch: Callable[[int], _Watch | None]) -> tuple[bool, Any]:
        return _run(watch, lambda: _work(home, model, mode, number))

    _warm_ledger(home)
    moments: dict[str, dict[tuple[str, str], int]] = {}
    for number, mode in enumerate(modes):
        _, counted = worker(mode, number, _Watch)
        moments[mode] = {(stage, kind): count for stage, kind, count in counted}
    died: list[dict[str, str]] = []
    # Every stage once in so many kills as there are stages, and the other moment of each in the next ones.
    orders = (_MOMENTS, _MOMENTS[::-1]) if len(modes) == 1 else (_MOMENTS[::-1], _MOMENTS)
    turns = [turn for order in orders for turn in zip(itertools.cycle(order), _STAGES, strict=False)]
    number = len(modes)
    while len(died) < kills and number < 2 * kills:
        rounds, turn = divmod(len(died), len(turns))
        kind, stage = turns[turn]
        mode = modes[(rounds + turn) % len(modes)]
        at = 1 + draw.randrange(max(1, int(_WITHIN * moments[mode].get((stage, kind), 0))))
        killed, report = worker(mode, number, functools.partial(_Watch, stage=stage, kind=kind, at=at))
        if killed:
            died.append({"mode": mode, **report})
        number += 1
    worker(modes[0], number, lambda _: None)
    return died


def _warm_model(base_url: str) -> ChatOpenAI:
    """The model, after what takes long to load, and is only read from, was made once before forking."""
    model = ChatOpenAI(model="scripted", base_url=base_url, api_key="x", timeout=10)
    static.StaticEmbedder = functools.cache(static.StaticEmbedder)  # type: ignore[misc, assignment]
    static.StaticEmbedder().known_share("锁")
    static.StaticEmbedder().embed_documents(["words"])
    count_tokens("words")
    embedder = static.StaticEmbedder()
    reader = Reader(embedder)
    managers = embedded_managers(reader)
    ModelMetaManager(model, EmbeddedMetaManager(reader))
    for kind, form in FORMS.items():
        ManagerAgent(form, model, managers[kind])
    SingleCall(model, managers, embedder.embed_documents)
    return model


def main() -> None:
    """Fork and kill workers in each home."""
    folder, base_url, seed = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    model = _warm_model(base_url)
    gc.collect()
    gc.freeze()  # a collection in a fork would look at, and so copy, all that was imported
    died: dict[str, list[dict[str, str]]] = {}
    for wanted in sys.argv[4:]:
        modes, _, kills = wanted.partition("=")
        died[modes] = _kill(folder / modes, model, modes.split(","), int(kills), random.Random(seed))
    print(json.dumps(died))


if __name__ == "__main__":
    main()
