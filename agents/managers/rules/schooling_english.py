"""Where and what the user studied, in English: "I studied medicine in Prague", "I have a degree in geology"."""

from __future__ import annotations

from collections.abc import Iterator

from .... import lazy_re as re
from .abstract_english import ABSTRACT, SMALL_THINGS
from .english_grammar import Fact, rule_set
from .people import is_name
from .plain_english import CASED, PASTLY, REST, SOFT, SUBJECT, WHEN_PAST, lasting, put
from .roles_english import is_occupation
from .sentences import Clause

__all__ = ["SCHOOLING_RULES"]

SCHOOLING_RULES, _rule = rule_set()

_SUBJECT_OF = (
    r"(?:(?!(?:this|that|it|for|about|together|hard|all|some|more|my|your|the)\b)[\w&'-]+)(?:\s(?!at\b|in\b|for\b"
    r"|when\b)[\w&'-]+){0,3}"
)


_SCHOOL = (
    r"(?:school|university|uni|college|high school|secondary school|sixth form|medical school|law school|art"
    r" school|drama school|boarding school|night school)"
)


@_rule(
    "studied graduated majored trained dropped left went qualified expelled",
    rf"{SUBJECT}\s{PASTLY}(?P<did>(?i:studied|majored in))\s(?P<what>(?i:{_SUBJECT_OF}))\s(?P<at>(?i:in"
    rf"|at)\s(?i:the\s)?(?:{CASED}|(?i:{_SCHOOL}|art school)))$"
    rf"|{SUBJECT}\s{PASTLY}(?P<major>(?i:majored in|studied)\s(?i:{_SUBJECT_OF})(?:\s(?i:as an undergrad\w*|at"
    rf" {_SCHOOL}))?)$"
    rf"|{SUBJECT}\s{PASTLY}(?P<school>(?i:graduated from|dropped out of|went to|left|flunked out of|was"
    rf" expelled from|trained (?:as an?|at)|qualified as"
    rf" an?))\s(?P<where>(?:(?i:the\s)?{CASED}(?:\s(?i:university|college|school))?"
    rf"|(?i:(?:an?\s(?:[\w-]+\s){{1,2}})?{_SCHOOL})"
    rf"|(?i:[\w-]+(?:\s[\w-]+)?)))(?P<when>\s(?i:{WHEN_PAST}|with\s{REST}{{3,30}}|in\s{CASED}))?$",
)
def _studied(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    if match["did"]:
        yield lasting(clause, "education", put(match["did"], f"{match['what']} {match['at']}"))
    elif match["major"]:
        what = match["major"].split(" ", 1)[1]
        if re.match(r"in\s", what) or _FIELD.search(what):
            yield lasting(clause, "education", put(match["major"]))
    else:
        where, how = match["where"], match["school"].lower()
        named = bool(re.search(rf"\b{_SCHOOL}\Z|University|College|School|Institute|Academy", where, re.IGNORECASE))
        if how.startswith(("trained as", "qualified")):
            if is_occupation(where):
                yield lasting(clause, "education", put(match["school"], f"{where}{match['when'] or ''}"))
            return
        if how in ("went to", "left") and not (named and (match["when"] or re.search(r"[A-Z]|\san?\s|^an?\s", where))):
            return
        if named or (where[:1].isupper() and is_name(where) and how.startswith(("graduated", "dropped", "flunked"))):
            yield lasting(clause, "education", put(match["school"], f"{where}{match['when'] or ''}"))


_FIELD = re.compile(
    r"(?:[a-z]+(?:ology|onomics|istry|ography|osophy|athematics|ics|ature|ering|itecture|uage|uages|ematics)"
    r"|law|medicine|maths|nursing|history|art|fine art|english|music|business|accounting|computer science"
    r"|design|dentistry"
    r"|pharmacy|journalism|education|film|drama|theatre|french|german|spanish|languages|classics|agriculture"
    r"|finance|marketing|photography|social work|archaeology|botany|midwifery)\b",
    re.IGNORECASE,
)


@_rule(
    "have ive got hold",
    rf"{SUBJECT}(?i:'ve got|\shave got|\s{SOFT}have|\s{SOFT}hold|'ve)\s(?P<what>(?i:(?:an?|two|a second"
    rf"|my)\s(?:[\w'-]+\s){{0,2}}?(?:degree|master's|masters|bachelor's|phd|doctorate|diploma|mba|msc|bsc"
    rf"|a-levels?|apprenticeship|black belt|green belt|brown belt"
    rf"|teaching certificate|certificate|qualification|scholarship)(?:\s(?:in|from|on|at|with)\s{REST}{{2,60}})?))$",
)
def _degree(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    yield lasting(clause, "education", put("has", match["what"]))


@_rule(
    "did took left school home once",
    rf"{SUBJECT}\s{PASTLY}(?P<did>(?i:did\s(?:my|an?|two years of|\w+ months"
    rf" of)\s(?:[\w'-]+\s){{0,2}}?(?:degree|master's|masters|phd|doctorate|apprenticeship|a-levels|gcses"
    rf"|military service|national service|training|bachelor's|mba|postdoc|erasmus(?: year)?|internship"
    rf"|residency|studies|teacher training|undergrad\w*)\s(?:in|at|on|under|with|as)"
    rf"|took (?:an?|my)\s(?:gap year|sabbatical|career break|year off|year out)(?:\s(?:in|to|after|before"
    rf"|between)\b)?|left (?:school|home|university|college)\s(?:at|without|with|early|to"
    rf"|after)))(?P<what>\s{REST}{{2,50}})?$"
    rf"|{SUBJECT}\s(?i:once)\s(?P<once>(?i:met|won|broke|worked|lived|played|swam|climbed|flew|appeared|ran"
    rf"|danced|sang|shook hands with|owned|cycled|walked|sailed|spent|studied|hitchhiked|performed|represented"
    rf"|taught))\s(?P<much>{REST}{{3,60}})$",
)
def _did(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    if match["did"]:
        if not match["what"] and not re.search(r"year|sabbatical|break|early", match["did"]):
            return
        yield lasting(clause, "education", put(match["did"], match["what"] or ""))
    elif not SMALL_THINGS.search(match["much"]) and not ABSTRACT.search(match["much"]):
        yield lasting(clause, "life", put("once", f"{match['once'].lower()} {match['much']}"))
