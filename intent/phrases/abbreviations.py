"""Abbreviations: which full stops end no sentence ("at St. Olave's", "Dr. Smith", "No. 5", "3 p.m. on Friday")."""

from __future__ import annotations

from ... import lazy_re as re
from .tokens import word_set

__all__ = ["is_abbreviation_stop"]

_BEFORE_NAME = word_set("mr mrs ms dr prof rev mt ft pt gen col capt lt sgt hon messrs mme mlle")
_BEFORE_NUMBER = word_set("no nos vol pp fig art ch sec tel ext")
_NEVER_LAST = word_set("e.g i.e vs approx cf ca eg ie incl viz")
_SOMETIMES_LAST = word_set("etc ave rd jr sr blvd ln sq ltd inc co corp dept est min max hr hrs tbsp tsp lb oz a.m p.m")
_WORD_BEFORE = re.compile(r"(?:[^\W\d_]\.)*[^\W\d_]+\Z")
_NAMED_STREET = re.compile(
    r"(?<![\w'’])(?!(?:At|In|To|From|The|Near|By|On|Of|And|For|With|Is|Was|My|Our|Visit|See|I|We|No|Yes)\s)[A-Z][\w'’-]*\s\Z"
)
_LONGEST = 12  # characters of an abbreviation


def is_abbreviation_stop(text: str, at: int) -> bool:
    """Whether the full stop at ``text[at]`` belongs to an abbreviation, and the sentence goes on after it.

    A title or "e.g." always goes on; "No." before a digit; "etc.", "Rd." and "p.m." unless a capital follows. "St." is
    a saint before a capital, and a street after a name ("Baker St. My wife").

    Args:
        text: English; of other text no full stop is an abbreviation's.
        at: offset of the full stop.
    """
    if text[at : at + 1] != "." or text[at + 1 : at + 2] == ".":
        return False
    before = _WORD_BEFORE.search(text, max(0, at - _LONGEST), at)
    if before is None or (
        before.start() and text[before.start() - 1].isalnum() and not text[before.start() - 1].isdigit()
    ):
        return False
    word = before[0].casefold()
    following = text[at + 1 : at + 40].lstrip(" \t")
    then = following[:1]
    if not then or then in "\r\n":
        return False
    if word in _NEVER_LAST:
        return True
    if word in _BEFORE_NAME:
        return before[0][0].isupper() and then.isalnum()
    if word in _BEFORE_NUMBER:
        return then.isdigit()
    if word == "st":
        if not before[0][0].isupper():
            return False
        street = _NAMED_STREET.search(text, max(0, before.start() - 40), before.start()) is not None
        return then.islower() or then in ",;" if street else then.isalnum()
    return word in _SOMETIMES_LAST and (then.islower() or then.isdigit() or then in ",;:)")
