"""Plain statements about definite things in English: "team lead is Shalini", "the spare key is under the blue pot".

A statement is kept by its form, not by what it is about: its subject is a name, or something definite ("the boiler",
"our landlord", "bin day"), its predicate holds for longer than a moment, and it holds a concrete value: a number, a
name, a weekday, a place in the house. Opinions, moods, news of the day and requests have no such form.
"""

from __future__ import annotations

from .... import lazy_re as re
from ....intent.dates.words_english import MONTH_NAME, MONTHS, WEEKDAY_NAME
from .english_grammar import JOB_END
from .people import KIN_PATTERN, People, is_name
from .sentences import MASK, Clause, Sentence
from .told import Told
from .words import KIN, NAME

__all__ = ["continues_statement", "labelled_statement", "stated_whole", "statement"]

_LEAD = (
    r"^(?i:(?:and|but|so|also|oh|well|yes|yeah|no|ok|okay|right|only|that|because|since|as|fyi|by the way|btw|ps|p\.s"
    r"|anyway|in fact|turns out|apparently|actually|for the record|for context"
    r"|context|update|reminder|for reference|just so you know|in case it matters|plus|hi|hey"
    r"|(?:context|notes|background|info)\s(?:for|on)\s\w+|note\s(?:for|on)\s(?!(?:me|later)\b)\w+"
    r"|(?>(?:please\s)?(?:note|remember|save|record|write|jot)(?:\s(?:down|this|that|it|for me|for later))*)"
    r"|good to know)[\s,:;.–-]+)*"
)
_BE = r"(?:'s|\s(?:is|are|was|were|will be|has been|isn't|aren't|is not|are not))"
_DOES = (
    r"\s(?:(?:now|currently|always|never|only|usually|also|still|really|both|generally|normally)\s)*"
    r"(?:has|have|had|can|can't|cannot|doesn't|does not|don't|do not|won't|didn't|must|needs?|runs?|uses?|opens?|closes?"
    r"|shuts?|costs?|lives?|takes?|starts?|ends?|expires?|belongs?|listens?|sits?|hosts?|stores?|serves?|contains?|handles?"
    r"|holds?|supports?|requires?|works?|teaches|studies|speaks?|eats?|drinks?|drives?|plays?|owns?|likes?|loves?|hates?"
    r"|prefers?|keeps?|leads?|manages?|reports?|sleeps?|collects?|delivers?|charges?|accepts?|stands?|stays?|goes|go|comes?"
    r"|leaves|leave|sells?|makes?|means|covers?|includes?|allows?|weighs?|measures?|seats?|fits?|writes?|reads?|points?"
    r"|depends?|returns?|sends?|pays?|earns?|cooks?|bakes?|sings?|swims?|rides?|grows?|breeds?|trains?|coaches|paints?"
    r"|repairs?|fixes|rents?|moved|changed|switched|migrated|became|got|joined|left|took|taught|studied|worked|retired"
    r"|replaced|replaces|went|died|adopted|built|founded|started|wrote|bought|renamed|raised|dropped|wears?|smokes?"
    r"|responds?|answers?|turns?|refuses?|expects?|looks after|deploys?|syncs?|backs? up|parks?|meets?|happens?)\b"
)
_DEFINITE = (
    r"(?:(?i:the|our|my|this|their|his|her|its)\s(?:[\w&'./+-]+\s){0,5}?[\w&'./+-]+(?:\s(?i:of|for|in|at|on|to|with|from)"
    r"\s(?:(?i:the|our|my|a)\s)?(?:[\w&'./+-]+\s){0,2}?[\w&'./+-]+)?)"
)
_POSSESSED = rf"(?:{NAME}'s(?:\s[\w&./+-]+){{1,4}}?)"
_THING = re.compile(rf"{_LEAD}(?P<thing>{_POSSESSED}|{_DEFINITE})(?P<rest>(?:{_BE}|{_DOES}).*)$")
_NAMED = re.compile(rf"{_LEAD}(?P<thing>{NAME}(?:\sand\s{NAME})?)(?P<rest>(?:{_BE}|{_DOES}).*)$")
_BARE = re.compile(
    rf"{_LEAD}(?P<thing>(?!(?i:a|an|some|any|every|each|all|both|most|many|it|this|that|these|those|there|here|he|she"
    r"|they|we|i|you|i'm|im|ive|its|thats|what|who|where|when|why|how|which|one|nothing|everything|something|someone|anyone"
    r"|nobody|everyone|people|life|today|tomorrow|yesterday|tonight|next|last|now|then|not|just|maybe|still|also|if|so"
    r"|too|very|going|looks?|sounds?|seems?|feels?|my|your|their|his|her|our|the|yes|no|and|but|or|thank|thanks|sorry|hope"
    r"|glad|happy|good|great|nice|lol|haha|work|school|weather|traffic|food|mondays?|things|stuff|kids|other|another"
    r"|same|only|whatever|getting|being|having|doing|to|in|on|at|for|with|as|of|from|by|up|because)\b)"
    r"[a-zA-Z][\w&'./+-]*(?:\s(?!is\b|are\b|was\b|were\b|and\b|to\b|you\b|i\b|we\b|it\b)[\w&'./+-]+){0,3})"
    r"(?P<rest>(?:'s(?=\s(?:[£$€]?\d|[A-Z]))|\s(?:is|are|was|will be|costs?|opens?|closes?|starts?|runs|ends?"
    r"|means|goes|happens|needs|requires|uses|lives|takes|has"
    r"|deploys|stores|sits|expires|listens|belongs|=))\s.*)$"
)
_LABELLED = re.compile(
    rf"^(?P<label>(?i:(?:the|our|my|new|old)\s)?[A-Za-z][\w'&/ -]{{1,28}}?)\s?(?::|=|—|–)\s(?P<value>{NAME}\b[^\n]{{0,120}}"
    r"|[^\n]{0,60}\d[^\n]{0,60})$"
)
_NOT_LABEL = re.compile(
    r"(?i:^(?:timestamp|time|date|id|version|status|error|note|reminder|question|ps|p\.s|update|edit|subject|from|to|date|re|cc|fwd|step|context|fyi|tip|warning|also"
    r"|ok|yes|no|so|and|but|mr|ms|mrs|miss|.*\b(?:steps|routine|recipe|rules?|list|plan|options?)|first|second"
    r"|then|quick|example|e\.g|i\.e|translation|answer|q|a|todo|thing is|the thing is"
    r"|bad news|good news|(?:\w+\s)?correction|result|tl;dr|hi|hello|hey|plan|verdict|short answer|deal|main thing|basically"
    r"|.*(?:\b|'s )(?:i|we|you|it|is|are|was|done|ready|over|finished|starting|with|let's|\w+ing|please|me|this"
    r"|that|these|remember|save|write)\b.*)$)"
)
_CONCRETE = re.compile(
    r"\d|(?<=[\s(])(?!I\b|I'|OK\b|LOL\b|OMG\b)[A-Z][\w&-]*|[a-z]+[_./-][a-z]\w*|\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b"
    r"|\b(?:every|called|named|allergic|vegan|vegetarian|coeliac|celiac|diabetic|noon|midnight|half past|quarter (?:to|past))\b"
    r"|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty|fifty|hundred|thousand)"
    r"\s(?:\w+\s)?(?:minutes?|hours?|days?|weeks?|months?|years?|euros?|pounds?|dollars?|quid|people|kids|children|floors?"
    r"|rooms?|times|percent|metres?|miles?|kilos?|litres?|grams?|cups?|o'clock|pm|am|in the)\b"
    r"|\b(?:read-only|closed|free|forbidden|not allowed|optional|mandatory|upstairs|downstairs)\b"
    r"|\b(?:in|on|under|behind|beside|above|below|inside|over|next to|opposite|round|at the back of|near)"
    r"\s(?:the|my|our|his|her|their)\s\w+"
)
_ROLE = re.compile(
    r"^(?:'s|\sis|\sare|\swas)\s(?:(?:now|currently|still|actually|also)\s)?(?:an?|the|my|our|in charge of|responsible for"
    r"|head of|from|based in|called|named|married to|engaged to|short for|vegan|vegetarian|pescatarian|teetotal|left-handed"
    r"|diabetic|coeliac|celiac|lactose|gluten|dyslexic|deaf|blind|pregnant|retired|allergic|scared of|afraid of)\b"
)
_LASTING = re.compile(
    r"^\s(?:(?:now|always|never|only|usually|also|still|both)\s)*(?:works?|lives?|studies|teaches|speaks?|plays?|drives?|owns?"
    r"|leads?|manages?|runs|eats?|drinks?|hates?|loves?|likes?|prefers?|collects?|can't|cannot|doesn't|does not|don't|keeps?"
    r"|looks after|reports|coaches|trains?|sings?|cooks?|writes?|moved|joined|left|retired|graduated|grew up|has an?|has (?:two"
    r"|three|four|five)|used to|took over|became|wears?|smokes?)\b"
)
_CHANGED = re.compile(
    r"^(?:'s|\s(?:is|was|has|have|were|are))?\s?(?:been\s|now\s|just\s|recently\s|finally\s)*(?:cut over|moved"
    r"|migrated|switched|changed|renamed|upgraded"
    r"|replaced|relocated|went up|gone up|raised|transferred|handed over)\b[^,]{0,30}?\b(?:to|by)\b"
)
_OFFICE = re.compile(
    r"^(?:'s|\sis|\swas)\s(?:now\s|also\s|still\s)?(?P<job>(?:[a-z][\w-]+\s)?[a-z][\w-]+)(?=$|\s(?:as well|too"
    r"|now|at|of|for|there|this year)\b)"
)
_PASSING = re.compile(
    r"\b(?:today|yesterday|tomorrow|tonight|right now|at the moment|just now|this (?:morning|week|afternoon|evening|weekend"
    r"|time)|last (?:week|month|night|\w+day|weekend|time)|next (?:week|month|\w+day|time)|ago|so far|again|already|yet"
    r"|later|soon|finally|for once|all day|all night|after next|before last|from (?:tomorrow|today|now)"
    r"|fortnight)\b",
    re.IGNORECASE,
)
_DATED = re.compile(
    rf"\b(?:on|by|from|until|till|for|to|this|is|was)\s(?:the\s)?(?:\d{{1,2}}(?:st|nd|rd|th)\b|{WEEKDAY_NAME}\b(?!s))"
    rf"|\b\d{{1,2}}(?:st|nd|rd|th)?\s(?:of\s)?(?:{'|'.join(MONTHS)})[a-z]*\b|\b(?!may){MONTH_NAME}\s\d|\b\d{{4}}-\d\d-\d\d\b",
    re.IGNORECASE,
)
_ALWAYS = re.compile(
    r"\b(?:birthday|anniversary|since|every|each|day is|days are|always|born|as of|only|closed|open|bin)\b|days\b",
    re.IGNORECASE,
)
_OPINION = re.compile(
    r"\b(?:awesome|amazing|great|incredible|magical|lovely|truly|definitely|means (?:a lot|everything|so much|the world)"
    r"|inspir\w+|big difference|beautiful|fun|funny|cool|wonderful|fantastic|worth it|tough|boost|eye-opening|indeed"
    r"|like (?:that|you|this)|delicious|tasty|boring|annoying|awful|terrible|horrible|weird|nice|perfect|brilliant|gorgeous"
    r"|hilarious|ridiculous|crazy|insane|stupid|rubbish|disgusting|killing|driving me|makes me|made me|drives me|sucks|the best"
    r"|the worst|so|such|too|very|pretty|quite|really|a bit|kind of|sort of|haha|lol|omg|dream\w*|god|hell|luck\w*"
    r"|thank|thanks|hope\w*|glad|worried|excited|nervous|stressed|tired|mood|wish|fault|joke|joking)\b",
    re.IGNORECASE,
)
_GOING_ON = re.compile(
    r"^(?:'s|\s(?:is|are|was|were|will be|has been))\s(?:(?:just|still|now|also|not|currently|always|only)\s)*"
    r"(?!(?:called|during|string|morning|evening|nothing|something|parking|missing)\b)"
    r"(?:\w{2,}ing|gonna|going|about to|back|here|there|ready|late|ill|sick|asleep|down|broken|gone|off|over|up|done|fine|ok|okay"
    r"|cancelled|canceled|delayed|full|empty|sure|busy)\b"
)
_STABLE_ING = re.compile(
    r"\b(?:working (?:at|for|as)|studying|living|teaching|training|running (?:the|on)|reporting|learning)\b"
)
_HEADS = re.compile(
    r"(?i:\b(?:idea|thing|things|point|problem|question|answer|weather|truth|fact|rest|day|week|weekend|morning|evening|night"
    r"|way|feeling|plan|joke|news|traffic|sun|rain|world|moment|time|life|line|result|trouble|best|worst|issue|issues|vibe"
    r"|vibes|mood|house|home|flat|apartment|place|kids|children|boys|girls|honeymoon|holiday|trip|flight|reply|message|name|names|you|one|ones|other|others|same|only|movie|film|episode|match|game|score|trick|dream"
    r"|head|brain|heart|body|back|legs?|feet|eyes?|stomach|hair|phone number|number|password|passcode|pin|birthday present"
    r"|password|secret|e-?mail(?: address)?|mobile|address|favou?rite\b.*|bus|queue|test|exam|paper|sentence|word|phrase)$)"
)
_BIN_DAY = re.compile(
    r"(?i:\b(?:bin|market|pay|moving|laundry|cleaning|name|rest|training|release|deploy|club) (?:day|night|time)$)"
)
_PRICE = re.compile(r"\b(?:price|cost|fee|rate|rent) (?:of|for)\b", re.IGNORECASE)
_YOU = re.compile(r"\b(?:you|your|yours|u)\b", re.IGNORECASE)
_SAID = re.compile(
    r"^(?:\s(?:just|always|never|also|still|keeps|once))*\s?(?:'s\s)?(?:says?|said|told|tells?|thinks?|thought|asks?|asked|wonders?"
    r"|claims?|swears?|reckons?|insists?|suggest\w*|believes?|guess\w*|wants? (?:me|us|you)|needs? (?:me|us|you)|has to|have to"
    r"|got (?:me|us)|had to|went (?:to|out|for|home)|came|took (?:me|us|the)|left (?:me|us|for|the|at|early)|started (?:to|\w+ing)"
    r"|made|bought|wrote (?:me|us|to)|looked|saw)\b"
)
_GOES_ON = re.compile(
    r"^(?:(?:and|but|so)\s)?(?:has|is|was|does|doesn't|can|can't|lives?|works?|runs?|only|plus|never|always|opens?|closes?|costs?"
    r"|takes?|needs?|drives?|plays?|speaks?|keeps?|owns?|eats?|drinks?|(?:they|it)\s(?:only\s|also\s|always\s|never\s|don't\s)?(?:deliver|charge|open|close"
    r"|shut|meet|take|accept|come|run|cost|need|start|end|use|sell|expires?|opens|closes|costs|needs|starts|ends|uses|takes|runs)\b|unless|except|not|about|roughly|which|who|where|mostly"
    r"|usually|except|including|every|each|closed|open|from|until|till|since|valid|due|behind|under|next|near|opposite|just (?:past"
    r"|off|behind))\b",
    re.IGNORECASE,
)
_KIN_HEAD = re.compile(rf"(?i:\b{KIN_PATTERN}$)")
_APPOSITION = re.compile(
    rf"{_LEAD}(?P<thing>{_DEFINITE}|{NAME}),\s(?P<aside>[^,]{{3,60}}),\s(?P<rest>(?:is|are|was|has|have|only|never|always|can't|moved|left|joined|[a-z]{{2,}}s)\b[^\n]*)$"
)


