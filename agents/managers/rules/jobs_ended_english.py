"""Jobs that are over, in English: "I lost my job", "I don't teach at the Goethe school any more", "I left; I'm with Bosch now"."""

from __future__ import annotations

from collections.abc import Iterator

from .... import lazy_re as re
from ....memory_types.proposals import Ends
from .couples_english import SO
from .english_grammar import LEAD, article, clean
from .over import PARTLY, EndingRules, Over
from .people import is_name
from .sentences import Clause, Sentence
from .words import NAME
from .work_english import EMPLOYER, PART_OF_IT, is_employer

__all__ = ["ANY_MORE", "I_HAVE", "JOB_ENDINGS", "bare", "now_with"]

ANY_MORE = r"(?:any\s?more|any longer|these days|now)"
I_HAVE = rf"(?:I|we)(?:'ve|\shave|'m|\sam|'re|\sare|\swas|\swere|\shad)?\s{SO}"
JOB_ENDINGS = EndingRules()


_JOBLESS = (
    rf"{I_HAVE}(?:lost|quit|left|gave up|given up|resigned from|packed in|was let go from)\s(?:my"
    rf"|the)\s(?:\w+\s)?job\b(?!\s(?:at|with|for)\s)"
    rf"|{I_HAVE}(?:laid off|fired|sacked|let go|made redundant|dismissed)\b"
    rf"|I(?:'m|\sam)\s{SO}(?:unemployed|jobless|out of (?:work|a job)|between jobs)\b"
    rf"|I\s(?:don't have|have no|haven't got|no longer have)\s(?:an?\s)?job\b"
    rf"|I(?:'m|\sam)?\s(?:no longer|not|don't|do not)\s(?:work|working)(?:\s{ANY_MORE})?\W*$"
)


@JOB_ENDINGS.rule(rf"{LEAD}(?i:{_JOBLESS})")
def _lost_job(match: re.Match[str], clause: Clause) -> Iterator[Over]:
    said = match[0].lower()
    if re.search(r"\b(?:work|working)\b", said) and not re.search(rf"no longer|{ANY_MORE}|out of work", said):
        return  # "I'm not working" today
    if re.search(r"\bI\s(?:left|quit)\sthe\s", match[0]):
        return
    quit_it = re.search(r"\b(?:quit|left|gave up|given up|resigned|packed in)\b", said)
    value = (
        "Left their job"
        if quit_it
        else "Lost their job"
        if re.search(r"lost|laid|fired|sacked|let go|redundant|dismissed", said)
        else "Has no job"
    )
    yield Over.of(
        clause,
        Ends(slots=("job_title", "employer")),
        Ends(labels=("work",)),
        label="job",
        value=value,
        stated="no job",
        slot="job_title",
    )


_LEFT = re.compile(
    rf"\bI(?:['’]ve|\shave)?\s{SO}(?:left|quit|resigned from|stopped working (?:at|for)|(?:no longer|don['’]t|do not) work (?:at|for))\s"
    rf"(?:my job (?:at|with)\s)?(?:the\s)?(?-i:(?P<org>{NAME}))",
    re.IGNORECASE,
)
_IS_WITH = re.compile(
    r"(?i:^(?:(?:and|so|but|now)\s)*(?:(?:since|as of|from|starting)\s[\w ]{3,20}?\s)?(?:(?:and|now)\s)?"
    rf"I(?:['’]m|\sam|['’]ve been|\shave been)\s{SO}(?:over\s)?(?:with|at)\s(?:the\s)?){EMPLOYER}"
    r"(?=\W*$|\s(?:now|since|from|instead|these)\b)"
)


def now_with(sentence: Sentence) -> Iterator[Over]:
    """Where somebody is who has just told what employer they left: "I left Siemens; since Monday I'm with Bosch"."""
    left = next(
        ((clause, match) for clause in sentence.clauses if clause.holds and (match := _LEFT.search(clause.text))), None
    )
    if left is None or not is_employer(left[1]["org"]):
        return
    for clause in sentence.clauses:
        if not clause.holds or clause.start < left[0].start:
            continue
        match = _IS_WITH.match(clause.text[left[1].end() :].lstrip() if clause is left[0] else clause.text)
        if match and is_employer(match["org"]) and match["org"] != left[1]["org"]:
            yield Over.of(
                clause,
                Ends(slots=("employer",), words=left[1]["org"], needed=True),
                label="employer",
                value=f"Works at {match['org']}",
                stated=match["org"],
                slot="employer",
            )


