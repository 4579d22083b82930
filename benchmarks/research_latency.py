"""How long research by rules takes, and a recall beside it, in a memory of so many steps.

Run: ``python benchmarks/research_latency.py [--steps 10000] [--questions 60] [--rounds 3] [--home FOLDER] [--json OUT]``. Steps
are made-up sentences of two speakers. Questions in two parts are asked, so that all rounds are needed. Wall time and
CPU time of the process are told, since the former is noisy on a busy machine. ``--home`` keeps the memory for the next run.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import tempfile
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

from rich.console import Console
from rich.table import Table

from hexamem import Memory, Settings, UserMemory
from hexamem.evals.ruler_text import Prose

_THREAD, _START = 40, datetime(2024, 1, 1, 9)
_ASKED = (
    "What did {0} do at the archive, and what did {1} pay for?",
    "Which things did {0} carry, and where did {1} find them?",
    "What has {0} been trying to do since Monday, and what did {1} think of the stage lights?",
    "Who agreed with {0} on the gutter, and when did {1} leave the bicycle pump?",
)
_NAMES = ("Agnes", "Bruno", "Casper", "Delia", "Fiona", "Goran", "Hanna", "Imran", "Jonas", "Karin", "Leila", "Mateo")


def main() -> None:
    """Fill a memory, ask, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=10_000)
    parser.add_argument("--questions", type=int, default=60)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--home", type=Path)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    rng = random.Random(7)
    questions = [rng.choice(_ASKED).format(*rng.sample(_NAMES, 2)) for _ in range(given.questions)]
    with tempfile.TemporaryDirectory(prefix="hexamem-") as folder:
        settings = Settings(background=False, mode="off")
        with Memory.open(given.home or folder, settings=settings) as memory:
            user = memory.user("reader")
            if not user.recall("anything", k=1).hits:
                _fill(user, given.steps)
            rounds: list[int] = []
            rows = {
                f"research, {given.rounds} rounds": _timed(
                    questions, lambda text: rounds.append(len(user.research(text, given.rounds).rounds))
                ),
                "research, 1 round": _timed(questions, lambda text: user.research(text, 1)),
                "recall, rrf": _timed(questions, lambda text: user.recall(text, k=20, strategy="rrf")),
            }
    table = Table("what", "wall p50 ms", "wall p95 ms", "CPU p50 ms")
    for name, row in rows.items():
        table.add_row(name, *(f"{value:.1f}" for value in row.values()))
    Console().print(table)
    print(f"{given.steps:,} steps, {len(questions)} questions, {statistics.mean(rounds):.2f} rounds a question")
    if given.json is not None:
        told = {"steps": given.steps, "questions": len(questions), "rounds": statistics.mean(rounds), "ms": rows}
        given.json.write_text(json.dumps(told, indent=1), encoding="utf-8")


def _fill(user: UserMemory, steps: int) -> None:
    prose, rng = Prose(random.Random(11)), random.Random(13)
    for start in range(0, steps, _THREAD):
        day = _START + timedelta(days=start // _THREAD)
        messages = [
            {
                "role": "user",
                "name": ("Nora", "Theo")[turn % 2],
                "content": " ".join(prose.sentence() for _ in range(rng.randint(1, 3))),
                "timestamp": f"{(day + timedelta(minutes=turn)).isoformat()}Z",
            }
            for turn in range(min(_THREAD, steps - start))
        ]
        user.remember(messages, thread_id=f"talk {start // _THREAD}")
    user.flush()


def _timed(questions: list[str], ask: Callable[[str], object]) -> dict[str, float]:
    for question in questions[:5]:
        ask(question)
    wall, busy = [], []
    for question in questions:
        began, used = time.perf_counter(), time.process_time()
        ask(question)
        busy.append((time.process_time() - used) * 1_000)
        wall.append((time.perf_counter() - began) * 1_000)
    ordered = sorted(wall)
    return {
        "p50": statistics.median(wall),
        "p95": ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))],
        "cpu_p50": statistics.median(busy),
    }


if __name__ == "__main__":
    main()
