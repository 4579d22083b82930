"""How the user works and studies, in English: "I work night shifts", "I manage a team of twelve", "I'm doing a PhD on glaciers"."""

from __future__ import annotations

from collections.abc import Iterator

from .... import lazy_re as re
from .english_grammar import Fact, rule_set
from .plain_english import AM, ARE, BE_NOW, CASED, COUNT, OFTEN, REST, SOFT, SUBJECT, does, lasting, put
from .sentences import Clause

__all__ = ["WORKING_RULES"]

WORKING_RULES, _rule = rule_set()

_WORK_STATE = (
    r"(?:retired|semi-retired|self-employed|unemployed|out of work|freelance|freelancing|between jobs|on"
    r" (?:maternity|paternity|parental|sick|long-term sick|unpaid|study|medical|family|garden(?:ing)?) leave"
    r"|on (?:a )?sabbatical"
    r"|on disability(?: benefits?)?|on a zero-hours contract|a stay-at-home (?:mum|mom|dad|parent)|on benefits"
    r"|laid off|furloughed|home-?schooled|home-?schooling|on call|in the (?:army|navy|air force|military"
    r"|police|reserves|national guard)"
    r"|in (?:sales|marketing|finance|tech|it|hr|construction|publishing|advertising|logistics|real estate"
    r"|insurance|banking|education|healthcare|academia|retail|hospitality|consulting|law enforcement"
    r"|recruitment|politics))"
)


