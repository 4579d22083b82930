"""Dated events that a document announces: its sentences and lines with a day."""

from __future__ import annotations

import re
from datetime import datetime, tzinfo

from ....intent.dates.relative import find_dates
from ....intent.dates.spans import DateSpan
from .event_changes import Event
from .event_words import CHANGED_RANGE, CHANGED_ZH, MOVED, TYPE_RULES
from .words import content_words

__all__ = ["dated_lines"]


def dated_lines(content: str, said_at: datetime, zone: tzinfo, title: str) -> list[Event]:
    """The dated events that a document announces: sentences or lines with a day, less its headers.

    Args:
        content: the document; its first 4,000 characters.
        title: of the document, put before each event.
    """
    found: list[Event] = []
    position = 0
    for line in content[:4_000].splitlines(keepends=True):
        offset, position = position, position + len(line)
        if re.match(
            r"\s*(?:from|to|date|sent|cc|subject|present|attendees|日期|时间|参会|出席|主题|发件人|收件人)\s?[:：]",
            line,
            re.IGNORECASE,
        ):
            continue
        if offset == 0 or re.match(r"\s*#", line):
            continue
        for part in re.finditer(r"[^.。!！?？\n]+(?:\.\d[^.。!！?？\n]*)*[.。!！?？]?", line):
            text = part[0].strip(" -*•\t").rstrip("\r")
            text = re.sub(
                r"^(?:action|todo|待办|[一二三四五六七八九十]{1,2}、|\d{1,2}[.)])\s?[:：]?\s*",
                "",
                text,
                flags=re.IGNORECASE,
            )
            if (
                "“" in text
                or '"' in text
                or re.search(r"\b(?:if|maybe|idea|might)\b|待定|如果|可能", text, re.IGNORECASE)
            ):
                continue
            spans = [span for span in find_dates(text, said_at, zone, prefer="future") if span.precision == "day"]
            if not spans or not content_words(text):
                continue
            span = (
                spans[-1]
                if len(spans) > 1 and (CHANGED_ZH.search(text[: spans[-1].start]) or MOVED.search(text))
                else spans[0]
            )
            changed = span.last_day != span.day and CHANGED_RANGE.search(text[: span.start])
            if changed:
                span = DateSpan(
                    start=span.start,
                    end=span.end,
                    text=span.text,
                    day=span.last_day,
                    last_day=span.last_day,
                    told=span.told,
                )
            at = content.find(part[0], offset)
            found.append(
                Event(
                    start=at,
                    end=at + len(part[0]),
                    summary=f"{title}: {text.rstrip('.。')} ({span.iso})",
                    when=span,
                    event_type=next((name for name, rule in TYPE_RULES if rule.search(text)), "event"),
                    topics=content_words(text),
                    confidence=0.7,
                )
            )
            if len(found) >= 6:
                return found
    return found
