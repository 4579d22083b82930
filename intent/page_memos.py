"""Headers and memos of pages by rules, all taken from what was said (GAM, arXiv 2511.18423, section 3.1).

A memo is the few sentences of a page that say most: names, numbers, dates, what was decided, done and told of oneself;
each with its speaker, days in words followed by their date, nothing said twice. A memo of memos is made of the same
parts by the same measure. A header tells who spoke, when, about what, and what was said right before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo

from .. import lazy_re as re
from ..memory_types.local_time import in_zone
from .dates.relative import find_dates
from .page_sentences import CJK, OPENER, SENTENCE_WORDS, SPLIT, clipped, size_of, weigh

__all__ = [
    "DIGEST_WORDS",
    "MEMO_WORDS",
    "MemoPart",
    "SaidStep",
    "digest_text",
    "memo_parts",
    "page_header",
    "page_memo",
]

MEMO_WORDS = (50, 110)
"""Words that the memo of a page has room for, by how much is said: a short page, a long one. A Chinese character counts
as half a word."""
DIGEST_WORDS = 100
"""Words of a memo of memos, at most."""
_DIGEST_SENTENCE = 18
_EACH_STEP = 2
_WORDS_A_WORD = 10  # so many words of a page give its memo room for one more
_READ = 1_600  # characters of a long step; of its end half as many
_SENTENCES = 14
_OVERLAP = 0.6
_WORTH = 0.6
_BAR = " · "
_DAY_FIRST = re.compile(r"(\d{4}-\d\d-\d\d) ")
_SPEAKER = re.compile(r"([^:：·.!?。]{1,40})[:：]\s*(?=\S)")
_ACTS = {
    **dict.fromkeys(("decide", "report", "plan"), 0.9),
    **dict.fromkeys(("inform", "request", "claim", "raise problem", "propose", "cite evidence", "summarize"), 0.3),
    **dict.fromkeys(("ask", "socialize"), -0.6),
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class SaidStep:
    """A step as memos read it.

    Attributes:
        text: with references put into words, secrets as captions.
        acts: names of its event types, wide ones first.
    """

    speaker: str
    role: str
    text: str
    occurred_at: datetime
    acts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MemoPart:
    """A sentence that may stand in a memo: what it says, how much that weighs, and its place."""

    text: str
    speaker: str
    weight: float
    place: int
    said_at: datetime
    words: frozenset[str]
    size: float
    has_day: bool


# ------------------------------------------------------------------------------------------------------------- memos


def page_memo(steps: Sequence[SaidStep], zone: tzinfo) -> str:
    """What the steps add, in at most :data:`MEMO_WORDS`; "" where they say nothing.

    Args:
        zone: the user's, in which "yesterday" is a day.
    """
    least, most = MEMO_WORDS
    words = min(most, least + sum(size_of(step.text[:_READ]) for step in steps) // _WORDS_A_WORD)
    chosen = _choose(memo_parts(steps), words, each=_EACH_STEP)
    return _joined([(one.speaker, _dated(one, zone)) for one in chosen])


def memo_parts(steps: Sequence[SaidStep]) -> list[MemoPart]:
    """The sentences of steps with their weights, in order; greetings and thanks are left out."""
    found: list[MemoPart] = []
    for place, step in enumerate(steps):
        found += _parts(step, place)
    return found


def _parts(step: SaidStep, place: int) -> list[MemoPart]:
    text = step.text if len(step.text) <= _READ * 3 // 2 else f"{step.text[:_READ]}\n{step.text[-_READ // 2 :]}"
    bias = -0.8 if step.role in ("tool", "system") else 0.0
    if step.role == "assistant":
        bias -= 0.3
    for act in step.acts:
        key = act.casefold()
        known = _ACTS.get(key) or next((value for name, value in _ACTS.items() if key.startswith(name)), None)
        if known is not None:
            bias += known
            break
    found: list[MemoPart] = []
    for number, sentence in enumerate(SPLIT.split(text)):
        if number >= _SENTENCES:
            break
        bare = sentence.strip(" \t-*•–—#>|")
        if len(bare) < 4:
            continue
        bare = OPENER.sub("", bare) if bare[0].isascii() else bare
        size = size_of(bare)
        if size < 2.5:
            continue
        look = weigh(bare, size)
        weight = bias + look.weight
        if weight > 0 and look.content:
            told = bare if size <= SENTENCE_WORDS else clipped(bare)
            found.append(
                MemoPart(told, step.speaker, weight, place, step.occurred_at, look.content, size_of(told), look.has_day)
            )
    return found


def _choose(parts: Sequence[MemoPart], words: float, *, each: int, spread: bool = False) -> list[MemoPart]:
    """The parts that weigh most within so many words, none that repeats another; in their order.

    Args:
        each: at most so many of one place.
        spread: give every place its best part first, as far as the words reach.
    """
    ranked = sorted(parts, key=lambda one: (-one.weight, one.place))
    if spread:
        best: dict[int, MemoPart] = {}
        for one in ranked:
            if one.weight > _WORTH:
                best.setdefault(one.place, one)
        firsts = sorted(best.values(), key=lambda one: (-one.weight, one.place))
        chosen_first = {id(one) for one in firsts}
        ranked = [*firsts, *(one for one in ranked if id(one) not in chosen_first)]
    chosen: list[MemoPart] = []
    left = float(words)
    held: dict[int, int] = {}
    for one in ranked:
        if left < 3:
            break
        if one.size > left or held.get(one.place, 0) >= each:
            continue
        if any(len(one.words & other.words) > _OVERLAP * min(len(one.words), len(other.words)) for other in chosen):
            continue
        chosen.append(one)
        left -= one.size + 1
        held[one.place] = held.get(one.place, 0) + 1
    order = {id(one): at for at, one in enumerate(parts)}
    return sorted(chosen, key=lambda one: order[id(one)])


def _joined(said: Sequence[tuple[str, str]]) -> str:
    """``Ann: one thing; another · Ben: …``: a speaker is named once for what stands side by side."""
    lines: list[str] = []
    last: str | None = None
    for speaker, said_text in said:
        text = said_text.replace(_BAR, ", ").rstrip(" .。;；,，")
        if speaker and speaker != last:
            lines.append(f"{speaker}: {text}" if text.isascii() or not CJK.search(text) else f"{speaker}：{text}")
        else:
            lines.append(text)
        last = speaker
    return _BAR.join(lines)


def _dated(part: MemoPart, zone: tzinfo) -> str:
    """The sentence with the date behind each day that is told in relation to when it was said."""
    if not part.has_day or len(part.text) > 600:
        return part.text
    text = part.text
    for span in reversed(find_dates(text, part.said_at, zone)):
        if not span.told or any(character.isdigit() for character in span.text):
            continue
        text = f"{text[: span.end]}{span.aside}{text[span.end :]}"
    return text


# -------------------------------------------------------------------------------------------------------------- digests


def digest_text(memos: Sequence[tuple[str, datetime]], zone: tzinfo, *, words: int = DIGEST_WORDS) -> str:
    """A memo of memos: of each its weightiest part, then what else there is room for, days in front.

    Args:
        memos: texts with the time when what they tell was said, in order; memos of memos tell their days themselves.
    """
    parts: list[MemoPart] = []
    days: list[str] = []
    longest = max(4, min(_DIGEST_SENTENCE, words - 3))
    for place, (text, said_at) in enumerate(memos):
        speaker, day = "", in_zone(said_at, zone).date().isoformat()
        for given in text.split(_BAR):
            piece = given
            if dated := _DAY_FIRST.match(piece):
                day, piece, speaker = dated[1], piece[dated.end() :], ""
            if named := _SPEAKER.match(piece):
                speaker, piece = named[1], piece[named.end() :]
            for bare in [piece] if size_of(piece) <= 1.3 * SENTENCE_WORDS else SPLIT.split(piece):
                size = size_of(bare)
                look = weigh(bare, size) if size >= 2 else None
                if look is not None and look.content:
                    told = bare if size <= longest else clipped(bare, longest)
                    cost = size_of(told) + 1
                    parts.append(MemoPart(told, speaker, look.weight, place, said_at, look.content, cost, False))
                    days.append(day)
    day_of = {id(part): day for part, day in zip(parts, days, strict=True)}
    chosen = _choose(parts, words, each=3, spread=True)
    lines: list[str] = []
    for day in dict.fromkeys(day_of[id(one)] for one in chosen):
        line = _joined([(one.speaker, one.text) for one in chosen if day_of[id(one)] == day])
        lines.append(f"{day} {line}")
    return _BAR.join(lines)


# -------------------------------------------------------------------------------------------------------------- headers


def page_header(
    steps: Sequence[SaidStep],
    zone: tzinfo,
    *,
    session: int = 1,
    scope: str = "",
    before: str = "",
    before_at: datetime | None = None,
    meant: Sequence[str] = (),
) -> str:
    """What a reader of a page alone would lack, on one line.

    Args:
        session: the number of the sitting.
        scope: the path of the page's main scope.
        before: the memo of the page before in the thread.
        before_at: when that ended.
        meant: what references of the page stand for, where that was said before it.
    """
    if not steps:
        return ""
    chinese = sum(len(CJK.findall(step.text[:200])) for step in steps[:8]) * 4 > sum(
        len(step.text[:200]) for step in steps[:8]
    )
    who = list(dict.fromkeys(step.speaker for step in steps))
    named = who[:4] + ([f"+{len(who) - 4}"] if len(who) > 4 else [])
    first, last = (in_zone(one.occurred_at, zone) for one in (steps[0], steps[-1]))
    end = (
        ""
        if first.strftime("%F %H:%M") == last.strftime("%F %H:%M")
        else last.strftime("%H:%M" if first.date() == last.date() else "%F %H:%M")
    )
    when = f"{first:%F %H:%M}" + (f"–{end}" if end else "")
    told = _last_parts(before, 26)
    if chinese:
        parts = ["、".join(named), when, f"第{session}次" if session > 1 else ""]
        line = "，".join(part for part in parts if part)
        line += f"。主题：{scope}" if scope else ""
        line += f"。所指：{'；'.join(meant)}" if meant else ""
        return line + (f"。此前（{in_zone(before_at, zone):%F}）：{told}" if told and before_at else "")
    parts = [" and ".join(named) if len(named) < 3 else ", ".join(named), when]
    parts.append(f"session {session}" if session > 1 else "")
    line = ", ".join(part for part in parts if part)
    line += f". About: {scope}" if scope else ""
    line += f". Meant: {'; '.join(meant)}" if meant else ""
    return line + (f". Before ({in_zone(before_at, zone):%F}): {told}" if told and before_at else "")


def _last_parts(memo: str, words: float) -> str:
    """The last parts of a memo that fit, whole ones."""
    kept: list[str] = []
    speaker = ""
    for piece in reversed(memo.split(_BAR)) if memo else ():
        words -= size_of(piece)
        if words < 0 and kept:
            break
        kept.append(piece if size_of(piece) <= 28 else clipped(piece, 24))
        speaker = piece
        if words < 6:
            break
    if kept and not re.match(r"[^:：]{1,40}[:：]", speaker):  # whose words the first one is
        for piece in reversed(memo.split(_BAR)[: -len(kept)] if len(kept) < len(memo.split(_BAR)) else []):
            named = re.match(r"([^:：·]{1,40})[:：]", piece)
            if named:
                kept[-1] = f"{named[1]}: {kept[-1]}"
                break
    return _BAR.join(reversed(kept))
