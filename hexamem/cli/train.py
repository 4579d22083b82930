"""``hexamem train``: learns the weights of the learned ranking from conversations with evidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hexamem.cli import output
from hexamem.cli.session import Session
from hexamem.errors import HomeNotWritableError, InvalidInputError

if TYPE_CHECKING:
    from hexamem.evals import Conversation
    from hexamem.retrieval.gates import GateSettings
    from hexamem.retrieval.learning import LearningSettings
    from hexamem.retrieval.ranking_weights import RankingWeights

__all__ = ["check_weights", "train"]

_APART = 100
"""Added to the seed of made-up trajectories: those of `hexamem eval synthetic` are others, in facts and in words."""


def train(
    session: Session,
    paths: Annotated[
        list[Path] | None,
        typer.Argument(metavar="PATH", exists=True, help="Conversations with evidence: files or folders."),
    ] = None,
    feedback: Annotated[
        bool, typer.Option("--feedback", help="Learn from the feedback of one user instead, for that user alone.")
    ] = False,
    user: Annotated[str | None, typer.Option("--user", "-u", help="Whose, with --feedback.")] = None,
    reset: Annotated[bool, typer.Option("--reset", help="With --feedback: forget what was learned.")] = False,
    out: Annotated[Path | None, typer.Option("--out", metavar="WEIGHTS", help="The file to write.")] = None,
    cross_validate: Annotated[
        bool, typer.Option("--cross-validate", help="Also leave out each conversation in turn, and measure on it.")
    ] = False,
    synthetic: Annotated[
        int,
        typer.Option("--synthetic", metavar="N", min=0, help="Also train on N made-up trajectories of each family."),
    ] = 0,
    medium: Annotated[int, typer.Option("--medium", metavar="N", min=0, help="The same, of some 500 turns each.")] = 0,
    license: Annotated[
        str, typer.Option("--license", metavar="SPDX", help="License of the conversations that name none.")
    ] = "unknown",
    epochs: Annotated[int | None, typer.Option("--epochs", min=1, help="Passes over the questions.")] = None,
    runs: Annotated[int | None, typer.Option("--runs", min=1, help="Seeds whose scorers are averaged.")] = None,
    operations: Annotated[
        bool, typer.Option("--operations/--no-operations", help="Also train the gate of the five operations.")
    ] = True,
    seed: Annotated[int, typer.Option("--seed", help="Of what is left to chance.")] = 0,
) -> None:
    """Learn the ranking of `recall --strategy learned` from questions whose evidence is known.

    The conversations are stored in a memory that is thrown away, and the ranking is trained on what it would see there.
    Use the weights with `hexamem eval … --strategy learned --weights WEIGHTS`, or `Settings(weights=…)`.
    """
    if feedback or reset or user is not None:
        if not feedback or user is None or paths or out is not None or cross_validate:
            raise InvalidInputError("--feedback goes with --user USER, and without files to train on or to write")
        return _learn_from_feedback(session, user, reset)
    if not paths and not (synthetic or medium):
        raise InvalidInputError(
            "Missing argument 'PATH': name conversations, or give --synthetic, or --feedback --user USER"
        )
    if out is None and not cross_validate:
        raise InvalidInputError(
            "Missing option '--out': name the file to write, or give --cross-validate to measure alone"
        )
    if out is not None and not out.resolve().parent.is_dir():
        raise InvalidInputError(f"--out {out}: there is no such folder")
    from hexamem.retrieval.gates import GateSettings
    from hexamem.retrieval.learning import LearningSettings

    conversations = _conversations(paths or (), synthetic, medium, seed)
    given = {name: value for name, value in (("epochs", epochs), ("runs", runs)) if value is not None}
    card, weights, folds = _trained(
        session,
        conversations,
        LearningSettings(seed=seed, **given),
        GateSettings() if operations else None,
        license,
        weights=out is not None,
        folds=cross_validate,
    )
    if out is not None and weights is not None:
        _save(weights, out)
    if session.as_json:
        parameters = None if weights is None else weights.parameters
        return output.write_json({**card, "parameters": parameters, "cross_validation": folds})
    if out is not None and weights is not None:
        learned = f"{card['questions']} questions of {len(conversations)} conversations"
        output.write_text(f"{out}: {weights.parameters:,} numbers from {learned}")
    for one in folds or ():
        shown = ", ".join(f"@{cut} {value:.3f}" for cut, value in one["recall"].items())
        output.write_text(f"without {one['conversation']}: recall {shown}")
    return None


def _conversations(paths: Sequence[Path], synthetic: int, medium: int, seed: int) -> list[Conversation]:
    """What to learn from: the files' conversations, and made-up ones, some short and some of medium length."""
    from hexamem.evals import load_conversations
    from hexamem.evals.synthetic import FAMILIES, Size, make_conversations

    conversations = [one for path in paths for one in load_conversations(path)]
    sizes: tuple[tuple[Size, int], ...] = (("S", synthetic), ("M", medium))
    for size, count in sizes:
        if count:
            conversations += make_conversations(list(FAMILIES), size, seed=_APART + seed, count=count, split="dev")
    names = [one.id for one in conversations]
    if doubles := [name for name in names if names.count(name) > 1]:
        raise InvalidInputError(f"conversation {doubles[0]!r} is given twice")
    return conversations


def _trained(
    session: Session,
    conversations: Sequence[Conversation],
    settings: LearningSettings,
    gate: GateSettings | None,
    license: str,
    *,
    weights: bool,
    folds: bool,
) -> tuple[dict[str, Any], RankingWeights | None, list[dict[str, Any]] | None]:
    """What was learned from, the weights, and what each left-out conversation measured; the last two where asked for."""
    from hexamem.evals.small_memories import small_memories
    from hexamem.evals.training import ask_all, learned_card, train_and_validate

    with output.stages("loading") as advance:
        with session.thrown_away() as memory:
            asked = ask_all(memory, conversations, advance, operations=gate is not None)
            small = ask_all(memory, small_memories(conversations, seed=settings.seed), advance, operations=False)
            fingerprint, embedder = memory.embedder.fingerprint, memory.embedder.name
        card = learned_card(conversations, asked, settings, embedder, license, gate)
        found = train_and_validate(
            asked,
            settings,
            fingerprint=fingerprint,
            card=card,
            weights=weights,
            folds=folds,
            gate=gate,
            small=small,
            progress=advance,
        )
    return card, *found


def _save(weights: RankingWeights, out: Path) -> None:
    from hexamem.retrieval.ranking_weights import save_weights

    try:
        save_weights(weights, out)
    except OSError as error:
        raise HomeNotWritableError(f"--out {out} cannot be written ({error.strerror})") from None


def _learn_from_feedback(session: Session, name: str, reset: bool) -> None:
    with session.known(name) as user:
        learned = user.learn_ranking(reset=reset)
    if session.as_json:
        return output.write_json(asdict(learned))
    output.write_text(f"{'learned' if learned.accepted and not reset else 'unchanged'}: {learned.reason}")
    for operation, offset in learned.offsets.items():
        output.write_text(f"  {operation} {offset:+.2f}")
    return None


def check_weights(path: Path, embedder: str | None) -> str:
    """The path of weights that can be used with an embedder; a measurement must not fall back to another ranking.

    Raises:
        ConfigError, CorruptFileError: as :func:`~hexamem.retrieval.ranking_weights.load_weights`.
    """
    from hexamem.retrieval.ranking_weights import load_weights
    from hexamem.stores.embedders import open_embedder

    load_weights(path, open_embedder(embedder or "bundled").fingerprint)
    return str(path)
