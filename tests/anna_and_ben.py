"""A short talk of two friends that tests of ranking are made on."""

from __future__ import annotations

__all__ = ["TALK"]

TALK = [
    ("Anna", "Guess what, I finally adopted a greyhound from the shelter!"),
    ("Ben", "Lovely! What is she called?"),
    ("Anna", "Pickle. She sleeps all day."),
    ("Ben", "My pottery kiln broke yesterday, so no vases this month."),
    ("Anna", "Oh no, how much does a new heating coil cost?"),
    ("Ben", "About ninety pounds."),
]
