"""What the user has been and had so far, in English: "I've been a nurse for eighteen years", "I've been to Iceland four times"."""

from __future__ import annotations

from collections.abc import Iterator

from .... import lazy_re as re
from .abstract_english import ABSTRACT, SMALL_THINGS
from .english_grammar import Fact, clean, rule_set
from .people import is_name
from .plain_english import AGO, CASED, COUNT, DURATION, EVER, HAVE_JUST, REST, SUBJECT, lasting, put
from .roles_english import is_occupation
from .sentences import Clause

__all__ = ["PERFECT_RULES"]

PERFECT_RULES, _rule = rule_set()


@_rule(
    "been lived worked had run climbed visited ridden written played never traveled travelled moved read seen"
    " driven owned tried",
    rf"{SUBJECT}{HAVE_JUST}(?P<never>(?i:never)\s)?(?:(?i:ever)\s)?(?P<what>(?i:been\s(?:to|in|skydiving|abroad"
    rf"|on)\b{REST}{{0,50}}?|been abroad|lived\s{REST}{{3,50}}?|worked\s(?:in|for|as|at|with"
    rf"|on)\s{REST}{{3,50}}?|run\s{COUNT}\s{REST}{{3,30}}?|climbed\s{REST}{{3,40}}?|visited\s{REST}{{3,40}}?"
    rf"|ridden a \w+|written\s(?:{COUNT})\s(?:novels?|books?|songs?|plays|poems|papers)|moved"
    rf" (?:house\s)?{COUNT} times|travelled\s(?:to|through|around|across|all over)\s{REST}{{3,40}}?"
    rf"|traveled\s(?:to|through|around|across|all over)\s{REST}{{3,40}}?|seen the \w+ \w+|learned to \w+|learnt"
    rf" to \w+|smoked|drunk alcohol|eaten meat|owned\s{REST}{{3,40}}?|flown|had (?:{COUNT} )(?:\w+"
    rf" )?(?:operations?|surger(?:y|ies)|children|miscarriages|knee \w+)))"
    rf"(?P<when>\s(?i:{DURATION}|{EVER}|(?:once|twice|\w+ times)|in my life|in {COUNT} (?:different"
    rf" )?(?:countries|cities)|{AGO}))?$",
)
def _has_been(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    what = match["what"]
    if re.match(r"been\s(?:to|in|on)\b", what) and not re.match(
        rf"been\s(?:to|in)\s(?:{CASED}|{COUNT}\s(?:different\s)?(?:countries|continents|cities|states))|been"
        rf" (?:to|in) (?:prison|hospital|the army|therapy|recovery)",
        what,
    ):
        return
    if (
        re.match(r"been\s(?:to|in)\s", what)
        and not (
            match["never"]
            or match["when"]
            or re.search(r"\b(?:countries|continents|states|prison|army|therapy|recovery)\b", what)
        )
        and not is_name(re.sub(r"^been\s(?:to|in)\s", "", what))
    ):
        return
    if re.match(r"worked on\b", what) or SMALL_THINGS.search(what):
        return
    if (
        re.match(r"(?:visited|climbed|lived|worked|owned)\b", what)
        and not re.search(r"\blife\b|years|since", match["when"] or "")
        and not re.search(
            r"[A-Z]|\b(?:countries|continents|abroad|years|city|cities|farm|village|hospital|school|restaurant"
            r"|army|mountains?)\b",
            f"{what[1:]} {match['when'] or ''}",
        )
    ):
        return
    yield lasting(clause, "life", put("has", f"{match['never'] or ''}{what}{match['when'] or ''}"))


@_rule(
    "been lived here",
    rf"{SUBJECT}{HAVE_JUST}(?i:lived)\s(?P<where>(?i:here|in (?:this|the same) (?:house|flat|town|village|city|area"
    rf"|street|apartment|neighbourhood)|in our (?:house|flat)))\s(?P<span>(?i:{DURATION}))$",
)
def _lived_here(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    where = (
        "in the same place" if match["where"].lower() in ("here",) else re.sub(r"\bthis\b", "the same", match["where"])
    )
    yield lasting(clause, "home", put("has lived", f"{where} {match['span']}"))


@_rule(
    "been on in under at with married together divorced single vegan vegetarian sober retired widowed engaged"
    " separated self",
    rf"{SUBJECT}{HAVE_JUST}(?i:been)\s(?P<state>(?i:(?:happily\s)?married(?:\sto\s(?:my\s\w+|{CASED}))?|together"
    rf"|divorced|single|(?:a\s)?vegan|(?:a\s)?vegetarian|sober|clean|retired|widowed|a widow(?:er)?|engaged"
    rf"|separated|self-employed|freelance|unemployed|diabetic|in recovery"
    rf"|in a wheelchair|deaf|blind|on (?:insulin|antidepressants|hrt|medication)|in therapy|in a"
    rf" relationship(?:\swith\s{CASED})?|with my (?:wife|husband|partner|boyfriend|girlfriend)|with the same"
    rf" company|friends with {CASED}|(?:on|in|under|at|with) (?:the|a|an|my)\s(?:[\w-]+\s){{0,3}}?(?:list|team"
    rf"|board|committee|programme|program|council|union|pill|diet|dole|army|navy|band|choir|club|company|firm"
    rf"|job|flat|house|treatment|waiting list|trade|business)))\s(?P<span>(?i:{DURATION}))$",
)
def _has_been_so(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    state = match["state"].lower()
    label = (
        "family"
        if re.search(r"married|together|divorced|single|widow|engaged|separated|relationship|with my", state)
        else "diet"
        if "veg" in state
        else "health"
        if re.search(r"sober|clean|diabetic|recovery|wheelchair|deaf|blind|on |therapy", state)
        else "work"
    )
    yield lasting(clause, label, put("has been", f"{match['state']} {match['span']}"))


@_rule(
    "been",
    rf"{SUBJECT}{HAVE_JUST}(?i:been)\s(?P<role>(?i:an?\s)(?:[\w-]+\s){{0,3}}?[\w-]+)(?P<at>\s(?i:at|in|for|with"
    rf"|of)\s(?:the\s)?{REST}{{2,30}}?)?\s(?P<span>(?i:{DURATION}))$",
)
def _has_been_job(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    job = re.sub(r"^an?\s", "", match["role"], flags=re.IGNORECASE)
    if is_occupation(job):
        yield Fact(
            label="job",
            value=put("has been", f"{match['role']}{match['at'] or ''} {match['span']}"),
            stated=clean(job),
            clause=clause,
            slot="job_title",
            confidence=0.75,
        )


@_rule(
    "had",
    rf"{SUBJECT}{HAVE_JUST}(?i:had)\s(?P<what>(?i:(?:an?|the|my|my own|two|three|problems with|trouble"
    rf" with)?\s?(?:[\w'-]+\s){{0,3}}?[\w'-]+))\s(?P<span>(?i:{DURATION}))$",
)
def _has_had(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    what = match["what"]
    if (
        SMALL_THINGS.search(what)
        or ABSTRACT.search(what)
        or re.match(r"(?:enough|no|to|a cold|a headache)\b", what)
        or re.search(r"\b(?:one|some|any|months?)\Z", what)
    ):
        return
    yield lasting(clause, "about them", put("has had", f"{what} {match['span']}"))
