"""The reflector: whether the evidence is enough, and what is missing as new requests (GAM, arXiv 2511.18423, section 3.2)."""

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
_MOST, _CLAIMS, _NEED, _ASKED = 6, 60, 300, 40


class ReflectionReply(ModelReply):
    """Whether what was found is enough, and what is not there yet."""

    enough: bool = Field(description="Whether the question is answered, or cannot be from this memory.")
    missing: list[str] = Field(description="What is still to be looked for, each a request of its own.")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReflectTask(ResearchTask):
    """What is to be judged.

    Attributes:
        reason: what the reader says of the answer.
        rounds: how many there may be.
        last: whether no round follows.
        embedded: the reflection without a model.
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
        """The call that a task needs."""
        return self._ask(
            task,
            task,
            found=shown_claims(task.claims[-_CLAIMS:], task.zone, task.answer if task.answerable else ""),
            reason=task.reason or "nothing",
            asked=listed((ITSELF, *task.asked[-_ASKED:])),
            most=_MOST,
            round=task.number,
            rounds=task.rounds,
            left=_left(task),
        )

    def finish(self, result: StructuredResult[ReflectionReply]) -> Reflection:
        """The reflection; that of the encoder where the model brings nothing."""
        task = cast("ReflectTask", result.carry)
        if result.value is None:
            found = task.embedded()
            told = (*result.degraded, f"{AGENT}: the embedded engine did the work")
            return found.model_copy(update={"degraded": told})
        reply = result.value
        missing = _needs(reply.missing, task.asked)
        notes = list(result.degraded)
        if len(reply.missing) > _MOST:
            notes.append(f"{AGENT}: {len(reply.missing) - _MOST} requests beyond {_MOST} were left out")
        enough = reply.enough
        if not enough and not missing and not task.last:
            missing = task.embedded().missing
            notes.append(
                f"{AGENT}: not enough, and nothing new to look for; the embedded engine asked for what is missing"
            )
        return Reflection(enough=enough, missing=() if enough else missing[:_MOST], tier="model", degraded=tuple(notes))


def _left(task: ReflectTask) -> str:
    """How many rounds are left, in words."""
    left = 0 if task.last else max(1, task.rounds - task.number)
    return "none is" if not left else "one is" if left == 1 else f"{left} are"


def _needs(given: Sequence[str], asked: Sequence[str]) -> tuple[str, ...]:
    """The requests that say something, each once, none that was made before."""
    known = {one.casefold() for one in asked}
    found: dict[str, str] = {}
    for one in given:
        text = " ".join(one.split())[:_NEED]
        if text and text.casefold() not in known:
            found.setdefault(text.casefold(), text)
    return tuple(found.values())
