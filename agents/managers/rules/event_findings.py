"""Findings of dated events: new ones, those moved, called off or put right, and days named by an event."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from .... import lazy_re as re
from ....intent.dates.spans import DateSpan
from ....memory_types.proposals import Ends
from ...contract import HeardStep
from .birthdays import other_birthday
from .changed_things import only_one_named
from .denied_days import may_be_of
from .event_changes import Event, thing_called_off
from .events import find_events
from .finding import Finding, quote_of
from .moved_days import NO_SUBJECT, days_moved, of_that_week
from .moved_events import after_move
from .named_events import Told, is_on, the_one_meant
from .other_events import is_another
from .sentences import Reading
from .shifts import Shift, retold, shifted
from .so_far import SoFar, hidden
from .words import content_words

__all__ = ["EventFindings"]

_THAT_DAY = re.compile(
    r"(?P<what>[\u4e00-\u9fff]{2,4})的?那一?天|\b(?:on|for) (?:the day of (?:the |our "
    r"|my )?(?P<of>\w+)|(?:the )?(?P<day>launch|wedding|exam|race|match|moving) day)\b",
    re.IGNORECASE,
)


class EventFindings:
    """Reads the dated events of steps, in the light of those told before.

    Args:
        so_far: of the batch; events are added to it, and taken out where they were slips.
    """

    def __init__(self, so_far: SoFar) -> None:
        self._so_far = so_far

    def read(
        self,
        reading: Reading,
        heard: HeardStep,
        text: str,
        before: str,
        speaker: str,
        contacts: list[Finding],
        inside: list[tuple[int, int]],
        *,
        asked: str = "",
    ) -> list[Finding]:
        """The dated findings of a step, each noted among the events so far.

        Args:
            text: of the step. before: what the user said last before it. speaker: its name, where it is not the user.
            contacts: findings whose plaintext no summary may hold.
            inside: spans of procedures, whose days are no events.
            asked: the question of the assistant that it may answer.
        """
        found: list[Finding] = []
        step = heard.step
        for event in find_events(reading, step.occurred_at, self._so_far.zone, before=before, asked=asked):
            if any(a <= event.start < b for a, b in inside):
                continue
            finding = self._event(event, heard, text, speaker, contacts, found)
            if finding is not None:
                found.append(finding)
                if finding.when is not None or finding.shift is None:
                    self._so_far.events.append(finding)
        for sentence in reading.sentences:
            match = _THAT_DAY.search(sentence.text) if sentence.holds and sentence.clauses else None
            if match is None or any(a <= sentence.start < b for a, b in inside):
                continue
            what = content_words(match["what"] or match["of"] or match["day"] or "")
            known = next((each for each in reversed(self._so_far.events) if each.when and what & each.topics), None)
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
                self._so_far.events.append(finding)
        return found

    def _event(
        self, event: Event, heard: HeardStep, text: str, speaker: str, contacts: list[Finding], here: list[Finding]
    ) -> Finding | None:
        step, zone = heard.step, self._so_far.zone
        if event.shift is not None:
            return self._shifted(event, event.shift, heard, text)
        slot = f"event:{step.id}:{event.when.start if event.when else event.start}"
        occurred = event.when.moment(zone) if event.when else step.occurred_at
        evidence = quote_of(text, event.start, event.end, step.id)
        values: dict[str, object] = {
            "occurred_at": occurred,
            "actor": speaker or "user",
            "event_type": event.event_type,
            "summary": hidden(event.summary, contacts),
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
            stated=event.when.stated if event.when else "",
        )
        earlier = self._told_of(event)
        if earlier is not None:
            event = replace(event, change=event.change or "slip")
        elif event.denied is not None and not event.topics and not event.change:
            return None  # "it" is nothing that is known to be on that day
        if earlier is None and not event.change and (earlier := self._birthday(event)) is not None:
            event = replace(event, change="slip")
        if not event.change:
            return replace(plain, denied=event.denied)
        ended = event.change == "off" and event.denied is not None
        open_ = False
        if earlier is None and not ended:
            earlier, open_ = self._meant(event)
        if earlier is not None and earlier.when is not None and event.when is not None:
            today = step.occurred_at.astimezone(zone).date()
            when = of_that_week(event.when, earlier.when, today, slip=event.change == "slip")
            # The summary was made of the day by itself.
            summary = event.summary.replace(event.when.day.isoformat(), when.day.isoformat())
            event = replace(event, when=when, summary=summary)
        if event.change == "off":
            return self._called_off(event, plain, earlier, step.occurred_at, contacts, ended=ended, open_=open_)
        if earlier is None or event.when is None:
            plain = replace(plain, denied=event.denied)
            if event.change == "moved" and event.when and not open_:
                return replace(plain, reason="moved", on=event.on)
            return plain
        return self._moved(event, event.when, plain, earlier, step.occurred_at, contacts, here)

    def _called_off(
        self,
        event: Event,
        plain: Finding,
        earlier: Finding | None,
        said_at: datetime,
        contacts: list[Finding],
        *,
        ended: bool,
        open_: bool,
    ) -> Finding | None:
        """An event that is called off, or was never on its day (``ended``); ``open_`` where several may be meant."""
        thing = thing_called_off(event.said)
        if earlier is None and open_:
            return plain
        plain = replace(plain, ends=(Ends(named=thing),) if thing else ())
        if earlier is None:
            # Known to the managers, perhaps, from before these steps.
            off = replace(plain, slot="", reason="called off", denied=event.denied, on=event.on)
            return replace(off, known=ended and event.sure) if event.topics else None
        summary = f"{event.summary} ({'not so' if ended else 'called off'}: {earlier.values['summary']})"
        return replace(
            plain,
            values={**plain.values, "summary": hidden(summary, contacts)[:500], "event_type": "cancellation"},
            slot=earlier.slot,
            valid_from=said_at,
            reason="called off",
            stated="called off",
            topics=earlier.topics | event.topics,
            when=None,
        )

    def _moved(
        self,
        event: Event,
        when: DateSpan,
        plain: Finding,
        earlier: Finding,
        said_at: datetime,
        contacts: list[Finding],
        here: list[Finding],
    ) -> Finding:
        """An event told before that is on another day; one whose day was a slip is taken back."""
        slip = event.change == "slip"
        summary, details = event.summary, ""
        if earlier.when is not None and (slip or earlier.when.precision == when.precision == "day"):
            told = str(earlier.values["summary"])
            summary, details, when = after_move(told, earlier.when, event.summary, when, slip=slip, clause=event.said)
        elif len(event.topics) <= 2 or not event.topics & earlier.topics:
            summary = f"{earlier.values['summary']} ({when.shown})"
        moved = replace(
            plain,
            values={
                **plain.values,
                "occurred_at": when.moment(self._so_far.zone),
                "summary": summary,
                "details": hidden(details, contacts),
                "event_type": earlier.values["event_type"],
            },
            slot=earlier.slot,
            evidence=(*earlier.evidence, *plain.evidence) if slip else plain.evidence,
            topics=earlier.topics | event.topics,
            when=when,
            corrects=slip,
            stated=when.stated,
            reason="corrected" if slip else "moved",
            valid_from=None if slip else said_at,
        )
        if slip:
            self._so_far.take_back(earlier)
            self._so_far.slips.append((earlier, moved))
            here[:] = [each for each in here if each is not earlier]
        return moved

    def _shifted(self, event: Event, change: Shift, heard: HeardStep, text: str) -> Finding | None:
        """An event as it is after a change without a new day; one that is told nowhere here may be known from before."""
        step, zone = heard.step, self._so_far.zone
        meant, open_ = the_one_meant(change, self._told(), step.occurred_at.astimezone(zone).date())
        if open_ or (meant is None and not change.what):
            return None
        evidence = quote_of(text, event.start, event.end, step.id)
        if meant is None or not isinstance(meant.key, str):
            return Finding(
                kind="episodic",
                values={"occurred_at": step.occurred_at, "summary": event.summary},
                evidence=(evidence,),
                reason="moved",
                confidence=event.confidence,
                topics=event.topics,
                valid_from=step.occurred_at,
                known=True,
                shift=change,
            )
        earlier = next(each for each in reversed(self._so_far.events) if each.slot == meant.key)
        when = shifted(change, earlier.when) if earlier.when is not None else None
        if when is None or earlier.when is None:
            return None
        return replace(
            earlier,
            values={
                **earlier.values,
                "occurred_at": when.moment(zone),
                "summary": retold(str(earlier.values["summary"]), earlier.when, when),
            },
            evidence=(evidence,),
            when=when,
            stated=when.stated,
            reason="moved",
            valid_from=step.occurred_at,
            valid_to=None,
            corrects=False,
            denied=None,
        )

    def _told(self) -> list[Told]:
        """The events told so far, each as it was told last, less those that were called off."""
        last: dict[str, Finding] = {}
        for each in self._so_far.events:
            if each.slot:
                last[each.slot] = each
        return [
            Told(
                key=slot,
                text=str(each.values["summary"]),
                event_type=str(each.values["event_type"]),
                when=each.when,
                latest=any(one.step_id == self._so_far.before for one in each.evidence),
            )
            for slot, each in last.items()
            if each.values["event_type"] != "cancellation"
        ]

    def _told_of(self, event: Event) -> Finding | None:
        """The earlier event that was told of the day that is denied: one that shares words with it, or any for "it"."""
        denied = event.denied
        if denied is None:
            return None
        known = [each for each in self._so_far.events if each.when and may_be_of(denied, each.when)]
        alike = [each for each in known if each.topics & event.topics] if event.topics else known[-1:]
        return max(alike, key=lambda each: len(each.topics & event.topics), default=None)

    def _birthday(self, event: Event) -> Finding | None:
        """The birthday of the same person, told of another day than the event."""
        if event.when is None or event.when.precision != "day":
            return None
        told = [each for each in self._so_far.events if each.values["event_type"] == "birthday"]
        days = [one for one in told if other_birthday(str(one.values["summary"]), event.when.day, event.summary)]
        return days[-1] if days else None

    def _meant(self, event: Event) -> tuple[Finding | None, bool]:
        """The earlier event that a change is about, and whether several may be meant, so that none is.

        It is the one that shares most words, else the last one of a change without any.
        """
        events = list({each.slot or id(each): each for each in self._so_far.events}.values())
        known = [each for each in events if not is_another(event.said, str(each.values["summary"]))]
        if event.on is not None:
            known = [each for each in known if each.when and is_on(event.on, each.when)]
        kinds = [content_words(str(each.values["event_type"])) - {"event", "cancellation"} for each in known]
        scored = [(len((each.topics | kinds[at]) & event.topics), at) for at, each in enumerate(known)]
        best = max(scored, default=(0, 0))
        if best[0]:
            alike = [known[position] for score, position in scored if score == best[0]]
            days = days_moved(event.summary) if event.change == "moved" and event.when else 0
            told = [
                each
                for each in alike
                if days and each.when and event.when and abs((event.when.day - each.when.day).days) == days
            ]
            alike = told or alike
            if len(alike) == 1 or event.change == "slip":
                return alike[-1], False
            named = [(each, str(each.values["summary"]), str(each.values["event_type"])) for each in alike]
            one = only_one_named(event.said, named)
            return one, one is None
        if known and known[-1] is not events[-1] and event.on is None:
            return None, False  # the event told last is another
        slip = event.change == "slip"
        # Topics in Chinese are pairs of characters: their number says little.
        bare = len(event.topics) <= (3 if slip else 2) or (slip and not event.said.isascii())
        if known and slip and event.when and (last := known[-1].when) is not None:
            bare = bare and not (event.when.precision == "month" and last.precision == "day")
        if known and event.change == "moved" and NO_SUBJECT.match(event.said):
            bare = True
        if known and bare and not (event.change == "off" and len(event.topics) > 2):
            return known[-1], False
        return None, False
