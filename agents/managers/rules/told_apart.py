"""Facts told in one clause that change on their own, each with its subject: "She's 91 and lives in Porto"."""

from __future__ import annotations

from dataclasses import replace

from .... import lazy_re as re
from .sentence_parts import Clause

__all__ = ["told_apart"]

_AGE = r"(?:is|'s|has\sturned|turned)\s(?:now\s|already\s|just\s)?\d{1,3}(?:\s(?:years?|months?)\sold)?(?:\s(?:now|today|already))?"
_LASTING = (
    r"(?:(?:still|now|also|just|already)\s)*(?:is|has|lives?|works?|plays?|loves?|likes?|hates?|speaks?|runs?|teaches"
    r"|studies|drives?|needs?|owns?"
    r"|can(?:'t|not)?|goes|keeps?|collects?|sings?|swims?|smokes?|retired|moved)\b"
)
_AGE_FIRST = re.compile(rf"^(?P<who>.{{2,60}}?)(?P<age>(?:(?='s)|\s){_AGE}),?\sand\s(?P<more>{_LASTING}.{{3,}})$")
_AGE_LAST = re.compile(
    rf"^(?P<who>.{{2,60}}?)(?P<first>(?:(?='s)|\s)(?:'s|{_LASTING}).{{3,}}?),?\sand\s(?P<more>{_AGE})$"
)


def told_apart(clause: Clause) -> list[Clause]:
    """The clause, or where it tells an age and something else, a clause for each.

    An age is another one a year on; what was said beside it is not then out of date.
    """
    match = _AGE_FIRST.match(clause.text) or _AGE_LAST.match(clause.text)
    if match is None:
        return [clause]
    who, more = match.end("who"), match.start("more")
    end = match.end("age" if "age" in match.groupdict() else "first")
    first = replace(clause, text=clause.text[:end], raw=clause.raw[:end])
    rest = replace(
        clause, text=f"{clause.text[:who]} {clause.text[more:]}", raw=f"{clause.raw[:who]} {clause.raw[more:]}"
    )
    return [first, rest]
