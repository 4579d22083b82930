"""What detection returns, the public :class:`SecretSpan`, and the candidate of a detector."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

__all__ = ["Candidate", "SecretSpan", "Sensitivity"]

Sensitivity = Literal["low", "medium", "high"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretSpan:
    """One secret in a text: characters ``start`` to ``end``, the value alone without the words around it.

    ``caption`` says for people and for search what it is; it holds neither the plaintext nor a word of it. ``certain`` is
    true when the value has a defined form (a vendor's token, an IBAN), false when only its context tells.
    """

    start: int
    end: int
    kind: str
    caption: str
    sensitivity: Sensitivity
    certain: bool = False


class Candidate(NamedTuple):
    """A value of a defined form. One that is not ``certain`` may be a number of another kind: the tagger has a say in it."""

    start: int
    end: int
    kind: str
    caption: str
    sensitivity: Sensitivity
    certain: bool = True
