"""``hexamem eval``: measures how well the memory finds the evidence of a data set's questions."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from ..errors import HomeNotWritableError, InvalidInputError
from . import output
from .session import Session
from .writepath import measure_write_path, print_write_path

if TYPE_CHECKING:
    from ..evals import Conversation, DataFormat
    from ..evals.ablations import WrittenAblation
    from ..evals.synthetic import FamilyName, Size, Split

__all__ = ["evaluate"]


class DataSet(StrEnum):
    """What can be measured on; all but ``synthetic`` are files, and all but ``writepath`` ask questions."""

    locomo = "locomo"
    came = "came"
    longmemeval = "longmemeval"
    synthetic = "synthetic"
    writepath = "writepath"


class SizeName(StrEnum):
    """The lengths of a made-up trajectory."""

    S = "S"
    M = "M"
    L = "L"


class FamilyChoice(StrEnum):
    """What a made-up trajectory may be about."""

    travel = "travel"
    project = "project"
    debate = "debate"


class SplitChoice(StrEnum):
    """The two sets of sentences."""

    dev = "dev"
    test = "test"


_MADE_UP = "Synthetic"


def evaluate(
    session: Session,
    *,
    dataset: Annotated[
        DataSet, typer.Argument(metavar="DATASET", help="locomo, came, longmemeval, synthetic or writepath.")
    ],
    paths: Annotated[
        list[Path] | None,
        typer.Argument(metavar="PATH...", exists=True, help="Files or folders; none for synthetic."),
    ] = None,
    strategy: Annotated[
        list[str] | None,
        typer.Option(
            "--strategy", "-s", help="A ranking; repeat it to compare; all for every one, as came and synthetic do."
        ),
    ] = None,
    json_out: Annotated[
        str | None, typer.Option("--json", metavar="OUT", help="Write one JSON object a strategy there; - is stdout.")
    ] = None,
    size: Annotated[
        list[SizeName] | None,
        typer.Option(
            "--size", help="60-100 turns, or 6 or 17 times as many; all by default.", rich_help_panel=_MADE_UP
        ),
    ] = None,
    family: Annotated[
        list[FamilyChoice] | None,
        typer.Option("--family", help="What the trajectories are about; all by default.", rich_help_panel=_MADE_UP),
    ] = None,
    seed: Annotated[int | None, typer.Option("--seed", help="0 by default.", rich_help_panel=_MADE_UP)] = None,
    count: Annotated[
        int | None,
        typer.Option("--count", help="Trajectories a family; 1 by default.", rich_help_panel=_MADE_UP),
    ] = None,
    split: Annotated[
        SplitChoice | None,
        typer.Option("--split", help="Whose sentences; test by default.", rich_help_panel=_MADE_UP),
    ] = None,
    export: Annotated[
        Path | None,
        typer.Option("--export", metavar="DIR", help="Also write them in CAME-Bench's form.", rich_help_panel=_MADE_UP),
    ] = None,
) -> None:
    """Measure recall on a data set, in an empty memory that is thrown away; with --home it is kept there.

    synthetic needs no file: it makes up trajectories with several interleaved goals, the same for the same --seed.

    writepath measures what is written instead: precision and recall of the stored items on JSON files of conversations
    with the items they should, may and must not yield, each miss and each wrong item by case.
    """
    out = json_out if json_out is not None else "-" if session.as_json else None
    if out is not None and out != "-" and not Path(out).resolve().parent.is_dir():
        raise InvalidInputError(f"--json {out}: there is no such folder")
    if session.home is not None and (session.folder / "ledger.sqlite3").exists():
        raise InvalidInputError(f"--home {session.home} holds a memory already; a measurement needs an empty one")
    if dataset is DataSet.writepath and strategy is not None:
        raise InvalidInputError("--strategy ranks answers, and writepath asks for none; leave it out")
    names = _strategies(strategy, dataset)
    made_up = {"--size": size, "--family": family, "--seed": seed, "--count": count, "--split": split}
    if dataset is not DataSet.synthetic:
        given = [option for option, value in {**made_up, "--export": export}.items() if value is not None]
        if given:
            raise InvalidInputError(f"{given[0]} is for synthetic alone; leave it out with {dataset.value}")
        if not paths:
            raise InvalidInputError(f"Missing argument 'PATH...': {dataset.value} is measured on files; name them")
        if dataset is DataSet.writepath:
            return _report_written(measure_write_path(session, paths), out)
        from ..evals import load_conversations

        form = cast("DataFormat", dataset.value)
        files = [one for path in paths for one in load_conversations(path, form)]
        return _report(_measure(session, dataset, files, names), out)
    if paths:
        raise InvalidInputError(f"{paths[0]}: synthetic makes its own conversations; leave the path out")
    from ..evals.synthetic import FAMILIES, SIZES, make_conversations, write_came

    families: list[FamilyName] = [one.value for one in family] if family else list(FAMILIES)
    sizes: list[Size] = [one.value for one in size] if size else list(SIZES)
    if len(set(sizes)) != len(sizes):
        raise InvalidInputError(f"sizes {', '.join(sizes)}: give each once")
    sentences: Split = split.value if split else "test"
    results: list[dict[str, Any]] = []
    for one in sizes:
        made = make_conversations(families, one, seed=seed or 0, count=1 if count is None else count, split=sentences)
        if export is not None:
            for conversation in made:
                write_came(conversation, export)
        facts = {"size": one, "split": sentences, "families": families, "seed": seed or 0}
        results += [{**result, **facts} for result in _measure(session, dataset, made, names)]
    return _report(results, out)


def _strategies(given: Sequence[str] | None, dataset: DataSet) -> list[str]:
    """The names to measure: those given, checked, or what the data set is measured with."""
    from ..config import Settings
    from ..evals.ablations import WRITTEN_ABLATIONS
    from ..retrieval.strategies import STRATEGIES, strategy_named

    every = [*STRATEGIES, *WRITTEN_ABLATIONS]
    if given is None:
        # Contextual intent is what these two are about: with the papers' ablations.
        return every if dataset in (DataSet.came, DataSet.synthetic) else [Settings().strategy]
    if "all" in given:
        return every
    return [name if name in WRITTEN_ABLATIONS else strategy_named(name).name for name in given]


def _measure(
    session: Session, dataset: DataSet, conversations: Sequence[Conversation], names: Sequence[str]
) -> list[dict[str, Any]]:
    from ..evals.ablations import WRITTEN_ABLATIONS

    plain = [name for name in names if name not in WRITTEN_ABLATIONS]
    found = {one["strategy"]: one for one in _run(session, dataset, conversations, plain)} if plain else {}
    for name in names:
        if (ablation := WRITTEN_ABLATIONS.get(name)) is not None:
            (result,) = _run(session, dataset, conversations, [ablation.strategy], ablation)
            found[name] = {**result, "strategy": name}
    return [found[name] for name in names]


def _run(
    session: Session,
    dataset: DataSet,
    conversations: Sequence[Conversation],
    names: Sequence[str],
    ablation: WrittenAblation | None = None,
) -> list[dict[str, Any]]:
    from ..evals import evaluate as measure

    with output.progress_bar("loading") as (progress, task):

        def advance(what: str, done: int, total: int) -> None:
            progress.update(task, description=what, completed=done, total=total)

        return measure(
            session.scratch if ablation is None else partial(session.thrown_away, ablation.labeler),
            conversations,
            names,
            progress=advance,
            dataset=dataset.value,
            embedder=session.embedder or "bundled",
        )


def _report(results: list[dict[str, Any]], out: str | None) -> None:
    from ..evals import print_report, print_sizes

    if out == "-":
        return output.write_json(results)
    console = output.result()
    sizes = list(dict.fromkeys(result.get("size") for result in results))
    for size in sizes:
        print_report([result for result in results if result.get("size") == size], console)
    if len(sizes) > 1:
        print_sizes(results, console)
    return _write(results, out)


def _report_written(reports: list[dict[str, Any]], out: str | None) -> None:
    if out == "-":
        return output.write_json(reports)
    for report in reports:
        print_write_path(report)
    return _write(reports, out)


def _write(results: list[dict[str, Any]], out: str | None) -> None:
    from ..evals import write_json

    if out is not None:
        try:
            write_json(results, out)
        except OSError as error:
            raise HomeNotWritableError(f"--json {out} cannot be written ({error.strerror})") from None
