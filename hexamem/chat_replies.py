"""What a chat without a model replies: the sentences that research extracted, or the lines nearest to the question."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from hexamem.agents.embedded_research import QUESTION_MARKS, asks_only
from hexamem.memory_types.local_time import in_zone
from hexamem.memory_types.research import Passage, Research
from hexamem.memory_types.times import read_zone
from hexamem.retrieval.packing import item_text
from hexamem.stores.ledger import get_steps
from hexamem.stores.secrets import find_references, format_references

if TYPE_CHECKING:
    from hexamem.user import UserMemory

__all__ = ["NO_MODEL", "STORED", "nearest_passages", "reply_by_evidence"]

NO_MODEL = (
    "(No model is set: I answer with sentences from memory, and do nothing that a message asks for. Ask with a question "
    "mark; in the terminal /forget takes records out of memory.)"
)
STORED = "Your message is stored."
_NEAREST = 3


class _Line(NamedTuple):
    text: str
    occurred_at: datetime | None
    speaker: str | None
    step_ids: tuple[str, ...]


def reply_by_evidence(user: UserMemory, found: Research) -> str:
    """The extracted sentences, each with its day and speaker; where there are none, that there are none and the nearest
    lines. A message without a question mark need not be a question: it is stored, and sentences stand beside that.
    """
    asked = any(mark in found.question for mark in QUESTION_MARKS)
    if found.answerable and found.evidence:
        lines = [_Line(one.quote, one.occurred_at, one.speaker, one.step_ids) for one in found.evidence]
        return "\n".join(["From memory:" if asked else f"{STORED} Near to it in memory:", *_shown(user, lines)])
    if not asked:
        return STORED
    near = [
        _Line(item_text(one.kind, one.text), one.occurred_at, one.speaker, tuple(each.step_id for each in one.sources))
        for one in nearest_passages(found)
    ]
    if not near:
        return "Memory holds nothing on this."
    return "\n".join(["Memory holds no clear answer. Nearest to it:", *_shown(user, near)])


def nearest_passages(found: Research) -> list[Passage]:
    """The passages that are quoted, then those that were read first and are no mere questions; of a step and the items with
    that source only one."""
    cited = {one.passage_id for one in found.evidence}
    shown: set[str] = set()
    near = []
    for one in sorted(found.passages, key=lambda one: one.id not in cited):
        steps = {source.step_id for source in one.sources}
        if (steps and steps <= shown) or asks_only(item_text(one.kind, one.text)):
            continue
        shown |= steps
        near.append(one)
    return near[:_NEAREST]


def _shown(user: UserMemory, lines: Sequence[_Line]) -> list[str]:
    """Lines for the reader, secrets as whole references."""
    zone, shown = read_zone(user.timezone), []
    with user.memory.ledger.read(user.name) as tx:
        steps = get_steps(tx, {step_id for one in lines for step_id in one.step_ids})
    for one in lines:
        text = " ".join(one.text.split())
        for step_id in one.step_ids:
            content = steps[step_id].content if step_id in steps else ""
            for each in find_references(content):
                reference = content[each.start : each.end]
                text = text.replace(format_references(reference), reference, 1)
        day = f"{in_zone(one.occurred_at, zone):%Y-%m-%d}, " if one.occurred_at else ""
        shown.append(f"- “{text}” ({day}{one.speaker or 'learned'})")
    return shown
