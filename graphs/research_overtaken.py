"""What took the place of what an answer tells: "My cat is called Mio" is not left without "Mio died"."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import tzinfo
from typing import Any

from ..agents.research_rules.integrating import claim_of
from ..agents.research_rules.own_facts import asks_of_past
from ..agents.research_rules.question import Question, Stems, holds
from ..agents.research_rules.text_reader import TextReader
from ..memory_types import MemoryItem
from ..memory_types.research import Claim, Passage
from ..retrieval.evidence import Ranked
from ..stores.ledger import Transaction, get_items
from ..stores.ledger.items import believed_now, items_citing
from .research_filter import EvidenceFilter
from .research_reading import passages_of

__all__ = ["overtaking", "with_overtaking"]

_MOST = 2


def overtaking(
    tx: Transaction, question: Question, claims: Sequence[Claim], reader: TextReader, *, number: int
) -> list[dict[str, Any]]:
    """Passages of the items that took the place of what was learned from the claims' steps, as JSON; at most two.

    Only of what bears on the question: of "I'm 34 and live in Bristol with Marcus" a question about Marcus gets no later home.
    """
    if not claims or not tx.user_id or asks_of_past(question.text):
        return []
    read = reader.stems
    told = {one.passage_id for one in claims}
    said = {step_id for one in claims for step_id in one.step_ids}
    found: dict[str, MemoryItem] = {}
    for one in claims:
        quote = read(one.quote)
        for former in get_items(tx, items_citing(tx, one.step_ids)).values():
            if former.status != "superseded" or former.kind not in ("core", "semantic"):
                continue
            words = read(former.text)
            asked = _bears_on(question, words, read)
            now = believed_now(tx, former) if asked and words & quote else None
            if now is None or now.kind == "vault" or now.id in told:
                continue
            if said.isdisjoint(source.step_id for source in now.sources):
                found[now.id] = now
    ranked = [Ranked(one, 0.0) for one in list(found)[:_MOST]]
    return passages_of(tx, ranked, number, items=found, filters=EvidenceFilter()) if ranked else []


def with_overtaking(
    claims: Iterable[Claim], passages: Iterable[Passage], zone: tzinfo, number: int
) -> tuple[Claim, ...]:
    """Claims with those that tell what took their place, in order of time."""
    later = [claim_of(one, one.text.partition("\n")[2] or one.text, zone, number) for one in passages]
    every = [*claims, *later]
    return tuple(sorted(every, key=lambda one: (one.occurred_at is None, one.occurred_at, one.passage_id)))


def _bears_on(question: Question, words: frozenset[str], read: Stems) -> bool:
    """Whether words tell of whom or what a question asks, in any of its words."""
    if question.names and not any(read(name) <= words for name in question.names):
        return False
    if question.whose and not any(holds(question, words, one, read) for one in question.whose):
        return False
    return any(holds(question, words, word, read) for word in (*question.words, *question.whose))
