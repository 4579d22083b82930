"""What the user does, is doing, has done and used to do, in English, by the tense and the class of the verb.

The present of a verb of doing tells a habit ("I restore old radios", "I take the 7:40 train to work"); "I'm" and "I've been"
tell one with verbs of work, study, care and cure ("I'm recovering from a hip operation"); the past tells of a life with verbs
that change it ("I joined a climbing gym", "I failed my driving test twice"). What is done to abstract things tells nothing:
"I make mistakes", "I take pride in my work".
"""

from __future__ import annotations

from collections.abc import Iterator

from .... import lazy_re as re
from ....intent.phrases.tokens import word_set
from .english_grammar import Fact, rule_set
from .plain_english import (
    CASED,
    COUNT,
    HOW_OFTEN,
    OFTEN,
    REST,
    SOFT,
    SUBJECT,
    WHEN_PAST,
    how_often,
    lasting,
    put,
    third,
)
from .sentences import Clause

__all__ = ["DOING_RULES", "fronted", "used_to"]

DOING_RULES, _rule = rule_set()

_AT_PLACES = word_set("work volunteer serve train perform teach live commute spend sit holiday")
"""What one does at a place of which all know: "the coastguard", "the parish council"."""
_DOING = word_set(
    "live reside commute drive ride cycle bike walk run jog hike climb swim sail row surf ski skate dive"
    " travel camp fish hunt garden grow plant farm breed"
    " raise rear train coach teach tutor mentor lecture study practise practice rehearse perform act sing"
    " dance compose conduct record produce write blog"
    " edit translate interpret publish read review collect restore repair build craft carve sculpt paint draw"
    " sketch design photograph knit sew"
    " crochet weave embroider bake cook brew roast ferment pickle eat drink smoke vape skip wear dye shave"
    " use own rent lease share host foster babysit"
    " nurse feed groom clean iron wash shower bathe sleep nap snore meditate pray fast journal stretch"
    " exercise lift work freelance consult manage lead supervise"
    " oversee sell trade import export deliver operate maintain inspect audit code program develop engineer"
    " research volunteer donate sponsor chair moderate"
    " attend watch listen stream subscribe vote homeschool pay save invest shop bank speak type stammer"
    " stutter inject carry take make do play go look"
    " care help serve rescue compete judge referee umpire tend brush juggle busk cater tailor mow walk foster"
    " tweet podcast vlog game wake rely commute"
    " quilt film animate illustrate prune compost recycle upcycle forage keep sublet lodge buy bring pack spend sit earn holiday get co-parent co-own co-host home-school dog-sit house-sit co parent host own"
)
_VAGUE = re.compile(
    r"\b(?:problems?|issues?|errors?|questions?|ideas?|points?|things?|stuff|ways?|sense|attention|sure|pride"
    r"|part|differences?|impact|inspiration|support|advice|feedback|comfort|joy|strength|efforts?|progress"
    r"|memor(?:y|ies)|moments?|life|lives|journey|passions?|dreams?|goals?|world|others|everyone|everybody"
    r"|someone|somebody|something|anything|everything|nothing|anyone|nobody|yourself|mistakes?|steps?|notes?"
    r"|turns?"
    r"|chances?|risks?|advantage|credit|offence|offense|responsibility|charge|decisions?|choices?|plans?|lead"
    r"|example|role|roles|fun|sense|look|break|breaks|breath|deep|time|times|day|moment|granted|heart|mind"
    r"|word|words|case|option|options|version|file|files|script|scripts|code|command|query|test|tests"
    r"|fool|fuss|deal|bit|lot|lots|bunch|best|worst|better|worse|well|great|good|bad|happy|easy|hard|tough"
    r"|crazy|mad|nuts|rounds?|limits?|fears?|feelings?|emotions?|mood|stress|confidence|courage|skills?"
    r"|experiences?|stories|story|relationships?|connections?|friendships?|challenges?|obstacles?|change"
    r"|changes|positivity"
    r"|positive|together|forward|ahead|back|away|down|over|along|through|around here|solace|refuge|solutions?"
    r"|results?|reasons?|answers?|value|values|lessons? from|opinions?|view|views|thoughts?|interest|interests"
    r"|action|actions|love|care of|my all|my way|my word|my place|my share|my share of|my chance|my mark|my"
    r" time|my own way|my best|myself|ourselves|my thing|shit|crap|hell|damn|bets?|guesses|wishes|fingers"
    r"|sides?|account|place|shape|sense of|form|effect|control|advantage of|hope|faith|trust|peace|freedom"
    r"|community|causes?|awareness|space|success|balance|motivation|energy|focus|perspective|growth|healing"
    r"|environment|vibe|vibes|research|innovation|growth|policy|policies|economy|society|competition|win|wins"
    r"|power|knowledge|understanding|potential|benefits?|priority|priorities|method|approach|term|terms|word"
    r"|phrase|expression|template|format|button|link|app idea|feature|features)\b",
    re.IGNORECASE,
)
_DEFINITE = re.compile(
    r"(?:^|\s)the\s(?!(?:[\w:.-]+\s)?(?:bus|train|tram|metro|tube|subway|underground|ferry|dogs?|cats?|kids"
    r"|children|piano|guitar|violin|cello|drums|flute|harp|organ|garden|gardening|cooking|cleaning|shopping"
    r"|laundry|dishes|ironing|accounts|books|bins|shift|gym"
    r"|local|family|elderly|homeless|blind|deaf|horses?|chickens|hens|house|housework|school run|office"
    r"|weekends?|week|sea|beach|lake|river|river|mountains|countryside|city|piano|car|stairs|evenings?"
    r"|mornings?|afternoons?|summer|winter|church|mosque|choir|side|internet|radio|news|newspaper|paper"
    r"|guardian|times|library|door|accordion|saxophone|trumpet|clarinet|ukulele|banjo|fiddle|trombone|viola"
    r"|bass|sax|oboe|bagpipes|recorder)\b)",
    re.IGNORECASE,
)
_IDIOM = re.compile(
    r"(?:take\s(?:back|over|off|on|in|up|out|it|care|after|down|for|part|place|action|stock|issue|exception"
    r"|offen[cs]e|heart|time|a (?:look|break|guess|shot|seat|nap|moment|minute|chance|picture|photo|screenshot"
    r"|deep|step|stand|walk|different|closer|while|lot|bite|peek|hint|joke|trip|vacation|holiday|few|day|bit"
    r"|selfie|second|shower|bath)|full|comfort|great|the (?:opportunity|time|chance|hint|point|blame|first"
    r"|lead|liberty|plunge|bait|cake|mickey|piss))"
    r"|make\s(?:up|out|do|it|sure|sense|progress|a (?:mistake|living|point|note|list|deal|fuss|joke|mess|wish"
    r"|start|decision|difference|lot|plan|good|habit|point)|mistakes|time|plans|money|friends|excuses|an"
    r" effort|the (?:most|best|effort|mistake)|my (?:way|day|peace|mind)|room|ends|use|fun|music together)"
    r"|do\s(?:my|our|best|well|better|not|it|so|too|the (?:same|trick|math|maths|job|right)|wonders|good|great"
    r"|fine|okay|ok|agree|think|have|hope|need|want|like|love|know|feel|believe|a (?:great|good|bad|terrible"
    r"|lot|little|bit)|some (?:research|digging|more)|what|whatever|everything|anything|nothing|see|appreciate"
    r"|enjoy|remember|try|get|go|find|miss|care|understand)"
    r"|go\s(?:on|off|out|back|home|over|through|with|for|by|all|ahead|along|away|down|up|in|crazy|nuts|mad"
    r"|first|next|to (?:bed|sleep|work|town|great|show|hell)|and|from|into|there|straight|way|the|wild|bananas"
    r"|blank|a (?:bit|little|long)|deep|big|hard)|run\s(?:into|out|away|late|low|on|off|out|through|over"
    r"|across|up|the|a (?:risk|test|check|search|command|query|script|tight|bath))"
    r"|play\s(?:along|around|a (?:role|part|big|huge|key|vital|crucial)|it|dumb|games with|devil|with fire"
    r"|catch|safe|my|up|down|nice|dead)|keep\s(?:(?!my (?:savings|money|horse|boat|car)\b|bees|chickens|hens|kosher|halal|horses|goats|sheep|ducks"
    r"|rabbits|pigs|an?\s(?:\w+\s)?(?:diary|journal|blog|log|notebook|record|list|first[- ]aid|spare|epipen"
    r"|aquarium|allotment|dog|cat|parrot|tortoise|cow|pig|vegetable|kitchen))(?!my (?:savings|money|car|horse|books|instruments|tools)\b)\w)"
    r"|look\s(?!after\b)|help\s(?!out\b|my\b|run\b|at\b|with my\b)|care\s(?!for (?:my|an?|people|elderly"
    r"|patients|children|the)\b)|save\s(?!for|up|\d|£|money|[a-z]+ (?:hundred|pounds|euros|dollars))"
    r"|rely\s(?!on (?:a|public|my (?:wheelchair|hearing|guide|inhaler))\b)|read\s(?:between|your|out|about"
    r"|through|into|on|up|over|a (?:lot|bit)|an? (?:article|book|post|story|study|report|review|great|good"
    r"|recent|quote|comment|few|really|paper|piece|thing|blog|message|text|letter)|some|somewhere|the|my)"
    r"|write\s(?:to|down|off|back|about|in|out|this|code|the|a (?:letter|message|note|email|mail|text|review"
    r"|report|post|quick|short|list|poem|story|paper|lot|song|book|few)|an (?:email|essay|article|e-mail))"
    r"|share\s(?!an?\s(?:\w+\s){0,3}(?:flat|house|apartment|room|bedroom|office|car|bed|studio|desk|kitchen"
    r"|garden|allotment)|custody|my\s(?:flat|house|apartment|room|home|bedroom))|lead\s(?!an?\s|the\s|\d)"
    r"|draw\s(?:on|from|inspiration|strength|the|a line|conclusions?|near|up|comfort|attention)|watch\s(?:out"
    r"|over|my|the|as|a (?:movie|film|video|documentary|show|game)|an|how|them)|listen\s(?!to\s)"
    r"|speak\s(?!(?:[A-Z]\w+|some|a little|fluent|several|two|three|four|five))|use\s(?:up|the|my|a (?:bit|lot"
    r"|little|few|different|similar)|all|any|some|code|words|their)"
    r"|build\s(?:on|up|trust|bridges|a (?:better|strong|life|relationship|community|future|case|good))"
    r"|carry\s(?!an?\s|my\s(?:epipen|inhaler|insulin)|insulin)|serve\s(?!in|on|as)|act\s(?!in\s|with\s|as a\s)"
    r"|work\s(?:out (?:well|fine|the|a|how|what)|around|up|my|through|together|towards?|like|hard|on (?:my|the"
    r"|it|a|that|some|improving|being|getting)|(?:really|so|very|too) hard|well|better|best|fine|harder"
    r"|closely|against|wonders|this|it|with (?:the|some|great|amazing|you|others|what)|for (?:me|us)|a lot|to"
    r" (?:make|help|get|improve|build|live|create|be|ensure|keep))"
    r"|develop\s(?!(?:\w+\s){0,2}(?:software|games|websites|apps|video games|film))|test"
    r"|research\s(?!\w+\s?\w*(?:ology|ics|istry|diseases?|cells?|cancer|medieval|history))|run\s(?:my"
    r"|our)\s(?:mouth|life|own (?:life|race))|pay\s(?:for(?! (?:my|our|half|all)\s)|back|off|attention|my (?:respects|dues|way)|the|up|a"
    r" (?:visit|price|lot))|live\s(?:for|by|with (?:it|that|regret)|up|my|and|in (?:fear|hope|the moment|the"
    r" present|peace|the|an? (?:society|world|time|era|age|culture|state of|bubble|dream|cul))|on (?:the edge"
    r"|coffee|in|hope)|the|a (?:good|happy|full|healthy|simple|quiet|normal|life|bit)|to|life|vicariously"
    r"|through|each|every|near (?:here|by)|close by|nearby)"
    r"|vote\s(?:for (?:option|that|number|the first|the second)|no|yes)|drink\s(?:to|up|it)|eat\s(?:my"
    r" (?:words|hat|heart)|out|up|humble|like|it|the|my)|sleep\s(?:on it|well|tight|over|in\Z|it|like|better"
    r"|easy|through|on\Z)|walk\s(?:away|on|in|over|the (?:line|talk|walk)|a (?:fine|mile|tightrope)|around"
    r"|through|out|down|past|by|into|my way)|ride\s(?:it|on|out|the (?:wave|storm))|drive\s(?:me|us|home"
    r"|everyone|my (?:wife|husband|family|parents|boss|friends) )|fish\s(?:for)|dance\s(?:around|to)"
    r"|sing\s(?:praises|along|to|your)|train\s(?:my (?:brain|mind|model|eye)|the|an? (?:model|network))"
    r"|feed\s(?:off|on|my (?:soul|addiction|mind))|program\s(?:the)|code\s(?:the|a (?:function|script))"
    r"|practice\s(?:what|my|gratitude|self|being|patience|mindful)|practise\s(?:what|my|gratitude|self|being"
    r"|patience|mindful)"
    r"|host\s(?:the|a (?:party|dinner|meeting|website|server|game|movie|bbq|barbecue|event|small|show|charity"
    r"|gathering))|produce\s|record\s|perform\s(?!in\s|with\s|at\s|stand)|conduct\s(?!an?\s(?:choir|orchestra"
    r"|band)|the)|compete\s(?!in\s)|study\s(?:the|it|up|hard|how|people)|travel\s(?:back|light\Z|the|down|far)"
    r"|climb\s(?:the|out|back|a tree|into|over)|cook\s(?:up|it|the|dinner\Z|something)|clean\s(?:up|out|the"
    r"|my)|wash\s(?:my|up|the)|design\s(?:the|my)|paint\s(?:a|the|my|to)|edit\s(?:the|my)|review\s(?:the|my)"
    r"|translate\s(?:the|this)|operate\s(?:on)|maintain\s|manage\s(?:to|my|it|just|well|the (?!team|shop"
    r"|restaurant)|fine|without)|grow\s(?:up|old|as|from|into|tired|apart|closer|more|in|my (?!own)|stronger"
    r"|and|every|through|together)|raise\s(?!(?:chickens|sheep|cattle|goats|pigs|horses|alpacas|rabbits|bees"
    r"|my (?:kids|children|son|daughter|grandson)|two|three))|plant\s(?:seeds of|my|the|a (?:seed|tree|kiss))"
    r"|lift\s(?!weights)|stretch\s(?:my|out|the)|publish\s(?:the|my)|watch\s(?:it)|attend\s(?:the|a (?!weekly"
    r"|monthly|local|church|book|yoga|regular|support|\w+ school)|an)|wear\s(?:the|my|it|off|out|many hats"
    r"|different hats|a (?:mask|smile))|sell\s(?:the|my|it|out)|trade\s(?:off|in|the)|deliver\s(?:on|the)"
    r"|donate\s(?:my|the)|collect\s(?:my|the)|restore\s(?:my|the|faith)|repair\s(?:my|the)|shop\s(?:for (?:a"
    r"|the)|around)|own\s(?:up|it|my|the|this))",
    re.IGNORECASE,
)
_DATED = re.compile(
    r"\b(?:on|by|from|until|till|this|next|last)\s(?:mon|tues|wednes|thurs|fri|satur|sun)day\b(?!s)"
    r"|\b\d{1,2}(?:st|nd|rd|th)?\s(?:of\s)?(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)"
    r"|\b(?:january|february|march|april|june|july|august|september|october|november|december)\s\d|\b(?:soon"
    r"|first thing|then)\b|\bin (?:an?|two|three|five|ten|\d+) (?:minutes?|hours?|days?|weeks?)\b",
    re.IGNORECASE,
)
_TO = re.compile(r"\sto\s(?:[a-z]+)(?:\s|\Z)")
_TO_NOUN = re.compile(
    r"\sto\s(?:work|school|music|jazz|podcasts|church|mass|bed|vinyl|audiobooks|classical|rock|metal|charity"
    r"|charities|children|kids|adults|beginners|students|tourists|uni|university|college|the|my|our|an?|and)\b"
    r"|\blisten to\b"
)


