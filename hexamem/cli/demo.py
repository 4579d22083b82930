"""``hexamem demo``: stores a conversation that ships with the package, asks questions about it, and shows why."""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.box import ROUNDED
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.panel import Panel
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from hexamem.cli import output
from hexamem.cli.session import Session

if TYPE_CHECKING:
    from hexamem.memory import Memory
    from hexamem.memory_types import Recall
    from hexamem.user import UserMemory

__all__ = ["demo", "load_demo"]

SHOWN_QUESTIONS = 8
SHOWN_HITS = 3
CUTS = (5, 10)
_NEXT = (
    ("hexamem ingest chat.jsonl --user me", "store a conversation, as JSON lines"),
    ('hexamem recall "what did we decide?" --user me --why', "ask about it"),
    ("hexamem doctor", "see whether all is well"),
)


@dataclass(frozen=True, slots=True)
class _Asked:
    """One question with what came back and where its evidence stands in it."""

    question: Mapping[str, Any]
    recall: Recall
    evidence: tuple[str, ...]

    @property
    def ranks(self) -> list[int | None]:
        """The rank of each piece of evidence, from 1; None where it did not come back."""
        ids = [hit.id for hit in self.recall.hits]
        return [ids.index(one) + 1 if one in ids else None for one in self.evidence]

    def recall_at(self, k: int) -> float:
        """The share of the evidence among the first k hits."""
        return sum(rank is not None and rank <= k for rank in self.ranks) / len(self.ranks)


@dataclass(frozen=True, slots=True)
class _Shown:
    """Everything the demo found out, before it is shown."""

    about: str
    threads: list[dict[str, Any]]
    messages: int
    seconds: float
    secrets: list[dict[str, str]]
    asked: list[_Asked]

    @property
    def summary(self) -> dict[str, Any]:
        """The figures of the closing table."""
        latencies = [one.recall.elapsed_ms for one in self.asked]
        return {
            "questions": len(self.asked),
            "evidence_recall": {str(k): self._mean_recall(k) for k in CUTS},
            "median_ms": round(statistics.median(latencies), 2),
            "messages_per_s": round(self.messages / self.seconds, 1),
        }

    def _mean_recall(self, k: int) -> float:
        return round(statistics.fmean(one.recall_at(k) for one in self.asked), 4)


def load_demo() -> dict[str, Any]:
    """The conversation that ships with the package: ``about``, ``user``, ``messages``, ``questions``."""
    text = files("hexamem").joinpath("demo_conversation.json").read_text(encoding="utf-8")
    return dict(json.loads(text))


def demo(
    session: Session,
    show_all: Annotated[bool, typer.Option("--all", help="Show all questions, not only the first 8.")] = False,
) -> None:
    """Store a conversation that ships with the package, ask about it, show why. Needs no key, server or network.

    The memory is thrown away at the end; with --home it is kept there.
    """
    with session.scratch() as memory:
        found = _play(memory, load_demo())
    limit = None if show_all else SHOWN_QUESTIONS
    if session.as_json:
        return output.write_json(_as_json(found, limit))
    return output.write(*_screen(found, limit, session.home))


# -- playing ----------------------------------------------------------------------------------------------------------


def _play(memory: Memory, script: Mapping[str, Any]) -> _Shown:
    user = memory.user(script["user"])
    by_thread: dict[str, list[dict[str, Any]]] = {}
    for message in script["messages"]:
        kept = {key: value for key, value in message.items() if key != "thread"}
        by_thread.setdefault(message["thread"], []).append(kept)
    step_of: dict[str, str] = {}
    references: list[str] = []
    began = time.perf_counter()
    for thread, messages in by_thread.items():
        receipt = user.remember(messages, thread_id=thread)
        step_of.update(zip((message["id"] for message in messages), receipt.step_ids, strict=True))
        references += receipt.secrets
    user.flush()
    seconds = time.perf_counter() - began
    asked = []
    for question in script["questions"]:
        evidence = tuple(step_of[message] for message in question["evidence"])
        asked.append(_Asked(question, user.recall(question["question"], k=max(CUTS)), evidence))
    return _Shown(
        about=script["about"],
        threads=[_thread(name, messages) for name, messages in by_thread.items()],
        messages=len(script["messages"]),
        seconds=seconds,
        secrets=_secrets(user, references),
        asked=asked,
    )


