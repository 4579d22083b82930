"""How old somebody is, told anew: "Lotte is eleven", "my son Levi turned seven yesterday", 小美满九岁了."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta

from .... import lazy_re as re
from ....intent.dates.numbers_english import number
from ....intent.dates.relative import find_dates
from ....intent.dates.words_chinese import chinese_number
from ...contract import HeardStep
from .english_grammar import AGE_WORDS, LEAD
from .finding import Finding, day_start, quote_of
from .people import KIN_PATTERN, KIN_ZH_PATTERN, ZH_NAME, Person, is_name
from .sentences import Clause, Reading
from .so_far import SoFar
from .words import NAME

__all__ = ["ages_told", "with_age"]

_IS = r"(?:'s|\sis|(?:(?:\shas|'s)?(?:\s(?:just|already|finally|recently|now))*\sturned))"
_AGE = re.compile(
    rf"{LEAD}(?:(?i:(?:my|our)\s(?:[\w-]+\s)?(?P<kin>{KIN_PATTERN})),?(?=\s|'s))?(?:(?:^|\s)?(?P<name>{NAME}))?(?i:{_IS})"
    rf"\s(?i:(?:now|already|just|actually|finally|officially)\s)*(?P<age>(?i:{AGE_WORDS}))(?![\w-])(?i:\syears?\sold)?(?P<rest>.*)$"
)
# Not "39°", "40%" or "12€".
_REST = re.compile(r"(?:[^\w°℃℉%‰€$£¥]|\b(?:now|today|already|too|as well|on|in|this|finally)\b)*", re.IGNORECASE)
_COUNT_ZH = r"(?:\d{1,3}|[一二三四五六七八九十百]+)"
_AGE_ZH = re.compile(
    rf"^(?:[我咱]们?家?的?)?(?P<kin>{KIN_ZH_PATTERN})?(?P<name>{ZH_NAME})?"
    r"(?:今天|昨天|前天|前几天|上周[一二三四五六日天]?|上个?月|这周|今年|现在|已经|刚|终于|都|也|就)*"
    rf"满?(?P<age>{_COUNT_ZH}岁半?)了?$"
)
_NO_NAME_ZH = re.compile(r"[岁不今现已刚昨前后周月年是在有了也都就才快]")
_TOLD = re.compile(
    rf"(?P<lead>\baged\s|\b(?:is|turned)\s(?:now\s)?|'s\s)(?P<age>{AGE_WORDS})(?![\w-])|(?P<zh>{_COUNT_ZH}岁半?)",
    re.IGNORECASE,
)
_TURNED = re.compile(rf"{_IS}\s(?={AGE_WORDS}\b)", re.IGNORECASE)
_LONG_AGO = timedelta(days=330)  # who turned ten then is older now


@dataclass(frozen=True, slots=True, kw_only=True)
class _Told:
    clause: Clause
    name: str
    person: Person | None
    age: str
    since: date | None

    @property
    def summary(self) -> str:
        if "岁" in self.age:
            relation = self.person.relation if self.person else ""
            return f"{self.name}{f'（{relation}）' if relation else ''}{self.age}"
        return f"{self.person.shown if self.person else self.name} is {self.age}"


def with_age(text: str, age: str) -> str:
    """A text that tells how old somebody is, with another age: "Child: Lotte, aged ten"; empty where it tells none, or this one."""
    match = _TOLD.search(text)
    if match is None:
        return ""
    group = "age" if match["age"] else "zh"
    if _years(match[group]) == _years(age):
        return ""
    return text[: match.start(group)] + age + text[match.end(group) :]


def _years(age: str) -> float:
    bare = age.partition("岁")
    return (chinese_number(bare[0]) + 0.5 * bare[2].startswith("半")) if bare[1] else number(age)


def ages_told(reading: Reading, heard: HeardStep, text: str, found: Sequence[Finding], so_far: SoFar) -> list[Finding]:
    """The findings of a step, where ages are told as the one value of their slot, with the children's lines that tell them.

    What is told of somebody of whom these steps know nothing is said only of what is stored of them.
    """
    all_found = list(found)
    for told in _ages(reading, heard, so_far):
        slot = f"{told.name.casefold().replace(' ', '_')}.age"
        stated = f"{_years(told.age):g}"
        plain = Finding(
            kind="semantic",
            values={"name": told.name, "summary": told.summary},
            evidence=(quote_of(text, told.clause.start, told.clause.end, heard.step.id),),
            valid_from=day_start(told.since, so_far.zone) if told.since else None,
            reason="age told",
            known=told.person is None,
            age=told.age,
        )
        mine = next((one for one in all_found if _tells(one, told)), None)
        if mine is not None and not (mine.ends or mine.corrects):  # what is put right is done so by its words
            values = {**mine.values, "summary": _as_it_is(mine)}
            aged = replace(mine, slot=slot, stated=stated, values=values, age=told.age)
            all_found = [aged if one is mine else one for one in all_found]
        elif mine is None:
            all_found.append(replace(plain, slot=slot, stated=stated))
        if told.person and told.person.relation and not told.person.close:
            continue
        slot = f"child.{told.name.lower()}"
        lines = [one for one in (*so_far.earlier, *so_far.found, *found) if one.slot == slot and not one.known]
        value = with_age(str(lines[-1].values["value"]), told.age) if lines else f"{told.name}, aged {told.age}"
        if value:
            values = {"label": "child", "value": value}
            stated = f"{told.name} {stated}"
            all_found.append(replace(plain, kind="core", values=values, slot=slot, stated=stated, known=not lines))
    return all_found


def _ages(reading: Reading, heard: HeardStep, so_far: SoFar) -> Iterator[_Told]:
    said_at, zone, people = heard.step.occurred_at, so_far.zone, so_far.people
    today = said_at.astimezone(zone).date()
    for clause in (one for sentence in reading.sentences if sentence.holds for one in sentence.clauses if one.holds):
        match = _AGE.match(clause.text) or _AGE_ZH.match(clause.text)
        if match is None or not (match["name"] or match["kin"]):
            continue
        person = people.named(match["name"]) if match["name"] else people.only(match["kin"])
        name = person.name if person is not None else match["name"] or ""
        reported = re.search(r"\bturned\b|岁", match[0], re.IGNORECASE)  # who "is seven on Friday" is not seven yet
        days = find_dates(clause.raw, said_at, zone, prefer="past" if reported else "future")
        rest = match.start("rest") if "rest" in match.groupdict() else len(clause.raw)
        after = "".join(
            " " if any(day.start <= at < day.end for day in days) else sign
            for at, sign in enumerate(clause.raw)
            if at >= rest
        )
        if not is_name(name) or _NO_NAME_ZH.search(name) or not _REST.fullmatch(after):
            continue
        since = days[0].day if len(days) == 1 and days[0].precision == "day" else None
        if any(not today - _LONG_AGO < day.day <= today or day.start < match.end("age") < day.end for day in days):
            continue
        yield _Told(clause=clause, name=name, person=person, age=match["age"], since=since)


def _tells(finding: Finding, told: _Told) -> bool:
    """Whether a finding is what is told of somebody's age."""
    return (
        finding.kind == "semantic"
        and finding.values["name"] == told.name
        and any(one.quote in told.clause.raw or told.clause.raw in one.quote for one in finding.evidence)
        and told.age in str(finding.values["summary"])
        and not finding.slot
    )


def _as_it_is(finding: Finding) -> str:
    return _TURNED.sub(" is ", str(finding.values["summary"]), count=1).removesuffix(" now")
