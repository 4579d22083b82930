"""What a batch has told so far, which later steps of it refer to."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import tzinfo

from .finding import Finding
from .people import People

__all__ = ["SoFar", "hidden"]


@dataclass(slots=True, kw_only=True)
class SoFar:
    """What the steps of a batch have told, in the order in which they were said.

    Attributes:
        zone: the user's timezone.
        found: findings of the batch. earlier: of the steps before it, which are not stored again.
        events: dated findings of both, and of documents.
        slips: events of the step being read that put an earlier one right: that one, and what was meant.
        before: id of the step of a person that came last before the one being read.
    """

    zone: tzinfo
    people: People = field(default_factory=People)
    found: list[Finding] = field(default_factory=list)
    earlier: list[Finding] = field(default_factory=list)
    events: list[Finding] = field(default_factory=list)
    slips: list[tuple[Finding, Finding]] = field(default_factory=list)
    before: str = ""

    def take_back(self, finding: Finding) -> bool:
        """Forget a finding that was a slip; tells whether it was one of the batch."""
        here = any(each is finding for each in self.found)
        self.found = [each for each in self.found if each is not finding]
        self.events = [each for each in self.events if each is not finding]
        return here


def hidden(text: str, contacts: list[Finding]) -> str:
    """A text with what the vault keeps put into words."""
    for contact in contacts:
        if contact.secret and contact.secret in text:
            text = text.replace(contact.secret, f"({contact.values['caption']})")
    return text
