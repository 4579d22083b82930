"""What MemoryMiddleware adds to a run of an agent, in a memory of so many steps.

Run: ``python benchmarks/middleware.py [--steps 10000] [--runs 80] [--wait 50] [--home FOLDER] [--json OUT]``. Two agents with a
model that answers after so many milliseconds, one with the middleware and one without, take turns. Each run asks a new
question, at the end of a conversation of none or twenty messages that is sent whole. What the run of the bare agent took
is subtracted, so the difference is recall, storing and what the hooks cost. Wall time and CPU time of the caller's thread
are told beside the CPU time of the process, which holds the indexing behind the call too: it is done while the model is
waited for. ``--home`` keeps the memory for the next run.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from foundation import WORDS, messages
from langchain.agents import create_agent
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from rich.console import Console
from rich.table import Table

from hexamem import Memory, MemoryMiddleware, MiddlewareSettings, UserMemory

_THREAD = 250
_CLOCKS = {"wall": time.perf_counter, "CPU, caller": time.thread_time, "CPU, process": time.process_time}


def main() -> None:
    """Fill a memory, run both agents, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=10_000)
    parser.add_argument("--runs", type=int, default=80)
    parser.add_argument("--wait", type=float, default=50, help="milliseconds that the model takes")
    parser.add_argument("--home", type=Path)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="hexamem-") as folder, Memory.open(given.home or folder) as memory:
        user = memory.user("u")
        if not user.recall("anything", k=1).hits:
            _fill(user, given.steps)
        rows = {f"history of {history}": _added(memory, given.runs, history, given.wait) for history in (0, 20)}
    table = Table("the middleware adds, ms", *(f"{clock} p50" for clock in _CLOCKS), "wall p95", "bare run, wall p50")
    for name, row in rows.items():
        table.add_row(name, *(f"{value:.1f}" for value in row.values()))
    Console().print(table)
    print(f"{given.steps:,} steps, {given.runs} runs of each agent")
    if given.json is not None:
        given.json.write_text(
            json.dumps({"steps": given.steps, "runs": given.runs, "wait_ms": given.wait, "ms": rows}, indent=1), "utf-8"
        )


def _fill(user: UserMemory, steps: int) -> None:
    given = messages(steps)
    for start in range(0, steps, _THREAD):
        user.remember(given[start : start + _THREAD], thread_id=f"talk {start // _THREAD}")
    user.flush()


def _added(memory: Memory, runs: int, history: int, wait: float) -> dict[str, float]:
    rng = random.Random(history)
    bare = _agent(wait, [])
    whole = _agent(wait, [MemoryMiddleware(memory, settings=MiddlewareSettings(tools=()))])
    taken: dict[str, dict[str, list[float]]] = {name: {clock: [] for clock in _CLOCKS} for name in ("bare", "whole")}
    for number in range(runs + 8):
        history: list[BaseMessage] = [
            (AIMessage if turn % 2 else HumanMessage)(
                " ".join(rng.choices(WORDS, k=14)), id=f"{history}-{number}-{turn}"
            )
            for turn in range(history)
        ]
        config = {"configurable": {"thread_id": f"measured {history} {time.time_ns()}"}}
        if history:  # as the thread stood after the turn before
            memory.user("u").remember(history, thread_id=config["configurable"]["thread_id"])
        memory.flush()
        asked = HumanMessage(" ".join(rng.sample(WORDS, 4)) + f" {number}?")
        for name, agent in (("bare", bare), ("whole", whole)):
            began = {clock: read() for clock, read in _CLOCKS.items()}
            agent.invoke({"messages": [*history, asked]}, config, context={"user": "u"})
            for clock, read in _CLOCKS.items():
                taken[name][clock].append((read() - began[clock]) * 1_000)
            time.sleep(0.05)  # what follows behind the call is not in the way of the next
    added = {clock: statistics.median(_difference(taken, clock)) for clock in _CLOCKS}
    walls = sorted(_difference(taken, "wall"))
    return {**added, "wall p95": walls[int(0.95 * len(walls))], "bare": statistics.median(taken["bare"]["wall"][8:])}


def _difference(taken: dict[str, dict[str, list[float]]], clock: str) -> list[float]:
    return [b - a for a, b in zip(taken["bare"][clock][8:], taken["whole"][clock][8:], strict=True)]


class _Model(FakeListChatModel):
    """Says the same after a while."""

    responses: list[str] = ["Noted, the garden is by the river."]  # noqa: RUF012 - pydantic copies it


def _agent(wait: float, middleware: Sequence[Any]) -> Any:
    return create_agent(_Model(sleep=wait / 1_000), middleware=list(middleware))


if __name__ == "__main__":
    main()