def statement(clause: Clause, sentence: Sentence, people: People) -> Told | None:
    """What a clause states of a named or definite thing, or None where it states nothing lasting and concrete."""
    text = clause.text
    for pattern in (_THING, _NAMED, _BARE):
        match = pattern.match(text)
        if match is None:
            continue
        thing, rest = match["thing"], match["rest"]
        named = pattern is _NAMED
        if named and (
            not is_name(thing) or re.search(r"(?:ing|ly)$", thing.split()[0]) or thing.split()[0].casefold() in KIN
        ):
            continue
        if not named and "'s" in thing and not is_name(thing) and not re.match(r"(?i:the|our|my|this)\s", thing):
            continue
        if re.search(
            r"n't\b|(?i:(?:^|\bthe )(?:first|second|third|\d+(?:st|nd|rd|th)?|six|seven|eight|nine|ten)$|\bitself$)",
            thing,
        ):
            return None
        if MASK in text or not _worth(thing, rest, named=named, bare=pattern is _BARE, text=text):
            return None
        about = re.sub(r"^(?i:the|our|my|this)\s", "", thing).removesuffix("'s")
        if named:
            people.mention(people.named(thing) or people.add("", thing))
        start = match.start("thing")
        summary = clause.raw[start:].strip()
        return Told(
            name=about,
            summary=summary[:1].upper() + summary[1:],
            start=clause.start,
            end=clause.end,
            confidence=0.65,
        )
    return None


