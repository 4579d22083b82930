"""The user's work and studies, in English: "I work at Arup as an engineer", "I left", "I retired"."""

from __future__ import annotations

from collections.abc import Iterator

from .... import lazy_re as re
from .english_grammar import ADV, LEAD, STOP, VAGUE, Fact, article, clean, rule_set, verb_s
from .over import PARTLY
from .people import is_name
from .roles_english import is_occupation
from .sentences import Clause
from .words import NAME

__all__ = ["EMPLOYER", "JOB", "PART_OF_IT", "WORK_RULES", "is_employer", "job_value"]

WORK_RULES, _rule = rule_set()

_INSTITUTION = (
    r"(?:company|firm|clinic|hospital|school|university|college|nursery|kindergarten|start-?up|agency|bank|lab|laboratory"
    r"|studio|shop|store|supermarket"
    r"|restaurant|caf[eé]|bar|pub|practice|surgery|bakery|charity|council|library|factory|museum|theatre|hotel|office"
    r"|ministry|police station|fire station"
    r"|garage|farm|brewery|pharmacy|salon|gym|airport|port|planetarium|observatory|aquarium|archives?|institute|gallery|cinema|opera|orchestra|embassy|shipyard"
    r"|vineyard|winery|mill|foundation|publisher|newspaper|magazine|court|prison|zoo|church|care home|nursing home"
    r"|post office|town hall)"
)
EMPLOYER = (
    rf"(?P<org>{NAME}(?:\s(?:hospital|university|college|school|museum|library|clinic|bank)\b)?|(?i:(?:an?|the)\s(?:[\w'-]+\s){{0,3}}?"
    rf"{_INSTITUTION})\b(?:\s(?:in|of)\s{NAME})?)"
)


JOB = r"(?P<job>(?:[\w/&+'-]+\s){0,4}?[\w/&+-]+)"


_NO_PLACE = re.compile(r"(?:an?|the)\s(?:office|company|firm|shop|store|bar|port|court|farm)\Z", re.IGNORECASE)
_NO_STAFF = re.compile(r"(?:student|volunteer|patient|regular|guest|member)\Z", re.IGNORECASE)


def is_employer(org: str, job: str = "") -> bool:
    """Whether it is a name, or a kind of place that says where: "a small bakery", "the children's hospital in Malmö".

    Args:
        job: what the user is there; a student of "the university" does not work at it.
    """
    if re.match(r"(?:an?|the)\s", org, re.IGNORECASE):
        return _NO_PLACE.match(org) is None and _NO_STAFF.search(job) is None
    return is_name(org)


def job_value(job: str) -> str:
    return clean(re.sub(r"^(?:an?|the|their|our)\s", "", job, flags=re.IGNORECASE))


