"""Who the user is, in English: name, home, origin, age, languages, health."""

from __future__ import annotations

from collections.abc import Iterator

from .... import lazy_re as re
from ....intent.dates.words_english import MONTH_NAME
from .english_grammar import (
    ADV,
    AGE_WORDS,
    JOB_END,
    LANGUAGES,
    LEAD,
    NATIONS,
    PLACE,
    TAIL,
    Fact,
    article,
    clean,
    rule_set,
)
from .people import is_name
from .roles_english import BELIEF, FAMILY_ROLE
from .sentences import Clause
from .words import NAME

__all__ = ["PERSON_RULES"]

PERSON_RULES, _rule = rule_set()

_TRAITS = (
    r"left[- ]handed|right[- ]handed|ambidextrous|colou?r[- ]?blind|dyslexic|deaf|hard of hearing"
    r"|blind|short[- ]sighted|autistic|asthmatic|epileptic|an? (?:only child|early riser|night owl"
    r"|morning person|introvert|extrovert|(?:non-?)?smoker)"
)


_ORGANISATION = re.compile(
    r"\b(?:Labs?|Inc|Ltd|LLC|GmbH|Corp|Group"
    r"|Systems|Technologies|Bank|Partners|Studios?|Software"
    r"|Consulting|Foods|Airlines|Motors|Media|Solutions|Industries|&)\b|&"
)


_OFFICE = re.compile(
    r"(?:Lead|Senior|Junior|Head|Chief|Staff|Principal|Assistant|Associate|Deputy|Vice|Executive|Managing|General|Technical"
    r"|Software|Hardware|Data|Web|Mobile|Product|Project|Programme?|Team|Front\w*|Back\w*|Full|Quality|QA|Test|Sales|Marketing"
    r"|Finance|Financial|Account|Accounts|Customer|Client|Office|Human|HR|IT|Cloud|Security|Network|Systems?|Machine|Research"
    r"|Creative|Art|Graphic|Interior|Content|Community|Operations|Regional|Area|Store|Shift|Site|Civil|Electrical|Mechanical"
    r"|Structural|Chemical|Clinical|Registered|Dental|Veterinary|Primary|Secondary|Science|Yoga|Personal|Fitness|Night|Bus"
    r"|Train|Truck|Taxi|Fire|Police|Flight|Freelance|Certified|Licensed|Trainee|Apprentice|Student|Wedding|Event|Events|UX|UI"
    r"|Business|Investment|Legal|Tax|Supply|Warehouse|Delivery|Visiting)\s\w"
)
"""A job in capitals, "Lead Developer", and not a name such as "Anna Miller"."""


