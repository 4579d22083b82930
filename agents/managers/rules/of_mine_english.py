"""What is told plainly of the user's family, animals and home in English: "my in-laws live next door"."""

from __future__ import annotations

from .... import lazy_re as re
from ....intent.dates.numbers_english import TENS
from .plain_english import COUNT, LEADS, REST, is_plain, of_them
from .roles_english import is_occupation
from .sentences import Clause
from .told import Told
from .words import ANIMALS, KIN, TO_TWELVE, any_of

__all__ = ["told_of_mine"]

_SEVERAL = (
    r"(?:in-laws|kids|children|sons|daughters|girls|boys|twins|brothers|sisters|siblings|grandparents|cousins"
    r"|nieces|nephews|aunts|uncles|grandchildren|grandkids|stepchildren|step-?sons|step-?daughters|flatmates"
    r"|housemates|roommates|neighbours|neighbors|colleagues|friends|parents|mums|dads|folks"
    r"|eldest|oldest|youngest|middle one|middle child|other half|ex-wife|ex-husband|late (?:father|mother"
    r"|husband|wife|dad|mum|grandfather|grandmother)|great-(?:grandmother|grandfather|aunt|uncle)|grandfather"
    r"|grandmother)"
)
_WHO = (
    rf"(?:(?:(?:older|younger|little|big|eldest|oldest|youngest|middle|best|two|three|four|twin|step|half|maternal"
    rf"|paternal|both|elderly|adopted|grown-up|teenage|new|old|late|only|other|oldest)\s)*(?:{_SEVERAL}"
    rf"|{any_of(KIN)}))"
)
_PET = (
    rf"(?:(?:(?:old|younger|older|oldest|two|three|rescue|little|elderly|deaf|blind|black|white|ginger"
    rf"|tabby)\s)*(?:{any_of(ANIMALS)})s?)"
)
_HOME = (
    r"(?:(?:new|old|current|family|rented|little|tiny|first|holiday|front|back|vegetable)\s)*(?:flat|house"
    r"|apartment|home|garden|place|cottage|bungalow|farm|building|street|village|town|kitchen|bedroom|office"
    r"|landlord|neighbourhood|neighborhood|team|company|commute|surname|last name|middle name|maiden name|nickname"
    r"|car|bike|village|rent|mortgage|salary|shift|hair|eyes|heating|hot water|roof|oven|stove|boiler)"
)
_DOES = (
    r"(?:lives?|works?|studies|study|plays?|speaks?|runs?|owns?|goes|go|teaches|teach|drives?|sings?|eats?"
    r"|keeps?|collects?|farms?|sells?|makes?|has|have|wears?|suffers?|uses?|knows?|likes?|loves?|hates?|comes?"
    r"|come|never|doesn't|don't|can't|cannot|can|only|still|both|always"
    r"|grew up|was born|were born|died|passed away|emigrated|moved|retired|met|served|worked|came|taught|ran"
    r"|fought|was an?|were|used|attends?|volunteers?|paints?|writes?|rides?|swims?|dances?|snores?|sleeps?"
    r"|smokes?|trains?|looks after|look after)"
)
_LASTS_DOES = re.compile(
    r"(?:(?:only|still|both|also|mostly|all|each)\s)?(?:"
    r"(?:lives?|live)\s(?:in|on|at|near|with|next|abroad|alone|together|far|close|above|below|opposite"
    r"|upstairs|downstairs|across|around|a few|\d+|ten|twenty|two|three|five|half an|an hour|outside|by)\b"
    r"|(?:works?)\s(?:in|on|at|as|for|from|with|nights|shifts|part-time|full-time|abroad|offshore|night|early"
    r"|late|remotely)\b|(?:studies|study|studied)\s[a-z]|(?:plays?|played)\s(?:the|in|for|football|tennis"
    r"|chess|rugby|hockey|basketball|volleyball|cricket|golf|drums|guitar|piano|violin|handball|badminton"
    r"|netball)\b"
    r"|(?:speaks?|spoke)\s|(?:runs?|ran|owns?|owned)\s(?:an?|the|their|her|his)\s|(?:goes|go)\s(?:to\s(?:an?"
    r"|the|school|nursery|kindergarten|church|university|college|primary|secondary|boarding|day|different"
    r"|state|private|bed)|swimming|fishing|riding|hunting)"
    r"|(?:teaches|teach|taught)\s|(?:drives?)\s(?:an?|the|lorries|trucks|buses|taxis|trains)\b|(?:sings?"
    r"|dances?)\s(?:in|with)\s|(?:keeps?|collects?|farms?|breeds?|grows?|raises?)\s|(?:sells?|makes?|writes?"
    r"|paints?)\s(?!me|us|sense|sure|up|fun|it)|(?:wears?|smokes?)\b|(?:suffers? from)\s|(?:loves?|hates?"
    r"|likes?)\s(?!me|us|to hear|to see|the idea)"
    r"|(?:comes?)\s(?:from)\s|(?:doesn't|don't|can't|cannot|never)\s(?:eats?|drinks?|speak|drive|swim|smoke"
    r"|see|hear|walk|read|drives?|smokes?|work|like)\b|(?:can)\s(?:speak|play|swim|read|walk)\s?|(?:grew up"
    r"|was born|were born|died|passed away|emigrated|retired|served|came)\s(?:in|on|from|at|of|when|as|to)\b"
    r"|moved\s(?:to|here|from)\s"
    r"|(?:has|have)\s(?:an?|two|three|four|five|six|seven|no|dementia|alzheimer's|diabetes|asthma|cancer"
    r"|epilepsy|adhd|autism|arthritis|parkinson's|red|blue|green|brown|curly|long|high|low|down's|type)\s"
    r"|(?:has|have)\s(?:dementia|alzheimer's|diabetes|asthma|cancer|epilepsy|adhd|autism|arthritis|parkinson's"
    r"|eczema|allergies|coeliac|celiac)\b"
    r"|(?:met|married)\s(?:in|at|on|when|during)\s|was an?\s|were\s(?:both\s)?(?:born|teachers|farmers|doctors"
    r"|refugees|immigrants|divorced|married)|(?:fought)\s|(?:attends?|volunteers?|trains?)\s|snores?\Z"
    r"|(?:looks?|looked) after\s|(?:rides?|swims?)\s|(?:got\s)?(?:divorced|split up|separated|broke up"
    r"|remarried)\s(?:in|when|after)\b|sleeps?\s(?:in|on|under)\s)",
    re.IGNORECASE,
)
_STATE = re.compile(
    r"(?:both\s|all\s|also\s|still\s|now\s|already\s|very\s|slightly\s|completely\s|mildly\s|almost\s"
    r"|nearly\s)*(?:afraid of|scared of|terrified of|allergic to|blind|deaf|retired|dead|divorced|separated"
    r"|married|vegetarians?|vegan|teachers|doctors|farmers|nurses|engineers|lawyers|dentists|accountants"
    r"|diabetic|disabled|autistic|dyslexic|left-handed|pregnant"
    r"|lactose|coeliac|gluten|bilingual|twins|identical|adopted|in (?:the (?:army|navy|police)|a (?:wheelchair"
    r"|care home|nursing home|band|choir)|(?:primary|secondary|high|boarding|nursery) school|year \w+|(?:first"
    r"|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|\d+th) grade|prison|medical school|law"
    r" school|kindergarten|nursery)"
    r"|from\s[A-Z]|on (?:the\s\w+\s(?:floor|coast|autism spectrum|outskirts)|insulin|dialysis|a diet|two"
    rf" floors|three floors)|(?:\d{{1,3}}|[a-z]+teen|(?:{'|'.join(TENS)})(?:-\w+)?|{TO_TWELVE})(?:\s(?:and a half"
    r"|years|months))?(?:\s(?:years|months))?(?:\sold)?\Z"
    r"|an?\s(?:[\w-]+\s){0,3}[\w-]+|(?:next to|opposite|near|behind|above|right by|in the)\s|spread\s(?:over"
    r"|across)|based in|semi-detached|terraced|rented|listed|north-facing|south-facing|small|tiny)",
    re.IGNORECASE,
)
_NOT_LASTING = re.compile(
    r"\b(?:great|good|bad|awful|nice|lovely|amazing|fine|happy|sad|angry|mad|pain|joke|star|legend|hero|saint"
    r"|nightmare|mess|bit|angel|treasure|gem|lot|huge|big (?:fan|help|part|deal)|problem|issue|fan|huge"
    r" support|dream|blessing|inspiration|rock|bargain|total|real|true|favou?rite|best|worst"
    r"|asleep|busy|late|ill|sick|away|out|here|there|back|coming|going|leaving|visiting|staying|over|problem"
    r"|fever|cold|headache|appointment|meeting|birthday|question|party|exam|test|interview|game|match|great"
    r" time|idea|point|way|hard time|rough|tough|crush|blast|concert|recital|cough|flu|temperature|vet|checkup"
    r"|check-up"
    r"|couple of|huge|new favou?rite|wonderful|beautiful|perfect|special|fantastic|incredible|important|such"
    r"|so|too|crazy|funny|weird|strange|silly|guy|mystery|work in progress|disaster|wreck|handful|character)\b",
    re.IGNORECASE,
)
_A_NOUN = re.compile(
    r"(?:also\s|now\s|still\s)*an?\s(?P<noun>(?:[\w-]+\s){0,3}?[\w-]+)(?=$|\s(?:at|in|for|on|with|from|and|of)\b)"
)
_MINE = re.compile(
    rf"{LEADS}(?P<whose>(?i:my|our|both my|both our))\s(?:(?P<who>(?i:{_WHO}))|(?P<pet>(?i:{_PET}))"
    rf"|(?P<home>(?i:{_HOME})))(?P<be>\s(?i:is|are|was)\s(?:(?i:both|all)\s)?|'s\s|\s)(?P<rest>{REST}{{3,90}})$"
)
_OF_HOME = re.compile(
    rf"(?:on the\s[\w-]+\sfloor|on (?:two|three|four|five) floors|in a (?:basement|cul-de-sac|village|listed"
    rf" building|quiet street|conservation area|high-rise|tower block|new development|former [\w ]+)|(?:next to"
    rf"|opposite|near|behind|above|right by|five minutes from|ten minutes from|close to|a (?:stone's throw"
    rf"|short walk|ten-minute walk|five-minute walk) from)\s{REST}{{3,60}}"
    rf"|(?:over\s)?{COUNT}\s(?:hundred\s)?(?:years old|square metres|square feet|storeys?|minutes)"
    rf"|a\s(?:[\w-]+\s){{0,3}}(?:house|flat|apartment|cottage|bungalow|terrace|semi|conversion|barn|farmhouse"
    rf"|studio|new-build|rental|duplex|maisonette|terraced house|semi-detached house)|(?:very\s)?(?:small|tiny"
    rf"|rented|south-facing|north-facing|listed|semi-detached|terraced|detached|furnished|unfurnished"
    rf"|rent-free)|spread (?:over|across)\s{REST}{{3,40}}|based in\s{REST}{{3,40}}|from (?:19|20)?\d\d\w*"
    rf"|pronounced\s{REST}{{3,30}}|(?:naturally )?(?:curly|straight|grey|gray|brown|blue|green|hazel|black|red"
    rf"|blond)|built in\s{REST}{{3,20}})(?:\s{REST}{{2,40}})?\Z",
    re.IGNORECASE,
)
_HOME_HAS = re.compile(
    rf"(?:has|have)\s(?:(?:about|almost|over)\s)?(?:an?|no|{COUNT})\s(?:[\w-]+\s){{0,3}}(?:bedrooms?|floors?"
    rf"|rooms?|garden|balcony|garage|lift|elevator|bathrooms?|cellar|basement|terrace|pool|view of\s[\w ]+"
    rf"|fireplace|storeys?|people|members|employees|panels|heating|kitchen|stove|heat pump|air conditioning"
    rf"|apple tree|pond|windows|attic|dishwasher|parking spaces?|branches|offices|staff|solar"
    rf" panels)(?:\s{REST}{{2,40}})?\Z|(?:has|have)\s(?:solar panels|underfloor heating|no lift|no central"
    rf" heating|air conditioning|double glazing|thick walls)(?:\s{REST}{{2,40}})?\Z|faces\s(?:north|south|east"
    rf"|west)\Z|dates from\s{REST}{{3,30}}\Z|overlooks\s{REST}{{3,40}}\Z|backs on ?to\s{REST}{{3,40}}\Z|runs"
    rf" on\s{REST}{{3,20}}\Z|takes\s(?:(?:about|around|over)\s)?(?:{COUNT}|an)\s(?:minutes|hours?|and a half"
    rf" hours)\b{REST}{{0,40}}\Z|costs\s{REST}{{3,30}}\Z",
    re.IGNORECASE,
)


