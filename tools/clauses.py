"""What the clauses of a text say beside some words: "lives in Rome and owes me 300 euros" says more than that he owes it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from .. import lazy_re as re
from ..agents.managers.rules.words import KIN
from ..agents.research_rules.question import content_words, stems
from ..intent.phrases.tokens import word_set
from ..intent.references.cues import FUNCTION_WORDS, VERBS
from ..intent.scopes.numbers import MONTHS, WEEKDAYS

__all__ = ["ASIDE", "CLAUSE", "COURTESY", "DAYS", "is_one_clause", "only_says", "word_stems"]

_LINK = r"and|und|or|oder|et|y"
CLAUSE = re.compile(
    rf"[.!?;:,](?=\s|$)|[。！？；：，、\n]|\s(?:{_LINK}|but|because|so|while|since|aber|weil|denn|mais|pero)\s|\s[–—-]\s"
    r"|但是?|而且|因为|所以",
    re.IGNORECASE,
)
"""What stands between the clauses of a text."""
_LINKING = re.compile(rf"\s(?:{_LINK})\s", re.IGNORECASE)

COURTESY = word_set(
    "noted got understood great good lovely nice fine wonderful cool perfect congratulations congrats thank thanks telling told"
    " tell remember remembered keep kept mind sure okay ok glad happy let know anything else help enjoy fun sorry hear hearing"
    " see sounds sound like love name done right alright yes add added save saved note store stored update updated"
    " 好的 记住 明白 谢谢 知道 收到"
)
"""Words of a reply that carry nothing of what was said."""
ASIDE = re.compile(
    r"\b(?:please\s)?(?:don['’]t|do\snot|never)\s(?:ever\s)?(?:tell|mention\s(?:it|this)\sto)\s(?:anyone|anybody|a\ssoul|him|her|them|my\s\w+)\b"
    r",?(?:\s(?:but|that)\b)?|\bbetween\s(?:you\sand\sme|us|ourselves)\b|\bkeep\s(?:it|this|that)\s(?:secret|quiet|to\syourself|between\sus)\b"
    r"|(?:别|不要)(?:告诉|跟)(?:别人|任何人)(?:说|讲)?|(?:你)?替我保密",
    re.IGNORECASE,
)
"""How a person tells a secret: it says nothing of the matter."""
DAYS = word_set(" ".join((*MONTHS, *WEEKDAYS, *(f"{one}s" for one in WEEKDAYS), "today", "tomorrow")))
"""Names of days and months, in lower case."""

_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_OPENS_NAME = word_set("the a an my our your his her its their this that these those user")
_COURTESIES = COURTESY - word_set("like love")  # of a person, "I like tea" tells


@dataclass(frozen=True, slots=True)
class _Clause:
    """One clause: the words that carry it, and the stems of those of its subject and of the others."""

    words: tuple[str, ...]
    subject: frozenset[str]
    told: frozenset[str]
    linked: bool  # by "and" to the clause before or behind it

    @classmethod
    def read(cls, text: str, linked: bool) -> _Clause:
        words = tuple(one for one in content_words(text) if one.casefold() not in _COURTESIES)
        subject, rest = _divided(text)
        return cls(words, stems(subject), stems(rest), linked)


def only_says(text: str, wanted: Collection[frozenset[str]]) -> bool:
    """Whether a text says nothing beside what some words say.

    A clause says it that holds one of the words beside its subject, or all of them in its subject: "Tom lives in Rome" does not
    say that Tom owes money. Of clauses that "and" links each is to hold all of the words that stand in no subject, or none of
    its own: to say "I like tea" is not to say "I like tea and I like coffee". A single word says nothing more,
    unless "and" links it.

    Args:
        text: a sentence, or several.
        wanted: the stems of each of the words, see :func:`word_stems`.
    """
    clauses = list(_clauses(text))
    subjects = frozenset().union(*(one.subject for one in clauses))
    telling = [word for word in wanted if not word <= subjects]
    of_days = any(word & DAYS for word in wanted)
    about: frozenset[str] = frozenset()
    for one in clauses:
        if one.told and one.subject:
            about = one.subject
        if all(word <= one.subject for word in wanted):
            continue
        own = [word for word in one.words if not _is_known(word, wanted) and (of_days or word.casefold() not in DAYS)]
        if not own:
            continue
        if len(one.words) < 2 or not content_words(" ".join(one.told)):
            if one.linked and not all(word <= about for word in wanted):
                return False
        elif not any(word <= one.told for word in wanted) or (
            one.linked and not all(word <= one.told for word in telling)
        ):
            return False
    return True


def is_one_clause(text: str) -> bool:
    """Whether a text says one thing only, as far as its clauses tell."""
    return sum(len(one.words) > 1 for one in _clauses(text)) < 2


def word_stems(text: str) -> list[frozenset[str]]:
    """The stems of each word that carries a text; of a run of Han characters those of its pairs."""
    return [stems(word) for word in content_words(text)]


def _clauses(text: str) -> Iterator[_Clause]:
    text = ASIDE.sub(" ", text)
    start, linked = 0, False
    for mark in [*CLAUSE.finditer(text), None]:
        before = text[start : mark.start() if mark else len(text)]
        links = mark is not None and _LINKING.fullmatch(mark.group()) is not None
        if before.strip():
            yield _Clause.read(before, linked or links)
            linked = links
        else:  # of ", and" the second tells
            linked = linked or links
        start = mark.end() if mark else len(text)


def _divided(text: str) -> tuple[str, str]:
    """The subject of a clause, as far as names, relatives, and the noun behind "my" or "Tom's" make one; and the rest."""
    opens, start, end = False, -1, 0
    for match in _WORD.finditer(text):
        word = match.group()
        low = word.casefold().replace("’", "'")
        plain = low.removesuffix("'s")
        if plain in FUNCTION_WORDS or plain in _OPENS_NAME or plain in _COURTESIES:
            if plain not in _OPENS_NAME and start >= 0:
                break
            opens = plain in _OPENS_NAME
            continue
        named = word[0].isupper() and not (start < 0 and low in VERBS)
        if not (named or opens or plain in KIN):
            break
        start, end = (match.start() if start < 0 else start), match.end()
        opens = low.endswith("'s")
    return (text[start:end], f"{text[:start]} {text[end:]}") if start >= 0 else ("", text)


def _is_known(word: str, wanted: Iterable[frozenset[str]]) -> bool:
    held = stems(word)
    return word.casefold() in KIN or any(one <= held for one in wanted)
