"""Not a test: the process that test_durability kills while messages are recorded, labelled, managed, applied and projected,
while their jobs are claimed and settled, and while items are merged, users erased, indexes rebuilt and ledgers migrated.

It imports Hexamem once and forks one worker after the other on the same home. Each worker checks what the others left,
stores messages and works off the queue, until it dies at a moment of one stage that was drawn for it: by SIGKILL at any
call of any function there, or at one that reads or writes a store; or within one of the latter, at the end of a timer.
Some workers that are left alone count how many such moments each stage has; they and the last one end.

Usage: ``python kill_child.py FOLDER BASE_URL SEED MODES[@NUMBER]=KILLS …``, with a home in ``FOLDER/MODES[@NUMBER]`` for
each comma-separated list of modes that take turns there. It prints where workers died, as JSON; what was acknowledged
goes to ``FOLDER/MODES[@NUMBER].acknowledged``; progress to the standard error stream.
"""

from __future__ import annotations

import base64
import functools
import gc
import json
import os
import random
import signal
import sys
import threading
import time
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
from faults import Acknowledged, assert_whole, version_of
from langchain_openai import ChatOpenAI
from proposing import apply, batch_of, propose, store
from sqlalchemy import Connection, Engine, text

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
from hexamem.errors import EmbedderMismatchError
from hexamem.graphs import waiting_nodes
from hexamem.graphs.ingest_nodes import IngestNodes
from hexamem.models.tokens import count_tokens
from hexamem.stores.embedders import static
from hexamem.stores.ledger import ledger as ledger_module
from hexamem.stores.ledger.migrations import migrate
from hexamem.stores.projections import Projector


class _Upgrade:
    """Migrations of the tests: each makes a table of all steps and drops the one of the migration before."""

    target = 1

    @classmethod
    def run(cls, engine: Engine) -> int:
        def to(version: int, connection: Connection) -> None:
            table = f"migrated_{version}"
            connection.execute(text(f"CREATE TABLE {table} AS SELECT * FROM steps"))
            connection.execute(text(f"ALTER TABLE {table} ADD COLUMN version INTEGER"))
            connection.execute(text(f"UPDATE {table} SET version = {version}"))
            connection.execute(text(f"CREATE INDEX {table}_content ON {table} (content)"))
            connection.execute(text(f"DROP TABLE IF EXISTS migrated_{version - 1}"))

        steps = {version: functools.partial(to, version) for version in range(2, cls.target + 1)}
        return migrate(engine, steps, cls.target)


def _migrate(engine: Engine) -> int:
    return _Upgrade.run(engine)  # which is watched from a time on


class _Merging:
    """Merges a pair of items, and a label into another."""

    @staticmethod
    def run(user: UserMemory, worker: int) -> None:
        word = f"cairn{worker}"
        step = store(user, f"Is it far to hill {worker}?")
        kept, other = (
            user.add({"kind": "semantic", "name": word, "summary": text}) for text in (word, f"{word} again")
        )
        _acknowledged(user).add(("pair", word))
        batch = batch_of(step)
        proposal = propose(step, {}, operation="merge", target=kept.id, merged=(other.id,))
        (outcome,) = apply(user, batch, proposal).outcomes
        assert outcome.applied == "merge", outcome
        _acknowledged(user).add(("merged", word))
        label = user.labels.of(step.id).intent.events[0]
        split = user.labels.split(label, step.id, word)
        user.labels.pin(split.id, False)
        user.labels.merge(split.id, into=label)


