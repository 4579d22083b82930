"""What the user has done by now who had never done it: "I went to Japan last month" ends "has never been to Japan"."""

from __future__ import annotations

from dataclasses import replace

from .... import lazy_re as re
from ....memory_types.proposals import OF_THE_ENDED, Ends
from ...contract import HeardStep
from .english_grammar import LEAD
from .finding import Finding, quote_of
from .people import is_name
from .sentences import Reading
from .words import NAME, content_words

__all__ = ["been_there"]

_SOON = r"(?:(?:just|finally|actually|also|recently|already|even|then|now|currently|both|all)\s)*"
_WENT = re.compile(
    rf"{LEAD}(?i:(?:I|we)(?:['’]ve|\shave)?\s{_SOON}(?:(?:went|been|flew|flown|travell?ed|drove|driven|came|got)\s{_SOON}"
    r"(?:(?:over|out|back|home|on holiday|on a trip)\s)?(?:to|from|around|through)|visited|(?:spent|had)\s[\w\s]{2,24}?\sin)\s(?:the\s)?)"
    rf"(?P<place>{NAME})(?=\W*$|[,;]|\s(?:last|this|in|on|at|for|with|and|but|once|twice|two|three|four|five|several|many|again|yesterday"
    r"|when|as|to|by|from|because|before|after|during|a|an|over|recently|earlier|back|alone|together|\d+)\b)"
)
_WENT_ZH = re.compile(
    r"^(?:我们?|咱们?)[^，。不没想要会将打若如差搬]{0,8}?(?:去了|去过|到了|到过|飞了|飞去了)(?:一?趟|[一两三几]次)?(?P<place>[\u4e00-\u9fff]{2,6}?)"
    r"(?:了|玩|旅[游行]|出差|[一两三几]次|一?趟|$)"
)
_NOT_DONE = re.compile(
    r"\b(?:dream\w*|almost|nearly|never|video game|virtual(?:ly)?|in a (?:film|book|novel|game))\b", re.IGNORECASE
)
_WORDS = ("never {}", "never visited {}", "never travelled {}", "never traveled {}")
"""What is told of a place where one has not been: "Has never been to Japan", "Has never visited Japan"."""
_WORDS_ZH = ("没去过{}", "没到过{}", "没有去过{}")


def been_there(reading: Reading, heard: HeardStep, text: str, found: list[Finding]) -> list[Finding]:
    """The findings of a step, which end that the user has never been to a place where they have been by now.

    Where no finding of the user says so, one is added that is kept only if it ends something.
    """
    for clause in reading.clauses():
        english = _WENT.match(clause.text)
        match = english or (_WENT_ZH.match(clause.text) if reading.has_han else None)
        if match is None or not is_name(match["place"]) or _NOT_DONE.search(clause.text):
            continue
        place, quote = match["place"], quote_of(text, clause.start, clause.end, heard.step.id)
        forms, now = (_WORDS, "Has been to") if english else (_WORDS_ZH, "去过")
        said = next((one for one in found if one.kind == "core" and not one.slot and quote in one.evidence), None)
        ends = tuple(
            Ends(labels=("life",), words=form.format(place), exact=True, needed=said is None) for form in forms
        )
        if said is not None:
            found = [replace(one, ends=(*one.ends, *ends)) if one is said else one for one in found]
            continue
        found = [
            *found,
            Finding(
                kind="core",
                values={"label": OF_THE_ENDED, "value": f"{now} {place}" if english else now + place},
                evidence=(quote,),
                reason="so by now",
                ends=ends,
                topics=content_words(place),
            ),
        ]
    return found
