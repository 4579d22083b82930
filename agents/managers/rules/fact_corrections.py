"""Facts put right: "not Priscilla but Bonnie", "no wait, its hazelnuts"."""

from __future__ import annotations

import json
import re
from dataclasses import replace

from ...contract import HeardStep
from .finding import Finding, quote_of
from .sentences import Reading
from .so_far import SoFar
from .words import NAME, content_words

__all__ = ["swapped_facts"]

_NOT_BUT = re.compile(
    rf"不是\s?(?P<old>{NAME}|[\u4e00-\u9fff]{{2,4}}?)\s?[，,]?\s?(?:而)?是\s?(?P<new>{NAME}"
    rf"|[\u4e00-\u9fff]{{2,3}}?)(?=\s|[，。！]|$|过|对|在|不|才)"
    rf"|(?P<new2>{NAME}),?\snot\s(?P<old2>{NAME})|\bnot\s(?P<old3>{NAME}),?\s(?:but|it's|it\swas"
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


def swapped_facts(reading: Reading, heard: HeardStep, text: str, found: list[Finding], so_far: SoFar) -> list[Finding]:
    """ "Not Priscilla but Bonnie": the fact told of the one becomes a fact of the other."""
    if "not" not in reading.words and not (reading.has_han and "是" in text):
        return _put_right(reading, heard, text, found, so_far)
    for sentence in reading.sentences:
        match = _NOT_BUT.search(sentence.text)
        if not match:
            continue
        old = match["old"] or match["old2"] or match["old3"]
        new = match["new"] or match["new2"] or match["new3"]
        for earlier in reversed([*so_far.earlier, *so_far.found]):
            if (
                earlier.kind not in ("semantic", "core")
                or earlier.former
                or old not in json.dumps(earlier.values, ensure_ascii=False)
            ):
                continue
            values = {
                key: value.replace(old, new) if isinstance(value, str) else value
                for key, value in earlier.values.items()
            }
            here = so_far.take_back(earlier)
            swapped = replace(
                earlier,
                values=values,
                replaces="" if here else str(earlier.values.get("summary") or earlier.values.get("value") or ""),
                evidence=(*earlier.evidence, quote_of(text, sentence.start, sentence.end, heard.step.id)),
                corrects=True,
                topics=content_words(json.dumps(values, ensure_ascii=False)),
            )
            found = [each for each in found if each.values.get("summary") != values.get("summary")]
            known = so_far.people.named(old)
            so_far.people.told_of(new)
            so_far.people.add(known.relation if known else "", new)
            return [*found, swapped]
    return _put_right(reading, heard, text, found, so_far)


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
    value = f"{told['head']}{meant['new']}"
    here = so_far.take_back(last)
    right = replace(
        last,
        values={**last.values, "value": value},
        replaces="" if here else str(last.values["value"]),
        evidence=(*last.evidence, quote_of(text, 0, len(text), heard.step.id)),
        corrects=True,
        topics=content_words(value),
    )
    return [right]
