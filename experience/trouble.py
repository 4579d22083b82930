"""Detects when an agent is stuck: repeated errors, no progress (CFGM, arXiv 2508.15305, section 3.4).

By rules over the turns, without a model, so that it can be checked after every turn.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import Field

from hexamem.memory_types.settings import validated_settings

__all__ = ["ANSWER", "Trouble", "TroubleSettings", "Turn", "tool_of", "trouble_in"]

ANSWER = "answer"
"""The action of a recorded step that is not a tool call but the agent's final answer."""
Sort = Literal["repeated_error", "no_progress"]

_SPACE = re.compile(r"\s+")
_TOOL = re.compile(r"[^\s(\[{:=]+")


@validated_settings
class TroubleSettings:
    """When an agent is in trouble.

    Attributes:
        repeated_errors: so many consecutive errors of the same tool are trouble.
        standstill: so many consecutive turns without a new result are no progress.
    """

    repeated_errors: int = Field(default=2, ge=1)
    standstill: int = Field(default=3, ge=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """An action of the agent and its result. Without ``tool``, the tool is the action's first word."""

    action: str
    observation: str = ""
    error: str = ""
    tool: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trouble:
    """What is wrong, in a sentence that also serves as the query for advice.

    Attributes:
        sort: which of the two it is.
        error: the last error, or the observation in its place.
        tool: the tool or the action's first word.
        summary: the sentence.
    """

    sort: Sort
    error: str
    tool: str
    summary: str


def tool_of(action: str) -> str:
    """The tool that an action names: its first word, up to a bracket."""
    match = _TOOL.search(action)
    return match[0] if match else ""


def trouble_in(turns: Sequence[Turn], settings: TroubleSettings) -> Trouble | None:
    """The trouble at the end of these turns; None if there is none.

    Args:
        turns: of one run in order. Turns without an action (thoughts) are ignored.

    Returns:
        Consecutive errors of the same tool, else no progress: turns that repeat an
        action with the same result, or that fail.
    """
    acted = [turn for turn in turns if turn.action.strip()]
    if not acted:
        return None
    last = acted[-1]
    result = last.error.strip() or last.observation.strip()
    tool = last.tool or tool_of(last.action)
    tail = acted[-settings.repeated_errors :]
    failed = [turn for turn in tail if turn.error.strip() and (turn.tool or tool_of(turn.action)) == tool]
    if len(failed) == settings.repeated_errors:
        summary = f"{tool} failed {len(failed)} times: {result}"
        return Trouble(sort="repeated_error", error=result, tool=tool, summary=summary)
    if _stands_still(acted, settings.standstill):
        return Trouble(
            sort="no_progress", error=result, tool=tool, summary=f"{settings.standstill} turns without progress"
        )
    return None


def _stands_still(turns: Sequence[Turn], most: int) -> bool:
    """Whether each of the last turns failed, or repeated an action with the same result."""
    if len(turns) < most:
        return False
    seen = {_key(turn) for turn in turns[:-most]}
    for turn in turns[-most:]:
        key = _key(turn)
        if key not in seen and not turn.error.strip():
            # The first of several equal turns is progress, its repetitions are not.
            return False
        seen.add(key)
    return True


def _key(turn: Turn) -> tuple[str, str]:
    return (_SPACE.sub(" ", turn.action).strip().casefold(), _SPACE.sub(" ", turn.observation).strip().casefold())