def concrete_change(rest: str) -> bool:
    """Whether a change names what it led to: "was cut over to TiDB yesterday"."""
    return bool(_CONCRETE.search(re.split(r"\b(?:to|by|from)\b", rest, maxsplit=1)[-1]))


def _worth(thing: str, rest: str, *, named: bool, bare: bool, text: str) -> bool:
    """Whether a predicate is lasting and concrete enough to be kept of its subject."""
    words = len(rest.split())
    if re.search(r"\bkeeps? \w+ing\b|\b(?:it|that|this|them|one|ones|there)\W*$", rest) and not re.search(r"\d", rest):
        return False
    if len(rest) < 4 or len(rest) > 220 or words < 2 or _YOU.search(text) or _SAID.match(rest) or _OPINION.search(rest):
        return False
    if _GOING_ON.match(rest) and not _STABLE_ING.search(rest):
        return False
    if _HEADS.search(thing) and not _BIN_DAY.search(thing) and not _PRICE.search(thing):
        return False
    if _CHANGED.match(rest) and concrete_change(rest):
        return _DATED.search(rest) is None
    if _PASSING.search(rest) or _PASSING.search(thing):
        return False
    if _DATED.search(rest) and not _ALWAYS.search(text):
        return False
    if re.search(r"\b(?:I|me|myself|us)\b", rest) and not _CONCRETE.search(re.sub(r"\bI\b.*", "", rest)):
        return False
    concrete = bool(_CONCRETE.search(rest))
    if named or _KIN_HEAD.search(thing):
        office = _OFFICE.match(rest)
        lasting = bool(
            _ROLE.match(rest) or _LASTING.match(rest) or (office and JOB_END.search(office["job"]) and named)
        )
        return words >= 2 and (
            lasting or (concrete and bool(re.match(_BE, rest) or not re.search(r"\w(?:ed|ew|ook|ent)\b", rest)))
        )
    if bare:
        return concrete and len(thing) >= 3
    return concrete


