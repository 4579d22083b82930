"""The planner: the searches of one round, by one structured call (GAM, arXiv 2511.18423, section 3.2).

The question itself is always searched as without a model, so that a plan can only add searches. Invalid searches (unknown
tools and pages, empty or surplus queries, invalid times) are left out and counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from typing import Any, cast

from pydantic import Field

from hexamem.agents.embedded_research import plan
from hexamem.agents.research_agent import ResearchAgent, ResearchTask
from hexamem.agents.research_showing import ITSELF, listed, shown_claims
from hexamem.errors import InvalidInputError
from hexamem.memory_types import LightMemory
from hexamem.memory_types.local_time import in_utc, in_zone
from hexamem.memory_types.research import Lane, ResearchPlan, SearchRequest
from hexamem.models import CallInput, ModelReply, StructuredResult

__all__ = ["ModelPlanner", "PlanReply", "PlanTask", "PlannedSearch"]

AGENT = "planner"
_LONGEST_QUERY = 300  # characters
_MOST_LABELS, _MOST_CLAIMS, _MOST_ASKED = 80, 24, 40  # in the prompt
_MOST_NEEDS = 12  # of a plan


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
    """The input of one plan.

    Attributes:
        needs: what is missing by the last reflection; empty in the first round.
        rounds: the most rounds.
        memory: the light memory.
        labels: names of scopes that can be searched.
        lanes: the allowed lanes.
        kinds: the kinds of items in memory.
        most: the most searches of the model.
        now: when the question is asked.
        seen_pages: ids of pages that were read in earlier rounds.
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
        """The searches of a plan without a model."""
        return plan(self.question, self.needs, first=self.number == 1, lanes=self.lanes, kinds=self.kinds)


class ModelPlanner(ResearchAgent[PlanReply]):
    """Plans with a chat model."""

    name = AGENT
    reply = PlanReply

    def prepare(self, task: PlanTask) -> CallInput:
        """The call for a task."""
        return self._ask(
            task,
            task,
            needs=listed(task.needs),
            asked=listed((ITSELF, *task.asked[-_MOST_ASKED:])) if task.number > 1 else "nothing",
            found=shown_claims(task.claims[-_MOST_CLAIMS:], task.zone),
            memory=task.memory.text or "none",
            labels=listed(task.labels[:_MOST_LABELS]),
            today=f"{in_zone(task.now, task.zone):%a %Y-%m-%d}",
            most=task.most,
            round=task.number,
            rounds=task.rounds,
        )

    def finish(self, result: StructuredResult[PlanReply]) -> ResearchPlan:
        """The plan: the valid searches of the model, and in the first round those for the question itself."""
        task = cast("PlanTask", result.carry)
        degraded = list(result.degraded)
        if result.value is None:
            degraded.append(f"{AGENT}: the embedded engine did the work")
            return ResearchPlan(requests=task.embedded(), degraded=tuple(degraded))
        requests, dropped = read_searches(result.value.searches, task)
        degraded += [f"{AGENT}: {count} searches {problem}" for problem, count in dropped.items()]
        if task.number > 1 and not requests:
            degraded.append(
                f"{AGENT}: the plan has no search that can be carried out; the embedded engine planned this round"
            )
            return ResearchPlan(requests=task.embedded(), degraded=tuple(degraded))
        embedded = task.embedded() if task.number == 1 else ()
        needs = dict.fromkeys(text for need in result.value.needs if (text := _on_one_line(need)))
        return ResearchPlan(
            requests=(*embedded, *requests), needs=tuple(needs)[:_MOST_NEEDS], tier="model", degraded=tuple(degraded)
        )


def read_searches(searches: Sequence[PlannedSearch], task: PlanTask) -> tuple[list[SearchRequest], Counter[str]]:
    """The valid searches, and the number of the others by their problem."""
    requests: dict[tuple[str, str], SearchRequest] = {}
    dropped: Counter[str] = Counter()
    for search in searches:
        try:
            request = _request(search, task)
        except InvalidInputError as error:
            dropped[f"{error} and were left out"] += 1
            continue
        key = (request.lane, request.query.casefold())
        if key in requests:
            dropped["were duplicates"] += 1
        elif len(requests) >= task.most:
            dropped[f"beyond {task.most} were left out"] += 1
        else:
            requests[key] = request
    return list(requests.values()), dropped


def _request(search: PlannedSearch, task: PlanTask) -> SearchRequest:
    lane, query = search.tool.strip().casefold(), _on_one_line(search.query)
    if lane not in task.lanes:
        raise InvalidInputError("named a tool that there is not")
    if not query:
        raise InvalidInputError("without a query")
    fields: dict[str, Any] = {}
    if lane == "page":
        pages = _pages(" ".join(search.pages) or query, task.memory)
        if not pages:
            raise InvalidInputError("named a page that there is not")
        fields["pages"] = tuple(page_id for page_id in pages if page_id not in task.seen_pages)
        if not fields["pages"]:
            raise InvalidInputError("named pages that were read already")
    elif lane == "time":
        days = [day for day in (_day(search.since), _day(search.until)) if day is not None]
        if not days:
            raise InvalidInputError("by time named no time")
        if _day(search.since) is not None:
            fields["since"] = in_utc(datetime.combine(min(days), time.min, tzinfo=task.zone))
        if _day(search.until) is not None:
            fields["until"] = in_utc(datetime.combine(max(days), time.max, tzinfo=task.zone))
    elif lane == "kind":
        named = {kind.strip().casefold() for kind in search.kinds}
        fields["kinds"] = tuple(kind for kind in task.kinds if kind in named) or task.kinds
    return SearchRequest(lane=lane, query=query, need=query, **fields)


def _on_one_line(text: str) -> str:
    return " ".join(text.split())[:_LONGEST_QUERY]


def _pages(query: str, memory: LightMemory) -> tuple[str, ...]:
    """The page ids that are named in a query, by handle or id."""
    known = {page_id for memo in memory.memos for page_id in memo.page_ids}
    pages: dict[str, None] = {}
    for word in query.replace(",", " ").split():
        pages.update(dict.fromkeys(memory.pages_of(word.strip("[]().").upper()) or ((word,) if word in known else ())))
    return tuple(pages)


def _day(text: str | None) -> date | None:
    try:
        return datetime.fromisoformat((text or "").strip()).date()
    except ValueError:
        return None
