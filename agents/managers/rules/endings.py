"""What a step says is over: a home that was left, a job lost, a couple that parted, a pet that died, a plan given up.

An ending is kept as what is so now ("No longer lives in Rome") and closes what it ends, and nothing along with it. Where
it may be said of somebody or something that memory knows nothing of, it is kept only if it ends something known.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import tzinfo

from .... import lazy_re as re
from ....intent.dates.relative import find_dates
from ....memory_types import ItemKind
from ....memory_types.proposals import Ends
from ...contract import HeardStep
from .couples_english import together_from
from .endings_chinese import chinese_endings
from .endings_english import english_endings
from .english_grammar import Fact
from .fact_dates import of_what_follows
from .finding import Finding, day_start, quote_of
from .habits_english import ends_of_habit
from .having import ends_of_having
from .over import PARTLY, Over, slots_of
from .people import People
from .sentences import Reading
from .told import Told
from .work_english import EMPLOYER

__all__ = ["bare_name", "endings", "ends_of_fact", "ends_of_told"]

_MARRIED = ("wife", "husband", "spouse", "老婆", "老公", "妻子", "丈夫", "爱人", "太太", "先生")


def endings(reading: Reading, heard: HeardStep, text: str, people: People, zone: tzinfo) -> list[tuple[Over, Finding]]:
    """The endings that a step of the user tells, each with what is kept of it.

    A day told with an ending is when it came; what is to end on a day to come is not over yet.
    """
    found: list[tuple[Over, Finding]] = []
    today = heard.step.occurred_at.astimezone(zone).date()
    for over in _all(reading, people):
        said, at = reading.raw[over.start : over.end], max(over.told - over.start, 0)
        days = [
            day
            for day in find_dates(said, heard.step.occurred_at, zone, prefer="past")
            if not of_what_follows(day, said, at, has_han=reading.has_han)
        ]
        since = days[0].day if len(days) == 1 and over.kind != "episodic" else None
        if since is not None and days[0].precision not in ("day", "week"):
            since = min(days[0].last_day, today)
        if since is not None and since > today:
            continue
        kinds: dict[ItemKind, dict[str, object]] = {
            "core": {"label": over.label, "value": over.value},
            "semantic": {"name": over.label, "summary": over.value},
            "episodic": {
                "occurred_at": heard.step.occurred_at,
                "actor": "user",
                "event_type": "cancellation",
                "summary": over.value,
            },
        }
        found.append(
            (
                over,
                Finding(
                    kind=over.kind,
                    values=kinds[over.kind],
                    evidence=(quote_of(text, over.start, over.end, heard.step.id),),
                    slot=over.slot,
                    stated=over.stated,
                    valid_from=day_start(since, zone) if since is not None and since < today else None,
                    confidence=0.8,
                    reason="over",
                    ends=over.ends,
                ),
            )
        )
    return found


def _all(reading: Reading, people: People) -> Iterator[Over]:
    found = list(_told(reading, people))
    again = together_from(reading.raw)
    for one in found:
        # "We broke up but got back together": a couple that is one again has not parted.
        parts = one.stated.startswith(("no longer with", "已")) or one.slot == "marital_status"
        if not parts or not one.start < again:
            yield one


def _told(reading: Reading, people: People) -> Iterator[Over]:
    for sentence in reading.sentences:
        if sentence.holds and sentence.clauses:
            if reading.has_latin:
                yield from english_endings(sentence, people)
            if reading.has_han:
                yield from chinese_endings(sentence)


_NAMED = r"(?:the\s)?(?P<{}>[A-Z][\w&'-]*(?:\s[A-Z][\w&'-]*)*)"
_NO_MORE = r"(?:no longer|doesn't|does not|don't|do not)\s(?:now\s)?"
_OF_OTHERS = (
    re.compile(
        rf"\b(?:{_NO_MORE}(?:live|lives)\sin\s|(?:has\s)?moved (?:out of|away from)\s){_NAMED.format('home_city')}"
    ),
    re.compile(
        rf"\b(?:{_NO_MORE}(?:work|works)\s(?:at|for)\s|(?:has\s)?(?:left|stopped working (?:at|for)"
        rf"|quit)\s){_NAMED.format('employer')}"
    ),
    re.compile(
        r"\b(?:(?:has\s)?(?:lost|quit|left|gave up)\s(?:her|his|their)\s(?:\w+\s)?(?P<job>job)\b"
        rf"(?:\s(?:at|with|for)\s(?:the\s(?=[A-Z]))?{EMPLOYER})?"
        r"|(?:was|were|got|has been|been)\s(?P<job2>laid off|fired|sacked|made redundant|let go)\b"
        r"|\bis\s(?:now\s)?(?P<job3>unemployed|out of work|retired)\b)"
    ),
    re.compile(r"\s(?:has\s)?(?P<died>died|passed away)\b"),
    re.compile(r"不再?住在?(?P<home_city>[\u4e00-\u9fff]{2,7}?|[A-Z]\w+)了"),
    re.compile(r"(?P<job>失业|下岗|辞职|离职|被裁员?|被炒|被辞退)了"),
    re.compile(r"(?P<died>去世|过世|离世|病逝)了"),
)
_NOT_NAME = re.compile(r"\s(?:no longer|not|never|now|still|already)\Z", re.IGNORECASE)
_OF_WORK = ("employer", "job_title")


def bare_name(name: str) -> str:
    """A name without what was said of it: "Tom no longer" is ``Tom``."""
    return _NOT_NAME.sub("", name)


def ends_of_told(told: Told) -> tuple[Ends, ...]:
    """What is over by what is told of somebody else: "Beth (sister) no longer lives in Rome", "Tom lost his job"."""
    who = bare_name(told.name).casefold().replace(" ", "_")
    for form in _OF_OTHERS:
        match = form.search(told.summary)
        if match is None:
            continue
        part = match.lastgroup or ""
        if part in ("home_city", "employer") and PARTLY.match(told.summary, match.end()):
            continue
        if part == "died":
            return (Ends(slots=slots_of(who, "home_city", *_OF_WORK, "age")),)
        if match.groupdict().get("org"):
            org = re.sub(r"^(?:an?|the)\s", "", match["org"])
            return (Ends(slots=slots_of(who, "employer"), words=org),)
        if part.startswith("job"):
            return (Ends(slots=slots_of(who, *_OF_WORK)),)
        return (Ends(slots=slots_of(who, part), words=match[part]),)
    return ()


def ends_of_fact(fact: Fact) -> tuple[Ends, ...]:
    """What is over by a fact that says how it is now: who dislikes coffee no longer loves it, who retired has no employer."""
    if fact.slot == "marital_status":
        over = fact.value.casefold()
        if "single" in over or "单身" in over:
            return (Ends(slots=("partner",)),)
        if any(word in over for word in ("divorced", "separated", "widowed", "离婚", "离异", "分居", "丧偶")):
            return tuple(Ends(slots=("partner",), words=word) for word in _MARRIED)
    if fact.value in ("Is retired", "退休", "已退休"):
        return (Ends(slots=("employer",)),)
    if fact.slot == "employer" and fact.ends:
        return (
            Ends(
                slots=("employer",),
                words=fact.stated.removeprefix("no longer at ").removeprefix("不在").removesuffix("了"),
            ),
        )
    if replaced := ends_of_habit(fact):
        return replaced
    if lacking := ends_of_having(fact):
        return lacking
    verb, _, what = fact.value.partition(" ")
    if fact.label in ("preference", "dislike") and verb in ("Loves", "Likes", "Prefers", "Dislikes") and what:
        return (Ends(labels=("preference" if verb == "Dislikes" else "dislike",), words=what, exact=True),)
    return ()
