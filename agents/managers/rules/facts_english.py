"""Self-reports in English: "I live in Cork", "I'm allergic to walnuts", "call me Jo", "we have a dog called Biscuit"."""

from __future__ import annotations

from collections.abc import Iterator

from .... import lazy_re as re
from ....intent.phrases.tokens import word_set
from .coordinated_english import coordinated
from .english_grammar import LANGUAGES, Fact
from .family_english import FAMILY_WORDS, english_family, named_next
from .further_english import FURTHER_RULES
from .habits_english import HABIT_RULES
from .having import HAVING_RULES
from .hired_english import HIRED_RULES
from .likes_english import LIKES_RULES
from .people import People, is_name
from .person_english import PERSON_RULES
from .reported_speech import own_words
from .sentences import Clause, Reading, words_of
from .told_plainly import is_drafted, once_so, told_plainly
from .wishes import WISH_RULES
from .words import NAME
from .work_english import WORK_RULES

__all__ = ["Fact", "english_facts"]

_ALL_RULES = (
    *PERSON_RULES,
    *WORK_RULES,
    *HIRED_RULES,
    *LIKES_RULES,
    *FURTHER_RULES,
    *HAVING_RULES,
    *HABIT_RULES,
    *WISH_RULES,
)

_ANSWER_WORDS = re.compile(
    r"\b(?:answers?|repl(?:y|ies)|respon(?:d|ses?)|emojis?|bullet(?:s| points?)?|concise"
    r"|brief(?:ly)?|short(?:er)?|formal(?:ly)?|informal(?:ly)?|in (?:english|chinese|french"
    r"|german|spanish|italian|portuguese|dutch|mandarin|japanese|korean|polish|irish|welsh|hindi"
    r"|arabic|russian|turkish)|metric|celsius|fahrenheit|imperial|kilomet\w+|24[- ]hour|first name"
    r"|surname|jargon|sentences?|paragraphs?|explanations?|apologi[sz]e"
    r"|exclamation|small talk|simple words|plain (?:english|language|text)|markdown|tables?|units"
    r"|spelling|tone|call me|address me|talk to me|explain|sources"
    r"|prices?|currency|in (?:rupees|euros|dollars|pounds|kilos|miles)|(?:under|in|at most|max) \w+ (?:lines|words)|lists?|summary first"
    r"|(?:american|british) (?:english|spelling)|temperatures|examples first|step by step|write code|type hints"
    r"|code comments|essays?|waffle|filler|preamble|disclaimers?|headings|to the point|flattery|sugar-?coat\w*)\b",
    re.IGNORECASE,
)


_STANDING = re.compile(
    r"\b(?:when(?:ever)? you (?:write|answer|reply|explain|send|give|respond)"
    r"|always|never|from now on|in general|generally|in future|in the future|going forward"
    r"|every time|by default|don't (?:ever|use|give|call|send|write|start|add)|no more|stop \w+ing"
    r"|no (?:long|emojis?|jargon|lists|bullet|essays|waffle|filler|preamble|disclaimers)|(?:skip|drop|cut|spare me) the"
    r"|whenever you"
    r"|please (?:answer|reply|respond|keep|use|write|call|address|be|avoid|explain|speak|give)"
    r"|(?:keep|make) (?:it|your|the|them|answers|replies|things)|(?:answer|reply|respond|write"
    r"|speak)(?: to)? me|i(?:'d)? (?:prefer|like|want|need) (?:your|you to|short|the answers"
    r"|answers|replies|it))\b"
    r"|^(?:answer|reply|respond|use)\b",
    re.IGNORECASE,
)


