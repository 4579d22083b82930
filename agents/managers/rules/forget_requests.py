"""Requests to forget: "please forget that Karen stays at the Mundial", 请忘掉我住在上海. They teach nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .... import lazy_re as re

__all__ = ["ForgetRequest", "forget_request"]

_ASKED = (
    r"(?:please|pls|kindly|(?:can|could|would|will)\s(?:you|we)(?:\splease)?|you\s(?:can|may|should|must|could)|(?:I\swant|I\sneed|I'd\slike"
    r"|I\swould\slike)\syou\sto|I\swant\sto|let's|just|now|also|and|so|but|then|hey|ok|okay|no|oh|actually|sorry|well)"
)
_FORGET = re.compile(
    rf"^\W*(?P<asked>(?:{_ASKED}[\s,]+)*)(?P<verb>forget|unlearn|erase|delete|wipe|disregard|ignore)\b(?!-|\s(?:to|me\snot)\b)(?P<what>.*)$",
    re.IGNORECASE,
)
_POINTS = re.compile(
    r"^\s(?:about\s)?(?:that|this|it|all\s(?:that|this|of\s(?:that|it))|what\sI\s(?:just\s)?(?:said|told\syou|wrote)|the\slast\s(?:bit|thing"
    r"|message|sentence))(?:\s(?:please|again|now|for\sgood|thanks?|from\syour\smemory))*\W*$",
    re.IGNORECASE,
)
_OF_MEMORY = re.compile(
    r"\b(?:that|what|everything|anything|all|about|memory|memories|profile|notes?|stored|saved|remember(?:ed)?|said|told)\b",
    re.IGNORECASE,
)
_ZH = re.compile(
    r"^(?:那|好的?|嗯|对了|另外|还有|，|\s)*(?P<asked>(?:请|麻烦|拜托|帮我|你|可以|能|先|就|也|再|都|给我)*)"
    r"(?:(?:把|将)(?P<thing>[^，。]{1,40}?)(?:都|全部?|从记忆[里中])?)?(?P<verb>忘掉|忘记|忘了|忘|删掉|删除|删了|清除|抹掉)(?P<what>[^。]*)$"
)
_POINTS_ZH = re.compile(
    r"^(?:这[个件条]?(?:事|点|句)?|那[个件条]?(?:事|点|句)?|它|刚才说的|我刚才?说的(?:话)?|吧|掉|了|好了|\s)*$"
)


@dataclass(frozen=True, slots=True)
class ForgetRequest:
    """The clause ``number`` asks to forget something.

    Attributes:
        points: whether what is to be forgotten was said before it: "please forget that".
        asked: whether it is asked for in so many words; "forget it" alone may only break off.
    """

    number: int
    points: bool
    asked: bool


def forget_request(clauses: Sequence[str]) -> ForgetRequest | None:
    """The first of a sentence's clauses that asks to forget something; None where none does.

    "Don't forget that …", "I forget …" and "forget to" ask for nothing of the kind.
    """
    for number, text in enumerate(clauses):
        found = _FORGET.match(text)
        if found is not None:
            points = bool(_POINTS.match(found["what"]))
            if points or found["verb"].lower() in ("forget", "unlearn") or _OF_MEMORY.search(found["what"]):
                return ForgetRequest(number, points, bool(found["asked"].strip()))
        found = _ZH.match(text)
        if found is not None and (found["asked"] or found["thing"]):
            said = (found["thing"] or "") + found["what"]
            return ForgetRequest(number, bool(_POINTS_ZH.match(said)), True)
    return None
