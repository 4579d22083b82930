"""The outcome of a run as JSON: evidence in order of time, unread candidates, and the answer in its three forms; with it
the facts that superseded what the answer quotes: "My cat is called Mio" is shown with "Mio died".
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, tzinfo
from typing import Any

from hexamem.agents.embedded_research import THRESHOLDS, Encode
from hexamem.agents.research_question import Question
from hexamem.agents.research_showing import in_time_order
from hexamem.graphs.research_lanes import EvidenceFilter
from hexamem.graphs.research_reading import candidates, passages_of, permitted_pages
from hexamem.memory_types import MemoryItem, new_id
from hexamem.memory_types.local_time import day_alone, in_zone
from hexamem.memory_types.research import Claim, Passage
from hexamem.retrieval.evidence import Ranked
from hexamem.retrieval.packing import item_text
from hexamem.stores.ledger import Transaction, get_items
from hexamem.stores.ledger.items import believed_now, items_citing
from hexamem.stores.ledger.pages import pages_holding
from hexamem.stores.secrets import format_references

_FURTHER = 40
_MOST_CURRENT = 2


def finished(
    tx: Transaction, state: Mapping[str, Any], *, zone: tzinfo, not_held: str, filters: EvidenceFilter
) -> dict[str, Any]:
    """The fields of a :class:`~hexamem.memory_types.research.Research`, without ``degraded``."""
    rest = candidates(state["pool"][:_FURTHER])
    further = passages_of(tx, rest, 0, filters=filters) if tx.user_id else []
    claims: list[dict[str, Any]] = sorted(
        state["claims"] if state["answerable"] else [],
        key=lambda claim: (claim["occurred_at"] is None, claim["occurred_at"] or "", claim["passage_id"]),
    )
    step_ids = list(dict.fromkeys(step_id for claim in claims for step_id in claim["step_ids"]))
    on_page = pages_holding(tx, step_ids) if tx.user_id and step_ids else {}
    read = [{**claim, "page_id": claim.get("page_id") or on_page.get(claim["id"])} for claim in state["read"]]
    page_ids = list(dict.fromkeys(on_page[step_id] for step_id in step_ids if step_id in on_page))
    answer = state["answer"] or not_held
    form = state.get("form") or "text"
    parts = [answer]
    if form != "text" and state["answerable"]:
        cited = {claim["passage_id"] for claim in claims}
        if form == "passages":
            parts += _passage_lines([claim for claim in read if claim["id"] in cited], zone)
        else:
            parts += _page_texts(tx, page_ids, zone, filters)
    spent: Mapping[str, float] = state["spent"]
    return {
        "id": new_id("research"),
        "question": state["asked_as"],
        **_tier(state),
        "form": form,
        "answer": answer,
        "answerable": state["answerable"],
        "context": "\n\n".join(part for part in parts if part),
        "evidence": claims,
        "passages": read,
        "further": further,
        "pages": page_ids,
        "rounds": list(state["rounds"]),
        "enough": state["current"].get("enough"),
        "usage": {
            "calls": int(spent.get("calls", 0)),
            "input_tokens": int(spent.get("input_tokens", 0)),
            "output_tokens": int(spent.get("output_tokens", 0)),
            "seconds": float(spent.get("seconds", 0.0)),
        },
        "elapsed_ms": (time.time() - state["began"]) * 1_000,
    }


def _tier(state: Mapping[str, Any]) -> dict[str, str]:
    """The tier that was used, and why."""
    if state["chosen"] != "auto":
        return {"tier": state["chosen"], "why_tier": state["why_tier"]}
    if state["number"] == 1:
        return {"tier": "one_shot", "why_tier": "the model asked for no further searches"}
    return {"tier": "deep", "why_tier": "the model asked for further searches"}


def _passage_lines(passages: Sequence[Mapping[str, Any]], zone: tzinfo) -> list[str]:
    """Passages in order of time, each with its time and speaker."""
    ordered = sorted(
        passages,
        key=lambda passage: (passage.get("occurred_at") is None, passage.get("occurred_at") or "", passage["id"]),
    )
    lines = []
    for passage in ordered:
        day = ""
        if passage.get("occurred_at"):
            local = in_zone(datetime.fromisoformat(passage["occurred_at"]), zone)
            day = f"[{local:%Y-%m-%d}] " if day_alone(local, passage["kind"]) else f"[{local:%Y-%m-%d %H:%M}] "
        speaker = f"{passage['speaker']}: " if passage.get("speaker") else ""
        lines.append(f"{day}{speaker}{passage['text']}")
    return ["\n".join(lines)] if lines else []


def _page_texts(tx: Transaction, page_ids: Sequence[str], zone: tzinfo, filters: EvidenceFilter) -> list[str]:
    """Whole pages after their headers, in the order of the evidence; of a page only the steps that may be read."""
    texts = []
    for row, steps, whole in permitted_pages(tx, page_ids, filters):
        lines = [row.header] if row.header and whole else []
        lines += [
            f"[{in_zone(step.occurred_at, zone):%Y-%m-%d %H:%M}] {step.speaker}: {format_references(step.text)}"
            for step in steps
        ]
        texts.append("\n".join(lines))
    return texts


def superseding(
    tx: Transaction, question: Question, claims: Sequence[Claim], encode: Encode, *, number: int
) -> list[dict[str, Any]]:
    """Passages of the current items that superseded items learned from the claims' steps, as JSON; at most two.

    Only if the superseded item is near to the question, by the threshold of a follow-up query: a question about Marcus,
    answered by "I'm 34 and live in Bristol with Marcus", is not answered with a later home.
    """
    if not claims or not tx.user_id:
        return []
    cited = {step_id for claim in claims for step_id in claim.step_ids}
    quoted = {claim.passage_id for claim in claims}
    former = [
        item
        for item in get_items(tx, items_citing(tx, sorted(cited))).values()
        if item.status == "superseded" and item.kind in ("core", "semantic")
    ]
    if not former:
        return []
    query, *texts = encode([question.undated, *(item_text(item.kind, item.text) for item in former)])
    current: dict[str, MemoryItem] = {}
    for item, text in zip(former, texts, strict=True):
        now = believed_now(tx, item) if float(query.vector @ text.vector) >= THRESHOLDS.follows else None
        if now is None or now.kind == "vault" or now.id in quoted:
            continue
        if cited.isdisjoint(source.step_id for source in now.sources):
            current[now.id] = now
    ranked = [Ranked(item_id, 0.0) for item_id in list(current)[:_MOST_CURRENT]]
    return passages_of(tx, ranked, number, items=current, filters=EvidenceFilter()) if ranked else []


def with_superseding(claims: Iterable[Claim], passages: Iterable[Passage], number: int) -> tuple[Claim, ...]:
    """Claims with those of the current items, in order of time."""
    later = []
    for passage in passages:
        quote = passage.text.partition("\n")[2] or passage.text
        later.append(
            Claim(
                text=quote,
                quote=quote,
                passage_id=passage.id,
                step_ids=tuple(source.step_id for source in passage.sources[:1]),
                occurred_at=passage.occurred_at,
                precision=passage.precision,
                round=number,
            )
        )
    return in_time_order((*claims, *later))
