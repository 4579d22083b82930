"""``hexamem eval``: measures how well the memory finds the evidence of a data set's questions."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from ..errors import HomeNotWritableError, InvalidInputError
from . import output
from .session import Session

__all__ = ["evaluate"]


class DataSet(StrEnum):
    """The data sets that can be measured on."""

    locomo = "locomo"
    came = "came"
    longmemeval = "longmemeval"


def evaluate(
    session: Session,
    *,
    dataset: Annotated[DataSet, typer.Argument(metavar="DATASET", help="locomo, came or longmemeval.")],
    paths: Annotated[list[Path], typer.Argument(metavar="PATH...", exists=True, help="Files or folders.")],
    strategy: Annotated[
        list[str] | None, typer.Option("--strategy", "-s", help="A ranking; repeat it to compare.")
    ] = None,
    json_out: Annotated[
        str | None, typer.Option("--json", metavar="OUT", help="Write one JSON object a strategy there; - is stdout.")
    ] = None,
) -> None:
    """Measure recall on a data set, in an empty memory that is thrown away; with --home it is kept there."""
    from ..config import Settings
    from ..evals import evaluate as measure
    from ..evals import load_conversations
    from ..retrieval.strategies import strategy_named

    out = json_out if json_out is not None else "-" if session.as_json else None
    if out is not None and out != "-" and not Path(out).resolve().parent.is_dir():
        raise InvalidInputError(f"--json {out}: there is no such folder")
    if session.home is not None and (session.folder / "ledger.sqlite3").exists():
        raise InvalidInputError(f"--home {session.home} holds a memory already; a measurement needs an empty one")
    names = [strategy_named(name).name for name in strategy or [Settings().strategy]]
    conversations = [one for path in paths for one in load_conversations(path, dataset.value)]
    embedder = session.embedder or "bundled"
    with output.progress_bar("loading") as (progress, task):

        def advance(what: str, done: int, total: int) -> None:
            progress.update(task, description=what, completed=done, total=total)

        results = measure(
            session.scratch,
            conversations,
            names,
            progress=advance,
            dataset=dataset.value,
            embedder=embedder,
        )
    _report(results, out)


def _report(results: list[dict[str, object]], out: str | None) -> None:
    from ..evals import print_report, write_json

    if out == "-":
        return output.write_json(results)
    print_report(results, output.result())
    if out is not None:
        try:
            write_json(results, out)
        except OSError as error:
            raise HomeNotWritableError(f"--json {out} cannot be written ({error.strerror})") from None
    return None
