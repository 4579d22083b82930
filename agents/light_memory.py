"""The light memory: the memos of all closed pages within the planner's token budget (GAM, section 3.1).

It is folded, not cut, to fit the budget: memos of pages, the oldest first, are replaced by the digest that covers them,
and digests by digests of higher levels. So every closed page is covered by exactly one line.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import tzinfo

from hexamem.intent.page_memos import DIGEST_WORDS, digest_text
from hexamem.memory_types.local_time import in_zone
from hexamem.memory_types.page import LightMemory, Memo
from hexamem.stores.ledger.digests import DigestRow
from hexamem.stores.ledger.pages import PageRow

__all__ = ["LEAST_BUDGET", "light_memory"]

LEAST_BUDGET = 64
"""The least budget, in tokens."""
_FOLD = 8
_SPARED = (0.5, 0.25, 0.1, 0.0)  # the share of the newest pages that are not folded, sweep by sweep
_HANDLE = "M9999"  # a placeholder while tokens are counted


def light_memory(
    pages: Sequence[PageRow],
    digests: Sequence[DigestRow],
    budget: int,
    *,
    zone: tzinfo,
    count: Callable[[str], int],
    scopes: Mapping[str, str],
) -> LightMemory:
    """Fold memos until they fit.

    Args:
        pages: the closed pages that have steps.
        digests: the digests over them, lower levels first.
        budget: tokens, at least :data:`LEAST_BUDGET`.
        zone: the user's timezone.
        count: text → its tokens.
        scopes: scope id → path.
    """

    def cost(memo: Memo) -> int:
        return count(_line(memo, zone)) + 1

    place = {page.id: number for number, page in enumerate(pages)}
    memos = {page.id: _of_page(page, scopes) for page in pages}
    costs = {memo_id: cost(memo) for memo_id, memo in memos.items()}
    for spared in _SPARED:
        last = len(pages) * (1 - spared)
        for digest in digests:
            if sum(costs.values()) <= budget:
                break
            below = [memos[part] for part in digest.covers if part in memos]
            page_ids = tuple(page_id for memo in below for page_id in memo.page_ids)
            if not below or len(below) < len(digest.covers) or max(map(place.__getitem__, page_ids)) > last:
                continue
            for part in digest.covers:
                del memos[part], costs[part]
            memos[digest.id] = Memo(
                handle=_HANDLE,
                level=digest.level,
                text=digest.text,
                page_ids=page_ids,
                started_at=digest.started_at,
                ended_at=digest.ended_at,
                tier=digest.tier,
            )
            costs[digest.id] = cost(memos[digest.id])
    ordered = sorted(memos.values(), key=lambda memo: (memo.started_at, pages[place[memo.page_ids[0]]].seq))
    folded = _folded_further(ordered, budget, zone, cost)
    named = tuple(memo.model_copy(update={"handle": f"M{number}"}) for number, memo in enumerate(folded, 1))
    text = "\n".join(_line(memo, zone) for memo in named)
    return LightMemory(memos=named, text=text, tokens=count(text) if text else 0, pages=len(pages))


def _folded_further(memos: list[Memo], budget: int, zone: tzinfo, cost: Callable[[Memo], int]) -> list[Memo]:
    """Fold the oldest memos that no stored digest covers, until all fit."""
    costs = [cost(memo) for memo in memos]
    while sum(costs) > budget and len(memos) > 1:
        # The lowest level first: a memo of a higher level has fewer words for each page.
        level = min(memo.level for memo in memos)
        at = next(at for at, memo in enumerate(memos) if memo.level == level)
        start = max(0, min(at, len(memos) - 2))
        end = min(start + _FOLD, len(memos))
        folded = _folded(memos[start:end], DIGEST_WORDS, zone)
        memos[start:end], costs[start:end] = [folded], [cost(folded)]
    words = DIGEST_WORDS
    while memos and cost(memos[0]) > budget and words > 8:
        words = max(8, words * 3 // 4)
        memos = [_folded(memos, words, zone)]
    return memos


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
