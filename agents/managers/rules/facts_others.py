"""What is told of others: "my brother drives a lorry", "she's coeliac", "the staging DB is read-only on Fridays", 公公以前是开火车的."""

from __future__ import annotations

from collections.abc import Iterator

from .... import lazy_re as re
from ....intent.dates.words_english import MONTHS, WEEKDAY_NAME
from .genitives import is_genitive
from .introductions import ROLE_AND_NAME, is_role
from .of_mine_english import told_of_mine
from .others_chinese import chinese_others_facts
from .people import KIN_PATTERN, People, Person, is_name
from .reported_speech import own_words
from .sentences import Clause, Reading, Sentence
from .stated_chinese import chinese_statements
from .stated_english import continues_statement, labelled_statement, stated_whole, statement
from .taking_part import taking_part, taking_part_zh
from .told import Told
from .told_apart import told_apart
from .told_in_passing import told_in_passing
from .words import NAME

__all__ = ["others_facts"]


_LEAD = (
    r"^(?i:(?:and|but|so|also|oh|well|yes|no|only|just|that|because|since|as|fyi|by the way|btw"
    r"|anyway|in fact|of course|ah|turns out|apparently|actually|note that|remember that)[\s,]+)*"
)
_OWN = re.compile(
    rf"{_LEAD}(?i:(?:my|our)\s(?:(?!{KIN_PATTERN}\b)[\w-]+\s){{0,2}}?(?P<kin>{KIN_PATTERN}))\b"
    rf"(?:,?\s(?P<name>{NAME}))?,?(?P<rest>(?:'s|\s).*)$"
)
_OWN_ROLE = re.compile(rf"{_LEAD}{ROLE_AND_NAME}(?<!'s)(?P<rest>(?:'s|\s).*)$")
_BY_NAME = re.compile(
    rf"{_LEAD}(?P<name>{NAME})(?P<rest>(?:'s\s(?!name"
    rf"|birthday|house|school|number|e-?mail|phone)|\s).*)$"
)
_REGULAR = re.compile(rf"\b(?:every|each|daily|weekly|monthly|weekdays|{WEEKDAY_NAME}s)\b", re.IGNORECASE)
_SURELY = re.compile(
    r"\s(?:is\s(?:allergic|vegan|vegetarian|coeliac|celiac"
    r"|diabetic|pregnant|deaf|blind)|lives in|works (?:at|as|for))\b"
)
_ASIDE = re.compile(rf"(?P<name>{NAME})(?P<aside>\s\((?i:my|our)\s(?:[\w-]+\s)?(?P<kin>(?i:{KIN_PATTERN}))\))")
_BARE_KIN = re.compile(
    rf"{_LEAD}(?P<kin>Dad|Mum|Mom|Mam|Nana|Nanna|Nan|Gran|Grandma|Grandad|Granddad|Grandpa|Granny)(?P<rest>(?:'s|\s).*)$"
)
_PRONOUN = re.compile(rf"{_LEAD}(?P<who>(?i:she|he))(?P<rest>(?:'s|\s).*)$")
_THING = re.compile(
    rf"{_LEAD}(?P<thing>(?i:the|our|my)\s(?!(?i:(?:own|home|work|new|old)\s)?(?i:name|e-?mail"
    rf"|mobile|phone|number|birthday|address|age|password|favou?rite|wedding|appointment|meeting"
    rf"|flight|party|trip|idea|thing|point|problem|question|plan|weather|way|tree|other|same|only"
    rf"|best|worst|last|next|first|one|rest|early|late|good|bad|truth"
    rf"|fact|kids|children|boys|girls|house|flat|apartment|place|home)\b)(?:[\w&'./-]+\s){{0,3}}?[\w&'./-]+)(?P<rest>(?:'s"
    rf"|\s(?i:is|are|runs?|uses?|has|have"
    rf"|opens?|closes?|costs?|lives?|needs?|takes?|starts?|ends?|expires?|belongs?|listens?|sits?"
    rf"|hosts?|stores?|serves?|contains?|handles?"
    rf"|holds?|supports?|requires?|only|always|never)\b).*)$"
)
_IT = re.compile(
    rf"{_LEAD}(?P<it>(?i:it))(?P<rest>(?:'s\s(?i:hosted|on|in|called|run|written|built|deployed"
    rf"|stored|kept|at)|\s(?i:is\s(?:hosted|called|run|written|built|deployed|stored|kept)|runs"
    rf"|uses|lives|listens|needs|takes|opens|closes|belongs|expires))\b.*)$"
)
_VERB = re.compile(
    r"^(?:'s|\s(?:is|are|has|have|can't|cannot|can|doesn't|does not|won't|always|never|usually"
    r"|often|only|just|also|still|now|both|really|even|absolutely|recently"
    r"|lives?|works?|drives?|plays?|likes?|loves?|hates?|prefers?|owns?|runs?|teaches|teach"
    r"|studies|study|speaks?|wants?|needs?|gets?|takes?|goes|turns|collects?|eats?|drinks?"
    r"|sings?|writes?|paints?|cooks?|bakes?|makes?|keeps?|leads?|manages?|handles?|looks after"
    r"|owes|starts?|begins?|retires?|moves?|comes?|drops?|picks?|visits?|travels?|flies|sells?|grows?"
    r"|rides?|swims?|coaches|trains?|volunteers?|used to|moved|started|joined|left|graduated"
    r"|became|got|retired|took|passed|lost|broke|studied|worked|adopted|was born|died|sleeps?"
    r"|smokes?|wears?|uses?|suffers?|stays?|supports?|knows?|belongs?|requires?|allows?|supplies"
    r"|deals?|covers?|approves?|reports?))\b",
    re.IGNORECASE,
)
_LASTS = re.compile(
    r"\s(?:is|are|has|have|lives?|works?|plays?|runs?|keeps?|needs?|owns?|costs?|starts?|ends?|opens?|closes?|lands?|leaves?"
    r"|speaks?|teaches|studies)\s",
    re.IGNORECASE,
)
"""In a clause about something of somebody: that it tells what lasts, and not how something went."""
_SAID = re.compile(
    r"^(?:\s(?:just|always|never|also|still|keeps|once|recently))*\s?(?:'s\s)?(?:says?|said|told"
    r"|tells?|thinks?|thought|asks?|asked|wonders?|shouted|yelled|joked?s?|claims?|swears?"
    r"|reckons?|insists?|suggest\w*|believes?|guess\w*|wants (?:me|us|you)|needs (?:me|us|you)"
    r"|saying|telling|asking|kidding|joking)\b",
    re.IGNORECASE,
)
_SHIFTED = re.compile(
    r"^(?:'s|\s(?:has|have|had|was|is))\s(?:been\s|just\s|now\s)*"
    r"(?:shifted|moved|slipped|postponed|delayed|put (?:back|off)|pushed(?: back)?|brought forward)\sby\b",
    re.IGNORECASE,
)
"""What has only changed its day: an event, and no fact."""
_EMPTY = re.compile(
    r"^(?:'s|\s(?:is|are))\s(?:\w+ly\s|so\s|very\s|really\s|a bit\s|quite\s|all\s|not\s"
    r"|just\s)*(?:fine|great|good|ok|okay|well|here|there|lovely|nice|happy|sad|right|wrong|back"
    r"|cute|funny|sweet|amazing|awesome|the best|hilarious|mad|angry|annoyed|excited|tired|busy"
    r"|ready|late|sure|done|going|coming|it|that|this|hers|his|mine|on (?:the|my|his|her) way"
    r"|a bit|bad|terrible|asleep|ill today|off|up|out|in)\W*$",
    re.IGNORECASE,
)
_OPINION = re.compile(
    r"\b(?:awesome|amazing|great|incredible|magical|lovely|truly|definitely|really|means (?:a lot"
    r"|everything|so much)|inspir\w+|favou?rite|most important|big difference|cheers?"
    r"|beautiful|fun|cool|the best|so|such|wonderful|fantastic|important|special|makes? me|make us"
    r"|worth it|tough|boost|help(?:s|ed)?|eye-opening|indeed|like (?:that|you|this))\b",
    re.IGNORECASE,
)
_NAMED = re.compile(
    rf"\d|(?<=\s)[A-Z][\w&-]+|[a-z]+[_.-][a-z]\w*|\b{WEEKDAY_NAME}s?\b"
    r"|\b(?:every|called|only|allergic|vegan|vegetarian)\b"
)
_FELT = re.compile(
    r"\b(?:hot|cold|lovely|great|nice|beautiful|awful|terrible|boring|annoying|delicious|tasty"
    r"|amazing|perfect|weird|fun|funny)\b\W*$",
    re.IGNORECASE,
)
_PASSING = re.compile(
    r"\b(?:today|yesterday|tomorrow|tonight|now|just|after next|before last|this (?:morning|week|afternoon|evening"
    r"|weekend)|last (?:week|month|night|year|\w+day)|next (?:week|month|year|\w+day)|ago)\b",
    re.IGNORECASE,
)
_PASSED = re.compile(
    r"\b(?:today|yesterday|tomorrow|tonight|this (?:morning|week|afternoon|evening|weekend)"
    r"|last (?:week|month|night|year|\w+day)|next (?:week|month|year|\w+day)|ago)\b",
    re.IGNORECASE,
)
_DATED = re.compile(
    rf"\b(?:on|by|from|until)\s(?:the\s)?(?:\d{{1,2}}(?:st|nd|rd|th)?\b|{WEEKDAY_NAME}\b(?!s))"
    rf"|\b\d{{1,2}}\s(?:{'|'.join(MONTHS)})",
    re.IGNORECASE,
)
_MEANS = re.compile(
    rf"{_LEAD}(?i:(?:for the record|note|just so you know|remember"
    rf"|fyi)[:,]\s)?(?P<term>(?:[A-Z][\w&/-]*|[a-z][\w-]+)(?:\s[\w&/-]+){{0,4}}?)\s(?:means"
    rf"|stands for|is short for|refers to|is our (?:word|name|term) for)\s(?!that\b|a lot|so much"
    rf"|it\b|you\b|I\b|we\b|everything|nothing|more|the world|business)(?P<gloss>[^\ue000]{{4,200}})$"
    r"|^(?P<zhterm>[A-Za-z\u4e00-\u9fff·-]{1,12}?)\s?(?:就是|指的是|是指|意思是|的意思是|代表"
    r"|是)\s?(?P<zhgloss>[^，。\ue000]{2,40}?)(?P<mark>的?意思|的缩写|的简称)?$"
)
_HANGS_ON = re.compile(
    r"^(?:on|in|at|with|for|from|near|by|under|where"
    r"|called|including|except|between|via|not|\d)\b",
    re.IGNORECASE,
)
_PLACE = re.compile(rf"\b(?:to|in|at|for|from)\s(?P<place>{NAME})")


