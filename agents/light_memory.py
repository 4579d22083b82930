"""The light memory: the memos of all closed pages within the planner's token budget (GAM, section 3.1).

It is folded, not cut, to fit the budget: the oldest memos are replaced by memos of memos, these again, and so on. So every
closed page is covered by exactly one line.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import tzinfo

from hexamem.intent.page_memos import DIGEST_WORDS, digest_text
from hexamem.memory_types.local_time import in_zone
from hexamem.memory_types.page import LightMemory, Memo
from hexamem.stores.ledger.pages import PageRow

__all__ = ["LEAST_BUDGET", "light_memory"]

LEAST_BUDGET = 64
"""The least budget, in tokens."""
_FOLD = 8  # memos of one memo of memos
_HANDLE = "M9999"  # a placeholder while tokens are counted


def light_memory(
    pages: Sequence[PageRow], budget: int, *, zone: tzinfo, count: Callable[[str], int], scopes: Mapping[str, str]
) -> LightMemory:
    """Fold memos until they fit, the oldest first.

    Args:
        pages: the closed pages that have steps.
        budget: tokens, at least :data:`LEAST_BUDGET`.
        zone: the user's timezone.
        count: text → its tokens.
        scopes: scope id → path.
    """

    def cost(memo: Memo) -> int:
        return count(_line(memo, zone)) + 1

    memos = [_of_page(page, scopes) for page in sorted(pages, key=lambda page: (page.started_at, page.seq))]
    costs = [cost(memo) for memo in memos]
    level = at = 0
    while sum(costs) > budget and len(memos) > 1:
        # The lowest level first: a memo of a higher level has fewer words for each page.
        if at >= len(memos) or memos[at].level > level:
            level, at = level + 1, 0
        start = max(0, min(at, len(memos) - 2))
        end = min(start + _FOLD, len(memos))
        folded = _folded(memos[start:end], DIGEST_WORDS, zone)
        memos[start:end], costs[start:end] = [folded], [cost(folded)]
        at = start + 1
    words = DIGEST_WORDS
    while memos and cost(memos[0]) > budget and words > 8:
        words = max(8, words * 3 // 4)
        memos = [_folded(memos, words, zone)]
    named = tuple(memo.model_copy(update={"handle": f"M{number}"}) for number, memo in enumerate(memos, 1))
    text = "\n".join(_line(memo, zone) for memo in named)
    return LightMemory(memos=named, text=text, tokens=count(text) if text else 0, pages=len(pages))


def _folded(memos: Sequence[Memo], words: int, zone: tzinfo) -> Memo:
    return Memo(
        handle=_HANDLE,
        level=max(memo.level for memo in memos) + (len(memos) > 1),
        text=digest_text([(memo.text, memo.started_at) for memo in memos], zone, words=words),
        page_ids=tuple(page_id for memo in memos for page_id in memo.page_ids),
        started_at=memos[0].started_at,
        ended_at=max(memo.ended_at for memo in memos),
        tier="embedded",
    )


def _of_page(page: PageRow, scopes: Mapping[str, str]) -> Memo:
    return Memo(
        handle=_HANDLE,
        level=0,
        text=page.memo,
        page_ids=(page.id,),
        thread_id=page.thread_id,
        scope=scopes.get(page.scope_id or ""),
        started_at=page.started_at,
        ended_at=page.ended_at,
        tier=page.tier,
    )


def _line(memo: Memo, zone: tzinfo) -> str:
    first, last = (in_zone(moment, zone).date().isoformat() for moment in (memo.started_at, memo.ended_at))
    when = first if first == last else f"{first} to {last}"
    pages = f", {len(memo.page_ids)} pages" if memo.level else ""
    return f"{memo.handle} ({when}{pages}) {memo.text}".rstrip()
