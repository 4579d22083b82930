"""The nodes that begin a round: the plan, and the lanes that search."""

from __future__ import annotations

import time
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal, get_args

from langgraph.errors import GraphBubbleUp
from langgraph.types import Overwrite, Send

from hexamem.agents.embedded_research import MAIN_NEED
from hexamem.agents.embedded_research import plan as embedded_plan
from hexamem.agents.research_question import Question
from hexamem.errors import CorruptFileError, InvalidInputError
from hexamem.graphs.research_lanes import EvidenceFilter, LaneHits
from hexamem.graphs.research_state import (
    LaneInput,
    LaneResult,
    ResearchContext,
    ResearchNode,
    ResearchState,
    claims_in,
    run_context,
    say,
    searched,
    spend,
)
from hexamem.graphs.waiting_nodes import Request, Waiting
from hexamem.memory_types import utc_now
from hexamem.memory_types.research import LANES, TIERS, AnswerForm, ResearchPlan, SearchRequest

SEARCHES, _REQUESTS = 10, 40  # searches of a model's plan, and of a round, at most
_POOL, _NARROW_POOL = 150, 40  # records that a search for the question returns, and one for a single need
_MEMORY_TOKENS = 1_500  # of memos in a prompt


class PlanNodes(ResearchNode):
    """Plan and search."""

    def plan(self, state: ResearchState) -> Waiting:
        """The searches of a round: by the planner for tier ``deep``, otherwise by the encoder."""
        context, update, question = self._begun(state)
        planner, number = self.parts.planner, update["number"]
        lanes = tuple(lane for lane in LANES if lane in context.settings.lanes)
        if planner is None or update["chosen"] != "deep":
            kinds = self._kinds(context, update) if number == 1 else ()
            requests = embedded_plan(question, update["needs"], first=number == 1, lanes=lanes, kinds=kinds)
            return self._planned(context, update, ResearchPlan(requests=requests))
        from hexamem.agents.planner import PlanTask

        filters = EvidenceFilter.of(update["filters"])
        task = PlanTask(
            question=question,
            needs=tuple(update["needs"]),
            number=number,
            rounds=self.rounds(context, update),
            asked=searched({**update, "asked": state["asked"]}) if number > 1 else (),
            claims=claims_in(update),
            memory=self.parts.light_memory(context.user, _MEMORY_TOKENS, filters),
            labels=self.parts.scopes(context.user),
            lanes=lanes,
            kinds=self._kinds(context, update),
            most=SEARCHES,
            now=datetime.fromisoformat(update["now"]),
            zone=self.zone(context),
            seen_pages=frozenset(passage["id"] for passage in update["read"] if passage["kind"] == "page"),
            budget=self.budget(context, update),
            usage=context.usage,
        )
        result = yield Request(planner.prepare(task))
        spend(update, result)
        return self._planned(context, update, planner.finish(result))

    def _begun(self, state: ResearchState) -> tuple[ResearchContext, dict[str, Any], Question]:
        """The state at the beginning of a round."""
        context = run_context()
        fields: dict[str, Any] = dict(state)
        fields.pop("found", None)
        fields.pop("degraded", None)
        text = fields.get("question")
        fields["anew"] = not fields.get("number") or fields.get("done") or fields.get("begun_for") != text
        if fields["anew"]:  # the thread may hold the state of another question
            if not isinstance(text, str) or not text.strip():
                raise InvalidInputError(f"question = {text!r}: pass a question")
            tier, form = fields.get("tier") or "deep", fields.get("form") or "text"
            if tier not in TIERS:
                raise InvalidInputError(f"tier = {tier!r}: use one of {', '.join(TIERS)}")
            if form not in get_args(AnswerForm):
                raise InvalidInputError(f"form = {form!r}: use one of {', '.join(get_args(AnswerForm))}")
            filters = EvidenceFilter.of(fields)
            if unknown := sorted((filters.kinds or frozenset()) - {"step", *self.parts.ledger.types}):
                raise InvalidInputError(
                    f"kinds = {unknown}: use one or more of {', '.join(('step', *self.parts.ledger.types))}"
                )
            self.parts.catch_up(context.user)
            fields.update(
                filters=filters.model_dump(mode="json"),
                where=None,
                as_of=None,
                known_at=None,
                kinds=None,
                begun_for=text,
                asked_as=self.parts.clean(context.user, text),
                now=(filters.moment or utc_now()).isoformat(),
                began=time.time(),
                number=0,
                needs=[],
                asked=[],
                pool=[],
                read=[],
                claims=[],
                answer="",
                answerable=False,
                reason="",
                rounds=[],
                chosen=tier,
                why_tier="",
                done=False,
                spent={},
                research={},
                context="",
            )
        else:
            fields["rounds"] = [*fields["rounds"], fields["current"]]
        fields["number"] += 1
        fields["round_calls"] = 0
        fields["asked"] = [*fields["asked"], *fields["needs"]]
        return context, fields, self.question(context, fields)

    def _kinds(self, context: ResearchContext, update: Mapping[str, Any]) -> tuple[str, ...]:
        """The kinds of items that may be searched; with a time in the filter, any kind."""
        if "kind" not in context.settings.lanes:
            return ()
        filters = EvidenceFilter.of(update["filters"])
        kinds = self.parts.kinds(context.user) if filters.moment is None else tuple(self.parts.ledger.types)
        return tuple(kind for kind in kinds if filters.kinds is None or kind in filters.kinds)

    def _planned(self, context: ResearchContext, update: dict[str, Any], plan: ResearchPlan) -> dict[str, Any]:
        degraded: list[str] = list(plan.degraded)
        if len(plan.requests) > _REQUESTS:
            degraded.append(f"plan: {len(plan.requests) - _REQUESTS} searches beyond {_REQUESTS} were left out")
        requests = [request.model_dump(mode="json") for request in plan.requests[:_REQUESTS]]
        update["requests"] = requests
        update["current"] = {
            "number": update["number"],
            "needs": update["needs"],
            "plan": {"requests": requests, "needs": list(plan.needs), "tier": plan.tier, "degraded": degraded},
            "tiers": {"plan": plan.tier},
        }
        say("plan", context, update, requests=requests, needs=update["needs"], tier=plan.tier)
        anew = update.pop("anew")
        return {**update, "degraded": Overwrite(degraded) if anew else degraded}

    def send(self, state: ResearchState) -> list[Send] | Literal["integrate"]:
        """Send its requests to each lane; without requests go on to ``integrate``."""
        by_lane: dict[str, list[dict[str, Any]]] = {}
        for request in state.get("requests") or ():
            by_lane.setdefault(request["lane"], []).append(request)
        if not by_lane:
            return "integrate"
        return [
            Send(
                lane,
                LaneInput(number=state["number"], began=state["began"], filters=state["filters"], requests=requests),
            )
            for lane, requests in by_lane.items()
        ]

    def lane(self, name: str, state: LaneInput) -> dict[str, Any]:
        """One lane: a failure is reported in ``degraded`` and does not stop the others."""
        context = run_context()
        filters = EvidenceFilter.of(state["filters"])
        began = time.time() - state["began"]
        rankings: dict[str, list[str]] = {}
        pages: list[str] = []
        degraded: list[str] = []
        failed: str | None = None
        for values in state["requests"]:
            request = SearchRequest(**values)
            try:
                lane_hits = self._search(context.user, name, request, filters)
            except GraphBubbleUp:
                raise
            except Exception as error:  # noqa: BLE001 - the other searches and lanes answer; this becomes `degraded`
                failed = f"{type(error).__name__}: {str(error).splitlines()[0][:200] if str(error) else ''}".rstrip(
                    ": "
                )
                degraded.append(f"lane {name}: a search failed ({failed})")
                continue
            if lane_hits.degraded:
                degraded.append(f"lane {name}: {lane_hits.degraded}")
            rankings[request.need] = list(dict.fromkeys((*rankings.get(request.need, ()), *lane_hits.ids)))
            pages += lane_hits.pages
        lane_result = LaneResult(
            round=state["number"],
            lane=name,
            queries=[request_values["query"] for request_values in state["requests"]],
            rankings=rankings,
            pages=pages,
            failed=failed,
            began=began,
            ended=time.time() - state["began"],
        )
        count = sum(map(len, rankings.values())) + len(pages)
        say(
            "search",
            context,
            {"number": state["number"]},
            lane=name,
            queries=lane_result["queries"],
            found=count,
            failed=failed,
        )
        return {"found": [lane_result], "degraded": list(dict.fromkeys(degraded))}

    def _search(self, user: str, name: str, request: SearchRequest, filters: EvidenceFilter) -> LaneHits:
        search = self.parts.lanes[name]
        pool = _POOL if request.need == MAIN_NEED else _NARROW_POOL
        try:
            return search(user, request, filters, pool)
        except CorruptFileError:  # an index was damaged since it was checked
            if not self.parts.repair(user):
                raise
            return search(user, request, filters, pool)
