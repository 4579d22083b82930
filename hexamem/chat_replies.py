"""What a chat without a model replies: the words of memory that carry an answer, as far as they are believed now."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING, NamedTuple

from . import lazy_re as re
from .agents.applying.stating import denies
from .agents.asked_overview import asks_for_overview, only_of_people, overview, overview_of_named
from .agents.research_rules.asking import asks, is_courtesy, only_asks
from .agents.research_rules.living import with_plain_work
from .agents.research_rules.own_facts import asks_of_past, states_slot
from .agents.research_rules.question import Question, content_words, holds, read_question, stems
from .agents.research_rules.saying_nothing import asks_of_asking, asks_plainly, merely_asks
from .memory_types import CoreItem, EpisodicItem, MemoryItem, item_from, utc_now
from .memory_types.local_time import in_zone
from .memory_types.research import Passage, Research
from .memory_types.times import read_zone
from .prompting import core_line
from .stores.documents import searchable
from .stores.ledger import Transaction, event_time, get_items, get_steps, has_own_time
from .stores.ledger.history import history_of
from .stores.ledger.items import believed_now, count_items, items_citing
from .stores.ledger.said_steps import last_said
from .stores.secrets import find_references, tell_references

if TYPE_CHECKING:
    from .user import UserMemory

__all__ = ["FORGETS_NOTHING", "NO_MODEL", "STORED", "is_worth_a_look", "nearest_steps", "reply_by_evidence"]

NO_MODEL = "(No model is set: I can only show what memory holds, in the words that were said.)"
STORED = "Your message is stored."
FORGETS_NOTHING = (
    "Nothing is forgotten yet: without a model I do not act on words. /memory WORDS lists what memory holds of them, by "
    "number; /forget NUMBER takes it out, /forget WORDS what says just that, and /undo brings it back."
)
_QUOTES, _NEAR, _NOTED = 3, 3, 20
_GROUPS = {"core": "About you", "semantic": "People and things", "episodic": "Events"}
_BESIDE = {
    "procedural": ("how-to", "how-tos"),
    "resource": ("document", "documents"),
    "vault": ("entry in the vault", "entries in the vault"),
}
_QUESTION = re.compile(r"[^.!?。！？\n]+[?？]+")
_WORTH = 2 / 3  # what is worth less beside the best quote is left out
_KEYWORDS = 6  # words of a message that may be a search without a verb: "Mia's school"


def is_worth_a_look(said: str) -> bool:
    """Whether memory is to be searched for a message: it asks something, or is no more than some words to look for."""
    if is_courtesy(said):
        return False
    return asks(said) or _is_search(said)


def reply_by_evidence(user: UserMemory, found: Research) -> str:
    """The evidence for a question as lines, each with its day and speaker; that memory holds none where it does not.

    What was said and is not believed any more gives way to what is, unless the past is asked for.
    """
    if asks_for_overview(found.question):
        return _noted(user, found.question)
    if (of_named := _noted_of_named(user, found)) is not None:
        return of_named
    question = _read(user, found.question)
    quotes = [one for one in _best_quotes(user, found, question) if _fits(one.text, question)]
    near = [_said(one) for one in _nearest(found, question)]
    if found.answerable and quotes:
        told, shown = "From memory:", quotes[:_QUOTES]
    elif near and asks(found.question):
        told, shown = "Memory holds no clear answer. Nearest to it:", near
    else:
        return STORED
    shown = _as_believed_now(user, question, shown)
    return "\n".join([told, *_quoted(user, shown, read_zone(user.timezone))])


def _quoted(user: UserMemory, said: Sequence[_Said], zone: tzinfo) -> list[str]:
    """What was said as lines, each with its day and speaker; secrets as references."""
    lines = []
    references = _references(user, said)
    for one in said:
        when = f"{in_zone(one.occurred_at, zone):%Y-%m-%d}, " if one.occurred_at else ""
        text = " ".join(one.text.split())
        for step_id in one.step_ids:
            for words, reference in references.get(step_id, ()):
                text = text.replace(words, reference, 1)
        lines.append(f"- “{text}” ({when}{one.speaker or 'learned'})")
    return lines


def _noted(user: UserMemory, question: str) -> str:
    """What is noted of the user, where all of that is asked for."""
    with user.memory.ledger.read(user.name) as tx:
        ids = overview(tx, question, utc_now()) if tx.user_id else ()
        lines = _in_groups(tx, ids, get_items(tx, ids[:_NOTED]))
        counts = count_items(tx) if tx.user_id and not only_of_people(question) else {}
    beside = [f"{count} {names[count > 1]}" for kind, names in _BESIDE.items() if (count := counts.get(kind, 0))]
    if beside:
        lines.append(f"Beside that: {', '.join(beside)} (/memory)")
    if not lines:
        return "Nothing is noted of that yet; what was said is kept all the same (/memory)."
    return "\n".join(["What is noted:", *lines])


def _noted_of_named(user: UserMemory, found: Research) -> str | None:
    """What is noted of somebody or something whom a question names, and what else was said; None where nothing is."""
    with user.memory.ledger.read(user.name) as tx:
        ids = overview_of_named(tx, found.question, utc_now()) if tx.user_id else ()
        items = get_items(tx, ids)
        lines = _in_groups(tx, ids, items)
        known = {one.step_id for item in items.values() for one in item.sources}
    if not lines:
        return None
    question, zone = _read(user, found.question), read_zone(user.timezone)
    quotes = (
        [one for one in _best_quotes(user, found, question) if known.isdisjoint(one.step_ids)]
        if found.answerable
        else []
    )
    said = _quoted(user, [one for one in quotes if _fits(one.text, question)][:_QUOTES], zone)
    return "\n".join(["What is noted:", *lines, *(["Said beside that:", *said] if said else [])])


def _in_groups(tx: Transaction, ids: Sequence[str], held: Mapping[str, MemoryItem]) -> list[str]:
    """The first of the items as lines: of the user, of people and things, and events as they follow one another."""
    shown = sorted((held[one] for one in ids[:_NOTED] if one in held), key=_place)
    told = {one.id: core_line(one) if isinstance(one, CoreItem) else _told(tx, one).text for one in shown}
    groups = [(heading, [one for one in shown if one.kind == kind]) for kind, heading in _GROUPS.items()]
    several = sum(bool(group) for _, group in groups) > 1
    lines = []
    for heading, group in groups:
        lines += [f"{heading}:"] if several and group else []
        lines += [f"- {' '.join(told[one.id].split())}" for one in group]
    return lines + ([f"… and {len(ids) - len(told)} more (/memory)"] if len(ids) > len(told) else [])


def _place(item: MemoryItem) -> tuple[int, float]:
    """Sorts items by groups, and events by their time; the others stay as they are."""
    return list(_GROUPS).index(item.kind), event_time(item).timestamp() if item.kind == "episodic" else 0.0


class _Said(NamedTuple):
    """What is shown as evidence, and the steps that it comes from."""

    text: str
    occurred_at: datetime | None
    speaker: str | None
    step_ids: tuple[str, ...]


def nearest_steps(user: UserMemory, found: Research) -> frozenset[str]:
    """The ids of the messages among the passages that were read first, questions left out."""
    return frozenset(one.id for one in _nearest(found, _read(user, found.question)) if one.kind == "step")


def _nearest(found: Research, question: Question) -> list[Passage]:
    """The passages that were read first; not questions, nor what was learned of a message that is shown."""
    shown: set[str] = set()
    near = []
    for one in found.passages:
        steps = {source.step_id for source in one.sources}
        if _asks_back(one, question) if one.kind == "step" else steps <= shown:
            continue
        shown |= steps
        near.append(one)
    return near[:_NEAR]


def _said(one: Passage) -> _Said:
    return _Said(_without_name(one), one.occurred_at, one.speaker, tuple(source.step_id for source in one.sources))


def _asks_back(step: Passage, question: Question) -> bool:
    """Whether a message only asks, this or another thing."""
    return (
        _asks_alone(step.text) or only_asks(question, step.text) or (step.speaker == "user" and asks_plainly(step.text))
    )


def _asks_alone(text: str) -> bool:
    return len(_QUESTION.findall(text)) == 1 and _QUESTION.fullmatch(text.strip()) is not None


def _is_search(said: str) -> bool:
    words = said.split()
    return (
        len(words) <= _KEYWORDS
        and said.rstrip()[-1:] not in (".", "!", "。", "！", "…")
        and len(content_words(said)) == len(words)
        and said.isascii()
    )


def _read(user: UserMemory, text: str) -> Question:
    speakers = user.memory.researching.speakers(user.name)
    return read_question(text, speakers, utc_now(), read_zone(user.timezone))


def _fits(quote: str, question: Question) -> bool:
    """Whether a quote may answer: to words that ask nothing, only one that holds some of them does."""
    if asks(question.text):
        return True
    held = stems(quote)
    return any(holds(question, held, word) for word in question.words)


def _references(user: UserMemory, said: Sequence[_Said]) -> dict[str, list[tuple[str, str]]]:
    """Step → the words in which research tells each secret in it, and the whole reference."""
    with user.memory.ledger.read(user.name) as tx:
        steps = get_steps(tx, {step_id for one in said for step_id in one.step_ids})
    return {
        step.id: [
            (tell_references(put := step.content[one.start : one.end]), put) for one in find_references(step.content)
        ]
        for step in steps.values()
    }


def _without_name(passage: Passage) -> str:
    """The text of a passage; of an item without the name that its next line repeats."""
    name, _, rest = passage.text.partition("\n")
    return rest if passage.kind != "step" and rest.casefold().startswith(name.casefold()) else passage.text


def _best_quotes(user: UserMemory, found: Research, question: Question) -> list[_Said]:
    """The quotes of the evidence that bear on the question most, best first.

    How near their passages are says little where memory holds little; so the words that they share with the question
    count as much, rare ones more. What is noted of just what was asked is among the best.
    Where the question is of somebody or an animal of the user ("my dog"), those that speak
    of them, in whatever word, leave out the others.
    """
    said = [
        one
        for one in found.evidence
        if one.speaker != "user" or asks_of_asking(found.question) or not merely_asks(one.quote)
    ]
    if question.whose:
        held = [stems(one.quote) for one in said]
        of_them = [all(holds(question, each, one) for one in question.whose) for each in held]
        said = [one for one, speaks in zip(said, of_them, strict=True) if speaks] or said
    passages = {one.id: one.score for one in found.passages}
    near = [max(0.0, passages.get(one.passage_id, 0.0)) for one in said]
    texts = {str(number): one.quote for number, one in enumerate(said)}
    shared = dict(user.memory.lexical.score_texts(user.key, with_plain_work(found.question), texts))
    words = [shared.get(str(number), 0.0) for number in range(len(said))]
    nearest, most = max(near, default=0) or 1, max(words, default=0) or 1
    worth = [a / nearest + b / most for a, b in zip(near, words, strict=True)]
    noted = {one.id for one in found.passages if states_slot(one, question.slots)}
    worth = [
        max(worth, default=0.0) if one.passage_id in noted else each for one, each in zip(said, worth, strict=True)
    ]
    ranked = sorted(range(len(said)), key=lambda number: -worth[number])
    return [
        _Said(said[number].quote, said[number].occurred_at, said[number].speaker, said[number].step_ids)
        for number in ranked
        if worth[number] >= _WORTH * worth[ranked[0]]
    ]


def _as_believed_now(user: UserMemory, question: Question, said: Sequence[_Said]) -> list[_Said]:
    """The same, with what is believed now in place of words that were put right or have been overtaken; each once."""
    if not said or asks_of_past(question.text):
        return list(said)
    shown: dict[str, _Said] = {}
    with user.memory.ledger.read(user.name) as tx:
        for one in said:
            item = _overtaking(tx, question, one)
            now = one if item is None else _told(tx, item)
            shown.setdefault(" ".join(now.text.split()).casefold(), now)
    return list(shown.values())


def _overtaking(tx: Transaction, question: Question, said: _Said) -> MemoryItem | None:
    """The item that says what holds in place of something said: it took the place of what was learned from that, no
    longer says all of it, and says what of it bears on the question.

    Where words of what was said are not lost, it may still deny them or tell another day: "is not" has every word of
    "is", and a day that was told as "Monday" stands in the item in figures.
    """
    quote = stems(said.text)
    asked = {word for word in question.words if holds(question, quote, word)}
    turned: MemoryItem | None = None
    for former in get_items(tx, items_citing(tx, said.step_ids)).values():
        now = believed_now(tx, former)
        if now is None or now.kind == "vault":
            continue
        holding = stems(_words(now))
        if not all(holds(question, holding, word) for word in asked):
            continue
        for before in _earlier(tx, former) if now.id == former.id else [former]:
            was = stems(_words(before))
            if not {source.step_id for source in before.sources}.intersection(said.step_ids):
                continue
            if (was - holding) & quote:
                return now
            if was & quote and (denies(_words(before)) != denies(_words(now)) or _moved(before, now)):
                turned = turned or now
    return turned


def _earlier(tx: Transaction, item: MemoryItem) -> list[MemoryItem]:
    """The item as it was before each change that was made in place."""
    if item.version == 1:
        return []
    changes = [change for done in history_of(tx, item.id) for change in done.changes if change.target_id == item.id]
    return [item_from(change.before) for change in changes if change.before is not None]


def _moved(before: MemoryItem, now: MemoryItem) -> bool:
    """Whether both are events that happen, and not at the same time."""
    both = isinstance(before, EpisodicItem) and isinstance(now, EpisodicItem)
    return both and event_time(before) != event_time(now)


def _words(item: MemoryItem) -> str:
    return f"{item.text}\n{getattr(item, 'label', '')}"


def _told(tx: Transaction, item: MemoryItem) -> _Said:
    moment = None if has_own_time(item) else last_said(tx, {item.id: item.sources}).get(item.id)
    text = getattr(item, "summary", "") or getattr(item, "value", "") or item.text
    return _Said(
        searchable(text), moment.at if moment else event_time(item), None, tuple(one.step_id for one in item.sources)
    )
