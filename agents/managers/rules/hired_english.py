"""How the user came to a job, in English: "I just started a new job at Arup", "I was hired by Arup", "my new job at Arup"."""

from __future__ import annotations

from collections.abc import Iterator

from .... import lazy_re as re
from ....intent.dates.words_english import MONTH_NAME
from .english_grammar import ADV, LEAD, Fact, article, rule_set
from .people import is_name
from .sentences import Clause
from .words import NAME
from .work_english import EMPLOYER, JOB, is_employer, job_value

__all__ = ["HIRED_RULES"]

HIRED_RULES, _rule = rule_set()

_WHEN = r"(?i:(?:(?:last|this|next|in|on|since|from|yesterday|today|tomorrow)\b[\w ]{0,20},?\s)?)"
_I = rf"{LEAD}{_WHEN}(?i:I(?:'ve|'m|\shave|\sam)?\s){ADV}"
_POST = r"(?:jobs?|role|position|post|gig|internship|apprenticeship|traineeship|placement)"
_OF_KIND = (
    r"(?:(?:new|first|full-time|part-time|great|good|dream|permanent|temporary|second|summer|weekend|lovely)\s){0,2}"
)
_HERE = rf"\s(?i:at|with)\s(?i:the\s(?=(?-i:[A-Z])))?{EMPLOYER}"
_WORKING = _HERE.replace("at|with", "at|for")  # whom one works with is a colleague or a customer
_AS = rf"\s(?i:as)\s(?i:an?\s|the\s|their\s)?{JOB}(?=$|\s(?i:and|since|for|from|on|in|at|but|next|this|last|until|with|now)\b)"


@_rule(
    "job role position post gig internship apprenticeship traineeship placement",
    rf"{_I}(?i:started|begun|began|starting|start|landed|got|gotten|accepted|took|taken|found|have|scored|secured"
    rf"|been offered and accepted)\s(?i:an?|my|the|this)\s(?i:{_OF_KIND}{_POST}){_HERE}(?:{_AS})?",
)
def _started_job(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    if _OF_OTHERS.match(clause.text, match.end()):
        return
    # "I got the job, I start on Monday": the day beside it is of something else.
    yield from _employed(match, clause, starts=re.search(r"\b(?:start|beg[aiu]n)", match[0], re.IGNORECASE) is not None)


@_rule("working", rf"{_I}(?i:started|begun|began|start|starting|been)\s(?i:working){_WORKING}(?:{_AS})?")
def _started_working(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    yield from _employed(match, clause)


@_rule(
    "worked",
    rf"{LEAD}(?i:I(?:'ve|\shave)\s){ADV}(?i:worked){_WORKING}(?:{_AS})?(?=\s(?i:since\b|for\s(?:the\s(?:last|past)\s)?(?:over\s|almost\s|nearly"
    rf"|about\s|more than\s)?(?:\w+\s){{1,2}}(?:years|months|weeks|decades)\b(?!\s(?:before|until|in the))))",
)
def _has_worked(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    yield from _employed(match, clause)


@_rule(
    "hired recruited taken employed poached",
    rf"{LEAD}{_WHEN}(?i:I\s(?:was|got|'?ve been|have been|'ve just been)\s|I've\s(?:just\s|recently\s)?been\s){ADV}"
    rf"(?i:hired|recruited|taken on|(?<!\bI\swas\s)employed|poached)(?:\s(?i:by|at)\s(?i:the\s(?=(?-i:[A-Z])))?{EMPLOYER})?(?:{_AS})?",
)
def _was_hired(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    if not _LET_GO.search(clause.text, match.end()):
        yield from _employed(match, clause)


@_rule(
    "job role position post internship apprenticeship",
    rf"(?:^|[\s,])(?i:my\s(?:(?:new|current|present|full-time|part-time|day|main)\s){{0,2}}(?:job|role|position|post|internship"
    rf"|apprenticeship))\s(?i:at|with)\s(?i:the\s(?=(?-i:[A-Z])))?(?P<org>{NAME})(?!['’]s)",
)
def _my_job(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    if not _GONE.search(clause.text):
        yield from _employed(match, clause, starts=" new " in match[0].casefold())


_GONE = re.compile(
    r"\b(?:was|were|ended|left|leave|leaving|quit|quitting|lost|losing|lose|resigned?|used to|back then|at the time|until|never|before"
    r"|interview(?:s|ed)?|appl(?:y|ied|ying)|application|wanted|hope|hoping|would|could|if|over|done|finish(?:ed)?|complete[ds]?|expired?"
    r"|fell through|(?:turned|turning) (?:it )?down|declin(?:ed?|ing)|refus(?:ed?|ing)|rejected|cut|cancell?ed|fired|sacked|dismissed"
    r"|laid off|let go|redundant|redundancy|g[ai]ven? (?:it )?up|giving up|retired?|retiring|miss|missed|notice|withdrawn|withdrew)\b",
    re.IGNORECASE,
)
"""What tells that one has left a job, or has not got it."""
_LET_GO = re.compile(
    r"\b(?:left|quit|fired|sacked|dismissed|laid off|let go|made redundant|resigned|until|retired"
    r"|(?<!\bfrom\s)\d{4}\s(?:to|till)\s\d{4}|said no|declined|refused|turned it down|before)\b",
    re.IGNORECASE,
)
"""What tells behind it that one who was hired was not for long, or did not go."""
_OF_OTHERS = re.compile(
    r"\sfor\s(?:(?:my|our|his|her|their|a|the)\s(?!(?:last|next|past|first|summer|winter|time|year|season)\b)\w|h(?:er|im)\b|them\b"
    rf"|(?!(?i:{MONTH_NAME}))[A-Z][a-z])"
    r"|\s(?:to\s(?:do|finish)|in mind)\b|\s(?:but|and)\s(?:then\s)?(?:quit|left|resigned|lost)\b"
)
"""A job that was found for somebody else, a piece of work, or one that was given up."""


def _employed(match: re.Match[str], clause: Clause, *, starts: bool = True) -> Iterator[Fact]:
    """Who employs the user, and as what, as far as it is said."""
    named = match.groupdict()
    org, job = named.get("org") or "", named.get("job") or ""
    if org and (is_employer(org, job) if re.match(r"(?:an?|the)\s", org, re.IGNORECASE) else is_name(org)):
        yield Fact(label="employer", value=f"Works at {org}", stated=org, clause=clause, slot="employer", starts=starts)
    if job:
        title = job_value(job)
        yield Fact(
            label="job",
            value=f"Works as {article(title)}",
            stated=title,
            clause=clause,
            slot="job_title",
            starts=starts,
        )
