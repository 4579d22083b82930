"""What is over, in English: "I don't live in Rome anymore", "I lost my job", "Ingrid and I broke up", "Mio died"."""

from __future__ import annotations

from collections.abc import Iterator

from .... import lazy_re as re
from ....memory_types.proposals import OF_THE_ENDED, Ends
from .couples_english import SO, WHEN, parted, together_again
from .english_grammar import LEAD, PLACE, clean
from .having import bought_instead
from .jobs_ended_english import ANY_MORE, I_HAVE, JOB_ENDINGS, bare, now_with
from .over import PARTLY, EndingRules, Over, given_up, pets_of, slots_of
from .people import KIN_PATTERN, People, is_name
from .sentences import Clause, Sentence
from .words import ANIMALS, NAME, PARTNERS, any_of
from .work_english import EMPLOYER

__all__ = ["english_endings", "is_over"]

_ANIMAL = rf"(?:{any_of(ANIMALS)})"
_RULES = EndingRules()
_MAY_END = re.compile(
    r"\b(?:no longer|not|lost|laid|fired|sacked|let go|redundant|dismissed|quit|left|leaving|gave|given|gives"
    r"|unemployed|jobless|work|job|broke|broken"
    r"|split|separated|divorced|together|dumped|died|passed|dead|put|ran|rehomed|stopped|sold|moved|resigned"
    r"|packed|won't|can't|cannot|will not"
    r"|called|parted|rehome|euthani[sz]ed|dropped|pulled|backed|withdrew|scrapped|couple|walked|rid|wrote"
    r"|longer|reconciled|made up|back|again|started|begun|began|now|these days)\b|n't\b",
    re.IGNORECASE,
)


def is_over(text: str) -> bool:
    """Whether a clause says that something is so no more, by words that belong to no value: "anymore", "no longer"."""
    return re.search(r"\b(?:any\s?more|any longer|no longer)\b|n't\b.*\bnow$", text, re.IGNORECASE) is not None


def english_endings(sentence: Sentence, people: People) -> Iterator[Over]:
    """The endings that a sentence tells of the user and of whom they live with."""
    if not _MAY_END.search(sentence.text):
        return
    couple = [*parted(sentence), *together_again(sentence)]
    yield from couple
    taken = [(one.start, one.end) for one in couple]
    for clause in sentence.clauses:
        if clause.holds and (other := _OTHERS_JOB.search(clause.text)) and is_name(other["name"] or other["kin"]):
            yield _lost_by(other, clause, people)
    yield from now_with(sentence)
    for clause in sentence.clauses:
        if not clause.holds or any(a <= clause.start < b for a, b in taken):
            continue
        yield from JOB_ENDINGS.read(clause) or _RULES.read(clause)


# Home


@_RULES.rule(
    rf"{LEAD}(?i:(?:I|we)(?:'m|'re|\sam|\sare)?\s(?:(?P<ever>no longer)|(?:don't|do not|not))\s(?:live|living"
    rf"|reside|based)"
    rf"\s(?:in|at|near)\s(?:the\s)?){PLACE}(?P<more>\s(?i:{ANY_MORE}))?"
)
def _left_home(match: re.Match[str], clause: Clause) -> Iterator[Over]:
    if not PARTLY.match(clause.text, match.end()):
        yield from _home(match["place"], clause, sure=bool(match["ever"] or match["more"]))


@_RULES.rule(
    rf"{LEAD}(?i:{I_HAVE}(?:moved (?:out of|away from)|left)\s){PLACE}(?i:\s(?P<good>for good|behind))?(?!.*\sto\s)"
)
def _moved_away(match: re.Match[str], clause: Clause) -> Iterator[Over]:
    if match["good"] or "moved" in match[0].lower():
        yield from _home(match["place"], clause, sure=False)


def _home(place: str, clause: Clause, *, sure: bool) -> Iterator[Over]:
    if is_name(place):
        yield Over.of(
            clause,
            Ends(slots=("home_city",), words=place, needed=not sure),
            label="home",
            value=f"No longer lives in {place}",
            stated=f"no longer in {place}",
            slot="home_city",
        )


# Who and what one is, does and likes