def others_facts(reading: Reading, people: People, thing: str = "") -> Iterator[Told]:
    """The facts that a reading holds about people and things around the user.

    Args:
        reading: of a user's step.
        people: whom the conversation knows; everyone named here is added.
        thing: what was last kept or asked about, which "it" may stand for.
    """
    place = ""
    for sentence in reading.sentences:
        if not sentence.supposed:
            people.read(sentence.text, reading.has_han, sentence.start)
        if not sentence.holds:
            continue
        sentence = own_words(sentence)  # noqa: PLW2901 - what they think of the user is no fact about them
        meant = _MEANS.match(sentence.text)
        if (
            meant
            and len(sentence.text) < 260
            and sentence.clauses
            and (meant["gloss"] or meant["mark"] or re.search("指的?是|意思是", sentence.text))
        ):
            term = meant["term"] or meant["zhterm"]
            if not re.match(
                r"(?:it|that|this|which|he|she|they|i|we|you"
                r"|what|the|a|an|my|your|这|那|我|你|他|她)\b|[这那我你他她]",
                term,
                re.IGNORECASE,
            ):
                yield Told(name=term[:80], summary=sentence.raw.strip(), start=sentence.start, end=sentence.end)
                continue
        if reading.has_latin:
            yield from told_in_passing(sentence, people)
            whole = stated_whole(sentence) or labelled_statement(sentence)
            if whole:
                yield whole
            for clause in () if whole else sentence.clauses:
                for tailed in told_apart(_with_tail(clause, sentence)) if clause.holds else ():
                    told = (
                        taking_part(tailed, people, reading.raw[: tailed.start])
                        or _english(tailed, people, place, thing, first=clause.start == sentence.start)
                        or statement(tailed, sentence, people)
                        or told_of_mine(tailed)
                    )
                    if told:
                        thing = told.name
                        people.told_of(told.name)
                        yield told
                for match in _PLACE.finditer(clause.text):
                    if is_name(match["place"]):
                        place = match["place"]
        if reading.has_han:
            told_here = list(chinese_others_facts(sentence, people))
            covered = [(told.start, told.end) for told in told_here]
            told_here += [told for told in taking_part_zh(sentence) if not any(a <= told.start < b for a, b in covered)]
            for told in told_here:
                people.told_of(told.name)
            yield from told_here
            yield from chinese_statements(sentence, people, told_here)
    for person in people.introduced():
        relation = person.relation
        yield Told(
            name=person.name,
            summary=f"{person.name} is the user's {relation}"
            if relation.isascii()
            else f"{person.name}是用户的{relation}",
            start=max(0, reading.raw.find(person.name)),
            end=max(0, reading.raw.find(person.name)) + len(person.name),
            confidence=0.65,
        )


