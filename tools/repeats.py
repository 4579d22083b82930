"""What says again what is forgotten: above all the assistant's replies, which a memory keeps beside what they answer.

A reply goes along where it only repeats; a sentence of it goes where others stand beside it. So does an earlier request to
forget it: it tells nothing itself. What may say more is told, to be asked about: other replies, questions in which the same
names stand, and further items.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from .. import lazy_re as re
from ..agents.research_rules.question import content_words, stems
from ..agents.research_rules.saying_nothing import asks_to_forget
from ..memory_types import MemoryItem, Step, VaultItem
from ..stores.changing import can_be_cut
from ..stores.ledger import get_items, get_steps
from ..stores.ledger.said_steps import ThreadLine, thread_lines
from .clauses import CLAUSE, COURTESY, DAYS
from .meaning import ASKS, sentences

if TYPE_CHECKING:
    from ..user import UserMemory

__all__ = ["Repeats", "what_repeats"]

_MOST = 12  # records that are told
_COUNT = re.compile(r"\d{1,2}(?:st|nd|rd|th|am|pm)?|(?:19|20)\d\d(?:-\d\d){0,2}")
_HAN = re.compile(r"[\u3400-\u9fff]")


@dataclass(slots=True, kw_only=True)
class Repeats:
    """What says again what is forgotten.

    Attributes:
        steps: replies that say nothing else, and requests to forget it. parts: step → sentences of a reply that do.
        unsure: ids of records that say it too, and may say more.
    """

    steps: list[str] = field(default_factory=list)
    parts: dict[str, tuple[str, ...]] = field(default_factory=dict)
    unsure: list[str] = field(default_factory=list)


def what_repeats(
    user: UserMemory,
    steps: Collection[str],
    items: Collection[str] = (),
    parts: Mapping[str, Sequence[str]] | None = None,
    without: Collection[str] = (),
) -> Repeats:
    """What is left that says again what these records say, which are to be forgotten.

    A reply of the same turn counts by any word of it, another one by a name or by two words that the user says nowhere
    else, or by one where there is only one. It only repeats where half of the words of each of its clauses are those of
    the messages that are forgotten.

    Args:
        steps, items: ids of what is forgotten whole.
        parts: step → the words of it that are forgotten.
        without: ids of steps that are left alone, such as the one that asks for it.
    """
    cut = parts or {}
    found = Repeats()
    with user.memory.ledger.read(user.name) as tx:
        lines = thread_lines(tx)
        given = get_items(tx, items)
    by_id = {line.id: line for line in lines}
    known = [one for one in user.items() if not isinstance(one, VaultItem)]
    gone_items = [*given.values(), *(one for one in known if one.id not in given and _rests_on(one, steps))]
    gone_items = [one for one in gone_items if not isinstance(one, VaultItem)]
    texts = [by_id[one].content for one in steps if one in by_id]
    texts += [words for one in cut.values() for words in one]
    told = _Told.of(
        [*texts, *(one.text for one in gone_items)],
        [*texts, *(by_id[one].content for one in cut if one in by_id)],
        [
            line.content
            for line in lines
            if _counts(line, steps, without)
            and line.role == "user"
            and line.id not in cut
            and not _only_asks(line.content)
        ],
    )
    beside, answered = _same_turns(lines, {*steps, *cut})
    asked = bool(texts) and all(map(_only_asks, texts))  # replies to what was only asked tell more than that
    replies = [
        line
        for line in lines
        if _counts(line, steps, without)
        and line.role == "assistant"
        and line.id not in cut
        and told.may_stand(line.content)
    ]
    with user.memory.ledger.read(user.name) as tx:
        held = get_steps(tx, [line.id for line in replies])
    for line in replies:
        if not asked:
            _sort_reply(found, held[line.id], told, near=line.id in beside)
        elif told.names_of(line.content):
            found.unsure.append(line.id)
    sources = {source.step_id for one in gone_items for source in one.sources}
    sources.update(one for one in answered if told.says_again(by_id[one].content, near=True))
    others = [line for line in lines if _counts(line, steps, without) and line.role == "user" and line.id not in cut]
    requests = [] if asked else [line.id for line in others if told.asks_for(line.content)]
    found.steps += requests
    found.unsure += [
        line.id for line in others if line.id not in requests and (line.id in sources or told.names_of(line.content))
    ]
    gone = {one.id for one in gone_items}
    found.unsure += [one.id for one in known if one.id not in gone and told.names_of(one.text)]
    found.unsure = list(dict.fromkeys(found.unsure))[:_MOST]
    return found


def _only_asks(text: str) -> bool:
    return ASKS.search(text) is not None or asks_to_forget(text)


def _counts(line: ThreadLine, steps: Collection[str], without: Collection[str]) -> bool:
    return line.active and line.id not in steps and line.id not in without


def _rests_on(item: MemoryItem, steps: Collection[str]) -> bool:
    return bool(item.sources) and all(one.step_id in steps for one in item.sources)


def _same_turns(lines: Sequence[ThreadLine], steps: Collection[str]) -> tuple[set[str], set[str]]:
    """The assistant's steps behind these messages of the user, up to the user's next; and the user's before these replies."""
    replies: set[str] = set()
    answered: set[str] = set()
    heads: dict[str, str] = {}
    for line in sorted(lines, key=lambda one: (one.thread_id, one.turn)):
        if line.role == "user":
            heads[line.thread_id] = line.id
        elif line.role == "assistant" and (head := heads.get(line.thread_id)):
            if head in steps:
                replies.add(line.id)
            if line.id in steps:
                answered.add(head)
    return replies, answered


