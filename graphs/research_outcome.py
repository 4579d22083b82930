"""The outcome of a run as JSON: evidence in order of time, what would be read next, and the answer in its three forms."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from datetime import datetime, tzinfo
from typing import Any

from hexamem.graphs.research_filter import EvidenceFilter
from hexamem.graphs.research_reading import candidates, passages_of
from hexamem.memory_types import new_id
from hexamem.memory_types.local_time import day_alone, in_zone
from hexamem.stores.ledger import Transaction
from hexamem.stores.ledger.pages import get_pages, page_steps, pages_holding
from hexamem.stores.secrets import format_references

__all__ = ["finished"]

_FURTHER = 40


def finished(
    tx: Transaction, state: Mapping[str, Any], *, zone: tzinfo, not_held: str, filters: EvidenceFilter
) -> dict[str, Any]:
    """The fields of a :class:`~hexamem.memory_types.research.Research`, without what fell back."""
    rest = candidates(state["pool"][:_FURTHER])
    further = passages_of(tx, rest, 0, filters=filters) if tx.user_id else []
    claims: list[dict[str, Any]] = sorted(
        state["claims"] if state["answerable"] else [],
        key=lambda one: (one["occurred_at"] is None, one["occurred_at"] or "", one["passage_id"]),
    )
    step_ids = list(dict.fromkeys(step_id for one in claims for step_id in one["step_ids"]))
    on_page = pages_holding(tx, step_ids) if tx.user_id and step_ids else {}
    read = [{**one, "page_id": one.get("page_id") or on_page.get(one["id"])} for one in state["read"]]
    page_ids = list(dict.fromkeys(on_page[step_id] for step_id in step_ids if step_id in on_page))
    answer = state["answer"] or not_held
    form = state.get("form") or "text"
    parts = [answer]
    if form != "text" and state["answerable"]:
        cited = {one["passage_id"] for one in claims}
        if form == "passages":
            parts += _passage_lines([one for one in read if one["id"] in cited], zone)
        else:
            parts += _page_texts(tx, page_ids, zone, filters)
    spent: Mapping[str, float] = state["spent"]
    return {
        "id": new_id("research"),
        "question": state["asked_as"],
        "tier": state["chosen"],
        "why_tier": state["why_tier"],
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


def _passage_lines(passages: Sequence[Mapping[str, Any]], zone: tzinfo) -> list[str]:
    """Passages in order of time, with who said them and when."""
    ordered = sorted(
        passages, key=lambda one: (one.get("occurred_at") is None, one.get("occurred_at") or "", one["id"])
    )
    lines = []
    for one in ordered:
        day = ""
        if one.get("occurred_at"):
            local = in_zone(datetime.fromisoformat(one["occurred_at"]), zone)
            day = f"[{local:%Y-%m-%d}] " if day_alone(local, one["kind"]) else f"[{local:%Y-%m-%d %H:%M}] "
        who = f"{one['speaker']}: " if one.get("speaker") else ""
        lines.append(f"{day}{who}{one['text']}")
    return ["\n".join(lines)] if lines else []


def _page_texts(tx: Transaction, page_ids: Sequence[str], zone: tzinfo, filters: EvidenceFilter) -> list[str]:
    """Whole pages behind their headers, in the order of the evidence; of a page only what may be read."""
    rows = get_pages(tx, page_ids) if page_ids else {}
    steps = page_steps(tx, list(rows.values())) if rows else {}
    found = []
    for page_id in page_ids:
        every = [one for one in steps.get(page_id, ()) if one.active]
        permitted = filters.among(tx, [one.id for one in every])
        said = [one for one in every if one.id in permitted]
        if page_id not in rows or not said:
            continue
        lines = [rows[page_id].header] if rows[page_id].header and len(said) == len(every) else []
        lines += [
            f"[{in_zone(one.occurred_at, zone):%Y-%m-%d %H:%M}] {one.speaker}: {format_references(one.text)}"
            for one in said
        ]
        found.append("\n".join(lines))
    return found
