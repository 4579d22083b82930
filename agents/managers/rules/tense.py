"""Whether a clause tells of the past or of what is to come."""

from __future__ import annotations

from .... import lazy_re as re
from ....intent.dates.spans import Prefer
from ....intent.phrases.tokens import word_set
from .event_words import AGREED, DUE, FUTURE_ZH, NOT_PLANNED, PAST, PAST_ZH, PLANNED, SUBJECT_PAST
from .own_verbs import part_with

__all__ = ["done_on", "tense"]

_AND_DID = re.compile(
    r"\b(?:and|but|then)\s(?:\w+ly\s)?(?:went|got|won|lost|came|ran|met|saw|made|had|was|were|did|took|loved|[a-z]{3,}ed)\b",
    re.IGNORECASE,
)
_MONTH = r"(?:jan|feb|mar|apr|may\b|jun|jul|aug|sep|oct|nov|dec)"
_DAY = (
    rf"(?:(?:the\s)?\d{{1,2}}(?:st|nd|rd|th)?\s(?:of\s)?{_MONTH}|{_MONTH}[a-z]*\.?\s\d{{1,2}}\b"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day\b)"
)
_WHO = (
    r"(?:\b(?:I|we|he|she|they|you|who)|\b(?:my|our|his|her|their)\s\w+|(?<![\w’'-])(?-i:(?!The\b|These\b|Those\b)[A-Z][\w-]+))"
    r"\s(?:(?:just|also|already|finally|then|only)\s)?"
)
_WORDS = r"(?:(?!(?:for|on|and|but|which|that)\b)[\w’'-]+\s)"
_ARRANGED = r"(?:booked|reserved|ordered|arranged|organi[sz]ed|scheduled)"
_DONE_ON = re.compile(rf"{_WHO}{_ARRANGED}\s{_WORDS}{{0,6}}?(?P<last>[\w’'-]+)\son\s(?={_DAY})", re.IGNORECASE)
_DONE_ON_ZH = re.compile(
    r"(?:\d{1,2}|[一二三四五六七八九十]+)月(?:\d{1,2}|[一二三四五六七八九十]+)[日号號](?:那天|的时候)?(?:我们?|就|才|已经)*[预預]?[订訂定买買约約报報]好?了"
)
_OCCASIONS = word_set(
    "appointment meeting call lesson class course workshop session seminar exam test interview checkup check-up viewing"
    " visit consultation slot massage haircut service race run marathon half-marathon match game concert show play gig film"
    " screening tour party dinner lunch breakfast brunch dentist doctor gp vet hairdresser therapist plumber electrician"
    " babysitter cleaner"
)
"""What is on a day by itself: of "I booked a lesson on 3 March" the day is that of the lesson."""
_READY_FOR = re.compile(
    rf"{_WHO}(?:{_ARRANGED}|planned|bought|baked|made|got|prepared|fixed)\s{_WORDS}{{0,7}}(?:on\s{_DAY}[a-z\s]*)?for\s(?={_DAY})",
    re.IGNORECASE,
)


def done_on(text: str) -> range | None:
    """Where the day may begin on which something was arranged, by the words alone: "I booked the flights on 3 March".

    None where no such day is told. "I have booked" has none, nor has what is on that day itself: "I booked a lesson on
    3 March".
    """
    found = _DONE_ON.search(text)
    if found is not None and found["last"].casefold() not in _OCCASIONS:
        return range(found.end() - 3, found.end() + 5)
    han = _DONE_ON_ZH.search(text)
    return range(han.start(), han.end()) if han is not None else None


def tense(text: str, has_han: bool, at: int | None = None) -> Prefer:
    """Whether a clause tells of the past or of what is to come.

    Args:
        at: where in the clause the date stands that is asked for: what was arranged on one day is for another, and of
            several verbs the one counts that goes with the date.
    """
    if at is not None and 0 <= at < len(text):
        first, last = part_with(text, at)
        text, at = text[first:last], at - first
    done = done_on(text)
    found = _READY_FOR.search(text)
    ready = found is not None and not NOT_PLANNED.search(text) and not _happened(text, found)
    if done is not None and (at in done or (at is None and not ready)):
        return "past"
    if ready:
        return "future"
    if AGREED.search(text) or (DUE.search(text) and not SUBJECT_PAST.search(text)):
        return "future"
    if (planned := PLANNED.search(text)) and not NOT_PLANNED.search(text) and not _happened(text, planned):
        return "future"
    past = bool(PAST.search(text)) or (has_han and bool(PAST_ZH.search(text)))
    if not past:
        return "future"
    if re.search(
        r"\b(?:will|'ll|going to|gonna|off to|tomorrow|next|booked)\b|明天|下周|下个?月|后天", text, re.IGNORECASE
    ):
        return "future"
    if has_han and FUTURE_ZH.search(text) and not re.search(r"昨|上周|上个?月|前天|去年", text):
        return "future"
    return "past"


def _happened(text: str, planned: re.Match[str]) -> bool:
    """Whether the rest of a clause tells how it went: "I signed up for the race on 3 May and finished last"."""
    rest = f"{text[: planned.start()]} {text[planned.end() :]}"
    return SUBJECT_PAST.search(rest) is not None or _AND_DID.search(rest) is not None