def _sort_reply(found: Repeats, step: Step, told: _Told, *, near: bool) -> None:
    text = step.content
    if not told.says_again(text, near=near):
        return
    again = [one for one in sentences(text) if told.says_again(one, near=near)]
    if near:  # of the same turn, "two singles" says "two" again, and nothing of the two rooms
        again = [one for one in again if told.only_repeats(one, near=True) or told.tells(one)]
    repeating = bool(again) and all(told.only_repeats(one, near=near) for one in again)
    rest = content_words(" ".join(one for one in sentences(text) if one not in again))
    if told.only_repeats(text, near=near) or (repeating and all(word.casefold() in COURTESY for word in rest)):
        found.steps.append(step.id)
    elif repeating and can_be_cut(step):
        found.parts[step.id] = tuple(again)
    elif not near or told.tells(text):
        found.unsure.append(step.id)


@dataclass(frozen=True, slots=True)
class _Told:
    """The words of what is forgotten.

    Attributes:
        own: stems of each of its words. telling: of those that the user says nowhere else, dates apart. names: the names
            among these.
        covered: the stems of all that the messages say of which it is forgotten.
        keys: beginnings of telling words, of which one stands in a text that says any of them.
        told: the telling words that the messages themselves say (an item says "habit" and "does" beside); all where
            none of them is a message's.
    """

    own: tuple[frozenset[str], ...]
    telling: tuple[frozenset[str], ...]
    names: tuple[frozenset[str], ...]
    covered: frozenset[str]
    keys: tuple[str, ...]
    told: tuple[frozenset[str], ...]

    @classmethod
    def of(cls, texts: Sequence[str], whole: Sequence[str], elsewhere: Iterable[str]) -> _Told:
        words: dict[str, frozenset[str]] = {}
        names: set[str] = set()
        for text in texts:
            for sentence in sentences(text):
                for at, word in enumerate(content_words(sentence)):
                    low = word.casefold()
                    if low in COURTESY or (len(low) == 1 and _HAN.match(low)):
                        continue
                    words[low] = stems(word)
                    opens = at == 0 and sentence.lstrip("\"“‘'(*- ").startswith(word)
                    if _is_code(low) or (low not in DAYS and word[0].isupper() and not opens):
                        names.add(low)
        keys = {low: _key(low) for low in words}
        left = {low: word for low, word in words.items() if not _carries_nothing(low)}
        for text in elsewhere:
            folded = text.casefold()
            near = [low for low in left if keys[low] in folded]
            if near:
                held = stems(text)
                for low in near:
                    if left[low] <= held:
                        del left[low]
        said = frozenset().union(*map(stems, whole))
        return cls(
            tuple(words.values()),
            tuple(left.values()),
            tuple(one for low, one in left.items() if low in names),
            said.union(*words.values()),
            tuple(keys.values()),
            tuple(word for word in left.values() if word <= said) or tuple(left.values()),
        )

    def may_stand(self, text: str) -> bool:
        """Whether any of the words may stand in a text: seen without reading all of it."""
        folded = text.casefold()
        return any(key in folded for key in self.keys)

    def names_of(self, text: str) -> bool:
        """Whether a name of what is forgotten stands in a text, and the user says it nowhere else."""
        return bool(self.names) and self.may_stand(text) and _held(text, self.names) > 0

    def tells(self, text: str) -> bool:
        """Whether a word of what is forgotten stands in a text that the user says nowhere else."""
        return _held(text, self.telling) > 0

    def asks_for(self, text: str) -> bool:
        """Whether a text is an earlier request to forget this, and nothing else."""
        return self.may_stand(text) and self.tells(text) and asks_to_forget(text)

    def says_again(self, text: str, *, near: bool) -> bool:
        """Whether a reply says any of it again.

        Args:
            near: whether it answers the message itself.
        """
        if near:
            return _held(text, self.own) > 0
        count = _held(text, self.telling)
        several = 3 if _HAN.search(text) else 2
        if count >= several or (count > 0 and self.names_of(text)):
            return True
        return count > 0 and len(self.told) < several and _held(text, self.told) == len(self.told)

    def only_repeats(self, text: str, *, near: bool) -> bool:
        """Whether half of the words of each clause, and of all of it, are said in the messages.

        Args:
            near: whether it answers the message itself: then "tomorrow" may be reckoned into a date.
        """
        said: dict[str, bool] = {}
        for clause in CLAUSE.split(text):
            words = {low: stems(low) <= self.covered for low in map(str.casefold, content_words(clause))}
            carrying = {low: known for low, known in words.items() if not _carries_nothing(low)}
            dated = any(not known and low not in COURTESY for low, known in words.items() if low not in carrying)
            known = sum(carrying.values())
            if (len(carrying) > 1 or (carrying and dated)) and 2 * known < len(carrying):
                return False
            if dated and not near:
                return False
            said.update(carrying)
        return 2 * sum(said.values()) >= len(said)


def _is_code(low: str) -> bool:
    """Whether a word is a number that stands for one thing: no day, hour, count or year."""
    return any(map(str.isdigit, low)) and not _COUNT.fullmatch(low)


def _carries_nothing(low: str) -> bool:
    return low in COURTESY or low in DAYS or _COUNT.fullmatch(low) is not None


def _held(text: str, words: Collection[frozenset[str]]) -> int:
    held = stems(text)
    return sum(word <= held for word in words)


def _key(low: str) -> str:
    """The beginning of a word that its other forms share."""
    word = low.split("-", maxsplit=1)[0].split("'", maxsplit=1)[0]
    return word if _HAN.search(word) else word[:3]
