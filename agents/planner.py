"""The planner: which searches answer a question, by one structured call (GAM, arXiv 2511.18423, section 3.2).

The question itself is always searched as without a model, so a plan can only add. What of a plan cannot be carried out
(unknown tools and pages, empty or surplus queries, times that are none) is left out and counted.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from typing import cast

from pydantic import Field

from hexamem.agents.embedded_research import plan
from hexamem.agents.research_agent import ResearchAgent, ResearchTask
from hexamem.agents.research_showing import ITSELF, listed, shown_claims
from hexamem.memory_types import ITEM_KINDS, LightMemory
from hexamem.memory_types.local_time import in_utc, in_zone
from hexamem.memory_types.research import LANES, Lane, ResearchPlan, SearchRequest
from hexamem.models import CallInput, ModelReply, StructuredResult

__all__ = ["ModelPlanner", "PlanReply", "PlanTask", "PlannedSearch"]

AGENT = "planner"
_QUERY, _LABELS, _CLAIMS, _ASKED = 300, 80, 24, 40
_NEEDS = 12


class PlannedSearch(ModelReply):
    """One search."""

    tool: str = Field(description="vector, keyword, page, intent, time or kind.")
    query: str = Field(description="What to look for.")
    since: str | None = Field(description="For time: the first day, YYYY-MM-DD.")
    until: str | None = Field(description="For time: the last day, YYYY-MM-DD.")
    kinds: list[str] = Field(description="For kind: which kinds of notes; all when empty.")
    pages: list[str] = Field(description="For page: handles of memos, such as M3.")


class PlanReply(ModelReply):
    """What must be known, and the searches for it."""

    needs: list[str] = Field(description="What must be known to answer, one short phrase each.")
    searches: list[PlannedSearch] = Field(description="The searches.")


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanTask(ResearchTask):
    """What is to be planned.

    Attributes:
        needs: what reflection found missing; empty in the first round.
        rounds: how many there may be.
        memory: the light memory.
        labels: names of scopes that may be searched.
        lanes: those that may be used.
        most: searches of the model, at most.
        seen_pages: pages that were read already.
    """

    needs: tuple[str, ...]
    rounds: int
    memory: LightMemory
    labels: tuple[str, ...]
    lanes: tuple[Lane, ...]
    kinds: tuple[str, ...]
    most: int
    now: datetime
    seen_pages: frozenset[str] = frozenset()

    def embedded(self) -> tuple[SearchRequest, ...]:
        """The searches that are made without a model."""
        return plan(self.question, self.needs, first=self.number == 1, lanes=self.lanes, kinds=self.kinds)


class ModelPlanner(ResearchAgent[PlanReply]):
    """Plans with a chat model."""

    name = AGENT
    reply = PlanReply

    def prepare(self, task: PlanTask) -> CallInput:
        """The call that a task needs."""
        return self._ask(
            task,
            task,
            needs=listed(task.needs),
            asked=listed((ITSELF, *task.asked[-_ASKED:])) if task.number > 1 else "nothing",
            found=shown_claims(task.claims[-_CLAIMS:], task.zone),
            memory=task.memory.text or "none",
            labels=listed(task.labels[:_LABELS]),
            today=f"{in_zone(task.now, task.zone):%a %Y-%m-%d}",
            most=task.most,
            round=task.number,
            rounds=task.rounds,
        )

    def finish(self, result: StructuredResult[PlanReply]) -> ResearchPlan:
        """The plan: the model's searches as far as they can be carried out, beside those for the question itself."""
        task = cast("PlanTask", result.carry)
        told = list(result.degraded)
        if result.value is None:
            told.append(f"{AGENT}: the embedded engine did the work")
            return ResearchPlan(requests=task.embedded(), degraded=tuple(told))
        requests, dropped = read_searches(result.value.searches, task)
        if dropped:
            told += [f"{AGENT}: {count} {what}" for what, count in dropped.items()]
        if task.number == 1:
            requests = [*task.embedded(), *requests]
        elif not requests:
            told.append(
                f"{AGENT}: the plan has no search that can be carried out; the embedded engine planned this round"
            )
            return ResearchPlan(requests=task.embedded(), degraded=tuple(told))
        needs = dict.fromkeys(text for one in result.value.needs if (text := " ".join(one.split())[:_QUERY]))
        return ResearchPlan(requests=tuple(requests), needs=tuple(needs)[:_NEEDS], tier="model", degraded=tuple(told))


def read_searches(searches: Sequence[PlannedSearch], task: PlanTask) -> tuple[list[SearchRequest], dict[str, int]]:
    """The searches that can be carried out, and how many others there were, by what stands against them."""
    found: dict[tuple[str, str], SearchRequest] = {}
    dropped: dict[str, int] = {}

    def drop(what: str) -> None:
        dropped[what] = dropped.get(what, 0) + 1

    pages = {one for memo in task.memory.memos for one in memo.page_ids}
    for one in searches:
        tool, query = one.tool.strip().casefold(), " ".join(one.query.split())[:_QUERY]
        if tool not in LANES or tool not in task.lanes:
            drop("searches named a tool that there is not and were left out")
        elif not query:
            drop("searches without a query were left out")
        elif (tool, query.casefold()) in found:
            drop("searches were planned twice and made once")
        elif len(found) >= task.most:
            drop(f"searches beyond {task.most} were left out")
        else:
            request, problem = _request(tool, query, one, task, pages)
            if request is None:
                drop(problem)
            else:
                found[tool, query.casefold()] = request
    return list(found.values()), dropped


def _request(
    lane: Lane, query: str, one: PlannedSearch, task: PlanTask, pages: Collection[str]
) -> tuple[SearchRequest | None, str]:
    if lane == "page":
        ids = _pages(" ".join(one.pages) or query, task.memory, pages)
        if not ids:
            return None, "searches named a page that there is not and were left out"
        fresh = tuple(page_id for page_id in ids if page_id not in task.seen_pages)
        if not fresh:
            return None, "searches named pages that were read already and were left out"
        return SearchRequest(lane=lane, query=query, need=query, pages=fresh), ""
    if lane == "time":
        first, last = _day(one.since), _day(one.until)
        if first is None and last is None:
            return None, "searches by time named no time and were left out"
        if first is not None and last is not None and last < first:
            first, last = last, first
        since = None if first is None else in_utc(datetime.combine(first, time.min, tzinfo=task.zone))
        until = None if last is None else in_utc(datetime.combine(last, time.max, tzinfo=task.zone))
        return SearchRequest(lane=lane, query=query, need=query, since=since, until=until), ""
    if lane == "kind":
        kinds = tuple(kind for kind in ITEM_KINDS if kind in {given.strip().casefold() for given in one.kinds})
        return SearchRequest(lane=lane, query=query, need=query, kinds=kinds or tuple(ITEM_KINDS)), ""
    return SearchRequest(lane=lane, query=query, need=query), ""


def _pages(query: str, memory: LightMemory, known: Collection[str]) -> tuple[str, ...]:
    """The pages that a handle or an id names."""
    words: Mapping[str, None] = dict.fromkeys(query.replace(",", " ").split())
    found: dict[str, None] = {}
    for word in words:
        found.update(dict.fromkeys(memory.pages_of(word.strip("[]().").upper()) or ((word,) if word in known else ())))
    return tuple(found)


def _day(text: str | None) -> date | None:
    try:
        return datetime.fromisoformat((text or "").strip()).date()
    except ValueError:
        return None
