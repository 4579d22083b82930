"""``hexamem eval`` measures a memory on data sets; ``hexamem train`` learns the weights of the learned ranking."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from rich.console import RenderableType
from rich.text import Text

from hexamem.cli import output
from hexamem.cli.session import Session
from hexamem.errors import InvalidInputError

if TYPE_CHECKING:
    from hexamem.evals import Conversation
    from hexamem.evals.report import Section
    from hexamem.user import UserMemory

__all__ = ["evaluate", "train"]

DataSet = Literal["locomo", "came", "longmemeval", "hotpotqa", "ruler", "synthetic", "writepath", "study"]
Results = list[dict[str, Any]]
_MADE_UP, _RULER, _ANSWERS, _STUDY = "Synthetic", "Ruler and HotpotQA", "Answers", "Study"
_ROUNDS = 3
_SAMPLES = 10_000
_APART = 100
"""Added to the seed of made-up trajectories to train on: those of `hexamem eval synthetic` are others."""
_OF_FILE = ("hotpotqa",)  # files so large that a part of their questions is read
_ANSWERED = ("locomo", "came", "longmemeval", *_OF_FILE)
_ALLOWED: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("size", "family", "split"), ("synthetic",)),
    "seed": ("synthetic", "ruler", "hotpotqa", "study"),
    "count": ("synthetic", "ruler", "study"),
    **dict.fromkeys(("out", "experiment", "samples", "conversations"), ("study",)),
    "questions": (*_ANSWERED, "study"),
    "tokens": ("ruler", "hotpotqa"),
    **dict.fromkeys(("task", "form", "k"), ("ruler",)),
    **dict.fromkeys(("answers", "judge"), _ANSWERED),
}
"""Option → the data sets that it is for; --rounds is for all."""


def _option(panel: str, *flags: str, **further: Any) -> Any:
    return typer.Option(*flags, rich_help_panel=panel, **further)


@dataclass(frozen=True, kw_only=True)
class Choices:
    """The options of ``eval`` that are for some data sets only, see :data:`_ALLOWED`."""

    size: Annotated[
        list[str] | None,
        _option(_MADE_UP, help="S for 60-100 turns, M and L for 6 or 17 times as many; all by default."),
    ] = None
    family: Annotated[
        list[str] | None,
        _option(_MADE_UP, help="What trajectories are about: travel, project or debate; all by default."),
    ] = None
    seed: Annotated[
        int | None, _option(_MADE_UP, help="Of chance, 0 by default; of ruler, hotpotqa and study too.")
    ] = None
    count: Annotated[
        int | None,
        _option(_MADE_UP, help="Trajectories a family, of ruler samples a task, of study both; 1 by default."),
    ] = None
    split: Annotated[Literal["dev", "test"] | None, _option(_MADE_UP, help="Whose sentences; test by default.")] = None
    tokens: Annotated[
        str | None,
        _option(
            _RULER,
            metavar="N,…",
            help="Lengths such as 8k,32k,128k,512k; for hotpotqa what the paragraphs come to.",
        ),
    ] = None
    task: Annotated[
        list[str] | None,
        _option(
            _RULER,
            help="needle, variable_tracking, aggregation, or one task such as niah_multikey_2; all by default.",
        ),
    ] = None
    form: Annotated[
        Literal["conversation", "documents"] | None,
        _option(_RULER, help="How ruler's text is stored; conversation by default."),
    ] = None
    k: Annotated[int | None, _option(_RULER, "-k", min=1, help="Hits a recall in ruler; 10 by default.")] = None
    rounds: Annotated[int | None, _option(_ANSWERS, min=1, help="Rounds of research at most; 3, in ruler 5.")] = None
    answers: Annotated[bool, _option(_ANSWERS, "--answers", help="Score the answers of research; needs --model.")] = (
        False
    )
    judge: Annotated[str | None, _option(_ANSWERS, metavar="M", help="A chat model that judges the answers.")] = None
    questions: Annotated[
        int | None,
        _option(
            _ANSWERS,
            min=1,
            help="With --answers, so many questions a conversation, evenly spread; of hotpotqa the "
            "first so many of the file; of study so many of each conversation.",
        ),
    ] = None
    out: Annotated[Path | None, _option(_STUDY, metavar="DIR", help="Write study.md and study.json there.")] = None
    experiment: Annotated[
        list[str] | None,
        _option(
            _STUDY,
            "--experiment",
            "-e",
            help="oracle, main, transfer, ablation or errors; all by default.",
        ),
    ] = None
    samples: Annotated[int | None, _option(_STUDY, help="Draws of every bootstrap; 10000 by default.")] = None
    conversations: Annotated[int | None, _option(_STUDY, min=1, help="Of each data set so many, evenly spread.")] = None

    def check(self, dataset: DataSet) -> None:
        """Refuse options that mean nothing for a data set.

        Raises:
            InvalidInputError: naming the option and the data sets that it is for.
        """
        for name, allowed in _ALLOWED.items():
            if getattr(self, name) not in (None, False) and dataset not in allowed:
                *others, last = allowed
                named = f"{', '.join(others)} and {last}" if others else f"{last} alone"
                option = "-k" if name == "k" else f"--{name}"
                raise InvalidInputError(f"{option} is for {named}; leave it out with {dataset}")
        if self.judge is not None and not self.answers:
            raise InvalidInputError("--judge judges answers; give --answers with it")
        if self.questions is not None and not self.answers and dataset not in (*_OF_FILE, "study"):
            raise InvalidInputError(f"--questions goes with --answers; {dataset} is measured on all its questions")


def evaluate(
    session: Session,
    *,
    dataset: Annotated[DataSet, typer.Argument(metavar="DATASET", help="What to measure on; each is described above.")],
    paths: Annotated[
        list[Path] | None,
        typer.Argument(metavar="PATH", exists=True, help="Files or folders; none for ruler and synthetic."),
    ] = None,
    strategy: Annotated[
        list[str] | None,
        typer.Option(
            "--strategy",
            "-s",
            help="A ranking, or research; repeat it to compare; all for every ranking, as came and synthetic do.",
        ),
    ] = None,
    json_out: Annotated[
        str | None, typer.Option("--json", metavar="OUT", help="Write one JSON object a strategy there; - is stdout.")
    ] = None,
    weights: Annotated[
        Path | None,
        typer.Option(metavar="W", exists=True, dir_okay=False, help="Weights of `hexamem train`, for learned."),
    ] = None,
    choices: Choices,
) -> None:
    """Measure recall on a data set, in an empty temporary memory; with --home in that folder, which is not deleted.

    locomo, came, longmemeval and hotpotqa are files with questions whose evidence or answer is known.

    synthetic needs no file: it makes up trajectories with several interleaved goals, the same for the same --seed.
    Nor does ruler: it hides needles, chains of variables and frequent words in long texts.

    study compares many rankings on files and folders, and measures what each part of the learned one contributes.

    writepath measures what is written instead: precision and recall of the stored items on JSON files of conversations
    with the items they should, may and must not yield, each miss and each wrong item by case.
    """
    out = json_out if json_out is not None else "-" if session.as_json else None
    if out is not None and out != "-" and not Path(out).resolve().parent.is_dir():
        raise InvalidInputError(f"--json {out}: there is no such folder")
    if session.home is not None and session.exists:
        raise InvalidInputError(f"--home {session.home} holds a memory already; a measurement needs an empty one")
    if strategy is not None and (reason := _why_no_strategy(dataset, choices)):
        raise InvalidInputError(f"{reason}; leave --strategy out")
    names = _strategies(strategy, dataset)
    if weights is not None:
        session.weights = _usable_weights(weights, session.embedder)
    choices.check(dataset)
    if dataset == "study":
        return _study(session, paths or (), choices, out)
    if paths and dataset in ("synthetic", "ruler"):
        raise InvalidInputError(f"{paths[0]}: {dataset} makes its own conversations; leave the path out")
    if not paths and dataset not in ("synthetic", "ruler"):
        raise InvalidInputError(f"Missing argument 'PATH': {dataset} is measured on files; name them")
    results, sections = _measured(session, dataset, paths or (), names, choices)
    if out != "-":
        _show(sections)
    return output.save_json(results, out)


def _why_no_strategy(dataset: DataSet, choices: Choices) -> str:
    if dataset == "writepath":
        return "--strategy ranks answers, and writepath asks for none"
    if dataset == "study":
        return "study compares rankings of its own choice"
    return "--answers asks research, not a ranking" if choices.answers else ""


def _strategies(given: Sequence[str] | None, dataset: DataSet) -> list[str]:
    """The names to measure: those given, checked, or what the data set is measured with."""
    from hexamem.config import Settings
    from hexamem.evals.asking import RESEARCH
    from hexamem.retrieval.strategies import STRATEGIES, strategy_named

    if given is None:
        # Contextual intent is what these two are about: with the papers' ablations.
        return [*STRATEGIES] if dataset in ("came", "synthetic") else [Settings().strategy]
    if "all" in given:
        return [*STRATEGIES]
    return [name if name == RESEARCH else strategy_named(name).name for name in given]


def _usable_weights(path: Path, embedder: str | None) -> str:
    """The path of weights that fit the embedder; a measurement must not fall back to another ranking."""
    from hexamem.retrieval.ranking_weights import load_weights
    from hexamem.stores.embedders import open_embedder

    load_weights(path, open_embedder(embedder or "bundled").fingerprint)
    return str(path)


def _measured(
    session: Session, dataset: DataSet, paths: Sequence[Path], names: Sequence[str], choices: Choices
) -> tuple[Results, list[Section]]:
    """The results of a measurement, and the sections that show them."""
    import hexamem.evals.result_tables as tables

    if dataset == "writepath":
        results = _measure_write_path(session, paths)
        return results, [tables.write_path_section(report) for report in results]
    if dataset == "ruler":
        results = _measure_ruler(session, names, choices)
        return results, [tables.ruler_section(results)]
    if dataset == "synthetic":
        results = _measure_made_up(session, names, choices)
        sizes = dict.fromkeys(result["size"] for result in results)
        sections = [tables.retrieval_section([one for one in results if one["size"] == size]) for size in sizes]
        return results, [*sections, *([tables.sizes_section(results)] if len(sizes) > 1 else [])]
    conversations = _load(dataset, paths, choices)
    if choices.answers:
        scored = _measure_answers(session, dataset, conversations, choices)
        return [scored], [tables.answers_section(scored)]
    results = _run(session, conversations, names, choices.rounds or _ROUNDS)
    return results, [tables.retrieval_section(results)]


def _measure_ruler(session: Session, names: Sequence[str], choices: Choices) -> Results:
    from hexamem.evals import evaluate_ruler
    from hexamem.evals.ruler import parse_tokens
    from hexamem.evals.ruler_run import DEFAULT_ROUNDS

    with output.stages("making") as advance:
        return evaluate_ruler(
            session.scratch,
            parse_tokens(choices.tokens or "8k,32k"),
            names,
            tasks=choices.task or (),
            count=1 if choices.count is None else choices.count,
            seed=choices.seed or 0,
            form=choices.form or "conversation",
            k=choices.k or 10,
            rounds=choices.rounds or DEFAULT_ROUNDS,
            progress=advance,
            facts=_facts(session),
        )


def _facts(session: Session) -> dict[str, Any]:
    """What each result says of the memory that was measured."""
    return {"embedder": session.embedder or "bundled", "model": session.model}


def _run(session: Session, conversations: Sequence[Conversation], names: Sequence[str], rounds: int) -> Results:
    from hexamem.evals import evaluate as measure

    facts = {**_facts(session), "weights": session.weights}
    with output.stages("loading") as advance:
        return measure(session.scratch, conversations, names, progress=advance, rounds=rounds, facts=facts)


def _measure_made_up(session: Session, names: Sequence[str], choices: Choices) -> Results:
    """The results of each size, with what was made up."""
    from hexamem.evals.synthetic import FAMILIES, SIZES, make_conversations

    families: Any = choices.family or list(FAMILIES)
    sizes: Any = choices.size or list(SIZES)
    if len(set(sizes)) != len(sizes):
        raise InvalidInputError(f"sizes {', '.join(sizes)}: give each once")
    split, seed, of_each = choices.split or "test", choices.seed or 0, 1 if choices.count is None else choices.count
    conversations_by_size = {
        size: make_conversations(families, size, seed=seed, count=of_each, split=split) for size in sizes
    }
    return [
        {**result, "size": size, "split": split, "families": families, "seed": seed}
        for size, conversations in conversations_by_size.items()
        for result in _run(session, conversations, names, _ROUNDS)
    ]


def _load(dataset: DataSet, paths: Sequence[Path], choices: Choices) -> list[Conversation]:
    from hexamem.evals import load_files, load_hotpotqa
    from hexamem.evals.ruler import parse_tokens

    questions, seed = choices.questions, choices.seed or 0
    if dataset == "hotpotqa":
        lengths = [None] if choices.tokens is None else parse_tokens(choices.tokens)
        if len(lengths) > 1:
            raise InvalidInputError(
                f"--tokens {choices.tokens}: give one length for hotpotqa, and measure the next one after it"
            )
        return [
            conversation
            for path in paths
            for conversation in load_hotpotqa(path, tokens=lengths[0], questions=questions, seed=seed)
        ]
    return load_files(paths, dataset)  # type: ignore[arg-type]


def _measure_answers(
    session: Session, dataset: DataSet, conversations: Sequence[Conversation], choices: Choices
) -> dict[str, Any]:
    """Ask the questions of research in an empty memory and score its answers."""
    if session.model is None:
        raise InvalidInputError("--answers needs a model that answers: give one with --model openai:gpt-5-mini")
    from hexamem.evals.answer_judge import AnswerJudge
    from hexamem.evals.answers import evaluate_answers
    from hexamem.models import open_chat_model

    with output.stages("loading") as advance:
        return evaluate_answers(
            session.scratch,
            conversations,
            rounds=choices.rounds or _ROUNDS,
            per_conversation=None if dataset in _OF_FILE else choices.questions,
            judge=None if choices.judge is None else AnswerJudge(open_chat_model(choices.judge)),
            progress=advance,
            facts=_facts(session),
        )


def _measure_write_path(session: Session, paths: Sequence[Path]) -> Results:
    """Store each case of each file in a memory of its own; one report a file."""
    from hexamem.evals.write_path import load_cases, score

    if session.home is not None:
        raise InvalidInputError("writepath opens an empty memory for each case; leave --home out")
    files = [(path, load_cases(path)) for path in paths]
    with output.progress_bar("writing", total=sum(len(cases) for _, cases in files)) as advance:

        @contextmanager
        def empty(user: str, timezone: str) -> Iterator[UserMemory]:
            with session.thrown_away() as memory:
                yield memory.user(user, timezone=timezone)
            advance(1)

        return [
            {"dataset": "writepath", "file": path.name, "mode": session.settings.mode, **score(cases, empty)}
            for path, cases in files
        ]


def _show(sections: Sequence[Section]) -> None:
    """The tables of a report and its remarks."""
    from hexamem.evals.metrics import Interval
    from hexamem.evals.report import cell_text, columns_of

    blocks: list[RenderableType] = []
    for section in sections:
        for title, rows in section.tables.items():
            columns = columns_of(rows)
            cells = [[row.get(column) for column in columns] for row in rows]
            shown = [[cell_text(cell) if isinstance(cell, Interval) else cell for cell in row] for row in cells]
            blocks.append(output.table(columns, shown, title=title))
        if section.remarks:
            blocks.append(Text(output.clean("\n".join(section.remarks)), overflow="fold"))
    output.write(*blocks)


def _study(session: Session, paths: Sequence[Path], choices: Choices, json_out: str | None) -> None:
    """Run the study; write it to the folder ``--out``, else print it."""
    from hexamem.evals.study import (
        EXPERIMENTS,
        made_up_sets,
        run_study,
        study_data,
        study_markdown,
        study_sets,
        write_study,
    )

    experiments = tuple(choices.experiment or EXPERIMENTS)
    samples = _SAMPLES if choices.samples is None else choices.samples
    if unknown := [name for name in experiments if name not in EXPERIMENTS]:
        raise InvalidInputError(f"--experiment {unknown[0]} is unknown; use {', '.join(EXPERIMENTS)}")
    if samples < 1:
        raise InvalidInputError(f"--samples {samples}: draw at least once")
    if choices.out is not None and choices.out.exists() and not choices.out.is_dir():
        raise InvalidInputError(f"--out {choices.out} is a file; name a folder")
    sets = study_sets(paths, limit=choices.conversations)
    sets += made_up_sets(1 if choices.count is None else choices.count, seed=choices.seed or 0)
    with output.stages("loading") as advance:
        sections, facts = run_study(
            session.scratch,
            sets,
            experiments,
            model_name=session.model,
            samples=samples,
            questions=choices.questions,
            seed=choices.seed or 0,
            progress=advance,
        )
    output.save_json(study_data(sections, facts), json_out)
    if choices.out is not None:
        for file in write_study(sections, facts, choices.out):
            output.note(f"wrote {file}")
    elif json_out != "-":
        output.write_text(study_markdown(sections, facts))


def train(
    session: Session,
    paths: Annotated[
        list[Path] | None,
        typer.Argument(metavar="PATH", exists=True, help="Conversations with evidence: files or folders."),
    ] = None,
    out: Annotated[Path | None, typer.Option(metavar="WEIGHTS", help="The file to write.")] = None,
    cross_validate: Annotated[
        bool, typer.Option("--cross-validate", help="Also leave out each conversation in turn, and measure on it.")
    ] = False,
    synthetic: Annotated[
        int,
        typer.Option(metavar="N", min=0, help="Also train on N made-up trajectories of each family."),
    ] = 0,
    medium: Annotated[int, typer.Option(metavar="N", min=0, help="The same, of some 500 turns each.")] = 0,
    license: Annotated[
        str, typer.Option(metavar="SPDX", help="License of the conversations that name none.")
    ] = "unknown",
    epochs: Annotated[int | None, typer.Option(min=1, help="Passes over the questions.")] = None,
    runs: Annotated[int | None, typer.Option(min=1, help="Seeds whose scorers are averaged.")] = None,
    seed: Annotated[int, typer.Option(help="Of what is left to chance.")] = 0,
) -> None:
    """Learn the ranking of `recall --strategy learned` from questions whose evidence is known.

    The conversations are stored in a memory that is thrown away, and the ranking is trained on what it would see there.
    Use the weights with `hexamem eval … --strategy learned --weights WEIGHTS`, or `Settings(weights=…)`.
    """
    if not paths and not (synthetic or medium):
        raise InvalidInputError("Missing argument 'PATH': name conversations, or give --synthetic")
    if out is None and not cross_validate:
        raise InvalidInputError("Missing option '--out': name a file, or give --cross-validate to measure alone")
    if out is not None and not out.resolve().parent.is_dir():
        raise InvalidInputError(f"--out {out}: there is no such folder")
    from hexamem.evals import training
    from hexamem.evals.asked_questions import ask_all
    from hexamem.evals.learning import LearningSettings
    from hexamem.evals.small_memories import small_memories, with_foreign_questions
    from hexamem.retrieval.ranking_weights import save_weights

    conversations = _training_conversations(paths or (), {"S": synthetic, "M": medium}, seed)
    further = {name: value for name, value in (("epochs", epochs), ("runs", runs)) if value is not None}
    settings = LearningSettings(seed=seed, **further)
    with output.stages("loading") as advance:
        with session.thrown_away() as memory:
            asked = ask_all(memory, with_foreign_questions(conversations, seed=seed), advance)
            small = ask_all(memory, small_memories(conversations, seed=seed), advance)
            fingerprint, embedder = memory.embedder.fingerprint, memory.embedder.name
        card = training.learned_card(conversations, asked, settings, embedder, license)
        how: dict[str, Any] = {"fingerprint": fingerprint, "small": small, "progress": advance}
        weights = None if out is None else training.train(asked, settings, card=card, **how)
        folds = training.cross_validate(asked, settings, **how) if cross_validate else None
    lines = []
    if out is not None and weights is not None:
        output.write_file("--out", out, lambda path: save_weights(weights, path))
        learned_from = f"{card['questions']} questions of {len(conversations)} conversations"
        lines.append(f"{out}: {weights.parameters:,} numbers from {learned_from}")
    for fold in folds or ():
        recalls = ", ".join(f"@{cut} {value:.3f}" for cut, value in fold["recall"].items())
        lines.append(f"without {fold['conversation']}: recall {recalls}")
    parameters = None if weights is None else weights.parameters
    return session.show({**card, "parameters": parameters, "cross_validation": folds}, "\n".join(lines))


def _training_conversations(paths: Sequence[Path], made_up: Mapping[Any, int], seed: int) -> list[Conversation]:
    """What to learn from: the files' conversations, and so many made-up ones of each size."""
    from hexamem.evals import load_files
    from hexamem.evals.synthetic import FAMILIES, make_conversations

    conversations = load_files(paths)
    for size, number in made_up.items():
        if number:
            conversations += make_conversations(list(FAMILIES), size, seed=_APART + seed, count=number, split="dev")
    names = [conversation.id for conversation in conversations]
    if doubles := [name for name in names if names.count(name) > 1]:
        raise InvalidInputError(f"conversation {doubles[0]!r} is given twice")
    return conversations
