"""What the user is, can and believes, in English: "I'm retired", "I'm afraid of heights", "I wear glasses", "I can read Arabic"."""

from __future__ import annotations

from collections.abc import Iterator

from .... import lazy_re as re
from .english_grammar import LANGUAGES, Fact, rule_set
from .people import is_name
from .plain_english import AM, BE_NOW, CASED, COUNT, LEADS, OFTEN, REST, SOFT, SUBJECT, does, lasting, put
from .sentences import Clause

__all__ = ["TRAIT_RULES"]

TRAIT_RULES, _rule = rule_set()

_VERY = (
    r"(?i:(?:also|actually|very|really|quite|pretty|fairly|rather|still|now|currently|a bit|a little|terribly"
    r"|extremely|so|naturally|both|all|always|happily|semi-|partially|legally|completely|totally)\s?)*"
)
_DEGREE = (
    r"(?i:(?:very|really|quite|pretty|fairly|rather|terribly|extremely|a bit|a little|partially|legally|completely"
    r"|totally|semi-)\s?)?"
)

_STATE = (
    r"(?:shy|introverted|extroverted|bilingual|trilingual|multilingual|short-sighted|near-?sighted"
    r"|far-?sighted|long-sighted|colou?r-?blind|hard of hearing|disabled|paraplegic|anaemic|anemic|diabetic"
    r"|asthmatic|bipolar|neurodivergent"
    r"|dyspraxic|dyscalculic|autistic|dyslexic|tone[- ]deaf|double-jointed|flat-footed|claustrophobic"
    r"|agoraphobic|arachnophobic|superstitious|religious|not (?:very )?religious|spiritual|agnostic|atheist"
    r"|gay|lesbian|bisexual|trans|transgender|queer"
    r"|non-?binary|asexual|pansexual|straight|polyamorous|monogamous|childless|child-free|childfree|adopted"
    r"|orphaned|mixed[- ]race|biracial|ginger|bald|balding|blonde?|red-?haired|tall|short|petite|menopausal"
    r"|sober|teetotal|gluten[- ]free|dairy[- ]free|sugar-free"
    r"|dairy-intolerant|gluten-sensitive|hypothyroid|immunocompromised|HIV[- ]positive|in remission|in"
    r" recovery|in menopause|homeless|widowed|happily married|recently divorced|newly married|recently widowed"
    r"|single)"
)


