"""Ablations of research on conversations in LoCoMo's form: lanes alone and in pairs, tiers, without pages, rounds × passages.

Run: ``python benchmarks/research_ablations.py PATH… [--category 1] [--mode embedded] [--model openai:…] [--json OUT]``. After GAM
(arXiv 2511.18423, section 4). It prints the share of the evidence that each way of asking reads.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from hexamem import Memory, Settings
from hexamem.evals.asking import steps_of
from hexamem.evals.locomo import load_locomo
from hexamem.evals.records import Conversation
from hexamem.evals.runner import store_conversation
from hexamem.memory_types.research import LANES

ROUNDS, PASSAGES = (1, 2, 3, 4, 5), (3, 5, 10, 14, 20)
K = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Arm:
    """One way to ask.

    Attributes:
        strategy: of a recall; "" for research.
        research: keywords of ``UserMemory.research``.
        read: whether all passages that were read count, instead of the first :data:`K` hits.
    """

    strategy: str = ""
    research: Mapping[str, Any] = field(default_factory=dict)
    read: bool = False


def _arms() -> Iterator[tuple[str, Arm]]:
    for strategy in ("rrf", "rrf_neighbours"):
        yield f"recall {strategy}", Arm(strategy=strategy)
    yield "research", Arm()
    for tier in ("recall", "one_shot", "auto"):
        yield f"research, tier {tier}", Arm(research={"tier": tier})
    yield "research without pages", Arm(research={"lanes": [lane for lane in LANES if lane != "page"]})
    for size in (1, 2):
        for lanes in combinations(LANES, size):
            yield f"research by {' + '.join(lanes)}", Arm(research={"lanes": list(lanes)})
    for rounds in ROUNDS:
        for passages in PASSAGES:
            yield (
                f"read in {rounds} × {passages}",
                Arm(research={"max_rounds": rounds, "passages": passages}, read=True),
            )


ARMS: Mapping[str, Arm] = dict(_arms())


def ablate(
    memory_factory: Callable[[], AbstractContextManager[Memory]],
    conversations: Sequence[Conversation],
    arms: Sequence[str] = tuple(ARMS),
    *,
    category: str | None = "1",
    progress: Callable[[str], object] = lambda name: None,
) -> list[dict[str, Any]]:
    """Ask the questions of one category (all when None) in each way.

    Returns:
        One JSON-ready object per arm: ``arm``, ``recall`` (share of the evidence, mean over questions), ``steps`` (mean of
        how many counted), ``questions``, ``calls`` of a model, ``p50_ms``.
    """
    with memory_factory() as memory:
        questions = []
        for conversation in conversations:
            user = memory.user(conversation.id)
            turn_of = store_conversation(user, conversation)
            questions += [
                (user, turn_of, question)
                for question in conversation.questions
                if question.evidence and category in (None, question.category)
            ]
        rows = []
        for name in arms:
            progress(name)
            rows.append({"arm": name, "questions": len(questions), **_measured(ARMS[name], questions)})
    return rows


def _measured(arm: Arm, questions: Sequence[Any]) -> dict[str, Any]:
    shares, sizes, times, calls = [], [], [], 0
    for user, turn_of, question in questions:
        start = time.perf_counter()
        if arm.strategy:
            steps = steps_of(user.recall(question.text, k=K, strategy=arm.strategy).hits)
        else:
            result = user.research(question.text, **arm.research)
            steps = steps_of(result.passages if arm.read else result.hits[:K])
            calls += result.usage.calls
        times.append((time.perf_counter() - start) * 1_000)
        turns = {turn_of.get(step) for step in (steps if arm.read else steps[:K])}
        shares.append(len(turns.intersection(question.evidence)) / len(question.evidence))
        sizes.append(len(turns))
    return {
        "recall": float(np.mean(shares)),
        "steps": float(np.mean(sizes)),
        "calls": calls,
        "p50_ms": float(np.median(times)),
    }


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("paths", nargs="+", type=Path)
    parser.add_argument("--category", default="1", help="of the questions, or all")
    parser.add_argument("--mode", default="off", choices=("off", "embedded"), help="embedded: with items")
    parser.add_argument("--model", help="plans, integrates and reflects")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    settings = Settings(background=False, mode=given.mode, labels="embedded")
    with tempfile.TemporaryDirectory(prefix="hexamem-") as folder:
        rows = ablate(
            lambda: Memory.open(Path(folder, "home"), model=given.model, settings=settings),
            [conversation for path in given.paths for conversation in load_locomo(path)],
            category=None if given.category == "all" else given.category,
            progress=Console(stderr=True).print,
        )
    table = Table("arm", "recall", "steps", "p50 ms")
    for row in rows:
        table.add_row(row["arm"], f"{row['recall']:.3f}", f"{row['steps']:.0f}", f"{row['p50_ms']:.0f}")
    Console().print(table)
    if given.json is not None:
        given.json.write_text(json.dumps(rows, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
