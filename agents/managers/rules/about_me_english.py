"""What the user says of what is theirs, needs, and cannot do, in English: "my hobbies are chess and hiking", "I can't smell"."""

from __future__ import annotations

from collections.abc import Iterator

from .... import lazy_re as re
from ....intent.dates.words_english import MONTH_NAME
from .abstract_english import VAGUE_THINGS
from .english_grammar import Fact, rule_set
from .plain_english import ARE, CASED, OFTEN, REST, SOFT, SUBJECT, does, lasting, put
from .sentences import Clause

__all__ = ["ABOUT_ME_RULES"]

ABOUT_ME_RULES, _rule = rule_set()

_LEAD = r"(?i:^(?:(?:and|but|so|well|also|oh)[\s,]+)*)"


@_rule(
    "hobby hobbies pastime pastimes passion job trade profession specialty speciality field instrument religion"
    " nickname surname language working shift sign",
    rf"{_LEAD}(?i:my\s(?:(?:main|biggest|favou?rite|only|current|other|new|day"
    rf"|actual|official|full|real)\s)*(?P<what>hobby|hobbies|pastimes?|passion|day job|job|trade|profession"
    rf"|speciality|specialty|field(?: of (?:study|work|research))?|instrument|religion|nickname|surname"
    rf"|second language|third language|working day|shift|star sign)\s(?:is|are)\s)(?P<is>{REST}{{2,60}})$",
)
def _my(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    what, told = match["what"].lower(), match["is"]
    if re.match(
        r"(?:great|good|going|so|very|really|not|a (?:lot|bit|joke|mess|nightmare|pain|dream|big|huge)"
        r"|stressful|boring|killing|hard|tough|fun|pretty|quite|getting|over|done|important|demanding|safe"
        r"|to help|making|helping|challenging|rewarding|ok|okay|fine|everything|what|empty|full|open"
        r"|closed|ruined|blank|missing|wrong|unknown)\b",
        told,
        re.IGNORECASE,
    ):
        return
    yield lasting(
        clause,
        "hobby" if what.startswith(("hobb", "pas")) else "about them",
        put(f"{what.capitalize()}:", told),
        slot=what if what in ("surname", "nickname", "religion") else "",
    )


@_rule(
    "language tongue",
    r"(?P<tongue>[A-Z][a-z]+)\s(?i:is (?:only )?my\s)"
    r"(?P<nth>(?i:(?:second|third|first|native|fourth|mother) (?:language|tongue)))$",
)
def _tongue(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    yield lasting(clause, "languages", f"{match['tongue']} is their {match['nth']}")


@_rule(
    "day job work shift",
    rf"{_LEAD}(?i:my\s(?:working day|shift|day|job|work)\s)"
    rf"(?P<starts>(?i:(?:starts|ends|begins|finishes) at\s{REST}{{2,30}}))$",
)
def _working_day(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    yield lasting(clause, "work", put("working day", match["starts"]))


@_rule(
    "doctor gp cardiologist psychiatrist put prescribed diagnosed",
    rf"{_LEAD}(?i:my\s(?:doctor|gp|consultant|cardiologist|specialist|psychiatrist|vet)\s(?:has\s|just\s|recently\s)*"
    rf"(?:put me on|prescribed(?: me)?|(?P<ill>diagnosed me with)|started me on|told me to (?P<do>avoid|cut out|take)))"
    rf"\s(?P<what>{REST}{{3,50}})$",
)
def _prescribed(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    verb = "has been diagnosed with" if match["ill"] else "takes"
    if match["do"]:
        verb = f"was told by a doctor to {match['do'].lower()}"
    yield lasting(clause, "health", put(verb, match["what"]))


@_rule(
    "floor off charge responsible pregnant waiting due allowed ear eye treatment doctor intolerant sensitive",
    rf"{SUBJECT}{ARE}\s{SOFT}(?P<am>(?i:on the\s(?:top|ground|[a-z]+(?:st|nd|rd|th)|\d+(?:st"
    rf"|nd|rd|th))\sfloor|off\s(?:on\s)?(?:{OFTEN})|(?:in charge of|responsible"
    rf" for)\s{REST}{{4,60}}|(?:\w+\s)(?:months|weeks) pregnant(?:\swith\s[\w ]{{3,20}})?|on (?:the|a) waiting"
    rf" list for\s{REST}{{3,40}}|due in\s{MONTH_NAME}"
    rf"|not allowed (?:to )?(?:eat|drink|have|drive|fly|lift)\s?{REST}{{2,40}}"
    rf"|deaf in (?:one|my \w+) ear|blind in (?:one|my \w+) eye|under (?:treatment|a doctor) for\s{REST}{{3,40}}"
    rf"|intolerant to\s{REST}{{3,30}}|sensitive to\s{REST}{{3,30}}))$",
)
def _am(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    am = match["am"]
    if VAGUE_THINGS.search(re.sub(r"^(?:in charge of|responsible for|off)\s|\A(?:deaf|blind).*", "", am)) or re.match(
        r"sensitive to\s(?:others|people|criticism)", am
    ):
        return
    work = re.match(r"off|in charge|responsible", am, re.IGNORECASE)
    yield lasting(clause, "home" if am.endswith("floor") else "work" if work else "health", put("is", am))


@_rule(
    "need",
    rf"{SUBJECT}\s{SOFT}(?i:need)\s(?P<need>(?i:(?:reading glasses|glasses|hearing aids|a wheelchair|crutches"
    rf"|insulin|a stairlift|step-free access|wheelchair access|a ground[- ]floor (?:room|flat)|subtitles|a"
    rf" gluten-free (?:diet|menu)|nine hours(?: of)? sleep|eight hours(?: of)? sleep|a new (?:hip|knee|kidney"
    rf"|liver))|to (?:avoid|limit|watch|cut down on|inject|wear)\s{REST}{{3,60}}|to (?:take|eat|rest"
    rf"|drink)\s{REST}{{2,40}}\s(?:because of|for|due to)\smy\s{REST}{{3,30}})(?:\s(?:for|to|because of|due"
    rf" to)\s{REST}{{3,40}})?"
    r"|(?!you|to\b|help|some|a (?:bit|little|few|break|moment|minute|hand|second))(?:[\w-]+\s){1,3}(?:to|in"
    r" order to)\s(?:sleep"
    rf"|concentrate|focus|function|read|see|walk|hear|breathe|work properly|fall asleep)(?:\s{REST}{{2,30}})?)$",
)
def _needs(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    if re.match(
        r"to (?:watch|avoid|limit)\s(?:the|my (?!weight|salt|sugar|blood|cholesterol|back|diet|alcohol)|an?|mistakes)\b",
        match["need"],
    ):
        return
    yield lasting(clause, "health", put("needs", match["need"]))


_SENSED = re.compile(r"\b(?:without|my|well|far|colours?|colors?|low|high|in the dark|at night|in one|out of)\b")
_MOVED = re.compile(r"\b(?:far|long|without|for|more|my|heavy|very|properly|stairs)\b")
_TO_SAY = {
    **dict.fromkeys(("see", "hear"), _SENSED),
    **dict.fromkeys(("walk", "sit", "taste", "lift", "bend"), _MOVED),
    **dict.fromkeys(("tolerate", "digest"), re.compile(r"\w")),
}
"""What tells of a body that one cannot do it: "I can't walk far", not "I can't see the point"."""


@_rule(
    "cant cannot barely hardly only",
    rf"{SUBJECT}\s{SOFT}(?P<cant>(?i:can't|cannot|can barely|can hardly|can only))\s(?P<act>(?i:hear|see|smell"
    rf"|taste|walk|lift|bend|sit|stand for|climb stairs|kneel|digest|tolerate|sleep without|sleep on|function"
    rf" without|whistle|cook|sing|dance|ski|skate|ride a bike|read music|raise my|straighten my|feel my|fly"
    rf" because|tell left from right|handle (?:spicy|alcohol|caffeine|lactose|gluten|heat)|have (?:pets|a dog|a"
    rf" cat|dairy|gluten"
    rf"|sugar|caffeine|alcohol|nuts|lactose|wheat|shellfish|kids|children)|work (?:nights|weekends"
    rf"|full-time)))(?P<rest>\s{REST}{{2,50}})?$",
)
def _cannot(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    act, rest = match["act"].lower(), match["rest"] or ""
    if (act in _TO_SAY and not _TO_SAY[act].search(rest)) or VAGUE_THINGS.search(
        re.sub(r"\b(?:well|on my (?:left|right) side|without my \w+)\b", "", rest)
    ):
        return
    skill = act in ("cook", "sing", "dance", "whistle", "ski", "skate", "ride a bike", "read music")
    yield lasting(clause, "skill" if skill else "health", does(f"{match['cant']} {match['act']}{rest}"))


@_rule(
    "have ive weve",
    rf"{SUBJECT}(?i:'ve got|\shave got|\s{SOFT}have)\s(?P<have>(?i:(?:joint|full|shared|sole) custody"
    rf" of\s{REST}{{3,40}}|a soft spot for\s{REST}{{3,40}}|a weakness for\s{REST}{{3,40}}|no"
    rf" sense of (?:direction|smell|taste|rhythm)|no (?:siblings|brothers or sisters|children|kids|family nearby|car|tv"
    rf"|television|smartphone|social media|religion|pets|savings|debts?)|\w+s\soff|trouble"
    rf" (?:sleeping|walking|hearing|swallowing|breathing at night)|a (?:low|high) tolerance for\s{REST}{{3,30}}"
    rf"|family in\s{CASED}|relatives in\s{CASED}|roots in\s{CASED}))$",
)
def _has(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    yield lasting(clause, "about them", put("has", match["have"]))