@_RULES.rule(
    rf"{LEAD}(?i:I(?:'m|\sam)\s(?:no longer|not(?=.*\b(?:any\s?more"
    rf"|any longer)\b))\s)(?P<what>[^\ue000,.;:!?()]{{3,50}}?)(?:\s(?i:{ANY_MORE}))?\W*$"
)
def _is_no_more(match: re.Match[str], clause: Clause) -> Iterator[Over]:
    what = clean(match["what"])
    plain = bare(what)
    yield Over.of(
        clause,
        Ends(labels=("*",), words=plain, exact=True, needed=True),
        label=OF_THE_ENDED,
        value=f"Is no longer {what}",
        stated=f"no longer {plain}",
    )


_MEAT = r"(?:meat|chicken|beef|pork|lamb|bacon|ham|steaks?|poultry|sausages|turkey)"
_ANIMAL_FOOD = r"(?:dairy|cheese|eggs?|milk|butter|yogh?urt|animal products)"
_DRINK = r"(?:alcohol|wine|beer|drinking)"
_NOT_WITH = (
    (_MEAT, ("vegetarian", "vegan", "pescatarian", "pescetarian", "plant-based")),
    (r"(?:fish|seafood|salmon|tuna)", ("vegetarian", "vegan", "plant-based")),
    (_ANIMAL_FOOD, ("vegan", "plant-based")),
    (_DRINK, ("teetotal", "teetotaller", "sober")),
)
"""Who eats or drinks this as a rule is none of these."""


@_RULES.rule(
    rf"{LEAD}(?i:I(?:['’](?:m|ve)|\sam|\shave)?\s{SO}(?:(?P<begun>(?:started|begun|began)(?:\sto)?|(?:went|gone|going|go)\sback\s(?:to|on)|back\s(?:to|on))\s)?"
    rf"(?:(?:eat|drink|hav)(?:e|ing)?\s)?(?:(?:some|a bit of|a little|red|white|cow['’]s)\s)?"
    rf"(?P<food>{_MEAT}|fish|seafood|salmon|tuna|{_ANIMAL_FOOD}|{_DRINK})(?P<again>\s(?:again|now|these days))?)"
    r"(?=\W*$|\s(?i:since|in|after|because|last|this|for|and|but|as)\b)"
)
def _eats_again(match: re.Match[str], clause: Clause) -> Iterator[Over]:
    if not (match["begun"] or match["again"]):
        return
    food = match["food"].lower()
    diets = next(diets for foods, diets in _NOT_WITH if re.fullmatch(foods, food))
    drunk = re.fullmatch(_DRINK, food) is not None
    verb, what = ("drink", "alcohol") if food == "drinking" else ("drink" if drunk or food == "milk" else "eat", food)
    yield Over.of(
        clause,
        *(Ends(labels=("diet", "trait"), words=diet) for diet in diets),
        Ends(labels=("avoids",), words=f"not {verb} {what}", exact=True),
        label="habit",
        value=f"{verb.capitalize()}s {what} now",
    )


_DOING = r"play|do|practise|practice|collect|learn|train for|study|ride|drive|speak|run"


@_RULES.rule(
    rf"{LEAD}(?i:I(?:'ve|\shave)?\s{SO}(?:(?:stopped|quit|given up|gave up|dropped)\s(?P<ing>(?:play|practis"
    rf"|practic|collect|learn|study|train|rid|driv)ing)"
    rf"|(?:no longer|don't(?=.*\b(?:any\s?more|any longer)\b)|do not(?=.*\b(?:any\s?more"
    rf"|any longer)\b))\s(?P<verb>{_DOING}))\s(?:for\s|to\s)?(?:the\s)?)"
    rf"(?P<what>[^\ue000,.;:!?()]{{3,40}}?)(?:\s(?i:{ANY_MORE}))?(?i:{WHEN})"
)
def _does_no_more(match: re.Match[str], clause: Clause) -> Iterator[Over]:
    if PARTLY.match(clause.text, match.end("what")):
        return  # "I don't play tennis on Mondays anymore"
    verb = {
        "play": "plays",
        "collect": "collects",
        "learn": "learns",
        "study": "studies",
        "drive": "drives",
        "driv": "drives",
        "ride": "rides",
    }
    stem = re.sub(r"ing$", "", (match["ing"] or match["verb"]).lower())
    shown = verb.get(stem, "trains for" if stem.startswith("train") else "does")
    what = clean(match["what"])
    yield Over.of(
        clause,
        Ends(labels=("hobby", "studies", "language", "languages", "vehicle", "habit"), words=what, needed=True),
        label=OF_THE_ENDED,
        value=f"No longer {shown} {what}",
        stated=f"no longer {what}",
    )