_WISH_WORDS = word_set(
    "price prices currency rupees euros dollars pounds lines words list lists summary spellings american british temperatures dates"
    " kilometre kilos "
    "answer answers reply replies respond responds response responses emoji emojis bullet bullets concise brief briefly"
    " short shorter formal formally informal informally english chinese french german spanish italian portuguese dutch"
    " mandarin japanese korean polish irish welsh hindi arabic russian turkish metric celsius fahrenheit imperial"
    " kilometres kilometers hour first surname jargon sentence sentences paragraph paragraphs explanation explanations"
    " apologise apologize exclamation small simple plain markdown table tables unit units spelling tone call address"
    " talk explain sources examples step write type code essay essays waffle filler preamble disclaimer disclaimers headings point"
    " flattery"
)
_NAMING = word_set("called named name names")


def english_facts(reading: Reading, people: People, *, household: bool = False) -> Iterator[Fact]:
    """The core facts that a reading holds in English.

    Args:
        reading: of a user's step.
        people: whom the conversation knows.
        household: whether the talk is of the user's household, so that "and a lurcher called Biscuit" is theirs.
    """
    family, wishes = not reading.words.isdisjoint(FAMILY_WORDS), not reading.words.isdisjoint(_WISH_WORDS)
    naming, before = not reading.words.isdisjoint(_NAMING), ""
    for sentence in map(own_words, reading.sentences):
        if naming and sentence.clauses:
            if sentence.holds:
                yield from named_next(before, sentence.text, sentence.clauses)
            before = "" if sentence.supposed else sentence.text
        if not sentence.holds or not sentence.clauses:
            if not sentence.asked:
                continue
            # A question may follow a report: "I do quality control at Tallow Foods, been there six years?"
            continue
        named = set[str]()
        if family:
            of_family = list(english_family(sentence.text, sentence.clauses, people, household))
            yield from of_family
            named = {fact.label for fact in of_family}
        wish = _answer_wish(sentence.text, sentence.clauses) if wishes else None
        if wish:
            yield wish
            for clause in sentence.clauses:
                if clause.holds and (_CALL_ME.match(clause.text) or _CALLED_LIKE.search(clause.text)):
                    yield from _facts_of(clause)
            continue
        if is_drafted(sentence.text):
            continue
        previous = ""
        yield from _names(sentence.text, sentence.clauses)
        yield from _liked_it(sentence.text, sentence.clauses)
        for clause in sentence.clauses:
            if not clause.holds or _ANNOUNCES.search(previous):
                if not clause.holds and " used to " in clause.text and not _ANNOUNCES.search(previous):
                    yield from once_so(clause)
                previous = clause.text
                continue
            spoken = _with_subject(clause, previous)
            before_it, previous = previous, spoken.text
            for part in coordinated(spoken):
                found = list(_facts_of(part))
                if not found and (clause.text.startswith("I") or not spoken.text.startswith("I'm ")):
                    # Children and pets that are named are told already.
                    found = [
                        fact
                        for fact in told_plainly(part, before_it)
                        if not (named and fact.label in ("family", "pet", "life"))
                    ]
                yield from found


_ANNOUNCES = re.compile(
    rf"(?:\b(?i:he|she|they|(?:my|our)\s\w+)|{NAME})\s(?i:(?:always|just|often|also)\s)?"
    r"(?i:says?|said|writes?|wrote|asks?|asked|(?:tells?|told)\s(?:me|us))$"
)
"""A clause before a colon that announces what somebody else says."""


def _facts_of(clause: Clause) -> Iterator[Fact]:
    """What the rules read off one clause."""
    words = words_of(clause.text)
    for needed, pattern, make in _ALL_RULES:
        if not words.isdisjoint(needed) and (match := pattern.search(clause.text)):
            yield from make(match, clause)


