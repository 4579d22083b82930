"""The nodes that end a round: integration of what was found, reflection on it, and the outcome."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, cast

from .. import lazy_re as re
from ..agents.research_rules.integrating import NOT_HELD, joined
from ..agents.research_rules.question import Question
from ..agents.research_rules.reflecting import asks_one_thing, coverage, may_hold_more, reflect_by_rules
from ..memory_types.research import Passage, Reflection
from ..models.tokens import count_tokens
from .research_filter import EvidenceFilter
from .research_outcome import finished
from .research_overtaken import overtaking, with_overtaking
from .research_parts import ResearchNode, claims_in, run_context, say, searched, spend
from .research_reading import Reading, read_round
from .research_state import LaneFound, ResearchContext, ResearchState

if TYPE_CHECKING:
    from ..agents.integrator import IntegrateTask, Outcome
    from ..models import StructuredResult

__all__ = ["EvidenceNodes", "choose_tier"]

_TOLD_HITS = 10
_SURE_MARGIN, _LIKELY = 1.3, 0.75
_HEDGED = re.compile(
    r"\b(?:likely|probably|possibly|perhaps|maybe|might|at least|unclear|unsure|or)\b|可能|大概|也许|至少|或者?",
    re.IGNORECASE,
)
_ASKS_HOW = re.compile(
    r"^\s*(?:why\b|how\b(?! (?:many|much|old|far|tall|often|long)\b))|为什么|怎么|如何", re.IGNORECASE
)


class EvidenceNodes(ResearchNode):
    """Integrate, reflect, finish."""

    def integrate(self, state: ResearchState) -> dict[str, Any]:
        """What the round's passages say, by rules."""
        from ..agents.integrator import from_rules

        context, update, task, reading = self._read(state)
        return self._integrated(context, update, reading, from_rules(task), task.question)

    def integrate_prepare(self, state: ResearchState) -> Any:
        """The integrator's call; none where recall alone is sure."""
        from ..models import StructuredResult

        _, update, task, reading = self._read(state)
        integrator = self.parts.integrator
        assert integrator is not None
        if update["chosen"] == "recall":
            return StructuredResult(value=None, carry=(update, reading, task, None))
        call = integrator.prepare(task)
        return replace(call, carry=(update, reading, task, call.carry))

    def integrate_finish(self, result: StructuredResult[Any]) -> dict[str, Any]:
        """What the call led to."""
        from ..agents.integrator import from_rules

        carry = cast("tuple[dict[str, Any], Reading, IntegrateTask, object]", result.carry)
        update, reading, task, carried = carry
        integrator = self.parts.integrator
        assert integrator is not None
        outcome = from_rules(task) if carried is None else integrator.finish(replace(result, carry=carried))
        spend(update, result)
        return self._integrated(run_context(), update, reading, outcome, task.question)

    def _read(self, state: ResearchState) -> tuple[ResearchContext, dict[str, Any], IntegrateTask, Reading]:
        from ..agents.integrator import IntegrateTask

        context = run_context()
        settings = self.settings(context)
        update: dict[str, Any] = {
            name: state[name]
            for name in ("number", "current", "tier", "chosen", "why_tier", "round_calls", "spent")
            if name in state
        }
        question = self.question(context, state)
        seen = {one["id"] for one in state["read"]} | {
            source["step_id"] for one in state["read"] if one["kind"] == "page" for source in one["sources"]
        }
        passages = state.get("passages") or settings.passages
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
                    self.parts.embedder,
                    settings,
                    number=state["number"],
                    passages=passages,
                    filters=filters,
                    recalled=recalled,
                    bags=self.parts.bags,
                    speakers=self.parts.spoke,
                    worths=self.parts.worths,
                )
                if tx.user_id
                else Reading()
            )
        fresh = self.passages(context, reading.fresh)
        earlier = self.passages(context, state["read"])
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
            tokens=settings.prompt_tokens,
            count=count_tokens,
            parts=reading.parts,
            needs=_parts_of(state),
            budget=self.budget(context, state),
            usage=context.usage,
            reader=self.reader(context),
        )
        if state["chosen"] == "auto":
            update["chosen"], update["why_tier"] = choose_tier(question, fresh)
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
        if update.get("tier") == "auto" and update["chosen"] != "deep" and not outcome.answerable:
            told = update["why_tier"]
            update["chosen"], update["why_tier"] = "deep", f"{told}, and yet they do not answer it"
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
    ) -> tuple[Sequence[str], list[str]]:
        """What a plain recall finds for the question, and what went amiss; nothing where lanes were chosen without its own two."""
        if state["number"] > 1 or not {"vector", "keyword"}.issubset(self.settings(context).lanes):
            return (), []
        try:
            return self.parts.recalled(context.user, question.text, filters), []
        except Exception as error:  # noqa: BLE001 - as in the lanes: the order without it answers; this becomes `degraded`
            return (), [f"read in the order of the lanes alone, a recall failed ({type(error).__name__}: {error})"]

    def _settled(
        self,
        context: ResearchContext,
        update: dict[str, Any],
        reading: Reading,
        question: Question,
        outcome: Outcome,
    ) -> bool:
        """Whether a reflection could only cost: a model read the answer to a single question, and quotes what carries it;
        or it did so for every part of the question, and nothing stands against that.

        Against it stand a question whose answer may hold more than was found, a doubt in the answer, a claim whose quote
        does not stand where it should, and what memory learned in place of what is quoted, if nobody read that.
        The rules' reflection costs no call, and is never left out.
        """
        if self.parts.reflector is None or outcome.tier != "model" or not (outcome.answerable and outcome.claims):
            return False
        parts = _parts_of(update)
        if asks_one_thing(question):
            return bool(outcome.settled) or not parts
        if len(parts) < max(1, len(question.parts)) or len(outcome.settled) < len(parts):
            return False
        if outcome.dropped or may_hold_more(question) or _HEDGED.search(outcome.answer):
            return False
        with self.parts.ledger.read(context.user) as tx:
            later = overtaking(tx, question, outcome.claims, self.reader(context), number=update["number"])
        read = {one["id"] for one in update["read"]}
        return all(one["id"] in read or _came_from(one) & read for one in later)

    def _believed_now(
        self, context: ResearchContext, update: dict[str, Any], reading: Reading, question: Question, outcome: Outcome
    ) -> Outcome:
        """An outcome of the rules with what took the place of what it tells; of a narrowed reading as it is."""
        if outcome.tier != "rules" or not outcome.answerable or not reading.unfiltered or outcome.degraded:
            return outcome
        number, zone = update["number"], self.zone(context)
        with self.parts.ledger.read(context.user) as tx:
            later = overtaking(tx, question, outcome.claims, self.reader(context), number=number)
        if not later:
            return outcome
        read = {one["id"] for one in update["read"]}
        update["read"] = [*update["read"], *(one for one in later if one["id"] not in read)]
        claims = with_overtaking(outcome.claims, self.passages(context, later), zone, number)
        fresh = tuple(one for one in claims if one in outcome.new or one not in outcome.claims)
        return outcome._replace(claims=claims, new=fresh, answer=joined(claims, zone))

    def after_integrate(self, state: ResearchState) -> Literal["reflect", "finish"]:
        """Only deep research reflects, where the question is not settled."""
        return "reflect" if state["chosen"] == "deep" and not state["current"].get("enough") else "finish"

    def reflect(self, state: ResearchState) -> dict[str, Any]:
        """Enough or not, by rules."""
        context = run_context()
        passages = self.passages(context, state["read"])
        reflection = reflect_by_rules(
            self.question(context, state),
            passages,
            state["asked"],
            answerable=state["answerable"],
            last=self.last(context, state),
            reader=self.reader(context),
        )
        return self._reflected(context, {"current": state["current"], "number": state["number"]}, reflection)

    def reflect_prepare(self, state: ResearchState) -> Any:
        """The reflector's call."""
        from ..agents.reflector import ReflectTask

        context = run_context()
        reflector = self.parts.reflector
        assert reflector is not None
        task = ReflectTask(
            question=self.question(context, state),
            passages=self.passages(context, state["read"]),
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
        update = {name: state[name] for name in ("current", "number", "round_calls", "spent")}
        call = reflector.prepare(task)
        return replace(call, carry=(update, call.carry))

    def reflect_finish(self, result: StructuredResult[Any]) -> dict[str, Any]:
        """What the call led to."""
        update, carried = cast("tuple[dict[str, Any], object]", result.carry)
        reflector = self.parts.reflector
        assert reflector is not None
        reflection = reflector.finish(replace(result, carry=carried))
        spend(update, result)
        return self._reflected(run_context(), update, reflection)

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
        """Another round while something is missing and there is room for it."""
        current = state["current"]
        context = run_context()
        if current["enough"] or not state["needs"] or self.last(context, state):
            return "finish"
        return "plan"

    def finish(self, state: ResearchState) -> dict[str, Any]:
        """The outcome as a record."""
        context = run_context()
        settings = self.settings(context)
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
        degraded = list(dict.fromkeys(state.get("degraded") or ()))
        spent = state["spent"]
        for name, limit in (("calls", settings.calls), ("tokens", settings.tokens)):
            if limit is not None and spent.get(name, 0) >= limit:
                degraded.append(f"research: the limit of {limit:,} {name} was reached")
        if settings.seconds is not None and time.time() - state["began"] >= settings.seconds:
            degraded.append(f"research: the limit of {settings.seconds:g} seconds was reached")
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
    """What must be known to answer: as the plan takes the question apart; in later rounds what was still missing."""
    current = state["current"]
    return tuple((current["plan"].get("needs") if current["number"] == 1 else current["needs"]) or ())


def _came_from(passage: Mapping[str, Any]) -> set[str]:
    return {source["step_id"] for source in passage["sources"]}


def _report(one: LaneFound) -> dict[str, Any]:
    ids = [each for ranking in one["rankings"].values() for each in ranking[:_TOLD_HITS]]
    return {
        "lane": one["lane"],
        "queries": one["queries"],
        "found": sum(map(len, one["rankings"].values())) + len(one["pages"]),
        "best": [*one["pages"], *dict.fromkeys(ids)],
        "failed": one["failed"],
        "began": one["began"],
        "ended": one["ended"],
    }


def choose_tier(question: Question, passages: Sequence[Passage]) -> tuple[str, str]:
    """How deep to go, by how sure the first search is: there is no learned probability yet.

    Sure is where one of the best three, of whom the question asks about, holds all its words, and the best stands
    clearly before the fifth; one call does where the best three hold most of them, and for how and why, whose answers seldom
    share the question's words. Questions in parts or for lists are always researched, and so is what was thought sure and
    turned out not to be answered.
    """
    if question.many or question.parts:
        return "deep", "the question asks for several things"
    theirs = [
        one for one in passages[:3] if not question.speakers or (one.speaker or "").casefold() in question.speakers
    ]
    margin = passages[0].score / passages[4].score if len(passages) > 4 and passages[4].score > 0 else 1.0
    sure = margin >= _SURE_MARGIN and not question.judges and not _ASKS_HOW.search(question.text)
    if sure and any(coverage(question, [one])[0] == 1.0 for one in theirs):
        return (
            "recall",
            f"one passage holds all words of the question, and the best is {margin:.1f} times as good as the fifth",
        )
    share = coverage(question, passages[:3])[0]
    if share >= _LIKELY:
        return "one_shot", f"the best passages hold {share:.0%} of the question's words"
    return "deep", f"the best passages hold {share:.0%} of the question's words"