@_RULES.rule(
    rf"{LEAD}(?i:{I_HAVE}(?:sold|scrapped|got rid of|gotten rid of|given away|gave away|wrote off|written off"
    rf"|crashed and wrote off)\s(?:my|our|the)\s)"
    rf"(?P<what>(?:[\w-]+\s){{0,2}}?[\w-]+)(?i:{WHEN})"
)
def _sold(match: re.Match[str], clause: Clause) -> Iterator[Over]:
    what, new = match["what"], bought_instead(clause.text)
    words = (
        ""
        if re.fullmatch(r"(?:old\s)?(?:car|van|motorbike|motorcycle|scooter|bike|vehicle)", what, re.IGNORECASE)
        else what
    )
    yield Over.of(
        clause,
        Ends(slots=("vehicle",), words=words, needed=True),
        label="vehicle",
        value=f"Has {new}, no longer the {what}" if new else f"No longer has the {what}",
        stated=new or f"no longer {what}",
        slot="vehicle",
    )


_OTHERS_JOB = re.compile(
    rf"{LEAD}(?:(?i:(?:my|our)\s(?:\w+\s)?(?P<kin>{KIN_PATTERN}))(?:,?\s(?P<kinname>{NAME}))?"
    rf"|(?P<name>{NAME}))\s(?i:(?:has\s|had\s|'s\s|just\s|recently\s)*"
    rf"(?:(?:lost|quit|left|gave up)\s(?:her|his|their)\s(?:\w+\s)?job\b"
    rf"(?:\s(?:at|with|for)\s(?:the\s(?=(?-i:[A-Z])))?(?-i:{EMPLOYER}))?|(?:was|were|got"
    r"|been)\s(?:just\s)?(?:laid off|fired|sacked|made redundant|let go)\b"
    r"|is\s(?:now\s)?(?:unemployed|out of work)\b))"
)


def _lost_by(match: re.Match[str], clause: Clause, people: People) -> Over:
    name, kin = match["name"] or match["kinname"] or "", (match["kin"] or "").lower()
    known = people.named(name) if name else people.only(kin)
    who = (known.name if known else name) or kin
    shown = known.shown if known else name or f"The user's {kin}"
    words = bare(match["org"] or "")
    parts = ("employer",) if words else ("employer", "job_title")
    held = Ends(slots=slots_of(who.lower().replace(" ", "_"), *parts), words=words, needed=True)
    how = "left" if re.search(r"quit|left|gave", match[0]) else "lost"
    return Over.of(clause, held, kind="semantic", label=who, value=f"{shown} has {how} the job")


# Who died or is gone


_GONE = (
    r"(?:has\s|'s\s|sadly\s|just\s|suddenly\s|peacefully\s|recently\s|finally\s)*(?:died|passed away|passed on"
    r"|is dead|is no longer with us"
    r"|(?:was|has been|had to be)\sput (?:down|to sleep)|was euthani[sz]ed|ran away for good|has been rehomed"
    r"|was rehomed)"
)
_DIED = (
    rf"(?:(?i:(?:my|our)\s(?:[\w-]+\s){{0,2}}?(?P<rel>{KIN_PATTERN}"
    rf"|{_ANIMAL})),?(?:\s(?P<relname>{NAME}),?)?|(?P<name>{NAME}))\s(?i:{_GONE})\b"
)


@_RULES.rule(rf"{LEAD}{_DIED}")
def _died(match: re.Match[str], clause: Clause) -> Iterator[Over]:
    yield from _dead(match["name"] or match["relname"] or "", (match["rel"] or "").lower(), match, clause)


