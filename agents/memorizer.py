"""The memorizer: cuts steps into pages with headers and memos, (GAM, arXiv 2511.18423, 3.1).

The memorizer follows the ledger by ``seq``, as labelling does: each call continues where the
last one ended. All its texts are extractive and cost no model call. A labelling model writes headers and memos in the
same reply (see :mod:`.page_texts`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime, tzinfo
from typing import NamedTuple

from hexamem.agents.page_texts import memo_step
from hexamem.intent.page_bounds import BoundStep, PageCut, PageLimits, cut_pages, estimated_tokens
from hexamem.intent.page_memos import page_header, page_memo
from hexamem.memory_types.base import utc_now
from hexamem.memory_types.times import read_zone
from hexamem.stores.ledger import Ledger, Transaction
from hexamem.stores.ledger.labels import read_labels
from hexamem.stores.ledger.pages import (
    PageRow,
    PageStep,
    add_pages,
    change_pages,
    last_paged_turn,
    new_steps,
    newest_step,
    open_pages,
    page_id_of,
    page_steps,
    pages_before,
    read_paged,
    set_paged,
    stale_pages,
    steps_from,
)
from hexamem.stores.vocabulary import Vocabulary

__all__ = ["Memorizer"]

_BATCH, _MOST_STALE = 2_000, 500  # new steps and stale pages of one transaction
_SESSION_KEYS = ("session", "session_id")  # in the metadata of a step


class _Thread(NamedTuple):
    """A thread to cut: its open page, if there is one, and the steps from the start of that page on."""

    open: PageRow | None
    steps: list[PageStep]


class Memorizer:
    """Cuts the steps of users into pages. Thread-safe, with one call a user at a time.

    Args:
        ledger: where steps are read and pages written.
        limits: the sizes of pages.
    """

    def __init__(self, ledger: Ledger, limits: PageLimits | None = None) -> None:
        self._ledger, self.limits = ledger, limits or PageLimits()

    def page(self, user: str) -> int:
        """Bring the user's pages up to date with the ledger; returns how many were closed or rewritten."""
        done = 0
        while True:
            with self._ledger.read(user) as tx:
                if not tx.user_id or not self._due(tx):
                    break
            with self._ledger.write(user, create=False) as tx:
                if tx.user_id:
                    done += self._pass(tx)
        return done

    # ------------------------------------------------------------------ one pass

    def _due(self, tx: Transaction) -> bool:
        newest = newest_step(tx)
        fresh = newest is not None and newest[0] > read_paged(tx)
        return fresh or bool(stale_pages(tx, 1) or self._idle(tx, newest, ()))

    def _pass(self, tx: Transaction) -> int:
        """Cut the next steps into pages, and write the texts of pages that are now closed or stale."""
        since, newest, zone = read_paged(tx), newest_step(tx), read_zone(tx.timezone)
        fresh = new_steps(tx, since, _BATCH) if newest is not None and newest[0] > since else []
        reached = fresh[-1].seq if fresh else since
        threads = self._threads(tx, fresh)
        used = {step.scope_id for thread in threads.values() for step in thread.steps if step.scope_id}
        vocabulary = Vocabulary(read_labels(tx, used))
        new: list[PageRow] = []
        changed: list[PageRow] = []
        for thread in threads.values():
            rows = self._cut(tx, thread, vocabulary, zone)
            if thread.open is not None:
                changed.append(replace(rows.pop(0), created_at=thread.open.created_at))
            new += rows
        done = sum(page.closed for page in (*new, *changed))
        idle = self._idle(tx, newest, threads) if newest is None or reached >= newest[0] else []
        for page in idle:
            closed = replace(page, closed=True, stale=False)
            changed.append(_texted(tx, closed, zone) if page.tier == "embedded" else closed)
        stale = stale_pages(tx, _MOST_STALE)
        changed += [_texted(tx, replace(page, stale=False), zone) for page in stale]
        add_pages(tx, new)
        change_pages(tx, changed)
        set_paged(tx, reached)
        return done + len(idle) + len(stale)

    def _idle(self, tx: Transaction, newest: tuple[int, datetime] | None, active: Collection[str]) -> list[PageRow]:
        """The open pages of threads without new steps for the gap between sessions, except active threads."""
        if newest is None:
            return []
        now, gap = utc_now(), self.limits.gap
        quiet = {
            page: max(newest[1] - page.ended_at, now - max(page.ended_at, page.created_at)) for page in open_pages(tx)
        }
        return [page for page, time in quiet.items() if page.thread_id not in active and time > gap]

    def _threads(self, tx: Transaction, fresh: Sequence[PageStep]) -> dict[str, _Thread]:
        """The new steps by thread, after those of its open page."""
        opened = {page.thread_id: page for page in open_pages(tx)} if fresh else {}
        threads: dict[str, _Thread] = {}
        for step in fresh:
            if step.thread_id not in threads:
                page = opened.get(step.thread_id)
                before = steps_from(tx, step.thread_id, page.first_turn, page.last_turn) if page else []
                threads[step.thread_id] = _Thread(page, before)
            threads[step.thread_id].steps.append(step)
        for thread_id, thread in list(threads.items()):
            # Without steps that are in a page already, such as those of an import.
            last = last_paged_turn(tx, thread_id)
            by_turn = {step.turn: step for step in thread.steps if step.turn > last}
            if max(by_turn, default=-1) <= (thread.open.last_turn if thread.open is not None else last):
                del threads[thread_id]
            else:
                threads[thread_id] = thread._replace(steps=[by_turn[turn] for turn in sorted(by_turn)])
        return threads

    def _cut(self, tx: Transaction, thread: _Thread, vocabulary: Vocabulary, zone: tzinfo) -> list[PageRow]:
        """The pages of a thread, the last one open; those that are now closed have their texts."""
        opened = thread.open if thread.open is not None and not thread.open.stale else None
        bounds = [_bound(step) for step in thread.steps]
        cuts = cut_pages(bounds, self.limits, max(1, thread.open.session if thread.open is not None else 0))
        rows: list[PageRow] = []
        before: PageRow | None = None
        past = 0  # sessions before the first page here
        for cut in cuts:
            steps = thread.steps[cut.start : cut.end]
            page = _row(steps, bounds[cut.start : cut.end], cut, vocabulary)
            if not rows:
                before = next(iter(pages_before(tx, page)), None)
                if thread.open is None and before is not None:
                    new_session = abs(steps[0].occurred_at - before.ended_at) > self.limits.gap
                    past = before.session - (0 if new_session else 1)
            page = replace(page, session=page.session + past)
            if cut.closed:
                page = _texted(tx, page, zone, steps, before)
            if not rows and opened is not None and (not cut.closed or opened.tier == "model"):
                page = replace(page, header=opened.header, memo=opened.memo or page.memo, tier=opened.tier)
            rows.append(page)
            before = page
        return rows

    def shown(self, tx: Transaction, page: PageRow) -> PageRow:
        """A page with its texts; those of an open page are made now."""
        if page.closed or page.tier == "model":
            return page
        return _texted(tx, page, read_zone(tx.timezone))


