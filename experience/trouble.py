"""When an agent is stuck: errors that repeat, invalid actions, no progress (CFGM, arXiv 2508.15305, section 3.4).

Read off the turns by rules, without a model, so that it can be asked after every turn.
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
"""The action of a recorded step that is no call of a tool, but what the agent said in the end."""
Sort = Literal["repeated_error", "invalid_action", "no_progress"]

_INVALID = re.compile(
    r"\b(?:invalid|unknown|unrecogni[sz]ed|unsupported|illegal) (?:action|command|tool|function|operation|request)\b"
    r"|\bis not a (?:valid|known) (?:action|command|tool|function)\b|\bno such (?:action|command|tool|function)\b"
    r"|\bnothing happen(?:s|ed)\b|\bnot a valid tool\b|无效的?(?:动作|操作|命令)|未知(?:命令|工具)",
    re.I,
)
_SPACE = re.compile(r"\s+")
_TOOL = re.compile(r"[^\s(\[{:=]+")


@validated_settings
class TroubleSettings:
    """When an agent is in trouble.

    Attributes:
        repeated_errors: so many errors of the same tool, or invalid actions, one behind the other, are trouble.
        standstill: so many turns that bring nothing new are no progress.
    """

    repeated_errors: int = Field(default=2, ge=1)
    standstill: int = Field(default=3, ge=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """What the agent did, and what came back. ``tool`` is the action's first word where nothing is said."""

    action: str
    observation: str = ""
    error: str = ""
    tool: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trouble:
    """What is wrong, in a sentence that also serves to look for advice.

    Attributes:
        sort: which of the three it is.
        error: the last error, or what came back in its place.
        tool: the tool or the action's first word.
        said: the sentence.
    """

    sort: Sort
    error: str
    tool: str
    said: str


def tool_of(action: str) -> str:
    """The tool that an action names: its first word, up to a bracket."""
    found = _TOOL.search(action)
    return found[0] if found else ""


def trouble_in(turns: Sequence[Turn], settings: TroubleSettings) -> Trouble | None:
    """What is wrong at the end of these turns; None where nothing is.

    Args:
        turns: of one run in order. Turns without an action (thoughts) are passed over.

    Returns:
        Invalid actions first (so many as repeated errors, one behind the other), then errors of the same tool, then
        no progress: turns that repeat an action with what it brought, or that bring nothing but errors.
    """
    acted = [turn for turn in turns if turn.action.strip()]
    if not acted:
        return None
    last = acted[-1]
    told = last.error.strip() or last.observation.strip()
    tool = last.tool or tool_of(last.action)
    tail = acted[-settings.repeated_errors :]
    if len(tail) == settings.repeated_errors:
        if all(_INVALID.search(turn.error or turn.observation) for turn in tail):
            said = f"{len(tail)} invalid actions one behind the other: {told}"
            return Trouble(sort="invalid_action", error=told, tool=tool, said=said)
        if all(turn.error.strip() and (turn.tool or tool_of(turn.action)) == tool for turn in tail):
            said = f"{tool} failed {len(tail)} times: {told}"
            return Trouble(sort="repeated_error", error=told, tool=tool, said=said)
    if _stands_still(acted, settings.standstill):
        return Trouble(sort="no_progress", error=told, tool=tool, said=f"{settings.standstill} turns without progress")
    return None


def _stands_still(turns: Sequence[Turn], most: int) -> bool:
    """Whether each of the last turns failed, or brought what the same action had brought before."""
    if len(turns) < most:
        return False
    seen = {_key(turn) for turn in turns[:-most]}
    for turn in turns[-most:]:
        key = _key(turn)
        if key not in seen and not turn.error.strip():
            # The first of a row that repeats is progress for its own part: only its repetitions are not.
            return False
        seen.add(key)
    return True


def _key(turn: Turn) -> tuple[str, str]:
    return (_SPACE.sub(" ", turn.action).strip().casefold(), _SPACE.sub(" ", turn.observation).strip().casefold())