def _with_tail(clause: Clause, sentence: Sentence) -> Clause:
    """The clause with what hangs on to it: "it runs from cron, on the box called heron"."""
    following = [other for other in sentence.clauses if other.start > clause.start]
    end = clause.end
    for other in following:
        if not other.holds or not (_HANGS_ON.match(other.text) or continues_statement(other.text)):
            break
        end = other.end
    if end == clause.end:
        return clause
    start = clause.start - sentence.start
    stop = end - sentence.start
    return Clause(
        start=clause.start,
        end=end,
        text=sentence.text[start:stop],
        raw=sentence.raw[start:stop],
        holds=True,
        sentence=clause.sentence,
    )


def _proper(name: str, people: People) -> bool:
    """Whether a capitalised word at the start of a sentence is a name: two words, a capital inside, or seen before."""
    return " " in name or any(c.isupper() or c.isdigit() for c in name[1:]) or people.seen(name)


_AT_HOST = re.compile(r"\b[a-z0-9-]+(?:\.[a-z0-9-]+)+\b")


def _english(clause: Clause, people: People, place: str, thing: str, *, first: bool) -> Told | None:
    if "(" in clause.text and (aside := _ASIDE.search(clause.text)) and is_name(aside["name"]):
        people.add(aside["kin"], aside["name"])
        start, end = aside.span("aside")
        clause = Clause(
            start=clause.start,
            end=clause.end,
            text=clause.text[:start] + clause.text[end:],
            raw=clause.raw[:start] + clause.raw[end:],
            holds=True,
            sentence=clause.sentence,
        )
    text = clause.text
    person: Person | None = None
    if match := _OWN.match(text):
        name = (match["name"] or "").removesuffix("'s")
        person = people.note(match["kin"], name if is_name(name) else "")
        rest = match["rest"]
        if is_genitive(rest):
            if not _LASTS.search(rest):
                return None
        else:
            people.mention(person)
        told = re.match(rf"(?:'s|\sis)(?:\scalled)?\s(?P<name>{NAME})(?P<more>.*)$", rest)
        if told and person.name and not person.close and told["name"] == person.name:
            return Told(
                name=person.name,
                summary=f"{person.name}{told['more'].rstrip()} is the user's {person.relation}",
                start=clause.start,
                end=clause.end,
            )
        if titled := re.match(
            rf"'s\s(?:name|birthday)\b|\s(?:is|are)(?:\scalled)?\s(?P<title>(?:(?:Dr|Prof|Mr|Mrs|Ms|Miss|Rev)\.?\s)+)?{NAME}\W*$",
            rest,
        ):
            return _introduced(person, titled["title"] or "", clause)
    elif (match := _OWN_ROLE.match(text)) and is_role(match["role"]) and is_name(match["name"]):
        rest = match["rest"]
        person = people.named(match["name"]) or people.add("", match["name"])
        if _DATED.search(rest):
            people.mention(person)
            return None  # an event of theirs
    elif match := _BARE_KIN.match(text):
        person = people.add(match["kin"].casefold(), "")
        rest = match["rest"]
    elif match := _PRONOUN.match(text):
        person = people.meant(match["who"], clause.start)
        rest = match["rest"]
        if person is None:
            return None
    elif (match := _BY_NAME.match(text)) and is_name(match["name"]):
        name = match["name"]
        known = people.named(name)
        person = known or Person("", name, "")
        rest = match["rest"]
        if known is None and (
            len(name.split()) > 3 or (not _NAMED.search(rest) and not re.search(r"\s\w+\s\w+\s\w+", rest))
        ):
            return None
        if known is None and (
            _FELT.search(rest)
            or _OPINION.search(rest)
            or (first and not _proper(name, people) and not _SURELY.match(rest) and not _AT_HOST.search(rest))
        ):
            return None
    elif match := _THING.match(text):
        rest = match["rest"]
        name = re.sub(r"^(?:the|our|my)\s|\s(?:now|currently|also|still)$", "", match["thing"], flags=re.IGNORECASE)
        if re.search(r"n't$|\b(?:first|second|third|\d+(?:st|nd|rd|th))$", name):
            return None
        if (
            re.search(rf"\b{KIN_PATTERN}\b", name, re.IGNORECASE)
            or len(rest) < 8
            or not (_NAMED.search(rest) or " called " in text)
            or _SAID.match(rest)
            or _DATED.search(rest)
            or _PASSING.search(rest)
            or _OPINION.search(rest)
            or (
                not _REGULAR.search(rest)
                and re.search(
                    r"'s\s(?:been|off|gone)|^(?:'s|\sis|\sare)\s(?:on|at|from|until|by)\s(?:the\s)?(?:\d|[A-Z])", rest
                )
            )
        ):
            return None
        return Told(
            name=name,
            summary=_sentence(clause.raw, match.start("thing")),
            start=clause.start,
            end=clause.end,
            confidence=0.7,
        )
    elif thing and (match := _IT.match(text)) and (_NAMED.search(match["rest"]) or " called " in match["rest"]):
        return Told(
            name=thing,
            summary=f"{thing}{_raw_rest(clause, match)}",
            start=clause.start,
            end=clause.end,
            confidence=0.65,
        )
    else:
        return None
    if not is_genitive(rest):
        people.mention(person)  # and not whatever is theirs
    if (not person.relation and _OPINION.search(rest)) or (is_genitive(rest) and not _LASTS.search(rest)):
        return None
    if (
        not _VERB.match(rest)
        or _SAID.match(rest)
        or _EMPTY.match(rest)
        or _SHIFTED.match(rest)
        or len(rest.split()) < 2
        or len(rest) > 240
        or (_PASSED.search(rest) and not re.search(r"'s|\sis\s|\shas\s", rest[:6]))
    ):
        return None
    if re.match(r"(?:'s|\sis)\s(?:called|named)\b", rest):
        return None
    raw_rest = _raw_rest(clause, match)
    if place and re.search(r"\bthere\b", raw_rest):
        raw_rest = re.sub(r"\bthere\b", f"in {place}", raw_rest, count=1)
    return Told(name=person.title, summary=f"{person.shown}{_full(raw_rest)}", start=clause.start, end=clause.end)


def _introduced(person: Person, title: str, clause: Clause) -> Told | None:
    if person.close or not person.name:
        return None
    return Told(
        name=person.name,
        summary=f"{title}{person.name} is the user's {person.relation}",
        start=clause.start,
        end=clause.end,
    )


def _raw_rest(clause: Clause, match: re.Match[str]) -> str:
    start, end = match.span("rest")
    return clause.raw[start:end].rstrip()


def _full(rest: str) -> str:
    """``'s coeliac`` → `` is coeliac``; a perfect tense keeps its have."""
    if is_genitive(rest):
        return rest
    short = re.match(r"['’]s\s(?P<next>[\w-]+)", rest)
    if not short:
        return rest
    has = bool(
        re.fullmatch(
            r"been|got|had|gone|done|taken|moved|started|joined"
            r"|left|become|lived|worked|always|never|just|\w+ed",
            short["next"],
            re.IGNORECASE,
        )
    ) and short["next"].lower() not in ("tired", "married", "retired", "engaged", "excited", "allergic")
    return (" has" if has else " is") + rest[2:]


def _sentence(raw: str, start: int) -> str:
    text = raw[start:].strip()
    return text[:1].upper() + text[1:]
