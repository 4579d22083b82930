"""Changes of an event without a new day, in English: "the dinner is now at 8", "Prague is postponed by a week"."""

from __future__ import annotations

from collections.abc import Iterator

from .... import lazy_re as re
from ....intent.dates.hours_english import english_hour
from ....intent.dates.numbers_english import COUNT, number
from ....intent.dates.words_english import WEEKDAY_NAME
from ....intent.phrases.tokens import word_set
from .event_words import LEAD
from .sentences import Clause, Sentence
from .shifts import Shift

__all__ = ["english_shifts"]

_UNITS = {"min": "minute", "hr": "hour", "h": "hour"}
_AMOUNT = (
    r"(?:(?P<half>half\s(?:an\s)?hour|(?:a\s)?half[- ]hour)|(?P<quarter>(?:a\s)?quarter\sof\san\shour)|(?P<fortnight>(?:a\s)?fortnight)"
    rf"|(?P<count>a\sfurther|another|{COUNT})"
    r"(?:\s(?:full|whole|more|extra))?[\s-](?P<unit>minutes?|mins?|hours?|hrs?|days?|weeks?|months?)(?P<plus>\sand\sa\shalf)?)(?![\w-])"
)
_LATER = (
    r"(?P<later>postponed|delayed|deferred|pushed(?:\s(?:back|out))?|put\s(?:back|off)|moved\s(?:back|out)|shifted\sback|set\sback"
    r"|held\sback|slipped(?:\sback)?)"
)
_EARLIER = r"(?P<earlier>brought\sforward|moved\s(?:up|earlier)|pulled\s(?:forward|in))"
_BE = r"(?:is|are|was|were|has|have|had|got|gets|been|being|be|will|just|now|also|actually|only|again|to)"
_BY = r"(?:\s(?:by|for|again|only|at\sleast))*"
_PASSIVE = re.compile(
    rf"(?P<aux>(?:(?<=\w)['’]s)?(?:\s{_BE})*)(?:^|\s)(?:{_LATER}|{_EARLIER}){_BY}\s{_AMOUNT}", re.IGNORECASE
)
"""What stands before it is what moves, or who moves it where no "is" does."""
_WHOLE = r"(?:it|them|that|this|everything|(?:the|my|our|his|her|their|this|that)\s(?:[\w'’&-]+\s){0,5}?[\w'’&-]+)"
_ACTIVE = re.compile(
    r"(?:\b(?P<must>(?:had|have|has|having|decided|agreed|['’]ll\shave|will\shave|need|needed)\sto|will|['’]ll)\s)?"
    r"\b(?P<verb>postponed?|delay(?:ed)?|deferr?(?:ed)?|push(?:ed)?|put|moved?|brought|bring|pull(?:ed)?|shift(?:ed)?|slipped)"
    rf"\s(?:(?P<first>back|off|forward|up)\s)?(?P<what>{_WHOLE})(?:\s(?P<way>back|off|out|forward|up))?{_BY}\s{_AMOUNT}"
    r"(?:\s(?P<side>later|earlier|sooner))?",
    re.IGNORECASE,
)
_IS = (
    r"(?:(?<=\w)['’](?:s|re|ll\sbe)|\s(?:is|are|will\sbe|is\sgoing\sto\sbe|starts?|begins?|takes\splace|kicks\soff|leaves|departs|arrives|happens"
    r"|will\s(?:start|begin|take\splace|leave|depart|arrive))"
    r"|\s(?:has|have|had)\sbeen\s(?:moved|set|scheduled|rescheduled|shifted))"
)
_STILL = r"(?:\s(?:now|actually|just|instead|only|then|also|about|exactly))*"
_SIDE = re.compile(
    rf"(?P<be>{_IS}){_STILL}\s{_AMOUNT}\s(?P<side>later|earlier|sooner)(?P<more>[^,;]{{0,40}})", re.IGNORECASE
)
_HOUR = (
    r"(?P<clock>(?:half|quarter)\s(?:past|to)\s\w+|half\s\w+|noon|midday|midnight|\d{1,2}[:.h]\d\d(?:\s?[ap]\.?m\b\.?)?|\d{1,2}\s?[ap]\.?m\b\.?"
    r"|\d{1,2}(?:\so['’]?clock)?|(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)(?:\so['’]?clock|\sthirty)?)"
    r"(?:\ssharp|\sin\sthe\s(?:morning|afternoon|evening)|\sat\snight)?"
)
_ENDS = r"(?=\s*(?:$|[,.;!?)(–—]|(?:instead|now|rather\sthan|not|already|and|but|because|since|so|as|for|please|in\splace|at|in|with)\b))"
_TO = r"(?:at|for|from|to|until|till)\s(?:about\s|around\s|exactly\s)?"
_NOW_AT = re.compile(
    rf"(?P<be>{_IS})(?:\snow(?:\s(?:only|just|starting|beginning))?\s(?:at|from|for)\s(?:about\s|around\s)?{_HOUR}{_ENDS}"
    rf"|{_STILL}\s(?:at|from)\s(?:about\s|around\s)?{_HOUR.replace('clock', 'then')}\s(?:now|instead|rather\sthan|not)\b)"
    rf"|(?P<now>\snow\s(?:starts?|begins?|takes\splace|leaves|departs|arrives)\s(?:at|from)\s){_HOUR.replace('clock', 'third')}{_ENDS}",
    re.IGNORECASE,
)
_CHANGED = (
    r"(?:moved|pushed|put|brought|shifted|postponed|delayed|rescheduled|changed|switched|set)(?:\s(?:back|forward|up))?"
)
_MOVED_AT = re.compile(
    rf"(?P<aux>(?:(?<=\w)['’]s)?(?:\s{_BE})+)\s{_CHANGED}(?:\sfrom\s[\w:.]+(?:\s?[ap]m)?)?\s{_TO}{_HOUR}{_ENDS}",
    re.IGNORECASE,
)
_MOVES_AT = re.compile(
    rf"\b(?P<must>(?:had|have|has|decided|agreed)\sto\s)?(?P<verb>moved?|pushed?|changed?|shifted|brought|bring|put|rescheduled?|switched)"
    rf"\s(?P<what>{_WHOLE})(?:\s(?:back|forward|up))?(?:\sfrom\s[\w:.]+(?:\s?[ap]m)?)?\s(?:to|until|till|for)\s{_HOUR}{_ENDS}",
    re.IGNORECASE,
)
_SAME_DAY = re.compile(
    rf"\bsame\s(?:day|date|evening|morning|afternoon|night)(?:\s(?:and\splace|just|only|but|now))*,?\s(?:but\s|just\s|only\s|now\s)*at\s{_HOUR}{_ENDS}",
    re.IGNORECASE,
)
_TIME_OF = re.compile(r"^(?:the\s|new\s)*(?:start(?:ing)?\s)?time\s(?:of|for)\s(?=\w)", re.IGNORECASE)
_PAST = word_set(
    "postponed delayed deferred pushed brought pulled shifted slipped moved put changed rescheduled switched"
)
_DENIES = re.compile(
    r"n['’]t\b|\b(?:not|never|no longer|nobody|whether|asked|asks|asking|wants?|wanted|like to|hopes?|hoping|wish|plans? to|used to"
    r"|usually|always|often|sometimes|normally|every|each|almost|nearly|last (?:year|month|week|time)|years? ago|back then|if|unless"
    r"|can|should)\b"
    rf"|\b{WEEKDAY_NAME}s\b",
    re.IGNORECASE,
)
"""What makes such words no news of a change: denied, asked for, wished, or how it always is."""
_SAID_THAT = re.compile(
    r"\b(?:that|say|said|says|saying|told\s(?:me|us)|heard|learned|announced|because|since|so|and|but|means|news|update|fyi|unfortunately|sadly"
    r"|apparently|luckily|well|anyway)\b[\s,:]*",
    re.IGNORECASE,
)
_PRONOUN = re.compile(
    r"^(?:it|its|that|this|they|everything|them|he|she|we|i|you|there|which|which one|the (?:thing|date|day|time)|start)?$",
    re.IGNORECASE,
)
_SOMEBODY = re.compile(r"^(?:i|we|they|he|she|you|somebody|someone)$", re.IGNORECASE)
_NOT_OF = re.compile(r"\bnot\s[\w:.]+(?:\s?[ap]m)?\W*$", re.IGNORECASE)


