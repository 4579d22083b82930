"""``hexamem demo``: store a conversation that ships with the package, show what came of it, ask about it, research it."""

from __future__ import annotations

import json
import statistics
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer
from rich.console import RenderableType
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from hexamem.cli import output
from hexamem.cli.session import Session

if TYPE_CHECKING:
    from hexamem.memory import Memory
    from hexamem.memory_types import Hit, LabelView, MemoryItem, Recall, Step
    from hexamem.memory_types.research import Research

CUTS = (5, 10)
_ROUTED, _SCOPES, _QUESTIONS, _HITS, _SOURCES = 6, 4, 4, 2, 4
_RESEARCHED = "Which man looks after Biscuit during the trip to Spain, and what was his job?"
_REASONS = {
    "dense": "meaning",
    "bm25": "words",
    "hop": "second hop",
    "labels": "labels",
    "late": "single words",
    "items": "an item of it",
    "neighbours": "its neighbours",
    "exchange": "its exchange",
}
"""Signal of the ranking → what it is called here."""
_NEXT = "hexamem ingest chat.jsonl --user me · hexamem recall 'what did we decide?' --user me · hexamem demo --why"


class _Asked(NamedTuple):
    """A question with its recall, the ids of the steps that hold its evidence, and their ranks from 1; None for no hit."""

    question: Mapping[str, Any]
    recall: Recall
    evidence: tuple[str, ...]
    ranks: list[int | None]


class _Played(NamedTuple):
    """What the demo stored and retrieved."""

    steps: list[Step]
    items: list[MemoryItem]
    scopes: list[LabelView]
    asked: list[_Asked]
    research: Research
    threads: int
    seconds: float

    @property
    def routed(self) -> dict[str, list[str]]:
        """Step → the memory types whose managers stored something of it."""
        kinds: dict[str, dict[str, None]] = {}
        for item in self.items:
            for source in item.sources:
                kinds.setdefault(source.step_id, {})[item.kind] = None
        return {step_id: list(of_step) for step_id, of_step in kinds.items()}

    @property
    def summary(self) -> dict[str, Any]:
        """Recall of the evidence by cut-off, milliseconds of a recall, messages stored a second."""

        def share(asked: _Asked, cut: int) -> float:
            return sum(rank is not None and rank <= cut for rank in asked.ranks) / len(asked.ranks)

        recalls = {str(cut): round(statistics.fmean(share(asked, cut) for asked in self.asked), 4) for cut in CUTS}
        return {
            "questions": len(self.asked),
            "evidence_recall": recalls,
            "median_ms": round(statistics.median(asked.recall.elapsed_ms for asked in self.asked), 2),
            "messages_per_s": round(len(self.steps) / self.seconds, 1),
        }


def load_demo() -> dict[str, Any]:
    """The conversation that ships with the package: ``about``, ``user``, ``messages``, ``questions``."""
    text = files("hexamem").joinpath("demo_conversation.json").read_text(encoding="utf-8")
    return dict(json.loads(text))


def demo(
    session: Session,
    why: Annotated[bool, typer.Option("--why", help="Show every item, question and signal.")] = False,
) -> None:
    """Store a conversation that ships with the package, show what came of it, ask about it. Needs no key or network.

    The memory is deleted at the end; with --home it stays there.
    """
    script = load_demo()
    with session.scratch() as memory:
        played = _play(memory, script)
    if session.as_json:
        return output.write_json(_as_json(script["about"], played))
    return output.write(*_screen(script["about"], played, why, session.home))


def _play(memory: Memory, script: Mapping[str, Any]) -> _Played:
    user = memory.user(script["user"])
    threads: dict[str, list[dict[str, Any]]] = {}
    for message in script["messages"]:
        threads.setdefault(message["thread"], []).append({k: v for k, v in message.items() if k != "thread"})
    step_of: dict[str, str] = {}
    began = time.perf_counter()
    for thread, messages in threads.items():
        receipt = user.remember(messages, thread_id=thread)
        step_of.update(zip((message["id"] for message in messages), receipt.step_ids, strict=True))
    user.flush()
    seconds = time.perf_counter() - began
    asked = []
    for question in script["questions"]:
        recall = user.recall(question["question"], k=max(CUTS))
        ids = [hit.id for hit in recall.hits]
        evidence = tuple(step_of[message] for message in question["evidence"])
        ranks = [ids.index(step_id) + 1 if step_id in ids else None for step_id in evidence]
        asked.append(_Asked(question, recall, evidence, ranks))
    return _Played(
        steps=[step for step in user.steps() if step.id in set(step_of.values())],
        items=user.items(),
        scopes=sorted(user.labels.list("scope"), key=lambda scope: -scope.steps),
        asked=asked,
        research=user.research(_RESEARCHED),
        threads=len(threads),
        seconds=seconds,
    )


def _as_json(about: str, played: _Played) -> dict[str, Any]:
    return {
        "about": about,
        "stored": {"messages": len(played.steps), "threads": played.threads, "seconds": round(played.seconds, 4)},
        "routed": played.routed,
        "items": played.items,
        "scopes": played.scopes,
        "questions": [
            {
                **{key: asked.question[key] for key in ("question", "answer", "shows")},
                **{key: getattr(asked, key) for key in ("evidence", "ranks", "recall")},
            }
            for asked in played.asked
        ],
        "research": played.research,
        "summary": played.summary,
    }


