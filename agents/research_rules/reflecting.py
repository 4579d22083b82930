"""Reflection by rules: which words of the question no passage covers yet, and what the best passages lead on to.

Pseudo-relevance feedback (Rocchio, 1971) as needs of their own: a word alone finds what the whole question buries, and a
name that the best passages share leads from one of them to the next.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

from ... import lazy_re as re
from ...intent.references.cues import FUNCTION_WORDS
from ...memory_types.research import Passage, Reflection
from .linking import follow_links, identifiers
from .own_facts import states_slot
from .question import CODE, Question, Stems, holds, stems
from .text_reader import TextReader

__all__ = ["coverage", "reflect_by_rules"]

_NAME = re.compile(r"(?<![.!?…] )(?<!^)\b[A-Z][\w'’-]{2,}(?: [A-Z][\w'’-]+)*")
_LOOSE = re.compile(r"I['’]|[A-Z][a-z]+['’](?:s|t|ll|re|ve|d|m)$")
_BEST, _NEEDS, _BRIDGES, _LINKS = 5, 4, 2, 8


def coverage(question: Question, passages: Sequence[Passage], read: Stems = stems) -> tuple[float, tuple[str, ...]]:
    """The share of the question's words that the passages hold, from 0 to 1, and the words that they do not.

    A core item that states what the user asks about themselves holds all of them: "Lives in Porto" and "Which city am I in?".
    """
    if any(states_slot(one, question.slots) for one in passages):
        return 1.0, ()
    if not question.words:
        return (1.0 if passages else 0.0), ()
    held = frozenset().union(*(read(part) for one in passages for part in (one.speaker or "", one.text)))
    missing = tuple(word for word in question.words if not holds(question, held, word, read))
    return 1 - len(missing) / len(question.words), missing


def reflect_by_rules(
    question: Question,
    passages: Sequence[Passage],
    asked: Collection[str],
    *,
    answerable: bool,
    last: bool,
    reader: TextReader | None = None,
) -> Reflection:
    """Whether what was read is enough, and what to look for next.

    It is enough where one of the best passages, of somebody whom the question asks about, holds all its words, and one
    passage is what an answer needs. Where the question names an identifier, those that its passages lead on to are asked
    for first, as long as there are any that nobody searched.

    Args:
        passages: all that were read, in the order of reading.
        asked: needs that were searched before.
        last: whether no round follows: then nothing is asked for.
        reader: of the run.
    """
    read = (reader or TextReader()).stems
    share, missing = coverage(question, passages, read)
    theirs = [
        one for one in passages[:_BEST] if not question.speakers or (one.speaker or "").casefold() in question.speakers
    ]
    whole = any(coverage(question, [one], read)[0] == 1.0 for one in theirs[:3])
    noted = any(states_slot(one, question.slots) for one in passages)
    chain = follow_links(identifiers(question.bare), passages)
    links = chain.open(asked)[:_LINKS]
    one_will_do = noted or (whole and not question.many and not question.parts)
    enough = answerable and share == 1.0 and (last or (one_will_do and not links))
    told = missing or (() if enough else tuple(question.words))
    if enough or last:
        return Reflection(enough=enough, missing=() if enough else told)
    if links:
        return Reflection(enough=False, missing=tuple(links))
    known = {one.casefold() for one in asked}
    rest = sorted((one for one in question.words if one not in missing), key=len, reverse=True)
    words = [one for one in dict.fromkeys((*missing, *rest)) if one.casefold() not in known]
    latest = max((one.round for one in passages), default=0)
    lately = [one for one in passages if one.round == latest][:_BEST]
    speakers = {one.speaker for one in passages if one.speaker}
    trail = [one for one in (*question.words, *asked) if CODE.fullmatch(one)]
    bridges = [
        one for one in _bridges(question, [*lately, *theirs], speakers, trail, read) if one.casefold() not in known
    ]
    bridges = bridges[:_BRIDGES]
    needs = [*words[: _NEEDS - len(bridges)], *bridges]
    return Reflection(enough=False, missing=tuple(needs))


def _bridges(
    question: Question, passages: Sequence[Passage], speakers: Collection[str], trail: Collection[str], read: Stems
) -> list[str]:
    """Identifiers and names in the passages that the question does not hold, identifiers first.

    Those count most that stand with an identifier of the question, or one that led here: the ``trail``.
    """
    own = frozenset().union(*map(read, (question.text, *question.speakers, *speakers)))
    found: Counter[str] = Counter()
    codes: set[str] = set()
    for passage in {one.id: one for one in passages}.values():
        led = sum(read(one) <= read(passage.text) for one in trail)
        names = {match.group() for match in _NAME.finditer(passage.text)}
        codes.update(identifiers(passage.text))
        for name in names.union(identifiers(passage.text)):
            held = read(name)
            if held and not held <= own and not _LOOSE.match(name) and name.casefold() not in FUNCTION_WORDS:
                found[name] += 1 + 4 * led
    return [name for name, _ in sorted(found.items(), key=lambda pair: (pair[0] not in codes, -pair[1], pair[0]))]
