"""Facts put right: "not Priscilla but Bonnie", "no wait, its hazelnuts"."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from .... import lazy_re as re
from ....intent.dates.spans import DateSpan
from ....memory_types.proposals import Evidence
from ...contract import HeardStep
from .denied_facts import DeniedFact
from .finding import Finding, day_start, quote_of
from .meant_names import meant_names
from .people import KIN_PATTERN, KIN_ZH_PATTERN
from .sentences import Reading
from .so_far import SoFar
from .words import NAME, content_words

__all__ = ["days_put_right", "denials_put_right", "names_put_right", "swapped_facts"]

_LEAD = re.compile(r"^(?:on|by|in|from|since|until|till)\s+", re.IGNORECASE)
_NOT_BUT = re.compile(
    rf"不是\s?(?P<old>{NAME}|[\u4e00-\u9fff]{{2,4}}?)\s?[，,]?\s?(?:而)?是\s?(?P<new>{NAME}"
    rf"|[\u4e00-\u9fff]{{2,3}}?)(?=\s|[，。！]|$|过|对|在|不|才)"
    rf"|(?P<new2>{NAME}),?\snot\s(?:(?:on|in|at|from)\s)?(?P<old2>{NAME})|\bnot\s(?P<old3>{NAME}),?\s(?:but|it's|it\swas"
    rf"|I\smeant)\s(?P<new3>{NAME})"
)
_SLIP = re.compile(
    r"^\W*(?:oh\s|ah\s|ugh\s|sorry,?\s)?(?:wait|no|sorry|oops|correction|scratch that|hang on|whoops)\b"
    r"|\b(?:typed|wrote|said|got) (?:that|it) wrong\b|\btypo\b"
    r"|\bi (?:meant|mean)\b|说错|打错|写错|不对",
    re.IGNORECASE,
)
_MEANT = re.compile(
    r"^(?:(?:no|wait|oh|sorry|actually|and)[\s,]+)*(?:it'?s|i meant?|make (?:it|that)|should be|that's|应该是|是)\s?(?:actually\s)?"
    r"(?P<new>(?!not\b|me\b|the\b|a\b|ok|fine|on\b|at\b|that\b|to\b|just\b|so\b)[\w\u4e00-\u9fff-]+(?:\s(?!not\b)[\w-]+)?)$",
    re.IGNORECASE,
)
_OBJECT = re.compile(
    r"^(?P<head>Is allergic to |Dislikes |Likes |Loves |Prefers |Does not (?:eat|drink) |Drives an? |Plays "
    r"|Learns |对(?=.+过敏))(?P<old>[^,(]{2,40})$"
)
_NO_OBJECT = re.compile(
    r"\d|day\b|tomorrow|morning|evening|night|week|month|[周月日号点]|^(?:true|wrong|right|fine|good|bad|great|cool|all|too|very|really)\b",
    re.IGNORECASE,
)


_OF_NOW_ZH = re.compile(r"(?:现在|今天|昨天|明天|这|那)\Z")
"""Before 不是: that it is said of the moment, and of nothing told before."""
_WHOSE = re.compile(
    rf"\b(?:my|our|the|his|her|their)\s(?P<who>[\w-]+)['’]s\s|\b(?:my|our)\s(?:[\w-]+\s)?(?P<kin>{KIN_PATTERN})\b|(?P<zh>{KIN_ZH_PATTERN})",
    re.IGNORECASE,
)
"""Of whom something is put right: what was told of something else is not wrong by it."""


def swapped_facts(
    reading: Reading, heard: HeardStep, text: str, found: list[Finding], so_far: SoFar, before: Sequence[str]
) -> list[Finding]:
    """ "Not Priscilla but Bonnie", "sorry, I meant Bonnie": the fact told of the one becomes a fact of the other.

    Args:
        found: the findings of the step. before: the sentences that the same person said in the step before.
    """
    if (right := names_put_right(reading, heard, text, found, so_far, before)) is not None:
        return right
    if "not" not in reading.words and not (reading.has_han and "是" in text):
        return _put_right(reading, heard, text, found, so_far)
    for sentence in reading.sentences:
        match = _NOT_BUT.search(sentence.text)
        if not match or _OF_NOW_ZH.search(sentence.text[: match.start()]):
            continue
        old = match["old"] or match["old2"] or match["old3"]
        new = match["new"] or match["new2"] or match["new3"]
        whole = _whole(old)
        here = [each for each in found if _told_by(each, text[: sentence.start])]
        wrong = _facts_saying(whole, [*so_far.earlier, *so_far.found, *here])
        whose = [
            word
            for each in _WHOSE.finditer(sentence.text[: match.start()])
            if (word := each[each.lastgroup or 0].casefold())
        ]
        wrong = [each for each in wrong if all(word in _told_of(each) for word in whose)]
        if not wrong:
            continue
        quote = quote_of(text, sentence.start, sentence.end, heard.step.id)
        found = [each for each in found if not (_says(each, whole) and _told_by(each, sentence.raw))]
        known = so_far.people.named(old)
        so_far.people.told_of(new)
        so_far.people.add(known.relation if known else "", new)
        return _swapped(wrong, whole, new, quote, found, so_far)
    return _put_right(reading, heard, text, found, so_far)


def names_put_right(
    reading: Reading,
    heard: HeardStep,
    text: str,
    found: list[Finding],
    so_far: SoFar,
    before: Sequence[str],
    kinds: Sequence[str] = ("semantic", "core"),
) -> list[Finding] | None:
    """ "Sorry, I meant Bonnie": the findings of a step with what was told of the name before it told of this one.

    Args:
        found: the findings of the step. before: the sentences that the same person said in the step before.
        kinds: of the findings that are looked at.

    Returns:
        None where no name is put right.
    """
    for meant in meant_names(reading, before, so_far.people):
        told = [
            each
            for each in (*so_far.earlier, *so_far.found, *found)
            if each.kind in kinds and not each.former and _told_in(each, meant.said)
        ]
        old = meant.old or _one_value(told, meant.said, so_far)
        whole = _whole(old)
        # "My sister is called Petra, no wait, Paula. She is a nurse": Petra is, by what was read first.
        wrong = [each for each in told if _says(each, whole)]
        after = [each for each in found if each not in told and each.kind in kinds and _says(each, whole)]
        wrong += [each for each in after if not whole.search(each.evidence[-1].quote)]
        if not old or not wrong:
            continue
        quote = quote_of(text, meant.start, meant.end, heard.step.id)
        so_far.people.rename(old, meant.new)
        return _swapped(wrong, whole, meant.new, quote, found, so_far)
    return None


def _one_value(told: Sequence[Finding], said: str, so_far: SoFar) -> str:
    """The one value, or person, of which some words told; empty where there are several, or none."""
    values = {each.stated for each in told if each.slot and each.kind == "core"}
    values |= {str(each.values.get("name", "")) for each in told}
    known = {
        one for one in values if one in said and (so_far.people.named(one) or any(one == each.stated for each in told))
    }
    return known.pop() if len(known) == 1 else ""


def _swapped(
    wrong: list[Finding], old: re.Pattern[str], new: str, quote: Evidence, found: list[Finding], so_far: SoFar
) -> list[Finding]:
    """The findings of a step with what was learned of one name told of another, wherever it was learned from the last words
    that were wrong; what was said of it elsewhere is another matter."""
    words = wrong[-1].evidence[-1].step_id
    swapped: list[Finding] = []
    for earlier in wrong:
        if earlier.evidence[-1].step_id != words:
            continue
        values = {
            key: _other_name(value, old, new) if isinstance(value, str) else value
            for key, value in earlier.values.items()
        }
        swapped.append(
            _right(
                earlier,
                values,
                quote,
                so_far,
                stated=_other_name(earlier.stated, old, new),
                slot=_other_name(earlier.slot, re.compile(rf"(?<=\.){old.pattern}", re.IGNORECASE), new.casefold()),
            )
        )
    told = [each.values for each in swapped]
    kept = [each for each in found if each.values not in told and not any(each is one for one in wrong)]
    return [*kept, *swapped]


def _whole(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(name)}(?!\w)" if name.isascii() else re.escape(name))


def _facts_saying(name: re.Pattern[str], findings: Sequence[Finding]) -> list[Finding]:
    return [each for each in findings if each.kind in ("semantic", "core") and not each.former and _says(each, name)]


def _told_in(finding: Finding, said: str) -> bool:
    """Whether a finding was learned from some words."""
    quote = finding.evidence[-1].quote
    return quote in said or said in quote


def denials_put_right(
    denied: Sequence[DeniedFact], heard: HeardStep, text: str, found: list[Finding], so_far: SoFar
) -> list[Finding]:
    """ "The server isn't on port 8080, it's on 9090": what was told in the words that are denied is told in the others.

    Args:
        denied: as :func:`~.denied_facts.denied_facts` gives them. found: the findings of the step.
    """
    for pair in denied:
        said = re.compile(re.escape(pair.said), re.IGNORECASE)
        wrong = [
            each
            for each in (*so_far.earlier, *so_far.found, *found)
            if each.kind in ("core", "semantic")
            and not (each.former or each.corrects or pair.dated)
            and _says(each, said)
        ]
        if not wrong:
            continue
        values = {
            key: _other_name(value, said, pair.summary) if isinstance(value, str) else value
            for key, value in wrong[-1].values.items()
        }
        quote = quote_of(text, pair.wrong.start, pair.right.end, heard.step.id)
        found = [each for each in found if each is not wrong[-1] and each.replaces != pair.said]
        found.append(_right(wrong[-1], values, quote, so_far, stated=_other_name(wrong[-1].stated, said, pair.summary)))
    return found


def days_put_right(found: list[Finding], so_far: SoFar) -> list[Finding]:
    """What else was learned from a date that was a slip: since when somebody works there, a birthday.

    Args:
        found: the findings of the step that puts the date right.
        so_far: its slips are read, and forgotten.
    """
    slips, so_far.slips = so_far.slips, []
    for wrong, right in slips:
        if wrong.when is None or right.when is None or right.when.day == wrong.when.day:
            continue
        for fact in [*so_far.earlier, *so_far.found, *found]:
            if fact.kind not in ("core", "semantic") or fact.former or fact.corrects:
                continue
            if not any(_overlap(one, two) for one in fact.evidence for two in wrong.evidence):
                continue
            values = {
                key: _other_day(value, wrong.when, right.when) if isinstance(value, str) else value
                for key, value in fact.values.items()
            }
            start = fact.valid_from
            if start is not None and start.astimezone(so_far.zone).date() == wrong.when.day:
                start = day_start(right.when.day, so_far.zone)
            if values == fact.values and start == fact.valid_from:
                continue
            stated = _other_day(fact.stated, wrong.when, right.when)
            found = [each for each in found if each is not fact]
            found.append(_right(fact, values, right.evidence[-1], so_far, stated=stated, valid_from=start))
    return found


def _right(
    wrong: Finding,
    values: dict[str, Any],
    quote: Evidence,
    so_far: SoFar,
    *,
    stated: str,
    slot: str = "",
    valid_from: datetime | None = None,
) -> Finding:
    """A finding in place of one that was a slip, which is forgotten."""
    known = any(each is wrong for each in so_far.earlier)
    so_far.take_back(wrong)
    return replace(
        wrong,
        values=values,
        stated=stated,
        slot=slot or wrong.slot,
        valid_from=valid_from or wrong.valid_from,
        redated=valid_from is not None and valid_from != wrong.valid_from,
        replaces=str(wrong.values.get("summary") or wrong.values.get("value") or "") if known else "",
        evidence=(*wrong.evidence, quote),
        corrects=True,
        topics=content_words(json.dumps(values, ensure_ascii=False, default=str)),
    )


def _other_name(text: str, old: re.Pattern[str], new: str) -> str:
    return old.sub(lambda _: new, text)


def _told_by(finding: Finding, words: str) -> bool:
    return all(one.quote in words for one in finding.evidence)


def _says(finding: Finding, words: re.Pattern[str]) -> bool:
    return any(isinstance(value, str) and words.search(value) for value in finding.values.values())


def _told_of(finding: Finding) -> str:
    """All the words of a finding, folded."""
    said = [*map(str, finding.values.values()), *(one.quote for one in finding.evidence)]
    return " ".join(said).casefold()


def _overlap(one: Evidence, two: Evidence) -> bool:
    return one.step_id == two.step_id and (one.quote in two.quote or two.quote in one.quote)


def _other_day(text: str, wrong: DateSpan, right: DateSpan) -> str:
    """A text with one day in place of another, as ISO day or in the words in which it was said."""
    text = text.replace(wrong.day.isoformat(), right.day.isoformat())
    old, new = (_LEAD.sub("", span.text).strip() for span in (wrong, right))
    if str(wrong.day.year) in old and str(right.day.year) not in new:
        new = right.day.isoformat()
    return re.sub(rf"(?<!\w){re.escape(old)}(?!\w)", lambda _: new, text) if old else text


def _put_right(reading: Reading, heard: HeardStep, text: str, found: list[Finding], so_far: SoFar) -> list[Finding]:
    """ "No wait, its hazelnuts": what was told last of the user was a slip."""
    if found or not _SLIP.search(reading.raw):
        return found
    meant = next((m for s in reading.sentences for c in s.clauses if (m := _MEANT.match(c.text)) and s.holds), None)
    last = next((each for each in reversed([*so_far.earlier, *so_far.found]) if each.kind == "core"), None)
    told = _OBJECT.match(str(last.values.get("value", ""))) if last and not last.former else None
    if last is not None and last.evidence[-1].step_id != so_far.before:
        return found
    if (
        meant is None
        or last is None
        or told is None
        or _NO_OBJECT.search(meant["new"])
        or meant["new"].casefold() in told["old"].casefold()
    ):
        return found
    values = {**last.values, "value": f"{told['head']}{meant['new']}"}
    return [_right(last, values, quote_of(text, 0, len(text), heard.step.id), so_far, stated=last.stated)]