@_rule(
    "name names go im am here called named its is",
    rf"(?i:\bmy\s(?:full\s|first\s|real\s)?name(?:'s|\sis))\s(?P<name>{NAME}){TAIL}"
    rf"|(?i:\bI\sgo\sby)\s(?P<by>{NAME}){TAIL}|{LEAD}(?:(?i:since|as of"
    rf"|from)\s[\w ]{{3,30}}?\s)?(?i:I'm|I\sam)\s(?i:now\s)?(?P<am>{NAME})(?=$|,|\sand\b|\s(?:from"
    rf"|here|now)\b)|^(?i:(?:hi|hey|hello|morning|evening)[\s,]+(?:it's\s|this\sis\s))(?P<its>{NAME})"
    rf"(?=$|,|\s(?:from|here|again)\b)|^(?P<here>{NAME})\shere$|(?i:\bI'm\s(?:called|named))\s(?P<called>{NAME}){TAIL}",
)
def _name(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    name = match["name"] or match["by"] or match["am"] or match["here"] or match["called"] or match["its"]
    if (
        is_name(name)
        and not NATIONS.match(name)
        and not (match["am"] and (name.isupper() or (JOB_END.search(name) and _OFFICE.match(name))))
    ):
        yield Fact(
            label="name",
            value=name,
            clause=clause,
            slot="name",
            starts=bool(re.search(r"(?i:\b(?:since|as of|now)\b)", clause.text)),
        )


@_rule(
    "call called addressed",
    rf"(?i:\bcall\sme|\bI(?:'d|\swould)?\s(?:like|prefer|want|wish|rather)\s(?:to\s)?be\s(?:called|addressed\sas))\s(?P<name>{NAME}){TAIL}",
)
def _called(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    if is_name(match["name"]):
        yield Fact(
            label="form of address", value=f"Wants to be called {match['name']}", clause=clause, slot="form_of_address"
        )


@_rule(
    "ms mrs mr miss mx dr doctor professor prof",
    r"^(?P<title>Ms|Mrs|Mr|Miss|Mx|Dr|Doctor|Professor|Prof)\b\.?(?:,?\s(?i:please|not|never"
    r"|actually))?[^a-z]*$|(?i:\bit's|\bcall me|\baddress me as|\buse)\s(?P<title2>Ms|Mrs|Mr|Miss"
    r"|Mx|Dr)\b(?!\.?\s[A-Z])",
)
def _title(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    yield Fact(
        label="form of address",
        value=f"Is addressed as {match['title'] or match['title2']}",
        clause=clause,
        slot="form_of_address",
    )


_IN_ROOMS = (
    r"(?:(?i:in\s(?:an?|the|our|my)\s(?:[a-z-]+\s){0,2}(?:flat|house|apartment|studio|cottage|bungalow|farmhouse|room|place)\s)"
    rf"(?:(?i:on|off)\s(?i:the\s)?{NAME}\s)?)?"
)
"""In what one lives, before where: "in the flat on Mill Lane in Leeds"."""


@_rule(
    "live lived living reside based settled",
    rf"{LEAD}(?i:(?:(?:for now|these days|at the moment|for the time being|right now),?\s)?(?:I|we)"
    rf"(?:(?:'ve|\shave)\s{ADV}lived(?=\s\w+\s[^,]{{2,40}}\sfor\b)|(?:'m|'re|\sam|\sare|'ve been"
    rf"|\shave been|'ve|\shave)?\s{ADV}(?:live|lived(?=\s\w+\s[^,]{{2,40}}\s(?:since|all)\b)|living|reside"
    rf"|based|settled))\s(?:\w+\s)?){_IN_ROOMS}(?i:(?P<prep>in|at|near|outside)\s(?:the\s|a\s\w+\s(?:called\s)?)?){PLACE}",
)
def _home(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    place = match["place"]
    if is_name(place):
        yield Fact(
            label="home",
            value=f"Lives {match['prep'].lower()} {place}",
            stated=place,
            clause=clause,
            slot="home_city",
            starts=True,
        )


@_rule(
    "moved relocated emigrated",
    rf"{LEAD}(?i:(?:I|we)(?:'ve|\shave)?\s{ADV}(?:moved|relocated|emigrated)(?:\s(?:house|flat"
    rf"|back|over|here|out|down|up))*\s(?:from\s[^,.]{{2,30}}?\s)?(?:(?:to|into)\s(?:the\s)?"
    rf"|in\s(?:together\s|with\s(?:(?:my|our|an?|the|some)\s)?[\w'’ -]{{1,30}}?\s)?(?:in|near|outside)\s"
    rf"|(?:to|into|in\sto)\s(?:an?|our|my|the)\s(?:[\w-]+\s){{0,2}}(?:flat|house|apartment|place|home|cottage|studio|room"
    rf"|bungalow|loft)\s(?:in|near|outside)\s)){PLACE}",
)
def _moved(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    if _ORGANISATION.search(match["place"]):
        yield Fact(
            label="employer",
            value=f"Works at {match['place']}",
            stated=match["place"],
            clause=clause,
            slot="employer",
            starts=True,
        )
    elif is_name(match["place"]):
        yield Fact(
            label="home",
            value=f"Lives in {match['place']}",
            stated=match["place"],
            clause=clause,
            slot="home_city",
            starts=True,
        )


@_rule("now", rf"(?i:^(?:and\s)?(?:I|we)(?:'m|'re|\sam|\sare)\s(?:now\s)?in\s){PLACE}\s(?i:now)\b")
@_rule("now", rf"(?i:^(?:and\s|but\s|so\s)*now\s(?:I|we)(?:'m|'re|\sam|\sare)\s(?:living\s)?in\s){PLACE}[.!]?$")
def _in_now(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    if is_name(match["place"]):
        yield Fact(
            label="home",
            value=f"Lives in {match['place']}",
            stated=match["place"],
            clause=clause,
            slot="home_city",
            starts=True,
            confidence=0.75,
        )


@_rule(
    "house home flat apartment place",
    rf"(?i:\b(?:my|our)\s(?:\w+\s)?(?:house|home|flat|apartment|place)\s(?:is\s)?in\s){PLACE}",
)
def _house(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    if is_name(match["place"]) and not re.search(r"\b(?:holiday|old|former|second|parents|sold|summer)\b", match[0]):
        yield Fact(
            label="home",
            value=f"Has a home in {match['place']}",
            stated=match["place"],
            clause=clause,
            slot="home_city",
            confidence=0.75,
        )


@_rule(
    "from grew born raised",
    rf"{LEAD}(?i:(?:I'm|I\sam|I\scome)\s(?:originally\s)?from\s){PLACE}|(?i:\bI\s(?:grew up"
    rf"|was born|was raised)\sin\s)(?P<born>{NAME})",
)
def _origin(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    place = match["place"] or match["born"]
    if is_name(place):
        yield Fact(label="origin", value=f"Comes from {place}", clause=clause, slot="hometown")


@_rule(
    "speak learning learn fluent native teaching mother first",
    rf"(?i:\bI(?:'m|\sam)?\s(?:also\s)?(?P<verb>speak|learning|learn|fluent in|native in"
    rf"|teaching myself)\s(?:a\s(?:bit|little)\sof\s|some\s"
    rf"|fluent\s)?)(?P<what>{LANGUAGES}(?:(?:,\s|,?\sand\s){LANGUAGES})*)"
    rf"|(?i:\bmy\s(?:native\slanguage|mother\stongue|first\slanguage)\sis\s)(?P<native>{LANGUAGES})",
)
def _language(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    if match["native"]:
        yield Fact(
            label="languages", value=f"Native language: {match['native']}", clause=clause, slot="native_language"
        )
    else:
        verb = "Learns" if "learn" in match["verb"].lower() or "teach" in match["verb"].lower() else "Speaks"
        yield Fact(label="languages", value=f"{verb} {match['what']}", clause=clause)


@_rule(
    "im am turned",
    rf"{LEAD}(?i:(?:I'm|I\sam|I\s(?:just\s)?turned|I've just turned)\s(?P<age>{AGE_WORDS})(?=$"
    rf"|\s(?:years old|now|and|today|yesterday|last|this|but|next|so)\b))(?!\s(?i:minutes|hours"
    rf"|days|percent|weeks|months|times))",
)
def _age(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    age = match["age"]
    if (age.isdigit() and not 5 <= int(age) <= 115) or re.match(r"(?i:one|two|three|four)\b", age):
        return
    yield Fact(label="age", value=f"Is {age} years old", clause=clause, slot="age")


@_rule(
    "birthday birthdays born",
    r"(?i:\bmy\sbirthday(?:'s|\sis)\s(?:on\s)?)(?P<when>[^\ue000,.;:!?()]{3,25})"
    r"|(?i:\bI\swas\sborn\s(?:on|in)\s)(?P<born>(?:the\s)?(?:(?!\sand\s)[\w ])*\d(?:(?!\sand\s)[\w ])*)",
)
def _birthday(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    when = clean(match["when"] or match["born"])
    if re.search(rf"\d|{MONTH_NAME}", when, re.IGNORECASE) and "today" not in when:
        yield Fact(
            label="birthday",
            value=f"Birthday: {when}" if match["when"] else f"Born {when}",
            clause=clause,
            slot="birthday",
        )


@_rule(
    "married engaged divorced widowed single separated pregnant expecting",
    r"(?i:\b(?:I'm|I\sam|I've been|we're|we\sare|I\sgot|we\sgot|we've been)\s(?P<state>married"
    r"|engaged|divorced|widowed|single|separated|pregnant|expecting(?:\stwins| a baby"
    r"| our \w+)?)\b)(?!\s(?:to\sthe|with\sthe|out|file|in the))",
)
def _state(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    state = match["state"].lower()
    span = re.match(r"\sfor\s(?:[\w-]+\s){1,3}?(?:years?|months|decades?)\b", clause.text[match.end() :])
    yield Fact(
        label="family",
        value=f"Is {state}{span[0] if span else ''}",
        clause=clause,
        slot="" if state.startswith(("preg", "expect")) else "marital_status",
        starts="got" in match[0],
    )


@_rule(
    "im am ive have became ill will",
    rf"{LEAD}(?i:I(?:'m|\sam|'ve\sbecome|\sbecame|'ll\sbe|\swill\sbe)\s{ADV}(?:going\sto\sbe\s|about\sto\sbecome\s)?(?:an?"
    rf"|the)\s(?:proud\s|happy\s|new\s"
    rf"|first-time\s)?(?P<what>(?:single\s)?{FAMILY_ROLE}(?:\sof\s[\w-]+(?:\s(?:girls|boys|kids|children|daughters"
    rf"|sons))?)?)(?=$|,|\s(?:now|again|and|but"
    r"|at\slast|soon|in|for|since|too|by)\b))",
)
def _relation(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    if re.search(r"\b(?:going|about)\sto\s|'ll\s|\swill\s", match[0], re.IGNORECASE):
        return  # not yet
    yield Fact(label="family", value=f"Is {article(match['what'].lower())}", clause=clause)


@_rule(
    "im am ive have became",
    rf"{LEAD}(?i:I(?:'m|\sam|'ve\sbecome|\sbecame)\s{ADV}an?\s(?:\w+\s)?)(?P<what>(?i:{BELIEF}))(?=$|,|\s(?i:now|and|but|by"
    rf"|since|who|like)\b)",
)
def _belief(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    yield Fact(label="belief", value=f"Is {article(match['what'])}", clause=clause)


@_rule(
    "have got",
    r"(?i:\b(?:I|we)(?:'ve|\shave)?\s(?:have|got|also have)\s(?P<what>(?:an?|one|two|three|four"
    r"|five|six|several|\d)\s(?:older\s|younger\s|little\s|big\s|grown-up\s|small\s"
    r"|twin\s)?(?:brothers?|sisters?|siblings?|kids?|children|sons?|daughters?|grandchildren"
    r"|grandkids|cats?|dogs?|chickens|horses?|rabbits?)(?:\sand\s(?:an?|one|two|three"
    r"|four)\s\w+)?)\b)(?!\s(?:in my (?:class|team)|called|named))",
)
def _counted(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    yield Fact(label="family", value=f"Has {clean(match['what'])}", clause=clause)


@_rule(
    "live",
    r"(?i:^(?:and\s|but\s|so\s)?I\slive\s(?P<how>alone|on my own"
    r"|with\smy\s[^\ue000,.;:!?()]{2,40}?)(?=\s(?:in|at|near|and|but|so)\b|\s*$))",
)
def _lives_with(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    yield Fact(label="household", value=f"Lives {clean(match['how']).replace(' my ', ' their ')}", clause=clause)


@_rule(
    "handed ambidextrous blind colour color colourblind colorblind lefthanded righthanded dyslexic deaf hard short"
    " autistic asthmatic epileptic child riser owl person introvert extrovert smoker nonsmoker non",
    rf"(?i:\b(?:I'm|I\sam|I've always been)\s(?P<trait>(?:{_TRAITS})(?:\sin\smy\s\w+\s\w+)?)\b)",
)
def _trait(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    yield Fact(label="trait", value=f"Is {match['trait'].lower().replace(' my ', ' the ')}", clause=clause)


@_rule(
    "have got suffer diagnosed ive",
    r"(?i:\bI(?:'ve|\shave|\swas)?\s(?:just\s)?(?:got\s|been\s)?(?P<verb>have|got|suffer from"
    r"|diagnosed with|'ve got)\s(?:an?\s|mild\s|chronic\s)*(?P<what>(?:type\s\w+\s)?(?:diabetes"
    r"|asthma|migraines?|epilepsy|eczema|arthritis|hypertension|high blood pressure"
    r"|coeliac disease|celiac disease|adhd|autism|dyslexia|hay fever|anxiety|depression|insomnia"
    r"|crohn's(?: disease)?|ibs|psoriasis|endometriosis|a heart condition|a pacemaker|tinnitus"
    r"|sleep apnoea|sleep apnea|lactose intolerance|vertigo|glaucoma))\b)",
)
def _health(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    yield Fact(label="health", value=f"Has {match['what']}", clause=clause)


@_rule(
    "im am",
    rf"{LEAD}(?i:I'm|I\sam)\s(?i:half\s"
    rf"|originally\s|an?\s)?(?P<nation>[A-Z][a-z]+(?:\sAfrican)?)(?=$|,|\s(?:and|but|by|so|living|now|since)\b)",
)
def _nation(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    believes = re.fullmatch(BELIEF, match["nation"], re.IGNORECASE) is not None
    if believes and re.search(r"\san?\s", match[0], re.IGNORECASE):
        return  # told as what is believed
    if NATIONS.match(match["nation"]) and match["nation"] != "Christian":
        yield Fact(label="belief" if believes else "origin", value=f"Is {match['nation']}", clause=clause)


@_rule(
    "blood shoe height ring star pronouns nationality religion shirt dress native im",
    r"(?i:^(?:and\s|so\s|just so you know[\s,]+|fyi[\s,]+|btw[\s,]+|also[\s,]+)*my\s(?P<what>blood (?:type|group)|shoe size|height"
    r"|ring size|star sign|pronouns|nationality|religion|t-shirt size|dress size|native tongue)"
    r"\s(?:is|are)\s)(?P<value>[^\ue000,.;:!?()]{1,40})"
    r"|(?i:^(?:and\s)?I'm\s)(?P<tall>\d{3}\s?cm|\d\s?(?:ft|foot|feet)\s?\d{0,2}|1[.,]\d\d\s?m)(?i:\s(?:tall)?)",
)
def _measure(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    what = (match["what"] or "height").lower()
    yield Fact(
        label=what,
        value=f"{what.capitalize()}: {clean(match['value'] or match['tall'])}",
        clause=clause,
        slot=what.replace(" ", "_"),
    )
