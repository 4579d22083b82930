"""Plain tellings of the user in English, where no other rule has read anything: routines, the past, traits, belongings, plans."""

from __future__ import annotations

from dataclasses import replace

from .... import lazy_re as re
from .about_me_english import ABOUT_ME_RULES
from .background_english import BACKGROUND_RULES
from .belongings_english import BELONGING_RULES
from .body_english import BODY_RULES
from .doing_english import DOING_RULES
from .english_grammar import Fact
from .fronted_english import fronted
from .in_hand_english import IN_HAND_RULES
from .perfect_english import PERFECT_RULES
from .plain_english import OFTEN, is_plain
from .plans_english import PLAN_RULES
from .routines_english import ROUTINE_RULES
from .schooling_english import SCHOOLING_RULES
from .sentences import Clause, words_of
from .traits_english import TRAIT_RULES
from .turns_english import TURN_RULES, used_to
from .words import NAME, PARTNERS, any_of
from .working_english import WORKING_RULES

__all__ = ["is_drafted", "once_so", "told_plainly"]

_RULES = (
    *WORKING_RULES,
    *BODY_RULES,
    *TRAIT_RULES,
    *BELONGING_RULES,
    *SCHOOLING_RULES,
    *BACKGROUND_RULES,
    *PERFECT_RULES,
    *ROUTINE_RULES,
    *PLAN_RULES,
    *DOING_RULES,
    *IN_HAND_RULES,
    *TURN_RULES,
    *ABOUT_ME_RULES,
)
_OF_SELF = re.compile(r"\b(?:I|we|my|us)(?:'|\b)", re.IGNORECASE)
_LONGEST = 180
_DOUBT = re.compile(r"\b(?:almost|nearly|think|not|n't|no longer|considering|tempted)\b", re.IGNORECASE)
_ONLY_OFTEN = re.compile(rf"(?i:(?:(?:and|but|so|also|oh|well)[\s,]+)*){OFTEN}\Z")
_ONLY_PARTNER = re.compile(rf"(?i:my\s(?:{any_of(w for w in PARTNERS if w.isascii())}))(?:\s{NAME})?\Z")
_YEAR = re.compile(r"\b(?:this|next|last)\s(?:year|summer|spring|autumn|winter|fall)\b", re.IGNORECASE)
_DRAFT = re.compile(
    r"^\W*(?:(?:please|now|ok|okay|hi|hey|and|also|can you|could you|would you|help me)[\s,]+)*(?:translate"
    r"|rewrite|rephrase|reword|paraphrase|proofread|correct|edit|fix"
    r"|summari[sz]e|write|draft|compose|continue|complete|finish|improve|shorten|expand|say|pretend|imagine"
    r"|repeat|read out|analy[sz]e|act|role-?play)\b[^:]{0,160}:",
    re.IGNORECASE,
)


def is_drafted(text: str) -> bool:
    """Whether a sentence orders a text, and gives words of it: "Translate: I have two older brothers"."""
    return _DRAFT.match(text) is not None


def once_so(clause: Clause) -> list[Fact]:
    """What a clause of a sentence that reports tells of the past alone: "I used to play the trumpet"."""
    said = clause.text.replace("used to", "", 1)
    return list(used_to(clause)) if len(clause.text) <= _LONGEST and is_plain(said) and not _DOUBT.search(said) else []


def told_plainly(clause: Clause, previous: str = "") -> list[Fact]:
    """What a clause tells plainly, by the first rule that reads it.

    Args:
        clause: one in which no other rule has found anything.
        previous: the clause before it in its sentence: "On Saturdays, we go to the market".
    """
    text = clause.text.strip()
    if len(text) > _LONGEST or not _OF_SELF.search(text) or not is_plain(_YEAR.sub(" ", text)):
        return []
    if previous and _ONLY_OFTEN.match(previous.strip()):
        text = f"{previous.strip()} {text}"
    elif previous and _ONLY_PARTNER.match(previous.strip()) and text.startswith("I "):
        text = f"{previous.strip()} and {text}"
    clause = replace(clause, text=fronted(text, previous))
    text = clause.text
    words = words_of(text)
    for needed, pattern, make in _RULES:
        if not words.isdisjoint(needed) and (match := pattern.match(text)) and (found := list(make(match, clause))):
            return found
    return []
