"""What the user has, and how they live, in English: "we rent a two-bedroom flat", "I have a piano", "I've got a mortgage"."""

from __future__ import annotations

from collections.abc import Iterator

from .... import lazy_re as re
from ....intent.phrases.tokens import word_set
from .english_grammar import Fact, rule_set
from .plain_english import ARE, COUNT, OFTEN, REST, SOFT, SUBJECT, does, lasting, put, third
from .sentences import Clause
from .words import ANIMALS, any_of

__all__ = ["BELONGING_RULES"]

BELONGING_RULES, _rule = rule_set()

_DWELLING = (
    r"(?:flat|house|apartment|cottage|bungalow|cabin|studio|home|farmhouse|caravan|static caravan|houseboat"
    r"|narrowboat|chalet|villa|townhouse|condo|duplex|loft|farm|smallholding|maisonette|bedsit|mobile home"
    r"|holiday home|place|room|terrace(?:d house)?|semi|plot of land|allotment|vineyard"
    r"|orchard|barn|beach hut|summer house|holiday cottage|beach house|second home|timeshare|flatshare)"
)
_PART = (
    r"(?:garden|balcony|terrace|garage|pool|swimming pool|hot tub|sauna|greenhouse|shed|cellar|basement|attic"
    r"|spare room|guest room|home office|workshop|conservatory|patio|roof terrace|vegetable (?:garden|patch)"
    r"|veg patch|pond|fireplace|wood(?:-burning)? stove|log burner|heat pump|solar panels|orchard|home gym"
    r"|study|darkroom|music room|pizza oven|fruit trees|back garden|backyard|yard|front garden|driveway"
    r"|parking space|smart home|well|septic tank|gas boiler|wine cellar|chicken coop|treehouse|trampoline"
    r"|allotment)"
)
_VEHICLE = (
    r"(?:cars?|van|motorbikes?|motorcycles?|scooter|moped|vespa|e-?bikes?|bikes?|bicycles?|cargo bike|tandem"
    r"|camper ?van|motorhome|caravan|estate car|hatchback|suv|pick-?up(?: truck)?|truck|tesla|boat|sailing boat"
    r"|sailboat|rowing boat|canoe|kayak|tractor|electric scooter|quad bike|trailer|mobility scooter|hybrid"
    r"|convertible|jet ski|surfboard|paddleboard)"
)
_INSTRUMENT = (
    r"(?:piano|guitars?|violin|cello|drum kit|drums|flute|clarinet|saxophone|trumpet|harp|organ|keyboard|ukulele"
    r"|accordion|banjo|synthesi[sz]er|double bass|viola|grand piano|harmonium|bagpipes|record player|turntable)"
)
_THING = (
    r"(?:3d printer|sewing machine|telescope|loom|kiln|espresso machine|bread machine|air fryer|slow cooker"
    r"|record collection|stamp collection|coin collection|library card|season ticket|gym membership|national"
    r" trust membership|museum pass|rail ?card|bus pass|travel card|blue badge|smart ?watch|gaming pc|games"
    r" console|kindle|e-reader|vr headset|drone|aquarium|fish tank|freezer|standing desk|treadmill"
    r"|exercise bike|rowing machine|sauna|darkroom|allotment|vinyl collection|wine collection|robot vacuum"
    r"|dishwasher|tumble dryer|film camera|dslr|landline|personal website|patreon|netflix subscription|spotify"
    r" account)"
)
_MONEY = (
    r"(?:mortgage|student loans?|pension|private pension|savings account|joint account|credit card|overdraft|car"
    r" loan|business loan|trust fund|life insurance|health insurance|private health insurance|isa|401k|ira|debts?"
    r"|index fund|emergency fund|stocks and shares isa|bank loan|company car|company pension|rental property"
    r"|lodger|tenant)"
)
_PAPERS = (
    r"(?:(?:driving|driver's|pilot's|fishing|hunting|gun|boat|hgv|motorbike|radio|coaching|diving|skipper's"
    r"|private pilot's|lorry|teaching|nursing|forklift|taxi)\s(?:licen[cs]e|certificate|permit)|(?:[A-Z][a-z]+"
    r"|dual|second|two|british|eu|us)\s(?:passports?|citizenship|nationality)|green card|work visa|student visa"
    r"|blue card|residence permit|work permit|security clearance|first[- ]aid certificate)"
)
_KIN = (
    r"(?:twins|triplets|twin (?:boys|girls|sons|daughters|brother|sister)|stepson|stepdaughter"
    r"|step-?(?:children|kids|sons|daughters|brothers?|sisters?)|half-(?:brothers?|sisters?)|grandchildren"
    r"|grandkids|grandson|grandsons|granddaughters?|grandchild|nieces?|nephews?|godson|goddaughter"
    r"|godchild(?:ren)?|foster (?:child|children|son|daughter|kids|dog|cat)|great-grandchildren|teenagers"
    r"|teenage (?:son|sons|daughter|daughters|kids|children)|toddlers?|newborn"
    r"|baby (?:girl|boy|son|daughter|brother|sister)|adopted (?:son|daughter|children)|grown-up (?:children"
    r"|kids|son|daughter|sons|daughters)|siblings|brothers?|sisters?|kids?|children|sons?|daughters?|cousins"
    r"|boyfriend|girlfriend|twin|nanny|au pair|cleaner|lodger|housemates?|flatmates?|roommates?|partner"
    r"|identical twin)"
)
_ANIMAL = (
    rf"(?:{any_of(ANIMALS)})(?:s|es)?|puppies|ponies|geese|ducks?|bees|pigs?|sheep|cows?|alpacas?|llamas?|pigeons?"
    rf"|quails?|budgies|canaries|guinea pigs?|stick insects|tarantula|snakes?|bearded dragons?|degus|rats?|mice"
    rf"|koi(?: carp)?|rescue (?:dogs?|cats?)"
)
_MODIFIERS = (
    r"(?:(?!(?:with|of|in|to|for|and|or|that|from|at|by|bad|great|good|nice|hard|problem|question|hot|new idea"
    r"|whole|different|similar|real|serious)\b)[\w'-]+\s){0,4}?"
)
_TAIL = (
    rf"(?P<tail>\s(?i:with|in|on|at|by|near|from|outside|behind|for|overlooking|next to|called|named|between|aged"
    rf"|under|above|of|and)\s{REST}{{2,60}})?"
)
_HAVE = rf"(?i:\s{SOFT}(?:have|own|co-own|keep|have got|rent|lease|share|inherited)|'ve got|'ve)"
_NOT_OWN = re.compile(
    r"\b(?:for sale|to rent|for rent|to sell|booked|reserved|in mind|in (?:an? )?(?:hour|minute|week)|meeting"
    r"|appointment|viewing|coming|staying)\b",
    re.IGNORECASE,
)
_OTHER_SENSES = word_set(
    "room place home well terrace semi partner yard study organ boxer pointer setter lab fish bug"
    " chicken trailer keyboard tenant debts debt driveway pool"
)
"""Words that often mean something else: "I have room for two", "a bug"."""
_LABELS = (
    ("home", re.compile(rf"(?:.*\s)?(?:{_DWELLING}|{_PART})", re.IGNORECASE)),
    ("vehicle", re.compile(rf"(?:.*\s)?{_VEHICLE}", re.IGNORECASE)),
    ("pet", re.compile(rf"(?:.*\s)?(?:{_ANIMAL})", re.IGNORECASE)),
    ("family", re.compile(rf"(?:.*\s)?{_KIN}", re.IGNORECASE)),
    ("finances", re.compile(rf"(?:.*\s)?{_MONEY}", re.IGNORECASE)),
    ("licence", re.compile(rf"(?:.*\s)?{_PAPERS}", re.IGNORECASE)),
)


