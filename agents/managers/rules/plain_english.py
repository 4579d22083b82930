"""What the rules for plain tellings in English share: the subject, what is told of the moment, and how it is put of the user.

A plain telling is a clause of one's own life that no other rule has read: "I sing in a choir", "I'm retired", "I grew up on
a farm". Its form decides: "I" or "we", a verb of a class that tells what lasts, and a thing of a class that one has, does
or is. Small talk has the same subject and other verbs and things: "I have a question", "I take your point".
"""

from __future__ import annotations

from .... import lazy_re as re
from ....intent.dates.numbers_english import ONES, TENS
from ....intent.dates.words_english import MONTH_NAME, WEEKDAY_NAME
from ....intent.phrases.tokens import word_set
from .english_grammar import LEAD, Fact
from .sentences import Clause
from .words import NAME, TO_TWELVE

__all__ = [
    "AGO",
    "AM",
    "ARE",
    "BE_NOW",
    "CASED",
    "COUNT",
    "DURATION",
    "EVER",
    "HAVE",
    "HAVE_JUST",
    "HOW_OFTEN",
    "LEADS",
    "OFTEN",
    "PASTLY",
    "REST",
    "SOFT",
    "SUBJECT",
    "WHEN_PAST",
    "does",
    "how_often",
    "is_base_verb",
    "is_plain",
    "lasting",
    "of_them",
    "put",
    "third",
]

CASED = rf"(?-i:{NAME})"
"""A name within a part of a pattern in which case does not count."""
LEADS = (
    r"(?i:^(?:(?:oh|well|and|but|so|also|anyway|yes|yeah|no|hi|hello|hey|btw|by the way|actually|fyi|right|because"
    r"|since|as|that|plus)[\s,]+)*)"
)
SUBJECT = rf"{LEAD}(?i:I|we)"
AM = r"(?i:'m|\sam)"
ARE = r"(?i:'m|\sam|'re|\sare)"
HAVE = r"(?i:'ve|\shave)"
_USUALLY = "always|usually|often|normally|generally|mostly|sometimes|regularly|typically"
_SELDOM = "rarely|seldom|hardly ever|hardly|almost never|almost always|occasionally|never|frequently"
_SOFT = f"{_USUALLY}|also|still|now|currently|only|actually|really|basically|mainly"
SOFT = rf"(?i:(?:(?:{_SOFT})\s)*)"
"""Adverbs between the subject and its verb that leave a telling what it is."""
HOW_OFTEN = rf"(?P<soft>(?i:(?:(?:{_SOFT}|{_SELDOM}|mostly just|almost only)\s)*))"
_KEPT = re.compile(rf"\b(?:{_USUALLY}|only|mainly|{_SELDOM}|almost only)\b", re.IGNORECASE)
"""Those of them that belong to what is told."""
REST = r"(?:[^\ue000.,;:!?()]|[,.:](?=\d))"
COUNT = (
    rf"(?:\d{{1,4}}|an?|{TO_TWELVE}|fifteen|twenty|thirty|forty|fifty|a (?:couple|few|dozen)"
    r"(?: of)?|several|many|some|dozens of)"
)
_NUMBER = (
    rf"(?:\d{{1,3}}|an?|{'|'.join(ONES)}|(?:{'|'.join(TENS[:5])})(?:[- ](?:{'|'.join(ONES[:9])}))?"
    r"|several|many|a couple of|a few)"
)
_ABOUT = r"(?:(?:about|around|over|almost|nearly|more than|roughly|exactly|the (?:last|past))\s)?"
DURATION = (
    rf"(?:(?:for\s)?{_ABOUT}{_NUMBER}(?:\sand a half)?\s(?:years?|months?|decades?)(?:\snow)?|since\s(?:about\s"
    rf"|around\s)?(?:(?:19|20)\d\d"
    rf"|{MONTH_NAME}(?:\s(?:19|20)\d\d)?"
    r"|(?:I|we)\s(?:was|were)\s[\w -]{1,25}|childhood|birth|school|university|college|my\s[\w-]+(?:\s[\w-]+)?)"
    r"|for (?:years|decades|most of my life|ages|a long time)|all my life|my (?:whole|entire) life)"
)
AGO = rf"(?:{_ABOUT}{_NUMBER}\s(?:years|decades|year)\sago)"
WHEN_PAST = (
    rf"(?:(?:back\s)?in\s(?:(?:{MONTH_NAME}|the (?:summer|spring|autumn|winter) of)\s)?(?:19|20)\d\d|{AGO}"
    rf"|when\s(?:I|we)\s(?:was|were|first|left|finished|started|moved|lived|studied|worked|turned)\b[\w' -]{{0,40}}"
    r"|as\san?\s(?:\w+\s)?(?:child|kid|boy|girl|baby|toddler|teenager|teen|student|young \w+|adult|infant)|in"
    r" my (?:\w+\s)?(?:teens|twenties|thirties"
    r"|forties|fifties|sixties|youth|childhood)|(?:at|in|during|after|before) (?:school|university|uni|college"
    r"|primary school|high school|the army|graduating"
    r"|graduation|my studies)|at (?:the age of\s)?(?:\d{1,2}|[a-z]+teen|twenty|thirty|forty|fifty|sixty)"
    r"|in the (?:(?:early|late|mid)[- ])?(?:(?:19|20)?\d0s|(?:sixties|seventies|eighties|nineties)))"
)
BE_NOW = r"(?i:(?:also|actually|still|now|currently|both|all|always|so|already|basically)\s)*"
HAVE_JUST = rf"{HAVE}\s(?i:(?:also|actually|now|both|just|recently|only|already|since|really)\s)*"
PASTLY = r"(?i:(?:also|actually|just|once|then|first|originally|finally|recently|both|only)\s)*"
EVER = r"(?:once|twice|(?:two|three|four|five|six|several) times|before)"
_UNIT = (
    r"(?:day|morning|evening|night|afternoon|week|weekday|weekend|fortnight|month|quarter|year|summer|winter"
    r"|spring|autumn|fall|season)"
)
_OFTEN = (
    rf"(?:(?:almost\s|nearly\s)?(?:every|each)\s(?:single\s|other\s|second\s|third\s|few\s)?(?:{_UNIT}s?|{WEEKDAY_NAME}|{MONTH_NAME}"
    r"|christmas|easter|halloween)(?:\s(?:morning|evening|night"
    r"|afternoon))?"
    rf"|(?:on\s)?(?:(?:once|twice|thrice|(?:two|three|four|five|six|\d)(?:\s(?:or|to)\s\w+)?\s(?:times|days"
    rf"|evenings|mornings|nights|hours|afternoons))"
    rf"\s(?:a|per|each|every)\s{_UNIT})"
    rf"|on\s{WEEKDAY_NAME}s(?:\s(?:morning|evening|night|afternoon|lunchtime)s?)?(?:(?:,\s{WEEKDAY_NAME}s)*,?\s(?:and|or)\s{WEEKDAY_NAME}s)?"
    rf"|on\s{WEEKDAY_NAME}\s(?:mornings|evenings|nights|afternoons)|(?:at|on)\s(?:the\s)?weekends|on weekdays|in the"
    rf" (?:mornings|evenings|afternoons|summers)"
    rf"|in (?:the\s)?(?:summer|winter|spring|autumn)|most\s(?:{WEEKDAY_NAME}s|days"
    r"|evenings|weekends|mornings|nights|weeks"
    r"|summers|afternoons|years)|daily|weekly|monthly"
    r"|all year round|first thing in the morning|(?:before|after) (?:breakfast|lunch|dinner|bed|school|work)"
    r"|on my (?:lunch break|days? off|way to work))"
)
OFTEN = rf"(?i:{_OFTEN})"

