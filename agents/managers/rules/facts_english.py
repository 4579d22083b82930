"""Self-reports in English: "I live in Cork", "I'm allergic to walnuts", "call me Jo", "we have a dog called Biscuit"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ....intent.phrases.tokens import word_set
from .english_grammar import Fact
from .family_english import FAMILY_WORDS, english_family, named_next
from .likes_english import LIKES_RULES
from .people import People
from .person_english import PERSON_RULES
from .sentences import Clause, Reading, words_of
from .words import NAME
from .work_english import WORK_RULES

__all__ = ["Fact", "english_facts"]

_ALL_RULES = (*PERSON_RULES, *WORK_RULES, *LIKES_RULES)

_ANSWER_WORDS = re.compile(
    r"\b(?:answers?|repl(?:y|ies)|respon(?:d|ses?)|emojis?|bullet(?:s| points?)?|concise"
    r"|brief(?:ly)?|short(?:er)?|formal(?:ly)?|informal(?:ly)?|in (?:english|chinese|french"
    r"|german|spanish|italian|portuguese|dutch|mandarin|japanese|korean|polish|irish|welsh|hindi"
    r"|arabic|russian|turkish)|metric|celsius|fahrenheit|imperial|kilomet\w+|24[- ]hour|first name"
    r"|surname|jargon|sentences?|paragraphs?|explanations?|apologi[sz]e"
    r"|exclamation|small talk|simple words|plain (?:english|language|text)|markdown|tables?|units"
    r"|spelling|tone|call me|address me|talk to me|explain|sources"
    r"|examples first|step by step|write code|type hints|code comments)\b",
    re.IGNORECASE,
)


_STANDING = re.compile(
    r"\b(?:when(?:ever)? you (?:write|answer|reply|explain|send|give|respond)"
    r"|always|never|from now on|in general|generally|in future|in the future|going forward"
    r"|every time|by default|don't (?:ever|use|give|call|send|write|start|add)|no more|stop \w+ing"
    r"|no (?:long|emojis?|jargon|lists|bullet)"
    r"|please (?:answer|reply|respond|keep|use|write|call|address|be|avoid|explain|speak|give)"
    r"|(?:keep|make) (?:it|your|the|them|answers|replies|things)|(?:answer|reply|respond|write"
    r"|speak)(?: to)? me|i(?:'d)? (?:prefer|like|want|need) (?:your|you to|short|the answers"
    r"|answers|replies|it))\b"
    r"|^(?:answer|reply|respond|use)\b",
    re.IGNORECASE,
)


_WISH_WORDS = word_set(
    "answer answers reply replies respond responds response responses emoji emojis bullet bullets concise brief briefly"
    " short shorter formal formally informal informally english chinese french german spanish italian portuguese dutch"
    " mandarin japanese korean polish irish welsh hindi arabic russian turkish metric celsius fahrenheit imperial"
    " kilometres kilometers hour first surname jargon sentence sentences paragraph paragraphs explanation explanations"
    " apologise apologize exclamation small simple plain markdown table tables unit units spelling tone call address"
    " talk explain sources examples step write type code"
)
_NAMING = word_set("called named name names")


def english_facts(reading: Reading, people: People, *, household: bool = False) -> Iterator[Fact]:
    """The core facts that a reading holds in English.

    Args:
        reading: of a user's step.
        people: whom the conversation knows.
        household: whether the talk is of the user's household, so that "and a lurcher called Biscuit" is theirs.
    """
    family, wishes = not reading.words.isdisjoint(FAMILY_WORDS), not reading.words.isdisjoint(_WISH_WORDS)
    naming, before = not reading.words.isdisjoint(_NAMING), ""
    for sentence in reading.sentences:
        if naming and sentence.clauses:
            if sentence.holds:
                yield from named_next(before, sentence.text, sentence.clauses)
            before = "" if sentence.supposed else sentence.text
        if not sentence.holds or not sentence.clauses:
            if not sentence.asked:
                continue
            # A question may follow a report: "I do quality control at Tallow Foods, been there six years?"
            continue
        if family:
            yield from english_family(sentence.text, sentence.clauses, people, household)
        wish = _answer_wish(sentence.text, sentence.clauses) if wishes else None
        if wish:
            yield wish
            continue
        for clause in sentence.clauses:
            if not clause.holds:
                continue
            words = words_of(clause.text)
            for needed, pattern, make in _ALL_RULES:
                if not words.isdisjoint(needed) and (match := pattern.search(clause.text)):
                    yield from make(match, clause)


def is_answer_wish(text: str) -> bool:
    """Whether a sentence says how the user wants to be answered."""
    return bool(_STANDING.search(text) and _ANSWER_WORDS.search(text)) and len(text) <= 260


def _answer_wish(text: str, clauses: tuple[Clause, ...]) -> Fact | None:
    if not is_answer_wish(text):
        return None
    if re.search(r"(?i:\b(?:my (?:boss|mum|wife|husband|teacher)|he|she|they)\b)", text):
        return None
    if re.search(rf"(?i:^call me\s){NAME}\W*$", text):
        return None
    # The sentence from the first clause that asks for it, without what is told besides.
    first = next((c for c in clauses if _STANDING.search(c.text) or _ANSWER_WORDS.search(c.text)), clauses[0])
    last = [c for c in clauses if c.start >= first.start][-1]
    return Fact(
        label="answers",
        value=text[first.start - clauses[0].start : last.end - clauses[0].start].strip(" ,;:.!"),
        clause=Clause(start=first.start, end=last.end, text=text, raw=text, holds=True, sentence=first.sentence),
        confidence=0.8,
    )
