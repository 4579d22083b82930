"""Things and days that make no plain telling, in English: "mistakes", "a difference", "on Friday"."""

from __future__ import annotations

from .... import lazy_re as re
from ....intent.dates.words_english import MONTH_NAME, MONTHS, WEEKDAY_NAME
from .plain_english import OFTEN

__all__ = [
    "ABSTRACT",
    "CLASSES",
    "IDIOM",
    "OFTEN_AT_END",
    "OF_A_DAY",
    "SMALL_THINGS",
    "VAGUE_THINGS",
]

VAGUE_THINGS = re.compile(
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
OF_A_DAY = re.compile(
    rf"\b(?:on|by|from|until|till|this|next|last)\s{WEEKDAY_NAME}\b(?!s)"
    rf"|\b\d{{1,2}}(?:st|nd|rd|th)?\s(?:of\s)?(?:{'|'.join(MONTHS)})"
    rf"|\b(?!may){MONTH_NAME}\s\d|\b(?:soon"
    r"|first thing|then)\b|\bin (?:an?|two|three|five|ten|\d+) (?:minutes?|hours?|days?|weeks?)\b",
    re.IGNORECASE,
)
OFTEN_AT_END = re.compile(
    rf"\s{OFTEN}\Z|\bin my (?:spare|free) time\b|\bfor a living\b|\bon the side\b|\bmost of the time\b|\ball"
    rf" the time\b",
    re.IGNORECASE,
)
CLASSES = r"(?:[\w'-]+\s){0,3}?(?:class(?:es)?|lessons?|courses?|workshops|training|seminars)"
IDIOM = re.compile(
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
    r"|catch|safe|my|up|down|nice|dead)|keep\s(?:(?!my (?:savings|money|horse|boat|car)\b|bees|chickens|hens"
    r"|kosher|halal|horses|goats|sheep|ducks"
    r"|rabbits|pigs|an?\s(?:\w+\s)?(?:diary|journal|blog|log|notebook|record|list|first[- ]aid|spare|epipen"
    r"|aquarium|allotment|dog|cat|parrot|tortoise|cow|pig|vegetable|kitchen))(?!my (?:savings|money|car|horse"
    r"|books|instruments|tools)\b)(?=\w))"
    r"|look\s(?!after\b)|care\s(?!for (?:my|an?|people|elderly"
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
    r"|our)\s(?:mouth|life|own (?:life|race))|pay\s(?:for(?! (?:my|our|half|all)\s)|back|off|attention|my"
    r" (?:respects|dues|way)|the|up|a"
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
    r"|the)|around)|own\s(?:up|it|my|the|this))(?:(?!\w)|(?<=\s))",
    re.IGNORECASE,
)
SMALL_THINGS = re.compile(
    r"\b(?:lunch|dinner|breakfast|coffee|tea|nap|shower|break|look|walk|call|email|message|meeting|movie|film"
    r"|episode|ticket|question|photo|picture|pictures|photos|app|laptop|phone|issue|bug|error|code|file"
    r"|test run|script|order|package|groceries|shopping|conversation|chat|post|article|video|doctor|dentist"
    r"|appointment)\b",
    re.IGNORECASE,
)
ABSTRACT = re.compile(
    r"\b(?:fun|time|times|dreams?|happy|sad|idea|thing|things|something|everything|nothing|problem|feeling"
    r"|love|life|lot|great|crazy|so|too|best|worst|mistakes?|trouble|hard|confused|busy|always|never)\b",
    re.IGNORECASE,
)