def _thread(name: str, messages: list[dict[str, Any]]) -> dict[str, Any]:
    times = sorted(message["timestamp"] for message in messages)
    return {"thread": name, "messages": len(messages), "from": times[0], "to": times[-1], "begins": _words(messages[0])}


def _words(message: Mapping[str, Any]) -> str:
    content = message["content"]
    if isinstance(content, str):
        return content
    return " ".join(block["text"] for block in content if block["type"] == "text")


def _secrets(user: UserMemory, references: list[str]) -> list[dict[str, str]]:
    steps = user.steps()
    items = {item.secret_id: item for item in user.items("vault")}  # type: ignore[attr-defined]
    found = []
    for reference in dict.fromkeys(references):
        step = next(step for step in steps if reference in step.content)
        item = next(item for secret, item in items.items() if secret and secret in reference)
        said = _sentence_around(step.content, reference)
        found.append(
            {
                "said": said.replace(reference, "•" * 12),
                "stored": said,
                "reference": reference,
                "caption": item.caption,  # type: ignore[attr-defined]
                "item": item.id,
                "step": step.id,
            }
        )
    return found


def _sentence_around(text: str, reference: str) -> str:
    start = text.index(reference)
    before = max(text.rfind(mark, 0, start) + 2 for mark in (". ", "! ", "? ", "\n"))
    after = text.find(". ", start + len(reference))
    return text[max(before, 0) if before > 1 else 0 : after + 1 if after >= 0 else len(text)]


# -- showing ----------------------------------------------------------------------------------------------------------


def _as_json(found: _Shown, limit: int | None) -> dict[str, Any]:
    return {
        "about": found.about,
        "stored": {"messages": found.messages, "seconds": round(found.seconds, 4), "threads": found.threads},
        "secrets": [{key: value for key, value in one.items() if key != "said"} for one in found.secrets],
        "questions": [
            {
                **{key: one.question[key] for key in ("question", "answer", "shows")},
                "evidence": list(one.evidence),
                "ranks": one.ranks,
                "recall": one.recall.model_dump(mode="json"),
            }
            for one in found.asked[:limit]
        ],
        "summary": found.summary,
    }


def _screen(found: _Shown, limit: int | None, home: Path | None = None) -> Iterator[RenderableType]:
    place = f"a home that is kept at {home}" if home else "a home that is thrown away"
    intro = Text.assemble((found.about + "\n", ""), (f"No key, no server, no download, no network; {place}.", "dim"))
    yield Panel(intro, title=Text(" Hexamem demo ", style="bold cyan"), title_align="left", box=ROUNDED, padding=(1, 2))
    rate = f"{found.messages / found.seconds:,.0f} messages a second"
    yield _rule(f"{found.messages} messages in {len(found.threads)} threads stored in {found.seconds:.2f} s ({rate})")
    yield _threads(found.threads)
    yield _rule(f"{len(found.secrets)} secrets found and put into the vault before anything was written")
    yield from _apart(_secret(secret) for secret in found.secrets)
    shown = found.asked[:limit]
    yield _rule(
        f"{len(shown)} of {len(found.asked)} questions, the best {SHOWN_HITS} hits of each, and why they came back"
    )
    yield from _apart(_question(number, one) for number, one in enumerate(shown, 1))
    yield _rule(f"All {len(found.asked)} questions")
    yield _summary(found)
    yield _rule("Next")
    table = Table(box=None, show_header=False, padding=(0, 3, 0, 2))
    table.add_column(no_wrap=True)
    table.add_column()
    for command, what in _NEXT:
        table.add_row(Text(command, style="bold cyan"), Text(what))
    yield Group(table, Text(""))


def _apart(blocks: Iterable[RenderableType]) -> Iterator[RenderableType]:
    """The blocks with an empty line between each two."""
    for number, block in enumerate(blocks):
        if number:
            yield Text("")
        yield block


