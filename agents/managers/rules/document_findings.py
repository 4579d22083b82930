"""Findings from documents: the document itself, the days it announces, and who takes charge of what."""

from __future__ import annotations

from datetime import tzinfo

from .... import lazy_re as re
from ....memory_types.proposals import Evidence
from ....memory_types.step import Step
from .dated_lines import dated_lines
from .documents import Document
from .finding import Finding, quote_of
from .sentences import LONGEST
from .words import NAME, content_words

__all__ = ["document_findings", "resource_finding"]

_OWNS = re.compile(
    rf"(?:[-*•]\s*|^)(?P<what>(?P<name>{NAME})\s(?:takes over|owns|is responsible for|leads"
    rf"|is in charge of|looks after|handles|replaces|reports to)\s[^\n.;]{{3,120}})"
    r"|(?P<zh>(?P<zhname>[小老阿]?[\u4e00-\u9fff]{1,2})"
    r"(?:从[\u4e00-\u9fff]{1,4}手[里上中]?接[过手管]|负责|接手|接管)[^\n。；;，]{2,40})",
    re.MULTILINE,
)


def resource_finding(document: Document, step: Step) -> Finding:
    """A document as an item to be kept whole."""
    lines = (line.strip() for line in document.content.split("\n"))
    first = next((line[:200] for line in lines if re.search(r"\w{2}", line)), "") if document.start >= 0 else ""
    quote = first if first and first in step.content else step.content.strip()[:200] or document.title
    return Finding(
        kind="resource",
        confidence=0.9,
        reason="document",
        evidence=(Evidence(step_id=step.id, quote=quote),),
        topics=content_words(document.title),
        values={
            "title": document.title[:200],
            "summary": document.summary[:400],
            "resource_type": document.resource_type,
            "content": document.content,
        },
    )


def document_findings(document: Document, step: Step, zone: tzinfo) -> list[Finding]:
    """What a document announces: its dated lines, and who takes charge of what. Nothing in it is about the user."""
    found: list[Finding] = []
    body = document.content
    for event in dated_lines(body, step.occurred_at, zone, document.title):
        if event.when is None:
            continue
        finding = Finding(
            kind="episodic",
            slot=f"event:{step.id}:d{event.start}",
            evidence=(quote_of(body, event.start, event.end, step.id),),
            confidence=event.confidence,
            values={
                "occurred_at": event.when.moment(zone),
                "actor": document.title[:60],
                "event_type": event.event_type,
                "summary": event.summary[:400],
            },
            reason="dated line of a document",
            topics=event.topics,
            when=event.when,
        )
        found.append(finding)
    for match in list(_OWNS.finditer(body[:LONGEST]))[:4]:
        name = match["name"] or match["zhname"]
        summary = (match["what"] or match["zh"]).strip()
        found.append(
            Finding(
                kind="semantic",
                values={"name": name, "summary": summary, "source": document.title[:120]},
                confidence=0.7,
                reason="told in a document",
                evidence=(quote_of(body, *match.span("what" if match["what"] else "zh"), step.id),),
                topics=content_words(summary),
            )
        )
    return found
