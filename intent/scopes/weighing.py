"""What follows from weighing the days of trips (``returns``): which one a text enters, and whether its answer may still decide."""

from __future__ import annotations

from dataclasses import dataclass

from ..contract import Vectors
from .calendar import tell_day
from .cues import Cues
from .registry import Registry, Scope
from .return_candidates import Candidate, candidates
from .returns import chosen, features, scores
from .switch import goal_name
from .text import Words
from .thread import Thread

__all__ = ["Weighed", "weigh_days", "weighs_days"]

_NAMED_DAYS = 2  # steps that named their day with town and company; after more, every change of day is named
_REVISE_LEAD = 0.2  # log-odds from which an answer moves its question to another day
_UNTOLD = -1.0  # the score of a day that only the answer names
_SURE_LEAD = 5.0  # log-odds from which the answer to a text is not waited for to tell its day


@dataclass(frozen=True, slots=True)
class Weighed:
    """The day that a text speaks of.

    Attributes:
        scope: the day, opened if nobody spoke of it before.
        confidence: 0.5 to 0.95.
        doubt: the scores of all days by index, where the answer to the text may still decide.
    """

    scope: Scope
    confidence: float
    doubt: dict[int, float] | None


def weighs_days(thread: Thread) -> bool:
    """Whether which day of a trip is meant is weighed for each text of a thread, rather than said with every change."""
    current = thread.current
    if current is None or current.kind not in ("goal", "trip") or current.root.kind != "trip" or current.root.told:
        return False
    if current.kind == "trip" and not thread.answered:
        return False  # people who speak of a trip may soon speak of something else
    return thread.anchors <= _NAMED_DAYS and not thread.introduced


def weigh_days(
    thread: Thread,
    words: Words,
    cues: Cues,
    vector: Vectors | None,
    registry: Registry,
    doubt: dict[int, float] | None,
    ruled: Scope | None = None,
    *,
    user: bool,
) -> Weighed | None:
    """The day that a text speaks of; None where nothing is to be decided.

    Args:
        thread: where it is said; its current scope is a day of a trip, or a trip.
        doubt: what the text that this one answers left open.
        ruled: the day that rules say the text names, if any.
        user: whether it is a person's text. Another's answer is weighed together with what it answers, or not at all.
    """
    current = thread.current
    assert current is not None
    if not user and doubt is None:
        return None
    days = candidates(registry, current, words, cues, ruled, user=user)
    if len(days) < 2:
        return None
    scored = scores(features(days, words, cues, vector, thread, registry, ruled, user=user), user=user)
    if not user and doubt is not None:
        scored = {index: score + doubt.get(index, _UNTOLD) for index, score in scored.items()}
    best, lead = chosen(scored, current)
    target = current
    if best != current.index and (user or lead >= _REVISE_LEAD):
        day = next(day for day in days if day.index == best)
        target = day.scope or _open_day(day, words, registry)
        scored[target.index] = scored.pop(best)
    confidence = max(0.5, min(0.95, 0.5 + 0.1 * lead))
    return Weighed(target, confidence, scored if user and lead < _SURE_LEAD else None)


def _open_day(day: Candidate, words: Words, registry: Registry) -> Scope:
    """Open a day that was told by date or number alone."""
    assert day.key is not None
    chinese = words.has_cjk and not any(child.own.isascii() for child in day.root.children.values())
    scope = registry.open("goal", goal_name(day.key, chinese), parent=day.root, key=day.key)
    tell_day(scope, words.text, registry)
    return scope
