"""What an English clause denies, said as the statement that it denies: "I'm not vegan any more" → "I'm vegan".

Nothing is known here of what may be denied: the statement is read by the rules that read any other.
"""

from __future__ import annotations

from collections.abc import Iterator

from .... import lazy_re as re
from ....intent.dates.numbers_english import ONES, ORDINAL, TENS
from ....intent.dates.words_english import WEEKDAY_NAME
from ....intent.phrases.tokens import word_set
from .english_grammar import LEAD, third
from .sentence_parts import MASK
from .words import ANIMALS, any_of

__all__ = [
    "NO_MORE",
    "WEEKDAYS",
    "denied_by",
    "named_alike",
    "of_one_kind",
    "other_days",
    "put_in_place",
    "told_of_user",
]

NO_MORE = re.compile(
    r"\b(?:no longer|any\s?more|any longer|now|these days|nowadays|stopped|quit|given up|gave up|gone off|went off|ceased)\b",
    re.IGNORECASE,
)
"""That what is denied was so until now."""
_TAIL = re.compile(
    r"[\s,]+(?:any\s?more|any longer|these days|nowadays|now|after all|at all|in the first place|in fact|actually|though|either|sorry"
    r"|thank god|thankfully|luckily|sadly|unfortunately|it turns out|as it turns out)\W*$",
    re.IGNORECASE,
)
_BEFORE = (
    r"(?i:(?:(?:actually|in fact|sorry|correction|update|good news|bad news|news|as it turns out|it turns out|it turned out"
    r"|turns out|turned out|apparently"
    r"|unfortunately|sadly|luckily|thankfully|happily|it seems|to be clear|to be fair|honestly|i mean|and yet|however|anyway|that)[\s,:]+)*"
    r"(?:(?:(?:the|my|our|new|these|those|a|an|allergy|blood)\s){0,3}"
    r"(?:tests?|results?|scans?|doctors?|gp|allergist|dentist|specialist|clinic|hospital)\s(?:now\s|just\s)?"
    r"(?:shows?|showed|says?|said|found|confirms?|confirmed|told me)\s(?:that\s)?)?)"
)
_WHO = rf"(?P<who>(?!(?i:it|that|this|there|what|which|who|these|those|not|if)\b)[^{MASK},;:!?]{{1,60}}?)"
_WHAT = rf"(?P<what>[^{MASK}]{{1,80}})$"
_SOFT = r"(?:(?:actually|in fact|even|currently|myself)\s)*"
_FORMS = (
    re.compile(
        rf"{LEAD}{_BEFORE}{_WHO}(?i:(?P<be>\s(?:am|is|are)|'(?:m|s|re))(?:\snot|n't)(?:\sgoing\sto\sbe|\sbeing)?\s{_SOFT})"
        rf"{_WHAT}"
    ),
    re.compile(
        rf"{LEAD}{_BEFORE}{_WHO}(?i:\s{_SOFT}(?P<do>don't|do not|doesn't|does not)\s{_SOFT})(?P<verb>[a-z]+)(?:\s{_WHAT}|$)"
    ),
    re.compile(
        rf"{LEAD}{_BEFORE}{_WHO}(?i:(?P<be>\s(?:am|is|are)|'(?:m|s|re))?\s(?:just\s|sadly\s)?no longer\s)(?P<verb>[a-z]*)\s?(?:{_WHAT}|$)"
    ),
    re.compile(
        rf"{LEAD}{_BEFORE}{_WHO}(?i:(?:'ve|'s|\shave|\shas)?\s(?:(?:just|recently|finally|now|completely|since)\s)*"
        rf"(?:stopped|quit|given up|gave up|ceased)\s(?:on\s)?)(?P<ing>[a-z]+ing)(?:\s{_WHAT}|$)"
    ),
    re.compile(
        rf"{LEAD}{_BEFORE}{_WHO}(?i:(?:'ve|'s|\shave|\shas)?\s(?:(?:just|recently|finally|now|completely|since|sworn)\s)*"
        rf"(?P<left>given up|gave up|quit|cut out|gone off|went off|off)\s){_WHAT}"
    ),
    re.compile(
        rf"{LEAD}{_BEFORE}{_WHO}(?i:\s(?:have|has|'ve)\s(?:got\s)?(?P<no>no)\s)(?=[^{MASK}]*\b(?:any\s?more|any longer|now)\b){_WHAT}"
    ),
    re.compile(
        rf"{LEAD}{_BEFORE}{_WHO}(?i:\s(?:(?P<never>was never|were never|never was|never were)|(?P<have>'ve never been"
        rf"|have never been|has never been)))"
        rf"\s(?:actually\s)?{_WHAT}"
    ),
    re.compile(
        rf"{LEAD}{_BEFORE}{_WHO}(?i:\s(?P<was>wasn't|was not|weren't|were not)\s)(?=[^{MASK}]*\b(?:after all|in the first place)\b){_WHAT}"
    ),
)
_MAY_DENY = re.compile(
    r"n't\b|\b(?:not|no longer|never|no|stopped|quit|gave up|given up|cut out|gone off|went off|ceased)\b",
    re.IGNORECASE,
)
_PARTLY = re.compile(
    r"\b(?:only|just|merely|simply|always|all|necessarily|exactly|entirely|completely|fully|totally|quite|really|yet|very|much|well|too|so"
    r"|that|as|today|tonight|tomorrow|until|till|unless|except|besides|alone|together|usually|often|going to|sure|certain|allowed|able"
    r"|because|for nothing|like i|like i'm|supposed|enough|both|particularly|especially|terribly|exclusively|strictly|technically"
    r"|officially|still|anybody|anyone|anything)\b",
    re.IGNORECASE,
)
"""What makes a denial one of a part, of a moment or of a degree."""
_OF_ANOTHER = re.compile(r"\b(?:your|yours|his|her|their|theirs|this|these|those)\b", re.IGNORECASE)
_OWN_ONE = re.compile(r"(?:the|my|our)\b", re.IGNORECASE)
_VERBS_OF_THINGS = ("drink", "eat", "smoke", "take", "play", "do", "like", "love", "use")


