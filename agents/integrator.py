"""The integrator: what the passages of a round say on the question, each claim with its quote (GAM, arXiv 2511.18423, 3.2).

Nothing is believed of a claim but its quote: one that does not stand in the passage it cites is dropped and counted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple, cast

from pydantic import Field

from hexamem.agents.applying.evidence import find_quote
from hexamem.agents.embedded_research import NOT_HELD, Encode, ReadSentences, ScoredSentence, extract, score_sentences
from hexamem.agents.research_agent import ResearchAgent, ResearchTask
from hexamem.agents.research_showing import shown_claims, shown_passages
from hexamem.memory_types.labels import Tier
from hexamem.memory_types.local_time import in_zone
from hexamem.memory_types.research import Claim, Passage
from hexamem.models import CallInput, ModelReply, StructuredResult

__all__ = ["ClaimReply", "IntegrateTask", "IntegrationReply", "ModelIntegrator", "Outcome", "embedded_outcome"]

AGENT = "integrator"
_MOST, _CLAIMS, _TEXT, _ANSWER, _REASON = 16, 40, 600, 4_000, 400


class ClaimReply(ModelReply):
    """One fact with the words that carry it."""

    text: str = Field(description="The fact, as one sentence that can be read alone.")
    passage: str = Field(description="The handle of the passage that says it, such as P3.")
    quote: str = Field(description="Words of that passage, copied exactly.")
    parts: list[str] = Field(default_factory=list, description="Handles of the parts that it settles, such as N1.")


class IntegrationReply(ModelReply):
    """What the passages say on the question."""

    claims: list[ClaimReply] = Field(description="New facts.")
    reason: str = Field(description="What the answer rests on, or what it lacks, in one sentence.")
    answer: str = Field(description="The answer from all claims, or empty.")
    answerable: bool = Field(description="Whether passages and claims hold the answer.")


@dataclass(frozen=True, slots=True, kw_only=True)
class IntegrateTask(ResearchTask):
    """What is to be integrated.

    Attributes:
        fresh: passages of this round, the best first. passages: all that were read, in the order of reading.
        parts: page id → (step id, text) of its steps, for quotes of whole pages.
        needs: the parts of the question: what must be known to answer it.
        answer, reason: as they stood after earlier rounds.
        tokens: what the passages may take in the prompt.
        encode: the encoder, for the work without a model.
        read: sentences of passages that it encoded for this question before.
    """

    fresh: tuple[Passage, ...]
    passages: tuple[Passage, ...]
    answer: str
    answerable: bool
    reason: str
    now: datetime
    tokens: int
    count: Callable[[str], int]
    parts: dict[str, tuple[tuple[str, str], ...]]
    encode: Encode
    read: ReadSentences = field(default_factory=dict)
    needs: tuple[str, ...] = ()

    def sentences(self) -> list[ScoredSentence]:
        """The sentences of all passages, scored by the encoder, best first."""
        return score_sentences(self.question, self.asked, self.passages, self.encode, self.parts, self.read)


class Outcome(NamedTuple):
    """What a round's integration led to: all claims so far, those that are new, the answer, what was dropped, why, and which
    parts of the question, counted from 1, claims settle whose quotes hold."""

    claims: tuple[Claim, ...]
    new: tuple[Claim, ...]
    answer: str
    answerable: bool
    dropped: int
    tier: Tier
    degraded: tuple[str, ...]
    reason: str = ""
    settled: tuple[int, ...] = ()


class ModelIntegrator(ResearchAgent[IntegrationReply]):
    """Integrates with a chat model."""

    name = AGENT
    reply = IntegrationReply

    def prepare(self, task: IntegrateTask) -> CallInput | StructuredResult[IntegrationReply]:
        """The call that a task needs; with nothing new to read there is none, and all stays as it was."""
        if not task.fresh:
            kept = IntegrationReply(claims=[], reason=task.reason, answer=task.answer, answerable=task.answerable)
            return StructuredResult(value=kept, carry=(task, {}, 0))
        text, handles, short = shown_passages(task.fresh, task.zone, task.tokens, task.count)
        return self._ask(
            task,
            (task, handles, short),
            found=shown_claims(task.claims[-_CLAIMS:], task.zone),
            passages=text,
            parts="\n".join(f"N{number} {need}" for number, need in enumerate(task.needs, 1)) or "the question itself",
            today=f"{in_zone(task.now, task.zone):%a %Y-%m-%d}",
            most=_MOST,
        )

    def finish(self, result: StructuredResult[IntegrationReply]) -> Outcome:
        """The claims that hold, and the answer on them; those of the encoder where the model brings nothing."""
        task, handles, short = cast("tuple[IntegrateTask, dict[str, Passage], int]", result.carry)
        told = list(result.degraded)
        if short:
            told.append(
                f"{AGENT}: {short} passages were cut or left out, since the prompt has room for {task.tokens} tokens"
            )
        if result.value is None:
            told.append(f"{AGENT}: the embedded engine did the work")
            return embedded_outcome(task, tuple(told))
        reply = result.value
        new: list[Claim] = []
        settled: set[int] = set()
        dropped = 0
        for one in reply.claims:
            claim = self._claim(one, handles, task)
            if claim is None or len(new) >= _MOST:
                dropped += 1
                continue
            settled.update(_numbers(one.parts, len(task.needs)))
            if all(claim.text != known.text for known in (*task.claims, *new)):
                new.append(claim)
        if dropped:
            told.append(
                f"{AGENT}: {dropped} of {len(reply.claims)} claims were dropped, since their quotes do not stand in what they cite"
            )
        claims = (*task.claims, *new)
        answer = self._prompt.restore(reply.answer).strip()[:_ANSWER]
        answerable = reply.answerable and bool(answer) and bool(claims)
        if reply.answerable and answer and not claims:
            told.append(f"{AGENT}: the answer was dropped, since no claim with a quote carries it")
        if not answerable and task.answerable and task.fresh:  # what was found before stands
            answer, answerable = task.answer, True
        shown = answer if answerable else NOT_HELD
        reason = " ".join(self._prompt.restore(reply.reason).split())[:_REASON]
        return Outcome(
            claims, tuple(new), shown, answerable, dropped, "model", tuple(told), reason, tuple(sorted(settled))
        )

    def _claim(self, one: ClaimReply, handles: dict[str, Passage], task: IntegrateTask) -> Claim | None:
        """The claim with its quote as it stands in the passage; None where it does not."""
        passage = handles.get(one.passage.strip().strip("[]()").upper())
        quote = self._prompt.restore(one.quote).strip()
        text = " ".join(self._prompt.restore(one.text).split())[:_TEXT]
        if passage is None or not text or not any(map(str.isalnum, quote)):
            return None
        parts = task.parts.get(passage.id) or ((passage.sources[0].step_id if passage.sources else "", passage.text),)
        for step_id, said in parts:
            place = find_quote(quote, said)
            if place is not None:
                return Claim(
                    text=text,
                    quote=said[place[0] : place[1]],
                    passage_id=passage.id,
                    step_ids=(step_id,) if step_id else (),
                    speaker=passage.speaker,
                    occurred_at=passage.occurred_at,
                    round=task.number,
                )
        return None


def _numbers(handles: Sequence[str], most: int) -> set[int]:
    """The parts that handles such as "N2" stand for, of so many."""
    found = {one.strip().strip("[]()").upper().removeprefix("N") for one in handles}
    return {int(one) for one in found if one.isdecimal() and 1 <= int(one) <= most}


def embedded_outcome(task: IntegrateTask, degraded: tuple[str, ...] = ()) -> Outcome:
    """The sentences that the encoder extracts from everything that was read; earlier claims of a model stay.

    Args:
        degraded: why a model did not do it.
    """
    extracted = extract(task.sentences(), task.zone, task.number)
    of_model = tuple(one for one in task.claims if one.text != one.quote) if degraded else ()
    known = {one.quote for one in task.claims}
    new = tuple(one for one in extracted.claims if one.quote not in known)
    if of_model and task.answerable:
        return Outcome((*of_model, *new), new, task.answer, True, 0, "embedded", degraded)
    claims = (*of_model, *extracted.claims)
    return Outcome(claims, new, extracted.answer, extracted.answerable, 0, "embedded", degraded)
