"""What an acting agent leaves behind: runs, their steps, and the experience distilled from them.

Sources: ReasoningBank (arXiv 2509.25140, section 3) for the items, CFGM (arXiv 2508.15305) for tips and facets.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from .base import FilledText, Record, UtcTime, new_id, utc_now

__all__ = ["Experience", "Run", "RunStep"]


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
    """An attempt at a task. ``outcome`` is None until the environment, a person or a judge has said."""

    id: str = Field(default_factory=lambda: new_id("run"))
    user: FilledText
    task: FilledText
    environment: str = ""
    status: Literal["running", "finished", "unfinished"] = "running"
    outcome: bool | None = None
    outcome_source: Literal["environment", "user", "judge"] | None = None
    evidence: str = ""
    started_at: UtcTime = Field(default_factory=utc_now)
    finished_at: UtcTime | None = None
    metadata: dict[str, Any] = Field(default_factory=dict)


class Experience(Record):
    """A strategy or tip learned from runs: when to use it and when not, and what it says.

    ``counts`` says how often it was retrieved, helped and hurt; an item that hurts is retired, which can be undone.
    """

    id: str = Field(default_factory=lambda: new_id("experience"))
    user: FilledText
    environment: str = ""
    title: FilledText
    description: FilledText
    content: FilledText
    facet: Literal["tool", "environment", "observation"] = "environment"
    origin: Literal["success", "failure", "contrast", "success_only", "focus"]
    run_ids: tuple[str, ...] = ()
    retrieved: int = Field(default=0, ge=0)
    helped: int = Field(default=0, ge=0)
    hurt: int = Field(default=0, ge=0)
    status: Literal["active", "retired"] = "active"
    created_at: UtcTime = Field(default_factory=utc_now)