_DROPPED = re.compile(
    r"^(?:(?:currently|now|still|just|also|recently|btw|fyi|note|ok|and|but|so|well|update|hi|hey|hello|yeah|yep|oh)[\s,:]+)*"
    r"(?:(?P<be>(?:based|living|allergic|vegetarian|vegan|coeliac|lactose|married|engaged|divorced|retired|pregnant|left-handed"
    r"|working|starting (?:at|as|with)|joining|studying|learning|training for|fluent|originally from)\b"
    r"|from (?=[A-Z][a-z]+(?:,|$))|an? (?:\w+\s){1,3}?(?:at|for|in) (?=[A-Z]))"
    r"|(?P<do>(?:moved|relocated|live|work|started|joined|left|quit|studied|study|grew up|turned \d|speak|drive|can't stand|cannot stand"
    r"|hate|don't eat|don't drink|don't like|do not eat|never eat|teach|got (?:engaged|married|promoted)|have (?:an?|two|three|four)\b"
    r"|play)\b|born (?=in|on)))"
)
_CHATTER = re.compile(r"[\s,]+(?:btw|lol|haha|tbh|fyi|lmao|tho|ngl|by the way)$", re.IGNORECASE)
_OWN_TOPIC = re.compile(r"\b(?:I|I'm|I've|Im|we|we're|we've|my|our|me)\b", re.IGNORECASE)
_AS_JOB = re.compile(r"as (?:an?|the|their) \w", re.IGNORECASE)
_AS_WHAT = re.compile(
    r"\bI(?:'m|'ll| will)?\s(?:just\s)?(?P<verb>start|starting|started|work|working)\b", re.IGNORECASE
)
_OF_SELF = re.compile(r"\b(?:I|I'm|I've|Im|we|we're|we've)\b")


def _with_subject(clause: Clause, previous: str) -> Clause:
    """The clause with the "I" that notes and messages leave out: "based in Leeds", "moved to Sheffield on Saturday"."""
    said = _CHATTER.sub("", clause.text)
    started = _AS_WHAT.search(previous) if _AS_JOB.match(said) else None
    if started:
        text = f"I {started['verb'].lower()} {said}"
        return Clause(
            start=clause.start, end=clause.end, text=text, raw=text, holds=clause.holds, sentence=clause.sentence
        )
    dropped = None if _OF_SELF.search(said) else _DROPPED.match(said[:1].lower() + said[1:])
    goes_on = len(previous.split()) <= 2 or _OWN_TOPIC.search(previous) or _DROPPED.match(previous)
    if not dropped or not goes_on:
        if said == clause.text:
            return clause
        end = clause.start + len(said)
        return Clause(start=clause.start, end=end, text=said, raw=said, holds=clause.holds, sentence=clause.sentence)
    group = "be" if dropped["be"] else "do"
    subject = "I'm " if group == "be" else "I was " if dropped["do"].startswith("born") else "I "
    text = subject + said[dropped.start(group) :]
    return Clause(start=clause.start, end=clause.end, text=text, raw=text, holds=clause.holds, sentence=clause.sentence)


_GREETED = re.compile(
    rf"^(?i:hi|hey|hello|hiya|morning|evening|good \w+)(?i:\sthere)?[,!]?\s(?i:it's|its"
    rf"|this is)\s(?P<name>{NAME})(?=$|[.,!]|\s(?:here|again|from)\b)"
)
_SPELT = re.compile(
    rf"\b(?i:it's|its|it is)\s(?P<name>{NAME})(?:\s[a-z][\w' ]{{2,30}})?,\s(?i:not|never)\s(?P<other>{NAME})(?=$|[.,!;)]|\s)"
)


def _names(text: str, clauses: tuple[Clause, ...]) -> Iterator[Fact]:
    """ "Hey, it's Pip", "it's Una, not Uma": the user's name, where the other is much like it."""
    match = _GREETED.match(text) or _SPELT.search(text)
    if match is None or not is_name(match["name"]):
        return
    other = match.groupdict().get("other")
    if other and (
        other[:1] != match["name"][:1]
        or abs(len(other) - len(match["name"])) > 5
        or re.search(r"\b(?:his|her|their|my \w+)\b", text)
    ):
        return
    yield Fact(label="name", value=match["name"], clause=clauses[0], slot="name")


