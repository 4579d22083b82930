"""``hexamem eval ruler``: long made-up texts with needles, chains of variables and word lists to find again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from hexamem.cli import output
from hexamem.cli.session import Session

if TYPE_CHECKING:
    from hexamem.evals.ruler import Form

__all__ = ["DEFAULT_TOKENS", "measure_ruler"]

DEFAULT_TOKENS = "8k,32k"


def measure_ruler(
    session: Session,
    strategies: Sequence[str],
    *,
    tokens: str | None,
    tasks: Sequence[str],
    form: Form,
    count: int,
    seed: int,
    k: int,
    rounds: int | None,
) -> list[dict[str, Any]]:
    """Run the tasks in an empty memory; one object a strategy.

    Raises:
        InvalidInputError: for a length, task or number that cannot be.
    """
    from hexamem.evals.ruler import parse_tokens
    from hexamem.evals.ruler_run import DEFAULT_ROUNDS, evaluate_ruler

    lengths = parse_tokens(DEFAULT_TOKENS if tokens is None else tokens)
    with output.stages("making") as advance:
        return evaluate_ruler(
            session.scratch,
            lengths,
            strategies,
            tasks=tasks,
            count=count,
            seed=seed,
            form=form,
            k=k,
            rounds=DEFAULT_ROUNDS if rounds is None else rounds,
            progress=advance,
            embedder=session.embedder or "bundled",
            model=session.model,
        )
