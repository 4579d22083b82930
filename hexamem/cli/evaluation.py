"""``hexamem eval``: measures how well the memory finds the evidence of a data set's questions."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from hexamem.cli import output
from hexamem.cli.evaluation_choices import (
    OF_FILE,
    DataSet,
    FamilyChoice,
    FormChoice,
    SizeName,
    SplitChoice,
    check_options,
)
from hexamem.cli.session import Session
from hexamem.cli.study import Conversations, Experiment, OutFolder, Samples, study
from hexamem.cli.train import check_weights
from hexamem.cli.writepath import measure_write_path, print_write_path
from hexamem.errors import InvalidInputError

if TYPE_CHECKING:
    from hexamem.evals import Conversation, DataFormat
    from hexamem.evals.synthetic import FamilyName, Size, Split

__all__ = ["evaluate"]


_MADE_UP, _RULER, _ANSWERS = "Synthetic", "Ruler and HotpotQA", "Answers"
_ROUNDS = 3


def evaluate(
    session: Session,
    *,
    dataset: Annotated[
        DataSet,
        typer.Argument(
            metavar="DATASET",
            help="locomo, came, longmemeval, hotpotqa, narrativeqa, ruler, synthetic, writepath or study.",
        ),
    ],
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
        typer.Option(
            "--weights", metavar="W", exists=True, dir_okay=False, help="Weights of `hexamem train`, for learned."
        ),
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
    seed: Annotated[
        int | None,
        typer.Option(
            "--seed", help="Of chance, 0 by default; of ruler, hotpotqa and study too.", rich_help_panel=_MADE_UP
        ),
    ] = None,
    count: Annotated[
        int | None,
        typer.Option(
            "--count",
            help="Trajectories a family, of ruler samples a task, of study both; 1 by default.",
            rich_help_panel=_MADE_UP,
        ),
    ] = None,
    split: Annotated[
        SplitChoice | None,
        typer.Option("--split", help="Whose sentences; test by default.", rich_help_panel=_MADE_UP),
    ] = None,
    export: Annotated[
        Path | None,
        typer.Option("--export", metavar="DIR", help="Also write them in CAME-Bench's form.", rich_help_panel=_MADE_UP),
    ] = None,
    tokens: Annotated[
        str | None,
        typer.Option(
            "--tokens",
            metavar="N,…",
            help="Lengths such as 8k,32k,128k,512k; for hotpotqa what the paragraphs come to.",
            rich_help_panel=_RULER,
        ),
    ] = None,
    task: Annotated[
        list[str] | None,
        typer.Option(
            "--task",
            help="needle, variable_tracking, aggregation, or one task such as niah_multikey_2; all by default.",
            rich_help_panel=_RULER,
        ),
    ] = None,
    form: Annotated[
        FormChoice | None,
        typer.Option("--form", help="How ruler's text is told; conversation by default.", rich_help_panel=_RULER),
    ] = None,
    k: Annotated[
        int | None, typer.Option("-k", min=1, help="Hits a recall in ruler; 10 by default.", rich_help_panel=_RULER)
    ] = None,
    rounds: Annotated[
        int | None,
        typer.Option("--rounds", min=1, help="Rounds of research at most; 3, in ruler 5.", rich_help_panel=_ANSWERS),
    ] = None,
    answers: Annotated[
        bool,
        typer.Option("--answers", help="Score the answers of research; needs --model.", rich_help_panel=_ANSWERS),
    ] = False,
    judge: Annotated[
        str | None,
        typer.Option("--judge", metavar="M", help="A chat model that judges the answers.", rich_help_panel=_ANSWERS),
    ] = None,
    questions: Annotated[
        int | None,
        typer.Option(
            "--questions",
            min=1,
            help="With --answers, so many questions a conversation, evenly spread; of hotpotqa and narrativeqa the "
            "first so many of the file; of study so many of each conversation.",
            rich_help_panel=_ANSWERS,
        ),
    ] = None,
    out_folder: OutFolder = None,
    experiment: Experiment = None,
    samples: Samples = None,
    conversations: Conversations = None,
) -> None:
    """Measure recall on a data set, in an empty memory that is thrown away; with --home it is kept there.

    synthetic needs no file: it makes up trajectories with several interleaved goals, the same for the same --seed.
    Nor does ruler: it hides needles, chains of variables and frequent words in long texts.

    study compares many rankings on files and folders, and tells what each part of the learned one is worth.

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
    if weights is not None:
        session.weights = check_weights(weights, session.embedder)
    check_options(
        dataset,
        answers,
        {
            "--size": size,
            "--family": family,
            "--seed": seed,
            "--count": count,
            "--split": split,
            "--export": export,
            "--tokens": tokens,
            "--task": task,
            "--form": form,
            "-k": k,
            "--judge": judge,
            "--questions": questions,
            "--answers": answers or None,
            "--out": out_folder,
            "--experiment": experiment,
            "--samples": samples,
            "--conversations": conversations,
        },
    )
    if dataset is DataSet.study:
        if strategy is not None:
            raise InvalidInputError("study compares rankings of its own choice; leave --strategy out")
        return study(
            session,
            paths or (),
            out=out_folder,
            experiments=experiment or (),
            samples=samples,
            conversations=conversations,
            questions=questions,
            count=count,
            seed=seed,
            json_out=out,
        )
    if answers and strategy is not None:
        raise InvalidInputError("--answers asks research, not a ranking; leave --strategy out")
    if dataset in (DataSet.synthetic, DataSet.ruler) and paths:
        raise InvalidInputError(f"{paths[0]}: {dataset.value} makes its own conversations; leave the path out")
    if dataset is DataSet.ruler:
        from hexamem.cli.ruler import measure_ruler

        measured = measure_ruler(
            session,
            names,
            tokens=tokens,
            tasks=task or (),
            form="conversation" if form is None else form.value,
            count=1 if count is None else count,
            seed=seed or 0,
            k=10 if k is None else k,
            rounds=rounds,
        )
        return _report_ruler(measured, out)
    if dataset is DataSet.synthetic:
        return _report(_measure_made_up(session, names, size, family, seed or 0, count, split, export), out)
    if not paths:
        raise InvalidInputError(f"Missing argument 'PATH': {dataset.value} is measured on files; name them")
    if dataset is DataSet.writepath:
        return _report_written(measure_write_path(session, paths), out)
    if dataset is DataSet.narrativeqa and not answers:
        raise InvalidInputError("narrativeqa does not say where an answer stands; score answers: --answers --model M")
    rounds = _ROUNDS if rounds is None else rounds
    files = _load(dataset, paths, tokens, questions, seed or 0)
    if answers:
        from hexamem.cli.answers import measure_answers

        of_each = None if dataset in OF_FILE else questions
        scored = measure_answers(session, dataset.value, files, rounds=rounds, questions=of_each, judge=judge)
        return _report_answers(scored, out)
    return _report(_run(session, dataset, files, names, rounds), out)