_STAGES: dict[str, list[tuple[Any, str]]] = {
    "record": [(UserMemory, "remember")],
    "label": [(IntentLabeling, "label"), (IngestNodes, "label")],
    "manage": [(waiting_nodes, "_advance"), (IngestNodes, "manage")],  # a node between its calls of a model
    "apply": [(IngestNodes, "apply")],
    "project": [(Projector, "_advance_all"), (IngestNodes, "project")],
    "queue": [(JobRunner, "run_one")],
    "merge": [(_Merging, "run")],
    "erase": [(UserMemory, "erase")],
    "reindex": [(Memory, "reindex")],
    "migration": [(_Upgrade, "run")],
}
"""What runs in each stage, outermost first; what runs within another stage's code is of the inner one, except in these:"""
_WHOLE = frozenset({"merge", "erase", "reindex", "migration"})
_OF_MODELS = 6
"""The first stages, which are different where a model works."""
_STORES = frozenset(
    {
        "execute", "executemany", "commit", "upsert", "add_document", "delete_documents", "fsync", "query", "unlink",
        "rmdir",
    }
)  # fmt: skip
"""Names of the C functions by which the ledger, the indexes and the files are read and written."""
_MOMENTS = ("any", "store", "inside")
_INSIDE = (5e-6, 3e-3)
"""The shortest and the longest time, in seconds, after which a process dies within the call of a store."""
_CODES_EVERY = 3  # of so many workers one states a secret
_WITHIN = 0.9  # of the moments that were counted: another run may have a few less
_COUNT_EVERY = 20  # workers


class _Watch:
    """Counts the moments of each stage in all threads, and kills this process at the one that was chosen."""

    current: _Watch | None = None

    def __init__(self, out: int, stage: str = "", kind: str = "", at: int = 0, delay: float = 0) -> None:
        self.counts: Counter[tuple[str, str]] = Counter()
        self.counted: dict[tuple[str, str], int] = {}
        self._out, self._stage, self._kind, self._at, self._delay = out, stage, kind, at, delay
        self._here = threading.local()

    def all_counts(self) -> dict[tuple[str, str], int]:
        """The moments by stage and kind: of the stages that every worker has, those in what every worker does."""
        return {**self.counts, **self.counted}

    def watch(self) -> None:
        """From now on."""
        _Watch.current = self
        for stage, functions in _STAGES.items():
            for owner, name in functions:
                inner = self._staged(getattr(owner, name), stage)
                setattr(owner, name, staticmethod(inner) if owner in (_Merging, _Upgrade) else inner)

    def _staged(self, inner: Callable[..., Any], stage: str) -> Callable[..., Any]:
        @functools.wraps(inner)
        def staged(*args: Any, **kwargs: Any) -> Any:
            outer = getattr(self._here, "stage", "")
            if outer in _WHOLE:
                return inner(*args, **kwargs)
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
        every, stores, inside, counts = (stage, "any"), (stage, "store"), (stage, "inside"), self.counts
        last = {kind: self._at if (self._stage, self._kind) == (stage, kind) else -1 for kind in _MOMENTS}
        last_of_every, last_of_stores, last_inside = last.values()

        def moment(frame: FrameType, event: str, called: Any) -> None:
            if event == "return":
                return
            counts[every] += 1
            if counts[every] == last_of_every:
                self._die(frame, event, called)
            if event == "call" or called.__name__ not in _STORES:
                return
            counts[stores] += 1
            if counts[stores] == last_of_stores:
                self._die(frame, event, called)
            if event == "c_call":
                counts[inside] += 1
                if counts[inside] == last_inside:
                    self._report(frame, event, called)
                    # The kernel ends the process as by SIGKILL: nothing handles the signal.
                    signal.setitimer(signal.ITIMER_REAL, self._delay)
            elif counts[inside] == last_inside:
                os.kill(os.getpid(), signal.SIGKILL)  # the call took less time

        return moment

    def _report(self, frame: FrameType, event: str, called: Any) -> None:
        where = {"call": "in", "c_call": "before"}.get(event, "after")
        what = f"{called.__name__} in " if event != "call" else ""
        place = f"{where} {what}{frame.f_globals.get('__name__')}.{frame.f_code.co_qualname}:{frame.f_lineno}"
        os.write(self._out, json.dumps({"stage": self._stage, "kind": self._kind, "place": place}).encode())

    def _die(self, frame: FrameType, event: str, called: Any) -> None:
        self._report(frame, event, called)
        os.kill(os.getpid(), signal.SIGKILL)


def _facts(worker: int, by_model: bool) -> list[str]:
    if by_model:
        return [f"FACT friend{worker}x{number}: keeps bees in garden {worker}x{number}" for number in range(2)]
    return [f"My colleague Zora{worker}x{number} is allergic to walnuts." for number in range(2)]


