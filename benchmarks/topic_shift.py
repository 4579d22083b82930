"""How often a run that has come to talk about something else is noticed, and how often one that has not is taken for it.

Run: ``python benchmarks/topic_shift.py [--pairs 400] [--json OUT]``. From the conversations of ``evals/corpus/open`` a
question is taken as what a run began with. The turns beside its evidence are what is talked about then: of the same
question (the same matter), or of one from another conversation (something else). No model.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from hexamem.evals.locomo import load_locomo
from hexamem.middleware import MiddlewareSettings, topic_likeness

OPEN = Path(__file__).resolve().parents[1] / "evals" / "corpus" / "open"


def main() -> None:
    """Compare, count, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=400)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    asked = [one for path in sorted(OPEN.glob("*.json")) for one in _asked(path)]
    bound = MiddlewareSettings().topic_shift or 0.0
    table = Table("conversations", "recognised by", "another matter, noticed", "the same, taken for another")
    rows = []
    for name, some in (("English", [one for one in asked if not one[0].startswith("zh")]),
                       ("Chinese", [one for one in asked if one[0].startswith("zh")])):  # fmt: skip
        for turns in (1, 3):
            same, other = _compared(some, turns, given.pairs)
            noticed, mistaken = float(np.mean(np.array(other) < bound)), float(np.mean(np.array(same) < bound))
            rows.append({"conversations": name, "turns": turns, "noticed": noticed, "mistaken": mistaken})
            table.add_row(name, "a turn" if turns == 1 else f"{turns} turns", f"{noticed:.0%}", f"{mistaken:.0%}")
    Console().print(table)
    print(f"recalled again below {bound}; {given.pairs} pairs of each")
    if given.json is not None:
        given.json.write_text(json.dumps({"bound": bound, "rows": rows}, indent=1), "utf-8")


def _asked(path: Path) -> list[tuple[str, str, list[str]]]:
    """Conversation, question, and the turns from its evidence on."""
    (conversation,) = load_locomo(path)
    texts = {str(message.id): str(message.content) for message in conversation.messages}
    order = list(texts)
    return [
        (path.stem, question.text, [texts[turn] for turn in order[at : at + 3]])
        for question in conversation.questions
        if question.evidence and question.category != "5"
        for at in [order.index(question.evidence[0])]
    ]


def _compared(asked: Sequence[tuple[str, str, list[str]]], turns: int, pairs: int) -> tuple[list[float], list[float]]:
    rng = random.Random(1)
    same, other = [], []
    for talk, question, spoken in rng.sample(list(asked), min(pairs, len(asked))):
        elsewhere = rng.choice([one for one in asked if one[0] != talk])
        same.append(topic_likeness(" ".join(spoken[:turns]), [question]))
        other.append(topic_likeness(" ".join(elsewhere[2][:turns]), [question]))
    return same, other


if __name__ == "__main__":
    main()
