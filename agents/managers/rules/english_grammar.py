"""What the rules for English self-reports share: the fact, the parts of patterns, and how rules are listed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from .... import lazy_re as re
from ....intent.dates.numbers_english import ONES, TENS
from .nations import LANGUAGES, NATIONS
from .sentences import Clause
from .words import HAN, NAME, any_of

__all__ = [
    "ADV",
    "AGE_WORDS",
    "JOB_END",
    "LANGUAGES",
    "LEAD",
    "LEAD_ONLY",
    "NATIONS",
    "PHRASE",
    "PLACE",
    "POINTS",
    "STOP",
    "TAIL",
    "VAGUE",
    "Fact",
    "Make",
    "Rule",
    "article",
    "clean",
    "rule_set",
    "third",
    "verb_s",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """A core fact as read: label and value of its block.

    Attributes:
        slot: what it is the one value of; empty where there may be many.
        stated: the bare value of the slot.
        starts: whether a date beside it is when it began. ends: whether it says that the slot's value came to an end.
        plain: whether it is only told plainly, so that an event or an ending of the same words says it better.
    """

    label: str
    value: str
    clause: Clause
    slot: str = ""
    stated: str = ""
    starts: bool = False
    ends: bool = False
    confidence: float = 0.85
    plain: bool = False


Make = Callable[[re.Match[str], Clause], Iterator[Fact]]
Rule = tuple[frozenset[str], re.Pattern[str], Make]
"""Words of which a clause has at least one (empty: any), in small letters without apostrophes; pattern; facts of it."""
_APOSTROPHE = re.compile(r"(?<=[a-zA-Z:|])'(?=(?:m|ve|t)\b)")


_LEADS = (
    r"(?:(?:oh|well|and|but|so|also|anyway|yes|yeah|no|hi|hello|hey|btw|by the way|actually"
    r"|just so you know|fyi|for context|for reference|so my background|for the record|right)[\s,]+)*"
)
LEAD = rf"(?i:^{_LEADS}(?:before you .{{0,40}}?[\s,]+{_LEADS})?)"  # once: in many such a text would take for ever


ADV = r"(?i:(?:just|now|currently|actually|really|also|still|recently|finally|always|already|both|all|even)\s)*"


PLACE = rf"(?P<place>{NAME}(?:,\s{NAME})?|[{HAN}]{{2,6}})"


TAIL = r"(?=[\s,.;:!)]|$)"


PHRASE = r"(?P<what>[^\ue000,.;:!?()]{2,60}?)"


STOP = (
    r"(?=\s(?:and|but|so|because|since|for|when|which|who|that|although|though|as|at|in|on|with"
    r"|now|anymore|any more|these days|either|too|though|by the way)\b|\s*$)"
)


JOB_END = re.compile(
    r"(?:er|or|ist|ian|ant|ent|nurse|chef|cook|clerk|vet|pilot|coach|judge|tailor|guide|guard|monk"
    r"|priest|nun|smith|wright|man|woman|"
    r"person|officer|lead|head|executive|analyst|associate|intern|apprentice|staff|physician"
    r"|midwife|barista|paramedic|medic|mechanic|academic|attorney|waitress|actress|architect|chemist|copywriter"
    r"|dental nurse|plumber|freelance\w*|CEO|CTO|CFO|PM|GP|DBA|SRE)\Z",
    re.IGNORECASE,
)


VAGUE = re.compile(
    r"^(?:it|that|this|them|those|these|you|him|her|to hear|to see|to think|the idea|what|how|your"
    r"|one|the way|that idea|to be honest|my life|a lot|to say|to know|having to|where|when"
    r"|so much|not|all|going back|the sound|waking|everything|anything|the fact)\b",
    re.IGNORECASE,
)


LEAD_ONLY = re.compile(
    r"^(?:\W|\b(?:and|but|so|also|well|oh|yeah|yes|no|because|personally|honestly|in general"
    r"|as for me|though|although|while|hi|hello|by the way|btw|to be honest|tbh|mostly|usually"
    r"|at home|that)\b)*$",
    re.IGNORECASE,
)


POINTS = re.compile(r"\b(?:this|that|these|those|him|her|them|their|his|its?|you|your|theirs)\b", re.IGNORECASE)


AGE_WORDS = rf"(?:\d{{1,3}}|(?:{'|'.join(TENS)})(?:[- ](?:{'|'.join(ONES[:9])}))?|{any_of(ONES)})"


_HELPERS = {"have": "has", "do": "does", "be": "is"}


def rule_set() -> tuple[list[Rule], Callable[[str, str], Callable[[Make], Make]]]:
    """A list of rules, and the decorator that adds one: words, a pattern, and what makes facts of its match in a clause.

    People often leave the apostrophes of "I'm", "I've" and "don't" out, so these are optional in every pattern.
    """
    rules: list[Rule] = []

    def rule(words: str, pattern: str) -> Callable[[Make], Make]:
        compiled = re.compile(_APOSTROPHE.sub("'?", pattern))

        def keep(make: Make) -> Make:
            rules.append((frozenset(words.split()), compiled, make))
            return make

        return keep

    return rules, rule


def clean(text: str) -> str:
    flat = re.sub(r"\s+", " ", text).strip(" ,;:.!-")
    return re.sub(r"\s(?:in|at|on|for|with|of|to|from|the|an?|and|or)$", "", flat)


def third(verb: str) -> str:
    """A verb as it is said of one person: ``plays``, ``studies``, ``has``."""
    if verb in _HELPERS:
        return _HELPERS[verb]
    if verb.endswith("y") and verb[-2:-1] not in "aeiou":
        return f"{verb[:-1]}ies"
    return verb + ("es" if verb.endswith(("ch", "sh", "s", "x", "o", "z")) else "s")


def verb_s(verb: str) -> str:
    """As :func:`third`, at the beginning of an item: ``Plays``."""
    return third(verb.lower()).capitalize()


def article(job: str) -> str:
    return f"{'an' if job[:1].lower() in 'aeiou' else 'a'} {job}"