@_RULES.rule(
    rf"{LEAD}(?i:we|I)(?:'ve)?\s(?i:{SO}(?:had to (?:put|have)|put|had|gave|rehomed|had to rehome|had to give)\s)"
    rf"(?:(?i:(?:my|our)\s(?:\w+\s)?(?P<rel>{_ANIMAL}))(?:,?\s(?P<relname>{NAME}))?"
    rf"|(?P<name>{NAME}))(?P<way>\s(?i:put to sleep|put down|down|to sleep|away|up for adoption))?"
)
def _put_down(match: re.Match[str], clause: Clause) -> Iterator[Over]:
    if match["way"] or "rehome" in match[0].lower():
        yield from _dead(match["name"] or match["relname"] or "", (match["rel"] or "").lower(), match, clause)


def _dead(name: str, relation: str, match: re.Match[str], clause: Clause) -> Iterator[Over]:
    if name and not is_name(name):
        return
    gone = "is gone" if re.search(r"rehome|away$|adoption|ran away", match[0]) and "passed" not in match[0] else "died"
    shown = f"{name} {gone}" if name else f"Their {relation} {gone}"
    low = name.lower()
    slot = f"pet.{low}" if name else ""
    yield Over.of(clause, pets_of(name, relation), label="pet", value=shown, stated=shown, slot=slot)
    if name or relation in PARTNERS:
        lost = Ends(slots=("partner",), words=name or relation, needed=True)
        yield Over.of(clause, lost, label="partner", value=shown, stated=shown, slot="partner.name")
    who = (low or relation).split()[0]
    if who:
        held = slots_of(who, "home_city", "employer", "job_title", "age")
        yield Over.of(
            clause,
            Ends(slots=held, needed=True),
            kind="semantic",
            label=name or relation,
            value=shown if name else f"The user's {relation} {gone}",
        )


# Plans


@_RULES.rule(
    rf"{LEAD}(?i:(?:I|we)(?:(?:'m|\sam|'re|\sare)\s(?:no longer|not)\s(?:going to\s)?|\s(?:won't|will not|can't"
    rf"|cannot|couldn't|am not|aren't|decided not to|no longer)\s)"
    r"(?:be\s)?(?:able to\s)?(?:run|running|do|doing|make|making|attend|attending|go to|going to|come to"
    r"|coming to|join|joining|play(?:ing)? (?:in|at)|take part in"
    r"|taking part in|be at|ride|riding|swim|swimming|walk|walking|take|taking|race|racing|train for"
    r"|training for|compete in)\s(?:the|my|our|that)\s)"
    rf"(?P<what>(?:[\w'&-]+\s){{0,4}}?[\w'&-]+)(?i:{WHEN}|\s(?:after all|any\s?more|either|now)|\W*$)"
)
def _will_not(match: re.Match[str], clause: Clause) -> Iterator[Over]:
    if _ONLY_NOW.search(clause.text, match.end("what")):
        return
    place = _PLACE_OF.match(clause.text, match.end("what"))
    named = place is not None and is_name(place["where"])
    yield from _given_up(f"{match['what']} {place['where']}" if place and named else match["what"], clause)


_PLACE_OF = re.compile(rf"\s(?:in|at)\s(?:the\s)?(?P<where>{NAME})")
_ONLY_NOW = re.compile(
    r"^\s(?:today|tonight|this (?:morning|afternoon|evening)|yet|until|till|before)\b", re.IGNORECASE
)


@_RULES.rule(
    rf"{LEAD}(?i:{I_HAVE}(?:(?:dropped|pulled|backed|bowed|dropping|pulling) out of|withdrew from"
    rf"|withdrawn from|given up on|gave up on|stopped training for)\s(?:the|my|our)\s)"
    rf"(?P<what>(?:[\w'&-]+\s){{0,4}}?[\w'&-]+)(?i:{WHEN})"
)
def _pulled_out(match: re.Match[str], clause: Clause) -> Iterator[Over]:
    yield from _given_up(match["what"], clause)


def _given_up(what: str, clause: Clause) -> Iterator[Over]:
    what = clean(what)
    if re.fullmatch(
        r"(?i:time|money|point|same|one|thing|dishes|shopping|cooking|effort|mistake|most|best|bus|train|lead)", what
    ):
        return
    yield given_up(what, clause)
