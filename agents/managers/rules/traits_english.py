"""What the user is, can and believes, in English: "I'm retired", "I'm afraid of heights", "I wear glasses", "I can read Arabic"."""

from __future__ import annotations

from collections.abc import Iterator

from .... import lazy_re as re
from .english_grammar import LANGUAGES, Fact, rule_set
from .people import is_name
from .plain_english import CASED, COUNT, LEADS, OFTEN, REST, SOFT, SUBJECT, lasting, put, third
from .sentences import Clause

__all__ = ["TRAIT_RULES"]

TRAIT_RULES, _rule = rule_set()

_AM = r"(?i:'m|\sam)"
_VERY = (
    r"(?i:(?:also|actually|very|really|quite|pretty|fairly|rather|still|now|currently|a bit|a little|terribly"
    r"|extremely|so|naturally|both|all|always|happily|semi-|partially|legally|completely|totally)\s?)*"
)
_DEGREE = (
    r"(?i:(?:very|really|quite|pretty|fairly|rather|terribly|extremely|a bit|a little|partially|legally|completely"
    r"|totally|semi-)\s?)?"
)
_BE_NOW = r"(?i:(?:also|actually|still|now|currently|both|all|always|so|already|basically)\s)*"

_WORK_STATE = (
    r"(?:retired|semi-retired|self-employed|unemployed|out of work|freelance|freelancing|between jobs|on"
    r" (?:maternity|paternity|parental|sick|long-term sick|unpaid|study|medical|family|garden(?:ing)?) leave"
    r"|on (?:a )?sabbatical"
    r"|on disability(?: benefits?)?|on a zero-hours contract|a stay-at-home (?:mum|mom|dad|parent)|on benefits"
    r"|laid off|furloughed|home-?schooled|home-?schooling|on call|in the (?:army|navy|air force|military"
    r"|police|reserves|national guard)"
    r"|in (?:sales|marketing|finance|tech|it|hr|construction|publishing|advertising|logistics|real estate"
    r"|insurance|banking|education|healthcare|academia|retail|hospitality|consulting|law enforcement"
    r"|recruitment|politics))"
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
    "im am were are",
    rf"{SUBJECT}(?i:'m|\sam|'re|\sare)\s{_BE_NOW}(?P<what>(?i:{_WORK_STATE}))(?P<more>\s(?i:for|until|till"
    rf"|since|as|at|from|with|in)\s{REST}{{2,40}})?$",
)
def _works_so(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    what = match["what"]
    if what.lower() == "retired":
        yield Fact(
            label="job",
            value=put("is retired", match["more"] or "") if match["more"] else "Is retired",
            clause=clause,
            slot="job_title",
            starts=True,
            confidence=0.8,
        )
        return
    yield lasting(
        clause,
        "work",
        put("works" if what.lower().startswith("in ") and "the " not in what else "is", f"{what}{match['more'] or ''}"),
    )


@_rule(
    "im am",
    rf"{SUBJECT}{_AM}\s(?P<how>{_BE_NOW}(?:{_DEGREE}))(?P<what>(?i:{_STATE}))(?P<more>\s(?i:since|by birth|in"
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
    rf"{SUBJECT}{_AM}\s(?i:(?:also|actually|really|very|quite|pretty|rather|not(?: very)?|so|fairly|always|just"
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
    rf"{SUBJECT}(?i:(?:'m|\sam)|(?:'ve|\shave)\salways\sbeen)\s{_BE_NOW}(?P<what>(?i:(?:(?:very much|quite"
    rf"|rather|such|definitely|naturally|more of|really)\s)?(?:an?|a bit of an?|something of an?|very much"
    rf" an?)\s(?:(?!bad\b|good\b|big\b)[\w-]+\s){{0,2}}?(?:(?:good|bad|big)\s)?{_SORT}))(?P<more>\s(?i:at heart"
    rf"|by nature|of\s\w+(?:\s\w+)?|and\s[\w ]{{3,20}}))?$",
)
def _sort_of_person(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    what = re.sub(r"^(?:very much|definitely|naturally|really)\s", "", match["what"], flags=re.IGNORECASE)
    if re.search(r"\b(?:potential|new|first-time|aspiring|better|faster)\b", what):
        return
    yield lasting(clause, "trait", put("is", f"{what}{match['more'] or ''}"))


@_rule(
    "tall high metres meters cm feet foot weigh",
    rf"{SUBJECT}(?i:(?:'m|\sam))\s{_BE_NOW}(?i:about\s|around\s)?(?P<tall>(?i:\d(?:[.,]\d+)?\s?(?:m|metres?"
    rf"|meters?)|\d{{3}}\s?(?:cm|centimetres|centimeters)|(?:\d|four|five|six)\s?(?:foot|feet|ft"
    rf"|')\s?(?:\d{{1,2}}|[a-z]+)?(?:\sinches|\")?))(?i:\stall|\sin height)?$"
    rf"|{SUBJECT}\s(?i:weigh)\s(?:(?i:about|around|almost)\s)?(?P<weight>\d{{2,3}}(?:\.\d)?\s?(?i:kilos?|kg"
    rf"|pounds|lbs?|stone))$",
)
def _measures(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    if match["weight"]:
        yield lasting(clause, "weight", f"Weighs {match['weight']}", slot="weight")
    else:
        yield lasting(clause, "height", f"Height: {match['tall']}", slot="height")


_WORN = (
    r"(?:(?:reading |varifocal |thick )?glasses|spectacles|contact lenses|contacts|(?:a )?hearing aids?|braces"
    r"|a brace|dentures|a wig|a hijab|a headscarf|a turban|a kippah|a burqa|a prosthes[ie]s|a prosthetic \w+"
    r"|orthotics|insoles|compression (?:socks|stockings)|an insulin pump|a retainer"
    r"|a mouthguard|a uniform|a suit|black|only black|mostly black|make-?up|a beard|bifocals|a pacemaker|an"
    r" ankle brace|a knee brace|a medical bracelet)"
)


@_rule(
    "wear take",
    rf"{SUBJECT}\s{_BE_NOW}{SOFT}(?P<wear>(?i:wear\s(?:{_WORN})))(?P<more>\s(?i:for|to|at|in|when|because"
    rf" of)\s{REST}{{3,40}}|\s{OFTEN})?$"
    rf"|{SUBJECT}\s{SOFT}(?i:wear|take)\s(?:an?\s)?(?P<size>(?i:size)\s[\w./]+(?:\s(?i:shoes|in shoes|dress"
    rf"|trousers|jeans|clothes))?|(?i:shoe size)\s\d+)$",
)
def _wears(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    if match["size"]:
        yield lasting(clause, "size", put("wears", match["size"]))
    else:
        _, _, rest = match["wear"].partition(" ")
        yield lasting(clause, "appearance", put("wears", f"{rest}{match['more'] or ''}"))


_LOOKS = (
    r"(?:(?:(?:very|quite|really|naturally)\s)?(?:(?:long|short|curly|straight|thick|thin|fine|wavy|dry|oily"
    r"|dark|light|natural|dyed|very|bright|pale|freckled|fair|sensitive|greasy|frizzy|grey|gray|white|red"
    r"|black|brown|blonde?|blue|green|hazel|auburn|ginger|silver|pink)(?:,?\s(?:and\s)?))+(?:hair|eyes|skin"
    r"|hands|feet|beard)"
    r"|an?\s(?:[\w-]+\s){0,2}?(?:tattoo|piercing|birthmark|scar|beard|moustache|mustache|dimple|stutter"
    r"|stammer|lisp|limp|accent|squint|pacemaker|stoma|prosthetic \w+|artificial \w+|glass eye|cochlear"
    r" implant|hearing aid|guide dog|service dog|metal plate|curved spine|heart murmur)(?:\s(?:of|on|in|from"
    r"|across|over|at)\s"
    rf"{REST}{{2,50}})?|(?:\w+\s)?(?:tattoos|piercings|freckles|dreadlocks|dimples|flat feet|braces|dentures"
    rf"|perfect pitch|a photographic memory|two left feet|a sweet tooth|a green thumb|green fingers|poor"
    rf" circulation|low blood pressure|high cholesterol|ibs|adhd|ocd|ptsd|pcos|a slipped disc|scoliosis|rosacea"
    rf"|dandruff|bad eyesight|poor eyesight|good eyesight|bad knees|bad teeth|a weak \w+|a food intolerance|a"
    rf" lactose intolerance))"
)


@_rule(
    "have ive got",
    rf"{SUBJECT}(?i:'ve got|\shave got|\s{SOFT}have|'ve)\s(?P<what>(?i:{_LOOKS}))$",
)
def _looks(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    yield lasting(clause, "appearance", put("has", match["what"]))


_TAKEN = (
    r"(?:blood thinners|beta[- ]?blockers|insulin|antidepressants|the pill"
    r"|(?:an?\s)?(?:multi)?vitamins?(?:\s[a-z]\d*)?|vitamin [a-z]\d*|iron(?: tablets| supplements)?|statins"
    r"|painkillers|antihistamines|sleeping pills|thyroid (?:tablets|medication|hormones|medicine)|blood"
    r" pressure (?:tablets|medication|pills|medicine)|steroids|hormones"
    r"|supplements|magnesium|omega[- ]3|fish oil|probiotics|creatine|an inhaler|aspirin|ibuprofen|lithium"
    r"|methadone|hrt|medication|anticoagulants|diuretics|melatonin|ssris?)"
)


@_rule(
    "take taking on use get see",
    rf"{SUBJECT}(?i:\s{SOFT}(?:take|use)|(?:'m|\sam)\s{_BE_NOW}(?:on"
    rf"|taking))\s(?P<what>(?i:(?:\w+\s)?{_TAKEN}))(?P<more>\s(?i:for|against|because of|to)\s{REST}{{3,40}}"
    rf"|\s{OFTEN})?$"
    rf"|{SUBJECT}\s{SOFT}(?i:get|suffer from|am prone to)\s(?P<ill>(?i:(?:bad |terrible |frequent |severe "
    rf"|regular |awful )?(?:migraines?|headaches|nosebleeds|hay fever|heartburn|panic attacks|seasick|carsick"
    rf"|travel sick|motion sick|cold sores|cluster headaches|eczema|hives|cramps|vertigo|kidney stones|back"
    rf" pain|insomnia|nightmares|sinusitis|cystitis|acid reflux|anxiety|sunburnt easily|altitude sickness"
    rf"|seasickness|motion sickness|stage fright))(?:\s(?:easily|a lot|often|quite often|very easily|sometimes|regularly))?(?:\s(?:when|if|in|from|on|after|every|whenever"
    rf"|because)\s(?:I\s)?{REST}{{3,50}})?)$"
    rf"|{SUBJECT}\s{SOFT}(?i:see|go to)\s(?P<sees>(?i:an?\s(?:\w+\s)?(?:therapist|physio\w*|chiropractor"
    rf"|psychologist|psychiatrist|counsellor|counselor|dietitian|dietician|nutritionist|osteopath|speech"
    rf" therapist|acupuncturist|cardiologist|dermatologist|neurologist|personal trainer|tutor"
    rf"|coach)))(?:\s{OFTEN}|\s(?i:for)\s{REST}{{3,30}})?$",
)
def _treated(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    if match["what"]:
        yield lasting(clause, "health", put("takes", f"{match['what']}{match['more'] or ''}"))
    elif match["ill"]:
        yield lasting(clause, "health", put("gets", match["ill"]))
    else:
        yield lasting(clause, "health", put("sees", clause.text[match.start("sees") :]))


@_rule(
    "wheelchair crutches dialysis diet plan remission fast fasting skip eat cook drink",
    rf"{SUBJECT}(?i:'m|\sam|'re|\sare)\s{_BE_NOW}(?P<state>(?i:(?:in a wheelchair|on dialysis|on oxygen)|(?:on"
    rf"|following|doing|trying) (?:an?|the)\s(?:(?:very|strict|strictly|medically|mostly"
    rf"|so-called)\s)*[\w-]+(?:[ -](?!diet)[\w-]+){{0,3}}\s(?:diet|regime|meal plan)))(?P<more>\s(?i:for"
    rf"|because of|since|after|to)\s{REST}{{3,40}})?$"
    rf"|{SUBJECT}\s{SOFT}(?P<use>(?i:use (?:an? )?(?:wheelchair|walking stick|walker|cane|zimmer frame|cpap"
    rf" machine|inhaler|screen reader|hearing loop)))(?:\s{OFTEN})?$"
    rf"|{SUBJECT}\s{SOFT}(?P<verb>(?i:eat|drink|cook|skip|fast|buy))(?P<food>\s(?i:(?:very little|hardly any"
    rf"|almost no|no|mostly|only|a lot of|lots of|plenty of|mainly|too much|strictly|halal|kosher|organic|vegan"
    rf"|vegetarian|plant-based|low-carb|decaf|gluten-free)(?:\s[\w' -]{{2,40}})?|breakfast|lunch|dinner"
    rf"|for\s(?:the whole|my)\s[\w ]{{2,20}}|from scratch|during (?:ramadan|lent)))(?:\s{OFTEN})?$",
)
def _diet(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    if match["state"]:
        state = match["state"]
        label = "diet" if "diet" in state.lower() or "plan" in state.lower() else "health"
        yield lasting(clause, label, put("is", f"{state}{match['more'] or ''}"))
    elif match["use"]:
        yield lasting(clause, "health", put("uses", match["use"].split(" ", 1)[1]))
    else:
        verb, food = match["verb"].lower(), match["food"].strip()
        if verb == "skip" and not re.match(r"(?:breakfast|lunch|dinner)\b", food, re.IGNORECASE):
            return
        if verb in ("eat", "drink", "cook", "buy") and re.match(r"(?:breakfast|lunch|dinner)\b", food, re.IGNORECASE):
            return
        if verb == "buy" and not re.match(r"(?:only|mostly|organic|mainly)\b", food, re.IGNORECASE):
            return
        yield lasting(clause, "diet", put(third(verb), clause.text[match.start("food") :]))


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
        verb, _, rest = clause.text[match.start("does") :].partition(" ")
        yield lasting(clause, "belief", put(third(verb), rest))


_SHIFTS = (
    r"(?:(?:night|day|early|late|evening|weekend|twelve-hour|12-hour|split|rotating|long)\s?(?:shifts?)?|nights"
    r"|shifts|part[- ]time|full[- ]time|flexitime|weekends|double shifts|overtime)"
)


@_rule(
    "work report manage lead supervise earn make run get teach commute employ oversee travel",
    rf"{SUBJECT}\s{SOFT}(?P<work>(?i:work)\s(?i:(?:{_SHIFTS})(?:\s(?:in|at|for|on|as)\s(?:an?|the"
    rf"|my)?\s?{REST}{{2,40}})?|(?:from home|remotely|in the office|hybrid|on site|freelance|for myself"
    rf"|outdoors|abroad|offshore|from the office|from an office|from a co-working space|on a farm|on an oil rig"
    rf"|on a ship|in a\s(?:[\w-]+\s){{1,3}}|at an?\s(?:[\w-]+\s){{1,3}}|for an?\s(?:[\w'-]+\s){{1,3}}(?:company"
    rf"|firm|charity|agency|start-?up|business|magazine|newspaper|bank|studio|ministry|council|ngo|non-profit"
    rf"|school)|with\s(?:children|animals|people with [\w -]+|young people|the elderly|refugees|horses|wood|my"
    rf" hands|my (?:husband|wife|brother|sister|dad|father|mother|mum)))(?:\s?{OFTEN})?"
    rf"|on the\s\w+\sfloor|{COUNT}\s(?:hours|days)\sa\sweek|in (?:an?|the)\s(?:[\w'-]+\s){{0,3}}(?:library"
    rf"|factory|warehouse|lab|laboratory|school|hospital|bakery|shop|store|kitchen|restaurant|office|museum"
    rf"|bank|nursery|hotel|bar|pub|garage|pharmacy|supermarket|call centre|call center|prison|hospice|studio"
    rf"|field of\s\w+|public sector|private sector|\w+ industry|\w+ sector|\w+ business|\w+ department)"
    rf"|on\s(?:a\sfreelance|a\scommission|commission)\s?\w*))"
    rf"(?:\s(?i:now|{OFTEN}))?$"
    rf"|{SUBJECT}\s{SOFT}(?P<leads>(?i:report to (?:the|our|an?)\s{REST}{{3,40}}|report (?:directly )?to"
    rf" {CASED}|(?:manage|lead|supervise|run|oversee|employ) (?:an?\s)?(?:[\w-]+\s)?(?:team|staff|crew"
    rf"|department|group|people|employees)(?:\sof\s[\w ]{{1,25}})?|(?:manage|lead|supervise|employ"
    rf"|oversee)\s{COUNT}\s(?:people|staff|engineers|developers|nurses|employees|others)))$"
    rf"|{SUBJECT}\s{SOFT}(?P<runs>(?i:(?:run|own|have)\s(?:(?:my|our) own|an?)\s(?:(?:small|little|tiny|online"
    rf"|family|local|successful|one-man|part-time|side)\s)*(?:[\w'&-]+\s){{0,2}}?(?:business|company|firm|shop"
    rf"|store|caf[eé]|restaurant|bakery|salon|studio|consultancy|practice|agency|start-?up|blog|podcast|youtube"
    rf" channel|newsletter|bed and breakfast|b&b|guest ?house|guesthouse|farm|vineyard|brewery|bookshop|etsy"
    rf" shop|charity|webshop|food truck|market stall|kennels|nursery|pub|bar|gallery|garage|gym|market garden"
    rf"|stables)))(?P<where>\s(?i:in|on|with|for|about|near)\s{REST}{{2,50}})?$"
    rf"|{SUBJECT}\s{SOFT}(?P<paid>(?i:(?:get|am|'m) paid\s(?:{REST}{{3,40}})|(?:earn|make)\s(?:about\s|around\s"
    rf"|roughly\s)?[£$€]?\d[\d,.]*k?(?:\s?\w+)?\s(?:a|per|an)\s(?:month|year|week|hour)|earn (?:the )?minimum"
    rf" wage))$",
)
def _works_how(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    group = next(name for name in ("work", "leads", "runs", "paid") if match[name])
    said = clause.text[match.start(group) :]
    verb, _, rest = said.partition(" ")
    verb = re.sub(r"^'", "", verb)
    if group == "paid" and not re.search(r"\d|monthly|weekly|by the|hourly|minimum", said):
        return
    if group == "leads" and re.search(r"\bproblem|bug|issue|police\b", said):
        return
    yield lasting(clause, "income" if group == "paid" else "work", put(third(verb), rest))


@_rule(
    "year doing phd degree master masters course studying school high uni university college apprenticeship semester",
    rf"{SUBJECT}(?i:'m|\sam)\s{_BE_NOW}(?P<year>(?i:in\s(?:my|the)\s(?:first|second|third|fourth|fifth|sixth"
    rf"|final|last|senior|junior|freshman|sophomore)\s(?:year|semester|term)(?:\s(?:of|at|in"
    rf"|as)\s{REST}{{2,50}})?|(?:doing|finishing|starting|completing|halfway through|working on|writing"
    rf" up)\s(?:an?|my|the)\s(?:[\w-]+\s){{0,2}}?"
    rf"(?:phd|doctorate|master's|masters|degree|bachelor's|mba|msc|apprenticeship|diploma|a-levels|gcses"
    rf"|internship|residency|teacher training|pgce|traineeship|evening course|law degree|foundation"
    rf" course)(?:\s(?:in|on|at|about|with|as)\s{REST}{{2,60}})?"
    rf"|in (?:high school|secondary school|sixth form|medical school|law school|grad school|year \w+|\w+ grade)"
    rf"|at (?:uni|university|college|art school|drama school|medical school)))$",
)
def _in_studies(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    yield lasting(clause, "studies", put("is", match["year"]))


@_rule(
    "sleep snore sleepwalk grind bite vape smoke drink talk travel stammer stutter touch write type",
    rf"{SUBJECT}\s{SOFT}(?P<how>(?i:sleep\s(?:with|on|in|badly|well|until|only|about|around"
    rf"|{COUNT}\s)\s?{REST}{{0,40}}|sleep (?:badly|poorly|in separate rooms)|snore|sleepwalk|sleep-?talk|grind"
    rf" my teeth|bite my nails|vape|smoke(?: {COUNT})?(?: (?:a pack|cigarettes|\w+) a day)?|drink socially|talk"
    rf" in my sleep|travel light|stammer|stutter|touch-?type|write with (?:my (?:left|right) hand|an? [\w"
    rf" ]{{3,25}})|type with [\w ]{{3,20}}))(?:\s{OFTEN})?$",
)
def _way(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    verb, _, rest = match["how"].partition(" ")
    if re.search(r"\b(?:on it|with you|well)\b", rest):
        return
    yield lasting(clause, "habit", put(third(verb), rest))


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
        verb, _, rest = match["verb"].partition(" ")
        if is_name(match["where"]):
            yield lasting(clause, "uses", put(third(verb), f"{rest} {match['where']}"))
    else:
        yield lasting(clause, "uses", put("uses", match["what"]))
