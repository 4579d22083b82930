"""What the user does again and again, in English: "every Tuesday evening I sing in a choir", "I cycle to work", "I keep bees"."""

from __future__ import annotations

from collections.abc import Iterator

from .... import lazy_re as re
from ....intent.phrases.tokens import word_set
from .english_grammar import Fact, rule_set
from .people import is_name
from .plain_english import (
    CASED,
    DURATION,
    HAVE,
    HOW_OFTEN,
    OFTEN,
    REST,
    SOFT,
    SUBJECT,
    does,
    how_often,
    is_base_verb,
    lasting,
    put,
    third,
)
from .sentences import Clause
from .words import TO_TWELVE

__all__ = ["ROUTINE_RULES"]

ROUTINE_RULES, _rule = rule_set()

_DOES = rf"(?P<verb>[a-z]+)(?P<what>\s{REST}{{1,70}}?)?"
_OFTEN_WORDS = (
    "every each on once twice thrice times days evenings mornings nights hours at in most daily weekly monthly"
    " all before after first"
)
_NO_ROUTINE = re.compile(
    r"\b(?:something new|thank|lucky|blessed|crazy|nuts|insane|mad|mess|problems?|issues?|errors?|trouble"
    r"|nonsense|bored|tired|stuck|lost|confused)\b",
    re.IGNORECASE,
)
_MEALTIME = re.compile(r"(?:before|after|first|all|in)\s", re.IGNORECASE)
_HAS_THEN = re.compile(r"(?:have|meet|see|leave|arrive|start|finish|call|fly|get|buy|pick|need|book)\b")


_ACTS = re.compile(
    r"(?:have\s(?:an?\s)?(?:\w+\s)?(?:dinner|lunch|breakfast|brunch|choir practice|band practice|rehearsals?"
    r"|physio|therapy|training|lessons?|class(?:es)?|guitar lessons?|piano lessons?"
    r"|game night|family (?:dinner|lunch)|sunday lunch)|look after|do|care for|like to (?:go|walk|run|swim"
    r"|read|cook|bake)|try to (?:go|walk|run|swim|read|cook|write|meditate|exercise))\b",
    re.IGNORECASE,
)


def _is_act(verb: str, what: str) -> bool:
    """Whether it is something one does: a verb of doing, or one of having or seeming with what makes it such."""
    return is_base_verb(verb) or _ACTS.match(f"{verb}{what}") is not None


def _habit(clause: Clause, verb: str, rest: str, soft: str) -> Iterator[Fact]:
    yield lasting(clause, "habit", put(f"{how_often(soft)}{third(verb)}", rest))


