"""Pages in the ledger: ranges of turns of a thread, with header and memo.

A page contains no steps, only the first and the last turn: it cannot lose a step or contain one twice. When steps are
forgotten or redacted, :func:`blank_pages` empties the texts derived from them at once; paging derives them again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Row, and_, func, insert, select

from hexamem.memory_types.labels import Tier
from hexamem.stores.ledger.ledger import Transaction, chunks
from hexamem.stores.ledger.progress import SHARED, read_projections, set_projection
from hexamem.stores.ledger.schema import INDEX_TEXT, WITH_INTENT, intents, pages, steps

__all__ = [
    "PageRow",
    "PageStep",
    "add_pages",
    "blank_pages",
    "change_pages",
    "changed_pages",
    "get_pages",
    "last_page_change",
    "last_paged_turn",
    "new_steps",
    "newest_step",
    "next_page_change",
    "open_pages",
    "page_id_of",
    "page_steps",
    "pages_before",
    "pages_holding",
    "read_paged",
    "read_pages",
    "set_paged",
    "stale_pages",
    "steps_from",
]

_PAGED = "pages"


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRow:
    """A row of ``pages``; ``seq`` is that of its first step, ``steps`` counts forgotten ones too."""

    id: str
    seq: int
    thread_id: str
    first_turn: int
    last_turn: int
    steps: int
    tokens: int
    session: int
    started_at: datetime
    ended_at: datetime
    created_at: datetime
    header: str = ""
    memo: str = ""
    tier: Tier = "embedded"
    scope_id: str | None = None
    closed: bool = False
    stale: bool = False
    change: int = 0


class PageStep(NamedTuple):
    """The fields of a step that paging reads."""

    id: str
    seq: int
    thread_id: str
    turn: int
    role: str
    name: str | None
    text: str
    occurred_at: datetime
    created_at: datetime
    active: bool
    metadata: Mapping[str, Any]
    scope_id: str | None = None
    event_ids: Sequence[str] = ()
    resolved_text: str | None = None

    @property
    def speaker(self) -> str:
        """The name of the speaker, else the role."""
        return self.name or self.role


def page_id_of(step_id: str) -> str:
    """The id of the page that begins with this step, the same whenever the page is made again."""
    return f"page_{step_id.removeprefix('step_')}"


# ------------------------------------------------------------------------------------------------------------ reading


def read_paged(tx: Transaction) -> int:
    """The ``seq`` up to which the user's steps are in pages."""
    return read_projections(tx, SHARED).get(_PAGED, 0)


def set_paged(tx: Transaction, seq: int) -> None:
    """Store the ``seq`` up to which the user's steps are in pages."""
    set_projection(tx, SHARED, _PAGED, seq)


def newest_step(tx: Transaction) -> tuple[int, datetime] | None:
    """The highest ``seq`` and the latest time of the user's steps; None without steps."""
    latest = func.max(steps.c.seq).label("seq"), func.max(steps.c.occurred_at).label("at")
    row = tx.first(select(*latest).where(tx.own(steps)))
    return None if row is None or row.seq is None else (int(row.seq), row.at)


_OWN = ("id", "seq", "thread_id", "turn", "role", "name")
_LATER = ("occurred_at", "created_at", "status", "metadata")
_STEP = (
    *(steps.c[name] for name in _OWN),
    INDEX_TEXT,
    *(steps.c[name] for name in _LATER),
    *(intents.c[name] for name in ("scope_id", "event_ids", "resolved_text")),
)


def _step(row: Row[Any]) -> PageStep:
    *own, status, metadata, scope_id, event_ids, resolved_text = tuple(row)
    return PageStep._make((*own, status == "active", metadata or {}, scope_id, event_ids or (), resolved_text))


def new_steps(tx: Transaction, since: int, limit: int) -> list[PageStep]:
    """The steps above a ``seq``, forgotten ones too, in the order of storing."""
    statement = (
        select(*_STEP)
        .outerjoin(intents, WITH_INTENT)
        .where(tx.own(steps), steps.c.seq > since)
        .order_by(steps.c.seq)
        .limit(limit)
    )
    return [_step(row) for row in tx.all(statement)]


def steps_from(tx: Transaction, thread_id: str, first: int, last: int) -> list[PageStep]:
    """The steps of a thread from one turn to another, forgotten ones too."""
    own = tx.own(steps) & (steps.c.thread_id == thread_id) & steps.c.turn.between(first, last)
    statement = select(*_STEP).outerjoin(intents, WITH_INTENT).where(own).order_by(steps.c.turn)
    return [_step(row) for row in tx.all(statement)]


def page_steps(tx: Transaction, chosen: Sequence[PageRow]) -> dict[str, list[PageStep]]:
    """The active steps of pages by page id, in order; a page whose steps are all forgotten has none."""
    steps_of: dict[str, list[PageStep]] = {page.id: [] for page in chosen}
    for thread_id in dict.fromkeys(page.thread_id for page in chosen):
        own = sorted((page for page in chosen if page.thread_id == thread_id), key=lambda page: page.first_turn)
        run: list[PageRow] = []
        for page in [*own, None]:
            if run and (page is None or page.first_turn != run[-1].last_turn + 1):
                _fill(tx, run, steps_of)
                run = []
            if page is not None:
                run.append(page)
    return steps_of


def _fill(tx: Transaction, run: list[PageRow], steps_of: dict[str, list[PageStep]]) -> None:
    """Read the steps of consecutive pages at once."""
    remaining = iter(run)
    page = next(remaining)
    for step in steps_from(tx, page.thread_id, run[0].first_turn, run[-1].last_turn):
        while step.turn > page.last_turn:
            page = next(remaining)
        if step.active:
            steps_of[page.id].append(step)


