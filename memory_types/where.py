"""The filter that every read takes."""

from __future__ import annotations

from typing import Any

from pydantic import Field, field_validator, model_validator

from hexamem.memory_types.base import Record, UtcTime

__all__ = ["Where"]


class Where(Record):
    """Conditions that a step or item must meet, all of them; a field left at None asks for nothing.

    ``since`` and ``until`` bound the time of the event, both included. ``labels`` asks for every label named,
    ``metadata`` for every key with exactly that value. ``speaker`` compares the name (or the role where a step has
    no name) without regard to case. Items answer ``thread_id``, ``agent_id`` and ``speaker`` through the steps they
    come from.
    """

    thread_id: str | None = None
    agent_id: str | None = None
    speaker: str | None = None
    since: UtcTime | None = None
    until: UtcTime | None = None
    labels: tuple[str, ...] = ()
    metadata: dict[str, Any] = Field(default_factory=dict)

    @field_validator("labels", mode="before")
    @classmethod
    def _one_label_is_a_list(cls, value: Any) -> Any:
        return (value,) if isinstance(value, str) else value

    @model_validator(mode="after")
    def _period_in_order(self) -> Where:
        if self.since and self.until and self.until < self.since:
            raise ValueError(f"until {self.until} lies before since {self.since}; swap them")
        return self

    @property
    def empty(self) -> bool:
        """Whether nothing is asked for."""
        return self == Where()