@_rule(
    _OFTEN_WORDS,
    rf"{SUBJECT}\s{HOW_OFTEN}{_DOES}\s(?P<often>{OFTEN})(?P<more>\s(?i:at|with|in|from|before|after|for"
    rf"|to)\s{REST}{{2,40}})?$",
)
def _does_often(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    what, often = match["what"] or "", match["often"]
    if not _is_act(match["verb"], what) or _NO_ROUTINE.search(what):
        return
    if _MEALTIME.match(often) and _HAS_THEN.match(match["verb"]):
        return  # "I have a meeting after lunch", "I meet Tom after work"
    yield from _habit(clause, match["verb"], f"{what} {often}{match['more'] or ''}", match["soft"])


@_rule(
    _OFTEN_WORDS,
    rf"(?i:^(?:(?:and|but|so|also|oh|well|plus|then)[\s,]+)*)(?P<often>{OFTEN}),?\s(?i:I|we)\s{HOW_OFTEN}{_DOES}$",
)
def _often_does(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    what = match["what"] or ""
    if not _is_act(match["verb"], what) or _NO_ROUTINE.search(what):
        return
    often = match["often"]
    yield from _habit(clause, match["verb"], f"{what} {often[:1].lower()}{often[1:]}", match["soft"])


_HOUR = (
    r"(?:(?:half past|quarter (?:past|to)|ten (?:past|to))\s\w+|\d{1,2}(?:[:.]\d\d)?(?:\s?[ap]\.?m\.?)?|noon"
    rf"|midnight|midday|dawn|sunrise|{TO_TWELVE})(?:\s(?:thirty|fifteen|o'clock))?"
)


@_rule(
    "get wake rise go start finish leave eat have",
    rf"{SUBJECT}\s{SOFT}(?P<verb>(?i:get up|wake up|rise|go to (?:bed|sleep)|start work|finish work|leave for"
    rf" work|leave the house|eat (?:dinner|lunch|breakfast)"
    rf"|have (?:dinner|lunch|breakfast)))\s(?P<when>(?i:(?:very\s)?(?:early|late)|(?:at|around|about|by|before"
    rf"|after)\s(?:about\s|around\s)?{_HOUR}"
    rf"(?:\sin the (?:morning|evening|afternoon)|\sat night)?)(?:\s{OFTEN})?(?:\sto\s{REST}{{4,40}})?)$",
)
def _at_hour(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    yield lasting(clause, "habit", does(f"{match['verb']} {match['when']}"))


_TO_WORK = r"(?:work|school|the office|uni|university|college|campus|my office|the lab|the station)"


@_rule(
    "cycle walk drive commute bike run take catch get go ride travel",
    rf"{SUBJECT}\s{SOFT}(?P<verb>(?i:cycle|walk|drive|commute|bike|run|(?:take|catch|get|ride)\s(?:the|a"
    rf"|my)\s(?:\w+\s)?(?:bus|tram|train|metro|tube|underground"
    rf"|subway|ferry|bike|car|scooter|coach)|(?:go|get|travel|come)\s(?:by\s\w+|on"
    rf" foot)))\s(?P<where>(?i:(?:in\s)?to\s(?:and from\s)?{_TO_WORK}(?:\sand back)?"
    rf"|(?:in\s)?from\s{CASED}(?:\sto\s{CASED})?))(?:\s{OFTEN})?$"
    rf"|{SUBJECT}\s{SOFT}(?i:go|get|travel"
    rf"|commute)\s(?:in\s)?(?i:to)\s(?P<where2>(?i:{_TO_WORK}))\s(?P<by>(?i:by\s\w+|on foot|on my (?:bike"
    rf"|motorbike)))(?:\s{OFTEN})?$",
)
def _commutes(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    said = f"go to {match['where2']} {match['by']}" if match["by"] else f"{match['verb']} {match['where']}"
    yield lasting(clause, "habit", does(said))


_SPORT = (
    r"(?:yoga|pilates|tai chi|karate|judo|taekwondo|aikido|kung fu|jiu[- ]jitsu|kickboxing|boxing|fencing"
    r"|archery|gymnastics|ballet|crossfit|weights"
    r"|athletics|triathlons?|parkour|gardening|crosswords?|sudokus?|jigsaws?|jigsaw puzzles|puzzles|pottery"
    r"|ceramics|calligraphy|embroidery|woodwork"
    r"|woodworking|carpentry|photography|improv|stand-up(?: comedy)?|amateur dramatics|genealogy|voluntary"
    r" work|volunteer work|martial arts|aerobics"
    r"|zumba|spinning|salsa|tango|ballroom dancing|line dancing|origami|cross[- ]stitch|macram[eé]|needlework"
    r"|meditation)"
)
_ALONE = (
    r"(?:knit|sew|crochet|paint|sketch|sing|dance|ski|snowboard|surf|meditate|fish|hunt|garden|juggle|cycle"
    r"|jog|skate|sail|scuba dive|dive|whittle|weave"
    r"|quilt|embroider|row|box|fence|bake|swim|climb|hike|busk|freelance|journal|draw|photograph birds"
    r"|birdwatch|write (?:poetry|poems|songs|short stories"
    r"|fiction|novels|music)|restore (?:old\s|vintage\s|classic\s)?\w+|make (?:my own )?(?:jewellery|jewelry"
    r"|pottery|candles|soap|furniture|wine|cheese|cider|jam|music)"
    r"|brew (?:my own\s)?(?:beer|cider|kombucha)|compose|DJ)"
)
_AS_HOBBY = (
    r"(?:\s(?:in my (?:spare|free) time|as a hobby|for fun|to relax|on the side|for a living|a lot|a bit|a little"
    r"|competitively|semi-professionally|for charity))"
)
_GROUP = (
    r"(?:choir|band|orchestra|quartet|trio|chorus|ensemble|team|league|club|group|society|association|squad"
    r"|side|class|troupe|circle|party|union|cooperative|co-op|guild"
    r"|church|parish|fire brigade|lodge|council|committee|gym)"
)
_CROPS = (
    r"(?:tomatoes|potatoes|vegetables|veg|herbs|flowers|roses|tulips|orchids|dahlias|chillies|chilies"
    r"|strawberries|apples|beans|courgettes|mushrooms|pumpkins|sunflowers"
    r"|food|fruit|salad|cacti|bonsai(?: trees)?|lavender|garlic|grapes)"
)


@_rule(
    "do",
    rf"{SUBJECT}\s{SOFT}(?i:do)\s(?P<what>(?i:(?:a lot of|a bit of"
    rf"|some)\s)?(?:\w+\s)?(?i:{_SPORT}))(?P<more>(?i:{_AS_HOBBY}|\s{OFTEN}|\s(?:at|in"
    rf"|with)\s{REST}{{3,30}}))?$",
)
def _does_sport(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    yield lasting(clause, "hobby", does(f"do {match['what']}{match['more'] or ''}"))


@_rule(
    "knit sew crochet paint sketch sing dance ski snowboard surf meditate fish hunt garden juggle cycle jog"
    " skate sail dive whittle weave quilt embroider row box"
    " fence bake swim climb hike busk freelance journal draw birdwatch write restore make brew compose dj photograph",
    rf"{SUBJECT}\s{SOFT}(?P<does>(?i:{_ALONE}))(?P<more>(?i:{_AS_HOBBY}))?$"
    rf"|{SUBJECT}\s{SOFT}(?P<art>(?i:paint|draw|carve|photograph|build|make|write|sew|knit|restore|repair"
    rf"|design)\s{REST}{{3,40}}?)(?P<hobby>(?i:{_AS_HOBBY}))$",
)
def _practises(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    said = match["does"] or match["art"]
    yield lasting(clause, "hobby", does(f"{said}{match['more'] or match['hobby'] or ''}"))


@_rule(
    "sing play dance row volunteer perform act drum swim run train coach",
    rf"{SUBJECT}\s{SOFT}(?P<verb>(?i:sing|play|dance|row|volunteer|perform|act|drum|run|train|swim|coach))"
    rf"\s(?P<what>(?i:(?:\w+\s){{0,3}}?(?:in|with|for|at)\s(?:an?|the|my|our|my local|the local)"
    rf"\s(?:[\w'-]+\s){{0,3}}?(?:{_GROUP}|orchestra|hospice|shelter|food bank|charity shop|soup kitchen|library"
    rf"|museum|school|hospital|animal shelter|rescue centre|refuge"
    rf"|community garden|youth club|nursing home|care home|cathedral))(?:\s(?i:in|of|at|from)\s(?:the\s)?[\w'"
    rf" -]{{2,30}})?)$",
)
def _in_group(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    yield lasting(clause, "hobby", does(f"{match['verb']} {match['what']}"))


@_rule(
    "im am were are belong part member",
    rf"{SUBJECT}(?P<be>(?i:(?:'m|'re|\sam|\sare)\s{SOFT}(?:in|part of|a member of|on|active in|the \w+ (?:of"
    rf"|in)|a \w+ in)|\s{SOFT}belong to))\s(?P<what>(?i:(?:an?|the|our|my)\s(?:[\w'&-]+\s){{0,3}}?"
    rf"(?i:{_GROUP})))(?P<more>\s(?i:in|of|at|for|on|called)\s[\w' -]{{2,40}})?$",
)
def _belongs(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    if (
        re.search(
            r"\b(?:gym|church|class|team|group|party|council|union|committee|side)\Z", match["what"], re.IGNORECASE
        )
        and not re.search(r"belong|member|part of|\bon\b(?! the team)", match["be"], re.IGNORECASE)
        and not re.search(
            r"\b(?:football|soccer|rugby|hockey|cricket|volleyball|basketball|netball|swim\w*|pub quiz|quiz"
            r"|rowing|running|walking|theatre|drama|reading|writing|support|church|debate|chess|curling|darts"
            r"|bowling|dance|art|pottery)\s\w+\Z",
            match["what"],
            re.IGNORECASE,
        )
    ):
        return  # where one is just now
    lead = re.sub(r"^\W*(?:m|re|am|are)\s", "", match["be"].strip(), flags=re.IGNORECASE)
    told = f"{match['what']}{match['more'] or ''}"
    belongs = "belong" in lead.lower()
    yield lasting(clause, "membership", put("Belongs to" if belongs else "is", told if belongs else f"{lead} {told}"))


@_rule(
    "keep grow bake brew sew raise breed rear make",
    rf"{SUBJECT}\s{SOFT}(?P<keep>(?i:keep\s(?:bees|chickens|hens|ducks|geese|goats|sheep|pigs|rabbits|horses"
    rf"|pigeons|koi|tropical fish|snakes|parrots|alpacas|cattle|a (?:food |dream |travel |gratitude )?(?:diary"
    rf"|journal)"
    rf"|an? (?:aquarium|allotment|vegetable garden))|grow\s(?:(?:my|our) own\s(?:\w+\s)?\w+"
    rf"|(?:\w+\s)?{_CROPS}(?:\sand\s\w+)?)|(?:bake|make|brew|sew|roast|mend|cut|press|knit|dye"
    rf"|mix)\s(?:all\s)?(?:my|our) own\s[\w -]{{3,30}}"
    rf"|(?:raise|breed|rear|train)\s(?:\w+\s)?(?:bees|chickens|hens|ducks|geese|goats|sheep|pigs|rabbits|horses"
    rf"|pigeons|koi|alpacas|cattle|dogs|cats|guide dogs|budgies|canaries|parrots|guppies)))"
    rf"(?P<more>\s(?i:in|on|at|for|with)\s{REST}{{3,40}})?$",
)
def _keeps(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    yield lasting(clause, "hobby", does(f"{match['keep']}{match['more'] or ''}"))


@_rule(
    "build restore repair collect design",
    rf"{SUBJECT}\s{SOFT}(?P<verb>(?i:build|restore|repair|collect))\s(?P<what>(?i:(?:model|miniature|old"
    rf"|vintage|antique|classic|wooden|remote[- ]control(?:led)?|scale)\s[\w -]{{3,30}}))$",
)
def _makes(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    yield lasting(clause, "hobby", does(f"{match['verb']} {match['what']}"))


@_rule(
    "go",
    rf"{SUBJECT}\s{SOFT}(?i:go)\s(?P<what>(?i:(?:wild |cold[- ]water |open[- ]water |rock |ice |line |ballroom "
    rf"|trail |mountain |fell )?(?:running|swimming|hiking|fishing|climbing|cycling|dancing|skiing|sailing"
    rf"|surfing|bowling|jogging|riding|horse riding|camping|birdwatching|geocaching"
    rf"|kayaking|rowing|bouldering|hunting|foraging|mountain biking|walking)\s(?:a lot|with\s[\w' ]{{2,30}}"
    rf"|in\s(?:the\s)?[\w' ]{{2,30}}|at\s(?:the\s)?[\w' ]{{2,30}})"
    rf"|to\s(?:the\s(?:gym|mosque|synagogue|temple)|church|mass|night school|evening classes|physio|therapy"
    rf"|football matches)(?:\s(?:a lot|regularly))?))(?:\s{OFTEN})?$",
)
def _goes(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    yield lasting(clause, "habit", does(f"go {match['what']}"))


_READS = (
    r"(?:novels?|fiction|non-?fiction|poetry|biographies|memoirs|thrillers?|crime|fantasy|history|comics|manga"
    r"|mysteries|classics|science fiction|sci-?fi|books|romance|philosophy)"
)


@_rule(
    "read listen watch",
    rf"{SUBJECT}\s{SOFT}(?P<does>(?i:(?:read|listen to|watch)\s(?:mostly|mainly|only|a lot of|lots of|tons of"
    rf"|almost only|nothing but|loads of)\s[\w' -]{{3,40}}|read\s(?:[\w-]+\s){{0,2}}{_READS}))(?:\s{OFTEN})?$",
)
def _reads(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    yield lasting(clause, "hobby", does(match["does"]))


@_rule("support follow", rf"{SUBJECT}(?:'m|\sam)?\s{SOFT}(?P<verb>(?i:support))\s(?P<team>{CASED})$")
def _supports(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    if is_name(match["team"]):
        yield lasting(clause, "hobby", f"Supports {match['team']}")


@_rule(
    "been",
    rf"{SUBJECT}{HAVE}\s(?i:(?:also|actually|now|both"
    rf"|always)\s)*(?i:been)\s(?P<doing>[a-z]+ing)(?P<what>\s{REST}{{2,60}}?)?\s(?P<span>(?i:{DURATION}"
    rf"|(?:on and off|now)\s{DURATION}))$",
)
def _has_been_doing(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    doing, what = match["doing"].lower(), match["what"] or ""
    if what.strip() in ("for", "since", "on and off", "for about"):
        return
    if (
        doing in _NOT_DONE
        or (not what and doing not in _DONE_ALONE)
        or (re.search(r"\bmonths?\b", match["span"]) and doing in ("having", "getting", "using", "working"))
    ):
        return
    value = put("has been", f"{doing}{what} {match['span']}")
    label = (
        "work"
        if doing in ("working", "teaching", "running", "managing", "practising", "freelancing")
        else "home"
        if doing in ("living", "renting")
        else "habit"
    )
    yield lasting(clause, label, value)


_NOT_DONE = word_set(
    "waiting trying looking thinking wondering feeling hoping meaning wanting searching asking struggling"
    " dying saying telling dealing going being dreaming debating considering worrying procrastinating putting"
    " avoiding missing losing noticing experiencing seeing hearing reading talking following planning getting"
    " having racking"
)
_DONE_ALONE = word_set(
    "teaching painting singing dancing running swimming climbing knitting sewing cycling skiing surfing"
    " gardening meditating fishing writing acting farming nursing freelancing sailing coaching fencing boxing"
    " skating drawing photographing volunteering smoking vaping journaling journalling driving cooking baking"
    " rowing"
)