def _bound(step: PageStep) -> BoundStep:
    marker = next((str(step.metadata[key]) for key in _SESSION_KEYS if step.metadata.get(key) is not None), None)
    return BoundStep(estimated_tokens(step.text), step.occurred_at, marker)


def _row(steps: Sequence[PageStep], bounds: Sequence[BoundStep], cut: PageCut, vocabulary: Vocabulary) -> PageRow:
    scopes = Counter(vocabulary.canonical(step.scope_id) for step in steps if step.scope_id)
    return PageRow(
        id=page_id_of(steps[0].id),
        seq=steps[0].seq,
        thread_id=steps[0].thread_id,
        first_turn=steps[0].turn,
        last_turn=steps[-1].turn,
        steps=len(steps),
        tokens=sum(bound.tokens for bound in bounds),
        session=cut.session,
        scope_id=scopes.most_common(1)[0][0] if scopes else None,
        started_at=min(step.occurred_at for step in steps),
        ended_at=max(step.occurred_at for step in steps),
        created_at=utc_now(),
        closed=cut.closed,
    )


def _texted(
    tx: Transaction,
    page: PageRow,
    zone: tzinfo,
    steps: Sequence[PageStep] | None = None,
    before: PageRow | None = None,
) -> PageRow:
    """The page with an extractive header and memo; empty ones where all its steps are forgotten.

    Args:
        steps: the steps of the page; None to read them, and ``before``, from the ledger.
        before: the page before it in its thread.
    """
    if steps is None:
        steps, before = page_steps(tx, [page])[page.id], next(iter(pages_before(tx, page)), None)
    memo_steps = [memo_step(step) for step in steps if step.active]
    vocabulary = Vocabulary(read_labels(tx, [page.scope_id]) if page.scope_id else ())
    header = page_header(
        memo_steps,
        zone,
        session=page.session,
        scope=vocabulary.path(page.scope_id) if page.scope_id in vocabulary.by_id else "",
        before=before.memo if before is not None else "",
        before_at=before.ended_at if before is not None else None,
    )
    return replace(page, header=header, memo=page_memo(memo_steps), tier="embedded")
