"""Headers and memos of pages from the reply that labels their steps: what of it may be kept, and writing it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from hexamem.agents.labelling.checks import Wording, gist_fits, one_line
from hexamem.agents.labelling.schemas import PageNote
from hexamem.agents.page_slots import PageSlot
from hexamem.stores.ledger import Transaction
from hexamem.stores.ledger.pages import change_pages, get_pages
from hexamem.stores.secrets import tell_references

__all__ = ["PageTexts", "kept_notes", "write_page_notes"]

_LONGEST_HEADER, _LONGEST_MEMO = 400, 800


class PageTexts(NamedTuple):
    """A header and a memo that may be kept; "" leaves what there is."""

    header: str
    memo: str


def kept_notes(
    slots: Sequence[PageSlot], notes: Sequence[PageNote], known: Wording, restore: Callable[[str], str]
) -> dict[str, PageTexts]:
    """Page id → what of a reply may stand: nothing with a number, or in a script, that the prompt did not show."""
    by_handle = {slot.handle: slot for slot in slots}
    for slot in slots:
        for text in (slot.memo, slot.header, *slot.dates):
            known.add(text)
    found: dict[str, PageTexts] = {}
    for note in notes[: 2 * len(slots)]:
        own = by_handle.get(note.page.strip())
        if own is None or own.page_id in found:
            continue
        header, memo = (tell_references(one_line(restore(text or ""))) for text in (note.header, note.memo))
        if memo and (len(memo) > _LONGEST_MEMO or not gist_fits(memo, known)):
            memo = ""
        if header and (len(header) > _LONGEST_HEADER or not gist_fits(header, known)):
            header = ""
        if header or memo:
            found[own.page_id] = PageTexts(header, memo)
    return found


def write_page_notes(tx: Transaction, notes: Mapping[str, PageTexts]) -> None:
    """Write what a model says of pages, in the transaction that writes its labels. What is stale waits for the embedded engine."""
    changed = []
    for page in get_pages(tx, notes).values():
        texts = notes[page.id]
        if page.stale or not texts.memo:
            continue
        changed.append(replace(page, header=texts.header or page.header, memo=texts.memo, tier="model"))
    change_pages(tx, changed)