@_rule(
    "im am were are",
    rf"{SUBJECT}{ARE}\s{BE_NOW}(?P<what>(?i:{_WORK_STATE}))(?P<more>\s(?i:for|until|till"
    rf"|since|as|at|from|with|in)\s{REST}{{2,40}})?$",
)
def _works_so(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    what = match["what"]
    if what.lower() == "retired":
        yield Fact(
            label="job",
            value=put("is retired", match["more"] or "") if match["more"] else "Is retired",
            clause=clause,
            slot="job_title",
            starts=True,
            confidence=0.8,
        )
        return
    yield lasting(
        clause,
        "work",
        put("works" if what.lower().startswith("in ") and "the " not in what else "is", f"{what}{match['more'] or ''}"),
    )


_SHIFTS = (
    r"(?:(?:night|day|early|late|evening|weekend|twelve-hour|12-hour|split|rotating|long)\s?(?:shifts?)?|nights"
    r"|shifts|part[- ]time|full[- ]time|flexitime|weekends|double shifts|overtime)"
)


@_rule(
    "work report manage lead supervise earn make run get paid teach commute employ oversee travel",
    rf"{SUBJECT}\s{SOFT}(?P<work>(?i:work)\s(?i:(?:{_SHIFTS})(?:\s(?:in|at|for|on|as)\s(?:an?|the"
    rf"|my)?\s?{REST}{{2,40}})?|(?:from home|remotely|in the office|hybrid|on site|freelance|for myself"
    rf"|outdoors|abroad|offshore|from the office|from an office|from a co-working space|on a farm|on an oil rig"
    rf"|on a ship|in a\s(?:[\w-]+\s){{1,3}}|at an?\s(?:[\w-]+\s){{1,3}}|for an?\s(?:[\w'-]+\s){{1,3}}(?:company"
    rf"|firm|charity|agency|start-?up|business|magazine|newspaper|bank|studio|ministry|council|ngo|non-profit"
    rf"|school)|with\s(?:children|animals|people with [\w -]+|young people|the elderly|refugees|horses|wood|my"
    rf" hands|my (?:husband|wife|brother|sister|dad|father|mother|mum)))(?:\s?{OFTEN})?"
    rf"|on the\s\w+\sfloor|{COUNT}\s(?:hours|days)\sa\sweek|in (?:an?|the)\s(?:[\w'-]+\s){{0,3}}(?:library"
    rf"|factory|warehouse|lab|laboratory|school|hospital|bakery|shop|store|kitchen|restaurant|office|museum"
    rf"|bank|nursery|hotel|bar|pub|garage|pharmacy|supermarket|call centre|call center|prison|hospice|studio"
    rf"|field of\s\w+|public sector|private sector|\w+ industry|\w+ sector|\w+ business|\w+ department)"
    rf"|on\s(?:a\sfreelance|a\scommission|commission)\s?\w*))"
    rf"(?:\s(?i:now|{OFTEN}))?$"
    rf"|{SUBJECT}\s{SOFT}(?P<leads>(?i:report to (?:the|our|an?)\s{REST}{{3,40}}|report (?:directly )?to"
    rf" {CASED}|(?:manage|lead|supervise|run|oversee|employ) (?:an?\s)?(?:[\w-]+\s)?(?:team|staff|crew"
    rf"|department|group|people|employees)(?:\sof\s[\w ]{{1,25}})?|(?:manage|lead|supervise|employ"
    rf"|oversee)\s{COUNT}\s(?:people|staff|engineers|developers|nurses|employees|others)))$"
    rf"|{SUBJECT}\s{SOFT}(?P<runs>(?i:(?:run|own|have)\s(?:(?:my|our) own|an?)\s(?:(?:small|little|tiny|online"
    rf"|family|local|successful|one-man|part-time|side)\s)*(?:[\w'&-]+\s){{0,2}}?(?:business|company|firm|shop"
    rf"|store|caf[eé]|restaurant|bakery|salon|studio|consultancy|practice|agency|start-?up|blog|podcast|youtube"
    rf" channel|newsletter|bed and breakfast|b&b|guest ?house|guesthouse|farm|vineyard|brewery|bookshop|etsy"
    rf" shop|charity|webshop|food truck|market stall|kennels|nursery|pub|bar|gallery|garage|gym|market garden"
    rf"|stables)))(?P<where>\s(?i:in|on|with|for|about|near)\s{REST}{{2,50}})?$"
    rf"|{SUBJECT}\s{SOFT}(?P<paid>(?i:(?:get|am) paid\s(?:{REST}{{3,40}})|(?:earn|make)\s(?:about\s|around\s"
    rf"|roughly\s)?[£$€]?\d[\d,.]*k?(?:\s?\w+)?\s(?:a|per|an)\s(?:month|year|week|hour)|earn (?:the )?minimum"
    rf" wage))$",
)
def _works_how(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    group = next(name for name in ("work", "leads", "runs", "paid") if match[name])
    said = clause.text[match.start(group) :]
    if group == "work" and re.fullmatch(r"work in an? (?:office|shop|store|bar)", said, re.IGNORECASE):
        return  # where, is not said
    if group == "paid" and not re.search(r"\d|monthly|weekly|by the|hourly|minimum", said):
        return
    if group == "leads" and re.search(r"\bproblem|bug|issue|police\b", said):
        return
    yield lasting(clause, "income" if group == "paid" else "work", does(said))


@_rule(
    "year doing phd degree master masters course studying school high uni university college apprenticeship semester",
    rf"{SUBJECT}{AM}\s{BE_NOW}(?P<year>(?i:in\s(?:my|the)\s(?:first|second|third|fourth|fifth|sixth"
    rf"|final|last|senior|junior|freshman|sophomore)\s(?:year|semester|term)(?:\s(?:of|at|in"
    rf"|as)\s{REST}{{2,50}})?|(?:doing|finishing|starting|completing|halfway through|working on|writing"
    rf" up)\s(?:an?|my|the)\s(?:[\w-]+\s){{0,2}}?"
    rf"(?:phd|doctorate|master's|masters|degree|bachelor's|mba|msc|apprenticeship|diploma|a-levels|gcses"
    rf"|internship|residency|teacher training|pgce|traineeship|evening course|law degree|foundation"
    rf" course)(?:\s(?:in|on|at|about|with|as)\s{REST}{{2,60}})?"
    rf"|in (?:high school|secondary school|sixth form|medical school|law school|grad school|year \w+|\w+ grade)"
    rf"|at (?:uni|university|college|art school|drama school|medical school)))$",
)
def _in_studies(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    yield lasting(clause, "studies", put("is", match["year"]))
