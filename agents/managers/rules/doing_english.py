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
from .plain_english import CASED, COUNT, HOW_OFTEN, OFTEN, REST, SOFT, SUBJECT, WHEN_PAST, how_often, lasting, put, third
from .sentences import Clause

__all__ = ["DOING_RULES", "fronted", "used_to"]

DOING_RULES, _rule = rule_set()

_DOING = word_set(
    "live reside commute drive ride cycle bike walk run jog hike climb swim sail row surf ski skate dive travel camp fish hunt garden grow plant farm breed"
    " raise rear train coach teach tutor mentor lecture study practise practice rehearse perform act sing dance compose conduct record produce write blog"
    " edit translate interpret publish read review collect restore repair build craft carve sculpt paint draw sketch design photograph knit sew"
    " crochet weave embroider bake cook brew roast ferment pickle eat drink smoke vape skip wear dye shave use own rent lease share host foster babysit"
    " nurse feed groom clean iron wash shower bathe sleep nap snore meditate pray fast journal stretch exercise lift work freelance consult manage lead supervise"
    " oversee sell trade import export deliver operate maintain inspect audit code program develop engineer research volunteer donate sponsor chair moderate"
    " attend watch listen stream subscribe vote homeschool pay save invest shop bank speak type stammer stutter inject carry take make do play go look"
    " care help serve rescue compete judge referee umpire tend brush juggle busk cater tailor mow walk foster tweet podcast vlog game wake rely commute"
    " quilt film animate illustrate prune compost recycle upcycle forage keep sublet lodge buy"
)
_VAGUE = re.compile(
    r"\b(?:problems?|issues?|errors?|questions?|ideas?|points?|things?|stuff|ways?|sense|attention|sure|pride|part|differences?|impact|inspiration|support|advice|feedback|comfort|joy|strength|efforts?|progress"
    r"|memor(?:y|ies)|moments?|life|lives|journey|passions?|dreams?|goals?|world|others|everyone|everybody|someone|somebody|something|anything|everything|nothing|anyone|nobody|yourself|mistakes?|steps?|notes?|turns?"
    r"|chances?|risks?|advantage|credit|offence|offense|responsibility|charge|decisions?|choices?|plans?|lead|example|role|roles|fun|sense|look|break|breaks|breath|deep|time|times|day|moment|granted|heart|mind|word|words|case|option|options|version|file|files|script|scripts|code|command|query|test|tests"
    r"|fool|fuss|deal|bit|lot|lots|bunch|best|worst|better|worse|well|great|good|bad|happy|easy|hard|tough|crazy|mad|nuts|rounds?|limits?|fears?|feelings?|emotions?|mood|stress|confidence|courage|skills?|experiences?|stories|story|relationships?|connections?|friendships?|challenges?|obstacles?|change|changes|positivity"
    r"|positive|together|forward|ahead|back|away|down|over|along|through|around here|solace|refuge|solutions?|results?|reasons?|answers?|value|values|lessons? from|opinions?|view|views|thoughts?|interest|interests|action|actions|love|care of|my all|my way|my word|my place|my share|my share of|my chance|my mark|my time|my own way|my best|myself|ourselves|my thing|shit|crap|hell|damn|bets?|guesses|wishes|fingers"
    r"|sides?|account|place|shape|sense of|form|effect|control|advantage of|hope|faith|trust|peace|freedom|community|causes?|awareness|space|success|balance|motivation|energy|focus|perspective|growth|healing|environment|vibe|vibes|research|innovation|growth|policy|policies|economy|society|competition|win|wins|power|knowledge|understanding|potential|benefits?|priority|priorities|method|approach|term|terms|word|phrase|expression|template|format|button|link|app idea|feature|features)\b",
    re.IGNORECASE,
)
_DEFINITE = re.compile(
    r"(?:^|\s)the\s(?!(?:[\w:.-]+\s)?(?:bus|train|tram|metro|tube|subway|underground|ferry|dogs?|cats?|kids|children|piano|guitar|violin|cello|drums|flute|harp|organ|garden|gardening|cooking|cleaning|shopping|laundry|dishes|ironing|accounts|books|bins|shift|gym"
    r"|local|family|elderly|homeless|blind|deaf|horses?|chickens|hens|house|housework|school run|office|weekends?|week|sea|beach|lake|river|river|mountains|countryside|city|piano|car|stairs|evenings?|mornings?|afternoons?|summer|winter|church|mosque|choir|side|internet|radio|news|newspaper|paper|guardian|times|library|door|accordion|saxophone|trumpet|clarinet|ukulele|banjo|fiddle|trombone|viola|bass|sax|oboe|bagpipes|recorder)\b)",
    re.IGNORECASE,
)
_IDIOM = re.compile(
    r"(?:take\s(?:back|over|off|on|in|up|out|it|care|after|down|for|part|place|action|stock|issue|exception|offen[cs]e|heart|time|a (?:look|break|guess|shot|seat|nap|moment|minute|chance|picture|photo|screenshot|deep|step|stand|walk|different|closer|while|lot|bite|peek|hint|joke|trip|vacation|holiday|few|day|bit|selfie|second|shower|bath)|full|comfort|great|the (?:opportunity|time|chance|hint|point|blame|first|lead|liberty|plunge|bait|cake|mickey|piss))"
    r"|make\s(?:up|out|do|it|sure|sense|progress|a (?:mistake|living|point|note|list|deal|fuss|joke|mess|wish|start|decision|difference|lot|plan|good|habit|point)|mistakes|time|plans|money|friends|excuses|an effort|the (?:most|best|effort|mistake)|my (?:way|day|peace|mind)|room|ends|use|fun|music together)"
    r"|do\s(?:my|our|best|well|better|not|it|so|too|the (?:same|trick|math|maths|job|right)|wonders|good|great|fine|okay|ok|agree|think|have|hope|need|want|like|love|know|feel|believe|a (?:great|good|bad|terrible|lot|little|bit)|some (?:research|digging|more)|what|whatever|everything|anything|nothing|see|appreciate|enjoy|remember|try|get|go|find|miss|care|understand)"
    r"|go\s(?:on|off|out|back|home|over|through|with|for|by|all|ahead|along|away|down|up|in|crazy|nuts|mad|first|next|to (?:bed|sleep|work|town|great|show|hell)|and|from|into|there|straight|way|the|wild|bananas|blank|a (?:bit|little|long)|deep|big|hard)|run\s(?:into|out|away|late|low|on|off|out|through|over|across|up|the|a (?:risk|test|check|search|command|query|script|tight|bath))"
    r"|play\s(?:along|around|a (?:role|part|big|huge|key|vital|crucial)|it|dumb|games with|devil|with fire|catch|safe|my|up|down|nice|dead)|keep\s(?:(?!bees|chickens|hens|kosher|halal|horses|goats|sheep|ducks|rabbits|pigs|an?\s(?:\w+\s)?(?:diary|journal|blog|log|notebook|record|list|first[- ]aid|spare|epipen|aquarium|allotment|dog|cat|parrot|tortoise|cow|pig|vegetable|kitchen))\w)"
    r"|look\s(?!after\b)|help\s(?!out\b|my\b|run\b|at\b|with my\b)|care\s(?!for (?:my|an?|people|elderly|patients|children|the)\b)|save\s(?!for|up|\d|£|money|[a-z]+ (?:hundred|pounds|euros|dollars))|rely\s(?!on (?:a|public|my (?:wheelchair|hearing|guide|inhaler))\b)|read\s(?:between|your|out|about|through|into|on|up|over|a (?:lot|bit)|an? (?:article|book|post|story|study|report|review|great|good|recent|quote|comment|few|really|paper|piece|thing|blog|message|text|letter)|some|somewhere|the|my)|write\s(?:to|down|off|back|about|in|out|this|code|the|a (?:letter|message|note|email|mail|text|review|report|post|quick|short|list|poem|story|paper|lot|song|book|few)|an (?:email|essay|article|e-mail))"
    r"|share\s(?!an?\s(?:\w+\s){0,3}(?:flat|house|apartment|room|bedroom|office|car|bed|studio|desk|kitchen|garden|allotment)|custody|my\s(?:flat|house|apartment|room|home|bedroom))|lead\s(?!an?\s|the\s|\d)|draw\s(?:on|from|inspiration|strength|the|a line|conclusions?|near|up|comfort|attention)|watch\s(?:out|over|my|the|as|a (?:movie|film|video|documentary|show|game)|an|how|them)|listen\s(?!to\s)|speak\s(?!(?:[A-Z]\w+|some|a little|fluent|several|two|three|four|five))|use\s(?:up|the|my|a (?:bit|lot|little|few|different|similar)|all|any|some|code|words|their)"
    r"|build\s(?:on|up|trust|bridges|a (?:better|strong|life|relationship|community|future|case|good))|carry\s(?!an?\s|my\s(?:epipen|inhaler|insulin)|insulin)|serve\s(?!in|on|as)|act\s(?!in\s|with\s|as a\s)|work\s(?:out (?:well|fine|the|a|how|what)|around|up|my|through|together|towards?|like|hard|on (?:my|the|it|a|that|some|improving|being|getting)|(?:really|so|very|too) hard|well|better|best|fine|harder|closely|against|wonders|this|it|with (?:the|some|great|amazing|you|others|what)|for (?:me|us)|a lot|to (?:make|help|get|improve|build|live|create|be|ensure|keep))"
    r"|develop\s(?!(?:\w+\s){0,2}(?:software|games|websites|apps|video games|film))|test|research\s(?!\w+\s?\w*(?:ology|ics|istry|diseases?|cells?|cancer|medieval|history))|run\s(?:my|our)\s(?:mouth|life|own (?:life|race))|pay\s(?:for|back|off|attention|my (?:respects|dues|way)|the|up|a (?:visit|price|lot))|live\s(?:for|by|with (?:it|that|regret)|up|my|and|in (?:fear|hope|the moment|the present|peace|the|an? (?:society|world|time|era|age|culture|state of|bubble|dream|cul))|on (?:the edge|coffee|in|hope)|the|a (?:good|happy|full|healthy|simple|quiet|normal|life|bit)|to|life|vicariously|through|each|every|near (?:here|by)|close by|nearby)"
    r"|vote\s(?:for (?:option|that|number|the first|the second)|no|yes)|drink\s(?:to|up|it)|eat\s(?:my (?:words|hat|heart)|out|up|humble|like|it|the|my)|sleep\s(?:on it|well|tight|over|in\Z|it|like|better|easy|through|on\Z)|walk\s(?:away|on|in|over|the (?:line|talk|walk)|a (?:fine|mile|tightrope)|around|through|out|down|past|by|into|my way)|ride\s(?:it|on|out|the (?:wave|storm))|drive\s(?:me|us|home|everyone|my (?:wife|husband|family|parents|boss|friends) )|fish\s(?:for)|dance\s(?:around|to)|sing\s(?:praises|along|to|your)|train\s(?:my (?:brain|mind|model|eye)|the|an? (?:model|network))|feed\s(?:off|on|my (?:soul|addiction|mind))|program\s(?:the)|code\s(?:the|a (?:function|script))|practice\s(?:what|my|gratitude|self|being|patience|mindful)|practise\s(?:what|my|gratitude|self|being|patience|mindful)"
    r"|host\s(?:the|a (?:party|dinner|meeting|website|server|game|movie|bbq|barbecue|event|small|show|charity|gathering))|produce\s|record\s|perform\s(?!in\s|with\s|at\s|stand)|conduct\s(?!an?\s(?:choir|orchestra|band)|the)|compete\s(?!in\s)|study\s(?:the|it|up|hard|how|people)|travel\s(?:back|light\Z|the|down|far)|climb\s(?:the|out|back|a tree|into|over)|cook\s(?:up|it|the|dinner\Z|something)|clean\s(?:up|out|the|my)|wash\s(?:my|up|the)|design\s(?:the|my)|paint\s(?:a|the|my|to)|edit\s(?:the|my)|review\s(?:the|my)|translate\s(?:the|this)|operate\s(?:on)|maintain\s|manage\s(?:to|my|it|just|well|the (?!team|shop|restaurant)|fine|without)|grow\s(?:up|old|as|from|into|tired|apart|closer|more|in|my (?!own)|stronger|and|every|through|together)|raise\s(?!(?:chickens|sheep|cattle|goats|pigs|horses|alpacas|rabbits|bees|my (?:kids|children|son|daughter|grandson)|two|three))|plant\s(?:seeds of|my|the|a (?:seed|tree|kiss))|lift\s(?!weights)|stretch\s(?:my|out|the)|publish\s(?:the|my)|watch\s(?:it)|attend\s(?:the|a (?!weekly|monthly|local|church|book|yoga|regular|support|\w+ school)|an)|wear\s(?:the|my|it|off|out|many hats|different hats|a (?:mask|smile))|sell\s(?:the|my|it|out)|trade\s(?:off|in|the)|deliver\s(?:on|the)|donate\s(?:my|the)|collect\s(?:my|the)|restore\s(?:my|the|faith)|repair\s(?:my|the)|shop\s(?:for (?:a|the)|around)|own\s(?:up|it|my|the|this))",
    re.IGNORECASE,
)
_DATED = re.compile(
    r"\b(?:on|by|from|until|till|this|next|last)\s(?:mon|tues|wednes|thurs|fri|satur|sun)day\b(?!s)|\b\d{1,2}(?:st|nd|rd|th)?\s(?:of\s)?(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)"
    r"|\b(?:january|february|march|april|june|july|august|september|october|november|december)\s\d|\b(?:soon|first thing|then)\b|\bin (?:an?|two|three|five|ten|\d+) (?:minutes?|hours?|days?|weeks?)\b",
    re.IGNORECASE,
)
_TO = re.compile(r"\sto\s(?:[a-z]+)(?:\s|\Z)")
_TO_NOUN = re.compile(r"\sto\s(?:work|school|music|jazz|podcasts|church|mass|bed|vinyl|audiobooks|classical|rock|metal|charity|charities|children|kids|adults|beginners|students|tourists|uni|university|college|the|my|our|an?|and)\b|\blisten to\b")


