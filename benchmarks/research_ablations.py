"""The ablations of research as a table and a plot, on conversations in LoCoMo's form.

Run: ``python benchmarks/research_ablations.py PATH… [--category 1] [--mode embedded] [--model openai:…] [--out FOLDER]``.
It prints the table; with ``--out`` it also writes ``research_ablations.json`` and ``research_rounds.svg``, evidence read by
rounds for each number of passages.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from hexamem import Memory, Settings
from hexamem.evals.locomo import load_locomo
from hexamem.evals.research_ablations import PASSAGES, ROUNDS, ablate

_WIDTH, _HEIGHT, _EDGE = 640, 400, 48
_COLOURS = ("#440154", "#3b528b", "#21918c", "#5ec962", "#b5a000")


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("paths", nargs="+", type=Path)
    parser.add_argument("--category", default="1", help="of the questions; all for every one")
    parser.add_argument(
        "--mode", default="off", choices=("off", "embedded"), help="embedded: items are extracted and searched too"
    )
    parser.add_argument("--model", help="plans, integrates and reflects; arms without memos need one")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    conversations = [one for path in given.paths for one in load_locomo(path)]
    notes = Console(stderr=True)
    with tempfile.TemporaryDirectory(prefix="hexamem-") as folder:
        whole, plain = (
            Settings(background=False, mode=given.mode, labels="embedded", pages=pages) for pages in (True, False)
        )
        rows = ablate(
            lambda: Memory.open(Path(folder, "whole"), model=given.model, settings=whole),
            conversations,
            category=None if given.category == "all" else given.category,
            progress=notes.print,
            without_memos=(lambda: Memory.open(Path(folder, "plain"), model=given.model, settings=plain))
            if given.model
            else None,
        )
    table = Table("arm", "recall", "of steps", "p50 ms")
    for row in rows:
        table.add_row(row["arm"], f"{row['recall']:.3f}", f"{row['steps']:.0f}", f"{row['p50_ms']:.0f}")
    Console().print(table)
    if given.out is not None:
        given.out.mkdir(parents=True, exist_ok=True)
        (given.out / "research_ablations.json").write_text(json.dumps(rows, indent=1), encoding="utf-8")
        (given.out / "research_rounds.svg").write_text(plot(rows), encoding="utf-8")


def plot(rows: Sequence[Mapping[str, Any]]) -> str:
    """An SVG: the share of the evidence that was read, by rounds, one line for each number of passages a round."""
    shares = {row["arm"]: row["recall"] for row in rows}

    def place(rounds: int, share: float) -> tuple[float, float]:
        across = _EDGE + (rounds - ROUNDS[0]) / (ROUNDS[-1] - ROUNDS[0]) * (_WIDTH - 3 * _EDGE)
        return across, _HEIGHT - _EDGE - share * (_HEIGHT - 2 * _EDGE)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{_HEIGHT}" font-family="sans-serif" font-size="12">'
    ]
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        (left, level), (right, _) = place(ROUNDS[0], share), place(ROUNDS[-1], share)
        parts.append(f'<line x1="{left}" y1="{level}" x2="{right}" y2="{level}" stroke="#ddd"/>')
        parts.append(f'<text x="{left - 40}" y="{level + 4}">{share:.2f}</text>')
    for rounds in ROUNDS:
        parts.append(f'<text x="{place(rounds, 0)[0] - 4}" y="{_HEIGHT - 24}">{rounds}</text>')
    parts.append(f'<text x="{_WIDTH / 2 - 60}" y="{_HEIGHT - 6}">rounds</text><text x="8" y="20">evidence read</text>')
    for colour, passages in zip(_COLOURS, PASSAGES, strict=True):
        points = [place(rounds, shares[f"read in {rounds} × {passages}"]) for rounds in ROUNDS]
        line = " ".join(f"{across:.1f},{level:.1f}" for across, level in points)
        parts.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts.append(
            f'<text x="{points[-1][0] + 6:.1f}" y="{points[-1][1] + 4:.1f}" fill="{colour}">{passages} a round</text>'
        )
    return "\n".join([*parts, "</svg>"])


if __name__ == "__main__":
    main()
