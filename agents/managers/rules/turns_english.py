"""What changed the user's life, and what is past in it, in English: "I joined a climbing gym", "I used to play the trumpet"."""

from __future__ import annotations

from collections.abc import Iterator

from .... import lazy_re as re
from ....intent.phrases.tokens import word_set
from .abstract_english import IDIOM, OF_A_DAY, OFTEN_AT_END, VAGUE_THINGS
from .english_grammar import Fact, rule_set
from .plain_english import HAVE, REST, SUBJECT, lasting, put
from .sentences import Clause

__all__ = ["TURN_RULES", "used_to"]

TURN_RULES, _rule = rule_set()

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
    rf"{SUBJECT}{HAVE}?\s(?i:(?:also|actually|just|recently|finally|then|both|never|even"
    rf"|originally)\s)*(?P<turned>(?i:{_TURNED}))(?P<more>(?:\s(?i:in|at|on|with|for|from|near|by|of|called"
    rf"|about|last year|last (?:spring|summer|autumn|fall|winter)|this year|as|to|twice|three times|four times"
    rf"|when I was)\b{REST}{{0,50}})?)$",
)
def _turned(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    turned, more = match["turned"], match["more"] or ""
    if OF_A_DAY.search(more) or re.search(r"\b(?:never)\b", clause.text[: match.start("turned")]):
        return
    if re.match(
        r"(?:started|began|stopped)\s(?:eating|getting|doing|using|working|growing|keeping|wearing)\s", turned
    ) and VAGUE_THINGS.search(f"{turned.split(' ', 2)[-1]} {more}"):
        return
    if re.fullmatch(r"joined an? gym", turned, re.IGNORECASE):
        return
    if re.match(r"(?:became)\s", turned) and not re.search(
        r"(?:er|or|ist|ian|ant|nurse|parent|mother|father|mum|dad|mom|aunt|uncle|grandmother|grandfather"
        r"|citizen|vegan|vegetarian|monk|priest|partner|chef|widow)\Z",
        turned,
    ):
        return
    yield lasting(clause, "life", put(turned, more))


_USED = word_set(
    "be work play have own run teach smoke drink drive ride sing dance swim ski climb write paint draw"
    " collect do go row box fence act coach manage serve study knit sew bake farm fish hunt sail fly travel"
    " commute keep breed"
    " volunteer wear eat speak surf skate compete train perform weigh vote cycle garden stammer stutter model"
    " DJ sell deliver weld nurse freelance bartend waitress attend rent"
)
_USED_ALONE = word_set("smoke drink drive model swim climb dance sing fence row box stammer stutter ski surf skate")
_USED_TO = re.compile(
    rf"{SUBJECT}\s(?i:also\s|actually\s|both\s)?(?i:used to)\s(?P<verb>[a-z]+)(?P<rest>\s{REST}{{2,70}})?$"
)


def used_to(clause: Clause) -> Iterator[Fact]:
    """What one used to do, be or have: true of the past alone."""
    match = _USED_TO.match(clause.text)
    if match is None or match["verb"] not in _USED:
        return
    rest = (match["rest"] or "").strip()
    verb = match["verb"]
    if (not rest and verb not in _USED_ALONE) or len(rest.split()) > 12:
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
    if VAGUE_THINGS.search(OFTEN_AT_END.sub("", re.sub(r"\bat (?:that|the) time\b", "", rest))) or (
        verb not in ("be", "have", "live", "keep") and IDIOM.match(f"{verb} {rest}")
    ):
        return
    yield lasting(clause, "past", put("used to", f"{verb} {rest}"))