@JOB_ENDINGS.rule(
    rf"{LEAD}(?i:{I_HAVE}(?P<how>lost|quit|left|gave up|given up|resigned from|packed in|was let go from)\s(?:my|the)"
    rf"\s(?:[\w-]+\s){{0,2}}?(?:job|position|post|role)\s(?:at|with|for|in)\s)(?i:the\s(?=(?-i:[A-Z])))?{EMPLOYER}"
)
def _left_employer(match: re.Match[str], clause: Clause) -> Iterator[Over]:
    org = match["org"]
    if not is_employer(org) or (is_name(org) and re.search(r"(?i:left|quit) my job at ", match[0])):
        return  # a name is read where the facts of work are
    words = bare(org)
    yield Over.of(
        clause,
        Ends(slots=("employer",), words=words),
        Ends(slots=("job_title",), words=words),
        label="employer",
        value=f"No longer works at {org}",
        stated=f"no longer at {org}",
        slot="employer",
    )


@JOB_ENDINGS.rule(
    rf"{LEAD}(?i:I(?:'m|\sam|'ve|\shave)?\s{SO}(?:(?P<ever>no longer)|don't|do not|not|(?P<stopped>stopped|quit))\s"
    rf"(?P<verb>work|teach|lecture)(?:ing)?\s(?:(?P<what>[a-z]+(?:\s[a-z]+)?)\s)?(?:at|for)\s(?:the\s(?=(?-i:[A-Z])))?){EMPLOYER}(?P<more>\s(?i:{ANY_MORE}))?"
)
def _works_there_no_more(match: re.Match[str], clause: Clause) -> Iterator[Over]:
    org, words = match["org"], bare(match["org"])
    sure = bool(match["ever"] or match["stopped"] or match["more"])
    if not is_employer(org) or (match["verb"].lower() == "work" and match["what"]):
        return
    part = org.endswith("'s") and PART_OF_IT.match(clause.text, match.end("org"))
    if part or PARTLY.match(clause.text, match.end("org")):
        return
    taught = f"{match['what']} at {words}" if match["what"] else words  # another subject may still be taught there
    ends = [Ends(slots=("job_title",), words=taught)]
    if not match["what"]:
        ends.insert(0, Ends(slots=("employer",), words=words, needed=not sure))
    verb = "works" if match["verb"].lower() == "work" else f"{match['verb'].lower()}es"
    yield Over.of(
        clause,
        *ends,
        label="job" if match["what"] else "employer",
        value=f"No longer {verb} {match['what'] + ' ' if match['what'] else ''}at {org}",
        stated=f"no longer at {org}",
        slot="job_title" if match["what"] else "employer",
    )


@JOB_ENDINGS.rule(
    rf"{LEAD}(?i:I(?:'m|\sam|'ve|\shave)?\s(?:(?P<ever>no longer)|(?:don't|do not|not)|stopped|quit)\s(?:work"
    rf"|working)\sas\s(?:an?\s|the\s)?)"
    rf"(?P<what>[^\ue000,.;:!?()]{{2,40}}?)(?P<more>\s(?i:{ANY_MORE}))?\W*$"
)
def _works_no_more(match: re.Match[str], clause: Clause) -> Iterator[Over]:
    what = clean(match["what"])
    yield Over.of(
        clause,
        Ends(slots=("job_title",), words=what, needed=True),
        label="job",
        value=f"No longer works as {what if re.match('(?i:an?|the) ', what) else article(what)}",
        stated=f"no longer {what}",
        slot="job_title",
    )


def bare(what: str) -> str:
    return re.sub(r"^(?:an?|the|their)\s", "", what, flags=re.IGNORECASE)