def _code(worker: int, by_model: bool) -> str:
    secret = f"swordfish#{worker}{worker}7"
    return f"CODE gate{worker}: {secret}" if by_model else f"The password for gate{worker} is {secret}"


def _acknowledged(user: UserMemory) -> Acknowledged:
    return Acknowledged(user.memory.home.with_suffix(".acknowledged"))


def _open(home: Path, model: ChatOpenAI | None, mode: str) -> Memory:
    """Open a home, also one whose embedder was being changed."""
    settings = Settings(background=False, mode=mode, batch_size=4, max_job_attempts=1_000)  # type: ignore[arg-type]
    try:
        return Memory.open(home, model=model, embedder="static", settings=settings)
    except EmbedderMismatchError:
        Memory.reembed(home, embedder="static", settings=Settings(background=False, mode="off"))
        return Memory.open(home, model=model, embedder="static", settings=settings)


def _check(home: Path, model: ChatOpenAI | None, mode: str) -> None:
    """What must hold whatever was killed before."""
    _Upgrade.target = version_of(home)[0]
    with _open(home, model, mode) as memory:
        assert_whole(memory, Acknowledged(home.with_suffix(".acknowledged")))


def _work(home: Path, model: ChatOpenAI | None, mode: str, worker: int, stage: str) -> None:
    """Store messages and learn from them, and do what the stage is about; without one, everything."""
    acknowledged = Acknowledged(home.with_suffix(".acknowledged"))
    by_model = model is not None
    if stage in ("", "migration") and not by_model:
        _Upgrade.target = version_of(home)[0] + 2
    with _open(home, model, mode) as memory:
        acknowledged.add(("version", _Upgrade.target))
        user = memory.user("ann")
        messages, codes = _facts(worker, by_model), []
        if worker % _CODES_EVERY == 0:
            codes.append(_code(worker, by_model))
        user.remember([*messages, *codes], f"thread {worker % 3}")
        acknowledged.add(*[("message", line) for line in messages], *[("secret", code.split()[-1]) for code in codes])
        names = [line.split()[1 if by_model else 2].rstrip(":") for line in messages]
        acknowledged.add(*[("learned", name) for name in names])
        if not user.flush():
            raise AssertionError(f"not all was done: {user.jobs()}")
        if _Watch.current is not None:
            _Watch.current.counted = dict(_Watch.current.counts)
        if stage in ("", "merge") and not by_model:
            _Merging.run(user, worker)
        if stage in ("", "erase") and not by_model:
            _leave(memory, f"leaver {worker}", acknowledged)
        if stage in ("", "reindex"):
            memory.reindex()
    if stage in ("", "reindex") and worker % 2:
        Memory.reembed(home, embedder="static", settings=Settings(background=False, mode="off"))


def _leave(memory: Memory, name: str, acknowledged: Acknowledged) -> None:
    """A user who stores a message with a picture, and is erased."""
    user = memory.user(name)
    picture = {"type": "image", "base64": base64.b64encode(name.encode()).decode(), "mime_type": "image/png"}
    content = f"{name} keeps a diary of the tides"
    user.remember({"role": "user", "content": [{"type": "text", "text": content}, picture]})
    acknowledged.add(("user", name, [user.steps()[0].content]))
    user.flush()
    user.erase()
    acknowledged.add(("erased", name))


