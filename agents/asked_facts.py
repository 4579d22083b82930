"""Which noted facts a plain question asks for: "Where do I live?", "What does my wife do?", "Where does she live now?".

What holds one value at a time stands in a slot of a subject (:mod:`.applying.slots`). A question that names such a slot,
and whose it is, is answered by the item that holds its present value, however few words the two share.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from .. import lazy_re as re
from ..memory_types import MemoryItem, utc_now
from ..stores.ledger import Transaction, get_items, read_items
from .applying.slots import slot_name, slot_of
from .managers.rules.words import FEMALE, KIN, MALE
from .research_rules.living import with_plain_work
from .research_rules.own_facts import asked_slots
from .research_rules.synonyms import others_for

__all__ = ["AskedFact", "answering_items", "is_true_at", "read_asked", "stated_facts"]

_WHO = r"(?P<who>he|she|they|(?:my|our)\s+[\w-]+(?:\s+[\w-]+)?|(?-i:(?!I\b)[A-Z][\w-]+(?:\s[A-Z][\w-]+)?))"
_WHOSE = r"(?P<who>his|her|their|(?:(?:my|our)\s+[\w-]+(?:\s+[\w-]+)?|(?-i:[A-Z][\w-]+(?:\s[A-Z][\w-]+)?))['’]s?)"
_NOW = r"(?:\s+(?:now|currently|these\s+days|at\s+the\s+moment|actually))?"
_DOES = rf"(?:\s+(?:do|does|is|are)|['’]s)\s+{_WHO}{_NOW}\s+"
_END = rf"{_NOW}\s*[?.!]*$"
_FORMS: tuple[tuple[re.Pattern[str], tuple[str, ...]], ...] = tuple(
    (re.compile(f"^{form}{_END}", re.I), slots)
    for form, slots in (
        (
            rf"(?:in\s+)?(?:where|(?:which|what)\s+(?:city|town|place|country)){_DOES}(?:live|living|reside|residing|based)(?:\s+in)?",
            ("home_city", "address", "country"),
        ),
        (
            rf"(?:for\s+|at\s+)?(?:where|whom?|(?:which|what)\s+(?:company|firm|employer)){_DOES}(?:work|working|employed)"
            r"(?:\s+(?:for|at|by))?",
            ("employer",),
        ),
        (
            rf"what{_DOES}(?:do|doing)(?:\s+(?:for\s+(?:a\s+living|work|a\s+job)|at\s+work))?",
            ("job_title", "employer"),
        ),
        (rf"what{_DOES}work(?:ing)?\s+as", ("job_title",)),
        (rf"how\s+old\s+(?:is|are)\s+{_WHO}", ("age",)),
        (rf"(?:what|who)(?:\s+(?:is|are)|['’]s)\s+{_WHO}{_NOW}\s+(?:called|named)", ("name",)),
    )
)
_LABEL = re.compile(
    rf"^(?:what|who|when|where|which)(?:\s+(?:is|are)|['’]s)\s+{_WHOSE}\s+(?:(?:current|present|new|full)\s+)?"
    rf"(?P<label>[a-z]+(?:[ -][a-z]+)?){_END}",
    re.I,
)
_SHE, _HE, _THEY = frozenset({"she", "her"}), frozenset({"he", "his"}), frozenset({"they", "their"})
_PRONOUNS = _SHE | _HE | _THEY
_WOMEN, _MEN = FEMALE - MALE, MALE - FEMALE
_TOKEN = re.compile(r"[^\W_]+")
_ASIDE = re.compile(r"\((\w+)\)")
_LABELLED = re.compile(r"([\w-]+): (\w+)")
_USERS = frozenset({"the", "user", "s", "my", "our"})


@dataclass(frozen=True, slots=True)
class AskedFact:
    """What a question asks for: slots, the likeliest first, and whose they are; "" for the user."""

    slots: tuple[str, ...]
    whose: str = ""


def read_asked(text: str) -> AskedFact | None:
    """What a plain question about the present asks for; None of any other question.

    Args:
        text: the question, in English or Chinese; in Chinese of the user only.
    """
    text = with_plain_work(" ".join(text[:200].split()))
    for form, slots in _FORMS:
        if found := form.match(text):
            return AskedFact(slots, found["who"])
    if own := asked_slots(text):
        return AskedFact(own)
    found = _LABEL.match(text)
    if found is None:
        return None
    slot = slot_name(found["label"])
    slots = ("job_title", "employer") if slot == "job_title" else (slot,)
    return AskedFact(slots, re.sub(r"['’]s?$", "", found["who"]))


def answering_items(asked: AskedFact, items: Sequence[MemoryItem], now: datetime, *, everybody: bool) -> list[str]:
    """The ids of the items that state what is asked for, in the order of the slots that were asked for.

    Where several people would do, nobody does: "Where does she live?" says nothing where two women are spoken of.

    Args:
        items: those that are believed; semantic and core ones count.
        now: what was not true any more then, or not yet, is left out.
        everybody: whether the items are all that the memory holds: only then a pronoun tells of whom it speaks.
    """
    relations = _relations(items)
    whose = asked.whose.casefold()
    if whose in _PRONOUNS and not everybody:
        return []
    found: list[tuple[int, frozenset[str], str]] = []
    for one in items:
        slot = slot_of(one.kind, one.text, one.metadata) if one.kind in ("core", "semantic") else ""
        subject, _, attribute = slot.rpartition(".")
        if attribute not in asked.slots or not is_true_at(one, now):
            continue
        called = _called(subject, one, relations)
        if called is not None and _is_meant(whose, called):
            found.append((asked.slots.index(attribute), called, one.id))
    others = [one for one in found if one[1]]
    if whose in _PRONOUNS and others:  # who asks for somebody else does not mean the user
        found = others
    if any(not _same(found[0][1], called) for _, called, _ in found[1:]):
        return []
    return [item_id for _, _, item_id in sorted(found, key=lambda one: one[0])]


def is_true_at(item: MemoryItem, now: datetime) -> bool:
    """Whether what an item says holds at a moment."""
    return (item.valid_to is None or item.valid_to > now) and (item.valid_from is None or item.valid_from <= now)


def _relations(items: Sequence[MemoryItem]) -> dict[str, frozenset[str]]:
    """Name → what they are to the user: of "Girlfriend: Sam", and of "Ana (sister) works as a nurse"."""
    found: dict[str, frozenset[str]] = {}
    for one in items:
        head, _, said = one.text.casefold().partition("\n")
        if one.kind == "core" and (label := _LABELLED.match(said)) and label[1] in KIN:
            found[label[2]] = found.get(label[2], frozenset()) | {label[1]}
        elif one.kind == "semantic" and (aside := _ASIDE.search(said)) and aside[1] in KIN:
            for name in _TOKEN.findall(head):
                found[name] = found.get(name, frozenset()) | {aside[1]}
    return found


def _called(subject: str, item: MemoryItem, relations: Mapping[str, frozenset[str]]) -> frozenset[str] | None:
    """Every word by which the subject of an item goes, none for the user; None of somebody else's relative."""
    words = _TOKEN.findall(subject.replace("_", " "))
    while words and words[0] in _USERS:
        words.pop(0)
    if "s" in words:  # "Anna's brother"
        return None
    found = frozenset(words).union(*(relations.get(one, frozenset()) for one in words))
    label = _LABELLED.match(item.text.casefold().partition("\n")[2])
    return found | {label[1]} if found and label and label[1] in KIN else found


def _is_meant(whose: str, called: frozenset[str]) -> bool:
    if whose in _PRONOUNS:
        return not called & (_MEN if whose in _SHE else _WOMEN if whose in _HE else frozenset())
    wanted = frozenset(_TOKEN.findall(whose)) - _USERS
    return bool(called) == bool(wanted) and all({one, *others_for(one)} & called for one in wanted)


def _same(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether two subjects may be one: their names tell, and where one has none, what they are to the user."""
    names, others = one - KIN, other - KIN
    return one == other or bool(names & others if names and others else one & other)


def stated_facts(tx: Transaction, question: str, found: Callable[[], Sequence[str]], everybody: bool) -> Sequence[str]:
    """The ids of the items that state what a question plainly asks for; none of most questions, which read nothing.

    Args:
        found: gives the ids of the items that are nearest to the question; called only where one is needed.
        everybody: whether the memory is so small that these are all of its items.
    """
    asked = read_asked(question)
    if asked is None:
        return ()
    items = {one.id: one for one in read_items(tx, kinds=["core"])}
    if asked.whose:
        near = get_items(tx, found())
        items.update({name: one for name, one in near.items() if one.status == "active"})
    return answering_items(asked, list(items.values()), utc_now(), everybody=everybody)
