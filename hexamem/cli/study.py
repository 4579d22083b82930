"""``hexamem eval study``: the experiments that tell what query-aware retrieval is worth, as a report."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from hexamem.cli import output
from hexamem.cli.session import Session
from hexamem.errors import InvalidInputError

__all__ = ["Conversations", "Experiment", "OutFolder", "Samples", "study"]

_COUNT = 1
_PANEL = "Study"
OutFolder = Annotated[
    Path | None,
    typer.Option("--out", metavar="DIR", help="Write study.md, study.json and plots there.", rich_help_panel=_PANEL),
]
Experiment = Annotated[
    list[str] | None,
    typer.Option(
        "--experiment",
        "-e",
        help="oracle, main, pareto, transfer, ablation or errors; all by default.",
        rich_help_panel=_PANEL,
    ),
]
Samples = Annotated[
    int | None, typer.Option("--samples", help="Draws of every bootstrap; 10000 by default.", rich_help_panel=_PANEL)
]
Conversations = Annotated[
    int | None,
    typer.Option("--conversations", min=1, help="Of each data set so many, evenly spread.", rich_help_panel=_PANEL),
]


def study(
    session: Session,
    paths: Sequence[Path],
    *,
    out: Path | None,
    experiments: Sequence[str],
    samples: int | None,
    conversations: int | None,
    questions: int | None,
    count: int | None,
    seed: int | None,
    json_out: str | None,
) -> None:
    """Run the study and write it.

    Args:
        out: folder for ``study.md``, ``study.json`` and the plots; without it the report goes to standard output.
        experiments: names; all when empty.
        samples: draws of every bootstrap.
        conversations: of each data set at most; ``questions`` of each conversation.
        count: made-up trajectories a family, and RULER samples a task; 0 for none.
        json_out: as of ``hexamem eval``: the figures as JSON, to a file or ``-``.

    Raises:
        InvalidInputError: an experiment or number cannot be.
        HomeNotWritableError: the folder cannot be written.
    """
    from hexamem.evals.study import EXPERIMENTS, made_up_sets, run_study, study_sets, write_study
    from hexamem.evals.study.report import NO_PLOTS, plots_possible, study_data, study_markdown

    if unknown := [name for name in experiments if name not in EXPERIMENTS]:
        raise InvalidInputError(f"--experiment {unknown[0]} is unknown; use {', '.join(EXPERIMENTS)}")
    if samples is not None and samples < 1:
        raise InvalidInputError(f"--samples {samples}: draw at least once")
    if out is not None and out.exists() and not out.is_dir():
        raise InvalidInputError(f"--out {out} is a file; name a folder")
    sets = study_sets(paths, limit=conversations)
    sets += made_up_sets(_COUNT if count is None else count, seed=seed or 0)
    model = None
    if session.model is not None:
        from hexamem.models import open_chat_model

        model = open_chat_model(session.model)
    with output.stages("loading") as advance:
        sections, facts = run_study(
            session.scratch,
            sets,
            tuple(experiments) or tuple(EXPERIMENTS),
            model=model,
            model_name=session.model,
            samples=10_000 if samples is None else samples,
            questions=questions,
            seed=seed or 0,
            progress=advance,
        )
    if json_out == "-":
        output.write_json(study_data(sections, facts))
    elif json_out is not None:
        output.save_json(study_data(sections, facts), json_out)
    if out is not None:
        for file in write_study(sections, facts, out):
            output.note(f"wrote {file}")
        if not plots_possible():
            output.note(f"no plots: {NO_PLOTS}")
    elif json_out != "-":
        output.write_text(study_markdown(sections, facts))