def _measure_made_up(
    session: Session,
    names: Sequence[str],
    size: Sequence[SizeName] | None,
    family: Sequence[FamilyChoice] | None,
    seed: int,
    count: int | None,
    split: SplitChoice | None,
    export: Path | None,
) -> list[dict[str, Any]]:
    """The results of each size, with what was made up."""
    from hexamem.evals.synthetic import FAMILIES, SIZES, make_conversations, write_came

    families: list[FamilyName] = [one.value for one in family] if family else list(FAMILIES)
    sizes: list[Size] = [one.value for one in size] if size else list(SIZES)
    if len(set(sizes)) != len(sizes):
        raise InvalidInputError(f"sizes {', '.join(sizes)}: give each once")
    sentences: Split = split.value if split else "test"
    results: list[dict[str, Any]] = []
    for one in sizes:
        made = make_conversations(families, one, seed=seed, count=1 if count is None else count, split=sentences)
        if export is not None:
            for conversation in made:
                write_came(conversation, export)
        facts = {"size": one, "split": sentences, "families": families, "seed": seed}
        results += [{**result, **facts} for result in _run(session, DataSet.synthetic, made, names, _ROUNDS)]
    return results


def _load(
    dataset: DataSet, paths: Sequence[Path], tokens: str | None, questions: int | None, seed: int
) -> list[Conversation]:
    from hexamem.evals import load_conversations

    if dataset is DataSet.hotpotqa:
        from hexamem.evals.hotpotqa import load_hotpotqa
        from hexamem.evals.ruler import parse_tokens

        lengths = [None] if tokens is None else parse_tokens(tokens)
        if len(lengths) > 1:
            raise InvalidInputError(
                f"--tokens {tokens}: give one length for hotpotqa, and measure the next one after it"
            )
        return [one for path in paths for one in load_hotpotqa(path, tokens=lengths[0], questions=questions, seed=seed)]
    if dataset is DataSet.narrativeqa:
        from hexamem.evals.narrativeqa import load_narrativeqa

        return [one for path in paths for one in load_narrativeqa(path, questions=questions)]
    form = cast("DataFormat", dataset.value)
    return [one for path in paths for one in load_conversations(path, form)]


def _strategies(given: Sequence[str] | None, dataset: DataSet) -> list[str]:
    """The names to measure: those given, checked, or what the data set is measured with."""
    from hexamem.config import Settings
    from hexamem.evals.asking import RESEARCH
    from hexamem.retrieval.strategies import STRATEGIES, strategy_named

    if given is None:
        # Contextual intent is what these two are about: with the papers' ablations.
        return [*STRATEGIES] if dataset in (DataSet.came, DataSet.synthetic) else [Settings().strategy]
    if "all" in given:
        return [*STRATEGIES]
    return [name if name == RESEARCH else strategy_named(name).name for name in given]


def _run(
    session: Session,
    dataset: DataSet,
    conversations: Sequence[Conversation],
    names: Sequence[str],
    rounds: int,
) -> list[dict[str, Any]]:
    from hexamem.evals import evaluate as measure

    with output.stages("loading") as advance:
        return measure(
            session.scratch,
            conversations,
            names,
            progress=advance,
            dataset=dataset.value,
            embedder=session.embedder or "bundled",
            weights=session.weights,
            model=session.model,
            rounds=rounds,
        )


def _report(results: list[dict[str, Any]], out: str | None) -> None:
    from hexamem.evals import print_report, print_sizes

    if out == "-":
        return output.write_json(results)
    console = output.result()
    sizes = list(dict.fromkeys(result.get("size") for result in results))
    for size in sizes:
        print_report([result for result in results if result.get("size") == size], console)
    if len(sizes) > 1:
        print_sizes(results, console)
    return _save(results, out)


def _report_ruler(results: list[dict[str, Any]], out: str | None) -> None:
    from hexamem.evals.ruler_report import print_ruler

    if out == "-":
        return output.write_json(results)
    print_ruler(results, output.result())
    return _save(results, out)


def _report_answers(result: dict[str, Any], out: str | None) -> None:
    from hexamem.cli.answers import print_answers

    if out == "-":
        return output.write_json([result])
    print_answers(result)
    return _save([result], out)


def _report_written(reports: list[dict[str, Any]], out: str | None) -> None:
    if out == "-":
        return output.write_json(reports)
    for report in reports:
        print_write_path(report)
    return _save(reports, out)


def _save(results: list[dict[str, Any]], out: str | None) -> None:
    if out is not None:
        output.save_json(results, out)
