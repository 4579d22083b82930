"""What MemoryMiddleware adds to a run of an agent, in a memory of so many steps.

Run: ``python benchmarks/middleware.py [--steps 10000] [--runs 80] [--wait 50] [--home FOLDER] [--json OUT]``. Two agents with a
model that answers after so many milliseconds, one with the middleware and one without, take turns. Each run asks a new
question, at the end of a conversation of none or twenty messages that is sent whole. The time of the bare agent is
subtracted, so the difference is recall, storing and the hooks. The CPU time of the process includes the indexing in the
background, which runs while the model is waited for. ``--home`` stores the memory for the next run.
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

from foundation import messages, questions, store
from langchain.agents import create_agent
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from rich.console import Console
from rich.table import Table

from hexamem import Memory, MemoryMiddleware, MiddlewareSettings
from hexamem.evals.ruler import Prose

_CLOCKS = {"wall": time.perf_counter, "CPU, caller": time.thread_time, "CPU, process": time.process_time}
_WARM_UP = 8


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
            store(user, messages(given.steps))
        rows = {f"history of {history}": _added(memory, given.runs, history, given.wait) for history in (0, 20)}
    table = Table("the middleware adds, ms", *(f"{clock} p50" for clock in _CLOCKS), "wall p95", "bare run, wall p50")
    for name, row in rows.items():
        table.add_row(name, *(f"{value:.1f}" for value in row.values()))
    Console().print(table)
    print(f"{given.steps:,} steps, {given.runs} runs of each agent")
    if given.json is not None:
        result = {"steps": given.steps, "runs": given.runs, "wait_ms": given.wait, "ms": rows}
        given.json.write_text(json.dumps(result, indent=1), "utf-8")


def _added(memory: Memory, runs: int, length: int, wait: float) -> dict[str, float]:
    prose = Prose(random.Random(length))
    agents = {
        "bare": _agent(wait, []),
        "whole": _agent(wait, [MemoryMiddleware(memory, settings=MiddlewareSettings(tools=()))]),
    }
    taken: dict[str, dict[str, list[float]]] = {name: {clock: [] for clock in _CLOCKS} for name in agents}
    for number, question in enumerate(questions(runs + _WARM_UP)):
        history: list[BaseMessage] = [
            (AIMessage if turn % 2 else HumanMessage)(prose.sentence(), id=f"{length}-{number}-{turn}")
            for turn in range(length)
        ]
        thread = f"measured {length} {time.time_ns()}"
        if history:  # as the thread is after the turn before
            memory.user("u").remember(history, thread_id=thread)
        memory.flush()
        for name, agent in agents.items():
            began = {clock: read() for clock, read in _CLOCKS.items()}
            asked = {"messages": [*history, HumanMessage(f"{question} {number}")]}
            agent.invoke(asked, {"configurable": {"thread_id": thread}}, context={"user": "u"})
            for clock, read in _CLOCKS.items():
                taken[name][clock].append((read() - began[clock]) * 1_000)
            time.sleep(0.05)  # background work of this run does not delay the next
    differences = {
        clock: [b - a for a, b in zip(taken["bare"][clock], taken["whole"][clock], strict=True)][_WARM_UP:]
        for clock in _CLOCKS
    }
    walls = sorted(differences["wall"])
    added = {clock: statistics.median(values) for clock, values in differences.items()}
    return {
        **added,
        "wall p95": walls[int(0.95 * len(walls))],
        "bare": statistics.median(taken["bare"]["wall"][_WARM_UP:]),
    }


class _Model(FakeListChatModel):
    """Says the same after a while."""

    responses: list[str] = ["Noted, the garden is by the river."]  # noqa: RUF012 - pydantic copies it


def _agent(wait: float, middleware: Sequence[Any]) -> Any:
    return create_agent(_Model(sleep=wait / 1_000), middleware=list(middleware))


if __name__ == "__main__":
    main()