@_rule(
    "im am",
    rf"{SUBJECT}{AM}\s(?P<how>{BE_NOW}(?:{_DEGREE}))(?P<what>(?i:{_STATE}))(?P<more>\s(?i:since|by birth|in"
    rf" (?:both|one|my \w+) \w+|for {COUNT} years))?$",
)
def _is_so(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    what = match["what"]
    if what.lower() in ("short", "straight") and not re.search(r"very|quite|pretty|rather|fairly", match["how"]):
        return  # "I'm short" of money, or of time
    how = re.sub(r"\b(?:also|actually|still|now|currently|so|already|basically)\s", "", match["how"])
    slot = "marital_status" if re.search(r"widowed|married|divorced|\Asingle", what, re.IGNORECASE) else ""
    yield lasting(clause, "trait", put("is", f"{how}{what}{match['more'] or ''}"), slot=slot)


_FEARED = (
    r"(?:[\w-]+\s){0,2}?(?:heights|spiders|snakes|dogs|cats|needles|flying|water|deep water|the dark|clowns"
    r"|lifts|elevators|mice|rats|birds|wasps|bees|insects|bugs|germs|crowds|thunder|thunderstorms|storms|blood"
    r"|open water|the sea|the ocean|sharks|horses|moths"
    r"|enclosed spaces|small spaces|tight spaces|confined spaces|driving|public speaking|speaking in public"
    r"|dentists|the dentist|hospitals|bridges|tunnels|escalators|ladders|swimming|cows|geese|frogs|cockroaches"
    r"|lightning|doctors|balloons|butterflies|pigeons)"
)


@_rule(
    "afraid scared terrified frightened phobia fear petrified",
    rf"{SUBJECT}(?i:(?:'m|\sam)\s(?:(?:also|actually|really|so|very|absolutely|a bit|a little|still|always"
    rf"|quite|deathly|completely|totally|mortally|pretty|honestly|genuinely)\s)*(?P<how>afraid|scared|terrified"
    rf"|frightened|petrified)\sof"
    rf"|(?:'ve|\shave)\s(?:always\s)?(?:been\s)?(?:(?P<how2>afraid|scared|terrified)\sof|(?:got\s)?a\s(?:fear"
    rf"|phobia|terrible fear|real fear|bit of a phobia|huge fear)\s(?:of|about)))\s(?P<what>(?i:{_FEARED}))$",
)
def _fears(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    yield lasting(clause, "fear", put(f"is {(match['how'] or match['how2'] or 'afraid').lower()} of", match["what"]))


_SUBJECTS = (
    r"(?:maths?|mathematics|chess|languages|drawing|cooking|baking|sports?|singing|dancing|spelling|names"
    r"|faces|numbers|directions|diy|writing|poker|football|tennis|golf|swimming|public speaking|parking"
    r"|gardening|crosswords|puzzles|table tennis|darts|pool|skiing"
    r"|remembering (?:names|faces|dates|birthdays)|mental arithmetic|small talk|music|art|physics|chemistry"
    r"|history|geography|science|photography|sewing|knitting|painting|juggling|card games|board games|video"
    r" games|magic tricks|impressions|driving|multitasking|delegating"
    r"|saving money|time management|keeping plants alive|getting up early|programming|coding|electronics"
    r"|carpentry|accents|trivia|wrapping presents|bowling|badminton|volleyball|basketball|cricket|running"
    r"|climbing|surfing|foreign languages|reading maps)"
)


@_rule(
    "good bad hopeless terrible great useless rubbish decent awful brilliant excellent skilled talented",
    rf"{SUBJECT}{AM}\s(?i:(?:also|actually|really|very|quite|pretty|rather|not(?: very)?|so|fairly|always|just"
    rf"|absolutely|completely)\s)*(?P<how>(?i:good|bad|hopeless|terrible|great|useless|rubbish|decent|awful"
    rf"|brilliant|excellent|skilled|talented))\s(?i:at|with)"
    rf"\s(?:(?i:playing|doing)\s)?(?P<what>(?i:{_SUBJECTS}))$",
)
def _good_at(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    negated = " not " in f" {clause.text[: match.start('how')]}"
    yield lasting(clause, "skill", put("is", f"{'not ' if negated else ''}{match['how'].lower()} at {match['what']}"))


_SORT = (
    r"(?:sleeper|reader|walker|hiker|gardener|cook|swimmer|cyclist|runner|birdwatcher|bird-watcher|birder"
    r"|photographer|painter|knitter|baker|skier|surfer|climber|golfer|gamer|angler|sailor|singer|dancer"
    r"|traveller|traveler|camper|listener|learner|eater|drinker|smoker|driver|worrier"
    r"|collector|chess player|tennis player|football player|writer|poet|musician|guitarist|pianist|drummer"
    r"|beekeeper|stargazer|astronomer|genealogist|perfectionist|procrastinator|minimalist|optimist|pessimist"
    r"|introvert|extrovert|ambivert|hoarder|overthinker|homebody"
    r"|night owl|early bird|early riser|late riser|morning person|evening person|dog person|cat person|people"
    r" person|city person|country person|foodie|coffee drinker|tea drinker|meat eater|film buff|history buff"
    r"|bookworm|movie buff|neat freak|football fan|football supporter"
    r"|homeowner|immigrant|refugee|expat|citizen|commuter|landlord|leaseholder|cancer survivor|stroke survivor"
    r"|blood donor|organ donor|foster child|foster parent|foster carer|godparent|school governor|reservist"
    r"|veteran|army brat|scout leader|lay preacher|town councillor"
    r"|left-hander|creature of habit|hypochondriac|workaholic|recovering alcoholic|sports fan|theatre-goer"
    r"|jogger|rower|quilter|potter|woodworker|crafter|pet owner|dog owner|cat owner|horse rider|volunteer"
    r" firefighter)"
)


@_rule(
    "im am",
    rf"{SUBJECT}(?i:(?:'m|\sam)|(?:'ve|\shave)\salways\sbeen)\s{BE_NOW}(?P<what>(?i:(?:(?:very much|quite"
    rf"|rather|such|definitely|naturally|more of|really)\s)?(?:an?|a bit of an?|something of an?|very much"
    rf" an?)\s(?:(?!bad\b|good\b|big\b)[\w-]+\s){{0,2}}?(?:(?:good|bad|big)\s)?{_SORT}))(?P<more>\s(?i:at heart"
    rf"|by nature|of\s\w+(?:\s\w+)?|and\s[\w ]{{3,20}}))?$",
)
def _sort_of_person(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    what = re.sub(r"^(?:very much|definitely|naturally|really)\s", "", match["what"], flags=re.IGNORECASE)
    if re.search(r"\b(?:potential|new|first-time|aspiring|better|faster)\b", what):
        return
    yield lasting(clause, "trait", put("is", f"{what}{match['more'] or ''}"))


_ABLE = (
    r"(?:read (?:music|braille|sheet music|minds)|touch-?type|juggle|ski|ice skate|ride a (?:horse|bike"
    r"|motorbike|unicycle|bicycle|motorcycle)|ride|sew|knit|crochet|sing|dance|type \w+ words a minute|drive"
    r" (?:a (?:lorry|truck|van|tractor|bus|forklift|manual|boat)|manual|stick)|fly (?:a plane|planes"
    r"|helicopters)|sail|scuba dive|do a handstand|do (?:a )?backflips?"
    r"|play (?:the\s)?[\w -]{3,30}|speak\s[\w ,-]{4,40}|code(?: in \w+)?|program(?:me)?(?: in \w+)?|weld|surf"
    r"|snowboard|whistle|swim(?: like a fish| well)?|cook(?: [\w -]{3,25})?|bake|drive|sign|lip-?read|solve a"
    r" rubik's cube|do sign language|do shorthand|draw|paint)"
)


@_rule(
    "can know able speak understand have",
    rf"{LEADS}(?i:I)\s(?:(?i:also|actually|both)\s)?(?i:can|know how to)\s(?:(?i:also|actually"
    rf"|even)\s)?(?P<does>(?i:{_ABLE})|(?i:read(?: and write)?|understand|write|follow)\s(?:(?i:a bit of|a"
    rf" little|some|basic)\s)?{LANGUAGES}(?:,?\s(?i:and)\s{LANGUAGES})?)(?:\s(?i:quite well|well|fluently|a bit"
    rf"|a little|pretty well))?$"
    rf"|{SUBJECT}\s(?:(?i:also|actually)\s)?(?i:know|speak|understand|have)\s(?P<tongue>(?i:(?:some|a bit of|a"
    rf" little|basic|conversational|rusty|school|decent|enough|a few words of)\s)?(?:{LANGUAGES}"
    rf"|(?i:(?:\w+\s)?sign language|morse code|esperanto|latin|braille|shorthand))(?:\s(?i:fairly|quite|pretty)"
    rf" well)?|(?i:(?:{COUNT})\s(?:foreign\s)?languages(?:\sfluently)?)|(?i:some|a bit of|a little"
    rf"|basic)\s{LANGUAGES})$",
)
def _can(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    if match["does"]:
        if re.match(r"(?:drive|cook|draw|paint|ride|sing|dance|speak)\Z", match["does"]) and not re.search(
            r"well|know how", clause.text
        ):
            return  # an offer: "I can drive"
        speaks = re.search(LANGUAGES, match["does"])
        yield lasting(clause, "languages" if speaks else "skill", put("can", match["does"]))
    else:
        verb = (
            "understands"
            if re.search(r"(?i:\bunderstand\s)", match[0])
            else "speaks"
            if re.search(r"(?i:\bspeak\s)", match[0])
            else "knows"
        )
        yield lasting(clause, "languages", put(verb, match["tongue"]))


_FAITH = (
    r"(?:reincarnation|karma|ghosts|astrology|god|fate|destiny|an afterlife|life after death|homeopathy|miracles"
    r"|angels|aliens|heaven|evolution|horoscopes|the supernatural|monogamy|santa|free will|a higher power|spirits)"
)


@_rule(
    "believe vote pray meditate belong voted observe keep celebrate practise practice attend",
    rf"{SUBJECT}\s{SOFT}(?P<not>(?i:don't|do not|firmly|strongly)\s)?(?i:believe in)\s(?P<faith>(?i:{_FAITH}))$"
    rf"|{SUBJECT}\s{SOFT}(?i:vote)\s(?P<party>(?i:for the\s)?(?:{CASED}|(?i:green|labour|tory|conservative"
    rf"|democrat|republican|left|right|liberal)))$"
    rf"|{SUBJECT}\s{SOFT}(?P<does>(?i:pray|keep (?:kosher|halal|shabbat|the sabbath)|observe (?:ramadan|lent"
    rf"|shabbat|the sabbath)|celebrate (?:hanukkah|diwali|eid|ramadan|lunar new year|orthodox \w+)|practi[sc]e"
    rf" (?:buddhism|islam|judaism|hinduism|meditation|catholicism|mindfulness)|attend\s(?:mass|church)"
    rf"|meditate))(?:\s(?i:{COUNT} times a day|{OFTEN}))?$",
)
def _believes(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    if match["faith"]:
        negated = (match["not"] or "").lower().startswith(("don", "do "))
        yield lasting(clause, "belief", put("does not believe in" if negated else "believes in", match["faith"]))
    elif match["party"]:
        yield lasting(clause, "belief", put("votes", match["party"]))
    else:
        yield lasting(clause, "belief", does(clause.text[match.start("does") :]))


@_rule(
    "live",
    rf"{SUBJECT}\s{SOFT}(?i:live)\s(?P<how>(?i:(?:alone|by myself|on my own)\swith\s{REST}{{3,40}}|on\s(?:an?"
    rf"|the)\s(?:[\w'-]+\s){{1,3}}?(?:floor|coast|island|farm|boat|houseboat|estate|hill|street|road|river"
    rf"|seafront|outskirts of [\w ]+|edge of [\w ]+|border|outskirts|campus|narrowboat)|in (?:an?|the|my own"
    rf"|our own)\s(?:[\w'-]+\s){{0,4}}?(?:flat|house|apartment|cottage|bungalow|village|town|city|suburbs?"
    rf"|countryside|farmhouse|caravan|van|camper van|studio|bedsit|commune"
    rf"|attic|basement|penthouse|dorm|dormitory|house share|shared house|flatshare|hostel|high-rise|tower block"
    rf"|terraced house|semi|duplex|townhouse|condo|mountains|city cent(?:re|er)|centre of [\w ]+|middle of"
    rf" nowhere)(?:\s(?:with|near|by|on|outside|just outside|next to|close to|overlooking|above"
    rf"|in)\s{REST}{{2,50}})?"
    rf"|near\s(?:the|a)\s(?:[\w-]+\s)?(?:sea|beach|coast|station|airport|river|lake|forest|park|border|school"
    rf"|harbour|mountains|hospital|canal)|next (?:door )?to\s{REST}{{3,40}}|above\s(?:an?|the|my"
    rf"|our)\s{REST}{{3,30}}|close to\s(?:the|my|a)\s{REST}{{3,30}}|abroad|with {COUNT} (?:housemates|flatmates"
    rf"|roommates|friends|others|other people|cats|dogs)|with (?:some |a few )?(?:friends|housemates|flatmates"
    rf"|roommates)|{COUNT}\s(?:minutes?|miles|kilometres|km|hours?)\s(?:away\s)?from\s{REST}{{3,40}}))$",
)
def _lives_how(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    yield lasting(clause, "home", put("lives", match["how"]))


@_rule(
    "use bank shop",
    rf"{SUBJECT}\s{SOFT}(?i:use|have|own|'ve got)\s(?P<what>(?:an?\s)?(?:(?i:old|new|second-hand"
    rf"|work)\s)?(?:Android|iPhone|iPad|Mac|MacBook|Pixel|Galaxy|Samsung|Windows|Linux|Ubuntu|Kindle|Chromebook"
    rf"|ThinkPad|Fairphone|Apple Watch|Garmin|Fitbit|PlayStation|Xbox|Switch|Steam Deck|GoPro|Nikon|Canon|Leica"
    rf"|Fujifilm|Raspberry Pi)[\w ]{{0,25}}?)(?:\s(?i:at home|at work|for work|for everything))?$"
    rf"|{SUBJECT}\s{SOFT}(?P<verb>(?i:bank with|shop at|bank at))\s(?P<where>{CASED})$",
)
def _uses(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    if match["where"]:
        if is_name(match["where"]):
            yield lasting(clause, "uses", does(f"{match['verb']} {match['where']}"))
    else:
        yield lasting(clause, "uses", put("uses", match["what"]))
