"""What an acting agent leaves behind: runs, their steps and outcomes, and the experience distilled from them.

Sources: ReasoningBank (arXiv 2509.25140, section 3) for the items, CFGM (arXiv 2508.15305) for tips and facets.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from hexamem.memory_types.base import FilledText, Record, UtcTime, new_id, utc_now

__all__ = [
    "Advice",
    "AdvicePart",
    "Experience",
    "ExperienceStats",
    "Facet",
    "Origin",
    "Outcome",
    "OutcomeSource",
    "Run",
    "RunDigest",
    "RunReceipt",
    "RunStep",
]

Facet = Literal["tool", "environment", "observation"]
"""What an experience is about: how a tool or its arguments behave; how tools are combined here; what a result or an
error means and what to do next."""
Origin = Literal["success", "failure", "contrast", "success_only", "focus"]
OutcomeSource = Literal["environment", "test", "user", "judge"]


class Outcome(Record):
    """Whether a run did its task, who says so, and how sure that is.

    Attributes:
        label: whether the task was done. A judge that is unsure says False.
        confidence: from 0 to 1; 1 where the environment, a test or a person said so.
        reason: why, in a sentence.
    """

    label: bool
    source: OutcomeSource = "environment"
    confidence: float = Field(default=1.0, ge=0.0, le=1.0)
    reason: str = ""


class RunStep(Record):
    """One turn of an acting agent: what it thought and did, and what came back."""

    run_id: FilledText
    position: int = Field(ge=0)
    thought: str = ""
    action: str = ""
    observation: str = ""
    error: str | None = None
    occurred_at: UtcTime = Field(default_factory=utc_now)


class Run(Record):
    """An attempt at a task.

    Attributes:
        environment: where it acted; "" where nothing was said. Experience is learned and recalled within it.
        status: "unfinished" until the agent said that it is through; so stays a run whose process was killed.
        outcome: None until somebody has said, or a judge has judged.
        evidence: what the outcome rests on: a reward, the output of a test, the words of the user.
        shown: ids of the experience (and of earlier runs, for their digests) that the run was given.
        distilled: whether a model has made experience of it.
    """

    id: str = Field(default_factory=lambda: new_id("run"))
    user: FilledText
    task: FilledText
    environment: str = ""
    status: Literal["finished", "unfinished"] = "unfinished"
    outcome: Outcome | None = None
    evidence: str = ""
    shown: tuple[str, ...] = ()
    distilled: bool = False
    started_at: UtcTime = Field(default_factory=utc_now)
    finished_at: UtcTime | None = None
    metadata: dict[str, Any] = Field(default_factory=dict)


class RunDigest(Record):
    """A run in a few lines, made without a model: it stands in for experience until a model has distilled some.

    Attributes:
        actions: what was done, in order, each once.
        first_error: the first error that came back; "" if none did.
        steps: how many turns it took.
    """

    run_id: FilledText
    task: FilledText
    environment: str = ""
    outcome: bool | None = None
    actions: tuple[str, ...] = ()
    first_error: str = ""
    steps: int = Field(default=0, ge=0)


class RunReceipt(Record):
    """What became of a run that was finished.

    Attributes:
        distilling: why no experience is made of it yet, where something keeps that from happening; "" where it is queued.
    """

    run: Run
    digest: RunDigest
    distilling: str = ""


class Experience(Record):
    """A strategy or tip learned from runs: when to use it and when not, and what it says.

    It is kept as a procedural item of the same id, so that ``history``, ``undo``, ``redact`` and ``export`` reach it.

    Attributes:
        environment: where it holds; "" once a person promoted it: everywhere.
        run_ids: the runs that it was learned from.
        retrieved, helped, hurt: how many runs were given it, and how many of those did their task or failed.
        status: what is retired is not recalled any more; ``undo`` brings it back.
    """

    id: str = Field(default_factory=lambda: new_id("experience"))
    user: FilledText
    environment: str = ""
    title: FilledText
    description: FilledText
    content: FilledText
    facet: Facet = "environment"
    origin: Origin
    run_ids: tuple[str, ...] = ()
    retrieved: int = Field(default=0, ge=0)
    helped: int = Field(default=0, ge=0)
    hurt: int = Field(default=0, ge=0)
    status: Literal["active", "retired"] = "active"
    created_at: UtcTime = Field(default_factory=utc_now)


class AdvicePart(Record):
    """One thing that was recalled for a task.

    Attributes:
        id: of the experience; of the run, for a digest or a trajectory.
        kind: an item that a model distilled, the digest of a run, or an abridged run.
        score: how near it is to the task, from 0 to 1.
        text: as it stands in the advice.
    """

    id: FilledText
    kind: Literal["item", "digest", "trajectory"]
    run_id: str = ""
    score: float = Field(ge=0.0, le=1.0)
    text: str


class Advice(Record):
    """What earlier runs have to say about a task. Empty where nothing near enough was found: its ``text`` is "" then.

    Attributes:
        parts: in the order shown.
        text: all of it for a prompt, fenced off as material that does not instruct.
        tokens: how many tokens the parts have, by estimate.
        degraded: what could not be done as asked.
    """

    parts: tuple[AdvicePart, ...] = ()
    text: str = ""
    tokens: int = Field(default=0, ge=0)
    degraded: tuple[str, ...] = ()

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of the parts, each once."""
        return tuple(dict.fromkeys(part.id for part in self.parts))


class ExperienceStats(Record):
    """What is there to learn from and what was learned, of one environment or all.

    Attributes:
        runs, unfinished, succeeded, failed, unjudged: runs in all, and by how they ended.
        undistilled: finished runs of which no experience was made yet.
        active, retired: experience by status.
        with_advice, without_advice: (succeeded, judged) among the runs that were given something, and the others.
        waiting: why distilling waits; "" where it does not.
    """

    environment: str | None = None
    runs: int = 0
    unfinished: int = 0
    succeeded: int = 0
    failed: int = 0
    unjudged: int = 0
    undistilled: int = 0
    active: int = 0
    retired: int = 0
    with_advice: tuple[int, int] = (0, 0)
    without_advice: tuple[int, int] = (0, 0)
    waiting: str = ""
