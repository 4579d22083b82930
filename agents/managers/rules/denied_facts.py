"""Facts denied and told right in one breath: "the server isn't on port 8080, it's on 9090"."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from .... import lazy_re as re
from ....intent.dates.relative import find_dates
from ...contract import HeardStep
from .sentences import Clause, Reading
from .so_far import SoFar
from .words import content_words

__all__ = ["DeniedFact", "denied_facts"]

_DENIED = re.compile(
    r"^(?P<subject>[^\ue000]{2,60}?)(?P<be>\s(?:is|are|was|were)|['’](?:s|re))(?:n['’]?t|\snot)\s(?P<old>[^\ue000]{2,60})$"
    r"|^(?P<subject2>[^\ue000，]{1,14}?)(?P<be2>不(?:是|在|叫|用|住在?))(?P<old2>[^\ue000，]{1,20})$",
    re.IGNORECASE,
)
_RIGHT = re.compile(
    r"^(?:(?:no|but|actually|in fact)[\s,]+)*(?P<who>[^\ue000]{1,60}?)(?P<be>['’](?:s|re)|\s(?:is|are|was|were))\s(?:actually\s|now\s)?"
    r"(?P<new>(?!not\b)[^\ue000]{1,60})$"
    r"|^(?:而|其实)?(?:[它他她]|(?P<who2>[^\ue000，不]{1,14}?))?(?P<be2>是|在|叫|用|住在?)(?P<new2>[^\ue000，]{1,20})$",
    re.IGNORECASE,
)
_NEGATIONS = frozenset({"not", "isnt", "arent", "wasnt", "werent"})
_PRONOUN = re.compile(r"it|that|this|they|he|she", re.IGNORECASE)
_FORM = re.compile(
    r"(?P<place>on|at|in|with|from|by|for|near|under|to|of)\s|(?P<thing>an?|the|my|our|your|his|her|their)\s|(?P<figure>\W?\d)|(?P<name>[A-Z])"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeniedFact:
    """A clause that denies, and the one that says how it is.

    Attributes:
        said: what the first denies, as it was or would have been said.
        summary: what is so.
        dated: whether both are days, so that the matter is an event's.
    """

    wrong: Clause
    right: Clause
    said: str
    summary: str
    dated: bool

    def tells(self, start: int) -> bool:
        """Whether what begins there is told by the right clause."""
        return self.right.start <= start < self.right.end

    def denies(self, start: int) -> bool:
        """Whether what begins there is told by the clause that denies."""
        return self.wrong.start <= start < self.wrong.end


def denied_facts(reading: Reading, heard: HeardStep, so_far: SoFar) -> list[DeniedFact]:
    """The pairs of clauses of which the second says how it is instead.

    Both must be of one form (on … on, a … a, a name and a name): "the shop isn't open, it's under repair" tells two things.
    """
    if not reading.has_han and reading.words.isdisjoint(_NEGATIONS):
        return []
    clauses = [
        clause for sentence in reading.sentences if sentence.holds for clause in sentence.clauses if clause.holds
    ]
    found: list[DeniedFact] = []
    for wrong, right in pairwise(clauses):
        one, two = _DENIED.match(wrong.text), _RIGHT.match(right.text)
        if one is None or two is None or right.sentence - wrong.sentence > 1:
            continue
        if one["be2"]:
            if one["be2"][1:] != two["be2"] or (two["who2"] or "") not in one["subject2"]:
                continue
            said = f"{one['subject2']}{two['be2']}{one['old2']}"
            summary = f"{one['subject2']}{two['be2']}{two['new2']}"
            old, new = one["old2"], two["new2"]
        else:
            subject, who = one["subject"], two["who"] or ""
            about = content_words(who)
            if not two["new"] or not (_PRONOUN.fullmatch(who) or (about and about <= content_words(subject))):
                continue
            old, new = one["old"], two["new"]
            if not _alike(old, new):
                continue
            be = {"'s": " is", "’s": " is", "'re": " are", "’re": " are"}.get(one["be"], one["be"])
            said, summary = f"{subject}{be} {old}", f"{subject}{be} {new}"
        zone, at = so_far.zone, heard.step.occurred_at
        found.append(
            DeniedFact(
                wrong=wrong,
                right=right,
                said=said,
                summary=summary[:1].upper() + summary[1:],
                dated=bool(find_dates(old, at, zone) and find_dates(new, at, zone)),
            )
        )
    return found


def _alike(old: str, new: str) -> bool:
    one, two = _FORM.match(old), _FORM.match(new)
    if one is None or two is None or one.lastgroup != two.lastgroup:
        return False
    return one.lastgroup != "place" or one[0] == two[0]
