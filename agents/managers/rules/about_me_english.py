"""What the user says of what is theirs, needs, and cannot do, in English: "my hobbies are chess and hiking", "I can't smell"."""

from __future__ import annotations

from collections.abc import Iterator

from .... import lazy_re as re
from ....intent.dates.words_english import MONTH_NAME
from .abstract_english import VAGUE_THINGS
from .english_grammar import Fact, rule_set
from .plain_english import ARE, CASED, COUNT, OFTEN, REST, SOFT, SUBJECT, does, lasting, put
from .sentences import Clause

__all__ = ["ABOUT_ME_RULES"]

ABOUT_ME_RULES, _rule = rule_set()

_LEAD = r"(?i:^(?:(?:and|but|so|well|also|oh)[\s,]+)*)"


@_rule(
    "hobby hobbies pastime passion job work trade profession specialty speciality field day instrument"
    " religion language tongue nickname surname sign working shift weekends custody pregnant off responsible"
    " charge need cant cannot hear"
    " spot us put doctor diagnosed prescribed due",
    rf"{_LEAD}(?i:my\s(?:(?:main|biggest|favou?rite|only|current|other|new|day"
    rf"|actual|official|full|real)\s)*(?P<what>hobby|hobbies|pastimes?|passion|day job|job|trade|profession"
    rf"|speciality|specialty|field(?: of (?:study|work|research))?|instrument|religion|nickname|surname|last"
    rf" name|middle name|maiden name|second language|third language|working day|shift|research area|major|minor"
    rf"|star sign)\s(?:is|are)\s)(?P<is>{REST}{{2,60}})$"
    rf"|(?P<tongue>[A-Z][a-z]+)\s(?i:is (?:only )?my\s)(?P<nth>(?i:(?:second|third|first|native|fourth|mother)"
    rf" (?:language|tongue)))$"
    rf"|{_LEAD}(?i:my\s(?:working day|shift|day|job"
    rf"|work)\s)(?P<starts>(?i:(?:starts|ends|begins|finishes) at\s{REST}{{2,30}}))$"
    rf"|{_LEAD}(?i:my\s(?:doctor|gp|consultant|cardiologist|specialist"
    rf"|psychiatrist|vet)\s(?:has\s|just\s|recently\s)*(?:put me on|prescribed(?: me)?|diagnosed me with"
    rf"|started me on|told me to (?:avoid|cut out|take)))\s(?P<drug>{REST}{{3,50}})$"
    rf"|{_LEAD}(?i:there(?:'s|\sare"
    rf"|\sis)\s(?:only\s)?(?:just\s)?)(?P<us>(?i:\w+ of us|just (?:the )?two of us|just me))\s(?P<home>(?i:at"
    rf" home|in (?:the|my|our) (?:family|house|household|flat)|living here))$",
)
def _my(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    if match["what"]:
        what, told = match["what"], match["is"]
        if re.match(
            r"(?:great|good|going|so|very|really|not|a (?:lot|bit|joke|mess|nightmare|pain|dream|big|huge)"
            r"|stressful|boring|killing|hard|tough|fun|pretty|quite|getting|over|done|important|demanding|safe"
            r"|to help|making|helping|challenging|rewarding|ok|okay|fine|everything|what|empty|full|open"
            r"|closed|ruined|blank|missing|wrong|unknown)\b",
            told,
            re.IGNORECASE,
        ):
            return
        slot = {"surname": "surname", "nickname": "nickname", "religion": "religion"}.get(what.lower(), "")
        yield lasting(
            clause,
            "hobby" if re.match(r"hobb|pas", what, re.IGNORECASE) else "about them",
            put(f"{what[:1].upper()}{what[1:].lower()}:", told),
            slot=slot,
        )
    elif match["tongue"]:
        yield lasting(clause, "languages", f"{match['tongue']} is their {match['nth']}")
    elif match["starts"]:
        yield lasting(clause, "work", put("working day", match["starts"]))
    elif match["drug"]:
        how = clause.text[: match.start("drug")].lower()
        avoided = re.search(r"avoid|cut out|take", how)
        if "diagnosed" in how:
            verb = "has been diagnosed with"
        elif "told" in how and avoided:
            verb = f"was told by a doctor to {avoided[0]}"
        else:
            verb = "takes"
        yield lasting(clause, "health", put(verb, match["drug"]))
    else:
        yield lasting(
            clause,
            "household",
            f"{match['us'][:1].upper()}{match['us'][1:].replace('us', 'them').replace('me', 'them')}"
            f" {match['home'].replace('my', 'their').replace('our', 'their')}",
        )


@_rule(
    "off floor charge responsible pregnant need cant cannot custody spot ear eye due weeks months allowed"
    " supposed waiting",
    rf"{SUBJECT}{ARE}\s{SOFT}(?P<am>(?i:on the\s(?:top|ground|[a-z]+(?:st|nd|rd|th)|\d+(?:st"
    rf"|nd|rd|th))\sfloor|off\s(?:on\s)?(?:{OFTEN})|(?:in charge of|responsible"
    rf" for)\s{REST}{{4,60}}|(?:\w+\s)(?:months|weeks) pregnant(?:\swith\s[\w ]{{3,20}})?|on (?:the|a) waiting"
    rf" list for\s{REST}{{3,40}}|due in\s{MONTH_NAME}|not allowed (?:to )?(?:eat|drink|have|drive|fly|lift)\s?{REST}{{2,40}}|deaf in"
    rf" (?:one|my \w+) ear|blind in (?:one|my \w+) eye|under (?:treatment|a doctor) for\s{REST}{{3,40}}"
    rf"|intolerant to\s{REST}{{3,30}}|sensitive to\s{REST}{{3,30}}|addicted to\s{REST}{{3,30}}|used to"
    rf" working\s{REST}{{3,30}}))$"
    rf"|{SUBJECT}\s{SOFT}(?i:need)\s(?P<need>(?i:(?:reading glasses|glasses|hearing aids|a wheelchair|crutches"
    rf"|insulin|a stairlift|step-free access|wheelchair access|a ground[- ]floor (?:room|flat)|subtitles|a"
    rf" gluten-free (?:diet|menu)|nine hours(?: of)? sleep|eight hours(?: of)? sleep|a new (?:hip|knee|kidney"
    rf"|liver))|to (?:avoid|limit|watch|cut down on|inject|wear)\s{REST}{{3,60}}|to (?:take|eat|rest"
    rf"|drink)\s{REST}{{2,40}}\s(?:because of|for|due to)\smy\s{REST}{{3,30}})(?:\s(?:for|to|because of|due"
    rf" to)\s{REST}{{3,40}})?"
    r"|(?!you|to\b|help|some|a (?:bit|little|few|break|moment|minute|hand|second))(?:[\w-]+\s){1,3}(?:to|in"
    r" order to)\s(?:sleep"
    rf"|concentrate|focus|function|read|see|walk|hear|breathe|work properly|fall asleep)(?:\s{REST}{{2,30}})?)$"
    rf"|{SUBJECT}\s{SOFT}(?P<cant>(?i:can't|cannot|can barely|can hardly|can only))\s(?P<act>(?i:hear|see|smell"
    rf"|taste|walk|lift|bend|sit|stand for|climb stairs|kneel|digest|tolerate|sleep without|sleep on|function"
    rf" without|whistle|cook|sing|dance|ski|skate|ride a bike|read music|raise my|straighten my|feel my|fly"
    rf" because|tell left from right|handle (?:spicy|alcohol|caffeine|lactose|gluten|heat)|have (?:pets|a dog|a"
    rf" cat|dairy|gluten"
    rf"|sugar|caffeine|alcohol|nuts|lactose|wheat|shellfish|kids|children)|work (?:nights|weekends"
    rf"|full-time)))(?P<rest>\s{REST}{{2,50}})?$"
    rf"|{SUBJECT}(?i:'ve got|\shave got|\s{SOFT}have)\s(?P<have>(?i:(?:joint|full|shared|sole) custody"
    rf" of\s{REST}{{3,40}}|a soft spot for\s{REST}{{3,40}}|a weakness for\s{REST}{{3,40}}|a sweet tooth|no"
    rf" sense of (?:direction|smell|taste|rhythm)|(?:{COUNT})\s(?:kids|children|sons|daughters|boys|girls)"
    rf" (?:from|with)\s{REST}{{3,40}}|no (?:siblings|brothers or sisters|children|kids|family nearby|car|tv"
    rf"|television|smartphone|social media|religion|pets|savings|debts?)|(?:\w+s)\s(?:off|free)|trouble"
    rf" (?:sleeping|walking|hearing|swallowing|breathing at night)|a (?:low|high) tolerance for\s{REST}{{3,30}}"
    rf"|family in\s{CASED}|relatives in\s{CASED}|roots in\s{CASED}))$",
)
def _of_body(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    if match["am"]:
        if VAGUE_THINGS.search(
            re.sub(r"^(?:in charge of|responsible for|off)\s|\Adeaf.*|\Ablind.*", "", match["am"])
        ) or re.match(r"(?:sensitive to)\s(?:others|people|criticism)", match["am"]):
            return
        work = re.match(r"off|in charge|responsible|used to", match["am"], re.IGNORECASE)
        floor = match["am"].endswith("floor")
        yield lasting(clause, "home" if floor else "work" if work else "health", put("is", match["am"]))
    elif match["need"]:
        if re.match(
            r"to (?:watch|avoid|limit)\s(?:the|my (?!weight|salt|sugar|blood|cholesterol|back|diet|alcohol)|a"
            r"|an|mistakes)\b",
            match["need"],
        ):
            return
        yield lasting(clause, "health", put("needs", match["need"]))
    elif match["cant"]:
        act, rest = match["act"], match["rest"] or ""
        if (
            act.lower()
            in (
                "see",
                "hear",
                "walk",
                "lift",
                "bend",
                "sit",
                "taste",
                "smell",
                "tolerate",
                "digest",
                "cook",
                "sing",
                "dance",
            )
            and not rest
            and act.lower() not in ("whistle", "cook", "sing", "dance", "smell")
        ):
            return
        if act.lower() in ("see", "hear") and not re.search(
            r"\b(?:without|my|well|far|colours?|colors?|low|high|in the dark|at night|in one|out of)\b", rest
        ):
            return
        if act.lower() in ("walk", "sit", "taste", "lift", "bend") and not re.search(
            r"\b(?:far|long|without|for|more|my|heavy|very|properly|anything heavy|stairs)\b", rest
        ):
            return
        if VAGUE_THINGS.search(re.sub(r"\b(?:well|on my (?:left|right) side|without my \w+)\b", "", rest)):
            return
        yield lasting(
            clause,
            "health"
            if act.lower() not in ("cook", "sing", "dance", "whistle", "ski", "skate", "ride a bike", "read music")
            else "skill",
            does(f"{match['cant']} {act}{rest}"),
        )
    else:
        yield lasting(clause, "about them", put("has", match["have"]))
