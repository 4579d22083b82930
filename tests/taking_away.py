"""The ways in which a user takes words away, for tests of what must go with them."""

from __future__ import annotations

from hexamem import UserMemory

__all__ = ["WORD", "erases", "forgets", "redacts"]

WORD = "zanzibaria"
"""Stands in the step that is taken away; no rule and no other text of the tests knows it."""


def forgets(user: UserMemory, step_id: str) -> None:
    user.forget([step_id])


def redacts(user: UserMemory, step_id: str) -> None:
    user.redact(WORD)


def erases(user: UserMemory, step_id: str) -> None:
    user.erase()
