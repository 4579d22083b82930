"""Extractive headers and memos of pages, without a model (GAM, arXiv 2511.18423, section 3.1).

A memo is the first sentences of the turns within a number of words, those of the user before the others. A memo of memos
(digest) is their first parts. A header names the speakers, the time and the scope, and ends with the page before.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo

from hexamem.memory_types.local_time import in_zone
from hexamem.models.sentences import CJK, clipped, size_of, split_sentences

__all__ = ["DIGEST_WORDS", "MEMO_WORDS", "MemoStep", "digest_text", "page_header", "page_memo"]

MEMO_WORDS = 110
"""Words of the memo of a page, at most. A Chinese character counts as half a word."""
DIGEST_WORDS = 100
"""Words of a memo of memos, at most."""
_SENTENCE_WORDS, _LEAST_WORDS = 22, 3
_LONGEST_STEP = 1_600  # characters
_BAR = " · "
_DAY_FIRST = re.compile(r"(\d{4}-\d\d-\d\d) ")


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoStep:
    """A step as input of memos.

    Attributes:
        text: its text with references resolved and captions in place of secrets.
    """

    speaker: str
    role: str
    text: str
    occurred_at: datetime


def page_memo(steps: Sequence[MemoStep]) -> str:
    """The first sentences of the steps, in at most :data:`MEMO_WORDS`; "" where they have no words."""
    firsts = [(step, _first_sentence(step.text)) for step in steps]
    firsts = [(step, sentence) for step, sentence in firsts if size_of(sentence) >= _LEAST_WORDS] or [
        (step, sentence) for step, sentence in firsts if sentence
    ]
    left = float(MEMO_WORDS)
    chosen: set[int] = set()
    for users in (True, False):
        for place, (step, sentence) in enumerate(firsts):
            cost = size_of(sentence) + 1
            if (step.role == "user") == users and cost <= left:
                chosen.add(place)
                left -= cost
    return _joined([(step.speaker, sentence) for place, (step, sentence) in enumerate(firsts) if place in chosen])


def _first_sentence(text: str) -> str:
    sample = text[:_LONGEST_STEP]
    for start, end in split_sentences(sample):
        sentence = " ".join(sample[start:end].strip(" \t-*•–—#>|").split())
        if any(map(str.isalnum, sentence)):
            return sentence if size_of(sentence) <= _SENTENCE_WORDS else clipped(sentence, _SENTENCE_WORDS)
    return ""


def _joined(parts: Sequence[tuple[str, str]]) -> str:
    """``Ann: a sentence · another · Ben: …``: consecutive parts of one speaker have the name once."""
    lines: list[str] = []
    last: str | None = None
    for speaker, part in parts:
        text = part.replace(_BAR, ", ").rstrip(" .。;；,，")
        if speaker and speaker != last:
            text = f"{speaker}: {text}" if text.isascii() or not CJK.search(text) else f"{speaker}：{text}"
        lines.append(text)
        last = speaker
    return _BAR.join(lines)


def digest_text(memos: Sequence[tuple[str, datetime]], zone: tzinfo, *, words: int = DIGEST_WORDS) -> str:
    """A memo of memos: the first parts of each, preceded by the day where it changes.

    Args:
        memos: texts with the start of what they cover, in order; memos of memos contain their days.
        zone: the user's timezone.
        words: the most words.
    """
    share = max(2.0, words / max(len(memos), 1) - 1)
    left = float(words)
    lines: list[str] = []
    last = ""
    for text, stored_at in memos:
        day = in_zone(stored_at, zone).date().isoformat()
        room = min(share, left)
        for piece in text.split(_BAR):
            dated = _DAY_FIRST.match(piece)
            day, part = (dated[1], piece[dated.end() :]) if dated else (day, piece)
            if room < 2 or not part:
                break
            shown = part if size_of(part) <= room else clipped(part, room)
            lines.append(shown if day == last else f"{day} {shown}")
            cost = size_of(shown) + (day != last)
            room, left, last = room - cost, left - cost, day
    return _BAR.join(lines)


def page_header(
    steps: Sequence[MemoStep],
    zone: tzinfo,
    *,
    session: int = 1,
    scope: str = "",
    before: str = "",
    before_at: datetime | None = None,
) -> str:
    """The context that a reader of the page alone needs, on one line.

    Args:
        session: the number of the session in the thread.
        scope: the path of the page's main scope.
        before: the memo of the page before in the thread.
        before_at: the end of that page.
    """
    if not steps:
        return ""
    who = list(dict.fromkeys(step.speaker for step in steps))
    named = who[:4] + ([f"+{len(who) - 4}"] if len(who) > 4 else [])
    first, last = (in_zone(step.occurred_at, zone) for step in (steps[0], steps[-1]))
    end = (
        ""
        if first.strftime("%F %H:%M") == last.strftime("%F %H:%M")
        else last.strftime("%H:%M" if first.date() == last.date() else "%F %H:%M")
    )
    when = f"{first:%F %H:%M}" + (f"–{end}" if end else "")
    ending = _last_parts(before, 26)
    parts = [" and ".join(named) if len(named) < 3 else ", ".join(named), when]
    parts.append(f"session {session}" if session > 1 else "")
    line = ", ".join(part for part in parts if part)
    line += f". About: {scope}" if scope else ""
    return line + (f". Before ({in_zone(before_at, zone):%F}): {ending}" if ending and before_at else "")


def _last_parts(memo: str, words: float) -> str:
    """The last parts of a memo within a number of words."""
    chosen: list[str] = []
    for piece in reversed(memo.split(_BAR)) if memo else ():
        words -= size_of(piece)
        if words < 0 and chosen:
            break
        chosen.append(piece if size_of(piece) <= 28 else clipped(piece, 24))
    return _BAR.join(reversed(chosen))