def stated_whole(sentence: Sentence) -> Told | None:
    """ "The settlement service, code name Heron, keeps its ledger in MySQL": a statement around an aside."""
    match = _APPOSITION.match(sentence.text)
    if match is None or len(sentence.text) > 240 or MASK in sentence.text or not all(c.holds for c in sentence.clauses):
        return None
    rest = " " + match["rest"]
    thing = match["thing"]
    aside = " " + match["aside"]
    if re.match(
        r"\s(?:please|and|but|so|because|which|who|when|if|though|like|then|i|we|he|she|it|they|you)\b",
        aside,
        re.IGNORECASE,
    ):
        return None
    if not _worth(thing, rest + aside, named=False, bare=False, text=sentence.text) and not _LASTING.match(rest):
        return None
    if (thing[0].isupper() and " " not in thing and not is_name(thing)) or _PASSING.search(sentence.text):
        return None
    return Told(
        name=re.sub(r"^(?i:the|our|my|this)\s", "", thing),
        summary=sentence.raw[match.start("thing") :].strip(),
        start=sentence.start,
        end=sentence.end,
        confidence=0.7,
    )


def labelled_statement(sentence: Sentence) -> Told | None:
    """ "Plumber: Oupa Nkosi, 082…", "Rent: 950 a month": a label and its value."""
    match = _LABELLED.match(sentence.text)
    if (
        match is None
        or MASK in sentence.text
        or re.search(r"\d[.)]\s", match["value"])
        or _NOT_LABEL.match(match["label"].strip())
        or len(sentence.text) > 160
    ):
        return None
    value = match["value"]
    if len(match["label"].split()) > 4 or re.search(r"\d:\d\d|\d{4}-\d\d|://", value):
        return None
    if _YOU.search(value) or not (is_name(value) or re.search(r"\d", value)) or _OPINION.search(value):
        return None
    if re.search(r"\b(?:i|i'm|we|please)\b", value, re.IGNORECASE) or _PASSING.search(value) or _DATED.search(value):
        return None
    if _HEADS.search(match["label"].strip()):
        return None
    return Told(
        name=match["label"].strip()[:80],
        summary=sentence.raw.strip(),
        start=sentence.start,
        end=sentence.end,
        confidence=0.65,
    )


def continues_statement(text: str) -> bool:
    """Whether a clause goes on about the subject of the one before: it has none of its own."""
    return bool(_GOES_ON.match(text))
