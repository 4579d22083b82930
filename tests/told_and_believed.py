"""What a user said, and what is believed of them then: for tests of what is learned and unlearned."""

from __future__ import annotations

from collections.abc import Sequence

from hexamem import UserMemory


def told(user: UserMemory, *lines: str, threads: Sequence[str] = (), at_once: bool = False) -> UserMemory:
    """The user, who has said these lines, a day apart, each in its thread."""
    for number, line in enumerate(lines):
        at = f"2026-05-{number + 3:02d}T10:00:00+00:00"
        user.remember({"role": "user", "content": line, "timestamp": at}, threads[number] if threads else "t")
        if not at_once:
            user.flush()
    user.flush()
    return user


def believed(user: UserMemory) -> list[str]:
    """The texts of core and semantic items, without their names."""
    return [item.text.split("\n")[1] for item in user.items() if item.kind in ("core", "semantic")]
