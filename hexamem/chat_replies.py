"""The replies of a chat without a model: the sentences that research extracted, or the lines nearest to the question."""

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


def reply_by_evidence(user: UserMemory, research: Research) -> str:
    """The extracted sentences, each with its day and speaker; without any, the lines nearest to the question.

    A message without a question mark may be a statement: the reply begins with the note that it is stored.
    """
    is_question = any(mark in research.question for mark in QUESTION_MARKS)
    if research.answerable and research.evidence:
        lines = [_Line(claim.quote, claim.occurred_at, claim.speaker, claim.step_ids) for claim in research.evidence]
        return "\n".join(["From memory:" if is_question else f"{STORED} Near to it in memory:", *_shown(user, lines)])
    if not is_question:
        return STORED
    near = [
        _Line(
            item_text(passage.kind, passage.text),
            passage.occurred_at,
            passage.speaker,
            tuple(source.step_id for source in passage.sources),
        )
        for passage in nearest_passages(research)
    ]
    if not near:
        return "Memory holds nothing on this."
    return "\n".join(["Memory holds no clear answer. Nearest to it:", *_shown(user, near)])


def nearest_passages(research: Research) -> list[Passage]:
    """The best passages: quoted ones first, then in the order of reading, without mere questions; of a step and the items
    extracted from it only the first."""
    cited = {claim.passage_id for claim in research.evidence}
    shown: set[str] = set()
    near = []
    for passage in sorted(research.passages, key=lambda passage: passage.id not in cited):
        steps = {source.step_id for source in passage.sources}
        if (steps and steps <= shown) or asks_only(item_text(passage.kind, passage.text)):
            continue
        shown |= steps
        near.append(passage)
    return near[:_NEAREST]


def _shown(user: UserMemory, lines: Sequence[_Line]) -> list[str]:
    """Lines for the reader, with captions of secrets replaced by whole references."""
    zone, shown = read_zone(user.timezone), []
    with user.memory.ledger.read(user.name) as tx:
        steps = get_steps(tx, {step_id for line in lines for step_id in line.step_ids})
    for line in lines:
        text = " ".join(line.text.split())
        for step_id in line.step_ids:
            content = steps[step_id].content if step_id in steps else ""
            for span in find_references(content):
                reference = content[span.start : span.end]
                text = text.replace(format_references(reference), reference, 1)
        day = f"{in_zone(line.occurred_at, zone):%Y-%m-%d}, " if line.occurred_at else ""
        shown.append(f"- “{text}” ({day}{line.speaker or 'learned'})")
    return shown
