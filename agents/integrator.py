"""The integrator: claims from the passages of a round, and the answer from all claims (GAM, arXiv 2511.18423, 3.2).

Each claim has a quote; a claim whose quote is not in the passage that it cites is dropped and counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
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
_MOST_NEW, _MOST_SHOWN = 16, 40  # claims
_LONGEST_CLAIM, _LONGEST_ANSWER, _LONGEST_REASON = 600, 4_000, 400  # characters
_MOST_MISSING, _LONGEST_SEARCH = 3, 200


# The prompt describes the fields of a reply, so their schema does not.


class ClaimReply(ModelReply):
    """One fact with the words that carry it."""

    text: str
    passage: str
    quote: str
    parts: list[str] = Field(default_factory=list)


class IntegrationReply(ModelReply):
    """What the passages say on the question."""

    claims: list[ClaimReply]
    reason: str
    answer: str
    answerable: bool
    missing: list[str] = Field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class IntegrateTask(ResearchTask):
    """The input of one integration.

    Attributes:
        fresh: the passages of this round, the best first.
        passages: all that were read, in the order of reading.
        answer: the answer of the earlier rounds.
        answerable: whether the earlier rounds have an answer.
        reason: the reason of the earlier rounds.
        now: when the question is asked.
        tokens: the most tokens of the passages in the prompt.
        count: text → its tokens.
        parts: page id → (step id, text) of its steps, for quotes from pages.
        encode: the encoder, for the work without a model.
        read: cache of the sentences that it has encoded.
        needs: the parts of the question: what must be known to answer it.
        held: the probability that memory contains an answer; None where it is not estimated.
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
    held: float | None = None

    def sentences(self) -> list[ScoredSentence]:
        """The sentences of all passages, scored by the encoder, best first."""
        return score_sentences(self.question, self.asked, self.passages, self.encode, self.parts, self.read)


class Outcome(NamedTuple):
    """The result of one integration.

    Attributes:
        claims: all claims so far; ``new``: those of this round.
        answer: the answer, or the text for none.
        dropped: how many claims were dropped.
        reason: the model's reason for the answer.
        settled: the parts of the question, counted from 1, that new claims settle.
        missing: searches that may find what the answer needs; none where more searches would not help.
    """

    claims: tuple[Claim, ...]
    new: tuple[Claim, ...]
    answer: str
    answerable: bool
    dropped: int
    tier: Tier
    degraded: tuple[str, ...]
    reason: str = ""
    settled: tuple[int, ...] = ()
    missing: tuple[str, ...] = ()


