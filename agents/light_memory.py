"""The light memory: the memos of all closed pages in as many tokens as the planner may read (GAM, section 3.1).

It is kept within the budget by folding, never by cutting: where there is no room for the memos of some pages, the memo
of these memos stands for them, the oldest first; where that is too much as well, memos of memos are folded in turn. So
every closed page stands behind exactly one line, whatever the budget.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo

from hexamem.intent.page_memos import DIGEST_WORDS, digest_text
from hexamem.memory_types.labels import Tier
from hexamem.memory_types.local_time import in_zone
from hexamem.memory_types.page import LightMemory, Memo
from hexamem.stores.ledger.digests import DigestRow
from hexamem.stores.ledger.pages import PageRow

__all__ = ["LEAST_BUDGET", "light_memory"]

LEAST_BUDGET = 64
"""Tokens below which nothing useful can be said of a long memory."""
_FOLD = 8
_SPARED = (0.5, 0.25, 0.1, 0.0)  # parts of the newest pages whose memos are left alone, sweep by sweep
_HANDLE = "M9999"


@dataclass(frozen=True, slots=True)
class _Node:
    """A memo as it may stand in the light memory."""

    level: int
    text: str
    page_ids: tuple[str, ...]
    started_at: datetime
    ended_at: datetime
    seq: int
    tier: Tier = "embedded"
    thread_id: str | None = None
    scope: str | None = None


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
        pages: closed ones that have steps.
        digests: the memos of memos over them.
        budget: tokens, at least :data:`LEAST_BUDGET`.
        count: the tokens of a text.
        scopes: paths by scope id.
    """
    leaves = {page.id: _leaf(page, scopes) for page in pages}
    place = {page_id: number for number, page_id in enumerate(leaves)}
    shown: dict[str, _Node] = dict(leaves)
    costs = {node_id: _cost(node, zone, count) for node_id, node in shown.items()}
    for spared in _SPARED:
        last = len(leaves) * (1 - spared)
        for one in digests:  # lower levels first
            if sum(costs.values()) <= budget:
                break
            below = [shown[part] for part in one.covers if part in shown]
            ids = tuple(page_id for node in below for page_id in node.page_ids)
            if not below or len(below) < len(one.covers) or max(map(place.__getitem__, ids)) > last:
                continue
            for part in one.covers:
                del shown[part], costs[part]
            shown[one.id] = _Node(one.level, one.text, ids, one.started_at, one.ended_at, one.seq, one.tier)
            costs[one.id] = _cost(shown[one.id], zone, count)
    nodes = sorted(shown.values(), key=lambda node: (node.started_at, node.seq))
    nodes = _squeezed(nodes, budget, zone, count)
    memos = tuple(
        Memo(
            handle=f"M{number}",
            level=node.level,
            text=node.text,
            page_ids=node.page_ids,
            thread_id=node.thread_id,
            scope=node.scope,
            started_at=node.started_at,
            ended_at=node.ended_at,
            tier=node.tier,
        )
        for number, node in enumerate(nodes, 1)
    )
    text = "\n".join(_line(node, f"M{number}", zone) for number, node in enumerate(nodes, 1))
    return LightMemory(memos=memos, text=text, tokens=count(text) if text else 0, pages=len(leaves))


def _squeezed(nodes: list[_Node], budget: int, zone: tzinfo, count: Callable[[str], int]) -> list[_Node]:
    """Fold what stands there, the oldest first, where no memo of memos was kept for it."""
    costs = [_cost(node, zone, count) for node in nodes]
    while sum(costs) > budget and len(nodes) > 1:
        # The lowest level first: what was folded often says least of each page.
        level = min(node.level for node in nodes)
        at = next(at for at, node in enumerate(nodes) if node.level == level)
        start = max(0, min(at, len(nodes) - 2))
        some = nodes[start : start + _FOLD]
        folded = _folded(some, DIGEST_WORDS, zone)
        nodes[start : start + len(some)] = [folded]
        costs[start : start + len(some)] = [_cost(folded, zone, count)]
    words = DIGEST_WORDS
    while nodes and sum(costs) > budget and words > 8:
        words = max(8, words * 3 // 4)
        nodes = [_folded(nodes, words, zone)]
        costs = [_cost(nodes[0], zone, count)]
    return nodes


def _folded(nodes: Sequence[_Node], words: int, zone: tzinfo) -> _Node:
    text = digest_text([(node.text, node.started_at) for node in nodes], zone, words=words)
    ids = tuple(page_id for node in nodes for page_id in node.page_ids)
    ended = max(node.ended_at for node in nodes)
    level = max(node.level for node in nodes) + (len(nodes) > 1)
    return _Node(level, text, ids, nodes[0].started_at, ended, nodes[0].seq)


def _leaf(page: PageRow, scopes: Mapping[str, str]) -> _Node:
    scope = scopes.get(page.scope_id or "")
    return _Node(0, page.memo, (page.id,), page.started_at, page.ended_at, page.seq, page.tier, page.thread_id, scope)


def _cost(node: _Node, zone: tzinfo, count: Callable[[str], int]) -> int:
    return count(_line(node, _HANDLE, zone)) + 1


def _line(node: _Node, handle: str, zone: tzinfo) -> str:
    first, last = (in_zone(moment, zone).date().isoformat() for moment in (node.started_at, node.ended_at))
    when = first if first == last else f"{first} to {last}"
    if node.level:
        return f"{handle} ({when}, {len(node.page_ids)} pages) {node.text}".rstrip()
    return f"{handle} ({when}) {node.text}".rstrip()
