"""What learning from experience brings, in three deterministic text environments: success and steps, arm by arm.

Run: ``python benchmarks/experience.py [--tasks 60] [--seed 0] [--arm items]… [--json OUT]``: a scripted agent that reads
advice, and a distiller that reads the prompt by rules. With ``--model openai:gpt-5-mini`` (and ``--base-url`` for a server
of one's own) a chat model acts, distils and judges in their place; ``--environment office-api --tasks 12`` keeps it short.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from hexamem.evals.environments.experiment import ARMS, ENVIRONMENTS, Outcome, compare


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tasks", type=int, default=60)
    parser.add_argument("--seed", type=int, action="append", help="of environments and tasks; may be given again")
    parser.add_argument("--arm", action="append", choices=list(ARMS), help="all when left out; off goes first")
    parser.add_argument("--environment", action="append", choices=list(ENVIRONMENTS), help="all when left out")
    parser.add_argument("--model", help="a chat model that acts, distils and judges, such as openai:gpt-5-mini")
    parser.add_argument("--base-url", help="of an OpenAI-compatible server")
    parser.add_argument("--timeout", type=float, default=600.0, help="seconds for one request to the model")
    parser.add_argument("--judge", action="store_true", help="let the judge say how a task ended, not the environment")
    parser.add_argument("--at-once", type=int, default=1, help="tasks at once, where there is no memory")
    parser.add_argument("--only", action="store_true", help="leave the arm off out where it is not named")
    parser.add_argument("--json", type=Path, help="where to write the figures")
    given = parser.parse_args(arguments)
    chosen = dict.fromkeys(given.arm if given.arm and given.only else ["off", *(given.arm or ARMS)])
    options: dict[str, object] = {"environments": given.environment, "judged": given.judge, "at_once": given.at_once}
    meter = None
    notes, shown = Console(stderr=True), Console()
    if not shown.is_terminal:
        shown = Console(width=160)
    if given.model:
        from hexamem.evals.environments.model_agent import ModelAgent
        from hexamem.models import UsageMeter, open_chat_model

        model = open_chat_model(given.model, base_url=given.base_url, timeout=given.timeout)
        meter = UsageMeter()
        options |= {"agent": ModelAgent(model, usage=meter), "models": {"experience": model}}
    rows: list[dict[str, object]] = []
    for seed in given.seed or [0]:
        with tempfile.TemporaryDirectory(prefix="hexamem-") as folder:
            arms = [ARMS[name] for name in chosen]
            found = compare(arms, Path(folder), count=given.tasks, seed=seed, progress=notes.print, **options)
        shown.print(table(found, given.tasks, seed, given.model or "scripted"))
        for one in found:
            if one.usage:
                shown.print(f"{one.arm}: {used(one)}")
        if meter is not None:
            shown.print(f"acting, all arms: {'; '.join(map(str, meter.rows()))}")
        rows += [{"seed": seed, "tasks": given.tasks, "model": given.model, **one.as_json()} for one in found]
    if given.json is not None:
        given.json.write_text(json.dumps(rows, indent=1), encoding="utf-8")


def used(one: Outcome) -> str:
    """What the memory of an arm asked of its models, agent by agent."""
    parts = [
        f"{agent} {calls} calls, {read:,} + {written:,} tokens" for agent, (calls, read, written) in one.usage.items()
    ]
    judged = "" if one.judged is None else f"; the judge was right of {one.judged:.0%}"
    return "; ".join(parts) + judged


def table(found: Sequence[Outcome], tasks: int, seed: int, agent: str) -> Table:
    """The arms against the first one."""
    base = found[0]
    names = list(base.by_environment)
    shown = Table(title=f"{tasks} tasks, seed {seed}, {agent} agent")
    for heading in ("memory", "success", "points", "steps", "change", *names, "advised", "learned"):
        shown.add_column(heading, justify="left" if heading == "memory" else "right")
    for one in found:
        each = [f"{one.by_environment[name][0]:.0%} in {one.by_environment[name][1]:.1f}" for name in names]
        shown.add_row(
            one.arm,
            f"{one.success:.1%}",
            f"{100 * (one.success - base.success):+.1f}",
            f"{one.steps:.2f}",
            f"{one.steps / base.steps - 1:+.1%}",
            *each,
            f"{one.advised:.0%}",
            f"{one.learned:,}",
        )
    return shown


if __name__ == "__main__":
    main()