def _run(
    check: Callable[[], None], watch: Callable[[int], _Watch | None], work: Callable[[], None]
) -> tuple[bool, Any]:
    """Check and then work in a fork; whether it was killed, and its report: where it died, or how many moments it had."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(read)
            check()
            watching = watch(write)
            if watching is not None:
                watching.watch()
            work()
            if watching is not None:
                os.write(write, json.dumps([[*key, count] for key, count in watching.all_counts().items()]).encode())
            os._exit(0)
        except BaseException:  # noqa: BLE001 - a fork must never go on as its parent
            traceback.print_exc()
        os._exit(1)
    os.close(write)
    with os.fdopen(read) as report:
        text = report.read()
    _, status = os.waitpid(child, 0)
    by = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
    if status and by not in (signal.SIGKILL, signal.SIGALRM):
        sys.exit(f"a worker failed: status {status} {text}")
    report_of = json.loads(text) if text else None
    if by == signal.SIGKILL and report_of["kind"] == "inside":
        report_of["kind"] = "store"
    return bool(by), report_of


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
        user.history(), user.steps(), user.items()
        for item in user.items("vault"):
            user.reveal(item.id, reason="test")


def _kill(home: Path, model: ChatOpenAI, modes: list[str], kills: int, draw: random.Random) -> list[dict[str, str]]:
    """Fork workers on a home until so many were killed, and let the last one end; where they died."""

    def worker(mode: str, number: int, watch: Callable[[int], _Watch | None], stage: str) -> tuple[bool, Any]:
        by = model if mode != "embedded" else None
        return _run(lambda: _check(home, by, mode), watch, lambda: _work(home, by, mode, number, stage))

    _warm_ledger(home)
    stages = list(_STAGES)[: len(_STAGES) if modes == ["embedded"] else _OF_MODELS]
    moments: dict[str, dict[tuple[str, str], int]] = {}
    died: list[dict[str, str]] = []
    number, counted_at, began = 0, -_COUNT_EVERY, time.monotonic()
    while len(died) < kills:
        if number >= counted_at + _COUNT_EVERY:
            counted_at = number
            for mode in modes:
                _, counted = worker(mode, number, _Watch, "")
                moments[mode] = {(stage, kind): count for stage, kind, count in counted}
                number += 1
        # Every stage once in so many kills as there are stages, with another kind of moment each time.
        rounds, turn = divmod(len(died), len(stages))
        stage, mode = stages[turn], modes[(rounds + turn) % len(modes)]
        kind = _MOMENTS[(rounds + turn + draw.randrange(2)) % len(_MOMENTS)]
        at = 1 + draw.randrange(max(1, int(_WITHIN * moments[mode].get((stage, kind), 0))))
        delay = _INSIDE[0] * (_INSIDE[1] / _INSIDE[0]) ** draw.random()
        watch = functools.partial(_Watch, stage=stage, kind=kind, at=at, delay=delay)
        killed, report = worker(mode, number, watch, stage)
        if killed:
            died.append({"mode": mode, **report})
            if len(died) % _COUNT_EVERY == 0 or len(died) == kills:
                _progress(home, died, number + 1, time.monotonic() - began)
        number += 1
        if number > 3 * kills + _COUNT_EVERY:
            sys.exit(f"too few of {number} workers were killed: {died}")
    worker(modes[0], number, lambda _: None, "")
    _, _ = _run(lambda: _check(home, model if modes[0] != "embedded" else None, modes[0]), lambda _: None, lambda: None)
    return died


def _progress(home: Path, died: list[dict[str, str]], workers: int, seconds: float) -> None:
    by_stage = ", ".join(f"{stage} {count}" for stage, count in Counter(one["stage"] for one in died).items())
    kinds = ", ".join(f"{kind} {count}" for kind, count in Counter(one["kind"] for one in died).items())
    stored = len(Acknowledged(home.with_suffix(".acknowledged")).of("message"))
    print(
        f"{home.name}: {len(died)} killed of {workers} workers in {seconds:.0f} s ({by_stage}; {kinds}); {stored} messages "
        "acknowledged, none lost or doubled",
        file=sys.stderr,
        flush=True,
    )


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
    ledger_module.migrate = _migrate
    model = _warm_model(base_url)
    gc.collect()
    gc.freeze()  # a collection in a fork would look at, and so copy, all that was imported
    died: dict[str, list[dict[str, str]]] = {}
    for wanted in sys.argv[4:]:
        name, _, kills = wanted.partition("=")
        modes = name.partition("@")[0].split(",")
        died[name] = _kill(folder / name, model, modes, int(kills), random.Random(f"{seed} {name}"))
    print(json.dumps(died))


if __name__ == "__main__":
    main()