def english_shifts(sentence: Sentence) -> Iterator[Shift]:
    """The changes that a sentence tells of events, where it tells no day to which they move."""
    for place, clause in enumerate(sentence.clauses):
        text = clause.text
        if not clause.holds or _DENIES.search(_NOT_OF.sub("", text)):
            continue
        found = _by_amount(clause) or _to_hour(clause)
        rest = sentence.text[clause.start - sentence.start :] if "same " in text.lower() else ""
        if found is None and (match := _SAME_DAY.search(rest)):
            what = text[: match.start()] if match.start() else ""
            if not what.strip(" ,:") and place and _holds_name(sentence.clauses[place - 1]):
                what = sentence.clauses[place - 1].text
            found = _at(clause, what, match["clock"], text=rest)
        if found is not None:
            yield found


def _holds_name(before: Clause) -> bool:
    """Whether a clause is only a name of something: "Coffee with Priya: same day but at 5pm"."""
    return len(before.text) < 60 and not re.search(r"\b(?:is|are|was|were|has|have|will|I|we)\b|['’]s\b", before.text)


def _by_amount(clause: Clause) -> Shift | None:
    text = clause.text
    if (match := _PASSIVE.search(text)) and re.match(r"\s(?:to|until|till)\b", text[match.end() :]) is None:
        what, earlier = _named(text[: match.start()]), bool(match["earlier"])
        if _SOMEBODY.match(what):
            return None  # who moves something is not what moves
        return _by(clause, what, match, earlier=earlier, of_person=not match["aux"].strip())
    if match := _ACTIVE.search(text):
        verb, side = match["verb"].lower(), (match["side"] or "").lower()
        way = (match["way"] or match["first"] or "").lower()
        if not (match["must"] or (verb in _PAST and verb != "put") or (verb == "put" and way)):
            return None
        if verb.startswith(("move", "shift", "pull", "bring", "brought", "put")) and not (way or side):
            return None  # whether earlier or later is not said
        earlier = (
            side in ("earlier", "sooner")
            or way == "up"
            or (way == "forward" and verb in ("brought", "bring", "pull", "pulled"))
        )
        if way == "forward" and not earlier:
            return None
        return _by(clause, _named(match["what"]), match, earlier=earlier)
    if match := _SIDE.search(text):
        more = match["more"].strip().lower()
        if more and not re.match(
            r"(?:(?:today|tonight|tomorrow|this|next|on)\b|than\s(?:planned|scheduled|expected|we\ssaid|before|announced|agreed|originally)|now|instead|after\sall|because)\b",
            more,
        ):
            return None
        return _by(
            clause, _named(text[: match.start("be")]), match, earlier=match["side"].lower() != "later", of_person=True
        )
    return None