def denied_by(text: str) -> list[str]:
    """The statements that a clause denies, in the present; more than one where the words do not tell which verb is meant.

    Args:
        text: of a clause that holds, as rules read it.
    """
    if not _MAY_DENY.search(text):
        return []
    for number, form in enumerate(_FORMS):
        match = form.match(text)
        if match is None:
            continue
        who, what = match["who"].strip(), match["what"] or ""
        rest = f"{match.groupdict().get('verb') or ''} {what}"
        while (shorter := _TAIL.sub("", what)) != what:
            what = shorter
        if (
            _PARTLY.search(_TAIL.sub("", rest))
            or _OF_ANOTHER.search(what)
            or re.search(r"\b(?:not|never|n't)\b", what, re.IGNORECASE)
        ):
            return []
        said = list(_positive(number, match, who, what))
        return [" ".join(one.split()) for one in said]
    return []


def _positive(number: int, match: re.Match[str], who: str, what: str) -> Iterator[str]:
    group = match.groupdict()
    if number == 0:
        yield f"{who}{_be(match['be'])} {what}"
    elif number == 1:
        plain = match["do"].lower() in ("don't", "do not")
        verb = match["verb"].lower()
        if verb == "have" and _OWN_ONE.match(what) and NO_MORE.search(match[0]) is None:
            return  # it is only not here
        yield f"{who} {verb if plain else third(verb)} {what}"
    elif number == 2:
        be = _be(group["be"] or "")
        yield f"{who}{be} {match['verb']} {what}"
    elif number == 3:
        yield from _doing(who, match["ing"].lower(), what)
    elif number == 4:
        verbs = ("like", "love") if "off" in match["left"].lower() else _VERBS_OF_THINGS
        for verb in verbs:
            yield f"{who} {verb if _is_plural(who) else third(verb)} {what}"
    elif number == 5:
        have = "have" if _is_plural(who) else "has"
        yield from (f"{who} {have} {what}", f"{who} {have} a {what}")
    else:
        yield f"{who} {'am' if who == 'I' else 'are' if _is_plural(who) else 'is'} {what}"


def _doing(who: str, ing: str, what: str) -> Iterator[str]:
    """ "stopped learning Polish": "I'm learning Polish", "I learn Polish"."""
    be = "am" if who == "I" else "are" if _is_plural(who) else "is"
    if ing == "being":
        yield f"{who} {be} {what}"
        return
    yield f"{who} {be} {ing} {what}"
    stem = ing.removesuffix("ing")
    stems = [stem, f"{stem}e"]
    if len(stem) > 2 and stem[-1] == stem[-2]:
        stems.append(stem[:-1])
    for verb in stems:
        yield f"{who} {verb if _is_plural(who) else third(verb)} {what}"


def _be(be: str) -> str:
    return f" {be.strip().lower()}" if be[:1] == " " else be.lower()


def _is_plural(who: str) -> bool:
    return re.search(r"(?:^(?:I|we|they|you)|\band\b.*)$", who, re.IGNORECASE) is not None


# One value in the place of another

_ONE = "|".join(ONES)
_NUMBER = rf"(?:\d+(?:[.:]\d+)?|(?:{'|'.join(TENS)})(?:[\s-](?:{_ONE})\b)?|{_ONE}|hundred)"
WEEKDAYS = rf"{WEEKDAY_NAME}s?"
_MONTHS = r"(?:january|february|march|april|may|june|july|august|september|october|november|december)"
_DATE = rf"(?:(?:the\s)?\d{{1,2}}(?:st|nd|rd|th)?(?:\sof)?\s{_MONTHS}|{_MONTHS}\s\d{{1,2}}(?:st|nd|rd|th)?)"
_ORDINAL = rf"(?:{ORDINAL}|\d+(?:st|nd|rd|th))"
_KINDS = tuple(
    re.compile(rf"(?<![\w'-]){kind}(?![\w'-])", flags)
    for kind, flags in (
        (_DATE, re.IGNORECASE),
        (WEEKDAYS, re.IGNORECASE),
        (_ORDINAL, re.IGNORECASE),
        (_MONTHS, re.IGNORECASE),
        (_NUMBER, re.IGNORECASE),
        (r"(?!I\b)[A-Z][\w'-]*(?<!'s)(?:\s[A-Z][\w'-]*)*", 0),
    )
)
"""Kinds of values that are told by their form; each takes the place of one of its own kind."""
_LEADS = re.compile(r"^(?:(?:on|in|at|to|from|with|by|for|as|an?|the|my|our|every|each)\s)+", re.IGNORECASE)
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


