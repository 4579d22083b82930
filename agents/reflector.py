"""The reflector: whether the evidence is enough, otherwise new search requests (GAM, arXiv 2511.18423, section 3.2)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import cast

from pydantic import Field

from hexamem.agents.research_agent import ResearchAgent, ResearchTask
from hexamem.agents.research_showing import ITSELF, listed, shown_claims
from hexamem.memory_types.research import Reflection
from hexamem.models import CallInput, ModelReply, StructuredResult

__all__ = ["ModelReflector", "ReflectTask", "ReflectionReply"]

AGENT = "reflector"
_MOST_REQUESTS, _LONGEST_REQUEST = 6, 300  # characters of each
_MOST_CLAIMS, _MOST_ASKED = 60, 40  # in the prompt


class ReflectionReply(ModelReply):
    """Whether what was found is enough, and what is not there yet."""

    enough: bool = Field(description="Whether the question is answered, or cannot be from this memory.")
    missing: list[str] = Field(description="What is still to be looked for, each a request of its own.")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReflectTask(ResearchTask):
    """The input of one reflection.

    Attributes:
        embedded: makes the reflection without a model.
        answer: the answer so far.
        answerable: whether there is an answer.
        reason: the integrator's reason for it.
        rounds: the most rounds.
        last: whether this is the last round.
    """

    embedded: Callable[[], Reflection]
    answer: str
    answerable: bool
    reason: str
    rounds: int
    last: bool


class ModelReflector(ResearchAgent[ReflectionReply]):
    """Reflects with a chat model."""

    name = AGENT
    reply = ReflectionReply

    def prepare(self, task: ReflectTask) -> CallInput:
        """The call for a task."""
        return self._ask(
            task,
            task,
            found=shown_claims(task.claims[-_MOST_CLAIMS:], task.zone, task.answer if task.answerable else ""),
            reason=task.reason or "nothing",
            asked=listed((ITSELF, *task.asked[-_MOST_ASKED:])),
            most=_MOST_REQUESTS,
            round=task.number,
            rounds=task.rounds,
            left=_left(task),
        )

    def finish(self, result: StructuredResult[ReflectionReply]) -> Reflection:
        """The reflection; that of the encoder where there is no reply."""
        task = cast("ReflectTask", result.carry)
        if result.value is None:
            degraded = (*result.degraded, f"{AGENT}: the embedded engine did the work")
            return task.embedded().model_copy(update={"degraded": degraded})
        reply = result.value
        missing = _new_requests(reply.missing, task.asked)
        notes = list(result.degraded)
        if len(reply.missing) > _MOST_REQUESTS:
            notes.append(
                f"{AGENT}: {len(reply.missing) - _MOST_REQUESTS} requests beyond {_MOST_REQUESTS} were left out"
            )
        enough = reply.enough
        if not enough and not missing and not task.last:
            missing = task.embedded().missing
            notes.append(
                f"{AGENT}: not enough, and nothing new to look for; the embedded engine asked for what is missing"
            )
        return Reflection(
            enough=enough, missing=() if enough else missing[:_MOST_REQUESTS], tier="model", degraded=tuple(notes)
        )


def _left(task: ReflectTask) -> str:
    """How many rounds are left, as the prompt says it."""
    left = 0 if task.last else max(1, task.rounds - task.number)
    return "none is" if not left else "one is" if left == 1 else f"{left} are"


def _new_requests(requests: Sequence[str], asked: Sequence[str]) -> tuple[str, ...]:
    """The requests that are not empty, each once, without those of earlier rounds."""
    known = {query.casefold() for query in asked}
    new: dict[str, str] = {}
    for request in requests:
        text = " ".join(request.split())[:_LONGEST_REQUEST]
        if text and text.casefold() not in known:
            new.setdefault(text.casefold(), text)
    return tuple(new.values())
