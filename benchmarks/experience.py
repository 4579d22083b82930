"""The gain by experience in a deterministic text environment: success and steps, arm by arm.

Run: ``python benchmarks/experience.py [--tasks 60] [--seed 0] [--arm items]… [--json OUT]``: a scripted agent that reads
advice, and a distiller that reads the prompt by rules. With ``--model openai:gpt-5-mini`` (and ``--base-url`` for another
server) a chat model acts, distils and judges in their place.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from hexamem.evals.environments.experiment import ARMS, Outcome, compare


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tasks", type=int, default=60)
    parser.add_argument("--seed", type=int, action="append", help="of the environment and its tasks; repeatable")
    parser.add_argument("--arm", action="append", choices=list(ARMS), help="compared with off; all by default")
    parser.add_argument("--model", help="a chat model that acts, distils and judges, such as openai:gpt-5-mini")
    parser.add_argument("--base-url", help="of an OpenAI-compatible server")
    parser.add_argument("--timeout", type=float, default=600.0, help="seconds for one request to the model")
    parser.add_argument("--judge", action="store_true", help="leave outcomes to the judge, not to the environment")
    parser.add_argument("--json", type=Path, help="file for the figures")
    given = parser.parse_args(arguments)
    arms = [ARMS[name] for name in dict.fromkeys(["off", *(given.arm or ARMS)])]
    options: dict[str, object] = {"judge": given.judge}
    meter = None
    notes, console = Console(stderr=True), Console()
    if not console.is_terminal:
        console = Console(width=160)
    if given.model:
        from hexamem.evals.environments.agents import ModelAgent
        from hexamem.models import UsageMeter, open_chat_model

        model = open_chat_model(given.model, base_url=given.base_url, timeout=given.timeout)
        meter = UsageMeter()
        options |= {"agent": ModelAgent(model, usage=meter), "models": {"experience": model}}
    rows: list[dict[str, object]] = []
    for seed in given.seed or [0]:
        with tempfile.TemporaryDirectory(prefix="hexamem-") as folder:
            outcomes = compare(arms, Path(folder), count=given.tasks, seed=seed, progress=notes.print, **options)
        console.print(table(outcomes, given.tasks, seed, given.model or "scripted"))
        for outcome in outcomes:
            if outcome.usage:
                console.print(f"{outcome.arm}: {usage_line(outcome)}")
        if meter is not None:
            console.print(f"acting, all arms: {'; '.join(map(str, meter.rows()))}")
        rows += [{"seed": seed, "tasks": given.tasks, "model": given.model, **one.as_json()} for one in outcomes]
    if given.json is not None:
        given.json.write_text(json.dumps(rows, indent=1), encoding="utf-8")


def usage_line(outcome: Outcome) -> str:
    """Calls and tokens of the memory's models in an arm, by agent, and the agreement of its judge."""
    parts = [
        f"{agent} {calls} calls, {read:,} + {written:,} tokens"
        for agent, (calls, read, written) in outcome.usage.items()
    ]
    if outcome.judged is not None:
        parts.append(f"the judge agreed with the environment on {outcome.judged:.0%}")
    return "; ".join(parts)


def table(outcomes: Sequence[Outcome], tasks: int, seed: int, agent: str) -> Table:
    """The arms against the first one."""
    base = outcomes[0]
    rows = Table(title=f"{tasks} tasks, seed {seed}, {agent} agent")
    for heading in ("memory", "success", "points", "steps", "change", "advised", "learned"):
        rows.add_column(heading, justify="left" if heading == "memory" else "right")
    for outcome in outcomes:
        rows.add_row(
            outcome.arm,
            f"{outcome.success:.1%}",
            f"{100 * (outcome.success - base.success):+.1f}",
            f"{outcome.steps:.2f}",
            f"{outcome.steps / base.steps - 1:+.1%}",
            f"{outcome.advised:.0%}",
            f"{outcome.learned:,}",
        )
    return rows


if __name__ == "__main__":
    main()