_POINTS = re.compile(
    r"\b(?:this|that|these|those|it|its|it's|itself|him|her|hers|his|them|they|they're|their|theirs|he|she|you"
    r"|your|yours|you're|u|ur|there|ones|(?:the|another|which|any|every|no|new|old|good)\sone"
    r"|same|such|which|what|whatever|who|whose|why|(?<!know\s)how|the above|the following)\b",
    re.IGNORECASE,
)
_THE_MOMENT = re.compile(
    r"\b(?:today|tonight|tomorrow|yesterday|right now|just now|for now|at the minute|(?:this|last|next)"
    r" (?:morning|afternoon|evening|night|week|month|weekend"
    r"|time|\w+day|semester|term)|again|yet|so far|at last|suddenly|immediately|already|asap|anyway|instead"
    r"|earlier|later|soon|meanwhile|the other day"
    r"|(?:minutes?|hours?|days?|weeks?) ago)\b|\b(?:lol|haha|hehe|lmao|omg|literally|practically|figuratively)\b",
    re.IGNORECASE,
)
_UNREAL = re.compile(
    r"\b(?:if|unless|whether|would|could|should|might|may|maybe|perhaps|probably|will|won't|shall|must|'ll|'d"
    r"|guess|suppose|wish|hope"
    r"|pretend|imagine|let's|please|help|gonna|wanna|gotta|supposed|ought)\b|\?",
    re.IGNORECASE,
)