class ModelIntegrator(ResearchAgent[IntegrationReply]):
    """Integrates with a chat model."""

    name = AGENT
    reply = IntegrationReply

    def prepare(self, task: IntegrateTask) -> CallInput | StructuredResult[IntegrationReply]:
        """The call for a task; without new passages none, and the state of the earlier rounds is the result."""
        if not task.fresh:
            unchanged = IntegrationReply(claims=[], reason=task.reason, answer=task.answer, answerable=task.answerable)
            return StructuredResult(value=unchanged, carry=(task, {}, 0))
        text, handles, shortened = shown_passages(task.fresh, task.zone, task.tokens, task.count)
        return self._ask(
            task,
            (task, handles, shortened),
            found=shown_claims(task.claims[-_MOST_SHOWN:], task.zone),
            passages=text,
            parts="\n".join(f"N{number} {need}" for number, need in enumerate(task.needs, 1))
            or "N1 the question itself",
            today=f"{in_zone(task.now, task.zone):%a %Y-%m-%d}",
            most=_MOST_NEW,
        )

    def finish(self, result: StructuredResult[IntegrationReply]) -> Outcome:
        """The claims with valid quotes and the answer; those of the encoder where there is no reply."""
        task, handles, shortened = cast("tuple[IntegrateTask, dict[str, Passage], int]", result.carry)
        degraded = list(result.degraded)
        if shortened:
            degraded.append(
                f"{AGENT}: {shortened} passages were cut or left out, since the prompt has room for {task.tokens} tokens"
            )
        if result.value is None:
            degraded.append(f"{AGENT}: the embedded engine did the work")
            return embedded_outcome(task, tuple(degraded))
        reply = result.value
        new: list[Claim] = []
        settled: set[int] = set()
        dropped = 0
        for claim_reply in reply.claims:
            claim = self._claim(claim_reply, handles, task)
            if claim is None or len(new) >= _MOST_NEW:
                dropped += 1
                continue
            settled.update(_numbers(claim_reply.parts, len(task.needs)))
            if all(claim.text != known.text for known in (*task.claims, *new)):
                new.append(claim)
        if dropped:
            degraded.append(
                f"{AGENT}: {dropped} of {len(reply.claims)} claims were dropped, since their quotes are not in what they cite"
            )
        claims = (*task.claims, *new)
        answer = self._prompt.restore(reply.answer).strip()[:_LONGEST_ANSWER]
        answerable = reply.answerable and bool(answer) and bool(claims)
        if reply.answerable and answer and not claims:
            degraded.append(f"{AGENT}: the answer was dropped, since no claim with a quote supports it")
        if not answerable and task.answerable and task.fresh:  # the earlier answer remains
            answer, answerable = task.answer, True
        reason = " ".join(self._prompt.restore(reply.reason).split())[:_LONGEST_REASON]
        return Outcome(
            claims,
            tuple(new),
            answer if answerable else NOT_HELD,
            answerable,
            dropped,
            "model",
            tuple(degraded),
            reason,
            tuple(sorted(settled)),
            tuple(self._missing(reply)),
        )

    def _missing(self, reply: IntegrationReply) -> Iterator[str]:
        for search in reply.missing[:_MOST_MISSING]:
            if text := " ".join(self._prompt.restore(search).split())[:_LONGEST_SEARCH]:
                yield text

    def _claim(self, reply: ClaimReply, handles: dict[str, Passage], task: IntegrateTask) -> Claim | None:
        """The claim with its quote in the spelling of the passage; None where the quote is not in it."""
        passage = handles.get(reply.passage.strip().strip("[]()").upper())
        quote = self._prompt.restore(reply.quote).strip()
        text = " ".join(self._prompt.restore(reply.text).split())[:_LONGEST_CLAIM]
        if passage is None or not text or not any(map(str.isalnum, quote)):
            return None
        parts = task.parts.get(passage.id) or ((passage.sources[0].step_id if passage.sources else "", passage.text),)
        for step_id, part in parts:
            span = find_quote(quote, part)
            if span is not None:
                return Claim(
                    text=text,
                    quote=part[span[0] : span[1]],
                    passage_id=passage.id,
                    step_ids=(step_id,) if step_id else (),
                    speaker=passage.speaker,
                    occurred_at=passage.occurred_at,
                    precision=passage.precision,
                    round=task.number,
                )
        return None


def _numbers(handles: Sequence[str], most: int) -> set[int]:
    """The numbers in handles such as "N2", from 1 to ``most``."""
    numbers = {handle.strip().strip("[]()").upper().removeprefix("N") for handle in handles}
    return {int(number) for number in numbers if number.isdecimal() and 1 <= int(number) <= most}


def embedded_outcome(task: IntegrateTask, degraded: tuple[str, ...] = ()) -> Outcome:
    """The sentences that the encoder extracts from all passages, together with earlier claims of a model.

    Args:
        degraded: why a model did not integrate.
    """
    extracted = extract(task.sentences(), task.zone, task.number, held=task.held)
    of_model = tuple(claim for claim in task.claims if claim.text != claim.quote) if degraded else ()
    known = {claim.quote for claim in task.claims}
    new = tuple(claim for claim in extracted.claims if claim.quote not in known)
    if of_model and task.answerable:
        return Outcome((*of_model, *new), new, task.answer, True, 0, "embedded", degraded)
    claims = (*of_model, *extracted.claims)
    return Outcome(claims, new, extracted.answer, extracted.answerable, 0, "embedded", degraded)