def told_of_mine(clause: Clause) -> Told | None:
    """What a clause tells plainly of those around the user and where they live; None where it tells nothing lasting."""
    text = clause.text.strip()
    if len(text) > 160:
        return None
    match = _MINE.match(text)
    if match is None or not is_plain(text):
        return None
    be, rest = match["be"].strip().replace("'s", "is"), match["rest"].strip()
    if be.lower() == "was" and not re.match(r"built in\s" if match["home"] else r"an?\s", rest):
        return None
    home = match["home"]
    if home:
        lasts = bool(_OF_HOME.match(rest) if be else _HOME_HAS.match(rest))
    elif be:
        lasts = bool(_STATE.match(rest)) and not _NOT_LASTING.search(rest)
        if lasts and (noun := _A_NOUN.match(rest)):
            lasts = is_occupation(noun["noun"]) or noun["noun"].endswith(("vegetarian", "vegan", "twin"))
    else:
        lasts = bool(_LASTS_DOES.match(rest)) and not _NOT_LASTING.search(rest)
    if not lasts:
        return None
    said = of_them(f"{be} {rest}".strip())
    whom = match["who"] or match["pet"] or home
    return Told(
        name=whom.lower()[:120],
        summary=f"The user's {whom} {said}",
        start=clause.start,
        end=clause.end,
        confidence=0.65,
    )
