"""``hexamem eval … --answers``: how good the answers of research are, not only what it finds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hexamem.cli import output
from hexamem.cli.session import Session
from hexamem.errors import InvalidInputError

if TYPE_CHECKING:
    from hexamem.evals import Conversation

__all__ = ["measure_answers", "print_answers"]


def measure_answers(
    session: Session,
    dataset: str,
    conversations: Sequence[Conversation],
    *,
    rounds: int,
    questions: int | None,
    judge: str | None,
) -> dict[str, Any]:
    """Ask the questions of research in an empty memory and score its answers.

    Args:
        dataset: name in the result.
        conversations: with their questions.
        rounds: of research, at most.
        questions: how many of each conversation; all when None.
        judge: the chat model that judges; nobody when None.

    Raises:
        InvalidInputError: there is no model to answer, or nothing to ask.
        ConfigError: a model cannot be opened.
    """
    if session.model is None:
        raise InvalidInputError("--answers needs a model that answers: give one with --model openai:gpt-5-mini")
    from hexamem.evals.answer_judge import AnswerJudge
    from hexamem.evals.answers import evaluate_answers
    from hexamem.models import open_chat_model

    with output.stages("loading") as advance:
        return evaluate_answers(
            session.scratch,
            conversations,
            rounds=rounds,
            per_conversation=questions,
            judge=None if judge is None else AnswerJudge(open_chat_model(judge)),
            progress=advance,
            dataset=dataset,
            embedder=session.embedder or "bundled",
            model=session.model,
        )


def print_answers(result: Mapping[str, Any]) -> None:
    """The scores by category, then what they cost."""
    from rich.markup import escape
    from rich.table import Table

    console = output.result()
    counts: Mapping[str, int] = result["counts"]
    table = Table(
        title=escape(f"{result['dataset']}: answers of {result['model']}, {result['rounds']} round(s)"),
        title_justify="left",
    )
    table.add_column("score", no_wrap=True)
    for group, count in counts.items():
        table.add_column(escape(f"{group} ({count})"), justify="right")
    for name, row in result["scores"].items():
        table.add_row(name, *("–" if row[group] is None else f"{row[group]:.3f}" for group in counts))
    console.print(table)
    latency = result["latency_ms"]
    lines = [
        f"{result['llm_calls']} calls and {result['llm_tokens']:,} tokens to answer {result['n_questions']} questions; "
        f"p50 {latency['p50'] / 1_000:.1f} s, p95 {latency['p95'] / 1_000:.1f} s"
    ]
    if result["judge_calls"]:
        lines.append(f"{result['judge_calls']} calls and {result['judge_tokens']:,} tokens to judge them")
    lines += [f"note: {note}" for note in result["notes"]]
    lines += [f"degraded: {what} ({count}×)" for what, count in result["degraded"].items()]
    for line in lines:
        console.print(escape(line), highlight=False)
