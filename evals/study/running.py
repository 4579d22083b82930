"""Runs a study: one pass over the conversations, then each experiment on the records of that pass."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from hexamem.errors import HomeNotWritableError, InvalidInputError
from hexamem.evals.asking import Progress
from hexamem.evals.learning import LearningSettings
from hexamem.evals.report import Section, markdown, tables_data, write_json
from hexamem.evals.study.data_sets import StudySet
from hexamem.evals.study.experiments import EXPERIMENTS
from hexamem.evals.study.laboratory import Laboratory
from hexamem.evals.study.observing import observe
from hexamem.retrieval.ranker import Ranker

__all__ = ["run_study", "study_data", "study_markdown", "write_study"]


def run_study(
    memory_factory: Callable[[], AbstractContextManager[Any]],
    sets: Sequence[StudySet],
    experiments: Sequence[str] = tuple(EXPERIMENTS),
    *,
    model_name: str | None = None,
    settings: LearningSettings | None = None,
    samples: int = 10_000,
    questions: int | None = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> tuple[list[Section], dict[str, Any]]:
    """Run experiments; returns the sections, and facts of the run.

    Args:
        memory_factory: opens an empty memory; called once, closed at the end.
        model_name: the memory's model, for the report.
        settings: of every training; one seed by default.
        samples: draws of every bootstrap.
        questions: maximum of each conversation, evenly spread; all when None.
        progress: called as ``progress(what, done, total)``.

    Raises:
        InvalidInputError: an experiment is unknown, or no question has evidence.
    """
    if unknown := [name for name in experiments if name not in EXPERIMENTS]:
        raise InvalidInputError(f"experiment {unknown[0]!r} is unknown; use {', '.join(EXPERIMENTS)}")
    advance = progress or (lambda what, done, total: None)
    with memory_factory() as memory:
        ranker = memory.searcher.ranker
        lab = Laboratory(
            observe(memory, sets, questions=questions, progress=progress),
            fingerprint=memory.embedder.fingerprint,
            shipped=ranker.weights if isinstance(ranker, Ranker) else None,
            settings=settings or LearningSettings(runs=1, seed=seed),
            samples=samples,
            seed=seed,
        )
        if not lab.observations:
            raise InvalidInputError("no question has evidence; give conversations whose questions name evidence turns")
        # The operations read the arrays of the steps, which are the open memory's.
        wanted = [name for name in EXPERIMENTS if name in experiments]
        advance("train", 0, len(wanted) + 1)
        lab.add_learned()
        sections = []
        for number, name in enumerate(wanted, start=1):
            advance(name, number, len(wanted) + 1)
            sections.append(EXPERIMENTS[name].run(lab))
        embedder = memory.embedder.name
    facts: dict[str, Any] = {
        "data sets": {
            name: f"{len({entry.conversation.id for entry in group})} conversation(s), {len(group)} questions with evidence"
            for name, group in lab.sets.items()
        },
        "embedder": embedder,
        "weights": "none" if lab.shipped is None else "those of the memory",
        "model": model_name or "none",
        "training": {name: getattr(lab.settings, name) for name in ("epochs", "runs", "seed")},
        "bootstrap samples": samples,
    }
    if isinstance(ranker, str):
        facts["no weights"] = ranker
    return sections, facts


def study_data(sections: Sequence[Section], facts: Mapping[str, Any]) -> dict[str, Any]:
    """The study as JSON-ready data: ``{"facts", "experiments": {name: {"tables": {title: rows}, "remarks"}}}``."""
    return {"facts": dict(facts), "experiments": {section.name: tables_data(section) for section in sections}}


def study_markdown(sections: Sequence[Section], facts: Mapping[str, Any]) -> str:
    """The study as Markdown."""
    return markdown("Study of query-aware retrieval", facts, sections)


def write_study(sections: Sequence[Section], facts: Mapping[str, Any], folder: Path) -> list[Path]:
    """Write ``study.md`` and ``study.json`` into a folder and return their paths; a missing folder is created.

    Raises:
        HomeNotWritableError: the folder or a file cannot be written.
    """
    files = [folder / "study.md", folder / "study.json"]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        files[0].write_text(study_markdown(sections, facts), "utf-8")
        write_json(study_data(sections, facts), files[1])
    except OSError as error:
        raise HomeNotWritableError(f"--out {folder} cannot be written ({error.strerror})") from None
    return files
