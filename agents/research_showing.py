"""The inputs of the prompts of research: passages by handle within a token budget, claims, lists of needs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import tzinfo

from hexamem.memory_types.coarse_dates import shown_date
from hexamem.memory_types.local_time import day_alone, in_zone
from hexamem.memory_types.research import Claim, Passage
from hexamem.prompts.fences import one_line
from hexamem.retrieval.packing import item_text

__all__ = ["ITSELF", "in_time_order", "joined", "listed", "shown_claims", "shown_passages"]

ITSELF = "the question itself"
"""The name of the search for the question in the list of earlier searches."""
_LONGEST_TEXT = 2_400  # characters of a passage that is no page
_CUT_MARK = " …[cut]"


def shown_passages(
    passages: Sequence[Passage], zone: tzinfo, budget: int, count: Callable[[str], int]
) -> tuple[str, dict[str, Passage], int]:
    """The passages as lines with handles, in order of time.

    The best passages are chosen first; one that does not fit is left out.

    Args:
        passages: the best first.
        budget: the most tokens.
        count: text → its tokens.

    Returns:
        The text, handle → passage, and how many passages were cut or left out.
    """
    chosen: list[tuple[int, Passage, str]] = []
    left, shortened = budget, 0
    for rank, passage in enumerate(passages):
        kind, text = passage.kind, passage.text
        if kind == "episodic":
            text = item_text(kind, text)  # without actor and type
        line = text if kind == "page" else " ".join(text.split())
        if kind != "page" and len(line) > _LONGEST_TEXT:
            line = line[:_LONGEST_TEXT] + _CUT_MARK
        cost = count(line) + 20
        if cost > left:
            shortened += 1
            continue
        shortened += line.endswith(_CUT_MARK)
        left -= cost
        chosen.append((rank, passage, line))
    chosen.sort(key=lambda entry: (entry[1].occurred_at is None, entry[1].occurred_at, entry[0]))
    handles = {f"P{number}": passage for number, (_, passage, _) in enumerate(chosen, 1)}
    lines = [
        f"{handle} {_head(passage, zone)}{line}"
        for (handle, passage), (_, _, line) in zip(handles.items(), chosen, strict=True)
    ]
    return "\n".join(lines) or "none", handles, shortened


def _head(passage: Passage, zone: tzinfo) -> str:
    when = ""
    if passage.occurred_at is not None:
        local = in_zone(passage.occurred_at, zone)
        if passage.precision is not None:
            when = f"[{shown_date(local, passage.precision)}] "
        else:
            when = f"[{local:%a %Y-%m-%d}] " if day_alone(local, passage.kind) else f"[{local:%a %Y-%m-%d %H:%M}] "
    who = (
        f"{one_line(passage.speaker)}: "
        if passage.speaker
        else ""
        if passage.kind == "page"
        else f"({passage.kind} note) "
    )
    return f"{when}{who}"


def shown_claims(claims: Sequence[Claim], zone: tzinfo, answer: str = "") -> str:
    """Claims as a list, each with the date of its passage."""
    lines = [f"Answer so far: {answer}"] if answer else []
    for claim in claims:
        when = f" ({_date(claim, zone)})" if claim.occurred_at else ""
        lines.append(f"- {one_line(claim.text)}{when}")
    return "\n".join(lines) or "nothing"


def _date(claim: Claim, zone: tzinfo) -> str:
    """The date of a claim's passage, as exact as it is known."""
    assert claim.occurred_at is not None
    return shown_date(in_zone(claim.occurred_at, zone), claim.precision)


def listed(texts: Sequence[str]) -> str:
    """Texts as a list."""
    return "\n".join(f"- {' '.join(text.split())}" for text in texts) or "none"


def in_time_order(claims: Iterable[Claim]) -> tuple[Claim, ...]:
    """Claims by their time, those without one last."""
    return tuple(sorted(claims, key=lambda claim: (claim.occurred_at is None, claim.occurred_at, claim.passage_id)))


def joined(claims: Sequence[Claim], zone: tzinfo) -> str:
    """Claims as lines, each with its local day and speaker."""
    lines = []
    for claim in claims:
        day = f"[{_date(claim, zone)}] " if claim.occurred_at else ""
        lines.append(f"{day}{one_line(claim.speaker) + ': ' if claim.speaker else ''}{one_line(claim.text)}")
    return "\n".join(lines)
