"""Headers and memos of pages by a model: the pages of a batch in the prompt, and the texts in the reply.

A batch may end one page, contain another and begin a third. Each is listed by a handle with its steps. For a page that
began earlier the memo so far is listed too, so that the memo grows with each batch that has steps of the page.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from hexamem.agents.labelling.checks import fits, one_line
from hexamem.agents.labelling.schemas import PageNote
from hexamem.intent.contract import PageTexts
from hexamem.intent.page_memos import MemoStep, page_memo
from hexamem.stores.documents import searchable
from hexamem.stores.ledger import Transaction
from hexamem.stores.ledger.pages import PageRow, PageStep, change_pages, get_pages, page_steps, pages_holding
from hexamem.stores.secrets import format_references

__all__ = [
    "PageSlot",
    "checked_notes",
    "memo_step",
    "read_page_slots",
    "shown_pages",
    "write_page_notes",
]

_LONGEST_STEP, _LONGEST_HEADER, _LONGEST_MEMO = 4_000, 400, 800  # characters


def memo_step(step: PageStep) -> MemoStep:
    """A step as input of memos; of a long one the beginning and the end."""
    text = step.text if step.resolved_text is None else step.resolved_text
    text = text if len(text) <= _LONGEST_STEP else f"{text[: _LONGEST_STEP * 3 // 4]}\n{text[-_LONGEST_STEP // 4 :]}"
    return MemoStep(
        speaker=" ".join(searchable(step.speaker).split())[:40],
        role=step.role,
        text=format_references(text) if "{{" in text else text,
        occurred_at=step.occurred_at,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class PageSlot:
    """A page of a batch in the prompt.

    Attributes:
        handle: its name in the prompt.
        steps: ids of those of its steps that are in the batch, in order.
        begun: whether it has steps before the batch.
        memo: the memo of these; "" where there are none.
    """

    handle: str
    page_id: str
    steps: tuple[str, ...]
    begun: bool
    memo: str


def read_page_slots(tx: Transaction, step_ids: Collection[str]) -> tuple[PageSlot, ...]:
    """The pages of these steps, in order; steps without a page are left out."""
    rows = sorted(get_pages(tx, set(pages_holding(tx, step_ids).values())).values(), key=lambda page: page.seq)
    steps = page_steps(tx, rows) if rows else {}
    return tuple(_slot(f"P{number}", page, steps[page.id], set(step_ids)) for number, page in enumerate(rows, 1))


def _slot(handle: str, page: PageRow, steps: Sequence[PageStep], chosen: set[str]) -> PageSlot:
    own = [step for step in steps if step.id in chosen]
    before = [step for step in steps if own and step.seq < own[0].seq]
    return PageSlot(
        handle=handle,
        page_id=page.id,
        steps=tuple(step.id for step in own),
        begun=bool(before),
        memo=""
        if not before
        else page.memo
        if page.tier == "model"
        else page_memo([memo_step(step) for step in before]),
    )


def shown_pages(slots: Sequence[PageSlot], numbers: Mapping[str, int]) -> str:
    """The pages, one line each.

    Args:
        numbers: step id → its number in the prompt.
    """
    lines = []
    for slot in slots:
        own = [numbers[step_id] for step_id in slot.steps if step_id in numbers]
        if not own:
            continue
        line = f"{slot.handle}: step{'s' if len(own) > 1 else ''} {', '.join(map(str, own))}"
        if slot.begun:
            line += f"; it began before them. Memo so far: {' '.join(slot.memo.split()) or 'none'}"
        lines.append(line)
    return "\n".join(lines) or "none: leave pages empty"


def checked_notes(
    slots: Sequence[PageSlot], notes: Sequence[PageNote], restore: Callable[[str], str]
) -> dict[str, PageTexts]:
    """Page id → the texts of a reply that are not too long.

    Args:
        restore: removes the prompt's escapes from text that was copied from it.
    """
    by_handle = {slot.handle: slot for slot in slots}
    accepted: dict[str, PageTexts] = {}
    for note in notes[: 2 * len(slots)]:
        own = by_handle.get(note.page.strip())
        if own is None or own.page_id in accepted:
            continue
        header, memo = (format_references(one_line(restore(text or ""))) for text in (note.header, note.memo))
        texts = PageTexts(
            header if fits(header, _LONGEST_HEADER) else "",
            memo if fits(memo, _LONGEST_MEMO) else "",
        )
        if any(texts):
            accepted[own.page_id] = texts
    return accepted


def write_page_notes(tx: Transaction, notes: Mapping[str, PageTexts]) -> None:
    """Write a model's texts of pages, except stale ones, in the transaction that writes its labels."""
    pages = get_pages(tx, notes) if notes else {}
    change_pages(
        tx,
        [
            replace(page, header=notes[page.id].header or page.header, memo=notes[page.id].memo, tier="model")
            for page in pages.values()
            if notes[page.id].memo and not page.stale
        ],
    )