_LIKED_IT = re.compile(
    r"^(?:(?:oh|and|but|except|apart from|not|no|anything but|everything except|also"
    r"|as for)\s)*(?P<what>[A-Za-z][a-z-]+(?:\s[a-z-]+){0,2}),?\s(?:-\s)?(?:I\s)?"
    r"(?P<verb>can't stand|cannot stand|can't bear|hate|detest|loathe|love|adore|don't like|am allergic to"
    r"|'m allergic to) (?:it|them|those|that stuff)\b",
    re.IGNORECASE,
)


def _liked_it(text: str, clauses: tuple[Clause, ...]) -> Iterator[Fact]:
    """ "Except coriander, can't stand it": what is liked or disliked stands before the verb."""
    match = _LIKED_IT.match(text)
    if match is None or re.match(
        r"(?:well|yes|yeah|so|honestly|ok|lol|haha|oh|this|that|thanks|wow|god|you|i|we|he|she)\b",
        match["what"],
        re.IGNORECASE,
    ):
        return
    verb = match["verb"].lower()
    liked = verb in ("love", "adore")
    shown = "Is allergic to" if "allergic" in verb else "Loves" if liked else "Dislikes"
    yield Fact(
        label="allergy" if "allergic" in verb else "preference" if liked else "dislike",
        value=f"{shown} {match['what'].lower()}",
        clause=clauses[0],
        confidence=0.75,
    )


def is_answer_wish(text: str) -> bool:
    """Whether a sentence says how the user wants to be answered."""
    return bool(_STANDING.search(text) and _ANSWER_WORDS.search(text)) and len(text) <= 260


_IN_LANGUAGE = re.compile(
    r"(?:(?:please|from now on|always|can you|could you)[\s,]+)*(?:answer|reply|respond|write|talk|speak)"
    rf"(?:\s(?:to )?me)?\s(?:only\s)?in\s{LANGUAGES}(?:[\s,]+(?:please|from now on|always))*",
    re.IGNORECASE,
)


_CALL_ME = re.compile(rf"(?i:^(?:and\s|but\s|so\s|also\s|please\s|(?:you\s)(?:can|may)\s)*call me\s){NAME}(?=$|\W)")
"""A clause that says how to address the user: a fact of its own beside how to answer."""


_CALLED_LIKE = re.compile(
    rf"\bI(?:'d|\s(?i:would))?\s(?i:like|prefer|want|wish|rather)\s(?i:to\s)?be\s(?i:called|addressed as)\s{NAME}(?=$|\W)"
)
_THAT = re.compile(
    r"^(?:(?:and|but|also|so|please)[\s,]+)*(?:(?:put|add|write|save|note|remember|record|keep)\b[^,]{0,40}?\s)?"
    r"that\s(?!(?:is|was|means|would|will|kind|one|way|sort)\b|'s\b)",
    re.IGNORECASE,
)
"""What hangs on to "put into my profile": "that prices should be in euros"."""


def _answer_wish(text: str, clauses: tuple[Clause, ...]) -> Fact | None:
    if not is_answer_wish(text):
        return None
    if re.search(r"(?i:\b(?:my (?:boss|mum|wife|husband|teacher)|he|she|they)\b)", text):
        return None
    if re.search(rf"(?i:^call me\s){NAME}\W*$", text):
        return None
    # The sentence from the first clause that asks for it, without what is told besides.
    first = next((c for c in clauses if _STANDING.search(c.text) or _ANSWER_WORDS.search(c.text)), clauses[0])
    meant = [c for c in clauses if c.start >= first.start]
    called = next((number for number, c in enumerate(meant) if number and _CALL_ME.match(c.text)), len(meant))
    last = meant[:called][-1]
    wish = text[first.start - clauses[0].start : last.end - clauses[0].start].strip(" ,;:.!")
    if (that := _THAT.match(wish)) is not None:
        wish = wish[that.end() :][:1].upper() + wish[that.end() + 1 :]
    return Fact(
        label="answers",
        value=wish,
        slot="answer_language" if _IN_LANGUAGE.fullmatch(wish) else "",
        clause=Clause(start=first.start, end=last.end, text=text, raw=text, holds=True, sentence=first.sentence),
        confidence=0.8,
    )
