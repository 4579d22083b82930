"""``hexamem ask``: deep research over a user's memory, its answer and its evidence."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import tzinfo
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from hexamem.cli import output
from hexamem.cli.filters import Filters
from hexamem.cli.session import Session, User, Zone, zone_of

if TYPE_CHECKING:
    from hexamem.memory_types.research import Claim, Research, Round

__all__ = ["ask"]


class Form(StrEnum):
    """What is printed: the answer, with the passages that carry it, or with whole pages."""

    text = "text"
    passages = "passages"
    pages = "pages"


class Tier(StrEnum):
    """How deep it goes."""

    auto = "auto"
    recall = "recall"
    one_shot = "one_shot"
    deep = "deep"


class LaneName(StrEnum):
    """The ways to search."""

    vector = "vector"
    keyword = "keyword"
    page = "page"
    intent = "intent"
    time = "time"
    kind = "kind"


def ask(
    session: Session,
    *,
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="What is asked, in any words or language.")],
    user: User,
    rounds: Annotated[int, typer.Option("--rounds", min=1, max=20, help="At most so many rounds.")] = 3,
    passages: Annotated[
        int | None, typer.Option("--passages", min=1, max=200, help="At most so many read a round; 14 by default.")
    ] = None,
    form: Annotated[
        Form, typer.Option("--form", help="The answer as text, with its passages, or whole pages.")
    ] = Form.text,
    tier: Annotated[Tier, typer.Option("--tier", help="How deep it goes; auto: as deep as it must.")] = Tier.deep,
    lane: Annotated[
        list[LaneName] | None, typer.Option("--lane", help="A way to search, of all by default; repeat it for several.")
    ] = None,
    filters: Filters,
    calls: Annotated[int | None, typer.Option("--calls", min=0, help="At most so many model calls.")] = None,
    tokens: Annotated[int | None, typer.Option("--tokens", min=0, help="At most so many model tokens.")] = None,
    seconds: Annotated[float | None, typer.Option("--seconds", min=0, help="At most so long.")] = None,
    trace: Annotated[bool, typer.Option("--trace", help="Show every round, search and decision.")] = False,
    rollouts: Annotated[
        Path | None,
        typer.Option(
            "--rollouts", metavar="FILE", help="Add the rounds to this JSONL file: state, action, observation."
        ),
    ] = None,
    timezone: Zone = None,
) -> None:
    """Research a question in rounds: plan, search, integrate, reflect. A model answers in words; else the evidence does."""
    from hexamem.errors import InvalidInputError

    if rollouts is not None and not rollouts.resolve().parent.is_dir():
        raise InvalidInputError(f"--rollouts {rollouts}: there is no such folder")
    with session.reader(user, timezone) as memory:
        found = memory.research(
            question,
            rounds,
            tier=tier.value,
            form=form.value,
            passages=passages,
            lanes=None if lane is None else [one.value for one in lane],
            calls=calls,
            tokens=tokens,
            seconds=seconds,
            where=filters.where(memory),
            as_of=filters.as_of,
            known_at=filters.known_at,
            kinds=filters.kind,
        )
        zone = zone_of(memory)
    if rollouts is not None:
        _append(rollouts, found)
    if session.as_json:
        return output.write_json(found)
    return _print(found, form, zone, trace=trace)


def _print(found: Research, form: Form, zone: tzinfo, *, trace: bool) -> None:
    if trace:
        for one in found.rounds:
            output.write(*_round_block(one, found))
    if form is Form.text and found.answerable and found.usage.calls:
        output.write_text(output.clean(found.answer))
        if found.reason:
            output.write(output.body(found.reason))
        output.write(Text(""), *(block for one in found.evidence for block in _claim_block(one, zone)))
    else:
        output.write_text(output.clean(found.context))
    for line in found.degraded:
        output.note(f"note: {line}")
    output.write(Text(_summary(found), style="dim"))


def _summary(found: Research) -> str:
    cost = f", {output.counted(found.usage.calls, 'call')}" if found.usage.calls else ""
    return (
        f"{output.counted(len(found.rounds), 'round')}, {output.counted(len(found.passages), 'passage')} read{cost} "
        f"in {found.elapsed_ms:.0f} ms by {found.tier}  {found.id}"
    )


def _claim_block(one: Claim, zone: tzinfo) -> list[Any]:
    first = output.head(
        ("•", "bold"),
        (output.shown_time(one.occurred_at, zone), "green"),
        (one.speaker or "", "magenta"),
        (one.passage_id, "dim"),
    )
    return [first, output.body(f"“{output.clean(one.quote)}”")]


def _round_block(one: Round, found: Research) -> list[Any]:
    told = Text(f"Round {one.number}", style="bold")
    told.append(f"  {', '.join(f'{part} by {who}' for part, who in one.tiers.items())}", style="dim")
    lines: list[Any] = [told]
    if one.needs:
        lines.append(output.body(f"needs: {'; '.join(map(output.clean, one.needs))}"))
    for each in one.plan.requests:
        where = f" in {', '.join(each.pages)}" if each.pages else ""
        lines.append(output.body(f"search {each.lane}: {output.clean(each.query)}{where}", "cyan"))
    for lane in one.lanes:
        why = f", failed: {output.clean(lane.failed)}" if lane.failed else ""
        lines.append(
            output.body(f"{lane.lane} found {lane.found} in {(lane.ended - lane.began) * 1_000:.0f} ms{why}", "dim")
        )
    passages = {each.id: each for each in found.passages}
    for passage_id in one.read:
        passage = passages.get(passage_id)
        if passage is not None:
            who = f"{passage.speaker}: " if passage.speaker else ""
            said = output.clean(who + output.one_line(passage.text))
            lines.append(output.body(f"read {said}  ({', '.join(passage.lanes)})"))
    for claim in one.claims:
        lines.append(output.body(f"claim: {output.clean(claim.text)}", "green"))
    if one.dropped:
        lines.append(output.body(f"{one.dropped} claims dropped: their quotes do not stand there", "yellow"))
    if one.enough is not None:
        missing = f", missing: {'; '.join(map(output.clean, one.missing))}" if one.missing else ""
        lines.append(output.body(f"{'enough' if one.enough else 'not enough'}{missing}", "bold"))
    return [*lines, Text("")]


def _append(path: Path, found: Research) -> None:
    from hexamem.errors import HomeNotWritableError
    from hexamem.memory_types.research_rollouts import rollout

    rows: list[Mapping[str, Any]] = list(rollout(found))
    try:
        with path.open("a", encoding="utf-8") as file:
            file.writelines(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)
    except OSError as error:
        raise HomeNotWritableError(f"--rollouts {path}: {error.strerror}; choose another file") from None
