"""What scope tracking reads of a step's text: its beginning, its words, its names."""

from __future__ import annotations

from dataclasses import dataclass

from ... import lazy_re as re
from ...stores.secrets.references import find_references, restore_references

__all__ = ["NAME", "READ", "STOP", "Words", "read_words", "same_length_lower", "stem"]

READ = 1000
"""Characters of a step that are read, from its beginning: what a step is about is said early, and a dump costs no more."""

NAME = 1.5
"""Weight of a term that is written like a name."""

_MOST_TERMS = 48
_TOKEN = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?|\d+(?:[.,:]\d+)*")
_CAPITAL = re.compile(r"(?<![.!?\n“\"] )(?<=[^\w\n])[A-Z][\w’'&-]{2,}")
_FIRST = re.compile(r"(?:^|[.!?\n“\"] ?)([A-Z][\w’'&-]{2,})")
_CJK = re.compile(r"[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff]+")

_STOP_TEXT = """
a about above after again against all already also although always am among an and another any anyone anything
anyway are around as ask at away back be because been before being below best better between big bit both but
by call came can cannot check come comes coming could day days did didn't different do does doesn't doing
don't done down each early either else end enough even ever every everyone everything exactly far few fine
first for found from full fun further gave get gets getting give given go goes going gone good got great had
hadn't happy has hasn't have haven't having he hear hello help her here hers hey hi him his how however i i'd
i'll i'm i've idea if in instead into is isn't it it'd it'll it's its itself just keep kind know last late
later least left less let let's like little long look looking looks lot lots love made make makes making many
may maybe me mean might mind mine more morning most much must my myself need needs neither never new next nice
night no none nor not nothing now of off oh ok okay on once one ones only or other others our ours out over
own part per perfect perhaps place plan plans please possible pretty probably put quick quite rather really
right said same saw say says second see seem seems set shall she should since so some someone something soon
sorry sounds start still stop such sure take takes than thank thanks that that'd that'll that's the their
theirs them then there there's these they they'd they'll they're they've thing things think third this those
though three through time to today together told tomorrow tonight too took totally try two under until up upon
us use used very wait want wanted wants was wasn't way we we'd we'll we're we've well went were weren't what
what's when where which while who whole whom whose why will with within without won't work works worth would
wouldn't wow yeah yep yes yet you you'd you'll you're you've your yours yourself awesome amazing definitely
absolutely glad course cool hope pic photo agree agreed noted monday tuesday wednesday thursday friday
saturday sunday january february march april june july august september october november december evening
afternoon week weekend year month hour minute fun stuff bye hope talk ago said suggest option options prefer
sense actually currently across along usually anything
"""
STOP = frozenset(_STOP_TEXT.split())


@dataclass(frozen=True, slots=True)
class Words:
    """The words of a step.

    Attributes:
        text: its beginning, as it stands.
        lower: the same in lower case, of the same length, so that offsets agree.
        tokens: its lower-case tokens.
        terms: its telling words with their weight (1, or more for names and figures), at most 48.
        initial: terms that begin a sentence with a capital, and so may be names.
        count: how many tokens were read.
        has_cjk: whether there are Chinese, Japanese or Korean characters in it.
    """

    text: str
    lower: str
    tokens: frozenset[str]
    terms: dict[str, float]
    has_cjk: bool
    count: int
    initial: tuple[str, ...]


def same_length_lower(text: str) -> str:
    """``text`` in lower case, character by character where the whole would change its length."""
    lower = text.lower()
    if len(lower) == len(text):
        return lower
    return "".join([small if len(small := char.lower()) == 1 else char for char in text])


def stem(word: str) -> str:
    if len(word) > 3 and word[-1] == "s" and word[-2] not in "su'’" and not word.endswith(("ics", "sis", "ous")):
        if word.endswith("ies") and len(word) > 4:
            return word[:-3] + "y"
        return word[:-1]
    if word.endswith(("'s", "’s")):
        return word[:-2]
    return word


def read_words(text: str) -> Words:
    """Read the words of the first :data:`READ` characters of a step; of a secret kept elsewhere, its caption."""
    if "{{vault:" in text:  # the mark and the id that stand around the caption are nobody's words
        text = restore_references(text, {found.id: found.caption for found in find_references(text)})
    text = text[:READ]
    lower = same_length_lower(text)
    found = _TOKEN.findall(lower)
    has_cjk = not text.isascii() and _CJK.search(text) is not None
    terms: dict[str, float] = {}
    for token in found:
        if token in STOP:
            continue
        if token[0].isdigit():
            if len(token) > 2:
                terms[token] = 1.3
        elif has_cjk and _CJK.match(token):
            for i in range(min(len(token) - 1, 40)):
                terms[token[i : i + 2]] = 0.6
        elif len(token) > 2:
            terms[stem(token)] = 1.0
        if len(terms) >= _MOST_TERMS:
            break
    for name in _CAPITAL.findall(text):
        word = stem(same_length_lower(name))
        if word in terms:
            terms[word] = NAME
    initial: tuple[str, ...] = ()
    if terms:
        initial = tuple(term for word in _FIRST.findall(text[:400]) if (term := stem(same_length_lower(word))) in terms)
    return Words(text, lower, frozenset(found), terms, has_cjk, len(found), initial)
