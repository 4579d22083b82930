"""The pages in which a batch of steps lies, as a prompt shows them.

A batch may end one page, hold another and begin a third. Each is shown by a handle with its steps; of one that began
earlier its memo so far as well, so that the memo of a page grows with the batches that hold its steps.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import tzinfo

from hexamem.agents.page_reading import LabelNames, said
from hexamem.intent.dates import find_dates
from hexamem.intent.page_memos import page_memo
from hexamem.memory_types.times import read_zone
from hexamem.models.sentences import split_sentences
from hexamem.stores.ledger import Transaction
from hexamem.stores.ledger.pages import PageRow, PageStep, get_pages, page_steps, pages_holding

__all__ = ["PageSlot", "read_page_slots", "shown_pages"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PageSlot:
    """A page as a prompt shows it.

    Attributes:
        steps: ids of those of its steps that are in the batch, in order.
        memo: of its steps before the batch; "" where it begins in it.
        ends: whether it is closed, so that no step comes after these.
        dates: the days that its steps tell in words, as ISO dates.
    """

    handle: str
    page_id: str
    steps: tuple[str, ...]
    begun: bool
    header: str
    memo: str
    ends: bool
    dates: tuple[str, ...] = ()


def read_page_slots(tx: Transaction, step_ids: Collection[str]) -> tuple[PageSlot, ...]:
    """The pages in which these steps lie, in order; steps that lie in none yet are passed over."""
    page_of = pages_holding(tx, step_ids)
    rows = sorted(get_pages(tx, set(page_of.values())).values(), key=lambda page: page.seq)
    if not rows:
        return ()
    steps, zone, names = page_steps(tx, rows), read_zone(tx.timezone), LabelNames(None, tx)
    return tuple(
        _slot(f"P{number}", page, steps[page.id], set(step_ids), zone, names) for number, page in enumerate(rows, 1)
    )


def _slot(
    handle: str, page: PageRow, steps: Sequence[PageStep], chosen: set[str], zone: tzinfo, names: LabelNames
) -> PageSlot:
    own = [step for step in steps if step.id in chosen]
    before = [step for step in steps if own and step.seq < own[0].seq]
    memo = ""
    if before:
        memo = page.memo if page.tier == "model" else page_memo([said(step) for step in before])
    return PageSlot(
        handle=handle,
        page_id=page.id,
        steps=tuple(step.id for step in own),
        begun=bool(before),
        header=page.header if page.tier == "model" else "",
        memo=memo,
        ends=page.closed and bool(steps) and bool(own) and steps[-1].id == own[-1].id,
        dates=tuple(
            span.iso
            for step in own
            for start, end in split_sentences(step.text[:4_000])
            for span in find_dates(step.text[start:end], step.occurred_at, zone)
        ),
    )


def shown_pages(slots: Sequence[PageSlot], numbers: Mapping[str, int]) -> str:
    """One line a page.

    Args:
        numbers: step id → the number under which the prompt shows it.
    """
    lines = []
    for slot in slots:
        own = [numbers[one] for one in slot.steps if one in numbers]
        if not own:
            continue
        line = f"{slot.handle}: step{'s' if len(own) > 1 else ''} {_ranges(own)}"
        line += "; it ends there" if slot.ends else "; it goes on after these"
        if slot.begun:
            line += f"; it began before them. Memo so far: {' '.join(slot.memo.split()) or 'none'}"
        lines.append(line)
    return "\n".join(lines) or "none: leave pages empty"


def _ranges(numbers: Sequence[int]) -> str:
    if list(numbers) == list(range(numbers[0], numbers[-1] + 1)):
        return f"{numbers[0]} to {numbers[-1]}" if len(numbers) > 1 else str(numbers[0])
    return ", ".join(map(str, numbers))
