"""An event as it is told after it was moved to another day: as before, of the new day, with what is said of it beyond that."""

from __future__ import annotations

from dataclasses import replace

from .... import lazy_re as re
from ....intent.dates.hours import nearest_hour
from ....intent.dates.spans import DateSpan
from .moved_days import SAME_HOUR, without_hour
from .shifts import retold
from .words import content_words

__all__ = ["after_move"]

_OF_CHANGES = content_words(
    "moved moves moving postponed postpones pushed back rescheduled shifted shifts brought bring forward delayed changed slipped"
    " slips switched cancelled been being gets until till instead earlier later again only have they because put off set now new"
    " takes place will"
)
_CHANGES_ZH = re.compile(r"[改推延提挪调换迟到了前后期被成为]")


def after_move(
    told: str, was: DateSpan, said: str, when: DateSpan, *, slip: bool, clause: str
) -> tuple[str, str, DateSpan]:
    """The summary of a moved event, the details that the words of the move add, and its day with the hour.

    Args:
        told: the summary so far, of ``was``. said: the words of the move, of ``when``; ``clause`` as they were said.
        slip: whether the day before was only wrong: then the hour stays.
    """
    if was.clock is not None and when.hour is not None:
        # "At 7" is the seven o'clock that is nearer to the hour before: of a flight at nine not that of the evening.
        when = replace(when, clock=nearest_hour(when.hour.face, was.clock))
    same = when.hour is None and when.clock is None and (slip or SAME_HOUR.search(f"{said} {clause}") is not None)
    if same:
        when = replace(when, clock=was.clock)  # only the day is another
    elif was.clock != when.clock or when.clock is None:
        told = without_hour(told)  # that of the day before need not be that of the new one
    new = content_words(said) - content_words(told) - _OF_CHANGES
    new = frozenset(word for word in new if not _CHANGES_ZH.search(word) and not word[:1].isdigit())
    return retold(told, was, when), (said if new and not slip else ""), when
