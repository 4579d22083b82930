"""``hexamem eval …`` measures a memory on data sets; ``hexamem train`` learns the weights of the learned ranking."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
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

_APART = 100
"""Added to the seed of made-up trajectories to train on: those of `hexamem eval synthetic` are others."""

Paths = Annotated[list[Path], typer.Argument(metavar="PATH...", exists=True, help="Files or folders.")]
Strategy = Annotated[
    list[str] | None,
    typer.Option("--strategy", "-s", help="A ranking, or research; repeat it to compare; all for every ranking."),
]
Json = Annotated[
    str | None, typer.Option("--json", metavar="OUT", help="Write one JSON object a strategy there; - is stdout.")
]
Weights = Annotated[
    Path | None, typer.Option(metavar="W", exists=True, dir_okay=False, help="Weights of `hexamem train`, for learned.")
]
Rounds = Annotated[int, typer.Option(min=1, help="Rounds of research at most.")]
Seed = Annotated[int, typer.Option(help="Of chance.")]
Count = Annotated[int, typer.Option(help="Trajectories a family, or samples a task.")]


@dataclass(frozen=True, kw_only=True)
class Asking:
    """How the questions of a data set are asked: by recall, or with ``answers`` by research."""

    strategy: Strategy = None
    rounds: Rounds = 3
    answers: Annotated[bool, typer.Option("--answers", help="Score the answers of research; needs --model.")] = False
    judge: Annotated[str | None, typer.Option(metavar="M", help="With --answers, a chat model that judges them.")] = (
        None
    )
    weights: Weights = None
    json_out: Json = None

    def measure(
        self,
        session: Session,
        load: Callable[[], Sequence[Conversation]],
        *,
        every: bool = False,
        per_conversation: int | None = None,
    ) -> None:
        """Ask the questions of the conversations in an empty memory, and report."""
        import hexamem.evals.result_tables as tables

        if (self.judge or per_conversation) and not self.answers:
            raise InvalidInputError("--judge, and --questions a conversation, are of answers: give --answers with them")
        names = _begun(session, self.json_out, self.strategy, self.weights, answers=self.answers, every=every)
        conversations = load()
        if not self.answers:
            results = _run(session, conversations, names, self.rounds)
            return _report(self.json_out, results, [tables.retrieval_section(results)])
        from hexamem.evals.answer_judge import AnswerJudge
        from hexamem.evals.answers import evaluate_answers
        from hexamem.models import open_chat_model

        with output.stages("loading") as advance:
            scored = evaluate_answers(
                session.scratch,
                conversations,
                rounds=self.rounds,
                per_conversation=per_conversation,
                judge=None if self.judge is None else AnswerJudge(open_chat_model(self.judge)),
                progress=advance,
                facts=_facts(session),
            )
        return _report(self.json_out, [scored], [tables.answers_section(scored)])


def questions_of(dataset: Literal["locomo", "came", "longmemeval"]) -> Callable[..., None]:
    def measure(
        session: Session,
        *,
        paths: Paths,
        questions: Annotated[
            int | None, typer.Option(min=1, help="With --answers, so many a conversation, evenly spread.")
        ] = None,
        asking: Asking,
    ) -> None:
        from hexamem.evals import load_files

        every = dataset == "came"
        asking.measure(session, lambda: load_files(paths, dataset), every=every, per_conversation=questions)

    measure.__doc__ = f"Measure recall on files of {dataset} with questions whose evidence is known."
    return measure


def hotpotqa(
    session: Session,
    *,
    paths: Paths,
    tokens: Annotated[str | None, typer.Option(metavar="N", help="What the paragraphs come to, such as 56k.")] = None,
    questions: Annotated[int | None, typer.Option(min=1, help="The first so many of the file.")] = None,
    seed: Seed = 0,
    asking: Asking,
) -> None:
    """Measure recall of the supporting paragraphs of HotpotQA (its distractor file), or the answers."""
    from hexamem.evals import load_hotpotqa
    from hexamem.evals.ruler import parse_tokens

    length, *more = [None] if tokens is None else parse_tokens(tokens)
    if more:
        raise InvalidInputError(f"--tokens {tokens}: give one length for hotpotqa, and measure the next one after it")

    def load() -> list[Conversation]:
        loaded = (load_hotpotqa(path, tokens=length, questions=questions, seed=seed) for path in paths)
        return [conversation for conversations in loaded for conversation in conversations]

    asking.measure(session, load)


def synthetic(
    session: Session,
    *,
    strategy: Strategy = None,
    size: Annotated[
        list[str] | None, typer.Option(help="S for 60-100 turns, M and L for 6 or 17 times as many; all by default.")
    ] = None,
    family: Annotated[list[str] | None, typer.Option(help="travel, project or debate; all by default.")] = None,
    count: Count = 1,
    split: Annotated[Literal["dev", "test"], typer.Option(help="Whose sentences.")] = "test",
    seed: Seed = 0,
    weights: Weights = None,
    json_out: Json = None,
) -> None:
    """Measure recall on made-up trajectories with several interleaved goals, the same for the same --seed."""
    import hexamem.evals.result_tables as tables
    from hexamem.evals.synthetic import FAMILIES, SIZES, make_conversations

    names = _begun(session, json_out, strategy, weights, every=True)
    families: Any = family or list(FAMILIES)
    made = {
        name: make_conversations(families, name, seed=seed, count=count, split=split)  # type: ignore[arg-type]
        for name in dict.fromkeys(size or SIZES)
    }
    results = [
        {**result, "size": name, "split": split, "families": families, "seed": seed}
        for name, conversations in made.items()
        for result in _run(session, conversations, names, 3)
    ]
    sections = [tables.retrieval_section([one for one in results if one["size"] == name]) for name in made]
    _report(json_out, results, [*sections, *([tables.sizes_section(results)] if len(made) > 1 else [])])


def ruler(
    session: Session,
    *,
    strategy: Strategy = None,
    tokens: Annotated[str, typer.Option(metavar="N,…", help="Lengths such as 8k,32k,128k,512k.")] = "8k,32k",
    task: Annotated[
        list[str] | None,
        typer.Option(help="needle, variable_tracking, aggregation, or one such as niah_multikey_2; all by default."),
    ] = None,
    count: Count = 1,
    form: Annotated[
        Literal["conversation", "documents"], typer.Option(help="How its text is stored.")
    ] = "conversation",
    k: Annotated[int, typer.Option("-k", min=1, help="Hits a recall.")] = 10,
    rounds: Rounds = 5,
    seed: Seed = 0,
    weights: Weights = None,
    json_out: Json = None,
) -> None:
    """Measure recall of needles, chains of variables and frequent words, which it hides in long texts."""
    import hexamem.evals.result_tables as tables
    from hexamem.evals import evaluate_ruler
    from hexamem.evals.ruler import parse_tokens

    names = _begun(session, json_out, strategy, weights)
    with output.stages("making") as advance:
        results = evaluate_ruler(
            session.scratch,
            parse_tokens(tokens),
            names,
            tasks=task or (),
            count=count,
            seed=seed,
            form=form,
            k=k,
            rounds=rounds,
            progress=advance,
            facts=_facts(session),
        )
    _report(json_out, results, [tables.ruler_section(results)])


def writepath(
    session: Session,
    *,
    paths: Paths,
    research: Annotated[
        Literal["auto", "one_shot", "deep"] | None,
        typer.Option(help="Ask the questions of the cases by research, in this tier."),
    ] = None,
    json_out: Json = None,
) -> None:
    """Measure what is stored: precision and recall of the items on files of conversations, with each miss and error.

    The files state which items each conversation should, may and must not yield, and may have labels and questions.
    """
    import hexamem.evals.result_tables as tables
    from hexamem.evals.write_path import load_cases, score

    if session.home is not None:
        raise InvalidInputError("writepath opens an empty memory for each case; leave --home out")
    _begun(session, json_out, None, None)
    files = [(path, load_cases(path)) for path in paths]
    with output.progress_bar("writing", total=sum(len(cases) for _, cases in files)) as advance:

        @contextmanager
        def empty(user: str, timezone: str) -> Iterator[UserMemory]:
            with session.thrown_away() as memory:
                yield memory.user(user, timezone=timezone)
            advance(1)

        results = [
            {"dataset": "writepath", "file": path.name, "mode": session.settings.mode, **score(cases, empty, research)}
            for path, cases in files
        ]
    _report(json_out, results, [tables.write_path_section(report) for report in results])


def study(
    session: Session,
    *,
    paths: Paths,
    experiment: Annotated[
        list[str] | None,
        typer.Option("--experiment", "-e", help="oracle, main, transfer, ablation or errors; all by default."),
    ] = None,
    conversations: Annotated[int | None, typer.Option(min=1, help="Of each data set so many, evenly spread.")] = None,
    questions: Annotated[int | None, typer.Option(min=1, help="So many of each conversation.")] = None,
    count: Count = 1,
    samples: Annotated[int, typer.Option(min=1, help="Draws of every bootstrap.")] = 10_000,
    seed: Seed = 0,
    out: Annotated[Path | None, typer.Option(metavar="DIR", help="Write study.md and study.json there.")] = None,
    json_out: Json = None,
) -> None:
    """Compare many rankings on files and folders, and measure what each part of the learned one contributes."""
    from hexamem.evals.study import (
        EXPERIMENTS,
        made_up_sets,
        run_study,
        study_data,
        study_markdown,
        study_sets,
        write_study,
    )

    _begun(session, json_out, None, None)
    experiments = tuple(experiment or EXPERIMENTS)
    if unknown := [name for name in experiments if name not in EXPERIMENTS]:
        raise InvalidInputError(f"--experiment {unknown[0]} is unknown; use {', '.join(EXPERIMENTS)}")
    if out is not None and out.exists() and not out.is_dir():
        raise InvalidInputError(f"--out {out} is a file; name a folder")
    sets = study_sets(paths, limit=conversations) + made_up_sets(count, seed=seed)
    with output.stages("loading") as advance:
        sections, facts = run_study(
            session.scratch,
            sets,
            experiments,
            model_name=session.model,
            samples=samples,
            questions=questions,
            seed=seed,
            progress=advance,
        )
    output.save_json(study_data(sections, facts), json_out)
    if out is not None:
        for file in write_study(sections, facts, out):
            output.note(f"wrote {file}")
    elif json_out != "-":
        output.write_text(study_markdown(sections, facts))


def _begun(
    session: Session,
    json_out: str | None,
    strategy: Sequence[str] | None,
    weights: Path | None,
    *,
    answers: bool = False,
    every: bool = False,
) -> list[str]:
    """Check the options that most measurements share; returns the names of the strategies to measure."""
    if json_out not in (None, "-") and not Path(json_out).resolve().parent.is_dir():
        raise InvalidInputError(f"--json {json_out}: there is no such folder")
    if session.home is not None and session.exists:
        raise InvalidInputError(f"--home {session.home} holds a memory already; a measurement needs an empty one")
    if answers and strategy is not None:
        raise InvalidInputError("--answers asks research, not a ranking; leave --strategy out")
    if answers and session.model is None:
        raise InvalidInputError("--answers needs a model that answers: give one with --model openai:gpt-5-mini")
    from hexamem.config import Settings
    from hexamem.evals.asking import RESEARCH
    from hexamem.retrieval.ranking_weights import load_weights
    from hexamem.retrieval.strategies import STRATEGIES, strategy_named
    from hexamem.stores.embedders import open_embedder

    if weights is not None:  # a measurement must not fall back to another ranking
        load_weights(weights, open_embedder(session.embedder or "bundled").fingerprint)
        session.weights = str(weights)
    if (strategy is None and every) or "all" in (strategy or ()):
        return [*STRATEGIES]
    return [name if name == RESEARCH else strategy_named(name).name for name in strategy or [Settings().strategy]]


def _facts(session: Session) -> dict[str, Any]:
    """What each result says of the memory that was measured."""
    return {"embedder": session.embedder or "bundled", "model": session.model}


def _run(
    session: Session, conversations: Sequence[Conversation], names: Sequence[str], rounds: int
) -> list[dict[str, Any]]:
    from hexamem.evals import evaluate as measure

    facts = {**_facts(session), "weights": session.weights}
    with output.stages("loading") as advance:
        return measure(session.scratch, conversations, names, progress=advance, rounds=rounds, facts=facts)


def _report(json_out: str | None, results: Sequence[Mapping[str, Any]], sections: Sequence[Section]) -> None:
    """Print the tables and remarks of a measurement, unless JSON goes to stdout, and save the results."""
    from hexamem.evals.metrics import Interval
    from hexamem.evals.report import cell_text, columns_of

    blocks: list[RenderableType] = []
    for section in sections if json_out != "-" else ():
        for title, rows in section.tables.items():
            columns = columns_of(rows)
            cells = [[row.get(column) for column in columns] for row in rows]
            shown = [[cell_text(cell) if isinstance(cell, Interval) else cell for cell in row] for row in cells]
            blocks.append(output.table(columns, shown, title=title))
        if section.remarks:
            blocks.append(Text(output.clean("\n".join(section.remarks)), overflow="fold"))
    if blocks:
        output.write(*blocks)
    output.save_json(results, json_out)


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
    from hexamem.evals import load_files, training
    from hexamem.evals.asked_questions import ask_all
    from hexamem.evals.learning import LearningSettings
    from hexamem.evals.small_memories import small_memories, with_foreign_questions
    from hexamem.evals.synthetic import FAMILIES, make_conversations
    from hexamem.retrieval.ranking_weights import save_weights

    conversations = load_files(paths or ())
    sizes: dict[Any, int] = {"S": synthetic, "M": medium}
    for size, number in sizes.items():
        if number:
            conversations += make_conversations(list(FAMILIES), size, seed=_APART + seed, count=number, split="dev")
    names = [conversation.id for conversation in conversations]
    if doubles := [name for name in names if names.count(name) > 1]:
        raise InvalidInputError(f"conversation {doubles[0]!r} is given twice")
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
