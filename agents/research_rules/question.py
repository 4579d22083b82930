"""A question as research by rules reads it: who and what it names, when, and what kind of answer it wants."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from itertools import pairwise

from ... import lazy_re as re
from ...intent.dates.relative import find_dates
from ...intent.references.cues import FUNCTION_WORDS
from ...memory_types.local_time import in_utc
from .chinese_words import given_name, is_chinese, question_words
from .irregular import BASES, word_stems
from .living import with_plain_work
from .own_facts import asked_slots, possessed
from .synonyms import others_for

__all__ = ["CODE", "Question", "Stems", "asks_for_a_list", "content_words", "holds", "read_question", "stems"]

Stems = Callable[[str], frozenset[str]]
"""Gives :func:`stems`: that function, or one that remembers for the time of a run."""

CODE = re.compile(r"\b(?:(?=\w*[A-Z])[A-Z]{3,}\w*|\w*\d\w*)\b")
"""Identifiers and numbers: words that stand for one thing alone."""

_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_HAN = re.compile(r"[\u3400-\u9fff]+")
_HAN_FUNCTION = re.compile(
    r"叫(?:什么|啥)|名字|现在|目前|我们?|什么时候|什么|哪[里儿些个位天年家座所]|怎么样?|为什么|多少|几[个次点天年]?|是不是|有没有|吗|呢|的|了|在|是|和|有|谁|都|过|把|被|给|对|跟|与"
)
_ASKING = frozenset(
    [
        "what",
        "which",
        "who",
        "whom",
        "whose",
        "when",
        "where",
        "why",
        "how",
        "many",
        "much",
        "did",
        "does",
        "do",
        "name",
        "names",
        "kind",
        "kinds",
        "type",
        "types",
        "sort",
        "sorts",
        "thing",
        "things",
        "some",
        "recently",
        "recent",
        "ever",
        "year",
        "time",
        "times",
        "date",
        "day",
        "month",
        "likely",
        "probably",
        "possibly",
        "perhaps",
    ]
)
_LIST = re.compile(
    r"^\s*(?:in )?(?:what|which)(?: (?:are|were|all|different|other|kinds? of|types? of|sorts? of|some|of the))* "
    r"(?:[a-z'’-]+ ){0,2}?(?-i:(?!(?:does|was|has|this|perhaps|always)\b)[a-z-]{2,}(?<!ss)(?<!us)(?<!is)s)\b(?!['’])"
    r"|\b(?:list|(?:name|find|give|show) (?:me )?(?:all|every)|how many|how often|all the|each of|both|activities|hobbies|in what ways)\b"
    r"|^\s*(?:where|who) (?:has|have|had|all)\b|^\s*what (?:has|have)\b"
    r"|^\s*what (?:had|does|do) \S+ .{0,40}\b(?:done|do|like|like to do|enjoy)\b"
    r"|哪些|几[个次种]|多少|列出|所有|都(?:有|去|做|看|吃)",
    re.IGNORECASE,
)
_WANTS = (
    ("time", re.compile(r"^\s*(?:when\b|what (?:date|day|year|month|time)\b|since when|how long)|什么时候|哪[天年月]|几[号月点]", re.I)),
    ("number", re.compile(r"\bhow (?:many|much|old|far|tall|often)\b|多少|几[个次岁种]", re.I)),
    ("person", re.compile(r"^\s*(?:with )?who(?:m|se)?\b|谁|哪位", re.I)),
    ("place", re.compile(r"^\s*(?:from |to |in )?where\b|哪里|哪儿|什么地方", re.I)),
    ("reason", re.compile(r"^\s*why\b|为什么|怎么会", re.I)),
)  # fmt: skip
_JUDGES = re.compile(r"\b(?:would|might|could|likely|probably|possibly|perhaps)\b|可能|会不会|大概|也许", re.I)
_PARTS = re.compile(
    r"[?？;；]\s*|,?\s+(?:and|but)\s+(?=(?:what|which|who|whom|whose|when|where|why|how|did|does|is|was|were|are)\b)|，(?=.{0,6}(?:什么|哪|谁|怎么|多少))",
    re.I,
)
_OWN = re.compile(r"\b(?:i|my|me|mine|myself)\b|我", re.I)
_YOURS = re.compile(r"\b(?:you|your|yours)\b|你|您", re.I)
_QUOTED = re.compile(r"[\"“《「『]([^\"”》」』]{2,60})[\"”》」』]")
_LONGEST = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What the rules know of a question.

    Attributes:
        bare: the question without the names of who is asked about: what they said seldom holds their own names.
        speakers: who is asked about, of those who speak in this memory, casefolded.
        words: the words that carry it, in order. names: those that are names or stand in quotes.
        parts: its sub-questions, where it has several.
        wants: ``time``, ``number``, ``person``, ``place``, ``reason``, or "" for anything.
        judges: whether it asks what is likely, so that no words answer it as they stand.
        many: whether several things in several places may belong to the answer.
        since, until: the time it names, if it does.
        slots: the slots of core items that answer it, where the user plainly asks about themselves.
        whose: family and animals of the user without whom nothing answers it; none where the question has parts.
        chinese: whether it is read as Chinese.
    """

    text: str
    bare: str
    speakers: frozenset[str] = frozenset()
    words: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    wants: str = ""
    judges: bool = False
    many: bool = False
    since: datetime | None = None
    until: datetime | None = None
    slots: tuple[str, ...] = ()
    whose: tuple[str, ...] = ()
    chinese: bool = False