def of_one_kind(one: str, two: str) -> bool:
    """Whether two values are told to be of one kind by their form: two numbers, two days, two names."""
    bare = [_LEADS.sub("", text.strip()) for text in (one, two)]
    return any(all(kind.fullmatch(text) for text in bare) for kind in _KINDS)


def put_in_place(statement: str, value: str) -> list[str]:
    """A statement with ``value`` in the place of what may stand for it: of its own kind, where only one such is there, or of
    the last words. ``"Levi is eight"`` and ``"seven"`` make ``"Levi is seven"``.
    """
    value = value.strip(" ,.!")
    bare = _LEADS.sub("", value)
    for kind in _KINDS:
        if not kind.fullmatch(bare):
            continue
        places = [match for match in kind.finditer(statement) if match.start() or kind is not _KINDS[-1]]
        if len(places) != 1:
            return []
        if places[0][0].casefold() == bare.casefold():
            return []
        return [statement[: places[0].start()] + bare + statement[places[0].end() :]]
    words = statement.split()
    count = len(value.split())
    lead = _LEADS.match(value)
    made = []
    if lead:
        first = lead[0].split()[0].casefold()
        alike = {"a": ("a", "an"), "an": ("a", "an")}.get(first, (first,))
        at = max((place for place, word in enumerate(words) if word.casefold() in alike), default=0)
        if at and len(words) - at <= 5:
            made.append(" ".join([*words[:at], value]))
    if not made and len(words) > count + 1:
        made += [" ".join([*words[:-size], value]) for size in (count, count + 1) if len(words) - size >= 2]
    return made


def other_days(statement: str) -> list[str]:
    """The statement of each other day of the week, where it tells one: what is on Thursdays now is on no other day."""
    places = list(_KINDS[1].finditer(statement))
    if len(places) != 1:
        return []
    match = places[0]
    day = match[0].casefold().removesuffix("s")
    return [f"{statement[: match.start()]}{one.capitalize()}s{statement[match.end() :]}" for one in _DAYS if one != day]


_NAME_IS = re.compile(
    r"^(?P<whose>(?i:my|our|the))\s(?P<what>[\w -]{2,30}?)(?:'s\sname|\sname)?\s(?i:is(?:\scalled|\snamed)?"
    r"|called)\s(?P<name>[A-Z][\w'-]+)\W*$"
)
_NAMED = re.compile(r"\b(?:name|called|named)\b", re.IGNORECASE)
_PET = re.compile(rf"(?:[\w-]+\s){{0,2}}?(?:{any_of(ANIMALS)})", re.IGNORECASE)
_ON_DAYS = re.compile(
    rf"^(?:(?:my|our|the)\s)?(?P<what>[\w' -]{{2,30}}?)\s(?i:is|are|takes place|happens)\s(?:now\s)?(?P<when>(?:on|every)\s{WEEKDAYS}"
    r"(?:\s(?:at|from)\s[^,;]{1,24})?)\W*$",
    re.IGNORECASE,
)


def named_alike(statement: str) -> list[str]:
    """The statement and what says the same in the words of other rules: a pet's name, the day of something regular."""
    said = [statement]
    if (name := _NAME_IS.match(statement)) and _PET.fullmatch(name["what"]):
        said.append(f"We have a {name['what']} called {name['name']}")
        said.append(f"Our {name['what']} is called {name['name']}")
    elif name and _NAMED.search(statement):
        said.append(f"{name['whose']} {name['what']} is called {name['name']}")
    if day := _ON_DAYS.match(statement):
        said.append(f"~ {day['what']} {day['when']}")
    return said


_NOT_LASTING = word_set(
    "meant mean means said say think thought know knew want wanted need guess see believe feel remember understand mind care get got agree"
    " recall expect suppose wish hope"
)
_OF_SELF = re.compile(
    rf"^(?:I|we)(?P<be>'m|'re|\s(?:am|are))?\s(?P<verb>[a-z]+)\b\s?(?P<rest>[^{MASK}]*)$", re.IGNORECASE
)


def told_of_user(statement: str) -> str:
    """What somebody says of themselves as an item says it of the user: "I drink tea" is ``Drinks tea``; empty where it is of others."""
    match = _OF_SELF.match(statement)
    if match is None:
        return ""
    verb, rest = match["verb"].lower(), match["rest"].strip()
    if verb in _NOT_LASTING:
        return ""
    if match["be"]:
        return f"Is {verb} {rest}".strip()
    return f"{third(verb).capitalize()} {rest}" if rest else ""