def _rule(title: str) -> Padding:
    return Padding(Rule(Text(title, style="bold"), align="left", style="dim cyan"), (1, 0))


def _threads(threads: list[dict[str, Any]]) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 1), header_style="dim", expand=True)
    table.add_column("thread", style="magenta", no_wrap=True)
    table.add_column("messages", justify="right")
    table.add_column("from", style="green", no_wrap=True)
    table.add_column("to", style="green", no_wrap=True)
    table.add_column("begins with", no_wrap=True, overflow="ellipsis", ratio=1)
    for one in threads:
        table.add_row(one["thread"], str(one["messages"]), one["from"][:10], one["to"][:10], Text(one["begins"]))
    return table


def _secret(secret: Mapping[str, str]) -> Padding:
    said, stored = Text(secret["said"]), Text(secret["stored"])
    said.highlight_regex("•+", "bold red")
    stored.highlight_regex(r"\{\{vault:[^}]*\}\}", "bold green")
    table = Table(box=None, show_header=False, padding=(0, 1))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    table.add_row("said", said)
    table.add_row("stored", stored)
    return Padding(table, (0, 0, 0, 1))


def _question(number: int, one: _Asked) -> Group:
    head = Table(box=None, show_header=False, padding=0, expand=True)
    head.add_column(ratio=1)
    head.add_column(justify="right", no_wrap=True, style="dim")
    head.add_row(
        Text.assemble((f"{number:>2}  ", "bold cyan"), (one.question["question"], "bold")),
        f"{one.recall.elapsed_ms:.1f} ms",
    )
    head.add_row(Text(f"    {one.question['shows']}", style="dim italic"), "")
    hits = Table(box=None, show_header=False, padding=(0, 1, 0, 0))
    hits.add_column(width=3, justify="right", no_wrap=True, style="dim")
    hits.add_column(width=1, no_wrap=True)
    hits.add_column(width=10, style="green", no_wrap=True)
    hits.add_column(width=9, style="magenta", no_wrap=True, overflow="ellipsis")
    hits.add_column(overflow="fold")
    for rank, hit in enumerate(one.recall.hits[:SHOWN_HITS], 1):
        right = hit.id in one.evidence
        tick = Text("✓", style="bold green") if right else Text("·", style="dim")
        text = Text(output.clean(_shortened(hit.text)), style="" if right else "dim")
        text.append(f"\n{hit.explain()}", style="cyan dim")
        hits.add_row(str(rank), tick, f"{hit.occurred_at:%Y-%m-%d}", Text(output.clean(hit.speaker or "")), text)
    return Group(head, hits, *_further(one))


def _shortened(text: str, limit: int = 230) -> str:
    text = " ".join(text.split())
    return text if len(text) <= limit else text[: limit - 1].rsplit(" ", 1)[0] + " …"


def _further(one: _Asked) -> Iterator[Text]:
    """Where evidence stands that is not among the hits shown."""
    below = sorted(rank for rank in one.ranks if rank is not None and rank > SHOWN_HITS)
    missing = sum(rank is None for rank in one.ranks)
    if below:
        more = "more evidence" if len(below) + missing < len(one.ranks) else "evidence"
        yield Text(f"    {more} at rank {', '.join(map(str, below))}", style="green dim")
    if missing:
        which = "the evidence" if len(one.ranks) == 1 else f"of {len(one.ranks)} pieces of evidence, {missing}"
        yield Text(f"    {which} {'is' if missing == 1 else 'are'} not among the first {max(CUTS)}", style="yellow")


def _summary(found: _Shown) -> Table:
    figures = found.summary
    table = Table(box=ROUNDED, border_style="dim cyan", header_style="dim", padding=(0, 2))
    for heading in (*(f"evidence recall@{k}" for k in CUTS), "median recall", "stored"):
        table.add_column(heading, justify="center")
    table.add_row(
        *(Text(f"{figures['evidence_recall'][str(k)]:.0%}", style="bold green") for k in CUTS),
        Text(f"{figures['median_ms']:.1f} ms", style="bold"),
        Text(f"{figures['messages_per_s']:,.0f} messages/s", style="bold"),
    )
    return table
