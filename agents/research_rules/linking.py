"""Links between identifiers: what one sentence says of two of them leads from the one to the other.

A code, number or key stands for one thing. Where a question names one, the sentences that hold it name others, these
stand in further sentences, and so on: an answer may lie at the end of such a chain, in passages that share no word with
the question. Reflection asks for what the chain has reached and nobody has searched; integration reads the chain out.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ... import lazy_re as re
from ...intent.page_sentences import SPLIT
from ...memory_types.research import Passage

__all__ = ["Chain", "Link", "follow_links", "identifiers"]

_WORD = re.compile(r"\w+(?:[-./:#@]\w+)*", re.ASCII)
_CLOCK_OR_DAY = re.compile(
    r"\d{1,2}:\d\d(?::\d\d)?(?:am|pm)?|\d{1,2}(?:am|pm)|\d{4}-\d\d(?:-\d\d)?|\d{1,2}[./]\d{1,2}(?:[./]\d{2,4})?"
    r"|(?:19|20)\d\d|\d+(?:st|nd|rd|th|s)",
    re.IGNORECASE,
)
_KEY = re.compile(r"[A-Z]{3,}|[A-Za-z\d]+_[A-Za-z\d]")
_LONGEST = 64
_TEXT = 12_000
_HUB = 8
"""An identifier in more sentences than these, of those that were read, links too much to mean one thing."""


@dataclass(frozen=True, slots=True)
class Link:
    """A sentence of the chain.

    Attributes:
        passage: where it stands.
        text: the sentence.
        hops: how many links lie between it and the question, from 0.
    """

    passage: Passage
    text: str
    hops: int


@dataclass(frozen=True, slots=True)
class Chain:
    """What was reached from the identifiers of a question.

    Attributes:
        links: the sentences, the nearest to the question first.
        reached: identifier → hops from the question, whose own have 0; in the order of reaching.
    """

    links: tuple[Link, ...] = ()
    reached: Mapping[str, int] = field(default_factory=dict)

    def open(self, asked: Collection[str]) -> list[str]:
        """The identifiers that were reached and not searched yet, the nearest to the question first."""
        known = {one.casefold() for one in asked}
        return [one for one, hops in self.reached.items() if hops and one.casefold() not in known]


def identifiers(text: str) -> tuple[str, ...]:
    """The words of a text that stand for one thing alone, each once: codes, keys, long numbers, names in code.

    Clock times, days, years and numbers of one or two digits are none.
    """
    found: dict[str, str] = {}
    for match in _WORD.finditer(text):
        word = match.group()
        if len(word) > _LONGEST or _CLOCK_OR_DAY.fullmatch(word):
            continue
        digits = any(character.isdigit() for character in word)
        enough = len(word) >= 3 or not word.isdigit()
        if (digits and enough) or _KEY.match(word):
            found.setdefault(word.casefold(), word)
    return tuple(found.values())


def follow_links(starts: Iterable[str], passages: Sequence[Passage]) -> Chain:
    """Follow the links from some identifiers through what was read.

    Args:
        starts: identifiers of the question; nothing comes of none.
        passages: all that were read.
    """
    written = {one.casefold(): one for one in starts}
    if not written:
        return Chain()
    holding: dict[str, list[int]] = {}
    said: list[tuple[Passage, str, tuple[str, ...]]] = []
    for one in passages:
        for sentence in _sentences(one.text):
            names = identifiers(sentence)
            for name in names:
                holding.setdefault(name.casefold(), []).append(len(said))
            said.append((one, sentence, names))
    hops: dict[int, int] = {}
    reached = dict.fromkeys(written, 0)
    queue = list(reached)
    for name in queue:  # it grows on the way: breadth first
        for at in holding.get(name, ()):
            if at in hops:
                continue
            hops[at] = reached[name]
            for other in said[at][2]:
                key = other.casefold()
                if key not in reached and len(holding[key]) <= _HUB:
                    reached[key] = reached[name] + 1
                    written[key] = other
                    queue.append(key)
    order = sorted(hops, key=lambda at: (hops[at], at))
    links = tuple(Link(said[at][0], said[at][1], hops[at]) for at in order)
    return Chain(links, {written[key]: far for key, far in reached.items()})


def _sentences(text: str) -> tuple[str, ...]:
    return tuple(bare for one in SPLIT.split(text[:_TEXT]) if len(bare := one.strip(" \t-*•–—#>|")) > 3)
