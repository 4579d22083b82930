"""The records of acting agents: runs, their steps and outcomes, and the experience distilled from them.

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
"""The subject of an experience: the behaviour of a tool or its arguments; how tools are combined in this environment; the
meaning of a result or error, and what to do next."""
Origin = Literal["success", "failure", "contrast", "success_only", "focus"]
OutcomeSource = Literal["environment", "test", "user", "judge"]


class Outcome(Record):
    """Whether a run succeeded.

    Attributes:
        source: who has decided.
        confidence: from 0 to 1; 1 for the environment, a test or a person.
    """

    label: bool
    source: OutcomeSource = "environment"
    confidence: float = Field(default=1.0, ge=0.0, le=1.0)
    reason: str = ""


class RunStep(Record):
    """One turn of an acting agent: thought, action, and observation or error."""

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
        environment: the name of the environment, or ""; experience is learned and recalled within one environment.
        status: "unfinished" until the agent finishes it; the run of a killed process remains unfinished.
        outcome: None until it is reported or judged.
        evidence: the evidence of the outcome: a reward, the output of a test, a message of the user.
        shown: ids of the experience, and of runs with digests, that the agent received as advice.
        distilled: whether a model has distilled experience from it.
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
    """A summary of a run, made without a model: advice until a model has distilled experience from the run.

    Attributes:
        outcome: whether it succeeded; None where that is unknown.
        actions: the distinct actions, in order.
        first_error: the first error; "" for none.
    """

    run_id: FilledText
    task: FilledText
    environment: str = ""
    outcome: bool | None = None
    actions: tuple[str, ...] = ()
    first_error: str = ""
    steps: int = Field(default=0, ge=0)


class RunReceipt(Record):
    """The result of finishing a run.

    Attributes:
        distilling: why distilling is not possible now; "" where it is queued.
    """

    run: Run
    digest: RunDigest
    distilling: str = ""


class Experience(Record):
    """A strategy or tip learned from runs.

    It is stored as a procedural item of the same id, so that ``history``, ``undo``, ``redact`` and ``export`` apply to it.

    Attributes:
        environment: the environment to which it applies; "" for all, after a person promoted it.
        description: when to use it and when not.
        retrieved: the number of runs that received it.
        helped: the number of these that succeeded.
        hurt: the number of these that failed.
        status: retired experience is not recalled; ``undo`` restores it.
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
    """One part of an advice.

    Attributes:
        id: the id of the experience, or of the run for a digest or a trajectory.
        kind: distilled experience, the digest of a run, or an abridged run.
        score: the similarity to the task, from 0 to 1.
    """

    id: FilledText
    kind: Literal["item", "digest", "trajectory"]
    run_id: str = ""
    score: float = Field(ge=0.0, le=1.0)
    text: str


class Advice(Record):
    """Advice for a task from earlier runs; empty, with ``text`` "", where nothing is similar enough.

    Attributes:
        parts: the parts, in the order of the text.
        text: all parts for a prompt, fenced as data that is not an instruction.
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
    """The numbers of runs and experience of one environment, or of all.

    Attributes:
        runs: all runs; ``unfinished``, ``succeeded``, ``failed`` and ``unjudged`` are those by outcome.
        undistilled: finished runs that are not distilled yet.
        active: active experience; ``retired``: retired experience.
        with_advice: (succeeded, judged) among the runs with advice; ``without_advice``: among the others.
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
