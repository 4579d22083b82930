"""What is over by what was said: no longer so, called off, moved to another day. History is kept, nothing else ends along.

An item that ends is closed as one whose value was replaced: superseded by what says so, and valid until then. What was
said again later than the end stays, and so does what was said only long after it: an end told of the past is not its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from ... import lazy_re as re
from ...intent.dates.relative import find_dates
from ...memory_types import CoreItem, EpisodicItem, MemoryItem, SemanticItem
from ...memory_types.base import utc_now
from ...memory_types.proposals import Ends
from ...stores.applying import KnownItem, keyed_id
from ..managers.rules.moved_days import without_hour
from .duplicates import from_same_words, join_sources
from .item_edits import ItemEdits
from .likeness import telling_words
from .state import Changes, Checked
from .stating import states
from .weekdays import on_other_day

__all__ = ["ItemEndings", "in_slots", "said_of"]

_LONG = timedelta(days=60)
_OF_USE = re.compile(
    r"\b(?:costs?|price[ds]?|books?|booked|booking|reserv\w+|rent|fee|tickets?|starts?|begins?|takes place|check-?in|nights?)\b"
    r"|[$€£¥]\s?\d|\d\s?(?:euros?|dollars?|pounds?|元|块)|价|租|订|预约|票|开始",
    re.IGNORECASE,
)
_STANDS_TO_TEXT = """
is works work works as has likes loves enjoys prefers dislikes hates plays play learns learn trains train practises collects
does drives drive not no longer 是 职业 喜欢 爱 讨厌 不喜欢 弹 踢 打 学 做 当
"""
_STANDS_TO = telling_words(_STANDS_TO_TEXT) | {"职业", "喜欢", "讨厌", "最爱", "不喜"}
_ASIDE = re.compile(r"[（(](?P<who>[^（）()]*)[）)]")
_LEAD = re.compile(r"(?:on|by|in|at|until|till|before|for)\s+", re.IGNORECASE)
_HOUR_TOLD = re.compile(r"\d{4}-\d\d-\d\d (\d\d:\d\d)\)")


def in_slots(slot: str, ends: Ends) -> bool:
    """Whether a slot is one of those whose values end, or a part of it."""
    return any(slot == name or slot.startswith(f"{name}.") for name in ends.slots)


class ItemEndings(ItemEdits):
    """Closes what ends by an operation, within the same operation."""

    def ending(self, one: Checked) -> tuple[list[MemoryItem], bool]:
        """The active items that end by a proposal, and whether nothing is known of what it needs."""
        found: dict[str, MemoryItem] = {}
        needed = known = False
        for ends in one.ends:
            meant = [item for item in self._candidates(ends) if self._meant(ends, item, one)]
            if ends.single and len(meant) > 1:
                meant = []
            needed, known = needed or ends.needed, known or (ends.needed and bool(meant))
            found |= {item.id: item for item in meant}
        return list(found.values()), needed and not known

    def closed_by(self, one: Checked, changes: Changes, item: MemoryItem) -> Changes:
        """What else is over by an operation on ``item``: what the proposal ends, and what tells the day of a moved event."""
        touched = {after.id for _, after in changes}
        item = next((after for _, after in changes if after.id == item.id), item)
        closed: Changes = []
        if one.ends:
            moment = item.valid_from or one.said_at
            for other in self.ending(one)[0]:
                if other.id not in touched and other.id != item.id:
                    never = any(ends.wrong and self._meant(ends, other, one) for ends in one.ends)
                    closed.append((other, _never_so(other, item.id) if never else _closed(other, moment, item.id)))
                    touched.add(other.id)
        for before, after in changes:
            gone = before is not None and after.status == "superseded" and after.superseded_by == item.id
            if gone and isinstance(before, EpisodicItem) and isinstance(item, EpisodicItem):
                for pair in self._of_the_day(one, before, item):
                    if pair[1].id not in touched:
                        closed.append(pair)
                        touched.add(pair[1].id)
        return closed

    def _candidates(self, ends: Ends) -> list[MemoryItem]:
        found: list[KnownItem] = []
        if ends.slots or ends.labels:
            found += self.known.of_kind("core")
        subjects = [name.split(".")[0].split("_")[0] for name in ends.slots if "." in name]
        subjects += sorted(ends.named.casefold().split(), key=len)[-1:]
        if subjects:
            found += [item for item in self.known.of_kind("semantic") if any(one in item.folded for one in subjects)]
        if ends.upcoming:
            found += self.known.of_kind("episodic")
        return self.known.whole([item.id for item in found if item.status == "active"])

    def _meant(self, ends: Ends, item: MemoryItem, one: Checked) -> bool:
        """Whether an active item is over by what ends, and was said before."""
        if not self._fits(ends, item, one):
            return False
        if not _says(ends, item):
            return False
        times = self.held([item])[0].said
        moment = one.values.get("valid_from") or one.said_at
        if ends.slots and not ends.words and not ends.states and (item.valid_from or moment) > moment:
            return False  # what begins only later: "I lost my job and start at Airbus on Monday"
        return max(times) <= one.said_at and min(times) - moment < _LONG

    def goes_on(self, one: Checked, ended: Sequence[MemoryItem]) -> str:
        """What a proposal says where the one item of its kind that it ends goes on on another day of the week; else empty."""
        same = [
            item
            for item in ended
            if item.kind == one.kind and any(_says(ends, item) for ends in one.ends if ends.states)
        ]
        said = str(one.values.get("value") or one.values.get("summary") or "")
        return on_other_day(said_of(same[0]), said) if len(same) == 1 else ""

    def ends_value(self, one: Checked, item: MemoryItem) -> bool:
        """Whether an item of a slot, in whatever status, states what a proposal ends."""
        return any(in_slots(self.slot(item), ends) and _says(ends, item) for ends in one.ends)

    def taken_back(self, one: Checked, items: Sequence[MemoryItem]) -> list[MemoryItem]:
        """Those of some items of which a proposal says that they were never so."""
        return [item for item in items if any(ends.wrong and _says(ends, item) for ends in one.ends)]

    def _fits(self, ends: Ends, item: MemoryItem, one: Checked) -> bool:
        slot = self.slot(item)
        if slot and in_slots(slot, ends):
            return True
        if isinstance(item, CoreItem):
            return "*" in ends.labels or item.label.casefold() in ends.labels
        if isinstance(item, SemanticItem) and ends.named:
            known = telling_words(item.name)
            named = telling_words(ends.named) <= known or ends.named.casefold() in item.name.casefold()
            if ends.states and (aside := _ASIDE.search(item.summary)):
                named = named or aside["who"].casefold() == ends.named.casefold()  # "Carol (mum)"
            return named and (bool(ends.words or ends.states) or _OF_USE.search(item.summary) is not None)
        return (
            isinstance(item, EpisodicItem)
            and ends.upcoming
            and item.event_type != "cancellation"
            and item.occurred_at >= one.said_at - timedelta(days=1)
        )

    def _of_the_day(
        self, one: Checked, old: EpisodicItem, new: EpisodicItem
    ) -> Iterator[tuple[MemoryItem | None, MemoryItem]]:
        """Facts that the words of a moved event told too: of the new day from then on, or over where it is called off."""
        day = old.occurred_at.astimezone(self.zone).date()
        now_on = new.occurred_at.astimezone(self.zone).date()
        for item in self.known.whole([one.id for one in self.known.of_kind("semantic") if one.status == "active"]):
            if not isinstance(item, SemanticItem) or not from_same_words(item, old):
                continue
            held = self.held([item])[0]
            if max(held.said) > one.said_at:
                continue
            said = min(held.said)
            span = next(
                (
                    found
                    for prefer in ("future", "near")
                    for found in find_dates(item.summary, said, self.zone, prefer=prefer)
                    if found.precision == "day" and found.day <= day <= found.last_day
                ),
                None,
            )
            if span is None:
                continue
            if new.event_type == "cancellation" or now_on == day:
                if now_on != day:
                    yield item, _closed(item, new.valid_from or one.said_at, new.id)
                continue
            lead = _LEAD.match(span.text)
            words = f"{lead[0] if lead else ''}{now_on.isoformat()}"
            after, hour = item.summary[span.end :], _HOUR_TOLD.search(new.summary)
            if (bare := without_hour(span.text + after)) != span.text + after:  # the old hour is over with the old day
                words += f" at {hour[1]}" if hour else ""
                after = bare.removeprefix(without_hour(span.text))
            summary = item.summary[: span.start] + words + after
            moved = item.changed(
                id=keyed_id(self.cipher, self.tx.user, "item", item.id, "moved", summary, new.id),
                summary=summary,
                valid_from=new.valid_from or one.said_at,
                sources=join_sources(item.sources, one.heard.sources),
                created_at=utc_now(),
                version=1,
            )
            if self.known.holds(moved.kind, moved.id):
                continue
            yield item, _closed(item, new.valid_from or one.said_at, moved.id)
            yield None, moved


def said_of(item: MemoryItem) -> str:
    """What an item says, without its label or name."""
    if isinstance(item, CoreItem):
        return item.value
    return item.summary if isinstance(item, SemanticItem) else item.text


def _less(text: str, name: str) -> str:
    """What a text says of whom it names."""
    rest = re.sub(re.escape(name), " ", re.sub(r"\s?[（(][^（）()]*[）)]", " ", text), count=1, flags=re.IGNORECASE)
    return " ".join(rest.split()) or text


def _says(ends: Ends, item: MemoryItem) -> bool:
    text = item.value if isinstance(item, CoreItem) else item.text
    if ends.states:
        stated, value = said_of(item), item.metadata.get("value")
        if isinstance(item, SemanticItem):  # it is of whom it is meant: what is said of them counts
            return any(states(_less(stated, item.name), _less(statement, ends.named)) for statement in ends.states)
        return any(states(stated, statement) or statement == value for statement in ends.states)
    words, said = telling_words(ends.words), telling_words(text)
    if ends.words.endswith(" with"):  # with whom is what is over: the words must stand as they are
        return ends.words.casefold() in text.casefold()
    if ends.words and not (words <= said or ends.words.casefold() in text.casefold()):
        return False
    return not (ends.exact and said - words - _STANDS_TO)


def _never_so(item: MemoryItem, by: str) -> MemoryItem:
    """The item as it is taken back: it was true at no time."""
    return item.changed(
        status="superseded",
        superseded_by=by,
        superseded_at=max(utc_now(), item.created_at),
        valid_to=item.valid_from,
        version=item.version + 1,
    )


def _closed(item: MemoryItem, moment: datetime, by: str) -> MemoryItem:
    """The item as it ends there; it never ends before it began."""
    ends = moment
    if item.kind == "episodic":  # it did not take place, or not so
        return _never_so(item, by)
    if item.valid_from is not None:
        ends = max(ends, item.valid_from)
    if item.valid_to is not None:
        ends = min(ends, item.valid_to)
    return item.changed(
        status="superseded",
        superseded_by=by,
        superseded_at=max(utc_now(), item.created_at),
        valid_to=ends,
        version=item.version + 1,
    )