@_rule(
    "have ive weve ve own rent share got keep lease inherited co",
    rf"{SUBJECT}(?P<verb>{_HAVE})\s(?P<det>(?i:(?:about\s|around\s|over\s|nearly\s)?(?:{COUNT}|\w+ (?:hundred"
    rf"|thousand)|my own|our own|no)\s)?)(?P<what>{_MODIFIERS}(?i:{_DWELLING}|{_PART}|{_VEHICLE}|{_INSTRUMENT}"
    rf"|{_THING}|{_MONEY}|{_PAPERS}|{_KIN}|{_ANIMAL}))(?P<and>(?:,\s|,?\s(?i:and)\s)(?:(?i:{COUNT}|my"
    rf" own)\s)?[\w' -]{{3,30}})?{_TAIL}$",
)
def _has(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    det, what, tail = match["det"].strip(), match["what"], match["tail"] or ""
    verb = re.sub(
        r"^(?:'ve got|'ve|have got|have|keep)\Z",
        "have",
        match["verb"].strip().split()[-1] if "got" not in match["verb"] else "have",
        flags=re.IGNORECASE,
    ).lower()
    bare = not det and not re.search(
        r"(?:s|children|twins|sheep|geese|mice|bees|kids|insurance|clearance|citizenship|koi(?: carp)?)\Z",
        what,
        re.IGNORECASE,
    )
    if bare or det.lower() == "no" or _NOT_OWN.search(clause.text):
        return
    if verb in ("rent", "share", "lease") and not re.search(rf"\b(?i:{_DWELLING}|{_PART}|{_VEHICLE}|desk|bed)\Z", what):
        return
    head = what.split()[-1].lower()
    if (
        head in _OTHER_SENSES
        and verb not in ("own", "rent", "share")
        and not (
            re.search(
                r"\b(?:music|spare|guest|own|swimming|front|back|hunting|fishing|second|holiday|pet|tropical"
                r"|roof|heated|outdoor|indoor|long-term|civil)\s\w+\Z",
                f"{det} {what}",
                re.IGNORECASE,
            )
        )
    ):
        return
    if verb == "share" and head in ("home",) and not tail:
        return
    if (
        re.search(
            r"\b(?:rental|hire|toy|dream|friend's|model|loan|courtesy|borrowed|mind|hotel|meeting|waiting"
            r"|living|changing)\b",
            what,
            re.IGNORECASE,
        )
        and "rental property" not in what.lower()
    ):
        return
    label = next((name for name, form in _LABELS if form.fullmatch(what)), "possession")
    if label == "family" and verb not in ("have", "share"):
        return
    yield lasting(
        clause, label, put(third(verb) if verb != "inherited" else verb, f"{det} {what}{match['and'] or ''}{tail}")
    )


@_rule(
    "own have got ive",
    rf"{SUBJECT}(?P<verb>(?i:\s{SOFT}(?:have|own|have got)|'ve got))\s(?P<count>(?i:(?:about|around|over|nearly"
    rf"|more than|at least|some)\s)?(?:[\d,]{{2,7}}|(?i:[a-z-]+\s(?:hundred|thousand)|hundreds of|thousands of"
    rf"|a (?:large|huge|big|small) collection of)))\s(?P<what>[a-z][\w' -]{{2,30}})$",
)
def _has_many(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    if re.search(
        r"\b(?:rows|lines|records|books|plants|stamps|coins|games|cds|dvds|lps|comics|vinyls?|albums|cards"
        r"|figurines|cameras|watches|teapots|postcards|dolls|toys|houseplants|orchids|cactuses|cacti|followers"
        r"|subscribers|trainers|shoes|hens|chickens|sheep|cows|bottles|films|magazines|beetles|shells|minerals"
        r"|fossils|maps)\b",
        match["what"],
    ) and not re.search(r"\b(?:rows|lines)\b", match["what"]):
        yield lasting(clause, "possession", put("has", f"{match['count']} {match['what']}"))


@_rule(
    "pay save earn invest paying saving put spend give donate debt budget",
    rf"{SUBJECT}\s{SOFT}(?P<pays>(?i:(?:pay|save|earn|invest|put|donate|spend|give)\s(?:about\s|around\s"
    rf"|roughly\s|just\s|over\s)?(?:[£$€]\s?\d[\d,.]*k?|\d[\d,.]*k?(?:\s?(?:pounds|euros|dollars|quid|bucks"
    rf"|kronor|francs|percent|yen|rupees|rand|€|£|\$|%))|(?:[a-z]+\s){{0,3}}?(?:hundred|thousand|pounds|euros"
    rf"|dollars|quid)(?:\s(?:pounds|euros|dollars|quid))?)"
    rf"(?:\s(?:a|per|each|every|in)\s(?:week|month|year|quarter|paycheck|rent))?(?:\s(?:rent|in rent|for"
    rf" (?:rent|my [\w ]+|our [\w ]+|childcare|the [\w ]+|parking|a room|nursery)|on (?:rent|groceries"
    rf"|childcare|my [\w ]+|food|books|petrol|coffee)|to (?:charity|my [\w ]+|charities)|into (?:my|a) [\w ]+"
    rf"|away))?(?:\s(?:a|per|each|every)\s(?:week|month|year))?))$"
    rf"|{SUBJECT}{ARE}\s(?i:(?:still|currently|also|slowly|both)\s)*(?P<paying>(?i:paying"
    rf" (?:off|back)\s(?:my|our|an?|the)\s(?:[\w-]+\s){{0,3}}?(?:loans?|mortgage|debts?|car|house|credit cards?"
    rf"|overdraft|studies|degree)|saving (?:up )?(?:for|to)\s{REST}{{3,50}}|in debt|on a (?:tight )?budget))$",
)
def _money(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    if match["paying"]:
        said = match["paying"]
        yield lasting(clause, "goal" if said.lower().startswith("saving") else "finances", put("is", said))
        return
    said = match["pays"]
    if not re.search(
        r"\b(?:a|per|each|every)\s(?:week|month|year|quarter)|rent\b|childcare|charity|%|percent", said, re.IGNORECASE
    ):
        return
    yield lasting(clause, "finances", does(said))


_FUEL = r"(?:heat(?: (?:the|our) (?:house|home|flat))? with|cook (?:with|on)|run on|shop mostly at)"


@_rule(
    "heat cook",
    rf"{SUBJECT}\s{SOFT}(?P<does>(?i:{_FUEL}))\s(?P<what>(?i:(?:an?\s)?(?:[\w-]+\s)?(?:gas|wood|wood stove"
    rf"|stove|pellets|oil|heat pump|electricity|induction(?: hob)?|coal|aga|solar power|district heating"
    rf"|charcoal)))$",
)
def _heats(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    yield lasting(clause, "home", does(f"{match['does']} {match['what']}"))


@_rule(
    "drive ride own have dont not never",
    rf"{SUBJECT}\s{SOFT}(?P<verb>(?i:drive|ride))\s(?P<what>(?i:an?\s)(?:(?i:old|new|second-hand|vintage|used"
    rf"|red|blue|electric|hybrid|diesel|battered|little|small|big|classic)\s)*(?:[A-Z0-9][\w-]*|(?i:{_VEHICLE}"
    rf"|minibus|lorry|bus|taxi|folding bike|horse|pony|tandem))(?:\s[\w-]+)?)(?:\s(?i:to work|for work"
    rf"|{OFTEN}))?$"
    rf"|{SUBJECT}\s(?i:(?:don't|do not)\s(?:(?:even|actually|really|currently)\s)?)(?P<act>(?i:own|have|drive"
    rf"|watch|use|wear|read|celebrate))\s(?P<not>(?i:(?:an?|any)\s(?:[\w-]+\s)?(?:television|tv|car|smartphone"
    rf"|mobile|microwave|credit card|dishwasher|fridge|oven|computer|licence|license|passport|pension|savings"
    rf"|social media accounts?|debit card|washing machine|garden|balcony)|social media|facebook|instagram|tv"
    rf"|television|make-?up|christmas|birthdays|glasses|public transport|dairy|the news|alcohol|kids|children"
    rf"|siblings|pets|savings))(?:\sat (?:home|all))?$",
)
def _vehicle(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    if match["not"]:
        yield lasting(
            clause,
            "possession" if match["act"].lower() in ("own", "have") else "habit",
            put("does not", f"{match['act'].lower()} {match['not']}"),
        )
    else:
        yield lasting(clause, "vehicle", does(f"{match['verb']} {match['what']}"), slot="vehicle")
