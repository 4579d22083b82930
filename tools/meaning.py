"""What is meant by words such as "that I stay at the Anker Hotel": the records that say it, and only it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from .. import lazy_re as re
from ..agents.research_rules.question import content_words, stems
from ..agents.research_rules.saying_nothing import asks_to_forget
from ..errors import InvalidInputError
from ..intent.page_sentences import SPLIT
from ..memory_types import Hit, Source, Step
from ..stores.changing import can_be_cut
from ..stores.ledger import get_steps
from .clauses import ASIDE, COURTESY, is_one_clause, only_says, word_stems

if TYPE_CHECKING:
    from ..user import UserMemory

__all__ = ["ASKS", "Meant", "sentences", "what_is_meant"]

_CANDIDATES, _SURE, _SHOWN = 30, 6, 8
_TALK = re.compile(
    r"\b(?:please|forget|delete|remove|erase|about|everything|anything|all|what|which|that|things?|stuff|facts?|messages?|notes?"
    r"|information|memor(?:y|ies)|records?|(?:i|we|you|user)\s(?:have\s|had\s)?(?:said|told|mentioned|wrote|stored|learned|learnt|noted)"
    r"|said|told|mentioned|user(?:'s)?)\b"
    r"|请|麻烦|忘掉|忘记|忘了|删除|删掉|去掉|关于|所有|全部|用户|我?(?:刚才?|之前|以前)?(?:说|讲|提)[过到]?的?|的?(?:事情?|那句话|话|记录|信息|内容|消息)(?=\W|$)",
    re.IGNORECASE,
)
ASKS = re.compile(r"[?？]\s*$|^\W*(?:please\s+)?(?:forget|delete|remove|erase)\b|^请?(?:忘|删)", re.IGNORECASE)
"""What a person asks, or asks to be forgotten: it says nothing by itself."""
_DENIES = re.compile(r"\b(?:not|never|nobody|none|no longer|neither|nor|without)\b|n['’]t\b|不|没|别", re.IGNORECASE)
_NAME = re.compile(r"\b[^\W\d_a-z][^\W_]+")
_MEANS_ANOTHER = re.compile(
    r"\b(?:he|him|his|she|hers?|they|them|theirs?|it|its|there|we|us|ours?|both|this|that)\b|[他她它]们?|那[里儿]",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Meant:
    """What words may mean.

    Attributes:
        steps, items: records that say it and nothing else.
        parts: step → those of its sentences that say it and nothing else, where others stand beside them.
        unsure: ids of others that say it, the best first: they say more, or there are too many to be sure; where nothing
            says it, of those that say most of it.
    """

    steps: tuple[str, ...] = ()
    items: tuple[str, ...] = ()
    parts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    unsure: tuple[str, ...] = ()


@dataclass(slots=True)
class _Found:
    """How much of what was found says it: steps whole and in part, items."""

    wanted: list[frozenset[str]]
    denied: bool = False  # whether the words deny something
    steps: list[str] = field(default_factory=list)
    items: list[str] = field(default_factory=list)
    parts: dict[str, tuple[str, ...]] = field(default_factory=dict)
    unsure: list[str] = field(default_factory=list)

    def add_item(self, hit: Hit) -> bool:
        """Take an item as one that says it; whether it says nothing else."""
        sure = hit.kind != "vault" and not self._contradicts(hit.text) and only_says(hit.text, self.wanted)
        (self.items if sure else self.unsure).append(hit.id)
        return sure

    def add_step(self, step: Step, quotes: Sequence[tuple[str, str]] = ()) -> None:
        """Take a step as one that says it.

        Args:
            quotes: the words of it from which items were learned that say it and nothing else, each with the item's text.
        """
        text = step.content or step.index_text
        meant, more = self._saying(text, quotes)
        rest = [word for word in content_words(_without(text, meant)) if word.casefold() not in COURTESY]
        whole = _all_of(text, self.wanted) and not self._contradicts(text) and only_says(text, self.wanted)
        if (not meant and not more and whole) or (meant and not rest):
            self.steps.append(step.id)
        elif meant and can_be_cut(step):
            self.parts[step.id] = tuple(meant)
            if more:
                self.unsure.append(step.id)
        else:
            self.unsure.append(step.id)

    def _contradicts(self, text: str) -> bool:
        """Whether a text denies something and the words do not, or the other way round: it may say the opposite."""
        return (_DENIES.search(ASIDE.sub(" ", text)) is not None) != self.denied

    def _saying(self, text: str, quotes: Sequence[tuple[str, str]]) -> tuple[list[str], bool]:
        """The sentences that say it and nothing else, and whether there are others that say it and more."""
        found, more, names = [], False, ""
        for sentence in sentences(text):
            known = names if _MEANS_ANOTHER.search(sentence) and _any_of(sentence, self.wanted) else ""
            of_item = [one for one in quotes if one[0].strip(" .!?。！？") in sentence]
            if _all_of(f"{sentence} {known}", self.wanted) or of_item:
                words = [*self.wanted]
                for quote, learned in of_item:  # of a quote that says more, the item says which of it is meant
                    words += word_stems(f"{quote} {learned}" if is_one_clause(quote) else learned)
                if only_says(sentence, words) and not self._contradicts(sentence):
                    found.append(sentence)
                else:
                    more = True
            names = f"{names} {' '.join(_NAME.findall(sentence))}"
        return found, more


def what_is_meant(user: UserMemory, what: str, without: Collection[str] = ()) -> Meant:
    """The records that say what is told in words.

    A record says it that holds every word that carries the words given, and so does the message that such an item was
    learned from; it says nothing else where none of its clauses does, see :func:`.clauses.only_says`. Of a message that says more, the
    sentences count that say it and nothing else: a name that such a sentence refers to by a pronoun counts as said.

    Args:
        without: ids of steps that are not meant, such as the one that asks for it.

    Raises:
        InvalidInputError: the words name nothing.
    """
    wanted = word_stems(_TALK.sub(" ", what))
    if not wanted:
        raise InvalidInputError(f"what = {what!r} names nothing: say what is to be forgotten, or give ids")
    near = [hit for hit in user.recall(what, _CANDIDATES).hits if hit.id not in without]
    said = [hit for hit in near if _all_of(hit.text, wanted)]
    if not said:
        return Meant(unsure=tuple(_saying_most(user, near, what)))
    found = _Found(wanted, _DENIES.search(what) is not None)
    steps = dict.fromkeys(hit.id for hit in said if hit.kind == "step")
    learned: dict[str, list[tuple[str, str]]] = {}
    for hit in said:
        if hit.kind == "step" or (hit.sources and all(one.step_id in without for one in hit.sources)):
            continue
        if found.add_item(hit):
            for one in _telling(hit.sources, wanted):
                if one.step_id not in without:
                    learned.setdefault(one.step_id, []).extend([(one.quote, hit.text)] if one.quote else [])
    with user.memory.ledger.read(user.name) as tx:
        held = get_steps(tx, {*steps, *learned})
    for step_id in dict.fromkeys([*steps, *learned]):
        if step_id in held:
            found.add_step(held[step_id], learned.get(step_id, ()))
    if len(found.steps) + len(found.parts) > _SURE or len(found.items) > _SURE:
        return Meant(unsure=tuple([*found.steps, *found.parts, *found.items, *found.unsure][:_SHOWN]))
    asked = [one for one in found.steps if held[one].role == "user" and ASKS.search(held[one].content)]
    if len(asked) == len(found.steps) and not found.items and not found.parts:  # it is asked about, and said by nobody
        requests = tuple(one for one in asked if asks_to_forget(held[one].content))
        return Meant(
            steps=requests, unsure=tuple([*found.unsure, *(one for one in asked if one not in requests)][:_SHOWN])
        )
    return Meant(
        steps=tuple(found.steps),
        items=tuple(found.items),
        parts=found.parts,
        unsure=tuple(found.unsure[:_SHOWN]),
    )


def _saying_most(user: UserMemory, near: Sequence[Hit], what: str) -> list[str]:
    """The ids of those that say most of what nothing says whole: two of its words and half of them, a name among them if
    there is one. What is asked or replied says nothing.
    """
    words = content_words(_TALK.sub(" ", what))
    wanted, names = [stems(word) for word in words], [stems(word) for word in words if word[0].isupper()]
    with user.memory.ledger.read(user.name) as tx:
        steps = get_steps(tx, [hit.id for hit in near if hit.kind == "step"])
    held: dict[str, int] = {}
    for hit in near:
        step = steps.get(hit.id)
        if hit.kind == "vault" or (step is not None and (step.role != "user" or ASKS.search(step.content))):
            continue
        if not names or _any_of(hit.text, names):
            own = stems(hit.text)
            held[hit.id] = sum(word <= own for word in wanted)
    most = max(held.values(), default=0)
    return [one for one, count in held.items() if count == most >= max(2, len(words) / 2)][:_SHOWN]


def _telling(sources: Sequence[Source], wanted: Collection[frozenset[str]]) -> list[Source]:
    """The sources of an item that tell it: those whose words hold most of those wanted, and those without words of their own.

    The others only tell who is meant: "My sister Karen's password is …" says nothing of the bakery that Karen runs.
    """
    held = {one.quote: sum(word <= stems(one.quote) for word in wanted) for one in sources if one.quote}
    most = max(held.values(), default=0)
    return [one for one in sources if not one.quote or held[one.quote] == most]


def sentences(text: str) -> list[str]:
    """The sentences of a text, exactly as they stand there."""
    return [bare for one in SPLIT.split(text) if (bare := one.strip())]


def _all_of(text: str, wanted: Iterable[frozenset[str]]) -> bool:
    held = stems(text)
    return all(word <= held for word in wanted)


def _any_of(text: str, wanted: Iterable[frozenset[str]]) -> bool:
    held = stems(text)
    return any(word <= held for word in wanted)


def _without(text: str, parts: Iterable[str]) -> str:
    for part in parts:
        text = text.replace(part, " ")
    return text
