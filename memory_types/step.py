"""The step: one message, tool call or observation, append-only; and the media it carries."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, field_validator

from hexamem.memory_types.base import FilledText, Record, UtcTime, new_id, utc_now

__all__ = ["Media", "Role", "Step", "ToolCall"]

Role = Literal["user", "assistant", "system", "tool", "other"]


class Media(Record):
    """A picture, recording or file that a step carries; its bytes are stored by hash, its words are indexed.

    ``sha256`` names bytes in the memory's files, ``url`` or ``file_id`` point at bytes elsewhere.
    """

    kind: Literal["image", "audio", "video", "file"]
    sha256: str | None = Field(default=None, pattern=r"^[0-9a-f]{64}$")
    mime_type: str | None = None
    url: str | None = None
    file_id: str | None = None
    name: str | None = None
    size: int | None = Field(default=None, ge=0, description="bytes")
    caption: str | None = None
    transcript: str | None = None


class ToolCall(Record):
    """A call that the assistant made: arguments as a mapping, or the raw text where it was not valid JSON."""

    id: str | None = None
    name: str
    arguments: dict[str, Any] | str = Field(default_factory=dict)


class Step(Record):
    """``s_t``: one message, tool call or observation.

    ``content`` is the text after redaction, byte for byte otherwise. ``blocks`` holds the content, in LangChain's
    standard form, where it was more than a string. ``index_text`` is what is searched: the text with captions,
    transcripts and tool calls. ``turn`` counts the steps of a thread from 0; ``seq`` orders all steps of a user.
    """

    id: str = Field(default_factory=lambda: new_id("step"))
    user: FilledText
    thread_id: FilledText
    turn: int = Field(ge=0)
    seq: int = Field(ge=0)
    role: Role
    name: str | None = None
    content: str
    blocks: tuple[dict[str, Any], ...] = ()
    reasoning: str | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None
    media: tuple[Media, ...] = ()
    index_text: str
    message_id: str | None = Field(default=None, description="the host's own id: the same one is stored once")
    agent_id: str | None = None
    occurred_at: UtcTime = Field(default_factory=utc_now)
    offset_minutes: int = Field(default=0, ge=-1439, le=1439, description="original offset from UTC")
    created_at: UtcTime = Field(default_factory=utc_now)
    status: Literal["active", "forgotten"] = "active"
    metadata: dict[str, Any] = Field(default_factory=dict)

    @field_validator("user", "thread_id")
    @classmethod
    def _not_blank(cls, value: str) -> str:
        if not value.strip():
            raise ValueError(f"{value!r} is blank; give a name")
        return value

    @property
    def speaker(self) -> str:
        """Who spoke: the name where one was given, else the role."""
        return self.name or self.role