@_rule(
    " ".join(_DOING),
    rf"{SUBJECT}\s{HOW_OFTEN}(?P<verb>[a-z]+)\s(?P<rest>{REST}{{3,80}})$",
)
def _does(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    verb, rest = match["verb"], match["rest"].strip()
    if verb not in _DOING or verb == "keep" and not re.match(r"(?:bees|chickens|kosher|an?\s)", rest):
        return
    words = rest.split()
    said = f"{verb} {rest}"
    # "take the 7:40 train" tells what "make the decision" does not: what it is done to is a thing.
    if len(words) > 11 or _IDIOM.match(said) or _DATED.search(rest) or words[0] in ("like", "as", "so", "and", "here", "well"):
        return
    if _DEFINITE.search(rest) and verb not in ("work", "volunteer", "serve", "train", "perform", "teach", "live", "commute"):
        return
    if _VAGUE.search(OFTEN_AT_END.sub("", rest)) or (_TO.search(f" {rest}") and not _TO_NOUN.search(f" {said}")):
        return
    if verb in ("take", "make", "do", "go", "play", "use", "share", "carry", "eat", "drink", "wear", "own", "build", "design", "buy") and not _THING_OF[verb].search(rest):
        return
    if verb in ("watch", "read", "listen") and re.fullmatch(r"(?:to\s)?(?:(?:a few|some|many|old)\s)?(?:movies|films|videos|tv|books|music|shows|series)", rest, re.IGNORECASE) and not match["soft"]:
        return
    if verb == "live" and re.search(r"\bapart\Z", rest):
        return
    yield lasting(clause, "home" if verb in ("live", "reside", "lodge", "rent") else "habit", put(f"{how_often(match['soft'])}{third(verb)}", rest))


OFTEN_AT_END = re.compile(rf"\s{OFTEN}\Z|\bin my (?:spare|free) time\b|\bfor a living\b|\bon the side\b|\bmost of the time\b|\ball the time\b", re.IGNORECASE)
_CLASSES = r"(?:[\w'-]+\s){0,3}?(?:class(?:es)?|lessons?|courses?|workshops|training|seminars)"
_THING_OF = {
    "take": re.compile(rf"^(?:the|an?)\s(?:[\w:.-]+\s){{0,2}}(?:bus|train|tram|metro|tube|subway|ferry|taxi|nap|lift|bike|pill|tablet|sleeping pill|multivitamin)\b|^(?:{_CLASSES})|^(?:(?:\d+|two|three|a daily|cold|long)\s?)?(?:\w+\s)?(?:pills|tablets|medication|medicine|drops|injections|naps|showers|baths|ice baths|vitamins|supplements|insulin)\b|^\d+\s?mg|^my (?:kids|children|son|daughter|dog|dogs|grandson|granddaughter|mother|father|mum|dad|nephew|niece)\b|^(?:sugar|milk|lemon|honey)\b", re.IGNORECASE),
    "make": re.compile(r"\b(?:my own|jewellery|jewelry|furniture|candles|soap|pottery|wine|cheese|cider|jam|beer|bread|pasta|clothes|quilts|toys|dolls|music|films|videos|documentaries|podcasts|games|websites|maps|shoes|hats|bags|cakes|violins|guitars|instruments|knives|ceramics|kombucha|yoghurt|yogurt|sourdough|pickles|sausages|\d+ (?:a|per)|signs|puppets|models|kimchi|chutney|prints|zines|comics|youtube videos|collages|wedding cakes)\b", re.IGNORECASE),
    "do": re.compile(r"^(?:the\s(?:cooking|cleaning|shopping|laundry|dishes|ironing|gardening|accounts|books|bins|school run|housework|night shift|early shift|late shift)|(?:all the |most of the )?(?:cooking|cleaning|housework|childcare)|(?:freelance|volunteer|voluntary|part-time|shift|manual|charity|community|contract|admin|office|social|care|night|seasonal|agency|commission|research|consulting|pro bono)\s\w+|(?:\w+\s)?(?:yoga|pilates|karate|judo|crossfit|weights|sport|sports|athletics|gardening|crosswords|puzzles|jigsaws|sudoku|pottery|ceramics|calligraphy|photography|stand-up|improv|translations?|tattoos|quality control|payroll|marketing|accounting|night shifts|shifts|physio\w*|meditation|woodwork|carpentry|embroidery|cross-stitch|martial arts|bookkeeping|hair|nails|alterations|car repairs|home repairs|data entry|tech support|customer service|customer support|intermittent fasting|keto|dry january|parkrun)\b)", re.IGNORECASE),
    "go": re.compile(r"^(?:[a-z]+\s)?[a-z]+ing\b|^(?:to\s(?:the\s(?:gym|mosque|synagogue|temple|theatre|opera|cinema|library|pool|market|sauna|allotment|pub)|church|mass|therapy|physio|night school|an?\s(?:\w+\s){0,2}(?:school|gym|class|church|club|group|university|college)|concerts|festivals|gigs|football matches|museums|garage sales|flea markets|auctions))\b|^barefoot\b", re.IGNORECASE),
    "play": re.compile(r"^(?:the\s)?(?:[\w-]+\s){0,2}(?:football|soccer|tennis|chess|rugby|hockey|cricket|golf|squash|badminton|basketball|volleyball|netball|handball|darts|pool|snooker|poker|bridge|bingo|piano|guitar|violin|cello|drums|flute|trumpet|sax\w*|clarinet|ukulele|banjo|harp|organ|bass|viola|video games|board games|card games|games|dungeons|d&d|go|backgammon|mahjong|padel|pickleball|bowls|lacrosse|baseball|softball|table tennis|ping pong|dominoes|fiddle|accordion|bagpipes|trombone|keyboard|minecraft|warhammer|scrabble|in\s(?:an?|the|my)\s(?:\w+\s){0,3}(?:band|orchestra|team|league|quartet|club|trio|ensemble|group))\b", re.IGNORECASE),
    "use": re.compile(r"^(?:an?\s(?:[\w-]+\s){0,2}(?:wheelchair|walking stick|cane|hearing aid|cpap machine|walker|inhaler|screen reader|standing desk|fountain pen|moka pot|french press|ebike|e-bike|budgeting app|meal kit|paper diary|planner|sleep mask|white noise machine|dishwasher|slow cooker|air fryer|safety razor|firewood stove|wood stove|reusable \w+|sunscreen|foam roller)|public transport|cash|contactless|[A-Z]\w+|reading glasses|hearing aids|crutches|they/them|she/her|he/him|earplugs)\b"),
    "share": re.compile(r"."),
    "buy": re.compile(r"^(?:only\s|mostly\s)?(?:second-hand|used|organic|local|vintage|fair ?trade|secondhand|in bulk|most of my|all my|my (?:clothes|groceries|books|meat|veg\w*))\b", re.IGNORECASE),
    "carry": re.compile(r"\b(?:epipen|epi-pen|inhaler|insulin|donor card|backpack|notebook|camera|first[- ]aid|antihistamines|adrenaline)\b", re.IGNORECASE),
    "eat": re.compile(r"^(?!(?:dinner|lunch|breakfast|it|well|healthy|healthily|clean)\b)[a-z]", re.IGNORECASE),
    "drink": re.compile(r"^(?!(?:it|too)\b)[a-z0-9]", re.IGNORECASE),
    "wear": re.compile(r"^(?!(?:it)\b)[a-z]", re.IGNORECASE),
    "own": re.compile(r"^(?:an?|two|three|four|five|six|\d+|several)\s(?:[\w-]+\s){0,3}[\w-]+(?:\s(?:in|near|with|by|on|called|outside)\s.*)?\Z", re.IGNORECASE),
    "build": re.compile(r"^(?:[\w-]+\s){0,3}(?:houses|models?|ships|furniture|guitars|violins|boats|robots|computers|pcs|websites|apps|drones|keyboards|instruments|railways|kayaks|canoes|bikes|bicycles|walls|sets|props|lego|games|software|bridges|roads|trains|planes|cabinets|sheds|fences|dollhouses|clocks)\b", re.IGNORECASE),
    "design": re.compile(r"^(?:[\w-]+\s){0,3}(?:clothes|gardens|houses|websites|games|furniture|jewellery|jewelry|logos|kitchens|buildings|bridges|shoes|sets|costumes|posters|books|software|apps|interfaces|circuits|toys|fonts|patterns|packaging|chips|interiors|textiles)\b", re.IGNORECASE),
}

_IN_HAND = (
    rf"(?:volunteering|interning|freelancing|temping|teaching|coaching|mentoring|tutoring|fostering|homeschooling|recovering|convalescing|apprenticing|moonlighting|training|studying|working|retraining|babysitting|commuting|renting|subletting|house-sitting|lodging|couch-surfing|caring|raising|dating|seeing|taking|doing|trying|working|saving|looking|going|"
    rf"writing|learning|practising|practicing|preparing|applying|cutting|tapering|undergoing|nursing|breastfeeding|potty-training|planning|managing|running|leading|building|restoring|renovating|getting|living|staying)"
)
_OF_HAND = re.compile(
    rf"(?:(?:volunteering|interning|temping|freelancing|moonlighting|working|teaching|coaching|tutoring|apprenticing|retraining|training)\s(?:full-time\s|part-time\s|remotely\s|nights\s|from home\s|currently\s)?(?:at|for|as|in|with|from home|remotely|part-time|nights|full-time|abroad|freelance|shifts)(?:\s(?!(?:that|progress|the moment|it|the meantime|which|some)\b)|\Z)"
    rf"|(?:teaching|coaching|tutoring|mentoring)\s(?!(?:me|us|myself|others|people)\b)[a-z]|homeschooling\s|fostering\s|recovering from\s|retraining as\s|training (?:for|to be|to become|as)\s|studying\s(?!(?:it|hard|the)\b)|renting\s|subletting\s|caring for my\s|raising\s(?:my|our|two|three|four|twins|a\s(?:son|daughter|family|child))"
    rf"|(?:dating|seeing)\s(?:an?\s(?:therapist|physio\w*|psychologist|psychiatrist|dietitian|dietician|nutritionist|counsellor|counselor|specialist|personal trainer|guy|girl|man|woman|nurse|doctor|colleague|teacher)|{CASED})|taking\s(?:{_CLASSES}|(?:\w+\s)?(?:antidepressants|antibiotics|medication|vitamins|insulin|painkillers|iron|statins|steroids|supplements|a gap year|a sabbatical|a year off|a career break|time off work|hormones))|doing\s(?:an?\s(?:[\w-]+\s){{0,3}}(?:degree|phd|master's|masters|course|apprenticeship|internship|diploma|mba|residency|certificate|bootcamp|traineeship|detox|diet|challenge|placement|training|qualification|a-levels)|intermittent fasting|ivf|physio\w*|chemo\w*|keto|night shifts|freelance|whole30|dry january)"
    rf"|trying\sto\s(?:lose|quit|give up|cut (?:down|back|out)|stop (?:smoking|drinking|biting|eating|snacking|vaping)|eat (?:less|more|healthier)|get (?:fit|fitter|pregnant|into shape|in shape|back in shape|my (?:driving )?licen[cs]e)|conceive|have (?:a baby|another)|learn (?!more|to be|about|how|from|as)|save|gain|reduce|sleep more|drink less|drink more water|spend less|live (?:more sustainably|plastic-free|zero[- ]waste)|go vegan|buy (?:a|our first) (?:house|flat|home|apartment)|sell (?:our|my) (?:house|flat)|find a (?:new )?(?:job|flat|house)|grow|improve my\s[\w ]{{3,25}}|lower my\s|build (?:muscle|up my savings)|read more)\b|saving (?:up )?(?:for|to)\s|looking for\s(?:an?\s(?:[\w-]+\s){{0,3}}(?:job|flat|house|apartment|flatmate|nanny|internship|apprenticeship|school|role|position|place to live|career|roommate|housemate|boat|piano teacher|surrogate|camper van)|work\b)"
    rf"|going (?:through|to)\s(?:an?\sdivorce|the menopause|menopause|ivf|chemo\w*|therapy|night school|physio\w*|a separation|a custody battle|university|college|marriage counselling|couples therapy|evening classes|art school|grad school|law school|medical school|school for)\b|writing\s(?:an?|my|our)\s(?:[\w-]+\s){{0,3}}(?:novel|book|memoir|thesis|dissertation|screenplay|blog|play|cookbook|phd|musical|opera|album)\b|writing up my\s|learning\s(?!(?:a lot|so much|more|that|how to (?:deal|cope|be|use)|about|from|the ropes|something|new things|to (?:be|let|love|accept|trust|deal|cope|live|balance|appreciate|say|take|manage)|every|as)\b)[a-z]|(?:practising|practicing)\s(?:the\s\w+|yoga|my\s(?:\w+\s)?(?:scales|serve|swing|handwriting|vocals|guitar|piano|spanish|french|german|italian)|medicine|law|meditation)"
    rf"|(?:preparing for|applying (?:for|to))\s(?:my|an?|the|our)?\s?(?:[\w-]+\s){{0,3}}(?:exams?|marathon|school|university|universities|jobs?|citizenship|visa|degree|phd|apprenticeship|college|master's|masters|residency|permit|mortgage|adoption|ironman|triathlon|bar exam|scholarships?|promotion|retirement|finals|audition|colleges|internships?)\b|cutting (?:down|out|back)\s(?:on\s)?[a-z]|tapering off\s|undergoing\s|breastfeeding|potty-training\s|planning\s(?:our|my|a)\s(?:wedding|retirement|sabbatical|gap year|career change|honeymoon|move to|trip to|extension|loft conversion)|(?:managing|running|leading)\s(?:an?|my own|our|the)\s(?:[\w-]+\s){{0,3}}(?:team|shop|business|department|project|company|cafe|café|restaurant|charity|store|clinic|school|programme|group|club|workshop|bakery|farm|hotel|branch|non-profit)\b"
    rf"|(?:building|restoring|renovating)\s(?:an?|my|our)\s(?:[\w-]+\s){{0,3}}(?:house|boat|car|cabin|shed|guitar|van|campervan|extension|barn|cottage|greenhouse|pc|motorbike|piano|farmhouse|treehouse|kitchen|telescope|canoe|kayak|sauna|pond|patio|deck|robot|railway|table|bookcase|loom|tiny house)\b|getting\s(?:married|divorced|braces|a (?:hip|knee) replacement|treatment for|a dog|a puppy|a kitten|help for my)\b|living\s(?:in|on|at|with|near|alone|abroad|off|by|next|above|apart|together|out of)\s?(?!(?:my best|fear|hope|it)\b)|(?:getting over|recovering from|nursing)\s(?:an?|my)\s|house-sitting|working (?:towards?|on|for)\s(?:my|an?)\s(?:[\w'-]+\s){{0,3}}(?:licen[cs]e|degree|diploma|black belt|phd|thesis|certificate|qualification|citizenship|master's|exams?)\b)",
    re.IGNORECASE,
)


@_rule(
    "volunteering interning freelancing temping teaching coaching mentoring tutoring fostering homeschooling recovering convalescing apprenticing moonlighting training studying working retraining renting subletting"
    " caring raising dating seeing taking doing trying saving looking going writing learning practising practicing preparing applying cutting tapering undergoing nursing breastfeeding planning managing running leading building"
    " restoring renovating getting living",
    rf"{SUBJECT}(?P<been>(?i:'ve|\shave)\s(?i:(?:also|just|recently|already|always|really|now)\s)*(?i:been))?(?P<be>(?i:'m|\sam|'re|\sare))?\s{SOFT}(?i:(?:also|currently|slowly|busy|back)\s)*(?P<doing>(?i:{_IN_HAND})\b{REST}{{0,80}})$",
)
def _is_doing(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    doing = re.sub(r"\s(?:lately|recently|currently|at present)\Z", "", match["doing"].strip())
    if bool(match["been"]) == bool(match["be"]) or len(doing.split()) > 13 or not _OF_HAND.match(doing) or _DATED.search(doing):
        return
    tail = re.sub(r"^\S+\s(?:(?:at|for|as|in|with|to|from|on|up)\s)?", "", doing)
    if _VAGUE.search(OFTEN_AT_END.sub("", tail)) and not re.match(r"(?:trying|planning|looking|recovering|getting)\b", doing):
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
    rf"(?:(?:joined|left|quit)\s(?:an?|the|my|our)\s(?:[\w'&-]+\s){{0,4}}?(?:gym|club|choir|band|team|group|class|orchestra|society|church|union|army|navy|air force|police|scouts|party|association|league|board|committee|squad|band|community garden|co-op|support group|youth group|programme|program|tennis club|fire brigade)"
    rf"|(?:signed up|enrolled|registered)\s(?:for|in|at|with|on)\s(?:an?\s|the\s|some\s|my\s)?(?:[\w'-]+\s){{0,4}}?(?:class(?:es)?|course|lessons|school|university|college|degree|programme|program|gym|marathon|half marathon|triathlon|evening classes|bootcamp|workshop|apprenticeship|master's|masters|phd)"
    rf"|(?:started|began|took up|stopped|quit|resumed)\s(?:(?:taking|doing|learning|playing|going to|attending|having)\s)?(?:[\w'-]+\s){{0,3}}?(?:class(?:es)?|lessons|courses?|therapy|physio\w*|yoga|pilates|karate|judo|running|swimming|cycling|knitting|pottery|painting|piano|guitar|violin|drums|gardening|meditation|meditating|boxing|climbing|bouldering|chess|smoking|drinking|antidepressants|medication|treatment|chemo\w*|insulin|statins|university|college|business|company|podcast|blog|youtube channel|newsletter|apprenticeship|family|band|book club|retirement|vaping|golf|tennis|baking|journaling|dancing|salsa|ballet|photography|woodworking|crochet|crocheting|sewing|singing lessons|surfing|skiing)"
    rf"|(?:failed|passed|retook|sat)\s(?:my|the)\s(?:[\w'-]+\s){{0,3}}?(?:tests?|exams?|finals|theory|a-levels|gcses|probation|bar|boards|viva|abitur|qualifying exams?)|lost\s(?:my|the)\s(?:\w+\s)?(?:hearing|sight|eyesight|vision|leg|arm|finger|thumb|sense of (?:smell|taste)|licen[cs]e|job|husband|wife|mother|father|mum|dad|mom|brother|sister|son|daughter|dog|cat|grandmother|grandfather|best friend|home|house|baby|parents|hair|voice|front teeth)|lost\s(?:\d+|[a-z]+)\s(?:kilos|kg|pounds|stone|lbs)"
    rf"|(?:raised|brought up)\s(?:my|our|two|three|four|five|six|a)\s(?:[\w-]+\s){{0,2}}?(?:kids|children|sons?|daughters?|boys|girls|family)|(?:bought|built|inherited|sold|renovated|restored)\s(?:an?|our|my|the)\s(?:[\w'-]+\s){{0,3}}?(?:house|flat|apartment|home|cottage|farm|cabin|boat|houseboat|bungalow|plot of land|barn|farmhouse|holiday home|caravan|camper ?van|piano|business|van|motorbike|allotment|restaurant|caf[eé]|land)"
    rf"|moved\s(?:into|in with|back in with|out of)\s(?:an?|our|my|the)\s(?:[\w'-]+\s){{0,3}}?(?:house|flat|apartment|houseboat|cottage|bungalow|boyfriend|girlfriend|partner|parents|studio|farmhouse|care home|caravan|home|place|mum|mom|dad|sister|brother|daughter|son|fianc[eé]e?|in-laws|narrowboat|retirement home|van)|moved\s(?:here|abroad|back home|to the (?:countryside|coast|city|seaside|suburbs|mountains)|house)"
    rf"|(?:adopted|fostered|rescued)\s(?:an?|two|three|our|my)\s(?:[\w'-]+\s){{0,3}}?(?:dogs?|cats?|puppy|puppies|kittens?|child|children|baby|girl|boy|son|daughter|greyhounds?|rabbits?|hens|parrot|horse|donkeys?|siblings|brothers|sisters|teenager)|(?:founded|co-founded|set up|opened|launched)\s(?:an?|my|our|my own|our own)\s(?:[\w'-]+\s){{0,3}}?(?:business|company|shop|caf[eé]|restaurant|charity|studio|school|start-?up|agency|bakery|practice|non-profit|label|band|club|clinic|bookshop|salon|gallery|foundation|choir|dance studio|store)"
    rf"|(?:published|self-published|wrote|released|recorded)\s(?:an?|my|two|three|four|my first|our|several)\s(?:[\w'-]+\s){{0,3}}?(?:books?|novels?|albums?|memoir|poetry collection|children's books?|ep|single|screenplay|cookbook|papers?)|(?:served|fought)\s(?:in|on)\s(?:the\s)?[\w ]{{3,30}}|(?:dropped out of|flunked out of|graduated from|transferred to)\s(?:[\w'-]+\s){{0,3}}?(?:school|university|college|uni|law|medicine|high school|sixth form)|got\s(?:an?\s(?:degree|master's|phd|scholarship|promotion|divorce|tattoo|pacemaker|hip replacement|dog|cat|puppy|kitten)|my\s(?:[\w'-]+\s){{0,3}}?(?:licen[cs]e|degree|citizenship|diploma|master's|phd|green card|black belt|masters|certificate)|laid off|made redundant|fired|promoted|sober|clean|divorced|remarried|braces)|came out (?:as|to my)\s[\w -]{{3,20}}|converted to\s[A-Z]?\w+|became\s(?:an?\s)(?:[\w-]+\s){{0,3}}?[\w-]+|retrained as\s(?:an?\s)?[\w -]{{3,30}}|qualified as\s(?:an?\s)?[\w -]{{3,30}}|(?:emigrated|immigrated)\b[\w ,]{{0,40}}|split up|separated)"
)


@_rule(
    "joined left quit signed enrolled registered started began took stopped resumed failed passed retook sat lost raised brought bought built inherited sold renovated restored moved adopted fostered rescued founded co set opened launched"
    " published wrote released recorded served fought dropped flunked graduated transferred got came converted became retrained qualified emigrated immigrated",
    rf"{SUBJECT}(?i:'ve|\shave)?\s(?i:(?:also|actually|just|recently|finally|then|both|never|even|originally)\s)*(?P<turned>(?i:{_TURNED}))(?P<more>(?:\s(?i:in|at|on|with|for|from|near|by|of|called|about|last year|last (?:spring|summer|autumn|fall|winter)|this year|as|to|twice|three times|four times|when I was)\b{REST}{{0,50}})?)$",
)
def _turned(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    turned, more = match["turned"], match["more"] or ""
    if _DATED.search(more) or re.search(r"\b(?:never)\b", clause.text[: match.start("turned")]):
        return
    if re.match(r"(?:became)\s", turned) and not re.search(r"(?:er|or|ist|ian|ant|nurse|parent|mother|father|mum|dad|mom|aunt|uncle|grandmother|grandfather|citizen|vegan|vegetarian|monk|priest|partner|chef|widow)\Z", turned):
        return
    yield lasting(clause, "life", put(turned, more))


_USED = word_set(
    "be live work play have own run teach smoke drink drive ride sing dance swim ski climb write paint draw collect do go row box fence act coach manage serve study knit sew bake farm fish hunt sail fly travel commute keep breed"
    " volunteer wear eat speak surf skate compete train perform weigh vote cycle garden stammer stutter model DJ sell deliver weld nurse freelance bartend waitress attend rent"
)
USED_TO = re.compile(rf"{SUBJECT}\s(?i:also\s|actually\s|both\s)?(?i:used to)\s(?P<verb>[a-z]+)(?P<rest>\s{REST}{{2,70}})?$")


def used_to(clause: Clause) -> Iterator[Fact]:
    """What one used to do, be or have: true of the past alone."""
    match = USED_TO.match(clause.text)
    if match is None or match["verb"] not in _USED:
        return
    rest = (match["rest"] or "").strip()
    verb = match["verb"]
    if (not rest and verb not in ("smoke", "drink", "drive", "model", "swim", "climb", "dance", "sing", "fence", "row", "box", "stammer", "stutter", "ski", "surf", "skate")) or len(rest.split()) > 12:
        return
    if verb == "be" and not re.match(r"(?:an?\s|in the\s|on\s(?:insulin|antidepressants)|married|vegan|vegetarian|very shy|shy|religious|homeless|overweight|afraid of|scared of|allergic to|engaged)", rest):
        return
    if verb == "be" and re.search(r"\b(?:huge|big|bit|lot|problem|fan|mess|thing|time)\b", rest):
        return
    if verb == "have" and not re.match(r"(?:an?|two|three|four|long|short|red|blonde|braces|asthma|epilepsy)\s?", rest):
        return
    if _VAGUE.search(OFTEN_AT_END.sub("", re.sub(r"\bat (?:that|the) time\b", "", rest))) or (verb not in ("be", "have", "live", "keep") and _IDIOM.match(f"{verb} {rest}")):
        return
    yield lasting(clause, "past", put("used to", f"{verb} {rest}"))


@_rule(
    "hobby hobbies pastime passion job work trade profession specialty speciality field day instrument religion language tongue nickname surname sign working shift weekends custody pregnant off responsible charge need cant cannot hear"
    " spot us put doctor diagnosed prescribed due",
    rf"(?i:^(?:(?:and|but|so|well|also|oh)[\s,]+)*my\s(?:(?:main|biggest|favou?rite|only|current|other|new|day|actual|official|full|real)\s)*(?P<what>hobby|hobbies|pastimes?|passion|day job|job|trade|profession|speciality|specialty|field(?: of (?:study|work|research))?|instrument|religion|nickname|surname|last name|middle name|maiden name|second language|third language|working day|shift|research area|major|minor|star sign)\s(?:is|are)\s)(?P<is>{REST}{{2,60}})$"
    rf"|(?P<tongue>[A-Z][a-z]+)\s(?i:is (?:only )?my\s)(?P<nth>(?i:(?:second|third|first|native|fourth|mother) (?:language|tongue)))$"
    rf"|(?i:^(?:(?:and|but|so|well|also|oh)[\s,]+)*my\s(?:working day|shift|day|job|work)\s)(?P<starts>(?i:(?:starts|ends|begins|finishes) at\s{REST}{{2,30}}))$"
    rf"|(?i:^(?:(?:and|but|so|well|also|oh)[\s,]+)*my\s(?:doctor|gp|consultant|cardiologist|specialist|psychiatrist|vet)\s(?:has\s|just\s|recently\s)*(?:put me on|prescribed(?: me)?|diagnosed me with|started me on|told me to (?:avoid|cut out|take)))\s(?P<drug>{REST}{{3,50}})$"
    rf"|(?i:^(?:(?:and|but|so|well|also|oh)[\s,]+)*there(?:'s|\sare|\sis)\s(?:only\s)?(?:just\s)?)(?P<us>(?i:\w+ of us|just (?:the )?two of us|just me))\s(?P<home>(?i:at home|in (?:the|my|our) (?:family|house|household|flat)|living here))$",
)
def _my(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    if match["what"]:
        what, told = match["what"], match["is"]
        if re.match(r"(?:great|good|going|so|very|really|not|a (?:lot|bit|joke|mess|nightmare|pain|dream|big|huge)|stressful|boring|killing|hard|tough|fun|pretty|quite|getting|over|done|important|demanding|safe|to help|making|helping|challenging|rewarding|ok|okay|fine|everything|what)\b", told, re.IGNORECASE):
            return
        slot = {"surname": "surname", "nickname": "nickname", "religion": "religion"}.get(what.lower(), "")
        yield lasting(clause, "hobby" if re.match(r"hobb|pas", what, re.IGNORECASE) else "about them", put(f"{what[:1].upper()}{what[1:].lower()}:", told), slot=slot)
    elif match["tongue"]:
        yield lasting(clause, "languages", f"{match['tongue']} is their {match['nth']}")
    elif match["starts"]:
        yield lasting(clause, "work", put("working day", match["starts"]))
    elif match["drug"]:
        how = clause.text[: match.start("drug")].lower()
        verb = "has been diagnosed with" if "diagnosed" in how else "was told by a doctor to " + re.search(r"avoid|cut out|take", how)[0] if "told" in how else "takes"  # type: ignore[index]
        yield lasting(clause, "health", put(verb, match["drug"]))
    else:
        yield lasting(clause, "household", f"{match['us'][:1].upper()}{match['us'][1:].replace('us', 'them').replace('me', 'them')} {match['home'].replace('my', 'their').replace('our', 'their')}")


@_rule(
    "off charge responsible pregnant need cant cannot custody spot ear eye due weeks months allowed supposed waiting",
    rf"{SUBJECT}(?i:'m|\sam|'re|\sare)\s{SOFT}(?P<am>(?i:off\s(?:on\s)?(?:{OFTEN})|(?:in charge of|responsible for)\s{REST}{{4,60}}|(?:\w+\s)(?:months|weeks) pregnant(?:\swith\s[\w ]{{3,20}})?|on (?:the|a) waiting list for\s{REST}{{3,40}}|due in\s(?:january|february|march|april|may|june|july|august|september|october|november|december)|not allowed (?:to )?(?:eat|drink|have|drive|fly|lift)\s?{REST}{{2,40}}|deaf in (?:one|my \w+) ear|blind in (?:one|my \w+) eye|under (?:treatment|a doctor) for\s{REST}{{3,40}}|intolerant to\s{REST}{{3,30}}|sensitive to\s{REST}{{3,30}}|addicted to\s{REST}{{3,30}}|used to working\s{REST}{{3,30}}))$"
    rf"|{SUBJECT}\s{SOFT}(?i:need)\s(?P<need>(?i:(?:reading glasses|glasses|hearing aids|a wheelchair|crutches|insulin|a stairlift|step-free access|wheelchair access|a ground[- ]floor (?:room|flat)|subtitles|a gluten-free (?:diet|menu)|nine hours(?: of)? sleep|eight hours(?: of)? sleep|a new (?:hip|knee|kidney|liver))|to (?:avoid|limit|watch|cut down on|inject|wear)\s{REST}{{3,60}}|to (?:take|eat|rest|drink)\s{REST}{{2,40}}\s(?:because of|for|due to)\smy\s{REST}{{3,30}})(?:\s(?:for|to|because of|due to)\s{REST}{{3,40}})?)$"
    rf"|{SUBJECT}\s{SOFT}(?P<cant>(?i:can't|cannot|can barely|can hardly|can only))\s(?P<act>(?i:hear|see|smell|taste|walk|lift|bend|sit|stand for|climb stairs|kneel|digest|tolerate|sleep without|sleep on|function without|whistle|cook|sing|dance|ski|skate|ride a bike|read music|raise my|straighten my|feel my|fly because|tell left from right|handle (?:spicy|alcohol|caffeine|lactose|gluten|heat)|have (?:dairy|gluten|sugar|caffeine|alcohol|nuts|lactose|wheat|shellfish|kids|children)|work (?:nights|weekends|full-time)))(?P<rest>\s{REST}{{2,50}})?$"
    rf"|{SUBJECT}(?i:'ve got|\shave got|\s{SOFT}have)\s(?P<have>(?i:(?:joint|full|shared|sole) custody of\s{REST}{{3,40}}|a soft spot for\s{REST}{{3,40}}|a weakness for\s{REST}{{3,40}}|a sweet tooth|no sense of (?:direction|smell|taste|rhythm)|(?:{COUNT})\s(?:kids|children|sons|daughters|boys|girls) (?:from|with)\s{REST}{{3,40}}|no (?:siblings|brothers or sisters|children|kids|family nearby|car|tv|television|smartphone|social media|religion|pets|savings|debts?)|(?:\w+s)\s(?:off|free)|trouble (?:sleeping|walking|hearing|swallowing|breathing at night)|a (?:low|high) tolerance for\s{REST}{{3,30}}|family in\s{CASED}|relatives in\s{CASED}|roots in\s{CASED}))$",
)
def _of_body(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    if match["am"]:
        if _VAGUE.search(re.sub(r"^(?:in charge of|responsible for|off)\s|\Adeaf.*|\Ablind.*", "", match["am"])) or re.match(r"(?:sensitive to)\s(?:others|people|criticism)", match["am"]):
            return
        work = re.match(r"off|in charge|responsible|used to", match["am"], re.IGNORECASE)
        yield lasting(clause, "work" if work else "health", put("is", match["am"]))
    elif match["need"]:
        if re.match(r"to (?:watch|avoid|limit)\s(?:the|my (?!weight|salt|sugar|blood|cholesterol|back|diet|alcohol)|a|an|mistakes)\b", match["need"]):
            return
        yield lasting(clause, "health", put("needs", match["need"]))
    elif match["cant"]:
        act, rest = match["act"], match["rest"] or ""
        if act.lower() in ("see", "hear", "walk", "lift", "bend", "sit", "taste", "smell", "tolerate", "digest", "cook", "sing", "dance") and not rest and act.lower() not in ("whistle", "cook", "sing", "dance", "smell"):
            return
        if act.lower() in ("see", "hear") and not re.search(r"\b(?:without|my|well|far|colours?|colors?|low|high|in the dark|at night|in one|out of)\b", rest):
            return
        if act.lower() in ("walk", "sit", "taste", "lift", "bend") and not re.search(r"\b(?:far|long|without|for|more|my|heavy|very|properly|anything heavy|stairs)\b", rest):
            return
        if _VAGUE.search(re.sub(r"\b(?:well|on my (?:left|right) side|without my \w+)\b", "", rest)):
            return
        yield lasting(clause, "health" if act.lower() not in ("cook", "sing", "dance", "whistle", "ski", "skate", "ride a bike", "read music") else "skill", put(third(match["cant"].split()[0]), f"{' '.join(match['cant'].split()[1:])} {act}{rest}".strip()))
    else:
        yield lasting(clause, "about them", put("has", match["have"]))


_FRONTED = re.compile(
    rf"(?i:^(?:(?:and|but|so|also|oh|well|plus|then|btw|by the way)[\s,]+)*)(?P<front>(?i:in my (?:spare|free) time|at home|at work|as a hobby|for a living|outside (?:of\s)?work|on the side|for fun|for work|on holiday|as a family|in the evenings?|after work|by trade|by day|at night"
    rf"|(?:back\s)?in (?:19|20)\d\d|{WHEN_PAST}|last (?:year|summer|spring|autumn|fall|winter)|this year|for (?:exercise|breakfast|lunch)|when I'm not working|when the kids are asleep|during (?:the|my) (?:week|holidays|summer|winter|lunch break)|throughout my childhood|growing up|these days|nowadays))$"
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
