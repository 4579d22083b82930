"""What the user's life has been so far, in English: "I grew up on a farm", "I had my appendix out in 2019", "I've been to Iceland"."""

from __future__ import annotations

from collections.abc import Iterator

from .... import lazy_re as re
from ....intent.dates.numbers_english import ONES
from .abstract_english import ABSTRACT, SMALL_THINGS
from .english_grammar import JOB_END, Fact, rule_set
from .nations import NATIONS
from .plain_english import CASED, COUNT, EVER, PASTLY, REST, SOFT, SUBJECT, WHEN_PAST, lasting, put, third
from .roles_english import is_occupation
from .sentences import Clause

__all__ = ["BACKGROUND_RULES"]

BACKGROUND_RULES, _rule = rule_set()


@_rule(
    "grew raised brought",
    rf"{SUBJECT}\s{PASTLY}(?P<grew>(?i:grew up|was raised|was brought up|were"
    rf" brought up|were raised))\s(?P<where>(?i:(?:bilingual|poor|catholic"
    rf"|muslim|jewish|vegetarian)|(?:in|on|near|by|with|between|outside|speaking|without|as|around|among|next"
    rf" to)\s{REST}{{3,60}}))$"
    rf"|{SUBJECT}\s(?P<raised>(?i:was raised|was brought up|were raised))\s(?:an?\s)?(?P<belief>[A-Z][a-z]+)$",
)
def _grew_up(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    if match["belief"]:
        if NATIONS.match(match["belief"]):
            yield lasting(clause, "belief", put(match["raised"], match["belief"]))
        return
    yield lasting(clause, "origin", put(match["grew"], match["where"]))


@_rule(
    "im am come from family adopted youngest oldest eldest middle",
    rf"{SUBJECT}(?i:\s{SOFT}come|'m|\sam)\s(?i:(?:originally|also"
    rf"|actually)\s)*(?i:from)\s(?P<family>(?i:(?:the\s(?:countryside|north|south|east|west|coast|mountains"
    rf"|suburbs|islands)(?:\sof\s{CASED})?|an?\s(?:[\w-]+\s){{0,3}}(?:family|village|town|background|household"
    rf"|farm|island|city|suburb|place)(?:\s(?:of|in|near|on|outside|called)\s{REST}{{3,40}})?)))$"
    rf"|{SUBJECT}\s(?P<adopted>(?i:was adopted|was (?:a )?premature|was born (?:deaf|blind|prematurely"
    rf"|premature)))(?P<as>\s(?i:as a \w+|at \w+|from {CASED}|when I was \w+))?$"
    rf"|{SUBJECT}(?i:'m|\sam)\s{SOFT}(?P<of>(?i:(?:the\s(?:youngest|oldest|eldest|second|middle|third|only \w+"
    rf"|first(?: \w+)?)"
    rf"|(?:one|the (?:first|second|third|fourth|fifth)) )"
    rf"\s?(?:child\s|girl\s|boy\s)?(?:of|out of|in)\s(?:my family|(?:the\s)?\w+(?:\s(?:children|siblings|kids"
    rf"|sisters|brothers))?|a family of\s\w+(?:\s\w+)?|my family to\s{REST}{{4,40}})))$",
)
def _family_of(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    if match["family"]:
        yield lasting(clause, "origin", put("comes from", match["family"]))
    elif match["adopted"]:
        yield lasting(clause, "origin", put(match["adopted"], match["as"] or ""))
    elif re.search(
        r"\b(?:family(?:\s(?:of|to)\s.+)?|children|siblings|kids|sisters|brothers|two|three|four|five|six"
        r"|seven|eight|nine|ten"
        r"|eleven|twelve|\d)\Z",
        match["of"],
    ):
        yield lasting(clause, "family", put("is", match["of"]))


_BODY = (
    r"(?:leg|arm|wrist|ankle|collarbone|collar bone|rib|ribs|nose|foot|toe|finger|hip|shoulder|knee|elbow|back"
    r"|jaw|pelvis|hand|thumb|tooth|teeth|neck|spine|kneecap|heel|achilles(?: tendon)?"
    r"|acl|cruciate(?: ligament)?|hamstring|meniscus|ligament|cartilage|skull|femur|tibia)"
)
_ORGAN = (
    r"(?:appendix|tonsils|gall ?bladder|wisdom teeth|spleen|adenoids|kidney|cataracts?|thyroid|uterus|womb"
    r"|ovar(?:y|ies)|a mole|a cyst|a tumour|a tumor|breast|lung|prostate|knee|hip|shoulder"
    r"|eyes?|heart|back|nose|teeth)"
)
_ILLNESS = (
    r"(?:[\w-]+\s){0,2}?(?:cancer|surgery|operation|transplant|replacement|bypass|stroke|heart attack"
    r"|miscarriage|c-section|caesarean|vasectomy|hysterectomy|mastectomy|chemotherapy|chemo|meningitis"
    r"|pneumonia|malaria|tuberculosis|covid|sepsis|shingles|polio|measles|leukaemia|leukemia|concussion"
    r"|breakdown|burnout|seizure|hernia|slipped disc|blood clot|pacemaker(?:\s\w+)?|stent|accident|nervous"
    r" breakdown|anorexia|gestational diabetes|postnatal depression|postpartum depression|pre-?eclampsia|glandular"
    r" fever|scarlet fever|rheumatic fever|whooping cough)s?"
)
_TIME = (
    rf"(?i:{WHEN_PAST}|{EVER}|last year|this year|(?:two|three|four|five|six|eight|nine|ten|a few|several)"
    rf" months ago)"
)


@_rule(
    "had broke fractured tore dislocated ruptured injured survived lost beat have been diagnosed",
    rf"{SUBJECT}(?i:\s|'ve\s|\shave\s){PASTLY}(?P<what>(?i:(?:had|got)\s(?:my|an?|both|all|two"
    rf"|the)\s(?:[\w-]+\s){{0,2}}?{_ORGAN}\s(?:out|removed|replaced|operated on|taken out|fixed|done"
    rf"|reconstructed|lasered)"
    rf"|(?:have\shad|had)\s(?:{COUNT}\s)?{_ILLNESS}|(?:broke|fractured|tore|dislocated|ruptured|injured"
    rf"|shattered)\s(?:my|an?|both|both my|three|two)\s(?:[\w-]+\s)?{_BODY}"
    rf"|(?:survived|beat|recovered from)\s{_ILLNESS}|was diagnosed with\s{REST}{{3,40}}?|was hit by a [a-z]+"
    rf"|was born with\s{REST}{{3,40}}?))"
    rf"(?P<when>,?\s{_TIME}|\s(?i:with my (?:first|second|third|last) (?:child|pregnancy|baby|son|daughter)|as"
    rf"|skiing|playing\s\w+|falling\s[\w ]{{3,30}}|in an? [\w ]{{3,30}}))?$",
)
def _illness(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    what = re.sub(r"^have\s", "", match["what"])
    if re.match(r"(?:had|got)\s(?:[\w-]+\s)?(?:an? )?(?:accident|operation)s?\Z", what) and not match["when"]:
        return
    yield lasting(clause, "health", put(what, match["when"] or ""))


_LIFE = (
    r"(?:ran|won|climbed|lived|worked|studied|graduated|married|got married|got divorced|got engaged|divorced"
    r"|split up|separated|bought|built|sold|founded|set up|co-founded|started"
    r"|opened|quit|gave up|stopped|retired|travelled|traveled|backpacked|hitchhiked|cycled|walked|sailed|rowed"
    r"|swam|crossed|wrote|published|self-published|served|learned|learnt|taught myself|joined"
    r"|emigrated|immigrated|moved|became|adopted|trained|qualified|taught|dropped out|left|finished|completed"
    r"|did|took|met|played|competed|represented|coached|volunteered|survived|inherited"
    r"|converted|came out|came|went|changed careers?|changed|switched|passed|failed|lost|interned|spent|fled"
    r"|settled|danced|sang|acted|performed|toured|recorded|received|got|earned|hiked|drove|visited|was|were"
    r"|had)"
)
_SPAN_SPENT = (
    r"(?:an?|one|two|three|four|five|six|seven|eight|nine|ten|\w+teen|twenty|thirty|\d{1,2}|my|a few|several|most"
    r" of|half a|a couple of)\s(?:[\w-]+\s)?(?:years?|months|decades?|summers?|semesters?|terms?|winters?"
    r"|childhood|youth|teens|twenties|thirties|gap year)"
)
_PERIOD = (
    rf"(?i:for\s(?:about\s|almost\s|nearly\s|over\s)?{COUNT}\s(?:years?|decades?|months)|from (?:19|20)\d\d (?:to"
    rf"|until|till) (?:19|20)\d\d|(?:for )?(?:most|half) of my life)"
)
_SURE = re.compile(
    r"(?:ran|won|climbed|lived|studied|graduated|married|got married|got divorced|got engaged|divorced|founded"
    r"|set up|co-founded|retired|backpacked|hitchhiked|published|self-published|served|taught myself"
    r"|emigrated|immigrated|adopted|trained|qualified|dropped out|competed|represented|inherited|converted"
    r"|came out|fled|settled|toured|danced|sang|sailed|cycled|hiked|interned|volunteered|became|moved"
    r"|taught|worked|learned|learnt|joined|built|bought|sold|opened|completed|finished|graduated|wrote|acted"
    r"|performed|emigrated|swam|rowed|crossed|travelled|traveled)\b",
    re.IGNORECASE,
)
_LIFE_THING = re.compile(
    r"\b(?:house|flat|apartment|cottage|farm|school|university|college|uni|army|navy|air force|marathon"
    r"|triathlon|degree|master's|masters|phd|doctorate|diploma|business|company|shop|caf[eé]|restaurant|job"
    r"|book|novel|album|prize|award|medal|championship|scholarship|exam|exams|driving test|smoking|drinking"
    r"|alcohol|meat|gluten|sugar|wife|husband|partner|"
    r"mother|mum|mom|father|dad|brother|sister|son|daughter|grandmother|grandfather|gap year|abroad|country"
    r"|church|apprenticeship|training|career|faith|religion|law|medicine|nursing|teaching|"
    r"citizenship|visa|licence|license|tattoo|pilgrimage|camino|national|olympic|olympics|world|boarding"
    r" school|foster|prison|hospital)\b",
    re.IGNORECASE,
)
_YOUNG = re.compile(
    r"as an?\s(?:\w+\s)?(?:child|kid|boy|girl|baby|toddler|teenager|teen|student)|when (?:I|we) (?:was|were)"
    rf" (?:\d+|[a-z]+teen|{'|'.join(ONES[1:12])}|twenty|thirty|forty|fifty|sixty"
    r"|(?:a|an) (?:\w+ )?(?:child|kid|baby|teenager|student|boy|girl)|little|young|younger|small|at (?:school"
    r"|university|uni|college))|in my (?:\w+\s)?(?:teens|twenties|thirties|forties|fifties|youth|childhood)|at"
    r" (?:school|university|uni|college|primary school|high school)",
    re.IGNORECASE,
)


@_rule(
    "ran won climbed lived worked studied graduated married got divorced split separated bought built sold"
    " founded set started opened quit gave stopped retired travelled traveled backpacked hitchhiked"
    " cycled walked sailed rowed swam crossed wrote published served learned learnt taught joined emigrated"
    " immigrated moved became adopted trained qualified dropped left finished completed did took met"
    " played competed represented coached volunteered survived inherited converted came went changed switched"
    " passed failed lost interned spent fled settled danced sang acted performed toured recorded"
    " received earned hiked drove visited was were had",
    rf"{SUBJECT}\s{PASTLY}(?P<verb>(?i:{_LIFE}))\b(?P<what>\s{REST}{{2,70}}?)?\s(?P<when>(?i:{WHEN_PAST}))$",
)
def _once(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    verb, what = match["verb"], (match["what"] or "").strip()
    if SMALL_THINGS.search(what) or len(what.split()) > 10:
        return
    young = _YOUNG.match(match["when"]) is not None and not ABSTRACT.search(what)
    if re.match(r"when\s", match["when"]) and not (young or _SURE.match(verb) or _LIFE_THING.search(what)):
        return
    low = verb.casefold()
    if young and (what or _SURE.match(low)):
        pass
    elif low in ("was", "were"):
        job = re.sub(r"^(?:an?|the)\s", "", what)
        if not re.match(r"an?\s", what) or not (JOB_END.search(job) or is_occupation(job)):
            return
    elif (
        not _SURE.match(low)
        and not _LIFE_THING.search(what)
        and not (
            low in ("went", "came", "visited", "played", "spent")
            and re.match(rf"(?:abroad|back|on (?:holiday|a \w+))?\s?(?:to|in|for)\s(?:the\s)?{CASED}|{CASED}", what)
        )
    ):
        return
    yield lasting(clause, _life_label(low, what), put(verb, f"{what} {match['when']}"))


@_rule(
    "lived worked served played taught was studied ran owned volunteered trained danced sang coached managed"
    " were practised sailed travelled traveled backpacked rented",
    rf"{SUBJECT}\s{PASTLY}(?P<verb>(?i:lived|worked|served|played|taught|studied|ran|owned|volunteered|trained"
    rf"|danced|sang|coached|managed|practised|practiced|sailed|travelled|traveled|backpacked|rented))"
    rf"(?P<what>\s{REST}{{2,60}}?)?\s(?P<span>{_PERIOD})(?P<more>\s(?i:before|after|until|and then|in"
    rf" my)\s{REST}{{3,40}})?$"
    rf"|{SUBJECT}\s{PASTLY}(?P<was>(?i:was|were|worked"
    rf" as))\s(?P<role>(?i:an?\s)?(?:[\w-]+\s){{0,3}}?[\w-]+)(?P<at>\s(?i:at|in|for"
    rf"|with)\s(?:the\s)?{REST}{{2,30}}?)?\s(?P<span2>{_PERIOD})$",
)
def _for_years(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    if match["was"]:
        job = re.sub(r"^(?:an?|the)\s", "", match["role"])
        role = re.match(r"an?\s", match["role"]) is not None
        if (role and is_occupation(job)) or re.fullmatch(
            r"(?:vegan|vegetarian|homeless|unemployed|married|self-employed|single|sober|in the (?:army|navy"
            r"|police))",
            match["role"],
        ):
            yield lasting(
                clause,
                "past work" if role else "life",
                put(match["was"], f"{match['role']}{match['at'] or ''} {match['span2']}"),
            )
        return
    what = (match["what"] or "").strip()
    if SMALL_THINGS.search(what) or (
        "months" in match["span"]
        and match["verb"].lower() not in ("lived", "worked", "volunteered", "studied", "travelled", "traveled")
    ):
        return
    yield lasting(
        clause,
        _life_label(match["verb"].lower(), what),
        put(match["verb"], f"{what} {match['span']}{match['more'] or ''}"),
    )


@_rule(
    "spent",
    rf"{SUBJECT}\s{PASTLY}(?i:spent)\s(?P<span>(?i:{_SPAN_SPENT}))\s(?P<where>(?:(?i:in|at|on|abroad"
    rf"|travelling|traveling|backpacking|living|working|teaching|studying|volunteering|near"
    rf"|with)\b){REST}{{0,60}})$",
)
def _spent(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    yield lasting(clause, "life", put("spent", f"{match['span']} {match['where']}"))


def _life_label(verb: str, what: str) -> str:
    if verb in ("studied", "graduated", "dropped out", "qualified", "trained") or re.search(
        r"\b(?:school|university|college|degree)\b", what
    ):
        return "education"
    if re.match(r"(?:worked|taught|managed|interned|retired|was|were)\b", verb):
        return "past work"
    return "family" if re.match(r"(?:got )?(?:married|divorced|engaged|separated)|met\b", verb) else "life"


@_rule(
    "met",
    rf"{SUBJECT}\s{PASTLY}(?i:met)\s(?P<who>(?i:my)\s(?:(?i:now\s|late\s|ex-?\s?)?(?i:wife|husband|partner"
    rf"|boyfriend|girlfriend|best friend|fianc[eé]e?)))\s(?P<how>(?i:in|at|on|through|while|when"
    rf"|during)\s{REST}{{3,50}})$",
)
def _met(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    yield lasting(clause, "family", put("met", f"{match['who']} {match['how']}"))


@_rule(
    "met married engaged together live run own both share separated divorced",
    rf"^(?i:my\s(?P<kin>wife|husband|partner|boyfriend|girlfriend|fianc[eé]e?))(?:\s{CASED})?\s(?i:and"
    rf" I)\s(?P<did>(?i:met|got married|got engaged|married|have been (?:together|married)|'ve been (?:together"
    rf"|married)|are (?:both|separated|divorced|engaged)|live|run|own|both|share))\s(?P<how>{REST}{{3,60}})$",
)
def _pair(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    did = match["did"]
    low = did.lower()
    if low in ("live", "run", "own", "share"):
        did = third(low)
    value = f"{did.replace('have been', 'has been').replace('are ', 'is ')} {match['how']}"
    whom = f"with their {match['kin'].lower()}"
    if low == "met":
        yield lasting(clause, "family", put("met", f"their {match['kin'].lower()} {match['how']}"))
    elif low not in {"both", "are both"}:
        yield lasting(clause, "family", put(value, f"({whom})"))