@_rule(
    "work working worked start starting started join joining joined employed job offer",
    rf"{LEAD}(?i:.{{0,24}}?\bI(?:'m|'ve been|\sam|\shave been|'ve|\shave"
    rf"|'ll)?\s{ADV}(?P<verb>work|working|worked|start|starting|started|join|joining|joined"
    rf"|employed|got a job|got a new job|took a job|accepted a job|accepted an offer)(?:\s(?:over"
    rf"|part[- ]time|full[- ]time|nights|remotely|new|out|there|here|on (?!an?\b|the\b|my\b|our\b)\w+))*\s(?:at|for|with|from"
    rf"|by|in)?\s?(?:the\s(?=(?-i:[A-Z])))?){EMPLOYER}(?:\s(?i:as)\s(?i:an?\s|the\s|their\s)?{JOB}(?=$|\s(?i:and"
    rf"|since|for|from|on|in|at|but|next|this|last|until)\b))?",
)
def _works_at(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    org, verb = match["org"], match["verb"].lower()
    if (
        org[0] in "aAtT"
        and " " in org
        and not is_name(org)
        and (verb.startswith(("start", "join")) or " with " in match[0])
    ):
        return  # a gym that one joins is no employer
    if verb.startswith("work") and re.search(r"\swith\s", match[0][: match.start("org") - match.start()]):
        return  # a colleague, or a customer
    if verb == "worked" or org == "St" or not is_employer(org) or re.match(r"(?i:in|at)\s(?:January|February)", org):
        return
    if re.search(rf"\bin\s{re.escape(org)}", clause.text) and org[0].isupper() and verb in ("work", "working"):
        yield Fact(label="work", value=f"Works in {org}", clause=clause, starts=True, confidence=0.75)
    else:
        yield Fact(
            label="employer",
            value=f"Works at {org}",
            stated=org,
            clause=clause,
            slot="employer",
            starts=verb not in ("work", "working", "employed"),
        )
    if match["job"]:
        yield Fact(
            label="job",
            value=f"Works as {article(job_value(match['job']))}",
            stated=job_value(match["job"]),
            clause=clause,
            slot="job_title",
            starts=verb not in ("work", "working"),
        )


@_rule(
    "as",
    rf"{LEAD}(?i:I(?:'m|'ve been|\sam|\shave been|'ve|\shave)?\s{ADV}(?:work|working|worked|start|starting"
    rf"|started)(?:\s(?:part[- ]time|full[- ]time|now|on \w+|nights|days|weekends"
    rf"|shifts|freelance|remotely))*\sas\s(?:an?\s|the\s)?){JOB}(?=$"
    rf"|\s(?i:and|since|for|from|on|in|at|but|with|until|here)\b)(?:\s(?i:at|for|with)\s(?i:the\s(?=[A-Z]))?{EMPLOYER})?",
)
def _works_as(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    if "worked" in match[0].lower():
        return
    yield Fact(
        label="job",
        value=f"Works as {article(job_value(match['job']))}",
        stated=job_value(match["job"]),
        clause=clause,
        slot="job_title",
        starts="start" in match[0].lower(),
    )
    if match["org"] and is_employer(match["org"], match["job"]):
        yield Fact(
            label="employer",
            value=f"Works at {match['org']}",
            stated=match["org"],
            clause=clause,
            slot="employer",
            starts="start" in match[0].lower(),
        )


@_rule(
    "im am ill be",
    rf"{LEAD}(?i:(?:(?:from|as of|starting|since)\s[\w ]{{3,20}}?\s)?I(?:'m|\sam"
    rf"|'ll be|\swill be)\s{ADV}(?:an?|the)\s){JOB}(?=$|\s(?i:and|by|for|from|in|at|with|on"
    rf"|but|who|now|there|here|these days)\b)(?:\s(?i:at|for|with)\s(?i:the\s(?=[A-Z]))?{EMPLOYER})?",
)
def _am_job(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    job = job_value(match["job"])
    if is_occupation(job):
        yield Fact(
            label="job",
            value=f"Is {article(job)}",
            stated=job,
            clause=clause,
            slot="job_title",
            starts=bool(re.search(r"'ll|will|from|since|now", match[0])),
        )
        if match["org"] and is_employer(match["org"], match["job"]):
            yield Fact(
                label="employer",
                value=f"Works at {match['org']}",
                stated=match["org"],
                clause=clause,
                slot="employer",
                starts=bool(re.search(r"'ll|will|from|since|now", match[0])),
            )


@_rule(
    "do teach run manage lead own",
    rf"{LEAD}(?i:I\s{ADV}(?:do|teach|run|manage|lead"
    rf"|own))\s(?P<what>[^\ue000,.;:!?()]{{3,45}}?)\s(?i:at|for)\s(?i:the\s(?=[A-Z]))?{EMPLOYER}",
)
def _does_at(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    if is_employer(match["org"]):
        yield Fact(
            label="employer", value=f"Works at {match['org']}", stated=match["org"], clause=clause, slot="employer"
        )
        yield Fact(
            label="job",
            value=f"{verb_s(match[0].split(match['what'])[0].split()[-1])} {clean(match['what'])}",
            clause=clause,
            slot="job_title",
        )


@_rule(
    "teach run manage own",
    r"(?i:^(?:and\s)?I\s(?:teach|run|manage|own)\s(?P<what>(?:an?|the|my own"
    r"|the local)\s(?:[\w'-]+\s){0,3}(?:bakery|shop|cafe|café|restaurant|business|company|farm"
    r"|studio|salon|gallery|school|agency|practice|team|start-?up|garage|bookshop|pub|hotel"
    r"|class(?:es)?)|(?:maths|history|physics|chemistry|biology|english|music|art|geography|yoga"
    r"|piano|primary school|year \w+)\b[^\ue000,.;:!?]{0,25}))",
)
def _runs(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    verb = re.search(r"teach|run|manage|own", match[0], re.IGNORECASE)
    yield Fact(
        label="job",
        value=f"{verb_s(verb[0] if verb else 'run')} {clean(match['what'])}",
        clause=clause,
        slot="job_title",
    )


@_rule(
    "left quit resigned stopped laid retired notice",
    rf"(?i:\bI(?:'ve|\shave)?\s(?:just\s)?(?:left|quit|resigned from|stopped working (?:at|for)"
    rf"|got laid off from|was laid off from|retired from|handed in my notice at)\s(?:my job at\s"
    rf"|the\s)?)(?P<org>{NAME})",
)
def _left(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    if is_name(match["org"]):
        yield Fact(
            label="employer",
            value=f"Left {match['org']}",
            stated=f"no longer at {match['org']}",
            clause=clause,
            slot="employer",
            starts=True,
            ends=True,
        )


@_rule(
    "promoted made appointed",
    r"(?i:\bI(?:'ve|\shave|\sjust)?\s(?:just\s)?(?:got|been|was)\s(?:promoted|made"
    r"|appointed)\s(?:to\s)?(?:an?\s|the\s)?)(?P<job>(?:[\w/&-]+\s){0,3}?[\w/&-]+)(?=$|\s(?i:and"
    r"|at|in|on|last|this|yesterday|from|since|of|as)\b)",
)
def _promoted(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    if is_occupation(match["job"]):
        yield Fact(
            label="job",
            value=f"Works as {article(job_value(match['job']))}",
            stated=job_value(match["job"]),
            clause=clause,
            slot="job_title",
            starts=True,
        )


@_rule(
    "been day week",
    rf"{LEAD}(?i:I(?:'ve|\shave)\s{ADV}been\s(?:at|with)\s(?:the\s)?)(?P<org>{NAME})(?=\s(?i:for|since|nearly|about"
    rf"|almost|ten|\w+ years)\b)|(?i:\bfirst\s(?:day|week)\s(?:at|with)\s(?:the\s)?)(?P<org2>{NAME})",
)
def _been_at(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    org = match["org"] or match["org2"]
    if not is_name(org) or (match["org2"] and re.search(r"\b(?:his|her|their|your)\s*$", clause.text[: match.start()])):
        return
    yield Fact(
        label="employer",
        value=f"Works at {org}",
        stated=org,
        clause=clause,
        slot="employer",
        starts=bool(match["org2"]),
        confidence=0.75,
    )


@_rule(
    "of",
    rf"{LEAD}(?i:I(?:'m|\sam|'ve\sbecome)\s{ADV}(?:the\s)?)(?P<job>(?i:head|director|chief|vice president|VP|secretary|captain"
    rf"|chair)\sof\s[\w&-]+(?:\s(?!at\b|now\b|and\b|for\b|in\b)[\w&-]+)?)(?=$|,|\s(?i:now|at|and|for|in)\b)",
)
def _head_of(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    job = clean(match["job"])
    yield Fact(label="job", value=f"Is {job}", stated=job, clause=clause, slot="job_title", starts=True)


@_rule("retired", r"(?i:^(?:and\s)?I(?:'ve|\shave)?\s(?:just\s)?retired\b)")
def _retired(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    yield Fact(label="job", value="Is retired", clause=clause, slot="job_title", starts=True)


@_rule(
    "studying study doing read reading",
    rf"(?i:\bI(?:'m|\sam)?\s(?:studying|study|doing an? (?:part[- ]time |full[- ]time )?(?:degree|phd|ma|msc|mba"
    rf"|ba|bsc|llb|diploma|apprenticeship|master's|masters) in|read"
    rf"|reading)\s)(?P<what>[A-Za-z][\w\s&-]{{2,40}}?)\s(?i:at)\s(?i:the\s)?(?P<org>{NAME})"
    rf"|(?i:^I(?:'m|\sam)\sstudying\s(?:for\s)?)(?P<what2>[A-Za-z][\w\s&-]{{2,40}}?){STOP}",
)
def _studies(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    if match["org"]:
        yield Fact(
            label="studies", value=f"Studies {clean(match['what'])} at {match['org']}", clause=clause, slot="studies"
        )
    elif not VAGUE.match(match["what2"]):
        yield Fact(
            label="studies", value=f"Studies {clean(match['what2'])}", clause=clause, slot="studies", confidence=0.75
        )


@_rule(
    "work",
    rf"(?i:^(?:and\s)?I\swork\sin\s)(?P<field>(?!the\b|a\b|an\b|my\b|our\b|this\b"
    rf"|shifts)[a-z][\w&-]*(?:\s[a-z][\w&-]*){{0,2}}?){STOP}",
)
def _field(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    yield Fact(label="work", value=f"Works in {clean(match['field'])}", clause=clause)


@_rule(
    "job role position post",
    rf"(?i:\bI(?:'ve|\shave)?\s(?:just\s|recently\s|finally\s)?(?:started|got|landed|accepted|took"
    rf"|begun|have)\s(?:an?\s|my\s)(?:new\s)?(?:job|role|position|post)\sas\s(?:an?\s|the\s"
    rf"|their\s)?){JOB}(?=$|\s(?i:at|with|for|in|last|this|on|and)\b)(?:\s(?i:at|with"
    rf"|for)\s(?i:the\s(?=[A-Z]))?{EMPLOYER})?",
)
def _new_job(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    yield Fact(
        label="job",
        value=f"Works as {article(job_value(match['job']))}",
        stated=job_value(match["job"]),
        clause=clause,
        slot="job_title",
        starts=True,
    )
    if match["org"] and is_employer(match["org"], match["job"]):
        yield Fact(
            label="employer",
            value=f"Works at {match['org']}",
            stated=match["org"],
            clause=clause,
            slot="employer",
            starts=True,
        )


PART_OF_IT = re.compile(r"\s(?!any\b|anymore\b|now\b|since\b|these\b|and\b|but\b)[a-z]")
"""After "Lidl's": what of it somebody does not work at, such as "head office"."""


@_rule(
    "longer dont not",
    rf"(?i:\bI(?:'m|\sam)?\s(?:no longer|don't|do not)\s(?:work|working)\s(?:at|for)\s(?:the\s)?)(?P<org>{NAME})",
)
def _no_longer(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    of_it = match["org"].endswith("'s") and PART_OF_IT.match(clause.text, match.end())
    if is_name(match["org"]) and not of_it and not PARTLY.match(clause.text, match.end()):
        yield Fact(
            label="employer",
            value=f"No longer works at {match['org']}",
            stated=f"no longer at {match['org']}",
            clause=clause,
            slot="employer",
            starts=True,
            ends=True,
        )
