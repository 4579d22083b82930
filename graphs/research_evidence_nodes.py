"""The nodes that end a round: integration of what was found, reflection on it, and the outcome."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from langgraph.errors import GraphBubbleUp

from hexamem.agents.embedded_research import NOT_HELD, best_score, choose_tier, reflect, score_sentences
from hexamem.agents.research_question import Question
from hexamem.agents.research_showing import joined
from hexamem.graphs.research_lanes import EvidenceFilter
from hexamem.graphs.research_outcome import finished, superseding, with_superseding
from hexamem.graphs.research_reading import Reading, read_round
from hexamem.graphs.research_state import (
    LaneResult,
    PlainRecall,
    ResearchContext,
    ResearchNode,
    ResearchState,
    claims_in,
    passages_in,
    run_context,
    say,
    searched,
    spend,
)
from hexamem.graphs.waiting_nodes import Request, Waiting
from hexamem.memory_types.research import Reflection
from hexamem.models.tokens import count_tokens

if TYPE_CHECKING:
    from hexamem.agents.integrator import IntegrateTask, Outcome

_BEST = 10  # of the ids that a lane found, in the report of a round
_PASSAGES, _FIRST_PASSAGES = 14, 12  # read in a round; the second with a model in tier ``auto``
_PROMPT_TOKENS, _FIRST_TOKENS = 6_000, 1_000  # of passages in a prompt, likewise


class EvidenceNodes(ResearchNode):
    """Integrate, reflect, finish."""

    def integrate(self, state: ResearchState) -> Waiting:
        """What the round's passages say: by the integrator, or by the encoder; in tier ``recall`` without a call."""
        from hexamem.agents.integrator import embedded_outcome

        context, update, task, reading = self._read(state)
        integrator = self.parts.integrator
        if integrator is None or update["chosen"] == "recall":
            return self._integrated(context, update, reading, embedded_outcome(task), task.question)
        result = yield Request(integrator.prepare(task))
        spend(update, result)
        return self._integrated(context, update, reading, integrator.finish(result), task.question)

    def _read(self, state: ResearchState) -> tuple[ResearchContext, dict[str, Any], IntegrateTask, Reading]:
        from hexamem.agents.integrator import IntegrateTask

        context = run_context()
        update: dict[str, Any] = {
            name: state[name]
            for name in ("number", "current", "tier", "chosen", "why_tier", "round_calls", "spent")
            if name in state
        }
        question = self.question(context, state)
        seen = {one["id"] for one in state["read"]} | {
            source["step_id"] for one in state["read"] if one["kind"] == "page" for source in one["sources"]
        }
        brief = state["chosen"] == "auto" and self.parts.integrator is not None  # the model may ask for more
        passages = state.get("passages") or (_FIRST_PASSAGES if brief else _PASSAGES)
        filters = EvidenceFilter.of(state["filters"])
        recalled, failed = self._recalled(context, state, question, filters)
        with self.parts.ledger.read(context.user) as tx:
            reading = (
                read_round(
                    tx,
                    question,
                    state.get("found") or (),
                    state["pool"],
                    seen,
                    number=state["number"],
                    passages=passages,
                    filters=filters,
                    recalled=recalled.ids,
                )
                if tx.user_id
                else Reading()
            )
        fresh = passages_in(reading.fresh)
        earlier = passages_in(state["read"])
        task = IntegrateTask(
            question=question,
            fresh=fresh,
            passages=(*earlier, *fresh),
            claims=claims_in(state),
            answer=state["answer"],
            answerable=state["answerable"],
            reason=state.get("reason") or "",
            number=state["number"],
            now=datetime.fromisoformat(state["now"]),
            zone=self.zone(context),
            tokens=_FIRST_TOKENS if brief else _PROMPT_TOKENS,
            count=count_tokens,
            parts=reading.parts,
            encode=self.parts.encode,
            read=self.read_sentences(context, state),
            needs=_parts_of(state),
            asked=tuple(state["asked"]),
            budget=self.budget(context, state),
            usage=context.usage,
            held=recalled.answerable if state["number"] == 1 else state.get("held"),
        )
        update["held"] = task.held
        if state["chosen"] == "auto" and self.parts.integrator is None:
            update["chosen"], update["why_tier"] = choose_tier(best_score(task.sentences()))
        reading.unfiltered, reading.degraded = not filters, failed
        update["read"] = [*state["read"], *reading.fresh]
        update["pool"] = reading.pool
        update["current"] = {
            **state["current"],
            "lanes": [_report(one) for one in state.get("found") or () if one["round"] == state["number"]],
            "read": [one["id"] for one in reading.fresh],
        }
        return context, update, task, reading

    def _integrated(
        self,
        context: ResearchContext,
        update: dict[str, Any],
        reading: Reading,
        outcome: Outcome,
        question: Question,
    ) -> dict[str, Any]:
        outcome = self._believed_now(context, update, reading, question, outcome)
        new = [one.model_dump(mode="json") for one in outcome.new]
        update["claims"] = [one.model_dump(mode="json") for one in outcome.claims]
        update["answer"], update["answerable"] = outcome.answer, outcome.answerable
        update["reason"] = outcome.reason
        if update["chosen"] == "auto" and outcome.tier != "model":
            update["chosen"], update["why_tier"] = "deep", "no model answered"
        elif update["chosen"] == "auto":
            update["needs"] = list(outcome.missing)
            update["current"] |= {"enough": not update["needs"], "missing": update["needs"]}
        elif update.get("tier") == "auto" and update["chosen"] != "deep" and not outcome.answerable:
            update["chosen"], update["why_tier"] = "deep", f"{update['why_tier']}, and yet they do not answer it"
        update["current"] = {
            **update["current"],
            "claims": new,
            "dropped": outcome.dropped,
            "answer": outcome.answer,
            "reason": outcome.reason,
            "settled": list(outcome.settled),
            "tiers": {**update["current"]["tiers"], "integrate": outcome.tier},
        }
        if update["chosen"] == "deep" and self._settled(context, update, reading, question, outcome):
            update["current"] |= {"enough": True, "missing": []}
        say(
            "integrate",
            context,
            update,
            read=[one["id"] for one in reading.fresh],
            claims=new,
            answer=outcome.answer,
            answerable=outcome.answerable,
            reason=outcome.reason,
            dropped=outcome.dropped,
            tier=outcome.tier,
        )
        return {**update, "degraded": [*reading.degraded, *outcome.degraded]}

    def _recalled(
        self, context: ResearchContext, state: ResearchState, question: Question, filters: EvidenceFilter
    ) -> tuple[PlainRecall, list[str]]:
        """A plain recall of the question, and lines for ``degraded``; empty if its two lanes are not both used."""
        if state["number"] > 1 or not {"vector", "keyword"}.issubset(context.settings.lanes):
            return PlainRecall(), []
        try:
            return self.parts.recalled(context.user, question.text, filters), []
        except GraphBubbleUp:
            raise
        except Exception as error:  # noqa: BLE001 - as in the lanes: the order without it answers; this becomes `degraded`
            return PlainRecall(), [
                f"read in the order of the lanes alone, a recall failed ({type(error).__name__}: {error})"
            ]

    def _settled(
        self,
        context: ResearchContext,
        update: dict[str, Any],
        reading: Reading,
        question: Question,
        outcome: Outcome,
    ) -> bool:
        """Whether a reflection by a model is unnecessary: the integrator settled every part that the planner named, no
        claim was dropped, and every fact that superseded a quoted one was read."""
        if self.parts.reflector is None or outcome.tier != "model" or not (outcome.answerable and outcome.claims):
            return False
        parts = _parts_of(update)
        if not parts or len(outcome.settled) < len(parts) or outcome.dropped:
            return False
        with self.parts.ledger.read(context.user) as tx:
            later = superseding(tx, question, outcome.claims, self.parts.encode, number=update["number"])
        read = {one["id"] for one in update["read"]}
        return all(one["id"] in read or _source_steps(one) & read for one in later)

    def _believed_now(
        self, context: ResearchContext, update: dict[str, Any], reading: Reading, question: Question, outcome: Outcome
    ) -> Outcome:
        """Add the facts that superseded quoted ones to an outcome of the embedded engine, if the research has no filter."""
        if outcome.tier != "embedded" or not outcome.answerable or not reading.unfiltered or outcome.degraded:
            return outcome
        number, zone = update["number"], self.zone(context)
        with self.parts.ledger.read(context.user) as tx:
            later = superseding(tx, question, outcome.claims, self.parts.encode, number=number)
        if not later:
            return outcome
        read = {one["id"] for one in update["read"]}
        update["read"] = [*update["read"], *(one for one in later if one["id"] not in read)]
        claims = with_superseding(outcome.claims, passages_in(later), number)
        fresh = tuple(one for one in claims if one in outcome.new or one not in outcome.claims)
        return outcome._replace(claims=claims, new=fresh, answer=joined(claims, zone))

    def after_integrate(self, state: ResearchState) -> Literal["reflect", "plan", "finish"]:
        """Only deep research reflects, and only if the question is not settled; a model in tier ``auto`` reflects itself."""
        if state["chosen"] == "auto":
            return "plan" if state["needs"] and not self.last(run_context(), state) else "finish"
        return "reflect" if state["chosen"] == "deep" and not state["current"].get("enough") else "finish"

    def reflect(self, state: ResearchState) -> Waiting:
        """Decide whether the evidence is enough: by the reflector, or by the encoder."""
        context, reflector = run_context(), self.parts.reflector
        update = {name: state[name] for name in ("current", "number", "round_calls", "spent")}
        if reflector is None:
            return self._reflected(context, update, self._embedded_reflection(context, state))
        from hexamem.agents.reflector import ReflectTask

        task = ReflectTask(
            question=self.question(context, state),
            embedded=partial(self._embedded_reflection, context, state),
            claims=claims_in(state),
            answer=state["answer"],
            answerable=state["answerable"],
            reason=state.get("reason") or "",
            number=state["number"],
            rounds=self.rounds(context, state),
            asked=searched(state),
            last=self.last(context, state),
            zone=self.zone(context),
            budget=self.budget(context, state),
            usage=context.usage,
        )
        result = yield Request(reflector.prepare(task))
        spend(update, result)
        return self._reflected(context, update, reflector.finish(result))

    def _embedded_reflection(self, context: ResearchContext, state: ResearchState) -> Reflection:
        question, asked = self.question(context, state), state["asked"]
        passages = passages_in(state["read"])
        read = self.read_sentences(context, state)
        sentences = score_sentences(question, asked, passages, self.parts.encode, read=read)
        return reflect(question, sentences, asked, answerable=state["answerable"])

    def _reflected(self, context: ResearchContext, update: dict[str, Any], reflection: Reflection) -> dict[str, Any]:
        current = update["current"]
        update["current"] = {
            **current,
            "enough": reflection.enough,
            "missing": list(reflection.missing),
            "tiers": {**current["tiers"], "reflect": reflection.tier},
        }
        update["needs"] = [] if reflection.enough else list(reflection.missing)
        say(
            "reflect", context, update, enough=reflection.enough, missing=list(reflection.missing), tier=reflection.tier
        )
        return {**update, "degraded": list(reflection.degraded)}

    def after_reflect(self, state: ResearchState) -> Literal["plan", "finish"]:
        """Another round if something is missing and the limits allow it."""
        current = state["current"]
        context = run_context()
        if current["enough"] or not state["needs"] or self.last(context, state):
            return "finish"
        return "plan"

    def finish(self, state: ResearchState) -> dict[str, Any]:
        """The outcome as a record."""
        context = run_context()
        rounds = [*state["rounds"], state["current"]]
        if state.get("form") == "pages" and state["answerable"]:
            self.parts.cut_pages(context.user)
        with self.parts.ledger.read(context.user) as tx:
            outcome = finished(
                tx,
                {**state, "rounds": rounds},
                zone=self.zone(context),
                not_held=NOT_HELD,
                filters=EvidenceFilter.of(state["filters"]),
            )
        degraded = [*dict.fromkeys(state.get("degraded") or ()), *self.reached(context, state)]
        research = {**outcome, "degraded": degraded}
        say("finish", context, state, answer=research["answer"], answerable=research["answerable"])
        return {
            "rounds": rounds,
            "answer": research["answer"],
            "context": research["context"],
            "research": research,
            "done": True,
        }


def _parts_of(state: Mapping[str, Any]) -> tuple[str, ...]:
    """The parts of the question: those that the plan names; in later rounds what was still missing."""
    current = state["current"]
    return tuple((current["plan"].get("needs") if current["number"] == 1 else current["needs"]) or ())


def _source_steps(passage: Mapping[str, Any]) -> set[str]:
    return {source["step_id"] for source in passage["sources"]}


def _report(lane: LaneResult) -> dict[str, Any]:
    ids = [record_id for ranking in lane["rankings"].values() for record_id in ranking[:_BEST]]
    return {
        "lane": lane["lane"],
        "queries": lane["queries"],
        "found": sum(map(len, lane["rankings"].values())) + len(lane["pages"]),
        "best": [*lane["pages"], *dict.fromkeys(ids)],
        "failed": lane["failed"],
        "began": lane["began"],
        "ended": lane["ended"],
    }
