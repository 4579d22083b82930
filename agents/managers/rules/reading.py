"""A batch read by the rules: every finding of every kind, in the order in which it was said."""

from __future__ import annotations

import json
import re
import threading
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta

from ....intent.dates.relative import find_dates
from ....intent.dates.spans import DateSpan
from ...contract import Batch, HeardStep
from .contact_findings import contact_findings
from .document_findings import document_findings, resource_finding
from .documents import attached_documents, pasted_document
from .english_grammar import Fact
from .events import Event, find_events, tense
from .facts_chinese import chinese_facts
from .facts_english import english_facts
from .facts_others import others_facts
from .family_english import FAMILY_WORDS
from .finding import Finding, day_start, quote_of
from .moved_days import NO_SUBJECT, of_that_week
from .people import People
from .procedures import find_procedures
from .sentences import Reading, read_text
from .tool_findings import booking_findings
from .words import NAME, content_words

__all__ = ["RuleReader", "read_batch"]

_GAME = timedelta(minutes=15)
_HOUSEHOLD = re.compile(
    r"\b(?:household|family|kids?|children|pets?|girls"
    r"|boys|wife|husband|partner|at home)\b|家|老公|老婆|孩子",
    re.IGNORECASE,
)
_THAT_DAY = re.compile(
    r"(?P<what>[\u4e00-\u9fff]{2,4})的?那一?天|\b(?:on|for) (?:the day of (?:the |our "
    r"|my )?(?P<of>\w+)|(?:the )?(?P<day>launch|wedding|exam|race|match|moving) day)\b",
    re.IGNORECASE,
)
_NOT_BUT = re.compile(
    rf"不是\s?(?P<old>{NAME}|[\u4e00-\u9fff]{{2,4}}?)\s?[，,]?\s?(?:而)?是\s?(?P<new>{NAME}"
    rf"|[\u4e00-\u9fff]{{2,3}}?)(?=\s|[，。！]|$|过|对|在|不|才)"
    rf"|(?P<new2>{NAME}),?\snot\s(?P<old2>{NAME})|\bnot\s(?P<old3>{NAME}),?\s(?:but|it's|it\swas"
    rf"|I\smeant)\s(?P<new3>{NAME})"
)
_MOST = 60  # findings of one step


class RuleReader:
    """Reads a batch once for all managers that ask. Safe to share between threads."""

    def __init__(self, *, kept: int = 8) -> None:
        self._kept, self._lock = kept, threading.Lock()
        self._read: OrderedDict[int, tuple[Batch, tuple[Finding, ...]]] = OrderedDict()

    def findings(self, batch: Batch) -> tuple[Finding, ...]:
        """What :func:`read_batch` finds, remembered for the latest batches."""
        with self._lock:
            known = self._read.get(id(batch))
            if known is not None and known[0] is batch:
                return known[1]
        found = read_batch(batch)
        with self._lock:
            self._read[id(batch)] = (batch, found)
            while len(self._read) > self._kept:
                self._read.popitem(last=False)
        return found


def read_batch(batch: Batch) -> tuple[Finding, ...]:
    """Everything the rules would store of a batch.

    Steps before it are read for understanding alone. Only a person's own words are learned from: not the assistant's,
    the system's, nor those of tools, save for a confirmed booking. What recall has just shown is not learned again.
    """
    return tuple(_BatchReading(batch).run())