_PAGE = [column for column in pages.c if column.name != "user_id"]


def _page(row: Row[Any]) -> PageRow:
    return PageRow(**row._mapping)


def _pages(tx: Transaction, *conditions: Any, order: Any = pages.c.seq, limit: int | None = None) -> list[PageRow]:
    statement = select(*_PAGE).where(tx.own(pages), *conditions).order_by(order).limit(limit)
    return [_page(row) for row in tx.all(statement)]


def read_pages(tx: Transaction, thread_id: str | None = None) -> list[PageRow]:
    """The pages of a thread, or all, in the order of their first steps."""
    return _pages(tx) if thread_id is None else _pages(tx, pages.c.thread_id == thread_id)


def get_pages(tx: Transaction, page_ids: Collection[str]) -> dict[str, PageRow]:
    """Pages by id; unknown ids are left out."""
    return {page.id: page for part in chunks(page_ids) for page in _pages(tx, pages.c.id.in_(part))}


def open_pages(tx: Transaction) -> list[PageRow]:
    """The pages that still grow, at most one for each thread."""
    return _pages(tx, pages.c.closed.is_(False))


def last_paged_turn(tx: Transaction, thread_id: str) -> int:
    """The last turn of a thread that is in a closed page; -1 where none is."""
    own = tx.own(pages) & (pages.c.thread_id == thread_id) & pages.c.closed.is_(True)
    row = tx.first(select(func.max(pages.c.last_turn)).where(own))
    return -1 if row is None or row[0] is None else int(row[0])


def stale_pages(tx: Transaction, limit: int) -> list[PageRow]:
    """Closed pages whose texts must be derived again."""
    return _pages(tx, pages.c.stale.is_(True), pages.c.closed.is_(True), limit=limit)


def changed_pages(tx: Transaction, since: int, limit: int) -> list[PageRow]:
    """Closed pages whose change number is above ``since``, lowest first: what an index must read."""
    return _pages(tx, pages.c.closed.is_(True), pages.c.change > since, order=pages.c.change, limit=limit)


def last_page_change(tx: Transaction) -> int:
    """The highest change number of the closed pages; 0 without any."""
    row = tx.first(select(func.max(pages.c.change)).where(tx.own(pages), pages.c.closed.is_(True)))
    return 0 if row is None or row[0] is None else int(row[0])


def pages_before(tx: Transaction, page: PageRow, most: int = 1) -> list[PageRow]:
    """The pages of the thread directly before one, nearest first."""
    own = (pages.c.thread_id == page.thread_id) & (pages.c.first_turn < page.first_turn)
    return _pages(tx, own, order=pages.c.first_turn.desc(), limit=most)


def pages_holding(tx: Transaction, step_ids: Collection[str]) -> dict[str, str]:
    """Step id → id of its page, for the steps that are in one."""
    page_of: dict[str, str] = {}
    within = and_(
        pages.c.user_id == steps.c.user_id,
        pages.c.thread_id == steps.c.thread_id,
        pages.c.first_turn <= steps.c.turn,
        pages.c.last_turn >= steps.c.turn,
    )
    for part in chunks(step_ids):
        own = tx.own(steps) & steps.c.id.in_(part)
        statement = select(steps.c.id, pages.c.id.label("page")).join(pages, within).where(own)
        page_of.update({row.id: row.page for row in tx.all(statement)})
    return page_of


# ------------------------------------------------------------------------------------------------------------ writing


def _values(page: PageRow) -> dict[str, Any]:
    return {column.name: getattr(page, column.name) for column in _PAGE}


def next_page_change(tx: Transaction) -> int:
    """The next change number of pages, apart from those of steps and items, whose indexes do not read pages."""
    row = tx.first(select(func.max(pages.c.change)).where(tx.own(pages)))
    return max(tx.change, int(row[0] or 0) if row else 0) + 1


def add_pages(tx: Transaction, new: Sequence[PageRow]) -> None:
    """Write new pages, each under the next change number."""
    if new:
        first = next_page_change(tx)
        rows = [{"user_id": tx.user_id, **_values(page), "change": first + at} for at, page in enumerate(new)]
        tx.connection.execute(insert(pages), rows)


def change_pages(tx: Transaction, changed: Sequence[PageRow]) -> None:
    """Update pages, each under the next change number."""
    if changed:
        first = next_page_change(tx)
        for at, page in enumerate(changed):
            tx.update(pages, page.id, **{**_values(page), "change": first + at})


def blank_pages(tx: Transaction, step_ids: Collection[str], stale: Callable[[str], bool] = lambda text: False) -> None:
    """Empty the texts derived from these steps: headers and memos of their pages and of pages that may mention them.
    Paging derives them again from the remaining steps.

    A header without a model mentions the previous page of its thread, one by a model any earlier page.

    Args:
        stale: whether a header or memo must be emptied whatever steps it was derived from.
    """
    affected = get_pages(tx, set(pages_holding(tx, step_ids).values()))
    ends = {(page.thread_id, page.last_turn + 1) for page in affected.values()}
    first = min((page.seq for page in affected.values()), default=None)
    blanked = set(affected)
    for page in _pages(tx, (pages.c.header != "") | (pages.c.memo != "")):
        follows = (page.thread_id, page.first_turn) in ends
        later = first is not None and page.seq > first and page.tier == "model"
        if follows or later or stale(f"{page.header}\n{page.memo}"):
            blanked.add(page.id)
    if not blanked:
        return
    start = next_page_change(tx)
    for at, page_id in enumerate(sorted(blanked)):
        tx.update(pages, page_id, header="", memo="", tier="embedded", stale=True, change=start + at)
