"""What a text mentions, apart from noun phrases: list items, days and times of day; and the records of all of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

from ... import lazy_re as re

__all__ = ["HAS_CJK", "ListItem", "NounPhrase", "PhraseRole", "TimeMention", "find_items", "find_times", "mask"]

PhraseRole = Literal["subject", "object", "oblique"]


class NounPhrase(NamedTuple):
    """One noun phrase: characters ``start`` to ``end``, its determiner included.

    Attributes:
        text: the phrase without its determiner.
        determiner: lower case, or empty.
        head: the last noun, lower case, singular where it is a known one.
        kind: what it is (see ``coreference_cues.KINDS``), ``person``, ``address`` (who is spoken to), or empty where unknown.
        gender: of a person or animal ``m``, ``f`` or empty.
        role: where it stands in its clause; ``oblique`` behind a preposition.
        preposition: the word it stands behind, if that is a preposition.
        sentence: the number of its sentence in the step.
        group: phrases joined by a comma, "and" or "or" share a number.
    """

    start: int
    end: int
    text: str
    determiner: str
    head: str
    kind: str
    gender: str
    plural: bool
    name: bool
    role: PhraseRole
    preposition: str
    sentence: int
    group: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ListItem:
    """One item of a list: its name, and the whole line."""

    text: str
    line: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeMention:
    """A day or a time of day as it was written."""

    text: str
    day: bool
    start: int


_MASKED = re.compile(
    r"\{\{vault:[^{}\r\n]{0,300}\}\}|```.{0,20000}?```|\b(?:https?://|www\.)[^\s<>\"]{1,2000}", re.DOTALL
)
_ITEM = re.compile(
    r"^[ \t]{0,8}(?:\(?(?:\d{1,2}|[a-hA-H])[.)、．:：](?!\d)|[-*•–—·])[ \t]{0,4}(?=\S)(.{1,600})$"
    r"|^[（(][一二三四五六七八九\d][）)](.{1,600})$",
    re.MULTILINE,
)
_INLINE_ITEM = re.compile(r"(?<!\w)\(?([1-9]|[a-d])[.)](?!\d)\s+")
_ITEM_NAME = re.compile(r"\s*(?:,|;|:|\(|\[|，|：|；|（|。|\s[–—-]\s|\s(?:at|for|from|is|has|with|near)\s|\.\s|\.$|$)")
_QUOTED = re.compile(r"[“\"《「]([^”\"》」]{2,40})[”\"》」]")
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_DAY = re.compile(
    rf"\b(?:\d{{1,2}}(?:st|nd|rd|th)? (?:of )?{_MONTH}(?:,? \d{{4}})?|{_MONTH} \d{{1,2}}(?:st|nd|rd"
    rf"|th)?(?:,? \d{{4}})?|\d{{4}}-\d\d-\d\d"
    r"|(?:next |last |this )?(?:mon|tues|wednes|thurs|fri|satur|sun)day|day \d{1,2})\b|\d{1,2}月\d{1,2}[日号]"
    r"|(?:下|上|这)?(?:周|星期)[一二三四五六日天]",
    re.IGNORECASE,
)
_CLOCK = re.compile(
    r"\b(?:[01]?\d|2[0-3]):[0-5]\d(?:\s?[ap]\.?m\b\.?)?|\b(?:1[0-2]|[1-9])\s?[ap]\.?m\b\.?|\b(?:noon|midnight)\b"
    r"|(?:早上|上午|中午|下午|晚上)[一二两三四五六七八九十\d]{1,3}点半?",
    re.IGNORECASE,
)
HAS_CJK = re.compile(r"[\u4e00-\u9fff]")
_MAX_ITEMS = 30


def mask(text: str) -> str:
    """The text with secrets' references, code blocks and addresses blanked out, every character at its place."""
    if "{{" not in text and "```" not in text and "://" not in text and "www." not in text:
        return text
    return _MASKED.sub(lambda m: "■" * (m.end() - m.start()), text)


def find_items(text: str) -> tuple[ListItem, ...]:
    """The items of a list in a text; none where there are fewer than two."""
    lines = [(m[1] or m[2]).strip() for m in _ITEM.finditer(text)] if "\n" in text else []
    if len(lines) < 2:
        opened = any(mark in text for mark in ("1.", "1)", "a.", "a)"))  # what such a list begins with
        marks = list(_INLINE_ITEM.finditer(text))[:_MAX_ITEMS] if opened else []
        numbers = [m[1] for m in marks]
        wanted = ("123456789" if numbers[:1] == ["1"] else "abcd")[: len(numbers)]
        if len(marks) >= 2 and numbers == list(wanted):
            ends = [*(m.start() for m in marks[1:]), len(text)]
            lines = [text[m.end() : end].strip(" \t\n;,") for m, end in zip(marks, ends, strict=True)]
        elif HAS_CJK.search(text):
            lines = _chinese_row(text)
        else:
            return ()
    items = []
    for line in lines[:_MAX_ITEMS]:
        bare = line.replace("**", "").strip()
        cut = _ITEM_NAME.search(bare, 1)
        name = " ".join((bare[: cut.start()] if cut else bare).split()[:8])
        quoted = _QUOTED.search(bare, 0, 60)
        name = quoted[1] if quoted else name
        items.append(ListItem(text=name[:80] or bare[:80], line=bare[:400]))
    return tuple(items) if len(items) >= 2 else ()


def _chinese_row(text: str) -> list[str]:
    """The parts of "甲，……；乙，……": a row of things in one sentence, each with something said of it."""
    row = max(re.split(r"[。！!？?\n：:]", text[:2000]), key=lambda part: part.count("；") + part.count(";"))
    parts = [part.strip(" ，,或者") for part in re.split(r"[；;]", row)]
    return parts if len(parts) >= 2 and all(re.match(r"[^，,（(]{2,20}[，,（(]", part) for part in parts) else []


def find_times(text: str) -> tuple[TimeMention, ...]:
    """The days and times of day in a text, in its order."""
    if not re.search(r"\d|day\b|noon|midnight|周|星期|点", text, re.IGNORECASE):
        return ()
    found = [TimeMention(text=m[0], day=True, start=m.start()) for m in _DAY.finditer(text)]
    found += [TimeMention(text=m[0], day=False, start=m.start()) for m in _CLOCK.finditer(text)]
    return tuple(sorted(found, key=lambda time: time.start)[:40])
