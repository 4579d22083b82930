"""What is meant by words such as "that I stay at the Anker Hotel": the records that say it, and only it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .. import lazy_re as re
from ..agents.research_rules.question import content_words, stems
from ..errors import InvalidInputError
from ..memory_types import Hit

if TYPE_CHECKING:
    from ..user import UserMemory

__all__ = ["Meant", "what_is_meant"]

_CANDIDATES, _SURE, _SHOWN = 30, 6, 8
_TALK = re.compile(
    r"\b(?:please|forget|delete|remove|erase|about|everything|anything|all|what|which|that|things?|stuff|facts?|messages?|notes?"
    r"|information|memor(?:y|ies)|records?|(?:i|we|you|user)\s(?:have\s|had\s)?(?:said|told|mentioned|wrote|stored|learned|learnt|noted)"
    r"|said|told|mentioned|user(?:'s)?)\b"
    r"|请|麻烦|忘掉|忘记|忘了|删除|删掉|去掉|关于|所有|全部|用户|我?(?:刚才?|之前|以前)?(?:说|讲|提)[过到]?的?|的?(?:事情?|那句话|话|记录|信息|内容|消息)(?=\W|$)",
    re.IGNORECASE,
)
_CLAUSE = re.compile(r"[.!?;:,](?=\s|$)|[。！？；：，、\n]|\s(?:and|but|because|so|while|since)\s|但是?|而且|因为|所以")


@dataclass(frozen=True, slots=True, kw_only=True)
class Meant:
    """What words may mean.

    Attributes:
        sure: records that say it and nothing else.
        unsure: others that say it, the best first: they say more, or there are too many to be sure.
    """

    sure: tuple[Hit, ...] = ()
    unsure: tuple[Hit, ...] = ()


def what_is_meant(user: UserMemory, what: str, without: Collection[str] = ()) -> Meant:
    """The records that say what is told in words.

    A record says it that holds every word that carries the words given; it says nothing else where each of its
    clauses holds one of them. An item counts with the steps that it was learned from: it is sure where these are.

    Args:
        without: ids of steps that are not meant, such as the one that asks for it.

    Raises:
        InvalidInputError: the words name nothing.
    """
    wanted = [stems(word) for word in content_words(_TALK.sub(" ", what))]
    if not wanted:
        raise InvalidInputError(f"what = {what!r} names nothing: say what is to be forgotten, or give ids")
    found = user.recall(what, _CANDIDATES).hits
    said = [hit for hit in found if hit.id not in without and _says(hit.text, wanted)]
    steps = {hit.id for hit in said if hit.kind == "step" and _only(hit.text, wanted)}
    sure = [
        hit
        for hit in said
        if hit.id in steps
        or (
            hit.kind not in ("step", "vault")
            and (all(one.step_id in steps for one in hit.sources) if hit.sources else _only(hit.text, wanted))
        )
    ]
    if len(sure) > _SURE:
        sure = []
    left = [
        hit
        for hit in said
        if hit not in sure
        and (hit.kind == "step" or not hit.sources or any(one.step_id not in without for one in hit.sources))
    ]
    return Meant(sure=tuple(sure), unsure=tuple(left[:_SHOWN]))


def _says(text: str, wanted: list[frozenset[str]]) -> bool:
    held = stems(text)
    return all(word <= held for word in wanted)


def _only(text: str, wanted: list[frozenset[str]]) -> bool:
    """Whether each clause of more than one word that carries it holds one of the words: nothing else is said."""
    for clause in _CLAUSE.split(text):
        held = stems(clause)
        if len(content_words(clause)) > 1 and not any(word <= held for word in wanted):
            return False
    return True
