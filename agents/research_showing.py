"""What the researcher's models are shown, within a budget of tokens: passages by handle, claims, lists of needs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import tzinfo

from hexamem.memory_types.local_time import day_alone, in_zone
from hexamem.memory_types.research import Claim, Passage
from hexamem.retrieval.packing import item_text

__all__ = ["ITSELF", "in_time_order", "joined", "listed", "shown_claims", "shown_passages"]

ITSELF = "the question itself"
"""How the search that is always made stands among those that were."""
_TEXT = 2_400
_CUT = " …[cut]"


def shown_passages(
    passages: Sequence[Passage], zone: tzinfo, budget: int, count: Callable[[str], int]
) -> tuple[str, dict[str, Passage], int]:
    """The passages as lines in order of time, with handles, and what the handles stand for.

    The best get the room first. A passage of which not even the beginning fits is left out.

    Args:
        passages: the best first.
        budget: tokens.

    Returns:
        The text, handle → passage, and how many were left out or cut.
    """
    chosen: list[tuple[int, Passage, str]] = []
    left, short = budget, 0
    for rank, one in enumerate(passages):
        said = item_text(one.kind, one.text) if one.kind == "episodic" else one.text  # without actor and type
        text = " ".join(said.split()) if one.kind != "page" else said
        line = text if len(text) <= _TEXT or one.kind == "page" else text[:_TEXT] + _CUT
        cost = count(line) + 20
        if cost > left:
            fits = max(0, int(len(line) * (left - 20) / cost)) if left > 80 else 0
            if fits < 80:
                short += 1
                continue
            line, cost = line[:fits] + _CUT, left
        short += line.endswith(_CUT)
        left -= cost
        chosen.append((rank, one, line))
    chosen.sort(key=lambda each: (each[1].occurred_at is None, each[1].occurred_at, each[0]))
    handles = {f"P{number}": one for number, (_, one, _) in enumerate(chosen, 1)}
    lines = [
        f"{handle} {_head(one, zone)}{text}"
        for (handle, one), (_, _, text) in zip(handles.items(), chosen, strict=True)
    ]
    return "\n".join(lines) or "none", handles, short


def _head(passage: Passage, zone: tzinfo) -> str:
    when = ""
    if passage.occurred_at is not None:
        local = in_zone(passage.occurred_at, zone)
        when = f"[{local:%a %Y-%m-%d}] " if day_alone(local, passage.kind) else f"[{local:%a %Y-%m-%d %H:%M}] "
    who = f"{passage.speaker}: " if passage.speaker else "" if passage.kind == "page" else f"({passage.kind} note) "
    return f"{when}{who}"


def shown_claims(claims: Sequence[Claim], zone: tzinfo, answer: str = "") -> str:
    """Claims as a list, with when they were said."""
    lines = [f"Answer so far: {answer}"] if answer else []
    for one in claims:
        when = f" (said {in_zone(one.occurred_at, zone):%Y-%m-%d})" if one.occurred_at else ""
        lines.append(f"- {one.text}{when}")
    return "\n".join(lines) or "nothing"


def listed(texts: Sequence[str]) -> str:
    """Texts as a list."""
    return "\n".join(f"- {' '.join(one.split())}" for one in texts) or "none"


def in_time_order(claims: Iterable[Claim]) -> tuple[Claim, ...]:
    """Claims by their time, those without one last."""
    return tuple(sorted(claims, key=lambda one: (one.occurred_at is None, one.occurred_at, one.passage_id)))


def joined(claims: Sequence[Claim], zone: tzinfo) -> str:
    """Claims as lines, each with its local day and speaker."""
    lines = []
    for one in claims:
        day = f"[{in_zone(one.occurred_at, zone):%Y-%m-%d}] " if one.occurred_at else ""
        lines.append(f"{day}{one.speaker + ': ' if one.speaker else ''}{one.text}")
    return "\n".join(lines)
