"""What the user does, in English, by the class of the verb: "I restore old radios", "I take the 7:40 train to work".

The present of a verb of doing tells a habit. What is done to abstract things tells nothing: "I make mistakes", "I take pride in
my work".
"""

from __future__ import annotations

from collections.abc import Iterator

from .... import lazy_re as re
from ....intent.phrases.tokens import word_set
from .abstract_english import CLASSES, IDIOM, OF_A_DAY, OFTEN_AT_END, VAGUE_THINGS
from .english_grammar import Fact, rule_set
from .plain_english import HAVE, HOW_OFTEN, REST, SOFT, SUBJECT, does, how_often, lasting, put, third
from .sentences import Clause

__all__ = ["DOING_RULES"]

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
    " care serve rescue compete judge referee umpire tend brush juggle busk cater tailor mow"
    " tweet podcast vlog game wake rely commute"
    " quilt film animate illustrate prune compost recycle upcycle forage keep sublet lodge buy bring pack"
    " spend sit earn holiday get co-parent co-own co-host home-school dog-sit house-sit co parent"
)
_DEFINITE = re.compile(
    r"(?:^|\s)the\s(?!(?:[\w:.-]+\s)?(?:bus|train|tram|metro|tube|subway|underground|ferry|dogs?|cats?|kids"
    r"|children|piano|guitar|violin|cello|drums|flute|harp|organ|garden|gardening|cooking|cleaning|shopping"
    r"|laundry|dishes|ironing|accounts|books|bins|shift|gym"
    r"|local|family|elderly|homeless|blind|deaf|horses?|chickens|hens|house|housework|school run|office"
    r"|weekends?|week|sea|beach|lake|river|mountains|countryside|city|car|stairs|evenings?"
    r"|mornings?|afternoons?|summer|winter|church|mosque|choir|side|internet|radio|news|newspaper|paper"
    r"|guardian|times|library|door|accordion|saxophone|trumpet|clarinet|ukulele|banjo|fiddle|trombone|viola"
    r"|bass|sax|oboe|bagpipes|recorder)\b)",
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
    if verb not in _DOING or (
        verb == "keep" and not re.match(r"(?:bees|chickens|kosher|an?\s|my (?:savings|money|horse|boat|car)\s)", rest)
    ):
        return
    words = rest.split()
    said = f"{verb} {rest}"
    # "take the 7:40 train" tells what "make the decision" does not: what it is done to is a thing.
    if (
        len(words) > 11
        or IDIOM.match(said)
        or OF_A_DAY.search(rest)
        or (
            words[0] in ("like", "as", "so", "and", "here", "well")
            and not said.startswith(("volunteer as ", "serve as ", "work as "))
        )
    ):
        return
    if _DEFINITE.search(rest) and verb not in _AT_PLACES:
        return
    if (verb != "spend" and VAGUE_THINGS.search(OFTEN_AT_END.sub("", rest))) or (
        _TO.search(f" {rest}") and not _TO_NOUN.search(f" {said}")
    ):
        return
    if verb == "work" and re.fullmatch(r"in an? (?:office|shop|store|bar)", rest):
        return  # where, is not said
    if verb == "pay" and re.fullmatch(r"\W*\d[\d,.]*k?(?:\s\w+)?\s(?:a|per)\s\w+", rest):
        return  # for what, is not said
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


_THING_OF = {
    "bring": re.compile(r"^(?:a packed lunch|my own|my lunch|lunch from home)\b", re.IGNORECASE),
    "pack": re.compile(r"^(?:my own|a packed lunch|my lunch|light\Z)", re.IGNORECASE),
    "spend": re.compile(
        r"^(?:(?:most of )?(?:my|our)\s(?:weekends|evenings|summers|mornings|holidays|winters|(?:free|spare)"
        r" time|lunch breaks?|christmas|days off|weekdays|afternoons|saturdays|sundays)"
        r"|(?:a lot of|most of my|all my|too much|lots of|much of my)\s(?:\w+\s)?(?:time|money|evenings"
        r"|weekends))\s(?:on|in|at|with|[a-z]+ing)\b",
        re.IGNORECASE,
    ),
    "sit": re.compile(
        r"^on (?:the|an?|our)\s(?:[\w'-]+\s){0,3}(?:council|board|committee|jury|panel|bench)\b", re.IGNORECASE
    ),
    "earn": re.compile(
        r"^(?:about\s|around\s|roughly\s|just over\s)?[£$€]?\d[\d,.]*k?(?:\s\w+)?\s(?:a|per)\s(?:month|year"
        r"|week|hour)\b|^(?:the )?minimum wage|^commission\b",
        re.IGNORECASE,
    ),
    "get": re.compile(
        r"^(?:around|about)\s(?:by|on|in)\s(?:foot\Z|(?:an?\s|my\s|public\s)?(?:\w+\s)?(?:bike|car|bus|train"
        r"|scooter|taxi|wheelchair|transport|motorbike|tram|skateboard|moped|van))|^(?:my|our) (?:groceries"
        r"|vegetables|meat|eggs|news|books|veg box) (?:delivered|from)\b|^(?:a )?(?:massage|haircut|manicure"
        r"|check-up|flu jab|flu shot)\b",
        re.IGNORECASE,
    ),
    "holiday": re.compile(r"^(?:in|at|on|with)\s", re.IGNORECASE),
    "take": re.compile(
        rf"^(?:the|an?)\s(?:[\w:.-]+\s){{0,2}}(?:bus|train|tram|metro|tube|subway|ferry|taxi|nap|lift|bike|pill"
        rf"|tablet|sleeping pill|multivitamin)\b|^(?:{CLASSES})|^(?:(?:\d+|two|three|a daily|cold"
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


_TENDED_ALONE = frozenset({"wake up", "garden", "fish", "hike", "camp", "paint", "draw", "knit", "sew", "bake", "cook"})


@_rule(
    "tend try like prefer",
    rf"{SUBJECT}\s{SOFT}(?P<verb>(?i:tend|try|like|prefer))\s(?i:to)\s(?P<act>(?i:wake up|get up|go to bed|go"
    rf"|eat|sleep|skip|avoid|walk|cycle|run|swim|read|work|shop|buy|cook|bake|drink|travel|sit|stay up|write"
    rf"|garden|fish|hike|camp"
    rf"|listen to|watch|play|paint|draw|knit|sew))(?P<what>\s{REST}{{2,60}})?$",
)
def _tends(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    act, what = match["act"], (match["what"] or "").strip()
    if not what and act.lower() not in _TENDED_ALONE:
        return
    if (
        VAGUE_THINGS.search(OFTEN_AT_END.sub("", what))
        or OF_A_DAY.search(what)
        or re.match(r"(?:on|over|out|into|back|away|through|like|the)\b(?! my| foot)", what)
    ):
        return
    yield lasting(clause, "habit", does(f"{match['verb']} to {act} {what}"))


_LIKED = r"(?:love|enjoy|like|hate|prefer|adore|can't stand|dislike)"


@_rule(
    "love enjoy like hate prefer adore stand dislike loved enjoyed liked hated into drawn wanted",
    rf"(?i:^(?:(?:oh|well|and|but|so|also|btw|yes|yeah)[\s,]+)*we\s(?:(?:both|all|really|also|always"
    rf"|absolutely)\s)*)(?P<likes>(?i:{_LIKED}))\s(?P<what>{REST}{{3,60}})$"
    rf"|{SUBJECT}{HAVE}\s(?i:always)\s(?P<always>(?i:loved|liked|enjoyed|hated|adored|disliked|been"
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
    if VAGUE_THINGS.search(what) or OF_A_DAY.search(what) or len(what.split()) > 9:
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
