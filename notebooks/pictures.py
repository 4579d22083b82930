"""The pictures of the notebooks. They only draw: what they show comes from Hexamem's public results."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from textwrap import fill
from typing import TYPE_CHECKING

import matplotlib.pyplot as plt
from matplotlib.patches import FancyBboxPatch

if TYPE_CHECKING:
    from langchain_core.runnables.graph import Graph
    from matplotlib.axes import Axes

    from hexamem.memory_types.research import Research
    from hexamem.memory_types.results import Recall

__all__ = ["flow", "graph_of", "heat_map", "shares", "timeline", "trace"]

COLOURS = plt.get_cmap("tab10").colors  # type: ignore[attr-defined]
_REFERENCE = re.compile(r"\{\{vault:[^|{}]*\|([^{}]*)\}\}")
_PALE = ("#e8eef7", "#fdf1dc", "#e6f4e6", "#f9e4e4", "#efe8f6", "#eeeeee")


def shares(found: Recall, most: int = 5, title: str = "") -> Axes:
    """Why each hit came back: one bar a hit, as long as its score, cut by what each signal adds.

    The ``most`` strongest signals have colours of their own, the others are grey together. What counts against a hit
    stands left of zero.
    """
    weight: dict[str, float] = {}
    for hit in found.hits:
        for signal in hit.why:
            weight[signal.name] = weight.get(signal.name, 0.0) + abs(signal.share)
    named = sorted(weight, key=lambda name: -weight[name])[:most]
    _, ax = plt.subplots(figsize=(8, 0.55 * len(found.hits) + 1.2))
    right, left = [0.0] * len(found.hits), [0.0] * len(found.hits)
    rest = ["others"] if len(weight) > len(named) else []
    for number, name in enumerate([*named, *rest]):
        for row, hit in enumerate(found.hits):
            share = sum(one.share for one in hit.why if (one.name if one.name in named else "others") == name)
            ends = right if share >= 0 else left
            colour = COLOURS[number % len(COLOURS)] if name in named else "#bbbbbb"
            ax.barh(row, share, left=ends[row], color=colour, label=name if row == 0 else None)
            ends[row] += share
    ax.set_yticks(range(len(found.hits)), [fill(_plain(hit.text), 44)[:90] for hit in found.hits], fontsize=8)
    ax.invert_yaxis()
    ax.margins(x=0.03)
    ax.axvline(0, color="black", linewidth=0.8)
    ax.set_xlabel("share of the score")
    ax.set_title(title or found.query, fontsize=10)
    ax.legend(fontsize=8, loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False)
    return ax


def timeline(rows: Sequence[str], colours: Sequence[str], title: str = "", marks: Iterable[int] = ()) -> Axes:
    """Messages from left to right, each in the row of its label.

    Args:
        rows: the label of each message. Rows stand in the order in which labels first come.
        colours: a name for each message; messages of one name have one colour.
        marks: positions before which a line is drawn, such as where a session begins.
    """
    names, groups = list(dict.fromkeys(rows)), list(dict.fromkeys(colours))
    _, ax = plt.subplots(figsize=(9, 0.38 * len(names) + 1.3))
    for number, group in enumerate(groups):
        at = [position for position, one in enumerate(colours) if one == group]
        places = [names.index(rows[position]) for position in at]
        ax.scatter(at, places, color=COLOURS[number % len(COLOURS)], label=group, s=42, zorder=3)
    ax.plot(range(len(rows)), [names.index(row) for row in rows], color="#cccccc", linewidth=0.8, zorder=1)
    for position in marks:
        ax.axvline(position - 0.5, color="#999999", linestyle=":", linewidth=0.8)
    ax.set_yticks(range(len(names)), names, fontsize=8)
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.set_xlabel("message")
    ax.set_title(title, fontsize=10)
    ax.legend(fontsize=8, loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False)
    return ax


def heat_map(
    values: Sequence[Sequence[float]],
    rows: Sequence[str],
    columns: Sequence[str],
    title: str = "",
    *,
    texts: Sequence[Sequence[str]] | None = None,
    colours: str = "Blues",
    most: float | None = None,
) -> Axes:
    """A table of numbers in colour; ``texts`` stand in the cells, or the numbers that are not 0."""
    _, ax = plt.subplots(figsize=(0.52 * len(columns) + 3.2, 0.3 * len(rows) + 1.6))
    top = most if most is not None else max((max(row, default=0) for row in values), default=0)
    ax.imshow(values, cmap=colours, aspect="auto", vmin=0, vmax=top or 1)
    ax.set_xticks(range(len(columns)), columns, rotation=40, ha="right", fontsize=8)
    ax.set_yticks(range(len(rows)), rows, fontsize=8)
    for y, row in enumerate(values):
        for x, value in enumerate(row):
            text = texts[y][x] if texts is not None else f"{value:g}" if value else ""
            ax.text(x, y, text, ha="center", va="center", fontsize=7, color="white" if value > 0.6 * top else "black")
    ax.set_title(title, fontsize=10)
    return ax


def flow(
    layers: Sequence[Mapping[str, str]],
    edges: Iterable[tuple[str, str, bool]],
    title: str = "",
    *,
    down: bool = False,
    strong: Collection[str] = (),
) -> Axes:
    """Boxes in layers and arrows between them.

    Args:
        layers: from left to right, or from top to bottom if ``down``; each a mapping of a box's id to its text.
        edges: (from, to, dashed). An arrow that passes over a layer, or goes back, is bent.
        strong: ids of the boxes that stand out.
    """
    most = max(len(layer) for layer in layers)
    wide, high = (most, len(layers)) if down else (len(layers), most)
    _, ax = plt.subplots(figsize=(1.6 * wide + 0.2, (0.62 if down else 0.68) * high + 0.4))
    place: dict[str, tuple[float, float]] = {}
    depth: dict[str, int] = {}
    half = (0.42, 0.3 if down else 0.4)
    for number, layer in enumerate(layers):
        for at, (name, text) in enumerate(layer.items()):
            aside = (most - len(layer)) / 2 + at
            place[name], depth[name] = ((aside, number) if down else (number, aside)), number
            corner = (place[name][0] - half[0], place[name][1] - half[1])
            colour = "#cfe8cf" if name in strong else _PALE[number % len(_PALE)] if down else _PALE[0]
            ax.add_patch(
                FancyBboxPatch(
                    corner, 2 * half[0], 2 * half[1], "round,pad=0,rounding_size=0.08", fc=colour, ec="#888888"
                )
            )
            ax.text(*place[name], _lines(text), ha="center", va="center", fontsize=6.5, zorder=3)
    for start, end, dashed in edges:
        (x1, y1), (x2, y2) = place[start], place[end]
        step = depth[end] - depth[start]
        side = 1 if step > 0 else -1
        bend = 0.0
        if step != 1 and down:  # past other boxes: forward on the right, back on the left
            x1, x2, bend = x1 + side * half[0], x2 + side * half[0], -0.5
        elif down:
            y1, y2 = y1 + half[1], y2 - half[1]
        else:
            x1, x2, bend = x1 + side * half[0], x2 - side * half[0], 0.0 if step == 1 else -0.45
        style = {"color": "#777777", "linestyle": "--" if dashed else "-", "connectionstyle": f"arc3,rad={bend}"}
        arrow = {**style, "arrowstyle": "-|>", "shrinkA": 0, "shrinkB": 0}
        ax.annotate("", (x2, y2), (x1, y1), arrowprops=arrow, zorder=0)
    ax.set_xlim(-0.6, wide - 0.4)
    ax.set_ylim(high - 0.4, -0.6)
    ax.axis("off")
    ax.set_title(title, fontsize=10)
    return ax


def graph_of(graph: Graph, title: str = "") -> Axes:
    """A LangGraph graph as ``get_graph`` gives it, from top to bottom; conditional edges are dashed."""
    after: dict[str, list[str]] = {name: [] for name in graph.nodes}
    for edge in graph.edges:
        after[edge.source].append(edge.target)
    depth: dict[str, int] = dict.fromkeys(graph.nodes, 0)

    def visit(name: str, above: tuple[str, ...]) -> None:  # the longest way from the start, loops left out
        for target in after[name]:
            if target not in above and depth[target] <= depth[name]:
                depth[target] = depth[name] + 1
                visit(target, (*above, name))

    visit("__start__", ("__start__",))
    layers: list[dict[str, str]] = [{} for _ in range(max(depth.values()) + 1)]
    for name, layer in depth.items():
        layers[layer][name] = ":\n".join(name.replace("__", "").replace("_", " ").replace(".", ":").split(":"))
    return flow(layers, [(edge.source, edge.target, edge.conditional) for edge in graph.edges], title, down=True)


def trace(found: Research, width: int = 54) -> Axes:
    """What a research did, round by round: what it searched for, and what that led it to read; green is what it quotes.

    An arrow to a passage says that the search has it among its best; one to a search of the next round comes from the
    passage that names what is searched for. A search without an arrow is for words of earlier rounds.
    """
    by_id = {passage.id: passage for passage in found.passages}
    quoted = {claim.passage_id for claim in found.evidence}
    layers: list[dict[str, str]] = [{"question": found.question}]
    edges: list[tuple[str, str, bool]] = []
    for one in found.rounds:
        queries = dict.fromkeys(request.query for request in one.plan.requests)
        read = {name: _plain(by_id[name].text)[:width] for name in one.read if name in by_id}
        searches: dict[str, str] = {}
        for query in queries:
            name = f"{one.number} {query}"
            lanes = dict.fromkeys(request.lane for request in one.plan.requests if request.query == query)
            searches[name] = f"{one.number}. {'the question' if query == found.question else query}: {', '.join(lanes)}"
            before = [key for key in layers[-1] if key in by_id and query.casefold() in by_id[key].text.casefold()]
            edges += [(key, name, False) for key in (before if one.number > 1 else layers[0])]
            best = {id_ for lane in one.lanes if query in lane.queries for id_ in lane.best}
            edges += [(name, id_, id_ not in quoted) for id_ in read if id_ in best]
        layers += [part for part in (searches, read) if part]
    layers.append({"answer": f"{len(found.evidence)} quotes"})
    edges += [(name, "answer", False) for layer in layers for name in layer if name in quoted]
    return flow(layers, dict.fromkeys(edges), strong={*quoted, "answer"})


def _lines(text: str, width: int = 20) -> str:
    return "\n".join(fill(line, width) for line in text.split("\n"))


def _plain(text: str) -> str:
    """One line, without signs that Matplotlib reads as formulae; of a secret's reference its caption."""
    return " ".join(_REFERENCE.sub(r"[\1]", text).replace("$", r"\$").split())