@_rule(
    " ".join(_DOING),
    rf"{SUBJECT}\s{HOW_OFTEN}(?P<verb>[a-z-]+)\s(?P<rest>{REST}{{3,80}})$",
)
def _does(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    verb, rest = match["verb"], match["rest"].strip()
    if verb not in _DOING or (verb == "keep" and not re.match(r"(?:bees|chickens|kosher|an?\s|my (?:savings|money|horse|boat|car)\s)", rest)):
        return
    words = rest.split()
    said = f"{verb} {rest}"
    # "take the 7:40 train" tells what "make the decision" does not: what it is done to is a thing.
    if (
        len(words) > 11
        or _IDIOM.match(said)
        or _DATED.search(rest)
        or words[0] in ("like", "as", "so", "and", "here", "well")
    ):
        return
    if _DEFINITE.search(rest) and verb not in _AT_PLACES:
        return
    if (verb != "spend" and _VAGUE.search(OFTEN_AT_END.sub("", rest))) or (_TO.search(f" {rest}") and not _TO_NOUN.search(f" {said}")):
        return
    if verb in _THING_OF and not _THING_OF[verb].search(rest):
        return
    if (
        verb in ("watch", "read", "listen")
        and re.fullmatch(
            r"(?:to\s)?(?:(?:a few|some|many|old)\s)?(?:movies|films|videos|tv|books|music|shows|series)",
            rest,
            re.IGNORECASE,
        )
        and not match["soft"]
    ):
        return
    if verb == "live" and re.search(r"\bapart\Z", rest):
        return
    yield lasting(
        clause,
        "home" if verb in ("live", "reside", "lodge", "rent") else "habit",
        put(f"{how_often(match['soft'])}{third(verb)}", rest),
    )


OFTEN_AT_END = re.compile(
    rf"\s{OFTEN}\Z|\bin my (?:spare|free) time\b|\bfor a living\b|\bon the side\b|\bmost of the time\b|\ball"
    rf" the time\b",
    re.IGNORECASE,
)
_CLASSES = r"(?:[\w'-]+\s){0,3}?(?:class(?:es)?|lessons?|courses?|workshops|training|seminars)"
_THING_OF = {
    "bring": re.compile(r"^(?:a packed lunch|my own|my lunch|lunch from home)\b", re.IGNORECASE),
    "pack": re.compile(r"^(?:my own|a packed lunch|my lunch|light\Z)", re.IGNORECASE),
    "spend": re.compile(
        r"^(?:(?:most of )?(?:my|our)\s(?:weekends|evenings|summers|mornings|holidays|winters|(?:free|spare) time|lunch breaks?|christmas|days off|weekdays|afternoons|saturdays|sundays)"
        r"|(?:a lot of|most of my|all my|too much|lots of|much of my)\s(?:\w+\s)?(?:time|money|evenings|weekends))\s(?:on|in|at|with|[a-z]+ing)\b",
        re.IGNORECASE,
    ),
    "sit": re.compile(r"^on (?:the|an?|our)\s(?:[\w'-]+\s){0,3}(?:council|board|committee|jury|panel|bench)\b", re.IGNORECASE),
    "earn": re.compile(r"^(?:about\s|around\s|roughly\s|just over\s)?[£$€]?\d[\d,.]*k?(?:\s\w+)?\s(?:a|per)\s(?:month|year|week|hour)\b|^(?:the )?minimum wage|^commission\b", re.IGNORECASE),
    "get": re.compile(r"^(?:around|about)\s(?:by|on|in)\s(?:foot\Z|(?:an?\s|my\s|public\s)?(?:\w+\s)?(?:bike|car|bus|train|scooter|taxi|wheelchair|transport|motorbike|tram|skateboard|moped|van))|^(?:my|our) (?:groceries|vegetables|meat|eggs|news|books|veg box) (?:delivered|from)\b|^(?:a )?(?:massage|haircut|manicure|check-up|flu jab|flu shot)\b", re.IGNORECASE),
    "holiday": re.compile(r"^(?:in|at|on|with)\s", re.IGNORECASE),
    "take": re.compile(
        rf"^(?:the|an?)\s(?:[\w:.-]+\s){{0,2}}(?:bus|train|tram|metro|tube|subway|ferry|taxi|nap|lift|bike|pill"
        rf"|tablet|sleeping pill|multivitamin)\b|^(?:{_CLASSES})|^(?:(?:\d+|two|three|a daily|cold"
        rf"|long)\s?)?(?:\w+\s)?(?:pills|tablets|medication|medicine|drops|injections|naps|showers|baths|ice"
        rf" baths|vitamins|supplements|insulin)\b|^\d+\s?mg|^my (?:kids|children|son|daughter|dog|dogs|grandson"
        rf"|granddaughter|mother|father|mum|dad|nephew|niece)\b|^(?:sugar|milk|lemon|honey)\b",
        re.IGNORECASE,
    ),
    "make": re.compile(
        r"\b(?:my own|jewellery|jewelry|furniture|candles|soap|pottery|wine|cheese|cider|jam|beer|bread|pasta"
        r"|clothes|quilts|toys|dolls|music|films|videos|documentaries|podcasts|games|websites|maps|shoes|hats"
        r"|bags|cakes|violins|guitars|instruments|knives|ceramics|kombucha|yoghurt|yogurt|sourdough|pickles"
        r"|sausages|\d+ (?:a|per)|signs|puppets|models|kimchi|chutney|prints|zines|comics|youtube videos"
        r"|collages|wedding cakes)\b",
        re.IGNORECASE,
    ),
    "do": re.compile(
        r"^(?:the\s(?:cooking|cleaning|shopping|laundry|dishes|ironing|gardening|accounts|books|bins|school"
        r" run|housework|night shift|early shift|late shift)|(?:all the |most of the )?(?:cooking|cleaning"
        r"|housework|childcare)|(?:freelance|volunteer|voluntary|part-time|shift|manual|charity|community"
        r"|contract|admin|office|social|care|night|seasonal|agency|commission|research|consulting|pro"
        r" bono)\s\w+|(?:\w+\s)?(?:yoga|pilates|karate|judo|crossfit|weights|sport|sports|athletics|gardening"
        r"|crosswords|puzzles|jigsaws|sudoku|pottery|ceramics|calligraphy|photography|stand-up|improv"
        r"|translations?|tattoos|quality control|payroll|marketing|accounting|night shifts|shifts|physio\w*"
        r"|meditation|woodwork|carpentry|embroidery|cross-stitch|martial arts|bookkeeping|hair|nails"
        r"|alterations|car repairs|home repairs|data entry|tech support|customer service|customer support"
        r"|intermittent fasting|keto|dry january|parkrun)\b)",
        re.IGNORECASE,
    ),
    "go": re.compile(
        r"^(?:[a-z]+\s)?[a-z]+ing\b|^(?:to\s(?:the\s(?:gym|mosque|synagogue|temple|theatre|opera|cinema"
        r"|library|pool|market|sauna|allotment|pub)|church|mass|therapy|physio|night school"
        r"|an?\s(?:\w+\s){0,2}(?:school|gym|class|church|club|group|university|college)|concerts|festivals"
        r"|gigs|football matches|museums|garage sales|flea markets|auctions))\b|^barefoot\b",
        re.IGNORECASE,
    ),
    "play": re.compile(
        r"^(?:the\s)?(?:[\w-]+\s){0,2}(?:football|soccer|tennis|chess|rugby|hockey|cricket|golf|squash"
        r"|badminton|basketball|volleyball|netball|handball|darts|pool|snooker|poker|bridge|bingo|piano|guitar"
        r"|violin|cello|drums|flute|trumpet|sax\w*|clarinet|ukulele|banjo|harp|organ|bass|viola|video games"
        r"|board games|card games|games|dungeons|d&d|go|backgammon|mahjong|padel|pickleball|bowls|lacrosse"
        r"|baseball|softball|table tennis|ping pong|dominoes|fiddle|accordion|bagpipes|trombone|keyboard"
        r"|minecraft|warhammer|scrabble|in\s(?:an?|the|my)\s(?:\w+\s){0,3}(?:band|orchestra|team|league"
        r"|quartet|club|trio|ensemble|group))\b",
        re.IGNORECASE,
    ),
    "use": re.compile(
        r"^(?:an?\s(?:[\w-]+\s){0,2}(?:wheelchair|walking stick|cane|hearing aid|cpap machine|walker|inhaler"
        r"|screen reader|standing desk|fountain pen|moka pot|french press|ebike|e-bike|budgeting app|meal kit"
        r"|paper diary|planner|sleep mask|white noise machine|dishwasher|slow cooker|air fryer|safety razor"
        r"|firewood stove|wood stove|reusable \w+|sunscreen|foam roller)|public transport|cash|contactless"
        r"|[A-Z]\w+|reading glasses|hearing aids|crutches|they/them|she/her|he/him|earplugs)\b"
    ),
    "share": re.compile(r"."),
    "buy": re.compile(
        r"^(?:only\s|mostly\s)?(?:second-hand|used|organic|local|vintage|fair ?trade|secondhand|in bulk|most"
        r" of my|all my|my (?:clothes|groceries|books|meat|veg\w*))\b",
        re.IGNORECASE,
    ),
    "carry": re.compile(
        r"\b(?:epipen|epi-pen|inhaler|insulin|donor card|backpack|notebook|camera|first[- ]aid|antihistamines"
        r"|adrenaline)\b",
        re.IGNORECASE,
    ),
    "eat": re.compile(r"^(?!(?:dinner|lunch|breakfast|it|well|healthy|healthily|clean)\b)[a-z]", re.IGNORECASE),
    "drink": re.compile(r"^(?!(?:it|too)\b)[a-z0-9]", re.IGNORECASE),
    "wear": re.compile(r"^(?!(?:it)\b)[a-z]", re.IGNORECASE),
    "own": re.compile(
        r"^(?:an?|two|three|four|five|six|\d+|several)\s(?:[\w-]+\s){0,3}[\w-]+(?:\s(?:in|near|with|by|on"
        r"|called|outside)\s.*)?\Z",
        re.IGNORECASE,
    ),
    "build": re.compile(
        r"^(?:[\w-]+\s){0,3}(?:houses|models?|ships|furniture|guitars|violins|boats|robots|computers|pcs"
        r"|websites|apps|drones|keyboards|instruments|railways|kayaks|canoes|bikes|bicycles|walls|sets|props"
        r"|lego|games|software|bridges|roads|trains|planes|cabinets|sheds|fences|dollhouses|clocks)\b",
        re.IGNORECASE,
    ),
    "design": re.compile(
        r"^(?:[\w-]+\s){0,3}(?:clothes|gardens|houses|websites|games|furniture|jewellery|jewelry|logos"
        r"|kitchens|buildings|bridges|shoes|sets|costumes|posters|books|software|apps|interfaces|circuits|toys"
        r"|fonts|patterns|packaging|chips|interiors|textiles)\b",
        re.IGNORECASE,
    ),
}

_IN_HAND = (
    r"(?:volunteering|interning|freelancing|temping|teaching|coaching|mentoring|tutoring|fostering"
    r"|homeschooling|recovering|convalescing|apprenticing|moonlighting|training|studying|working|retraining"
    r"|babysitting|commuting|renting|subletting|house-sitting|lodging|couch-surfing|caring|raising|dating"
    r"|seeing|taking|doing|trying|working|saving|looking|going|blogging|vlogging|podcasting|campaigning|using"
    r"|tracking|collecting|growing|"
    r"writing|learning|practising|practicing|preparing|applying|cutting|tapering|undergoing|nursing"
    r"|breastfeeding|potty-training|planning|managing|running|leading|building|restoring|renovating|getting"
    r"|living|staying)"
)
_OF_HAND = re.compile(
    rf"(?:(?:volunteering|interning|temping|freelancing|moonlighting|working|teaching|coaching|tutoring"
    rf"|apprenticing|retraining|training)\s(?:full-time\s|part-time\s|remotely\s|nights\s|from home\s"
    rf"|currently\s)?(?:at|for|as|in|with|from home|remotely|part-time|nights|full-time|abroad|freelance"
    rf"|shifts)(?:\s(?!(?:that|progress|the moment|it|the meantime|which|some)\b)|\Z)"
    rf"|(?:teaching|coaching|tutoring|mentoring)\s(?!(?:me|us|myself|others|people)\b)[a-z]|homeschooling\s"
    rf"|fostering\s|recovering from\s|retraining as\s|training (?:for|to be|to become|as)\s|studying\s(?!(?:it"
    rf"|hard|the)\b)|renting\s|subletting\s|caring for my\s|raising\s(?:my|our|two|three|four|twins|a\s(?:son"
    rf"|daughter|family|child))"
    rf"|(?:dating|seeing)\s(?:an?\s(?:therapist|physio\w*|psychologist|psychiatrist|dietitian|dietician"
    rf"|nutritionist|counsellor|counselor|specialist|personal trainer|guy|girl|man|woman|nurse|doctor|colleague"
    rf"|teacher)|{CASED})|taking\s(?:{_CLASSES}|(?:\w+\s)?(?:antidepressants|antibiotics|medication|vitamins"
    rf"|insulin|painkillers|iron|statins|steroids|supplements|a gap year|a sabbatical|a year off|a career break"
    rf"|time off work|hormones))|doing\s(?:an?\s(?:[\w-]+\s){{0,3}}(?:degree|phd|master's|masters|course"
    rf"|apprenticeship|internship|diploma|mba|residency|certificate|bootcamp|traineeship|detox|diet|challenge"
    rf"|placement|training|qualification|a-levels)|intermittent fasting|ivf|physio\w*|chemo\w*|keto|night"
    rf" shifts|freelance|whole30|dry january)"
    rf"|trying\sto\s(?:lose|quit|give up|cut (?:down|back|out)|stop (?:smoking|drinking|biting|eating|snacking"
    rf"|vaping)|eat (?:less|more|healthier)|get (?:fit|fitter|pregnant|into shape|in shape|back in shape|my"
    rf" (?:driving )?licen[cs]e)|conceive|have (?:a baby|another)|learn (?!more|to be|about|how|from|as)|save"
    rf" (?:up|for|money|\d|£)|gain|reduce|sleep more|drink less|drink more water|spend less|live (?:more"
    rf" sustainably|plastic-free|zero[- ]waste)|go vegan|buy (?:a|our first) (?:house|flat|home|apartment)|sell"
    rf" (?:our|my) (?:house|flat)|find a (?:new )?(?:job|flat|house)|grow|improve my\s[\w ]{{3,25}}|lower my\s"
    rf"|build (?:muscle|up my savings)|read more)\b|saving (?:up )?(?:for|to)\s|looking"
    rf" for\s(?:an?\s(?:[\w-]+\s){{0,3}}(?:job|flat|house|apartment|flatmate|nanny|internship|apprenticeship"
    rf"|school|role|position|place to live|career|roommate|housemate|boat|piano teacher|surrogate|camper van)"
    rf"|work\b)"
    rf"|going (?:through|to)\s(?:an?\sdivorce|the menopause|menopause|ivf|chemo\w*|therapy|night school"
    rf"|physio\w*|a separation|a custody battle|university|college|marriage counselling|couples therapy|evening"
    rf" classes|art school|grad school|law school|medical school|school for)\b|writing\s(?:an?|my"
    rf"|our)\s(?:[\w-]+\s){{0,3}}(?:novel|book|memoir|thesis|dissertation|screenplay|blog|play|cookbook|phd"
    rf"|musical|opera|album)\b|writing up my\s|learning\s(?!(?:a lot|so much|more|that|how to (?:deal|cope|be"
    rf"|use)|about|from|the ropes|something|new things|to (?:be|let|love|accept|trust|deal|cope|live|balance"
    rf"|appreciate|say|take|manage)|every|as)\b)[a-z]|(?:practising|practicing)\s(?:the\s\w+|yoga"
    rf"|my\s(?:\w+\s)?(?:scales|serve|swing|handwriting|vocals|guitar|piano|spanish|french|german|italian)"
    rf"|medicine|law|meditation)"
    rf"|(?:preparing for|applying (?:for|to))\s(?:my|an?|the|our)?\s?(?:[\w-]+\s){{0,3}}(?:exams?|marathon"
    rf"|school|university|universities|jobs?|citizenship|visa|degree|phd|apprenticeship|college|master's"
    rf"|masters|residency|permit|mortgage|adoption|ironman|triathlon|bar exam|scholarships?|promotion"
    rf"|retirement|finals|audition|colleges|internships?)\b|cutting (?:down|out|back)\s(?:on\s)?[a-z]"
    rf"|(?:blogging|vlogging|podcasting|writing|campaigning)\sabout\s|doing\s(?:some\s|a lot of\s|a bit"
    rf" of\s)?(?:[\w-]+\s)?(?:yoga|pilates|weight training|strength training|weights|karate|boxing|meditation"
    rf"|gardening|volunteer work|volunteering|freelance work|photography|pottery|crossfit|cardio|tai chi"
    rf"|physical therapy|martial arts|woodworking|stand-up)\b|using\s(?:an?\s(?:foam roller|meal kit|standing"
    rf" desk|hearing aid|cpap machine|budgeting app|cane|walking stick|wheelchair|light therapy lamp|fitness"
    rf" tracker|bullet journal|planner|inhaler)|[A-Z]\w+\s(?:to|for|as)\s)|tracking\s(?:my|the"
    rf"|our)\s(?:\w+\s){{0,2}}?(?:birds|hummingbirds|sleep|calories|spending|expenses|weight|blood pressure"
    rf"|glucose|cycle|mood|runs|steps|macros|budget)\b|collecting\s[a-z]|growing\s(?:my own\s)?(?!as|up|tired"
    rf"|closer|apart)[a-z]|tapering off\s|undergoing\s|breastfeeding|potty-training\s|planning\s(?:our|my"
    rf"|a)\s(?:wedding|retirement|sabbatical|gap year|career change|honeymoon|move to|trip to|extension|loft"
    rf" conversion)|(?:managing|running|leading)\s(?:an?|my own|our|the)\s(?:[\w-]+\s){{0,3}}(?:team|shop"
    rf"|business|department|project|company|cafe|café|restaurant|charity|store|clinic|school|programme|group"
    rf"|club|workshop|bakery|farm|hotel|branch|non-profit)\b"
    rf"|(?:building|restoring|renovating)\s(?:an?|my|our)\s(?:[\w-]+\s){{0,3}}(?:house|boat|car|cabin|shed"
    rf"|guitar|van|campervan|extension|barn|cottage|greenhouse|pc|motorbike|piano|farmhouse|treehouse|kitchen"
    rf"|telescope|canoe|kayak|sauna|pond|patio|deck|robot|railway|table|bookcase|loom|tiny house)\b"
    rf"|getting\s(?:married|divorced|braces|a (?:hip|knee) replacement|treatment for|a dog|a puppy|a kitten"
    rf"|help for my)\b|living\s(?:in|on|at|with|near|alone|abroad|off|by|next|above|apart|together|out"
    rf" of)\s?(?!(?:my best|fear|hope|it)\b)|(?:getting over|recovering from|nursing)\s(?:an?|my)\s"
    rf"|house-sitting|working (?:towards?|on|for)\s(?:my|an?)\s(?:[\w'-]+\s){{0,3}}(?:licen[cs]e|degree|diploma"
    rf"|black belt|phd|thesis|certificate|qualification|citizenship|master's|exams?)\b)",
    re.IGNORECASE,
)


@_rule(
    "volunteering interning freelancing temping teaching coaching mentoring tutoring fostering homeschooling"
    " recovering convalescing apprenticing moonlighting training studying working retraining renting"
    " subletting"
    " caring raising dating seeing taking doing trying saving looking going writing learning practising"
    " practicing preparing applying cutting tapering undergoing nursing breastfeeding planning managing"
    " running leading building"
    " restoring renovating getting living blogging vlogging podcasting campaigning using tracking collecting growing",
    rf"{SUBJECT}(?P<been>(?i:'ve|\shave)\s(?i:(?:also|just|recently|already|always|really"
    rf"|now)\s)*(?i:been))?(?P<be>(?i:'m|\sam|'re|\sare))?\s{SOFT}(?i:(?:also|currently|slowly|busy"
    rf"|back)\s)*(?P<doing>(?i:{_IN_HAND})\b{REST}{{0,80}})$",
)
def _is_doing(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    doing = re.sub(r"\s(?:lately|recently|currently|at present)\Z", "", match["doing"].strip())
    if (
        bool(match["been"]) == bool(match["be"])
        or len(doing.split()) > 13
        or not _OF_HAND.match(doing)
        or _DATED.search(doing)
    ):
        return
    tail = re.sub(r"^\S+\s(?:(?:at|for|as|in|with|to|from|on|up)\s)?", "", doing)
    if _VAGUE.search(OFTEN_AT_END.sub("", tail)) and not re.match(
        r"(?:trying|planning|looking|recovering|getting)\b", doing
    ):
        return
    low = doing.lower()
    label = (
        "health" if re.match(r"(?:recovering|undergoing|tapering|getting over|nursing an?|taking (?!\w+ (?:class|lesson|course)))", low) and not re.search(r"class|lesson|course|gap year|sabbatical|year off", low)
        else "goal" if low.startswith(("trying", "saving", "looking", "planning", "preparing", "applying"))
        else "studies" if low.startswith(("studying", "learning", "taking", "doing", "training", "retraining", "writing up"))
        else "family" if low.startswith(("raising", "dating", "caring", "fostering", "homeschool", "breastfeeding"))
        else "work" if low.startswith(("working", "volunteering", "teaching", "coaching", "tutoring", "mentoring", "interning", "managing", "running", "leading", "freelancing", "temping"))
        else "home" if low.startswith(("living", "renting", "subletting"))
        else "project"
    )  # fmt: skip
    yield lasting(clause, label, put("has been" if match["been"] else "is", doing))


_TURNED = (
    r"(?:(?:joined|left|quit)\s(?:an?|the|my|our)\s(?:[\w'&-]+\s){0,4}?(?:gym|club|choir|band|team|group"
    r"|class|orchestra|society|church|union|army|navy|air force|police|scouts|party|association|league|board"
    r"|committee|squad|band|community garden|co-op|support group|youth group|programme|program|tennis club"
    r"|fire brigade)"
    r"|(?:signed up|enrolled|registered)\s(?:for|in|at|with|on)\s(?:an?\s|the\s|some\s"
    r"|my\s)?(?:[\w'-]+\s){0,4}?(?:class(?:es)?|course|lessons|school|university|college|degree|programme"
    r"|program|gym|marathon|half marathon|triathlon|evening classes|bootcamp|workshop|apprenticeship|master's"
    r"|masters|phd)"
    r"|(?:started|began|took up|stopped|quit|resumed)\s(?:(?:taking|doing|learning|playing|going to|attending"
    r"|having)\s)?(?:[\w'-]+\s){0,3}?(?:class(?:es)?|lessons|courses?|therapy|physio\w*|yoga|pilates|karate"
    r"|judo|running|swimming|cycling|knitting|pottery|painting|piano|guitar|violin|drums|gardening|meditation"
    r"|meditating|boxing|climbing|bouldering|chess|smoking|drinking|antidepressants|medication|treatment"
    r"|chemo\w*|insulin|statins|university|college|business|company|podcast|blog|youtube channel|newsletter"
    r"|apprenticeship|family|band|book club|retirement|vaping|golf|tennis|baking|journaling|dancing|salsa"
    r"|ballet|photography|woodworking|crochet|crocheting|sewing|singing lessons|surfing|skiing)"
    r"|(?:started|began|stopped)\s(?:eating|getting into|doing|using|working (?:as|at|for|in|part-time|from"
    r" home|full-time)|studying|blogging|volunteering|commuting|cycling to|walking to|growing|collecting"
    r"|keeping|saving for|seeing a|teaching|coaching|mentoring|drinking|wearing)\s(?!(?:more|it|that|well"
    r"|better)\b)[a-z][\w' -]{2,40}?|(?:started|began)\s(?:an?\s(?:new\s)?(?:[\w-]+\s)?diet|eating"
    r" healthier)|(?:failed|passed|retook|sat)\s(?:my|the)\s(?:[\w'-]+\s){0,3}?(?:tests?|exams?|finals"
    r"|theory|a-levels|gcses|probation|bar|boards|viva|abitur|qualifying exams?)|lost\s(?:my"
    r"|the)\s(?:\w+\s)?(?:hearing|sight|eyesight|vision|leg|arm|finger|thumb|sense of (?:smell|taste)"
    r"|licen[cs]e|job|husband|wife|mother|father|mum|dad|mom|brother|sister|son|daughter|dog|cat|grandmother"
    r"|grandfather|best friend|home|house|baby|parents|hair|voice|front teeth)|lost\s(?:\d+|[a-z]+)\s(?:kilos"
    r"|kg|pounds|stone|lbs)"
    r"|(?:raised|brought up)\s(?:my|our|two|three|four|five|six|a)\s(?:[\w-]+\s){0,2}?(?:kids|children|sons?"
    r"|daughters?|boys|girls|family)|(?:bought|built|inherited|sold|renovated|restored)\s(?:an?|our|my"
    r"|the)\s(?:[\w'-]+\s){0,3}?(?:house|flat|apartment|home|cottage|farm|cabin|boat|houseboat|bungalow|plot"
    r" of land|barn|farmhouse|holiday home|caravan|camper ?van|piano|business|van|motorbike|allotment"
    r"|restaurant|caf[eé]|land)"
    r"|moved\s(?:into|in with|back in with|out of)\s(?:an?|our|my|the)\s(?:[\w'-]+\s){0,3}?(?:house|flat"
    r"|apartment|houseboat|cottage|bungalow|boyfriend|girlfriend|partner|parents|studio|farmhouse|care home"
    r"|caravan|home|place|mum|mom|dad|sister|brother|daughter|son|fianc[eé]e?|in-laws|narrowboat|retirement"
    r" home|van)|moved\s(?:here|abroad|back home|to the (?:countryside|coast|city|seaside|suburbs|mountains)"
    r"|house)"
    r"|(?:adopted|fostered|rescued)\s(?:an?|two|three|our|my)\s(?:[\w'-]+\s){0,3}?(?:dogs?|cats?|puppy"
    r"|puppies|kittens?|child|children|baby|girl|boy|son|daughter|greyhounds?|rabbits?|hens|parrot|horse"
    r"|donkeys?|siblings|brothers|sisters|teenager)|(?:founded|co-founded|set up|opened|launched)\s(?:an?|my"
    r"|our|my own|our own)\s(?:[\w'-]+\s){0,3}?(?:business|company|shop|caf[eé]|restaurant|charity|studio"
    r"|school|start-?up|agency|bakery|practice|non-profit|label|band|club|clinic|bookshop|salon|gallery"
    r"|foundation|choir|dance studio|store)"
    r"|(?:published|self-published|wrote|released|recorded)\s(?:an?|my|two|three|four|my first|our"
    r"|several)\s(?:[\w'-]+\s){0,3}?(?:books?|novels?|albums?|memoir|poetry collection|children's books?|ep"
    r"|single|screenplay|cookbook|papers?)|(?:served|fought)\s(?:in|on)\s(?:the\s)?[\w ]{3,30}|(?:dropped"
    r" out of|flunked out of|graduated from|transferred to)\s(?:[\w'-]+\s){0,3}?(?:school|university|college"
    r"|uni|law|medicine|high school|sixth form)|got\s(?:an?\s(?:degree|master's|phd|scholarship|promotion"
    r"|divorce|tattoo|pacemaker|hip replacement|dog|cat|puppy|kitten)|my\s(?:[\w'-]+\s){0,3}?(?:licen[cs]e"
    r"|degree|citizenship|diploma|master's|phd|green card|black belt|masters|certificate)|laid off|made"
    r" redundant|fired|promoted|sober|clean|divorced|remarried|braces)|came out (?:as|to my)\s[\w -]{3,20}"
    r"|converted to\s[A-Z]?\w+|became\s(?:an?\s)(?:[\w-]+\s){0,3}?[\w-]+|retrained as\s(?:an?\s)?[\w"
    r" -]{3,30}|qualified as\s(?:an?\s)?[\w -]{3,30}|(?:emigrated|immigrated)\b[\w ,]{0,40}|split up"
    r"|separated)"
)


@_rule(
    "joined left quit signed enrolled registered started began took stopped resumed failed passed retook sat"
    " lost raised brought bought built inherited sold renovated restored moved adopted fostered rescued"
    " founded co set opened launched"
    " published wrote released recorded served fought dropped flunked graduated transferred got came"
    " converted became retrained qualified emigrated immigrated",
    rf"{SUBJECT}(?i:'ve|\shave)?\s(?i:(?:also|actually|just|recently|finally|then|both|never|even"
    rf"|originally)\s)*(?P<turned>(?i:{_TURNED}))(?P<more>(?:\s(?i:in|at|on|with|for|from|near|by|of|called"
    rf"|about|last year|last (?:spring|summer|autumn|fall|winter)|this year|as|to|twice|three times|four times"
    rf"|when I was)\b{REST}{{0,50}})?)$",
)
def _turned(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    turned, more = match["turned"], match["more"] or ""
    if _DATED.search(more) or re.search(r"\b(?:never)\b", clause.text[: match.start("turned")]):
        return
    if re.match(
        r"(?:started|began|stopped)\s(?:eating|getting|doing|using|working|growing|keeping|wearing)\s", turned
    ) and _VAGUE.search(f"{turned.split(' ', 2)[-1]} {more}"):
        return
    if re.match(r"(?:became)\s", turned) and not re.search(
        r"(?:er|or|ist|ian|ant|nurse|parent|mother|father|mum|dad|mom|aunt|uncle|grandmother|grandfather"
        r"|citizen|vegan|vegetarian|monk|priest|partner|chef|widow)\Z",
        turned,
    ):
        return
    yield lasting(clause, "life", put(turned, more))


@_rule(
    "tend try like prefer",
    rf"{SUBJECT}\s{SOFT}(?P<verb>(?i:tend|try|like|prefer))\s(?i:to)\s(?P<act>(?i:wake up|get up|go to bed|go|eat|sleep|skip|avoid|walk|cycle|run|swim|read|work|shop|buy|cook|bake|drink|travel|sit|stay up|write|garden|fish|hike|camp"
    rf"|listen to|watch|play|paint|draw|knit|sew))(?P<what>\s{REST}{{2,60}})?$",
)
def _tends(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    act, what = match["act"], (match["what"] or "").strip()
    if not what and act.lower() not in ("wake up", "garden", "fish", "hike", "camp", "paint", "draw", "knit", "sew", "bake", "cook"):
        return
    if _VAGUE.search(OFTEN_AT_END.sub("", what)) or _DATED.search(what) or re.match(r"(?:on|over|out|into|back|away|through|like|the)\b(?! my| foot)", what):
        return
    yield lasting(clause, "habit", put(f"{third(match['verb'])} to", f"{act} {what}"))


_LIKED = r"(?:love|enjoy|like|hate|prefer|adore|can't stand|dislike)"


@_rule(
    "love enjoy like hate prefer adore stand dislike loved enjoyed liked hated into drawn wanted",
    rf"(?i:^(?:(?:oh|well|and|but|so|also|btw|yes|yeah)[\s,]+)*we\s(?:(?:both|all|really|also|always"
    rf"|absolutely)\s)*)(?P<likes>(?i:{_LIKED}))\s(?P<what>{REST}{{3,60}})$"
    rf"|{SUBJECT}(?i:'ve|\shave)\s(?i:always)\s(?P<always>(?i:loved|liked|enjoyed|hated|adored|disliked|been"
    rf" (?:into|interested in|fascinated by|passionate about|afraid of|drawn to|obsessed with|allergic to|bad"
    rf" at|good at|a fan of)))\s(?P<what2>{REST}{{3,60}})$",
)
def _likes(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    what = match["what"] or match["what2"]
    if re.match(
        r"(?:to\s(?:see|hear|know|have|be|get|think|say|talk|chat|help|make)|having|seeing|being|hearing"
        r"|getting|how|when|the (?:way|idea|fact|sound|feeling)|our (?:chats|time|new|conversations)|a good"
        r"|challenges?|being|your|each)\b",
        what,
        re.IGNORECASE,
    ):
        return
    if _VAGUE.search(what) or _DATED.search(what) or len(what.split()) > 9:
        return
    if match["always"]:
        yield lasting(clause, "preference", put("has always", f"{match['always'].lower()} {what}"))
    else:
        verb = match["likes"].lower()
        yield lasting(
            clause,
            "dislike" if verb in ("hate", "can't stand", "cant stand", "dislike") else "preference",
            put("cannot stand" if "stand" in verb else third(verb), what),
        )


_USED = word_set(
    "be live work play have own run teach smoke drink drive ride sing dance swim ski climb write paint draw"
    " collect do go row box fence act coach manage serve study knit sew bake farm fish hunt sail fly travel"
    " commute keep breed"
    " volunteer wear eat speak surf skate compete train perform weigh vote cycle garden stammer stutter model"
    " DJ sell deliver weld nurse freelance bartend waitress attend rent"
)
USED_TO = re.compile(
    rf"{SUBJECT}\s(?i:also\s|actually\s|both\s)?(?i:used to)\s(?P<verb>[a-z]+)(?P<rest>\s{REST}{{2,70}})?$"
)


def used_to(clause: Clause) -> Iterator[Fact]:
    """What one used to do, be or have: true of the past alone."""
    match = USED_TO.match(clause.text)
    if match is None or match["verb"] not in _USED:
        return
    rest = (match["rest"] or "").strip()
    verb = match["verb"]
    if (
        not rest
        and verb
        not in (
            "smoke",
            "drink",
            "drive",
            "model",
            "swim",
            "climb",
            "dance",
            "sing",
            "fence",
            "row",
            "box",
            "stammer",
            "stutter",
            "ski",
            "surf",
            "skate",
        )
    ) or len(rest.split()) > 12:
        return
    if verb == "be" and not re.match(
        r"(?:an?\s|in the\s|on\s(?:insulin|antidepressants)|married|vegan|vegetarian|very shy|shy|religious"
        r"|homeless|overweight|afraid of|scared of|allergic to|engaged)",
        rest,
    ):
        return
    if verb == "be" and re.search(r"\b(?:huge|big|bit|lot|problem|fan|mess|thing|time)\b", rest):
        return
    if verb == "have" and not re.match(r"(?:an?|two|three|four|long|short|red|blonde|braces|asthma|epilepsy)\s?", rest):
        return
    if _VAGUE.search(OFTEN_AT_END.sub("", re.sub(r"\bat (?:that|the) time\b", "", rest))) or (
        verb not in ("be", "have", "live", "keep") and _IDIOM.match(f"{verb} {rest}")
    ):
        return
    yield lasting(clause, "past", put("used to", f"{verb} {rest}"))


@_rule(
    "hobby hobbies pastime passion job work trade profession specialty speciality field day instrument"
    " religion language tongue nickname surname sign working shift weekends custody pregnant off responsible"
    " charge need cant cannot hear"
    " spot us put doctor diagnosed prescribed due",
    rf"(?i:^(?:(?:and|but|so|well|also|oh)[\s,]+)*my\s(?:(?:main|biggest|favou?rite|only|current|other|new|day"
    rf"|actual|official|full|real)\s)*(?P<what>hobby|hobbies|pastimes?|passion|day job|job|trade|profession"
    rf"|speciality|specialty|field(?: of (?:study|work|research))?|instrument|religion|nickname|surname|last"
    rf" name|middle name|maiden name|second language|third language|working day|shift|research area|major|minor"
    rf"|star sign)\s(?:is|are)\s)(?P<is>{REST}{{2,60}})$"
    rf"|(?P<tongue>[A-Z][a-z]+)\s(?i:is (?:only )?my\s)(?P<nth>(?i:(?:second|third|first|native|fourth|mother)"
    rf" (?:language|tongue)))$"
    rf"|(?i:^(?:(?:and|but|so|well|also|oh)[\s,]+)*my\s(?:working day|shift|day|job"
    rf"|work)\s)(?P<starts>(?i:(?:starts|ends|begins|finishes) at\s{REST}{{2,30}}))$"
    rf"|(?i:^(?:(?:and|but|so|well|also|oh)[\s,]+)*my\s(?:doctor|gp|consultant|cardiologist|specialist"
    rf"|psychiatrist|vet)\s(?:has\s|just\s|recently\s)*(?:put me on|prescribed(?: me)?|diagnosed me with"
    rf"|started me on|told me to (?:avoid|cut out|take)))\s(?P<drug>{REST}{{3,50}})$"
    rf"|(?i:^(?:(?:and|but|so|well|also|oh)[\s,]+)*there(?:'s|\sare"
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
        verb = (
            "has been diagnosed with"
            if "diagnosed" in how
            else "was told by a doctor to " + re.search(r"avoid|cut out|take", how)[0]
            if "told" in how
            else "takes"
        )  # type: ignore[index]
        yield lasting(clause, "health", put(verb, match["drug"]))
    else:
        yield lasting(
            clause,
            "household",
            f"{match['us'][:1].upper()}{match['us'][1:].replace('us', 'them').replace('me', 'them')}"
            f" {match['home'].replace('my', 'their').replace('our', 'their')}",
        )


@_rule(
    "off charge responsible pregnant need cant cannot custody spot ear eye due weeks months allowed supposed waiting",
    rf"{SUBJECT}(?i:'m|\sam|'re|\sare)\s{SOFT}(?P<am>(?i:off\s(?:on\s)?(?:{OFTEN})|(?:in charge of|responsible"
    rf" for)\s{REST}{{4,60}}|(?:\w+\s)(?:months|weeks) pregnant(?:\swith\s[\w ]{{3,20}})?|on (?:the|a) waiting"
    rf" list for\s{REST}{{3,40}}|due in\s(?:january|february|march|april|may|june|july|august|september|october"
    rf"|november|december)|not allowed (?:to )?(?:eat|drink|have|drive|fly|lift)\s?{REST}{{2,40}}|deaf in"
    rf" (?:one|my \w+) ear|blind in (?:one|my \w+) eye|under (?:treatment|a doctor) for\s{REST}{{3,40}}"
    rf"|intolerant to\s{REST}{{3,30}}|sensitive to\s{REST}{{3,30}}|addicted to\s{REST}{{3,30}}|used to"
    rf" working\s{REST}{{3,30}}))$"
    rf"|{SUBJECT}\s{SOFT}(?i:need)\s(?P<need>(?i:(?:reading glasses|glasses|hearing aids|a wheelchair|crutches"
    rf"|insulin|a stairlift|step-free access|wheelchair access|a ground[- ]floor (?:room|flat)|subtitles|a"
    rf" gluten-free (?:diet|menu)|nine hours(?: of)? sleep|eight hours(?: of)? sleep|a new (?:hip|knee|kidney"
    rf"|liver))|to (?:avoid|limit|watch|cut down on|inject|wear)\s{REST}{{3,60}}|to (?:take|eat|rest"
    rf"|drink)\s{REST}{{2,40}}\s(?:because of|for|due to)\smy\s{REST}{{3,30}})(?:\s(?:for|to|because of|due"
    rf" to)\s{REST}{{3,40}})?"
    r"|(?!you|to\b|help|some|a (?:bit|little|few|break|moment|minute|hand|second))(?:[\w-]+\s){1,3}(?:to|in order to)\s(?:sleep"
    rf"|concentrate|focus|function|read|see|walk|hear|breathe|work properly|fall asleep)(?:\s{REST}{{2,30}})?)$"
    rf"|{SUBJECT}\s{SOFT}(?P<cant>(?i:can't|cannot|can barely|can hardly|can only))\s(?P<act>(?i:hear|see|smell"
    rf"|taste|walk|lift|bend|sit|stand for|climb stairs|kneel|digest|tolerate|sleep without|sleep on|function"
    rf" without|whistle|cook|sing|dance|ski|skate|ride a bike|read music|raise my|straighten my|feel my|fly"
    rf" because|tell left from right|handle (?:spicy|alcohol|caffeine|lactose|gluten|heat)|have (?:pets|a dog|a cat|dairy|gluten"
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
        if _VAGUE.search(
            re.sub(r"^(?:in charge of|responsible for|off)\s|\Adeaf.*|\Ablind.*", "", match["am"])
        ) or re.match(r"(?:sensitive to)\s(?:others|people|criticism)", match["am"]):
            return
        work = re.match(r"off|in charge|responsible|used to", match["am"], re.IGNORECASE)
        yield lasting(clause, "work" if work else "health", put("is", match["am"]))
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
        if _VAGUE.search(re.sub(r"\b(?:well|on my (?:left|right) side|without my \w+)\b", "", rest)):
            return
        yield lasting(
            clause,
            "health"
            if act.lower() not in ("cook", "sing", "dance", "whistle", "ski", "skate", "ride a bike", "read music")
            else "skill",
            put(third(match["cant"].split()[0]), f"{' '.join(match['cant'].split()[1:])} {act}{rest}".strip()),
        )
    else:
        yield lasting(clause, "about them", put("has", match["have"]))


_FRONTED = re.compile(
    rf"(?i:^(?:(?:and|but|so|also|oh|well|plus|then|btw|by the way)[\s,]+)*)(?P<front>(?i:in my (?:spare|free)"
    rf" time|at home|at work|as a hobby|for a living|outside (?:of\s)?work|on the side|for fun|for work|on"
    rf" holiday|as a family|in the evenings?|after work|by trade|by day|at night"
    rf"|(?:back\s)?in (?:19|20)\d\d|{WHEN_PAST}|last (?:year|summer|spring|autumn|fall|winter)|this year|for"
    rf" (?:exercise|breakfast|lunch)|when I'm not working|when the kids are asleep|during (?:the|my) (?:week"
    rf"|holidays|summer|winter|lunch break)|throughout my childhood|growing up|these days|nowadays))$"
)
_FRONT_IN = re.compile(rf"{_FRONTED.pattern[:-1]},?\s(?P<rest>(?i:I|we|I'm|I've|we're|we've)(?:\s|'){REST}{{4,120}})$")


def fronted(text: str, previous: str = "") -> str:
    """A clause with what stands before its subject put behind it: "in my spare time I paint" → "I paint in my spare time"."""
    before = _FRONTED.match(previous.strip()) if previous else None
    if before is not None and re.match(r"(?:I|we)\b", text, re.IGNORECASE):
        rest, front = text, before["front"]
    elif (match := _FRONT_IN.match(text)) is not None:
        rest, front = match["rest"], match["front"]
    else:
        return text
    if front.lower() in ("these days", "nowadays"):
        return rest
    return f"{rest} {front[:1].lower()}{front[1:]}" if not re.match(r"[A-Z]{2}", front) else f"{rest} {front}"