def asks_for_a_list(text: str) -> bool:
    """Whether several things may be the answer by the question's own words, and not because it names several people."""
    return _LIST.search(text) is not None


def read_question(text: str, speakers: Collection[str], now: datetime, zone: tzinfo) -> Question:
    """Read a question.

    Args:
        speakers: who speaks in this memory.
        now: when it is asked, aware.
        zone: the user's timezone.
    """
    text = " ".join(text[:_LONGEST].split())
    asked = _named(text, speakers)
    dates = find_dates(text, now, zone, prefer="past")
    since = until = None
    if dates:
        since = in_utc(datetime.combine(min(one.day for one in dates), datetime.min.time(), tzinfo=zone))
        until = in_utc(datetime.combine(max(one.last_day for one in dates), datetime.max.time(), tzinfo=zone))
    plain = text
    for one in reversed(dates):  # a date is searched as a time: what was said on a day seldom names the day
        if any(character.isdigit() for character in one.text):
            plain = f"{plain[: one.start]} {plain[one.end :]}"
    bare = with_plain_work(_without(plain, asked))
    chinese = is_chinese(bare)
    words = _chinese_words(bare) if chinese else content_words(bare)
    named: list[str] = list(_QUOTED.findall(text))
    named += [
        match.group()
        for match in _WORD.finditer(bare)
        if match.start() and match.group()[0].isupper() and match.group().casefold() not in FUNCTION_WORDS
    ]
    parts = tuple(part for one in _PARTS.split(text) if len(content_words(part := one.strip(" ,，"))) > 0)
    wants = next((name for name, form in _WANTS if form.search(text)), "")
    who = frozenset(one.casefold() for one in asked)
    if not who and _OWN.search(text) and not _YOURS.search(text) and any(one == "user" for one in speakers):
        who = frozenset(("user",))
    return Question(
        text=text,
        bare=bare or text,
        speakers=who,
        words=words,
        names=tuple(dict.fromkeys(named)),
        parts=parts if len(parts) > 1 else (),
        wants=wants,
        judges=_JUDGES.search(text) is not None,
        many=asks_for_a_list(text) or len(asked) > 1,
        since=since,
        until=until,
        slots=asked_slots(text) if len(parts) < 2 else (),
        whose=possessed(text) if len(parts) < 2 else (),
        chinese=chinese,
    )


def _named(text: str, speakers: Collection[str]) -> list[str]:
    """The speakers whom a text names, by whole name or first name."""
    folded = text.casefold()
    words = {word.casefold().removesuffix("'s").removesuffix("’s") for word in _WORD.findall(text)}
    found = []
    for one in speakers:
        name = one.casefold().strip()
        if not name or name in ("user", "assistant", "system", "tool"):
            continue
        if name in words or (" " in name and name in folded) or name.split()[0] in words or _in_han(name, folded):
            found.append(one)
    return found


def _in_han(name: str, text: str) -> bool:
    return _HAN.fullmatch(name) is not None and (name in text or (given_name(name) or name) in text)


def _without(text: str, names: Sequence[str]) -> str:
    for name in sorted(names, key=len, reverse=True):
        for form in dict.fromkeys((name, given_name(name) or name.split()[0])):
            mark = re.escape(form)
            pattern = mark if _HAN.fullmatch(form) else rf"\b{mark}(?:['’]s)?\b"
            text = re.sub(pattern, " ", text, flags=re.IGNORECASE)
    return " ".join(text.split())


def content_words(text: str) -> tuple[str, ...]:
    """The words of a question that carry it, in order, each once; runs of Han characters as pairs."""
    found: dict[str, None] = {}
    for match in _WORD.finditer(text):
        word = match.group()
        if _HAN.search(word):
            for run in _HAN.findall(_HAN_FUNCTION.sub(" ", word)):
                pairs = [first + second for first, second in pairwise(run)] or [run]
                found.update(dict.fromkeys(pairs))
            continue
        low = word.casefold().replace("’", "'").removesuffix("'s")
        if low not in FUNCTION_WORDS and low not in _ASKING and (len(low) > 1 or low.isdigit()):
            found.setdefault(word if word[0].isupper() else low)
    return tuple(found)


def _chinese_words(text: str) -> tuple[str, ...]:
    """Those of Han runs as the lexicon divides them, and those of other scripts."""
    others = content_words(_HAN.sub(" ", text))
    return tuple(dict.fromkeys((*others, *question_words(text))))


def stems(text: str) -> frozenset[str]:
    """The stems of a text's words, irregular forms led back to their base, and its pairs of Han characters.

    Nothing is remembered: who asks for the same texts again keeps what was told as long as it needs it, see
    :data:`Stems`.
    """
    words = [one.casefold().replace("’", "'").removesuffix("'s") for one in _WORD.findall(text)]
    parts = [BASES.get(part, part) for word in words for part in word.split("-")]
    found = set(word_stems(" ".join(parts)))
    for run in _HAN.findall(text):
        found.update(first + second for first, second in pairwise(run))
        found.update(run)
    return frozenset(found)


def holds(question: Question, held: frozenset[str], word: str, read: Stems = stems) -> bool:
    """Whether a text holds a word of a question.

    Of people and animals of the user ("my wife") another word that says as much will do. Of those of others it will not:
    whose mother is meant no word tells, and more questions would be answered that memory holds no answer to.

    Args:
        held: the stems of the text.
    """
    return read(word) <= held or (bool(question.whose) and any(read(other) <= held for other in others_for(word)))
