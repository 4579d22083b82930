"""What is over, as it is read, and the rules of a language that read it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

from .... import lazy_re as re
from ....memory_types.proposals import Ends
from .english_grammar import Fact
from .sentences import Clause

__all__ = ["PARTLY", "EndingRules", "Over", "given_up", "pets_of", "slots_of"]

PARTLY = re.compile(
    r",?\s(?:alone|on my own|by myself|together|full[- ]?time|part[- ]?time|remotely|from home|every|as much|as often|that much"
    r"|(?:only|just|mostly|mainly|all day|all year)\b|(?:with|without|as|near|next)\s"
    r"|on\s(?:a\s)?(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b|weekends|weekdays|my own)"
    r"|at\s(?:night|nights|weekends|lunch|noon|home|work|school)\b"
    r"|in\s(?:the\s)?(?:mornings?|afternoons?|evenings?|winter|summer|spring|autumn|week|office)\b"
    r"|(?:after|before)\s(?:\d|noon|midnight|dark|dusk|dawn|lunch|dinner|breakfast|bedtime|school|six|seven|eight|nine|ten)"
    r"|during\s|because\s|to\s(?!the\b)[a-z]+\s|for\s(?!good\b|years\b|months\b|ages\b|now\b|a\s(?:while|year|month)\b|some\stime\b)|(?:city\s)?cent(?:re|er)\b)",
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
        told: where the words end that tell it, as far as that is known.
    """

    start: int
    end: int
    value: str
    ends: tuple[Ends, ...]
    kind: Literal["core", "semantic", "episodic"] = "core"
    label: str = ""
    slot: str = ""
    stated: str = ""
    told: int = 0

    @classmethod
    def of(
        cls,
        clause: Clause,
        *ends: Ends,
        value: str,
        kind: Literal["core", "semantic", "episodic"] = "core",
        label: str = "",
        slot: str = "",
        stated: str = "",
    ) -> Over:
        """An ending that one clause tells."""
        return cls(
            start=clause.start,
            end=clause.end,
            value=value,
            ends=ends,
            kind=kind,
            label=label,
            slot=slot,
            stated=stated,
        )

    def covers(self, fact: Fact) -> bool:
        """Whether a fact of the same words and slot is only what this says better."""
        return self.start <= fact.clause.start < self.end and bool(self.slot) and fact.slot == self.slot


_Make = Callable[[re.Match[str], Clause], Iterator[Over]]


class EndingRules:
    """The rules of one language for what is over. They are tried in the order in which they were written."""

    def __init__(self) -> None:
        self._rules: list[tuple[re.Pattern[str], _Make]] = []

    def rule(self, pattern: str) -> Callable[[_Make], _Make]:
        """Take in what makes endings of a match of the pattern in a clause; none where it was no ending after all."""
        compiled = re.compile(pattern)

        def keep(make: _Make) -> _Make:
            self._rules.append((compiled, make))
            return make

        return keep

    def read(self, clause: Clause) -> list[Over]:
        """The endings that a clause tells, by the first rule that makes any."""
        for pattern, make in self._rules:
            if (match := pattern.search(clause.text)) and (found := list(make(match, clause))):
                return [replace(one, told=clause.start + match.end()) for one in found]
        return []


def given_up(what: str, clause: Clause) -> Over:
    """A plan that is given up: something dated to come, or a hobby, goal or plan without a day."""
    return Over.of(
        clause,
        Ends(upcoming=True, words=what, single=True, needed=True),
        Ends(labels=("hobby", "goal", "plan"), words=what, needed=True),
        kind="episodic",
        value=clause.raw[:400],
    )


def pets_of(name: str, relation: str) -> Ends:
    """What ends of a pet that is gone: the one of this name, else the only one of its kind."""
    if name:
        return Ends(slots=(f"pet.{name.lower()}",), needed=True)
    return Ends(slots=("pet",), words=relation, single=True, needed=True)


def slots_of(who: str, *attributes: str) -> tuple[str, ...]:
    """The slots of somebody's attributes, by name or by relation: ``mark.employer``, and ``s_mum.employer`` of "the user's mum"."""
    return tuple(f"{name}.{attribute}" for attribute in attributes for name in (who, f"s_{who}"))