class _BatchReading:
    def __init__(self, batch: Batch) -> None:
        self._batch, self._people = batch, People()
        self._events: list[Finding] = []
        self._found: list[Finding] = []
        self._earlier: list[Finding] = []
        self._said_before: list[str] = []
        self._thing = ""
        self._game_until: datetime | None = None
        self._user_name = ""
        self._asked = ""

    def run(self) -> Iterator[Finding]:
        new = {heard.step.id for heard in self._batch.steps}
        shown = [text.strip() for text in self._batch.shown if len(text.strip()) > 12]
        for heard in (*self._batch.before, *self._batch.steps):
            found = (
                self._step(heard)
                if not any(heard.step.content.strip() in text for text in shown) or len(heard.step.content) < 12
                else []
            )
            if heard.step.id in new:
                self._found += found
            else:
                self._earlier += found
        seen: set[tuple[str, str, str]] = set()
        replaced = {id(finding) for finding in self._found if finding.former}
        for finding in self._found:
            key = (
                finding.kind,
                finding.slot,
                json.dumps(finding.values, sort_keys=True, default=str, ensure_ascii=False).casefold(),
            )
            if id(finding) not in replaced and key not in seen:
                seen.add(key)
                yield finding

    def _step(self, heard: HeardStep) -> list[Finding]:
        step = heard.step
        if step.role == "tool":
            return booking_findings(step, self._batch.zone)
        if step.role == "assistant":
            asked = re.findall(r"[^.!?。！？\n]{4,160}[?？]", step.content[-400:])
            self._asked = asked[-1].strip() if asked else ""
            return []
        if step.role not in ("user", "other") or (not step.content.strip() and not step.media):
            return []
        own = step.role == "user"
        speaker = "" if own else (step.name or "")
        content = step.content
        document = pasted_document(content)
        text = content
        if document is None and heard.resolved_text and len(heard.resolved_text) <= 4 * len(content) + 200:
            text = heard.resolved_text
        skipped = ((document.start, document.end),) if document else ()
        reading = read_text(step.id, text, skipped)
        found: list[Finding] = []
        if own and step.name:
            self._user_name = step.name
        game = self._playing(reading, step.occurred_at)
        documents = attached_documents(step) + ([document] if document else [])
        found += [resource_finding(each, step) for each in documents]
        contacts = contact_findings(reading, self._batch.zone, self._people, speaker or self._user_name)
        found += contacts
        if document:
            self._thing = document.title
            if document.prose:
                told = document_findings(document, step, self._batch.zone)
                self._events += [each for each in told if each.kind == "episodic"]
                found += told
        before = self._said_before[-1] if self._said_before else ""
        procedures = find_procedures(reading, before, in_document=document is not None)
        found += [
            Finding(
                kind="procedural",
                confidence=p.confidence,
                reason="steps told",
                values={
                    "entry_type": p.entry_type,
                    "summary": self._hide(p.summary, contacts),
                    "steps": tuple(self._hide(s, contacts) for s in p.steps),
                },
                evidence=(quote_of(text, p.start, p.end, step.id),),
                topics=content_words(p.summary),
            )
            for p in procedures
        ]
        if not game and not reading.kidding:
            inside = [(p.start, p.end) for p in procedures]
            found += self._facts(reading, heard, text, speaker, contacts, inside)
            found += self._dated(reading, heard, text, before, speaker, contacts, inside)
        self._asked = ""
        plain = " ".join(s.raw for s in reading.sentences if not s.text.startswith("\ue000"))[:300]
        if plain:
            self._said_before = [*self._said_before[-3:], plain]
        return found[:_MOST]

    def _playing(self, reading: Reading, now: datetime) -> bool:
        """Whether this is part of a game of "what if": its opening, and what follows it closely in the same vein."""
        if reading.fancy:
            self._game_until = now + _GAME
        elif self._game_until is not None and (now > self._game_until or reading.sober):
            self._game_until = None
        return self._game_until is not None

    # What managers get

    def _hide(self, text: str, contacts: list[Finding]) -> str:
        for contact in contacts:
            if contact.secret and contact.secret in text:
                text = text.replace(contact.secret, f"({contact.values['caption']})")
        return text

    def _facts(
        self,
        reading: Reading,
        heard: HeardStep,
        text: str,
        speaker: str,
        contacts: list[Finding],
        inside: list[tuple[int, int]],
    ) -> list[Finding]:
        found: list[Finding] = []
        household = not reading.words.isdisjoint(FAMILY_WORDS) and any(
            _HOUSEHOLD.search(said) for said in self._said_before[-3:]
        )
        facts: list[Fact] = []
        if reading.has_latin:
            facts += english_facts(reading, self._people, household=household)
        if reading.has_han:
            facts += chinese_facts(reading, self._people)
        taken: set[tuple[str, str]] = set()
        for fact in facts:
            if (
                any(a <= fact.clause.start < b for a, b in inside)
                or (fact.slot or fact.label, fact.value.casefold()) in taken
            ):
                continue
            value = self._hide(fact.value, contacts)
            taken.add((fact.slot or fact.label, fact.value.casefold()))
            since = self._since(fact, reading, heard)
            if fact.slot == "name" and not speaker:
                self._user_name = fact.value
            if since and fact.starts:
                value += f" (since {since.iso})" if value.isascii() or not reading.has_han else f"（自{since.iso}）"
            evidence = (quote_of(text, fact.clause.start, fact.clause.end, heard.step.id),)
            start = day_start(since.day, self._batch.zone) if since else None
            if speaker:
                found.append(
                    Finding(
                        kind="semantic",
                        values={"name": speaker, "summary": f"{speaker}: {value[:1].lower()}{value[1:]}"},
                        evidence=evidence,
                        valid_from=start,
                        confidence=fact.confidence,
                        said_by="other",
                        reason=f"{speaker} said so of themselves",
                    )
                )
                continue
            found.append(
                Finding(
                    kind="core",
                    values={"label": fact.label, "value": value[:1_000]},
                    evidence=evidence,
                    slot=fact.slot,
                    stated=fact.stated,
                    valid_from=start,
                    confidence=fact.confidence,
                    reason="said of themselves",
                    topics=content_words(value),
                )
            )
        for told in others_facts(reading, self._people, self._thing):
            if any(a <= told.start < b for a, b in inside) or any(
                c.secret and c.secret in text[told.start : told.end + 2] for c in contacts
            ):
                continue
            found.append(
                Finding(
                    kind="semantic",
                    values={"name": told.name[:120], "summary": self._hide(told.summary, contacts)[:600]},
                    evidence=(quote_of(text, told.start, told.end, heard.step.id),),
                    confidence=told.confidence,
                    reason="told of others",
                    topics=content_words(f"{told.name} {told.summary}"),
                )
            )
        return self._swapped(reading, heard, text, found)

    def _since(self, fact: Fact, reading: Reading, heard: HeardStep) -> DateSpan | None:
        """The day since which a fact holds: a date in its clause, else the only one of its sentence, else that of an event it names."""
        if not (fact.starts or "since" in fact.clause.text):
            return None
        said, zone = heard.step.occurred_at, self._batch.zone
        sentence = reading.sentences[fact.clause.sentence] if fact.clause.sentence < len(reading.sentences) else None
        for text in (fact.clause.raw, sentence.raw if sentence else ""):
            spans = find_dates(text, said, zone, prefer=tense(text, reading.has_han))
            spans = tuple(span for span in spans if span.precision in ("day", "month", "week", "year"))
            if len(spans) == 1 or (spans and text == fact.clause.raw):
                return spans[0]
        named = re.search(r"\bsince (?:the|our|my) (?P<what>\w+)", sentence.text if sentence else "")
        if named:
            for event in reversed(self._events):
                if event.when and named["what"].lower() in event.topics:
                    return event.when
        return None

    def _swapped(self, reading: Reading, heard: HeardStep, text: str, found: list[Finding]) -> list[Finding]:
        """ "Not Priscilla but Bonnie": the fact told of the one becomes a fact of the other."""
        if "not" not in reading.words and not (reading.has_han and "是" in text):
            return found
        for sentence in reading.sentences:
            match = _NOT_BUT.search(sentence.text)
            if not match:
                continue
            old = match["old"] or match["old2"] or match["old3"]
            new = match["new"] or match["new2"] or match["new3"]
            for earlier in reversed([*self._earlier, *self._found]):
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
                here = any(each is earlier for each in self._found)
                swapped = replace(
                    earlier,
                    values=values,
                    replaces="" if here else str(earlier.values.get("summary") or earlier.values.get("value") or ""),
                    evidence=(*earlier.evidence, quote_of(text, sentence.start, sentence.end, heard.step.id)),
                    corrects=True,
                    topics=content_words(json.dumps(values, ensure_ascii=False)),
                )
                self._found = [each for each in self._found if each is not earlier]
                found = [each for each in found if each.values.get("summary") != values.get("summary")]
                known = self._people.named(old)
                self._people.add(known.relation if known else "", new)
                return [*found, swapped]
        return found

    def _dated(
        self,
        reading: Reading,
        heard: HeardStep,
        text: str,
        before: str,
        speaker: str,
        contacts: list[Finding],
        inside: list[tuple[int, int]],
    ) -> list[Finding]:
        found: list[Finding] = []
        step = heard.step
        for event in find_events(reading, step.occurred_at, self._batch.zone, before=before, asked=self._asked):
            if any(a <= event.start < b for a, b in inside):
                continue
            finding = self._event(event, heard, text, speaker, contacts, found)
            if finding is not None:
                found.append(finding)
                self._events.append(finding)
        for sentence in reading.sentences:
            match = _THAT_DAY.search(sentence.text) if sentence.holds and sentence.clauses else None
            if match is None or any(a <= sentence.start < b for a, b in inside):
                continue
            what = content_words(match["what"] or match["of"] or match["day"] or "")
            known = next((each for each in reversed(self._events) if each.when and what & each.topics), None)
            if known is None or known.when is None or known in found:
                continue
            day = Event(
                start=sentence.start,
                end=sentence.end,
                summary=f"{sentence.raw.strip()} ({known.when.day.isoformat()})",
                when=replace(known.when, start=sentence.start, end=sentence.start, clock=None),
                event_type="event",
                topics=content_words(sentence.text),
                confidence=0.7,
            )
            finding = self._event(day, heard, text, speaker, contacts, found)
            if finding is not None:
                found.append(finding)
                self._events.append(finding)
        return found

    def _event(
        self, event: Event, heard: HeardStep, text: str, speaker: str, contacts: list[Finding], here: list[Finding]
    ) -> Finding | None:
        step, zone = heard.step, self._batch.zone
        slot = f"event:{step.id}:{event.when.start if event.when else event.start}"
        occurred = event.when.moment(zone) if event.when else step.occurred_at
        evidence = quote_of(text, event.start, event.end, step.id)
        values: dict[str, object] = {
            "occurred_at": occurred,
            "actor": speaker or "user",
            "event_type": event.event_type,
            "summary": self._hide(event.summary, contacts),
        }
        plain = Finding(
            kind="episodic",
            values=values,
            evidence=(evidence,),
            said_by="other" if speaker else "",
            slot=slot,
            confidence=event.confidence,
            reason="dated event",
            topics=event.topics,
            when=event.when,
            stated=event.when.iso if event.when else "",
        )
        if not event.change:
            return plain
        earlier = self._meant(event, here)
        if earlier is not None and earlier.when is not None and event.when is not None:
            event = replace(
                event, when=of_that_week(event.when, earlier.when, step.occurred_at.astimezone(zone).date())
            )
        if event.change == "off":
            if earlier is None:
                # Known to the managers, perhaps, from before these steps.
                return replace(plain, slot="", reason="called off", topics=event.topics) if event.topics else None
            summary = f"{event.summary} (called off: {earlier.values['summary']})"
            return replace(
                plain,
                values={**values, "summary": self._hide(summary, contacts)[:500], "event_type": "cancellation"},
                slot=earlier.slot,
                valid_from=step.occurred_at,
                evidence=(evidence,),
                reason="called off",
                stated="called off",
                topics=earlier.topics | event.topics,
                when=None,
            )
        if earlier is None or event.when is None:
            return replace(plain, reason="moved", slot=slot) if event.change == "moved" and event.when else plain
        slip = event.change == "slip"
        when = event.when
        if when.clock is None and earlier.when is not None and earlier.when.clock is not None:
            when = replace(when, clock=earlier.when.clock)
        summary = str(earlier.values["summary"])
        if earlier.when is not None:
            summary = summary.replace(earlier.when.iso, when.iso).replace(
                earlier.when.day.isoformat(), when.day.isoformat()
            )
        if not slip and len(event.topics) > 2 and event.topics & earlier.topics:
            summary = event.summary
        if when.day.isoformat() not in summary:
            summary += f" ({when.iso})"
        moved = replace(
            plain,
            values={
                **values,
                "occurred_at": when.moment(zone),
                "summary": summary,
                "event_type": earlier.values["event_type"],
            },
            slot=earlier.slot,
            evidence=(*earlier.evidence, evidence) if slip else (evidence,),
            topics=earlier.topics | event.topics,
            when=when,
            corrects=slip,
            stated=when.iso,
            reason="corrected" if slip else "moved",
            valid_from=None if slip else step.occurred_at,
        )
        if slip:
            self._found = [each for each in self._found if each is not earlier]
            here[:] = [each for each in here if each is not earlier]
            self._events = [each for each in self._events if each is not earlier]
        return moved

    def _meant(self, event: Event, here: list[Finding]) -> Finding | None:
        """The earlier event that a change is about: the one that shares most words, else the last one of a change without any."""
        known = [*self._events]
        scored = [(len(each.topics & event.topics), position) for position, each in enumerate(known)]
        best = max(scored, default=(0, 0))
        if best[0]:
            return known[best[1]]
        bare = len(event.topics) <= 2 or event.change == "slip"
        if known and event.change == "moved" and NO_SUBJECT.match(event.said):
            bare = True
        return known[-1] if known and bare and not (event.change == "off" and len(event.topics) > 2) else None
