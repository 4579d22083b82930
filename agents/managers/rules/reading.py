"""A batch read by the rules: every finding of every kind, in the order in which it was said."""

from __future__ import annotations

import json
import weakref
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta

from .... import lazy_re as re
from ...contract import Batch, HeardStep
from .ages import ages_told
from .been_there import been_there
from .contact_findings import contact_findings
from .contradicted import contradicted
from .denied_facts import DeniedFact, denied_facts
from .document_findings import document_findings, resource_finding
from .documents import attached_documents, pasted_document
from .endings import bare_name, endings, ends_of_fact, ends_of_told
from .english_grammar import Fact
from .event_findings import EventFindings
from .fact_corrections import days_put_right, denials_put_right, names_put_right, swapped_facts
from .fact_dates import fact_since, in_years, told_since
from .facts_chinese import chinese_facts
from .facts_english import english_facts
from .facts_others import others_facts
from .family_english import FAMILY_WORDS
from .finding import Finding, day_start, quote_of
from .how_to import announces_how_to
from .procedures import find_procedures
from .sentences import Reading, read_text
from .so_far import SoFar, hidden
from .stays import is_stay
from .told import Told
from .tool_findings import booking_findings
from .words import NAME, content_words

__all__ = ["RuleReader", "read_batch"]

TOLD_PLAINLY = "told plainly"
_TELLING = timedelta(minutes=30)
"""For how long steps of an announced "how to" may follow."""
_HOUSEHOLD = re.compile(
    r"\b(?:household|family|kids?|children|pets?|girls"
    r"|boys|wife|husband|partner|at home)\b|家|老公|老婆|孩子",
    re.IGNORECASE,
)
_OF_SECRETS = re.compile(
    r"\b(?:passwords?|passcode|pin|codes?|wi-?fi|key ?safe|number is|phone|mobile|e-?mail|address|combination"
    r"|locker)\b|密码|口令|门禁|地址|邮箱|手机",
    re.IGNORECASE,
)
_MOST = 60  # findings of one step


_TOO_THIN = re.compile(
    rf"(?i:\b(?:is|are)|'s)\s(?:\w+ly\s)?(?:[a-z]+ing\s(?:me|us|you|him|her|it|them)"
    rf"|(?:only|just|all)\sfor\s(?:{NAME}|me|us|you|him|her|them))\W*$"
    r"|(?i:\b(?:is|are)|'s)\s(?:fully\s|already\s|all\s)?(?:booked|reserved|taken|parked|packed)\b"
    r"|不是(?:周|星期|礼拜)[一二三四五六日天][^，。]{0,2}$"
)
"""What is told of the moment, or of something nobody has named: who is minding her, what is booked with whom."""
_LOOSE = re.compile(
    r"^Its\s"
    r"|\b(?:before|after|until|till|since|during|despite|besides|because of|apart from|instead of|due to)"
    r"\s(?:that|this|it|then|those|these)\W*$"
    r"|(?:在|除了|因为)[这那](?:之前|之后|以前|以后|期间)?$|[这那](?:之前|之后|以前|以后)$"
)
"""What points at something said elsewhere, which an item by itself does not tell: "has an exam before that"."""
_ONLY_A_SECRET = re.compile(r"(?:\bis|\bare|\bwas|[:=是为])\s*\{\{vault:[^}]*\}\}[\s.。!！]*$")


def _is_event(finding: Finding, events: list[Finding]) -> bool:
    """Whether what is told plainly is an event of the same words, which tells its day."""
    if finding.reason != TOLD_PLAINLY or finding.values["label"] in ("habit", "family", "health"):
        return False
    quote = finding.evidence[0].quote
    return any(one.kind == "episodic" and any(quote in said.quote for said in one.evidence) for one in events)


class RuleReader:
    """Reads a batch once for all managers that ask. Safe to share between threads.

    What it found is remembered as long as the batch itself is in use, and no longer: it repeats what users said.
    """

    def __init__(self) -> None:
        self._read: dict[int, tuple[Finding, ...]] = {}  # by identity: batches of equal words are others' too

    def findings(self, batch: Batch) -> tuple[Finding, ...]:
        """What :func:`read_batch` finds."""
        known = self._read.get(id(batch))
        if known is None:
            weakref.finalize(batch, self._read.pop, id(batch), None).atexit = False
            known = self._read[id(batch)] = read_batch(batch)
        return known


def read_batch(batch: Batch) -> tuple[Finding, ...]:
    """Everything the rules would store of a batch.

    Steps before it are read for understanding alone. Only a person's own words are learned from: not the assistant's,
    the system's, nor those of tools, save for a confirmed booking. What recall has just shown is not learned again.
    """
    return tuple(_BatchReading(batch).run())