_PAST = word_set(
    "went did was were had got took made came saw gave said told thought knew found left felt kept held"
    " brought bought caught taught sought fought"
    " sold sent spent built lent meant met paid heard lost won ran sat stood began sang swam drank broke"
    " chose drove flew forgot froze grew rode rose"
    " shook spoke stole threw woke wore wrote ate fell became blew drew led fed shot slept swept wept"
    " understood stuck struck hung dug dreamt"
    " learnt burnt spelt lit bit hid slid tore swore beat bent bled bound clung crept dealt flung fled ground"
    " laid lain rang shone shrank sank spun sprang"
    " stung strode strove swung wound wrung been gone done seen known taken given"
)
_NO_ACT = word_set(
    "am are is was were be been being have has had having do does did can could will would shall should may"
    " might must ought need dare"
    " think feel want hope wonder know mean guess suppose believe wish seem look sound ask say tell forget"
    " remember understand realise realize agree disagree"
    " notice find found hear appreciate thank care mind matter deserve expect assume imagine doubt swear"
    " promise bet regret admit confess apologise apologize"
    " love like hate dislike prefer enjoy adore struggle worry cry die suffer miss lose fail keep continue"
    " stop happen tend learn fall break not never"
    " don cannot just and or to the a an my our so too"
)
_SEEMS = word_set("sing bring swing ring need feed breed weed shed bed apply rely fly supply reply ping")
_FIT = {
    "have": "has",
    "do": "does",
    "go": "goes",
    "be": "is",
    "am": "is",
    "are": "is",
    "was": "was",
    "were": "was",
    "can": "can",
    "cannot": "cannot",
    "can't": "cannot",
    "don't": "does not",
    "dont": "does not",
    "'m": "is",
    "'re": "is",
    "'ve": "has",
    "haven't": "has not",
    "wasn't": "was not",
    "weren't": "was not",
    "didn't": "did not",
    "never": "never",
}
_OF_THEM = (
    (re.compile(r"\b(?:I|we)(?:'m|'re|\sam|\sare)\b", re.IGNORECASE), "they are"),
    (re.compile(r"\b(?:I|we)(?:'ve)\b", re.IGNORECASE), "they have"),
    (re.compile(r"\b(?:I|we)\swas\b", re.IGNORECASE), "they were"),
    (re.compile(r"\b(?:I|we)\b", re.IGNORECASE), "they"),
    (re.compile(r"\b(?:my|our)\b", re.IGNORECASE), "their"),
    (re.compile(r"\b(?:mine|ours)\b", re.IGNORECASE), "theirs"),
    (re.compile(r"\b(?:me|us)\b"), "them"),
    (re.compile(r"\b(?:myself|ourselves)\b", re.IGNORECASE), "themselves"),
)
_AND_DOES = re.compile(
    r"(?<=\sand\s)(?:do|go|have|play|run|swim|walk|read|cook|watch|eat|drink|sing|teach|write|make|take)(?=\s)"
)
_END = re.compile(
    r"\s(?:either|too|as well|though|by the way|btw|actually|of course|you know|nowadays|these days|anymore"
    r"|any more|myself)$",
    re.IGNORECASE,
)
_WE_ALL = re.compile(r"\bwe\s(?:all|humans|people)\b", re.IGNORECASE)


def is_plain(text: str) -> bool:
    """Whether a clause tells something by itself: it points at nothing said elsewhere, of no moment, and supposes nothing."""
    return not (_POINTS.search(text) or _THE_MOMENT.search(text) or _UNREAL.search(text) or _WE_ALL.search(text))


def is_base_verb(word: str) -> bool:
    """Whether what stands behind "I" may be a verb of what one does, in the present: "swim", not "swam", "think" or "am"."""
    if word in _PAST or word in _NO_ACT:
        return False
    return word in _SEEMS or not word.endswith(("ed", "ing", "ly"))


def of_them(text: str) -> str:
    """What the user says of themselves, as it is told of them: "my sister and I" → "their sister and they"."""
    for form, by in _OF_THEM:
        text = form.sub(by, text)
    return text


def third(verb: str) -> str:
    """The verb of "I" or "we" as that of the user: "study" → "studies", "am" → "is"."""
    verb = verb.casefold().strip()
    if verb in _FIT:
        return _FIT[verb]
    if verb.endswith("y") and verb[-2:-1] not in "aeiou":
        return f"{verb[:-1]}ies"
    return f"{verb}es" if verb.endswith(("ch", "sh", "s", "x", "z", "o")) else f"{verb}s"


def put(verb: str, rest: str = "") -> str:
    """A telling of the user in a sentence without its subject: ("keep", "bees") → "Keeps bees"."""
    said = _END.sub("", of_them(" ".join(rest.split()).strip(" ,;:!-")))
    said = _AND_DOES.sub(lambda also: third(also[0]), said)
    whole = f"{of_them(verb)} {said}".strip()
    return whole[:1].upper() + whole[1:]


def does(said: str) -> str:
    """A telling of the user from what "I" or "we" do: "keep bees" → "Keeps bees"."""
    verb, _, rest = said.partition(" ")
    return put(third(verb), rest)


def how_often(soft: str) -> str:
    """What of the adverbs before a verb belongs to what is told: "usually", not "actually"; with a space behind it."""
    return "".join(f"{word.lower()} " for word in _KEPT.findall(soft))


def lasting(clause: Clause, label: str, value: str, *, slot: str = "", stated: str = "", starts: bool = False) -> Fact:
    """The fact of a plain telling."""
    return Fact(
        label=label, value=value, clause=clause, slot=slot, stated=stated, starts=starts, confidence=0.75, plain=True
    )
