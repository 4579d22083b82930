"""Runs a study: one pass over the conversations, then the experiments, each from the records of that pass."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from hexamem.errors import ConfigError, InvalidInputError
from hexamem.evals.asking import Progress
from hexamem.evals.study.arms import add_arms
from hexamem.evals.study.data_sets import StudySet
from hexamem.evals.study.experiments import EXPERIMENTS
from hexamem.evals.study.laboratory import Laboratory
from hexamem.evals.study.loops import make_loops
from hexamem.evals.study.observing import observe
from hexamem.evals.study.report import Section
from hexamem.retrieval.learning import LearningSettings
from hexamem.retrieval.ranker import Ranker

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

__all__ = ["run_study"]


def run_study(
    memory_factory: Callable[[], AbstractContextManager[Any]],
    sets: Sequence[StudySet],
    experiments: Sequence[str] = tuple(EXPERIMENTS),
    *,
    model: BaseChatModel | None = None,
    model_name: str | None = None,
    settings: LearningSettings | None = None,
    samples: int = 10_000,
    questions: int | None = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> tuple[list[Section], dict[str, Any]]:
    """Run experiments.

    Args:
        memory_factory: opens an empty memory; called once, closed when everything has been asked.
        sets: what to measure on.
        experiments: names of :data:`EXPERIMENTS`.
        model: drives the loops; without one they are marked and not run.
        model_name: its name in the report.
        settings: of the trainings; by default the usual ones with one seed.
        samples: draws of every bootstrap.
        questions: so many of each conversation, evenly spread; all when None.
        seed: of chance.
        progress: called as ``progress(what, done, total)``.

    Returns:
        The sections, and facts on the run.

    Raises:
        ConfigError: scikit-learn is not installed.
        InvalidInputError: an experiment is unknown, or no question has evidence.
    """
    if unknown := [name for name in experiments if name not in EXPERIMENTS]:
        raise InvalidInputError(f"experiment {unknown[0]!r} is unknown; use {', '.join(EXPERIMENTS)}")
    if find_spec("sklearn") is None:
        raise ConfigError("the study needs scikit-learn, which is not installed; run: pip install 'hexamem[evals]'")
    advance = progress or (lambda what, done, total: None)
    with memory_factory() as memory:
        loops = {} if model is None else make_loops(model)
        full = bool(memory.model_tier.models)
        ranker = memory.searcher.ranker
        lab = Laboratory(
            observe(memory, sets, questions=questions, full=full, loops=loops, progress=progress),
            fingerprint=memory.embedder.fingerprint,
            shipped=ranker.weights if isinstance(ranker, Ranker) else None,
            settings=settings or LearningSettings(runs=1, seed=seed),
            samples=samples,
            seed=seed,
        )
        if not lab.scored:
            raise InvalidInputError("no question of these conversations has evidence: there is nothing to study")
        # The operations read the arrays of the steps, which are the open memory's.
        wanted = [name for name in EXPERIMENTS if name in experiments]
        advance("train", 0, len(wanted) + 1)
        add_arms(lab.scored)
        lab.add_learned()
        sections = []
        for number, name in enumerate(wanted, start=1):
            advance(name, number, len(wanted) + 1)
            sections.append(EXPERIMENTS[name].run(lab))
        embedder = memory.embedder.name
    facts: dict[str, Any] = {
        "data sets": {
            name: f"{len({one.talk.id for one in group})} conversation(s), {len(group)} questions with evidence"
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
