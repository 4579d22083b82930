"""What is moved or called off, by the words of a change: "the interview" of "they moved the interview to Thursday"."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from .event_changes import thing_called_off
from .named_events import named_by
from .other_events import CHANGED_OBJECT, changed_subject
from .shifts_chinese import thing_changed

__all__ = ["changed_thing", "only_one_named"]

_Told = TypeVar("_Told")


def changed_thing(said: str) -> str:
    """The words for what a clause changes; empty where it is only "it", or cannot be told."""
    if not said.isascii() and (named := thing_changed(said)):
        return named
    if found := CHANGED_OBJECT.search(said):
        return str(found["what"])
    return changed_subject(said) or thing_called_off(said)


def only_one_named(said: str, told: Sequence[tuple[_Told, str, str]]) -> _Told | None:
    """The one event among several that goes by the words for what is changed; None where not just one does.

    Args:
        told: events, each with its summary and type.
    """
    what = changed_thing(said)
    scored = [(named_by(what, summary, event_type), one) for one, summary, event_type in told] if what else []
    best = max((score for score, _ in scored), default=0)
    meant = [one for score, one in scored if best and score == best]
    return meant[0] if len(meant) == 1 else None