def _by(clause: Clause, what: str, match: re.Match[str], *, earlier: bool, of_person: bool = False) -> Shift:
    unit = (match["unit"] or "").lower().rstrip("s")
    count: float
    if match["half"]:
        count, unit = 30, "minute"
    elif match["quarter"]:
        count, unit = 15, "minute"
    elif match["fortnight"]:
        count, unit = 2, "week"
    else:
        told = " ".join(match["count"].lower().split())
        count, unit = 1 if told in ("another", "a further") else number(told), _UNITS.get(unit, unit)
        count += 0.5 if match["plus"] else 0
    groups = match.groupdict()
    at = match.end("what") if groups.get("what") else match.start()
    return Shift(
        start=clause.start,
        end=clause.end,
        at=clause.start + at,
        what=what,
        said=clause.text,
        count=-count if earlier else count,
        unit=unit,
        of_person=of_person,
        any_day="side" in groups and "verb" not in groups,
    )


def _to_hour(clause: Clause) -> Shift | None:
    text = clause.text
    if match := _NOW_AT.search(text):
        clock = match["clock"] or match["then"] or match["third"]
        return _at(clause, text[: match.start("be" if match["be"] else "now")], clock, of_person=True)
    if match := _MOVED_AT.search(text):
        return _at(clause, text[: match.start()], match["clock"])
    match = _MOVES_AT.search(text)
    if match is not None and (match["must"] or match["verb"].lower() in _PAST):
        return _at(clause, match["what"], match["clock"])
    return None


def _at(clause: Clause, what: str, told: str, *, of_person: bool = False, text: str = "") -> Shift | None:
    named = _TIME_OF.sub("", _named(what))
    if _SOMEBODY.match(named):
        return None
    text = text or clause.text
    at = text.rfind(told)
    rest = text[at : at + len(told) + 24]
    hour = english_hour(f"at {rest}", what) or english_hour(rest, what)
    if hour is None:
        return None
    return Shift(
        start=clause.start,
        end=clause.end,
        at=clause.start,
        what=named,
        said=clause.text,
        hour=hour,
        of_person=of_person,
    )


def _named(text: str) -> str:
    """The words by which the event goes that something is told of; empty for "it"."""
    text = LEAD.sub("", text).strip(" ,:;–—-")
    cut = [match.end() for match in _SAID_THAT.finditer(text) if match.end() < len(text)]
    text = text[cut[-1] :] if cut else text
    text = re.sub(r"['’]s$", "", text.strip(" ,:;–—-"))
    return "" if _PRONOUN.match(text) and not _SOMEBODY.match(text) else text
