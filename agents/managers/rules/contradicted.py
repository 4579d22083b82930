"""What a step says of something told before: that it is so no more, was never so, or is so of another value.

One reading for all of it: the words that deny are turned into the statement that they deny ("I don't work in the library
any more": "I work in the library"), and that is read by the very rules that read it when it was told. What they make of
it is what ends. A new value that stands beside it ("eight, not seven") takes its place. So whatever the rules learn to
read can be denied, and nothing ends that was not told of the same subject in the same words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from .... import lazy_re as re
from ....memory_types.proposals import OF_THE_ENDED, Evidence
from ...applying.stating import ANY_VERB, HAN_SIGN, denies
from ...contract import HeardStep
from .finding import Finding, quote_of
from .moved_days import without_hour
from .negated_chinese import NO_MORE_ZH, other_days_zh
from .negated_english import NO_MORE, other_days
from .people import People
from .sentences import Reading
from .statements import ANY, Statement, ends_of, read_statements
from .told_otherwise import Otherwise, told_otherwise
from .words import content_words

__all__ = ["contradicted"]

_MOST = 40  # statements of one step that are read anew


def contradicted(
    reading: Reading,
    heard: HeardStep,
    text: str,
    people: People,
    found: list[Finding],
    before: Sequence[str],
    taken: Sequence[tuple[int, int]],
) -> list[Finding]:
    """The findings of a step with what they end, and those that only say that something ends.

    Args:
        reading: of a step of the user. text: what its offsets count in.
        found: the findings of the step.
        before: the sentences that the user said in the step before, in their order.
        taken: spans that are understood already.
    """
    left = _MOST
    for told in told_otherwise(reading, before):
        if any(told.start < b and a < told.end for a, b in taken):
            continue
        left -= len(told.denied) + len(told.affirmed)
        if left < 0:
            break
        affirmed = _read(told.affirmed, people, whole=told.days)
        denied = _of_other_days(affirmed) if told.days else _read(told.denied, people)
        same = {_folded(one.value) for one in affirmed}
        denied = [one for one in denied if _folded(one.value) not in same]
        if denied:
            found = _with_ends(told, denied, affirmed, found, heard, text)
    return found


def _read(statements: Sequence[str], people: People, *, whole: bool = True) -> list[Statement]:
    read = [one for statement in statements for one in read_statements(statement, people, whole=whole)]
    return list(dict.fromkeys(read))


def _of_other_days(affirmed: list[Statement]) -> list[Statement]:
    return [
        replace(one, value=value)
        for one in affirmed
        for bare in (without_hour(one.value),)
        for value in other_days(bare) or other_days_zh(bare)
    ]


def _with_ends(
    told: Otherwise,
    denied: list[Statement],
    affirmed: list[Statement],
    found: list[Finding],
    heard: HeardStep,
    text: str,
) -> list[Finding]:
    """The findings, of which those that say what is so end what is not; where none does, one that says that it is not so."""
    words = text[told.start : told.end]
    quote = quote_of(text, told.start, told.end, heard.step.id)
    here = [each for each in found if each.kind in ("core", "semantic") and _quotes(each, words)]
    instead = [one for one in affirmed if any(one.is_of(other) for other in denied)]
    if any(one.kind == "core" for one in instead):
        instead = [one for one in instead if one.kind == "core" or any(_says(each, one) for each in here)]
    plain = [one for one in instead if not one.value.startswith(ANY_VERB)]
    if len(plain) < len(instead) and (told.days or not plain):  # is told of in words of its own
        plain += [replace(one, value=_days_told(one.value)) for one in instead if one not in plain]
    instead = plain
    if told.affirmed and not instead and not told.sure:
        return found
    holders: list[tuple[Finding, bool]] = []
    for one in instead:
        finding = next((each for each in here if _says(each, one)), None)
        if tailed := next((each for each in here if _with_tail(each, one)), None):
            short = replace(tailed, values={**tailed.values, "summary": one.value})
            found = [each for each in found if each is not finding]
            found = [short if each is tailed else each for each in found]
            finding = short
        holders.append((finding or _found(one, quote, told), finding is None))
    if not holders:
        denying = [each for each in here if _denies(each) and any(each.kind == one.kind for one in denied)]
        holders = [(each, False) for each in denying[:1]]
    if not holders and any(each.corrects for each in here):
        return found  # put right from the words before
    if not holders:
        groups: dict[tuple[str, str], list[Statement]] = {}
        for one in denied:
            groups.setdefault((one.kind, one.label if one.kind == "semantic" else ""), []).append(one)
        return [*found, *(_denial(group, told, quote) for group in groups.values())]
    for place, (finding, new) in enumerate(holders):
        mine = [one for one in denied if _of(finding, one)]
        if place == 0:
            mine += [one for one in denied if not any(_of(each, one) for each, _ in holders)]
        known = new and (not told.sure or finding.kind == "semantic" or told.days)
        known = known or any(one.needed for one in finding.ends)
        ends = ends_of(mine, needed=known, wrong=told.wrong, besides=finding.slot if instead else "")
        if not ends:
            continue
        changed = replace(finding, ends=(*finding.ends, *ends))
        found = [*found, changed] if new else [changed if each is finding else each for each in found]
    return found


def _found(one: Statement, quote: Evidence, told: Otherwise) -> Finding:
    """A finding of what is so instead, which no rule has read by itself."""
    core = one.kind == "core"
    return Finding(
        kind="core" if core else "semantic",
        values={"label": one.label, "value": one.value} if core else {"name": one.label, "summary": one.value},
        evidence=(quote,),
        slot=one.slot,
        stated=one.stated,
        confidence=one.confidence,
        reason="put right" if told.wrong else "so now",
        topics=content_words(one.value),
    )


def _denial(group: list[Statement], told: Otherwise, quote: Evidence) -> Finding:
    """What is kept of a denial with nothing in its place: that it is not so, where it was told."""
    first = next((one for one in group if one.label != ANY and one.value), group[0])
    over = not told.wrong and (NO_MORE.search(told.raw) or NO_MORE_ZH.search(told.raw)) is not None
    value = _negated(first.value, told.raw, over=over)
    core = first.kind == "core"
    return Finding(
        kind="core" if core else "semantic",
        values={"label": OF_THE_ENDED, "value": value} if core else {"name": first.label, "summary": value},
        evidence=(quote,),
        reason="over" if over else "not so",
        ends=ends_of(group, needed=True, wrong=told.wrong),
        topics=content_words(value),
    )


_VERB = re.compile(r"^(?P<verb>[A-Z][a-z]*s)\s(?P<rest>.+)$")
_LABELLED = re.compile(r"^(?P<what>[^:]{2,40}): (?P<value>.+)$")
_OF_ONE = re.compile(r"^(?P<who>[^,;]{2,60}?)\s(?P<be>is|are)\s(?P<rest>.+)$")
_BASE = {"has": "have", "does": "do", "goes": "go", "is": "be"}
_OWN_LEAD = re.compile(
    r"^(?:(?:actually|in fact|sorry|oh|well|and|but|so|no|it turns out|turns out|that"
    r"|其实|原来|不过|但是?|对了)[\s,，:]*)+|^我们?(?=[\u4e00-\u9fff])",
    re.IGNORECASE,
)


def _negated(value: str, said: str, *, over: bool) -> str:
    """What an item says as one that says that it is not so, or no more; the words that were said where that cannot be told."""
    if match := _VERB.match(value):
        verb, rest = match["verb"].lower(), match["rest"]
        if verb == "is":
            return f"Is no longer {rest}" if over else f"Is not {rest}"
        return f"No longer {verb} {rest}" if over else f"Does not {_base(verb)} {rest}"
    if (match := _LABELLED.match(value)) and value.isascii():
        return f"{match['what']} is {'no longer' if over else 'not'} {match['value']}"
    if match := _OF_ONE.match(value):
        return f"{match['who']} {match['be']} {'no longer' if over else 'not'} {match['rest']}"
    shown = _OWN_LEAD.sub("", _OWN_LEAD.sub("", said.strip())).strip(" ,，。.")
    return shown[:1].upper() + shown[1:]


def _base(verb: str) -> str:
    if verb in _BASE:
        return _BASE[verb]
    if verb.endswith("ies"):
        return f"{verb[:-3]}y"
    return verb[:-2] if verb.endswith(("ches", "shes", "sses", "xes", "zes")) else verb[:-1]


def _days_told(value: str) -> str:
    said = value.removeprefix(ANY_VERB)
    return f"每{said}" if HAN_SIGN.search(said) else f"Has {said}"


def _quotes(finding: Finding, words: str) -> bool:
    return any(one.quote in words or words in one.quote for one in finding.evidence)


def _value(finding: Finding) -> str:
    return str(finding.values.get("value") or finding.values.get("summary") or "")


def _denies(finding: Finding) -> bool:
    return denies(_value(finding)) or _label(finding) in ("dislike", "avoids")


def _label(finding: Finding) -> str:
    return str(finding.values.get("label") or finding.values.get("name") or "")


_NOW = re.compile(r"\s(?:now|these days)$", re.IGNORECASE)
_MOVED = re.compile(r"\s(?:(?:has|have)\s)?(?:been\s)?(?:moved|changed|switched|shifted)\sto\s", re.IGNORECASE)


def _says(finding: Finding, one: Statement) -> bool:
    return finding.kind == one.kind and _folded(_NOW.sub("", _MOVED.sub(" is on ", _value(finding)))) == _folded(
        one.value
    )


_TAIL = re.compile(r"[,，\s]*(?:(?:and\s)?not|instead of|rather than|而?不是)(?![a-z])", re.IGNORECASE)


def _with_tail(finding: Finding, one: Statement) -> bool:
    """Whether a finding says what is so and adds what is not: "Levi is eight, not seven"."""
    value, bare = _folded(_value(finding)), _folded(one.value)
    return (
        finding.kind == one.kind == "semantic"
        and value.startswith(bare)
        and _TAIL.match(value[len(bare) :]) is not None
    )


def _of(finding: Finding, one: Statement) -> bool:
    """Whether a finding and a statement are of the same matter."""
    if finding.kind != one.kind:
        return False
    return bool(one.slot and finding.slot == one.slot) or _folded(_label(finding)) == _folded(one.label)


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())