class _BatchReading:
    def __init__(self, batch: Batch) -> None:
        self._batch, self._so_far = batch, SoFar(zone=batch.zone)
        self._people, self._dated = self._so_far.people, EventFindings(self._so_far)
        self._said_before: list[str] = []
        self._last: list[str] = []
        self._thing = ""
        self._user_name = ""
        self._asked = ""
        self._how_to: tuple[str, datetime] | None = None

    def run(self) -> Iterator[Finding]:
        new = {heard.step.id for heard in self._batch.steps}
        shown = [text.strip() for text in self._batch.shown if len(text.strip()) > 12]
        for heard in (*self._batch.before, *self._batch.steps):
            if heard.step.id not in new:
                found = self._step(heard)
                self._so_far.earlier += found
            elif len(heard.step.content) < 12 or not any(heard.step.content.strip() in text for text in shown):
                found = self._step(heard)  # first: it may take back what was found before
                self._so_far.found += found
        seen: set[tuple[str, str, str, bool]] = set()
        replaced = {id(finding) for finding in self._so_far.found if finding.former}
        for finding in self._so_far.found:
            key = (
                finding.kind,
                finding.slot,
                json.dumps(finding.values, sort_keys=True, default=str, ensure_ascii=False).casefold(),
                any(ends.needed for ends in finding.ends),  # it may come to nothing
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
        documents = attached_documents(step, document) + ([document] if document else [])
        found += [resource_finding(each, step) for each in documents]
        contacts = contact_findings(reading, self._batch.zone, self._people, speaker or self._user_name)
        found += contacts
        if document:
            self._thing = document.title
            if document.prose:
                told = document_findings(document, step, self._batch.zone)
                self._so_far.events += [each for each in told if each.kind == "episodic"]
                found += told
        before = self._said_before[-1] if self._said_before else ""
        announced = self._how_to[0] if self._how_to and step.occurred_at <= self._how_to[1] else ""
        procedures = find_procedures(reading, before, in_document=document is not None, announced=announced)
        if own and announces_how_to(text):
            self._how_to = (" ".join(text.split())[:140], step.occurred_at + _TELLING)
        elif procedures and announced:
            self._how_to = (announced, step.occurred_at + _TELLING)
        found += [
            Finding(
                kind="procedural",
                confidence=p.confidence,
                reason="steps told",
                values={
                    "entry_type": p.entry_type,
                    "summary": hidden(p.summary, contacts),
                    "steps": tuple(hidden(s, contacts) for s in p.steps),
                },
                evidence=(quote_of(text, p.start, p.end, step.id),),
                topics=content_words(p.summary),
            )
            for p in procedures
        ]
        if not reading.kidding:
            inside = [(p.start, p.end) for p in procedures]
            steps = [(p.start, p.end) for p in procedures if p.entry_type != "instruction"]
            found += self._facts(reading, heard, text, speaker, contacts, steps)
            events = self._dated.read(reading, heard, text, before, speaker, contacts, inside, asked=self._asked)
            found = [one for one in found if not _is_event(one, events)] + events
            renamed = names_put_right(reading, heard, text, found, self._so_far, self._last, ("episodic",))
            if renamed is not None:
                self._so_far.events += [one for one in renamed if not any(one is each for each in found)]
                found = renamed
            found = days_put_right(found, self._so_far)
        self._asked = ""
        self._so_far.before = step.id
        plain = " ".join(s.raw for s in reading.sentences if not s.text.startswith("\ue000"))[:300]
        if plain:
            self._said_before = [*self._said_before[-3:], plain]
        if own:
            self._last = [sentence.text for sentence in reading.sentences if sentence.holds]
        return found[:_MOST]

    # What managers get

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
        over = [] if speaker else endings(reading, heard, text, self._people, self._batch.zone)
        found += [finding for one, finding in over if not any(a <= one.start < b for a, b in inside)]
        taken: set[tuple[str, str]] = set()
        for fact in facts:
            if (
                any(one.covers(fact) or (fact.plain and one.start <= fact.clause.start < one.end) for one, _ in over)
                or any(a <= fact.clause.start < b for a, b in inside)
                or (fact.slot or fact.label, fact.value.casefold()) in taken
                or is_stay(fact, reading.sentences[fact.clause.sentence])
            ):
                continue
            taken.add((fact.slot or fact.label, fact.value.casefold()))
            if fact.slot == "name" and not speaker:
                self._user_name = fact.value
            finding = self._of_speaker(fact, reading, heard, text, speaker, contacts)
            # "I don't work there any more, I work at Y": the new value takes the slot, and what else ended has ended.
            left = [one for one, _ in over if fact.slot and one.slot == fact.slot and one.end <= fact.clause.start]
            besides = tuple(ends for one in left for ends in one.ends if fact.slot not in ends.slots)
            found.append(replace(finding, ends=(*finding.ends, *besides)) if besides else finding)
        own = [(fact.clause.start, fact.clause.end) for fact in facts]
        denied = denied_facts(reading, heard, self._so_far)
        for told in others_facts(reading, self._people, self._thing):
            right = next((each for each in denied if each.tells(told.start)), None)
            if any(each.denies(told.start) for each in denied) or (right is not None and right.dated):
                continue  # what is not so is nothing to keep; a day is an event's
            if any(a <= told.start < b for a, b in inside) or not self._worth_telling(told, text, contacts):
                continue
            if told.confidence < 0.7 and any(
                a <= told.start < b and b - a <= told.end - told.start + 12 for a, b in own
            ):
                continue  # it says of the user what a core fact says already
            found.append(self._of_others(told, right, reading, heard, text, contacts))
            # What says the same of somebody who may not be known is said better.
            worse = [finding for one, finding in over if one.kind == "semantic" and one.start <= told.start < one.end]
            found = [each for each in found if not any(each is one for one in worse)]
        found = swapped_facts(reading, heard, text, found, self._so_far, self._last)
        found = denials_put_right(denied, heard, text, found, self._so_far)
        if speaker:
            return found
        understood = [*inside, *((one.start, one.end) for one, _ in over if not all(ends.needed for ends in one.ends))]
        found = contradicted(reading, heard, text, self._people, found, self._last, understood)
        found = been_there(reading, heard, text, found)
        return ages_told(reading, heard, text, found, self._so_far)

    def _of_speaker(
        self, fact: Fact, reading: Reading, heard: HeardStep, text: str, speaker: str, contacts: list[Finding]
    ) -> Finding:
        """What is kept of a fact that somebody tells of themselves; ``speaker`` names who is not the user."""
        value = hidden(fact.value, contacts)
        if fact.plain:
            value = in_years(value, heard.step.occurred_at, self._so_far.zone)
        since = fact_since(fact, reading, heard, self._so_far)
        if since and fact.starts:
            value += (
                f" (since {since.beginning})"
                if value.isascii() or not reading.has_han
                else f"（自{since.beginning_zh}）"
            )
        evidence = (quote_of(text, fact.clause.start, fact.clause.end, heard.step.id),)
        start = day_start(since.day, self._batch.zone) if since else None
        if speaker:
            return Finding(
                kind="semantic",
                values={"name": speaker, "summary": f"{speaker}: {value[:1].lower()}{value[1:]}"},
                evidence=evidence,
                valid_from=start,
                confidence=fact.confidence,
                said_by="other",
                reason=f"{speaker} said so of themselves",
            )
        return Finding(
            kind="core",
            values={"label": fact.label, "value": value[:1_000]},
            evidence=evidence,
            slot=fact.slot,
            stated=fact.stated,
            valid_from=start,
            confidence=fact.confidence,
            reason=TOLD_PLAINLY if fact.plain else "said of themselves",
            topics=content_words(value),
            ends=ends_of_fact(fact),
        )

    def _of_others(
        self,
        told: Told,
        right: DeniedFact | None,
        reading: Reading,
        heard: HeardStep,
        text: str,
        contacts: list[Finding],
    ) -> Finding:
        """What is kept of something told of others; ``right`` is the denial that it puts right, where there is one."""
        said = right.summary if right and told.summary[:1].islower() else told.summary
        return Finding(
            kind="semantic",
            values={"name": bare_name(told.name)[:120], "summary": hidden(said, contacts)[:600]},
            evidence=(quote_of(text, told.start, told.end, heard.step.id),),
            valid_from=told_since(told, heard, reading, self._batch.zone),
            confidence=told.confidence,
            reason="put right" if right else "told of others",
            replaces=right.said if right else "",
            corrects=right is not None,
            topics=content_words(f"{told.name} {told.summary}"),
            ends=ends_of_told(told),
        )

    def _worth_telling(self, told: Told, text: str, contacts: list[Finding]) -> bool:
        """Whether something is left to tell of others where a contact or a secret is taken out."""
        if _ONLY_A_SECRET.search(told.summary):
            return False  # what it says is in the vault
        if _TOO_THIN.search(told.summary) or _LOOSE.search(told.summary):
            return False
        within = [c.secret for c in contacts if c.secret and c.secret in text[told.start : told.end + 2]]
        if not within:
            return True
        rest = told.summary
        for secret in within:
            rest = rest.replace(secret, " ")
        return told.name not in within and len(rest.strip()) >= 8 and not _OF_SECRETS.search(rest)
