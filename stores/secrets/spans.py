"""What detection returns, :class:`SecretSpan`, and what it is chosen from, :class:`Candidate`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

__all__ = ["Candidate", "SecretSpan", "Sensitivity"]

Sensitivity = Literal["low", "medium", "high"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretSpan:
    """One secret in a text: characters ``start`` to ``end``, the value alone without the words around it.

    ``caption`` describes the secret for people and for search; it contains neither the plaintext nor a word of it.
    """

    start: int
    end: int
    kind: str
    caption: str
    sensitivity: Sensitivity


class Candidate(NamedTuple):
    """A possible secret.

    ``noun`` names the kind. ``caption`` may contain words of the text ("password of the wifi"), or comes from a table
    ("OpenAI API key"): then it is ``fixed``. A ``doubtful`` one is a secret only where its context agrees.
    """

    start: int
    end: int
    kind: str
    noun: str
    caption: str
    sensitivity: Sensitivity
    fixed: bool = False
    doubtful: bool = False
