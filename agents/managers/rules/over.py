"""What is over, as it is read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from .... import lazy_re as re
from ....memory_types.proposals import Ends
from .english_grammar import Fact

__all__ = ["PARTLY", "Over", "slots_of"]

PARTLY = re.compile(
    r",?\s(?:alone|on my own|by myself|together|full[- ]?time|part[- ]?time|remotely|from home|every|as much|as often|that much"
    r"|(?:only|just|mostly|mainly|all day|all year)\b|(?:with|without|as|near|next)\s"
    r"|on\s(?:a\s)?(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b|weekends|weekdays|my own)"
    r"|at\s(?:night|nights|weekends|lunch|noon|home|work|school)\b"
    r"|in\s(?:the\s)?(?:mornings?|afternoons?|evenings?|winter|summer|spring|autumn|week|office)\b"
    r"|(?:after|before)\s(?:\d|noon|midnight|dark|dusk|dawn|lunch|dinner|breakfast|bedtime|school|six|seven|eight|nine|ten)"
    r"|during\s|(?:city\s)?cent(?:re|er)\b)",
    re.IGNORECASE,
)
"""After what is said to be no more: that only some of it is, in this way or at that time ("alone", "on Mondays")."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Over:
    """An ending: characters ``start`` to ``end`` of the step's text tell it.

    Attributes:
        label: of the core item, or the name of the semantic item, that is kept of it. value: what that says.
        slot, stated: whose value it is from now on, and the bare value.
        ends: what it ends.
    """

    start: int
    end: int
    value: str
    ends: tuple[Ends, ...]
    kind: Literal["core", "semantic", "episodic"] = "core"
    label: str = ""
    slot: str = ""
    stated: str = ""

    def covers(self, fact: Fact) -> bool:
        """Whether a fact of the same words and slot is only what this says better."""
        return self.start <= fact.clause.start < self.end and bool(self.slot) and fact.slot == self.slot


def slots_of(who: str, *attributes: str) -> tuple[str, ...]:
    """The slots of somebody's attributes, by name or by relation: ``mark.employer``, and ``s_mum.employer`` of "the user's mum"."""
    return tuple(f"{name}.{attribute}" for attribute in attributes for name in (who, f"s_{who}"))
