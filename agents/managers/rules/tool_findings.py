"""Findings from what tools answer: confirmed bookings, and nothing else."""

from __future__ import annotations

import json
from datetime import tzinfo

from .... import lazy_re as re
from ....intent.dates.relative import find_dates
from ....memory_types.proposals import Evidence
from ....memory_types.step import Step
from .finding import Finding
from .words import content_words

__all__ = ["booking_findings"]

_PASSING = re.compile(
    r"left|remaining|available|count|score|version|token|cache|latency|elapsed|updated|status|debug|trace|request",
    re.IGNORECASE,
)
"""Fields of an answer that tell of the tool, or of the moment, and not of what is booked."""
_BOOKED = frozenset({"confirmed", "booked", "reserved", "ticketed", "scheduled", "ordered"})


def booking_findings(step: Step, zone: tzinfo) -> list[Finding]:
    """A booking that a tool confirms: a JSON object with such a status and a date in full."""
    content = step.content
    if not content.lstrip().startswith("{") or len(content) > 4_000:
        return []
    try:
        answer = json.loads(content)
    except (ValueError, RecursionError):
        return []
    if not isinstance(answer, dict) or str(answer.get("status", "")).casefold() not in _BOOKED:
        return []
    flat = {
        str(key): str(value)
        for key, value in answer.items()
        if isinstance(value, str | int | float) and key != "status"
    }
    dates = [
        (key, span)
        for key, value in flat.items()
        for span in find_dates(value, step.occurred_at, zone)
        if span.told and span.precision == "day"
    ]
    if not dates:
        return []
    words = ", ".join(
        f"{key} {value}" for key, value in flat.items() if "vault:" not in value and not _PASSING.search(key)
    )[:300]
    moment = dates[0][1].moment(zone)
    told = re.search(r"[T ](\d\d):(\d\d)", flat[dates[0][0]])
    if told and int(told[1]) < 24 and int(told[2]) < 60:
        moment = moment.replace(hour=int(told[1]), minute=int(told[2]))
    return [
        Finding(
            kind="episodic",
            confidence=0.85,
            reason="booking confirmed by a tool",
            evidence=(Evidence(step_id=step.id, quote=content.strip()[:400]),),
            values={"occurred_at": moment, "actor": "user", "event_type": "booking", "summary": f"Booked: {words}"},
            slot=f"event:{step.id}:0",
            said_by="tool",
            topics=content_words(words),
            when=dates[0][1],
        )
    ]