def _screen(about: str, played: _Played, why: bool, home: Path | None) -> Iterator[RenderableType]:
    place = f"stored in {home}" if home else "stored in a folder that is deleted at the end"
    summary, shown = played.summary, played.asked if why else played.asked[:_QUESTIONS]
    yield Text(about)
    yield Text(f"No key, no server, no network; {place}.", style="dim")
    yield _rule(
        f"1. Each message goes to the managers of the memory types that it concerns ({len(played.steps)} messages)"
    )
    yield _routing(played, None if why else _ROUTED)
    yield _rule(f"2. The managers store items ({len(played.items)}); the labeler assigns each step a scope")
    yield _by_type(played, why)
    yield _rule(
        f"3. Recall, {summary['median_ms']:.0f} ms a question ({len(shown)} of {len(played.asked)}; ✓ is evidence)"
    )
    yield from (_recalled(asked, why) for asked in shown)
    yield _rule(f"4. Research: {len(played.research.rounds)} rounds of plan, search, integrate, reflect")
    yield _researched(played.research)
    yield _rule("All questions")
    recalls = ", ".join(f"{share:.0%} in the first {cut}" for cut, share in summary["evidence_recall"].items())
    yield Text(
        f"{summary['questions']} questions: {recalls} hits; {summary['messages_per_s']:,.0f} messages stored a second"
    )
    yield Text(f"Next: {_NEXT}", style="cyan")


def _rule(title: str) -> Rule:
    return Rule(Text(title, style="bold"), align="left", style="dim cyan")


def _table(*styles: str, wide: int = 0) -> Table:
    """Columns of one line each; one of them takes the room that the others leave."""
    table = Table(box=None, show_header=False, padding=(0, 1, 0, 0), expand=True)
    for number, style in enumerate(styles):
        table.add_column(style=style, no_wrap=True, overflow="ellipsis", ratio=1 if number == wide else None)
    return table


def _routing(played: _Played, most: int | None) -> Table:
    kinds = played.routed
    routed = [step for step in played.steps if step.id in kinds]
    chosen = sorted(routed, key=lambda step: -len(kinds[step.id]))[:most]
    table = _table("", "green")
    for step in sorted(chosen, key=lambda step: step.seq):
        table.add_row(_line(step.content), "→ " + ", ".join(kinds[step.id]))
    unrouted = len(played.steps) - len(routed)
    table.add_row(Text(f"{unrouted} others (questions, replies, small talk)", style="dim"), "→ stored, no item")
    return table


def _by_type(played: _Played, every: bool) -> Table:
    table = _table("green", "dim", "", wide=2)
    for kind, count in Counter(item.kind for item in played.items).items():
        texts = [_line(item.text) for item in played.items if item.kind == kind]
        for number, text in enumerate(texts if every else texts[:1]):
            table.add_row("" if number else kind, "" if number else f"{count:>2}", text)
    for number, scope in enumerate(played.scopes if every else played.scopes[:_SCOPES]):
        table.add_row("" if number else "scopes", f"{scope.steps:>2}", _line(scope.path))
    return table


def _recalled(asked: _Asked, why: bool) -> Table:
    table = _table("", "cyan")
    table.add_row(Text(asked.question["question"], style="bold"), "")
    for hit in asked.recall.hits[: 3 if why else _HITS]:
        mark = "✓" if hit.id in asked.evidence else "·"
        day = f"{hit.occurred_at:%Y-%m-%d}" if hit.occurred_at else ""
        table.add_row(f"  {mark} {day} {hit.speaker or hit.kind}: {_line(hit.text)}", "" if why else _reason(hit))
        if why:
            table.add_row(Text(f"      {hit.explain()}", style="dim", overflow="fold", no_wrap=False), "")
    return table


def _reason(hit: Hit) -> str:
    """The two strongest reasons in plain words."""
    signals = [signal for signal in hit.why if signal.name in _REASONS and signal.share > 0]
    ranked = [_REASONS[s.name] + (f" #{s.rank}" if s.rank is not None else "") for s in signals]
    return ", ".join(ranked[:2])


def _researched(research: Research) -> Table:
    table = _table("", "cyan")
    table.add_row(Text(research.question, style="bold"), "")
    for round_ in research.rounds:
        lanes = ", ".join(report.lane for report in round_.lanes)
        needs = _line("; ".join(round_.needs)) if round_.number > 1 else "the question itself"
        table.add_row(f"  round {round_.number}: {needs}", f"{len(round_.read)} passages by {lanes}")
    for claim in research.evidence[:_SOURCES]:
        day = f"{claim.occurred_at:%Y-%m-%d} " if claim.occurred_at else ""
        table.add_row(f"  source: {day}{claim.speaker or ''}: {_line(claim.quote)}", "")
    answer = research.answer if research.answerable else "memory does not hold the answer"
    table.add_row(f"  answer: {_line(answer)}", "" if research.answerable else "abstained")
    return table


def _line(text: str) -> str:
    return output.clean(" ".join(text.split()))
